"""Texts of unknown origin in Markdown."""

from __future__ import annotations

from policy_engine.policy.escapes import escaped

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#!~@&"})


def cell(text: str) -> str:
    """A text that is nothing but itself in Markdown: no link, no tag, no end of a cell or a line.

    >>> print(cell("a|b <script> @all\\n# c"))
    a\\|b \\<script\\> \\@all\\\\n\\# c
    """
    return escaped(text).translate(_MARKS)
