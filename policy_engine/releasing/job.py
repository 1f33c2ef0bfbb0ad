"""A certified release of one place: what is charged for it, how it is drawn, what then stands."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace as replace_field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.approvals import Brought, Stage
from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.enforcing import filtered
from policy_engine.attest.facts import models_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import METADATA_KEY, read_parquet, write_parquet
from policy_engine.attest.sealing import (
    load_reviewer_key,
    load_sealing_key,
    seal,
    secret_of_parts,
    unseal,
)
from policy_engine.attest.signers import Signer
from policy_engine.errors import NotApproved, UsageError
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing import standing
from policy_engine.releasing.books import open_ledger, secret_of, trusted_keys
from policy_engine.releasing.charging import Planned, planned
from policy_engine.releasing.publish import (
    certificate_of_table,
    check_certificate,
    other_bytes,
    publish_file,
    write_certificate,
)
from policy_engine.releasing.requests import Request, Run, is_of
from policy_engine.releasing.reviewing import (
    brought_at,
    let_wait,
    line_of,
    request_file,
    waiting_file,
)
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Done:
    """What was published: its SHA-256 and size."""

    digest: str
    size: standing.Size


@dataclass(frozen=True)
class Job:
    """A certified release: new, or one that was charged before; ``fresh`` asks for a new one."""

    plan: Planned
    ledger: Ledger
    request: Request
    signer: Signer
    sealing: X25519PrivateKey
    naming: X25519PrivateKey
    replace: bool
    fresh: bool

    @property
    def trusted(self) -> TrustedKeys:
        """Whose certificates of it count."""
        return trusted_keys(self.plan.project, self.signer)

    def is_there(self) -> bool:
        """Whether anything stands in the release's place."""
        path, warehouse = self.request.ends.path, self.plan.warehouse
        if path is not None:
            return path.exists()
        return warehouse.exists(warehouse.target(self.request.ends.name))

    def digest(self, run: Run) -> str | None:
        """The digest of what stands in the release's place; None where nothing of the run does."""
        return standing.digest_at(run, self.request.ends, self.plan.warehouse)

    def look(self, run: Run) -> str | None:
        """The digest of the run's release, if it stands with its certificate."""
        of_table = partial(standing.digest_of_table, self.plan.warehouse)
        return standing.look(run, self.request.ends, of_table, self.trusted)

    def mend(self, run: Run) -> str | None:
        """The same, once what the run left aside is put in place or taken away."""
        of_table = partial(standing.digest_of_table, self.plan.warehouse)
        return standing.mend(run, self.request.ends, of_table, self.trusted)

    def size(self) -> standing.Size:
        """The size of the release that stands."""
        path, warehouse, policy = self.request.ends.path, self.plan.warehouse, self.plan.policy
        if path is None:
            return standing.size_of_table(
                warehouse, warehouse.target(self.request.ends.name), policy
            )[1]
        return standing.size_of(read_parquet(path), policy)

    def brought(self, stage: Stage) -> Brought:
        """The approvals that stand beside the certificate, or where it will."""
        return brought_at(request_file(self.request.ends.certificate_path, stage))

    def charge(self) -> Charge:
        """What the ledger is asked to book, with a new secret sealed in it."""
        plan, request, secret = self.plan, self.request, new_secret()
        keys = [self.sealing.public_key(), *map(load_reviewer_key, plan.project.reviewers)]
        if request.part is not None:
            secret = secret_of_parts(request.part[0], self.naming) + secret
        sealed = seal(secret, request.of, keys) if plan.policy.method == "keyed" else {}
        return replace_field(
            plan.charge(),
            request=request.place,
            part=request.charged_part,
            run=Run.new(request, plan.certificate, sealed).to_json(),
            source=request.source,
            beside=request.beside,
            brought=self.brought("claim"),
        )

    def draw(self, entry: Entry) -> Done:
        """Draw the sample of an entry that is started, and put release and certificate in place."""
        run = Run.of_entry(entry)

        def certified(digest: str) -> str:
            if not self.ledger.draw(entry.id, digest, self.brought("release")):
                raise other_bytes(self.request.ends.told)
            return self._envelope(run, digest)

        # An engine that draws the sample by itself needs no secret of ours.
        is_ours = bool(run.sealed)
        secret = secret_of(run, self.plan.project, self.ledger) if is_ours else new_secret()
        put = self._to_table if self.request.ends.path is None else self._to_file
        return put(run, secret, certified)

    def certify_again(self, run: Run, digest: str) -> None:
        """Write the certificate that is gone of a release that stands."""
        ends = self.request.ends
        check_certificate(ends.certificate_path, ends.subject, replace=self.replace)
        write_certificate(self._envelope(run, digest), ends.certificate_path, replace=self.replace)

    def _envelope(self, run: Run, digest: str) -> str:
        return sign(
            statement(self.request.ends.subject, digest, run.predicate), self.signer
        ).to_json()

    def _to_file(self, run: Run, secret: bytes, certified: Callable[[str], str]) -> Done:
        plan, path, facts = self.plan, self.request.ends.path, {METADATA_KEY: run.facts}
        assert path is not None
        with plan.warehouse.sampled(plan.policy, plan.table, secret) as unchanged:
            rows = _kept(plan.warehouse.rows(run.query), run)
            unchanged()
        try:
            digest = publish_file(rows, path, facts, certified, replace=self.replace, mark=run.mark)
        except NotApproved as error:
            keep = partial(write_parquet, rows, metadata=facts)
            error.add_note(let_wait(waiting_file(plan.project, run), keep))
            raise
        return Done(digest, standing.size_of(rows, plan.policy))

    def _to_table(self, run: Run, secret: bytes, certified: Callable[[str], str]) -> Done:
        plan, warehouse, done = self.plan, self.plan.warehouse, list[Done]()
        target = warehouse.target(self.request.ends.name)
        with (
            certificate_of_table(self.request.ends.certificate_path, run.mark) as put,
            warehouse.sampled(plan.policy, plan.table, secret) as unchanged,
        ):

            def attest() -> None:
                unchanged()
                digest, size = standing.size_of_table(warehouse, target, plan.policy)
                try:
                    put(certified(digest))
                except NotApproved as error:
                    text = "".join(f"{line_of(line)}\n" for line in warehouse.release_lines(target))
                    keep = partial(Path.write_text, data=text, encoding="utf-8")
                    error.add_note(let_wait(waiting_file(plan.project, run), keep))
                    raise
                done.append(Done(digest, size))

            warehouse.publish(run.query, target, run.facts, attest, replace=self.replace)
        return done[0]


def _kept(rows: pa.Table, run: Run) -> pa.Table:
    """What a certified query gave, without the classes that break a model of the policy.

    Nothing but those rows decides it, so that it costs nothing.
    """
    facts = run.predicate
    return filtered(rows, len(facts["columns"]), facts["count"], models_of(facts))


@dataclass(frozen=True)
class Rederived:
    """A release that was drawn again, and whether its bytes are those that were published.

    ``recorded`` is the digest of those. Of other bytes nothing is told: they are the result of one
    sample on two states of a source, which nobody has paid for.
    """

    entry: int
    recorded: str | None
    same: bool


def rederive(policy: Policy, project: Project, entry_id: int, key: Path | None = None) -> Rederived:
    """Run an entry's release once more, into a folder that is thrown away.

    Whoever holds a reviewer's key, the policy and the source as it was can do it.

    Raises:
        UsageError: there is no such entry, or it is not one of this policy that can be drawn again.
        LedgerError: the secret is not sealed for the key.
    """
    sealing = load_sealing_key(key or project.sealing_key)
    with open_ledger(project) as ledger:
        entry = ledger.entry(entry_id)
    run = _run_again(policy, entry)
    secret = unseal(run.sealed, run.of, sealing)
    with planned(loaded(policy), project) as plan:
        if not is_of(run, plan.certificate):
            raise UsageError(
                f"entry {entry_id} ran another text than the policy has now; take the policy and"
                " the source as they were"
            )
        with plan.warehouse.sampled(policy, plan.table, secret):
            rows = _kept(plan.warehouse.rows(run.query), run)
        with tempfile.TemporaryDirectory() as folder:
            place, facts = Path(folder) / Path(run.target).name, {METADATA_KEY: run.facts}
            digest = publish_file(rows, place, facts, lambda digest: digest, replace=False)
    return Rederived(entry_id, entry.release_digest, digest == entry.release_digest)


def _run_again(policy: Policy, entry: Entry) -> Run:
    """The run of an entry; UsageError where it cannot be drawn again."""
    if entry.policy_name != policy.name:
        raise UsageError(
            f"entry {entry.id} is of the policy {entry.policy_name!r}, and not of {policy.name!r}"
        )
    if not entry.run:
        raise UsageError(f"entry {entry.id} does not say how to run it again")
    if entry.state != "committed":
        raise UsageError(
            f"entry {entry.id} is {entry.state}: no release of it was published, so that there is"
            " nothing to compare with"
        )
    run = Run.of_entry(entry)
    if not run.sealed:
        raise UsageError(
            f"entry {entry.id} drew its sample by the engine itself (method: native), which keeps"
            " no secret: it cannot be drawn again"
        )
    if not run.is_file:
        raise UsageError(
            f"entry {entry.id} is a table; only a release to a file can be drawn again here"
        )
    return run
