"""The pages that say how to add a recode, an engine and a mechanism: what they show works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pages
import pytest

POLICY = """\
version: 1
name: toy
source: {source}
recode: {recode}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 5, delta: 0.9}}
release: {{file: out.parquet}}
"""
SCHEMA = "create table public.people (id bigint, age integer);"
PEOPLE = """\
import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"age": [n % 40 for n in range(400)] + [None] * 20}), "people.parquet")
"""
PRESENCE = """\
import duckdb
from decimal import Decimal
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Presence, Secret
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, People, Relation
from policy_engine.kernel.types import Type

sex = Shown("sex", Column("sex", Type("text")), Keep())
people, unit = Relation(("main", "people")), People(Column("id", Type("integer")), None)
law = Presence((1 << 60) - 1, 3, secret=Secret(("main", "salts"), "r"))
text = printed(Claim(people, unit, law, (sex,), None), "duckdb")
with duckdb.connect() as connection:
    connection.execute("create table salts as select 'r' as release_id, '00' as salt")
    connection.execute("create table people as select range as id,"
                       " case when range < 9 then 'f' when range < 11 then 'm' end as sex"
                       " from range(20)")
    assert connection.execute(text).fetchall() == [("f",), (None,)]
claim = Claim(people, unit, Presence(1 << 59, 20), (sex,), None)
terms = Terms("toy", "", "people", Bounded(Decimal(2), Decimal("0.01"), rate=Decimal("0.5")))
print(certify(printed(claim, "duckdb"), claim, "duckdb", terms).promise.delta)
"""


class Copy:
    """A copy of the sources with a page's change in it, and a folder to run in."""

    def __init__(self, folder: Path, page: str) -> None:
        self.sources, self.work = folder / "sources", folder / "work"
        self.work.mkdir()
        for name in ("policy_engine", "sql_templates"):
            left_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(pages.ROOT / name, self.sources / name, ignore=left_out)
        self.text = (pages.ROOT / "docs/howto" / page).read_text("utf-8")
        self.change = re.search(r"```diff\n(.*?\n)```", self.text, re.DOTALL)[1]
        subprocess.run(["git", "apply", "-C1", "-"], input=self.change, text=True, check=True,
                       cwd=self.sources)  # fmt: skip

    def run(self, *words: str) -> str:
        found = subprocess.run(
            [sys.executable, *words],
            cwd=self.work,
            env={**os.environ, "PYTHONPATH": str(self.sources)},
            text=True,
            capture_output=True,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout


@pytest.mark.parametrize("page", ["add-a-recode.md", "add-an-engine.md", "add-a-mechanism.md"])
def test_the_files_that_are_listed_are_those_that_change(tmp_path, page):
    copy = Copy(tmp_path, page)
    listed = re.findall(r"^\| `(\S+)` \|", copy.text, re.MULTILINE)
    assert sorted(listed) == sorted(re.findall(r"^\+\+\+ b/(.*)$", copy.change, re.MULTILINE))


def test_a_recode_is_added(tmp_path):
    copy = Copy(tmp_path, "add-a-recode.md")
    policy = POLICY.format(
        source="{file: people.parquet}\nprivacy_unit: row", recode="{age: {split: 18}}"
    )
    (copy.work / "policy.yaml").write_text(policy)
    copy.run("-c", PEOPLE)
    copy.run("-m", "policy_engine", "release", "policy.yaml")
    shown = copy.run("-m", "policy_engine", "show", "out.parquet").splitlines()
    assert sorted(line.split()[0] for line in shown[2:5]) == ["NULL", "high", "low"]
    verified = ("verify", "out.certificate.json", "--release", "out.parquet")
    assert "verified: out.parquet" in copy.run("-m", "policy_engine", *verified)


def test_an_engine_is_added(tmp_path):
    copy = Copy(tmp_path, "add-an-engine.md")
    source = "{table: public.people}\nprivacy_unit: {column: id, rows: one}"
    policy = POLICY.format(source=source, recode="{age: {bins: [18]}}")
    (copy.work / "policy.yaml").write_text(policy)
    (copy.work / "schema.sql").write_text(SCHEMA)
    of = ("--dialect", "toybase", "--schema", "schema.sql")
    text = copy.run("-m", "policy_engine", "compile", "policy.yaml", *of)
    assert """WHERE SHA256_HEX($salt || ':u:' || CAST("id" AS TEXT)) < '800000000000000'""" in text
    (copy.work / "text.sql").write_text(text)
    found = copy.run(
        "-m", "policy_engine", "certify-sql", "text.sql", "--policy", "policy.yaml", *of
    )
    assert found.startswith("certified")


def test_a_mechanism_is_added(tmp_path):
    delta = Copy(tmp_path, "add-a-mechanism.md").run("-c", PRESENCE)
    assert 0 < float(delta) < 0.01
