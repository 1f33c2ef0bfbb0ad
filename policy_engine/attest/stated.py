"""What a certificate states, against what is printed of its claim.

The claim is printed again, without the source and its catalog. Each fact that the certificate
states must be what follows from its claim, and every assumption that this rests on must be stated:
a certificate that keeps one to itself claims more than it has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from policy_engine.accounting.domain import decimal, sampling_rate
from policy_engine.attest.facts import Facts, claim_of
from policy_engine.attest.predicates import templates_digest
from policy_engine.attest.results import Results
from policy_engine.compile.rendering import headed
from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.engines.names import fold
from policy_engine.errors import DomainError
from policy_engine.kernel import sentences
from policy_engine.kernel.assumptions import assumptions, unit_of
from policy_engine.kernel.certificate import NotPrinted, check_text, rate_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.kernel.printing import printed
from policy_engine.kernel.sources import Relation
from policy_engine.kernel.words import randomness_of, source_of

_OTHER_TEMPLATES = (
    "the SQL was printed by templates that this version of the engine does not know; verify with"
    " the version that made it"
)
ALIKE = (
    "the templates that the certificate names: they are others than this version's, which print the"
    " same SQL"
)
_HEADER = re.compile(r"^-- (policy|digest): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Certified:
    """What a claim is: what its certificate must state."""

    k: int
    columns: tuple[str, ...]
    count: str | None
    form: str
    unit: str
    randomness: str
    least_rate: Callable[[Decimal], Fraction]
    required: tuple[str, ...]
    mechanism: str
    source_tag: str


def check_sql(facts: Facts) -> tuple[Results, Certified | None]:
    """The SQL of a certificate, certified again and compared; what it is, where that is proved."""
    # A lone surrogate is no text; as what it is replaced with, it has another digest.
    digest = "sha256:" + hashlib.sha256(facts["query"].encode(errors="replace")).hexdigest()
    if facts["query_digest"] != digest:
        return Results.refused("the SQL is not the SQL of its digest"), None
    return _check_printed(facts)


def _check_printed(facts: Facts) -> tuple[Results, Certified | None]:
    """A text that was printed for a claim: it is printed again."""
    claim, engine = claim_of(facts), facts["dialect"]
    if engine not in ENGINES:
        return Results.refused(f"the engine {engine!r} is not known"), None
    stated = _named_source(facts, claim)
    proved = Certified(
        k=claim.law.k,
        columns=claim.released,
        count=claim.count,
        form="rows" if claim.count is None else "counts",
        unit=unit_of(claim),
        randomness=randomness_of(claim, engine),
        least_rate=lambda sampled_at: Fraction(rate_of(claim.law, claim.law.rate, sampled_at)),
        required=assumptions(claim, engine, stated, facts["sampled_at"]),
        mechanism=claim.law.mechanism,
        source_tag=claim.law.source_tag,
    )
    if reasons := tuple(_differences(facts, proved)):
        return Results.refused(*reasons), proved
    try:
        text = headed(facts["policy"]["name"], facts["policy"]["digest"], printed(claim, engine))
        if facts["query"] != text and facts["templates"] != templates_digest():
            return Results.refused(_OTHER_TEMPLATES), proved
        if facts["query"] != text:
            check_text(facts["query"], claim, engine)
            return Results.refused("the SQL has other comments or blanks than are printed"), proved
    except (NotPrinted, Refused) as error:
        return Results.refused(f"the SQL is not what its claim prints: {error}"), proved
    if list(facts["assumptions"]) != list(proved.required):
        return Results.refused("the certificate states more than its claim rests on"), proved
    left = () if facts["templates"] == templates_digest() else (ALIKE,)
    held = (
        "the SQL is the certified mechanism: printed again from its claim",
        "it states what the claim is, and every assumption that it rests on",
    )
    return Results(held, (), left), proved


def _differences(facts: Facts, proved: Certified) -> Iterable[str]:
    names = ("k", "columns", "count", "form", "unit", "mechanism", "source_tag")
    stated = {name: facts[name] for name in names} | {"columns": tuple(facts["columns"])}
    wrong = [name for name in names if getattr(proved, name) != stated[name]]
    if wrong:
        yield (
            f"the SQL is another release: k = {proved.k}, columns {', '.join(proved.columns)};"
            f" the certificate misstates its {', '.join(wrong)}"
        )
    if facts["randomness"] != proved.randomness:
        yield f"the SQL draws its sample by {proved.randomness}, and another way is stated"
    yield from _misnamed(facts)
    yield from _rate(facts, proved)
    stated_texts = {fold(text) for text in facts["assumptions"]}
    for text in dict.fromkeys(proved.required):
        if fold(text) not in stated_texts:
            yield f"the certificate does not state what it rests on: {text}"


def _misnamed(facts: Facts) -> Iterable[str]:
    for name, value in _HEADER.findall(facts["query"]):
        named = "name" if name == "policy" else "digest"
        if value.strip() != facts["policy"][named]:
            yield f"the SQL names another policy than the certificate: its {named} is another"


def _rate(facts: Facts, proved: Certified) -> Iterable[str]:
    try:
        is_sample = facts["mechanism"] == MECHANISM
        stated = Fraction(sampling_rate(facts["rate"]) if is_sample else Decimal(facts["rate"]))
        least = proved.least_rate(
            decimal("sampled_at", "1 or a rate below it", facts["sampled_at"])
        )
    except DomainError as error:
        yield f"a rate is outside the formula's domain: {error.parameter}"
        return
    if stated < least:
        yield f"the SQL samples at {float(least):g}, above the stated {facts['rate']}"


def _named_source(facts: Facts, claim: Claim) -> str:
    """The source as the certificate's sentences name it: its path, or the last parts of its name.

    A policy may name a table without its schema, or in quotes, and in other letters.
    """
    names = {source_of(claim)}
    if isinstance(claim.source, Relation):
        parts = claim.source.parts
        names = {fold(".".join(parts[at:])).replace('"', "") for at in range(len(parts))}
    for text in facts["assumptions"]:
        name = str(text.removesuffix(sentences.STAYS))
        is_relation = isinstance(claim.source, Relation)
        written = fold(name).replace('"', "") if is_relation else name
        if text.endswith(sentences.STAYS) and written in names:
            return name
    return source_of(claim)
