"""Every engine at once: policies and tables that nobody wrote; laws of sample, noise, quantiles.

One secret releases the same bytes on all. ``SAME_BYTES=100 pytest
tests/warehouse/same_bytes_suite.py`` tries more of them, ``NOISE_RELEASES=20`` draws more noise.
"""

from __future__ import annotations

import os
import random
import sys
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from alike import differences
from engines import ENGINES
from law import (
    DRAWS,
    check_law,
    noise_law,
    noise_of,
    noise_p_value,
    quantile_law,
    quantile_p_value,
    quantiles_of,
    three_percent_off,
    z_scores,
)

from policy_engine.accounting.noise_laws import gaussian, laplace, place
from policy_engine.errors import PolicyEngineError
from policy_engine.policy.loading import load_policy_text

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from same_bytes import digest, released

CASES = int(os.environ.get("SAME_BYTES", "1"))
#: Spark takes half a minute to start: that it is like the others is a long proof.
TRIED = ENGINES if os.environ.get("EVIDENCE") else tuple(e for e in ENGINES if e != "spark")
#: Of 10,000 groups each: so much noise is drawn by each law on each engine.
NOISE_RELEASES = int(os.environ.get("NOISE_RELEASES", "1"))
_SEEN_FROM = 12
"""In so many releases a law of quantiles that is 3 % off is seen."""
CHOICE_RELEASES = _SEEN_FROM if os.environ.get("EVIDENCE") else 1
NOISY_GROUPS, IN_EACH = 10_000, 7
SECRET = bytes(range(50, 66))
REALS = [0.1, -0.5, 2.5, 1e15, 3.0, -0.0]
LETTERS = "aAbBzé ßĀ_%'\"日😀09."


def _text(chance: random.Random) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(chance.randrange(5)))


def _table(chance: random.Random) -> pa.Table:
    """A few hundred rows of some people; each column has few values, and NULL among them."""
    people, rows = chance.randrange(60, 200), chance.randrange(250, 500)

    def column(kind: pa.DataType, make, values: int = 6) -> pa.Array:
        few = [None, *(make() for _ in range(values))]
        return pa.array([chance.choice(few) for _ in range(rows)], kind)

    def day() -> date:
        return date(1950, 1, 1) + timedelta(days=chance.randrange(30000))

    def exact() -> Decimal:
        return Decimal(chance.randrange(-(10**8), 10**8)) / 1000

    return pa.table({
        "id": pa.array([chance.randrange(-people // 2, people) for _ in range(rows)], pa.int64()),
        "small": column(pa.int32(), lambda: chance.randrange(-50, 100)),
        "large": column(pa.int64(), lambda: chance.randrange(-(10**12), 10**12)),
        "exact": column(pa.decimal128(12, 3), exact),
        "real": column(pa.float64(), lambda: chance.choice([*REALS, chance.gauss(0, 99)])),
        "text": column(pa.string(), lambda: _text(chance)),
        "flag": column(pa.bool_(), lambda: chance.random() < 0.5),
        "day": column(pa.date32(), day),
        "time": column(pa.timestamp("us"), lambda: datetime.combine(day(), datetime.min.time())
                       + timedelta(microseconds=chance.randrange(86_400_000_000))),
        "row": pa.array(range(rows), pa.int64()),
    })  # fmt: skip


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _recodes(chance: random.Random, table: pa.Table) -> str:
    """A recoding of each of a few columns, of the kinds that fit."""
    cuts = sorted({chance.randrange(-40, 90) for _ in range(3)})
    steps = [5, 10, 25, 1000, "0.5", "2.5", "0.01"]
    known = [t for t in set(table.column("text").to_pylist()) if t is not None]
    pairs = ", ".join(f"{_quoted(t)}: {_quoted(_text(chance) or 'x')}" for t in sorted(known)[:3])
    texts = ["keep", f"{{prefix: {chance.randrange(1, 4)}}}",
             f"{{map: {{{pairs}}}, other: {_quoted('rest')}}}"]  # fmt: skip
    units = ["year", "quarter", "month", "week", "day"]
    choices = {
        "small": ["keep", f"{{bins: {cuts}}}", f"{{round: {chance.choice(steps[:4])}}}"],
        "large": [f"{{bins: {cuts}}}", f"{{round: {chance.choice([1000, 10**9])}}}"],
        "exact": [f"{{bins: {cuts}}}", f"{{round: {chance.choice(steps)}}}"],
        "real": [f"{{bins: {cuts}}}", f"{{round: {chance.choice(steps)}}}"],
        "text": texts,
        "flag": ["keep", "{map: {'true': 'yes', 'false': 'no'}, other: none}"],
        "day": [f"{{truncate: {chance.choice(units)}}}", "{bins: [1970-01-01, 2001-02-28]}"],
        "time": [f"{{truncate: {chance.choice([*units, 'hour'])}}}",
                 "{bins: [1970-01-01 12:00:00]}"],
        "constant": ['{constant: "*"}'],
    }  # fmt: skip
    chosen = chance.sample(sorted(choices), chance.randrange(1, 4))
    return "{" + ", ".join(f"{name}: {chance.choice(choices[name])}" for name in chosen) + "}"


def _policy(chance: random.Random, table: pa.Table) -> str:
    order = ", ".join(
        f"{name}{chance.choice(['', ' desc'])}"
        for name in chance.sample(["small", "day", "text", "time", "exact", "flag"], 2)
    )
    ordered, any_row = f"{{column: id, rows: {{first_by: [{order}]}}}}", "{column: id, rows: any}"
    unit = chance.choice([ordered, ordered, any_row, any_row, "{column: row, rows: one}"])
    return f"""\
version: 1
name: random
source: {{table: people}}
privacy_unit: {unit}
recode: {_recodes(chance, table)}
sample: {{rate: {chance.choice(["0.3", "0.5", "0.8123"])}}}
k: {chance.choice([2, 3, 5])}
guarantee: {{epsilon: 9, delta: 0.9999999}}
release: {{file: out.parquet}}
grouping: {chance.choice(["auto", "recoded"])}
"""


def _drawn(brief: tuple[str, ...]) -> list[object]:
    """Every engine; 200 draws of those that are not brief are a long proof."""
    return [
        name if name in brief else pytest.param(name, marks=pytest.mark.evidence)
        for name in ENGINES
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(CASES))
def test_every_engine_releases_the_same_bytes(engines, seed, tmp_path):
    chance = random.Random(seed)
    table = _table(chance)
    text = _policy(chance, table)
    policy = load_policy_text(text, tmp_path / "policy.yaml", tmp_path)
    found = {}
    for name, engine in engines.items():
        fit = table.drop_columns(engine.unfit(table)) if name == "sqlite" else table
        try:
            found[name] = released(engine, policy, fit, SECRET)
        except PolicyEngineError as error:
            # SQLite has few types; all others take whatever stands in this file.
            assert name == "sqlite", f"{name} refuses {text}: {error}"
    for name, rows in found.items():
        assert differences(rows, found["duckdb"]) == [], f"{name}\n{text}"
        assert digest(rows) == digest(found["duckdb"]), f"{name}\n{text}"
    assert set(TRIED) - {"sqlite"} <= set(found)


def _everybody(rows: int, parts: int) -> pa.Table:
    of = [row % parts for row in range(rows)]
    return pa.table({"id": pa.array(range(rows), pa.int64()), "part": pa.array(of, pa.int32())})


@pytest.mark.slow
@pytest.mark.parametrize("name", _drawn(("duckdb", "postgres", "sqlite")))
def test_the_law_of_the_sample(engines, name, tmp_path):
    parts = 8 if name == "spark" else 1  # a release of Spark takes a second, whatever it holds
    engines[name].load(_everybody(1000 * parts, parts))
    policy = load_policy_text(LAW, tmp_path / "policy.yaml", tmp_path)
    with closing(engines[name].warehouse()) as warehouse:
        check_law(warehouse, policy, 1000, parts)


@pytest.mark.parametrize(
    "broken",
    [
        lambda chance: 10 * sum(chance.random() < 0.3 for _ in range(100)),  # by blocks of ten
        lambda chance: sum(chance.random() < 0.39 for _ in range(1000)),  # the rate 30 % off
        lambda chance: 300,  # a fixed number of rows
        lambda chance: 2 * sum(chance.random() < 0.3 for _ in range(500)),  # couples together
        lambda chance: 1000 if chance.random() < 0.3 else 0,  # all or nobody
        lambda chance: random.Random(7).randrange(270, 330),  # one sample again and again
    ],
    ids=["blocks", "rate", "fixed", "couples", "all", "reused"],
)
def test_the_law_rejects_a_sampler_that_is_broken(broken):
    chance = random.Random(11)
    counts = [broken(chance) for _ in range(DRAWS)]
    assert any(abs(z) > 4 for z in z_scores(counts, 1000, 0.3))


LAW = """\
version: 1
name: law
source: {table: people}
privacy_unit: {column: id, rows: one}
recode: {part: keep}
sample: {rate: 0.3}
k: 2
guarantee: {epsilon: 9, delta: 0.9999999}
release: {file: out.parquet}
"""

NOISE = """\
version: 1
name: noise
source: {{table: people}}
privacy_unit: row
recode: {{part: keep}}
noise: {{distribution: {law}}}
guarantee: {{epsilon: {epsilon}, delta: {delta}}}
release: {{file: out.parquet}}
"""
#: By law: ε and δ at which all noise of seven people is seen, and that table 3 % off.
NOISES = {
    "truncated_laplace": ("1.5", "0.01", laplace("1.545", 3)),
    "discrete_gaussian": ("2", "0.02", gaussian("1.195", 3)),
    "negative_binomial": ("0.5", "0.1", place(2, "0.3068")),
}


def _noisy(law: str, folder: Path):
    epsilon, delta, _ = NOISES[law]
    text = NOISE.format(law=law, epsilon=epsilon, delta=delta)
    return load_policy_text(text, folder / "policy.yaml", folder)


def _noise_p_value(warehouse, policy, releases, entries=()) -> float:
    law, seen = noise_of(warehouse, policy, NOISY_GROUPS, releases, entries)
    assert seen.total() == NOISY_GROUPS * releases
    return noise_p_value(seen, noise_law(law, IN_EACH))


@pytest.mark.slow
@pytest.mark.parametrize("name", _drawn(tuple(each for each in ENGINES if each != "spark")))
def test_the_law_of_the_noise(engines, name, tmp_path):
    engines[name].load(_everybody(IN_EACH * NOISY_GROUPS, NOISY_GROUPS).drop_columns("id"))
    with closing(engines[name].warehouse()) as warehouse:
        for law in NOISES:
            assert _noise_p_value(warehouse, _noisy(law, tmp_path), NOISE_RELEASES) > 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("law", NOISES)
def test_the_law_rejects_a_table_that_is_3_percent_off(engines, law, tmp_path):
    engines["duckdb"].load(_everybody(IN_EACH * NOISY_GROUPS, NOISY_GROUPS))
    with closing(engines["duckdb"].warehouse()) as warehouse:
        policy, off = _noisy(law, tmp_path), NOISES[law][2]
        assert (off.least, off.is_open) == (policy.noise.table.least, policy.noise.table.is_open)
        assert _noise_p_value(warehouse, policy, 20, off.entries) < 1e-9


MEDIAN = """\
version: 1
name: median
source: {table: people}
privacy_unit: row
recode: {part: keep}
measures: {middle: {median: days, bounds: [0, 6], missing: {as: 0}}}
guarantee: {epsilon: 3, delta: 0.02}
release: {file: out.parquet}
"""
DAYS = (0, 1, 1, 3, 4, 6, 9)


@pytest.mark.slow
@pytest.mark.parametrize("name", _drawn(("duckdb", "postgres")))
def test_the_law_of_the_quantile(engines, name, tmp_path):
    table = _everybody(IN_EACH * NOISY_GROUPS, NOISY_GROUPS).drop_columns("id")
    days = pa.array([DAYS[row // NOISY_GROUPS] for row in range(len(table))], pa.int64())
    engines[name].load(table.append_column("days", days))
    policy = load_policy_text(MEDIAN, tmp_path / "policy.yaml", tmp_path)
    with closing(engines[name].warehouse()) as warehouse:
        quantile, seen = quantiles_of(warehouse, policy, CHOICE_RELEASES)
    law = quantile_law(DAYS, quantile)
    assert quantile_p_value(seen, quantile, law) > 1e-9
    if CHOICE_RELEASES >= _SEEN_FROM:
        assert quantile_p_value(seen, quantile, three_percent_off(law)) < 1e-9
