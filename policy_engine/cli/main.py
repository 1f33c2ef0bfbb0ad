"""The command line: commands, and what becomes of errors.

Exit codes: 0 done · 1 a finding · 2 wrong usage · 3 a warehouse or file failed · 70 a bug of
ours · 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys

import typer

from policy_engine.cli import numbers, policies, proofs, records
from policy_engine.errors import InternalError, NotCertifiable, PolicyEngineError, PolicyError

app = typer.Typer(
    name="policy-engine",
    help="Privacy policies for SQL warehouses: a policy in YAML becomes a certified release.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(policies.init)
app.command()(policies.validate)
app.command("compile")(policies.compile_)
app.command()(policies.plan)
app.command()(policies.release)
app.command()(numbers.certify)
app.command()(numbers.calibrate)
app.command()(proofs.check)
app.command()(proofs.verify)
app.command()(records.schema)
app.add_typer(records.ledger, name="ledger")

INTERRUPTED = 130


def main() -> None:
    """Run a command and exit with its code."""
    try:
        app()
    except PolicyEngineError as error:
        _tell(error, str(error))
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        _tell(None, "interrupted; what was charged stays charged (see 'policy-engine ledger show')")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        if os.environ.get("POLICY_ENGINE_DEBUG"):
            raise
        # The text of an unexpected error could quote data; its type and place cannot.
        where = _innermost(error)
        message = (
            f"a bug of ours: {type(error).__name__} at {where}; please report it."
            " POLICY_ENGINE_DEBUG=1 shows the whole trace, which may quote data"
        )
        _tell(InternalError(message), message)
        raise SystemExit(InternalError.exit_code) from None


def _innermost(error: BaseException) -> str:
    trace = error.__traceback__
    place = "an unknown place"
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("policy_engine"):
            place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _tell(error: PolicyEngineError | None, message: str) -> None:
    """The error on stderr, and as the one JSON document where JSON was asked for."""
    if _wants_json():
        document: dict[str, object] = {"error": message}
        if isinstance(error, PolicyError):
            document["problems"] = [vars(problem) for problem in error.problems]
        if isinstance(error, NotCertifiable):
            document["findings"] = [vars(finding) for finding in error.findings]
        print(json.dumps(document, ensure_ascii=False, indent=2))
    print(f"error: {message}", file=sys.stderr)


def _wants_json() -> bool:
    arguments = sys.argv[1:]
    following = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(
        one == "--format=json" or (one, two) == ("--format", "json") for one, two in following
    )


if __name__ == "__main__":
    main()
