"""Each attack on a planted victim, by coins: on the exact table, and on certified releases.

    PYTHONPATH=. .venv/bin/python benchmarks/attack_games.py [--coins 2000]

prints the table of docs/explanation/how-we-tested.md. A coin decides what is true of the victim:
of two illnesses which, or whether somebody is in the source at all. The attacker knows everything
else, sees what is published, and guesses. Of an (ε, δ)-DP release (e^ε + δ)/(1 + e^ε) of the
guesses are right at most, whatever the attack; intervals are Clopper and Pearson's. Every release
is the certified text on DuckDB, under a fresh secret.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from random import Random

import pyarrow as pa

from policy_engine.accounting.noise_laws import shown_half
from policy_engine.accounting.odds import guessed_right
from policy_engine.attack import attacks
from policy_engine.attack.attacks import PublishedTable, classes_of
from policy_engine.attack.graphs import neighbours_of, propagate
from policy_engine.attack.guessing import Guesses
from policy_engine.attack.trackers import SizeControl, trackers
from policy_engine.audit.bench import BenchPlace, BenchWarehouse
from policy_engine.audit.people import Person
from policy_engine.compile.catalog import Field, Table
from policy_engine.kernel.certificate import Certificate
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.drawing import new_secret

Row = tuple[str, ...]
_POLICY = """\
version: 1
name: game
source: {{table: people}}
privacy_unit: row
recode: {{{recode}}}
{mechanism}
guarantee: {{epsilon: 1, delta: {delta}, neighbours: {neighbours}}}
release: {{file: out.parquet, as: {shape}}}
grouping: recoded
"""
_MECHANISMS = {
    "sampled suppression": "sample: {rate: 0.25, method: keyed}\nk: 14",
    "counts with noise": "mechanism: noisy_counts",
    "αβ insertion": "mechanism: ab_insertion",
}
CERTIFIED = tuple(_MECHANISMS)[:2]
_BATCH = 49


@dataclass(frozen=True)
class View:
    """One publication: which columns are known, and of whom it is, by the coin."""

    quasi: tuple[str, ...]
    people: tuple[Sequence[Row], Sequence[Row]]


@dataclass(frozen=True)
class Game:
    """What is published by the coin, and the guess of it. ``spends``: releases with the victim.

    ``views`` are made from how many people alike the mechanism shows half of the time, so that what
    is shown of them tells most.
    """

    name: str
    neighbours: str
    views: Callable[[int], tuple[View, ...]]
    guess: Callable[[Sequence[PublishedTable]], bool]
    spends: int = 1
    shape: str = "counts"
    columns: tuple[str, ...] = ("zip", "age", "illness")
    mechanisms: tuple[str, ...] = CERTIFIED
    recode: str = ""

    def exact(self, view: View, *, heads: bool) -> PublishedTable:
        """What is published where nothing protects it: the columns of the view, row by row."""
        places = [self.columns.index(name) for name in view.quasi]
        rows = [(tuple(row[i] for i in places), row[-1]) for row in view.people[heads]]
        counted = classes_of([(key, value, 1) for key, value in rows])
        return PublishedTable("exact", view.quasi, self.columns[-1], counted, tuple(rows))

    def policy(self, view: View, mechanism: str) -> Policy:
        """The policy of a certified release of the view, at ε = 1."""
        names = (*view.quasi, self.columns[-1])
        return load_policy_text(
            _POLICY.format(
                recode=self.recode or ", ".join(f"{name}: keep" for name in names),
                mechanism=_MECHANISMS[mechanism],
                delta=0 if mechanism == "αβ insertion" else "1.0e-6",
                neighbours=self.neighbours,
                shape=self.shape,
            ),
            "game.yaml",
            ".",
        )


def play(game: Game, mechanism: str | None, coins: int, seed: int = 0) -> tuple[Guesses, Decimal]:
    """How many coins are guessed right, and the share that the theorem allows at most.

    ``mechanism`` None is the exact table, of which the bound is that of the certified releases.
    """
    chance = Random(seed)
    views = game.views(_half(game, mechanism))
    with ExitStack() as stack:
        draws = {
            (place, heads): stack.enter_context(_drawing(game, view, heads, mechanism))
            for place, view in enumerate(views)
            for heads in (False, True)
        }
        right = 0
        for _ in range(coins):
            heads = chance.random() < 0.5
            right += game.guess([next(draws[place, heads]) for place in range(len(views))]) is heads
    delta = 0 if game.mechanisms == ("αβ insertion",) else Decimal("1e-6")
    return Guesses(right, coins), guessed_right(game.spends, game.spends * delta)


def _half(game: Game, mechanism: str | None) -> int:
    """How many people alike are shown half of the time; of a table that shows all, any number."""
    if mechanism != "counts with noise":
        return 55  # a sample of a quarter has 14 of them half of the time
    policy = game.policy(View(game.columns[:-1], ([], [])), mechanism)
    assert policy.noise is not None
    return shown_half(policy.noise.table, policy.k)


@contextmanager
def _drawing(
    game: Game, view: View, heads: bool, mechanism: str | None
) -> Iterator[Iterator[PublishedTable]]:
    if mechanism is None:
        table = game.exact(view, heads=heads)
        yield iter(lambda: table, None)
        return
    policy = game.policy(view, mechanism)
    columns = tuple(Field(name, "VARCHAR") for name in game.columns)
    people = tuple(
        Person(number, (tuple(zip(game.columns, row, strict=True)),))
        for number, row in enumerate(view.people[heads])
    )
    with BenchPlace(policy, Table(columns), "audit").build(people) as (placed, warehouse):
        certificate, _ = prepare(placed, default_project(Path()), warehouse)
        yield _releases(placed, warehouse, certificate, (*view.quasi, game.columns[-1]))


def _releases(
    policy: Policy, warehouse: BenchWarehouse, certificate: Certificate, names: Sequence[str]
) -> Iterator[PublishedTable]:
    table = warehouse.table(policy.source, policy.directory)
    while True:
        with warehouse.sampled(policy, table, new_secret()):
            found = [warehouse.rows(certificate.query)]
            if policy.noise is not None:  # one statement for many secrets, as an audit has it
                found += warehouse.rows_of_many(certificate.query, _BATCH)[1:]
        for rows in found:
            yield _released(rows, names, certificate.count)


def _released(rows: pa.Table, names: Sequence[str], count: str | None) -> PublishedTable:
    columns = [rows.column(name).to_pylist() for name in names]
    shown = list(zip(*columns, strict=True))
    people = rows.column(count).to_pylist() if count in rows.column_names else [1] * len(shown)
    counted = [(row[:-1], row[-1], n) for row, n in zip(shown, people, strict=True)]
    single = () if count in rows.column_names else tuple((row[:-1], row[-1]) for row in shown)
    return PublishedTable("release", tuple(names[:-1]), names[-1], classes_of(counted), single)


# The games. Of Bob everything is known but what the coin decides.

MANY = 400
"""So many people alike are shown nearly always."""
BOB = ("a", "40")
_KNOWN = [{"zip": BOB[0], "age": BOB[1]}]
KINDS = {"gastritis": "stomach", "ulcer": "stomach", "flu": "airways", "rash": "skin"}
Views = tuple[View, ...]


def _people(*cells: tuple[str, str, str, int]) -> list[Row]:
    return [(zip_, age, illness) for zip_, age, illness, n in cells for _ in range(n)]


_CROWD = _people(
    *(("b", age, illness, MANY) for age in ("20", "30") for illness in ("flu", "rash")),
    ("a", "20", "rash", MANY),
)


def _alike(half: int, *others: tuple[str, int], coin: tuple[str, str] = ("ulcer", "flu")) -> Views:
    """Bob's class: ``half`` people with the illness of heads, and others; the coin is his own."""
    rows = [*_CROWD, *_people(*((*BOB, *other) for other in others), (*BOB, coin[1], half))]
    return (View(("zip", "age"), ([*rows, (*BOB, coin[0])], [*rows, (*BOB, coin[1])])),)


def _skewed(half: int) -> Views:
    """His class is half and half but for him; one more ulcer makes it twice the table's share."""
    total = 8 * half + 2  # 2·(2h + 1)²/(h + 1) ≤ total < 2·2h·(2h + 1)/h, h people each
    others = _people((*BOB, "ulcer", half), (*BOB, "flu", half), ("b", "20", "ulcer", half),
                     ("b", "20", "flu", total - 3 * half - 1))  # fmt: skip
    return (View(("zip", "age"), ([*others, (*BOB, "flu")], [*others, (*BOB, "ulcer")])),)


def _in_or_not(half: int) -> Views:
    without = [*_CROWD, *_people((*BOB, "flu", half))]
    return (View(("zip", "age"), (without, [*without, (*BOB, "flu")])),)


def _before_and_after(half: int) -> Views:
    (after,) = _in_or_not(3 * half)
    return View(("zip", "age"), (after.people[0],) * 2), after


def _two_recodings(half: int) -> Views:
    others = _people(("a", "20", "flu", MANY), ("b", "40", "flu", MANY), ("b", "20", "ulcer", MANY))
    both = tuple([*others, (*BOB, illness)] for illness in ("ulcer", "flu"))
    return View(("zip",), both), View(("age",), both)


def _names_bob(attempt: attacks.Attempt) -> bool:
    return any(line.startswith("zip a, age 40:") for line in attempt.learned)


def _says_flu(attempt: attacks.Attempt) -> bool:
    return any(line.endswith("illness is flu") for line in attempt.learned)


def _matched(seen: Sequence[PublishedTable]) -> bool:
    lines = attacks.unsorted_matching(*seen).learned
    return any(line.startswith("zip a; age 40:") and line.endswith("flu") for line in lines)


def _tracker(number: int, name: str) -> Game:
    def guess(seen: Sequence[PublishedTable]) -> bool:
        return _says_flu(list(trackers(SizeControl(seen[0], 90), _KNOWN, "known"))[number])

    return Game(name, "replace_one", _alike, guess)


def _counted(least: Callable[[int], int], half: int) -> Callable[[Sequence[PublishedTable]], bool]:
    """Who knows the others guesses from the one count: is it as large as with him?"""

    def guess(seen: Sequence[PublishedTable]) -> bool:
        cells: Counter[object] = seen[0].classes.get(BOB, Counter())
        return cells["flu"] > (half if seen[0].name == "exact" else least(half))

    return guess


# A graph of a public list of pairs: 24 nodes, and the coin is whether two of them are joined.

_NODES = [f"n{number:02}" for number in range(24)]
_PAIRS = [(a, b) for i, a in enumerate(_NODES) for b in _NODES[i + 1 :]]
_JOINED = [pair for pair in _PAIRS if Random(str(pair)).random() < 0.4]
_VICTIMS = ("n20", "n22")
_OTHERS = [pair for pair in _JOINED if pair != _VICTIMS]
_REAL = dict(zip([f"name{number}" for number in range(24)], _NODES, strict=True))
_NAMES = {node: name for name, node in _REAL.items()}
_OWN = neighbours_of((_NAMES[a], _NAMES[b]) for a, b in _OTHERS)
_SEEDS = {f"name{number}": _NODES[number] for number in range(24) if number not in {20, 22}}
_GRAPH = View(("a",), (_OTHERS, [*_OTHERS, _VICTIMS]))


def _joined(seen: Sequence[PublishedTable]) -> bool:
    edges = [(key[0], other) for key, cells in seen[0].classes.items() for other in cells]
    graph = neighbours_of(edge for edge in edges if None not in edge)
    who = propagate(graph, _OWN, _SEEDS)
    one, other = (who.get(_NAMES[node]) for node in _VICTIMS)
    return one is not None and other in graph.get(one, frozenset())


def _graph(*mechanisms: str) -> Game:
    listed = ", ".join(f"{node}: {node}" for node in _NODES[:-1])
    public = ", ".join(f"{name}: {{map: {{{listed}}}, other: {_NODES[-1]}}}" for name in "ab")
    return Game(
        "seed and propagate", "add_remove", lambda _: (_GRAPH,), _joined,
        columns=("a", "b"), mechanisms=mechanisms, recode=public,
        shape="rows" if mechanisms == ("αβ insertion",) else "counts",
    )  # fmt: skip


GAMES = (
    Game("homogeneity", "replace_one", _alike,
         lambda seen: _names_bob(attacks.homogeneity(seen[0]))),
    Game("background knowledge", "replace_one",
         lambda half: _alike(half, ("rash", MANY)),
         lambda seen: _names_bob(attacks.background(seen[0]))),
    Game("skewness", "replace_one", _skewed,
         lambda seen: _names_bob(attacks.skewness(seen[0]))),
    Game("similarity", "replace_one",
         lambda half: _alike(half, ("gastritis", MANY), coin=("flu", "ulcer")),
         lambda seen: _names_bob(attacks.similarity(seen[0], KINDS))),
    Game("linkage", "replace_one", _alike,
         lambda seen: _says_flu(attacks.linkage(seen[0], _KNOWN, "known"))),
    Game("differencing", "add_remove", _before_and_after,
         lambda seen: _names_bob(attacks.differencing(*seen))),
    Game("unsorted matching", "replace_one", _two_recodings, _matched, spends=2,
         shape="rows", mechanisms=CERTIFIED[:1]),
    _tracker(0, "individual tracker"),
    _tracker(1, "general tracker"),
    _tracker(2, "double tracker"),
    _graph(*CERTIFIED),
    _graph("αβ insertion"),
    Game("membership", "add_remove", _in_or_not,
         _counted(lambda half: half // 4, 55), mechanisms=CERTIFIED[:1]),
    Game("membership", "add_remove", lambda half: _in_or_not(165),
         _counted(lambda half: half, 165), mechanisms=CERTIFIED[1:]),
)  # fmt: skip


def _up(share: Decimal) -> Decimal:
    return share.quantize(Decimal("0.1"), ROUND_CEILING)


def main() -> None:
    """Play all games and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--coins", type=int, default=2000)
    coins = parser.parse_args().coins
    print(f"| attack | {' | '.join(_MECHANISMS)} | at most |")
    print("|---|---|---|---|---|")
    for name in dict.fromkeys(game.name for game in GAMES):
        cells = dict.fromkeys(_MECHANISMS, "–")
        for game in (each for each in GAMES if each.name == name):
            exact, bound = play(game, None, coins)
            if exact.right < coins:
                print(f"{name}: right {exact.right} of {coins} times on the exact table")
            cells |= {how: _cell(game, how, coins) for how in game.mechanisms}
        print(f"| {name} | {' | '.join(cells.values())} | {_up(100 * bound)} |")
        sys.stdout.flush()


def _cell(game: Game, mechanism: str, coins: int) -> str:
    guesses, _ = play(game, mechanism, coins)
    low, high = guesses.at(0.95)
    return f"{100 * guesses.right / guesses.coins:.1f} ({100 * low:.1f}–{100 * high:.1f})"


if __name__ == "__main__":
    main()
