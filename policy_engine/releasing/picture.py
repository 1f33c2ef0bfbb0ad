"""A picture of released numbers with their intervals: a bar a group, as SVG or by matplotlib.

It is made of the release and its certificate alone. What it says is said without colours: each
number is written beside its bar, and the title and the description tell it to a screen reader.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from math import floor, log10, nan
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from policy_engine.errors import UsageError, to_install
from policy_engine.kernel.mechanisms.meaning import either
from policy_engine.policy.escapes import escaped
from policy_engine.values import frozen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL, _NUMBERS, _WIDTH, _ROW, _LETTER_ROW = 230, 190, 720, 22, 16
_LONGEST_LABEL = 38
_LONGEST_CAPTION = 95  # of letters in a line of SVG, which has room for so many wide ones
_LINE = 60  # of letters below the axis, where the labels of bars are long

_ALL = "'policy-engine show FILE --output all.csv' writes all"


def lies(left_out: Sequence[str]) -> str:
    """What an interval is, behind "between the two", and what it leaves out.

    >>> lies(["a person's groups beyond 3"])
    "lies what counts in 95 of 100 releases, without a person's groups beyond 3"
    """
    without = f", without {either(left_out)}" if left_out else ""
    return f"lies what counts in 95 of 100 releases{without}"


def _plain(value: float) -> str:
    """A number to six digits, or to all of its whole ones."""
    return f"{value:,.6g}" if value % 1 and abs(value) < 100_000 else f"{value:,.0f}"


@frozen
class DrawnNumber:
    """A group, the number that is shown of it, how far that is off (1 SD), and its interval.

    Each is None where the release does not tell it.
    """

    label: str
    value: float | None
    error: float | None = None
    between: tuple[float, float] | None = None

    @property
    def reach(self) -> tuple[float, float]:
        """Where the line of its interval ends; at the number where there is no line."""
        return self.between or (self.value or 0.0, self.value or 0.0)

    @property
    def away(self) -> tuple[float, float]:
        """How far below and above the number its interval reaches; NaN where none is told."""
        if self.between is None or self.value is None:
            return nan, nan
        return self.value - self.between[0], self.between[1] - self.value

    @property
    def words(self) -> str:
        """The number and its error, the error to two digits and the number as far.

        >>> DrawnNumber("", 1234.0, 1.38).words, DrawnNumber("", 0.51234, 0.0123).words
        ('1,234 ± 1.4', '0.512 ± 0.012')
        """
        if self.value is None:
            return "missing"
        if not self.error:
            return self._alone
        places = max(0, 1 - floor(log10(self.error)))
        shown = f"{self.value:,.0f}" if not self.value % 1 else f"{self.value:,.{places}f}"
        return f"{shown} ± {self.error:,.{places}f}"

    @property
    def in_picture(self) -> str:
        """The number, and its interval in brackets.

        >>> DrawnNumber("", 1234.0, 1.38, (1231.0, 1237.0)).in_picture
        '1,234 (1,231 to 1,237)'
        >>> DrawnNumber("", 1234567.0, 1.38, (1234564.0, 1234570.0)).in_picture
        '1,234,567 (1,234,564 to 1,234,570)'
        """
        return "missing" if self.value is None else f"{self._alone}{self.brackets}"

    @property
    def brackets(self) -> str:
        """The interval, behind a number; empty where none is told."""
        if self.between is None:
            return ""
        low, high = self.between
        return f" ({_plain(low)} to {_plain(high)})"

    @property
    def _alone(self) -> str:
        return _plain(self.value or 0.0)


@frozen
class Picture:
    """Bars with intervals: what they are ``of``, by which columns, and how many are left out.

    ``left_out`` is what its intervals do not include. ``unstated`` says why there are none.
    ``edition``: which one of its policy it is of, in words; empty of the only one.
    """

    title: str
    of: str
    by: str
    bars: tuple[DrawnNumber, ...]
    more: int = 0
    left_out: tuple[str, ...] = ()
    unstated: str = ""
    edition: str = ""

    @property
    def description(self) -> str:
        """What it shows, in words."""
        told = "; ".join(f"{bar.label}: {bar.in_picture}" for bar in self.bars)
        return f"{self.caption}. {told or 'No group is shown'}."

    @property
    def caption(self) -> str:
        """What a bar is."""
        told = f"{self._which}{self.of}, by {self.by}; {self._lines('between the two')}"
        return f"{told}; {self.first}: {_ALL}" if self.more else told

    @property
    def first(self) -> str:
        """How many of the groups are drawn, where not all are."""
        return f"the first {len(self.bars):,} of {self._groups:,} groups" if self.more else ""

    @property
    def _groups(self) -> int:
        return len(self.bars) + self.more

    @property
    def _which(self) -> str:
        """Which edition, before all else that is said."""
        return f"edition {self.edition}; " if self.edition else ""

    def _lines(self, where: str) -> str:
        """What the lines are, or why there are none."""
        return self.unstated or f"{where} {lies(self.left_out)}"

    def svg(self) -> str:
        """The picture as SVG, in the colours of the page that it stands on, or black on nothing."""
        caption = wrap(self.caption, _LONGEST_CAPTION)
        top = 18 + _LETTER_ROW * len(caption)
        high = top + _ROW * len(self.bars) + 8
        title, told = map(marked, (self.title, self.description))
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {high}"'
                ' role="img" aria-labelledby="picture-title picture-told"'
                ' font-family="sans-serif" font-size="12">',
                f'<title id="picture-title">{title}</title>',
                f'<desc id="picture-told">{told}</desc>',
                *(
                    f'<text x="0" y="{14 + _LETTER_ROW * place}">{marked(line)}</text>'
                    for place, line in enumerate(caption)
                ),
                *self._drawn(top),
                "</svg>\n",
            )
        )

    def _drawn(self, top: int) -> Iterator[str]:
        least = min((bar.reach[0] for bar in self.bars), default=0)
        most = max((bar.reach[1] for bar in self.bars), default=1)
        low, high = min(0.0, least), max(0.0, most)
        wide = (_WIDTH - _LABEL - _NUMBERS) / ((high - low) or 1)

        def at(value: float) -> float:
            return round(_LABEL + (value - low) * wide, 1)

        for place, bar in enumerate(self.bars):
            y = top + _ROW * place
            left, right = sorted((at(0), at(bar.value or 0)))
            less, more, middle = at(bar.reach[0]), at(bar.reach[1]), y + 8
            line = (
                f'<path class="interval" d="M{less} {middle}H{more}M{less} {y + 3}V{y + 13}'
                f'M{more} {y + 3}V{y + 13}" stroke="currentColor" stroke-width="1.5" fill="none"/>'
            )
            yield (
                f'<text x="{_LABEL - 8}" y="{y + 12}" text-anchor="end">'
                f"{marked(_cut(bar.label, _LONGEST_LABEL))}</text>"
                f'<rect class="bar" x="{left}" y="{y + 2}" width="{round(right - left, 1)}"'
                ' height="12" fill="#7fa8bd"/>'
                f"{'' if bar.between is None else line}"
                f'<text x="{max(more, right) + 6}" y="{y + 12}">{marked(bar.in_picture)}</text>'
            )

    def draw(self, axes: Axes | None = None) -> Axes:
        """The same by matplotlib, on ``axes`` or on new ones.

        Errors: UsageError where matplotlib is not installed.
        """
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                law = "plot needs matplotlib; run"
                raise UsageError(f"{law} {to_install('plot')}") from None
            high = 1.2 + 0.28 * len(self.bars)
            _, axes = pyplot.subplots(figsize=(7, high), layout="constrained")
        places = range(len(self.bars))
        marks: Any = {"ecolor": "black", "capsize": 3, "color": "#7fa8bd"}
        values = [bar.value or 0 for bar in self.bars]
        away = [[bar.away[end] for bar in self.bars] for end in (0, 1)]
        axes.barh(places, values, xerr=away, **marks)
        axes.set_yticks(places, [_cut(bar.label, _LONGEST_LABEL) for bar in self.bars])
        axes.invert_yaxis()
        axes.set_xlabel(
            "\n".join(wrap(f"{self._which}{self.of}; {self._lines('on the line')}", _LINE))
        )
        axes.set_ylabel(self.by)
        rest = f"\n{self.first}; most={self._groups} draws all" if self.more else ""
        axes.set_title(f"{self.title}{rest}")
        return axes


def marked(text: str) -> str:
    """A text as markup, each character of which shows."""
    return html.escape(escaped(text))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
