"""What changed from one policy or certificate to another, by the policy's keys.

The promise weakens where more is shown, ε or δ is larger, k smaller, or it rests on more. Where
two values cannot be compared nobody knows, and that is told apart from a change that does nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import prod
from os.path import relpath
from typing import Any, Literal

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.attestation import SYNTACTIC_MECHANISM
from policy_engine.attest.facts import STATED, Facts, claim_of, models_of
from policy_engine.attest.predicates import claim_stated
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import IntegerTable, Listed, Noisy
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.words import source_of
from policy_engine.policy.noise import Noise
from policy_engine.policy.resolve import Policy
from policy_engine.report import recodes

Effect = Literal["weaker", "stronger", "neutral", "unknown"]
ABSENT = "not there"


@dataclass(frozen=True)
class KeyChange:
    """One key of a policy, before and after; ``map`` has the values that are shown otherwise."""

    key: str
    before: str
    after: str
    effect: Effect
    why: str
    map: tuple[recodes.Entry, ...] = ()


@dataclass(frozen=True)
class Comparable:
    """What is compared of a policy or a certificate: plain texts, numbers, and recodes.

    ``texts`` differ or not, ``shown`` are the columns and sums that leave, ``assumptions`` are
    None of a policy, which has none before a catalog has answered.
    """

    kind: Literal["policy", "certificate"]
    name: str
    epsilon: Decimal
    delta: Decimal
    k: int
    unit: str
    neutral: Mapping[str, str]
    fixed: Mapping[str, str]
    shown: Mapping[str, Any]
    sums: Mapping[str, str]
    assumptions: tuple[str, ...] | None

    @property
    def price(self) -> str:
        """What one release of it costs, with δ and unit."""
        if self.epsilon.is_infinite():
            return "no (ε, δ): it promises nothing"
        return f"ε {in_text(self.epsilon)}, δ {in_text(self.delta)} for one {self.unit}"

    @classmethod
    def of_policy(cls, policy: Policy) -> Comparable:
        """A policy, every ``auto`` solved; δ is the one that is promised."""
        noise, source = policy.noise, policy.source
        mechanism, law = "sampled-suppression", ""
        if isinstance(noise, Noise):
            mechanism, law = "noisy-counts", _law(noise.table)
        elif noise is not None:
            law = noise.words
            mechanism = SYNTACTIC_MECHANISM if policy.is_syntactic else law.replace(" ", "-")
            mechanism = mechanism.replace("αβ", "ab")
        epsilon, delta = _NONE
        if not policy.is_syntactic:
            epsilon, delta = policy.guarantee.epsilon, policy.guarantee.delta
        place = source.text if policy.source_path is None else relpath(policy.source_path)
        terms = ", ".join(f"{name} {way}" for name, way in source.order_by)
        return cls(
            kind="policy",
            name=policy.name,
            epsilon=epsilon,
            delta=delta,
            k=policy.k,
            unit=source.key or "row",
            neutral={
                "mechanism": mechanism,
                "noise": law,
                "sample.rate": in_text(policy.effective_rate),
                "release.as": policy.release.form,
                "release": policy.release.text,
                **dict(policy.stated),
            },
            fixed={
                "source": place,
                "guarantee.neighbours": policy.guarantee.neighbours,
                "source.unit.keep": "all" if source.counts_all else terms,
                "source.sampled_at": in_text(source.sampled_at),
                "source.view": "rowwise" if source.is_rowwise else "",
                "budget": policy.budget,
                "groupings": "; ".join(", ".join(each) for each in policy.groupings),
                **({"models": "; ".join(map(str, policy.models))} if policy.is_syntactic else {}),
                "keys": _keys(noise.keys if isinstance(noise, Noise) else ()),
                **{f"filter.{column}": str(spec) for column, spec in policy.filter},
            },
            shown=dict(policy.recodings),
            sums={} if noise is None else {each.name: _summed(each) for each in noise.sums},
            assumptions=None,
        )

    @classmethod
    def of_certificate(cls, facts: Facts) -> Comparable:
        """A certificate; δ is the one that is stated. Or a statement without (ε, δ).

        Errors: VerificationFailed.
        """
        epsilon, delta = _NONE
        neutral, fixed = {"mechanism": facts["mechanism"]}, {}
        sums: dict[str, str] = {}
        if "epsilon" in facts:
            claim = claim_of(facts) if facts.get("claim") is not None else None
            noisy = claim.law if claim is not None and isinstance(claim.law, Noisy) else None
            groupings = noisy.groupings if noisy else ()
            epsilon, delta = Decimal(facts["epsilon"]), Decimal(facts["delta"])
            neutral["noise"] = _law(noisy.table) if noisy else ""
            neutral["sample.rate"] = in_text(Decimal(facts["rate"]))
            fixed["guarantee.neighbours"] = facts["neighbours"]
            fixed["source.sampled_at"] = facts["sampled_at"]
            fixed["groupings"] = "; ".join(", ".join(each.columns) for each in groupings)
            fixed["keys"] = "" if claim is None else _keys([*_listed(claim)])
            sums = {each.name: _summed(each) for each in noisy.aggregates} if noisy else {}
        else:
            claim = claim_stated(facts)
            fixed["models"] = "; ".join(map(str, models_of(facts)))
        neutral |= {"release.as": facts["form"], "engine": facts["dialect"]}
        if "epsilon" in facts:
            neutral["randomness"] = facts["randomness"]
        shown: dict[str, Any] = dict.fromkeys(facts["columns"])
        if claim is not None:
            shown = {each.name: each.recode for each in claim.columns}
            fixed["source"] = source_of(claim)
            fixed |= {f"filter.{each.column.name}": _condition(each) for each in claim.filter}
        return cls(
            kind="certificate",
            name=facts["policy"]["name"],
            epsilon=epsilon,
            delta=delta,
            k=facts["k"],
            unit=facts["unit"],
            neutral={**neutral, **{name: facts[name] for name in STATED if name in facts}},
            fixed=fixed,
            shown=shown,
            sums=sums,
            assumptions=tuple(facts["assumptions"]),
        )


_NONE = (Decimal("Infinity"), Decimal(1))
"""What is compared where there is no (ε, δ): anything that is promised is more."""


def _law(table: IntegerTable) -> str:
    if table.is_open:
        return f"a random number from {table.least} on is taken away"
    return f"a random number from {table.least} to {table.largest} is added"


def _listed(claim: Claim) -> Iterator[tuple[Sequence[str], Iterable[Sequence[object]]]]:
    """The lists of public keys, with the names of their columns; a constant is in none."""
    shown = iter(claim.columns)
    for rows in claim.law.keys if isinstance(claim.law, Listed) else ():
        columns = [next(shown) for _ in rows[0]]
        own = [at for at, each in enumerate(columns) if each.column is not None]
        if own:
            yield [columns[at].name for at in own], [[row[at] for at in own] for row in rows]


def _keys(lists: Sequence[tuple[Sequence[str], Iterable[Sequence[object]]]]) -> str:
    """How many public keys there are, and a digest that tells them from others."""
    found = []
    for names, rows in lists:
        texts = ([None if each is None else str(each) for each in row] for row in rows)
        found.append(sorted(json.dumps(sorted(zip(names, row, strict=True))) for row in texts))
    digest = hashlib.sha256(json.dumps(sorted(found)).encode()).hexdigest()
    return f"{prod(map(len, found)):,} public, sha256 {digest[:12]}" if found else ""


def _summed(each: Any) -> str:
    ends = (digits_of(end * each.unit) for end in (each.clip.low, each.clip.high))
    return f"the {'mean' if each.clip.is_mean else 'sum'} of values from {' to '.join(ends)}"


def _condition(found: Any) -> str:
    if found.members:
        return ", ".join(map(str, found.members))
    ends = (found.at_least, found.below)
    low, high = (None if end is None else str(end) for end in ends)
    return " and ".join(
        text for text in (low and f"at least {low}", high and f"below {high}") if text
    )


def changes(old: Comparable, new: Comparable) -> tuple[KeyChange, ...]:
    """Every key that differs, the guarantee first."""
    return tuple(_changes(old, new))


def weakens(found: tuple[KeyChange, ...]) -> bool:
    """Whether the promise is weaker, or may be for all that can be told."""
    return any(each.effect in ("weaker", "unknown") for each in found)


def _changes(old: Comparable, new: Comparable) -> Iterator[KeyChange]:
    for key, was, now, is_weaker, why in (
        ("guarantee.epsilon", old.epsilon, new.epsilon, new.epsilon > old.epsilon, _FURTHER),
        ("guarantee.delta", old.delta, new.delta, new.delta > old.delta, "more slack"),
        ("k", old.k, new.k, new.k < old.k, "smaller groups are shown"),
    ):
        if was != now:
            effect: Effect = "weaker" if is_weaker else "stronger"
            yield KeyChange(key, _amount(was), _amount(now), effect, why if is_weaker else "")
    yield from _texts({"source.unit": old.unit}, {"source.unit": new.unit}, "unknown", _OTHERS)
    yield from _texts(old.fixed, new.fixed, "unknown", "what it means for one person differs")
    yield from _columns(old.shown, new.shown)
    for each in _texts(old.sums, new.sums, "unknown", "it stands beside counts"):
        own: Effect = "stronger" if each.after == ABSENT else each.effect
        own = "weaker" if each.before == ABSENT else own
        yield replace(each, key=f"aggregate.{each.key}", effect=own)
    if old.assumptions is not None and new.assumptions is not None:
        for text in (each for each in new.assumptions if each not in old.assumptions):
            yield KeyChange("assumption", ABSENT, text, "weaker", "it rests on more")
        for text in (each for each in old.assumptions if each not in new.assumptions):
            yield KeyChange("assumption", text, ABSENT, "stronger", "it rests on less")
    yield from _texts(old.neutral, new.neutral, "neutral", "")


_FURTHER = "odds can move further"
_OTHERS = "others are protected, and ε is of them"
_UNREAD = "one of the certificates has no claim, so that its recode is not known"
_ORDER: Mapping[recodes.Order, tuple[Effect, str]] = {
    "same": ("neutral", ""),
    "relabelled": ("neutral", "other words for the same groups"),
    "coarser": ("stronger", "it tells less"),
    "finer": ("weaker", "it tells more"),
    "other": ("unknown", "neither can be made of the other"),
}


def _amount(number: Decimal | int) -> str:
    if isinstance(number, int):
        return digits_of(number)
    return "none" if number.is_infinite() else in_text(number)


def _texts(
    old: Mapping[str, str], new: Mapping[str, str], effect: Effect, why: str
) -> Iterator[KeyChange]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, ""), new.get(key, "")
        if before != after:
            yield KeyChange(key, before or ABSENT, after or ABSENT, effect, why)


def _columns(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[KeyChange]:
    for name in dict.fromkeys((*old, *new)):
        before, after = (_words(each[name]) if name in each else ABSENT for each in (old, new))
        change: tuple[Effect, str] | None = None
        moved: tuple[recodes.Entry, ...] = ()
        if name not in old:
            change = ("weaker", "a further column is shown")
        elif name not in new:
            change = ("stronger", "it is not shown any more")
        elif old[name] is None or new[name] is None:
            change = None if old[name] is new[name] else ("unknown", _UNREAD)
        elif (order := recodes.compared(old[name], new[name])) != "same":
            change, both = _ORDER[order], recodes.entries(old[name], new[name])
            moved = tuple(each for each in both if each[1] != each[2])
        if change:
            yield KeyChange(f"recode.{name}", before, after, *change, moved)
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        orders = (", ".join(old), ", ".join(new))
        yield KeyChange("recode", *orders, "neutral", "the order of columns")


def _words(recode: Any) -> str:
    return "not stated" if recode is None else recodes.in_words(recode)
