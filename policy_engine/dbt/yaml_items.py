"""A dbt properties file as a list of items, each found and changed without touching the others.

dbt's files are block lists: ``models:``, and an item a model. A file may have a thousand of them,
which take seconds to read as YAML; so the items are found by their indentation, and only those that
are asked for are read. What is changed is spliced in; every other line stays as it is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from policy_engine.dbt.yaml_text import Block, Flow, FlowList, is_block, scalar

_KEY = re.compile(r"[\"']?([A-Za-z_][\w-]*)[\"']?\s*:(?=\s|$)\s*(.*)")
_NAME = re.compile(r"[\"']?name[\"']?\s*:\s+(.*\S)\s*")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*(?=\s*(?:#.*)?$)", re.ASCII)
_WIDE = 1 << 20


@dataclass(frozen=True)
class Item:
    """An item of a block list: its lines, as numbers from 0, and how it is indented."""

    start: int
    end: int
    dash: int
    key: int
    text: str

    @cached_property
    def name(self) -> str | None:
        """Its ``name``; None where it has none that is text."""
        lines = self.text.split("\n")
        if lines[0].startswith(("{", '"{')):
            found = _loaded(self.text)
            name = found.get("name") if isinstance(found, dict) else None
            return name if isinstance(name, str) else None
        for line in lines:
            match = _NAME.fullmatch(line)
            if match is not None:
                plain = _PLAIN_NAME.match(match[1])
                found = plain[0] if plain is not None else _loaded(match[1])
                return found if isinstance(found, str) else None
        return None

    @cached_property
    def data(self) -> dict[str, Any]:
        """What it says; empty where it is no mapping or no YAML."""
        found = _loaded(self.text)
        return found if isinstance(found, dict) else {}


class YamlItems:
    """The text of a properties file, or of an item with lists of its own.

    >>> file = YamlItems("models:\\n  - name: a\\n  # of b\\n  - name: b\\n    columns: []\\n")
    >>> [(item.name, item.start, item.end) for item in file.items("models")]
    [('a', 1, 2), ('b', 3, 5)]
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._lists: dict[str, list[Item]] = {}
        self._named: dict[str, dict[str, Item]] = {}

    @cached_property
    def sections(self) -> dict[str, tuple[int, int, str]]:
        """The top-level keys: the lines below each, and what stands behind it on its line."""
        found: dict[str, tuple[int, int, str]] = {}
        key, begin, behind = "", 0, ""
        for number, line in enumerate(self.lines):
            match = None if line[:1] in {"", " ", "-", "#", "\t"} else _KEY.fullmatch(line)
            if match is not None:
                if key:
                    found.setdefault(key, (begin, number, behind))
                key, begin, behind = match[1], number + 1, match[2]
        if key:
            found.setdefault(key, (begin, len(self.lines), behind))
        return found

    def is_sliceable(self, section: str) -> bool:
        """Whether a list is written as a block, or is not there."""
        _, _, behind = self.sections.get(section, (0, 0, ""))
        return not behind or behind.startswith("#")

    def items(self, section: str) -> list[Item]:
        """The items of a list, in order; none where it is not written as a block."""
        if section not in self._lists:
            self._lists[section] = list(self._read(section))
        return self._lists[section]

    def _read(self, section: str) -> Iterator[Item]:
        if section not in self.sections or not self.is_sliceable(section):
            return
        begin, end, _ = self.sections[section]
        starts, dash = self._starts(begin, end)
        for start, stop in zip(starts, [*starts[1:], end][: len(starts)], strict=True):
            yield self._item(start, stop, dash)

    def item(self, section: str, name: str) -> Item | None:
        """The first item of that name."""
        if section not in self._named:
            items = reversed(self.items(section))
            self._named[section] = {item.name: item for item in items if item.name is not None}
        return self._named[section].get(name)

    def _starts(self, begin: int, end: int) -> tuple[list[int], int]:
        full = (n for n in range(begin, end) if not _is_blank(self.lines[n]))
        first = next(full, None)
        if first is None:
            return [], 0
        dash = _indent(self.lines[first])
        mark = re.compile(rf" {{{dash}}}-(\s|$)")
        return [n for n in range(first, end) if mark.match(self.lines[n])], dash

    def _item(self, start: int, end: int, dash: int) -> Item:
        while end > start + 1 and self._is_between(end - 1, dash):
            end -= 1
        first = self.lines[start][dash + 1 :]
        key = dash + 1 + _indent(first) if first.strip() else dash + 2
        body = [self.lines[start][key:], *(line[key:] for line in self.lines[start + 1 : end])]
        return Item(start, end, dash, key, "\n".join(body))

    def _is_between(self, number: int, dash: int) -> bool:
        """Whether a line is blank, or a comment that is of no item."""
        line = self.lines[number]
        return not line.strip() or (line.lstrip().startswith("#") and _indent(line) <= dash)

    def replaced(self, item: Item, text: str) -> YamlItems:
        """The file with another text for an item; without the item where it is empty."""
        lines = [f"{' ' * item.key}{line}" if line else "" for line in text.split("\n")]
        if text:
            lines[0] = f"{' ' * item.dash}-{' ' * (item.key - item.dash - 1)}{lines[0].lstrip()}"
        kept = [*self.lines[: item.start], *(lines if text else []), *self.lines[item.end :]]
        return YamlItems("\n".join(kept))

    def added(self, section: str, text: str) -> YamlItems:
        """The file with one more item at the end of a list, which is made where it is not there."""
        known = self.items(section)
        dash = known[-1].dash if known else 2
        lines = [f"{' ' * (dash + 2)}{line}" if line else "" for line in text.split("\n")]
        lines[0] = f"{' ' * dash}- {lines[0].lstrip()}"
        if known:
            at, before = known[-1].end, [""]
        elif section in self.sections:
            at, before = self.sections[section][0], []
        else:
            at = len(self.lines)
            while at and not self.lines[at - 1].strip():
                at -= 1
            before = ["", f"{section}:"] if at else [f"{section}:"]
        after = self.lines[at:] or [""]
        return YamlItems("\n".join([*self.lines[:at], *before, *lines, *after]))

    def without(self, section: str, item: Item) -> YamlItems:
        """The file without an item, and without its list where it was the last."""
        alone = len(self.items(section)) == 1
        start = self.sections[section][0] - 1 if alone else item.start
        end = item.end
        while end < len(self.lines) and not self.lines[end].strip() and end + 1 < len(self.lines):
            end += 1
        return YamlItems("\n".join([*self.lines[:start], *self.lines[end:]]))


def _is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _loaded(text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        return None


def whole(text: str) -> dict[str, Any] | None:
    """What a file says, read as a whole; None where it is no YAML or no mapping."""
    found = _loaded(text)
    return found if isinstance(found, dict) else None


def opened(text: str) -> tuple[YAML, CommentedMap | None]:
    """An item as data that keeps its comments, and what writes it in the style it has."""
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = _WIDE
    yaml.allow_unicode = True
    offset = _offset(text)
    yaml.indent(mapping=2, sequence=2 + offset, offset=offset)
    try:
        found = yaml.load(text)
    except YAMLError:
        return yaml, None
    return yaml, found if isinstance(found, CommentedMap) else None


def closed(yaml: YAML, data: CommentedMap) -> str:
    """The text of an item."""
    stream = io.StringIO()
    yaml.dump(data, stream)
    return stream.getvalue().rstrip("\n")


def _offset(text: str) -> int:
    """How far the lists inside an item stand behind their keys: 2, or 0."""
    lines = text.split("\n")
    for key, line in pairwise(lines):
        if re.fullmatch(r"[\s-]*[\w\"'-]+:\s*", key) and line.lstrip().startswith("- "):
            return min(_indent(line) - len(key) + len(key.lstrip(" -")), 2)
    return 2


def settle(existing: CommentedMap, ours: dict[str, Any]) -> bool:
    """Make every key of ``ours`` say the same in ``existing``; whether that changed anything."""
    changed = False
    for key, value in ours.items():
        known = existing.get(key)
        if key in existing and _same(known, value):
            continue
        if (
            isinstance(known, CommentedMap)
            and isinstance(value, dict)
            and not isinstance(value, Flow)
        ):
            changed |= settle(known, value)
        else:
            existing[key] = styled(value)
            changed = True
    return changed


def _same(known: object, value: object) -> bool:
    if isinstance(known, str) and isinstance(value, str):
        return str(known) == str(value)
    return (known == value and type(known) is not bool) or known is value


def styled(value: object) -> Any:
    """Our data as ruamel writes it."""
    if isinstance(value, dict):
        made = CommentedMap((key, styled(item)) for key, item in value.items())
        if isinstance(value, Flow):
            made.fa.set_flow_style()
        return made
    if isinstance(value, list):
        items = CommentedSeq(styled(item) for item in value)
        if isinstance(value, FlowList):
            items.fa.set_flow_style()
        return items
    if isinstance(value, Block) and is_block(value):
        return LiteralScalarString(value)
    if isinstance(value, str):
        return DoubleQuotedScalarString(value) if scalar(value) != value else str(value)
    return value


def names(data: object) -> Iterator[str]:
    """The names of the items of a list of mappings."""
    for item in data if isinstance(data, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            yield item["name"]
