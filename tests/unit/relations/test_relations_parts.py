"""Unions of parts of one table: which are the table again, and why the others are not."""

import pytest

from policy_engine.expressions.conversions import MIXED
from policy_engine.expressions.evaluation import BYTEWISE
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

TYPES = {"id": "BIGINT", "age": "INTEGER", "sex": "VARCHAR", "zip": "VARCHAR", "pay": "DOUBLE",
         "name": "VARCHAR COLLATE nocase", "born": "DATE"}  # fmt: skip
KNOWN = Schema({"people": TYPES, "others": TYPES}, known=True)
DRAWN = "id in (select unit from policy_engine_sample_400000000000000)"
ENOUGH = "having count(*) >= 20"


def union(left, right, keys="x", word="union all"):
    return (
        f"select {keys}, count(*) as n from ({left} {word} {right}) tablesample bernoulli (10%)"
        f" group by {keys} {ENOUGH}"
    )


def halves(left="age < 30", right="age >= 30", shown="sex as x"):
    return union(*(f"select {shown} from people where {part}" for part in (left, right)))


def shape(sql, schema=None):
    proof = prove(sql, schema)
    assert [str(finding) for finding in proof.findings] == []
    return proof.shape


def found(sql, schema=None):
    """The only finding's code, and what it found."""
    (finding,) = prove(sql, schema).findings
    return finding.code, finding.message.split("; found ")[1].split("; ")[0]


@pytest.mark.parametrize("schema", [None, KNOWN])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("age < 30", "age >= 30"),
        ("age < 30", "not (age < 30)"),
        ("age is null", "age is not null"),
        ("sex = 'F'", "sex in ('M', 'X')"),
        ("sex = 'F' and age > 3", "age < 30 and not sex = 'F'"),
        ("people.age < 30", "AGE >= 30"),
    ],
)
def test_parts_that_no_row_is_in_twice_are_the_table_filtered(left, right, schema):
    proved = shape(halves(left, right), schema)
    assert (proved.source, proved.unit, proved.k) == ("people", "row", 20)
    assert proved.filtered
    # The same column in every part stays what it is.
    assert proved.columns[0].inputs == ("sex",)
    assert proved.columns[0].sql == '"sex"'


@pytest.mark.parametrize(
    ("left", "right", "schema"),
    [
        ("age <= 30", "age >= 30", None),
        ("age < 30", "zip is null", None),
        ("true", "age < 30", None),
        ("age < 30", "pay >= 30", None),
        ("age <> true", "age is true", None),  # 5 is both, and where age is BOOLEAN none is
        ("name = 'a'", "name = 'A'", KNOWN),
    ],
)
def test_parts_that_overlap(left, right, schema):
    found_it = "V13", "a UNION of parts that a row may be in twice"
    assert found(halves(left, right), schema) == found_it


def test_three_parts_must_be_apart_by_pairs():
    text = "select sex as x from people where age {}"
    two = f"{text.format('< 30')} union all {text.format('between 30 and 59')}"
    assert shape(union(two, text.format(">= 60"))).filtered
    assert found(union(two, text.format(">= 59")))[0] == "V13"
    assert found(union(two, text.format("< 10")))[0] == "V13"


def test_texts_are_apart_byte_by_byte():
    assert BYTEWISE in prove(halves("zip = 'a'", "zip = 'A'")).assumptions
    assert BYTEWISE not in prove(halves("zip = 'a'", "zip = 'A'"), KNOWN).assumptions


def test_a_column_of_several_values_depends_on_all_that_chooses_between_them():
    text = "select {} as x from people where {}"
    proved = shape(union(text.format("sex", "age < 30"), text.format("zip", "age >= 30")), KNOWN)
    (column,) = proved.columns
    assert column.inputs == ("age", "sex", "zip")
    assert column.sql == "a function of age, sex, zip"
    assert (column.recoding, column.values) == (None, None)
    constants = shape(union(text.format("'child'", "age < 30"), text.format("'x'", "age >= 30")))
    assert constants.columns[0].inputs == ("age",)


def test_the_types_of_a_column_must_be_one():
    sql = union(
        "select age as x from people where age < 30", "select sex as x from people where age >= 30"
    )
    assert found(sql, KNOWN) == ("V17", "a column of the types INTEGER and VARCHAR")
    assert MIXED in prove(sql).assumptions
    same = union(
        "select zip as x from people where age < 30", "select sex as x from people where age >= 30"
    )
    assert MIXED not in prove(same, KNOWN).assumptions


def test_a_collation_of_one_part_is_one_of_the_column():
    sql = union(
        "select name as x from people where age < 30", "select sex as x from people where age >= 30"
    )
    assert [finding.code for finding in prove(sql, KNOWN).findings] == ["V32"]
    bytewise = sql.replace("select name", 'select name collate "binary"')
    assert shape(bytewise, KNOWN).columns[0].inputs == ("age", "name", "sex")


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        ("select sex as x from people", "select sex as x from others",
         "a UNION of people and others"),
        ("select sex as x from people where age < 30",
         "select sex as x, zip from people where age >= 30", "a UNION of different columns"),
        ("select * from people where age < 30", "select sex from people where age >= 30",
         "a UNION of different columns"),
        ("select *, 1 as a from people where age < 30",
         "select *, 1 as b from people where age >= 30", "a UNION of different columns"),
        ("select sex as x from people where age < 30 and random() < 0.1",
         "select sex as x from people where age >= 30", "a UNION of a sample and of all rows"),
        ("select sex as x from people where age < 30 and random() < 0.1",
         "select sex as x from people where age >= 30 and random() < 0.2",
         "a UNION of different samples"),
        (f"select sex as x from people where age < 30 and {DRAWN}",
         f"select sex as x from people where age >= 30 and {DRAWN.replace('id', 'zip')}",
         "a UNION of different samples"),
        ("select sex as x from people where age < 30 and sha256(? || ':u:' || id) < '19'",
         "select sex as x from people where age >= 30 and sha256(? || ':u:' || id) < '19'",
         "a UNION of samples under two parameters"),
        ("select sex as x, count(*) as n from people group by sex",
         "select sex as x, 1 as n from people", "a UNION of groups, of windows or of joins"),
        ("select sex as x, row_number() over (partition by id) as r from people",
         "select sex as x, 1 as r from people", "a UNION of groups, of windows or of joins"),
    ],
)  # fmt: skip
def test_what_are_no_parts_of_one_table(left, right, what):
    codes = {
        finding.message.split("; found ")[1].split("; ")[0]
        for finding in prove(union(left, right)).findings
        if finding.code == "V13"
    }
    assert codes == {what}


def test_a_union_without_all_and_other_set_operations():
    parts = "select sex as x from people where age < 30", "select sex as x from people"
    assert found(union(*parts, word="union")) == ("V13", "UNION without ALL")
    for word in ("except", "intersect"):
        codes = {finding.code for finding in prove(union(*parts, word=word)).findings}
        assert "V13" in codes


def test_a_part_that_cannot_be_read_is_the_only_finding():
    sql = union("select sex as x from people where age < 30", "select 1 as x")
    assert found(sql) == ("V16", "a query without FROM")
    sql = union("select 1 as x", "select sex as x from people where age < 30")
    assert found(sql) == ("V16", "a query without FROM")


def test_parts_that_show_all_columns_of_a_table():
    text = "select * from people where age {}"
    for schema in (None, KNOWN):
        proved = shape(union(text.format("< 30"), text.format(">= 30"), "sex"), schema)
        assert proved.columns[0].sql == '"sex"'


def test_parts_of_samples_are_one_sample():
    keyed = "sha256($salt || ':u:' || id) < '19'"
    for drawn, method in ((DRAWN, "drawn"), (keyed, "keyed"), ("random() < 0.1", "random")):
        text = f"select sex as x from people where {drawn} and age {{}}"
        sql = union(text.format("< 30"), text.format(">= 30"))
        proved = shape(sql.replace("tablesample bernoulli (10%)", ""))
        assert proved.method == method
        assert found(sql) == ("V04", "a second sample of the same rows")


def test_the_place_of_a_row_is_no_column_of_parts():
    text = "select {} as x from people where age {}"
    sql = union(text.format("rowid", "< 30"), text.format("id", ">= 30"))
    assert ("V13", "a UNION of places of rows") in {
        (f.code, f.message.split("; found ")[1].split("; ")[0]) for f in prove(sql).findings
    }


def test_parts_too_many_to_compare():
    parts = " union all ".join(f"select sex as x from people where age = {n}" for n in range(50))
    other = " union all ".join(
        f"select sex as x from people where age = {n}" for n in range(50, 99)
    )
    sql = (
        f"with a as ({parts}), b as ({other}), c as (select * from a union all select * from b)"
        " select x, count(*) as n from c tablesample bernoulli (10%) group by x"
        " having count(*) >= 20"
    )
    messages = [finding.message for finding in prove(sql).findings]
    assert any("found a UNION of too many parts to compare" in message for message in messages)


def test_four_hundred_parts_are_each_looked_at_once(monkeypatch):
    def compared(*_):
        raise AssertionError("two parts of one point each were compared by their ranges")

    monkeypatch.setattr("policy_engine.relations.parts.can_both_hold", compared)
    for column, points in (("age", range(400)), ("sex", [f"'x{i}y'" for i in range(50)])):
        parts = " union all ".join(f"select zip from s where {column} = {p}" for p in points)
        sql = (
            "with s as (select * from people tablesample bernoulli (10 percent)),"
            f" u as ({parts}) select zip, count(*) as n from u group by 1 having count(*) >= 20"
        )
        assert prove(sql).shape.k == 20
        twice = sql.replace(f"{column} = {points[-1]}", f"{points[0]} = {column}")
        messages = [finding.message for finding in prove(twice).findings]
        assert any("a UNION of parts that a row may be in twice" in text for text in messages)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("flag = 'true'", "flag = 't'"),
        ("zip = '1'", "zip = '01'"),
        ("age = 0.1234567", "age = 0.12345671"),
        ("age = 5", "age = 'x'"),
        ("age = 5", "age <= 5"),
        ("age = 5", "sex = 'a'"),
    ],
)
def test_points_that_may_be_one(one, other):
    parts = f"select zip from s where {one} union all select zip from s where {other}"
    sql = (
        "with s as (select * from people tablesample bernoulli (10 percent)),"
        f" u as ({parts}) select zip, count(*) as n from u group by 1 having count(*) >= 20"
    )
    messages = [finding.message for finding in prove(sql).findings]
    assert any("a UNION of parts that a row may be in twice" in text for text in messages)
