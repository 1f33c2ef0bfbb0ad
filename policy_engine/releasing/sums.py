"""How far a sum or a mean that is shown is from the truth, by its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy_engine.kernel.mechanisms import Aggregate, IntegerTable

if TYPE_CHECKING:
    from policy_engine.policy.noise import Sum


def error_of_sum(each: Aggregate | Sum, count: str, table: IntegerTable | None = None) -> str:
    """The standard deviation of a sum, or of a mean over the number in the column ``count``.

    With the noise of ``table``, where a grouping has its own.
    """
    from policy_engine.accounting.noise_laws import deviation

    error = deviation(table or each.table) * float(each.clip.grain * each.unit)
    return f"{error:.6g} / {count}" if each.clip.is_mean else f"{error:.6g}"
