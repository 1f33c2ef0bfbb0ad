"""Every pair of the frontier holds, is the greatest, and is beaten by no other."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from itertools import pairwise

import pytest

from policy_engine.accounting import frontier as frontier_module
from policy_engine.accounting.calibration import greatest_rate, least_k
from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.frontier import SamplePair, frontier, least_group
from policy_engine.errors import DomainError

DIGITS = Context(prec=6, rounding=ROUND_FLOOR)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("4", "1e-4"), ("0.1", "1e-9")])
def test_every_rate_is_the_greatest_and_rises(epsilon: str, delta: str) -> None:
    pairs = frontier(epsilon, delta)
    assert [pair.k for pair in pairs] == list(range(2, 501))
    assert all(one.rate < other.rate for one, other in pairwise(pairs))
    for pair in pairs:
        assert delta_exact(pair.k, pair.rate, epsilon).delta <= Decimal(delta)
    for pair in pairs[::45]:
        greatest = greatest_rate(epsilon, delta, pair.k)
        assert pair.rate == DIGITS.plus(greatest)
        # No smaller k does at this rate, as far as the curve beside it tells.
        assert least_k(epsilon, delta, pair.rate) == pair.k


@pytest.mark.parametrize(
    ("neighbours", "releases"),
    [
        ("replace_one", 1),
        ("add_remove", 3),
        pytest.param("replace_one", 2, marks=pytest.mark.slow),
    ],
)
def test_several_releases_and_replaced_people(neighbours: str, releases: int) -> None:
    pairs = frontier("1", "1e-4", neighbours, releases, most_k=6)
    assert [pair.k for pair in pairs] == list(range(2, 7))
    assert all(one.rate < other.rate for one, other in pairwise(pairs))
    for pair in pairs:
        event = SampledSuppression(pair.k, pair.rate)
        if releases == 1:
            spent = delta_exact(pair.k, pair.rate, "1", neighbours).delta
            greatest = greatest_rate("1", "1e-4", pair.k, neighbours)
            assert greatest * Decimal("0.999") < pair.rate <= greatest
        else:
            spent = Accountant(((event, releases),), neighbours).delta("1")
        assert spent <= Decimal("1e-4")
        assert len(pair.rate.as_tuple().digits) <= 5
    if releases > 1:
        more = SampledSuppression(pairs[-1].k, pairs[-1].rate * Decimal("1.001"))
        spent = Accountant(((more, releases),), neighbours).delta("1")
        assert spent > Decimal("1e-4")


def test_the_default_k_is_smaller_where_it_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier_module, "MOST_K_SLOW", 5)
    monkeypatch.setattr(frontier_module, "MOST_K_SLOWEST", 4)
    assert frontier("1", "1e-3", "replace_one")[-1].k == 5
    assert frontier("1", "1e-3", "add_remove", 2)[-1].k == 4


def test_it_ends_with_the_largest_rate() -> None:
    assert frontier("9", "0.9999999") == (SamplePair(2, Decimal("0.999999")),)
    assert frontier("9", "0.9999999", "replace_one") == (SamplePair(2, Decimal("0.99999")),)


def test_a_pair_that_does_not_rise_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        SamplePair(2, Decimal("0.1")),
        SamplePair(3, Decimal("0.1")),
        SamplePair(4, Decimal("0.2")),
    ]
    monkeypatch.setattr(frontier_module, "_pairs", lambda *_: iter(made))
    assert frontier("1", "1e-6") == (made[0], made[2])


def test_a_rate_that_fails_gives_way_to_the_one_below(monkeypatch: pytest.MonkeyPatch) -> None:
    before = frontier("1", "1e-6", most_k=20)
    found = frontier_module.crossing
    monkeypatch.setattr(frontier_module, "crossing", lambda *given: found(*given) + 2.5e-6)
    assert frontier("1", "1e-6", most_k=20) == before


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_k_without_a_rate_is_left_out(neighbours: str) -> None:
    pairs = frontier("1", "1e-700", neighbours, most_k=4)
    assert [pair.k for pair in pairs] == [3, 4]
    assert pairs[0].rate < Decimal("1e-230")
    with pytest.raises(DomainError, match=r"delta must be larger for a rate of at least 1E-300"):
        frontier("1", "1e-700", neighbours, most_k=2)


@pytest.mark.parametrize("epsilon", ["0", "1e-300", "1000000000"])
def test_the_ends_of_epsilon(epsilon: str) -> None:
    for pair in frontier(epsilon, "1e-6", most_k=6):
        assert pair.rate == DIGITS.plus(greatest_rate(epsilon, "1e-6", pair.k))


@pytest.mark.parametrize("most_k", [1, 10_001, True, 2.5, "5"])
def test_the_domain_of_the_largest_k(most_k: object) -> None:
    with pytest.raises(DomainError, match="most_k must be an integer from 2 to 10000, found"):
        frontier("1", "1e-6", most_k=most_k)  # type: ignore[arg-type]


def test_other_domains() -> None:
    with pytest.raises(DomainError, match="delta must be a number strictly between 0 and 1"):
        frontier("1", "0")
    with pytest.raises(DomainError, match="releases must be an integer of at least 1"):
        frontier("1", "1e-6", releases=0)
    with pytest.raises(DomainError, match="neighbours must be add_remove or replace_one"):
        frontier("1", "1e-6", "both")


def test_the_least_group() -> None:
    best = least_group(frontier("1", "1e-6"))
    assert best == SamplePair(14, Decimal("0.253735"))
    assert best.group == 56
    assert SamplePair(2, Decimal("0.5")).group == 4
    assert least_group((SamplePair(2, Decimal("0.1")), SamplePair(4, Decimal("0.2")))).k == 2
    with pytest.raises(DomainError, match="pairs must be at least one pair, found none"):
        least_group(())


def test_the_largest_k_that_may_be_looked_at() -> None:
    """Every rate is met from the first k on, so none of the others is looked at."""
    [pair] = frontier("30", "0.99999999", most_k=10_000)
    assert pair == SamplePair(2, Decimal("0.999999"))
    with pytest.raises(DomainError, match="most_k must be an integer from 2 to 10000, found 10001"):
        frontier("30", "0.99999999", most_k=10_001)
