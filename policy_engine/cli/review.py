"""review: who must approve releases of an account, asking for it, and answering."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from policy_engine.attest.approvals import ReviewPolicy, Tally, Verdict
from policy_engine.attest.approvals import review_policy as read_review_policy
from policy_engine.attest.keys import load_private_key
from policy_engine.attest.signers import KeySigner, Signer, signer_of, writer_of
from policy_engine.cli import options
from policy_engine.cli.app import Commands
from policy_engine.cli.output import complain, confirm, emit, is_json, is_quiet, one_line
from policy_engine.cli.output import note as say
from policy_engine.cli.reading import (
    check_free,
    decimal_of,
    own_project,
    project_here,
    written_whole,
)
from policy_engine.errors import LedgerError, UsageError
from policy_engine.kernel.wording import quoted
from policy_engine.ledger import deciding
from policy_engine.ledger.account import check_windows, limit_to_json
from policy_engine.ledger.reviews import Required, limit_matter, plan_matter, policy_matter
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.windows import window_at
from policy_engine.policy.accounts import listed_as, nearest, twin_of
from policy_engine.policy.fields import is_line
from policy_engine.policy.loading import load_policy
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.project import Project
from policy_engine.policy.reading import read_text
from policy_engine.policy.resolve import Policy
from policy_engine.releasing import asking
from policy_engine.releasing.asking import Sought
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import (
    has_ledger,
    open_ledger,
    planned_document,
    stated_limit,
    wanted_limit,
)
from policy_engine.releasing.planning import project_of
from policy_engine.releasing.presenting import Presented, presented
from policy_engine.releasing.reviewing import add_approval, brought_at, change_file
from policy_engine.report.request_words import decides
from policy_engine.values import frozen

review = Commands()

RequestArgument = Annotated[
    Path, Argument(metavar="REQUEST", help="The file of the request.", readable=False)
]
RoleOption = Annotated[str, Option(help="Your role in the review policy.")]
AnywayOption = Annotated[
    bool, Option("--anyway", help="Write the answer even if the ledger here would not count it.")
]
NoteOption = Annotated[str, Option(help="A note for other people to read.")]
YesOption = Annotated[
    bool, Option("--yes", help="Ask nothing: you have looked at the request before.")
]
SqlOption = Annotated[bool, Option("--sql", help="Also show the query.")]
SearchOption = Annotated[
    bool,
    Option("--search", help="Ask for approvals of 'search', instead of approvals of a release."),
]
SuggestOption = Annotated[
    str | None,
    Option(
        metavar="ε",
        help="Ask for approvals of 'suggest' at this ε, instead of approvals of a release.",
    ),
]
ONE_CHOICE = "--search or --suggest is of a POLICY, one of them alone"
_LEAST_DIGITS = 8


@review.callback()
def root() -> None:
    """Approvals that an account requires: of a claim before the charge, or of the drawn result.

    The ledger has the review policy of an account from 'review require' on, and charges nothing
    that its people have not approved.

    Example: policy-engine review status out/people.certificate.claim.review.json
    """


@review.command("require", short_help="Set who must approve the releases of an account.")
def require(
    file: Annotated[Path, Argument(help="The YAML file of the review policy.", readable=False)],
    by: options.ByOption,
    why: options.WhyOption,
    policies: Annotated[
        list[Path] | None,
        Option("--policy", help="A policy whose source belongs to the account from now on."),
    ] = None,
    alone: Annotated[
        bool,
        Option(
            "--alone",
            help="Accept that the loss of one key makes changes of the account impossible.",
        ),
    ] = False,
) -> None:
    """Record a review policy in the ledger. From now on, the account needs the approvals in this
    policy.

    The person who sets the account's limit also sets the first review policy. The command records
    the limit in the project file, so nobody can raise this limit later without approvals.

    The people in the present review policy must approve each later review policy, even if it is
    stricter. To ask them, use 'review request --review-policy FILE'. There is no other way to
    change a review policy, so keep the keys. If the loss of one key would make every later change
    impossible, the review policy is refused. --alone accepts it.

    With --policy, the source of that policy belongs to the account immediately. Without --policy, a
    source belongs to the account from its first charge on. No other account can be charged for this
    source.

    Example: policy-engine review require people.review.yaml --by Ada --why "census"
    """
    project = own_project()
    wanted = read_review_policy(read_text(file, "review policy"), file)
    account, brought = wanted.account, brought_at(_change_file(file))
    _check_not_alone(wanted, alone=alone)
    with open_ledger(project, ledger_writer(project), say=say) as opened:
        now = opened.read().approvals.required(account)
        if now is None:
            _check_known(account, opened, project)
        if now is None or now.policy.digest != wanted.digest:
            limit = stated_limit(project, account)
            [window] = window_at(
                None if limit is None else limit.each, opened.read().at, project.zone
            )
            deciding.require(
                opened, wanted, brought, who=by, why=why, limit=limit, window=window
            )  # fmt: skip
        for path in policies or ():
            source = asking.source_of(load_policy(path), project, opened)
            deciding.assign(opened, account, source, who=by, why=why)
    document = {"account": account, "serial": wanted.serial, "review_policy": wanted.digest,
                "by": by, "why": why}  # fmt: skip
    text = f"{account}: review policy {wanted.serial}, {wanted.digest}, by {by}: {why}"
    confirm(document, [text])
    if project.reviews.get(account) != wanted.digest:
        say(
            f"write 'reviews: {{{account}: {wanted.digest}}}' into"
            f" {project.file or 'policy-engine.yaml'}: no other ledger serves then"
        )


def _check_known(account: str, opened: Ledger, project: Project) -> None:
    """UsageError of an account that nothing is charged to: what it requires binds no release."""
    known = opened.read().budget.names()
    if account in known or listed_as(account, project) is not None:
        return
    near = nearest(account, {*known, *project.accounts}) or twin_of(account, known, project)
    if near is None and (project.accounts_open or not project.accounts):
        return
    meant = (
        f"did you mean {near!r}?" if near is not None else f"known: {', '.join(project.accounts)}"
    )
    raise UsageError(
        f"there is no account {account!r}; {meant} A new one is listed under accounts in"
        f" {project.file or PROJECT_FILE} first. Nothing was set"
    )


def _check_not_alone(wanted: ReviewPolicy, *, alone: bool) -> None:
    """UsageError where one lost key would end the account, unless that is meant."""
    names = ", ".join(each.name for each in wanted.alone)
    if not names:
        return
    text = (
        f"if one key of {names} is lost, nobody can approve a change of account"
        f" {wanted.account!r} any more, for ever: give each a second key, or name more people than"
        " 'change' needs"
    )
    if not alone:
        raise UsageError(f"{text}; --alone sets it all the same. Nothing was set")
    say(f"warning: {text}")


@review.command("request", short_help="Ask for the approvals that a release needs.")
def request(
    policy: Annotated[Path | None, Argument(help="The policy to release.", readable=False)] = None,
    revise: Annotated[
        bool, Option("--revise", help="Ask for a new draw of a release that exists.")
    ] = False,
    edition: options.EditionOption = None,
    review_policy: Annotated[
        Path | None,
        Option(
            help="Ask for approvals of this new review policy, instead of approvals of a release."
        ),
    ] = None,
    limit: Annotated[
        str | None,
        Option(
            help="Ask for approvals of a new limit of this account, instead of approvals of "
            "a release."
        ),
    ] = None,
    epsilon: options.NewEpsilonOption = "",
    delta: options.NewDeltaOption = "",
    plan: Annotated[
        str | None,
        Option(
            help="Ask for approvals of this account's plan in the project file, instead "
            "of approvals of a release."
        ),
    ] = None,
    search: SearchOption = False,
    suggest: SuggestOption = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="The policy file that 'search' or 'suggest' will write."),
    ] = None,
    key: options.SignerOption = None,
) -> None:
    """Write a signed request for approvals. Give its file to the people who approve.

    Before a charge, the people in the account's review policy approve the policy's claim and price.
    If a drawn release waits for approval, they approve its result. Sign the request with the key of
    one of these people. A request is valid for one charge. If an earlier request can still be used,
    the command keeps it.

    Example: policy-engine review request policies/adult/policy.yaml --key ada.pem
    """
    if [policy, review_policy, limit, plan].count(None) != 3:
        raise UsageError(
            "name a POLICY, or --review-policy FILE, --limit ACCOUNT or --plan ACCOUNT, and one"
            " only"
        )
    is_choice = search or suggest is not None
    if is_choice and (policy is None or revise or (search and suggest)):
        raise UsageError(ONE_CHOICE)
    if output is not None and not is_choice:
        raise UsageError("--output is of what --search or --suggest writes: name one of them")
    loaded = None if policy is None else load_policy(policy)
    project = project_here() if loaded is None else project_of(loaded)
    chosen = None
    if is_choice and loaded is not None:
        chosen = choice_sought(loaded, project, suggest, edition, output)
    with open_ledger(project) as opened:
        if chosen is not None:
            asked = chosen
        elif loaded is not None:
            asked = asking.wanted(loaded, project, opened.read(), edition=edition, revise=revise)
        elif review_policy is not None:
            found = read_review_policy(read_text(review_policy, "review policy"), review_policy)
            asked = Sought(policy_matter(found), _change_file(review_policy), found.document)
        elif plan is not None:
            document = planned_document(project, plan)
            asked = Sought(plan_matter(document), change_file(plan, "plan", project), document)
        else:
            account = str(limit)
            numbers = decimal_of("--epsilon", epsilon), decimal_of("--delta", delta)
            new = wanted_limit(project, account, *numbers)
            check_windows(opened.read().budget.account(account), new)
            shown = {"account": account, **limit_to_json(new)}
            asked = Sought(
                limit_matter(account, new), change_file(account, "limit", project), shown
            )
        books = opened.read()
        required = asking.required_of(books, asked.matter.of["account"])
        written = asking.ask_for(asked, required, books, signer(project, key))
    emit_asked(asked, required, written=written)


def choice_sought(
    policy: Policy,
    project: Project,
    suggest: str | None,
    edition: str | None,
    output: Path | None = None,
) -> Sought:
    """What approvals of a choice are asked for: a suggestion at ``suggest``, else a search."""
    from policy_engine.choose.safe import recoding_sought
    from policy_engine.choose.suggesting import numbers_sought

    if suggest is None:
        return recoding_sought(policy, project, edition or "", output)
    return numbers_sought(policy, project, decimal_of("--suggest", suggest), edition or "", output)


def emit_asked(asked: Sought, required: Required, *, written: bool) -> None:
    """Print where a request stands, and who answers it."""
    matter = asked.matter
    needs = required.policy.needs[matter.stage]
    document = {"request": asked.file, "stage": matter.stage, "written": written,
                "subject": matter.sha256, "needs": needs}  # fmt: skip
    told = ", ".join(f"{count} of role {role}" for role, count in needs.items())
    state = "asks for" if written else "stands already, and asks for"
    what = f"{state} approvals of the {matter.stage} of {matter.name}"
    confirm(document, [f"{asked.file}: {what}: {told}"])


def _change_file(path: Path) -> Path:
    return path.with_name(f"{path.stem}.change.review.json")


@review.command("show", short_help="Show everything that a request asks for.")
def show(
    request: RequestArgument,
    sql: SqlOption = False,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Write a page for a browser: FILE.html.")
    ] = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace the page if the file exists.")
    ] = False,
) -> None:
    """Show everything that matters for the approval of a request. Only the file of the request is
    needed, no ledger, data or policy.

    The output shows the source, who is protected, each column with its recode, the filter, the
    mechanism, the promise, the price and the assumptions. It also shows the differences from the
    last approved request for an earlier charge. An approval signs digests that fix all these facts.

    Two facts are known only to the ledger: what is left in the account, and what was approved last.
    The output marks the first fact as a statement of the person who asks. The ledger checks both
    facts at the charge. If a request contradicts itself, for example if its SQL does not follow
    from its claim, the exit code is 1. With --output, the command writes a page that also has
    questions to ask about each part.

    Example: policy-engine review show out/a.certificate.claim.review.json -o asked.html
    """
    if output is not None:
        if output.suffix.lower() != ".html":
            raise UsageError(f"a request is written as .html, found '{output}'")
        check_free(output, replace=replace)
    found = presented(request)
    if output is None:
        emit(_shown(found), _shown_lines(found, sql=sql))
        return
    from policy_engine.report.request_page import request_page

    text = request_page(found, str(request))
    with written_whole(output) as aside:
        aside.write_text(text, encoding="utf-8")
    confirm({**vars(_shown(found)), "page": str(output)}, [f"page  {output}"])


@review.command("approve", short_help="Sign that you approve what a request asks.")
def approve(
    request: RequestArgument,
    role: RoleOption,
    key: options.SignerOption = None,
    note: NoteOption = "",
    yes: YesOption = False,
    anyway: AnywayOption = False,
) -> None:
    """Show everything that a request asks for, ask you to confirm it, and sign an approval.

    The approval is a line in the file of approvals beside the request. The account's review policy
    decides whether the approval counts: the key, its person, the role and the time must be right.
    If the ledger can be read here and the approval would not count, nothing is written.

    In a script, where nobody can answer a question, use --yes. With --yes, you state that you have
    looked at the request with 'review show'.

    Example: policy-engine review approve out/a.certificate.claim.review.json --role owner
    """
    _answer(request, "approved", role, note, key, yes=yes, anyway=anyway)


@review.command("reject", short_help="Sign that you reject what a request asks, and why.")
def reject(
    request: RequestArgument,
    role: RoleOption,
    note: Annotated[str, Option(help="The reason: a line that the author and all others read.")],
    key: options.SignerOption = None,
    anyway: AnywayOption = False,
) -> None:
    """Sign a rejection. The request cannot be used any more.

    The rejection is a line in the file of approvals. Its note is shown together with the request,
    also to the person who releases. If the file is lost, the rejection is lost. To be certain that
    there is no release, do not approve the request.

    Example: policy-engine review reject a.claim.review.json --role owner --note "age by decades"
    """
    _answer(request, "rejected", role, note, key, yes=True, anyway=anyway)


def _answer(
    request: Path,
    verdict: Verdict,
    role: str,
    note: str,
    key: Path | None,
    *,
    yes: bool,
    anyway: bool,
) -> None:
    if (note and not is_line(note)) or (verdict == "rejected" and not note):
        raise UsageError("--note must be text on one line")
    project = project_here()
    signs = signer(project, key)
    now = datetime.now(UTC)
    found, line = asking.answered(request, signs, now, verdict=verdict, role=role, note=note)
    why = _why_not(project, found, request, line)
    if why and not anyway:
        raise UsageError(
            f"{request}: nothing was written because it would not count: {why}; --anyway writes"
            " it all the same"
        )
    if not is_json():
        confirm({}, _shown_lines(found))
    if not yes and not _is_meant(found):
        raise UsageError(f"{request}: nothing was signed")
    place = add_approval(request, line)
    document = {"approvals": place, "verdict": verdict, "role": role, "key": signs.key_id,
                "note": note, "not_counted": why, **vars(_shown(found))}  # fmt: skip
    confirm(document, [f"{place}: {verdict} as {role}, by the key {signs.key_id[:8]}"])
    if why:
        say(f"it does not count: {why}")


def _is_meant(found: Presented) -> bool:
    """Whether somebody at the terminal says yes to all of it; UsageError where nobody is there."""
    if is_json() or is_quiet() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "nobody can be asked here: look at it with 'policy-engine review show', and say --yes;"
            " nothing was signed"
        )
    complain(f"Do you approve all of this {found.matter.stage}? Type yes:")
    return sys.stdin.readline().strip().casefold() == "yes"


def _why_not(project: Project, found: Presented, request: Path, line: str) -> str:
    """Why the ledger would not count an answer; who approves need not have the ledger."""
    try:
        if has_ledger(project):
            with open_ledger(project) as opened:
                return asking.why_not(found, brought_at(request), line, opened.read())
        fault = "no ledger is here"
    except LedgerError as error:
        fault = str(error)
    say(f"whether it counts is not known here: {fault}")
    return ""


@review.command("status", short_help="Show the state of a request.")
def status(request: RequestArgument, sql: SqlOption = False) -> None:
    """Show who has approved or rejected a request, for whom it waits, and what the next step is.

    If the request is not approved, the exit code is 1. This command reads the ledger to find out
    which approvals count. 'review show' needs no ledger.

    Example: policy-engine review status out/a.certificate.claim.review.json
    """
    with open_ledger(own_project()) as opened:
        found, required, told = asking.standing(request, opened.read())
    revoked = [required.policy.person(key).name for key in sorted(required.revoked)]
    said = RequestStanding(
        **vars(_shown(found)),
        met=not told.faults,
        missing=told.faults,
        rejected_by=tuple(name for name, _ in told.rejected),
        rejections=tuple(RejectionSaid(name, note) for name, note in told.rejected),
        counted=tuple(CountedSaid(name, role) for name, role, _ in told.counted),
        refused=told.refused,
        revoked=tuple(revoked),
        waits_for=told.waits_for,
        needs=required.policy.needs[found.matter.stage],
    )
    lines = [
        _standing(told),
        *(f"  rejected by {name}: {quoted(note)}" for name, note in told.rejected),
        *(f"  approved by {name}, {role}" for name, role, _ in told.counted),
        *(f"  not counted: {why}" for why in told.refused),
        *(f"  revoked: a key of {name}" for name in revoked),
        *(f"  to be sent to {name}" for name in told.waits_for),
        *_shown_lines(found, sql=sql),
    ]
    emit(said, lines)
    if told.faults:
        raise Exit(1)


def _standing(told: Tally) -> str:
    if told.rejected:
        names = ", ".join(name for name, _ in told.rejected)
        return f"rejected by {names}: this request serves no more"
    if told.faults:
        return f"waits: {'; '.join(told.faults)}"
    return "approved" if told.counted else "approved: nobody has to"


@frozen(kw_only=True)
class RequestSaid:
    """What a request asks for: all that decides, in words and as it is signed."""

    stage: str
    name: str
    subject: str
    of: Mapping[str, str]
    decides: Mapping[str, Sequence[str]]
    shown: Mapping[str, object]
    last: Mapping[str, object]
    account: Mapping[str, object]
    asked_by: str
    review_policy: str


def _shown(found: Presented) -> RequestSaid:
    matter = found.matter
    return RequestSaid(
        stage=matter.stage,
        name=matter.name,
        subject=matter.sha256,
        of=matter.of,
        decides={part.label: part.lines for part in decides(found)},
        shown=found.shown,
        last=found.last,
        account=found.account.to_json(),
        asked_by=found.asker.name,
        review_policy=found.policy.digest,
    )


@frozen
class RejectionSaid:
    """Who rejected a request, and why."""

    by: str
    note: str


@frozen
class CountedSaid:
    """Whose approval counts, and as what."""

    by: str
    role: str


@frozen(kw_only=True)
class RequestStanding(RequestSaid):
    """A request, and what it has of the approvals that it needs."""

    met: bool
    missing: tuple[str, ...]
    rejected_by: tuple[str, ...]
    rejections: tuple[RejectionSaid, ...]
    counted: tuple[CountedSaid, ...]
    refused: tuple[str, ...]
    revoked: tuple[str, ...]
    waits_for: tuple[str, ...]
    needs: Mapping[str, int]


def _shown_lines(found: Presented, *, sql: bool = False) -> Iterator[str]:
    """All that decides of a request, label by label; with its query where that is asked for."""
    matter = found.matter
    yield f"{matter.stage} of {one_line(matter.name)}: {matter.sha256}"
    for part in decides(found):
        for number, line in enumerate(part.lines):
            label = "" if number else part.label
            yield f"  {label:<11} {line}"
    if sql and matter.stage != "change":
        yield from (f"  {line}" for line in str(found.shown["query"]).rstrip().split("\n"))


@review.command("revoke", short_help="Revoke the key of an approver.")
def revoke(key: options.KeyArgument, by: options.ByOption, why: options.WhyOption) -> None:
    """Record that the key of an approver does not count any more, in any account and for ever.

    Past charges are not changed. Later charges need approvals by other keys. To give the person
    another key, write this key into the next review policy.

    Example: policy-engine review revoke 3fa2b1c4 --by Ada --why "the laptop was stolen"
    """
    project = own_project()
    with open_ledger(project, writer_of(project)) as opened:
        policies = [
            each.policy
            for name in opened.read().budget.names()
            if (each := opened.read().approvals.required(name))
        ]
        people = [one for policy in policies for one in policy.people]
        found = {name: one.name for one in people for name in one.keys}
        named = sorted(name for name in found if name.startswith(key))
        if len(key) < _LEAST_DIGITS or len(named) != 1:
            raise UsageError(f"no one key {key[:80]!a} in the review policies of the ledger")
        deciding.revoke(opened, named[0], who=by, why=why)
    document = {"key_id": named[0], "person": found[named[0]], "by": by, "why": why}
    confirm(document, [f"{named[0]}, of {found[named[0]]}: revoked, by {by}: {why}"])


def signer(project: Project, key: Path | None) -> Signer:
    """Who signs: a key file, else what signs for the project."""
    return signer_of(project) if key is None else KeySigner(load_private_key(key))
