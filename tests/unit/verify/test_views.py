"""A view is followed to its table where each of its rows is one unit's."""

import pytest

from policy_engine.errors import NotCertifiable
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import table_below

PEOPLE = {"person": "INTEGER", "age": "INTEGER"}
LATEST = """\
select person, age from (select *, row_number() over (partition by person order by age) as place
from main.people) where place = 1"""

SAMPLED = """\
select person, age from db.main.people
where rowid in (select unit from policy_engine_sample_199999999999999)"""


def below(body, unit=None, second=None):
    views = {"db.main.seen": body} | ({"db.main.first": second} if second else {})
    tables = dict.fromkeys(("db.main.people", *views), PEOPLE)
    schema = Schema(tables, views, known=True)
    return table_below(("db", "main", "seen"), tuple(PEOPLE), schema, unit)


@pytest.mark.parametrize(
    ("body", "unit"),
    [
        ("select person, age from db.main.people", None),
        ("select person, age from db.main.people where age > 17", None),
        ("select person, case when age > 17 then 18 end as age from db.main.people", "person"),
        (LATEST.replace("main.people", "db.main.people"), "person"),
    ],
)
def test_a_view_of_rows_is_of_its_table(body, unit):
    assert below(body, unit) == "db.main.people"


def test_a_view_of_a_view_is_of_the_table_below_both():
    first = "select person, age from db.main.people"
    assert below("select person, age from db.main.first", second=first) == "db.main.people"


@pytest.mark.parametrize(
    ("body", "unit"),
    [
        (LATEST.replace("main.people", "db.main.people"), None),
        (LATEST.replace("main.people", "db.main.people"), "age"),
        ("select distinct person, age from db.main.people", None),
        ("select person, max(age) as age from db.main.people group by person", "person"),
        ("select person, age from db.main.people group by person, age", "person"),
        ("select person, age from db.main.people tablesample bernoulli (10%)", None),
        (SAMPLED, None),
        ("select person, age + 1 as age from db.main.people", None),
        ("select person, age from db.main.people union all select 1, 2", None),
        ("select * from db.main.people using sample 50 percent (bernoulli)", "person"),
        ("not sql at all", None),
    ],
)
def test_a_view_whose_rows_depend_on_others_is_refused(body, unit):
    with pytest.raises(NotCertifiable):
        below(body, unit)
