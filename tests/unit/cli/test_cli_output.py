"""Numbers of a claim are never shown below it, and every character can be printed."""

from __future__ import annotations

import io
import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.cli.output import emit_lines, number, set_up, shown, wants_json
from policy_engine.cli.progress import Progress, progress
from policy_engine.ledger.account import brief

amounts = st.decimals(min_value=0, max_value=1, allow_nan=False)


@given(amounts)
def test_a_json_number_is_never_below_the_claim(value):
    assert Decimal(repr(number(value))) >= value


@given(amounts)
def test_what_is_left_is_never_above_it(value):
    assert Decimal(repr(number(value, down=True))) <= value


@given(st.decimals(min_value=0, max_value=1, places=12))
def test_few_digits_are_kept(value):
    assert Decimal(repr(number(value))) == value
    assert Decimal(shown(value)) == value


def test_a_brief_sum_is_never_below_and_what_is_left_never_above():
    assert brief(Decimal("0." + "123456789" * 20)) == "0.123456789124"
    assert brief(Decimal("0." + "123456789" * 20), down=True) == "0.123456789123"
    assert brief(Decimal("1." + "0" * 200 + "1")) == "1.00000000001"
    assert brief(Decimal("9.99973682165335E-7")) == "9.99973682166e-7"
    assert shown(Decimal("9.99973682165335E-7")) == "9.99973682165335e-7"
    assert shown(Decimal("1000000000")) == "1000000000"
    assert number(None) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", False),
        ("--format json", True),
        ("--format=json", True),
        ("check - --format", False),
        ("--format json --format text", False),
        ("--format=text --format=json", True),
        ("validate -- --format json", False),
    ],
)
def test_json_is_recognised_in_any_command_line(words, expected):
    assert wants_json(words.split()) is expected


def test_text_that_the_terminal_lacks_is_escaped_and_json_is_utf_8(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    set_up(as_json=False)
    emit_lines(["ε\udc80"])
    set_up(as_json=True)
    emit_lines(["ε\udc80"])
    assert out.buffer.getvalue() == b"\\u03b5\\udc80\n\xce\xb5\\udc80\n"


def test_other_streams_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    set_up(as_json=True)


def test_progress_is_for_terminals(monkeypatch, capsys):
    with progress("releasing [red]a[/red]"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with progress("releasing [red]a[/red]"):
        pass
    assert "releasing [red]a[/red]" in capsys.readouterr().err


def test_a_work_says_how_far_it_is_and_what_is_left(monkeypatch):
    now = iter([0.0, 30.0, 40.0, 41.0, 50.0])
    monkeypatch.setattr("policy_engine.cli.progress.monotonic", lambda: next(now))
    told = []
    seen = Progress("auditing a", told.append)
    seen.reached(0.25)
    seen.reached(0.5, "500 of 1,000 runs")
    seen.reached(0.01)  # the next work: what has passed before tells nothing of it
    assert told == [
        "auditing a: 25%, about 90 s left",
        "auditing a: 500 of 1,000 runs, about 40 s left",
        "auditing a: 1%, about 15 min left",
    ]
