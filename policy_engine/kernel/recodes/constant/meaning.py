"""What ``constant`` says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy_engine.kernel.recodes.constant.recode import Constant
from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.wording import quoted


class ConstantMeaning(RecodeMeaning[Constant]):
    """Every row shows one text."""

    def shows(self, value: object) -> str:
        """Its label, whatever the value is."""
        return self.recode.label

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"always {self.recode.label!r}"

    def lines(self) -> Iterator[str]:
        """What becomes of a value."""
        yield f"always {quoted(self.recode.label)}, whatever the source holds"

    def of(self, name: str, shown: str) -> str:
        """What is shown, of no column."""
        return self.in_short

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"the same for everybody, {self.recode.label}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"constant": self.recode.label}

    def can_show(self, value: object) -> bool:
        """Its text alone."""
        return value == self.recode.label
