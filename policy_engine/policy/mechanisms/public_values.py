"""What mechanisms of public values share in the language of policies."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from typing import ClassVar

from policy_engine.accounting.in_words import in_text
from policy_engine.policy.auto import NoSolution
from policy_engine.policy.laws import Broken, Data, barred, mapping, refusal
from policy_engine.policy.mechanisms.common import ROWS, Protection, everybody
from policy_engine.policy.mechanisms.noisy_counts import KEYS
from policy_engine.policy.scalars import show
from policy_engine.policy.source_models import counts_all
from policy_engine.values import frozen

FLOOR = Context(prec=60, rounding=ROUND_FLOOR)
_LISTED = {"bins", "map", "hierarchy"}


@frozen
class Chance(Protection):
    """A mechanism of public values, and the ε that each of its independent draws may cost."""

    each: Decimal
    mechanism: ClassVar[str]
    by_chance: ClassVar[bool] = True

    @property
    def chance_words(self) -> str:
        """What of a value is left to chance."""
        return f"{self.words}, ε {in_text(self.each)} for each draw"


def share_of(values: int, epsilon: Decimal) -> int:
    """The chance of each of so many values. Errors: NoSolution where ε is too small."""
    # Numbers and their search are needed for such a policy alone.
    from policy_engine.accounting.pure_shares import least_share

    if (share := least_share(values, epsilon)) is None:
        raise NoSolution(f"ε is too small for {values} values")
    return share


def public_laws(data: Data) -> Broken:
    """The laws of a mechanism that needs a public list of values of each column."""
    mechanism = data["mechanism"]
    wrong = f"must not stand beside mechanism: {mechanism}"
    yield from barred(data, ("sample", "k", "auto", *KEYS), wrong)
    for column, recoding in mapping(data.get("recode")).items():
        if not _LISTED & mapping(recoding).keys():
            is_mapping = isinstance(recoding, dict)
            named = next(iter(recoding), "none") if is_mapping else show(recoding)
            wrong = f"must be bins, map or hierarchy for {mechanism}, found {named}"
            remedy = "only these say which values there are"
            yield refusal(wrong, remedy, at=("recode", column))
    yield from everybody(data, "counts")
    if counts_all(data.get("privacy_unit")):
        wrong = f"must be any, one or a mapping with first_by for {mechanism}, found all"
        yield refusal(wrong, "one row of a person counts", at=ROWS)
