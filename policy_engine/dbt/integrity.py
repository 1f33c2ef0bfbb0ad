"""Whether the macros that a release rests on are the ones that were meant.

Two kinds: dbt's own, which a project can replace by a macro of the same name; and those of the
vendored package, which must be as they were shipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from policy_engine.dbt.manifest import Macro, Manifest
from policy_engine.dbt.rules import GateFinding, finding

OURS = "policy_engine"
_PACKAGE = Path(__file__).with_name("package")
_BUILT_IN = frozenset(
    {"ref", "source", "config", "is_incremental", "should_full_refresh", "return"}
)
_BLOCK = re.compile(
    r"\{%-?\s*(?P<kind>macro|test)\s+(?P<name>\w+).*?\{%-?\s*end(?P=kind)\s*-?%\}", re.DOTALL
)
_TARGETS = re.compile(r"return\(\[(?:'[\w.$ -]+'(?:, '[\w.$ -]+')*)?\]\)")


def replaced_macros(manifest: Manifest) -> Iterator[GateFinding]:
    """The macros by which a project replaces what every release rests on."""
    rests_on = _BUILT_IN | _behind_incremental(manifest)
    for macro in manifest.macros.values():
        if manifest.is_internal(macro.package) or macro.package == OURS:
            continue
        is_own = macro.package == manifest.project and macro.name in rests_on
        if is_own or macro.name.startswith("materialization_incremental_"):
            said = f"the macro {macro.name} of {macro.package} stands in the place of dbt's own"
            yield finding("G25", said, macro.file)


def _behind_incremental(manifest: Manifest) -> frozenset[str]:
    """The names of dbt's macros that build an incremental model."""
    ahead = [
        macro
        for macro in manifest.macros.values()
        if macro.name.startswith("materialization_incremental_")
        and manifest.is_internal(macro.package)
    ]
    found: dict[str, Macro] = {}
    while ahead:
        macro = ahead.pop()
        if macro.id not in found:
            found[macro.id] = macro
            ahead += [manifest.macros[id_] for id_ in macro.uses if id_ in manifest.macros]
    return frozenset(macro.name for macro in found.values())


def changed_macros(manifest: Manifest) -> Iterator[GateFinding]:
    """The macros of the vendored package that are not as they were shipped."""
    found = [macro for macro in manifest.macros.values() if macro.package == OURS]
    if not found:
        yield finding("G25", f"the manifest has no macro of the package {OURS}")
    for macro in found:
        if not is_shipped(macro):
            said = f"the macro {OURS}.{macro.name} is not the one that was shipped"
            yield finding("G25", said, f"dbt_packages/{OURS}/{macro.file}" if macro.file else "")


def is_shipped(macro: Macro) -> bool:
    """Whether a macro is one of the vendored package, as it was shipped."""
    if macro.package != OURS:
        return False
    name = macro.name.removeprefix("test_")
    # Another target alone makes no release: that takes a reservation in it.
    text = _TARGETS.sub("return([])", macro.sql) if name == "release_targets" else macro.sql
    return _shipped().get(name, _shipped().get(macro.name)) == _plain(text)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, str]:
    return {
        block["name"]: _plain(block[0])
        for file in sorted(_PACKAGE.rglob("*.sql"))
        for block in _BLOCK.finditer(file.read_text("utf-8"))
    }


def _plain(text: str) -> str:
    return " ".join(text.split())
