"""The manifest: what every version of dbt writes is read, and what is damaged is said."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from dbt_manifests import ONCE, RELEASE, SCHEMA, SENSITIVE, Project, once, shop

from policy_engine.dbt.gate import Gate
from policy_engine.dbt.manifest import Node, parse_manifest, read_manifest
from policy_engine.errors import FileError, PolicyEngineError

HEAD = {"metadata": {"dbt_schema_version": SCHEMA}, "nodes": {}}


def refused(document: object, tmp_path: Path) -> str:
    file = tmp_path / "manifest.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    with pytest.raises(FileError) as error:
        read_manifest(file)
    assert error.value.exit_code == 3
    assert "dbt compile" in str(error.value)
    return str(error.value).removeprefix(str(file)).strip()


def test_a_manifest_that_is_not_there(tmp_path) -> None:
    with pytest.raises(FileError, match="is missing; make one with 'dbt compile'"):
        read_manifest(tmp_path / "manifest.json")
    with pytest.raises(FileError, match="could not be read"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_a_manifest_that_is_no_json(text: str, tmp_path) -> None:
    assert "is damaged: it must be JSON" in refused(text, tmp_path)


@pytest.mark.parametrize("document", [[], {}, {"metadata": 1}, {"metadata": {}}, {"nodes": {}}, 7])
def test_a_document_that_is_no_manifest(document: object, tmp_path) -> None:
    assert "must be dbt's manifest.json, found" in refused(document, tmp_path)


@pytest.mark.parametrize("version", [4, 11, 13, 20])
def test_a_manifest_of_another_version(version: int, tmp_path) -> None:
    schema = SCHEMA.replace("v12", f"v{version}")
    head = {"dbt_schema_version": schema, "dbt_version": "1.2.3"}
    said = refused({"metadata": head, "nodes": {}}, tmp_path)
    assert f"found version {version}, by dbt 1.2.3" in said and "version 12" in said


@pytest.mark.parametrize("section", ["nodes", "sources", "exposures", "macros", "disabled"])
def test_a_section_that_is_none(section: str, tmp_path) -> None:
    assert f"{section} must be a mapping" in refused({**HEAD, section: [1]}, tmp_path)


def test_a_node_that_is_none_and_a_manifest_without_nodes(tmp_path) -> None:
    assert "x must be a mapping" in refused({**HEAD, "nodes": {"x": 1}}, tmp_path)
    assert "nodes is missing" in refused({"metadata": HEAD["metadata"]}, tmp_path)


def test_every_field_is_optional() -> None:
    nodes = {id_: {} for id_ in ("model.a", "test.b", "snapshot.c", "seed.d", "operation.e")}
    document = {
        **HEAD, "nodes": nodes, "sources": {"source.f": {}}, "exposures": {"exposure.g": {}},
        "metrics": {"metric.h": {}}, "saved_queries": {"saved_query.i": {}}, "macros": {"m": {}},
        "disabled": {"model.j": [{}]}, "extra": 1,
    }  # fmt: skip
    assert Gate(parse_manifest(document)).verdict().checked_nothing


def test_names_as_people_say_them() -> None:
    assert Node("model.shop.a.v2", {"name": "a", "version": 2}).label == "a.v2"
    source = {"name": "people", "source_name": "raw", "resource_type": "source"}
    assert Node("source.shop.raw.people", source).label == "raw.people"
    assert Node("saved_query.shop.q", {"name": "q"}).label == "saved query q"


def test_a_relation_without_its_name_is_made_of_its_parts() -> None:
    data = {"database": "dev", "schema": "main", "alias": 'a"b', "name": "x"}
    assert Node("model.shop.x", data).relation == '"dev"."main"."a""b"'
    ephemeral = {**data, "config": {"materialized": "ephemeral"}}
    assert Node("model.shop.x", ephemeral).relation == ""
    assert Node("exposure.shop.x", data).relation == ""


def test_a_ref_means_the_own_package_first_and_the_latest_version() -> None:
    project = Project().model("a", version=1).model("a", version=2)
    project.document["nodes"]["model.shop.a.v1"]["latest_version"] = 2
    manifest = parse_manifest(project.document)
    assert manifest.node_named("", "a").id == "model.shop.a.v2"
    assert manifest.node_named("shop", "a", "1").id == "model.shop.a.v1"
    assert manifest.node_named("other", "a") is None
    assert manifest.node_named("", "b") is None


def test_what_the_lists_leave_out_is_known_from_the_refs() -> None:
    project = shop().model(
        "dim", "select * from {{ ref('people') }}", refs=[{"name": "people", "package": None}],
        depends_on={"nodes": [], "macros": []}, access="public",
    )  # fmt: skip
    assert project.codes() == ["G02"]


def test_hooks_in_every_form() -> None:
    forms: list[object] = [
        "select 1", ["select 1"], {"sql": "select 1"}, [{"sql": "select 1", "index": None}],
    ]  # fmt: skip
    for form in forms:
        for setting in ("post-hook", "post_hook", "pre-hook"):
            node = Node("model.shop.a", {"config": {setting: form}})
            assert [sql for _, sql in node.hooks()] == ["select 1"]
    assert Node("model.shop.a", {"config": {"post-hook": [None, 3, ""]}}).hooks() == ()


def test_a_name_that_another_package_uses_is_the_projects_own_file(tmp_path) -> None:
    project = shop().model("dim", "select * from {{ ref('people') }}", access="public")
    project.document["nodes"]["model.shop.dim"]["package_name"] = "other"
    [found] = project.verdict().findings
    assert found.file == "dbt_packages/other/models/dim.sql"


SPOILT = [None, 0, -1, 1.5, "", "x", "{{", "\ud7ff", [], [None], ["x"], {}, {"x": None}, True]


def spoil(document: object, chance: random.Random) -> None:
    """Put something else in the place of something, somewhere."""
    at = document
    for _ in range(chance.randint(1, 7)):
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))  # type: ignore[call-overload]
        if not keys:
            return
        key = chance.choice(keys)
        inner = at[key]  # type: ignore[index]
        if isinstance(inner, dict | list) and chance.random() < 0.8:
            at = inner
            continue
        # Each time another one: a manifest is a tree, and holds nothing that holds itself.
        at[key] = copy.deepcopy(chance.choice(SPOILT))  # type: ignore[index]
        return


def _world() -> Project:
    config = {**ONCE, "post-hook": [{"sql": "grant select on {{ this }} to x"}]}
    project = shop().model("out", once(RELEASE), config=config, meta={"privacy": {"release": True}})
    project.snapshot("snap", "select * from {{ ref('people') }}").seed("staff", meta=SENSITIVE)
    project.model("py", "def model(dbt, s):\n    return dbt.ref('people')", language="python")
    project.test("t", "select * from {{ ref('people') }}", config={"store_failures": True})
    project.operation("copy main.people to 'x'").exposure("board", "out", "people")
    project.semantic_model("s", "people").metric("m", "s")
    project.saved_query("q", "m", exports=[{"name": "e", "config": {"export_as": "table"}}])
    project.macro("dump", "{% macro dump() %}copy main.people to 'x'{% endmacro %}").ours()
    return project.model("old", "select 1").disable("model.shop.old")


@pytest.mark.parametrize("seed", range(12))
def test_a_spoilt_manifest_is_refused_or_read_and_never_a_bug(seed: int) -> None:
    chance = random.Random(seed)
    whole = _world().document
    for _ in range(40):
        document = copy.deepcopy(whole)
        for _ in range(chance.randint(1, 4)):
            spoil(document, chance)
        try:
            Gate(parse_manifest(document)).verdict()
        except PolicyEngineError:
            continue
