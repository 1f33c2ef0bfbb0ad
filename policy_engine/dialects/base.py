"""What differs between warehouses: the operations every dialect defines by hand.

The compiler asks a dialect for syntax and never writes any itself. A dialect that lacks an
operation cannot be made: every method here is abstract. Sampling is written by hand and
never transpiled (sampling.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal

from sqlglot import exp

SAMPLE_BITS = 60


def threshold(rate: Decimal) -> int:
    """T = ⌊rate·2⁶⁰⌋: a unit is in the sample iff its 60 pseudorandom bits are below T.

    >>> hex(threshold(Decimal("0.1")))
    '0x199999999999999'
    """
    # Of integers: a product of decimals would be rounded, and could exceed the rate.
    part, whole = rate.as_integer_ratio()
    return (part << SAMPLE_BITS) // whole


def sample_relation(rate: Decimal) -> str:
    """The name of the relation of drawn units: it carries T, so the text states its rate.

    >>> sample_relation(Decimal("0.1"))
    'policy_engine_sample_199999999999999'
    """
    return f"policy_engine_sample_{threshold(rate):015x}"


class Dialect(ABC):
    """One warehouse's way of saying what the compiler needs."""

    name: str

    @abstractmethod
    def file(self, path: str, *, numbered: bool) -> exp.Expr:
        """A relation of the rows of a Parquet file; ``numbered`` adds their numbers."""

    @abstractmethod
    def row_number(self, *, is_file: bool) -> str:
        """The pseudo-column that numbers the rows of a file or a table."""

    @abstractmethod
    def native_sample(self, rate: Decimal) -> exp.TableSample:
        """The clause that keeps every row independently with probability ``rate``."""

    @abstractmethod
    def binary_text(self, node: exp.Expr) -> exp.Expr:
        """A text compared byte by byte, whatever collation its column has."""

    @abstractmethod
    def utc(self, node: exp.Expr) -> exp.Expr:
        """A time with zone as the time it is in UTC, whatever the session's zone."""

    @abstractmethod
    def is_nan(self, node: exp.Expr) -> exp.Expr:
        """Whether a floating-point value is not a number."""

    @abstractmethod
    def truncate(self, node: exp.Expr, unit: str) -> exp.Expr:
        """The start of the calendar unit a date or time lies in."""

    @abstractmethod
    def repeat(self, count: exp.Expr) -> exp.Expr:
        """A column that repeats its row ``count`` times."""

    @abstractmethod
    def sql(self, node: exp.Expr) -> str:
        """The text of ``node``, laid out for a reader."""
