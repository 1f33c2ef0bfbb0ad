"""The report's page in a real browser: it fetches and runs nothing, and everybody can read it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from chromium import faults_of, pdftotext
from conftest import BIDI, HOSTILE, RTL, WIDE

from policy_engine.policy.escapes import escaped

PAGES = {
    "hostile": (0, ()),
    "hostile-internal": (0, ("--audience", "internal", "--policy", "hostile.yaml")),
    "noisy": (0, ("--previous", "hostile.certificate.json")),
    "nothing": (0, ()),
    "amber": (4, ("--bare",)),
    "red": (1, ("--key", "stranger.pub")),
    "wide": (0, ()),
    "choice.chosen": (0, ()),
    "chosen": (0, ("--policy", "choice.chosen.yaml")),
}
OWN = {"hostile", "noisy", "nothing", "wide", "choice.chosen", "chosen"}


@pytest.fixture(scope="module")
def places(world):
    """The address of each page."""
    world.run("keys", "generate", "--output", "stranger.pem")
    found = {}
    for name, (code, words) in PAGES.items():
        of = name if name in OWN else "hostile"
        page = world.report(of, *words, code=code)
        kept = world.folder / f"page-{name}.html"
        shutil.copy(world.folder / f"{of}.html", kept)
        found[name] = kept.as_uri()
        assert page
    return found


@pytest.fixture
def opened(browser, places):
    """Opens a page, and fails if it asked for anything, ran anything or complained."""
    contexts = []

    def open_page(name, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(places[name])
        assert asked == [places[name]]
        assert said == []
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched_and_nothing_runs(opened, name):
    page = opened(name)
    assert page.evaluate("window.pwned") is None
    assert page.query_selector_all("script, img, iframe, object, link, base, form") == []
    handlers = page.evaluate(
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
        ".filter(a => /^on|^style$/i.test(a.name)).length"
    )
    assert handlers == 0


def test_a_script_could_not_run_even_if_one_were_there(browser, places, world, tmp_path):
    text = (world.folder / "page-hostile.html").read_text()
    for planted in (
        "<script>window.pwned = 1</script>",
        "<img src='https://example.org/' onerror='window.pwned = 1'>",
    ):
        file = tmp_path / "planted.html"
        file.write_text(text.replace("</main>", f"{planted}</main>"))
        page = browser.new_page()
        asked: list[str] = []
        page.on("response", lambda response, asked=asked: asked.append(response.url))
        page.goto(file.as_uri())
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.pwned") is None
        assert asked == [file.as_uri()]
        page.close()


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(opened, name):
    assert faults_of(opened(name, width=390 if name == "noisy" else 1280), 15) == []


def test_axe_would_find_a_fault(opened):
    page = opened("nothing")
    page.evaluate("document.querySelector('svg').removeAttribute('aria-label')")
    page.evaluate("document.documentElement.removeAttribute('lang')")
    grey = "background: #000 !important; color: #333 !important"
    page.evaluate(
        "css => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css);"
        " document.adoptedStyleSheets.push(sheet); }",
        f"@media (prefers-color-scheme: dark) {{ * {{ {grey} }} }}",
    )
    assert "color-contrast" not in {name for name, _ in faults_of(page, 10, ["light"])}
    found = {name for name, _ in faults_of(page, 10)}
    assert found >= {"html-has-lang", "svg-img-alt", "color-contrast"}


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_one_way(opened, name):
    page = opened(name, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_query_is_folded_until_it_is_asked_for(opened):
    page = opened("noisy")
    assert not page.locator("details pre").first.is_visible()
    page.locator("summary").click()
    assert page.locator("details pre").first.is_visible()


def test_hostile_names_are_shown_as_they_are_written(opened, world):
    text = opened("hostile").inner_text("body")
    for name in HOSTILE:
        assert escaped(name) in text
    assert RTL in text
    raw = (world.folder / "page-hostile.html").read_text()
    assert not {*raw} & {*BIDI} - {*"userfdp.exe"}


@pytest.mark.parametrize("name", ["choice.chosen", "chosen"])
def test_the_candidates_of_a_choice_are_shown_as_they_are_written(opened, name):
    text = opened(name).locator("#choice").inner_text()
    assert all(escaped(each) in text for each in (*HOSTILE[:3], RTL))
    assert text.count("(chosen)") == 4 and "one label for all: *" in text
    assert "16: combinations of one level for each column" in opened(name).inner_text("body")


def test_wide_releases_are_cut_and_say_so(opened):
    page = opened("wide")
    text = page.inner_text("body")
    assert f"And {WIDE - 100} more columns: all {WIDE} are in the JSON of this report." in text
    assert page.evaluate("document.querySelectorAll('*').length") < 5000


def test_a_release_of_no_group_says_so(opened):
    text = opened("nothing").inner_text("body")
    assert "no group was large enough to be shown" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints_to_a_pdf_that_reads(opened, tmp_path, scheme):
    text = printed(opened("hostile", scheme=scheme), tmp_path)
    for part in (*PROMISED, "Verified", "SHA-256 of the release"):
        assert part in text
    assert "HAVING COUNT(*) >= 40" in text
    assert "minorities disappear first" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_red_page_prints_its_fault_and_no_promise(opened, tmp_path, scheme):
    text = printed(opened("red", scheme=scheme), tmp_path)
    assert "This certificate is not valid: do not rely on anything on this page" in text
    assert "no signature by a trusted key" in text
    for part in PROMISED:
        assert part not in text


PROMISED = ("The promise", "of the time", "Confirmed by:")


def printed(page, folder):
    """The words of a page on paper."""
    file = folder / "page.pdf"
    page.pdf(path=file, format="A4")
    told = subprocess.run([pdftotext(), "-layout", file, "-"], capture_output=True, check=True)
    return " ".join(told.stdout.decode().split())
