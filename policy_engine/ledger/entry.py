"""What an account was charged for: a ``Charge`` before, an ``Entry`` once it is recorded.

Entries are not stored: they are derived from the chain's records. A ``reserve`` record makes
an entry, a ``commit`` record says that its release was published. Either way it is charged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal, get_args

from policy_engine.errors import DomainError, LedgerError
from policy_engine.ledger.chain import Record

Neighbours = Literal["add_remove", "replace_one"]
State = Literal["reserved", "committed"]

_MOST_PLACES = 1000
_MOST_EPSILON = Decimal(10) ** 9


@dataclass(frozen=True)
class Charge:
    """What one release costs one account, under one notion of neighbouring tables.

    Raises DomainError unless ε is a Decimal from 0 to 10⁹, δ a Decimal from 0 to 1, both with
    at most 1000 decimal places (so that sums stay exact), the notion is known and the account
    has a name. A float is refused: it is not the number that was written.

    >>> Charge("census", Decimal("0.5"), 1e-9, "add_remove", "adult", "sha256:…", "sha256:…")
    Traceback (most recent call last):
    policy_engine.errors.DomainError: delta must be a Decimal, found float
    """

    account: str
    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours
    policy_name: str
    policy_digest: str
    certificate_digest: str

    def __post_init__(self) -> None:
        """Check the domain."""
        if not self.account:
            raise DomainError("account", "a name", "an empty text")
        if self.neighbours not in get_args(Neighbours):
            raise DomainError("neighbours", "add_remove or replace_one", self.neighbours)
        check_amount("epsilon", self.epsilon, _MOST_EPSILON)
        check_amount("delta", self.delta, Decimal(1))


@dataclass(frozen=True)
class Entry:
    """One charge as recorded; ``id`` is the number of the record that reserved it.

    ``state`` is ``reserved`` until the release is published: a release that is running, that
    failed or that crashed. ``hash`` and ``previous_hash`` are those of the reserving record.
    Times are in UTC.
    """

    id: int
    account: str
    policy_name: str
    policy_digest: str
    certificate_digest: str
    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours
    state: State
    reserved_at: datetime
    committed_at: datetime | None
    release_name: str | None
    release_digest: str | None
    previous_hash: str
    hash: str


def check_amount(name: str, value: Decimal, most: Decimal) -> None:
    """Raise DomainError unless ``value`` is an exact amount from 0 to ``most``.

    >>> check_amount("epsilon", Decimal("0.5"), Decimal(1))
    """
    if not isinstance(value, Decimal):
        raise DomainError(name, "a Decimal", type(value).__name__)
    if not value.is_finite() or not 0 <= value <= most:
        raise DomainError(name, f"from 0 to {most}", value)
    if value.as_tuple().exponent < -_MOST_PLACES:  # type: ignore[operator]  # it is finite
        raise DomainError(name, f"written with at most {_MOST_PLACES} decimal places", "more")


def reserve_payload(charge: Charge, at: datetime) -> dict[str, object]:
    """What a ``reserve`` record holds: the charge, its decimals as text, and the time."""
    amounts = {"epsilon": str(charge.epsilon), "delta": str(charge.delta)}
    return {**asdict(charge), **amounts, "at": at.isoformat()}


def commit_payload(
    entry_id: int, release_name: str, release_digest: str, at: datetime
) -> dict[str, object]:
    """What a ``commit`` record holds: which entry, what was released, and the time."""
    return {
        "entry": entry_id,
        "release_name": release_name,
        "release_digest": release_digest,
        "at": at.isoformat(),
    }


def entries_of(records: Iterable[Record], where: str) -> tuple[Entry, ...]:
    """The entries that verified records amount to, in the order they were reserved.

    Raises LedgerError for a record this version cannot read: to skip it could under-charge.
    """
    entries: dict[int, Entry] = {}
    for record in records:
        try:
            payload = json.loads(record.payload)
            if record.kind == "reserve":
                entries[record.seq] = _reserved(record, payload)
            elif record.kind == "commit":
                entry = entries[payload["entry"]]
                entries[entry.id] = _committed(entry, payload)
            else:
                raise ValueError(record.kind)
        except (ArithmeticError, KeyError, TypeError, ValueError):
            raise LedgerError(
                f"{where}: record {record.seq}, of kind {record.kind!r}, cannot be read by this "
                "version of policy-engine; use the version that wrote it, or a newer one"
            ) from None
    return tuple(entries.values())


def _reserved(record: Record, payload: Mapping[str, str]) -> Entry:
    values: dict[str, object] = {field.name: payload[field.name] for field in fields(Charge)}
    amounts = {name: Decimal(payload[name]) for name in ("epsilon", "delta")}
    charge = Charge(**{**values, **amounts})  # type: ignore[arg-type]  # checked as it is made
    return Entry(
        **vars(charge),
        id=record.seq,
        state="reserved",
        reserved_at=datetime.fromisoformat(payload["at"]),
        committed_at=None,
        release_name=None,
        release_digest=None,
        previous_hash=record.previous_hash,
        hash=record.hash,
    )


def _committed(entry: Entry, payload: Mapping[str, str]) -> Entry:
    if entry.state == "committed":
        raise ValueError("committed twice")
    return replace(
        entry,
        state="committed",
        committed_at=datetime.fromisoformat(payload["at"]),
        release_name=payload["release_name"],
        release_digest=payload["release_digest"],
    )
