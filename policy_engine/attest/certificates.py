"""A certificate as the predicate of a signed statement, and back.

What it rests on is stated once and read into values; what follows from that, and a reader wants to
see, stands beside it: the unit, k, the columns, what is drawn. Reading is an allow-list. A field
that is unknown or missing, of another form, or not what follows from the others, is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from policy_engine.attest.attestation import Unverified
from policy_engine.attest.parquet_file import ADDED, is_added, plain
from policy_engine.attest.validity import moment
from policy_engine.engines.installed import engine_named
from policy_engine.errors import DomainError, VerificationFailed
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.certificate import ROWS, Certificate, Terms
from policy_engine.kernel.claim import Claim, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.editions import PART, Edition
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, still_works
from policy_engine.kernel.models import NoModel, model_from
from policy_engine.kernel.promise import Bounded, Promise, Unpromised
from policy_engine.kernel.sentences import sentence_of
from policy_engine.policy.fields import MOST_PURPOSE, NAME, is_line

SAID = ("purpose", "contact", "recipients", "access", "justification", "region", "sector")
"""What a certificate says in the words of the policy's author, where they said it."""
ENVELOPE = re.compile(rf"CREATE TABLE (?P<table>[^\r\n]+) AS|{ADDED}(?P<into>[^\r\n]+)")
"""How a query is published that makes a table, or whose rows are added to one."""
DERIVED = (
    "mechanism", "source_tag", "unit", "k", "columns", "count", "form", "randomness",
    "query_digest", "guarantee", "still_works",
)  # fmt: skip
"""The fields that follow from the others."""

_DECIMAL = re.compile(r"[0-9]{1,1000}(\.[0-9]{1,1000})?(E[+-]?[0-9]{1,6})?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_VERSION = re.compile(r"[ -~]{0,100}")
_SETTING = re.compile(r"[a-z_]{1,60}")
_SET_TO = re.compile(r"[0-9]{1,20}(kB|MB|GB|TB)?")
_LONGEST_NAME = 1000  # of a table, in the engine that allows most


class _Misstated(ValueError):
    """A field is missing, or of another form."""


def predicate_of(certificate: Certificate) -> dict[str, object]:
    """The fields of a certificate file, as a dict. Use it to write a certificate as JSON yourself.

    The page "The certificate" lists the fields. Equal certificates have equal fields.

    Arguments:
        ``certificate``: as ``certify`` or ``open_release`` returns it.
    """
    claim, terms = certificate.claim, certificate.terms
    return {
        **dict(terms.said),
        **({"edition": terms.edition.to_json()} if terms.edition else {}),
        **({"settings": dict(terms.settings)} if terms.settings else {}),
        "policy": {"name": terms.policy_name, "digest": terms.policy_digest},
        "source": terms.source,
        "mechanism": claim.law.mechanism,
        "source_tag": claim.law.source_tag,
        **_promised(certificate),
        "unit": certificate.unit,
        "k": certificate.k,
        "columns": list(certificate.columns),
        "count": certificate.count,
        "form": "rows" if certificate.count is None else "counts",
        "models": [model.to_json() for model in terms.models],
        "assumptions": [
            {"code": each.code, **dict(each.parameters)} for each in certificate.assumptions
        ],
        "randomness": meaning_of(claim).randomness(certificate.engine),
        "claim": to_json(claim),
        "query": certificate.query,
        "query_digest": query_digest(certificate),
        "templates": certificate.templates,
        "published_as": terms.published_as,
        "engine": certificate.engine,
        "engine_version": terms.engine_version,
        "time": certificate.time,
    }


def _promised(certificate: Certificate) -> dict[str, object]:
    promise = certificate.promise
    if isinstance(promise, Bounded):
        return {
            "epsilon": f"{promise.epsilon:f}",
            "delta": str(promise.delta),
            "neighbours": promise.neighbours,
            "rate": f"{promise.rate:f}",
            "sampled_at": f"{promise.sampled_at:f}",
        }
    attacks = still_works(certificate.k, certificate.terms.models)
    return {
        "guarantee": NO_GUARANTEE,
        "still_works": [{"attack": name, "why": why} for name, why in attacks],
    }


def added_edition(certificate: Certificate) -> str:
    """The edition whose rows a table has beside those of others; empty of a table by itself."""
    edition = certificate.terms.edition
    return edition.name if edition and is_added(certificate.terms.published_as) else ""


def is_made_by_dbt(certificate: Certificate) -> bool:
    """Whether dbt made the table that a certificate is of; of a file it says nothing."""
    return certificate.terms.published_as in (ROWS, PART)


def query_digest(certificate: Certificate) -> str:
    """SHA-256 of a certificate's query, as it states it."""
    # A lone surrogate is no text; as what it is replaced with, it has another digest.
    query = certificate.query.encode(errors="replace")
    return f"sha256:{hashlib.sha256(query).hexdigest()}"


def certificate_in(statement: Unverified) -> Certificate:
    """The certificate that a statement is, whoever signed it.

    Guarantee: ``predicate_of`` of it is the statement's predicate, field by field.

    Raises:
        VerificationFailed: fields are unknown, missing, of another form, or no consequence of the
            others, by name.
    """
    stated: dict[str, object] = plain(statement.predicate)
    reader = _Reader(stated)
    certificate, wrong = reader.certificate(), reader.wrong
    if certificate is not None:
        wanted = predicate_of(certificate)
        # With its type: in Python, true is 1.
        wrong += [
            name
            for name, value in wanted.items()
            if (type(stated.get(name, ...)), stated.get(name, ...)) != (type(value), value)
        ]
        unknown = sorted(stated.keys() - wanted.keys())
    else:
        unknown = sorted(stated.keys() - {*FIELDS})
    reasons = []
    if unknown:
        names = ", ".join(ascii(name[:60]) for name in unknown[:5])
        reasons.append(
            f"the certificate has fields that this engine does not know: {names}; verify with"
            " the engine version that made it"
        )
    if wrong:
        reasons.append(f"the certificate lacks or misstates: {', '.join(dict.fromkeys(wrong))}")
    engine = stated.get("engine")
    if "engine" in wrong and isinstance(engine, str):
        reasons.append(
            f"the engine {engine[:60]!a} is none of policy-engine's; to verify what runs on"
            " another's, install the package that brings it"
        )
    if len(statement.subject_name) > _LONGEST_NAME:
        reasons.append("the certificate's subject is longer than a release's name can be")
    if reasons or certificate is None:
        raise VerificationFailed(tuple(reasons))
    return certificate


class _Reader:
    """Reads the fields that the others follow from; ``wrong`` are the names of those that fail."""

    def __init__(self, stated: Mapping[str, object]) -> None:
        self._stated = stated
        self.wrong: list[str] = []

    def certificate(self) -> Certificate | None:
        """The certificate; None where any of it cannot be read."""
        read = {name: self._field(name, form) for name, form in _FIELDS.items()}
        forms = {name: _purpose if name == "purpose" else _said for name in SAID}
        stated = (name for name in SAID if name in self._stated)
        said = tuple((name, self._field(name, forms[name])) for name in stated)
        has_edition = "edition" in self._stated
        edition = self._field("edition", _edition) if has_edition else None
        settings = self._field("settings", _settings) if "settings" in self._stated else ()
        claim = read["claim"]
        promise = self._promise(claim) if isinstance(claim, Claim) else None
        if self.wrong or promise is None:
            return None
        name, digest = read["policy"]
        terms = Terms(
            name, digest, read["source"], promise, read["published_as"], read["engine_version"],
            read["models"], said, edition, settings,
        )  # fmt: skip
        return Certificate(
            terms, claim, read["engine"], read["query"], read["assumptions"], read["templates"],
            read["time"],
        )  # fmt: skip

    def _field(self, name: str, form: Any) -> Any:
        try:
            return form(self._stated.get(name, ...))
        except (
            _Misstated, ClaimError, DomainError, NoModel, KeyError, TypeError, AttributeError,
        ):  # fmt: skip
            self.wrong.append(name)
            return None

    def _promise(self, claim: Claim) -> Promise | None:
        if not claim.law.promises:
            return Unpromised()
        read = {name: self._field(name, form) for name, form in _NUMBERS.items()}
        if not claim.law.is_sample:  # everybody takes part
            stated = self._stated
            self.wrong += [name for name in ("rate", "sampled_at") if stated.get(name) != "1"]
        return None if self.wrong else Bounded(**read)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Misstated
    return value


def _matching(law: re.Pattern[str], value: object) -> str:
    text = _text(value)
    if not law.fullmatch(text):
        raise _Misstated
    return text


def _digest(value: object) -> str:
    return _matching(_DIGEST, value)


def _decimal(value: object) -> Decimal:
    return Decimal(_matching(_DECIMAL, value))


def _neighbours(value: object) -> str:
    if value not in ("add_remove", "replace_one"):
        raise _Misstated
    return str(value)


def _policy(value: Any) -> tuple[str, str]:
    if not isinstance(value, Mapping) or value.keys() != {"name", "digest"}:
        raise _Misstated
    return _matching(NAME, value["name"]), _digest(value["digest"])


def _edition(value: Any) -> Edition:
    edition = Edition.from_json(value)
    if edition == Edition():
        raise _Misstated
    return edition


def _settings(value: dict[str, object]) -> tuple[tuple[str, str], ...]:
    if not value or not all(_SETTING.fullmatch(name) for name in value):
        raise _Misstated
    return tuple((name, _matching(_SET_TO, text)) for name, text in value.items())


def _said(value: object) -> str:
    if not _text(value):
        raise _Misstated
    return _text(value)


def _purpose(value: object) -> str:
    text = _said(value)
    if not is_line(text) or len(text) > MOST_PURPOSE:
        raise _Misstated
    return text


def _published_as(value: object) -> str:
    return str(value) if value in (ROWS, PART) else _matching(ENVELOPE, value)


def _engine(value: object) -> str:
    if not isinstance(value, str) or engine_named(value) is None:
        raise _Misstated
    return value


def _time(value: object) -> str:
    if moment(value) is None:
        raise _Misstated
    return str(value)


def _assumptions(value: Any) -> tuple[Assumption, ...]:
    if not isinstance(value, list):
        raise _Misstated
    return tuple(map(_assumption, value))


def _assumption(value: Any) -> Assumption:
    stated = {_text(name): _text(text) for name, text in value.items()}
    assumption = Assumption.of(stated.pop("code"), **stated)
    sentence_of(assumption)  # KeyError: an unknown code or parameter has none
    return assumption


def _models(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _Misstated
    return tuple(map(model_from, value))


_FIELDS: Mapping[str, Callable[[Any], object]] = {
    "policy": _policy,
    "source": _text,
    "models": _models,
    "assumptions": _assumptions,
    "claim": claim_from,
    "query": _text,
    "templates": _digest,
    "published_as": _published_as,
    "engine": _engine,
    "engine_version": lambda value: _matching(_VERSION, value),
    "time": _time,
}
_NUMBERS: Mapping[str, Callable[[Any], object]] = {
    "epsilon": _decimal,
    "delta": _decimal,
    "neighbours": _neighbours,
    "rate": _decimal,
    "sampled_at": _decimal,
}
FIELDS = (*_FIELDS, *_NUMBERS, *DERIVED, *SAID, "edition", "settings")
"""Every field that a certificate can have."""
