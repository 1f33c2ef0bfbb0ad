"""The properties files of a sync: where the entry of each model stands, and what becomes of it.

The entry of a model is changed where it is. A model that has none gets a file of its own, beside
its policy, in which its unit tests stand as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from policy_engine.dbt.project import Change, ProjectFiles
from policy_engine.dbt.properties import (
    HEADER,
    generated_file,
    is_generated,
    model_entry,
    settled_model,
    settled_test,
)
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.unit_tests import unit_tests
from policy_engine.dbt.yaml_items import Item, YamlItems, written
from policy_engine.errors import Problem
from policy_engine.policy.project_models import DbtSpec

_EMPTY = f"{HEADER}version: 2\n"
_GENERATED = "generated: true"


@dataclass
class PropertyFiles:
    """The properties files of a project, and their texts after a sync."""

    files: ProjectFiles
    settings: DbtSpec
    _after: dict[Path, YamlItems] = field(default_factory=dict)
    _as_made: set[Path] = field(default_factory=set)
    _wanted: dict[str, set[int]] = field(default_factory=dict)
    _tests: set[str] = field(default_factory=set)

    def plan(self, releases: Sequence[ReleaseModel]) -> list[Problem]:
        """Work out the files of these releases; what keeps a file from being changed.

        ``releases`` are sorted by model and version.
        """
        problems, group = [], self.settings.group
        if group is not None and releases and group not in self.files.names("groups"):
            message = f"dbt.group must be a group of the dbt project, found {group!r}"
            remedy = f"define it: groups: [{{name: {group}, owner: {{name: …, email: …}}}}]"
            problems += [Problem("policy-engine.yaml", 0, 0, "dbt.group", message, remedy)]
        for name, found in groupby(releases, key=lambda each: each.model):
            models = list(found)
            self._wanted[name] = {model.version for model in models}
            problems += self._model(name, models)
        return problems

    def _model(self, name: str, models: Sequence[ReleaseModel]) -> list[Problem]:
        own = models[-1].policy.directory / f"{name}.yml"
        tests = [test for model in models for test in unit_tests(model)]
        self._tests |= {test["name"] for test in tests}
        text = generated_file(models, self.settings, tests)
        entry = self.files.entry("models", name)
        if entry is not None and self.files.text(entry[0]) == text:
            self._as_made.add(entry[0])
            return []
        elsewhere = any(self.files.entry("unit_tests", test["name"]) for test in tests)
        if entry is None and own not in self.files.yaml and not elsewhere:
            self._after[own] = YamlItems(text)
            return []
        problems = self._settle(
            own, "models", model_entry(models, self.settings),
            lambda text: settled_model(text, models, self.settings),
        )  # fmt: skip
        return problems or [problem for test in tests for problem in self._test(own, test)]

    def _test(self, own: Path, test: dict[str, Any]) -> list[Problem]:
        name, entry = test["name"], self.files.entry("unit_tests", test["name"])
        if entry is not None and entry[1].read is None and not is_generated(entry[1].data):
            message = f"the unit test {name} is in the way, and is not ours; rename it"
            return [Problem(str(entry[0]), entry[1].start + 1, 1, "unit_tests", message)]
        return self._settle(own, "unit_tests", test, lambda text: settled_test(text, test))

    def _settle(
        self, own: Path, section: str, ours: dict[str, Any], right: Callable[[str], str | None]
    ) -> list[Problem]:
        """Make an entry's text ``right``, or add ours; the problem where it cannot be changed."""
        name = ours["name"]
        path, known = self.files.entry(section, name) or (own, None)
        items = self._now(path)
        if known is None and items.is_sliceable(section):
            self._after[path] = items.added(section, written(ours))
            return []
        item = None if known is None or known.read is not None else items.item(section, name)
        text = None if item is None else right(item.text)
        if item is None or text is None:
            message = (
                f"the entry of {name} cannot be changed: {section} is no list with a line an entry"
            )
            remedy = "write it as a block, with '- name:'"
            return [Problem(str(path), 0, 0, section, message, remedy)]
        if text != item.text:
            self._after[path] = items.replaced(item, text)
        return []

    def _now(self, path: Path) -> YamlItems:
        """A file as it is after what was worked out so far."""
        known = self.files.items(path) if path in self.files.yaml else YamlItems(_EMPTY)
        return self._after.get(path, known)

    def stale(self, *, prune: bool) -> list[str]:
        """The entries of ours that have no policy any more, and where; with ``prune`` they go."""
        named, shown = [], self.files.project.shown
        for path in self.files.yaml:
            if path in self._as_made or _GENERATED not in self.files.text(path):
                continue
            for item in self._now(path).items("models"):
                versions = self._left_versions(item)
                if versions and prune:
                    self._without_versions(path, str(item.name), versions)
                elif versions:
                    told = ", ".join(f"version {number}" for number in versions)
                    named.append(f"{shown(path)}: {told} of {item.name}")
            for item in self._now(path).items("unit_tests"):
                if not self._is_left(item):
                    continue
                named += [] if prune else [f"{shown(path)}: the unit test {item.name}"]
                known = self._now(path).item("unit_tests", str(item.name)) if prune else None
                if known is not None:
                    self._after[path] = self._now(path).without("unit_tests", known)
        return named

    def _left_versions(self, item: Item) -> tuple[int, ...]:
        if _GENERATED not in item.text:
            return ()
        wanted = self._wanted.get(str(item.name), set())
        return tuple(
            int(version["v"])
            for version in item.data.get("versions") or ()
            if is_generated(version) and version.get("v") not in wanted
        )

    def _is_left(self, test: Item) -> bool:
        if _GENERATED not in test.text or not is_generated(test.data):
            return False
        # Of a model whose file is as it was made no test was looked at.
        included = test.data.get("versions", {}).get("include", [])
        wanted = self._wanted.get(str(test.data.get("model")), set())
        return str(test.name) not in self._tests or not set(included) <= wanted

    def _without_versions(self, path: Path, name: str, versions: tuple[int, ...]) -> None:
        items = self._now(path)
        item = items.item("models", name)
        if item is None:
            return
        text = settled_model(item.text, (), self.settings, stale=versions)
        left = YamlItems(text or "")
        is_bare = set(left.sections) <= {"name", "latest_version", "versions"}
        if text is None or (is_bare and not left.items("versions")):
            self._after[path] = items.without("models", item)
        else:
            self._after[path] = items.replaced(item, text)

    def changes(self) -> list[Change]:
        """The files that change; one of ours in which nothing is left goes."""
        found = []
        for path, items in self._after.items():
            before = self.files.text(path) if path in self.files.yaml else None
            after = None if items.text.strip() == _EMPTY.strip() else items.text
            if before != after:
                found.append(Change(path, before, after))
        return found
