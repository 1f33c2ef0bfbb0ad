"""The pages that say how to add a recode and a mechanism: what they show works."""

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
PEOPLE = """\
import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"age": [n % 40 for n in range(400)] + [None] * 20,
                         "name": ["a"] * 420}), "people.parquet")
"""
PRESENCE = """\
from decimal import Decimal
from policy_engine.kernel.mechanisms import Presence
from policy_engine.kernel.mechanisms.presence.route import route

for k, rate, epsilon in ((2, "0.5", "0"), (15, "0.5", "1"), (7, "0.1", "0.3"), (20, "0.02", "2")):
    law, rate, epsilon = Presence(1 << 59, k), Decimal(rate), Decimal(epsilon)
    delta = law.delta(1, rate, epsilon, "add_remove")
    once_more = route(law, 1, rate, epsilon, replaces=False).delta
    assert once_more <= delta <= once_more * (1 + Decimal("1e-10")), (k, rate, epsilon)
"""
OF_A_RECODE = {
    "policy_engine/kernel/recodes/__init__.py", "policy_engine/kernel/recodes/meanings.py",
    "policy_engine/policy/recode_models.py", "sql_templates/recodes.sql.j2",
}  # fmt: skip
INDEXES = {
    "kernel/mechanisms/__init__.py", "kernel/mechanisms/checks.py", "kernel/mechanisms/events.py",
    "kernel/mechanisms/meanings.py", "policy/mechanisms/index.py",
}  # fmt: skip


class Copy:
    """A copy of the sources with a page's change in it, and a folder to run in."""

    def __init__(self, folder: Path, page: str) -> None:
        self.sources, self.work = folder / "sources", folder / "work"
        self.work.mkdir()
        for name in ("policy_engine", "sql_templates"):
            left_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(pages.ROOT / name, self.sources / name, ignore=left_out)
        self.text = (pages.ROOT / "contributing" / page).read_text("utf-8")
        self.change = re.search(r"```diff\n(.*?\n)```", self.text, re.DOTALL)[1]
        subprocess.run(["git", "apply", "-C1", "-"], input=self.change, text=True, check=True,
                       cwd=self.sources)  # fmt: skip

    def run(self, *words: str) -> str:
        found = self._ran(*words)
        assert found.returncode == 0, found.stderr
        return found.stdout

    def refused(self, *words: str) -> str:
        found = self._ran("-m", "policy_engine", *words)
        assert found.returncode, found.stdout
        return found.stdout + found.stderr

    def _ran(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.work,
            env={**os.environ, "PYTHONPATH": str(self.sources)},
            text=True,
            capture_output=True,
            check=False,
        )


@pytest.mark.parametrize("page", ["add-a-recode.md", "add-a-mechanism.md"])
def test_the_files_that_are_listed_are_those_that_change(tmp_path, page):
    copy = Copy(tmp_path, page)
    listed = re.findall(r"^\| `(\S+)` \|", copy.text, re.MULTILINE)
    assert sorted(listed) == sorted(re.findall(r"^\+\+\+ b/(.*)$", copy.change, re.MULTILINE))


def test_a_recode_is_added(tmp_path):
    copy = Copy(tmp_path, "add-a-recode.md")
    policy = POLICY.format(
        source="{file: people.parquet}\nprivacy_unit: row", recode="{age: {clamp: [10, 12]}}"
    )
    (copy.work / "policy.yaml").write_text(policy)
    copy.run("-c", PEOPLE)
    copy.run("-m", "policy_engine", "release", "policy.yaml")
    shown = copy.run("-m", "policy_engine", "show", "out.parquet").splitlines()
    assert {line.split()[0] for line in shown[2:6]} == {"10", "11", "12", "NULL"}
    verified = ("verify", "out.certificate.json", "--release", "out.parquet")
    assert "verified: out.parquet" in copy.run("-m", "policy_engine", *verified)
    (copy.work / "policy.yaml").write_text(policy.replace("[10, 12]", "[10, 2]"))
    assert "must be two ends that ascend" in copy.refused("validate", "policy.yaml")
    (copy.work / "policy.yaml").write_text(policy.replace("{age:", "{name:"))
    assert "clamp does not fit, found text" in copy.refused("validate", "policy.yaml")


def test_of_what_is_there_a_recode_changes_indexes_its_macro_and_its_word(tmp_path):
    change = Copy(tmp_path, "add-a-recode.md").change
    edited = re.findall(r"^--- a/(.*)$", change, re.MULTILINE)
    assert {*edited} == OF_A_RECODE
    added = re.findall(r"^--- /dev/null\n\+\+\+ b/(.*)$", change, re.MULTILINE)
    assert len(added) == 3 and all("recodes/clamp/" in name for name in added)


def test_a_mechanism_is_added(tmp_path):
    copy = Copy(tmp_path, "add-a-mechanism.md")
    source = "{file: people.parquet}\nprivacy_unit: row"
    policy = POLICY.format(source=source, recode="{age: {bins: [18]}}")
    policy = policy.replace("k: 2\n", "k: 15\nmechanism: presence\n").replace(
        "out.parquet", "out.parquet, as: rows"
    )
    (copy.work / "policy.yaml").write_text(policy.replace("epsilon: 5", "epsilon: 1"))
    copy.run("-c", PEOPLE)
    released = copy.run("-m", "policy_engine", "release", "policy.yaml")
    assert "(2 groups)" in released and "δ = 0.000575138842964" in released
    shown = copy.run("-m", "policy_engine", "show", "out.parquet").splitlines()
    assert shown[2:4] == ["<18", ">=18"]
    assert "a row is a group with 15 people or more in a sample" in "".join(shown)
    verified = ("verify", "out.certificate.json", "--release", "out.parquet")
    told = copy.run("-m", "policy_engine", *verified)
    assert "recomputed [PRESENCE], by brute force: every cell of up to 53 people" in told
    copy.run("-c", PRESENCE)


def test_of_what_is_there_a_mechanism_changes_indexes_alone(tmp_path):
    change = Copy(tmp_path, "add-a-mechanism.md").change
    edited = re.findall(r"^--- a/policy_engine/(.*)$", change, re.MULTILINE)
    assert {*edited} == INDEXES
    added = re.findall(r"^--- /dev/null\n\+\+\+ b/(.*)$", change, re.MULTILINE)
    assert len(added) == 8 and all("presence" in name for name in added)
