"""What docs/reference/python.md promises of releases; ``releasing`` makes them."""

from policy_engine.releasing.release import Preview, Released, compile_policy, preview, release

__all__ = ["Preview", "Released", "compile_policy", "preview", "release"]
