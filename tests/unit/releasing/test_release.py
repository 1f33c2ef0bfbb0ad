"""A release is whole, certified and charged, or nothing stands and nothing was lost."""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import threading
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.attest import keys
from policy_engine.attest.attestation import unverified
from policy_engine.attest.keys import TrustedKeys, load_public_key
from policy_engine.attest.parquet_file import METADATA_KEY, predicate_digest
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.attest.signers import signer_of
from policy_engine.errors import (
    BudgetExceeded,
    FileError,
    LedgerError,
    NotCertifiable,
    NotReleasable,
    PolicyError,
    UsageError,
    WarehouseError,
    WarehouseFailed,
)
from policy_engine.kernel.sentences import sentence_of
from policy_engine.ledger import deciding
from policy_engine.ledger.account import Limit
from policy_engine.ledger.store import Ledger
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import Project, load_project_text
from policy_engine.policy.resolve import Policy
from policy_engine.releasing import beginning, publish
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.publish import file_digest
from policy_engine.releasing.release import Released, release, restore
from policy_engine.warehouse.duckdb import DuckDBWarehouse

# The modules: the package's own ``release`` and ``certify`` are functions.
job = import_module("policy_engine.releasing.job")
copies = import_module("policy_engine.releasing.copies")
placing = import_module("policy_engine.releasing.placing")
planning = import_module("policy_engine.releasing.planning")
previewing = import_module("policy_engine.releasing.preview")
releasing = import_module("policy_engine.releasing.release")
certifying = import_module("policy_engine.kernel.certificate")

POLICY = """\
version: 1
name: people
source: {source}
recode: {recode}
sample: {{rate: {rate}, method: {method}}}
k: {k}
guarantee: {{epsilon: 1, delta: 0.99}}
release: {release}
account: people
"""
PROJECT = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
accounts: {people: {epsilon: 3, delta: 0.99}}
"""
OUT = "{file: out/people.parquet}"
SECRET = bytes(range(100, 116))


@dataclass
class Lab:
    """A project in a folder, with 60 people in two groups, and what stands in it."""

    folder: Path
    project: Project

    def policy(self, **changes: str) -> Policy:
        parts = {
            "source": "{file: source.parquet}\nprivacy_unit: row",
            "recode": "{age: {bins: [18]}, zip: {prefix: 2}}",
            "rate": "0.5",
            "method": "keyed",
            "k": "2",
            "release": OUT,
        }
        text = POLICY.format(**{**parts, **changes})
        (self.folder / "policy.yaml").write_text(text)
        return load_policy_text(text, self.folder / "policy.yaml", self.folder)

    def release(self, *, replace: bool = False, revise: bool = False, **changes: str) -> Released:
        return release(self.policy(**changes), self.project, replace=replace, revise=revise)

    @property
    def entries(self) -> list[str]:
        if not self.project.ledger.exists():
            return []
        with open_ledger(self.project) as ledger:
            return [entry.state for entry in ledger.read().budget.entries("people")]

    @property
    def standing(self) -> dict[str, bytes]:
        """Every file that a release could have touched, hidden ones among them."""
        files = [*(self.folder / "out").glob("*"), *self.folder.glob("*certificate*")]
        files += self.folder.glob(".*")
        standing = (file for file in files if file.is_file())
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in standing}

    def verify(self, certificate: Path, found: Path | None = None) -> Verified:
        trusted = TrustedKeys.of(load_public_key(self.project.signing_key))
        return verify_release(certificate.read_text(), trusted, found)

    def table(self, sql: str) -> list[tuple]:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{self.folder / 'db.duckdb'}' AS db (READ_ONLY)")
            return connection.execute(sql).fetchall()


ROWS = [(str(i), "34" if i % 2 else "7", f"{'12' if i % 2 else '99'}{i:03}") for i in range(60)]


def write_source(path: Path, rows: list[tuple[str, str, str]]) -> None:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    person, age, code = (list(column) for column in columns)
    ages = pa.array([int(a) for a in age], pa.int64())
    table = {
        "person": pa.array(person, pa.string()),
        "age": ages,
        "zip": pa.array(code, pa.string()),
    }
    pq.write_table(pa.table(table), path)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file and a database, made once and copied for each test."""
    folder = tmp_path_factory.mktemp("sources")
    write_source(folder / "source.parquet", ROWS)
    with duckdb.connect(str(folder / "db.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{folder / 'source.parquet'}'")
        connection.execute("CREATE VIEW everyone AS SELECT * FROM people")
    return folder


@pytest.fixture
def lab(sources: Path, tmp_path: Path) -> Lab:
    shutil.copytree(sources, tmp_path, dirs_exist_ok=True)
    project = load_project_text(PROJECT, tmp_path / "policy-engine.yaml", tmp_path)
    return Lab(tmp_path, project)


# What a release is.


@pytest.mark.parametrize("form", ["counts", "rows"])
@pytest.mark.parametrize("method", ["keyed", "native"])
@pytest.mark.parametrize("source", ["file: source.parquet", "table: people"])
def test_a_release_verifies_from_its_files_alone(lab, form, method, source):
    done = lab.release(
        source=f"{{{source}}}\nprivacy_unit: row",
        method=method,
        release=f"{{file: out/people.parquet, as: {form}}}",
    )
    lab.verify(done.certificate, Path(done.release))
    assert sorted(lab.standing) == ["out/people.certificate.json", "out/people.parquet"]
    assert lab.entries == ["committed"]
    rows = pq.read_table(done.release)
    assert rows.num_rows == done.rows
    assert done.groups == 2
    assert done.people == (sum(rows["n"].to_pylist()) if form == "counts" else rows.num_rows)


@pytest.mark.parametrize(
    ("unit", "method"),
    [("{column: person, rows: any}", "keyed"), ("row", "native")],
    ids=["keyed", "native"],
)
def test_a_view_is_released_by_a_word_of_its_author(lab, unit, method):
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE VIEW grown AS SELECT * FROM everyone WHERE age >= 0")
    refused(lab, NotCertifiable, r"V16 the source db\.main\.grown is a view; if each of its rows",
            source=f"{{table: grown}}\nprivacy_unit: {unit}", method=method)  # fmt: skip
    done = lab.release(
        source=f"{{table: grown, view: rowwise}}\nprivacy_unit: {unit}", method=method
    )
    lab.verify(done.certificate, Path(done.release))
    assert (done.groups, done.account) == (2, "people")


CONFIRMED = "each row of the view {} comes from the rows of one unit, and fails for none"


@pytest.mark.parametrize(
    "body",
    [
        "SELECT person, age + 1 AS age, zip FROM people",
        "SELECT p.* FROM everyone p JOIN codes c ON p.zip = c.code",
    ],
)
def test_a_view_that_is_confirmed_is_released_under_that_assumption(lab, body):
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE codes AS SELECT DISTINCT zip AS code FROM people")
        connection.execute(f"CREATE VIEW joined AS {body}")
    unit = "privacy_unit: {column: person, rows: any}"
    source = f"{{table: joined}}\n{unit}"
    refused(lab, NotCertifiable, "write view: rowwise beside its name", source=source)
    policy = lab.policy(source=f"{{table: joined, view: rowwise}}\n{unit}")
    done = release(policy, lab.project)
    stated = lab.verify(done.certificate, Path(done.release)).assumptions
    assert CONFIRMED.format("joined") in stated


def test_a_view_that_fails_on_a_row_is_named_and_the_row_is_not(lab):
    """It fails when it is drawn, and is charged: to fail for nothing would tell of the row."""
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE raw AS SELECT person, 'Ada ' || age AS age, zip FROM people"
        )
        connection.execute(
            "CREATE VIEW seen AS SELECT person, CAST(age AS INT) AS age, zip FROM raw"
        )
    policy = lab.policy(
        source="{table: seen, view: rowwise}\nprivacy_unit: {column: person, rows: any}"
    )
    previewing.preview(policy, lab.project)
    with pytest.raises(WarehouseFailed) as caught:
        release(policy, lab.project)
    told = "; ".join([str(caught.value), *caught.value.__notes__])
    assert "the source db.main.seen is a view: an expression of it, or of one that it" in told
    assert "TRY_CAST" in told
    assert "Ada" not in told
    assert lab.entries == ["started"]


def test_a_plan_without_the_sealing_key_quotes_no_new_price(lab):
    lab.release()
    lab.project.sealing_key.unlink()
    with pytest.raises(FileError, match="the sealing key is missing"):
        previewing.preview(lab.policy(), lab.project)


def test_a_view_that_is_confirmed_names_the_account_that_pays(lab):
    """It paid from an account of its own, which had no limit, when it was called like a table."""
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE peo AS SELECT 1 AS person")
        connection.execute("CREATE VIEW seen AS SELECT person, age + 1 AS age, zip FROM people")
    source = "{table: seen, view: rowwise}\nprivacy_unit: {column: person, rows: any}"
    policy = replace(lab.policy(source=source), declared_budget=False)
    with pytest.raises(PolicyError, match="account must name the account that pays"):
        release(policy, lab.project)
    assert lab.entries == []


def test_a_table_needs_no_such_word(lab):
    policy = lab.policy(source="{table: people, view: rowwise}\nprivacy_unit: row")
    with closing(planning.open_warehouse(policy, lab.project, writes=False)) as warehouse:
        certificate, _ = planning.prepare(policy, lab.project, warehouse)
    assert "view_rowwise" not in [each.code for each in certificate.assumptions]


def test_the_file_carries_a_record_of_its_certificate(lab):
    done = lab.release()
    statement = json.loads(done.certificate.read_text())
    record = json.loads(pq.read_schema(done.release).metadata[METADATA_KEY.encode()])
    import base64

    facts = json.loads(base64.b64decode(statement["payload"]))["predicate"]
    assert record == {
        "policy": facts["policy"]["name"],
        "mechanism": facts["mechanism"],
        "epsilon": facts["epsilon"],
        "delta": facts["delta"],
        "facts": predicate_digest(facts),
        "certificate": done.certificate.name,
    }


def test_a_release_into_a_table_carries_and_has_its_certificate(lab):
    done = lab.release(source="{table: people}\nprivacy_unit: row", release="{table: out}")
    lab.verify(done.certificate)
    [comment] = lab.table("SELECT comment FROM duckdb_tables() WHERE table_name = 'out'")
    record = json.loads(comment[0])
    assert lab.folder / record["certificate"] == done.certificate and record["mechanism"]
    rows = lab.table("FROM db.main.out")
    assert len(rows) == done.groups == 2
    assert sum(row[-1] for row in rows) == done.people > 2
    again = lab.release(source="{table: people}\nprivacy_unit: row", release="{table: out}")
    assert (again.repeated, again.people) == (True, done.people)
    assert done.certificate == lab.folder / "people.certificate.json"


def test_a_table_is_replaced_only_when_asked(lab):
    table = {"source": "{table: people}\nprivacy_unit: row", "release": "{table: out}"}
    first = lab.release(**table).certificate.read_bytes()
    with pytest.raises(FileError, match=r"db.main.out exists; use --replace"):
        lab.release(**table, revise=True)
    assert lab.entries == ["committed"]
    done = lab.release(**table, replace=True, revise=True)
    assert done.certificate.read_bytes() != first
    lab.verify(done.certificate)


def test_a_file_is_replaced_only_when_asked(lab):
    lab.release()
    with pytest.raises(FileError, match=r"exists; use --replace to release anew"):
        lab.release(revise=True)
    assert lab.entries == ["committed"]
    done = lab.release(replace=True, revise=True)
    lab.verify(done.certificate, Path(done.release))
    assert lab.entries == ["committed"] * 2
    assert len(lab.standing) == 2


# What a release never holds.


@pytest.mark.parametrize("target", [OUT, "{table: out}"])
def test_the_secret_is_in_nothing_that_is_written_or_logged(lab, monkeypatch, caplog, target):
    monkeypatch.setattr(job, "new_secret", lambda: SECRET)
    with caplog.at_level(logging.DEBUG):
        lab.release(
            source="{table: people}\nprivacy_unit: {column: person, rows: any}", release=target
        )
    files = [file for file in lab.folder.rglob("*") if file.is_file()]
    assert len(files) > 4
    texts = [SECRET, SECRET.hex().encode(), str(int.from_bytes(SECRET, "big")).encode()]
    for content in [*(file.read_bytes() for file in files), caplog.text.encode()]:
        assert not any(text in content for text in texts)


def test_certificates_of_neighbouring_sources_are_the_same(lab, monkeypatch):
    monkeypatch.setattr(certifying, "datetime", FrozenClock)
    one = lab.release()
    write_source(lab.folder / "source.parquet", ROWS[:-1])
    two = lab.release(release="{file: out/other.parquet}")
    facts = [dict(unverified(done.certificate.read_text()).predicate) for done in (one, two)]
    for found in facts:
        found.pop("policy")
        found.pop("query"), found.pop("query_digest")
    assert facts[0] == facts[1]


class FrozenClock:
    @staticmethod
    def now(zone):
        from datetime import datetime

        return datetime(2026, 11, 21, tzinfo=zone)


def test_the_order_of_the_source_changes_no_byte_of_a_release_by_key(lab, monkeypatch):
    monkeypatch.setattr(job, "new_secret", lambda: SECRET)
    monkeypatch.setattr(certifying, "datetime", FrozenClock)
    by_key = "{file: source.parquet}\nprivacy_unit: {column: person, rows: any}"
    first = Path(lab.release(source=by_key, revise=True).release).read_bytes()
    for order in (ROWS[::-1], ROWS[31:] + ROWS[:31]):
        write_source(lab.folder / "source.parquet", order)
        again = lab.release(source=by_key, replace=True, revise=True)
        assert Path(again.release).read_bytes() == first


# What a person's rows become, whatever the table's size.


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("unit", ["row", "{column: person, rows: any}"])
@pytest.mark.parametrize("source", ["file: source.parquet", "table: few", "file: source.csv"])
def test_a_table_below_k_releases_nothing_and_succeeds(lab, size, unit, source):
    rows = ROWS[:size]
    write_source(lab.folder / "source.parquet", rows)
    lines = ["person,age,zip", *(",".join(row) for row in rows)]
    (lab.folder / "source.csv").write_text("\n".join(lines) + "\n")
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute(f"CREATE TABLE few AS SELECT * FROM people LIMIT {size}")
    done = lab.release(
        source=f"{{{source}}}\nprivacy_unit: {unit}", recode="{zip: {prefix: 1}}", rate="0.9", k="3"
    )
    assert (done.groups, done.rows) == (0, 0)
    lab.verify(done.certificate, Path(done.release))
    assert lab.entries == ["committed"]


@pytest.mark.parametrize("form", ["counts", "rows"])
def test_one_group_may_hold_everybody(lab, form):
    done = lab.release(
        recode='{everybody: {constant: "*"}}', release=f"{{file: out/people.parquet, as: {form}}}"
    )
    assert done.groups == 1
    lab.verify(done.certificate, Path(done.release))


@pytest.mark.parametrize("source", ["file: source.parquet", "table: people", "file: source.csv"])
def test_each_assumption_is_signed_once_in_the_policys_words(lab, source):
    lines = ["person,age,zip", *(",".join(row) for row in ROWS)]
    (lab.folder / "source.csv").write_text("\n".join(lines) + "\n")
    done = lab.release(source=f"{{{source}}}\nprivacy_unit: row", recode="{zip: {prefix: 1}}")
    stated = lab.verify(done.certificate).assumptions
    name = source.partition(" ")[2]
    assert [text for text in stated if "is one person" in text] == [
        f"one row of {name} is one person"
    ]
    assert not [text for text in stated if "temp" in text or "main" in text]


# What is charged, and what stands, when a step fails.

DISK_FULL = OSError(errno.ENOSPC, "No space left on device")
READ_ONLY = OSError(errno.EROFS, "Read-only file system")


def nth_call(function, number, error):
    """``function``, raising at its nth call."""
    calls = []

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == number:
            raise error
        return function(*arguments, **options)

    return failing


def fail(monkeypatch, owner, name, error, number=1):
    monkeypatch.setattr(owner, name, nth_call(getattr(owner, name), number, error))


# owner, name, which call, whether the account was charged by then
FILE_STEPS = [
    (DuckDBWarehouse, "table", 1, False),
    (planning, "compiled", 1, False),
    (planning, "certify", 1, False),
    (publish, "check_target", 1, False),
    (keys, "load_private_key", 1, False),
    (Ledger, "reserve", 1, False),
    (job, "new_secret", 1, False),
    (Ledger, "start", 1, True),
    (DuckDBWarehouse, "_draw", 1, True),
    (DuckDBWarehouse, "rows", 1, True),
    (DuckDBWarehouse, "_check_certified", 3, True),
    (pq, "write_table", 1, True),
    (copies, "file_digest", 1, True),
    (placing, "sign", 1, True),
    (publish, "_sync", 1, True),
    (os, "link", 1, True),
    (os, "link", 2, True),
]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), DISK_FULL], ids=["interrupt", "full"])
@pytest.mark.parametrize(("owner", "name", "number", "charged"), FILE_STEPS)
def test_a_step_that_fails_leaves_all_as_it_was_and_charged_if_drawn(
    lab, monkeypatch, owner, name, number, charged, error, replace
):
    first = lab.release(release=OUT if replace else "{file: elsewhere.parquet}")
    before = lab.standing
    fail(monkeypatch, owner, name, error, number)
    policy = lab.policy()
    with pytest.raises((type(error), FileError, WarehouseError)) as caught:
        release(policy, lab.project, replace=replace, revise=replace)
    if isinstance(error, OSError) and owner in {pq, copies, publish, os} and name != "check_target":
        assert "the disk is full; nothing was published" in str(caught.value)
    monkeypatch.undo()
    assert lab.standing == before
    state = "reserved" if owner is Ledger else "started"
    assert lab.entries == (["committed", state] if charged else ["committed"])
    if replace:
        lab.verify(first.certificate, Path(first.release))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DISK_FULL])
def test_a_release_whose_commit_in_the_ledger_fails_stands_certified_and_charged(
    lab, monkeypatch, error
):
    fail(monkeypatch, Ledger, "commit", error)
    with pytest.raises(type(error)):
        lab.release()
    assert lab.entries == ["started"]
    lab.verify(lab.folder / "out/people.certificate.json", lab.folder / "out/people.parquet")


def test_a_ledger_that_fails_after_publishing_says_that_the_release_stands(lab, monkeypatch):
    fail(monkeypatch, Ledger, "commit", LedgerError("the disk is full"))
    with pytest.raises(LedgerError, match=r"is full; .*people\.parquet is published with"):
        lab.release()


@pytest.mark.parametrize("step", [1, 2])
def test_replacing_restores_the_old_release_when_it_cannot_be_moved(lab, monkeypatch, step):
    lab.release()
    before = lab.standing
    fail(monkeypatch, Path, "rename", READ_ONLY, step)
    with pytest.raises(FileError, match="the file system is read-only; nothing was published"):
        lab.release(replace=True, revise=True)
    monkeypatch.undo()
    assert lab.standing == before


class Failing:
    """A connection that fails at one statement, as DuckDB does."""

    def __init__(self, connection, start, error):
        self._connection, self._start, self._error = connection, start, error

    def execute(self, sql, *arguments):
        if sql.startswith(self._start):
            raise self._error
        return self._connection.execute(sql, *arguments)

    def commit(self):
        return self.execute("COMMIT")

    def __getattr__(self, name):
        return getattr(self._connection, name)


TABLE = {"source": "{table: people}\nprivacy_unit: row", "release": "{table: out}"}


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("statement", ["BEGIN", "CREATE", "COMMENT", "COMMIT"])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (duckdb.IOException("disk full at '34'"), "could not read or write a file"),
        (duckdb.ConversionException("could not convert 'abc'"), "its message is withheld"),
        pytest.param(duckdb.OutOfMemoryException("row 17"), "ran out of memory",
                     marks=pytest.mark.evidence),
        (KeyboardInterrupt(), ""),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_written_is_as_it_was(
    lab, monkeypatch, replace, statement, error, told
):
    if replace:
        lab.release(**TABLE)
    charged = lab.entries
    before = lab.standing, lab.table("SELECT sql, comment FROM duckdb_tables() ORDER BY 1")
    real = DuckDBWarehouse.publish

    def publishing(self, *arguments, **options):
        self._connection = Failing(self._connection, statement, error)
        real(self, *arguments, **options)

    monkeypatch.setattr(DuckDBWarehouse, "publish", publishing)
    with pytest.raises((WarehouseError, KeyboardInterrupt)) as caught:
        lab.release(**TABLE, replace=replace, revise=replace)
    assert told in str(caught.value)
    assert "abc" not in str(caught.value)
    assert "34" not in str(caught.value)
    after = lab.standing, lab.table("SELECT sql, comment FROM duckdb_tables() ORDER BY 1")
    assert after == before
    assert lab.entries == [*charged, "started"]


@pytest.mark.parametrize("error", [DISK_FULL, KeyboardInterrupt()])
@pytest.mark.parametrize(
    ("owner", "name", "replace"),
    [(placing, "sign", False), (placing, "sign", True), (os, "link", False)],
)
def test_no_table_stands_without_its_certificate(lab, monkeypatch, owner, name, error, replace):
    lab.release(release="{file: elsewhere.parquet}")  # makes the ledger, which links too
    if replace:
        lab.release(**TABLE)
    before = lab.standing, lab.table("SELECT sql, comment FROM duckdb_tables() ORDER BY 1")
    fail(monkeypatch, owner, name, error)
    with pytest.raises((FileError, OSError, KeyboardInterrupt)):
        lab.release(**TABLE, replace=replace, revise=replace)
    monkeypatch.undo()
    after = lab.standing, lab.table("SELECT sql, comment FROM duckdb_tables() ORDER BY 1")
    assert after == before
    assert lab.entries[-1] == "started"


def test_a_target_that_appears_meanwhile_is_left_alone(lab, monkeypatch):
    real = publish._put_in_place

    def late(moves, **options):
        (lab.folder / "out/people.parquet").write_bytes(b"another's")
        real(moves, **options)

    monkeypatch.setattr(publish, "_put_in_place", late)
    with pytest.raises(FileError, match="it has come to be meanwhile; see whose it is") as caught:
        lab.release()
    assert caught.value.__notes__ == [
        "entry 2 is paid and drawn: the same command again puts just those bytes there, at no cost"
    ]
    assert lab.standing == {"out/people.parquet": b"another's"}
    assert lab.entries == ["started"]


@pytest.mark.parametrize("replace", [False, True])
def test_of_two_releases_at_once_exactly_one_stands(lab, replace):
    lab.release(release=OUT if replace else "{file: elsewhere.parquet}")
    policy = lab.policy()
    outcomes: list[str] = []

    def run() -> None:
        release(policy, lab.project, replace=replace, revise=replace)
        outcomes.append("done")

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["done", "done"]
    lab.verify(lab.folder / "out/people.certificate.json", lab.folder / "out/people.parquet")
    elsewhere = {"elsewhere.certificate.json"}
    assert set(lab.standing) - elsewhere == {"out/people.certificate.json", "out/people.parquet"}
    # Each new sample has its price; the same release has one, however many ask for it at once.
    assert lab.entries == ["committed"] * (3 if replace else 2)


@pytest.mark.parametrize("how", ["replaced", "touched", "deleted"])
def test_a_source_that_changes_meanwhile_is_not_published(lab, monkeypatch, how):
    real = DuckDBWarehouse.rows

    def rows(self, sql):
        found = real(self, sql)
        source = lab.folder / "source.parquet"
        if how == "deleted":
            source.unlink()
        elif how == "touched":
            os.utime(source, ns=(1, 1))
        else:
            source.unlink()
            write_source(source, ROWS)
        return found

    monkeypatch.setattr(DuckDBWarehouse, "rows", rows)
    with pytest.raises(WarehouseError, match=r"source.parquet was written while it was read"):
        lab.release()
    assert lab.standing == {}
    assert lab.entries == ["started"]


# What is refused before anything is charged.


def refused(lab: Lab, error: type[Exception], match: str, **changes: str) -> None:
    with pytest.raises(error, match=match):
        lab.release(**changes)
    assert lab.entries == []
    assert lab.standing == {}


def test_over_budget_nothing_is_drawn(lab, monkeypatch):
    for number in range(3):
        lab.release(release=f"{{file: out/{number}.parquet}}")
    before = lab.standing
    fail(monkeypatch, DuckDBWarehouse, "_draw", AssertionError("drawn"))
    with pytest.raises(BudgetExceeded, match="account 'people' cannot pay"):
        lab.release()
    assert lab.standing == before
    assert lab.entries == ["committed"] * 3


def test_a_release_that_does_not_meet_its_guarantee_is_refused(lab):
    text = POLICY.replace("delta: 0.99", "delta: 1.0e-9")
    parts = {
        "source": "{file: source.parquet}\nprivacy_unit: row",
        "recode": "{age: keep}",
        "rate": "0.5",
    }
    policy = load_policy_text(
        text.format(**parts, method="keyed", k="2", release=OUT), "p.yaml", lab.folder
    )
    with pytest.raises(NotCertifiable, match="V29"):
        release(policy, lab.project)
    assert lab.entries == []


@pytest.mark.parametrize(
    ("made", "path", "message"),
    [
        (None, "gone.parquet", "the source gone.parquet is not there"),
        ("folder", "folder.parquet", r"is a folder without a \.parquet file in it"),
        (b"", "empty.parquet", "the source empty.parquet is empty"),
        (b"PAR1 nonsense PAR1", "bad.parquet", "is not a Parquet file that can be read"),
        (b"{}", "people", r"must end in .parquet, .pq, .csv, .tsv, .txt or .csv.gz"),
        (b"a,A\n1,2\n", "twice.csv", "must name every column once"),
        (b"age,,zip\n1,2,3\n", "nameless.csv", "must name every column once"),
        (b"age;zip\n1;2\n", "semicolon.csv", r"delimited by ';'; write csv: {delimiter: \";\"}"),
        (b"age\tzip\n1\t2\n", "tabs.csv", r"delimited by tabs; write csv: {delimiter: \"\\t\"}"),
        (b"sep=;\nage;zip\n", "sep.csv", r"write csv: {delimiter: \";\", skip: 1} beside file"),
        (b"a\x00g\x00e\x00\n\x00", "wide.csv", "is not CSV in UTF-8"),
        (b"\xff\xfea\x00;\x00b\x00", "u.csv", r"{delimiter: \";\", encoding: utf-16} beside"),
        (b"gr\xf6\xdfe;zip\n", "ansi.csv", r"{delimiter: \";\", encoding: windows-1252} beside"),
        (b"age\n\x1f\x8b", "none.csv.gz", "is no gzip file: name it without .gz"),
        (b"age,zip\n1\n2,3\n", "short.csv", "every row must have as many fields"),
        (b"age,zip\n1,2,3\n2,3\n", "long.csv", "every row must have as many fields"),
        (b"age,zip\n1,\"2\n", "open.csv", "is not a CSV file that can be read"),
        (b"age,zip\n1,\xff\xfe\n", "latin.csv", "is not CSV in UTF-8"),
        (b"\xff\xfe\n1,2\n", "header.csv", "is not CSV in UTF-16"),
    ],
)  # fmt: skip
def test_a_source_that_cannot_be_read_is_told(lab, made, path, message):
    if made == "folder":
        (lab.folder / path).mkdir()
    elif made is not None:
        (lab.folder / path).write_bytes(made)
    refused(lab, FileError, message, source=f"{{file: '{path}'}}\nprivacy_unit: row")


def test_a_file_that_ends_before_its_first_line_is_told(lab):
    (lab.folder / "few.csv").write_text("age,zip\n1,2\n")
    message = "few.csv has no line after the 5 that source.csv.skip leaves out"
    refused(lab, FileError, message, source="{file: few.csv, csv: {skip: 5}}\nprivacy_unit: row")


@pytest.mark.parametrize(
    ("relation", "message"),
    [("gone", "no table or view db.main.gone"), ("other.main.people", "not in the warehouse db")],
)
def test_a_relation_that_is_not_there_is_told(lab, relation, message):
    refused(lab, WarehouseError, message, source=f"{{table: {relation}}}\nprivacy_unit: row")


def test_a_view_has_no_row_numbers_to_draw_from(lab):
    refused(
        lab,
        PolicyError,
        r"policy.yaml:4:\d+: db.main.everyone is a view, whose rows have no numbers to draw from;"
        " name privacy_unit.column, or use sample.method: native",
        source="{table: everyone, view: rowwise}\nprivacy_unit: row",
        method="keyed",
    )


def test_a_schema_that_is_not_there_is_told_before_the_charge(lab):
    message = "has no schema db.nowhere; make it, or name another in release.table"
    source, target = "{table: people}\nprivacy_unit: row", "{table: nowhere.out}"
    refused(lab, WarehouseError, message, source=source, release=target)


@pytest.mark.parametrize("target", ["db.main.people", "MAIN.people"])
def test_a_release_never_replaces_its_own_source(lab, target):
    message = r"policy.yaml:9:\d+: release.table must not be the source itself, found"
    for replaces in (False, True):
        with pytest.raises(PolicyError, match=message):
            lab.release(
                source="{table: people}\nprivacy_unit: row",
                release=f"{{table: {target}}}",
                replace=replaces,
            )
    assert lab.table("SELECT count(*) FROM db.people") == [(60,)]
    (lab.folder / "link.parquet").symlink_to(lab.folder / "source.parquet")
    with pytest.raises(PolicyError, match=r"release\.file must not be the source itself"):
        lab.release(release="{file: link.parquet}", replace=True)
    assert lab.entries == []


def test_a_release_is_no_file_of_its_sources_folder(lab):
    (lab.folder / "parts" / "in").mkdir(parents=True)
    shutil.copy(lab.folder / "source.parquet", lab.folder / "parts" / "a.parquet")
    with pytest.raises(
        PolicyError, match=r":\d+: release\.file must not lie in the source's folder"
    ):
        lab.release(
            source="{file: parts}\nprivacy_unit: {column: person, rows: any}",
            release="{file: ./parts/in/r.parquet}",
        )
    assert lab.entries == []


def test_only_a_release_is_replaced(lab):
    write_source(lab.folder / "precious.parquet", ROWS)
    (lab.folder / "notes.parquet").write_text("notes")
    before = (lab.folder / "precious.parquet").read_bytes()
    for name in ("precious", "notes"):
        with pytest.raises(FileError, match=f"{name}.parquet is no release"):
            lab.release(release=f"{{file: {name}.parquet}}", replace=True)
    assert (lab.folder / "precious.parquet").read_bytes() == before
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE orders AS SELECT 1 AS a")
        connection.execute("CREATE TABLE told AS SELECT 1 AS a")
        connection.execute("COMMENT ON TABLE told IS '{}'")
    for name in ("orders", "told", "everyone"):
        with pytest.raises(FileError, match=f"db.main.{name} is no release"):
            lab.release(
                source="{table: people}\nprivacy_unit: row",
                release=f"{{table: {name}}}",
                replace=True,
            )
    assert lab.table("SELECT * FROM db.orders") == [(1,)]
    assert lab.entries == []


@pytest.mark.parametrize(
    "definition",
    [
        "zip VARCHAR COLLATE nocase, age VARCHAR GENERATED ALWAYS AS (zip)",
        "zip INTEGER, age INTEGER GENERATED ALWAYS AS (10 // (zip - 3))",
    ],
)
def test_a_source_with_a_computed_column_is_refused(lab, definition):
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute(f"CREATE TABLE made ({definition})")
    source = "{table: made}\nprivacy_unit: row"
    refused(lab, WarehouseError, "'age' is computed from others", source=source)


def test_a_view_that_does_not_work_is_told(lab):
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE gone AS SELECT 1 AS a")
        connection.execute("CREATE VIEW broken AS FROM gone")
        connection.execute("DROP TABLE gone")
    source = "{table: broken}\nprivacy_unit: row"
    refused(lab, WarehouseError, "definition that does not work", source=source)


def test_a_view_is_told_whose_text_means_a_schema_called_as_the_warehouse(lab):
    with duckdb.connect(str(lab.folder / "made.duckdb")) as connection:
        connection.execute("CREATE SCHEMA db")
        connection.execute("CREATE TABLE db.people AS SELECT 1 AS a")
        connection.execute("CREATE VIEW db.some AS FROM db.people")
    (lab.folder / "made.duckdb").rename(lab.folder / "db.duckdb")
    source = "{table: db.some}\nprivacy_unit: row"
    refused(lab, WarehouseError, "give the warehouse another name", source=source)


def test_a_source_whose_name_is_too_long_is_told(lab):
    source = f"{{file: {'x' * 5000}.parquet}}\nprivacy_unit: row"
    refused(lab, FileError, "cannot be read: File name too long", source=source)


def test_a_delta_that_nobody_can_tell_from_nothing_is_stated_as_its_bound(lab):
    done = lab.release(k="5000", rate="0.01")
    assert done.delta == Decimal("1e-300")
    lab.verify(done.certificate, Path(done.release))


def test_a_csv_file_is_assumed_to_be_well_formed(lab):
    (lab.folder / "people.csv").write_text("age,zip\n34,12\n")
    policy = lab.policy(source="{file: people.csv, columns: {age: integer}}\nprivacy_unit: row")
    found = previewing.preview(policy, lab.project).certificate
    said = [sentence_of(each) for each in found.assumptions]
    assert "people.csv is well-formed CSV, whichever people are in it" in said
    people = [text for text in said if text.endswith(" is one person")]
    assert people == ["one row of people.csv is one person"]


def test_of_a_row_key_that_nothing_enforces_each_value_counts_once(lab):
    lines = (f"{n % 50},{20 + n // 50}\n" for n in range(1000))
    (lab.folder / "ids.csv").write_text("id,age\n" + "".join(lines))
    source = "{file: ids.csv, columns: {age: integer}}\nprivacy_unit: {column: id, rows: one}"
    policy, said = lab.policy(source=source, recode="{age: keep}"), []
    done = release(policy, lab.project, say=said.append)
    assert done.groups == 1  # of each the least age: 20
    assert done.people < 50
    [told] = [each for each in said if each.startswith("warning: ")]
    assert "as only you state: where id has many rows one is kept, the least in" in told
    found = previewing.preview(policy, lab.project).certificate
    assert "key_unique" not in [each.code for each in found.assumptions]


def test_a_row_key_of_two_columns_is_told_as_a_policy_has_it(lab):
    (lab.folder / "ids.csv").write_text("house,number\n1,1\n1,2\n")
    source = "{file: ids.csv}\nprivacy_unit: {columns: [house, number], rows: one}"
    policy, said = lab.policy(source=source, recode="{number: keep}"), []
    release(policy, lab.project, say=said.append)
    [told] = [each for each in said if "one row for each person, as only you state" in each]
    assert "rows: any, or rows: {first_by: […]}, says which" in told


def test_a_path_in_place_of_a_policy_says_what_to_call(lab):
    for call in (releasing.release, previewing.preview, planning.compile_policy):
        with pytest.raises(UsageError, match="call load_policy on the file's path first"):
            call("policy.yaml")
    assert planning.compile_policy(lab.policy()).startswith("-- policy: people")


def test_a_mistyped_account_is_refused_before_it_is_opened(lab):
    policy = replace(lab.policy(), budget="peopel")
    with pytest.raises(PolicyError, match="did you mean 'people'"):
        release(policy, lab.project)
    assert lab.standing == {}


def test_what_was_drawn_is_published_whatever_the_source_holds_by_then(lab, monkeypatch):
    """Attack: one secret on two states of the source would be two releases for one charge."""
    with monkeypatch.context() as patched:
        fail(patched, publish, "_put_in_place", KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            lab.release()
    with open_ledger(lab.project) as ledger:
        [entry] = ledger.read().budget.entries()
    assert (entry.state, entry.release_digest) == ("started", None)
    (lab.folder / "source.parquet").unlink()
    done = lab.release()
    assert (done.entry, done.outcome) == (entry.id, "put back")
    assert file_digest(lab.folder / "out/people.parquet") == entry.drawn_digest
    assert lab.entries == ["committed"]


def test_a_table_that_was_drawn_is_published_whatever_the_source_holds_by_then(lab, monkeypatch):
    with monkeypatch.context() as patched:
        fail(patched, placing.Spot, "envelope", KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            lab.release(release="{table: out}")
    (lab.folder / "source.parquet").unlink()
    done = lab.release(release="{table: out}")
    assert done.outcome == "put back"
    assert lab.entries == ["committed"]
    kinds = lab.table("SELECT data_type FROM duckdb_columns() WHERE table_name = 'out'")
    assert kinds == [("VARCHAR",), ("VARCHAR",), ("BIGINT",)]


def test_what_was_drawn_and_is_gone_is_spent(lab, monkeypatch):
    with monkeypatch.context() as patched:
        fail(patched, publish, "_put_in_place", KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            lab.release()
    shutil.rmtree(lab.folder / ".policy-engine/drawn")
    with pytest.raises(
        NotReleasable, match=r"neither its release nor a copy .* release --revise' "
    ):
        lab.release()
    assert lab.entries == ["kept"]
    assert lab.release(revise=True).outcome == "released"
    assert lab.entries == ["kept", "committed"]


def test_an_attempt_that_failed_is_made_once_more_under_a_fresh_secret(lab, monkeypatch):
    secrets = []
    sampled = DuckDBWarehouse.sampled

    def seen(self, policy, table, secret):
        secrets.append(secret)
        return sampled(self, policy, table, secret)

    monkeypatch.setattr(DuckDBWarehouse, "sampled", seen)
    with monkeypatch.context() as patched:
        fail(patched, DuckDBWarehouse, "rows", KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt) as caught:
            lab.release()
    [told] = caught.value.__notes__
    assert "the same command again draws it, under a fresh secret, at no cost" in told
    write_source(lab.folder / "source.parquet", ROWS[:-40])
    assert lab.release().outcome == "released"
    assert len(set(secrets)) == 2
    assert lab.entries == ["committed"]


def test_a_third_attempt_is_a_new_release_at_a_new_price(lab, monkeypatch):
    """Trying until it works would condition what comes out on the rows."""
    for number in (1, 2):
        with monkeypatch.context() as patched:
            fail(patched, DuckDBWarehouse, "rows", WarehouseFailed("out of memory"))
            with pytest.raises(WarehouseFailed) as caught:
                lab.release()
        spent = "had its 2 attempts, and stays charged" in caught.value.__notes__[-1]
        assert spent is (number == 2)
    with pytest.raises(NotReleasable, match=r"entry 2 had its 2 attempts, .* --revise' draws anew"):
        lab.release()
    assert lab.entries == ["kept"]


def test_what_no_row_can_bring_about_is_no_attempt(lab, monkeypatch):
    for _ in range(4):
        with monkeypatch.context() as patched:
            refused_access = WarehouseFailed("no right", of_setup=True)
            fail(patched, DuckDBWarehouse, "rows", refused_access)
            with pytest.raises(WarehouseFailed, match="no right"):
                lab.release()
    assert lab.release().outcome == "released"
    assert lab.entries == ["committed"]


def test_a_release_that_stands_looks_at_nothing_of_its_source(lab, monkeypatch):
    first = lab.release()
    before = lab.standing
    (lab.folder / "source.parquet").write_bytes(b"no Parquet")
    with monkeypatch.context() as patched:
        patched.setattr(placing, "open_warehouse", None)
        done = lab.release()
    assert (done.outcome, done.entry, done.people) == ("stands", first.entry, first.people)
    assert lab.standing == before
    assert lab.entries == ["committed"]


@pytest.mark.parametrize("lost", ["people.parquet", "people.certificate.json", "both"])
def test_a_release_that_is_lost_is_put_back_from_its_copy(lab, lost):
    lab.release()
    before = lab.standing
    for name in ["people.parquet", "people.certificate.json"] if lost == "both" else [lost]:
        (lab.folder / "out" / name).unlink()
    (lab.folder / "source.parquet").unlink()
    lab.project.sealing_key.unlink()
    assert restore(lab.policy(), lab.project).outcome == "put back"
    assert lab.standing == before
    assert lab.entries == ["committed"]


@pytest.mark.parametrize("fault", ["gone", "changed"])
def test_without_a_whole_copy_a_lost_release_is_lost(lab, fault):
    lab.release()
    (lab.folder / "out/people.parquet").unlink()
    for copy in (lab.folder / "out/.released").iterdir():
        copy.unlink() if fault == "gone" else copy.write_bytes(copy.read_bytes()[:-1] + b"x")
    for act in (release, restore):
        with pytest.raises(NotReleasable, match=r"neither its release nor a copy of those bytes"):
            act(lab.policy(), lab.project)
    assert lab.entries == ["committed"]


def test_a_copy_is_kept_up_to_a_size(lab):
    small = replace(lab.project, copies_most=100)
    release(lab.policy(), small)
    assert not list((lab.folder / "out").glob(".released/*"))
    (lab.folder / "out/people.parquet").unlink()
    with pytest.raises(NotReleasable):
        release(lab.policy(), small)


def test_a_kept_certificate_comes_behind_those_that_stand(lab):
    lab.release()
    stands, kept = beginning.certificates_in(lab.folder)
    assert stands == lab.folder / "out/people.certificate.json"
    assert kept.parent == lab.folder / "out/.released"


def test_a_policy_that_is_put_back_has_its_release_again(lab):
    lab.release()
    first = (lab.folder / "out/people.parquet").read_bytes()
    lab.release(k="3", replace=True)
    with pytest.raises(FileError, match="entry 2 has paid for this release: --replace puts it"):
        lab.release()
    assert lab.release(replace=True).outcome == "put back"
    assert (lab.folder / "out/people.parquet").read_bytes() == first
    assert lab.entries == ["committed", "committed"]


def test_nothing_is_restored_of_what_was_never_released(lab):
    with pytest.raises(UsageError, match="nothing was released of this policy: "):
        restore(lab.policy(), lab.project)


def own_account(lab, source, accounts):
    """A relation's own account, and a project that lists these."""
    policy = replace(lab.policy(source=source, k="40"), declared_budget=False)
    listed = dict.fromkeys(accounts, LIMIT)
    return policy, replace(lab.project, accounts=listed, accounts_open=True)


LIMIT = Limit(Decimal(3), Decimal("0.99"))


@pytest.mark.parametrize("name", ["people", "main.people", "db.main.people", "DB.Main.PEOPLE"])
@pytest.mark.parametrize("limited", ["people", "db.main.people"])
def test_a_relation_pays_from_one_account_however_it_is_written(lab, name, limited):
    found = own_account(lab, f"{{table: {name}}}\nprivacy_unit: row", [limited])
    preview = previewing.preview(*found)
    assert (preview.account.name, preview.account.limit) == ("db.main.people", LIMIT)


def test_a_limit_is_found_by_any_alias_and_lost_by_none(lab):
    """Attack: the limit vanished, began anew or was raised as the project file's spelling went."""
    source = "{table: people}\nprivacy_unit: row"
    for number, listed in enumerate((["people"], [], ["main.people"], ["db.main.people"])):
        policy, project = own_account(lab, source, listed)
        policy = replace(policy, name=f"p{number}", directory=lab.folder / str(number))
        assert release(policy, project).account == "db.main.people"
    policy, project = own_account(lab, source, ["main.people", "people"])
    (lab.folder / "policy-engine.yaml").write_text("accounts: {main.people: {}, people: {}}")
    project = replace(project, file=lab.folder / "policy-engine.yaml")
    with pytest.raises(PolicyError, match="accounts must list an account once"):
        release(replace(policy, name="p9"), project)
    raised = replace(project, accounts={"main.people": Limit(Decimal(50), Decimal("0.99"))})
    with pytest.raises(BudgetExceeded, match="only an entry that says who and why raises"):
        release(replace(policy, name="p9"), raised)


def test_an_account_of_another_spelling_in_the_ledger_is_not_begun_anew(lab):
    lab.release(source="{table: people}\nprivacy_unit: row")  # from the account people
    policy, project = own_account(lab, "{table: main.people}\nprivacy_unit: row", [])
    policy = replace(policy, name="other", directory=lab.folder / "other")
    said = (
        "account 'db.main.people' is new, and the ledger has 'people', which seems to be the same"
    )
    assert previewing.preview(policy, project).refusal.startswith(said)
    with pytest.raises(BudgetExceeded) as caught:
        release(policy, project)
    told = str(caught.value)
    assert told.startswith(said) and "write 'account: people' in the policy" in told
    assert "run 'policy-engine ledger limit db.main.people --epsilon " in told
    assert told.endswith(" --by NAME --why TEXT --new'")
    with open_ledger(project, signer_of(project)) as ledger:
        ledger.set_limit("db.main.people", LIMIT, who="Ada", why="what is left")
        [before] = ledger.read().budget.entries()
        deciding.move(ledger, before.id, "db.main.people", who="Ada", why="its own account")
    assert release(policy, project).account == "db.main.people"


def test_a_file_of_the_same_name_in_the_working_directory_is_not_read(lab, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_source(elsewhere / "source.parquet", [("x", "1", "00000")] * 500)
    monkeypatch.chdir(elsewhere)
    refused(lab, FileError, "another file of that name is in the working directory")
    monkeypatch.chdir(lab.folder)
    assert lab.release().groups == 2


def test_a_folder_with_a_comma_is_read_or_refused(lab, monkeypatch):
    folder = lab.folder / "a,b"
    folder.mkdir()
    write_source(folder / "source.parquet", ROWS)
    inside = Lab(folder, lab.project)
    with pytest.raises(FileError, match="has a comma in its name"):
        inside.release()
    monkeypatch.chdir(folder)
    assert inside.release().groups == 2


@pytest.mark.parametrize("path", ["../source.parquet", "deep/../../source.parquet"])
def test_a_source_above_the_policy_is_found(lab, path):
    folder = lab.folder / "policies"
    (folder / "deep").mkdir(parents=True)
    done = Lab(folder, lab.project).release(source=f"{{file: {path}}}\nprivacy_unit: row")
    assert done.groups == 2


def test_a_target_that_cannot_be_written_is_refused_before_the_charge(lab, monkeypatch):
    fail(monkeypatch, Path, "touch", READ_ONLY)
    refused(lab, FileError, "the file system is read-only; nothing was published")
    (lab.folder / "file").write_text("")
    refused(lab, FileError, "a part of its path is a file", release="{file: file/p.parquet}")
    refused(lab, PolicyError, "must end in .parquet", release="{file: out/p.csv}")


def test_a_directory_in_the_way_is_refused(lab):
    (lab.folder / "out/people.parquet").mkdir(parents=True)
    with pytest.raises(FileError, match="is a directory; name a file"):
        lab.release()
    assert lab.entries == []


# CSV, as the world writes it.


@pytest.mark.parametrize(
    ("content", "name", "groups"),
    [
        (b"\xef\xbb\xbfage,zip\r\n34,12000\r\n34,12001\r\n", "bom.csv", {"12": 2}),
        (b'age,zip\n34,"12,\n""x"""\n34,"12\r\n"\n', "quotes.csv", {"12": 2}),
        (b"age\tzip\n34\t12,0\n34\t12,1\n", "tabs.tsv", {"12": 2}),
        (b"age,zip\n", "header.csv", {}),
        (b"age,zip", "unended.csv", {}),
        (b"age,zip\n34,\n34,\"\"\n", "nothing.csv", {None: 2}),
        (b"age,zip\n34,\xd7\xa9\xd7\x9cx\n34,\xd7\xa9\xd7\x9cy\n", "hebrew.csv", {"של": 2}),
        (b'age,"zip"\n#34,12\n34,12\n', "hash.csv", {"12": 2}),
    ],
)  # fmt: skip
def test_a_csv_file_is_read_as_text(lab, monkeypatch, content, name, groups):
    (lab.folder / name).write_bytes(content)
    monkeypatch.setattr(job, "new_secret", secret_that_keeps(2))
    done = lab.release(
        source=f"{{file: {name}}}\nprivacy_unit: row", recode="{zip: {prefix: 2}}", rate="0.9"
    )
    found = pq.read_table(done.release).to_pydict()
    assert dict(zip(found["zip"], found["n"], strict=True)) == groups
    lab.verify(done.certificate, Path(done.release))


def secret_that_keeps(rows: int):
    """A maker of secrets under which the first rows are all sampled at 0.9."""
    from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
    from policy_engine.warehouse.drawing import row_in_sample

    bound = threshold(Decimal("0.9"))
    secret = next(
        candidate
        for number in range(10_000)
        if all(
            row_in_sample(candidate := number.to_bytes(16, "big"), row, bound)
            for row in range(rows)
        )
    )
    return lambda: secret


def test_a_bad_cast_in_one_row_aborts_nothing_and_is_told_nowhere(lab, caplog, capfd):
    rows = "".join(f"{age}\n" for age in [34] * 40 + ["VERY-SECRET"])
    (lab.folder / "source.csv").write_text("age\n" + rows)
    with caplog.at_level(logging.DEBUG):
        done = lab.release(
            source="{file: source.csv, columns: {age: integer}}\nprivacy_unit: row",
            recode="{age: {bins: [18]}}",
        )
    assert done.groups == 1
    out, err = capfd.readouterr()
    written = b"".join(lab.standing.values()) + (caplog.text + out + err).encode()
    assert b"VERY-SECRET" not in written


# The first row of each person, whatever stands around it.


@pytest.mark.parametrize(("way", "kept"), [("asc", "0"), ("desc", "4")])
@pytest.mark.parametrize("source", ["file: visits.parquet", "table: visits"])
def test_one_row_a_person_is_kept_by_its_order(lab, way, kept, source):
    rows = [(person, visit) for visit in (2, 4, 0, 3, 1) for person in range(200)]
    visits = pa.table({"person": [p for p, _ in rows], "visit": [v for _, v in rows]})
    pq.write_table(visits, lab.folder / "visits.parquet")
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.register("given", visits)
        connection.execute("CREATE TABLE visits AS FROM given")
    order = f"{{column: person, rows: {{first_by: [visit {way}]}}}}"
    done = lab.release(source=f"{{{source}}}\nprivacy_unit: {order}", recode="{visit: keep}")
    found = pq.read_table(done.release).to_pydict()
    assert [str(visit) for visit in found["visit"]] == [kept]
    assert 40 < found["n"][0] < 160  # 200 people at 0.5: outside with probability 1e-17


def test_rows_are_each_group_as_often_as_it_was_counted(lab, monkeypatch):
    monkeypatch.setattr(job, "new_secret", lambda: SECRET)
    counts = pq.read_table(lab.release().release).to_pylist()
    rows = pq.read_table(lab.release(release="{file: out/r.parquet, as: rows}").release).to_pylist()
    assert Counter((row["age"], row["zip"]) for row in rows) == {
        (group["age"], group["zip"]): group["n"] for group in counts
    }
    assert sum(group["n"] for group in counts) > 10


def test_nothing_is_charged_beside_a_certificate_that_the_ledger_has_forgotten(lab):
    """Attack: the ledger's folder of yesterday is put back, and another policy released."""
    lab.release()
    keep = lab.folder / "kept"
    shutil.copytree(lab.folder / ".policy-engine", keep)
    lab.release(release="{file: out/second.parquet}")
    shutil.rmtree(lab.folder / ".policy-engine")
    shutil.copytree(keep, lab.folder / ".policy-engine")
    charged = lab.entries
    with pytest.raises(LedgerError, match=r"second.certificate.json is the certificate of a") as no:
        lab.release(release="{file: out/third.parquet}")
    assert no.value.code == "ledger_forgot"
    assert lab.entries == charged
    assert not (lab.folder / "out" / "third.parquet").exists()


def test_a_view_beside_a_macro_is_refused(lab):
    """Attack: what the view calls is a macro of a built-in's name, which reads every row."""
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE MACRO upper(x) AS (SELECT string_agg(zip, ' ') FROM people)")
        connection.execute("CREATE VIEW loud AS SELECT person, age, upper(zip) AS zip FROM people")
    source = "{table: loud}\nprivacy_unit: {column: person, rows: any}"
    refused(
        lab, WarehouseError, "a view in a database with macros, found main.upper", source=source
    )
    lab.release(source="{table: people}\nprivacy_unit: {column: person, rows: any}")
