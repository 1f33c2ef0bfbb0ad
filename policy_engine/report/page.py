"""A report as one HTML page: nothing is fetched, nothing runs, and it prints.

Every text is escaped twice over: characters that do not show are written as their escapes, in the
one place ``_plain``, and the template escapes what is markup. The style is allowed by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from policy_engine.policy.escapes import escaped
from policy_engine.report.view import ReportView

LICENCE = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
"""What a browser may do with the page: show it in this style."""

MOST_COLUMNS, MOST_LINES, MOST_WIDTH, MOST_CELLS = 100, 40, 400, 12
"""So much of a list, a step of the query, a line of it and a row is on the page; JSON has all."""


def page(view: ReportView) -> str:
    """The HTML text of a report; the same view gives the same text."""
    return rendered("page.html.j2", view)


def rendered(template: str, view: object) -> str:
    """A page of a view, in a template that stands beside this module."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("policy_engine.report", "pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    style = _page_file("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template(template).render(
        view=view,
        style=Markup(style),  # ours, and the policy of the page allows just this text
        licence=LICENCE.format(digest),
        most={
            "columns": MOST_COLUMNS,
            "lines": MOST_LINES,
            "width": MOST_WIDTH,
            "cells": MOST_CELLS,
        },
    )


def _page_file(name: str) -> str:
    return files("policy_engine.report").joinpath("pages", name).read_text("utf-8")


def _plain(value: Any) -> Any:
    """A value as it is put into the page: each character of it shows, unless it is markup of ours.

    >>> _plain("a\\u202eb"), _plain(3)
    ('a\\\\u202eb', '3')
    """
    return value if hasattr(value, "__html__") else escaped(str(value))
