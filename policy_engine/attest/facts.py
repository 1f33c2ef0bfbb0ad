"""The facts of a release certificate, once they are of a kind that this engine knows.

An allow-list: a field that is missing, unknown or of another form is refused, and so is another
mechanism or version. Nobody guesses what a later engine meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from policy_engine.attest.attestation import Statement
from policy_engine.errors import VerificationFailed
from policy_engine.verify.certificate import MECHANISM, PREDICATE_VERSION

Facts = dict[str, Any]

_DECIMAL = re.compile(r"[0-9]{1,1000}(\.[0-9]{1,1000})?(E[+-]?[0-9]{1,6})?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def read_facts(statement: Statement) -> Facts:
    """The predicate of a statement, every field of it known and of its form.

    Raises:
        VerificationFailed: another mechanism or version, or fields that are unknown, missing or
            of another form, by name.
    """
    facts: Facts = dict(statement.predicate)
    kind = (facts.get("mechanism"), facts.get("version"))
    if kind != (MECHANISM, PREDICATE_VERSION) or isinstance(kind[1], bool):
        raise VerificationFailed((_other_kind(*kind),))
    reasons = []
    if unknown := sorted(facts.keys() - FIELDS.keys()):
        names = ", ".join(ascii(name[:60]) for name in unknown[:5])
        reasons.append(
            f"the certificate has fields that this engine does not know: {names}; verify with"
            " the engine version that made it"
        )
    wrong = [name for name, holds in FIELDS.items() if not holds(facts.get(name, ...))]
    if wrong:
        reasons.append(f"the certificate lacks or misstates: {', '.join(wrong)}")
    if reasons:
        raise VerificationFailed(tuple(reasons))
    return facts


def _other_kind(mechanism: Any, version: Any) -> str:
    newer = type(version) is int and version > PREDICATE_VERSION
    return (
        f"the certificate must be of {MECHANISM}, version {PREDICATE_VERSION};"
        f" found {_short(mechanism)}, version {_short(version)}"
        + ("; verify with the engine version that made it" if newer else "")
    )


def _short(value: object) -> str:
    """What a message shows of a fact that may be anything."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value[:60])
    small = isinstance(value, int) and abs(value) < 10**60
    return str(value) if small else f"another {type(value).__name__}"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _is_decimal(value: object) -> bool:
    return isinstance(value, str) and _DECIMAL.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(datetime.strptime(value, _TIME))
    except ValueError:
        return False


def _is_policy(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() == {"name", "digest"}
        and all(isinstance(text, str) and text for text in value.values())
        and _DIGEST.fullmatch(value["digest"]) is not None
    )


def _is(*values: object) -> Callable[[object], bool]:
    return lambda found: any(found == value and type(found) is type(value) for value in values)


FIELDS: Mapping[str, Callable[[object], bool]] = {
    "assumptions": _is_texts,
    "bound": _is("exact"),
    "columns": _is_texts,
    "count": lambda value: isinstance(value, str | None),
    "delta": _is_decimal,
    "dialect": _is_text,
    "engine_version": _is_text,
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
    "sql": _is_text,
    "sql_digest": _is_text,
    "time": _is_time,
    "unit": _is_text,
    "version": _is(PREDICATE_VERSION),
}
"""Every field of a certificate, version 1, with the form that it must have."""
