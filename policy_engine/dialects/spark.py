"""Spark 4 and Databricks (measured: Spark 4.3.0; Databricks is compiled and proved, not run here).

Sampling: a parameter of a query becomes a literal of its plan, and plans are kept in the UI and the
event log. So the secret is the one row of a relation, which a scalar subquery reads: a plan shows
its columns only (measured). ``TABLESAMPLE (p PERCENT)`` keeps rows independently, but has 1,000
seeds before Spark 4.3; from then on it is documented, and not measured by us (sampling.md).

The session has ANSI mode, where FLOOR of a number beyond 64 bits is an error: what is floored is
bounded before, wherever an optimiser may move it.
"""

from __future__ import annotations

from decimal import MAX_PREC, Context, Decimal
from types import MappingProxyType

from sqlglot import exp

from policy_engine.dialects.base import hex_threshold
from policy_engine.dialects.numbers import number_literal
from policy_engine.dialects.standard import SIGNED, Standard

_SAMPLED = (4, 3)
_KEYED = "SHA2(_q || ':u:' || CAST(_a AS STRING), 256) < _t"
_SIGNED = SIGNED.replace("ABS(_a) /", "LEAST(ABS(_a), _l) /")


class Spark(Standard):
    """Spark with ANSI mode, in UTC, where names have no case."""

    name = "spark"
    title = "Spark"
    vendor = "https://spark.apache.org/docs/latest/sql-ref.html"
    parser = "spark"
    longest_name = 255
    as_text = "CAST(_a AS STRING)"
    hashed = "SHA2(_s || ':o:' || CAST(_a AS STRING) || ':' || CAST(_b AS STRING), 256)"
    as_moment = "CAST(_a AS TIMESTAMP_NTZ)"
    lacks = MappingProxyType({
        "file": "it reads tables; make a table of the file, or release from it with DuckDB",
        "row_number": "a row has no number that stays; name source.unit.key",
        "try_cast": "it reads other texts as numbers and dates; give the column its type in the"
        " source",
    })  # fmt: skip

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """``SHA2((SELECT salt FROM …) || ':u:' || CAST(unit AS STRING), 256) < 'T'``."""
        bound = exp.Literal.string(hex_threshold(rate))
        return self.written(_KEYED, q=self.salt(secret), a=unit, t=bound)

    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """``TABLESAMPLE (p PERCENT)``, which goes by rows."""
        percent = rate.scaleb(2, context=Context(prec=MAX_PREC))
        return exp.TableSample(percent=number_literal(percent))

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE UTF8_BINARY``."""
        return self.written("_a COLLATE UTF8_BINARY", a=node)

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """``x COLLATE UTF8_BINARY``."""
        return self.binary_text(node)

    def _counted(self, *, is_whole: bool) -> str:
        """As in Standard of values that are bounded, and counted exactly beside decimals.

        A BIGINT beside 18 decimal places has 39 digits here, and would lose the last.
        """
        return f"CAST({_SIGNED} AS {'BIGINT' if is_whole else 'DECIMAL(19, 0)'}) * _s"

    def utc(self, node: exp.Expr) -> exp.Expr:
        """``CAST(x AS TIMESTAMP_NTZ)``, for the session is in UTC."""
        return self.written("CAST(_a AS TIMESTAMP_NTZ)", a=node)

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """``ISNAN(x)``; a NaN is the greatest number here."""
        return self.written("ISNAN(_a)", a=node)

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """``DATE_TRUNC('UNIT', x)``, which is a time with zone, as a date or a time without."""
        kind = "DATE" if is_date else "TIMESTAMP_NTZ"
        return self.written(f"CAST(DATE_TRUNC('{unit.upper()}', _a) AS {kind})", a=node)

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """``EXPLODE(ARRAY_REPEAT(1, n))``; SEQUENCE(1, 0) would have two elements."""
        return self.written("EXPLODE(ARRAY_REPEAT(1, CAST(_a AS INT)))", a=count)


class EarlySpark(Spark):
    """Spark before 4.3, whose own sampling is unsound."""

    lacks = MappingProxyType(
        dict(Spark.lacks)
        | {
            "native_sample": "TABLESAMPLE has 1,000 possible seeds before Spark 4.3; use"
            " method: keyed, or a later Spark"
        }
    )


class Databricks(Spark):
    """Databricks: the SQL of Spark; its SQL warehouses have ANSI mode."""

    name = "databricks"
    title = "Databricks"
    vendor = "https://docs.databricks.com/aws/en/sql/language-manual/"


def spark_of(version: str) -> Spark:
    """The dialect of a version of Spark.

    >>> "native_sample" in spark_of("4.2.1").lacks, "native_sample" in spark_of("4.3.0").lacks
    (True, False)
    """
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return Spark() if numbers >= _SAMPLED else EarlySpark()
