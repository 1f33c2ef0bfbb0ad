"""ClickHouse 26.9 and later (measured: 26.9, embedded).

Conversions are functions: ``CAST(x AS String)`` of a NULL is an error, ``toString(x)`` of it is
NULL. ``SAMPLE`` takes the same rows at every reading, and several ``rand()`` of one query are one
(sampling.md). https://clickhouse.com/docs/sql-reference/statements/select/sample
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp
from sqlglot.generators.clickhouse import ClickHouseGenerator

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.numbers import digits_of, places
from policy_engine.dialects.standard import SIGNED, Standard
from policy_engine.errors import UsageError

SALT = "salt"
"""The query's parameter that holds the secret, as 32 hexadecimal digits."""

# Both branches may be computed of any row: what is not in range is 0 before it is converted.
_COUNTED = f"toInt64(CASE WHEN abs(_a) < _l THEN {SIGNED} ELSE 0 END)"
_STARTS = {
    "year": "makeDate32(toYear(_a), 1, 1)",
    "quarter": "makeDate32(toYear(_a), toQuarter(_a) * 3 - 2, 1)",
    "month": "makeDate32(toYear(_a), toMonth(_a), 1)",
    "week": "subtractDays(toDate32(_a), toDayOfWeek(_a) - 1)",
    "day": "toDate32(_a)",
}


class _Text(ClickHouseGenerator):
    """The text of a node; a parameter has no space, for a name and its type are one token here."""

    def placeholder_sql(self, expression: exp.Placeholder) -> str:
        """``{salt:String}``."""
        return f"{{{expression.name}:{self.sql(expression, 'kind')}}}"


class ClickHouse(Standard):
    """ClickHouse; a String is compared by its bytes."""

    name = "clickhouse"
    title = "ClickHouse"
    vendor = "https://clickhouse.com/docs/sql-reference/functions/hash-functions"
    longest_name = 200
    as_text = "toString(_a)"
    bound = f"{{{SALT}:String}}"
    hashed = "lower(hex(SHA256(_s || ':o:' || toString(_a) || ':' || toString(_b))))"
    as_double = "toFloat64(_a)"
    as_whole = "toInt64(_a)"
    as_exact = "_a"
    as_step = "toDecimal64(_w, _d)"
    as_day = "toDate32(_a)"
    as_moment = "toDateTime64(_a, 6, 'UTC')"
    first = "leftUTF8(_a, _n)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "SAMPLE takes the same rows at every reading; use method: keyed",
        "try_cast": "a cast can fail on a row; give the column its type in the source",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``lower(hex(SHA256({salt:String} || ':u:' || toString(unit)))) < 'T'``."""
        return self.written(
            "lower(hex(SHA256(_s || ':u:' || toString(_a)))) < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """As it is: no column has a collation."""
        return node

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """``toString(x)``, but not of a decimal number, whose trailing zeros it drops."""
        if kind.upper().startswith("DECIMAL"):
            raise UsageError(
                "ClickHouse writes 2.50 as 2.5, so no label fits a decimal number on every engine;"
                " use bins or round"
            )
        return super().text(node, kind)

    def _counted(self, *, is_whole: bool) -> str:
        """As in Standard, times an exact number: a cast of 0.29 cuts it to 0.28."""
        return f"{_COUNTED} * {'_s' if is_whole else self.as_step}"

    def exact(self, number: Decimal) -> exp.Expr | None:
        """``toDecimal128('0.1', 1)``: a plain 0.1 is a floating-point number."""
        return self.written(f"toDecimal128(_w, {places(number)})", w=digits_of(number))

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``toTimeZone(x, 'UTC')``."""
        return self.written("toTimeZone(_a, 'UTC')", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``isNaN(x)``."""
        return self.written("isNaN(_a)", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """From the parts of a date: toStartOfYear() of a day before 1970 is a day of 1970."""
        if is_date:
            return self.written(_STARTS[unit], a=node)
        day = "toDate32(_a, 'UTC')"
        if unit == "hour":
            text = f"addHours(toDateTime64({day}, 6, 'UTC'), toHour(_a, 'UTC'))"
        else:
            text = f"toDateTime64({_STARTS[unit].replace('toDate32(_a)', '_a')}, 6, 'UTC')"
            text = text.replace("_a", day)
        return self.written(text, a=node)

    def ordered(self, node: exp.Expr, *, descending: bool = False, text: bool) -> list[exp.Expr]:
        """``x = x, x DESC``: the first is false of NaN, which DESC puts behind the numbers."""
        terms = super().ordered(node, descending=descending, text=text)
        if text or not descending:
            return terms
        equal = exp.EQ(this=node.copy(), expression=node.copy())
        return [exp.Ordered(this=equal, nulls_first=False), *terms]

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """``arrayJoin(range(n))``."""
        return self.written("arrayJoin(range(_a))", a=count)

    def sql(self, node: exp.Expr) -> str:
        """The text of ``node``: a CTE without hints, and a count as a whole number with a sign."""
        node = node.copy()
        for step in node.find_all(exp.CTE):
            step.set("materialized", None)
        for item in list(node.find_all(exp.Alias)):
            if isinstance(item.this, exp.Count):
                item.set("this", self.written("toInt64(_a)", a=item.this))
        return str(_Text(pretty=True, dialect=self.parser or self.name).generate(node))
