"""Solving for ε, k, β, both; and the numbers of a certificate."""

from __future__ import annotations

from decimal import Decimal

import pytest

from policy_engine.accounting.bounds import compose_basic, delta_lqs, epsilon_lqs, group
from policy_engine.accounting.calibration import best_pair, greatest_rate, least_k
from policy_engine.accounting.certificate_numbers import certify_numbers
from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.domain import claimed
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.errors import DomainError

NOTIONS = ["add_remove", "replace_one"]


@pytest.mark.parametrize("neighbours", NOTIONS)
def test_epsilon_is_least(neighbours: str) -> None:
    step = Decimal("1e-12") if neighbours == "add_remove" else Decimal("1e-5")
    found = epsilon_exact(20, "0.1", "1e-9", neighbours)
    assert delta_exact(20, "0.1", found, neighbours).delta <= Decimal("1e-9")
    assert delta_exact(20, "0.1", found - step, neighbours).delta > Decimal("1e-9")


def test_epsilon_of_a_delta_that_is_just_reached() -> None:
    assert epsilon_exact(20, "0.1", delta_exact(20, "0.1", "0.5").delta) == Decimal("0.5")
    just = delta_exact(5, "0.2", "0.25", "replace_one").delta
    assert epsilon_exact(5, "0.2", just, "replace_one") == Decimal("0.25")


def test_epsilon_at_the_ends() -> None:
    assert epsilon_exact(20, "0.1", "0.5") == 0
    assert delta_exact(20, "0.1", epsilon_exact(20, "0.1", "1e-20")).delta == Decimal("1e-20")
    with pytest.raises(DomainError, match=r"delta must be at least rate\*\*k = 0\.998001, found"):
        epsilon_exact(2, "0.999", "0.99")


def together(k: int, rate: object, epsilon: str, neighbours: str, releases: int) -> Decimal:
    """δ of several releases by the accountant."""
    event = SampledSuppression(k, rate)  # type: ignore[arg-type]
    return Accountant(((event, releases),), neighbours).delta(epsilon)


@pytest.mark.parametrize(
    ("neighbours", "releases"),
    [("add_remove", 1), ("add_remove", 3), ("add_remove", 50), ("replace_one", 1)],
)
def test_k_is_least(neighbours: str, releases: int) -> None:
    k = least_k("0.5", "1e-9", "0.1", neighbours, releases)
    assert together(k, "0.1", "0.5", neighbours, releases) <= Decimal("1e-9")
    # Not by bisection: no smaller k will do.
    for smaller in range(2, k):
        assert together(smaller, "0.1", "0.5", neighbours, releases) > Decimal("1e-9")


@pytest.mark.parametrize("neighbours", NOTIONS)
def test_rate_of_several_releases_is_greatest(neighbours: str) -> None:
    rate = greatest_rate("1", "1e-6", 20, neighbours, releases=4)
    assert len(rate.as_tuple().digits) <= 5
    assert together(20, rate, "1", neighbours, 4) <= Decimal("1.00001e-6")
    following = rate + Decimal("0.00001")
    assert together(20, following, "1", neighbours, 4) > Decimal("0.99999e-6")
    assert rate < greatest_rate("1", "1e-6", 20, neighbours)


def test_several_releases_cost_far_less_than_an_even_share() -> None:
    assert least_k("1", "1e-6", "0.1", releases=50) < least_k("0.02", "2e-8", "0.1") / 5


def test_k_at_the_ends() -> None:
    assert least_k("3", "0.9", "0.1") == 2
    with pytest.raises(DomainError, match=r"epsilon must be larger for k up to 1000000 to reach"):
        least_k("0", "1e-9", "0.5")


@pytest.mark.parametrize(("neighbours", "digits"), [("add_remove", 12), ("replace_one", 5)])
@pytest.mark.parametrize(("epsilon", "delta", "k"), [("0.5", "1e-9", 20), ("0.1", "1e-6", 3)])
def test_rate_is_greatest(neighbours: str, digits: int, epsilon: str, delta: str, k: int) -> None:
    rate = greatest_rate(epsilon, delta, k, neighbours)
    assert len(rate.as_tuple().digits) <= digits
    following = rate + Decimal(1).scaleb(rate.adjusted() - digits + 1)
    assert delta_exact(k, rate, epsilon, neighbours).delta <= Decimal(delta)
    assert delta_exact(k, following, epsilon, neighbours).delta > Decimal(delta)


def test_rate_near_one() -> None:
    assert greatest_rate("9", "0.9999999999999", 2) == Decimal("0.999999999999")


def test_no_rate() -> None:
    with pytest.raises(DomainError, match=r"delta must be larger for a rate of at least 1E-300"):
        greatest_rate("0", "1e-400", 2)


def test_best_pair_is_best() -> None:
    k, rate = best_pair("1", "1e-6")
    assert delta_exact(k, rate, "1").delta <= Decimal("1e-6")
    others = [(other / greatest_rate("1", "1e-6", other), other) for other in range(2, 56)]
    assert min(others) == (k / rate, k)


@pytest.mark.parametrize(
    ("neighbours", "releases"), [("replace_one", 1), ("add_remove", 3), ("add_remove", 20)]
)
def test_best_pair_where_each_look_is_dear(neighbours: str, releases: int) -> None:
    k, rate = best_pair("1", "1e-4", neighbours, releases)
    for other in (k - 1, k + 1, 2 * k):
        assert k / rate <= other / greatest_rate("1", "1e-4", other, neighbours, releases)


def test_no_pair() -> None:
    for releases in (1, 2):
        with pytest.raises(DomainError, match=r"epsilon must be larger for k/rate below 1000000"):
            best_pair("0", "1e-300", releases=releases)


def test_certificate_by_epsilon() -> None:
    one = certify_numbers(20, "0.1", epsilon="0.5")
    assert (one.epsilon, one.delta, one.at_n) == (Decimal("0.5"), Decimal("2.63178346650E-11"), 42)
    assert one.delta_lqs == Decimal("1.60625293619E-9")
    assert (one.rule, one.by_rule, one.delta_generic) == (None, {}, None)
    many = certify_numbers(20, "0.1", epsilon="1.5", releases=3)
    _, basic = compose_basic([("0.5", delta_exact(20, "0.1", "0.5").delta)] * 3)
    assert many.by_rule["basic"] == basic
    assert many.rule == "tight"
    assert many.delta == many.by_rule["tight"] < basic
    assert many.at_n is None
    grouped = certify_numbers(20, "0.1", epsilon="1", group=2)
    assert grouped.delta == claimed(delta_exact(20, "0.1", "1", group=2).delta)
    assert grouped.delta_generic == group("0.5", delta_exact(20, "0.1", "0.5").delta, 2)[1]
    assert certify_numbers(5, "0.4", epsilon="0.5").delta_lqs is None
    assert certify_numbers(5, "0.4", epsilon="1", neighbours="replace_one").delta_lqs is None
    assert certify_numbers(2, "0.9", epsilon="0", releases=9).delta <= 1


def test_certificate_by_delta() -> None:
    one = certify_numbers(20, "0.1", delta="1e-9")
    assert (one.epsilon, one.delta) == (epsilon_exact(20, "0.1", "1e-9"), Decimal("1e-9"))
    many = certify_numbers(20, "0.1", delta="3e-9", releases=3)
    assert many.by_rule["basic"] == compose_basic([(one.epsilon, "1e-9")] * 3)[0]
    assert many.epsilon == min(value for value in many.by_rule.values() if value is not None)
    # Basic composition and [LQS]: fifty times the ε of one release at δ/50.
    fifty = certify_numbers(20, "0.1", delta="1e-6", releases=50)
    assert fifty.epsilon_lqs == 50 * Decimal("0.405465109")
    assert fifty.epsilon <= Decimal("0.82")
    grouped = certify_numbers(20, "0.1", delta="1e-6", group=3, releases=2)
    assert grouped.epsilon_lqs is None
    account = Accountant(((SampledSuppression(20, "0.1"), 2),), group=3)
    assert account.delta(grouped.epsilon) <= Decimal("1.0001e-6")
    assert one.epsilon_lqs is None
    assert certify_numbers(2, "0.5", delta="0.44", releases=2).epsilon_lqs is None


def test_the_papers_bound_beside_a_certificate() -> None:
    """For several releases and units: the generic bound for groups, then the sum."""
    one = delta_lqs(20, "0.1", "0.5")
    assert one is not None
    three = certify_numbers(20, "0.1", epsilon="1.5", releases=3)
    # Rounded up once more on the way.
    added = compose_basic([("0.5", one.delta)] * 3)[1]
    assert three.delta_lqs is not None
    assert added <= three.delta_lqs <= added * (1 + Decimal("1e-11"))
    for k in (17, 18, 19):
        one_of_seven = delta_lqs(k, "0.1", "0.5")
        assert one_of_seven is not None
        seven = certify_numbers(k, "0.1", epsilon="3.5", releases=7).delta_lqs
        assert seven is not None
        assert seven >= one_of_seven.delta * 7
    two = certify_numbers(20, "0.1", epsilon="1", group=2)
    assert two.delta_lqs == group("0.5", one.delta, 2)[1]
    both = certify_numbers(20, "0.1", epsilon="2", group=2, releases=2)
    assert both.delta_lqs == compose_basic([("1", two.delta_lqs)] * 2)[1]
    assert certify_numbers(2, "0.5", epsilon="2.8", group=4).delta_lqs == 1
    twice = certify_numbers(20, "0.1", delta="4e-8", releases=2)
    assert twice.epsilon_lqs == 2 * (epsilon_lqs(20, "0.1", "2e-8") or 0)
    assert certify_numbers(20, "0.1", delta="4e-8", group=2).epsilon_lqs is None


@pytest.mark.parametrize(("epsilon", "delta"), [(None, None), ("1", "1e-9")])
def test_exactly_one_of_epsilon_and_delta(epsilon: str | None, delta: str | None) -> None:
    with pytest.raises(DomainError, match="epsilon, delta must be exactly one given"):
        certify_numbers(20, "0.1", epsilon=epsilon, delta=delta)
