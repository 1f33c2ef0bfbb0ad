"""Public keys: `keys`, the groups that are shown, whoever is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from policy_engine.kernel.mechanisms.pure import MOST_TUPLES
from policy_engine.policy import laws
from policy_engine.policy.laws import Ruled, mapping, refusal
from policy_engine.policy.scalars import show

Keys = tuple[tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]], ...]
"""Lists whose product the keys are: of each its columns, and rows of their values."""

_REMEDY = "as in {sex: [F, M]}, or [{sex: F, age: old}, {sex: M, age: young}]"
_VALUES = {"type": ["string", "integer", "null"]}
_SCHEMA: Mapping[str, object] = {
    "anyOf": [
        {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "array", "minItems": 1, "items": _VALUES},
        },
        {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "minProperties": 1, "additionalProperties": _VALUES},
        },
    ]
}


def _keys(found: object) -> Keys:
    """Values for each column, whose product is taken; or rows that name a value for each."""
    if isinstance(found, dict) and found:
        for column, values in found.items():
            if not isinstance(values, list) or not values:
                given = "none" if values == [] else show(values)
                raise refusal(f"must be a list of values, found {given}", at=(column,))
        lists = [((column,), [(value,) for value in found[column]]) for column in sorted(found)]
    elif isinstance(found, list) and found and all(isinstance(row, dict) and row for row in found):
        columns = tuple(sorted(found[0]))
        for place, row in enumerate(found):
            if tuple(sorted(row)) != columns:
                wrong = f"must have a value for each of {', '.join(columns)}"
                raise refusal(wrong, "as the first of them", at=(place,))
        lists = [(columns, [tuple(row[column] for column in columns) for row in found])]
    else:
        raise refusal("must list values by column, or rows", _REMEDY)
    return tuple((columns, _once(columns, rows)) for columns, rows in lists)


def _once(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    given = tuple(tuple(map(laws.label_or_null, row)) for row in rows)
    known: set[tuple[Any, ...]] = set()
    for row in given:
        if row in known:
            raise refusal(f"has a key twice: {', '.join(map(show, row))}", "take one out")
        known.add(row)
    return given


KeysField = Annotated[Keys, Ruled(_keys, _SCHEMA)]


def listed(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The laws of public keys: every released column, of one grouping, with counts and sums."""
    if "keys" not in data:
        return
    release, noise = mapping(data.get("release")), mapping(data.get("noise"))
    sums = mapping(data.get("aggregate")).values()
    for other, is_there in (
        ("k, for a key is shown whoever is in it", "k" in data),
        ("marginals", "marginals" in data),
        ("rollup", "rollup" in data),
        ("models, which leave groups out", "models" in data),
        ("a mean, which needs a count above 0", any("mean" in mapping(each) for each in sums)),
        ("release.as: rows, for a count can be below 0", release.get("as") == "rows"),
        ("noise.law: place, which needs a threshold", noise.get("law") == "place"),
    ):
        if is_there:
            yield refusal(f"cannot stand beside {other}", at=("keys",), on_key=True)
    try:
        lists = _keys(data["keys"])
    except PydanticCustomError:
        return  # its own law says so
    recode = mapping(data.get("recode"))
    named = [column for columns, _ in lists for column in columns]
    needed = [name for name, spec in recode.items() if "constant" not in mapping(spec)]
    if unknown := [name for name in named if name not in needed]:
        wrong = f"must name columns of recode that are no constants, found {unknown[0]}"
        yield refusal(wrong, laws.suggestion(unknown[0], needed), at=("keys",))
    elif left := [name for name in needed if name not in named]:
        yield refusal(f"must have values for every column of recode, not for {left[0]}",
                      "add them", at=("keys",))  # fmt: skip
    if (many := prod(len(rows) for _, rows in lists)) > MOST_TUPLES:
        yield refusal(f"must be at most {MOST_TUPLES:,}, found {many:,}", at=("keys",))
