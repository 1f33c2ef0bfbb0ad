"""What ``map`` and ``hierarchy`` say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy_engine.kernel.recodes.map.recode import Map
from policy_engine.kernel.recodes.meaning import Entry, RecodeMeaning, some_entries, some_labels
from policy_engine.kernel.wording import (
    MOST_KEYS,
    MOST_LABELS,
    plain_words,
    some_words,
    value_words,
)


class MapMeaning(RecodeMeaning[Map]):
    """Labels of values."""

    @property
    def in_short(self) -> str:
        """In few words."""
        table, other = map_table(self.recode), self.recode.other
        labels = sorted({str(label) for label in table.values() if label is not None})
        last = "left empty" if other is None else f"shown as {other}"
        return f"{len(table)} values mapped to {', '.join(labels)}; every other one is {last}"

    def lines(self) -> Iterator[str]:
        """By its labels, those of fewest values first: these tell most."""
        count = sum(len(keys) for keys, _ in self.recode.groups)
        values = "one value" if count == 1 else f"{count:,} values"
        yield f"a map of {values} to {len({label for _, label in self.recode.groups}):,} labels:"
        groups = sorted(self.recode.groups, key=lambda group: len(group[0]))
        for keys, label in groups[:MOST_LABELS]:
            yield f"  {some_words(keys, MOST_KEYS)}: {value_words(label)}"
        if left := groups[MOST_LABELS:]:
            yield (
                f"  and {len(left):,} labels more, of {len(left[0][0]):,} to {len(left[-1][0]):,}"
                " values each: --format json has them"
            )
        yield f"  every other value: {value_words(self.recode.other)}"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return some_entries(self.entries(name))

    @property
    def released(self) -> str:
        """What a released column holds."""
        other = self.recode.other
        rest = "any other as NULL" if other is None else f"any other value as {other}"
        return f"one of {some_labels(label for _, label in self.recode.groups)}; {rest}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        labels = {_key(key): label for keys, label in self.recode.groups for key in keys}
        return {"map": labels, "other": self.recode.other}

    def entries(self, name: str) -> tuple[Entry, ...]:
        """Each value, and its label."""
        listed = [
            (f"{name} = {key}", "NULL" if label is None else label)
            for key, label in map_table(self.recode).items()
        ]
        last = ("every other", "NULL" if self.recode.other is None else self.recode.other)
        return (*listed, last, (f"{name} IS NULL", "NULL"))

    def can_show(self, value: object) -> bool:
        """A label, or nothing."""
        return value in self.recode.values


def map_table(recode: Map) -> dict[str, str | None]:
    """The label of each value, by its text."""
    return {plain_words(key): label for keys, label in recode.groups for key in keys}


def _key(value: object) -> str:
    """A value of a column as a policy names it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
