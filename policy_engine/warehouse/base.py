"""A warehouse: what the engine asks of it, and what all engines do alike.

It knows nothing of policies' meaning. An engine says how it is connected to, what its catalog
knows, how the secret is bound, how a table is made and how it is filled again; names, the
known-answer test and the steps in which a table comes to stand are here. What a caller may rely on
is in the contract suite under tests/.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.compile.catalog import Table
from policy_engine.compile.joining import with_beside
from policy_engine.dialects import Engine
from policy_engine.errors import PlaceRefused, WarehouseError, WarehouseFailed
from policy_engine.kernel.fragments import in_sample
from policy_engine.names import fold, parts_of
from policy_engine.policy.resolve import Policy, Source
from policy_engine.warehouse import known_answers as known
from policy_engine.warehouse.catalogs import Name, with_what_it_reads
from policy_engine.warehouse.quoting import quoted

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]
Columns = tuple[tuple[str, str], ...]
"""The columns of a table, each with its type."""
Texts = tuple[str | None, ...]
"""A row, each value as the text that it is digested as."""
_DIGITS = f"({' UNION ALL '.join(f'SELECT {digit} AS d' for digit in range(10))})"
_NUMBERS = (
    "(SELECT t0.d + 10 * t1.d + 100 * t2.d AS n"
    f" FROM {_DIGITS} AS t0 CROSS JOIN {_DIGITS} AS t1 CROSS JOIN {_DIGITS} AS t2) AS known"
)
"""The numbers below 1,000, in SQL that every engine reads."""


EDITION = "edition"
"""The column of a table that has the rows of several editions, which says of which a row is."""

Make = Callable[[Name], None]
"""Makes a table in a place."""


class Warehouse(ABC):
    """One connection to an engine; use it in one thread, and close it."""

    dialect: Engine
    engine_version: str
    settings: tuple[tuple[str, str], ...] = ()
    """What a session of a server may use, as it is set: a certificate says so."""
    _full: ClassVar[str] = "schema.table"
    """How a full name is written."""
    _text: ClassVar[str]
    """A column as the text that the engine writes it as, by whose bytes rows are ordered."""
    _nulls: ClassVar[str] = ""
    appends: ClassVar[bool] = False
    """Whether the rows of one more edition can be added to a table, all in one step or none."""
    _edition_type: ClassVar[str]
    """The type of the column that tells editions apart, where rows are added."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._salt: str | None = None
        self._aside: dict[Name, Name] = {}
        self._certified: dict[Name, tuple[Table, object]] = {}

    # What an engine defines

    @abstractmethod
    def close(self) -> None:
        """End the connection; what was not published is not there."""

    @abstractmethod
    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours, fetched to the end; its errors quote nothing."""

    @abstractmethod
    def _full_name(self, relation: str) -> Name:
        """A relation's name as the catalog spells it, with what is missing."""

    @abstractmethod
    def _by_itself(self, parts: Name) -> Table:
        """A table or view as the catalog has it; WarehouseError where it cannot be certified."""

    def _beside(self, parts: Name) -> list[Name]:
        """The relations that a view may read."""
        return []

    def _facts(self, table: Table) -> object:
        """What else the catalog says of a source, which must stay as it is.

        It tells relations apart that are described alike.
        """
        return None

    @abstractmethod
    def _check_place(self, target: Name) -> None:
        """Refuse, by WarehouseError, a name whose schema is not there or cannot be written."""

    @abstractmethod
    def _comment(self, target: Name) -> str | None:
        """The comment of a table; empty where it is no table's name, None where it is nothing's."""

    @abstractmethod
    def _plan(self, query: str) -> None:
        """Have the engine plan a text, and read no row; any error of the engine may leave it."""

    def _unreadable(self, table: Table, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the columns that the role may not read, where the catalog says so."""
        return ()

    @contextmanager
    def trying(self, policy: Policy, table: Table) -> Iterator[None]:
        """What a text needs while it is planned: a secret that everybody knows, by default."""
        if policy.method != "keyed":
            yield
            return
        with self.bound(known.SECRET.hex()):
            yield

    @abstractmethod
    def _fetched(self, sql: str) -> pa.Table:
        """The rows of a certified text; any error of the engine may leave it."""

    @abstractmethod
    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        """Make a table by ``make`` where nobody sees it, and comment it."""

    @abstractmethod
    def _create(self, query: str, place: Name) -> None:
        """Make a table of a certified text, which stands unedited in an envelope."""

    def _drawn(self, query: str, place: Name) -> None:
        """The same with the rows that are charged for: of a failure a row may be the cause."""
        from policy_engine.warehouse.failures import over_rows

        with over_rows(), self._withheld():
            self._create(query, place)

    @abstractmethod
    def _types(self, place: Name) -> Columns:
        """The columns of a table of ours, each with its type as the engine reads it."""

    @abstractmethod
    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        """Make a table of these columns, and put rows into it that are texts of its values."""

    @abstractmethod
    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        """Let what was made stand as ``target``, in one step."""

    @abstractmethod
    def _undone(self, place: Name) -> None:
        """Take away what was made, as far as that can be done: the first error is told."""

    def _alone(self, target: Name) -> AbstractContextManager[None]:
        """Keep other releases into a table out, where its transaction does not."""
        return nullcontext()

    def _place(self, target: Name) -> Name:
        """Where a table is made: in its own place, which a transaction hides."""
        return target

    def _columns_of(self, target: Name) -> list[str]:
        """The columns of a published table."""
        raise NotImplementedError

    def _streamed(self, sql: str) -> Iterator[Row]:
        """The rows of a query of ours, as they come; any error of the engine may leave it."""
        raise NotImplementedError

    def _withheld(self) -> AbstractContextManager[None]:
        """Let no error of the engine's out that could quote a row: DuckDB's, Arrow's, Python's."""
        # Imported on use: a command that opens no warehouse does not wait for DuckDB.
        from policy_engine.warehouse.failures import withheld

        return withheld()

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret within reach of a text while the body runs: a parameter, by default."""
        self._salt = salt
        try:
            yield
        finally:
            self._salt = None

    @property
    def _parameters(self) -> dict[str, str]:
        """The secret, where one is bound, by the name that texts have for a parameter."""
        return {} if self._salt is None else {"salt": self._salt}

    def progress(self) -> float | None:
        """How many per cent of the running query are done; None where the engine does not say.

        It is asked from another thread than the query's.
        """
        return None

    # Names

    def quoted(self, *parts: str) -> str:
        """A qualified identifier."""
        return quoted(*parts, sign=self.dialect.quote)

    def _parts(self, relation: str) -> Name:
        """The parts of a relation's name, which may stand in the engine's quotes."""
        return parts_of(relation, self.dialect.quote, self.dialect.closing)

    def _in_full(self, relation: str, *home: str) -> Name:
        """The parts of a name, those that are missing at its head from ``home``."""
        parts = [*self._parts(relation)]
        parts = [*home[: max(len(home) + 1 - len(parts), 0)], *parts]
        if len(parts) != self._full.count(".") + 1 or not all(parts):
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write {self._full}"
            )
        return tuple(parts)

    def _check_length(self, parts: Name) -> None:
        """Refuse names that the engine would shorten, or not take."""
        most = self.dialect.longest_name
        for part in parts:
            if len(part.encode()) > most:
                raise WarehouseError(
                    f"the name {part} has more than {most} bytes; name another in release.table"
                )

    # The source

    def table(self, source: Source, directory: Path) -> Table:
        """The columns of a source.

        Raises:
            WarehouseError, FileError: it is not there, or cannot be certified.
        """
        joined = (self._one_table(each.source, directory) for each in source.joins)
        return with_beside(source, self._one_table(source, directory), joined)

    def _one_table(self, source: Source, directory: Path) -> Table:
        """The columns of one relation of a source."""
        if source.relation is None:
            raise WarehouseError(
                f"the warehouse {self._name} is {self.dialect.title}, which reads tables and no"
                " files; name source.table, or release the file with DuckDB"
            )
        table = self._described(self._full_name(source.relation))
        self._certified[table.parts] = (table, self._facts(table))
        return table

    def _described(self, parts: Name) -> Table:
        """A table or view, with what it reads."""
        table = replace(self._by_itself(parts), case=self.dialect.case)
        if table.view is None:
            return table
        return with_what_it_reads(table, self._beside(parts), self._by_itself)

    def _check_certified(self, table: Table) -> None:
        """Compare the source with what was certified: a text means what its relations are."""
        for each in table.relations:
            self._check_same(each)

    def _check_same(self, table: Table) -> None:
        is_same = self._described(table.parts) == table
        if is_same and table.parts in self._certified:
            is_same = self._facts(table) == self._certified[table.parts][1]
        if not is_same:
            raise WarehouseError(
                f"{table.name}, or what it reads, has been made anew or altered since its release"
                " was certified; nothing was published. Run the same command again",
                of_setup=True,
            )

    def hold(self, policy: Policy, table: Table) -> None:
        """Take hold of a source as it was certified, and refuse what cannot be, before a charge.

        No row is read: what the source holds decides nothing.

        Raises:
            WarehouseError, FileError: the source is not what was certified, or cannot be read.
        """
        self._check_certified(table)
        self._take_hold(policy, table)
        # Once more: an engine that locks what it reads has its locks now.
        self._check_certified(table)

    def _take_hold(self, policy: Policy, table: Table) -> None:
        """Lock the source, where the engine does, and begin what reads it."""
        return

    @contextmanager
    def sampled(self, policy: Policy, table: Table, secret: bytes) -> Iterator[Callable[[], None]]:
        """Draw the sample for one run; the body gets a check that the source is as certified.

        The text itself draws it by the secret, which is bound while the body runs. What is checked
        is what the catalog says: columns, types, the relation itself.

        Raises:
            WarehouseError: the known-answer test failed.
        """
        self._check_certified(table)
        check = partial(self._check_certified, table)
        if policy.method != "keyed":
            yield check
            return
        with self.bound(known.SECRET.hex()):
            self._check_known_answers()
        with self.bound(secret.hex()):
            yield check

    def _check_known_answers(self) -> None:
        wanted = known.expected(known.KEYS)
        for inside in in_sample(self.dialect.name, "n", known.RATE):
            rows = self.ask(f"SELECT n FROM {_NUMBERS} WHERE {inside}")
            if {int(row[0]) for row in rows} != wanted or len(rows) != len(wanted):
                raise WarehouseError(known.OTHERS, of_setup=True)

    # What is tried before a charge

    def check_reads(self, policy: Policy, table: Table, query: str) -> None:
        """Meet what would fail for the setup before it is charged, while no row is read.

        The very text is planned as it will run, under a secret that everybody knows: a right, a
        column or a function that is missing, a lock, a setting. Nothing of it depends on rows, and
        nothing is written.

        Raises:
            WarehouseError: the text cannot run here.
        """
        try:
            with self._withheld(), self.trying(policy, table):
                self._plan(query)
        except WarehouseError as error:
            # Imported on use, as in _withheld.
            from policy_engine.warehouse.failures import NOT_PLANNED, WITHHELD, failure

            for each in table.relations:
                if lacking := self._unreadable(each, read_of(policy, table, each)):
                    raise self._may_not_read(each, lacking) from None
            if error.lines == (WITHHELD.message,):
                raise failure(NOT_PLANNED) from None
            raise

    def check_dbt_builds(self, policy: Policy, table: Table | None, query: str) -> None:
        """Meet a right that dbt lacks before it is charged: dbt builds the text as this role.

        ``table`` is None where dbt makes the source first. An engine without rights has none to
        meet.

        Raises:
            WarehouseError: dbt could not build the text, now or the next time.
        """
        return

    def _may_not_read(self, table: Table, columns: tuple[str, ...]) -> WarehouseError:
        names = ", ".join(map(self.quoted, columns))
        return WarehouseError(
            f"the role may not read {', '.join(columns)} of {table.name}: GRANT SELECT ({names}) ON"
            f" {self.quoted(*table.parts)} to it, or release with a role that may",
            of_setup=True,
            code="no_right",
        )

    def check_writes(self, target: Name, query: str, *, added: bool = False) -> None:
        """Meet a right that is missing beside ``target`` before it is charged.

        A table without rows is made there of the text, commented and renamed, and is gone when this
        returns. Where its rows are to be ``added``, its columns are those of the table.

        Raises:
            WarehouseError: no table can be made, commented or renamed there, or it has others.
        """
        tried = (*target[:-1], f"policy_engine_try_{token_hex(4)}")
        try:
            make = partial(self._create, self._emptied(query))  # of no rows: its causes are told
            with self._withheld():
                self._put(make, tried, "", partial(self._compare, tried, target, added=added),
                          replace=False)  # fmt: skip
        finally:
            self._undone(tried)

    def _compare(self, tried: Name, target: Name, *, added: bool) -> None:
        """WarehouseError where rows like those of a table cannot be ``added`` to another one."""
        found = self.types(tried)
        is_known = [name for name, _ in found] != [_TRIED]
        if added and is_known and self.exists(target):
            self._check_alike(found, self.types(target, EDITION), target)

    def _check_alike(self, found: Columns, known: Columns, target: Name) -> None:
        """Refuse to add rows of other columns, or other types, than those of a table."""
        new, old = ([*map(_declared, columns)] for columns in (found, known))
        if new != old:
            shown = (", ".join(map(" ".join, columns)) for columns in (old, new))
            raise PlaceRefused(
                f"{'.'.join(target)} has the columns {next(shown)}, and an edition has"
                f" {next(shown)}: name another table in release.table, or put the policy back",
                of_setup=True,
            )

    def _emptied(self, query: str) -> str:
        """A text that makes a table without the rows of ``query``, and reads none."""
        return f"SELECT 1 AS {_TRIED}"

    def _typed(self, query: str) -> str:
        """The same, of the columns of ``query`` where the engine can; asked while ``trying``."""
        return self._emptied(query)

    # The release

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        from policy_engine.warehouse.failures import over_rows

        with over_rows(), self._withheld():
            return self._fetched(sql)

    def target(self, relation: str) -> Name:
        """The full name of a table to write.

        Raises:
            PlaceRefused: it has no place, which is known before a charge.
            WarehouseFailed: the warehouse did not answer.
        """
        try:
            return self._placed(relation)
        except WarehouseFailed:
            raise
        except WarehouseError as error:
            refused = PlaceRefused(*error.lines, of_setup=error.of_setup, code=error.code)
            raise refused from None

    def _placed(self, relation: str) -> Name:
        parts = self._full_name(relation)
        if any("." in part for part in parts):
            raise WarehouseError(
                f"{relation} has a dot within a name, which a release's own table must not have;"
                " name another in release.table"
            )
        self._check_length(parts)
        self._check_place(parts)
        return parts

    def exists(self, target: Name) -> bool:
        """Whether a relation of that name is there, of any kind."""
        return self._comment(target) is not None

    def comment(self, target: Name) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""
        return self._comment(target) or ""

    def check_replaceable(self, target: Name) -> None:
        """Refuse a table that another cannot take the place of, before anything is charged.

        Raises:
            WarehouseError: the source reads it, what it has would be lost, or the swap would fail.
        """
        for table, _ in self._certified.values():
            if fold(".".join(target)) in {fold(".".join(each.parts)) for each in table.related}:
                raise WarehouseError(
                    f"{table.name} reads {'.'.join(target)}, which the release would replace;"
                    " release to a place of its own"
                )

    def publish(
        self,
        query: str,
        target: Name,
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool = False,
        edition: str = "",
    ) -> None:
        """Make the table ``target`` of a certified query, and comment it: both stand, or neither.

        The query stands unedited in an envelope of the warehouse's. ``attest`` is called last
        before they stand, and sees the table; if it raises, what stood before stands. ``replace``
        allows for a table of that name, and its rights are kept.

        With an ``edition`` the rows are added to the table, which is made where there is none, and
        its column says so; ``replace`` allows for rows of that edition, which go.
        """
        make = partial(self._drawn, query)
        self._put(make, target, comment, attest, replace=replace, edition=edition)

    def put_back(
        self,
        columns: Columns,
        rows: Iterator[Texts],
        target: Name,
        comment: str,
        check: Callable[[], None],
        *,
        replace: bool = False,
        edition: str = "",
    ) -> None:
        """Make the table ``target`` again of the rows that it had; nothing else is read.

        ``columns`` are what ``types`` said of it. ``check``, ``replace`` and ``edition`` are as for
        ``publish``.
        """
        make = partial(self._fill, columns, rows)
        self._put(make, target, comment, check, replace=replace, edition=edition)

    def _put(
        self,
        make: Make,
        target: Name,
        comment: str,
        check: Callable[[], None],
        *,
        replace: bool,
        edition: str = "",
    ) -> None:
        with self._alone(target):
            if edition:
                self._add(make, target, comment, check, replace=replace, edition=edition)
                return
            place = self._aside[target] = self._place(target)
            try:
                self._made(make, place, comment, replace=replace)
                with Warehouse._withheld(self):
                    check()
                self._stands(place, target, replace=replace)
            except BaseException:
                self._undone(place)
                raise
            finally:
                del self._aside[target]

    def _add(
        self,
        make: Make,
        target: Name,
        comment: str,
        check: Callable[[], None],
        *,
        replace: bool,
        edition: str,
    ) -> None:
        """Add the rows of an edition to a table, all in one step."""
        raise NotImplementedError

    def check_added(self, target: Name, names: tuple[str, ...]) -> None:
        """Refuse columns that a table of several editions does not have, before a charge."""
        found = self.types(target, EDITION) if self.exists(target) else ()
        if found and tuple(name for name, _ in found) != names:
            raise PlaceRefused(
                f"{'.'.join(target)} has the columns {', '.join(name for name, _ in found)}, and an"
                f" edition has {', '.join(names)}: name another table in release.table, or put the"
                " policy back",
                of_setup=True,
            )

    def _into(self, part: Name, target: Name, comment: str, edition: str, *, replace: bool) -> None:
        """Add the rows of a table to another one, which is made where there is none."""
        columns = self._types(part)
        all_columns = ((EDITION, self._edition_type), *columns)
        if not self.exists(target):
            fill = partial(self._fill, all_columns, iter(()))
            self._made(fill, target, comment, replace=False)
        else:
            self._check_alike(all_columns, self._types(target), target)
            if replace:
                self._do(f"DELETE FROM {self.quoted(*target)} {self._of_edition(edition)}")
        names = ", ".join(self.quoted(name) for name, _ in columns)
        self._do(
            f"INSERT INTO {self.quoted(*target)} ({self.quoted(EDITION)}, {names})"
            f" SELECT '{edition}', {names} FROM {self.quoted(*part)}"
        )

    def _do(self, sql: str) -> None:
        """Run a statement of ours."""
        raise NotImplementedError

    def _of_edition(self, edition: str) -> str:
        """The condition that a row is of an edition; its name has letters, digits and -."""
        return f"WHERE {self.quoted(EDITION)} = '{edition}'" if edition else ""

    def has_edition(self, target: Name, edition: str) -> bool:
        """Whether a table is there and has rows of an edition."""
        where = self._of_edition(edition)
        sql = f"SELECT 1 FROM {self.quoted(*target)} {where} LIMIT 1"
        return self.exists(target) and bool(self.ask(sql))

    def editions(self, target: Name) -> frozenset[str]:
        """The editions whose rows a table has, of one to which editions are added."""
        rows = self.ask(f"SELECT DISTINCT {self.quoted(EDITION)} FROM {self.quoted(*target)}")
        return frozenset(str(edition) for (edition,) in rows)

    def types(self, target: Name, edition: str = "") -> Columns:
        """The columns of a published table, or of one that ``publish`` makes, with their types.

        Of a table of several editions those that the rows of one have.
        """
        with self._withheld():
            found = self._types(self._aside.get(target, target))
        return found[1:] if edition else found

    def release_lines(self, target: Name, edition: str = "") -> Iterator[Row]:
        """The rows of a published table, in their order, each value as the engine writes it.

        Of a table of several editions those of one.
        """
        place = self._aside.get(target, target)
        names = self._columns_of(place)[1 if edition else 0 :]
        shown = [self._text.format(self.quoted(name)) for name in names]
        order = ", ".join(text + self._nulls for text in shown)
        where = self._of_edition(edition)
        sql = f"SELECT {', '.join(shown)} FROM {self.quoted(*place)} {where} ORDER BY {order}"
        with self._withheld():
            yield from self._streamed(sql)


_TRIED = "tried"
"""The column of a table that is made where an engine makes none of a text without its rows."""


def _declared(column: tuple[str, str]) -> tuple[str, str]:
    """A column as it is declared, without what an engine knows of its values."""
    return column[0], column[1].partition("/")[0]


class Transactional(Warehouse):
    """An engine that makes a table in a transaction, which ends or is taken back."""

    _connection: Any
    _error: ClassVar[type[Exception]]
    """What its driver raises."""
    appends = True

    def check_writes(self, target: Name, query: str, *, added: bool = False) -> None:
        """Meet a right that is missing beside ``target`` before it is charged.

        A table without rows is made there of the text and commented, and taken back. Where its rows
        are to be ``added``, its columns are those of the table.

        Raises:
            WarehouseError: no table can be made or commented there, or it has others.
        """
        tried = (*target[:-1], f"policy_engine_try_{token_hex(4)}")
        with self._taken_back():
            text = self._typed(query) if added else self._emptied(query)
            self._made(partial(self._create, text), tried, "", replace=False)
            self._compare(tried, target, added=added)

    @contextmanager
    def _taken_back(self) -> Iterator[None]:
        """Take back what the body did; what the transaction read before stays as it was read."""
        with self._withheld():
            self._connection.execute("SAVEPOINT policy_engine_try")
        try:
            yield
        finally:
            with suppress(self._error):
                self._connection.execute("ROLLBACK TO SAVEPOINT policy_engine_try")
                self._connection.execute("RELEASE SAVEPOINT policy_engine_try")

    def _add(
        self,
        make: Make,
        target: Name,
        comment: str,
        check: Callable[[], None],
        *,
        replace: bool,
        edition: str,
    ) -> None:
        part = (*target[:-1], f"policy_engine_part_{token_hex(4)}")
        try:
            self._made(make, part, "", replace=False)
            with self._withheld():
                self._into(part, target, comment, edition, replace=replace)
                self._gone(part)
            with Warehouse._withheld(self):
                check()
            self._stands(part, target, replace=replace)
        except BaseException:
            self._undone(part)
            raise

    def together(self, statements: Sequence[str], check: Callable[[], None]) -> None:
        """Run statements of ours in one transaction, which is undone if ``check`` raises."""
        try:
            with self._withheld():
                for statement in statements:
                    self._do(statement)
            check()
            with self._withheld():
                self._connection.commit()
        except BaseException:
            with suppress(self._error):
                self._connection.rollback()
            raise

    def _gone(self, place: Name) -> None:
        """Take away a table of ours."""
        self._do(f"DROP TABLE {self.quoted(*place)}")

    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        with self._withheld():
            self._connection.commit()

    def _undone(self, place: Name) -> None:
        with suppress(self._error):
            self._connection.rollback()


def read_of(policy: Policy, table: Table, relation: Table) -> tuple[str, ...]:
    """The columns of one of a source's relations that a release reads."""
    for each in table.beside:
        if each.table == relation:
            said = (*each.columns, *(name for name, _ in each.order), *(key for _, key in each.on))
            return tuple(column.name for name in said if (column := relation.find(name)))
    read = set(map(table.find, policy.reads))
    return tuple(column.name for column in table.columns if column in read)
