"""Amazon Redshift, by its documentation: compiled and proved, and never run by us on Redshift.

Sampling: the text of ``SET`` stays in the history of queries, so the secret is read from the
secrets relation; there is no TABLESAMPLE. "Trailing spaces in VARCHAR and CHAR values are treated
as semantically insignificant when values are compared" (docs.aws.amazon.com/redshift/latest/dg/
r_Character_types.html): so 'a' and 'a ' would be one group, shown as either, and texts of the
source lose the blanks at their end.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Parser

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.standard import Standard


class Redshift(Standard):
    """Redshift; every cast to text says its length, for a plain VARCHAR has 256 bytes."""

    name = "redshift"
    title = "Amazon Redshift"
    vendor = "https://docs.aws.amazon.com/redshift/latest/dg/SHA2.html"
    longest_name = 127
    hashed = "SHA2(_s || ':o:' || CAST(_a AS VARCHAR(MAX)) || ':' || CAST(_b AS VARCHAR(MAX)), 256)"
    as_text = "CAST(_a AS VARCHAR(MAX))"
    as_double = "CAST(_a AS DOUBLE PRECISION)"
    lacks = MappingProxyType({
        "file": "it reads tables; load the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "native_sample": "it has no TABLESAMPLE; use method: keyed",
        "try_cast": "TRY_CAST takes few types; give the column its type in the source",
        "repeat": "generate_series runs beside the tables only; use release.as: counts",
        "text_column": "texts are compared without their trailing blanks, so that one would stand"
        " for another; keep codes as numbers, or leave it out",
        "float_column": "how NaN is compared is not documented; make it a decimal number",
        "is_nan": "how NaN is compared is not documented; make it a decimal number",
        "label": "a label, or a key of a map, must not end in a blank, which is not compared;"
        " take the blank out",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``SHA2(secret || ':u:' || CAST(unit AS VARCHAR(MAX)), 256) < 'T'``: lower-case hex."""
        return self.written(
            "SHA2(_s || ':u:' || CAST(_a AS VARCHAR(MAX)), 256) < _t",
            s=self.salt(secret),
            a=unit,
            t=exp.Literal.string(hex_threshold(rate)),
        )

    def label(self, text: str) -> exp.Expr:
        """A text without blanks at its end."""
        if text.endswith(" "):
            raise self._undefined("label")
        return super().label(text)

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """A truth value by CASE, for no cast makes a text of it."""
        if kind == "BOOLEAN":
            return self.written("CASE WHEN _a THEN 'true' WHEN NOT _a THEN 'false' END", a=node)
        return super().text(node, kind)

    def key(self, text: str) -> exp.Expr:
        """As a label: what it is compared with has no blanks at its end."""
        return self.label(text)

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``RTRIM(COLLATE(x, 'case_sensitive'))``; the parser would write an operator."""
        whole = self.written(self.as_text, a=node)
        told = exp.Anonymous(
            this="COLLATE", expressions=[whole, exp.Literal.string("case_sensitive")]
        )
        return self.written("RTRIM(_a)", a=told)

    def prefix(self, node: exp.Expr, length: int) -> exp.Expr:
        """The first characters, without the blanks that are then at the end."""
        return self.written("RTRIM(LEFT(_a, _n))", a=node, n=exp.Literal.number(length))

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``x AT TIME ZONE 'UTC'``."""
        return self.written("_a AT TIME ZONE 'UTC'", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATE_TRUNC('unit', x)``, of a date as a time without zone; a week starts on Monday."""
        text = f"DATE_TRUNC('{unit}', CAST(_a AS TIMESTAMP))"
        return self.written(f"CAST({text} AS DATE)" if is_date else text, a=node)

    def sql(self, node: exp.Expr) -> str:
        """With a quote in a text doubled: what a backslash means is not documented."""
        writer = Parser.get_or_raise(self.name).generator(pretty=True)
        writer._escaped_quote_end = "''"
        return writer.generate(node)
