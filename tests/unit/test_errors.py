"""The exception tree is what its docstring draws, and its texts are complete."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import policy_engine
from policy_engine import errors
from policy_engine.errors import (
    DomainError,
    Finding,
    NotCertifiable,
    PolicyEngineError,
    PolicyError,
    Problem,
    UsageError,
    VerificationFailed,
)
from policy_engine.policy.resolve import loaded


def tree(kind: type[PolicyEngineError]) -> Iterator[type[PolicyEngineError]]:
    yield kind
    for child in kind.__subclasses__():
        if vars(errors).get(child.__name__) is child:
            yield from tree(child)


def test_the_docstring_draws_the_tree_with_its_codes():
    drawn = {}
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ([│├└─ ]*)([A-Z]\w+) +(\d+|exit code 1)", line)
        if found:
            drawn[found[2]] = int(found[3].rpartition(" ")[2])
    assert drawn == {kind.__name__: kind.exit_code for kind in tree(PolicyEngineError)}


def test_every_class_is_documented():
    assert all(kind.__doc__ for kind in tree(PolicyEngineError))


def test_a_domain_error_is_a_value_error_too():
    error = DomainError("k", "at least 2", 1)
    assert isinstance(error, ValueError)
    assert error.parameter == "k"
    assert str(error) == "k must be at least 2, found 1"


def test_errors_of_many_reasons_have_a_line_each():
    problems = (Problem("a", 0, 0, "", "one"), Problem("a", 2, 3, "", "two", "do"))
    assert str(PolicyError(problems)) == "a: one\na:2:3: two; do"
    findings = (Finding("V01", "one"), Finding("V02", "two", 3, 4))
    assert str(NotCertifiable(findings)) == "V01 one\nline 3, column 4: V02 two"
    assert str(NotCertifiable(findings, "p")) == "p: V01 one\np: its SQL, line 3, column 4: V02 two"
    assert str(VerificationFailed(("one", "two"))) == "one\ntwo"


@pytest.mark.parametrize("name", policy_engine.__all__)
def test_every_public_name_is_there(name):
    assert callable(getattr(policy_engine, name))


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="'policy_engine' has no attribute 'anonymize'"):
        _ = policy_engine.anonymize


@pytest.mark.parametrize("name", policy_engine.__all__)
def test_a_public_name_is_never_hidden_by_a_room_of_the_same_name(name):
    code = (
        "import policy_engine.cli.app, policy_engine.release, policy_engine.attest.keys\n"
        f"from policy_engine import {name}\n"
        f"assert callable({name}), {name}\n"
        "from policy_engine.releasing.preview import preview\n"
        "from policy_engine.attest import keys\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_lists_its_names():
    assert set(policy_engine.__all__) <= set(dir(policy_engine))
    assert "__doc__" in dir(policy_engine)


def test_a_path_in_place_of_a_policy_is_refused():
    told = "a loaded policy is needed, found the str 'a.yaml'; call load_policy on the file's path"
    with pytest.raises(UsageError, match=told):
        loaded("a.yaml")
