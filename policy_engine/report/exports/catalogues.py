"""The release as catalogues of data know it: dbt, and a data contract.

dbt: an exposure, by the keys of dbt-labs/dbt-jsonschema, schemas/latest/dbt_yml_files-latest.json.
Open Data Contract Standard: by the schemas of v3.1.0 and v3.2.0 of bitol-io/open-data-contract-
standard; the later one asks for a logicalType of every column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy_engine.report.exports import fields

_OPENS = re.compile(r"\{(?=[{%#])")


def dbt(source: fields.ExportSource) -> fields.Exported:
    """One exposure to put beside the models, its gaps at its head as comments.

    dbt takes texts for templates: nothing in ours opens one.
    """
    band = source.band
    said = band.description or band.purpose
    reads = source.relation or "the source"
    owner = _owner(source.check.contact or band.releaser_note)
    asked = [
        fields.ExportField("name", re.sub(r"\W", "_", band.name or "", flags=re.ASCII)),
        fields.ExportField("label", band.name),
        fields.ExportField("type", "analysis"),
        fields.ExportField("description", said, f"{fields.DESCRIPTION}, or 'purpose'"),
        fields.ExportField("owner", owner, f"{fields.about('contact')}, or {fields.PUBLISHER}"),
        fields.ExportField("depends_on", _model(source), f"write the ref or source of {reads}"),
        fields.ExportField("maturity", None),
        fields.ExportField("url", None),
        fields.ExportField("config", {"meta": dict(source.promised)}),
    ]
    missing = fields.gaps(asked)
    document: dict[str, fields.Yaml] = {
        "version": 2,
        "exposures": [_spaced(fields.filled(asked))],
    }
    head = ("An exposure for dbt, which has no type of its own for a file: 'analysis'", *missing)
    return fields.Exported(fields.yaml_text(document, head), missing)


def _model(source: fields.ExportSource) -> fields.Yaml:
    """The model of dbt that the release is: there its secret waits under that name."""
    secret = source.claim.law.secret
    if secret is None:
        return None
    model, _, version = secret.release.rpartition("_v")
    return [f"ref('{model}', v={version})"]


def _owner(contact: str | None) -> fields.Yaml:
    if not contact:
        return None
    return {"email" if re.fullmatch(r"[^@\s]+@[^@\s]+", contact) else "name": contact}


def _spaced(value: fields.Yaml) -> fields.Yaml:
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
    band, contact = source.band, source.check.contact
    described = [
        fields.ExportField("purpose", band.purpose, fields.PURPOSE),
        fields.ExportField(
            "usage", source.details.protection.recipients, fields.about("recipients")
        ),
        fields.ExportField(
            "limitations",
            f"{source.promise.numbers}. What is missing is unknown: it need not be empty.",
        ),
    ]
    support: fields.Yaml = [{"channel": contact}] if contact else None
    rest = [fields.ExportField("support", support, fields.about("contact"))]
    lacks = [
        fields.ExportField("classification of each column", None),
        fields.ExportField("team, roles, servers", None),
    ]
    missing = fields.gaps([*described, *rest, *lacks])
    promised = source.promised.items()
    document: dict[str, fields.Yaml] = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": source.identity,
        "version": source.check.release_sha256,
        "status": "draft",
        "name": band.name,
        "description": fields.filled(described),
        "schema": [_schema(source)],
        **fields.filled(rest),
        "customProperties": [{"property": name, "value": text} for name, text in promised],
    }
    head = ("A draft of a data contract by ODCS v3.1.0", *missing)
    return fields.Exported(fields.yaml_text(document, head), missing)


def _schema(source: fields.ExportSource) -> dict[str, fields.Yaml]:
    return {
        "name": source.band.name,
        "physicalName": source.band.release,
        "logicalType": "object",
        "description": source.details.how.meaning,
        "dataGranularityDescription": (
            "one row a group" if source.claim.count else "rows without counts"
        ),
        "properties": [*_properties(source), *_beside(source)],
    }


def _properties(source: fields.ExportSource) -> Iterator[dict[str, fields.Yaml]]:
    kinds = {each.name: each.kind for each in source.claim.columns}
    for each in source.details.columns:
        made: dict[str, fields.Yaml] = {"name": each.name}
        made["logicalType"] = _LOGICAL.get(kinds[each.name], "string")
        if each.of is not None:
            made["transformSourceObjects"] = [source.relation]
        made["transformDescription"] = each.recode
        yield made


def _beside(source: fields.ExportSource) -> Iterator[dict[str, fields.Yaml]]:
    for name in source.beside:
        kind = "number" if name in source.claim.law.beside else "integer"
        yield {"name": name, "logicalType": kind, "description": source.number(name)}
