"""A game of two neighbouring histories: a table night by night, with one person and without her.

A *history* is what a source holds in each night, the person's row or none among it. Each night the
same commands run on both: what happens, and when, is public. ``observed`` is all that is outside
the processes then. What a charged draw gives is told apart by its number; everything else of two
neighbouring histories must be equal, letter by letter.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from watching import Watched, begun

from policy_engine.releasing.copies import Copy
from policy_engine.releasing.publish import COPIES

HERE = Path(__file__).parent
POLICY = """\
version: 1
name: people
source: {source}
recode: {{city: keep, age: {{bins: [18, 65]}}}}
{schedule}
sample: {{rate: 0.5, method: keyed}}
k: 4
guarantee: {{epsilon: 3, delta: 0.1}}
release: {target}
account: people
"""
PROJECT = "ledger_begins: in_each_checkout\nwarehouses: {{db: {warehouse}}}\n"
DUCKDB = "{type: duckdb, database: db.duckdb}"
UNIT = "privacy_unit: {column: id, rows: any}"
RELEASE = ("release", "policy.yaml", "--replace", "--format", "json")
RESTORE = ("restore", "policy.yaml", "--format", "json")
SETTLE = ("ledger", "reconcile", "--format", "json")
SHOW = ("ledger", "show", "--format", "json")
VERIFY = ("ledger", "verify", "--format", "json")
CRASHES = ("reserved", "started", "drawn", "recorded", "placed", "kept")
#: What she is, when she is there: an ordinary row, one alone in its group, and extreme ones.
ROWS = (("Rome", 30), ("Rome", 70), ("nowhere", 30), (None, None), ("Z" * 500, -(2**31)))
#: Sizes of what is released: they follow from its bytes.
SIZES = ("groups", "rows", "people", "remarks")

_OURS = ("secrets", "sampled", "stdout", "stderr")


@dataclass(frozen=True)
class Night:
    """What happens in a night: to all the others, in the place of the release, and at the prompt.

    ``commands`` are words with the step at which the process is killed, or with none.
    """

    others: int
    commands: tuple[tuple[tuple[str, ...], str | None], ...]
    removes: tuple[str, ...] = ()


#: Each thing that can become of a release, once; in most nights she is all that changes.
SHORT = (
    Night(0, ((RELEASE, None),)),
    Night(0, ((RELEASE, None),)),
    Night(0, ((RELEASE, None),), ("release", "certificate")),
    Night(1, (((*RELEASE, "--revise"), "drawn"), (RELEASE, None))),
    Night(1, (((*RELEASE, "--revise"), "recorded"), (SETTLE, None), (RELEASE, None)), ("release",)),
    Night(1, (((*RELEASE, "--revise"), "placed"), (RESTORE, None)), ("release",)),
    Night(1, (((*RELEASE, "--revise"), "started"), (RELEASE, "drawn"), (RELEASE, None))),
)
#: Nights of a calendar: each is days after the one before it, so that months end in between.
CALENDAR = (
    Night(0, ((RELEASE, None),)),
    Night(1, ((RELEASE, None),)),
    Night(1, ((RELEASE, "drawn"), (RELEASE, None))),
    Night(1, ((RELEASE, None), ((*RELEASE, "--edition", "2126-11", "--revise"), None))),
    Night(2, ((RELEASE, "recorded"), (SETTLE, None), (RELEASE, None))),
    Night(2, ((RELEASE, "started"), (RELEASE, None), (RELEASE, None)), ("release",)),
    Night(2, (((*RESTORE, "--edition", "2126-11"), None), (RELEASE, None))),
)
HERS: tuple[tuple[str | None, int] | None, ...] = (
    None, ROWS[0], ROWS[1], ROWS[2], None, ROWS[3], ROWS[4],
)  # fmt: skip


def nights(seed: int, count: int) -> tuple[Night, ...]:
    """A public calendar: nothing in it knows of her."""
    chance = Random(seed)
    found, others = [], 0
    for night in range(count):
        others += chance.random() < 0.3
        word = RELEASE if night == 0 or chance.random() < 0.5 else (*RELEASE, "--revise")
        crash = chance.choice(CRASHES) if chance.random() < 0.5 else None
        then = chance.choice([(), ((RELEASE, None),), ((SETTLE, None),), ((RESTORE, None),)])
        away = chance.choice([(), (), ("release",), ("certificate",), ("release", "certificate")])
        found.append(Night(others, ((word, crash), *then), away))
    return tuple(found)


def her_rows(seed: int, count: int) -> tuple[tuple[str | None, int] | None, ...]:
    """What she is in each night: she comes, goes, changes, or stays."""
    chance = Random(f"she {seed}")
    found: list[Any] = []
    for _ in range(count):
        stays = bool(found) and chance.random() < 0.3
        found.append(found[-1] if stays else chance.choice([None, *ROWS]))
    return tuple(found)


def with_keys(hers: Sequence[Any]) -> tuple[Any, ...]:
    """The same with another key of hers every other night."""
    return tuple(row and (*row, 10**6 + night % 2) for night, row in enumerate(hers))


def rows_of(others: int, hers: Sequence[Any] | None) -> pa.Table:
    """The source of a night: hers are of one day, and so is each of the others' rows."""
    first = date(2126, 10, 1)
    rows = [
        (n, ("Rome", "Oslo", "Lima")[n % 3], 10 + 7 * n % 80, first + timedelta(n % 120))
        for n in range(300 + 5 * others)
    ]
    # She comes late: what is of a month that was released already stays out.
    if hers:
        city, age, key = (*hers, 10**6)[:3]
        rows += [(key, city, age, date(2126, 11, 5)), (key, city, age, date(2126, 12, 7))]
    fields = [("id", pa.int64()), ("city", pa.string()), ("age", pa.int64()), ("day", pa.date32())]
    names = [name for name, _ in fields]
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in rows], schema=pa.schema(fields)
    )


class Files:
    """A source in a file, a release in a file."""

    warehouse = DUCKDB
    schedule = ""
    project = ""
    starts = 0.0
    days = 1.0
    source = f"{{file: source.parquet}}\n{UNIT}"
    target = "{file: out/people.parquet}"
    certificate = "out/people.certificate.json"

    def begin(self, project: Path) -> None:
        """Nothing is to be emptied."""

    def asked(self, night: int, words: Sequence[str]) -> Sequence[str]:
        """What is asked for in a night."""
        return words

    def write(self, project: Path, rows: pa.Table) -> None:
        pq.write_table(rows, project / "source.parquet")

    def remove(self, project: Path) -> None:
        (project / "out/people.parquet").unlink(missing_ok=True)

    def stands(self, project: Path) -> tuple[dict[str, str], str]:
        """The digest of each release, by its edition, and what else is told of them."""
        found = sorted((project / "out").glob("*.parquet"))
        return {each.stem: hashlib.sha256(each.read_bytes()).hexdigest() for each in found}, ""


class Calendar(Files):
    """The same by a calendar: each edition is drawn once, when it is due."""

    schedule = "refresh: {every: month}"
    days = 12
    target = '{file: "out/{edition}.parquet"}'
    certificate = "out/2126-11.certificate.json"

    def remove(self, project: Path) -> None:
        (project / "out/2126-11.parquet").unlink(missing_ok=True)


class Periods(Calendar):
    """The rows of each month, once, when it is over."""

    schedule = 'period: {column: day, every: month, from: "2126-10", after: 5d}'


class Weeks(Calendar):
    """The rows of each week, in the weeks around the end of a year, where a day begins earlier."""

    schedule = 'period: {column: day, every: week, from: "2126-W47", after: 2d}'
    project = "zone: Europe/Berlin\n"
    days = 8.0
    certificate = "out/2126-W48.certificate.json"

    def remove(self, project: Path) -> None:
        (project / "out/2126-W48.parquet").unlink(missing_ok=True)


class Days(Calendar):
    """The table anew each day, in the nights around one that has an hour less."""

    schedule = "refresh: {every: day}"
    project = "zone: America/New_York\n"
    starts = 106.0  # 7 March 2127; the clocks are set forward on the 9th
    days = 0.5
    certificate = "out/2127-03-08.certificate.json"

    def remove(self, project: Path) -> None:
        (project / "out/2127-03-08.parquet").unlink(missing_ok=True)


class Skipped(Calendar):
    """Nobody asks for weeks: of some months nothing is drawn."""

    days = 40.0


class Parts(Files):
    """A source of two files, of which hers is in one or the other, by her key."""

    source = f"{{file: parts}}\n{UNIT}"

    def write(self, project: Path, rows: pa.Table) -> None:
        folder = project / "parts"
        folder.mkdir(exist_ok=True)
        for part in range(2):
            own = [row for row in rows.to_pylist() if row["id"] % 2 == part]
            pq.write_table(pa.Table.from_pylist(own, rows.schema), folder / f"{part}.parquet")


class Turns(Files):
    """Two policies of one account in turns, whose limit is reached on the way."""

    project = "accounts: {people: {epsilon: 20.0, delta: 0.5}}\n"

    def begin(self, project: Path) -> None:
        text = (project / "policy.yaml").read_text()
        text = text.replace("name: people", "name: cities").replace("out/people", "out/cities")
        (project / "cities.yaml").write_text(text.replace(", age: {bins: [18, 65]}", ""))

    def asked(self, night: int, words: Sequence[str]) -> Sequence[str]:
        name = "cities.yaml" if night % 2 else "policy.yaml"
        return [name if word == "policy.yaml" else word for word in words]


class Tables:
    """A source and a release in a DuckDB database."""

    warehouse = DUCKDB
    schedule = ""
    project = ""
    starts = 0.0
    days = 1.0
    source = f"{{table: source}}\n{UNIT}"
    target = "{table: people}"
    certificate = "people.certificate.json"

    asked = Files.asked

    def begin(self, project: Path) -> None:
        """A database that is there."""
        self._sql(project, "SELECT 1")

    def _sql(self, project: Path, *statements: str) -> list[Any]:
        with duckdb.connect(str(project / "db.duckdb")) as connection:
            for statement in statements:
                rows = connection.execute(statement).fetchall()
        return rows

    def write(self, project: Path, rows: pa.Table) -> None:
        with duckdb.connect(str(project / "db.duckdb")) as connection:
            connection.register("rows", rows)
            connection.execute("CREATE OR REPLACE TABLE source AS FROM rows")

    def remove(self, project: Path) -> None:
        self._sql(project, "DROP TABLE IF EXISTS people")

    def stands(self, project: Path) -> tuple[dict[str, str], str]:
        tables = self._sql(
            project, "SELECT table_name, comment FROM duckdb_tables() ORDER BY table_name"
        )
        comments = {name: comment for name, comment in tables if name != "source"}
        if "people" not in comments:
            return {}, repr(comments)
        lines = self._sql(project, "SELECT COLUMNS(*)::VARCHAR FROM people ORDER BY ALL NULLS LAST")
        return {"people": _digest(lines)}, repr(comments)


class AddedRows(Tables):
    """The rows of each month are added to one table."""

    schedule = Periods.schedule
    days = Calendar.days
    target = "{table: people, append: true}"
    certificate = "people.2126-11.certificate.json"

    def stands(self, project: Path) -> tuple[dict[str, str], str]:
        _, about = super().stands(project)
        if "people" not in about:
            return {}, about
        editions = self._sql(project, "SELECT DISTINCT edition FROM people ORDER BY 1")
        rows = "SELECT COLUMNS(* EXCLUDE edition)::VARCHAR FROM people WHERE edition = '{}'"
        return {
            each: _digest(self._sql(project, f"{rows.format(each)} ORDER BY ALL NULLS LAST"))
            for (each,) in editions
        }, about

    def remove(self, project: Path) -> None:
        if self.stands(project)[0]:
            self._sql(project, "DELETE FROM people WHERE edition = '2126-11'")


@dataclass
class Server(Tables):
    """A source and a release in a PostgreSQL database."""

    postgres: Any = None
    warehouse: str = field(init=False)

    def __post_init__(self) -> None:
        self.warehouse = f"{{type: postgres, url: '{self.postgres.url}'}}"

    def begin(self, project: Path) -> None:
        self.postgres.sql("DROP TABLE IF EXISTS source", "DROP TABLE IF EXISTS people")

    def write(self, project: Path, rows: pa.Table) -> None:
        kinds = "id bigint, city text, age bigint, day date"
        self.postgres.sql("DROP TABLE IF EXISTS source", f"CREATE TABLE source ({kinds})")
        import psycopg

        with (
            psycopg.connect(self.postgres.url, autocommit=True) as connection,
            connection.cursor().copy("COPY source FROM STDIN") as copy,
        ):
            for row in rows.to_pylist():
                copy.write_row(tuple(row.values()))

    def remove(self, project: Path) -> None:
        self.postgres.sql("DROP TABLE IF EXISTS people")

    def stands(self, project: Path) -> tuple[dict[str, str], str]:
        found = self.postgres.sql(
            "SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace AND relname <> 'source' ORDER BY 1"
        )
        if "people" not in dict(found):
            return {}, repr(found)
        columns = "city::text, age::text, n::text"
        lines = self.postgres.sql(
            f'SELECT {columns} FROM people ORDER BY city COLLATE "C", age COLLATE "C"'
        )
        return {"people": _digest(lines)}, repr(found)


class AddedToServer(Server):
    """The same on a server."""

    schedule = Periods.schedule
    days = Calendar.days
    target = AddedRows.target
    certificate = AddedRows.certificate

    def stands(self, project: Path) -> tuple[dict[str, str], str]:
        _, about = super().stands(project)
        if "'people'" not in about:
            return {}, about
        rows = (
            "SELECT city::text, age::text, n::text FROM people WHERE edition = '{}'"
            ' ORDER BY city COLLATE "C", age COLLATE "C"'
        )
        editions = self.postgres.sql("SELECT DISTINCT edition FROM people ORDER BY 1")
        return {each: _digest(self.postgres.sql(rows.format(each))) for (each,) in editions}, about

    def remove(self, project: Path) -> None:
        if "'people'" in self.stands(project)[1]:
            self.postgres.sql("DELETE FROM people WHERE edition = '2126-11'")


Place = Files | Calendar | Tables | Server


def _digest(lines: Sequence[tuple[Any, ...]]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(json.dumps(list(line), ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


@dataclass(frozen=True)
class Observed:
    """What is outside the processes after a command: ``told`` without what a draw gave.

    ``sizes`` are of the release of a digest.
    """

    told: Mapping[str, Any]
    sizes: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class History:
    """What was observed after each command, and what must hold of each history by itself."""

    observed: tuple[Observed, ...]
    faults: tuple[str, ...]


class Game:
    """Plays histories in one folder, one after another, under the same names and keys."""

    def __init__(self, folder: Path) -> None:
        self.root, self.base = folder / "game", folder / "base"
        self._process = Watched("history_process.py")
        begun(self.base, PROJECT.format(warehouse=DUCKDB))

    def close(self) -> None:
        self._process.close()

    def _run(self, night: float, words: Sequence[str], **given: Any) -> dict[str, Any]:
        code = self._process.code_of(
            self.root, "project", {"night": night, "words": words, **given}
        )
        streams = {name: (self.root / name).read_text() for name in ("stdout", "stderr")}
        return {"code": code, **streams}

    def played(
        self,
        place: Place,
        calendar: Sequence[Night],
        hers: Sequence[tuple[str | None, int] | None],
        plant: str | None = None,
    ) -> History:
        """What is seen of a history, in which she is ``hers`` in each night."""
        shutil.rmtree(self.root, ignore_errors=True)
        project = self.root / "project"
        shutil.copytree(self.base, project)
        for name in ("home", "tmp"):
            (self.root / name).mkdir()
        (project / "policy.yaml").write_text(
            POLICY.format(source=place.source, target=place.target, schedule=place.schedule)
        )
        text = PROJECT.format(warehouse=place.warehouse) + place.project
        (project / "policy-engine.yaml").write_text(text)
        place.begin(project)

        def at(night: int) -> float:
            return place.starts + night * place.days

        observed, faults = [], []
        for number, (night, row) in enumerate(zip(calendar, hers, strict=True)):
            place.write(project, rows_of(night.others, row))
            if "release" in night.removes:
                place.remove(project)
            if "certificate" in night.removes:
                (project / place.certificate).unlink(missing_ok=True)
            for asked, crash in night.commands:
                words = place.asked(number, asked)
                seen = self._run(at(number), words, crash=crash, plant=plant)
                digests, about = place.stands(project)
                if not {*digests.values()} <= {*self._drawn()}:
                    faults.append(f"night {number}: what stands was never drawn for an entry")
                observed.append(self._observed(seen, digests, about))
            observed.append(self._observed(self._run(at(number), SHOW), digests, about))
        if self._run(at(len(calendar)), VERIFY)["code"] != 0:
            faults.append("the ledger does not hold")
        sampled = self.root / "sampled"
        secrets = sampled.read_text().split() if sampled.exists() else []
        if len(set(secrets)) < len(secrets):
            faults.append("a secret was drawn under twice")
        return History(tuple(observed), tuple(faults))

    def _ledger(self, query: str) -> list[Any]:
        path = self.root / "project/.policy-engine/ledger.sqlite"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()

    def _records(self) -> dict[str, Any]:
        """What the records are of, in their order."""
        return {"records": self._ledger("SELECT kind, account, entry FROM records ORDER BY seq")}

    def _drawn(self) -> list[str]:
        """The digests that the ledger has, in their order."""
        found = self._ledger("SELECT payload FROM records WHERE kind = 'draw' ORDER BY seq")
        return [json.loads(payload)["release_digest"] for (payload,) in found]

    def _observed(self, seen: dict[str, Any], digests: dict[str, str], about: str) -> Observed:
        drawn, sizes = self._drawn(), []
        if seen["stdout"].startswith("{") and seen["code"] == 0:
            document = json.loads(seen["stdout"])
            for each in (document, *document.get("editions", ())):
                release = Path(each.get("release", ""))
                name = release.stem if release.suffix == ".parquet" else "people"
                digest = digests.get(each.get("edition") or name)
                if "groups" in each and digest is not None:
                    sizes.append((digest, [each.pop(name, None) for name in SIZES]))
            seen = {**seen, "stdout": document}
        stands = [digests, about]
        told = {"seen": seen, "stands": stands, "files": self._files(drawn), **self._records()}
        return Observed(json.loads(_named(json.dumps(told, sort_keys=True), drawn)), tuple(sizes))

    def _files(self, drawn: list[str]) -> dict[str, Any]:
        """What is outside the private folder: inputs and the database with the source left out."""
        project, found = self.root / "project", {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            inputs = ("project/.policy-engine/", "project/source.", "project/parts/", "project/db.")
            # What a killed process spilled is in a folder of mode 0700, with a name by chance.
            name = re.sub(r"^tmp/policy-engine-spill-\w{8}", "tmp/spilled", name)
            if name.startswith((*inputs, "tmp/spilled/")) or name in {
                "secrets",
                "sampled",
                "stdout",
                "stderr",
            }:
                continue
            mode = oct(path.stat().st_mode)
            found[name] = [mode, self._content(path, drawn) if path.is_file() else ""]
        assert project.is_dir()
        return found

    @staticmethod
    def _content(path: Path, drawn: list[str]) -> Any:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if digest in drawn:
            return digest
        if path.parent.name == COPIES and path.suffix == "":
            return Copy(path, True).digest()
        try:
            envelope = json.loads(content)
            payload = json.loads(base64.b64decode(envelope["payload"]))
        except (ValueError, KeyError, TypeError):
            return digest
        return [payload, sorted(envelope), len(envelope["signatures"])]


def _named(text: str, drawn: list[str]) -> str:
    """The same with a number for the digest of each draw, and a sign for hashes that hang on it."""
    for number, digest in enumerate(drawn):
        text = text.replace(digest, f"draw {number}")
    return re.sub(r"[0-9a-f]{64}", "#", text)


@contextmanager
def game() -> Iterator[Game]:
    """A game in a folder of its own."""
    folder = Path(tempfile.mkdtemp())
    running = Game(folder)
    try:
        yield running
    finally:
        running.close()
        shutil.rmtree(folder)


def differences(one: History, other: History) -> list[str]:
    """What tells two neighbouring histories apart, and what is wrong of either by itself."""
    found = [*one.faults, *other.faults]
    sizes: dict[str, Any] = {}
    for number, (this, that) in enumerate(zip(one.observed, other.observed, strict=True)):
        for name in this.told:
            if this.told[name] != that.told[name]:
                told = json.dumps([this.told[name], that.told[name]], indent=1)
                found.append(f"command {number}, {name}: {told}")
        for digest, size in (*this.sizes, *that.sizes):
            if sizes.setdefault(digest, size) != size:
                found.append(f"command {number}: another size of the same release")
    return found
