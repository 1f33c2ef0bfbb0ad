"""The second route: a δ that is too small is refused, even if the accountant is wrong."""

from __future__ import annotations

import json
import random
from decimal import Decimal, localcontext
from pathlib import Path

import pytest

from policy_engine.accounting.domain import claimed
from policy_engine.accounting.exact import delta_exact
from policy_engine.attest import release_check
from policy_engine.attest.release_check import check_numbers
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Native
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "unit" / "accounting" / "reference_values.json").read_text()
)


SEX = Shown("sex", Column("sex", Type("text")), Keep())


def stated(k, rate, epsilon, delta, neighbours="add_remove"):
    """A certificate that states just these numbers, true or not."""
    law = Native(Decimal(str(rate)), k)
    claim = Claim(Relation(("main", "people")), Rows(), law, (SEX,))
    promise = Bounded(Decimal(str(epsilon)), Decimal(str(delta)), neighbours, law.rate)
    return vouched("SELECT 1", claim, "duckdb", Terms("p", "", "people", promise))


@pytest.fixture
def no_accountant(monkeypatch):
    """An accountant that finds every δ large enough."""
    monkeypatch.setattr(release_check, "_least", lambda *_: Decimal("1e-999999"))


def lowered(delta, share):
    with localcontext(prec=60):
        return Decimal(str(delta)) * (1 - Decimal(share))


def grid(seed, size):
    """Certificates of all kinds: k up to 100, rates from 0.001 to 0.9, ε from 0.001 to 4."""
    chance = random.Random(seed)
    for _ in range(size):
        rate = f"{10 ** chance.uniform(-3, -0.046):.4f}"
        yield chance.randint(2, 100), rate, f"{10 ** chance.uniform(-3, 0.6):.4f}"


def test_both_routes_agree_on_a_random_grid():
    for k, rate, epsilon in grid(1, 60):
        bound = delta_exact(k, rate, epsilon).delta
        found = check_numbers(stated(k, rate, epsilon, claimed(bound)))
        assert not found.reasons and not found.unchecked
        assert ": recomputed [EXACT], by brute force: " in found.checked[0]


def test_brute_force_alone_refuses_what_is_too_small(no_accountant):
    for k, rate, epsilon in grid(2, 60):
        true = delta_exact(k, rate, epsilon).delta
        assert not check_numbers(stated(k, rate, epsilon, true)).reasons
        found = check_numbers(stated(k, rate, epsilon, lowered(true, "1e-10")))
        assert "by brute force δ is" in found.reasons[0]


def test_brute_force_alone_refuses_less_than_the_agreed_values(no_accountant):
    for row in REFERENCE:
        given = row["k"], row["beta"], row["epsilon"]
        found = check_numbers(stated(*given, lowered(row["delta_exact"], "1e-9")))
        assert "by brute force δ is" in found.reasons[0], row
        found = check_numbers(stated(*given, lowered(row["delta_exact"], "-1e-9")))
        assert not found.reasons, row


def test_brute_force_alone_refuses_under_replace_one(no_accountant):
    for k, rate, epsilon in [(20, "0.1", "0.5"), (20, "0.4", "1"), (60, "0.05", "0.4")]:
        true = delta_exact(k, rate, epsilon, "replace_one").delta
        assert not check_numbers(stated(k, rate, epsilon, true, "replace_one")).reasons
        single = delta_exact(k, rate, epsilon).delta
        for small in (single, lowered(true, "2e-3")):
            found = check_numbers(stated(k, rate, epsilon, small, "replace_one"))
            assert "by brute force δ is" in found.reasons[0]


def test_the_accountant_alone_refuses_what_is_too_small(monkeypatch):
    monkeypatch.setattr(release_check, "recomputed", lambda *_: None)
    for k, rate, epsilon in grid(3, 20):
        true = delta_exact(k, rate, epsilon).delta
        found = check_numbers(stated(k, rate, epsilon, claimed(true)))
        assert not found.reasons
        assert found.unchecked == (release_check.NOT_BY_BRUTE_FORCE,)
        found = check_numbers(stated(k, rate, epsilon, lowered(true, "1e-10")))
        assert ": the true δ is" in found.reasons[0]


def test_what_was_not_summed_is_said():
    true = claimed(delta_exact(60, "0.05", "0.4", "replace_one").delta)
    found = check_numbers(stated(60, "0.05", "0.4", true, "replace_one"))
    assert found.unchecked == (
        "δ by brute force for all pairs of cells: the pairs of cells around the best were summed;"
        " for the others its δ is the accountant's word alone",
    )
    assert not found.is_recomputed
    true = claimed(delta_exact(2000, "0.05", "0.4", "replace_one").delta)
    assert check_numbers(stated(2000, "0.05", "0.4", true, "replace_one")).unchecked == (
        release_check.NOT_BY_BRUTE_FORCE,
    )


@pytest.mark.parametrize(("k", "rate"), [(10**6, "0.000001"), (200, "0.001"), (10**6, "0.999")])
def test_a_delta_that_is_stated_as_the_least_one(k, rate):
    true = delta_exact(k, rate, "0.5").delta
    least = max(claimed(true), Decimal("1e-300"))
    assert not check_numbers(stated(k, rate, "0.5", least)).reasons
