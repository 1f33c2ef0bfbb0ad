"""Which models are certified releases, and why others are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dbt_manifests import MARKED, ONCE, RELEASE, Project, md5, once, shop
from dbt_sync_world import World
from ruamel.yaml import YAML


def a_release(sql: str | None = None, config: dict[str, Any] | None = None, **more: Any) -> Project:
    """A public release of a policy."""
    return shop().release(sql, **{"config": {**ONCE, **(config or {})}, "access": "public", **more})


COMPILED = RELEASE.replace("{{ ref('people') }}", '"dev"."main"."people"')


def test_a_release_of_a_policy_is_certified_and_cuts_the_way() -> None:
    verdict = a_release().exposure("board", "out_v1_draw").verdict()
    assert verdict.findings == ()
    [found] = verdict.releases
    assert found.is_certified
    assert (found.facts.k, found.facts.rate) == (20, 0.1)
    assert found.facts.source == "dev.main.people"


def test_another_text_than_its_policys_says_why_and_cuts_nothing() -> None:
    sql = once(RELEASE.replace(">= 20", ">= 19"))
    verdict = a_release(sql).exposure("board", "out_v1_draw").verdict()
    assert [found.code for found in verdict.findings] == ["G01", "G02", "G21"]
    said = str(verdict.findings[-1])
    assert "G21 the release out_v1_draw is not what is printed for out.privacy.yml" in said
    assert verdict.findings[0].shown_path == "raw.people → people → out_v1_draw → exposure board"


@pytest.mark.parametrize("adapter", ["duckdb", "snowflake", "postgres", "oracle"])
@pytest.mark.parametrize("text", [RELEASE, "select zip, 1 as n from {{ ref('people') }}"])
def test_a_model_without_a_policy_is_no_release(adapter, text) -> None:
    found = shop(adapter).model(
        "out_v1_draw", once(text), config=ONCE, meta=MARKED, access="public"
    )
    verdict = found.exposure("board", "out_v1_draw").verdict()
    assert [each.is_certified for each in verdict.releases] == [False]
    [said] = [each for each in verdict.findings if each.code == "G21"]
    assert said.message == "the release out_v1_draw has no policy, so it is not a release"
    assert said.remedy.startswith("Run 'policy-engine dbt adopt out_v1_draw'")
    assert {"G01", "G02"} <= {each.code for each in verdict.findings}


def test_a_model_that_was_adopted_gives_way_to_the_one_of_its_policy() -> None:
    project = shop().release(access="public")
    del project.document["nodes"]["model.shop.out_v1_draw"]
    project.model("out", once(RELEASE), config=ONCE, meta=MARKED, access="public")
    [said] = [each for each in project.verdict().findings if each.code == "G21"]
    assert (
        "is not the model that 'policy-engine dbt sync' writes for out.privacy.yml" in said.message
    )
    assert said.remedy == "Remove it, and run 'policy-engine dbt sync'."


def test_a_generated_release_whose_policy_is_gone_names_it() -> None:
    marked = {"privacy": {"release": True, "generated": True, "policy": "gone.privacy.yml"}}
    gone = shop().model("out_v1_draw", once(RELEASE), config=ONCE, meta=marked, access="public")
    [said] = [each for each in gone.verdict().findings if each.code == "G21"]
    assert "has no policy in this project, found gone.privacy.yml" in said.message
    assert "--prune" in said.remedy


def test_a_policy_that_dbt_could_not_release_certifies_nothing(tmp_path) -> None:
    made = Generated(tmp_path)
    made.world.policy(unit="row")
    found = made.project().verdict(tmp_path)
    assert [each.is_certified for each in found.releases] == [False]
    said = [each.message for each in found.findings if each.code == "G21"]
    assert any("privacy_unit must name a column in a dbt project" in each for each in said)


ONCE_ONLY = {
    "a view": ({"materialized": "view"}, "a new sample at every read"),
    "an ephemeral model": ({"materialized": "ephemeral"}, "a new sample at every read"),
    "a table": ({"materialized": "table"}, "a new sample at every build"),
    "a materialized view": ({"materialized": "materialized_view"}, "at every read"),
    "another materialization": ({"materialized": "mine"}, "nobody knows how often"),
    "a full refresh": ({"full_refresh": None}, "has no full_refresh=false"),
    "a full refresh that is on": ({"full_refresh": True}, "has no full_refresh=false"),
    "batches": ({"incremental_strategy": "microbatch"}, "each draws a new sample"),
}


@pytest.mark.parametrize("name", ONCE_ONLY)
def test_a_release_that_is_drawn_again_is_refused(name: str) -> None:
    config, said = ONCE_ONLY[name]
    found = [each for each in a_release(config=config).verdict().findings if each.code == "G22"]
    assert len(found) == 1 and said in found[0].message
    assert "is_incremental()" in found[0].remedy


@pytest.mark.parametrize(
    "sql",
    [
        RELEASE,
        once(RELEASE).replace("where false", "where true"),
        once(RELEASE).replace("select * from {{ this }} where false", RELEASE),
        once(RELEASE).replace("{{ this }}", "{{ ref('people') }}"),
        once(RELEASE).replace("where false", "where false or true"),
        once(RELEASE).replace("where false", "where false union all select zip, 1 from people"),
    ],
)
def test_a_release_that_draws_where_it_stands_is_refused(sql: str) -> None:
    assert "G22" in a_release(sql, compiled=COMPILED).codes()


@pytest.mark.parametrize(
    "end", ["where false", "where 1=0", "where 1 = 0", "limit 0", "WHERE FALSE;"]
)
def test_the_ways_to_draw_nothing(end: str) -> None:
    assert a_release(once(RELEASE).replace("where false", end)).codes() == []


def test_the_other_way_round_is_another_form() -> None:
    sql = (
        "{% if not is_incremental() %}" + RELEASE + "{% else %}\nselect * from {{ this }}"
        " where false{% endif %}"
    )
    assert "G23" in a_release(sql, compiled=COMPILED).codes()


def test_a_release_that_stands_is_certified_from_its_template() -> None:
    noop = 'select * from "dev"."main"."out_v1_draw" where false'
    assert a_release(compiled=noop).codes() == []
    leak = once("select zip from {{ ref('people') }}")
    assert "G21" in a_release(leak, compiled=noop).codes()


BRANCHES = {
    "a target": "{{% if target.name == 'prod' %}}select zip from {{{{ ref('people') }}}}"
    "{{% else %}}{0}{{% endif %}}",
    "a variable": "{{% if var('all', false) %}}select zip from {{{{ ref('people') }}}}{{% else %}}"
    "{0}{{% endif %}}",
    "a flag": "{{% if flags.WHICH == 'build' %}}select zip from {{{{ ref('people') }}}}"
    "{{% else %}}{0}{{% endif %}}",
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_release_with_branches_has_no_one_text(name: str) -> None:
    found = a_release(once(BRANCHES[name].format(RELEASE)), compiled=COMPILED).codes()
    assert found == ["G02", "G23"]


@pytest.mark.parametrize(
    "made", ["{{ dbt_utils.twenty() }}", "{{ var('k') }}", "{{ target.name }}"]
)
def test_a_release_of_more_than_refs_has_no_one_text(made: str) -> None:
    sql = once(RELEASE.replace(">= 20", f">= {made}"))
    assert a_release(sql, compiled=COMPILED).codes() == ["G02", "G23"]


LOCAL = {
    "a macro": "{% macro is_incremental() %}{{ return(false) }}{% endmacro %}",
    "a value": "{% set is_incremental = [] %}",
    "a ref": "{% macro ref(x) %}main.people{% endmacro %}",
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_template_that_gives_dbts_names_another_meaning(name: str) -> None:
    for text in (COMPILED, ""):
        assert "G23" in a_release(LOCAL[name] + once(RELEASE), compiled=text).codes()


def test_a_release_that_is_not_compiled_is_certified_from_its_template() -> None:
    verdict = a_release(compiled="").verdict()
    assert verdict.findings == ()
    assert "out_v1_draw: not compiled; certified from its template" in verdict.notes


def test_a_release_without_any_text() -> None:
    assert "G26" in a_release("", compiled="").codes()


@pytest.mark.parametrize("kind", ["seed", "source", "snapshot"])
def test_only_a_model_is_a_release(kind: str) -> None:
    project = shop()
    if kind == "seed":
        project.seed("out_v1_draw", meta=MARKED)
    elif kind == "source":
        project.source("raw.out", meta=MARKED)
    else:
        project.snapshot("out_v1_draw", RELEASE, meta=MARKED)
    [said] = [each for each in project.verdict().findings if each.code == "G21"]
    assert f"is a {kind}; a policy makes only SQL models" in said.message
    assert said.remedy.startswith("Remove release: true")


def test_a_python_model_is_no_release() -> None:
    python = "def model(dbt, s):\n    return 1"
    project = shop().model("out_v1_draw", python, meta=MARKED, language="python")
    assert "G21" in project.codes()
    assert "G20" in a_release(python, language="python").codes()


def test_an_engine_without_rules_certifies_nothing() -> None:
    said = {
        each.code: each.message
        for each in shop("oracle").release(once(RELEASE), access="public").verdict().findings
    }
    assert "cannot be certified: " in said["G20"] and "oracle" in said["G20"]
    assert "G02" in said


def keyed(secret: str, more: Callable[[Project], object] = lambda project: None) -> Project:
    """A release whose secret waits in a relation."""
    project = shop()
    more(project)
    text = RELEASE.replace('"policy_engine_salts"', secret)
    return project.release(once(text), access="public")


def test_a_release_reads_its_secret_where_nobody_else_does() -> None:
    assert keyed("policy_engine_salts").codes() == []
    made = keyed("main.salts", lambda p: p.model("salts", "select 1 as salt"))
    assert "G27" in made.codes()
    read = keyed("policy_engine_salts")
    assert "G27" in read.model("dim", "select salt from policy_engine_salts").codes()
    hook = keyed("hidden.salts")
    assert "G27" in hook.operation("insert into hidden.salts values ('out_v1_draw', 'abc')").codes()


def test_a_hook_of_a_release_that_adds_rows() -> None:
    hook = "insert into {{ this }} select zip, 1 from {{ ref('people') }}"
    assert a_release(config={"post-hook": hook}).codes() == ["G14"]


REPLACED = {
    "ref": ("shop", "{% macro ref(x) %}{{ return(builtins.ref(x)) }}{% endmacro %}"),
    "is_incremental": ("shop", "{% macro is_incremental() %}{{ return(true) }}{% endmacro %}"),
    "create_table_as": ("shop", "{% macro create_table_as(t, r, s) %}select 1{% endmacro %}"),
    "materialization_incremental_default": ("other", "{% materialization incremental %}x"),
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_macro_in_the_place_of_dbts_own(name: str) -> None:
    package, sql = REPLACED[name]
    project = a_release().macro(
        "materialization_incremental_default", "{% materialization incremental, default %}", "dbt",
        ["macro.dbt.create_table_as"],
    )  # fmt: skip
    project.macro("create_table_as", "{% macro create_table_as() %}{% endmacro %}", "dbt")
    assert project.codes() == []
    assert {"G02", "G25"} <= set(project.macro(name, sql, package).codes())


@pytest.mark.parametrize("name", ["generate_schema_name", "cents_to_dollars"])
def test_a_macro_of_the_project_that_replaces_nothing(name: str) -> None:
    sql = f"{{% macro {name}(x) %}}{{{{ x }}}}{{% endmacro %}}"
    assert a_release().macro(name, sql).codes() == []


def test_a_function_in_the_place_of_the_engines_own() -> None:
    made = a_release().operation("create or replace macro main.sha256(x) as x")
    assert "G25" in made.codes()
    assert a_release().operation("create or replace macro main.mine(x) as x").codes() == ["G14"]


# Generated

_PARTS = re.compile(
    r"(.*?)\{\{ config\(.*?\) \}\}.*?%\}\n(select.*?)\{% else %\}\n(.*)\{% endif %\}\s*", re.DOTALL
)


COLUMNS = {
    name: {"name": name, "data_type": kind}
    for name, kind in [
        ("person_id", "bigint"), ("age", "integer"), ("town", "varchar"), ("visited", "date"),
    ]
}  # fmt: skip
TYPES = {
    "bigquery": {"bigint": "int64", "integer": "int64", "varchar": "string"},
    "clickhouse": {
        "bigint": "Int64", "integer": "Int32", "varchar": "String", "date": "Date32",
    },
}  # fmt: skip


class Generated:
    """A project that was synced, and its manifest as dbt would make it."""

    def __init__(self, folder: Path, adapter: str = "duckdb", **policy: str) -> None:
        self.adapter = adapter
        self.world = World.at(folder)
        profiles = self.world.read("profiles.yml").replace("type: duckdb", f"type: {adapter}")
        self.world.write("profiles.yml", profiles)
        for old, new in TYPES.get(adapter, {}).items():
            text = self.world.read("models/stg_people.yml").replace(f"e: {old}", f"e: {new}")
            self.world.write("models/stg_people.yml", text)
        self.world.policy(**policy)
        self.world.sync()
        self.file = folder / "models/towns_v1_draw.sql"
        self.raw = self.file.read_text()

    def compiled(self, way: str) -> str:
        """What dbt makes of the text: the release, an empty one, or nothing where it stands."""
        raw = re.sub(r"\{#.*?#\}", "", self.raw, flags=re.DOTALL)
        head, noop, body = _PARTS.fullmatch(raw).groups()
        if way == "noop":
            return str(head + noop.replace("{{ this }}", '"dev"."main"."towns_v1_draw"'))
        for name, elsewhere in (("in_sample", "false"), ("secret", "''"), ("noise", None)):
            body = re.sub(
                rf"\{{% call policy_engine.{name}\([^()]*\) %\}}(.*?)\{{% endcall %\}}",
                lambda found, other=elsewhere: other if way == "empty" and other else found[1],
                body, flags=re.DOTALL,
            )  # fmt: skip
        body = re.sub(r"\{\{ edition\[\d+\] or '([^']*)' \}\}", r"\1", body)
        name = Project(self.adapter).relation
        body = re.sub(r"\{\{ ref\(.*?\) \}\}", name("main", "stg_people"), body)
        salts = name("main", "policy_engine_salts")
        return str(head + re.sub(r"\{\{ policy_engine.salts\(.*?\) \}\}", salts, body))

    def project(
        self, compiled: str | None = "whole", columns: object = None, **privacy: object
    ) -> Project:
        """The manifest; ``compiled`` None as 'dbt parse' leaves it."""
        project, staging = Project(self.adapter), self.world.read("models/stg_people.sql")
        types = TYPES.get(self.adapter, {})
        declared = {
            name: {**column, "data_type": types.get(column["data_type"], column["data_type"])}
            for name, column in COLUMNS.items()
        }
        project.model("stg_people", staging, columns=declared if columns is None else columns)
        project.ours()
        meta = {
            "generated": True, "release": True, "policy": "towns.privacy.yml",
            "text_md5": md5(self.raw), **privacy,
        }  # fmt: skip
        text = "" if compiled is None else self.compiled(compiled)
        project.model(
            "towns_v1_draw", self.raw, meta={"privacy": meta}, access="public", compiled=text,
            parents=["stg_people"],
            config={**ONCE, "pre-hook": [{"sql": "{{ policy_engine.reserved('x') }}"}]},
        )  # fmt: skip
        shown = self.file.with_name("towns_v1.sql").read_text()
        return project.model("towns", shown, version=1, config=ONCE, parents=["towns_v1_draw"])

    def codes(self, project: Project) -> list[str]:
        return project.codes(self.world.folder)


@pytest.fixture
def made(tmp_path) -> Generated:
    return Generated(tmp_path)


@pytest.mark.parametrize("way", ["whole", "empty", "noop", None])
def test_a_generated_release_is_certified_wherever_it_was_compiled(made, way) -> None:
    verdict = made.project(way).exposure("board", "towns_v1_draw").verdict(made.world.folder)
    assert [str(found) for found in verdict.findings] == []
    assert [proved.is_certified for proved in verdict.releases] == [True]
    assert any("not compiled" in note for note in verdict.notes) is (way is None)


def test_a_generated_text_that_gives_our_names_another_meaning(made) -> None:
    made.raw = "{% set policy_engine = {} %}" + made.raw
    made.file.write_text(made.raw)
    assert set(made.codes(made.project("empty"))) >= {"G02"}


def test_the_source_of_a_policy_is_sensitive_by_that_alone(made) -> None:
    project = made.project().exposure("board", "stg_people")
    assert made.codes(project) == ["G01"]


def test_a_generated_text_that_was_edited(made) -> None:
    digest = md5(made.raw)
    made.raw = made.raw.replace(">= 20", ">= 2")
    made.file.write_text(made.raw)
    assert made.codes(made.project(text_md5=digest)) == ["G02", "G21", "G24"]
    # Whoever edits the digest as well is found by the policy.
    assert made.codes(made.project()) == ["G02", "G21"]


def test_a_generated_text_that_was_edited_where_nobody_compiles_it(made) -> None:
    made.raw = made.raw.replace("HAVING", "-- HAVING").replace("COUNT(*) >= 20", "")
    made.file.write_text(made.raw)
    for way in ("noop", "empty", None):
        assert set(made.codes(made.project(way))) >= {"G02", "G21"}, way


def test_a_compiled_text_that_is_not_the_template(made) -> None:
    project = made.project()
    node = project.document["nodes"]["model.shop.towns_v1_draw"]
    node["compiled_code"] = 'select * from "dev"."main"."stg_people"'
    assert set(made.codes(project)) >= {"G02", "G21"}
    node["compiled_code"] = 'select * from "dev"."main"."stg_people" -- where false'
    assert set(made.codes(project)) >= {"G02", "G21"}


def test_a_macro_of_the_package_that_was_changed(made) -> None:
    project = made.project("empty")
    project.macro("in_sample", "{% macro in_sample(t) %}true{% endmacro %}", "policy_engine")
    assert made.codes(project) == ["G02", "G25"]
    project = made.project("empty")
    project.document["macros"] = {}
    assert "G25" in made.codes(project)


def test_a_release_whose_policy_is_gone(made) -> None:
    (made.world.folder / "models/towns.privacy.yml").unlink()
    assert "G21" in made.codes(made.project())


def test_a_policy_that_says_something_else_now(made) -> None:
    made.world.policy(k=40)
    assert "G21" in made.codes(made.project())


def test_a_policy_that_cannot_be_read(made) -> None:
    made.world.write("models/towns.privacy.yml", "version: 1\nname: towns\nk: none\n")
    verdict = made.project().verdict(made.world.folder)
    found = [each for each in verdict.findings if each.code == "G31"]
    assert found and found[0].file == "models/towns.privacy.yml" and found[0].line


def test_a_policy_of_no_node(made) -> None:
    made.world.policy(relation="ref('nobody')")
    found = made.project().verdict(made.world.folder).findings
    assert any("is not in the dbt project, found ref('nobody')" in each.message for each in found)


def test_a_policy_without_a_model_is_said(made) -> None:
    project = Project().model("stg_people", made.world.read("models/stg_people.sql"))
    project.document["disabled"]["x"] = []
    verdict = project.verdict(made.world.folder)
    assert (
        "models/towns.privacy.yml has no model yet: run 'policy-engine dbt sync'" in verdict.notes
    )


def unmarked(made, text: str, columns: object = COLUMNS) -> Project:
    """The model of the policy, without the mark of sync."""
    staging = made.world.read("models/stg_people.sql")
    project = Project().model("stg_people", staging, columns=columns)
    raw = once(text)
    project.model(
        "towns_v1_draw", raw, meta=MARKED, access="public", compiled=text,
        parents=["stg_people"], config=ONCE,
    )  # fmt: skip
    shown = made.world.read("models/towns_v1.sql")
    project.model("towns", shown, version=1, config=ONCE, parents=["towns_v1_draw"])
    made.world.write("models/towns_v1_draw.sql", raw)
    return project


def test_a_text_with_other_comments_and_blanks_is_certified_as_it_is_printed(made) -> None:
    text = "-- mine\n" + made.compiled("whole").replace("sampled AS", "sampled  as")
    text = text[text.index("-- policy") :] + "/* the end */"
    project = unmarked(made, text)
    assert made.codes(project) == []
    [proved] = project.verdict(made.world.folder).releases
    assert (proved.facts.k, proved.facts.method) == (20, "keyed")
    assert proved.facts.source == "dev.main.stg_people"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">= 20", ">= 19"),
        ("< '", "<= '"),
        ("'<30'", "'<31'"),
        ("HAVING SUM(policy_engine_count)", "HAVING (SUM(policy_engine_count))"),
        ('"dev"."main"."stg_people"', "stg_people"),
        ("'towns_v1'", "'another'"),
    ],
)
def test_a_text_that_is_not_what_is_printed_for_its_policy_is_none(made, old, new) -> None:
    text = made.compiled("whole")
    assert old in text
    node = made.project().document["nodes"]["model.shop.towns_v1_draw"]
    assert node["compiled_code"].strip() == text.strip()
    project = made.project()
    project.document["nodes"]["model.shop.towns_v1_draw"]["compiled_code"] = text.replace(old, new)
    found = project.verdict(made.world.folder)
    assert [proved.is_certified for proved in found.releases] == [False]
    said = [each.message for each in found.findings if each.code == "G21"]
    assert (
        len(said) == 1 and "towns_v1_draw is not what is printed for towns.privacy.yml" in said[0]
    )


def test_a_text_that_reads_no_secrets_relation_is_none(made) -> None:
    text = re.sub(r"\(SELECT salt.*?\)", "$salt", made.compiled("whole"))
    found = unmarked(made, text).verdict(made.world.folder).findings
    assert any("reads no secrets relation" in each.message for each in found)


def test_a_text_whose_source_has_columns_that_nobody_knows_is_none(made) -> None:
    project = unmarked(made, made.compiled("whole"), {})
    found = project.verdict(made.world.folder).findings
    assert any("columns that it reads are not declared" in each.message for each in found)
    some = {"age": COLUMNS["age"]}
    found = unmarked(made, made.compiled("whole"), some).verdict(made.world.folder).findings
    assert any("has no column 'town'" in each.message for each in found)


def test_the_types_that_a_model_was_written_for_stand_in_its_mark(made) -> None:
    drawn = YAML(typ="safe").load(made.world.read("models/towns.yml"))["models"][1]
    certificate = drawn["config"]["meta"]["privacy"]["certificate"]
    assert made.codes(made.project(certificate=certificate, columns={})) == []
    assert made.codes(made.project(columns={})) == ["G02", "G21"]


@pytest.mark.parametrize("adapter", ["snowflake", "bigquery", "postgres", "clickhouse"])
def test_a_generated_release_of_another_engine_is_certified(tmp_path, adapter) -> None:
    made = Generated(tmp_path, adapter)
    assert made.codes(made.project()) == []
    assert [proved.is_certified for proved in made.project().verdict(tmp_path).releases] == [True]
    made.world.policy(k=40)
    assert set(made.codes(made.project())) >= {"G02", "G21"}


NOISY = {
    "rows": {"unit": "row", "chance": "mechanism: noisy_counts"},
    "a place": {"chance": "noise: {distribution: negative_binomial}\nk: 20"},
    "groups": {
        "unit": "{column: person_id, rows: all}",
        "chance": "noise: {distribution: truncated_laplace}\ncontribution: {max_groups: 3}",
    },
    "a row that is drawn": {"unit": "{column: person_id, rows: any}"},
}


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("adapter", ["duckdb", "postgres"])
def test_a_generated_release_of_another_chance_is_certified(tmp_path, adapter, name) -> None:
    made = Generated(tmp_path, adapter, **NOISY[name])
    for way in ("whole", "empty", "noop", None):
        project = made.project(way).exposure("board", "towns_v1_draw")
        assert made.codes(project) == []
        assert [proved.is_certified for proved in project.verdict(tmp_path).releases] == [True]
    if "chance" in NOISY[name]:
        raw, made.raw = made.raw, re.sub(r"_n >= (\d+)", "_n >= 1", made.raw)
        assert made.raw != raw and made.codes(made.project()) == ["G02", "G21", "G40"]
    made.world.policy(**NOISY[name], recode="  age: {bins: [31]}")
    assert set(made.codes(made.project())) >= {"G02", "G21"}
