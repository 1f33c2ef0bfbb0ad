"""The JSON Schema describes what users write, and is the file that is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from policy_schemas import json_schema, project_schema, texts
from pydantic import ValidationError
from ruamel.yaml import YAML

from policy_engine.errors import PolicyError
from policy_engine.policy.laws import Document
from policy_engine.policy.project import load_project_text
from policy_engine.policy.review_models import key_line

VALIDATOR = Draft202012Validator(json_schema())
GOOD = {
    "version": 1,
    "name": "p",
    "source": {"file": "a.parquet"},
    "privacy_unit": "row",
    "recode": {"a": "keep"},
    "sample": {"rate": 0.1},
    "k": 20,
    "guarantee": {"epsilon": 0.5, "delta": 1e-9},
    "release": {"file": "b.parquet"},
}


def test_the_shipped_files_are_up_to_date():
    for path, text in texts().items():
        again = f"{path} is old: .venv/bin/python scripts/policy_schemas.py"
        assert path.read_text(encoding="utf-8") == text, again


def test_it_is_a_schema_and_describes_itself():
    Draft202012Validator.check_schema(json_schema())
    assert json_schema()["properties"]["k"]["description"].startswith("The least size")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"k": "auto", "sample": {"rate": "auto", "method": "native"}},
        {"auto": {"maximise": "people", "prior": {"people": 5, "groups": 2, "exponent": 0.5}}},
        {"auto": {"maximise": "groups", "prior": {"sizes": {"800": 20, "1000000000": 1}}}},
        {
            "source": {"table": "c.t", "sampled_at": 1},
            "privacy_unit": {"column": "p", "rows": "any"},
        },
        {
            "source": {"file": "a"},
            "privacy_unit": {"column": "p", "rows": {"first_by": ["v desc"]}},
        },
        {"source": {"file": "a", "columns": {"a": "date"}}, "privacy_unit": "row"},
        {"recode": {"a": {"bins": [1, 2.5], "labels": ["x", "y", 3]}}},
        {"recode": {"a": {"bins": ["2020-01-01", "2020-01-01 10:00"]}}},
        {"recode": {"a": {"map": {"x": "y", "z": None, "w": 1}, "other": None}}},
        {"recode": {"a": {"hierarchy": "h.csv", "level": 1, "other": "x"}}},
        {"recode": {"a": {"prefix": 1}, "b": {"truncate": "week"}, "c": {"round": 0.5}}},
        {"recode": {"a": {"constant": "*"}}},
        {"release": {"table": "x.y"}, "count": {"people": "m"}},
        {"account": "census", "grouping": "recoded", "description": "x"},
    ],
)
def test_a_good_document(change):
    VALIDATOR.validate({**GOOD, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"version": 2},
        {"name": "1st"},
        {"k": 1},
        {"k": "many"},
        {"k": True},
        {"k": 2.5},
        {"auto": None},
        {"auto": {"maximise": "people"}},
        {"auto": {"maximise": "rows", "prior": {"people": 5, "groups": 2}}},
        {"auto": {"maximise": "people", "prior": {"people": 5}}},
        {"auto": {"maximise": "people", "prior": {"people": 5, "groups": 10**6 + 1}}},
        {"auto": {"maximise": "people", "prior": {"people": 5, "groups": 2, "exponent": 11}}},
        {"auto": {"maximise": "people", "prior": {"people": 5, "groups": 2, "sizes": {"1": 2}}}},
        {"auto": {"maximise": "people", "prior": {"sizes": {}}}},
        {"auto": {"maximise": "people", "prior": {"sizes": {"0": 1}}}},
        {"auto": {"maximise": "people", "prior": {"sizes": {"01": 1}}}},
        {"auto": {"maximise": "people", "prior": {"sizes": {"5": 0}}}},
        {"sample": {"rate": 1}},
        {"sample": {"rate": 0}},
        {"sample": {}},
        {"guarantee": {"epsilon": -1, "delta": 0.1}},
        {"guarantee": {"epsilon": 1, "delta": 1}},
        {"guarantee": {"epsilon": 1}},
        {"source": {"file": "a", "table": "b"}, "privacy_unit": "row"},
        {"source": {}, "privacy_unit": "row"},
        {"source": {"file": "a"}, "privacy_unit": None},
        {"source": {"file": None}, "privacy_unit": "row"},
        {"source": {"file": "a"}, "privacy_unit": "rows"},
        {"source": {"file": "a"}, "privacy_unit": {"rows": {"first_by": ["v"]}}},
        {"source": {"file": "a"}, "privacy_unit": {"column": "p", "rows": {"first_by": []}}},
        {"source": {"file": "a"}, "privacy_unit": {"column": "p", "rows": "first"}},
        {"source": {"file": "a", "columns": {"a": "int"}}, "privacy_unit": "row"},
        {"source": {"file": "a", "sampled_at": 2}, "privacy_unit": "row"},
        {"recode": {}},
        {"recode": {"a": "drop"}},
        {"recode": {"a": {}}},
        {"recode": {"a": {"bins": []}}},
        {"recode": {"a": {"bins": "quantile"}}},
        {"recode": {"a": {"bins": ["x"]}}},
        {"recode": {"a": {"quantiles": 4}}},
        {"recode": {"a": {"bins": [1], "lables": ["a", "b"]}}},
        {"recode": {"a": {"map": {"x": "y"}}}},
        {"recode": {"a": {"hierarchy": "h.csv", "level": 0}}},
        {"recode": {"a": {"prefix": 1, "round": 1}}},
        {"recode": {"a": {"truncate": "decade"}}},
        {"release": {"file": "a", "as": "list"}},
        {"release": {}},
        {"account": None},
    ],
)
def test_a_bad_document(change):
    assert not VALIDATOR.is_valid({**GOOD, **change})


SAYS_NULL = {("MapSpec", "other"), ("HierarchySpec", "other")}
"""Where null is a value that is written: what stands for every other one."""


def _models(model=Document):
    for each in model.__subclasses__():
        yield each
        yield from _models(each)


@pytest.mark.parametrize("model", dict.fromkeys(_models()), ids=lambda model: model.__name__)
def test_a_key_that_is_left_empty_is_refused_where_it_stands(model):
    """And not taken for one that is left out, which is another policy."""
    for name, field in model.model_fields.items():
        key = field.alias or name
        if (model.__name__, key) in SAYS_NULL:
            continue
        with pytest.raises(ValidationError) as caught:
            model.model_validate({key: None})
        told = [
            each["ctx"]["predicate"]
            for each in caught.value.errors(include_url=False)
            if (*each["loc"], *each["ctx"].get("at", ())) == (key,)
        ]
        assert any("found null" in each or "null" in each for each in told), (key, told)


def test_no_editor_takes_an_empty_key_for_one_that_is_left_out():
    for schema in (json_schema(), project_schema()):
        assert '{"type": "null"}' not in json.dumps(schema)
    for key in ("about", "contribution", "noise", "period", "search"):
        assert not VALIDATOR.is_valid({**GOOD, key: None})


# The project file.

PROJECTS = (
    "accounts: {people: {epsilon: 1.0, delta: 1.0e-6}, open: {}}",
    "warehouses: {own: {type: duckdb, database: own.duckdb, memory_limit: 2GB, threads: 4}}",
    "warehouses: {m: {type: mariadb, url: 'mariadb://u@h/d', settings: {sort_buffer_size: 1GB}}}",
    "warehouses: {pg: {type: postgres, url: \"postgresql://{{ env_var('P', 'h') }}/d\"}}",
    "warehouses: {a: {type: \"{{ env_var('T', 'duckdb') }}\"}}",
    "warehouses: {d: {type: dbt, profile: p, target: t}}\ndefault: d\nversion: 1",
    "witnesses: ['git:git@example.org:audit/heads.git#census', 'file:/mnt/worm/heads']",
    f"signing: {{owners: [{key_line(bytes(32))}, {key_line(bytes(31) + b'1')}], threshold: 2}}",
    "ledger: postgresql://h/d\nsigning: {command: [kms], public_key: k.pub, keyring: keys.json}",
    "sealing: {key: own.pem}\ndbt: {release_targets: [prod], access: private}",
)
NO_PROJECTS = (
    "acounts: {}",
    "accounts: {people: {epsilon: 0, delta: 0.1}}",
    "accounts: {people: null}",
    "warehouses: {own: {type: oracle}}",
    "warehouses: {own: {type: duckdb, threads: many}}",
    "warehouses: {own: {type: postgres, url: 'postgresql://h/d', settings: {work_mem: lots}}}",
    "warehouses: {own: {type: postgres, url: 'postgresql://h/d', settings: {jit: off}}}",
    "version: 2",
    "witnesses: ['s3://heads']",
    "witnesses: file:/mnt/worm/heads",
    "signing: {owners: [alice.pub]}",
    "signing: {threshold: 0}",
    "sealing: {key: [own.pem]}",
)


def test_the_project_files_schema_is_one_and_describes_itself():
    found = project_schema()
    Draft202012Validator.check_schema(found)
    assert found["$defs"]["WarehouseSpec"]["properties"]["url"]["description"].startswith("Where")
    assert "default" not in found["properties"]["signing"]


@pytest.mark.parametrize("text", PROJECTS)
def test_what_is_a_project_file_is_one_by_its_schema(text):
    load_project_text(text, "p", ".")
    Draft202012Validator(project_schema()).validate(YAML(typ="safe").load(text))


@pytest.mark.parametrize("text", NO_PROJECTS)
def test_what_is_none_is_none_by_its_schema(text):
    with pytest.raises(PolicyError):
        load_project_text(text, "p", ".")
    assert not Draft202012Validator(project_schema()).is_valid(YAML(typ="safe").load(text))


@pytest.mark.parametrize("file", ["policy-engine.yaml", "examples/dbt_project/policy-engine.yaml"])
def test_our_own_project_files_are_some(file):
    text = (Path(__file__).parents[3] / file).read_text("utf-8")
    Draft202012Validator(project_schema()).validate(YAML(typ="safe").load(text))
