"""What compiles prints, and releases the same rows: the old path may go where this holds.

It goes with ``compile/stages.py``. Every policy is asked of every engine: those of the golden
texts, of ``policies/``, of the pages of the docs and of ``tests/warehouse``; where an engine runs
here, both texts run there under one secret.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("scripts", "tests/golden", "tests/warehouse")]

import alike  # noqa: E402
import cases  # noqa: E402
from engines import ENGINES, opened_engines  # noqa: E402
from same_bytes_suite import _policy, _table  # noqa: E402

from policy_engine.compile.catalog import Column, Table  # noqa: E402
from policy_engine.compile.claims import claim_of  # noqa: E402
from policy_engine.compile.compiler import compiled_plan  # noqa: E402
from policy_engine.compile.rendering import render  # noqa: E402
from policy_engine.dialects import DIALECTS, dialect_named  # noqa: E402
from policy_engine.engines.base import Refused  # noqa: E402
from policy_engine.errors import PolicyEngineError, PolicyError, UsageError  # noqa: E402
from policy_engine.kernel.printing import printed  # noqa: E402
from policy_engine.policy.csv_models import is_csv  # noqa: E402
from policy_engine.policy.loading import load_policy, load_policy_text  # noqa: E402
from policy_engine.policy.recodings import Bins, Constant, Lookup, Round, Truncate  # noqa: E402
from policy_engine.policy.resolve import Policy  # noqa: E402
from policy_engine.warehouse.base import Warehouse  # noqa: E402
from policy_engine.warehouse.duckdb import DuckDBWarehouse  # noqa: E402

CONSTANT = Constant("*")
SECRET = bytes(range(50, 66))
FOLDER = Path(tempfile.mkdtemp())
#: What prints and did not compile: by engine and golden case, why that is meant.
PRINTS_ONLY = {
    ("postgres", "labels_with_backslashes"): "it writes them in E'…'",
    ("sqlite", "labels_with_backslashes"): "they mean themselves there; the old reader read none",
    ("datafusion", "bins_of_dates"): "a day beside a time is printed as its midnight",
    ("bigquery", "map_of_dates"): "a day is looked up as a day, and no longer as its text",
    ("tsql", "map_of_numbers"): "a number is looked up as a number, and no longer as its text",
    ("tsql", "map_of_dates"): "a day is looked up as a day, and no longer as its text",
    ("tsql", "into_a_table"): "the query is the same; its envelope is refused",
}


def documented() -> dict[str, str]:
    """The whole policies on the pages of the docs, by page and number."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    fence = re.compile(r"^( *)```[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
    texts = {f"{page.relative_to(ROOT)} {number}": found[2]
             for page in pages
             for number, found in enumerate(fence.finditer(page.read_text("utf-8")))}  # fmt: skip
    words = ("version: 1", "source:", "recode:", "guarantee:", "release:")
    whole = {name: text for name, text in texts.items()
             if all(f"\n{word}" in f"\n{text}" for word in words)}  # fmt: skip
    return {name: text[text.index(words[0]) :] for name, text in whole.items()}


def policies() -> dict[str, Policy]:
    """Every policy that is not over a table of its own suite."""
    found = {path.parent.name: load_policy(path) for path in ROOT.glob("policies/*/policy.yaml")}
    for name, text in documented().items():
        with suppress(PolicyError):  # one that shows faults, and one with a file of its page's
            found[name] = load_policy_text(text, FOLDER / "policy.yaml", FOLDER)
    return found


OTHERS = policies()


def elsewhere(policy: Policy, dialect: str) -> Policy:
    """The policy as one of a table of people with a key, where an engine reads no files."""
    if dialect == "duckdb":
        return policy
    source = policy.source
    columns = () if dialect in DIALECTS and is_csv(source.text) else source.columns
    moved = replace(source, path=None, relation="people", key=source.key or "person", csv=None,
                    columns=columns, unique=source.unique and source.key is not None)  # fmt: skip
    return replace(policy, source=moved, method="keyed")


def catalog_of(policy: Policy, dialect: str) -> Table:
    """A catalog's answer with columns that the policy fits."""
    source = policy.source
    kinds = {str(source.key): "BIGINT"} if source.key else {}
    day = "VARCHAR" if dialect == "sqlite" else "DATE"
    kinds |= {name: day for name, _ in source.order_by}
    kinds |= {name: _kind(recoding) for name, recoding in policy.recodings}
    kinds |= {name: "VARCHAR" for name, _ in source.columns}
    columns = tuple(Column(*each) for each in kinds.items())
    if dialect != "duckdb":
        columns = tuple(cases._column(column, dialect) for column in columns)
    if source.path is None:
        return Table(columns, parts=("db", "main", "people"))
    loaded = ("temp", "main", source.path) if is_csv(source.path) else ()
    return Table(columns, path=source.path, parts=loaded)


def _kind(recoding: object) -> str:
    match recoding:
        case Bins(cuts) if isinstance(cuts[0], date):
            return "DATE"
        case Bins(cuts) if all(cut == int(cut) for cut in cuts):  # type: ignore[arg-type]
            return "INTEGER"
        case Bins() | Round():
            return "DECIMAL(12,3)"
        case Lookup(table) if all(re.fullmatch("-?[0-9]+", key) for key, _ in table):
            return "INTEGER"
        case Truncate(unit):
            return "TIMESTAMP" if unit == "hour" else "DATE"
    return "VARCHAR"


def compiles(policy: Policy, table: Table, dialect: str) -> str | None:
    """The text that the old path compiles."""
    try:
        return render(compiled_plan(policy, table, dialect_named(dialect)))
    except (PolicyError, UsageError):
        return None


def prints(policy: Policy, table: Table, dialect: str) -> str | None:
    """The text that the new path prints."""
    try:
        return printed(claim_of(policy, table, dialect), dialect)
    except (PolicyError, Refused):
        return None


def test_the_policies_are_many():
    assert len(OTHERS) > 15
    assert {name for name in OTHERS if "csv.md" in name}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_golden_text_compiles_where_it_prints(dialect):
    only = {case for engine, case in PRINTS_ONLY if engine == dialect}
    for case in cases.cases_of(dialect):
        old = cases.text_of(case, FOLDER, dialect)  # as the old kernel read it back
        policy = cases.policy_of(case, FOLDER, dialect)
        new = prints(policy, cases.table_of(policy, dialect), dialect)
        assert (new is not None) == (isinstance(old, str) or case in only), case
        assert not (isinstance(old, str) and case in only), case


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", sorted(OTHERS))
def test_a_policy_compiles_where_it_prints(name, dialect):
    policy = elsewhere(OTHERS[name], dialect)
    table = catalog_of(policy, dialect)
    old, new = compiles(policy, table, dialect), prints(policy, table, dialect)
    assert new is not None or old is None
    # A text whose catalog names no collation is told one, and compiled on all others alone.
    assert new is None or old is not None or dialect == "tsql"
    # Many engines have no function that repeats a row.
    assert (
        old is not None
        or dialect in ("redshift", "tsql", "sqlite")
        or policy.release.form == "rows"
    )


def everyone() -> pa.Table:
    """The table of tests/warehouse, as Arrow."""
    kinds = {"BIGINT": pa.int64(), "INTEGER": pa.int32(), "VARCHAR": pa.string(),
             "BOOLEAN": pa.bool_(), "DECIMAL(10,2)": pa.decimal128(10, 2), "DOUBLE": pa.float64(),
             "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us")}  # fmt: skip
    columns = zip(*alike.ROWS, strict=True)
    return pa.table({name: pa.array(values, kinds[kind]) for values, (name, kind) in
                     zip(columns, alike.COLUMNS.items(), strict=True)})  # fmt: skip


@pytest.fixture(scope="module")
def engine_of():
    from contextlib import ExitStack

    with ExitStack() as stack:
        found = {}

        def engine(name):
            if name not in found:
                [found[name]] = stack.enter_context(opened_engines([name])).values()
            return found[name]

        yield engine


def both_run(warehouse: Warehouse, policy: Policy) -> bool:
    """Run both texts under one secret; whether the engine takes the policy."""
    with closing(warehouse):
        table = warehouse.table(policy.source, policy.directory)
        name = warehouse.dialect.name
        read = [*(name for name, _ in policy.source.order_by),
                *(name for name, recoding in policy.recodings if recoding != CONSTANT)]  # fmt: skip
        if not all(map(table.find, read)):
            return False
        old, new = compiles(policy, table, name), prints(policy, table, name)
        assert (old is None) == (new is None), policy
        if old is None or new is None:
            return False
        warehouse.fingerprint(policy, table, bytes(32))
        with warehouse.sampled(policy, table, SECRET):
            wanted, found = warehouse.rows(old), warehouse.rows(new)
    assert alike.differences(found, wanted) == [], new
    assert wanted.num_rows > 0
    return True


NAMED = [pytest.param(name, marks=pytest.mark.slow) if name == "spark" else name
         for name in ENGINES]  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_both_paths_release_the_same_rows(engine_of, name, tmp_path):
    engine, people = engine_of(name), everyone()
    fit = people.drop_columns(engine.unfit(people))
    engine.load(fit)
    fitting = alike.without({*people.column_names} - {*fit.column_names})
    ran = [both_run(engine.warehouse(), alike.policy_of(each, folder=tmp_path)) for each in fitting]
    assert sum(ran) >= (2 if name == "sqlite" else len(alike.POLICIES) - 1)


@pytest.mark.parametrize("name", NAMED)
def test_both_paths_release_the_same_rows_of_random_policies(engine_of, name, tmp_path):
    engine, ran = engine_of(name), 0
    for seed in range(3 if name == "spark" else 12):
        chance = random.Random(seed)
        table = _table(chance)
        policy = load_policy_text(_policy(chance, table), tmp_path / "policy.yaml", tmp_path)
        engine.load(table.drop_columns(engine.unfit(table)))
        try:
            ran += both_run(engine.warehouse(), policy)
        except PolicyEngineError:
            assert name == "sqlite"
    assert ran


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in ROOT.glob("policies/*/*.yaml"))
)
def test_both_paths_release_the_same_rows_of_an_example(name):
    assert both_run(DuckDBWarehouse(), load_policy(ROOT / "policies" / name / "policy.yaml"))


@pytest.mark.parametrize("unit", ["row", "{key: person, keep: any}", "{row_key: visit}"])
def test_both_paths_release_the_same_rows_of_a_csv_file(unit, tmp_path):
    lines = (f"{n % 300};{n};{n % 7},5 EUR;{n % 28 + 1}.02.2024;{'NA' if n % 9 else 'x'}\n"
             for n in range(900))  # fmt: skip
    (tmp_path / "it's.csv").write_text("person;visit;paid;at;note\n" + "".join(lines))
    text = f"""\
version: 1
name: csv
source:
  path: "it's.csv"
  unit: {unit}
  columns: {{paid: double, at: date}}
  csv: {{delimiter: ";", decimal: ",", units: [EUR], dates: ["%d.%m.%Y"], nulls: [NA]}}
recode: {{paid: {{bins: [2.5, 4]}}, at: {{truncate: week}}, note: keep}}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 9, delta: 0.9999999}}
release: {{path: out.parquet}}
"""
    policy = load_policy_text(text, tmp_path / "policy.yaml", tmp_path)
    assert both_run(DuckDBWarehouse(), policy)
