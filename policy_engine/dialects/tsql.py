"""SQL Server, by its documentation: compiled and proved, and never run by us on SQL Server.

Sampling: ``SESSION_CONTEXT`` takes texts with a prefix only, which the kernel does not read, so the
secret is read from the secrets relation. ``TABLESAMPLE SYSTEM`` takes pages. Texts are compared
with blanks at their end filled up, under every collation (support.microsoft.com/kb/316626), and by
most without their case: so texts of the source lose the blanks at their end and are compared by a
binary collation, as labels are, and none that are shown differ where they are equal.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard

BINARY = "Latin1_General_100_BIN2"
"""The collation of texts and labels: it compares code points."""
_WHOLE_CHARACTERS = "Latin1_General_100_CS_AS_SC"
"""A collation in which LEFT counts a pair of surrogates as one character."""
_STARTS = {
    "year": "DATEFROMPARTS(YEAR(_a), 1, 1)",
    "quarter": "DATEFROMPARTS(YEAR(_a), (MONTH(_a) - 1) / 3 * 3 + 1, 1)",
    "month": "DATEFROMPARTS(YEAR(_a), MONTH(_a), 1)",
    "day": "CAST(_a AS DATE)",
}
_TEXTS = "texts are compared by a collation, and without the blanks at their end"


class TSQL(Standard):
    """SQL Server 2019 and later, and Azure SQL; ORDER BY has no NULLS LAST, and says it by CASE."""

    name = "tsql"
    title = "SQL Server"
    vendor = "https://learn.microsoft.com/sql/t-sql/functions/hashbytes-transact-sql"
    longest_name = 128
    hashed = (
        "HASHBYTES('SHA2_256', CAST(_s AS VARCHAR(32)) + ':o:' + LOWER(CAST(_a AS VARCHAR(40))) +"
        " ':' + CAST(_b AS VARCHAR(20)))"
    )
    as_double = "CAST(_a AS FLOAT(53))"
    as_moment = "CAST(_a AS DATETIME2)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "TABLESAMPLE SYSTEM takes pages of rows, not rows; use method: keyed",
        "try_cast": "TRY_CAST follows the session's language; give the column its type in the"
        " source",
        "repeat": "a select list repeats no row; use release.as: counts",
        "create_table": "SELECT INTO stands inside a query, so the proved text would be edited;"
        " write release.path, and fill a table by INSERT ... EXECUTE of a procedure that holds"
        " the text",
        "text_column": f"{_TEXTS}, so that one would stand for another; keep codes as numbers, or"
        " leave it out",
        "truth_column": "it has no truth values, and shows 0 and 1; use an integer",
        "text": f"{_TEXTS}; use bins, round or truncate",
        "label": "a label, or a key of a map, must be ASCII and must not end in a blank;"
        " write it otherwise",
        "truncate to weeks and hours": "a week starts where the session says; use month or day",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``HASHBYTES('SHA2_256', secret + ':u:' + unit) < T``: bytes of ASCII, as VARCHAR.

        A UUID is text in capitals there, and in small letters elsewhere.
        """
        return self.written(
            "HASHBYTES('SHA2_256', CAST(_s AS VARCHAR(32)) + ':u:' +"
            " LOWER(CAST(_a AS VARCHAR(40)))) < CONVERT(VARBINARY(8), _t, 2)",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate) + "0"),
        )

    def label(self, text: str) -> exp.Expr:
        """``'text' COLLATE Latin1_General_100_BIN2``."""
        if not text.isascii() or text.endswith(" "):
            raise self._undefined("label")
        return exp.Collate(this=super().label(text), expression=exp.var(BINARY))

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """Not of an engine that compares every text by a collation."""
        raise self._undefined("text")

    def key(self, text: str) -> exp.Expr:
        """As a label: what it is compared with has no blanks at its end."""
        return self.label(text)

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """Without the blanks at its end, by code points."""
        return self.written(f"RTRIM(CAST(_a AS NVARCHAR(MAX)) COLLATE {BINARY})", a=node)

    def prefix(self, node: exp.Expr, length: int) -> exp.Expr:
        """The first characters, without the blanks that are then at the end."""
        return self.written(
            f"RTRIM(LEFT(_a COLLATE {_WHOLE_CHARACTERS}, _n) COLLATE {BINARY})",
            a=node,
            n=exp.Literal.number(length),
        )

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``x AT TIME ZONE 'UTC'``, and its clock without the zone."""
        return self.written("CAST(_a AT TIME ZONE 'UTC' AS DATETIME2)", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``x <> x``, which no value is: the engine has no NaN."""
        return self.written("_a <> _a", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """The start as a date of its parts."""
        if unit not in _STARTS:
            raise self._undefined("truncate to weeks and hours")
        moment = f"CAST({_STARTS[unit]} AS DATETIME2)"
        return self.written(f"CAST({moment} AS DATE)" if is_date else moment, a=node)
