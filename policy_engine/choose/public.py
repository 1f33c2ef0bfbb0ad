"""A search of a table that is public, or synthetic: everything of it may be looked at.

The score of a scheme is Σ max(0, people − c₀) · precision over its groups, where c₀ is the size
that the policy's mechanism shows half of the time: what is shown, times how much that tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from policy_engine.accounting.in_words import in_text
from policy_engine.choose.boxes import SchemeQuestion, SchemesSeen, look
from policy_engine.choose.candidates import Candidates
from policy_engine.choose.lattice import Histogram, Integers, Lattice, Scheme, cells_of
from policy_engine.choose.searching import (
    Anonymity,
    BestScore,
    Everything,
    Frontier,
    IsAnonymous,
    Objective,
    SchemeSearch,
    best_of,
    datafly,
    incognito,
    k_minimal,
    mondrian,
    optimal,
    samarati,
    values_of,
)
from policy_engine.errors import UsageError
from policy_engine.policy.auto import NoSolution
from policy_engine.policy.models import GuaranteeSpec
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.releasing.charging import planned
from policy_engine.values import frozen

MOST_LISTED = 1_000
_MOST_EPSILON = 100
LOCAL = (
    "local recoding: where its cuts are tells of the people, so that it is no recode fixed before"
    " the data is looked at (Li, Qardaji, Su 2012), and no certificate is made of it"
)


@frozen
class SchemeSaid:
    """A scheme: the level of each column, and what it makes of the people.

    ``shown`` are in a group that is as large as is shown half of the time, ``suppressed`` in one of
    fewer than k, where a k is asked for.
    """

    levels: dict[str, int]
    precision: float
    shown: int
    suppressed: int | None = None


@frozen
class ByMethod:
    """What a search by a method of the literature ends with: schemes, and how many it looked at."""

    method: str
    schemes: tuple[SchemeSaid, ...]
    many: int
    looks: int | None = None


@frozen
class FrontierSaid:
    """The frontier under another ε: ``least_shown`` people are a group that is shown half the time.

    The people of its schemes are those in groups that are as large.
    """

    epsilon: Decimal
    delta: Decimal
    least_shown: int
    schemes: tuple[SchemeSaid, ...]


@frozen
class PublicSearch:
    """What is found over a public table; ``recode`` is how the best scheme is written.

    ``levels`` are what the numbers in its schemes are called, by column.

    ``frontier`` has for each number of people that is shown the scheme of the greatest precision
    that shows so many, of those that no other beats in both; ``frontiers`` are those of other ε.
    """

    people: int
    groups: int
    candidates: int
    least_shown: int
    objective: str
    best: SchemeSaid
    recode: dict[str, object]
    levels: dict[str, dict[int, str]]
    found: tuple[ByMethod, ...]
    mondrian: int | None
    frontier: tuple[SchemeSaid, ...]
    frontiers: tuple[FrontierSaid, ...] = ()


def least_shown(policy: Policy) -> int:
    """c₀: from how many people on a group of a release is shown half of the time; public."""
    return max(policy.protection.visible(policy).values(), default=1)


@frozen(eq=False)
class _Table:
    """A histogram, what was seen of its schemes, and by what they are told."""

    histogram: Histogram
    seen: SchemesSeen
    least: int
    model: Anonymity | None

    def said(self, scheme: Scheme) -> SchemeSaid:
        seen, lattice = self.seen, self.seen.lattice
        place = lattice.place(scheme)
        if seen.people[self.least][place] < 0:  # only what it follows from was looked at
            seen.note(place, cells_of(self.histogram, lattice, scheme).people.astype(np.float64))
        suppressed = None
        if self.model is not None:
            suppressed = self.histogram.total - int(seen.people[self.model.k][place])
        return SchemeSaid(
            {ladder.column: level for ladder, level in zip(lattice.ladders, scheme, strict=True)},
            round(float(lattice.precision(scheme)), 4),
            int(seen.people[self.least][place]),
            suppressed,
        )

    @property
    def frontier(self) -> tuple[SchemeSaid, ...]:
        """The schemes that no other beats in people and precision."""
        schemes = frontier_of(self.seen.people[self.least], self.seen.lattice)
        return tuple(self.said(scheme) for scheme in schemes)

    def found(self, method: str, schemes: tuple[Scheme, ...], looks: int) -> ByMethod:
        listed = tuple(self.said(scheme) for scheme in schemes[:MOST_LISTED])
        return ByMethod(method, listed, len(schemes), looks)


def search_public(
    policy: Policy,
    project: Project,
    *,
    objective: Objective = Objective.score,
    k: int | None = None,
    share: Fraction = Fraction(0),
    epsilons: Sequence[Decimal] = (),
) -> PublicSearch:
    """Every scheme of a policy's lattice, over a table that is public by the caller's word.

    With a ``k`` the searches of the literature look for schemes of which at most a ``share`` of the
    people is in groups of fewer than k; the best is one of these then. Of other ``epsilons``, with
    the policy's δ, there is the frontier.

    Raises UsageError where no scheme has it, the table has nobody, or the policy has no ε; else as
    ``planned``, of the policy with each ε too.
    """
    candidates = Candidates.of(policy)
    if candidates.most:
        raise UsageError(
            f"{policy.name}: search --public is of one row a person, and privacy_unit.rows is all:"
            " leave --public out, or write rows: any in a copy of the policy"
        )
    with planned(policy, project) as plan:
        others = [plan.with_numbers(_at(candidates, each)).policy for each in epsilons]
        query = candidates.query(plan.table, plan.warehouse)
        histogram, lattice = candidates.people(query, plan.table, plan.warehouse, named=True)
    if not histogram.total:
        raise UsageError(f"{policy.name}: the source has nobody, so that all schemes are alike")
    least = least_shown(policy)
    model, wanted = (None, least) if k is None else (Anonymity(k, share), k)
    frontiers = {least, *(least_shown(each) for each in others)}
    seen = SchemesSeen(lattice, {*frontiers, wanted})
    anonymous = None if model is None else IsAnonymous(seen, model, histogram.total)
    questions: list[SchemeQuestion] = [] if anonymous is None else [anonymous]
    if objective is Objective.score:
        questions.append(BestScore(seen, wanted, anonymous))
    elif objective in {Objective.discernibility, Objective.classes}:
        questions.append(Everything(lattice))
    look(histogram, lattice, seen, [*questions, *(Frontier(seen, each) for each in frontiers)])
    table = _Table(histogram, seen, least, model)
    allowed, found, parts = np.ones(lattice.shape, dtype=bool), [], None
    if model is not None and anonymous is not None:
        allowed = anonymous.holds
        found = [*_by_methods(table, SchemeSearch(histogram, lattice, model, allowed))]
        parts = len(mondrian(histogram, lattice, model.k))
    values = values_of(histogram, seen, objective, wanted, allowed)
    best = best_of(values, allowed, lattice)
    if best is None:
        raise UsageError(
            f"{policy.name}: no scheme leaves at most {float(share):.0%} of the people in groups of"
            f" fewer than {k}: there are {histogram.total}; ask for a smaller --k, or more"
            " --suppress"
        )
    return PublicSearch(
        histogram.total, len(histogram.people), lattice.size, least, objective.value,
        table.said(best), candidates.recode(best), candidates.called, tuple(found), parts,
        table.frontier, tuple(_frontier_at(table, each) for each in others),
    )  # fmt: skip


def _at(candidates: Candidates, epsilon: Decimal) -> Policy:
    """The policy with another ε, and all that follows from it."""
    policy, read = candidates.policy, candidates.read
    if policy.is_unpromised:
        raise UsageError(f"{policy.name}: --epsilon is of a policy with a guarantee: write one")
    if not (epsilon.is_finite() and 0 < epsilon <= _MOST_EPSILON):
        raise UsageError(
            f"--epsilon must be above 0, and at most {_MOST_EPSILON}, found {epsilon:f}"
        )
    own = policy.guarantee
    said = {"epsilon": epsilon, "delta": own.delta, "neighbours": own.neighbours}
    document = read.document.model_copy(update={"guarantee": GuaranteeSpec.model_validate(said)})
    try:
        return resolve(document, read.hierarchies, read.file, read.directory)
    except NoSolution as error:
        raise UsageError(f"{policy.name}: ε {in_text(epsilon)} cannot be met: {error}") from None


def _frontier_at(table: _Table, policy: Policy) -> FrontierSaid:
    own = replace(table, least=least_shown(policy))
    epsilon, delta = policy.guarantee.epsilon, policy.guarantee.delta
    return FrontierSaid(epsilon, delta, own.least, own.frontier)


def _by_methods(table: _Table, settled: SchemeSearch) -> Iterator[ByMethod]:
    looked = settled.anew()
    best = optimal(looked)
    yield table.found("optimal", () if best is None else (best,), looked.looks)
    looked = settled.anew()
    yield table.found("samarati", samarati(looked), looked.looks)
    looked = settled.anew()
    yield table.found("k-minimal", k_minimal(looked), looked.looks)
    looked = settled.anew()
    yield table.found("incognito", incognito(looked), looked.looks)
    looked = settled.anew()
    flown = datafly(looked)
    yield table.found("datafly", () if flown is None else (flown,), looked.looks)


def frontier_of(shown: Integers, lattice: Lattice) -> tuple[Scheme, ...]:
    """The schemes that no other beats: of more people, or more precision, and not less of either.

    The most precise first; −1 people are shown where nobody looked.
    """
    people = shown.ravel()
    order = np.lexsort((-people, -lattice.precisions[0].ravel()))
    most = np.maximum.accumulate(np.append(-1, people[order]))
    kept = order[people[order] > most[:-1]]
    places = np.stack(np.unravel_index(kept, lattice.shape), axis=1)
    return tuple(lattice.scheme_at(place) for place in places.tolist())
