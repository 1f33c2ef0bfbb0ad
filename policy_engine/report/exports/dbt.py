"""A dbt exposure: the release as something that leaves the warehouse for people.

By the keys of exposures in dbt-labs/dbt-jsonschema, schemas/latest/dbt_yml_files-latest.json, read
there. dbt takes texts for templates: nothing in ours opens one.
"""

from __future__ import annotations

import re
from typing import Any

from policy_engine.report.exports.fields import (
    DESCRIPTION,
    Exported,
    ExportField,
    ExportSource,
    about,
    filled,
    gaps,
    yaml_text,
)

_OPENS = re.compile(r"\{(?=[{%#])")


def export(source: ExportSource) -> Exported:
    """One exposure to put beside the models, its gaps at its head as comments."""
    band = source.view.band
    said = band.description or band.purpose
    reads = source.relation or "the source"
    fields = [
        ExportField("name", re.sub(r"\W", "_", band.name or "", flags=re.ASCII)),
        ExportField("label", band.name),
        ExportField("type", "analysis"),
        ExportField("description", said, f"{DESCRIPTION}, or 'purpose'"),
        ExportField("owner", _owner(source.view.check.contact), about("contact")),
        ExportField("depends_on", None, f"write the ref or source of {reads}"),
        ExportField("maturity", None),
        ExportField("url", None),
        ExportField("config", {"meta": source.promised}),
    ]
    missing = gaps(fields)
    document = {"version": 2, "exposures": [_spaced(filled(fields))]}
    head = ("An exposure for dbt, which has no type of its own for a file: 'analysis'", *missing)
    return Exported(yaml_text(document, head), missing)


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
