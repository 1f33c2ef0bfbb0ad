"""What a recode says of itself: in words, and of the values that it shows.

No guarantee rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from policy_engine.kernel.types import Kind, Type, Value, ValueRecode
from policy_engine.values import frozen

_MOST, _MOST_LABELS = 8, 12
UNNAMED = object()
"""A value below every cut, and one that is no key."""
R = TypeVar("R", bound=ValueRecode)
Entry = tuple[str, str]
"""Which values, and what they are shown as."""


class Moved(NamedTuple):
    """Which values, what they were shown as, and as what they are shown now."""

    when: str
    before: str | None
    after: str | None


@frozen
class Unfit:
    """The law of a recode that a column breaks, and the remedy.

    Without a remedy it is what fits the column, or to read it as the type that it ``wants``.
    """

    law: str
    remedy: str = ""
    wants: str = ""


@frozen
class RecodeMeaning(Generic[R]):
    """What is said of a recode.

    ``keeps``: a value is shown as it stands in the source; ``looks_up``: it names values one by
    one; ``by_clocks``: it has the zone whose clocks decide. ``likely`` is the kind of its column
    where nobody says one. ``order`` are its labels, from what the least value is shown as to that
    of the greatest, where it has some.
    """

    recode: R
    keeps: ClassVar[bool] = False
    looks_up: ClassVar[bool] = False
    by_clocks: ClassVar[bool] = False

    @property
    def likely(self) -> Kind:
        """The kind of a column that is recoded so, where nobody says one."""
        return "text"

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """Which law of it a column breaks: of a type, that a ``noun`` says, as it is ``written``.

        None if it breaks none.
        """
        recode: Any = self.recode
        law = f"{type(recode).__name__.lower()} does not fit, found {noun}"
        return None if recode.fits(seen) else Unfit(law)

    @property
    def places(self) -> int:
        """How many decimal places a decimal has that it shows."""
        return 0

    @property
    def steps_by_one(self) -> bool:
        """Whether it has a step, by which no two whole numbers are one."""
        return False

    @property
    def gives_null(self) -> bool:
        """Whether it shows NULL for a value that there is, by its labels."""
        return False

    @property
    def examples(self) -> tuple[str, ...]:
        """Values, by their texts, each of which it shows as another; none where it names none."""
        return ()

    def raw_values(self, kind: Kind) -> int | None:
        """About how many values a column of a kind has, by those that it names; None: it does not
        tell."""
        return None

    @property
    def members(self) -> tuple[Value, ...]:
        """The values at which what it shows changes, or that it names."""
        return ()

    def shows(self, value: object) -> str | None:
        """The label of a value, of a recode that has labels; of ``UNNAMED``, too."""
        raise NotImplementedError

    def between(self, first: date, end: date) -> Iterator[date | str] | None:
        """All that it shows of the moments from ``first`` to before ``end``; None: it does not
        tell."""
        return None

    @property
    def in_short(self) -> str:
        """In few words, as in "rounded to 10"."""
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        """What becomes of a value, all of it; what is empty stays so."""
        yield self.in_short

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column of this name, which is shown by another or by its own."""
        return f"{name}, {self.in_short}"

    @property
    def released(self) -> str:
        """What a released column holds, as a sentence that "It holds" begins."""
        return f"the value, {self.in_short}."

    def written(self) -> Mapping[str, object] | str:
        """What a policy writes for it."""
        raise NotImplementedError

    def entries(self, name: str) -> tuple[Entry, ...] | None:
        """Each value of a column of this name, with its label; None where it is no list."""
        return None

    def why_parted(self, coarse: ValueRecode) -> str:
        """Why some values that it shows alike may differ by ``coarse``; empty if none can."""
        return "it is another kind of recoding, and nothing says what of the one is in the other"

    def beside(self, new: ValueRecode) -> tuple[Moved, ...]:
        """Every value or range with its label and that by ``new``; none where one lists none."""
        return ()

    @property
    def order(self) -> tuple[str, ...]:
        """Its labels, of ascending values."""
        return ()

    def can_show(self, value: object) -> bool:
        """Whether some value is shown as ``value``: a plain one, or a text of it. NULL always can.

        Of the form of texts nothing is said: that is of the kind that is shown.
        """
        return True

    def label(self, value: object) -> str:
        """A value that it shows, as people read it: of a time at midnight its day."""
        return "missing" if value is None else str(value).removesuffix(" 00:00:00")

    def is_moment(self, ticks: int, parts: int) -> bool:
        """Whether it shows the moment so many parts of a second after 1970."""
        return True


def some_labels(labels: Iterable[str | None]) -> str:
    """The first of a list of labels, and how many more there are; NULL is none."""
    listed = [" ".join(label.split()) for label in labels if label is not None]
    more = f" and {len(listed) - _MOST_LABELS} more" if len(listed) > _MOST_LABELS else ""
    return ", ".join(listed[:_MOST_LABELS]) + more


def some_entries(entries: Sequence[Entry]) -> str:
    """The first of a list of values, and how many more there are."""
    told = [f"{when} → {label}" for when, label in entries[:_MOST]]
    if len(entries) > _MOST:
        told.append(f"and {len(entries) - _MOST} more")
    return "; ".join(told)
