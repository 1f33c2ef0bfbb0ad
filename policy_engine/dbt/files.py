"""The files of a dbt project by the names that dbt gives them; each is read at most once.

This stands in for the manifest, so that dbt has to parse nothing before: a model is called as its
file is, and a properties file that speaks of it has its name in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from policy_engine.dbt.project import POLICY, DbtProject
from policy_engine.dbt.yaml_items import Item, YamlItems, names, whole
from policy_engine.errors import FileError, PolicyError, Problem

_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+([A-Za-z_]\w*)")


@dataclass
class ProjectFiles:
    """What lies below the paths of a project. Texts have plain line ends, whatever the file has."""

    project: DbtProject
    _texts: dict[Path, str] = field(default_factory=dict)
    _items: dict[Path, YamlItems] = field(default_factory=dict)

    @cached_property
    def models(self) -> Mapping[str, list[Path]]:
        """The files of models by name; a name that has several is a mistake that dbt will tell."""
        found: dict[str, list[Path]] = {}
        for path in self.project.files(self.project.models, ".sql", ".py"):
            found.setdefault(path.stem, []).append(path)
        return found

    @cached_property
    def seeds(self) -> Mapping[str, Path]:
        """The files of seeds by name."""
        return {path.stem: path for path in self.project.files(self.project.seeds, ".csv")}

    @cached_property
    def snapshots(self) -> Mapping[str, Path]:
        """The files that define snapshots, by name."""
        found: dict[str, Path] = {}
        for path in self.project.files(self.project.snapshots, ".sql"):
            found |= dict.fromkeys(_SNAPSHOT.findall(self.text(path)), path)
        for path in self.yaml:
            if "snapshots" in self.items(path).sections:
                found |= dict.fromkeys(_names_of(self.items(path), "snapshots"), path)
        return found

    @cached_property
    def yaml(self) -> tuple[Path, ...]:
        """The properties files."""
        folders = (*self.project.models, *self.project.seeds, *self.project.snapshots)
        found = self.project.files(folders, ".yml", ".yaml")
        return tuple(path for path in found if not path.name.lower().endswith(POLICY))

    def text(self, path: Path) -> str:
        """The text of a file.

        Raises:
            FileError: it cannot be read.
            PolicyError: it is not text.
        """
        if path not in self._texts:
            try:
                self._texts[path] = path.read_text(encoding="utf-8-sig")
            except OSError as error:
                raise FileError(f"{path} could not be read: {error.strerror}") from None
            except UnicodeDecodeError:
                raise PolicyError((Problem(str(path), 0, 0, "", "it is not UTF-8 text"),)) from None
        return self._texts[path]

    def items(self, path: Path) -> YamlItems:
        """A properties file, as its items."""
        if path not in self._items:
            self._items[path] = YamlItems(self.text(path))
        return self._items[path]

    def speaking_of(self, word: str) -> Iterator[Path]:
        """The properties files in which a word stands."""
        return (path for path in self.yaml if word in self.text(path))

    def entry(self, section: str, name: str) -> tuple[Path, Item] | None:
        """The entry of a name in a list of a properties file, and which file that is."""
        for path in self.speaking_of(name):
            found = self._found(path, section, name)
            if found is not None:
                return path, found
        return None

    def _found(self, path: Path, section: str, name: str) -> Item | None:
        items = self.items(path)
        if section in items.sections and not items.is_sliceable(section):
            return _in_one_line(items.text, section, name)
        return items.item(section, name)

    def names(self, section: str) -> set[str]:
        """The names of every entry of a kind."""
        return {
            name
            for path in self.yaml
            if section in self.items(path).sections
            for name in _names_of(self.items(path), section)
        }


def _names_of(items: YamlItems, section: str) -> Iterator[str]:
    if items.is_sliceable(section):
        return (item.name for item in items.items(section) if item.name)
    return names((whole(items.text) or {}).get(section))


def _in_one_line(text: str, section: str, name: str) -> Item | None:
    """An entry of a list that is written between brackets: it can be read, and not be changed."""
    for entry in (whole(text) or {}).get(section) or ():
        if isinstance(entry, dict) and entry.get("name") == name:
            found = Item(-1, -1, 0, 0, "")
            found.__dict__.update(name=name, data=entry)
            return found
    return None
