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
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import compile_policy, release
    from policy_engine.verify.certificate import certify

__all__ = ["certify", "compile_policy", "load_policy", "release", "verify"]


def _public(module: str, attribute: str) -> property:
    def loaded(package: ModuleType) -> Any:
        return getattr(import_module(module), attribute)

    def kept(package: ModuleType, value: object) -> None:
        # The import system puts a room into the package when it loads it. Two rooms are called
        # as the function is; ``from policy_engine.release import …`` finds them all the same.
        del package, value

    return property(loaded, kept)


class _Package(ModuleType):
    """The package with its public names, whatever was imported before."""

    certify = _public("policy_engine.verify.certificate", "certify")
    compile_policy = _public("policy_engine.release", "compile_policy")
    load_policy = _public("policy_engine.policy.loading", "load_policy")
    release = _public("policy_engine.release", "release")
    verify = _public("policy_engine.attest.release_check", "verify_release")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
