"""What the kernel reads out of single texts: the parts that the corpus does not show."""

from fractions import Fraction

import duckdb
import pytest

from policy_engine.errors import UsageError
from policy_engine.expressions.conversions import MIXED
from policy_engine.expressions.datatypes import plain
from policy_engine.relations.assumptions import TIES, UNORDERED
from policy_engine.relations.shape import Term
from policy_engine.syntax.ddl import parse_schema
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

PEOPLE = "people tablesample bernoulli (10%)"
ENOUGH = "having count(*) >= 20"
TYPES = {
    "id": "BIGINT", "age": "INTEGER", "sex": "VARCHAR", "zip": "VARCHAR", "born": "DATE",
    "seen": "TIMESTAMP", "there": "TIMESTAMPTZ", "weight": "DOUBLE", "small": "TINYINT",
    "money": "DECIMAL(18,2)", "wide": "DECIMAL(38,4)", "huge": "HUGEINT", "kind": "ENUM('x','y')",
    "member": "BOOLEAN", "who": "STRUCT(weight DOUBLE)", "where": "STRUCT(zip VARCHAR)",
    "tags": "VARCHAR[]", "lengths": "DOUBLE[]", "u": "UUID",
}  # fmt: skip
KNOWN = Schema({"people": TYPES}, known=True)


def shape(sql, schema=None):
    proof = prove(sql, schema)
    assert [str(finding) for finding in proof.findings] == []
    return proof.shape


def assumed(sql, schema=None):
    proof = prove(sql, schema)
    assert [str(finding) for finding in proof.findings] == []
    return proof.assumptions


def codes(sql, schema=None):
    proof = prove(sql, schema)
    assert proof.shape is None
    return sorted({finding.code for finding in proof.findings})


def release(expression, where=""):
    return f"select {expression} as x, count(*) as n from {PEOPLE} {where} group by 1 {ENOUGH}"


def test_everything_of_a_shape():
    found = shape(
        "create or replace table main.out as with r as (select person, ward, row_number() over"
        " (partition by person order by day desc, cost nulls first, rowid) as rn from visits where"
        " person in (select unit from policy_engine_sample_400000000000000) and ward <> '')"
        " select left(r.ward, 3) as ward, count(*) as n from r where rn = 1"
        f" group by 1 {ENOUGH} order by n desc, 1"
    )
    assert (found.source, found.is_file, found.views) == ("visits", False, ())
    assert (found.unit, found.rate, found.method) == ("person", Fraction(1, 4), "drawn")
    assert (found.k, found.count, found.shown, found.form) == (20, "n", ("ward", "n"), "counts")
    assert (found.target, found.hidden) == ("main.out", ())
    assert (found.one_row, found.filtered, found.ordered) == (True, True, True)
    assert found.order == (Term("n", True), Term("ward"))
    assert found.rank_order == (Term("day", True), Term("cost", False, True), Term("rowid"))
    assert found.columns[0].inputs == ("ward",)
    assert found.columns[0].sql == 'LEFT("ward", 3)'


def test_groups_that_are_not_shown():
    found = shape(f"select count(*) as n from {PEOPLE} group by sex {ENOUGH}")
    assert found.hidden == ('"sex"',)
    assert found.columns == ()


@pytest.mark.parametrize(
    ("order", "is_ordered"),
    [
        ("", False),
        ("order by sex", False),
        ("order by sex, zip", True),
        ("order by all desc", True),
        ("order by 2, 1", True),
        ("order by n, lower(sex)", False),
        ("order by left(zip, 3), sex", True),
        ("order by count(*) desc, sex, zip", True),
    ],
)
def test_order(order, is_ordered):
    sql = f"select sex, left(people.zip, 3) as zip, count(*) as n from {PEOPLE}"
    sql = f"{sql} group by sex, left(people.zip, 3) {ENOUGH} {order}"
    assert shape(sql).ordered is is_ordered
    assert (UNORDERED in assumed(sql)) is not is_ordered


@pytest.mark.parametrize(
    ("order", "is_ordered"),
    [('"ALL"', False), ('"all"', False), ('p."ALL"', False), ("lower('all')", False),
     ("cast('all' as varchar)", False), ('"ALL", sex', True), ("all", True), ("All desc", True)],
)  # fmt: skip
def test_a_column_named_all_is_no_keyword(order, is_ordered):
    """The parser takes all of these for ORDER BY ALL; DuckDB sorts by that column alone."""
    sql = f"""select sex, zip as "ALL", count(*) as n from {PEOPLE}"""
    assert shape(f"{sql} group by sex, zip {ENOUGH} order by {order}").ordered is is_ordered


@pytest.mark.parametrize(
    ("order", "is_ordered"),
    [("order by z", False), ("order by n", False), ("order by z, n", True), ("order by all", True)],
)
def test_order_of_groups_that_show_the_same(order, is_ordered):
    sql = f"select left(zip, 3) as z, count(*) as n from {PEOPLE} group by zip {ENOUGH} {order}"
    assert shape(sql).ordered is is_ordered
    assert (UNORDERED in assumed(sql)) is not is_ordered
    without = f"select left(zip, 3) as z from {PEOPLE} group by zip {ENOUGH} order by z"
    assert shape(without).ordered


@pytest.mark.parametrize(
    ("kind", "is_key"),
    [("BIGINT", True), ("DECIMAL(10, 2)", True), ("UUID", True), ("TEXT", True), ("DATE", True),
     ("BOOLEAN", True), ("ENUM('a', 'b')", True), ("TIMESTAMP", True), ("TIMETZ", False),
     ("INTERVAL", False), ("JSON", False), ("VARIANT", False), ("MAP(TEXT, DOUBLE)", False),
     ("UNION(a INTEGER, b TEXT)", False), ("TEXT[]", False), ("span", False), ("BIT", False),
     ("TIMESTAMPTZ", False), ("TIMESTAMP_NS", False), ("", False)],
)  # fmt: skip
def test_keys_of_a_keyed_sample(kind, is_key):
    sql = "select ward, count(*) as n from visits where sha256(? || ':u:' || k) < '0ccc'"
    schema = Schema({"visits": {"k": kind, "ward": "TEXT"}}, known=True)
    proof = prove(f"{sql} group by ward {ENOUGH}", schema)
    assert [finding.code for finding in proof.findings] == ([] if is_key else ["V04"])
    if not is_key:
        assert f"of type {plain(kind)}"[:12] in proof.findings[0].message


@pytest.mark.parametrize(
    ("kind", "is_key"),
    [("uuid", True), ("DECIMAL(38, 37)[3][]", True), ("ENUM('a', 'b')", True), ("blob", True),
     ("TIMESTAMP WITH TIME ZONE", True), ("time", True), ("json", True), ("span", False),
     ("span[]", False), ("TIMETZ", False), ("TIME WITH TIME ZONE", False), ("VARIANT[]", False),
     ("UNION(a INTEGER)", False), ("STRUCT(a INTEGER)[]", False), ("", False)],
)  # fmt: skip
def test_types_of_groups(kind, is_key):
    schema = Schema({"visits": {"k": kind}}, known=True)
    sql = "select k, count(*) as n from visits tablesample bernoulli (10%) group by k"
    proof = prove(f"{sql} {ENOUGH}", schema)
    assert [finding.code for finding in proof.findings] == ([] if is_key else ["V18"])


def test_the_secrets_are_no_part_of_the_source():
    sql = (
        "select ward, count(*) as n from visits where sha256((select salt from s.salts where"
        f" release_id = 'x') || ':u:' || person) < '0ccc' group by ward {ENOUGH}"
    )
    alone = "s.salts is no source of the release and has a salt and a release_id"
    assert alone in assumed(sql)
    schema = Schema({"visits": {"person": "BIGINT", "ward": "TEXT"}}, known=True)
    assert alone not in assumed(sql, schema)


def test_remedies():
    (finding,) = prove(f"select sex, count(*) as n from people group by 1 {ENOUGH}").findings
    assert finding.message.endswith("write TABLESAMPLE BERNOULLI (10 PERCENT) behind the table")
    rank = "rank() over (partition by person order by day) = 1"
    once = f"select ward, count(*) as n from (select * from visits qualify {rank}) group by ward"
    assert any("row_number() OVER" in finding.message for finding in prove(once).findings)


@pytest.mark.parametrize("sql", ["people.csv", "people.parquet", "a.people.json", "a.people.GZ"])
def test_names_of_files_without_quotes(sql):
    query = f"select sex, count(*) as n from {sql} tablesample bernoulli (10%) group by 1 {ENOUGH}"
    (finding,) = prove(query).findings
    assert finding.code == "V16"
    assert finding.message.endswith(f"a Parquet file is read as '{sql}'")
    assert shape(query, Schema({sql: {"sex": "TEXT"}}, known=True)).source == sql


def test_ties_are_assumed_away():
    sql = (
        "select ward, count(*) as n from (select ward, row_number() over (partition by person{}) as"
        " rn from visits where person in (select unit from policy_engine_sample_400000000000000))"
        f" where rn < 2 group by ward {ENOUGH}"
    )
    assert TIES in assumed(sql.format(" order by day"))
    assert TIES not in assumed(sql.format(" order by day, visits.rowid desc"))


@pytest.mark.parametrize(
    "order",
    ["", " order by null", " order by 1 + 1", " order by person", " order by upper(person)"],
)
def test_an_order_in_which_all_rows_of_a_person_tie(order):
    sql = (
        "select ward, count(*) as n from (select ward, row_number() over (partition by person"
        f"{order}) as rn from visits where person in"
        " (select unit from policy_engine_sample_400000000000000))"
        f" where rn < 2 group by ward {ENOUGH}"
    )
    (finding,) = prove(sql).findings
    assert finding.code == "V10"
    assert "all tie" in finding.message


def test_the_name_of_a_source():
    for name in ("main.people", 'main."peo.ple"', '"peo""ple"'):
        sql = f"select count(*) as n from {name} tablesample bernoulli (10%) {ENOUGH}"
        assert shape(sql).source == name
    assert shape(f"select count(*) as n from {PEOPLE} {ENOUGH}").is_file is False


@pytest.mark.parametrize(
    "expression",
    [
        "cast(small as integer)", "cast(age as double) > 1", "cast(seen as date)",
        "cast(1 as bigint)",
        "cast('2020-02-29' as date)", "cast(null as integer)", "cast(age as integer)",
        "cast('true' as boolean)", "cast(member as integer)", "cast('12:30' as varchar)",
        "seen < '2020-01-01 10:00:00.5'", "born < '2020-01-01'", "small < 99", "age in (1, 2)",
        "money < 12.345", "wide < 100", "huge < 5", "huge < cast(1.5 as double)", "weight < 1e3",
        "kind = 'neither'", "case kind when 'x' then 'y' else kind end", "member or not member",
        "tags[1]", "substring(zip, 1, 2)", "zip[:3]", "zip[-2:]", "age // 10", "age % 7",
        "greatest(age, small)", "coalesce(zip, '?')", "if(member, 1, 2)", "age is null",
        "member is not true", "there at time zone 'UTC'", "seen at time zone 'UTC'",
        "regexp_matches(zip, '^1')", "strftime(seen, '%Y')", "try(age // small)", "where['zip']",
        "case when seen between '0001-01-01' and '9999-12-31' then month(seen) end",
        "(age)", "nullif(age, 0)", "replace(zip, '1', '2')", "-1", "u", "born = born",
        "sign(age)", "round(money)", "floor(age / 10) > 3",
    ],
)  # fmt: skip
def test_cannot_fail(expression):
    sql = release(expression.replace("where[", '"where"['))
    assert not [text for text in assumed(sql, KNOWN) if "fails" in text or "own type" in text]


@pytest.mark.parametrize(
    "expression",
    [
        "cast(age as tinyint)", "cast(zip as date)", "cast(money as decimal(18,2))",
        "cast(u as bigint)",
        "cast('2020-02-30' as date)", "cast('x' as integer)", "cast('150.5' as decimal(3,1))",
        "cast('maybe' as boolean)", "cast(zip as boolean)",
        "small < '1000'", "born < 'yesterday'", "zip = 5", "zip in (1, 2)", "nullif(zip, 1)",
        "case zip when 1 then 2 end", "coalesce(age, 'none')", "case when zip then 1 end",
        "if(born, 1, 2)", "zip and member", "not zip", "zip is true", "age // 0", "age % 0.0",
        "age // age", "left(zip, age)", "substring(zip, 12345678901)", "zip[age]", "zip[1:age]",
        "seen at time zone zip", "seen at time zone 'Mars'", "born at time zone 'UTC'",
        "regexp_matches(zip, zip)", "strftime(seen, zip)", "huge < 1.5", "wide < 1.5",
        "wide = money",
        "money < 0.1234567890123456789", "born < seen", "age = born", "coalesce(born, seen)",
        "u = 'x'", "member = 'x'", "cast(weight as bigint)", "kind = born", "zip['x']",
    ],
)  # fmt: skip
def test_can_fail(expression):
    assert "V17" in codes(release(expression), KNOWN)


@pytest.mark.parametrize(
    "expression",
    [
        "age + 1", "small * 2", "-age", "abs(age)", "date_trunc('month', born)", "round(age, -1)",
        "strftime(born, '%Y')",
    ],
)  # fmt: skip
def test_may_fail_at_the_ends_of_a_range(expression):
    for schema in (None, KNOWN):
        assert any(
            text.endswith("fails on no row") for text in assumed(release(expression), schema)
        )


@pytest.mark.parametrize(
    "expression", ["weight + 1 > 2", "round(weight / 3, 1) < 2", "-weight > 0"]
)
def test_floating_point_does_not_overflow(expression):
    assert not [text for text in assumed(release(expression), KNOWN) if "fails" in text]


@pytest.mark.parametrize(
    "expression",
    ["zip = 5", "zip = age", "sex = 'F'", "coalesce(sex, '?')", "case when member then 1 end",
     "case when sex > 'F' then sex else zip end"],
)  # fmt: skip
def test_mixed_types_are_assumed_away(expression):
    assert any("of their own type only" in text for text in assumed(release(expression)))


def test_numbers_beside_unknown_columns_are_of_their_type():
    sql = release("case when age < 30 then 1 when age is null then 3 else 2 end")
    assert MIXED in assumed(sql)
    assert MIXED not in assumed(sql, KNOWN)


@pytest.mark.parametrize(
    "expression",
    ["weight", "weight * 2", "round(weight)", "coalesce(weight, 0)", "who", "lengths", "1e3",
     "greatest(age, weight)", "cast(age as float)", "weight / 2", "try(weight)", "abs(weight)",
     "cast(lengths as double[])"],
)  # fmt: skip
def test_floating_keys(expression):
    assert "V18" in codes(release(expression), KNOWN)


@pytest.mark.parametrize(
    "expression",
    ["age / 10", "floor(age / 10) * 10", "born - born", "money / 2"],
)
def test_quotients_are_keys_under_an_assumption(expression):
    assert any("negative zero" in text for text in assumed(release(expression), KNOWN))


@pytest.mark.parametrize(
    "expression", ["round(age)", "money + 1", "age + small", "huge + age", "length(zip)",
    "age > weight",
                   "coalesce(age, money)", "tags", "extract(year from born)"],
)  # fmt: skip
def test_exact_keys(expression):
    sql = release(expression)
    found = [text for text in assumed(sql, KNOWN) if "negative zero" in text]
    assert not found or "extract" in expression


def test_an_alias_before_a_column_of_the_source():
    lateral = (
        "select b, c, count(*) as n from (select age + 1 as b, b * 2 as c from"
        f" {PEOPLE}) group by b, c {ENOUGH}"
    )
    assert "people has no column of its own called b" in assumed(lateral)
    assert shape(lateral, KNOWN).columns[1].sql.split() == ["(", '"age"', "+", "1", ")", "*", "2"]
    itself = (
        "select age, c, count(*) as n from (select age + 1 as age, age * 2 as c from"
        f" {PEOPLE}) group by age, c {ENOUGH}"
    )
    assert shape(itself).columns[1].sql == '"age" * 2'


def test_an_alias_of_other_keys_could_hide_a_column():
    hidden = f"select sex, 1 as one, count(*) as n from {PEOPLE} group by sex, one {ENOUGH}"
    assert "people has no column of its own called one" in assumed(hidden)
    plain = f"select left(zip, 3) as area, count(*) as n from {PEOPLE} group by area {ENOUGH}"
    assert not [text for text in assumed(plain) if "of its own" in text]


def test_a_key_that_reads_an_alias():
    sql = f"select left(zip, 3) as area, upper(area) as u, count(*) as n from {PEOPLE}"
    sql = f"{sql} group by area, upper(area) {ENOUGH}"
    assert "people has no column of its own called area" in assumed(sql)
    assert [column.inputs for column in shape(sql).columns] == [("zip",), ("zip",)]


def test_names_for_columns():
    counted = f"(select sex, count(*) from {PEOPLE} group by sex) as c"
    assert shape(f"select s, m from {counted}(s, m) where m >= 20").shown == ("s", "m")
    assert codes(f"select s from {counted}(s) where s >= 20") == ["V30"]
    assert codes(f"select s from {counted}(s, s) where s >= 20") == ["V30"]
    people = "people as p(a, b) tablesample bernoulli (10%)"
    assert codes(f"select a, count(*) as n from {people} group by a {ENOUGH}") == ["V30"]


def test_other_predicates_that_look_like_samples():
    drawn = "(select unit from policy_engine_sample_400000000000000)"
    group = f"group by sex {ENOUGH}"
    sql = f"select sex, count(*) as n from people where {{}} {group}"
    assert codes(sql.format(f"left(zip, 2) in {drawn}")) == ["V04"]
    assert codes(sql.format(f"id in {drawn} and zip in {drawn}")) == ["V04"]
    assert codes(sql.format(f"id in (select unit, 1 from {RESERVED})")) == ["V11"]
    assert codes(sql.format(f"id in (select id from {RESERVED})")) == ["V11"]
    assert codes(sql.format("random() = 0.1")) == ["V06"]
    assert codes(sql.format("sha256(? || ':u:' || rowid) < '19' and now() is null")) == ["V14"]
    keyed = "sha256(? || ':u:' || {}) < '19'"
    assert codes(sql.format(keyed.format("weight")), KNOWN) == ["V04"]
    collated = Schema({"people": {**TYPES, "name": "VARCHAR COLLATE nocase"}}, known=True)
    assert codes(sql.format(keyed.format("name")), collated) == ["V32"]
    assert codes(sql.format(keyed.format("cast(id as integer)"))) == ["V04"]
    assert codes(sql.format(keyed.format("nobody")), KNOWN) == ["V04", "V30"]
    salted = "sha256((select salt from s.salts{}) || ':u:' || id) < '19'"
    assert codes(sql.format(salted.format(""))) == ["V19"]
    assert codes(sql.format("sha256(((select 1) + 1) || ':u:' || id) < '19'")) == ["V19"]
    released = f"select sex from (select sex, count(*) as n from {PEOPLE} {group}) where {{}}"
    assert codes(released.format("random() < 0.1")) == ["V04"]


RESERVED = "policy_engine_sample_400000000000000"


def test_a_row_number_of_its_own():
    schema = Schema({"people": {"rowid": "BIGINT", "sex": "VARCHAR"}}, known=True)
    sql = f"select sex, count(*) as n from people where rowid in (select unit from {RESERVED})"
    assert "rowid is unique in people" in assumed(f"{sql} group by sex {ENOUGH}", schema)
    file = Schema({"p.parquet": {"sex": "VARCHAR"}}, known=True)
    sql = (
        "select sex, count(*) as n from (select * from read_parquet('p.parquet', file_row_number ="
        f" true)) where file_row_number in (select unit from {RESERVED}) group by sex {ENOUGH}"
    )
    assert "one row of p.parquet is one person" in assumed(sql, file)
    assert codes(sql.replace("true", "false"), file) == ["V16"]


def test_repeated_groups():
    released = (
        f"with g as (select sex, count(*) as n, n * 2 as m from {PEOPLE} group by sex {ENOUGH})"
    )
    assert shape(f"{released} select sex, unnest(range(n)) as i from g").form == "rows"
    for wrong in ("range(m)", "range(1, n)", "generate_series(n)", "n", "range(sex)"):
        assert "V02" in codes(f"{released} select sex, unnest({wrong}) as i from g")
    twice = f"{released}, r as (select sex, n, unnest(range(n)) as i from g)"
    assert codes(f"{twice} select sex, unnest(range(n)) as j from r") == ["V02"]


def test_what_is_no_threshold():
    sql = f"select sex, count(*) as n from {PEOPLE} group by sex having {{}}"
    assert codes(sql.format("20 >= count(*)")) == ["V09"]
    assert codes(sql.format("count(*) = 20")) == ["V09"]
    assert shape(sql.format("19.5 < count(*)")).k == 20
    assert shape(sql.format("count(*) >= 19.5 and n > 20")).k == 21
    assert shape(sql.format("(cast(count(1) as bigint)) >= 20")).k == 20
    assert codes(sql.format("count(sex, zip) >= 20")) == ["V08", "V09"]


def test_views():
    schema = parse_schema(
        "create table people (id bigint, sex text); create view a as select * from people;"
        "create view b as select sex, id from a; create view broken as select max(id) from people;"
        "create view odd as select $$x$$;",
        "duckdb",
    )
    keyed = "where sha256(? || ':u:' || id) < '19'"
    sql = f"select sex, count(*) as n from {{}} {keyed} group by sex {ENOUGH}"
    found = shape(sql.format("b"), schema)
    assert (found.source, found.views) == ("people", ("b", "a"))
    assert "V08" in codes(sql.format("broken"), schema)
    assert codes(sql.format("odd"), schema) == ["V02"]
    chain = {"v0": "select * from people"} | {
        f"v{i}": f"select * from v{i - 1}" for i in range(1, 40)
    }
    deep = Schema({"people": {"id": "BIGINT", "sex": "TEXT"}}, chain, known=True)
    assert shape(sql.format("v20"), deep).views[0] == "v20"
    assert codes(sql.format("v39"), deep) == ["V16"]


def test_findings_of_a_view_stand_where_it_is_read():
    schema = Schema({}, {"v": "select\n\n\n now() from people"}, known=True)
    proof = prove(f"select 1 as x,\n count(*) as n from v group by 1 {ENOUGH}", schema)
    assert {
        (finding.line, finding.column) for finding in proof.findings if finding.code == "V14"
    } == {(2, 21)}


def test_deep_nesting_is_a_finding(monkeypatch):
    from policy_engine.verify import proof

    def deep(*_):
        raise RecursionError

    monkeypatch.setattr(proof, "_prove", deep)
    found = prove("select 1")
    assert [finding.code for finding in found.findings] == ["V02"]
    assert "nested too deeply" in found.findings[0].message


def test_the_parser_may_fail_as_it_likes(monkeypatch):
    from sqlglot.dialects import DuckDB

    def broken(*_, **__):
        raise TypeError

    monkeypatch.setattr(DuckDB, "parser", broken)
    assert codes("select 1") == ["V01"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("create table a.b.t (x integer, y text collate nocase, z decimal(38, 2))",
         {"a.b.t": {"x": "INT", "y": "TEXT COLLATE nocase", "z": "DECIMAL(38, 2)"}}),
        ('create table "a.b" (x real);;', {'"a.b"': {"x": "REAL"}}),
        ('{"t": {"x": "INTEGER"}}', {"t": {"x": "INTEGER"}}),
        ('{"tables": {"t": {"x": "INTEGER"}}, "views": {"v": ""}}', {"t": {"x": "INTEGER"}}),
    ],
)  # fmt: skip
def test_schema(text, found):
    schema = parse_schema(text, "duckdb")
    assert schema.tables == found
    assert schema.known


@pytest.mark.parametrize(
    "text",
    ["create table t as select 1", "select 1", "create sequence s", "create table", "{", "{]",
     '{"t": ["x"]}', '{"tables": {}, "views": {"v": 1}}', '{"tables": {}, "views": []}',
     '{"tables": []}', "create view v"],
)  # fmt: skip
def test_no_schema(text):
    with pytest.raises(UsageError, match="the schema must be CREATE TABLE statements, or JSON"):
        parse_schema(text, "duckdb")


def test_names_in_a_schema():
    schema = Schema(
        {"a.t": {}, "b.t": {"x": "INTEGER"}, "u": {"y": "TEXT"}}, {"a.v": ""}, known=True
    )
    assert schema.columns("B.T") == {"x": "INTEGER"}
    assert schema.columns("db.b.t") == {"x": "INTEGER"}
    assert schema.columns("t") is None  # one of two
    assert schema.columns("main.u") == {"y": "TEXT"}
    assert schema.view("v") == ""
    assert schema.view("b.v") is None


def test_without_a_schema_a_division_is_an_assumption():
    assert "age // hours fails on no row" in assumed(release("age // hours"))


@pytest.mark.parametrize("text", ["select 'a", "select 1 where @x"])
def test_text_that_the_parser_cannot_cut(text, monkeypatch):
    assert codes(text) == ["V02"]


def test_text_that_two_parsers_cut_differently(monkeypatch):
    from sqlglot.dialects import DuckDB
    from sqlglot.errors import TokenError

    whole = DuckDB.Tokenizer.tokenize
    monkeypatch.setattr(DuckDB.Tokenizer, "tokenize", lambda self, sql: whole(self, sql)[1:])
    assert codes("select 1") == ["V02"]

    def broken(*_):
        raise TokenError("no")

    monkeypatch.setattr(DuckDB.Tokenizer, "tokenize", broken)
    assert codes("select 1") == ["V02"]


def test_of_types_that_are_not_known_no_more_is_assumed_than_is_needed():
    assert "household / age fails on no row" in assumed(release("household / age"))
    assert assumed(release("age / 10")) == assumed(release("age"))
    assert MIXED in assumed(release("contains(zip, '1')"))
    assert "EXTRACT(era FROM born) fails on no row" in assumed(release("era(born)"))
    assert shape(release("date_diff('year', born, '2020-01-01')"), KNOWN).k == 20
    distance = "DATE_DIFF('DAY', born, seen) fails on no row"
    assert distance in assumed(release("date_diff('day', born, seen)"))


def test_a_pattern_that_is_not_known_to_compile_is_an_assumption():
    assert "REGEXP_EXTRACT(zip, '(?i)a') fails on no row" in assumed(
        release("regexp_extract(zip, '(?i)a')")
    )
    assert "REGEXP_EXTRACT(zip, 'a+') fails on no row" not in assumed(
        release("regexp_extract(zip, 'a+')")
    )


def test_a_time_in_utc_needs_no_assumption_about_zones():
    plain = assumed(release("strftime(seen, '%Y')"), KNOWN)
    assert assumed(release("strftime(there at time zone 'UTC', '%Y')"), KNOWN) == plain
    day = assumed(release("date_trunc('day', there at time zone 'UTC')"), KNOWN)
    assert set(day) - set(plain) == {"DATE_TRUNC('DAY', there AT TIME ZONE 'UTC') fails on no row"}
    assert codes(release("strftime(there at time zone 'Europe/Paris', '%Y')"), KNOWN) == ["V17"]


def test_a_tilde_asks_of_any_part_of_a_text():
    assert duckdb.sql("select 'abc' ~ 'b'").fetchall() == [(True,)]
    asked = ("zip ~ 'a'", "regexp_matches(zip, 'a')")
    assert [shape(release(sql)).columns[0].sql for sql in asked] == [
        "REGEXP_MATCHES(\"zip\", 'a')"
    ] * 2


@pytest.mark.parametrize(
    ("sample", "share"),
    [
        ("10%", "10"),
        ("reservoir (0.5%)", "0.5"),
        ("bernoulli (10)", "p"),
        ("system (? percent)", "p"),
    ],
)
def test_another_sample_is_told_what_to_write(sample, share):
    query = f"select count(*) from people tablesample {sample} having count(*) >= 20"
    (finding,) = prove(query).findings
    assert finding.code == "V04"
    assert finding.message.endswith(f"; write TABLESAMPLE BERNOULLI ({share} PERCENT)")


def test_the_rate_of_a_bound_with_every_digit():
    def rate(comparison, bound):
        query = (
            f"select count(*) from people where sha256(? || ':u:' || id) {comparison} '{bound}'"
            " having count(*) >= 20"
        )
        return prove(query).shape.rate

    half = "7" + "f" * 63
    assert rate("<=", half) == Fraction(1, 2)
    assert rate("<", half) == Fraction(1, 2) - Fraction(1, 16**64)
    assert rate("<=", "8") == rate("<", "8") == Fraction(1, 2)


def test_fields_of_a_struct_are_no_columns():
    text = "create table t (a double, s struct(a integer, b text), check (a > 0))"
    schema = parse_schema(text, "duckdb")
    assert schema.columns("t") == {"a": "DOUBLE", "s": "STRUCT(a INT, b TEXT)"}


@pytest.mark.parametrize(
    ("source", "found"), [('temp.main."people.csv"', []), ("people.csv", ["V16"])]
)
def test_a_temporary_table_may_be_called_as_the_file_it_was_read_from(source, found):
    sample = f"from {source} tablesample bernoulli (10%)"
    text = f"select sex, count(*) {sample} group by sex having count(*) >= 20"
    assert sorted({finding.code for finding in prove(text).findings}) == found
