"""The hazards that NIST SP 800-226 names, each with what is stated of this release.

An item has an answer only where certificate, policy or ledger state one: what nobody stated is
left open, with what would state it. The names are in our words, after the initial public draft of
December 2023, and so are the sections.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from policy_engine.accounting.in_words import in_text
from policy_engine.kernel.assumptions import ROW_UNIT
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import comes_and_goes
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.sentences import sentences_of
from policy_engine.report.evidence import PaidAccount
from policy_engine.report.mechanism import How
from policy_engine.report.promise import SIDE_CHANNELS, PromiseSaid
from policy_engine.values import frozen

ANSWER = "write the answer here"
LEDGER = "export in the project that has the account's ledger"
CHOICES = ("recodes_blind", "limits_blind")
"""What a certificate assumes of how recodes and limits were chosen."""


@frozen
class Answered:
    """An item: its ``answer`` by what is stated in ``where``, empty where nobody states one."""

    name: str
    where: str
    answer: tuple[str, ...]
    remedy: str = ANSWER


def hazards(
    certificate: Certificate,
    said: PromiseSaid,
    made: How,
    budget: PaidAccount | None,
    access: str | None,
) -> Iterator[Answered]:
    """Every hazard, with what is stated of a release whose certificate holds."""
    chances = tuple(f"{bar.label}: {bar.words}" for each in made.chances for bar in each.bars)
    unit = f"unit: {said.unit}; a difference of more than one unit is not hidden"
    engine = " ".join((certificate.engine, certificate.terms.engine_version)).strip()
    numbers = f"{said.numbers}. {said.sentence}"
    yield Answered(
        "A large ε, or a large δ that hides it", "certificate: epsilon, delta", (numbers,)
    )
    yield Answered("δ as total failure", "computed from the certificate", _failure(certificate))
    outside = (unit, comes_and_goes(certificate.terms.edition, certificate.promise.neighbours))
    told = tuple(filter(None, outside))
    yield Answered("Differences outside of the unit; event level", "certificate: unit", told)
    compared = (f"{said.numbers}: this page shows each ε with its δ and unit",)
    yield Answered("Unequal δ or units compared", "certificate: epsilon, delta, unit", compared)
    yield Answered("Exact releases of the same data", "ledger", _others(budget), LEDGER)
    written = (
        f"{engine}; policy-engine wrote the query from the claim, and compares it token by token",
    )
    yield Answered("Own implementation", "certificate: query, engine_version", written)
    yield Answered("Statistical bias, 3.2 and 3.3", "computed from the certificate", chances)
    small = (
        "small groups are left out first: a minority that is not shown can still be in the data",
    )
    yield Answered(
        "Systemic and human bias, 3.3", "certificate: k", small if certificate.k > 1 else ()
    )
    chosen = sentences_of(each for each in certificate.assumptions if each.code in CHOICES)
    yield Answered("Bins made from the data, 3.4.1", "certificate: assumptions", chosen)
    yield Answered(
        "Trust that does not hold", "", (), "say who confirmed each assumption, and when"
    )
    channels = tuple(f"not prevented: {each}" for each in SIDE_CHANNELS)
    yield Answered("Side channels, 4.3", "documentation: side channels", channels)
    remedy = "write 'about.access' in the policy"
    told = (access,) if access else ()
    yield Answered(
        "Interactive access; security and access, 4.4", "policy: about.access", told, remedy
    )
    columns = ", ".join(each.name for each in certificate.claim.inputs)
    if certificate.unit != ROW_UNIT:
        columns += f"; {certificate.unit} says whose a row is"
    read = (f"columns that are shown, summed or in the filter: {columns}",)
    yield Answered("Collecting too much, 4.5", "certificate: claim", read)
    if sampled := meaning_of(certificate.claim).why_sampled():
        where = "certificate: mechanism, k, rate"
        yield Answered("Subsampling alone, 3.2", where, (sampled,))


def _failure(certificate: Certificate) -> tuple[str, ...]:
    """What δ is, by the curve that it is a point of."""
    promise = certificate.promise
    if promise.delta == 0:
        return ("δ is 0",)
    twice = 2 * max(promise.epsilon, Decimal("0.1"))
    delta = meaning_of(certificate.claim).curve(certificate, promise.neighbours)(twice)
    points = "; ".join(
        f"ε = {in_text(at)}, δ = {in_text(slack)}, unit: {certificate.unit}"
        for at, slack in ((promise.epsilon, promise.delta), (twice, delta))
    )
    return (
        f"{points}: δ falls as ε grows. If δ were the probability that everything is shown, it"
        " would be the same at each ε",
    )


def _others(budget: PaidAccount | None) -> tuple[str, ...]:
    if budget is None:
        return ()
    return (
        f"account {budget.account} has paid for {budget.paid_for}, about the same people; the"
        " ledger does not know releases that no account of this project has paid for",
    )
