"""The errors of numbers and of ours: all that a certificate's proof can raise of ``errors``."""

from __future__ import annotations


class PolicyEngineError(Exception):
    """The root. Catch it to catch every error that the engine raises on purpose.

    ``lines`` are its message. What separates them is never a line end within a text, which may be
    another's.
    """

    exit_code = 1

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class UsageError(PolicyEngineError):
    """A command or function was called in a wrong way."""

    exit_code = 2


class DomainError(UsageError, ValueError):
    """An argument has a value that the formula does not allow."""

    def __init__(self, parameter: str, law: str, found: object) -> None:
        super().__init__(f"{parameter} must be {law}, found {found}")
        self.parameter = parameter


class InternalError(PolicyEngineError):
    """A fault in the engine itself."""

    exit_code = 70
