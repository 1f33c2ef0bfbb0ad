"""The golden cases: each a policy over one small source, and the text that is reviewed.

DuckDB reads files and rows by their numbers; every other engine has the same cases over a table of
people with a key, in a folder of its own. What an engine refuses stands in its ``refused.txt``.

To write the texts anew after a change that is meant: ``python tests/golden/cases.py``, and
read the difference before it is committed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.compile.joining import with_beside
from policy_engine.compile.rendering import created, name_of
from policy_engine.dialects import dialect_named
from policy_engine.engines import ENGINES
from policy_engine.errors import PolicyError
from policy_engine.kernel.claim import Claim
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy

FOLDERS = Path(__file__).parent
DUCKDB = "duckdb"
REFUSED = "refused.txt"

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
FILE = "{file: people.parquet}\nprivacy_unit: row"
KEYED_FILE = "{file: people.parquet}\nprivacy_unit: {column: person, rows: any}"
TABLE = "{table: people}\nprivacy_unit: row"
KEYED = "{{table: people}}\nprivacy_unit: {{column: person, rows: {{first_by: [{order}]}}}}"
MANY = "{table: people}\nprivacy_unit: {column: person, rows: all}"
ANY_ROW = "{table: people}\nprivacy_unit: {column: person, rows: any}"

KEY = KEYED.format(order="age")
_SPANS = "{years: {of: born, age_at: seen}, days: {of: born, days_until: moved}}"
COMPUTED = KEY.replace("people}", f"people, compute: {_SPANS}}}")

# One key more than CASE is asked for.
LONG = ", ".join(f"'{n}': {'north' if n < 10060 else 'null'}" for n in range(10000, 10201))

NATIVE = "sample: {rate: 0.25, method: native}\nk: 5"
SUMS = """\
measures:
  pay: {mean: income, bounds: [0, 40], round_to: 10}
  years: {sum: age, bounds: [0, 100], missing: {as: 0}}"""
VISITS = """\
contribution: {max_groups: 2, max_rows_per_group: 3}
count: {people: people, rows: visits}
measures:
  pay: {mean: income, per: row, bounds: [0, 40], round_to: 10}
  paid: {sum: income, per: row, bounds: [0, 40], round_to: 10}
  years: {mean: age, per: person, bounds: [0, 100]}"""
PUBLIC = "{age: {bins: [18, 65]}, zip: {map: {'10115': Berlin}, other: elsewhere}}"

CASES: dict[str, dict[str, str]] = {
    "keep": {"recode": "{zip: keep, sex: keep, married: keep, born: keep}"},
    "bins": {"recode": "{age: {bins: [18, 65]}, income: {bins: [0.5]}, weight: {bins: [-1, 70]}}"},
    "bins_of_dates": {"recode": "{born: {bins: [1970-01-01]}, moved: {bins: [2000-01-01]}}"},
    "map": {"recode": "{zip: {map: {'10115': Berlin, \"it's\": null}, other: \"it's 20%\"}}"},
    "long_map": {"recode": f"{{zip: {{map: {{{LONG}}}, other: elsewhere}}}}"},
    "prefix": {"recode": "{zip: {prefix: 3}, name: {prefix: 1}}"},
    "round": {"recode": "{age: {round: 10}, income: {round: 0.25}, weight: {round: 5}}"},
    "truncate": {"recode": "{born: {truncate: year}, seen: {truncate: hour}}"},
    "computed": {
        "recode": "{years: {bins: [18]}, days: {round: 10}}",
        "source": COMPUTED.replace("table: people", "file: people.parquet"),
    },
    "constant": {"recode": '{everybody: {constant: "*"}}'},
    "declared_types": {
        "recode": "{zip: {bins: [50000]}}",
        "source": "{file: people.parquet, columns: {zip: integer}}\nprivacy_unit: row",
    },
    "collation": {"recode": "{name: keep}", "source": TABLE},
    "names": {"recode": "{'it\"s': keep}", "count": "count: {people: order by}\n"},
    "key": {"source": KEYED.format(order="seen desc, age")},
    "key_of_a_file": {"source": KEYED_FILE},
    "any_row": {"recode": "{age: {bins: [18]}}", "source": ANY_ROW},
    "rows": {"form": "rows"},
    "native": {"mechanism": NATIVE, "source": TABLE},
    "native_of_a_file": {"mechanism": NATIVE},
    "raw_first": {"grouping": "raw_first"},
    "raw_first_rows_by_key": {
        "grouping": "raw_first", "form": "rows", "source": KEYED.format(order="age"),
    },
    "answers": {
        "recode": PUBLIC, "mechanism": "mechanism: randomised_response",
        "guarantee": "{epsilon: 2, delta: 0, neighbours: replace_one}",
    },
    "tuples": {
        "recode": PUBLIC, "mechanism": "mechanism: ab_insertion", "form": "rows",
        "guarantee": "{epsilon: 1, delta: 0}",
    },
    "into_a_table": {"source": TABLE, "target": "table: out"},
    "noisy_counts": {"mechanism": "mechanism: noisy_counts"},
    "place": {"mechanism": "noise: {distribution: negative_binomial}"},
    "sums": {"mechanism": SUMS},
    "rollup": {"mechanism": "rollup: {to: [age]}"},
    "marginals": {"mechanism": "marginals: [[age], [zip]]"},
    "public_keys": {
        "recode": "{age: keep, zip: keep}",
        "mechanism": "public_groups: {age: [18, 65, null], zip: ['10115', \"it's\", null]}",
    },
    "public_keys_of_rows": {
        "recode": "{age: {bins: [18]}, everybody: {constant: '*'}, born: keep}",
        "mechanism": "public_groups: [{age: <18, born: '2020-01-01'}, {age: null, born: null}]",
    },
    "sums_of_a_rollup": {
        "mechanism": "measures: {years: {sum: age, bounds: [0, 10]}}\nrollup: {to: [age]}",
        "guarantee": "{epsilon: 4, delta: 0.3}",
    },
    "several_groups": {
        "source": MANY,
        "mechanism": VISITS,
    },
    "who_is_cut": {
        "source": MANY,
        "mechanism": VISITS.replace("group: 3}", "group: 3, count_cut: true}"),
    },
}  # fmt: skip

# Elsewhere: a table of people with a key, without columns that only some engines have.
OF_FILES = ("key_of_a_file", "native_of_a_file")
OTHERWISE: dict[str, dict[str, str]] = {
    "prefix": {"recode": "{zip: {prefix: 3}}"},
    "computed": {"source": COMPUTED},
    "native": {"source": TABLE},
    "key": {"source": KEYED.format(order="seen desc, age")},
    "any_row": {"source": ANY_ROW},
    "several_groups": {"source": MANY},
    "who_is_cut": {"source": MANY},
    "marginals": {"mechanism": "marginals: [[age], [born]]"},
}
MORE: dict[str, dict[str, str]] = {
    "keep_numbers": {"recode": "{age: keep, income: keep, born: keep, seen: keep}"},
    "keep_truth": {"recode": "{married: keep}"},
    "map_of_numbers": {"recode": "{age: {map: {'17': young, '-1': null}, other: old}}"},
    "map_of_truth": {"recode": "{married: {map: {'true': 'yes', 'false': 'no'}, other: none}}"},
    "map_of_dates": {"recode": "{born: {map: {'1970-01-01': epoch}, other: other}}"},
    "bins_of_exact": {"recode": "{age: {bins: [18, 65]}, income: {bins: [0.5]}}"},
    "round_exact": {"recode": "{age: {round: 10}, income: {round: 0.25}}"},
    "round_to_whole": {"recode": "{income: {round: 10}}"},
    "round_finely": {"recode": "{income: {round: 0.0000000001}}"},
    "truncate_to_parts": {"recode": "{born: {truncate: month}, seen: {truncate: quarter}}"},
    "truncate_to_weeks": {"recode": "{born: {truncate: week}, seen: {truncate: week}}"},
    "truncate_to_days": {"recode": "{seen: {truncate: day}, moved: {truncate: year}}"},
    "labels": {"recode": '{age: {bins: [18, 65], labels: [a, A, "it\'s"]}}'},
    "labels_with_blanks": {"recode": "{age: {bins: [18], labels: ['a', 'a ']}}"},
    "labels_beyond_ascii": {"recode": "{age: {bins: [18], labels: [jung, älter]}}"},
    "labels_with_backslashes": {"recode": "{age: {bins: [18], labels: ['a\\b', 'c']}}"},
    "names_of_the_count": {"recode": "{age: keep}", "count": "count: {people: order by}\n"},
    "order_of_text": {"source": KEYED.format(order="zip desc")},
    "tiny_rate": {"mechanism": "sample: {rate: 0.05}\nk: 5"},
}

POLICY = """\
version: 1
name: golden
source: {source}
recode: {recode}
{mechanism}
guarantee: {guarantee}
release: {{{target}, as: {form}}}
{count}grouping: {grouping}
"""
DEFAULTS = {
    "source": FILE,
    "recode": "{age: {bins: [18]}, zip: {prefix: 2}}",
    "mechanism": "sample: {rate: 0.25}\nk: 5",
    "guarantee": "{epsilon: 1, delta: 0.5}",
    "target": "file: out.parquet",
    "form": "counts",
    "count": "",
    "grouping": "auto",
}


PLAIN = "{age: {bins: [18]}, born: {bins: [1970-01-01]}}"


def cases_of(dialect: str) -> tuple[str, ...]:
    """The cases of a dialect, those that it refuses among them."""
    if dialect == DUCKDB:
        return tuple(CASES)
    return (*(case for case in CASES if case not in OF_FILES), *MORE)


def policy_of(case: str, folder: Path, dialect: str = DUCKDB) -> Policy:
    """The policy of a case."""
    found = {**DEFAULTS, **{**CASES, **MORE}[case]}
    if dialect != DUCKDB:
        own = {**CASES, **MORE}[case]
        found |= {"source": KEY, "recode": own.get("recode", PLAIN)} | OTHERWISE.get(case, {})
        found |= {"source": own["source"]} if case in MORE and "source" in own else {}
        if case == "declared_types":
            found["source"] = KEY.replace("people}", "people, columns: {zip: integer}}")
    made = _policy(POLICY.format(**found))
    return replace(made, file=folder / made.file, directory=folder)


@cache  # the same one for all engines but DuckDB: to find a table of noise takes a second
def _policy(text: str) -> Policy:
    return load_policy_text(text, Path("policy.yaml"), Path())


def table_of(policy: Policy, dialect: str = DUCKDB) -> Table:
    """The catalog's answer for the source of a case."""
    columns = [Field(name, kind) for name, kind in COLUMNS.items()]
    if dialect != DUCKDB:
        own = Table(tuple(_column(c, dialect) for c in columns), parts=("main", "people"))
        return with_beside(policy.source, own, ())
    if policy.source.path is None:
        return Table(tuple(columns), parts=("db", "main", "people"))
    # A Parquet file has neither collations nor enumerations.
    plain = {"name": "VARCHAR", "sex": "VARCHAR"}
    found = tuple(Field(c.name, plain.get(c.name, c.type)) for c in columns)
    return with_beside(policy.source, Table(found, path=policy.source.path), ())


def _column(column: Field, dialect: str) -> Field:
    """A column as a catalog tells it where every text has a collation."""
    collated = ENGINES[dialect].collates and column.type == "VARCHAR"
    return Field(column.name, column.type + (" COLLATE general_ci" if collated else ""))


def printed_of(case: str, folder: Path, dialect: str = DUCKDB) -> tuple[Claim, str]:
    """The claim of a case, and its text.

    Raises PolicyError where the policy or the engine allows none.
    """
    policy = policy_of(case, folder, dialect)
    return compiled(policy, table_of(policy, dialect), dialect_named(dialect))


def _enveloped(query: str, policy: Policy, dialect: str) -> str:
    """The query in its envelope, where it makes a table."""
    place = ("db", "main", "out") if dialect == DUCKDB else ("main", "out")
    asked = dialect_named(dialect)
    return created(query, name_of(place, asked)) if policy.release.relation else query


@cache  # it is compared, and asked for what is refused
def text_of(case: str, folder: Path, dialect: str = DUCKDB) -> str | PolicyError:
    """The text of a case in its envelope, or why there is none."""
    policy = policy_of(case, folder, dialect)
    try:
        return _enveloped(printed_of(case, folder, dialect)[1], policy, dialect)
    except PolicyError as error:
        return error


def reasons_of(dialect: str, folder: Path) -> str:
    """What a dialect refuses, as ``refused.txt`` says it: a case a line."""
    texts = ((case, text_of(case, folder, dialect)) for case in cases_of(dialect))
    return "".join(f"{case}: {_reason(e)}\n" for case, e in texts if isinstance(e, PolicyError))


def _reason(error: PolicyError) -> str:
    told = ("; ".join(filter(None, (p.message, p.remedy))) for p in error.problems)
    return " | ".join(dict.fromkeys(told))


def main() -> None:
    """Write every text anew: those of DuckDB, and of every other engine those that stand there.

    Who wants one more of another engine makes an empty file of its name first.
    """
    for dialect in ENGINES:
        folder = FOLDERS / dialect
        folder.mkdir(exist_ok=True)
        standing = {file.stem for file in folder.glob("*.sql")}
        for stale in (*folder.glob("*.sql"), folder / REFUSED):
            stale.unlink(missing_ok=True)
        for case in cases_of(dialect):
            text = text_of(case, folder, dialect)
            if isinstance(text, str) and (dialect == DUCKDB or case in standing):
                (folder / f"{case}.sql").write_text(text, encoding="utf-8")
        if reasons := reasons_of(dialect, folder):
            (folder / REFUSED).write_text(reasons, encoding="utf-8")


if __name__ == "__main__":
    main()
