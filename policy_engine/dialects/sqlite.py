"""SQLite 3.37 and later, tables declared STRICT only.

It has no SHA-256: the connection defines ``policy_engine_sha256``, and the known-answer test asks
it. ``RANDOM()`` is a whole number of 64 bits, so ``RANDOM() < 0.05`` keeps half (sampling.md).
Names stand in backticks: one in double quotes that no column has would be a text.
https://www.sqlite.org/quirks.html
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp
from sqlglot.generators.sqlite import SQLiteGenerator

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard
from policy_engine.errors import UsageError

SALT = "salt"
"""The parameter that holds the secret, as 32 hexadecimal digits."""
HASH = "policy_engine_sha256"
"""The function that our connection defines: of bytes, the SHA-256 as 64 hexadecimal digits."""
_NO_DATES = "it has no dates and times; use prefix on a date that stands as text"


class _Text(SQLiteGenerator):
    """The text of a node, its names in backticks."""

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """```name```."""
        name = expression.name
        if "`" in name:
            raise UsageError("SQLite: the name of a table or column must have no backtick")
        return f"`{name}`" if expression.args.get("quoted") else name


class SQLite(Standard):
    """SQLite; a text is told its collation where bytes must decide."""

    name = "sqlite"
    title = "SQLite"
    vendor = "https://www.sqlite.org/lang_expr.html"
    longest_name = 200
    bound = f":{SALT}"
    hashed = f"{HASH}(CAST(_s || ':o:' || CAST(_a AS TEXT) || ':' || CAST(_b AS TEXT) AS BLOB))"
    as_text = "CAST(_a AS TEXT)"
    as_double = "CAST(_a AS REAL)"
    as_whole = "CAST(_a AS INTEGER)"
    # At a NUL it stops: of such a text it would make another's first characters.
    first = "CASE WHEN INSTR(_a, CHAR(0)) = 0 THEN SUBSTR(_a, 1, _n) END"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "it has no TABLESAMPLE, and RANDOM() is no number below 1;"
        " use method: keyed",
        "try_cast": "a cast reads 'x' as 0; keep numbers in columns of numbers, and recode a day"
        " that stands as text with prefix",
        "utc": _NO_DATES,
        "truncate": _NO_DATES,
        "day": _NO_DATES,
        "moment": _NO_DATES,
        "repeat": "it has no function that repeats a row; release counts",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``policy_engine_sha256(CAST(:salt || ':u:' || unit AS BLOB)) < 'T'``."""
        return self.written(
            f"{HASH}(CAST(_s || ':u:' || CAST(_a AS TEXT) AS BLOB)) < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE BINARY``."""
        return self.written("_a COLLATE BINARY", a=node)

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE BINARY``."""
        return self.binary_text(node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``x <> x``, which is never so: a NaN is stored as NULL."""
        return self.written("_a <> _a", a=node)

    def round(
        self, node: exp.Expr, step: Decimal, digits: int, *, below: Decimal, is_whole: bool
    ) -> exp.Expr:
        """Of whole numbers to whole steps, for it has no decimal numbers."""
        if not is_whole:
            raise UsageError("SQLite has no decimal numbers to round to; use bins")
        return super().round(node, step, digits, below=below, is_whole=is_whole)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """It has no dates."""
        raise self._undefined("truncate")

    def day(self, value: object) -> exp.Expr:
        """It has no dates."""
        raise self._undefined("day")

    def moment(self, value: object) -> exp.Expr:
        """It has no times."""
        raise self._undefined("moment")

    def sql(self, node: exp.Expr) -> str:
        """The text of ``node``."""
        return str(_Text(pretty=True, dialect=self.parser or self.name).generate(node))
