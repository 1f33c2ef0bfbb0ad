"""`guarantee: syntactic`: classes of the raw table are suppressed until its models hold.

Which class is shown is decided by the people in it alone, so nothing is certified: such a release
has no (ε, δ), at any price. What it says first is in ``NO_GUARANTEE``, and ``still_works`` names
the attacks that its models leave open. A release with (ε, δ) may be of such models too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.sampled_suppression import OfColumns
from policy_engine.kernel.nodes import Identifier, Number
from policy_engine.policy.auto import Guarantee
from policy_engine.policy.laws import Broken, Data, barred, mapping, refusal
from policy_engine.policy.source_models import counts_all

if TYPE_CHECKING:
    from policy_engine.kernel.mechanisms import CountedBy
    from policy_engine.policy.noise import Sum

KINDS = ("distinct", "entropy", "recursive")


@dataclass(frozen=True)
class LDiversity:
    """ℓ-diversity of a column; ``factor`` is the c of the recursive kind, and of no other.

    >>> str(LDiversity("illness", Decimal(3)))
    'distinct 3-diversity of illness'
    """

    of: str
    level: Decimal
    kind: str = "distinct"
    factor: Decimal | None = None

    def to_json(self) -> dict[str, str]:
        """As a certificate has it."""
        found = {"model": "l_diversity", "of": self.of, "l": str(self.level), "kind": self.kind}
        return found if self.factor is None else {**found, "c": str(self.factor)}

    def __str__(self) -> str:
        if self.factor is not None:
            return f"recursive ({self.factor}, {self.level})-diversity of {self.of}"
        return f"{self.kind} {self.level}-diversity of {self.of}"


@dataclass(frozen=True)
class TCloseness:
    """t-closeness of a column: by the order of its values where that is given, else all are alike.

    >>> str(TCloseness("pay", Decimal("0.2")))
    '0.2-closeness of pay'
    """

    of: str
    most: Decimal
    order: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As a certificate has it."""
        found = {"model": "t_closeness", "of": self.of, "t": str(self.most)}
        return {**found, "order": list(self.order)} if self.order else dict(found)

    def __str__(self) -> str:
        ordered = " by its order" if self.order else ""
        return f"{self.most}-closeness of {self.of}{ordered}"


Model = LDiversity | TCloseness


class NoModel(ValueError):
    """What a certificate calls a model is none."""


def model_from(found: object) -> Model:
    """The model that a certificate states; nothing is guessed.

    Raises NoModel.

    >>> model_from({"model": "t_closeness", "of": "pay", "t": "0.2"})
    TCloseness(of='pay', most=Decimal('0.2'), order=())
    """
    if not isinstance(found, Mapping) or not isinstance(found.get("of"), str):
        raise NoModel
    try:
        made = _made(found)
    except (KeyError, TypeError, InvalidOperation):
        raise NoModel from None
    stated = {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}
    if made.to_json() != stated:
        raise NoModel
    return made


def _made(found: Mapping[str, Any]) -> Model:
    if found["model"] == "t_closeness":
        return TCloseness(found["of"], _number(found["t"]), tuple(found.get("order", ())))
    if found["model"] != "l_diversity" or found["kind"] not in KINDS:
        raise NoModel
    factor = _number(found["c"]) if found["kind"] == "recursive" else None
    return LDiversity(found["of"], _number(found["l"]), found["kind"], factor)


def _number(text: object) -> Decimal:
    number = Decimal(text) if isinstance(text, str) and len(text) < 100 else Decimal("NaN")
    if not number.is_finite() or number <= 0 or abs(number.adjusted()) > 100:
        raise NoModel
    return number


NO_PAIR = "none"
"""What a policy writes as its guarantee that promises no (ε, δ)."""
NONE = "this release carries no (ε, δ)"
NO_GUARANTEE = (
    f"{NONE}: which groups it shows was decided by the people in them, and"
    " no account limits what it tells, alone or with other releases"
)
UNMET = Guarantee(Decimal(0), Decimal(0), "add_remove")
"""What stands where a policy has no guarantee: nothing that reads the source meets it."""
_OF_OTHERS = (
    "mechanism", "sample", "noise", "auto", "contribution", "aggregate", "rollup", "marginals",
)  # fmt: skip


@dataclass(frozen=True)
class Suppression:
    """In place of a noise, where there is none: everybody counts, and whole classes are left out.

    ``sensitive`` are the columns of the models; a class is what is alike in all others.
    """

    sensitive: tuple[str, ...]
    sums: ClassVar[tuple[Sum, ...]] = ()
    groupings: ClassVar[tuple[CountedBy, ...]] = ()
    words: ClassVar[str] = "suppression of raw classes"


@dataclass(frozen=True)
class WholeClasses(OfColumns):
    """The law of a claim that nothing is certified of: classes of k people and more, as they are.

    The kernel has no template, no price and no reader for it, and refuses to certify it.
    """

    k: int
    sensitive: tuple[str, ...] = ()

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        names = [shown.name for shown in claim.columns]
        require(self.k >= 1, "k must be at least 1")
        require({*self.sensitive} < {*names}, "a class is told by a column that no model is of")
        require(not claim.unit.counts_all, "a unit is in one group")

    def nodes(self) -> dict[str, Any]:
        """What its template is given besides a claim's own values."""
        return {"k": Number(self.k), "secret_relation": None, "secret_release": None}

    def classes(self, claim: Claim) -> list[dict[str, Identifier]]:
        """The columns that tell classes apart."""
        names = (shown.name for shown in claim.columns)
        return [{"name": Identifier(name)} for name in names if name not in self.sensitive]


def syntactic_laws(data: Data) -> Broken:
    """The laws of a policy without (ε, δ): what it suppresses by, and nothing of a mechanism."""
    wrong = "is of a release with (ε, δ), and this policy has guarantee: none"
    yield from barred(data, _OF_OTHERS, wrong, "remove one of them")
    if data.get("k") == "auto":
        yield refusal("is auto, and there is no guarantee to choose it by", "write it", at=("k",))
    if "k" not in data and not data.get("models"):
        remedy = "add k, the least size of a class, or models"
        yield refusal(
            "is none, and nothing says by which model classes are left out",
            remedy,
            at=("guarantee",),
        )
    release = mapping(data.get("release"))
    wrong = "cannot stand beside guarantee: none, which is for files"
    yield from barred(release, ["table"], wrong, "name a file", ("release",))
    if counts_all(data.get("privacy_unit")):
        wrong = "is all: in a class of a syntactic model a person counts once"
        yield refusal(wrong, "write rows: any", at=("privacy_unit", "rows"))
    models, recode = mapping(data.get("models")), mapping(data.get("recode"))
    told = [mapping(spec).get("of") for spec in models.values()]
    if recode and all(column in told for column in recode):
        wrong = "are of every released column, so that no column tells classes apart"
        yield refusal(wrong, "recode one that no model is of", at=("models",), on_key=True)


def still_works(k: int, models: Sequence[Model]) -> Iterator[tuple[str, str]]:
    """The attacks of the literature that such a release does not stop, by name, and why.

    >>> [name for name, _ in still_works(3, [LDiversity("pay", Decimal(2))])][:3]
    ['background knowledge', 'skewness', 'similarity']
    """
    diverse = {each.of for each in models if isinstance(each, LDiversity)}
    close = {each.of for each in models if isinstance(each, TCloseness)}
    ordered = {each.of for each in models if isinstance(each, TCloseness) and each.order}
    told = list(dict.fromkeys(each.of for each in models)) or ["any column, of which no model is"]
    homogeneous = "all people of a class can have one value of {}, which is then known of each"
    excluded = "who can exclude some values of {} for a person is left with fewer of them"
    skewed = "a value of {} can be far more frequent in a class than in the whole table"
    if k < 2 and not diverse:
        yield "linkage", "a class can be one person, whom another table names"
    for name, why, stopped in (
        ("homogeneity", homogeneous, diverse),
        ("background knowledge", excluded, set[str]()),
        ("skewness", skewed, close),
        ("similarity", "values of {} that differ can mean the same", ordered),
    ):
        if left := [column for column in told if column not in stopped]:
            yield name, why.format(", ".join(left))
    yield (
        "differencing",
        "of two releases, before and after one person or by other recodes, the difference can be"
        " that one person: no model is of two releases together",
    )
    yield (
        "membership",
        "who knows everybody else of a class at the limit sees by whether it is shown if a person"
        " is in the table: nothing bounds it",
    )


def first_lines(attacks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What stands before all else that is said of such a release."""
    yield NO_GUARANTEE
    yield "attacks that still work:"
    yield from (f"  - {name}: {why}" for name, why in attacks)
