"""Two recodes of one column beside each other: which of them tells more, and where they differ.

One recode is coarser than another if it is a function of it: who has the finer one's output can
make the coarser one's from it, so the coarser one tells nothing that the finer one does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from policy_engine.kernel.recodes import Recode
from policy_engine.kernel.recodes.meaning import Moved
from policy_engine.kernel.recodes.meanings import recode_meaning

Order = Literal["same", "relabelled", "coarser", "finer", "other"]


def compared(old: Recode, new: Recode) -> Order:
    """How ``new`` is to ``old``: a policy's recodings or a claim's recodes; each of one kind.

    >>> from policy_engine.kernel.recodes import Bins, Keep, Prefix
    >>> compared(Bins((18, 30), ("a", "b", "c")), Bins((30,), ("a", "c")))
    'coarser'
    >>> compared(Prefix(3), Keep()), compared(Prefix(3), Prefix(2))
    ('finer', 'coarser')
    """
    if old == new:
        return "same"
    was, now = recode_meaning(old), recode_meaning(new)
    if was.keeps or not new.reads:
        return "coarser" if old.reads else "relabelled"
    if now.keeps or not old.reads:
        return "finer"
    if moved := was.beside(new):
        return _by_atoms(moved)
    if type(old) is not type(new):
        return "other"
    if not was.why_parted(new):
        return "coarser"
    return "other" if now.why_parted(old) else "finer"


def _by_atoms(found: Iterable[Moved]) -> Order:
    pairs = {(old, new) for _, old, new in found}
    olds, news = {old for old, _ in pairs}, {new for _, new in pairs}
    is_function, is_inverse = len(pairs) == len(olds), len(pairs) == len(news)
    if is_function and is_inverse:
        same = all(old == new for old, new in pairs)
        return "same" if same else "relabelled"
    return "coarser" if is_function else "finer" if is_inverse else "other"
