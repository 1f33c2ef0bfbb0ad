"""The values of a CSV file: what each text becomes before the certified text casts it.

Every expression is total and of one value alone: what does not fit becomes NULL.
"""

from __future__ import annotations

import re

from policy_engine.policy.csv_models import CsvSpec
from policy_engine.policy.fields import ColumnType
from policy_engine.warehouse.quoting import literal

_SPACES = " \t\u00a0\u202f"


def converted(place: str, declared: ColumnType | None, spec: CsvSpec) -> str:
    """The expression that a column's text is read by, in DuckDB's SQL.

    >>> converted("c0", None, CsvSpec(nulls=["NA"]))
    "nullif(CASE WHEN c0 IN ('NA') THEN NULL ELSE c0 END, '')"
    """
    text = f"trim({place}, {literal(_SPACES)})" if spec.trim else place
    if declared == "boolean" and spec.true:
        # Before an empty field is NULL: it may be one of the words.
        word = f"lower(trim({place}, {literal(_SPACES)}))"
        text = f"CASE {_when(word, spec.true, 'true')} {_when(word, spec.false, 'false')} END"
        return f"CASE {_when(place, spec.nulls)} ELSE {text} END" if spec.nulls else text
    if spec.nulls:
        text = f"CASE {_when(text, spec.nulls)} ELSE {text} END"
    text = f"nullif({text}, '')"
    if declared in {"integer", "double"} and (spec.decimal, spec.thousands, spec.units) != _PLAIN:
        return _number(text, spec)
    if declared in {"date", "timestamp"} and spec.dates:
        return _moment(text, declared == "date", spec)
    return text


def _when(text: str, words: tuple[str, ...], then: str | None = None) -> str:
    """A branch for words: as they are for NULL, else in any case of their letters."""
    if then is None:
        return f"WHEN {text} IN ({', '.join(map(literal, words))}) THEN NULL"
    lower = ", ".join(f"lower({literal(word.strip(_SPACES))})" for word in words)
    return f"WHEN {text} IN ({lower}) THEN {literal(then)}"


_PLAIN = (".", None, ())


def _number(text: str, spec: CsvSpec) -> str:
    """A number as SQL writes it: thousands stand in groups of three, or it is none.

    Below zero it has a minus (also U+2212) before it, before its unit or behind it, or brackets
    around it.
    """
    point = re.escape(spec.decimal)
    groups = f"[{_SPACES}]" if spec.thousands == " " else re.escape(spec.thousands or "")
    whole = f"[0-9]{{1,3}}(?:{groups}[0-9]{{3}})+|[0-9]+" if groups else "[0-9]+"
    digits = f"(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    spaces = f"[{_SPACES}]*"
    bracketed = literal(f"^{spaces}\\((.*)\\){spaces}$")
    text = f"regexp_replace(replace({text}, '\u2212', '-'), {bracketed}, '-\\1')"
    if spec.units:
        units = "|".join(re.escape(unit) for unit in spec.units)
        ends = f"^{spaces}([+-]?){spaces}(?:{units}){spaces}|{spaces}(?:{units}){spaces}$"
        text = f"regexp_replace({text}, {literal(ends)}, '\\1', 'g')"
    plain = f"regexp_replace({text}, {literal(groups)}, '', 'g')" if groups else text
    plain = f"replace({plain}, {literal(spec.decimal)}, '.')"
    # SAP and others write the sign of a negative number behind it.
    moved = f"regexp_replace({plain}, {literal(f'^{spaces}([^-]*)-{spaces}$')}, '-\\1')"
    fits = literal(f"{spaces}[+-]?{digits}-?{spaces}")
    bare = f"trim({moved}, {literal(_SPACES)})"
    return f"CASE WHEN regexp_full_match({text}, {fits}) THEN {bare} END"


def _moment(text: str, is_date: bool, spec: CsvSpec) -> str:
    """A day or a time as SQL writes it, by the first format that it has."""
    kind = "DATE" if is_date else "TIMESTAMP"
    read = [_read(text, each, spec.century) for each in spec.dates]
    # The engine's %Y takes 93 for the year 93, and any format 'infinity' and 'epoch'.
    found = [f"CASE WHEN {each} >= TIMESTAMP '1000-01-01' THEN {each} END" for each in read]
    first = f"TRY_CAST(coalesce({', '.join(found)}) AS {kind})"
    return f"CASE WHEN regexp_matches({text}, '[0-9]') THEN TRY_CAST({first} AS VARCHAR) END"


def _read(text: str, form: str, century: int | None) -> str:
    """A time by one format; of a year of two digits the one from the first of a hundred years on.

    The engine's own has the same last two digits. A day that the right year has not is none, as 29
    February 1900, of which an interval would make the 28th.
    """
    found = f"try_strptime({text}, {literal(form)})"
    if "%y" not in form or century is None:
        return found
    years = f"({century} + (year({found}) % 100 + {100 - century % 100}) % 100 - year({found}))"
    moved = f"{found} + to_years(CAST({years} AS INTEGER))"
    return f"CASE WHEN day({moved}) = day({found}) THEN {moved} END"
