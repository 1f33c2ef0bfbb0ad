"""calculate: of k, rate, ε and δ the one that is left out, and δ of an exact count; no policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from policy_engine.cli.calibrating import Maximise, solve
from policy_engine.cli.numbers import of_count, of_pair
from policy_engine.cli.options import NeighboursOption, ReleasesOption
from policy_engine.errors import UsageError

_FOURTH = "give three of --k, --rate, --epsilon and --delta: the fourth is the answer"
_OF_ITSELF = {"neighbours": "add_remove", "releases": 1, "group": 1}
"""What an option is that is not given, where that is not nothing."""


def calculate(
    epsilon: Annotated[str | None, Option(help="ε.")] = None,
    delta: Annotated[str | None, Option(help="δ.")] = None,
    k: Annotated[int | None, Option(help="The least count of a released group.")] = None,
    rate: Annotated[str | None, Option(help="The sampling rate, above 0 and below 1.")] = None,
    neighbours: NeighboursOption = "add_remove",
    releases: ReleasesOption = 1,
    group: Annotated[int, Option(help="Of k and rate: protect groups of so many people.")] = 1,
    frontier: Annotated[
        bool, Option("--frontier", help="Show every pair that no other pair beats.")
    ] = False,
    mechanisms: Annotated[
        bool,
        Option("--mechanisms", help="Compare noisy counts of each distribution with a sample."),
    ] = False,
    most_k: Annotated[
        int | None,
        Option(help="The frontier's largest k: 500, replaced 100, several releases 50."),
    ] = None,
    people: Annotated[
        int | None, Option(help="A public prior: so many people in the source.")
    ] = None,
    groups: Annotated[int | None, Option(help="The prior: in so many groups.")] = None,
    exponent: Annotated[
        str | None, Option(help="The prior: the i-th largest in proportion to 1/i^S; 1.")
    ] = None,
    maximise: Annotated[
        Maximise | None, Option(help="What the prior should see most of; people.")
    ] = None,
    unknown: Annotated[
        int | None, Option(help="Of a count: so many records the adversary does not know.")
    ] = None,
    lambda_: Annotated[
        str | None,
        Option("--lambda", help="Of a count: the least probability of either value, at most 1/2."),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Draw it: FILE.svg, .png or .pdf; of a count, certify it."),
    ] = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace a plot or a count's certificate that stands there.")
    ] = False,
) -> None:
    """Of k, rate, ε and δ give three: the fourth is calculated. No policy, no data.

    If you give ε and δ alone, it finds the k and rate at which the smallest groups are shown. With
    --people and --groups it finds those that are expected to release most.

    With --unknown and --lambda it gives δ of an exact count, under assumptions about what the
    adversary knows. That is another kind of statement than a release's.

    Example: policy-engine calculate --k 20 --rate 0.1 --epsilon 0.5
    """
    given = dict(locals())
    if unknown is not None or lambda_ is not None:
        _only(given, "a count", "unknown lambda_ epsilon output replace")
        if unknown is None or lambda_ is None or epsilon is None:
            raise UsageError("a count has three: give --unknown, --lambda and --epsilon")
        of_count(unknown, lambda_, epsilon, output, replace)
    elif k is not None and rate is not None:
        if (epsilon is None) == (delta is None):
            raise UsageError(_FOURTH)
        _only(given, "k and rate", "k rate epsilon delta neighbours releases group")
        of_pair(k, rate, epsilon, delta, neighbours, releases, group)
    elif epsilon is None or delta is None:
        raise UsageError(f"{_FOURTH}; or --epsilon and --delta, for a good pair")
    else:
        if group != 1:
            raise UsageError("--group is of a given k and rate")
        solve(
            epsilon, delta, rate, k, neighbours, releases, frontier=frontier,
            mechanisms=mechanisms, most_k=most_k, people=people, groups=groups, exponent=exponent,
            maximise=maximise, output=output, replace=replace,
        )  # fmt: skip


def _only(given: dict[str, object], what: str, names: str) -> None:
    """Refuse options that mean nothing for what is asked."""
    for name, value in given.items():
        if name not in names.split() and value not in (None, False, _OF_ITSELF.get(name)):
            raise UsageError(f"--{name.replace('_', '-')} means nothing for {what}: leave it out")
