"""Randomised response in the language of policies: who answers is known, and everybody does."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel.mechanisms import Randomised
from policy_engine.kernel.mechanisms.pure import MOST_VALUES, public_values
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.policy.laws import Broken, Data, barred, mapping, refusal
from policy_engine.policy.mechanisms.common import ChosenNumbers, Language, LawParts, Written
from policy_engine.policy.mechanisms.public_values import FLOOR, Chance, public_laws, share_of
from policy_engine.policy.time_models import PLANNED
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.shapes import Shape, Solved
    from policy_engine.policy.auto import Guarantee
    from policy_engine.policy.models import PolicyDocument


@frozen
class Answers(Chance):
    """Every value of a person is theirs, or a public one by chance."""

    mechanism: ClassVar[str] = "randomised_response"
    words: ClassVar[str] = "randomised response"
    law_name: ClassVar[str] = Randomised.mechanism
    numbers_rows: ClassVar[bool] = True

    def kernel_law(self, asked: LawParts) -> Randomised:
        """The kernel's law, by the values that the columns can show.

        Errors: ClaimError where a column does not tell them, or there are too many.
        """
        values = public_values(asked.shown)
        responses = (Response(each, share_of(len(each), self.each)) for each in values)
        return Randomised(tuple(responses), asked.secret)


def _laws(data: Data) -> Broken:
    yield from public_laws(data)
    # Who answers is known, and everybody does.
    given = data.get("guarantee")
    if given != PLANNED and mapping(given).get("neighbours", "add_remove") == "add_remove":
        wrong = "must be replace_one for randomised_response, found add_remove"
        remedy = "how many people answer is shown: what each of them is stays hidden"
        yield refusal(wrong, remedy, at=("guarantee", "neighbours"))
    wrong = "must not stand beside randomised_response, in which everybody answers"
    remedy = "remove it: whether a person is filtered would be shown"
    yield from barred(data, ["filter"], wrong, remedy)
    source, remedy = mapping(data.get("source")), "name the table of the people"
    yield from barred(source, ["view"], wrong, remedy, ("source",))


def _solve(document: PolicyDocument, guarantee: Guarantee) -> ChosenNumbers:
    """The chance that costs no more than ε, as much for each column: a person can change all."""
    each = FLOOR.divide(guarantee.epsilon, Decimal(len(document.recode)))
    share_of(MOST_VALUES, each)
    return ChosenNumbers(1, Answers(each))


def _shape(written: Written) -> Shape:
    """Of each column the number of its public values, one of them for what is missing."""
    from policy_engine.accounting.shapes import ResponseShape

    many = []
    for column, spec in written.document.recode.items():
        *known, _ = written.recodings[column].values or (None,)
        many.append(len({*known, getattr(spec, "missing", None)}))
    return ResponseShape(tuple(many))


def _numbers(document: PolicyDocument, solved: Solved) -> ChosenNumbers:
    assert solved.each is not None
    return ChosenNumbers(1, Answers(solved.each))


LANGUAGE = Language(_laws, _solve, _shape, _numbers, has_delta=False, keeps_groups=False)
