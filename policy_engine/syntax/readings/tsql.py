"""SQL Server, as the kernel reads it.

The secret comes from a secrets relation. Texts are compared by a collation, and by every one with
blanks filled up at their end: a text of the source means itself without the blanks at its end and
under a binary collation only, where two that are equal are the same; a text in quotes under that
collation too, in ASCII and without a blank at its end. LEFT counts a pair of surrogates as one
character under a collation with SC in its name.
ORDER BY says where NULL stands by a CASE of its own. A BIT is no truth value.
https://learn.microsoft.com/sql/relational-databases/collations/collation-and-unicode-support
https://learn.microsoft.com/sql/t-sql/language-elements/string-comparison-assignment
https://learn.microsoft.com/sql/t-sql/functions/left-transact-sql
"""

from __future__ import annotations

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.readings.forms import Form, Holes, form
from policy_engine.syntax.readings.reading import ANSI, Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "tsql"
_DOUBLE = "CAST(_a AS FLOAT(53))"
_TRIMMED = "RTRIM(CAST(_a AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2)"
_FIRST = "RTRIM(LEFT(_a COLLATE Latin1_General_100_CS_AS_SC, _b) COLLATE Latin1_General_100_BIN2)"
_KEYED = (
    "HASHBYTES('SHA2_256', CAST((SELECT [salt] FROM [policy_engine_salts] WHERE [release_id] = _r)"
    " AS VARCHAR(32)) + ':u:' + LOWER(CAST(_a AS VARCHAR(40)))) < CONVERT(VARBINARY(8), _b, 2)"
)
_ROW = (
    "HASHBYTES('SHA2_256', CAST((SELECT [salt] FROM [policy_engine_salts] WHERE [release_id] = _r)"
    " AS VARCHAR(32)) + ':o:' + LOWER(CAST(_a AS VARCHAR(40))) + ':' + CAST(_b AS VARCHAR(20)))"
)
_CHOSEN = (
    "sha256((SELECT salt FROM policy_engine_salts WHERE release_id = _r) || ':o:' ||"
    " CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR))"
)
_SAMPLED = (
    "sha256((SELECT salt FROM policy_engine_salts WHERE release_id = _r) || ':u:' ||"
    " CAST(_a AS VARCHAR)) < _b"
)
_STARTS = {
    "year": "DATEFROMPARTS(YEAR(_a), 1, 1)",
    "quarter": "DATEFROMPARTS(YEAR(_a), (MONTH(_a) - 1) / 3 * 3 + 1, 1)",
    "month": "DATEFROMPARTS(YEAR(_a), MONTH(_a), 1)",
}


def _form(text: str, meaning: str, literals: str = "") -> Form:
    return form(_NAME, text, meaning, literals=(f"_{name}" for name in literals))


def _shows_itself(holes: Holes) -> bool:
    text = holes["_a"]
    return text.is_string and text.name.isascii() and not text.name.endswith(" ")


def _is_hex(holes: Holes) -> bool:
    """Sixteen digits, as CONVERT makes eight bytes of them: another number of digits fails."""
    bound = holes["_b"]
    return bound.is_string and len(bound.name) == 16


TSQL = Reading(
    name=_NAME,
    forms=(
        form(_NAME, _KEYED, _SAMPLED, _is_hex, ("_r", "_b")),
        _form(_ROW, _CHOSEN, "r"),
        *rounding_forms(_NAME, _DOUBLE),
        form(_NAME, "_a COLLATE Latin1_General_100_BIN2", "_a", _shows_itself, ("_a",)),
        _form(_TRIMMED, 'CAST(_a AS VARCHAR) COLLATE "binary"'),
        _form(_FIRST, "LEFT(_a, _b)", "b"),
        *(
            _form(f"CAST({text} AS DATETIME2)", f"DATE_TRUNC('{unit}', _a)")
            for unit, text in _STARTS.items()
        ),
        _form("CAST(CAST(_a AS DATE) AS DATETIME2)", "DATE_TRUNC('day', _a)"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)", "a"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
        _form("CAST(_a AS DATETIME2)", "CAST(_a AS TIMESTAMP)", "a"),
        _form("CAST(_a AT TIME ZONE 'UTC' AS DATETIME2)", "_a AT TIME ZONE 'UTC'"),
        _form("CAST(_a AS BIGINT)", "CAST(_a AS BIGINT)"),
        _form(_DOUBLE, "CAST(_a AS DOUBLE)"),
        _form("_a <> _a", "isnan(_a)"),
    ),
    order_forms=(_form(_TRIMMED, "_a"),),
    types={
        **dict.fromkeys(("char", "nchar", "varchar", "nvarchar"), "VARCHAR"),
        "smallint": "SMALLINT",
        "int": "INTEGER",
        "bigint": "BIGINT",
        "decimal": "DECIMAL",
        "numeric": "DECIMAL",
        "real": "FLOAT",
        "float": "DOUBLE",
        "date": "DATE",
        "datetime2": "TIMESTAMP",
        "datetimeoffset": "TIMESTAMP WITH TIME ZONE",
        "uniqueidentifier": "UUID",
    },
    lexicon=Lexicon(
        string=ANSI.string, name=r"\[(?:[^\]\[]|\]\])+\]", line=ANSI.line, block=ANSI.block
    ),
    excludes=frozenset({"VARCHAR", "ENUM", "BOOLEAN"}),
    says=lambda text: False,
    bytewise=frozenset(),
    null_term="CASE WHEN _a IS NULL THEN 1 ELSE 0 END",
)
