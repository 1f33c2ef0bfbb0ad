"""Releases where the disk is full from some byte on."""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from crash_kills import Broken, Copy, Tally, Watch, check
from crash_world import Case, acted, forked, seen_of, write_template
from crash_world import seen as seen_in

CLEAR = {"FileError", "LedgerError", "WarehouseError"}


def limited(act: Callable[[], Any], most: int) -> Callable[[], Any]:
    """``act`` where no file grows beyond so many bytes."""

    def run() -> Any:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # else it would be killed
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return act()

    return run


@contextmanager
def small_disk(kilobytes: int):
    """A file system of that size, to be filled; OSError where it may not be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="disk-"))
    size = f"size={kilobytes}k"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=False, capture_output=True
    )
    if made.returncode:
        folder.rmdir()
        raise OSError(made.stderr.decode())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def _fault_of(answer: Any) -> str:
    """Why the error of a full disk is not clear; empty where it is, or where there was none."""
    if answer is None:
        return "it has died"
    if "raised" not in answer or answer["raised"] in CLEAR:
        return ""
    if "see disk space" in answer["message"]:
        return ""  # the engine's own files are full
    return f"{answer}"


def after_full(watch: Watch) -> dict[str, Any]:
    """What must hold once there is space again."""
    watch.tally = Tally()
    with suppress(Broken):
        check(watch, reconciles=True)
    return watch.tally.to_json()


def full_at(template: Path, case: Case, place: Path, most: int) -> tuple[str, Tally]:
    """A release where files end at ``most`` bytes, and all that is asked afterwards."""
    before = seen_of(forked(lambda: seen_in(template, case)))
    with Copy(template, place) as folder:
        answer = forked(limited(lambda: acted(folder, case), most))
        return _told(answer), _asked(folder, case, f"limit {most}", before, answer)


def full_disk(case: Case, kilobytes: int, left: int) -> tuple[str, Tally]:
    """A release on a disk that has ``left`` bytes left, and all that is asked afterwards."""
    with small_disk(kilobytes) as disk:
        write_template(disk / "world", case)
        before = seen_of(forked(lambda: seen_in(disk / "world", case)))
        filler = disk / "filler"
        free = shutil.disk_usage(disk).free
        filler.write_bytes(bytes(max(0, free - left)))
        answer = forked(lambda: acted(disk / "world", case))
        filler.unlink()
        return _told(answer), _asked(disk / "world", case, f"left {left}", before, answer)


def _told(answer: Any) -> str:
    if answer is None:
        return "died"
    return f"{answer['raised']}: {answer['message']}" if "raised" in answer else "released"


def _asked(folder: Path, case: Case, where: str, before: Any, answer: Any) -> Tally:
    tally = Tally(kills=1)
    watch = Watch(folder, case, where, tally, before)
    if fault := _fault_of(answer):
        watch.fault("recoveries that failed", fault)
    found = forked(lambda: after_full(watch))
    assert found is not None and "raised" not in found, found
    tally.add({**found, "kills": 0})
    return tally
