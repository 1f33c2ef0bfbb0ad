"""The one orchestration: policy → plan → text → certificate → charge → run → release.

Everything that can fail without touching the data fails before the charge. After it, a crash
at any step leaves the charge standing: somebody may have seen something.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from dataclasses import replace as replace_field
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.keys import (
    SIGNING_KEY_VARIABLE,
    generate_key,
    load_private_key,
)
from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import compiled_plan
from policy_engine.compile.plan import Plan
from policy_engine.compile.rendering import render
from policy_engine.dialects import Dialect, dialect_named
from policy_engine.errors import (
    BudgetExceeded,
    FileError,
    LedgerError,
    PolicyError,
    UsageError,
)
from policy_engine.ledger.account import Balance, Limit, admit
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger, Reservation
from policy_engine.policy.accounts import account_of, check_account
from policy_engine.policy.fields import Method
from policy_engine.policy.places import located, refused
from policy_engine.policy.project import (
    Project,
    default_project,
    find_project,
    load_project,
)
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.publish import (
    METADATA_KEY,
    certificate_for,
    certificate_path,
    check_target,
    is_of_a_release,
    not_a_release,
    publish_file,
)
from policy_engine.syntax.names import dotted
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import Certificate, certify
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.drawing import new_secret


@dataclass(frozen=True)
class Preview:
    """What a release would be: its certificate, and the account that would pay."""

    certificate: Certificate
    account: str
    balance: Balance
    affordable: bool


@dataclass(frozen=True)
class Released:
    """What a release was. ``release`` and ``certificate`` say where the two are."""

    release: str
    certificate: Path
    epsilon: Decimal
    delta: Decimal
    k: int
    rate: Decimal
    groups: int
    rows: int
    account: str
    entry: int
    epsilon_left: Decimal | None
    delta_left: Decimal | None


def project_of(policy: Policy, start: Path | None = None) -> Project:
    """The project of a policy: found upwards from ``start``, then from the policy's folder."""
    found = find_project(start or Path.cwd()) or find_project(policy.directory)
    return load_project(found) if found is not None else default_project(policy.directory)


def open_warehouse(policy: Policy, project: Project, *, writes: bool) -> Warehouse:
    """A connection to the warehouse that holds the policy's source."""
    # Imported on use: every command would otherwise wait for the engine to load.
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    named = project.warehouse
    needed = policy.source.relation is not None or policy.release.relation is not None
    database = named.database if needed else None
    return DuckDBWarehouse(
        named.name, database, writable=writes and policy.release.relation is not None
    )


def schema_of(table: Table) -> Schema:
    """What the catalog says, in the kernel's words."""
    tables, views = {}, {}
    for each in (table, *table.related):
        if each.view is None:
            types = {column.name: column.type for column in each.columns}
            tables[dotted(each.parts) or each.name] = types
        else:
            views[dotted(each.parts)] = each.view
    return Schema(tables, views, known=True)


def prepare(
    policy: Policy, project: Project, warehouse: Warehouse, *, replace: bool = False
) -> tuple[Certificate, Table]:
    """Compile, render and certify; nothing runs and nothing is charged.

    Raises:
        PolicyError: the policy does not fit its source.
        NotCertifiable: the kernel did not find what the policy asks for.
    """
    table, target = _ends(policy, warehouse)
    _check_apart(policy, table, target)
    plan = _compiled(policy, table, warehouse.dialect, target, replaces=replace)
    certificate = certify(
        policy,
        render(plan),
        warehouse.dialect.name,
        schema=schema_of(table),
        engine_version=warehouse.engine_version,
    )
    return certificate, table


def _ends(policy: Policy, warehouse: Warehouse) -> tuple[Table, tuple[str, ...]]:
    """The source, and the full name of the table to write; no name for a file."""
    table, relation = warehouse.table(policy.source, policy.directory), policy.release.relation
    return table, warehouse.target(relation) if relation is not None else ()


def _check_apart(policy: Policy, table: Table, target: tuple[str, ...]) -> None:
    """Refuse a release over its own source, however the two are written."""
    source, path = policy.source_path, policy.release_path
    same_file = source is not None and path is not None and path.exists() and path.samefile(source)
    same_table = bool(target) and [*map(str.lower, target)] == [*map(str.lower, table.parts)]
    if same_file or same_table:
        key = "release.path" if same_file else "release.relation"
        message = f"{key} must not be the source itself, found {policy.release.text}"
        raise refused(policy.file, key, message, "release to a place of its own")


def _compiled(
    policy: Policy, table: Table, dialect: Dialect, target: tuple[str, ...], *, replaces: bool
) -> Plan:
    try:
        return compiled_plan(policy, table, dialect, target=target, replaces=replaces)
    except PolicyError as error:
        raise PolicyError(located(error.problems, policy.file)) from None


def limit_of(policy: Policy, project: Project, account: str | None = None) -> Limit | None:
    """The limit of the account that pays, None where it only adds up.

    Raises:
        PolicyError: the account's name is a mistyped one.
    """
    check_account(policy, project)
    limit = project.accounts.get(account or account_of(policy, project))
    return None if limit is None else Limit(limit.epsilon, limit.delta)


def paying_account(policy: Policy, project: Project, certificate: Certificate) -> str:
    """The account that pays: a view's release pays from the account of the table it reads."""
    shape = certificate.shape
    return account_of(policy, project, shape.table if shape.views else None)


def charge_of(account: str, certificate: Certificate) -> Charge:
    """What the ledger is asked to book to ``account`` for a certificate."""
    predicate = json.dumps(certificate.predicate(), sort_keys=True)
    return Charge(
        account=account,
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        neighbours=certificate.neighbours,
        policy_name=certificate.policy_name,
        policy_digest=certificate.policy_digest,
        certificate_digest="sha256:" + hashlib.sha256(predicate.encode()).hexdigest(),
    )


def preview(policy: Policy, project: Project | None = None) -> Preview:
    """A dry run: the certificate to be, and what its account has left. Writes nothing."""
    policy = loaded(policy)
    project = project or project_of(policy)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        certificate, _ = prepare(policy, project, warehouse)
    account = paying_account(policy, project, certificate)
    balance = balance_of_account(project, account, limit_of(policy, project, account))
    try:
        admit(balance, charge_of(account, certificate))
    except BudgetExceeded:
        return Preview(certificate, account, balance, affordable=False)
    return Preview(certificate, account, balance, affordable=True)


def compile_policy(policy: Policy, dialect: str = "duckdb", method: str | None = None) -> str:
    """The text of ``policy`` in a dialect; ``method`` shows another way of sampling.

    Raises:
        UsageError: no such dialect or method, or ``policy`` is not a loaded policy.
        PolicyError: the policy does not fit its source.
    """
    policy = loaded(policy)
    if method is not None:
        if method not in {"keyed", "native"}:
            raise UsageError(f"method must be keyed or native, found {method!r}")
        policy = replace_field(policy, method=cast(Method, method))
    wanted = dialect_named(dialect)
    with closing(open_warehouse(policy, project_of(policy), writes=False)) as warehouse:
        table, target = _ends(policy, warehouse)
        return render(_compiled(policy, table, wanted, target, replaces=False))


def balance_of_account(project: Project, account: str, limit: Limit | None) -> Balance:
    """The balance of an account; an absent ledger has spent nothing, and stays absent."""
    from policy_engine.ledger.account import balance_of

    if not project.ledger.exists():
        return balance_of(account, (), limit)
    with Ledger.open(project.ledger, create=False) as ledger:
        return ledger.balance(account, limit)


def release(policy: Policy, project: Project | None = None, *, replace: bool = False) -> Released:
    """Publish what ``policy`` says, with its certificate, and charge its account.

    Guarantee: what is published is what the certificate's text computes from a fresh sample
    under a fresh secret; the account is charged before the sample is drawn.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit, or cannot be certified.
        BudgetExceeded: the account cannot pay; nothing was drawn.
        FileError, WarehouseError, LedgerError: nothing was published, unless the message
            says that the release stands. If the sample was drawn, the charge stands.
        UsageError: ``policy`` is not a loaded policy.
    """
    policy = loaded(policy)
    project = project or project_of(policy)
    with closing(open_warehouse(policy, project, writes=True)) as warehouse:
        certificate, table = prepare(policy, project, warehouse, replace=replace)
        target = _checked_target(policy, warehouse, replace=replace)
        key = signing_key(project)
        account = paying_account(policy, project, certificate)
        limit = limit_of(policy, project, account)
        charge = charge_of(account, certificate)
        with Ledger.open(project.ledger) as ledger:
            with ledger.reserve(charge, limit) as reservation:
                job = _Job(policy, certificate, table, warehouse, key, replace)
                done = job.to_file() if target is None else job.to_table(target)
                _commit(reservation, done)
            balance = ledger.balance(charge.account, limit)
    return _released(certificate, done, reservation, balance)


@dataclass(frozen=True)
class _Done:
    """What was published: its name, SHA-256, certificate, groups and rows."""

    name: str
    digest: str
    certificate: Path
    groups: int
    rows: int


@dataclass(frozen=True)
class _Job:
    """A certified and charged release, ready to run once."""

    policy: Policy
    certificate: Certificate
    table: Table
    warehouse: Warehouse
    key: Ed25519PrivateKey
    replace: bool

    def to_file(self) -> _Done:
        path = self.policy.release_path
        assert path is not None
        with self.warehouse.sampled(self.policy, self.table, new_secret()) as unchanged:
            rows = self.warehouse.rows(self.certificate.sql)
            unchanged()
        metadata = {METADATA_KEY: self._facts()}
        digest = publish_file(
            rows,
            path,
            metadata,
            lambda digest: self._envelope(path.name, digest),
            replace=self.replace,
        )
        groups = rows.num_rows
        if self.policy.release.form == "rows":
            groups = rows.group_by(list(rows.column_names)).aggregate([]).num_rows
        return _Done(str(path), digest, certificate_path(path), groups, rows.num_rows)

    def to_table(self, target: tuple[str, ...]) -> _Done:
        name = ".".join(target)
        path = table_certificate_path(self.policy)
        done: list[_Done] = []
        with (
            certificate_for(path) as put,
            self.warehouse.sampled(self.policy, self.table, new_secret()) as unchanged,
        ):

            def attest() -> None:
                unchanged()
                digest, groups, rows = _digest_of_lines(self.warehouse.release_lines(target))
                put(self._envelope(name, digest))
                done.append(_Done(name, digest, path, groups, rows))

            self.warehouse.publish(self.certificate.sql, target, self._facts(), attest)
        return done[0]

    def _facts(self) -> str:
        return json.dumps(self.certificate.predicate(), sort_keys=True, ensure_ascii=False)

    def _envelope(self, name: str, digest: str) -> str:
        return sign(statement(name, digest, self.certificate.predicate()), self.key).to_json()


def _commit(reservation: Reservation, done: _Done) -> None:
    try:
        reservation.commit(release_name=done.name, release_digest=done.digest)
    except LedgerError as error:
        raise LedgerError(
            f"{error}; {done.name} is published with its certificate and is paid for, but its"
            " ledger entry stays 'reserved'"
        ) from error


def table_certificate_path(policy: Policy) -> Path:
    """Where the certificate of a release into a table stands: beside the policy."""
    return policy.directory / f"{policy.name}.certificate.json"


def _digest_of_lines(lines: Iterable[tuple[Any, ...]]) -> tuple[str, int, int]:
    """SHA-256 of the rows as JSON lines, how many differ, how many there are.

    The rows are sorted, so equal ones stand together.
    """
    digest, groups, rows, last = hashlib.sha256(), 0, 0, None
    for line in lines:
        text = json.dumps([None if v is None else str(v) for v in line], ensure_ascii=False)
        digest.update(text.encode() + b"\n")
        groups, rows, last = groups + (text != last), rows + 1, text
    return digest.hexdigest(), groups, rows


def _checked_target(
    policy: Policy, warehouse: Warehouse, *, replace: bool
) -> tuple[str, ...] | None:
    """The full name of the table to write, None for a file; FileError where it is in the way."""
    if policy.release_path is not None:
        check_target(policy.release_path, replace=replace)
        return None
    target = warehouse.target(policy.release.relation or "")
    name = ".".join(target)
    if not warehouse.exists(target):
        return target
    if not replace:
        raise FileError(f"{name} exists; use --replace to release anew, at a new price")
    if not is_of_a_release(warehouse.comment(target)):
        raise not_a_release(name)
    return target


def signing_key(project: Project) -> Ed25519PrivateKey:
    """The project's key: from the environment, else its file, which is made when missing."""
    if os.environ.get(SIGNING_KEY_VARIABLE):
        return load_private_key()
    if not project.signing_key.exists():
        project.signing_key.parent.mkdir(parents=True, exist_ok=True)
        try:
            generate_key(project.signing_key)
        except FileError:
            if not project.signing_key.exists():  # else another release was faster
                raise
    return load_private_key(project.signing_key)


def _released(
    certificate: Certificate, done: _Done, reservation: Reservation, balance: Balance
) -> Released:
    return Released(
        release=done.name,
        certificate=done.certificate,
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        k=certificate.k,
        rate=certificate.rate,
        groups=done.groups,
        rows=done.rows,
        account=balance.account,
        entry=reservation.entry.id,
        epsilon_left=balance.left_epsilon,
        delta_left=balance.left_delta,
    )
