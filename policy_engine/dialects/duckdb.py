"""DuckDB 2.0 and later.

Sampling: ``TABLESAMPLE BERNOULLI`` was measured sound for 2.0 (64-bit seed per thread); the
plain percentage is SYSTEM there, by blocks, and is never written. The drawn sample is a
relation of row numbers or keys.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import MAX_PREC, Context, Decimal

from sqlglot import exp

from policy_engine.dialects.base import Dialect, hex_threshold, sample_relation
from policy_engine.dialects.numbers import number_literal
from policy_engine.dialects.written import written

_BOUND = exp.Placeholder(this="salt")
_HASHED = "SHA256(_s || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR))"
_KEYED = "SHA256(_s || ':u:' || CAST(_a AS VARCHAR)) < _t"
# What is NaN, infinite or beyond the limit becomes NULL instead of an error.
_ROUNDED = "TRY_CAST(CASE WHEN ABS(_a) < _l THEN CAST(ROUND(_a / _s) AS BIGINT) * _s END AS {})"


class DuckDB(Dialect):
    """The embedded default."""

    name = "duckdb"
    title = "DuckDB"
    vendor = "https://duckdb.org/docs/stable/sql/query_syntax/sample"
    longest_name = 1 << 16
    says_inline = True

    def file(self, path: str, *, numbered: bool) -> exp.Expr:
        """``READ_PARQUET('path', file_row_number = TRUE)``.

        Of a folder the names are never read as values: their types would depend on which there are.
        """
        arguments: list[exp.Expr] = [exp.Literal.string(path)]
        if numbered:
            arguments.append(exp.EQ(this=exp.column("file_row_number"), expression=exp.true()))
        if "*" in path:
            arguments.append(exp.EQ(this=exp.column("hive_partitioning"), expression=exp.false()))
        return exp.Table(this=exp.ReadParquet(expressions=arguments))

    def row_number(self, *, is_file: bool) -> str:
        """``file_row_number`` of a Parquet file, ``rowid`` of a table."""
        return "file_row_number" if is_file else "rowid"

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``unit IN (SELECT "unit" FROM "policy_engine_sample_T")``: drawn outside the query.

        With a secret to ask for, ``SHA256(secret || ':u:' || CAST(unit AS VARCHAR)) < 'T'``.
        """
        if secret is not None:
            bound = exp.Literal.string(hex_threshold(rate))
            return written("duckdb", _KEYED, s=secret, a=unit, t=bound)
        relation = exp.to_table(sample_relation(rate), quoted=True)
        drawn = exp.select(exp.column("unit", quoted=True)).from_(relation)
        return exp.In(this=unit, query=exp.Subquery(this=drawn))

    def row_hash(self, unit: exp.Expr, place: exp.Expr, secret: exp.Expr | None = None) -> exp.Expr:
        """``SHA256($salt || ':o:' || unit || ':' || place)``."""
        return written("duckdb", _HASHED, s=secret or _BOUND, a=unit, b=place)

    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """``TABLESAMPLE BERNOULLI (p PERCENT)``."""
        sign, digits, exponent = rate.normalize(Context(prec=MAX_PREC)).as_tuple()
        percent = Decimal((sign, digits, int(exponent) + 2))
        literal = exp.Literal.number(f"{percent:f}")
        return exp.TableSample(method=exp.var("BERNOULLI"), percent=literal)

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE "binary"``: a cast would keep the column's collation."""
        return exp.Collate(this=node, expression=exp.column("binary", quoted=True))

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """``CAST(x AS TEXT)``, another name of VARCHAR."""
        return _cast(node, "VARCHAR")

    def prefix(self, node: exp.Expr, length: int) -> exp.Expr:
        """``LEFT(x, n)``."""
        return exp.Left(this=node, expression=exp.Literal.number(length))

    def double(self, node: exp.Expr) -> exp.Expr:
        """``CAST(x AS DOUBLE)``."""
        return _cast(node, "DOUBLE")

    def round(
        self, node: exp.Expr, step: Decimal, digits: int, *, below: Decimal, is_whole: bool
    ) -> exp.Expr:
        """``ROUND(x / s)`` steps, as whole numbers: their product is that of every engine."""
        kind = "BIGINT" if is_whole else f"DECIMAL(18, {digits})"
        return written(
            "duckdb",
            _ROUNDED.format(kind),
            a=self.double(node),
            s=number_literal(step),
            l=number_literal(below),
        )

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``x AT TIME ZONE 'UTC'``."""
        return exp.AtTimeZone(this=node, zone=exp.Literal.string("UTC"))

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``ISNAN(x)``; without it NaN would pass as greater than every number."""
        return exp.IsNan(this=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATE_TRUNC('UNIT', x)``, which is a time for some units of a date."""
        start = exp.TimestampTrunc(this=node, unit=exp.var(unit.upper()))
        return _cast(start, "DATE") if is_date else start

    def day(self, value: date) -> exp.Expr:
        """``CAST('2026-01-31' AS DATE)``."""
        return _cast(exp.Literal.string(str(value)), "DATE")

    def moment(self, value: datetime) -> exp.Expr:
        """``CAST('2026-01-31 12:00:00' AS TIMESTAMP)``."""
        return _cast(exp.Literal.string(value.isoformat(" ")), "TIMESTAMP")

    def try_cast(self, node: exp.Expr, kind: str) -> exp.Expr:
        """``TRY_CAST(x AS kind)``."""
        return exp.TryCast(this=node, to=exp.DataType.build(kind, dialect="duckdb"), safe=True)

    def total(self, count: exp.Expr) -> exp.Expr:
        """``CAST(SUM(n) AS BIGINT)``, for a sum is a HUGEINT."""
        return _cast(count, "BIGINT")

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """``UNNEST(RANGE(n))``."""
        series = exp.GenerateSeries(start=exp.Literal.number(0), end=count, is_end_exclusive=True)
        return exp.Explode(this=series)

    def ordered(self, node: exp.Expr, *, descending: bool = False, text: bool) -> list[exp.Expr]:
        """``x DESC NULLS LAST``; the connection sets no collation, so a text is its bytes."""
        return [exp.Ordered(this=node, desc=descending, nulls_first=False)]


def _cast(node: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=node, to=exp.DataType.build(kind, dialect="duckdb"))
