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


def _released(folder: Path, policy: str) -> subprocess.CompletedProcess[str]:
    """What the page's script says of the certificate of a release."""
    [script] = [block.text for block in pages.blocks(PAGE) if block.file == "delta.py"]
    (folder / "delta.py").write_text(script)
    visits = {
        "person": [n // 3 for n in range(300)],
        "day": [*range(300)],
        "ward": ["a", "b"] * 150,
    }
    pq.write_table(pa.table(visits), folder / "visits.parquet")
    project = load_project_text(
        "accounts: {visits.parquet: {}}", folder / "policy-engine.yaml", folder
    )
    release(load_policy_text(policy, folder / "policy.yaml", folder), project)
    return subprocess.run(
        [sys.executable, "delta.py", "out.certificate.json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


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
    told = _released(tmp_path, POLICY.format(unit=unit, distribution=distribution)).stdout

    low, high, stated = map(float, re.findall(r"[\d.]+e-\d+", told))
    assert low <= stated * 1.001 <= high * 1.002
    assert stated > 1e-7
    if is_exact:  # in the four digits that it prints
        assert low == high == stated


def test_the_script_reads_a_release_with_a_public_list(tmp_path: Path) -> None:
    unit = "privacy_unit: row\npublic_groups: {ward: [a, b, c]}"
    told = _released(tmp_path, POLICY.format(unit=unit, distribution="auto")).stdout
    low, high, stated = map(float, re.findall(r"[\d.]+e-\d+", told))
    assert low == high == stated > 1e-7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", rows: {first_by: [day desc]}}", "}\ncontribution: {max_groups: 1, count_cut: true}"),
        ("release:", "measures: {days: {sum: day, bounds: [0, 300]}}\nrelease:"),
        ("release:", "measures: {days: {mean: day, bounds: [0, 300]}}\nrelease:"),
        ("release:", "measures: {days: {median: day, bounds: [0, 300]}}\nrelease:"),
        ("keep}", "keep, day: {bins: [150]}}\nrollup: {to: [ward], share: 0.5}"),
        ("1.0e-6}", "1.0e-6, neighbours: replace_one}"),
        (
            "mechanism: noisy_counts\nnoise: {distribution: auto}",
            "sample: {rate: 0.01, method: keyed}\nk: 20",
        ),
    ],
)
def test_the_script_stops_at_what_it_does_not_read(old: str, new: str, tmp_path: Path) -> None:
    unit = "privacy_unit: {column: person, rows: {first_by: [day desc]}}"
    policy = POLICY.format(unit=unit, distribution="auto")
    assert policy.count(old) == 1
    done = _released(tmp_path, policy.replace(old, new))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("this script reads noisy counts under add_remove, with one")
