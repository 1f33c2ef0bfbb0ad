"""When a key's signature counts: until when, and whether it was withdrawn.

The time is the one that the signed statement states itself. Whoever has a key can state any
time, so dates order the keys of honest signers; a key that a stranger may have is revoked, and
then nothing counts that it ever signed. There is no first moment: a release that is made again
keeps its time, and a younger key may sign it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from policy_engine.values import frozen

Kind = Literal["unknown", "revoked", "undated", "expired", "retired"]

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def moment(text: object) -> datetime | None:
    """The moment that a text writes, in UTC and to the second; None for anything else.

    >>> moment("2026-11-21T10:00:00Z").year, moment("2026-11-31T10:00:00Z"), moment(7)
    (2026, None, None)
    """
    if not isinstance(text, str) or not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def written(at: datetime) -> str:
    """A moment as text, its second begun.

    >>> written(datetime(2026, 11, 21, 10, 0, 0, 999_999, tzinfo=UTC))
    '2026-11-21T10:00:00Z'
    """
    at = at.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%SZ}"


@frozen
class Refusal:
    """Why a signature does not count; without what to do about it, which depends on who asks."""

    kind: Kind
    text: str


@frozen
class LedgerEnd:
    """Where a ledger ended: the hash of its first record, how many it had, the hash of the last."""

    first: str
    records: int
    head: str


@frozen
class Revoked:
    """When and why a key was withdrawn, and where the ledgers that it wrote to ended then."""

    at: datetime
    why: str
    ledgers: tuple[LedgerEnd, ...] = ()


@frozen
class Validity:
    """A key, known since ``added``, counts up to the earlier of ``expires`` and ``retired``."""

    added: datetime
    expires: datetime | None = None
    retired: datetime | None = None
    revoked: Revoked | None = None

    @property
    def until(self) -> datetime | None:
        """The last moment, None where there is none."""
        ends = [end for end in (self.expires, self.retired) if end is not None]
        return min(ends, default=None)

    def refusal(self, key: str, at: datetime | None) -> Refusal | None:
        """Why a signature by ``key`` under the time ``at`` does not count, None where it does.

        Revoked wins over every date.

        >>> added, retired = (datetime(year, 1, 1, tzinfo=UTC) for year in (2025, 2026))
        >>> closed = Validity(added, retired=retired)
        >>> closed.refusal("ab12", datetime(2027, 1, 1, tzinfo=UTC)).text
        'key ab12 was retired on 2026-01-01T00:00:00Z, and this was signed as of \
2027-01-01T00:00:00Z'
        """
        if self.revoked is not None:
            on, why = written(self.revoked.at), self.revoked.why
            text = f"key {key} was revoked on {on} ({why}): nothing that it signed counts"
            return Refusal("revoked", text)
        if at is None:
            return Refusal("undated", f"key {key} counts between dates, and this states no time")
        if self.until is None or at <= self.until:
            return None
        kind: Kind = "expired" if self.until == self.expires else "retired"
        verb = "expired" if kind == "expired" else "was retired"
        signed = f"and this was signed as of {written(at)}"
        return Refusal(kind, f"key {key} {verb} on {written(self.until)}, {signed}")
