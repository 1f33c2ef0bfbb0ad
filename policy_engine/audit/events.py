"""Events that tell two tables apart: searched for on one half of the runs, and there alone.

A run is seen as features: named values, each some function of what was released: the rows in their
order, the counts, the columns with their types, and the bytes of the file that would be published.
A run that fails has let out that it failed. An event says something of one feature. Whatever is
chosen here is judged on the other half of the runs.
"""

from __future__ import annotations

import io
import math
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeGuard

from policy_engine.values import frozen

if TYPE_CHECKING:
    import pyarrow as pa

Features = Mapping[str, Hashable]
FAILED: Features = {"the run failed": 1}
ABSENT = 0
"""The value of a feature that a run does not have: a cell that is not shown counts nobody."""
_FEW = 30
"""Of so few values at most, every set that a likelihood ratio picks is looked at too."""


@frozen
class Hits:
    """How often an event was seen, and in how many runs.

    >>> Hits(3, 1000).share
    0.003
    """

    seen: int
    runs: int

    @property
    def share(self) -> float:
        """The plain frequency."""
        return self.seen / self.runs


def is_number(value: Hashable) -> TypeGuard[int | float | Decimal]:
    """Whether a value has an order: a count, a sum or a mean, and no NaN.

    >>> [is_number(value) for value in (3, Decimal("0.5"), float("nan"), True, "3")]
    [True, True, False, False, False]
    """
    return type(value) in {int, Decimal} or (type(value) is float and not math.isnan(value))


@frozen
class Event:
    """Whether a feature has one of some values, or lies on one side of a number.

    >>> Event("rows", ">=", 3).holds({"rows": 4}), Event("rows", "in", frozenset({1})).holds({})
    (True, False)
    """

    feature: str
    how: str  # >= | <= | = | != | in
    value: Hashable

    def holds(self, run: Features) -> bool:
        """Whether a run is in the event."""
        return self.of(run.get(self.feature, ABSENT))

    def of(self, found: Hashable) -> bool:
        """Whether a value of the feature is in the event."""
        if self.how in {">=", "<="}:
            if not is_number(found) or not is_number(self.value):
                return False
            return found >= self.value if self.how == ">=" else found <= self.value
        if self.how == "in":
            assert isinstance(self.value, frozenset)
            return found in self.value
        return (found == self.value) is (self.how == "=")

    def count(self, runs: Sequence[Features]) -> Hits:
        """How many of the runs are in the event."""
        return Hits(sum(map(self.holds, runs)), len(runs))

    def __str__(self) -> str:
        value: object = self.value
        if isinstance(value, frozenset):
            value = f"{len(value)} of its values"
        return f"{self.feature} {self.how} {value}"


def halves(runs: Sequence[Features]) -> tuple[list[Features], list[Features]]:
    """Every other run to choose on, and the rest to judge by.

    >>> halves([{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}])
    ([{'n': 1}, {'n': 3}], [{'n': 2}, {'n': 4}])
    """
    return list(runs[::2]), list(runs[1::2])


def best_event(
    one: Sequence[Features], other: Sequence[Features], delta: float, error: float
) -> Event:
    """The event that looks likeliest in ``one`` beside ``other``, at δ; some event always.

    >>> best_event([{"n": 1}] * 50, [{"n": 0}] * 50, 0.0, 0.01).holds({"n": 1})
    True
    """
    z = -NormalDist().inv_cdf(error)
    return _best(one, other, lambda seen, beside: _score(seen, beside, delta, z))


def clearest_event(one: Sequence[Features], other: Sequence[Features]) -> Event:
    """The event that is met far oftener in ``one`` than in ``other``: what a guess looks at.

    >>> clearest_event([{"n": 1}] * 50, [{"n": 0}] * 50).holds({"n": 1})
    True
    """
    return _best(one, other, lambda seen, beside: seen.share - beside.share)


def _best(
    one: Sequence[Features], other: Sequence[Features], score: Callable[[Hits, Hits], float]
) -> Event:
    best, highest = Event("runs", "=", ABSENT), -math.inf
    for feature in sorted({name for run in (*one, *other) for name in run}):
        counts = [Counter(run.get(feature, ABSENT) for run in runs) for runs in (one, other)]
        for event, seen, beside in _candidates(feature, *counts):
            found = score(Hits(seen, len(one)), Hits(beside, len(other)))
            if found > highest:
                best, highest = event, found
    return best


def _candidates(
    feature: str, one: Counter[Hashable], other: Counter[Hashable]
) -> Iterator[tuple[Event, int, int]]:
    """Events of one feature, each with its hits in both."""
    values = one.keys() | other.keys()
    runs, beside = one.total(), other.total()
    for value in values:
        yield Event(feature, "=", value), one[value], other[value]
        yield Event(feature, "!=", value), runs - one[value], beside - other[value]

    def more_and_more(ordered: list[Any], how: str) -> Iterator[tuple[Event, int, int]]:
        seen = beside = 0
        for place, value in enumerate(ordered, 1):
            seen, beside = seen + one[value], beside + other[value]
            of = frozenset(ordered[:place]) if how == "in" else value
            yield Event(feature, how, of), seen, beside

    numbers = sorted(filter(is_number, values))
    yield from more_and_more(numbers, "<=")
    yield from more_and_more(numbers[::-1], ">=")
    if len(values) <= _FEW:  # in the order of their likelihood ratio
        ratio = {value: (one[value] + 0.5) / (other[value] + 0.5) for value in values}
        yield from more_and_more(sorted(values, key=lambda v: (-ratio[v], repr(v))), "in")


def _score(one: Hits, other: Hits, delta: float, z: float) -> float:
    """About the ε that the event would prove (Wilson's interval); negative where none."""
    low, high = _wilson(one, -z) - delta, _wilson(other, z)
    return math.log(low / high) if low > high else min(0.0, low - high)


def _wilson(hits: Hits, z: float) -> float:
    p, n = hits.share, hits.runs
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (p + z * z / (2 * n) + spread) / (1 + z * z / n)


def features(
    parts: Sequence[pa.Table], columns: Collection[str], count: str | None, *, file: bool
) -> Features:
    """The features of a run that released ``parts``, mostly one.

    ``columns`` are those that tell groups apart and ``count`` the one that counts; any other is a
    sum, or a column too many. ``file`` adds the bytes of the Parquet file.

    >>> import pyarrow as pa
    >>> features([pa.table({"sex": ["f"], "n": [7]})], ["sex"], "n", file=False)["count of f"]
    7
    """
    found: dict[str, Hashable] = {}
    for number, part in enumerate(parts, start=1):
        prefix = "" if len(parts) == 1 else f"release {number}: "
        one = _of_part(part, columns, count)
        if file:  # its size and a checksum: it has whatever the engine's columns carry
            import pyarrow.parquet as pq

            written = io.BytesIO()
            pq.write_table(part, written)
            content = written.getvalue()
            one |= {"file size": len(content), "file checksum": f"{zlib.crc32(content):08x}"}
        found |= {prefix + name: value for name, value in one.items()}
    if len(parts) > 1:
        first, *others = (int(found[f"release {i + 1}: total"]) for i in range(len(parts)))  # type: ignore[call-overload]  # a total is one
        for number, other in enumerate(others, start=2):
            found[f"total of release 1 − that of release {number}"] = first - other
    return found


def _of_part(part: pa.Table, columns: Collection[str], count: str | None) -> dict[str, Hashable]:
    names = list(part.column_names)
    rows = list(zip(*(_values(column) for column in part.columns), strict=True))
    keys = [i for i, name in enumerate(names) if name in columns and name != count]
    cells = [tuple(row[i] for i in keys) for row in rows]
    at = names.index(count) if count in names else None
    found: dict[str, Hashable] = {
        "columns": tuple(f"{field.name} {field.type}" for field in part.schema),
        "rows": len(rows),
        "total": len(rows) if at is None else sum(row[at] or 0 for row in rows),
    }
    for cell, row in zip(cells, rows, strict=True):
        name = f"count of {_shown(cell)}"
        found[name] = int(found.get(name, 0)) + (1 if at is None else row[at] or 0)  # type: ignore[call-overload]  # a count is one
    met = [cell for cell, _ in groupby(cells)]
    found["order"] = tuple(sorted(range(len(met)), key=lambda i: repr(met[i])))
    if met:
        found |= {"first row": _shown(met[0]), "last row": _shown(met[-1])}
    for i, name in enumerate(names):
        if i not in keys and i != at:
            found |= _extra(name, [row[i] for row in rows], cells, int(str(found["total"])))
    return found


def _extra(
    name: str, values: list[Any], cells: list[tuple[Any, ...]], total: int
) -> dict[str, Hashable]:
    """A column that tells no groups apart, as sums do: its extremes, and its value in every group.

    A number is also compared with the total: a count of all that was sampled shows little by
    itself, and less the total it shows who was suppressed.
    """
    known = [value for value in values if value is not None]
    found: dict[str, Hashable] = {f"{name} is anywhere": int(bool(known))}
    if known:
        found |= {f"greatest {name}": max(known), f"least {name}": min(known)}
        if is_number(known[0]):
            found[f"greatest {name} − total"] = max(known) - total
    for cell, value in zip(cells, values, strict=True):
        found[f"{name} of {_shown(cell)}"] = value
    return found


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values; moments as numbers, for the engine has years that Python does not."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type):
        wide = column.type.bit_width == 64
        column = column.cast(pa.int64() if wide else pa.int32())
    found: list[Any] = column.to_pylist()
    return found


def _shown(cell: tuple[Any, ...]) -> str:
    text = ", ".join("NULL" if value is None else str(value) or "''" for value in cell)
    return text if len(text) <= 80 else f"{text[:80]}… ({zlib.crc32(text.encode()):08x})"
