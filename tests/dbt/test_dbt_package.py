"""The vendored package on real dbt: a release is built once, reserved, and for one text alone."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import package_project as project
import psycopg
import pytest
from environments import LONG_ROOMS, VERSIONS, Dbt, Runner, dbt_of
from postgres import running

pytestmark = pytest.mark.slow

NAME = "adult_public_v1"
SALTS = "policy_engine_salts"


@dataclass
class Room:
    """A project, the dbt that builds it, and the warehouse that it is built in."""

    folder: Path
    dbt: Dbt
    command: Runner
    engine: str
    place: str  # a file of DuckDB for each target, or a server of PostgreSQL

    def write(self) -> None:
        if self.engine == "duckdb":
            one = f"{{type: duckdb, path: '{self.place}/TARGET.duckdb', threads: 2}}"
        else:
            one = (
                f"{{type: postgres, host: '{self.place}', user: postgres, password: none,"
                " port: 5432, dbname: postgres, schema: TARGET, threads: 2}"
            )
        outputs = ", ".join(f"{name}: {one.replace('TARGET', name)}" for name in ("dev", "prod"))
        project.write(self.folder, self.engine, f"{{{outputs}}}")

    def run(self, *words: str) -> dict[str, object]:
        """What a command of dbt printed, and what became of each node."""
        results = self.folder / "target" / "run_results.json"
        results.unlink(missing_ok=True)
        done = self.command(*words, project=self.folder)
        nodes = {}
        if results.exists():
            for result in json.loads(results.read_text())["results"]:
                nodes[result["unique_id"]] = result["status"]
        return {"code": done.returncode, "out": done.out, "nodes": nodes}

    def sql(self, target: str, *statements: str) -> list[list[object]]:
        """The rows of the last statement; none where the table is missing."""
        if self.engine == "duckdb":
            with duckdb.connect(f"{self.place}/{target}.duckdb") as connection:
                for statement in statements:
                    rows = connection.execute(statement).fetchall()
        else:
            address = f"host={self.place} user=postgres options=-csearch_path={target}"
            with psycopg.connect(address, autocommit=True) as connection:
                for statement in statements:
                    cursor = connection.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return [list(row) for row in rows]

    def tables(self, target: str) -> list[str]:
        """What is built in a target."""
        schema = "main" if self.engine == "duckdb" else target
        asked = f"select table_name from information_schema.tables where table_schema = '{schema}'"
        return sorted(str(row[0]) for row in self.sql(target, asked))

    def released(self, target: str) -> list[list[object]]:
        """The rows of the release."""
        return self.sql(target, f"select town, n from {NAME} order by town")

    def compiled(self) -> str:
        """The text of the release that dbt would run."""
        return (self.folder / "target/compiled/shop" / project.RELEASE).read_text()

    def reserve(self, digest: str) -> None:
        """Put a secret there, as 'policy-engine dbt reserve' does."""
        texts = '"release_id" varchar(99), "salt" varchar(99), "text_md5" varchar(99)'
        more = '"edition" varchar(99), "is_drawn" boolean'
        self.sql(
            "prod",
            f"create table if not exists {SALTS} ({texts}, {more})",
            f"delete from {SALTS}",
            f"insert into {SALTS} values ('{NAME}', '{project.SECRET}', '{digest}', 'once', false)",
        )


@contextmanager
def room(folder: Path, version: str, engine: str) -> Iterator[Room]:
    """A project in a folder, with the package installed and nothing built."""
    with ExitStack() as stack:
        dbt = dbt_of(version)
        run = stack.enter_context(dbt.served())
        place = folder if engine == "duckdb" else stack.enter_context(running()).folder
        made = Room(folder, dbt, run, engine, str(place))
        made.write()
        done = made.run("deps")
        assert done["code"] == 0, done["out"]
        yield made


def _story(version: str, engine: str, folder: Path) -> dict[str, object]:
    """A release from its first build to a table that somebody changed."""
    with room(folder, version, engine) as it:
        story: dict[str, object] = {"v2": it.dbt.is_v2}
        story["dev"] = it.run("build")
        story["dev rows"] = it.released("dev")
        story["unreserved"] = it.run("build", "--target", "prod")
        story["unreserved rows"] = it.released("prod")
        story["docs"] = it.run(*_DOCS[it.dbt.is_v2], "--target", "prod")
        story["text"] = it.compiled()
        it.reserve("0" * 32)
        story["other text"] = it.run("run", "--select", "adult_public", "--target", "prod")
        it.reserve(project.md5_of(it.compiled()))
        story["empty"] = it.run("run", "--empty", "--select", "adult_public", "--target", "prod")
        story["show"] = it.run("show", *_MODEL, "--target", "prod")
        story["refused rows"] = it.released("prod")
        story["built"] = it.run("build", "--target", "prod")
        story["built rows"] = it.released("prod")
        story["secrets left"] = it.sql("prod", f"select * from {SALTS}")
        (folder / "seeds/people.csv").write_text("id,town\n1,A\n2,A\n3,A\n4,A\n5,A\n6,A\n")
        story["again"] = it.run("build", "--full-refresh", "--target", "prod")
        story["again rows"] = it.released("prod")
        it.sql("prod", f"alter table {NAME} add column age integer")
        it.sql("prod", f"insert into {NAME} (town, n) values ('C', 1)")
        it.sql("prod", "insert into towns values ('C')")
        project.describe(folder, tested="sha256:other")
        story["tampered"] = it.run("test", "--target", "prod")
        story["secret in"] = [
            str(file)
            for file in folder.rglob("*")
            if file.is_file() and file.suffix not in {".duckdb", ".wal"}
            and project.SECRET.encode() in file.read_bytes()
        ]  # fmt: skip
        return story


# dbt 1.x shows a model's tests with it, and they read the table.
_MODEL = ("--select", "adult_public", "--indirect-selection", "empty")
_DOCS = {False: ("docs", "generate"), True: ("compile",)}


@pytest.fixture(scope="module", params=LONG_ROOMS[:4], ids="-".join)
def story(request, made_once):
    version, engine = request.param
    if engine == "postgres" and os.environ.get("POLICY_ENGINE_TESTS_WITHOUT_POSTGRESQL"):
        pytest.skip("PostgreSQL is not wanted here")
    name = f"story-{version}-{engine}"
    return made_once(name, lambda folder: _story(version, engine, folder))


def said(result: dict[str, object]) -> str:
    """What was printed, without the line breaks of a terminal."""
    return " ".join(str(result["out"]).split())


def test_outside_the_release_targets_the_release_is_empty_and_its_recodes_are_tested(story):
    assert story["dev"]["code"] == 0, story["dev"]["out"]
    assert story["dev rows"] == []
    assert story["dev"]["nodes"]["model.shop.adult_public.v1"] == "success"


def test_the_unit_test_runs_where_dbt_has_it_for_incremental_models(story):
    statuses = {name.split(".")[0]: status for name, status in story["dev"]["nodes"].items()}
    assert statuses.get("unit_test", "pass") == "pass"
    assert ("unit_test" in statuses) != story["v2"]


def test_of_a_release_that_is_not_reserved_no_row_is_drawn(story):
    assert story["unreserved"]["code"] == 0, story["unreserved"]["out"]
    assert story["unreserved rows"] == []


def test_docs_and_compile_ask_for_no_reservation_and_show_the_text_that_would_run(story):
    assert story["docs"]["code"] == 0, story["docs"]["out"]
    assert "select salt from" in story["text"]
    assert "is_incremental" not in story["text"]


def test_a_release_reserved_for_another_text_stops(story):
    assert story["other text"]["code"] == 1
    assert "was reserved for another text" in said(story["other text"])


def test_an_empty_table_does_not_stand_as_the_release(story):
    assert story["empty"]["code"] == 1
    assert "is not built with --empty" in said(story["empty"])


def test_showing_a_release_draws_none(story):
    assert story["show"]["code"] == 0, story["show"]["out"]
    assert "other" not in said(story["show"]).split("adult_public", 1)[1]


def test_nothing_that_was_refused_is_in_the_warehouse(story):
    assert story["refused rows"] == []


def test_the_reserved_release_is_what_the_secret_says(story):
    assert story["built"]["code"] == 0, story["built"]["out"]
    assert story["built rows"] == project.expected()
    assert len(project.expected()) == 2


def test_the_secret_is_gone_once_the_table_is_made(story):
    assert story["secrets left"] == []


def test_a_second_run_changes_nothing_and_needs_no_secret(story):
    assert story["again"]["code"] == 0, story["again"]["out"]
    assert story["again rows"] == story["built rows"]


def test_the_generic_tests_say_what_was_changed_in_the_table(story):
    found = said(story["tampered"])
    assert story["tampered"]["code"] == 1
    small = "each count of this release is at least 3; found 1 that are not"
    assert f'"{NAME}": {small}' in found
    assert f'"towns": {small}' in found
    assert "this release has the columns town, n; found age besides" in found
    assert "the certificate is of the policy sha256:other, and the model of sha256:12" in found


def test_the_secret_is_in_no_file_of_the_project(story):
    assert story["secret in"] == []


@pytest.fixture(scope="module", params=VERSIONS)
def leaks(request, made_once):
    version = request.param
    return made_once(f"leaks-{version}", lambda folder: _leaks(version, folder))


def _leaks(version: str, folder: Path) -> dict[str, object]:
    with room(folder, version, "duckdb") as it:
        (folder / project.RELEASE).write_text(project.model("duckdb") + "-- mine\n")
        for name, text in project.LEAKS.items():
            (folder / name).write_text(text)
        leaks: dict[str, object] = {"gate": it.run("build")}
        leaks["tables"] = it.tables("dev")
        view = project.model("duckdb", materialized="view")
        (folder / project.RELEASE).write_text(view)
        leaks["view"] = it.run("compile", "--select", "adult_public")
        leaves = project.model("duckdb", materialized="ephemeral")
        (folder / project.RELEASE).write_text(leaves)
        # dbt 1.x refuses a public ephemeral model itself.
        described = folder / "models/releases/adult_public.yml"
        described.write_text(described.read_text().replace("access: public", "access: protected"))
        leaks["ephemeral"] = it.run("compile", "--select", "clean")
        return leaks


def test_the_gate_stops_every_leak_before_anything_runs(leaks):
    found = said(leaks["gate"])
    assert leaks["gate"]["code"] != 0
    assert leaks["tables"] == []
    assert "10 findings, and nothing was run" in found
    shown = "holds sensitive data: "
    for path in (
        f"G01 the exposure dashboard {shown}people -> stg_people -> between -> dashboard.",
        f"G02 models/by_town.sql: the public model by_town {shown}people -> stg_people -> ",
        f"G02 models/of_visits.sql: the public model of_visits {shown}raw.visits -> of_visits.",
        f"G02 models/marked.sql: the public model marked {shown}marked.",
        "marked.town: meta.privacy.classification must be sensitive, internal or public, found s",
        "G30 models/misspelled.sql: misspelled: meta.privacy.clasification is an unknown key",
        "capital: meta.Privacy is an unknown key",
        f"handmade.sql: the public model handmade {shown}people -> stg_people -> handmade. It is",
        "G22 models/handmade.sql: handmade: a release is drawn once",
        "adult_public.v1: the release was changed after it was generated",
    ):
        assert path in found


def test_the_gate_lets_pass_what_reads_a_release(leaks):
    found = said(leaks["gate"])
    assert "clean_dashboard" not in found
    assert "public model clean" not in found


@pytest.mark.parametrize("materialized", ["view", "ephemeral"])
def test_what_would_draw_at_every_read_is_refused(leaks, materialized):
    assert leaks[materialized]["code"] != 0
    law = "a release is drawn once, as materialized='incremental' with full_refresh=false"
    assert f"{law}; found materialized='{materialized}'" in said(leaks[materialized])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_environment_is_the_version_that_it_says(version):
    dbt = dbt_of(version)
    done = subprocess.run(
        [dbt.real, "--version"],
        env=dbt.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert {"1.11": "1.11.16", "1.12": "1.12.0", "2": "2.0.0-alpha.4"}[version] in done.stdout
