"""What an engine is to the printer: how names and texts are written, and what it lacks, and why.

What it says in its own words stands in ``sql_templates/engines/``, or in the ``forms`` that a
package brings beside its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from policy_engine.values import frozen

Lack = tuple[str, str]
"""Why an engine cannot do something, and the remedy."""

_TYPE_IT = "give the column its type in the source"
_OF_CASTS = {
    "": dict.fromkeys(("strict_cast", "try_cast"), ("its casts were not tested", _TYPE_IT)),
    "texts": {"try_cast": ("it converts only texts to other types", _TYPE_IT)},
    "all": {},
}
_OF_JOINS = {
    "join": ("joins were not tested on it", "make a table with those columns, or a view with"
                                              " source.view: rowwise"),
}  # fmt: skip
_OF_FILES = {
    "file": ("it reads only tables", "load the file, or release from it with DuckDB"),
    "row_number": ("its rows have no fixed numbers", "name privacy_unit.column"),
}


_OF_LISTS = {
    "choice": ("a median or quantile needs a list of random bits in the SQL, and such lists"
               " were not tested on it", "leave it out, or release with an engine that runs here"),
}  # fmt: skip
_OF_CASE = {
    "names_by_case": ("it reads a and A in a name as the same letter", "rename a column"),
}  # fmt: skip
_OF_ZONES = {
    "zone": ("its time zones were not tested", "use a column of dates, or of times without a"
                                                     " zone"),
}  # fmt: skip
NameCase = Literal["folded", "quoted", "exact"]
"""When names that differ by case alone are two: never, where they are quoted, or always."""


class Refused(Exception):
    """An engine cannot do what a claim asks for: ``reason``, and the ``remedy``."""

    def __init__(self, title: str, reason: str, remedy: str = "") -> None:
        self.title, self.reason, self.remedy = title, reason, remedy
        super().__init__(f"{title} cannot do this: {'; '.join(filter(None, (reason, remedy)))}")


@frozen(eq=False)
class Engine:
    """One engine.

    ``quote`` stands around a name, and ``closing`` behind it where that is another sign.
    ``backslash``: what one means in a text. It ``escapes``, is ``plain``, a text with one is
    written ``E'…'``, or a text must have none. ``unsaid`` are signs that no text may hold,
    ``unnamed`` those that no name may. ``bounds_names``: a name has no blank at either end and no
    character beyond U+FFFF. ``case``: when names that differ by case alone are two columns; of an
    engine that a setting makes one or the other they are never two.
    ``secret`` is how a text names the secret that a connection brings, as its tokens are read;
    empty where the secret waits in a relation. ``collates``: texts are compared by a collation
    unless they are told another. ``labels``: which texts it shows as they are.
    ``assumes`` is what a secret that is bound in it rests on, each under a name; ``native`` among
    them is what its own sampling does, and of nothing else. ``draws``: a sample is drawn before a
    text runs, as a relation that the text reads.
    ``enforces_keys``: no row breaks a PRIMARY KEY or UNIQUE. ``lists``: a text can list a relation,
    and join one, measured. ``casts``: it reads ``texts`` as other types by what they look like, or
    ``all`` types, measured. ``shares``: a text can say that a step which is read several times is
    computed once. ``sets``: it counts by several groupings in one reading, by GROUPING SETS.
    ``lacks`` has a reason and a remedy for what it cannot do: unless it ``reads_files``, these, and
    the numbers of rows, too.

    What a text says is not asked of these: ``home`` is the schema of a table whose name has none,
    ``folds`` the case of a name without quotes, ``parser`` how sqlglot calls its SQL, where that is
    not the engine's name. An engine of another package brings its ``types`` and ``forms``, and
    names its ``warehouse`` as ``module:Class`` if one connects to it; ``package`` is filled in.
    """

    name: str
    title: str
    longest_name: int
    quote: str = '"'
    closing: str = ""
    backslash: Literal["plain", "escapes", "prefixed", "refused"] = "refused"
    unsaid: tuple[str, ...] = ()
    unnamed: str = ""
    bounds_names: bool = False
    case: NameCase = "folded"
    secret: str = ""
    collates: bool = False
    labels: Literal["any", "no last blank", "ASCII"] = "any"
    family: str = ""
    assumes: Mapping[str, str] = field(default_factory=dict)
    draws: bool = False
    enforces_keys: bool = False
    lists: bool = False
    casts: Literal["", "texts", "all"] = ""
    shares: bool = False
    sets: bool = False
    zones: bool = False
    reads_files: bool = False
    lacks: Mapping[str, Lack] = field(default_factory=dict)
    home: str = ""
    parser: str = ""
    folds: Literal["", "lower", "upper"] = ""
    types: str = ""
    forms: str = ""
    warehouse: str = ""
    package: str = ""

    def __post_init__(self) -> None:
        by_case = _OF_CASE if self.case == "folded" else {}
        of_files = {} if self.reads_files else _OF_FILES
        of_joins = {} if self.lists else _OF_JOINS
        of_lists = {} if self.lists else _OF_LISTS
        of_casts, of_zones = _OF_CASTS[self.casts], {} if self.zones else _OF_ZONES
        lacks = {**by_case, **of_files, **of_casts, **of_joins, **of_lists, **of_zones}
        lacks |= self.lacks
        object.__setattr__(self, "lacks", lacks)

    def check(self, *asked: str) -> None:
        """Raise Refused, with the reason and the remedy, for the first of these that it lacks."""
        for each in asked:
            if each in self.lacks:
                raise Refused(self.title, *self.lacks[each])

    def identifier(self, name: str) -> str:
        """A name in quotes.

        Raises Refused where the engine has no way to write it.
        """
        if _is_broken(name) or any(sign in name for sign in self.unnamed):
            raise Refused(self.title, f"the name {name!r} has a sign that it cannot write")
        if self.bounds_names and (name != name.strip() or max(name, default="") > "\uffff"):
            lack = "a name has no blank at its ends and no character beyond U+FFFF"
            raise Refused(self.title, f"{lack}, found {name!r}", "write another")
        if len(name.encode()) > self.longest_name:
            lack = f"a name has at most {self.longest_name} bytes, found {name!r}"
            raise Refused(self.title, lack)
        last = self.closing or self.quote
        return f"{self.quote}{name.replace(last, last + last)}{last}"

    def text(self, text: str) -> str:
        """A text in quotes, which every session reads alike.

        Raises Refused where there is none.
        """
        if _is_broken(text):
            raise Refused(self.title, "a text must have no NUL and no half of a character")
        for sign in self.unsaid:
            if sign in text:
                raise Refused(self.title, f"{text!r} has {sign!r}, which it may replace")
        if "\\" in text and self.backslash == "refused":
            found = f"{text!r} has a backslash, which it may read in a way of its own"
            raise Refused(self.title, found, "write another sign")
        if self.backslash == "escapes":
            return "'" + text.translate(_ESCAPED) + "'"
        doubled = text.replace("'", "''")
        if "\\" in text and self.backslash == "prefixed":
            return "E'" + doubled.replace("\\", "\\\\") + "'"
        return f"'{doubled}'"

    def label(self, text: str) -> str:
        """A text that is shown, in quotes.

        Raises Refused where the engine would take it for another.
        """
        is_ascii = self.labels != "ASCII" or text.isascii()
        if self.labels != "any" and (text.endswith(" ") or not is_ascii):
            self.check("blank_label")
        return self.text(text)


def _is_broken(text: str) -> bool:
    if text.isascii():  # a table's bounds are thousands of signs
        return "\0" in text
    return "\0" in text or any(0xD800 <= ord(sign) < 0xE000 for sign in text)


_ESCAPED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})
