"""Thousands of runs of many mechanisms, on every processor, and what each let out."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Event
from typing import TypeVar

from policy_engine.audit.bench import Draw
from policy_engine.audit.events import Features

_CHUNK = 250
"""Runs on one connection: it is opened in the time of about ten."""

Name = TypeVar("Name", bound=Hashable)
Opener = Callable[[], AbstractContextManager[Draw]]
"""Builds a table with its mechanism on a connection of its own."""
Tick = Callable[[int], None]
"""Told how many more runs are done."""


def observe(
    openers: Mapping[Name, Opener], runs: int, tick: Tick = lambda done: None
) -> dict[Name, list[Features]]:
    """So many runs of each mechanism. An error or an interrupt stops them all."""
    stop = Event()
    # The engine works outside the interpreter's lock.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures: dict[Name, list[Future[list[Features]]]] = {
            name: [
                pool.submit(_chunk, opener, min(_CHUNK, runs - start), stop, tick)
                for start in range(0, runs, _CHUNK)
            ]
            for name, opener in openers.items()
        }
        try:
            return {
                name: [run for chunk in chunks for run in chunk.result()]
                for name, chunks in futures.items()
            }
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _chunk(opener: Opener, runs: int, stop: Event, tick: Tick) -> list[Features]:
    found: list[Features] = []
    if stop.is_set():
        return found
    with opener() as draw:
        while len(found) < runs and not stop.is_set():
            found.append(draw())
            if len(found) % 50 == 0 or len(found) == runs:
                tick((len(found) - 1) % 50 + 1)
    return found
