"""Whatever the text, a policy file gives a policy or a ``PolicyError``: never another exception."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy_engine.errors import PolicyError
from policy_engine.policy.hierarchy import CsvError, parse_hierarchy
from policy_engine.policy.loading import load_policy, load_policy_text
from policy_engine.policy.project import load_project_text

#: The part of the examples that are tried; "make evidence" tries all.
PART = 1 if os.environ.get("EVIDENCE") else 5
GOOD = """\
version: 1
name: p
source: {file: a.parquet, columns: {a: date}}
privacy_unit: {column: p, rows: {first_by: [v desc]}}
recode:
  a: {bins: [1, 2.5], labels: [x, "y", 'z']}
  b: {map: {NO: no, 5: ~}, other: null}
  c: {truncate: year}
  d: {hierarchy: h.csv, level: 1}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9}
release: {file: b.parquet, as: counts}
"""
PIECES = st.sampled_from(
    [
        *"[]{}:,-?!&*#|>'\"%@`\\\n\t ~<",
        "- ", ": ", "\n  ", "\n---\n", "...", "<<: ", "!!str ", "&a ", "*a", "|\n", ">-\n",
        "auto: {maximise: people, prior: {sizes: {5: 1}}}\n", "sizes", "{5: 1, 5: 0}",
        "k", "recode", "bins", "map", "keep", "auto", "0x1F", "1e999", "1e-999999999", ".nan",
        "-.inf", "2020-13-45", "2020-01-01", "\\ud800", '"\\U00110000"', "\ufeff", "\u2028", "\x85",
        "\0", "\x7f", "\ud800", "{{ env_var('X') }}", "{{", "}}",
    ]
)  # fmt: skip


def try_text(text: str) -> None:
    """Both loaders; a problem's text can always be printed."""
    for load in (load_policy_text, load_project_text):
        try:
            load(text, "f.yaml", "/nowhere")
        except PolicyError as error:
            assert error.problems
            assert all(found.line >= 1 and found.column >= 1 for found in error.problems)
            if not any("\ud800" <= letter <= "\udfff" for letter in text):
                str(error).encode()


@settings(max_examples=400 // PART, deadline=None)
@given(st.text(max_size=200) | st.lists(PIECES, max_size=30).map("".join))
@example("[" * 50_000)
@example("{" * 50_000)
@example("- " * 50_000)
@example("? " * 5_000)
@example("a: " * 1_000)
@example("'" * 9_999)
@example("? \n" * 100)
@example("\ud800: 1")
def test_any_text(text):
    try_text(text)


@settings(max_examples=400 // PART, deadline=None)
@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.lists(PIECES, max_size=4).map("".join))
def test_a_good_file_with_a_piece_replaced(start, length, piece):
    try_text(GOOD[:start] + piece + GOOD[start + length :])


@settings(max_examples=200 // PART, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(content):
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "p.yaml"
        file.write_bytes(content)
        with pytest.raises(PolicyError):
            load_policy(file)


@settings(max_examples=200 // PART, deadline=None)
@given(st.binary(max_size=100) | st.text('a;"\n\r\0', max_size=40).map(str.encode))
def test_any_hierarchy(content):
    try:
        made = parse_hierarchy(content)
    except CsvError as error:
        assert error.reasons
    else:
        assert made.height >= 1
        assert len(made.table(made.height)) == len(made.rows)
