"""Snowflake, by its documentation: compiled and proved, and never run by us on Snowflake itself.

Sampling: the secret is a session variable, so it stands in no text. ``SAMPLE BERNOULLI`` is
documented as a weighted coin for each row (docs.snowflake.com/sql-reference/constructs/sample);
``RANDOM()`` is a 64-bit integer there, and is never written. Names are quoted as the catalog spells
them, for an unquoted one is folded to upper case.
"""

from __future__ import annotations

from decimal import MAX_PREC, Context, Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard

SALT = "policy_engine_salt"
"""The session variable that holds the secret, as 32 hexadecimal digits."""


def bernoulli(rate: Decimal) -> exp.TableSample:
    """``TABLESAMPLE BERNOULLI (p)``, where p is a percentage, exactly.

    >>> bernoulli(Decimal("0.125")).sql("trino").strip()
    'TABLESAMPLE BERNOULLI (12.5)'
    """
    sign, digits, exponent = rate.normalize(Context(prec=MAX_PREC)).as_tuple()
    percent = Decimal((sign, digits, int(exponent) + 2))
    return exp.TableSample(method=exp.var("BERNOULLI"), percent=exp.Literal.number(f"{percent:f}"))


class Snowflake(Standard):
    """Snowflake; ``CAST(x AS VARCHAR)`` of a day follows a parameter of the session."""

    name = "snowflake"
    title = "Snowflake"
    vendor = "https://docs.snowflake.com/en/sql-reference/functions/sha2"
    longest_name = 255
    bound = f"${SALT}"
    hashed = "SHA2(_s || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR), 256)"
    as_moment = "CAST(_a AS TIMESTAMPNTZ)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "try_cast": "TRY_CAST takes texts only; give the column its type in the source",
        "repeat": "no function repeats a row as often as a column says; use release.as: counts",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``SHA2($secret || ':u:' || CAST(unit AS VARCHAR), 256) < 'T'``: lower-case hex."""
        return self.written(
            "SHA2(_s || ':u:' || CAST(_a AS VARCHAR), 256) < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """``TABLESAMPLE BERNOULLI (p)``."""
        return bernoulli(rate)

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``COLLATE(x, '')``: no collation, so by its UTF-8 bytes."""
        return self.written("COLLATE(_a, '')", a=node)

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """``COLLATE(x, '')``."""
        return self.binary_text(node)

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``CONVERT_TIMEZONE('UTC', x)``, and its clock without the zone."""
        return self.written("CAST(CONVERT_TIMEZONE('UTC', _a) AS TIMESTAMPNTZ)", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``x = 'NaN'``: here a NaN equals itself."""
        return self.written("_a = CAST('NaN' AS DOUBLE)", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATE_TRUNC('unit', x)``; weeks start as the session says, which is assumed."""
        text = f"DATE_TRUNC('{unit}', _a)"
        return self.written(f"CAST({text} AS DATE)" if is_date else text, a=node)
