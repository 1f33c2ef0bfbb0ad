"""DataFusion 50 and later (measured: 55), over a folder of Parquet files.

``TABLESAMPLE`` is parsed and ignored: every row is kept (sampling.md). Its own dates and times are
counted in nanoseconds, which is an error outside 1677 to 2262; so a time is a time in microseconds
here, and is truncated by arithmetic. https://datafusion.apache.org/user-guide/sql/
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from types import MappingProxyType
from typing import ClassVar

from sqlglot import exp
from sqlglot.generators.postgres import PostgresGenerator

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.numbers import digits_of, places
from policy_engine.dialects.standard import Standard
from policy_engine.errors import UsageError

SALT = "salt"
"""The query's parameter that holds the secret, as 32 hexadecimal digits."""

_MICROS = "'Timestamp(Microsecond, None)'"
_OF_DAYS = {
    "year": "MAKE_DATE(EXTRACT(YEAR FROM _a), 1, 1)",
    "quarter": "MAKE_DATE(EXTRACT(YEAR FROM _a), EXTRACT(QUARTER FROM _a) * 3 - 2, 1)",
    "month": "MAKE_DATE(EXTRACT(YEAR FROM _a), EXTRACT(MONTH FROM _a), 1)",
    # Day 0 is a Thursday.
    "week": "ARROW_CAST(CAST(_a AS INT) - ((CAST(_a AS INT) + 3) % 7 + 7) % 7, 'Date32')",
    "day": "_a",
}
_PER_HOUR = 3_600_000_000
_HOUR = (
    f"ARROW_CAST(CAST(_a AS BIGINT) - (CAST(_a AS BIGINT) % {_PER_HOUR} + {_PER_HOUR})"
    f" % {_PER_HOUR}, {_MICROS})"
)
_ENDS = (date(1, 1, 1), date(9999, 12, 31))


class _Text(PostgresGenerator):
    """The text of a node: the parser's PostgreSQL has no TRY_CAST, and writes CAST for it."""

    TRANSFORMS: ClassVar = {
        **PostgresGenerator.TRANSFORMS,
        exp.TryCast: lambda self, node: self.func(
            "TRY_CAST", f"{self.sql(node, 'this')} AS {self.sql(node, 'to')}"
        ),
        exp.IsNan: lambda self, node: self.func("ISNAN", node.this),
    }


class DataFusion(Standard):
    """DataFusion; a text is compared by its bytes."""

    name = "datafusion"
    title = "DataFusion"
    vendor = "https://datafusion.apache.org/user-guide/sql/scalar_functions.html"
    parser = "postgres"
    longest_name = 200
    bound = f"${SALT}"
    hashed = (
        "encode(sha256(_s || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR)), 'hex')"
    )
    as_whole = "TRY_CAST(_a AS BIGINT)"
    as_exact = "TRY_CAST(_a AS DECIMAL(18, _d))"
    as_step = "CAST(_w AS DECIMAL(18, _d))"
    as_moment = f"ARROW_CAST(_a, {_MICROS})"
    lacks = MappingProxyType({
        "file": "its tables are the files of its folder; name one in source.relation",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "TABLESAMPLE is ignored, and keeps every row; use method: keyed",
        "try_cast": "a cast can fail on a row; give the column its type in the file",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``encode(sha256($salt || ':u:' || unit), 'hex') < 'T'``."""
        return self.written(
            "encode(sha256(_s || ':u:' || CAST(_a AS VARCHAR)), 'hex') < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """As it is: no column has a collation."""
        return node

    def exact(self, number: Decimal) -> exp.Expr | None:
        """``CAST('0.1' AS DECIMAL(18, 1))``: a plain 0.1 is a floating-point number."""
        return self.written(f"CAST(_w AS DECIMAL(18, {places(number)}))", w=digits_of(number))

    def utc(self, node: exp.Expr) -> exp.Expr:
        """The warehouse reads every time with zone as one in UTC; here the zone is left out."""
        return self.written(f"ARROW_CAST(_a, {_MICROS})", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``ISNAN(x)``."""
        return self.written("ISNAN(_a)", a=node)

    def midnight(self, value: date) -> exp.Expr:
        """A time; beside a day, a time would be counted in nanoseconds."""
        if value not in _ENDS:
            raise UsageError(
                f"DataFusion compares no time with a day: write {value} 00:00:00 in the bins"
            )
        return self.moment(datetime.combine(value, time()))

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """By the parts of a day, or by arithmetic: DATE_TRUNC is in nanoseconds."""
        if is_date:
            return self.written(_OF_DAYS[unit], a=node)
        if unit == "hour":
            return self.written(_HOUR, a=node)
        text = f"ARROW_CAST({_OF_DAYS[unit]}, {_MICROS})".replace("_a", "CAST(_a AS DATE)")
        return self.written(text, a=node)

    def total(self, count: exp.Expr) -> exp.Expr:
        """As it is: a sum of counts is a BIGINT."""
        return count

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """``UNNEST(RANGE(0, n))``."""
        return self.written("UNNEST(RANGE(0, _a))", a=count)

    def sql(self, node: exp.Expr) -> str:
        """The text of ``node``; a CTE has no hints here."""
        node = node.copy()
        for step in node.find_all(exp.CTE):
            step.set("materialized", None)
        return str(_Text(pretty=True, dialect=self.parser or self.name).generate(node))
