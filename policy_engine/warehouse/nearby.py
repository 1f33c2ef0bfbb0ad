"""A relation that is not there: what the catalog has that may be meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from policy_engine.errors import WarehouseError


def missing(
    parts: Iterable[str], names: Iterable[Iterable[str]], hidden: str = ""
) -> WarehouseError:
    """The error of a relation that is not among ``names``, or is ``hidden``, as a clause says.

    >>> print(missing(("hospital", "vists"), [("hospital", "visits")]))
    the warehouse has no table or view hospital.vists; did you mean 'hospital.visits'?
    """
    name, there = ".".join(parts), [".".join(each) for each in names]
    close = get_close_matches(name[:200], there[:10_000], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return WarehouseError(f"the warehouse has no table or view {name}{hidden}{hint}")
