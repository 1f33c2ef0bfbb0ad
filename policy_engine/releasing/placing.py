"""The place of a release: what stands there, and how the bytes that were drawn come to stand there.

Nothing here looks at a source. What the ledger says of an entry, and what exists of its release,
decide the next step; no row that is counted does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace as replace_field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import read_parquet, record_of_editions
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import moment
from policy_engine.attest.values import plain_lines
from policy_engine.errors import FileError, NotReleasable, WarehouseError
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Entry, Run
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing import copies, publish, standing
from policy_engine.releasing.planning import open_warehouse
from policy_engine.releasing.requests import Ends, ends_of, place_of
from policy_engine.values import frozen
from policy_engine.warehouse.base import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

Step = Literal["charge", "draw", "take", "place", "refuse"]
Drawn = Literal["not drawn", "spent", "drawn"]
Standing = Literal["release", "copy", "nothing"]

#: The life of a release: what the ledger says of its entry, and what exists of what it drew.
#: Without an entry, or where a new draw is asked for: charge.
STEPS: Mapping[tuple[Drawn, Standing], Step] = {
    ("not drawn", "nothing"): "draw",
    ("spent", "nothing"): "refuse",
    ("drawn", "release"): "take",
    ("drawn", "copy"): "place",
    ("drawn", "nothing"): "refuse",
}

_FEW_ROWS = 10_000
"""Each row of a release that has no more is looked at once more: in a large one that takes long."""


class Reached:
    """The warehouse of a policy, connected to when somebody asks for it, and not before."""

    def __init__(self, policy: Policy, project: Project) -> None:
        self._policy, self._project = policy, project

    @cached_property
    def warehouse(self) -> Warehouse:
        """The connection."""
        return open_warehouse(self._policy, self._project, writes=True)

    @property
    def for_a_table(self) -> Warehouse | None:
        """The connection, if the release is a table of it."""
        return None if self._policy.release.relation is None else self.warehouse

    def progress(self) -> float | None:
        """How many per cent of the running query are done, if one runs and the engine says so."""
        opened: Warehouse | None = self.__dict__.get("warehouse")
        return None if opened is None else opened.progress()

    def close(self) -> None:
        """End the connection, if there is one."""
        if "warehouse" in self.__dict__:
            self.warehouse.close()


@frozen
class Spot:
    """The place of a policy's releases; ``warehouse`` is None where they are files."""

    policy: Policy
    project: Project
    ends: Ends
    warehouse: Warehouse | None
    trusted: TrustedKeys

    @classmethod
    def of(cls, policy: Policy, project: Project, reached: Reached, trusted: TrustedKeys) -> Spot:
        """The place of a policy, asked of the warehouse where it is a table."""
        warehouse = reached.for_a_table
        ends = ends_of(policy, project, warehouse)
        return cls(policy, project, ends, warehouse, trusted)

    @property
    def place(self) -> str:
        """What the ledger calls it."""
        return place_of(self.policy.name, self.ends, self.policy.edition)

    @property
    def is_table(self) -> bool:
        """Whether a release is a table."""
        return self.ends.path is None

    @property
    def opened(self) -> Warehouse:
        """The warehouse that a table is in."""
        assert self.warehouse is not None
        return self.warehouse

    @property
    def target(self) -> tuple[str, ...]:
        """The name of the table."""
        return self.opened.target(self.ends.name)

    # What stands

    def is_there(self) -> bool:
        """Whether anything stands in the place."""
        path, edition = self.ends.path, self.ends.edition
        if path is not None:
            return path.exists()
        if edition:
            return self.opened.has_edition(self.target, edition)
        return self.opened.exists(self.target)

    def digest(self, run: Run) -> str | None:
        """The digest of what stands; None where nothing of the run does."""
        path = self.ends.path
        if path is None:
            return self._of_table(run)
        return publish.file_digest(path) if path.is_file() else None

    def mend(self, run: Run) -> str | None:
        """The digest of the run's release with its certificate, once what it left is mended."""
        return standing.mend(run, self.ends, self._of_table, self.trusted)

    def look(self, run: Run) -> str | None:
        """The same; nothing is written."""
        return standing.look(run, self.ends, self._of_table, self.trusted)

    def _of_table(self, run: Run) -> str | None:
        return standing.digest_of_table(self.opened, run)

    def comment(self, run: Run) -> str:
        """What the table of a run carries: its certificate's record, or how to find several."""
        if not self.ends.edition:
            return run.record
        return record_of_editions(self.policy.name)

    def next(self, books: Books) -> tuple[Step, Entry | None]:
        """What is to do for the policy here, and the entry that it is to do for.

        Of several entries the last counts of which anything can stand; a cancelled one never does,
        nor what is out, and lacks the approvals of its account. What was drawn of a calendar's
        edition stands, however the policy was changed since. Raises NotReleasable where that went
        to another place than the policy's now.
        """
        entries = [
            entry
            for entry in books.budget.at(self.place)
            if self._is_ours(entry) and not standing.is_nothing_here(entry)
        ]
        elsewhere = [entry for entry in entries if entry.run.target != self.ends.name]
        for entry in reversed(entries):
            step = STEPS[self._state(entry)]
            if step == "take" or (step != "refuse" and entry not in elsewhere):
                return step, entry
        if elsewhere:
            raise self._elsewhere(elsewhere[-1])
        return ("refuse", entries[-1]) if entries else ("charge", None)

    def _elsewhere(self, entry: Entry) -> NotReleasable:
        """Why an edition is not drawn that went to another place before the policy was changed."""
        run, name = entry.run, self.policy.name
        anew = f"policy-engine release {self.policy.file} --edition {run.edition} --revise"
        return NotReleasable(
            f"{name}: edition {run.edition} was drawn to {run.target} (entry {entry.id}), and the"
            f" policy names {self.ends.name} now: an edition is drawn once. Move the"
            " release and its certificate there, or write the former place into the policy again;"
            f" or '{anew}' draws it anew, at a new price"
        )

    def _is_ours(self, entry: Entry) -> bool:
        policy = self.policy
        return standing.is_of(entry, policy.digest, by_calendar=bool(policy.edition.zone))

    def _state(self, entry: Entry) -> tuple[Drawn, Standing]:
        digest = entry.only_digest
        if digest is None:
            return "not drawn" if entry.can_draw else "spent", "nothing"
        run = entry.run
        if self.look(run) == digest:
            return "drawn", "release"
        has_copy = self.digest(run) == digest or self.copy(digest) is not None
        return "drawn", "copy" if has_copy else "nothing"

    def copy(self, digest: str) -> copies.Copy | None:
        """A whole copy of what was drawn; None where there is none."""
        certificate, is_table = self.ends.certificate_path, self.is_table
        return copies.copy_of(self.project, self.place, certificate, digest, is_table=is_table)

    def replaces_own(self, books: Books) -> bool:
        """Whether an earlier draw of a policy with a schedule stands here, and nothing else.

        Where the place is the same in each edition the next one takes the place of the last; and
        what the calendar draws anew takes that of what it drew before. By hand nothing does.
        """
        policy, target = self.policy, self.ends.name
        if not policy.edition.zone:
            return False
        drawn = [
            entry
            for entry in books.budget.entries()
            if entry.policy_name == policy.name and entry.run.target == target
        ]
        own = [entry for entry in drawn if entry.run.edition == policy.edition.name]
        others = [entry for entry in drawn if entry not in own]
        before = [] if policy.edition.is_asked else [entry for entry in own if entry.only_digest]
        if any(self.digest(entry.run) == entry.only_digest for entry in before):
            return True
        if self.ends.edition or not self.is_there():
            return False
        path = self.ends.path
        if path is not None:
            return publish.file_digest(path) in {entry.release_digest for entry in others}
        facts = publish.record_in(self.opened.comment(self.target)).get("facts")
        return facts in {entry.run.digest for entry in others}

    # How it comes to stand

    def check(self, *, replace: bool, paid: int | None = None) -> None:
        """Refuse what cannot be written, or stands in the way; FileError, WarehouseError."""
        check_place(self.ends, self.warehouse, replace=replace, paid=paid)

    def put(self, entry: Entry, signer: Callable[[], Signer], *, replace: bool) -> None:
        """Let what an entry has drawn stand with its certificate: those bytes, and no others.

        ``signer`` is asked for where no certificate of it was kept.

        Raises FileError, WarehouseError: something is in the way, or it cannot be written.
        """
        run, digest = entry.run, str(entry.only_digest)
        ends, certificate = self.ends, self.ends.certificate_path
        envelope = self._kept_envelope(run, digest) or self.envelope(run, digest, signer())
        if self.digest(run) == digest:
            publish.check_certificate(certificate, ends.subject, replace=replace, paid=entry.id)
            publish.write_certificate(envelope, certificate, replace=replace)
            return
        copy = self.copy(digest)
        assert copy is not None
        # Of what stands, all may be the entry's own.
        is_own = not self.is_there() and standing.certifies(run, certificate, self.trusted)
        replace = replace or is_own
        self.check(replace=replace, paid=entry.id)
        if ends.path is not None:
            at = moment(run.predicate.get("time"))
            publish.publish_file(
                copy.path, ends.path, envelope, at=at, replace=replace, mark=run.mark
            )
            return
        with publish.certificate_of_table(certificate, run.mark) as put:

            def check() -> None:
                if self._of_lines() != digest:
                    raise WarehouseError(
                        f"{ends.name}: the engine does not give the rows back as they were kept;"
                        " nothing was put there"
                    )
                put(envelope)

            self.opened.put_back(
                copy.columns,
                copy.rows(),
                self.target,
                self.comment(run),
                check,
                replace=replace,
                edition=ends.edition,
            )

    def _of_lines(self) -> str:
        lines = self.opened.release_lines(self.target, self.ends.edition)
        return standing.digest_of_lines(lines)[0]

    def envelope(self, run: Run, digest: str, signer: Signer) -> str:
        """The certificate of what was drawn, signed now."""
        return sign(statement(self.ends.subject, digest, run.predicate), signer).to_document()

    def _kept_envelope(self, run: Run, digest: str) -> str:
        """The certificate as it was kept, if a trusted key has signed it; else empty."""
        text = copies.kept_certificate(self.ends.certificate_path, digest)
        return text if standing.certified_digest(run, text, self.trusted) == digest else ""

    def keep(self, digest: str) -> None:
        """Keep a copy of a release that stands; FileError."""
        copy = self.copy(digest)
        if copy is not None:
            copies.keep(copy, self.ends.certificate_path, digest, self.project.copies_most)

    def size(self, certificate: Certificate) -> standing.Size:
        """The size of the release that stands; its certificate may be of an older text."""
        path = self.ends.path
        rows = None if path is None else read_parquet(path)
        lines = self._lines(certificate, rows)
        size = standing.size_by(lines(), certificate)
        if not size.groups:
            return replace_field(size, remarks=(standing.nobody(certificate),))
        remarks = tuple[str, ...]()
        if certificate.claim.law.beside and size.rows <= _FEW_ROWS:
            meaning = meaning_of(certificate.claim)
            plain = lines() if rows is None else plain_lines(rows)
            remarks = tuple(meaning.doubts(meaning.names, plain))
        if certificate.terms.policy_digest == self.policy.digest:
            remarks += standing.remarks_of(lines(), self.policy)
        return replace_field(size, remarks=remarks)

    def _lines(
        self, certificate: Certificate, rows: pa.Table | None
    ) -> Callable[[], standing.Lines]:
        """What gives the release's lines anew at each call: of a file's ``rows``, or of a table."""
        if rows is not None:
            return lambda: standing.numbered(rows, certificate.count)
        target, edition = self.target, self.ends.edition
        return lambda: self.opened.release_lines(target, edition)


def check_place(
    ends: Ends, warehouse: Warehouse | None, *, replace: bool, paid: int | None = None
) -> None:
    """Refuse, before anything is charged, what cannot be written, or stands in the way.

    ``paid`` is the entry that has paid for the release already, ``warehouse`` that of a table.
    Raises FileError, WarehouseError.
    """
    if ends.path is not None:
        publish.check_target(ends.path, replace=replace, paid=paid)
        return
    assert warehouse is not None
    target = warehouse.target(ends.name)
    if warehouse.exists(target):
        record = publish.record_in(warehouse.comment(target))
        if not record:
            raise publish.not_a_release(ends.name)
        if ends.edition:
            _check_added(ends, warehouse, record, replace=replace, paid=paid)
        elif not replace:
            raise publish.exists(ends.name, paid)
        else:
            warehouse.check_replaceable(target)
    publish.check_certificate(ends.certificate_path, ends.name, replace=replace, paid=paid)


def _check_added(
    ends: Ends,
    warehouse: Warehouse,
    record: Mapping[str, object],
    *,
    replace: bool,
    paid: int | None,
) -> None:
    """Refuse to add an edition's rows to a release by itself, or to those that are there."""
    if record.get("facts"):
        raise FileError(
            f"{ends.name} is a release by itself, and no edition is added to it: name another table"
            " in release.table",
            code="place_taken",
        )
    if warehouse.has_edition(warehouse.target(ends.name), ends.edition) and not replace:
        raise publish.exists(f"edition {ends.edition} of {ends.name}", paid)
