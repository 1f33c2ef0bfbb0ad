"""The pictures of docs/howto/attack.md are those that the script makes of the pages' own tables."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from policy_engine.cli.comparing import draw

ROOT = Path(__file__).parents[2]


def _script() -> ModuleType:
    place = ROOT / "benchmarks/attack_figures.py"
    spec = importlib.util.spec_from_file_location("attack_figures", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["attack_figures"] = module
    spec.loader.exec_module(module)
    return module


script = _script()


def test_the_page_shows_all_and_the_folder_holds_nothing_else() -> None:
    page = script.PAGE.read_text("utf-8")
    assert {path.stem for path in script.OUTPUT.iterdir()} == set(script.PICTURES)
    for name in script.PICTURES:
        assert page.count(f"../_static/lecture/{name}.svg") == 1


@pytest.mark.parametrize("name", script.PICTURES)
def test_what_is_checked_in_is_what_the_script_makes(name: str, tmp_path: Path) -> None:
    paint, width = script.PICTURES[name]
    draw(tmp_path / "made.svg", paint, width)
    made, checked_in = tmp_path / "made.svg", script.OUTPUT / f"{name}.svg"
    assert made.read_bytes() == checked_in.read_bytes()


def test_every_row_of_the_evidence_is_drawn() -> None:
    found = list(script.rows())
    assert len({name for name, *_ in found}) == 12
    assert len(found) == 24 and all(right < 90 for *_, right in found)
