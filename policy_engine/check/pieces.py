"""Parts of what the kernel prints, each by itself: to find which one stands in a text."""

from __future__ import annotations

from policy_engine.kernel.claim import Shown
from policy_engine.kernel.fragments import macros
from policy_engine.kernel.nodes import Identifier
from policy_engine.kernel.printing import read_of, shown_of
from policy_engine.kernel.sources import Column


def recoded(shown: Shown, engine: str) -> str:
    """How a released column is printed.

    Raises Refused where an engine has no form of it.
    """
    recodes, _ = macros(engine)
    return str(recodes.released(shown_of(shown)))


def ordered(column: Column, engine: str, *, down: bool = False) -> str:
    """How rows are ordered by a column of the source."""
    _, forms = macros(engine)
    kind = "bytes" if column.type.collated else column.type.kind
    plain = forms.plain(read_of(column)["name"], column.type, column.seen.kind)
    return str(forms.ordered(plain, down, kind))


def sorted_by(shown: Shown, engine: str) -> str:
    """How what is shown is sorted by a released column."""
    _, forms = macros(engine)
    return str(forms.ordered(Identifier(shown.name), False, shown.kind))
