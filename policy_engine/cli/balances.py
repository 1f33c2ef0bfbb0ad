"""ledger show: the accounts, what is left of them, and every record of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

from typer import Argument

from policy_engine.cli.output import emit, left_of, members
from policy_engine.cli.reading import project_here
from policy_engine.errors import NoLedger, UsageError
from policy_engine.ledger.account import Balance, Limit, balance_of, brief
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.reviews import approvers
from policy_engine.policy.laws import suggestion
from policy_engine.policy.project import Project
from policy_engine.releasing.beginning import check_clean
from policy_engine.releasing.books import has_ledger
from policy_engine.releasing.ledger_state import LedgerState, ledger_state


def show(
    account: Annotated[str | None, Argument(help="One account; default: all.")] = None,
) -> None:
    """Show accounts, what is left of them, every change of a limit, and every entry.

    The limit that is shown is the one that counts: the ledger's, or the project file's if that is
    lower.

    Example: policy-engine ledger show census
    """
    project = project_here()
    found = ledger_state(project)
    if account is not None:
        names = [each.name for each in found.accounts]
        found = found.of(account)
        if not found.accounts:
            remedy = suggestion(account, names) if names else "there is no account yet"
            raise UsageError(f"no account {account!r} in {project.ledger_name}; {remedy}")
    # To price an account takes time, so each is priced once.
    balances = [balance_of(each) for each in found.accounts]
    document = {
        "ledger": project.ledger_name,
        "accounts": [_account(each, found.entries) for each in balances],
        "limits": [
            {
                **members(each, "record account at who why", who="by"),
                "from": _limit(each.before),
                "to": _limit(each.after),
            }
            for each in found.changes
        ],
        **members(found, "moves rekeys reviews"),
        "entries": [_entry(each, found) for each in found.entries],
    }
    emit(document, _lines(project, balances, found))


def units_of(account: str, entries: tuple[Entry, ...]) -> list[str]:
    """Of whom the (ε, δ) of an account's entries are."""
    return sorted({entry.unit for entry in entries if entry.account == account})


def _open(account: str, entries: tuple[Entry, ...]) -> int:
    return sum(entry.is_open and entry.account == account for entry in entries)


def _account(balance: Balance, entries: tuple[Entry, ...]) -> dict[str, Any]:
    limit, price, unbounded = balance.limit, balance.price, balance.unbounded
    spent = {
        "epsilon_spent": balance.spent_epsilon,
        "delta_spent": balance.spent_delta,
        "epsilon_basic": price.basic_epsilon,
        "delta_basic": price.basic_delta,
    }
    return {
        **members(balance, "account neighbours"),
        "units": units_of(balance.account, entries),
        "entries": balance.charges,
        "reserved": _open(balance.account, entries),
        "epsilon_limit": limit and limit.epsilon,
        "delta_limit": limit and limit.delta,
        **(dict.fromkeys(spent) if unbounded else spent),
        **left_of(balance),
        **({"without_epsilon_delta": unbounded} if unbounded else {}),
    }


def _limit(limit: Limit | None) -> dict[str, Any] | None:
    return None if limit is None else members(limit, "epsilon delta")


def _entry(entry: Entry, found: LedgerState) -> dict[str, Any]:
    names = "id account policy_name state epsilon delta unit reserved_at release_name"
    told = members(entry, names, id="entry", policy_name="policy", release_name="release")
    if entry.is_unbounded:
        told |= {"epsilon": None, "delta": None}
    return {**told, "approvals": [_approvals(each, found) for each in entry.reviews]}


def _approvals(told: Mapping[str, Any], found: LedgerState) -> dict[str, Any]:
    """What an entry was required to have, who approved it, and the digests of what they signed."""
    people = approvers(found.required[told["record"]].policy, told)
    return {
        "stage": told["stage"],
        "review_policy": told["review_policy"],
        "needs": told["needs"],
        "without": bool(told.get("out")),
        "people": [{"by": name, "role": role} for name, role in people],
        "statements": told.get("approvals_sha256", ()),
    }


def _lines(project: Project, balances: list[Balance], found: LedgerState) -> Iterator[str]:
    if not has_ledger(project):
        yield _no_ledger(project)
    yield from (_account_line(each, found) for each in balances)
    for each in found.changes:
        what = f"{each.account}  {each.before or 'no limit'} → {each.after}"
        yield _row(each.record, each.at, "limit", f"{what}, by {each.who}: {each.why}")
    for told in found.reviews:
        kind = "require" if told["account"] else "revoke"
        yield _decision(told, kind, _review_words(told), told["who"])
    for entry in found.entries:
        price = f"ε {brief(entry.epsilon)}  δ {brief(entry.delta)}"
        numbers = f"{'no (ε, δ)' if entry.is_unbounded else price}  unit {entry.unit}"
        what = f"{entry.account}  {numbers}  {entry.policy_name}"
        yield _row(entry.id, entry.reserved_at, entry.state, what)
        yield from (_approvals_line(_approvals(each, found)) for each in entry.reviews)
    for told in found.moves:
        of, whose = f"of entry {told['source_of']}", f"{told['from']} → {told['to']}"
        if not told["source_of"]:
            of, whose = "that was charged to nobody yet", f"→ {told['to']}"
        yield _decision(told, "move", f"{whose}  the source {of}", told["by"])
    for told in found.rekeys:
        names = f"named by {told['named_by'][:8]}, as before"
        if told["named_by"] == told["sealing_key"]:
            names = "of the sources before nobody knows to which account they belong"
        yield _decision(told, "rekey", f"{told['sealing_key'][:8]}  {names}", told["by"])


def _row(record: int, at: datetime, kind: str, what: str) -> str:
    return f"  {record:>4}  {at:%Y-%m-%d %H:%M}  {kind:<9}  {what}"


def _decision(told: Mapping[str, Any], kind: str, what: str, by: str) -> str:
    at = datetime.fromisoformat(told["at"])
    return _row(told["record"], at, kind, f"{what}, by {by}: {told['why']}")


def _no_ledger(project: Project) -> str:
    try:
        check_clean(project)
    except NoLedger as error:
        return str(error)
    return f"no ledger at {project.ledger_name}: nothing was released from here"


def _account_line(balance: Balance, found: LedgerState) -> str:
    name, limit = balance.account, balance.limit
    recorded = found.recorded.get(name)
    basic = f"ε {brief(balance.price.basic_epsilon)}, δ {brief(balance.price.basic_delta)}"
    if balance.unbounded:
        text = (
            f"no (ε, δ) holds, for releases without one are charged to it: {balance.unbounded} of"
            f" {balance.charges}; limit: {limit or 'none'}"
        )
    elif limit is None:
        text = f"{basic} spent; no limit"
    else:
        is_lower = recorded not in (None, limit)
        whose = f" (by {limit.where}, lower than the ledger's {recorded})" * is_lower
        text = (
            f"of {limit}{whose}, ε {brief(balance.spent_epsilon)} is spent at that δ,"
            f" δ {brief(balance.spent_delta)} at that ε (sum of the certificates: {basic})"
        )
    text = f"{name}: {text}; unit: {', '.join(units_of(name, found.entries)) or 'none yet'}"
    if count := _open(name, found.entries):
        text += f"; {count} charged without a release: running, failed or stopped"
    return text


def _review_words(told: Mapping[str, Any]) -> str:
    if told["account"]:
        return f"{told['account']}  review policy {told['serial']}, {told['review_policy'][:15]}"
    return f"nothing counts that the key {told.get('revoked_key', '')[:8]} approves"


def _approvals_line(told: Mapping[str, Any]) -> str:
    needs = ", ".join(f"{count} {role}" for role, count in told["needs"].items())
    people = ", ".join(f"{each['by']} ({each['role']})" for each in told["people"])
    by = f"approved by {people or 'nobody'}"
    return (
        f"        {told['stage']} {'was made without the approvals' if told['without'] else by};"
        f" required by review policy {told['review_policy'][:15]}: {needs or 'nobody'}"
    )
