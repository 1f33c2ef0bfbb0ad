"""The pictures of docs/howto/report.md: python tests/browser/pictures.py draws them again."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from chromium import running

from policy_engine.cli.main import run

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
SIZES = {1280: 1500, 390: 1500}


def page(folder: Path) -> Path:
    """The report of the demo, with everything stated."""
    shutil.copytree(ROOT / "policies/adult", folder / "adult", ignore=shutil.ignore_patterns("out"))
    (folder / "policy-engine.yaml").write_text(
        "accounts: {census: {epsilon: 3.0, delta: 1.0e-6}}\n"
    )
    policy = folder / "adult/policy.yaml"
    policy.write_text(
        policy.read_text("utf-8").replace("source:\n", f"{SAID}source:\n", 1), "utf-8"
    )
    os.chdir(folder)
    out = folder / "adult/out/adult_public"
    words = (f"{out}.certificate.json", "--release", f"{out}.parquet", "--policy", str(policy))
    assert run(["release", str(policy)]) == 0
    assert run(["report", *words, "-o", "page.html"]) == 0
    return folder / "page.html"


def main() -> None:
    """Draw them."""
    with tempfile.TemporaryDirectory() as folder, running() as browser:
        made = page(Path(folder))
        for width, height in SIZES.items():
            shown = browser.new_page(viewport={"width": width, "height": height})
            shown.goto(made.as_uri())
            shown.screenshot(path=FIGURES / f"report-{width}.png")


if __name__ == "__main__":
    main()
