"""A form of calculate: the least k, the greatest rate, a good pair, or all good ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.accounting import calibration
from policy_engine.accounting.certificate_numbers import certify_numbers
from policy_engine.accounting.domain import sampling_rate
from policy_engine.accounting.frontier import SamplePair, frontier, least_group
from policy_engine.cli.numbers import UNIT
from policy_engine.cli.output import emit, number, shown
from policy_engine.cli.progress import progress
from policy_engine.errors import UsageError
from policy_engine.values import frozen

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from policy_engine.accounting.prior import Prior
    from policy_engine.cli.comparing import Compared

_STEP = Decimal("1.1")
"""A line of the table has at least this many times the rate of the line before."""


class Maximise(StrEnum):
    """What most is expected to be released of."""

    people = "people"
    groups = "groups"


@frozen
class _Question:
    """The question, as it was written."""

    epsilon: str
    delta: str
    neighbours: str
    releases: int


@frozen
class Row:
    """A pair, and what the prior expects to be released; without a prior that is None."""

    pair: SamplePair
    people: float | None = None
    groups: float | None = None

    @property
    def said(self) -> RowSaid:
        """For JSON."""
        rate = number(self.pair.rate, down=True)
        return RowSaid(self.pair.k, rate, self.pair.group, self.people, self.groups)


@frozen
class RowSaid:
    """A pair of the frontier, as JSON says it."""

    k: int
    rate: float | None
    group: int
    expected_people: float | None = None
    expected_groups: float | None = None


@frozen
class Belief:
    """A prior, as it was written."""

    people: int
    groups: int
    exponent: str | Decimal


@frozen(kw_only=True)
class PairFound:
    """The pair that answers, and what it was chosen by: what stands last is of the frontier."""

    k: int
    rate: float | None
    epsilon: Decimal
    delta: Decimal
    asked_delta: Decimal
    neighbours: str
    releases: int
    group: int | None = None
    expected_people: float | None = None
    expected_groups: float | None = None
    maximise: Maximise | None = None
    prior: Belief | None = None
    frontier: tuple[RowSaid, ...] | None = None
    plot: Path | None = None


def solve(
    epsilon: str,
    delta: str,
    rate: str | None,
    k: int | None,
    neighbours: str,
    releases: int,
    *,
    frontier: bool,
    mechanisms: bool,
    most_k: int | None,
    people: int | None,
    groups: int | None,
    exponent: str | None,
    maximise: Maximise | None,
    output: Path | None,
    replace: bool,
) -> None:
    """Find the least k for a rate, the greatest rate for a k, or a good pair; compare mechanisms.

    Without a rate and a k the pair with the least k/rate is found: a group of n people is expected
    to be released once n·rate reaches k. With a prior it is the pair that is expected to release
    most. No data is looked at.
    """
    has_prior = people is not None or groups is not None
    over_all = frontier or (output is not None and not mechanisms) or has_prior
    one_of_them = k is not None or rate is not None
    laws = (
        (
            mechanisms and (over_all or any((k, rate, most_k))),
            "--mechanisms compares the best of each: leave out what chooses a pair, and --frontier",
        ),
        (over_all and one_of_them, "the frontier has every k and rate: leave --k and --rate out"),
        (
            has_prior and (people is None or groups is None),
            "a prior has people and groups: give --people and --groups",
        ),
        (
            not has_prior and (exponent is not None or maximise is not None),
            "--exponent and --maximise are of a prior: give --people and --groups",
        ),
        (
            most_k is not None and not over_all,
            "--most-k is of the frontier: give --frontier, --people or --output",
        ),
        (replace and output is None, "--replace replaces a plot; name it with --output"),
    )
    for broken, message in laws:
        if broken:
            raise UsageError(message)
    asked = _Question(epsilon, delta, neighbours, releases)
    if output is not None:
        from policy_engine.cli.comparing import check_place

        check_place(output, replace=replace)
    plot = [] if output is None else [f"plot  {output}"]
    found: Compared | PairFound
    if mechanisms:
        found, lines = _mechanisms(asked, output)
    elif over_all:
        belief = None
        if people is not None and groups is not None:
            belief = Belief(people, groups, exponent or "1")
        found, lines = _from_frontier(asked, most_k, belief, maximise, output, whole=frontier)
    else:
        found, lines = _answer(asked, _pair(asked, k, rate))
    emit(found, [*lines, *plot])


def _mechanisms(asked: _Question, plot: Path | None) -> tuple[Compared, list[str]]:
    from policy_engine.accounting.comparison import compare
    from policy_engine.accounting.domain import nonnegative_epsilon, probability
    from policy_engine.accounting.tables import Aim
    from policy_engine.cli.comparing import ComparisonTable

    epsilon, delta = nonnegative_epsilon(asked.epsilon), probability(asked.delta)
    aim = Aim(epsilon, delta, asked.neighbours, releases=asked.releases)
    with progress("comparing mechanisms"):
        table = ComparisonTable(aim, compare(aim))
    return replace(table.compared, plot=table.drawn(plot)), [*table.lines()]


def _from_frontier(
    asked: _Question,
    most_k: int | None,
    belief: Belief | None,
    maximise: Maximise | None,
    plot: Path | None,
    *,
    whole: bool,
) -> tuple[PairFound, list[str]]:
    """The pair of the frontier that is chosen, and with ``whole`` all of it; it may be drawn."""
    from policy_engine.accounting import prior as beliefs

    target = (asked.epsilon, asked.delta, asked.neighbours, asked.releases)
    goal, prior = maximise or Maximise.people, None
    if belief is not None:
        prior = beliefs.Prior.zipf(belief.people, belief.groups, belief.exponent)
    with progress("looking for every pair"):
        pairs = frontier(*target, most_k)
        if prior is None:
            rows, best = list(map(Row, pairs)), least_group(pairs)
        else:
            expected = (beliefs.expected_people, beliefs.expected_groups)
            rows = [Row(p, *(each(p.k, p.rate, prior) for each in expected)) for p in pairs]
            best = beliefs.best_pair_for(prior, goal.value, pairs)
    chosen = next(row for row in rows if row.pair == best)
    if plot is not None:
        _draw(plot, asked, rows, chosen, prior)
    answer, said = _answer(asked, best)
    lines = [*(_table(rows, chosen) if whole else []), *said]
    if prior is not None:
        lines.append(
            f"expected to be released: {chosen.people:.1f} of {prior.people} people, "
            f"in {chosen.groups:.1f} of {prior.groups} groups"
        )
    found = replace(
        answer,
        group=best.group,
        expected_people=chosen.people,
        expected_groups=chosen.groups,
        maximise=None if prior is None else goal,
        prior=None if belief is None else replace(belief, exponent=Decimal(belief.exponent)),
        frontier=tuple(row.said for row in rows) if whole else None,
        plot=plot,
    )
    return found, lines


def _pair(asked: _Question, k: int | None, rate: str | None) -> SamplePair:
    """The one pair that is asked for, or the one with the least k/rate."""
    target, of = (asked.epsilon, asked.delta), (asked.neighbours, asked.releases)
    if rate is not None:
        return SamplePair(calibration.least_k(*target, rate, *of), sampling_rate(rate))
    if k is not None:
        return SamplePair(k, calibration.greatest_rate(*target, k, *of))
    return SamplePair(*calibration.best_pair(*target, *of))


def _answer(asked: _Question, pair: SamplePair) -> tuple[PairFound, list[str]]:
    """What every form of the command says of a pair, as JSON and as text."""
    found = certify_numbers(
        pair.k,
        pair.rate,
        epsilon=asked.epsilon,
        neighbours=asked.neighbours,
        releases=asked.releases,
    )
    # What was asked for is met, so the claim need not be larger.
    reached = min(found.delta, Decimal(asked.delta))
    answer = PairFound(
        k=pair.k,
        rate=number(pair.rate, down=True),
        epsilon=found.epsilon,
        delta=reached,
        asked_delta=Decimal(asked.delta),
        neighbours=asked.neighbours,
        releases=asked.releases,
    )
    return answer, [
        f"k = {pair.k}, rate = {shown(pair.rate)}",
        f"ε = {shown(found.epsilon)}, δ = {shown(reached)}  (asked: δ ≤ {asked.delta}; {UNIT})",
    ]


def _table(rows: Sequence[Row], chosen: Row) -> Iterator[str]:
    """The frontier where it changes: the rate is a tenth above that of the line before."""
    with_prior = chosen.people is not None
    yield "  " + _cells(["k", "rate", "k/rate", *(["people", "groups"] if with_prior else [])])
    last, listed = Decimal(0), 0
    for row in rows:
        if row.pair.rate < last * _STEP and row not in (chosen, rows[-1]):
            continue
        last, listed = row.pair.rate, listed + 1
        cells = [str(row.pair.k), shown(row.pair.rate), str(row.pair.group)]
        if with_prior:
            cells += [f"{row.people:.1f}", f"{row.groups:.1f}"]
        yield f"{'*' if row == chosen else ' '} {_cells(cells)}"
    yield f"{listed} of {len(rows)} pairs, the rate up by a tenth; --format json has all"
    yield "k/rate: a group of so many people is expected to appear"
    if with_prior:
        yield "people, groups: expected to be released"
    yield "*: the pair chosen"


def _cells(texts: Sequence[str]) -> str:
    return f"{texts[0]:>5}" + "".join(f"{text:>12}" for text in texts[1:])


def _draw(
    path: Path, asked: _Question, rows: Sequence[Row], chosen: Row, prior: Prior | None
) -> None:
    from policy_engine.cli.comparing import BLUE, DARK, GREY, RED, draw

    ks, arx = [row.pair.k for row in rows], -math.expm1(-float(asked.epsilon))
    pair, rate = chosen.pair, float(chosen.pair.rate)

    def rates(axes: Axes) -> None:
        greatest = [float(row.pair.rate) for row in rows]
        axes.plot(ks, greatest, color=DARK, label="greatest rate for k")
        label = rf"$1 - e^{{-\epsilon}}$ = {arx:.3g}, as ARX"
        axes.axhline(arx, color=GREY, linestyle="--", label=label)
        label = f"chosen: k = {pair.k}, rate = {rate:.3g}"
        axes.plot([pair.k], [rate], "o", color=RED, label=label)
        title = f"ε = {asked.epsilon}, δ = {asked.delta}, for one that is sampled"
        _finish(axes, "sampling rate", 1, title)

    def expected(axes: Axes, prior: Prior) -> None:
        for name, colour, total in (("people", BLUE, prior.people), ("groups", DARK, prior.groups)):
            shares = [100 * getattr(row, name) / total for row in rows]
            axes.plot(ks, shares, color=colour, label=f"{name}, of {total:,}")
            at = 100 * getattr(chosen, name) / total
            axes.plot([pair.k], [at], "o", color=RED)
        k = next((row.pair.k for row in rows if row.pair.rate >= arx), None)
        if k is not None:
            axes.axvline(k, color=GREY, linestyle="--", label=f"k = {k}, as ARX")
        _finish(axes, "expected to be released, %", 100, "of the prior's people and groups")

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, 1 if prior is None else 2, squeeze=False)[0]
        rates(panels[0])
        if prior is not None:
            expected(panels[1], prior)

    draw(path, paint, 5.2 if prior is None else 8.4)


def _finish(axes: Axes, ylabel: str, most: int, title: str) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    from policy_engine.cli.comparing import legend

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="k", ylabel=ylabel, ylim=(0, most))
    axes.set_title(title, fontsize=9)
    legend(axes)
