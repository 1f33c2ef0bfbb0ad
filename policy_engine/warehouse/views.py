"""What a view may read, by the names that its text has.

A catalog has much that a view does not read, and that may be of kinds that cannot be certified, or
change while it is read. Only what the text of a view mentions is looked at; a name too many does no
harm, and what cannot be certified is left out: the kernel refuses a view of what it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from policy_engine.compile.catalog import Table
from policy_engine.errors import WarehouseError

Parts = tuple[str, ...]
_MARKS = str.maketrans("", "", "\"`\\'")


def behind(view: str, names: Iterable[Parts], described: Callable[[Parts], Table]) -> list[Table]:
    """The relations of ``names`` that a view's text mentions, or that such a view mentions itself.

    >>> base = Table((), parts=("main", "people"))
    >>> [t.name for t in behind("SELECT 1 FROM people", [("main", "people"), ("main", "b")],
    ...     lambda parts: base)]
    ['main.people']
    """
    left, texts, found = list(names), [_bare(view)], []
    while texts:
        text = texts.pop()
        for parts in [each for each in left if _bare(each[-1]) in text]:
            left.remove(parts)
            try:
                table = described(parts)
            except WarehouseError:
                continue
            found.append(table)
            if table.view is not None:
                texts.append(_bare(table.view))
    return sorted(found, key=lambda table: table.parts)


def _bare(text: str) -> str:
    """A text without the marks of quoting, nor upper case: names in it are found either way."""
    return text.translate(_MARKS).casefold()
