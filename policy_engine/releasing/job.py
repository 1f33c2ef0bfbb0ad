"""A release that is drawn: what is charged for it, one attempt under one secret, what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace as replace_field
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.approvals import Brought, Stage
from policy_engine.attest.enforcing import filtered
from policy_engine.attest.parquet_file import METADATA_KEY, write_parquet
from policy_engine.attest.sealing import seal, secret_of_parts
from policy_engine.attest.signers import Signer
from policy_engine.errors import NotApproved
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.releasing import copies, publish
from policy_engine.releasing.books import secret_of
from policy_engine.releasing.charging import ReleasePlan
from policy_engine.releasing.editions import at_moment, is_due_anew
from policy_engine.releasing.placing import Spot
from policy_engine.releasing.requests import SourceNames, new_run
from policy_engine.releasing.reviewing import brought_at, request_file
from policy_engine.values import frozen
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.kernel.certificate import Certificate


@frozen
class Job:
    """A certified release: new, or one that was charged before; ``revise`` asks for a new one."""

    plan: ReleasePlan
    spot: Spot
    ledger: Ledger
    names: SourceNames
    signer: Signer
    sealing: X25519PrivateKey
    naming: X25519PrivateKey
    replace: bool
    revise: bool

    def is_anew(self, known: Books) -> bool:
        """Whether a new draw is asked for; of a calendar's only while none was charged since."""
        plan, at = self.plan, at_moment(known, self.plan.clock)
        by_hand = not plan.policy.edition.is_revision
        return self.revise and (by_hand or is_due_anew(plan.policy, plan.project, known, at))

    def brought(self, stage: Stage) -> Brought:
        """The approvals that stand beside the certificate, or where it will."""
        return brought_at(request_file(self.spot.ends.certificate_path, stage))

    def charge(self) -> Charge:
        """What the ledger is asked to book, with a new secret sealed in it."""
        plan, names = self.plan, self.names
        _, sealed = self._new_secret()
        return replace_field(
            names.named(plan.charge(self.ledger.read())),
            request=plan.place,
            part=names.charged_part,
            run=new_run(plan.of, plan.ends, plan.certificate, sealed),
            brought=self.brought("claim"),
        )

    def _new_secret(self) -> tuple[bytes, Mapping[str, str]]:
        """A secret that was never used, and the same sealed where it is ours to draw by."""
        plan, part, secret = self.plan, self.names.part, new_secret()
        key = self.sealing.public_key()
        if part is not None:
            secret = secret_of_parts(part[0], self.naming) + secret
        sealed = seal(secret, plan.of, [key]) if plan.policy.method == "keyed" else {}
        return secret, sealed

    def begin(self, entry: Entry) -> tuple[Entry, bytes]:
        """Begin an attempt: the entry as it is then, and a secret that no other attempt has had.

        What no row can bring about comes first, and is no attempt: a missing key, a full disk.
        """
        place, brought = self.plan.place, self.brought("claim")
        copies.make_drawn_folder(self.plan.project, place)
        copies.tidy(self.plan.project, place, self.ledger.books.budget.recorded_at(place))
        if entry.state != "reserved":
            secret, sealed = self._new_secret()
            return self.ledger.start(entry.id, brought, sealed=sealed), secret
        run = entry.run
        secret = secret_of(run, self.plan.project, self.ledger) if run.sealed else new_secret()
        return self.ledger.start(entry.id, brought), secret

    def draw(self, entry: Entry, secret: bytes) -> None:
        """Draw a started entry where nobody sees it, record the digest, and put it in place."""
        if self.spot.is_table:
            self._draw_table(entry, secret)
        else:
            self._draw_file(entry, secret)

    def _draw_file(self, entry: Entry, secret: bytes) -> None:
        plan, run = self.plan, entry.run
        with plan.warehouse.sampled(plan.policy, plan.table, secret) as check:
            rows = _kept(plan.warehouse.rows(run.query), plan.certificate)
            check()

        def write(path: Path) -> None:
            write_parquet(rows, path, {METADATA_KEY: run.record})

        digest = self._record(entry, self._drawn(write))
        drawn = replace_field(entry, drawn_digest=digest)
        self.spot.put(drawn, lambda: self.signer, replace=self.replace)

    def _draw_table(self, entry: Entry, secret: bytes) -> None:
        plan, spot, run = self.plan, self.spot, entry.run
        warehouse, target, edition = spot.opened, spot.target, spot.ends.edition

        def write(path: Path) -> None:
            lines = warehouse.release_lines(target, edition)
            copies.write_rows(path, warehouse.types(target, edition), lines, run.record)

        with (
            publish.certificate_of_table(spot.ends.certificate_path, run.mark) as put,
            warehouse.sampled(plan.policy, plan.table, secret) as check,
        ):

            def attest() -> None:
                check()
                digest = self._record(entry, self._drawn(write))
                put(spot.envelope(run, digest, self.signer))

            comment, replace = spot.comment(run), self.replace
            warehouse.publish(run.query, target, comment, attest, replace=replace, edition=edition)

    def _drawn(self, write: Callable[[Path], object]) -> copies.Copy:
        project, place = self.plan.project, self.plan.place
        return copies.drawn(project, place, write, is_table=self.spot.is_table)

    def _record(self, entry: Entry, copy: copies.Copy) -> str:
        """Record the digest of what was drawn, before anybody sees it; that digest.

        Raises NotApproved where somebody must see it first, FileError where a run on another
        machine drew the entry meanwhile: what was drawn here is gone then.
        """
        digest = copy.path.stem
        try:
            is_ours = self.ledger.draw(entry.id, digest, self.brought("release"))
        except NotApproved as error:
            error.add_note(
                f"what came out waits in {copy.path} for those who approve it, and is confidential"
                " until then"
            )
            raise
        if not is_ours:
            copies.discard(self.plan.project, self.plan.place, digest)
            raise publish.other_bytes(self.spot.ends.told)
        return digest


def _kept(rows: pa.Table, certificate: Certificate) -> pa.Table:
    """What a certified query gave, without the classes that break a model of the policy.

    Nothing but those rows decides it, so that it costs nothing.
    """
    models = certificate.terms.models
    return filtered(rows, len(certificate.columns), certificate.count, models)
