"""Numbers as people read them."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

_WIDE = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def in_text(value: Decimal) -> str:
    """A number as people read it, everywhere the same: exact, short, never hiding its size.

    >>> [in_text(Decimal(text)) for text in ("2.63178346650E-11", "0.50", "1E+2", "1E-9999999")]
    ['2.6317834665e-11', '0.5', '100', '1e-9999999']
    """
    plain = _WIDE.normalize(value)
    return f"{plain:f}" if -7 < plain.adjusted() < 16 else str(plain).lower()
