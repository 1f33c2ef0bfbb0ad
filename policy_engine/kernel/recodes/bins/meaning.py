"""What ``bins`` says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from policy_engine.kernel.recodes.bins.recode import Bins
from policy_engine.kernel.recodes.meaning import Entry, RecodeMeaning, some_entries, some_labels
from policy_engine.kernel.wording import plain_words, value_words


class BinsMeaning(RecodeMeaning[Bins]):
    """Labels of intervals."""

    @property
    def in_short(self) -> str:
        """In few words."""
        cuts, labels = map(plain_words, self.recode.cuts), map(str, self.recode.labels)
        return f"bins at {', '.join(cuts)}: {', '.join(labels)}"

    def lines(self) -> Iterator[str]:
        """What becomes of a value: each label on a line of its own."""
        yield "bins:"
        cuts = [value_words(cut) for cut in self.recode.cuts]
        ranges = [f"below {cuts[0]}"]
        ranges += [f"from {low} to below {high}" for low, high in pairwise(cuts)]
        ranges.append(f"from {cuts[-1]} on")
        for words, label in zip(ranges, self.recode.labels, strict=True):
            yield f"  {words}: {value_words(label)}"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return some_entries(self.entries(name))

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"the interval it lies in, one of {some_labels(self.recode.labels)}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"bins": self.recode.cuts, "labels": self.recode.labels}

    def entries(self, name: str) -> tuple[Entry, ...]:
        """Each range, and its label."""
        cuts = [plain_words(cut) for cut in self.recode.cuts]
        ranges = [f"{name} < {cuts[0]}"]
        ranges += [f"{low} <= {name} < {high}" for low, high in pairwise(cuts)]
        ranges.append(f"{cuts[-1]} <= {name}")
        labels = ("NULL" if label is None else label for label in self.recode.labels)
        return (*zip(ranges, labels, strict=True), (f"{name} IS NULL", "NULL"))

    @property
    def order(self) -> tuple[str, ...]:
        """Its labels, of ascending values."""
        return tuple(label for label in self.recode.values if label is not None)

    def can_show(self, value: object) -> bool:
        """A label, or nothing."""
        return value in self.recode.values
