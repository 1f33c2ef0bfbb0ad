"""A privacy-policy engine: policies in YAML become certified releases.

The names below are the whole public face; each is loaded when it is first used, so that
importing the package costs nothing.

>>> from policy_engine import release
>>> import policy_engine.release
>>> policy_engine.release is release
True
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policy_engine.attest.release_check import verify_release as verify
    from policy_engine.kernel.certificate import certify
    from policy_engine.policy.loading import load_policy
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.opened import open_release
    from policy_engine.releasing.planning import compile_policy
    from policy_engine.releasing.release import release

__all__ = [
    "Policy", "certify", "compile_policy", "load_policy", "open_release", "release", "verify",
]  # fmt: skip


_PLACES = {
    "Policy": ("policy_engine.policy.resolve", "Policy"),
    "certify": ("policy_engine.kernel.certificate", "certify"),
    "compile_policy": ("policy_engine.releasing.planning", "compile_policy"),
    "load_policy": ("policy_engine.policy.loading", "load_policy"),
    "open_release": ("policy_engine.releasing.opened", "open_release"),
    "release": ("policy_engine.releasing.release", "release"),
    "verify": ("policy_engine.attest.release_check", "verify_release"),
}


class _Package(ModuleType):
    """The package with its public names, though two rooms are called as the function is."""

    def __getattribute__(self, name: str) -> Any:
        place = _PLACES.get(name)
        return (
            getattr(import_module(place[0]), place[1]) if place else super().__getattribute__(name)
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
