"""A table, the questions about it, and what comes out: the one place that asks the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.errors import UsageError
from policy_engine.measure.classes import (
    Disclosed,
    Risk,
    Sizes,
    disclosed_of,
    journalist,
    prosecutor,
    scaled,
    sizes_of,
    uniqueness,
)
from policy_engine.measure.marginals import Marginal, Together, divergence, together
from policy_engine.measure.statement import (
    EQUAL,
    ORDER,
    TREE,
    Distances,
    Roles,
    Tree,
    cells,
    persons,
    statement,
)
from policy_engine.measure.subjects import (
    Subject,
    check_columns,
    counts_of,
    measuring,
    subject_of,
    without_suppressed,
)
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import quoted

if TYPE_CHECKING:
    import duckdb


@frozen
class Questions:
    """What is asked of a table.

    ``quasi`` are all columns that are not ``sensitive`` where none is named. ``orders`` and
    ``trees`` are of sensitive columns: their values from the least to the greatest, and their
    hierarchy. ``population`` is a file of everybody who could be meant, with the columns of
    ``quasi`` as the table has them; ``rate`` is that at which the table was drawn from it.
    ``is_public``: the file is published already, though it is no release of ours. ``marginals``:
    what do the counts by these columns tell together, were they alone shown? ``key`` tells the
    people of raw data apart: each counts once in a class, and once for each sensitive value in it.
    ``suppressed`` is what stands in all of ``quasi`` of a row that is not shown: it is in no class.
    """

    sensitive: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    count: str | None = None
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trees: Mapping[str, Tree] = field(default_factory=dict)
    population: Path | None = None
    rate: float | None = None
    is_public: bool = False
    marginals: tuple[tuple[str, ...], ...] = ()
    key: str | None = None
    suppressed: str | None = None


@frozen
class Measured:
    """One table: its classes by ``quasi``, what they tell of each sensitive column, the risks.

    ``others`` is the journalist's risk and in its mean the marketer's; ``rate`` the sample's rate.
    ``persons`` are all of a table with a key, and ``alone`` those of them who are alone in a class.
    """

    quasi: tuple[str, ...]
    sizes: Sizes
    disclosed: tuple[Disclosed, ...]
    own: Risk | None
    others: Risk | None
    rate: float | None
    persons: int | None = None
    alone: int | None = None

    @property
    def unique(self) -> float | None:
        """The share of the people who are alone in a class; None of no people."""
        if self.persons and self.alone is not None:
            return self.alone / self.persons
        return uniqueness(self.sizes)


@frozen
class Measurement:
    """Everything that was asked of a file; of a release with groupings there are several tables.

    ``together`` is what several marginals tell, of each sensitive column; ``lost`` the divergence
    from their fit of the table that they are of, where that is there.
    """

    name: str
    is_public: bool
    is_release: bool
    counted: str | None
    tables: tuple[Measured, ...]
    marginals: tuple[tuple[str, ...], ...] = ()
    together: tuple[Together, ...] = ()
    lost: float | None = None
    takes_rows: bool = False
    key: str | None = None
    groups_a_person: int = 1
    suppressed: int | None = None
    """How many rows, or people, are left out; None where it was not asked."""


def measure(path: Path, questions: Questions = Questions()) -> Measurement:
    """Measure a release, or raw data.

    Guarantee: of raw data no value and no class is named. It is confidential all the same.

    Raises:
        FileError, WarehouseError: a file cannot be read.
        UsageError: a column is not there, or is asked for as two things; a value of a sensitive
            column stands in no hierarchy or order that was given for it.
    """
    with measuring() as connection:
        subject = subject_of(path, connection, questions.count, questions.key)
        _check(subject, questions)
        left_out = None
        if questions.suppressed is not None:
            known = [c for c in questions.quasi or subject.columns if c not in questions.sensitive]
            mark = questions.suppressed
            subject, left_out = without_suppressed(connection, subject, known, mark)
        # Of a population that is not published, the journalist's risk would tell exact counts.
        is_public = questions.is_public or (subject.is_release and questions.population is None)
        asked = replace(questions, is_public=is_public)
        tables = tuple(
            _measured(connection, subject, asked, relation, columns)
            for relation, columns in subject.tables()
        )
        alone = subject.is_release and not questions.is_public
        found = Measurement(
            subject.name, is_public, alone, subject.count, tables,
            takes_rows=subject.takes_rows, key=subject.key,
            groups_a_person=subject.groups_a_person, suppressed=left_out,
        )  # fmt: skip
        several = subject.groupings or questions.marginals
        if not several:
            return found

        def counts(columns: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
            relation = relations.get(columns, subject.relation)
            return counts_of(connection, relation, columns, subject.count)

        relations = {named: relation for relation, named in subject.tables()}
        marginals = [Marginal(each, counts(each)) for each in several]
        told = tuple(together(marginals, each) for each in questions.sensitive or (None,))
        fit = None if subject.groupings else told[0].fit
        lost = None if fit is None else divergence(fit, counts(fit.columns))
    return replace(found, marginals=several, together=told, lost=lost)


def _check(subject: Subject, questions: Questions) -> None:
    named = (*questions.sensitive, *questions.quasi, *chain(*questions.marginals))
    check_columns(named, subject.columns, subject.name)
    if questions.marginals and subject.groupings:
        raise UsageError(f"{subject.name} has groupings, which are its marginals: leave them out")
    if questions.marginals and subject.key:
        raise UsageError("--marginals are of tables with one row a person: leave --key out")
    if both := set(questions.sensitive) & set(questions.quasi):
        raise UsageError(f"{min(both)} cannot be known and sensitive at once: name it once")
    if others := (set(questions.orders) | set(questions.trees)) - set(questions.sensitive):
        raise UsageError(f"{min(others)} has an order or a hierarchy, and is not --sensitive")


def _measured(
    connection: duckdb.DuckDBPyConnection,
    subject: Subject,
    questions: Questions,
    relation: str,
    columns: tuple[str, ...],
) -> Measured:
    known = [each for each in questions.quasi or columns if each in columns]
    quasi = tuple(each for each in known if each not in questions.sensitive)
    sensitive = tuple(each for each in questions.sensitive if each in columns)
    rows = []
    for column in sensitive or (None,):
        roles = Roles(quasi, column, subject.count, subject.key)
        distances = EQUAL if column is None else _distances(connection, subject, questions, column)
        text = statement(relation, roles, distances, names_worst=questions.is_public)
        rows.append(_row(connection, text))
    whole = Roles(quasi, None, subject.count, subject.key)
    named: dict[str, int] = {}
    first = rows[0]
    if subject.key is not None:
        # Who has two values in a class is one person of it: its cells do not add up to its size.
        first = _row(connection, statement(relation, whole, names_worst=questions.is_public))
        named = _row(connection, persons(relation, whole))
    sizes, rate = sizes_of(first), questions.rate or subject.rate
    others = None if rate is None else scaled(sizes, rate)
    if questions.population is not None:
        others = journalist(_pairs(connection, questions.population, relation, whole))
    disclosed = tuple(map(disclosed_of, sensitive, rows))
    return Measured(quasi, sizes, disclosed, prosecutor(sizes), others, rate, **named)


def _row(connection: duckdb.DuckDBPyConnection, text: str) -> dict[str, Any]:
    """The one row of a statement, by the names of its columns."""
    with withheld():
        found = connection.execute(text)
        names = [name for name, *_ in found.description or ()]
        values = found.fetchall()[0]
    return dict(zip(names, values, strict=True))


def _distances(
    connection: duckdb.DuckDBPyConnection, subject: Subject, questions: Questions, column: str
) -> Distances:
    """The distances that a sensitive column has; its order and its tree stand in the engine."""
    order = questions.orders.get(column) or subject.orders.get(column)
    tree = questions.trees.get(column)
    if order is not None:
        _listed(connection, ORDER, {value: place for place, value in enumerate(order)}, "place")
        _check_listed(connection, subject, column, ORDER, "order")
    if tree is not None:
        _listed(connection, TREE, {v: list(nodes) for v, nodes in tree.nodes.items()}, "nodes")
        _check_listed(connection, subject, column, TREE, "hierarchy")
    return Distances(
        ordered=order is not None or subject.has_order(column),
        listed=order is not None,
        levels=0 if tree is None else tree.levels,
    )


def _listed(
    connection: duckdb.DuckDBPyConnection, name: str, found: Mapping[Any, Any], column: str
) -> None:
    """Values with what belongs to each, as a relation."""
    import pyarrow as pa

    values = pa.array([*found], pa.string())
    connection.register(name, pa.table({"value": values, column: [*found.values()]}))


def _check_listed(
    connection: duckdb.DuckDBPyConnection, subject: Subject, column: str, name: str, what: str
) -> None:
    found = _row(
        connection,
        f"SELECT count(DISTINCT {quoted(column)}) AS n FROM {subject.relation}"
        f" WHERE {quoted(column)}::VARCHAR NOT IN (SELECT value FROM {name} WHERE value NOT NULL)",
    )["n"]
    if found:
        raise UsageError(
            f"the {what} of {column} lacks {counted(found, 'value')} of {subject.name}: add them"
        )


def _pairs(
    connection: duckdb.DuckDBPyConnection, population: Path, relation: str, roles: Roles
) -> dict[tuple[int, int], int]:
    """How many classes have so many people in the table and so many in the population."""
    # Who has several rows would be several people of the population, and better hidden for it.
    everybody = subject_of(population, connection, None, roles.key)
    check_columns(roles.quasi, everybody.columns, population)
    whole = Roles(roles.quasi, None, everybody.count, everybody.key)
    same = (
        " AND ".join(f"t.{p}::VARCHAR IS NOT DISTINCT FROM w.{p}::VARCHAR" for p in roles.places)
        or "true"
    )
    row = _row(
        connection,
        f"WITH t AS ({cells(relation, roles)}),"
        f" w AS ({cells(everybody.relation, whole)})"
        " SELECT list((f, of, times)) AS pairs FROM ("
        f"SELECT t.n AS f, coalesce(w.n, 0) AS of, count(*) AS times FROM t LEFT JOIN w ON {same}"
        " GROUP BY ALL)",
    )
    return {(f, of): times for f, of, times in row["pairs"] or ()}
