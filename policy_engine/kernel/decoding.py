"""JSON → Claim: exactly what ``to_json`` wrote, by the types of the claim's own fields.

An allow-list: a value that no field of that type can hold is refused, and so is every law of a
claim that it breaks.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from policy_engine.kernel.claim import Claim, to_json
from policy_engine.kernel.laws import ClaimError

_Unknown = (ClaimError, TypeError, ValueError, ArithmeticError, KeyError)
_DIGITS = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?")


def claim_from(value: object) -> Claim:
    """The claim that was written as ``value``.

    Raises:
        ClaimError: it is no claim, or not in the form in which claims are written.

    >>> claim_from({"is": "Claim"})
    Traceback (most recent call last):
    ...
    policy_engine.kernel.laws.ClaimError: no claim is written like this
    """
    try:
        claim = decoded(Claim, value)
        if isinstance(claim, Claim) and to_json(claim) == value:
            return claim
    except _Unknown:
        pass
    raise ClaimError("no claim is written like this")


def decoded(kind: Any, value: object) -> Any:
    """``value`` as a value of the annotation ``kind``; raises one of _Unknown."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        for each in arguments:
            with suppress(*_Unknown):
                return decoded(each, value)
        raise ClaimError("another type")
    if origin is Literal:
        return _require(value, isinstance(value, str) and value in arguments)
    if origin is tuple:
        parts = _require(value, isinstance(value, list | tuple))
        kinds = [arguments[0]] * len(parts) if arguments[1:] == (...,) else arguments
        return tuple(decoded(each, part) for each, part in zip(kinds, parts, strict=True))
    if isinstance(kind, type) and is_dataclass(kind):
        named = [field.name for field in fields(kind)]
        given = _require(value, isinstance(value, dict) and value.keys() == {"is", *named})
        _require(given, given["is"] == kind.__name__)
        hints = _hints(kind)
        return kind(**{name: decoded(hints[name], given[name]) for name in named})
    if kind in _WRITTEN:
        name, read = _WRITTEN[kind]
        return read(_require(value, isinstance(value, dict) and value.keys() == {name})[name])
    return _require(value, type(value) is kind)


def _require(value: object, holds: bool) -> Any:
    if not holds:
        raise ClaimError("another type")
    return value


def _number(text: str) -> Decimal:
    return Decimal(_require(text, _DIGITS.fullmatch(text) is not None))


_hints = cache(get_type_hints)
_WRITTEN: dict[Any, tuple[str, Callable[[str], Any]]] = {
    Decimal: ("decimal", _number),
    datetime: ("timestamp", datetime.fromisoformat),
    date: ("date", date.fromisoformat),
}
