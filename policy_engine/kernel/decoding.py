"""JSON → Claim: exactly what ``to_json`` wrote, by the types of the claim's own fields.

An allow-list: a value that no field of that type can hold is refused, and so is every law of a
claim that it breaks.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
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
        return _one_of(arguments, value)
    if origin is Literal:
        return _require(value, isinstance(value, str) and value in arguments)
    if origin is tuple:
        return _tuple(arguments, value)
    if is_dataclass(kind):
        return _dataclass(kind, value)
    if kind in _WRITTEN:
        name, read = _WRITTEN[kind]
        _require(value, isinstance(value, dict) and value.keys() == {name})
        return read(value[name])  # type: ignore[index]
    return _require(value, type(value) is kind)


def _number(text: str) -> Decimal:
    return Decimal(_require(text, _DIGITS.fullmatch(text) is not None))


_WRITTEN: dict[Any, tuple[str, Callable[[str], Any]]] = {
    Decimal: ("decimal", _number),
    datetime: ("timestamp", datetime.fromisoformat),
    date: ("date", date.fromisoformat),
}


def _require(value: object, holds: bool) -> Any:
    if not holds:
        raise ClaimError("another type")
    return value


def _one_of(kinds: tuple[Any, ...], value: object) -> Any:
    for kind in kinds:
        try:
            return decoded(kind, value)
        except _Unknown:
            continue
    raise ClaimError("another type")


def _tuple(kinds: tuple[Any, ...], value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ClaimError("another type")
    if len(kinds) == 2 and kinds[1] is ...:
        return tuple(decoded(kinds[0], part) for part in value)
    return tuple(decoded(kind, part) for kind, part in zip(kinds, value, strict=True))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _dataclass(kind: Any, value: object) -> Any:
    named = [field.name for field in fields(kind)]
    if not isinstance(value, dict) or value.keys() != {"is", *named}:
        raise ClaimError("another type")
    _require(value, value["is"] == kind.__name__)
    hints = _hints(kind)
    return kind(**{name: decoded(hints[name], value[name]) for name in named})
