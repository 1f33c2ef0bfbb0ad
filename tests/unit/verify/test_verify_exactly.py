"""What a certificate and a shape say, word for word and to the last digit."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.accounting.domain import claimed
from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.predicates import predicate_of
from policy_engine.errors import NotCertifiable
from policy_engine.kernel.sentences import ALWAYS, of_its_sample
from policy_engine.policy.loading import load_policy
from policy_engine.policy.recodings import Constant, Keep
from policy_engine.policy.resolve import Release, Source
from policy_engine.relations.assumptions import TIES
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import certify
from policy_engine.verify.proof import prove

POLICY = replace(
    load_policy(Path(__file__).parents[3] / "policies/password_prefix/policy.yaml"),
    source=Source(path=None, relation="main.people"),
    release=Release(path=None, relation="public.out"),
    recodings=(("sex", Keep()),),
)
DRAWN = "people.rowid in (select unit from policy_engine_sample_400000000000000)"
KNOWN = Schema({"main.people": {"sex": "VARCHAR", "id": "BIGINT"}}, known=True)
SQL = (
    "create table public.out as select sex, count(*) as n from main.people where {} group by sex"
    " having count(*) >= {} order by sex"
)


def certified(sql, policy=POLICY, schema=KNOWN):
    return certify(policy, sql, "duckdb", schema=schema)


def finding(sql, policy=POLICY, schema=KNOWN):
    with pytest.raises(NotCertifiable) as caught:
        certified(sql, policy, schema)
    return [(each.code, each.message.split("; found ")[1].split("; ")[0])
            for each in caught.value.findings]  # fmt: skip


def test_delta_is_the_exact_one_rounded_up_and_at_most_what_was_promised():
    found = certified(SQL.format(DRAWN, 10))
    exact = delta_exact(10, Decimal("0.25"), POLICY.guarantee.epsilon).delta
    assert exact < POLICY.guarantee.delta
    assert found.delta == claimed(exact) >= exact


def test_a_delta_that_nobody_can_tell_from_nothing_is_stated_as_the_least():
    policy = replace(POLICY, k=2000)
    assert certified(SQL.format(DRAWN, 2000), policy).delta == Decimal("1e-300")
    least = replace(policy, guarantee=replace(policy.guarantee, delta=Decimal("1e-301")))
    assert certified(SQL.format(DRAWN, 2000), least).delta == Decimal("1e-301")


def test_a_delta_that_is_just_met_is_met():
    exact = delta_exact(10, Decimal("0.25"), POLICY.guarantee.epsilon).delta
    just = replace(POLICY, guarantee=replace(POLICY.guarantee, delta=exact))
    assert certified(SQL.format(DRAWN, 10), just).delta == exact
    below = replace(just, guarantee=replace(just.guarantee, delta=exact * Decimal("0.999")))
    assert [code for code, _ in finding(SQL.format(DRAWN, 10), below)] == ["V29"]


def test_the_assumptions_of_rows():
    assert certified(SQL.format(DRAWN, 10)).assumptions == (
        *of_its_sample("drawn", "row", "duckdb"),
        "one row of main.people is one person",
        "main.people does not change while it is read",
        *ALWAYS,
    )


RANKED = (
    "create table public.out as with r as (select sex, row_number() over (partition by id order by"
    " {}) as rn from main.people where id in (select unit from"
    " policy_engine_sample_400000000000000)) select sex, count(*) as n from r where {}"
    " group by sex having count(*) >= 10 order by sex"
)
KEYED = replace(POLICY, source=replace(POLICY.source, keys=("id",), sampled_at=Decimal("0.5")))


def test_the_assumptions_of_keys_in_a_sample_of_the_population():
    order = replace(KEYED, source=replace(KEYED.source, order_by=(("sex", "asc"),)))
    assert certified(RANKED.format("sex, rowid", "rn = 1"), order).assumptions == (
        *of_its_sample("drawn", "id", "duckdb"),
        "main.people is a Bernoulli sample of its population, drawn in secret at the rate 0.5",
        "id identifies one person",
        "main.people does not change while it is read",
        *ALWAYS,
    )


def test_how_one_row_is_chosen():
    order = replace(KEYED, source=replace(KEYED.source, order_by=(("sex", "desc"),)))
    assert certified(RANKED.format("sex desc nulls last, rowid", "rn = 1"), order)
    chosen = "one row a id chosen by "
    wrong = RANKED.format("sex desc nulls last, id, sex", "rn = 1")
    assert finding(wrong, order) == [("V22", f"{chosen}sex, id, sex")]
    assert finding(RANKED.format("sex, rowid", "rn = 1"), order) == [("V22", f"{chosen}sex, rowid")]
    unranked = SQL.format("id in (select unit from policy_engine_sample_400000000000000)", 10)
    assert finding(unranked, order) == [("V22", "several rows a id")]


HASHED = (
    "create table public.out as with r as (select id, sex, row_number() over (partition by id order"
    " by sex) as place from main.people where id in (select unit from"
    " policy_engine_sample_400000000000000)), c as (select sex, row_number() over (partition by id"
    " order by sha256($salt || ':o:' || cast(id as varchar) || ':' || cast(place as varchar)),"
    " place) as rn from r) select sex, count(*) as n from c where rn = 1 group by sex"
    " having count(*) >= 10 order by sex"
)


def test_any_row_is_drawn_by_the_keyed_hash_and_chosen_by_no_order():
    found = predicate_of(certified(HASHED, KEYED))["randomness"]
    assert found.endswith("one is kept, drawn by SHA-256 of the secret, the unit and the row")
    by_order = RANKED.format("sex, rowid", "rn = 1")
    assert finding(by_order, KEYED) == [("V22", "one row a id chosen by an order")]
    order = replace(KEYED, source=replace(KEYED.source, order_by=(("sex", "asc"),)))
    assert finding(HASHED, order) == [("V22", "one row a id drawn by a keyed hash")]


def test_where_a_persons_rows_are_alike_there_is_nothing_to_draw():
    constant = RANKED.replace("select sex,", "select 'x' as sex,", 1).format("rowid", "rn = 1")
    policy = replace(KEYED, recodings=(("sex", Constant("x")),))
    assert certified(constant, policy)


def test_a_view_that_is_the_source_keeps_its_own_names():
    views = {"main.people": "select id, upper(gender) as sex from main.base"}
    schema = Schema({"main.base": {"id": "BIGINT", "gender": "VARCHAR"}}, views, known=True)
    ranked = RANKED.format("sex", "rn = 1")
    order = replace(KEYED, source=replace(KEYED.source, order_by=(("sex", "asc"),)))
    found = certified(ranked, order, schema)
    assert found.columns == ("sex",)
    assert TIES not in found.assumptions  # rows that tie are alike in all that is read


def test_a_filter_of_groups_is_one():
    counted = (
        "select sex, n from (select sex, count(*) as n from people tablesample bernoulli (10%)"
        " group by sex) where {}"
    )
    assert not prove(counted.format("n >= 20")).shape.filtered
    assert prove(counted.format("n >= 20 and sex = 'F'")).shape.filtered
    assert prove(counted.format("n >= 20 and n >= 30")).shape.k == 30


def test_places_of_findings_in_a_where_around_groups():
    text = (
        "select sex, n\nfrom (select sex, count(*) as n from people tablesample bernoulli (10%)"
        " group by sex)\nwhere n >= 1\nand sex = 'F'"
    )
    [found] = prove(text).findings
    assert (found.code, found.line) == ("V09", 3)


def test_a_view_is_called_by_its_alias():
    schema = Schema(
        {"people": {"sex": "VARCHAR"}}, {"adults": "select sex from people"}, known=True
    )
    text = (
        "select a.sex, count(*) as n from adults as a tablesample bernoulli (10%)"
        " group by a.sex having count(*) >= 20"
    )
    assert prove(text, schema).shape.views == ("adults",)
    assert prove(text.replace("a.sex", "adults.sex"), schema).shape is None


@pytest.mark.parametrize("hashed", ["(concat({}, ':u:', id))", "concat({}, ':u:') || id"])
def test_no_concat_hides_what_may_be_missing(hashed):
    text = (
        f"select sex, count(*) as n from people where sha256({hashed}) < '1999'"
        " group by sex having count(*) >= 20"
    )
    assert "id is never NULL in people" in prove(text.format("?")).assumptions
    waiting = text.format("(select salt from s.salts where release_id = 'a')")
    assert [finding.code for finding in prove(waiting).findings] == ["V04"]


def test_a_key_that_may_be_null_is_not_hashed_by_concat():
    text = (
        "select sex, count(*) as n from people where sha256(concat(?, ':u:', id)) < '1999'"
        " group by sex having count(*) >= 20"
    )
    assert "id is never NULL in people" in prove(text).assumptions
    joined = text.replace("concat(?, ':u:', id)", "? || ':u:' || id")
    assert "id is never NULL in people" not in prove(joined).assumptions
    row = text.replace("id))", "rowid))")
    assert not any("NULL" in each for each in prove(row).assumptions)
