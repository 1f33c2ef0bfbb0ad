"""Filters and methods of texts and lists: what is known before them is known behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from policy_engine.dbt.template_values import UNKNOWN, Relation, is_open

_OF_TEXTS: Mapping[str, Callable[[str], object]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
    "strip": str.strip,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "string": str,
    "render": str,
    "capitalize": str.capitalize,
    "title": str.title,
    "safe": str,
    "list": list,
    "reverse": lambda text: text[::-1],
    "split": str.split,
}
_OF_LISTS: Mapping[str, Callable[[list[object]], object]] = {
    "list": list,
    "first": lambda each: each[0] if each else "",
    "last": lambda each: each[-1] if each else "",
    "reverse": lambda each: each[::-1],
    "join": lambda each: "".join(map(str, each)),
}


def filtered(name: str, value: object, arguments: Sequence[object]) -> object:
    """What a filter or a method makes of a value; unknown where only a run can tell.

    >>> filtered("join", ["a", "b"], ["_"]), filtered("replace", "axb", ["x", "-"])
    ('a_b', 'a-b')
    """
    if name in {"default", "d"} and value not in (None, ""):
        return value
    if isinstance(value, Relation) and name in {"string", "render"}:
        return value.text
    if is_open(value) or any(map(is_open, arguments)):
        return UNKNOWN
    if isinstance(value, str):
        return _of_text(name, value, list(arguments))
    if isinstance(value, list):
        return _of_list(name, value, list(arguments))
    return UNKNOWN


def _of_text(name: str, value: str, arguments: list[object]) -> object:
    if not arguments and name in _OF_TEXTS:
        return _OF_TEXTS[name](value)
    if name == "replace" and len(arguments) == 2:
        return value.replace(str(arguments[0]), str(arguments[1]))
    if name == "split" and len(arguments) == 1 and arguments[0]:
        return value.split(str(arguments[0]))
    if name == "join" and len(arguments) == 1 and isinstance(arguments[0], list):
        return value.join(map(str, arguments[0]))
    if name == "format":
        return _formatted(value, arguments)
    return UNKNOWN


def _formatted(value: str, arguments: list[object]) -> object:
    """``'%s.%s' | format(a, b)`` and ``'{}.{}'.format(a, b)``."""
    if value.count("%s") == len(arguments) == value.count("%") and "{" not in value:
        return value % tuple(map(str, arguments))
    if value.count("{}") == len(arguments) == value.count("{") and "%" not in value:
        return value.format(*map(str, arguments))
    return UNKNOWN


def _of_list(name: str, value: list[object], arguments: list[object]) -> object:
    if name == "join" and len(arguments) == 1:
        return str(arguments[0]).join(map(str, value))
    return _OF_LISTS[name](value) if not arguments and name in _OF_LISTS else UNKNOWN
