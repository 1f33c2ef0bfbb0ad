"""The proved shape beside the policy: columns written otherwise, and columns of public lookups."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from policy_engine.accounting.one import population_rate
from policy_engine.errors import DomainError, NotCertifiable
from policy_engine.policy.loading import load_policy
from policy_engine.policy.recode_models import FilterSpec
from policy_engine.policy.recodings import Intervals, Keep, Lookup
from policy_engine.policy.resolve import Release, Source
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import certify

POLICY = replace(
    load_policy(Path(__file__).parents[3] / "policies/password_prefix/policy.yaml"),
    source=Source(path=None, relation="main.people"),
    release=Release(path=None, relation="public.out"),
)
DRAWN = "people.rowid in (select unit from policy_engine_sample_400000000000000)"
AGES = Intervals((Decimal(18), Decimal("64.5")), ("child", "adult", "old"))
SEXES = Lookup((("F", "woman"), ("M", None)), "other")
KNOWN = Schema(
    {
        "main.people": {
            "age": "INTEGER",
            "sex": "VARCHAR",
            "zip": "VARCHAR",
            "born": "DATE",
            "seen": "TIMESTAMP",
            "pay": "DOUBLE",
        },
        "main.regions": {"zip": "VARCHAR", "region": "VARCHAR"},
    },
    known=True,
)


def codes(expression, recoding, schema=KNOWN, *, name="x", join="", public=()):
    sql = (
        f"create table public.out as select {expression} as {name}, count(*) as n"
        f" from main.people {join} where {DRAWN} group by 1 having count(*) >= 10 order by {name}"
    )
    policy = replace(POLICY, recodings=((name, recoding),), public=public)
    try:
        certify(policy, sql, "duckdb", schema=schema)
    except NotCertifiable as refused:
        return [finding.code for finding in refused.findings]
    return []


def test_a_policy_with_a_filter_is_certified_as_it_is_printed_alone():
    sql = (
        f"create table public.out as select age, count(*) as n from main.people where {DRAWN}"
        " group by 1 having count(*) >= 10 order by age"
    )
    policy = replace(POLICY, recodings=(("age", Keep()),))
    certify(policy, sql, "duckdb", schema=KNOWN)
    with pytest.raises(NotCertifiable, match="SQL beside a policy with a filter"):
        certify(
            replace(policy, filter=(("sex", FilterSpec.model_validate({"in": ["F"]})),)),
            sql,
            "duckdb",
            schema=KNOWN,
        )


@pytest.mark.parametrize(
    "written",
    [
        "case when age is null then null when age < 18 then 'child' when age < 64.5 then 'adult'"
        " else 'old' end",
        "case when age <= 17 then 'child' when age <= 64 then 'adult' when age > 64 then 'old' end",
        "case when age >= 65 then 'old' when age between 18 and 64 then 'adult'"
        " when age is not null then 'child' end",
    ],
)
def test_bins_in_other_writings(written):
    assert codes(written, AGES, name="age") == []
    other = written.replace("'adult'", "'grown'")
    assert codes(other, AGES, name="age") == ["V26"]
    assert codes(written.replace("17", "16").replace("18", "17"), AGES, name="age") == ["V26"]


BORN = Intervals((date(1950, 1, 1), date(2000, 1, 1)), ("old", "mid", "new"))
SEEN = Intervals((datetime(2020, 1, 1, 12),), ("before", "after"))


def test_bins_of_days_and_times_in_other_writings():
    days = "case when born >= '2000-01-01' then 'new' when born < '1950-01-01' then 'old'"
    assert codes(f"{days} when born is not null then 'mid' end", BORN, name="born") == []
    other = f"{days} when born is not null then 'middle' end"
    assert codes(other, BORN, name="born") == ["V26"]
    times = "case when seen >= '2020-01-01 12:00:00' then 'after' when seen is not null then"
    assert codes(f"{times} 'before' end", SEEN, name="seen") == []
    assert codes(f"{times} 'before' end".replace("12:", "13:"), SEEN, name="seen") == ["V26"]


def test_bins_of_floating_numbers_have_a_word_for_nan():
    sql = "case when pay is null then null {} when pay < 18 then 'child' when pay < 64.5 then"
    sql += " 'adult' else 'old' end"
    assert codes(sql.format("when isnan(pay) then null"), AGES, name="pay") == []
    assert codes(sql.format(""), AGES, name="pay") == ["V26"]


@pytest.mark.parametrize(
    "written",
    [
        "case sex when 'M' then null when 'F' then 'woman' else if(sex is null, null, 'other') end",
        "case when sex = 'F' then 'woman' when sex <> 'M' then 'other' end",
    ],
)
def test_lookups_in_other_writings(written):
    assert codes(written, SEXES, name="sex") == []
    assert codes(written.replace("'F'", "'f'"), SEXES, name="sex") == ["V26"]


def test_what_has_no_map_is_not_the_same_as_what_has_none():
    assert codes("upper(sex)", SEXES, name="sex") == ["V26"]
    many = Lookup(tuple((f"{place:03}", "x") for place in range(300)), "other")
    assert codes("upper(sex)", many, name="sex") == ["V26"]


def test_a_collation_maps_other_values():
    collated = Schema({"main.people": {"sex": "VARCHAR COLLATE nocase"}}, known=True)
    written = "case when sex = 'F' then 'woman' when sex <> 'M' then 'other' end"
    assert "V26" in codes(written, SEXES, collated, name="sex")


PUBLIC = (("main.regions", "zip"),)
JOIN = "left join main.regions on regions.zip = people.zip"


def test_a_column_of_a_public_lookup():
    kept = {"join": JOIN, "public": PUBLIC, "name": "region"}
    assert codes("regions.region", Keep(), **kept) == []
    assert codes("regions.region", AGES, **kept) == ["V26"]
    assert codes("upper(regions.region)", Keep(), **kept) == ["V26"]
    assert codes("regions.region", Keep(), **{**kept, "name": "area"}) == ["V26"]
    assert "V13" in codes("regions.region", Keep(), join=JOIN, name="region")


def test_a_lookup_that_leaves_rows_out_is_a_filter():
    inner = {"join": JOIN.removeprefix("left "), "public": PUBLIC, "name": "region"}
    assert codes("regions.region", Keep(), **inner) == ["V22"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("people.csv", "people.csv is well-formed CSV whoever is in it"),
        ("people.parquet", "every text in people.parquet is UTF-8 whoever is in it"),
    ],
)
def test_what_a_file_is_assumed_to_be(path, said):
    policy = replace(
        POLICY,
        source=Source(path=path, relation=None),
        recodings=(("sex", Keep()),),
    )
    sql = (
        f'create table public.out as select sex, count(*) as n from temp.main."{path}" where rowid'
        " in (select unit from policy_engine_sample_400000000000000)"
        " group by 1 having count(*) >= 10 order by sex"
    )
    assert said in certify(policy, sql, "duckdb").assumptions
    of_a_table = replace(policy, source=Source(path=None, relation="main.people"))
    assert (
        said
        not in certify(
            of_a_table, sql.replace(f'temp.main."{path}"', "main.people"), "duckdb"
        ).assumptions
    )


def test_an_earlier_rate_is_one_or_below():
    assert population_rate(Fraction(1, 2), "drawn", Decimal(1)) == Fraction(1, 2)
    for wrong in ("1.5", "0", "-1"):
        with pytest.raises(DomainError, match="sampled_at must be 1 or a rate below it, found"):
            population_rate(Fraction(1, 2), "drawn", Decimal(wrong))
