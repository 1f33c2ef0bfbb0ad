"""Small manifests, made as dbt makes them: a template is compiled as far as refs go."""

from __future__ import annotations

import atexit
import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dbt.foreign import Code
from policy_engine.dbt.gate import Gate, GateVerdict
from policy_engine.dbt.manifest import parse_manifest
from policy_engine.dbt.naming import dialect_of
from policy_engine.dbt.project import read_dbt_project
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.releases import Policies, read_policies
from policy_engine.dbt.review import Review, ReviewedCode
from policy_engine.dialects import dialect_named
from policy_engine.kernel.mechanisms import Secret
from policy_engine.policy.loading import load_policy

SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"
SENSITIVE = {"privacy": {"classification": "sensitive"}}
PUBLIC = {"privacy": {"classification": "public"}}
PACKAGE = Path(__file__).parents[3] / "policy_engine/dbt/package"

_REF = re.compile(r"\{\{-?\s*ref\((.*?)\)\s*-?\}\}")
_SOURCE = re.compile(r"\{\{-?\s*source\('(.*?)',\s*'(.*?)'\)\s*-?\}\}")
_CONFIG = re.compile(r"\{\{\s*config\(.*?\)\s*\}\}\n?", re.DOTALL)

POLICY = """\
version: 1
name: out
source: {table: ref('people')}
privacy_unit: {column: id, rows: one}
recode: {zip: {prefix: 3}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {table: out, version: 1}
account: people
"""
"""The policy of the release ``out``."""
COLUMNS = {"id": "bigint", "age": "integer", "zip": "varchar"}
"""The columns of the model ``people``, from which it is drawn."""
TYPED = {name: {"name": name, "data_type": kind} for name, kind in COLUMNS.items()}
MARKED = {"privacy": {"release": True}}


@cache
def policy_file() -> Path:
    """Where the policy lies: in a folder that goes when the tests end."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    file = Path(folder.name) / "out.privacy.yml"
    file.write_text(POLICY)
    return file


@cache
def release_of(adapter: str) -> str:
    """What the kernel prints for the policy, with dbt's call in the place of its source."""
    engine = dialect_named(dialect_of(adapter))
    table = Table(tuple(Field(*each) for each in COLUMNS.items()), parts=("dev", "main", "people"))
    policy = load_policy(policy_file())
    own = replace(policy, release=replace(policy.release, relation=None))
    text = compiled(own, table, engine, Secret(("policy_engine_salts",), "out_v1"))[1]
    source = ".".join(map(engine.identifier, table.parts))
    assert source in text
    return text.replace(source, "{{ ref('people') }}").strip()


RELEASE = release_of("duckdb")
"""A text that is certified."""

ONCE = {"materialized": "incremental", "full_refresh": False}
STANDS = "{% if is_incremental() %}\nselect * from {{ this }} where false\n{% else %}\n"


def once(body: str) -> str:
    """A template that draws once."""
    return f"{STANDS}{body}\n{{% endif %}}"


class GateOfAPolicy(Gate):
    """The gate of a manifest, where the project has the policy of ``out`` and no other file."""

    def _policies(self, reader: NodeReader) -> Policies:
        found = read_policies([policy_file()], reader, lambda file: file.name)
        self.findings += found.findings
        return found


class Project:
    """A manifest that grows by one line a node."""

    gate: type[Gate] = Gate

    def __init__(self, adapter: str = "duckdb", version: str = "1.11.16") -> None:
        self.adapter = adapter
        self.document: dict[str, Any] = {
            "metadata": {
                "dbt_schema_version": SCHEMA,
                "dbt_version": version,
                "adapter_type": adapter,
                "project_name": "shop",
                "generated_at": "2026-11-21T12:00:00Z",
            },
            **{
                section: {}
                for section in (
                    "nodes", "sources", "exposures", "metrics", "semantic_models", "saved_queries",
                    "functions", "macros", "disabled", "unit_tests",
                )
            },
        }  # fmt: skip

    # Nodes

    def source(self, name: str = "raw.people", **more: Any) -> Project:
        """A table that dbt only reads."""
        source, table = name.split(".")
        id_ = f"source.shop.{source}.{table}"
        data = self._node(id_, table, "source", "models/sources.yml", "", more)
        data["source_name"] = source
        data.setdefault("schema", source)
        data["schema"] = more.get("schema", source)
        data["identifier"] = more.get("identifier", table)
        data["relation_name"] = more.get(
            "relation_name", self.relation(data["schema"], data["identifier"])
        )
        self.document["sources"][id_] = data
        return self

    def seed(self, name: str, **more: Any) -> Project:
        """A seed."""
        id_ = f"seed.shop.{name}"
        self.document["nodes"][id_] = self._node(id_, name, "seed", f"seeds/{name}.csv", "", more)
        return self

    def model(self, name: str, sql: str = "select 1 as one", **more: Any) -> Project:
        """A model; ``sql`` is its template. ``compiled`` overrides what dbt would make of it."""
        version = more.pop("version", None)
        id_ = f"model.shop.{name}" + (f".v{version}" if version else "")
        file = name + (f"_v{version}" if version else "")
        data = self._node(id_, name, "model", f"models/{file}.sql", sql, more)
        if version:
            data |= {"version": version, "latest_version": version, "alias": file}
            data["relation_name"] = self.relation(data["schema"], file)
        data.setdefault("access", "protected")
        self.document["nodes"][id_] = data
        return self

    def release(self, sql: str | None = None, **more: Any) -> Project:
        """The release ``out`` of the model ``people``; ``sql`` is another template of it."""
        text = once(release_of(self.adapter)) if sql is None else sql
        self.gate = GateOfAPolicy
        self.model("out_v1_draw", text, **{"config": ONCE, "meta": MARKED, **more})
        return self

    def snapshot(self, name: str, sql: str, **more: Any) -> Project:
        """A snapshot."""
        id_ = f"snapshot.shop.{name}"
        data = self._node(id_, name, "snapshot", f"snapshots/{name}.sql", sql, more)
        self.document["nodes"][id_] = data
        return self

    def test(self, name: str, sql: str, **more: Any) -> Project:
        """A test."""
        id_ = f"test.shop.{name}"
        data = self._node(id_, name, "test", f"tests/{name}.sql", sql, more)
        config = data["config"]
        is_kept = config.get("store_failures") or config.get("store_failures_as") in {
            "table",
            "view",
        }
        kept = self.relation("main_dbt_test__audit", name)
        data["relation_name"] = kept if is_kept else None
        self.document["nodes"][id_] = data
        return self

    def operation(self, sql: str, **more: Any) -> Project:
        """A hook of the project: on-run-start or on-run-end."""
        name = f"shop-on-run-end-{len(self.document['nodes'])}"
        id_ = f"operation.shop.{name}"
        data = self._node(id_, name, "operation", "./dbt_project.yml", sql, more)
        self.document["nodes"][id_] = data
        return self

    def exposure(self, name: str, *parents: str, **more: Any) -> Project:
        """An exposure."""
        return self._other("exposures", "exposure", name, parents, more)

    def metric(self, name: str, *parents: str, **more: Any) -> Project:
        """A metric."""
        return self._other("metrics", "metric", name, parents, more)

    def semantic_model(self, name: str, *parents: str, **more: Any) -> Project:
        """A semantic model."""
        return self._other("semantic_models", "semantic_model", name, parents, more)

    def saved_query(self, name: str, *parents: str, **more: Any) -> Project:
        """A saved query."""
        return self._other("saved_queries", "saved_query", name, parents, more)

    def analysis(self, name: str, sql: str, **more: Any) -> Project:
        """An analysis, which is compiled and never run."""
        id_ = f"analysis.shop.{name}"
        data = self._node(id_, name, "analysis", f"analyses/{name}.sql", sql, more)
        self.document["nodes"][id_] = data
        return self

    def unit_test(self, name: str, model: str, rows: object) -> Project:
        """A unit test of a model, with the rows that it is given."""
        given = [{"input": "ref('x')", "format": "sql", "rows": rows, "fixture": None}]
        return self._other("unit_tests", "unit_test", name, [model], {"given": given})

    def macro(
        self, name: str, sql: str, package: str = "shop", uses: Iterable[str] = ()
    ) -> Project:
        """A macro."""
        id_ = f"macro.{package}.{name}"
        self.document["macros"][id_] = {
            "unique_id": id_, "name": name, "package_name": package, "macro_sql": sql,
            "original_file_path": f"macros/{name}.sql", "depends_on": {"macros": list(uses)},
        }  # fmt: skip
        return self

    def ours(self) -> Project:
        """The macros of the vendored package, as they are shipped."""
        for file in sorted(PACKAGE.rglob("*.sql")):
            blocks = re.finditer(
                r"\{%-?\s*(macro|test)\s+(\w+).*?\{%-?\s*end\1\s*-?%\}", file.read_text(), re.DOTALL
            )
            for block in blocks:
                name = f"test_{block[2]}" if block[1] == "test" else block[2]
                self.macro(name, block[0], "policy_engine")
        return self

    def disable(self, id_: str) -> Project:
        """Take a node out of the graph, as enabled: false does."""
        self.document["disabled"][id_] = [self.document["nodes"].pop(id_)]
        return self

    def without_parents(self, name: str) -> Project:
        """Forget what a model depends on, as where its refs are in a branch that was not taken."""
        self.document["nodes"][self.find(name)]["depends_on"]["nodes"] = []
        return self

    # Building

    def relation(self, schema: str, name: str) -> str:
        """A relation as the adapter writes it."""
        if self.adapter == "snowflake":
            return f"DEV.{schema}.{name}"
        ticked = {"bigquery", "clickhouse", "databricks", "mysql", "spark"}
        sign = "`" if self.adapter in ticked else '"'
        return ".".join(f"{sign}{part}{sign}" for part in ("dev", schema, name))

    def find(self, name: str, version: str = "") -> str:
        """The id of a node by its name."""
        for id_, data in (*self.document["nodes"].items(), *self.document["sources"].items()):
            own = data["name"] if data["resource_type"] != "source" else id_[len("source.shop.") :]
            if own == name and version in {"", str(data.get("version"))}:
                return str(id_)
        for section in ("metrics", "semantic_models", "saved_queries", "exposures"):
            for id_, data in self.document[section].items():
                if data["name"] == name:
                    return str(id_)
        raise AssertionError(f"no node {name}")

    def _other(
        self, section: str, kind: str, name: str, parents: Iterable[str], more: Mapping[str, Any]
    ) -> Project:
        id_ = f"{kind}.shop.{name}"
        self.document[section][id_] = {
            "unique_id": id_, "name": name, "resource_type": kind, "package_name": "shop",
            "original_file_path": "models/schema.yml", "config": {"enabled": True},
            "depends_on": {"macros": [], "nodes": [self.find(each) for each in parents]},
            **more,
        }  # fmt: skip
        return self

    def _node(
        self, id_: str, name: str, kind: str, file: str, sql: str, more: Mapping[str, Any]
    ) -> dict[str, Any]:
        more = deepcopy(dict(more))
        config = more.pop("config", {})
        compiled = more.pop("compiled", None)
        parents = [self.find(each) for each in more.pop("parents", ())]
        parents += [self._ref(found[1])[0] for found in _REF.finditer(sql)]
        parents += [f"source.shop.{found[1]}.{found[2]}" for found in _SOURCE.finditer(sql)]
        data = {
            "unique_id": id_, "name": name, "alias": name, "resource_type": kind,
            "package_name": "shop", "original_file_path": file, "schema": "main",
            "database": "dev", "raw_code": sql.strip(), "language": "sql", "meta": {},
            "config": {"enabled": True, "materialized": "view", **config},
            "columns": {}, "depends_on": {"macros": [], "nodes": list(dict.fromkeys(parents))},
            **more,
        }  # fmt: skip
        if data["config"]["materialized"] == "ephemeral":
            data["relation_name"] = None
        else:
            data.setdefault("relation_name", self.relation(data["schema"], data["alias"]))
        if sql and compiled != "":
            data["compiled"] = True
            data["compiled_code"] = compiled or self._compiled(sql, data)
        return data

    def _ref(self, arguments: str) -> tuple[str, dict[str, Any]]:
        parts = [part.strip() for part in arguments.split(",")]
        version = next((p.split("=")[1].strip("'") for p in parts if "=" in p), "")
        names = [part.strip("'\"") for part in parts if "=" not in part]
        id_ = self.find(names[-1], version)
        return id_, self.document["nodes"].get(id_, {})

    def _compiled(self, sql: str, data: Mapping[str, Any]) -> str:
        """What dbt makes of a template that has refs, sources, a config and our one condition."""
        queries: list[str] = []

        def ref(found: re.Match[str]) -> str:
            _, node = self._ref(found[1])
            if node["relation_name"] is None:
                queries.append(f"__dbt__cte__{node['name']} as (\n{node['compiled_code']}\n)")
                return f"__dbt__cte__{node['name']}"
            return str(node["relation_name"])

        text = sql
        if "{% if is_incremental() %}" in text:
            text = re.sub(
                r"\{% if is_incremental\(\) %\}.*?(?:\{% else %\}(.*?))?\{% endif %\}",
                lambda found: found[1] or "", text, flags=re.DOTALL,
            )  # fmt: skip
        text = _CONFIG.sub("", _REF.sub(ref, text))
        text = _SOURCE.sub(
            lambda m: self.document["sources"][f"source.shop.{m[1]}.{m[2]}"]["relation_name"], text
        )
        text = text.replace("{{ this }}", str(data["relation_name"]))
        return f"with {', '.join(queries)} {text}" if queries else text

    # What the gate says

    def verdict(self, folder: Path | None = None) -> GateVerdict:
        """The gate's verdict, with the project's files in ``folder`` where it is given."""
        manifest = parse_manifest(self.document, Path("target/manifest.json"))
        project = None if folder is None else read_dbt_project(folder / "dbt_project.yml", {})
        return self.gate(manifest, project).verdict()

    def reviewed(self) -> GateVerdict:
        """The gate's verdict where somebody has read all code as it is."""
        manifest = parse_manifest(self.document, Path("target/manifest.json"))
        review = review_of(self.gate(manifest).verdict().codes)
        with patch("policy_engine.dbt.gate.read_review", return_value=review):
            return self.gate(manifest).verdict()

    def codes(self, folder: Path | None = None) -> list[str]:
        """The codes of the findings, each once."""
        return sorted({found.code for found in self.verdict(folder).findings})

    def write(self, folder: Path) -> Path:
        """Write the project to a folder: its manifest and the texts of its models."""
        (folder / "target").mkdir(parents=True, exist_ok=True)
        (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
        for data in self.document["macros"].values():
            if data["package_name"] == "shop":
                file = folder / data["original_file_path"]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(data["macro_sql"] + "\n")
        for section in ("nodes", "sources"):
            for data in self.document[section].values():
                file = folder / data["original_file_path"]
                file.parent.mkdir(parents=True, exist_ok=True)
                if data["resource_type"] in {"model", "snapshot", "test"}:
                    file.write_text(data["raw_code"] + "\n")
        path = folder / "target/manifest.json"
        path.write_text(json.dumps(self.document))
        return path


def shop(adapter: str = "duckdb") -> Project:
    """A sensitive source, and a staging view of it that everything else reads."""
    project = Project(adapter).source("raw.people", meta=SENSITIVE)
    text = "select id, age, zip from {{ source('raw', 'people') }}"
    return project.model("people", text, columns=TYPED)


def review_of(codes: Iterable[Code]) -> Review:
    """A review of all that is there."""
    until = date(9999, 1, 1)
    return Review(
        tuple(ReviewedCode(c.kind, c.name, c.digest, "Ada", "read", until, c.given) for c in codes)
    )


def md5(text: str) -> str:
    """The digest of a model's text."""
    return hashlib.md5(text.strip().encode(), usedforsecurity=False).hexdigest()
