"""Regular expressions that DuckDB is sure to take.

DuckDB's are RE2's. What is shown here is what RE2 shares with Python's: a pattern is known to
compile where Python compiles it and it holds nothing that only one of the two knows.
"""

from __future__ import annotations

import re

# RE2 limits what a repetition may expand to: one short repetition of a short pattern is small.
_MOST_LETTERS = 100
_DOUBTFUL = re.compile(
    r"""
    [^ -~]                          # not ASCII
  | \(\?                            # an extension
  | \[\[ | \[: | -- | && | ~~ | \|\|   # a set operation, to Python
  | [*+?}][*+]                      # a possessive repetition, to Python
  | \{\d*,?\d{3} | \{.*\{           # a large or second repetition
  | \[.*\\b                        # the backspace of a set, to Python
  | \\(?![dDwWsSbB.\-/()\[\]{}+*?^$|\\])    # an escape of its own
    """,
    re.VERBOSE,
)
_DIGITS = frozenset("0123456789")
_ESCAPE = re.compile(r"\\(\d|\\|.?)", re.DOTALL)


def compiles(pattern: str) -> bool:
    """Whether RE2 is known to take ``pattern``; False where that is not known.

    >>> compiles("^[0-9]{3}-(a|b)+$"), compiles("("), compiles("(?i)a")
    (True, False, False)
    """
    if len(pattern) > _MOST_LETTERS or _DOUBTFUL.search(pattern):
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def rewrites(replacement: str, pattern: str) -> bool:
    """Whether ``replacement`` names only groups that ``pattern``, which compiles, has.

    >>> rewrites(r"\\1-x", "(a)"), rewrites(r"\\2", "(a)")
    (True, False)
    """
    groups = re.compile(pattern).groups
    named = [match[1] for match in _ESCAPE.finditer(replacement)]
    return all(name == "\\" or (name in _DIGITS and int(name) <= groups) for name in named)
