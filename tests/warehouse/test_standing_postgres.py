"""A release of a table of PostgreSQL that stands: asked for again, nobody connects to it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

import pytest

PROJECT = """\
accounts: {{people: {{epsilon: 20.0, delta: 0.99}}}}
warehouses: {{main: {{type: postgres, url: "postgresql://postgres@/postgres?host={folder}"}}}}
"""
POLICY = """\
version: 1
name: a
source: {table: standing.people}
privacy_unit: {column: id, rows: any}
recode: {age: {bins: [30, 60]}}
sample: {rate: 0.5}
k: 2
guarantee: {epsilon: 9, delta: 0.9}
release: {file: out/a.parquet}
account: people
"""


class Relay:
    """A socket in front of a server's, which counts who connects."""

    def __init__(self, server: Path) -> None:
        self.folder, self.count = Path(tempfile.mkdtemp(prefix="relay-", dir="/tmp")), 0
        self._server = str(server / ".s.PGSQL.5432")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self.folder / ".s.PGSQL.5432"))
        self._socket.listen()
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            self.count += 1
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._server)
            for source, sink in ((near, far), (far, near)):
                Thread(target=self._copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while said := source.recv(65536):
                sink.sendall(said)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            sink.close()

    def close(self) -> None:
        self._socket.close()
        shutil.rmtree(self.folder)


@pytest.fixture
def relay(postgres):
    postgres.sql(
        "create schema if not exists standing",
        "create table standing.people as select n as id, 20 + n % 60 as age"
        " from generate_series(1, 400) as n",
    )
    opened = Relay(postgres.folder)
    yield opened
    opened.close()
    postgres.sql("drop schema standing cascade")


def test_a_standing_release_does_not_connect(relay, tmp_path):
    (tmp_path / "policy-engine.yaml").write_text(PROJECT.format(folder=relay.folder))
    (tmp_path / "a.yaml").write_text(POLICY)

    def run(*words):
        command = [sys.executable, "-m", "policy_engine", *words, "--format", "json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    assert run("release", "a.yaml")["repeated"] is False
    assert relay.count > 0
    relay.count = 0
    assert run("release", "a.yaml")["repeated"] is True
    (tmp_path / "out/a.parquet").unlink()
    run("restore", "a.yaml")
    run("ledger", "verify")
    assert relay.count == 0
