"""What an account that requires approvals asks of a release that dbt makes."""

from __future__ import annotations

from policy_engine.dbt.desk import Desk
from policy_engine.dbt.releases import DbtRelease
from policy_engine.errors import NotApproved
from policy_engine.ledger.store import Ledger
from policy_engine.releasing.reviewing import check_pinned


def check_can_wait(desk: Desk, ledger: Ledger, release: DbtRelease) -> None:
    """Return unless what came out would have to be approved before it stands; NotApproved then."""
    account = release.policy.budget
    check_pinned(desk.project, ledger, account)
    required = ledger.required(account)
    if required is not None and required.needs("release"):
        raise NotApproved(_STANDS_AT_ONCE.format(release.id, account))


_STANDS_AT_ONCE = (
    "{}: account {!r} requires approvals of what came out before it stands, and a table of dbt"
    " stands as soon as it is built: ask for approvals of the claim alone in the review policy."
    " Nothing was charged"
)
