"""The pictures of docs/howto: python tests/browser/pictures.py draws them again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from chromium import running

from policy_engine.cli.main import run
from policy_engine.desk.views import account_id

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs/_static"
SAID = """\
purpose: the yearly public table; not for decisions about single people
about:
  contact: privacy@example.org
  recipients: the public
  access: three people of the statistics office, on a machine without a network
  justification: ε as last year, for the same people
"""
AT = """
import sys
from datetime import datetime
import policy_engine.ledger.store as store
books = store.Ledger._books
at = datetime.fromisoformat("{}")
store.Ledger._books = lambda self, found: store.replace(books(self, found), at=at)
from policy_engine.cli.main import main
main()
"""
SIZES = {1280: 1500, 390: 1500}


def demo(folder: Path) -> Path:
    """The demo in a folder, with everything stated; its policy."""
    folder.mkdir()
    shutil.copytree(ROOT / "policies/adult", folder / "adult", ignore=shutil.ignore_patterns("out"))
    (folder / "policy-engine.yaml").write_text(
        "accounts: {census: {epsilon: 3.0, delta: 1.0e-6}}\n"
    )
    policy = folder / "adult/policy.yaml"
    policy.write_text(
        policy.read_text("utf-8").replace("source:\n", f"{SAID}source:\n", 1), "utf-8"
    )
    os.chdir(folder)
    return policy


def page(folder: Path) -> str:
    """The address of the demo's report."""
    policy = demo(folder)
    out = folder / "adult/out/adult_public"
    words = (f"{out}.certificate.json", "--release", f"{out}.parquet", "--policy", str(policy))
    assert run(["release", str(policy)]) == 0
    assert run(["report", *words, "-o", "page.html"]) == 0
    return (folder / "page.html").as_uri()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the demo's account, after a year of releases."""
    policy = demo(folder)
    for days, k in ((330, 20), (250, 19), (120, 18), (30, 17)):
        policy.write_text(re.sub(r"k: \d+", f"k: {k}", policy.read_text("utf-8")), "utf-8")
        at = (datetime.now(UTC) - timedelta(days=days)).isoformat()
        words = ["release", "adult/policy.yaml", "--replace"]
        command = [sys.executable, "-c", AT.format(at), *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    command = [sys.executable, "-m", "policy_engine", "desk", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().rpartition(": ")[2].strip()
        yield f"{address}accounts/{account_id('census')}"
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Draw them."""
    with tempfile.TemporaryDirectory() as name, running() as browser:
        places = {"report": page(Path(name, "report"))}
        with served(Path(name, "desk")) as address:
            for picture, place in {**places, "desk": address}.items():
                for width, height in SIZES.items():
                    shown = browser.new_page(viewport={"width": width, "height": height})
                    shown.goto(place)
                    shown.screenshot(path=FIGURES / f"{picture}-{width}.png")


if __name__ == "__main__":
    main()
