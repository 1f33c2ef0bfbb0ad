"""The JSON Schemas of the policy file and of the project file, made from the models.

``python -m policy_engine.policy.schema > policy_engine/policy/schemas/v1.json`` writes it anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.project import ProjectDocument

_LEFT_OUT = (
    "path",
    "relation",
    "budget",
    "keep",
    "labels",
    "auto",
    "people",
    "groups",
    "deprecated",
    "csv",
    "delimiter",
    "escape",
    "header",
    "comment",
    "thousands",
)
_HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
_FROM_THE_ENVIRONMENT = {"type": "string", "pattern": r"\{\{ *env_var\("}
SCHEMA_FILE = Path(__file__).parent / "schemas" / "v1.json"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of version 1.

    It is wider than the language: what JSON Schema cannot say (ascending bins, the files of
    hierarchies, names that differ in case only) is left to ``load_policy``.

    >>> json_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return {**_HEAD, **_tidied(PolicyDocument.model_json_schema(by_alias=True))}


def project_schema() -> dict[str, Any]:
    """The JSON Schema of the project file, `policy-engine.yaml`; as wide as the policy's is.

    >>> sorted(project_schema()["properties"])[:2]
    ['accounts', 'accounts_open']
    """
    made = ProjectDocument.model_json_schema(by_alias=True)
    for model in (made, *made["$defs"].values()):
        for field in model["properties"].values():
            field.pop("title", None)
            if not field.get("default") or "$ref" in field:
                field.pop("default", None)
            if "enum" in field or field.get("type") == "string":
                law = {key: field.pop(key) for key in ("enum", "type", "pattern") if key in field}
                field["anyOf"] = [law, _FROM_THE_ENVIRONMENT]
    return {**_HEAD, **made}


def _tidied(made: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that repeat a key and the defaults that only say "left out"."""
    for model in (made, *made["$defs"].values()):
        for key, field in model["properties"].items():
            field.pop("title", None)
            if key in _LEFT_OUT:
                field.pop("default", None)
            if key == "keep":
                field["anyOf"] = [way for way in field["anyOf"] if way != {"type": "null"}]
            elif key in ("auto", "csv"):
                field["$ref"] = field.pop("anyOf")[0]["$ref"]
        if "sampled_at" in model["properties"]:
            model["properties"]["sampled_at"]["default"] = 1
        if "exponent" in model["properties"]:
            model["properties"]["exponent"]["default"] = 1
    return made


def schema_text() -> str:
    """The text of the shipped file."""
    return text_of(json_schema())


def text_of(schema: dict[str, Any]) -> str:
    """A schema as it stands in a file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":  # pragma: no cover - run in a process of its own by its test
    sys.stdout.write(schema_text())
