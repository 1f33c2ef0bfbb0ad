"""The numbers of a certificate, recomputed by two routes: the accountant's and brute force."""

from __future__ import annotations

from decimal import Decimal, localcontext

from policy_engine.accounting.domain import REPLACE_ONE, decimal, nonnegative_epsilon, sampling_rate
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.in_words import in_text
from policy_engine.attest.brute_chance import brute_answers, brute_noise, brute_presence
from policy_engine.attest.brute_force import Recomputed, brute_delta
from policy_engine.attest.brute_replace import brute_replace
from policy_engine.attest.facts import Facts, claim_of
from policy_engine.attest.results import Results
from policy_engine.errors import DomainError
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Inserted, Noisy, Pure, Randomised
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.kernel.price import delta_of

NOT_BY_BRUTE_FORCE = (
    "δ by brute force: these cells are too large to sum; the accountant's bound holds"
)
NOT_ALL_PAIRS = (
    "δ by brute force for all pairs of cells: {sizes} were summed; for the others the accountant's"
    " bound holds"
)


def check_numbers(facts: Facts) -> Results:
    """δ at ε must be below neither what brute force finds nor the accountant's bound."""
    try:
        # Of a sample the facts have the numbers.
        claim = None if facts["mechanism"] == MECHANISM else claim_of(facts)
        stated = decimal("delta", "a number", facts["delta"])
        is_pure = claim is not None and isinstance(claim.law, Pure)
        if not 0 <= stated <= 1 or (not stated and not is_pure):
            raise DomainError("delta", "a number above 0, at most 1", facts["delta"])
        least = _least(facts, claim)
    except DomainError as error:
        return Results.refused(f"the numbers are outside the formula's domain: {error.parameter}")
    shown = f"δ = {in_text(stated)} at ε = {facts['epsilon']}, k = {facts['k']}"
    with_rate = f"{shown}, rate {facts['rate']}"
    if stated < least:
        return Results.refused(f"{with_rate}: the true δ is {in_text(least)}")
    tag, found = facts["source_tag"], recomputed(facts, claim)
    if found is None:
        return Results((f"{shown}: recomputed {tag}",), (), (NOT_BY_BRUTE_FORCE,))
    with localcontext(prec=60):
        least = found.delta * (1 - found.error)
    if stated < least:
        return Results.refused(f"{with_rate}: by brute force δ is {least:.11E}")
    left = () if found.whole else (NOT_ALL_PAIRS.format(sizes=found.sizes),)
    return Results((f"{shown}: recomputed {tag}, by brute force: {found.sizes}",), (), left)


def _least(facts: Facts, claim: Claim | None) -> Decimal:
    """The accountant's δ."""
    if claim is not None:
        epsilon = decimal("epsilon", "a number", facts["epsilon"])
        return delta_of(claim, Decimal(1), epsilon, facts["neighbours"])
    numbers = (facts["k"], facts["rate"], facts["epsilon"], facts["neighbours"])
    return delta_exact(*numbers).delta


def recomputed(facts: Facts, claim: Claim | None = None) -> Recomputed | None:
    """δ by brute force, for numbers that are in the formula's domain."""
    epsilon: Decimal = nonnegative_epsilon(facts["epsilon"])
    replaced = facts["neighbours"] == REPLACE_ONE
    if claim is not None and isinstance(claim.law, Noisy):
        law, groups = claim.law, claim.unit.groups
        if law.aggregates:
            return None
        tables = [counts.entries for counts, *_ in law.tables for _ in range(groups)]
        return brute_noise(tables, epsilon, is_open=law.table.is_open, replaces=replaced)
    if claim is not None and isinstance(claim.law, Inserted):
        own = claim.law
        return brute_presence(own.shown, own.inserted, epsilon, replaces=replaced)
    if claim is not None and isinstance(claim.law, Randomised):
        lists = [(len(each.values), each.share) for each in claim.law.responses]
        return brute_answers(lists, epsilon) if replaced else None
    k, rate = int(facts["k"]), sampling_rate(facts["rate"])
    return (brute_replace if replaced else brute_delta)(k, rate, epsilon)
