"""The facts of a release certificate, once they are of a kind that this engine knows.

An allow-list: a field that is missing, unknown or of another form is refused, and so is another
mechanism or version. Nobody guesses what a later engine meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from policy_engine.attest.attestation import Unverified
from policy_engine.attest.parquet_file import plain
from policy_engine.attest.validity import moment
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.certificate import ROWS
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Inserted, Law, Noisy, Randomised
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.policy.fields import MOST_PURPOSE, NAME, is_line
from policy_engine.policy.syntactic import Model, NoModel, model_from

PREDICATE_VERSION = 2
Facts = dict[str, Any]

_DECIMAL = re.compile(r"[0-9]{1,1000}(\.[0-9]{1,1000})?(E[+-]?[0-9]{1,6})?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
ENVELOPE = re.compile(r"CREATE TABLE (?P<table>[^\r\n]+) AS")
"""How a query is published that makes a table."""
_VERSION = re.compile(r"[ -~]{0,100}")
_LONGEST_NAME = 1000  # of a table, in the engine that allows most


def read_facts(statement: Unverified) -> Facts:
    """The predicate of a statement, every field of it known and of its form.

    Raises:
        VerificationFailed: another mechanism or version, or fields that are unknown, missing or
            of another form, by name.
    """
    facts: Facts = dict(statement.predicate)
    kind = (facts.get("mechanism"), facts.get("version"))
    of_it = _MECHANISMS.get(kind[0]) if isinstance(kind[0], str) else None
    if of_it is None or type(kind[1]) is not int or kind[1] not in of_it:
        law = f"{' or '.join(_MECHANISMS)}, version {PREDICATE_VERSION}"
        told = (
            f"the certificate must be of {law}; found {_short(kind[0])}, version {_short(kind[1])}"
        )
        newer = type(kind[1]) is int and kind[1] > PREDICATE_VERSION
        made = "; verify with the engine version that made it" if newer else ""
        raise VerificationFailed((told + made,))
    fields, reasons = of_it[kind[1]], []
    if unknown := sorted(facts.keys() - fields.keys()):
        names = ", ".join(ascii(name[:60]) for name in unknown[:5])
        reasons.append(
            f"the certificate has fields that this engine does not know: {names}; verify with"
            " the engine version that made it"
        )
    wrong = [name for name, holds in fields.items() if not holds(facts.get(name, ...))]
    if wrong:
        reasons.append(f"the certificate lacks or misstates: {', '.join(wrong)}")
    if len(statement.subject_name) > _LONGEST_NAME:
        reasons.append("the certificate's subject is longer than a release's name can be")
    if reasons:
        raise VerificationFailed(tuple(reasons))
    return facts


def claim_of(facts: Mapping[str, Any]) -> Claim:
    """The claim that a certificate states; ClaimError where it is none."""
    return claim_from(plain(facts.get("claim")))


def models_of(facts: Mapping[str, Any]) -> tuple[Model, ...]:
    """The models that were enforced on the rows, as a certificate states them."""
    return tuple(map(model_from, facts.get("models", ())))


def law_of(facts: Mapping[str, Any]) -> Law | None:
    """The law of the claim; None of a sample, of which the facts have the numbers."""
    return None if facts["mechanism"] == MECHANISM else claim_of(facts).law


def _short(value: object) -> str:
    """What a message shows of a fact that may be anything."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value[:60])
    small = isinstance(value, int) and abs(value) < 10**60
    return str(value) if small else f"another {type(value).__name__}"


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _is(*values: object) -> Callable[[object], bool]:
    return lambda found: any(found == value and type(found) is type(value) for value in values)


def _matches(law: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda found: isinstance(found, str) and law.fullmatch(found) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_is_decimal, _is_digest = _matches(_DECIMAL), _matches(_DIGEST)


def _is_policy(value: Any) -> bool:
    is_it = isinstance(value, Mapping) and value.keys() == {"name", "digest"}
    return is_it and _matches(NAME)(value["name"]) and _is_digest(value["digest"])


def _is_claim(value: object) -> bool:
    try:
        return isinstance(value, Mapping) and bool(claim_from(plain(value)))
    except ClaimError:
        return False


def _are_models(value: object) -> bool:
    """Models that were enforced, or nothing: few releases have any."""
    if value is ...:
        return True
    try:
        return isinstance(value, list | tuple) and bool([*map(model_from, value)])
    except NoModel:
        return False


def _is_purpose(value: object) -> bool:
    return isinstance(value, str) and is_line(value) and len(value) <= MOST_PURPOSE


Form = Callable[[object], bool]
_ALWAYS: Mapping[str, Form] = {
    "assumptions": _is_texts,
    "bound": _is("exact"),
    "columns": _is_texts,
    "count": lambda value: isinstance(value, str | None),
    "delta": _is_decimal,
    "dialect": _is_text,
    "engine_version": _matches(_VERSION),
    "epsilon": _is_decimal,
    "form": _is("counts", "rows"),
    "k": lambda value: type(value) is int,
    "mechanism": _is(MECHANISM),
    "neighbours": _is("add_remove", "replace_one"),
    "policy": _is_policy,
    "randomness": _is_text,
    "rate": _is_decimal,
    "sampled_at": _is_decimal,
    "source_tag": _is("[EXACT]"),
    "time": lambda value: moment(value) is not None,
    "unit": _is_text,
    "models": _are_models,
}
_QUERY = {
    "query": _is_text,
    "query_digest": _is_text,
    "published_as": lambda value: value == ROWS or _matches(ENVELOPE)(value),
    "claim": _is_claim,
    "templates": _is_digest,
}
STATED = ("purpose", "contact", "recipients", "access", "justification", "region", "sector")
"""What a certificate of version 2 says in the words of the policy's author, where they said it."""
FIELDS: Mapping[int, Mapping[str, Form]] = {
    2: {
        **_ALWAYS,
        **_QUERY,
        **dict.fromkeys(STATED, lambda value: value is ... or (_is_text(value) and bool(value))),
        "purpose": lambda value: value is ... or _is_purpose(value),
        "version": _is(2),
    },
}
"""Every field of a certificate, by its version, with the form that it must have."""


def _of_everybody(mechanism: str, *tags: str) -> Mapping[int, Mapping[str, Form]]:
    """The fields of a mechanism that takes no sample."""
    of_it = {
        "mechanism": _is(mechanism),
        "rate": _is("1"),
        "sampled_at": _is("1"),
        "source_tag": _is(*tags),
    }
    return {2: {**FIELDS[2], **of_it}}


_MECHANISMS: Mapping[str, Mapping[int, Mapping[str, Form]]] = {
    MECHANISM: FIELDS,
    Noisy.mechanism: _of_everybody(Noisy.mechanism, "[TABLE]", "[PLACE]"),
    Randomised.mechanism: _of_everybody(Randomised.mechanism, Randomised.source_tag),
    Inserted.mechanism: _of_everybody(Inserted.mechanism, Inserted.source_tag),
}
