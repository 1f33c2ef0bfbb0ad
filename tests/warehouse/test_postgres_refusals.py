"""PostgreSQL, a real server: what a role or a URL lacks is named, and names are the catalog's."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from policy_engine.errors import NotCertifiable, PolicyError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project, load_project_text
from policy_engine.releasing.planning import paying_account, prepare
from policy_engine.warehouse.connecting import connected
from policy_engine.warehouse.postgres import PostgresWarehouse

POLICY = """\
version: 1
name: visits
source: {{table: {relation}}}
privacy_unit: {{column: {key}, rows: {{first_by: [{order} desc]}}}}
recode: {{{recode}: {{bins: [40]}}}}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 9, delta: 0.9}}
release: {{file: out.parquet}}
"""


@pytest.fixture(scope="module")
def visits(postgres):
    postgres.sql(
        "create schema hospital",
        "create table hospital.visits as select n % 100 as person_id, n as day, n % 80 as age,"
        " 'secret' as note from generate_series(1, 400) as n",
        "create materialized view hospital.recent as"
        " select person_id, day, age from hospital.visits where day > 100",
        "create view hospital.younger as select * from hospital.recent where age < 60",
        "create materialized view hospital.counted as"
        " select person_id, max(day) as day, max(age) as age from hospital.visits group by 1",
        "create role reader login",
    )
    return postgres


def policy_of(tmp_path, relation="hospital.visits", key="person_id", order="day", recode="age"):
    text = POLICY.format(relation=relation, key=key, order=order, recode=recode)
    return load_policy_text(text, tmp_path / "policy.yaml", tmp_path)


def rows_of(policy, url):
    with closing(PostgresWarehouse("pg", url)) as warehouse:
        certificate, table = prepare(policy, default_project(policy.directory), warehouse)
        warehouse.check_reads(policy, table, certificate.query)
        warehouse.hold(policy, table)
        with warehouse.sampled(policy, table, bytes(16)):
            return warehouse.rows(certificate.query).to_pylist()


def test_a_policy_may_write_every_name_in_another_case(visits, tmp_path):
    wanted = rows_of(policy_of(tmp_path), visits.url)
    found = rows_of(policy_of(tmp_path, key="Person_ID", order="Day", recode="AGE"), visits.url)
    assert [tuple(row.values()) for row in found] == [tuple(row.values()) for row in wanted]
    assert len(wanted) == 2


# Materialised views: the author says whose their rows are


@pytest.mark.parametrize("relation", ["hospital.recent", "hospital.younger"])
def test_a_materialised_view_is_released_by_its_authors_word(visits, tmp_path, relation):
    project = default_project(tmp_path)
    told = f"{relation}, view: rowwise"
    policy = replace(policy_of(tmp_path, told), declared_budget=True, budget="people")
    with closing(PostgresWarehouse("pg", visits.url)) as warehouse:
        _, table = prepare(policy, project, warehouse)
        assert paying_account(policy, project, table) == "people"
        with pytest.raises(PolicyError, match="account must name the account that pays"):
            prepare(policy_of(tmp_path, told), project, warehouse)
    assert rows_of(policy, visits.url)


@pytest.mark.parametrize("relation", ["hospital.recent", "hospital.counted"])
def test_a_materialised_view_without_it_is_refused(visits, tmp_path, relation):
    with (
        closing(PostgresWarehouse("pg", visits.url)) as warehouse,
        pytest.raises(NotCertifiable, match="is a view; if each of its rows comes from"),
    ):
        prepare(policy_of(tmp_path, relation), default_project(tmp_path), warehouse)


@pytest.mark.parametrize(
    ("relation", "hint"),
    [("hospital.vists", "; did you mean 'hospital.visits'?"), ("nothing.of_the_kind", "")],
)
def test_a_relation_that_is_not_there_is_told_with_what_is_meant(visits, relation, hint):
    with (
        closing(PostgresWarehouse("pg", visits.url)) as warehouse,
        pytest.raises(WarehouseError) as caught,
    ):
        warehouse._described(warehouse._full_name(relation))
    assert str(caught.value) == f"the warehouse has no table or view {relation}{hint}"


# Rights


_NO_SCHEMA = (
    "the role reader may not use the schema hospital; it needs USAGE on it, and CREATE to release"
    " into it"
)
_NO_COLUMN = (
    'the role may not read {} of hospital.visits: GRANT SELECT ({}) ON "hospital"."visits" to it,'
    " or release with a role that may"
)
_USAGE = "usage on schema hospital"


@pytest.mark.parametrize(
    ("granted", "told"),
    [
        ([], _NO_SCHEMA),
        ([_USAGE], _NO_COLUMN.format("person_id, day, age", '"person_id", "day", "age"')),
        (
            [_USAGE, "select (person_id, day) on hospital.visits"],
            _NO_COLUMN.format("age", '"age"'),
        ),
    ],
)
def test_a_right_that_the_role_lacks_is_named(visits, tmp_path, granted, told):
    visits.sql("revoke all on hospital.visits from reader",
               "revoke all on schema hospital from reader",
               *(f"grant {each} to reader" for each in granted))  # fmt: skip
    with pytest.raises(WarehouseError) as caught:
        rows_of(policy_of(tmp_path), visits.url_of("reader"))
    assert str(caught.value) == told


def test_the_rights_that_the_documentation_names_suffice(visits, tmp_path):
    visits.sql(
        "grant usage on schema hospital to reader",
        "grant select (person_id, day, age) on hospital.visits to reader",
    )
    assert rows_of(policy_of(tmp_path), visits.url_of("reader"))


# Connections


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (("/postgres?", "/nowhere?"), "there is no such database (host /tmp/"),
        (("postgres@", "nobody:hunter2@"), "there is no such role (host /tmp/"),
        (("host=/tmp", "host=/tmp/gone"), "nothing listens there (host /tmp/gone/"),
    ],
)
def test_why_it_does_not_connect_is_told(visits, changed, told):
    with pytest.raises(WarehouseError) as caught:
        PostgresWarehouse("pg", visits.url.replace(*changed))
    assert str(caught.value).startswith(f"warehouse pg: {told}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "told"),
    [("127.0.0.1:1", "nothing listens there"), ("no-such-host.invalid", "there is no such host")],
)
def test_a_host_that_is_not_there_is_told(host, told):
    with pytest.raises(WarehouseError, match=f"warehouse pg: {told} \\(host"):
        PostgresWarehouse("pg", f"postgresql://ann@{host}/w")


def test_a_dbt_profile_may_have_any_schema_and_role(visits, tmp_path):
    visits.sql('create schema "x y\\"', 'create table "x y\\".t (a int)', 'create role "a b"',
               'grant usage on schema "x y\\" to "a b"',
               'grant select on "x y\\".t to "a b"')  # fmt: skip
    (tmp_path / "profiles.yml").write_text(
        f"shop: {{target: t, outputs: {{t: {{type: postgres, host: {visits.folder}, port: 5432,"
        " user: postgres, dbname: postgres, schema: 'x y\\', role: 'a b'}}}\n"
    )
    text = "warehouses: {w: {type: dbt, profile: shop}}"
    named = load_project_text(text, tmp_path / "policy-engine.yaml", tmp_path).warehouse
    with closing(connected(named)) as warehouse:
        assert warehouse._full_name("t") == ("x y\\", "t")
        assert [column.name for column in warehouse._described(("x y\\", "t")).columns] == ["a"]
        assert warehouse.ask("select current_role::text") == [("a b",)]
