"""The commands, by name: each is imported where it may be meant, and not to list its name."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Annotated, Any

import typer

from policy_engine.cli.everywhere import PROGRAM, Commands, ShowCompletionOption
from policy_engine.cli.output import emit_lines

COMMANDS = {
    "init": ("policies.init", "Write a starter policy for a source."),
    "validate": ("policies.validate", "Check policy files: every problem, with its place."),
    "compile": ("policies.compile_", "Print the SQL of a policy."),
    "plan": ("planning.plan", "A dry run: what will be seen, the price. Writes nothing."),
    "release": ("releases.release", "Certify, charge the account, run, publish."),
    "show": ("showing.show", "The first rows of a release, and what they mean."),
    "estimate": ("showing.estimate", "The tables of a release made to agree."),
    "measure": ("measuring.measure", "k, ℓ, t and risks of a release, or of raw data."),
    "attack": ("attacking.attack", "What known attacks learn from a public table."),
    "certify": ("numbers.certify", "δ for an ε, or ε for a δ, without a policy."),
    "calibrate": ("calibrating.calibrate", "The least k for a rate, the greatest rate for a k."),
    "certify-count": ("numbers.certify_count", "δ of an exact count, under stated assumptions."),
    "check": ("proofs.check", "Prove SQL that someone else wrote."),
    "verify": ("proofs.verify", "Check a certificate and its release."),
    "report": ("reporting.report", "A certificate as a page that people judge."),
    "diff": ("reporting.diff", "What changed between two policies or certificates."),
    "audit": ("audit.audit", "Attack the mechanism: a lower bound on ε."),
    "schema": ("records.schema", "Print the JSON Schema of a policy file."),
    "serve": ("serving.serve", "A page over ledger, policies, certificates; read only."),
    "ledger": ("records.ledger", "The accounts and what was charged."),
    "keys": ("keys.keys", "The signing key, and the keys that count."),
    "review": ("review.review", "Approvals that an account requires."),
    "dbt": ("dbt_commands.dbt", "Certified releases in a dbt project."),
}
"""Where each is, and what it is for."""


def app_of(words: Collection[str]) -> Commands:
    """The program, of which those commands can run that are among ``words``; all are listed."""
    made = Commands(name=PROGRAM, pretty_exceptions_enable=False, rich_markup_mode=None)
    made.callback()(root)
    for name, (place, text) in COMMANDS.items():
        found = _found(place) if name in words else _listed
        if isinstance(found, Commands):
            made.add_typer(found, name=name, short_help=text)
        else:
            made.command(name, short_help=text)(found)
    return made


def _found(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"policy_engine.cli.{module}"), name)


def _listed() -> None:
    """Stands for a command that nobody asks for."""


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        emit_lines([f"{PROGRAM} {version(PROGRAM)}"])
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    show_completion: ShowCompletionOption = None,
) -> None:
    """Privacy policies for SQL warehouses: a policy in YAML becomes a certified release.

    Example: policy-engine release policies/adult/policy.yaml

    Exit codes: 0 done, 1 a finding (invalid policy, SQL not certifiable, verification failed,
    budget refused), 2 wrong usage, 3 a warehouse or a file failed, 4 nothing was checked, 70 a bug
    of ours, 130 interrupted.
    """


def __getattr__(name: str) -> Any:
    """``app`` is the whole program."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return app_of(COMMANDS)
