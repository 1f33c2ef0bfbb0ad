"""hierarchy: levels that are proposed for columns, and hierarchies that are checked and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from json import dumps
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from policy_engine.choose.candidates import Candidates
from policy_engine.choose.proposing import COUNTRIES, drawn, faults, proposed
from policy_engine.choose.regions import countries
from policy_engine.cli.output import confirm, emit
from policy_engine.cli.reading import check_free, read_levels, written_whole
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen

_NAMED = "countries"


@frozen
class LevelsSaid:
    """A released column: the levels that the policy has of it, and what is proposed."""

    column: str
    levels: tuple[object, ...]
    proposed: object


@frozen
class HierarchySaid:
    """A hierarchy's file: how many labels each level has, and why it is none."""

    values: int
    labels: tuple[int, ...]
    faults: tuple[str, ...]


def hierarchy(
    subject: Annotated[
        Path,
        Argument(
            help="A policy, the CSV file of a hierarchy, or the word countries.", readable=False
        ),
    ],
    output: Annotated[
        Path | None, Option("--output", "-o", help="For countries: the file to write.")
    ] = None,
) -> None:
    """Propose levels for the columns of a policy, check a hierarchy, or write a hierarchy of
    countries.

    If you name a policy, the output lists the levels of each released column, the finest level
    first. 'policy-engine search' chooses among these levels. The output also proposes levels that
    fit the name and the type of a column. Examples are ages by five and ten years, money by
    thousands, dates by months, quarters and years, and codes by their first characters. No row is
    read.

    If you name a CSV file with a hierarchy, the command checks that each label belongs to exactly
    one label of the level above. Then it draws the tree. If you write the word countries, the
    command writes a hierarchy of ISO 3166-1 codes in the regions of the United Nations.

    Example: policy-engine hierarchy policies/adult_hierarchies/policy.yaml
    """
    if str(subject) == _NAMED:
        _write_countries(output or Path(COUNTRIES))
    elif subject.suffix.lower() in (".yaml", ".yml"):
        _propose(subject)
    else:
        _check(subject)


def _write_countries(output: Path) -> None:
    check_free(output, replace=False)
    rows = countries()
    with written_whole(output) as aside:
        aside.write_text("".join(f"{';'.join(row)}\n" for row in rows), encoding="utf-8")
    told = f"wrote {output}: {len(rows)} countries by code, part of a continent, continent"
    confirm({"written": output, "values": len(rows)}, [told])


def _propose(file: Path) -> None:
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.planning import open_warehouse, project_of

    policy = load_policy(file, unpromised=True)
    candidates = Candidates.of(policy)
    with closing(open_warehouse(policy, project_of(policy), writes=False)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
    written, said = candidates.written, []
    for each in candidates.columns:
        levels = tuple(each.at(level, written[each.column]) for level in range(each.height + 1))
        column = table.find(each.column)
        suggestion = "keep" if column is None else proposed(column).recoding
        said.append(LevelsSaid(each.column, levels, suggestion))
    emit({"columns": said}, [*_lines(said)])


def _lines(said: list[LevelsSaid]) -> Iterator[str]:
    for each in said:
        yield each.column
        for level, recoding in enumerate(each.levels):
            yield f"  {level}  {_text(recoding)}"
        if each.proposed not in ("keep", each.levels[min(1, len(each.levels) - 1)]):
            yield f"  proposed: {_text(each.proposed)}"


def _text(recoding: object) -> str:
    return recoding if isinstance(recoding, str) else dumps(recoding, default=str)


def _check(file: Path) -> None:
    rows = read_levels(file).rows
    labels = tuple(len({row[level] for row in rows}) for level in range(1, len(rows[0])))
    wrong = faults(rows)
    levels = ", ".join(f"level {n}: {counted(many, 'label')}" for n, many in enumerate(labels, 1))
    head = f"{file}: {counted(len(rows), 'value')}; {levels}"
    emit(HierarchySaid(len(rows), labels, wrong), [head, *wrong, *(() if wrong else drawn(rows))])
    if wrong:
        raise Exit(1)
