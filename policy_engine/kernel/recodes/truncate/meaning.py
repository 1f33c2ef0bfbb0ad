"""What ``truncate`` says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.truncate.recode import UTC_NAME, Truncate
from policy_engine.kernel.values_shown import MOMENT

_SECONDS = {"week": 7 * 86_400, "day": 86_400, "hour": 3600}
_MONDAY = 4 * 86_400
"""Monday 5 January 1970, in seconds since the first of that month."""
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, in seconds since 1970."""


class TruncateMeaning(RecodeMeaning[Truncate]):
    """The start of a unit of the calendar."""

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"the start of its {self.recode.unit}{self._where}"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return f"the start of the {self.recode.unit} of {name}{self._where}"

    @property
    def _where(self) -> str:
        """Whose clocks tell it, where that is not UTC."""
        return "" if self.recode.zone == UTC_NAME else f", in {self.recode.zone}"

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"{self.in_short}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"truncate": self.recode.unit}

    def can_show(self, value: object) -> bool:
        """The start of a unit, where it is the text of a moment."""
        return not isinstance(value, str) or is_start_in_words(value, self.recode.unit)

    def is_moment(self, ticks: int, parts: int) -> bool:
        """Whether a unit starts then."""
        return _is_start(ticks, parts, self.recode.unit)


def is_start_in_words(text: str, unit: str) -> bool:
    """Whether a moment is the start of its unit; True of one in other years than 1 to 9999.

    >>> is_start_in_words("2024-04-01 00:00:00+00", "quarter")
    True
    >>> is_start_in_words("2024-04-01 00:00:01", "quarter")
    False
    """
    found = MOMENT.fullmatch(text)
    if found is None:
        return True
    try:
        moment = datetime.fromisoformat(f"{found['day']} {found['time'] or '00:00:00'}+00:00")
    except ValueError:
        return False
    fraction = found["fraction"] or ""
    return not fraction.strip("0") and _is_start(int(moment.timestamp()), 1, unit)


def _is_start(ticks: int, parts: int, unit: str) -> bool:
    """Whether so many parts of a second after 1970 a unit starts, in the years 1 to 9999."""
    import numpy as np

    seconds, rest = divmod(ticks, parts)
    if rest or not _FIRST <= seconds <= _LAST:
        return False
    if unit in _SECONDS:
        return (seconds - (_MONDAY if unit == "week" else 0)) % _SECONDS[unit] == 0
    moment = np.datetime64(seconds, "s")
    month = moment.astype("datetime64[M]")
    each = {"month": 1, "quarter": 3, "year": 12}[unit]
    return bool(month.astype("datetime64[s]") == moment) and int(month.astype(int)) % each == 0
