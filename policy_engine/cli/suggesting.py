"""suggest: in how many groups a person counts, with how many rows, and between which bounds."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

from typer import Option

from policy_engine.cli.options import EditionOption, PolicyArgument
from policy_engine.cli.output import confirm, note
from policy_engine.cli.reading import decimal_of
from policy_engine.cli.searching import price_of_choice
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import counted
from policy_engine.releasing.planning import project_of
from policy_engine.values import frozen


@frozen
class SuggestedSaid:
    """The numbers that were chosen, the policy that has them, its certificate, and their price."""

    policy: str
    certificate: str
    outcome: str
    numbers: dict[str, int | list[int | float]]
    epsilon: Decimal
    delta: Decimal
    candidates: int
    account: str
    entry: int


def suggest(
    policy: PolicyArgument,
    epsilon: Annotated[
        str,
        Option("--epsilon", metavar="ε", help="The price of all limits together, such as 0.02."),
    ],
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="The policy to write. Default: POLICY.suggested.yaml."),
    ] = None,
    edition: EditionOption = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace the policy of an earlier suggestion.")
    ] = False,
) -> None:
    """Choose the limits for one person: max_groups, max_rows_per_group, and the bounds of measures.

    First write the largest possible limits into the policy: numbers that no person exceeds, as far
    as the public knows. The candidates for each limit are 1, 2, 5, 10 and so on, up to your number.
    For bounds, the candidates are pairs.

    The command draws one candidate for each limit with differential privacy. ε is divided equally
    among the limits. A narrow limit leaves out rows, or cuts values, of some people. A wide limit
    needs more noise.

    A limit is usually doubled only if enough people lie between it and its double. If ε′ is the
    limit's part of ε, enough are 2/ε′ people: with ε′ = 0.01, 200 people. Under replace_one, enough
    are 4/ε′.

    The account pays ε before the source is read. The command writes a new policy with the limits,
    and a certificate that lists the candidates. Nothing else is shown. If you ask again with the
    same ε, you get the same limits at no cost. --edition NAME chooses again, at a price.

    Example: policy-engine suggest visits.yaml --epsilon 0.02
    """
    loaded = load_policy(policy)
    choose(loaded, project_of(loaded), epsilon, output, edition or "", replace=replace)


def choose(
    policy: Policy,
    project: Project,
    epsilon: str,
    output: Path | None,
    edition: str,
    *,
    replace: bool,
    goes_on: str = "plan {}",
) -> None:
    """Choose numbers privately, and say what they cost; ``goes_on`` is the command after it."""
    from policy_engine.choose import suggesting

    chosen = suggesting.suggest(
        policy, project, decimal_of("--epsilon", epsilon),
        output=output, edition=edition, replace=replace, say=note,
    )  # fmt: skip
    numbers = suggesting.numbers_in(chosen.policy, suggesting.choosable(policy))
    said = SuggestedSaid(
        str(chosen.policy), str(chosen.certificate), chosen.outcome, numbers, chosen.epsilon,
        Decimal(0), chosen.candidates, chosen.account, chosen.entry,
    )  # fmt: skip
    lines = [
        f"chose one of {counted(chosen.candidates, 'candidate')}: {chosen.policy}",
        *(f"  {name}: {value}" for name, value in numbers.items()),
        *price_of_choice(chosen, goes_on),
    ]
    confirm(said, lines)
