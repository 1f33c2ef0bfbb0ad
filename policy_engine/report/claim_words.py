"""A claim in words: all that is shown of whom, from its typed values alone.

Claims that release anything else read otherwise. A name, a label or a key that is not plain stands
in quotes with its escapes, so that no text of a policy's author forges a word of ours.
"""

from __future__ import annotations

import re

from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import words_of
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import (
    Drawn,
    Files,
    Groups,
    JoinedRelation,
    Relation,
    Rows,
)
from policy_engine.kernel.wording import (
    column_text,
    named,
    quoted,
    span_words,
    value_words,
)

_PLAIN_PATH = re.compile(r"[\w./=+-]+")


def source_words(claim: Claim) -> str:
    """Where the rows are, and how they are read."""
    computed = map(span_words, claim.computed)
    return "; ".join((_place_words(claim.source), *map(joined_words, claim.joins), *computed))


def joined_words(joined: JoinedRelation) -> str:
    """What stands beside each row."""
    columns = ", ".join(map(column_text, joined.columns))
    by = " and ".join(f"{column_text(own)} = {column_text(other)}" for own, other in joined.on)
    ways = ((named(c.name), "descending" if down else "ascending") for c, down in joined.order)
    first = ", then ".join(f"{name} {way}" for name, way in ways)
    which = f"the first by {first}" if first else "the smallest"
    whose = "the same for any people" if joined.is_public else "rows of the same person"
    return (
        f"each row gets {columns} from {_place_words(joined.source)} ({whose}), where {by}; if"
        f" several rows match, {which}"
    )


def _place_words(source: Relation | Files) -> str:
    if isinstance(source, Relation):
        view = " (a view; each of its rows comes from one person)" * source.is_rowwise
        return f"the table {'.'.join(map(named, source.parts))}{view}"
    place = source.path if _PLAIN_PATH.fullmatch(source.path) else quoted(source.path)
    kind = {"parquet": "Parquet", "csv": "CSV", "delta": "Delta"}[source.kind]
    how = "".join(f"; {name}: {_option(value)}" for name, value in source.options)
    return f"the {'folder' if source.is_folder else 'file'} {place} ({kind}){how}"


def _option(value: object) -> str:
    return ", ".join(map(quoted, value)) if isinstance(value, tuple) else value_words(value)


def person_words(claim: Claim) -> str:
    """Who is one person, and what of a person is kept."""
    unit = claim.unit
    if isinstance(unit, Rows):
        return "each row is one person"
    named = " and ".join(map(column_text, unit.keys))
    who = f"each value of {named} is one person; rows without a value are left out"
    if len(unit.keys) > 1:
        who = f"each combination of {named} is one person; rows that lack one of them are left out"
    match unit.order:
        case None:
            return f"{who}; the engine enforces one row for each person"
        case Drawn():
            return f"{who}; one of the person's different rows is drawn by chance"
        case Groups(most):
            return (
                f"{who}; all rows of a person count, but once in each group, and in at most"
                f" {most} groups; if a person is in more groups, {most} are drawn by chance"
            )
    terms = (
        f"{column_text(each)} {'descending' if down else 'ascending'}" for each, down in unit.order
    )
    return (
        f"{who}; only the first row of a person by {', then '.join(terms)} counts; if several rows"
        " are first, the first of them by all columns that are read"
    )


def column_words(shown: Shown) -> str:
    """A released column, and of which column of the source it is made."""
    if shown.column is None:
        return f"{named(shown.name)}, from no column"
    of = column_text(shown.column)
    return of if shown.name == shown.column.name else f"{named(shown.name)}, from {of}"


def column_lines(shown: Shown) -> tuple[str, ...]:
    """A released column: of which it is made, and how, each label on a line of its own."""
    lines = [column_words(shown), *(f"  {each}" for each in recode_meaning(shown.recode).lines())]
    if shown.missing is not None:
        lines.append(f"  instead of NULL: {quoted(shown.missing)}")
    return tuple(lines)


def filter_line(each: Shown) -> str:
    """Which rows take part, by one column.

    >>> from policy_engine.kernel.filters import within
    >>> from policy_engine.kernel.sources import Column
    >>> from policy_engine.kernel.types import Type
    >>> filter_line(within(Column("age", Type("integer")), 18, 65))
    'age (integer) from 18 to below 65'
    """
    return words_of(each, "" if each.column is None else column_text(each.column), value_words)
