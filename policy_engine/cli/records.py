"""ledger: the accounts, what was charged to them, and settling what a crash left."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.everywhere import Commands
from policy_engine.cli.output import (
    Format,
    FormatOption,
    brief,
    confirm,
    emit,
    emit_json,
    emit_lines,
    note,
    number,
    shown,
)
from policy_engine.cli.reading import decimal_of, project_here
from policy_engine.cli.witnessing import publish, witnessed
from policy_engine.errors import FileError, LedgerBroken, NoLedger, UsageError
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.ledger.account import Balance, Limit
    from policy_engine.ledger.entry import Entry
    from policy_engine.ledger.states import Change
    from policy_engine.ledger.store import Ledger
    from policy_engine.policy.project import Project
    from policy_engine.releasing.ledger_state import LedgerState
    from policy_engine.releasing.settlement import Settled

_COUNT, _HASH = re.compile(r"[0-9]{1,18}"), re.compile(r"[0-9a-f]{64}")

ledger = Commands()
ledger.command("publish", short_help="Publish the head to an outside witness.")(publish)


@ledger.callback()
def root() -> None:
    """The accounts, what was charged to them, and the chain that keeps it.

    The ledger is that of the project file found upwards from the working directory.

    Example: policy-engine ledger show
    """


@ledger.command("begin", short_help="Begin the project's ledger, explicitly.")
def begin(
    anew: Annotated[
        bool, typer.Option("--anew", help="Though there was another one, which is lost for good.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Begin a ledger, and write into the project file which one it is. Commit that file.

    A first release does so by itself where nothing is older: no keyring, sealing key, certificate,
    and nothing that tells of another ledger. Keys that were made in advance ask for this command;
    what only a release leaves asks for --anew too. A new ledger has spent nothing: lower the limits
    of the accounts by what was spent before.

    Example: policy-engine ledger begin
    """
    from policy_engine.releasing.beginning import begin as run

    project = project_here()
    found = run(project, anew=anew, say=note)
    pinned = None if found.pinned is None else str(found.pinned)
    document = {"ledger": project.ledger_name, "begins": found.begins,
                "records": found.records, "project_file": pinned}  # fmt: skip
    commit = "; every checkout of this project begins its own"
    if pinned is not None:
        commit = f"; {pinned} names it: commit that, and {project.keyring.name}"
    records = counted(found.records, "record")
    text = f"{project.ledger_name}: begins with {found.begins}, {records}{commit}"
    confirm(document, [text], format)


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
    from policy_engine.ledger.account import balance_of
    from policy_engine.releasing.ledger_state import ledger_state

    project = project_here()
    found = ledger_state(project)
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
        "moves": list(found.moves),
        "rekeys": list(found.rekeys),
        "reviews": list(found.reviews),
        "entries": [_entry(entry, found) for entry in found.entries],
    }
    lines = [_account_line(each, found) for each in balances]
    if not _exists(project):
        lines.insert(0, _no_ledger(project))
    lines += [*map(_change_line, found.changes), *map(_review_line, found.reviews)]
    lines += [line for entry in found.entries for line in _entry_lines(entry, found)]
    lines += [*map(_move_line, found.moves), *map(_rekey_line, found.rekeys)]
    emit(document, lines, format)


def _no_ledger(project: Project) -> str:
    """What is said where no ledger has begun, and what is older than one would be."""
    from policy_engine.releasing.beginning import check_clean

    try:
        check_clean(project)
    except NoLedger as error:
        return str(error)
    return f"no ledger at {project.ledger_name}: nothing was released from here"


def _exists(project: Project) -> bool:
    from policy_engine.releasing.books import has_ledger

    return has_ledger(project)


def _unknown(account: str, names: list[str], project: Project) -> UsageError:
    from policy_engine.policy.laws import suggestion

    remedy = suggestion(account, names) if names else "there is no account yet"
    return UsageError(f"no account {account!r} in {project.ledger_name}; {remedy}")


def _open(account: str, entries: tuple[Entry, ...]) -> int:
    return sum(entry.is_open and entry.account == account for entry in entries)


def _units(account: str, entries: tuple[Entry, ...]) -> list[str]:
    """Of whom the (ε, δ) of an account's entries are."""
    return sorted({entry.unit for entry in entries if entry.account == account})


def _account(balance: Balance, entries: tuple[Entry, ...]) -> dict[str, Any]:
    limit, without = balance.limit, balance.unbounded
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "units": _units(balance.account, entries),
        "entries": balance.charges,
        "reserved": _open(balance.account, entries),
        "epsilon_limit": None if limit is None else number(limit.epsilon),
        "delta_limit": None if limit is None else number(limit.delta),
        "epsilon_spent": None if without else number(balance.spent_epsilon),
        "delta_spent": None if without else number(balance.spent_delta),
        "epsilon_basic": None if without else number(balance.price.basic_epsilon),
        "delta_basic": None if without else number(balance.price.basic_delta),
        "epsilon_left": number(balance.left_epsilon, down=True),
        "delta_left": number(balance.left_delta, down=True),
        **({"without_epsilon_delta": without} if without else {}),
    }


def _account_line(balance: Balance, found: LedgerState) -> str:
    basic = f"ε {brief(balance.price.basic_epsilon)}, δ {brief(balance.price.basic_delta)}"
    if balance.limit is None:
        text = f"{balance.account}: {basic} spent; no limit"
    else:
        most = f"{balance.limit}{_whose(balance.limit, found.recorded.get(balance.account))}"
        text = (
            f"{balance.account}: of {most}, ε {brief(balance.spent_epsilon)} is spent at that δ,"
            f" δ {brief(balance.spent_delta)} at that ε (sum of the certificates: {basic})"
        )
    if balance.unbounded:
        text = (
            f"{balance.account}: no (ε, δ) holds, for releases without one are charged to it:"
            f" {balance.unbounded} of {balance.charges}; limit: {balance.limit or 'none'}"
        )
    text += f"; unit: {', '.join(_units(balance.account, found.entries)) or 'none yet'}"
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


def _move_line(move: Mapping[str, Any]) -> str:
    of, whose = f"of entry {move['source_of']}", f"{move['from']} → {move['to']}"
    if not move["source_of"]:
        of, whose = "that was charged to nobody yet", f"→ {move['to']}"
    return (
        f"  {move['record']:>4}  {_day(move)}  move       {whose}"
        f"  the source {of}, by {move['by']}: {move['why']}"
    )


def _day(told: Mapping[str, Any]) -> str:
    return f"{datetime.fromisoformat(told['at']):%Y-%m-%d %H:%M}"


def _rekey_line(each: Mapping[str, Any]) -> str:
    names = f"named by {each['named_by'][:8]}, as before"
    if each["named_by"] == each["sealing_key"]:
        names = "of the sources before nobody knows to which account they belong"
    return (
        f"  {each['record']:>4}  {_day(each)}  rekey      {each['sealing_key'][:8]}"
        f"  {names}, by {each['by']}: {each['why']}"
    )


def _entry(entry: Entry, found: LedgerState) -> dict[str, Any]:
    return {
        "entry": entry.id,
        "account": entry.account,
        "policy": entry.policy_name,
        "state": entry.state,
        "epsilon": None if entry.is_unbounded else number(entry.epsilon),
        "delta": None if entry.is_unbounded else number(entry.delta),
        "unit": entry.unit,
        "reserved_at": entry.reserved_at.isoformat(),
        "release": entry.release_name,
        "approvals": [_approvals(told, found) for told in entry.reviews],
    }


def _approvals(told: Mapping[str, Any], found: LedgerState) -> dict[str, Any]:
    """What an entry was required to have, who approved it, and the digests of what they signed."""
    from policy_engine.ledger.reviews import approvers

    people = approvers(found.required[told["record"]].policy, told)
    return {
        "stage": told["stage"],
        "review_policy": told["review_policy"],
        "needs": dict(told["needs"]),
        "without": bool(told.get("out")),
        "people": [{"by": name, "role": role} for name, role in people],
        "statements": list(told.get("approvals_sha256", ())),
    }


def _review_line(each: Mapping[str, Any]) -> str:
    what = f"nothing counts that the key {each.get('revoked_key', '')[:8]} approves"
    if each["account"]:
        what = f"{each['account']}  review policy {each['serial']}, {each['review_policy'][:15]}"
    kind = "require" if each["account"] else "revoke"
    return (
        f"  {each['record']:>4}  {_day(each)}  {kind:<9}  {what}, by {each['who']}: {each['why']}"
    )


def _entry_lines(entry: Entry, found: LedgerState) -> list[str]:
    told = (_approvals_line(_approvals(each, found)) for each in entry.reviews)
    return [_entry_line(entry), *told]


def _approvals_line(told: Mapping[str, Any]) -> str:
    needs = ", ".join(f"{count} {role}" for role, count in told["needs"].items())
    people = ", ".join(f"{each['by']} ({each['role']})" for each in told["people"])
    by = (
        "was made without the approvals" if told["without"] else f"approved by {people or 'nobody'}"
    )
    return (
        f"        {told['stage']} {by}; required by review policy {told['review_policy'][:15]}:"
        f" {needs or 'nobody'}"
    )


def _entry_line(entry: Entry) -> str:
    numbers = f"ε {brief(entry.epsilon)}  δ {brief(entry.delta)}  unit {entry.unit}"
    if entry.is_unbounded:
        numbers = f"no (ε, δ)  unit {entry.unit}"
    return (
        f"  {entry.id:>4}  {entry.reserved_at:%Y-%m-%d %H:%M}  {entry.state:<9}  {entry.account}"
        f"  {numbers}  {entry.policy_name}"
    )


@ledger.command("verify", short_help="Is the ledger whole, unchanged and signed?")
def verify(
    head: Annotated[
        str | None,
        typer.Option("--head", help="RECORDS:HASH, as it was printed before, to compare with."),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option("--witness", help="Where heads were published: file:PATH or git:REPOSITORY."),
    ] = None,
    tsa_root: Annotated[
        Path | None,
        typer.Option("--tsa-root", help="Certificates of time stamp authorities, PEM."),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Check that no record of the ledger was changed, dropped, put elsewhere or forged.

    Exits with 1 where it was, naming the record. A tail that was cut off is found where this
    machine had seen it, by --head, by a --witness (without it, by the 'witnesses' of the project
    file), or by a certificate in the project's folder that no entry was charged for. Where the file
    that says what was seen cannot be read, the chain is checked all the same, and the exit code is
    1 nevertheless. A witness without a head is exit code 4.

    Example: policy-engine ledger verify
    """
    from policy_engine.ledger.witness import Witness
    from policy_engine.releasing.books import open_ledger, trusted_keys
    from policy_engine.releasing.certificates import certificates_in, forgotten, forgotten_text

    project = project_here()
    name, unseen = project.ledger_name, Witness(project.witness).fault()
    try:
        with open_ledger(project, compared=not unseen) as opened:
            found = opened.verify()
            records, disowned = opened.records(), opened.disowned()
            if head is not None:
                _compare(head, records, name)
            seen = [
                witnessed(each, records, name, tsa_root) for each in witness or project.witnesses
            ]
            places, trusted = certificates_in(project.directory), trusted_keys(project)
            missing = forgotten(places, opened.entries(), trusted)
    except LedgerBroken as error:
        emit({"ledger": name, "intact": False, "error": str(error)}, error.lines, format)
        raise typer.Exit(1) from None
    revoked = _revoked(project, records)
    reviewed = sum("request_sha256" in record.payload for record in records)
    document = {"ledger": name, "intact": True, "approved": reviewed,
                "records": found.records, "head": found.hash,
                "by_revoked_keys": sum(revoked.values()), "not_compared": unseen,
                "not_charged": [str(path) for path in missing],
                "left_out": [row for each in disowned for row in each.rows],
                "witnesses": [told for told, _ in seen]}  # fmt: skip
    told = counted(found.records, "record")
    lines = [f"{name}: whole and signed, {told}, head {found.records}:{found.hash}"]
    if reviewed:
        lines.append(f"every charge and change that required approvals had them ({reviewed})")
    if revoked:
        lines += _by_revoked(project, revoked)
    lines += [f"{_rows(each.rows)} left out, by {each.who}: {each.why}" for each in disowned]
    lines += [line for _, line in seen]
    if unseen:
        lines.append(f"whether its end is missing is not known: {unseen}")
    if missing:
        lines.append(forgotten_text(missing))
    (emit if unseen or missing else confirm)(document, lines, format)
    if unseen or missing:
        raise typer.Exit(1)


def _revoked(project: Project, records: tuple[Any, ...]) -> Counter[str]:
    """How many records each revoked key has signed."""
    from policy_engine.releasing.books import trust_of

    revoked = trust_of(project).revoked
    return Counter(record.key_id for record in records if record.key_id in revoked)


def _by_revoked(project: Project, revoked: Counter[str]) -> Iterator[str]:
    """What to say of the records of keys that were revoked later."""
    from policy_engine.releasing.books import trust_of

    noted = trust_of(project).ends
    for is_noted in (True, False):
        names = [name for name in revoked if (name in noted) == is_noted]
        if names:
            count = sum(revoked[name] for name in names)
            why = (
                "they stood here when the keyring noted where the ledger ended"
                if is_noted
                else "they state a time before that, which whoever has such a key can do too;"
                " compare the head with one from before"
            )
            yield (
                f"{count} of them are signed by keys that were revoked later"
                f" ({', '.join(each[:8] for each in names)}): {why}"
            )


def _compare(head: str, records: tuple[Any, ...], name: str) -> None:
    """LedgerBroken where the ledger does not go through a head that was kept elsewhere."""
    from policy_engine.ledger.chain import GENESIS, Head
    from policy_engine.ledger.outside import check_head

    count, _, wanted = head.partition(":")
    if not _COUNT.fullmatch(count) or not _HASH.fullmatch(wanted):
        law = "--head must be RECORDS:HASH, as 'ledger verify' prints it"
        raise UsageError(f"{law}, found {head[:100]!a}")
    if int(count) or wanted != GENESIS:
        check_head(Head(int(count), wanted), records, name)


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
    a mistyped one. An account with a review policy asks for approvals first: see 'review request'.

    Example: policy-engine ledger limit census --epsilon 2 --delta 1e-6 --by Ada --why "2026 wave"
    """
    from policy_engine.cli.review import limit_file
    from policy_engine.ledger.account import Limit
    from policy_engine.releasing.beginning import ledger_writer
    from policy_engine.releasing.books import open_ledger, stated_limit
    from policy_engine.releasing.reviewing import brought_at

    project = project_here()
    wanted = Limit(decimal_of("--epsilon", epsilon), decimal_of("--delta", delta))
    brought = brought_at(limit_file(account, project))
    with open_ledger(project, ledger_writer(project), say=note) as opened:
        if not new:
            _check_meant(account, opened, project)
        opened.set_limit(account, wanted, who=by, why=why, brought=brought)
        balance, units = opened.balance(account), _units(account, opened.entries())
    document = {"account": account, "units": units, "epsilon_limit": number(wanted.epsilon),
                "delta_limit": number(wanted.delta), "by": by, "why": why,
                "epsilon_left": number(balance.left_epsilon, down=True),
                "delta_left": number(balance.left_delta, down=True)}  # fmt: skip
    text = f"{account}: the limit is now ε {shown(wanted.epsilon)}, δ {shown(wanted.delta)}"
    text += f" (unit: {', '.join(units) or 'none yet'})"
    confirm(document, [f"{text}, by {by}: {why}"], format)
    stated = stated_limit(project, account)
    if stated is not None and wanted.is_above(stated):
        note(f"{stated.where} still says {stated}, and the lower limit counts: change it there too")
    elif stated is not None and stated.is_above(wanted):
        note(f"{stated.where} still says {stated}: lower it there too, or nothing is paid for")
    if not (balance.left_epsilon and balance.left_delta):
        note(f"{account} has spent its limit already: it pays for no release from now on")


def _check_meant(account: str, opened: Ledger, project: Project) -> None:
    """UsageError where a name is nearly that of an account."""
    from policy_engine.policy.accounts import nearest, twin_of

    known = opened.names()
    near = nearest(account, {*known, *project.accounts})
    if near is None and account not in known:
        near = twin_of(account, known, project)
    if near is not None:
        raise UsageError(
            f"there is no account {account!r}; did you mean {near!r}? --new opens a new one"
        )


@ledger.command("move", short_help="Give a source to another account: who, and why.")
def move(
    entry: Annotated[int, typer.Argument(help="An entry that was charged for the source.")],
    account: Annotated[str, typer.Argument(help="The account that it belongs to from now on.")],
    by: Annotated[str, typer.Option("--by", help="Who decided.")],
    why: Annotated[str, typer.Option("--why", help="Why.")],
    new: Annotated[
        bool, typer.Option("--new", help="The account is new, though its name is like another's.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Give the source of an entry to another account, by a record that says who decided and why.

    A source belongs to the account that paid for it first, and no other is charged for it. What was
    charged stays where it was: lower the limit of the other account by it, if these are the same
    people.

    Example: policy-engine ledger move 2 census_2026 --by Ada --why "the file has new people"
    """
    from policy_engine.attest.signers import writer_of
    from policy_engine.policy.accounts import listed_as
    from policy_engine.releasing.books import open_ledger

    project = project_here()
    with open_ledger(project, writer_of(project)) as opened:
        if not new:
            _check_meant(account, opened, project)
        if not project.accounts_open and listed_as(account, project) is None:
            raise UsageError(f"there is no account {account!r} in {project.file}; list it first")
        before = opened.entry(entry).account
        opened.move(entry, account, who=by, why=why)
    document = {"source_of": entry, "from": before, "to": account, "by": by, "why": why}
    text = f"the source of entry {entry} belongs to account {account} now, by {by}: {why}"
    emit(document, [text], format)


@ledger.command("rekey", short_help="Replace the sealing key: who, and why.")
def rekey(
    by: Annotated[str, typer.Option("--by", help="Who decided.")],
    why: Annotated[str, typer.Option("--why", help="Why.")],
    old: Annotated[
        Path | None, typer.Argument(help="The sealing key until now, a PEM file.", readable=False)
    ] = None,
    lost: Annotated[
        bool, typer.Option("--lost", help="It is lost for good: forget whose its sources were.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Let the project's sealing key take over from OLD, by a record; it is made if it is missing.

    The ledger names each source by the sealing key, to tell to which account it belongs. The new
    key is handed the old one, sealed, and the names stay; what was paid for opens as before. With
    --lost instead of OLD each release is a new one, and no source belongs to an account: lower the
    limits first.

    Example: policy-engine ledger rekey old.pem --by Ada --why "her laptop was stolen"
    """
    from policy_engine.releasing.books import rekey as run

    if lost == (old is not None):
        raise UsageError("say OLD, the sealing key until now, or --lost, and not both")
    project = project_here()
    key = run(project, old, who=by, why=why)
    document = {"sealing_key": key, "lost": lost, "by": by, "why": why}
    names = "what the lost one named is forgotten" if lost else "sources keep their names"
    emit(document, [f"{project.sealing_key}: {key[:8]} seals now; {names}, by {by}: {why}"], format)


@ledger.command("disown", short_help="Leave out rows that nobody of yours has written.")
def disown(
    first: Annotated[int, typer.Argument(help="The first of them; all behind it are left out.")],
    by: Annotated[str, typer.Option("--by", help="Who decided.")],
    why: Annotated[str, typer.Option("--why", help="Why.")],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Leave out the last rows of the ledger, which no key of yours has signed.

    Whoever may insert into a ledger in PostgreSQL, and has no key, can write rows that nobody
    trusts, and nothing is charged behind them. They stay, and a record says who left them out and
    why. What a key of the keyring has signed is never left out: enter a colleague's key with 'keys
    add' first. Take the right to insert from whoever wrote them.

    Example: policy-engine ledger disown 12 --by Ada --why "written by hand, ticket 7"
    """
    from policy_engine.attest.signers import writer_of
    from policy_engine.ledger.witness import Witness
    from policy_engine.releasing.books import open_ledger

    project = project_here()
    seen = Witness(project.witness).seen()
    with open_ledger(project, writer_of(project), compared=False) as opened:
        rows = opened.disown(first, who=by, why=why, seen=seen)
    document = {"ledger": project.ledger_name, "rows": list(rows), "by": by, "why": why}
    emit(document, [f"{project.ledger_name}: {_rows(rows)} left out, by {by}: {why}"], format)


def _rows(rows: tuple[int, ...]) -> str:
    return f"row {rows[0]} is" if len(rows) == 1 else f"rows {rows[0]} to {rows[-1]} are"


@ledger.command("reconcile", short_help="Settle what a crash left open.")
def reconcile(
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Settle every charge without a release, by what exists.

    Committed, if its release stands with its certificate. Given back, if it was never started:
    then nothing ran, and nothing will. Else it is kept as spent.

    Example: policy-engine ledger reconcile
    """
    from policy_engine.releasing.settlement import reconcile as run

    project = project_here()
    found = run(project)
    document = {"ledger": project.ledger_name, "settled": [_settled(each) for each in found]}
    lines = [f"  {each.entry.id:>4}  {each.outcome:<9}  {each.why}" for each in found]
    confirm(document, [f"{len(found)} settled", *lines], format)


def _settled(each: Settled) -> dict[str, Any]:
    return {"entry": each.entry.id, "outcome": each.outcome, "why": each.why}


@ledger.command("export", short_help="A public statement of the ledger, signed.")
def export(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; default: print.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", hidden=True)] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Write what the ledger may say to everybody: accounts, prices, dates, certificates.

    It holds nothing of the raw data, and is signed as certificates are. The ledger itself is
    confidential.

    Example: policy-engine ledger export --output ledger.statement.json
    """
    from policy_engine.attest.attestation import sign, statement
    from policy_engine.attest.signers import signer_of
    from policy_engine.attest.validity import written
    from policy_engine.ledger.statement import STATEMENT_TYPE, SUBJECT, public_statement
    from policy_engine.releasing.books import open_ledger
    from policy_engine.releasing.publish import write_certificate

    project, out = project_here(), output or out
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
        emit_lines([text])
        return
    write_certificate(text, out, replace=False)
    document = {"statement": str(out), "entries": len(entries), "accounts": len(balances)}
    text = f"{out}: signed; entries: {len(entries)}, accounts: {len(balances)}"
    confirm(document, [text], format)


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
    from policy_engine.releasing.job import rederive as run
    from policy_engine.releasing.planning import project_of

    loaded = load_policy(policy)
    found = run(loaded, project_of(loaded), entry, key)
    document = {"entry": found.entry, "same": found.same, "recorded": found.recorded}
    said = "the same bytes;" if found.same else "other bytes than those that were published,"
    (confirm if found.same else emit)(
        document, [f"entry {found.entry}: {said} SHA-256 {found.recorded}"], format
    )
    if not found.same:
        raise typer.Exit(1)


def schema(
    project: Annotated[
        bool, typer.Option("--project", help="That of the project file, policy-engine.yaml.")
    ] = False,
    format: FormatOption = Format.json,  # noqa: A002 - the option's name
) -> None:
    """Print the JSON Schema of a policy file; the text of a schema is JSON too.

    'init' writes both schemas into .policy-engine/ for editors to read.

    Example: policy-engine schema > policy.schema.json
    """
    from policy_engine.policy.schema import json_schema, project_schema

    emit_json(project_schema() if project else json_schema())
