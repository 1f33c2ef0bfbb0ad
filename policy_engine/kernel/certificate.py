"""The certificate: what one text was certified to be, and its price.

``certify`` makes one of a claim, and of nothing else: a text that is token for token what the
kernel prints for the claim, and the exact δ of the claim's law.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import takewhile
from typing import TYPE_CHECKING

from policy_engine.accounting.domain import claimed
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.assumptions import assumptions, unit_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import ClaimError, require
from policy_engine.kernel.printing import printed, templates_digest
from policy_engine.kernel.promise import Bounded, Promise
from policy_engine.kernel.tokens import Unreadable, tokens
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.editions import Edition
    from policy_engine.kernel.models import Model

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


@frozen
class Terms:
    """What a certificate says beside its claim: whose it is, what is promised, where rows go.

    ``source`` is the source's name in its sentences. Of what is asked for the promise's rate is the
    sample's as it is written, not below the law's. ``models`` hold of what is released, and
    ``said`` is what the author says beside the numbers, by name: purpose, contact. ``edition`` is
    which draw of the policy it is, where that is said. ``settings`` are those of the session that
    say what it may use, and change no value.
    """

    policy_name: str
    policy_digest: str
    source: str
    promise: Promise
    published_as: str = ROWS
    engine_version: str = ""
    models: tuple[Model, ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    edition: Edition | None = None
    settings: tuple[tuple[str, str], ...] = ()


@frozen
class Certificate:
    """A certificate: what is promised, and which SQL was certified. Nothing in it is read from the
    source.

    ``certify`` returns one. The results of ``preview``, ``open_release`` and ``verify`` have one in
    the field ``certificate``.

    Fields:
        ``terms``: the policy's name and digest, and the place of the release. ``terms.promise`` has
            ε, δ and the neighbours.
        ``claim``: what the SQL releases.
        ``engine``: the engine that runs the SQL.
        ``query``: the certified SQL.
        ``assumptions``: facts that the promise needs, and that no program can prove.
        ``templates``: SHA-256 of the templates from which the SQL is written.
        ``time``: the time of certification in UTC, such as ``2026-11-29T12:00:00Z``.
    """

    terms: Terms
    claim: Claim
    engine: str
    query: str
    assumptions: tuple[Assumption, ...]
    templates: str
    time: str

    @property
    def promise(self) -> Promise:
        """What is promised: an upper bound on δ at ε ([EXACT], [TABLE], …), or nothing."""
        return self.terms.promise

    @property
    def unit(self) -> str:
        """Who is protected: the column that tells people apart, or ``row``."""
        return unit_of(self.claim)

    @property
    def k(self) -> int:
        """The least number of people of a group that is shown."""
        return self.claim.law.k

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that tell groups apart, as they are released."""
        return self.claim.released

    @property
    def count(self) -> str | None:
        """The name of the count's column; None where a group is shown as so many rows."""
        return self.claim.count


def certify(text: str, claim: Claim, engine: str, terms: Terms) -> Certificate:
    """Certify SQL that you run yourself: make the certificate that ``text`` releases ``claim``.

    A claim says what SQL releases. ``answer`` of ``policy_engine.check.answer`` guesses the claim
    of SQL. Check the guess before you certify it.

    Guarantee: if exactly ``text`` runs on the engine, and the assumptions in the certificate hold,
    then the result is (ε, δ)-DP for the certificate's unit and neighbours. ``claim.law.source_tag``
    names the proof, such as [EXACT].

    Arguments:
        ``text``: the SQL. It must equal, token by token, what the program prints for the claim.
        ``claim``: the source, the unit, the mechanism and the recode of each column.
        ``engine``: the name of the engine, such as ``duckdb``.
        ``terms``: all other statements of the certificate. ``terms.promise`` has ε, the largest δ
            that you accept, and the neighbours.

    Returns: the certificate, unsigned. ``promise.delta`` is the δ that was computed.

    Raises:
        NotPrinted: the text is not what the program prints.
        Unmet: the computed δ is above the δ of ``terms.promise``.
        Refused: the engine lacks an operation that the claim needs.
        ClaimError: ``terms`` promises no (ε, δ), or the claim is of an unknown kind.

    >>> from decimal import Decimal
    >>> from policy_engine.check.answer import answer
    >>> from policy_engine.check.schema import Schema
    >>> from policy_engine.kernel.certificate import Terms
    >>> from policy_engine.kernel.promise import Bounded
    >>> sql = "select sex, count(*) n from main.people tablesample bernoulli (10%) group by 1"
    >>> found = answer(sql + " having n >= 20", "duckdb", Schema())
    >>> asked = Bounded(Decimal("0.5"), Decimal("1e-9"), rate=Decimal("0.1"))
    >>> terms = Terms("sexes", "", "people", asked)
    >>> certify(found.canonical, found.claim, "duckdb", terms).promise.delta
    Decimal('2.63178356175E-11')
    """
    check_text(text, claim, engine)
    asked = terms.promise
    if not isinstance(asked, Bounded):
        raise ClaimError("nothing is promised, so that nothing is certified")
    require(claim.law.rate <= asked.rate, "the rate that is stated is not below the law's")
    rate = claim.law.rate_stated(asked.rate, asked.sampled_at)
    delta = claim.delta(rate, asked.epsilon, asked.neighbours)
    if delta > asked.delta:
        raise Unmet(delta)
    promise = replace(asked, delta=stated(delta, asked.delta), rate=rate)
    return vouched(text, claim, engine, replace(terms, promise=promise))


def vouched(text: str, claim: Claim, engine: str, terms: Terms) -> Certificate:
    """What is stated of a text, by its terms: its promise is theirs, which nobody checks here."""
    sampled_at = terms.promise.sampled_at
    is_asked = terms.edition is not None and terms.edition.is_asked
    return Certificate(
        terms=terms,
        claim=claim,
        engine=engine,
        query=text,
        assumptions=assumptions(claim, engine, terms.source, sampled_at, is_asked),
        templates=templates_digest(engine),
        time=now(),
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


def stated(delta: Decimal, promised: Decimal) -> Decimal:
    """The δ that a certificate states: rounded up, and at most what is promised."""
    return min(max(claimed(delta), _LEAST_DELTA), promised)


def now() -> str:
    """The time as a certificate states it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
