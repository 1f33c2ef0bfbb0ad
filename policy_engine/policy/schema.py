"""The JSON Schema of the policy file, made from the models.

``python -m policy_engine.policy.schema > policy_engine/policy/schemas/v1.json`` writes it anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from policy_engine.policy.models import PolicyDocument

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
)
SCHEMA_FILE = Path(__file__).parent / "schemas" / "v1.json"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of version 1.

    It is wider than the language: what JSON Schema cannot say (ascending bins, the files of
    hierarchies, names that differ in case only) is left to ``load_policy``.

    >>> json_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    made = PolicyDocument.model_json_schema(by_alias=True)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**head, **_tidied(made)}


def _tidied(made: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that repeat a key and the defaults that only say "left out"."""
    for model in (made, *made["$defs"].values()):
        for key, field in model["properties"].items():
            field.pop("title", None)
            if key in _LEFT_OUT:
                field.pop("default", None)
            if key in ("keep", "auto"):
                field["$ref"] = field.pop("anyOf")[0]["$ref"]
        if "sampled_at" in model["properties"]:
            model["properties"]["sampled_at"]["default"] = 1
        if "exponent" in model["properties"]:
            model["properties"]["exponent"]["default"] = 1
    return made


def schema_text() -> str:
    """The text of the shipped file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":  # pragma: no cover - run in a process of its own by its test
    sys.stdout.write(schema_text())
