"""The SQL of a certificate, printed again from its claim and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from policy_engine.accounting.domain import sampling_rate
from policy_engine.attest.results import Results
from policy_engine.compile.rendering import headed
from policy_engine.engines.base import Refused
from policy_engine.errors import DomainError
from policy_engine.kernel.assumptions import assumptions
from policy_engine.kernel.certificate import Certificate, NotPrinted, check_text
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.printing import printed, templates_digest
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.sentences import sentence_of
from policy_engine.kernel.sources import Files
from policy_engine.kernel.words import source_of
from policy_engine.names import fold
from policy_engine.policy.csv_models import in_folder

_OTHER_TEMPLATES = (
    "the SQL was printed by templates that this version of the engine does not know; verify with"
    " the version that made it"
)
ALIKE = (
    "the templates that the certificate names: they are others than this version's, which print the"
    " same SQL"
)
_QUOTES = str.maketrans("", "", '"`[]')
_HEADER = re.compile(r"^-- (policy|digest): (.*)$", re.MULTILINE)


def check_sql(certificate: Certificate) -> Results:
    """That the query is what is printed of the claim, and that all it rests on is stated."""
    if reasons := tuple(_differences(certificate)):
        return Results.refused(*reasons)
    query, claim, engine = certificate.query, certificate.claim, certificate.engine
    is_known = certificate.templates == templates_digest(certificate.engine)
    try:
        terms = certificate.terms
        text = headed(terms.policy_name, terms.policy_digest, printed(claim, engine))
        if query != text and not is_known:
            return Results.refused(_OTHER_TEMPLATES)
        if query != text:
            check_text(query, claim, engine)
            return Results.refused("the SQL has other comments or blanks than are printed")
    except (NotPrinted, Refused) as error:
        return Results.refused(f"the SQL is not what its claim prints: {error}")
    return Results(
        (
            "the SQL is the mechanism that is stated: printed again from its claim",
            "it states every assumption that its claim rests on, and no other",
        ),
        (),
        () if is_known else (ALIKE,),
    )


def _differences(certificate: Certificate) -> Iterator[str]:
    terms, claim, promise = certificate.terms, certificate.claim, certificate.promise
    for name, value in _HEADER.findall(certificate.query):
        named = terms.policy_name if name == "policy" else terms.policy_digest
        if value.strip() != named:
            told = "name" if name == "policy" else "digest"
            yield f"the SQL names another policy than the certificate: its {told} is another"
    if not _is_named(terms.source, claim):
        yield f"the certificate names another source than its claim, which reads {source_of(claim)}"
    edition = terms.edition or Edition()
    if differs := edition.differs(claim):
        yield f"the certificate's edition is not what its claim reads: {differs}"
    stated = (terms.source, promise.sampled_at, edition.is_asked)
    wanted = assumptions(claim, certificate.engine, *stated)
    for each in wanted:
        if each not in certificate.assumptions:
            yield f"the certificate does not state what it rests on: {sentence_of(each)}"
    # In their order, and each once: a certificate is written in one way.
    if certificate.assumptions != tuple(each for each in wanted if each in certificate.assumptions):
        yield "the certificate states more than its claim rests on"
    if isinstance(promise, Bounded):
        yield from _rate(claim, promise)


def _rate(claim: Claim, promise: Bounded) -> Iterator[str]:
    try:
        least = Fraction(claim.law.rate_stated(claim.law.rate, promise.sampled_at))
        stated = Fraction(sampling_rate(promise.rate) if claim.law.is_sample else promise.rate)
    except (ClaimError, DomainError) as error:
        named = error.parameter if isinstance(error, DomainError) else "sampled_at"
        yield f"a rate is outside the formula's domain: {named}"
        return
    if stated < least:
        yield f"the SQL samples at {float(least):g}, above the stated {promise.rate:f}"


def _is_named(name: str, claim: Claim) -> bool:
    """Whether a source's name, as its policy writes it, is the one that a claim reads.

    A policy may name a table without its schema, or in quotes, and in other letters. A folder of
    Parquet files is named without the pattern that opens them.
    """
    source = claim.source
    if isinstance(source, Files):
        is_pattern = source.is_folder and source.kind == "parquet"
        return source.path == (in_folder(name) if is_pattern else name)
    parts = source.parts
    return _plain(name) in {_plain(".".join(parts[at:])) for at in range(len(parts))}


def _plain(name: str) -> str:
    """A name without quotes, in the form in which engines compare names."""
    return fold(name).translate(_QUOTES)
