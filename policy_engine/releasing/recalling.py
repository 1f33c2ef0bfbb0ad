"""Charges that a ledger has forgotten, and certificates prove: found, and booked again.

A backup that is older than a release has not its charge, and a release beside it would be paid for
twice out of one budget. So nothing is charged on such a ledger until a person books what the
certificates in the project's folder prove. Whatever else it has forgotten, entries without a
release among it, no certificate tells.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from policy_engine.attest.attestation import (
    CHOICE_TYPE,
    Statement,
    Unverified,
    open_envelope,
    stated_type,
    type_of_release,
)
from policy_engine.attest.certificates import added_edition, certificate_in, is_made_by_dbt
from policy_engine.attest.choices import ChoiceStated
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.attest.signers import writer_of
from policy_engine.errors import (
    BudgetExceeded,
    LedgerBroken,
    NotApproved,
    PolicyEngineError,
    UsageError,
)
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.mechanisms.events import charged
from policy_engine.ledger.entry import Charge, Entry, Run
from policy_engine.ledger.states import NAMED_BY
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.windows import window_at
from policy_engine.ledger.witness import Witness
from policy_engine.policy.accounts import account_of, listed_as
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.within import policy_paths
from policy_engine.releasing import beginning, books
from policy_engine.releasing.asking import source_of
from policy_engine.releasing.charging import charge_of_choice, recalled
from policy_engine.releasing.planning import open_warehouse, paying_account
from policy_engine.releasing.publish import COPIES, content_of
from policy_engine.releasing.requests import (
    Ends,
    certificate_of_table,
    choice_name,
    new_run,
    place_of,
    release_id,
    run_of,
    units_of,
    units_written,
)
from policy_engine.values import frozen

_WHY = "its certificate proves that it was released"


@frozen
class Recalled:
    """A charge that was booked again: its entry, and the certificate that proves it.

    ``unknown`` says why its entry has no source, so that this is nobody's; empty where it has.
    """

    entry: Entry
    certificate: Path
    unknown: str = ""


def recall(
    project: Project, given: Mapping[str, str] = MappingProxyType({})
) -> tuple[Recalled, ...]:
    """Book to each account what certificates prove that was released, and the ledger forgot.

    Each is charged whatever the limit says, for it happened: to the account that its policy pays
    from, if that is in the project's folder as it was; else to the one that its policy was charged
    to before, else to the one that ``given`` has for the policy's name, else to the only one of the
    project file. Its source is the account's, if the policy is in the project's folder. An account
    without a limit gets the project file's first, so that each charge counts in its own window.
    What this machine had seen of the ledger is what it is from now on.

    Raises:
        UsageError: it is not known which account a release was charged to, or a ``given`` one is
            none of the project's.
        LedgerError: the ledger fails, does not hold, or is another one than the project's.
    """
    signer = writer_of(project)
    with books.open_ledger(project, signer, compared=False) as ledger:
        ledger.verify()
        trusted = beginning.whenever(books.trusted_keys(project, signer))
        places = beginning.certificates_in(project.directory)
        found = [
            (path, open_envelope(content_of(path), trusted, str(stated_type(content_of(path)))))
            for path in beginning.forgotten(places, ledger.read().budget.entries(), trusted)
        ]
        # The last one of a place is what stands there.
        found.sort(key=lambda each: (str(each[1].predicate["time"]), not _is_copy(each[0])))
        sources = _Sources(project, ledger)
        owners = [_owner(said, path, sources, given) for path, said in found]
        for owner in dict.fromkeys(owners):
            _begin_limit(ledger, owner, project)
        booked = []
        for (path, said), owner in zip(found, owners, strict=True):
            run, place = _run(said, path, project)
            charge = replace(_charge(said, owner.account), request=place, run=run)
            certificate = None if _is_choice(said) else certificate_in(said)
            time = str(said.predicate["time"])
            charge = recalled(charge, time, certificate, ledger.read(), project)
            charge, unknown = sources.named(charge, certificate, path)
            booked.append(Recalled(_book(ledger, charge, said), path, unknown))
        _remember(project, ledger)
    return tuple(booked)


def _is_copy(certificate: Path) -> bool:
    return certificate.parent.name == COPIES


def _is_choice(said: Unverified) -> bool:
    return type_of_release(said.predicate) == CHOICE_TYPE


def _run(said: Unverified, path: Path, project: Project) -> tuple[Run, str]:
    """The run of a release, as its certificate tells it, and its place; its secret is nobody's."""
    if _is_choice(said):
        folder = path.parent.parent if _is_copy(path) else path.parent
        ends = Ends.of_file(folder / said.subject_name, project.directory)
        stated = ChoiceStated.of(said)
        place = place_of(choice_name(stated.policy_name, stated.kind), ends, Edition())
        return run_of(stated.predicate(), ends, "", ""), place
    certificate = certificate_in(said)
    name = certificate.terms.policy_name
    folder = path.parent.parent if _is_copy(path) else path.parent
    if said.subject_name.lower().endswith(".parquet"):
        ends = Ends.of_file(folder / said.subject_name, project.directory)
    else:
        called = certificate_of_table(name, certificate.terms.edition or Edition())
        beside = folder / called if _is_copy(path) else path
        added = added_edition(certificate)
        ends = Ends.of_table(said.subject_name, beside, project.directory, added)
        if is_made_by_dbt(certificate):  # there the table names the place, and no policy does
            name = said.subject_name
    run = new_run(release_id(certificate), ends, certificate, {})
    return run, place_of(name, ends, certificate.terms.edition or Edition())


@frozen
class _Sources:
    """The names of the sources of policies that lie in a project's folder."""

    project: Project
    ledger: Ledger

    def named(
        self, charge: Charge, certificate: Certificate | None, path: Path
    ) -> tuple[Charge, str]:
        """The charge with the names of its source; or as it is, and why they are not known.

        Where a path starts, and which warehouse a table is in, a certificate does not say. What
        belongs to another account meanwhile stays there. Who is one person in it is not compared:
        it happened. A choice has no ``certificate`` of a text. ``path`` is the certificate's.
        """
        policy = self.policy_of(charge.policy_name, charge.policy_digest, path)
        if policy is None:
            return charge, (
                f"no policy in {self.project.directory} has the digest of the one that was"
                f" released, {charge.policy_digest}"
            )
        try:
            source = source_of(policy, self.project, self.ledger)
            named = replace(charge, source=source)
            self.ledger.read().sources.check(named)
        except BudgetExceeded:
            return charge, "its source belongs to another account, and stays there"
        except PolicyEngineError as error:
            return charge, str(error)
        units = units_written(policy) if certificate is None else units_of(certificate.claim)
        places = (name for what, name in source.items() if what != NAMED_BY)
        return replace(named, units=dict(zip(places, units, strict=True))), ""

    def policy_of(self, name: str, digest: str, path: Path) -> Policy | None:
        """The policy of a certificate: of two with one text, the one in the nearest folder above.

        The paths that a policy writes are from its own folder: elsewhere they are other files.
        """
        above = path.resolve().parents

        def nearness(policy: Policy) -> int:
            folder = policy.directory.resolve()
            return len(folder.parts) if folder in above else 0

        same = (each for each in self.policies if (each.name, each.digest) == (name, digest))
        return max(same, key=nearness, default=None)

    def payer_of(self, policy: Policy) -> str:
        """The account that a policy pays from; PolicyEngineError where its table is not found."""
        if policy.declared_budget or policy.source_path is not None:
            return account_of(policy, self.project, ())
        with closing(open_warehouse(policy, self.project, writes=False)) as warehouse:
            table = warehouse.table(policy.source, policy.directory)
            return paying_account(policy, self.project, table)

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        found = []
        for path in policy_paths(self.project.directory):
            with suppress(PolicyEngineError, OSError):
                found.append(load_policy(path, unpromised=True))
        return tuple(found)


def _remember(project: Project, ledger: Ledger) -> None:
    """Let what this machine has seen of the ledger be what it is now, where that was more."""
    try:
        books.open_ledger(project).close()
    except LedgerBroken:
        project.witness.unlink(missing_ok=True)
    Witness(project.witness).remember(ledger.read().chain.head)


@frozen
class _Owner:
    """The account that a release was charged to; its ``relation`` where that pays for itself."""

    account: str
    relation: str | None = None


def _owner(said: Statement, path: Path, sources: _Sources, given: Mapping[str, str]) -> _Owner:
    """Who has paid for a release; the digest of a policy is of its account, too."""
    if _is_choice(said):
        return _Owner(ChoiceStated.of(said).account)
    project, terms = sources.project, certificate_in(said).terms
    name, entries = terms.policy_name, sources.ledger.read().budget.entries()
    if policy := sources.policy_of(name, terms.policy_digest, path):
        with suppress(PolicyEngineError):
            relation = None if policy.declared_budget else policy.source.relation
            return _Owner(sources.payer_of(policy), relation)
    before = [entry.account for entry in entries if entry.policy_name == name]
    if before:
        return _Owner(before[-1])
    if name in given:
        return _Owner(_listed(given[name], project))
    if len(project.accounts) == 1:
        return _Owner(next(iter(project.accounts)))
    raise UsageError(
        f"{path}: the ledger does not know which account {name!r} was charged to, and no policy in"
        f" {project.directory} is the one that was released; nothing was booked: put that policy"
        f" back, or name its account with --account {shlex.quote(name)}=ACCOUNT"
    )


def _listed(account: str, project: Project) -> str:
    """An account that somebody names; UsageError of one that the project file does not list."""
    if project.accounts and not project.accounts_open and listed_as(account, project) is None:
        known = ", ".join(project.accounts)
        raise UsageError(
            f"--account names {account!r}, which is none of {project.file}: it has {known}; nothing"
            " was booked"
        )
    return account


def _begin_limit(ledger: Ledger, owner: _Owner, project: Project) -> None:
    """Record the first limit of an account that has none: by it charges find their windows."""
    limit = books.stated_limit(project, owner.account, owner.relation)
    if limit is not None:
        [window] = window_at(limit.each, ledger.read().at, project.zone)
        ledger.begin_limit(owner.account, limit, window)


def _charge(said: Statement, account: str) -> Charge:
    """What a certificate proves that a release, or a choice, cost."""
    if _is_choice(said):
        return charge_of_choice(ChoiceStated.of(said))
    certificate = certificate_in(said)
    promise, terms = certificate.promise, certificate.terms
    event, delta = charged(certificate.claim, promise)
    return Charge(
        account=account,
        epsilon=promise.epsilon,
        delta=delta,
        neighbours=promise.neighbours,
        policy_name=terms.policy_name,
        policy_digest=terms.policy_digest,
        certificate_digest=predicate_digest(said.predicate),
        event=event,
    )


def _book(ledger: Ledger, charge: Charge, said: Statement) -> Entry:
    """Charge a release that is out, and settle its entry: it was published."""
    entry = ledger.start(ledger.reserve(charge, is_out=True).id)
    ledger.draw(entry.id, said.subject_sha256)
    try:
        return ledger.commit(
            entry.id, release_name=said.subject_name, release_digest=said.subject_sha256
        )
    except NotApproved:  # by its account's people, of whom nobody knows what they approved
        return ledger.keep(entry.id, _WHY)
