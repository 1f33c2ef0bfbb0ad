"""ledger and schema: what the engine keeps and publishes."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, emit, number, shown

ledger = typer.Typer(help="The accounts and what was charged to them.", no_args_is_help=True)


@ledger.command("show")
def show(
    account: Annotated[str | None, typer.Argument(help="One account; default: all.")] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Show accounts, what is left of them, and every entry.

    Example: policy-engine ledger show census
    """
    from pathlib import Path

    from policy_engine.ledger.account import Limit
    from policy_engine.ledger.store import Ledger
    from policy_engine.policy.project import default_project, find_project, load_project

    found = find_project(Path.cwd())
    project = load_project(found) if found else default_project(Path.cwd())
    if not project.ledger.exists():
        text = f"no ledger at {project.ledger}: nothing was released from here"
        emit({"accounts": [], "entries": []}, text, format)
        return
    limits = {n: Limit(most.epsilon, most.delta) for n, most in project.accounts.items() if most}
    with Ledger.open(project.ledger, create=False) as opened:
        balances = [b for b in opened.balances(limits) if account in (None, b.account)]
        entries = opened.entries(account)
    document = {
        "accounts": [_account(balance) for balance in balances],
        "entries": [_entry(entry) for entry in entries],
    }
    lines = [_account_line(balance) for balance in balances]
    lines += [
        f"  {e.id:>4}  {e.reserved_at:%Y-%m-%d %H:%M}  {e.state:<9}  {e.account}  "
        f"ε {shown(e.epsilon)}  δ {shown(e.delta)}  {e.policy_name}"
        for e in entries
    ]
    emit(document, "\n".join(lines), format)


def _account(balance: Any) -> dict[str, Any]:
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "entries": balance.entries,
        "reserved": balance.reserved,
        "epsilon_spent": number(balance.spent_epsilon),
        "delta_spent": number(balance.spent_delta),
        "epsilon_left": number(balance.left_epsilon),
        "delta_left": number(balance.left_delta),
    }


def _account_line(balance: Any) -> str:
    spent = f"ε {shown(balance.spent_epsilon)}, δ {shown(balance.spent_delta)} spent"
    if balance.limit is None:
        return f"{balance.account}: {spent}; no limit"
    left = f"ε {shown(balance.left_epsilon)}, δ {shown(balance.left_delta)} left"
    return f"{balance.account}: {spent}; {left}"


def _entry(entry: Any) -> dict[str, Any]:
    return {
        "entry": entry.id,
        "account": entry.account,
        "policy": entry.policy_name,
        "state": entry.state,
        "epsilon": number(entry.epsilon),
        "delta": number(entry.delta),
        "reserved_at": entry.reserved_at.isoformat(),
        "release": entry.release_name,
    }


def schema() -> None:
    """Print the JSON Schema of a policy file.

    Example: policy-engine schema > policy.schema.json
    """
    from policy_engine.policy.schema import json_schema

    print(json.dumps(json_schema(), ensure_ascii=False, indent=2))
