"""A policy of a model that somebody wrote: what its text may mean, written and held against it.

The guess is trusted by nobody. The policy is kept only if the claim that it gives over the same
source is the one that was understood, and if nothing of the text is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from policy_engine.accounting.domain import claimed
from policy_engine.check.answer import answer, differences
from policy_engine.check.as_policy import condition_as_said, joins_as_said
from policy_engine.check.ddl import parse_schema
from policy_engine.check.everybody import Everybody, counted
from policy_engine.check.known import Known
from policy_engine.check.schema import Schema
from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import compiled
from policy_engine.compile.joining import with_beside
from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.project import POLICY, DbtProject
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.release_form import release_form
from policy_engine.dbt.release_model import broken_laws
from policy_engine.dbt.releases import named
from policy_engine.dbt.sources import call_of_node, of_manifest
from policy_engine.dbt.yaml_items import Flow, FlowList, written
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError, UsageError
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import Drawn, People
from policy_engine.policy.loading import load_policy_text
from policy_engine.values import frozen

_HEAD = "# Of the model {file} as it was understood: read it, and choose the guarantee.\n"
_NOISE = (
    "# A threshold alone protects nobody: each count gets noise here, and the guarantee decides\n"
    "# which groups are shown. One person counts in one group; contribution can say more.\n"
)
_HOLES = {
    "PERSON": "whose rows it counts: PERSON is the column that tells people apart",
    "LEAST": "between which bounds a value is added up: LEAST and MOST are what everybody knows",
    "ROWS": "how many rows of one person count in a group: ROWS is what everybody knows",
}
"""What a text does not say, and a policy must: the word that stands in its place."""
_MORE = "what it makes of released groups, which a model of its own can make of the release: {}"
_TYPES = "the types of the columns of {}, which its properties do not declare"
_NAMED = "{0} is made of {1}, by whose name a policy shows it: write 'as {1}', and compile it anew"


@frozen
class Adopted:
    """What was understood of a model: its ``claim``, and the ``text`` of its policy in ``path``.

    Without a text there is none: ``missed`` is what was not understood, ``why`` what is no release,
    ``beside`` what must hold of the tables that are looked up.
    A ``draft`` has words in capitals where the model does not say what a policy must.
    """

    model: Node
    engine: str
    path: Path
    claim: Claim | None = None
    text: str = ""
    draft: str = ""
    missed: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


def adopted(project: DbtProject, manifest: Manifest, name: str, account: str) -> Adopted:
    """The policy of a model by its compiled text, paid by ``account``. Nothing is written.

    Raises:
        UsageError: there is no such model, it is not compiled, or its source is no node of dbt's.
    """
    node = manifest.node_named("", name)
    if node is None or node.kind != "model":
        raise UsageError(f"there is no model {name} in the dbt project {project.name}")
    reader = NodeReader(manifest, project.target, project.directory)
    form, engine = release_form(node, manifest), reader.dialect
    text = form.drawn if form is not None else reader.compiled(node)
    if not text:
        raise UsageError(f"{node.file} is not compiled: run 'dbt compile --select {name}'")
    # What the project declares of the relations that the model reads, and how dbt calls them.
    tables: dict[str, dict[str, str]] = {}
    calls: dict[tuple[str, ...], str] = {}
    unknown: list[str] = []
    for parent in (manifest.nodes[id_] for id_ in node.parents if id_ in manifest.nodes):
        source, parts = of_manifest(parent), named(parent.relation, engine)
        calls.setdefault(parts, call_of_node(parent))
        if source is not None:
            types = tables[".".join(parts)] = source.spelled(engine)
            unknown += [] if types else [_TYPES.format(source.label)]
    readable = bool(tables) and not unknown
    schema = parse_schema(json.dumps({"tables": tables}), engine) if readable else Schema()
    found = answer(text, engine, schema)
    path = (project.directory / node.file).with_name(f"{name}{POLICY}")
    more = [_MORE.format(" ".join(found.afterwards.split()))] if found.afterwards else []
    missed = (*found.missed, *more, *unknown)
    told = Adopted(node, engine, path, found.claim, missed=missed, beside=found.beside)
    claim, known, everybody = found.claim, Known(schema, engine), None
    if claim is None:
        everybody = counted(text, known)
        claim, missed = everybody.claim, (*everybody.missed, *unknown)
        codes = [each.code for each in everybody.findings]
        why = map(str, found.findings if codes == ["V03"] else everybody.findings)
        told = replace(told, missed=missed, why=tuple(why), beside=everybody.beside)
    if claim is None or told.missed:
        return told
    places = [getattr(place, "parts", ()) for place in claim.places]
    read = [table for table in map(known.table, places) if table and table.parts in calls]
    if len(read) < len(places):
        return replace(told, why=("what it reads is no relation of the project's",))
    return _written(told, claim, everybody, read, (calls, account))


Named = tuple[dict[tuple[str, ...], str], str]
"""What dbt calls each table, and the account that pays."""


def _written(
    told: Adopted, claim: Claim, everybody: Everybody | None, read: list[Table], named: Named
) -> Adopted:
    """The policy of a claim over the first of the tables that it reads, if it gives it again."""
    named_so = ((s.name, s.column.name) for s in claim.columns if s.column is not None)
    renamed = [_NAMED.format(name, own) for name, own in named_so if name != own]
    if renamed:
        return replace(told, claim=None, why=tuple(renamed))
    text = written(_document(claim, told.model.name, named, everybody))
    text = _HEAD.format(file=told.model.file) + _NOISE * (everybody is not None) + text
    holes = tuple(said for word, said in _HOLES.items() if word in text)
    if holes:
        return replace(told, claim=None, draft=text, why=holes)
    dialect = dialect_named(told.engine)
    try:
        policy = load_policy_text(text, told.path, told.path.parent)
        table = with_beside(policy.source, read[0], read[1:])
        source = replace(policy.source, relation=".".join(table.parts))
        own = replace(policy, source=source, release=replace(policy.release, relation=None))
        again = compiled(own, table, dialect, claim.law.secret)[0]
    except PolicyError as error:
        return replace(told, why=tuple(str(each) for each in error.problems))
    if everybody is not None:  # its sample is a stand-in
        claim = replace(claim, law=again.law, unit=again.unit)
    why = [law for _, law, _ in broken_laws(policy, dialect)]
    why += [str(breach) for breach in differences(claim, again)]
    return replace(told, claim=again, why=tuple(why), text="" if why else text)


def _document(
    claim: Claim, name: str, named: Named, everybody: Everybody | None
) -> dict[str, object]:
    counts = {} if claim.count is not None else {"as": "rows"}
    counted_as: dict[str, object] = (
        {"people": claim.count} if claim.count not in (None, "n") else {}
    )
    drawn = _sampled(claim) if everybody is None else _noisy(claim, everybody, counted_as)
    joins = joins_as_said(claim, named[0]).items()
    joined = {"join": {key: _flow(said) for key, said in joins}} if joins else {}
    document: dict[str, object] = {
        "version": 1,
        "name": name,
        "source": {"table": named[0][getattr(claim.source, "parts", ())], **joined},
        "privacy_unit": _unit(claim),
        "recode": {shown.name: _recode(shown) for shown in claim.columns},
        "filter": {c.column.name: _flow(condition_as_said(c)) for c in claim.filter if c.column},
        **drawn,
        "release": Flow(table=name, version=1, **counts),
        "count": Flow(counted_as),
        "account": named[1],
    }
    return {key: value for key, value in document.items() if value != {}}


def _noisy(claim: Claim, everybody: Everybody, counted_as: dict[str, object]) -> dict[str, object]:
    """How the groups of a text that samples nobody are released."""
    found: dict[str, object] = {"mechanism": "noisy_counts"}
    beside = [(name, what, column) for name, what, column in everybody.added if column]
    rows = [name for name, what, _ in everybody.added if what == "rows"]
    if everybody.groupings:
        found["marginals"] = [FlowList(each) for each in everybody.groupings]
        found["privacy_unit"] = Flow(column=everybody.key or "PERSON", rows="any")
    elif not everybody.is_chosen:
        most = {"max_rows_per_group": "ROWS"} if everybody.added else {}
        found["contribution"] = Flow(max_groups=1, **most)
        found["privacy_unit"] = Flow(column=everybody.key or "PERSON", rows="all")
    per = {"per": "row"} if "contribution" in found else {}
    bounds = {"bounds": FlowList(["LEAST", "MOST"])}
    found["measures"] = {name: Flow({what: of, **bounds, **per}) for name, what, of in beside}
    if rows:
        counted_as |= {"people": claim.count, "rows": rows[0]}
    return {**found, "guarantee": Flow(epsilon=1, delta=Decimal("0.0000001"))}


def _sampled(claim: Claim) -> dict[str, object]:
    law = claim.law
    # The shortest rate that is this threshold; a policy's rate has a threshold of its own.
    rates = (
        law.rate.quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)
        for places in range(1, 21)
    )
    short = (rate for rate in rates if 0 < rate < 1 and threshold(rate) == threshold(law.rate))
    rate = next(short, law.rate)
    delta = claimed(claim.delta(rate, Decimal(1), "add_remove"))
    guarantee = Flow(epsilon=1, delta=delta)
    return {"sample": Flow(rate=rate), "k": law.k, "guarantee": guarantee}


def _unit(claim: Claim) -> object:
    unit = claim.unit
    if not isinstance(unit, People):  # a sample of rows, and dbt releases those of people
        return Flow(column="PERSON", rows="any")
    if isinstance(unit.order, Drawn):
        return Flow(column=unit.key.name, rows="any")
    order = unit.order if isinstance(unit.order, tuple) else ()
    # A text that chooses no row of a person takes its rows for people.
    if all(column == unit.key for column, _ in order):
        return Flow(column=unit.key.name, rows="one")
    terms = FlowList(f"{column.name}{' desc' if down else ''}" for column, down in order)
    return Flow(column=unit.key.name, rows=Flow(first_by=terms))


def _recode(shown: Shown) -> object:
    written = recode_meaning(shown.recode).written()
    if shown.missing is None:
        return written if isinstance(written, str) else _flow(written)
    # What is kept has no word beside the text for NULL.
    said = {} if isinstance(written, str) else written
    return _flow({**said, "missing": shown.missing})


def _flow(written: Mapping[str, object]) -> Flow:
    """A mapping on one line, with the lists and mappings in it."""
    said: dict[str, object] = {}
    for key, value in written.items():
        if isinstance(value, Mapping):
            said[key] = Flow(value)
        else:
            said[key] = FlowList(value) if isinstance(value, tuple) else value
    return Flow(said)
