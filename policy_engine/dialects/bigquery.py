"""BigQuery, by its documentation: compiled and proved, and never run by us on BigQuery.

Sampling: the values of named parameters stay in a job's metadata, so the secret is read from the
secrets relation. ``TABLESAMPLE SYSTEM`` takes blocks, and there is no other.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard

_UNITS = {"week": "ISOWEEK"}
# NUMERIC has nine digits behind the point; a literal of fifteen digits is that number exactly.
_MOST_DECIMALS = 9
_TEXTS = {
    "BOOLEAN": "CASE WHEN _a THEN 'true' WHEN NOT _a THEN 'false' END",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), "FORMAT('%d', _a)"),
}


class BigQuery(Standard):
    """BigQuery (GoogleSQL); what becomes text says of which type it is."""

    name = "bigquery"
    title = "BigQuery"
    vendor = "https://cloud.google.com/bigquery/docs/reference/standard-sql/hash_functions"
    longest_name = 300
    hashed = "TO_HEX(SHA256(_s || ':o:' || CAST(_a AS STRING) || ':' || CAST(_b AS STRING)))"
    as_double = "CAST(_a AS FLOAT64)"
    as_whole = "CAST(_a AS INT64)"
    as_exact = "CAST(_a AS NUMERIC)"
    as_step = "CAST(_s AS NUMERIC)"
    as_moment = "CAST(_a AS DATETIME)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "TABLESAMPLE SYSTEM takes blocks of rows, not rows; use method: keyed",
        "try_cast": "SAFE_CAST reads other texts than other engines; give the column its type in"
        " the source",
        "repeat": "a select list repeats no row; use release.as: counts",
        "text of another type": "the text of a decimal, a day or a UUID differs from other"
        " engines'; use bins, round or truncate",
        "round to so small a part": "NUMERIC has nine digits behind the point; use a plainer step",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``TO_HEX(SHA256(secret || ':u:' || CAST(unit AS STRING))) < 'T'``: lower-case hex."""
        return self.written(
            "TO_HEX(SHA256(_s || ':u:' || CAST(_a AS STRING))) < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``COLLATE(x, '')``: no collation, so by its code points."""
        return self.written("COLLATE(_a, '')", a=node)

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """``COLLATE(x, '')``."""
        return self.binary_text(node)

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """``FORMAT('%d', x)`` of a whole number; a text is a text, whatever it may hold."""
        if kind.startswith("ENUM"):
            return node
        if kind not in _TEXTS:
            raise self._undefined("text of another type")
        return self.written(_TEXTS[kind], a=node)

    def round(
        self, node: exp.Expr, step: Decimal, digits: int, *, below: Decimal, is_whole: bool
    ) -> exp.Expr:
        """As elsewhere; the step is a NUMERIC, for a plain 0.1 is a floating-point number."""
        if not is_whole and digits > _MOST_DECIMALS:
            raise self._undefined("round to so small a part")
        return super().round(node, step, digits, below=below, is_whole=is_whole)

    def exact(self, number: Decimal) -> exp.Expr | None:
        """Not known: beside a NUMERIC a plain 0.1 may be a floating-point number."""
        return None

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``DATETIME(x, 'UTC')``."""
        return self.written("DATETIME(_a, 'UTC')", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``IS_NAN(x)``."""
        return self.written("IS_NAN(_a)", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATETIME_TRUNC(x, UNIT)``; ISOWEEK starts on Monday, WEEK on Sunday."""
        part = _UNITS.get(unit, unit.upper())
        text = f"DATETIME_TRUNC(CAST(_a AS DATETIME), {part})"
        return self.written(f"CAST({text} AS DATE)" if is_date else text, a=node)
