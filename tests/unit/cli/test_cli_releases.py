"""plan and release: what is written, what is charged, and what is said when it fails."""

from __future__ import annotations

import re
import sqlite3
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from policy_engine.errors import WarehouseError

SAMPLED = ("}\nprivacy_unit: row", ", sampled_at: 0.5}\nprivacy_unit: row")
MUCH = "accounts: {people: {epsilon: 9, delta: 1.0e-6}}\n"
#: Enough for one release of the fixture's policy, and not for two.
LITTLE = "accounts: {people: {epsilon: 0.5, delta: 5.0e-11}}\n"


def files(root: Path) -> set[Path]:
    return set(root.rglob("*"))


def charges(cli) -> int:
    shown = cli("ledger", "show", "people", "--format", "json").document
    return shown["accounts"][0]["entries"]


def test_an_epsilon_stands_beside_its_delta_its_unit_and_what_a_guess_is_worth(cli, policy):
    file = policy(
        "p",
        ("privacy_unit: row", "privacy_unit: {column: age, rows: any}"),
        ("  age: {bins: [30, 60]}\n", ""),
    )
    odds = "right at most 62.3 % of the time."
    planned, released = cli("plan", file).out, cli("release", file).out
    for text in (planned, released):
        own = (n for n, line in enumerate(text.splitlines()) if "ε = 0.5, δ = " in line)
        number = next(own)
        line, below = text.splitlines()[number : number + 2]
        assert "unit: age" in line and below.strip().endswith(odds)
    account, _, entry = cli("ledger", "show").out.splitlines()
    assert account.endswith("; unit: age") and "  unit age  p" in entry
    document = cli("ledger", "show", "--format", "json").document
    assert document["accounts"][0]["units"] == [document["entries"][0]["unit"]] == ["age"]


def test_one_delta_is_spelled_in_one_way(cli, policy):
    file, spelled = policy(), "2.6317834665e-11"
    certificate, parquet = "out/a.certificate.json", "out/a.parquet"
    told = [cli("plan", file), cli("release", file), cli("ledger", "show")]
    told.append(cli("verify", certificate, "--release", parquet))
    for each in told:
        assert each.code == 0 and spelled in each.out
        assert re.findall(r"2\.6[0-9]*[eE]-11", each.out) == [spelled] * each.out.count(spelled)


def test_a_plan_writes_nothing(cli, policy, project):
    file = policy()
    before = files(project)
    text = cli("plan", file, "--sql")
    assert text.code == 0
    left = (
        "left now: 30 or more like this, or one release "
        "of another kind with at most ε 1 (at δ 0.000001)\n"
    )
    assert left in text.out
    document = cli("plan", file, "--format", "json").document
    assert files(project) == before
    assert document["ledger"] == {
        "account": "people", "affordable": True, "paid_by_entry": None,
        "left": {"like_this": 30, "or_more": True, "other_epsilon": 1, "other_delta": 1e-6},
        "left_after": {
            "like_this": 30, "or_more": True, "other_epsilon": 0.483, "other_delta": 2.9e-7,
        },
    }  # fmt: skip
    assert (document["epsilon"], document["k"], document["unit"]) == (0.5, 20, "row")
    assert document["delta"] == 2.6317834665e-11
    assert text.out.endswith(document["sql"])
    assert document["sql"] not in cli("plan", file).out


def test_a_plan_says_what_will_be_seen(cli, policy):
    planned = cli("plan", policy())
    assert planned.err == ""
    assert (
        "groups     at most 4 (missing values counted as one) × the values of sex: how many, the"
        " policy does not tell\n"
        "shown      a group of 197 people in the source half of the time; of 99: 0.17 %,"
        " 296: 98 %, 394: 99.987 %\n"
        "           3 groups of that size, without missing values: 591 people, for each value of"
        " sex\n"
        "counts     n / 0.1 estimates a group of the source: at 197 people give or take 42 (1 SD)\n"
        "compared   at ε = 0.5,"
    ) in planned.out
    assert (
        "\nprice      ε 0.5, δ 2.6317834665e-11 for one row, from account people;"
        " left now: 30 or more like this, or one release "
        "of another kind with at most ε 1 (at δ 0.000001)\n"
        "           left after: 30 or more like this,"
        " or one release of another kind with at most ε 0.483 (at δ 2.9e-7)\n"
    ) in planned.out
    document = cli("plan", policy(), "--format", "json").document
    assert document["outlook"]["labels"] == {"age": 4, "sex": None}
    assert (document["outlook"]["groups"], document["outlook"]["visible_from"]) == (None, 197)
    assert [each["size"] for each in document["outlook"]["chances"]] == [99, 197, 296, 394]


def test_a_plan_multiplies_the_labels_that_the_policy_tells(cli, policy):
    sexes = ("sex: keep", "sex: {map: {female: f, male: m}, other: null}")
    planned = cli("plan", policy("a", sexes))
    assert "groups     at most 12 (age 4 × sex 3, missing values counted as one)\n" in planned.out
    assert (
        "\n           6 groups of that size, without missing values: 1,182 people\n" in planned.out
    )
    kept = cli("plan", policy("b", ("  age: {bins: [30, 60]}\n", "")))
    assert "groups     at most the values of sex: how many, the policy" in kept.out


def test_no_release_has_more_groups_than_were_planned(cli, project):
    rows = product((None, 20, 40, 70), ("", "true", "false"), range(2))
    written = [f"{'' if age is None else age},{flag}" for age, flag, _ in rows]
    Path("p.csv").write_text("\n".join(["age,flag", *written]))
    Path("a.yaml").write_text(
        "version: 1\nname: a\n"
        "source: {file: p.csv, columns: {age: double, Flag: boolean}}\nprivacy_unit: row\n"
        "recode: {age: {bins: [30, 60]}, flag: keep}\nsample: {rate: 0.999999999999}\nk: 2\n"
        "guarantee: {epsilon: 1, delta: 0.9999999999999999}\nrelease: {file: out/a.parquet}\n"
        "account: people\n"
    )
    (project / "policy-engine.yaml").write_text("accounts: {people: {}}\n")
    planned = cli("plan", "a.yaml", "--format", "json").document["outlook"]
    assert planned["labels"] == {"age": 4, "flag": 3}
    released = cli("release", "a.yaml", "--format", "json").document
    assert released["groups"] == planned["groups"] == 12


def test_what_was_foreseen_is_left_after_the_release(cli, policy):
    foreseen = cli("plan", policy(), "--format", "json").document["ledger"]
    released = cli("release", policy(), "--format", "json").document["ledger"]
    assert released["left"] == foreseen["left_after"]


def test_a_plan_warns_of_an_account_that_it_would_empty(cli, policy, project):
    (project / "policy-engine.yaml").write_text(LITTLE)
    planned = cli("plan", policy())
    assert planned.code == 0
    assert planned.err.startswith("warning: this empties account 'people': no other release like")
    ledger = cli("plan", policy(), "--format", "json").document["ledger"]
    assert (ledger["left_after"]["like_this"], ledger["affordable"]) == (0, True)
    cli("release", policy())
    assert cli("plan", policy()).err == ""  # it is paid for
    refused = cli("plan", policy("b"))
    assert (refused.code, refused.err) == (1, "")
    assert "left after" not in refused.out


def test_a_plan_of_what_is_paid_for_says_what_else_fits(cli, policy):
    cli("release", policy())
    planned = cli("plan", policy()).out
    assert (
        "left now: 30 or more like this, or one release "
        "of another kind with at most ε 0.483 (at δ 2.9e-7)" in planned
    )
    assert "\n           it is paid for already\n" in planned and "after" not in planned


def test_a_plan_names_the_place_that_the_release_does(cli, policy, project):
    (project / "below").mkdir()
    for name in ("people.parquet", policy("a")):
        (project / name).rename(project / "below" / name)
    text = cli("plan", "below/a.yaml").out
    planned = cli("plan", "below/a.yaml", "--format", "json").document
    released = cli("release", "below/a.yaml", "--format", "json").document
    assert planned["release"] == released["release"] == "below/out/a.parquet"
    assert text.startswith("release    below/out/a.parquet (counts)\n")


def test_a_plan_warns_where_few_more_fit(cli, policy, project):
    limit = "accounts: {people: {epsilon: 0.5, delta: 5.0e-10}}\n"
    (project / "policy-engine.yaml").write_text(limit)
    told = "warning: after this account 'people' pays for 2 more like it, and then for none\n"
    assert cli("plan", policy()).err == told


def test_a_plan_beside_a_ledger_writes_nothing(cli, policy, project):
    cli("release", policy("a"))
    file = policy("b")
    before = {path: path.stat().st_mtime_ns for path in files(project) if path.is_file()}
    assert cli("plan", file).code == 0
    after = {path: path.stat().st_mtime_ns for path in files(project) if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("changes", "rate", "why"),
    [
        ([("0.1}", "0.1, method: native}")], "0.10000000023283064365386962890625",
         "the policy's rate of 0.1, and 2^-32 more because the engine draws with 32 random bits"),
        ([("}\nprivacy_unit: row", ", sampled_at: 0.5}\nprivacy_unit: row")], "0.05",
         "the policy's rate of 0.1, times 0.5, at which the source was sampled"),
    ],
)  # fmt: skip
def test_a_plan_and_a_release_show_the_certificates_rate(cli, policy, changes, rate, why):
    file = policy("a", *changes)
    planned = cli("plan", file)
    assert f"\nmechanism  rate {rate}, k = 20\n           {why}\ngroups" in planned.out
    released = cli("release", file).out
    assert (
        f"(unit: row, one person according to the policy; k = 20, rate {rate})\n"
        f"               {why}\n               Someone" in released
    )
    numbers = [cli(*words, file, "--format", "json").document["rate"]
               for words in (("plan",), ("release", "--replace"))]  # fmt: skip
    assert numbers[0] == numbers[1] >= float(rate)


def test_of_a_source_that_is_a_sample_the_account_pays_for_the_release_s_own_sample(cli, policy):
    """Two releases of a source that is ``sampled_at`` share that sample."""
    own, both = (cli("calculate", "--k", "20", "--rate", rate, "--epsilon", 0.5, "--format", "json")
                 .document["delta"] for rate in ("0.1", "0.05"))  # fmt: skip
    planned = cli("plan", policy("a", SAMPLED)).out
    stated = cli("release", policy("a", SAMPLED), "--format",
                 "json").document["delta"]  # fmt: skip
    [account] = cli("ledger", "show", "--format", "json").document["accounts"]
    assert stated == pytest.approx(float(both)) and account["delta_basic"] == pytest.approx(own)
    assert stated < account["delta_basic"] / 1000
    [price] = re.findall(r"price      ε 0.5, δ (\S+) for", planned)
    assert float(price) == account["delta_basic"]


def test_a_plan_says_that_an_account_has_no_limit(cli, policy, project):
    (project / "policy-engine.yaml").write_text("accounts_open: true\n")
    result = cli("plan", policy("a", ("account: people\n", "")))
    assert "the account has no limit: it only adds up" in result.out


def test_a_release_prints_the_contracts_document(cli, policy):
    result = cli("release", policy(), "--format", "json")
    assert result.code == 0
    assert " now names the ledger that keeps this project's charges (" in result.err
    found = result.document
    # How many of the six groups reach k is for the sample to decide.
    groups = found.pop("groups")
    assert 0 < groups <= 6
    assert found.pop("rows") == groups
    assert found.pop("people") >= 20 * groups
    account = found["ledger"]
    assert account.pop("left")["like_this"] == 30
    assert found == {
        "release": "out/a.parquet",
        "certificate": "out/a.certificate.json",
        "epsilon": 0.5,
        "delta": 2.6317834665e-11,
        "k": 20,
        "rate": 0.1,
        "outcome": "released",
        "repeated": False,
        "remarks": [],
        "edition": "",
        "revision": False,
        "ledger": {"account": "people", "entry": 2},
    }
    assert Path("out/a.parquet").exists()


def test_a_release_says_what_it_did(cli, policy):
    text = cli("release", policy()).out
    assert "released a\n" in text
    assert "certificate  out/a.certificate.json" in text
    left = "30 or more like this, or one release of another kind with at most ε 0."
    assert f"entry 2 of account people; left: {left}" in text


def test_a_release_says_that_an_account_has_no_limit(cli, policy, project):
    (project / "policy-engine.yaml").write_text("accounts_open: true\n")
    result = cli("release", policy("a", ("account: people\n", "")))
    assert "account people.parquet; the account has no limit: it only adds up" in result.out


def test_a_mistyped_account_is_refused(cli, policy, project):
    file = policy("a", ("account: people", "account: peopel"))
    told = (
        "a.yaml:12:1: account must be one of policy-engine.yaml, found 'peopel';"
        " did you mean 'people'? (add a new account to accounts there first)\n"
    )
    assert cli("validate", file).out == told
    for command in (("plan",), ("release",), ("release", policy("b"))):
        result = cli(*command, file)
        assert (result.code, result.out, result.err) == (1, "", f"error: {told}")
    assert not Path("out").exists()


def test_where_accounts_are_open_any_name_but_a_mistyped_one_is_an_account(cli, policy, project):
    file = project / "policy-engine.yaml"
    file.write_text(f"{file.read_text()}accounts_open: true\n")
    other = policy("a", ("account: people", "account: elsewhere"))
    assert "from account elsewhere; the account has no limit" in cli("plan", other).out
    assert cli("plan", policy("a", ("account: people", "account: peopel"))).code == 1


def test_a_release_that_exists_is_not_replaced_unasked(cli, policy):
    cli("release", policy("a"))
    before = Path("out/a.parquet").read_bytes()
    changed = policy("a", k="21")
    refused = cli("release", changed)
    assert refused.code == 3
    assert "exists; use --replace" in refused.err
    assert Path("out/a.parquet").read_bytes() == before
    assert charges(cli) == 1
    assert cli("release", changed, "--replace").code == 0
    assert charges(cli) == 2


def test_several_releases_are_one_document(cli, policy):
    result = cli("release", policy("a"), policy("b"), "--format", "json")
    assert [each["release"] for each in result.document["releases"]] == [
        "out/a.parquet", "out/b.parquet"
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_bad_second_file_stops_the_first(cli, policy, form):
    broken = policy("b", ("version: 1", "version: 2"))
    odd = policy("c", ("sex: keep", "sexx: keep"))
    for second, told in ((broken, "b.yaml:1:10"), (odd, "c.yaml:7:3"), (Path("d"), "d: the")):
        result = cli("release", policy("a"), second, "--format", form)
        assert result.code == (1 if second != Path("d") else 3)
        assert told in result.err
    assert not Path("out").exists()
    assert not Path(".policy-engine").exists()


def test_what_cannot_be_certified_names_its_file(cli, policy):
    result = cli("release", policy("a"), policy("b", k="3"), "--format", "json")
    assert result.code == 1
    told = "error: b.yaml:10:27: guarantee.delta must be at least 0.00245973129841, which k = 3"
    assert result.err.startswith(told)
    assert result.document["problems"][0]["line"] == 10
    assert cli("plan", policy("b", k="3")).err.startswith(told)
    assert not Path("out").exists()


def test_policies_must_not_write_to_one_place(cli, policy):
    one = policy("a")
    result = cli("release", one, one)
    assert result.code == 1
    assert "a.yaml:11:11: release.file must differ from that of a.yaml" in result.err
    shared = policy("b", ("out/b.parquet", "out/x.parquet"))
    other = policy("c", ("out/c.parquet", "./out/X.PARQUET"))
    assert cli("release", shared, other).code == 1
    assert not Path("out").exists()


def test_a_second_target_in_the_way_stops_the_first(cli, policy, project):
    (project / "policy-engine.yaml").write_text(MUCH)
    second = policy("b")
    cli("release", second)
    for words in (("--revise",), ()):
        result = cli("release", policy("a"), second, *words)
        assert result.code == 3
        assert "out/b.parquet exists; use --replace" in result.err
        second = policy("b", k="21")
    assert not Path("out/a.parquet").exists()
    assert charges(cli) == 1


def test_a_ledger_is_named_from_the_projects_folder_on(cli, policy, project):
    cli("release", policy("a"))
    shown = cli("ledger", "show", "--format", "json").document["ledger"]
    assert (project / shown).is_file() and not Path(shown).is_absolute()


def test_an_account_must_pay_for_all(cli, policy, project):
    (project / "policy-engine.yaml").write_text(LITTLE)
    result = cli("release", policy("a"), policy("b"), "--format", "json")
    assert result.code == 1
    told = "account 'people' cannot pay for policy 'b': it asks for ε 0.5, δ 2.6317834665e-11 (unit"
    assert result.document["error"].startswith(told)
    assert "nothing was charged" in result.document["error"]
    assert result.document["account"] == "people"
    alone = cli("plan", policy("a"), "--format", "json").document["ledger"]
    assert result.document["left"] == alone["left_after"]  # as ``plan`` says it
    assert not Path("out").exists()
    assert not Path(".policy-engine").exists()
    cli("release", policy("a"))
    both = cli("release", policy("a"), policy("b"), "--revise", "--replace")
    assert "cannot pay for policy 'a'" in both.err
    assert "nothing was charged" in both.err


def test_what_fails_while_running_leaves_what_was_done(cli, policy, project, monkeypatch):
    (project / "policy-engine.yaml").write_text(MUCH)
    releasing = import_module("policy_engine.releasing.release")
    real = releasing.release

    def second_fails(policy, **options):
        if policy.name == "b":
            raise WarehouseError("the warehouse went away")
        return real(policy, **options)

    monkeypatch.setattr(releasing, "release", second_fails)
    words = ("release", policy("a"), policy("b"), policy("c"))
    result = cli(*words, "--format", "json")
    assert result.code == 3
    assert "the warehouse went away" in result.err
    document = result.document
    assert [each["release"] for each in document["releases"]] == ["out/a.parquet"]
    assert document["not_released"] == ["b.yaml", "c.yaml"]
    assert document["error"] == "the warehouse went away"
    text = cli(*words)
    assert text.code == 3
    assert "released 1 of 3; not released: b.yaml, c.yaml" in text.out


HALF = "accounts: {people: {epsilon: 0.5, delta: 1.0e-6}}\n"


def test_over_budget_says_what_would_fit(cli, policy, project):
    (project / "policy-engine.yaml").write_text(HALF)
    cli("release", policy("a"))
    file = policy("b", k="10", delta="1.0e-6")
    told = re.compile(
        r"account 'people' cannot pay for policy 'b': it asks for ε 0\.5, δ 6\.71623437068e-7"
        r" \(unit: row\), and of ε 0\.5, δ 0\.000001 there is left: none like this, but"
        r" one release "
        r"of another kind with at most ε 0\.[0-9]+ \(at δ [0-9e.-]+\); write a guarantee of at"
        r" most that into the policy; or it would fit with k: 12"
        r" with rate: 0\.1, or k: 10 with rate: 0\.0859;"
        r" or ask the person who set it to raise the limit in policy-engine\.yaml:1"
        r" to ε (\S+), δ (\S+), and where the ledger"
        r" has it too, with 'policy-engine ledger limit people --epsilon \1 --delta \2 --by NAME"
        r" --why TEXT' \(enough for this release and for no more like it\), or to write 'each:"
        r" year' beside it: then each new year has this limit anew"
    )
    for words in (("release", file), ("plan", file)):
        result = cli(*words)
        assert result.code == 1
        assert told.search(result.out + result.err)
    assert charges(cli) == 1
    assert not Path("out/b.parquet").exists()
    document = cli("plan", file, "--format", "json").document
    assert document["ledger"]["affordable"] is False
    epsilon, delta = told.fullmatch(document["refusal"]).groups()
    # Who obeys may release.
    raised = f"accounts: {{people: {{epsilon: {epsilon}, delta: {delta}}}}}\n"
    (project / "policy-engine.yaml").write_text(
        (project / "policy-engine.yaml").read_text().replace(HALF, raised)
    )
    by = ("--by", "Ada", "--why", "asked")
    assert cli("ledger", "limit", "people", "--epsilon", epsilon, "--delta", delta, *by).code == 0
    assert cli("release", file).code == 0


def test_what_would_fit_does_fit_and_the_next_does_not(cli, policy, project):
    (project / "policy-engine.yaml").write_text(HALF)
    cli("release", policy("a"))
    asked = {"k": "10", "delta": "1.0e-6"}
    assert cli("plan", policy("b", **{**asked, "k": "12"})).code == 0
    assert cli("plan", policy("b", **{**asked, "k": "11"})).code == 1
    assert cli("plan", policy("b", ("rate: 0.1", "rate: 0.0859"), **asked)).code == 0
    assert cli("plan", policy("b", ("rate: 0.1", "rate: 0.0860"), **asked)).code == 1


def test_an_empty_account_has_no_remedy_but_says_so(cli, policy, project):
    (project / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 0.5, delta: 2.6317834665e-11}}\n"
    )
    assert cli("release", policy("a")).code == 0
    refused = cli("release", policy("b")).err
    assert "cannot pay for policy 'b'" in refused
    assert "raise the limit in " in refused
    assert re.search(r"policy-engine\.yaml:1 to ε \S+, δ \S+, and where the ledger has it", refused)


def test_neighbours_that_do_not_add_up_have_no_such_remedy(cli, policy):
    cli("release", policy("a"))
    other = policy("b", ("1.0e-9}", "1.0e-9, neighbours: replace_one}"))
    result = cli("release", other)
    assert result.code == 1
    assert "the two do not add up" in result.err
    assert "it would fit" not in result.err


def test_no_remedy_where_nothing_fits(cli, policy, project):
    tiny = "accounts: {people: {epsilon: 1.0e-7, delta: 1.0e-308}}\n"
    (project / "policy-engine.yaml").write_text(tiny)
    result = cli("release", policy("a", k="auto", epsilon="5", delta="0.1"))
    assert result.code == 1
    assert (
        "none like this, but one release of another kind with at most ε 1e-7 (at δ 1e-308);"
        " ask the person who set it to raise the limit in " in result.err
    )


def test_releases_into_tables(cli, policy, project):
    import duckdb

    with duckdb.connect(str(project / "w.duckdb")) as connection:
        connection.execute("create table people as from 'people.parquet'")
    (project / "policy-engine.yaml").write_text(
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
    )
    source = ("file: people.parquet", "table: people")
    one = policy("a", source, ("file: out/a.parquet", "table: released"))
    two = policy("b", source, ("file: out/b.parquet", "table: main.released"))
    three = policy("c", source, ("file: out/c.parquet", "table: others"))
    assert "release.table must differ" in cli("release", one, two).err
    assert cli("validate", one, two).code == 1
    assert cli("release", one, three).code == 0
    assert cli("release", one, policy("d", source)).code == 0
    changed = policy("a", source, ("file: out/a.parquet", "table: released"), k="21")
    again = cli("release", changed, policy("e", source))
    assert again.code == 3
    assert "released exists" in again.err
    assert not Path("out/e.parquet").exists()


def test_a_broken_chain_is_charged_nothing(cli, policy, project):
    cli("release", policy("a"))
    with sqlite3.connect(project / ".policy-engine/ledger.sqlite") as connection:
        name = "records_are_never_changed"
        found = connection.execute("select sql from sqlite_schema where name = ?", [name])
        [(trigger,)] = found.fetchall()
        connection.execute(f"drop trigger {name}")
        connection.execute("update records set payload = '{}' where seq = 5")
        connection.execute(trigger)
    result = cli("release", policy("b"))
    assert result.code == 3
    assert "broken at record 5" in result.err
    assert not Path("out/b.parquet").exists()
