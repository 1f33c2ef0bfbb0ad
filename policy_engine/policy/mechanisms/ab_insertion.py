"""αβ insertion in the language of policies: a tuple is there or not."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting.noise import WHOLE
from policy_engine.kernel.mechanisms import Inserted
from policy_engine.kernel.mechanisms.pure import MOST_VALUES, public_values
from policy_engine.policy.laws import Broken, Data, mapping, refusal
from policy_engine.policy.mechanisms.common import ChosenNumbers, Language, LawParts, Written
from policy_engine.policy.mechanisms.public_values import FLOOR, Chance, public_laws, share_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.shapes import Shape, Solved
    from policy_engine.policy.auto import Guarantee
    from policy_engine.policy.models import PolicyDocument


@frozen
class Tuples(Chance):
    """Some tuples of a public domain are put in by chance, and some are left out."""

    mechanism: ClassVar[str] = "ab_insertion"
    words: ClassVar[str] = "αβ insertion"
    law_name: ClassVar[str] = Inserted.mechanism

    def kernel_law(self, asked: LawParts) -> Inserted:
        """The kernel's law, by the values that the columns can show.

        Errors: ClaimError where a column does not tell them, or there are too many.
        """
        inserted = share_of(2, self.each)
        return Inserted(WHOLE - inserted, inserted, public_values(asked.shown), asked.secret)


def _laws(data: Data) -> Broken:
    yield from public_laws(data)
    if mapping(data.get("release")).get("as", "counts") == "counts":
        wrong = "must be rows for ab_insertion, which shows tuples without a count"
        yield refusal(f"{wrong}, found counts", "write as: rows", at=("release", "as"))


def _solve(document: PolicyDocument, guarantee: Guarantee) -> ChosenNumbers:
    """The chance that costs no more than ε: who is replaced takes one tuple, and brings one."""
    tuples = 2 if guarantee.neighbours == "replace_one" else 1
    each = FLOOR.divide(guarantee.epsilon, Decimal(tuples))
    share_of(MOST_VALUES, each)
    return ChosenNumbers(1, Tuples(each))


def _shape(written: Written) -> Shape:
    """One tuple that is there or not."""
    from policy_engine.accounting.shapes import InsertionShape

    return InsertionShape()


def _numbers(document: PolicyDocument, solved: Solved) -> ChosenNumbers:
    assert solved.each is not None
    return ChosenNumbers(1, Tuples(solved.each))


LANGUAGE = Language(_laws, _solve, _shape, _numbers, has_delta=False, keeps_groups=False)
