"""What every dialect guarantees the compiler, and the dialects that are held to it.

A new dialect subclasses ``DialectContract`` and provides ``dialect`` and ``values``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Context, Decimal

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from policy_engine.dialects import DIALECTS, Dialect, dialect_named
from policy_engine.dialects.base import OPERATIONS
from policy_engine.errors import UsageError

UNITS = ("year", "quarter", "month", "week", "day", "hour")


class DialectContract(ABC):
    """The operations of a dialect mean, on the engine, what their docstrings say."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The dialect under test."""

    @abstractmethod
    def values(self, source: str, *expressions: str) -> list[tuple]:
        """The rows of ``SELECT expressions FROM source``, as Python values."""

    def value(self, node: exp.Expr, x: str) -> object:
        """``node``, a function of the column x, where x is the SQL value ``x``."""
        [(found,)] = self.values(f"(SELECT {x} AS x) AS one", self.dialect.sql(node))
        return found

    @property
    def x(self) -> exp.Column:
        return exp.column("x", quoted=True)

    def test_it_is_listed_under_its_name(self):
        assert dialect_named(self.dialect.name) is DIALECTS[self.dialect.name]
        assert type(dialect_named(self.dialect.name)) is type(self.dialect)

    @pytest.mark.parametrize("x", ["'NaN'::DOUBLE", "'nan'::FLOAT"])
    def test_not_a_number_is_told_from_numbers(self, x):
        assert self.value(self.dialect.is_nan(self.x), x) is True
        for number in ("1e308", "'inf'::DOUBLE", "'-inf'::DOUBLE", "-0.0::DOUBLE"):
            assert self.value(self.dialect.is_nan(self.x), number) is False

    @pytest.mark.parametrize(
        ("unit", "start"),
        [
            ("year", "1969-01-01 00:00:00"),
            ("quarter", "1969-10-01 00:00:00"),
            ("month", "1969-11-01 00:00:00"),
            ("week", "1969-11-03 00:00:00"),
            ("day", "1969-11-09 00:00:00"),
            ("hour", "1969-11-09 23:00:00"),
        ],
    )
    def test_a_moment_is_truncated_to_the_start_of_its_unit(self, unit, start):
        node = self.dialect.truncate(self.x, unit, is_date=False)
        assert str(self.value(node, "'1969-11-09 23:59:59.9'::TIMESTAMP")) == start

    @pytest.mark.parametrize("zone", ["+00", "+05:45", "-11"])
    def test_a_time_with_zone_is_read_in_utc(self, zone):
        node = exp.cast(self.dialect.utc(self.x), "text")
        found = self.value(node, f"'2020-01-01 00:00:00{zone}'::TIMESTAMPTZ")
        wanted = {"+00": "2020-01-01 00:00:00", "+05:45": "2019-12-31 18:15:00"}
        assert found == wanted.get(zone, "2020-01-01 11:00:00")

    def test_binary_text_is_compared_letter_by_letter(self):
        node = self.dialect.sql(self.dialect.binary_text(self.x))
        found = self.values(self.collated(["A", "a", "a "]), node, "count(*)")
        assert sorted(found) == [("A", 1), ("a", 1), ("a ", 1)]

    def collated(self, texts: list[str]) -> str:
        """A relation of ``texts`` as x, in a column whose collation ignores case; and grouped."""
        raise NotImplementedError

    def test_a_row_is_repeated_as_often_as_its_count(self):
        node = self.dialect.sql(self.dialect.repeat(self.x))
        for count in (0, 1, 3):
            found = self.values(f"(SELECT CAST({count} AS BIGINT) AS x) AS one", '"x"', node)
            assert [row[0] for row in found] == [count] * count

    @pytest.mark.parametrize("rate", ["0.1", "0.5", "1e-9", "0.123456789012345678901234567890123"])
    def test_native_sampling_is_by_rows_at_exactly_the_rate(self, rate):
        text = self.dialect.sql(self.dialect.native_sample(Decimal(rate)))
        assert "BERNOULLI" in text
        assert "REPEATABLE" not in text
        percent = text.partition("(")[2].partition(" ")[0]
        assert Decimal(percent).scaleb(-2, context=_EXACT) == Decimal(rate)

    @pytest.mark.parametrize("name", ["select", 'a"b', "a.b", '"; drop table x; --', "n", "é"])
    def test_any_identifier_and_literal_survives(self, name):
        text = self.dialect.sql(exp.alias_(exp.Literal.string(name + "'"), name, quoted=True))
        parsed = sqlglot.parse_one(f"SELECT {text}", dialect=self.dialect.name)
        assert parsed.selects[0].alias == name
        assert parsed.selects[0].this.name == name + "'"
        assert self.values("(SELECT 1) AS one", text) == [(name + "'",)]


_EXACT = Context(prec=100)


class TestDuckDB(DialectContract):
    @property
    def dialect(self) -> Dialect:
        return dialect_named("duckdb")

    def values(self, source: str, *expressions: str) -> list[tuple]:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'America/New_York'")
            connection.execute("CREATE TABLE texts (x VARCHAR COLLATE nocase)")
            connection.execute("INSERT INTO texts VALUES ('A'), ('a'), ('a ')")
            grouped = f" GROUP BY {expressions[0]}" if "count(*)" in expressions else ""
            sql = f"SELECT {', '.join(expressions)} FROM {source}{grouped}"
            return connection.execute(sql).fetchall()

    def collated(self, texts: list[str]) -> str:
        assert texts == ["A", "a", "a "]
        return "texts"

    def test_files_and_tables_number_their_rows(self, tmp_path):
        path = str(tmp_path / "it's.parquet")
        with duckdb.connect() as connection:
            copied = path.replace("'", "''")
            connection.execute(f"COPY (SELECT range AS x FROM range(3)) TO '{copied}'")
        file = self.dialect.sql(self.dialect.file(path, numbered=True))
        number = self.dialect.row_number(is_file=True)
        assert self.values(file, "x", number) == [(0, 0), (1, 1), (2, 2)]
        bare = self.dialect.sql(self.dialect.file(path, numbered=False))
        assert self.values(bare, "*") == [(0,), (1,), (2,)]
        number = self.dialect.row_number(is_file=False)
        assert self.values("texts", number, "x") == [(0, "A"), (1, "a"), (2, "a ")]


def test_a_dialect_without_an_operation_cannot_be_made():
    reasons = dict.fromkeys(OPERATIONS, "for a reason")
    del reasons["native_sample"]
    with pytest.raises(TypeError, match="defines no native_sample, and gives no reason"):
        type("Unfinished", (Dialect,), {"name": "unfinished", "lacks": reasons})


def test_what_a_dialect_lacks_is_raised_with_the_reason():
    lacks = dict.fromkeys(OPERATIONS, "why")
    lacking = type("Lacking", (Dialect,), {"name": "x", "title": "X", "lacks": lacks})()
    with pytest.raises(UsageError, match="X does not define native_sample: why"):
        lacking.native_sample(Decimal("0.1"))


def test_an_unknown_dialect_is_told_with_the_known_ones():
    with pytest.raises(UsageError, match=r"the dialect must be one of duckdb, .*found 'oracle'"):
        dialect_named("oracle")
