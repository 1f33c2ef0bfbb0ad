"""The searches over a lattice, beside brute force over 200 random ones."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from policy_engine.choose import boxes
from policy_engine.choose import lattice as lattice_module
from policy_engine.choose.boxes import SchemesSeen, look
from policy_engine.choose.lattice import (
    Bounds,
    Histogram,
    Ladder,
    Lattice,
    Scheme,
    cells_of,
    measured,
    walked,
)
from policy_engine.choose.public import frontier_of
from policy_engine.choose.searching import (
    Anonymity,
    BestScore,
    Everything,
    Frontier,
    IsAnonymous,
    Objective,
    SchemeSearch,
    _divergence,
    anonymous,
    best_of,
    datafly,
    incognito,
    k_minimal,
    mondrian,
    optimal,
    samarati,
    values_of,
)
from policy_engine.errors import DomainError

Table = tuple[Histogram, Lattice, list[list[tuple[str | None, ...]]]]


def random_ladder(name: str, rng: random.Random) -> tuple[Ladder, list[tuple[str | None, ...]]]:
    """A ladder whose levels unite neighbours at random; sometimes with NULL."""
    values = rng.randint(1, 7)
    levels: list[list[str | None]] = [[f"v{at}" for at in range(values)]]
    while rng.random() < 0.7 and len(set(levels[-1])) > 1:
        above = {label: rng.choice("ab") + str(len(levels)) for label in sorted(set(levels[-1]))}
        levels.append([above[label] for label in levels[-1] if label is not None])
    rows: list[tuple[str | None, ...]] = list(zip(*levels, strict=True))
    if rng.random() < 0.3:
        rows.append((None,) * len(levels))
    return Ladder.of(name, rows), rows


def random_table(seed: int) -> Table:
    rng = random.Random(seed)
    made = [random_ladder(f"c{at}", rng) for at in range(rng.randint(1, 4))]
    people = Counter(
        tuple(rng.randrange(len(rows)) for _, rows in made) for _ in range(rng.randint(1, 120))
    )
    labels = np.array(list(people), dtype=np.int64)
    histogram = Histogram(labels, np.array(list(people.values()), dtype=np.int64))
    weights = tuple((ladder.column, Fraction(rng.randint(1, 3))) for ladder, _ in made)
    lattice = Lattice.of([ladder for ladder, _ in made], Bounds(weights=weights))
    return histogram, lattice, [rows for _, rows in made]


def by_hand(table: Table, scheme: Scheme) -> list[int]:
    """The people of each group of a scheme, told apart by the labels themselves."""
    histogram, _, rows = table
    found: Counter[tuple[object, ...]] = Counter()
    for labels, people in zip(histogram.labels.tolist(), histogram.people.tolist(), strict=True):
        group = tuple(
            rows[at][label][scheme[at] :] for at, label in enumerate(labels)
        )  # a level past the last is one label for all
        found[group] += people
    return sorted(found.values())


def has(people: list[int], k: int, share: Fraction) -> bool:
    return sum(n for n in people if n < k) <= share * sum(people)


@pytest.mark.parametrize("seed", range(200))
def test_what_is_found_is_what_brute_force_finds(seed: int) -> None:
    table = random_table(seed)
    histogram, lattice, _ = table
    rng = random.Random(-seed)
    model = Anonymity(
        rng.randint(1, 12), rng.choice([Fraction(0), Fraction(1, 20), Fraction(1, 4)])
    )
    groups = {scheme: by_hand(table, scheme) for scheme in lattice.schemes()}
    for scheme, cells in walked(histogram, lattice):
        assert sorted(cells.people.tolist()) == groups[scheme]
    holding = {scheme for scheme in groups if has(groups[scheme], model.k, model.share)}
    minimal = {
        scheme
        for scheme in holding
        if not any(
            other != scheme and all(a <= b for a, b in zip(other, scheme, strict=True))
            for other in holding
        )
    }

    def settled() -> SchemeSearch:
        return SchemeSearch(histogram, lattice, model)

    found = optimal(settled())
    best = max(map(lattice.precision, holding), default=None)
    assert (None if found is None else lattice.precision(found)) == best
    assert found is None or found in holding
    assert set(k_minimal(settled())) == minimal == set(incognito(settled()))
    least = min((sum(lattice.place(each)) for each in holding), default=None)
    lowest = {each for each in holding if sum(lattice.place(each)) == least}
    assert set(samarati(settled())) == lowest
    flown = datafly(settled())
    assert (flown in holding) if holding else (flown is None)
    settling = settled()
    assert {scheme for scheme in groups if settling.holds[lattice.place(scheme)]} == holding
    parts = mondrian(histogram, lattice, model.k)
    assert parts.sum() in {0, histogram.total}
    assert all(parts >= model.k)


@pytest.mark.parametrize("seed", range(60))
def test_what_was_not_looked_at_does_not_matter(seed: int) -> None:
    """The best score, the frontier and who has the model are those of a look at every scheme."""
    histogram, whole, _ = random_table(seed)
    rng = random.Random(seed)
    most = {each.column: rng.randint(1, each.height) for each in whole.ladders}
    lattice = Lattice.of(whole.ladders, Bounds(at_most=tuple(most.items())))
    model, least = Anonymity(rng.randint(1, 6), Fraction(1, 10)), rng.randint(1, 9)
    every, some = SchemesSeen(lattice, [model.k, least]), SchemesSeen(lattice, [model.k, least])
    asked = IsAnonymous(some, model, histogram.total)
    look(histogram, lattice, every, [Everything(lattice)])
    look(histogram, lattice, some, [asked, BestScore(some, least, asked), Frontier(some, least)])
    holds = [model.holds(people, histogram.total) for people in every.people[model.k].ravel()]
    assert asked.holds.ravel().tolist() == holds
    allowed = asked.holds
    found = [
        best_of(values_of(histogram, seen, Objective.score, least, allowed), allowed, lattice)
        for seen in (every, some)
    ]
    assert found[0] == found[1]
    assert frontier_of(some.people[least], lattice) == frontier_of(every.people[least], lattice)
    minimal = k_minimal(SchemeSearch(histogram, lattice, model))
    assert incognito(SchemeSearch(histogram, lattice, model)) == minimal


def test_groups_are_told_apart_where_62_bits_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    histogram, lattice, _ = random_table(11)
    usual, wide = SchemesSeen(lattice, [2]), SchemesSeen(lattice, [2])
    look(histogram, lattice, usual, [Everything(lattice)])
    monkeypatch.setattr(lattice_module, "MOST_PLACES", 8)
    look(histogram, lattice, wide, [Everything(lattice)])
    assert wide.people[2].tolist() == usual.people[2].tolist()


@pytest.mark.parametrize("seed", range(20))
def test_what_is_seen_does_not_depend_on_how_groups_are_numbered_or_boxes_wait(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns one by one, groups by their hashes alone, rows united at once, the last box first."""
    histogram, lattice, _ = random_table(seed)
    usual, other = SchemesSeen(lattice, [1, 3]), SchemesSeen(lattice, [1, 3])
    look(histogram, lattice, usual, [Everything(lattice)])
    assert (usual.people[1] == histogram.total).all()
    changed = {"_TOGETHER": 1, "_DENSE": 0, "_FEW": 0, "_SAVES": 1.0, "_MOST_WAITING": 0}
    for name, value in changed.items():
        monkeypatch.setattr(boxes, name, value)
    look(histogram, lattice, other, [Everything(lattice)])
    for size in usual.sizes:
        assert other.people[size].tolist() == usual.people[size].tolist()
        assert other.groups[size].tolist() == usual.groups[size].tolist()
        assert other.squares[size].tolist() == usual.squares[size].tolist()


def test_numbers_are_told_apart_by_their_hashes() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 2**62, 500)[rng.integers(0, 500, 3_000)]
    found = boxes._renumbered(numbers)
    assert len({*zip(numbers.tolist(), found.tolist(), strict=True)}) == len({*numbers.tolist()})
    assert len({*found.tolist()}) == len({*numbers.tolist()})
    assert found.max() < 10 * len(numbers)


def test_less_is_looked_at_than_there_is() -> None:
    rng = random.Random(5)
    ladders = [
        Ladder.of(f"c{at}", [(f"{n}", f"{n // 2}", f"{n // 4}") for n in range(8)])
        for at in range(5)
    ]
    rows = np.array([[rng.randrange(8) for _ in range(5)] for _ in range(3_000)])
    labels, people = np.unique(rows, axis=0, return_counts=True)
    lattice = Lattice.of(ladders)
    settled = SchemeSearch(Histogram(labels, people), lattice, Anonymity(10))
    assert optimal(settled) is not None
    assert settled.looks < lattice.size / 3


def test_each_objective_is_what_its_definition_says() -> None:
    table = random_table(11)
    histogram, lattice, rows = table
    k, total = 3, histogram.total
    seen = SchemesSeen(lattice, [k])
    look(histogram, lattice, seen, [Everything(lattice)])
    everything = np.ones(lattice.shape, dtype=bool)
    found = {each: values_of(histogram, seen, each, k, everything) for each in Objective}
    found[Objective.kl] = -measured(histogram, lattice, _divergence(lattice, histogram))
    for scheme in lattice.schemes():
        place, people = lattice.place(scheme), by_hand(table, scheme)
        shown = [n for n in people if n >= k]
        precision = float(lattice.precision(scheme))
        assert found[Objective.precision][place] == pytest.approx(precision)
        score = sum(max(0, n - k) for n in people) * precision
        assert found[Objective.score][place] == pytest.approx(score)
        squares = sum(n * n for n in shown) + total * (total - sum(shown))
        assert found[Objective.discernibility][place] == -squares
        average = -sum(shown) / (len(shown) * k) if shown else -math.inf
        assert found[Objective.classes][place] == pytest.approx(average)
    finest = found[Objective.kl][lattice.place(lattice.finest)]
    assert finest == pytest.approx(0)
    # Of one group over all values: ln of how many there can be, less the entropy.
    top = tuple(ladder.height for ladder in lattice.ladders)
    shares = histogram.people / total
    room = math.log(math.prod(map(len, rows)))
    entropy = -float((shares * np.log(shares)).sum())
    assert -found[Objective.kl][lattice.place(top)] == pytest.approx(room - entropy)


@pytest.mark.parametrize("seed", range(100))
def test_the_least_divergence_is_found_without_a_look_at_all(seed: int) -> None:
    histogram, lattice, _ = random_table(seed)
    rng = random.Random(seed)
    model = Anonymity(rng.randint(1, 12), rng.choice([Fraction(0), Fraction(1, 5)]))
    allowed = anonymous(histogram, lattice, model)
    seen = SchemesSeen(lattice, [model.k])
    every = -measured(histogram, lattice, _divergence(lattice, histogram))
    some = values_of(histogram, seen, Objective.kl, model.k, allowed)
    assert best_of(some, allowed, lattice) == best_of(every, allowed, lattice)
    looked = np.isfinite(some)
    assert some[looked].tolist() == every[looked].tolist()
    nobody = values_of(histogram, seen, Objective.kl, model.k, np.zeros_like(allowed))
    assert not np.isfinite(nobody).any()


def test_a_lattice_is_as_it_is_asked_for() -> None:
    zips = Ladder.of("zip", [("301", "3"), ("302", "3"), ("400", "4")])
    narrow = Lattice.of([zips], Bounds((("zip", 1),), (("zip", 1),)))
    assert list(narrow.schemes()) == [(1,)] and narrow.precision((1,)) == Fraction(1, 2)
    table = Histogram(np.array([[0], [2]]), np.array([2, 1]))
    assert measured(table, narrow, lambda cells, _: float(len(cells.people))).tolist() == [2.0]
    nobody = Histogram(np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert cells_of(nobody, narrow, (1,)).people.tolist() == []
    assert not len(mondrian(nobody, narrow, 2))


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (Bounds(at_most=(("zap", 1),)), "one of zip"),
        (Bounds(at_most=(("zip", 3),)), "levels from 0 to 2"),
        (Bounds(at_least=(("zip", 2),), at_most=(("zip", 1),)), "at_least not above at_most"),
        (Bounds(weights=(("zip", Fraction(0)),)), "one above 0"),
        (Bounds(weights=(("zip", Fraction(-1)),)), "0 or more"),
    ],
)
def test_what_allows_no_scheme_is_refused(bounds: Bounds, told: str) -> None:
    with pytest.raises(DomainError, match=told):
        Lattice.of([Ladder.of("zip", [("301", "3"), ("400", "4")])], bounds)


def test_the_first_of_the_best_is_taken_among_those_allowed() -> None:
    lattice = Lattice.of([Ladder.of("zip", [("301", "3"), ("400", "4")])])
    values = np.array([1.0, 3.0, 3.0])
    assert best_of(values, np.array([True, True, True]), lattice) == (1,)
    assert best_of(values, np.array([True, False, False]), lattice) == (0,)
    assert best_of(values, np.array([False, False, False]), lattice) is None
