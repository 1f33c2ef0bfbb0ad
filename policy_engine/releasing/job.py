"""A certified release of one place: what is charged for it, how it is drawn, what then stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace as replace_field
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.approvals import Brought
from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.enforcing import filtered
from policy_engine.attest.facts import models_of
from policy_engine.attest.keys import TrustedKeys, key_id
from policy_engine.attest.parquet_file import METADATA_KEY
from policy_engine.attest.predicates import Vouched
from policy_engine.attest.review_policy import Stage
from policy_engine.attest.sealing import load_reviewer_key, seal, secret_of_parts, unseal
from policy_engine.attest.signers import Signer
from policy_engine.attest.tables import read_parquet
from policy_engine.compile.catalog import Table
from policy_engine.errors import NotApproved
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.below import paying_account
from policy_engine.releasing.books import trusted_keys
from policy_engine.releasing.charging import charge_of
from policy_engine.releasing.publish import (
    certificate_of_table,
    check_certificate,
    other_bytes,
    publish_file,
    write_certificate,
)
from policy_engine.releasing.requests import Request, Run
from policy_engine.releasing.reviewing import (
    brought_at,
    let_lines_wait,
    let_wait,
    request_file,
    waiting_file,
)
from policy_engine.releasing.sizes import Size, digest_at, digest_of_table, size_of, size_of_table
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Done:
    """What was published: its name, SHA-256 and size."""

    name: str
    digest: str
    size: Size


@dataclass(frozen=True)
class Job:
    """A certified release: new, or one that was charged before."""

    policy: Policy
    project: Project
    certificate: Vouched
    table: Table
    warehouse: Warehouse
    request: Request
    signer: Signer
    sealing: X25519PrivateKey
    naming: X25519PrivateKey
    replace: bool

    @property
    def account(self) -> str:
        """The account that pays."""
        return paying_account(self.policy, self.project, self.table, self.certificate.dialect)

    @property
    def name(self) -> str:
        """The release as the ledger names it."""
        path = self.policy.release_path
        return self.request.ends.name if path is None else str(path)

    @property
    def subject(self) -> str:
        """The release as its certificate names it."""
        path = self.request.ends.path
        return self.name if path is None else path.name

    @property
    def trusted(self) -> TrustedKeys:
        """Whose certificates of it count."""
        return trusted_keys(self.project, self.signer)

    def is_there(self) -> bool:
        """Whether anything stands in the release's place."""
        path = self.request.ends.path
        if path is not None:
            return path.exists()
        return self.warehouse.exists(self.warehouse.target(self.name))

    def digest(self, run: Run) -> str | None:
        """The digest of what stands in the release's place; None where nothing of the run does."""
        return digest_at(run, self.request.ends, self.warehouse)

    def digest_of_table(self, name: str, facts: str) -> str | None:
        """The same of a table."""
        return digest_of_table(self.warehouse, name, facts)

    def size(self) -> Size:
        """The size of the release that stands."""
        path = self.request.ends.path
        if path is None:
            return size_of_table(self.warehouse, self.warehouse.target(self.name), self.policy)[1]
        return size_of(read_parquet(path), self.policy)

    def brought(self, stage: Stage) -> Brought:
        """The approvals that stand beside the certificate, or where it will."""
        return brought_at(request_file(self.request.ends.certificate_path, stage))

    def charge(self) -> Charge:
        """What the ledger is asked to book, with a new secret sealed in it."""
        secret = new_secret()
        keys = [self.sealing.public_key(), *map(load_reviewer_key, self.project.reviewers)]
        if self.request.part is not None:
            secret = secret_of_parts(self.request.part[0], self.naming) + secret
        sealed = seal(secret, self.request.of, keys) if self.policy.method == "keyed" else {}
        run = Run.new(self.request, self.certificate, sealed)
        return replace_field(
            charge_of(self.account, self.certificate, self.policy),
            request=self.request.place,
            part=self.request.part,
            run=run.to_json(),
            source=self.request.source,
            beside=self.request.beside,
            brought=self.brought("claim"),
        )

    def draw(self, ledger: Ledger, entry: Entry) -> Done:
        """Draw the sample of an entry that is started, and put release and certificate in place."""
        run = Run.of_entry(entry)

        def draw(digest: str) -> str:
            if not ledger.draw(entry.id, digest, self.brought("release")):
                raise other_bytes(self.name)
            return self._envelope(run, digest)

        put = self._to_table if self.request.ends.path is None else self._to_file
        return put(run, self._secret(run), draw)

    def certify_again(self, run: Run, digest: str) -> None:
        """Write the certificate that is gone of a release that stands."""
        path = self.request.ends.certificate_path
        check_certificate(path, self.subject, replace=self.replace)
        write_certificate(self._envelope(run, digest), path, replace=self.replace)

    def _secret(self, run: Run) -> bytes:
        # An engine that draws the sample by itself needs none of ours.
        if not run.sealed:
            return new_secret()
        # What was sealed before the project's key took over opens with the one that it was handed.
        is_ours = key_id(self.sealing.public_key()) in run.sealed
        return unseal(run.sealed, run.of, self.sealing if is_ours else self.naming)

    def _envelope(self, run: Run, digest: str) -> str:
        return sign(statement(self.subject, digest, run.predicate), self.signer).to_json()

    def _to_file(self, run: Run, secret: bytes, draw: Callable[[str], str]) -> Done:
        path = self.request.ends.path
        assert path is not None
        with self.warehouse.sampled(self.policy, self.table, secret) as unchanged:
            rows = kept(self.warehouse.rows(run.query), run)
            unchanged()
        facts = {METADATA_KEY: run.facts}
        try:
            digest = publish_file(rows, path, facts, draw, replace=self.replace, mark=run.mark)
        except NotApproved as error:
            error.add_note(let_wait(waiting_file(self.project, run), rows, facts))
            raise
        return Done(self.name, digest, size_of(rows, self.policy))

    def _to_table(self, run: Run, secret: bytes, draw: Callable[[str], str]) -> Done:
        target = self.warehouse.target(self.name)
        done: list[Done] = []
        with (
            certificate_of_table(self.request.ends.certificate_path, run.mark) as put,
            self.warehouse.sampled(self.policy, self.table, secret) as unchanged,
        ):

            def attest() -> None:
                unchanged()
                digest, size = size_of_table(self.warehouse, target, self.policy)
                try:
                    put(draw(digest))
                except NotApproved as error:
                    lines = self.warehouse.release_lines(target)
                    error.add_note(let_lines_wait(waiting_file(self.project, run), lines))
                    raise
                done.append(Done(self.name, digest, size))

            self.warehouse.publish(run.query, target, run.facts, attest, replace=self.replace)
        return done[0]


def kept(rows: pa.Table, run: Run) -> pa.Table:
    """What a certified query gave, without the classes that break a model of the policy.

    Nothing but those rows decides it, so that it costs nothing.
    """
    facts = run.predicate
    return filtered(rows, len(facts["columns"]), facts["count"], models_of(facts))
