"""PostgreSQL 15 and later (measured: 18).

Sampling: the secret is a setting of the session that only its own statements read, so it stands in
no text. ``TABLESAMPLE BERNOULLI`` has a seed of 32 bits, found in 328 s from a known sample, and a
parallel join draws one sample a process (sampling.md).
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard

SALT = "policy_engine.salt"
"""The setting that holds the secret, as 32 hexadecimal digits."""


class Postgres(Standard):
    """PostgreSQL; every text is told its collation where bytes must decide."""

    name = "postgres"
    title = "PostgreSQL"
    vendor = "https://www.postgresql.org/docs/current/functions-binarystring.html"
    longest_name = 63
    says_inline = True
    bound = f"current_setting('{SALT}')"
    hashed = (
        "sha256(convert_to(_s || ':o:' || CAST(_a AS TEXT) || ':' || CAST(_b AS TEXT), 'UTF8'))"
    )
    as_text = "CAST(_a AS TEXT)"
    as_double = "CAST(_a AS DOUBLE PRECISION)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "TABLESAMPLE has a seed of 32 bits, found in minutes; use method: keyed",
        "try_cast": "a cast can fail on a row; give the column its type in the source",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``sha256(convert_to(secret || ':u:' || unit, 'UTF8')) < decode('T', 'hex')``."""
        return self.written(
            "sha256(convert_to(_s || ':u:' || CAST(_a AS TEXT), 'UTF8')) < decode(_t, 'hex')",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate) + "0"),
        )

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE "C"``."""
        return self.written('_a COLLATE "C"', a=node)

    def kept(self, node: exp.Expr, kind: str) -> exp.Expr:
        """A decimal number; a NaN, which is above all others, has no place in a file."""
        if kind.upper().startswith("DECIMAL"):
            nothing = f"CAST(NULL AS {kind})"
            return self.written(
                f"CASE WHEN _a < CAST('NaN' AS DECIMAL) THEN _a ELSE {nothing} END", a=node
            )
        return node

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE "C"``."""
        return self.binary_text(node)

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``x AT TIME ZONE 'UTC'``."""
        return self.written("_a AT TIME ZONE 'UTC'", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``x = 'NaN'``: here a NaN equals itself."""
        return self.written("_a = CAST('NaN' AS DOUBLE PRECISION)", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATE_TRUNC('unit', x)``, of a date as a time without zone."""
        text = f"DATE_TRUNC('{unit}', CAST(_a AS TIMESTAMP))"
        return self.written(f"CAST({text} AS DATE)" if is_date else text, a=node)

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """``GENERATE_SERIES(1, n)``."""
        return self.written("GENERATE_SERIES(1, _a)", a=count)
