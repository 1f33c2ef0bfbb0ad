"""The releases of a dbt project: each a policy, and the model of dbt that makes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from policy_engine.attest.attestation import Envelope
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX
from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.compile.joining import with_beside
from policy_engine.compile.rendering import name_of
from policy_engine.dbt.checked import Policies
from policy_engine.dbt.editions import with_git_edition
from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.marks import marks_of
from policy_engine.dbt.naming import Part, read_name
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.rules import finding
from policy_engine.dbt.sources import of_manifest, read_wanted
from policy_engine.dbt.texts import secrets_read
from policy_engine.dbt.types import Columns, table_of
from policy_engine.dialects import Engine
from policy_engine.engines import ENGINES
from policy_engine.errors import (
    EnvironmentFailed,
    FileError,
    Finding,
    LedgerError,
    NotCertifiable,
    PolicyError,
    Problem,
    VerificationFailed,
)
from policy_engine.kernel.certificate import ROWS, NotPrinted, check_text
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.editions import PART, Edition
from policy_engine.kernel.mechanisms import Secret
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.opening import text_in
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project, project_at
from policy_engine.policy.reading import refused
from policy_engine.policy.resolve import Policy, Source
from policy_engine.policy.tree import path_text
from policy_engine.policy.within import apart
from policy_engine.releasing.editions import (
    at_moment,
    entries_of,
    in_edition,
    in_next_plan,
    known_books,
    schedule_at,
)
from policy_engine.values import frozen

ONE_PROJECT_FILE = (
    "a dbt project is paid for by the project file of its folder, or the nearest above it: move"
    " the policy, or that file"
)


@frozen
class DbtRelease:
    """A release that dbt makes in a target of ``nodes``: its source, and what is joined to it.

    ``model`` is the node in which it is drawn, and ``shown`` the one that is read, into which
    'policy-engine dbt attest' puts what it has signed for.
    """

    written: Policy
    model: Node
    shown: Node
    nodes: tuple[Node, ...]
    target: str

    @property
    def id(self) -> str:
        """What the release is called in the secrets relation: as the file of what is read."""
        return release_id(self.written)

    @property
    def told(self) -> str:
        """What people call it: with its edition, where it has one."""
        edition = self.written.edition
        return f"{self.id}, edition {edition.name}" if edition.name else self.id

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The full name of the table in which dbt draws."""
        return parts_of(self.model)

    @cached_property
    def shown_parts(self) -> tuple[str, ...]:
        """The full name of the table that is read."""
        return parts_of(self.shown)

    @property
    def relation(self) -> str:
        """The full name as a message and a certificate show it."""
        return ".".join(self.shown_parts)

    @property
    def appended(self) -> str:
        """The edition whose rows are a part of what is read; empty where they are all of it."""
        return self.written.edition.name if self.written.release.append else ""

    @property
    def certificate(self) -> Path:
        """Where its certificate stands: beside the policy, of a calendar in a folder there."""
        place = self.written.directory / f"{self.id}.{self.target}"
        if self.written.schedule is not None:
            return place / f"{self.written.edition.name}{CERTIFICATE_SUFFIX}"
        return place.with_name(place.name + CERTIFICATE_SUFFIX)

    @cached_property
    def policy(self) -> Policy:
        """The policy as the kernel compares it: what it reads by full names, and no target.

        What is certified is the query; dbt makes the table of it.
        """
        source = named_by(self.written.source, [".".join(parts) for parts in self.reads])
        release = replace(self.written.release, path=None, relation=None)
        return replace(self.written, source=source, release=release)

    @property
    def reads(self) -> tuple[tuple[str, ...], ...]:
        """The full names of all that it reads, the source first."""
        return tuple(map(parts_of, self.nodes))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are released, in their order."""
        policy, release = self.written, self.written.release
        before = (GROUPING,) if policy.groupings else ()
        counted = (release.count_as,) if release.form == "counts" else ()
        return (*before, *policy.columns, *counted, *policy.beside)


Texts = tuple[tuple[DbtRelease, str], ...]
"""Releases, each with the text that dbt compiled of it."""


def parts_of(node: Node) -> tuple[str, ...]:
    """The full name of a node's relation."""
    name = read_name(node.relation)
    return tuple(part.text for part in name) if name else (node.name,)


def releases_of(
    policies: Iterable[Policy], manifest: Manifest, target: str
) -> tuple[DbtRelease, ...]:
    """The releases of policies, in their order.

    Raises PolicyError: the project has no model or no source for a policy: it was not synced.
    """
    found: list[DbtRelease] = []
    wrong: list[Problem] = []
    for policy in policies:
        model, shown = model_of(policy, manifest), shown_model_of(policy, manifest)
        try:
            nodes = nodes_of(policy, manifest)
        except PolicyError as error:
            wrong += error.problems
            continue
        if model is not None and shown is not None:
            found.append(DbtRelease(policy, model, shown, nodes, target))
        else:
            name = f"{model_name(policy)}.v{policy.release.version}"
            wrong += _not_of_dbt(policy, "release.table", name).problems
    if wrong:
        raise PolicyError(tuple(wrong))
    return tuple(found)


def _not_of_dbt(policy: Policy, key: str, name: str) -> PolicyError:
    law = f"{key} must be of the project as dbt has it, found {name}"
    return refused(policy.file, key, law, "run 'policy-engine dbt sync', and then dbt")


def nodes_of(policy: Policy, manifest: Manifest) -> tuple[Node, ...]:
    """The nodes of all that a policy reads, the source first.

    Raises PolicyError: dbt knows one of them not.
    """
    found, reader = list[Node](), NodeReader(manifest)
    for key, source in sources_in(policy):
        nodes = _nodes(source, reader)
        if not nodes:
            raise _not_of_dbt(policy, key, source.text)
        found.append(nodes[0])
    return tuple(found)


def named_by(source: Source, names: Sequence[str]) -> Source:
    """A source with what is joined to it, called by these full names."""
    joins = tuple(
        replace(each, source=replace(each.source, relation=name))
        for each, name in zip(source.joins, names[1:], strict=True)
    )
    return replace(source, relation=names[0], joins=joins)


def sources_in(policy: Policy) -> tuple[tuple[str, Source], ...]:
    """All that a policy reads, the source first: where it stands, and what is written there."""
    joins = policy.source.joins
    paths = (path_text(("source", "join", each.name, "table")) for each in joins)
    beside = zip(paths, (each.source for each in joins), strict=True)
    return (("source.table", policy.source), *beside)


def model_name(policy: Policy) -> str:
    """The name of the model of a policy: the last part of its release's name.

    A relation's name may hold the database and the schema that dbt gives it.
    """
    return (policy.release.relation or policy.name).rsplit(".", maxsplit=1)[-1]


def release_id(policy: Policy) -> str:
    """What a release is called: as the table that is read, of this version."""
    return f"{model_name(policy)}_v{policy.release.version}"


def published_as(policy: Policy) -> str:
    """What a certificate says of where the rows of a release go: dbt makes its table."""
    return PART if policy.release.append else ROWS


def drawn_model(policy: Policy) -> str:
    """The name of the file, and of the table, of the model that draws a policy's release."""
    return f"{release_id(policy)}_draw"


def model_of(policy: Policy, manifest: Manifest) -> Node | None:
    """The model in the project itself that draws a policy's release."""
    return next((n for n in manifest.of_kind("model") if _is_of(n, policy, manifest)), None)


def shown_model_of(policy: Policy, manifest: Manifest) -> Node | None:
    """The model that is read."""
    found = manifest.node_named(manifest.project, model_name(policy), str(policy.release.version))
    return found if found is not None and found.kind == "model" else None


def _is_of(node: Node, policy: Policy, manifest: Manifest) -> bool:
    """Whether a node is called as the model is that draws a policy's release."""
    named = (node.kind, node.name, node.package)
    return named == ("model", drawn_model(policy), manifest.project)


def outdated(policy: Policy) -> tuple[Path, ...]:
    """The certificates of this version of a policy's release that are of another policy.

    No signature is looked at: a certificate can only forbid something here.
    """
    files = sorted(policy.directory.glob(f"{release_id(policy)}.*.certificate.json"))
    return tuple(file for file in files if _policy_digest(file) != policy.digest)


def _policy_digest(file: Path) -> str | None:
    """The digest of the policy that a certificate is of; None where it says none."""
    try:
        envelope = Envelope.from_json(text_in(file))
        return str(json.loads(envelope.payload)["predicate"]["policy"]["digest"])
    except (OSError, UnicodeDecodeError, VerificationFailed, ValueError, KeyError, TypeError):
        return None


# What dbt makes of a release, held against what the kernel prints for its policy: with the real
# names in it, the source as dbt calls its node, the secrets relation where the text reads it.


class Unlike(NotCertifiable):
    """A text of dbt's is not what is printed for its policy; ``why`` says where it differs."""

    def __init__(self, release: DbtRelease, why: str) -> None:
        self.why = f"is not what is printed for {release.policy.file.name}: {why}"
        super().__init__((Finding("G21", f"{release.id} {self.why}"),))


def known_table(release: DbtRelease, dialect: Engine) -> Table:
    """What a release reads where nobody asks the warehouse."""
    own, *beside = known_tables(release, dialect)
    return with_beside(release.policy.source, own, beside)


def known_tables(release: DbtRelease, dialect: Engine) -> Iterator[Table]:
    """Each relation that a release reads, the source first, where nobody asks the warehouse.

    Its columns are those that the model was written for, else those that the project declares.
    """
    reads = marks_of(release.model).reads
    for number, node in enumerate(release.nodes):
        told = of_manifest(node)
        declared = Columns(told.spelled(dialect.name) if told is not None else {})
        parts = named(node.relation, dialect.name)
        read = tuple(Field(*each) for found in reads[number : number + 1] for each in found)
        filled = frozenset(column.name for column in read)
        own = Table(read, parts=parts, case=dialect.case, filled=filled)
        yield own if read else table_of(declared, dialect, parts)


def named(written: str, engine: str) -> tuple[str, ...]:
    """The parts of a relation's name as the engine has them, whatever signs stand around them."""
    return tuple(part.kept(engine) for part in read_name(written) or ())


def printed_for(release: DbtRelease, table: Table, dialect: Engine, text: str) -> tuple[Claim, str]:
    """The claim of a release over its source, and what dbt must make of its model.

    ``table`` and what is joined are called as dbt calls them, and the secret is read where
    ``text`` reads it.

    Raises:
        PolicyError: the policy does not fit the source.
        Unlike: ``text`` is not that, token for token, or reads no secrets relation.
    """
    engine, written = dialect.name, secrets_read(text)
    place = named(written, engine)
    claim, query = print_of(release, table, dialect, text)
    own = text
    for node, relation in zip(release.nodes, table.relations, strict=True):
        own = _in_quotes(own, node.relation, relation.parts, engine)
    try:
        check_text(_in_quotes(own, written, place, engine), claim, engine)
    except NotPrinted as error:
        raise Unlike(release, str(error)) from None
    return claim, query


def print_of(release: DbtRelease, table: Table, dialect: Engine, text: str) -> tuple[Claim, str]:
    """The claim and the print of a release, whose secret is read where ``text`` reads its own.

    Raises as ``printed_for``, which compares the two.
    """
    place = named(secrets_read(text), dialect.name)
    if not place and release.policy.method == "keyed":
        raise Unlike(release, "it reads no secrets relation")
    secret = Secret(place, release.id) if place else None
    if not all(relation.columns for relation in table.relations):
        raise Unlike(release, "the types of the columns that it reads are not declared")
    return compiled(release.policy, table, dialect, secret)


def _in_quotes(text: str, written: str, parts: tuple[str, ...], engine: str) -> str:
    """A text with a relation named as the kernel names it: dbt has quotes of its own, or none."""
    name = name_of(parts, ENGINES[engine])
    read = re.compile(rf"(?<=FROM ){re.escape(written)}(?=\s)")
    return text if written == name else read.sub(lambda found: name, text)


# The policies of a project, as the gate needs them: which nodes they make sensitive


def read_policies(
    files: Iterable[Path], reader: NodeReader, named: Callable[[Path], str]
) -> Policies:
    """The policies in some files, each ``named`` as it is shown."""

    def shown(file: Path) -> str:
        return named(apart(file)[0])

    found = Policies()
    for file in files:
        try:
            _take(_as_synced(load_policy(file)), reader, shown, found)
        except PolicyError as error:
            for problem in error.problems:
                said = problem.message + (f"; {problem.remedy}" if problem.remedy else "")
                place = shown(Path(problem.file))
                found.findings.append(finding("G31", said, place, problem.line))
        except FileError as error:
            found.findings.append(finding("G31", str(error), shown(file)))
    return found


def _as_synced(policy: Policy) -> Policy:
    """A policy as its model was written for; without a ledger by the project file alone."""
    with suppress(LedgerError, EnvironmentFailed):
        return in_oldest_plan(policy, project_at(policy.directory))
    return policy


def in_oldest_plan(policy: Policy, project: Project) -> Policy:
    """A planned policy with the numbers of the oldest edition that a release target still lacks.

    There is one text for all targets, and each draws its editions for itself, so that the window of
    one may have ended while another has an edition of it to draw. Targets without a release do not
    count; where nothing is due the numbers are those of the next edition. Raises LedgerError.
    """
    following = in_next_plan(policy, project)
    if policy.schedule is None or policy.follows is None or not policy.follows.planned:
        return following
    known = known_books(project)
    at = at_moment(known)
    places = {Path(e.run.certificate).parent.name: e.run.target for e in entries_of(policy, known)}
    due: list[Edition] = []
    for target in project.dbt.release_targets:
        place = places.get(f"{release_id(policy)}.{target}")
        if place is not None:
            due += schedule_at(policy, project, known, at, into=place).due[:1]
    if not due:
        return following
    oldest = min(due, key=lambda edition: edition.name)  # of one calendar, these sort as they come
    found = in_edition(policy, project, known, oldest, at)
    return replace(found, edition=policy.edition, release=policy.release)


def _take(
    policy: Policy, reader: NodeReader, shown: Callable[[Path], str], found: Policies
) -> None:
    place, manifest = shown(policy.file), reader.manifest
    policy = with_git_edition(policy)
    read = [(key, each, _nodes(each, reader)) for key, each in sources_in(policy)]
    for key, each, nodes in read:
        if not nodes:
            said = f"{key} of {policy.name} is not in the dbt project, found {each.text}"
            remedy = "Name a model, seed or source of dbt, such as source.table: ref('stg_people')."
            found.findings.append(finding("G31", said, place, remedy=remedy))
            return
    for certificate in outdated(policy):
        said = f"it is not the policy of the certificate {shown(certificate)}"
        found.findings.append(finding("G32", said, place))
    public = (False, *(each.is_public for each in policy.source.joins))
    for (_, _, nodes), is_public in zip(read, public, strict=True):
        for node in nodes:
            if is_public:
                found.public.setdefault(node.id, place)
            else:
                found.sources.setdefault(node.id, policy.file)
    found.files.setdefault(model_name(policy), place)
    every = (*manifest.nodes.values(), *manifest.disabled)
    model = next((node for node in every if _is_of(node, policy, manifest)), None)
    if model is not None:
        firsts = tuple(nodes[0] for _, _, nodes in read)
        found.by_model[model.id] = DbtRelease(policy, model, model, firsts, "")
    else:
        found.notes.append(f"{place} has no model yet: run 'policy-engine dbt sync'")


def _nodes(source: Source, reader: NodeReader) -> list[Node]:
    """What a policy names to be read; by the name of a relation it may be several nodes.

    A relation may have another schema in this target: then it is the model of its name.
    """
    wanted, nodes = read_wanted(source.relation or ""), reader.manifest.nodes
    node = wanted.node(reader.manifest)
    if node is None and wanted.call == "name":
        surely, perhaps = reader.meant(tuple(Part(part) for part in wanted.parts))
        if found := [nodes[id_] for id_ in sorted(surely or perhaps) if id_ in nodes]:
            return found
        node = reader.manifest.node_named("", wanted.parts[-1])
    return [] if node is None else [node]
