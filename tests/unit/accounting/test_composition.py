"""What every rule of composition owes, and the accountant that takes the least of them."""

from __future__ import annotations

import os
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from itertools import pairwise, product
from typing import ClassVar

import mpmath
import pytest

from policy_engine.accounting.composition import (
    RULES,
    Accountant,
    Basic,
    Charges,
    Optimal,
    Question,
    Rule,
    Tight,
    _scenarios,
    least,
)
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE, upward
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    Partitioned,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
)
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.errors import DomainError

from .brute import Law, cells, divergence, law

SAMPLED = SampledSuppression(3, "0.3")
SMALL = SampledSuppression(2, "0.1")
STEP = 1 if os.environ.get("EVIDENCE") else 2
EPSILONS = [Decimal(text) for text in ("0", "0.1", "0.5", "1", "2", "4")][::STEP]
DELTAS = [Decimal(text) for text in ("0.3", "0.1", "1e-2", "1e-4")][::STEP]
SLACK = 1 + Decimal("1e-5")
"""What two roundings to 6 digits may amount to."""

Account = list[Event]


def laws(event: Event) -> list[tuple[Law, Law]]:
    """The laws of an event with and without a unit, for every size of its cell."""
    match event:
        case SampledSuppression(k=k, rate=rate):
            share = mpmath.mpf(str(rate))
            return [(law(k, n, share), law(k, n - 1, share)) for n in (*range(k, 11), 14)]
        case PureDP(epsilon=epsilon):
            stay = 1 / (1 + mpmath.exp(-mpmath.mpf(str(epsilon))))
            return [({0: stay, 1: 1 - stay}, {0: 1 - stay, 1: stay})]
        case ApproximateDP(epsilon=epsilon, delta=delta):
            [(one, other)] = laws(PureDP(epsilon))
            lost = mpmath.mpf(str(delta))
            kept = [
                {x: (1 - lost) * mass for x, mass in one_law.items()} for one_law in (one, other)
            ]
            return [({**kept[0], 2: lost}, {**kept[1], 3: lost})]
        case DiscreteLaplace(scale=scale, sensitivity=s):
            falls = mpmath.exp(-1 / mpmath.mpf(str(scale)))
            # The ratio is the same for all x ≤ 0 and for all x ≥ s.
            noise = {x: (1 - falls) / (1 + falls) * falls**x for x in range(s + 1)}
            noise |= {0: 1 / (1 + falls), s: falls**s / (1 + falls)}
            return [(noise, {s - x: mass for x, mass in noise.items()})]
        case RandomisedResponse(truth=truth, values=values):
            told = mpmath.mpf(str(truth))
            any_value = dict.fromkeys(range(values), (1 - told) / values)
            return [({**any_value, 0: any_value[0] + told}, {**any_value, 1: any_value[1] + told})]
    raise AssertionError(event)


def exact(account: Account, epsilon: Decimal) -> mpmath.mpf:
    """The largest divergence over all sizes of cells, both directions, outcome by outcome."""
    with mpmath.workdps(40):
        scale, worst = mpmath.mpf(str(epsilon)), mpmath.mpf(0)
        for chosen in product(*map(laws, account)):
            present, absent = cells([p for p, _ in chosen]), cells([q for _, q in chosen])
            there, back = divergence(present, absent, scale), divergence(absent, present, scale)
            worst = max(worst, there, back)
        return worst


def charges(account: Account) -> Charges:
    return Accountant.of(account).events


class RuleContract:
    """Abstract: every rule subclasses it with itself and accounts that it has a statement on."""

    rule: ClassVar[Rule]
    accounts: ClassVar[dict[str, Account]]

    def who(self, account: Account) -> Question:
        responses = any(isinstance(event, RandomisedResponse) for event in account)
        return Question(REPLACE_ONE if responses else ADD_REMOVE)

    def delta(self, account: Account, epsilon: Decimal) -> Decimal | None:
        return self.rule.delta(charges(account), epsilon, self.who(account))

    def epsilon(self, account: Account, delta: Decimal) -> Decimal | None:
        return self.rule.epsilon(charges(account), delta, self.who(account))

    def test_never_below_the_exact_value(self) -> None:
        stated = 0
        for account in self.accounts.values():
            for epsilon in EPSILONS:
                found = self.delta(account, epsilon)
                if found is not None:
                    true = exact(account, epsilon)
                    assert mpmath.mpf(str(found)) >= true * (1 - mpmath.mpf("1e-14"))
                    stated += 1
        assert stated >= len(self.accounts)

    def test_an_epsilon_is_enough(self) -> None:
        for account in self.accounts.values():
            for delta in DELTAS:
                found = self.epsilon(account, delta)
                if found is not None:
                    assert exact(account, found) <= mpmath.mpf(str(delta)) * (
                        1 + mpmath.mpf("1e-14")
                    )

    def test_falls_in_epsilon_and_in_delta(self) -> None:
        for account in self.accounts.values():
            for stated in (
                [self.delta(account, epsilon) for epsilon in EPSILONS],
                [self.epsilon(account, delta) for delta in reversed(DELTAS)],
            ):
                known = [value for value in stated if value is not None]
                # Once a rule has a statement it has one for every larger number.
                assert stated[len(stated) - len(known) :] == known
                for before, after in pairwise(known):
                    assert after <= before * SLACK

    def test_one_event_more_never_lowers(self) -> None:
        for account in self.accounts.values():
            more = [*account, account[0]]
            for epsilon in EPSILONS:
                after, before = self.delta(more, epsilon), self.delta(account, epsilon)
                if after is not None and before is not None:
                    assert after * SLACK >= before
            for delta in DELTAS:
                after, before = self.epsilon(more, delta), self.epsilon(account, delta)
                if after is not None:
                    assert before is not None
                    assert after * SLACK >= before

    def test_order_does_not_matter(self) -> None:
        for account in self.accounts.values():
            for other in (account[::-1], account[1:] + account[:1]):
                forth, back = Accountant.of(account, REPLACE_ONE), Accountant.of(other, REPLACE_ONE)
                name = self.rule.name
                assert forth.deltas("0.5")[name] == back.deltas("0.5")[name]


MIXED: dict[str, Account] = {
    "two releases": [SAMPLED, SAMPLED],
    "two policies": [SAMPLED, SMALL],
    "noise": [DiscreteLaplace("2", 1), DiscreteLaplace("3", 2)],
    "known bounds": [PureDP("0.5"), ApproximateDP("0.3", "0.01"), PureDP("0.2")],
    "a choice and a release": [PureDP("0.3"), SAMPLED],
    "responses": [RandomisedResponse("0.3", 2), RandomisedResponse("0.5", 3)],
}


class TestBasic(RuleContract):
    rule = Basic()
    accounts = MIXED


class TestTight(RuleContract):
    rule = Tight()
    accounts = MIXED

    def test_as_good_as_the_optimum_where_only_epsilon_and_delta_are_known(self) -> None:
        account: Account = [ApproximateDP("0.2", "1e-8")] * 20
        for epsilon in ("0.5", "1", "2", "3.9"):
            optimal, tight = (
                rule.delta(charges(account), Decimal(epsilon), Question()) for rule in RULES[1:]
            )
            assert tight is not None
            assert optimal is not None
            assert optimal / SLACK <= tight <= optimal * Decimal("1.001")


class TestOptimal(RuleContract):
    rule = Optimal()
    accounts: ClassVar[dict[str, Account]] = {
        "releases": [SAMPLED, SAMPLED],
        "pure": [PureDP("0.5")] * 3,
        "approximate": [ApproximateDP("0.3", "0.01")] * 3,
        "noise": [DiscreteLaplace("2", 1)] * 2,
        "responses": [RandomisedResponse("0.3", 2)] * 3,
    }

    def test_exact_for_the_worst_mechanism(self) -> None:
        account: Account = [ApproximateDP("0.4", "0.02")] * 3
        for epsilon in EPSILONS:
            found = self.delta(account, epsilon)
            true = exact(account, epsilon)
            assert abs(mpmath.mpf(str(found)) - true) <= mpmath.mpf("1e-11") * true

    def test_says_nothing_of_different_events(self) -> None:
        assert self.delta([PureDP("0.1"), PureDP("0.2")], Decimal(1)) is None
        assert self.epsilon([PureDP("0.1"), PureDP("0.2")], Decimal("0.1")) is None
        many: Charges = ((PureDP("0.1"), 4_001),)
        assert self.rule.delta(many, Decimal(1), Question()) is None


def test_fifty_releases() -> None:
    fifty = Accountant.of([SampledSuppression(20, "0.1")] * 50)
    found = fifty.epsilons("1e-6")
    assert found["basic"] == upward(50 * epsilon_exact(20, "0.1", "2e-8"), exact=True)
    assert least(found) == ("tight", fifty.epsilon("1e-6"))
    # Twice the digits of an independent computation in ball arithmetic: 0.809904.
    assert Decimal("0.809904") <= fifty.epsilon("1e-6") <= Decimal("0.8100")


def test_one_release_is_the_curve() -> None:
    one = Accountant.of([SampledSuppression(20, "0.1")])
    assert one.delta("0.5") == delta_exact(20, "0.1", "0.5").delta
    assert one.epsilon("1e-9") == epsilon_exact(20, "0.1", "1e-9")


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
def test_a_group_costs_at_least_one_unit_and_at_most_the_generic_bound(neighbours: str) -> None:
    account: Account = [SAMPLED, SAMPLED, SMALL]
    single = Accountant.of(account, neighbours).delta("2")
    together = Accountant.of(account, neighbours, group=2).delta("2")
    assert single < together
    each = Accountant.of(account, neighbours).delta("1")
    assert together <= each * (1 + Decimal(1).exp()) * Decimal("1.01")
    with pytest.raises(DomainError, match="group must be 1, unless all events are SampledSuppr"):
        Accountant.of([*account, PureDP(1)], neighbours, group=2)


def test_a_small_delta_is_not_what_is_left_of_one() -> None:
    """Near N·ε₀ what is left of 600 pure events is 2.8e-125, and was once claimed to be 0."""
    with mpmath.workdps(60):
        stay = 1 / (1 + mpmath.exp(-mpmath.mpf("0.5")))
        true = stay**600 * (1 - mpmath.exp(-mpmath.mpf("0.1")))
        found = Accountant.of([PureDP("0.5")] * 600).deltas("299.9")
        for name in ("optimal", "tight"):
            assert mpmath.mpf(str(found[name])) >= true
        assert mpmath.mpf(str(found["optimal"])) <= true * (1 + mpmath.mpf("1e-10"))


def test_sums_keep_every_digit_whatever_the_context() -> None:
    account = Accountant.of([PureDP(1), PureDP("1e-30"), ApproximateDP("0.1", "1e-40")])
    with localcontext(Context(prec=3, rounding=ROUND_FLOOR)):
        found = account.epsilons("1e-9")["basic"]
        half = Accountant.of([SAMPLED, SMALL]).deltas("1")["basic"]
    assert found == Decimal("1.10000000001")
    assert half == Accountant.of([SAMPLED, SMALL]).deltas("1")["basic"]


def test_partitions_cost_their_worst_part() -> None:
    parts = Partitioned(((PureDP("0.1"),), (PureDP("0.4"), PureDP("0.3"))))
    assert Accountant.of([parts]).epsilon("1e-30") == Decimal("0.7")
    assert Accountant.of([parts, PureDP(1), parts]).epsilons("1e-30")["basic"] == Decimal("2.4")
    releases = Partitioned(((SAMPLED,), (SAMPLED,), (SMALL,)))
    worst = max(Accountant.of([event]).delta("0.4") for event in (SAMPLED, SMALL))
    assert Accountant.of([releases]).delta("0.4") == worst
    nested = Partitioned(((Partitioned(((PureDP(1),), (PureDP(2),))),), (PureDP("1.5"),)))
    assert Accountant.of([nested]).epsilon("1e-30") == 2


def test_a_part_may_be_worse_at_one_epsilon_only() -> None:
    often, once = [SampledSuppression(30, "0.3")] * 4, [SampledSuppression(5, "0.02")]
    either = Accountant.of([Partitioned((tuple(often), tuple(once)))])
    for epsilon in ("0.2", "2"):
        worst = max(Accountant.of(part).delta(epsilon) for part in (often, once))
        assert either.delta(epsilon) == worst


def test_too_many_ways_to_lie_in_parts() -> None:
    account = [Partitioned(((PureDP(number),), (PureDP(number + 1),))) for number in range(13)]
    with pytest.raises(DomainError, match=r"partitions must be so few .* 4096 ways, found 8192"):
        Accountant.of(account).epsilon("1e-6")


def test_what_is_certain() -> None:
    """So large a group that k of it are sampled for all that digits can tell."""
    assert Accountant(((SampledSuppression(2, "0.9"), 2),), group=50).delta("1") == 1
    assert Accountant(((SampledSuppression(2, "0.9"), 2),), group=50).certain == 1
    assert Accountant(((SampledSuppression(2, "0." + "9" * 28), 2),)).delta("1") == 1


def test_a_delta_beyond_double_precision() -> None:
    for delta in ("1e-290", "1e-305", "1e-350"):
        found = Accountant.of([SampledSuppression(100, "1e-4")] * 2).epsilon(delta)
        assert 0 < found < 10


def test_what_no_epsilon_lowers() -> None:
    with pytest.raises(DomainError, match=r"delta must be above 0\.190000000001, the chance that"):
        Accountant.of([ApproximateDP(0, "0.1")] * 2).epsilon("0.19")
    assert Accountant.of([ApproximateDP(0, "0.1")] * 2).epsilons("0.1901")["basic"] is None
    assert Accountant.of([SampledSuppression(2, "0.5")] * 2).epsilons("0.44")["basic"] is None


def test_refused() -> None:
    with pytest.raises(DomainError, match=r"events must be at least one event .*, found \(\)"):
        Accountant.of([])
    with pytest.raises(DomainError, match="events must be at least one event"):
        Accountant({PureDP(1): 2})  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="events must be pairs of an event and how often it was"):
        Accountant((PureDP(1),))  # type: ignore[arg-type]
    for times in (0, -4, 2.5):
        with pytest.raises(DomainError, match="times must be an integer of at least 1"):
            Accountant(((PureDP(1), 5), (PureDP(1), times)))  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="times must be at most 100000 in total, found more"):
        Accountant(((PureDP(1), 100_001),))
    with pytest.raises(
        DomainError, match=r"event must be one of ApproximateDP, .*found 'gaussian'"
    ):
        Tight().delta((("gaussian", 1),), Decimal(1), Question())  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="event must be one that this accountant knows, found"):
        Accountant.of(["gaussian"]).epsilon("1e-6")  # type: ignore[list-item]
    with pytest.raises(DomainError, match="neighbours must be replace_one for randomised response"):
        Accountant.of([RandomisedResponse("0.5", 2)]).epsilon("1e-6")
    with pytest.raises(DomainError, match="group must be an integer"):
        Accountant.of([PureDP(1)], group=0)
    with pytest.raises(DomainError, match="neighbours must be add_remove or replace_one"):
        Accountant.of([PureDP(1)], "swap")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SampledSuppression(1, "0.1"), "k must be an integer from 2"),
        (lambda: SampledSuppression(2, "1"), "rate must be a number strictly between 0 and 1"),
        (lambda: PureDP("-1"), "epsilon must be a finite number from 0"),
        (lambda: ApproximateDP("1", "0"), "delta must be a number strictly between 0 and 1"),
        (lambda: DiscreteLaplace("0"), "scale must be a number from 1e-9 to 1e9, found 0"),
        (lambda: DiscreteLaplace("1", 0), "sensitivity must be an integer of at least 1"),
        (lambda: DiscreteLaplace("1", 10**6), "sensitivity must be an integer from 1 to 100000"),
        (lambda: RandomisedResponse("1", 2), "truth must be a number from 1e-9 to 1 - 1e-9"),
        (
            lambda: RandomisedResponse("0.5", 1),
            "values must be an integer from 2 to 1000000000, found 1",
        ),
        (lambda: Partitioned(()), "parts must be at least one part, each with"),
        (lambda: Partitioned(((PureDP(1),), ())), "parts must be at least one part, each with"),
        (lambda: DiscreteLaplace("1e-9", 9), "sensitivity must be at most 1000000 times the sca"),
    ],
)
def test_events_refuse_what_is_outside_their_domain(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DomainError, match=message):
        make()


def test_basic_gives_what_is_left_and_no_more() -> None:
    """No curve takes a share: all that is asked for may be spent, and not a bit beyond."""
    basic, who = Basic(), Question()
    pure, lost = ((PureDP("0.5"), 2),), ((ApproximateDP("0.1", "0.3"), 2),)
    assert basic.delta(pure, Decimal(1), who) == 0
    assert basic.delta(pure, Decimal("0.999"), who) is None
    assert basic.epsilon(lost, Decimal("0.6"), who) == Decimal("0.2")
    assert basic.epsilon(lost, Decimal("0.599"), who) is None
    assert basic.delta(lost, Decimal(1), who) == Decimal("0.6")
    assert basic.delta(((ApproximateDP("0.1", "0.3"), 4),), Decimal(1), who) == 1


def test_how_often_one_event_is_added_up() -> None:
    optimal, often = Optimal(), 4_000
    once, least_often = ((PureDP("0.001"), 1),), ((PureDP("0.001"), 2),)
    assert optimal.delta(once, Decimal(1), Question()) is None
    assert optimal.delta(least_often, Decimal("0.002"), Question()) is not None
    assert optimal.delta(((PureDP("0.001"), often),), Decimal(1), Question()) is not None
    assert optimal.delta(((PureDP("0.001"), often + 1),), Decimal(1), Question()) is None
    two = ((PureDP("0.001"), 2), (PureDP("0.002"), 2))
    assert optimal.delta(two, Decimal("0.006"), Question()) is None


def test_how_many_ways_a_unit_may_lie_in_parts() -> None:
    halves = [(Partitioned(((PureDP(number),), (PureDP(number + 20),))), 1) for number in range(12)]
    assert len(_scenarios(halves)) == 4096
    more = (*halves, (Partitioned(((PureDP(50),), (PureDP(51),))), 1))
    with pytest.raises(DomainError, match="in at most 4096 ways, found 8192"):
        _scenarios(more)


def test_how_many_events_an_account_holds() -> None:
    assert Accountant(((PureDP(0), 100_000),)).epsilons("0.1")["basic"] == 0
    with pytest.raises(DomainError, match="times must be at most 100000 in total"):
        Accountant(((PureDP(0), 100_000), (PureDP(1), 1)))


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("epsilon", ["0.1", "0.7"])
@pytest.mark.parametrize("delta", ["0", "0.01"])
def test_the_same_event_again_and_again(n: int, epsilon: str, delta: str) -> None:
    """Outcome by outcome: Optimal is exact where nothing but (ε₀, δ₀) is known."""
    event = PureDP(epsilon) if delta == "0" else ApproximateDP(epsilon, delta)
    with mpmath.workdps(40):
        [(one, other)] = laws(event)
        present, absent = cells([one] * n), cells([other] * n)
        for share in ("0", "0.3", "0.9", "1"):
            total = Decimal(epsilon) * n * Decimal(share)
            true = divergence(present, absent, mpmath.mpf(str(total)))
            found = mpmath.mpf(str(Optimal().delta(((event, n),), total, Question())))
            assert true <= found + mpmath.mpf("1e-35")
            assert found <= true * (1 + mpmath.mpf("2e-11")) + mpmath.mpf("1e-25")


def test_of_a_curve_the_best_point_is_taken() -> None:
    """One of the points is the even share of the basic rule, which is then not better."""
    for epsilon in (Decimal(1), Decimal(2), Decimal(4)):
        account = ((SampledSuppression(3, "0.3"), 2),)
        basic = Basic().delta(account, epsilon, Question())
        assert basic is not None
        assert Optimal().delta(account, epsilon, Question()) <= basic


@pytest.mark.parametrize(("scale", "sensitivity"), [("4", 2), ("0.5", 3), ("3", 1)])
def test_what_noise_costs(scale: str, sensitivity: int) -> None:
    noise = ((DiscreteLaplace(scale, sensitivity), 1),)
    found = Basic().epsilon(noise, Decimal("1e-9"), Question())
    assert found is not None
    assert 0 <= found * Decimal(scale) / sensitivity - 1 < Decimal("1e-11")
