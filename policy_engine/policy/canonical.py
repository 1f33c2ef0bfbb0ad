"""The digest of a policy: one text for every file that says the same.

Comments, the order of keys, quotes and the number of zeros do not matter, nor does a key that
is written with its default. What does matter: every other key, the order of released columns,
the labels of bins, and the bytes of every hierarchy file. Only ``release.deprecated`` does not: it
says when a release goes, and nothing of what it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.recode_models import BinsSpec


def digest(document: PolicyDocument, hierarchy_digests: Mapping[str, str]) -> str:
    """The digest ``sha256:…`` of a policy and of its hierarchy files (digests by column)."""
    text = canonical_json(document, hierarchy_digests)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def canonical_json(document: PolicyDocument, hierarchy_digests: Mapping[str, str]) -> str:
    """The text that is digested: JSON with sorted keys and no spaces, in ASCII."""
    data = document.model_dump(
        by_alias=True,
        exclude_defaults=True,
        exclude={"recode": True, "release": {"deprecated"}},
    )
    if aggregate := data.get("aggregate"):  # its columns have an order
        data["aggregate"] = list(aggregate.items())
    recode = [[column, _recoding(spec)] for column, spec in document.recode.items()]
    whole = {"policy": {**data, "recode": recode}, "hierarchies": dict(hierarchy_digests)}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), default=_scalar)


def _recoding(spec: Any) -> Any:
    """A recoding as it is written; bins always with their labels."""
    if spec == "keep":
        return "keep"
    data = spec.model_dump(exclude_defaults=True)
    return {**data, "labels": spec.names()} if isinstance(spec, BinsSpec) else data


def _scalar(value: object) -> str:
    """The text of a number or a date."""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"no canonical text for {type(value).__name__}")


def decimal_text(number: Decimal) -> str:
    """The shortest decimal text of a number, without an exponent, exact.

    >>> [decimal_text(Decimal(text)) for text in ("0.10", "1E+2", "-0.0", "100")]
    ['0.1', '100', '0', '100']
    """
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
