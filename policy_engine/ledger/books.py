"""What a ledger says, as it was read at one moment: its chain, its accounts, who approved what."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from policy_engine.errors import BudgetExceeded, NotApproved
from policy_engine.ledger.account import Account, Limit, affords
from policy_engine.ledger.approvals import Approvals
from policy_engine.ledger.chained import Budget, Chain
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.plan_records import Solve, paying
from policy_engine.ledger.sources import Sources
from policy_engine.values import frozen


@frozen
class Books:
    """A ledger that is asked, as it was ``at`` a moment, which is never before its last record's.

    Nothing here is read from its store again. What is written is decided in a write, on the books
    as they are then: see ``Ledger``.
    """

    chain: Chain
    at: datetime

    @cached_property
    def budget(self) -> Budget:
        """Accounts, and what was charged to them."""
        return Budget(self.chain)

    @cached_property
    def sources(self) -> Sources:
        """Whose sources are."""
        return Sources(self.chain, self.budget)

    @cached_property
    def approvals(self) -> Approvals:
        """What accounts require, and who has approved what."""
        return Approvals(self.chain, self.budget, self.at)

    def check(self) -> None:
        """Return if a key that counts has signed the last record; LedgerBroken."""
        if self.chain.records:
            self.chain.trusted(self.chain.records[-1])

    def payer(
        self, charge: Charge, limit: Limit | None = None, solve: Solve | None = None
    ) -> Account | None:
        """The account as it would pay for this now; None where ``reserve`` would refuse it."""
        try:
            self.sources.check(charge)
            account = self.paying(charge, limit, solve)
            self.check_reviewed(charge)
        except (BudgetExceeded, NotApproved):
            return None
        return account if affords(account, charge) else None

    def paying(self, charge: Charge, limit: Limit | None, solve: Solve | None) -> Account:
        """The account of a charge as it is when it is asked: under its limit, with its plan.

        Raises BudgetExceeded where the limit is another one than the ledger's, or the plan.
        """
        return paying(self.budget.account(charge.account), charge, limit, solve)

    def check_reviewed(self, charge: Charge) -> None:
        """NotApproved where a charge lacks what its account requires; ``reserve`` asks again."""
        self.approvals.reviewed(charge, is_out=False)

    def check_keeps_sources(self) -> None:
        """NotApproved where names are forgotten, and an account requires approvals."""
        for name in self.budget.names():
            lost = "without its sealing key nobody knows which sources are its"
            self.approvals.check_lets_go(name, lost)
