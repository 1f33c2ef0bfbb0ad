"""What (ε, δ) means to somebody who guesses: the one sentence that every page says it by.

δ is the slack in P[S] ≤ e^ε·P'[S] + δ for every set S of outcomes. It is not the chance that the
odds move by more than e^ε: at k = 20, β = 0.1, ε = 0.5 the certified δ is 2.63·10⁻¹¹ and that
chance is 1.61·10⁻⁹, the figure of [LQS].
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal

from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    arithmetic,
    decimal,
    nonnegative_epsilon,
    upward,
)

_THREE_DIGITS = Context(prec=3, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_LEAST_SLACK = Decimal("1e-40")
_WORTH_SAYING = Decimal("0.001")
"""Of so few wrong guesses in 100 at least it makes no difference how few they are."""


def guessed_right(epsilon: Number, delta: Number) -> Decimal:
    """How often a guess between two neighbouring tables, each as likely, is right at most.

    Guarantee: of whoever sees one outcome of an (ε, δ)-DP mechanism and knows everything else, at
    most the share (e^ε + δ)/(1 + e^ε) of guesses is right: for the set S of outcomes at which they
    guess the first table it is ½(P[S] + 1 − P'[S]), and P[S] ≤ e^ε·P'[S] + δ and
    1 − P'[S] ≤ e^ε·(1 − P[S]) + δ bound that sum. Rounded up, at most 1. Errors: DomainError.

    >>> guessed_right("0.5", "2.63178346650E-11")
    Decimal('0.622459331212')
    """
    return min(Decimal(1), upward(1 - _wrong(epsilon, delta)))


def _wrong(epsilon: Number, delta: Number) -> Decimal:
    """The share of guesses that is wrong at least: (1 − δ)/(1 + e^ε)."""
    ratio, slack = nonnegative_epsilon(epsilon), decimal("delta", "a number", delta)
    # As if δ were larger: 1 − 10⁻⁵⁰⁰ has 500 digits, and no three of them tell.
    slack = max(slack, _LEAST_SLACK) if slack else slack
    with arithmetic(ratio, slack):
        return max(Decimal(0), (1 - slack) / (1 + ratio.exp()))


def odds_sentence(
    epsilon: Number, delta: Number, neighbours: str = ADD_REMOVE, people: int = 1
) -> str:
    """What (ε, δ) means to whoever guesses, as a sentence; rounded against the claim.

    >>> said = odds_sentence("0.5", "2.63178346650E-11")
    >>> said.partition(", starting")[0]
    'Someone who tries to tell whether a given person is in the data'
    >>> said.partition("starting ")[2]
    'from even odds, is right at most 62.3 % of the time.'
    >>> odds_sentence(9, 1e-9, "replace_one", 2)  # doctest: +ELLIPSIS
    "Someone who tries to tell which of two sets of data is 2 given people's, starting from ..."
    >>> odds_sentence(30, 1e-9).partition("odds, ")[2]
    'may be right nearly all of the time.'
    """
    who, verb = ("a given person", "is") if people == 1 else (f"{people} given people", "are")
    what = f"whether {who} {verb} in the data"
    if neighbours != ADD_REMOVE:
        what = f"which of two sets of data is {who}'s"
    wrong = _THREE_DIGITS.multiply(Decimal(100), _wrong(epsilon, delta))
    said = f"is right at most {100 - wrong:f} % of the time"
    if wrong < _WORTH_SAYING:
        said = "may be right nearly all of the time"
    return f"Someone who tries to tell {what}, starting from even odds, {said}."
