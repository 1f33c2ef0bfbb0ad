"""A privacy-policy engine: policies in YAML become certified releases.

The names below are the whole public face; each is loaded when it is first used, so that
importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policy_engine.compile.compiler import compile_policy
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import release
    from policy_engine.verify.certificate import certify
    from policy_engine.verify.release_check import verify_release as verify

__all__ = ["certify", "compile_policy", "load_policy", "release", "verify"]

_HOMES = {
    "certify": ("policy_engine.verify.certificate", "certify"),
    "compile_policy": ("policy_engine.compile.compiler", "compile_policy"),
    "load_policy": ("policy_engine.policy.loading", "load_policy"),
    "release": ("policy_engine.release", "release"),
    "verify": ("policy_engine.verify.release_check", "verify_release"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'policy_engine' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
