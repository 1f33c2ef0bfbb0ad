"""The reasons for which the kernel refuses a text: one code a law.

A code never changes its meaning; a retired one is not used again. ``LAWS`` is the reference
page of the docs and the first half of every message.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.errors import Finding
from policy_engine.syntax.positions import Position, position

LAWS: dict[str, str] = {
    "V01": "the text must be one SQL statement that this dialect can parse",
    "V02": "only constructs of the kernel's grammar are allowed",
    "V03": "the source must be sampled before anything is grouped [EXACT]",
    "V04": "the sample must keep every unit independently, with one stated probability below 1",
    "V05": "a sample must not be repeatable: no seed",
    "V06": "random numbers are allowed only to draw the sample",
    "V07": "every released column must be a function of the grouped columns",
    "V08": "the count of the sampled rows of a group is the only aggregate",
    "V09": "groups must be released only where their count in the sample is at least k, k ≥ 2",
    "V10": "a window may only keep one row a person, among that person's own rows",
    "V11": "a column or predicate must not read another query",
    "V12": "no DISTINCT, LIMIT, OFFSET or QUALIFY",
    "V13": "a release reads one relation: no joins, unions or lateral queries",
    "V14": "only functions the kernel knows to be deterministic are allowed",
    "V15": "one statement only",
    "V16": "every relation must be a base table, or a view whose definition is known",
    "V17": "a recoding must not be able to fail: an error tells that the row exists",
    "V18": "a grouped column must show each value as itself: no float, interval or variant",
    "V19": "the sample's secret must not stand in the text",
    "V20": "a row's position is not a property of the person: it may only draw the sample",
    "V21": "the source must be the policy's source",
    "V22": "the sampled unit must be the policy's unit",
    "V23": "the sampling rate must be the policy's rate",
    "V24": "the threshold must be the policy's k",
    "V25": "the released columns must be the policy's, in its order",
    "V26": "every column must be recoded as the policy says",
    "V27": "the target and form must be the policy's",
    "V28": "rows must be sorted by every released column",
    "V29": "the mechanism must meet the policy's guarantee",
    "V30": "names must resolve to exactly one column",
    "V31": "a release must be a table, not a view: a view draws a new sample at every read",
    "V32": "text must be grouped byte by byte: a collation shows one row as another",
}


class Findings:
    """Collects every reason of one reading, one a law and place, in the order of the text."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int], Finding] = {}

    def add(self, code: str, found: str, position: Position = (0, 0)) -> None:
        """Note that the law ``code`` is broken by ``found`` at ``position``."""
        line, column = position
        message = f"{LAWS[code]}; found {found}"
        self._found.setdefault((code, line, column), Finding(code, message, line, column))

    def has(self, code: str) -> bool:
        """Whether the law ``code`` was found to be broken."""
        return any(finding.code == code for finding in self._found.values())

    def __bool__(self) -> bool:
        return bool(self._found)

    def sorted(self) -> tuple[Finding, ...]:
        """All findings by position, then code."""
        return tuple(
            sorted(self._found.values(), key=lambda f: (f.line, f.column, f.code, f.message))
        )


class Notes:
    """What is noted while one text is read: reasons against it, and what it rests on.

    ``strict`` says that the schema is known: what it does not prove is then refused, not
    assumed. Findings of a view's text stand at the place where the view is read.
    """

    def __init__(self, text: str, *, strict: bool = False) -> None:
        self.text = text
        self.strict = strict
        self.findings = Findings()
        self.assumed: set[str] = set()
        self._place: Position | None = None

    def find(self, code: str, found: str, node: exp.Expr | None = None) -> None:
        """Note that the law ``code`` is broken by ``found``, which stands at ``node``."""
        place = self._place
        if place is None:
            place = (1, 1) if node is None else position(node, self.text)
        self.findings.add(code, found, place)

    def assume(self, text: str) -> None:
        """Note that the proof rests on ``text``."""
        self.assumed.add(text)

    def inside(self, node: exp.Expr) -> Notes:
        """Notes for the text of a view that is read at ``node``."""
        inner = Notes(self.text, strict=self.strict)
        inner.findings, inner.assumed = self.findings, self.assumed
        inner._place = self._place or position(node, self.text)
        return inner


def shown(node: exp.Expr) -> str:
    """``node`` as a message quotes it: at most 80 characters."""
    text = node.sql("duckdb", comments=False)
    return text if len(text) <= 80 else text[:77] + "..."
