"""A fragment of a data contract: Open Data Contract Standard v3.1.0.

By the JSON schemas of v3.1.0 and v3.2.0, of bitol-io/open-data-contract-standard: the later one
asks for a logicalType of every column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policy_engine.report.exports.fields import (
    OLD,
    PURPOSE,
    Exported,
    ExportField,
    ExportSource,
    about,
    filled,
    gaps,
    yaml_text,
)

_LOGICAL = {
    "integer": "integer",
    "decimal": "number",
    "double": "number",
    "boolean": "boolean",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamp_zoned": "timestamp",
    "timestamp_other": "timestamp",
}
"""Of what a release shows; every other kind is shown as text."""


def export(source: ExportSource) -> Exported:
    """A contract that is a draft: its gaps stand at its head as comments."""
    band, contact = source.view.band, source.view.check.contact
    described = [
        ExportField("purpose", band.purpose, PURPOSE),
        ExportField("usage", source.details.protection.recipients, about("recipients")),
        ExportField(
            "limitations",
            f"{source.details.promise.numbers}. What is missing is unknown: it need not be empty.",
        ),
    ]
    support = [{"channel": contact}] if contact else None
    rest = [ExportField("support", support, about("contact"))]
    lacks = [
        ExportField("transformSourceObjects", source.relation, OLD),
        ExportField("logicalType of each column", source.claim and "", OLD),
        ExportField("classification of each column", None),
        ExportField("team, roles, servers", None),
    ]
    missing = gaps([*described, *rest, *lacks])
    promised = source.promised.items()
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": source.identity,
        "version": source.view.check.release_sha256,
        "status": "draft",
        "name": band.name,
        "description": filled(described),
        "schema": [_schema(source)],
        **filled(rest),
        "customProperties": [{"property": name, "value": text} for name, text in promised],
    }
    head = ("A draft of a data contract by ODCS v3.1.0", *missing)
    return Exported(yaml_text(document, head), missing)


def _schema(source: ExportSource) -> dict[str, Any]:
    return {
        "name": source.view.band.name,
        "physicalName": source.view.band.release,
        "logicalType": "object",
        "dataGranularityDescription": (
            "one row a group" if source.facts["count"] else "rows without counts"
        ),
        "properties": [*_properties(source), *_beside(source)],
    }


def _properties(source: ExportSource) -> Iterator[dict[str, Any]]:
    kinds = {each.name: each.kind for each in source.claim.columns} if source.claim else {}
    for each in source.details.columns:
        made: dict[str, Any] = {"name": each.name}
        if each.name in kinds:
            made["logicalType"] = _LOGICAL.get(kinds[each.name], "string")
        if source.relation is not None and each.of is not None:
            made["transformSourceObjects"] = [source.relation]
        if each.recode is not None:
            made["transformDescription"] = each.recode
        yield made


def _beside(source: ExportSource) -> Iterator[dict[str, Any]]:
    sums = source.claim.law.beside if source.claim else ()
    for name in source.beside:
        yield {"name": name, "logicalType": "number" if name in sums else "integer"}
