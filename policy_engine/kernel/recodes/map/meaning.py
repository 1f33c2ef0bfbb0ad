"""What ``map`` and ``hierarchy`` say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from policy_engine.kernel.recodes.map.recode import MAPPED, Map
from policy_engine.kernel.recodes.meaning import (
    Entry,
    Moved,
    RecodeMeaning,
    Unfit,
    some_entries,
    some_labels,
)
from policy_engine.kernel.types import Kind, Type, Value, ValueRecode
from policy_engine.kernel.wording import (
    MOST_KEYS,
    MOST_LABELS,
    plain_words,
    some_words,
    value_words,
)

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")


class MapMeaning(RecodeMeaning[Map]):
    """Labels of values."""

    looks_up: ClassVar[bool] = True

    @property
    def likely(self) -> Kind:
        """What all keys are."""
        keys = {*map(str, self.recode.keys)}
        if keys and all(map(_WHOLE.fullmatch, keys)):
            return "integer"
        return "boolean" if keys == {"true", "false"} else "text"

    @property
    def examples(self) -> tuple[str, ...]:
        """The first key of each label, from that of the last one on."""
        groups = sorted(self.recode.groups, key=lambda group: str(group[0][-1]), reverse=True)
        return tuple(str(keys[0]) for keys, _ in groups)

    def raw_values(self, kind: Kind) -> int | None:
        """The keys, another one, and NULL."""
        return len(self.recode.keys) + 2

    @property
    def gives_null(self) -> bool:
        """Of a key or any other value without a label."""
        return None in (self.recode.other, *(label for _, label in self.recode.groups))

    @property
    def members(self) -> tuple[Value, ...]:
        """The keys."""
        return self.recode.keys

    def shows(self, value: object) -> str | None:
        """The label of a key, or of every other value."""
        labels = (label for keys, label in self.recode.groups if value in keys)
        return next(labels, self.recode.other)

    def why_parted(self, coarse: ValueRecode) -> str:
        """Of a map by which two values of one label have two."""
        if not isinstance(coarse, Map):
            return super().why_parted(coarse)
        labels = {self.recode.other: coarse.other}
        own, above = map_table(self.recode), map_table(coarse)
        for value in (*own, *above):
            label, label_above = own.get(value, self.recode.other), above.get(value, coarse.other)
            if labels.setdefault(label, label_above) != label_above:
                what = "NULL" if label is None else repr(label)
                which = f"{labels[label]!r} and {label_above!r}"
                return f"what is {what} at the level before is {which}"
        is_less = len(set(labels.values())) < len(labels)
        return "" if is_less else "it tells as many values apart"

    def beside(self, new: ValueRecode) -> tuple[Moved, ...]:
        """Every key of either, and every other value."""
        if not isinstance(new, Map):
            return ()
        was, now = map_table(self.recode), map_table(new)
        other, others = self.recode.other, new.other
        listed = [
            Moved(key, was.get(key, other), now.get(key, others)) for key in sorted({*was, *now})
        ]
        return (*listed, Moved("every other value", other, others))

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """What is looked up by no text."""
        law = f"map and hierarchy take labels, found {noun}"
        return None if seen.kind in MAPPED else Unfit(law)

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
