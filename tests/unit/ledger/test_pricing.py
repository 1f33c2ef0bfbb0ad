"""What an account's releases cost, and that no way to choose them beats its limit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from functools import cache
from typing import Any

import pytest

from policy_engine.accounting.composition import Accountant, Question, Tight
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE, claimed
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    DrawnChoice,
    Event,
    Partitioned,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    TableNoise,
    Unbounded,
)
from policy_engine.accounting.exact import delta_exact, delta_of_event
from policy_engine.accounting.noise import Statistic
from policy_engine.accounting.noise_laws import gaussian, laplace
from policy_engine.errors import DomainError
from policy_engine.ledger.account import Limit, samples_that_fit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.pricing import Price, Spent, fits, price

LIMIT = Limit(Decimal("1.0"), Decimal("1e-6"))
NOTIONS = [ADD_REMOVE, REPLACE_ONE]


def release(
    k: int,
    rate: str,
    epsilon: str = "0.5",
    *,
    notion: str = ADD_REMOVE,
    part: tuple[str, str] | None = None,
) -> Asked:
    delta = claimed(delta_exact(k, rate, epsilon, notion).delta)
    return Asked(SampledSuppression(k, rate), Decimal(epsilon), delta, part)


@cache
def auto(rate: str, epsilon: str, delta: str, notion: str = ADD_REMOVE) -> Asked:
    """The release with the least k that is within (ε, δ), as ``k: auto`` finds it."""
    k = 2
    while delta_exact(k, rate, epsilon, notion).delta > Decimal(delta):
        k += 1
    return Asked(SampledSuppression(k, rate), Decimal(epsilon), Decimal(delta))


def pure(epsilon: str, part: tuple[str, str] | None = None) -> Asked:
    return Asked(PureDP(epsilon), Decimal(epsilon), Decimal(0), part)


def opaque(epsilon: str, delta: str) -> Asked:
    return Asked(ApproximateDP(epsilon, delta), Decimal(epsilon), Decimal(delta))


def spent(*asked: Asked, limit: Limit | None = LIMIT, notion: str = ADD_REMOVE) -> Spent:
    state = Spent.none(notion)
    for each in asked:
        state = state.plus(each, limit)
    return state


def admitted(*asked: Asked, limit: Limit = LIMIT, notion: str = ADD_REMOVE) -> int:
    """How many run until one is refused."""
    state = Spent.none(notion)
    for number, each in enumerate(asked):
        if not fits(state, each, limit):
            return number
        state = state.plus(each, limit)
    return len(asked)


# What fits


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("rate", ["0.05", "0.1", "0.3"])
def test_one_release_of_the_whole_limit_fits(rate: str, notion: str) -> None:
    assert admitted(auto(rate, "1", "1e-6", notion), notion=notion) == 1


def test_after_a_release_of_the_whole_limit_no_other_fits() -> None:
    whole = auto("0.3", "1", "1e-6")  # its exact δ is 9e-7
    state = spent(whole)
    for other in (whole, pure("1"), opaque("0.1", "5e-7"), release(5, "0.1")):
        assert not fits(state, other, LIMIT)


@pytest.mark.parametrize("first", ["0.02", "0.1", "0.4"])
@pytest.mark.parametrize("second", ["0.02", "0.1", "0.4"])
def test_two_halves_of_the_limit_fit(first: str, second: str) -> None:
    halves = [auto(rate, "0.5", "5e-7") for rate in (first, second)]
    assert admitted(*halves) == 2


@pytest.mark.parametrize("notion", NOTIONS)
def test_three_kinds_with_little_delta_fit(notion: str) -> None:
    kinds = [auto(rate, "0.3", "1e-9", notion) for rate in ("0.05", "0.1", "0.2")]
    assert admitted(*kinds, notion=notion) == 3


def test_what_adds_up_with_little_delta_fits_without_any_curve() -> None:
    assert admitted(opaque("0.3", "1e-9"), opaque("0.4", "2e-9"), opaque("0.3", "3e-9")) == 3
    assert admitted(pure("0.5"), pure("0.4"), pure("0.1"), limit=Limit(Decimal(1), Decimal(0))) == 3
    assert admitted(*[opaque("0.5", "5e-7")] * 3) == 2
    assert admitted(opaque("0.5", "5e-7"), opaque("0.4", "4e-7"), opaque("0.2", "1e-9")) == 2


def test_far_more_of_one_kind_fit_than_their_certificates_add_up_to() -> None:
    kind = release(20, "0.1", "0.25")
    assert admitted(*[kind] * 80) == 71
    assert Tight().meets(((kind.event, 76),), LIMIT.epsilon, LIMIT.delta, Question())


def test_a_larger_k_and_a_smaller_rate_continue_a_chain() -> None:
    state = spent(*[release(20, "0.1")] * 60)
    assert fits(state, release(20, "0.1"), LIMIT)
    assert fits(state, release(25, "0.1"), LIMIT)
    assert fits(state, release(20, "0.05"), LIMIT)
    assert not fits(state, release(19, "0.1"), LIMIT)
    assert fits(spent(release(20, "0.1"), release(19, "0.1")), release(60, "0.2"), LIMIT)


def test_kinds_mix() -> None:
    kinds = [release(20, "0.1"), release(60, "0.2"), release(19, "0.09")]
    assert admitted(*kinds * 30) > 30


def test_without_a_limit_everything_fits() -> None:
    assert fits(spent(limit=None), opaque("1000", "0.9"), None)
    state = spent(*[opaque("1000", "0.9")] * 3, limit=None)
    assert state.plan is None
    assert not fits(state, pure("0.001"), LIMIT)


def test_a_limit_that_comes_later_counts_all_that_was() -> None:
    kinds = [release(20, "0.1"), release(60, "0.2")] * 5
    assert spent(*kinds, limit=None).under(LIMIT) == spent(*kinds)
    later = spent(*kinds, limit=None).under(LIMIT)
    assert (later.plan, later.to_json()["kinds"]) == (
        spent(*kinds).plan,
        spent(*kinds).to_json()["kinds"],
    )


def test_another_limit_makes_another_plan_and_the_same_one_does_not() -> None:
    state = spent(release(20, "0.1"), release(60, "0.2"))
    assert state.under(Limit(Decimal(1), Decimal("0.000001"))).plan is state.plan
    raised = state.under(Limit(Decimal(2), Decimal("1e-6")))
    assert raised.plan != state.plan
    assert raised.under(LIMIT).plan == state.plan
    assert state.plus(release(20, "0.1"), None).plan is state.plan


def test_an_account_without_releases_has_no_plan() -> None:
    assert Spent.none(ADD_REMOVE).under(LIMIT) == Spent.none(ADD_REMOVE)
    assert Spent.none(ADD_REMOVE).is_within(LIMIT)


# What is given back


def test_what_is_given_back_is_as_if_it_had_never_been() -> None:
    one, other = release(20, "0.1"), release(60, "0.2")
    state = spent(one, other, one)
    assert state.minus(other) == spent(one, one)
    assert state.minus(one) == spent(one, other)
    assert state.minus(other).minus(one).minus(one) == Spent.none(ADD_REMOVE)
    assert state.minus(other).minus(one).minus(one).plan is None


def test_the_plan_of_the_first_stays_though_it_was_given_back() -> None:
    one, other = release(20, "0.1"), release(60, "0.2")
    left = spent(one, other).minus(one)
    assert (left.first, left.plan) == (one, spent(one).plan)
    assert left != spent(other)


def test_only_what_was_added_is_given_back() -> None:
    with pytest.raises(DomainError, match="asked must be a release of this account, found Asked"):
        spent(pure("1")).minus(pure("2"))


# Partitions


def test_of_a_partition_the_dearest_part_counts() -> None:
    left, right = ("halves", "left"), ("halves", "right")
    state = spent(pure("0.5", left), pure("0.4", right), pure("0.2"))
    found = price(state, LIMIT)
    assert (found.basic_epsilon, found.tight_delta) == (Decimal("0.7"), Decimal(0))
    assert found.tight_epsilon is not None
    assert Decimal("0.69") < found.tight_epsilon <= Decimal("0.7")
    assert fits(state, pure("0.3", right), LIMIT)
    assert not fits(state, pure("0.6", right), LIMIT)
    assert admitted(*[release(20, "0.1", part=part) for part in (left, right) * 80]) == 142


def test_the_tight_price_of_partitions_is_that_of_the_accountant() -> None:
    kind = release(20, "0.1")
    state = spent(
        kind,
        *[release(20, "0.1", part=("a", str(i % 3))) for i in range(9)],
        *[release(60, "0.2", part=("b", str(i % 2))) for i in range(4)],
    )
    accountant = Accountant.of(
        [
            kind.event,
            Partitioned(((kind.event,) * 3,) * 3),
            Partitioned(((SampledSuppression(60, "0.2"),) * 2,) * 2),
        ]
    )
    found = price(state, LIMIT)
    assert found.tight_epsilon == accountant.epsilons(LIMIT.delta)["tight"]
    assert found.tight_delta == accountant.deltas(LIMIT.epsilon)["tight"]


def test_too_many_ways_through_partitions_are_priced_by_the_moments() -> None:
    parts = [
        release(20, rate, part=(str(name), part))
        for name in range(5)
        for part, rate in (("a", "0.1"), ("b", "0.11"))
    ]
    found = price(spent(*parts), LIMIT)
    tight = Tight().epsilon(((SampledSuppression(20, "0.11"), 5),), LIMIT.delta, Question())
    assert tight is not None
    assert found.tight_epsilon is not None
    assert tight < found.tight_epsilon < 2 * tight


# Prices


def test_prices_are_exact_sums_and_tight_numbers() -> None:
    kind = release(20, "0.1")
    found = price(spent(*[kind] * 50), LIMIT)
    assert (found.basic_epsilon, found.basic_delta) == (25, 50 * kind.delta)
    with localcontext(Context(prec=3, rounding=ROUND_FLOOR)):
        assert price(spent(*[kind] * 50), None).basic_delta == found.basic_delta
        assert fits(spent(*[kind] * 50), kind, LIMIT)
    assert (found.tight_epsilon, found.tight_delta) == (
        Decimal("0.809905"),
        Tight().delta(((kind.event, 50),), LIMIT.epsilon, Question()),
    )


def test_without_releases_or_without_a_limit() -> None:
    nothing = Decimal(0)
    assert price(Spent.none(ADD_REMOVE), LIMIT) == Price(nothing, nothing, nothing, nothing)
    assert price(Spent.none(ADD_REMOVE), None) == Price(nothing, nothing, None, None)
    assert price(spent(pure("1"), limit=None), None).tight_epsilon is None


def test_many_kinds_are_priced_by_the_moments() -> None:
    kinds = [release(20 - at, "0.1") for at in range(5)]
    found = price(spent(*kinds), LIMIT)
    charges = tuple((kind.event, 1) for kind in kinds)
    true = Tight().epsilon(charges, LIMIT.delta, Question())
    assert true is not None
    assert found.tight_epsilon is not None
    assert true < found.tight_epsilon < 1.5 * float(true)
    assert found.tight_delta is not None
    assert Tight().delta(charges, LIMIT.epsilon, Question()) < found.tight_delta < LIMIT.delta
    covered = price(spent(*reversed(kinds)), LIMIT)
    assert covered.tight_epsilon == Tight().epsilon(
        ((kinds[-1].event, 5),), LIMIT.delta, Question()
    )


def test_where_the_masses_are_too_much_there_is_no_epsilon() -> None:
    kinds = [opaque("0.1", f"{at}e-3") for at in range(1, 6)]
    found = price(spent(*kinds, limit=None), Limit(Decimal("0.1"), Decimal("1e-6")))
    assert (found.tight_epsilon, found.tight_delta) == (None, Decimal(1))
    rich = price(spent(pure("0.01"), *kinds, limit=None), Limit(Decimal("0.1"), Decimal("1e-3")))
    assert rich.tight_epsilon is None


def test_where_nothing_is_proven_there_is_no_price() -> None:
    found = price(spent(opaque("2", "0.1")), LIMIT)
    assert found.tight_epsilon is None
    assert found.tight_delta is not None
    assert found.tight_delta > Decimal("0.1")
    assert price(spent(opaque("2", "0.1")), Limit(Decimal(1), Decimal(0))).tight_epsilon is None


def test_one_release_is_priced_by_its_certificate_at_least() -> None:
    found = price(spent(auto("0.3", "1", "1e-6")), LIMIT)
    assert found.tight_epsilon is not None
    assert found.tight_delta is not None
    assert found.tight_epsilon <= 1
    assert found.tight_delta <= Decimal("1e-6")


# What would fit


def test_what_would_fit_does_and_what_is_next_to_it_does_not() -> None:
    asked = release(5, "0.1")
    empty = Spent.none(ADD_REMOVE)
    larger, rarer = samples_that_fit(empty, asked, LIMIT)
    k = int(larger.removeprefix("k: ").removesuffix(" with rate: 0.1"))
    assert fits(empty, release(k, "0.1"), LIMIT)
    assert not fits(empty, release(k - 1, "0.1"), LIMIT)
    rate = Decimal(rarer.removeprefix("k: 5 with rate: "))
    assert fits(empty, release(5, str(rate)), LIMIT)
    assert not fits(empty, release(5, str(rate + Decimal("0.0002"))), LIMIT)


def test_where_nothing_would_fit_none_is_said() -> None:
    nothing = Limit(Decimal("0.1"), Decimal(0))
    assert [*samples_that_fit(spent(pure("1")), release(20, "0.1", "2"), nothing)] == []
    assert [*samples_that_fit(spent(), pure("2"), LIMIT)] == []


# As text


KINDS: list[Event] = [
    SampledSuppression(20, "0.1"),
    PureDP("0.5"),
    ApproximateDP("0.5", "1e-9"),
    DiscreteLaplace("2", 1),
    RandomisedResponse("0.5", 2),
]


@pytest.mark.parametrize("event", KINDS, ids=str)
@pytest.mark.parametrize("part", [None, ("halves", "left")])
def test_a_release_survives_json(event: Event, part: tuple[str, str] | None) -> None:
    asked = Asked(event, Decimal("0.50"), Decimal("1E-9"), part)
    assert Asked.from_json(json.loads(json.dumps(asked.to_json()))) == asked


def test_a_partition_is_no_release() -> None:
    event = Partitioned(((PureDP(1),),))
    with pytest.raises(DomainError, match="event must be one of approximate_dp, discrete_laplace"):
        Asked(event, Decimal(1), Decimal(0)).to_json()


@pytest.mark.parametrize(
    "state",
    [
        spent(),
        spent(release(20, "0.1"), limit=None),
        spent(release(20, "0.1")),
        spent(release(20, "0.1"), release(60, "0.2"), pure("0.01", ("a", "b"))),
        spent(opaque("0.5", "5e-7"), pure("0.5")),
        spent(Asked(DrawnChoice("0.1"), Decimal("0.1"), Decimal(0)), release(20, "0.1")),
        spent(Asked(DrawnChoice("0.1"), Decimal("0.1"), Decimal(0)), limit=None),
        spent(
            Asked(RandomisedResponse("0.5", 2), Decimal(2), Decimal(0)),
            notion=REPLACE_ONE,
        ),
    ],
)
def test_a_state_survives_json_whole(state: Spent) -> None:
    text = json.dumps(state.to_json())
    found = Spent.from_json(json.loads(text))
    assert found == state
    assert (found.plan, found.reach) == (state.plan, state.reach)
    assert json.dumps(found.to_json()) == text


def test_a_state_says_no_release_twice_and_not_that_of_its_own_record() -> None:
    own, other = release(20, "0.1"), release(60, "0.2")
    state = spent(own, other)
    found = state.to_json(own)
    assert (found["first"], found["kinds"][0][0]) == (0, None)
    assert found["kinds"][1][0] == other.to_json()
    assert Spent.from_json(json.loads(json.dumps(found)), own) == state
    gone = state.minus(own)  # the first one was given back, and is known still
    assert gone.to_json()["first"] == own.to_json()
    assert Spent.from_json(json.loads(json.dumps(gone.to_json()))) == gone


def test_a_state_is_small() -> None:
    assert len(json.dumps(spent(*[release(20, "0.1")] * 70).to_json())) < 700


def _states() -> dict[str, Any]:
    state: dict[str, Any] = json.loads(
        json.dumps(spent(release(20, "0.1"), release(60, "0.2")).to_json())
    )
    return state


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("neighbours",), "both"),
        (("neighbours",), None),
        (("first",), None),
        (("kinds", 0, 0, "event"), {"mechanism": "magic"}),
        (("kinds", 0, 0, "event", "k"), 1),
        (("kinds", 0, 0, "event", "rate"), "nan"),
        (("kinds", 0, 0, "epsilon"), "-1"),
        (("kinds", 0, 0, "epsilon"), 1),
        (("kinds", 0, 0, "delta"), "Infinity"),
        (("kinds", 0, 0, "delta"), "much"),
        (("kinds", 0, 0, "part"), ["only"]),
        (("kinds", 0, 0, "part"), [1, 2]),
        (("first",), 2),
        (("first",), -1),
        (("first",), True),
        (("first",), {"event": {"mechanism": "magic"}}),
        (("kinds", 0, 0), None),
        (("kinds",), []),
        (("kinds",), None),
        (("kinds", 0), []),
        (("kinds", 0, 1), 0),
        (("kinds", 0, 1), -1),
        (("kinds", 0, 1), True),
        (("kinds", 0, 1), 1.5),
        (("kinds", 0, 2), ["0", "0"]),
        (("kinds", 0, 2), []),
        (("kinds", 0, 2), ["-1", "0", "0"]),
        (("plan",), None),
        (("plan", "orders"), ["17"]),
        (("plan", "mass"), "-1"),
        (("plan", "scales"), ["1", "nan"]),
        (("opening",), None),
        (("opening",), [[release(20, "0.1").to_json(), 1]]),
        (("opening",), [[Asked(DrawnChoice("1"), Decimal(1), Decimal(0)).to_json(), 1]]),
        (("held",), "-1"),
        (("held",), 1),
        (("reach",), [1]),
        (("reach",), ["1", "2"]),
    ],
)
def test_nonsense_is_refused(path: tuple[str | int, ...], value: object) -> None:
    whole = _states()
    place: Any = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(DomainError, match="spent must be a state as this version writes it"):
        Spent.from_json(whole)


def test_the_same_kind_twice_is_refused() -> None:
    whole = _states()
    whole["kinds"] += whole["kinds"]
    with pytest.raises(DomainError, match="spent must be"):
        Spent.from_json(whole)


def test_a_release_that_is_nonsense_is_refused() -> None:
    with pytest.raises(DomainError, match="asked must be a release as this version writes it"):
        Asked.from_json({})


def test_an_unknown_notion_is_refused() -> None:
    with pytest.raises(DomainError, match="neighbours must be"):
        Spent.none("both")


# Whoever chooses by what was seen


@dataclass(frozen=True)
class Game:
    """Events that are their own dominating pair, each loss a multiple of a step, and a limit."""

    choices: tuple[Asked, ...]
    limit: Limit
    step: Decimal

    def delta(self, admits: Callable[[tuple[int, ...]], bool]) -> float:
        """The true δ at the limit's ε if after every outcome what is worst is chosen next.

        ``admits`` is asked for the first choice and all others in an order of their own.
        """
        admits = cache(admits)

        @cache
        def worst(chosen: tuple[int, ...], loss: int) -> float:
            best = max(0.0, -math.expm1(float(self.limit.epsilon - loss * self.step)))
            for choice in range(len(self.choices)):
                after = (*chosen[:1], *sorted((*chosen[1:], choice))) if chosen else (choice,)
                if admits(after):
                    asked = self.choices[choice]
                    lost, ratio = float(asked.delta), math.exp(float(asked.epsilon))
                    steps = int(asked.epsilon / self.step)
                    up, down = worst(after, loss + steps), worst(after, loss - steps)
                    best = max(best, lost + (1 - lost) * (ratio * up + down) / (1 + ratio))
            return best

        return worst((), 0)


GAMES = [
    Game(
        (pure("0.2"), pure("0.35"), opaque("0.15", "2e-4"), opaque("0.05", "1e-3")),
        Limit(Decimal(1), Decimal("0.01")),
        Decimal("0.05"),
    ),
    Game(
        (pure("0.1"), pure("0.2"), opaque("0.05", "1e-3")),
        Limit(Decimal(1), Decimal("0.05")),
        Decimal("0.05"),
    ),
    Game(
        (pure("0.2"), pure("0.3"), opaque("0.1", "1e-3")),
        Limit(Decimal(2), Decimal("0.03")),
        Decimal("0.1"),
    ),
]


def way(game: Game, chosen: tuple[int, ...], opening: tuple[Asked, ...] = ()) -> str:
    """In which way these end, as ``is_within`` has it; '' where in none."""
    state = spent(*opening, *(game.choices[at] for at in chosen), limit=game.limit)
    if not state.is_within(game.limit):
        return ""
    assert state.plan is not None
    epsilon = sum(kind.times * kind.asked.epsilon for kind in state.kinds)
    delta = sum(kind.times * kind.asked.delta for kind in state.kinds)
    if epsilon <= state.plan.epsilon and delta <= state.plan.sum:
        return "sum"
    covered = all(at == chosen[0] for at in chosen) and len(chosen) <= state.reach.holds
    return "chain" if covered else "moments"


@pytest.mark.parametrize("game", GAMES)
def test_no_way_to_choose_beats_the_limit(game: Game) -> None:
    ways = set()

    def admits(chosen: tuple[int, ...]) -> bool:
        ways.add(found := way(game, chosen))
        return bool(found)

    assert game.delta(admits) <= game.limit.delta
    assert ways >= {"", "sum", "moments"}


def test_the_tight_price_as_a_rule_is_beaten() -> None:
    """The control: the same adversary, and a rule that is none."""
    game = Game(
        (pure("0.5"), pure("0.8"), opaque("0.1", "0.1")),
        Limit(Decimal(1), Decimal("0.1113")),
        Decimal("0.1"),
    )

    def admits(chosen: tuple[int, ...]) -> bool:
        counts = tuple((game.choices[at].event, chosen.count(at)) for at in sorted(set(chosen)))
        fit = Tight().meets(counts, game.limit.epsilon, game.limit.delta, Question())
        return fit and len(chosen) <= 3

    assert game.delta(admits) > 1.15 * float(game.limit.delta)
    assert game.delta(lambda chosen: bool(way(game, chosen))) <= game.limit.delta


NOISY = TableNoise(
    (Statistic(laplace(1, 14), groups=2), Statistic(laplace("0.05", 80), 20, moves="either"))
)


def test_a_release_with_noise_from_tables_is_kept_to_the_last_integer():
    asked = Asked(NOISY, Decimal(3), Decimal("1e-2"))
    state = asked.to_json()
    assert Asked.from_json(json.loads(json.dumps(state))) == asked
    entries = state["event"]["statistics"][0]["entries"].split()
    assert [int(entry, 16) for entry in entries] == list(laplace(1, 14).entries)
    assert [*samples_that_fit(Spent.none("add_remove"), asked, None)] == []


@pytest.mark.parametrize(
    "change",
    [
        {"entries": "1"},
        {"entries": 7},
        {"entries": "00000000000000x"},
        {"entries": "000000000000002 000000000000001"},
        {"shift": 0},
        {"moves": "sideways"},
        {"open": True},
        {"more": 1},
    ],
    ids=repr,
)
def test_what_is_no_release_with_noise_from_tables(change):
    state = Asked(NOISY, Decimal(3), Decimal("1e-2")).to_json()
    state["event"]["statistics"][1].update(change)
    with pytest.raises(DomainError, match="asked must be a release as this version writes it"):
        Asked.from_json(state)


def test_counts_with_noise_fill_an_account_by_the_rule():
    """32 fit; their certificates add up to the limit's ε after 10, and at once to more than δ."""
    event = TableNoise((Statistic(gaussian(25, 140)),))
    asked = Asked(event, Decimal("0.1"), delta_of_event(event, Decimal("0.1")))
    limit = Limit(Decimal(1), Decimal("1e-6"))
    state, admitted = Spent.none("add_remove"), 0
    while admitted < 33 and fits(state, asked, limit):
        state, admitted = state.plus(asked, limit), admitted + 1
    assert admitted == 32
    found = price(state, limit)
    assert found.tight_delta <= limit.delta
    assert found.tight_epsilon <= limit.epsilon


NOTHING = Asked(Unbounded(), Decimal(0), Decimal(1))


def test_with_a_release_of_no_guarantee_no_limit_is_kept_whatever_it_is() -> None:
    huge = Limit(Decimal(10) ** 9, Decimal(1))
    state = Spent.none(ADD_REMOVE).plus(NOTHING, None).plus(half_of(), None)
    assert (state.unbounded, state.is_unbounded) == (1, True)
    assert not fits(Spent.none(ADD_REMOVE), NOTHING, huge)
    assert not fits(state, half_of(), huge) and not state.is_within(huge)
    assert fits(state, NOTHING, None)
    assert price(state, huge).tight_epsilon is price(state, huge).tight_delta is None
    assert price(state, None).basic_delta >= 1
    assert Spent.from_json(json.loads(json.dumps(state.to_json()))) == state
    assert state.plus(half_of(), huge).plan is None


def test_one_that_never_ran_is_given_back_unless_it_was_the_first() -> None:
    limit = Limit(Decimal(1), Decimal("1e-6"))
    second = Spent.none(ADD_REMOVE).plus(half_of(), None).plus(NOTHING, None).minus(NOTHING)
    assert not second.is_unbounded and second.is_within(limit)
    # A plan is made of the first that was ever reserved, and of this one none can be.
    first = Spent.none(ADD_REMOVE).plus(NOTHING, None).plus(half_of(), None).minus(NOTHING)
    assert first.is_unbounded and not first.unbounded and not first.is_within(limit)
    assert Spent.none(ADD_REMOVE).plus(NOTHING, None).minus(NOTHING) == Spent.none(ADD_REMOVE)


def half_of() -> Asked:
    return Asked(PureDP("0.5"), Decimal("0.5"), Decimal(0))


@pytest.mark.parametrize("notion", NOTIONS)
def test_no_rule_of_the_accountant_takes_what_has_no_guarantee(notion: str) -> None:
    with pytest.raises(DomainError):
        Tight().delta(((Unbounded(), 1),), Decimal(1), Question(notion))
    with pytest.raises(DomainError):
        Accountant.of([Unbounded()], notion).delta(Decimal(1))


# What is chosen privately before the first release


def chosen(epsilon: str) -> Asked:
    return Asked(DrawnChoice(epsilon), Decimal(epsilon), Decimal(0))


def test_a_choice_and_a_release_of_the_rest_fit_as_they_add_up() -> None:
    assert admitted(chosen("0.02"), opaque("0.98", "1e-6")) == 2
    assert admitted(chosen("0.02"), chosen("0.03"), auto("0.1", "0.95", "1e-6")) == 3
    assert admitted(chosen("0.02"), opaque("0.981", "1e-6")) == 1
    assert admitted(chosen("0.6"), chosen("0.4"), chosen("0.1")) == 2
    assert admitted(chosen("1"), limit=Limit(Decimal("0.5"), Decimal("1e-6"))) == 0


def test_a_choice_costs_an_account_hardly_more_editions_than_its_share() -> None:
    kind = release(20, "0.1", "0.25")
    assert admitted(chosen("0.02"), *[kind] * 80) == 1 + 68  # of 71
    assert admitted(pure("0.02"), *[kind] * 80) < 50  # what is no choice fixes the shares


def test_a_choice_after_the_first_release_is_another_kind() -> None:
    kind = release(20, "0.1", "0.25")
    state = spent(kind, chosen("0.02"))
    assert (state.opening, state.held, len(state.kinds)) == ((), 0, 2)


def test_of_a_choice_that_is_given_back_nothing_is_left_but_the_shares() -> None:
    one, other, kind = chosen("0.1"), chosen("0.2"), release(20, "0.1")
    before = spent(one, other, one)
    assert (before.minus(one).held, before.minus(other).held) == (Decimal("0.3"), Decimal("0.2"))
    assert spent(one).minus(one) == Spent.none(ADD_REMOVE)
    state = before.plus(kind, LIMIT)
    given = state.minus(other)
    assert (given.held, given.plan) == (Decimal("0.4"), state.plan)
    assert price(given, LIMIT).basic_epsilon == Decimal("0.7")
    assert state.minus(kind) == before
    with pytest.raises(DomainError, match="a release of this account"):
        given.minus(other)


def test_prices_have_the_choices_too() -> None:
    both = price(spent(chosen("0.1"), chosen("0.2")), LIMIT)
    assert (both.basic_epsilon, both.basic_delta, both.tight_delta) == (Decimal("0.3"), 0, 0)
    assert both.tight_epsilon == pytest.approx(Decimal("0.3"), rel=Decimal("1e-4"))
    kinds = [release(k, "0.1", "0.25") for k in (20, 21, 22, 23)]
    for several in ([chosen("0.1")] * 2 + kinds, [chosen("0.3"), *[kinds[0]] * 101]):
        told, alone = (price(spent(*each), LIMIT) for each in (several, several[-4:]))
        assert told.tight_epsilon is not None and alone.tight_epsilon is not None
        assert told.tight_epsilon > alone.tight_epsilon
        assert told.basic_epsilon == sum(each.epsilon for each in several)
    few = spent(*(chosen(f"0.0{at}") for at in range(1, 7)))
    assert price(few, LIMIT).tight_epsilon == Decimal("0.21")
    assert price(few, Limit(Decimal("0.1"), Decimal("1e-6"))).tight_delta == 1
    mixed = price(spent(*(chosen(f"0.0{at}") for at in range(1, 7)), release(20, "0.1")), LIMIT)
    assert mixed.tight_epsilon is not None and Decimal("0.21") < mixed.tight_epsilon < 1


def test_no_way_to_choose_after_a_choice_beats_the_limit() -> None:
    """The adversary chooses privately as often as it likes, and what it releases by what it saw."""
    limit, step, own = Limit(Decimal(1), Decimal("0.02")), Decimal("0.1"), chosen("0.3")
    game = Game((pure("0.3"), opaque("0.2", "5e-3"), own), limit, step)

    @cache
    def worst(times: int, loss: int) -> float:
        """After so many choices with this loss: choose once more, or begin to release."""
        before = (own,) * times
        left = replace(limit, epsilon=limit.epsilon - loss * step)
        found = replace(game, limit=left).delta(
            lambda at: game.choices[at[0]] != own and bool(way(game, at, before))
        )
        if spent(*before, own, limit=limit).is_within(limit):
            up, down = worst(times + 1, loss + 3), worst(times + 1, loss - 3)
            ratio = math.exp(0.3)
            found = max(found, (ratio * up + down) / (1 + ratio))
        return found

    assert 0 < worst(0, 0) <= limit.delta
    assert worst(3, 0) == 0 and not spent(*[own] * 4).is_within(limit)
