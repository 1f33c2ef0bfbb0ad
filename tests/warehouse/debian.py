"""Debian's packages for tests: installed where they are missing, their services never started."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

_LOCK = Path("/tmp/policy-engine-apt.lock")
_POLICY = Path("/usr/sbin/policy-rc.d")


def ensure(package: str, is_there: Callable[[], bool]) -> None:
    """Install a package unless it is there; of all workers only one at a time does."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        if is_there():
            return
        raise RuntimeError(f"not here, and only root can install it: apt-get install {package}")
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Not before: a package that is being installed has its programs before its user.
        if is_there():
            return
        ours = not _POLICY.exists()
        if ours:
            _POLICY.write_text("#!/bin/sh\nexit 101\n")
            _POLICY.chmod(0o755)
        try:
            _apt("update", "-qq")
            _apt("install", "-y", "--no-install-recommends", package)
        finally:
            if ours:
                _POLICY.unlink()


def postgresql() -> Path:
    """The programs of Debian's server, which is built with ICU."""
    place = Path("/usr/lib/postgresql")
    ensure("postgresql", lambda: any(place.glob("*/bin/initdb")))
    return next(place.glob("*/bin/initdb")).parent


def _apt(*words: str) -> None:
    done = subprocess.run(
        ["apt-get", "-o", "DPkg::Lock::Timeout=600", *words],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"apt-get {' '.join(words)} failed:\n{done.stderr[-2000:]}")
