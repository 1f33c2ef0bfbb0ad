"""kill -9 at every line, and at random moments; what must hold afterwards, whenever it came."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import statistics
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from crash_world import (
    HUNG,
    Case,
    Child,
    Seen,
    acted,
    die,
    forked,
    patient,
    project_in,
    released,
    seen_of,
    warm_up,
    write_template,
)
from crash_world import seen as seen_in

import policy_engine
from policy_engine.releasing import standing

PACKAGE = Path(policy_engine.__file__).parent
#: What runs while something is charged, started, published and settled.
MODULES = frozenset(
    str(path)
    for path in (
        *(PACKAGE / "ledger").glob("*.py"),
        *(PACKAGE / "releasing").glob("*.py"),
        PACKAGE / "warehouse" / "duckdb.py",
        PACKAGE / "policy" / "pins.py",
        PACKAGE / "attest" / "keyring.py",
        PACKAGE / "attest" / "sealing.py",
        PACKAGE / "attest" / "signers.py",
        PACKAGE / "attest" / "keys.py",
    )
)
assert all(Path(each).is_file() for each in MODULES)
UNDER_CHARGE, HALF, BROKEN = "under-charges", "half releases", "broken chains"
WRONG, NOT_SAME, LEFT = "wrong settlements", "other bytes or charges again", "left behind"
FAILED, HANGS = "recoveries that failed", "hangs"
FAULTS = (UNDER_CHARGE, HALF, BROKEN, WRONG, NOT_SAME, LEFT, FAILED, HANGS)


@dataclass
class Tally:
    """How many kills there were, where they left things, and every fault."""

    kills: int = 0
    ended: int = 0
    found: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "kills": self.kills,
            "ended": self.ended,
            "found": dict(self.found),
            "faults": self.faults,
        }

    def add(self, other: dict[str, Any]) -> None:
        self.kills += other["kills"]
        self.ended += other["ended"]
        self.found.update(other["found"])
        self.faults += [tuple(fault) for fault in other["faults"]]

    @property
    def counts(self) -> dict[str, int]:
        """How often each fault was."""
        counted = Counter(kind for kind, _ in self.faults)
        return {kind: counted[kind] for kind in FAULTS}


# Dying.


def die_at(line: int) -> None:
    """Let this process die before the ``line``-th line of ``MODULES`` that it runs."""
    left = itertools.count(line, -1)

    def local(frame: Any, event: str, argument: Any) -> Any:
        if event == "line" and next(left) == 0:
            die()
        return local

    sys.settrace(
        lambda frame, event, argument: local if frame.f_code.co_filename in MODULES else None
    )


@dataclass(frozen=True)
class Steps:
    """The lines that something runs. Between ``first`` and ``last`` of a step no file changes.

    So a kill leaves the same files behind at any line of a step.
    """

    lines: int
    steps: tuple[tuple[int, int], ...]

    @property
    def ends(self) -> list[int]:
        """The first and the last line of each step."""
        return sorted({line for step in self.steps for line in step})


def steps_of(template: Path, case: Case, place: Path) -> Steps:
    """The steps of a case, and how many lines they are."""

    def count() -> list[tuple[int, int]]:
        stamp, steps, lines = (), [], itertools.count()

        def local(frame: Any, event: str, argument: Any) -> Any:
            nonlocal stamp
            if event == "line":
                line, now = next(lines), _stamp(folder)
                if now != stamp:
                    steps.append((line, line))
                stamp, steps[-1] = now, (steps[-1][0], line)
            return local

        sys.settrace(lambda f, event, argument: local if f.f_code.co_filename in MODULES else None)
        acted(folder, case)
        sys.settrace(None)
        return steps

    with Copy(template, place) as folder:
        found = forked(count)
    assert isinstance(found, list), found
    return Steps(found[-1][1] + 1, tuple((first, last) for first, last in found))


_SMALL = 1 << 16


def _stamp(folder: Path) -> tuple[Any, ...]:
    """What tells whether any file of a folder has changed; clocks of files tick too slowly."""
    found, left = [], [str(folder)]
    while left:
        for entry in os.scandir(left.pop()):
            if entry.is_dir(follow_symlinks=False):
                left.append(entry.path)
                found.append((entry.path,))
                continue
            with suppress(FileNotFoundError):
                stat = entry.stat(follow_symlinks=False)
                facts = (
                    stat.st_ino,
                    stat.st_nlink,
                    stat.st_size,
                    stat.st_mtime_ns,
                    stat.st_ctime_ns,
                )
                small = stat.st_size < _SMALL and not entry.name.endswith("-shm")
                content = zlib.crc32(Path(entry.path).read_bytes()) if small else 0
                found.append((entry.path, *facts, content))
    return tuple(sorted(found))


def work_of(template: Path, case: Case, place: Path, times: int = 5) -> tuple[float, float]:
    """How long the whole of it takes: seconds of its processor, seconds on the wall.

    The process that a release into a table waits for at its end is in the second only.
    """

    def act() -> list[float]:
        start = time.monotonic()
        acted(folder, case)
        return [time.thread_time(), time.monotonic() - start]

    taken = []
    for _ in range(times):
        with Copy(template, place) as folder:
            answer = forked(act)
            assert isinstance(answer, list), answer
            taken.append(answer)
    work, wall = (statistics.median(each) for each in zip(*taken, strict=True))
    return work, wall


def wait_for_work(child: Child, seconds: float) -> None:
    """Wait until a child has worked for so long, or is done: on a busy machine later than else."""
    schedule = Path(f"/proc/{child.id}/schedstat")
    if not schedule.exists():
        time.sleep(seconds)
        return
    while not child.is_done and int(schedule.read_text().split()[0]) < seconds * 1e9:
        time.sleep(0.0002)
    time.sleep(random.uniform(0, 0.004))  # the kernel counts in steps of that


class Copy:
    """A copy of a template, gone on leaving."""

    numbers = itertools.count()

    def __init__(self, template: Path, place: Path) -> None:
        self._template = template
        self._folder = place / f"w{os.getpid()}-{next(self.numbers)}"

    def __enter__(self) -> Path:
        shutil.copytree(self._template, self._folder)
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)


# What must hold.


class Broken(Exception):
    """The rest of what must hold cannot be asked for."""


@dataclass
class Watch:
    """One kill: what was before it, and the observer's questions after it."""

    folder: Path
    case: Case
    where: str
    tally: Tally
    before: Seen

    def fault(self, kind: str, why: str) -> None:
        self.tally.faults.append((kind, f"{self.case.name} {self.where}: {why}"))

    def look(self) -> Seen:
        """What stands now; what must hold at any moment."""
        seen = seen_of(seen_in(self.folder, self.case))
        if seen.broken:
            self.fault(BROKEN, seen.broken)
            raise Broken
        if len(seen.charged) != seen.charges:
            self.fault(UNDER_CHARGE, f"priced {seen.charges} of {seen.charged}")
        if len(seen.charged) < self._visible(seen):
            self.fault(UNDER_CHARGE, f"{seen.charged} for {seen}")
        # A table and the file of its certificate cannot be exchanged in one step; files can.
        exchanged = self.case.target == "table" and self.case.replaces
        if seen.digest is not None and not seen.certified and not exchanged:
            self.fault(HALF, f"not certified: {seen}")
        return seen

    def _visible(self, seen: Seen) -> int:
        """How many releases somebody may have seen something of."""
        old = set(self._old.entries)
        started = [
            state for entry, state in seen.entries.items()
            if entry not in old and state not in {"reserved", "cancelled"}
        ]  # fmt: skip
        rows = [name for name in seen.aside if name.startswith(".r.parquet.")]
        new_rows = [name for name in rows if not name.startswith(".r.parquet.old-")]
        new = seen.digest not in (None, self._old.digest)
        return len(self._old.charged) + bool(started or new_rows or new)

    @property
    def _old(self) -> Seen:
        """What was before the release that was killed, or that is settled."""
        return old_of(self.folder) if self.case.replaces else self.before

    def whole(self, seen: Seen, *, again: bool = False) -> None:
        """What must hold once somebody has settled what was left."""
        if seen.digest is not None and not seen.certified:
            self.fault(HALF, f"not certified once settled: {seen}")
        if self.case.replaces and seen.digest is None:
            self.fault(HALF, "what stood before is gone")
        if self.case.replaces and seen.digest == self._old.digest:
            kept = (self.folder / "old.certificate").read_bytes()
            if (self.folder / self.case.certificate).read_bytes() != kept:
                self.fault(HALF, "the old release has another certificate")
        # Empty, and made before anything was recorded: nobody is told of it but the next release.
        left = [name for name in seen.aside if ".probe-" not in name or again]
        if left:
            self.fault(LEFT, f"{left}")
        if seen.digest is None and seen.certificate is not None:
            self.fault(LEFT, "a certificate of nothing")
        if seen.open:
            self.fault(WRONG, f"open: {seen.open}")

    def told(self, seen: Seen) -> str:
        """In a few words."""
        new = [entry for entry in seen.charged if entry not in self.before.charged]
        state = list(seen.entries.values())[-1] if seen.entries else "not charged"
        old = seen.digest == self._old.digest
        stands = "nothing" if seen.digest is None else "the old one" if old else "the new one"
        bare = " without its certificate" if seen.digest and not seen.certified else ""
        aside = ", files aside" if seen.aside else ""
        return f"+{len(new)} charged, last {state}; {stands}{bare} stands{aside}"

    def reconcile(self, first: Seen) -> Seen:
        """Settle what was left: each open entry comes to what is right."""
        self._recover(
            lambda: [settled.outcome for settled in standing.reconcile(project_in(self.folder))]
        )
        seen = self.look()
        self.whole(seen)
        new = first.digest not in (None, self._old.digest)
        for entry, state in first.open.items():
            right = "cancelled" if state == "reserved" else "committed" if new else "kept"
            if seen.entries[entry] != right:
                self.fault(WRONG, f"{entry} was {state}, is {seen.entries[entry]}, not {right}")
            if right == "committed" and seen.digests[entry] != seen.digest:
                self.fault(WRONG, f"{entry} is committed as {seen.digests[entry]}: {seen}")
        if not first.open and seen.entries != first.entries:
            self.fault(WRONG, f"{first.entries} became {seen.entries}")
        return seen

    def again(self, first: Seen) -> Seen:
        """Release once more: it stands, for no more than was charged already."""
        self._recover(lambda: released(self.folder, replace=self.case.replaces))
        seen = self.look()
        self.whole(seen, again=True)
        if len(seen.charged) != max(len(first.charged), 1):
            self.fault(NOT_SAME, f"{first.charged} became {seen.charged}")
        if seen.entries[seen.charged[-1]] != "committed":
            self.fault(WRONG, f"published, and {seen.entries}")
        if not seen.certified or seen.digest != seen.digests[seen.charged[-1]]:
            self.fault(HALF, f"the last entry is not what stands: {seen}")
        if first.digest not in (None, self._old.digest, seen.digest):
            self.fault(NOT_SAME, f"{first.digest} became {seen.digest}")
        return seen

    def from_nothing(self, first: Seen) -> None:
        """Remove the release, and release once more: the same bytes, for nothing."""
        remove(self.folder, self.case)
        seen = self.again(first)
        if (seen.digest, seen.certificate) != (first.digest, first.certificate):
            self.fault(NOT_SAME, f"{first} became {seen}")

    def _recover(self, act: Callable[[], Any]) -> None:
        try:
            patient(act)
        except Exception as error:
            self.fault(FAILED, repr(error))
            raise Broken from None


def old_of(folder: Path) -> Seen:
    """What was there before the release that replaces it."""
    return seen_of(json.loads((folder / "old.json").read_text()))


def remove(folder: Path, case: Case) -> None:
    """What somebody does who loses a release."""
    (folder / case.certificate).unlink()
    if case.target == "file":
        (folder / "out" / "r.parquet").unlink()
    else:
        with duckdb.connect(str(folder / "db.duckdb")) as connection:
            connection.execute("DROP TABLE released")


def check(watch: Watch, *, reconciles: bool) -> None:
    """Everything that must hold after one kill, settled by ``reconcile`` or by a release."""
    first = watch.look()
    watch.tally.found[watch.told(first)] += 1
    second = watch.reconcile(first) if reconciles else first
    third = watch.again(second)
    if not reconciles:
        watch.reconcile(third)
    watch.from_nothing(third)


# Killing.


def killed(template: Path, case: Case, place: Path, how: str, at: float) -> Tally:
    """One kill, at a line or after a delay, and all that is asked afterwards."""
    tally = Tally(kills=1)
    before = _before(template, case)
    with Copy(template, place) as folder:
        if how == "line":
            child = Child(lambda: (die_at(int(at)), acted(folder, case)))
        else:
            child = Child(partial(acted, folder, case))
            os.read(child.started, 1)
            if how == "work":
                wait_for_work(child, at)
            else:
                time.sleep(at)
            child.kill()
        answer = child.answer()
        tally.ended += answer is not None
        watch = Watch(folder, case, f"{how} {at:.6g}", tally, before)
        if isinstance(answer, dict) and "raised" in answer:
            watch.fault(FAILED, f"it was not killed, and failed: {answer}")
        answer = forked(partial(_checked, watch, random.Random(f"{how} {at}").random() < 0.5))
        if answer is None or "raised" in answer:
            hung = answer is not None and answer["raised"] == HUNG
            watch.fault(HANGS if hung else FAILED, f"{answer}")
        else:
            tally = Tally(kills=tally.kills, ended=tally.ended, faults=tally.faults)
            tally.add({**answer, "kills": 0, "ended": 0})
    return tally


def _checked(watch: Watch, reconciles: bool) -> dict[str, Any]:
    tally = watch.tally = Tally()
    with suppress(Broken):
        check(watch, reconciles=reconciles)
    return tally.to_json()


_BEFORE: dict[Path, Seen] = {}


def _before(template: Path, case: Case) -> Seen:
    if template not in _BEFORE:
        _BEFORE[template] = seen_of(forked(lambda: seen_in(template, case)))
    return _BEFORE[template]


Job = tuple[Case, Path, str, float]


def run(jobs: Iterable[Job], place: Path, workers: int) -> dict[str, Tally]:
    """Every kill, by so many workers; a tally for each case."""
    warm_up(place)
    jobs = list(jobs)  # made here, once it is warm
    children = [Child(partial(_work, jobs[n::workers], place)) for n in range(workers)]
    tallies: dict[str, Tally] = {}
    for child in children:
        answer = child.answer(24 * 3600)
        assert answer is not None, "a worker has died"
        assert "raised" not in answer, answer
        for name, found in answer.items():
            tallies.setdefault(name, Tally()).add(found)
    return tallies


def _work(jobs: list[Job], place: Path) -> dict[str, Any]:
    tallies: dict[str, Tally] = {}
    for case, template, how, at in jobs:
        found = killed(template, case, place, how, at)
        tallies.setdefault(case.name, Tally()).add(found.to_json())
    return {name: tally.to_json() for name, tally in tallies.items()}


def line_jobs(cases: Iterable[Case], place: Path, stride: int, seed: int) -> Iterator[Job]:
    """Every ``stride``-th end of the steps of each case, from one that the seed says on."""
    for case in cases:
        template = template_of(case, place)
        ends = steps_of(template, case, place).ends
        first = random.Random(f"{seed} {case.name}").randrange(stride)
        for line in ends[first::stride]:
            yield case, template, "line", line


def random_jobs(cases: Iterable[Case], place: Path, kills: int, seed: int) -> Iterator[Job]:
    """Kills at moments spread over the whole span of each case, in turn.

    Compiling and proving take most of it, so half of the kills come in the second half. One of ten
    is by the clock, and so may come while the process that ends a release into a table runs.
    """
    cases, moments = list(cases), random.Random(seed)
    works = {case.name: work_of(template_of(case, place), case, place) for case in cases}
    for number in range(kills):
        case = cases[number % len(cases)]
        work, wall = works[case.name]
        turn = number // len(cases)
        if turn % 10 == 9:
            yield case, template_of(case, place), "delay", moments.uniform(0, wall)
        else:
            yield (
                case,
                template_of(case, place),
                "work",
                moments.uniform(work / 2 * (turn % 2), work),
            )


def template_of(case: Case, place: Path) -> Path:
    """The project before the kill, made once."""
    template = place / f"template-{case.name}"
    if not template.exists():
        write_template(template, case)
    return template
