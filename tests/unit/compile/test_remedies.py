"""Every remedy that a message about a column's type names works there: all engines, all types."""

from __future__ import annotations

import re

import pytest
from everyone import policy_of

from policy_engine.compile.catalog import TIMES, Field, Kind, Table
from policy_engine.compile.claims import claim_of
from policy_engine.compile.compiler import find_problems
from policy_engine.dialects import ENGINES
from policy_engine.engines.types import types_of
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy

RECODINGS = {
    "keep": "keep",
    "bins": "{bins: [1, 2]}",
    "halves": "{bins: [0.5, 2]}",
    "days": "{bins: [2020-01-01]}",
    "seconds": "{bins: [2020-01-01 00:00:01]}",
    "map": "{map: {'1': a}, other: b}",
    "prefix": "{prefix: 2}",
    "round": "{round: 5}",
    "truncate": "{truncate: year}",
    "hour": "{truncate: hour}",
}
REMEDIES = {
    "use constant": ("{constant: x}", ""),
    "use bins": ("bins", ""),
    "round": ("{round: 5}", ""),
    "use prefix": ("{prefix: 2}", ""),
    "keep": ("keep", ""),
    "use keep": ("keep", ""),
    "truncate": ("{truncate: year}", ""),
    "write the cut points as dates": ("{bins: [2020-01-01]}", ""),
    "leave out the time of day": ("{bins: [2020-01-01]}", ""),
    "write the cut points as numbers": ("{bins: [1, 2]}", ""),
    "round them up": ("{bins: [1, 2]}", ""),
    "use day": ("{truncate: day}", ""),
    "read it as text with source.columns": ("keep", "text"),
    "read it as a number with source.columns": (None, "double"),
    "read it as a timestamp with source.columns": (None, "timestamp"),
    "read it as a date with source.columns": (None, "date"),
    "a column with fewer digits": None,
    "leave it out": None,
    "more": None,
}
DUCKDB = (
    "BOOLEAN", "TINYINT", "INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "VARCHAR",
    "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "UUID",
    "ENUM('a', 'b')", "BLOB", "INTEGER[]", "INTERVAL", "STRUCT(a INTEGER)", "BIT",
)  # fmt: skip
DECIMALS = ("DECIMAL(38,0)", "DECIMAL(9,2)", "DECIMAL(38,2)", "DECIMAL(20,3)")


def kinds(engine: str) -> tuple[str, ...]:
    """The types of an engine, by the names that they have here; one that it has and we refuse."""
    names = DUCKDB if engine == "duckdb" else {*types_of(engine).values(), "ENUM('a', 'b')"}
    lacks = ENGINES[engine].lacks
    found = [*names, *DECIMALS, "OTHER JSON"]
    found += [] if "bytewise" in lacks else ["VARCHAR COLLATE nocase"]
    columns = [(kind, Field("x", kind).kind.of_a_claim) for kind in dict.fromkeys(found)]
    return tuple(sorted(kind for kind, of in columns if f"{of}_column" not in lacks))


def problems(folder, engine: str, kind: str, recoding: str, read_as: str = "") -> list[str]:
    """What is wrong with a recoding of a column, each with its remedy."""
    told = f", columns: {{x: {read_as}}}" if read_as else ""
    source = f"{{table: people{told}}}\nprivacy_unit: {{column: id, rows: one}}"
    policy = policy_of(folder, f"{{x: {recoding}}}", source=source)
    table = Table((Field("id", "BIGINT"), Field("x", kind)), parts=("main", "people"))
    return [f"{p.message}; {p.remedy}" for p in find_problems(policy, table, ENGINES[engine])]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_remedy_of_a_type_that_a_recoding_does_not_take_works(tmp_path, engine):
    named = set()
    for kind in kinds(engine):
        for recoding in RECODINGS.values():
            for problem in problems(tmp_path, engine, kind, recoding):
                if "cannot do this" not in problem:
                    named |= check_remedies(tmp_path, engine, kind, recoding, problem)
    assert len(named) > 5
    reads = any("source.columns" in remedy for remedy in named)
    assert reads is ("strict_cast" not in ENGINES[engine].lacks)


def check_remedies(folder, engine: str, kind: str, recoding: str, problem: str) -> set[str]:
    """Write each remedy of a problem into the policy: none is left."""
    remedies = re.split(", or | or |, ", problem.rpartition("; ")[2])
    for remedy in remedies:
        if REMEDIES[remedy] is None:
            continue
        instead, read_as = REMEDIES[remedy]
        if instead == "bins":
            is_day = Field("x", kind).kind in {*TIMES, Kind.DATE}
            instead = RECODINGS["days" if is_day else "bins"]
        left = problems(folder, engine, kind, instead or recoding, read_as)
        assert left == [], f"{engine}, {kind}: {problem}"
    return {*remedies}


MEASURES = {
    "mean": "{mean: x, bounds: [0, 9], missing: {as: 0}}",
    "count": "{count: x}",
}


@pytest.mark.parametrize("kind", MEASURES)
def test_a_measure_names_its_column_and_what_mends_it(tmp_path, kind):
    """No law of claims without a column and a remedy is told of any type."""

    def policy_that(read_as: str = "") -> Policy:
        source = f"{{table: people{read_as}}}\nprivacy_unit: row"
        more = f"noisy_counts\nmeasures: {{m: {MEASURES[kind]}}}"
        file = tmp_path / "policy.yaml"
        text = f"version: 1\nname: p\nsource: {source}\nrecode: {{g: keep}}\nmechanism: {more}\n"
        text += "guarantee: {epsilon: 9, delta: 0.01}\nrelease: {file: a.parquet}\n"
        return load_policy_text(text, file, tmp_path)

    plain, read = policy_that(), policy_that(", columns: {x: double}")
    remedies = set()
    for name in kinds("duckdb"):
        table = Table((Field("g", "BIGINT"), Field("x", name)), parts=("main", "people"))
        found = find_problems(plain, table, ENGINES["duckdb"])
        if not found:
            claim_of(plain, table, "duckdb")
            continue
        [problem] = found
        assert problem.message.startswith("column 'x': a measure takes numbers, found ")
        remedies.add(problem.remedy)
        if "source.columns" in problem.remedy:
            assert find_problems(read, table, ENGINES["duckdb"]) == ()
    named = {"name a column of numbers", "read it as a number with source.columns"}
    assert remedies == (named if kind == "mean" else {"name a column of numbers"})
