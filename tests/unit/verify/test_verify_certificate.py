"""The certificate: made of what was proved, or not at all."""

import hashlib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.predicates import predicate_of
from policy_engine.errors import NotCertifiable, UsageError
from policy_engine.kernel.certificate import certified_rate
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Release, Source
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import certify, compare
from policy_engine.verify.proof import prove

POLICY = replace(
    load_policy(Path(__file__).parents[3] / "policies/password_prefix/policy.yaml"),
    source=Source(path=None, relation="main.accounts"),
    release=Release(path=None, relation="public.prefixes"),
)
SQL = """create table db.public.prefixes as
select left("sha1", 3) as sha1, count(*) as n from {source} where {sample}
group by 1 having count(*) >= 10 order by sha1"""
DRAWN = "rowid in (select unit from policy_engine_sample_400000000000000)"


def text(source="main.accounts", sample=DRAWN):
    return SQL.format(source=source, sample=sample)


def rate_of(policy):
    return certified_rate(policy.rate, policy.method, policy.source.sampled_at)


def codes(sql, policy=POLICY, schema=None):
    with pytest.raises(NotCertifiable) as caught:
        certify(policy, sql, "duckdb", schema=schema)
    return [finding.code for finding in caught.value.findings]


def test_a_certificate():
    found = certify(POLICY, text(), "duckdb", engine_version="2.0.0")
    exact = delta_exact(10, "0.25", "1.0", "add_remove")
    assert (found.k, found.rate, found.epsilon) == (10, Decimal("0.25"), Decimal("1.0"))
    assert exact.delta <= found.delta <= POLICY.guarantee.delta
    assert found.query == text()
    predicate = predicate_of(found)
    assert predicate["version"] == 2
    digest = hashlib.sha256(text().encode()).hexdigest()
    assert predicate["query_digest"] == f"sha256:{digest}"
    assert predicate["columns"] == ["sha1"]
    assert predicate["count"] == "n"
    assert predicate["sampled_at"] == "1"
    assert predicate["engine_version"] == "2.0.0"
    assert predicate["randomness"].startswith("AES-128")
    assert "one row of main.accounts is one person" in predicate["assumptions"]
    assert predicate["policy"]["digest"] == POLICY.digest
    assert predicate["time"].endswith("Z")


def test_a_promise_that_the_numbers_do_not_keep():
    stricter = replace(POLICY, guarantee=replace(POLICY.guarantee, delta=Decimal("1e-9")))
    with pytest.raises(
        NotCertifiable, match=r"V29 .*find a k and a rate that do with 'policy-engine calculate'"
    ):
        certify(stricter, text(), "duckdb")


@pytest.mark.parametrize("dialect", ["postgres", "oracle"])
def test_a_text_of_another_engine_is_not_read(dialect):
    with pytest.raises(UsageError, match=f"no rules to certify the dialect '{dialect}'; known: d"):
        certify(POLICY, text(), dialect)


def test_an_earlier_sample_is_an_assumption():
    policy = replace(POLICY, source=replace(POLICY.source, sampled_at=Decimal("0.01")))
    found = certify(policy, text(), "duckdb")
    assert found.rate == Decimal("0.0025")
    assert predicate_of(found)["sampled_at"] == "0.01"
    assert "is a Bernoulli sample of its population" in found.assumptions[-5]


def test_native_samples_have_a_grain():
    policy = replace(POLICY, method="native")
    assert rate_of(policy) == Decimal("0.25000000023283064365386962890625")
    sql = text("main.accounts tablesample bernoulli (25%)", "true")
    assert codes(sql, policy) == ["V22"]
    sql = sql.replace("where true\n", "")
    assert certify(policy, sql, "duckdb").rate == certified_rate(
        policy.rate, policy.method, policy.source.sampled_at
    )
    assert codes(sql) == ["V23"]


def test_the_engines_random_numbers_are_not_a_keyed_sample():
    assert codes(text(sample="random() < 0.25")) == ["V23"]
    keyed = text(sample="sha256(? || ':u:' || rowid) < '4'")
    assert predicate_of(certify(POLICY, keyed, "duckdb"))["randomness"].startswith("SHA-256")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("accounts", ["V21"]),
        ("other.accounts", ["V21"]),
        ('main."accounts.old"', ["V21"]),
        ("db.MAIN.Accounts", []),
        ("'main.accounts.parquet'", ["V21"]),
    ],
)
def test_the_source(source, found):
    sql = text(source).replace(DRAWN, "sha256(? || ':u:' || x) < '4'").replace("'main.", "'x/main.")
    assert [f.code for f in compare(prove(sql).shape, POLICY)][:1] == (found or ["V22"])


def test_a_view_is_a_source():
    schema = Schema(
        {"main.people": {"id": "BIGINT", "sha1": "VARCHAR"}},
        {"main.accounts": "select * from main.people"},
        known=True,
    )
    keyed = replace(POLICY.source, keys=("id",), order_by=(("sha1", "asc"),))
    policy = replace(POLICY, source=keyed)
    ranked = (
        "with r as (select *, row_number() over (partition by id order by sha1) as rn"
        " from main.accounts where id in (select unit from policy_engine_sample_400000000000000))"
        " select left(sha1, 3) as sha1, count(*) as n from r where rn = 1"
        " group by 1 having count(*) >= 10 order by sha1"
    )
    sql = f"create table public.prefixes as {ranked}"
    assert certify(policy, sql, "duckdb", schema=schema).unit == "id"
    several = sql.replace("where rn = 1", "where rn = 1 and rn = 2")
    assert "V10" in codes(several, policy, schema)
    unranked = text(sample="id in (select unit from policy_engine_sample_400000000000000)")
    assert codes(unranked, policy, schema) == ["V22"]


def test_a_file_is_no_relation():
    policy = replace(POLICY, source=Source(path="main.accounts", relation=None))
    assert codes(text(), policy) == ["V21"]
    loaded = text('temp.main."main.accounts"')
    assert certify(policy, loaded, "duckdb").claim is None
    assert codes(text("read_parquet('x.parquet', file_row_number = true)", DRAWN.replace(
        "rowid", "file_row_number")), policy) == ["V21"]  # fmt: skip


def test_the_target():
    assert codes(text().replace("public.prefixes", "public.others")) == ["V27"]
    query = text().partition("\n")[2]  # the envelope is the warehouse's
    assert certify(POLICY, query, "duckdb").query == query
    to_file = replace(POLICY, release=Release(path="x.parquet", relation=None))
    assert codes(text(), to_file) == ["V27"]
    as_rows = replace(POLICY, release=replace(POLICY.release, form="rows"))
    assert codes(text(), as_rows) == ["V25", "V27"]


def test_a_column_read_as_another_type():
    typed = replace(POLICY, source=replace(POLICY.source, columns=(("sha1", "text"),)))
    sql = text().replace('"sha1"', 'try_cast("sha1" as text)')
    assert certify(typed, sql, "duckdb")
    assert codes(sql) == ["V26"]
    assert codes(text(), typed) == ["V26"]
    guarded = text().replace('"sha1"', 'try_cast("sha1" as timestamp)')
    assert certify(POLICY, guarded, "duckdb")


def test_names_with_quotes():
    name = '"; drop table x; --'
    quoted = '"""; drop table x; --"'
    policy = replace(POLICY, recodings=((name, POLICY.recodings[0][1]),))
    sql = text().replace('"sha1"', quoted).replace("as sha1", f"as {quoted}")
    sql = sql.replace("order by sha1", f"order by {quoted}")
    assert certify(policy, sql, "duckdb").columns == (name,)


def test_every_difference_at_once():
    sql = (
        text("main.others")
        .replace(">= 10", ">= 11")
        .replace("3)", "4)")
        .replace("order by sha1", "")
    )
    assert codes(sql) == ["V21", "V24", "V26", "V28"]
