"""Whether a model that says it is a release is one: the gate's word to cut the way of the data.

Its template has the one form of a release, and its compiled text must be what the kernel prints for
its policy. One without a policy is proved, where texts that somebody wrote are. Where dbt did not
compile the release itself, because it stands already or because this target has an empty one, the
text is the one that the template becomes; the macros it rests on must be the shipped ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from policy_engine.dbt.manifest import Node
from policy_engine.dbt.marks import Marks
from policy_engine.dbt.naming import read_name, shown
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.relations import reads_of
from policy_engine.dbt.release_form import ReleaseForm, release_form
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.texts import secrets_read, text_md5, words_in
from policy_engine.engines import ENGINES
from policy_engine.errors import PolicyError, UsageError
from policy_engine.kernel.assumptions import assumptions, method_of, unit_of
from policy_engine.kernel.sentences import WAITS
from policy_engine.verify.proof import prove

if TYPE_CHECKING:
    from policy_engine.dbt.releases import DbtRelease

_READ = "duckdb"
"""The one engine whose texts are proved, whoever wrote them."""
_PRINT_IT = (
    "Write a policy of it ('policy-engine dbt init' starts one), and let 'policy-engine dbt sync'"
    " write the model, or take the text that 'policy-engine compile' prints."
)
_OTHER_FORM = (
    "has another form than a release: a config, and is_incremental() between the empty select and a"
    " text of no more than refs and sources"
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_NOOP = re.compile(
    r"select \* from (?P<name>\S.*?) (?:where (?:false|1 ?= ?0|0 ?= ?1)|limit 0) ?;?", re.IGNORECASE
)


@dataclass(frozen=True)
class Proved:
    """What was found of one release. ``sources`` are the nodes whose people are in it."""

    node: str
    is_certified: bool
    findings: tuple[GateFinding, ...] = ()
    notes: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)
    secrets: str = ""
    words: frozenset[str] = frozenset()


_Facts = dict[str, Any]
"""What a text is, by the claim that it is the print of or by its proof."""


class _NoRelease(Exception):
    """A release that is none, with every finding that says why."""


def prove_release(
    reader: NodeReader, node: Node, marks: Marks, release: DbtRelease | None
) -> Proved:
    """Whether a node is a certified release, and every reason why it is not."""
    case = _Case(reader, node, marks, release)
    found = [*case.drawn_more_than_once(), *case.edited()]
    cuts = {each.code for each in found} <= {"G24"}
    try:
        text, facts = case.judged()
        blocking = case.of_policy()
    except _NoRelease as refused:
        of_it = _secrets(reader.compiled(node) or "") if release is not None else ""
        said = (*found, *refused.args)
        return Proved(node.id, False, said, tuple(case.notes), secrets=of_it)
    return Proved(
        node.id, cuts and not blocking, (*found, *blocking, *case.findings), tuple(case.notes),
        case.sources(facts), facts, _secrets(text), words_in(text),
    )  # fmt: skip


@dataclass
class _Case:
    reader: NodeReader
    node: Node
    marks: Marks
    release: DbtRelease | None
    notes: list[str] = field(default_factory=list)
    findings: list[GateFinding] = field(default_factory=list)

    def _finding(self, code: str, said: str, remedy: str = "") -> GateFinding:
        message = f"the release {self.node.label} {said}"
        return finding(code, message, self.reader.manifest.file_of(self.node), remedy=remedy)

    # Drawn once

    def drawn_more_than_once(self) -> Iterator[GateFinding]:
        """Why the release would be drawn again."""
        if self.node.kind != "model" or self.node.is_python:
            what = "Python model" if self.node.is_python else self.node.kind.replace("_", " ")
            yield self._finding("G20", f"is a {what}, and only a SQL model can be proved")
        elif why := self._drawn_again():
            yield self._finding("G22", why)

    def _drawn_again(self) -> str:
        config, found = self.node.config, self.node.materialized or "view"
        if found in {"view", "ephemeral", "materialized_view", "dynamic_table"}:
            return f"is a {found}: it draws a new sample at every read"
        if found == "table":
            return "is a table: it draws a new sample at every build"
        if found != "incremental":
            return f"is materialized as {found}: nobody knows how often it draws"
        if config.get("full_refresh") is not False:
            return "has no full_refresh=false: 'dbt build --full-refresh' draws a new sample"
        if config.get("incremental_strategy") == "microbatch":
            return "is built in batches: each draws a new sample"
        # Another form says so itself.
        is_other = self.form is None and "is_incremental" in self.node.raw
        if is_other or (self.form is not None and self.is_noop(self.form.stands)):
            return ""
        return "does not select * from {{ this }} where false once it stands: it draws again"

    def is_noop(self, text: str) -> bool:
        """Whether a text is the empty select from the release itself."""
        found = _NOOP.fullmatch(" ".join(_COMMENT.sub(" ", text).split()))
        name = read_name(found["name"]) if found is not None else None
        return name is not None and self.node.id in self.reader.meant(name)[0]

    # What it is

    @cached_property
    def form(self) -> ReleaseForm | None:
        """What the template becomes; None where it has not the form of a release."""
        return release_form(self.node, self.reader.manifest)

    def judged(self) -> tuple[str, _Facts]:
        """The text of the release, the compiled one if it is that, and what it is."""
        compiled, form = self.reader.compiled(self.node), self.form
        if compiled is None and not self.node.raw.strip():
            raise _NoRelease(self._finding("G26", "has no text in this manifest"))
        if form is None:
            raise _NoRelease(self._finding("G23", _OTHER_FORM))
        text, facts = form.drawn, self._judge(form.drawn, "text")
        if compiled is None and self.marks.generated:
            self.notes.append(f"{self.node.label}: not compiled; proved from its template")
        elif compiled is None:
            self.findings.append(self._finding("G26", "is not compiled"))
        elif form.empty != form.drawn and compiled.split() == form.empty.split():
            self.notes.append(f"{self.node.label}: empty in the target of this manifest")
        elif compiled != form.drawn and not self.is_noop(compiled):
            text, facts = compiled, self._judge(compiled, "compiled text")
        wrong = [*self._beside_the_kernel(facts, text)]
        if wrong:
            raise _NoRelease(*wrong)
        return text, facts

    def _judge(self, text: str, which: str) -> _Facts:
        release = self.release
        return self._read(text, which) if release is None else self._printed(release, text, which)

    def _printed(self, release: DbtRelease, text: str, which: str) -> _Facts:
        """What the policy claims, if a text is what is printed for it."""
        # Policies need a library that takes long to load, and a release may have none.
        from policy_engine.dbt.releases import Unlike, known_table, printed_for
        from policy_engine.dialects import dialect_named

        engine, release = self.reader.dialect, replace(release, model=self.node)
        try:
            dialect = dialect_named(engine)
            claim, _ = printed_for(release, known_table(release, dialect), dialect, text)
        except UsageError as error:
            raise _NoRelease(self._finding("G20", f"cannot be proved: {error}")) from None
        except PolicyError as error:
            start = f"is not as {release.written.file.name} says:"
            said = (f"{start} {each.message} (its {which})" for each in error.problems)
            raise _NoRelease(*(self._finding("G21", each) for each in said)) from None
        except Unlike as error:
            raise _NoRelease(self._finding("G21", f"{error.why} (its {which})")) from None
        read = release.policy.source
        return {
            "k": claim.law.k, "rate": float(claim.law.rate), "method": method_of(claim, engine),
            "unit": unit_of(claim), "source": read.text,
            "assumptions": [*assumptions(claim, engine, read.text, read.sampled_at)],
        }  # fmt: skip

    def _read(self, text: str, which: str) -> _Facts:
        """What a text that somebody wrote is proved to be, where such a proof is one."""
        dialect = self.reader.dialect
        if dialect not in ENGINES:
            said = f"cannot be proved: no rules to certify the dialect {dialect!r}"
            raise _NoRelease(self._finding("G20", said))
        if dialect != _READ:
            title = ENGINES[dialect].title
            said = f"has no policy, and a text for {title} that was only read proves nothing"
            raise _NoRelease(*(self.of_policy() or [self._finding("G20", said, _PRINT_IT)]))
        proof = prove(text)
        shape = proof.shape
        if shape is None:
            said = f"is not proved: its {which},"
            where = (f" line {each.line}:" if each.line else "" for each in proof.findings)
            found = (f"{each.code} {each.message}" for each in proof.findings)
            lines = (f"{said}{line} {each}" for line, each in zip(where, found, strict=True))
            raise _NoRelease(*(self._finding("G20", line) for line in lines))
        makes = {} if shape.target is None else {"target": shape.target}
        return {
            "k": shape.k, "rate": float(shape.rate), "method": shape.method, "unit": shape.unit,
            "source": shape.source, "assumptions": [*proof.assumptions], **makes,
        }  # fmt: skip

    def _beside_the_kernel(self, facts: _Facts, text: str) -> Iterator[GateFinding]:
        if facts["method"] == "drawn":
            yield self._finding("G20", "reads a drawn sample, which nobody draws in dbt")
        if facts["method"] == "keyed" and WAITS not in facts["assumptions"]:
            said = "takes its secret from a parameter, which dbt cannot bind"
            remedy = (
                'Read it from the secrets relation: (SELECT "salt" FROM policy_engine_salts …).'
            )
            yield self._finding("G20", said, remedy)
        if "target" in facts:
            yield self._finding("G20", "creates its table itself; dbt does that: write the query")
        if not self.sources(facts):
            yield self._finding("G09", f"reads {facts['source']}, which dbt does not know")
        for read in reads_of(text, self.reader.dialect).names:
            made = self.reader.meant(read.name)[0] - {
                node.id for node in self.reader.manifest.of_kind("source")
            }
            if made and read.name[-1].text.lower() == _secrets(text):
                said = f"takes its secret from {shown(read.name)}, which the project makes itself"
                yield self._finding("G27", said)

    def sources(self, facts: _Facts) -> frozenset[str]:
        """The nodes that the release is drawn from."""
        if self.release is not None:
            return frozenset({self.release.source.id})
        name = read_name(facts["source"])
        if name is None:
            return self.reader.names.read_by(facts["source"])
        surely, perhaps = self.reader.meant(name)
        return surely or perhaps

    # Its policy

    def of_policy(self) -> list[GateFinding]:
        """Where the mark of the release names another policy, or none that is there."""
        if self.release is None:
            if self.marks.generated or self.marks.policy:
                named = self.marks.policy or "none"
                return [self._finding("G21", f"has no policy in this project, found {named}")]
        elif self.marks.policy_digest not in ("", self.release.written.digest):
            return [self._finding("G21", "was generated from another text of its policy")]
        return []

    def edited(self) -> Iterator[GateFinding]:
        """Whether a generated text is another than its meta says."""
        if not self.marks.generated and not self.marks.text_md5:
            return
        if not self.marks.text_md5:
            yield self._finding("G24", "has no meta.privacy.text_md5")
        elif self.marks.text_md5 != text_md5(self.node.raw):
            yield self._finding("G24", "was changed after it was generated")


def _secrets(text: str) -> str:
    """The name of the relation that the salt is read from, in lower case."""
    name = read_name(secrets_read(text))
    return name[-1].text.lower() if name else ""
