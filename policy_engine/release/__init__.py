"""What docs/reference/python.md promises of releases; ``releasing`` makes them."""

from policy_engine.releasing.opened import OpenedRelease, open_release
from policy_engine.releasing.planning import compile_policy
from policy_engine.releasing.preview import Preview, preview
from policy_engine.releasing.release import Released, release

__all__ = [
    "OpenedRelease", "Preview", "Released", "compile_policy", "open_release", "preview", "release",
]  # fmt: skip
