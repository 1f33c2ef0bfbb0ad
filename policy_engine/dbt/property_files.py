"""The properties files of a sync: where the entry of each model stands, and what becomes of it.

The entry of a model is changed where it is. A model that has none gets a file of its own, beside
its policy, in which its unit tests stand as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from policy_engine.dbt.files import ProjectFiles
from policy_engine.dbt.properties import (
    HEADER,
    generated_file,
    is_generated,
    item_text,
    model_entry,
    settled_model,
    settled_test,
    unit_tests_of,
)
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.writing import Change
from policy_engine.dbt.yaml_items import Item, YamlItems
from policy_engine.errors import Problem
from policy_engine.policy.project import DbtSpec

_EMPTY = f"{HEADER}version: 2\n"
_GENERATED = "generated: true"


@dataclass(frozen=True)
class _Left:
    """An entry of ours that has no policy any more: a version of a model, or a unit test."""

    path: Path
    section: str
    name: str
    versions: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.section == "models":
            shown = ", ".join(f"version {number}" for number in self.versions)
            return f"{shown} of {self.name}"
        return f"the unit test {self.name}"


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
        problems = list(self._group(releases))
        for _, found in groupby(releases, key=lambda each: each.model):
            models = list(found)
            self._wanted[models[0].model] = {model.version for model in models}
            problems += self._model(models)
        return problems

    def _group(self, releases: Sequence[ReleaseModel]) -> list[Problem]:
        """That the group of the releases is none of the project's."""
        group = self.settings.group
        if group is None or not releases or group in self.files.names("groups"):
            return []
        message = f"dbt.group must be a group of the dbt project, found {group!r}"
        remedy = f"define it: groups: [{{name: {group}, owner: {{name: …, email: …}}}}]"
        return [Problem("policy-engine.yaml", 0, 0, "dbt.group", message, remedy)]

    def _model(self, models: Sequence[ReleaseModel]) -> list[Problem]:
        name, own = models[0].model, models[-1].policy.directory / f"{models[-1].model}.yml"
        tests = unit_tests_of(models)
        text = generated_file(models, self.settings, tests)
        entry = self.files.entry("models", name)
        self._tests |= {test["name"] for test in tests}
        elsewhere = [test for test in tests if self.files.entry("unit_tests", test["name"])]
        if entry is None and own not in self.files.yaml and not elsewhere:
            self._after[own] = YamlItems(text)
            return []
        if entry is None:
            self._after[own] = self._now(own).added(
                "models", item_text(model_entry(models, self.settings))
            )
        elif self.files.text(entry[0]) == text:
            self._as_made.add(entry[0])
            return []
        else:
            problem = self._settle(*entry, models)
            if problem is not None:
                return [problem]
        return [p for test in tests if (p := self._test(own, test)) is not None]

    def _settle(self, path: Path, item: Item, models: Sequence[ReleaseModel]) -> Problem | None:
        found = self._now(path).item("models", models[0].model)
        text = None
        if item.start >= 0 and found is not None:
            text = settled_model(found.text, models, self.settings)
        if found is None or text is None:
            return self._unwritable(path, "models", models[0].model)
        self._put(path, found, text)
        return None

    def _test(self, own: Path, test: dict[str, Any]) -> Problem | None:
        entry = self.files.entry("unit_tests", test["name"])
        if entry is None:
            items = self._now(own)
            if not items.is_sliceable("unit_tests"):
                return self._unwritable(own, "unit_tests", test["name"])
            self._after[own] = items.added("unit_tests", item_text(test))
            return None
        path, item = entry
        found = self._now(path).item("unit_tests", test["name"])
        if item.start < 0 or found is None:
            return self._unwritable(path, "unit_tests", test["name"])
        if not is_generated(found.data):
            message = f"the unit test {test['name']} is in the way, and is not ours; rename it"
            return Problem(str(path), item.start + 1, 1, "unit_tests", message)
        text = settled_test(found.text, test)
        if text is None:
            return self._unwritable(path, "unit_tests", test["name"])
        self._put(path, found, text)
        return None

    def _unwritable(self, path: Path, section: str, name: str) -> Problem:
        message = (
            f"the entry of {name} cannot be changed: {section} is no list with a line an entry"
        )
        return Problem(str(path), 0, 0, section, message, "write it as a block, with '- name:'")

    def _put(self, path: Path, item: Item, text: str) -> None:
        if text != item.text:
            self._after[path] = self._now(path).replaced(item, text)

    def _now(self, path: Path) -> YamlItems:
        """A file as it is after what was worked out so far."""
        if path in self._after:
            return self._after[path]
        return self.files.items(path) if path in self.files.yaml else YamlItems(_EMPTY)

    def stale(self) -> list[str]:
        """The entries of ours that have no policy any more, and where they are."""
        shown = self.files.project.shown
        return [f"{shown(each.path)}: {each}" for each in self._left()]

    def _left(self) -> list[_Left]:
        found = []
        for path in self.files.yaml:
            if path in self._as_made or _GENERATED not in self.files.text(path):
                continue
            items = self._now(path)
            for item in items.items("models"):
                versions = self._left_versions(item) if _GENERATED in item.text else ()
                if versions:
                    found.append(_Left(path, "models", str(item.name), versions))
            for item in items.items("unit_tests"):
                ours = _GENERATED in item.text and is_generated(item.data)
                if ours and not self._is_wanted(item):
                    found.append(_Left(path, "unit_tests", str(item.name)))
        return found

    def _left_versions(self, item: Item) -> tuple[int, ...]:
        wanted = self._wanted.get(str(item.name), set())
        return tuple(
            int(version["v"])
            for version in item.data.get("versions") or ()
            if is_generated(version) and version.get("v") not in wanted
        )

    def _is_wanted(self, test: Item) -> bool:
        """Whether a unit test of ours has its policy; that of a file as made was not looked at."""
        included = test.data.get("versions", {}).get("include", [])
        wanted = self._wanted.get(str(test.data.get("model")), set())
        return str(test.name) in self._tests and set(included) <= wanted

    def prune(self) -> list[str]:
        """Take out the entries that are left over; none is named any more."""
        for left in self._left():
            items = self._now(left.path)
            item = items.item(left.section, left.name)
            if item is None:
                continue
            text = settled_model(item.text, (), self.settings, stale=left.versions)
            if left.section == "unit_tests" or text is None or _is_bare(YamlItems(text)):
                self._after[left.path] = items.without(left.section, item)
            else:
                self._put(left.path, item, text)
        return []

    def changes(self) -> list[Change]:
        """The files that change; one of ours in which nothing is left goes."""
        found = []
        for path, items in self._after.items():
            before = self.files.text(path) if path in self.files.yaml else None
            after = None if items.text.strip() == _EMPTY.strip() else items.text
            if before != after:
                found.append(Change(path, before, after))
        return found


def _is_bare(entry: YamlItems) -> bool:
    """Whether nothing is left of a model's entry but its name."""
    return set(entry.sections) <= {"name", "latest_version", "versions"} and not entry.items(
        "versions"
    )
