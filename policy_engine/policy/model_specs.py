"""What a policy may say beside its mechanism: public keys, syntactic models, and how to choose k.

`public_groups` are shown, whoever is in them; `models` hold of all that is released;
`auto` says what a pair of k and rate is chosen for, under a public prior.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict
from pydantic_core import PydanticCustomError

from policy_engine.kernel.mechanisms.pure import MOST_TUPLES
from policy_engine.kernel.models import LDiversity, Model, TCloseness
from policy_engine.policy import fields
from policy_engine.policy.laws import (
    Broken,
    Data,
    Document,
    Ruled,
    barred,
    inside,
    mapping,
    refusal,
    suggestion,
)
from policy_engine.policy.scalars import show
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.prior import Prior

Keys = tuple[tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]], ...]
"""Lists whose product the keys are: of each its columns, and rows of their values."""
ALL_VALUES: Literal["auto"] = "auto"
"""Every combination of what the recodes can give."""
PublicGroups = Keys | Literal["auto"]


@frozen
class GroupsFile:
    """Public keys that stand in a CSV file, until it is read."""

    file: str


_VALUES = {"type": ["string", "integer", "null"]}
_BY_COLUMN = {"type": "array", "minItems": 1, "items": _VALUES}
_ROW = {"type": "object", "minProperties": 1, "additionalProperties": _VALUES}
_SCHEMA: Mapping[str, object] = {
    "anyOf": [
        {"type": "object", "minProperties": 1, "additionalProperties": _BY_COLUMN},
        {"type": "array", "minItems": 1, "items": _ROW},
        {"const": "auto"},
        {
            "type": "object",
            "required": ["file"],
            "additionalProperties": False,
            "properties": {"file": {"type": "string", "minLength": 1}},
        },
    ]
}


def _groups(found: object) -> PublicGroups | GroupsFile:
    """Keys that are written here, or where to take them from."""
    if found == ALL_VALUES:
        return ALL_VALUES
    # A list is of the values of a column that is called file.
    if isinstance(found, dict) and found.keys() == {"file"} and isinstance(found["file"], str):
        return GroupsFile(fields.path(found["file"]))
    return keys_of(found)


def keys_of(found: object) -> Keys:
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
        remedy = "as in {sex: [F, M]}, [{sex: F, age: old}], {file: groups.csv}, or auto"
        wrong = f"must list values by column, or rows, or name a file, found {show(found)}"
        raise refusal(wrong, remedy)
    return tuple((columns, _once(rows)) for columns, rows in lists)


def _once(rows: list[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    given = tuple(tuple(map(fields.label_or_null, row)) for row in rows)
    known: set[tuple[Any, ...]] = set()
    for row in given:
        if row in known:
            raise refusal(f"has a group twice: {', '.join(map(show, row))}", "take one out")
        known.add(row)
    return given


KeysField = Annotated[PublicGroups | GroupsFile, Ruled(_groups, _SCHEMA)]


def listed(data: Data) -> Broken:
    """The laws of public keys: every released column, of one grouping, with counts and sums."""
    if "public_groups" not in data:
        return
    release, noise = mapping(data.get("release")), mapping(data.get("noise"))
    beside = {
        "k, because a listed group is always shown": "k" in data,
        "marginals": "marginals" in data,
        "rollup": "rollup" in data,
        "models, which leave groups out": "models" in data,
        "release.as: rows because a count can be below 0": release.get("as") == "rows",
        "noise.distribution: negative_binomial, which needs a threshold": noise.get("distribution")
        == "negative_binomial",
    }
    for other in (name for name, is_there in beside.items() if is_there):
        yield refusal(f"cannot stand beside {other}", at=("public_groups",), on_key=True)
    try:
        groups = _groups(data["public_groups"])
    except PydanticCustomError:
        return  # its own law says so
    if groups == ALL_VALUES:
        yield from _all_public(data)
    elif not isinstance(groups, GroupsFile):
        for wrong, remedy in complete_keys(groups, mapping(data.get("recode"))):
            yield refusal(wrong, remedy, at=("public_groups",))


def _all_public(data: Data) -> Broken:
    """The law of ``auto``: what every column can show is told by its recode, or by the period."""
    in_period = inside(data, "period", "column")
    for name, spec in mapping(data.get("recode")).items():
        how = mapping(spec)
        if {"bins", "map", "hierarchy", "constant"} & how.keys():
            continue
        if "truncate" in how and str(in_period).casefold() == str(name).casefold():
            continue
        shown = "keep" if spec == "keep" else next(iter(how), "it")
        wrong = f"is auto, and of column {name!r} {shown} does not say which values there are"
        remedy = "recode it by bins or map, or list the groups: public_groups: {file: groups.csv}"
        if "truncate" in how:
            remedy = f"a period by {name} bounds it; or recode it by bins, or list the groups"
        yield refusal(wrong, remedy, at=("public_groups",))


def complete_keys(lists: Keys, recode: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What is wrong with lists of keys for the columns of a recode, with its remedy."""
    named = [column for columns, _ in lists for column in columns]
    needed = [name for name, spec in recode.items() if "constant" not in mapping(spec)]
    if unknown := [name for name in named if name not in needed]:
        wrong = f"must name columns of recode that are no constants, found {unknown[0]}"
        yield wrong, suggestion(unknown[0], needed)
    elif left := [name for name in needed if name not in named]:
        yield f"must have values for every column of recode, not for {left[0]}", "add them"
    if (many := prod(len(rows) for _, rows in lists)) > MOST_TUPLES:
        yield f"must be at most {MOST_TUPLES:,}, found {many:,}", ""


_Kind = Literal["distinct", "entropy", "recursive"]
_Distance = Literal["equal", "ordered"]


class LDiversitySpec(Document):
    """Each group must have many different values of one column."""

    of: fields.LineField
    """The released column with the sensitive value."""
    l: Annotated[Decimal, fields.number("above 1", exclusiveMinimum=1)]  # noqa: E741
    """ℓ. An integer, or any number above 1 for `entropy`."""
    kind: Annotated[_Kind, fields.word_of(_Kind)] = "distinct"
    """The kind of ℓ-diversity."""
    c: fields.OptionalStepField = None
    """Only for `recursive`: c in the law r₁ < c (r_ℓ + … + r_m), where r₁ is the count of the most
    frequent value.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """A whole ℓ where values are counted; c where it is asked for."""
        kind, level = data.get("kind", "distinct"), fields.as_number(data.get("l"))
        if kind != "entropy" and level is not None and level % 1:
            wrong = f"must be a whole number for {kind}, found {show(data['l'])}"
            yield refusal(wrong, "or take kind: entropy", at=("l",))
        if kind != "recursive":
            yield from barred(data, ["c"], "is of kind: recursive")
        elif "c" not in data:
            yield refusal("needs c beside kind: recursive", "as in c: 3", at=("kind",))


class TClosenessSpec(Document):
    """In each group, the values of one column are distributed nearly as in the whole release."""

    of: fields.LineField
    """The released column with the sensitive value."""
    t: fields.ShareField
    """The greatest earth mover's distance between a group and the whole release."""
    distance: Annotated[_Distance, fields.word_of(_Distance)] = "equal"
    """The distance between two values. `equal`: it is 1 for all different values. `ordered`: it
    grows with the number of values between them. Only for a column with `bins`.
    """


class ModelsSpec(Document):
    """Models that the release must meet. A group that breaks a model is left out."""

    l_diversity: LDiversitySpec | None = None
    """Each group has many different values of a column."""
    t_closeness: TClosenessSpec | None = None
    """Each group is distributed nearly as the whole release."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        if not data:
            yield refusal("must have l_diversity or t_closeness", "or leave it out")

    def resolved(self, labels: Mapping[str, tuple[str, ...]]) -> tuple[Model, ...]:
        """The models; ``labels`` are those of the columns with bins, in their order."""
        found: list[Model] = []
        if (of_it := self.l_diversity) is not None:
            found.append(LDiversity(of_it.of, of_it.l, of_it.kind, of_it.c))
        if (close := self.t_closeness) is not None:
            order = labels[close.of] if close.distance == "ordered" else ()
            found.append(TCloseness(close.of, close.t, order))
        return tuple(found)


def enforceable(data: Data, *, keeps_groups: bool) -> Broken:
    """The laws of models: of released columns, on a file of groups that people are counted in."""
    models, recode = mapping(data.get("models")), mapping(data.get("recode"))
    if not models or not recode:  # of a recode that is not there its own problem is told
        return
    beside = {
        "marginals": data.get("marginals"),
        "rollup": data.get("rollup"),
        f"mechanism: {data.get('mechanism')}": not keeps_groups,
        "release.table": "table" in mapping(data.get("release")),
    }
    for key in (name for name, is_there in beside.items() if is_there):
        wrong = f"cannot stand beside {key}: only a file of groups is filtered"
        yield refusal(wrong, "remove one of them", at=("models",), on_key=True)
    for name, spec in models.items():
        column = mapping(spec).get("of")
        if not isinstance(column, str):
            continue
        if column not in recode:
            wrong = f"must be a column of recode, found {show(column)}"
            yield refusal(wrong, suggestion(column, map(str, recode)), at=("models", name, "of"))
        elif mapping(spec).get("distance") == "ordered" and "bins" not in mapping(recode[column]):
            wrong = f"is ordered, and {show(column)} has no bins that say its order"
            yield refusal(wrong, "take bins, or distance: equal", at=("models", name, "distance"))


_SIZE = r"[1-9][0-9]{0,8}|1000000000"


class PriorSpec(Document):
    """A belief about the sizes of the source's groups. It must come from public knowledge."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["sizes"]}, {"required": ["people", "groups"]}]}
    )

    sizes: Annotated[
        dict[str, fields.PositiveField],
        fields.a_mapping(
            "size: number of groups", minProperties=1, propertyNames={"pattern": f"^({_SIZE})$"}
        ),
    ] = fields.EMPTY
    """For each size of a group in people, the number of such groups: {5000: 3, 800: 20}."""
    people: fields.OptionalPositiveField = None
    """About how many people the source has. Write `groups`, too."""
    groups: Annotated[int | None, fields.integer(1, fields.MOST_GROUPS)] = None
    """About how many groups there are. Write `people`, too."""
    exponent: Annotated[Decimal, fields.number("from 0 to 10", minimum=0, maximum=10)] = Decimal(1)
    """The i-th largest group has a size in proportion to (1/i)^exponent. With 0 all groups have
    the same size.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One of the two forms, whole; sizes that are some; groups that can be filled."""
        zipf = [key for key in ("people", "groups", "exponent") if key in data]
        if "sizes" in data:
            yield from barred(data, zipf, "must not stand beside sizes", "keep one of them")
            for size in mapping(data["sizes"]):
                if not re.fullmatch(_SIZE, str(size)):
                    wrong = "is no size: a size must be an integer from 1 to"
                    at = ("sizes", size)
                    yield refusal(f"{wrong} {fields.MAX_INTEGER}", at=at, on_key=True)
        elif not zipf:
            yield refusal("must have sizes, or people and groups, found neither", on_key=True)
        else:
            for key in ("people", "groups"):
                if key not in data:
                    yield refusal("is missing", at=(key,))
        people, groups = data.get("people"), data.get("groups")
        if isinstance(people, int) and isinstance(groups, int) and 0 < people < groups:
            law = f"must be at least {show(groups)}, the number of groups, found {show(people)}"
            yield refusal(law, "a group has at least one person", at=("people",))

    def prior(self) -> Prior:
        """The belief as the accounting takes it.

        >>> PriorSpec(sizes={"800": 20}).prior()
        Prior(sizes=((800, 20),))
        """
        from policy_engine.accounting.prior import Prior

        if self.people is None or self.groups is None:
            return Prior.of_sizes({int(size): number for size, number in self.sizes.items()})
        return Prior.zipf(self.people, self.groups, self.exponent)


class AutoSpec(Document):
    """How k and the rate are chosen if both are `auto`. The data is not used for this choice."""

    maximise: Annotated[fields.Goal, fields.word_of(fields.Goal)]
    """`people`: most people are expected to be in a group that is shown. `groups`: most groups are
    expected to be shown.
    """
    prior: PriorSpec
    """A belief about the sizes of the groups, from public knowledge."""


def chooses(data: Data) -> Broken:
    """The law of a policy's `auto`: there must be something to choose."""
    if "auto" not in data:
        return
    rate = mapping(data.get("sample")).get("rate", "auto")
    written = {"k": data.get("k", "auto"), "sample.rate": rate}
    given = [key for key, value in written.items() if value != "auto"]
    if given:
        wrong = f"chooses k and sample.rate together, but {' and '.join(given)}"
        verb = "is given" if len(given) == 1 else "are given"
        remedy = "write auto for both, or remove this key"
        yield refusal(f"{wrong} {verb}", remedy, at=("auto",), on_key=True)
