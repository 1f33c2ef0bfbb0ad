"""What is said of an error: a message, an exit code, and details for JSON."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Mapping
from dataclasses import field, replace

import typer

from policy_engine import errors
from policy_engine.cli.main import INTERRUPTED, interrupted
from policy_engine.values import frozen

BUG = errors.InternalError.exit_code
_ENVIRONMENT = 3
_BROKEN_PIPE = 141
"""As shells have it: 128, and 13 for SIGPIPE."""

_NO_INTEGER = "Input should be a valid integer, unable to parse string as an integer"

Exit = typer.Exit
# Typer brings its own copy of click in some versions and not in others.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]


@frozen
class Failure:
    """``lines`` is empty where nothing is to be said."""

    lines: tuple[str, ...]
    exit_code: int
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    @property
    def document(self) -> dict[str, object]:
        """The failure in JSON."""
        return {"error": self.message, **self.details}


def failure(error: BaseException) -> Failure:
    """What is said of ``error``; of an unexpected one its type and place only, never its text.

    >>> failure(errors.UsageError("give one of --epsilon and --delta")).exit_code
    2
    >>> failure(ValueError("age 37")).message  # doctest: +ELLIPSIS
    'internal error: ValueError at an unknown place; please report it...'
    """
    found = _of(error)
    # What a release has charged before it failed, and how to go on: see release.
    if not found.lines:
        return found
    *lines, last = found.lines
    return replace(found, lines=(*lines, "; ".join([last, *getattr(error, "__notes__", ())])))


def _of(error: BaseException) -> Failure:
    # A library that a signal stops may raise an error of its own.
    if isinstance(error, KeyboardInterrupt) or interrupted():
        return Failure(("interrupted; nothing half written stands",), INTERRUPTED)
    if isinstance(error, errors.PolicyEngineError):
        return Failure(error.lines, error.exit_code, _details(error))
    if isinstance(error, _CommandLineError):
        return _of_command_line(error)
    if isinstance(error, BrokenPipeError):  # of what is not ours, as help is not
        return Failure((), _BROKEN_PIPE)
    if isinstance(error, OSError) and error.strerror:
        where = error.filename if isinstance(error.filename, str) else "the output"
        code = "disk_full" if error.errno == errno.ENOSPC else "file_failed"
        return Failure((f"{where} failed: {error.strerror}",), _ENVIRONMENT, {"code": code})
    if isinstance(error, MemoryError):
        return Failure(
            ("the memory is used up; nothing was published by halves",),
            _ENVIRONMENT,
            {"code": "failed"},
        )
    said = (
        f"internal error: {type(error).__name__} at {_innermost(error)}; please report it."
        " POLICY_ENGINE_DEBUG=1 shows the whole trace, which may quote data"
    )
    return Failure((said,), BUG)


def _details(error: errors.PolicyEngineError) -> dict[str, object]:
    if isinstance(error, errors.PolicyError):
        return {"problems": list(map(vars, error.problems))}
    if isinstance(error, errors.NotCertifiable):
        return {"findings": list(map(vars, error.findings))}
    if isinstance(error, errors.VerificationFailed):
        return {"verified": False, "reasons": error.reasons}
    if isinstance(error, errors.BudgetExceeded):
        return _of_account(error)
    if isinstance(error, errors.EnvironmentFailed):
        return {"code": error.code}
    return {}


def _of_account(error: errors.BudgetExceeded) -> dict[str, object]:
    """The account that cannot pay, and what is left of it, as ``plan`` says it."""
    from policy_engine.cli.results import Left  # whose module shows failures itself
    from policy_engine.ledger.remaining import Remaining

    if not isinstance(error.left, Remaining):
        return {}
    return {"account": error.account, "left": Left.of(error.left)}


def _of_command_line(error: Exception) -> Failure:
    """An option that is missing, misspelt or misread, and where its help is."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        usage = str(context.get_help() if context else error)
        return Failure(tuple(usage.split("\n")), errors.UsageError.exit_code)
    message = error.format_message()  # type: ignore[attr-defined]  # click's, whichever copy
    message = message.rstrip(".").replace("Value error, ", "")
    message = message.replace(_NO_INTEGER, "must be a whole number")
    command = context.command_path if context is not None else "policy-engine"
    ends = "" if message.endswith("?") else ";"
    text = f"{message[:1].lower()}{message[1:]}{ends} '{command} --help' shows how"
    return Failure((text,), errors.UsageError.exit_code)


def _innermost(error: BaseException) -> str:
    """The last place in our own code that the error came through."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        name = frame.f_globals.get("__name__", "")
        if name.split(".")[0] == "policy_engine":
            return f"{name}:{line}"
    return "an unknown place"
