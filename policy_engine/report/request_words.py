"""What decides, of a request for approvals: everything that is approved by it, in words.

Made of a request that was held against its own claim (``releasing.presenting``), and of nothing
else. What its author says stands in quotes, under a label that says so, for nothing checks it. What
only the ledger knows is told as the word of who asks: the ledger refuses a request of which it is
not so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.approvals import Approver, ReviewPolicy
from policy_engine.check.described import count_words
from policy_engine.compile.column_names import names_no_person, promise_sentences
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, still_works
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes.meaning import Moved
from policy_engine.kernel.sentences import sentences_of
from policy_engine.kernel.sources import People
from policy_engine.kernel.wording import named, quoted
from policy_engine.ledger.account import Limit, limit_from_json
from policy_engine.ledger.planned import plan_words
from policy_engine.ledger.reviews import PLAN, ROWS
from policy_engine.policy.scalars import counted
from policy_engine.releasing.presenting import (
    Presented,
    certificate_shown,
    choice_shown,
    is_choice,
    policy_in,
)
from policy_engine.report.changes import Comparable, KeyChange, changes, visible_words
from policy_engine.report.claim_words import (
    column_lines,
    filter_line,
    person_words,
    source_words,
)
from policy_engine.report.mechanism import how
from policy_engine.report.strength import Strength
from policy_engine.values import frozen

_MOST_ENTRIES = 20
VERDICTS = {"weaker": "weaker", "not weaker": "not weaker", "to judge": "for a person to judge"}
QUESTIONS: Mapping[str, str] = {
    "person": (
        "Is this really one person? If the line names a row or a visit, a person with ten"
        " visits is protected far less. *In at most 6 groups* means: a person in more groups is"
        " counted in 6 of them."
    ),
    "columns": (
        "What will readers see in each column? *Kept* means that they see the original values."
        " A name or an address does not belong here."
    ),
    "goes to": "Who can read this place?",
    "mechanism": "How small a group is still shown? Is this acceptable?",
    "promise": (
        "Somebody guesses whether a certain person is in the data. This line says how often the"
        " guess can be right. Is this acceptable? δ should be at most 1 divided by ten times the"
        " number of people. For 1,000 people this is 1/10,000. The request does not say how many"
        " people there are, so ask."
    ),
    "price": (
        "The price is privacy, not money. What is the account's limit, and is enough left for"
        " later releases?"
    ),
    "assuming": "No computer can check these lines. Who can tell you whether each line is true?",
    "since last": "What differs from the request that was approved before?",
}
"""What a person who is asked to approve asks of a part, by its label."""
_OF_EVERY_CLAIM = {"source", "edition", "filter", "recode", "release"}
_NOTIONS = {
    "add_remove": "the data is compared with data that has one person more or one person less",
    "replace_one": "the data is compared with data in which another person replaces one person",
}


@frozen
class ReviewPart:
    """What is said under one label: lines, none of which is empty."""

    label: str
    lines: tuple[str, ...]


def decides(found: Presented) -> tuple[ReviewPart, ...]:
    """All that decides of a request, label by label."""
    made = _of_change(found) if found.matter.stage == "change" else _of_release(found)
    if is_choice(found.shown):
        made = _of_choice(found)
    told = (ReviewPart(label, tuple(lines)) for label, lines in made)
    return tuple(part for part in told if part.lines)


def _of_release(found: Presented) -> Iterator[tuple[str, Iterable[str]]]:
    certificate, matter = certificate_shown(found.shown), found.matter
    claim, terms = certificate.claim, certificate.terms
    form = "one row for each person" if claim.count is None else "one row for each group"
    yield "goes to", [f"{quoted(matter.of['target'])} ({form})"]
    if matter.stage == "release":
        yield "bytes", [f"SHA-256 {matter.sha256}"]
    yield "source", [source_words(claim)]
    yield "edition", [terms.edition.words] if terms.edition and terms.edition.words else []
    yield "person", [person_words(claim), *_doubts(found, claim)]
    yield "columns", (line for each in claim.columns for line in column_lines(each))
    yield "count", [count_words(claim)]
    beside = "none beside the dates of the edition" if claim.period else "none"
    none = [f"{beside}: the policy has no condition that a row must meet"]
    yield "filter", [filter_line(each) for each in claim.filter] or none
    yield "mechanism", _mechanism(certificate)
    yield "promise", _promise(certificate)
    yield "price", _price(found)
    yield "assuming", sentences_of(certificate.assumptions)
    yield "engine", [" ".join((certificate.engine, terms.engine_version)).strip()]
    yield "author says", (f"{name}: {quoted(text)}" for name, text in terms.said)
    yield "policy", [f"{named(terms.policy_name)}, {terms.policy_digest}"]
    yield "since last", _since_last(found)
    yield from _asked(found)


def _doubts(found: Presented, claim: Claim) -> Iterator[str]:
    """What names say against who is one person."""
    unit = claim.unit
    if isinstance(unit, People) and all(names_no_person(each.name) for each in unit.keys):
        yield "by its name this is no person's key"
    elif found.beside:
        told = f"{quoted(found.asker.name)}, who asks, states: by its name the column"
        yield f"{told} {named(found.beside)} of the source says whose row it is"


def _of_choice(found: Presented) -> Iterator[tuple[str, Iterable[str]]]:
    """Of a private choice: what the candidates are, and what one of them costs."""
    stated = choice_shown(found.shown)
    yield (
        "goes to",
        [f"{quoted(found.matter.of['target'])} (a policy without numbers from the source)"],
    )
    yield "source", [quoted(stated.source)]
    yield "edition", [stated.period.words] if stated.period else []
    yield "person", [named(stated.unit)]
    yield "candidates", (f"{named(name)}: {', '.join(told)}" for name, told in stated.parts)
    many = counted(stated.candidates, "candidate")
    score = found.shown["score"]
    yield (
        "mechanism",
        [f"one of {many} is drawn; a higher score is drawn more often; the score is: {score}"],
    )
    yield (
        "promise",
        [
            f"ε = {in_text(stated.epsilon)}, δ = 0 for one {named(stated.unit)}",
            _NOTIONS[stated.neighbours],
            *promise_sentences(stated.epsilon, Decimal(0), stated.neighbours, stated.unit),
        ],
    )
    yield "price", _price(found)
    yield "assuming", stated.assumptions
    yield "engine", [f"{stated.engine} {stated.engine_version}".strip()]
    yield "policy", [f"{named(stated.policy_name)}, {stated.policy_digest}"]
    yield "since last", _keys_since_last(found)
    yield from _asked(found)


def _keys_since_last(found: Presented) -> Iterator[str]:
    """Which facts differ from what was approved last of the same."""
    if not found.last:
        yield "no request for an earlier choice of this policy was approved"
        return
    every = sorted({*found.last, *found.shown})
    other = [name for name in every if found.last.get(name) != found.shown.get(name)]
    yield f"these facts differ: {', '.join(map(named, other))}" if other else "nothing differs"


def _mechanism(certificate: Certificate) -> Iterator[str]:
    claim, k = certificate.claim, certificate.k
    if not isinstance(certificate.promise, Bounded):
        yield f"suppression of raw classes: classes with fewer than {k} people are left out"
        return
    told = how(certificate)
    yield claim.law.mechanism.replace("-", " ")
    yield from (each.text for each in told.steps if each.name not in _OF_EVERY_CLAIM)
    yield from meaning_of(claim).lines()
    visible = Strength.of_certificate(certificate).visible
    for by, size in visible.items():
        yield f"{visible_words(size)}{f', by {by}' if by else ''}"
    for chances in told.chances:
        bars = "; ".join(f"{each.label}: {each.words}" for each in chances.bars)
        yield f"{chances.caption}: {bars}"
    yield f"drawn by {meaning_of(claim).randomness(certificate.engine)}"


def _promise(certificate: Certificate) -> Iterator[str]:
    promise = certificate.promise
    if not isinstance(promise, Bounded):
        attacks = still_works(certificate.k, certificate.terms.models)
        yield NO_GUARANTEE
        yield from (f"{name} still works: {why}" for name, why in attacks)
        return
    epsilon, delta = promise.epsilon, promise.delta
    yield f"ε = {in_text(epsilon)}, δ = {in_text(delta)} for one {named(certificate.unit)}"
    yield _NOTIONS[promise.neighbours]
    yield from promise_sentences(epsilon, delta, promise.neighbours, certificate.unit)
    if promise.sampled_at != 1:
        rate = f"{promise.sampled_at:f}"
        yield f"the source itself is a secret sample: each person is in it with probability {rate}"


def _price(found: Presented) -> Iterator[str]:
    of, account = found.matter.of, found.account
    name = quoted(of["account"])
    if "epsilon" in of:
        epsilon, delta = Decimal(of["epsilon"]), Decimal(of["delta"])
        yield f"ε {in_text(epsilon)}, δ {in_text(delta)}, paid by account {name}"
    else:
        yield f"already paid by account {name}"
    says = f"{quoted(found.asker.name)}, who asks, states: "
    if account.fits is False:
        yield f"{says}the account cannot pay this price"
    elif account.limit is not None and account.left is not None:
        limit, left = _limit(account.limit), account.left.words()
        yield f"{says}the account's limit is {limit}; left after this charge: {left}"
    elif account.fits:
        yield f"{says}the account has no limit"


def _limit(limit: Limit) -> str:
    """A limit and its windows; the column by which these are told apart is in quotes."""
    return str(replace(limit, of=limit.of and quoted(limit.of)))


def _since_last(found: Presented) -> Iterator[str]:
    """The difference from what was approved last of the same policy, key by key."""
    if not found.last:
        yield "no request for an earlier charge of this policy was approved"
        return
    try:
        old, new = (
            Comparable.of_certificate(certificate_shown(each)) for each in (found.last, found.shown)
        )
    except (ClaimError, VerificationFailed):
        yield "the last approved request for an earlier charge has another version: not compared"
        return
    every = changes(old, new)
    if not every:
        yield "nothing differs from the last approved request for an earlier charge"
    for change in every:
        yield from change_lines(change)


def change_lines(change: KeyChange) -> Iterator[str]:
    """A key that differs: its verdict, before, after, and the values that are shown otherwise."""
    yield f"{change.key}  ({verdict_words(change)})"
    yield f"  - {change.before}"
    yield f"  + {change.after}"
    yield from (f"      {line}" for line in moved_lines(change.map))


def verdict_words(change: KeyChange) -> str:
    """Whether the promise is weaker by a change, and why."""
    return VERDICTS[change.effect] + (f": {change.why}" if change.why else "")


def moved_lines(entries: tuple[Moved, ...]) -> Iterator[str]:
    """Which values are shown as what, before and after."""
    for each in entries[:_MOST_ENTRIES]:
        labels = ("NULL" if label is None else label for label in (each.before, each.after))
        yield f"{each.when}: {' → '.join(labels)}"
    if len(entries) > _MOST_ENTRIES:
        yield f"and {len(entries) - _MOST_ENTRIES} more"


def _asked(found: Presented) -> Iterator[tuple[str, Iterable[str]]]:
    """Who asks, and who is asked."""
    asker, policy = found.asker, found.policy
    yield (
        "asked by",
        [f"{quoted(asker.name)} ({named(asker.role)}), {found.said.predicate['time']}"],
    )
    own = policy.needs[found.matter.stage].items()
    lines = [f"{count} of {_people(policy, role)}" for role, count in own]
    if policy.four_eyes:
        lines.append("the person who asks cannot approve")
    lines.append(f"review policy {policy.serial}, {policy.digest}")
    yield "approvers", lines


def _people(policy: ReviewPolicy, role: str) -> str:
    names = (quoted(each.name) for each in policy.people if each.role == role)
    return f"{named(role)}: {', '.join(names)}"


# A change of a limit, or of the review policy


def _of_change(found: Presented) -> Iterator[tuple[str, Iterable[str]]]:
    yield "account", [quoted(found.matter.of["account"])]
    policy = found.new_policy
    if found.matter.name == ROWS:
        yield "left out", (f"row {row}, {digest}" for row, digest in found.shown["rows"].items())
        yield "meaning", ["from now on the ledger ignores these rows"]
    elif found.matter.name == PLAN:
        before = plan_words(found.last) if found.last else "none before"
        yield "plan", [before, f"→ {plan_words(found.shown)}"]
        yield (
            "meaning",
            ["from now on each window is for these editions; *rest* pays for all other releases"],
        )
    elif policy is None:
        before = _limit(limit_from_json(found.last)) if found.last else "none"
        yield "limit", [f"{before} → {_limit(limit_from_json(found.shown))}"]
    else:
        before_it = policy_in(found.last)
        told = [*policy_changes(before_it, policy)]
        yield "changes", told or ["only the serial number"]
        yield "people", (_person(each) for each in policy.people)
        needs = (f"{stage}: {_needs(own)}" for stage, own in policy.needs.items())
        yield "needed", (*needs, _terms(policy))
    yield from _asked(found)


def policy_changes(old: ReviewPolicy, new: ReviewPolicy) -> Iterator[str]:
    """What another review policy changes, in names: who is in, who is out, how many are needed.

    Names are names here, and none of a key: who has another key, or one less, is said so.
    """
    before, after = ({each.name: each for each in policy.people} for policy in (old, new))
    yield from (f"in: {_person(each)}" for name, each in after.items() if name not in before)
    yield from (f"out: {_person(each)}" for name, each in before.items() if name not in after)
    for name in (name for name in after if name in before):
        was, now = before[name], after[name]
        if was.role != now.role:
            yield f"{quoted(name)}: role {named(was.role)} → {named(now.role)}"
        if more := {*now.keys} - {*was.keys}:
            yield f"{quoted(name)}: {counted(len(more), 'more key')}"
        if gone := {*was.keys} - {*now.keys}:
            yield f"{quoted(name)}: {counted(len(gone), 'key')} less"
    for whose, key in ((each.name, key) for each in new.people for key in each.keys):
        owner = next((each.name for each in old.people if key in each.keys), whose)
        if owner != whose:
            yield f"a key of {quoted(owner)} is now a key of {quoted(whose)}"
    for stage, needs in new.needs.items():
        if dict(old.needs[stage]) != dict(needs):
            yield f"{stage}: {_needs(old.needs[stage])} → {_needs(needs)}"
    was_terms, now_terms = _terms(old), _terms(new)
    if was_terms != now_terms:
        yield f"{was_terms} → {now_terms}"


def _person(person: Approver) -> str:
    return f"{quoted(person.name)} ({named(person.role)}, {counted(len(person.keys), 'key')})"


def _needs(needs: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of role {named(role)}" for role, count in needs.items()) or "nobody"


def _terms(policy: ReviewPolicy) -> str:
    who = "the person who asks"
    eyes = f"{who} cannot approve" if policy.four_eyes else f"{who} can approve"
    until = f"nobody can approve after {policy.until:%Y-%m-%d}"
    return f"{eyes}; an approval counts {policy.lasts.days} days; {until}"
