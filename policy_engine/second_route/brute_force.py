"""[EXACT] δ by brute force: the definition summed, by code that knows nothing of ``accounting``.

X_n ~ Bin(n, β) is the sampled count of the one cell that differs, n against n−1 copies; what
leaves is X_n if X_n ≥ k, else ⊥. P_n is the law of what leaves, a = e^ε, and

    δ(ε) = sup over n of max( H_a(P_n‖P_{n−1}), H_a(P_{n−1}‖P_n) ),  H_a(P‖Q) = Σ max(0, P − a·Q).

*Which n can matter.* Let D(n) be the first, E(n) the second, f the binomial pmf, γ = (a−1+β)/a
and c = 1−(1−β)a. X_n = j is likelier than a times X_{n−1} = j iff j > γn.

* From n ≥ (k−1)/γ on, D falls. No j < k is likelier then, so hiding them costs nothing and D(n)
  = H_a(X_n‖X_{n−1}). One further copy adds the same independent coin to X_n and to X_{n−1}, and
  what is added without looking at which of the two it is never tells them apart better.
* Until then D rises. Every j ≥ k is likelier for n ≤ (k−1)/γ + 1, so D(n) = Pr[X_n ≥ k] −
  a·Pr[X_{n−1} ≥ k], and Pr[X_n ≥ k] − Pr[X_{n−1} ≥ k] = β·f(k−1; n−1). So D(n+1) − D(n) =
  β·f(k−1; n) − a·β·f(k−1; n−1), which is ≥ 0 iff n(1−β) ≥ a(n−k+1), that is γn ≤ k−1.
* The same holds of E with c in place of γ, by ⊥ instead of what is released: X_{n−1} = j is
  likelier than a times X_n = j iff j < cn. With c ≤ 0, E is 0.

So the first sizes from (k−1)/γ and from (k−1)/c on are enough. Up to ``EVERY`` all n from 1 on
are summed all the same: the laws are made by tossing one coin more, and no formula for the
binomial law is used. It ends after those two sizes, or already where D falls and the tail that is
left, E(m) ≤ Pr[X_{m−1} < k] ≤ Pr[X_n < k] for all m > n, is below what was found. Beyond
``EVERY``, the sizes around those two are summed, from f(k; n).

*Error.* What is left out of a sum is below a 1e-15 share of it, and ln z! is Stirling's with an
error below 1/(1260·z⁵) ≤ 8e-19 for z ≥ 1000 (Robbins' series envelops it). All else is decimals
with 50 good digits and no underflow. So the value is right to a share of ``ERROR``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from itertools import pairwise, product

from policy_engine.values import frozen

ERROR = Decimal("1e-12")
"""The share by which a value may be wrong."""
EVERY = 400
"""Up to this size every n is summed; the work grows with its square."""

_SHARE = Decimal("1e-15")
_EXACT_FACTORIALS = 1000
_HALF_LOG_TWO_PI = Decimal("0.91893853320467274178032973640561763986139747363778")


@frozen
class Recomputed:
    """δ, right to a share of ``error``; ``sizes`` says which cells were summed.

    ``whole`` says whether no other size can give more: else δ is a lower bound only.
    """

    delta: Decimal
    sizes: str
    error: Decimal = ERROR
    whole: bool = True


def brute_delta(k: int, rate: Decimal, epsilon: Decimal) -> Recomputed:
    """δ at ε ≥ 0 under add_remove, for k ≥ 2 and 0 < rate < 1, by summing the definition.

    >>> found = brute_delta(20, Decimal("0.1"), Decimal("0.5"))
    >>> f"{found.delta:.10e}", found.sizes
    ('2.6317834662e-11', 'every cell of up to 43 people')
    >>> brute_delta(1000, Decimal("0.01"), Decimal(1)).sizes
    'cells of about 1572 people, where δ is proved to be largest'
    """
    with arithmetic(k, rate, epsilon):
        ratio = epsilon.exp()
        gamma, share = (ratio - 1 + rate) / ratio, 1 - (1 - rate) * ratio
        removing = max(k, math.ceil((k - 1) / gamma))
        adding = max(k, math.ceil((k - 1) / share)) if share > 0 else 0
    if removing < EVERY:
        with arithmetic(k, rate, epsilon):
            every = _by_tossing(k, rate, epsilon.exp(), removing + 1, adding + 1)
        if every is not None:
            return every
    last = max(removing, adding) + 1
    with arithmetic(k, rate, epsilon, room=len(str(last))):
        ratio = epsilon.exp()
        values = [_remove(k, n, rate, ratio) for n in range(max(k, removing - 1), removing + 2)]
        values += [_add(k, n, rate, ratio) for n in range(adding, adding + 2) if adding]
    sizes = [str(n) if n < 10**9 else f"{Decimal(n):.2e}" for n in (removing, adding) if n]
    around = f"cells of about {' people and of about '.join(sizes)}"
    around += "" if adding else " people"
    return Recomputed(max(values), f"{around}, where δ is proved to be largest")


def arithmetic(
    k: int, rate: Decimal, epsilon: Decimal, room: int = 0
) -> AbstractContextManager[Context]:
    """A context in which 1 − rate, e^ε − 1 and sums of k terms keep 50 digits."""
    given = (rate, epsilon)
    small = max((-number.adjusted() for number in given if number), default=0)
    written = max(len(number.as_tuple().digits) for number in given)
    digits = 70 + 2 * (max(small, 0) + room) + written + len(str(k))
    return localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX))


def _by_tossing(
    k: int, rate: Decimal, ratio: Decimal, removing: int, adding: int
) -> Recomputed | None:
    """The largest D(n) and E(n) from nothing but one coin for each copy; None beyond ``EVERY``."""
    stay, zero, best = 1 - rate, Decimal(0), Decimal(0)
    law = [Decimal(1)]
    for n in range(1, EVERY + 1):
        tossed = [x * stay + y * rate for x, y in zip([*law, zero], [zero, *law], strict=True)]
        more, fewer = _released(tossed, k), _released([*law, zero], k)
        best = max(best, hockey_stick(more, fewer, ratio), hockey_stick(fewer, more, ratio))
        if n >= removing and (n >= adding or more[0] <= best):
            return Recomputed(best, f"every cell of up to {n} people")
        law = tossed
    return None


def _released(law: list[Decimal], k: int) -> list[Decimal]:
    """The law of what leaves: the suppressed outcome, then each count from k on."""
    return [sum(law[:k], Decimal(0)), *law[k:]]


def hockey_stick(first: list[Decimal], second: list[Decimal], ratio: Decimal) -> Decimal:
    """H_a(P‖Q) = Σ max(0, P − a·Q).

    >>> hockey_stick([Decimal("0.5")] * 2, [Decimal("0.25"), Decimal("0.75")], Decimal(1))
    Decimal('0.25')
    """
    zero = Decimal(0)
    return sum((max(zero, p - ratio * q) for p, q in zip(first, second, strict=True)), zero)


def _remove(k: int, n: int, rate: Decimal, ratio: Decimal) -> Decimal:
    """D(n): the outcomes from k on. With a ≥ 1, ⊥ is never likelier with more copies."""
    stay, odds = 1 - rate, rate / (1 - rate)
    total, weight, j = Decimal(0), Decimal(1), k
    while weight > 0:  # it is 0 beyond n
        # f(j; n−1) = f(j; n)·(n−j) / (n(1−β))
        total += max(Decimal(0), weight * (1 - ratio * (n - j) / (n * stay)))
        step = (n - j) * odds / (j + 1)
        weight *= step
        # Steps fall: what follows is below weight/(1 − step), and a term below its weight.
        if step < 1 and weight <= (1 - step) * total * _SHARE:
            weight = Decimal(0)
        j += 1
    return total * point(k, n, rate)


def _add(k: int, n: int, rate: Decimal, ratio: Decimal) -> Decimal:
    """E(n) for n ≥ (k−1)/c: ⊥, of which every count is likelier, and the counts from k on."""
    stay, odds = 1 - rate, rate / (1 - rate)
    total, weight, j = Decimal(0), Decimal(1), k - 1
    while weight > 0:  # it is 0 below 0
        total += weight * ((n - j) / (n * stay) - ratio)
        step = j / ((n - j + 1) * odds)
        weight *= step
        if step < 1 and weight <= (1 - step) * total * stay * _SHARE:
            weight = Decimal(0)
        j -= 1
    total, weight, j = max(Decimal(0), total), (n - k + 1) * odds / k, k
    while (excess := (n - j) / (n * stay) - ratio) > 0:
        total += weight * excess
        weight *= (n - j) * odds / (j + 1)
        j += 1
    return total * point(k - 1, n, rate)


def point(j: int, n: int, rate: Decimal) -> Decimal:
    """f(j; n, β), for 0 ≤ j ≤ n.

    >>> round(point(1, 2, Decimal("0.5")), 20)
    Decimal('0.50000000000000000000')
    """
    return log_point(j, n, rate).exp()


def log_point(j: int, n: int, rate: Decimal) -> Decimal:
    """ln f(j; n, β), for 0 ≤ j ≤ n."""
    ways = log_factorial(n) - log_factorial(j) - log_factorial(n - j)
    return ways + j * rate.ln() + (n - j) * (1 - rate).ln()


def log_factorial(z: int) -> Decimal:
    """ln z!, wrong by less than 8e-19.

    >>> round(log_factorial(1000), 15)
    Decimal('5912.128178488163349')
    """
    if z < _EXACT_FACTORIALS:
        return Decimal(math.factorial(z)).ln()
    number = Decimal(z)
    series = 1 / (12 * number) - 1 / (360 * number**3)
    return (number + Decimal("0.5")) * number.ln() - number + _HALF_LOG_TWO_PI + series


# [LOCAL], [AB], [TABLE], [PLACE]: every outcome summed. Of randomised response the outcomes are the
# answers of two people whose values differ everywhere: the one's value, the other's, or neither,
# which are alike, each by its own numbers of 2⁶⁰; of αβ
# insertion whether each tuple is shown that can differ. Of a group that one unit is in, Z is drawn
# against Z + 1, or T against T + 1: whoever sees what is shown sees no more; of several groups, and
# of a unit that is replaced, it is every combination of values. Whole numbers but for e^ε, which
# has 60 good digits.

_MOST_OUTCOMES = 10**6
_WHOLE = 1 << 60
_CHANCE_ERROR = Decimal("1e-40")
Law = Sequence[int]
"""The probability of each outcome, in parts of 2⁶⁰."""


def brute_answers(lists: Sequence[tuple[int, int]], epsilon: Decimal) -> Recomputed | None:
    """δ at ε ≥ 0 of a person replaced; ``lists`` has the length and the share of each column.

    None where there are too many answers.

    >>> brute_answers([(2, 1 << 58)], Decimal(0)).delta == Decimal("0.5")
    True
    """
    laws = [(_answers(0, *each), _answers(1, *each)) for each in lists]
    return _brute(laws, epsilon, "every answer")


def _answers(own: int, values: int, share: int) -> Law:
    """u is on [place·share, (place + 1)·share) by chance, and beyond them all for the own value.

    The last answer stands for all that are neither's value.
    """
    told = [share, share, share * (values - 2)]
    told[own] += _WHOLE - share * values
    return told


def brute_presence(
    shown: int, inserted: int, epsilon: Decimal, *, replaces: bool
) -> Recomputed | None:
    """δ at ε ≥ 0 of a tuple that is in one table only; of two where a person is replaced.

    >>> brute_presence(3 << 58, 1 << 58, Decimal(0), replaces=False).delta == Decimal("0.5")
    True
    """
    there, absent = (shown, _WHOLE - shown), (inserted, _WHOLE - inserted)
    laws: list[tuple[Law, Law]] = [(there, absent)]
    return _brute(laws + [(absent, there)] * replaces, epsilon, "every outcome")


def brute_noise(
    tables: Sequence[Sequence[int]], epsilon: Decimal, *, is_open: bool, replaces: bool
) -> Recomputed | None:
    """δ at ε ≥ 0 for one unit in one group of each table; None of too many combinations.

    >>> found = brute_noise([(1 << 50, (1 << 60) - (1 << 50))], Decimal(20), is_open=False,
    ...                     replaces=False)
    >>> found.delta == Decimal(2) ** -10
    True
    """
    laws = [_moved(entries, is_open=is_open) for entries in tables]
    laws += [(after, before) for before, after in laws] * replaces
    return _brute(laws, epsilon, "every value of the noise")


def _moved(entries: Sequence[int], *, is_open: bool) -> tuple[Law, Law]:
    masses = [high - low for low, high in pairwise((0, *entries, _WHOLE))]
    tail = masses.pop() if is_open else 0
    return [*masses, 0, tail], [0, *masses, tail]


def _brute(laws: Sequence[tuple[Law, Law]], epsilon: Decimal, whole: str) -> Recomputed | None:
    if math.prod(len(one) for one, _ in laws) > _MOST_OUTCOMES:
        return None
    ways = []
    with localcontext(prec=60 + 20 * len(laws)):
        scale = epsilon.exp()
        for one, other in (tuple(zip(*laws, strict=True)), tuple(zip(*laws, strict=True))[::-1]):
            outcomes = zip(
                map(math.prod, product(*one)), map(math.prod, product(*other)), strict=True
            )
            ways.append(sum(max(Decimal(0), p - scale * q) for p, q in outcomes))
        delta = Decimal(max(ways)) / Decimal(_WHOLE) ** len(laws)
    return Recomputed(delta, whole, _CHANCE_ERROR)
