"""A MariaDB server of our own, for tests: Debian's binaries, a folder of its own, no port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pymysql
from debian import ensure

SERVER, INSTALL = "mariadbd", "mariadb-install-db"
_SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])


def binary(name: str) -> str:
    """The path of a program of MariaDB, which is installed first where it is not there."""
    ensure("mariadb-server", lambda: None not in (_found(SERVER), _found(INSTALL)))
    found = _found(name)
    if found is None:
        raise RuntimeError(f"no {name} here; run: apt-get install mariadb-server")
    return found


def _found(name: str) -> str | None:
    return shutil.which(name, path=_SEARCHED)


class MariaDB:
    """One server, from ``start`` to ``close``; the user root has no password."""

    def __init__(self, *settings: str) -> None:
        binary(SERVER)  # its package makes the user mysql
        # A socket's path has at most 107 bytes, so it is not under pytest's folder.
        self.folder = Path(tempfile.mkdtemp(prefix="maria-", dir="/tmp"))
        self.settings = settings
        self.data, self.socket = self.folder / "data", self.folder / "s"
        if os.geteuid() == 0:
            shutil.chown(self.folder, "mysql", "mysql")
        normal = "--auth-root-authentication-method=normal"
        command = [binary(INSTALL), "--no-defaults", "--skip-test-db", normal, *self._places]
        # Its user may not write in the folder that TMPDIR names for us.
        self.environment = {**os.environ, "TMPDIR": str(self.folder)}
        subprocess.run(command, check=True, capture_output=True, cwd="/", env=self.environment)
        self.start()

    @property
    def _places(self) -> list[str]:
        return [f"--datadir={self.data}", *(["--user=mysql"] if os.geteuid() == 0 else [])]

    def start(self) -> None:
        command = [
            binary(SERVER),
            "--no-defaults",
            "--skip-networking",
            f"--socket={self.socket}",
            f"--pid-file={self.folder / 'pid'}",
            f"--log-error={self.folder / 'log'}",
            "--innodb-buffer-pool-size=32M",
            "--innodb-flush-log-at-trx-commit=2",
            *self._places,
            *self.settings,
        ]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, cwd="/", env=self.environment, stdout=quiet, stderr=quiet
        )
        while True:
            if self.process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text()[-3000:])
            try:
                self.connect().close()
            except pymysql.Error:
                time.sleep(0.05)
            else:
                return

    def connect(self, user: str = "root", database: str | None = None) -> pymysql.Connection:
        return pymysql.connect(
            unix_socket=str(self.socket),
            user=user,
            database=database,
            charset="utf8mb4",
            autocommit=True,
        )

    def url(self, database: str = "work", user: str = "root") -> str:
        return f"mariadb://{user}@localhost/{database}?socket={self.socket}"

    def sql(self, *statements: str, user: str = "root", database: str | None = "work") -> list:
        """The rows of the last statement; each is a transaction."""
        rows: list = []
        connection = self.connect(user, database)
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                    rows = list(cursor.fetchall())
        finally:
            connection.close()
        return rows

    def crash(self) -> None:
        """End it as a loss of power would."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running(*settings: str) -> Iterator[MariaDB]:
    """A server with an empty database called work; removed on leaving."""
    server = MariaDB(*settings)
    try:
        server.sql("CREATE DATABASE work", database=None)
        yield server
    finally:
        server.close()
