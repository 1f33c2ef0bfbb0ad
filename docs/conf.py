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
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "generated",
    "github",
]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 80
exclude_patterns = ["_build", "_ext"]
nitpicky = False

html_theme = "furo"
html_title = f"policy-engine {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["docs.css"]
