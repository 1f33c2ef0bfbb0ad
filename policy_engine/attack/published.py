"""What an attack reads: published tables, and what an adversary knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.attack.attacks import (
    Attempt,
    PublishedTable,
    attempts,
    classes_of,
    membership,
    unbounded,
)
from policy_engine.attack.graphs import Neighbours, neighbours_of, seed_and_propagate
from policy_engine.attack.trackers import SizeControl, trackers
from policy_engine.errors import UsageError
from policy_engine.measure.subjects import (
    Subject,
    check_columns,
    measuring,
    subject_of,
    without_suppressed,
)
from policy_engine.values import frozen
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import quoted

if TYPE_CHECKING:
    import duckdb


@frozen
class Adversary:
    """What somebody has besides the table.

    ``other`` is another publication of the same people, or one's own graph; ``known`` a file with
    the columns that are known of people, recoded as the table has them; ``kinds`` are what
    sensitive values are, a step up. ``least``: the table itself is not seen, but a desk is asked
    that answers of so many people at least. ``suppressed`` is what stands in all columns that are
    known of a row that is not shown.
    """

    other: Path | None = None
    known: Path | None = None
    kinds: Mapping[str, str] | None = None
    least: int | None = None
    suppressed: str | None = None


def attack(
    path: Path,
    sensitive: str,
    quasi: tuple[str, ...] = (),
    has: Adversary = Adversary(),
    *,
    count: str | None = None,
    is_published: bool = False,
) -> tuple[Attempt, ...]:
    """Attack a release, or a table of others that ``is_published``.

    ``count`` is the column of counts of a table that is no release. A table that a desk keeps need
    not be published.

    Raises:
        UsageError: the table is no release and nobody says that it is public; a column is not
            there; or nobody is named to ask a desk about.
        FileError, WarehouseError: a file cannot be read.
    """
    if has.least is not None and (has.known is None or has.least < 1):
        raise UsageError("--size-limit is a number from 1 on, and --knowing says of whom is asked")
    with measuring() as connection:

        def table(place: Path) -> PublishedTable:
            subject = subject_of(place, connection, count)
            _check(subject, is_published=is_published or has.least is not None)
            check_columns((sensitive, *quasi), subject.columns, place)
            names = quasi or tuple(each for each in subject.columns if each != sensitive)
            if has.suppressed is not None:
                subject, _ = without_suppressed(connection, subject, names, has.suppressed)
            rows = _rows(connection, subject, (*names, sensitive))
            counted = [(row[:-2], row[-2], row[-1]) for row in rows]
            single = () if subject.count else tuple((row[:-2], row[-2]) for row in rows)
            return PublishedTable(str(place), names, sensitive, classes_of(counted), single)

        attacked = table(path)
        people = None
        if has.known is not None:
            of_them = subject_of(has.known, connection, None)
            check_columns(attacked.quasi, of_them.columns, has.known)
            rows = _rows(connection, of_them, attacked.quasi)
            people = [dict(zip(attacked.quasi, row, strict=False)) for row in rows]
        beside = None if has.other is None else table(has.other)
        bounds = _bounds(path, has.other, connection)
    if has.least is not None:
        found = tuple(trackers(SizeControl(attacked, has.least), people or (), str(has.known)))
    else:
        found = tuple(attempts(attacked, beside, people, str(has.known), has.kinds))
    return (*found, *bounds)


def attack_edges(
    path: Path, edges: tuple[str, ...], has: Adversary, *, is_published: bool = False
) -> tuple[Attempt, ...]:
    """Attack a published table of edges, with names and some known nodes or planted accounts.

    ``edges`` are the two columns of an edge, in the table and in ``has.other``, whose nodes are
    names. ``has.known`` has a column ``name``, and ``node`` where it knows the node of each.
    Raises as ``attack``.
    """
    if len(edges) != 2 or has.other is None or has.known is None:
        raise UsageError(
            "--edges names two columns; --with says who is joined to whom by name, and --knowing"
            " has a column 'name', of accounts that were planted, or beside it their 'node'"
        )
    with measuring() as connection:

        def texts(place: Path, *names: str) -> list[tuple[Any, ...]]:
            subject = subject_of(place, connection, None)
            if place == path:
                _check(subject, is_published=is_published)
            check_columns(names, subject.columns, place)
            found = [row[:-1] for row in _rows(connection, subject, names)]
            return [row for row in found if None not in row]

        def graph(place: Path) -> Neighbours:
            return neighbours_of((one, other) for one, other in texts(place, *edges))

        knows_nodes = "node" in subject_of(has.known, connection, None).columns
        people = texts(has.known, "name", *(("node",) if knows_nodes else ()))
        seeds: Mapping[str, str] | Sequence[str]
        seeds = dict(people) if knows_nodes else [name for (name,) in people]
        bounds = _bounds(path, None, connection)
        found = (seed_and_propagate(str(path), graph(path), graph(has.other), seeds),)
    return (*found, *bounds)


def _bounds(
    path: Path, other: Path | None, connection: duckdb.DuckDBPyConnection
) -> tuple[Attempt, ...]:
    """What bounds every attack, on a release or on two together."""
    promise = subject_of(path, connection, None).promise
    if promise is None:
        return ()
    if other is None:
        return (membership(promise),)
    beside = subject_of(other, connection, None).promise
    if beside is None:
        return (unbounded(f"{other} has no certificate"),)
    return (membership(promise, beside),)


def _check(subject: Subject, *, is_published: bool) -> None:
    if not subject.is_release and not is_published:
        raise UsageError(
            f"{subject.name} is no release: an attack names the people that it finds. --published"
            " is your word that the table is public, and --size-limit asks a desk that keeps it"
        )
    if subject.groupings:
        raise UsageError(
            f"{subject.name} has several groupings, and this attacks tables of one: write the"
            " rows and columns of one of them into a file, and say that it is --published"
        )


def _rows(connection: Any, subject: Subject, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Rows in their order, values as texts, each with how many people it is.

    A file of people may have other types than the release, and Python not every value of an engine.
    """
    count = "1" if subject.count is None else f"COALESCE({quoted(subject.count)}, 0)"
    named = ", ".join(f"{quoted(column)}::VARCHAR" for column in columns)
    with withheld():
        found = connection.execute(f"SELECT {named}, {count} FROM {subject.relation}").fetchall()
    return [tuple(row) for row in found]
