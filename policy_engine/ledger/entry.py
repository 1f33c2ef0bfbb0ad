"""What an account was charged for: a ``Charge`` before, an ``Entry`` once it is recorded.

Entries are not stored: they are derived from the chain's records. A ``reserve`` record makes an
entry; later records say what became of it:

* ``approve``: approvals that its account requires were met, beside those that its charge had.
* ``start``: an attempt to draw it begins. Without one nothing ran, and nothing ever will. A second
  attempt strikes out the secret of the first, and has one of its own.
* ``lapse``: the attempt came to nothing before a row was read, and does not count.
* ``draw``: its release has this digest, and no other is ever published. Nobody has seen it yet.
* ``commit``: its release was published.
* ``cancel``: nothing ran, so it costs nothing.
* ``keep``: nobody knows what was seen, so it stays charged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, fields, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from policy_engine.accounting.events import Event, Unbounded
from policy_engine.accounting.windows import known_as
from policy_engine.attest.approvals import Brought, Stage
from policy_engine.attest.parquet_file import is_added, predicate_digest, record_text
from policy_engine.errors import DomainError, LedgerError
from policy_engine.ledger.asked import Asked, read_text
from policy_engine.ledger.chain import Foreign, Record
from policy_engine.values import frozen

Neighbours = Literal["add_remove", "replace_one"]
State = Literal["reserved", "started", "committed", "cancelled", "kept"]
_MOST_PLACES = 1000
Units = tuple[tuple[str, ...], ...]
"""Who is one person among the rows of a place: by which columns, none where each row is one.

Two ways say the same where a column that names a person has no value twice.
"""
MOST_ATTEMPTS = 2
"""How often an entry is drawn at most: to try until it works would let the rows decide."""


@frozen
class Run:
    """How a release is drawn, and where it goes; empty where nothing is known of it.

    It is ``of`` a policy and a text, SHA-256 in hex. ``edition`` names the draw: a period of the
    policy's schedule, as 2026-11, or what ``--edition`` said; it is empty where there is but one.
    ``is_revision``: the calendar draws it anew.
    ``target`` and ``certificate`` are a table's
    name or paths from the project's folder. ``predicate`` is the certificate's, with the time that
    the release bears. ``mark`` is in the names of what is written aside. ``sealed`` is the secret
    of the last attempt, which is used once; empty where the engine draws the sample by itself.
    """

    of: str = ""
    target: str = ""
    certificate: str = ""
    is_file: bool = True
    mark: str = ""
    predicate: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sealed: Mapping[str, str] = field(default_factory=dict, hash=False)
    edition: str = ""
    is_revision: bool = False

    @property
    def query(self) -> str:
        """The certified query."""
        return str(self.predicate["query"])

    @property
    def record(self) -> str:
        """What the release carries of its certificate: a file stands beside that."""
        path = Path(self.certificate)
        return record_text(self.predicate, path.name if self.is_file else path.as_posix())

    @property
    def appended(self) -> str:
        """The edition whose rows are a part of a table; empty of one that is a table or a file."""
        return self.edition if is_added(str(self.predicate.get("published_as", ""))) else ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the certificate's facts: what the ledger calls its digest."""
        return predicate_digest(self.predicate)


@frozen
class Charge:
    """What one release costs one account, under one notion of neighbouring tables.

    ``epsilon`` and ``delta`` are the certificate's, ``event`` is the mechanism with its curve;
    where it is None, nothing but (ε, δ) is known. ``part`` names a partition by a secretly keyed
    hash of the unit, and the part of it that is read [PART]. ``request`` says what the
    release is of, ``run`` how to run it again. ``source`` has names of what is released from, of
    its place and of its content: digests, of which the content's is keyed, and says by which key.
    ``windows`` are those of its account in which it counts. ``unit`` says of whom ε and δ are; it
    is not recorded, for ``run`` says so too. It ``follows`` from the account's limit where so many
    like it fill that: then it is more where the limit is. ``brought`` are the approvals that its
    account may require. ``beside`` are names of places that hold the source, or that it holds, as a
    folder its files; ``public`` are the places of what is joined and said to be public, each by
    its name in the policy; ``public_beside`` other names of these. What is beside is looked up and
    not recorded. ``units`` says by the names of places, those beside too, who is one person there.

    Raises DomainError unless ε is a Decimal from 0 to 10⁹, δ a Decimal from 0 to 1, both with
    at most 1000 decimal places (so that sums stay exact), the notion is known and the account
    has a name. A float is refused: it is not the number that was written.

    >>> Charge("census", Decimal("0.5"), 1e-9, "add_remove", "adult", "sha256:…", "sha256:…")
    Traceback (most recent call last):
    policy_engine.base_errors.DomainError: delta must be a Decimal, found float
    """

    account: str
    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours
    policy_name: str
    policy_digest: str
    certificate_digest: str
    event: Event | None = None
    part: tuple[str, str] | None = None
    request: str = ""
    run: Run = field(default=Run())
    source: Mapping[str, str] = field(default_factory=dict, hash=False)
    unit: str = "not recorded"
    brought: Brought | None = None
    beside: tuple[str, ...] = ()
    public: Mapping[str, str] = field(default_factory=dict, hash=False)
    public_beside: tuple[str, ...] = ()
    units: Mapping[str, Units] = field(default_factory=dict, hash=False)
    windows: tuple[str, ...] = ("",)
    follows: bool = False

    def __post_init__(self) -> None:
        """Check the domain."""
        if not self.windows or len(set(self.windows)) < len(self.windows):
            raise DomainError("windows", "at least one, and each once", self.windows)
        if not self.account:
            raise DomainError("account", "a name", "an empty text")
        if self.neighbours not in get_args(Neighbours):
            raise DomainError("neighbours", "add_remove or replace_one", self.neighbours)
        check_amount("epsilon", self.epsilon, Decimal(10) ** 9)
        check_amount("delta", self.delta, Decimal(1))

    @property
    def in_calendar(self) -> bool:
        """Whether it is an edition of a calendar, whose name says in which window it counts."""
        return self.run.edition[:1].isdigit()

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing is promised of it."""
        return isinstance(self.event, Unbounded)

    @property
    def asked(self) -> Asked:
        """The charge as it is priced."""
        event = known_as(self.epsilon, self.delta) if self.event is None else self.event
        return Asked(event, self.epsilon, self.delta, self.part)


@frozen
class StageReview:
    """What an entry or a change was required to have, and what was ``brought`` and met it.

    ``policy`` is the digest of the review policy by which it was, ``record`` the one that says so,
    ``needs`` how many people of which role. Of what came out ``release_digest`` says what that is.
    What ``is_out`` was made before it was charged, without the approvals that were required.
    ``at`` is when that was counted, None as long as it is not recorded by itself.
    """

    stage: Stage
    policy: str
    record: int
    needs: Mapping[str, int] = field(hash=False)
    brought: Brought = field(default=Brought())
    is_out: bool = False
    release_digest: str = ""
    at: datetime | None = None

    def to_json(self) -> dict[str, object]:
        """What is recorded of it: the lines themselves, for a bundle can lose one."""
        return {
            "stage": self.stage,
            "review_policy": self.policy,
            "record": self.record,
            "needs": dict(self.needs),
            **(self.brought.to_json() if self.brought.request else {}),
            **({"out": True} if self.is_out else {}),
            **({"release_digest": self.release_digest} if self.release_digest else {}),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> StageReview:
        """What a record says of it. What somebody has forged lacks what nobody has required."""
        return cls(
            stage=told["stage"],
            policy=str(told.get("review_policy", "")),
            record=int(told.get("record", 0)),
            needs=dict(told.get("needs", {})),
            brought=Brought.from_json(told),
            is_out=bool(told.get("out")),
            release_digest=str(told.get("release_digest", "")),
            at=datetime.fromisoformat(told["at"]) if "at" in told else None,
        )


@frozen
class Entry:
    """One charge as recorded; ``id`` is the number of the record that reserved it.

    ``state`` is ``reserved`` or ``started`` while its release is running, or after it failed or
    crashed. ``hash`` and ``previous_hash`` are those of the reserving record. Times are in UTC.
    ``drawn_digest`` is of a result that perhaps nobody has seen: it never leaves. ``reviews`` are
    the approvals that its account required, and what was met. ``attempts`` are those that count;
    the secret sealed in ``run`` is that of the last one. ``windows`` are those of its account in
    which it counts; it is ``planned`` where it has taken a slot of the plan of its window.
    """

    id: int
    account: str
    policy_name: str
    policy_digest: str
    certificate_digest: str
    neighbours: Neighbours
    request: str
    run: Run
    state: State
    reserved_at: datetime
    committed_at: datetime | None
    release_name: str | None
    release_digest: str | None
    drawn_digest: str | None
    previous_hash: str
    hash: str
    reviews: tuple[StageReview, ...] = ()
    asked: Asked = field(kw_only=True, repr=False)
    attempts: int = 0
    windows: tuple[str, ...] = ("",)
    planned: bool = False

    @property
    def epsilon(self) -> Decimal:
        """ε, as the certificate says."""
        return self.asked.epsilon

    @property
    def delta(self) -> Decimal:
        """δ, as the certificate says."""
        return self.asked.delta

    @property
    def charged(self) -> Charge:
        """What its account was charged with."""
        return Charge(
            self.account, self.epsilon, self.delta, self.neighbours, self.policy_name,
            self.policy_digest, self.certificate_digest, event=self.asked.event,
            part=self.asked.part, request=self.request, run=self.run, windows=self.windows,
        )  # fmt: skip

    @property
    def can_draw(self) -> bool:
        """Whether it may be drawn, for the first time or once more: nobody has seen anything."""
        open_or_kept = self.state in {"reserved", "started", "kept"}
        return open_or_kept and self.only_digest is None and self.attempts < MOST_ATTEMPTS

    @property
    def only_digest(self) -> str | None:
        """The one digest that its release can have; None while nothing was drawn."""
        return self.release_digest or self.drawn_digest

    def may_be(self, release_digest: str) -> bool:
        """Whether a release of this digest can be the entry's."""
        return self.only_digest in {None, release_digest}

    @property
    def unit(self) -> str:
        """Of whom (ε, δ) is, as the certificate says: ``row``, or the column of a key."""
        return str(self.run.predicate.get("unit", "not recorded"))

    @property
    def is_unbounded(self) -> bool:
        """Whether it has no (ε, δ): a δ of 1 is met by everything."""
        return self.delta >= 1

    @property
    def is_out(self) -> bool:
        """Whether it was made before it was charged, without the approvals that were required."""
        return any(review.is_out for review in self.reviews)

    @property
    def is_open(self) -> bool:
        """Whether nobody has said yet what became of it."""
        return self.state in {"reserved", "started"}


@frozen
class Decision:
    """What somebody decided: by which record, when, by whom, and why."""

    record: int
    at: datetime
    by: str
    why: str


@frozen
class Settlement(Decision):
    """Somebody looked into what is wrong of a record or entry of this number."""

    of: int


@frozen
class Fault:
    """What is wrong with a record that a key of the project has signed: no release writes it.

    It says nothing against any other. A step that cannot follow and a review policy count for
    nothing; a charge or a limit counts, though nobody approved it. ``entry`` is the one that it is
    of, 0 for none. ``settled`` is who has looked into it, why it stays, and by which record; None
    where nobody has.
    """

    record: int
    entry: int
    what: str
    settled: Settlement | None

    @property
    def text(self) -> str:
        """A sentence."""
        return f"record {self.record} {self.what}"


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


_NAMES = ("account", "neighbours", "policy_name", "policy_digest", "certificate_digest", "request")


def reserve_payload(
    charge: Charge, review: StageReview | None = None, *, planned: bool = False
) -> dict[str, object]:
    """What a ``reserve`` record says of its charge: numbers as text, and the run.

    ``review`` is what its account required, and the approvals that were met; ``planned`` whether it
    takes a slot.
    """
    return {
        **({"review": review.to_json()} if review else {}),
        "windows": list(charge.windows),
        "planned": planned,
        **{name: getattr(charge, name) for name in _NAMES},
        "asked": charge.asked.to_json(),
        "source": dict(charge.source),
        "public": dict(charge.public),
        "units": {
            name: charge.units[name] for name in charge.source.values() if name in charge.units
        },
        "run": {each.name: getattr(charge.run, each.name) for each in fields(Run)},
    }


#: From which states a record of a kind may follow, and to which it leads; None: it stays.
_STEPS: Mapping[str, tuple[frozenset[State], State | None]] = {
    "approve": (frozenset({"reserved", "started", "committed", "kept"}), None),
    "start": (frozenset({"reserved", "started", "kept"}), "started"),
    "lapse": (frozenset({"started", "kept"}), None),
    "draw": (frozenset({"started", "kept"}), None),
    "commit": (frozenset({"started", "kept"}), "committed"),
    "cancel": (frozenset({"reserved"}), "cancelled"),
    "keep": (frozenset({"started"}), "kept"),
}
_OF_NO_ENTRY = frozenset(
    {"begin", "disown", "limit", "move", "plan", "rekey", "require", "revoke", "settle"}
)


def follows(kind: str, state: State) -> bool:
    """Whether a record of ``kind`` may settle an entry that is in ``state``.

    >>> follows("cancel", "reserved"), follows("cancel", "started")
    (True, False)
    """
    return state in _STEPS[kind][0]


@contextmanager
def reading(record: Record, where: str) -> Iterator[Any]:
    """What a record says, to be read; LedgerError where it is not what this version writes."""
    try:
        yield json.loads(record.payload)
    except (ArithmeticError, AssertionError, KeyError, TypeError, ValueError):
        raise LedgerError(
            f"{where}: record {record.seq}, of kind {record.kind!r}, cannot be read by this "
            "version of policy-engine; use the version that wrote it, or a newer one"
        ) from None


def entries_of(records: Iterable[Record], where: str) -> tuple[Entry, ...]:
    """The entries that records amount to, in the order they were reserved.

    Raises LedgerError for a record this version cannot read: to skip it could under-charge. One
    that no release writes, whoever has signed it, counts for nothing: see ``faults_of``.
    """
    return _replayed(records, where)[0]


def faults_of(records: Iterable[Record], where: str) -> tuple[Fault, ...]:
    """The records of entries that no release writes after those before them."""
    return _replayed(records, where)[1]


def _replayed(records: Iterable[Record], where: str) -> tuple[tuple[Entry, ...], tuple[Fault, ...]]:
    entries: dict[int, Entry] = {}
    faults: list[Fault] = []
    for record in records:
        if isinstance(record, Foreign):
            continue
        with reading(record, where) as told:
            if record.kind == "reserve":
                entries[record.seq] = _reserved(record, told)
            elif record.kind in _STEPS:
                entry = entries.get(record.entry)
                fault = _impossible(record.kind, entry, told)
                if entry is None or fault:
                    what = f"is a {record.kind!r} of entry {record.entry}, {fault}"
                    faults.append(
                        Fault(record.seq, record.entry, f"{what}: no command writes that", None)
                    )
                    continue
                entries[record.entry] = _settled(entry, record.kind, told)
            elif record.kind not in _OF_NO_ENTRY:
                raise ValueError(record.kind)
    return tuple(entries.values()), tuple(faults)


def settled(entry: Entry, record: Record) -> Entry:
    """What an entry is after a record that this version has just written of it."""
    return _settled(entry, record.kind, json.loads(record.payload))


def _reserved(record: Record, told: Mapping[str, Any]) -> Entry:
    names: dict[str, Any] = {name: told[name] for name in _NAMES}
    asked = Asked.from_json(told["asked"])
    Charge(**names, epsilon=asked.epsilon, delta=asked.delta)  # raises what is out of its domain
    if (names["account"], names["request"]) != (record.account, record.request):
        raise ValueError("account")
    return Entry(
        **names,
        asked=asked,
        id=record.seq,
        run=Run(**told["run"]),
        state="reserved",
        reserved_at=datetime.fromisoformat(told["at"]),
        committed_at=None,
        release_name=None,
        release_digest=None,
        drawn_digest=None,
        previous_hash=record.previous_hash,
        hash=record.hash,
        reviews=(StageReview.from_json(told["review"]),) if told.get("review") else (),
        windows=tuple(map(read_text, told["windows"])),
        planned=told["planned"] is True,
    )


def _impossible(kind: str, entry: Entry | None, told: Mapping[str, Any]) -> str:
    """What became of an entry before, after which no release writes such a record; else empty."""
    if entry is None:
        return "which there is not"
    if not follows(kind, entry.state):
        return f"which was {entry.state} before"
    if kind in {"draw", "commit"} and not entry.may_be(told["release_digest"]):
        return "of which other bytes were drawn before"
    if kind == "start":
        return _not_again(entry, told.get("sealed"))
    if kind == "lapse" and (entry.only_digest is not None or entry.attempts == 0):
        return "of which no attempt is under way"
    return ""


def _not_again(entry: Entry, sealed: Mapping[str, str] | None) -> str:
    """Why no attempt can begin with this secret; empty where one can."""
    if not entry.can_draw:
        return "which was drawn, or had all its attempts, before"
    is_used = sealed is None or (bool(sealed) and sealed == entry.run.sealed)
    if entry.state != "reserved" and is_used:
        return "under a secret that was used before"
    return ""


def _settled(entry: Entry, kind: str, told: Mapping[str, Any]) -> Entry:
    at = datetime.fromisoformat(told["at"])
    if kind == "start":
        run = entry.run
        if entry.state != "reserved":
            run = replace(run, sealed=told["sealed"])
        return replace(entry, run=run, state="started", attempts=entry.attempts + 1)
    if kind == "lapse":
        return replace(entry, attempts=entry.attempts - 1)
    if kind == "approve":
        return replace(entry, reviews=(*entry.reviews, StageReview.from_json(told)))
    if kind == "draw":
        return replace(entry, drawn_digest=told["release_digest"])
    entry = replace(entry, state=_STEPS[kind][1] or entry.state)
    if kind != "commit":
        return entry
    name, digest = told["release_name"], told["release_digest"]
    return replace(entry, committed_at=at, release_name=name, release_digest=digest)
