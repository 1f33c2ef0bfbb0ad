"""calculate: of k, rate, ε and δ the one that is left out, and δ of an exact count; no policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from policy_engine.cli.calibrating import Maximise, solve
from policy_engine.cli.numbers import of_count, of_group, of_pair
from policy_engine.cli.options import NeighboursOption, ReleasesOption
from policy_engine.errors import UsageError

_FOURTH = "give three of --k, --rate, --epsilon and --delta: the fourth is the answer"
_OF_ITSELF = {"neighbours": "add_remove", "releases": 1, "group": 1}
"""What an option is that is not given, where that is not nothing."""


def calculate(
    epsilon: Annotated[str | None, Option(help="ε.")] = None,
    delta: Annotated[str | None, Option(help="δ.")] = None,
    k: Annotated[int | None, Option(help="The smallest count of a group that is released.")] = None,
    rate: Annotated[str | None, Option(help="The sampling rate, above 0 and below 1.")] = None,
    neighbours: NeighboursOption = "add_remove",
    releases: ReleasesOption = 1,
    group: Annotated[
        int,
        Option(
            help="The number of people who are protected together. Without --k and --rate: what the"
            " --epsilon and --delta of one person give them, by any mechanism, such as noise."
        ),
    ] = 1,
    frontier: Annotated[
        bool, Option("--frontier", help="Show every pair of k and rate that no other pair beats.")
    ] = False,
    mechanisms: Annotated[
        bool,
        Option(
            "--mechanisms",
            help="Compare a sample with noisy counts, for each distribution of noise.",
        ),
    ] = False,
    most_k: Annotated[
        int | None,
        Option(
            help="The largest k that is tried. The default is 500. With replace_one it "
            "is 100, and for several releases 50."
        ),
    ] = None,
    people: Annotated[
        int | None, Option(help="A public estimate: the number of people in the source.")
    ] = None,
    groups: Annotated[int | None, Option(help="A public estimate: the number of groups.")] = None,
    exponent: Annotated[
        str | None,
        Option(
            help="A public estimate S: the size of the i-th largest group is proportional to"
            " 1/i^S. Default: 1."
        ),
    ] = None,
    maximise: Annotated[
        Maximise | None,
        Option(
            help="With --people and --groups: show as many people, or as many groups, as "
            "possible. Default: people."
        ),
    ] = None,
    unknown: Annotated[
        int | None,
        Option(help="For an exact count: the number of records that the adversary does not know."),
    ] = None,
    lambda_: Annotated[
        str | None,
        Option(
            "--lambda",
            help="For an exact count: a number λ of at most 1/2. The probability that an "
            "unknown record is counted is between λ and 1 - λ.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="The file to write: a plot as FILE.svg, .png or .pdf, or the "
            "certificate of an exact count.",
        ),
    ] = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace the plot or certificate if the file exists.")
    ] = False,
) -> None:
    """Calculate the fourth of k, rate, ε and δ from the other three. You need no policy and no
    data.

    These numbers are about releases that count a secret sample. If you give only ε and δ, the
    command finds the k and the rate with the smallest k/rate. A group of k/rate people is shown in
    about half of all releases. With --people and --groups, the command finds the k and the rate
    that show as many people as possible on average.

    The command can also calculate the δ of an exact count, such as the number of people with an
    illness. For this, use --unknown, --lambda and --epsilon. This δ holds only under assumptions
    about what the adversary knows. The (ε, δ) of a release needs no such assumptions.

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
            options = "epsilon delta neighbours group"
            _only(given, "a group without a k and a rate", options)
            of_group(epsilon, delta, neighbours, group)
            return
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
