"""What ``truncate`` says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime

from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.truncate.recode import UTC_NAME, Truncate
from policy_engine.kernel.values_shown import MOMENT

_WEEK = re.compile("[0-9]{4}-W[0-9]{2}")
_LETTERS = {"year": 4, "month": 7}
"""Of so many letters of a day is the name of a unit."""
_SECONDS = {"day": 86_400, "hour": 3600}
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, in seconds since 1970."""


class TruncateMeaning(RecodeMeaning[Truncate]):
    """The start of a unit of the calendar."""

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"{self._what} its {self.recode.unit}{self._where}"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return f"{self._what} the {self.recode.unit} of {name}{self._where}"

    @property
    def _what(self) -> str:
        return "the name of" if self.recode.unit == "week" else "the start of"

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
        """The name of a week; else the start of a unit, where it is the text of a moment."""
        if self.recode.unit == "week":
            return value is None or is_week(value)
        return not isinstance(value, str) or is_start_in_words(value, self.recode.unit)

    def label(self, value: object) -> str:
        """A unit by its name, as 2026, 2026-Q4 or 2026-11; of an hour by its start."""
        text = super().label(value)
        if not isinstance(value, date):
            return text
        if self.recode.unit == "quarter":
            return f"{text[:4]}-Q{(value.month + 2) // 3}"
        return text[: _LETTERS.get(self.recode.unit)]

    def is_moment(self, ticks: int, parts: int) -> bool:
        """Whether a unit starts then that is shown by its start."""
        return _is_start(ticks, parts, self.recode.unit)


def is_week(value: object) -> bool:
    """Whether it is the name of a week that there is, in the years 1 to 9999.

    >>> is_week("2026-W53"), is_week("2025-W53"), is_week("2026-W5")
    (True, False, False)
    """
    if not isinstance(value, str) or not _WEEK.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


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
        return seconds % _SECONDS[unit] == 0
    moment = np.datetime64(seconds, "s")
    month = moment.astype("datetime64[M]")
    each = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    is_first = bool(month.astype("datetime64[s]") == moment)
    return each is not None and is_first and int(month.astype(int)) % each == 0
