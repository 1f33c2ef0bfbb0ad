"""review: who must approve releases of an account, asking for it, and answering."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.everywhere import Commands
from policy_engine.cli.output import Format, FormatOption, confirm, emit, note
from policy_engine.cli.reading import decimal_of, project_here
from policy_engine.cli.reviewed import (
    shown_document,
    shown_lines,
    standing_document,
    standing_lines,
)
from policy_engine.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from policy_engine.attest.approvals import Verdict
    from policy_engine.attest.signers import Signer
    from policy_engine.ledger.reviews import Required
    from policy_engine.ledger.store import Ledger
    from policy_engine.policy.project import Project
    from policy_engine.releasing.asking import Presented, Sought

review = Commands()

KeyOption = Annotated[
    Path | None,
    typer.Option("--key", help="A private key, a PEM file; default: what signs for the project."),
]
RequestArgument = Annotated[
    Path, typer.Argument(metavar="REQUEST", help="The file of the request.", readable=False)
]
RoleOption = Annotated[str, typer.Option("--role", help="Your role in the review policy.")]
AnywayOption = Annotated[
    bool, typer.Option("--anyway", help="Write it though the ledger here would not count it.")
]
NoteOption = Annotated[str, typer.Option("--note", help="A line that others read.")]
_LEAST_DIGITS = 8


@review.callback()
def root() -> None:
    """Approvals that an account requires: of a claim before it is charged, or of what came out.

    The ledger has the review policy of an account from 'review require' on, and charges nothing
    that its people have not approved.

    Example: policy-engine review status out/people.certificate.claim.review.json
    """


@review.command("require", short_help="Set who must approve the releases of an account.")
def require(
    file: Annotated[Path, typer.Argument(help="The review policy, a YAML file.", readable=False)],
    by: Annotated[str, typer.Option("--by", help="Who decided.")],
    why: Annotated[str, typer.Option("--why", help="Why.")],
    policies: Annotated[
        list[Path] | None,
        typer.Option("--policy", help="A policy whose source is the account's from now on."),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Record a review policy in the ledger: from then on its account is released by it alone.

    Whoever sets the account's limit sets the first. Each later one, stricter or not, is approved by
    the people of the one in force: 'review request --review-policy FILE' asks them. There is no way
    back but that: keep the keys. With --policy its source is the account's at once, and not from
    its first charge on: no other account is charged for it.

    Example: policy-engine review require people.review.yaml --by Ada --why "census"
    """
    from policy_engine.attest.review_policy import review_policy
    from policy_engine.policy.loading import load_policy
    from policy_engine.policy.reading import read_text
    from policy_engine.releasing.asking import source_of
    from policy_engine.releasing.beginning import ledger_writer
    from policy_engine.releasing.books import open_ledger
    from policy_engine.releasing.reviewing import brought_at

    project = project_here()
    wanted = review_policy(read_text(file, "review policy"), file)
    brought = brought_at(_change_file(file))
    with open_ledger(project, ledger_writer(project), say=note) as opened:
        now = opened.required(wanted.account)
        if now is None or now.policy.digest != wanted.digest:
            opened.require(wanted, brought, who=by, why=why)
        for path in policies or ():
            source = source_of(load_policy(path), project, opened)
            opened.assign(wanted.account, source, who=by, why=why)
    account = wanted.account
    document = {"account": account, "serial": wanted.serial, "review_policy": wanted.digest,
                "by": by, "why": why}  # fmt: skip
    text = f"{account}: review policy {wanted.serial}, {wanted.digest}, by {by}: {why}"
    confirm(document, [text], format)
    if project.reviews.get(account) != wanted.digest:
        note(
            f"write 'reviews: {{{account}: {wanted.digest}}}' into"
            f" {project.file or 'policy-engine.yaml'}: no other ledger serves then"
        )


@review.command("request", short_help="Ask for the approvals that a release waits for.")
def request(
    policy: Annotated[
        Path | None, typer.Argument(help="The policy that is to be released.", readable=False)
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Of a new sample, of what was released before.")
    ] = False,
    review_policy: Annotated[
        Path | None, typer.Option("--review-policy", help="Of another review policy instead.")
    ] = None,
    limit: Annotated[
        str | None, typer.Option("--limit", help="Of another limit of this account instead.")
    ] = None,
    epsilon: Annotated[str, typer.Option("--epsilon", help="The new limit of ε.")] = "",
    delta: Annotated[str, typer.Option("--delta", help="The new limit of δ.")] = "",
    key: KeyOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Write a signed request for approvals, to be handed to those who approve.

    Of POLICY: of its claim and price, where nothing was charged yet; of what came out, where it
    waits to be approved. The key is that of one of the account's people. One request is good for
    one charge; the one that stands there is kept while it serves.

    Example: policy-engine review request policies/adult/policy.yaml --key ada.pem
    """
    from policy_engine.releasing.asking import ask_for, required_of
    from policy_engine.releasing.books import open_ledger

    given = [each for each in (policy, review_policy, limit) if each is not None]
    if len(given) != 1:
        raise UsageError("name a POLICY, or --review-policy FILE, or --limit ACCOUNT, and one only")
    project = _project_for(policy)
    with open_ledger(project) as opened:
        if policy is not None:
            asked = _of_policy(policy, project, opened, fresh=fresh)
        elif review_policy is not None:
            asked = _of_review_policy(review_policy)
        else:
            asked = _of_limit(str(limit), epsilon, delta, project)
        required = required_of(opened, asked.matter.of["account"])
        written = ask_for(asked, required, opened, signer(project, key))
    emit_asked(asked, required, format, written=written)


def emit_asked(asked: Sought, required: Required, form: Format, *, written: bool) -> None:
    """Print where a request stands, and who answers it."""
    needs = dict(required.policy.needs[asked.matter.stage])
    document = {"request": str(asked.file), "stage": asked.matter.stage, "written": written,
                "subject": asked.matter.sha256, "needs": needs}  # fmt: skip
    told = ", ".join(f"{count} of role {role}" for role, count in needs.items())
    state = "asks for" if written else "stands already, and asks for"
    what = f"{asked.matter.stage} of {asked.matter.name}"
    confirm(document, [f"{asked.file}: {state} approvals of the {what}: {told}"], form)


def _of_policy(path: Path, project: Project, opened: Ledger, *, fresh: bool) -> Sought:
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.asking import wanted

    return wanted(load_policy(path), project, opened, fresh=fresh)


def _of_review_policy(path: Path) -> Sought:
    from policy_engine.attest.review_policy import review_policy
    from policy_engine.ledger.reviews import policy_matter
    from policy_engine.policy.reading import read_text
    from policy_engine.releasing.asking import Sought

    found = review_policy(read_text(path, "review policy"), path)
    return Sought(policy_matter(found), _change_file(path), found.document)


def _of_limit(account: str, epsilon: str, delta: str, project: Project) -> Sought:
    from policy_engine.ledger.account import Limit, limit_to_json
    from policy_engine.ledger.reviews import limit_matter
    from policy_engine.releasing.asking import Sought

    limit = Limit(decimal_of("--epsilon", epsilon), decimal_of("--delta", delta))
    shown = {"account": account, **limit_to_json(limit)}
    return Sought(limit_matter(account, limit), limit_file(account, project), shown)


def _change_file(path: Path) -> Path:
    return path.with_name(f"{path.stem}.change.review.json")


def limit_file(account: str, project: Project) -> Path:
    """Where the request of another limit of an account stands."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", account)
    return project.directory / f"{name}.limit.change.review.json"


@review.command("approve", short_help="Sign that you approve what a request asks.")
def approve(
    request: RequestArgument,
    role: RoleOption,
    key: KeyOption = None,
    note: NoteOption = "",
    anyway: AnywayOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Sign an approval, a line of the file of approvals beside the request, and say of what it is.

    Look at it before with 'review status'. Whether it counts says the account's review policy, by
    the key that signs: its person, their role, the time. Where the ledger is at hand, one that
    would not count is not written.

    Example: policy-engine review approve out/a.certificate.claim.review.json --role owner
    """
    _give(_Answer(request, "approved", role, note, anyway), key, format)


@review.command("reject", short_help="Sign that you reject what a request asks.")
def reject(
    request: RequestArgument,
    role: RoleOption,
    key: KeyOption = None,
    note: NoteOption = "",
    anyway: AnywayOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Sign a rejection, a line of the file of approvals: the request serves no more.

    The line can be lost with the file. Who must stop a release for certain does not approve it.

    Example: policy-engine review reject out/a.certificate.claim.review.json --role owner
    """
    _give(_Answer(request, "rejected", role, note, anyway), key, format)


@dataclass(frozen=True)
class _Answer:
    """What somebody answers to a request."""

    request: Path
    verdict: Verdict
    role: str
    note: str
    anyway: bool


def _give(answer: _Answer, key: Path | None, form: Format) -> None:
    from policy_engine.policy.fields import is_line
    from policy_engine.releasing.asking import answered
    from policy_engine.releasing.reviewing import add_approval

    if answer.note and not is_line(answer.note):
        raise UsageError("--note must be text on one line")
    project = project_here()
    signs = signer(project, key)
    found, line = answered(
        answer.request, signs, datetime.now(UTC),
        verdict=answer.verdict, role=answer.role, note=answer.note,
    )  # fmt: skip
    why = _why_not(project, found, answer.request, line)
    if why and not answer.anyway:
        raise UsageError(
            f"{answer.request}: nothing was written, for it would not count: {why}; --anyway writes"
            " it all the same"
        )
    place = add_approval(answer.request, line)
    document = {"approvals": str(place), "verdict": answer.verdict, "role": answer.role,
                "key": signs.key_id, "not_counted": why, **shown_document(found)}  # fmt: skip
    told = f"{place}: {answer.verdict} as {answer.role}, by the key {signs.key_id[:8]}"
    confirm(document, [told, *shown_lines(found)], form)
    if why:
        note(f"it does not count: {why}")


def _why_not(project: Project, found: Presented, request: Path, line: str) -> str:
    """Why the ledger would not count an answer; who approves need not have the ledger."""
    from policy_engine.releasing.asking import why_not
    from policy_engine.releasing.books import has_ledger, open_ledger
    from policy_engine.releasing.reviewing import brought_at

    try:
        if has_ledger(project):
            with open_ledger(project) as opened:
                return why_not(found, brought_at(request), line, opened)
        fault = "no ledger is here"
    except LedgerError as error:
        fault = str(error)
    note(f"whether it counts is not known here: {fault}")
    return ""


@review.command("status", short_help="What a request asks, and which approvals count.")
def status(
    request: RequestArgument,
    sql: Annotated[bool, typer.Option("--sql", help="Show the query that would run too.")] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Show where a request stands: approved, for whom it waits, who has rejected it; then what.

    Exits with 1 unless it is approved.

    Example: policy-engine review status out/a.certificate.claim.review.json
    """
    from policy_engine.releasing.asking import standing
    from policy_engine.releasing.books import open_ledger

    with open_ledger(project_here()) as opened:
        found, required, told = standing(request, opened)
    needs = required.policy.needs[found.matter.stage]
    document = {**shown_document(found), **standing_document(told), "needs": dict(needs),
                "review_policy": required.policy.digest}  # fmt: skip
    emit(document, [*standing_lines(told), *shown_lines(found, sql=sql)], format)
    if told.faults:
        raise typer.Exit(1)


@review.command("revoke", short_help="Withdraw a key: nothing that it approves counts.")
def revoke(
    key: Annotated[
        str, typer.Argument(metavar="KEYID", help="A key id, or its first 8 or more digits.")
    ],
    by: Annotated[str, typer.Option("--by", help="Who decided.")],
    why: Annotated[str, typer.Option("--why", help="Why.")],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Record that a key of an approver counts no more, in every account and for good.

    What was charged stays; what is charged from now on needs other keys. Give the person another
    one in the next review policy.

    Example: policy-engine review revoke 3fa2b1c4 --by Ada --why "the laptop was stolen"
    """
    from policy_engine.attest.signers import writer_of
    from policy_engine.releasing.books import open_ledger

    project = project_here()
    with open_ledger(project, writer_of(project)) as opened:
        found = _known_keys(opened)
        named = sorted(name for name in found if name.startswith(key))
        if len(key) < _LEAST_DIGITS or len(named) != 1:
            raise UsageError(f"no one key {key[:80]!a} in the review policies of the ledger")
        opened.revoke(named[0], who=by, why=why)
    document = {"key_id": named[0], "person": found[named[0]], "by": by, "why": why}
    told = f"{named[0]}, of {found[named[0]]}: revoked, by {by}: {why}"
    confirm(document, [told], format)


def _known_keys(opened: Ledger) -> dict[str, str]:
    """Every key of a review policy in force, and whose it is."""
    found: dict[str, str] = {}
    for name in opened.names():
        required = opened.required(name)
        if required is not None:
            found |= {key: each.name for each in required.policy.people for key in each.keys}
    return found


def signer(project: Project, key: Path | None) -> Signer:
    """Who signs: a key file, else what signs for the project."""
    from policy_engine.attest.keys import load_private_key
    from policy_engine.attest.signers import KeySigner, signer_of

    return signer_of(project) if key is None else KeySigner(load_private_key(key))


def _project_for(policy: Path | None) -> Project:
    if policy is None:
        return project_here()
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.planning import project_of

    return project_of(load_policy(policy))
