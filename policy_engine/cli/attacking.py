"""attack: what the attacks of the literature learn from a published table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.measuring import PublishedOption, QuasiOption, names_in
from policy_engine.cli.output import Format, FormatOption, emit
from policy_engine.cli.progress import progress
from policy_engine.errors import UsageError
from policy_engine.policy.escapes import escaped

if TYPE_CHECKING:
    from policy_engine.attack.attacks import Attempt

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
        typer.Argument(help="A release's Parquet file, or a public table.", readable=False),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The column that is to be learnt of a person.")
    ] = None,
    quasi: QuasiOption = None,
    count: Annotated[
        str | None, typer.Option(help="Of a table that is no release: the column of its counts.")
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option("--with", help="Another publication of the same people; or a graph of names."),
    ] = None,
    knowing: Annotated[
        Path | None,
        typer.Option(help="A file of people, with the columns that are known of a person."),
    ] = None,
    hierarchy: Annotated[
        Path | None,
        typer.Option(help="The sensitive column's hierarchy: its first level says what is alike."),
    ] = None,
    size_limit: Annotated[
        int | None,
        typer.Option(help="The table is not seen: a desk answers counts of so many and more."),
    ] = None,
    edges: Annotated[
        str | None,
        typer.Option(help="FROM,TO: the table is a graph without names, of these two columns."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="Try membership on releases of a policy, of invented people."),
    ] = None,
    runs: Annotated[
        int, typer.Option(help="With --policy: releases of each invented table.")
    ] = _RUNS,
    published: PublishedOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Attack a release, or a public table: what each attack needed and learnt, and what stops it.

    Homogeneity, background knowledge and skewness need the table alone, similarity a hierarchy,
    linkage a file of people, differencing and unsorted matching another publication, trackers a
    size limit and a file of people, seed and propagate a graph of names and a file of accounts. Of
    a release the counts are weights, and what bounds every attack on it is said; with --policy it
    is measured too. A release of several groupings (marginals) is not attacked.

    Example: policy-engine attack out/adult.parquet --sensitive income
    """
    from policy_engine.attack.published import Adversary, attack_edges
    from policy_engine.attack.published import attack as run
    from policy_engine.cli.reading import read_levels

    if (sensitive is None) is (edges is None) if release else policy is None:
        raise UsageError(
            "name a release and --sensitive, the column that is to be learnt, or --edges; or a"
            " --policy"
        )
    kinds = None if hierarchy is None else dict(read_levels(hierarchy).table(1))
    has = Adversary(other, knowing, kinds, size_limit)
    found: tuple[Attempt, ...] = ()
    if release is not None and sensitive is not None:
        names = names_in(quasi)
        found = run(release, sensitive, names, has, count=count, is_published=published)
    elif release is not None:
        found = attack_edges(release, names_in(edges), has, is_published=published)
    if policy is not None:
        found = (*found, _by_runs(policy, runs))
    is_confidential = knowing is not None and not published
    marks = [CONFIDENTIAL] if is_confidential else []
    document = _document(release, found, is_confidential=is_confidential)
    emit(document, [*marks, *_lines(found)], format)


def _by_runs(policy: Path, runs: int) -> Attempt:
    from policy_engine.attack.guessing import membership_by_runs

    with progress(f"guessing of {policy.name}") as seen:
        return membership_by_runs(
            policy, runs, tick=lambda n, of: seen.reached(n / of, f"{n:,} of {of:,} runs")
        )


def _document(
    release: Path | None, found: Sequence[Attempt], *, is_confidential: bool
) -> dict[str, Any]:
    return {
        "release": None if release is None else str(release),
        "confidential": is_confidential,
        "attacks": [
            {
                "attack": each.name,
                "needed": each.needed,
                "people": each.victims,
                "learned": list(each.learned),
                "bound": each.bound or None,
                "measured": each.measured or None,
                "remedy": each.remedy,
            }
            for each in found
        ],
        "note": NO_PROOF,
    }


def _lines(found: Sequence[Attempt]) -> Iterator[str]:
    # What was drawn or has noise may be so by chance: who reads it guesses.
    verb = "guesses" if any(each.bound for each in found) else "learns"
    for each in found:
        people = "1 person" if each.victims == 1 else f"{each.victims:,} people"
        told = f"{verb} of {people}" if each.learned else "learns nothing"
        yield escaped(f"{each.name}: {each.bound or told}")
        yield escaped(f"  it needed  {each.needed}")
        for line in each.learned[:_SHOWN]:
            yield escaped(f"  it learnt  {line}")
        if (more := len(each.learned) - _SHOWN) > 0:
            yield f"             and {more:,} more"
        if each.measured:
            yield escaped(f"  measured   {each.measured}")
        if each.learned:
            yield escaped(f"  remedy     {each.remedy}")
    yield NO_PROOF
