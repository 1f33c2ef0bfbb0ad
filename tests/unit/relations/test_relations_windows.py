"""One row a person, however it is written; and windows over groups that were released."""

import pytest

from policy_engine.syntax.ddl import parse_schema
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

KEYED = "sha256(? || ':u:' || person) < '19'"
RANK = "row_number() over (partition by person order by day)"
ENOUGH = "having count(*) >= 20"
KNOWN = Schema({"visits": {"person": "BIGINT", "ward": "VARCHAR", "day": "DATE"}}, known=True)


def first(select):
    return f"select ward, count(*) as n from ({select}) group by ward {ENOUGH}"


def shape(sql, schema=None):
    proof = prove(sql, schema)
    assert [str(finding) for finding in proof.findings] == []
    return proof.shape


def found(sql, schema=None):
    return [
        (finding.code, finding.message.split("; found ")[1].split("; ")[0])
        for finding in prove(sql, schema).findings
    ]


@pytest.mark.parametrize("schema", [None, KNOWN])
@pytest.mark.parametrize(
    "select",
    [
        f"select * from visits where {KEYED} qualify {RANK} = 1",
        f"select * from visits where {KEYED} qualify {RANK} <= 1",
        f"select * from visits where {KEYED} qualify {RANK} < 2",
        f"select * from visits where {KEYED} qualify 1 = {RANK}",
        f"select * from visits where {KEYED} qualify ({RANK} = 1) and {RANK.upper()} < 2",
        f"select ward, {RANK} as r from visits where {KEYED} qualify r = 1",
        f"select * from (select *, {RANK} as r from visits where {KEYED}) where r = 1",
        f"select distinct on (person) * from visits where {KEYED} order by day",
        f"select distinct on (person) ward from visits where {KEYED} order by day",
    ],
)
def test_one_row_a_person(select, schema):
    proved = shape(first(select), schema)
    assert (proved.unit, proved.one_row, proved.k) == ("person", True, 20)
    assert [term.name for term in proved.rank_order] == ["day"]


@pytest.mark.parametrize("condition", ["ward = 'a'", f"{RANK} > 1", f"{RANK} = 2", "person = 1"])
def test_qualify_may_keep_the_first_row_only(condition):
    sql = first(f"select * from visits where {KEYED} qualify {condition}")
    codes = dict(found(sql))
    assert codes["V12"] == "QUALIFY"
    message = next(f.message for f in prove(sql).findings if f.code == "V12")
    assert "one row a person is row_number() OVER (PARTITION BY person ORDER BY ...) = 1" in message


def test_qualify_by_a_rank_that_the_rows_have_already():
    sql = first(f"select *, {RANK} as r from visits where {KEYED} qualify visits.r = 1")
    assert ("V12", "QUALIFY") in found(sql)


def test_qualify_of_groups():
    sql = f"select ward, count(*) as n from visits where {KEYED} group by ward {ENOUGH}"
    assert ("V12", "QUALIFY") in found(f"{sql} qualify row_number() over (partition by ward) = 1")


@pytest.mark.parametrize(
    "window",
    [
        "rank() over (partition by person order by day)",
        "row_number() over (partition by person, ward order by day)",
        "row_number() over (order by day)",
        "row_number() over (partition by left(ward, 1) order by day)",
    ],
)
def test_windows_that_keep_no_row_a_person(window):
    codes = [
        code for code, _ in found(first(f"select * from visits where {KEYED} qualify {window} = 1"))
    ]
    assert "V10" in codes


def test_two_windows_of_different_orders():
    other = RANK.replace("day", "ward")
    sql = first(f"select * from visits where {KEYED} qualify {RANK} = 1 and {other} = 1")
    assert found(sql) == [("V10", "a second window, or one over groups")]


@pytest.mark.parametrize(
    "select",
    [
        f"distinct on (person, ward) * from visits where {KEYED}",
        f"distinct on (person) * from visits where {KEYED} qualify {RANK} = 1",
        f"distinct ward, person from visits where {KEYED}",
    ],
)
def test_distinct_on_is_one_row_a_person_for_one_column_only(select):
    assert "V12" in {code for code, _ in found(first(f"select {select}"))}


def test_a_sample_of_persons_of_whom_several_rows_count():
    sql = f"select ward, count(*) as n from visits where {KEYED} group by ward {ENOUGH}"
    assert "person is unique in visits" in prove(sql, KNOWN).assumptions
    table = "create table visits (id bigint{}, person bigint{}, ward text)"
    repeated = parse_schema(table.format(" primary key", ""), "duckdb")
    assert found(sql, repeated) == [
        ("V33", "a sample of person, of which visits may have several rows")
    ]
    unique = parse_schema(table.format("", " unique"), "duckdb")
    proof = prove(sql, unique)
    assert proof.shape.unit == "person"
    assert "person is unique in visits" not in proof.assumptions
    of_rows = sql.replace(KEYED, "random() < 0.1")
    assert shape(of_rows, repeated).unit == "row"


RELEASED = (
    "select sex, count(*) as n, {} as y from people tablesample bernoulli (10%)"
    f" group by sex {ENOUGH}"
)


@pytest.mark.parametrize(
    "window",
    [
        "count(*) / sum(count(*)) over ()",
        "sum(n) over (partition by sex)",
        "max(count(*)) over ()",
        "avg(n) over (order by n)",
        "rank() over (order by count(*) desc)",
        "dense_rank() over (order by n, sex)",
        "count(*) over ()",
    ],
)
def test_windows_over_released_groups(window):
    proved = shape(RELEASED.format(window))
    assert proved.shown == ("sex", "n", "y")
    assert (proved.k, proved.count) == (20, "n")
    nested = window.replace("(count(*))", "(n)").replace("by count(*)", "by n")
    nested = nested.replace("count(*) /", "n /")
    assert shape(f"select sex, {nested} as y from ({RELEASED.format('1')})").k == 20


@pytest.mark.parametrize(
    ("window", "code"),
    [
        ("row_number() over (order by n)", "V10"),
        ("first_value(n) over (order by n)", "V10"),
        ("rank() over (order by lower(sex))", "V10"),
        ("rank() over (order by random())", "V10"),
        ("rank() over (order by case when (select count(*) from people) > 9 then n end)", "V10"),
        ("rank(sex) over (order by n)", "V10"),
        ("sum(age) over ()", "V07"),
        ("max(sex) over ()", "V10"),
        ("rank() over (order by age)", "V07"),
        ("sum(n) over (partition by age)", "V07"),
    ],
)
def test_windows_that_show_more_than_released_groups(window, code):
    assert code in {code for code, _ in found(RELEASED.format(window))}


def test_windows_over_groups_of_any_size():
    counted = "select sex, count(*) as n from people tablesample bernoulli (10%) group by sex"
    for window in ("sum(n) over ()", "rank() over (order by n)", "max(count(*)) over ()"):
        assert prove(f"select sex, {window} as y from ({counted})").shape is None
        without = RELEASED.format(window).replace(ENOUGH, "")
        assert {"V08", "V10"} & {code for code, _ in found(without)}


REGROUPED = (
    "with r as (select race, sex, count(*) as n from people tablesample bernoulli (10 percent)"
    f" group by race, sex {ENOUGH}) "
)


@pytest.mark.parametrize(
    ("select", "code"),
    [
        (
            "select sex, sum(n) as n from r group by sex qualify rank() over (order by sex) = 1",
            "V08",
        ),
        ("select *, sum(n) as n from r group by all", "V30"),
        ("select sex, sum(n) as s, max(n) as s from r group by sex", "V30"),
        ("select sex, first(n) as n from r group by sex", "V08"),
        ("select sex, sum(n) as s from r group by sex, random()", "V06"),
    ],
)
def test_groups_of_released_groups_show_no_order_of_them(select, code):
    assert code in {finding.code for finding in prove(REGROUPED + select).findings}


@pytest.mark.parametrize(
    "select",
    [
        "select sex, sum(n) as people, count(*) as groups from r group by sex",
        "select upper(sex) as s, max(n) as most from r group by upper(sex) having sum(n) > 50",
        "select sex, avg(n) as mean from r group by (sex, race)",
        "select sum(n) as people from r",
        "select sex, sum(n) as people from r group by 1 order by 1",
    ],
)
def test_groups_of_released_groups_are_post_processing(select):
    proved = shape(REGROUPED + select)
    assert (proved.k, proved.count) == (20, None)
