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
from dataclasses import field, replace
from datetime import datetime
from typing import Literal

from policy_engine.attest.approvals import Brought
from policy_engine.attest.sealing import seal, secret_of_parts
from policy_engine.attest.validity import moment
from policy_engine.compile.catalog import Table
from policy_engine.compile.joining import with_beside
from policy_engine.dbt.desk import Desk, Told
from policy_engine.dbt.editions import (
    after_git_edition,
    own_places,
    own_values,
    with_git_edition,
)
from policy_engine.dbt.manifest import mapping
from policy_engine.dbt.release_model import check_filled
from policy_engine.dbt.releases import (
    DbtRelease,
    Texts,
    Unlike,
    known_tables,
    named,
    print_of,
    printed_for,
    published_as,
    sources_in,
)
from policy_engine.dbt.sources import of_manifest
from policy_engine.dbt.texts import plain, secrets_read, text_md5
from policy_engine.errors import (
    BudgetExceeded,
    NotApproved,
    NotCertifiable,
    NotReleasable,
    PolicyError,
    WarehouseError,
)
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import Edition
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.reading import located, refused
from policy_engine.policy.resolve import terms_of
from policy_engine.releasing.beginning import certificates_of, check_remembers, ledger_writer
from policy_engine.releasing.books import (
    check_new_name,
    naming_key,
    open_ledger,
    sealing_key,
    secret_of,
    trusted_keys,
)  # fmt: skip
from policy_engine.releasing.charging import Payer, charge_of
from policy_engine.releasing.editions import (
    Schedule,
    at_moment,
    in_edition,
    in_plan,
    known_books,
    schedule_at,
)
from policy_engine.releasing.planning import certified as certificate_of
from policy_engine.releasing.planning import check_chosen, tables_read
from policy_engine.releasing.requests import (
    SourceNames,
    name_of_place,
    new_run,
    part_of,
    source_of_places,
    units_of,
    units_written,
)
from policy_engine.releasing.reviewing import (
    brought_at,
    change_file,
    check_pinned,
    request_file,
)
from policy_engine.releasing.together import AskedCharge, check_together
from policy_engine.values import frozen
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.waiting import WaitingSecrets, waiting_secrets

Paid = Literal["nothing", "not started", "waits", "gone", "another text", "seen"]
"""What the last entry of a release that does not stand has paid for.

A crash came before a secret that is ``not started`` could be read. The last three were charged, and
are charged anew only when somebody asks for that.
"""
_CHARGED: Mapping[Paid, str] = {
    "gone": "entry {} paid for a table that is gone",
    "another text": "entry {} paid for another text or policy, which dbt has not built",
    "seen": "entry {} paid for a draw that may have been seen, and no table stands",
}
_ONE_TEXT = (
    "all release targets have one text, with the numbers of the oldest edition that one of them"
    " lacks: run 'policy-engine dbt sync', and if that changes nothing, release first in the target"
    " whose edition is older ('policy-engine dbt status' says it), or take it out of"
    " dbt.release_targets"
)
_PASSED = "its period has passed, and dbt has not built it: another edition is drawn now"
OTHER_POLICY = (
    "its policy was changed since it was released, and a release never changes: what the project"
    " says of it now is not true of the table that stands. Put the policy back, and release the"
    " change as the next version"
)


def reserve(
    desk: Desk,
    releases: Texts,
    *,
    fresh: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Told, ...]:
    """Reserve every release that does not stand; each comes with its compiled text.

    Of a release with a calendar it is the oldest edition that is due. All are looked at and
    certified, and every account is asked for all that it is to pay, before the first is charged.
    What was charged before, and would be drawn once more, is charged anew if ``fresh``. ``say`` is
    told of a ledger that begins.

    Raises:
        PolicyError, NotCertifiable: a release cannot be certified; none was charged.
        NotReleasable: one stands otherwise than it was released, or was charged before.
        BudgetExceeded: an account cannot pay for all; none was charged, unless another run spent
            meanwhile what was there.
        LedgerError, WarehouseError, FileError: as it says.
    """
    known = known_books(desk.project)
    dated = dated_releases(desk, known, releases)
    due = tuple(each for each in dated if each.is_due)
    for each in due:
        _check_source(desk, each.release)
    _refuse(
        f"{each.release.id}: {OTHER_POLICY}" if is_outdated(each.release, each.last) else ""
        for each in dated
    )
    found = {each.release.id: each.told for each in dated}
    ready = tuple((each.release, *each.certified(desk)) for each in due)
    if ready:
        places = [release.certificate for release, *_ in ready]
        signer = ledger_writer(desk.project, moment(ready[0][1].time), places)
        with open_ledger(desk.project, signer, say=say) as ledger:
            kept = certificates_of(desk.project, *places)
            check_remembers(ledger.read(), kept, trusted_keys(desk.project, signer))
            bookings = [
                Booking(desk, ledger, release, certificate, own=own)
                for release, certificate, own in ready
            ]
            if not fresh:
                _refuse(each.refused_again() for each in bookings)
            for booking in bookings:
                booking.check_approved()
            check_together(asked for each in bookings if (asked := each.asked()) is not None)
            for booking in bookings:
                booking.check_builds()
            found |= {booking.release.id: booking.run() for booking in bookings}
            # The secret of an edition that nobody draws any more has left with that of this one.
            for entry in (e for each in due if each.schedule for e in each.schedule.settled):
                ledger.keep(entry.id, _PASSED)
    return tuple(found[release.id] for release, _ in releases)


@frozen
class Dated:
    """A release with the text that dbt compiled of it, and what its calendar says, if it has one.

    With a calendar it is as the oldest edition that is due, where one is; without one ``last``
    paid for what is read.
    """

    release: DbtRelease
    text: str
    schedule: Schedule | None = None
    last: Entry | None = None

    @property
    def is_due(self) -> bool:
        """Whether it is to be drawn."""
        return bool(self.schedule.due) if self.schedule is not None else self.last is None

    @property
    def told(self) -> Told:
        """What is told of it where it is not."""
        if self.schedule is None:
            return Told(self.release, "stands", self.last)
        return Told(self.release, "not due", self.schedule.last, schedule=self.schedule)

    def certified(self, desk: Desk) -> tuple[Certificate, tuple[str, ...]]:
        """Its certificate, and what waits with its secret: its edition, and what that has of its
        own in the text. What dbt compiles is the print of the edition in git.

        Raises as ``certified``.
        """
        release, text = self.release, self.text
        if self.schedule is None:
            return certified(desk, release, text), ("once",)
        first, second = (
            replace(release, written=of(release.written))
            for of in (with_git_edition, after_git_edition)
        )
        certified(desk, first, text)
        one, other, own = (
            print_of(each, _table(desk, each), desk.warehouse.dialect, text)[1]
            for each in (first, second, release)
        )
        values = own_values(own_places(one, other), own)
        return certified(desk, release, own), (release.written.edition.name, *values)


def dated_releases(desk: Desk, known: Books | None, releases: Texts) -> tuple[Dated, ...]:
    """Releases as what is due of them, by their calendars and the ledger."""
    at = at_moment(known)
    return tuple(dated(desk, known, release, text, at) for release, text in releases)


def dated(desk: Desk, known: Books | None, release: DbtRelease, text: str, at: datetime) -> Dated:
    """A release as what is due of it at a moment."""
    policy = release.written
    if policy.schedule is None:
        release = replace(release, written=in_plan(policy, desk.project, known, Edition(), at))
        entries = paid_for(desk, release, known)
        stand = (
            e for e in entries if e.state == "committed" and desk.shows(release, e.only_digest)
        )
        is_asked = any(entry.is_open for entry in entries)
        return Dated(release, text, last=None if is_asked else next(stand, None))
    found = schedule_at(policy, desk.project, known, at, into=release.relation)
    if found.due:
        policy = in_edition(policy, desk.project, known, found.due[0], at)
    return Dated(replace(release, written=policy), text, found)


def paid_for(desk: Desk, release: DbtRelease, known: Books | None) -> list[Entry]:
    """The entries of a release without a calendar, or of one edition, in the ledger's order."""
    entries = () if known is None else known.budget.at(desk.place(release))
    return [entry for entry in entries if entry.state != "cancelled"]


def _check_source(desk: Desk, release: DbtRelease) -> None:
    """That the release can be drawn and looked at here, before anything is charged."""
    check_chosen(release.policy)
    columns = mapping(release.model.data, "columns").values()
    within = (column.get("constraints") for column in columns if isinstance(column, Mapping))
    if release.model.data.get("constraints") or any(within):
        raise NotReleasable(
            f"{release.id}: {release.model.file} has constraints, and the error of one that fails"
            " quotes a row of a draw that is then taken back: write generic tests instead"
        )
    for parts in (*release.reads, release.parts, release.shown_parts):
        if not desk.is_reached(parts):
            raise WarehouseError(
                f"{release.id}: {'.'.join(parts)} is in a database that the profile attaches, and"
                " policy-engine opens the profile's own alone: move it there"
            )
    if why := desk.other_shown(release):
        raise NotReleasable(
            f"{release.told}: {why}. Drop it, if nothing was released there; else release what has"
            f" other columns as the next version, version: {release.written.release.version + 1}"
        )
    source = of_manifest(release.nodes[0])
    if source is not None and not desk.stands(release.reads[0]):
        check_filled(release.written, source)
    for (key, _), node, parts in zip(
        sources_in(release.policy), release.nodes, release.reads, strict=True
    ):
        if node.materialized == "view" and not desk.stands(parts):
            law = f"{key} is a view that does not exist yet, so nothing is charged for it"
            remedy = (
                "what a view reads decides what can be certified: materialize it as a table, or"
                f" run 'dbt run --select +{node.name} --target {release.target}' first"
            )
            raise refused(release.policy.file, key, law, remedy)


def _refuse(reasons: Iterable[str]) -> None:
    if said := "\n".join(filter(None, reasons)):
        raise NotReleasable(said)


def is_outdated(release: DbtRelease, entry: Entry | None) -> bool:
    """Whether the policy of a release was changed since it was charged."""
    return entry is not None and entry.policy_digest != release.policy.digest


def certified(desk: Desk, release: DbtRelease, text: str) -> Certificate:
    """The certificate of a text that dbt compiled, by what is known of its source.

    Raises:
        PolicyError: the policy names no account, or does not fit its source.
        NotCertifiable: the text is not what is printed for the policy.
    """
    policy, warehouse = release.policy, desk.warehouse
    dialect = warehouse.dialect
    if not policy.declared_budget:
        law = "account must name the account that pays: in dbt the source is made of other tables"
        raise refused(policy.file, "account", law, "as in account: people")
    table = _table(desk, release)
    try:
        claim, query = printed_for(release, table, dialect, text)
        if plain(text) != plain(query):
            raise Unlike(release, "it has other comments or blanks")
        terms = terms_of(policy, published_as(policy), warehouse.engine_version, warehouse.settings)
        return certificate_of(query, claim, dialect.name, terms)
    except PolicyError as error:
        raise PolicyError(located(error.problems, policy.file)) from None
    except NotCertifiable as error:
        error.add_note(f"{release.model.file}, as dbt compiles it in the target {release.target}")
        follows, targets = policy.follows, desk.project.dbt.release_targets
        if follows is not None and follows.planned and len(targets) > 1:
            error.add_note(_ONE_TEXT)
        raise


def _table(desk: Desk, release: DbtRelease) -> Table:
    """What a release reads, as the warehouse has it, else as the project declares it."""
    known = known_tables(release, desk.warehouse.dialect)
    own, *beside = (
        replace(found or declared, parts=parts)
        for found, declared, parts in zip(desk.sources(release), known, release.reads, strict=True)
    )
    table = with_beside(release.policy.source, own, beside)
    tables_read(release.policy, table)
    return table


@frozen
class Booking:
    """One release that is due; ``certificate`` is None where no text of it can be certified.

    ``own`` is what waits with its secret: its edition, and what of the text is that one's.
    """

    desk: Desk
    ledger: Ledger
    release: DbtRelease
    certificate: Certificate | None
    own: tuple[str, ...] = field(default=(), kw_only=True)

    def _last(self) -> tuple[Paid, Entry | None]:
        """What its last entry has paid for; and that, where it has paid for anything."""
        last = self.ledger.read().budget.last_at(self.desk.place(self.release))
        if last is None or last.state == "cancelled":
            return "nothing", None
        return self._paid(last), last

    def unstarted(self) -> Entry | None:
        """The entry that has paid for just this, of which nothing ran; None where there is none."""
        paid, last = self._last()
        return last if paid == "not started" else None

    @property
    def payer(self) -> Payer:
        """The account that pays, by the project file."""
        return Payer(self.release.written, self.desk.project, self.release.policy.budget)

    def _paid(self, last: Entry) -> Paid:
        is_this = last.run.of == self._of
        if last.state == "reserved" and is_this:
            return "not started"
        if last.only_digest is not None:
            return "gone"
        with self._secrets() as secrets:
            query = last.run.query if last.run.of else ""
            waits = secrets.waits(self.release.id, text_md5(query))
        if waits and is_this and last.state == "started":
            return "waits"
        return "another text" if waits else "seen"

    def refused_again(self) -> str:
        """Why it is not charged; empty where it is, or has been and waits."""
        paid, last = self._last()
        if last is None or paid not in _CHARGED:
            return ""
        return (
            f"{self.release.told}: {_CHARGED[paid].format(last.id)}. A second draw is another"
            " release, at a price of its own: to pay for it, run 'policy-engine dbt reserve"
            " --fresh'. Nothing was charged"
        )

    def check_approved(self) -> None:
        """NotApproved where its account requires approvals that are not there; writes nothing."""
        account, books = self.release.policy.budget, self.ledger.read()
        check_pinned(self.desk.project, books, account)
        required = books.approvals.required(account)
        if required is not None and required.needs("release"):
            raise NotApproved(
                f"{self.release.id}: account {account!r} requires approvals of what came out before"
                " it stands, and 'policy-engine dbt attest' puts into its place what it signs for,"
                " and waits for nobody: ask for approvals of the claim alone in the review policy."
                " Nothing was charged"
            )
        paid, last = self._last()
        if last is not None and paid == "not started":
            self.ledger.approve(last.id, self.brought)
        elif paid != "waits":
            books.check_reviewed(self.charge())

    def asked(self) -> AskedCharge | None:
        """What its account is to pay; None where it has paid."""
        if self._last()[0] in {"waits", "not started"}:
            return None
        charge, books, refusal = self.charge(), self.ledger.read(), ""
        account = self.payer.account_in(books)
        try:
            check_new_name(books, self.desk.project, charge.account)
            books.sources.check(charge)
            account = books.paying(charge, self.payer.limit, self.payer.window_plan)
        except BudgetExceeded as error:
            refusal = str(error)
        place = str(self.desk.project.ledger)
        return AskedCharge(place, account, charge, refusal)

    def check_builds(self) -> None:
        """WarehouseError where dbt lacks a right to build it; a right on its source if that stands.

        The secrets relation, which its text reads, is made.
        """
        assert self.certificate is not None
        with self._secrets() as secrets:
            secrets.make()
        desk, release = self.desk, self.release
        table = _table(desk, release) if all(map(desk.stands, release.reads)) else None
        desk.warehouse.check_dbt_builds(release.policy, table, self.certificate.query)

    def run(self) -> Told:
        """Charge it and let its secret wait; what waits already is not charged again."""
        paid, last = self._last()
        if paid == "waits":
            return Told(self.release, "waits", last)
        with self._secrets() as secrets:
            secrets.make()  # what cannot be done is not charged
            if last is not None and paid == "not started":
                entry = self.ledger.start(last.id, self.brought)
            else:
                check_new_name(self.ledger.read(), self.desk.project, self.release.policy.budget)
                charge = self.charge()
                known = self.ledger.books.budget.last_at(charge.request)
                paid_now = self.ledger.reserve(
                    charge,
                    self.payer.limit,
                    after=0 if known is None else known.id,
                    solve=self.payer.window_plan,
                    brought=brought_at(
                        change_file(self.release.policy.budget, "plan", self.desk.project)
                    ),
                )
                if paid_now.run.mark != charge.run.mark:
                    raise NotReleasable(
                        f"{self.release.told}: entry {paid_now.id} was charged for it meanwhile, by"
                        " another run: run the command again"
                    )
                entry = self.ledger.start(paid_now.id)
            run = entry.run
            # An engine that draws by itself needs no secret, but it does need leave to draw once.
            secret = secret_of(run, self.desk.project, self.ledger) if run.sealed else b""
            secrets.put(self.release.id, secret, text_md5(run.query), self.own)
        return Told(self.release, "reserved", entry)

    def charge(self) -> Charge:
        """What its account is asked for: its guarantee, where no text of it can be certified."""
        desk, policy, certificate = self.desk, self.release.policy, self.certificate
        sealing = sealing_key(desk.project, self.ledger)
        naming = naming_key(desk.project, self.ledger)
        # The source's content is not named: dbt may make it anew first.
        where, *others = (
            name_of_place(policy, desk.project, desk.named, desk.name(parts), naming)
            for parts in self.release.reads
        )
        beside = [*zip(policy.source.joins, others, strict=True)]
        people = (where, *(name for join, name in beside if not join.is_public))
        place = desk.place(self.release)
        whose = units_written(policy) if certificate is None else units_of(certificate.claim)
        names = SourceNames(
            source_of_places(people, naming),
            units=dict(zip(people, whose, strict=True)),
            public={join.name: name for join, name in beside if join.is_public},
            part=None if certificate is None else part_of(certificate, where, naming),
            key_stays=policy.source.key_stays,
        )
        if certificate is None:
            charge = Charge(
                account=policy.budget,
                epsilon=policy.guarantee.epsilon,
                delta=policy.guarantee.delta,
                neighbours=policy.guarantee.neighbours,
                policy_name=policy.name,
                policy_digest=policy.digest,
                certificate_digest="",
                unit=policy.source.key or "row",
                request=place,
            )
            return self.payer.counted(names.named(charge), None, self.ledger.read())
        of, ends, secret = self._of, desk.ends(self.release), new_secret()
        if names.part is not None:
            secret = secret_of_parts(names.part[0], naming) + secret
        charge = charge_of(policy.budget, certificate, policy)
        return replace(
            names.named(self.payer.counted(charge, certificate, self.ledger.read())),
            request=place,
            part=names.charged_part,
            run=new_run(of, ends, certificate, seal(secret, of, [sealing.public_key()])),
            brought=self.brought,
        )

    @property
    def brought(self) -> Brought:
        """The approvals of its claim, which stand beside its certificate."""
        return brought_at(request_file(self.release.certificate, "claim"))

    @property
    def _of(self) -> str:
        """What is asked for; dbt may make the source anew first, so its state is not in it."""
        assert self.certificate is not None
        parts = [self.release.policy.digest, self.certificate.query, self.release.relation]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _secrets(self) -> AbstractContextManager[WaitingSecrets]:
        assert self.certificate is not None
        return secrets_of(self.desk, self.certificate.query)


def secrets_of(desk: Desk, text: str) -> AbstractContextManager[WaitingSecrets]:
    """The secrets relation that a text reads.

    Raises WarehouseError: it reads none, or none can be written to.
    """
    name = named(secrets_read(text), desk.warehouse.dialect.name)
    wanted = desk.project.dbt.secrets
    if [part.lower() for part in name[-1:]] != [wanted.lower().rpartition(".")[-1]]:
        raise WarehouseError(f"the model reads no secrets relation {wanted}; sync it anew")
    return waiting_secrets(desk.named, desk.warehouse, name)
