"""Whatever stops a command: a message, a code, one JSON document; never a trace, never data."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from policy_engine.cli import app as commands
from policy_engine.cli import main, numbers
from policy_engine.cli.failures import failure
from policy_engine.cli.main import run
from policy_engine.errors import BudgetExceeded, DomainError, FileError, UsageError

CERTIFY = ("calculate", "--k", "20", "--rate", "0.1", "--epsilon", "0.5")
COMMANDS = ("init", "validate", "compile", "plan", "release", "show", "calculate",
            "certify-sql", "verify", "schema", "ledger show", "ledger verify")  # fmt: skip


@pytest.mark.parametrize("command", ["", "ledger", *COMMANDS])
def test_help_has_an_example(cli, command):
    result = cli(*command.split(), "--help")
    assert result.code == 0
    assert f"Example: policy-engine {command}".rstrip() in result.out
    assert result.err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_format(cli, command):
    assert "--format" in cli(*command.split(), "--help").out


def test_version(cli):
    result = cli("--version")
    assert result.code == 0
    assert result.out.startswith("policy-engine 0.")


@pytest.mark.parametrize("words", [(), ("ledger",)])
def test_no_command_shows_the_commands_on_stderr(cli, words):
    result = cli(*words)
    assert (result.code, result.out) == (2, "")
    assert ("Commands:" if words else "Policies:") in result.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nope",), "no such command 'nope'"),
        (("calculate", "--k", "20"), "give three of --k, --rate, --epsilon and --delta"),
        (("calculate", "--k", "twenty", "--rate", "0.1"), "invalid value for '--k'"),
        (("calculate", "--kk", "20"), "no such option: --kk"),
        (("release",), "missing argument"),
        (("validate",), "missing argument"),
        (("calculate", "--k", "20", "--rate", "0.1"), "give three of --k, --rate"),
        (
            ("calculate", "--k", "1", "--rate", "0.1", "--epsilon", "1"),
            "k must be an integer from 2",
        ),
    ],
)
def test_wrong_usage_is_2_and_one_document(cli, words, told):
    text = cli(*words)
    assert (text.code, text.out) == (2, "")
    assert told in text.err
    as_json = cli(*words, "--format", "json")
    assert as_json.code == 2
    assert told in as_json.document["error"]
    assert as_json.err == text.err


def test_an_option_without_its_value(cli):
    result = cli("calculate", "--format")
    assert result.code == 2
    assert "requires an argument" in result.err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("age 37"), 70, "internal error: ValueError at policy_engine.cli"),
        (FileNotFoundError(2, "No such file", "a.parquet"), 3, "a.parquet failed: No such file"),
        (OSError(28, "No space left on device"), 3, "the output failed: No space left"),
        (OSError("sealed"), 70, "internal error: OSError"),
        (MemoryError(), 3, "memory"),
        (FileError("the disk is full"), 3, "error: the disk is full"),
        (BudgetExceeded("nothing left"), 1, "nothing left"),
        (DomainError("k", "2", 1), 2, "k must be 2"),
        (SystemExit(5), 70, "internal error: SystemExit"),
    ],
)
def test_every_error_has_its_code(cli, monkeypatch, error, code, told):
    def fail(*_):
        raise error

    monkeypatch.setattr(numbers, "emit", fail)
    result = cli(*CERTIFY, "--format", "json")
    assert result.code == code
    assert told in result.err
    said = {"error": result.err.removeprefix("error: ").rstrip("\n")}
    has_code = code == 3
    assert result.document == said | ({"code": result.document["code"]} if has_code else {})
    assert "37" not in result.out + result.err
    assert "sealed" not in result.out + result.err


def test_a_trace_is_shown_of_a_bug_and_when_asked_only(monkeypatch, capfd):
    monkeypatch.setenv("POLICY_ENGINE_DEBUG", "1")
    monkeypatch.setattr(numbers, "emit", lambda *_: 1 / 0)
    assert run(list(CERTIFY)) == 70
    assert "ZeroDivisionError: division by zero" in capfd.readouterr().err
    assert run(["calculate"]) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_a_closed_pipe_is_quiet(cli, monkeypatch):
    def fail(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(numbers, "emit", fail)
    result = cli(*CERTIFY)
    assert (result.code, result.err) == (141, "")


def test_an_error_of_a_library_that_was_interrupted_is_an_interrupt(monkeypatch):
    monkeypatch.setattr(main, "_stopped_by", [signal.SIGINT])
    assert failure(RuntimeError("Query interrupted")).exit_code == 130


def test_a_signal_raises_and_is_remembered(monkeypatch):
    monkeypatch.setattr(main, "_stopped_by", [])
    assert not main.interrupted()
    with pytest.raises(KeyboardInterrupt):
        main._stop(signal.SIGTERM, None)
    assert main.interrupted()


@pytest.fixture
def handlers():
    """The signal handlers of this process, put back afterwards."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def left(monkeypatch):
    """How a process was left: what was registered for its end ran first, unless interrupted."""
    steps = []

    def leave(code):
        steps.append(code)
        raise SystemExit(code)

    monkeypatch.setattr("os._exit", leave)
    monkeypatch.setattr("atexit._run_exitfuncs", lambda: steps.append("at exit"))
    return steps


def test_main_exits_with_the_code_of_the_command(handlers, left, monkeypatch, capsys):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    monkeypatch.setattr(sys, "argv", ["policy-engine", "nope"])
    with pytest.raises(SystemExit):
        main.main()
    assert left == ["at exit", 2]
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_main_leaves_ignored_signals_ignored(handlers, left, monkeypatch, capsys):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    seen = []
    monkeypatch.setattr(main, "run", lambda _: seen.append(signal.getsignal(signal.SIGINT)) or 0)
    with pytest.raises(SystemExit):
        main.main()
    assert seen == [signal.SIG_IGN]


def test_main_leaves_at_once_after_an_interrupt(handlers, left, monkeypatch):
    def interrupt(_):
        main._stopped_by.append(signal.SIGINT)
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_stopped_by", [])
    monkeypatch.setattr(main, "run", interrupt)
    with pytest.raises(SystemExit):
        main.main()
    assert left == [130]


def test_while_an_interrupt_is_told_signals_are_ignored(handlers, monkeypatch, cli):
    monkeypatch.setattr(main, "_stopped_by", [signal.SIGINT])
    monkeypatch.setattr(main, "_invoke", lambda _: 1 / 0)
    assert cli("schema").code == 130
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_the_app_is_where_documentation_looks_for_it():
    assert commands.app.info.name == "policy-engine"
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = commands.nope


def test_streams_that_are_not_there_are_replaced(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdout", None)
    assert run(["nope", "--format", "json"]) == 2
    assert sys.stderr is not None
    assert sys.stdout is not None


def test_a_usage_error_without_a_context_names_the_program():
    import typer

    assert failure(typer.BadParameter("x")).message.endswith("'policy-engine --help' shows how")


def test_python_m_is_the_same_program():
    from policy_engine import __main__

    assert __main__.main is main.main
    assert Path(__main__.__file__).name == "__main__.py"
    assert UsageError.exit_code == 2
