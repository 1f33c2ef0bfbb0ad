"""dbt verify: the tables of releases, checked against their certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption, VarsOption
from policy_engine.cli.options import KeyOption, KeyringOption
from policy_engine.cli.output import complain, confirm, emit_json, is_json, one_line
from policy_engine.cli.verifying import LookedAt, Numbers, certified, checked_lines, meaning
from policy_engine.errors import NothingChecked, UsageError

if TYPE_CHECKING:
    from policy_engine.cli.verifying import Trusted
    from policy_engine.dbt.attesting import Looked


def verify(
    release: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RELEASE]...", help="The releases to check, such as towns_v1. Default: all."
        ),
    ] = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    key: KeyOption = None,
    keyring: KeyringOption = None,
) -> None:
    """Check the tables that dbt has built against their certificates.

    The command checks tables in the same way as 'policy-engine verify' checks files. The rows are
    read through the target's profile. The ledger is not read. If a table differs from its
    certificate or has no certificate, the exit code is 1. If there is no release, the exit code is
    4.

    Example: policy-engine dbt verify --target prod
    """
    from policy_engine.cli.verifying import trusted_keys
    from policy_engine.dbt.attesting import verified
    from policy_engine.dbt.desk import open_desk, place_of

    place = place_of(project_dir, profiles_dir, target, vars)
    if not place.is_released_in:
        raise NothingChecked(f"nothing is released in the target {place.target}")
    trusted, places = trusted_keys(key or [], keyring, place.project)
    known = {each.id: each for each in place.releases(place.parsed())}
    for name in release or []:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"the project has no release {name}; it has {listed}")
    releases = tuple(each for each in known.values() if not release or each.id in release)
    with open_desk(place, writable=False) as desk:
        found = tuple(verified(desk, releases, trusted))
    if is_json():
        emit_json({"target": place.target, "releases": [_document(each, places) for each in found]})
    else:
        confirm({}, [line for each in found for line in _lines(each, places)])
    for each in found:
        for why in each.why:
            complain(f"{each.release.id}: {one_line(why)}")
    if any(each.why for each in found):
        raise typer.Exit(1)
    if not all(each.is_verified for each in found):
        raise typer.Exit(NothingChecked.exit_code)
    if not found:
        raise NothingChecked(f"no release stands in the target {place.target}")


def _document(looked: Looked, places: tuple[Trusted, ...]) -> Mapping[str, object]:
    found = looked.found
    document = {
        "release": looked.release.id,
        "relation": looked.release.relation,
        "edition": looked.release.written.edition.name,
        "verified": looked.is_verified,
        "why": looked.why,
    }
    if found is None:
        return document
    return {
        **document,
        **vars(LookedAt.at(found, places)),
        **vars(Numbers.of(certified(found))),
    }


def _lines(looked: Looked, places: tuple[Trusted, ...]) -> list[str]:
    found = looked.found
    if found is None:
        return []
    head = "verified" if looked.is_verified else "not verified"
    edition = looked.release.written.edition.name
    of_it = f", edition {edition}" if edition else ""
    lines = [f"{head}: {one_line(found.subject)}{of_it}", *checked_lines(found, places)]
    return [*lines, meaning(found)]
