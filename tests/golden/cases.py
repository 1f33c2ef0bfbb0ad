"""The golden cases: each a policy over one small source, and the text that is reviewed.

To write the texts anew after a change that is meant: ``python tests/golden/cases.py``, and
read the difference before it is committed.
"""

from __future__ import annotations

from pathlib import Path

from policy_engine.compile.catalog import Column, Table
from policy_engine.compile.compiler import compiled_plan
from policy_engine.compile.plan import Plan
from policy_engine.compile.rendering import render
from policy_engine.dialects import dialect_named
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy

FOLDER = Path(__file__).parent / "duckdb"

COLUMNS = {
    "person": "BIGINT",
    "age": "INTEGER",
    "income": "DECIMAL(10,2)",
    "weight": "DOUBLE",
    "zip": "VARCHAR",
    "name": "VARCHAR COLLATE nocase",
    "sex": "ENUM('f', 'm')",
    "married": "BOOLEAN",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "moved": "TIMESTAMP WITH TIME ZONE",
    'it"s': "VARCHAR",
}
FILE = "{path: people.parquet, unit: row}"
TABLE = "{relation: people, unit: row}"
KEYED = "{{relation: people, unit: {{key: person, keep: {{order_by: [{order}]}}}}}}"

CASES: dict[str, dict[str, str]] = {
    "keep": {"recode": "{zip: keep, sex: keep, married: keep, born: keep}"},
    "bins": {"recode": "{age: {bins: [18, 65]}, income: {bins: [0.5]}, weight: {bins: [-1, 70]}}"},
    "bins_of_dates": {"recode": "{born: {bins: [1970-01-01]}, moved: {bins: [2000-01-01]}}"},
    "map": {"recode": "{zip: {map: {'10115': Berlin, \"it's\": null}, other: \"it's 20%\"}}"},
    "prefix": {"recode": "{zip: {prefix: 3}, name: {prefix: 1}}"},
    "round": {"recode": "{age: {round: 10}, income: {round: 0.25}, weight: {round: 5}}"},
    "truncate": {"recode": "{born: {truncate: year}, seen: {truncate: hour}}"},
    "constant": {"recode": '{everybody: {constant: "*"}}'},
    "declared_types": {
        "recode": "{zip: {bins: [50000]}}",
        "source": "{path: people.parquet, unit: row, columns: {zip: integer}}",
    },
    "collation": {"recode": "{name: keep}", "source": TABLE},
    "names": {"recode": "{'it\"s': keep}", "count_as": ", count_as: order by"},
    "key": {"source": KEYED.format(order="seen desc, age")},
    "key_of_a_file": {"source": "{path: people.parquet, unit: {key: person}}"},
    "rows": {"form": "rows"},
    "native": {"method": "native", "source": TABLE},
    "native_of_a_file": {"method": "native"},
    "raw_first": {"grouping": "raw_first"},
    "raw_first_rows_by_key": {
        "grouping": "raw_first", "form": "rows", "source": KEYED.format(order="age"),
    },
    "into_a_table": {"source": TABLE, "target": "relation: out"},
    "replacing_a_table": {"source": TABLE, "target": "relation: out"},
}  # fmt: skip

POLICY = """\
version: 1
name: golden
source: {source}
recode: {recode}
sample: {{rate: 0.25, method: {method}}}
k: 5
guarantee: {{epsilon: 1, delta: 0.5}}
release: {{{target}, as: {form}{count_as}}}
grouping: {grouping}
"""
DEFAULTS = {
    "source": FILE,
    "recode": "{age: {bins: [18]}, zip: {prefix: 2}}",
    "method": "keyed",
    "target": "path: out.parquet",
    "form": "counts",
    "count_as": "",
    "grouping": "auto",
}


def policy_of(case: str, folder: Path) -> Policy:
    """The policy of a case."""
    text = POLICY.format(**{**DEFAULTS, **CASES[case]})
    return load_policy_text(text, folder / "policy.yaml", folder)


def table_of(policy: Policy) -> Table:
    """The catalog's answer for the source of a case."""
    columns = [Column(name, kind) for name, kind in COLUMNS.items()]
    if policy.source.path is None:
        return Table(tuple(columns), parts=("db", "main", "people"))
    # A Parquet file has neither collations nor enumerations.
    plain = {"name": "VARCHAR", "sex": "VARCHAR"}
    found = tuple(Column(c.name, plain.get(c.name, c.type)) for c in columns)
    return Table(found, path=policy.source.path)


def plan_of(case: str, folder: Path) -> Plan:
    """The plan of a case."""
    policy = policy_of(case, folder)
    target = ("db", "main", "out") if policy.release.relation else ()
    return compiled_plan(
        policy,
        table_of(policy),
        dialect_named("duckdb"),
        target=target,
        replaces=case.startswith("replacing"),
    )


def main() -> None:
    """Write every text anew."""
    for stale in FOLDER.glob("*.sql"):
        stale.unlink()
    for case in CASES:
        (FOLDER / f"{case}.sql").write_text(render(plan_of(case, FOLDER)), encoding="utf-8")


if __name__ == "__main__":
    main()
