"""An account that cannot pay: what its refusal names is accepted, for every kind of release."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.policy.loading import load_policy
from policy_engine.releasing.preview import preview

POLICY = """\
version: 1
name: {name}
source: {{file: people.parquet}}
release: {{file: out/{name}.parquet}}
account: people
guarantee: {{epsilon: {epsilon}, delta: {delta}{other}}}
{kind}
"""
OF_EACH = "privacy_unit: {column: id, rows: any}\nrecode: {sex: keep}\n"
OF_MANY = "privacy_unit: {column: id}\nrecode: {ward: keep}\ncontribution: {max_groups: 3"
KINDS = {
    "counts": OF_EACH,
    "gaussian": OF_EACH + "noise: {distribution: discrete_gaussian}",
    "public groups": OF_EACH + "public_groups: {file: groups.csv}",
    "groupings": OF_EACH.replace("keep}", "keep, ward: keep}") + "rollup: {to: [ward], share: 0.2}",
    "cut people": OF_MANY + ", count_cut: true}",
    "sum": OF_MANY + "}\nmeasures: {cost: {sum: cost, per: person, bounds: [0, 40]}}",
    "median": OF_MANY + "}\nmeasures: {cost: {median: cost, per: person, bounds: [0, 40]}}",
}
SAMPLE = OF_EACH + "sample: {rate: 0.1}\nk: 18"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A policy of a kind in a project with one account."""
    monkeypatch.chdir(tmp_path)
    people = [person for person in range(600) for _ in range(3)]
    rows = {"id": people, "sex": [f"{person % 2}" for person in people]}
    rows |= {"ward": ["a", "b", "c"] * 600, "cost": [*range(40)] * 45}
    pq.write_table(pa.table(rows), "people.parquet")
    Path("groups.csv").write_text("sex\n0\n1\n")
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\n")

    def made(name: str, kind: str, epsilon: str, delta: str, other: str = "") -> Path:
        path = Path(f"{name}.yaml")
        said = {"name": name, "kind": KINDS.get(kind, kind), "epsilon": epsilon, "delta": delta}
        path.write_text(POLICY.format(other=other, **said))
        return path

    return made


@pytest.mark.parametrize("neighbours", ["", ", neighbours: replace_one"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_refusal_names_is_accepted(cli, write, kind, neighbours):
    """Where the first release counts who was cut, no other kind had its event at its ε and δ."""
    first = write("first", "cut people", "0.4", "2.0e-7", neighbours)
    assert cli("release", first).code == 0
    path = write("other", kind, "0.95", "9.0e-7", neighbours)
    refused = cli("release", path)
    assert refused.code == 1, refused
    at_most = re.search(r"at most ε (\S+) \(at δ (\S+?)\)", refused.err)
    assert preview(load_policy(write("other", kind, *at_most.groups(), neighbours))).affordable
    assert "what was released first would fit once more, unchanged (ε 0.4, δ " in refused.err
    assert cli("release", first, "--revise", "--replace").code == 0


def test_each_sample_that_a_refusal_names_is_accepted(cli, write):
    path = write("sampled", SAMPLE, "0.95", "1.0e-9")
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 0.3, delta: 1.0e-9}}\n")
    text, refused = path.read_text(), cli("release", path)
    samples = re.findall(r"(k: \d+) with (rate: [0-9.]+)", refused.err)
    assert (refused.code, len(samples)) == (1, 2), refused
    for k, rate in samples:
        path.write_text(text.replace("k: 18", k).replace("rate: 0.1", rate))
        assert preview(load_policy(path)).affordable, (k, rate)


def test_a_raise_is_named_where_the_sums_of_what_was_certified_are_far_from_it(cli, write):
    """The rule shares δ out: 15 times the sum of the two is needed, and 8 times were tried."""
    first = write("first", OF_MANY.replace("3", "1, count_cut: true}"), "0.1", "1.0e-6")
    assert cli("release", first).code == 0
    refused = cli("release", write("other", "counts", "0.2", "3.0e-7"))
    assert refused.code == 1, refused
    raised = re.search(r"ledger limit people --epsilon ([0-9.]+) --delta ([0-9.E-]+)", refused.err)
    assert raised is not None, refused.err
    because = ("--by", "Ada", "--why", "one more")
    assert (
        cli(
            "ledger", "limit", "people", "--epsilon", raised[1], "--delta", raised[2], *because
        ).code
        == 0
    )
    epsilon, delta = raised.groups()
    Path("policy-engine.yaml").write_text(
        Path("policy-engine.yaml")
        .read_text()
        .replace("1.0, delta: 1.0e-6", f"{epsilon}, delta: {delta}")
    )
    assert cli("release", "other.yaml").code == 0


@pytest.mark.parametrize("kind", KINDS)
def test_of_another_limit_the_numbers_are_others_and_not_the_policy(cli, write, kind):
    """The policy file stayed as it was, and was said to have changed: people looked for how."""
    path = write("first", kind, "0.4", "2.0e-7")
    text = re.sub(r"guarantee: .*", "guarantee: {editions: 3}", path.read_text())
    path.write_text(text)
    assert cli("release", path).code == 0
    more = ("--epsilon", "1.5", "--delta", "2e-6", "--by", "Ada", "--why", "more")
    assert cli("ledger", "limit", "people", *more).code == 0
    limited = (
        Path("policy-engine.yaml").read_text().replace("1.0, delta: 1.0e-6", "1.5, delta: 2.0e-6")
    )
    Path("policy-engine.yaml").write_text(limited)
    said = "and account 'people' gives it ε "
    planned = cli("plan", path)
    assert (said in planned.err, "changed" in planned.err) == (True, False), planned.err
    told = re.search(
        r"gives it ε (\S+), δ (\S+) now, where it was ε (\S+), δ (\S+): this is a", planned.err
    )
    assert float(told[1]) > float(told[3]) and float(told[2]) > float(told[4])
    path.write_text(text.replace("name: first", "name: first\npurpose: else"))
    planned = cli("plan", path)
    assert (said in planned.err, "the policy has changed" in planned.err) == (False, True)
