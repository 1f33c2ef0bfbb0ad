"""The picture of a frontier: rate against k, and what a prior expects of each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.cli import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from policy_engine.accounting.frontier import Pair
    from policy_engine.accounting.prior import Prior

_ARX = r"$1 - e^{-\epsilon}$"


@dataclass(frozen=True)
class Row:
    """A pair, and what the prior expects to be released; without a prior that is None."""

    pair: Pair
    people: float | None = None
    groups: float | None = None


@dataclass(frozen=True)
class Picture:
    """What is drawn."""

    epsilon: str
    delta: str
    rows: Sequence[Row]
    chosen: Row
    prior: Prior | None


def draw(picture: Picture, path: Path) -> None:
    """Write the picture; errors as ``plots.draw``."""

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, 1 if picture.prior is None else 2, squeeze=False)[0]
        _rates(picture, panels[0])
        if picture.prior is not None:
            _expected(picture, picture.prior, panels[1])

    plots.draw(path, paint, 5.2 if picture.prior is None else 8.4)


def _rates(picture: Picture, axes: Axes) -> None:
    """The greatest rate for each k, the pair chosen and the rate that ARX takes."""
    ks = [row.pair.k for row in picture.rows]
    rates = [float(row.pair.rate) for row in picture.rows]
    axes.plot(ks, rates, color=plots.DARK, label="greatest rate for k")
    fixed = -math.expm1(-float(picture.epsilon))
    axes.axhline(fixed, color=plots.GREY, linestyle="--", label=f"{_ARX} = {fixed:.3g}, as ARX")
    pair = picture.chosen.pair
    label = f"chosen: k = {pair.k}, rate = {float(pair.rate):.3g}"
    axes.plot([pair.k], [float(pair.rate)], "o", color=plots.RED, label=label)
    _k_axis(axes)
    axes.set_ylabel("sampling rate")
    axes.set_ylim(0, 1)
    axes.set_title(
        f"ε = {picture.epsilon}, δ = {picture.delta}, for one that is sampled", fontsize=9
    )
    plots.legend(axes)


def _expected(picture: Picture, prior: Prior, axes: Axes) -> None:
    """Which share of the prior's people and groups is expected to be released at each pair."""
    ks = [row.pair.k for row in picture.rows]
    for name, colour, total in (
        ("people", plots.BLUE, prior.people),
        ("groups", plots.DARK, prior.groups),
    ):
        shares = [100 * getattr(row, name) / total for row in picture.rows]
        axes.plot(ks, shares, color=colour, label=f"{name}, of {total:,}")
        at = 100 * getattr(picture.chosen, name) / total
        axes.plot([picture.chosen.pair.k], [at], "o", color=plots.RED)
    fixed = -math.expm1(-float(picture.epsilon))
    arx = next((row.pair.k for row in picture.rows if row.pair.rate >= fixed), None)
    if arx is not None:
        axes.axvline(arx, color=plots.GREY, linestyle="--", label=f"k = {arx}, as ARX")
    _k_axis(axes)
    axes.set_ylabel("expected to be released, %")
    axes.set_ylim(0, 100)
    axes.set_title("of the prior's people and groups", fontsize=9)
    plots.legend(axes)


def _k_axis(axes: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("k")
