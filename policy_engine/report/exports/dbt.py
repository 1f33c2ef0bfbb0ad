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
    about,
    details_of,
    facts_of,
    filled,
    gaps,
    yaml_text,
)
from policy_engine.report.view import ReportView

_OPENS = re.compile(r"\{(?=[{%#])")


def export(view: ReportView) -> Exported:
    """One exposure to put beside the models, its gaps at its head as comments."""
    own = details_of(view)
    said = view.band.description or view.band.purpose
    fields = [
        ExportField("name", re.sub(r"\W", "_", view.band.name or "", flags=re.ASCII)),
        ExportField("label", view.band.name),
        ExportField("type", "analysis"),
        ExportField("description", said, f"{DESCRIPTION}, or purpose"),
        ExportField("owner", _owner(view), about("contact")),
        ExportField("depends_on", None, f"write the ref or source of {own.source or 'the source'}"),
        ExportField("maturity", None),
        ExportField("url", None),
        ExportField("meta", facts_of(view)),
    ]
    missing = gaps(fields)
    document = {"version": 2, "exposures": [_spaced(filled(fields))]}
    head = ("An exposure for dbt, which has no type of its own for a file: 'analysis'", *missing)
    return Exported(yaml_text(document, head), missing)


def _owner(view: ReportView) -> dict[str, str] | None:
    contact = view.check.contact
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
