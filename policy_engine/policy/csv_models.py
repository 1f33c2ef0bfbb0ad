"""How a CSV file is read: `source.csv`. What it means is in `warehouse/csv_files.py`.

Nothing here is guessed from rows: what is not written has one fixed meaning, so that no person's
row changes how another's is read.
"""

from __future__ import annotations

import re
from typing import Annotated, cast

from pydantic_core import PydanticCustomError

from policy_engine.policy import fields
from policy_engine.policy.laws import Broken, Data, Document, Law, Ruled, refusal
from policy_engine.policy.scalars import show

_PLAIN = (".csv", ".tsv", ".txt")
CSV_FILES = (*_PLAIN, *(f"{ending}.gz" for ending in _PLAIN))
"""What the name of a file of delimited text ends in."""

ENCODINGS = (
    "utf-8", "utf-16", "latin-1", "utf-16-le", "utf-16-be", "windows-1250", "windows-1251",
    "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15",
    "cp437", "cp850", "cp852", "mac-roman", "koi8-r", "shift-jis", "euc-jp", "euc-kr", "gb18030",
    "big5",
)  # fmt: skip
_ALIASES = {
    "utf8": "utf-8", "utf-8-sig": "utf-8", "utf16": "utf-16", "latin1": "latin-1",
    "iso-8859-1": "latin-1", "iso8859-1": "latin-1", "latin-9": "iso-8859-15",
    "cp1250": "windows-1250", "cp1251": "windows-1251", "cp1252": "windows-1252",
    "ansi": "windows-1252", "macintosh": "mac-roman",
}  # fmt: skip
_CHARACTER = {"type": "string", "pattern": r"^([^\n\r]|tab|space|none)$"}
_NAMED = {"tab": "\t", "space": " "}
_MARKS = (".", ",", "'", "’", " ", "_")
_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_OF_A_DATE = frozenset("dmYybBHIMSfpaA")


def in_folder(path: str) -> str:
    """What names the Parquet files below a folder, as an engine opens them.

    >>> in_folder("data/visits")
    'data/visits/**/*.parquet'
    """
    return f"{path}/**/*.parquet"


def is_csv(name: str) -> bool:
    """Whether a file of that name is read as CSV.

    >>> is_csv("a.CSV"), is_csv("a.csv.gz"), is_csv("a.parquet")
    (True, True, False)
    """
    return name.lower().endswith(CSV_FILES)


def default_delimiter(name: str) -> str:
    """The delimiter of a file that says none: a comma, and a tab for `.tsv` and `.txt`."""
    plain = name.lower().removesuffix(".gz")
    return "," if plain.endswith(".csv") else "\t"


def _character(found: object) -> str:
    """One character, or the word for one that is not seen."""
    if isinstance(found, str):
        character = _NAMED.get(found, found)
        if len(character) == 1 and character not in "\r\n\0":
            return character
    raise refusal(f"must be one character, tab or space, found {show(found)}", 'as in ";"')


def _encoding(found: object) -> str:
    """The name of an encoding, by any of its names."""
    name = str(found).lower().replace("_", "-") if isinstance(found, str) else found
    return str(fields.word(*ENCODINGS)(_ALIASES.get(str(name), name)))


def _many(law: Law, kind: object) -> Ruled:
    """The law of a list of what ``law`` takes, or of one alone."""

    def check(found: object) -> tuple[object, ...]:
        alone = isinstance(found, str) or fields.is_integer(found)
        items = fields.a_list("texts", 'as in ["NA"]')([found] if alone else found)
        made = []
        for index, item in enumerate(cast(list[object], items)):
            try:
                made.append(law(item))
            except PydanticCustomError as error:
                at = () if alone else (index,)
                raise refusal(**{**(error.context or {}), "at": at}) from None
        return tuple(made)

    one = {"type": kind}
    return Ruled(check, {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})


def _format(found: object) -> str:
    """The format of a date, with its day, its month and its year."""
    if not isinstance(found, str):
        raise refusal(f"must be a format, found {show(found)}", 'as in "%d.%m.%Y"')
    signs = _DIRECTIVE.findall(found)
    unknown = [f"%{sign}" for sign in signs if sign not in _OF_A_DATE]
    if unknown or found.count("%") != len(signs):
        known = " ".join(f"%{sign}" for sign in sorted(_OF_A_DATE))
        wrong = unknown[0] if unknown else "a % at its end"
        raise refusal(f"must be made of {known} and plain text, found {show(wrong)}")
    if not ("d" in signs and set("mbB") & set(signs) and set("Yy") & set(signs)):
        needs = "must have a day (%d), a month (%m or %b) and a year (%Y or %y)"
        raise refusal(f"{needs}, found {show(found)}", 'as in "%d.%m.%Y"')
    if len(set(signs)) != len(signs):
        raise refusal(f"must have each part once, found {show(found)}")
    return found


_Words = Annotated[tuple[str, ...], _many(fields.label, ["string", "integer"])]
_Count = Annotated[int, fields.integer(0, 10_000)]
# Without quotation marks one is a character like any other.
_QUOTE = Ruled(lambda found: "" if found == "none" else _character(found), _CHARACTER)
_OptionalCharacter = Annotated[str | None, Ruled(_character, _CHARACTER)]


class CsvSpec(Document):
    """How a CSV file is read. Each key that you leave out has a fixed default."""

    delimiter: _OptionalCharacter = None
    """The character between two fields, or `tab` or `space`. The default is a comma, and a tab for
    `.tsv`.
    """
    encoding: Annotated[str, Ruled(_encoding, {"type": "string"})] = "utf-8"
    """The encoding: `utf-8`, `utf-16`, `latin-1`, `windows-1252` or another."""
    quote: Annotated[str, _QUOTE] = '"'
    """The character around a field that contains a delimiter or a line break. Inside the field it
    is written twice. `none`: fields have no quotes.
    """
    escape: _OptionalCharacter = None
    """The character before a quote inside a field, if quotes are not written twice: `"\\\\"`."""
    header: Annotated[bool | None, fields.flag] = None
    """`true`: the first line has the names of the columns. `false`: it is a row. By default the
    first line has names if it looks like names.
    """
    columns: Annotated[fields.Lines, fields.a_list("names", "as in [age, sex]", minItems=1)] = ()
    """The names of the columns. With `header: false` the file has no names. With `header: true`
    they replace the names in the file.
    """
    skip: _Count = 0
    """The number of lines before the header, such as the line `sep=;` of Excel."""
    skip_last: _Count = 0
    """The number of rows at the end that are about no person, such as totals."""
    comment: fields.OptionalLineField = None
    """The text with which a comment line begins. Such lines are no rows."""
    trim: fields.FlagField = False
    """`true`: spaces around every value are removed."""
    nulls: _Words = ()
    """Values that mean "no value", such as `["NA", "\\\\N"]`. An empty field always means "no
    value".
    """
    decimal: Annotated[str, fields.word(".", ",")] = "."
    """The decimal mark, in columns that `source.columns` reads as numbers."""
    thousands: Annotated[str | None, fields.word(*_MARKS)] = None
    """The mark between groups of three digits, in columns that `source.columns` reads as
    numbers.
    """
    units: _Words = ()
    """Texts that may stand before or after a number, and are removed, such as `["€", "%"]`."""
    dates: Annotated[tuple[str, ...], _many(_format, "string")] = ()
    """The format of dates and timestamps, such as `"%d.%m.%Y"`, in columns that `source.columns`
    reads as such. If you name several formats, they are tried in turn.
    """
    century: Annotated[int | None, fields.integer(1000, 9900)] = None
    """Required for `%y` in `dates`: the first of the hundred years that `%y` can mean. With 1926,
    the year 26 is 1926, and 25 is 2025.
    """
    true: _Words = ()
    """The words for true, in columns that are read as boolean. Upper and lower case are the
    same.
    """
    false: _Words = ()
    """The words for false."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """Characters and words that can be told apart; names where the first line has none."""
        for key, other, default in (
            ("quote", "delimiter", ""), ("escape", "delimiter", ""), ("thousands", "decimal", "."),
        ):  # fmt: skip
            mine, its = data.get(key), data.get(other, default)
            if isinstance(mine, str) and _NAMED.get(mine, mine) == _NAMED.get(str(its), its):
                yield refusal(f"must differ from the {other}, found {show(mine)}", at=(key,))
        if data.get("header") is False and "columns" not in data:
            remedy = "name them, as in columns: [age, sex]"
            yield refusal("needs the names of the columns", remedy, at=("header",))
        if "columns" in data and not isinstance(data.get("header"), bool):
            wrong = "leaves open what the first line is"
            remedy = "write header: false if the first line is a row, else header: true"
            yield refusal(wrong, remedy, at=("columns",), on_key=True)
        yield from _century(data)
        names, seen = data.get("columns"), set[str]()
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and name.casefold() in seen:
                yield refusal(f"names {show(name)} a second time", at=("columns", index))
            seen.add(str(name).casefold())
        if ("true" in data) != ("false" in data):
            there, lacks = ("true", "false") if "true" in data else ("false", "true")
            yield refusal(f"needs {lacks} beside it", at=(there,), on_key=True)
        for word in sorted(_words(data.get("true")) & _words(data.get("false"))):
            yield refusal(f"has {show(word)}, which true has too", "keep one", at=("false",))


def _century(data: Data) -> Broken:
    """The law of years of two digits: which they are is said, and never guessed."""
    dates = data.get("dates")
    formats = dates if isinstance(dates, list) else [dates]
    is_short = any("%y" in each for each in formats if isinstance(each, str))
    if is_short and data.get("century") is None:
        remedy = "say the first of the hundred years that it means, as in century: 1926"
        yield refusal("has %y, which leaves the century open", remedy, at=("dates",))
    elif "century" in data and not is_short:
        yield refusal("is for years of two digits", "remove it, or write %y in dates",
                      at=("century",), on_key=True)  # fmt: skip


def _words(found: object) -> set[str]:
    listed = found if isinstance(found, list) else [found]
    return {str(word).lower() for word in listed if isinstance(word, str | int)}
