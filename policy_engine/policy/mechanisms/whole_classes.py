"""`guarantee: none`: classes of the raw table are suppressed until its models hold.

Which class is shown is decided by the people in it alone, so nothing is certified: such a release
has no (ε, δ), at any price. A release with (ε, δ) may be of such models too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel.mechanisms import WholeClasses
from policy_engine.kernel.mechanisms.meaning import Curve
from policy_engine.policy.auto import Guarantee
from policy_engine.policy.laws import Broken, Data, barred, mapping, refusal
from policy_engine.policy.mechanisms.common import LawParts, Protection
from policy_engine.policy.source_models import counts_all
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.policy.resolve import Policy

NO_PAIR = "none"
"""What a policy writes as its guarantee that promises no (ε, δ)."""
UNMET = Guarantee(Decimal(0), Decimal(0), "add_remove")
"""What stands where a policy has no guarantee: nothing that reads the source meets it."""
EVERY_CLASS = WholeClasses(1)
"""Every group with its count, for what is counted here and of which no row leaves."""
_OF_OTHERS = (
    "mechanism", "sample", "noise", "auto", "contribution", "measures", "rollup", "marginals",
)  # fmt: skip


@frozen
class Suppression(Protection):
    """In place of a noise, where there is none: everybody counts, and whole classes are left out.

    ``sensitive`` are the columns of the models; a class is what is alike in all others.
    """

    sensitive: tuple[str, ...]
    words: ClassVar[str] = "suppression of raw classes"
    law_name: ClassVar[str] = WholeClasses.mechanism
    promises: ClassVar[bool] = False

    @property
    def noise_words(self) -> str:
        """That nothing is added to a count."""
        return self.words

    def curve(self, policy: Policy) -> Callable[[str], Curve]:
        """1 at every ε: nothing is promised."""
        return lambda neighbours: lambda epsilon: Decimal(1)

    def visible(self, policy: Policy) -> Mapping[str, int]:
        """The least size of a class, which is always shown."""
        return {"": policy.k}

    def kernel_law(self, asked: LawParts) -> WholeClasses:
        """The kernel's law, which has no price."""
        return WholeClasses(asked.policy.k, self.sensitive)


def unpromised_laws(data: Data) -> Broken:
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
