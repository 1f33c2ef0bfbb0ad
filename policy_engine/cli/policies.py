"""init, validate, compile and schema: what is done with a policy file before it runs."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from policy_engine.cli.options import EditionOption, PolicyArgument
from policy_engine.cli.output import (
    Format,
    confirm,
    emit,
    emit_lines,
    is_json,
    is_quiet,
    note,
    text_of,
)
from policy_engine.errors import FileError
from policy_engine.policy.escapes import sql_lines

if TYPE_CHECKING:
    from policy_engine.compile.catalog import Field

Report = StrEnum("Report", "text json sarif github")
"""How validate answers."""


def init(
    source: Annotated[
        str | None,
        Argument(help="The source: a Parquet or CSV file, a folder of Parquet files, or a table."),
    ] = None,
    output: Annotated[Path, Option("--output", "-o", help="The policy file to write.")] = Path(
        "policy.yaml"
    ),
    search: Annotated[
        bool,
        Option(
            "--search",
            help="Suggest levels for each column. 'policy-engine search' then chooses among them.",
        ),
    ] = False,
) -> None:
    """Write a starter policy from the schema of a source, and a project file.

    The command uses only the names and types of the columns, never their values. In the policy,
    each column has a comment line. Most of these lines suggest a recode that fits the column's name
    and type. To release a column, remove the comment sign # from its line. With --search, a line
    can have several recodes, from fine to coarse. 'policy-engine search' then chooses one of them.

    Example: policy-engine init data/people.parquet --output policies/people.yaml
    """
    from policy_engine.releasing.starter import write_starter

    written = write_starter(source, output, _levels if search else None)
    lines = [f"wrote {path}" for path in written]
    lines.append("next: uncomment and edit the columns to release, then")
    last = ("search",) if search else ("plan", "release")
    lines += [f"  policy-engine {command} {output}" for command in ("validate", *last)]
    confirm({"written": written}, lines)


def _levels(column: Field) -> str:
    """The levels of a column that are proposed, as YAML."""
    from policy_engine.choose.proposing import proposed

    found = proposed(column)
    # No text in it needs its quotes.
    return dumps(found.recoding).replace('"', "") if found.levels else ""


def validate(
    policies: Annotated[list[Path], Argument(help="Policy files.", readable=False)],
    format: Annotated[Report, Option(help="The format of the report.")] = Report.text,  # noqa: A002
) -> None:
    """Check policy files: their schema, their meaning, and the columns of their source.

    The output lists every problem. If the schema has a problem, the columns are still checked. A
    warning names something that is allowed but seldom intended. Warnings do not change the exit
    code.

    If the source does not exist, the command checks everything else, and a note says so. If a
    policy file cannot be read, the exit code is 3. Otherwise, if a policy has a problem, the exit
    code is 1.

    Example: policy-engine validate policies/*/policy.yaml --format github
    """
    from policy_engine.cli.formats import report
    from policy_engine.releasing.validation import check_policies

    checked = check_policies(policies)
    for each in checked:
        if each.unchecked:
            note(f"{each.file}: not checked against its warehouse or source: {each.unchecked}")
    is_answer = format is not Report.text or any(each.problems or each.warnings for each in checked)
    if is_answer or not is_quiet():
        report(checked, format.value)
    if any(each.unread for each in checked):
        raise Exit(FileError.exit_code)
    if any(each.problems for each in checked):
        raise Exit(1)


def compile_(
    policy: PolicyArgument,
    dialect: Annotated[
        str | None,
        Option(help="The SQL dialect to write. Default: that of the project's warehouse."),
    ] = None,
    method: Annotated[
        str | None,
        Option(
            help="How the sample is drawn: by a hash with a secret key (keyed), or by the "
            "engine itself (native). Default: that of the policy."
        ),
    ] = None,
    schema: Annotated[
        Path | None,
        Option(
            help="A file with the source's columns, as DDL or JSON. With it, no warehouse is"
            " opened."
        ),
    ] = None,
    edition: EditionOption = None,
) -> None:
    """Print the SQL of a policy, as it would run.

    For a policy with 'period', this is the SQL of one edition. By default, it is the first edition.

    Example: policy-engine compile policy.yaml --dialect snowflake --schema people.sql
    """
    from policy_engine.cli.reading import read_file
    from policy_engine.dialects import dialect_named
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.planning import compile_policy, dialect_of

    loaded = load_policy(policy, unpromised=True)
    dialect = dialect_named(dialect or dialect_of(loaded)).name
    known = None
    if schema is not None:
        from policy_engine.check.ddl import parse_schema

        known = parse_schema(read_file(schema), dialect)
    sql = compile_policy(loaded, dialect, method, known, edition)
    lines = sql_lines(sql, dialect)
    emit(
        {"policy": loaded.name, "policy_digest": loaded.digest, "dialect": dialect, "sql": sql},
        lines,
    )
    if not is_json() and text_of(lines) != sql.rstrip("\n"):
        note("what it holds is shown as escapes, so this is not what runs: --format json has that")


def schema(
    project: Annotated[
        bool, Option("--project", help="Print the schema of the project file, policy-engine.yaml.")
    ] = False,
    format: Annotated[Format, Option(help="The format of the result.")] = Format.json,  # noqa: A002
) -> None:
    """Print the JSON Schema of a policy file.

    'policy-engine init' writes this schema and the schema of the project file into the folder
    .policy-engine/. Editors read both schemas there.

    Example: policy-engine schema > policy.schema.json
    """
    from policy_engine.policy.laws import SCHEMAS

    emit_lines((SCHEMAS / f"{'project' if project else 'v1'}.json").read_text("utf-8").splitlines())
