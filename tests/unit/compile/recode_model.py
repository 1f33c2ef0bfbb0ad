"""What every recoding means, in plain Python over the texts of values."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np

from policy_engine.compile.catalog import Kind, kind_of
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.policy.recodings import Recoding

_MOMENT = re.compile(
    r"(\d+)-(\d\d)-(\d\d)( \(BC\))?(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:\+00)?"
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def moment(text: str) -> tuple[float, ...]:
    """A date or time as year, month, day, hour, minute, second, microsecond; they compare."""
    if "infinity" in text:
        return (-math.inf if text.startswith("-") else math.inf,)
    found = _MOMENT.fullmatch(text)
    assert found is not None, text
    numbers = [int(part or 0) for part in (*found.groups()[:3], *found.groups()[4:7])]
    fraction = int((found[8] or "").ljust(6, "0")[:6])
    if found[4]:
        numbers[0] = 1 - numbers[0]
    return (*numbers, fraction)


def recoded(recoding: Recoding, kind: str, text: str | None) -> str | None:
    """The released value of ``text``, a value of the type ``kind``."""
    if isinstance(recoding, Constant):
        return recoding.label
    if text is None:
        return None
    match recoding:
        case Keep():
            return text.removesuffix("+00")
        case Map(groups, other) if kind_of(kind) is Kind.DECIMAL:
            labels = {
                Decimal(key): label
                for keys, label in groups
                for key in keys
                if _NUMBER.fullmatch(key)
            }
            return labels.get(Decimal(text), other)
        case Map(groups, other):
            return next((label for keys, label in groups if text in keys), other)
        case Prefix(length):
            return text[:length]
        case Bins(cuts, labels):
            return _binned(cuts, labels, kind, text)
        case Round(step):
            return _rounded(step, kind, text)
        case Truncate(unit):
            return _truncated(unit, kind, text)
    raise AssertionError(recoding)


def _binned(cuts: tuple, labels: tuple[str, ...], kind: str, text: str) -> str | None:
    if not isinstance(cuts[0], Decimal):
        return labels[bisect_right([moment(str(cut)) for cut in cuts], moment(text))]
    if kind_of(kind) is Kind.DOUBLE:
        value = float(np.float32(text)) if kind == "FLOAT" else float(text)
        if math.isnan(value):
            return None
        return labels[bisect_right([_as_float(cut, kind) for cut in cuts], value)]
    return labels[bisect_right(cuts, Decimal(text))]


def _as_float(cut: Decimal, kind: str) -> float:
    """A cut is compared as a FLOAT with a FLOAT, unless it is too large for one."""
    fits = kind == "FLOAT" and abs(cut) < Decimal("3.4e+38")
    return float(np.float32(str(cut))) if fits else float(cut)


def _rounded(step: Decimal, kind: str, text: str) -> str | None:
    value = Decimal(text)
    if not value.is_finite():
        return None
    quotient = Fraction(value) / Fraction(step)
    whole = math.floor(abs(quotient) + Fraction(1, 2)) * (1 if quotient >= 0 else -1)
    digits = max(0, -int(step.normalize().as_tuple().exponent))
    exact = Decimal(whole * Fraction(step).numerator) / Decimal(Fraction(step).denominator)
    if abs(exact) >= Decimal(10) ** (18 - digits) and not (
        kind_of(kind) is Kind.INTEGER and not digits and -(2**63) <= exact < 2**63
    ):
        return None
    return f"{exact:.{digits}f}".replace("-0", "0") if exact == 0 else f"{exact:.{digits}f}"


def _truncated(unit: str, kind: str, text: str) -> str | None:
    parts = moment(text)
    if not (len(parts) > 1 and 1 <= parts[0] <= 9999):
        return None
    found = datetime(*(int(part) for part in parts))
    start = datetime(found.year, 1, 1)
    match unit:
        case "quarter":
            start = datetime(found.year, 3 * ((found.month - 1) // 3) + 1, 1)
        case "month":
            start = datetime(found.year, found.month, 1)
        case "week":
            return "{:04}-W{:02}".format(*found.isocalendar())
        case "day":
            start = datetime(*found.timetuple()[:3])
        case "hour":
            start = datetime(*found.timetuple()[:4])
    if kind == "DATE":
        return f"{date(*start.timetuple()[:3]).isoformat():0>10}"
    return start.isoformat(" ")
