"""The rule that keeps a limit whatever is chosen: its shares, its costs, its chains."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal, localcontext

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import dlaplace, nbinom

from policy_engine.accounting.adaptive import (
    CertifiedEvent,
    Cost,
    Plan,
    Reach,
    cost_of,
    holds_chain,
    plan_for,
)
from policy_engine.accounting.composition import MOST_EVENTS, Question, Tight
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
)
from policy_engine.errors import DomainError

ONE, SMALL, NONE = Decimal(1), Decimal("1e-6"), Decimal(0)
TYPICAL = CertifiedEvent(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.64e-11"))
OPAQUE = CertifiedEvent(ApproximateDP("0.5", "5e-7"), Decimal("0.5"), Decimal("5e-7"))
NOTIONS = [ADD_REMOVE, REPLACE_ONE]

Floats = npt.NDArray[np.float64]


def plan(
    first: CertifiedEvent = TYPICAL,
    epsilon: Decimal = ONE,
    delta: Decimal = SMALL,
    notion: str = ADD_REMOVE,
) -> Plan:
    return plan_for(first, epsilon, delta, notion)


def shares(found: Plan) -> mpmath.mpf:
    """What all ways to end amount to."""
    total = mpmath.mpf(str(found.chain)) + mpmath.mpf(str(found.mass)) + mpmath.mpf(str(found.sum))
    for order, scale in zip(found.orders, found.scales, strict=True):
        theta = mpmath.mpf(str(order))
        peak = theta**theta / (1 + theta) ** (1 + theta)
        total += peak * mpmath.exp(mpmath.mpf(str(scale)) - theta * mpmath.mpf(str(found.epsilon)))
    return total


@pytest.mark.parametrize("delta", ["0", "1e-300", "3e-7", "0.01", "0.9", "1"])
@pytest.mark.parametrize("epsilon", ["0", "1e-200", "1e-6", "0.1", "7", "1e9"])
@pytest.mark.parametrize("first", [TYPICAL, OPAQUE, CertifiedEvent(PureDP(1), ONE, NONE)])
def test_the_shares_are_at_most_the_delta_of_the_limit(
    first: CertifiedEvent, epsilon: str, delta: str
) -> None:
    with mpmath.workdps(60), localcontext(Context(prec=9, rounding=ROUND_FLOOR)):
        assert shares(plan(first, Decimal(epsilon), Decimal(delta))) <= mpmath.mpf(
            delta
        ) + mpmath.mpf("1e-50")


def test_hardly_any_of_the_limit_is_given_to_nobody() -> None:
    with mpmath.workdps(60):
        assert shares(plan()) > mpmath.mpf("0.9999e-6")


def test_a_first_release_of_the_whole_limit_gets_all_of_it() -> None:
    whole = CertifiedEvent(SampledSuppression(17, "0.3"), ONE, Decimal("9.03e-7"))
    found = plan(whole)
    assert Decimal("9.02e-7") < found.chain <= Decimal("9.03e-7")
    assert holds_chain(whole, 1, found, ADD_REMOVE)
    assert not holds_chain(whole, 2, found, ADD_REMOVE)
    assert found.mass < Decimal("6e-8")


def test_a_first_release_without_a_curve_leaves_the_sum_of_certificates() -> None:
    assert plan(OPAQUE) == Plan(ONE, SMALL, NONE, NONE, SMALL)
    assert not holds_chain(OPAQUE, 1, plan(OPAQUE), ADD_REMOVE)
    slight = CertifiedEvent(ApproximateDP("0.1", "1e-9"), Decimal("0.1"), Decimal("1e-9"))
    assert plan(slight).orders


@pytest.mark.parametrize(("epsilon", "delta"), [("0", "1e-6"), ("1e-6", "1e-6"), ("1e9", "1e-6")])
def test_no_orders_where_they_would_be_useless(epsilon: str, delta: str) -> None:
    found = plan(TYPICAL, Decimal(epsilon), Decimal(delta))
    assert (found.orders, found.scales, found.mass) == ((), (), NONE)
    assert found.sum == Decimal("5e-7")
    assert cost_of(PureDP(1), found, ADD_REMOVE) == Cost(NONE, ())
    assert not found.pays(Cost(NONE, ()))


def test_errors() -> None:
    with pytest.raises(DomainError, match=r"delta must be a number from 0 to 1, found 1\.1"):
        plan(TYPICAL, ONE, Decimal("1.1"))
    with pytest.raises(DomainError, match="epsilon must be"):
        plan(TYPICAL, Decimal(-1))
    with pytest.raises(DomainError, match="neighbours must be"):
        plan(TYPICAL, notion="both")
    with pytest.raises(DomainError, match="neighbours must be replace_one"):
        cost_of(RandomisedResponse("0.5", 2), plan(), ADD_REMOVE)


# Costs


def laws(event: Event) -> tuple[Floats, Floats, float]:
    """The masses of outcomes under both laws, and what neither lists: only one of them has it."""
    if isinstance(event, SampledSuppression):
        place = nbinom(event.k, float(event.rate)).pmf(np.arange(2_000))
        return place[1:], place[:-1], float(place[0])
    if isinstance(event, DiscreteLaplace):
        noise = dlaplace(1 / float(event.scale)).pmf(np.arange(-300, 301))
        return noise[event.sensitivity :], noise[: -event.sensitivity], 0.0
    assert isinstance(event, PureDP | ApproximateDP)
    ratio, lost = math.exp(float(event.epsilon)), float(getattr(event, "delta", 0))
    high, low = (1 - lost) * ratio / (1 + ratio), (1 - lost) / (1 + ratio)
    return np.array([high, low]), np.array([low, high]), lost


def clipped(first: Floats, second: Floats, only: float, clip: float, theta: float) -> Floats:
    """The mass set aside at λ, and K of what is left."""
    most = math.exp(clip) * second
    kept = np.minimum(first, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(kept > 0, kept * (kept / second) ** theta, 0.0)
    return np.array([only + (first - kept).sum(), max(0.0, math.log(terms.sum()))])


EVENTS: list[Event] = [
    SampledSuppression(3, "0.3"),
    SampledSuppression(20, "0.1"),
    PureDP("0.3"),
    ApproximateDP("0.2", "1e-7"),
    DiscreteLaplace("4", 2),
]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_a_cost_is_that_of_some_clip_from_above(event: Event, notion: str) -> None:
    """By direct sums over all outcomes: at one clip, mass and scales are those of the cost."""
    found_plan = plan(epsilon=Decimal(2), delta=Decimal("1e-5"), notion=notion)
    cost = cost_of(event, found_plan, notion)
    found = np.array([float(cost.mass), *map(float, cost.scales)])
    first, second, only = laws(event)
    curved = isinstance(event, SampledSuppression)
    matches = 0
    for part in range(1, 121):
        numbers = []
        for order in map(float, found_plan.orders):
            there = clipped(first, second, only, part / 50, order)
            back = clipped(second, first, 0.0 if curved else only, part / 50, order)
            twice = curved and notion == REPLACE_ONE
            numbers.append(there + back if twice else np.maximum(there, back))
        true = np.array([numbers[0][0], *(scale for _, scale in numbers)])
        # 5 digits, rounded up; the slacks are shares of 1e-8 and of 1e-13.
        above = (found >= true * (1 - 1e-9)).all()
        matches += above and (found <= true * 1.0002 + [2e-13, 3e-8, 3e-8]).all()
    assert matches


def test_a_mass_that_every_clip_leaves_is_a_cost() -> None:
    found = cost_of(ApproximateDP("0.2", "1e-7"), plan(), ADD_REMOVE)
    assert found.mass == Decimal("1e-7")


def test_an_order_that_cannot_pay_is_no_reason_to_choose() -> None:
    poor = Plan(ONE, SMALL, NONE, NONE, NONE, (Decimal(20),), (Decimal(-1),))
    assert not poor.pays(cost_of(PureDP("0.1"), poor, ADD_REMOVE))


def test_costs_add_up_and_the_worst_is_taken() -> None:
    one, other = Cost(ONE, (NONE, SMALL)), Cost(SMALL, (ONE, NONE))
    assert Cost.total([(one, 2), (other, 1)], 2) == Cost(2 + SMALL, (ONE, 2 * SMALL))
    assert Cost.worst([one, other]) == Cost(ONE, (ONE, SMALL))


def test_a_plan_pays_by_any_order_but_not_beyond_its_mass() -> None:
    two = Plan(ONE, SMALL, NONE, SMALL, NONE, (ONE, Decimal(2)), (ONE, Decimal(2)))
    assert two.pays(Cost(SMALL, (Decimal(5), Decimal(2))))
    assert not two.pays(Cost(SMALL, (Decimal(5), Decimal("2.1"))))
    assert not two.pays(Cost(2 * SMALL, (NONE, NONE)))


# Chains


def test_a_chain_is_as_long_as_its_share_allows() -> None:
    found = plan()
    assert holds_chain(TYPICAL, 71, found, ADD_REMOVE)
    assert not holds_chain(TYPICAL, 72, found, ADD_REMOVE)
    assert Tight().delta(((TYPICAL.event, 71),), ONE, Question()) <= found.chain
    assert not holds_chain(TYPICAL, MOST_EVENTS + 1, found, ADD_REMOVE)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_a_chain_gets_what_the_sum_of_certificates_admits(parts: int, notion: str) -> None:
    shared = CertifiedEvent(ApproximateDP(ONE / parts, "1e-7"), ONE / parts, Decimal("1e-7"))
    limit = parts * Decimal("1e-7")
    found = plan(shared, ONE, limit, notion)
    assert found.sum == limit  # nothing else is known of these
    curved = CertifiedEvent(SampledSuppression(5, "0.1"), Decimal("0.5"), Decimal("3.5e-4"))
    found = plan(curved, ONE, Decimal("7e-4"), notion)
    assert holds_chain(curved, 2, found, notion)


def test_one_whose_certificate_is_beyond_the_limit_is_taken_by_its_curve() -> None:
    beyond = CertifiedEvent(SampledSuppression(20, "0.1"), Decimal(2), Decimal("1e-30"))
    assert holds_chain(beyond, 1, plan(beyond), ADD_REMOVE)
    assert holds_chain(beyond, 2, plan(beyond), ADD_REMOVE)
    too_much = CertifiedEvent(SampledSuppression(3, "0.3"), Decimal(2), Decimal("1e-3"))
    assert not holds_chain(too_much, 1, plan(too_much), ADD_REMOVE)
    dear = CertifiedEvent(SampledSuppression(17, "0.3"), Decimal(2), Decimal("1e-30"))
    assert holds_chain(dear, 1, plan(dear), ADD_REMOVE)
    assert plan(dear).chain > Decimal("9e-7")


def test_what_an_event_covers() -> None:
    def covers(event: Event, other: Event) -> bool:
        return CertifiedEvent(event, ONE, NONE).covers(other)

    assert covers(SampledSuppression(20, "0.1"), SampledSuppression(21, "0.05"))
    assert not covers(SampledSuppression(20, "0.1"), SampledSuppression(21, "0.11"))
    assert not covers(SampledSuppression(20, "0.1"), SampledSuppression(19, "0.05"))
    assert covers(PureDP(1), PureDP("0.5"))
    assert not covers(PureDP("0.5"), PureDP(1))
    assert covers(ApproximateDP(1, "1e-6"), ApproximateDP("0.5", "1e-6"))
    assert not covers(ApproximateDP(1, "1e-6"), ApproximateDP(2, "1e-6"))
    assert not covers(ApproximateDP(1, "1e-6"), ApproximateDP(1, "2e-6"))
    assert covers(DiscreteLaplace(2), DiscreteLaplace(2))
    assert not covers(DiscreteLaplace(2), DiscreteLaplace(3))
    assert not covers(PureDP(1), ApproximateDP("0.1", "1e-9"))


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("other", [(20, "0.05"), (25, "0.1"), (40, "0.02")])
def test_what_is_covered_costs_no_more(other: tuple[int, str], notion: str) -> None:
    for times in (1, 10):
        for epsilon in ("0", "0.1", "0.5", "1"):
            more, less = (
                Tight().delta(
                    ((SampledSuppression(*event), times),), Decimal(epsilon), Question(notion)
                )
                for event in ((20, "0.1"), other)
            )
            assert less <= more


def test_reach_is_found_by_few_questions() -> None:
    asked: list[int] = []

    def holds(times: int) -> bool:
        asked.append(times)
        return times <= 71

    known = Reach()
    for times in range(1, 80):
        known = known.towards(times, holds)
        assert known.holds >= times if times <= 71 else known.fails <= times
    assert known == Reach(71, 72)
    assert len(asked) < 20


# Why masses have a share of their own


def test_one_share_for_moments_and_masses_would_not_hold() -> None:
    """c·e^{ΣK − θε} + Σm ≤ δ on every path, and yet the whole is worse than (ε, δ)."""
    theta, epsilon = 20.0, 1.0
    peak = math.exp(theta * math.log(theta) - (1 + theta) * math.log1p(theta))
    high = 1 / (1 + math.exp(-0.5))
    first = [(0.5, high), (-0.5, 1 - high)]
    # After a loss of 0.5: one rare loss, as large as is worst for θ.
    loss, chance = epsilon - 0.5 + math.log1p(1 / theta), 0.01
    rest = math.log((1 - chance) / (1 - chance * math.exp(-loss)))
    second = [(loss, chance), (rest, 1 - chance)]

    def scale(law: list[tuple[float, float]]) -> float:
        return math.log(sum(mass * math.exp(theta * loss) for loss, mass in law))

    def bound(scales: float) -> float:
        return peak * math.exp(scales - theta * epsilon)

    share = bound(scale(first) + scale(second))
    aside = share - bound(scale(first))  # after a loss of −0.5: nothing but a mass
    true = high * chance * -math.expm1(epsilon - 0.5 - loss) + (1 - high) * aside
    assert true > 1.3 * share


# What a list costs by its moments


@pytest.mark.parametrize("times", [1, 10, 40])
def test_a_list_costs_no_more_than_its_moments_say(times: int) -> None:
    found = plan()
    cost = Cost.total([(cost_of(TYPICAL.event, found, ADD_REMOVE), times)], 2)
    charges = ((TYPICAL.event, times),)
    delta, epsilon = found.delta_of(cost), found.epsilon_of(cost)
    true = Tight().epsilon(charges, SMALL, Question())
    assert epsilon is not None
    assert true is not None
    assert Tight().delta(charges, ONE, Question()) <= delta <= SMALL
    assert true <= epsilon <= 1


def test_where_moments_say_nothing() -> None:
    assert plan().epsilon_of(Cost(SMALL, (NONE, NONE))) is None
    assert plan(OPAQUE).epsilon_of(Cost(NONE, ())) is None
    assert plan(OPAQUE).delta_of(Cost(NONE, ())) == 1
