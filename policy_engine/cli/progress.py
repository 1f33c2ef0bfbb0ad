"""What a person at a terminal sees of a long work: how much is done, and what is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

from policy_engine.cli.output import is_quiet
from policy_engine.policy.escapes import escaped

PerCent = Callable[[], float | None]
"""How much of a work is done; None where nobody knows."""
_ASKED_EVERY = 0.2
_TOLD_AFTER = 2.0
"""Seconds of a work before a guess of what is left is worth telling."""


class Progress:
    """A spinner that says how much is done. Each work in it starts at nothing."""

    def __init__(self, doing: str, show: Callable[[str], None] | None) -> None:
        self._doing = doing
        self._show = show
        self._since, self._last = monotonic(), 0.0

    def reached(self, share: float, what: str = "") -> None:
        """So much of the whole is done, from 0 to 1; ``what`` says it in other words."""
        if self._show is None:
            return
        if share < self._last:
            self._since = monotonic()
        self._last = share
        left = time_left(monotonic() - self._since, share)
        self._show(", ".join(filter(None, [f"{self._doing}: {what or f'{share:.0%}'}", left])))

    def counted(self, done: int, total: int) -> None:
        """So many runs of a total are done."""
        self.reached(done / total, f"{done:,} of {total:,} runs")

    @contextmanager
    def watching(self, ask: PerCent) -> Iterator[None]:
        """Ask for the per cent while the body runs, from another thread, and never after it."""
        if self._show is None:
            yield
            return
        over = Event()

        def watch() -> None:
            began = False
            while not over.wait(_ASKED_EVERY):
                found = ask()
                if found and not began:  # what came before the first query tells nothing of it
                    self._since, began = monotonic(), True
                if found:
                    self.reached(found / 100)

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def time_left(passed: float, share: float) -> str:
    """About how long it takes still, after so many seconds; empty where that is anybody's guess.

    >>> time_left(30.0, 0.25), time_left(600.0, 0.5), time_left(1.0, 0.5), time_left(9.0, 1.0)
    ('about 90 s left', 'about 10 min left', '', '')
    """
    if passed < _TOLD_AFTER or not 0.01 <= share < 1:
        return ""
    seconds = passed * (1 - share) / share
    return f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"


@contextmanager
def progress(doing: str) -> Iterator[Progress]:
    """A spinner on a terminal, nothing elsewhere and nothing with --quiet."""
    if is_quiet() or not sys.stderr.isatty():
        yield Progress(doing, None)
        return
    from rich.console import Console
    from rich.text import Text

    doing = escaped(doing)
    with Console(stderr=True).status(Text(doing)) as status:
        yield Progress(doing, lambda text: status.update(Text(text)))
