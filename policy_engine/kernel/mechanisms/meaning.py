"""What a mechanism says of itself, of one claim: in words and in numbers.

No guarantee rests on it. The kernel's own words of a claim are in ``kernel.words``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.common import ReleaseLaw
from policy_engine.kernel.mechanisms.tables import Clip
from policy_engine.kernel.sources import Drawn, Groups, People, Rows
from policy_engine.kernel.values_shown import number_of_text
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate
    from policy_engine.kernel.certificate import Certificate

L = TypeVar("L", bound=ReleaseLaw)
Curve = Callable[[Decimal], Decimal]
"""δ at an ε."""
PublicKeys = tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]
"""A list of public keys: the names of its columns, and its rows."""
_ANY_ROW = (
    "; of each unit's different rows one is kept, drawn by SHA-256 of the secret, the unit and the"
    " row"
)


@frozen
class Chances:
    """Chances of one kind: what they are, and how likely each is."""

    caption: str
    each: tuple[tuple[str, Decimal], ...]


@frozen
class Grouping:
    """Columns that everybody is counted by: how far a count is off (1 SD), and the least shown."""

    columns: tuple[str, ...]
    deviation: float
    least: int


@frozen
class RowNumbers:
    """The numbers that a row of a release shows, by their columns; a missing one is not there.

    >>> row = RowNumbers.of({"ward": "a", "n": 7, "cost": "10.50", "mean": None})
    >>> row["n"], row.get("cost"), row.get("mean")
    (Decimal('7'), Decimal('10.50'), None)
    """

    by_column: Mapping[str, Decimal]

    @classmethod
    def of(cls, row: Mapping[str, object]) -> RowNumbers:
        """Those of a row, whose values are numbers or, of a table, their texts."""
        numbers = {column: number_of_text(value) for column, value in row.items()}
        return cls({column: number for column, number in numbers.items() if number is not None})

    def __getitem__(self, column: str) -> Decimal:
        """That of a column that no row leaves empty."""
        return self.by_column[column]

    def get(self, column: str) -> Decimal | None:
        """That of a column, None where the row has none."""
        return self.by_column.get(column)


@frozen
class Unstated:
    """Why no row of a release tells the error of a number, and what shows it."""

    law: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.law}: {self.remedy}"


def _no_mark(row: RowNumbers) -> str:
    """That nothing must be known of a number beside it."""
    return ""


@frozen
class ShownNumber:
    """A number that each row of a release shows, as an estimate of the source.

    It is what stands in the column ``name``, times ``scale``. ``deviation`` is how far that is off
    (1 SD) in a row. ``interval`` is where what counts lies in 95 of 100 releases; either is not
    known of every row, and of none where its error is ``unstated``. ``left_out`` is what counts
    nowhere, or is changed before it counts, which neither tells. ``mark`` is what a reader of the
    number in a row must know beside it; most have none.
    """

    name: str
    words: str
    scale: float
    deviation: Callable[[RowNumbers], float]
    interval: Callable[[RowNumbers], tuple[float, float] | None]
    left_out: tuple[str, ...] = ()
    unstated: Unstated | None = None
    mark: Callable[[RowNumbers], str] = _no_mark


@frozen
class Meaning(Generic[L]):
    """What is said of a claim by its mechanism; whatever it does not say is said of none.

    ``title`` is what people call it. ``by_chance``: values are there that nobody has, so that no
    row tells of a person for certain. ``sentences`` are of the assumptions that are its own.
    """

    claim: Claim
    title: ClassVar[str]
    by_chance: ClassVar[bool] = False
    sentences: ClassVar[Mapping[str, str]] = {}

    @property
    def law(self) -> L:
        """The law of the claim."""
        return cast(L, self.claim.law)

    @property
    def count(self) -> str | None:
        """The column of the counts, None where a group is shown as so many rows."""
        return self.claim.count

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns of a release, in their order."""
        count = () if self.count is None else (self.count,)
        return (*self.claim.released, *count, *self.claim.law.beside)

    # What a certificate states of it

    def randomness(self, engine: str) -> str:
        """What is drawn for a release, and how, and what can be estimated of it."""
        raise NotImplementedError

    def estimates(self) -> tuple[str, ...]:
        """How to estimate what is in the source, with its standard deviation."""
        return ()

    # What its numbers mean

    def said(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """What a shown number is: sentences, each with the column of the number that it is of.

        The column is empty where a sentence is of no number.
        """
        raise NotImplementedError

    def told(self, certificate: Certificate) -> Iterator[str]:
        """The sentences alone, each once, and that one row of a person is no series of them."""
        own = (sentence for _, sentence in self.said(certificate))
        return iter(dict.fromkeys(chain(own, _at_one_value(self.claim))))

    def found(self, names: Sequence[str], lines: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """What the rows of a release estimate; nothing where they are not as they should be."""
        return iter(())

    def doubts(self, names: Sequence[str], lines: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """What the rows of a release show that its author may not have meant."""
        return iter(())

    def numbers(self, certificate: Certificate) -> Iterator[ShownNumber]:
        """The numbers of a row that estimate the source; none where no number of one row does."""
        return iter(())

    def compared(self, epsilon: Decimal, neighbours: str) -> Iterator[str]:
        """What the same ε buys otherwise, and what who sees it believes afterwards."""
        return iter(())

    @property
    def once(self) -> tuple[str, ...]:
        """The columns with one number of the whole release, which ``found`` tells."""
        return ()

    @property
    def exact(self) -> frozenset[int]:
        """The numbers beside the count, from 1, of whose values none is rounded."""
        return frozenset()

    @property
    def counted(self) -> str:
        """Of whom the numbers of a release are."""
        return "people"

    @property
    def why_not_alike(self) -> str:
        """Why its rows do not tell which people are alike; empty where they do."""
        return ""

    # How it was made

    def sampling(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """The steps before a row is recoded, each with its name."""
        return iter(())

    def steps(self) -> Iterator[tuple[str, str]]:
        """The steps behind, each with its name."""
        raise NotImplementedError

    def chances(self, certificate: Certificate) -> Iterator[Chances]:
        """The chances of what is drawn: by default that a group is shown, by its size."""
        for by, candidate in self.candidates(certificate):
            chances = tuple((f"{size:,} people", chance) for size, chance in candidate.chances)
            where = f" by {by}" if by else ""
            yield Chances(f"How likely a group of so many people is shown{where}", chances)

    # How much it tells at most

    def curve(self, certificate: Certificate, neighbours: str) -> Curve:
        """δ at each ε, never below the true one."""
        return lambda epsilon: Decimal(1)

    def candidates(self, certificate: Certificate) -> Iterator[tuple[str, Candidate]]:
        """By grouping what its numbers show of a group; nothing where chance alone shows it."""
        return iter(())

    def visible(self, certificate: Certificate) -> dict[str, int]:
        """By grouping the least size of a group that is shown half of the time."""
        return {by: candidate.half for by, candidate in self.candidates(certificate)}

    # What tells it from another claim

    def lines(self) -> Iterator[str]:
        """What it shows beside the columns, and of what public lists it is."""
        return iter(())

    def described(self, method: str) -> Iterator[tuple[str, str]]:
        """Its numbers, each with its name; ``method`` is how a sample is drawn."""
        raise NotImplementedError

    @property
    def noise(self) -> str:
        """What is added to a count, or taken from it."""
        return ""

    def sums(self) -> dict[str, str]:
        """What stands beside a count, by its name."""
        return {}

    def groupings(self) -> Iterator[Grouping]:
        """By what everybody is counted, where that is by several sets of columns."""
        return iter(())

    def public_keys(self) -> Iterator[PublicKeys]:
        """The lists of public keys; of a constant column there is none."""
        return iter(())

    @property
    def groups_listed(self) -> int:
        """How many groups have a public key; 0 where none has."""
        lists = [rows for _, rows in self.public_keys()]
        return prod(map(len, lists)) if lists else 0

    # What a register of deployments asks

    def unprotected(self) -> str:
        """Which quantities are shown without protection, or what protects those that are shown."""
        raise NotImplementedError

    def afterwards(self) -> str:
        """What is computed from protected numbers alone."""
        raise NotImplementedError

    def why_sampled(self) -> str | None:
        """Why sampling is private here; None where no sample is drawn."""
        return None


def _at_one_value(claim: Claim) -> Iterator[str]:
    """That a released column chooses the one row of each person, where one does."""
    order = claim.unit.order if isinstance(claim.unit, People) else None
    if isinstance(order, tuple):
        first, descends = order[0]
        if any(each.column == first for each in claim.columns):
            yield at_one_value(first.name, descends=descends)


def at_one_value(column: str, *, descends: bool) -> str:
    """What the numbers by a column are worth that chooses the one row of each person.

    >>> print(at_one_value("lent", descends=True).partition(":")[0])
    a person with several rows counts only at the last (greatest) lent
    """
    which, others = ("last (greatest)", "earlier (smaller)")
    if not descends:
        which, others = ("first (smallest)", "later (greater)")
    return (
        f"a person with several rows counts only at the {which} {column}: the numbers of {others}"
        " ones lack such people and are too low, so this is not a time series"
    )


def left_out(
    unit: People | Rows, clip: Clip | None = None, *, is_bounded: bool = False
) -> tuple[str, ...]:
    """What no interval of a number includes: what limits cut, and what bounds and rounding change.

    ``clip`` is of the number's values; None for how many people there are.

    >>> left_out(Rows(), Clip(0, 9), is_bounded=True)
    ('the effect of bounds and of rounded values',)
    """
    found = []
    if isinstance(unit.order, Groups):
        found.append(f"a person's groups beyond {unit.groups}")
        if clip is not None and clip.per == "row":
            found.append(f"a person's rows beyond {clip.rows} in a group")
    elif unit.order is not None:
        found.append("a person's rows beyond one")
    if is_bounded:
        found.append("the effect of bounds and of rounded values")
    return tuple(found)


def either(told: Iterable[str]) -> str:
    """What is said of each of these, each once.

    >>> either("abbc"), either("ab"), either("a")
    ('a, b, or c', 'a or b', 'a')
    """
    *others, last = dict.fromkeys(told)
    if not others:
        return last
    return f"{', '.join(others)}{',' if len(others) > 1 else ''} or {last}"


def any_row(claim: Claim) -> str:
    """That one of a unit's rows is drawn, where it is."""
    order = claim.unit.order if isinstance(claim.unit, People) else None
    return _ANY_ROW if isinstance(order, Drawn) else ""
