"""The picture of a comparison: which groups each mechanism shows, and how wrong a count is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.cli import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from policy_engine.accounting.comparison import Candidate
    from policy_engine.cli.comparing import Table

_COLOURS = (plots.BLUE, plots.DARK, plots.RED, plots.GREY, "#8a6d1b")
_POINTS = 60


def draw(table: Table, path: Path) -> None:
    """Write the picture; errors as ``plots.draw``."""
    named = list(zip(table.rows, table.names, _COLOURS, strict=False))

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        _chances(left, named)
        _errors(right, named)
        at = f"ε = {table.aim.epsilon}, δ = {table.aim.delta}, releases: {table.aim.releases}"
        figure.suptitle(at, fontsize=9)

    plots.draw(path, paint, 8.4)


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
    plots.legend(axes)


def _errors(axes: Axes, named: list[tuple[Candidate, str, str]]) -> None:
    """The standard deviation of a count, and by a line how wrong it is at most."""
    for at, (row, name, colour) in enumerate(named):
        axes.barh(at, float(row.error), color=colour, label=f"{name}: {float(row.error):.3g}")
        if row.certain is not None:
            axes.plot([0, max(map(abs, row.certain))], [at, at], color=colour)
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.set_xlabel("people: bar 1 SD of a shown count, line at most")
    plots.legend(axes)
