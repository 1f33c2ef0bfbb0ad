"""The texts of a release model: what dbt renders them to, and that their tests test the recodes."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import jinja2
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from policy_engine.compile.catalog import Field
from policy_engine.compile.reading import ReadColumn
from policy_engine.dbt.examples import examples
from policy_engine.dbt.properties import generated_file, version_entry
from policy_engine.dbt.release_model import ReleaseModel, release_model
from policy_engine.dbt.sources import SourceNode
from policy_engine.dbt.texts import escaped, opens, spaced
from policy_engine.dbt.types import Columns, kernel_type, released_types
from policy_engine.dbt.unit_tests import cases_of, unit_tests
from policy_engine.dbt.words import release_words
from policy_engine.dbt.yaml_items import (
    Block,
    Flow,
    FlowList,
    YamlItems,
    edited,
    scalar,
    settle,
    written,
)
from policy_engine.dialects import ENGINES, dialect_named
from policy_engine.errors import PolicyError
from policy_engine.kernel.certificate import NotPrinted, check_text
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project_models import DbtSpec
from policy_engine.policy.recodings import Intervals, Prefix, Round

sys.path[:0] = [str(Path(__file__).parents[2] / "property")]

from test_policy_prints import COLUMNS, yaml  # noqa: E402

NODE = SourceNode("model", "stg_people", "ref('stg_people')", "model.shop.stg_people")
SETTINGS = DbtSpec(release_targets=["prod", "prod eu"])
POLICY = """\
version: 1
name: any
description: {words}
source:
  relation: ref('stg_people')
  unit: {unit}{read_as}
recode: {{{recode}}}{conditions}
{chance}
guarantee: {{epsilon: 1, delta: 0.5}}
release: {{relation: towns, version: 2, as: {form}}}
"""
NASTY = """it's "{ x }}" %} if y %} {# z #} \\ { { %} {#"""
# What a policy must not have, and the file of a hierarchy may.
TEMPLATES = """it's "{{ x }}" {% if y %} {# z #} \\ {{{ %} {%"""


def model(
    recode: str,
    types: dict[str, str],
    *,
    k: int = 3,
    form: str = "counts",
    unit: str = "{row_key: the key}",
    read_as: str = "",
    dialect: str = "duckdb",
    words: str = "Words",
    conditions: str = "",
    chance: str = "sample: {{rate: 0.1}}\nk: {k}",
    folder: Path = Path(),
) -> ReleaseModel:
    """The model of a policy over columns of these types."""
    text = POLICY.format(
        recode=recode, form=form, unit=unit, read_as=read_as, words=words, conditions=conditions,
        chance=chance.format(k=k),
    )  # fmt: skip
    policy = load_policy_text(text, Path("towns.privacy.yml"), folder)
    columns = Columns({**types, "the key": "int64" if dialect == "bigquery" else "bigint"})
    return release_model(policy, NODE, columns, dialect_named(dialect), SETTINGS)


NOTHING: Mapping[str, object] = {}
EVERYBODY = {"policy_engine.in_sample": "true"}


class Package:
    """Our package's macros, as they are in a release target, but for those of ``instead``."""

    def __init__(self, instead: Mapping[str, object]) -> None:
        self.instead = instead

    def in_sample(self, caller) -> str:
        return str(self.instead.get("policy_engine.in_sample", caller()))

    def secret(self, caller) -> str:
        return str(self.instead.get("policy_engine.secret", caller()))

    def noise(self, caller) -> str:
        return str(self.instead.get("policy_engine.noise", caller()))

    def salts(self, name: str) -> str:
        return f"<{name}>"


def rendered(text: str, instead: Mapping[str, object] = NOTHING, **more: object) -> str:
    """A text as dbt's Jinja renders it."""
    names = {
        "config": lambda **_: "",
        "is_incremental": lambda: False,
        "ref": lambda name: f"<{name}>",
        "policy_engine": Package(instead),
        **more,
    }
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(names)


def test_a_release_target_runs_just_the_text_that_was_printed():
    release = model(f"town: {{map: {{{yaml(NASTY)}: {yaml(NASTY)}}}, other: {yaml('{#')}}}",
                    {"town": "text"})  # fmt: skip
    assert_printed(release)


def test_a_template_in_the_file_of_a_hierarchy_is_text(tmp_path):
    with (tmp_path / "towns.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([(TEMPLATES, TEMPLATES), ("a", "{{ b }}")])
    recode = "town: {hierarchy: towns.csv, level: 1}"
    release = model(recode, {"town": "text"}, folder=tmp_path)
    assert_printed(release)
    run_unit_tests(release)


def assert_printed(release: ReleaseModel) -> None:
    """In a release target dbt runs what was printed, and elsewhere nothing of it."""
    text = rendered(release.text)
    text = text.replace("<stg_people>", '"policy_engine_source"."policy_engine_source"')
    text = text.replace("<policy_engine_salts>", '"policy_engine_secrets"')
    assert text.strip() == release.printed.strip()
    assert rendered(release.text, is_incremental=lambda: True, this="me").split("\n")[-2:] == [
        "select * from me where false",
        "",
    ]


def test_what_is_printed_is_certified_and_another_text_is_not():
    release = model("town: keep", {"town": "text"}, k=20)
    claim = release.certificate.claim
    assert claim is not None
    check_text(release.printed, claim, "duckdb")
    with pytest.raises(NotPrinted):
        check_text(release.printed.replace(">= 20", ">= 19"), claim, "duckdb")


def test_words_that_a_policy_has_itself_are_not_mistaken_for_ours():
    ours = '"policy_engine_source"."policy_engine_source"'
    recode = f"""town: {{map: {{'{ours}': '"policy_engine_secrets"'}}, other: x}}"""
    text = rendered(model(recode, {"town": "text"}).text)
    assert text.count("<stg_people>") == 1 and text.count("<policy_engine_salts>") == 1
    assert f"IN ('{ours}') THEN '\"policy_engine_secrets\"'" in text


def test_a_column_that_is_called_as_ours_is_refused():
    with pytest.raises(PolicyError, match=r"a name must not .* start with policy_engine_"):
        model("policy_engine_rank: keep", {"policy_engine_rank": "text"})


@pytest.mark.parametrize("chance", ["sample: {rate: 0.1}\nk: 3", "mechanism: noisy_counts"])
@pytest.mark.parametrize("name", sorted(set(ENGINES) - {"sqlite", "tsql"}))
def test_every_dialect_with_a_keyed_secret_has_a_model(name, chance):
    kind = {"bigquery": "string", "clickhouse": "String", "datafusion": "utf8"}.get(name, "text")
    number = {"clickhouse": "Int64", "datafusion": "Int64"}.get(name, "bigint")
    text = POLICY.format(recode="age: {bins: [30]}", form="counts", unit="{row_key: the key}",
                         read_as="", words="x", conditions="", chance=chance)  # fmt: skip
    policy = load_policy_text(text, Path("towns.privacy.yml"), Path())
    columns = Columns({"age": number, "the key": number, "town": kind})
    found = release_model(policy, NODE, columns, dialect_named(name), SETTINGS)
    assert found.certificate.dialect == name
    assert list(found.types) == ["age", "n"]
    assert found.text.count("{% call policy_engine.in_sample() %}") == 1
    assert found.text.count("{% call policy_engine.secret() %}") == ("noisy" in chance)


def run_unit_tests(release: ReleaseModel) -> None:
    """Run every unit test of a release on the engine itself."""
    for test in unit_tests(release):
        # dbt renders the YAML, and then the SQL that it has made of it.
        [given_rows] = test["given"]
        rows = rendered(rendered(str(given_rows["rows"])))
        sql = rendered(release.text, test["overrides"]["macros"])
        sql = sql.replace("<stg_people>", "people")
        with duckdb.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            connection.execute(f"create view people as {rows}")
            found = Counter(connection.execute(sql).fetchall())
            assert found == expected(connection, release, test["expect"]), test["name"]


def expected(connection, release: ReleaseModel, expect: dict) -> Counter:
    if expect.get("format") == "sql":
        sql = rendered(rendered(str(expect["rows"])))
        return Counter(connection.execute(sql).fetchall())
    rows = []
    for row in expect["rows"]:
        values = [rendered(v) if isinstance(v, str) else v for v in row.values()]
        casts = ", ".join(f"cast(? as {release.types[name]})" for name in row)
        rows += connection.execute(f"select {casts}", values).fetchall()
    return Counter(rows)


TYPED = [
    ("TINYINT", "{bins: [-5, 100, 127]}"),
    ("UTINYINT", "{bins: [0, 200]}"),
    ("SMALLINT", "{round: 50}"),
    ("INTEGER", "{round: 0.5}"),
    ("BIGINT", "{map: {'1': one, '-7': minus}, other: more}"),
    ("BIGINT", "keep"),
    ("HUGEINT", "keep"),
    ("UBIGINT", "{bins: [10]}"),
    ("FLOAT", "{bins: [0.1, 0.5, 0.7]}"),
    ("FLOAT", "{round: 0.25}"),
    ("DOUBLE", "{bins: [-0.3, 0.7, 1.0e3]}"),
    ("DOUBLE", "{round: 1000}"),
    ("DECIMAL(4,1)", "{bins: [0.5, 10.25]}"),
    ("DECIMAL(4,1)", "{round: 0.2}"),
    ("DECIMAL(18,3)", "keep"),
    ("VARCHAR", "{prefix: 1}"),
    ("VARCHAR", "{prefix: 60}"),
    ("VARCHAR", "keep"),
    ("ENUM('a', 'it''s b', 'cc')", "{prefix: 2}"),
    ("ENUM('a', 'it''s b')", "{map: {a: x, it's b: y, z: z}, other: null}"),
    ("ENUM('a', 'b')", "keep"),
    ("BOOLEAN", "keep"),
    ("BOOLEAN", "{map: {'true': yes it is}, other: no it is not}"),
    ("DATE", "keep"),
    ("DATE", "{truncate: week}"),
    ("DATE", "{bins: [2000-02-29, 2020-01-01]}"),
    ("DATE", "{map: {'2020-01-01': new year}, other: day}"),
    ("TIMESTAMP", "keep"),
    ("TIMESTAMP", "{truncate: hour}"),
    ("TIMESTAMP", "{bins: [2000-02-29 12:00:00, 2020-01-01 00:00:00]}"),
    ("TIMESTAMP", "{bins: [2020-01-01]}"),
    ("TIMESTAMPTZ", "keep"),
    ("TIMESTAMPTZ", "{truncate: month}"),
    ("TIMESTAMPTZ", "{bins: [2020-01-01]}"),
    ("TIMESTAMP_NS", "{truncate: quarter}"),
    ("TIMESTAMP_S", "keep"),
    ("TIME", "keep"),
    ("UUID", "keep"),
    ("UUID", "{map: {x: y}, other: z}"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "recode"), TYPED)
def test_the_tests_of_every_recoding_pass_on_the_engine(kind, recode):
    run_unit_tests(model(f"x: {recode}", {"x": kind}))


@pytest.mark.parametrize(
    ("read_as", "recode"),
    [
        ("integer", "{bins: [10, 20]}"),
        ("double", "{round: 0.5}"),
        ("boolean", "keep"),
        ("date", "{truncate: year}"),
        ("timestamp", "{truncate: hour}"),
        ("text", "{prefix: 2}"),
    ],
)
def test_a_column_that_is_read_as_another_type_shows_what_cannot_be_read(read_as, recode):
    release = model(f"x: {recode}", {"x": "text"}, read_as=f"\n  columns: {{x: {read_as}}}")
    run_unit_tests(release)
    unread = {"integer": "many", "double": "many", "boolean": "perhaps", "text": "A1"}
    assert unread.get(read_as, "some day") in str(unit_tests(release)[0]["given"])


def test_a_test_of_rows_that_are_repeated():
    run_unit_tests(model("x: {bins: [1]}, y: keep", {"x": "int", "y": "text"}, form="rows", k=12))


@pytest.mark.parametrize(
    "unit",
    [
        "{key: the key, keep: {order_by: [day desc]}}",
        "{key: the key, keep: {order_by: [day]}}",
        "{key: the key, keep: {order_by: [visit desc, day]}}",
        "{key: the key, keep: {order_by: [x]}}",
        "{key: the key, keep: {order_by: [word desc]}}",
    ],
)
def test_a_second_row_of_a_person_must_not_count(unit):
    types = {"x": "int", "y": "text", "day": "date", "visit": "bigint", "word": "text"}
    release = model("x: {bins: [30, 60]}, y: keep", types, unit=unit)
    run_unit_tests(release)
    assert any(case.released is None for case in cases_of(release))
    # Chosen the other way round it would: the test tells.
    order = re.search(r"ORDER BY (\S+)( DESC)? NULLS LAST", release.text)
    assert order is not None
    turned = "" if order[2] else " DESC"
    text = release.text.replace(order[0], f"ORDER BY {order[1]}{turned} NULLS LAST", 1)
    with pytest.raises(AssertionError):
        run_unit_tests(replace(release, text=text))


NOISY = [
    ("mechanism: noisy_counts\nk: {k}", "row"),
    ("mechanism: noisy_counts", "{row_key: the key}"),
    ("noise: {{law: place}}\nk: {k}", "{key: the key, keep: {order_by: [day]}}"),
    ("noise: {{law: discrete_gaussian}}", "{key: the key, keep: any}"),
    ("mechanism: noisy_counts\ncontribution: {{groups: 3}}", "{key: the key, keep: all}"),
    ("sample: {{rate: 0.1}}\nk: {k}", "{key: the key, keep: any}"),
]


@pytest.mark.parametrize("form", ["counts", "rows"])
@pytest.mark.parametrize(("chance", "unit"), NOISY)
def test_chance_is_taken_out_of_a_test_and_stands_in_a_release(chance, unit, form):
    types = {"x": "int", "y": "text", "day": "date"}
    release = model("x: {bins: [30, 60]}, y: keep", types, unit=unit, form=form, chance=chance, k=7)
    run_unit_tests(release)
    assert unit_tests(release)
    text = rendered(release.text).replace("<policy_engine_salts>", '"policy_engine_secrets"')
    text = text.replace("<stg_people>", '"policy_engine_source"."policy_engine_source"')
    assert text.strip() == release.printed.strip()
    elsewhere = {"policy_engine.in_sample": "false", "policy_engine.secret": "''"}
    with duckdb.connect() as connection:
        connection.execute(
            """create table people as select i as "the key", 1 as x, 'a' as y,"""
            " date '2024-01-01' as day from range(5000) as r(i)"
        )
        sql = rendered(release.text, elsewhere).replace("<stg_people>", "people")
        assert connection.execute(sql).fetchall() == []


def test_what_a_count_with_noise_says_is_said_in_words():
    many = ("mechanism: noisy_counts\ncontribution: {{groups: 3}}", "{key: the key, keep: all}")
    words = {
        unit: release_words(model("x: {bins: [30]}", {"x": "int"}, unit=unit, chance=chance))
        for chance, unit in [NOISY[0], many, NOISY[5]]
    }
    assert "every row is a person. Everybody is counted" in words["row"]
    assert "A person is counted in at most 3 groups" in words["{key: the key, keep: all}"]
    assert "of whom one row counts, drawn at random." in words["{key: the key, keep: any}"]


@given(COLUMNS, st.sampled_from([2, 3, 20]), st.sampled_from(["counts", "rows"]))
@settings(max_examples=60 if os.environ.get("EVIDENCE") else 20, deadline=None)
def test_the_tests_of_whatever_a_policy_says_pass_on_the_engine(columns, k, form):
    names = [*columns, "the key"]
    assume(any(kind != "ANYTHING" for kind, _ in columns.values()))
    assume(not any(opens(name) or set(name) & set('"`[]') for name in names))
    recode = ", ".join(f"{yaml(name)}: {how}" for name, (_, how) in columns.items())
    types = {name: kind for name, (kind, _) in columns.items() if kind != "ANYTHING"}
    run_unit_tests(
        model(recode, types, k=k, form=form if form == "rows" else "counts, count_as: the n")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("< 30", "< 31"), ("< 30", "< 29"), ("< 60", "<= 60"), ("'<30'", "'below 30'"),
        ("IN ('A')", "IN ('a')"), ("'elsewhere'", "NULL"), ("ELSE '>=60'", "ELSE '[30,60)'"),
        (">= 3", ">= 2"), (">= 3", ">= 4"), ('LEFT("zip", 3)', 'LEFT("zip", 4)'),
    ],
)  # fmt: skip
def test_a_recode_that_is_not_the_policys_fails_its_test(old, new):
    release = model(
        "age: {bins: [30, 60]}, town: {map: {A: north}, other: elsewhere}, zip: {prefix: 3}",
        {"age": "int", "town": "text", "zip": "text"},
    )
    run_unit_tests(release)
    assert old in release.text
    with pytest.raises(AssertionError):
        run_unit_tests(replace(release, text=release.text.replace(old, new)))


def test_a_filter_decides_who_is_released_and_has_no_unit_test():
    release = model(
        "town: keep", {"town": "text", "age": "int", "zip": "text"},
        unit="{key: the key, keep: {order_by: [zip]}}",
        conditions="\nfilter: {age: {at_least: 18, below: 65}, town: {in: [A, B]}}",
    )  # fmt: skip
    assert unit_tests(release) == []
    assert "age at least 18, below 65 and town in A, B in that row" in release_words(release)
    with duckdb.connect() as connection:
        connection.execute(
            'create table people as select i as "the key", i % 2 * 40 as age,'
            " chr(65 + (i // 2 % 3)::int) as town, 'z' as zip from range(60) as r(i)"
        )
        sql = rendered(release.text, EVERYBODY).replace("<stg_people>", "people")
        assert connection.execute(sql).fetchall() == [("A", 10), ("B", 10)]
    assert release.text.count("in_sample") == 1


def test_no_test_where_each_person_is_a_group():
    release = model("'the key': {round: 10}", {}, unit="{row_key: the key}")
    assert unit_tests(release) == []
    assert "unit_tests" not in generated_file([release], SETTINGS, unit_tests(release))


def test_a_release_of_a_constant_alone():
    run_unit_tests(model(f"x: {{constant: {yaml(NASTY)}}}", {}, unit="{row_key: the key}"))


def test_a_line_end_that_dbt_would_change_is_refused():
    with pytest.raises(PolicyError, match="no carriage return"):
        model('x: {constant: "a\\rb"}', {}, unit="{row_key: the key}")


def test_examples_stay_few_and_show_every_label_of_a_long_map():
    table = ", ".join(f"k{n:03}: label {n % 5}" for n in range(300))
    [release] = [model(f"x: {{map: {{{table}}}, other: rest}}", {"x": "text"})]
    cases = cases_of(release)
    assert len(cases) <= 26
    assert {case.released for case in cases} >= {(f"label {n}",) for n in range(5)}
    run_unit_tests(release)


def test_examples_are_on_both_sides_of_a_cut():
    column = ReadColumn(Field("x", "DECIMAL(4,1)"), None)
    found = examples(Intervals((Decimal("0.5"), Decimal(10)), ("a", "b", "c")), column)
    raw = [(each.raw, each.released) for each in found]
    assert ("0.5", "b") in raw and ("10", "c") in raw and (None, None) in raw
    assert all(each.released in {"a", "b", "c", None} for each in found)
    assert examples(Prefix(2), ReadColumn(Field("x", "VARCHAR"), None))[0].released == "A1"
    values = examples(Round(Decimal(5)), ReadColumn(Field("x", "UTINYINT"), None))
    assert all(each.raw is None or int(each.raw) >= 0 for each in values)


@given(st.text())
@settings(max_examples=300)
def test_an_escaped_text_renders_to_itself(text):
    plain = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    assert rendered(escaped(plain)) == plain
    assert rendered(rendered(escaped(escaped(plain)))) == plain
    assert not opens(spaced(text))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.dates() | st.text().map(Block),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(min_size=1), inner, max_size=3)
        | st.dictionaries(st.text(min_size=1), st.text() | st.integers(), max_size=3).map(Flow)
        | st.lists(st.text() | st.none(), max_size=3).map(FlowList)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1), ANY, min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_yaml_that_is_written_is_read_as_it_was_meant(data):
    assert YAML(typ="safe", pure=True).load(written(data)) == data


@given(st.text(min_size=1, max_size=12) | st.sampled_from(
    ["no", "On", "y", "N", "1_000", "0o7", "1:30", "2020-01-01", "~", "=", "<<", ".inf", "1e3",
     "0x1f", "null", "True", "- a", "a: b", "a #b", "@x", "%x", "!x", "é", "𝄞", "\x85", "\u2028"]
))  # fmt: skip
@settings(max_examples=300)
def test_a_scalar_is_text_to_readers_of_yaml_1_1_as_well(text):
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    assert reader.load(f"a: {scalar(text)}") == {"a": text}
    assert reader.load(f"a: [{scalar(text)}]") == {"a": [text]}


FILE = """\
# the head
version: 2

models:

  # of a
  - name: a
    description: |
      - name: b
      text

  - name: "b c"   # quoted
    columns:
    - name: x
  # of d
  - description: later
    name: d
  - {name: e, description: flow}

seeds:
- name: s
exposures: []
# the end
"""


def test_the_items_of_a_file_are_found_by_their_lines():
    file = YamlItems(FILE)
    assert [item.name for item in file.items("models")] == ["a", "b c", "d", "e"]
    assert [item.name for item in file.items("seeds")] == ["s"]
    assert file.items("exposures") == [] and not file.is_sliceable("exposures")
    assert file.items("nowhere") == [] and file.is_sliceable("nowhere")
    item = file.item("models", "b c")
    assert item is not None and item.data == {"name": "b c", "columns": [{"name": "x"}]}
    changed = file.replaced(item, item.text + "\nmore: 1").text
    assert changed == FILE.replace("    - name: x\n", "    - name: x\n    more: 1\n")
    assert file.replaced(item, item.text).text == FILE


def test_items_are_added_where_their_list_is():
    file = YamlItems(FILE).added("models", "name: f\ntext: |-\n  x\n\n  y")
    assert (
        "  - {name: e, description: flow}\n\n  - name: f\n    text: |-\n      x\n\n      y\n"
        in file.text
    )
    assert file.item("models", "f").data == {"name": "f", "text": "x\n\ny"}
    assert YamlItems(FILE).added("seeds", "name: t").text == FILE.replace(
        "- name: s\n", "- name: s\n\n- name: t\n"
    )
    new = YamlItems(FILE).added("unit_tests", "name: u").text
    assert new == FILE + "\nunit_tests:\n  - name: u\n"
    assert YamlItems("").added("models", "name: a").text == "models:\n  - name: a\n"
    assert YamlItems("a: 1").added("models", "name: a").text == "a: 1\n\nmodels:\n  - name: a\n"
    assert YamlItems("models:\n").added("models", "name: a").text == "models:\n  - name: a\n"


def test_an_item_is_taken_out_with_its_list_where_it_was_the_last():
    file = YamlItems(FILE)
    assert "name: a" not in file.without("models", file.item("models", "a")).text
    without = file.without("seeds", file.item("seeds", "s")).text
    assert "seeds" not in without and without.endswith("exposures: []\n# the end\n")


def test_settling_keeps_comments_and_changes_nothing_that_is_right():
    text = "name: a # who\nconfig:\n  x: 1 # one\n  y: [1, 2]\nlist:\n- b # bee"
    right = {"name": "a", "config": {"x": 1}, "list": ["b"]}
    assert edited(text, lambda entry: settle(entry, right)) == text
    other = {"config": {"x": 2}, "more": Flow(z=Block("1"))}
    found = edited(text, lambda entry: settle(entry, other))
    assert found is not None
    assert found.split("\n") == [
        "name: a # who",
        "config:",
        "  x: 2 # one",
        "  y: [1, 2]",
        "list:",
        "- b # bee",
        'more: {z: "1"}',
    ]


@pytest.mark.parametrize(
    ("dialect", "native", "kind"),
    [
        ("duckdb", "int8", "BIGINT"), ("duckdb", "string", "VARCHAR"),
        ("duckdb", "varchar collate nocase", "VARCHAR COLLATE NOCASE"),
        ("duckdb", "enum('a', 'B')", "ENUM('a', 'B')"), ("duckdb", "hugeint", "HUGEINT"),
        ("duckdb", "timestamp with time zone", "TIMESTAMP WITH TIME ZONE"),
        ("postgres", "int4", "INTEGER"), ("postgres", "numeric(10, 2)", "DECIMAL(10, 2)"),
        ("postgres", "numeric", "OTHER NUMERIC"), ("postgres", "citext", "OTHER CITEXT"),
        ("snowflake", "integer", "BIGINT"), ("snowflake", "NUMBER(38,0)", "BIGINT"),
        ("bigquery", "int64", "BIGINT"), ("bigquery", "timestamp", "TIMESTAMP WITH TIME ZONE"),
    ],
)  # fmt: skip
def test_types_have_the_kernels_names(dialect, native, kind):
    assert kernel_type(native, dialect_named(dialect)) == kind


@pytest.mark.parametrize(("kind", "recode"), TYPED)
def test_the_contract_has_the_types_that_the_engine_gives(kind, recode):
    release = model(f"x: {recode}", {"x": kind})
    sql = rendered(release.text, EVERYBODY).replace("<stg_people>", "people")
    with duckdb.connect() as connection:
        connection.execute(f'create table people (x {kind}, "the key" bigint)')
        said = connection.execute(f"describe {sql}").fetchall()
        for name, engine, *_ in said:
            made = connection.execute(f"describe select null::{release.types[name]}").fetchone()
            assert made[1] == engine, name


def test_the_types_of_a_release_are_those_of_its_dialect():
    recode = "a: {bins: [1]}, b: {round: 0.5}, c: {truncate: month}, d: {round: 5}"
    types = {"a": "integer", "b": "numeric(9, 2)", "c": "timestamp", "d": "integer"}
    release = model(recode, types, dialect="postgres")
    assert release.types == {
        "a": "text",
        "b": "numeric(18, 1)",
        "c": "timestamp",
        "d": "bigint",
        "n": "bigint",
    }
    found = released_types(release.policy, release.columns, release.table, release.dialect)
    assert found == release.types


def test_the_words_of_a_release_have_its_numbers_and_no_template():
    release = model("town: keep", {"town": "text"}, k=20, words=yaml("For {# you #}"))
    words = release_words(release)
    assert "For { # you #}" in words
    assert "ε = 1" in words and "right at most 73.2 % of the time" in words
    assert "at least 20 people" in words
    assert "the probability 0.1" in words


def test_a_version_says_when_it_goes():
    release = model("town: keep", {"town": "text"})
    assert "deprecation_date" not in version_entry(release, SETTINGS)
    gone = replace(release.policy.release, deprecated=date(2027, 1, 31))
    going = replace(release, policy=replace(release.policy, release=gone))
    assert version_entry(going, SETTINGS)["deprecation_date"] == date(2027, 1, 31)
    assert "deprecation_date: 2027-01-31\n" in generated_file([going], SETTINGS, unit_tests(going))


def test_a_file_as_it_is_generated_is_read_by_yaml_1_1():
    release = model(
        f"town: {{prefix: 2}}, x: {{constant: {yaml(NASTY)}}}", {"town": "text"}, words=yaml(NASTY)
    )
    text = generated_file([release], SETTINGS, unit_tests(release))
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    found = reader.load(io.StringIO(text))
    assert found["models"][0]["versions"][0]["columns"][2]["name"] == "n"
    assert found["unit_tests"][0]["expect"]["rows"][0].keys() == {"town", "x", "n"}


def test_a_column_of_a_type_that_no_recoding_takes_is_refused():
    with pytest.raises(PolicyError, match="constant alone takes the type INTERVAL"):
        model("x: keep", {"x": "interval"})
