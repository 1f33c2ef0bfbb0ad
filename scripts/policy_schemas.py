"""The JSON Schemas of the policy file and of the project file, made from the models.

``.venv/bin/python scripts/policy_schemas.py`` writes the shipped files anew. To make them reads the
source of every model, for which no command should wait.
"""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from policy_engine.policy.laws import SCHEMAS, Document
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.project_models import ProjectDocument

_LEFT_OUT = (
    "file", "table", "account", "column", "columns", "labels", "auto", "people", "groups",
    "deprecated", "csv", "delimiter", "escape", "header", "comment", "thousands",
)  # fmt: skip
_HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
_FROM_THE_ENVIRONMENT = {"type": "string", "pattern": r"\{\{ *env_var\("}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of version 1.

    It is wider than the language: what JSON Schema cannot say (ascending bins, the files of
    hierarchies, names that differ in case only) is left to ``load_policy``.

    >>> json_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return {**_HEAD, **_tidied(_described(PolicyDocument))}


def project_schema() -> dict[str, Any]:
    """The JSON Schema of the project file, `policy-engine.yaml`; as wide as the policy's is.

    >>> sorted(project_schema()["properties"])[:2]
    ['accounts', 'accounts_open']
    """
    made = _described(ProjectDocument)
    for model in (made, *made["$defs"].values()):
        for field in model["properties"].values():
            field.pop("title", None)
            if not field.get("default") or "$ref" in field:
                field.pop("default", None)
            if "enum" in field or field.get("type") == "string":
                law = {key: field.pop(key) for key in ("enum", "type", "pattern") if key in field}
                field["anyOf"] = [law, _FROM_THE_ENVIRONMENT]
    return {**_HEAD, **made}


def _described(document: type[Document]) -> dict[str, Any]:
    """The schema of a model, each field with what its docstring says.

    Pydantic could do so as it makes the models, and would read their source in every command.
    """
    made = document.model_json_schema(by_alias=True)
    models = {document.__name__: made, **made["$defs"]}
    for model in Document.__subclasses__():
        if model.__name__ not in models:
            continue
        properties = models[model.__name__]["properties"]
        [read] = ast.parse(inspect.getsource(model)).body
        for field, text in pairwise(getattr(read, "body", ())):
            is_field = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if is_field and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                said = inspect.cleandoc(str(text.value.value))
                found = properties[model.model_fields[field.target.id].alias or field.target.id]
                described = sorted({**found, "description": said}.items())
                found.clear()
                found.update(described)
    for schema in models.values():
        for found in schema.get("properties", {}).values():
            either, *others = found.get("anyOf", [{}])
            if others == [{"type": "null"}]:  # what is left out; an empty one is refused
                del found["anyOf"]
                found.pop("default", None)
                found.update(either)
    return made


def _tidied(made: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that repeat a key and the defaults that only say "left out"."""
    for model in (made, *made["$defs"].values()):
        for key, field in model["properties"].items():
            field.pop("title", None)
            if key in _LEFT_OUT:
                field.pop("default", None)
            elif key in ("sampled_at", "exponent"):
                field["default"] = 1
    return made


def texts() -> dict[Path, str]:
    """The shipped files, as they should be."""
    made = {"v1": json_schema(), "project": project_schema()}
    return {
        SCHEMAS / f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in made.items()
    }


if __name__ == "__main__":  # pragma: no cover
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
