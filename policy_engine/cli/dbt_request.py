"""dbt request: asking for the approvals that releases of a dbt project wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption, VarsOption
from policy_engine.cli.output import Format, FormatOption
from policy_engine.cli.review import KeyOption, emit_asked, signer

if TYPE_CHECKING:
    from policy_engine.dbt.desk import Desk
    from policy_engine.dbt.releases import DbtRelease
    from policy_engine.ledger.reviews import Required
    from policy_engine.ledger.store import Ledger
    from policy_engine.releasing.asking import Sought


def request(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    key: KeyOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Ask for approvals of every release that does not stand, and whose account requires them.

    As 'review request' does: a file a release beside its certificate, for those who approve. 'dbt
    reserve' charges nothing before they have.

    Example: policy-engine dbt request --target prod --key ada.pem
    """
    from policy_engine.dbt.desk import open_desk, place_of
    from policy_engine.releasing.asking import ask_for
    from policy_engine.releasing.books import open_ledger

    place = place_of(project_dir, profiles_dir, target, vars)
    done: list[tuple[Sought, Required, bool]] = []
    with open_desk(place) as desk, open_ledger(desk.project) as opened:
        for each, required in sought(desk, opened, place.compiled()):
            written = ask_for(each, required, opened, signer(desk.project, key))
            done.append((each, required, written))
    for each, required, written in done:
        emit_asked(each, required, format, written=written)


def sought(
    desk: Desk, opened: Ledger, releases: tuple[tuple[DbtRelease, str], ...]
) -> Iterator[tuple[Sought, Required]]:
    """What each release that does not stand waits for, where its account requires approvals."""
    from policy_engine.dbt.booking import Booking, certified
    from policy_engine.releasing.asking import asked_of_charge

    for release, text in releases:
        required = opened.required(release.policy.budget)
        if required is not None and required.needs("claim") and not desk.stands(release.parts):
            booking = Booking(desk, opened, release, certified(desk, release, text))
            yield asked_of_charge(booking.charge(), release.certificate, opened), required
