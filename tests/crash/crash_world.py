"""A small project in a folder, processes that release from it, and what an observer sees there.

Nothing here touches data in the process that forks: every release and every look at one is a
child of its own, so that the parent has no threads of an engine when it forks.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine.attest.keys import TrustedKeys, load_public_key
from policy_engine.attest.release_check import verify_release
from policy_engine.errors import LedgerError, PolicyEngineError, VerificationFailed, WarehouseError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project, load_project
from policy_engine.releasing import publish, standing
from policy_engine.releasing.books import open_ledger

# The module: the package's own ``release`` is a function.
releasing = import_module("policy_engine.releasing.release")

ACCOUNT = "people"
POLICY = """\
version: 1
name: {name}
source: {source}
recode: {{age: {{bins: [18, 30, 45, 60]}}, city: keep}}
sample: {{rate: 0.25, method: keyed}}
k: 4
guarantee: {{epsilon: 2, delta: 0.5}}
release: {release}
account: people
"""
PROJECT = """\
warehouses: {{db: {{type: duckdb, database: db.duckdb}}}}
accounts: {{people: {{epsilon: {epsilon}, delta: {delta}}}}}
"""
SOURCES = {
    "file": "{file: source.parquet}\nprivacy_unit: row",
    "table": "{table: people}\nprivacy_unit: row",
}
TARGETS = {"file": "{file: out/r.parquet}", "table": "{table: released}"}
HUNG = "hung"


@dataclass(frozen=True)
class Case:
    """What is killed: a release to a file or table, or the settling of one that was killed."""

    name: str
    target: str
    replaces: bool = False
    settles: bool = False

    @property
    def certificate(self) -> str:
        """Where the certificate stands, from the project's folder."""
        return "out/r.certificate.json" if self.target == "file" else "p.certificate.json"


CASES = {
    case.name: case
    for case in (
        Case("file", "file"),
        Case("file-replace", "file", replaces=True),
        Case("table", "table"),
        Case("table-replace", "table", replaces=True),
        Case("settle-file", "file", replaces=True, settles=True),
        Case("settle-table", "table", replaces=True, settles=True),
    )
}
RELEASES = tuple(case for case in CASES.values() if not case.settles)


# Processes.


def forked(act: Callable[[], Any], limit: float = 120) -> Any:
    """What ``act`` returns in a child: JSON, ``{"raised": …}``, None where it was killed."""
    return Child(act).answer(limit)


class Child:
    """A forked process that runs ``act`` and says what it returned."""

    def __init__(self, act: Callable[[], Any]) -> None:
        sys.stdout.flush()
        self._read, write = os.pipe()
        self.started, begun = os.pipe()
        self.id = os.fork()
        if self.id == 0:
            self._run(act, write, begun)
        os.close(write)
        os.close(begun)

    def _run(self, act: Callable[[], Any], write: int, begun: int) -> None:
        try:
            os.close(self._read)
            os.write(begun, b".")
            os.close(begun)
            try:
                answer = act()
            except PolicyEngineError as error:
                answer = {"raised": type(error).__name__, "message": str(error)}
            except BaseException as error:
                answer = {"raised": "bare " + type(error).__name__, "message": repr(error)}
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            data = json.dumps(answer).encode()
            while data:
                data = data[os.write(write, data) :]
        finally:
            os._exit(0)

    def kill(self) -> None:
        os.kill(self.id, signal.SIGKILL)

    @property
    def is_done(self) -> bool:
        """Whether it has answered, or died."""
        return bool(select.select([self._read], [], [], 0)[0])

    def answer(self, limit: float = 120) -> Any:
        """Wait for the answer; one that takes longer than ``limit`` seconds is killed."""
        end, parts = time.monotonic() + limit, []
        while True:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self.kill()
                parts = [json.dumps({"raised": HUNG, "message": HUNG}).encode()]
                break
            part = os.read(self._read, 1 << 16)
            if not part:
                break
            parts.append(part)
        for end_ in (self._read, self.started):
            os.close(end_)
        os.waitpid(self.id, 0)
        return json.loads(b"".join(parts)) if parts else None


def warm_up(folder: Path) -> None:
    """Import here, before anything is forked, what a release and a look at it import."""

    def act() -> None:
        for case in RELEASES:
            world = folder / f"warm-{case.name}"
            if not case.replaces:
                write_template(world, case)
                released(world)
                seen(world, case)

    import_for(act)


def import_for(act: Callable[[], Any]) -> None:
    """Import here what a child imports to do this."""

    def tried() -> list[str]:
        act()
        return sorted(sys.modules)

    for name in forked(tried):
        with suppress(ImportError):  # some are in the list by another name
            import_module(name)


# Worlds.


def write_project(folder: Path, epsilon: str = "1.0e+6", delta: str = "0.99") -> None:
    text = PROJECT.format(epsilon=epsilon, delta=delta)
    (folder / "policy-engine.yaml").write_text(text)


def write_policy(folder: Path, target: str, name: str = "p", release: str | None = None) -> Path:
    path = folder / f"{name}.yaml"
    release = release or TARGETS[target]
    path.write_text(POLICY.format(name=name, source=SOURCES[target], release=release))
    return path


def write_source(folder: Path) -> None:
    """600 people in 20 groups, in a file and in a table."""
    cities = pa.array([f"city {i % 4}" for i in range(600)])
    ages = pa.array([10 + 15 * (i % 5) for i in range(600)], pa.int64())
    pq.write_table(pa.table({"age": ages, "city": cities}), folder / "source.parquet")
    with duckdb.connect(str(folder / "db.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{folder / 'source.parquet'}'")


def write_template(folder: Path, case: Case) -> None:
    """A project before what is killed: with the old release, where one is replaced."""
    folder.mkdir(parents=True)
    write_project(folder)
    write_policy(folder, case.target)
    forked(lambda: write_source(folder))
    if case.replaces:
        done = forked(lambda: released(folder))
        assert done["entry"] == 2, done  # 1 is the limit
        old = forked(lambda: seen(folder, case))
        (folder / "old.json").write_text(json.dumps(old))
        shutil.copy(folder / case.certificate, folder / "old.certificate")
    if case.settles:
        assert forked(lambda: _broken_off(folder, case)) is None


def _broken_off(folder: Path, case: Case) -> None:
    """Die where the most is left to settle: between the two files, or just after the COMMIT."""
    if case.target == "file":
        link, links = os.link, []

        def die_at_second(source: Any, target: Any) -> None:
            links.append(target)
            if len(links) == 2:
                die()
            link(source, target)

        publish.os.link = die_at_second  # type: ignore[attr-defined]
    else:
        publish._take_place = lambda aside, target: die()  # type: ignore[assignment]
    released(folder, replace=True, revise=True)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def project_in(folder: Path) -> Project:
    return load_project(folder / "policy-engine.yaml")


def released(folder: Path, name: str = "p", **options: bool) -> dict[str, Any]:
    """Release, in this process; what it said."""
    done = releasing.release(load_policy(folder / f"{name}.yaml"), project_in(folder), **options)
    return {"entry": done.entry, "repeated": done.repeated}


def acted(folder: Path, case: Case) -> Any:
    """What is killed."""
    if case.settles:
        return [settled.outcome for settled in standing.reconcile(project_in(folder))]
    return released(folder, replace=case.replaces, revise=case.replaces)


# What an observer sees.


@dataclass(frozen=True)
class Seen:
    """What stands in a project's folder, and what its ledger says."""

    entries: dict[str, str] = field(default_factory=dict)  # states, by number
    digests: dict[str, str | None] = field(default_factory=dict)  # of releases, by entry
    charges: int = 0
    digest: str | None = None  # of what stands at the place of the release
    certified: bool = False  # by a certificate that verifies
    certificate: str | None = None  # SHA-256 of the file
    aside: tuple[str, ...] = ()
    broken: str = ""  # why the ledger does not hold

    @property
    def charged(self) -> list[str]:
        """The entries that cost something."""
        return [entry for entry, state in self.entries.items() if state != "cancelled"]

    @property
    def open(self) -> dict[str, str]:
        return {e: state for e, state in self.entries.items() if state in {"reserved", "started"}}


def seen(folder: Path, case: Case) -> dict[str, Any]:
    """What an observer sees, without the engine's own reading of what stands."""
    project = project_in(folder)
    ledger = _ledger(project)
    digest, comment = _file(folder) if case.target == "file" else patient(lambda: _table(folder))
    path = folder / case.certificate
    text = path.read_text() if path.exists() else None
    certified = bool(digest and text) and _certifies(project, case, text or "", digest, comment)
    hidden = [*folder.glob(".*"), *(folder / "out").glob(".*")]
    return {
        **ledger,
        "digest": digest,
        "certified": certified,
        "certificate": None if text is None else hashlib.sha256(text.encode()).hexdigest(),
        "aside": tuple(sorted(file.name for file in hidden if file.is_file())),
    }


def seen_of(found: dict[str, Any]) -> Seen:
    """What was seen, from JSON."""
    return Seen(**{**found, "aside": tuple(found["aside"])})


def _ledger(project: Project) -> dict[str, Any]:
    if not Path(project.ledger).exists():
        return {"broken": "" if not project.witness.exists() else "the ledger is gone"}
    try:
        with open_ledger(project) as ledger:  # the witness is asked here
            head = ledger.verify()
            entries = ledger.read().budget.entries(ACCOUNT)
            charges = ledger.read().budget.balance(ACCOUNT).charges
            remembered = json.loads(project.witness.read_text()) if project.witness.exists() else {}
            ahead = remembered.get("records", 0) > head.records
    except (LedgerError, ValueError) as error:
        return {"broken": str(error)}
    return {
        "entries": {str(entry.id): entry.state for entry in entries},
        "digests": {str(entry.id): entry.release_digest for entry in entries},
        "charges": charges,
        "broken": "the witness saw more" if ahead else "",
    }


def _file(folder: Path) -> tuple[str | None, str]:
    path = folder / "out" / "r.parquet"
    return (hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None), ""


def _table(folder: Path) -> tuple[str | None, str]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{folder / 'db.duckdb'}' AS db (READ_ONLY)")
        found = connection.execute(
            "SELECT comment FROM duckdb_tables() WHERE table_name = 'released'"
        ).fetchall()
        if not found:
            return None, ""
        lines = connection.execute("SELECT COLUMNS(*)::VARCHAR FROM db.released").fetchall()
    digest = hashlib.sha256()
    for line in lines:
        digest.update(json.dumps(list(line), ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest(), str(found[0][0] or "")


def patient(act: Callable[[], Any]) -> Any:
    """Wait for the process that a killed release has left to settle the database file."""
    end = time.monotonic() + 20
    while True:
        try:
            return act()
        except (duckdb.IOException, WarehouseError) as error:
            if "lock" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)


def _certifies(project: Project, case: Case, text: str, digest: str, comment: str) -> bool:
    """Whether a certificate verifies with what stands, as ``policy-engine verify`` does it."""
    trusted = TrustedKeys.of(load_public_key(project.public_key))
    file = project.directory / "out" / "r.parquet" if case.target == "file" else None
    try:
        verify_release(text, trusted, file)
    except VerificationFailed:
        return False
    statement = json.loads(base64.b64decode(json.loads(text)["payload"]))
    same = statement["subject"][0]["digest"]["sha256"] == digest
    if file is not None:
        return same
    # A table's comment names the certificate, and has the digest of what it states.
    stated = json.dumps(statement["predicate"], sort_keys=True)
    record = json.loads(comment)
    return (
        same
        and record["certificate"] == case.certificate
        and record["facts"].removeprefix("sha256:") == hashlib.sha256(stated.encode()).hexdigest()
    )
