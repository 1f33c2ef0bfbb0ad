"""certify-count, and verify of what it writes."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from policy_engine import opening
from policy_engine.attest.attestation import stated_type
from policy_engine.attest.count_certificate import COUNT_PREDICATE_TYPE, KIND, LIMITS
from policy_engine.attest.keys import generate_key
from policy_engine.cli.main import run

COUNT = ("calculate", "--unknown", "1000", "--lambda", "0.1", "--epsilon", "0.5")


def test_the_text_says_first_that_it_is_another_kind(cli):
    result = cli(*COUNT)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == KIND
    assert lines[1] == "assuming:"
    assert lines[2].startswith("  - the adversary does not know the values of at least 1000 of")
    assert lines[7:11] == [
        "  ε = 0.5",
        "  δ = 0.0000128135199108   [PK], numeric",
        "  δ = 0.00305122112183   [PK], closed form by Chernoff",
        "  δ = 0.335953879825   [PK], closed form of Balle et al. 2019",
    ]
    assert lines[11] == "  δ = no statement   Proposition 27 as printed, every p = λ: no bound"
    assert lines[12:] == ["its limits:", *[f"  - {text}" for text in LIMITS]]
    assert not list(Path().glob("*.json"))


def test_the_document_has_the_assumptions_first(cli):
    document = cli(*COUNT, "--format", "json").document
    assert next(iter(document)) == "assumptions"
    assert document["kind"] == KIND
    assert document["limits"] == list(LIMITS)
    assert (document["unknown"], document["lambda"], document["epsilon"]) == (1000, 0.1, 0.5)
    assert document["delta"] == 0.0000128135199108
    assert document["delta"] < document["delta_chernoff"] < document["delta_blanket"]
    assert "certificate" not in document


def test_where_a_closed_form_says_nothing(cli):
    words = ("calculate", "--unknown", "1000", "--lambda", "0.1", "--epsilon", "2")
    assert "  δ = no statement   [PK], closed form of Balle et al. 2019" in cli(*words).out
    assert cli(*words, "--format", "json").document["delta_blanket"] is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"--unknown": "0"}, "error: unknown must be an integer from 1 to 1000000000, found 0\n"),
        ({"--unknown": "x"}, "error: invalid value for '--unknown': must be a whole number"),
        ({"--lambda": "0.6"}, "error: lambda must be a number above 0 (by at least 1e-300) and at"
         " most 1/2, found 0.6\n"),
        ({"--lambda": "ten"}, "error: lambda must be a number above 0"),
        ({"--epsilon": "-1"}, "error: epsilon must be a finite number from 0 to 1000000000"),
    ],
)  # fmt: skip
def test_numbers_outside_the_domain(cli, project, change, told):
    words = dict(zip(COUNT[1::2], COUNT[2::2], strict=True)) | change
    flat = [word for pair in words.items() for word in pair]
    result = cli("calculate", *flat, "--output", "c.json")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(told)
    assert not Path("c.json").exists()


def test_a_certificate_is_signed_and_verifies(cli, project):
    result = cli(*COUNT, "--output", "c.json")
    assert result.code == 0
    assert result.out.splitlines()[-1] == "certificate  c.json"
    assert Path(".policy-engine/signing.pem").exists()
    assert not Path(".policy-engine/ledger.sqlite").exists()
    assert stated_type(Path("c.json").read_bytes()) == COUNT_PREDICATE_TYPE
    lines = cli("verify", "c.json").out.splitlines()
    assert lines[:2] == [KIND, "assuming:"]
    assert lines[6] == "verified: noiseless-count-claim"
    assert lines[7].startswith("  ✓ signed by ")
    assert lines[-2:] == [f"  - {text}" for text in LIMITS]
    document = cli("verify", "c.json", "--format", "json").document
    assert next(iter(document)) == "assumptions"
    assert document["verified"] is True
    assert document["delta"] == "0.0000128135199108"
    assert "release" not in document


def test_the_document_says_where_the_certificate_is(cli, project):
    words = (*COUNT, "--output", "c.json", "--format", "json")
    assert cli(*words).document["certificate"] == "c.json"


def test_without_a_project_file_the_key_is_made_here(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    assert cli(*COUNT, "--output", "c.json").code == 0
    assert cli("verify", "c.json").code == 0


def test_the_key_of_the_environment_signs(cli, project, monkeypatch):
    generate_key(Path("other.pem"))
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", Path("other.pem").read_text())
    assert cli(*COUNT, "--output", "c.json").code == 0
    assert not Path(".policy-engine").exists()
    assert cli("verify", "c.json", "--key", "other.pub").code == 0


def test_a_release_is_not_what_it_speaks_of(cli, project):
    cli(*COUNT, "--output", "c.json")
    result = cli("verify", "c.json", "--release", "c.json")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: --release names a release, and this is the certificate of a noiseless count,"
        " which speaks of no release; leave --release out\n"
    )


def test_a_lie_does_not_verify(cli, project):
    cli(*COUNT, "--output", "c.json")
    generate_key(Path("other.pem"))
    result = cli("verify", "c.json", "--key", "other.pub", "--format", "json")
    assert result.code == 1
    assert result.document["verified"] is False
    assert "no signature by a trusted key" in result.err


def test_what_stands_there_is_not_overwritten(cli, project):
    cli(*COUNT, "--output", "c.json")
    before = Path("c.json").read_bytes()
    result = cli(*COUNT, "--output", "c.json")
    assert (result.code, result.out) == (3, "")
    assert result.err == "error: c.json exists; use --replace to write it anew\n"
    assert Path("c.json").read_bytes() == before
    other = (*COUNT[:-1], "1", "--output", "c.json", "--replace")
    assert cli(*other).code == 0
    assert Path("c.json").read_bytes() != before
    left = {path.name for path in Path().iterdir()}
    assert left == {"c.json", ".policy-engine", "people.parquet", "policy-engine.yaml"}


def test_only_a_counts_certificate_is_replaced(cli, policy):
    cli("release", policy())
    for path in ("people.parquet", "policy-engine.yaml", "out/a.certificate.json"):
        before = Path(path).read_bytes()
        result = cli(*COUNT, "--output", path, "--replace")
        assert result.code == 3
        assert result.err == (
            f"error: {path} is no certificate of a count, and only such a one is replaced; name"
            " another place\n"
        )
        assert Path(path).read_bytes() == before


def test_places_that_cannot_be_written(cli, project, monkeypatch):
    assert cli(*COUNT, "--output", ".").err == "error: . is a directory; name a file\n"
    missing = cli(*COUNT, "--output", "nope/c.json")
    assert missing.code == 3
    assert "nope/c.json could not be written: No such file or directory" in missing.err
    Path("c.json").write_text("{}")

    def denied(path, *flags, **named):
        raise PermissionError(13, "Permission denied")

    refusing = SimpleNamespace(**{**vars(os), "open": denied})
    monkeypatch.setattr(opening, "os", refusing)
    result = cli(*COUNT, "--output", "c.json", "--replace")
    assert (result.code, result.err) == (
        3, "error: c.json could not be read: Permission denied\n"
    )  # fmt: skip


def test_replace_needs_a_certificate(cli, project):
    result = cli(*COUNT, "--replace")
    told = "--replace replaces a certificate; name it with --output"
    assert (result.code, result.err) == (2, f"error: {told}\n")


def test_options_that_are_missing(cli):
    for left_out in (1, 3, 5):
        words = [word for i, word in enumerate(COUNT) if i not in (left_out, left_out + 1)]
        result = cli(*words)
        assert result.code == 2
        assert "give --unknown, --lambda and --epsilon" in result.err


def test_the_help_says_that_it_is_another_kind(capfd):
    assert run(["calculate", "--help"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "under assumptions about what the adversary knows" in told
    assert "The (ε, δ) of a release needs no such assumptions." in told
