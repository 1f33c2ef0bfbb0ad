"""A dry run of a release: what it would be, and whether its account can pay."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from dataclasses import replace as replace_field
from functools import cached_property

from policy_engine.attest.predicates import Vouched
from policy_engine.compile.catalog import Table
from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.account import (
    Account,
    Balance,
    admit,
    affords,
    balance_of,
    check_not_raised,
)
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing.beginning import check_clean
from policy_engine.releasing.below import paying_account, through_view
from policy_engine.releasing.books import (
    account_now,
    check_not_lost,
    has_ledger,
    limit_of,
    naming_key,
    open_ledger,
)
from policy_engine.releasing.charging import another_account, charge_of, check_payer, request_for
from policy_engine.releasing.places import ends_of
from policy_engine.releasing.planning import open_warehouse, project_of, vouched_for
from policy_engine.releasing.requests import Ends, Request, Run, as_charged, place_of
from policy_engine.releasing.sizes import digest_at
from policy_engine.warehouse.base import Warehouse


@dataclass(frozen=True)
class Preview:
    """What a release would be: its certificate, the account that would pay, and what.

    ``refusal`` says why the account cannot pay, ``repeats`` is the entry that has paid already,
    ``news`` what should be known before it is paid.
    """

    certificate: Vouched
    account: Account
    charge: Charge
    refusal: str = ""
    repeats: int | None = None
    news: str = ""

    @property
    def balance(self) -> Balance:
        """Where the account stands before the release."""
        return balance_of(self.account)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay, or need not."""
        return not self.refusal or self.repeats is not None

    @cached_property
    def after(self) -> Balance:
        """Where the account stands after the release, if it can pay."""
        return balance_of(self._paid)

    def more(self, most: int) -> int | None:
        """How many releases like it the account can pay for after it: ``most`` is the most tried.

        None without a limit.
        """
        if self.account.limit is None:
            return None
        account, found = self._paid, 0
        while found < most and affords(account, self.charge):
            account, found = account.plus(self.charge), found + 1
        return found

    @property
    def _paid(self) -> Account:
        """The account once it has paid, if it must."""
        return self.account if self.repeats is not None else self.account.plus(self.charge)


def preview(policy: Policy, project: Project | None = None) -> Preview:
    """A dry run: the certificate to be, and what its account has left. Writes nothing."""
    policy = loaded(policy, syntactic=True)
    project = project or project_of(policy)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        certificate, table = vouched_for(policy, project, warehouse)
        with through_view(table):
            request = _asked(policy, project, warehouse, certificate, table)
            repeats = None if request is None else _paid(policy, project, warehouse, request)
        place = place_of(policy, ends_of(policy, project, warehouse))
        check_clean(project, (ends_of(policy, project, warehouse).certificate_path,))
    name = paying_account(policy, project, table, certificate.dialect)
    limit = limit_of(policy, project, name)
    account = account_now(project, name, limit)
    charge = charge_of(name, certificate, policy)
    if request is not None:
        charge = replace_field(charge, part=request.part)
    found = Preview(certificate, account, charge, "", repeats)
    try:
        if repeats is None and has_ledger(project):
            with open_ledger(project) as ledger:
                news = another_account(policy, ledger.last_at(place), account)
                found = replace_field(found, news=news)
                asked = charge
                if request is not None:
                    asked = replace_field(charge, source=request.source, beside=request.beside)
                check_payer(ledger, project, asked)
        check_not_raised(account, limit)
        admit(account, charge)
    except BudgetExceeded as error:
        return replace_field(found, refusal=str(error))
    return found


def _asked(
    policy: Policy, project: Project, warehouse: Warehouse, certificate: Vouched, table: Table
) -> Request | None:
    """What a ledger would be asked for; None where there is none, for none is made to find out."""
    if not has_ledger(project):
        return None
    with open_ledger(project) as ledger:
        if not project.sealing_key.exists():
            check_not_lost(project, ledger)
            return None
        naming = naming_key(project, ledger)
    return request_for(policy, project, warehouse, naming, certificate=certificate, table=table)


def _paid(policy: Policy, project: Project, warehouse: Warehouse, request: Request) -> int | None:
    """The entry that has paid for just this release."""
    with open_ledger(project) as ledger:
        request = as_charged(request, policy, ledger.last_at(request.place))
        found = ledger.paid(request.place, request.of)
    if found is None or not _is_free(found, request.ends, warehouse):
        return None
    return found.id


def _is_free(entry: Entry, ends: Ends, warehouse: Warehouse) -> bool:
    """Whether the release of an entry stands, or can be made again."""
    run = Run.of_entry(entry)
    return bool(run.sealed) or digest_at(run, ends, warehouse) == entry.release_digest
