"""Every recoding over every type it takes, on the engine, against a model in plain Python.

The hostile values are in every column, each in three rows, and k is 2: what the compiled
text releases with every unit drawn is then the model's answer for each value, times three.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from everyone import make_table, policy_of, release_from, release_to_everyone
from recode_model import recoded

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError
from policy_engine.warehouse.duckdb import DuckDBWarehouse

INTEGERS = ["0", "1", "-1", "17", "18", "99", "100", "127", "-128"]
VALUES: dict[str, list[str | None]] = {
    "TINYINT": INTEGERS,
    "SMALLINT": [*INTEGERS, "32767", "-32768"],
    "INTEGER": [*INTEGERS, "2147483647", "-2147483648"],
    "BIGINT": [*INTEGERS, "9223372036854775807", "-9223372036854775808", "9007199254740993"],
    "UTINYINT": ["0", "17", "18", "255"],
    "UBIGINT": ["0", "17", "18", "9223372036854775808", "18446744073709551615"],
    "HUGEINT": [*INTEGERS, str(2**127 - 1), str(-(2**127)), str(2**63), str(2**64)],
    "UHUGEINT": ["0", "17", "18", str(2**128 - 1), str(2**127)],
    "DECIMAL(10,2)": ["0.00", "-0.01", "17.99", "18.00", "18.01", "99999999.99", "-99999999.99"],
    "DECIMAL(38,0)": ["0", "17", "18", "9" * 38, "-" + "9" * 38],
    "DECIMAL(38,37)": ["0." + "0" * 37, "9." + "9" * 37, "-9." + "9" * 37, "1.5" + "0" * 36],
    "FLOAT": ["0.0", "-0.0", "17.9", "18.0", "nan", "inf", "-inf", "3.4028235e+38", "1e-45"],
    "DOUBLE": [
        "0.0", "-0.0", "17.9", "18.0", "nan", "inf", "-inf", "1.7976931348623157e+308", "5e-324",
    ],
    "VARCHAR": [
        "", " ", "a", "A", "a ", "á", "a\u0301", "👩‍👩‍👧x", "🇩🇪ab", "שלום", "\u202eabc", "it's 20%",
        "NULL", "null", "\t", "a\nb", "-- x", "'; drop table x; --", "\\", "\\n", "0", "00", "ﬀ",
    ],
    "BOOLEAN": ["true", "false"],
    "DATE": [
        "1970-01-01", "1969-12-31", "1582-10-10", "0001-01-01", "9999-12-31", "2020-02-29",
        "0001-12-31 (BC)", "0044-03-15 (BC)", "10000-01-01", "5877642-06-25 (BC)",
        "5881580-07-10", "infinity", "-infinity", "2019-12-31", "2021-01-03",
    ],
    "TIMESTAMP": [
        "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00",
        "2020-02-29 12:34:56.789", "0044-03-15 (BC) 10:00:00", "10000-01-01 00:00:00",
        "294247-01-10 04:00:54.775806", "infinity", "-infinity", "2020-03-29 02:30:00",
    ],
    "UUID": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"],
    "ENUM('a', 'it''s', '', 'A')": ["a", "it's", "", "A"],
    "TIME": ["00:00:00", "23:59:59.999999"],
}  # fmt: skip
VALUES["TIMESTAMP WITH TIME ZONE"] = [
    f"{text}+00" for text in VALUES["TIMESTAMP"] if text and "inf" not in text and "BC" not in text
]
for kind in VALUES:
    VALUES[kind] = [*VALUES[kind], None]

INTEGER_TYPES = [kind for kind in VALUES if kind.endswith("INT") or kind == "INTEGER"]
NARROW = [kind for kind in INTEGER_TYPES if "HUGE" not in kind]
DECIMALS = [kind for kind in VALUES if kind.startswith("DECIMAL")]
# Of more than 15 digits and more than 6 behind the point none is rounded.
ROUNDED = [kind for kind in DECIMALS if kind != "DECIMAL(38,37)"]
FLOATS = ["FLOAT", "DOUBLE"]
MOMENTS = ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]
NO_FLOATS = [kind for kind in VALUES if kind not in FLOATS]
LOOKED_UP = [kind for kind in NO_FLOATS if "TIME" not in kind]
_WHOLE = ("'0': zero, '18': 18", "'17': null, '18': \"it's 20%\"")
_TEXTS = (
    "a: x, A: y, '0': zero, '18.00': 18, 'true': yes, '': empty",
    'a: null, "it\'s": "it\'s 20%"',
)
_KEYS = {
    **dict.fromkeys([*INTEGER_TYPES, "DECIMAL(38,0)"], _WHOLE),
    "ENUM('a', 'it''s', '', 'A')": ("a: x, A: y, '': empty", 'a: null, "it\'s": "it\'s 20%"'),
    "UUID": (
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11: x",
        "00000000-0000-0000-0000-000000000000: null",
    ),
    "DECIMAL(10,2)": ("'0.00': zero, '18.00': 18", "'17.99': null, '-0.01': \"it's 20%\""),
    "DECIMAL(38,37)": (f"'1.5{'0' * 36}': half", f"'0.{'0' * 37}': null"),
    "BOOLEAN": ("'true': yes", "'false': null, 'true': \"it's 20%\""),
    "DATE": ("'1970-01-01': first, '9999-12-31': last", "'2020-02-29': null, '0001-01-01': x"),
}


def keys_of(kind: str) -> tuple[str, str]:
    """Two maps of values of a type: a key that no value can be is refused."""
    return _KEYS.get(kind, _TEXTS)


CASES = [
    *[(kind, "keep") for kind in NO_FLOATS],
    *[(kind, "{bins: [0, 18]}") for kind in (*INTEGER_TYPES, *DECIMALS, *FLOATS)],
    *[(kind, "{bins: [-5, 18.000000000000000000000000]}") for kind in INTEGER_TYPES],
    *[(kind, "{bins: [-1.0e+37, 17.95, 1.0e+30, 9.9e+37]}") for kind in (*DECIMALS, *FLOATS)],
    *[(kind, "{bins: [-1.0e+37, 18, 1.0e+30, 9.9e+37]}") for kind in NARROW],
    *[(kind, f"{{bins: [{2**53 + 1}, {2**63}, {2**64}]}}") for kind in NARROW if kind != "UBIGINT"],
    *[(kind, "{bins: [1970-01-01, 2020-02-29]}") for kind in MOMENTS],
    *[
        (kind, "{bins: ['1970-01-01 00:00:00', '2020-02-29 12:34:56.789']}")
        for kind in MOMENTS
        if kind != "DATE"
    ],
    *[(kind, "{round: 10}") for kind in (*NARROW, *ROUNDED, *FLOATS)],
    *[(kind, "{round: 0.25}") for kind in (*NARROW, *ROUNDED, *FLOATS)],
    *[(kind, f"{{map: {{{keys_of(kind)[0]}}}, other: o}}") for kind in LOOKED_UP],
    *[(kind, f"{{map: {{{keys_of(kind)[1]}}}, other: null}}") for kind in LOOKED_UP],
    *[("VARCHAR", f"{{prefix: {length}}}") for length in (1, 2, 3, 999_999_999)],
    ("ENUM('a', 'it''s', '', 'A')", "{prefix: 2}"),
    *[
        (kind, f"{{truncate: {unit}}}")
        for kind in MOMENTS
        for unit in ("year", "quarter", "month", "week", "day", "hour")
        if (kind, unit) != ("DATE", "hour")
    ],
]  # fmt: skip
# Rounding goes through DOUBLE: past 2^53 the nearest multiple is not told from its neighbour.
INEXACT = {
    ("BIGINT", "9223372036854775807"), ("BIGINT", "-9223372036854775808"),
    ("BIGINT", "9007199254740993"), ("UBIGINT", "9223372036854775808"),
    ("UBIGINT", "18446744073709551615"),
}  # fmt: skip


def expected_counts(recoding, kind, values):
    found = Counter()
    for text in values:
        found[recoded(recoding, kind, text)] += 3
    return found


def values_of(kind, recode):
    """The values of a type, for a rounding those that the model rounds alike."""
    unknown = INEXACT if "round" in recode else ()
    return [text for text in VALUES[kind] if (kind, text) not in unknown]


def relation_of(kind, recode):
    """The table of these values."""
    return f"{'rounded' if 'round' in recode else 'whole'}_{list(VALUES).index(kind)}"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """The values of each type in a table of their own, and in another those to round."""
    database = tmp_path_factory.mktemp("recodes") / "db.duckdb"
    for kind in VALUES:
        for recode in ("keep", "round"):
            rows = [(text,) for text in values_of(kind, recode)] * 3
            make_table(database, {"x": kind}, rows, relation_of(kind, recode))
    with closing(DuckDBWarehouse("db", database)) as opened:
        yield opened


@pytest.mark.parametrize(("kind", "recode"), CASES)
def test_a_recoding_on_the_engine_is_what_the_model_says(tmp_path, warehouse, kind, recode):
    values = values_of(kind, recode)
    source = f"{{table: {relation_of(kind, recode)}}}\nprivacy_unit: row"
    policy = policy_of(tmp_path, f"{{x: {recode}}}", source=source)
    found = release_from(policy, warehouse)
    wanted = expected_counts(policy.recodings[0][1], kind, values)
    assert {value: int(count) for value, count in found} == wanted


IN_PARQUET = [case for case in CASES if "HUGE" not in case[0] and "ENUM" not in case[0]]


@pytest.mark.parametrize(("kind", "recode"), IN_PARQUET[::6])
def test_a_recoding_of_a_parquet_file_is_what_the_model_says(tmp_path, kind, recode):
    values = values_of(kind, recode)
    make_table(tmp_path / "source.parquet", {"x": kind}, [(text,) for text in values] * 3)
    policy = policy_of(tmp_path, f"{{x: {recode}}}")
    found = release_to_everyone(policy, tmp_path)
    wanted = expected_counts(policy.recodings[0][1], kind, values)
    assert {value: int(count) for value, count in found} == wanted


@pytest.mark.parametrize("kind", ["BIGINT", "UBIGINT"])
def test_rounding_what_no_longer_fits_gives_null(tmp_path, kind):
    top = "9223372036854775807" if kind == "BIGINT" else "18446744073709551615"
    make_table(tmp_path / "db.duckdb", {"x": kind}, [(top,)] * 3)
    policy = policy_of(tmp_path, "{x: {round: 10}}", source="{table: people}\nprivacy_unit: row")
    assert release_to_everyone(policy, tmp_path) == [(None, "3")]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_a_time_with_zone_is_read_in_utc_whatever_the_session(tmp_path, monkeypatch, zone):
    values = VALUES["TIMESTAMP WITH TIME ZONE"]
    make_table(tmp_path / "db.duckdb", {"x": "TIMESTAMPTZ"}, [(text,) for text in values] * 3)
    policy = policy_of(
        tmp_path, "{x: {truncate: day}}", source="{table: people}\nprivacy_unit: row"
    )
    monkeypatch.setitem(os.environ, "TZ", zone)
    time.tzset()
    try:
        found = release_to_everyone(policy, tmp_path)
    finally:
        monkeypatch.undo()
        time.tzset()
    wanted = expected_counts(policy.recodings[0][1], "TIMESTAMP WITH TIME ZONE", values)
    assert {value: int(count) for value, count in found} == wanted


@pytest.mark.parametrize(
    ("recode", "wanted"),
    [
        ("keep", {"A": 3, "a": 3, "a ": 3, "B": 3}),
        ("{prefix: 1}", {"A": 3, "a": 6, "B": 3}),
        ("{map: {a: small, A: capital}, other: rest}", {"capital": 3, "small": 3, "rest": 6}),
    ],
)
@pytest.mark.parametrize("declared", ["", ", columns: {x: text}"])
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT.NOCASE", "de"])
def test_a_collation_merges_nothing(tmp_path, recode, wanted, declared, collation):
    rows = [(text,) for text in ("A", "a", "a ", "B")] * 3
    make_table(tmp_path / "db.duckdb", {"x": f"VARCHAR COLLATE {collation}"}, rows)
    source = f"{{table: people{declared}}}\nprivacy_unit: row"
    policy = policy_of(tmp_path, f"{{x: {recode}}}", source=source)
    found = release_to_everyone(policy, tmp_path)
    assert {value: int(count) for value, count in found} == wanted


NAMES = [
    "select", "n", "unit", "sampled", "recoded", "counted", "released", "order by",
    '"; drop table x; --', "a.b", 'qu"ote', "it's", "CASE", "ünïcode", "columns", "true", "null",
    "main",
]  # fmt: skip


@pytest.mark.parametrize("form", ["counts", "rows"])
@pytest.mark.parametrize("grouping", ["recoded", "raw_first"])
def test_columns_may_have_any_name(tmp_path, form, grouping):
    make_table(
        tmp_path / "source.parquet", dict.fromkeys(NAMES, "INTEGER"), [["7"] * len(NAMES)] * 3
    )
    quoted = [name.replace("\\", "\\\\").replace('"', '\\"') for name in NAMES]
    count = "\ncount: {people: how many}" if form == "counts" else ""
    policy = policy_of(
        tmp_path,
        "{" + ", ".join(f'"{name}": {{bins: [5]}}' for name in quoted) + "}",
        release=f"{{file: out.parquet, as: {form}}}{count}",
        grouping=grouping,
    )
    row = (">=5",) * len(NAMES)
    wanted = [(*row, "3")] if form == "counts" else [row] * 3
    assert release_to_everyone(policy, tmp_path) == wanted


LABELS = ["it's 20%", "\\", "\\n", "a\nb", "'", "''", '"', "?", "$1", "{ query }", "{# query #}",
          "--", "/* */", "שלום", "👩‍👩‍👧", "\u202e", "", " ", "%s", ";",
          "__SQLGLOT__LBREAK__"]  # fmt: skip


def test_labels_are_released_letter_by_letter(tmp_path):
    make_table(tmp_path / "source.parquet", {"x": "VARCHAR"}, [(t,) for t in LABELS[:-1]] * 3)
    table = ", ".join(f"{_yaml(label)}: {_yaml(label + '!')}" for label in LABELS[:-1])
    policy = policy_of(tmp_path, f"{{x: {{map: {{{table}}}, other: {_yaml('o' + chr(39))}}}}}")
    found = release_to_everyone(policy, tmp_path)
    assert {value: int(count) for value, count in found} == {f"{t}!": 3 for t in LABELS[:-1]}


def _yaml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def test_a_bad_value_of_a_declared_column_becomes_null(tmp_path):
    (tmp_path / "source.csv").write_text("age,born\n" + "abc,1990-13-45\n34,1990-01-01\n" * 3)
    policy = policy_of(
        tmp_path,
        "{age: {bins: [30]}, born: {truncate: year}}",
        source="{file: source.csv, columns: {age: integer, born: date}}\nprivacy_unit: row",
    )
    found = release_to_everyone(policy, tmp_path)
    assert found == [(">=30", "1990-01-01", "3"), (None, None, "3")]


def test_two_columns_that_differ_by_the_case_of_any_letter_are_refused(tmp_path: Path):
    make_table(tmp_path / "source.parquet", {"É": "INTEGER", "é": "INTEGER"}, [("1", "2")] * 3)
    with pytest.raises(PolicyError, match="'é' can be the columns 'É' and 'é'"):
        release_to_everyone(policy_of(tmp_path, "{é: keep}"), tmp_path)


def test_a_column_beyond_ascii_is_read_whatever_its_case(tmp_path: Path):
    make_table(tmp_path / "source.parquet", {"É": "INTEGER", "è": "INTEGER"}, [("1", "2")] * 3)
    assert release_to_everyone(policy_of(tmp_path, "{é: keep}"), tmp_path) == [("1", "3")]


@pytest.mark.parametrize(
    ("kind", "cut"), [("UBIGINT", 2**63), ("HUGEINT", 2**63), ("HUGEINT", -(10**37))]
)
def test_a_cut_that_no_engine_compares_alike_is_refused(tmp_path, kind, cut):
    policy = policy_of(tmp_path, f"{{x: {{bins: [{cut}]}}}}")
    table = Table((Field("x", kind),), path="p.parquet")
    with pytest.raises(PolicyError, match="a cut point of a whole number has at most 63 bits"):
        compiled(policy, table, dialect_named("duckdb"))


def test_the_week_of_the_least_day_of_all_fails_nowhere(tmp_path):
    """DuckDB asked for it before the text ran, of the column's least value, and failed."""
    days = [("5877642-06-25 (BC)",)] * 3 + [("2020-02-02",)] * 3
    make_table(tmp_path / "source.parquet", {"x": "DATE"}, days)
    found = release_to_everyone(policy_of(tmp_path, "{x: {truncate: week}}"), tmp_path)
    assert sorted(found, key=str) == [("2020-W05", "3"), (None, "3")]
