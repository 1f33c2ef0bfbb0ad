"""ledger: the accounts, what was charged to them, and settling what a crash left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from policy_engine.attest.attestation import LEDGER_TYPE, sign, statement
from policy_engine.attest.keys import load_private_key
from policy_engine.attest.owners import believed
from policy_engine.attest.signers import KeySigner, Signer, signer_of, writer_of
from policy_engine.attest.validity import written
from policy_engine.cli.app import Commands
from policy_engine.cli.balances import (
    publish,
    rows_words,
    show,
    units_of,
    verify,
)
from policy_engine.cli.options import (
    ByOption,
    NewDeltaOption,
    NewEpsilonOption,
    SignerOption,
    WhyOption,
)
from policy_engine.cli.output import (
    confirm,
    emit,
    emit_lines,
    note,
    shown,
)
from policy_engine.cli.reading import decimal_of, own_project, project_here
from policy_engine.cli.results import Left
from policy_engine.errors import FileError, UsageError
from policy_engine.ledger import deciding
from policy_engine.ledger.account import effective
from policy_engine.ledger.promises import promises
from policy_engine.ledger.statement import SUBJECT, public_statement
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.windows import window_at
from policy_engine.ledger.witness import Witness
from policy_engine.policy.accounts import listed_as, nearest, twin_of
from policy_engine.policy.escapes import Exact
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import counted
from policy_engine.releasing import asking, beginning, books
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.publish import write_certificate
from policy_engine.releasing.reviewing import brought_at, change_file

ledger = Commands()
ledger.command("publish", short_help="Publish the head of the ledger in another place.")(publish)


@ledger.callback()
def root() -> None:
    """The accounts, and the chain of records of everything that was charged.

    The ledger is that of the project file found upwards from the working directory.

    Example: policy-engine ledger show
    """


@ledger.command("begin", short_help="Begin a ledger before the first release.")
def begin(
    anew: Annotated[
        bool,
        Option(
            "--anew", help="Begin a new ledger, although an older one existed and is lost for ever."
        ),
    ] = False,
) -> None:
    """Begin a ledger, and write its identity into the project file. Commit that file.

    You need this command only if keys were made in advance, or if an older ledger is lost.
    Otherwise the first release of a project begins the ledger. The first release does so only if
    the project has no keyring, sealing key, certificate or trace of another ledger.

    If the project has a sealing key, a certificate of a release or a trace of another ledger, add
    --anew. A new ledger does not know earlier charges. So lower the limit of each account by the
    amount that was spent before.

    Example: policy-engine ledger begin
    """
    project = project_here()
    found = beginning.begin(project, anew=anew, say=note)
    document = {"ledger": project.ledger_name, "begins": found.begins,
                "records": found.records, "project_file": found.pinned}  # fmt: skip
    commit = "every checkout of this project begins its own"
    if found.pinned is not None:
        commit = f"{found.pinned} names it: commit that, and {project.keyring.name}"
    records = counted(found.records, "record")
    confirm(document, [f"{project.ledger_name}: begins with {found.begins}, {records}; {commit}"])


ledger.command("show", short_help="Show accounts, what is left of them, and entries.")(show)
ledger.command("verify", short_help="Check that the ledger is complete and unchanged.")(verify)


@ledger.command("limit", short_help="Change the limit of an account.")
def limit(
    account: Annotated[str, Argument(help="The account.")],
    epsilon: NewEpsilonOption,
    delta: NewDeltaOption,
    by: ByOption,
    why: WhyOption,
    new: Annotated[
        bool,
        Option(
            "--new",
            help="Open this account, although its name is similar to that of another account.",
        ),
    ] = False,
) -> None:
    """Change the limit of an account. The ledger records who decided and why.

    Also write the same limit into the project file. The project file sets the first limit of an
    account and can lower a limit. But only this command can raise a limit.

    A limit can be for a window, such as a year. The key `each` in the project file says how long a
    window is. If `each` has changed, all earlier charges count in today's window.

    If the name of a new account is very similar to that of another account, the command refuses it
    as a probable typing mistake. --new accepts the name. If the account has a review policy, first
    ask for approvals with 'review request'.

    Example: policy-engine ledger limit census --epsilon 2 --delta 1e-6 --by Ada --why "2026 wave"
    """
    project = own_project()
    numbers = decimal_of("--epsilon", epsilon), decimal_of("--delta", delta)
    wanted = books.wanted_limit(project, account, *numbers)
    brought = brought_at(change_file(account, "limit", project))
    with open_ledger(project, beginning.ledger_writer(project), say=note) as opened:
        if not new:
            _check_meant(account, opened, project)
        [window] = window_at(wanted.each, opened.read().at, project.zone)
        opened.set_limit(account, wanted, who=by, why=why, brought=brought, window=window)
        budget = opened.read().budget
        entries = budget.entries()
        stated = books.stated_limit(project, account)
        recorded = budget.account(account)
        state, units = effective(recorded, stated), units_of(account, entries)
        windows = books.windows_now(state, project, opened.books.at)
        like = state.last_kind(entries)
        left = state.remaining(like, windows=windows)
        # A project file that says more stops payments, which tells nothing of what is spent.
        own = replace(state, is_stopped=False).remaining(like, windows=windows)
    document = {
        "account": account, "units": units, "by": by, "why": why,
        "epsilon_limit": wanted.epsilon, "delta_limit": wanted.delta, "left": Left.of(left),
    }  # fmt: skip
    text = f"{account}: the limit is now {wanted}"
    numbers_now = (wanted.epsilon, wanted.delta)
    # Of what was charged under others, or in windows that are one now, more is told by now.
    is_more = {*recorded.promised(wanted)} - {numbers_now} or wanted.each is None
    told = promises(recorded) if is_more else ()
    lines = [f"{text} (unit: {', '.join(units) or 'none yet'}), by {by}: {why}"]
    confirm(document, [*lines, *(f"  {sentence}" for sentence in told)])
    if stated is not None and wanted.is_above(stated):
        note(f"{stated.where} still says {stated}, and the lower limit counts: change it there too")
        return  # of the lower one there may be nothing left, which says nothing of the new one
    if stated is not None and stated.is_above(wanted):
        note(f"{stated.where} still says {stated}: lower it there too, or nothing is paid for")
    has_slots = own is not None and any(each.left for each in own.slots)
    if own is not None and not own.alike and own.epsilon is None and not has_slots:
        note(f"by this limit {account} pays for nothing more: {own.words('the last')}")


def _check_meant(account: str, opened: Ledger, project: Project) -> None:
    """UsageError where a name is nearly that of an account."""
    known = opened.read().budget.names()
    near = nearest(account, {*known, *project.accounts})
    if near is None and account not in known:
        near = twin_of(account, known, project)
    if near is not None:
        raise UsageError(
            f"there is no account {account!r}; did you mean {near!r}? --new opens a new one"
        )


@ledger.command("move", short_help="Give a source to another account.")
def move(
    entry: Annotated[int, Argument(help="The number of an entry that was charged for the source.")],
    account: Annotated[str, Argument(help="The account that the source belongs to from now on.")],
    by: ByOption,
    why: WhyOption,
    new: Annotated[
        bool,
        Option(
            "--new",
            help="The account is new, although its name is similar to that of another account.",
        ),
    ] = False,
    public: Annotated[
        str,
        Option(
            help="Move a table that the entry's policy joined as public under this name, "
            "although the table has rows of people.",
            metavar="NAME",
        ),
    ] = "",
) -> None:
    """Give the source of an entry to another account. The ledger records who decided and why.

    A source belongs to the account that paid for it first. No other account can be charged for this
    source. Past charges stay in the old account. If both accounts protect the same people, lower
    the limit of the new account by these charges.

    If a policy joined a table as public by mistake, because it has rows of people, use --public
    with the policy's name of the table, and give an entry of this policy. From then on, the table
    belongs to ACCOUNT.

    Example: policy-engine ledger move 2 census_2026 --by Ada --why "the file has new people"
    """
    project = own_project()
    with open_ledger(project, writer_of(project)) as opened:
        if not new:
            _check_meant(account, opened, project)
        if not project.accounts_open and listed_as(account, project) is None:
            raise UsageError(f"there is no account {account!r} in {project.file}; list it first")
        before = "" if public else opened.read().budget.entry(entry).account
        deciding.move(opened, entry, account, who=by, why=why, public=public)
    document = {"source_of": entry, "from": before, "to": account, "by": by, "why": why}
    what = f"what entry {entry} joined as {public}" if public else f"the source of entry {entry}"
    lines = [
        f"{what} belongs to account {account} now, by {by}: {why}",
        "past charges stay with the account that paid: people who are in both accounts can lose the"
        " sum of both limits",
    ]
    emit(document, lines)


@ledger.command("rekey", short_help="Replace the sealing key.")
def rekey(
    by: ByOption,
    why: WhyOption,
    old: Annotated[
        Path | None, Argument(help="The PEM file of the old sealing key.", readable=False)
    ] = None,
    lost: Annotated[
        bool,
        Option(
            "--lost",
            help="The old key is lost for ever: forget to which accounts the sources belonged.",
        ),
    ] = False,
) -> None:
    """Replace the sealing key OLD by the project's sealing key. The ledger records who decided and
    why.

    First put the new key in the place of the project's sealing key. If no key is there, the command
    makes one. The ledger still needs the old key to recognise sources and to open past releases. So
    the command encrypts the old key with the new key, and keeps it in the ledger.

    With --lost instead of OLD, the ledger no longer recognises any past release or the account of
    any source. Every release is then charged again. So lower the limits first.

    Example: policy-engine ledger rekey old.pem --by Ada --why "her laptop was stolen"
    """
    if lost == (old is not None):
        raise UsageError("say OLD, the sealing key until now, or --lost, and not both")
    project = own_project()
    key = books.rekey(project, old, who=by, why=why)
    document = {"sealing_key": key, "lost": lost, "by": by, "why": why}
    names = "what the lost one named is forgotten" if lost else "sources keep their names"
    emit(document, [f"{project.sealing_key}: {key[:8]} seals now; {names}, by {by}: {why}"])


@ledger.command("disown", short_help="Leave out rows that no key of yours has signed.")
def disown(
    first: Annotated[
        int,
        Argument(
            help="The number of the first row to leave out. All later rows are also left out."
        ),
    ],
    by: ByOption,
    why: WhyOption,
    owner: Annotated[
        list[Path] | None,
        Option(
            help="The private key of an owner of the keyring. Repeat the option for each owner.",
            readable=False,
        ),
    ] = None,
    ask: Annotated[
        bool,
        Option("--ask", help="First ask the people in the review policies for their approval."),
    ] = False,
    key: SignerOption = None,
) -> None:
    """Leave out the last rows of the ledger if no key of yours has signed them.

    Anyone with the right to insert rows into a ledger in PostgreSQL can write a row without a key.
    Nobody trusts such a row, but it prevents all later charges. This command keeps the row, and
    records who left it out and why. Also take the right to insert away from the person who wrote
    the row.

    The command never leaves out the first record, a record that this machine has seen before, or a
    record that a key of the keyring has signed. It also refuses to leave out two records that seem
    to be signed with a key that is not in the keyring. Such a key may be a colleague's.
    'policy-engine join' says which keys this machine lacks.

    If the keyring has owners, the owners decide. Name the private key of each owner with --owner.

    If the keyring has no owners, but an account has a review policy, the people decide who approve
    a 'change' of this account. First run the command with --ask and --key. It writes a signed
    request for each such account. After the people have approved, run the command without --ask.

    If there are no owners and no review policies, any key of the keyring decides.

    Example: policy-engine ledger disown 12 --by Ada --why "written by hand, ticket 7"
    """
    project = own_project()
    seen, seal = Witness(project.witness).seen(), believed(project).seal
    signers = [KeySigner(load_private_key(path)) for path in owner or ()]
    writer = writer_of(project)
    with open_ledger(project, writer, compared=False) as opened:
        if ask:
            rows = deciding.rows_from(opened, first, seen)
            asker = writer if key is None else KeySigner(load_private_key(key))
            written = _ask_for(project, opened, rows, asker)
            document = {"ledger": project.ledger_name, "rows": [*map(int, rows)],
                        "requests": written}  # fmt: skip
            confirm(document, [f"{path}: asks for approvals" for path in written])
            return
        left = deciding.disown(
            opened,
            first,
            who=by,
            why=why,
            seen=seen,
            owners=None if seal is None else seal.owners,
            signers=signers,
            brought=lambda account: brought_at(_rows_file(account, first, project)),
        )
    document = {"ledger": project.ledger_name, "rows": left, "by": by, "why": why}
    emit(document, [f"{project.ledger_name}: {rows_words(left)} left out, by {by}: {why}"])


def _ask_for(
    project: Project, opened: Ledger, rows: Mapping[str, str], asker: Signer
) -> list[Path]:
    """Write a request for each account whose people decide that rows are left out."""
    first, written = min(map(int, rows)), []
    before = opened.read_before(first)
    found = deciding.leaving_out(before, rows)
    if not found:
        raise UsageError("no account asks anybody to approve a change: leave out --ask")
    for account, (required, matter) in found.items():
        file = _rows_file(account, first, project)
        asked = asking.Sought(matter, file, {"account": account, "rows": dict(rows)})
        asking.ask_for(asked, required, before, asker)
        written.append(file)
    return written


def _rows_file(account: str, first: int, project: Project) -> Path:
    """Where the request of rows that are left out stands."""
    return change_file(account, f"rows-{first}", project)


@ledger.command("settle", short_help="Record who has examined a fault of a record.")
def settle_fault(
    number: Annotated[
        int, Argument(help="The number of the record or entry that 'ledger verify' names.")
    ],
    by: ByOption,
    why: WhyOption,
) -> None:
    """Record who has examined a faulty record of the ledger, and why this record stays.

    A record is faulty if one of your keys has signed it, but no command writes such a record. An
    example is a charge without the required approvals. 'ledger verify' and 'ledger show' report the
    record, and exit with 1 until it is settled. Afterwards they still report the record.

    Settling leaves the record as it is. For example, if the record has raised a limit, the limit
    stays raised until you set a lower limit.

    If nobody knows who wrote the record, assume that the key that signed it was stolen. Then first
    revoke that key with 'keys revoke'.

    Example: policy-engine ledger settle 12 --by Ada --why "a test run by hand, ticket 9"
    """
    project = own_project()
    with open_ledger(project, writer_of(project)) as opened:
        settled = deciding.settle(opened, number, who=by, why=why)
    document = {"ledger": project.ledger_name, "settled": settled,
                "by": by, "why": why}  # fmt: skip
    emit(document, [f"{each.text}; settled by {by}: {why}" for each in settled])


@ledger.command("reconcile", short_help="Settle charges that have no release.")
def settle(
    from_certificates: Annotated[
        bool,
        Option(
            "--from-certificates",
            help="First charge each release that has a certificate, but no charge in the ledger.",
        ),
    ] = False,
    accounts: Annotated[
        list[str] | None,
        Option(
            "--account",
            metavar="POLICY=ACCOUNT",
            help="With --from-certificates: the account of a policy that the project's folder does "
            "not have as it was released, if the ledger has no earlier charge of it.",
        ),
    ] = None,
) -> None:
    """Settle every charge that has no release.

    If a charged release exists with its certificate, its charge is committed. If a charged release
    was never started, its charge is given back, because the query did not run and will not run. In
    all other cases the charge stays spent.

    If you have restored an older backup of the ledger, use --from-certificates. The command then
    reads all certificates in the project's folder that a key of the project has signed. If the
    ledger lacks the charge of such a certificate, the command charges it now. Until this is done,
    'release' refuses to run.

    A lost charge without a certificate cannot be found in this way. So if you have a newer copy of
    the ledger, restore the newer copy instead.

    Example: policy-engine ledger reconcile
    """
    from policy_engine.releasing.recalling import recall
    from policy_engine.releasing.standing import reconcile

    project = own_project()
    if accounts and not from_certificates:
        raise UsageError("--account is for --from-certificates")
    given = dict(each.partition("=")[::2] for each in accounts or ())
    if not all(given.values()):
        raise UsageError("--account takes the name of a policy and its account: POLICY=ACCOUNT")
    booked = recall(project, given) if from_certificates else ()
    found = reconcile(project)
    settled = [{"entry": each.entry.id, "outcome": each.outcome, "why": each.why} for each in found]
    lines = [f"{len(found)} settled"]
    lines += [f"  {each.entry.id:>4}  {each.outcome:<9}  {each.why}" for each in found]
    document = {"ledger": project.ledger_name, "settled": settled}
    if from_certificates:
        told = [
            {"entry": each.entry.id, "account": each.entry.account, "epsilon": each.entry.epsilon,
             "delta": each.entry.delta, "certificate": each.certificate,
             "source_unknown": each.unknown}
            for each in booked
        ]  # fmt: skip
        document["booked"] = told
        lines.append(f"{len(booked)} booked from certificates")
        lines += [
            f"  {each.entry.id:>4}  {each.entry.account}  ε {shown(each.entry.epsilon)}"
            f"  δ {shown(each.entry.delta)}  {each.certificate}"
            for each in booked
        ]
        lines += [
            f"  {each.entry.id:>4}  whose its source is was not recorded, and any account may"
            f" release it: {each.unknown}"
            for each in booked
            if each.unknown
        ]
    confirm(document, lines)


@ledger.command("export", short_help="Write a signed public statement of the ledger.")
def export(
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="The file to write. By default the statement is printed."),
    ] = None,
) -> None:
    """Write a public statement of the ledger: accounts, prices, dates and certificates.

    The statement contains nothing of the raw data. It is signed in the same way as a certificate.
    The ledger itself is confidential.

    Example: policy-engine ledger export --output ledger.statement.json
    """
    project = own_project()
    if output is not None and output.exists():
        raise FileError(f"{output} exists, and a statement never replaces a file; name another one")
    with open_ledger(project) as opened:
        head = opened.verify()
        budget = opened.read().budget
        entries, changes = budget.entries(), budget.changes()
        balances = [budget.balance(name) for name in budget.names()]
    # The time is that of the statement: a keyring's keys count between dates.
    now = written(datetime.now(UTC))
    predicate = {**public_statement(balances, entries, changes, head).to_json(), "time": now}
    made = statement(SUBJECT, head.hash, predicate, LEDGER_TYPE)
    text = sign(made, signer_of(project)).to_json()
    if output is None:
        emit_lines([Exact(text)])
        return
    write_certificate(text, output, replace=False)
    document = {"statement": output, "entries": len(entries), "accounts": len(balances)}
    text = f"{output}: signed; entries: {len(entries)}, accounts: {len(balances)}"
    confirm(document, [text])
