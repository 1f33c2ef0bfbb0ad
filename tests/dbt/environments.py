"""Each version of dbt that is tested, in an environment of its own, made once and kept.

They lie outside the checkout, in a folder that is named by what is pinned, so that a new pin is a
new folder. Two workers may ask at once: a lock lets one make it and the other wait.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import hashlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import pytest

CACHE = Path(
    os.environ.get("POLICY_ENGINE_TEST_CACHE", Path.home() / ".cache" / "policy-engine-tests")
)
# The DuckDB of dbt v2 is whatever library it finds; npm has one for plain Linux.
_LIBRARY = "@duckdb/node-bindings-linux-x64@1.5.6-r.1"


@dataclass(frozen=True)
class Pins:
    """What an environment is made of."""

    packages: tuple[str, ...]
    options: tuple[str, ...] = ()
    library: str | None = None

    def digest(self) -> str:
        """A short name for exactly these, on this Python."""
        parts = (self.packages, self.options, self.library, sys.version_info[:3])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


ENVIRONMENTS: Mapping[str, Pins] = {
    "1.8": Pins(("dbt-core==1.8.10", "dbt-duckdb==1.8.4", "duckdb==2.0.0")),
    "1.9": Pins(("dbt-core==1.9.11", "dbt-duckdb==1.9.6", "duckdb==2.0.0")),
    "1.10": Pins(("dbt-core==1.10.23", "dbt-duckdb==1.10.1", "duckdb==2.0.0")),
    "1.11": Pins(
        (
            "dbt-core==1.11.16",
            "dbt-duckdb==1.11.1",
            "dbt-postgres==1.11.0",
            "duckdb==2.0.0",
        )
    ),
    "1.12": Pins(
        (
            "dbt-core==1.12.0",
            "dbt-core-experimental-parser==2.0.0a4",
            "dbt-duckdb==1.11.1",
            "duckdb==2.0.0",
        ),
        options=("--only-binary", "dbt-core-experimental-parser"),
    ),
    "2": Pins(("dbt-core==2.0.0a4",), options=("--prerelease=allow",), library=_LIBRARY),
    "2-fusion": Pins(
        ("dbt==2.0.0rc196",),
        options=("--only-binary", ":all:", "--prerelease=allow"),
        library=_LIBRARY,
    ),
}
# An emulation of Snowflake, which cannot live beside our sqlglot. Later connectors have no module
# that it reads; pyarrow is the one that our own environment has, and so is there already.
FAKESNOW = Pins(
    (
        "fakesnow==0.12.1",
        "snowflake-connector-python==4.8.1",
        f"pyarrow=={version('pyarrow')}",
    )
)
AIRFLOW = Pins(
    (
        "apache-airflow==3.3.2",
        "apache-airflow-providers-standard==1.21.0",
        "astronomer-cosmos==1.15.1",
    )
)
# DuckDB's library for dbt v2 is taken for Linux alone.
_HAS_V2 = sys.platform == "linux" and platform.machine() == "x86_64"
NEWEST = "1.11"
"""The version that ``make test`` runs; ``make evidence`` runs them all."""
OLDER = ("1.8", "1.9", "1.10", "2-fusion")
"""Those in which a release is made from sync to verify, and no more is tried."""
VERSIONS = [
    name if name == NEWEST else pytest.param(name, marks=pytest.mark.evidence)
    for name in ENVIRONMENTS
    if (_HAS_V2 or name != "2") and name not in OLDER
]
LONG_ROOMS = [
    pytest.param(room, marks=pytest.mark.evidence)
    for room in (
        (NEWEST, "duckdb"), (NEWEST, "postgres"), ("1.12", "duckdb"), ("2", "duckdb"),
        ("1.8", "duckdb"), ("1.9", "duckdb"), ("1.10", "duckdb"),
        ("2-fusion", "duckdb"),
    )
    if _HAS_V2 or not room[0].startswith("2")
]  # fmt: skip
ROOMS = [(NEWEST, "duckdb"), *LONG_ROOMS[1:]]
"""``make test`` has one story of dbt, a release from sync to attest; the others are long proofs."""


@dataclass(frozen=True)
class Done:
    """How a command of dbt ended, and all that it printed."""

    returncode: int
    out: str


class Runner(Protocol):
    """Runs one command of dbt in a project."""

    def __call__(self, *words: str, project: Path, **extra: str) -> Done: ...


@dataclass(frozen=True)
class Dbt:
    """One version of dbt: its real executable, and the environment it runs in."""

    version: str
    real: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_v2(self) -> bool:
        """Whether it is the Rust binary."""
        return self.version.startswith("2")

    @property
    def executable(self) -> Path:
        """What runs as ``real`` does, and does not import dbt 1.x each time.

        It needs no environment of its own: it may be put on PATH or named as it is.
        """
        return self.real if self.is_v2 else _served(self.real).executable

    def environment(self) -> dict[str, str]:
        """What to run it with: quiet, no telemetry, no look for newer versions."""
        return {**_quiet(), "PATH": _first_on_path(self.executable), **self.extra}

    def run(self, *words: str, project: Path, **extra: str) -> Done:
        """Run one command in a project whose profiles.yml lies in it; never raises."""
        done = subprocess.run(
            [self.executable, *_whole(words, project)],
            cwd=project,
            env={**self.environment(), **extra},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout)

    @contextmanager
    def served(self) -> Iterator[Runner]:
        """``run``, for many commands."""
        yield self.run


def _quiet() -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("DBT_")},
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DBT_VERSION_CHECK": "false",
        "DBT_USE_COLORS": "false",
        "DBT_STATIC_ANALYSIS": "off",
    }


def _first_on_path(executable: Path) -> str:
    return f"{executable.parent}{os.pathsep}{os.environ.get('PATH', '')}"


# -I and -S: it starts in a few milliseconds. Its output is that of the fork that runs the command.
_CLIENT = """\
#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = {{"words": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
    socket.send_fds(server, [b" "], [1, 2])
    server.sendall(json.dumps(asked).encode())
    server.shutdown(socket.SHUT_WR)
    answer = server.recv(9)
sys.exit(int(answer) if answer else "the server of dbt ended")
"""


class _Server:
    """dbt 1.x, imported once for all commands of this process; it ends with this process."""

    def __init__(self, real: Path) -> None:
        # A socket's path has at most 107 bytes, so it is not under pytest's folder.
        folder = Path(tempfile.mkdtemp(prefix="dbt-", dir="/tmp"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        python, self.executable = real.with_name("python"), folder / "dbt"
        address = str(folder / "socket")
        self.executable.write_text(_CLIENT.format(python=python, address=address))
        beside = folder / "python"
        beside.write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
        for script in (self.executable, beside):
            script.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            self._process = subprocess.Popen(
                # -W: what a fork leaves to its parent is warned about.
                [python, "-W", "ignore", Path(__file__).with_name("dbt_server.py"),
                 str(listening.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                env={**_quiet(), "PATH": _first_on_path(real)},
            )  # fmt: skip


_served = functools.cache(_Server)


def _whole(words: tuple[str, ...], project: Path) -> list[str]:
    return [*words, "--project-dir", str(project), "--profiles-dir", str(project)]


def dbt_of(version: str) -> Dbt:
    """One version of dbt, made if it is not there."""
    return Dbt(version, environment(f"dbt-{version}", ENVIRONMENTS[version]) / "bin" / "dbt")


def environment(name: str, pins: Pins) -> Path:
    """An environment of these packages, made if it is not there."""
    folder = CACHE / f"{name}-{pins.digest()}"
    with _alone(folder):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, pins)
            (folder / "complete").write_text(json.dumps(pins.packages) + "\n")
    return folder


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(folder: Path, pins: Pins) -> None:
    uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
    python = folder / "bin" / "python"
    _run(uv, "venv", "-q", "--python", sys.executable, folder)
    _run(
        uv,
        "pip",
        "install",
        "-q",
        "--compile-bytecode",
        "--python",
        python,
        *pins.options,
        *pins.packages,
    )
    if pins.library is not None:
        _add_library(folder, pins.library)


def _add_library(folder: Path, library: str) -> None:
    """Put DuckDB's library beside dbt, and a script in dbt's place that lets it be found."""
    _run("npm", "pack", "--silent", library, cwd=folder)
    archive = next(folder.glob("*.tgz"))
    with tarfile.open(archive) as packed:
        member = packed.getmember("package/libduckdb.so")
        member.name = "libduckdb.so"
        packed.extract(member, folder / "lib", filter="data")
    archive.unlink()
    dbt = folder / "bin" / "dbt"
    dbt.rename(folder / "bin" / "dbt-binary")
    dbt.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{folder / "lib"}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" '
        f'exec "{folder / "bin" / "dbt-binary"}" "$@"\n'
    )
    dbt.chmod(0o755)


def _run(*words: str | Path, cwd: Path | None = None) -> None:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} failed:\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    for name in ENVIRONMENTS:
        print(name, dbt_of(name).executable)
