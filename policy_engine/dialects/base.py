"""What differs between warehouses: the operations every dialect defines by hand.

The compiler asks a dialect for syntax and never writes any itself. What a dialect neither defines
nor gives a reason for cannot be made; what it has a reason for raises it. Sampling is written by
hand and never transpiled (sampling.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Parser

from policy_engine.dialects.numbers import number_literal
from policy_engine.errors import UsageError

SAMPLE_BITS = 60


def threshold(rate: Decimal) -> int:
    """T = ⌊rate·2⁶⁰⌋: a unit is in the sample iff its 60 pseudorandom bits are below T.

    >>> hex(threshold(Decimal("0.1")))
    '0x199999999999999'
    """
    # Of integers: a product of decimals would be rounded, and could exceed the rate.
    part, whole = rate.as_integer_ratio()
    return (part << SAMPLE_BITS) // whole


def hex_threshold(rate: Decimal) -> str:
    """T as the 15 hexadecimal digits that a hash is compared with.

    >>> hex_threshold(Decimal("0.05"))
    '0cccccccccccccc'
    """
    return f"{threshold(rate):015x}"


def sample_relation(rate: Decimal) -> str:
    """The name of the relation of drawn units: it carries T, so the text states its rate.

    >>> sample_relation(Decimal("0.1"))
    'policy_engine_sample_199999999999999'
    """
    return f"policy_engine_sample_{hex_threshold(rate)}"


class Dialect:
    """One warehouse's way of saying what the compiler needs.

    ``lacks`` has the reason for each operation that the dialect does not define. ``parser`` is the
    parser's name for its SQL, ``longest_name`` the most bytes of an identifier.
    ``says_inline``: a named query can be written as ``AS NOT MATERIALIZED``.
    """

    name: str
    title: str
    vendor: str
    parser: str = ""
    longest_name: int = 63
    says_inline: bool = False
    lacks: Mapping[str, str] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        """Refuse a dialect with an operation that it neither defines nor has a reason for."""
        super().__init_subclass__()
        if not hasattr(cls, "name"):
            return
        missing = [
            name
            for name in OPERATIONS
            if getattr(cls, name) is getattr(Dialect, name) and name not in cls.lacks
        ]
        if missing:
            raise TypeError(f"{cls.__name__} defines no {', '.join(missing)}, and gives no reason")

    def _undefined(self, operation: str) -> UsageError:
        return UsageError(f"{self.title} does not define {operation}: {self.lacks[operation]}")

    def file(self, path: str, *, numbered: bool) -> exp.Expr:
        """A relation of the rows of a Parquet file; ``numbered`` adds their numbers."""
        raise self._undefined("file")

    def row_number(self, *, is_file: bool) -> str:
        """The pseudo-column that numbers the rows of a file or a table."""
        raise self._undefined("row_number")

    def in_sample(self, unit: exp.Expr, rate: Decimal, secret: exp.Expr | None = None) -> exp.Expr:
        """Whether a unit is in the sample, by a pseudorandom function of it under the secret.

        ``secret`` is a query for the secret; without it the connection brings the secret.
        """
        raise self._undefined("in_sample")

    def row_hash(self, unit: exp.Expr, place: exp.Expr, secret: exp.Expr | None = None) -> exp.Expr:
        """A pseudorandom function of a person and the place of one of their rows.

        Under the secret of the sample, and apart from who is in it: of another input.
        """
        raise self._undefined("row_hash")

    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """The clause that keeps every row independently with probability ``rate``."""
        raise self._undefined("native_sample")

    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """A text compared byte by byte, whatever collation its column has."""
        raise self._undefined("binary_text")

    def label(self, text: str) -> exp.Expr:
        """A text of the policy, as a value that is released."""
        return exp.Literal.string(text)

    def key(self, text: str) -> exp.Expr:
        """A text of the policy, as a value that texts of the source are compared with."""
        return exp.Literal.string(text)

    def kept(self, node: exp.Expr, kind: str) -> exp.Expr:
        """A value of the type ``kind`` as it is released, where it is not recoded."""
        return node

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """A value as a text: a number's digits, ``true`` and ``false``, a day as 2026-01-31."""
        raise self._undefined("text")

    def prefix(self, node: exp.Expr, length: int) -> exp.Expr:
        """The first characters of a text, where a character is a code point."""
        raise self._undefined("prefix")

    def double(self, node: exp.Expr) -> exp.Expr:
        """A number as a floating-point number of 64 bits."""
        raise self._undefined("double")

    def round(
        self, node: exp.Expr, step: Decimal, digits: int, *, below: Decimal, is_whole: bool
    ) -> exp.Expr:
        """The nearest multiple of ``step``, half away from zero; NULL of ``below`` or more.

        ``digits`` are its decimal places; a whole number of a whole number has 64 bits. No value
        may fail, NaN and the least and greatest among them.
        """
        raise self._undefined("round")

    def exact(self, number: Decimal) -> exp.Expr | None:
        """A number of up to 18 digits, compared digit by digit with decimals; None if it cannot."""
        return number_literal(number)

    def utc(self, node: exp.Expr) -> exp.Expr:
        """A time with zone as the time it is in UTC, whatever the session's zone."""
        raise self._undefined("utc")

    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """Whether a floating-point value is not a number."""
        raise self._undefined("is_nan")

    def truncate(self, node: exp.Expr, unit: str, *, is_date: bool) -> exp.Expr:
        """The start of the calendar unit a date or time lies in: a date of a date."""
        raise self._undefined("truncate")

    def day(self, value: date) -> exp.Expr:
        """A day as a value."""
        raise self._undefined("day")

    def midnight(self, value: date) -> exp.Expr:
        """A day beside a time: the moment when it starts."""
        return self.day(value)

    def moment(self, value: datetime) -> exp.Expr:
        """A time without zone as a value."""
        raise self._undefined("moment")

    def try_cast(self, node: exp.Expr, kind: str) -> exp.Expr:
        """A value read as one of the types of ``source.columns``; NULL where it does not fit."""
        raise self._undefined("try_cast")

    def total(self, count: exp.Expr) -> exp.Expr:
        """A sum of counts as a whole number of 64 bits."""
        raise self._undefined("total")

    def repeat(self, count: exp.Expr) -> exp.Expr:
        """A column that repeats its row ``count`` times."""
        raise self._undefined("repeat")

    def ordered_plainly(self, node: exp.Expr) -> exp.Expr:
        """The term that orders rows by what is never NULL: nothing is said of NULL."""
        first = Parser.get_or_raise(self.parser or self.name).NULL_ORDERING == "nulls_are_small"
        return exp.Ordered(this=node, nulls_first=first)

    def ordered(self, node: exp.Expr, *, descending: bool = False, text: bool) -> list[exp.Expr]:
        """The terms that order rows by ``node``, NULL last, a text by its bytes."""
        raise self._undefined("ordered")

    def sql(self, node: exp.Expr) -> str:
        """The text of ``node``, laid out for a reader: indented, keywords in upper case."""
        return node.sql(dialect=self.parser or self.name, pretty=True)


OPERATIONS = (
    "in_sample", "row_hash", "native_sample", "file", "row_number", "binary_text", "text", "prefix",
    "double", "round", "utc", "is_nan", "truncate", "day", "moment", "try_cast", "total", "repeat",
    "ordered",
)  # fmt: skip
"""What a dialect defines, or says why not."""
