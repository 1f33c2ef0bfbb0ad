"""The one orchestration: policy → plan → text → certificate → charge → draw → record → release.

No raw data decides whether something is drawn, charged or published: a release that stands stands,
whatever the source holds by now, and is not looked at for it. Everything that can fail without
touching the data fails before the charge. After it, a crash at any step leaves the charge standing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import field
from dataclasses import replace as replace_field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.parquet_file import certificate_path
from policy_engine.attest.signers import Signer, writer_of
from policy_engine.attest.validity import moment
from policy_engine.errors import (
    BudgetExceeded,
    EnvironmentFailed,
    FileError,
    LedgerError,
    NotReleasable,
    PolicyEngineError,
    UsageError,
)
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.promise import Bounded
from policy_engine.ledger.account import Account, Balance, admit, balance_of, effective
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import MOST_ATTEMPTS, Entry
from policy_engine.ledger.plan_records import paying
from policy_engine.ledger.promises import beginning as beginning_of
from policy_engine.ledger.remaining import Remaining
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.windows import FOR_EVER
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing import beginning, books, copies
from policy_engine.releasing.announcing import announced, why_anew
from policy_engine.releasing.charging import ReleasePlan, plan_of
from policy_engine.releasing.editions import (
    Clock,
    asked_at,
    asked_for,
    at_moment,
    drawn_before,
    how_released,
    is_due_anew,
    known_books,
    utc_now,
)
from policy_engine.releasing.job import Job
from policy_engine.releasing.opened import MOST_BARS, OpenedRelease, open_release
from policy_engine.releasing.placing import Reached, Spot, check_place
from policy_engine.releasing.planning import (
    check_chosen,
    project_of,
    seldom_meant,
    through_view,
)
from policy_engine.releasing.requests import certificate_of
from policy_engine.releasing.reviewing import (
    brought_at,
    change_file,
    check_pinned,
    request_file,
)
from policy_engine.values import frozen

Outcome = Literal["released", "stands", "put back"]

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes


@frozen
class Released:
    """The result of ``release``: where the release is, and what it cost.

    It also has ``to_arrow``, ``to_pandas``, ``to_polars``, ``to_csv`` and ``plot`` of
    ``OpenedRelease``.

    Fields:
        ``release``: the file or table.
        ``certificate``: the file of the certificate.
        ``outcome``: ``released`` if it was drawn and charged now. ``stands`` if it existed already,
            and ``put back`` if its lost file was written again: both cost nothing.
        ``epsilon``, ``delta``: ε and δ of this release. None if the policy promises no (ε, δ).
        ``k``: the policy's k. With a sample, no group has a smaller count.
        ``rate``: the probability that a unit is sampled. 1 if there is no sample.
        ``groups``, ``rows``: the numbers of published groups and rows.
        ``groups_a_person``: the most groups in which one person is counted.
        ``person_groups``: the sum of the published counts. A person who is counted in three groups
            adds three.
        ``account``: the account that paid.
        ``entry``: the number of the entry in the ledger.
        ``state``: the account after the release.
        ``asked``: the price, as the account counts it.
        ``windows``: the windows of the account, such as years, in which the release is charged.
        ``begins``: a message if this is the first release in a window. Otherwise empty.
        ``edition``: the name of the edition. Empty if it has no name.
        ``is_revision``: True if the calendar drew this edition again.
        ``remarks``: warnings about the result, such as that no group is shown.
        ``project``: the project. Its warehouse contains the table.
    """

    release: str
    certificate: Path
    epsilon: Decimal | None
    delta: Decimal | None
    k: int
    rate: Decimal
    groups: int
    rows: int
    person_groups: int
    account: str
    entry: int
    state: Account
    asked: Asked
    groups_a_person: int = 1
    outcome: Outcome = "released"
    remarks: tuple[str, ...] = ()
    edition: str = ""
    windows: tuple[str, ...] = (FOR_EVER,)
    is_revision: bool = False
    begins: str = ""
    project: Project | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        price = "no (ε, δ)" if self.epsilon is None else f"ε = {in_text(self.epsilon)}"
        groups = f"{self.groups:,} groups"
        return f"<{self.release}: {self.outcome}, {groups}, {price}, entry {self.entry}>"

    @property
    def people(self) -> int | None:
        """How many people its groups count; None where one may be in several of them."""
        return self.person_groups if self.groups_a_person == 1 else None

    @cached_property
    def opened(self) -> OpenedRelease:
        """Its rows and its certificate, read from where they are when they are asked for."""
        is_file = certificate_path(Path(self.release)) == self.certificate
        return open_release(self.release if is_file else self.certificate, self.project)

    def to_arrow(self, *, errors: bool = False) -> pa.Table:
        """Its rows as a table of Arrow: see ``OpenedRelease``."""
        return self.opened.to_arrow(errors=errors)

    def to_pandas(self, *, errors: bool = False) -> pd.DataFrame:
        """Its rows as a DataFrame of pandas: see ``OpenedRelease``."""
        return self.opened.to_pandas(errors=errors)

    def to_polars(self, *, errors: bool = False) -> pl.DataFrame:
        """Its rows as a DataFrame of polars: see ``OpenedRelease``."""
        return self.opened.to_polars(errors=errors)

    def to_csv(self, path: str | Path, *, errors: bool = False) -> None:
        """Write its rows as CSV: see ``OpenedRelease``."""
        self.opened.to_csv(path, errors=errors)

    def plot(
        self, column: str | None = None, *, axes: Axes | None = None, most: int = MOST_BARS
    ) -> Axes:
        """Its numbers with their errors, drawn by matplotlib: see ``OpenedRelease``."""
        return self.opened.plot(column, axes=axes, most=most)

    def _repr_html_(self) -> str:
        """For a notebook: the promise, and the first rows with their errors."""
        return self.opened._repr_html_()

    @property
    def repeated(self) -> bool:
        """Whether it was charged and drawn before, and cost nothing now."""
        return self.outcome != "released"

    @cached_property
    def balance(self) -> Balance:
        """Where the account stands now; computed when it is asked for, for tight takes time."""
        return balance_of(self.state)

    @cached_property
    def left(self) -> Remaining | None:
        """What the account would still pay for; None without a limit. To try takes time too."""
        return self.state.remaining(self.asked, windows=self.windows)


def release(
    policy: Policy,
    project: Project | None = None,
    *,
    edition: str | None = None,
    replace: bool = False,
    revise: bool = False,
    say: Callable[[str], None] = lambda text: None,
    watch: Callable[[Callable[[], float | None]], AbstractContextManager[object]] = nullcontext,
    clock: Clock = utc_now,
) -> Released:
    """Publish one edition of a policy with its certificate, and charge its account.

    If this edition was released before, you get that release again. The source is not read, and
    nothing is charged. A lost file is written again from a kept copy.

    Guarantee:

    * The published rows are the result of the SQL in the certificate.
    * The noise or the sample depends on a new secret. Only samples with the method ``native`` use
      the engine's own random numbers.
    * The account is charged before anything is drawn.
    * The ledger records the digest of the result before anybody can see the result.

    Arguments:
        ``policy``: as ``load_policy`` returns it.
        ``project``: the project. The default is the project of the policy's folder.
        ``edition``: with a calendar, a period that is due, such as ``2026-11``. Without a calendar,
            each new name, such as ``second``, draws and charges one more edition. The default is
            then the last edition of the policy in its present form, or an edition without a name.
        ``replace``: if True, a different release in the same place may be overwritten.
        ``revise``: if True, the edition is drawn again and charged again. It is ignored if
            ``policy.edition.is_revision`` is True, because the calendar then decides.
        ``say``: a function that gets each message as a text, before the charge. By default no
            message is shown.
        ``watch``: a function that shows progress. It gets a function ``done`` and returns a context
            manager, in which the release runs. ``done()`` returns the per cent of the query that
            have run, or None if unknown.
        ``clock``: a function that returns the time. The time decides which editions are due.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit its source, cannot be certified, or
            needs a search first.
        NotReleasable: the edition is not due, cannot be drawn any more, was released to another
            place, or was charged and is lost. The message says whether ``revise`` can draw it
            again, at the price of a new release.
        BudgetExceeded: the account cannot pay. Nothing was drawn.
        FileError, WarehouseError, LedgerError: a file, the warehouse or the ledger failed. Nothing
            was published, or the message says that the release exists. Anything that was drawn
            stays charged.
        UsageError: ``policy`` is not a loaded policy, or ``edition`` is missing although there is a
            calendar.
    """
    policy = loaded(policy, unpromised=True)
    project = project or project_of(policy)
    if policy.edition == Edition():
        known = known_books(project)
        at = asked_at(policy, known, clock)
        policy = asked_for(policy, project, known, at, edition, revise=revise)
    if policy.edition.is_revision:
        known = known_books(project)
        revise = is_due_anew(policy, project, known, at_moment(known, clock))
    with closing(Reached(policy, project)) as reached, watch(reached.progress):
        if not revise and (before := _released_before(policy, project, reached, replace, say)):
            return before
        check_chosen(policy)
        plan = plan_of(policy, project, reached.warehouse, clock)
        for warning in seldom_meant(policy, plan.certificate, plan.table):
            say(f"warning: {warning}")
        plan.warehouse.hold(policy, plan.table)
        if not books.has_ledger(project):
            _check_first(plan, replace=replace)
        places = (plan.ends.certificate_path,)
        signer = beginning.ledger_writer(project, moment(plan.certificate.time), places)
        with books.open_ledger(project, signer, say=say) as ledger, through_view(plan.table):
            sealing = books.sealing_key(project, ledger)
            naming = books.named_by(sealing, project, ledger.books)
            spot = Spot.of(policy, project, reached, books.trusted_keys(project, signer))
            names = plan.names(naming)
            replace = replace or spot.replaces_own(ledger.books)
            job = Job(plan, spot, ledger, names, signer, sealing, naming, replace, revise)
            with copies.alone(project, spot.place):
                return _run(job, say)


def restore(
    policy: Policy,
    project: Project | None = None,
    *,
    edition: str | None = None,
    replace: bool = False,
) -> Released:
    """Put a release back that is lost, or its certificate, from the bytes that were kept of it.

    No source is looked at, no secret is opened, and nothing is charged: what stands afterwards has
    the digest that the ledger has. ``replace`` allows for another release in its place. ``edition``
    is as for ``release``: one that was drawn.

    Raises:
        UsageError: nothing was released.
        NotReleasable: no copy of it is there.
        FileError, WarehouseError, LedgerError: something is in the way, or cannot be used.
    """
    policy = loaded(policy, unpromised=True)
    project = project or project_of(policy)
    policy = drawn_before(policy, project, known_books(project), edition)
    with closing(Reached(policy, project)) as reached:
        found = _released_before(policy, project, reached, replace, lambda text: None)
    if found is None:
        raise _never(policy, project)
    return found


def _never(policy: Policy, project: Project) -> UsageError:
    """Why nothing can be put back for a policy as it is now."""
    made = how_released(policy)
    with books.begun_ledger(project) as ledger:
        entries = () if ledger is None else ledger.read().budget.entries()
    own = [each for each in entries if each.policy_name == policy.name]
    last = next((each for each in reversed(own) if each.only_digest is not None), None)
    if last is None:
        return UsageError(f"{policy.name}: nothing was released of this policy: {made}")
    if last.policy_digest == policy.digest and last.is_out:
        why = "which was booked from its certificate, without the approvals of its account"
        return UsageError(f"{policy.name}: entry {last.id}, {why}, is not put back: {made}")
    if last.policy_digest == policy.digest:
        why = "the last one went elsewhere: see 'policy-engine ledger show'"
    else:
        why = f"entry {last.id} is of its text before it was changed: put that back to restore it"
    return UsageError(
        f"{policy.name}: nothing was released of this policy as it is now, and {why}; {made}"
    )


def _released_before(
    policy: Policy,
    project: Project,
    reached: Reached,
    replace: bool,
    say: Callable[[str], None],
) -> Released | None:
    """The release of a policy that was drawn before, once it stands; None where none was.

    Nothing of the source is looked at. Raises NotReleasable where it was charged and is lost.
    """
    if not books.has_ledger(project):
        return None
    with books.open_ledger(project) as ledger:
        spot = Spot.of(policy, project, reached, books.trusted_keys(project))
        step, entry = spot.next(ledger.read())
        if entry is not None and step == "take" and entry.state == "committed":
            return _released(spot, ledger, entry, "stands", certificate_of(entry.run))
        if entry is not None and entry.state == "committed":
            with copies.alone(project, spot.place):
                known = ledger.read()
                return _settled(spot, ledger, known, lambda: writer_of(project), replace=replace)
    if step in ("charge", "draw"):
        return None
    signer = beginning.ledger_writer(project, places=(spot.ends.certificate_path,))
    with (
        books.open_ledger(project, signer, say=say) as ledger,
        copies.alone(project, spot.place),
    ):
        return _settled(spot, ledger, ledger.read(), lambda: signer, replace=replace)


def _settled(
    spot: Spot, ledger: Ledger, known: Books, signer: Callable[[], Signer], *, replace: bool
) -> Released | None:
    """Let what was drawn before stand, and its entry be committed; None where nothing was drawn.

    ``known`` is what the ledger said since no other run on this machine is at the place.
    """
    step, entry = spot.next(known)
    if entry is None or step in ("charge", "draw"):
        return None
    if step == "refuse":
        raise _lost(spot, ledger, entry)
    digest, run = str(entry.only_digest), entry.run
    replace = replace or spot.replaces_own(known)
    spot.mend(run)
    if step == "place":
        if entry.state != "committed":
            check_pinned(spot.project, known, entry.account)
            asked = request_file(spot.ends.certificate_path, "release")
            ledger.approve(entry.id, brought_at(asked), digest)
        spot.put(entry, signer, replace=replace)
    spot.keep(digest)
    if entry.state != "committed":
        entry = _commit(spot, ledger, entry, digest)
    copies.discard(spot.project, spot.place, digest)
    outcome: Outcome = "put back" if step == "place" else "stands"
    return _released(spot, ledger, entry, outcome, certificate_of(entry.run))


def _lost(spot: Spot, ledger: Ledger, entry: Entry) -> NotReleasable:
    """Why what an entry has paid for can never stand; it is settled as spent."""
    why = f"had its {MOST_ATTEMPTS} attempts, and nothing came out that anybody could have seen"
    price = f"ε {in_text(entry.epsilon)}, δ {in_text(entry.delta)}"
    revise = f"policy-engine release{_named(spot.policy)} --revise"
    remedy = f"'{revise}' draws anew, at the price of a new release: {price}"
    if entry.only_digest is not None:
        why = "was drawn, and neither its release nor a copy of those bytes is here"
        brought = "Bring the release and its certificate from where it was drawn, if it was another"
        remedy = f"{brought} machine; or {remedy}"
    copies.tidy(spot.project, spot.place, ledger.read().budget.recorded_at(spot.place))
    if entry.state == "started":
        ledger.keep(entry.id, why)
    return NotReleasable(f"{spot.policy.name}: entry {entry.id} {why}; it stays charged. {remedy}")


def _named(policy: Policy) -> str:
    """How a command names the edition of a policy; empty where it need not."""
    return f" --edition {policy.edition.name}" if policy.edition.zone else ""


def _check_first(plan: ReleasePlan, *, replace: bool) -> None:
    """Refuse a first release before a ledger or a key is made for it."""
    beginning.check_clean(plan.project, (plan.ends.certificate_path,))
    charge = plan.charge(None)
    try:
        account = paying(Account(plan.account), charge, plan.limit, plan.window_plan)
        admit(account, charge)
        check_place(plan.ends, plan.warehouse, replace=replace)
    except (BudgetExceeded, FileError):
        if not books.has_ledger(plan.project):  # else a run of the same beside this one was faster
            raise


def _run(job: Job, say: Callable[[str], None]) -> Released:
    """Draw what was charged and not drawn yet, or charge a new release and draw that."""
    known = job.ledger.read()
    if not job.is_anew(known):
        # A run of the same beside this one may have been faster.
        found = _settled(job.spot, job.ledger, known, lambda: job.signer, replace=job.replace)
        if found is not None:
            return found
        step, entry = job.spot.next(known)
        if step == "draw" and entry is not None and entry.run.of == job.plan.of:
            # It costs nothing. What was given back, and hidden, would run for nothing.
            job.ledger.verify()
            _check_remembers(job, known)
            job.spot.check(replace=job.replace, paid=entry.id)
            return _published(job, entry)
    return _charge(job, known, say)


def _check_remembers(job: Job, known: Books) -> None:
    spot = job.spot
    places = beginning.certificates_of(job.plan.project, spot.ends.certificate_path)
    beginning.check_remembers(known, places, spot.trusted)


def _charge(job: Job, known: Books, say: Callable[[str], None]) -> Released:
    """Charge a new release and make it."""
    plan, ledger = job.plan, job.ledger
    _check_remembers(job, known)
    try:
        job.spot.check(replace=job.replace)
    except FileError as error:
        if error.code != "place_taken":
            raise
        raise FileError(
            *error.lines, *why_anew(plan, known, revise=job.revise), code=error.code
        ) from None
    books.check_new_name(known, plan.project, plan.account)
    check_pinned(plan.project, known, plan.account)
    plan.check_runs(writes=True)
    limit, charge = plan.limit, job.charge()
    # No price is announced of what would not be charged; whether it is, reserve decides.
    account = known.payer(charge, limit, plan.window_plan)
    if account is not None:
        for line in announced(plan, charge, account, known, revise=job.revise):
            say(line)
    begins = beginning_of(plan.account_in(known), charge.windows)
    try:
        paid = ledger.reserve(
            charge,
            limit,
            after=_last_at(job, known) if job.revise else None,
            solve=plan.window_plan,
            brought=brought_at(change_file(plan.account, "plan", plan.project)),
        )
    except KeyboardInterrupt as error:
        note = "'policy-engine ledger show' says whether it was charged"
        with suppress(LedgerError):
            made = ledger.read().budget.last_at(charge.request, charge.run.of)
            if made is not None and made.run.mark == charge.run.mark:
                note = _how_to_go_on(job, made)
        error.add_note(note)
        raise
    if paid.run.mark != charge.run.mark and not paid.can_draw:
        # A run of the same on another machine was faster.
        found = _settled(job.spot, ledger, ledger.read(), lambda: job.signer, replace=job.replace)
        if found is None:
            raise LedgerError(
                f"entry {paid.id} was charged for this release meanwhile: run the command again"
            )
        return found
    if begins:  # only now it has: reserve refuses what lacks an approval, or does not fit
        say(begins)
    return _published(job, paid)


def _last_at(job: Job, known: Books) -> int:
    """The entry after which a new draw is asked for; 0 where there is none."""
    last = known.budget.last_at(job.spot.place)
    return 0 if last is None else last.id


def _published(job: Job, entry: Entry) -> Released:
    """Draw what an entry has paid for, or say how to go on."""
    spot, ledger = job.spot, job.ledger
    try:
        check_pinned(spot.project, ledger.books, entry.account)
        entry, secret = job.begin(entry)
        try:
            job.draw(entry, secret)
        except EnvironmentFailed as error:
            if error.of_setup and ledger.read().budget.entry(entry.id).only_digest is None:
                ledger.lapse(entry.id, "by a cause that no row can bring about")
            raise
        entry = ledger.books.budget.entry(entry.id)
        digest = str(entry.only_digest)
        spot.keep(digest)
        entry = _commit(spot, ledger, entry, digest)
        copies.discard(spot.project, spot.place, digest)
        return _released(spot, ledger, entry, "released", job.plan.certificate)
    except BaseException as error:
        with suppress(LedgerError):
            error.add_note(_how_to_go_on(job, ledger.read().budget.entry(entry.id)))
        raise


def _released(
    spot: Spot, ledger: Ledger, entry: Entry, outcome: Outcome, certificate: Certificate
) -> Released:
    state = effective(
        ledger.books.budget.account(entry.account), books.stated_limit(spot.project, entry.account)
    )
    promise = certificate.promise
    is_certified = isinstance(promise, Bounded)
    return Released(
        release=spot.ends.told,
        certificate=spot.ends.certificate_path,
        epsilon=entry.epsilon if is_certified else None,
        delta=promise.delta if is_certified else None,
        k=certificate.k,
        rate=promise.rate,
        **vars(spot.size(certificate)),
        account=state.name,
        entry=entry.id,
        state=state,
        asked=entry.asked,
        edition=entry.run.edition,
        is_revision=certificate.terms.edition is not None and certificate.terms.edition.is_revision,
        groups_a_person=spot.policy.groups_a_person,
        outcome=outcome,
        windows=state.windows_of(entry),
        begins="" if outcome != "released" else _begins(state, entry),
        project=spot.project,
    )


def _begins(state: Account, entry: Entry) -> str:
    """That a release was the first in a window of its account, which does not renew silently."""
    new = [name for name in state.windows_of(entry) if state.window(name).charges == 1]
    return beginning_of(replace_field(state, windows=()), new)


def _how_to_go_on(job: Job, entry: Entry) -> str:
    """What to do about a release that was charged, and failed."""
    if entry.state == "committed":
        return f"entry {entry.id} is committed, and its release stands"
    same = "the same command without --revise" if job.revise else "the same command again"
    if entry.only_digest is not None:
        return f"entry {entry.id} is paid and drawn: {same} puts just those bytes there, at no cost"
    if entry.can_draw:
        return f"entry {entry.id} is paid: {same} draws it, under a fresh secret, at no cost"
    return (
        f"entry {entry.id} had its {MOST_ATTEMPTS} attempts, and stays charged: 'policy-engine"
        f" release{_named(job.plan.policy)} --revise' draws anew, at a new price"
    )


def _commit(spot: Spot, ledger: Ledger, entry: Entry, digest: str) -> Entry:
    name = spot.ends.told
    try:
        return ledger.commit(entry.id, release_name=name, release_digest=digest)
    except PolicyEngineError as error:
        raise LedgerError(
            f"{error}; {name} is published with its certificate and is paid for, but its"
            " ledger entry stays open: run 'policy-engine ledger reconcile'"
        ) from error
