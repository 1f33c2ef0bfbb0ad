"""How much the recodes of a policy take away: from the policy alone, so that it is public."""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.policy.recodings import Constant, Keep
from policy_engine.policy.resolve import Policy


@dataclass(frozen=True)
class Recoded:
    """By how many steps the columns are recoded, and by how many they could be.

    Sweeney's precision (2002) is 1 − Σ step / height over the columns; the height of a
    generalisation (Samarati 2001) is Σ step.
    """

    steps: tuple[tuple[int, int], ...]

    @property
    def precision(self) -> float:
        """1 where every column is as it is, 0 where none says anything.

        >>> Recoded(((0, 2), (1, 2))).precision
        0.75
        """
        return 1 - sum(step / height for step, height in self.steps) / len(self.steps)

    @property
    def height(self) -> int:
        """All steps together."""
        return sum(step for step, _ in self.steps)

    @property
    def most(self) -> int:
        """All steps that there are."""
        return sum(height for _, height in self.steps)


def recoded_by(policy: Policy) -> Recoded:
    """The steps of each column.

    A hierarchy has as many as it has levels, with one more to a root if its last level is none. A
    column of another recode has two: its values, what they are recoded to, and nothing at all.
    """
    return Recoded(tuple(_steps(policy, column, recode) for column, recode in policy.recodings))


def _steps(policy: Policy, column: str, recode: object) -> tuple[int, int]:
    levels = dict(policy.levels)
    if column in levels:
        return levels[column]
    if isinstance(recode, Keep):
        return (0, 2)
    return (2, 2) if isinstance(recode, Constant) else (1, 2)
