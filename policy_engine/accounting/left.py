"""What an account, or a window of one, would still pay for: nothing that it would refuse.

It is asked of the rule that decides, by trying: no difference of two sums is what can be spent.
Where several rules decide, as the rest of a window and what holds for ever, it is asked of all.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.domain import count, whole
from policy_engine.values import frozen

MOST_ALIKE = 30
"""So many more of one kind are looked for, and no more."""
_DECADES = 6
"""An ε of another kind is looked for down to so many decimal places below the limit's."""


@frozen
class SlotsLeft:
    """The editions of one policy of a plan: how many there are, and how many were ``drawn``.

    ``is_ended``: no more of them are, for another plan or limit holds by now. Errors: DomainError
    unless from none to all were.

    >>> SlotsLeft("visits_monthly", 12, 3).words()
    '9 of 12 visits_monthly'
    """

    name: str
    editions: int
    drawn: int = 0
    is_ended: bool = False

    def __post_init__(self) -> None:
        whole("drawn", self.drawn, 0, count("editions", self.editions))

    @property
    def left(self) -> int:
        """How many more are planned."""
        return 0 if self.is_ended else self.editions - self.drawn

    def words(self) -> str:
        """How many are left, of how many."""
        return f"{self.left or 'none'} of {self.editions} {self.name}"


def times_admitted(admits: Callable[[int], bool]) -> int:
    """How many more of one kind are admitted, up to ``MOST_ALIKE``, one after the other.

    Guarantee: so many are, and one more is not, but where it is the most that is looked for.
    ``admits`` says of so many, from 1 on, whether they are; whoever has room for more has it for
    fewer.

    >>> [times_admitted(lambda times: times <= most) for most in (0, 1, 5, 29, 1000)]
    [0, 1, 5, 29, 30]
    """
    if not admits(1):
        return 0
    if admits(MOST_ALIKE):  # first: most accounts have room for many
        return MOST_ALIKE
    few = 2
    while admits(few):
        few *= 2  # the most is not admitted: this ends
    return least_integer(few // 2, few, lambda times: not admits(times)) - 1


def most_of_another_kind(
    admits: Callable[[Decimal, Decimal], bool], epsilon: Decimal, delta: Decimal
) -> tuple[Decimal, Decimal] | None:
    """The most (ε, δ) of one release of which nothing else is known; None where there is none.

    δ is about the greatest at which half as much ε or more is admitted as without any. Guarantee:
    it is admitted, and not with one more in the third digit of ε, or in the second of δ. Arguments:
    what the rule says of an (ε, δ), and the limit's, below which both are looked for.

    >>> most_of_another_kind(lambda e, d: e <= Decimal("0.1234"), Decimal(1), Decimal("1e-6"))
    (Decimal('0.123'), Decimal('0.000001'))
    """
    most = _greatest(admits, Decimal(0), epsilon, _DECADES)
    if most is None:
        return None
    for part in (delta.scaleb(-tenths) for tenths in range(1, 7) if delta):
        if admits(most / 2, part):
            # Of which half of the least that is looked for without δ has one place more.
            found = _greatest(admits, part, epsilon, _DECADES + 1)
            assert found is not None
            return _corner(admits, found, part)
    return most, Decimal(0)


def _corner(
    admits: Callable[[Decimal, Decimal], bool], epsilon: Decimal, delta: Decimal
) -> tuple[Decimal, Decimal]:
    """An (ε, δ) from an admitted one on, of which neither can be one step more.

    At a larger δ a rule may admit a larger ε: how it shares its δ out depends on what is asked.

    >>> _corner(lambda e, d: e <= 4 and d <= 3 and e <= 2 * d, Decimal(2), Decimal(1))
    (Decimal('4.00'), Decimal('3.00'))
    """
    while True:
        delta = _greatest_delta(admits, epsilon, delta)
        more = _more_epsilon(admits, epsilon, delta)
        if more == epsilon:
            return epsilon, delta
        epsilon = more


def _more_epsilon(
    admits: Callable[[Decimal, Decimal], bool], least: Decimal, delta: Decimal
) -> Decimal:
    """The greatest ε of three digits that is admitted at a δ, from one on that is."""
    unit = Decimal(1).scaleb(least.adjusted() - 2)
    steps = int(least / unit)
    return unit * (least_integer(steps, 1001, lambda n: not admits(n * unit, delta)) - 1)


def _greatest_delta(
    admits: Callable[[Decimal, Decimal], bool], epsilon: Decimal, least: Decimal
) -> Decimal:
    """The greatest δ of two digits that is admitted at an ε, up to ten times the least, which is.

    >>> _greatest_delta(lambda e, d: d < Decimal("3.3e-8"), Decimal(1), Decimal("1e-8"))
    Decimal('3.2E-8')
    """
    unit, most = least.scaleb(-1), least.scaleb(1)
    if admits(epsilon, most):
        return most
    return unit * (least_integer(10, 100, lambda n: not admits(epsilon, n * unit)) - 1)


def _greatest(
    admits: Callable[[Decimal, Decimal], bool], delta: Decimal, epsilon: Decimal, decades: int
) -> Decimal | None:
    """The greatest ε of three digits that is admitted at a δ; None where it were too small."""

    def is_admitted(steps: int) -> bool:
        return admits(steps * unit, delta)

    last = epsilon.adjusted() - 2
    for unit in (Decimal(1).scaleb(last - decade) for decade in range(decades)):
        if is_admitted(100):
            return unit * (least_integer(100, 1000, lambda steps: not is_admitted(steps)) - 1)
    return None
