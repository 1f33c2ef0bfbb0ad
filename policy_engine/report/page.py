"""A report as one HTML page: nothing is fetched, nothing runs, and it prints.

Every text is escaped twice over: characters that do not show are written as their escapes, in the
one place ``_plain``, and the template escapes what is markup. The style is allowed by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from policy_engine.policy.escapes import escaped
from policy_engine.report.choice import ChoiceView
from policy_engine.report.view import ReportView, UnpromisedView

LICENCE = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
"""What a browser may do with the page: show it in this style."""

MOST = {"columns": 100, "lines": 40, "width": 400, "cells": 12, "text": 2_000}
"""So much of a list, a step of the query, a line of it, a row and a text that somebody has written
is on the page; JSON has all."""


def page(view: ReportView | UnpromisedView | ChoiceView) -> str:
    """The HTML text of a report; the same view gives the same text.

    One without (ε, δ), and one of a private choice, has a page of its own.
    """
    templates: dict[type, str] = {ReportView: "page.html.j2", ChoiceView: "choice.html.j2"}
    template = templates.get(type(view), "unpromised.html.j2")
    style = page_file("page.css")
    return filled("policy_engine.report", template, style, view=view, most=MOST)


def filled(package: str, template: str, style: str, **values: Any) -> str:
    """A template of a package, which may use the report's own parts, with its style and values.

    ``style`` is ours, and what the page allows is just that text.
    """
    from markupsafe import Markup

    licence = LICENCE.format(style_digest(style))
    found = _template(package, template)
    return str(found.render(style=Markup(style), licence=licence, **values))


@lru_cache  # a server fills one with thousands of values
def _template(package: str, name: str) -> Any:
    import jinja2

    places = [jinja2.PackageLoader(each, "pages") for each in (package, "policy_engine.report")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(places),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    return environment.get_template(name)


def style_digest(style: str) -> str:
    """By which a content security policy allows a style."""
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def page_file(name: str) -> str:
    """A file of the page."""
    return files("policy_engine.report").joinpath("pages", name).read_text("utf-8")


def _plain(value: Any) -> Any:
    """A value as it is put into the page: each character of it shows, unless it is markup of ours.

    >>> _plain("a\\u202eb"), _plain(3)
    ('a\\\\u202eb', '3')
    """
    return value if hasattr(value, "__html__") else escaped(str(value))
