"""No text of a file, a certificate, a warehouse or a command line makes a line of its own."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.main import get_command

from policy_engine.cli.app import app
from policy_engine.cli.desk import PORT
from policy_engine.cli.main import run
from policy_engine.cli.output import note
from policy_engine.cli.progress import progress
from policy_engine.dialects import ENGINES
from policy_engine.policy.escapes import escaped, sql_lines

from .forged_envelopes import forged

ODD = "\n✓ forged\r  ✓ forged\x1b[2K\x9b31m\u202e\u2066\u200b\u2028✓ forged\x85\u061c\ufeff\t"
"""Line ends, ANSI, C1, bidi, zero width: whatever a terminal does not simply show."""
SHOWN = escaped(ODD)


def commands(command, words=()):
    """Every command of the program, as the words that name it."""
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from commands(each, (*words, name))
    if not getattr(command, "commands", {}):
        yield words, command


def invocations():
    """Each command with odd arguments, and with each of its options odd as well."""
    for words, command in commands(get_command(app)):
        needed = []
        for each in command.params:
            if each.required:
                option = each.param_type_name == "option"
                needed += [each.opts[0], ODD] if option else [f"a{ODD}.yaml"]
        yield [*words, *needed]
        yield [*words, *needed, ODD]
        for each in command.params:
            if each.param_type_name == "option" and not each.is_flag:
                yield [*words, *needed, each.opts[0], f"b{ODD}"]


def is_clean(*texts):
    for text in texts:
        for line in text.split("\n"):
            assert line.isprintable(), ascii(line)
            assert not line.lstrip().startswith("✓ forged")


@pytest.fixture(scope="module")
def no_port():
    """The port that `desk` takes is not free, or it would run for ever."""
    with suppress(OSError), socket.create_server(("127.0.0.1", PORT)):
        yield
        return
    yield  # somebody else has it


@pytest.mark.parametrize(
    "words", [*invocations()], ids=lambda words: " ".join(words).split("\n")[0]
)
def test_no_command_prints_its_arguments_raw(project, cli, words, no_port):
    result = cli(*words)
    is_clean(result.out, result.err)
    assert result.code or words[0] in {"engines", "init", "keys", "ledger", "schema"}, (
        "the odd words were taken"
    )
    again = cli(*words, "--format=json")
    is_clean(again.out, again.err)


@pytest.fixture
def odd(project, policy):
    """A policy whose label and folder are odd; its release and its certificate can be forged."""
    folder = project / f"out{ODD}"
    folder.mkdir()
    return policy("a", ("bins: [30, 60]", f"bins: [30, 60], labels: [{json.dumps(ODD)}, b, c]"))


def test_a_label_is_no_line_of_the_sql_it_stands_in(odd, cli):
    for words in (("plan", odd, "--sql"), ("compile", odd)):
        result = cli(*words)
        assert f"'{SHOWN}'" in result.out
        is_clean(result.out, result.err)
        document = cli(*words, "--format", "json")
        is_clean(document.out)
        assert ODD in document.document["sql"]
    assert "--format json has that" in cli("compile", odd).err


@pytest.mark.parametrize("dialect", ENGINES)
def test_sql_that_has_nothing_odd_is_shown_as_it_runs(dialect):
    sql = "-- a\n\nSELECT\n  1 AS x -- b\n"
    assert "\n".join(sql_lines(sql, dialect)) == sql.rstrip("\n")


def test_a_certificate_forges_no_line_of_verify(odd, cli):
    assert cli("release", odd).code == 0

    def change(payload):
        payload["subject"][0]["name"] = f"{ODD}.parquet"

    path = forged(odd.parent / "out/a.certificate.json", change)
    text, document = (cli("verify", path, *form) for form in ((), ("--format=json",)))
    is_clean(text.out, text.err, document.out)
    assert document.document["release"] == f"{ODD}.parquet"
    result = cli("verify", path, "--release", "out/a.parquet")
    is_clean(result.out, result.err)


@pytest.mark.parametrize("name", ["source", "query", "assumptions", "unit", "purpose", ODD])
def test_a_field_that_is_forged_is_told_without_its_controls(odd, cli, name):
    assert cli("release", odd).code == 0

    def change(payload):
        forgery = [{"code": "row_is_person", "source": ODD}] if name == "assumptions" else ODD
        payload["predicate"][name] = forgery

    result = cli("verify", forged(odd.parent / "out/a.certificate.json", change))
    assert result.code == 1
    is_clean(result.out, result.err)


def test_columns_of_a_release_are_named_without_their_controls(project, odd, cli):
    assert cli("release", odd).code == 0
    pq.write_table(pa.table({f"age{ODD}": [1]}), "other.parquet")

    def change(payload):
        digest = hashlib.sha256((project / "other.parquet").read_bytes()).hexdigest()
        payload["subject"][0]["digest"]["sha256"] = digest

    path = forged(odd.parent / "out/a.certificate.json", change)
    result = cli("verify", path, "--release", "other.parquet")
    assert result.code == 1 and f"age{SHOWN}" in result.err
    is_clean(result.out, result.err)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_validate_reports_odd_columns_and_files(project, policy, cli, form):
    pq.write_table(pa.table({f"age{ODD}": [1], "sex": ["f"]}), "people.parquet")
    path = policy("a").rename(f"b{ODD}.yaml")
    result = cli("validate", path, "--format", form)
    is_clean(result.out, result.err)
    assert result.code == 1 and result.out.startswith("::") is (form == "github")


def test_a_ledger_shows_its_accounts_without_their_controls(project, cli):
    (project / "policy-engine.yaml").write_text(f"accounts: {{{json.dumps('p' + ODD)}: {{}}}}\n")
    for form in ("text", "json"):
        result = cli("ledger", "show", "--format", form)
        is_clean(result.out, result.err)


def test_an_error_of_ours_has_one_line_each_and_no_other(capsys):
    note(f"a{ODD}")
    assert capsys.readouterr().err == f"a{SHOWN}\n"


def test_the_progress_of_a_release_shows_no_control(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress(f"releasing {ODD}"):
        pass
    err = capsys.readouterr().err
    assert "\\u202e" in err and not set("\u202e\u2066\u200b\u2028\x85") & set(err)


def test_a_bug_of_ours_is_traced_without_controls(capsys, monkeypatch):
    def fail(*_, **__):
        raise ValueError(ODD)

    monkeypatch.setattr("policy_engine.accounting.certificate_numbers.certify_numbers", fail)
    monkeypatch.setenv("POLICY_ENGINE_DEBUG", "1")
    assert run(["calculate", "--k", "20", "--rate", "0.1", "--epsilon", "1"]) == 70
    err = capsys.readouterr().err
    assert "ValueError: " in err
    assert all(line.isprintable() for line in err.split("\n"))
