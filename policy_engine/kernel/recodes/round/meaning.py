"""What ``round`` says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.round.recode import Round
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.values_shown import WIDE, number_of_text

_WAYS = {"nearest": "", "down": "down ", "zero": "towards zero "}
_WHICH = {
    "nearest": "the nearest multiple of",
    "down": "the greatest multiple that is not above, of",
    "zero": "the next multiple towards zero, of",
}


class RoundMeaning(RecodeMeaning[Round]):
    """A multiple of a step."""

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"rounded {_WAYS[self.recode.way]}to {digits_of(self.recode.step)}"

    def lines(self) -> Iterator[str]:
        """What becomes of a value."""
        way = _WAYS[self.recode.way]
        yield f"rounded {way}to a multiple of {digits_of(self.recode.step)}"

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"{_WHICH[self.recode.way]} {self.recode.step:f}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        way = {} if self.recode.way == "nearest" else {"way": self.recode.way}
        return {"round": self.recode.step, **way}

    def can_show(self, value: object) -> bool:
        """A multiple of the step."""
        if value is None:
            return True
        number = number_of_text(value)
        return number is not None and not WIDE.remainder(number, self.recode.step)
