"""The pages of the desk in a real browser, over releases and people whose names are hostile."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from chromium import faults_of
from conftest import HOSTILE, MARKUP, SCRIPT, World
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.keys import generate_key
from policy_engine.desk.views import account_id
from policy_engine.policy.review_models import key_line

PEOPLE = {SCRIPT: "owner", MARKUP: "privacy", "cleo": "author"}
ACCOUNT = "people <b>&amp;{ 7*7 }}"


def changed(world, *changes):
    """The policy with other numbers."""
    file = world.folder / "hostile.yaml"
    text = file.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A project: two releases, a private choice, a changed limit, and one that waits for people."""
    world = World(tmp_path_factory.mktemp("served"))
    limit = f"accounts: {{{json.dumps(ACCOUNT)}: {{epsilon: 8, delta: 1.0e-3}}}}\n"
    (world.folder / "policy-engine.yaml").write_text(limit)
    words = ("--epsilon", "8", "--delta", "1e-3", "--by", SCRIPT, "--why", MARKUP)
    columns = {each: [HOSTILE[i % 4] for i in range(3000)] for each in HOSTILE[:3]}
    world.release("hostile", columns, budget=ACCOUNT)
    assert world.run("ledger", "limit", ACCOUNT, *words) == 0
    (world.folder / "choice.yaml").write_text(
        (world.folder / "hostile.yaml").read_text().replace("name: hostile\n", "name: chosen\n")
        + "search: {epsilon: 1}\n"
    )
    assert world.run("search", "choice.yaml") == 0
    changed(world, ("k: 40", "k: 35"))
    assert world.run("release", "hostile.yaml", "--replace") == 0
    told = {}
    for number, (name, role) in enumerate(PEOPLE.items()):
        key = Ed25519PrivateKey.generate()
        generate_key(world.folder / f"{number}.pem", key)
        told[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
    document = {"version": 1, "account": ACCOUNT, "serial": 1, "people": told, "days": 3,
                "claim": {"owner": 1, "privacy": 1}, "change": {"owner": 1},
                "expires": "2999-12-31"}  # fmt: skip
    (world.folder / "p.review.yaml").write_text(json.dumps(document))
    assert (
        world.run("review", "require", "p.review.yaml", "--alone", "--by", SCRIPT, "--why", "x")
        == 0
    )
    changed(world, ("k: 35", "k: 30"))
    assert world.run("review", "request", "hostile.yaml", "--key", "2.pem") == 0
    claim = "hostile.certificate.claim.review.json"
    assert world.run("review", "approve", claim, "--yes", "--role", "owner", "--key", "0.pem") == 0
    assert world.run("review", "show", claim, "--output", "claim.html") == 0
    (world.folder / "broken.yaml").write_text(f"source: {SCRIPT}\nrecode: {{}}\n")
    return world


@pytest.fixture(scope="module")
def address(served):
    """Where it answers; the server ends with the module."""
    command = [sys.executable, "-m", "policy_engine", "desk", "--port", "0"]
    process = subprocess.Popen(command, cwd=served.folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().rpartition(": ")[2].strip()
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def pages(address, browser, served):
    """The address of each kind of page, the report and an entry among them, by following links.

    The page of a request is a file.
    """
    found = {name: address + name for name in ("", "releases", "waiting", "policies", "keys")}
    found["account"] = f"{address}accounts/{account_id(ACCOUNT)}"
    page = browser.new_page()
    page.goto(found["releases"])
    found["release"] = page.locator("a[href*='releases/']").first.evaluate("a => a.href")
    found["report"] = page.get_by_text("report", exact=True).first.evaluate("a => a.href")
    row = page.locator("tr", has_text="search of chosen")
    found["choice"] = row.get_by_text("report", exact=True).evaluate("a => a.href")
    found["charge of a choice"] = row.locator("a[href*='releases/']").evaluate("a => a.href")
    found["nowhere"] = f"{address}nowhere"
    found["request"] = (served.folder / "claim.html").as_uri()
    page.close()
    return found


NAMES = ("", "releases", "waiting", "policies", "keys", "account", "release", "report", "choice",
         "charge of a choice", "nowhere", "request")  # fmt: skip


@pytest.fixture
def opened(browser, pages):
    """Opens a page, and fails if it asked for anything else, ran anything or complained."""
    contexts = []

    def open_page(name, width=1280):
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(pages[name])
        page.wait_for_load_state("networkidle")
        assert [each for each in asked if not each.endswith("/favicon.ico")] == [pages[name]]
        assert [each for each in said if name != "nowhere" or "404" not in each] == []
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_runs_and_axe_finds_nothing(opened, name):
    page = opened(name)
    assert page.evaluate("window.pwned") is None
    assert page.query_selector_all("script, img, iframe, object, link, base, form") == []
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    schemes = ("light", "dark") if name in ("", "account", "waiting") else ("light",)
    assert faults_of(page, 10, schemes) == []


def test_the_style_is_the_one_that_is_allowed(opened):
    page = opened("")
    style = "getComputedStyle(document.querySelector('article.account')).borderTopStyle"
    assert page.evaluate(style) == "solid"


def test_a_script_could_not_run_even_if_one_were_there(browser, pages):
    page = browser.new_page()

    def plant(route):
        answer = route.fetch()
        body = answer.text().replace("</main>", "<script>window.pwned = 1</script></main>")
        route.fulfill(response=answer, body=body)

    page.route("**/*", plant)
    page.goto(pages[""])
    assert "window.pwned" in page.content()
    assert page.evaluate("window.pwned") is None
    page.close()


@pytest.mark.parametrize("name", ["account", "waiting", "request"])
def test_hostile_names_are_shown_as_they_are_written(opened, name):
    text = opened(name).inner_text("body")
    assert SCRIPT in text
    assert ACCOUNT in text
    assert MARKUP in text


def test_each_page_leads_to_each_other(opened, pages, browser):
    page = opened("release")
    for link in page.locator("nav[aria-label='Pages'] a").all():
        answer = browser.new_page()
        assert answer.goto(link.evaluate("a => a.href")).status == 200
        answer.close()
