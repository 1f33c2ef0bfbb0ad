"""What is signed of a release: its certificate, or the statement of one without (ε, δ).

That statement is signed, and no certificate: it has a predicate type of its own, so that no reader
of certificates takes it for one, and neither an ε nor a δ. What it says first is that there is
none, and which attacks its models leave open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, cast, get_type_hints

from policy_engine.attest import attestation
from policy_engine.attest.enforcing import check_models
from policy_engine.attest.facts import FIELDS, PREDICATE_VERSION, STATED, Facts, models_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import check_bytes, plain, read_signed, record_of_file
from policy_engine.attest.results import Results, Verified
from policy_engine.attest.rows import check_rows
from policy_engine.compile.suppression import printed_classes
from policy_engine.engines.base import Refused
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.assumptions import unit_of
from policy_engine.kernel.certificate import Certificate, Terms, now
from policy_engine.kernel.claim import Claim, to_json
from policy_engine.kernel.decoding import decoded
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Law
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.kernel.printing import templates
from policy_engine.kernel.tokens import Unreadable, tokens
from policy_engine.kernel.words import randomness_of
from policy_engine.policy import syntactic

VERSION = 1
UNCHECKED = (
    "that the SQL ran on the source, and what it left out, which no release tells",
    "any (ε, δ): there is none",
)


@dataclass(frozen=True)
class Uncertified:
    """What is said of a release without (ε, δ): it is (0, 1)-DP, which promises nothing."""

    terms: Terms
    query: str
    dialect: str
    claim: Claim
    k: int
    time: str = field(default_factory=now)
    epsilon: Decimal = Decimal(0)
    delta: Decimal = Decimal(1)
    rate: Decimal = Decimal(1)
    neighbours: Literal["add_remove"] = "add_remove"

    @property
    def unit(self) -> str:
        """What is taken for one person: the column of a key, or ``row``."""
        return unit_of(self.claim)

    @property
    def identity(self) -> str:
        """What a request is of."""
        return self.claim.digest

    @property
    def models(self) -> tuple[syntactic.Model, ...]:
        """The models that hold of its classes, beside k."""
        return tuple(map(syntactic.model_from, dict(self.terms.stated).get("models", ())))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it takes for granted."""
        who = "row of the source" if self.unit == "row" else f"value of {self.unit}"
        return (f"each {who} is one person",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns but the count's."""
        return self.claim.released

    @property
    def count(self) -> str | None:
        """The name of the count's column."""
        return self.claim.count


Vouched = Certificate | Uncertified
"""What stands beside a release: a certificate, or the statement of one without (ε, δ)."""


def predicate_of(certificate: Vouched) -> dict[str, Any]:
    """It as the predicate of an in-toto Statement: a certificate's is of version 2."""
    claim, terms = certificate.claim, certificate.terms
    if isinstance(certificate, Uncertified):
        attacks = syntactic.still_works(certificate.k, certificate.models)
        own = {
            "guarantee": syntactic.NO_GUARANTEE,
            "still_works": [{"attack": name, "why": why} for name, why in attacks],
            "version": VERSION,
            "mechanism": attestation.SYNTACTIC_MECHANISM,
        }
    else:
        own = {
            "version": PREDICATE_VERSION,
            "mechanism": claim.law.mechanism,
            "rate": f"{certificate.rate:f}",
            "sampled_at": f"{terms.sampled_at:f}",
            "epsilon": f"{terms.epsilon:f}",
            "delta": str(certificate.delta),
            "bound": "exact",
            "source_tag": claim.law.source_tag,
            "neighbours": terms.neighbours,
            "randomness": randomness_of(claim, certificate.dialect),
            "templates": templates_digest(),
        }
    return {
        **dict(terms.stated),
        **own,
        "policy": {"name": terms.policy_name, "digest": terms.policy_digest},
        "k": certificate.k,
        "unit": certificate.unit,
        "assumptions": list(certificate.assumptions),
        "columns": list(certificate.columns),
        "count": certificate.count,
        "form": "rows" if certificate.count is None else "counts",
        "claim": to_json(claim),
        "query": certificate.query,
        "query_digest": "sha256:" + hashlib.sha256(certificate.query.encode()).hexdigest(),
        "published_as": terms.published_as,
        "dialect": certificate.dialect,
        "engine_version": terms.engine_version,
        "time": certificate.time,
    }


@lru_cache
def templates_digest() -> str:
    """SHA-256 over the names and texts of all templates of queries: which set printed a text."""
    found = hashlib.sha256()
    for file in sorted(templates().rglob("*.sql.j2")):
        name = file.relative_to(templates()).as_posix()
        if not name.startswith("envelopes/"):
            found.update(f"{name}\0{file.read_text(encoding='utf-8')}\0".encode())
    return "sha256:" + found.hexdigest()


# Reading the statement of a release without (ε, δ)


def read_syntactic(statement: attestation.Unverified) -> Facts:
    """The predicate of such a statement; VerificationFailed names what is not of its form."""
    facts: Facts = dict(statement.predicate)
    wrong = [name for name, holds in _FIELDS.items() if not holds(facts.get(name, ...))]
    wrong += sorted(ascii(name[:60]) for name in facts.keys() - _FIELDS.keys())
    if not wrong:
        left = {name for name, _ in syntactic.still_works(facts["k"], models_of(facts))}
        if not left <= {each["attack"] for each in facts["still_works"]}:
            wrong.append("still_works")
    if wrong:
        raise VerificationFailed((f"the statement lacks or misstates: {', '.join(wrong)}",))
    return facts


def claim_stated(facts: Mapping[str, Any]) -> Claim:
    """Its claim, of a law unknown to the kernel; VerificationFailed unless it is what it says."""
    value, hints = plain(facts["claim"]), get_type_hints(Claim)
    told = tuple(dict.fromkeys(model.of for model in models_of(facts)))
    names = [field.name for field in fields(Claim) if field.name != "law"]
    try:
        parts = {name: decoded(hints[name], value[name]) for name in names}
        claim = Claim(**parts, law=cast("Law", syntactic.WholeClasses(facts["k"], told)))
    except (ClaimError, TypeError, ValueError, ArithmeticError, KeyError):
        raise VerificationFailed(("the statement's claim is none",)) from None
    stated = (list(facts["columns"]), facts["count"], facts["unit"])
    if to_json(claim) != value or stated != (list(claim.released), claim.count, unit_of(claim)):
        raise VerificationFailed(("the statement's claim is another than it says",))
    return claim


def check_query(facts: Facts) -> Results:
    """That its SQL is what is printed of its claim."""
    query, engine = facts["query"], facts["dialect"]
    if facts["query_digest"] != "sha256:" + hashlib.sha256(query.encode()).hexdigest():
        return Results.refused("query_digest is not that of its query")
    try:
        same = tokens(query, engine) == tokens(printed_classes(claim_stated(facts), engine), engine)
    except (Unreadable, Refused, KeyError):
        same = False
    if not same:
        return Results.refused("its SQL is not what is printed of its claim")
    return Results.held("its SQL is what is printed of what it states")


@dataclass(frozen=True)
class SyntacticMeaning:
    """What the numbers of a release without (ε, δ) are, as its statement says."""

    count: str | None
    attacks: tuple[str, ...]
    mechanism: ClassVar[str] = attestation.SYNTACTIC_MECHANISM

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> SyntacticMeaning | None:
        """What the facts of a statement say; None where they cannot be read."""
        try:
            claim = claim_stated(facts)
            found = syntactic.still_works(facts["k"], models_of(facts))
        except (KeyError, syntactic.NoModel, VerificationFailed):
            return None
        return cls(claim.count, tuple(f"{name} still works: {why}" for name, why in found))

    def told(self) -> Iterator[str]:
        """Sentences, first that nothing is promised."""
        yield syntactic.NO_GUARANTEE
        yield from self.attacks
        counted = self.count or "the number of a group's rows"
        yield f"{counted} is how many people of the source are in the group, as it is"


def verify_syntactic(envelope: str, trusted: TrustedKeys, release: Path | None = None) -> Verified:
    """Verify the statement of a release without (ε, δ), and with ``release`` its file.

    Guarantee: a trusted key signed it, it says what it has not, and the file is the one that was
    signed, with its columns, in which every class has at least k people and its models. Nothing is
    proved of what was left out, so that it is never ``is_proved``.

    Raises:
        VerificationFailed: with every reason.
        FileError: the release cannot be read.
    """
    statement = attestation.open_envelope(envelope, trusted, attestation.SYNTACTIC_TYPE)
    facts = read_syntactic(statement)
    found = Results.held(f"signed by {statement.key_id}") + check_query(facts)
    if release is None:
        found += Results((), (), ("the release itself: name it with --release",))
    else:
        found += _check_file(facts, statement, release)
    if found.reasons:
        raise VerificationFailed(found.reasons)
    return Verified(
        subject=statement.subject_name,
        checked=found.checked,
        unchecked=found.unchecked + UNCHECKED,
        assumptions=tuple(facts["assumptions"]),
        facts={name: facts[name] for name in ("guarantee", "still_works", "k", "unit")},
        is_proved=False,
    )


def _check_file(facts: Facts, statement: attestation.Statement, release: Path) -> Results:
    read = read_signed(release, statement.subject_sha256)
    if isinstance(read, str):
        return Results.refused(read)
    data, table, writer = read
    # Of the form of rows nothing differs; that k is of classes is looked at below.
    of_rows = {**facts, "mechanism": MECHANISM, "k": 1}
    rows = check_rows(of_rows, table, claim=claim_stated(facts))
    if rows.reasons:
        return rows
    found = Results.held(f"{release.name} has the signed SHA-256", "its columns and their order")
    # The rows that are alike in all columns but those of its models are k people and more.
    told, count = {model.of for model in models_of(facts)}, facts["count"]
    quasi = [name for name in facts["columns"] if name not in told]
    sizes = table.group_by(quasi).aggregate([(count, "sum") if count else ([], "count_all")])
    least = min(sizes.column(f"{count}_sum" if count else "count_all").to_pylist(), default=None)
    if least is not None and least < facts["k"]:
        found += Results.refused(f"a class has {least} people, and k is {facts['k']}")
    else:
        found += Results.held(f"every class has at least {facts['k']} people")
    found += check_models(facts, table)
    if found.reasons:
        return found
    record = record_of_file(statement.predicate, statement.subject_name)
    return found + check_bytes(release.name, data, table, writer, record)


def _are_attacks(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return all(isinstance(each, Mapping) and set(each) == {"attack", "why"} for each in value)


_OF_CERTIFICATES = (
    "assumptions", "columns", "count", "dialect", "engine_version", "form", "k", "models",
    "policy", "published_as", "query", "query_digest", "time", "unit", *STATED,
)  # fmt: skip
_FIELDS: Mapping[str, Callable[[object], bool]] = {
    **{name: FIELDS[2][name] for name in _OF_CERTIFICATES},
    "claim": lambda value: isinstance(value, Mapping),
    "guarantee": lambda value: isinstance(value, str) and value.startswith(syntactic.NONE),
    "mechanism": lambda value: value == attestation.SYNTACTIC_MECHANISM,
    "still_works": _are_attacks,
    "version": lambda value: value == VERSION and type(value) is int,
}
