"""The price of random claims beside brute force of their integers, [TABLE], [PLACE], [PART].

The brute force is written from the theory and shares no code with the accountant. It reads a claim
as its text is read: each number is a count, or a sum of values less ``center``, cut towards zero to
a multiple of ``grain``, and has a Z of its table. One person is there or not, or takes another's
place; what they can do to each number is tried, and every outcome is summed, in integers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting import noise
from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.events import Partitioned, TableNoise
from policy_engine.kernel import mechanisms
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import (
    Clip,
    CountedBy,
    Cut,
    IntegerTable,
    Measure,
    Quantity,
    tables,
)
from policy_engine.kernel.mechanisms.tables import Moves, moves_of
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Groups, People, Relation
from policy_engine.kernel.types import Type
from policy_engine.ledger.asked import Asked

WHOLE = 1 << 60
NOTIONS = ("add_remove", "replace_one")
MOST_OUTCOMES = 1500
ID = Column("id", Type("integer"))
SHOWN = tuple(Shown(name, Column(name, Type("text")), Keep()) for name in ("sex", "race"))


def table_of(chance: Random, *, is_open: bool = False, shift: int = 1) -> IntegerTable:
    """A table of a few values, symmetric or not, with rare ones at either end, or none.

    By a ``shift`` it still overlaps with itself.
    """
    size = chance.randint(shift, shift + 3)
    steps = [chance.choice([1, 9, 60, 1000]) * chance.randint(1, 9) for _ in range(size + 1)]
    total, reached, entries = sum(steps), 0, []
    for step in steps[:-1]:
        reached += step
        entries.append(reached * WHOLE // total)
    return IntegerTable(tuple(entries), 1 if is_open else chance.randint(-3, 1), is_open)


def claim_of(chance: Random, most_sums: int = 2) -> Claim:
    """A claim of noisy counts: some groups a person, some groupings, some sums and means."""
    is_open = chance.random() < 0.4
    kind = chance.choice(["groups", "groupings", "part", "listed", "plain"])
    rows = chance.choice([1, 2]) if kind == "groups" else 1
    drawn: list[Quantity] = []
    shown = []
    for name in ("cost", "age")[: min(most_sums, chance.choice([0, 1, 1, 2]))]:
        low = chance.choice([-23, -21, -3, -2, -1, 0, 0, 1])
        high = chance.choice([high for high in (-1, 0, 1, 2, 3, 21, 23) if high > low])
        clip = Clip(low, high, rows=rows, absent=None if kind == "groups" else high)
        center = chance.choice([0, (low + high) // 2, None])
        moves, column = moves_of(clip, center), Column(name, Type("integer"))
        table = table_of(chance, shift=-(-(moves.most - moves.least) // moves.grain))
        drawn.append(Quantity(column, clip, center, table))
        own, over = len(drawn), 0 if center else None
        if center and kind == "groups":
            drawn.append(Quantity(column, clip, None, table_of(chance, shift=rows)))
            over = own + 1
        shown.append(Measure(f"{name}_shown", own, over))
    law: type[mechanisms.Noisy] = mechanisms.Noisy
    more: dict[str, Any] = {}
    order, columns = None, SHOWN[: chance.randint(1, 2)]
    if kind == "groups":
        order = Groups(2)
        limits = [Cut("groups_cut", "groups")]
        limits += [Cut("cut", "bounds", n) for n, each in enumerate(drawn, 1) if not each.counts]
        if cuts := tuple(limits[: chance.choice([0, 1, 2])]):
            more = {"cuts": cuts, "cut_table": table_of(chance)}
    if kind == "groupings" and not is_open:
        columns = SHOWN
        own = chance.choice([(), (table_of(chance), *(each.table for each in drawn))])
        more["groupings"] = (CountedBy(("sex", "race")), CountedBy(("sex",), own))
    if kind == "part":
        law, more = mechanisms.NoisyPart, {"parts": 3, "number": 2}
    if kind == "listed" and not is_open:
        law, columns, more = mechanisms.Listed, SHOWN[:1], {"keys": ((("a",), ("b",)),)}
    noisy = law(
        table_of(chance, is_open=is_open), 1, quantities=tuple(drawn), measures=tuple(shown), **more
    )
    return Claim(Relation(("main", "people")), People(ID, order), noisy, columns)


@dataclass(frozen=True)
class Moved:
    """A number with noise, and by how much the one table's person moves it beside the other's."""

    table: IntegerTable
    steps: tuple[int, ...]


def numbers_of(claim: Claim, notion: str, chance: Random) -> Iterator[Moved]:
    """All numbers that one person can move, each with all steps by which."""
    law = claim.law
    assert isinstance(law, mechanisms.Noisy)
    places = claim.unit.groups
    for own in [each.tables for each in law.groupings] or [()]:
        counted, *others = own or (law.table, *(each.table for each in law.quantities))
        both = 0 if notion == "add_remove" else chance.randint(0, places)
        sides = [1] * (places - both)
        if notion == "replace_one":
            # Groups that the one is in, groups that the other is in, and those that both are in.
            sides += [-1] * (places - both) + [0] * both
        for side in sides:
            yield Moved(counted, (side,))
            for quantity, table in zip(law.quantities, others, strict=True):
                yield Moved(table, tuple(sorted({*steps_of(quantity, side)})))
    for _ in law.cuts:  # of the whole release: who is there is cut or not
        assert law.cut_table is not None
        yield Moved(law.cut_table, (0, 1) if notion == "add_remove" else (-1, 0, 1))


def steps_of(quantity: Quantity, side: int) -> Iterator[int]:
    """What a person does to a sum of others, cut to the grain; of 0, one takes another's place.

    A person has up to so many rows, each with a value, or none.
    """
    clip, center, grain = quantity.clip, quantity.center, quantity.moves.grain
    ends = {clip.low, clip.low + 1, (clip.low + clip.high) // 2, clip.high - 1, clip.high}
    one = {1} if center is None else {v - center for v in ends if clip.low <= v <= clip.high}
    values = {sum(own) for many in range(clip.rows + 1) for own in product(one, repeat=many)}

    def cut(total: int) -> int:
        return abs(total) // grain * (1 if total > 0 else -1)

    for others in range(-2 * grain, 2 * grain + 1):
        if side:
            yield from (side * (cut(others + value) - cut(others)) for value in values)
        else:
            yield from (cut(others + a) - cut(others + b) for a in values for b in values)


def law_of(table: IntegerTable, step: int) -> dict[int | None, int]:
    """The chance of each value with so many steps more, in parts of 2⁶⁰."""
    found: dict[int | None, int] = {}
    before = 0
    for place, entry in enumerate((*table.entries, WHOLE)):
        value: int | None = table.least + place + step
        if table.is_open:
            # n - T with one person more; nothing is shown after the last entry.
            value = None if place == len(table.entries) else step - table.least - place
        found[value] = found.get(value, 0) + entry - before
        before = entry
    return found


def brute(moved: list[tuple[IntegerTable, int]], scale: Fraction) -> Fraction:
    """H at e^ε of all numbers together, the larger of both directions, outcome by outcome."""
    pairs = [(law_of(table, step), law_of(table, 0)) for table, step in moved]
    places = [{*one, *other} for one, other in pairs]
    removed = added = Fraction(0)
    for outcome in product(*places):
        p = prod(one.get(at, 0) for (one, _), at in zip(pairs, outcome, strict=True))
        q = prod(other.get(at, 0) for (_, other), at in zip(pairs, outcome, strict=True))
        removed, added = removed + max(0, p - scale * q), added + max(0, q - scale * p)
    return max(removed, added) / WHOLE ** len(pairs)


def true_delta(numbers: list[Moved], epsilon: Decimal, chance: Random) -> Fraction:
    """The largest δ found: of all farthest steps, up, down and mixed, and of some others."""
    with localcontext(prec=60):
        # Above e^ε, so that what is found is not above the truth.
        scale = Fraction(epsilon.exp()) * (1 + Fraction(1, 10**50))
    ways = {tuple(each.steps[at] for each in numbers) for at in (0, -1)}
    ends = [*product(*({each.steps[0], each.steps[-1]} for each in numbers))]
    ways |= {*chance.sample(ends, min(len(ends), 4))}
    ways |= {tuple(chance.choice(each.steps) for each in numbers) for _ in range(3)}
    tables = [each.table for each in numbers]
    return max(brute([*zip(tables, way, strict=True)], scale) for way in ways)


def outcomes_of(numbers: list[Moved]) -> int:
    """About how many outcomes there are."""
    sizes = (len(each.table.entries) + 1 + max(map(abs, each.steps)) for each in numbers)
    return prod(min(size, 2 * len(each.table.entries) + 2) for size, each in zip(
        sizes, numbers, strict=True))  # fmt: skip


def shortfalls(seed: int, *, in_accounts: bool = True) -> list[str]:
    """Where a random claim is priced below the truth: by its certificate, or by an account too."""
    chance = Random(seed)
    claim, notion = claim_of(chance), chance.choice(NOTIONS)
    numbers = [*numbers_of(claim, notion, chance)]
    if outcomes_of(numbers) > MOST_OUTCOMES:
        return []
    epsilon = chance.choice([Decimal("0.1"), Decimal("0.5"), Decimal(1), Decimal(2)])
    true = true_delta(numbers, epsilon, chance)
    found = [("a certificate", claim.delta(Decimal(1), epsilon, notion))]
    for own in claim.law.tables:
        if not isinstance(claim.law, mechanisms.Listed) and is_shown(claim.law, own[0], 0):
            return ["a group of nobody can be shown"]
    if not in_accounts:
        return [f"{found}" for _, delta in found if Fraction(delta) < true]
    event = TableNoise(claim.law.statistics(claim.unit.groups, notion))
    read = Asked.from_json(json.loads(json.dumps(Asked(event, epsilon, Decimal(1)).to_json())))
    account = Accountant.of([read.event], notion)
    found.append(("an account", account.delta(epsilon)))
    if isinstance(claim.law, mechanisms.NoisyPart):
        parts = Partitioned(((event,), (event,)))
        found.append(("parts", Accountant.of([parts], notion).delta(epsilon)))
    return [f"{who}: {delta} of {float(true)}" for who, delta in found if Fraction(delta) < true]


def is_shown(law: mechanisms.Noisy, table: IntegerTable, people: int) -> bool:
    """Whether a group of so many people can be shown."""
    values = [value for value, mass in law_of(table, people).items() if mass and value is not None]
    return max(value + law.offset for value in values) >= law.shown_from(table)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_no_claim_is_priced_below_its_integers(seed: int) -> None:
    assert shortfalls(seed) == []


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32))
def test_no_two_releases_are_priced_below_their_integers(seed: int) -> None:
    """All numbers of both are moved by one person, who is there for both or for neither."""
    assert pair_shortfall(seed) == ""


def pair_shortfall(seed: int) -> str:
    """Where an account prices two random claims below the truth."""
    chance = Random(seed)
    claims, notion = [claim_of(chance, 1), claim_of(chance, 0)], chance.choice(NOTIONS)
    numbers = [each for claim in claims for each in numbers_of(claim, notion, chance)]
    if outcomes_of(numbers) > MOST_OUTCOMES:
        return ""
    epsilon = chance.choice([Decimal("0.5"), Decimal(1), Decimal(2)])
    events = [TableNoise(claim.law.statistics(claim.unit.groups, notion)) for claim in claims]
    delta = Accountant.of(events, notion).delta(epsilon)
    true = true_delta(numbers, epsilon, chance)
    return f"{delta} of {float(true)}" if Fraction(delta) < true else ""


def _always_up(moves: Moves) -> str:
    return "up"


def _without_the_spread(moves: Moves, neighbours: str) -> int:
    return -(-moves.farthest // moves.grain)


def _rounded_down(moves: Moves, neighbours: str) -> int:
    spread = moves.most - moves.least if neighbours == "replace_one" else 0
    return max(1, max(moves.farthest, spread) // moves.grain)


def _from_the_middle(moves: Moves) -> int:
    return max(1, (moves.most - moves.least) // 2)


def _one_row(clip: Clip, center: int | None) -> Moves:
    return MOVES_OF(replace(clip, rows=1), center)


def _one_group(law: mechanisms.Noisy, groups: int, neighbours: str) -> tuple[noise.Statistic, ...]:
    return STATISTICS(law, 1, neighbours)


def _one_grouping(
    law: mechanisms.Noisy, groups: int, neighbours: str
) -> tuple[noise.Statistic, ...]:
    return STATISTICS(law, groups, neighbours)[: 1 + len(law.quantities)]


def _cuts_are_free(
    law: mechanisms.Noisy, groups: int, neighbours: str
) -> tuple[noise.Statistic, ...]:
    drawn = STATISTICS(law, groups, neighbours)
    return drawn[:-1] if law.cuts else drawn


def _as_a_place(statistic: noise.Statistic) -> list[noise.Step]:
    """Every table the way round of an open one."""
    turned = {"up": "down", "down": "up", "either": "either"}
    is_open = statistic.table.is_open
    return STEPS(statistic if is_open else replace(statistic, moves=turned[statistic.moves]))


def _a_little_lower(law: mechanisms.Noisy, table: IntegerTable) -> int:
    return law.offset if table.is_open else law.k + table.largest - 1


STATISTICS, STEPS = mechanisms.Noisy.statistics, noise.Statistic.steps
MOVES_OF = tables.moves_of
FAULTS: dict[str, tuple[object, str, object]] = {
    "a sum that moves down is priced as one that moves up": (
        Moves, "direction", property(_always_up)),
    "who takes a place in the same group moves a sum no farther": (
        Moves, "steps", _without_the_spread),
    "the last step is rounded down": (Moves, "steps", _rounded_down),
    "a sum is moved from the middle of its ends": (
        Moves, "farthest", property(_from_the_middle)),
    "of many rows one moves a number": (tables, "moves_of", _one_row),
    "a threshold is a little lower": (mechanisms.Noisy, "shown_from", _a_little_lower),
    "a person is in one group": (mechanisms.Noisy, "statistics", _one_group),
    "who is cut is told for nothing": (mechanisms.Noisy, "statistics", _cuts_are_free),
    "a person is in one grouping": (mechanisms.Noisy, "statistics", _one_grouping),
    "places and tables are composed opposite ways round": (
        noise.Statistic, "steps", _as_a_place),
}  # fmt: skip


ASKS: dict[str, Callable[[int], object]] = dict.fromkeys(
    FAULTS, partial(shortfalls, in_accounts=False)
)
ASKS["places and tables are composed opposite ways round"] = pair_shortfall


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, instead = FAULTS[fault]
    monkeypatch.setattr(where, name, instead)
    assert any(map(ASKS[fault], range(250))), "no claim shows it"
