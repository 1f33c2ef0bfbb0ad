"""The public statement of a ledger: what was spent, when, for which certificate; nothing else.

The ledger is confidential. This takes what may leave field by field, so that what is added to a
record one day does not leave by itself. The time is that of the charge, before the source was
read: when a release was done tells how long it ran. Of a limit's change the date, the amounts, who
decided and why leave: whoever answers for a release is asked for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import reduce
from typing import Any

from policy_engine.accounting.domain import EXACT
from policy_engine.attest.attestation import open_envelope
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.results import Verified
from policy_engine.errors import VerificationFailed
from policy_engine.ledger.account import Balance, limit_to_json
from policy_engine.ledger.chain import Head
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.states import LimitChange

STATEMENT_TYPE = "https://policy-engine.dev/ledger-statement/v1"
SUBJECT = "ledger"
VERSION = 2

_FIELDS = {"version", "records", "head", "accounts", "entries", "limits", "time"}
_ACCOUNT = {"account", "neighbours", "charges", "limit", "basic", "tight_epsilon", "tight_delta"}
_ENTRY = {"entry", "account", "policy", "policy_digest", "certificate_digest", "epsilon", "delta",
          "neighbours", "charged", "published", "release_sha256", "date"}  # fmt: skip
_LIMITS = {
    1: {"record", "account", "date", "from", "to"},
    VERSION: {"record", "account", "date", "from", "to", "by", "why"},
}
_UNCHECKED = (
    "the tight prices, which need the k and the rate of each release: its certificate has them",
    "that the people who are named have set the limits: whoever signed says so",
    "that the ledger says so: compare the head with the next statement's, or with one kept",
)


def public_statement(
    balances: Iterable[Balance],
    entries: Iterable[Entry],
    changes: Iterable[LimitChange],
    head: Head,
) -> dict[str, Any]:
    """Accounts, prices, dates, limits and certificates, as texts and whole numbers."""
    return {
        "version": VERSION,
        "records": head.records,
        "head": head.hash,
        "accounts": [_account(balance) for balance in balances],
        "entries": [_entry(entry) for entry in entries],
        "limits": [
            {
                "record": change.record,
                "account": change.account,
                "date": change.at.date().isoformat(),
                "from": None if change.before is None else limit_to_json(change.before),
                "to": limit_to_json(change.after),
                "by": change.who,
                "why": change.why,
            }
            for change in changes
        ],
    }


def _account(balance: Balance) -> dict[str, Any]:
    price, limit = balance.price, balance.limit
    epsilon, delta = price.tight_epsilon, price.tight_delta
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "charges": balance.charges,
        "limit": None if limit is None else limit_to_json(limit),
        "basic": {"epsilon": str(price.basic_epsilon), "delta": str(price.basic_delta)},
        "tight_epsilon": None if epsilon is None else str(epsilon),
        "tight_delta": None if delta is None else str(delta),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "entry": entry.id,
        "account": entry.account,
        "policy": entry.policy_name,
        "policy_digest": entry.policy_digest,
        "certificate_digest": entry.certificate_digest,
        "epsilon": str(entry.epsilon),
        "delta": str(entry.delta),
        "neighbours": entry.neighbours,
        "charged": entry.state != "cancelled",
        "published": entry.state == "committed",
        "release_sha256": entry.release_digest,
        "date": entry.reserved_at.date().isoformat(),
    }


def verify_statement(envelope: str, trusted: TrustedKeys) -> Verified:
    """A ledger's public statement: its signature, its sums; VerificationFailed with all reasons."""
    opened = open_envelope(envelope, trusted, STATEMENT_TYPE)
    found: Mapping[str, Any] = opened.predicate
    try:
        reasons = [*_shape(found)] or [*_sums(found)]
        if (opened.subject_name, opened.subject_sha256) != (SUBJECT, found.get("head")):
            reasons.append("its subject is not the ledger's head")
    except (ArithmeticError, AttributeError, KeyError, TypeError):
        reasons = ["the statement holds what no ledger states"]
    if reasons:
        raise VerificationFailed(tuple(reasons))
    entries, accounts = found["entries"], found["accounts"]
    # The accounts of which no (ε, δ) holds.
    without = Counter(e["account"] for e in entries if e["charged"] and Decimal(e["delta"]) >= 1)
    checked = (
        f"signed by {opened.key_id}",
        f"accounts: {len(accounts)}, entries: {len(entries)}; each account's charges and sum are"
        " those of its entries",
        "each account's limit is the last one that was set",
        *(
            f"account {account}: releases without (ε, δ), {times}; none holds of the account"
            for account, times in without.items()
        ),
        f"head {found['records']}:{found['head']}, as of {found['time']}",
    )
    numbers = tuple((name, found[name]) for name in ("records", "head", "time"))
    return Verified(SUBJECT, checked, _UNCHECKED, (), numbers=numbers)


def _shape(found: Mapping[str, Any]) -> Iterable[str]:
    """What is there that no statement has, or is not there."""
    of_limit = _LIMITS.get(found["version"]) if type(found.get("version")) is int else None
    if set(found) != _FIELDS or of_limit is None:
        versions = " or ".join(map(str, _LIMITS))
        yield f"a statement of version {versions} has exactly {', '.join(sorted(_FIELDS))}"
        return
    for name, fields in (("accounts", _ACCOUNT), ("entries", _ENTRY), ("limits", of_limit)):
        if any(set(each) != fields for each in found[name]):
            yield f"each of {name} has exactly {', '.join(sorted(fields))}"


def _sums(found: Mapping[str, Any]) -> Iterable[str]:
    """What does not add up."""
    entries, limits, accounts = found["entries"], found["limits"], found["accounts"]
    if not all(type(limit.get(name, "")) is str for limit in limits for name in ("by", "why")):
        yield "who set a limit, and why, are texts"
    names = [each["account"] for each in accounts]
    if names != sorted(set(names)) or not {e["account"] for e in (*entries, *limits)} <= set(names):
        yield "each account of an entry or limit is listed once, by name"
    if any(entry["published"] and not entry["charged"] for entry in entries):
        yield "what is published is charged"
    for account in accounts:
        name = account["account"]
        own = [entry for entry in entries if entry["account"] == name and entry["charged"]]
        if account["charges"] != len(own):
            yield f"account {name}: charges is {account['charges']}, and its entries are {len(own)}"
        for amount in ("epsilon", "delta"):
            total = reduce(EXACT.add, (Decimal(entry[amount]) for entry in own), Decimal(0))
            if Decimal(account["basic"][amount]) != total:
                yield (
                    f"account {name}: the sum of {amount} is {account['basic'][amount]}, and that"
                    f" of its entries {total}"
                )
        if own and {entry["neighbours"] for entry in own} != {account["neighbours"]}:
            yield f"account {name}: its entries count other neighbours"
        before = None
        for limit in (limit for limit in limits if limit["account"] == name):
            if limit["from"] != before:
                yield f"account {name}: the limit of record {limit['record']} follows another one"
            before = limit["to"]
        if account["limit"] != before:
            yield f"account {name}: its limit is not the last one that was set"
