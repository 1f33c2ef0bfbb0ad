"""A dbt properties file as a list of items, each found without reading the others.

dbt's files are block lists: ``models:``, and an item a model. A file may have a thousand of them,
which take seconds to read as YAML; so the items are found by their indentation, and only those that
are asked for are read.

What we write is read by PyYAML in dbt 1 and by a Rust parser in dbt 2, which differ in what plain
words mean: a text is plain only where every reader takes it as that text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from policy_engine.dbt.lexing import words
from policy_engine.values import frozen

_KEY = re.compile(r"[\"']?([A-Za-z_][\w-]*)[\"']?\s*:(?=\s|$)\s*(.*)")
_NAME = re.compile(r"[\"']?name[\"']?\s*:\s+(.*\S)\s*")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*(?=\s*(?:#.*)?$)", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z_][\w./()-]*(?: [\w./()-]+)*", re.ASCII)
_WORDS = words("y n yes no on off true false null none nan inf")


@frozen
class Item:
    """An item of a list: its lines, as numbers from 0, and how its dash is indented.

    One of a list between brackets has no lines: it is ``read`` already.
    """

    start: int
    end: int
    dash: int
    text: str
    read: Mapping[str, object] | None = None

    @cached_property
    def name(self) -> str | None:
        """Its ``name``; None where it has none that is text."""
        found = self.data.get("name") if self.read or self.text.startswith("{") else None
        for match in map(_NAME.fullmatch, self.text.split("\n")):
            if match is not None and found is None:
                plain = _PLAIN_NAME.match(match[1])
                found = plain[0] if plain is not None else _loaded(match[1])
        return found if isinstance(found, str) else None

    @cached_property
    def data(self) -> Mapping[str, object]:
        """What it says; empty where it is no mapping or no YAML."""
        found = _loaded(self.text) if self.read is None else self.read
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

    @cached_property
    def sections(self) -> dict[str, tuple[int, int, str]]:
        """The top-level keys: the lines below each, and what stands behind it on its line."""
        keys = []
        for number, line in enumerate(self.lines):
            key = None if line[:1] in set(" -#\t") else _KEY.fullmatch(line)
            if key is not None:
                keys.append((number, key[1], key[2]))
        ends = [number for number, _, _ in keys[1:]] + [len(self.lines)]
        found: dict[str, tuple[int, int, str]] = {}
        for (start, name, behind), end in zip(keys, ends[: len(keys)], strict=True):
            found.setdefault(name, (start + 1, end, behind))
        return found

    def is_sliceable(self, section: str) -> bool:
        """Whether a list is written as a block, or is not there."""
        _, _, behind = self.sections.get(section, (0, 0, ""))
        return not behind or behind.startswith("#")

    def items(self, section: str) -> list[Item]:
        """The items of a list, in order."""
        if section not in self._lists and self.is_sliceable(section):
            self._lists[section] = self._sliced(section)
        elif section not in self._lists:
            document = _loaded(self.text)
            found = document.get(section) if isinstance(document, dict) else None
            items = found if isinstance(found, list) else []
            made = [Item(-1, -1, 0, "", item) for item in items if isinstance(item, dict)]
            self._lists[section] = made
        return self._lists[section]

    def _sliced(self, section: str) -> list[Item]:
        begin, end, _ = self.sections.get(section, (0, 0, ""))
        full = [n for n in range(begin, end) if not _is_blank(self.lines[n])]
        if not full:
            return []
        dash = _indent(self.lines[full[0]])
        mark = re.compile(rf" {{{dash}}}-(\s|$)")
        starts = [n for n in full if mark.match(self.lines[n])]
        ends = [*starts[1:], end][: len(starts)]
        return [self._item(start, stop, dash) for start, stop in zip(starts, ends, strict=True)]

    def _item(self, start: int, end: int, dash: int) -> Item:
        lines = self.lines
        while end > start + 1 and _is_blank(lines[end - 1]) and (
            not lines[end - 1].strip() or _indent(lines[end - 1]) <= dash
        ):  # fmt: skip  # blank, or a comment that is of no item
            end -= 1
        first = lines[start][dash + 1 :]
        key = dash + 1 + _indent(first) if first.strip() else dash + 2
        return Item(start, end, dash, "\n".join(line[key:] for line in lines[start:end]))

    def item(self, section: str, name: str) -> Item | None:
        """The first item of that name."""
        return next((item for item in self.items(section) if item.name == name), None)

    def added(self, section: str, text: str) -> YamlItems:
        """The file with one more item at the end of a list, which is made where it is not there.

        ``text`` is of one line.
        """
        known = self.items(section)
        dash = known[-1].dash if known else 2
        if known:
            at, before = known[-1].end, [""]
        elif section in self.sections:
            at, before = self.sections[section][0], []
        else:
            at = len(self.text.rstrip().split("\n")) if self.text.strip() else 0
            before = ["", f"{section}:"] if at else [f"{section}:"]
        lines = [*before, f"{' ' * dash}- {text}"]
        return YamlItems("\n".join([*self.lines[:at], *lines, *(self.lines[at:] or [""])]))


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def _is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _loaded(text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        return None


class Flow(dict):  # type: ignore[type-arg]
    """A mapping that is written on one line."""


class FlowList(list):  # type: ignore[type-arg]
    """A list that is written on one line."""


class Block(str):
    """A text of several lines, as it stands."""

    __slots__ = ()


def written(data: Mapping[str, object]) -> str:
    """The lines of a mapping, each with a line's end: the same text for the same data.

    >>> print(written({"name": "adult", "tests": [{"k": 20}], "on": Flow(a="no", b=None)}), end="")
    name: adult
    tests:
      - k: 20
    "on": {a: "no", b: null}
    """
    return "".join(f"{line}\n" for line in _lines(data))


def _lines(data: object) -> list[str]:
    """The lines of what ``_is_nested``."""
    lines: list[str] = []
    for value in data if isinstance(data, list) else ():
        first, *others = _lines(value) if _is_nested(value) else [_inline(value)]
        lines += [f"- {first}", *_indented(others)]
    for key, value in data.items() if isinstance(data, Mapping) else ():
        if _is_nested(value):
            lines += [f"{scalar(key)}:", *_indented(_lines(value))]
        elif isinstance(value, Block) and _is_block(value):
            lines += [f"{scalar(key)}: |-", *_indented(value.split("\n"))]
        else:
            lines.append(f"{scalar(key)}: {_inline(value)}")
    return lines


def _is_nested(value: object) -> bool:
    is_flow = isinstance(value, Flow | FlowList)
    return isinstance(value, dict | list) and bool(value) and not is_flow


def _is_block(text: str) -> bool:
    """Whether a text of several lines can stand as it is, and is read as it stands."""
    lines = text.split("\n")
    clean = all(line.isprintable() and line == line.rstrip() for line in lines)
    return clean and bool(lines[0]) and not lines[0].startswith(" ") and bool(lines[-1])


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_inline(key)}: {_inline(item)}" for key, item in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return scalar(value)


def scalar(value: object) -> str:
    """A value as every reader takes it.

    >>> scalar("adult"), scalar("no"), scalar("1.5"), scalar("a: b"), scalar(True), scalar(None)
    ('adult', '"no"', '"1.5"', '"a: b"', 'true', 'null')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | date):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    assert isinstance(value, str)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return f'"{"".join(map(_escaped, value))}"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
