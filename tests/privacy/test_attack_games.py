"""Each attack finds its planted victim in the exact table, and no more than the bound after it.

The games are those of docs/explanation/how-we-tested.md. A sound release fails one of these
tests once in a million times; an exact table passes for a certified one as seldom.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/explanation/how-we-tested.md"
CONFIDENCE = 1 - 2e-6


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "attack_games", ROOT / "benchmarks/attack_games.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["attack_games"] = module
    spec.loader.exec_module(module)
    return module


script = _script()
GAMES = {f"{number} {game.name}": game for number, game in enumerate(script.GAMES)}
CERTIFIED = [(name, mechanism) for name, game in GAMES.items() for mechanism in game.mechanisms]
QUICK = [each for each in CERTIFIED if each[0].partition(" ")[2] in {"homogeneity", "membership"}]


@pytest.mark.parametrize("name", GAMES)
def test_the_planted_victim_is_found_in_the_exact_table(name: str) -> None:
    guesses, bound = script.play(GAMES[name], None, 150)
    assert guesses.at(CONFIDENCE)[0] > bound


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
@pytest.mark.parametrize(("name", "mechanism"), QUICK)
def test_some_attacks_fail_on_certified_releases(name: str, mechanism: str) -> None:
    guesses, bound = script.play(GAMES[name], mechanism, 100)
    assert guesses.at(CONFIDENCE)[0] <= bound


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
@pytest.mark.parametrize(("name", "mechanism"), CERTIFIED)
def test_every_attack_fails_on_certified_releases(name: str, mechanism: str) -> None:
    guesses, bound = script.play(GAMES[name], mechanism, 2_000, seed=1)
    assert guesses.coins == 2_000 and guesses.at(CONFIDENCE)[0] <= bound


def test_the_page_has_a_row_of_each_game_within_its_bound() -> None:
    text = PAGE.read_text("utf-8")
    [head] = re.findall(r"^\| attack \| (.+) \| at most \|$", text, re.MULTILINE)
    rows = re.findall(r"^\| ([^|]+) \| (.+\(.+) \| ([\d.]+) \|$", text, re.MULTILINE)
    found = [(name, how, cell, bound) for name, cells, bound in rows
             for how, cell in zip(head.split(" | "), cells.split(" | "), strict=True)
             if cell != "–"]  # fmt: skip
    wanted = [(game.name, how) for game in script.GAMES for how in game.mechanisms]
    assert [each[:2] for each in found] == wanted
    for _, _, cell, bound in found:
        assert float(re.findall(r"[\d.]+", cell)[1]) <= float(bound)
