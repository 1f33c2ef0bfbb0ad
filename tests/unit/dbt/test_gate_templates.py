"""What a template can become: every branch, every macro of the project, holes for the rest."""

from __future__ import annotations

import pytest
from dbt_manifests import Project, shop

from policy_engine.dbt.manifest import Node, parse_manifest
from policy_engine.dbt.python_models import writes_of
from policy_engine.dbt.reading import Reader, is_filled
from policy_engine.dbt.template_values import HOLE
from policy_engine.dbt.templates import Relation, World, rendered

MACROS = {
    "cents": "{% macro cents(column, scale=2) %}({{ column }} / 100)::decimal(18, {{ scale }})"
    "{% endmacro %}",
    "given": "{% macro given(x) %}{{ return(x ~ '!') }}{% endmacro %}",
    "wrapped": "{% macro wrapped() %}[{{ caller() }}]{% endmacro %}",
    "again": "{% macro again(x) %}{{ again(x) }}{% endmacro %}",
    "hash": "{% macro hash(x) %}{{ return(adapter.dispatch('hash', 'shop')(x)) }}{% endmacro %}",
    "default__hash": "{% macro default__hash(x) %}md5({{ x }}){% endmacro %}",
}


def world(**more: object) -> World:
    project = shop().model("eph", "select 1 as one", config={"materialized": "ephemeral"})
    for name, sql in MACROS.items():
        project.macro(name, sql)
    project.macro("star", "{% macro star(x) %}a, b{% endmacro %}", "utils")
    project.macro("now", "{% macro now() %}now(){% endmacro %}", "dbt")
    this = Relation('"dev"."main"."x"', "model.shop.x")
    return World(parse_manifest(project.document), this, **more)  # type: ignore[arg-type]


def texts(template: str, **more: object) -> list[str]:
    found = rendered(template, world(**more))
    assert found is not None
    return [each.text.replace(HOLE, "◆") for each in found]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ ref('people') }}", '"dev"."main"."people"'),
        ("{{ ref('shop', 'people') }}", '"dev"."main"."people"'),
        ("{{ ref('peop' ~ 'le') }}", '"dev"."main"."people"'),
        ("{% set n = 'people' %}{{ ref(n) }}", '"dev"."main"."people"'),
        ("{{ source('raw', 'people') }}", '"dev"."raw"."people"'),
        ("{{ ref('nobody') }}", "◆"),
        ("{{ ref('eph') }}", "◆"),
        ("{{ this }} {{ this.schema }}.{{ this.identifier }} {{ this.other }}",
         '"dev"."main"."x" main.x ◆'),
        ("{{ config(a=1) }}{# no #}x", "x"),
        ("{{ cents('amount') }}", "(amount / 100)::decimal(18, 2)"),
        ("{{ cents('amount', scale=3) }}", "(amount / 100)::decimal(18, 3)"),
        ("{{ shop.cents('a') }}", "(a / 100)::decimal(18, 2)"),
        ("{{ utils.star(ref('people')) }}", "a, b"),
        ("{{ dbt.now() }} {{ now() }} {{ nothing() }}", "◆ ◆ ◆"),
        ("{{ given('a') }}", "a!"),
        ("{% call wrapped() %}in{% endcall %}", "[in]"),
        ("{{ hash('a') }}", "md5(a)"),
        ("{% macro own(x) %}<{{ x }}>{% endmacro %}{{ own('a') }}", "<a>"),
        ("{% for x in ['a', 'b'] %}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}", "a, b"),
        ("{% for x in [] %}{{ x }}{% else %}none{% endfor %}", "none"),
        ("{% for x in nobody %}{{ x }},{% endfor %}", "◆◆,◆"),
        ("{% for a, b in [['x', 'y']] %}{{ b }}{{ a }}{% endfor %}", "yx"),
        ("{% set d = {'a': 'b'} %}{{ d.a }}{{ d['a'] }}{{ d.c }}", "bb◆"),
        ("{% for k in {'a': 1} %}{{ k }}{% endfor %}", "a"),
        ("{% set x %}text{% endset %}{{ x | upper }}", "TEXT"),
        ("{% set l = [] %}{% do l.append('a') %}{% do l.extend(['b']) %}{{ l[1] }}", "b"),
        ("{{ 'a' + 'b' }}{{ ' c ' | trim }}{{ 'x' | tojson }}", "abc◆"),
        ("{{ ['a'] + ['b'] }}", "['a', 'b']"),
        ("{{ 'a' if true else 'b' }}{{ 'a' if false }}", "a"),
        ("{% if not false and true or nobody %}yes{% endif %}", "yes"),
        ("{% filter upper %}x{% endfilter %}", "◆x◆"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{% with x = 1 %}in{% endwith %}", "in"),
        ("{% set p = adapter.get_relation(database=none, schema='main', identifier='p') %}{{ p }}",
         '"main"."p"'),
        ("{{ api.Relation.create(schema='a', identifier='b').include(schema=false) }}", '"a"."b"'),
        ("{{ adapter.get_relation(schema=nobody, identifier=nobody) }}", "◆"),
        ("{{ load_relation(this) }}", '"dev"."main"."x"'),
        ("{{ return('x') }}", "◆"),
        ("{{ policy_engine.salts('a.b') }} {{ policy_engine.reserved('x') }}|"
         "{{ policy_engine.other() }}", '"a"."b" |◆'),
        ("{{ log('x') }}{{ exceptions.warn('y') }}z", "z"),
        ("{{ 3 }}{{ none }}{{ modules.datetime.now() }}", "3◆"),
    ],
)  # fmt: skip
def test_a_template_becomes_a_text(template: str, text: str) -> None:
    assert texts(template) == [text]


def test_both_ways_are_taken_where_a_condition_is_not_known() -> None:
    assert texts("{% if var('x') %}a{% elif target.name == 'b' %}b{% else %}c{% endif %}") == [
        "a", "b", "c",
    ]  # fmt: skip
    assert texts("{{ 'a' if nobody else 'b' }}") == ["a", "b"]
    assert texts("{% if nobody and false %}a{% else %}b{% endif %}") == ["b"]
    assert texts("{% if nobody and true %}a{% else %}b{% endif %}") == ["a", "b"]
    assert texts("{% if is_incremental() %}a{% else %}b{% endif %}") == ["a", "b"]
    assert texts("{% if is_incremental() %}a{% else %}b{% endif %}", incremental=True) == ["a"]


def test_in_sample_lets_through_what_is_asked() -> None:
    text = "{% call policy_engine.in_sample(['prod']) %}x < 1{% endcall %}"
    assert (texts(text), texts(text, sampled=False)) == (["x < 1"], ["false"])


def test_what_a_template_runs_asks_and_calls_is_told() -> None:
    [one, _] = rendered(
        "{% if var('x') %}{% do run_query('select 1 from a') %}{% endif %}"
        "{% call statement('b') %}select 2{% endcall %}{{ nothing() }}{{ ref('people') }}",
        world(),
    ) or ()  # fmt: skip
    assert one.queries == ("select 1 from a", "select 2")
    assert one.asked == {"var"} and one.called == {"var", "nothing"}
    assert one.refs == {"model.shop.people"} and not one.is_whole


@pytest.mark.parametrize(
    "template",
    [
        "{% if %}",
        "{% snapshot x %}select 1{% endsnapshot %}",
        "{{ again('x') }}",
        "{% for x in [1] * 9 %}{% endfor %}" + "{% if a %}b{% endif %}" * 7,
        "{% for x in [" + "1, " * 1_001 + "] %}{% endfor %}",
    ],
)
def test_a_template_that_cannot_be_walked_is_none(template: str) -> None:
    assert rendered(template, world()) is None


def test_a_text_with_holes_is_filled_in_order() -> None:
    assert is_filled(f"a {HOLE} b {HOLE} c", "a 1 b  2\nc")
    assert not is_filled(f"a {HOLE} b {HOLE} c", "a 1 2 c")
    assert not is_filled(f"a {HOLE} c", "b c") and not is_filled(f"a {HOLE} c", "a c d")
    assert is_filled("a b", "a\n b") and not is_filled("a b", "a c")


# Python models


def python(body: str) -> Project:
    """A Python model before an exposure."""
    text = f"import pandas as pd\n\ndef model(dbt, session):\n    {body}\n"
    return shop().model("py", text, language="python", compiled="").exposure("board", "py")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return session.table('main.people')", "G08"),
        ("return session.table('people')", "G08"),
        ("return spark.read.table('raw.people')", "G08"),
        ("return duckdb.sql('select * from main.people').df()", "G08"),
        ("sql = 'select * from main.people'; return run(sql)", "G08"),
        ("return dbt.ref('people')", "G01"),
        ("return dbt.ref('shop', 'people')", "G01"),
        ("return dbt.source('raw', 'people')", "G01"),
        ("return pd.read_csv('people.csv')", "G09"),
        ("return pd.read_csv(path)", "G09"),
        ("return open('people.csv').read()", "G09"),
        ("return session.table('legacy.folk')", "G09"),
        ("return session.table(name)", "G10"),
        ("return dbt.ref(name)", "G10"),
        ("return eval('x')", "G10"),
        ("return (", "G10"),
    ],
)
def test_what_a_python_model_reads(body: str, code: str) -> None:
    assert code in python(body).codes()


@pytest.mark.parametrize("body", ["return pd.DataFrame()", "return 'from here' + \"a b from\""])
def test_a_python_model_that_reads_nothing(body: str) -> None:
    assert python(body).codes() == []


def test_a_python_model_that_refs_a_version() -> None:
    project = shop().model("v", "select * from {{ ref('people') }}", version=2)
    text = "def model(dbt, s):\n    return dbt.ref('v', v=2)"
    assert "G01" in project.model("py", text, language="python").exposure("b", "py").codes()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("x.to_parquet('a')", "to_parquet"),
        ("x.write.mode('overwrite').parquet('a')", "write"),
        ("open('a', 'w').write('b')", "open"),
        ("open('a', mode='wb')", "open"),
        ("import requests", "import requests"),
        ("from urllib.request import urlopen", "import urllib.request"),
        ("subprocess.check_output('x')", "check_output"),
        ("boto3.client('s3').put_object(Body=x)", "put_object"),
    ],
)
def test_what_a_python_model_writes(body: str, found: str) -> None:
    text = f"def model(dbt, s):\n    {body}"
    assert found in {name for name, _ in writes_of(Node("m", {"raw_code": text}))}


def test_a_python_model_that_writes_nothing() -> None:
    text = "def model(dbt, s):\n    open('a').read()\n    return dbt.ref('a').filter('x')"
    assert writes_of(Node("m", {"raw_code": text})) == ()
    assert writes_of(Node("m", {"raw_code": "def ("})) == ()


def test_a_reader_knows_what_a_name_with_a_hole_may_mean() -> None:
    reader = Reader(parse_manifest(shop().document))
    found = reader.read(
        Node("model.shop.x", {"raw_code": "select * from {{ target.schema }}.people",
                              "resource_type": "model"})
    )  # fmt: skip
    assert {edge.parent for edge in found.edges} == {"source.shop.raw.people", "model.shop.people"}
    assert found.unread.startswith("it is not compiled, and uses")
