"""What `plan` and `calculate` say of the mechanisms beside one another, and how plots are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.comparison import SAMPLED, Candidate, Comparison
from policy_engine.accounting.frontier import SamplePair
from policy_engine.accounting.tables import Aim
from policy_engine.cli.output import shown
from policy_engine.cli.reading import check_free, written_whole
from policy_engine.errors import UsageError, to_install
from policy_engine.values import frozen

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
_METADATA: dict[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}
_COLOURS = (BLUE, DARK, RED, GREY, "#8a6d1b")
_HEADS = ("", "50 % visible from", "1 SD", "for certain", "least", "rows")
_LEGEND = (
    "50 % visible from: a group of so many people is shown half the time; 1 SD: of its shown count",
    "for certain: the group has so many people; least: a group that is shown has at least so many",
    "rows: whether each row of the release can be a true person's",
)

_POINTS = 60


@frozen
class Mechanism:
    """A mechanism at an aim, as JSON says it: by name, and what its release shows.

    ``k`` and ``rate`` are of a sample alone.
    """

    mechanism: str
    distribution: str | None
    visible_from: int
    count_error: float
    certain: tuple[int, int] | None
    least: int
    true_rows: bool
    used: bool
    auto: bool
    k: int | None = None
    rate: float | None = None


@frozen
class NotPossible:
    """A mechanism that the aim rules out."""

    mechanism: str
    distribution: str | None
    reason: str


@frozen
class OtherGroups:
    """What becomes of the groups with a public list, ``listed``, where there is none; or without.

    ``groups`` is how many the list has.
    """

    groups: int
    listed: bool
    visible_from: int
    count_error: float


@frozen
class Compared:
    """The mechanisms beside one another, as JSON says it."""

    epsilon: float
    delta: float
    neighbours: str
    releases: int
    mechanisms: tuple[Mechanism, ...]
    not_possible: tuple[NotPossible, ...]
    plot: Path | None = None
    public_groups: OtherGroups | None = None


@frozen
class ComparisonTable:
    """The mechanisms at an aim. ``own`` is the policy's, by its numbers or by its law alone.

    ``groups`` is how many public groups there are, or could be; ``other`` is noise with a threshold
    where the policy has them, and without where it could have them. ``shared``: the policy says
    which share each of its groupings has.
    """

    aim: Aim
    found: Comparison
    own: Candidate | str | None = None
    groups: int = 0
    other: Candidate | None = None
    shared: bool = False

    @property
    def rows(self) -> list[Candidate]:
        """The best of each law, and the policy's own where its numbers are others."""
        rows = list(self.found.candidates)
        if self.own is None or isinstance(self.own, str) or self.own in rows:
            return rows
        return [self.own, *rows]

    def is_own(self, row: Candidate) -> bool:
        """Whether it is what the policy uses."""
        return self.own in (row, row.law)

    @property
    def compared(self) -> Compared:
        """The table as JSON says it."""
        aim = self.aim
        return Compared(
            float(aim.epsilon),
            float(aim.delta),
            aim.neighbours,
            aim.releases,
            tuple(map(self._mechanism, self.rows)),
            tuple(NotPossible(*_named(law), why) for law, why in self.found.refused),
            public_groups=self._other,
        )

    @property
    def _other(self) -> OtherGroups | None:
        other = self.other
        if other is None:
            return None
        return OtherGroups(self.groups, other.listed, other.half, float(other.error))

    def _mechanism(self, row: Candidate) -> Mechanism:
        pair = row.by if isinstance(row.by, SamplePair) else None
        return Mechanism(
            *_named(row.law),
            row.half,
            float(row.error),
            row.certain,
            row.least,
            row.true_rows,
            self.is_own(row),
            row.law == self.found.auto,
            k=None if pair is None else pair.k,
            rate=None if pair is None else float(pair.rate),
        )

    def drawn(self, plot: Path | None) -> Path | None:
        """Draw the table where a place is given, which is checked; that place."""
        if plot is None:
            return None

        def paint(figure: Figure) -> None:
            left, right = figure.subplots(1, 2)
            _draw_chances(left, self.rows)
            _draw_errors(right, self.rows)
            at = f"ε = {self.aim.epsilon}, δ = {self.aim.delta}, releases: {self.aim.releases}"
            figure.suptitle(at, fontsize=9)

        draw(plot, paint, 8.4)
        return plot

    def lines(self) -> Iterator[str]:
        """The table as text."""
        together = f" for {self.aim.releases:,} releases together" * (self.aim.releases > 1)
        price = f"ε = {shown(self.aim.epsilon)}, δ = {shown(self.aim.delta)}"
        yield f"compared   at {price}{together}, by these numbers alone"
        rows = [_HEADS, *map(self._cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            right = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
            yield "  ".join([first.ljust(widths[0]), *right]).rstrip()
        for law, reason in self.found.refused:
            yield f"  {_words(law)}: not possible, {reason}"
        if self.shared:
            yield "  the others give each grouping an equal part, and the policy its rollup.share"
        yield from self._with_or_without()
        yield from (f"  {text}" for text in _LEGEND)
        if self.own is not None:
            yield "  *: what the policy uses"
        if self.found.auto is not None and self.aim.releases == 1:
            yield "  auto: what noise.distribution: auto takes"
        elif self.found.auto is not None:
            smaller = "the one of the first two that shows smaller groups"
            yield f"  auto: {smaller}; a policy compares them for one release"

    def _with_or_without(self) -> Iterator[str]:
        """What a public list of groups takes away, or could."""
        other = self.other
        if other is None:
            return
        about = f"give or take {other.error:.1f} (1 SD)"
        if other.listed:
            yield (
                f"  every column says all its values: with public_groups: auto all {self.groups:,}"
                f" groups would be shown, even without people in them, {about}"
            )
        else:
            yield (
                f"  without public_groups a group of {other.half:,} people would be shown half the"
                f" time, {about}; smaller ones hardly ever, so that sums over groups are too small"
            )

    def _cells(self, row: Candidate) -> tuple[str, ...]:
        whose = " (auto)" if row.law == self.found.auto else ""
        if row not in self.found.candidates:  # with groupings, sums or keys of its own
            whose = "" if isinstance(row.by, SamplePair) else ", as the policy has it"
        low, high = row.certain or (0, 0)
        # A standard deviation has one digit after the point where it is small.
        error = f"{row.error:.1f}" if row.error < 100 else f"{row.error:,.0f}"
        return (
            f"{'*' if self.is_own(row) else ' '} {_name(row)}{whose}",
            f"{row.half:,}",
            error,
            f"n - {-low} to n + {high}" if row.certain else "no bound",
            f"{row.least:,}",
            "yes" if row.true_rows else "no",
        )


def _name(row: Candidate) -> str:
    if not isinstance(row.by, SamplePair):
        return _words(row.law)
    return f"{_words(row.law)}, k = {row.by.k}, rate {float(row.by.rate):.3g}"


def _named(law: str) -> tuple[str, str | None]:
    """A mechanism and its law, as a policy writes them."""
    if law == SAMPLED:
        return law, None
    return "noisy_counts", law


def _words(law: str) -> str:
    return law.replace("_", " ")


def _draw_chances(axes: Axes, rows: list[Candidate]) -> None:
    """The chance that a group is shown, up to twice the size of the last that is shown half."""
    largest = max(2, *(2 * row.half for row in rows))
    sizes = sorted({1 + round((largest - 1) * i / _POINTS) for i in range(_POINTS + 1)})
    for row, colour in zip(rows, _COLOURS, strict=False):
        chances = [100 * float(row.chance(size)) for size in sizes]
        line = "--" if row.true_rows else "-"  # it lies upon that of a place
        label = f"{_name(row)}: half from {row.half:,} on"
        axes.plot(sizes, chances, line, color=colour, label=label)
    axes.set(xlabel="people in the group", ylabel="shown, %", ylim=(0, 102))
    legend(axes)


def _draw_errors(axes: Axes, rows: list[Candidate]) -> None:
    """The standard deviation of a count, and by a line how wrong it is at most."""
    for at, (row, colour) in enumerate(zip(rows, _COLOURS, strict=False)):
        error = float(row.error)
        axes.barh(at, error, color=colour, label=f"{_name(row)}: {error:.3g}")
        if row.certain is not None:
            axes.plot([0, max(map(abs, row.certain))], [at, at], color=colour)
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.set_xlabel("people: bar 1 SD of a shown count, line at most")
    legend(axes)


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
