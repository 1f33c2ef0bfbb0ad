"""All that a report says, as frozen plain data: the page and the JSON are both made of it.

Pure: it takes what ``evidence`` has read, and reads nothing. A value is None where nobody stated
it, and no text of ours stands in for what is not known.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any, Literal

from policy_engine.attest.facts import Facts, claim_of
from policy_engine.check.described import entries, words
from policy_engine.kernel.claim import Claim
from policy_engine.releasing.meaning import Meaning, PureMeaning
from policy_engine.releasing.showing import in_reading_order
from policy_engine.report.approvals import ApprovalLine
from policy_engine.report.budget import Budget
from policy_engine.report.changes import Comparable, KeyChange, changes
from policy_engine.report.clauses import Clause, clauses
from policy_engine.report.evidence import Edition, Evidence
from policy_engine.report.mechanism import How, how
from policy_engine.report.promise import Promise, promise
from policy_engine.report.recodes import in_words
from policy_engine.report.risks import Risks, risks

FIRST_ROWS = 10
Colour = Literal["green", "amber", "red"]


@dataclass(frozen=True)
class VerdictBand:
    """The verdict: what was found, of what, by whom, when."""

    colour: Colour
    verdict: str
    name: str | None
    description: str | None
    purpose: str | None
    region: str | None
    sector: str | None
    releaser: str
    releaser_note: str | None
    date: str | None
    release: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Protection:
    """Who is protected, against whom, and who must be trusted."""

    unit: str
    against: str
    recipients: str | None
    access: str | None
    trusted: tuple[str, ...]


@dataclass(frozen=True)
class ColumnView:
    """A released column: of which of the source's it is made, and how; None where not stated."""

    name: str
    of: str | None
    recode: str | None
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a release, every value a text, None where it is missing."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    size: int


@dataclass(frozen=True)
class Changed:
    """What changed since a former certificate."""

    file: str
    fault: str | None
    price_before: str
    price_now: str
    changes: tuple[KeyChange, ...]


@dataclass(frozen=True)
class Check:
    """How to check it without us: the command, what is compared, whom to ask."""

    command: str
    certificate_sha256: str
    release_sha256: str
    key_id: str
    policy_digest: str | None
    query_digest: str | None
    claim_sha256: str | None
    contact: str | None
    engine: str | None
    trusted: tuple[str, ...]
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class Details:
    """What a certificate says that can be read."""

    promise: Promise
    protection: Protection
    how: How
    columns: tuple[ColumnView, ...]
    rows: FirstRows | None
    risks: Risks


@dataclass(frozen=True)
class ReportView:
    """The report of one certificate; ``details`` are None where it cannot be read.

    ``required`` is what the ledger says was required of approvals, None where there is no ledger.
    """

    edition: Edition
    band: VerdictBand
    details: Details | None
    budget: Budget | None
    changed: Changed | None
    approvals: tuple[ApprovalLine, ...]
    required: tuple[str, ...] | None
    check: Check

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def view(found: Evidence) -> ReportView:
    """All that is said of a release, in an edition: the public one names no other release."""
    claim = claim_in(found.facts or {})
    budget = found.budget
    if budget is not None and found.edition == "public":
        budget = budget.without_others()
    return ReportView(
        edition=found.edition,
        band=_band(found),
        details=None if found.facts is None else _details(found, found.facts, claim),
        budget=budget,
        changed=_changed(found),
        approvals=found.approvals,
        required=found.required,
        check=_check(found, claim),
    )


def _band(found: Evidence) -> VerdictBand:
    facts, verified = found.facts or {}, found.verified
    colour: Colour = "red"
    verdict = "This certificate does not hold: rely on nothing on this page"
    if verified is not None and found.rows is not None and verified.is_proved:
        colour, verdict = (
            "green",
            "Verified: the certificate holds, and the release is the one it is of",
        )
    elif verified is not None:
        colour = "amber"
        verdict = "The certificate holds; the release itself was not looked at"
        if not verified.is_proved:
            verdict = "Not verified: the query was not proved again; what else was looked at holds"
    policy = found.policy
    return VerdictBand(
        colour=colour,
        verdict=verdict,
        name=facts["policy"]["name"] if facts else None,
        description=policy.description or None if policy else None,
        purpose=_said(found, "purpose"),
        region=_said(found, "region"),
        sector=_said(found, "sector"),
        releaser=found.key_id,
        releaser_note=found.note or None,
        date=facts.get("time"),
        release=found.subject,
        checked=verified.checked if verified else (),
        unchecked=verified.unchecked if verified else (),
        reasons=found.reasons,
    )


def _details(found: Evidence, facts: Facts, claim: Claim | None) -> Details:
    rows = found.rows
    estimated: tuple[str, ...] = ()
    if rows is not None:
        meaning = Meaning.of(facts)
        if isinstance(meaning, PureMeaning):
            estimated = tuple(meaning.found(rows.columns, rows.lines))
    return Details(
        promise=promise(facts, _said(found, "justification")),
        protection=_protection(found, facts),
        how=how(facts, claim, estimated),
        columns=tuple(_columns(found, facts, claim)),
        rows=None
        if rows is None
        else FirstRows(
            rows.columns,
            tuple(in_reading_order(facts, rows.columns, rows.lines)[:FIRST_ROWS]),
            len(rows.lines),
        ),
        risks=risks(facts, claim, None if rows is None else rows.lines),
    )


def _said(found: Evidence, name: str) -> str | None:
    """What the author says, in the certificate or in the policy of its digest."""
    own = None if found.facts is None else found.facts.get(name)
    return own or (dict(found.policy.stated).get(name) if found.policy else None)


def claim_in(facts: Facts) -> Claim | None:
    """The claim of a certificate; None where it has none that can be read."""
    return None if facts.get("claim") is None else claim_of(facts)


def _protection(found: Evidence, facts: Facts) -> Protection:
    is_row = facts["unit"] == "row"
    own = "each row of the source, taken for one person"
    unit = (
        own if is_row else f"each value of {facts['unit']}, taken for one person, with all its rows"
    )
    return Protection(
        unit=unit,
        against=(
            "anybody who sees this release, whatever they know of everybody else and however many"
            " other files they have; not against whoever can read the source, the machine or the"
            " secret"
        ),
        recipients=_said(found, "recipients"),
        access=_said(found, "access"),
        trusted=(
            "whoever ran the release: they hold the raw data (the central model) and drew the"
            " randomness",
            f"the randomness: {facts['randomness']}",
            "the warehouse, to run the query as it is written",
            "whoever holds the signing key, to have run the query that is certified",
        ),
    )


def _columns(found: Evidence, facts: Facts, claim: Claim | None) -> list[ColumnView]:
    if claim is not None:
        return [
            ColumnView(
                each.name,
                each.column.name if each.column else None,
                words(each),
                entries(each) or (),
            )
            for each in claim.columns
        ]
    known = dict(found.policy.recodings) if found.policy else {}
    return [
        ColumnView(
            name,
            name if name in known else None,
            in_words(known[name]) if name in known else None,
            (),
        )
        for name in facts["columns"]
    ]


def _changed(found: Evidence) -> Changed | None:
    if found.previous is None or found.facts is None:
        return None
    old, new = (Comparable.of_certificate(each) for each in (found.previous.facts, found.facts))
    return Changed(
        _named(found, found.previous.file),
        found.previous.fault or None,
        old.price,
        new.price,
        changes(old, new),
    )


def _named(found: Evidence, file: str) -> str:
    """A file as the edition names it: the public one shows no folder of this machine."""
    return PurePath(file).name if found.edition == "public" else file


def _check(found: Evidence, claim: Claim | None) -> Check:
    facts = found.facts or {}
    names = (_named(found, name) for name in (found.file, found.release or found.subject))
    certificate, release = map(shlex.quote, names)
    engine = " ".join(text for text in (facts.get("dialect"), facts.get("engine_version")) if text)
    return Check(
        command=f"policy-engine verify {certificate} --release {release} --key KEY.pub",
        certificate_sha256=found.sha256,
        release_sha256=found.subject_sha256,
        key_id=found.key_id,
        policy_digest=facts["policy"]["digest"] if facts else None,
        query_digest=facts.get("query_digest"),
        claim_sha256=claim.digest.removeprefix("sha256:") if claim else None,
        contact=_said(found, "contact"),
        engine=engine or None,
        trusted=found.trusted if found.edition == "internal" else (),
        clauses=clauses(found.facts) if found.facts else (),
    )
