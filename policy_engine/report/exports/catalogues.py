"""The release as catalogues of data know it: dbt, a data contract, and OpenLineage.

dbt: an exposure, by the keys of dbt-labs/dbt-jsonschema, schemas/latest/dbt_yml_files-latest.json.
Open Data Contract Standard: by the schemas of v3.1.0 and v3.2.0 of bitol-io/open-data-contract-
standard; the later one asks for a logicalType of every column. OpenLineage 2-0-2: a RunEvent, with
its facets columnLineage 1-2-0, documentation 1-1-0, ownership 1-0-1, schema 1-2-0 and version
1-0-1, as openlineage-python 1.54 has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Inserted, Noisy, Randomised
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column
from policy_engine.report.exports import fields

_OPENS = re.compile(r"\{(?=[{%#])")


def dbt(source: fields.ExportSource) -> fields.Exported:
    """One exposure to put beside the models, its gaps at its head as comments.

    dbt takes texts for templates: nothing in ours opens one.
    """
    band = source.band
    said = band["description"] or band["purpose"]
    reads = source.relation or "the source"
    asked = [
        fields.ExportField("name", re.sub(r"\W", "_", band["name"] or "", flags=re.ASCII)),
        fields.ExportField("label", band["name"]),
        fields.ExportField("type", "analysis"),
        fields.ExportField("description", said, f"{fields.DESCRIPTION}, or 'purpose'"),
        fields.ExportField("owner", _owner(source.check["contact"]), fields.about("contact")),
        fields.ExportField("depends_on", None, f"write the ref or source of {reads}"),
        fields.ExportField("maturity", None),
        fields.ExportField("url", None),
        fields.ExportField("config", {"meta": source.promised}),
    ]
    missing = fields.gaps(asked)
    document = {"version": 2, "exposures": [_spaced(fields.filled(asked))]}
    head = ("An exposure for dbt, which has no type of its own for a file: 'analysis'", *missing)
    return fields.Exported(fields.yaml_text(document, head), missing)


def _owner(contact: str | None) -> dict[str, str] | None:
    if not contact:
        return None
    return {"email" if re.fullmatch(r"[^@\s]+@[^@\s]+", contact) else "name": contact}


def _spaced(value: Any) -> Any:
    """A value in which no text is a template: versions of dbt render once, twice or never.

    >>> _spaced({"a": "{{ env_var('X') }}"})
    {'a': "{ { env_var('X') }}"}
    """
    if isinstance(value, dict):
        return {name: _spaced(item) for name, item in value.items()}
    return _OPENS.sub("{ ", value) if isinstance(value, str) else value


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


def odcs(source: fields.ExportSource) -> fields.Exported:
    """A contract that is a draft: its gaps stand at its head as comments."""
    band, contact = source.band, source.check["contact"]
    described = [
        fields.ExportField("purpose", band["purpose"], fields.PURPOSE),
        fields.ExportField("usage", source.protection["recipients"], fields.about("recipients")),
        fields.ExportField(
            "limitations",
            f"{source.promise['numbers']}. What is missing is unknown: it need not be empty.",
        ),
    ]
    support = [{"channel": contact}] if contact else None
    rest = [fields.ExportField("support", support, fields.about("contact"))]
    lacks = [
        fields.ExportField("classification of each column", None),
        fields.ExportField("team, roles, servers", None),
    ]
    missing = fields.gaps([*described, *rest, *lacks])
    promised = source.promised.items()
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": source.identity,
        "version": source.check["release_sha256"],
        "status": "draft",
        "name": band["name"],
        "description": fields.filled(described),
        "schema": [_schema(source)],
        **fields.filled(rest),
        "customProperties": [{"property": name, "value": text} for name, text in promised],
    }
    head = ("A draft of a data contract by ODCS v3.1.0", *missing)
    return fields.Exported(fields.yaml_text(document, head), missing)


def _schema(source: fields.ExportSource) -> dict[str, Any]:
    return {
        "name": source.band["name"],
        "physicalName": source.band["release"],
        "logicalType": "object",
        "dataGranularityDescription": (
            "one row a group" if source.claim.count else "rows without counts"
        ),
        "properties": [*_properties(source), *_beside(source)],
    }


def _properties(source: fields.ExportSource) -> Iterator[dict[str, Any]]:
    kinds = {each.name: each.kind for each in source.claim.columns} if source.claim else {}
    for each in source.columns:
        made: dict[str, Any] = {"name": each["name"]}
        if each["name"] in kinds:
            made["logicalType"] = _LOGICAL.get(kinds[each["name"]], "string")
        if source.relation is not None and each["of"] is not None:
            made["transformSourceObjects"] = [source.relation]
        if each["recode"] is not None:
            made["transformDescription"] = each["recode"]
        yield made


def _beside(source: fields.ExportSource) -> Iterator[dict[str, Any]]:
    sums = source.claim.law.beside if source.claim else ()
    for name in source.beside:
        yield {"name": name, "logicalType": "number" if name in sums else "integer"}


SPEC = "https://openlineage.io/spec"
NAMESPACE = "policy-engine"
"""Where datasets are: a certificate says neither host nor warehouse."""


def openlineage(source: fields.ExportSource) -> fields.Exported:
    """The event, and what it lacks: JSON has no comments."""
    band, relation = source.band, source.relation
    owners = _owners(source)
    event = {
        "eventType": "COMPLETE",
        "eventTime": band["date"],
        "producer": fields.PRODUCER,
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": source.identity},
        "job": {"namespace": NAMESPACE, "name": band["name"]},
        "inputs": [{"namespace": NAMESPACE, "name": relation}] if relation else [],
        "outputs": [
            {
                "namespace": NAMESPACE,
                "name": band["release"],
                "facets": _facets(source, list(fields.filled(owners).values())),
            }
        ],
    }
    missing = fields.gaps(
        [
            fields.ExportField("namespace", None, f"write the warehouse's host for {NAMESPACE!r}"),
            fields.ExportField("inputs", relation, ""),
            *owners,
        ]
    )
    return fields.Exported(json.dumps(event, indent=2) + "\n", missing)


def _facets(source: fields.ExportSource, owners: list[Any]) -> dict[str, Any]:
    promise = source.promise
    names = [*(each["name"] for each in source.columns), *source.beside]
    found = {
        "documentation": _facet(
            "1-1-0", "Documentation", description=f"{promise['numbers']}\n{promise['sentence']}"
        ),
        "schema": _facet("1-2-0", "Schema", fields=[{"name": name} for name in names]),
        "version": _facet("1-0-1", "DatasetVersion", datasetVersion=source.check["release_sha256"]),
    }
    if owners:
        found["ownership"] = _facet("1-0-1", "Ownership", owners=owners)
    if source.relation:
        found["columnLineage"] = _lineage(source.claim, source.relation)
    return found


def _facet(version: str, name: str, **content: Any) -> dict[str, Any]:
    url = f"{SPEC}/facets/{version}/{name}DatasetFacet.json#/$defs/{name}DatasetFacet"
    return {"_producer": fields.PRODUCER, "_schemaURL": url, **content}


def _lineage(claim: Claim, relation: str) -> dict[str, Any]:
    """Of which columns each is made, and which decide about rows and groups."""
    asked = {name: {"inputFields": [made]} for name, made in _direct(claim, relation)}
    grouped = [each.column for each in claim.columns if each.column is not None]
    whole = [
        *(_input(relation, each, "GROUP_BY", True, kind="INDIRECT") for each in grouped),
        *(_input(relation, each.column, "FILTER", False, kind="INDIRECT") for each in claim.filter),
    ]
    return _facet("1-2-0", "ColumnLineage", fields=asked, dataset=whole)


def _direct(claim: Claim, relation: str) -> Iterator[tuple[str, dict[str, Any]]]:
    is_drawn = isinstance(claim.law, Randomised | Inserted)
    for shown in claim.columns:
        if shown.column is not None:
            # Another value than the source's: recoded, or drawn by chance.
            masked = is_drawn or not isinstance(shown.recode, Keep)
            how = "TRANSFORMATION" if masked else "IDENTITY"
            yield shown.name, _input(relation, shown.column, how, masked)
    if isinstance(claim.law, Noisy):
        for each in claim.law.aggregates:
            yield each.name, _input(relation, each.column, "AGGREGATION", True)


def _input(
    relation: str, column: Column, how: str, masking: bool, *, kind: str = "DIRECT"
) -> dict[str, Any]:
    own = {"namespace": NAMESPACE, "name": relation, "field": column.name}
    return {**own, "transformations": [{"type": kind, "subtype": how, "masking": masking}]}


def _owners(source: fields.ExportSource) -> list[fields.ExportField]:
    named = (
        ("publisher", source.band["releaser_note"], "PUBLISHER", fields.PUBLISHER),
        ("contact", source.check["contact"], "CONTACT", fields.about("contact")),
    )
    return [
        fields.ExportField(name, {"name": who, "type": kind} if who else None, remedy)
        for name, who, kind, remedy in named
    ]
