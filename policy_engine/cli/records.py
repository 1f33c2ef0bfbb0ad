"""ledger and schema: what the engine keeps and publishes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, emit, json_text, number, shown
from policy_engine.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from policy_engine.ledger.account import Balance, Limit
    from policy_engine.ledger.entry import Entry
    from policy_engine.policy.project import Project

ledger = typer.Typer(no_args_is_help=True)


@ledger.callback()
def root() -> None:
    """The accounts, what was charged to them, and the chain that keeps it.

    The ledger is that of the project file found upwards from the working directory.

    Example: policy-engine ledger show
    """


@ledger.command("show", short_help="Accounts, what is left of them, every entry.")
def show(
    account: Annotated[str | None, typer.Argument(help="One account; default: all.")] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Show accounts, what is left of them, and every entry.

    Example: policy-engine ledger show census
    """
    project = _project()
    balances, entries = _state(project)
    if account is not None:
        balances = [balance for balance in balances if balance.account == account]
        entries = [entry for entry in entries if entry.account == account]
        if not balances:
            raise _unknown(account, project)
    document = {
        "ledger": str(project.ledger),
        "accounts": [_account(balance) for balance in balances],
        "entries": [_entry(entry) for entry in entries],
    }
    lines = [_account_line(balance) for balance in balances]
    if not project.ledger.exists():
        lines.insert(0, f"no ledger at {project.ledger}: nothing was released from here")
    emit(document, "\n".join([*lines, *map(_entry_line, entries)]), format)


def _project() -> Project:
    from policy_engine.policy.project import default_project, find_project, load_project

    found = find_project(Path.cwd())
    return load_project(found) if found else default_project(Path.cwd())


def _state(project: Project) -> tuple[list[Balance], list[Entry]]:
    """Every account that has entries or is named in the project file, and every entry."""
    from policy_engine.ledger.account import Limit, balance_of
    from policy_engine.ledger.store import Ledger

    entries: tuple[Entry, ...] = ()
    if project.ledger.exists():
        with Ledger.open(project.ledger, create=False) as opened:
            entries = opened.entries()
    limits: dict[str, Limit | None] = {
        name: Limit(most.epsilon, most.delta) if most else None
        for name, most in project.accounts.items()
    }
    names = sorted({entry.account for entry in entries} | limits.keys())
    return [balance_of(name, entries, limits.get(name)) for name in names], list(entries)


def _unknown(account: str, project: Project) -> UsageError:
    from policy_engine.policy.laws import suggestion

    names = [balance.account for balance in _state(project)[0]]
    remedy = suggestion(account, names) if names else "there is no account yet"
    return UsageError(f"no account {account!r} in {project.ledger}; {remedy}")


def _account(balance: Balance) -> dict[str, Any]:
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "entries": balance.entries,
        "reserved": balance.reserved,
        "epsilon_spent": number(balance.spent_epsilon),
        "delta_spent": number(balance.spent_delta),
        "epsilon_left": number(balance.left_epsilon, down=True),
        "delta_left": number(balance.left_delta, down=True),
    }


def _account_line(balance: Balance) -> str:
    text = f"{balance.account}: ε {shown(balance.spent_epsilon)},"
    text += f" δ {shown(balance.spent_delta)} spent; "
    if balance.left_epsilon is None or balance.left_delta is None:
        text += "no limit"
    else:
        text += f"ε {shown(balance.left_epsilon)}, δ {shown(balance.left_delta)} left"
    if balance.reserved:
        text += f"; {balance.reserved} charged without a release: running, failed or stopped"
    return text


def _entry(entry: Entry) -> dict[str, Any]:
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


def _entry_line(entry: Entry) -> str:
    return (
        f"  {entry.id:>4}  {entry.reserved_at:%Y-%m-%d %H:%M}  {entry.state:<9}  {entry.account}"
        f"  ε {shown(entry.epsilon)}  δ {shown(entry.delta)}  {entry.policy_name}"
    )


@ledger.command("verify", short_help="Is the ledger's chain of records unbroken?")
def verify(
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Check that no record of the ledger was changed, dropped or put elsewhere.

    Exits with 1 where the chain is broken, naming the record. A tail that was cut off leaves
    an unbroken chain: keep the number of records and the head that this prints, and compare.

    Example: policy-engine ledger verify
    """
    from policy_engine.ledger.store import Ledger

    path = _project().ledger
    with Ledger.open(path, create=False) as opened:
        try:
            head = opened.verify_chain()
        except LedgerError as error:
            emit({"ledger": str(path), "intact": False, "error": str(error)}, str(error), format)
            raise typer.Exit(1) from None
    document = {"ledger": str(path), "intact": True, "records": head.records, "head": head.hash}
    emit(document, f"{path}: unbroken, {head.records} records, head {head.hash}", format)


def schema(
    format: FormatOption = Format.json,  # noqa: A002 - the option's name
) -> None:
    """Print the JSON Schema of a policy file; the text of a schema is JSON too.

    Example: policy-engine schema > policy.schema.json
    """
    from policy_engine.policy.schema import json_schema

    text = json_text(json_schema())
    emit({}, text, Format.text)
