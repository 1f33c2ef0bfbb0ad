"""SQLite, as the kernel reads it; its tables are STRICT.

A name in double quotes that no column has is a text here, so names stand in backticks, and a text
with a double quote outside of strings is refused. A cast never fails, but saturates, or reads 'x'
as 0; the forms hold where it does neither. https://www.sqlite.org/lang_expr.html
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.literals import ordinal
from policy_engine.syntax.readings.forms import Form, Holes, form, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "sqlite"


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


def _first(holes: Holes) -> bool:
    """A number of characters; below zero it would take what stands before the first."""
    return isinstance(holes["_b"], exp.Literal) and ordinal(holes["_b"]) is not None


SQLITE = Reading(
    name=_NAME,
    forms=(
        _form(
            "policy_engine_sha256(CAST(:salt || ':u:' || CAST(_a AS TEXT) AS BLOB)) < _b",
            "sha256($salt || ':u:' || CAST(_a AS VARCHAR)) < _b",
        ),
        *row_hash(
            _NAME,
            "policy_engine_sha256(CAST({} || ':o:' || CAST(_a AS TEXT) || ':' || CAST(_b AS TEXT)"
            " AS BLOB))",
            ":salt",
        ),
        # Only whole: what has decimal places would be a REAL, whose digits are another's.
        rounding_forms(_NAME, "CAST(_a AS REAL)", "CAST(_n AS INTEGER)")[0],
        _form("CAST(_a AS TEXT)", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS REAL)", "CAST(_a AS DOUBLE)"),
        _form("CAST(SUM(_a) AS INTEGER)", "CAST(SUM(_a) AS BIGINT)"),
        # At a NUL the functions of texts stop.
        form(
            _NAME,
            "CASE WHEN INSTR(_a, CHAR(0)) = 0 THEN SUBSTR(_a, 1, _b) END",
            "LEFT(_a, _b)",
            _first,
        ),
        _form("_a <> _a", "isnan(_a)"),
        _form("_a COLLATE BINARY", '_a COLLATE "binary"'),
    ),
    order_forms=(_form("_a COLLATE BINARY", "_a"),),
    types={"int": "BIGINT", "integer": "BIGINT", "real": "DOUBLE", "text": "VARCHAR"},
    # No column of a STRICT table is of these.
    excludes=frozenset(
        {"BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "DECIMAL", "UUID", "ENUM", "FLOAT"}
    ),
    lexicon=Lexicon(
        string=r"'(?:[^'\\]|'')*'",
        name="`[^`]+`",
        line=r"--(?=[ \r\n]|$)",
        block=r"/\*(?=[ \r\n])",
    ),
)
