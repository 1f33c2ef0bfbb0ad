"""How large a group must be where releases share an account, as pages say it, is computed again."""

from __future__ import annotations

import re
from pathlib import Path

import pages
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.outlook import Outlook
from policy_engine.policy.loading import load_policy

EXPLAINED = pages.ROOT / "docs/explanation"
POLICY = """\
version: 1
name: wards
source: {{file: p.parquet}}
privacy_unit: row
recode: {{ward: keep}}
guarantee: {guarantee}
release: {{file: out.parquet}}
account: people
"""


def rows_of(page: str, head: str) -> list[list[str]]:
    """The cells of each line of a page's table that begins so."""
    tables = re.findall(r"(?:^\|.*\n)+", (EXPLAINED / page).read_text("utf-8"), re.MULTILINE)
    [found] = [table for table in tables if table.startswith(head)]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in found.split("\n")[2:-1]
    ]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """How far off a count is, and which groups are shown half of the time, by the guarantee."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"ward": ["a", "b"]}), "p.parquet")

    def found(guarantee: str, editions: int) -> tuple[str, str]:
        plan = f", each: year, plan: {{wards: {{editions: {editions}}}}}"
        account = f"{{epsilon: 1.0, delta: 1.0e-6{plan if guarantee == 'planned' else ''}}}"
        Path("policy-engine.yaml").write_text(f"accounts: {{people: {account}}}\n")
        Path("p.yaml").write_text(POLICY.format(guarantee=guarantee))
        seen = Outlook.of(load_policy(Path("p.yaml"))).own
        return f"{seen.error:.1f}", str(seen.half)

    return found


def test_why_noise_has_the_numbers_of_a_plan(own) -> None:
    for editions, *told in rows_of("why-noise.md", "| releases that share"):
        assert tuple(told) == own("planned", int(editions))


def test_accounts_has_the_groups_by_each_rule(own) -> None:
    for editions, *told in rows_of("accounts.md", "| releases |"):
        many = int(editions)
        parts = f"{{epsilon: {1 / many:.5f}, delta: {1e-6 / many:.2e}}}"
        ways = (parts, f"{{editions: {many}}}", "planned")
        assert told == [own(way, many)[1] for way in ways]
