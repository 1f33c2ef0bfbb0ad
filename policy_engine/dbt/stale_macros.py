"""Whether the macros and the hooks of a manifest are those of the files that are there now.

A manifest has no digest of a macro's file, but it has the macro's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from policy_engine.dbt.integrity import OURS
from policy_engine.dbt.manifest import Macro, Manifest
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.rules import GateFinding, finding

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%-?\s*(?P<kind>macro|test|data_test)\s+(?P<name>\w+)")


def changed_macros(manifest: Manifest, project: DbtProject) -> Iterator[GateFinding]:
    """The macros and hooks whose text is not the one that the manifest has."""
    yield from _Files(manifest, project).findings()


class _Files:
    def __init__(self, manifest: Manifest, project: DbtProject) -> None:
        self.manifest = manifest
        self.project = project
        self._texts: dict[Path, str | None] = {}

    def findings(self) -> Iterator[GateFinding]:
        """Every difference."""
        macros = [m for m in self.manifest.macros.values() if self._is_read(m)]
        for macro in macros:
            yield from self._changed(macro)
        yield from self._new({macro.name for macro in macros})
        if self._other_hooks():
            said = "the on-run hooks were changed after the manifest was made"
            yield finding("G40", said, "dbt_project.yml")

    def _is_read(self, macro: Macro) -> bool:
        is_own = not self.manifest.is_internal(macro.package) and macro.package != OURS
        return is_own and bool(macro.file) and bool(macro.sql.strip())

    def _changed(self, macro: Macro) -> Iterator[GateFinding]:
        is_own = macro.package == self.manifest.project
        folder = self.project.directory if is_own else self.project.packages / macro.package
        text, shown = self._text(folder / macro.file), self.manifest.file_of_macro(macro)
        if text is None:
            # The packages may be elsewhere; what is the project's own is here.
            if is_own:
                said = f"the manifest has the macro {macro.name}, and its file is gone"
                yield finding("G40", said, shown)
        elif _plain(macro.sql) not in text:
            said = f"the macro {macro.name} was changed after the manifest was made"
            yield finding("G40", said, shown)

    def _text(self, file: Path) -> str | None:
        if file not in self._texts:
            try:
                self._texts[file] = _plain(file.read_text("utf-8", errors="replace"))
            except OSError:
                self._texts[file] = None
        return self._texts[file]

    def _new(self, known: set[str]) -> Iterator[GateFinding]:
        for file in self.project.files(self._folders, ".sql"):
            text = self._text(file) or ""
            for found in _BLOCK.finditer(_COMMENT.sub(" ", text)):
                name = found["name"] if found["kind"] == "macro" else f"test_{found['name']}"
                if name not in known:
                    said = f"the manifest does not know the macro {found['name']}"
                    yield finding("G40", said, self.project.shown(file))

    @cached_property
    def _settings(self) -> dict[str, Any]:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        try:
            text = (self.project.directory / "dbt_project.yml").read_text("utf-8")
            found = YAML(typ="safe", pure=True).load(text)
        except (OSError, UnicodeDecodeError, YAMLError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def _folders(self) -> tuple[Path, ...]:
        given = self._settings.get("macro-paths", ["macros"])
        named = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
        return tuple(self.project.directory / each for each in named)

    def _other_hooks(self) -> bool:
        """Whether on-run-start and on-run-end are not those of the manifest."""
        here: list[str] = []
        for key in ("on-run-start", "on-run-end"):
            given = self._settings.get(key) or []
            listed = given if isinstance(given, list) else [given]
            here += [_plain(each) for each in listed if isinstance(each, str) and each.strip()]
        there = [
            _plain(node.raw)
            for node in self.manifest.of_kind("operation")
            if node.package == self.manifest.project and node.file == "dbt_project.yml"
        ]
        return bool(self._settings) and sorted(here) != sorted(there)


def _plain(text: str) -> str:
    return " ".join(text.split())
