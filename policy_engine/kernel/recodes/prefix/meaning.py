"""What ``prefix`` says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from policy_engine.kernel.recodes.meaning import RecodeMeaning, Unfit
from policy_engine.kernel.recodes.prefix.recode import MOST_CHARACTERS, Prefix
from policy_engine.kernel.types import Type, ValueRecode


class PrefixMeaning(RecodeMeaning[Prefix]):
    """The first characters of a text."""

    @property
    def examples(self) -> tuple[str, ...]:
        """Texts that differ from their first letter on."""
        return tuple(letter * (self.recode.length + 2) for letter in "abc")

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """What is no text."""
        if self.recode.length > MOST_CHARACTERS:
            return Unfit(f"prefix takes at most {MOST_CHARACTERS} characters", "use keep")
        law = f"prefix takes text, found {noun}"
        return None if self.recode.fits(seen) else Unfit(law, wants="text")

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"the first {self.recode.length} characters"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return f"{self.in_short} of {name}"

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"its first {self.recode.length} characters."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"prefix": self.recode.length}

    def why_parted(self, coarse: ValueRecode) -> str:
        """Of a text of as many characters or more."""
        if not isinstance(coarse, Prefix):
            return super().why_parted(coarse)
        own, length = self.recode.length, coarse.length
        characters = f"{length} character{'s' if length > 1 else ''}"
        return "" if length < own else f"it has {characters}, and the one before {own}"

    def can_show(self, value: object) -> bool:
        """A text that is short enough."""
        return value is None or (isinstance(value, str) and len(value) <= self.recode.length)
