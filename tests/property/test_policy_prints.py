"""Whatever a policy says, it is printed, or refused in the words of the policy."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import ENGINES, dialect_named
from policy_engine.errors import PolicyError
from policy_engine.kernel.certificate import check_text
from policy_engine.policy.loading import load_policy_text

POLICY = """\
version: 1
name: any
source: {{file: p.parquet}}
privacy_unit: {unit}
recode: {{{recode}}}
sample: {{rate: {rate}, method: {method}}}
k: {k}
guarantee: {{epsilon: 1, delta: 0.5}}
release: {{file: out.parquet, as: {form}}}
{count}"""
KEYED = "{table: people}\nprivacy_unit: {column: the key, rows: any}"
LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"])
TEXTS = st.text(LETTERS, max_size=6)
NAMES = st.text(LETTERS, min_size=1, max_size=8).filter(str.strip)


def yaml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def bins(cuts: list[int], places: int) -> str:
    return f"{{bins: [{', '.join(f'{cut / 10**places:.{places}f}' for cut in sorted(set(cuts)))}]}}"


CUTS = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=4)


def lookup(table: dict[str, str], other: str) -> str:
    pairs = ", ".join(f"{yaml(key)}: {yaml(label)}" for key, label in table.items())
    return f"{{map: {{{pairs}}}, other: {yaml(other)}}}"


def lookups(keys: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A key that no value of the column can be is refused."""
    return st.builds(lookup, st.dictionaries(keys, TEXTS, min_size=1, max_size=3), TEXTS)


WHOLE = st.integers(-(2**63) + 1, 2**63 - 1).map(str)
DECIMALS = st.integers(-(10**12) + 1, 10**12 - 1).map(lambda number: str(Decimal(number) / 1000))
RECODES: dict[str, st.SearchStrategy[str]] = {
    "BIGINT": st.one_of(st.just("keep"), st.builds(bins, CUTS, st.just(0)), lookups(WHOLE)),
    "DOUBLE": st.one_of(
        st.builds(bins, CUTS, st.integers(0, 4)),
        st.integers(1, 999).map(lambda step: f"{{round: {step / 100:.2f}}}"),
    ),
    "DECIMAL(12,3)": st.one_of(
        # Two cuts between one value and the next are refused once the column's type is known.
        st.just("keep"),
        st.builds(bins, CUTS, st.integers(0, 3)),
        lookups(DECIMALS),
    ),
    "VARCHAR": st.one_of(
        st.just("keep"), lookups(TEXTS), st.integers(1, 99).map("{{prefix: {}}}".format)
    ),
    "DATE": st.sampled_from(["keep", "{truncate: month}", "{bins: [1970-01-01, 2000-02-29]}"]),
    "TIMESTAMP": st.sampled_from(["keep", "{truncate: hour}", "{bins: [1970-01-01]}"]),
    "ANYTHING": TEXTS.map(lambda text: f"{{constant: {yaml(text)}}}"),
}
COLUMNS = st.dictionaries(
    NAMES,
    st.sampled_from(sorted(RECODES)).flatmap(lambda kind: st.tuples(st.just(kind), RECODES[kind])),
    min_size=1,
    max_size=4,
).filter(lambda found: len({name.casefold() for name in found} - {"the count"}) == len(found))


@given(
    COLUMNS,
    st.sampled_from(["row", "{column: the key, rows: any}"]),
    # DuckDB's own sample is taken to be 2⁻³² more than it says, and all of it is no sample.
    st.integers(1, 10**12 - 1000),
    st.integers(2, 1000),
    st.sampled_from(["counts", "rows"]),
    st.booleans(),
    st.sampled_from(sorted(ENGINES)),
)
@settings(max_examples=80, deadline=None)
def test_a_policy_is_printed_or_refused_in_its_words(columns, unit, rate, k, form, native, engine):
    text = POLICY.format(
        unit=unit,
        recode=", ".join(f"{yaml(name)}: {recode}" for name, (_, recode) in columns.items()),
        rate=f"{rate / 10**12:.12f}",
        k=k,
        form=form,
        count="" if form == "rows" else "count: {people: the count}\n",
        method="native" if native and unit == "row" else "keyed",
    )
    policy = load_policy_text(text, Path("p.yaml"), Path())
    kinds = [Field(name, kind) for name, (kind, _) in columns.items()]
    table = Table((*kinds, Field("the key", "BIGINT")), path="p.parquet")
    claim, sql = compiled(policy, table, dialect_named("duckdb"))
    check_text(sql, claim, "duckdb")
    elsewhere = Table((*kinds, Field("the key", "BIGINT")), parts=("main", "people"))
    other = load_policy_text(
        text.replace("{file: p.parquet}\nprivacy_unit: row", KEYED), Path("p.yaml"), Path()
    )
    with suppress(PolicyError):
        claim, sql = compiled(other, elsewhere, dialect_named(engine))
        check_text(sql, claim, engine)
