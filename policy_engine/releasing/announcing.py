"""What should be known of a release before it is charged: for a dry run and for the release itself.

That it is a new one though there was one before, and why; that another account pays; that it is
charged to what a plan leaves. Nothing here looks at a source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from policy_engine.accounting.in_words import in_text
from policy_engine.kernel.claim import to_json
from policy_engine.ledger.account import Account
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.policy.auto import Guarantee
from policy_engine.policy.following import NO_COST, digest_with, of_one_name, without_policy
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.charging import ReleasePlan
from policy_engine.releasing.editions import entries_of
from policy_engine.releasing.standing import is_nothing_here


def announced(
    plan: ReleasePlan, charge: Charge, account: Account, known: Books, *, revise: bool
) -> Iterator[str]:
    """The sentences of a charge that an account would pay, as a ledger has it now.

    ``account`` is under its limit and its plan.
    """
    policy = plan.policy
    entries = list(entries_of(policy, known))
    if own := _own(policy, entries):
        yield _anew(plan, own[-1], account, revise=revise)
    elif entries and entries[-1].policy_digest != policy.digest:
        last = entries[-1]
        before = f"edition {last.run.edition} (entry {last.id})"
        by = f"has changed since {before}: {policy.edition.name} is by its new text"
        if numbers := other_numbers(policy, last, account):
            by = f"is as it was at {before}, and {numbers}: {policy.edition.name} is by these"
        yield f"{policy.name} {by}, and the other editions stay as they are{_twice(plan)}"
    elif not entries and (renamed := _renamed(plan, known)):
        yield renamed
    if entries and entries[-1].account != account.name:
        yield _another_account(policy, entries[-1], account)
    if why := account.why_of_the_rest(charge):
        window = f" of {charge.windows[0]}" if charge.windows[0] else ""
        yield (
            f"{policy.name} is planned, and this release takes no slot of the plan: {why}; it is"
            f" charged to the rest{window}"
        )


def why_anew(plan: ReleasePlan, known: Books, *, revise: bool) -> tuple[str, ...]:
    """What a release that stands in the way is told with: why another one is asked for."""
    entries = list(entries_of(plan.policy, known))
    if not entries:
        return tuple(filter(None, [_renamed(plan, known)]))
    own = _own(plan.policy, entries)
    account = known.budget.account(plan.account)
    return (_again(plan, own[-1], account, revise=revise),) if own else ()


def _renamed(plan: ReleasePlan, known: Books) -> str:
    """That a policy without an entry may be one that was renamed; empty where nothing says so.

    What stands in its place is another's; or one whose name no file has now has released just this.
    """
    policy, ends, source = plan.policy, plan.ends, plan.policy.source.text
    claim = to_json(plan.certificate.claim)
    place = (ends.path is not None, ends.name, ends.edition)
    told = before = ""
    for entry in (each for each in known.budget.entries() if each.state != "cancelled"):
        run, name = entry.run, entry.policy_name
        if (run.is_file, run.target, run.appended) == place:
            told = f"the last release of {ends.told} is of policy {name!r} (entry {entry.id})"
            before = name
        elif (
            (run.predicate.get("source"), run.predicate.get("claim")) == (source, claim)
            and name != before
            and without_policy(plan.project, [name])
        ):
            gone = f"policy {name!r}, which no file has now"
            told, before = f"{gone}, has released just this (entry {entry.id})", name
    if not told:
        return ""
    return (
        f"{told}, and this one is called {policy.name!r}: by another name it is a new release."
        f" If it was renamed, write name: {before} again: {NO_COST}"
    )


def other_numbers(policy: Policy, last: Entry, account: Account) -> str:
    """What the account gives a policy whose text is that of an entry; empty where it is not proven.

    The digest proves it: with the event of the entry, and a δ that the account had, it is the same.
    """
    follows, event = policy.follows, last.asked.event
    if follows is None or last.is_unbounded:
        return ""
    for delta in sorted(_deltas_of(account)):
        had = Guarantee(last.epsilon, delta, last.neighbours)
        if digest_with(policy, had, event) == last.policy_digest:
            now = policy.guarantee
            return (
                f"account {follows.account!r} gives it ε {in_text(now.epsilon)},"
                f" δ {in_text(now.delta)} now, where it was ε {in_text(had.epsilon)},"
                f" δ {in_text(delta)}"
            )
    return ""


def _deltas_of(account: Account) -> set[Decimal]:
    """The δ of each limit by which anything was charged, and of each plan."""
    windows, limit = account.windows, account.limit
    deltas = {delta for each in windows for _, delta in each.limits}
    deltas |= {delta for _, delta in account.limits}
    deltas |= {each.planned.at for each in windows if each.planned is not None}
    return deltas if limit is None else deltas | {limit.delta}


def _own(policy: Policy, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries of the edition that is asked for; of a policy without a calendar all."""
    if not policy.edition.zone:
        return entries
    return [entry for entry in entries if entry.run.edition == policy.edition.name]


def _anew(plan: ReleasePlan, last: Entry, account: Account, *, revise: bool) -> str:
    """That this is a new release of what was released before, why, and its price."""
    policy, certificate = plan.policy, plan.certificate
    price = (
        f"at the price of ε {in_text(certificate.promise.epsilon)},"
        f" δ {in_text(certificate.promise.delta)} (unit: {certificate.unit})"
    )
    if policy.is_unpromised:
        price = "and what is learnt from both together nothing limits"
    free = ""
    if revise and not policy.edition.is_revision and _goes_on(plan, last):
        kept = "" if last.only_digest is None else ", while its bytes are kept"
        free = f". The same command without --revise finishes entry {last.id}, at no cost{kept}"
    return f"{_again(plan, last, account, revise=revise)}: this is a new release, {price}{free}"


def _goes_on(plan: ReleasePlan, last: Entry) -> bool:
    """Whether what was begun, and does not stand, is just this, and can be finished."""
    is_same = last.policy_digest == plan.policy.digest and last.request == plan.place
    if not is_same or is_nothing_here(last) or last.state == "committed":
        return False
    return last.only_digest is not None or (last.can_draw and last.run.of == plan.of)


def _again(plan: ReleasePlan, last: Entry, account: Account, *, revise: bool) -> str:
    """That there was a release before, and why another one is asked for."""
    policy = plan.policy
    drawn = "sample" if policy.noise is None else "draw of the noise"
    why = f"a new {drawn} is asked for"
    if last.policy_digest != policy.digest:
        why = other_numbers(policy, last, account) or f"the policy has changed{_twice(plan)}"
    elif last.run.edition != policy.edition.name:
        why = f"another edition is asked for, {policy.edition.name}"
    elif policy.edition.is_revision:
        why = "its calendar draws it anew now"
    elif not revise:
        why = "what is printed for it has changed: the source's columns, or the templates"
    before = "was released before" if last.state == "committed" else "was begun before"
    state = "" if last.state == "committed" else f", {last.state}"
    edition = f", edition {policy.edition.name}," if policy.edition.zone else ""
    return f"{policy.name}{edition} {before} (entry {last.id}{state}), and {why}"


def _twice(plan: ReleasePlan) -> str:
    """That another file has the policy's name, which may be what has changed."""
    told = of_one_name(plan.policy, plan.project)
    return f" ({told})" if told else ""


def _another_account(policy: Policy, last: Entry, account: Account) -> str:
    """That the releases of a policy were charged to another account until now."""
    without = "" if account.limit is not None else ", which has no limit"
    return (
        f"{policy.name} was charged to account {last.account!r} until now (entry {last.id}); this"
        f" release is charged to account {account.name!r}{without}"
    )
