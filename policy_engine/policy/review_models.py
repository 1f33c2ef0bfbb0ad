"""The review policy of an account as it is written: who approves, how many, for how long."""

from __future__ import annotations

import base64
import binascii
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from policy_engine.policy import fields
from policy_engine.policy.laws import Broken, Data, Document, Ruled, mapping, refusal
from policy_engine.policy.reading import read_document
from policy_engine.policy.scalars import show

STAGES = ("claim", "release", "change")
_DER = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes of an Ed25519 key in its PEM form: RFC 8410."""
_RAW = 32


def raw_key(found: object) -> bytes | None:
    """The 32 bytes of a public key, from the line of its PEM file; None where it is none."""
    if not isinstance(found, str):
        return None
    try:
        der = base64.b64decode(found, validate=True)
    except (binascii.Error, ValueError):
        return None
    is_key = der.startswith(_DER) and len(der) == len(_DER) + _RAW
    return der[len(_DER) :] if is_key else None


def _key(found: object) -> bytes:
    """The law of a public key: the line between BEGIN and END of its PEM file."""
    if (raw := raw_key(found)) is not None:
        return raw
    law = "the line between BEGIN and END of the PEM file of a public Ed25519 key"
    raise refusal(f"must be {law}, found {show(found)}", "it is in NAME.pub")


def key_line(raw: bytes) -> str:
    """A public key as a review policy writes it.

    >>> _key(key_line(bytes(32))) == bytes(32)
    True
    """
    return base64.b64encode(_DER + raw).decode()


_LINE = f"^{base64.b64encode(_DER).decode()}[A-Za-z0-9+/]{{43}}=$"
KeyLineField = Annotated[bytes, Ruled(_key, {"type": "string", "pattern": _LINE})]
_Needs = Annotated[dict[str, fields.PositiveField], fields.a_mapping("role: how many people")]


class ApproverSpec(Document):
    """A person: one role, and the keys that are theirs."""

    role: fields.NameField
    keys: Annotated[tuple[KeyLineField, ...], fields.a_list("keys")]


class ReviewDocument(Document):
    """A review policy."""

    version: fields.VersionField
    account: fields.LineField
    """The account that it is of."""
    serial: fields.PositiveField
    """Which one it is: each change is one more than what it changes."""
    people: Annotated[dict[str, ApproverSpec], fields.a_mapping("name: person")]
    claim: _Needs = fields.EMPTY
    """Who approves a release before its account is charged, by role; nobody without it."""
    release: _Needs = fields.EMPTY
    """Who approves what came out before it is put in its place."""
    change: _Needs
    """Who approves another limit of the account, and another review policy."""
    four_eyes: fields.FlagField = True
    """Whether who asks for an approval gives none."""
    days: Annotated[int, fields.integer(1, 366)]
    """How long an approval counts."""
    expires: Annotated[date, fields.day]
    """The last day, in UTC, on which anything is approved under it."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """A key is one person's, and there are as many people as are needed."""
        whose: dict[Any, Any] = {}
        count: dict[Any, int] = {}
        for name, person in mapping(data.get("people")).items():
            if not isinstance(name, str) or not fields.is_line(name):
                wrong = f"must be the name of a person on one line, found {show(name)}"
                yield refusal(wrong, at=("people", name), on_key=True)
            role, keys = (mapping(person).get(key) for key in ("role", "keys"))
            if isinstance(role, str):
                count[role] = count.get(role, 0) + 1
            for line in keys if isinstance(keys, list) else ():
                # Base64 has several spellings of one key: its bytes are compared.
                key = raw_key(line)
                if key is None:
                    continue
                if key in whose:
                    wrong = f"has a key that {whose[key]} has too"
                    yield refusal(wrong, "a key is one person's, once", at=("people", name))
                whose[key] = name
        for stage in STAGES:
            for role, needed in mapping(data.get(stage)).items():
                if fields.is_integer(needed) and needed > count.get(role, 0):
                    wrong = f"asks for {needed} of role {show(role)}, found {count.get(role, 0)}"
                    yield refusal(wrong, "name them under people", at=(stage,))

    def to_json(self) -> dict[str, object]:
        """The document as it is recorded: everything is said."""
        people = {
            name: {"role": each.role, "keys": [key_line(key) for key in each.keys]}
            for name, each in self.people.items()
        }
        said = {**self.model_dump(), "people": people, "expires": self.expires.isoformat()}
        return {key: value for key, value in said.items() if value or key not in STAGES}


def read_review_document(text: str, file: Path) -> ReviewDocument:
    """What a review policy says; PolicyError with every problem.

    >>> read_review_document("version: 1", Path("people.review.yaml"))
    Traceback (most recent call last):
    ...
    policy_engine.errors.PolicyError: people.review.yaml:1:1: account is missing
    people.review.yaml:1:1: serial is missing
    people.review.yaml:1:1: people is missing
    people.review.yaml:1:1: change is missing
    people.review.yaml:1:1: days is missing
    people.review.yaml:1:1: expires is missing
    """
    return read_document(text, file, ReviewDocument, "review policy").result()
