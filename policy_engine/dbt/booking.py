"""Reserving a release that dbt will make: certified, charged, its secret put where dbt reads it.

The text is the one that dbt compiled, so it is compiled first. The charge is durable, and the entry
started, before the secret can be read: from then on dbt may draw the sample at any time. A secret
serves one draw: what is drawn a second time is a second release, with a secret and a price of its
own, and nobody pays for one by mistake.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal, TypeGuard

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.approvals import Brought
from policy_engine.attest.keys import key_id
from policy_engine.attest.sealing import load_reviewer_key, seal, unseal
from policy_engine.attest.validity import moment
from policy_engine.compile.catalog import Table
from policy_engine.dbt.approving import check_can_wait
from policy_engine.dbt.desk import Desk
from policy_engine.dbt.manifest import Node
from policy_engine.dbt.printed import Unlike, known_table, named, printed_for
from policy_engine.dbt.releases import DbtRelease
from policy_engine.dbt.shape import other_shape
from policy_engine.dbt.texts import plain, secrets_read, text_md5
from policy_engine.errors import (
    BudgetExceeded,
    NotCertifiable,
    NotReleasable,
    PolicyError,
    WarehouseError,
)
from policy_engine.kernel.certificate import ROWS, Certificate
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.states import NAMED_BY
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.reading import located, refused
from policy_engine.policy.resolve import Policy, terms_of
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.below import table_read
from policy_engine.releasing.books import (
    has_ledger,
    limit_of,
    named_otherwise,
    naming_key,
    open_ledger,
    sealing_key,
)  # fmt: skip
from policy_engine.releasing.charging import charge_of
from policy_engine.releasing.planning import certified as certificate_of
from policy_engine.releasing.requests import Ends, Request, Run, name_of_place, place_of
from policy_engine.releasing.reviewing import brought_at, request_file
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.waiting import WaitingSecrets, waiting_secrets

Outcome = Literal["reserved", "waits", "stands"]


@dataclass(frozen=True)
class Reserved:
    """What became of a release: ``entry`` is None where it stands, and nothing had to be paid."""

    release: DbtRelease
    outcome: Outcome
    certificate: Certificate | None
    entry: Entry | None


def reserve(
    desk: Desk,
    releases: tuple[tuple[DbtRelease, str], ...],
    *,
    fresh: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Reserved, ...]:
    """Reserve every release that does not stand; each comes with its compiled text.

    All are looked at and certified before the first is charged. What was charged before, and would
    be drawn once more, is charged anew if ``fresh``. ``say`` is told of a ledger that begins.

    Raises:
        PolicyError, NotCertifiable: a release cannot be certified; none was charged.
        NotReleasable: one stands otherwise than it was released, or was charged before.
        BudgetExceeded: an account cannot pay; those before it are reserved.
        LedgerError, WarehouseError, FileError: as it says.
    """
    standing = tuple(release for release, _ in releases if desk.stands(release.parts))
    due = tuple((each, text) for each, text in releases if each not in standing)
    for release, _ in due:
        _check_source(desk, release)
    _check_standing(desk, standing)
    found = [Reserved(release, "stands", None, None) for release in standing]
    ready = tuple((release, certified(desk, release, text)) for release, text in due)
    if ready:
        places = [release.certificate for release, _ in ready]
        signer = ledger_writer(desk.project, moment(ready[0][1].time), places)
        with open_ledger(desk.project, signer, say=say) as ledger:
            bookings = [Booking(desk, ledger, *each) for each in ready]
            if not fresh:
                _refuse(_CHARGED.format(b.release.id, why) for b in bookings if (why := b.past()))
            for booking in bookings:
                booking.check_approved()
            found += [booking.run() for booking in bookings]
    order = {release.id: number for number, (release, _) in enumerate(releases)}
    return tuple(sorted(found, key=lambda each: order[each.release.id]))


def _check_source(desk: Desk, release: DbtRelease) -> None:
    """That the release can be drawn and looked at here, before anything is charged."""
    if _has_constraints(release.model):
        raise NotReleasable(
            f"{release.id}: {release.model.file} has constraints, and the error of one that fails"
            " quotes a row of a draw that is then taken back: write generic tests instead"
        )
    for parts in (release.reads, release.parts):
        if not desk.is_reached(parts):
            raise WarehouseError(
                f"{release.id}: {'.'.join(parts)} is in a database that the profile attaches, and"
                " policy-engine opens the profile's own alone: move it there"
            )
    if release.source.materialized == "view" and not desk.stands(release.reads):
        law = "source.relation must stand before a release of it is charged, if it is a view"
        remedy = (
            "what a view reads decides what can be certified: materialize it as a table, or run"
            f" 'dbt run --select +{release.source.name} --target {release.target}' first"
        )
        raise refused(release.policy.file, "source.relation", law, remedy)


def _has_constraints(model: Node) -> bool:
    columns = model.data.get("columns")
    each = columns.values() if isinstance(columns, Mapping) else ()
    within = (column.get("constraints") for column in each if isinstance(column, Mapping))
    return bool(model.data.get("constraints")) or any(within)


def _check_standing(desk: Desk, standing: tuple[DbtRelease, ...]) -> None:
    """That what stands is what was released, as far as the ledger tells."""
    shapes = ((each.id, other_shape(desk, each)) for each in standing)
    _refuse(f"{name}: {why}. Drop it" for name, why in shapes if why)
    if not standing or not has_ledger(desk.project):
        return
    with open_ledger(desk.project) as ledger:
        _refuse(
            f"{release.id}: {OTHER_POLICY}"
            for release in standing
            if is_outdated(release, last_of(desk.project, ledger, release))
        )


def _refuse(reasons: Iterable[str]) -> None:
    if said := "\n".join(reasons):
        raise NotReleasable(said)


def last_of(project: Project, ledger: Ledger, release: DbtRelease) -> Entry | None:
    """The entry that was charged last for a release; None where none was."""
    return ledger.last_at(place(project, release))


def place(project: Project, release: DbtRelease) -> str:
    """What all releases of one table have in common, whatever their policy is called."""
    named = replace(release.policy, name=release.id)
    return place_of(named, ends_of(project, release))


def is_outdated(release: DbtRelease, entry: Entry | None) -> bool:
    """Whether the policy of a release was changed since it was charged."""
    return entry is not None and entry.policy_digest != release.policy.digest


OTHER_POLICY = (
    "its policy was changed since it was released, and a release never changes: what the project"
    " says of it now is not true of the table that stands. Put the policy back, and release the"
    " change as the next version"
)
_CHARGED = (
    "{}: {}. Drawn once more it is another release, at a price of its own: to pay for it, run"
    " 'policy-engine dbt reserve --fresh'. Nothing was charged"
)


def certified(desk: Desk, release: DbtRelease, text: str) -> Certificate:
    """The certificate of a text that dbt compiled, by what is known of its source.

    Raises:
        PolicyError: the policy names no account, or does not fit its source.
        NotCertifiable: the text is not what is printed for the policy.
    """
    policy = release.policy
    if not policy.declared_budget:
        law = "budget must name the account that pays: in dbt the source is made of other tables"
        raise refused(policy.file, "budget", law, "as in budget: people")
    warehouse, table = desk.warehouse, source_table(desk, release)
    if table is not None:
        table_read(policy, table, warehouse.dialect.name)
    table = replace(table or known_table(release, warehouse.dialect), parts=release.reads)
    try:
        claim, query = printed_for(release, table, warehouse.dialect, text)
        if plain(text) != plain(query):
            raise Unlike(release, "it has other comments or blanks")
        terms = terms_of(policy, ROWS, warehouse.engine_version)
        return certificate_of(query, claim, warehouse.dialect.name, terms)
    except PolicyError as error:
        raise PolicyError(located(error.problems, policy.file)) from None
    except NotCertifiable as error:
        error.add_note(f"{release.model.file}, as dbt compiles it in the target {release.target}")
        raise


def source_table(desk: Desk, release: DbtRelease) -> Table | None:
    """The source as the warehouse has it; None where dbt has not made it yet."""
    if not desk.stands(release.reads):
        return None
    return desk.table(release.policy, release.reads)


def ends_of(project: Project, release: DbtRelease) -> Ends:
    """Where a release and its certificate stand."""
    return Ends.of_table(release.relation, release.certificate, project.directory)


@dataclass(frozen=True)
class Booking:
    """One release that is due, and certified."""

    desk: Desk
    ledger: Ledger
    release: DbtRelease
    certificate: Certificate | None

    def run(self) -> Reserved:
        """Charge it and let its secret wait; what waits already is not charged again."""
        assert self.certificate is not None
        with secrets_of(self.desk, self.certificate.query) as secrets:
            last = self._last
            if last is not None and self._waits(secrets, last):
                return Reserved(self.release, "waits", self.certificate, last)
            secrets.make()  # what cannot be done is not charged
            entry = self._started(last) if self._never_ran(last) else self._charged()
            self._put(secrets, entry)
        return Reserved(self.release, "reserved", self.certificate, entry)

    def check_approved(self) -> None:
        """NotApproved where its account requires approvals that are not there; writes nothing."""
        check_can_wait(self.desk, self.ledger, self.release)
        last = self._last
        if self._never_ran(last):
            self.ledger.approve(last.id, self._brought)
            return
        assert self.certificate is not None
        with secrets_of(self.desk, self.certificate.query) as secrets:
            waits = last is not None and self._waits(secrets, last)
        if not waits:
            self.ledger.check_reviewed(self.charge())

    @property
    def _brought(self) -> Brought:
        return brought_at(request_file(self.release.certificate, "claim"))

    def _started(self, entry: Entry) -> Entry:
        return self.ledger.start(entry.id, self._brought)

    def past(self) -> str:
        """What became of it when it was charged before; empty where nothing was, or it waits."""
        assert self.certificate is not None
        last = self._last
        if last is None or last.state == "cancelled" or self._never_ran(last):
            return ""
        with secrets_of(self.desk, self.certificate.query) as secrets:
            if self._waits(secrets, last):
                return ""
            if last.only_digest is not None:
                return _GONE.format(last.id)
            waits = secrets.waits(self.release.id, text_md5(Run.of_entry(last).query))
            return (_OTHER_TEXT if waits else _MAY_BE_SEEN).format(last.id)

    @property
    def _last(self) -> Entry | None:
        return last_of(self.desk.project, self.ledger, self.release)

    def _waits(self, secrets: WaitingSecrets, last: Entry) -> bool:
        if last.state != "started" or last.run.get("of") != self._of or last.only_digest:
            return False
        return secrets.waits(self.release.id, text_md5(Run.of_entry(last).query))

    def _never_ran(self, last: Entry | None) -> TypeGuard[Entry]:
        """Whether it is paid for, and a crash came before its secret could be read."""
        return last is not None and last.state == "reserved" and last.run.get("of") == self._of

    def _charged(self) -> Entry:
        project, account = self.desk.project, self.release.policy.budget
        limit = limit_of(self.release.written, project, account)
        if twin := named_otherwise(self.ledger, project, account):
            raise BudgetExceeded(twin)
        return self.ledger.start(self.ledger.reserve(self.charge(), limit, anew=True).entry.id)

    def charge(self) -> Charge:
        """What its account is asked for: its guarantee, where no text of it can be certified."""
        release, ends = self.release, ends_of(self.desk.project, self.release)
        sealing = sealing_key(self.desk.project, self.ledger)
        # Its content is not named: dbt may make it anew first.
        naming = naming_key(self.desk.project, self.ledger)
        named_by = key_id(naming.public_key())
        source = {"place": self._source_place(naming), NAMED_BY: named_by}
        if self.certificate is None:
            return replace(guarantee_of(release.policy), request=self._place, source=source)
        request = Request(self._place, self._of, ends)
        keys = [sealing.public_key()]
        keys += map(load_reviewer_key, self.desk.project.reviewers)
        sealed = seal(new_secret(), request.of, keys) if release.policy.method == "keyed" else {}
        run = Run.new(request, self.certificate, sealed)
        charge = charge_of(release.policy.budget, self.certificate, release.policy)
        return replace(
            charge,
            request=request.place,
            run=run.to_json(),
            source=source,
            brought=self._brought,
        )

    def _source_place(self, naming: X25519PrivateKey) -> str:
        desk, release = self.desk, self.release
        table, read = source_table(desk, release), release.reads[-desk.depth :]
        if table is not None and self.certificate is not None:
            read = table_read(release.policy, table, self.certificate.dialect)
        return name_of_place(release.policy, desk.project, desk.named, read, naming)

    @property
    def _place(self) -> str:
        return place(self.desk.project, self.release)

    @property
    def _of(self) -> str:
        """What is asked for; dbt may make the source anew first, so its state is not in it."""
        assert self.certificate is not None
        parts = [self.release.policy.digest, self.certificate.query, self.release.relation]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _put(self, secrets: WaitingSecrets, entry: Entry) -> None:
        run = Run.of_entry(entry)
        # An engine that draws by itself needs no secret, but it does need leave to draw once.
        secret = b""
        if run.sealed:
            secret = unseal(run.sealed, run.of, sealing_key(self.desk.project, self.ledger))
        secrets.put(self.release.id, secret, text_md5(run.query))


def guarantee_of(policy: Policy) -> Charge:
    """The charge for a release of which no text is known: what its policy promises."""
    return Charge(
        account=policy.budget,
        epsilon=policy.guarantee.epsilon,
        delta=policy.guarantee.delta,
        neighbours=policy.guarantee.neighbours,
        policy_name=policy.name,
        policy_digest=policy.digest,
        certificate_digest="",
        unit=policy.source.key or "row",
    )


def secrets_of(desk: Desk, text: str) -> AbstractContextManager[WaitingSecrets]:
    """The secrets relation that a text reads.

    Raises:
        WarehouseError: it reads none, or none can be written to.
    """
    name = named(secrets_read(text), desk.warehouse.dialect.name)
    if [part.lower() for part in name[-1:]] != [desk.secrets.lower().rpartition(".")[-1]]:
        raise WarehouseError(f"the model reads no secrets relation {desk.secrets}; sync it anew")
    return waiting_secrets(desk.named, desk.warehouse, name)


_GONE = "entry {} paid for a table that is gone"
_OTHER_TEXT = "entry {} paid for another text or policy, which dbt has not built"
_MAY_BE_SEEN = "entry {} paid for a draw that may have been seen, and no table stands"
