"""A small project in a temporary directory, and the command line run in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.main import run

POLICY = """\
version: 1
name: {name}
source: {{file: people.parquet}}
privacy_unit: row
recode:
  age: {{bins: [30, 60]}}
  sex: keep
sample: {{rate: 0.1}}
k: {k}
guarantee: {{epsilon: {epsilon}, delta: {delta}}}
release: {{file: out/{name}.parquet}}
account: people
"""
PROJECT = "accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\n"


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


Cli = Callable[..., Result]
Policies = Callable[..., Path]


@cache
def _people() -> bytes:
    """A table of 8,000 people in six groups; a sample of a tenth shows each."""
    ages = [20 + i % 60 for i in range(8000)]
    sexes = ["female" if i % 7 < 4 else "male" for i in range(8000)]
    file = io.BytesIO()
    pq.write_table(pa.table({"age": ages, "sex": sexes}), file)
    return file.getvalue()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with that table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    (tmp_path / "people.parquet").write_bytes(_people())
    (tmp_path / "policy-engine.yaml").write_text(PROJECT)
    return tmp_path


@pytest.fixture
def policy(project: Path) -> Policies:
    """Writes a policy file; keyword arguments change its numbers, ``old=new`` its text."""

    def write(name: str = "a", *changes: tuple[str, str], **numbers: str) -> Path:
        text = POLICY.format(
            name=name, **({"k": "20", "epsilon": "0.5", "delta": "1.0e-9"} | numbers)
        )
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = Path(f"{name}.yaml")
        path.write_text(text)
        return path

    return write


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line as a process would, and gives its code and what it printed."""

    def invoke(*arguments: object) -> Result:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)

    return invoke
