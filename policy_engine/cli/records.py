"""ledger: the accounts, what was charged to them, and settling what a crash left."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import (
    Format,
    FormatOption,
    brief,
    emit,
    json_text,
    note,
    number,
    shown,
)
from policy_engine.errors import FileError, LedgerBroken, UsageError

if TYPE_CHECKING:
    from policy_engine.ledger.account import Account, Balance, Limit
    from policy_engine.ledger.entry import Entry
    from policy_engine.ledger.store import Change
    from policy_engine.policy.project import Project
    from policy_engine.settlement import Settled

_COUNT, _HASH = re.compile(r"[0-9]{1,18}"), re.compile(r"[0-9a-f]{64}")

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
    """Show accounts, what is left of them, every change of a limit, and every entry.

    The limit that is shown is the one that counts: the ledger's, or the project file's if that is
    lower.

    Example: policy-engine ledger show census
    """
    from policy_engine.books import perhaps_lost
    from policy_engine.ledger.account import balance_of

    project = _project()
    found = _state(project)
    if account is not None:
        names = [each.name for each in found.accounts]
        found = found.of(account)
        if not found.accounts:
            raise _unknown(account, names, project)
    # To price an account takes time, so each is priced once.
    balances = [balance_of(each) for each in found.accounts]
    document = {
        "ledger": project.ledger_name,
        "accounts": [_account(each, found.entries) for each in balances],
        "limits": [_change(change) for change in found.changes],
        "entries": [_entry(entry) for entry in found.entries],
    }
    lines = [_account_line(each, found) for each in balances]
    if not _exists(project):
        said = perhaps_lost(project)
        said = said or f"no ledger at {project.ledger_name}: nothing was released from here"
        lines.insert(0, said)
    lines += [*map(_change_line, found.changes), *map(_entry_line, found.entries)]
    emit(document, "\n".join(lines), format)


def _project() -> Project:
    from policy_engine.policy.project import default_project, find_project, load_project

    found = find_project(Path.cwd())
    return load_project(found) if found else default_project(Path.cwd())


def _exists(project: Project) -> bool:
    from policy_engine.books import has_ledger

    return has_ledger(project)


@dataclass(frozen=True)
class _State:
    """What a ledger and a project file say; ``recorded`` are the ledger's own limits."""

    accounts: tuple[Account, ...] = ()
    entries: tuple[Entry, ...] = ()
    changes: tuple[Change, ...] = ()
    recorded: Mapping[str, Limit | None] = field(default_factory=dict)

    def of(self, account: str) -> _State:
        """The same of one account."""
        return replace(
            self,
            accounts=tuple(each for each in self.accounts if each.name == account),
            entries=tuple(entry for entry in self.entries if entry.account == account),
            changes=tuple(change for change in self.changes if change.account == account),
        )


def _state(project: Project) -> _State:
    """Every account that has records or is named in the project file, under its limit."""
    from policy_engine.books import open_ledger, stated_limit
    from policy_engine.ledger.account import Account, effective
    from policy_engine.policy.accounts import listed_as

    state, found = _State(), dict[str, Account]()
    if _exists(project):
        with open_ledger(project) as opened:
            found = {name: opened.account(name) for name in opened.names()}
            state = _State(entries=opened.entries(), changes=opened.changes())
    listed = {listed_as(name, project) for name in found}
    recorded = {name: each.limit for name, each in found.items()}
    found |= {name: Account(name) for name in project.accounts if name not in listed}
    accounts = [effective(found[name], stated_limit(project, name)) for name in sorted(found)]
    return replace(state, accounts=tuple(accounts), recorded=recorded)


def _unknown(account: str, names: list[str], project: Project) -> UsageError:
    from policy_engine.policy.laws import suggestion

    remedy = suggestion(account, names) if names else "there is no account yet"
    return UsageError(f"no account {account!r} in {project.ledger_name}; {remedy}")


def _open(account: str, entries: tuple[Entry, ...]) -> int:
    return sum(entry.is_open and entry.account == account for entry in entries)


def _account(balance: Balance, entries: tuple[Entry, ...]) -> dict[str, Any]:
    limit = balance.limit
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "entries": balance.charges,
        "reserved": _open(balance.account, entries),
        "epsilon_limit": None if limit is None else number(limit.epsilon),
        "delta_limit": None if limit is None else number(limit.delta),
        "epsilon_spent": number(balance.spent_epsilon),
        "delta_spent": number(balance.spent_delta),
        "epsilon_basic": number(balance.price.basic_epsilon),
        "delta_basic": number(balance.price.basic_delta),
        "epsilon_left": number(balance.left_epsilon, down=True),
        "delta_left": number(balance.left_delta, down=True),
    }


def _account_line(balance: Balance, found: _State) -> str:
    basic = f"ε {brief(balance.price.basic_epsilon)}, δ {brief(balance.price.basic_delta)}"
    if balance.limit is None:
        text = f"{balance.account}: {basic} spent; no limit"
    else:
        most = f"{balance.limit}{_whose(balance.limit, found.recorded.get(balance.account))}"
        text = (
            f"{balance.account}: of {most}, ε {brief(balance.spent_epsilon)} is spent at that δ,"
            f" δ {brief(balance.spent_delta)} at that ε (sum of the certificates: {basic})"
        )
    if count := _open(balance.account, found.entries):
        text += f"; {count} charged without a release: running, failed or stopped"
    return text


def _whose(limit: Limit, recorded: Limit | None) -> str:
    """Where a limit is from that is not the ledger's."""
    if recorded is None or recorded == limit:
        return ""
    return f" (by {limit.where}, lower than the ledger's {recorded})"


def _change(change: Change) -> dict[str, Any]:
    return {
        "record": change.record,
        "account": change.account,
        "at": change.at.isoformat(),
        "by": change.who,
        "why": change.why,
        "from": _limit(change.before),
        "to": _limit(change.after),
    }


def _limit(limit: Limit | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    return {"epsilon": number(limit.epsilon), "delta": number(limit.delta)}


def _change_line(change: Change) -> str:
    before = "no limit" if change.before is None else str(change.before)
    return (
        f"  {change.record:>4}  {change.at:%Y-%m-%d %H:%M}  limit      {change.account}"
        f"  {before} → {change.after}, by {change.who}: {change.why}"
    )


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
        f"  ε {brief(entry.epsilon)}  δ {brief(entry.delta)}  {entry.policy_name}"
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
    machine had seen it, or by --head. Where the file that says so cannot be read, the chain is
    checked all the same, and the exit code is 1 nevertheless.

    Example: policy-engine ledger verify
    """
    from policy_engine.books import open_ledger
    from policy_engine.ledger.witness import Witness

    project = _project()
    name, unseen = project.ledger_name, Witness(project.witness).fault()
    try:
        with open_ledger(project, compared=not unseen) as opened:
            found = opened.verify()
            records = opened.records()
            if head is not None:
                _compare(head, records, name)
    except LedgerBroken as error:
        if not _exists(project):
            raise
        emit({"ledger": name, "intact": False, "error": str(error)}, str(error), format)
        raise typer.Exit(1) from None
    revoked = _revoked(project, records)
    document = {"ledger": name, "intact": True, "records": found.records, "head": found.hash,
                "by_revoked_keys": sum(revoked.values()), "not_compared": unseen}  # fmt: skip
    lines = [
        f"{name}: whole and signed, {found.records} records, head {found.records}:{found.hash}"
    ]
    if revoked:
        lines.append(
            f"{sum(revoked.values())} of them are signed by keys that were revoked later"
            f" ({', '.join(each[:8] for each in revoked)}): they state a time before that, which"
            " whoever has such a key can do too; compare the head with one from before"
        )
    if unseen:
        lines.append(f"whether its end is missing is not known: {unseen}")
    emit(document, "\n".join(lines), format)
    if unseen:
        raise typer.Exit(1)


def _revoked(project: Project, records: tuple[Any, ...]) -> Counter[str]:
    """How many records each revoked key has signed."""
    from policy_engine.books import trust_of

    revoked = trust_of(project).revoked
    return Counter(record.key_id for record in records if record.key_id in revoked)


def _compare(head: str, records: tuple[Any, ...], name: str) -> None:
    """LedgerError where the ledger does not go through a head that was kept elsewhere."""
    from policy_engine.ledger.chain import GENESIS

    count, _, wanted = head.partition(":")
    if not _COUNT.fullmatch(count) or not _HASH.fullmatch(wanted):
        law = "--head must be RECORDS:HASH, as 'ledger verify' prints it"
        raise UsageError(f"{law}, found {head[:100]!a}")
    number_ = int(count)
    if not number_ and wanted == GENESIS:
        return
    if number_ > len(records):
        raise LedgerBroken(
            f"{name}: the ledger had {number_} records and has {len(records)}: its tail was cut"
            " off, or it is an old copy"
        )
    if not number_ or records[number_ - 1].hash != wanted:
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
    new: Annotated[
        bool, typer.Option("--new", help="Open an account with a name like another one's.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Change the limit of an account, by an entry that says who decided and why.

    Write the same limit into the project file. Only this raises a limit: the project file lowers
    one, and opens an account with its first. A name that is nearly that of an account is taken for
    a mistyped one.

    Example: policy-engine ledger limit census --epsilon 2 --delta 1e-6 --by Ada --why "2026 wave"
    """
    from policy_engine.attest.signers import writer_of
    from policy_engine.books import open_ledger, stated_limit
    from policy_engine.ledger.account import Limit
    from policy_engine.policy.accounts import nearest, twin_of

    project = _project()
    wanted = Limit(_amount("--epsilon", epsilon), _amount("--delta", delta))
    with open_ledger(project, writer_of(project)) as opened:
        known = opened.names()
        near = nearest(account, {*known, *project.accounts})
        if near is None and account not in known:
            near = twin_of(account, known, project)
        if near is not None and not new:
            raise UsageError(
                f"there is no account {account!r}; did you mean {near!r}? --new opens a new one"
            )
        opened.set_limit(account, wanted, who=by, why=why)
        balance = opened.balance(account)
    document = {"account": account, "epsilon_limit": number(wanted.epsilon),
                "delta_limit": number(wanted.delta), "by": by, "why": why,
                "epsilon_left": number(balance.left_epsilon, down=True),
                "delta_left": number(balance.left_delta, down=True)}  # fmt: skip
    text = f"{account}: the limit is now ε {shown(wanted.epsilon)}, δ {shown(wanted.delta)}"
    emit(document, f"{text}, by {by}: {why}", format)
    stated = stated_limit(project, account)
    if stated is not None and wanted.is_above(stated):
        note(f"{stated.where} still says {stated}, and the lower limit counts: change it there too")


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
    from policy_engine.ledger.statement import STATEMENT_TYPE, SUBJECT, public_statement
    from policy_engine.publish import write_certificate

    project = _project()
    if out is not None and out.exists():
        raise FileError(f"{out} exists, and a statement never replaces a file; name another one")
    with open_ledger(project) as opened:
        head = opened.verify()
        entries = opened.entries()
        balances = [opened.balance(name) for name in opened.names()]
        changes = opened.changes()
    # The time is that of the statement: a keyring's keys count between dates.
    now = written(datetime.now(UTC))
    predicate = {**public_statement(balances, entries, changes, head), "time": now}
    made = statement(SUBJECT, head.hash, predicate, STATEMENT_TYPE)
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
    document = {"entry": found.entry, "same": found.same, "recorded": found.recorded}
    said = "the same bytes;" if found.same else "other bytes than those that were published,"
    emit(document, f"entry {found.entry}: {said} SHA-256 {found.recorded}", format)
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
