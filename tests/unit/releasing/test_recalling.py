"""What a certificate proves that a release cost is what the release was charged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policy_engine.attest.attestation import Unverified
from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX
from policy_engine.kernel.editions import Edition
from policy_engine.policy.loading import load_policy, load_policy_text
from policy_engine.releasing.charging import charge_of, planned
from policy_engine.releasing.planning import project_of
from policy_engine.releasing.publish import COPIES
from policy_engine.releasing.recalling import _charge, _run
from policy_engine.releasing.requests import Ends, place_of

EXAMPLES = Path(__file__).parents[3] / "policies"
NAMES = ("event", "epsilon", "delta", "neighbours", "policy_name", "policy_digest",
         "certificate_digest", "account")  # fmt: skip


ADULT = EXAMPLES / "adult" / "policy.yaml"
CHANGES = {
    "a source that is a sample": [(".parquet\nprivacy", ".parquet\n  sampled_at: 0.5\nprivacy")],
    "the engine's own sample": [("method: keyed", "method: native")],
    "no guarantee": [
        ("sample: {rate: 0.1, method: keyed}\n", ""),
        (
            "guarantee: {epsilon: 0.5, delta: 1.0e-9, neighbours: add_remove}",
            "guarantee: none",
        ),
    ],
    "randomised response": [
        ("sample: {rate: 0.1, method: keyed}\n", "mechanism: randomised_response\n"),
        ("k: 20\n", ""),
        ("delta: 1.0e-9, neighbours: add_remove", "delta: 0, neighbours: replace_one"),
        ("sex: keep", "sex: {map: {Male: M}, other: F}"),
        ("income: keep", "income: {map: {'>50K': high}, other: low}"),
    ],
}


def check(policy):
    with planned(policy, project_of(policy)) as plan:
        charge, facts = (
            charge_of(plan.account, plan.certificate, plan.policy),
            predicate_of(plan.certificate),
        )
        of, at, at_place = plan.of, plan.ends, plan.place
    told = _charge(Unverified("", "", json.loads(json.dumps(facts))), charge.account)
    assert {n: getattr(told, n) for n in NAMES} == {n: getattr(charge, n) for n in NAMES}
    project = project_of(policy)
    said = Unverified(at.subject, "0" * 64, json.loads(json.dumps(facts)))
    run, place = _run(said, at.certificate_path, project)
    assert (place, run.of, Ends.of_run(run, project.directory)) == (at_place, of, at)
    kept = at.certificate_path.parent / COPIES / f"{'0' * 64}{CERTIFICATE_SUFFIX}"
    again, place = _run(said, kept, project)
    assert (place, again.of, again.certificate) == (at_place, of, run.certificate)


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("*/policy.yaml")), ids=lambda p: p.parent.name
)
def test_a_certificate_tells_the_whole_price(path):
    check(load_policy(path, unpromised=True))


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_of_every_kind(changes):
    text = ADULT.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    check(load_policy_text(text, ADULT, ADULT.parent, unpromised=True))


@pytest.mark.parametrize("file", ["towns_v1.prod.certificate.json", "towns_v1.prod/2026-07.json"])
def test_dbts_release_has_the_place_of_its_table(file):
    policy = load_policy(ADULT, unpromised=True)
    with planned(policy, project_of(policy)) as plan:
        facts = predicate_of(plan.certificate)
    assert facts["published_as"] == "rows"
    name, path = "wh.prod.towns_v1", ADULT.parent / file
    run, place = _run(Unverified(name, "0" * 64, facts), path, project_of(policy))
    ends = Ends.of_table(name, path, project_of(policy).directory)
    assert place == place_of(name, ends, Edition())  # as Desk.place
    assert Ends.of_run(run, project_of(policy).directory) == ends
