"""The pictures and tables of docs/explanation/paper-figures.md are those that the script makes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/explanation/paper-figures.md"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "paper_figures", ROOT / "benchmarks/paper_figures.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["paper_figures"] = module
    spec.loader.exec_module(module)
    return module


script = _script()
SLOW = {"lqs-figure-6", "thesis-figure-3-3"}
NAMES = [
    pytest.param(name, marks=pytest.mark.evidence) if name in SLOW else name
    for name in script.ITEMS
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_checked_in_is_what_the_script_makes(name: str) -> None:
    item = script.ITEMS[name]()
    assert (script.OUTPUT / f"{name}.md").read_text("utf-8") == script.markdown(item)
    assert (script.OUTPUT / f"{name}.svg").exists() == isinstance(item, script.Figure)


def test_the_page_shows_all_and_the_folder_holds_nothing_else() -> None:
    page = PAGE.read_text("utf-8")
    # The picture of the frontier stands there too; its command is in choose-numbers.md.
    files = {path.name for path in script.OUTPUT.iterdir()} - {"frontier.svg"}
    assert {Path(file).stem for file in files} == set(script.ITEMS)
    for file in map(Path, files):
        shown = (
            f"../_static/figures/{file}" if file.suffix == ".svg" else f"generated: {file.stem} "
        )
        assert page.count(shown) == 1, file


def test_a_picture_is_the_same_bytes_twice(tmp_path: Path) -> None:
    figure = script.lqs_figure_5()
    script.draw(figure, tmp_path / "a.svg")
    script.draw(figure, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["lqs-figure-2", "lqs-figure-3", "lqs-figure-4"])
def test_the_exact_curve_is_never_above_the_papers(name: str) -> None:
    [panel] = script.ITEMS[name]().panels
    compared = 0
    for series in range(4):
        own, of_paper = (
            {
                x: y
                for c in panel.curves
                if (c.series, c.style) == (series, style)
                for x, y in c.points
            }
            for style in ("-", "--")
        )
        for x in own.keys() & of_paper.keys():
            assert own[x] <= of_paper[x]
            compared += 1
    assert compared > 80


# The thesis's drawings


@pytest.mark.parametrize(("unknown", "epsilon", "delta"), script.PRINTED_3_2)
def test_the_numeric_curve_of_figure_3_2(unknown: int, epsilon: float, delta: float) -> None:
    # An ε read off is right to half a unit of its last digit, and the curve jumps there.
    assert script.count_tail(unknown, 0.1, epsilon - 5e-5) == pytest.approx(delta, rel=2e-3)


@pytest.mark.parametrize(("unknown", "epsilon", "delta"), script.PRINTED_CLOSED_FORM)
def test_the_closed_form_of_figure_3_2(unknown: int, epsilon: float, delta: float) -> None:
    assert script.closed_form(unknown, epsilon) == pytest.approx(delta, rel=2e-3)


@pytest.mark.parametrize(
    ("unknown", "last", "delta", "moments"),
    [(*point, script.one_differs(point[0])) for point in script.PRINTED_CASE_1]
    + [(*point, script.uniform()) for point in script.PRINTED_CASE_2],
)
def test_proposition_27_of_figure_3_2(
    unknown: int, last: float, delta: float, moments: tuple[float, float]
) -> None:
    points = script.proposition_27(unknown, last, *moments)
    assert points[-1] == (last, pytest.approx(delta, rel=1e-2))


@pytest.mark.parametrize(("unknown", "floor", "epsilon"), script.PRINTED_3_3)
def test_the_curves_of_figure_3_3(unknown: int, floor: float, epsilon: float) -> None:
    assert script.epsilon_of_tail(unknown, floor, 0.01 / unknown) == pytest.approx(
        epsilon, rel=2e-3
    )


@pytest.mark.parametrize("unknown", [100, 10_000])
def test_the_printed_numeric_curve_is_below_a_case_and_ours_is_not(unknown: int) -> None:
    floor = script.THESIS_FLOOR
    for epsilon in (0.25, 0.3, 0.35):
        assert script.equal_records(unknown, floor, epsilon) <= script.count_bound(unknown, epsilon)
    below = {100: 1.0, 10_000: 0.2}[unknown]
    assert script.count_tail(unknown, 2 * floor, below) < script.equal_records(
        unknown, floor, below
    )
