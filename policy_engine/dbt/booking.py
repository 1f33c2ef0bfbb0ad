"""Reserving a release that dbt will make: certified, charged, its secret put where dbt reads it.

The text is the one that dbt compiled, so it is compiled first. The charge is durable, and the entry
started, before the secret can be read: from then on dbt may draw the sample at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from policy_engine.attest.sealing import load_reviewer_key, seal, state_mac, state_salt, unseal
from policy_engine.attest.signers import writer_of
from policy_engine.attest.validity import moment
from policy_engine.books import limit_of, named_otherwise, open_ledger, sealing_key
from policy_engine.compile.catalog import Table
from policy_engine.dbt.releases import DbtRelease
from policy_engine.dbt.texts import plain, text_md5
from policy_engine.errors import BudgetExceeded, NotCertifiable, WarehouseError
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.places import refused
from policy_engine.policy.project import Project
from policy_engine.policy.project import Warehouse as Named
from policy_engine.policy.resolve import Policy
from policy_engine.release import charge_of, schema_of
from policy_engine.requests import Ends, Request, Run, place_of
from policy_engine.syntax.grammar import dialect_named as reader_named
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import Certificate, certify
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.waiting import WaitingSecrets, waiting_secrets

Outcome = Literal["reserved", "waits", "stands", "again"]


@dataclass(frozen=True)
class Reserved:
    """What became of a release: ``entry`` is None where it stands, and nothing had to be paid."""

    release: DbtRelease
    outcome: Outcome
    certificate: Certificate | None
    entry: Entry | None


@dataclass(frozen=True)
class Desk:
    """What reserving and attesting need: the project's books, and a connection."""

    project: Project
    named: Named
    warehouse: Warehouse
    secrets: str
    schemas: Callable[[DbtRelease], Schema]
    """What is known of a release's source where it does not stand yet."""

    @property
    def depth(self) -> int:
        """How many parts a name has in the warehouse."""
        return 2 if self.named.type == "postgres" else 3

    def stands(self, parts: tuple[str, ...]) -> bool:
        """Whether there is a relation of this full name."""
        return self.warehouse.exists(parts[-self.depth :])


def reserve(desk: Desk, releases: tuple[tuple[DbtRelease, str], ...]) -> tuple[Reserved, ...]:
    """Reserve every release that does not stand; each comes with its compiled text.

    All are certified before the first is charged.

    Raises:
        PolicyError, NotCertifiable: a release cannot be certified; none was charged.
        BudgetExceeded: an account cannot pay; those before it are reserved.
        LedgerError, WarehouseError, FileError: as it says.
    """
    due, found = [], []
    for release, text in releases:
        if desk.stands(release.parts):
            found.append(Reserved(release, "stands", None, None))
        else:
            due.append((release, certified(desk, release, text)))
    if due:
        signer = writer_of(desk.project, moment(due[0][1].time))
        with open_ledger(desk.project, signer) as ledger:
            found += [Booking(desk, ledger, *each).run() for each in due]
    order = {release.id: place for place, (release, _) in enumerate(releases)}
    return tuple(sorted(found, key=lambda each: order[each.release.id]))


def certified(desk: Desk, release: DbtRelease, text: str) -> Certificate:
    """The certificate of a text that dbt compiled, by what is known of its source.

    Raises:
        PolicyError: the policy names no account.
        NotCertifiable: the text is not what the policy asks for.
    """
    policy = release.policy
    if not policy.declared_budget:
        law = "budget must name the account that pays: in dbt the source is made of other tables"
        raise refused(policy.file, "budget", law, "as in budget: people")
    table = source_table(desk, release)
    schema = schema_of(table) if table is not None else desk.schemas(release)
    try:
        return certify(
            policy,
            plain(text),
            desk.warehouse.dialect.name,
            schema=schema,
            engine_version=desk.warehouse.engine_version,
        )
    except NotCertifiable as error:
        error.add_note(f"{release.model.file}, as dbt compiles it in the target {release.target}")
        raise


def source_table(desk: Desk, release: DbtRelease) -> Table | None:
    """The source as the warehouse has it; None where dbt has not made it yet."""
    if not desk.stands(release.reads):
        return None
    policy = release.policy
    relation = ".".join(release.reads[-desk.depth :])
    return desk.warehouse.table(replace(policy.source, relation=relation), policy.directory)


def secrets_relation(text: str, dialect: str, name: str) -> tuple[str, ...] | None:
    """The full name of the secrets relation that a text reads; None where it reads none."""
    last = name.rsplit(".", maxsplit=1)[-1].lower()
    try:
        statement = reader_named(dialect).parse(text)[0]
    except SqlglotError:
        return None
    if statement is None:
        return None
    tables = (t for t in statement.find_all(exp.Table) if t.name.lower() == last)
    return next((tuple(part.name for part in table.parts) for table in tables), None)


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
        with secrets_of(self.desk, self.certificate.sql) as secrets:
            last = self.ledger.last_at(self._place)
            if last is not None and last.run.get("of") == self._of:
                if last.is_open and last.state != "reserved" and secrets.waits(self.release.id):
                    return Reserved(self.release, "waits", self.certificate, last)
                if self._gives_the_same(last):
                    self._put(secrets, last)
                    return Reserved(self.release, "again", self.certificate, last)
            entry = self._charged(anew=last is not None and last.state != "reserved")
            self._put(secrets, entry)
        return Reserved(self.release, "reserved", self.certificate, entry)

    def _gives_the_same(self, last: Entry) -> bool:
        """Whether the sample of a release that is gone, drawn again, gives the same release.

        Of another state of the source it would be a second release of one sample, which is no two
        releases of their own.
        """
        if last.state != "committed" or not last.run.get("sealed") or not last.source_state:
            return False
        return last.source_state == source_state(self.desk, self.ledger, self.release)

    def _charged(self, *, anew: bool) -> Entry:
        project, account = self.desk.project, self.release.policy.budget
        limit = limit_of(self.release.written, project, account)
        if twin := named_otherwise(self.ledger, project, account):
            raise BudgetExceeded(twin)
        entry = self.ledger.reserve(self.charge(), limit, anew=anew).entry
        return self.ledger.start(entry.id) if entry.state == "reserved" else entry

    def charge(self) -> Charge:
        """What its account is asked for: its guarantee, where no text of it can be certified."""
        release, ends = self.release, ends_of(self.desk.project, self.release)
        if self.certificate is None:
            return replace(guarantee_of(release.policy), request=self._place)
        request = Request(self._place, self._of, ends)
        keys = [sealing_key(self.desk.project, self.ledger).public_key()]
        keys += map(load_reviewer_key, self.desk.project.reviewers)
        sealed = seal(new_secret(), request.of, keys) if release.policy.method == "keyed" else {}
        run = Run.new(request, self.certificate, sealed)
        charge = charge_of(release.policy.budget, self.certificate, release.policy)
        return replace(charge, request=request.place, run=run.to_json())

    @property
    def _place(self) -> str:
        return place_of(self.release.policy, ends_of(self.desk.project, self.release))

    @property
    def _of(self) -> str:
        """What is asked for; dbt may make the source anew first, so its state is not in it."""
        assert self.certificate is not None
        parts = [self.release.policy.digest, self.certificate.sql, self.release.relation]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _put(self, secrets: WaitingSecrets, entry: Entry) -> None:
        run = Run.of_entry(entry)
        # An engine that draws by itself needs no secret, but it does need leave to draw once.
        secret = b""
        if run.sealed:
            secret = unseal(run.sealed, run.of, sealing_key(self.desk.project, self.ledger))
        secrets.put(self.release.id, secret, text_md5(run.sql))


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
    )


def secrets_of(desk: Desk, text: str) -> AbstractContextManager[WaitingSecrets]:
    """The secrets relation that a text reads.

    Raises:
        WarehouseError: it reads none, or none can be written to.
    """
    name = secrets_relation(text, desk.warehouse.dialect.name, desk.secrets)
    if name is None:
        raise WarehouseError(f"the model reads no secrets relation {desk.secrets}; sync it anew")
    return waiting_secrets(desk.named, desk.warehouse, name)


def source_state(desk: Desk, ledger: Ledger, release: DbtRelease) -> str:
    """A keyed name of what a release reads of its source now; empty where it does not stand."""
    table = source_table(desk, release)
    if table is None:
        return ""
    key = sealing_key(desk.project, ledger)
    return state_mac(desk.warehouse.fingerprint(release.policy, table, state_salt(key)), key)
