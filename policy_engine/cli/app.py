"""The commands, by name."""

from __future__ import annotations

from typing import Annotated

import typer

from policy_engine.cli import (
    attacking,
    audit,
    calibrating,
    counts,
    dbt_commands,
    keys,
    measuring,
    numbers,
    planning,
    policies,
    proofs,
    records,
    releases,
    reporting,
    review,
    serving,
    showing,
)
from policy_engine.cli.everywhere import PROGRAM, Commands, ShowCompletionOption
from policy_engine.cli.output import emit_lines

app = Commands(name=PROGRAM, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        emit_lines([f"{PROGRAM} {version(PROGRAM)}"])
        raise typer.Exit


@app.callback()
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


app.command(short_help="Write a starter policy for a source.")(policies.init)
app.command(short_help="Check policy files: every problem, with its place.")(policies.validate)
app.command("compile", short_help="Print the SQL of a policy.")(policies.compile_)
app.command(short_help="A dry run: what will be seen, the price. Writes nothing.")(planning.plan)
app.command(short_help="Certify, charge the account, run, publish.")(releases.release)
app.command(short_help="The first rows of a release, and what they mean.")(showing.show)
app.command(short_help="The tables of a release made to agree.")(showing.estimate)
app.command(short_help="k, ℓ, t and risks of a release, or of raw data.")(measuring.measure)
app.command(short_help="What known attacks learn from a public table.")(attacking.attack)
app.command(short_help="δ for an ε, or ε for a δ, without a policy.")(numbers.certify)
app.command(short_help="The least k for a rate, the greatest rate for a k.")(calibrating.calibrate)
app.command("certify-count", short_help="δ of an exact count, under stated assumptions.")(
    counts.certify_count
)
app.command(short_help="Prove SQL that someone else wrote.")(proofs.check)
app.command(short_help="Check a certificate and its release.")(proofs.verify)
app.command(short_help="A certificate as a page that people judge.")(reporting.report)
app.command(short_help="What changed between two policies or certificates.")(reporting.diff)
app.command(short_help="Attack the mechanism: a lower bound on ε.")(audit.audit)
app.command(short_help="Print the JSON Schema of a policy file.")(records.schema)
app.add_typer(records.ledger, name="ledger", short_help="The accounts and what was charged.")
app.add_typer(keys.keys, name="keys", short_help="The signing key, and the keys that count.")
app.add_typer(review.review, name="review", short_help="Approvals that an account requires.")
app.command(short_help="A page over ledger, policies, certificates; read only.")(serving.serve)
app.add_typer(dbt_commands.dbt, name="dbt", short_help="Certified releases in a dbt project.")
