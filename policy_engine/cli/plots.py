"""Plots: where one may stand, how it looks, and that it is written whole or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.cli.places import check_free, written_whole
from policy_engine.errors import UsageError, to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from policy_engine.accounting.comparison import Candidate
    from policy_engine.accounting.frontier import Pair
    from policy_engine.accounting.prior import Prior
    from policy_engine.cli.comparing import Table

DARK, BLUE, RED, GREY = "#1b1b3a", "#1f6f8b", "#c8553d", "#777777"
_STYLE: Any = {
    "font.size": 9,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "policy-engine",
}
# Without a date, so that the same numbers give the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}


def check_place(path: Path, *, replace: bool) -> None:
    """Refuse what cannot be drawn, before anything is computed.

    Raises:
        UsageError: another kind of file, or matplotlib is not installed.
        FileError: something stands there and ``replace`` is off.
    """
    if path.suffix.lower() not in _METADATA:
        raise UsageError(f"a plot is written as {', '.join(_METADATA)}, found '{path}'")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError(f"a plot needs matplotlib; run {to_install('plot')}") from None
    check_free(path, replace=replace)


def draw(path: Path, paint: Callable[[Figure], None], width: float) -> None:
    """Write what is painted, whole or not at all; the same numbers give the same bytes.

    Raises:
        FileError: it cannot be written.
    """
    import matplotlib
    from matplotlib.figure import Figure

    kind = path.suffix.lower()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, 4.2), layout="constrained")
        paint(figure)
        with written_whole(path) as aside:
            figure.savefig(aside, format=kind[1:], dpi=150, metadata=_METADATA[kind])


def legend(axes: Axes) -> None:
    """Below the axes, where no curve runs."""
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16))


_COLOURS = (BLUE, DARK, RED, GREY, "#8a6d1b")
_POINTS = 60


def draw_comparison(table: Table, path: Path) -> None:
    """Write the picture; errors as ``draw``."""
    named = list(zip(table.rows, table.names, _COLOURS, strict=False))

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        _chances(left, named)
        _errors(right, named)
        at = f"ε = {table.aim.epsilon}, δ = {table.aim.delta}, releases: {table.aim.releases}"
        figure.suptitle(at, fontsize=9)

    draw(path, paint, 8.4)


def _chances(axes: Axes, named: list[tuple[Candidate, str, str]]) -> None:
    """The chance that a group is shown, up to twice the size of the last that is shown half."""
    largest = max(2, *(2 * row.half for row, _, _ in named))
    sizes = sorted({1 + round((largest - 1) * i / _POINTS) for i in range(_POINTS + 1)})
    for row, name, colour in named:
        chances = [100 * float(row.chance(size)) for size in sizes]
        line = "--" if row.true_rows else "-"  # it lies upon that of a place
        axes.plot(sizes, chances, line, color=colour, label=f"{name}: half from {row.half:,} on")
    axes.set_xlabel("people in the group")
    axes.set_ylabel("shown, %")
    axes.set_ylim(0, 102)
    legend(axes)


def _errors(axes: Axes, named: list[tuple[Candidate, str, str]]) -> None:
    """The standard deviation of a count, and by a line how wrong it is at most."""
    for at, (row, name, colour) in enumerate(named):
        axes.barh(at, float(row.error), color=colour, label=f"{name}: {float(row.error):.3g}")
        if row.certain is not None:
            axes.plot([0, max(map(abs, row.certain))], [at, at], color=colour)
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.set_xlabel("people: bar 1 SD of a shown count, line at most")
    legend(axes)


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


def draw_frontier(picture: Picture, path: Path) -> None:
    """Write the picture; errors as ``draw``."""

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, 1 if picture.prior is None else 2, squeeze=False)[0]
        _rates(picture, panels[0])
        if picture.prior is not None:
            _expected(picture, picture.prior, panels[1])

    draw(path, paint, 5.2 if picture.prior is None else 8.4)


def _rates(picture: Picture, axes: Axes) -> None:
    """The greatest rate for each k, the pair chosen and the rate that ARX takes."""
    ks = [row.pair.k for row in picture.rows]
    rates = [float(row.pair.rate) for row in picture.rows]
    axes.plot(ks, rates, color=DARK, label="greatest rate for k")
    fixed = -math.expm1(-float(picture.epsilon))
    axes.axhline(fixed, color=GREY, linestyle="--", label=f"{_ARX} = {fixed:.3g}, as ARX")
    pair = picture.chosen.pair
    label = f"chosen: k = {pair.k}, rate = {float(pair.rate):.3g}"
    axes.plot([pair.k], [float(pair.rate)], "o", color=RED, label=label)
    _k_axis(axes)
    axes.set_ylabel("sampling rate")
    axes.set_ylim(0, 1)
    axes.set_title(
        f"ε = {picture.epsilon}, δ = {picture.delta}, for one that is sampled", fontsize=9
    )
    legend(axes)


def _expected(picture: Picture, prior: Prior, axes: Axes) -> None:
    """Which share of the prior's people and groups is expected to be released at each pair."""
    ks = [row.pair.k for row in picture.rows]
    for name, colour, total in (
        ("people", BLUE, prior.people),
        ("groups", DARK, prior.groups),
    ):
        shares = [100 * getattr(row, name) / total for row in picture.rows]
        axes.plot(ks, shares, color=colour, label=f"{name}, of {total:,}")
        at = 100 * getattr(picture.chosen, name) / total
        axes.plot([picture.chosen.pair.k], [at], "o", color=RED)
    fixed = -math.expm1(-float(picture.epsilon))
    arx = next((row.pair.k for row in picture.rows if row.pair.rate >= fixed), None)
    if arx is not None:
        axes.axvline(arx, color=GREY, linestyle="--", label=f"k = {arx}, as ARX")
    _k_axis(axes)
    axes.set_ylabel("expected to be released, %")
    axes.set_ylim(0, 100)
    axes.set_title("of the prior's people and groups", fontsize=9)
    legend(axes)


def _k_axis(axes: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("k")
