"""The recodes: each one file, its value and its laws, and one macro of ``recodes.sql.j2``.

Every recode is a function of one value, fixed before the data is looked at (Li, Qardaji and Su,
Definition 3.7), and total: whatever a row holds it gives a value and no error. NULL stays NULL.
"""

from policy_engine.kernel.recodes.bins import Bins
from policy_engine.kernel.recodes.constant import Constant
from policy_engine.kernel.recodes.keep import Keep
from policy_engine.kernel.recodes.map import Map
from policy_engine.kernel.recodes.prefix import Prefix
from policy_engine.kernel.recodes.round import Round
from policy_engine.kernel.recodes.truncate import Truncate

__all__ = ["Bins", "Constant", "Keep", "Map", "Prefix", "Recode", "Round", "Truncate"]

Recode = Keep | Bins | Map | Prefix | Round | Truncate | Constant


def values_of(recode: object) -> tuple[str | None, ...]:
    """Every value that a recode can give, NULL last; none where the claim does not tell them.

    >>> values_of(Bins((18, 65), ("young", "adult", "old")))
    ('young', 'adult', 'old', None)
    >>> values_of(Map(((("f",), "F"), (("x",), None)), "M"))
    ('F', 'M', None)
    """
    match recode:
        case Bins(labels=labels):
            given: tuple[str | None, ...] = labels
        case Map(groups, other):
            given = (*(label for _, label in groups), other)
        case _:
            return ()
    return (*dict.fromkeys(label for label in given if label is not None), None)
