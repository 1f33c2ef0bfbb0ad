"""check and verify."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from policy_engine.attest.keys import generate_key

from .forged_envelopes import forged

GOOD = (
    "select left(zip, 3) as zip, count(*) as n\nfrom people tablesample bernoulli (10 percent)\n"
    "group by 1 having count(*) >= 20 order by 1\n"
)
PRINTED = """\
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip"
  FROM "main"."people" TABLESAMPLE BERNOULLI (10 PERCENT)
), recoded AS NOT MATERIALIZED (
  SELECT
    LEFT("zip", 3) AS "zip"
  FROM sampled
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 20
ORDER BY "zip" NULLS LAST
"""
BAD = "select zip,\n  count(*) as n\nfrom people group by 1\n"


@pytest.fixture
def sql(project):
    def write(content: str | bytes, name: str = "a.sql") -> Path:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return Path(name)

    return write


def test_check_prints_the_contracts_document(cli, sql):
    result = cli("certify-sql", sql(PRINTED), "--dialect", "duckdb", "--format", "json")
    assert (result.code, result.err) == (0, "")
    document = result.document
    assert document["certified"] is True
    assert document["findings"] == []
    assert document["assumptions"]
    assert {"source", "unit", "rate", "k", "columns"} <= document["shape"].keys()
    assert (document["shape"]["rate"], document["shape"]["k"]) == (0.1, 20)
    assert document["shape"]["columns"] == ["zip"]
    text = cli("certify-sql", "a.sql")
    assert "certified: sampled k-anonymisation" in text.out
    assert "policy-engine calculate --k 20 --rate 0.100000000233 --epsilon 1" in text.out


def test_a_text_over_a_table_is_no_release_of_a_policy_that_reads_a_file(cli, sql, policy):
    """It had no finding, and so it was certified."""
    text = (
        "select sex, count(*) as n from a.people where md5(id::text || :salt) < '19'"
        " group by sex having count(*) >= 20"
    )
    result = cli(
        "certify-sql", sql(text), "--dialect", "postgres", "--policy", policy(), "--format", "json"
    )
    assert result.code == 1
    assert result.document["certified"] is False
    assert [found["code"] for found in result.document["findings"]] == ["V21"]


def test_findings_are_at_their_line_and_column(cli, sql):
    result = cli("certify-sql", sql(BAD), "--format", "json")
    assert result.code == 1
    document = result.document
    assert (document["certified"], document["shape"]) == (False, None)
    assert document["findings"]
    assert all(set(each) == {"code", "message", "line", "column"} for each in document["findings"])
    text = cli("certify-sql", "a.sql")
    assert text.code == 1
    for line, each in zip(text.out.splitlines(), document["findings"], strict=True):
        place = f"a.sql:{each['line']}:{each['column']}: "
        assert line == f"{place}{each['code']} {each['message']}"


def test_sql_comes_from_stdin_too(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PRINTED.encode())))
    assert cli("certify-sql", "-", "--format", "json").document["certified"] is True
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff")))
    result = cli("certify-sql", "-")
    assert result.code == 3
    assert "stdin:2: must be UTF-8 text" in result.err


def test_a_byte_order_mark_is_no_part_of_the_text(cli, sql):
    assert cli("certify-sql", sql(b"\xef\xbb\xbf" + PRINTED.encode())).code == 0


@pytest.mark.parametrize("content", ["", ";", "-- nothing", "select 1\0", "((("])
def test_text_that_is_no_statement_is_a_finding(cli, sql, content):
    result = cli("certify-sql", sql(content))
    assert result.code == 1
    assert result.out.startswith("a.sql:1:")


def test_files_that_cannot_be_read(cli, sql, project):
    for path, told in (
        (project, "Is a directory"),
        ("nope.sql", "No such file"),
        (sql(b"\xff\xfe", "b.sql"), "b.sql:1: must be UTF-8 text"),
        (sql(b"-" * 10_000_001, "c.sql"), "c.sql must have at most 10,000,000 bytes"),
    ):
        result = cli("certify-sql", path, "--format", "json")
        assert result.code == 3
        assert told in result.document["error"]


def test_wrong_usage_of_check(cli, sql):
    good = sql(GOOD)
    oracle = cli("certify-sql", good, "--dialect", "oracle")
    assert oracle.code == 2
    assert "'oracle'" in oracle.err
    assert cli("certify-sql", good, "--schema", sql("select 1", "s.sql")).code == 2
    assert cli("certify-sql", good, "--schema", "nope.json").code == 3
    assert cli("certify-sql", good, "--policy", "nope.yaml").code == 3


def test_a_schema_says_what_would_be_assumed(cli, sql):
    schema = sql("create table people (zip varchar)", "s.sql")
    assert cli("certify-sql", sql(PRINTED), "--schema", schema).code == 0
    told = cli("certify-sql", "a.sql", "--format", "json").document["assumptions"]
    known = cli("certify-sql", "a.sql", "--schema", schema, "--format", "json").document[
        "assumptions"
    ]
    assert {*told} - {*known} == {
        "main.people is a base table", "zip is text that is compared by its bytes",
    }  # fmt: skip
    other = sql(json.dumps({"others": {"zip": "varchar"}}), "s.json")
    assert cli("certify-sql", sql(PRINTED), "--schema", other).code == 1


STRANGER = (
    "select left(zip, 3) as area, upper(sex) as s, count(*) as n from public.people"
    " where sha256(salt || id) < '1999' group by 1, 2 having count(*) >= 20"
)


def test_a_text_of_duckdb_is_answered_as_those_of_other_engines_are(cli, sql):
    found = cli("certify-sql", sql(f"create table main.out as {GOOD}"), "--format", "json")
    document = found.document
    assert (found.code, document["certified"], document["shape"]) == (1, False, None)
    assert [each["code"] for each in document["findings"]] == ["V35"]
    assert document["canonical"] == f'CREATE TABLE "main"."out" AS\n{PRINTED[:-1]}'
    assert document["understood"]["target"] == "main.out"
    again = cli("certify-sql", sql(document["canonical"]), "--format", "json").document
    assert (again["certified"], again["shape"]) == (True, document["understood"])


def test_a_text_of_another_engine_is_answered_with_the_one_to_run(cli, sql):
    found = cli("certify-sql", sql(STRANGER), "--dialect", "postgres", "--format", "json")
    document = found.document
    assert (found.code, document["certified"], document["shape"]) == (1, False, None)
    assert [each["code"] for each in document["findings"]] == ["V35"]
    assert document["understood"]["columns"] == ["area"]
    assert any("UPPER(sex)" in each for each in document["missed"])
    text = cli("certify-sql", "a.sql", "--dialect", "postgres")
    assert text.code == 1
    assert text.out.startswith("not as written: run this instead\n\nWITH sampled AS")
    again = cli("certify-sql", sql(document["canonical"], "b.sql"), "--dialect", "postgres",
                "--format", "json").document  # fmt: skip
    assert (again["certified"], again["canonical"], again["missed"]) == (True, None, [])
    assert again["shape"] == document["understood"]


def test_a_text_that_means_no_release_has_findings_alone(cli, sql):
    found = cli("certify-sql", sql(BAD), "--dialect", "postgres", "--format", "json")
    assert (found.code, found.document["canonical"]) == (1, None)
    assert [each["code"] for each in found.document["findings"]] == ["V09"]
    assert cli("certify-sql", "a.sql", "--dialect", "postgres").out.startswith("a.sql:")


ASKED = (
    "version: 1\nname: a\nsource: {table: people}\nprivacy_unit: {column: id, rows: one}\n"
    "recode: {zip: {prefix: 3}}\nsample: {rate: 0.1}\nk: 20\n"
    "guarantee: {epsilon: 1, delta: 0.001}\nrelease: {table: out}\n"
)
PEOPLE = "create table public.people (id bigint, zip text, sex text)"


@pytest.mark.parametrize(
    "unit", ["{column: id, rows: {first_by: [sex desc]}}", "{column: id, rows: one}"]
)
@pytest.mark.parametrize(
    ("old", "new", "code"), [(">= 20", ">= 21", "V24"), ("'1999", "'1899", "V23")]
)
def test_what_differs_is_told_and_not_the_row_that_is_kept(cli, sql, unit, old, new, code):
    policy = sql(ASKED.replace("{column: id, rows: one}", unit), "a.yaml")
    own = cli("compile", policy, "--dialect", "postgres", "--schema", sql(PEOPLE, "s.sql")).out
    text = sql(own.replace(old, new))
    found = cli(
        "certify-sql", text, "--dialect", "postgres", "--policy", policy, "--format", "json"
    )
    assert {each["code"] for each in found.document["findings"]} == {code}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"public"', '"other"', "V21"),
        ('"id"', '"ssn"', "V22"),
        ("'1999", "'1899", "V23"),
        (">= 20", ">= 21", "V24"),
        ('"n"', '"m"', "V25"),
        ('"C", 3)', '"C", 2)', "V26"),
        ('"out"', '"in"', "V27"),
        ("COUNT(*)", "COUNT(1)", "V35"),
        ('"out"', '"people"', "V34"),
    ],
)
def test_a_text_is_compared_with_a_policy(cli, sql, old, new, code):
    policy, schema = sql(ASKED, "a.yaml"), sql(PEOPLE, "s.sql")
    options = ["--dialect", "postgres", "--policy", policy]
    own = cli("compile", policy, "--dialect", "postgres", "--schema", schema).out
    assert cli("certify-sql", sql(own), *options).code == 0
    assert cli("certify-sql", sql(own), *options, "--schema", schema).code == 0
    assert old in own
    found = cli("certify-sql", sql(own.replace(old, new)), *options, "--format", "json")
    assert found.code == 1
    assert code in {each["code"] for each in found.document["findings"]}
    told = cli("certify-sql", "a.sql", *options, "--schema", schema, "--format", "json")
    assert (told.code, told.document["certified"]) == (1, False)


def test_what_a_policy_asks_for_is_the_text_to_run(cli, sql):
    policy, schema = sql(ASKED, "a.yaml"), sql(PEOPLE, "s.sql")
    options = ["--dialect", "postgres", "--schema", schema]
    own = cli("compile", policy, *options).out
    words = ("certify-sql", sql(STRANGER), *options, "--policy", policy, "--format", "json")
    found = cli(*words).document["canonical"]
    assert found.strip() == own[own.index("-- policy") :].strip()


def test_the_guarantee_of_a_policy_is_checked_on_other_engines_too(cli, sql):
    policy = sql(
        "version: 1\nname: a\nsource: {table: people}\nprivacy_unit: {column: id, rows: one}\n"
        "recode: {zip: {prefix: 3}}\nsample: {rate: 0.1}\nk: 3\n"
        "guarantee: {epsilon: 1, delta: 0.0000001}\nrelease: {table: out}\n", "a.yaml",
    )  # fmt: skip
    schema = sql("create table public.people (id bigint, zip text)", "s.sql")
    options = ["--dialect", "postgres", "--schema", schema]
    own = sql(cli("compile", policy, *options).out)
    found = cli("certify-sql", own, *options, "--policy", policy, "--format", "json")
    assert [each["code"] for each in found.document["findings"]] == ["V29"]
    assert cli("certify-sql", own, *options).code == 0


def test_check_against_a_policy(cli, sql, policy):
    file = policy()
    own = sql(cli("compile", file, "--format", "json").document["sql"])
    assert cli("certify-sql", own, "--policy", file).code == 0
    result = cli("certify-sql", sql(GOOD), "--policy", file)
    assert result.code == 1
    assert "a.sql: V21 the source must be the policy's source" in result.out
    assert "; found main.people; " in result.out
    assert cli("certify-sql", sql(BAD), "--policy", file).code == 1


def test_the_policys_guarantee_is_checked_too(cli, sql, policy):
    file = policy("a", k="3")
    own = sql(cli("compile", file, "--format", "json").document["sql"])
    result = cli("certify-sql", own, "--policy", file, "--format", "json")
    assert result.code == 1
    assert [each["code"] for each in result.document["findings"]] == ["V29"]
    assert result.document["shape"] is None


@pytest.fixture
def released(cli, policy):
    cli("release", policy())
    return Path("out/a.certificate.json"), Path("out/a.parquet")


def test_verify(cli, released):
    certificate, release = released
    result = cli("verify", certificate, "--release", release, "--format", "json")
    assert result.code == 0
    document = result.document
    assert document["verified"] is True
    assert document["release"] == "a.parquet"
    assert document["checked"]
    assert document["assumptions"]
    assert document["k"] == 20
    text = cli("verify", certificate, "--release", release)
    assert text.out.startswith("verified: a.parquet\n  ✓ signed by ")
    assert "assuming:" in text.out


def test_whose_keys_are_trusted_is_said(cli, released, monkeypatch):
    words = ("verify", *released[:1], "--release", released[1])
    folder = Path.cwd() / ".policy-engine"
    own = [".policy-engine/signing.pub", ".policy-engine/keys.json"]  # of the project
    told = [f"    trusting {path}: nothing was named, and it is this project's own" for path in own]
    assert cli(*words).out.splitlines()[2:4] == told
    named = (*words, "--key", ".policy-engine/signing.pub", "--keyring", ".policy-engine/keys.json")
    assert cli(*named).out.splitlines()[2:4] == [
        "    trusting .policy-engine/signing.pub, named by --key",
        "    trusting .policy-engine/keys.json, named by --keyring",
    ]
    assert cli(*named, "--format", "json").document["trusted"] == [
        {"place": ".policy-engine/signing.pub", "because": "--key"},
        {"place": ".policy-engine/keys.json", "because": "--keyring"},
    ]
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", (folder / "signing.pem").read_text())
    assert "    trusting the key in POLICY_ENGINE_SIGNING_KEY\n" in cli(*words).out


def test_a_release_that_was_changed(cli, released):
    certificate, release = released
    release.write_bytes(release.read_bytes() + b"x")
    result = cli("verify", certificate, "--release", release, "--format", "json")
    assert result.code == 1
    assert result.document["verified"] is False
    assert "a.parquet is not the release" in result.document["reasons"][0]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"payload": 1}', "\u2713"])
def test_what_is_no_certificate(cli, released, text):
    released[0].write_text(text)
    result = cli("verify", released[0], "--format", "json")
    assert result.code == 1
    assert result.document["verified"] is False


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "the envelope is not JSON: Expecting property name enclosed in double quotes at"
         " line 1 column 2"),
        ("{}", "the envelope misses the field 'payloadType'"),
        ('{"payloadType": "text/plain"}',
         "payloadType must be application/vnd.in-toto+json, found 'text/plain'"),
        (b"\x00\xff", "the envelope is not JSON: it is not UTF-8"),
    ],
)  # fmt: skip
def test_what_is_no_envelope_is_named(cli, released, text, reason):
    released[0].write_bytes(text if isinstance(text, bytes) else text.encode())
    assert cli("verify", released[0]).err == (
        f"error: out/a.certificate.json is no certificate: {reason};"
        " name the .certificate.json that stands beside the release\n"
    )


def test_a_release_in_place_of_its_certificate(cli, released):
    result = cli("verify", released[1])
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: out/a.parquet is a Parquet file, not a certificate; the certificate of a release"
        " is the .certificate.json beside it: policy-engine verify out/a.certificate.json"
        " --release out/a.parquet\n"
    )


def test_what_was_not_looked_at_has_no_tick(cli, released):
    result = cli("verify", released[0])
    lines = result.out.splitlines()
    assert (result.code, lines[0]) == (4, "the certificate is valid; the release was not checked")
    assert "verified" not in result.out
    document = cli("verify", released[0], "--format", "json")
    assert (document.code, document.document["verified"]) == (4, False)
    assert cli("-q", "verify", released[0]).out == result.out
    assert "  – the release itself was not looked at: name it with --release" in lines
    assert not [line for line in lines if "✓" in line and "not looked at" in line]


def test_a_certificate_without_a_claim_is_none(cli, released):
    """Until lately such a one was of a text that somebody wrote."""
    certificate = forged(released[0], lambda told: told["predicate"].update(claim=None))
    result = cli("verify", certificate, "--release", released[1])
    assert result.code == 1
    assert "the certificate lacks or misstates: claim" in result.err


def test_a_similar_name_is_suggested(cli, released, sql):
    sql(GOOD, "model.sql")
    told = "No such file or directory; did you mean"
    assert f"could not be read: {told} 'model.sql'?" in cli("certify-sql", "mdoel.sql").err
    mistyped = cli("verify", "out/a.certifcate.json")
    assert mistyped.code == 3
    assert f"{told} 'a.certificate.json'?" in mistyped.err


def test_findings_in_stdin_say_so(cli, monkeypatch, project):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert cli("certify-sql", "-").out.startswith("stdin:1:")


def test_files_of_verify_that_are_not_there(cli, released):
    certificate, _ = released
    for words in (("nope.json",), (certificate, "--release", "nope"), (certificate, "--key", "no")):
        assert cli("verify", *words).code == 3


def test_another_key_is_a_stranger(cli, released):
    generate_key(Path("other.pem"))
    result = cli("verify", released[0], "--key", "other.pub")
    assert result.code == 1
    assert "no signature by a trusted key" in result.err
    assert cli("verify", released[0], "--key", "other.pub", "--key",
               ".policy-engine/signing.pub").code == 4  # fmt: skip


def test_the_private_key_is_none_to_trust(cli, released):
    result = cli("verify", released[0], "--key", ".policy-engine/signing.pem")
    told = "this is the private key; name the public key beside it, .policy-engine/signing.pub"
    assert (result.code, result.err) == (2, f"error: .policy-engine/signing.pem: {told}\n")


def test_the_key_of_the_environment_signs_and_is_trusted(cli, policy, monkeypatch):
    generate_key(Path("other.pem"))
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", Path("other.pem").read_text())
    assert cli("release", policy()).code == 0
    assert not Path(".policy-engine/signing.pem").exists()
    assert cli("verify", "out/a.certificate.json").code == 4
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY")
    # The first key of all has entered the keyring by itself.
    assert cli("verify", "out/a.certificate.json").code == 4
    assert cli("verify", "out/a.certificate.json", "--key", "other.pub").code == 4
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", "junk")
    assert cli("release", policy("b")).code == 2


def test_a_key_beside_the_certificate_is_not_trusted(cli, released, monkeypatch, tmp_path_factory):
    certificate = released[0].resolve()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    result = cli("verify", certificate)
    assert result.code == 2
    assert "no key to trust" in result.err
    assert (
        cli(
            "verify", certificate, "--key", certificate.parents[1] / ".policy-engine/signing.pub"
        ).code
        == 4
    )


def test_a_key_that_others_can_read_signs_nothing(cli, released, policy):
    Path(".policy-engine/signing.pem").chmod(0o644)
    result = cli("release", policy("b"))
    assert result.code == 3
    assert "chmod 600" in result.err
    assert not Path("out/b.parquet").exists()


def test_a_lost_key_is_not_replaced_in_silence(cli, released, policy):
    Path(".policy-engine/signing.pem").unlink()
    result = cli("release", policy("b"))
    assert result.code == 3
    assert "signing.pub" in result.err
    assert not Path("out/b.parquet").exists()
