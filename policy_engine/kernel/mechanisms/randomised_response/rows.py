"""What the rows of answers by chance can be."""

from __future__ import annotations

from policy_engine.kernel.mechanisms.pure import Values
from policy_engine.kernel.mechanisms.pure_rows import PublicRows
from policy_engine.kernel.mechanisms.randomised_response.law import Randomised


class AnswersRows(PublicRows[Randomised]):
    """Answers, each of a public list."""

    def public(self) -> tuple[Values, ...]:
        """The public values of each column."""
        return tuple(each.values for each in self.law.responses)
