"""What a certificate states, against what its SQL is proved to be.

The text is proved again, without the source and its catalog. Each fact that the certificate
states of it must be what was proved, and every assumption that the proof rests on must be stated:
a certificate that keeps one to itself claims more than it has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from fractions import Fraction

from policy_engine.accounting.domain import decimal, sampling_rate
from policy_engine.attest.facts import Facts
from policy_engine.attest.results import Results
from policy_engine.errors import DomainError, UsageError
from policy_engine.relations.assumptions import (
    ALWAYS,
    BUILT_INS,
    STAYS,
    TIES,
    UNORDERED,
    is_a_person,
    of_its_file,
    of_its_population,
    of_its_sample,
    randomness,
)
from policy_engine.relations.rates import population_rate
from policy_engine.relations.shape import ReleaseShape
from policy_engine.syntax.names import fold
from policy_engine.verify.proof import Proof, prove

SETTLED = "what the releaser's catalog settled, and no file shows: {}"

_NEVER_NULL = " is never NULL in "
_UNIQUE = " is unique in "
_HEADER = re.compile(r"^-- (policy|digest): (.*)$", re.MULTILINE)


def check_sql(facts: Facts) -> tuple[Results, ReleaseShape | None]:
    """The SQL of a certificate, proved again and compared; its shape where it is proved."""
    # A lone surrogate is no text; as what it is replaced with, it has another digest.
    digest = "sha256:" + hashlib.sha256(facts["sql"].encode(errors="replace")).hexdigest()
    if facts["sql_digest"] != digest:
        return Results.refused("the SQL is not the SQL of its digest"), None
    try:
        proof = prove(facts["sql"], facts["dialect"])
    except UsageError as error:
        return Results.refused(str(error)), None
    shape = proof.shape
    if shape is None:
        found = "; ".join(map(str, proof.findings))
        return Results.refused(f"the SQL proves nothing: {found}"), None
    reasons = (*_differences(facts, shape), *_rate(facts, shape), *_assumptions(facts, proof))
    if reasons:
        return Results.refused(*reasons), shape
    return Results.held(
        "the SQL is the certified mechanism: proved again",
        "it states what was proved, and every assumption that the proof rests on",
    ) + _settled(facts, proof), shape


def _differences(facts: Facts, shape: ReleaseShape) -> Iterable[str]:
    columns = [column.name for column in shape.columns]
    proved = {
        "k": shape.k,
        "columns": columns,
        "count": shape.count,
        "form": shape.form,
        "unit": shape.unit,
    }
    stated = {name: facts[name] for name in proved} | {"columns": list(facts["columns"])}
    if proved != stated:
        wrong = ", ".join(name for name in proved if proved[name] != stated[name])
        yield (
            f"the SQL is another release: k = {shape.k}, columns {', '.join(columns)};"
            f" the certificate misstates its {wrong}"
        )
    drawn = randomness(shape.method, shape.unit)
    if facts["randomness"] != drawn:
        yield f"the SQL draws its sample by {drawn}, and another way is stated"
    for name, value in _HEADER.findall(facts["sql"]):
        named = "name" if name == "policy" else "digest"
        if value.strip() != facts["policy"][named]:
            yield f"the SQL names another policy than the certificate: its {named} is another"


def _rate(facts: Facts, shape: ReleaseShape) -> Iterable[str]:
    try:
        stated = Fraction(sampling_rate(facts["rate"]))
        sampled_at = decimal("sampled_at", "1 or a rate below it", facts["sampled_at"])
        least = population_rate(shape.rate, shape.method, sampled_at)
    except DomainError as error:
        yield f"a rate is outside the formula's domain: {error.parameter}"
        return
    if stated < least:
        yield f"the SQL samples at {float(least):g}, above the stated {facts['rate']}"


def _assumptions(facts: Facts, proof: Proof) -> Iterable[str]:
    """Each assumption that must be stated and is not."""
    stated, shape = {fold(text) for text in facts["assumptions"]}, proof.shape
    assert shape is not None
    sources = [text[: -len(STAYS)] for text in facts["assumptions"] if text.endswith(STAYS)]
    source = next((name for name in sources if is_source(name, shape)), shape.source)
    for text in dict.fromkeys(_required(facts, proof, shape, source)):
        if fold(text) not in stated:
            yield f"the certificate does not state what it rests on: {text}"


def is_source(name: str, shape: ReleaseShape) -> bool:
    """Whether a name, as a policy writes it, is that of the proved source, or its last parts."""
    written, proved = fold(name).replace('"', ""), fold(shape.source).replace('"', "")
    proved = proved.removesuffix("/**/*.parquet")
    return bool(written) and (proved == written or proved.endswith("." + written))


def _required(facts: Facts, proof: Proof, shape: ReleaseShape, source: str) -> Iterable[str]:
    yield from of_its_sample(shape.method, shape.unit, facts["dialect"])
    yield from (text for text in proof.assumptions if _stays_open(text))
    if facts["sampled_at"] != "1":
        yield of_its_population(source, facts["sampled_at"])
    yield is_a_person(shape.unit, source)
    yield source + STAYS
    yield from ALWAYS
    yield from of_its_file(source, is_parquet=shape.is_of_a_file)


def _stays_open(text: str) -> bool:
    """Whether no catalog can settle what a proof rests on, so that the certificate must say it."""
    unit = text.startswith("one row of ") or _UNIQUE in text or _NEVER_NULL in text
    return unit or text in (TIES, UNORDERED)


def _settled(facts: Facts, proof: Proof) -> Results:
    """What the proof rests on where no catalog is at hand, and the releaser had one."""
    stated = {fold(text) for text in facts["assumptions"]} | {fold(BUILT_INS)}
    left = [text for text in proof.assumptions if fold(text) not in stated]
    return Results((), (), (SETTLED.format("; ".join(left)),) if left else ())
