"""The texts of a release model and of its properties: what dbt renders them to."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from policy_engine.dbt.properties import generated_file, version_entry
from policy_engine.dbt.release_model import ReleaseModel, release_model
from policy_engine.dbt.sources import SourceNode
from policy_engine.dbt.texts import escaped, opens, spaced
from policy_engine.dbt.types import Columns, kernel_type, released_types
from policy_engine.dbt.words import release_words
from policy_engine.dbt.yaml_items import (
    Block,
    Flow,
    FlowList,
    YamlItems,
    scalar,
    written,
)
from policy_engine.dialects import ENGINES, dialect_named
from policy_engine.errors import PolicyError
from policy_engine.kernel.certificate import NotPrinted, check_text
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project_models import DbtSpec

sys.path[:0] = [str(Path(__file__).parents[2] / "property")]

from test_policy_prints import yaml  # noqa: E402

NODE = SourceNode("model", "stg_people", "ref('stg_people')", "model.shop.stg_people")
SETTINGS = DbtSpec(release_targets=["prod", "prod eu"])
POLICY = """\
version: 1
name: any
description: {words}
source:
  table: ref('stg_people'){read_as}
privacy_unit: {unit}
recode: {{{recode}}}{conditions}
{chance}
guarantee: {{epsilon: 1, delta: 0.5}}
release: {{table: towns, version: 2, as: {form}}}
"""
ONE_ROW = "{column: the key, rows: one}"
NASTY = """it's "{ x }}" %} if y %} {# z #} \\ { { %} {#"""
# What a policy must not have, and the file of a hierarchy may.
TEMPLATES = """it's "{{ x }}" {% if y %} {# z #} \\ {{{ %} {%"""


def model(
    recode: str,
    types: dict[str, str],
    *,
    k: int = 3,
    form: str = "counts",
    unit: str = "{column: the key, rows: one}",
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
    return release_model(policy, [NODE], [columns], dialect_named(dialect), SETTINGS)


NOTHING: Mapping[str, object] = {}
EVERYBODY = {"policy_engine.in_sample": "true"}


class Package:
    """Our package's macros, as they are in a release target, but for those of ``instead``."""

    def __init__(self, instead: Mapping[str, object]) -> None:
        self.instead = instead

    def edition(self, release: str, salts: str, values: int) -> list[str]:
        return [str(self.instead.get("waits", "any"))] + [""] * values

    def in_sample(self, waits, caller) -> str:
        return str(self.instead.get("policy_engine.in_sample", caller()))

    def secret(self, waits, caller) -> str:
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


def assert_printed(release: ReleaseModel) -> None:
    """In a release target dbt runs what was printed, and elsewhere nothing of it."""
    text = rendered(release.text)
    text = text.replace("<stg_people>", '"policy_engine_source"."policy_engine_source"')
    text = text.replace("<policy_engine_salts>", '"policy_engine_secrets"')
    assert text.strip() == release.certificate.query.strip()
    stands = rendered(release.text, {"waits": ""}, is_incremental=lambda: True, this="me")
    assert stands.split("\n")[-2:] == ["select * from me where false", ""]


def test_what_is_printed_is_certified_and_another_text_is_not():
    release = model("town: keep", {"town": "text"}, k=20)
    claim = release.certificate.claim
    assert claim is not None
    check_text(release.certificate.query, claim, "duckdb")
    with pytest.raises(NotPrinted):
        check_text(release.certificate.query.replace(">= 20", ">= 19"), claim, "duckdb")


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
    text = POLICY.format(recode="age: {bins: [30]}", form="counts", unit=ONE_ROW,
                         read_as="", words="x", conditions="", chance=chance)  # fmt: skip
    policy = load_policy_text(text, Path("towns.privacy.yml"), Path())
    columns = Columns({"age": number, "the key": number, "town": kind})
    found = release_model(policy, [NODE], [columns], dialect_named(name), SETTINGS)
    assert found.certificate.engine == name
    assert list(found.types) == ["age", "n"]
    assert found.text.count("{% call policy_engine.in_sample(edition[0]) %}") == 1
    assert found.text.count("{% call policy_engine.secret(edition[0]) %}") == ("noisy" in chance)


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
    ("ENUM('a', 'it''s b')", "{map: {a: x, it's b: y}, other: null}"),
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
    ("UUID", "{map: {a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11: y}, other: z}"),
]  # fmt: skip


NOISY = [
    ("mechanism: noisy_counts\nk: {k}", "row"),
    ("mechanism: noisy_counts", "{column: the key, rows: one}"),
    (
        "noise: {{distribution: negative_binomial}}\nk: {k}",
        "{column: the key, rows: {first_by: [day]}}",
    ),
    ("noise: {{distribution: discrete_gaussian}}", "{column: the key, rows: any}"),
    ("mechanism: noisy_counts\ncontribution: {{max_groups: 3}}", "{column: the key, rows: all}"),
    ("sample: {{rate: 0.1}}\nk: {k}", "{column: the key, rows: any}"),
]


@pytest.mark.parametrize("form", ["counts", "rows"])
@pytest.mark.parametrize(("chance", "unit"), NOISY)
def test_chance_stands_in_a_release_and_elsewhere_nobody_is_drawn(chance, unit, form):
    types = {"x": "int", "y": "text", "day": "date"}
    release = model("x: {bins: [30, 60]}, y: keep", types, unit=unit, form=form, chance=chance, k=7)
    text = rendered(release.text).replace("<policy_engine_salts>", '"policy_engine_secrets"')
    text = text.replace("<stg_people>", '"policy_engine_source"."policy_engine_source"')
    assert text.strip() == release.certificate.query.strip()
    elsewhere = {"policy_engine.in_sample": "false", "policy_engine.secret": "''"}
    with duckdb.connect() as connection:
        connection.execute(
            """create table people as select i as "the key", 1 as x, 'a' as y,"""
            " date '2024-01-01' as day from range(5000) as r(i)"
        )
        sql = rendered(release.text, elsewhere).replace("<stg_people>", "people")
        assert connection.execute(sql).fetchall() == []


def test_what_a_count_with_noise_says_is_said_in_words():
    many = (
        "mechanism: noisy_counts\ncontribution: {{max_groups: 3}}",
        "{column: the key, rows: all}",
    )
    words = {
        unit: release_words(model("x: {bins: [30]}", {"x": "int"}, unit=unit, chance=chance))
        for chance, unit in [NOISY[0], many, NOISY[5]]
    }
    assert (
        "every row is a person.\n\nWhat it says: n is how many people of the source" in words["row"]
    )
    assert "a person is counted in up to 3 groups" in words["{column: the key, rows: all}"]
    left_out = "these intervals do not include a person's groups beyond 3"
    assert left_out in words["{column: the key, rows: all}"] and left_out not in words["row"]
    assert "of whom one row counts, drawn at random." in words["{column: the key, rows: any}"]


def test_a_filter_decides_who_is_released():
    release = model(
        "town: keep", {"town": "text", "age": "int", "zip": "text"},
        unit="{column: the key, rows: {first_by: [zip]}}",
        conditions="\nfilter: {age: {at_least: 18, below: 65}, town: {in: [A, B]}}",
    )  # fmt: skip
    said = "A row counts only where age from 18 to below 65 and town is one of A, B."
    assert said in release_words(release)
    with duckdb.connect() as connection:
        connection.execute(
            'create table people as select i as "the key", i % 2 * 40 as age,'
            " chr(65 + (i // 2 % 3)::int) as town, 'z' as zip from range(60) as r(i)"
        )
        sql = rendered(release.text, EVERYBODY).replace("<stg_people>", "people")
        assert connection.execute(sql).fetchall() == [("A", 10), ("B", 10)]
    assert release.text.count("in_sample") == 1


def test_a_line_end_that_dbt_would_change_is_refused():
    with pytest.raises(PolicyError, match="no carriage return"):
        model('x: {constant: "a\\rb"}', {}, unit="{column: the key, rows: one}")


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


def test_items_are_added_where_their_list_is():
    file = YamlItems(FILE).added("models", "name: f")
    assert "  - {name: e, description: flow}\n\n  - name: f\n" in file.text
    assert file.item("models", "f").data == {"name": "f"}
    assert YamlItems(FILE).added("seeds", "name: t").text == FILE.replace(
        "- name: s\n", "- name: s\n\n- name: t\n"
    )
    new = YamlItems(FILE).added("unit_tests", "name: u").text
    assert new == FILE + "\nunit_tests:\n  - name: u\n"
    assert YamlItems("").added("models", "name: a").text == "models:\n  - name: a\n"
    assert YamlItems("a: 1").added("models", "name: a").text == "a: 1\n\nmodels:\n  - name: a\n"
    assert YamlItems("models:\n").added("models", "name: a").text == "models:\n  - name: a\n"


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
    columns = [Columns({**types, "the key": "bigint"})]
    found = released_types(release.policy, columns, release.table, release.dialect)
    assert found == release.types


def test_the_words_of_a_release_in_time_say_that_an_edition_reads_its_period_alone():
    period = 'period: {column: seen, every: year, from: "2024"}'
    told = [
        release_words(
            model(
                "town: keep", {"town": "text", "seen": "date"}, conditions=f"\n{schedule}",
                form="counts, append: true", unit="{column: the key, rows: any}",
            )
        )
        for schedule in (period, "refresh: {every: year}")
    ]  # fmt: skip
    own = "Each reads only the rows of its period."
    assert [own in words for words in told] == [True, False]


def test_the_words_of_a_release_have_its_numbers_and_no_template():
    release = model("town: keep", {"town": "text"}, k=20, words=yaml("For {# you #}"))
    words = release_words(release)
    assert "For { # you #}" in words
    assert "ε = 1" in words and "right at most 73.2 % of the time" in words
    assert "had fewer than 20 people in the sample" in words
    assert "was in with probability 0.1" in words


def test_a_version_says_when_it_goes():
    release = model("town: keep", {"town": "text"})
    assert "deprecation_date" not in version_entry(release, SETTINGS)
    gone = replace(release.policy.release, deprecated=date(2027, 1, 31))
    going = replace(release, policy=replace(release.policy, release=gone))
    assert version_entry(going, SETTINGS)["deprecation_date"] == date(2027, 1, 31)
    assert "deprecation_date: 2027-01-31\n" in generated_file([going], SETTINGS)


def test_a_file_as_it_is_generated_is_read_by_yaml_1_1():
    release = model(
        f"town: {{prefix: 2}}, x: {{constant: {yaml(NASTY)}}}", {"town": "text"}, words=yaml(NASTY)
    )
    text = generated_file([release], SETTINGS)
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    found = reader.load(io.StringIO(text))
    assert found["models"][0]["versions"][0]["columns"][2]["name"] == "n"


def test_a_column_of_a_type_that_no_recoding_takes_is_refused():
    with pytest.raises(PolicyError, match="constant alone takes the type INTERVAL"):
        model("x: keep", {"x": "interval"})
