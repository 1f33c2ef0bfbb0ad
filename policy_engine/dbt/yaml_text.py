"""YAML that we write: the same text for the same data, in the style of dbt's own files.

It is read by PyYAML in dbt 1 and by a Rust parser in dbt 2, which differ in what plain words mean:
a text is plain only where every reader takes it as that text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

_PLAIN = re.compile(r"[A-Za-z_][\w./()-]*(?: [\w./()-]+)*", re.ASCII)
_WORDS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"]
)
_INDENT = "  "


class Flow(dict):  # type: ignore[type-arg]  # a mapping that is written on one line
    """A mapping on one line."""


class FlowList(list):  # type: ignore[type-arg]  # a list that is written on one line
    """A list on one line."""


class Block(str):
    """A text of several lines, as it stands."""

    __slots__ = ()


def written(data: object, indent: int = 0) -> str:
    """The lines of a mapping or a list, each with a line's end.

    >>> print(written({"name": "adult", "tests": [{"k": 20}], "on": Flow(a="no", b=None)}), end="")
    name: adult
    tests:
      - k: 20
    "on": {a: "no", b: null}
    """
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in _lines(data))


def _lines(data: object) -> list[str]:
    if isinstance(data, Mapping):
        return [line for key, value in data.items() for line in _entry(scalar(key), value)]
    assert isinstance(data, Sequence)
    return [line for value in data for line in _item(value)]


def _entry(key: str, value: object) -> list[str]:
    if _is_nested(value):
        return [f"{key}:", *(f"{_INDENT}{line}" if line else "" for line in _lines(value))]
    if isinstance(value, Block) and is_block(value):
        return [f"{key}: |-", *(f"{_INDENT}{line}" if line else "" for line in value.split("\n"))]
    return [f"{key}: {_inline(value)}"]


def _item(value: object) -> list[str]:
    if not _is_nested(value):
        return [f"- {_inline(value)}"]
    first, *others = _lines(value)
    return [f"- {first}", *(f"{_INDENT}{line}" if line else "" for line in others)]


def _is_nested(value: object) -> bool:
    is_flow = isinstance(value, Flow | FlowList)
    return isinstance(value, dict | list) and bool(value) and not is_flow


def is_block(text: str) -> bool:
    """Whether a text of several lines can stand as it is, and is read as it stands."""
    lines = text.split("\n")
    clean = all(line.isprintable() and line == line.rstrip() for line in lines)
    return clean and bool(lines[0]) and not lines[0].startswith(" ") and bool(lines[-1])


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_in_flow(key)}: {_in_flow(item)}" for key, item in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_flow, value))}]"
    return scalar(value)


def _in_flow(value: object) -> str:
    return _inline(value) if isinstance(value, Mapping | list) else scalar(value)


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
