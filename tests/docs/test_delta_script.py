"""The script of "Compute δ yourself" is right for whatever certificate of counts it is given."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pages
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import load_project_text
from policy_engine.releasing.release import release

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "verify-a-release.md"
POLICY = """\
version: 1
name: visits
source: {{file: visits.parquet}}
{unit}
recode: {{ward: keep}}
mechanism: noisy_counts
noise: {{distribution: {distribution}}}
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {{file: out.parquet}}
"""


@pytest.mark.parametrize(
    "distribution", ["truncated_laplace", "discrete_gaussian", "negative_binomial"]
)
@pytest.mark.parametrize(
    ("unit", "is_exact"),
    [
        ("privacy_unit: row", True),
        ("privacy_unit: {column: person, rows: any}", True),
        ("privacy_unit: {column: person, rows: {first_by: [day desc]}}", True),
        ("privacy_unit: {column: person}\ncontribution: {max_groups: 3}", False),
    ],
)
def test_the_script_of_the_page_holds_the_stated_delta_between_its_bounds(
    unit: str, distribution: str, is_exact: bool, tmp_path: Path
) -> None:
    [script] = [block.text for block in pages.blocks(PAGE) if block.file == "delta.py"]
    (tmp_path / "delta.py").write_text(script)
    visits = {
        "person": [n // 3 for n in range(300)],
        "day": [*range(300)],
        "ward": ["a", "b"] * 150,
    }
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    project = load_project_text(
        "accounts: {visits.parquet: {}}", tmp_path / "policy-engine.yaml", tmp_path
    )
    text = POLICY.format(unit=unit, distribution=distribution)
    release(load_policy_text(text, tmp_path / "policy.yaml", tmp_path), project)

    told = subprocess.run(
        [sys.executable, "delta.py", "out.certificate.json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip

    low, high, stated = map(float, re.findall(r"[\d.]+e-\d+", told))
    assert low <= stated * 1.001 <= high * 1.002
    assert stated > 1e-7
    if is_exact:
        assert high <= low * 1.001
