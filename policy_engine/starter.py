"""A starter policy and project file, from a source's schema and never from its values."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from policy_engine.compile.catalog import NUMBERS, TIMES, Column, Kind
from policy_engine.errors import FileError
from policy_engine.policy.project import find_project
from policy_engine.policy.resolve import Source

_PROJECT = """\
# Found upwards from the working directory. Paths are relative to this file.
# An account is what one group of people can lose in total; a release about them pays into it.
accounts:
  people: {epsilon: 1.0, delta: 1.0e-6}
"""

_POLICY = """\
version: 1
name: {name}
description: Say what is released, and for whom
source:
  path: {source}
  unit: row                # one row is one person; else  unit: {{key: person_id}}
recode:                    # a column that is not named here is not released
{columns}
sample: {{rate: 0.1}}
k: auto                    # the least k that gives the guarantee
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release:
  path: out/{name}.parquet
budget: people
"""
_EXAMPLE = "  age: {bins: [18, 30, 45, 60, 75]}\n  sex: keep"


def write_starter(source: str | None, output: Path) -> tuple[Path, ...]:
    """Write the policy, and a project file where there is none; never over a file.

    Raises:
        FileError: the policy is there already, or the source cannot be read.
    """
    if output.exists():
        raise FileError(f"{output} exists; name another file with --output")
    columns = _EXAMPLE if source is None else "\n".join(_lines(source))
    name = "my_release" if source is None else _name(Path(source).stem)
    path = source or "data/people.parquet"
    relative = _relative(path, output.parent)
    text = _POLICY.format(name=name, source=_scalar(relative), columns=columns)
    written = [output]
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
        project = output.parent / "policy-engine.yaml"
        if find_project(output.resolve().parent) is None:
            with project.open("x", encoding="utf-8") as file:
                file.write(_PROJECT)
            written.append(project)
    except OSError as error:
        raise FileError(f"{output} could not be written: {error.strerror}") from None
    return tuple(written)


def _relative(path: str, start: Path) -> str:
    import os

    return os.path.relpath(path, start or Path())


def _name(stem: str) -> str:
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
    return plain if plain[:1].isalpha() else f"release_{plain}"


def _scalar(text: str) -> str:
    """A YAML scalar; JSON strings are YAML."""
    import json

    return (
        text
        if text.replace("/", "").replace("_", "").replace(".", "").isalnum()
        else (json.dumps(text, ensure_ascii=False))
    )


def _lines(source: str) -> list[str]:
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    path = Path(source)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(Source(path.name, None), path.resolve().parent)
    return [_line(column) for column in table.columns]


def _line(column: Column) -> str:
    """A commented suggestion a column: whoever writes the policy must choose each."""
    name = column.name if column.name.isidentifier() else _scalar(column.name)
    return f"  # {name}: {_suggestion(column)}    # {column.type}"


def _suggestion(column: Column) -> str:
    if column.kind in NUMBERS:
        return "{bins: [10, 20, 30]}"
    if column.kind in TIMES or column.kind is Kind.DATE:
        return "{truncate: year}"
    if column.kind is Kind.BOOLEAN:
        return "keep"
    if column.kind in {Kind.TEXT, Kind.LABEL}:
        return "{map: {some value: some label}, other: other}"
    return '{constant: "*"}'
