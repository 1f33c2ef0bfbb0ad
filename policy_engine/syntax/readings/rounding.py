"""Rounding to a multiple of a step, in operations that every engine computes alike.

``ROUND`` of a floating-point number is half to even in one engine and half away from zero in the
next. ``FLOOR``, comparisons and products of whole numbers are the same everywhere. Some engines
fail where a quotient leaves the range of a DOUBLE, so a value is compared before it is divided:
one of a limit or more is NULL, and one of a small part of the step is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from sqlglot import exp

from policy_engine.syntax.literals import number
from policy_engine.syntax.readings.forms import Form, Holes, form

_MOST_DECIMALS = 18
# A value and one step together stay below this: a tenth of the range is left to inexact literals.
_MOST = 9 * Fraction(10) ** (_MOST_DECIMALS - 1)
_MOST_STEPS = Fraction(10) ** _MOST_DECIMALS
_LEAST_PART = Fraction(1, 10**6)
# Whoever cuts off more than that does something else than to round.
_LEAST_LIMIT, _LEAST_STEPS = Fraction(10) ** 9, 1000


def rounded(kind: str) -> str:
    """Rounding in the kernel's own language: ``_a`` by steps of ``_s``, NULL from ``_l`` on."""
    value = "CAST(_a AS DOUBLE)"
    steps = f"CAST(ROUND({value} / _s) AS BIGINT) * _s"
    return f"TRY_CAST(CASE WHEN ABS({value}) < _l THEN {steps} END AS {kind})"


def counted(double: str, kept: str = "_n") -> str:
    """The nearest whole number of steps: ``double`` is how ``_a`` is converted.

    ``kept`` is how a value ``_n`` is kept in range where both branches may be computed.
    """
    steps = f"{kept.replace('_n', f'ABS({double})')} / _s"
    part = f"{steps} - FLOOR({steps})"
    nearest = f"FLOOR({steps}) + CASE WHEN {part} >= 0.5 THEN 1 ELSE 0 END"
    small = f"WHEN ABS({double}) < _h THEN 0"
    return f"CASE {small} WHEN {double} < 0 THEN -({nearest}) ELSE {nearest} END"


def rounding_forms(
    dialect: str,
    double: str = "CAST(_a AS DOUBLE)",
    whole: str = "CAST(_n AS BIGINT)",
    exact: str = "CAST(_n AS DECIMAL(18, _d))",
    *,
    exact_whole: str = "",
    step: str = "_s",
    most_decimals: int = _MOST_DECIMALS,
    kept: str = "_n",
) -> tuple[Form, ...]:
    """The forms of rounding in an engine, by how it converts ``_a`` and ``_n``.

    ``step`` is what whole steps are multiplied with for a result with decimal places,
    ``exact_whole`` how they are counted there, and ``kept`` as in ``counted``.
    """
    steps = counted(double, kept)

    def text(whole: str, step: str) -> str:
        product = f"{whole.replace('_n', f'({steps})')} * {step}"
        return f"CASE WHEN ABS({double}) < _l THEN {product} END"

    forms = [form(dialect, text(whole, "_s"), rounded("BIGINT"), fits_a_step(None))]
    for digits in range(most_decimals + 1):
        parts = text(exact_whole or whole, step.replace("_d", str(digits)))
        forms.append(
            form(
                dialect,
                exact.replace("_n", parts).replace("_d", str(digits)),
                rounded(f"DECIMAL(18, {digits})"),
                fits_a_step(digits),
            )
        )
    return tuple(forms)


def exact_forms(dialect: str, text: str) -> tuple[Form, ...]:
    """A decimal number, whose digits stand in quotes in ``text``: ``_w`` with ``_d`` places.

    An engine compares it in more digits than its decimals of 18 have; the kernel knows of no wider.
    """

    def made(digits: int) -> Form:
        meaning = f"CAST(_w AS DECIMAL(18, {digits}))"
        where = partial(_has_places, digits)
        return form(dialect, text.replace("_d", str(digits)), meaning, where, ("_w",))

    return tuple(made(digits) for digits in range(_MOST_DECIMALS + 1))


def _has_places(digits: int, holes: Holes) -> bool:
    whole, _, places = holes["_w"].name.removeprefix("-").partition(".")
    value = _stated(holes["_w"], signed=True)
    fits = len(whole.lstrip("0")) <= _MOST_DECIMALS - digits
    return value is not None and fits and len(places) <= digits


def fits_a_step(digits: int | None) -> Callable[[Holes], bool]:
    """Whether rounding by what fills the holes fails on no value; None stands for BIGINT.

    ``_l`` is the limit, ``_s`` the step, ``_h`` the part of a step below which a value is 0, and
    ``_w`` the step as a text: the last two only where the form has them.
    """

    def fits(holes: Holes) -> bool:
        step, limit = _value(holes["_s"]), _value(holes["_l"])
        if step is None or limit is None or not is_bounded(step, limit, digits):
            return False
        part = _value(holes["_h"]) if "_h" in holes else step / 4
        again = _stated(holes["_w"]) if "_w" in holes else step
        return part is not None and step * _LEAST_PART <= part <= step / 4 and again == step

    return fits


def is_bounded(step: Fraction, limit: Fraction, digits: int | None) -> bool:
    """Whether the multiples of ``step`` next to values below ``limit`` fit DECIMAL(18, digits).

    ``digits`` None stands for BIGINT, which holds 18 digits too. A limit below which there is
    next to nothing is none that a rounding has.

    >>> is_bounded(Fraction(1, 4), Fraction(10**15), 2), is_bounded(Fraction(1, 4), Fraction(1), 1)
    (True, False)
    """
    scale = 10 ** (digits or 0)
    if not 0 < step <= _MOST or (step * scale).denominator != 1:
        return False
    most = _MOST_STEPS + step if digits is None else _MOST / scale
    least = min(_LEAST_LIMIT, _LEAST_STEPS * step)
    return least <= limit <= min(most - step, step * _MOST_STEPS)


def _value(node: exp.Expr) -> Fraction | None:
    return number(node) if isinstance(node, exp.Literal) else None


def _stated(node: exp.Expr, *, signed: bool = False) -> Fraction | None:
    """The number that a text in quotes is."""
    digits = node.name.removeprefix("-") if signed else node.name
    return number(exp.Literal.number(digits)) if node.is_string else None
