"""A fragment of a data contract: Open Data Contract Standard v3.1.0.

By schema/odcs-json-schema-v3.1.0.json of bitol-io/open-data-contract-standard, read there.
"""

from __future__ import annotations

from typing import Any

from policy_engine.report.exports.fields import (
    BY_HAND,
    OLD,
    PURPOSE,
    Exported,
    ExportField,
    about,
    details_of,
    facts_of,
    filled,
    gaps,
    identity,
    yaml_text,
)
from policy_engine.report.view import ColumnView, Details, ReportView


def export(view: ReportView) -> Exported:
    """A contract that is a draft: its gaps stand at its head as comments."""
    own = details_of(view)
    described = [
        ExportField("purpose", view.band.purpose, PURPOSE),
        ExportField("usage", own.protection.recipients, about("recipients")),
        ExportField(
            "limitations",
            f"{own.promise.numbers}. What is missing is unknown: it need not be empty.",
        ),
    ]
    contact = view.check.contact
    rest = [
        ExportField("support", [{"channel": contact}] if contact else None, about("contact")),
        ExportField("contractCreatedTs", view.band.date),
        ExportField("customProperties", _custom(facts_of(view))),
    ]
    lacks = [
        ExportField("transformSourceObjects", own.source, OLD),
        ExportField("logicalType and classification of each column", None, BY_HAND),
        ExportField("team, roles, servers", None, BY_HAND),
    ]
    missing = gaps([*described, *rest, *lacks])
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": identity(view),
        "version": view.check.policy_digest,
        "status": "draft",
        "name": view.band.name,
        "description": filled(described),
        "schema": [_schema(view, own)],
        **filled(rest),
    }
    head = ("A draft of a data contract by ODCS v3.1.0", *missing)
    return Exported(yaml_text(document, head), missing)


def _schema(view: ReportView, own: Details) -> dict[str, Any]:
    grain = "one row a group" if own.form == "counts" else "one row a person of a shown group"
    properties = [_property(own.source, each) for each in own.columns]
    return {
        "name": view.band.name,
        "physicalName": view.band.release,
        "logicalType": "object",
        "dataGranularityDescription": grain,
        "properties": [*properties, *({"name": name} for name in own.beside)],
    }


def _property(source: str | None, column: ColumnView) -> dict[str, Any]:
    made: dict[str, Any] = {"name": column.name}
    if source is not None and column.of is not None:
        made["transformSourceObjects"] = [source]
    if column.recode is not None:
        made["transformDescription"] = column.recode
    return made


def _custom(facts: dict[str, str]) -> list[dict[str, str]]:
    return [{"property": name, "value": text} for name, text in facts.items()]
