"""The commands by name, each imported where it may be meant; and what every one understands."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from policy_engine.cli.output import Format, answer_as, be_quiet, emit_lines
from policy_engine.errors import FileError

PROGRAM = "policy-engine"
COMPLETION = "_POLICY_ENGINE_COMPLETE"
"""The variable by which a shell asks for completions."""
_TYPED = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Those in which it says what was typed."""

COMMANDS = {
    "init": ("policies.init", "Write a starter policy for a source."),
    "validate": ("policies.validate", "Check policy files: every problem, with its place."),
    "compile": ("policies.compile_", "Print the SQL of a policy."),
    "try": ("trying.try_", "Show how a row that you type is recoded; free."),
    "plan": ("planning.plan", "A dry run: what would be published, and the price."),
    "hierarchy": ("hierarchies.hierarchy", "Propose, check and draw levels of columns."),
    "search": ("searching.search", "Choose a level for each column."),
    "suggest": ("suggesting.suggest", "Choose the limits for one person."),
    "release": ("releases.release", "Certify, charge the account, run, publish."),
    "restore": ("releases.restore", "Write a lost release again; free."),
    "show": ("showing.show", "Show the first rows of a release and their meaning."),
    "estimate": ("showing.estimate", "Correct the tables of a release so that they agree."),
    "assess": ("measuring.assess", "Measure k, ℓ, t and risks of a release or raw data."),
    "attack": ("attacking.attack", "Show what known attacks learn from a public table."),
    "calculate": ("calculating.calculate", "Calculate the fourth of k, rate, ε and δ."),
    "certify-sql": ("proofs.certify_sql", "Check SQL that someone else wrote."),
    "verify": ("verifying.verify", "Check a certificate and its release."),
    "report": ("reporting.report", "Write a certificate as a page for people."),
    "diff": ("reporting.diff", "Compare two policies or two certificates."),
    "audit": ("audit.audit", "Attack the mechanism: find a lower bound on ε."),
    "schema": ("policies.schema", "Print the JSON Schema of a policy file."),
    "engines": ("listing.engines", "List the engines and their packages."),
    "desk": ("desk.desk", "Show the project as pages in a browser."),
    "ledger": ("records.ledger", "The accounts and what was charged."),
    "keys": ("keys.keys", "The signing key and the keyring."),
    "join": ("joining.join", "Prepare another machine to release."),
    "review": ("review.review", "Approvals that an account requires."),
    "dbt": ("dbt_commands.dbt", "Certified releases in a dbt project."),
}
"""Where each is, and what it is for."""
GROUPS = {
    "Policies": (
        "init",
        "validate",
        "try",
        "plan",
        "hierarchy",
        "search",
        "suggest",
        "compile",
        "diff",
        "schema",
        "engines",
    ),
    "Releases": ("release", "restore", "show", "estimate"),
    "Checking a release": ("verify", "report", "assess", "attack", "audit"),
    "Without a policy": ("calculate", "certify-sql"),
    "Accounts, keys and people": ("ledger", "keys", "join", "review", "desk"),
    "dbt": ("dbt",),
}
"""Which of them stand together in the help."""


@cache  # whoever runs many command lines in one process makes each program once
def command_of(names: frozenset[str]) -> Any:
    """The program in which the commands of those names can run."""
    return get_command(app_of(names))


def app_of(words: Collection[str]) -> Commands:
    """The program, of which those commands can run that are among ``words``; all are listed."""
    made = Commands(name=PROGRAM, pretty_exceptions_enable=False, rich_markup_mode=None)
    made.callback()(root)
    for name, (place, text) in COMMANDS.items():
        module, _, member = place.partition(".")
        found: Any = None
        if name in words:
            found = getattr(import_module(f"policy_engine.cli.{module}"), member)
        if isinstance(found, Commands):
            made.add_typer(found, name=name, short_help=text)
        else:
            made.command(name, short_help=text)(found or (lambda: None))
    return made


def __getattr__(name: str) -> Any:
    """``app`` is the whole program."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return app_of(COMMANDS)


def complete(asked: str) -> int:
    """Answer a shell that asks for completions by ``COMPLETION``; the exit code."""
    from typer._completion_classes import completion_init
    from typer.completion import shell_complete

    completion_init()
    typed = [word for name in _TYPED for word in os.environ.get(name, "").split()]
    return shell_complete(command_of(frozenset(typed)), {}, PROGRAM, COMPLETION, asked)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        emit_lines([f"{PROGRAM} {version(PROGRAM)}"])
        raise typer.Exit


Shell = StrEnum("Shell", "bash zsh fish powershell")
"""A shell that completes commands."""


def _show(shell: Shell | None) -> None:
    if shell is None:
        return
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name=PROGRAM, complete_var=COMPLETION, shell=shell.value)
    emit_lines(script.split("\n"))
    raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    show_completion: Annotated[
        Shell | None,
        typer.Option(callback=_show, is_eager=True, help="Print its completion for a shell."),
    ] = None,
) -> None:
    """Privacy policies for SQL warehouses: a policy in YAML becomes a certified release.

    Example: policy-engine release policies/adult/policy.yaml

    Exit codes: 0 done, 1 a finding (invalid policy, SQL not certifiable, verification failed, an
    account that cannot pay), 2 wrong usage, 3 a warehouse or a file failed, 4 nothing was checked,
    70 an internal error, 130 interrupted.
    """


def _go_to(folders: list[Path] | None) -> None:
    """Work in the last of ``folders``, each from the one before, as if started there."""
    for folder in folders or ():
        try:
            os.chdir(folder)
        except OSError as error:
            raise FileError(f"-C {folder} could not be entered: {error.strerror}") from None


_only_options = typer.Typer(add_completion=False)


@_only_options.command()
def _options(
    form: Annotated[
        Format,
        typer.Option(
            "--format", callback=answer_as, expose_value=False, help="The format of the result."
        ),
    ] = Format.text,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", callback=be_quiet, expose_value=False, help="Print only errors and"
                                                                         " answers."
        ),
    ] = False,
    directory: Annotated[
        list[Path] | None,
        typer.Option(
            "-C", metavar="DIR", callback=_go_to, expose_value=False,
            help="Run as if you had started the program in DIR.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """No command: it only has its options made."""


_FORMAT, *_EVERYWHERE = get_command(_only_options).params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """Its own, and those of every command before --help."""
        *own, last = super().get_params(ctx)
        has_form = any("--format" in param.opts for param in own)
        return [*own, *([] if has_form else [_FORMAT]), *_EVERYWHERE, last]


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        """As a command's, before whose name nothing is printed yet."""
        *own, last = super().get_params(ctx)
        return [*own, *_EVERYWHERE, last]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Those of the program by what they are for; those of a group as they come."""
        if ctx.parent is not None:
            super().format_commands(ctx, formatter)
            return
        longest = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                told = ((f"{name:<{longest}}", COMMANDS[name][1]) for name in names)
                formatter.write_dl(list(told))


class Commands(typer.Typer):
    """A group of commands that all have the options of every command."""

    def __init__(self, **given: Any) -> None:
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(
            cls=_Group, no_args_is_help=True, add_completion=False, context_settings=names, **given
        )

    def command(self, name: str | None = None, **given: Any) -> Callable[..., Any]:
        """As Typer's."""
        return super().command(name, cls=_Command, **given)
