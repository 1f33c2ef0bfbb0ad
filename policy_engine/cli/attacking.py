"""attack: what the attacks of the literature learn from a published table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.measuring import names_in
from policy_engine.cli.output import Format, FormatOption, emit
from policy_engine.policy.escapes import escaped

if TYPE_CHECKING:
    from policy_engine.attack.attacks import Attempt

_SHOWN = 3
CONFIDENTIAL = "confidential: it tells of the people of the file that --knowing names"
NO_PROOF = (
    "an attack that learns nothing proves nothing; what holds of every attack is (ε, δ) of a"
    " certificate, which does not hide what is true of many"
)


def attack(
    release: Annotated[
        Path, typer.Argument(help="A release's Parquet file, or a public table.", readable=False)
    ],
    sensitive: Annotated[str, typer.Option(help="The column that is to be learnt of a person.")],
    quasi: Annotated[
        str | None,
        typer.Option(help="The columns that are known of a person; default: all others."),
    ] = None,
    other: Annotated[
        Path | None, typer.Option("--with", help="Another publication of the same people.")
    ] = None,
    knowing: Annotated[
        Path | None,
        typer.Option(help="A file of people, with the columns that are known of a person."),
    ] = None,
    hierarchy: Annotated[
        Path | None,
        typer.Option(help="The sensitive column's hierarchy: its first level says what is alike."),
    ] = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="It is no release of ours, and public by your word."),
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Attack a release, or a public table: what each attack needed and learnt, and what stops it.

    Homogeneity, background knowledge and skewness need the table alone, similarity a hierarchy,
    linkage a file of people, differencing and unsorted matching another publication. Of a release
    the counts are weights, and what bounds every attack on it is said.

    Example: policy-engine attack out/adult.parquet --sensitive income
    """
    from policy_engine.attack.published import attack as run
    from policy_engine.cli.reading import read_levels

    names = names_in(quasi)
    kinds = None if hierarchy is None else dict(read_levels(hierarchy).table(1))
    found = run(release, sensitive, names, other, knowing, kinds=kinds, is_published=published)
    document = {
        "release": str(release),
        "confidential": knowing is not None and not published,
        "attacks": [
            {
                "attack": each.name,
                "needed": each.needed,
                "people": each.victims,
                "learned": list(each.learned),
                "bound": each.bound or None,
                "remedy": each.remedy,
            }
            for each in found
        ],
        "note": NO_PROOF,
    }
    marks = [CONFIDENTIAL] if document["confidential"] else []
    emit(document, [*marks, *_lines(found)], format)


def _lines(found: Sequence[Attempt]) -> Iterator[str]:
    for each in found:
        people = "1 person" if each.victims == 1 else f"{each.victims:,} people"
        told = f"learns of {people}" if each.learned else "learns nothing"
        yield escaped(f"{each.name}: {each.bound or told}")
        yield escaped(f"  it needed  {each.needed}")
        for line in each.learned[:_SHOWN]:
            yield escaped(f"  it learnt  {line}")
        if (more := len(each.learned) - _SHOWN) > 0:
            yield f"             and {more:,} more"
        if each.learned:
            yield escaped(f"  remedy     {each.remedy}")
    yield NO_PROOF
