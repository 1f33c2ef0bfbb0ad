"""What ``keep`` says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from policy_engine.kernel.recodes.keep.recode import Keep
from policy_engine.kernel.recodes.meaning import RecodeMeaning, Unfit
from policy_engine.kernel.types import Kind, Type


class KeepMeaning(RecodeMeaning[Keep]):
    """A value stands as it is."""

    keeps: ClassVar[bool] = True

    def raw_values(self, kind: Kind) -> int | None:
        """Of a truth value."""
        return len((False, True, None)) if kind == "boolean" else None

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """A floating-point number."""
        law = "keep takes no floating-point number"
        return None if self.recode.fits(seen) else Unfit(law, "use bins or round")

    @property
    def in_short(self) -> str:
        """In few words."""
        return "as it is"

    def lines(self) -> Iterator[str]:
        """What becomes of a value."""
        yield "kept: every value is shown as it stands in the source"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return "as it is" if name == shown else f"{name}, as it is"

    @property
    def released(self) -> str:
        """What a released column holds."""
        return "the value itself."

    def written(self) -> str:
        """What a policy writes for it."""
        return "keep"
