"""MariaDB and MySQL, as the kernel reads them.

The secret is a user variable: ``@policy_engine_salt``. A text is compared by a collation of its
column or connection unless it is told one: only the collation of bytes without padding compares as
the kernel does, so a text that is grouped or shown must be told it. ``||``, double quotes, hints
and ``/*! … */`` mean what a setting or a version says, and are not read.
https://mariadb.com/docs/server/reference/sql-structure/sql-language-structure
https://dev.mysql.com/doc/refman/8.4/en/language-structure.html
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.readings.forms import Form, Holes, form, is_asked_for, row_hash
from policy_engine.syntax.readings.reading import BACKTICKS, Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_PARSER = "mysql"
_UTF8 = "CAST(_a AS CHAR CHARACTER SET utf8mb4)"
_MONTH = "DATE_SUB(DATE(_a), INTERVAL (DAYOFMONTH(_a) - 1) DAY)"
_STARTS = {
    "year": "DATE_SUB(DATE(_a), INTERVAL (DAYOFYEAR(_a) - 1) DAY)",
    "quarter": f"DATE_SUB({_MONTH}, INTERVAL ((MONTH(_a) - 1) % 3) MONTH)",
    "month": _MONTH,
    "week": "DATE_SUB(DATE(_a), INTERVAL (WEEKDAY(_a)) DAY)",
    "day": "DATE(_a)",
}
_SECONDS = "INTERVAL (NULLIF(UNIX_TIMESTAMP(_a), 0)) SECOND"

# A backslash before another is one, a quote is doubled; any other backslash is not read.
_LEXICON = Lexicon(
    string=r"'(?:[^'\\]|''|\\\\)*'",
    name="`(?:[^`]|``)+`",
    parameter=r"@policy_engine_salt(?!\w)",
    line=BACKTICKS.line,
    block=BACKTICKS.block,
    operator=r"(?:(?!--|/\*)[-+*/%<>=!])+",
)
_INTEGERS = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "mediumint": "INTEGER",
    "int": "INTEGER",
    "integer": "INTEGER",
    "bigint": "BIGINT",
}
_TYPES = {
    "tinyint(1)": "BOOLEAN",
    "boolean": "BOOLEAN",
    "bool": "BOOLEAN",
    **_INTEGERS,
    **{f"{name} unsigned": f"U{kind}" for name, kind in _INTEGERS.items()},
    "decimal": "DECIMAL",
    "numeric": "DECIMAL",
    "decimal unsigned": "DECIMAL",
    "float": "FLOAT",
    "double": "DOUBLE",
    "char": "VARCHAR",
    "varchar": "VARCHAR",
    "tinytext": "VARCHAR",
    "text": "VARCHAR",
    "mediumtext": "VARCHAR",
    "longtext": "VARCHAR",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "uuid": "UUID",
}


def _sums(holes: Holes) -> bool:
    """A cast fails or saturates on other values; a sum of counts has at most 64 bits."""
    return isinstance(holes["_a"], exp.Sum)


def _is_text(holes: Holes) -> bool:
    node = holes["_a"]
    return isinstance(node, exp.Literal) and bool(node.is_string)


def _truncations(made: Callable[[str, str], Form]) -> tuple[Form, ...]:
    found = []
    for unit, text in _STARTS.items():
        found.append(made(f"CAST({text} AS DATETIME(6))", f"DATE_TRUNC('{unit}', _a)"))
        found.append(made(text, f"CAST(DATE_TRUNC('{unit}', _a) AS DATE)"))
    hours = "DATE_ADD(CAST(DATE(_a) AS DATETIME(6)), INTERVAL (HOUR(_a)) HOUR)"
    return (*found, made(hours, "DATE_TRUNC('hour', _a)"))


_ROW = f"SHA2(CONCAT({{}}, ':o:', {_UTF8}, ':', {_UTF8.replace('_a', '_b')}), 256)"
_KEYED = f"SHA2(CONCAT({{}}, ':u:', {_UTF8}), 256) COLLATE {{}} < _b"


def _reading(name: str, bytewise: str) -> Reading:
    def made(text: str, meaning: str) -> Form:
        return form(_PARSER, text, meaning)

    told = f"{_UTF8} COLLATE {bytewise}"
    truth = "CASE WHEN _a THEN {} WHEN NOT _a THEN {} END"
    words = (f"'{word}' COLLATE {bytewise}" for word in ("true", "false"))
    return Reading(
        name=name,
        parser=_PARSER,
        lexicon=_LEXICON,
        forms=(
            made(
                _KEYED.format("@policy_engine_salt", bytewise),
                "sha256($salt || ':u:' || CAST(_a AS VARCHAR)) < _b",
            ),
            form(
                _PARSER,
                _KEYED.format("_s", bytewise),
                "sha256(_s || ':u:' || CAST(_a AS VARCHAR)) < _b",
                is_asked_for,
            ),
            *row_hash(_PARSER, f"{_ROW} COLLATE {bytewise}", "@policy_engine_salt"),
            *rounding_forms(_PARSER, whole="CAST(_n AS SIGNED)"),
            *_truncations(made),
            made(truth.format("TRUE", "FALSE"), "CAST(_a AS BOOLEAN)"),
            made(truth.format(*words), "CAST(CAST(_a AS BOOLEAN) AS VARCHAR)"),
            form(_PARSER, f"_a COLLATE {bytewise}", "_a", where=_is_text, literals=("_a",)),
            made(told, 'CAST(_a AS VARCHAR) COLLATE "binary"'),
            made(f"_a COLLATE {bytewise}", '_a COLLATE "binary"'),
            form(_PARSER, "CAST(_a AS SIGNED)", "CAST(_a AS BIGINT)", where=_sums),
            made("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
            made("CAST(_a AS DATETIME(6))", "CAST(_a AS TIMESTAMP)"),
            made("CAST(_a AS DOUBLE)", "CAST(_a AS DOUBLE)"),
            # Of a length below 0 one engine leaves out the last characters, and these all.
            form(_PARSER, "LEFT(_a, _b)", "LEFT(_a, _b)", literals=("_b",)),
            made(
                f"DATE_ADD(CAST('1970-01-01 00:00:00' AS DATETIME(6)), {_SECONDS})",
                "_a AT TIME ZONE 'UTC'",
            ),
            made("_a <> _a", "isnan(_a)"),
        ),
        order_forms=(made(told, "_a"),),
        null_term="_a IS NULL",
        bytewise=frozenset({bytewise}),
        types=_TYPES,
    )


MARIADB = _reading("mariadb", "utf8mb4_nopad_bin")
MYSQL = _reading("mysql", "utf8mb4_0900_bin")
