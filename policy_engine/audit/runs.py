"""Thousands of runs of many mechanisms, on every processor, and what each let out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event, Lock
from typing import TypeVar

from policy_engine.audit.bench import Draw
from policy_engine.audit.events import Features

_CHUNK = 400
"""Runs on one connection: it is opened in the time of about thirty."""

Name = TypeVar("Name", bound=Hashable)
Opener = Callable[[], AbstractContextManager[Draw]]
"""Builds a table with its mechanism on a connection of its own."""
Tick = Callable[[int, int], None]
"""Told how many runs are done, and of how many."""


@dataclass(frozen=True)
class Runs:
    """So many runs of one mechanism on one table."""

    opener: Opener
    number: int


def observe(
    wanted: Mapping[Name, Runs], tick: Tick = lambda done, total: None
) -> dict[Name, list[Features]]:
    """The runs of each mechanism. An error or an interrupt stops them all."""
    stop, told = Event(), _Count(sum(runs.number for runs in wanted.values()), tick)
    # The engine works outside the interpreter's lock. What it warns of is a copy of a few rows; the
    # filter is the process's, so that one thread alone sets it.
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result")
        futures: dict[Name, list[Future[list[Features]]]] = {
            name: [
                pool.submit(_chunk, runs.opener, min(_CHUNK, runs.number - start), stop, told)
                for start in range(0, runs.number, _CHUNK)
            ]
            for name, runs in wanted.items()
        }
        try:
            return {
                name: [run for chunk in chunks for run in chunk.result()]
                for name, chunks in futures.items()
            }
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _Count:
    """Counts what all threads have done."""

    def __init__(self, total: int, tick: Tick) -> None:
        self._lock, self._done, self._total, self._tick = Lock(), 0, total, tick

    def one_more(self) -> None:
        with self._lock:
            self._done += 1
            if self._done % 50 == 0 or self._done == self._total:
                self._tick(self._done, self._total)


def _chunk(opener: Opener, runs: int, stop: Event, told: _Count) -> list[Features]:
    found: list[Features] = []
    if stop.is_set():
        return found
    with opener() as draw:
        while len(found) < runs and not stop.is_set():
            found.append(draw())
            told.one_more()
    return found
