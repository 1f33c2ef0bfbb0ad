"""The numbers of a certificate, recomputed by two routes: the accountant's and brute force."""

from __future__ import annotations

from decimal import Decimal, localcontext

from policy_engine.accounting.domain import (
    REPLACE_ONE,
    decimal,
    in_text,
    nonnegative_epsilon,
    sampling_rate,
)
from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.brute_force import Recomputed, brute_delta
from policy_engine.attest.brute_replace import brute_replace
from policy_engine.attest.facts import Facts
from policy_engine.attest.results import Results
from policy_engine.errors import DomainError

NOT_BY_BRUTE_FORCE = (
    "δ by brute force: these cells are too large to sum; the accountant's bound holds"
)
NOT_ALL_PAIRS = (
    "δ by brute force for all pairs of cells: {sizes} were summed; for the others the accountant's"
    " bound holds"
)


def check_numbers(facts: Facts) -> Results:
    """δ at ε must be below neither what brute force finds nor the accountant's bound, [EXACT]."""
    try:
        bound = delta_exact(facts["k"], facts["rate"], facts["epsilon"], facts["neighbours"])
        stated = decimal("delta", "a number", facts["delta"])
        if not 0 < stated <= 1:
            raise DomainError("delta", "a number above 0, at most 1", facts["delta"])
    except DomainError as error:
        return Results.refused(f"the numbers are outside the formula's domain: {error.parameter}")
    shown = f"δ = {in_text(stated)} at ε = {facts['epsilon']}, k = {facts['k']}"
    with_rate = f"{shown}, rate {facts['rate']}"
    if stated < bound.delta:
        return Results.refused(f"{with_rate}: the true δ is {in_text(bound.delta)}")
    found = recomputed(facts)
    if found is None:
        return Results((f"{shown}: recomputed [EXACT]",), (), (NOT_BY_BRUTE_FORCE,))
    with localcontext(prec=60):
        least = found.delta * (1 - found.error)
    if stated < least:
        return Results.refused(f"{with_rate}: by brute force δ is {least:.11E}")
    left = () if found.whole else (NOT_ALL_PAIRS.format(sizes=found.sizes),)
    return Results((f"{shown}: recomputed [EXACT], by brute force: {found.sizes}",), (), left)


def recomputed(facts: Facts) -> Recomputed | None:
    """δ by brute force, for numbers that are in the formula's domain."""
    k, rate = int(facts["k"]), sampling_rate(facts["rate"])
    epsilon: Decimal = nonnegative_epsilon(facts["epsilon"])
    replaced = facts["neighbours"] == REPLACE_ONE
    return (brute_replace if replaced else brute_delta)(k, rate, epsilon)
