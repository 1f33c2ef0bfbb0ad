"""The values that a template handles while it is walked, and what is known of the world."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import jinja2
from jinja2 import nodes

from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.naming import read_name

HOLE = "\uf8ff"
"""Stands in a rendered text where only a run can tell what will stand there."""
AGAIN = "\uf8fe"
"""Stands around a text that is repeated nobody knows how often; a hole, but for a statement."""

MOST_TURNS = 1_000
_ENVIRONMENT = jinja2.Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])


class Unknown:
    """A value that only a run can tell."""

    def __str__(self) -> str:
        return HOLE


UNKNOWN = Unknown()


def is_open(value: object) -> bool:
    """Whether some of a value is only known in a run."""
    said = str(value)
    return HOLE in said or AGAIN in said


@dataclass(frozen=True)
class Relation:
    """A relation, as a template handles it."""

    text: str
    node: str = ""

    def __str__(self) -> str:
        return self.text

    def part(self, name: str) -> object:
        """One of its parts."""
        parts = read_name(self.text) or ()
        place = {"identifier": -1, "name": -1, "table": -1, "schema": -2, "database": -3}.get(name)
        if place is None or len(parts) < -place:
            return UNKNOWN
        return parts[place].text


@dataclass(frozen=True)
class Rendered:
    """One text that a template can become.

    ``refs`` are the nodes that it names, ``queries`` what it runs while it is rendered. ``asked``
    are the names on which its branches hang, and ``called`` what had to be left as a hole.
    ``script`` is the text with no holes around what is repeated.
    """

    text: str
    refs: frozenset[str] = frozenset()
    queries: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    script: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left open."""
        return HOLE not in self.text


@dataclass(frozen=True)
class World:
    """What is known while a template is walked.

    ``incremental`` None: both ways. ``sampled``: what ``policy_engine.in_sample`` lets through.
    ``node`` is what the template calls ``model``; ``names`` are further names that it is given.
    """

    manifest: Manifest
    this: Relation | None = None
    incremental: bool | None = None
    sampled: bool = True
    node: Node | None = None
    names: Mapping[str, object] = field(default_factory=dict)


@lru_cache(maxsize=4096)
def parsed(template: str) -> nodes.Template | None:
    """A template as a tree; None where it is none, as with dbt's own block tags."""
    try:
        return _ENVIRONMENT.parse(_as_macros(template))
    except (jinja2.TemplateError, RecursionError):
        return None


_TEST = re.compile(r"(\{%-?\s*)(?:data_)?test\s+(?=\w+\s*\()")
_MATERIALIZATION = re.compile(r"(\{%-?\s*)materialization\s+(\w+)[^%]*?(-?%\})")
_END = re.compile(r"(\{%-?\s*)end(?:(?:data_)?test|materialization)(?=\s*-?%\})")


def _as_macros(template: str) -> str:
    """The blocks of generic tests and of materializations as what they are to Jinja: macros."""
    if "test" not in template and "materialization" not in template:
        return template
    template = _TEST.sub(r"\1macro test_", template)
    template = _MATERIALIZATION.sub(r"\1macro materialization_\2() \3", template)
    return _END.sub(r"\1endmacro", template)


class TooMuch(Exception):
    """A template that would take too long to walk."""


class Returned(Exception):
    """A macro that gives a value instead of its text."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


@dataclass
class Frame:
    """The names that are known in a template or a macro."""

    names: dict[str, object] = field(default_factory=dict)
    package: str = ""


def dotted(node: nodes.Node) -> str:
    """A name with its attributes, ``a.b.c``; ``?.c`` of what is no name."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        inner = dotted(node.node)
        return f"{inner}.{node.attr}" if inner else f"?.{node.attr}"
    return ""


def asked(test: nodes.Node) -> Iterator[str]:
    """The names that a condition asks."""
    for node in [test, *test.find_all(nodes.Name)]:
        if isinstance(node, nodes.Name):
            yield node.name
