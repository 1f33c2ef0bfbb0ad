"""An OpenLineage RunEvent: the release as an output, with the lineage of its columns.

By OpenLineage 2-0-2 and its facets columnLineage 1-2-0, documentation 1-1-0, ownership 1-0-1,
schema 1-2-0 and version 1-0-1, as openlineage-python 1.54 has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Inserted, Noisy, Randomised
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column
from policy_engine.report.exports.fields import (
    OLD,
    PRODUCER,
    PUBLISHER,
    Exported,
    ExportField,
    ExportSource,
    about,
    filled,
    gaps,
)

SPEC = "https://openlineage.io/spec"
NAMESPACE = "policy-engine"
"""Where datasets are: a certificate says neither host nor warehouse."""


def export(source: ExportSource) -> Exported:
    """The event, and what it lacks: JSON has no comments."""
    band, relation = source.view.band, source.relation
    owners = _owners(source)
    event = {
        "eventType": "COMPLETE",
        "eventTime": band.date,
        "producer": PRODUCER,
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": source.identity},
        "job": {"namespace": NAMESPACE, "name": band.name},
        "inputs": [{"namespace": NAMESPACE, "name": relation}] if relation else [],
        "outputs": [
            {
                "namespace": NAMESPACE,
                "name": band.release,
                "facets": _facets(source, list(filled(owners).values())),
            }
        ],
    }
    missing = gaps(
        [
            ExportField("namespace", None, f"write the warehouse's host for {NAMESPACE!r}"),
            ExportField("inputs", relation, OLD),
            *owners,
        ]
    )
    return Exported(json.dumps(event, indent=2) + "\n", missing)


def _facets(source: ExportSource, owners: list[Any]) -> dict[str, Any]:
    promise = source.details.promise
    names = [*(each.name for each in source.details.columns), *source.beside]
    found = {
        "documentation": _facet(
            "1-1-0", "Documentation", description=f"{promise.numbers}\n{promise.sentence}"
        ),
        "schema": _facet("1-2-0", "Schema", fields=[{"name": name} for name in names]),
        "version": _facet(
            "1-0-1", "DatasetVersion", datasetVersion=source.view.check.release_sha256
        ),
    }
    if owners:
        found["ownership"] = _facet("1-0-1", "Ownership", owners=owners)
    if source.claim is not None and source.relation is not None:
        found["columnLineage"] = _lineage(source.claim, source.relation)
    return found


def _facet(version: str, name: str, **content: Any) -> dict[str, Any]:
    url = f"{SPEC}/facets/{version}/{name}DatasetFacet.json#/$defs/{name}DatasetFacet"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def _lineage(claim: Claim, relation: str) -> dict[str, Any]:
    """Of which columns each is made, and which decide about rows and groups."""
    fields = {name: {"inputFields": [made]} for name, made in _direct(claim, relation)}
    grouped = [each.column for each in claim.columns if each.column is not None]
    whole = [
        *(_input(relation, each, "GROUP_BY", True, kind="INDIRECT") for each in grouped),
        *(_input(relation, each.column, "FILTER", False, kind="INDIRECT") for each in claim.filter),
    ]
    return _facet("1-2-0", "ColumnLineage", fields=fields, dataset=whole)


def _direct(claim: Claim, relation: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for shown in claim.columns:
        if shown.column is not None:
            masked = _is_masked(claim, shown)
            how = "TRANSFORMATION" if masked else "IDENTITY"
            yield shown.name, _input(relation, shown.column, how, masked)
    if isinstance(claim.law, Noisy):
        for each in claim.law.aggregates:
            yield each.name, _input(relation, each.column, "AGGREGATION", True)


def _is_masked(claim: Claim, shown: Shown) -> bool:
    """Whether what is shown is another value than the source's: recoded, or drawn by chance."""
    return not isinstance(shown.recode, Keep) or isinstance(claim.law, Randomised | Inserted)


def _input(
    relation: str, column: Column, how: str, masking: bool, *, kind: str = "DIRECT"
) -> dict[str, Any]:
    own = {"namespace": NAMESPACE, "name": relation, "field": column.name}
    return {**own, "transformations": [{"type": kind, "subtype": how, "masking": masking}]}


def _owners(source: ExportSource) -> list[ExportField]:
    named = (
        ("publisher", source.view.band.releaser_note, "PUBLISHER", PUBLISHER),
        ("contact", source.view.check.contact, "CONTACT", about("contact")),
    )
    return [
        ExportField(name, {"name": who, "type": kind} if who else None, remedy)
        for name, who, kind, remedy in named
    ]
