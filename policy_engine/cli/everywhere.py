"""What every command understands: ``-h``, ``--quiet`` and ``-C``, before its name and behind it."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from policy_engine.cli.output import be_quiet, emit_lines
from policy_engine.errors import FileError

PROGRAM = "policy-engine"
COMPLETION = "_POLICY_ENGINE_COMPLETE"
"""The variable by which a shell asks for completions."""


def _go_to(folders: list[Path] | None) -> None:
    """Work in the last of ``folders``, each from the one before, as if started there."""
    for folder in folders or ():
        try:
            os.chdir(folder)
        except OSError as error:
            raise FileError(f"-C {folder} could not be entered: {error.strerror}") from None


def _quieten(asked: bool) -> None:
    if asked:
        be_quiet()


_only_options = typer.Typer(add_completion=False)


@_only_options.command()
def _options(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", callback=_quieten, expose_value=False, help="Errors and answers only."
        ),
    ] = False,
    directory: Annotated[
        list[Path] | None,
        typer.Option(
            "-C",
            metavar="DIR",
            callback=_go_to,
            expose_value=False,
            help="Run as if started in DIR.",
        ),
    ] = None,
) -> None:
    """No command: it only has its options made."""


_EVERYWHERE = get_command(_only_options).params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """Its own, and those of every command before --help."""
        *own, last = super().get_params(ctx)
        return [*own, *_EVERYWHERE, last]


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        """As a command's."""
        *own, last = super().get_params(ctx)
        return [*own, *_EVERYWHERE, last]


class Commands(typer.Typer):
    """A group of commands that all have the options of every command."""

    def __init__(self, **given: Any) -> None:
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(
            cls=_Group,
            no_args_is_help=True,
            add_completion=False,
            context_settings=names,
            **given,
        )

    def command(self, name: str | None = None, **given: Any) -> Callable[..., Any]:
        """As Typer's."""
        return super().command(name, cls=_Command, **given)


class Shell(StrEnum):
    """A shell that completes commands."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"
    powershell = "powershell"


def _show(shell: Shell | None) -> None:
    if shell is None:
        return
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name=PROGRAM, complete_var=COMPLETION, shell=shell.value)
    emit_lines(script.split("\n"))
    raise typer.Exit


ShowCompletionOption = Annotated[
    Shell | None,
    typer.Option(
        "--show-completion", callback=_show, is_eager=True, help="Print its completion for a shell."
    ),
]


def complete(command: Any, asked: str) -> int:
    """Answer a shell that asks for completions by ``COMPLETION``; the exit code."""
    from typer._completion_classes import completion_init
    from typer.completion import shell_complete

    completion_init()
    return shell_complete(command, {}, PROGRAM, COMPLETION, asked)
