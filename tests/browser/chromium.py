"""Debian's Chromium and poppler, and axe-core from npm: installed where they are missing."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("dbt", "warehouse")]

from debian import ensure  # noqa: E402
from environments import CACHE  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAM = Path("/usr/bin/chromium")
_AXE = "axe-core@4.14.1"
_AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"


def chromium() -> Path:
    """The browser's program."""
    ensure("chromium", PROGRAM.exists)
    return PROGRAM


def pdftotext() -> Path:
    """The program that reads a PDF's text."""
    program = Path("/usr/bin/pdftotext")
    ensure("poppler-utils", program.exists)
    return program


def axe() -> str:
    """The text of axe-core: it runs in the page, and asks no server for anything."""
    folder = CACHE / _AXE
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "axe.min.js"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not text.exists():
            done = subprocess.run(
                ["npm", "pack", "--silent", _AXE],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise RuntimeError(f"npm pack {_AXE} failed:\n{done.stderr[-2000:]}")
            archive = next(folder.glob("*.tgz"))
            with tarfile.open(archive) as packed:
                member = packed.extractfile("package/axe.min.js")
                assert member is not None
                text.write_bytes(member.read())
            archive.unlink()
    found = text.read_bytes()
    assert hashlib.sha256(found).hexdigest() == _AXE_SHA256
    return found.decode()


_FAULTS = """\
axe.run(document, {resultTypes: ['violations']}).then(found => [
  found.violations.map(each => [each.id, each.nodes.slice(0, 3).map(node => node.html)]),
  found.passes.length])
"""


def faults_of(page: Page, passes: int, schemes: Iterable[str] = ("light", "dark")) -> list[object]:
    """What axe finds in a page in each colour scheme, where more rules than ``passes`` hold."""
    page.evaluate(axe())
    faults: list[object] = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found, held = page.evaluate(_FAULTS)
        assert held > passes
        faults += found
    return faults


@contextmanager
def running() -> Iterator[Browser]:
    """A browser. Tests run as root in containers, where Chromium has no sandbox of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
