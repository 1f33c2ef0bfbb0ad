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
from dataclasses import dataclass
from datetime import datetime

from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.chain import Record, canonical
from policy_engine.ledger.entry import Charge, unreadable

_SAME_PLACE = "its source is that of"
_SAME_CONTENT = "its source holds just what was released by"
_WHAT = {"place": _SAME_PLACE, "content": _SAME_CONTENT}
NAMED_BY = "named_by"


@dataclass(frozen=True)
class SourceMove:
    """A source that was given to another account: that of ``entry``, by the record ``record``."""

    record: int
    entry: int
    at: datetime
    who: str
    why: str
    before: str
    after: str


@dataclass(frozen=True)
class Rekey:
    """A sealing key ``key`` that took over by the record ``record``: sources are ``named_by``."""

    record: int
    key: str
    named_by: str
    at: datetime
    who: str
    why: str


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


def moves_of(chain: Iterable[Record], where: str) -> tuple[SourceMove, ...]:
    """Every source that was given to another account, in order."""
    return tuple(_move(record, where) for record in chain if record.kind == "move")


def rekeys_of(chain: Iterable[Record], where: str) -> tuple[Rekey, ...]:
    """Every sealing key that took over from another one, in order."""
    return tuple(_rekey(record, where) for record in chain if record.kind == "rekey")


def _rekey(record: Record, where: str) -> Rekey:
    try:
        found, named_by = json.loads(record.payload), source_in(record)[NAMED_BY]
        at, who, why = datetime.fromisoformat(found["at"]), str(found["by"]), str(found["why"])
        return Rekey(record.seq, str(found["for"]), named_by, at, who, why)
    except (KeyError, TypeError, ValueError):
        raise unreadable(record, where) from None


def _move(record: Record, where: str) -> SourceMove:
    try:
        found = json.loads(record.payload)
        names = (str(found[name]) for name in ("by", "why", "from", "to"))
        return SourceMove(record.seq, int(found["of"]), datetime.fromisoformat(found["at"]), *names)
    except (KeyError, TypeError, ValueError):
        raise unreadable(record, where) from None
