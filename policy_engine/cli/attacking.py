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
        Path | None,
        Argument(help="The Parquet file of a release, or a public table.", readable=False),
    ] = None,
    sensitive: Annotated[
        str | None, Option(help="The column that the attacker wants to learn about a person.")
    ] = None,
    quasi: QuasiOption = None,
    count: Annotated[
        str | None, Option(help="The column of counts, if the table is not a release.")
    ] = None,
    other: Annotated[
        Path | None,
        Option(
            "--with",
            help="Another publication about the same people. With --edges: a graph of names.",
        ),
    ] = None,
    knowing: Annotated[
        Path | None,
        Option(help="A file of people, with the columns that the attacker knows about them."),
    ] = None,
    hierarchy: Annotated[
        Path | None,
        Option(
            help="The hierarchy of the sensitive column. Two values are similar if the "
            "first level of this hierarchy gives them the same label."
        ),
    ] = None,
    size_limit: Annotated[
        int | None,
        Option(
            help="The table is not published, but somebody answers how many of its "
            "people have certain values. An answer below this number is refused."
        ),
    ] = None,
    edges: Annotated[
        str | None,
        Option(
            help="FROM,TO: the table is a graph without names, and these two columns are its edges."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        Option(
            help="Measure how often an attacker guesses right who is in the data. For "
            "this, the command makes releases of invented people by this policy."
        ),
    ] = None,
    runs: Annotated[
        int, Option(help="With --policy: the number of releases of each invented table.")
    ] = _RUNS,
    published: PublishedOption = False,
    suppressed: SuppressedOption = None,
) -> None:
    """Run known attacks on a release or a public table. Show what each attack needed and learnt,
    and what stops it.

    The attacks by best guess, homogeneity, background knowledge and skewness need only the table.
    Similarity needs --hierarchy. Linkage needs a file of people (--knowing). Differencing and
    unsorted matching need another publication (--with). The tracker attack needs --size-limit and
    --knowing.

    The attack "seed and propagate" needs --edges and two files. --with is a graph with names.
    --knowing lists accounts that the attacker planted, or accounts whose node in the table the
    attacker knows.

    For a release, the output also shows a bound on every attack. An attacker begins with even odds,
    and guesses whether a person is in the data. The bound says how often, at most, such a guess is
    right. With --with, it is for both releases together. With --policy, the command also measures
    how often a real attack guesses right.

    You cannot attack a release with several groupings (marginals).

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
