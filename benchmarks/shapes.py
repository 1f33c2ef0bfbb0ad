"""What whole commands cost beside the plain query, of shapes that once took many times as much.

    python benchmarks/shapes.py [--rows 10000000] [--repeats 3] [--of visits]

45 pairs of ten columns; one of each person's different rows; a person in up to three groups;
persons and wards beside each visit, wards alone, and both beside the last; two means and a sum; a
roll-up. ``--of`` takes those that have the word in their name. The plain
query is DuckDB's alone, in a process of its own that writes a Parquet file; beside it ``release``
in a project that has released nothing. CPU seconds and the peak of memory, the least of the
repeats; they take turns.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import duckdb

ROOT = Path(__file__).parents[1]
COLUMNS = [f"c{n}" for n in range(10)]
POLICY = """\
version: 1
name: shape
source: {{file: source.parquet{join}}}
{lines}
mechanism: noisy_counts
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {{file: out.parquet}}
account: people
"""


@dataclass(frozen=True)
class Shape:
    """A source by a query of ``{rows}`` rows, the policy's own lines, and the plain query; what is
    joined to it, by queries too."""

    source: str
    lines: str
    by_hand: str
    join: str = ""
    beside: tuple[tuple[str, str], ...] = ()


_WIDE = ", ".join(f"(hash(i * 31 + {n}) % {5 + 3 * n})::INTEGER AS c{n}" for n in range(10))
_PAIRS = list(combinations(COLUMNS, 2))
_BORN = (
    "CASE WHEN born < 1950 THEN '<1950' WHEN born < 1980 THEN '[1950,1980)' ELSE '>=1980' END"
    " AS born"
)
_JOINED = (
    "LEFT JOIN 'persons.parquet' p ON v.id = p.id LEFT JOIN 'wards.parquet' w ON v.ward = w.code"
)
_WARDS = "wards: {file: wards.parquet, on: {ward: code}, columns: [region], public: true}"
_JOIN = f", join: {{persons: {{file: persons.parquet, on: id, columns: [sex, born]}}, {_WARDS}}}"
_BESIDE = (
    ("persons", "SELECT i AS id, CASE hash(i) % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,"
     " (1930 + hash(i * 5) % 80)::INTEGER AS born FROM range({rows} // 10) t(i)"),
    ("wards", "SELECT 'w' || i AS code, 'region ' || i % 20 AS region FROM range(200) t(i)"),
)  # fmt: skip
_STAR = (
    "SELECT (hash(i * 13) % ({rows} // 10))::BIGINT AS id, 'w' || hash(i * 7) % 200 AS ward,"
    " DATE '2020-01-01' + (hash(i * 3) % 1000)::INTEGER AS came FROM range({rows}) t(i)"
)
_RECODED = "recode: {region: keep, sex: keep, born: {bins: [1950, 1980]}}"
_VISITS = (
    "SELECT i AS id, 'region ' || hash(i * 7) % 20 AS region, (hash(i * 17) % 12)::INTEGER AS m,"
    " round((hash(i * 3) % 400000) / 100, 2)::DOUBLE AS cost, (hash(i * 5) % 60)::INTEGER AS days,"
    " (hash(i * 11) % 100)::INTEGER AS age FROM range({rows}) t(i)"
)
SHAPES = {
    "45 pairs": Shape(
        f"SELECT i AS id, {_WIDE} FROM range({{rows}}) t(i)",
        f"privacy_unit: row\nrecode: {{{', '.join(f'{c}: keep' for c in COLUMNS)}}}\n"
        f"marginals: [{', '.join(f'[{a}, {b}]' for a, b in _PAIRS)}]",
        f"SELECT {', '.join(COLUMNS)}, count(*) AS n FROM 'source.parquet' GROUP BY GROUPING SETS"
        f" ({', '.join(f'({a}, {b})' for a, b in _PAIRS)})",
    ),
    "any of 20 rows a person": Shape(
        "SELECT i % ({rows} // 20) AS id, 'region ' || hash((i % ({rows} // 10)) * 7) % 20 AS"
        " region, (hash((i % ({rows} // 20)) * 17) % 90)::INTEGER AS age FROM range({rows}) t(i)",
        "privacy_unit: {column: id, rows: any}\nrecode: {region: keep, age: {bins: [18, 65]}}",
        "SELECT region, age, count(*) AS n FROM (SELECT id, any_value(region) AS region,"
        " any_value(CASE WHEN age < 18 THEN 'a' WHEN age < 65 THEN 'b' ELSE 'c' END) AS age"
        " FROM 'source.parquet' GROUP BY id) GROUP BY ALL",
    ),
    "a person in 3 groups": Shape(
        "SELECT i // 3 AS id, 'region ' || hash(i * 7) % 20 AS region, (hash(i * 17) % 12)::INTEGER"
        " AS m FROM range({rows}) t(i)",
        "privacy_unit: {column: id}\ncontribution: {max_groups: 3}\n"
        "recode: {region: keep, m: keep}",
        "SELECT region, m, count(DISTINCT id) AS n FROM 'source.parquet' GROUP BY ALL",
    ),
    "visits, persons and wards": Shape(
        _STAR,
        f"privacy_unit: {{column: id}}\ncontribution: {{max_groups: 20}}\n{_RECODED}",
        f"SELECT region, sex, {_BORN}, count(DISTINCT v.id) AS n FROM 'source.parquet' v {_JOINED}"
        " GROUP BY ALL ORDER BY ALL",
        _JOIN,
        _BESIDE,
    ),
    "visits and wards": Shape(
        _STAR,
        "privacy_unit: {column: id}\ncontribution: {max_groups: 20}\nrecode: {region: keep}",
        "SELECT region, count(DISTINCT v.id) AS n FROM 'source.parquet' v"
        " LEFT JOIN 'wards.parquet' w ON v.ward = w.code GROUP BY ALL ORDER BY ALL",
        f", join: {{{_WARDS}}}",
        _BESIDE[1:],
    ),
    "the last of a person's visits, with persons and wards": Shape(
        _STAR,
        f"privacy_unit: {{column: id, rows: {{first_by: [came desc]}}}}\n{_RECODED}",
        f"SELECT region, sex, {_BORN}, count(*) AS n FROM (SELECT id, ward FROM 'source.parquet'"
        " QUALIFY row_number() OVER (PARTITION BY id ORDER BY came DESC, ward) = 1) v"
        f" {_JOINED} GROUP BY ALL ORDER BY ALL",
        _JOIN,
        _BESIDE,
    ),
    "two means and a sum": Shape(
        _VISITS,
        "privacy_unit: row\nrecode: {region: keep, m: keep}\nmeasures:\n"
        "  cost_mean: {mean: cost, bounds: [0, 4000]}\n  age_mean: {mean: age, bounds: [0, 100]}\n"
        "  days: {sum: days, bounds: [0, 60]}",
        "SELECT region, m, count(*) AS n, avg(greatest(0, least(4000, cost))) AS cost_mean,"
        " avg(greatest(0, least(100, age))) AS age_mean, sum(greatest(0, least(60, days))) AS days"
        " FROM 'source.parquet' GROUP BY ALL ORDER BY ALL",
    ),
    "a roll-up": Shape(
        _VISITS,
        "privacy_unit: row\nrecode: {region: keep, m: keep, age: {bins: [18, 30, 45, 60]}}\n"
        "rollup: {to: [region], share: 0.2}",
        "SELECT region, m, CASE WHEN age < 18 THEN 'a' WHEN age < 30 THEN 'b' WHEN age < 45 THEN"
        " 'c' WHEN age < 60 THEN 'd' ELSE 'e' END AS age, count(*) AS n FROM 'source.parquet'"
        " GROUP BY GROUPING SETS ((1, 2, 3), (1)) ORDER BY ALL",
    ),
}


def used(words: list[str], folder: Path) -> tuple[float, float]:
    """CPU seconds of a command, and the most megabytes that it had at once."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    measured = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
        " stdout=subprocess.DEVNULL); u = resource.getrusage(resource.RUSAGE_CHILDREN);"
        " print(u.ru_utime + u.ru_stime, u.ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured, sys.executable, *words],
        cwd=folder, env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--of", default="")
    arguments = parser.parse_args()
    print(f"DuckDB {duckdb.__version__}, {arguments.rows:,} rows, load {os.getloadavg()[0]:.1f}")
    for name, shape in SHAPES.items():
        if arguments.of not in name:
            continue
        with tempfile.TemporaryDirectory() as place:
            source = Path(place) / "source.parquet"
            query = shape.source.format(rows=arguments.rows)
            duckdb.sql(f"COPY ({query}) TO '{source}' (FORMAT parquet)")
            for other, asked in shape.beside:
                of = f"({asked.format(rows=arguments.rows)}) TO '{place}/{other}.parquet'"
                duckdb.sql(f"COPY {of} (FORMAT parquet)")
            found: dict[str, list[tuple[float, float]]] = {"plain": [], "release": []}
            copy = f"COPY ({shape.by_hand}) TO 'plain.parquet' (FORMAT parquet)"
            for turn in range(arguments.repeats):
                folder = Path(place) / str(turn)
                folder.mkdir()
                for file in Path(place).glob("*.parquet"):
                    os.link(file, folder / file.name)
                text = POLICY.format(lines=shape.lines, join=shape.join)
                (folder / "policy.yaml").write_text(text)
                project = "ledger_begins: in_each_checkout\naccounts: {people: {}}\n"
                (folder / "policy-engine.yaml").write_text(project)
                found["plain"].append(used(["-c", f"import duckdb; duckdb.sql({copy!r})"], folder))
                release = ["-m", "policy_engine", "release", "policy.yaml"]
                found["release"].append(used(release, folder))
        least = {each: tuple(map(min, zip(*turns, strict=True))) for each, turns in found.items()}
        (cpu, size), (whole, most) = least["plain"], least["release"]
        print(f"{name}: {cpu:.2f} s, {size:.0f} MB by hand; release {whole:.2f} s, {most:.0f} MB;"
              f" {whole / cpu:.1f} times")  # fmt: skip


if __name__ == "__main__":
    main()
