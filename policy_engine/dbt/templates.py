"""What a template of dbt can become, found without dbt and without running any of it.

A template is walked as a tree, never executed. What is known while it is walked (refs, sources,
constants, the project's own macros) becomes text; what only a run can tell becomes a hole. Where a
condition is not known both ways are taken, so that the text of every branch is seen.
"""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import nodes

from policy_engine.dbt.manifest import Macro
from policy_engine.dbt.template_values import (
    HOLE,
    Relation,
    Rendered,
    TooMuch,
    World,
    parsed,
)
from policy_engine.dbt.template_walk import Walk

__all__ = ["HOLE", "Relation", "Rendered", "World", "macro_texts", "macro_variants", "rendered"]

_MOST_VARIANTS = 64


def rendered(template: str, world: World) -> tuple[Rendered, ...] | None:
    """Every text that a template can become; None where it is no template or has too many.

    >>> from pathlib import Path
    >>> from policy_engine.dbt.manifest import Manifest
    >>> world = World(Manifest(Path("manifest.json"), "", "", "", "", {}))
    >>> [each.text for each in rendered("{% if var('x') %}a{% else %}b{% endif %}", world)]
    ['a', 'b']
    """
    tree = parsed(template)
    return None if tree is None else _variants(lambda walk: walk.over(tree), world)


def macro_variants(macro: Macro, world: World) -> tuple[Rendered, ...] | None:
    """What a macro can do if it is called with anything; None where it cannot be walked."""
    tree = parsed(macro.sql)
    found = next((n for n in tree.body if isinstance(n, nodes.Macro)), None) if tree else None
    return (
        None if found is None else _variants(lambda walk: walk.inside(found, macro.package), world)
    )


def macro_texts(macro: Macro, world: World) -> tuple[str, ...] | None:
    """The texts that a macro can write or run if it is called with anything."""
    variants = macro_variants(macro, world)
    if variants is None:
        return None
    return tuple(dict.fromkeys(text for each in variants for text in (each.text, *each.queries)))


def _variants(walked: Callable[[Walk], Rendered], world: World) -> tuple[Rendered, ...] | None:
    """What comes of every choice that a walk has."""
    found: dict[Rendered, None] = {}
    choices: list[bool] = []
    for _ in range(_MOST_VARIANTS):
        walk = Walk(world, choices)
        try:
            found.setdefault(walked(walk))
        except (TooMuch, RecursionError):
            return None
        choices = walk.taken
        while choices and not choices[-1]:
            choices.pop()
        if not choices:
            return tuple(found)
        choices[-1] = False
    return None
