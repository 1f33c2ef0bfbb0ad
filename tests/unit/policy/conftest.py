"""A small good policy, and what is wrong with changes to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from policy_engine.errors import PolicyError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy

GOOD = {
    "version": "version: 1",
    "name": "name: p",
    "source": "source: {file: a.parquet}",
    "recode": "recode: {age: keep}",
    "sample": "sample: {rate: 0.1}",
    "k": "k: 20",
    "guarantee": "guarantee: {epsilon: 0.5, delta: 1.0e-9}",
    "release": "release: {file: b.parquet}",
}

Text = Callable[..., str]
Load = Callable[..., Policy]
Problems = Callable[..., list[str]]


def text_with(**lines: str) -> str:
    """The good policy with the lines of some keys changed; other keys are added at the end.

    The last line of all is the privacy unit: that of the source, or ``row``.
    """
    given = {**GOOD, **lines}
    given["source"], _, unit = given["source"].partition("\nprivacy_unit: ")
    return "\n".join([*given.values(), f"privacy_unit: {unit or 'row'}"]) + "\n"


@pytest.fixture
def text() -> Text:
    return text_with


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return lambda **lines: load_policy_text(text_with(**lines), "p.yaml", tmp_path)


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    def read(raw: str | None = None, **lines: str) -> list[str]:
        with pytest.raises(PolicyError) as caught:
            load_policy_text(text_with(**lines) if raw is None else raw, "p.yaml", tmp_path)
        return [
            str(found).removeprefix("p.yaml:").replace(str(tmp_path) + "/", "")
            for found in caught.value.problems
        ]

    return read
