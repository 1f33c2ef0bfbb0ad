"""An OpenLineage RunEvent: the release as an output, with the lineage of its columns.

By OpenLineage 2-0-2 and its facets columnLineage 1-2-0, documentation 1-1-0, ownership 1-0-1,
schema 1-2-0 and version 1-0-1, read in OpenLineage/OpenLineage, spec/.
"""

from __future__ import annotations

import json
from typing import Any

from policy_engine.report.exports.fields import (
    KEY_NOTE,
    OLD,
    PRODUCER,
    Exported,
    ExportField,
    about,
    details_of,
    filled,
    gaps,
    identity,
)
from policy_engine.report.view import ColumnView, Details, ReportView

SPEC = "https://openlineage.io/spec"
NAMESPACE = "policy-engine"
"""Where datasets are: a certificate says neither host nor warehouse."""


def export(view: ReportView) -> Exported:
    """The event, and what it lacks: JSON has no comments."""
    own = details_of(view)
    owners = _owners(view)
    missing = gaps(
        [
            ExportField("namespace", None, "put the host of the warehouse for 'policy-engine'"),
            *owners,
            ExportField("inputs", own.source, OLD),
        ]
    )
    event = {
        "eventType": "COMPLETE",
        "eventTime": view.band.date,
        "producer": PRODUCER,
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": identity(view)},
        "job": {"namespace": NAMESPACE, "name": view.band.name},
        "inputs": [] if own.source is None else [{"namespace": NAMESPACE, "name": own.source}],
        "outputs": [
            {
                "namespace": NAMESPACE,
                "name": view.band.release,
                "facets": _facets(view, own, list(filled(owners).values()), missing),
            }
        ],
    }
    return Exported(json.dumps(event, indent=2) + "\n", missing)


def _facets(
    view: ReportView, own: Details, owners: list[Any], missing: tuple[str, ...]
) -> dict[str, Any]:
    told = (own.promise.numbers, own.promise.sentence, *missing)
    names = [*(each.name for each in own.columns), *own.beside]
    found = {
        "documentation": _facet("1-1-0", "Documentation", description="\n".join(told)),
        "schema": _facet("1-2-0", "Schema", fields=[{"name": name} for name in names]),
        "version": _facet("1-0-1", "DatasetVersion", datasetVersion=view.check.release_sha256),
    }
    if owners:
        found["ownership"] = _facet("1-0-1", "Ownership", owners=owners)
    if own.source is not None:
        fields = {
            each.name: {"inputFields": [_input(own.source, each)]}
            for each in own.columns
            if each.of is not None
        }
        found["columnLineage"] = _facet("1-2-0", "ColumnLineage", fields=fields)
    return found


def _facet(version: str, name: str, **content: Any) -> dict[str, Any]:
    url = f"{SPEC}/facets/{version}/{name}DatasetFacet.json#/$defs/{name}DatasetFacet"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def _input(source: str, column: ColumnView) -> dict[str, Any]:
    """Of which column it is made. No group below the limit is shown: each column is masked."""
    how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
    if column.recode is not None:
        how["description"] = column.recode
    own = {"namespace": NAMESPACE, "name": source, "field": column.of}
    return {**own, "transformations": [how]}


def _owners(view: ReportView) -> list[ExportField]:
    named = (
        ("publisher", view.band.releaser_note, "PUBLISHER", KEY_NOTE),
        ("contact", view.check.contact, "CONTACT", about("contact")),
    )
    return [
        ExportField(name, {"name": who, "type": kind} if who else None, remedy)
        for name, who, kind, remedy in named
    ]
