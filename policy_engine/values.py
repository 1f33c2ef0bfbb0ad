"""Frozen values: what ``@dataclass(frozen=True)`` makes, at a quarter of what making it costs.

``dataclass`` compiles six functions for each class. The shortest command needs 250 classes, and a
third of its CPU went into that. Here ``__init__`` alone is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from functools import partial
from operator import attrgetter
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, eq: bool = True, kw_only: bool = False) -> Any:
    """A dataclass whose fields are set once, when it is made.

    ``dataclasses.fields``, ``replace`` and ``asdict`` take it; ``field`` says of a field what it
    says of a dataclass's. With ``eq``, two of a class are equal, and hashed, by their fields.

    >>> @frozen
    ... class Pair:
    ...     epsilon: float
    ...     delta: float = 0.0
    >>> Pair(1.0), Pair(1.0) == Pair(1.0, 0.0), len({Pair(1.0), Pair(1.0)})
    (Pair(epsilon=1.0, delta=0.0), True, 1)
    >>> Pair(1.0).epsilon = 2.0
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'epsilon'
    """
    if cls is None:
        return partial(frozen, eq=eq, kw_only=kw_only)
    own = dict(vars(cls))
    dataclass(eq=False, repr=False, kw_only=kw_only)(cls)
    every = fields(cls)
    compared = _values([f.name for f in every if f.compare])
    hashed = _values([f.name for f in every if (f.compare if f.hash is None else f.hash)])
    shown = [f.name for f in every if f.repr]

    def set_once(self: Any, name: str, value: object) -> None:
        if name in self.__dict__ or name not in cls.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        self.__dict__[name] = value

    def keep(self: Any, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def same(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def told(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in shown)})"

    cls.__setattr__, cls.__delattr__ = set_once, keep
    if eq and "__eq__" not in own:
        cls.__eq__ = same
    if eq and own.get("__hash__") is None:
        cls.__hash__ = lambda self: hash(hashed(self))
    if "__repr__" not in own:
        cls.__repr__ = told
    return cls


def _values(names: list[str]) -> Callable[[Any], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)
