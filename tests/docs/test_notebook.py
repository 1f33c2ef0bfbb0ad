"""The notebook runs from its first cell to its last, and shows what it says."""

import json
import subprocess
import sys

import pages

NOTEBOOK = pages.ROOT / "examples" / "notebook.ipynb"


def test_the_notebook_runs(tmp_path):
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells), "it is kept without outputs"
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    shown = "\n".join(["import matplotlib", "matplotlib.use('Agg')", *code])
    shown += """
html = done._repr_html_()
assert "is right at most 73.2 %" in html and html.count("<tr>") == 11, html
assert "and 14 more rows" in html
assert len(frame) == 24 and abs(frame["n"].sum() - 4000) < 100
assert abs(by_age["n"].loc["<30"] - 603) < 60 and 2 < by_age["sd"].loc["<30"] < 4
assert len(axes.patches) == 24 and len(axes.get_yticklabels()) == 24
"""
    run = subprocess.run(
        [sys.executable, "-c", shown],
        cwd=pages.checkout(tmp_path), env=pages.environment(),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
