"""Attesting what dbt has made: the text that ran, the table that stands, the charge for it.

A table is signed for only if running its certified text once more, under the secret that it was
reserved with, gives the same rows. What stands and was not reserved is charged all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.attest.rows import TableRows
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import written
from policy_engine.calendars import Period
from policy_engine.dbt.booking import (
    OTHER_POLICY,
    Booking,
    certified,
    dated,
    is_outdated,
    paid_for,
    secrets_of,
)
from policy_engine.dbt.desk import Desk, Outcome, Told
from policy_engine.dbt.editions import with_git_edition
from policy_engine.dbt.releases import DbtRelease, Texts
from policy_engine.dbt.texts import text_md5
from policy_engine.errors import (
    FileError,
    NotApproved,
    NotCertifiable,
    PolicyError,
    VerificationFailed,
    WarehouseError,
)
from policy_engine.kernel.editions import Edition
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Entry, Run
from policy_engine.ledger.store import Ledger
from policy_engine.opening import text_in
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import begun_ledger, open_ledger, secret_of, trusted_keys
from policy_engine.releasing.editions import (
    Schedule,
    at_moment,
    entries_of,
    in_edition,
    in_plan,
    known_books,
    utc_now,
)
from policy_engine.releasing.naming import edition_of
from policy_engine.releasing.publish import other_bytes, write_certificate
from policy_engine.releasing.standing import certifies, digest_of_lines
from policy_engine.values import frozen
from policy_engine.warehouse.base import EDITION, Transactional
from policy_engine.warehouse.quoting import literal, quoted

NOTED = "policy_engine_editions"
"""The table that says since when which edition is certified: what dbt tests can read."""


def attest(desk: Desk, releases: Texts) -> tuple[Told, ...]:
    """Attest every release that stands; each comes with the text that dbt compiled of it.

    Raises LedgerError, WarehouseError, FileError: as it says; what was attested before stays so.
    """
    if not any(desk.stands(release.parts) for release, _ in releases):
        known = known_books(desk.project)
        return tuple(_undrawn(desk, release, known) for release, _ in releases)
    signer = ledger_writer(desk.project)
    with open_ledger(desk.project, signer) as ledger:
        return tuple(_case(desk, ledger, each, signer, text) for each, text in releases)


def attest_left(desk: Desk, releases: Texts) -> tuple[Told, ...]:
    """Attest the editions that an earlier run has built, and did not attest: before more is built.

    Raises as ``attest``.
    """
    known = known_books(desk.project)
    return attest(desk, tuple(each for each in releases if _is_left(desk, each[0], known)))


def _is_left(desk: Desk, release: DbtRelease, known: Books | None) -> bool:
    """Whether what was drawn last may be somewhere else than where it is read."""
    last = _last(_editions(desk, release, known))
    if last is None or last.is_open:
        return True
    shown = _in_edition(desk, release, known, last)
    return last.state == "committed" and not desk.shows(shown, last.only_digest)


def _case(desk: Desk, ledger: Ledger, release: DbtRelease, signer: Signer, text: str) -> Told:
    known = ledger.read()
    entries = _editions(desk, release, known)
    release = _in_edition(desk, release, known, _last(entries))
    return _Attesting(desk, ledger, release, None, signer, text).attested(entries)


def _undrawn(desk: Desk, release: DbtRelease, known: Books | None) -> Told:
    """A release of which nothing new is drawn: what was signed for may stand all the same."""
    last = _last(_editions(desk, release, known))
    release = _in_edition(desk, release, known, last)
    if last is not None:
        is_shown = last.state == "committed" and desk.shows(release, last.only_digest)
        return Told(release, "stands" if is_shown else "absent", last)
    found = dated(desk, known, release, "", at_moment(known)).schedule
    return Told(release, "absent" if found is None or found.due else "not due")


def _editions(desk: Desk, release: DbtRelease, known: Books | None) -> list[Entry]:
    """The entries of a release, or of its editions, in the ledger's order."""
    if release.written.schedule is not None:
        return list(entries_of(release.written, known, release.relation))
    return paid_for(desk, release, known)


def _last(entries: list[Entry]) -> Entry | None:
    """The entry whose release was drawn last, or is being drawn."""
    begun = [entry for entry in entries if entry.state == "started"]
    return (begun or entries)[-1] if entries else None


def _in_edition(
    desk: Desk, release: DbtRelease, known: Books | None, entry: Entry | None
) -> DbtRelease:
    """A release as the edition that an entry paid for; as it is where there is no entry."""
    if entry is None:
        return release
    policy, project = release.written, desk.project
    if not entry.run.edition:
        planned = in_plan(policy, project, known, Edition(), entry.reserved_at)
        return replace(release, written=planned)
    edition = edition_of(policy, project.zone, Period.parse(entry.run.edition))
    drawn = in_edition(policy, project, known, edition, entry.reserved_at)
    return replace(release, written=drawn)


@frozen
class _Attesting(Booking):
    """``certificate`` is None until the ``text`` that dbt compiled is certified."""

    signer: Signer
    text: str

    def attested(self, entries: list[Entry]) -> Told:
        """Sign for what was drawn last, and put it into what is read; or say what is wrong."""
        last = _last(entries)
        if last is not None and last.state == "started" and last.run.of and self._waits(last.run):
            return Told(self.release, "waits", last)
        if not self.desk.stands(self.release.parts):
            return self._undrawn()
        if last is not None and last.run.of and not self.desk.stands(self.release.shown_parts):
            return Told(self.release, "absent", last)
        digest, size = digest_of_lines(self.desk.lines(self.release))
        if last is not None and last.only_digest is None and not last.run.of:
            found = self._not_paid(digest, last)  # a crash came in between
        elif last is not None and last.state == "started":
            found = self._reserved(last, digest)
        elif last is not None and last.only_digest == digest:
            found = self._known(last, digest)
        elif not size.rows or digest in {entry.only_digest for entry in entries}:
            return self._undrawn()
        else:
            asked = replace(self.release, written=with_git_edition(self.release.written))
            found = replace(self, release=asked)._not_paid(digest)
        return replace(found, rows=size.rows)

    def _undrawn(self) -> Told:
        return _undrawn(self.desk, self.release, self.ledger.read())

    def _waits(self, run: Run) -> bool:
        """Whether its secret waits still, so that what stands was drawn before."""
        with secrets_of(self.desk, run.query) as secrets:
            return secrets.waits(self.release.id, text_md5(run.query))

    def _put(self, digest: str, at: str) -> None:
        """Put what was drawn into what is read, of an edition alone, and note when that was."""
        desk, release, appended = self.desk, self.release, self.release.appended
        shown = desk.name(release.shown_parts)
        names = ", ".join(quoted(name) for name in release.columns)
        into, given = (f"{quoted(EDITION)}, ", f"{literal(appended)}, ") if appended else ("", "")
        where = f" WHERE {quoted(EDITION)} = {literal(appended)}" if appended else ""
        noted = quoted(*shown[:-1], NOTED)
        edition = release.written.edition.name
        of_it = f"relation = {literal(release.relation)} AND edition = {literal(edition)}"

        def check() -> None:
            if digest_of_lines(desk.shown_lines(release))[0] != digest:
                raise WarehouseError(f"{release.relation} has other types than what was drawn")

        assert isinstance(desk.warehouse, Transactional)  # where a secret can wait
        desk.warehouse.together(
            (
                f"DELETE FROM {quoted(*shown)}{where}",
                f"INSERT INTO {quoted(*shown)} ({into}{names})"
                f" SELECT {given}{names} FROM {quoted(*desk.name(release.parts))}",
                f"CREATE TABLE IF NOT EXISTS {noted} (relation TEXT, edition TEXT, certified TEXT)",
                f"DELETE FROM {noted} WHERE {of_it}",
                f"INSERT INTO {noted} VALUES"
                f" ({literal(release.relation)}, {literal(edition)}, {literal(at)})",
            ),
            check,
        )

    def _known(self, entry: Entry, digest: str) -> Told:
        """A table that was looked at before: attested, or charged and refused."""
        is_old = self.release.written.schedule is None and is_outdated(self.release, entry)
        why = OTHER_POLICY if is_old else self._other_shape()
        if entry.state == "kept":
            why = f"it was charged as entry {entry.id}, and no certificate speaks of it; {_FRESH}"
        if why:
            return Told(self.release, "refused", entry, why)
        run = entry.run
        self._forget_secret(run)
        trusted = trusted_keys(self.desk.project, self.signer)
        if not certifies(run, self.release.certificate, trusted):
            self._write(run, digest)
        if not self.desk.shows(self.release, digest):
            self._put(digest, written(entry.committed_at or utc_now()))
        return Told(self.release, "stands", entry)

    def _reserved(self, entry: Entry, digest: str) -> Told:
        """A table whose release was reserved, and is looked at for the first time."""
        run, relation = entry.run, self.release.relation
        try:
            self.ledger.approve(entry.id, self.brought)
        except NotApproved as error:
            return Told(self.release, "refused", entry, str(error))
        why = self._broken(run, digest)
        if why:
            self._forget_secret(run)
            self.ledger.draw(entry.id, digest)
            return Told(self.release, "refused", self.ledger.keep(entry.id, why), why)
        if not self.ledger.draw(entry.id, digest):
            raise other_bytes(relation)
        self._write(run, digest)
        self._put(digest, written(utc_now()))
        done = self.ledger.commit(entry.id, release_name=relation, release_digest=digest)
        self._forget_secret(run)
        return Told(self.release, "attested", done)

    def _broken(self, run: Run, digest: str) -> str:
        """Why what stands cannot be signed for; empty where it can."""
        try:
            certified(self.desk, self.release, run.query)
        except (NotCertifiable, PolicyError) as error:
            return str(error)
        if why := self._other_shape():
            return why
        secret = secret_of(run, self.desk.project, self.ledger)
        is_postgres = self.desk.named.type == "postgres"
        # The rows of both as texts, in the order in which they are digested.
        names = self.release.columns
        kind = 'text COLLATE "C"' if is_postgres else "varchar"
        told = ", ".join(f"(of_it.{quoted(name)})::{kind}" for name in names)
        order = ", ".join(str(place) for place in range(1, len(names) + 1))
        queries = tuple(
            f"SELECT {told} FROM {relation} AS of_it ORDER BY {order}"
            for relation in (f"(\n{run.query}\n)", quoted(*self.desk.name(self.release.parts)))
        )
        with secrets_of(self.desk, run.query) as secrets:
            # On the connection that sees the secret, and of one state of everything.
            made, stands = secrets.lines(queries, self.release.id, secret)
        if digest_of_lines(self.desk.lines(self.release))[0] != digest or (
            is_postgres and digest_of_lines(stands)[0] != digest
        ):
            raise WarehouseError(f"{self.release.relation} is being changed; run attest again")
        return "" if sorted(made, key=repr) == sorted(stands, key=repr) else _OTHER_ROWS

    def _other_shape(self) -> str:
        why = self.desk.other_shape(self.release) or self.desk.other_shown(self.release)
        return why and f"{why}. No certificate speaks of it; {_FRESH}"

    def _not_paid(self, digest: str, entry: Entry | None = None) -> Told:
        """What nobody has paid for, or ``entry`` for: charged, whatever the limit says."""
        release = self.release
        if entry is None:
            certificate = None
            with suppress(NotCertifiable, PolicyError):
                certificate = certified(self.desk, release, self.text)
            charge = replace(self, certificate=certificate).charge()
            entry = self.ledger.reserve(charge, None, is_out=True)
        if entry.state == "reserved":
            self.ledger.start(entry.id)
        self.ledger.draw(entry.id, digest)
        why = _NOT_RESERVED.format(entry.id)
        kept = self.ledger.keep(entry.id, why)
        why = f"{why}; no certificate can speak of it because nobody knows its secret; {_FRESH}"
        return Told(release, "refused", kept, why)

    def _write(self, run: Run, digest: str) -> None:
        facts = statement(self.release.relation, digest, run.predicate)
        text = sign(facts, self.signer).to_document()
        self.release.certificate.parent.mkdir(exist_ok=True)
        write_certificate(text, self.release.certificate, replace=True)

    def _forget_secret(self, run: Run) -> None:
        with secrets_of(self.desk, run.query) as secrets:
            secrets.take(self.release.id)


_FRESH = "run 'policy-engine dbt reserve --fresh', at the price of a new release, and dbt again"
_OTHER_ROWS = (
    "its rows are not what the certified query gives now: since the draw the source was made"
    " anew, a materialization or a hook changed what dbt ran, or the table was changed. It"
    f" stays charged, and no certificate speaks of it; attest right after the build, or {_FRESH}"
)
_NOT_RESERVED = (
    "where it is drawn stand rows that were not reserved: they were built without, or changed by"
    " hand. Entry {} is charged for them now, whatever the limit of its account says"
)


# Looks, which change nothing: by the ledger, or by certificates and keys alone


def standing(desk: Desk, releases: tuple[DbtRelease, ...]) -> tuple[Told, ...]:
    """How every release stands.

    Raises LedgerError, WarehouseError: as it says.
    """
    with begun_ledger(desk.project) as ledger:
        known = None if ledger is None else ledger.read()
        return tuple(_standing(desk, ledger, known, release) for release in releases)


def _standing(desk: Desk, ledger: Ledger | None, known: Books | None, release: DbtRelease) -> Told:
    entries = _editions(desk, release, known)
    if release.written.schedule is None:
        last = _last(entries)
        release = _in_edition(desk, release, known, last)
        return Told(release, _state(desk, release, known, None, entries), last)
    found = dated(desk, known, release, "", at_moment(known)).schedule
    assert found is not None
    release = _in_edition(desk, release, known, found.last or _last(entries))
    return Told(release, _state(desk, release, known, found, entries), found.last, schedule=found)


def _state(
    desk: Desk,
    release: DbtRelease,
    known: Books | None,
    schedule: Schedule | None,
    entries: list[Entry],
) -> Outcome:
    """How a release stands, or its editions together: what is wrong of one is said first."""
    trusted, stand = trusted_keys(desk.project), [e for e in entries if e.state == "committed"]
    shown = stand if release.written.release.append else stand[-1:]
    for entry in shown:
        one = _in_edition(desk, release, known, entry)
        if not desk.shows(one, entry.release_digest):
            return "changed" if desk.stands(one.shown_parts) else "gone"
        if not certifies(entry.run, one.certificate, trusted):
            return "built"
    if any(entry.is_open for entry in entries):
        return "built" if _is_drawn_anew(desk, release, entries) else "reserved"
    if schedule is not None:
        return "due" if schedule.due else "certified" if stand else "not due"
    if not entries:
        return "not reserved"
    if is_outdated(release, entries[-1]):
        return "outdated"
    return "certified" if stand else "refused"


def _is_drawn_anew(desk: Desk, release: DbtRelease, entries: list[Entry]) -> bool:
    """Whether rows are drawn that the ledger does not know yet."""
    if not desk.stands(release.parts):
        return False
    digest, size = digest_of_lines(desk.lines(release))
    return bool(size.rows) and digest not in {entry.only_digest for entry in entries}


def left_behind(desk: Desk, releases: tuple[DbtRelease, ...], target: str) -> tuple[Entry, ...]:
    """What was paid for in a target and is of no release of the project's as it is now.

    Its policy was removed or renamed, or dbt puts it elsewhere with other variables.

    Raises LedgerError: as it says.
    """
    known = {desk.place(release) for release in releases}
    with begun_ledger(desk.project) as ledger:
        entries = () if ledger is None else ledger.read().budget.entries()
        last = {entry.request: entry for entry in entries if entry.state != "cancelled"}
    end = f".{target}.certificate.json"
    others = (entry for request, entry in last.items() if request not in known)
    return tuple(entry for entry in others if str(entry.run.certificate).endswith(end))


@frozen
class Looked:
    """A release that stands: what was ``found`` of its table, or ``why`` it is not as certified."""

    release: DbtRelease
    found: Verified | None = None
    why: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether everything held, the proof of its SQL and the second route to its δ too."""
        found = self.found
        return found is not None and found.is_certified and found.is_recomputed


def verified(
    desk: Desk, releases: tuple[DbtRelease, ...], trusted: TrustedKeys
) -> Iterator[Looked]:
    """Every release that stands, checked by its certificate, the keys and the rows of its table.

    Nothing of the ledger is read, and nothing is written.

    Raises FileError, WarehouseError: a certificate or a table cannot be read.
    """
    for release in releases:
        if desk.stands(release.shown_parts):
            yield from (_looked(desk, each, trusted) for each in _read(desk, release))


def _read(desk: Desk, release: DbtRelease) -> Iterator[DbtRelease]:
    """What is read of a release: the editions with a certificate, or the last one of them."""
    schedule = release.written.schedule
    if schedule is None:
        if release.certificate.exists() or any(desk.shown_lines(release)):
            yield release
        return
    names = sorted(
        path.name.removesuffix(CERTIFICATE_SUFFIX)
        for path in release.certificate.parent.glob(f"*{CERTIFICATE_SUFFIX}")
    )
    known = [name for name in names if schedule.every.has(name)]
    for name in known if release.written.release.append else known[-1:]:
        edition = edition_of(release.written, desk.project.zone, Period.parse(name))
        yield replace(release, written=release.written.in_edition(edition))


def _looked(desk: Desk, release: DbtRelease, trusted: TrustedKeys) -> Looked:
    try:
        text = text_in(release.certificate)
    except FileNotFoundError:
        why = f"{release.relation} stands without a certificate: run 'policy-engine dbt attest'"
        return Looked(release, why=(why,))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{release.certificate} could not be read: {error}") from None
    table = desk.table(release.policy, release.shown_parts)
    columns = tuple(each.name for each in table.columns)[1 if release.appended else 0 :]
    lines = tuple(desk.shown_lines(release))
    try:
        found = verify_release(text, trusted, TableRows(release.relation, columns, lines))
    except VerificationFailed as failed:
        return Looked(release, why=failed.reasons)
    return Looked(release, found)
