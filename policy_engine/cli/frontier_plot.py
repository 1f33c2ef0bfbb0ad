"""The picture of a frontier: rate against k, and what a prior expects of each pair."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.errors import FileError, UsageError, to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from policy_engine.accounting.frontier import Pair
    from policy_engine.accounting.prior import Prior

_DARK, _BLUE, _RED, _GREY = "#1b1b3a", "#1f6f8b", "#c8553d", "#777777"
_ARX = r"$1 - e^{-\epsilon}$"
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
    if path.is_dir():
        raise FileError(f"{path} is a directory; name a file")
    if path.exists() and not replace:
        raise FileError(f"{path} exists; use --replace to write it anew")


def draw(picture: Picture, path: Path) -> None:
    """Write the picture, whole or not at all; the same numbers give the same bytes.

    Raises:
        FileError: it cannot be written.
    """
    import matplotlib
    from matplotlib.figure import Figure

    kind = path.suffix.lower()
    with matplotlib.rc_context(_STYLE):
        width = 5.2 if picture.prior is None else 8.4
        figure = Figure(figsize=(width, 4.2), layout="constrained")
        panels = figure.subplots(1, 1 if picture.prior is None else 2, squeeze=False)[0]
        _rates(picture, panels[0])
        if picture.prior is not None:
            _expected(picture, picture.prior, panels[1])
        aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            figure.savefig(aside, format=kind[1:], dpi=150, metadata=_METADATA[kind])
            aside.replace(path)
        except OSError as error:
            raise FileError(f"{path} could not be written: {error.strerror}") from None
        finally:
            aside.unlink(missing_ok=True)


def _rates(picture: Picture, axes: Axes) -> None:
    """The greatest rate for each k, the pair chosen and the rate that ARX takes."""
    ks = [row.pair.k for row in picture.rows]
    rates = [float(row.pair.rate) for row in picture.rows]
    axes.plot(ks, rates, color=_DARK, label="greatest rate for k")
    fixed = -math.expm1(-float(picture.epsilon))
    axes.axhline(fixed, color=_GREY, linestyle="--", label=f"{_ARX} = {fixed:.3g}, as ARX")
    pair = picture.chosen.pair
    label = f"chosen: k = {pair.k}, rate = {float(pair.rate):.3g}"
    axes.plot([pair.k], [float(pair.rate)], "o", color=_RED, label=label)
    _k_axis(axes)
    axes.set_ylabel("sampling rate")
    axes.set_ylim(0, 1)
    axes.set_title(
        f"ε = {picture.epsilon}, δ = {picture.delta}, for one that is sampled", fontsize=9
    )
    _legend(axes)


def _expected(picture: Picture, prior: Prior, axes: Axes) -> None:
    """Which share of the prior's people and groups is expected to be released at each pair."""
    ks = [row.pair.k for row in picture.rows]
    for name, colour, total in (("people", _BLUE, prior.people), ("groups", _DARK, prior.groups)):
        shares = [100 * getattr(row, name) / total for row in picture.rows]
        axes.plot(ks, shares, color=colour, label=f"{name}, of {total:,}")
        at = 100 * getattr(picture.chosen, name) / total
        axes.plot([picture.chosen.pair.k], [at], "o", color=_RED)
    fixed = -math.expm1(-float(picture.epsilon))
    arx = next((row.pair.k for row in picture.rows if row.pair.rate >= fixed), None)
    if arx is not None:
        axes.axvline(arx, color=_GREY, linestyle="--", label=f"k = {arx}, as ARX")
    _k_axis(axes)
    axes.set_ylabel("expected to be released, %")
    axes.set_ylim(0, 100)
    axes.set_title("of the prior's people and groups", fontsize=9)
    _legend(axes)


def _k_axis(axes: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("k")


def _legend(axes: Axes) -> None:
    """Below the axes, where no curve runs."""
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16))
