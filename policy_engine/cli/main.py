"""The entry point: runs a command, and turns whatever stops it into a message and a code.

Exit codes: 0 done · 1 a finding · 2 wrong usage · 3 a warehouse or file failed · 70 an internal
error · 130 interrupted, whether by Ctrl-C, by SIGTERM or by SIGHUP.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from _thread import interrupt_main
from contextlib import suppress
from threading import Timer
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_IMPORTING = "<frozen importlib._bootstrap>"

_stopped_by: list[int] = []


def interrupted() -> bool:
    """Whether a signal has asked this process to stop."""
    return bool(_stopped_by)


def main() -> NoReturn:
    """Run the command of this process and exit with its code."""
    gc.disable()  # until the command is loaded
    # What a parent has told to be ignored, as nohup does, stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    for number in _ENDINGS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)
    code = INTERRUPTED
    with suppress(KeyboardInterrupt):
        code = run(sys.argv[1:])
        _ignore_signals()
    _ignore_signals()
    if not interrupted():
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # Everything is closed. Python's own way out takes apart each object by itself, a seventh of a
    # command's time; and it may end by SIGINT, whatever code it is given, where a library was
    # interrupted inside.
    os._exit(code)


def _ignore_signals() -> None:
    """All is done and said: nothing that arrives now may change the code."""
    for number in (signal.SIGINT, *_ENDINGS):
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop by an exception, so that everything on the way cleans up.

    While a module is imported a signal waits: DuckDB's aborts the process if anything is raised
    inside of it, and what is raised where Python lets go of an import's lock is dropped.
    """
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            Timer(0.01, interrupt_main, [number]).start()
            return
        frame = frame.f_back
    _stopped_by.append(number)
    raise KeyboardInterrupt


def run(arguments: list[str]) -> int:
    """Run a command; its exit code. Whatever stopped it was told on stderr.

    >>> run(["--version"])  # doctest: +ELLIPSIS
    policy-engine ...
    0
    """
    _open_streams()
    # Looking for plugins of pydantic reads what is installed, 20 ms of it; none may see a policy.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # numpy's linear algebra, which is hardly used, starts a thread a processor: 60 ms of it on two.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator takes 10 MB ahead, of which a release needs little.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        from policy_engine.cli.output import set_up, wants_json

        set_up(as_json=wants_json(arguments))
        return _invoke(arguments)
    except BaseException as error:
        if interrupted():
            _ignore_signals()
        return _told(error, arguments)


def _invoke(arguments: list[str]) -> int:
    from policy_engine.cli.app import COMMANDS, COMPLETION, PROGRAM, command_of, complete
    from policy_engine.cli.failures import Exit

    if asked := os.environ.get(COMPLETION):
        return complete(asked)
    # Not app(): it would print usage errors itself, and swallow an interrupt.
    command = command_of(frozenset(COMMANDS.keys() & arguments))
    if not gc.isenabled():
        # What was loaded stays: to look for garbage in it takes a tenth of a command's time.
        gc.freeze()
        gc.set_threshold(100_000)
        gc.enable()
    try:
        with command.make_context(PROGRAM, arguments) as context:
            command.invoke(context)
        code = 0
    except Exit as stop:
        code = stop.exit_code
    sys.stdout.flush()
    return code


def _told(error: BaseException, arguments: list[str]) -> int:
    """Say what stopped the command, once on stderr and, where JSON was asked for, on stdout."""
    from policy_engine.cli.failures import BUG, failure
    from policy_engine.cli.output import drop, emit_error, note, wants_json

    found = failure(error)
    if found.exit_code == BUG and os.environ.get("POLICY_ENGINE_DEBUG"):
        import traceback

        for line in "".join(traceback.format_exception(error)).split("\n"):
            note(line)
    try:
        emit_error(found, as_json=wants_json(arguments))
    except OSError:
        drop(sys.stdout)
    return found.exit_code


def _open_streams() -> None:
    """Give a closed stdin, stdout or stderr /dev/null, so that no other file gets its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
