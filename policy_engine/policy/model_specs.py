"""The syntactic models that a policy enforces on what it releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic_core import PydanticCustomError

from policy_engine.policy import fields, laws
from policy_engine.policy.chance_models import PURE
from policy_engine.policy.documents import Document
from policy_engine.policy.enforced import LDiversity, Model, TCloseness
from policy_engine.policy.laws import barred, mapping, refusal
from policy_engine.policy.scalars import show

_LevelField = Annotated[Decimal, fields.number("above 1", exclusiveMinimum=1)]
_Kind = Literal["distinct", "entropy", "recursive"]
_KindField = Annotated[_Kind, fields.word(*get_args(_Kind))]
_Distance = Literal["equal", "ordered"]
_DistanceField = Annotated[_Distance, fields.word(*get_args(_Distance))]


class LDiversitySpec(Document):
    """Every class has many values of a column."""

    of: fields.LineField
    """The released column that nobody should learn of a person."""
    l: _LevelField  # noqa: E741 - the model's own letter
    """ℓ: a whole number, and of `entropy` any."""
    kind: _KindField = "distinct"
    """Which ℓ-diversity."""
    c: fields.OptionalStepField = None
    """Of `recursive`: r₁ < c (r_ℓ + … + r_m)."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """A whole ℓ where values are counted; c where it is asked for."""
        kind, level = data.get("kind", "distinct"), laws.as_number(data.get("l"))
        if kind != "entropy" and level is not None and level % 1:
            wrong = f"must be a whole number for {kind}, found {show(data['l'])}"
            yield refusal(wrong, "or take kind: entropy", at=("l",))
        if kind == "recursive" and "c" not in data:
            yield refusal("needs c beside kind: recursive", "as in c: 3", at=("kind",))
        if kind != "recursive":
            yield from barred(data, ["c"], "is of kind: recursive")


class TClosenessSpec(Document):
    """In every class a column is spread as in all of the release."""

    of: fields.LineField
    """The released column that nobody should learn of a person."""
    t: fields.ShareField
    """The largest earth mover's distance between a class and the release."""
    distance: _DistanceField = "equal"
    """How far two values are from each other: `ordered` is for a column with `bins`."""


class ModelsSpec(Document):
    """Models that hold of the release: classes that break one are left out of it."""

    l_diversity: LDiversitySpec | None = None
    """Every class has many values."""
    t_closeness: TClosenessSpec | None = None
    """Every class is spread as the whole is."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """At least one."""
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


def enforceable(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The laws of models: of released columns, on a file of groups that people are counted in."""
    models, recode = mapping(data.get("models")), mapping(data.get("recode"))
    if not models or not recode:  # of a recode that is not there its own problem is told
        return
    for key, is_there in (
        ("marginals", bool(data.get("marginals"))),
        ("rollup", bool(data.get("rollup"))),
        (f"mechanism: {data.get('mechanism')}", data.get("mechanism") in PURE),
        ("release.relation", "relation" in mapping(data.get("release"))),
    ):
        if is_there:
            wrong = f"cannot stand beside {key}: only a file of groups is filtered"
            yield refusal(wrong, "remove one of them", at=("models",), on_key=True)
    for name, spec in models.items():
        column = mapping(spec).get("of")
        if not isinstance(column, str):
            continue
        if column not in recode:
            wrong = f"must be a column of recode, found {show(column)}"
            remedy = laws.suggestion(column, [*map(str, recode)])
            yield refusal(wrong, remedy, at=("models", name, "of"))
        elif mapping(spec).get("distance") == "ordered" and "bins" not in mapping(recode[column]):
            wrong = f"is ordered, and {show(column)} has no bins that say its order"
            yield refusal(wrong, "take bins, or distance: equal", at=("models", name, "distance"))
