"""Joins to lookups that are declared public: by their key, once a row, and by nothing else."""

import pytest

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

TYPES = {
    "people": {
        "id": "BIGINT", "household": "INTEGER", "sex": "VARCHAR", "zip": "VARCHAR",
        "ward": "INTEGER", "name": "VARCHAR COLLATE nocase", "wd": "DOUBLE", "wt": "VARCHAR",
    },
    "lk": {"code": "VARCHAR", "label": "VARCHAR"},
    "numbers": {"code": "BIGINT", "label": "VARCHAR"},
    "wards": {"ward": "VARCHAR", "pid": "BIGINT", "label": "VARCHAR"},
}  # fmt: skip
PUBLIC = {"lk": "code", "numbers": "code", "wards": "ward"}
KNOWN, OPEN = Schema(TYPES, known=True, public=PUBLIC), Schema(public=PUBLIC)
SAMPLE = "sha256($s || ':u:' || p.id) < '0ccc'"


def labels(joins: str, where: str = SAMPLE) -> str:
    return (
        f"select lk.label, count(*) as n from people p {joins} where {where}"
        " group by lk.label having count(*) >= 20 order by lk.label"
    )


@pytest.mark.parametrize("schema", [KNOWN, OPEN], ids=["known", "open"])
@pytest.mark.parametrize(
    "joins",
    [
        "join lk on lk.code = p.zip",
        "left join lk on p.zip = lk.code",
        "left outer join lk on lk.code = left(p.zip, 3)",
        "inner join lk on lk.code = p.zip left join numbers as m on m.code = p.ward",
    ],
)
def test_a_lookup_by_its_key_is_a_function_of_the_row(joins, schema):
    proof = prove(labels(joins), schema)
    assert [str(finding) for finding in proof.findings] == []
    (column,) = proof.shape.columns
    assert (column.name, column.inputs) == ("label", ("zip",))
    assert column.public is not None and column.public.startswith("lk.label of ")
    told = "lk is public: it does not depend on people, and has one row for each code"
    assert told in proof.assumptions


REFUSED = {
    "another relation": labels("join visits as lk on lk.code = p.zip"),
    "another column": labels("join lk on lk.label = p.zip"),
    "no condition": labels("cross join lk"),
    "more than a key": labels("join lk on lk.code = p.zip and lk.label > 'a'"),
    "another comparison": labels("join lk on lk.code <= p.zip"),
    "the other side": labels("right join lk on lk.code = p.zip"),
    "a name that may be the lookup's own": labels("join lk on lk.code = label"),
    "a query of its name": "with lk as (select zip as code, name as label from people) "
    + labels("join lk on lk.code = p.zip"),
    "names of its own": labels("join lk(label, code) on lk.code = p.zip"),
    "a sample of it": labels("join lk tablesample bernoulli (10%) on lk.code = p.zip"),
    "a collation": labels("join lk on lk.code = p.name"),
    "a floating-point number": labels("join numbers as lk on lk.code = p.wd"),
    "another type": labels("join lk on lk.code = p.ward"),
    "another type by USING": labels("join wards as lk using (ward)"),
    "a sample above it": labels("join lk on lk.code = p.zip", "random() < 0.1"),
    "the source itself": "select q.sex, count(*) as n from people p join people q on q.id = p.id"
    f" where {SAMPLE} group by q.sex having count(*) >= 20 order by q.sex",
}


@pytest.mark.parametrize("sql", REFUSED.values(), ids=REFUSED)
def test_any_other_join_is_refused(sql):
    schema = Schema(TYPES, known=True, public={**PUBLIC, "people": "id"})
    proof = prove(sql, schema)
    assert {finding.code for finding in proof.findings} & {"V13", "V04", "V17", "V06"}


def test_groups_are_not_joined_by_their_count():
    sql = (
        f"with c as (select p.sex, count(*) as n from people p where {SAMPLE} group by p.sex)"
        " select m.label, sum(c.n) as t from c join numbers m on m.code = c.n"
        " group by m.label having sum(c.n) >= 20 order by m.label"
    )
    assert "V13" in {finding.code for finding in prove(sql, KNOWN).findings}


def test_an_alias_that_the_lookup_has_as_a_column_decides_nothing():
    sql = (
        "with s as (select p.sex, p.household as pid from people p join wards w on w.ward = p.wt"
        " where sha256($s || ':u:' || pid) < '0ccc') select sex, count(*) as n from s"
        " group by sex having count(*) >= 20 order by sex"
    )
    for schema in (KNOWN, OPEN):
        assert "V30" in {finding.code for finding in prove(sql, schema).findings}
