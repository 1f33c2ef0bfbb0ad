"""The reports of validate, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from policy_engine.cli import formats as problems
from policy_engine.errors import Problem
from policy_engine.releasing.validation import Checked

#: What SARIF 2.1.0 asks of the part that is written here (OASIS, sarif-schema-2.1.0.json).
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"type": "string", "format": "uri"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "additionalProperties": False,
    "$defs": {
        "message": {"type": "object", "required": ["text"], "additionalProperties": False,
                    "properties": {"text": {"type": "string"}}},
        "rule": {"type": "object", "required": ["id"], "additionalProperties": False,
                 "properties": {"id": {"type": "string"},
                                "shortDescription": {"$ref": "#/$defs/message"}}},
        "driver": {"type": "object", "required": ["name"], "additionalProperties": False,
                   "properties": {"name": {"type": "string"},
                                  "rules": {"type": "array", "uniqueItems": True,
                                            "items": {"$ref": "#/$defs/rule"}}}},
        "run": {
            "type": "object",
            "required": ["tool"],
            "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["driver"],
                         "properties": {"driver": {"$ref": "#/$defs/driver"}}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"enum": ["policy", "unchecked"]},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"$ref": "#/$defs/message"},
                "locations": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"physicalLocation": {
                        "type": "object",
                        "required": ["artifactLocation"],
                        "additionalProperties": False,
                        "properties": {
                            "artifactLocation": {
                                "type": "object",
                                "properties": {"uri": {"type": "string",
                                                       "pattern": "^[^ #?\\\\]*$"}}},
                            "region": {
                                "type": "object",
                                "additionalProperties": False,
                                "properties": {
                                    "startLine": {"type": "integer", "minimum": 1},
                                    "startColumn": {"type": "integer", "minimum": 1}}},
                        }}}}},
            },
        },
    },
}  # fmt: skip


@pytest.fixture
def checked(project):
    odd = project / "a b,c%.yaml"
    return (
        Checked(odd, None, (Problem(str(odd), 3, 7, "k", "two\nlines", "write one"),)),
        Checked(Path("b.yaml"), None, (), "the source is not there"),
        Checked(
            Path("/elsewhere/c.yaml"), None, (Problem("/elsewhere/c.yaml", 0, 0, "", "empty"),)
        ),
        Checked(Path("d.yaml"), None),
    )


@pytest.fixture
def report(capsys):
    """What is printed."""

    def printed(checked, form):
        problems.report(checked, form)
        return capsys.readouterr().out

    return printed


def test_text(checked, report):
    assert report(checked, "text").splitlines() == [
        "a b,c%.yaml:3:7: two\\nlines; write one",
        "/elsewhere/c.yaml: empty",
        "b.yaml: valid by itself; not checked against its warehouse or source",
        "d.yaml: valid",
    ]


def test_json(checked, report):
    document = json.loads(report(checked, "json"))
    assert document["valid"] is False
    assert document["files"] == ["a b,c%.yaml", *(str(each.file) for each in checked[1:])]
    assert [problem["line"] for problem in document["problems"]] == [3, 0]
    assert document["unchecked"] == [{"file": "b.yaml", "message": "the source is not there"}]


def test_github_annotations_name_files_of_the_working_directory(checked, report):
    assert report(checked, "github").splitlines() == [
        "::error file=a b%2Cc%25.yaml,line=3,col=7::two\\nlines; write one",
        "::error file=/elsewhere/c.yaml::empty",
        "::warning file=b.yaml::the source is not there",
    ]


def test_sarif(checked, report):
    document = json.loads(report(checked, "sarif"))
    jsonschema.validate(document, SARIF)
    places = [
        result["locations"][0]["physicalLocation"] for result in document["runs"][0]["results"]
    ]
    assert places == [
        {
            "artifactLocation": {"uri": "a%20b%2Cc%25.yaml"},
            "region": {"startLine": 3, "startColumn": 7},
        },
        {"artifactLocation": {"uri": "file:///elsewhere/c.yaml"}},
        {"artifactLocation": {"uri": "b.yaml"}},
    ]
    levels = [result["level"] for result in document["runs"][0]["results"]]
    assert levels == ["error", "error", "warning"]


def test_a_problem_that_files_share_is_told_once(report):
    shared = Problem("policy-engine.yaml", 1, 1, "", "bad")
    both = (Checked(Path("a"), None, (shared,)), Checked(Path("b"), None, (shared,)))
    assert report(both, "text") == "policy-engine.yaml:1:1: bad\n"


def test_nothing_wrong_is_an_empty_run(report):
    document = json.loads(report((Checked(Path("a"), None),), "sarif"))
    jsonschema.validate(document, SARIF)
    assert document["runs"][0]["results"] == []
