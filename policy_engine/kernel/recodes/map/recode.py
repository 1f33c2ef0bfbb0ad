"""``map`` and ``hierarchy``: a finite map of values to labels."""

from __future__ import annotations

from policy_engine.kernel.nodes import Given, Nodes, label_of, literal_of
from policy_engine.kernel.types import AS_TEXT, GivesText, Type, Value
from policy_engine.values import frozen

MAPPED = {"text", "integer", "decimal", "boolean", "date", *AS_TEXT}


@frozen
class Map(GivesText):
    """Replace a value by its label in a fixed list: the keys ``map`` and ``hierarchy`` of a policy.

    NULL stays NULL, and a NaN among decimals becomes NULL. Values of an enumeration, UUIDs and
    integers of 128 bits are looked up as text.

    Fields:
        ``groups``: a pair (values, label) for each label. A label None becomes NULL.
        ``other``: the label of all values that are not in the list. None becomes NULL.

    >>> Map(((("DE", "FR"), "Europe"),), "elsewhere").values
    ('Europe', 'elsewhere', None)
    """

    groups: tuple[tuple[tuple[Value, ...], str | None], ...]
    other: str | None

    def fits(self, seen: Type) -> bool:
        """Every key is a value of the type, and stands once."""
        named = all(members for members, _ in self.groups)
        right = seen.kind in MAPPED and named and all(map(seen.holds, self.keys))
        return right and len(set(self.keys)) == len(self.keys)

    @property
    def keys(self) -> tuple[Value, ...]:
        """The values that it looks up."""
        return tuple(key for members, _ in self.groups for key in members)

    @property
    def values(self) -> tuple[str | None, ...]:
        """Every label once, then NULL."""
        given = (*(label for _, label in self.groups), self.other)
        return (*dict.fromkeys(label for label in given if label is not None), None)

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        groups = [([_key(key) for key in keys], label_of(label)) for keys, label in self.groups]
        return {"groups": groups, "other": label_of(self.other)}


def _key(key: Value) -> Given:
    """A text is one that others are told from, as a label is."""
    return label_of(key) if isinstance(key, str) else literal_of(key)
