"""Sphinx: MyST Markdown, the furo theme, built strictly (``make docs``)."""

import sys
import tomllib
from pathlib import Path

_here = Path(__file__).parent
sys.path.insert(0, str(_here / "_ext"))

_project = tomllib.loads((_here.parent / "pyproject.toml").read_text("utf-8"))

project = "policy-engine"
author = "the policy-engine authors"
project_copyright = f"2026, {author}"
release = version = _project["project"]["version"]

extensions = [
    "myst_parser",
    "github",
    "extras",
]
myst_heading_anchors = 4
exclude_patterns = ["_build", "_ext"]
nitpicky = False

html_theme = "furo"
html_title = f"policy-engine {release}"
html_show_sourcelink = html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_last_updated_fmt = ""  # of each page: extras.py
