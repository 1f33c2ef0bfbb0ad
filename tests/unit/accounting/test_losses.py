"""The tilted composition against ball arithmetic, exact sums, and dp_accounting."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from dp_accounting.pld import pld_pmf, privacy_loss_distribution
from flint import arb, arb_poly, ctx

from policy_engine.accounting import losses
from policy_engine.accounting.curve import delta_add, delta_remove
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
)
from policy_engine.accounting.losses import Composition
from policy_engine.accounting.pairs import Pair, pairs_of
from policy_engine.errors import DomainError


@pytest.fixture(autouse=True)
def _precision() -> object:
    before, ctx.prec = ctx.prec, 250
    yield
    ctx.prec = before


def composition(k: int, rate: str, times: int) -> Composition:
    [pair] = pairs_of(SampledSuppression(k, rate), ADD_REMOVE)
    return Composition([(pair, times)])


def connected(k: int, rate: str, step: float) -> list[pld_pmf.PLDPmf]:
    """dp_accounting's laws of the loss, from our closed form on a grid: remove and add."""
    lowest, highest = math.log(1 - float(rate)), math.log(k)
    grid = range(math.floor(lowest / step), math.ceil(highest / step) + 1)
    return [
        pld_pmf.create_pmf_pessimistic_connect_dots(
            step, list(grid), [float(curve(k, rate, Decimal(str(at * step))).delta) for at in grid]
        )
        for curve in (delta_remove, delta_add)
    ]


def bounds_by_balls(k: int, rate: str, times: int, epsilon: str, step: float) -> tuple[arb, arb]:
    """δ(ε) of N places of the k-th sampled copy, from below and from above.

    The losses are rounded down and up to multiples of a step; nothing of the package is used.
    """
    beta, eps = arb(rate), arb(epsilon)
    mass = beta**k
    certain = 1 - (1 - mass) ** times
    down: dict[int, arb] = {}
    for place in range(k + 1, int((k + 30 * math.sqrt(k) + 150) / float(rate))):
        mass *= arb(place - 1) * (1 - beta) / (place - k)
        loss = (arb(place - 1) * (1 - beta) / (place - k)).log()
        at = math.floor(float(loss) / step)
        down[at] = down.get(at, arb(0)) + mass
    first = min(down)
    law = arb_poly([down.get(at, arb(0)) for at in range(first, max(down) + 1)]) ** times
    low = high = certain
    for index, chance in enumerate(law.coeffs()):
        loss = (index + first * times) * arb(step)
        if loss > eps:
            low += chance * (1 - (eps - loss).exp())
        if loss + times * arb(step) > eps:
            high += chance * (1 - (eps - loss - times * arb(step)).exp())
    return low, high


@pytest.mark.parametrize(
    ("k", "rate", "times", "epsilon"),
    [
        (5, "0.2", 3, "1.5"),
        (20, "0.1", 2, "0.22"),
        (20, "0.1", 6, "0.9"),
        (20, "0.4", 8, "1.1"),
        (10, "0.05", 4, "0.6"),
        (3, "0.7", 2, "2"),
    ],
)
def test_never_below_and_within_a_thousandth_of_ball_arithmetic(
    k: int, rate: str, times: int, epsilon: str
) -> None:
    found = composition(k, rate, times).delta(Decimal(epsilon))
    low, high = bounds_by_balls(k, rate, times, epsilon, step=float(epsilon) / 4000)
    assert arb(str(found)) >= low
    assert arb(str(found)) <= high * arb("1.001")


@pytest.mark.parametrize(("k", "rate"), [(20, "0.1"), (5, "0.3"), (60, "0.5")])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.4", "0.9"])
def test_two_releases_by_an_exact_sum(k: int, rate: str, epsilon: str) -> None:
    """δ₂(ε) = E[δ₁(ε − L)] over the loss of the first release, with the closed form of δ₁."""
    beta, eps = arb(rate), arb(epsilon)
    for reverse, curve in ((False, delta_remove), (True, delta_add)):
        mass, total = beta**k, arb(0)
        if not reverse:
            total = mass
        for place in range(k + 1, int((k + 12 * math.sqrt(k) + 40) / float(rate))):
            before = mass
            mass *= arb(place - 1) * (1 - beta) / (place - k)
            loss = (mass / before).log()
            chance, shift = (before, -loss) if reverse else (mass, loss)
            left = Decimal(str(float(eps - shift)))
            total += chance * arb(str(curve(k, rate, left).delta))
        [pair] = pairs_of(SampledSuppression(k, rate), ADD_REMOVE)
        found = Composition([(pair.reversed() if reverse else pair, 2)]).delta(Decimal(epsilon))
        assert arb(str(found)) >= total * arb("0.999999999")
        assert arb(str(found)) <= total * arb("1.0005")


@pytest.mark.parametrize(
    ("k", "rate", "times", "delta", "epsilon"),
    [
        # ε where the hat-projected law on a grid of 1e-4·ε has this δ, in balls of 220 bits.
        (20, "0.1", 50, "1e-6", 0.80990),
        (20, "0.1", 50, "1e-12", 1.38234),
        (20, "0.1", 50, "1e-18", 2.92279),
        (20, "0.1", 1000, "1e-6", 3.82922),
        (50, "0.3", 100, "1e-9", 3.22218),
    ],
)
def test_known_epsilons(k: int, rate: str, times: int, delta: str, epsilon: float) -> None:
    found = composition(k, rate, times).epsilon(Decimal(delta))
    assert found is not None
    assert epsilon * (1 - 1e-5) <= float(found) <= epsilon * 1.0001


def test_there_and_back() -> None:
    for k, rate, times, delta in ((20, "0.1", 7, "1e-5"), (8, "0.02", 30, "1e-9")):
        both = composition(k, rate, times)
        epsilon = both.epsilon(Decimal(delta))
        assert epsilon is not None
        assert both.delta(epsilon) <= Decimal(delta) * Decimal("1.0001")
        assert both.delta(epsilon * Decimal("0.999")) > Decimal(delta)


@pytest.mark.parametrize("far", ["1e-5", "0.003", "0.05", "0.5"])
def test_what_is_met_is_what_delta_says(far: str) -> None:
    """Far from δ a coarse grid tells, and next to it the fine one."""
    for k, rate, times, epsilon in (
        (20, "0.1", 7, "0.4"),
        (8, "0.02", 30, "1"),
        (2, "0.9", 2, "3"),
    ):
        both, at = composition(k, rate, times), Decimal(epsilon)
        delta = both.delta(at)
        assert both.meets(at, delta * (1 + Decimal(far)))
        assert not both.meets(at, delta * (1 - Decimal(far)))


@pytest.mark.parametrize("times", [2, 50])
def test_agrees_with_dp_accounting(times: int) -> None:
    """Another route: connect-the-dots of the curve, then its composition."""
    theirs = privacy_loss_distribution.PrivacyLossDistribution(*connected(20, "0.1", 1e-3))
    composed = theirs.self_compose(times)
    [pair] = pairs_of(SampledSuppression(20, "0.1"), ADD_REMOVE)
    for delta in ("1e-4", "1e-6", "1e-8"):
        ours = [Composition([(p, times)]).epsilon(Decimal(delta)) for p in (pair, pair.reversed())]
        known = [float(value) for value in ours if value is not None]
        assert len(known) == 2
        assert max(known) == pytest.approx(composed.get_epsilon_for_delta(float(delta)), rel=5e-3)


def test_dp_accounting_has_no_digits_for_a_small_delta() -> None:
    """Why the composition here is our own."""
    theirs = connected(20, "0.1", 1e-3)[0].self_compose(50)
    assert composition(20, "0.1", 50).delta(Decimal("2.5")) < Decimal("1e-17")
    assert abs(theirs.get_delta_for_epsilon(2.5)) > 1e-16


def test_certain_losses() -> None:
    assert composition(2, "0.5", 2).epsilon(Decimal("0.4")) is None
    assert composition(2, "0.5", 2).delta(Decimal(100)) == Decimal("0.437501")
    # Too many digits to be told from a sum.
    certain, true = composition(200, "0.001", 3).certain, 3 * Decimal("0.001") ** 200
    assert true <= certain <= true * Decimal("1.000000000001")


def test_a_large_delta_needs_no_epsilon() -> None:
    assert composition(20, "0.1", 2).epsilon(Decimal("0.9")) == 0


@pytest.mark.parametrize("epsilon", ["0", "1e-9", "0.3", "40", "1e6"])
def test_events_without_a_curve(epsilon: str) -> None:
    """N pure events: nothing from N·ε on, and below it what the binomial sum says."""
    for times in (1, 3):
        [pair] = pairs_of(PureDP(epsilon), ADD_REMOVE)
        total = Decimal(epsilon) * times
        assert Composition([(pair, times)]).delta(total * Decimal("1.0001")) < Decimal("1e-9")
        found = Composition([(pair, times)]).epsilon(Decimal("1e-12"))
        assert found is not None
        assert found <= total * Decimal("1.00001")


def test_one_event_is_itself() -> None:
    [laplace] = pairs_of(DiscreteLaplace("2", 1), ADD_REMOVE)
    falls = math.exp(-0.5)
    for epsilon in (0.0, 0.1, 0.4):
        true = (1 - math.exp(epsilon) * falls) / (1 + falls)
        found = float(Composition([(laplace, 1)]).delta(Decimal(str(epsilon))))
        assert true <= found <= true * 1.0001 + 1e-12
    [known] = pairs_of(ApproximateDP("0.5", "1e-3"), ADD_REMOVE)
    assert Composition([(known, 1)]).delta(Decimal("0.5001")) == Decimal("0.00100001")


@pytest.mark.parametrize(("rate", "share"), [("1e-4", "1.001"), ("1e-5", "1.001")])
def test_many_places(rate: str, share: str) -> None:
    epsilon = Decimal(rate)
    true = delta_remove(20, rate, epsilon).delta
    assert true <= composition(20, rate, 1).delta(epsilon) <= true * Decimal(share)


def test_places_beyond_reach_are_one_block() -> None:
    """k/β = 2·10⁷ places are too many; those not told apart are taken from above."""
    found = composition(20, "1e-6", 1).delta(Decimal("1e-6"))
    assert delta_remove(20, "1e-6", "1e-6").delta <= found < Decimal("1e-6")


def test_replace_one_is_one_and_one_reversed() -> None:
    event = SampledSuppression(20, "0.1")
    [out, back] = pairs_of(event, REPLACE_ONE)
    assert (out.losses == -back.losses).all()
    assert (
        Composition([(out, 1), (back, 1)]).delta(Decimal("0.5"))
        > delta_remove(20, "0.1", "0.5").delta
    )


def test_groups_have_a_pair_for_sampled_suppression_only() -> None:
    with pytest.raises(DomainError, match="group must be 1, unless all events are SampledSupp"):
        pairs_of(PureDP(1), ADD_REMOVE, 2)
    with pytest.raises(DomainError, match=r"event must be one of ApproximateDP, .*found 'noise'"):
        pairs_of("noise", ADD_REMOVE)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="neighbours must be replace_one for randomised"):
        pairs_of(RandomisedResponse("0.5", 2), ADD_REMOVE)
    for group in (2, 25):
        [pair] = pairs_of(SampledSuppression(20, "0.1"), ADD_REMOVE, group)
        assert pair.only_first > 0


def test_the_noise_of_the_transforms_is_bounded_as_the_module_says() -> None:
    """8u·log₂n there, as much back, 32u for a power; of the 2-norm of what is transformed."""
    [pair] = pairs_of(SampledSuppression(20, "0.1"), ADD_REMOVE)
    for times in (1, 2):
        total = losses._LossSum([(pair, times)])
        law = total._law(total._cumulants.at(0.0), 0.5)
        unit = 2.0**-53 * (16 * math.log2(len(law.masses)) + 32)
        alone = losses._LossSum([(pair, 1)])._law(total._cumulants.at(0.0), 0.5)
        if times == 1:
            assert law.noise == pytest.approx(losses._length(alone.masses) * unit, rel=1e-6)
        assert law.noise >= times * losses._length(law.masses) * unit


def test_what_happens_at_least_once() -> None:
    once = losses._at_least_once
    assert once([]) == 0
    assert once([(Decimal(1), 1), (Decimal("0.5"), 2)]) == 1
    assert once([(Decimal(2), 1)]) == 1
    assert 0 <= once([(Decimal("0.5"), 2)]) - Decimal("0.75") < Decimal("1e-50")
    for mass in ("1e-19", "1e-20", "1e-21", "1e-40"):
        true = 3 * Decimal(mass)  # less its square, at most
        assert true * (1 - 3 * Decimal(mass)) <= once([(Decimal(mass), 3)]) <= true


def test_an_epsilon_next_to_the_largest_loss_is_not_below_it() -> None:
    """Where δ is so small that no smaller ε will do, whatever its last digits are."""
    for epsilon in ("0.5", "0.5000000001", "3.1415926535"):
        for times in (1, 3):
            [pair] = pairs_of(PureDP(epsilon), ADD_REMOVE)
            found = Composition([(pair, times)]).epsilon(Decimal("1e-40"))
            assert found is not None
            assert (
                Decimal(epsilon) * times <= found <= Decimal(epsilon) * times * Decimal("1.00001")
            )


@pytest.mark.parametrize(
    ("step", "loss"),
    [
        # Beside a multiple of the step, where rounding brings the share out of [0, 1].
        (0.06619008756958204, -15.951811104269273),
        (1.0925659094779733e-05, -0.00781184625276751),
        (0.004923916379268745, 5.1996556965077945),
        (8.535251969335613e-05, 0.02441082063229985),
    ],
)
def test_an_atom_beside_a_point_of_the_grid_keeps_its_mass(step: float, loss: float) -> None:
    pair = Pair(np.array([loss]), np.array([math.log(0.25)]), Decimal(0), Decimal(0))
    grid = losses._OnGrid.of(pair, step)
    assert np.exp(grid.logs).sum() == pytest.approx(0.25, rel=1e-12)
    under_second = np.exp(grid.logs - grid.at * step).sum()
    assert under_second == pytest.approx(0.25 * math.exp(-loss), rel=1e-11)


def test_nothing_is_met_at_the_mass_that_is_certain():
    [pair] = pairs_of(SampledSuppression(20, "0.1"), ADD_REMOVE)
    fifty = Composition([(pair, 50)])
    assert 0 < fifty.certain < fifty.delta(Decimal(5))
    assert not fifty.meets(Decimal(5), fifty.certain)
    assert fifty.meets(Decimal(5), 2 * fifty.delta(Decimal(5)))


def test_one_moment_proves_what_has_room_and_no_law_is_convolved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def convolved(*_: object) -> None:
        raise AssertionError("a law was convolved")

    monkeypatch.setattr(losses._LossSum, "_law", convolved)
    assert composition(20, "0.1", 62).meets(Decimal(3), Decimal("5e-7"))
    with pytest.raises(AssertionError, match="convolved"):
        composition(20, "0.1", 62).meets(Decimal("0.5"), Decimal("5e-7"))


@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.5", "1", "2"])
@pytest.mark.parametrize("times", [1, 30, 1000])
def test_a_moment_is_never_below_what_is_convolved(times: int, epsilon: str) -> None:
    [pair] = pairs_of(SampledSuppression(20, "0.1"), ADD_REMOVE)
    total = losses._LossSum([(pair, times)])
    at = float(epsilon)
    theta = total._cumulants.where(losses._mean_reaches(at)).theta
    assert total._by_moment(theta, at) * Decimal("1.00001") >= total.delta(at)


def test_beyond_the_largest_loss_only_what_is_certain_counts() -> None:
    [pair] = pairs_of(ApproximateDP(1, Decimal("1e-9")), ADD_REMOVE)
    twice = Composition([(pair, 2)])
    assert twice.meets(Decimal(3), Decimal("2.1e-9"))
    assert not twice.meets(Decimal(3), Decimal("1.9e-9"))


def test_a_symmetric_pair_is_the_same_both_ways() -> None:
    for event in (PureDP(2), ApproximateDP(Decimal("0.3"), Decimal("1e-6"))):
        [pair] = pairs_of(event, ADD_REMOVE)
        assert pair.is_symmetric
        other = pair.reversed()
        assert sorted(other.losses) == sorted(pair.losses)
        assert other.log_masses[::-1] == pytest.approx(pair.log_masses, abs=1e-12)
        assert other.only_first == other.only_second
    [pair] = pairs_of(SampledSuppression(20, "0.1"), ADD_REMOVE)
    assert not pair.is_symmetric
