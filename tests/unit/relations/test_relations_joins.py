"""Joins to public lookups: what a row shows of one depends on the row alone."""

import pytest

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

PEOPLE = {"id": "BIGINT", "sex": "VARCHAR", "zip": "VARCHAR"}
REGIONS = {"zip": "VARCHAR", "region": "VARCHAR", "size": "INTEGER"}
PUBLIC = {"regions": "zip"}
OPEN = Schema(public=PUBLIC)
KNOWN = Schema({"people": PEOPLE, "regions": REGIONS}, known=True, public=PUBLIC)
ON = "r.zip = people.zip"


def release(join, shown="r.region", source="people tablesample bernoulli (10%)"):
    return (
        f"select {shown} as x, count(*) as n from {source} {join} group by 1 having count(*) >= 20"
    )


def shape(sql, schema):
    proof = prove(sql, schema)
    assert [str(finding) for finding in proof.findings] == []
    return proof.shape


def found(sql, schema=OPEN):
    return [
        (finding.code, finding.message.split("; found ")[1].split("; ")[0])
        for finding in prove(sql, schema).findings
    ]


@pytest.mark.parametrize("schema", [OPEN, KNOWN])
@pytest.mark.parametrize(
    ("join", "filtered"),
    [
        (f"join regions as r on {ON}", True),
        (f"inner join regions r on ({ON})", True),
        ("join regions as r on people.zip = r.zip", True),
        ("join regions as r on R.ZIP = left(people.zip, 3)", True),
        (f"left join regions as r on {ON}", False),
        (f"left outer join regions as r on {ON}", False),
        ("left join regions as r using (zip)", False),
    ],
)
def test_a_column_of_a_lookup_depends_on_what_it_was_joined_by(join, filtered, schema):
    proof = prove(release(join), schema)
    column = proof.shape.columns[0]
    joined_by = 'LEFT("zip", 3)' if "left(" in join else '"zip"'
    assert (column.inputs, column.public) == (("zip",), f"regions.region of {joined_by}")
    assert column.sql == column.public
    assert (column.values, column.recoding) == (None, None)
    assert proof.shape.filtered is filtered
    assumed = "regions is public: it does not depend on people, and has one row for each zip"
    assert assumed in proof.assumptions


def test_two_lookups_and_a_column_of_the_source():
    schema = Schema(public={"a.regions": "zip", "b.sizes": "id"})
    sql = (
        "select people.sex as s, regions.region as r, z.label as l, count(*) as n"
        " from people tablesample bernoulli (10%) join a.regions on regions.zip = people.zip"
        " left join b.sizes as z on z.id = people.id group by 1, 2, 3 having count(*) >= 20"
    )
    columns = shape(sql, schema).columns
    assert [column.inputs for column in columns] == [("sex",), ("zip",), ("id",)]
    assert [column.public for column in columns] == [
        None,
        'a.regions.region of "zip"',
        'b.sizes.label of "id"',
    ]


def test_a_function_of_both_depends_on_both():
    sql = release(f"left join regions r on {ON}", "case when r.region = 'x' then people.sex end")
    assert shape(sql, KNOWN).columns[0].inputs == ("sex", "zip")


def test_lookups_columns_pass_for_none_of_the_sources():
    sql = (
        "select people.zip as a, r.zip as b, count(*) as n from people tablesample"
        f" bernoulli (10%) left join regions as r on {ON} group by people.zip, r.zip"
        " having count(*) >= 20"
    )
    columns = shape(sql, KNOWN).columns
    assert [column.public for column in columns] == [None, 'regions.zip of "zip"']
    hidden = sql.replace("group by people.zip, r.zip", "group by people.zip")
    assert found(hidden, KNOWN) == [("V07", "r.zip")]


@pytest.mark.parametrize(
    "join",
    [
        f"join others as r on {ON}",
        f"right join regions as r on {ON}",
        f"full join regions as r on {ON}",
        f"cross join regions as r on {ON}".replace(f" on {ON}", ""),
        "join (select * from regions) as r on r.zip = people.zip",
        f"join regions as r tablesample bernoulli (10%) on {ON}",
        f"join read_parquet('regions.parquet') as r on {ON}",
    ],
)
def test_other_joins(join):
    codes = {code for code, what in found(release(join))}
    assert "V13" in codes
    whats = {what for code, what in found(release(join)) if code == "V13"}
    assert "a join to a relation that is not declared public" in whats


@pytest.mark.parametrize(
    "join",
    [
        "join regions as r on r.region = people.zip",
        "join regions as r on r.zip < people.zip",
        "join regions as r on r.zip = r.region",
        "join regions as r on r.zip = zip",
        "join regions as r on r.zip = others.zip",
        "join regions as r on zip = people.zip",
        "join regions as r on r.zip = people.zip and r.region = 'x'",
        "join regions as r using (region)",
        "join regions as r using (zip, region)",
        "join regions as r",
    ],
)
def test_joins_by_something_else_than_the_key(join):
    what = "a join to regions by something else than r.zip = a column"
    assert ("V13", what) in found(release(join))


def test_a_name_of_the_source_alone_may_stand_without_its_relation_if_all_are_known():
    assert shape(release("join regions as r on r.zip = zip"), KNOWN).k == 20
    sql = release("join regions as r on r.zip = postcode")
    assert ("V13", "a join to regions by something else than r.zip = a column") in found(sql, KNOWN)


def test_columns_that_a_known_lookup_does_not_have():
    assert ("V30", "r.nobody") in found(release(f"join regions r on {ON}", "r.nobody"), KNOWN)
    assert shape(release(f"join regions r on {ON}", "r.nobody"), OPEN).k == 20


def test_a_name_without_its_relation_depends_on_all_that_could_have_it():
    sql = release(f"left join regions r on {ON}", "region")
    assert shape(sql, KNOWN).columns[0].inputs == ("zip",)
    assert shape(sql, OPEN).columns[0].inputs == ("region", "zip")
    sex = release(f"left join regions r on {ON}", "sex")
    assert shape(sex, KNOWN).columns[0].inputs == ("sex",)


def test_a_star_of_several_relations():
    sql = (
        f"select sex, count(*) as n from (select * from people join regions as r on {ON})"
        " tablesample bernoulli (10%) group by sex having count(*) >= 20"
    )
    assert ("V30", "* of several relations") in found(sql)
    own = sql.replace("select * from", "select people.* from")
    whats = [what for _, what in found(own)]
    assert "* of several relations" not in whats


def test_rows_are_sampled_before_they_are_joined():
    sql = release(f"join regions as r on {ON} where random() < 0.1", source="people")
    assert [code for code, _ in found(sql)] == ["V04"]
    drawn = "people.id in (select unit from policy_engine_sample_400000000000000)"
    sql = release(f"join regions as r on {ON} where {drawn}", source="people")
    assert shape(sql, OPEN).method == "drawn"


def test_a_view_is_no_lookup():
    schema = Schema({}, {"regions": "select * from people"}, public=PUBLIC)
    assert ("V13", "a join to a relation that is not declared public") in found(
        release(f"join regions as r on {ON}"), schema
    )


def test_a_join_whose_source_cannot_be_read_says_that_only():
    sql = release(f"join regions as r on {ON}", source="(select 1 as zip) as people")
    assert found(sql) == [("V16", "a query without FROM")]


def test_the_alias_of_a_lookup_is_no_column_of_its_own():
    sql = release(f"join regions as r on {ON} where region = 'x'", "r.region")
    assert shape(sql, OPEN).filtered


@pytest.mark.parametrize(
    ("side", "wrong"),
    [
        ("random()", "V06"),
        ("(select 1)", "V11"),
        ("count(*)", "V08"),
        ("$salt", "V19"),
        ("now()", "V14"),
        ("people.rowid", "V20"),
    ],
)
def test_what_a_lookup_is_joined_by_is_a_row_expression(side, wrong):
    assert wrong in {code for code, _ in found(release(f"join regions as r on r.zip = {side}"))}
