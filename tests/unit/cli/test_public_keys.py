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
    assert (
        "shown      9 public keys, even without people in them, and no other group" in planned.out
    )
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


ALL = (KEYS[0], "public_groups: auto\n")
MAPPED = "sex: {map: {female: f}, other: m}"


def test_all_groups_are_released_and_compared_with_a_threshold(cli, policy):
    text = Path(policy("a", ALL, **WIDE)).read_text().replace("sex: keep", MAPPED)
    Path("a.yaml").write_text(text)
    planned = cli("plan", "a.yaml")
    assert "shown      12 public keys, even without people in them" in planned.out
    assert "without public_groups a group of 30 people would be shown half the time" in planned.out
    done = cli("release", "a.yaml", "--format", "json").document
    assert done["groups"] == 12
    rows = pq.read_table("out/a.parquet").to_pylist()
    assert {row["sex"] for row in rows} == {"f", "m", None}
    assert cli("verify", "out/a.certificate.json", "--release", "out/a.parquet").code == 0


def test_plan_says_where_all_groups_could_be_shown(cli, policy):
    text = Path(policy("a", (KEYS[0], ""), **WIDE)).read_text()
    Path("a.yaml").write_text(text)
    assert "public_groups: auto" not in cli("plan", "a.yaml").out
    Path("a.yaml").write_text(text.replace("sex: keep", MAPPED))
    assert "with public_groups: auto all 12 groups would be shown" in cli("plan", "a.yaml").out
    said = cli("plan", "a.yaml", "--format", "json").document["comparison"]["public_groups"]
    assert (said["groups"], said["listed"], said["visible_from"]) == (12, True, 0)


def test_too_many_groups_are_refused_with_their_sizes(cli, policy):
    text = Path(policy("a", ALL, **WIDE)).read_text()
    cuts = ", ".join(map(str, range(1, 400)))
    wide = f"sex: {{map: {{{', '.join(f'v{n}: w{n}' for n in range(300))}}}, other: null}}"
    Path("a.yaml").write_text(text.replace("[30, 60]", f"[{cuts}]").replace("sex: keep", wide))
    told = cli("plan", "a.yaml")
    assert told.code == 1
    wanted = "public_groups must be at most 100,000 groups, found 120,701: age 401 × sex 301"
    assert wanted in told.out + told.err


def test_a_policy_of_all_groups_differs_from_one_of_a_list(cli, policy):
    text = Path(policy("a", ALL, **WIDE)).read_text().replace("sex: keep", MAPPED)
    Path("a.yaml").write_text(text)
    Path("b.yaml").write_text(
        text.replace("auto", '{age: ["<30"], sex: [f]}').replace("a.p", "b.p")
    )
    assert "all that the recodes can give" in cli("diff", "a.yaml", "b.yaml").out
