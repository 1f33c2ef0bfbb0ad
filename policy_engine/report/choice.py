"""A private choice as a page says it: the candidates, what was chosen, and what it cost.

What was chosen stands in the policy that was written, which is read only once it is known to be
that, byte for byte. Pure but for ``choice_beside`` and ``choice_among``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from json import JSONDecodeError, dumps, loads
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.attestation import (
    CHOICE_TYPE,
    Statement,
    open_envelope,
    stated_type,
    unverified,
)
from policy_engine.attest.choices import ChoiceOf, ChoiceStated, verify_choice
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import certificate_path, predicate_digest
from policy_engine.compile.column_names import promise_sentences
from policy_engine.errors import PolicyEngineError, VerificationFailed
from policy_engine.opening import opened
from policy_engine.policy.loading import load_policy
from policy_engine.policy.reading import plain_yaml, read_text
from policy_engine.policy.scalars import as_told
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.certificate import Certificate
    from policy_engine.releasing.ledger_state import LedgerState

Colour = Literal["green", "amber", "red"]
_VERDICTS: Mapping[Colour, str] = {
    "green": "Verified: the certificate of this choice is valid, and it belongs to this policy",
    "amber": "The certificate of this choice is valid; the chosen policy was not checked",
    "red": "The certificate of this choice is not valid for these files: do not rely on this page",
}


@frozen
class PartSaid:
    """A column or a number of a policy: its candidates in words, and which one was chosen.

    ``chosen`` is None where the policy that was chosen was not looked at.
    """

    name: str
    candidates: tuple[str, ...]
    chosen: str | None


@frozen
class ChoiceSaid:
    """What a private choice states, with what was chosen, and the entry that paid for it.

    ``schemes`` is how many candidates there were together, ``precision`` the least that each had,
    empty where none was asked for. ``entry`` and ``paid_on`` are the ledger's, None where no ledger
    at hand has it.
    """

    kind: ChoiceOf
    policy: str
    parts: tuple[PartSaid, ...]
    schemes: int
    precision: str
    score: str
    epsilon: str
    delta: str
    promise: str
    unit: str
    account: str
    entry: int | None
    paid_on: str | None
    period: str


@frozen
class ChoiceBand:
    """The verdict on the certificate of a choice."""

    colour: Colour
    verdict: str
    reasons: tuple[str, ...]


@frozen(kw_only=True)
class ChoiceView:
    """What is said of the certificate of a choice; of one that does not hold nothing it states."""

    band: ChoiceBand
    policy: str
    choice: ChoiceSaid | None
    date: str
    key_id: str
    statement_sha256: str
    assumptions: tuple[str, ...]
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]


@frozen
class ChosenFor:
    """The choice that a release's policy was written by; both prices together are ``together``.

    Where a certificate lies beside the policy and is not that of this choice, ``reasons`` say why,
    and nothing else is said.
    """

    choice: ChoiceSaid | None
    together: str = ""
    reasons: tuple[str, ...] = ()


def choice_view(
    text: str, keys: TrustedKeys, policy: Path | None, books: LedgerState | None
) -> ChoiceView:
    """What is said of the certificate of a choice in ``text``, and of the ``policy`` it wrote.

    Raises:
        VerificationFailed: it is no such certificate, whoever signed it.
        FileError: the policy cannot be read.
    """
    said = unverified(text, CHOICE_TYPE)
    choice, checked, unchecked = None, tuple[str, ...](), tuple[str, ...]()
    assumptions, reasons, key_id = tuple[str, ...](), tuple[str, ...](), ""
    try:
        verified = verify_choice(text, keys, policy)
        checked, unchecked = verified.checked, verified.unchecked
        assumptions = verified.assumptions
        statement = open_envelope(text, keys, CHOICE_TYPE)
        key_id, choice = statement.key_id, _said(statement, policy, books)
    except VerificationFailed as error:
        reasons = error.reasons
    colour: Colour = "red" if choice is None else "amber" if policy is None else "green"
    return ChoiceView(
        band=ChoiceBand(colour, _VERDICTS[colour], reasons),
        policy=said.subject_name,
        choice=choice,
        date=str(said.predicate.get("time", "")),
        key_id=key_id,
        statement_sha256=hashlib.sha256(text.encode()).hexdigest(),
        assumptions=assumptions,
        checked=checked,
        unchecked=unchecked,
    )


def choice_beside(
    policy: Path, keys: TrustedKeys, books: LedgerState | None, release: Certificate
) -> ChosenFor | None:
    """The choice whose certificate lies beside a policy, and is of this file, byte for byte.

    ``release`` is the certificate of the policy's release. None where there is none of a choice:
    a release needs none.
    """
    beside = certificate_path(policy)
    try:
        with opened(beside) as file:
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        return ChosenFor(None, reasons=(f"{beside.name} could not be read: {error.strerror}",))
    try:
        if stated_type(text) not in (CHOICE_TYPE, ""):  # empty: what it is cannot be read
            return None
        verify_choice(text, keys, policy)
        said = open_envelope(text, keys, CHOICE_TYPE)
        own = ChoiceStated.of(said).epsilon
        choice = _said(said, policy, books)
    except VerificationFailed as error:
        return ChosenFor(None, reasons=error.reasons)
    promise = release.promise
    together = f"ε = {in_text(own + promise.epsilon)}, δ = {in_text(promise.delta)}"
    return ChosenFor(choice, together)


def choice_among(
    files: Iterable[Path], keys: TrustedKeys, books: LedgerState | None, release: Certificate
) -> ChosenFor | None:
    """The choice that wrote the policy of a release, where one of ``files`` is that policy.

    What a choice writes names the entry that paid for it, and so its digest, which the release's
    certificate states, is that of no policy written before. None where no file is it, or several.
    """
    found = [each for file in files if (each := _wrote(file, keys, books, release)) is not None]
    return found[0] if len(found) == 1 else None


def _wrote(
    policy: Path, keys: TrustedKeys, books: LedgerState | None, release: Certificate
) -> ChosenFor | None:
    """The choice that wrote a file, if that is the policy of a release; of others nothing."""
    try:
        found = choice_beside(policy, keys, books, release)
        if found is None or found.choice is None:
            return None
        return found if load_policy(policy).digest == release.terms.policy_digest else None
    except PolicyEngineError:
        return None


def _said(said: Statement, policy: Path | None, books: LedgerState | None) -> ChoiceSaid:
    """What a certificate of a choice states; ``policy`` is the one that was chosen."""
    stated = ChoiceStated.of(said)
    entry = None
    if books is not None:
        entry = books.charged_for(predicate_digest(said.predicate), said.subject_sha256)
    written = None if policy is None else plain_yaml(read_text(policy, "policy"))
    return ChoiceSaid(
        kind=stated.kind,
        policy=said.subject_name,
        parts=tuple(_part(stated.kind, name, told, written) for name, told in stated.parts),
        schemes=stated.candidates,
        precision=stated.precision,
        score=_score(stated.predicate()),
        epsilon=in_text(stated.epsilon),
        delta="0",
        promise=" ".join(
            promise_sentences(stated.epsilon, Decimal(0), stated.neighbours, stated.unit)
        ),
        unit=stated.unit,
        account=stated.account,
        entry=None if entry is None else entry.id,
        paid_on=None if entry is None else f"{entry.reserved_at:%Y-%m-%d}",
        period=stated.period.words if stated.period else "",
    )


def _score(predicate: Mapping[str, object]) -> str:
    """By what the candidates were compared, with the numbers in it."""
    score = str(predicate["score"])
    for name in ("least_shown", "people_a_doubling", "groups_a_person"):
        score = score.replace(name, f"{predicate.get(name, 0):,}")
    return score


def _part(kind: ChoiceOf, name: str, told: tuple[str, ...], written: Any) -> PartSaid:
    chosen = None
    if written is not None:
        recode = written.get("recode") or {}
        value = as_told(recode.get(name) if kind == "recoding" else _number(written, name))
        chosen = next((in_words(each) for each in told if each == value), None)
    return PartSaid(name, tuple(map(in_words, told)), chosen)


def _number(written: Any, name: str) -> object:
    """A number of a policy by its place, the first of several that are alike; None if not there."""
    # A measure may be called by any text, so its place is not taken apart: the places are made.
    for measure, said in (written.get("measures") or {}).items():
        place = f"measures.{measure}.bounds"
        if name == place or name.startswith(f"{place}, "):
            return said.get("bounds")
    return (written.get("contribution") or {}).get(name.removeprefix("contribution."))


def _parsed(told: str) -> object:
    try:
        return loads(told)
    except JSONDecodeError:
        return told


def in_words(told: str) -> str:
    """A candidate of a certificate, as people read it.

    >>> in_words("keep"), in_words('{"constant": "*"}'), in_words("[0, 80]")
    ('the value itself', 'one label for all: *', '[0, 80]')
    >>> in_words('{"levels": [{"round": 5, "way": "down"}, {"bins": [30, 50]}], "level": 1}')
    'round: 5, way: down'
    >>> in_words('{"hierarchy": "levels/towns.csv", "level": 2}')
    'level 2 of towns.csv'
    >>> in_words('{"missing": "unknown"}'), in_words('{"round": 5, "missing": "none"}')
    ('the value itself; unknown where there is none', 'round: 5; none where there is none')
    """
    recoding = _parsed(told)
    match recoding:
        case {"missing": label, **rest}:
            return (
                f"{in_words(dumps(rest) if rest else 'keep')}; {_value(label)} where there is none"
            )
        case "keep":
            return "the value itself"
        case {"constant": str(label)}:
            return f"one label for all: {label}"
        case {"levels": [*levels], "level": int(level)} if 1 <= level <= len(levels):
            return in_words(dumps(levels[level - 1]))
        case {"hierarchy": str(file), "level": int(level)}:
            return f"level {level} of {PurePath(file).name}"
        case {**fields}:
            return ", ".join(f"{name}: {_value(value)}" for name, value in fields.items())
    return told


def _value(value: object) -> str:
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
