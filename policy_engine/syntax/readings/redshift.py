"""Amazon Redshift, as the kernel reads it.

The secret comes from a secrets relation. ``SHA2(x, 256)`` is lower-case hex. Texts are compared
without the blanks at their end, so a text of the source means itself without them and with its
case only, where two that are equal are the same, and a label that ends in one is refused. How NaN
is compared is not documented: floating-point columns are refused.
https://docs.aws.amazon.com/redshift/latest/dg/r_Character_types.html
"""

from __future__ import annotations

from policy_engine.syntax.readings.forms import Form, form, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "redshift"
_DOUBLE = "CAST(_a AS DOUBLE PRECISION)"
_TRIMMED = "RTRIM(COLLATE(CAST(_a AS VARCHAR(MAX)), 'case_sensitive'))"


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


_STARTS = tuple(
    _form(text, meaning)
    for unit in ("year", "quarter", "month", "week", "day", "hour")
    for text, meaning in (
        (
            f"CAST(DATE_TRUNC('{unit}', CAST(_a AS TIMESTAMP)) AS DATE)",
            f"CAST(DATE_TRUNC('{unit}', _a) AS DATE)",
        ),
        (f"DATE_TRUNC('{unit}', CAST(_a AS TIMESTAMP))", f"DATE_TRUNC('{unit}', _a)"),
    )
)

REDSHIFT = Reading(
    name=_NAME,
    forms=(
        _form("SHA2(_a || ':u:' || CAST(_b AS VARCHAR(MAX)), 256)", "sha256(_a || ':u:' || _b)"),
        *row_hash(
            _NAME,
            "SHA2({} || ':o:' || CAST(_a AS VARCHAR(MAX)) || ':' || CAST(_b AS VARCHAR(MAX)), 256)",
        ),
        *rounding_forms(_NAME, _DOUBLE),
        *_STARTS,
        _form(_TRIMMED, 'CAST(_a AS VARCHAR) COLLATE "binary"'),
        form(_NAME, "RTRIM(LEFT(_a, _b))", "LEFT(_a, _b)", literals=("_b",)),
        _form("CASE WHEN _a THEN 'true' WHEN NOT _a THEN 'false' END", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS VARCHAR(MAX))", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS BIGINT)", "CAST(_a AS BIGINT)"),
        _form(_DOUBLE, "CAST(_a AS DOUBLE)"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
        _form("CAST(_a AS TIMESTAMP)", "CAST(_a AS TIMESTAMP)"),
        _form("_a AT TIME ZONE 'UTC'", "_a AT TIME ZONE 'UTC'"),
    ),
    order_forms=(_form(_TRIMMED, "_a"),),
    types={
        **dict.fromkeys(("char", "character", "varchar", "character varying", "text"), "VARCHAR"),
        "boolean": "BOOLEAN",
        "smallint": "SMALLINT",
        "integer": "INTEGER",
        "bigint": "BIGINT",
        "numeric": "DECIMAL",
        "date": "DATE",
        "timestamp without time zone": "TIMESTAMP",
        "timestamp with time zone": "TIMESTAMP WITH TIME ZONE",
    },
    longest_name=127,
    excludes=frozenset({"VARCHAR", "ENUM", "FLOAT", "DOUBLE"}),
    bytewise=frozenset(),
    says=lambda text: not text.endswith(" "),
)
