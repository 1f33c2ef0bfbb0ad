"""attack: what the attacks of the literature learn from a published table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from policy_engine.attack import published as attacks
from policy_engine.attack.attacks import Attempt
from policy_engine.cli.options import PublishedOption, QuasiOption, SuppressedOption
from policy_engine.cli.output import emit
from policy_engine.cli.progress import progress
from policy_engine.cli.reading import names_in, read_levels
from policy_engine.errors import UsageError
from policy_engine.values import frozen

_SHOWN = 3
_RUNS = 600
CONFIDENTIAL = "confidential: it tells of the people of the file that --knowing names"
NO_PROOF = (
    "an attack that learns nothing proves nothing; what holds of every attack is (ε, δ) of a"
    " certificate, which does not hide what is true of many"
)


def attack(
    release: Annotated[
        Path | None, Argument(help="A release's Parquet file, or a public table.", readable=False)
    ] = None,
    sensitive: Annotated[
        str | None, Option(help="The column that is to be learnt of a person.")
    ] = None,
    quasi: QuasiOption = None,
    count: Annotated[
        str | None, Option(help="Of a table that is no release: the column of its counts.")
    ] = None,
    other: Annotated[
        Path | None,
        Option("--with", help="Another publication of the same people; or a graph of names."),
    ] = None,
    knowing: Annotated[
        Path | None, Option(help="A file of people, with the columns that are known of a person.")
    ] = None,
    hierarchy: Annotated[
        Path | None,
        Option(help="The sensitive column's hierarchy: its first level says what is alike."),
    ] = None,
    size_limit: Annotated[
        int | None,
        Option(help="The table is not seen: a desk answers counts of so many and more."),
    ] = None,
    edges: Annotated[
        str | None,
        Option(help="FROM,TO: the table is a graph without names, of these two columns."),
    ] = None,
    policy: Annotated[
        Path | None, Option(help="Try membership on releases of a policy, of invented people.")
    ] = None,
    runs: Annotated[int, Option(help="With --policy: releases of each invented table.")] = _RUNS,
    published: PublishedOption = False,
    suppressed: SuppressedOption = None,
) -> None:
    """Attack a release, or a public table: what each attack needed and learnt, and what stops it.

    Four attacks need the table alone: best guess, homogeneity, background knowledge and skewness.
    Similarity needs a hierarchy, and linkage a file of people. Differencing and unsorted matching
    need another publication. Trackers need a size limit and a file of people. Seed and propagate
    need a graph of names and a file of accounts.

    The counts of a release are taken as weights. The output says what bounds every attack on it,
    and what bounds all attacks on two releases together. With --policy the bound is measured too. A
    release of several groupings (marginals) is not attacked.

    Example: policy-engine attack out/adult.parquet --sensitive income
    """
    if (sensitive is None) is (edges is None) if release else policy is None:
        raise UsageError(
            "name a release and --sensitive, the column that is to be learnt, or --edges; or a"
            " --policy"
        )
    kinds = None if hierarchy is None else dict(read_levels(hierarchy).table(1))
    has = attacks.Adversary(other, knowing, kinds, size_limit, suppressed)
    found: tuple[Attempt, ...] = ()
    if release is not None and sensitive is not None:
        names = names_in(quasi)
        found = attacks.attack(release, sensitive, names, has, count=count, is_published=published)
    elif release is not None:
        found = attacks.attack_edges(release, names_in(edges), has, is_published=published)
    if policy is not None:
        from policy_engine.attack.guessing import membership_by_runs

        with progress(f"guessing of {policy.name}") as seen:
            found = (*found, membership_by_runs(policy, runs, tick=seen.counted))
    is_confidential = knowing is not None and not published
    emit(
        AttacksSaid(release, is_confidential, tuple(map(_said, found))),
        [*([CONFIDENTIAL] if is_confidential else []), *_lines(found)],
    )


@frozen
class AttackSaid:
    """An attack: what it took, of how many ``people`` it learnt what, and what stops it."""

    attack: str
    needed: str
    people: int
    learned: tuple[str, ...]
    bound: str | None
    measured: str | None
    nothing: str | None
    remedy: str


@frozen
class AttacksSaid:
    """The attacks on a table, and what they do not prove."""

    release: Path | None
    confidential: bool
    attacks: tuple[AttackSaid, ...]
    note: str = NO_PROOF


def _said(found: Attempt) -> AttackSaid:
    return AttackSaid(
        attack=found.name,
        needed=found.needed,
        people=found.victims,
        learned=found.learned,
        bound=found.bound or None,
        measured=found.measured or None,
        nothing=None if found.learned else found.nothing or None,
        remedy=found.remedy,
    )


def _lines(found: Sequence[Attempt]) -> Iterator[str]:
    # What was drawn or has noise may be so by chance: who reads it guesses.
    verb = "guesses" if any(each.bound for each in found) else "learns"
    for each in found:
        people = "1 person" if each.victims == 1 else f"{each.victims:,} people"
        does = "guesses" if each.is_guess else verb
        told = f"{does} of {people}" if each.learned else each.nothing or "learns nothing"
        yield f"{each.name}: {each.bound or told}"
        yield f"  it needed  {each.needed}"
        yield from (f"  it learnt  {line}" for line in each.learned[:_SHOWN])
        if (more := len(each.learned) - _SHOWN) > 0:
            yield f"             and {more:,} more"
        if each.measured:
            yield f"  measured   {each.measured}"
        if each.learned:
            yield f"  remedy     {each.remedy}"
    yield NO_PROOF
