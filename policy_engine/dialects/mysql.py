"""MariaDB 10.6 and later (measured: 10.11), and MySQL 8.0.17 and later (its manual, not measured).

A text is compared by a collation that merges ``a``, ``A``, ``á`` and ``a `` unless it is told
another, so every text is told one of bytes, without padding; the two engines name it differently.
``TINYINT(1)`` stands for a truth value, and every number but 0 for true. A zero date lies before
every other; it has no start of a year.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard

SALT = "policy_engine_salt"
"""The user variable that holds the secret, as 32 hexadecimal digits."""

_UTF8 = "CAST(_a AS CHAR CHARACTER SET utf8mb4)"
_EPOCH = "CAST('1970-01-01 00:00:00' AS DATETIME(6))"
_MONTH = "DATE_SUB(DATE(_a), INTERVAL (DAYOFMONTH(_a) - 1) DAY)"
# By arithmetic of days: no text is read as a date, and what is no date gives NULL.
_STARTS = {
    "year": "DATE_SUB(DATE(_a), INTERVAL (DAYOFYEAR(_a) - 1) DAY)",
    "quarter": f"DATE_SUB({_MONTH}, INTERVAL ((MONTH(_a) - 1) % 3) MONTH)",
    "month": _MONTH,
    "week": "DATE_SUB(DATE(_a), INTERVAL (WEEKDAY(_a)) DAY)",
    "day": "DATE(_a)",
}


class MariaDB(Standard):
    """MariaDB; the two dialects differ in the name of the collation alone."""

    name = "mariadb"
    title = "MariaDB"
    vendor = "https://mariadb.com/docs/server/reference/data-types/string-data-types/character-sets"
    parser = "mysql"
    longest_name = 64
    sorts_nulls = False
    bytewise = "utf8mb4_nopad_bin"
    as_double = "CAST(_a AS DOUBLE)"
    bound = f"@{SALT}"
    as_whole = "CAST(_a AS SIGNED)"
    as_moment = "CAST(_a AS DATETIME(6))"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "it has no TABLESAMPLE, and RAND() is drawn again wherever the optimiser"
        " moves it; use method: keyed",
        "try_cast": "a cast makes 0 of a text that is no number; give the column its type in the"
        " source",
        "repeat": "no function makes several rows of one; release counts",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``SHA2(CONCAT(@secret, ':u:', unit), 256) < 'T'``, by bytes."""
        return self.written(
            f"SHA2(CONCAT(_s, ':u:', {_UTF8}), 256) COLLATE {self.bytewise} < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def row_hash(self, unit: exp.Expr, place: exp.Expr, secret: exp.Expr | None = None) -> exp.Expr:
        """``SHA2(CONCAT(@secret, ':o:', unit, ':', place), 256)``, by bytes."""
        return self.written(
            f"SHA2(CONCAT(_s, ':o:', {_UTF8}, ':', {_UTF8.replace('_a', '_b')}), 256)"
            f" COLLATE {self.bytewise}",
            s=self.salt(secret),
            a=unit,
            b=place,
        )

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``CAST(x AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin``."""
        return self.written(f"{_UTF8} COLLATE {self.bytewise}", a=node)

    def label(self, text: str) -> exp.Expr:
        """``'x' COLLATE utf8mb4_nopad_bin``: else the connection's collation would merge labels."""
        return self.written(f"_a COLLATE {self.bytewise}", a=exp.Literal.string(text))

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """As ``binary_text``; a truth value as ``true`` or ``false``."""
        if kind == "BOOLEAN":
            words = {"t": self.label("true"), "f": self.label("false")}
            return self.written("CASE WHEN _a THEN _t WHEN NOT _a THEN _f END", a=node, **words)
        return self.binary_text(node)

    def kept(self, node: exp.Expr, kind: str) -> exp.Expr:
        """A truth value of the number that stands for it."""
        if kind == "BOOLEAN":
            return self.written("CASE WHEN _a THEN TRUE WHEN NOT _a THEN FALSE END", a=node)
        return node

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """As ``binary_text``."""
        return self.binary_text(node)

    def ordered(self, node: exp.Expr, *, descending: bool = False, text: bool) -> list[exp.Expr]:
        """``x IS NULL, x``: a NULL comes first here, and nothing can be said of it."""
        key = self.sort_key(node) if text else node
        is_null = exp.Is(this=key.copy(), expression=exp.Null())
        # So told, the printer of the parser adds nothing of its own.
        return [
            exp.Ordered(this=is_null, nulls_first=True),
            exp.Ordered(this=key, desc=descending, nulls_first=not descending),
        ]

    def utc(self, node: exp.Expr) -> exp.Expr:
        """The seconds since 1970, which do not depend on the session's zone, as a time."""
        seconds = "NULLIF(UNIX_TIMESTAMP(_a), 0)"
        return self.written(f"DATE_ADD({_EPOCH}, INTERVAL ({seconds}) SECOND)", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``x <> x``, which is never so: no column can hold NaN."""
        return self.written("_a <> _a", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """By arithmetic of days and hours; of a time as a time."""
        if unit == "hour":
            return self.written(
                f"DATE_ADD({self._moment_of_day}, INTERVAL (HOUR(_a)) HOUR)", a=node
            )
        start = _STARTS[unit]
        return self.written(start if is_date else f"CAST({start} AS DATETIME(6))", a=node)

    _moment_of_day = "CAST(DATE(_a) AS DATETIME(6))"


class MySQL(MariaDB):
    """MySQL: compiled and proved, and not connected to."""

    name = "mysql"
    title = "MySQL"
    vendor = "https://dev.mysql.com/doc/refman/8.4/en/charset-binary-collations.html"
    bytewise = "utf8mb4_0900_bin"
