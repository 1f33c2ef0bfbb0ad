"""What all tables of a release say together: estimates that agree, at no price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Noisy
from policy_engine.kernel.mechanisms.noisy_counts import GROUPING
from policy_engine.policy.project import Project
from policy_engine.releasing.consistency import Counted, Group, agreeing
from policy_engine.releasing.showing import NoisyMeaning, Shown, show

_EVERY = 1 << 62
_DIGITS = 3
ESTIMATE = "estimate"


@dataclass(frozen=True)
class Estimated:
    """A release with what its tables say together: one row for each cell, its estimate last.

    The number before it is the count that was released, None where the cell was not shown.
    """

    shown: Shown
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    beside: tuple[str, ...] = ()
    """The sums and means of the release: these are not in it."""

    def write(self, path: Path) -> None:
        """Write the rows as Parquet. Raises FileError where something stands there."""
        import pyarrow as pa

        from policy_engine.attest.parquet_file import write_parquet

        if path.exists():
            raise FileError(f"{path} exists, and estimates never replace a file; name another one")
        fields = [pa.array([row[place] for row in self.rows]) for place in range(len(self.columns))]
        try:
            write_parquet(pa.table(fields, list(self.columns)), path, {})
        except OSError as error:
            raise FileError(f"{path} could not be written: {error.strerror}") from None


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
    if not isinstance(found.known, NoisyMeaning) or not found.known.law.groupings:
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
    from policy_engine.accounting.noise_laws import deviation

    law, names = claim.law, (*claim.released, claim.count, *claim.law.beside)
    assert isinstance(law, Noisy)
    counts: list[dict[Group, int]] = [{} for _ in law.groupings]
    for row in rows:
        values = dict(zip(names, row, strict=True))
        number = range(1, len(counts) + 1).index(int(values[GROUPING]))
        group = tuple(values[name] for name in law.groupings[number].columns)
        counts[number][group] = int(values[claim.count])
    tables = [
        Counted(each.columns, own, deviation(table), law.shown_from(table))
        for each, own, (table, *_) in zip(law.groupings, counts, law.tables, strict=True)
    ]
    for number, (each, cells) in enumerate(zip(tables, agreeing(tables), strict=True), 1):
        for cell, estimate in cells.items():
            known = dict(zip(each.columns, cell, strict=True))
            group = tuple(known.get(shown.name) for shown in claim.columns)
            yield (number, *group, each.counts.get(cell), round(estimate, _DIGITS))
