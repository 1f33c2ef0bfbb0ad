"""What changed from one policy or certificate to another, field by field, each with a verdict.

The promise is weaker where more is shown, odds move further at any ε, smaller groups are shown, or
it rests on more. Where two values have no order a person must judge: nothing is "not weaker" by
default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from math import prod
from os.path import relpath
from typing import Literal

from policy_engine.accounting.in_words import in_text
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim, digest_of, to_json
from policy_engine.kernel.mechanisms import Cut, Measure
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.noisy_counts.meaning import cut_words, in_full
from policy_engine.kernel.mechanisms.quantile_words import quantile_in_full
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Recode
from policy_engine.kernel.recodes.meaning import Moved
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sentences import sentences_of
from policy_engine.kernel.types import digits_of
from policy_engine.policy.mechanisms.measures import AskedQuantile
from policy_engine.policy.model_specs import ALL_VALUES, PublicGroups
from policy_engine.policy.resolve import Policy
from policy_engine.policy.timing import schedule_words
from policy_engine.report import recodes
from policy_engine.report.claim_words import (
    column_words,
    filter_line,
    person_words,
    source_words,
)
from policy_engine.report.strength import EPSILONS, Strength
from policy_engine.values import frozen

Effect = Literal["weaker", "not weaker", "to judge"]
ABSENT = "not there"


@frozen
class KeyChange:
    """One field, before and after; ``map`` has the values that are shown otherwise.

    Nothing but a field that cannot make the promise weaker is ``not weaker``.
    """

    key: str
    before: str
    after: str
    effect: Effect
    why: str
    map: tuple[Moved, ...] = ()


@frozen
class Comparable:
    """What is compared of a policy or a certificate: plain texts, numbers, and recodes.

    ``texts`` are the same or not, and who reads both must judge; ``harmless`` are told, and cannot
    weaken anything beside what ``strength`` measures. ``shown`` are the columns, by name, and
    ``sums`` what is shown beside counts. ``assumptions`` are None of a policy, which has none
    before a catalog has answered.
    """

    kind: Literal["policy", "certificate"]
    name: str
    epsilon: Decimal
    delta: Decimal
    k: int
    rate: Decimal
    unit: str
    neighbours: str
    strength: Strength
    harmless: Mapping[str, str]
    texts: Mapping[str, str]
    shown: Mapping[str, Recode | None]
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
        protection, source = policy.protection, policy.source
        law, drawn = protection.noise_words, protection.chance_words
        epsilon, delta = _NONE
        if not policy.is_unpromised:
            epsilon, delta = policy.guarantee.epsilon, policy.guarantee.delta
        place = source.text if policy.source_path is None else relpath(policy.source_path)
        terms = ", ".join(f"{name} {way}" for name, way in source.order_by)
        return cls(
            kind="policy",
            name=policy.name,
            epsilon=epsilon,
            delta=delta,
            k=policy.k,
            rate=policy.effective_rate,
            unit=source.key or "row",
            neighbours=policy.guarantee.neighbours,
            strength=Strength.of_policy(policy),
            harmless={"noise": law},
            texts={
                "mechanism": protection.law_name,
                "chance": drawn,
                "sample.method": policy.method,
                "release.as": policy.release.form,
                "count.people": policy.release.count_as,
                "release": policy.release.text,
                "release.append": "each edition's rows" if policy.release.append else "",
                "schedule": schedule_words(policy.schedule),
                **dict(policy.stated),
                "source": place,
                "source.columns": _each(source.columns),
                "source.csv": "" if source.csv is None else str(source.csv),
                "privacy_unit.rows": "all" if source.counts_all else terms,
                "privacy_unit.unique": "the engine enforces it" if source.unique else "",
                "source.sampled_at": in_text(source.sampled_at),
                "source.view": "rowwise" if source.is_rowwise else "",
                **{f"source.join.{each.name}": str(each) for each in source.joins},
                **{f"source.compute.{each.name}": str(each) for each in source.computed},
                "account": policy.budget,
                "groupings": "; ".join(", ".join(each) for each in policy.groupings),
                "models": "; ".join(map(str, policy.models)),
                "public_groups": _groups(protection.keys),
                "part": "" if policy.part is None else "{1} of {0}".format(*policy.part),
                **{f"filter.{column}": str(spec) for column, spec in policy.filter},
                **{f"missing.{column}": label for column, label in policy.missing},
            },
            shown=dict(policy.recodings),
            sums={each.name: _summed(policy, each) for each in protection.measures}
            | {each.name: _chosen(policy, each) for each in protection.quantiles}
            | {each.name: f"how many people {_cut(policy, each)}" for each in protection.cuts},
            assumptions=None,
        )

    @classmethod
    def of_certificate(cls, certificate: Certificate, place: str = "") -> Comparable:
        """A certificate of a release in a place; δ is stated."""
        claim, terms, promise = certificate.claim, certificate.terms, certificate.promise
        epsilon, delta = _NONE
        texts = {
            "mechanism": claim.law.mechanism,
            "engine": certificate.engine,
            "engine.version": terms.engine_version,
            "release.as": "rows" if claim.count is None else "counts",
            "count.people": claim.count or "",
            "release": place,
            "release.published_as": terms.published_as,
            "edition": "" if terms.edition is None else terms.edition.words,
            "models": "; ".join(map(str, terms.models)),
            **dict(terms.said),
            **_of_claim(claim),
        }
        if isinstance(promise, Bounded):
            epsilon, delta = promise.epsilon, promise.delta
            texts["source.sampled_at"] = in_text(promise.sampled_at)
            texts["randomness"] = meaning_of(claim).randomness(certificate.engine)
        meaning = meaning_of(claim)
        return cls(
            kind="certificate",
            name=terms.policy_name,
            epsilon=epsilon,
            delta=delta,
            k=certificate.k,
            rate=promise.rate,
            unit=certificate.unit,
            neighbours=promise.neighbours,
            strength=Strength.of_certificate(certificate),
            harmless={"noise": meaning.noise} if meaning.noise else {},
            texts=texts,
            shown={each.name: each.recode for each in claim.columns},
            sums=meaning.sums(),
            assumptions=sentences_of(certificate.assumptions),
        )


_NONE = (Decimal("Infinity"), Decimal(1))
"""What is compared where there is no (ε, δ): anything that is promised is more."""


def _of_claim(claim: Claim) -> dict[str, str]:
    """What a claim says beside its columns' recodes and the numbers that are measured."""
    law, secret, meaning = claim.law, claim.law.secret, meaning_of(claim)
    own = [to_json(law), *meaning.lines()] if meaning.by_chance else None
    kept = person_words(claim)
    return {
        "source": source_words(claim),
        "privacy_unit.rows": kept,
        "law": type(law).__name__,
        "secret": "" if secret is None else json.dumps(to_json(secret), ensure_ascii=False),
        "groupings": "; ".join(", ".join(each.columns) for each in law.groupings),
        "public_groups": _keys([*meaning.public_keys()]),
        "values": "" if own is None else digest_of(own),
        "part": f"{law.number} of {law.parts}" if law.parts > 1 else "",
        "period": "" if claim.period is None else filter_line(claim.period),
        **{f"column.{each.name}": column_words(each) for each in claim.columns},
        **{f"filter.{each.column.name}": filter_line(each) for each in claim.filter if each.column},
        **{f"missing.{each.name}": each.missing for each in claim.columns if each.missing},
    }


def _each(pairs: Iterable[tuple[str, object]]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in pairs)


def _groups(keys: PublicGroups) -> str:
    """The public groups of a policy."""
    return "all that the recodes can give" if keys == ALL_VALUES else _keys(keys)


def _keys(lists: Sequence[tuple[Sequence[str], Iterable[Sequence[object]]]]) -> str:
    """How many public keys there are, and a digest that tells them from others."""
    found = []
    for names, rows in lists:
        texts = ([None if each is None else str(each) for each in row] for row in rows)
        found.append(sorted(json.dumps(sorted(zip(names, row, strict=True))) for row in texts))
    digest = hashlib.sha256(json.dumps(sorted(found)).encode()).hexdigest()
    return f"{prod(map(len, found)):,} public, sha256 {digest[:12]}" if found else ""


def _summed(policy: Policy, measure: Measure) -> str:
    quantity = policy.protection.quantities[measure.quantity - 1]
    many = policy.source.counts_all
    counts = quantity.center is None
    return in_full(measure, quantity.clip, quantity.column or "", many=many, counts=counts)


def _chosen(policy: Policy, quantile: AskedQuantile) -> str:
    return quantile_in_full(quantile, quantile.column, many=policy.source.counts_all)


def _cut(policy: Policy, cut: Cut) -> str:
    quantities, most = policy.protection.quantities, policy.protection.groups
    column = quantities[cut.quantity - 1].column if cut.quantity else None
    return cut_words(cut, quantities, column or "", most)


def changes(old: Comparable, new: Comparable) -> tuple[KeyChange, ...]:
    """Every field that differs, with its verdict, the guarantee first.

    Guarantee: where all are ``not weaker``, the new one's δ is at no ε of interest above the old
    one's, in either notion of neighbours, no smaller group is shown half of the time, and the same
    columns or functions of them are shown of the same people, by the same mechanism, on no more
    assumptions.
    """
    return tuple(_changes(old, new))


def weakens(found: tuple[KeyChange, ...]) -> bool:
    """Whether the promise is weaker, or a person must judge whether it is."""
    return any(each.effect != "not weaker" for each in found)


def _changes(old: Comparable, new: Comparable) -> Iterator[KeyChange]:
    for key, was, now, is_weaker, why in (
        ("guarantee.epsilon", old.epsilon, new.epsilon, new.epsilon > old.epsilon, _FURTHER),
        ("guarantee.delta", old.delta, new.delta, new.delta > old.delta, "δ is larger"),
        ("k", old.k, new.k, new.k < old.k, "smaller groups are shown"),
        ("sample.rate", old.rate, new.rate, new.rate > old.rate, "more people are in the sample"),
    ):
        if was != now:
            effect: Effect = "weaker" if is_weaker else "not weaker"
            yield KeyChange(key, _amount(was), _amount(now), effect, why if is_weaker else "")
    measured = tuple(_measured(old, new))
    yield from measured
    if old.unit != new.unit:
        why = "another unit is protected, so ε means something else"
        yield KeyChange("privacy_unit", old.unit, new.unit, "to judge", why)
    if old.neighbours != new.neighbours:
        why = "the promise compares other sources"
        yield KeyChange("guarantee.neighbours", old.neighbours, new.neighbours, "to judge", why)
    yield from _columns(old.shown, new.shown)
    for each in _texts(old.sums, new.sums, "to judge", "it is shown beside the counts"):
        own: Effect = "not weaker" if each.after == ABSENT else each.effect
        own = "weaker" if each.before == ABSENT else own
        yield replace(each, key=f"measures.{each.key}", effect=own)
    if old.assumptions is not None and new.assumptions is not None:
        for text in (each for each in new.assumptions if each not in old.assumptions):
            yield KeyChange("assumption", ABSENT, text, "weaker", "one more assumption")
        for text in (each for each in old.assumptions if each not in new.assumptions):
            yield KeyChange("assumption", text, ABSENT, "not weaker", "one assumption less")
    # A column that is there in one of them alone has a verdict of its own.
    both = {f"column.{name}" for name in old.shown.keys() & new.shown.keys()}
    texts = [
        {key: text for key, text in each.texts.items() if key[:7] != "column." or key in both}
        for each in (old, new)
    ]
    yield from _texts(texts[0], texts[1], "to judge", "")
    # What cannot weaken by itself has the verdict of what is measured of it.
    as_measured: Effect = "weaker" if weakens(measured) else "not weaker"
    yield from _texts(old.harmless, new.harmless, as_measured, "see odds and visible above")


def _measured(old: Comparable, new: Comparable) -> Iterator[KeyChange]:
    """What is shown of small groups, and how far odds move, whatever the numbers are called."""
    was, now = old.strength.visible, new.strength.visible
    for by in dict.fromkeys((*was, *now)):
        # A further grouping is compared with the old one that showed the smallest groups.
        before, after = was.get(by, min(was.values(), default=None)), now.get(by)
        if before is None or after is None or before == after:
            continue
        key = f"visible.{by}" if by else "visible"
        effect: Effect = "weaker" if after < before else "not weaker"
        why = "smaller groups are shown" if after < before else ""
        yield KeyChange(key, visible_words(before), visible_words(after), effect, why)
    yield from _odds(old, new)


def _odds(old: Comparable, new: Comparable) -> Iterator[KeyChange]:
    """How far odds move, told at the ε that was promised, or at another where they move further."""
    one, other = old.strength.curve, new.strength.curve
    if one is None or other is None:
        return
    found: list[tuple[bool, bool, KeyChange]] = []
    for notion in dict.fromkeys((old.neighbours, new.neighbours)):
        curves = one(notion), other(notion)
        promised = {each for each in (old.epsilon, new.epsilon) if each.is_finite()}
        for epsilon in sorted({*EPSILONS, *promised}):
            before, after = (curve(epsilon) for curve in curves)
            if before == after:
                continue
            is_worse = after > before
            was, now = (f"δ {in_text(each)} at ε {in_text(epsilon)}" for each in (before, after))
            effect: Effect = "weaker" if is_worse else "not weaker"
            change = KeyChange("odds", was, now, effect, _FURTHER if is_worse else "")
            found.append((is_worse, epsilon == old.epsilon, change))
    if found:
        yield max(found, key=lambda each: each[:2])[2]


def visible_words(size: int) -> str:
    """From how many people on a group is shown half of the time; 0 where every group is."""
    if not size:
        return "every group is shown"
    return f"groups of {size:,} people or more are shown at least half of the time"


_FURTHER = "odds can change more"
_UNREAD = "one of the certificates has no claim, so its recode is not known"
_ORDER: Mapping[recodes.Order, tuple[Effect, str]] = {
    "same": ("not weaker", ""),
    "relabelled": ("not weaker", "the same groups with other labels"),
    "coarser": ("not weaker", "it shows less detail"),
    "finer": ("weaker", "it shows more detail"),
    "other": ("to judge", "neither is coarser than the other"),
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


def _columns(
    old: Mapping[str, Recode | None], new: Mapping[str, Recode | None]
) -> Iterator[KeyChange]:
    for name in dict.fromkeys((*old, *new)):
        before, after = (_words(each[name]) if name in each else ABSENT for each in (old, new))
        change: tuple[Effect, str] | None = None
        moved: tuple[Moved, ...] = ()
        if name not in old:
            change = ("weaker", "one more column is shown")
        elif name not in new:
            change = ("not weaker", "the column is not shown any more")
        elif (was := old[name]) is None or (now := new[name]) is None:
            change = None if was is new[name] else ("to judge", _UNREAD)
        elif (order := recodes.compared(was, now)) != "same":
            change, both = _ORDER[order], recode_meaning(was).beside(now)
            moved = tuple(each for each in both if each[1] != each[2])
        if change:
            yield KeyChange(f"recode.{name}", before, after, *change, moved)
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        orders = (", ".join(old), ", ".join(new))
        yield KeyChange("recode", *orders, "not weaker", "the order of columns")


def _words(recode: Recode | None) -> str:
    return "not stated" if recode is None else recode_meaning(recode).in_short
