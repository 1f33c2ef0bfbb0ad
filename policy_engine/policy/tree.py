"""YAML text → a tree of values, each with its line and column, or every reason why not.

The language is a small YAML 1.2: one document; no anchors, aliases, merge keys or tags, so that
a reader sees every value where it counts. The tree is built from parser events in a loop, with a
limit on size and depth, so hostile text gives a problem and never a crash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.reader import ReaderError

from policy_engine.errors import Problem
from policy_engine.policy.scalars import Scalar, as_text, plain_scalar, shortened, show

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
class Node:
    """A value at a position: a scalar, a list of nodes, or a mapping of nodes by key.

    ``keys`` holds the position of every key of a mapping.
    """

    position: Position
    value: Scalar | list[Node] | dict[str, Node]
    keys: dict[str, Position] = field(default_factory=dict)

    def data(self) -> object:
        """The plain value: dicts, lists and scalars, without positions."""
        if isinstance(self.value, dict):
            return {key: child.data() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.data() for child in self.value]
        return self.value

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

    def child(self, part: str | int) -> Node | None:
        """The value under a key or an index, or None."""
        if isinstance(self.value, dict):
            return self.value.get(str(part))
        if isinstance(self.value, list) and isinstance(part, int) and part < len(self.value):
            return self.value[part]
        return None


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


class Unreadable(Exception):
    """The text cannot be read any further, at a position."""

    def __init__(self, position: Position, message: str, remedy: str = "") -> None:
        """Keep the place, the message and the remedy."""
        super().__init__(message)
        self.position = position
        self.message = message
        self.remedy = remedy


def read_tree(text: str, file: str) -> tuple[Node | None, tuple[Problem, ...]]:
    """The tree of ``text``, None where it cannot be read to its end, and the problems met.

    >>> node, problems = read_tree("k: 20", "policy.yaml")
    >>> node.data(), node.locate(("k",)), problems
    ({'k': 20}, Position(line=1, column=4), ())
    >>> print(read_tree("a: [1", "policy.yaml")[1][0])
    policy.yaml:1:6: not YAML: expected ',' or ']', but got '<stream end>'
    """
    builder = _Builder(file)
    try:
        _check_size(text)
        for event in _events(text):
            builder.take(event)
    except Unreadable as stop:
        builder.refuse(stop.position, stop.message, stop.remedy)
        return None, tuple(builder.problems)
    return builder.root, tuple(builder.problems)


def _check_size(text: str) -> None:
    """Refuse more text than a policy can hold."""
    if len(text) > MAX_BYTES:
        raise Unreadable(Position(1, 1), f"the file must be at most {MAX_BYTES} characters")


def _events(text: str) -> Iterator[ev.Event]:
    """The parser's events; whatever it raises on bad text becomes ``Unreadable``."""
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
            raise Unreadable(place, "the file holds a character that is not text") from None
        except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError):
            message = "not YAML: the value after this one cannot be read"
            raise Unreadable(last, message) from None
        last = _position(event.start_mark)
        yield event


def _not_yaml(error: MarkedYAMLError, last: Position, text: str) -> Unreadable:
    """The parser's complaint in one line, with a remedy for the commonest mistakes."""
    place = last if error.problem_mark is None else _position(error.problem_mark)
    problem = " ".join(str(error.problem).split())
    remedy = ""
    if "'\\t'" in problem:
        remedy = "indent with spaces, not tabs"
    elif indents := _other_indent(problem, place, text):
        problem, remedy = indents, "the keys of one mapping have the same indent"
    elif "cannot start any token" in problem or "not allowed here" in problem:
        remedy = "put text that holds special characters in quotes"
    return Unreadable(place, f"not YAML: {problem}", remedy)


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


@dataclass
class _Open:
    """A list or mapping that is still being read, and the key that waits for its value."""

    position: Position
    items: list[Node] | dict[str, Node]
    keys: dict[str, Position] = field(default_factory=dict)
    key: str | None = None
    unread: bool = False


class _Builder:
    """Builds the tree, one event at a time, without recursion."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._open: list[_Open] = []
        self._documents = 0

    def refuse(self, place: Position, message: str, remedy: str = "") -> None:
        """Note a problem and go on."""
        path = path_text(tuple(self._path()))
        self.problems.append(Problem(self.file, *place, path, message, remedy))

    def _path(self) -> Iterator[str | int]:
        """The path of the value that is being read."""
        for frame in self._open:
            if isinstance(frame.items, list):
                yield len(frame.items)
            elif frame.key is not None and not frame.unread:
                yield frame.key

    def take(self, event: ev.Event) -> None:
        """Read one event."""
        place = _position(event.start_mark)
        if isinstance(event, ev.DocumentStartEvent):
            self._start_document(event, place)
        elif isinstance(event, ev.AliasEvent) or getattr(event, "anchor", None):
            raise Unreadable(
                place,
                "anchors and aliases (& and *) are not part of the language",
                "write the value out",
            )
        elif isinstance(event, ev.ScalarEvent):
            self._scalar(event, place)
        elif isinstance(event, ev.CollectionStartEvent):
            self._start(event, place)
        elif isinstance(event, ev.CollectionEndEvent):
            done = self._open.pop()
            self._put(Node(done.position, done.items, done.keys))

    def _start_document(self, event: ev.DocumentStartEvent, place: Position) -> None:
        self._documents += 1
        if self._documents > 1:
            raise Unreadable(place, "the file must hold one YAML document, found a second")
        if event.version is not None and tuple(event.version) != (1, 2):
            self.refuse(place, "the language is YAML 1.2", "remove the %YAML line")

    def _start(self, event: ev.CollectionStartEvent, place: Position) -> None:
        self._refuse_tag(event, place)
        if len(self._open) >= MAX_DEPTH:
            raise Unreadable(place, f"values may lie at most {MAX_DEPTH} levels deep")
        if self._expects_key():
            raise Unreadable(
                place,
                "a key must be text, found a list or mapping",
                "text that starts with { or [ needs quotes",
            )
        self._open.append(_Open(place, {} if isinstance(event, ev.MappingStartEvent) else []))

    def _refuse_tag(self, event: ev.NodeEvent, place: Position) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None:
            found = shortened(str(tag).replace("tag:yaml.org,2002:", "!!"))
            self.refuse(place, f"tags are not part of the language, found {found}", "remove it")

    def _expects_key(self) -> bool:
        top = self._open[-1] if self._open else None
        return top is not None and isinstance(top.items, dict) and top.key is None

    def _scalar(self, event: ev.ScalarEvent, place: Position) -> None:
        self._refuse_tag(event, place)
        raw = self._text(str(event.value), place)
        value: Scalar = raw
        if event.style is None:
            try:
                value = plain_scalar(raw)
            except ValueError as error:
                remedy = "put text in quotes" if "as text" in str(error) else ""
                subject = "the key" if self._expects_key() else path_text(tuple(self._path()))
                self.refuse(place, f"{subject or 'the value'} {error}", remedy)
        if self._expects_key():
            self._key(event, place, value, raw)
        else:
            self._put(Node(place if raw or event.style else self._last_key(place), value))

    def _text(self, raw: str, place: Position) -> str:
        """The text of a scalar, ``\\ud83d\\ude00`` read as one character like in JSON."""
        try:
            text = raw.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.refuse(place, "text must not hold half a surrogate pair")
            return raw.encode("ascii", "replace").decode()
        if "\0" in text:
            self.refuse(place, "text must not hold the character NUL")
        return text

    def _last_key(self, place: Position) -> Position:
        """Where a value that is left out is shown: at its key."""
        top = self._open[-1] if self._open else None
        return place if top is None or top.key is None else top.keys.get(top.key, place)

    def _key(self, event: ev.ScalarEvent, place: Position, value: Scalar, raw: str) -> None:
        """Note a key; one that is not allowed or comes twice keeps its value out of the tree."""
        top = self._open[-1]
        text = as_text(value)
        if text is None:
            found = f"a key must be text, an integer, a boolean or a date, found {show(value)}"
            self.refuse(place, found, "put it in quotes")
            text = raw
        if event.style is None and text == "<<":
            law = "merge keys (<<) are not part of the language"
            self.refuse(place, law, "write the values out")
        elif text in top.keys:
            first = top.keys[text].line
            wrong = f"the key {show(text)} is written twice, first in line {first}"
            self.refuse(place, wrong, "remove one of them")
        else:
            top.key = text
            top.keys[text] = place
            return
        top.key, top.unread = "", True

    def _put(self, node: Node) -> None:
        """Give a finished value to the list or mapping it is in."""
        if not self._open:
            self.root = node
            return
        top = self._open[-1]
        if isinstance(top.items, list):
            top.items.append(node)
        else:
            if not top.unread:
                top.items[str(top.key)] = node
            top.key, top.unread = None, False
