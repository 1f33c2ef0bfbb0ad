"""DuckDB 2.0 and later.

Sampling: ``TABLESAMPLE BERNOULLI`` was measured sound for 2.0 (64-bit seed per thread); the
plain percentage is SYSTEM there, by blocks, and is never written. The drawn sample is a
relation of row numbers or keys.
"""

from __future__ import annotations

from decimal import MAX_PREC, Context, Decimal

from sqlglot import exp

from policy_engine.dialects.base import Dialect


class DuckDB(Dialect):
    """The embedded default."""

    name = "duckdb"

    def file(self, path: str, *, numbered: bool) -> exp.Expr:
        """``READ_PARQUET('path', file_row_number = TRUE)``."""
        arguments: list[exp.Expr] = [exp.Literal.string(path)]
        if numbered:
            arguments.append(exp.EQ(this=exp.column("file_row_number"), expression=exp.true()))
        return exp.Table(this=exp.ReadParquet(expressions=arguments))

    def row_number(self, *, is_file: bool) -> str:
        """``file_row_number`` of a Parquet file, ``rowid`` of a table."""
        return "file_row_number" if is_file else "rowid"

    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """``TABLESAMPLE BERNOULLI (p PERCENT)``."""
        sign, digits, exponent = rate.normalize(Context(prec=MAX_PREC)).as_tuple()
        percent = Decimal((sign, digits, int(exponent) + 2))
        literal = exp.Literal.number(f"{percent:f}")
        return exp.TableSample(method=exp.var("BERNOULLI"), percent=literal)

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE "binary"``: a cast would keep the column's collation."""
        return exp.Collate(this=node, expression=exp.column("binary", quoted=True))

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``x AT TIME ZONE 'UTC'``."""
        return exp.AtTimeZone(this=node, zone=exp.Literal.string("UTC"))

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``ISNAN(x)``; without it NaN would pass as greater than every number."""
        return exp.IsNan(this=node)

    def truncate(self, node: exp.Expr, unit: str) -> exp.Expr:
        """``DATE_TRUNC('UNIT', x)``."""
        return exp.TimestampTrunc(this=node, unit=exp.var(unit.upper()))

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """``UNNEST(RANGE(n))``."""
        series = exp.GenerateSeries(start=exp.Literal.number(0), end=count, is_end_exclusive=True)
        return exp.Explode(this=series)

    def sql(self, node: exp.Expr) -> str:
        """Indented, keywords in upper case."""
        return node.sql(dialect="duckdb", pretty=True)
