"""The versions of dbt that are tested: each in an environment of its own, made once and kept.

They lie outside the checkout, in a folder that is named by what is pinned, so that a new pin is a
new folder. Two workers may ask at once: a lock lets one make it and the other wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

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
}
# DuckDB's library for dbt v2 is taken for Linux alone.
_HAS_V2 = sys.platform == "linux" and platform.machine() == "x86_64"
VERSIONS = tuple(version for version in ENVIRONMENTS if _HAS_V2 or version != "2")


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
    """One version of dbt: its executable, and the environment it runs in.

    ``executable`` needs no environment of its own: it may be put on PATH or named as it is.
    """

    version: str
    executable: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_v2(self) -> bool:
        """Whether it is the Rust binary."""
        return self.version.startswith("2")

    def environment(self) -> dict[str, str]:
        """What to run it with: quiet, no telemetry, no look for newer versions."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("DBT_")},
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_VERSION_CHECK": "false",
            "DBT_USE_COLORS": "false",
            "DBT_STATIC_ANALYSIS": "off",
            "PATH": f"{self.executable.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            **self.extra,
        }

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
        """``run``, for many commands: dbt 1.x is imported once for all of them."""
        if self.is_v2:
            yield self.run
            return
        python, script = (
            self.executable.with_name("python"),
            Path(__file__).with_name("dbt_server.py"),
        )
        with subprocess.Popen(
            # -W: what a fork leaves to its parent is warned about.
            [python, "-W", "ignore", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.environment(),
            text=True,
            bufsize=1,
        ) as server:
            assert server.stdin is not None and server.stdout is not None

            def run(*words: str, project: Path, **extra: str) -> Done:
                with tempfile.NamedTemporaryFile(mode="r") as out:
                    asked = {
                        "words": _whole(words, project),
                        "folder": str(project),
                        "environment": {**self.environment(), **extra},
                        "out": out.name,
                    }
                    server.stdin.write(json.dumps(asked) + "\n")
                    answer = server.stdout.readline()
                    if not answer:
                        raise RuntimeError(f"dbt {self.version} ended: see what it wrote above")
                    return Done(int(answer), out.read())

            yield run
            server.stdin.close()


def _whole(words: tuple[str, ...], project: Path) -> list[str]:
    return [*words, "--project-dir", str(project), "--profiles-dir", str(project)]


def dbt_of(version: str) -> Dbt:
    """One version of dbt, made if it is not there."""
    pins = ENVIRONMENTS[version]
    folder = CACHE / f"dbt-{version}-{pins.digest()}"
    with _alone(folder):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, pins)
            (folder / "complete").write_text(json.dumps(pins.packages) + "\n")
    return Dbt(version, folder / "bin" / "dbt")


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
    for name in VERSIONS:
        print(name, dbt_of(name).executable)
