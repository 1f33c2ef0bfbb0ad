"""Texts of the first compiler, which the reader proves, with what is needed to prove them again."""

from __future__ import annotations

from contextlib import chdir, closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from policy_engine.compile.catalog import Table
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.planning import open_warehouse, project_of, schema_of
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import certify

POLICIES = Path(__file__).parents[2] / "policies"
TEXTS = Path(__file__).parent / "texts"

CASES = {
    "adult": ("adult", {}),
    "adult native": ("adult", {"method": "native"}),
    "adult recode first": ("adult", {"grouping": "recode_first"}),
    "adult raw first": ("adult", {"grouping": "raw_first"}),
    "rows": ("adult_rows", {}),
    "round": ("adult_auto", {}),
    "visits": ("hospital_visits", {}),
    "visits raw first": ("hospital_visits", {"grouping": "raw_first"}),
    "prefix": ("password_prefix", {}),
}


@dataclass(frozen=True)
class Golden:
    """A policy, the text it once compiled to, and the schema it was certified with."""

    policy: Policy
    sql: str
    schema: Schema
    table: Table

    def certify(self, sql: str) -> object:
        """Certify another text as this policy's release."""
        return certify(self.policy, sql, "duckdb", schema=self.schema)


@cache
def golden(case: str) -> Golden:
    """The golden text of one of ``CASES``."""
    name, changes = CASES[case]
    policy = replace(load_policy(POLICIES / name / "policy.yaml"), **changes)
    # The engine looks in the working directory first; whoever runs the tests may have such files.
    with (
        chdir(policy.directory),
        closing(open_warehouse(policy, project_of(policy), writes=False)) as warehouse,
    ):
        table = warehouse.table(policy.source, policy.directory)
    text = (TEXTS / f"{case.replace(' ', '_')}.sql").read_text(encoding="utf-8")
    return Golden(policy, text, schema_of(table), table)
