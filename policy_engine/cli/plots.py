"""Plots: where one may stand, how it looks, and that it is written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.cli.reading import check_free, written_whole
from policy_engine.errors import UsageError, to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


COLOURS = (BLUE, DARK, RED, GREY, "#8a6d1b")


def legend(axes: Axes) -> None:
    """Below the axes, where no curve runs."""
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16))
