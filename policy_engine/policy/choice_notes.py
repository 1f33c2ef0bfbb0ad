"""The sentence by which a policy says what of it was chosen privately, while that is so.

It stands in ``about.justification``, which a certificate carries. Its last word is a digest of the
sentence and of what was chosen: where either was changed by hand the certificate says that instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256

from policy_engine.policy.models import PolicyDocument, recode_as_told, scalar_text
from policy_engine.policy.recode_models import HierarchySpec

CHANGED = "What a private choice wrote here was changed by hand after it."
OF_RECODING, OF_NUMBERS = "The recoding was", "Numbers were"
_BEGINS = f"(?P<what>{OF_RECODING}|{OF_NUMBERS}) chosen among [0-9,]+ candidates? by a private"
_NOTE = re.compile(
    rf"(?P<told>{_BEGINS} choice of .*?) \[(?P<digest>[0-9a-f]{{16}})\]\."
    rf"|{_BEGINS.replace('?P<what>', '?:')}(?:.*?\.(?= |$)|.*$)",
    re.DOTALL,
)


def choice_note(told: str, document: PolicyDocument | None, digests: Mapping[str, str]) -> str:
    """A sentence of what was chosen, with its digest; ``digests`` are of hierarchies by column.

    Of a policy that breaks a law, and has no document, the sentence never holds.
    """
    mark = "0" * 16 if document is None else _digest(told, document, digests)
    return f"{told} [{mark}]."


def as_it_is(justification: str, document: PolicyDocument, digests: Mapping[str, str]) -> str:
    """A justification in which each sentence of a private choice holds, or ``CHANGED`` instead."""

    def held(found: re.Match[str]) -> str:
        told = found["told"]
        is_so = told is not None and found["digest"] == _digest(told, document, digests)
        return found[0] if is_so else CHANGED

    return _NOTE.sub(held, justification)


def rank_of(*, is_searched: bool, justification: str) -> tuple[bool, int]:
    """Of two policies with one name the greater was chosen for the other one, and stands for it.

    >>> told = "Numbers were chosen among 9 candidates by a private choice of ε 1, which …."
    >>> rank_of(is_searched=True, justification=""), rank_of(is_searched=False, justification=told)
    ((False, 0), (True, 1))
    """
    choices = sum(1 for _ in _NOTE.finditer(justification)) + justification.count(CHANGED)
    return not is_searched, choices


def _digest(told: str, document: PolicyDocument, digests: Mapping[str, str]) -> str:
    chosen: object
    if told.startswith(OF_RECODING):
        trees = {name for name, spec in document.recode.items() if isinstance(spec, HierarchySpec)}
        kept = {name: digest for name, digest in digests.items() if name in trees}
        chosen = [recode_as_told(document), kept]
    else:
        limits = document.contribution
        bounds = {name: spec.bounds for name, spec in document.measures.items()}
        chosen = [None if limits is None else limits.model_dump(), bounds]
    text = json.dumps([told, chosen], sort_keys=True, default=scalar_text)
    return sha256(text.encode()).hexdigest()[:16]
