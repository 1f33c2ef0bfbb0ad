"""Put a dbt project's manifest beside it, without what changes at each run.

dbt compile --project-dir FOLDER --profiles-dir FOLDER && python scripts/trim_manifest.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HEAD = ("dbt_schema_version", "dbt_version", "adapter_type", "project_name")
KEPT = (
    "nodes", "sources", "exposures", "metrics", "semantic_models", "saved_queries", "functions",
    "unit_tests", "disabled",
)  # fmt: skip
NODE = (
    "access", "alias", "attached_node", "columns", "compiled_code", "config", "database",
    "depends_on", "exports", "group", "identifier", "language", "latest_version", "meta", "name",
    "original_file_path", "package_name", "raw_code", "refs", "relation_name", "resource_type",
    "schema", "source_meta", "source_name", "sources", "unique_id", "version",
)  # fmt: skip


def trimmed(document: dict[str, Any]) -> dict[str, Any]:
    """What the gate reads of a manifest, but for macros."""
    found: dict[str, Any] = {
        "metadata": {key: document["metadata"].get(key) for key in HEAD},
        "macros": {},
    }
    for section in KEPT:
        found[section] = {
            id_: {key: data[key] for key in NODE if _tells(data.get(key))}
            if section != "disabled"
            else data
            for id_, data in document.get(section, {}).items()
        }
    return found


def _tells(value: object) -> bool:
    return value not in (None, "", [], {})


def main() -> None:
    """Write FOLDER/manifest.json."""
    folder = Path(sys.argv[1])
    document = json.loads((folder / "target" / "manifest.json").read_text("utf-8"))
    text = json.dumps(trimmed(document), indent=1, sort_keys=True)
    (folder / "manifest.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
