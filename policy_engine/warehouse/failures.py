"""What may be said of a failure inside the warehouse.

An engine's message can quote a value of the row that failed, and its very wording tells
what the data held, so it is replaced. Failures of the machine (disk, memory, a file's
rights, an interrupt) are told, in words that come from the operating system or from us.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import duckdb

from policy_engine.errors import Code, EnvironmentFailed, PolicyEngineError, WarehouseFailed
from policy_engine.values import frozen


@frozen
class Cause:
    """What may be said of a failure of an engine's, which quotes no row.

    ``of_setup``: no row of the source can bring it about.
    """

    message: str
    of_setup: bool = False
    code: Code | None = None


Told = Callable[[Exception], Cause | PolicyEngineError | None]
"""What may be said of an engine's error, if anything; an error of ours is raised as it is."""
# What every engine's failures are told by. How much is read, held and written is of the rows.
OUT_OF_MEMORY = Cause("the warehouse ran out of memory; give it more or sample less")
NO_FILE = Cause("the warehouse could not read or write a file; see disk space and rights")
NO_SPACE = Cause("the server's disk is full; nothing was published", code="disk_full")
CANCELLED = Cause("the server cancelled the query")
LOST = Cause("the connection to the server was lost")
WITHHELD = Cause(
    "the warehouse failed; its message is withheld because it may quote data. A second attempt may"
    " end the same: run what 'policy-engine compile' prints there on invented data of the same"
    " schema first"
)
REFUSED_ACCESS = Cause(
    "the warehouse refused access; see the rights of its files", of_setup=True, code="no_right"
)
LOCKED = Cause(
    "another session holds a lock; try again later", of_setup=True, code="warehouse_locked"
)
DEADLOCK = Cause("another session and this one wait for each other; try again later")
NO_SORT = Cause(
    "the server has no memory for a sort by the texts that are kept: give it more, or keep shorter"
    " ones (prefix, a map, a hierarchy)"
)
ABSENT = Cause(
    "a table, column, function or setting that the text needs is not there, or the role may not use"
    " it: the source was altered meanwhile, or the server is of another version than those listed"
    " in the documentation",
    of_setup=True,
)
READ_ONLY = Cause(
    "the server is read-only; release to a file, or from a server that can be written",
    of_setup=True,
)
NOT_PLANNED = Cause(
    "the warehouse does not accept the text, before any row was read; nothing was charged."
    " 'policy-engine compile' prints it: run it there with EXPLAIN before it, to see why",
    of_setup=True,
)
TAKEN = Cause(
    "the target has come to be meanwhile; nothing was published: use --replace to release anew, at"
    " a new price",
    of_setup=True,
    code="place_taken",
)


_OF_OTHERS = frozenset[Code]({"limit_reached", "place_taken", "warehouse_locked"})
"""Causes that are no name's: what others do beside a release, and how much the server grants."""


@contextmanager
def over_rows() -> Iterator[None]:
    """While the body runs a certified text over rows, whatever fails may be of a row.

    What the setup lacks is met before the charge, when the text is planned. Afterwards no error's
    kind tells: a view may make the name of a table, or of a sequence, of a value, as
    ``code::regclass`` does. So what would say that the setup lacks something is withheld, and none
    of it is free; what other sessions do, and what the server grants of its own, is told.
    """
    try:
        yield
    except EnvironmentFailed as error:
        if error.of_setup and error.code not in _OF_OTHERS:
            error.args = error.lines = ()  # a logger may follow the context that stays attached
            raise failure(WITHHELD) from None
        error.of_setup = False
        raise


def by_kind(said: Mapping[type[Exception], Cause]) -> Told:
    """What may be said of an error: of the first of these kinds that it is of."""
    return lambda error: next(
        (cause for kind, cause in said.items() if isinstance(error, kind)), None
    )


_MACHINE = by_kind(
    {
        duckdb.OutOfMemoryException: OUT_OF_MEMORY,
        MemoryError: OUT_OF_MEMORY,
        duckdb.IOException: NO_FILE,
        # A commit that fails, fails to write its log.
        duckdb.TransactionException: NO_FILE,
        duckdb.PermissionException: REFUSED_ACCESS,
    }
)
_TEXT = by_kind({duckdb.CatalogException: ABSENT, duckdb.BinderException: ABSENT})
# What the engine, Arrow and numpy raise, and Python where it reads their values.
_ENGINE = (duckdb.Error, RuntimeError, ValueError, ArithmeticError, MemoryError)


@contextmanager
def withheld(
    known: PolicyEngineError | None = None,
    *,
    engine: tuple[type[Exception], ...] = (),
    told: Told = lambda error: None,
) -> Iterator[None]:
    """Turn an engine's error into one that quotes nothing, nor its context.

    ``known`` is what to raise where the machine is not at fault and the cause is known; ``engine``
    are the errors of another engine's driver, ``told`` what may be said of them.

    Raises:
        WarehouseFailed: in place of every error of the engine and of Arrow, with no cause attached.
    """
    try:
        yield
    except PolicyEngineError:
        raise
    except _raised(engine) as error:
        # While Arrow fetches the rows, the engine tells of an interrupt by a plain RuntimeError.
        is_told = type(error) is RuntimeError and "interrupt" in str(error).lower()
        is_interrupt = is_told or isinstance(error, duckdb.InterruptException)
        cause = (told(error) if isinstance(error, engine) else None) or _MACHINE(error)
        _scrub(error, engine)
        if is_interrupt:
            raise KeyboardInterrupt from None
        if cause is None and known is not None:
            raise known from None
        cause = cause or _TEXT(error)
        if isinstance(cause, PolicyEngineError):
            raise cause from None
        raise failure(cause or WITHHELD) from None


def locked(what: str, holders: Iterable[str]) -> Cause:
    """The cause of a wait for a lock that was in vain, and whose the lock is.

    >>> locked("hosp.visits", ["session 7 of ann"]).message
    'hosp.visits is locked for 30 s by session 7 of ann: end that, or try again when it has ended'
    """
    named = ", ".join(holders)
    if not named:
        return LOCKED
    text = f"{what} is locked for 30 s by {named}: end that, or try again when it has ended"
    return Cause(text, of_setup=True, code="warehouse_locked")


def failure(cause: Cause) -> WarehouseFailed:
    """The error of a cause."""
    return WarehouseFailed(cause.message, of_setup=cause.of_setup, code=cause.code)


def _scrub(error: BaseException, engine: tuple[type[Exception], ...]) -> None:
    """Empty an error, and those before it: a logger may follow the context that stays attached."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, _raised(engine)):
            found.args = ()
        if isinstance(found, UnicodeDecodeError):
            found.object = b""
        found = found.__context__


def _raised(engine: tuple[type[Exception], ...]) -> tuple[type[Exception], ...]:
    """What may be raised; nothing of Arrow, while nobody has needed it."""
    arrow = sys.modules.get("pyarrow")
    return (*engine, *_ENGINE, *([] if arrow is None else [arrow.ArrowException]))
