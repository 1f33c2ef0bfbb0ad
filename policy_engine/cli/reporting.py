"""report and diff: what a certificate says, for people, and what changed since another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from policy_engine.attest.attestation import (
    CHOICE_TYPE,
    UNPROMISED_TYPE,
    stated_type,
    unverified,
    unverified_release,
)
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.validity import moment
from policy_engine.cli import options
from policy_engine.cli.output import answer_as, conclude, emit_json, emit_lines, json_text, note
from policy_engine.cli.reading import check_free, read_certificate, written_whole
from policy_engine.cli.verifying import trusted_keys
from policy_engine.errors import NothingChecked, UsageError, VerificationFailed
from policy_engine.kernel.editions import Edition
from policy_engine.policy.escapes import cell
from policy_engine.policy.loading import load_policy
from policy_engine.policy.places import files_in
from policy_engine.policy.project import Project, find_project, load_project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.editions import in_plan, known_books
from policy_engine.releasing.ledger_state import ledger_state
from policy_engine.report.approvals import read_review_policy
from policy_engine.report.changes import Comparable, KeyChange, changes, weakens
from policy_engine.report.choice import ChoiceView, choice_view
from policy_engine.report.evidence import Evidence, Named, gather
from policy_engine.report.page import page
from policy_engine.report.request_words import change_lines, moved_lines, verdict_words
from policy_engine.report.view import ReportView, UnpromisedView, unpromised_view, view
from policy_engine.values import frozen

ReportFormat = StrEnum("ReportFormat", "text json registry nist odcs dbt")
"""How report answers: with what was found, or with the release in a form of others."""


_KINDS = (".html", ".json")
_EXPORTS = {
    ReportFormat.registry: (".yaml", ".yml"),
    ReportFormat.nist: (".md",),
    ReportFormat.odcs: (".yaml", ".yml"),
    ReportFormat.dbt: (".yaml", ".yml"),
}
"""What a file of each is called."""
_CODES = {"green": 0, "amber": NothingChecked.exit_code, "red": 1}


class Audience(StrEnum):
    """For whom a report is."""

    public = "public"
    internal = "internal"


def report(
    certificate: options.CertificateArgument,
    release: options.ReleaseOption = None,
    policy: options.PolicyOption = None,
    previous: Annotated[
        Path | None, Option(help="The certificate of the previous version.")
    ] = None,
    audience: Annotated[
        Audience,
        Option(
            help="The readers of the page. An internal page also shows other releases and the"
            " places of files."
        ),
    ] = Audience.public,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="The file to write: FILE.html, FILE.json, or the file of an export.",
        ),
    ] = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace the report if the file exists.")
    ] = False,
    key: options.KeyOption = None,
    keyring: options.KeyringOption = None,
    review_policy: Annotated[
        Path | None,
        Option(
            help="A review policy. The page shows which approvals the review policy requires, and"
            " which exist."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        ReportFormat, Option(callback=answer_as, help="The format to print, or to export.")
    ] = ReportFormat.text,
) -> None:
    """Write a certificate as one page that people can read, print and judge.

    The page is one file without scripts, and it loads nothing. Its coloured band is green if the
    certificate is valid and the release was checked. If the release was not checked, the band is
    amber and the exit code is 4. If the certificate is not valid, the band is red and the exit code
    is 1. Without (ε, δ), the band is never green.

    For a certificate of 'search' or 'suggest', --release names the policy that was chosen. The page
    of that policy's release then lists the candidates of the choice. For this list, the policy must
    be in this project or named with --policy, and the certificate of the choice must be beside the
    policy.

    The page shows the account from the ledger of the policy's project. Without --policy, it uses
    the project in this folder. A fact that nobody stated is shown as "not stated".

    With --review-policy, a file that you trust, the page shows whose approvals are required and who
    has approved. This needs no ledger. If approvals are missing, the page is red.

    With --format, the command can also write an entry for a registry of deployments, a NIST SP
    800-226 checklist, a data contract (ODCS), or a file for dbt. For these formats, it lists on
    stderr the facts that nobody stated. If the certificate is not valid, it writes none of them.

    Example: policy-engine report out/a.certificate.json --release out/a.parquet -o page.html
    """
    if output is None and format is ReportFormat.text:
        raise UsageError("name the page to write, --output FILE.html, or ask for --format json")
    if output is not None:
        kinds = _EXPORTS.get(format, _KINDS)
        if output.suffix.lower() not in kinds:
            raise UsageError(f"a report is written as {' or '.join(kinds)}, found '{output}'")
        check_free(output, replace=replace)
        inputs = (certificate, release, policy, previous, review_policy)
        if output.resolve() in (each.resolve() for each in inputs if each):
            raise UsageError(f"{output} is what the report is made of; name another file")
    trusted, places = trusted_keys(key or [], keyring, beside=certificate)
    text = read_certificate(certificate)
    file = find_project(Path.cwd() if policy is None else policy.parent)
    project = None if file is None else load_project(file)
    books = None if project is None else ledger_state(project)
    if stated_type(text) == CHOICE_TYPE:
        if any((policy, previous, review_policy)) or format in _EXPORTS:
            raise UsageError(
                "the certificate of a choice has no --policy, no --previous, no --review-policy and"
                " no form of others: name the policy that was chosen by --release"
            )
        chosen = choice_view(text, trusted, release, books)
        _tell(chosen, chosen.band.reasons, output, _CODES[chosen.band.colour])
        return
    if stated_type(text) == UNPROMISED_TYPE:
        if any((policy, previous, review_policy)) or format in _EXPORTS:
            raise UsageError(
                "a statement without (ε, δ) has no --policy, no --previous, no --review-policy and"
                " no form of others"
            )
        made = unpromised_view(text, trusted, release)
        band = made.band
        _tell(made, (band.first, *band.reasons), output, _CODES[band.colour])
        return
    loaded = None if policy is None else load_policy(policy)
    if loaded is not None and project is not None:
        loaded = _as_recorded(loaded, text, project)
    named = Named(
        certificate=certificate,
        text=text,
        keys=trusted,
        trusted=tuple(map(str, places)),
        release=release,
        policy=loaded,
        previous=None if previous is None else (previous, read_certificate(previous)),
        books=books,
        keyring=keyring or (project.keyring if project else None),
        audience=audience.value,
        review_policy=None if review_policy is None else read_review_policy(review_policy),
        policies=_policy_files(project) if policy is None else (),
    )
    found = gather(named)
    shown = view(found)
    if format in _EXPORTS:
        _export(found, shown, format, output)
    else:
        _tell(shown, found.reasons, output, _CODES[shown.band.colour])


def _policy_files(project: Project | None) -> tuple[Path, ...]:
    """The files of a project that may be policies."""
    return () if project is None else tuple(files_in(project.directory, (".yaml", ".yml")))


def _as_recorded(policy: Policy, text: str, project: Project) -> Policy:
    """A planned policy with the numbers that the ledger has of the window of a certificate.

    Those of the project file may be others by now: the record counts.
    """
    with suppress(VerificationFailed):  # what is wrong with the certificate is told on its page
        terms = certificate_in(unverified(text)).terms
        at = moment(str(unverified(text).predicate.get("time"))) or datetime.now(UTC)
        return in_plan(policy, project, known_books(project), terms.edition or Edition(), at)
    return policy


def _tell(
    made: ReportView | UnpromisedView | ChoiceView,
    reasons: tuple[str, ...],
    output: Path | None,
    code: int,
) -> None:
    """Write the page, or the same as JSON, say what was found, and exit as ``verify`` does."""
    lines = [f"{made.band.colour}: {made.band.verdict}", *(f"  {each}" for each in reasons)]
    if output is not None:
        is_json = output.suffix.lower() == ".json"
        _write(output, json_text(made) + "\n" if is_json else page(made))
        lines.append(f"report  {output}")
    conclude(made, lines, code)


def _export(found: Evidence, made: ReportView, form: ReportFormat, output: Path | None) -> None:
    """Print or write an export, say on stderr what nobody stated, and exit as ``verify`` does."""
    from policy_engine.report.exports import catalogues, claims
    from policy_engine.report.exports.fields import ExportSource

    colour = made.band.colour
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
    if code := _CODES[colour]:
        raise Exit(code)


def _write(path: Path, text: str) -> None:
    with written_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")


Differences = StrEnum("Differences", "text json markdown")
"""How diff answers."""


def diff(
    old: Annotated[Path, Argument(help="The old policy, or the old certificate.", readable=False)],
    new: Annotated[Path, Argument(help="The new policy, or the new certificate.", readable=False)],
    format: Annotated[  # noqa: A002 - the option's name
        Differences, Option(help="The format of the result.")
    ] = Differences.text,
) -> None:
    """Show what changed between two policies or two certificates, with a verdict for each field.

    The verdict is one of three: weaker, not weaker, or for a person to judge. NEW is weaker if it
    shows a value more exactly, shows smaller groups, has a larger δ at some ε, or needs more
    assumptions. Two recodes are compared by what they do to each value. If a field is weaker or for
    a person to judge, the exit code is 1. Otherwise it is 0. The command verifies nothing. To
    verify a certificate, use 'policy-engine verify'.

    Example: policy-engine diff policies/old.yaml policies/new.yaml --format markdown
    """
    before, after = _comparable(old), _comparable(new)
    if before.kind != after.kind:
        raise UsageError(
            f"{old} is a {before.kind} and {new} a {after.kind}, which do not compare: a policy"
            " says how large δ may be, a certificate how large it is. Name two of one kind"
        )
    found = changes(before, after)
    if format is Differences.json:
        emit_json(_said(before, after, found))
    else:
        emit_lines((_text if format is Differences.text else _markdown)(before, after, found))
    if weakens(found):
        raise Exit(1)


def _comparable(path: Path) -> Comparable:
    """A policy or a certificate, by what its file's name ends in."""
    if path.suffix.lower() != ".json":
        return Comparable.of_policy(load_policy(path, unpromised=True))
    text = read_certificate(path)
    said = unverified_release(text)
    return Comparable.of_certificate(certificate_in(said), said.subject_name)


@frozen
class PriceSaid:
    """What a release cost before, and costs now."""

    before: str
    after: str


@frozen
class DiffSaid:
    """What changed between two policies, or two certificates."""

    kind: str
    old: str
    new: str
    weakens: bool
    price: PriceSaid
    changes: tuple[KeyChange, ...]


def _said(old: Comparable, new: Comparable, found: tuple[KeyChange, ...]) -> DiffSaid:
    price = PriceSaid(old.price, new.price)
    return DiffSaid(new.kind, old.name, new.name, weakens(found), price, found)


def _text(old: Comparable, new: Comparable, found: tuple[KeyChange, ...]) -> Iterator[str]:
    yield f"price  {old.price} → {new.price}"
    for each in found:
        yield from change_lines(each)
    if not found:
        yield "nothing that is promised or shown has changed"


def _markdown(old: Comparable, new: Comparable, found: tuple[KeyChange, ...]) -> Iterator[str]:
    """A review comment: a table, and below it each recode that changed, value by value."""
    yield f"**{cell(new.name)}**: {cell(old.price)} → {cell(new.price)}"
    yield ""
    if not found:
        yield "Nothing that is promised or shown has changed."
        return
    yield "| key | before | after | the promise is |"
    yield "|---|---|---|---|"
    for each in found:
        cells = (each.key, each.before, each.after, verdict_words(each))
        yield f"| {' | '.join(map(cell, cells))} |"
    for each in found:
        if each.map:
            yield ""
            yield f"`{cell(each.key)}`, as a map:"
            yield ""
            yield from (f"* {cell(line)}" for line in moved_lines(each.map))
