"""Sphinx: MyST Markdown, the furo theme, built strictly (``make docs``)."""

import tomllib
from pathlib import Path

_project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))

project = "policy-engine"
author = "the policy-engine authors"
project_copyright = f"2026, {author}"
release = version = _project["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "furo"
html_title = f"policy-engine {release}"
html_show_sourcelink = False
