"""Whether a model that says it is a release is one: the gate's word to cut the way of the data.

A release has a policy in the project, a template of the one form, and a text that is what the
kernel prints for the policy, token for token. Where dbt did not compile the release itself, because
it stands already or because this target has an empty one, the text is the one that the template
becomes; the macros it rests on must be the shipped ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.dbt.manifest import Node, words_in
from policy_engine.dbt.marks import Marks
from policy_engine.dbt.naming import read_name, shown
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.relations import reads_of
from policy_engine.dbt.release_form import ReleaseForm, release_form
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.texts import secrets_read, text_md5
from policy_engine.errors import PolicyError, UsageError
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.dbt.releases import DbtRelease
    from policy_engine.kernel.claim import Claim

_OTHER_FORM = (
    "does not have the form of a release: a config, then is_incremental() between the empty select"
    " and SQL with only refs and sources"
)
_NO_RELEASE = "Remove release: true. A release is a model that 'policy-engine dbt sync' writes."
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_NOOP = re.compile(
    r"select \* from (?P<name>\S.*?) (?:where (?:false|1 ?= ?0|0 ?= ?1)|limit 0) ?;?", re.IGNORECASE
)


@dataclass
class Policies:
    """The policies by the model that they are of, and the nodes that they draw from.

    ``files`` are theirs by the name of the model, whether it is there or not; ``public`` are nodes
    that they join as public.
    """

    by_model: dict[str, DbtRelease] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Path] = field(default_factory=dict)
    public: dict[str, str] = field(default_factory=dict)
    findings: list[GateFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@frozen
class Facts:
    """What a release claims, for who reads the verdict as data."""

    k: int
    rate: float
    method: str
    unit: str
    source: str
    assumptions: tuple[str, ...]


@frozen
class CheckedRelease:
    """What was found of one release; ``facts`` are what its policy claims, where it is one."""

    node: str
    is_certified: bool
    findings: tuple[GateFinding, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Facts | None = None
    secrets: str = ""
    words: frozenset[str] = frozenset()


class _NoRelease(Exception):
    """A release that is none, with every finding that says why."""


def check_release(
    reader: NodeReader, node: Node, marks: Marks, release: DbtRelease | None, policy: str
) -> CheckedRelease:
    """Whether a node is a certified release, and every reason why it is not.

    ``release`` is what the policies of the project make of the node; without one it is no release.
    ``policy`` is the file of a policy whose release is called as the node is.
    """
    if release is None:
        found = (_without_policy(reader, node, marks, policy),)
        return CheckedRelease(node.id, False, found, secrets=_secrets(reader.compiled(node) or ""))
    case = _Case(reader, node, marks, replace(release, model=node))
    wrong = [*case.drawn_more_than_once(), *case.edited()]
    cuts = {each.code for each in wrong} <= {"G24"}
    try:
        text, claim = case.certified()
    except _NoRelease as refused:
        said, secrets = (*wrong, *refused.args), _secrets(reader.compiled(node) or "")
        return CheckedRelease(node.id, False, said, tuple(case.notes), secrets=secrets)
    other = case.of_another_policy()
    return CheckedRelease(
        node.id, cuts and not other, (*wrong, *other), tuple(case.notes),
        case.facts(claim), _secrets(text), words_in(text),
    )  # fmt: skip


def _without_policy(reader: NodeReader, node: Node, marks: Marks, policy: str) -> GateFinding:
    """That a node is marked as a release, and no policy of the project makes it."""
    if node.kind != "model" or node.is_python:
        what = "Python model" if node.is_python else node.kind.replace("_", " ")
        said, remedy = f"is a {what}; a policy makes only SQL models", _NO_RELEASE
    elif policy and not marks.generated:
        said = f"is not the model that 'policy-engine dbt sync' writes for {policy}"
        remedy = "Remove it, and run 'policy-engine dbt sync'."
    elif marks.generated or marks.policy:
        said = f"has no policy in this project, found {marks.policy or 'none'}"
        remedy = (
            "Restore or correct the policy. 'policy-engine dbt sync --prune' removes models"
            " without one."
        )
    else:
        said = "has no policy, so it is not a release"
        remedy = (
            f"Run 'policy-engine dbt adopt {node.name}', which writes a policy"
            " from the model's SQL. Or remove release: true."
        )
    return _found(reader, node, "G21", said, remedy)


def _found(reader: NodeReader, node: Node, code: str, said: str, remedy: str = "") -> GateFinding:
    message, file = f"the release {node.label} {said}", reader.manifest.file_of(node)
    return finding(code, message, file, remedy=remedy, names=(node.label,))


@dataclass
class _Case:
    """A node, and the release that a policy makes of it."""

    reader: NodeReader
    node: Node
    marks: Marks
    release: DbtRelease
    notes: list[str] = field(default_factory=list)

    def _finding(self, code: str, said: str) -> GateFinding:
        return _found(self.reader, self.node, code, said)

    # Drawn once

    def drawn_more_than_once(self) -> Iterator[GateFinding]:
        """Why the release would be drawn again."""
        if self.node.is_python:
            yield self._finding("G20", "is a Python model, and only a SQL model can be certified")
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
        return (
            "draws again: it lacks select * from {{ this }} where false for a table that is built"
        )

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

    def certified(self) -> tuple[str, Claim]:
        """The text of the release, the compiled one if it is that, and the claim it is printed of.

        Raises _NoRelease: it is not what is printed for its policy.
        """
        compiled, form = self.reader.compiled(self.node), self.form
        if compiled is None and not self.node.raw.strip():
            raise _NoRelease(self._finding("G26", "has no text in this manifest"))
        if form is None:
            raise _NoRelease(self._finding("G23", _OTHER_FORM))
        text, claim = form.drawn, self._printed(form.drawn, "text")
        if compiled is None:
            self.notes.append(f"{self.node.label}: not compiled; certified from its template")
        elif form.empty != form.drawn and compiled.split() == form.empty.split():
            self.notes.append(f"{self.node.label}: empty in the target of this manifest")
        elif form.any_edition is not None and form.any_edition.fullmatch(compiled):
            pass  # it is that of the edition which dbt drew last, or of the one in git
        elif compiled != form.drawn and not self.is_noop(compiled):
            text, claim = compiled, self._printed(compiled, "compiled text")
        wrong = [*self._secrets_that_are_made(text)]
        if wrong:
            raise _NoRelease(*wrong)
        return text, claim

    def _printed(self, text: str, which: str) -> Claim:
        """What the policy claims, if a text is what is printed for it."""
        # Policies need a library that takes long to load, and a project may have none.
        from policy_engine.dbt.release_model import broken_laws
        from policy_engine.dbt.releases import Unlike, known_table, printed_for
        from policy_engine.dialects import dialect_named

        release, start = self.release, f"is not as {self.release.written.file.name} says:"
        try:
            dialect = dialect_named(self.reader.dialect)
            broken = [law for _, law, _ in broken_laws(release.written, dialect)]
            if broken:
                raise _NoRelease(*(self._finding("G21", f"{start} {law}") for law in broken))
            return printed_for(release, known_table(release, dialect), dialect, text)[0]
        except UsageError as error:
            raise _NoRelease(self._finding("G20", f"cannot be certified: {error}")) from None
        except PolicyError as error:
            said = (f"{start} {each.message} (its {which})" for each in error.problems)
            raise _NoRelease(*(self._finding("G21", each) for each in said)) from None
        except Unlike as error:
            raise _NoRelease(self._finding("G21", f"{error.why} (its {which})")) from None

    def facts(self, claim: Claim) -> Facts:
        """What the claim says."""
        from policy_engine.kernel.assumptions import assumptions, method_of, unit_of
        from policy_engine.kernel.sentences import sentences_of

        engine, read = self.reader.dialect, self.release.policy.source
        return Facts(
            claim.law.k,
            float(claim.law.rate),
            method_of(claim, engine),
            unit_of(claim),
            read.text,
            sentences_of(assumptions(claim, engine, read.text, read.sampled_at)),
        )

    def _secrets_that_are_made(self, text: str) -> Iterator[GateFinding]:
        """That the project makes the relation itself in which the secret waits."""
        manifest, secrets = self.reader.manifest, _secrets(text)
        sources = {node.id for node in manifest.of_kind("source")}
        for read in reads_of(text, self.reader.dialect).names:
            made = self.reader.meant(read.name)[0] - sources
            if made and read.name[-1].text.lower() == secrets:
                said = f"takes its secret from {shown(read.name)}, which the project makes itself"
                yield self._finding("G27", said)

    # Its mark

    def of_another_policy(self) -> list[GateFinding]:
        """Where its mark has the digest of another text of the policy."""
        if self.marks.policy_digest in ("", self.release.written.digest):
            return []
        return [self._finding("G21", "was generated from a different text of its policy")]

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
