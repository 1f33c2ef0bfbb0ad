"""What is looked for in any engine's catalog: what is missing there, and what a view may read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches

from policy_engine.compile.catalog import Table
from policy_engine.errors import WarehouseError

Name = tuple[str, ...]
"""A relation's full name, in its parts."""

_MARKS = str.maketrans("", "", "\"`\\'")


def missing(
    parts: Iterable[str], names: Iterable[Iterable[str]], hidden: str = ""
) -> WarehouseError:
    """The error of a relation that is not among ``names``, or is ``hidden``, as a clause says.

    >>> print(missing(("hospital", "vists"), [("hospital", "visits")]))
    the warehouse has no table or view hospital.vists; did you mean 'hospital.visits'?
    """
    name, there = ".".join(parts), [".".join(each) for each in names]
    close = get_close_matches(name[:200], there[:10_000], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    text = f"the warehouse has no table or view {name}{hidden}{hint}"
    return WarehouseError(text, code="source_missing")


def no_schema(schema: str, what: str = "") -> WarehouseError:
    """The error of a schema that is not there to write to, or ``what`` else is wrong with it."""
    return WarehouseError(
        f"the warehouse has no schema {schema}{what}; make it, or name another in release.table"
    )


def points_to(target: Name, child: str) -> WarehouseError:
    """The error of a table that another's key keeps in its place."""
    return WarehouseError(
        f"{'.'.join(target)} cannot be replaced because a foreign key of {child} points to it: drop"
        " that first, or name another table in release.table"
    )


def check_columns(table: str, names: Iterable[str], computed: Iterable[str] = ()) -> None:
    """Refuse two columns of one name, and those that are computed when read."""
    named = [*names]
    for name in {name for name in named if named.count(name) > 1}:
        raise WarehouseError(f"{table} has two columns {name!r}; rename one")
    for name in computed:
        raise WarehouseError(
            f"{table}: the column {name!r} is computed when it is read, and could fail on one row;"
            " store it"
        )


def with_what_it_reads(
    table: Table, names: Iterable[Name], described: Callable[[Name], Table]
) -> Table:
    """A view with the relations of ``names`` that its text mentions, or that those do.

    A catalog has much that a view does not read, and that may be of kinds that cannot be certified,
    or change while it is read. Only what the text of a view mentions is looked at; a name too many
    does no harm, and what cannot be certified is left out: the kernel refuses a view of what it
    does not know.

    >>> base, view = (Table((), parts=("main", name)) for name in ("people", "v"))
    >>> view = replace(view, view="SELECT 1 FROM people")
    >>> names = [("main", "people"), ("main", "b")]
    >>> [each.name for each in with_what_it_reads(view, names, lambda parts: base).related]
    ['main.people']
    """
    left, texts, found = list(names), [_bare(table.view or "")], []
    while texts:
        text = texts.pop()
        for parts in [each for each in left if _bare(each[-1]) in text]:
            left.remove(parts)
            try:
                related = described(parts)
            except WarehouseError:
                continue
            found.append(related)
            if related.view is not None:
                texts.append(_bare(related.view))
    return replace(table, related=tuple(sorted(found, key=lambda each: each.parts)))


def _bare(text: str) -> str:
    """A text without the marks of quoting, nor upper case: names in it are found either way."""
    return text.translate(_MARKS).casefold()
