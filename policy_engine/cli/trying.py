"""try: what a policy makes of one row that is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from policy_engine.cli.options import PolicyArgument
from policy_engine.cli.output import emit
from policy_engine.policy.loading import load_policy

if TYPE_CHECKING:
    from policy_engine.releasing.trying import Tried, Value


def try_(
    policy: PolicyArgument,
    row: Annotated[
        str,
        Option("--row", help="The row: a line as in the CSV file, or column=value,column=value."),
    ],
) -> None:
    """Show how a row that you type is read and recoded, and in which group it would count.

    This costs nothing, because the command reads no row of the source. It reads only the first line
    of a file, or the catalog of a warehouse. If a value does not have the type of its column, the
    value becomes NULL.

    Example: policy-engine try policy.yaml --row "age=42,town=Ulm"
    """
    from policy_engine.releasing.planning import project_of
    from policy_engine.releasing.trying import tried

    loaded = load_policy(policy, unpromised=True)
    found = tried(loaded, project_of(loaded), row)
    emit(found, _lines(found))


def _lines(found: Tried) -> list[str]:
    lines = [f"read   {_value(each)}" for each in found.values]
    if found.group is None:
        return [*lines, f"group  none: {found.left_out}"]
    group = ", ".join(f"{name} {_shown(label)}" for name, label in found.group.items())
    return [*lines, f"group  {group}"]


def _shown(text: str | None) -> str:
    return "NULL" if text is None else text


def _value(value: Value) -> str:
    told = f"{value.column}: {value.typed!r} is {_shown(value.read)}"
    if value.law:
        return f"{told}: {value.law}"
    has_blanks = value.read is not None and value.read != value.read.strip()
    return f"{told}; the blanks at its ends are part of it" if has_blanks else told
