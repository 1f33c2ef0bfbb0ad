"""Engines that installed packages bring, by entry points of the group ``policy_engine.engines``.

Whoever installs a package trusts it: its module runs in this process, and what it prints is
certified by its own forms. A certificate names the package among what it rests on, and its digest
of templates covers those forms. One is looked for when its name is asked for, and not before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from policy_engine.base_errors import UsageError
from policy_engine.engines import ENGINES, Engine, enter

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUP = "policy_engine.engines"


def _entry_points(*, name: str | None = None) -> EntryPoints:
    # Imported on use: a command that names engines of ours does not wait for it.
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    return found if name is None else found.select(name=name)


def names_installed() -> tuple[str, ...]:
    """The names of entry points, in alphabetical order; nothing of them is imported."""
    return tuple(sorted({point.name for point in _entry_points()}))


def engine_named(name: str) -> Engine | None:
    """The engine of this name: ours, else the one that a package brings; None where none does.

    Raises:
        UsageError: several do, or what is brought is no such engine.

    >>> engine_named("duckdb").title, engine_named("oracle")
    ('DuckDB', None)
    """
    if name in ENGINES:
        return ENGINES[name]
    found = _entry_points(name=name)
    points = {"?" if point.dist is None else point.dist.name: point for point in found}
    if not points:
        return None
    if len(points) > 1:
        packages = ", ".join(sorted(points))
        raise UsageError(f"the engine {name} is brought by {packages}; uninstall all but one")
    [(package, point)] = points.items()
    try:
        engine = point.load()
    except Exception as error:
        raise UsageError(f"the engine {name} of {package} cannot be loaded: {error!r}") from error
    try:
        if isinstance(engine, Engine) and engine.name == name:
            return enter(replace(engine, package=package))
    except ValueError:
        pass
    raise UsageError(
        f"the engine {name} of {package} cannot be used: {point.value} must be an Engine of that"
        " name, a plain word, with its parser, what its secret rests on, and a family that is none"
        " or one of policy-engine's"
    )
