"""YAML text → a tree of values, each with its line and column, or every reason why not.

The language is a small YAML 1.2: one document; no anchors, aliases, merge keys or tags, so that
a reader sees every value where it counts. The tree is built from parser events, with a limit on
size and depth, so hostile text gives a problem and never a crash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.reader import ReaderError

from policy_engine.errors import Problem
from policy_engine.policy.scalars import Scalar, TwoReadings, as_text, plain_scalar, shortened, show

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_IS_READ = re.compile(r"\s*[^\s#]")

Path = tuple[str | int, ...]


class Position(NamedTuple):
    """A place in a file; both count from 1."""

    line: int
    column: int


@dataclass
class YamlNode:
    """A value at a position: a scalar, a list of nodes, or a mapping of nodes by key.

    ``keys`` holds the position of every key of a mapping.
    """

    position: Position
    value: Scalar | list[YamlNode] | dict[str, YamlNode]
    keys: dict[str, Position] = field(default_factory=dict)

    def data(self) -> object:
        """The plain value: dicts, lists and scalars, without positions."""
        if isinstance(self.value, dict):
            return {key: child.data() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.data() for child in self.value]
        return self.value

    def walk(self, path: Path = (), key: Position | None = None) -> Iterator[Found]:
        """Every node from here on with its path, and the place of its key if it has one."""
        yield path, key, self
        if isinstance(self.value, dict):
            for name, child in self.value.items():
                yield from child.walk((*path, name), self.keys.get(name, child.position))
        elif isinstance(self.value, list):
            for place, child in enumerate(self.value):
                yield from child.walk((*path, place))

    def locate(self, path: Path, *, key: bool = False) -> Position:
        """Where the value at ``path`` starts (its key, with ``key``).

        A path that leads nowhere gives the key of the last part that is there.
        """
        node, place = self, self.position
        for part in path:
            child = node.child(part)
            if child is None:
                return place
            place = node.keys.get(str(part), child.position)
            node = child
        return place if key else node.position

    def child(self, part: str | int) -> YamlNode | None:
        """The value under a key or an index, or None."""
        if isinstance(self.value, dict):
            return self.value.get(str(part))
        if isinstance(self.value, list) and isinstance(part, int) and part < len(self.value):
            return self.value[part]
        return None


Found = tuple[Path, Position | None, YamlNode]


def path_text(path: Path) -> str:
    """A path as a message writes it.

    >>> path_text(("recode", "age", "bins", 2)), path_text(("recode", "my col"))
    ('recode.age.bins[2]', 'recode["my col"]')
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"\w[\w-]*", part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(shortened(part), ensure_ascii=False)}]"
    return text


@dataclass
class UnreadableYaml(Exception):
    """The text cannot be read any further, at a position."""

    position: Position
    message: str
    remedy: str = ""


def read_tree(text: str, file: str) -> tuple[YamlNode | None, tuple[Problem, ...]]:
    """The tree of ``text``, None where it cannot be read to its end, and the problems met.

    It is one for all who ask: who changes it makes a copy.

    >>> node, problems = read_tree("k: 20", "policy.yaml")
    >>> node.data(), node.locate(("k",)), problems
    ({'k': 20}, Position(line=1, column=4), ())
    >>> print(read_tree("a: [1", "policy.yaml")[1][0])
    policy.yaml:1:6: not YAML: expected ',' or ']', but got '<stream end>'
    """
    root, problems = _read(text)
    return root, tuple(replace(each, file=file) for each in problems)


@lru_cache(maxsize=32)  # one command asks for its policy and its project many times
def _read(text: str) -> tuple[YamlNode | None, tuple[Problem, ...]]:
    """The same of a text without a name."""
    builder = _Builder(text)
    try:
        return builder.document(), tuple(builder.problems)
    except UnreadableYaml as stop:
        builder.refuse(stop.position, stop.message, stop.remedy)
        return None, tuple(builder.problems)


def _events(text: str) -> Iterator[ev.Event]:
    """The parser's events; whatever it raises on bad text becomes ``UnreadableYaml``."""
    if len(text) > MAX_BYTES:
        raise UnreadableYaml(Position(1, 1), f"the file must be at most {MAX_BYTES} characters")
    parser = YAML(typ="safe", pure=True).parse(text)
    last = Position(1, 1)
    while True:
        try:
            event = next(parser)
        except StopIteration:
            return
        except MarkedYAMLError as error:
            raise _not_yaml(error, last, text) from None
        except ReaderError as error:
            before = text[: error.position]
            place = Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
            raise UnreadableYaml(place, "the file holds a character that is not text") from None
        except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError):
            message = "not YAML: the value after this one cannot be read"
            raise UnreadableYaml(last, message) from None
        last = _position(event.start_mark)
        yield event


def _not_yaml(error: MarkedYAMLError, last: Position, text: str) -> UnreadableYaml:
    """The parser's complaint in one line, with a remedy for the commonest mistakes."""
    place = last if error.problem_mark is None else _position(error.problem_mark)
    problem = " ".join(str(error.problem).split())
    remedy = ""
    if "'\\t'" in problem:
        remedy = "indent with spaces, not tabs"
    elif indents := _other_indent(problem, place, text):
        problem, remedy = indents, "the keys of one mapping have the same indent"
    elif "{edition}" in "".join(_LINE_END.split(text)[place.line - 1 : place.line]):
        remedy = "put a text that has {edition} in quotes"
    elif "cannot start any token" in problem or "not allowed here" in problem:
        remedy = "put text that holds special characters in quotes"
    return UnreadableYaml(place, f"not YAML: {problem}", remedy)


def _other_indent(problem: str, place: Position, text: str) -> str:
    """That a line begins elsewhere than the one above, where that is what is wrong; else empty."""
    *above, line = _LINE_END.split(text)[: place.line]
    number, before = next(
        ((n, each) for n, each in reversed([*enumerate(above, 1)]) if _IS_READ.match(each)), (0, "")
    )
    deep, other = (len(each) - len(each.lstrip(" ")) for each in (line, before))
    # A colon that is the line's first stands behind a key, and one behind it is part of a text.
    is_key = "not allowed here" in problem and ": " not in line[: place.column - 1]
    if not number or deep == other or not (is_key or "<block mapping start>" in problem):
        return ""
    return f"this line is indented by {deep}, and line {number} above it by {other}"


def _position(mark: object) -> Position:
    return Position(getattr(mark, "line", 0) + 1, getattr(mark, "column", 0) + 1)


class _Builder:
    """Builds the tree from events; no deeper than MAX_DEPTH."""

    def __init__(self, text: str) -> None:
        self.problems: list[Problem] = []
        self._events = _events(text)
        self._path: list[str | int] = []

    def refuse(self, place: Position, message: str, remedy: str = "") -> None:
        """Note a problem of the value that is being read, and go on."""
        path = path_text(tuple(self._path))
        self.problems.append(Problem("", *place, path, message, remedy))

    def document(self) -> YamlNode | None:
        """The root, None where there is nothing. Raises Unreadable."""
        root, documents = None, 0
        for event in self._events:
            if isinstance(event, ev.DocumentStartEvent):
                documents += 1
                place = _position(event.start_mark)
                if documents > 1:
                    raise UnreadableYaml(
                        place, "the file must hold one YAML document, found a second"
                    )
                if event.version is not None and tuple(event.version) != (1, 2):
                    self.refuse(place, "the language is YAML 1.2", "remove the %YAML line")
            elif isinstance(event, ev.NodeEvent):
                root = self._node(event, 0)
        return root

    def _node(self, event: ev.Event, depth: int, key: Position | None = None) -> YamlNode:
        """The value that begins with an event; one that is left out is shown at its key."""
        place = self._place(event)
        if isinstance(event, ev.ScalarEvent):
            value, raw = self._scalar(event, place)
            return YamlNode(place if raw or event.style else key or place, value)
        if depth >= MAX_DEPTH:
            raise UnreadableYaml(place, f"values may lie at most {MAX_DEPTH} levels deep")
        if isinstance(event, ev.MappingStartEvent):
            return self._mapping(YamlNode(place, {}), depth + 1)
        items: list[YamlNode] = []
        self._path.append(0)
        while not isinstance(event := next(self._events), ev.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
            self._path[-1] = len(items)
        self._path.pop()
        return YamlNode(place, items)

    def _place(self, event: ev.Event) -> Position:
        """Where a node begins, which must have no anchor and no tag."""
        place = _position(event.start_mark)
        if isinstance(event, ev.AliasEvent) or getattr(event, "anchor", None):
            law = "anchors and aliases (& and *) are not part of the language"
            raise UnreadableYaml(place, law, "write the value out")
        tag = getattr(event, "tag", None)
        if tag is not None:
            found = shortened(str(tag).replace("tag:yaml.org,2002:", "!!"))
            self.refuse(place, f"tags are not part of the language, found {found}", "remove it")
        return place

    def _mapping(self, node: YamlNode, depth: int) -> YamlNode:
        """A mapping; a key that is not allowed or comes twice keeps its value out of it."""
        assert isinstance(node.value, dict)
        while not isinstance(event := next(self._events), ev.MappingEndEvent):
            place = self._place(event)
            if not isinstance(event, ev.ScalarEvent):
                if depth >= MAX_DEPTH:
                    raise UnreadableYaml(place, f"values may lie at most {MAX_DEPTH} levels deep")
                law = "a key must be text, found a list or mapping"
                raise UnreadableYaml(place, law, "text that starts with { or [ needs quotes")
            value, raw = self._scalar(event, place, "the key")
            key = as_text(value)
            if key is None:
                found = f"a key must be text, an integer, a boolean or a date, found {show(value)}"
                self.refuse(place, found, "put it in quotes")
                key = raw
            if event.style is None and key == "<<":
                law = "merge keys (<<) are not part of the language"
                self.refuse(place, law, "write the values out")
            elif key in node.keys:
                wrong = f"the key {show(key)} is written twice, first in line"
                self.refuse(place, f"{wrong} {node.keys[key].line}", "remove one of them")
            else:
                node.keys[key] = place
                self._path.append(key)
                node.value[key] = self._node(next(self._events), depth, place)
                self._path.pop()
                continue
            self._node(next(self._events), depth)
        return node

    def _scalar(
        self, event: ev.ScalarEvent, place: Position, subject: str = ""
    ) -> tuple[Scalar, str]:
        """The value of a scalar and its text, surrogate pairs read as one character, as in JSON."""
        raw = str(event.value)
        try:
            raw = raw.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.refuse(place, "text must not hold half a surrogate pair")
            raw = raw.encode("ascii", "replace").decode()
        if "\0" in raw:
            self.refuse(place, "text must not hold the character NUL")
        if event.style is not None:
            return raw, raw
        try:
            return plain_scalar(raw), raw
        except ValueError as error:
            remedy = "put text in quotes" if isinstance(error, TwoReadings) else ""
            subject = subject or path_text(tuple(self._path)) or "the value"
            self.refuse(place, f"{subject} {error}", remedy)
            return raw, raw
