"""The certificate: what one text was certified to be, and its price.

``certify`` makes one of a claim, and of nothing else: a text that is token for token what the
kernel prints for the claim, and the exact δ of the claim's law.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import takewhile
from typing import Any, Literal

from policy_engine.accounting.domain import claimed, decimal
from policy_engine.accounting.one import population_rate
from policy_engine.kernel.assumptions import assumptions, unit_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms import Law, Native, Noisy, Pure
from policy_engine.kernel.price import delta_of
from policy_engine.kernel.printing import printed
from policy_engine.kernel.tokens import Unreadable, tokens

ROWS = "rows"
"""What a query is published as that stands in no envelope: its rows are the release."""

# A δ below this is stated as this: nobody can tell them apart, and a ledger keeps exact sums.
_LEAST_DELTA = Decimal("1e-300")


class NotPrinted(ValueError):
    """A text that is not what the kernel prints for the claim: from its ``token``-th token on."""

    def __init__(self, token: int, found: str, wanted: str) -> None:
        self.token, self.found, self.wanted = token, found, wanted
        super().__init__(f"token {token} must be {wanted!r}, found {found!r}")


class Unmet(ValueError):
    """The exact ``delta`` of a claim is above the one that was promised."""

    def __init__(self, delta: Decimal) -> None:
        self.delta = delta
        super().__init__(f"δ = {delta}")


@dataclass(frozen=True)
class Terms:
    """What a certificate says beside its claim: whose it is, what is promised, where rows go.

    ``source`` is the source's name in its sentences, and ``rate`` the sample's as it is written,
    not below the law's; ``sampled_at`` is the rate at which the source is a sample of its
    population, 1 where it is none. ``stated`` is what it says
    beside its numbers, by name: purpose, contact, the models that hold of what is released.
    """

    policy_name: str
    policy_digest: str
    source: str
    rate: Decimal
    epsilon: Decimal
    delta: Decimal
    neighbours: Literal["add_remove", "replace_one"]
    sampled_at: Decimal = Decimal(1)
    published_as: str = ROWS
    engine_version: str = ""
    stated: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Certificate:
    """What was certified of one text, and its price.

    ``rate`` is an upper bound on the probability that a unit is sampled; ``delta`` is an upper
    bound on δ at ``epsilon`` ([EXACT]). It holds nothing that was read from the source.
    """

    terms: Terms
    query: str
    dialect: str
    unit: str
    columns: tuple[str, ...]
    count: str | None
    k: int
    rate: Decimal
    delta: Decimal
    assumptions: tuple[str, ...]
    time: str
    claim: Claim

    @property
    def epsilon(self) -> Decimal:
        """The ε that is promised."""
        return self.terms.epsilon

    @property
    def neighbours(self) -> Literal["add_remove", "replace_one"]:
        """The neighbouring notion that is promised."""
        return self.terms.neighbours

    @property
    def identity(self) -> str:
        """What a request is of: the claim, whatever templates print it."""
        return self.claim.digest


def certify(text: str, claim: Claim, engine: str, terms: Terms) -> Certificate:
    """The certificate that ``text`` is the release of ``claim``.

    Guarantee: running exactly ``text`` on the engine, under the certificate's assumptions, is
    (ε, δ)-DP for the claim's unit and the promised notion of neighbours, with the promised ε and
    at most the promised δ ([EXACT]).

    Raises:
        Refused: the engine cannot do what the claim asks for.
        NotPrinted: the text is not what the kernel prints.
        Unmet: the exact δ is above the promised one.

    >>> from policy_engine.kernel.claim import Shown
    >>> from policy_engine.kernel.recodes import Keep
    >>> from policy_engine.kernel.sources import Column, Relation, Rows
    >>> from policy_engine.kernel.types import Type
    >>> shown = Shown("sex", Column("sex", Type("text")), Keep())
    >>> claim = Claim(Relation(("main", "people")), Rows(), Native(Decimal("0.1"), 20), (shown,))
    >>> numbers = (Decimal("0.1"), Decimal("0.5"), Decimal("1e-9"))  # rate, ε, δ
    >>> terms = Terms("a", "", "people", *numbers, "add_remove")
    >>> certify(printed(claim, "duckdb"), claim, "duckdb", terms).delta < Decimal("1e-10")
    True
    """
    check_text(text, claim, engine)
    require(claim.law.rate <= terms.rate, "the rate that is stated is not below the law's")
    rate = rate_of(claim.law, terms.rate, terms.sampled_at)
    delta = delta_of(claim, rate, terms.epsilon, terms.neighbours)
    if delta > terms.delta:
        raise Unmet(delta)
    return Certificate(
        terms=terms,
        query=text,
        dialect=engine,
        unit=unit_of(claim),
        columns=claim.released,
        count=claim.count,
        k=claim.law.k,
        rate=rate,
        delta=stated(delta, terms.delta),
        assumptions=assumptions(claim, engine, terms.source, terms.sampled_at),
        time=now(),
        claim=claim,
    )


def check_text(text: str, claim: Claim, engine: str) -> None:
    """Raise NotPrinted unless ``text`` is, token for token, what is printed for ``claim``."""
    wanted = tokens(printed(claim, engine), engine)
    try:
        found = tokens(text, engine)
    except Unreadable as error:
        raise NotPrinted(0, str(error), wanted[0]) from None
    if found != wanted:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(found, wanted, strict=False))
        place = sum(1 for _ in same)
        raise NotPrinted(place, *("".join(part[place : place + 1]) for part in (found, wanted)))


def rate_of(law: Law, rate: Decimal, sampled_at: Decimal) -> Decimal:
    """The rate that a certificate rests on, for one that is written; never below the true one."""
    if isinstance(law, Noisy | Pure):
        require(sampled_at == 1, "noise is priced for all of the source")
        return law.rate
    method = "native" if isinstance(law, Native) else "keyed"
    return certified_rate(rate, method, sampled_at)


def certified_rate(rate: Decimal, method: str, sampled_at: Decimal = Decimal(1)) -> Decimal:
    """The rate that a certificate or a charge rests on, for one that is written.

    >>> certified_rate(Decimal("0.1"), "keyed", Decimal("0.01"))
    Decimal('0.001')
    """
    return decimal("rate", "a number", population_rate(Fraction(rate), method, sampled_at))


def stated(delta: Decimal, promised: Decimal) -> Decimal:
    """The δ that a certificate states: rounded up, and at most what is promised."""
    return min(max(claimed(delta), _LEAST_DELTA), promised)


def now() -> str:
    """The time as a certificate states it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
