"""What `plan` and `calibrate` print of the mechanisms beside one another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.cli.output import shown

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate, Comparison
    from policy_engine.accounting.tables import Aim

_HEADS = ("", "half shown", "1 SD", "for certain", "least", "rows")
_LEGEND = (
    "half shown: a group of so many people is shown half the time; 1 SD: of a shown count of it",
    "for certain: the group has so many people; least: a group that is shown has at least so many",
    "rows: whether each row of the release can be a true person's",
)


@dataclass(frozen=True)
class Table:
    """The mechanisms at an aim. ``own`` is the policy's, by its numbers or by its law alone."""

    aim: Aim
    found: Comparison
    own: Candidate | str | None = None

    @property
    def rows(self) -> list[Candidate]:
        """The best of each law, and the policy's own where its numbers are others."""
        rows = list(self.found.candidates)
        if self.own is None or isinstance(self.own, str) or self.own in rows:
            return rows
        return [self.own, *rows]

    @property
    def names(self) -> list[str]:
        """What each row is called."""
        return [f"{_words(row.law)}{_numbers(row)}" for row in self.rows]

    def is_own(self, row: Candidate) -> bool:
        """Whether it is what the policy uses."""
        return row.law == self.own if isinstance(self.own, str) else row == self.own

    def document(self) -> dict[str, Any]:
        """The table as JSON."""
        return {
            "epsilon": float(self.aim.epsilon),
            "delta": float(self.aim.delta),
            "neighbours": self.aim.neighbours,
            "releases": self.aim.releases,
            "mechanisms": [
                {
                    **_named(row.law),
                    **_pair(row),
                    "half_shown": row.half,
                    "count_error": float(row.error),
                    "certain": None if row.certain is None else list(row.certain),
                    "least": row.least,
                    "true_rows": row.true_rows,
                    "used": self.is_own(row),
                    "auto": row.law == self.found.auto,
                }
                for row in self.rows
            ],
            "not_possible": [
                {**_named(law), "reason": reason} for law, reason in self.found.refused
            ],
        }

    def drawn(self, plot: Path | None) -> dict[str, Any]:
        """Draw the table where a place is given, which is checked; what JSON says of it."""
        if plot is None:
            return {}
        from policy_engine.cli.plots import draw_comparison

        draw_comparison(self, plot)
        return {"plot": str(plot)}

    def lines(self) -> Iterator[str]:
        """The table as text."""
        together = f" for {self.aim.releases:,} releases together" * (self.aim.releases > 1)
        price = f"ε = {shown(self.aim.epsilon)}, δ = {shown(self.aim.delta)}"
        yield f"compared   at {price}{together}, by these numbers alone"
        rows = [_HEADS, *map(self._cells, self.rows, self.names)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            first, *others = zip(row, widths, strict=True)
            cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
            yield "  ".join(cells).rstrip()
        for law, reason in self.found.refused:
            yield f"  {_words(law)}: not possible, {reason}"
        yield from (f"  {text}" for text in (*_LEGEND, *self._marks()))

    def _cells(self, row: Candidate, name: str) -> tuple[str, ...]:
        auto = " (auto)" if row.law == self.found.auto else ""
        low, high = row.certain or (0, 0)
        return (
            f"{'*' if self.is_own(row) else ' '} {name}{auto}",
            f"{row.half:,}",
            _short(row.error),
            f"n - {-low} to n + {high}" if row.certain else "no bound",
            f"{row.least:,}",
            "yes" if row.true_rows else "no",
        )

    def _marks(self) -> Iterator[str]:
        if self.own is not None:
            yield "*: what the policy uses"
        if self.found.auto is not None and self.aim.releases == 1:
            yield "auto: what noise.law: auto takes"
        elif self.found.auto is not None:
            yield "auto: of the first two what shows smaller groups; in a policy for one release"


def _named(law: str) -> dict[str, str | None]:
    """A mechanism and its law, as a policy writes them."""
    sampled = law == "sampled_suppression"
    return {"mechanism": law, "law": None} if sampled else {"mechanism": "noisy_counts", "law": law}


def _pair(row: Candidate) -> dict[str, Any]:
    from policy_engine.accounting.frontier import Pair

    return {"k": row.by.k, "rate": float(row.by.rate)} if isinstance(row.by, Pair) else {}


def _numbers(row: Candidate) -> str:
    pair = _pair(row)
    return f", k = {pair['k']}, rate {pair['rate']:.3g}" if pair else ""


def _words(law: str) -> str:
    return law.replace("_", " ")


def _short(error: Decimal) -> str:
    """A standard deviation with one digit after the point where it is small.

    >>> _short(Decimal("1.3569")), _short(Decimal("1280.4"))
    ('1.4', '1,280')
    """
    return f"{error:.1f}" if error < 100 else f"{error:,.0f}"
