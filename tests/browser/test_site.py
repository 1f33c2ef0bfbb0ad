"""The documentation's site in a real browser, on a phone and on a desk: read, found, heard."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import faults_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
PAGES = sorted(
    str(page.relative_to(ROOT / "docs").with_suffix(".html"))
    for page in (ROOT / "docs").rglob("*.md")
    if not {"_build", "_static"} & set(page.parts)
)
#: What 'make test' looks at; 'make evidence' looks at every page.
FEW = {"index.html", "tutorial.html", "howto/ledger.html", "reference/commands/plan.html"}
LOOKED_AT = [
    pytest.param(page, marks=() if page in FEW else pytest.mark.evidence) for page in PAGES
]
_MEASURES = """() => ({
  sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  cut: [...document.querySelectorAll('.highlight pre')]
    .filter(block => block.scrollWidth > block.clientWidth + 1).length,
  empty: [...document.querySelectorAll('article a')]
    .filter(link => !link.textContent.trim() && !link.querySelector('img')).length,
  described: document.querySelector('meta[name=description]')?.content.length ?? 0,
})"""
_FOUND = "links => links.slice(0, 1).map(link => link.getAttribute('href'))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: for 'make test' this is what builds the documentation."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
         str(ROOT / "docs"), str(folder)],
        check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    return folder


@pytest.fixture
def opened(browser, site) -> Iterator[object]:
    """Opens a page at a width."""
    contexts = []

    def at(page: str, width: int):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}))
        shown = contexts[-1].new_page()
        shown.goto(f"{site.as_uri()}/{page}")
        return shown

    yield at
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", LOOKED_AT)
def test_a_page_is_read_whole_and_heard(opened, page: str, width: int) -> None:
    shown = opened(page, width)
    found = shown.evaluate(_MEASURES)
    assert found.pop("described") > 20
    assert found == {"sideways": 0, "cut": 0, "empty": 0}
    assert faults_of(shown, 5) == []


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("differential privacy", "explanation/why-noise.html"),
        ("laplace", "explanation/mechanism.html"),
        ("epsilon", "howto/choose-numbers.html"),
        ("GDPR", "explanation/questions.html"),
        ("snowflake", "howto/warehouses.html"),
        ("airflow", "howto/recipes.html"),
    ],
)
def test_a_search_finds_the_page_that_explains_it_first(opened, words: str, page: str) -> None:
    shown = opened(f"search.html?q={words}", 1280)
    shown.wait_for_function("document.querySelector('.search-summary')?.textContent.includes('f')")
    shown.wait_for_selector("#search-results ul.search li a")
    [first] = shown.eval_on_selector_all("#search-results ul.search li > a", _FOUND)
    assert first.partition("#")[0] == page


def test_commands_are_copied_without_their_output(opened) -> None:
    shown = opened("howto/gallery.html", 1280)
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.locator("button.copy").first.click()
    shown.wait_for_function("document.querySelector('button.copy').textContent === 'Copied'")
    copied = shown.evaluate("navigator.clipboard.readText()")
    assert len(copied.splitlines()) == 2
    assert all(line.startswith("policy-engine ") for line in copied.splitlines())


def test_machines_are_told_every_page(site: Path) -> None:
    text = (site / "llms.txt").read_text("utf-8")
    assert text.startswith(
        "# policy-engine\n\n> With policy-engine you publish counts, sums, means and medians about "
    )
    assert all(f"({page})" in text for page in PAGES)
