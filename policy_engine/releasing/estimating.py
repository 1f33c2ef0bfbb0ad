"""What all tables of a release say together: estimates that agree, at no price.

The cells of a table are all combinations of the values that are shown anywhere. What is looked for
are counts of them that are nowhere below zero, that agree wherever tables share columns, and that
are nearest to what is shown, in standard deviations. A cell that is not shown is taken for what its
table says if its columns are independent, give or take half of that and a fifth of the noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.arrays import np
from policy_engine.attest.keys import explained
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.policy.project import Project
from policy_engine.releasing.showing import FirstRows, show
from policy_engine.values import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

CELLS = 500_000
"""Of so many cells at most: of more, nearly all were guesses."""
_NEAR, _SWEEPS = 0.001, 10_000
"""In people: so near is every cell to one that agrees. Most tables take some hundred sweeps."""
Group = tuple[Any, ...]
_EVERY = 1 << 62
ESTIMATE = "estimate"


@frozen
class Estimated:
    """A release with what its tables say together: one row for each cell, its estimate last.

    The number before it is the count that was released, None where the cell was not shown.
    """

    shown: FirstRows
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    beside: tuple[str, ...] = ()
    """The sums and means of the release: these are not in it."""

    def write(self, path: Path) -> None:
        """Write the rows as Parquet. Raises FileError where something stands there."""
        import pyarrow as pa

        from policy_engine.attest.parquet_file import read_parquet, write_parquet
        from policy_engine.attest.values import is_moment, restored

        if path.exists():
            raise FileError(f"{path} exists, and estimates never replace a file; name another one")
        fields = [pa.array([row[place] for row in self.rows]) for place in range(len(self.columns))]
        if self.shown.release.lower().endswith(".parquet"):
            shown = read_parquet(Path(self.shown.release))
            for place, name in enumerate(self.columns):
                if name in shown.column_names and is_moment(shown.column(name).type):
                    fields[place] = restored(fields[place].to_pylist(), shown.column(name))
        with explained(f"{path} could not be written"):
            write_parquet(pa.table(fields, list(self.columns)), path, {})


def estimated(named: Path, project: Project) -> Estimated:
    """Make the tables of a release agree: a file, or what a certificate is of, a file or a table.

    Neither signature nor rows are checked. Of a table every value is its text.

    Raises:
        UsageError: the release has one table, or too many cells.
        FileError, WarehouseError: it cannot be read.
        VerificationFailed: the certificate cannot be read, or the rows are not as it says.
    """
    found = show(named, project, _EVERY)
    if found.known is None:
        raise VerificationFailed(found.meaning)
    if not found.known.claim.law.groupings:
        raise UsageError(
            f"{found.release} has one table, which agrees with itself; a release of a roll-up or of"
            " marginals has several"
        )
    claim, name = found.known.claim, ESTIMATE
    while name in found.columns:
        name = f"policy_engine_{name}"
    try:
        rows = tuple(agreed(claim, found.rows))
    except (ValueError, TypeError):
        wrong = (f"the rows of {found.release} are not as its certificate says",)
        raise VerificationFailed(wrong) from None
    names = (*claim.released, str(claim.count), name)
    return Estimated(found, names, rows, claim.law.beside)


def agreed(claim: Claim, rows: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The rows of a release of several groupings, made to agree: every cell, its estimate last.

    Sums and means beside the counts are left out.

    Raises ValueError or TypeError where the rows are not those of the claim, and UsageError where
    there are too many cells.
    """
    meaning, count = meaning_of(claim), str(claim.count)
    names, groupings = meaning.names, list(meaning.groupings())
    counts: list[dict[Group, int]] = [{} for _ in groupings]
    for row in rows:
        values = dict(zip(names, row, strict=True))
        number = range(1, len(counts) + 1).index(int(values[GROUPING]))
        group = tuple(values[name] for name in groupings[number].columns)
        counts[number][group] = int(values[count])
    tables = [
        Counted(each.columns, own, each.deviation, each.least)
        for each, own in zip(groupings, counts, strict=True)
    ]
    for number, (each, cells) in enumerate(zip(tables, agreeing(tables), strict=True), 1):
        for cell, estimate in cells.items():
            known = dict(zip(each.columns, cell, strict=True))
            group = tuple(known.get(shown.name) for shown in claim.columns)
            yield (number, *group, each.counts.get(cell), round(estimate, 3))


@frozen
class Counted:
    """A table of noisy counts: those that are shown, from ``least`` on, and their deviation."""

    columns: tuple[str, ...]
    counts: Mapping[Group, int]
    deviation: float
    least: int


def agreeing(tables: Sequence[Counted]) -> list[dict[Group, float]]:
    """An estimate of every cell of each table; the columns of all tables stand in one order.

    Guarantee: none is below zero, and tables agree within 0.001 people a cell. What is not shown is
    guessed. Raises UsageError where there are too many cells.

    >>> counts = {("<30", "f"): 50, ("<30", "m"): 40, (">30", "f"): 60}
    >>> pair = Counted(("age", "sex"), counts, 3, 20)
    >>> age = Counted(("age",), {("<30",): 90, (">30",): 72}, 3, 20)
    >>> pairs, ages = agreeing([pair, age])
    >>> round(pairs[">30", "m"]), round(ages[(">30",)])
    (12, 72)
    """
    grids = _grids(tables)
    shared = _shared(grids)
    first = _nearest([grid.with_unknown(0, grid.few) for grid in grids], shared)
    told = [
        grid.with_unknown(guess, guess / 2 + grid.table.deviation / 5)
        for grid, guess in zip(grids, map(_independent, first), strict=True)
    ]
    done = _nearest(told, shared)
    return [grid.named(found) for grid, found in zip(grids, done, strict=True)]


@frozen
class _Grid:
    """All cells of a table: the values of its columns, and what is shown, NaN where nothing is."""

    table: Counted
    values: tuple[tuple[Any, ...], ...]
    shown: Numbers

    @classmethod
    def of(cls, table: Counted, values: tuple[tuple[Any, ...], ...]) -> _Grid:
        """The cells of a table."""
        found = [table.counts.get(cell, np.nan) for cell in product(*values)]
        return cls(table, values, np.array(found, float).reshape([len(each) for each in values]))

    @property
    def few(self) -> float:
        """So many people are in an unshown cell at most, more often than not."""
        return self.table.least / 2

    def with_unknown(self, guess: Numbers | float, spread: Numbers | float) -> _Believed:
        """What is believed of each cell, and its variance."""
        hidden = np.isnan(self.shown)
        believed = np.where(hidden, np.minimum(guess, self.few), self.shown)
        return believed, np.where(hidden, np.minimum(spread, self.few), self.table.deviation) ** 2

    def named(self, found: Numbers) -> dict[Group, float]:
        """The numbers by their cells."""
        return dict(zip(product(*self.values), found.ravel().tolist(), strict=True))


_Believed = tuple["Numbers", "Numbers"]
_Shared = list[list[tuple[int, tuple[int, ...]]]]
"""For each set of shared columns the tables that have it, and their axes that are not in it."""


def _grids(tables: Sequence[Counted]) -> list[_Grid]:
    known: dict[str, dict[Any, None]] = {}
    for each in tables:
        for place, name in enumerate(each.columns):
            known.setdefault(name, {}).update(dict.fromkeys(cell[place] for cell in each.counts))
    values = [tuple(tuple(known[name]) for name in each.columns) for each in tables]
    if (cells := sum(prod(map(len, each)) for each in values)) > CELLS:
        raise UsageError(
            f"the tables have {cells:,} cells, nearly all of them not shown; at most {CELLS:,} are"
            " estimated. Release groupings of fewer columns"
        )
    return [_Grid.of(*each) for each in zip(tables, values, strict=True)]


def _shared(grids: Sequence[_Grid]) -> _Shared:
    columns = [each.table.columns for each in grids]
    pairs = ([name for name in one if name in other] for one, other in combinations(columns, 2))
    found = [
        [
            (number, tuple(axis for axis, name in enumerate(own) if name not in names))
            for number, own in enumerate(columns)
            if {*names} <= {*own} and grids[number].shown.size
        ]
        for names in sorted({tuple(each) for each in pairs}, key=lambda each: (len(each), each))
    ]
    return [members for members in found if members]


def _independent(found: Numbers) -> Numbers:
    """A table with the same number of people for each value of each column."""
    total = found.sum() or 1.0
    result = np.full(found.shape, total)
    for axis in range(found.ndim):
        others = tuple(each for each in range(found.ndim) if each != axis)
        result = result * (found.sum(axis=others, keepdims=True) / total)
    return result


def _nearest(believed: Sequence[_Believed], shared: _Shared) -> list[Numbers]:
    """The nearest tables that agree and are not below zero, by Dykstra's projections.

    Each is in the metric of the variances: onto the tables that agree on one set of columns, one
    set after another, and onto those that are not below zero. These spaces are flat but for the
    last, which alone carries what it cut off into the next sweep.
    """
    found, variances = [each.copy() for each, _ in believed], [each for _, each in believed]
    carried = [np.zeros(each.shape) for each in found]
    for _ in range(_SWEEPS):
        farthest = 0.0
        for members in shared:
            sums = [found[number].sum(axis=axes) for number, axes in members]
            weights = [1 / variances[number].sum(axis=axes) for number, axes in members]
            common = sum(map(np.multiply, sums, weights)) / sum(weights)
            for (number, axes), own, weight in zip(members, sums, weights, strict=True):
                step = variances[number] * np.expand_dims((common - own) * weight, axes)
                found[number] += step
                farthest = max(farthest, np.abs(step).max(initial=0))
        for number, each in enumerate(found):
            kept = np.maximum(each + carried[number], 0)
            carried[number] += each - kept
            farthest = max(farthest, np.abs(kept - each).max(initial=0))
            found[number] = kept
        if farthest < _NEAR:
            break
    return found
