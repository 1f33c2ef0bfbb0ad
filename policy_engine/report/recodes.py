"""Two recodes of one column beside each other: which of them tells more, and where they differ.

One recode is coarser than another if it is a function of it: who has the finer one's output can
make the coarser one's from it, so the coarser one tells nothing that the finer one does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from policy_engine.kernel import recodes as kernel
from policy_engine.kernel.recodes.map.meaning import map_table
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.wording import plain_words
from policy_engine.policy.ladders import COARSER

Order = Literal["same", "relabelled", "coarser", "finer", "other"]


class Moved(NamedTuple):
    """Which values, what they were shown as, and as what they are shown now."""

    when: str
    before: str | None
    after: str | None


_REST = "every other value"


def compared(old: Any, new: Any) -> Order:
    """How ``new`` is to ``old``: a policy's recodings or a claim's recodes; each of one kind.

    >>> from policy_engine.kernel.recodes import Bins, Keep, Prefix
    >>> compared(Bins((18, 30), ("a", "b", "c")), Bins((30,), ("a", "c")))
    'coarser'
    >>> compared(Prefix(3), Keep()), compared(Prefix(3), Prefix(2))
    ('finer', 'coarser')
    """
    if old == new:
        return "same"
    if isinstance(new, kernel.Constant) or isinstance(old, kernel.Keep):
        return "relabelled" if isinstance(old, kernel.Constant) else "coarser"
    if isinstance(old, kernel.Constant) or isinstance(new, kernel.Keep):
        return "finer"
    match old, new:
        case kernel.Prefix(before), kernel.Prefix(after):
            return "coarser" if after < before else "finer"
        case kernel.Truncate(before, zone), kernel.Truncate(after, other) if zone == other:
            if after in COARSER[before]:
                return "coarser"
            return "finer" if before in COARSER[after] else "other"
        case (kernel.Bins(), kernel.Bins()) | (kernel.Map(), kernel.Map()):
            return _by_atoms(entries(old, new))
    return "other"


def _by_atoms(found: Iterable[Moved]) -> Order:
    pairs = {(old, new) for _, old, new in found}
    olds, news = {old for old, _ in pairs}, {new for _, new in pairs}
    is_function, is_inverse = len(pairs) == len(olds), len(pairs) == len(news)
    if is_function and is_inverse:
        same = all(old == new for old, new in pairs)
        return "same" if same else "relabelled"
    return "coarser" if is_function else "finer" if is_inverse else "other"


def entries(old: Any, new: Any) -> tuple[Moved, ...]:
    """Every value or range with both labels; nothing where the two are not both bins or maps.

    >>> from policy_engine.kernel.recodes import Bins
    >>> entries(Bins((18, 30), ("a", "b", "c")), Bins((30,), ("ab", "c")))[1]
    Moved(when='from 18 to below 30', before='b', after='ab')
    """
    if isinstance(old, kernel.Bins) and isinstance(new, kernel.Bins):
        return _of_bins(old, new)
    if isinstance(old, kernel.Map) and isinstance(new, kernel.Map):
        was, now = map_table(old), map_table(new)
        other, others = old.other, new.other
        keys = sorted({*was, *now})
        listed = [Moved(key, was.get(key, other), now.get(key, others)) for key in keys]
        return (*listed, Moved(_REST, other, others))
    return ()


def _of_bins(old: Any, new: Any) -> tuple[Moved, ...]:
    if {type(cut) for cut in (*old.cuts, *new.cuts)} & {str}:
        return ()
    cuts = sorted({*old.cuts, *new.cuts})
    ranges = [(f"below {plain_words(cuts[0])}", None)]
    ranges += [
        (f"from {plain_words(low)} to below {plain_words(high)}", low)
        for low, high in pairwise(cuts)
    ]
    ranges.append((f"from {plain_words(cuts[-1])} on", cuts[-1]))

    def label(bins: Any, at: Any) -> str:
        """What a value at a cut, or below every cut, is shown as."""
        return str(bins.labels[0 if at is None else sum(cut <= at for cut in bins.cuts)])

    return tuple(Moved(words, label(old, at), label(new, at)) for words, at in ranges)


def in_words(recode: Any) -> str:
    """A recode in few words.

    >>> from policy_engine.kernel.recodes import Bins, Round
    >>> from decimal import Decimal
    >>> in_words(Bins((18, 30), ("a", "b", "c"))), in_words(Round(Decimal(10)))
    ('bins at 18, 30: a, b, c', 'rounded to 10')
    """
    return recode_meaning(recode).in_short
