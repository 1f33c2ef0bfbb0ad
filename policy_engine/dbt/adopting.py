"""A policy of a model that somebody wrote: what its text may mean, written and held against it.

The guess is trusted by nobody. The policy is kept only if the claim that it gives over the same
source is the one that was understood, and if nothing of the text is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from policy_engine.accounting.domain import claimed
from policy_engine.check.answer import answer, differences
from policy_engine.check.ddl import parse_schema
from policy_engine.check.known import Known
from policy_engine.check.schema import Schema
from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import compiled
from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.project import POLICY, DbtProject
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.release_form import release_form
from policy_engine.dbt.release_model import broken_laws
from policy_engine.dbt.releases import named
from policy_engine.dbt.sources import call_of, of_manifest
from policy_engine.dbt.yaml_items import Flow, FlowList, written
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError, UsageError
from policy_engine.kernel.claim import KEPT, Claim, Shown
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.recodes import Bins, Map
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import Drawn, People
from policy_engine.policy.loading import load_policy_text

_HEAD = "# Of the model {file} as it was understood: read it, and choose the guarantee.\n"
_NO_SECRET = (
    "it samples without a secret, and would be another sample at every build: dbt releases samples"
    " under a secret of a person's key, as 'policy-engine dbt init' starts a policy"
)
_MORE = "what it makes of released groups, which a model of its own can make of the release: {}"
_TYPES = "the types of the columns of {}, which its properties do not declare"


@dataclass(frozen=True)
class Adopted:
    """What was understood of a model: its ``claim``, and the ``text`` of its policy in ``path``.

    Without a text there is none: ``missed`` is what was not understood, ``why`` what is no release.
    """

    model: Node
    engine: str
    path: Path
    claim: Claim | None = None
    text: str = ""
    missed: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


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
        source, parts = of_manifest(parent, ""), named(parent.relation, engine)
        call = [str(parent.data.get("source_name")), parent.name]
        is_source = parent.kind == "source"
        calls.setdefault(parts, call_of("source", call) if is_source else f"ref('{parent.name}')")
        if source is not None:
            types = tables[".".join(parts)] = source.spelled(engine)
            unknown += [] if types else [_TYPES.format(source.label)]
    readable = bool(tables) and not unknown
    schema = parse_schema(json.dumps({"tables": tables}), engine) if readable else Schema()
    found = answer(text, engine, schema)
    path = (project.directory / node.file).with_name(f"{name}{POLICY}")
    more = [_MORE.format(" ".join(found.afterwards.split()))] if found.afterwards else []
    told = Adopted(node, engine, path, found.claim, missed=(*found.missed, *more, *unknown))
    if found.claim is None:
        return replace(told, why=tuple(str(each) for each in found.findings))
    if told.missed:
        return told
    parts = getattr(found.claim.source, "parts", ())
    table = Known(schema, engine).table(parts)
    if table is None or parts not in calls:
        return replace(told, why=("its source is no relation of the project's",))
    return _written(told, found.claim, table, calls[parts], account)


def _written(told: Adopted, claim: Claim, table: Table, call: str, account: str) -> Adopted:
    """The policy of a claim over ``table``, which dbt calls so, if it gives that claim again."""
    if not claim.law.is_sample or claim.law.method != "keyed":
        return replace(told, why=(_NO_SECRET,))
    renamed = [s.name for s in claim.columns if s.column is not None and s.name != s.column.name]
    if renamed:
        return replace(told, why=(f"{', '.join(renamed)} is no column of its source: rename it",))
    document = _document(claim, told.model.name, call, account)
    text = _HEAD.format(file=told.model.file) + written(document)
    dialect = dialect_named(told.engine)
    try:
        policy = load_policy_text(text, told.path, told.path.parent)
        source = replace(policy.source, relation=".".join(table.parts))
        own = replace(policy, source=source, release=replace(policy.release, relation=None))
        again = compiled(own, table, dialect, claim.law.secret)[0]
    except PolicyError as error:
        return replace(told, why=tuple(str(each) for each in error.problems))
    why = [law for _, law, _ in broken_laws(policy, dialect)]
    why += [str(breach) for breach in differences(claim, again)]
    return replace(told, why=tuple(why)) if why else replace(told, text=text)


def _document(claim: Claim, name: str, call: str, account: str) -> dict[str, object]:
    law = claim.law
    # The shortest rate that is this threshold; a policy's rate has a threshold of its own.
    rates = (
        law.rate.quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)
        for places in range(1, 21)
    )
    short = (rate for rate in rates if 0 < rate < 1 and threshold(rate) == threshold(law.rate))
    rate = next(short, law.rate)
    delta = claimed(claim.delta(rate, Decimal(1), "add_remove"))
    counted = {} if claim.count is not None else {"as": "rows"}
    named = {} if claim.count in (None, "n") else {"count": Flow(people=claim.count)}
    document: dict[str, object] = {
        "version": 1,
        "name": name,
        "source": {"table": call},
        "privacy_unit": _unit(claim),
        "recode": {shown.name: _recode(shown) for shown in claim.columns},
        "filter": {each.column.name: _condition(each) for each in claim.filter if each.column},
        "sample": Flow(rate=rate),
        "k": law.k,
        "guarantee": Flow(epsilon=1, delta=delta),
        "release": Flow(table=name, version=1, **counted),
        **named,
        "account": account,
    }
    return {key: value for key, value in document.items() if value != {}}


def _unit(claim: Claim) -> object:
    unit = claim.unit
    if not isinstance(unit, People):
        return "row"
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


def _condition(found: Shown) -> Mapping[str, object]:
    """A condition as a policy says it; several ranges have no words there."""
    recode, told = found.recode, {"missing": True} if found.missing == KEPT else {}
    if isinstance(recode, Map):
        is_listed = recode.other != KEPT
        keys = [_key(key) for keys, label in recode.groups for key in keys
                if (label == KEPT) is is_listed]  # fmt: skip
        if keys:
            return Flow({"in" if is_listed else "not_in": FlowList(keys), **told})
        return Flow(missing=is_listed)
    assert isinstance(recode, Bins)
    kept = [at for at, label in enumerate(recode.labels) if label == KEPT]
    if len(kept) == len(recode.labels):
        return Flow(missing=False)
    edges = (None, *recode.cuts, None)
    ends = {"at_least": edges[kept[0]], "below": edges[kept[-1] + 1]}
    return Flow({**{key: cut for key, cut in ends.items() if cut is not None}, **told})


def _key(value: object) -> str:
    """A value of a column as a policy names it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
