"""calibrate: the least k, the greatest rate, a good pair, or all pairs that are worth having."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.numbers import UNIT, Neighbours, Releases
from policy_engine.cli.output import Format, FormatOption, emit, number, shown
from policy_engine.cli.progress import progress
from policy_engine.errors import UsageError

if TYPE_CHECKING:
    from policy_engine.accounting.frontier import Pair
    from policy_engine.accounting.prior import Prior
    from policy_engine.cli.plots import Row

_STEP = Decimal("1.1")
"""A line of the table has at least this many times the rate of the line before."""
_ONE_OF_TWO = "calibrate finds k or the rate: give at most one of --k and --rate"
_EVERY = "the frontier has every k and rate: leave --k and --rate out"
_PEOPLE_AND_GROUPS = "a prior has people and groups: give --people and --groups"
_OF_A_PRIOR = "--exponent and --maximise are of a prior: give --people and --groups"
_OF_THE_FRONTIER = "--most-k is of the frontier: give --frontier, --people or --output"
_OF_PAIRS = "--mechanisms compares the best of each: leave out what chooses a pair, and --frontier"


class Maximise(StrEnum):
    """What most is expected to be released of."""

    people = "people"
    groups = "groups"


@dataclass(frozen=True)
class _Asked:
    """The question, as it was written."""

    epsilon: str
    delta: str
    neighbours: str
    releases: int


@dataclass(frozen=True)
class _Belief:
    """A prior as it was written; both numbers are given."""

    people: int | None
    groups: int | None
    exponent: str | None

    @property
    def power(self) -> str:
        return "1" if self.exponent is None else self.exponent

    def prior(self) -> Prior:
        from policy_engine.accounting.prior import Prior

        return Prior.zipf(self.people or 0, self.groups or 0, self.power)

    def document(self) -> dict[str, Any]:
        exponent = number(Decimal(self.power))
        return {"people": self.people, "groups": self.groups, "exponent": exponent}


def calibrate(
    epsilon: Annotated[str, typer.Option(help="The ε to reach.")],
    delta: Annotated[str, typer.Option(help="The δ to reach.")],
    rate: Annotated[str | None, typer.Option(help="Give the rate to get the least k.")] = None,
    k: Annotated[int | None, typer.Option(help="Give k to get the greatest rate.")] = None,
    neighbours: Neighbours = "add_remove",
    releases: Releases = 1,
    frontier: Annotated[
        bool, typer.Option("--frontier", help="Show every pair that no other pair beats.")
    ] = False,
    mechanisms: Annotated[
        bool, typer.Option("--mechanisms", help="Compare noisy counts of each law with a sample.")
    ] = False,
    most_k: Annotated[
        int | None,
        typer.Option(help="The frontier's largest k: 500, replaced 100, several releases 50."),
    ] = None,
    people: Annotated[
        int | None, typer.Option(help="A public prior: so many people in the source.")
    ] = None,
    groups: Annotated[int | None, typer.Option(help="The prior: in so many groups.")] = None,
    exponent: Annotated[
        str | None, typer.Option(help="The prior: the i-th largest in proportion to 1/i^S; 1.")
    ] = None,
    maximise: Annotated[
        Maximise | None, typer.Option(help="What the prior should see most of; people.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Draw it: FILE.svg, .png or .pdf."),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", hidden=True)] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a plot that stands there.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Find the least k for a rate, the greatest rate for a k, or a good pair; compare mechanisms.

    Without --rate and --k the pair with the least k/rate is found: a group of n people is
    expected to be released once n·rate reaches k. With --people and --groups it is the pair
    that is expected to release most. No data is looked at.

    Example: policy-engine calibrate --epsilon 1 --delta 1e-6 --rate 0.1
    """
    belief = None if people is None and groups is None else _Belief(people, groups, exponent)
    plot = output or plot
    over_all = frontier or (plot is not None and not mechanisms) or belief is not None
    _check(
        (mechanisms and (over_all or any((k, rate, most_k))), _OF_PAIRS),
        (k is not None and rate is not None, _ONE_OF_TWO),
        (over_all and (k is not None or rate is not None), _EVERY),
        (belief is not None and (people is None or groups is None), _PEOPLE_AND_GROUPS),
        (belief is None and (exponent is not None or maximise is not None), _OF_A_PRIOR),
        (most_k is not None and not over_all, _OF_THE_FRONTIER),
        (replace and plot is None, "--replace replaces a plot; name it with --output"),
    )
    asked = _Asked(epsilon, delta, neighbours, releases)
    if plot is not None:
        from policy_engine.cli.plots import check_place

        check_place(plot, replace=replace)
    if mechanisms:
        _compare(asked, plot, format)
        return
    if not over_all:
        document, lines = _answer(asked, _pair(asked, k, rate))
        emit(document, lines, format)
        return
    document, lines = _from_frontier(asked, most_k, belief, maximise, plot, whole=frontier)
    emit(document, lines, format)


def _check(*laws: tuple[bool, str]) -> None:
    """UsageError for the first law that is broken."""

    for broken, message in laws:
        if broken:
            raise UsageError(message)


def _compare(asked: _Asked, plot: Path | None, form: Format) -> None:
    """Print the mechanisms beside one another; they may be drawn."""
    from policy_engine.accounting.amounts import probability
    from policy_engine.accounting.comparison import compare
    from policy_engine.accounting.domain import nonnegative_epsilon
    from policy_engine.accounting.tables import Aim
    from policy_engine.cli.comparing import Table

    epsilon, delta = nonnegative_epsilon(asked.epsilon), probability(asked.delta)
    aim = Aim(epsilon, delta, asked.neighbours, releases=asked.releases)
    with progress("comparing mechanisms"):
        table = Table(aim, compare(aim))
    emit(table.document() | table.drawn(plot), [*table.lines(), *_plot_line(plot)], form)


def _plot_line(plot: Path | None) -> list[str]:
    return [] if plot is None else [f"plot  {plot}"]


def _from_frontier(
    asked: _Asked,
    most_k: int | None,
    belief: _Belief | None,
    maximise: Maximise | None,
    plot: Path | None,
    *,
    whole: bool,
) -> tuple[dict[str, Any], list[str]]:
    """The pair of the frontier that is chosen, and with ``whole`` all of it; it may be drawn."""
    prior = None if belief is None else belief.prior()
    goal = None if prior is None else maximise or Maximise.people
    with progress("looking for every pair"):
        rows, chosen = _rows(asked, most_k, prior, goal)
    if plot is not None:
        from policy_engine.cli.plots import Picture, draw_frontier

        draw_frontier(Picture(asked.epsilon, asked.delta, rows, chosen, prior), plot)
    document, answer = _answer(asked, chosen.pair)
    document |= _row_document(chosen)
    lines = [*(_table(rows, chosen) if whole else []), *answer]
    if belief is not None and prior is not None:
        document |= {"maximise": str(goal), "prior": belief.document()}
        lines.append(
            f"expected to be released: {chosen.people:.1f} of {prior.people} people, "
            f"in {chosen.groups:.1f} of {prior.groups} groups"
        )
    if whole:
        document["frontier"] = [_row_document(row) for row in rows]
    if plot is not None:
        document["plot"] = str(plot)
    lines += _plot_line(plot)
    return document, lines


def _pair(asked: _Asked, k: int | None, rate: str | None) -> Pair:
    """The one pair that is asked for, or the one with the least k/rate."""
    from policy_engine.accounting import calibration
    from policy_engine.accounting.domain import sampling_rate
    from policy_engine.accounting.frontier import Pair

    target, of = (asked.epsilon, asked.delta), (asked.neighbours, asked.releases)
    if rate is not None:
        return Pair(calibration.least_k(*target, rate, *of), sampling_rate(rate))
    if k is not None:
        return Pair(k, calibration.greatest_rate(*target, k, *of))
    return Pair(*calibration.best_pair(*target, *of))


def _rows(
    asked: _Asked, most_k: int | None, prior: Prior | None, goal: Maximise | None
) -> tuple[Sequence[Row], Row]:
    """The frontier with what the prior expects of it, and the pair chosen."""
    from policy_engine.accounting.frontier import frontier, least_group
    from policy_engine.accounting.prior import best_pair_for, expected_groups, expected_people
    from policy_engine.cli.plots import Row

    pairs = frontier(asked.epsilon, asked.delta, asked.neighbours, asked.releases, most_k)
    if prior is None or goal is None:
        return [Row(pair) for pair in pairs], Row(least_group(pairs))
    rows = [
        Row(
            pair,
            expected_people(pair.k, pair.rate, prior),
            expected_groups(pair.k, pair.rate, prior),
        )
        for pair in pairs
    ]
    best = best_pair_for(prior, goal.value, pairs)
    return rows, next(row for row in rows if row.pair == best)


def _answer(asked: _Asked, pair: Pair) -> tuple[dict[str, Any], list[str]]:
    """What every form of the command says of a pair, as JSON and as text."""
    from policy_engine.accounting.certificate_numbers import certify_numbers

    found = certify_numbers(
        pair.k,
        pair.rate,
        epsilon=asked.epsilon,
        neighbours=asked.neighbours,
        releases=asked.releases,
    )
    # What was asked for is met, so the claim need not be larger.
    reached = min(found.delta, Decimal(asked.delta))
    document = {
        "k": pair.k,
        "rate": number(pair.rate, down=True),
        "epsilon": number(found.epsilon),
        "delta": number(reached),
        "asked_delta": number(Decimal(asked.delta)),
        "neighbours": asked.neighbours,
        "releases": asked.releases,
    }
    return document, [
        f"k = {pair.k}, rate = {shown(pair.rate)}",
        f"ε = {shown(found.epsilon)}, δ = {shown(reached)}  (asked: δ ≤ {asked.delta}; {UNIT})",
    ]


def _row_document(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        "k": row.pair.k,
        "rate": number(row.pair.rate, down=True),
        "group": row.pair.group,
    }
    if row.people is not None:
        found |= {"expected_people": row.people, "expected_groups": row.groups}
    return found


def _table(rows: Sequence[Row], chosen: Row) -> Iterator[str]:
    """The frontier where it changes: the rate is a tenth above that of the line before."""
    with_prior = chosen.people is not None
    heads = ["k", "rate", "k/rate", *(["people", "groups"] if with_prior else [])]
    yield "  " + _cells(heads)
    listed = list(_telling(rows, chosen))
    for row in listed:
        cells = [str(row.pair.k), shown(row.pair.rate), str(row.pair.group)]
        if with_prior:
            cells += [f"{row.people:.1f}", f"{row.groups:.1f}"]
        mark = "*" if row == chosen else " "
        yield f"{mark} {_cells(cells)}"
    yield f"{len(listed)} of {len(rows)} pairs, the rate up by a tenth; --format json has all"
    yield "k/rate: a group of so many people is expected to appear"
    if with_prior:
        yield "people, groups: expected to be released"
    yield "*: the pair chosen"


def _cells(texts: Sequence[str]) -> str:
    return f"{texts[0]:>5}" + "".join(f"{text:>12}" for text in texts[1:])


def _telling(rows: Sequence[Row], chosen: Row) -> Iterator[Row]:
    last = Decimal(0)
    for row in rows:
        if row.pair.rate >= last * _STEP or row in (chosen, rows[-1]):
            last = row.pair.rate
            yield row
