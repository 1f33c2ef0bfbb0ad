"""ledger: the accounts, what was charged to them, and settling what a crash left."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, emit, json_text, number, shown
from policy_engine.errors import LedgerBroken, UsageError

if TYPE_CHECKING:
    from policy_engine.ledger.account import Account, Balance
    from policy_engine.ledger.entry import Entry
    from policy_engine.policy.project import Project
    from policy_engine.settlement import Settled

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
    accounts, entries = _state(project)
    if account is not None:
        accounts = [each for each in accounts if each.name == account]
        entries = [entry for entry in entries if entry.account == account]
        if not accounts:
            raise _unknown(account, project)
    document = {
        "ledger": project.ledger_name,
        "accounts": [_account(each, entries) for each in accounts],
        "entries": [_entry(entry) for entry in entries],
    }
    lines = [_account_line(each, entries) for each in accounts]
    if not _exists(project):
        lines.insert(0, f"no ledger at {project.ledger_name}: nothing was released from here")
    emit(document, "\n".join([*lines, *map(_entry_line, entries)]), format)


def _project() -> Project:
    from policy_engine.policy.project import default_project, find_project, load_project

    found = find_project(Path.cwd())
    return load_project(found) if found else default_project(Path.cwd())


def _exists(project: Project) -> bool:
    from policy_engine.books import has_ledger

    return has_ledger(project)


def _state(project: Project) -> tuple[list[Account], list[Entry]]:
    """Every account that has entries or is named in the project file, and every entry."""
    from policy_engine.books import open_ledger
    from policy_engine.ledger.account import Account, Limit

    entries: tuple[Entry, ...] = ()
    found: dict[str, Account] = {}
    if _exists(project):
        with open_ledger(project) as opened:
            entries = opened.entries()
            found = {name: opened.account(name) for name in opened.names()}
    for name, most in project.accounts.items():
        limit = Limit(most.epsilon, most.delta) if most else None
        found.setdefault(name, Account(name, limit=limit))
    return [found[name] for name in sorted(found)], list(entries)


def _unknown(account: str, project: Project) -> UsageError:
    from policy_engine.policy.laws import suggestion

    names = [each.name for each in _state(project)[0]]
    remedy = suggestion(account, names) if names else "there is no account yet"
    return UsageError(f"no account {account!r} in {project.ledger_name}; {remedy}")


def _balance(account: Account) -> Balance:
    from policy_engine.ledger.account import balance_of

    return balance_of(account)


def _open(account: Account, entries: list[Entry]) -> int:
    return sum(entry.is_open and entry.account == account.name for entry in entries)


def _account(account: Account, entries: list[Entry]) -> dict[str, Any]:
    balance = _balance(account)
    limit = balance.limit
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "entries": balance.charges,
        "reserved": _open(account, entries),
        "epsilon_limit": None if limit is None else number(limit.epsilon),
        "delta_limit": None if limit is None else number(limit.delta),
        "epsilon_spent": number(balance.spent_epsilon),
        "delta_spent": number(balance.spent_delta),
        "epsilon_basic": number(balance.price.basic_epsilon),
        "delta_basic": number(balance.price.basic_delta),
        "epsilon_left": number(balance.left_epsilon, down=True),
        "delta_left": number(balance.left_delta, down=True),
    }


def _account_line(account: Account, entries: list[Entry]) -> str:
    balance = _balance(account)
    basic = f"ε {shown(balance.price.basic_epsilon)}, δ {shown(balance.price.basic_delta)}"
    if balance.limit is None:
        text = f"{balance.account}: {basic} spent; no limit"
    else:
        most = f"ε {shown(balance.limit.epsilon)}, δ {shown(balance.limit.delta)}"
        text = (
            f"{balance.account}: of {most}, ε {shown(balance.spent_epsilon)} is spent at that δ,"
            f" δ {shown(balance.spent_delta)} at that ε (sum of the certificates: {basic})"
        )
    if count := _open(account, entries):
        text += f"; {count} charged without a release: running, failed or stopped"
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


@ledger.command("verify", short_help="Is the ledger whole, unchanged and signed?")
def verify(
    head: Annotated[
        str | None,
        typer.Option("--head", help="RECORDS:HASH, as it was printed before, to compare with."),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Check that no record of the ledger was changed, dropped, put elsewhere or forged.

    Exits with 1 where it was, naming the record. A tail that was cut off is found where this
    machine had seen it, or by --head.

    Example: policy-engine ledger verify
    """
    from policy_engine.books import open_ledger

    project = _project()
    name = project.ledger_name
    try:
        with open_ledger(project) as opened:
            found = opened.verify()
            if head is not None:
                _compare(head, opened.records(), name)
    except LedgerBroken as error:
        if not _exists(project):
            raise
        emit({"ledger": name, "intact": False, "error": str(error)}, str(error), format)
        raise typer.Exit(1) from None
    document = {"ledger": name, "intact": True, "records": found.records, "head": found.hash}
    text = f"{name}: whole and signed, {found.records} records, head {found.records}:{found.hash}"
    emit(document, text, format)


def _compare(head: str, records: tuple[Any, ...], name: str) -> None:
    """LedgerError where the ledger does not go through a head that was kept elsewhere."""
    count, _, wanted = head.partition(":")
    if not count.isdigit() or len(wanted) != 64:
        raise UsageError(f"--head must be RECORDS:HASH, as 'ledger verify' prints it, found {head}")
    number_ = int(count)
    if not number_:
        return
    if number_ > len(records):
        raise LedgerBroken(
            f"{name}: the ledger had {number_} records and has {len(records)}: its tail was cut"
            " off, or it is an old copy"
        )
    if records[number_ - 1].hash != wanted:
        raise LedgerBroken(
            f"{name}: record {number_} is another one than it was: the ledger was replaced by one"
            f" that forks before it"
        )


@ledger.command("limit", short_help="Change the limit of an account: who, and why.")
def limit(
    account: Annotated[str, typer.Argument(help="The account.")],
    epsilon: Annotated[str, typer.Option("--epsilon", help="The new limit of ε.")],
    delta: Annotated[str, typer.Option("--delta", help="The new limit of δ.")],
    by: Annotated[str, typer.Option("--by", help="Who decided.")],
    why: Annotated[str, typer.Option("--why", help="Why.")],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Change the limit of an account, by an entry that says who decided and why.

    Write the same limit into the project file. Only this raises a limit: the project file lowers
    one, and opens an account with its first.

    Example: policy-engine ledger limit census --epsilon 2 --delta 1e-6 --by Ada --why "2026 wave"
    """
    from policy_engine.attest.signers import signer_of
    from policy_engine.books import open_ledger
    from policy_engine.ledger.account import Limit

    project = _project()
    wanted = Limit(_amount("--epsilon", epsilon), _amount("--delta", delta))
    with open_ledger(project, signer_of(project)) as opened:
        opened.set_limit(account, wanted, who=by, why=why)
        balance = opened.balance(account)
    document = {"account": account, "epsilon_limit": number(wanted.epsilon),
                "delta_limit": number(wanted.delta), "by": by, "why": why,
                "epsilon_left": number(balance.left_epsilon, down=True),
                "delta_left": number(balance.left_delta, down=True)}  # fmt: skip
    text = f"{account}: the limit is now ε {shown(wanted.epsilon)}, δ {shown(wanted.delta)}"
    emit(document, f"{text}, by {by}: {why}", format)


def _amount(option: str, text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise UsageError(f"{option} must be a number, found {text[:40]!r}") from None


@ledger.command("reconcile", short_help="Settle what a crash left open.")
def reconcile(
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Settle every charge without a release, by what exists.

    Committed, if its release stands with its certificate. Given back, if it was never started:
    then nothing ran, and nothing will. Else it is kept as spent.

    Example: policy-engine ledger reconcile
    """
    from policy_engine.reconcile import reconcile as run

    project = _project()
    found = run(project) if _exists(project) else ()
    document = {"ledger": project.ledger_name, "settled": [_settled(each) for each in found]}
    lines = [f"  {each.entry.id:>4}  {each.outcome:<9}  {each.why}" for each in found]
    emit(document, "\n".join([f"{len(found)} settled", *lines]), format)


def _settled(each: Settled) -> dict[str, Any]:
    return {"entry": each.entry.id, "outcome": each.outcome, "why": each.why}


@ledger.command("export", short_help="A public statement of the ledger, signed.")
def export(
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write; default: print.")
    ] = None,
) -> None:
    """Write what the ledger may say to everybody: accounts, prices, dates, certificates.

    It holds nothing of the raw data, and is signed as certificates are. The ledger itself is
    confidential.

    Example: policy-engine ledger export --out ledger.statement.json
    """
    from policy_engine.attest.attestation import sign, statement
    from policy_engine.attest.signers import signer_of
    from policy_engine.attest.validity import written
    from policy_engine.books import open_ledger
    from policy_engine.ledger.statement import STATEMENT_TYPE, public_statement
    from policy_engine.publish import write_certificate

    project = _project()
    with open_ledger(project) as opened:
        head = opened.verify()
        entries = opened.entries()
        balances = [opened.balance(name) for name in opened.names()]
    # The time is that of the statement: a keyring's keys count between dates.
    now = written(datetime.now(UTC))
    predicate = {**public_statement(balances, entries, head), "time": now}
    made = statement("ledger", head.hash, predicate, STATEMENT_TYPE)
    text = sign(made, signer_of(project)).to_json()
    if out is None:
        emit({}, text, Format.text)
        return
    write_certificate(text, out, replace=False)
    emit({}, f"{out}: signed; entries: {len(entries)}, accounts: {len(balances)}", Format.text)


@ledger.command("rederive", short_help="Draw the sample of a release again, and compare.")
def rederive(
    entry: Annotated[int, typer.Argument(help="The entry's number, as 'ledger show' has it.")],
    policy: Annotated[Path, typer.Argument(help="Its policy file.", readable=False)],
    key: Annotated[
        Path | None, typer.Option("--key", help="A private sealing key; default: the project's.")
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Run a release once more with the secret that was sealed for it; publish nothing.

    Exits with 1 where the bytes are not those that were published: the source is not as it was,
    or the release was not drawn as it says.

    Example: policy-engine ledger rederive 3 policies/adult/policy.yaml --key reviewer.pem
    """
    from policy_engine.policy.loading import load_policy
    from policy_engine.rederive import rederive as run
    from policy_engine.release import project_of

    loaded = load_policy(policy)
    found = run(loaded, project_of(loaded), entry, key)
    document = {"entry": found.entry, "same": found.same, "sha256": found.digest,
                "recorded": found.recorded}  # fmt: skip
    said = "the same bytes" if found.same else f"other bytes than were published: {found.recorded}"
    emit(document, f"entry {found.entry}: {said}; SHA-256 {found.digest}", format)
    if not found.same:
        raise typer.Exit(1)


def schema(
    format: FormatOption = Format.json,  # noqa: A002 - the option's name
) -> None:
    """Print the JSON Schema of a policy file; the text of a schema is JSON too.

    Example: policy-engine schema > policy.schema.json
    """
    from policy_engine.policy.schema import json_schema

    text = json_text(json_schema())
    emit({}, text, Format.text)
