"""To which account a source belongs: to that of the last record that names it.

People who could be charged to two accounts would lose the sum of both limits. So a charge names
its source, twice: where it lies, and what it holds. A record of kind ``move`` gives the source of
an entry to another account, by somebody, for a reason; nothing else does.

The names are keyed, and another key would make each source a new one. So a source says which key
has named it, and a record of kind ``rekey`` says who replaced the sealing key, and why: the new one
is handed the old one and names by it, or the old one is lost, and what it named is forgotten.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.chain import Record, canonical
from policy_engine.ledger.entry import Charge, unreadable

_SAME_PLACE = "its source is that of"
_SAME_CONTENT = "its source holds just what was released by"
_WHAT = {"place": _SAME_PLACE, "content": _SAME_CONTENT}
NAMED_BY = "named_by"


def text_of(what: str, name: str) -> str:
    """What the payload of each record has that names a source so.

    >>> text_of("place", "ab12")
    '"place":"ab12"'
    """
    return canonical({what: name})[1:-1]


def source_in(record: Record) -> Mapping[str, str]:
    """The names of a source that a record has; none where it has none."""
    found: Mapping[str, str] = json.loads(record.payload).get("source") or {}
    return found


def account_in(record: Record) -> str:
    """The account that a record charges or gives its source to."""
    return str(json.loads(record.payload)["to"]) if record.kind == "move" else record.account


def belongs_elsewhere(charge: Charge, what: str, record: Record) -> BudgetExceeded:
    """Why a source cannot be charged to this account: it belongs to that of ``record``."""
    payload, account = json.loads(record.payload), account_in(record)
    if record.kind == "move":
        entry = payload["of"]
        told = f"entry {entry}, and record {record.seq} gave it to account {account!r}"
        if not entry:
            return BudgetExceeded(
                f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}: record"
                f" {record.seq} gave its source to account {account!r}. Write 'budget: {account}'"
                " in the policy"
            )
    else:
        entry = record.seq
        told = f"entry {entry} ({payload['policy_name']}), charged to account {account!r}"
    return BudgetExceeded(
        f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}: {_WHAT[what]}"
        f" {told}, and people who pay from two accounts lose the sum of both limits. Write"
        f" 'budget: {account}' in the policy; if the source is to belong to {charge.account!r} from"
        f" now on, run 'policy-engine ledger move {entry}"
        f" {shlex.quote(charge.account)} --by NAME --why TEXT'"
    )


def decided(chain: Iterable[Record], kind: str, where: str) -> tuple[Mapping[str, Any], ...]:
    """Every record of the kind ``move`` or ``rekey``, in order: what was decided, by whom, why."""
    return tuple(_decided(record, where) for record in chain if record.kind == kind)


def _decided(record: Record, where: str) -> Mapping[str, Any]:
    try:
        found = json.loads(record.payload)
        if record.kind == "move":
            told = {"source_of": int(found["of"]), "from": found["from"], "to": found["to"]}
        else:
            told = {"sealing_key": found["for"], NAMED_BY: source_in(record)[NAMED_BY]}
        who = {"at": found["at"], "by": found["by"], "why": found["why"]}
        datetime.fromisoformat(who["at"])
        return {"record": record.seq, **told, **who}
    except (KeyError, TypeError, ValueError):
        raise unreadable(record, where) from None
