"""dbt gate: what stands between sensitive data and its readers, checked from dbt's manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption
from policy_engine.cli.output import answer_as, emit, emit_lines, is_quiet, json_text, note, text_of
from policy_engine.errors import FileError, NothingChecked
from policy_engine.opening import text_in

if TYPE_CHECKING:
    from policy_engine.dbt.gate import GateVerdict

_MARK_IT = (
    "nothing is marked in this project: write meta.privacy.classification: sensitive on the source"
    " or model with people's data, or add a policy, a file whose name ends in .privacy.yml"
)


class GateFormat(StrEnum):
    """How the gate answers."""

    text = "text"
    json = "json"
    junit = "junit"
    sarif = "sarif"
    github = "github"
    markdown = "markdown"


GateFormatOption = Annotated[
    GateFormat, typer.Option("--format", callback=answer_as, help="The format of the report.")
]


def gate(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    manifest: Annotated[
        Path | None, typer.Option(help="The manifest.json of dbt. Default: that of the project.")
    ] = None,
    compile_: Annotated[
        bool,
        typer.Option(
            "--compile", help="Run 'dbt compile' first, with the given profiles and target."
        ),
    ] = False,
    format: GateFormatOption = GateFormat.text,  # noqa: A002 - the option's name
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the report into this file, and print text to the terminal.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="An earlier JSON report. The findings of this report are not reported again."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="An earlier manifest.json. Everything that was sensitive in it must still be"
            " sensitive."
        ),
    ] = None,
    explain: Annotated[
        str | None, typer.Option(help="Explain a code such as G07, and check nothing.")
    ] = None,
) -> None:
    """Find every way in which sensitive data leaves a dbt project without a certified release.

    The gate reads manifest.json and the compiled SQL of 'dbt compile' or 'dbt build'. It runs dbt
    only with --compile. If the gate has a finding, the exit code is 1. If the manifest is missing
    or damaged, or if its version is not supported, the exit code is 3. If nothing in the project is
    marked as sensitive, the gate cannot check anything, and the exit code is 4.

    Example: policy-engine dbt gate --project-dir shop --format github
    """
    if explain is not None:
        from policy_engine.dbt.rules import rule_named

        rule, code = rule_named(explain), explain.upper()
        lines = [f"{code} {rule.title}", "", rule.why, "", rule.remedy]
        emit({"code": code, **vars(rule)}, lines)
        return
    if compile_:
        from policy_engine.dbt.project import open_dbt_project
        from policy_engine.dbt.targets import Dbt

        Dbt(open_dbt_project(project_dir).directory, profiles_dir, target).run("compile")
    before = None if against is None else _before(against, project_dir)
    verdict = _verdict(project_dir, manifest, before)
    if baseline is not None:
        verdict = _new(verdict, baseline)
    for text in verdict.notes:
        note(f"note: {text}")
    _report(verdict, format, output)
    if verdict.checked_nothing:
        raise NothingChecked(f"{verdict.manifest.file}: {_MARK_IT}")
    if verdict.findings:
        raise typer.Exit(1)


def _before(manifest: Path, project_dir: Path | None) -> GateVerdict:
    """What was marked in an earlier manifest, by the words of the project that lies around it."""
    from policy_engine.dbt.gate import check_project
    from policy_engine.dbt.project import find_dbt_project, open_dbt_project

    near = find_dbt_project(manifest.absolute().parent)
    return check_project(open_dbt_project(near or project_dir), manifest)


def _verdict(
    project_dir: Path | None, manifest: Path | None, before: GateVerdict | None
) -> GateVerdict:
    """The verdict, its files as they are reached from here."""
    from policy_engine.cli.formats import shown_path
    from policy_engine.dbt.gate import Gate, check_project
    from policy_engine.dbt.manifest import read_manifest
    from policy_engine.dbt.project import find_dbt_project, open_dbt_project

    if manifest is not None and project_dir is None:
        near = find_dbt_project(manifest.absolute().parent) or find_dbt_project(Path.cwd())
        if near is None or open_dbt_project(near).name != read_manifest(manifest).project:
            return Gate(read_manifest(manifest), before=before).verdict()
        project_dir = near
    project = open_dbt_project(project_dir)
    verdict, folder = check_project(project, manifest, before), project.directory
    return replace(
        verdict,
        findings=tuple(
            replace(each, file=shown_path(folder / each.file)) if each.file else each
            for each in verdict.findings
        ),
    )


def _new(verdict: GateVerdict, baseline: Path) -> GateVerdict:
    """A verdict without the findings that an earlier report has."""
    try:
        known = json.loads(text_in(baseline))["findings"]
        old = {each["fingerprint"] for each in known}
    except OSError as error:
        raise FileError(f"{baseline} could not be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise FileError(f"{baseline} must be a report of 'dbt gate --format json'") from None
    new = [each for each in verdict.findings if each.fingerprint not in old]
    left = len(verdict.findings) - len(new)
    said = [f"{_count(left, 'finding')} of {baseline} left out"] if left else []
    return replace(verdict, findings=tuple(new), notes=(*verdict.notes, *said))


def _report(verdict: GateVerdict, form: GateFormat, output: Path | None) -> None:
    lines = _formatted(verdict, form)
    if output is not None:
        try:
            output.write_text(text_of(lines) + "\n", "utf-8")
        except OSError as error:
            raise FileError(f"{output} could not be written: {error.strerror}") from None
        lines, form = _text(verdict), GateFormat.text
    elif form is GateFormat.json and verdict.checked_nothing:
        return  # the one document is that of the error
    if verdict.findings or form is not GateFormat.text or not is_quiet():
        emit_lines(lines)


def _formatted(verdict: GateVerdict, form: GateFormat) -> list[str]:
    from policy_engine.cli.formats import Remark, annotation, junit, sarif
    from policy_engine.dbt.rules import RULES

    titles = {code: rule.title for code, rule in RULES.items()}
    entries = [
        Remark(
            found.code, "error", found.file,
            [f"{found.code} {found.message}", *filter(None, (found.shown_path, found.remedy))],
            found.line, fingerprint=found.fingerprint,
        )
        for found in verdict.findings
    ]  # fmt: skip
    match form:
        case GateFormat.json:
            return json_text(_document(verdict)).split("\n")
        case GateFormat.junit:
            skipped = _MARK_IT if verdict.checked_nothing else ""
            return junit("policy-engine dbt gate", titles, entries, skipped)
        case GateFormat.sarif:
            return json_text(sarif(titles, entries)).split("\n")
        case GateFormat.markdown:
            return _markdown(verdict)
        case GateFormat.github:
            return [annotation(entry) for entry in entries]
        case GateFormat.text:
            return _text(verdict)


def _text(verdict: GateVerdict) -> list[str]:
    lines = [line for each in verdict.findings for line in each.lines]
    return lines if verdict.checked_nothing else [*lines, _summary(verdict)]


def _markdown(verdict: GateVerdict) -> list[str]:
    """A page for a job's summary."""
    said = _MARK_IT if verdict.checked_nothing else _summary(verdict).removeprefix("gate: ")
    lines = ["## dbt gate", "", _cell(said)]
    if verdict.findings:
        lines += ["", "| rule | where | what | way |", "|---|---|---|---|"]
    for found in verdict.findings:
        cells = (found.code, found.place, f"{found.message}. {found.remedy}", found.shown_path)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return [*lines, *(line for note in verdict.notes for line in ("", _cell(note)))]


def _cell(text: str) -> str:
    """A text that is nothing but text in a table of Markdown.

    >>> _cell("a|b <c> ![d]")
    'a\\\\|b &lt;c> !\\\\[d]'
    """
    return re.sub(r"([\\|`*\[])", r"\\\1", text).replace("<", "&lt;")


def _summary(verdict: GateVerdict) -> str:
    found = _count(len(verdict.findings), "finding") if verdict.findings else "nothing found"
    certified = sum(1 for each in verdict.releases if each.is_certified)
    return (
        f"gate: {found}; {_count(len(verdict.manifest.nodes), 'node')},"
        f" {len(verdict.marked)} sensitive, {_count(len(verdict.releases), 'release')},"
        f" {certified} certified; {_count(verdict.sinks, 'way')} out"
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _document(verdict: GateVerdict) -> Mapping[str, object]:
    nodes = verdict.manifest.nodes
    marked = [nodes[id_].label if id_ in nodes else id_ for id_ in sorted(verdict.marked)]
    return {
        "clean": not verdict.findings,
        "findings": [{**vars(each), "fingerprint": each.fingerprint} for each in verdict.findings],
        "notes": verdict.notes,
        "checked": {
            "nodes": len(nodes),
            "sensitive": marked,
            "reached": len(verdict.reached),
            "sinks": verdict.sinks,
            "releases": [
                {
                    "name": nodes[each.node].label,
                    "certified": each.is_certified,
                    **({} if each.facts is None else vars(each.facts)),
                }
                for each in verdict.releases
            ],
        },
        "manifest": verdict.manifest.file,
        "dbt_version": verdict.manifest.dbt_version,
        "adapter": verdict.manifest.adapter,
    }
