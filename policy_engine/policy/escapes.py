"""Texts of unknown origin, made so that every character of them shows."""

from __future__ import annotations


def escaped(line: str) -> str:
    """A line in which every character shows, and none but a space is blank.

    Control and format characters (line ends, ANSI, bidi, zero width), odd spaces, letters without a
    mark of their own, strokes over others, and what Unicode has not assigned are written as Python
    writes them.

    >>> escaped("ε\\nverified: \\x1b[32m\\u202e")
    'ε\\\\nverified: \\\\x1b[32m\\\\u202e'
    """
    return "".join(c if c.isprintable() and c not in _UNSEEN else ascii(c)[1:-1] for c in line)


_UNSEEN = frozenset(
    map(chr, (0x34F, *range(0x334, 0x339), 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810),
              0x20DD, 0x20DE, 0x20DF, 0x20E0, *range(0x20E2, 0x20E5), 0x2800, 0x3164,
              *range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0100, 0xE01F0)))
)  # fmt: skip
"""What Unicode calls printable and no reader sees, or sees as a stroke over another character."""


class Exact(str):
    """A line that is printed as it is: of a text that somebody runs, or whose signature he checks.

    >>> Exact("FROM '/srv/people.parquet'")
    "FROM '/srv/people.parquet'"
    """

    __slots__ = ()


def sql_lines(sql: str, dialect: str) -> list[str]:
    """The lines of a printed SQL text; a line end within one of its names or texts is none of them.

    >>> sql_lines("SELECT 'a\\n-- all' AS x\\nFROM t", "duckdb")
    ["SELECT 'a\\\\n-- all' AS x", 'FROM t']
    """
    from policy_engine.kernel.tokens import SPACE, pieces

    shown = (piece if kind == SPACE else escaped(piece) for kind, piece in pieces(sql, dialect))
    return [Exact(line) for line in "".join(shown).rstrip("\n").split("\n")]


_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#!~@&"})


def cell(text: str) -> str:
    """A text that is nothing but itself in Markdown: no link, no tag, no end of a cell or a line.

    >>> print(cell("a|b <script> @all\\n# c"))
    a\\|b \\<script\\> \\@all\\\\n\\# c
    """
    return escaped(text).translate(_MARKS)
