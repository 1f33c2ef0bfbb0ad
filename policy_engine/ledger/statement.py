"""The public statement of a ledger: what was spent, when, for which certificate; nothing else.

The ledger is confidential. This takes what may leave field by field, so that what is added to a
record one day does not leave by itself. The time is that of the charge, before the source was
read: when a release was done tells how long it ran.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from policy_engine.ledger.account import Balance, limit_to_json
from policy_engine.ledger.chain import Head
from policy_engine.ledger.entry import Entry

STATEMENT_TYPE = "https://policy-engine.dev/ledger-statement/v1"


def public_statement(
    balances: Iterable[Balance], entries: Iterable[Entry], head: Head
) -> dict[str, Any]:
    """Accounts, prices, dates and certificates, as texts and whole numbers."""
    return {
        "version": 1,
        "records": head.records,
        "head": head.hash,
        "accounts": [_account(balance) for balance in balances],
        "entries": [_entry(entry) for entry in entries],
    }


def _account(balance: Balance) -> dict[str, Any]:
    price = balance.price
    return {
        "account": balance.account,
        "neighbours": balance.neighbours,
        "charges": balance.charges,
        "limit": None if balance.limit is None else limit_to_json(balance.limit),
        "basic": {"epsilon": str(price.basic_epsilon), "delta": str(price.basic_delta)},
        "tight_epsilon": _text(price.tight_epsilon),
        "tight_delta": _text(price.tight_delta),
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


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)
