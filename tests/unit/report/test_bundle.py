"""Approvals counted from files: who has signed just this, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from reviewed_project import Reviewed

from policy_engine.attest.approvals import APPROVAL, ReviewPolicy
from policy_engine.attest.attestation import sign, statement, unverified
from policy_engine.report.approvals import StageApprovals, count_approvals

BOTH = {"claim": {"owner": 1, "privacy": 1}, "release": {"privacy": 1}}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    """A release whose claim two people have approved, and whose file one."""
    from policy_engine.errors import NotApproved

    made = Reviewed.at(tmp_path_factory.mktemp("reviewed"), **BOTH).approved()
    with pytest.raises(NotApproved):
        made.release()
    made.ask()
    made.approve("Ben", file=made.release_file)
    made.release()
    return made


def certificate(released: Reviewed) -> str:
    return (released.folder / "out" / "people.certificate.json").read_text()


def policy(released: Reviewed, **changes: object) -> ReviewPolicy:
    return released.parsed(released.policy_text(**{**BOTH, **changes}))


def counted(released: Reviewed, lines: list[str]) -> tuple[StageApprovals, ...]:
    return count_approvals(lines, certificate(released), policy(released))


def test_who_has_approved_each_stage_is_named(released: Reviewed) -> None:
    claim, release = counted(released, released.lines())
    assert claim.people == (("Ada", "owner"), ("Ben", "privacy"))
    assert release.people == (("Ben", "privacy"),)
    assert claim.faults == release.faults == ()
    assert claim.words().startswith("the claim is approved by Ada (owner), Ben (privacy)")


def test_a_lost_line_is_missing_and_one_that_is_there_twice_is_one(released: Reviewed) -> None:
    ada, ben, out = released.lines()
    claim, release = counted(released, [ben, ben, out])
    assert claim.faults == ("approvals of the claim: 1 more of role owner",)
    assert release.faults == ()
    claim, release = counted(released, [])
    assert claim.missing == {"owner": 1, "privacy": 1}
    assert release.missing == {"privacy": 1}
    assert counted(released, [out, ben, ada, ada])[0].faults == ()


def altered(released: Reviewed, name: str, **changes: object) -> str:
    """Ada's approval of the claim, with another content, signed by somebody."""
    found = unverified(released.lines()[0], APPROVAL)
    told = {**found.predicate, **changes}
    made = statement(found.subject_name, found.subject_sha256, told, APPROVAL)
    return sign(made, released.keys[name]).to_json()


Change = Callable[[Reviewed], str]


def of(released: Reviewed, **changes: str) -> dict[str, str]:
    return {**unverified(released.lines()[0], APPROVAL).predicate["of"], **changes}


@pytest.mark.parametrize(
    "line",
    [
        lambda r: "", lambda r: "{}", lambda r: "\x00", certificate,
        lambda r: altered(r, "Mallory"),
        lambda r: altered(r, "Ben"),  # in Ada's role
        lambda r: altered(r, "Ada", review_policy="sha256:0"),
        lambda r: altered(r, "Ada", version=2),
        lambda r: altered(r, "Ada", verdict="maybe"),
        lambda r: altered(r, "Ada", stage="release"),
        lambda r: altered(r, "Ada", stage="change"),
        lambda r: altered(r, "Ada", of=None),
        lambda r: altered(r, "Ada", of=of(r, certificate="sha256:0")),
        lambda r: altered(r, "Ada", of=of(r, account="others")),
        lambda r: altered(r, "Ada", of=of(r, policy="sha256:0")),
        lambda r: altered(r, "Ada", request="0" * 64),
    ],
)  # fmt: skip
def test_what_is_no_approval_of_this_does_not_count(released: Reviewed, line: Change) -> None:
    _, ben, out = released.lines()
    claim, release = counted(released, [line(released), ben, out])
    assert (len(claim.faults), release.faults) == (1, ())


def test_the_same_by_ada_herself_counts(released: Reviewed) -> None:
    _, ben, _ = released.lines()
    assert counted(released, [altered(released, "Ada"), ben])[0].faults == ()
    assert counted(released, [altered(released, "Ada's other"), ben])[0].faults == ()


def test_an_approval_of_other_bytes_is_not_one_of_these(released: Reviewed) -> None:
    *_, out = released.lines()
    found = unverified(out, APPROVAL)
    made = statement(found.subject_name, "0" * 64, dict(found.predicate), APPROVAL)
    _, release = counted(released, [sign(made, released.keys["Ben"]).to_json()])
    assert release.missing == {"privacy": 1}


def test_a_rejection_is_named_in_whatever_role_it_is(released: Reviewed) -> None:
    no = altered(released, "Dora", verdict="rejected", role="x")
    claim, _ = counted(released, [*released.lines(), no])
    assert claim.faults == ("approvals of the claim: Dora has rejected it",)


def test_a_rejection_of_another_request_is_none_of_this_one(released: Reviewed) -> None:
    no = altered(released, "Dora", verdict="rejected", request="0" * 64)
    assert counted(released, [no, *released.lines()])[0].faults == ()
    [claim, _] = counted(released, [no])
    assert [name for name, _ in claim.rejected] == ["Dora"]


def test_another_review_policy_counts_nothing_of_this_one(released: Reviewed) -> None:
    found = count_approvals(released.lines(), certificate(released), policy(released, serial=2))
    assert all(each.faults for each in found)


# The command


def test_verify_counts_them_and_says_what_it_cannot_know(
    released: Reviewed, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from policy_engine.cli.main import run

    folder, review = released.folder / "out", tmp_path / "people.review.yaml"
    review.write_text(released.policy_text(**BOTH))
    key = released.folder / ".policy-engine" / "signing.pub"
    words = ["verify", str(folder / "people.certificate.json"), "--key", str(key),
             "--release", str(folder / "people.parquet"),
             "--review-policy", str(review)]  # fmt: skip
    assert run(words) == 0
    told = capsys.readouterr().out
    assert "  ✓ the claim is approved by Ada (owner), Ben (privacy): as many as" in told
    assert "  ✓ the release is approved by Ben (privacy)" in told
    assert "  – whether lines of the bundle are missing" in told
    bundle = released.bundle
    kept = bundle.read_text()
    bundle.write_text("".join(line + "\n" for line in released.lines()[1:]))
    assert run([*words, "--format", "json"]) == 1
    assert "1 more of role owner" in json.dumps(json.loads(capsys.readouterr().out))
    bundle.write_text(kept)
    review.write_text(released.policy_text(claim=None, release=None))
    assert run(words) == 2
    assert "asks for no approvals" in capsys.readouterr().err
