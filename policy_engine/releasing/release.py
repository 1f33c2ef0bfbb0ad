"""The one orchestration: policy → plan → text → certificate → charge → run → release.

Everything that can fail without touching the data fails before the charge. After it, a crash
at any step leaves the charge standing: somebody may have seen something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from dataclasses import replace as replace_field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Literal

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.keys import key_id
from policy_engine.attest.validity import moment
from policy_engine.errors import BudgetExceeded, FileError, LedgerError
from policy_engine.ledger.account import Account, Balance, admit, balance_of, effective
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.remaining import Remaining
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing import beginning, books
from policy_engine.releasing.charging import Planned, another_account, check_place, plan_of
from policy_engine.releasing.job import Done, Job
from policy_engine.releasing.planning import open_warehouse, project_of, through_view, unenforced
from policy_engine.releasing.requests import Run, change_since
from policy_engine.releasing.reviewing import check_pinned, waiting_file
from policy_engine.releasing.standing import certifies, is_own


@dataclass(frozen=True)
class Released:
    """What a release was. ``release`` and ``certificate`` say where the two are.

    ``people`` are those of the sample who are in a group that is shown. Without (ε, δ) both are
    None. ``repeated``: it was paid for before, and cost nothing now. ``remarks`` say what its
    author may not have meant.
    """

    release: str
    certificate: Path
    epsilon: Decimal | None
    delta: Decimal | None
    k: int
    rate: Decimal
    groups: int
    rows: int
    people: int
    account: str
    entry: int
    state: Account
    asked: Asked
    groups_a_person: int = 1
    """In how many groups a person counts at most: of several, ``people`` counts them in each."""
    repeated: bool = False
    remarks: tuple[str, ...] = ()

    @cached_property
    def balance(self) -> Balance:
        """Where the account stands now; computed when it is asked for, for tight takes time."""
        return balance_of(self.state)

    @cached_property
    def left(self) -> Remaining | None:
        """What the account would still pay for; None without a limit. To try takes time too."""
        return self.state.remaining(self.asked)


def release(
    policy: Policy,
    project: Project | None = None,
    *,
    replace: bool = False,
    fresh: bool = False,
    say: Callable[[str], None] = lambda text: None,
    watch: Callable[[Callable[[], float | None]], AbstractContextManager[object]] = nullcontext,
) -> Released:
    """Publish what ``policy`` says, with its certificate, and charge its account.

    Guarantee: what is published is what the certificate's text computes from a sample under a
    secret of its own; the account is charged before the sample is drawn. The same policy on the
    same state of its source has one secret: run again, it gives the same bytes and costs nothing.

    ``fresh`` draws anew at a new price all the same. ``say`` is told, before anything is
    charged, that a release is a new one though one was made in its place before. ``watch`` is
    given a function that says how many per cent of the running query are done, if the engine does;
    it may ask until its body ends, and not later: the connection is closed then.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit, or cannot be certified.
        BudgetExceeded: the account cannot pay; nothing was drawn.
        FileError, WarehouseError, LedgerError: nothing was published, unless the message
            says that the release stands. If the sample was drawn, the charge stands.
        UsageError: ``policy`` is not a loaded policy.
    """
    policy = loaded(policy, syntactic=True)
    project = project or project_of(policy)
    with (
        closing(open_warehouse(policy, project, writes=True)) as warehouse,
        watch(warehouse.progress),
    ):
        plan = plan_of(policy, project, warehouse)
        for warning in unenforced(policy, plan.certificate):
            say(f"warning: {warning}")
        places = (plan.ends.certificate_path,)
        if not books.has_ledger(project):
            _check_first(plan, replace=replace)
        signer = beginning.ledger_writer(project, moment(plan.certificate.time), places)
        with books.open_ledger(project, signer, say=say) as ledger, through_view(plan.table):
            sealing, naming = books.sealing_key(project, ledger), books.naming_key(project, ledger)
            request = plan.request(naming, ledger)
            job = Job(plan, ledger, request, signer, sealing, naming, replace, fresh)
            return _run(job, say)


def _check_first(plan: Planned, *, replace: bool) -> None:
    """Refuse a first release before a ledger or a key is made for it."""
    beginning.check_clean(plan.project, (plan.ends.certificate_path,))
    account = Account(plan.account, limit=plan.limit)
    try:
        admit(account, plan.charge())
        check_place(plan.policy, plan.warehouse, replace=replace)
    except (BudgetExceeded, FileError):
        if not books.has_ledger(plan.project):  # else a run of the same beside this one was faster
            raise


Step = Literal["take", "certify", "finish", "finish over", "charge"]
Paid = Literal["with a secret", "without one"]
Standing = Literal["release", "uncertified", "certificate", "nothing"]

#: The life of a release: what was paid for, and what stands of it, decide what is to do.
#: Nothing was paid for: charge. A new draw is wanted: charge.
STEPS: Mapping[tuple[Paid, Standing], Step] = {
    ("with a secret", "release"): "take",
    ("with a secret", "uncertified"): "certify",
    ("with a secret", "certificate"): "finish over",  # of what stands, all is its own
    ("with a secret", "nothing"): "finish",
    ("without one", "release"): "take",
    ("without one", "uncertified"): "certify",
    ("without one", "certificate"): "charge",
    ("without one", "nothing"): "charge",
}


def _run(job: Job, say: Callable[[str], None]) -> Released:
    """Publish, unless the same release stands already."""
    entry = None if job.fresh else job.ledger.last_at(job.request.place, job.request.of)
    if entry is None:
        return _charge(job, None, say)
    run = Run.of_entry(entry)
    job.mend(run)
    step = STEPS["with a secret" if run.sealed else "without one", _standing(job, entry)]
    if step == "charge":
        return _charge(job, entry, say)
    if step == "certify":
        job.certify_again(run, str(entry.release_digest))
    if step in ("take", "certify") and (found := _taken(job, entry)) is not None:
        return found
    # It is made at no cost. What was given back, and hidden, would run for nothing.
    job.ledger.verify()
    job = replace_field(job, replace=True) if step == "finish over" else job
    return _check_place(job, entry.id) or _published(job, entry, repeated=True)


def _standing(job: Job, entry: Entry) -> Standing:
    """What stands of the release of an entry."""
    run, certificate = Run.of_entry(entry), job.request.ends.certificate_path
    if is_own(job.ledger, entry, job.look(run)):
        return "release"
    in_the_way = certificate.exists() and not job.replace
    if entry.release_digest and not in_the_way and job.digest(run) == entry.release_digest:
        return "uncertified"
    if not job.is_there() and certifies(run, certificate, job.trusted):
        return "certificate"
    return "nothing"


def _taken(job: Job, entry: Entry | None) -> Released | None:
    """The release of an entry where it stands; its entry is committed then."""
    digest = None if entry is None else job.mend(Run.of_entry(entry))
    if entry is None or digest is None or not is_own(job.ledger, entry, digest):
        return None
    if entry.state == "reserved":
        job.ledger.start(entry.id)
    if entry.state != "committed":
        job.ledger.commit(entry.id, release_name=job.request.ends.told, release_digest=digest)
    return _released(job, entry, Done(digest, job.size()), repeated=True)


def _check_place(job: Job, paid: int | None) -> Released | None:
    """Refuse what stands in the way, unless a run of the same beside this one published it."""
    try:
        check_place(job.plan.policy, job.plan.warehouse, replace=job.replace, paid=paid)
    except FileError:
        twin = None if job.fresh else job.ledger.last_at(job.request.place, job.request.of)
        if (found := _taken(job, twin)) is None:
            raise
        return found
    return None


def _charge(job: Job, entry: Entry | None, say: Callable[[str], None]) -> Released:
    """Charge a new release and make it. ``entry`` has paid for one that cannot be made again."""
    plan, ledger = job.plan, job.ledger
    places = {job.request.ends.certificate_path.resolve()}
    if plan.project.file is not None:
        places |= {path.resolve() for path in beginning.certificates_in(plan.project.directory)}
    if missing := beginning.forgotten(sorted(places), ledger.entries(), job.trusted):
        raise LedgerError(
            f"{ledger.where}: {beginning.forgotten_text(missing)}. Nothing was charged",
            code="ledger_forgot",
        )
    if (found := _check_place(job, None)) is not None:
        return found
    books.check_new_name(ledger, plan.project, plan.account)
    check_pinned(plan.project, ledger, plan.account)
    plan.check_runs(writes=True)
    limit, charge, last = plan.limit, job.charge(), ledger.last_at(job.request.place)
    # No price is announced of what would not be charged; whether it is, reserve decides.
    if last is not None and ledger.can_pay(charge, limit):
        say(_news(job, last, entry))
        if other := another_account(plan.policy, last, Account(plan.account, limit=limit)):
            say(other)
    try:
        paid = ledger.reserve(charge, limit, anew=job.fresh or entry is not None)
    except KeyboardInterrupt as error:
        note = "'policy-engine ledger show' says whether it was charged"
        with suppress(LedgerError):
            made = ledger.last_at(charge.request, charge.run["of"])
            if made is not None and made.run["mark"] == charge.run["mark"]:
                note = _how_to_go_on(job, made)
        error.add_note(note)
        raise
    return _published(job, paid, repeated=False)


def _published(job: Job, entry: Entry, *, repeated: bool) -> Released:
    """Draw what an entry has paid for, or say how to go on."""
    project, ledger = job.plan.project, job.ledger
    try:
        check_pinned(project, ledger, entry.account)
        ledger.approve(entry.id, job.brought("claim"))
        if entry.state == "reserved":
            ledger.start(entry.id)
        done = job.draw(entry)
        _commit(job, entry, done)
        waiting_file(project, Run.of_entry(entry)).unlink(missing_ok=True)
        return _released(job, entry, done, repeated=repeated)
    except BaseException as error:
        # A run of the same beside this one may have published it meanwhile.
        found = _taken(job, ledger.entry(entry.id)) if isinstance(error, FileError) else None
        if found is not None:
            return found
        error.add_note(_how_to_go_on(job, entry))
        raise


def _news(job: Job, last: Entry, entry: Entry | None) -> str:
    """That this is a new release, and why, before it costs anything."""
    policy, certificate, run, why = job.plan.policy, job.plan.certificate, Run.of_entry(last), []
    if job.fresh:
        drawn = "sample" if policy.noise is None else "draw of the noise"
        why.append(f"a new {drawn} is asked for")
    if entry is not None:
        why.append("its release is gone, and the engine cannot draw the same sample again")
    elif run.of != job.request.of:
        why.append(change_since(run, certificate, key_id(job.sealing.public_key())))
    before = "was released before" if last.state == "committed" else "was begun before"
    state = "" if last.state == "committed" else f", {last.state}"
    price = (
        f"at the price of ε {in_text(certificate.epsilon)},"
        f" δ {in_text(certificate.delta)} (unit: {certificate.unit})"
    )
    if policy.is_syntactic:
        price = "and what is learnt from both together nothing limits"
    return (
        f"{policy.name} {before} (entry {last.id}{state}), and {', and '.join(why)}: this"
        f" is a new release, {price}"
    )


def _released(job: Job, entry: Entry, done: Done, *, repeated: bool) -> Released:
    plan, certificate = job.plan, job.plan.certificate
    state = effective(
        job.ledger.account(entry.account), books.stated_limit(plan.project, entry.account)
    )
    is_syntactic = plan.policy.is_syntactic
    return Released(
        release=job.request.ends.told,
        certificate=job.request.ends.certificate_path,
        epsilon=None if is_syntactic else certificate.epsilon,
        delta=None if is_syntactic else certificate.delta,
        k=certificate.k,
        rate=certificate.rate,
        **vars(done.size),
        account=state.name,
        entry=entry.id,
        state=state,
        asked=entry.asked,
        groups_a_person=plan.policy.groups_a_person,
        repeated=repeated,
    )


def _how_to_go_on(job: Job, entry: Entry) -> str:
    """What to do about a release that was charged, and failed."""
    if not entry.run.get("sealed"):
        return f"entry {entry.id} stays charged: the engine cannot draw the same sample again"
    same = "the same command without --fresh" if job.fresh else "the same command again"
    return f"entry {entry.id} is paid: {same} finishes it at no cost, while the source is as it was"


def _commit(job: Job, entry: Entry, done: Done) -> None:
    name = job.request.ends.told
    try:
        job.ledger.commit(entry.id, release_name=name, release_digest=done.digest)
    except LedgerError as error:
        raise LedgerError(
            f"{error}; {name} is published with its certificate and is paid for, but its"
            " ledger entry stays open: run 'policy-engine ledger reconcile'"
        ) from error
