"""[PK] An exact count, released without noise, against an adversary who does not know all of it.

N records are unknown to the adversary: independent, each 1 with a probability p_i in [λ, 1−λ].
Their sum, and whatever known records add to it, is released. One of the N is protected: is it 1
or 0? Such a bound holds **under these assumptions** and is no (ε, δ) of a mechanism: it never
enters a budget with [EXACT].

*The bound.* Bernoulli(p_i) is a fair coin with probability 2λ, and something else otherwise. Tell
the adversary which of the other N−1 records are coins, and the value of those that are not. By
joint convexity that cannot lower the divergence, and what is left is M ~ Bin(N−1, 2λ) coins:

    δ(ε) ≤ E_M[H_M],    H_M = H_a(1 + Bin(M,½) ‖ Bin(M,½)),    a = e^ε.

*One direction is enough*: j → M+1−j swaps the two laws. *More is better*: one coin more is a
convolution of both, so H_M falls with M (data processing), and the bound with N and with λ.

*One term.* The ratio of the two laws at j, j/(M+1−j), rises in j and exceeds a from
m = ⌊x⌋ + 1 on, x = s(M+1), s = a/(1+a). Free of cancellation, with f the binomial pmf,

    H_M = 2(1+a)/(M+1) · Σ_{j≥m} f(j; M+1, ½)·(j − x),    H_0 = 1,

and from one M to the next, by conditioning on the coin that is added, with r = x − ⌊x⌋,

    H_M − H_{M+1} = f(m−1; M, ½)·(1+a)/2 · r/(M+2−m)     where m stays,  r + s < 1,
                  = f(m−1; M, ½)·(1+a)/2 · (1−r)/m       where m rises by 1.

Both are ≥ 0, so the H_M of a window follow from its last one by additions alone.

*The rest.* Markov's inequality for e^{ε·Bin} gives, for every M,

    H_M ≤ Pr[Bin(M,½) ≥ m−1] ≤ C·ρ^M,    C = a^{1/(1+a)},    ρ = (1+a)/2 · a^{−s},

and so  E_M[H_M; M outside the window] ≤ C·(1 − 2λ(1−ρ))^{N−1} · Pr[Bin(N−1, q) outside it] with
q = 2λρ/(1 − 2λ + 2λρ). Chernoff bounds that probability; it is added. Over all M it is
``delta_chernoff``.

*Where a ≥ N−1* only the count N can exceed, H_M = 2^{−M}, and the bound is (1−λ)^{N−1}.

*Histograms.* For a histogram over κ options, each with a probability of at least λ, under
replacement of one record's option a by b the value is the same. The blanket, what all the laws of
a record share, has the probability κλ; of it 2λ falls on {a, b}, evenly, and the rest is told.
"""

from __future__ import annotations

import math
from decimal import Decimal

from policy_engine.accounting.binomial import point, sum_from
from policy_engine.accounting.curve import power
from policy_engine.accounting.domain import (
    Number,
    arithmetic,
    claimed,
    decimal,
    is_within_reach,
    nonnegative_epsilon,
    upward,
    whole,
)
from policy_engine.values import frozen

_HALF = Decimal("0.5")
# What is outside the window weighs less than e^-70 C/h, and h > 1e-15 for 10**9 records.
_DEPTH = 70.0


@frozen
class CountNumbers:
    """δ at ε of one exact count under stated assumptions, [PK]; ``floor`` is λ.

    ``delta`` is the claim. Beside it two closed forms that are never below it: by Chernoff, and
    by Balle et al. 2019, None where that says nothing.
    """

    unknown: int
    floor: Decimal
    epsilon: Decimal
    delta: Decimal
    delta_chernoff: Decimal
    delta_blanket: Decimal | None
    proposition_27: Decimal | None
    """As the thesis prints it, with every p = λ; **no upper bound**, for comparison only."""


def count_numbers(unknown: int, floor: Number, epsilon: Number) -> CountNumbers:
    """What ``calculate`` states of a count for N unknown records and λ, at ε, [PK].

    Guarantee: under the module's assumptions an exact count is ε-indistinguishable but for δ,
    in both directions, whichever of the N records is 1 or 0. Errors: DomainError.

    >>> found = count_numbers(1000, "0.1", "0.5")
    >>> found.delta, found.delta_chernoff, found.delta_blanket
    (Decimal('0.0000128135199108'), Decimal('0.00305122112183'), Decimal('0.335953879825'))
    """
    unknown, floor = unknown_records(unknown), least_uncertainty(floor)
    epsilon = nonnegative_epsilon(epsilon)
    delta = claimed(delta_count(unknown, floor, epsilon))
    blanket = delta_blanket(unknown, floor, epsilon)
    return CountNumbers(
        unknown=unknown,
        floor=floor,
        epsilon=epsilon,
        delta=delta,
        delta_chernoff=max(delta, delta_chernoff(unknown, floor, epsilon)),
        delta_blanket=None if blanket is None else max(delta, blanket),
        proposition_27=proposition_27(unknown, floor, epsilon),
    )


def unknown_records(unknown: object) -> int:
    """How many records the adversary does not know; DomainError unless an integer from 1 to 10⁹.

    >>> unknown_records(1000)
    1000
    """
    return whole("unknown", unknown, 1, 10**9)


def least_uncertainty(floor: object) -> Decimal:
    """λ, the least probability of either value of a record; DomainError unless in (0, 1/2].

    >>> least_uncertainty("0.1")
    Decimal('0.1')
    """
    law = "a number above 0 (by at least 1e-300) and at most 1/2"
    return decimal("lambda", law, floor, lambda x: x <= _HALF and is_within_reach(x))


def delta_count(unknown: int, floor: Number, epsilon: Number) -> Decimal:
    """E_M[H_{e^ε}(1 + Bin(M,½) ‖ Bin(M,½))], M ~ Bin(N−1, 2λ), from above, [PK].

    Guarantee: never below that expectation, above it by less than a 2e-11 share; hence an upper
    bound on δ of the count under the module's assumptions. N counts the protected record too.
    Time grows with √N. Errors: DomainError.

    >>> delta_count(1000, "0.1", "0.5")
    Decimal('0.0000128135199095')
    >>> delta_count(1, "0.1", "0.5"), delta_count(3, "0.5", "9")
    (Decimal('1'), Decimal('0.25'))
    """
    others, floor = unknown_records(unknown) - 1, least_uncertainty(floor)
    epsilon = nonnegative_epsilon(epsilon)
    with arithmetic(floor):
        if others == 0 or epsilon >= Decimal(others).ln():
            return power(1 - floor, others)
        ratio = epsilon.exp()
        if floor == _HALF:
            return _at_most_one(_divergence(others, ratio))
        tilt = _Tilt.of(others, floor, epsilon)
        low, high = tilt.window()
        inside = _expectation(others, ratio, 2 * floor, low, high)
        return _at_most_one(inside + tilt.outside(low, high))


def delta_chernoff(unknown: int, floor: Number, epsilon: Number) -> Decimal:
    """C·(1 − 2λ(1−ρ))^{N−1}, at most 1, [PK]: a closed form for every ε, from above.

    Guarantee: never below ``delta_count``; the module has the proof, C and ρ. Errors: DomainError.

    >>> delta_chernoff(1000, "0.1", "0.5")
    Decimal('0.00305122112183')
    """
    others, floor = unknown_records(unknown) - 1, least_uncertainty(floor)
    epsilon = nonnegative_epsilon(epsilon)
    with arithmetic(floor):
        return _at_most_one(_Tilt.of(others, floor, epsilon).total)


def delta_blanket(unknown: int, floor: Number, epsilon: Number) -> Decimal | None:
    """The closed form of Balle et al. 2019, Theorem 3.1, solved for δ, from above, [PK].

    With blanket probability 2λ and two options it holds where 0 < ε ≤ 1 and
    2λ ≥ max(28·ln(2/δ)/((N−1)ε²), 54/((N−1)ε)): the second is a condition, the first gives
    δ = 2·e^{−λ(N−1)ε²/14}. None where the condition fails, where ε is not in (0, 1], or where δ
    would exceed 1. Guarantee: never below the expectation of ``delta_count``. Errors: DomainError.

    >>> delta_blanket(10_000, "0.1", "0.5")
    Decimal('3.52003446817E-8')
    >>> delta_blanket(500, "0.1", "0.5") is None, delta_blanket(10_000, "0.1", "1.5") is None
    (True, True)
    """
    others, floor = unknown_records(unknown) - 1, least_uncertainty(floor)
    epsilon = nonnegative_epsilon(epsilon)
    with arithmetic(floor, epsilon):
        if not 0 < epsilon <= 1 or 2 * floor * others * epsilon < 54:
            return None
        delta = upward(2 * (-floor * others * epsilon * epsilon / 14).exp())
        return delta if delta <= 1 else None


def proposition_27(unknown: int, floor: Number, epsilon: Number) -> Decimal | None:
    """Proposition 27 of Desfontaines' thesis as printed, with every p = λ, for comparison.

    μ₂ = λ(1−λ), μ₃ = μ₂(1−2λ); δ₂ = 1.25·e^{−Nμ₂ε²/2} for 0 < ε ≤ 1, and
    δ = 1.12·μ₃/(√N·μ₂³)·(1 + e^ε) + δ₂. None for other ε, and where δ would exceed 1. **No
    guarantee**: it speaks of the records' own moments, which λ only bounds, and as printed it is
    below the truth for fair coins. It is never certified. Errors: DomainError.

    >>> proposition_27(1_000_000, "0.1", "0.5")
    Decimal('0.292994352908')
    >>> proposition_27(1000, "0.1", "0.5") is None
    True
    """
    unknown, floor = unknown_records(unknown), least_uncertainty(floor)
    epsilon = nonnegative_epsilon(epsilon)
    if not 0 < epsilon <= 1:
        return None
    with arithmetic(floor, epsilon):
        second = floor * (1 - floor)
        third = second * (1 - 2 * floor)
        berry_esseen = Decimal("1.12") * third / (Decimal(unknown).sqrt() * second**3)
        normal = Decimal("1.25") * (-unknown * second * epsilon * epsilon / 2).exp()
        delta = berry_esseen * (1 + epsilon.exp()) + normal
    return upward(delta) if delta <= 1 else None


def _divergence(coins: int, ratio: Decimal) -> Decimal:
    """H_M at a, from above; in the caller's context."""
    x = ratio / (1 + ratio) * (coins + 1)
    least = int(x) + 1
    total = sum_from(least, coins + 1, _HALF, least - x, 1)
    return total * 2 * (1 + ratio) / (coins + 1)


def _expectation(others: int, ratio: Decimal, rate: Decimal, low: int, high: int) -> Decimal:
    """E_M[H_M; low ≤ M ≤ high] for M ~ Bin(N−1, rate): downward from M = high, by additions."""
    share, half_scale = ratio / (1 + ratio), (1 + ratio) / 2
    odds = rate / (1 - rate)
    weight = point(high, others, rate)
    divergence = _divergence(high, ratio)
    x = share * (high + 1)
    before = int(x)  # m − 1
    mass = point(before, high, _HALF)  # f(m−1; M, ½)
    total = weight * divergence
    for size in range(high - 1, low - 1, -1):
        x -= share
        rises = x < before
        before -= rises
        # The law of one coin fewer: f(m−1; M+1) back to M, over the place that m leaves.
        mass = mass * (2 * (before + 1 if rises else size + 1 - before)) / (size + 1)
        r = x - before
        step = (1 - r) / (before + 1) if rises else r / (size + 1 - before)
        divergence += mass * half_scale * step
        weight = weight * (size + 1) / ((others - size) * odds)
        total += weight * divergence
    return total


@frozen
class _Tilt:
    """Bin(N−1, q), the law of M under the weights ρ^M, and C·E[ρ^M]."""

    others: int
    q: Decimal
    total: Decimal

    @classmethod
    def of(cls, others: int, floor: Decimal, epsilon: Decimal) -> _Tilt:
        ratio = epsilon.exp()
        leave = 1 / (1 + ratio)  # 1 − s
        # ρ = (1+a)/2 · a^{−s} = (1 + 1/a)/2 · a^{1−s}
        rho = (1 + 1 / ratio) / 2 * (epsilon * leave).exp()
        mean = 1 - 2 * floor * (1 - rho)
        return cls(others, 2 * floor * rho / mean, (epsilon * leave).exp() * mean**others)

    def window(self) -> tuple[int, int]:
        """Sizes around the mean of M; a choice that affects tightness and time only."""
        q = float(self.q)
        mean, variance = self.others * q, self.others * q * (1 - q)
        # Bernstein: beyond this on either side lies less than e^-depth.
        reach = math.sqrt(2 * _DEPTH * variance) + _DEPTH
        return max(0, math.floor(mean - reach)), min(self.others, math.ceil(mean + reach))

    def outside(self, low: int, high: int) -> Decimal:
        """An upper bound on E_M[H_M; M < low or M > high]."""
        below = self._chernoff(low - 1) if low > 0 else Decimal(0)
        above = self._chernoff(high + 1) if high < self.others else Decimal(0)
        return self.total * (below + above)

    def _chernoff(self, size: int) -> Decimal:
        """e^{−(N−1)·KL(size/(N−1) ‖ q)}: at most this lies from ``size`` on, off the mean."""
        rest, n = self.others - size, self.others
        exponent = rest * (rest / (n * (1 - self.q))).ln() if rest else Decimal(0)
        exponent += size * (size / (n * self.q)).ln() if size else Decimal(0)
        return (-exponent).exp()


def _at_most_one(value: Decimal) -> Decimal:
    return min(Decimal(1), upward(value))
