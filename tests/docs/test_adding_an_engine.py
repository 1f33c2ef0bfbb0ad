"""The page that says how to add an engine: a package outside the tree, made of what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pages
import pytest

PAGE = pages.ROOT / "contributing/add-an-engine.md"
CERTIFICATE = "toy.certificate.json"
UV = Path(sys.executable).with_name("uv")
POLICY = """\
version: 1
name: toy
source: {table: people}
account: toy
privacy_unit: {column: id, rows: any}
recode: {city: keep}
sample: {rate: 0.5}
k: 2
guarantee: {epsilon: 5, delta: 0.9}
release: {table: released}
"""
SCHEMA = "create table people (id bigint, city text, unknown struct(a bigint));"


class Machine:
    """A folder with the files of the page, and what is installed there beside policy-engine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.installed = folder, folder / "installed"
        for block in pages.blocks(PAGE):
            if block.file:
                file = folder / block.file
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, "utf-8")

    def install(self, package: str) -> None:
        words = ("pip", "install", "--no-deps", "--target", self.installed, package)
        done = subprocess.run(
            [UV, *words], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def python(self, *words: str, beside: str = "") -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, (str(self.installed), str(pages.ROOT), beside)))
        # The options of the run that this test is part of are none of a newcomer's.
        own = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, *words], cwd=self.folder, env={**own, "PYTHONPATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def run(self, *words: str) -> str:
        done = self.python("-m", "policy_engine", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words: str) -> str:
        done = self.python("-m", "policy_engine", *words)
        assert done.returncode, done.stdout
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Machine:
    made = Machine(tmp_path_factory.mktemp("toy"))
    made.install("./toy")
    (made.folder / "policy.yaml").write_text(POLICY)
    (made.folder / "schema.sql").write_text(SCHEMA)
    with duckdb.connect(str(made.folder / "people.db")) as connection:
        cities = "CASE WHEN range % 3 = 0 THEN 'Bern' ELSE 'Ulm' END AS city"
        connection.execute(
            f"CREATE TABLE people AS SELECT range % 100 AS id, {cities} FROM range(200)"
        )
    return made


def test_the_files_that_are_listed_are_those_of_the_page():
    listed = re.findall(r"^\| `(toy/\S+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert listed == [b.file for b in pages.blocks(PAGE) if b.file.startswith("toy/")]


def test_it_is_found_with_its_package(machine):
    [line] = [line for line in machine.run("engines").splitlines() if line.startswith("toy ")]
    assert line.endswith("Toy: releases run on it; of toy-engine")


def test_its_text_is_printed_by_its_forms_and_certified(machine):
    of = ("--dialect", "toy", "--schema", "schema.sql")
    text = machine.run("compile", "policy.yaml", *of)
    assert "TOY_SHA256($salt || ':o:' || CAST(" in text
    (machine.folder / "text.sql").write_text(text)
    certified = machine.run("certify-sql", "text.sql", "--policy", "policy.yaml", *of)
    assert certified.startswith("certified")
    (machine.folder / "text.sql").write_text(text.replace("TOY_SHA256", "SHA256"))
    other = machine.refused("certify-sql", "text.sql", "--policy", "policy.yaml", *of)
    assert "TOY_SHA256" in other


def test_a_release_runs_on_it_and_its_certificate_names_the_package(machine):
    assert "the forms of Toy are those of the package toy-engine" in machine.run(
        "plan", "policy.yaml"
    )
    machine.run("release", "policy.yaml")
    with duckdb.connect(str(machine.folder / "people.db")) as connection:
        connection.execute(f"COPY (FROM released) TO '{machine.folder}/released.parquet'")
    verified = machine.run("verify", CERTIFICATE, "--release", "released.parquet")
    assert "the SQL is the mechanism that is stated: printed again from its claim" in verified
    assert "which policy-engine did not measure: each does what its name says" in verified


def test_who_verifies_needs_the_package_and_its_forms(machine):
    forms = machine.installed / "toy_engine/forms.sql.j2"
    own = forms.read_text("utf-8")
    try:
        forms.write_text(own.replace("TOY_SHA256", "TOY_MD5"))
        told = machine.refused("verify", CERTIFICATE)
    finally:
        forms.write_text(own)
    assert "printed by templates that this version of the engine does not know" in told
    elsewhere = machine.folder / "elsewhere"
    elsewhere.mkdir()
    words = ("verify", f"../{CERTIFICATE}", "--key", "../.policy-engine/signing.pub")
    plain = subprocess.run(
        [sys.executable, "-m", "policy_engine", *words], cwd=elsewhere,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert plain.returncode == 1
    assert "the engine 'toy' is none of policy-engine's" in plain.stderr


def test_it_keeps_the_contract(machine):
    tests = [str(pages.ROOT / "tests" / name) for name in ("contract", "kernel", "warehouse")]
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "toy")
    done = machine.python(*words, beside=os.pathsep.join(tests))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b1[3-9] passed", done.stdout)


def test_a_package_takes_no_name_of_ours_and_two_share_none(machine, tmp_path):
    other = Machine(tmp_path)
    project = tmp_path / "toy/pyproject.toml"
    other.install("./toy")
    project.write_text(
        project.read_text().replace('"toy-engine"', '"other"')
        .replace('toy = "toy', 'duckdb = "other:DUCKDB"\ntoy = "toy')
        .replace('["toy_engine"]', '["toy_engine", "other"]')
    )  # fmt: skip
    (tmp_path / "toy/other").mkdir()
    (tmp_path / "toy/other/__init__.py").write_text("raise SystemError\n")
    other.install("./toy")
    lines = other.run("engines").splitlines()
    assert "duckdb      DuckDB: releases run on it; of policy-engine" in lines
    refusal = "the engine toy is brought by other, toy-engine; uninstall all but one"
    assert f"toy         {refusal}" in lines
    (tmp_path / "policy.yaml").write_text(POLICY)
    assert "uninstall all but one" in other.refused("validate", "policy.yaml")
