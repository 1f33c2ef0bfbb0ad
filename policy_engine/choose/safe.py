"""[SAFE] The private choice of a recoding: one exact draw, charged, and written as a policy.

The score of a scheme is Σ max(0, people − c₀) over its groups, times the scheme's precision,
rounded down. One person more adds 0 or 1 to every score, and one replaced adds −1, 0 or 1: the draw
is ε-DP by that alone (``choose.drawing``). The whole source is read, under randomness that no
release shares. c₀, the candidates and the precision are public.

Where all rows of a person count, in up to L groups, a person who is in g groups of a scheme counts
in each by min(1, L/g), which is how likely a release keeps it. That is told by the person's own
rows, it adds up to at most L, and max(0, x − c₀) grows by no more than x: so a score moves by 0 to
L, rounded down as well, and L is the sensitivity. (Rounded group by group it could move by g.)

A choice lives as a release does: charged, drawn where nobody else reads, its digest recorded before
a byte can be seen, put in place, committed. One that stands is the answer: asked again, nothing is
looked at. What a crash left may be drawn once more, and only if nothing of it was drawn.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path
from secrets import randbelow
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from policy_engine.accounting.choice import step_of
from policy_engine.accounting.domain import ADD_REMOVE
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.left import MOST_ALIKE
from policy_engine.attest.approvals import Brought
from policy_engine.attest.attestation import sign, stated_subject, statement
from policy_engine.attest.choices import ChoiceOf, ChoiceStated
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import moment
from policy_engine.choose.candidates import Candidates
from policy_engine.choose.drawing import Below, choose
from policy_engine.choose.lattice import Histogram, Lattice, Scheme, walked
from policy_engine.choose.public import least_shown
from policy_engine.choose.searching import above
from policy_engine.errors import (
    BudgetExceeded,
    EnvironmentFailed,
    FileError,
    InternalError,
    LedgerError,
    NotApproved,
    NotReleasable,
    UsageError,
)
from policy_engine.kernel.certificate import now
from policy_engine.kernel.editions import NAMED_BY_HAND, Edition, is_named_by_hand
from policy_engine.ledger.account import Account, admit
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.plan_records import paying
from policy_engine.ledger.store import Ledger
from policy_engine.policy.choice_notes import OF_RECODING, choice_note
from policy_engine.policy.laws import mapping
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.project import Project
from policy_engine.policy.reading import plain_yaml, read_document
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import counted
from policy_engine.policy.search_models import level_words
from policy_engine.policy.timing import PeriodOf
from policy_engine.releasing import beginning, books, copies, publish, standing
from policy_engine.releasing.asking import Sought, asked_of, required_of
from policy_engine.releasing.charging import ReleasePlan, charge_of_choice, planned
from policy_engine.releasing.editions import Clock, asked_for, at_moment, utc_now
from policy_engine.releasing.requests import Ends, choice_name, place_of, run_of
from policy_engine.releasing.reviewing import brought_at, check_pinned, request_file
from policy_engine.values import frozen

MOST_JUSTIFICATION = 4_000
_MOST_TOLD = 3_000
_FAR = 40
"""A coin that falls in one of e^40 tosses is tossed by a bound of its score."""
_NOWHERE: standing.Digest = lambda run: None  # noqa: E731 - a choice is a file


@frozen
class Chosen:
    """A choice: the policy that was written, its certificate, and what it cost.

    ``outcome``: drawn now, or standing since before, or put back from the bytes that were kept; the
    last two cost nothing, and looked at no source.
    """

    policy: Path
    certificate: Path
    epsilon: Decimal
    candidates: int
    account: str
    entry: int
    outcome: Literal["chosen", "stands", "put back"]


def utilities_of(
    histogram: Histogram,
    lattice: Lattice,
    least: int,
    precision: Fraction | None,
    far: int | None = None,
) -> tuple[list[Scheme], list[int]]:
    """The candidates, and the score of each: with one person more it grows by 0 to as many as the
    groups that a person counts in.

    With a ``precision`` the schemes of at least that are candidates, and people alone count. Of one
    that is ``far`` below the best whatever it shows there is the bound that this is known by.
    """
    precisions, whole = lattice.precisions
    unit, wanted, best = histogram.unit, 0 if precision is None else precision * whole, 0
    found = np.full(lattice.shape, -1, dtype=np.int64)

    def score(shown: int, part: int) -> int:
        # Of at most 2³¹ people, and a denominator of public levels and weights: exact as integers.
        return shown * part // (whole * unit) if precision is None else shown // unit

    def skips(scheme: Scheme) -> bool:
        # What is coarser is less precise.
        part = int(precisions[lattice.place(scheme)])
        if part < wanted or far is None:
            return part < wanted
        return score(histogram.most_shown, part) + far <= best

    for scheme, cells in walked(histogram, lattice, skips):
        place = lattice.place(scheme)
        found[place] = score(int(above(cells, least * unit)), int(precisions[place]))
        best = max(best, int(found[place]))
    told = zip(lattice.schemes(), found.ravel().tolist(), precisions.ravel().tolist(), strict=True)
    scores = {
        scheme: score(histogram.most_shown, part) if known < 0 else known
        for scheme, known, part in told
        if part >= wanted
    }
    return [*scores], [*scores.values()]


@frozen
class ChoiceTarget:
    """Where what is chosen for a policy is written, as which of its choices."""

    project: Project
    ends: Ends
    edition: str
    replace: bool
    clock: Clock

    @classmethod
    def of(
        cls,
        policy: Policy,
        project: Project,
        word: str,
        *,
        output: Path | None = None,
        edition: str = "",
        replace: bool = False,
        clock: Clock = utc_now,
    ) -> ChoiceTarget:
        """The file that is asked for, or the policy's own name with a ``word``.

        Raises UsageError of an edition of a calendar, or a file in another folder.
        """
        if edition and not policy.edition.column and not is_named_by_hand(edition):
            raise UsageError(f"--edition: editions of a choice are called {NAMED_BY_HAND}")
        ends = Ends.of_file(_target(policy, word, output, edition), project.directory)
        return cls(project, ends, edition, replace, clock)


@frozen
class PrivateChoice(ABC):
    """A private choice that is asked for: for which policy, and where what is chosen is written."""

    policy: Policy
    target: ChoiceTarget

    # What another choice has of its own

    kind: ClassVar[ChoiceOf]

    @property
    @abstractmethod
    def epsilon(self) -> Decimal:
        """The price of the choice. Raises UsageError where none is named."""

    @property
    @abstractmethod
    def told(self) -> object:
        """What the choice is of besides the policy, as JSON."""

    @abstractmethod
    def query(self, plan: ReleasePlan) -> str:
        """The text that reads the source."""

    @abstractmethod
    def stated(self, plan: ReleasePlan) -> ChoiceStated:
        """What the choice will be certified as; all of it is known before anything is read."""

    @abstractmethod
    def drawn(self, plan: ReleasePlan, query: str, entry: Entry) -> str:
        """The policy that one draw chooses by ``query``. The one place that sees the source."""

    # What they share

    @property
    def name(self) -> str:
        """What the ledger calls it."""
        return choice_name(self.policy.name, self.kind)

    @property
    def period(self) -> str:
        """The period whose rows alone are read, where the policy has some."""
        return self.policy.edition.name if self.policy.edition.column else ""

    @property
    def edition(self) -> str:
        """The name that was given to another choice of the same."""
        return "" if self.period else self.target.edition

    @property
    def brought(self) -> Brought:
        """The request for approvals of it, and those that are there."""
        return brought_at(request_file(self.ends.certificate_path, "claim"))

    @property
    def anew(self) -> str:
        """How another choice of the same is asked for."""
        if self.period:  # which an edition names
            return "--output FILE chooses anew, at a new price"
        return "--edition NAME chooses anew, at a new price"

    @property
    def project(self) -> Project:
        """The project of its policy."""
        return self.target.project

    @property
    def ends(self) -> Ends:
        """Where what is chosen is written."""
        return self.target.ends

    @property
    def place(self) -> str:
        """What the ledger calls its place."""
        return place_of(f"{self.name}{self.period}", self.ends, Edition(self.edition))

    @cached_property
    def of(self) -> str:
        """What the choice is of: the policy, its hierarchies, and what is asked of the choice."""
        told = [self.policy.digest, self.period, self.told]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    # What stands

    def entry(self, known: Books) -> tuple[Entry | None, Literal["take", "place", "draw", "lost"]]:
        """The entry of this choice, and what is to do for it; None where nothing was charged."""
        entries = [
            entry
            for entry in known.budget.at(self.place)
            if entry.run.of in {self.of, ""} and entry.state != "cancelled"
        ]
        if not entries:
            return None, "draw"
        entry = entries[-1]
        digest = entry.only_digest
        if digest is None:
            return entry, "draw" if entry.can_draw else "lost"
        trusted = books.trusted_keys(self.project)
        if standing.look(entry.run, self.ends, _NOWHERE, trusted) == digest:
            return entry, "take"
        has_bytes = self.is_at(digest) or self.copy(digest) is not None
        return entry, "place" if has_bytes else "lost"

    @property
    def path(self) -> Path:
        """The policy that is written."""
        assert self.ends.path is not None
        return self.ends.path

    def is_at(self, digest: str) -> bool:
        """Whether what was drawn stands."""
        return self.path.is_file() and publish.file_digest(self.path) == digest

    def copy(self, digest: str) -> copies.Copy | None:
        """The bytes of what was drawn that are kept, if any."""
        certificate = self.ends.certificate_path
        return copies.copy_of(self.project, self.place, certificate, digest, is_table=False)

    def chosen(self, entry: Entry, outcome: Literal["chosen", "stands", "put back"]) -> Chosen:
        """What its caller is told."""
        candidates = int(entry.run.predicate.get("candidates", 0))
        certificate = self.ends.certificate_path
        return Chosen(
            self.path, certificate, entry.epsilon, candidates, entry.account, entry.id, outcome
        )


def choose_recoding(
    policy: Policy,
    project: Project,
    *,
    output: Path | None = None,
    edition: str = "",
    replace: bool = False,
    say: Callable[[str], None] = lambda text: None,
    clock: Clock = utc_now,
) -> Chosen:
    """Choose a scheme of a policy by ``search.epsilon``, and write it as an ordinary policy.

    Guarantee: what is written is ε-DP in the whole source, under the policy's notion of neighbours;
    the account is charged before the source is read, as for any release. A choice that stands is
    the answer, and one that is lost is put back from the bytes that were kept. ``edition`` names
    another draw, at a price of its own. ``output`` is a file in the policy's folder.

    Raises:
        UsageError: there is no ε, nothing to choose, or ``output`` is elsewhere.
        PolicyError, NotCertifiable: the policy does not fit, or cannot be certified.
        NotReleasable: the choice was charged and is lost.
        BudgetExceeded, NotApproved: the account cannot pay, or needs approvals: nothing was read.
        FileError, WarehouseError, LedgerError: nothing was written; what was charged stands.
    """
    policy = in_period(policy, project, edition, clock)
    target = ChoiceTarget.of(
        policy, project, "chosen", output=output, edition=edition, replace=replace, clock=clock
    )
    return choose_privately(_Recoding(policy, target, Candidates.of(policy)), say)


def recoding_sought(
    policy: Policy, project: Project, edition: str = "", output: Path | None = None
) -> Sought:
    """What approvals of a search of a policy are asked for; as ``sought``."""
    policy = in_period(policy, project, edition, utc_now)
    target = ChoiceTarget.of(policy, project, "chosen", output=output, edition=edition)
    return sought(_Recoding(policy, target, Candidates.of(policy)))


def in_period(policy: Policy, project: Project, edition: str, clock: Clock) -> Policy:
    """A policy as it reads the rows of one period, where it has some: of the ``edition`` named.

    Raises UsageError where none is named, or none is called so; NotReleasable where it is not over.
    """
    if not isinstance(policy.schedule, PeriodOf):
        return policy
    if not edition:
        raise UsageError(
            f"{policy.name} has a period: name the one whose rows are looked at, as in --edition"
            " 2026-10; the account pays in its window"
        )
    known = None
    if books.has_ledger(project):
        with books.open_ledger(project) as ledger:
            known = ledger.read()
    return asked_for(policy, project, known, at_moment(known, clock), edition)


def choose_privately(
    search: PrivateChoice, say: Callable[[str], None] = lambda text: None
) -> Chosen:
    """What was chosen before, or is now. Guarantee and errors: as ``choose_recoding``."""
    policy, project = search.policy, search.project
    assert search.epsilon  # told before anything is opened
    if (before := _standing(search, say)) is not None:
        return before
    with planned(policy, project, search.target.clock) as plan:
        plan.warehouse.hold(policy, plan.table)
        query = search.query(plan)
        plan.warehouse.check_reads(policy, plan.table, query)
        stated = search.stated(plan)
        if not books.has_ledger(project):
            _check_first(search, plan, stated, say)
        places = (search.ends.certificate_path,)
        signer = beginning.ledger_writer(project, moment(stated.time), places)
        with (
            books.open_ledger(project, signer, say=say) as ledger,
            copies.alone(project, search.place),
        ):
            return _charged(search, plan, ledger, signer, stated, query=query, say=say)


def _target(policy: Policy, word: str, output: Path | None, edition: str) -> Path:
    """Where the chosen policy is written: paths in it start at its folder, as in the policy's."""
    name = f"{policy.file.stem}.{word}{f'.{edition}' if edition else ''}.yaml"
    target = policy.file.with_name(name) if output is None else output
    if target.resolve().parent != policy.file.resolve().parent:
        raise UsageError(
            f"--output must be a file in the folder of {policy.file}: the paths in it start there"
        )
    if target.resolve() == policy.file.resolve() or target.suffix not in (".yaml", ".yml"):
        raise UsageError(f"--output must be another file, in .yaml or .yml, found {target}")
    return target


def _standing(search: PrivateChoice, say: Callable[[str], None]) -> Chosen | None:
    """The choice that was drawn before, once it stands; None where none was. No source is read."""
    if not books.has_ledger(search.project):
        return None
    with books.open_ledger(search.project) as ledger:
        entry, step = search.entry(ledger.read())
    if entry is None or step == "draw":
        return None
    if step == "take" and entry.state == "committed":
        return search.chosen(entry, "stands")
    signer = beginning.ledger_writer(search.project, places=(search.ends.certificate_path,))
    with (
        books.open_ledger(search.project, signer, say=say) as ledger,
        copies.alone(search.project, search.place),
    ):
        return _settled(search, ledger, signer)


def _settled(search: PrivateChoice, ledger: Ledger, signer: Signer) -> Chosen | None:
    """Let what was drawn stand, and its entry be committed; None where nothing was drawn."""
    entry, step = search.entry(ledger.read())
    if entry is None or step == "draw":
        return None
    if step == "lost":
        raise _lost(search, ledger, entry)
    standing.mend(entry.run, search.ends, _NOWHERE, books.trusted_keys(search.project, signer))
    return _placed(search, ledger, entry, signer, "put back" if step == "place" else "stands")


def _placed(
    search: PrivateChoice,
    ledger: Ledger,
    entry: Entry,
    signer: Signer,
    outcome: Literal["chosen", "stands", "put back"],
) -> Chosen:
    """Put the bytes that were drawn in their place, keep a copy, and commit."""
    digest, ends, run = str(entry.only_digest), search.ends, entry.run
    envelope = sign(statement(ends.subject, digest, run.predicate), signer).to_document()
    copy = search.copy(digest)
    if outcome != "stands":
        if search.is_at(digest):
            publish.write_certificate(envelope, ends.certificate_path, replace=True)
        else:
            assert copy is not None
            trusted = books.trusted_keys(search.project, signer)
            is_own = standing.certifies(run, ends.certificate_path, trusted)
            replace = search.target.replace or (is_own and not search.path.exists())
            _check_place(search, entry, replace=replace)
            at = moment(run.predicate.get("time"))
            publish.publish_file(
                copy.path, search.path, envelope, at=at, replace=replace, mark=run.mark
            )
    if copy is not None:
        copies.keep(copy, ends.certificate_path, digest, search.project.copies_most)
    if entry.state != "committed":
        ledger.commit(entry.id, release_name=run.target, release_digest=digest)
    copies.discard(search.project, search.place, digest)
    return search.chosen(entry, outcome)


def _lost(search: PrivateChoice, ledger: Ledger, entry: Entry) -> NotReleasable:
    why = "had its attempts, and nothing came out that anybody could have seen"
    if entry.only_digest is not None:
        why = "was drawn, and neither the policy that was chosen nor a copy of it is here"
    copies.tidy(search.project, search.place, ledger.read().budget.recorded_at(search.place))
    if entry.state == "started":
        ledger.keep(entry.id, why)
    return NotReleasable(
        f"{search.name}: entry {entry.id} {why}; it stays charged."
        f" {search.anew}: ε {in_text(entry.epsilon)}"
    )


def _check_place(search: PrivateChoice, paid: Entry | None, *, replace: bool) -> None:
    """FileError where what is chosen would go over what stands there, or cannot be written.

    ``paid`` is the entry that has paid for it already.
    """
    path, certificate = search.path, search.ends.certificate_path
    if path.is_file() and stated_subject(publish.content_of(certificate)) != path.name:
        raise FileError(
            f"{path} was written by somebody, and only what was chosen is replaced: move it away,"
            " or name another file by --output",
            code="place_taken",
        )
    if not replace and any(map(os.path.lexists, (path, certificate))):
        told = f"has what another choice chose, which stands; {search.anew}, and --replace chooses"
        told += f" by ε {in_text(search.epsilon)} and puts that in its place, at that price"
        if paid is not None:
            told = f"is not what entry {paid.id} chose; --replace puts that there, at no cost"
        raise FileError(f"{path} {told}", code="place_taken")
    publish.check_target(path, replace=replace, paid=None if paid is None else paid.id)


def _check_first(
    search: PrivateChoice, plan: ReleasePlan, stated: ChoiceStated, say: Callable[[str], None]
) -> None:
    """Refuse a first charge before a ledger or a key is made for it."""
    beginning.check_clean(search.project, (search.ends.certificate_path,))
    charge = _charge(search, plan, stated, None)
    _check_left(plan, None, charge, say)
    _check_place(search, None, replace=search.target.replace)


def _check_not_held(known: Books, account: str) -> None:
    """NotApproved where people have to approve what comes out of what an account pays for."""
    required = known.approvals.required(account)
    if required is not None and required.needs("release"):
        raise NotApproved(
            f"account {account!r} requires approvals of what comes out, and a policy that is chosen"
            " privately cannot wait for them: nothing was charged. Write the levels or limits by"
            " hand, or choose them by data that is public"
        )


def sought(search: PrivateChoice) -> Sought:
    """What approvals of a private choice are asked for, before it is charged.

    Raises NotApproved where the account requires none, or it was charged already; as ``planned``.
    """
    policy, project = search.policy, search.project
    with (
        planned(policy, project, search.target.clock) as plan,
        books.open_ledger(project) as ledger,
    ):
        known = ledger.read()
        required_of(known, plan.account)
        _check_not_held(known, plan.account)
        entry, _ = search.entry(known)
        if entry is not None:
            raise NotApproved(f"{search.name}: entry {entry.id} has paid for it: nothing waits")
        charge = _charge(search, plan, search.stated(plan), known)
        account = paying(known.budget.account(plan.account), charge, plan.limit, plan.window_plan)
        return asked_of(charge, search.ends.certificate_path, known, account)


def _check_left(
    plan: ReleasePlan, known: Books | None, charge: Charge, say: Callable[[str], None]
) -> None:
    """BudgetExceeded where the account cannot pay, or not for the release behind it as well.

    What it costs in releases is told, if that is more than one.
    """
    before = Account(plan.account) if known is None else known.budget.account(plan.account)
    account, release = paying(before, charge, plan.limit, plan.window_plan), plan.charge(known)
    admit(account, charge)
    try:
        admit(account.plus(charge), release)
    except BudgetExceeded as error:
        error.add_note(
            "nothing was charged: once it had paid for the choice, the account could not pay for"
            " the release that the choice is for. A plan of the account keeps the release's share"
            f" apart: plan: {{{plan.policy.name}: {{editions: 1}}}}, rest: 0.02, and guarantee:"
            " planned"
        )
        raise
    if lost := _fewer(account, charge, release):
        say(f"account {plan.account!r}: {lost}")


def _fewer(account: Account, charge: Charge, release: Charge) -> str:
    """What a choice costs in releases of its policy, where it is more than one; empty if not.

    Before the first release an account pays for a choice by its ε alone, and nothing is to be said.
    """
    windows, notion = release.windows, release.neighbours
    rules = account.filters(windows, notion)
    if all(rule.spent.first is None for rule in rules) or account.is_planned(release):
        return ""
    left = [
        each.remaining(release.asked, notion, windows) for each in (account, account.plus(charge))
    ]
    before, after = (0 if each is None or each.alike is None else each.alike for each in left)
    if before - after <= 1:
        return ""
    return (
        f"with this choice it pays for {after} more releases like that of {release.policy_name},"
        f" and without it for {before}{' or more' if before == MOST_ALIKE else ''}: beside releases"
        " a choice costs more than its ε; before the first of them it does not"
    )


def _charge(
    search: PrivateChoice, plan: ReleasePlan, stated: ChoiceStated, known: Books | None
) -> Charge:
    """What the ledger is asked to book, in the window of the day where its account has windows."""
    charge = charge_of_choice(stated)
    payer = replace_field(plan.payer, policy=search.policy, project=search.project)
    charge = payer.counted(charge, None, known, search.target.clock)
    run = run_of(stated.predicate(), search.ends, search.of, search.edition)
    return replace_field(charge, request=search.place, run=run, brought=search.brought)


def _charged(
    search: PrivateChoice,
    plan: ReleasePlan,
    ledger: Ledger,
    signer: Signer,
    stated: ChoiceStated,
    *,
    query: str,
    say: Callable[[str], None],
) -> Chosen:
    """Draw what was charged and not drawn yet, or charge a choice and draw that."""
    project = search.project
    if (found := _settled(search, ledger, signer)) is not None:
        return found  # by a run of the same beside this one
    known = ledger.read()
    trusted = books.trusted_keys(project, signer)
    places = beginning.certificates_of(project, search.ends.certificate_path)
    beginning.check_remembers(known, places, trusted)
    entry, _ = search.entry(known)
    _check_place(search, entry, replace=search.target.replace)
    if entry is None:
        books.check_new_name(known, project, plan.account)
        check_pinned(project, known, plan.account)
        _check_not_held(known, plan.account)
        sealing = books.sealing_key(project, ledger)
        names = plan.names(books.named_by(sealing, project, ledger.books))
        charge = names.named(_charge(search, plan, stated, known))
        known.check_reviewed(charge)
        _check_left(plan, known, charge, say)
        entry = ledger.reserve(charge, plan.limit, solve=plan.window_plan)
    else:
        ledger.verify()  # what was given back, and hidden, would run for nothing
    with _told_how_to_go_on(search, ledger, entry):
        copies.make_drawn_folder(project, search.place)
        copies.tidy(project, search.place, ledger.read().budget.recorded_at(search.place))
        entry = ledger.start(entry.id, search.brought)
        try:
            text = search.drawn(plan, query, entry)
        except EnvironmentFailed as error:
            if error.of_setup:
                ledger.lapse(entry.id, "by a cause that no row can bring about")
            raise
        content = text.encode()
        write: Callable[[Path], object] = lambda path: path.write_bytes(content)  # noqa: E731
        digest = copies.drawn(project, search.place, write, is_table=False).path.stem
        if not ledger.draw(entry.id, digest):
            copies.discard(project, search.place, digest)
            raise publish.other_bytes(str(search.path))
        return _placed(search, ledger, ledger.read().budget.entry(entry.id), signer, "chosen")


@contextmanager
def _told_how_to_go_on(search: PrivateChoice, ledger: Ledger, entry: Entry) -> Iterator[None]:
    """Say what to do about a choice that was charged, and failed."""
    try:
        yield
    except BaseException as error:
        with suppress(LedgerError):
            now_is = ledger.read().budget.entry(entry.id)
            goes_on = now_is.can_draw or now_is.only_digest is not None
            remedy = "the same command again goes on, at no cost" if goes_on else search.anew
            error.add_note(f"entry {entry.id} of account {entry.account!r} is paid: {remedy}")
        raise


@frozen
class _Recoding(PrivateChoice):
    """The choice of a scheme of a policy's lattice."""

    candidates: Candidates
    kind: ClassVar[ChoiceOf] = "recoding"

    @cached_property
    def epsilon(self) -> Decimal:
        epsilon = self.candidates.spec.epsilon
        if epsilon is None:
            raise UsageError(
                f"{self.policy.file}: to choose by looking at data has a price: write it, as in"
                " search: {epsilon: 0.01}. Of data that is public, or synthetic, say --public"
            )
        return epsilon

    @property
    def precision(self) -> Fraction | None:
        asked = self.candidates.spec.precision
        return None if asked is None else Fraction(asked)

    @property
    def told(self) -> object:
        """What the policy says of the search, and the levels that there are."""
        return [self.candidates.spec.model_dump(mode="json"), self.candidates.told]

    def query(self, plan: ReleasePlan) -> str:
        return self.candidates.query(plan.table, plan.warehouse)

    def stated(self, plan: ReleasePlan) -> ChoiceStated:
        lattice, asked = self.candidates.public_lattice, self.precision
        many = lattice.size
        if asked is not None:
            precisions, whole = lattice.precisions
            many = sum(part >= asked * whole for part in precisions.ravel().tolist())
            if not many:
                raise UsageError(
                    f"{self.policy.file}: no scheme has a precision of {float(asked):g}: write a"
                    " smaller search.precision"
                )
        precision = self.candidates.spec.precision
        return stated_of(
            self,
            plan,
            people=least_shown(self.policy),
            parts=self.candidates.told,
            candidates=many,
            precision="" if precision is None else f"{precision:f}",
            groups=self.candidates.most,
        )

    def drawn(self, plan: ReleasePlan, query: str, entry: Entry) -> str:
        histogram, lattice = self.candidates.people(query, plan.table, plan.warehouse)
        scheme = chosen_scheme(
            histogram, lattice, self.epsilon, least_shown(self.policy),
            precision=self.precision, neighbours=self.policy.guarantee.neighbours,
        )  # fmt: skip
        return chosen_text(self.candidates, scheme, entry)


def stated_of(
    search: PrivateChoice,
    plan: ReleasePlan,
    *,
    people: int,
    parts: tuple[tuple[str, tuple[str, ...]], ...],
    candidates: int,
    precision: str = "",
    groups: int = 0,
) -> ChoiceStated:
    """What a choice is certified as; ``people`` and ``candidates`` as of ``ChoiceStated``."""
    certificate = plan.certificate
    return ChoiceStated(
        policy_name=search.policy.name,
        policy_digest=search.policy.digest,
        account=plan.account,
        source=search.policy.source.text,
        unit=certificate.unit,
        neighbours=certificate.promise.neighbours,
        epsilon=search.epsilon,
        people=people,
        precision=precision,
        parts=parts,
        candidates=candidates,
        engine=certificate.engine,
        engine_version=plan.warehouse.engine_version,
        time=now(),
        kind=search.kind,
        period=search.policy.edition if search.period else None,
        groups=groups,
    )


def chosen_scheme(
    histogram: Histogram,
    lattice: Lattice,
    epsilon: Decimal,
    least: int,
    *,
    precision: Fraction | None = None,
    neighbours: str = ADD_REMOVE,
    below: Below = randbelow,
) -> Scheme:
    """One scheme, drawn by its score: ε-DP in the people of the histogram.

    >>> from policy_engine.choose.lattice import Ladder
    >>> zips = Ladder.of("zip", [("301", "3"), ("302", "3"), ("400", "4")])
    >>> table = Histogram(np.array([[0], [1], [2]]), np.array([9_000, 8_000, 7_000]))
    >>> chosen_scheme(table, Lattice.of([zips]), Decimal(1), 20)
    (0,)
    """
    monotone = neighbours == ADD_REMOVE
    far = ceil(_FAR / step_of(epsilon, histogram.most, monotone=monotone))
    schemes, scores = utilities_of(histogram, lattice, least, precision, far)

    def exact(at: int) -> int:
        own = lattice.of_one(schemes[at])
        return utilities_of(histogram, own, least, precision)[1][0]

    place = choose(scores, epsilon, histogram.most, monotone=monotone, below=below, exact=exact)
    return schemes[place]


def chosen_text(candidates: Candidates, scheme: Scheme, entry: Entry) -> str:
    """The policy's file with the levels of a scheme, without ``search``."""
    data = plain_yaml(candidates.text)
    data.pop("search", None)
    recode = candidates.recode(scheme)
    for column, recoding in recode.items():
        _write(data["recode"], column, recoding)
    levels = "; ".join(
        f"{each.column}: {level_words(recode[each.column])} (level {level} of {each.height})"
        for each, level in zip(candidates.columns, scheme, strict=True)
    )
    digests = {name: tree.digest for name, tree in candidates.read.hierarchies.items()}
    return with_note(data, OF_RECODING, entry, levels, digests)


def _write(recode: Any, column: str, recoding: object) -> None:
    """Put a recoding into a policy as it is written there: comments stay where they are.

    What is behind a column's key is a comment of the columns below it, too: a mapping that began a
    line of its own would be put behind that. What stood within a block that is replaced, and below
    it, is put there as well.
    """
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import CommentMark
    from ruamel.yaml.tokens import CommentToken

    if recoding == recode[column]:
        return
    if set(mapping(recoding)) == set(mapping(recode[column])):
        recode[column].update(recoding)
        return
    own = recode.ca.items.setdefault(column, [None] * 4)
    within = sorted(_comments(recode[column]), key=lambda each: each.start_mark.line)
    told = [each.value for each in within if each is not own[2]]
    if lines := [line.strip() for line in "".join(told).splitlines() if line.strip()]:
        first = "" if own[2] is None else own[2].value.rstrip("\n")
        own[2] = CommentToken("\n  ".join([first, *lines]) + "\n", CommentMark(0), None)
    recode[column] = recoding
    if isinstance(recoding, dict):
        recode[column] = CommentedMap(recoding)
        recode[column].fa.set_flow_style()
    for comment in filter(None, recode.ca.items.get(column, ())):
        comment.start_mark.column = 0  # as far to the right as what stands there now


def _comments(data: Any) -> Iterator[Any]:
    """The comments within a part of a policy."""
    for slots in getattr(getattr(data, "ca", None), "items", {}).values():
        yield from filter(None, slots)
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _comments(each)


def with_note(
    data: Any,
    what: str,
    entry: Entry,
    chosen: str,
    digests: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A policy as YAML, with the price of a choice beside what its author says of it."""
    many = counted(entry.run.predicate["candidates"], "candidate")
    told = (
        f"{what} chosen among {many} by a private choice of ε {in_text(entry.epsilon)}, which"
        f" account {entry.account!r} paid (entry {entry.id}): {chosen[:_MOST_TOLD]}"
    )
    written = read_document(_dumped(data), Path("chosen.yaml"), PolicyDocument, "policy")
    note = choice_note(told, written.document, digests)
    about = data.setdefault("about", {})
    before = str(mapping(about).get("justification") or "").strip()[
        : MOST_JUSTIFICATION - len(note) - 1
    ]
    about["justification"] = f"{before} {note}".strip()
    return _dumped(data)


def _dumped(data: Any) -> str:
    """The YAML that is read as the data again: a long key that is folded in a {mapping} is not."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    for width in (100, 10**9):
        yaml.width = width
        written = io.StringIO()
        yaml.dump(data, written)
        with suppress(YAMLError):
            if YAML().load(written.getvalue()) == data:
                return written.getvalue()
    raise InternalError("a policy that was read cannot be written")
