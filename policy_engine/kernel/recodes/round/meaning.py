"""What ``round`` says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from policy_engine.kernel.recodes.bins.recode import Bins
from policy_engine.kernel.recodes.meaning import RecodeMeaning, Unfit
from policy_engine.kernel.recodes.round.recode import DIGITS, PLACES, Round, is_exact
from policy_engine.kernel.types import Kind, Type, ValueRecode, digits_of
from policy_engine.kernel.values_shown import WIDE, number_of_text

_WAYS = {"nearest": "", "down": "down ", "zero": "towards zero "}
_WHICH = {
    "nearest": "the nearest multiple of",
    "down": "the greatest multiple that is not above, of",
    "zero": "the next multiple towards zero, of",
}

_FRACTION = "of fractions of 1 nothing is told: doubles have none exactly"


class RoundMeaning(RecodeMeaning[Round]):
    """A multiple of a step."""

    @property
    def likely(self) -> Kind:
        """A whole number, unless the step is none."""
        return "decimal" if self.recode.step % 1 else "integer"

    @property
    def places(self) -> int:
        """Those of the step."""
        return self.recode.scale

    @property
    def steps_by_one(self) -> bool:
        """By one of at most 1."""
        return self.recode.step <= 1

    @property
    def examples(self) -> tuple[str, ...]:
        """The first multiples."""
        return tuple(f"{self.recode.step * times:f}" for times in (0, 1, 2))

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """What is no number, or has so many digits that engines round it otherwise."""
        if not self.recode.is_plain:
            places = f"at most {PLACES} decimal places and {DIGITS} digits"
            return Unfit(f"round takes a step of {places}, up to 10^17", "use a plainer one")
        if not is_exact(seen):
            law = f"round takes a decimal number of at most {DIGITS} digits, or 6 behind the point"
            return Unfit(f"{law}, found {written}", "use bins, or a column with fewer digits")
        law = f"round takes a number, found {noun}"
        return None if self.recode.fits(seen) else Unfit(law, wants="double")

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

    def why_parted(self, coarse: ValueRecode) -> str:
        """Of multiples that lie otherwise, or of bins that do not begin with one."""
        way, step = self.recode.way, self.recode.step
        if isinstance(coarse, Round):
            if way == "nearest" or coarse.way != way:
                return (
                    "only multiples that are both way: down, or both way: zero, lie in one another"
                )
            if step % 1:
                return _FRACTION
            is_multiple = coarse.step % step == 0 and coarse.step != step
            return "" if is_multiple else f"{coarse.step} is no multiple of {step} above it"
        if not isinstance(coarse, Bins):
            return super().why_parted(coarse)
        if way != "down":
            return "only multiples with way: down lie in bins"
        if step % 1:
            return _FRACTION
        within = all(isinstance(cut, Decimal) and not cut % step for cut in coarse.cuts)
        return "" if within else f"each cut must be a multiple of {step}"

    def can_show(self, value: object) -> bool:
        """A multiple of the step."""
        if value is None:
            return True
        number = number_of_text(value)
        return number is not None and not WIDE.remainder(number, self.recode.step)
