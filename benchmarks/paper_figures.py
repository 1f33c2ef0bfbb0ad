"""Figures of two works that this engine rests on, redrawn with its own numbers beside theirs.

    .venv/bin/python benchmarks/paper_figures.py [NAME ...]

writes docs/_static/figures/NAME.svg, and NAME.md with the table or the sentence that reads the
picture; without a name, all of them. docs/explanation/paper-figures.md shows both ("make reference"
puts the .md files in) and says what is known of each original. [LQS], [EXACT] and [PK] are
explained in docs/explanation/mechanism.md and policy_engine/accounting/partial_knowledge.py.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.stats import binom

from policy_engine.accounting.bounds import delta_lqs
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.accounting.partial_knowledge import delta_count
from policy_engine.errors import DomainError

OUTPUT = Path(__file__).parents[1] / "docs/_static/figures"

Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """Points to join, in the colour and marker of a series; without a label, not in the legend."""

    points: tuple[Point, ...]
    series: int
    style: str = "-"
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``y_limits`` is (lowest, highest)."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    y_limits: Point
    x_log: bool = False
    y_log: bool = True


@dataclass(frozen=True)
class Figure:
    """Panels side by side, and the sentence that reads them."""

    panels: tuple[Panel, ...]
    reading: str


@dataclass(frozen=True)
class Table:
    """A Markdown table and the sentence that reads it."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    reading: str


# Our numbers, as floats for drawing


def lqs(k: int, rate: float, epsilon: float) -> float | None:
    """d(k, β, ε) of the paper; None below ε = −ln(1−β)."""
    bound = delta_lqs(k, str(rate), str(epsilon))
    return None if bound is None else float(bound.delta)


def exact(k: int, rate: float, epsilon: float) -> float:
    """The exact δ under add/remove."""
    return float(delta_exact(k, str(rate), str(epsilon)).delta)


def epsilon_lqs(k: int, rate: float, delta: float) -> float | None:
    """The least ε with d(k, β, ε) ≤ δ, to 1e-5 and rounded up; None where 5 is not enough."""
    lowest = math.ceil(-math.log1p(-rate) * 1e5)
    step = least(lowest, 500_000, lambda step: (lqs(k, rate, step / 1e5) or 1.0) <= delta)
    return None if step is None else step / 1e5


def epsilon_of_curve(k: int, rate: float, delta: float) -> float | None:
    """The least ε with an exact δ ≤ δ; None where no ε is enough, δ < β^k."""
    try:
        return float(epsilon_exact(k, str(rate), str(delta)))
    except DomainError:
        return None


def epsilon_count(unknown: int, floor: float, delta: float) -> float | None:
    """The least ε with ``delta_count`` ≤ δ, to 1e-4; None where no ε is enough, δ < (1−λ)^(n−1)."""
    last = math.ceil(math.log(unknown - 1) * 1e4)
    step = least(
        0, last, lambda step: float(delta_count(unknown, str(floor), str(step / 1e4))) <= delta
    )
    return None if step is None else step / 1e4


def least(low: int, high: int, true_at: Callable[[int], bool]) -> int | None:
    """The least integer from low to high where a rising condition holds; None where none does."""
    if not true_at(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if true_at(middle):
            high = middle
        else:
            low = middle + 1
    return low


# Li, Qardaji, Su: "On sampling, anonymization, and differential privacy" (arXiv 1101.2604)

TABLE_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0)


def lqs_table_1() -> Table:
    """δ over k and ε at β = 0.2."""
    rows = [(str(k), [(k, 0.2, epsilon) for epsilon in TABLE_EPSILONS]) for k in range(10, 51, 5)]
    return table_of_deltas("k", rows)


def lqs_table_2() -> Table:
    """δ over β and ε at k = 20."""
    rates = (0.05, 0.1, 0.2, 0.3, 0.4)
    rows = [(f"{rate:g}", [(20, rate, epsilon) for epsilon in TABLE_EPSILONS]) for rate in rates]
    return table_of_deltas("β", rows)


def table_of_deltas(
    corner: str, rows: Iterable[tuple[str, list[tuple[int, float, float]]]]
) -> Table:
    """The paper's bound and the exact value below it in each cell, given as (k, β, ε)."""
    ratios: list[float] = []
    lines = []
    for name, cells in rows:
        line = [name]
        for cell in cells:
            bound, value = lqs(*cell), exact(*cell)
            line.append(f"{'none' if bound is None else short(bound)}<br>{short(value)}")
            if bound is not None:
                ratios.append(bound / value)
        lines.append(tuple(line))
    header = (corner, *(f"ε = {epsilon:g}" for epsilon in TABLE_EPSILONS))
    reading = (
        "The upper number is the paper's bound [LQS], and the lower number is the exact value "
        f"[EXACT]. The bound is between {min(ratios):.3g} and {max(ratios):.3g} times as large as "
        "the exact value."
    )
    return Table(header, tuple(lines), reading)


def lqs_figure_2() -> Figure:
    """δ falls with k."""
    ks = range(5, 51)
    curves = []
    for series, epsilon in enumerate((0.25, 0.5, 1.0, 2.0)):
        label = f"ε = {epsilon:g}"
        curves += both(
            series,
            label,
            ks,
            lambda k, epsilon=epsilon: lqs(k, 0.2, epsilon),
            lambda k, epsilon=epsilon: exact(k, 0.2, epsilon),
        )
    panel = Panel("β = 0.2", "threshold k", "δ", (*curves, *KINDS), (1e-30, 1))
    return Figure((panel,), compare("At β = 0.2, k = 20, ε = 0.5", 20, 0.2, 0.5))


def lqs_figure_3() -> Figure:
    """δ falls with ε; [LQS] begins at −ln(1−β)."""
    curves = []
    for series, rate in enumerate((0.4, 0.2, 0.1, 0.05)):
        start = -math.log1p(-rate)
        own = grid(0, 2, 41)
        of_paper = (round(start + 1e-6, 6), *(epsilon for epsilon in own if epsilon > start))
        label = f"β = {rate:g}"
        curves += [
            curve(of_paper, lambda epsilon, rate=rate: lqs(20, rate, epsilon), series, "--"),
            curve(own, lambda epsilon, rate=rate: exact(20, rate, epsilon), series, "-", label),
        ]
    panel = Panel("k = 20", "ε", "δ", (*curves, *KINDS), (1e-27, 1))
    return Figure((panel,), compare("At k = 20, β = 0.1, ε = 0.25", 20, 0.1, 0.25))


def lqs_figure_4() -> Figure:
    """δ rises with β; [LQS] ends at 1 − e^{−ε}."""
    curves = []
    for series, epsilon in enumerate((0.25, 0.5, 1.0, 2.0)):
        label = f"ε = {epsilon:g}"
        curves += both(
            series,
            label,
            [round(rate, 6) for rate in np.geomspace(0.01, 0.8, 45).tolist()],
            lambda rate, epsilon=epsilon: lqs(20, rate, epsilon),
            lambda rate, epsilon=epsilon: exact(20, rate, epsilon),
        )
    panel = Panel("k = 20", "sampling rate β", "δ", (*curves, *KINDS), (1e-30, 1), x_log=True)
    reading = (
        f"At k = 20, ε = 1 and β = 0.3, the paper's bound is {short(lqs(20, 0.3, 1.0))}, and the "
        f"exact value is {short(exact(20, 0.3, 1.0))}. At β = 0.7 the paper has no bound, because "
        f"ε is below −ln(1−β) = 1.20. There the exact value is {short(exact(20, 0.7, 1.0))}."
    )
    return Figure((panel,), reading)


def lqs_figure_5() -> Figure:
    """What the bound and the exact value maximise: one term for each size n of a cell."""
    k, rate, epsilon = 20, 0.3, 1.0
    gamma = 1 - (1 - rate) * math.exp(-epsilon)
    first = math.ceil(k / gamma - 1)
    tail = [(float(n), float(binom.sf(math.floor(gamma * n), n, rate))) for n in range(first, 61)]
    own = [(float(n), divergence_at(k, rate, epsilon, n)) for n in range(k, 61)]
    panel = Panel(
        f"k = {k}, β = {rate:g}, ε = {epsilon:g}",
        "people in the cell, n",
        "δ for this n",
        (
            Curve(tuple(tail), 0, "--", "[LQS]: Pr[Bin(n, β) > γn]"),
            Curve(tuple(own), 1, "-", "[EXACT]: divergence at n"),
        ),
        (1e-13, 1e-5),
    )
    bound, value = delta_lqs(k, str(rate), str(epsilon)), delta_exact(k, str(rate), str(epsilon))
    assert bound is not None
    reading = (
        f"The paper's bound begins at n = {first}, where its term is {short(tail[0][1])}. Its "
        f"largest term is {short(float(bound.delta))}, at n = {bound.at_n}. So the first term is "
        f"not always the largest. The largest exact term is {short(float(value.delta))}, at "
        f"n = {value.at_n}."
    )
    return Figure((panel,), reading)


def divergence_at(k: int, rate: float, epsilon: float, n: int) -> float:
    """H_{e^ε}(P_n‖P_{n−1}): Pr[Bin(n) ≥ m] − e^ε·Pr[Bin(n−1) ≥ m], m = max(k, ⌈γn⌉), [EXACT]."""
    gamma = 1 - (1 - rate) * math.exp(-epsilon)
    m = max(k, math.ceil(gamma * n))
    return float(binom.sf(m - 1, n, rate) - math.exp(epsilon) * binom.sf(m - 1, n - 1, rate))


def lqs_figure_6() -> Figure:
    """The ε that a k gives when δ ≤ 1e-6."""
    curves = []
    for series, rate in enumerate((0.4, 0.2, 0.1, 0.05)):
        curves += both(
            series,
            f"β = {rate:g}",
            range(5, 51),
            lambda k, rate=rate: epsilon_lqs(k, rate, 1e-6),
            lambda k, rate=rate: epsilon_of_curve(k, rate, 1e-6),
        )
    panel = Panel("δ = 1e-6", "threshold k", "least ε", (*curves, *KINDS), (0, 3), y_log=False)
    bound, value = epsilon_lqs(20, 0.2, 1e-6), epsilon_of_curve(20, 0.2, 1e-6)
    reading = (
        f"At β = 0.2, k = 20 and δ = 1e-6, the paper's bound gives ε = {bound:.3f}, and the exact "
        f"curve gives ε = {value:.3f}."
    )
    return Figure((panel,), reading)


# Desfontaines: "Lowering the cost of anonymization", section 3.2.1

THESIS_FLOOR = 0.05
# Read off the vector drawings of the thesis's web version. Of Figure 3.2, n, ε and δ of the curves
# "Theorem 3, numeric" and "closed-form", and of the flat ends of "Proposition 27", case 1 and 2;
# of Figure 3.3, n, λ and ε.
PRINTED_3_2 = (
    (100, 0.1065, 5.353e-1),
    (100, 0.4626, 1.167e-1),
    (100, 0.9889, 2.685e-4),
    (100, 1.48906, 1.076e-9),
    (10_000, 0.06285, 3.035e-2),
    (10_000, 0.12774, 4.356e-5),
    (10_000, 0.20098, 1.320e-10),
)
PRINTED_CLOSED_FORM = ((100, 1.0, 0.7024), (10_000, 0.50503, 1.106e-4))
PRINTED_CASE_1 = ((100, 2.0, 0.01056), (10_000, 1.0, 6.600e-6))
PRINTED_CASE_2 = ((10_000, 1.0, 0.2600),)
PRINTED_3_3 = (
    (100, 0.0100475, 2.004),
    (100, 0.1980005, 0.8235),
    (1_000, 0.052037, 0.5262),
    (1_000, 0.1980005, 0.3215),
    (10_000, 0.0100475, 0.4192),
    (10_000, 0.1980005, 0.1168),
    (100_000, 0.0020495, 0.3271),
    (100_000, 0.1980005, 0.0410),
)


def thesis_figure_3_2() -> Figure:
    """(ε, δ) of an exact count, λ = 0.05: the thesis's curves and ours."""
    left = thesis_panel(100, 2.0, 1e-10)
    right = thesis_panel(10_000, 1.0, 1e-15)
    reading = (
        "Suppose that every p is λ, and that the protected record is 0. With probability "
        "(1−λ)^(n−1) all records are 0. Then the count is 0, and reveals the protected record. "
        "So δ cannot be smaller than this probability. At n = 100 and ε = 1.489:"
        "\n\n"
        f"* This probability is {short((1 - THESIS_FLOOR) ** 99)}.\n"
        "* The δ of the printed numeric curve is "
        f"{short(count_tail(100, 0.1, 1.489))}. This is too small.\n"
        f"* Our bound is larger: {short(count_bound(100, 1.489))}.\n\n"
        "At n = 10,000 and ε = 0.2, the δ of the printed numeric curve is "
        f"{short(count_tail(10_000, 0.1, 0.2))}. But if every p is λ, the true δ is "
        f"{short(equal_records(10_000, THESIS_FLOOR, 0.2))}. Our bound is "
        f"{short(count_bound(10_000, 0.2))}, and the printed closed form is "
        f"{short(closed_form(10_000, 0.2))}."
    )
    return Figure((left, right), reading)


def thesis_panel(unknown: int, last: float, lowest: float) -> Panel:
    """One side of Figure 3.2."""
    epsilons = grid(0, last, 61)
    curves = (
        Curve(
            proposition_27(unknown, last, *one_differs(unknown)),
            4,
            "-.",
            "Prop. 27, case 1, as printed",
        ),
        Curve(proposition_27(unknown, last, *uniform()), 5, "-.", "Prop. 27, case 2, as printed"),
        curve(
            grid(0, min(last, 1.0), 61),
            lambda epsilon: closed_form(unknown, epsilon),
            3,
            "--",
            "Theorem 3, closed form, as printed",
        ),
        Curve(
            tail_points(unknown, 2 * THESIS_FLOOR, last),
            2,
            "--",
            "Theorem 3, numeric, as printed",
        ),
        curve(
            epsilons,
            lambda epsilon: equal_records(unknown, THESIS_FLOOR, epsilon),
            1,
            ":",
            "every p = λ: no bound is lower",
        ),
        curve(epsilons, lambda epsilon: count_bound(unknown, epsilon), 0, "-", "[PK], our bound"),
    )
    return Panel(f"n = {unknown:,}, λ = {THESIS_FLOOR:g}", "ε", "δ", curves, (lowest, 2))


def count_bound(unknown: int, epsilon: float) -> float:
    """[PK] at the thesis's λ."""
    return float(delta_count(unknown, str(THESIS_FLOOR), str(epsilon)))


def closed_form(unknown: int, epsilon: float) -> float:
    """δ of the closed form as the thesis prints it: ε = √(14·ln(1/δ)/(λ(n−1)))."""
    return math.exp(-(epsilon**2) * THESIS_FLOOR * (unknown - 1) / 14)


def count_tail(unknown: int, p: float, epsilon: float) -> float:
    """Pr[loss ≥ ε] of the count C = 1 + Bin(n−1, p), loss ln(C/(n−C)·(1−p)/p).

    It is what the thesis's numeric curves show: with p = 2λ in Figure 3.2, with p = λ in 3.3.
    """
    # Within 1e-9 of a count's own loss, that count is in.
    odds = math.exp(epsilon) * p / (1 - p)
    count = math.ceil(unknown * odds / (1 + odds) - 1e-9)
    return float(binom.sf(count - 2, unknown - 1, p))


def tail_points(unknown: int, p: float, last: float) -> tuple[Point, ...]:
    """(loss, Pr[at least that loss]) of each count with a loss from 0 to ``last``."""
    losses = [(count_loss(unknown, p, count), count) for count in range(1, unknown)]
    return tuple(
        (loss, float(binom.sf(count - 2, unknown - 1, p)))
        for loss, count in losses
        if -1e-12 <= loss <= last
    )


def count_loss(unknown: int, p: float, count: int) -> float:
    """ln of how much likelier this count is where the protected record is 1."""
    return math.log(count / (unknown - count) * (1 - p) / p)


def epsilon_of_tail(unknown: int, p: float, delta: float) -> float:
    """The least ε with ``count_tail`` ≤ δ: the loss of the last count that is too likely."""
    count = int(binom.isf(delta, unknown - 1, p)) + 1
    return max(0.0, count_loss(unknown, p, count))


def equal_records(unknown: int, p: float, epsilon: float) -> float:
    """The exact δ where every record is 1 with probability p, the greater of both directions."""
    counts = np.arange(unknown + 1)
    with_one, without = binom.pmf(counts - 1, unknown - 1, p), binom.pmf(counts, unknown - 1, p)
    ratio = math.exp(epsilon)
    return float(
        max(
            np.maximum(0, with_one - ratio * without).sum(),
            np.maximum(0, without - ratio * with_one).sum(),
        )
    )


def one_differs(unknown: int) -> Point:
    """(μ₂, μ₃) of case 1: one p is λ, all others are 1/2."""
    variance = THESIS_FLOOR * (1 - THESIS_FLOOR)
    return (
        (variance + (unknown - 1) / 4) / unknown,
        variance * (1 - 2 * THESIS_FLOOR) / unknown,
    )


def uniform() -> Point:
    """(μ₂, μ₃) of case 2, p uniform in [λ, 1−λ]: averages of ¼ − u² and of 2u(¼ − u²), u ≤ w."""
    w = 0.5 - THESIS_FLOOR
    return 0.25 - w**2 / 3, w / 4 - w**3 / 2


def proposition_27(unknown: int, last: float, second: float, third: float) -> tuple[Point, ...]:
    """The least δ up to ε of Proposition 27 as printed, for ε ≤ 1, flat from there on."""
    epsilons = np.linspace(1 / 400, last, 400)
    used = np.minimum(epsilons, 1)
    first = 1.12 * third / (math.sqrt(unknown) * second**3) * (1 + np.exp(used))
    deltas = first + 1.25 * np.exp(-(used**2) * unknown * second / 2)
    best = np.minimum(1, np.minimum.accumulate(deltas))
    return tuple(zip(epsilons.tolist(), best.tolist(), strict=True))


def thesis_figure_3_3() -> Figure:
    """The ε of a count at δ = 0.01/n, over λ."""
    curves = []
    for series, unknown in enumerate((100, 1_000, 10_000, 100_000)):
        delta = 0.01 / unknown
        floors = [round(floor, 7) for floor in np.geomspace(5e-5, 0.2, 60).tolist()]
        limit = 1 - delta ** (1 / (unknown - 1))
        own = sorted([*floors, round(limit * 1.0001, 8), round(limit * 1.05, 8)])
        curves += [
            curve(floors, lambda p, n=unknown, d=delta: epsilon_of_tail(n, p, d), series, "--"),
            curve(
                own,
                lambda p, n=unknown, d=delta: epsilon_count(n, p, d),
                series,
                "-",
                f"n = {unknown:,}",
            ),
        ]
    kinds = (Curve((), -1, "-", "[PK], our bound"), Curve((), -1, "--", "as printed"))
    panel = Panel("δ = 0.01/n", "λ", "least ε", (*curves, *kinds), (0, 4), x_log=True, y_log=False)
    return Figure((panel,), reading_3_3())


def reading_3_3() -> str:
    """Two points, and from which λ on there is any ε."""
    *limits, last = (
        f"{1 - (0.01 / unknown) ** (1 / (unknown - 1)):.2g} at n = {unknown:,}"
        for unknown in (100, 1_000, 10_000, 100_000)
    )
    return (
        "At n = 10,000 and λ = 0.198, the printed ε is "
        f"{epsilon_of_tail(10_000, 0.198, 1e-6):.4f}, and ours is "
        f"{epsilon_count(10_000, 0.198, 1e-6):.4f}. At n = 1,000 and λ = 0.052, the printed ε is "
        f"{epsilon_of_tail(1_000, 0.05204, 1e-5):.3f}, and ours is "
        f"{epsilon_count(1_000, 0.05204, 1e-5):.3f}.\n\n"
        "Here too, δ cannot be smaller than (1−λ)^(n−1). So for δ = 0.01/n, λ must be at least "
        "about "
        f"{', '.join(limits)} and {last}."
    )


# Curves and sentences

KINDS = (Curve((), -1, "-", "[EXACT]"), Curve((), -1, "--", "[LQS]"))


def both(
    series: int,
    label: str,
    xs: Iterable[float],
    of_paper: Callable[[float], float | None],
    own: Callable[[float], float | None],
) -> list[Curve]:
    """The paper's curve, dashed, and the exact one, solid."""
    xs = tuple(xs)
    return [curve(xs, of_paper, series, "--"), curve(xs, own, series, "-", label)]


def curve(
    xs: Iterable[float],
    function: Callable[[float], float | None],
    series: int,
    style: str,
    label: str = "",
) -> Curve:
    """The points at which the function has a value."""
    values = [(x, function(x)) for x in xs]
    return Curve(tuple((float(x), y) for x, y in values if y is not None), series, style, label)


def grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """Evenly spaced, and short in decimals."""
    return tuple(round(x, 6) for x in np.linspace(low, high, count).tolist())


def compare(where: str, k: int, rate: float, epsilon: float) -> str:
    """The sentence that reads one point of [LQS] and [EXACT]."""
    bound, value = lqs(k, rate, epsilon), exact(k, rate, epsilon)
    assert bound is not None
    return (
        f"{where}, the paper's bound is {short(bound)}. This is {bound / value:.0f} times the "
        f"exact value, {short(value)}."
    )


def short(value: float | None) -> str:
    """Three significant digits, 8.02e-6."""
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}" if abs(int(exponent)) > 2 else f"{value:.3g}"


# Drawing and writing

# From dark to light, so that they differ in grey too; -1 is for the legend of line styles.
COLOURS = ("#1b1b3a", "#1f6f8b", "#c8553d", "#e0a526", "#5a8f3c", "#9a6fb0", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "x", "")
STYLE = {
    "font.size": 9,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "policy-engine",
}


def draw(figure: Figure, path: Path) -> None:
    """Write one picture; the same numbers give the same bytes."""
    import matplotlib.pyplot as plt

    with matplotlib.rc_context(STYLE):
        width = 7.6 if len(figure.panels) == 1 else 8.4
        height = 3.9 if len(figure.panels) == 1 else 4.9
        drawing, axes = plt.subplots(
            1, len(figure.panels), figsize=(width, height), squeeze=False, layout="constrained"
        )
        for panel, on in zip(figure.panels, axes[0], strict=True):
            draw_panel(panel, on)
        legend = [legend_entry(entry) for entry in figure.panels[0].curves if entry.label]
        place = "outside right center" if len(figure.panels) == 1 else "outside lower center"
        drawing.legend(
            handles=legend, loc=place, ncols=1 if len(figure.panels) == 1 else 2, frameon=False
        )
        drawing.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(drawing)


def draw_panel(panel: Panel, axes: Axes) -> None:
    """Axes, and the curves with a marker here and there."""
    for entry in panel.curves:
        if not entry.points:
            continue
        xs, ys = zip(*entry.points, strict=True)
        every = max(1, len(xs) // 8)
        axes.plot(
            xs,
            ys,
            entry.style,
            color=COLOURS[entry.series],
            marker=MARKERS[entry.series],
            markersize=3.5,
            markevery=every,
        )
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.x_log:
        axes.set_xscale("log")
    if panel.y_log:
        axes.set_yscale("log")
    axes.set_ylim(*panel.y_limits)


def legend_entry(entry: Curve) -> Line2D:
    """The curve's line in the legend."""
    return Line2D(
        [],
        [],
        linestyle=entry.style,
        color=COLOURS[entry.series],
        marker=MARKERS[entry.series],
        markersize=3.5,
        label=entry.label,
    )


def markdown(item: Figure | Table) -> str:
    """What the page includes: the table if it is one, and the sentence."""
    lines = []
    if isinstance(item, Table):
        lines += [row(item.header), row(("---",) * len(item.header))]
        lines += [row(cells) for cells in item.rows]
        lines.append("")
    return "\n".join([*lines, item.reading, ""])


def row(cells: tuple[str, ...]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


ITEMS: dict[str, Callable[[], Figure | Table]] = {
    "lqs-table-1": lqs_table_1,
    "lqs-table-2": lqs_table_2,
    "lqs-figure-2": lqs_figure_2,
    "lqs-figure-3": lqs_figure_3,
    "lqs-figure-4": lqs_figure_4,
    "lqs-figure-5": lqs_figure_5,
    "lqs-figure-6": lqs_figure_6,
    "thesis-figure-3-2": thesis_figure_3_2,
    "thesis-figure-3-3": thesis_figure_3_3,
}


def main() -> None:
    """Draw what is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ITEMS)}")
    names = parser.parse_args().names
    unknown = sorted(set(names) - set(ITEMS))
    if unknown:
        parser.error(f"no such figure: {', '.join(unknown)}; there are {', '.join(ITEMS)}")
    matplotlib.use("svg")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name in names or ITEMS:
        item = ITEMS[name]()
        (OUTPUT / f"{name}.md").write_text(markdown(item), "utf-8")
        if isinstance(item, Figure):
            draw(item, OUTPUT / f"{name}.svg")
        print(f"{name}\n{markdown(item)}")


if __name__ == "__main__":
    main()
