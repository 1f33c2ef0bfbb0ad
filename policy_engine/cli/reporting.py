"""report and diff: what a certificate says, for people, and what changed since another."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import (
    Format,
    confirm,
    emit,
    emit_json,
    emit_lines,
    json_text,
    note,
)
from policy_engine.cli.places import check_free, written_whole
from policy_engine.cli.proofs import CertificateArgument, PolicyOption, ReleaseOption
from policy_engine.cli.reading import KeyOption, KeyringOption
from policy_engine.errors import NothingChecked, UsageError, VerificationFailed

if TYPE_CHECKING:
    from policy_engine.report.changes import Comparable, KeyChange
    from policy_engine.report.evidence import Evidence


class ReportFormat(StrEnum):
    """How report answers: with what was found, or with the release in a form of others."""

    text = "text"
    json = "json"
    registry = "registry"
    nist = "nist"
    openlineage = "openlineage"
    odcs = "odcs"
    dbt = "dbt"


_EXPORTS = {
    ReportFormat.registry: (".yaml", ".yml"),
    ReportFormat.nist: (".md",),
    ReportFormat.openlineage: (".json",),
    ReportFormat.odcs: (".yaml", ".yml"),
    ReportFormat.dbt: (".yaml", ".yml"),
}
"""What a file of each is called."""


class Edition(StrEnum):
    """For whom a report is."""

    public = "public"
    internal = "internal"


def report(
    certificate: CertificateArgument,
    release: ReleaseOption = None,
    policy: PolicyOption = None,
    previous: Annotated[
        Path | None, typer.Option(help="The certificate of the version before.")
    ] = None,
    edition: Annotated[
        Edition, typer.Option(help="public, or internal: with other releases and places.")
    ] = Edition.public,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page: FILE.html, or FILE.json; or the export."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a report that stands there.")
    ] = False,
    key: KeyOption = None,
    keyring: KeyringOption = None,
    format: Annotated[  # noqa: A002 - the option's name
        ReportFormat, typer.Option("--format", help="How to print it, or as what to export it.")
    ] = ReportFormat.text,
) -> None:
    """Write what a certificate promises as one page that people read, print and judge.

    The page stands by itself: it fetches nothing and runs nothing. Its band is green where the
    certificate holds and the release was looked at, amber (exit code 4) where it was not, red (exit
    code 1) where the certificate does not hold; without (ε, δ) it is never green. Of the account it
    says what the ledger of the policy's project says, or of the project here. What nobody
    stated is shown as "not stated". The other formats export it for a registry of deployments, a
    NIST SP 800-226 checklist, OpenLineage, a data contract (ODCS), or dbt, and ask on stderr for
    what nobody stated; of a certificate that does not hold there is none.

    Example: policy-engine report out/a.certificate.json --release out/a.parquet -o page.html
    """
    from policy_engine.attest.attestation import SYNTACTIC_TYPE, stated_type
    from policy_engine.cli.reading import read_certificate, trusted_keys
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.ledger_state import ledger_state
    from policy_engine.report.evidence import Named, gather
    from policy_engine.report.page import page
    from policy_engine.report.view import syntactic_view, view

    if output is None and format is ReportFormat.text:
        raise UsageError("name the page to write, --output FILE.html, or ask for --format json")
    if output is not None:
        _check_place(output, _EXPORTS.get(format, _KINDS), replace=replace)
        inputs = (certificate, release, policy, previous)
        if output.resolve() in (each.resolve() for each in inputs if each):
            raise UsageError(f"{output} is what the report is made of; name another file")
    trusted, places = trusted_keys(key or [], keyring, beside=certificate)
    text = read_certificate(certificate)
    if stated_type(text) == SYNTACTIC_TYPE:
        if policy is not None or previous is not None or format in _EXPORTS:
            raise UsageError(
                "a statement without (ε, δ) has no --policy, no --previous and no form of others"
            )
        unpriced = syntactic_view(text, trusted, release)
        _report_syntactic(unpriced, output, Format(format.value))
        return
    loaded = None if policy is None else load_policy(policy)
    project = _project(policy)
    found = gather(
        Named(
            certificate=certificate,
            text=text,
            keys=trusted,
            trusted=tuple(map(str, places)),
            release=release,
            policy=loaded,
            previous=None if previous is None else (previous, read_certificate(previous)),
            books=None if project is None else ledger_state(project),
            keyring=keyring or (project.keyring if project else None),
            edition=edition.value,
        )
    )
    made = view(found)
    if format in _EXPORTS:
        _export(found, made, format, output)
        return
    if output is not None:
        _write(output, _page(output, page(made), made))
    _told(found, made, output, Format(format.value))


def _export(found: Evidence, made: dict[str, Any], form: ReportFormat, output: Path | None) -> None:
    """Print or write an export, say on stderr what nobody stated, and exit as ``verify`` does."""
    from policy_engine.report.exports import catalogues, claims
    from policy_engine.report.exports.fields import ExportSource

    colour = made["band"]["colour"]
    if colour == "red":
        raise VerificationFailed(found.reasons)
    is_claim = form in (ReportFormat.registry, ReportFormat.nist)
    export = getattr(claims if is_claim else catalogues, form.value)
    exported = export(ExportSource.of(found, made))
    if output is None:
        emit_lines(exported.text.rstrip("\n").split("\n"))
    else:
        _write(output, exported.text)
        emit_lines([f"{form.value}  {output}"])
    for gap in exported.gaps:
        note(gap)
    if colour != "green":
        raise typer.Exit(NothingChecked.exit_code)


def _told(found: Evidence, made: dict[str, Any], output: Path | None, form: Format) -> None:
    """Say what was found, and exit as ``verify`` does."""
    colour = made["band"]["colour"]
    lines = [f"{colour}: {made['band']['verdict']}", *(f"  {each}" for each in found.reasons)]
    if output is not None:
        lines.append(f"report  {output}")
    if colour == "green":
        confirm(made, lines, form)
        return
    emit(made, lines, form)
    raise typer.Exit(1 if colour == "red" else NothingChecked.exit_code)


def _report_syntactic(made: dict[str, Any], output: Path | None, form: Format) -> None:
    """The page of a release without (ε, δ): amber at best."""
    from policy_engine.report.page import page

    band = made["band"]
    if output is not None:
        _write(output, _page(output, page(made), made))
    told = (f"{band['colour']}: {band['verdict']}", f"  {band['first']}")
    lines = [*told, *(f"  {each}" for each in band["reasons"])]
    emit(made, lines if output is None else [*lines, f"report  {output}"], form)
    raise typer.Exit(1 if band["colour"] == "red" else NothingChecked.exit_code)


def _project(policy: Path | None) -> Any:
    """The project of the policy, or of the working directory; None where there is none."""
    from policy_engine.policy.project import find_project, load_project

    found = find_project(Path.cwd() if policy is None else policy.parent)
    return None if found is None else load_project(found)


_KINDS = (".html", ".json")


def _check_place(path: Path, kinds: tuple[str, ...], *, replace: bool) -> None:
    """Refuse a place for a report before anything is read."""
    if path.suffix.lower() not in kinds:
        raise UsageError(f"a report is written as {' or '.join(kinds)}, found '{path}'")
    check_free(path, replace=replace)


def _page(path: Path, html: str, document: dict[str, Any]) -> str:
    """The page, or the same as JSON, by the name of the file."""
    return json_text(document) + "\n" if path.suffix.lower() == ".json" else html


def _write(path: Path, text: str) -> None:
    with written_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")


class Differences(StrEnum):
    """How diff answers."""

    text = "text"
    json = "json"
    markdown = "markdown"


_MOST_ENTRIES = 20
_EFFECTS = {
    "weaker": "weaker",
    "stronger": "stronger",
    "neutral": "not weaker",
    "unknown": "cannot be compared",
}


def diff(
    old: Annotated[Path, typer.Argument(help="A policy, or a certificate.", readable=False)],
    new: Annotated[Path, typer.Argument(help="Another of the same kind.", readable=False)],
    format: Annotated[  # noqa: A002 - the option's name
        Differences, typer.Option("--format", help="How to print the result.")
    ] = Differences.text,
) -> None:
    """What changed between two policies, or two certificates: columns, recodes, ε, δ, k, price.

    A recode is compared as a map of values. Exits with 1 where the promise is weaker, or where two
    values cannot be compared, else with 0. Nothing is verified: 'policy-engine verify' does that.

    Example: policy-engine diff policies/old.yaml policies/new.yaml --format markdown
    """
    from policy_engine.report.changes import changes, weakens

    before, after = _comparable(old), _comparable(new)
    if before.kind != after.kind:
        raise UsageError(
            f"{old} is a {before.kind} and {new} a {after.kind}, which do not compare: a policy"
            " says how large δ may be, a certificate how large it is. Name two of one kind"
        )
    found = changes(before, after)
    if format is Differences.json:
        emit_json(_document(before, after, found, weak=weakens(found)))
    else:
        make = _text if format is Differences.text else _markdown
        emit_lines(list(make(before, after, found)))
    if weakens(found):
        raise typer.Exit(1)


def _comparable(path: Path) -> Comparable:
    """A policy or a certificate, by what its file's name ends in."""
    from policy_engine.attest.attestation import SYNTACTIC_TYPE, stated_type, unverified
    from policy_engine.attest.facts import read_facts
    from policy_engine.attest.syntactic import read_syntactic
    from policy_engine.cli.reading import read_certificate
    from policy_engine.policy.loading import load_policy
    from policy_engine.report.changes import Comparable

    if path.suffix.lower() != ".json":
        return Comparable.of_policy(load_policy(path, syntactic=True))
    text = read_certificate(path)
    if stated_type(text) == SYNTACTIC_TYPE:
        return Comparable.of_statement(read_syntactic(unverified(text, SYNTACTIC_TYPE)))
    return Comparable.of_certificate(read_facts(unverified(text)))


def _document(
    old: Comparable, new: Comparable, found: tuple[KeyChange, ...], *, weak: bool
) -> dict[str, Any]:
    return {
        "kind": new.kind,
        "old": old.name,
        "new": new.name,
        "weakens": weak,
        "price": {"before": old.price, "after": new.price},
        "changes": [
            {**vars(each), "map": [{"when": w, "before": b, "after": a} for w, b, a in each.map]}
            for each in found
        ],
    }


def _text(old: Comparable, new: Comparable, found: tuple[KeyChange, ...]) -> Iterator[str]:
    yield f"price  {old.price} → {new.price}"
    for each in found:
        why = f": {each.why}" if each.why else ""
        yield f"{each.key}  ({_EFFECTS[each.effect]}{why})"
        yield f"  - {each.before}"
        yield f"  + {each.after}"
        yield from (f"      {line}" for line in _moved(each))
    if not found:
        yield "nothing that is promised or shown has changed"


def _moved(each: KeyChange) -> Iterator[str]:
    for when, before, after in each.map[:_MOST_ENTRIES]:
        yield f"{when}: {_label(before)} → {_label(after)}"
    if len(each.map) > _MOST_ENTRIES:
        yield f"and {len(each.map) - _MOST_ENTRIES} more"


def _label(label: str | None) -> str:
    return "NULL" if label is None else label


def _markdown(old: Comparable, new: Comparable, found: tuple[KeyChange, ...]) -> Iterator[str]:
    """A review comment: a table, and below it each recode that changed, value by value."""
    from policy_engine.policy.escapes import cell

    yield f"**{cell(new.name)}**: {cell(old.price)} → {cell(new.price)}"
    yield ""
    if not found:
        yield "Nothing that is promised or shown has changed."
        return
    yield "| key | before | after | the promise is |"
    yield "|---|---|---|---|"
    for each in found:
        why = f": {each.why}" if each.why else ""
        cells = (each.key, each.before, each.after, f"{_EFFECTS[each.effect]}{why}")
        yield f"| {' | '.join(map(cell, cells))} |"
    for each in found:
        if each.map:
            yield ""
            yield f"`{cell(each.key)}`, as a map:"
            yield ""
            yield from (f"* {cell(line)}" for line in _moved(each))
