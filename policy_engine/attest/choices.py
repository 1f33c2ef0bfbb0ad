"""The certificate of a private choice: which recodings were candidates, and what the choice cost.

Its subject is the policy that was written: what was chosen is what stands in it. It speaks of no
table that was released, so its predicate type is its own; a ledger is charged for it all the same,
and one that has forgotten that is found by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from pathlib import Path
from typing import Any

from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.attest.attestation import CHOICE_TYPE, Unverified, open_envelope
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.results import Verified
from policy_engine.errors import FileError, VerificationFailed
from policy_engine.opening import opened
from policy_engine.policy.scalars import counted

SCORE = "Σ over groups of max(0, people − least_shown), times the scheme's precision"
SCORE_OF_PEOPLE = "Σ over groups of max(0, people − least_shown)"
ASSUMPTIONS = (
    "the candidates were written before the data was looked at",
    "one row of the unit is read, as the policy says",
    "every text in the source is UTF-8 whoever is in it",
    "the numbers that the operating system draws are uniform and independent",
)


@dataclass(frozen=True)
class ChoiceStated:
    """What a private choice was of, and at which ε; δ is 0.

    ``candidates`` are the levels of each column, the finest first, as people read them, and
    ``schemes`` how many there were. ``least_shown`` is from how many people on a group counts.
    ``precision`` is the least that a candidate had, empty where the score weighs it.
    """

    policy_name: str
    policy_digest: str
    account: str
    source: str
    unit: str
    neighbours: str
    epsilon: Decimal
    least_shown: int
    precision: str
    candidates: tuple[tuple[str, tuple[str, ...]], ...]
    schemes: int
    engine: str
    engine_version: str
    time: str

    def predicate(self) -> dict[str, object]:
        """The predicate of its in-toto Statement; the same for equal ones."""
        return {
            "policy": {"name": self.policy_name, "digest": self.policy_digest},
            "account": self.account,
            "source": self.source,
            "unit": self.unit,
            "neighbours": self.neighbours,
            "epsilon": f"{self.epsilon:f}",
            "delta": "0",
            "mechanism": "permute-and-flip",
            "source_tag": "[SAFE]",
            "score": SCORE_OF_PEOPLE if self.precision else SCORE,
            "least_shown": self.least_shown,
            "precision": self.precision,
            "candidates": [
                {"column": name, "levels": list(told)} for name, told in self.candidates
            ],
            "schemes": self.schemes,
            "assumptions": list(ASSUMPTIONS),
            "engine": self.engine,
            "engine_version": self.engine_version,
            "time": self.time,
        }

    def _is_typed(self) -> bool:
        """Whether each field is of its type, and the numbers are what they can be."""
        levels = [each for name, told in self.candidates for each in (name, *told)]
        texts = (
            self.policy_name, self.policy_digest, self.account, self.source, self.unit,
            self.neighbours, self.precision, self.engine, self.engine_version, self.time, *levels,
        )  # fmt: skip
        counts = (self.least_shown, self.schemes)
        return (
            all(type(each) is str for each in texts)
            and all(type(each) is int and each >= 1 for each in counts)
            and 0 < self.epsilon <= 10**9
            and self.neighbours in (ADD_REMOVE, REPLACE_ONE)
        )

    @classmethod
    def of(cls, said: Unverified) -> ChoiceStated:
        """What a statement says; VerificationFailed where a field lacks, or is of another form."""
        facts: Mapping[str, Any] = said.predicate
        try:
            found = cls(
                facts["policy"]["name"],
                facts["policy"]["digest"],
                facts["account"],
                facts["source"],
                facts["unit"],
                facts["neighbours"],
                Decimal(facts["epsilon"]),
                facts["least_shown"],
                facts["precision"],
                tuple((each["column"], tuple(each["levels"])) for each in facts["candidates"]),
                facts["schemes"],
                facts["engine"],
                facts["engine_version"],
                facts["time"],
            )
            is_same = _frozen(found.predicate()) == _frozen(facts)
        except (KeyError, TypeError, ValueError, InvalidOperation):
            is_same = False
        if not is_same or not found._is_typed():
            raise VerificationFailed(("the certificate of the choice lacks or misstates a field",))
        return found


def _frozen(value: object) -> object:
    """A value with its type: in Python, true is 1."""
    match value:
        case Mapping():
            return {name: _frozen(each) for name, each in value.items()}
        case list() | tuple():
            return [_frozen(each) for each in value]
    return type(value), value


def verify_choice(text: str, trusted: TrustedKeys, policy: Path | None = None) -> Verified:
    """Verify the certificate of a private choice, and the ``policy`` that was written by it.

    Raises VerificationFailed with every reason, FileError where the policy cannot be read.
    """
    said = open_envelope(text, trusted, CHOICE_TYPE)
    stated = ChoiceStated.of(said)
    checked = [f"signed by {said.key_id}", "what it states is whole, and of one choice"]
    left = ["that the candidates were written first cannot be seen"]
    if policy is None:
        left.append("the policy that was chosen was not looked at: name it with --release")
    elif _digest(policy) != said.subject_sha256:
        raise VerificationFailed((f"{policy} is not the policy that was chosen: it was changed",))
    else:
        checked.append(f"{said.subject_name} is the policy that was chosen, byte for byte")
    many = counted(stated.schemes, "scheme")
    numbers: tuple[tuple[str, str | int], ...] = (
        ("policy", stated.policy_name),
        ("account", stated.account),
        ("epsilon", f"{stated.epsilon:f}"),
        ("delta", "0"),
        ("neighbours", stated.neighbours),
        ("schemes", stated.schemes),
        ("meaning", f"one of {many} was drawn, at ε {stated.epsilon:f} of {stated.unit}"),
    )
    return Verified(said.subject_name, tuple(checked), tuple(left), ASSUMPTIONS, numbers=numbers)


def _digest(path: Path) -> str:
    try:
        with opened(path) as file:
            return sha256(file.read()).hexdigest()
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None
