"""dbt search and suggest: the private choices, over a source as dbt has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption, VarsOption
from policy_engine.cli.dbt_releases import asked_in_dbt
from policy_engine.cli.options import EditionOption, PolicyArgument
from policy_engine.errors import UsageError

if TYPE_CHECKING:
    from policy_engine.dbt.desk import Place

ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the policy of an earlier choice.")
]
_NEXT = "dbt sync"


def search(
    policy: PolicyArgument,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    edition: EditionOption = None,
    replace: ReplaceOption = False,
) -> None:
    """Choose a level for each column of a policy of a dbt project, as 'search' does.

    The command reads the source through the target's profile, so dbt must have built the source.
    The account pays `search.epsilon` before the source is read. The new policy is written beside
    POLICY. It names the same release, and 'dbt sync' then uses only the new policy.

    Example: policy-engine dbt search models/towns.privacy.yml --target prod
    """
    from policy_engine.cli.searching import choose
    from policy_engine.dbt.project import CHOSEN, chosen_file

    place = _place(project_dir, profiles_dir, target, vars)
    found, project = place.chooses(policy)
    output = chosen_file(policy, CHOSEN[0], edition or "")
    with asked_in_dbt(" POLICY --search"):
        choose(found, project, output, edition or "", replace=replace, goes_on=_NEXT)


def suggest(
    policy: PolicyArgument,
    epsilon: Annotated[
        str,
        typer.Option(
            "--epsilon", metavar="ε", help="The price of all limits together, such as 0.02."
        ),
    ],
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    edition: EditionOption = None,
    replace: ReplaceOption = False,
) -> None:
    """Choose the limits for one person in a policy of a dbt project, as 'suggest' does.

    The command reads the source through the target's profile, so dbt must have built the source.
    The account pays ε before the source is read. The new policy is written beside POLICY. It names
    the same release, and 'dbt sync' then uses only the new policy.

    Example: policy-engine dbt suggest models/visits.privacy.yml --epsilon 0.02 --target prod
    """
    from policy_engine.cli.suggesting import choose
    from policy_engine.dbt.project import CHOSEN, chosen_file

    place = _place(project_dir, profiles_dir, target, vars)
    found, project = place.chooses(policy)
    output = chosen_file(policy, CHOSEN[1], edition or "")
    with asked_in_dbt(f" POLICY --suggest {epsilon}"):
        choose(found, project, epsilon, output, edition or "", replace=replace, goes_on=_NEXT)


def _place(
    project_dir: Path | None, profiles_dir: Path | None, target: str | None, variables: str | None
) -> Place:
    from policy_engine.dbt.desk import place_of

    place = place_of(project_dir, profiles_dir, target, variables)
    if not place.is_released_in:
        listed = ", ".join(place.project.dbt.release_targets) or "none"
        raise UsageError(
            f"nothing is chosen in the target {place.target}: an account pays for the data of a"
            f" release target, of which the project file lists {listed}"
        )
    return place
