"""A recoding to begin with, from a column's name and type and never from its values.

Cuts follow public convention: statistics by age begin new classes at 18 and 65, incomes are told in
tens of thousands, what nobody can name is cut by orders of magnitude.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from policy_engine.compile.catalog import NUMBERS, TIMES, Column, Kind

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")

_POSTCODE = "zip zipcode postcode postal postalcode plz"
_NUMBERS = (
    ("age alter", "{bins: [18, 30, 45, 65]}"),
    ("weeks", "{bins: [13, 26, 40, 50]}"),
    ("year yob jahr", "{bins: [1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020]}"),
    ("month monat", "{bins: [4, 7, 10]}"),
    ("hours stunden", "{bins: [10, 20, 30, 40, 50]}"),
    ("minutes minute mins duration delay", "{bins: [0, 15, 30, 60, 120]}"),
    ("hour", "{bins: [6, 12, 18]}"),
    (
        "income salary wage wages earnings revenue turnover gehalt lohn einkommen",
        "{bins: [10000, 20000, 30000, 50000, 75000, 100000]}",
    ),
    (
        "price amount cost costs fee fare total spend spent balance payment charge rent preis",
        "{bins: [10, 20, 50, 100, 200, 500, 1000]}",
    ),
    ("gain gains loss losses dividend dividends", "{bins: [1, 1000, 10000, 100000]}"),
    (
        "count counts num number quantity qty children persons visits items orders bags anzahl",
        "{bins: [1, 2, 3, 5, 10]}",
    ),
    ("percent pct percentage score", "{bins: [20, 40, 60, 80]}"),
    ("rate ratio share fraction", "{bins: [0.2, 0.4, 0.6, 0.8]}"),
    ("rating stars", "{bins: [2, 3, 4, 5]}"),
    ("weight gewicht", "{bins: [50, 60, 70, 80, 90, 100]}"),
    ("height", "{bins: [150, 160, 170, 180, 190]}"),
    ("bmi", "{bins: [18.5, 25, 30]}"),
    ("temperature", "{bins: [0, 10, 20, 30]}"),
    ("distance km miles", "{bins: [10, 50, 100, 500, 1000]}"),
    ("latitude longitude lat lon lng", "{round: 1}"),
    (_POSTCODE, "{bins: [10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000, 90000]}"),
)
_BY_MAGNITUDE = "{bins: [1, 10, 100, 1000, 10000]}"
_LABELS = "code type class category group level status kind"
_PEOPLE = "person patient customer client user member employee student subject passenger visitor"
_KEYS = "id key uuid guid no nr number"
_WHOSE = f"{_PEOPLE} first last full given family middle"
_DIRECT = (
    "uuid guid ssn email mail phone mobile fax iban passport surname firstname lastname fullname"
    " street address password token hash ip url comment comments note notes remark remarks"
)


def suggestion(column: Column) -> str:
    """A recoding that takes the column's type; empty where it seems to name one person or row.

    >>> suggestion(Column("passenger_age", "SMALLINT")), suggestion(Column("plan", "VARCHAR"))
    ('{bins: [18, 30, 45, 65]}', 'keep')
    >>> suggestion(Column("customerId", "BIGINT")), suggestion(Column("plz", "VARCHAR"))
    ('', '{prefix: 2}')
    """
    words, kind = _words(column.name), column.kind
    names_one = words & {*_DIRECT.split()} or words == {"name"}
    if _is_key(column) or names_one or ("name" in words and words & {*_WHOSE.split()}):
        return ""
    if kind in NUMBERS:
        is_label = kind is Kind.INTEGER and words & {*_LABELS.split()}
        return by_name(column.name) or ("keep" if is_label else _BY_MAGNITUDE)
    if kind is Kind.DATE:
        return "{truncate: year}"
    if kind in TIMES:
        return "{truncate: quarter}"
    if kind is Kind.TEXT and words & {*_POSTCODE.split()}:
        return "{prefix: 2}"
    return "{constant: '*'}" if kind is Kind.OTHER else "keep"


def by_name(name: str) -> str:
    """What numbers of that name are recoded to by convention; empty where there is none.

    >>> by_name("HoursPerWeek"), by_name("x")
    ('{bins: [10, 20, 30, 40, 50]}', '')
    """
    words = _words(name)
    return next((told for names, told in _NUMBERS if words & {*names.split()}), "")


def person_key(columns: Iterable[Column]) -> Column | None:
    """The column that seems to say whose row it is.

    >>> person_key([Column("order_id", "BIGINT"), Column("customer_id", "BIGINT")]).name
    'customer_id'
    """
    people = {*_PEOPLE.split()}
    return next((each for each in columns if _is_key(each) and _words(each.name) & people), None)


def _is_key(column: Column) -> bool:
    """Whether a column seems to be a key: it is called so, or is a UUID."""
    words = _words(column.name)
    is_one = column.kind is Kind.UUID or bool(words & {"id", "key"})
    return is_one or bool(words & {*_PEOPLE.split()} and words & {*_KEYS.split()})


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}
