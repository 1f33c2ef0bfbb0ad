"""Laws, and the findings that one of them is broken.

A law is one function: its docstring is the message that a user sees, with the clause of theory.md
it rests on, and below it what mends a breach; its code never changes its meaning, and a retired
code is not used again. It looks at what was read and says what it found instead, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec

from sqlglot import exp

from policy_engine.errors import Finding

P = ParamSpec("P")
Position = tuple[int, int]


def position(node: exp.Expr, text: str) -> Position:
    """Line and column, from 1, of the first token of ``node`` that has one; else (1, 1).

    >>> import sqlglot
    >>> sql = "select a,\\n  b from t"
    >>> position(sqlglot.parse_one(sql).expressions[1], sql)
    (2, 3)
    """
    start = next((n.meta["start"] for n in node.dfs() if "start" in n.meta), None)
    if start is None:
        return (1, 1) if node.parent is None else position(node.parent, text)
    return place_of(start, text)


def place_of(offset: int, text: str) -> Position:
    """Line and column, from 1, of an offset in a text."""
    return (text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


@dataclass(frozen=True)
class Breach:
    """What was found in place of what a law asks."""

    code: str
    found: str


@dataclass(frozen=True)
class Law(Generic[P]):
    """One law: called with what was read, it is None or a breach."""

    code: str
    text: str
    remedy: str
    check: Callable[P, str | None]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Breach | None:
        """The breach that the check finds in what was read, or None."""
        found = self.check(*args, **kwargs)
        return None if found is None else Breach(self.code, found)

    def broken_by(self, found: str) -> Breach:
        """The breach by what only the reader of a text can tell."""
        return Breach(self.code, found)


LAWS: dict[str, Law[...]] = {}
"""Every law by its code: the reference page of the docs, and the text of every message."""


def law(code: str) -> Callable[[Callable[P, str | None]], Law[P]]:
    """Make a function the law ``code``: its docstring says the law, then the remedy."""

    def made(check: Callable[P, str | None]) -> Law[P]:
        text, _, remedy = (check.__doc__ or "").strip().partition("\n\n")
        found = Law(code, _clause(text), _clause(remedy), check)
        LAWS[code] = found
        return found

    return made


def _clause(text: str) -> str:
    """A sentence of a docstring as a part of a message."""
    line = " ".join(text.split())
    start = line[:2].lower() if line[1:2].islower() or line[1:2] == " " else line[:2]
    return start + line[2:].removesuffix(".")


def findings_of(*breaches: Breach | None) -> tuple[Finding, ...]:
    """The findings of breaches that stand at no place of a text."""
    notes = Notes("")
    for breach in breaches:
        notes.judge(breach, (0, 0))
    return notes.findings


class Notes:
    """What is noted while one text is read: breaches of laws, and what the proof rests on.

    ``strict`` says that the schema is known: what it does not prove is then refused, not
    assumed. Findings of a view's text stand at the place where the view is read.
    """

    def __init__(self, text: str, *, strict: bool = False) -> None:
        self.text = text
        self.strict = strict
        self.assumed: set[str] = set()
        self._found: dict[tuple[str, Position], Finding] = {}
        self._place: Position | None = None
        self._view = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every reason, one a law and place, by position, then code."""
        found = self._found.values()
        return tuple(sorted(found, key=lambda f: (f.line, f.column, f.code, f.message)))

    def judge(self, breach: Breach | None, at: exp.Expr | Position | None = None) -> bool:
        """Note the breach of a law at a node or place; whether there is none."""
        if breach is None:
            return True
        place = self._place or (position(at, self.text) if isinstance(at, exp.Expr) else at)
        line, column = place or (1, 1)
        broken, found = LAWS[breach.code], self._view + breach.found
        # What was found may say itself what mends it.
        remedy = "" if "; " in found else broken.remedy
        message = "; ".join(filter(None, (broken.text, f"found {found}", remedy)))
        finding = Finding(breach.code, message, line, column)
        self._found.setdefault((breach.code, (line, column)), finding)
        return False

    def assume(self, text: str) -> None:
        """Note that the proof rests on ``text``."""
        self.assumed.add(text)

    def inside(self, view: str, text: str, node: exp.Expr) -> Notes:
        """Notes for the text of a view that is read at ``node``."""
        inner = Notes(text, strict=self.strict)
        inner._found, inner.assumed = self._found, self.assumed
        inner._place = self._place or position(node, self.text)
        inner._view = f"in the view {view}, "
        return inner


def shown(node: exp.Expr) -> str:
    """``node`` as a message quotes it: at most 80 characters."""
    text = node.sql("duckdb", comments=False)
    return text if len(text) <= 80 else text[:77] + "..."
