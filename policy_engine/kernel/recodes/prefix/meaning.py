"""What ``prefix`` says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.prefix.recode import Prefix


class PrefixMeaning(RecodeMeaning[Prefix]):
    """The first characters of a text."""

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

    def can_show(self, value: object) -> bool:
        """A text that is short enough."""
        return value is None or (isinstance(value, str) and len(value) <= self.recode.length)
