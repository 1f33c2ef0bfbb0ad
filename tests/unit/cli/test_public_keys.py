"""Public keys from the command line: planned, released, shown, verified, on a page, compared."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

KEYS = (
    "sample: {rate: 0.1}\nk: 20\n",
    'public_groups: {age: ["<30", "[30,60)", ">=60"], sex: [female, male, other]}\n',
)
WIDE = {"epsilon": "0.5", "delta": "1.0e-7"}


def test_every_key_is_released_verified_and_explained(cli, policy):
    file = policy("a", KEYS, **WIDE)
    planned = cli("plan", file)
    assert "mechanism  noisy counts, truncated laplace, public keys" in planned.out
    assert "shown      9 public keys, whoever is in them, and no other group" in planned.out
    assert "the policy's keys are public: they were listed without looking" in planned.out
    table = cli("plan", file, "--format", "json").document["comparison"]
    assert [row["visible_from"] for row in table["mechanisms"]] == [0, 0]
    assert [each["distribution"] for each in table["not_possible"]] == ["negative_binomial", None]
    done = cli("release", file, "--format", "json").document
    assert done["groups"] == 9
    rows = pq.read_table("out/a.parquet").to_pylist()
    assert {row["sex"] for row in rows} == {"female", "male", "other"}
    assert all(abs(row["n"]) < 40 for row in rows if row["sex"] == "other")
    shown = cli("show", "out/a.parquet")
    assert "all 9 keys of a public list are shown, those of nobody too" in shown.out
    verified = cli("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert verified.code == 0
    assert "its groups are the certified keys, each once" in verified.out
    assert cli("report", "out/a.certificate.json", "--output", "a.html").code == 4
    assert "all 9 keys of a public list are shown" in Path("a.html").read_text()
    again = cli("release", file, "--format", "json").document
    assert again["repeated"] is True


def test_a_key_that_no_row_can_show_is_refused_with_those_that_can(cli, policy):
    wrong = (KEYS[0], KEYS[1].replace("<30", "<31"))
    told = cli("validate", policy("a", wrong, **WIDE))
    assert told.code == 1
    assert "column 'age' shows a text, and never '<31'; did you mean '<30'?" in told.out


def test_two_policies_that_differ_in_a_key_differ(cli, policy):
    one, other = policy("a", KEYS, **WIDE), policy("b", KEYS, **WIDE)
    text = Path(other).read_text().replace("male, other]", "male, others]")
    Path(other).write_text(text)
    told = cli("diff", one, other)
    assert "9 public, sha256" in told.out
    cli("release", one)
    cli("release", other)
    told = cli("diff", "out/a.certificate.json", "out/b.certificate.json")
    assert "9 public, sha256" in told.out
