"""A file that is another one than is meant: what was given, what is wanted, what to run."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def released(cli, policy):
    policy("a")
    assert cli("release", "a.yaml").code == 0
    Path("out/a.parquet").rename("out/was.parquet")


def test_a_release_that_is_lost_is_told_so(cli, released):
    for words in (
        ("show", "out/a.parquet"),
        ("verify", "out/a.certificate.json", "--release", "out/a.parquet"),
    ):
        refused = cli(*words)
        assert refused.code == 3
        assert "out/a.parquet could not be read: No such file or directory; " in refused.err
        assert "'policy-engine restore POLICY' puts that policy's back" in refused.err
    assert cli("restore", "a.yaml").code == 0
    assert cli("show", "out/a.parquet").code == 0


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("show", "out/wass.parquet"), "was.parquet"),
        (("verify", "out/a.certificate.json", "--release", "out/wass.parquet"), "was.parquet"),
        (("show", "out/b.certificate.json"), "a.certificate.json"),
    ],
)
def test_a_name_that_is_nearly_another_is_asked_about(cli, released, words, near):
    assert f"; did you mean {near!r}?" in cli(*words).err


@pytest.mark.parametrize("command", ["restore", "release", "plan", "validate"])
@pytest.mark.parametrize(
    ("name", "what"), [("was.parquet", "a Parquet file"), ("a.certificate.json", "a certificate")]
)
def test_what_is_no_policy_is_named(cli, released, command, name, what):
    refused = cli(command, f"out/{name}")
    told = refused.out + refused.err
    assert f"out/{name}: this is {what}, and not a policy, which is a YAML file: name that" in told


def test_what_has_no_rows_names_the_release_beside_it(cli, released):
    refused = cli("assess", "out/a.certificate.json")
    assert "out/a.certificate.json is a certificate, and has no rows: name the release" in (
        refused.err
    )
    assert "which stands beside it as a.parquet" in refused.err
