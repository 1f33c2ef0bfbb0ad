"""A request as who approves it sees it: read from its file alone, and held against what it says.

Whoever approves signs the digests that the request names. So nothing is shown of it that does not
follow from what has these digests: its certificate is proved from its claim again, and what is
asked is made of it anew. No ledger, source or policy is read. What only the ledger knows stands in
the signed request: what was approved before it, which the ledger compares when it charges, and how
the account would stand, which is the word of who asks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from policy_engine.attest.approvals import (
    REVIEW_REQUEST,
    Approver,
    Matter,
    ReviewPolicy,
    document_digest,
    review_policy,
)
from policy_engine.attest.attestation import (
    CHOICE_TYPE,
    UNPROMISED_TYPE,
    Envelope,
    Json,
    Unverified,
    open_envelope,
    type_of_release,
    unverified,
)
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.choices import ChoiceStated
from policy_engine.attest.parquet_file import plain
from policy_engine.attest.release_check import check_numbers
from policy_engine.attest.stated import check_sql
from policy_engine.errors import NotApproved, PolicyError, VerificationFailed
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.promise import Bounded
from policy_engine.ledger.account import Limit, limit_from_json, limit_to_json
from policy_engine.ledger.asked import NONSENSE
from policy_engine.ledger.entry import Charge, Run
from policy_engine.ledger.remaining import Remaining
from policy_engine.ledger.reviews import (
    LIMIT,
    PLAN,
    REVIEW_POLICY,
    ROWS,
    claim_of,
    last_of,
    limit_matter,
    plan_matter,
    policy_matter,
    release_of,
    rows_matter,
)
from policy_engine.releasing.requests import choice_name
from policy_engine.releasing.reviewing import RequestFile, read_request
from policy_engine.values import frozen

_SOME_TIME = "2000-01-01T00:00:00Z"
_ANOTHER = "the request is of another version, or no request"
_NO_DIGEST = "what is shown is not what the request names: ask for the file anew"
_OTHER_WORDS = "what the request asks for is not what its certificate says: approve nothing of it"


@frozen
class Standing:
    """How an account would stand after what is asked, or stands after the entry that has paid.

    ``fits``: whether it can pay; None where nothing is charged. ``limit`` and what is ``left`` of
    it are None where it has none. ``entry`` is the one that is paid for and waits; 0 for none.
    """

    fits: bool | None = None
    limit: Limit | None = None
    left: Remaining | None = None
    entry: int = 0

    def to_json(self) -> dict[str, object]:
        """What a request says of it."""
        told: dict[str, object] = {"entry": self.entry}
        if self.fits is not None:
            told["fits"] = self.fits
        if self.limit is not None and self.left is not None:
            told |= {"limit": limit_to_json(self.limit), "left": self.left.to_json()}
        return told

    @classmethod
    def from_json(cls, told: Mapping[str, Json]) -> Standing:
        """What ``to_json`` wrote; one of ``NONSENSE`` for anything else.

        >>> Standing.from_json(Standing(fits=True, entry=3).to_json())
        Standing(fits=True, limit=None, left=None, entry=3)
        """
        fits, limit, left, entry = (told.get(name) for name in ("fits", "limit", "left", "entry"))
        if not isinstance(fits, bool | None) or type(entry) is not int:
            raise ValueError("no account is said to stand so")
        found = cls(fits, entry=entry)
        if isinstance(limit, Mapping) and isinstance(left, Mapping):
            found = replace(found, limit=limit_from_json(limit), left=Remaining.from_json(left))
        if found.to_json() != told:
            raise ValueError("more is said of an account than how it stands")
        return found


@frozen
class Presented:
    """A request that holds: ``shown`` and ``last`` are what it names, by digest.

    ``request`` is its signed text. ``shown`` is a certificate's facts, proved from their claim, or
    the document of a change; ``last`` is what was approved before, empty for nothing. ``account``
    is how the account would stand, by the word of ``asker``, one of the people of the ``policy``;
    ``beside`` is a column of the source that by its name says whose row it is, where the unit is a
    row, or another column that by its name tells no person from others.
    """

    request: str
    said: Unverified
    matter: Matter
    policy: ReviewPolicy
    asker: Approver
    shown: Mapping[str, Any]
    last: Mapping[str, Any]
    account: Standing
    beside: str = ""

    @property
    def new_policy(self) -> ReviewPolicy | None:
        """The review policy that is to follow; None where the request is of something else."""
        is_policy = self.matter.stage == "change" and self.matter.name == REVIEW_POLICY
        return policy_in(self.shown) if is_policy else None


def presented(file: Path) -> Presented:
    """What a request file asks; nothing else is read.

    Guarantee: one of the people of the review policy that it names has signed it; what is asked
    follows from what is shown, and a certificate's SQL, columns, assumptions and δ from its claim.
    Raises FileError, and VerificationFailed where anything is not so.
    """
    read = read_request(file)
    try:
        return _presented(read)
    except VerificationFailed as error:
        raise VerificationFailed(tuple(f"{file}: {line}" for line in error.reasons)) from None


def _presented(read: RequestFile) -> Presented:
    said = unverified(read.request, REVIEW_REQUEST)
    try:
        found = plain(said.predicate)
        of = {str(name): str(value) for name, value in found["of"].items()}
        matter = Matter(found["stage"], said.subject_name, said.subject_sha256, of)
        account, beside = Standing.from_json(found["account"]), str(found["beside"])
        digests = found["review_policy"], found["last"]
        if digests != (document_digest(read.review_policy), last_of(read.last)):
            raise VerificationFailed((_NO_DIGEST,))
        policy = policy_in(read.review_policy)
        if _matter(matter, read.shown) != matter:
            raise VerificationFailed((_NO_DIGEST,))
    except (*NONSENSE, NotApproved, PolicyError):
        raise VerificationFailed((_ANOTHER,)) from None
    if matter.stage != "change":
        _check_certificate(matter, read.shown)
    key = Envelope.from_json(read.request).key_id
    if key not in policy.keys:
        raise VerificationFailed(
            (f"the key {key[:8]} that signed it is nobody's in the review policy that it names",)
        )
    open_envelope(read.request, policy.trusted(frozenset()), REVIEW_REQUEST)
    asker = policy.person(key)
    shown, last = read.shown, read.last
    return Presented(read.request, said, matter, policy, asker, shown, last, account, beside)


def policy_in(document: Mapping[str, object]) -> ReviewPolicy:
    """The review policy that a document of a request is; PolicyError where it is none."""
    return review_policy(json.dumps(document), Path("review policy"))


def _matter(asked: Matter, shown: Mapping[str, Any]) -> Matter:
    """What is asked where just this is shown, in the place and from the account that are asked."""
    if asked.stage == "change":
        if asked.name == LIMIT:
            return limit_matter(shown["account"], limit_from_json(shown))
        if asked.name == PLAN:
            return plan_matter(shown)
        if asked.name == ROWS:
            rows = {str(int(row)): bytes.fromhex(each).hex() for row, each in shown["rows"].items()}
            return rows_matter(shown["account"], rows)
        return policy_matter(policy_in(shown))
    of, is_certified = asked.of, type_of_release(shown) != UNPROMISED_TYPE
    name = shown["policy"]["name"]
    charge = Charge(
        account=of["account"],
        epsilon=Decimal(shown["epsilon"]) if is_certified else Decimal(0),
        delta=Decimal(of.get("delta", "0")),
        neighbours=shown.get("neighbours", "add_remove"),
        policy_name=choice_name(name, shown["chosen"]) if is_choice(shown) else name,
        policy_digest=shown["policy"]["digest"],
        certificate_digest="",
        run=Run(predicate=shown, target=of["target"]),
    )
    return claim_of(charge) if asked.stage == "claim" else release_of(charge, asked.sha256)


def _check_certificate(matter: Matter, shown: Mapping[str, Json]) -> None:
    """VerificationFailed unless all that a certificate states follows from its claim.

    Of a private choice: unless it is whole.
    """
    if is_choice(shown):
        choice_shown(shown)
        return
    certificate = certificate_shown(shown)
    promise = certificate.promise
    found = check_sql(certificate) + check_numbers(certificate)
    # What an account is charged is of the sample; a certificate may be of its population.
    if isinstance(promise, Bounded) and Decimal(matter.of.get("delta", "1")) < promise.delta:
        raise VerificationFailed((_OTHER_WORDS,))
    if found.reasons:
        raise VerificationFailed((_OTHER_WORDS, *found.reasons))


def is_choice(shown: Mapping[str, object]) -> bool:
    """Whether what a request shows is of a private choice."""
    return type_of_release(shown) == CHOICE_TYPE


def choice_shown(shown: Mapping[str, Json]) -> ChoiceStated:
    """What a private choice is of that a request shows; VerificationFailed where it is none."""
    return ChoiceStated.of(Unverified("", "", {**shown, "time": _SOME_TIME}))


def certificate_shown(shown: Mapping[str, Json]) -> Certificate:
    """The certificate, or the statement of a release without one, that a request shows.

    A request of a claim states no time: what is released gets one of its own.
    """
    try:
        return certificate_in(Unverified("", "", {"time": _SOME_TIME, **shown}))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        raise VerificationFailed((_ANOTHER,)) from None
