"""The reader of SQL says what a parser says, and overlooks nothing that hides a relation."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sqlglot
from sqlglot.optimizer.scope import traverse_scope

from policy_engine.dbt.naming import shown
from policy_engine.dbt.relations import reads_of

GOLDEN = Path(__file__).parents[2] / "golden"
DIALECTS = ("duckdb", "postgres", "snowflake", "bigquery", "spark", "trino", "tsql", "mysql")
ENGINES = {*DIALECTS, "clickhouse", "databricks", "redshift", "sqlite"}
RELEASES = [file for file in sorted(GOLDEN.rglob("*.sql")) if file.parent.name in ENGINES]


class Writer:
    """Writes queries, now and then with what is easily misread."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def query(self, depth: int = 0, queries: tuple[str, ...] = ()) -> str:
        text = ""
        if self.random.random() < 0.4 and depth < 3:
            names = [self.random.choice(["a", "b", "people", "src"]) for _ in range(2)]
            parts = []
            for name in dict.fromkeys(names):
                how = self.random.choice(["as", "AS MATERIALIZED", "as not materialized", "as"])
                parts.append(f"{name} {how} ({self.query(depth + 1, queries)})")
                queries = (*queries, name)
            text = f"with {', '.join(parts)} "
        text += self.select(depth, queries)
        if self.random.random() < 0.2:
            text += f" union all {self.select(depth, queries)}"
        return text

    def select(self, depth: int, queries: tuple[str, ...]) -> str:
        items = ", ".join(self.item(depth, queries) for _ in range(self.random.randint(1, 3)))
        text = f"select {items}"
        if self.random.random() < 0.95:
            text += f" from {self.tables(depth, queries)}"
        if self.random.random() < 0.4:
            text += f" where {self.condition(depth, queries)}"
        if self.random.random() < 0.2:
            text += " group by 1 having count(*) > 2"
        if self.random.random() < 0.2:
            text += " order by 1, 2 desc"
        return text

    def tables(self, depth: int, queries: tuple[str, ...]) -> str:
        text = self.table(depth, queries)
        for _ in range(self.random.choice([0, 0, 1, 2])):
            how = self.random.choice([",", "join", "left join", "cross join", "full outer join"])
            text += (
                f" {how} {self.table(depth, queries)}"
                if how != ","
                else ", " + self.table(depth, queries)
            )
            if how not in {",", "cross join"}:
                text += " on x.id = y.id"
        return text

    def table(self, depth: int, queries: tuple[str, ...]) -> str:
        name = self.random.choice(
            ["people", "main.people", 'raw."People"', '"t"', *queries, *queries, "-- from x\n t2"]
        )
        if self.random.random() < 0.25 and depth < 3:
            name = f"({self.query(depth + 1, queries)})"
        alias = self.random.choice([" as x", " y", " as people", " src", " z"])
        return name + alias

    def item(self, depth: int, queries: tuple[str, ...]) -> str:
        if self.random.random() < 0.15 and depth < 3:
            return f"({self.query(depth + 1, queries)}) as s"
        return self.random.choice(
            [
                "1 as one", "people.id", "count(*) as n", "'from people' as label", "x.from_date",
                "extract(year from born) as y", "trim(both from name) as t", '"from" as f',
                "case when a is distinct from b then 'it''s' end as c", "/* from x */ 2 as two",
                "row_number() over (partition by a order by b) as r", "coalesce(a, b) as k",
                "cast(a as varchar) as v", "1.5 as d", "sum(a) filter (where b > 1) as g",
            ]
        )  # fmt: skip

    def condition(self, depth: int, queries: tuple[str, ...]) -> str:
        if self.random.random() < 0.4 and depth < 3:
            how = self.random.choice(["exists", "a in", "a not in", "3 <"])
            return f"{how} ({self.query(depth + 1, queries)})"
        return self.random.choice(["a = 1", "b in (1, 2)", "c is null -- join y\n", "d like 'x%'"])


def parsed(text: str, dialect: str) -> set[str]:
    """The relations that a parser finds, with the scopes of queries."""
    found = set()
    for statement in sqlglot.parse(text, read=dialect):
        for scope in traverse_scope(statement):
            for table in scope.tables:
                if table.args.get("db") or table.name not in {"", *scope.cte_sources}:
                    found.add(".".join(part.name for part in table.parts))
    return found


def assert_alike(text: str, dialect: str) -> None:
    """A name that is perhaps a query of its own is one that the parser may find or not."""
    reads = reads_of(text, dialect).names
    sure = {shown(read.name) for read in reads if read.sure}
    assert sure <= parsed(text, dialect) <= {shown(read.name) for read in reads}, text


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.evidence) for seed in range(1, 5))]
)
def test_reader_and_parser_agree_on_what_nobody_wrote(dialect: str, seed: int) -> None:
    writer = Writer(seed)
    texts = [writer.query() for _ in range(80)]
    if dialect in {"bigquery", "spark", "mysql"}:
        texts = [text.replace('"', "`").replace("''", "") for text in texts]
    if dialect in {"snowflake", "bigquery"}:
        texts = [text.replace("trim(both from name)", "trim(name)") for text in texts]
    for text in texts:
        assert_alike(text, dialect)


@pytest.mark.parametrize("file", RELEASES, ids=lambda file: file.parent.name)
def test_reader_and_parser_agree_on_releases(file: Path) -> None:
    text = file.read_text()
    query = text[text.index(" AS\n") + 4 :] if "CREATE TABLE" in text else text
    assert_alike(query, file.parent.name)


# One a line: the dialect, the relation that is read, and a text that hides it.
HIDDEN = [
    ("duckdb", "people", "select * from (from people)"),
    ("duckdb", "people", "select 1 where exists (from people)"),
    ("duckdb", "people", "table people"),
    ("duckdb", "people", "summarize people"),
    ("duckdb", "people", "pivot people on a using sum(b)"),
    ("duckdb", "people", "select 1.from people"),
    ("duckdb", "people", "select * from a positional join people"),
    ("duckdb", "people", "from x: people"),
    ("mysql", "people", "select * from a straight_join people"),
    ("mysql", "people", "select 1 /*!50000 union select x from people */"),
    ("mysql", "people", "select 5--1 union select x from people"),
    ("mariadb", "people", "select 1 /*M! union select x from people */"),
    ("postgres", "people", "select $a$ ' $a$ , x from people where y = ' '"),
    ("postgres", "people", "select pg_catalog.table_to_xml('people', true, true, '')"),
    ("postgres", "people", "select \"query_to_xml\"('select * from people', true, true, '')"),
    ("postgres", "people", "select * from only people"),
    ("postgres", "people", "select * from rows from (generate_series(1, 2), f(people))"),
    ("postgres", "people", "select E'\\'' , x from people where y = ' '"),
    ("bigquery", "people", "select '''it's''' , x from people where y = ' '"),
    ("bigquery", "d.people", "from d.people |> select a"),
    ("bigquery", "d.people", "select * from ml.predict(model `d.m`, table d.people)"),
    ("bigquery", "my-project.d.people", "select * from my-project.d.people"),
    ("snowflake", "people", "select * from identifier('people')"),
    ("snowflake", "people", "select * from table('people')"),
    ("snowflake", "people", "select * from people at (offset => -60)"),
    ("postgres", "people", "select * from ((a join people on true) join b on true)"),
    ("spark", "people", "select * from t lateral view explode(x) e as y, people"),
    ("clickhouse", "people", "select t.1 from people"),
    ("clickhouse", "people", "select * from t global any left join people using (id)"),
    ("snowflake", "people", "select * from values (1), (2) as v(a), people"),
    ("databricks", "d.people", "select * from stream d.people"),
    ("tsql", "people", "select * from db..people"),
    ("tsql", "people", "select * from [people]"),
    ("tsql", "people", "select * from a cross apply (select * from people) b"),
    ("clickhouse", "people", "select 1 in people"),
    ("clickhouse", "db.people", "select dictGet('db.people', 'a', 1)"),
    ("trino", "people", "select * from table(system.query(query => 'select * from people'))"),
    ("redshift", "people", "unload ('select * from people') to 's3://x'"),
    ("databricks", "people", "select * from identifier('people')"),
    ("databricks", "people", "select * from table_changes('people', 0)"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "name", "text"), HIDDEN, ids=lambda part: str(part)[:40])
def test_what_is_easily_overlooked_is_seen(dialect: str, name: str, text: str) -> None:
    reads = reads_of(text, dialect)
    assert name in {shown(each.name) for each in (*reads.names, *reads.calls)}


@pytest.mark.parametrize(
    "text",
    [
        "select 'from people' as a",
        "select 1 as a -- from people",
        "select /* from people */ 1",
        "select extract(year from born) from t",
        "select a is distinct from b from t",
        'select "from" as f from t',
        "with t as (select 1) select * from t",
        "select * from values (1, 'people'), (2, 'b') as t(people)",
        "with recursive t as (select 1 union all select 2) select * from t",
    ],
)
def test_what_only_looks_like_a_relation_is_none(text: str) -> None:
    found = {shown(read.name) for read in reads_of(text, "duckdb").names}
    assert found <= {"t"}


#: What an attacker hid a relation behind: by dialect, texts that read ``people``.
HIDDEN = [
    ("duckdb", "select * from t as start, people"),
    ("duckdb", "select * from t sort, people"),
    ("duckdb", "select * from t as minus, people"),
    ("clickhouse", "select * from t as offset, people"),
    ("duckdb", "select * from t join (select 1 as start) s on start = t.a, people"),
    ("bigquery", "select x from d.t t, unnest(t.arr) as x with offset as pos, d.people p"),
    ("bigquery", "select 1 from d.2020_people"),
    ("duckdb", "with y as (select 1) pivot people on city using count(*)"),
    ("duckdb", "select * from values (1) v(a), (people)"),
    ("duckdb", "select * from values (1) v(a), (people p join q on true)"),
    ("postgres", "select * from (values (E'\\'')) v(x), people where ' ' = ' '"),
    ("duckdb", "select * from t /* /* */ ' */ , people where ' ' = ' '"),
    ("duckdb", "select $A$ $a$ $A$, email from people where email <> $A$ $A$"),
    ("mysql", "select $a$ from people where b = $a$"),
    ("clickhouse", "select email # it's\nfrom people -- it's"),
    ("spark", "select r'\\' as a, x from people where b = 'c'"),
    ("duckdb", "select 1 as a --x\r, email from people"),
    ("mysql", "select 1 from t use index for order by (i), people"),
    ("tsql", "select 1 from ..people"),
    ("clickhouse", "select dictGetString('people', 'email', id) from t"),
    ("postgres", "select ts_stat('select email from people') from t"),
]


@pytest.mark.parametrize(("dialect", "text"), HIDDEN)
def test_what_an_attacker_hid_is_seen(dialect, text):
    found = reads_of(text, dialect)
    last = {read.name[-1].text for read in found.names}
    assert {"people", "2020_people"} & last


def test_a_lambda_and_an_alias_are_no_relation():
    found = reads_of("select apply([1, 2], lambda x: x + 1) from t as a order by a.x, 2", "duckdb")
    assert [read.name[-1].text for read in found.names] == ["t"] and not found.calls
