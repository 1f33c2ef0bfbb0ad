"""What ``round`` says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.round.recode import Round
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.values_shown import WIDE, number_of_text


class RoundMeaning(RecodeMeaning[Round]):
    """The nearest multiple of a step."""

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"rounded to {digits_of(self.recode.step)}"

    def lines(self) -> Iterator[str]:
        """What becomes of a value."""
        yield f"rounded to a multiple of {digits_of(self.recode.step)}"

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"the nearest multiple of {self.recode.step:f}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"round": self.recode.step}

    def can_show(self, value: object) -> bool:
        """A multiple of the step."""
        if value is None:
            return True
        number = number_of_text(value)
        return number is not None and not WIDE.remainder(number, self.recode.step)
