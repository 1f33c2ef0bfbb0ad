"""Trino and Athena, by their documentation: compiled and proved, and never run by us on them.

Sampling: Athena keeps the values of EXECUTE … USING in its history, so the secret is read from the
secrets relation. ``TABLESAMPLE BERNOULLI`` is documented as one random number a row
(trino.io/docs/current/sql/select.html). VARCHAR is compared by its code points, blanks included;
CHAR is padded, and has no meaning here. A plain TIMESTAMP has three digits of a second, so every
cast says six.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.snowflake import bernoulli
from policy_engine.dialects.standard import Standard


class Trino(Standard):
    """Trino, and Athena's third engine, which is Trino."""

    name = "trino"
    title = "Trino"
    vendor = "https://trino.io/docs/current/functions/binary.html"
    longest_name = 128
    hashed = (
        "LOWER(TO_HEX(SHA256(TO_UTF8(_s || ':o:' || CAST(_a AS VARCHAR) || ':' ||"
        " CAST(_b AS VARCHAR)))))"
    )
    as_moment = "CAST(_a AS TIMESTAMP(6))"
    first = "SUBSTR(_a, 1, _n)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "binary_text": "it has no collations; leave the collation out",
        "try_cast": "TRY_CAST reads other texts than other engines; give the column its type in"
        " the source",
        "repeat": "a select list repeats no row; use release.as: counts",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``LOWER(TO_HEX(SHA256(TO_UTF8(secret || ':u:' || unit)))) < 'T'``."""
        return self.written(
            "LOWER(TO_HEX(SHA256(TO_UTF8(_s || ':u:' || CAST(_a AS VARCHAR))))) < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """``TABLESAMPLE BERNOULLI (p)``."""
        return bernoulli(rate)

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``AT_TIMEZONE(x, 'UTC')``, and its clock without the zone."""
        return self.written("CAST(AT_TIMEZONE(_a, 'UTC') AS TIMESTAMP(6))", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``IS_NAN(x)``."""
        return self.written("IS_NAN(_a)", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATE_TRUNC('unit', x)``; a week starts on Monday."""
        text = f"DATE_TRUNC('{unit}', _a)"
        return self.written(f"CAST({text} AS DATE)" if is_date else text, a=node)
