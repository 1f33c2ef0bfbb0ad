"""What each recode says of itself: the index of their meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy_engine.kernel.recodes import Recode
from policy_engine.kernel.recodes.bins.meaning import BinsMeaning
from policy_engine.kernel.recodes.constant.meaning import ConstantMeaning
from policy_engine.kernel.recodes.keep.meaning import KeepMeaning
from policy_engine.kernel.recodes.map.meaning import MapMeaning
from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.prefix.meaning import PrefixMeaning
from policy_engine.kernel.recodes.round.meaning import RoundMeaning
from policy_engine.kernel.recodes.truncate.meaning import TruncateMeaning

_MEANINGS: Mapping[str, type[RecodeMeaning[Any]]] = {
    "bins": BinsMeaning,
    "constant": ConstantMeaning,
    "keep": KeepMeaning,
    "map": MapMeaning,
    "prefix": PrefixMeaning,
    "round": RoundMeaning,
    "truncate": TruncateMeaning,
}


def recode_meaning(recode: Recode) -> RecodeMeaning[Any]:
    """What a recode says of itself."""
    return _MEANINGS[type(recode).__name__.lower()](recode)
