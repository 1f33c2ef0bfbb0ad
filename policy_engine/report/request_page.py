"""A request for approvals as one HTML page, for who signs and uses no terminal otherwise."""

from __future__ import annotations

from policy_engine.releasing.presenting import Presented
from policy_engine.report.page import filled, page_file
from policy_engine.report.request_words import QUESTIONS, decides


def request_page(found: Presented, file: str) -> str:
    """The HTML text of a request: all that decides, and what to ask of each part.

    ``file`` is where the request is, for the commands that answer it. The page fetches nothing and
    runs nothing, as that of a report.
    """
    values = {"found": found, "parts": decides(found), "questions": QUESTIONS, "file": file}
    return filled("policy_engine.report", "request.html.j2", page_file("page.css"), **values)
