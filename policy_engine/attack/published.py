"""What an attack reads: published tables, and what an adversary knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policy_engine.attack.attacks import Attempt, Table, attempts, classes_of, membership
from policy_engine.errors import UsageError
from policy_engine.measure.subjects import Subject, check_columns, measuring, subject_of
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import quoted


def attack(
    path: Path,
    sensitive: str,
    quasi: tuple[str, ...] = (),
    other: Path | None = None,
    known: Path | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    is_published: bool = False,
) -> tuple[Attempt, ...]:
    """Attack a release, or a table of others that ``is_published``.

    ``other`` is another publication of the same people, and ``known`` a file with the columns of
    ``quasi``, recoded as the release has them. ``kinds`` are what sensitive values are, a step up.

    Raises:
        UsageError: the table is no release and nobody says that it is public; or a column is not
            there.
        FileError, WarehouseError: a file cannot be read.
    """
    with measuring() as connection:

        def table(place: Path) -> Table:
            subject = subject_of(place, connection, None)
            _check(subject, is_published=is_published)
            check_columns((sensitive, *quasi), subject.columns, place)
            names = quasi or tuple(each for each in subject.columns if each != sensitive)
            rows = _rows(connection, subject, (*names, sensitive))
            counted = [(row[:-2], row[-2], row[-1]) for row in rows]
            single = () if subject.count else tuple((row[:-2], row[-2]) for row in rows)
            return Table(str(place), names, sensitive, classes_of(counted), single)

        attacked = table(path)
        people = None
        if known is not None:
            of_them = subject_of(known, connection, None)
            check_columns(attacked.quasi, of_them.columns, known)
            rows = _rows(connection, of_them, attacked.quasi)
            people = [dict(zip(attacked.quasi, row, strict=False)) for row in rows]
        beside = None if other is None else table(other)
        promise = subject_of(path, connection, None).promise
    found = tuple(attempts(attacked, beside, people, str(known), kinds))
    return found if promise is None else (*found, membership(*promise))


def _check(subject: Subject, *, is_published: bool) -> None:
    if not subject.is_release and not is_published:
        raise UsageError(
            f"{subject.name} is no release: an attack names the people that it finds. --published"
            " is your word that the table is public"
        )
    if subject.groupings:
        raise UsageError(f"{subject.name} has several groupings: this attacks tables of one")


def _rows(connection: Any, subject: Subject, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Rows in their order, values as texts, each with how many people it is.

    A file of people may have other types than the release, and Python not every value of an engine.
    """
    count = "1" if subject.count is None else quoted(subject.count)
    named = ", ".join(f"{quoted(column)}::VARCHAR" for column in columns)
    with withheld():
        found = connection.execute(f"SELECT {named}, {count} FROM {subject.relation}").fetchall()
    return [tuple(row) for row in found]
