"""The certificate of a private choice: what was a candidate, and what the choice cost.

Its subject is the policy that was written: what was chosen is what stands in it. It speaks of no
table that was released, so its predicate type is its own; a ledger is charged for it all the same,
and one that has forgotten that is found by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.attest.attestation import CHOICE_TYPE, Unverified, open_envelope
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.results import Verified
from policy_engine.errors import FileError, VerificationFailed
from policy_engine.kernel.editions import Edition
from policy_engine.opening import opened
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen

SCORE = "Σ over groups of max(0, people − least_shown), times the scheme's precision"
SCORE_OF_PEOPLE = "Σ over groups of max(0, people − least_shown)"
SCORE_OF_GROUPS = (
    "a person in more than groups_a_person groups counts in each by an equal part of that many"
)
SCORE_OF_NUMBERS = (
    "people of whom nothing is cut, less people_a_doubling for each doubling of the width"
)
NUMBERS_APART = "each number is drawn by itself, by an equal share of epsilon"
_WRITTEN = "the candidates were written before the data was looked at"
_ONE_ROW = "one row of the unit is read, as the policy says"
_OWN_ROWS = "whether something of a unit is cut is told by its own rows"
_OWN_GROUPS = "in which groups a unit is is told by its own rows"
_UTF_8 = "every text in the source is UTF-8, whichever people are in it"
_UNIFORM = "the numbers that the operating system draws are uniform and independent"
ASSUMPTIONS = (_WRITTEN, _ONE_ROW, _UTF_8, _UNIFORM)
ASSUMPTIONS_OF_NUMBERS = (_WRITTEN, _OWN_ROWS, _UTF_8, _UNIFORM)
ASSUMPTIONS_OF_GROUPS = (_WRITTEN, _OWN_GROUPS, _UTF_8, _UNIFORM)
ChoiceOf = Literal["recoding", "numbers"]


@frozen
class ChoiceStated:
    """What a private choice was of, and at which ε; δ is 0.

    ``parts`` are what each part can be, as people read it: the levels of a column, the finest
    first, or the values of a number of a policy, the narrowest first. ``candidates`` is how many
    there were together. ``people`` is of a recoding from how many on a group counts; of numbers for
    how many people of whom nothing is cut a doubling of the width stands. ``precision`` is the
    least that a candidate had, empty where the score weighs it, and of numbers. ``period`` is the
    edition whose rows alone are read, where the policy has some. ``groups`` is in how many
    groups of a recoding a unit counts at most, 0 where one row of it is read.
    """

    policy_name: str
    policy_digest: str
    account: str
    source: str
    unit: str
    neighbours: str
    epsilon: Decimal
    people: int
    precision: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    candidates: int
    engine: str
    engine_version: str
    time: str
    kind: ChoiceOf = "recoding"
    period: Edition | None = None
    groups: int = 0

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it rests on."""
        if self.kind == "numbers":
            return ASSUMPTIONS_OF_NUMBERS
        return ASSUMPTIONS if not self.groups else ASSUMPTIONS_OF_GROUPS

    @property
    def _score(self) -> dict[str, object]:
        """By what candidates are compared."""
        if self.kind == "numbers":
            score = f"{SCORE_OF_NUMBERS}; {NUMBERS_APART}"
            return {"score": score, "people_a_doubling": self.people}
        score = SCORE_OF_PEOPLE if self.precision else SCORE
        found = {"score": score, "least_shown": self.people, "precision": self.precision}
        if not self.groups:
            return found
        return {**found, "score": f"{score}; {SCORE_OF_GROUPS}", "groups_a_person": self.groups}

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
            "source_tag": "[SAFE]" if self.kind == "recoding" else "[CHOICE]",
            "chosen": self.kind,
            **self._score,
            **({"period": self.period.to_json()} if self.period else {}),
            "candidates": self.candidates,
            "parts": [{"name": name, "candidates": list(told)} for name, told in self.parts],
            "assumptions": list(self.assumptions),
            "engine": self.engine,
            "engine_version": self.engine_version,
            "time": self.time,
        }

    def _is_typed(self) -> bool:
        """Whether each field is of its type, and the numbers are what they can be."""
        levels = [each for name, told in self.parts for each in (name, *told)]
        texts = (
            self.policy_name, self.policy_digest, self.account, self.source, self.unit,
            self.neighbours, self.precision, self.engine, self.engine_version, self.time,
            *levels,
        )  # fmt: skip
        counts = (self.people, self.candidates, self.groups + 1)
        return (
            all(type(each) is str for each in texts)
            and all(type(each) is int and each >= 1 for each in counts)
            and 0 < self.epsilon <= 10**9
            and self.neighbours in (ADD_REMOVE, REPLACE_ONE)
            and (self.period is None or bool(self.period.column))
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
                facts["people_a_doubling" if facts["chosen"] == "numbers" else "least_shown"],
                facts.get("precision", ""),
                tuple((each["name"], tuple(each["candidates"])) for each in facts["parts"]),
                facts["candidates"],
                facts["engine"],
                facts["engine_version"],
                facts["time"],
                facts["chosen"],
                Edition.from_json(facts["period"]) if "period" in facts else None,
                facts.get("groups_a_person", 0),
            )
            is_same = _frozen(found.predicate()) == _frozen(facts)
        except (AttributeError, KeyError, TypeError, ValueError, InvalidOperation):
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
    many = counted(stated.candidates, "candidate")
    numbers: tuple[tuple[str, str | int], ...] = (
        ("policy", stated.policy_name),
        ("account", stated.account),
        ("epsilon", f"{stated.epsilon:f}"),
        ("delta", "0"),
        ("neighbours", stated.neighbours),
        ("candidates", stated.candidates),
        ("meaning", f"one of {many} was drawn, at ε {stated.epsilon:f} of {stated.unit}"),
    )
    return Verified(
        said.subject_name, tuple(checked), tuple(left), stated.assumptions, numbers=numbers
    )


def _digest(path: Path) -> str:
    try:
        with opened(path) as file:
            return sha256(file.read()).hexdigest()
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None
