"""All that a report says, as values: the page, the JSON and the exports are all made of it.

Pure: it takes what ``evidence`` has read, and reads nothing. A value is None where nobody stated
it, and no text of ours stands in for what is not known.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path, PurePath
from typing import Literal

from policy_engine.attest.attestation import UNPROMISED_TYPE, open_envelope, unverified
from policy_engine.attest.certificates import added_edition, certificate_in, query_digest
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.check.described import entries, words
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.assumptions import ROW_UNIT
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, still_works
from policy_engine.releasing.opened import in_reading_order, marks_of, of_groups, picture_of
from policy_engine.report.approvals import ApprovalLine
from policy_engine.report.changes import Comparable, KeyChange, changes
from policy_engine.report.choice import ChosenFor
from policy_engine.report.evidence import Audience, Evidence, Fault, PaidAccount
from policy_engine.report.hazards import Answered, hazards
from policy_engine.report.mechanism import Clause, How, clauses, how
from policy_engine.report.promise import PromiseSaid, Risks, promise, risks
from policy_engine.values import frozen

Colour = Literal["green", "amber", "red"]
Verdict = tuple[Colour, str]
"""A colour, and what it says."""
FIRST_ROWS = 10
_GREEN: Verdict = ("green", "Verified: the certificate is valid, and it belongs to this release")
_AMBER: Verdict = ("amber", "The certificate is valid; the release itself was not checked")
_ONE_ROUTE: Verdict = (
    "amber",
    "Not verified: δ was recomputed in one way only, by the accountant; all other checks passed",
)
_RED: Mapping[Fault, Verdict] = {
    "certificate": ("red", "This certificate is not valid: do not rely on anything on this page"),
    "release": (
        "red",
        "The certificate is valid, but it belongs to another file: do not rely on anything in this"
        " file",
    ),
    "policy": (
        "red",
        "The certificate is valid, but it belongs to another policy than the one that was given",
    ),
    "approvals": (
        "red",
        "The certificate is valid, but approvals that the review policy requires are missing",
    ),
}
_HOLDS: Verdict = (
    "amber",
    "No (ε, δ): the statement is valid, but it promises nothing to any person",
)
_FAILS: Verdict = (
    "red",
    "No (ε, δ), and this statement is not valid: do not rely on anything on this page",
)
_AGAINST = (
    "everybody who sees this release, even if they know everything about all other people and have"
    " many other files; not from people who can read the source, the machine or the secret"
)


@frozen
class PageBand:
    """The verdict: what was found, of what, by whom, when."""

    colour: Colour
    verdict: str
    fault: Fault | None
    name: str | None
    description: str | None
    purpose: str | None
    region: str | None
    sector: str | None
    releaser: str
    releaser_note: str | None
    date: str | None
    edition: str | None
    release: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    reasons: tuple[str, ...]


@frozen
class Protected:
    """Who is protected, against whom, and who must be trusted for it."""

    unit: str
    against: str
    recipients: str | None
    access: str | None
    trusted: tuple[str, ...]


@frozen
class ColumnSaid:
    """Of which of the source's columns a released one is made, and how."""

    name: str
    of: str | None
    recode: str
    entries: tuple[tuple[str, str], ...]


@frozen
class PageRows:
    """The first rows of a release, of so many; ``marks`` are of their numbers, by column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    size: int
    marks: tuple[Mapping[str, str], ...] = ()


@frozen
class Details:
    """What a certificate says that holds.

    ``choice`` is the private one that wrote its policy, None where none is known.
    """

    promise: PromiseSaid
    protection: Protected
    how: How
    columns: tuple[ColumnSaid, ...]
    rows: PageRows | None
    picture: str
    """The first groups with a number and its error, as SVG; empty where there is none."""
    risks: Risks
    hazards: tuple[Answered, ...]
    choice: ChosenFor | None = None


@frozen
class Changed:
    """What changed since a former certificate; ``fault`` is why that does not hold."""

    file: str
    fault: str | None
    price_before: str
    price_now: str
    changes: tuple[KeyChange, ...]


@frozen(kw_only=True)
class Check:
    """How to check it without us: the command, what is compared, whom to ask.

    ``export`` says what the command's file is that has the rows of a table; empty of a file.
    """

    command: str
    export: str
    certificate_sha256: str
    release_sha256: str
    key_id: str
    policy_digest: str | None
    query_digest: str | None
    claim_sha256: str | None
    engine: str | None
    contact: str | None
    trusted: tuple[str, ...]
    clauses: tuple[Clause, ...]


@frozen
class ReportView:
    """All that is said of a release for an audience: the public one names no other release.

    ``details`` are None where anything does not hold, which ``fault`` of the band says;
    ``required`` is what the ledger says was required of approvals, None where there is no ledger;
    ``by_policy`` what a review policy that was named asks for, and whether it is there.
    """

    audience: Audience
    band: PageBand
    details: Details | None
    account: PaidAccount | None
    changed: Changed | None
    approvals: tuple[ApprovalLine, ...]
    required: tuple[str, ...] | None
    by_policy: tuple[str, ...]
    check: Check


def view(found: Evidence) -> ReportView:
    """All that is said of a release."""
    budget, is_whole = found.budget, found.verified is not None
    if budget is not None and found.named.audience == "public":
        budget = replace(budget, others=(), limit_where=None)
    return ReportView(
        audience=found.named.audience,
        band=_band(found),
        # Of what does not hold no promise is shown: a picture of one is believed before it is read.
        details=_details(found, found.certificate) if is_whole and found.certificate else None,
        account=budget,
        changed=_changed(found),
        approvals=found.approvals,
        required=found.required,
        by_policy=found.by_policy,
        check=_check(found),
    )


def _band(found: Evidence) -> PageBand:
    certificate, verified = found.certificate, found.verified
    colour, verdict = _RED[found.fault or "certificate"]
    if verified is not None:
        looked_at = _AMBER if found.rows is None else _GREEN
        colour, verdict = looked_at if verified.is_recomputed else _ONE_ROUTE
    return PageBand(
        colour=colour,
        verdict=verdict,
        fault=found.fault,
        name=certificate.terms.policy_name if certificate else None,
        description=found.policy.description or None if found.policy else None,
        purpose=_said(found, "purpose"),
        region=_said(found, "region"),
        sector=_said(found, "sector"),
        releaser=found.key_id,
        releaser_note=found.note or None,
        date=certificate.time if certificate else None,
        edition=certificate.terms.edition.words
        if certificate and certificate.terms.edition
        else None,
        release=found.subject,
        checked=verified.checked if verified else (),
        unchecked=verified.unchecked if verified else (),
        reasons=found.reasons,
    )


def _details(found: Evidence, certificate: Certificate) -> Details:
    rows, meaning = found.rows, meaning_of(certificate.claim)
    estimated, first = tuple[str, ...](), None
    if rows is not None:
        estimated = tuple(meaning.found(rows.columns, rows.lines))
        estimated += tuple(meaning.doubts(rows.columns, rows.lines))
        ordered = in_reading_order(certificate.claim, rows.columns, rows.lines)
        ordered = ordered[:FIRST_ROWS]
        shown = of_groups(certificate.claim, rows.columns, ordered)
        first = PageRows(*shown, len(rows.lines), marks_of(certificate, rows.columns, ordered))
    unit = "one row of the source; each row counts as one person"
    if certificate.unit != ROW_UNIT:
        unit = f"one person with all their rows; each value of {certificate.unit} is one person"
    edition = certificate.terms.edition
    if edition is not None and edition.column:
        unit += f"; only rows of {edition.name} by {edition.column} are read"
    said = promise(certificate, _said(found, "justification"))
    drawn = meaning.randomness(certificate.engine)
    made = how(certificate, estimated)
    return Details(
        promise=said,
        protection=Protected(
            unit=unit,
            against=_AGAINST,
            recipients=_said(found, "recipients"),
            access=_said(found, "access"),
            trusted=(
                "the person who ran the release: this person has the raw data (the central model)"
                " and drew the random numbers",
                f"the random numbers: {drawn}",
                "the warehouse: it must run the query as it is written",
                "the person who has the signing key: this person must have run the certified query",
            ),
        ),
        how=made,
        columns=tuple(
            ColumnSaid(
                each.name,
                each.column.name if each.column else None,
                words(each),
                entries(each) or (),
            )
            for each in certificate.claim.columns
        ),
        rows=first,
        picture="" if rows is None else picture_of(certificate, rows.lines),
        risks=risks(certificate, None if rows is None else rows.lines),
        hazards=tuple(hazards(certificate, said, made, found.budget, _said(found, "access"))),
        choice=found.choice,
    )


def _said(found: Evidence, name: str) -> str | None:
    """What the author says, in the certificate or in the policy of its digest."""
    own = None if found.certificate is None else dict(found.certificate.terms.said).get(name)
    return own or (dict(found.policy.stated).get(name) if found.policy else None)


def _changed(found: Evidence) -> Changed | None:
    if found.previous is None or found.certificate is None:
        return None
    file, before, fault = found.previous
    old, new = (Comparable.of_certificate(each) for each in (before, found.certificate))
    return Changed(_named(found, file), fault or None, old.price, new.price, changes(old, new))


def _named(found: Evidence, file: str | Path) -> str:
    """A file as it is named for the audience: the public one shows no folder of this machine."""
    path, folder = PurePath(file), found.named.folder
    if found.named.audience == "public":
        return path.name
    inside = folder is not None and path.is_relative_to(folder)
    return str(path.relative_to(folder) if inside and folder is not None else path)


def _check(found: Evidence) -> Check:
    certificate = found.certificate
    names = (
        _named(found, name)
        for name in (found.named.certificate, found.named.release or found.subject)
    )
    file, release = map(shlex.quote, names)
    own, export = None, ""
    if certificate is not None:
        own = " ".join((certificate.engine, certificate.terms.engine_version)).strip()
    if found.named.release is None and not found.subject.lower().endswith(".parquet"):
        edition = "" if certificate is None else added_edition(certificate)
        part = f" of edition {edition}, without their column edition," if edition else ""
        export = f"EXPORT.parquet has the rows of the table {release}{part} in the table's order"
        release = "EXPORT.parquet"
    return Check(
        export=export,
        command=f"policy-engine verify {file} --release {release} --key KEY.pub",
        certificate_sha256=found.sha256,
        release_sha256=found.subject_sha256,
        key_id=found.key_id,
        policy_digest=None if certificate is None else certificate.terms.policy_digest,
        query_digest=None if certificate is None else query_digest(certificate),
        claim_sha256=None if certificate is None else certificate.claim.digest[len("sha256:") :],
        engine=own,
        contact=_said(found, "contact"),
        trusted=found.named.trusted if found.named.audience == "internal" else (),
        clauses=clauses(certificate) if certificate and found.verified else (),
    )


@frozen
class UnpromisedBand:
    """The verdict on a statement without (ε, δ): amber or red, and never green."""

    colour: Colour
    verdict: str
    first: str
    reasons: tuple[str, ...]


@frozen(kw_only=True)
class UnpromisedView:
    """What is said of a statement without (ε, δ)."""

    guarantee: str
    epsilon: None = field(init=False, default=None)
    delta: None = field(init=False, default=None)
    band: UnpromisedBand
    name: str
    date: str
    release: str
    key_id: str
    statement_sha256: str
    purpose: str | None
    attacks: tuple[tuple[str, str], ...]
    models: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    unit: str
    policy_digest: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]


def unpromised_view(text: str, keys: TrustedKeys, release: Path | None) -> UnpromisedView:
    """What is said of the statement in ``text``, without (ε, δ).

    Raises:
        VerificationFailed: it is no such statement, whoever signed it.
        FileError: the release cannot be read.
    """
    stated = unverified(text, UNPROMISED_TYPE)
    certificate = certificate_in(stated)
    checked, unchecked, reasons = tuple[str, ...](), tuple[str, ...](), tuple[str, ...]()
    try:
        verified = verify_release(text, keys, release, UNPROMISED_TYPE)
        checked, unchecked = verified.checked, verified.unchecked
    except VerificationFailed as error:
        reasons = error.reasons
    k, terms = certificate.k, certificate.terms
    colour, verdict = _FAILS if reasons else _HOLDS
    return UnpromisedView(
        guarantee=NO_GUARANTEE,
        band=UnpromisedBand(colour, verdict, NO_GUARANTEE, reasons),
        name=terms.policy_name,
        date=certificate.time,
        release=stated.subject_name,
        key_id="" if reasons else open_envelope(text, keys, UNPROMISED_TYPE).key_id,
        statement_sha256=hashlib.sha256(text.encode()).hexdigest(),
        purpose=dict(terms.said).get("purpose"),
        attacks=tuple(still_works(k, terms.models)),
        models=(*((f"{k}-anonymity",) if k > 1 else ()), *map(str, terms.models)),
        columns=tuple((shown.name, words(shown)) for shown in certificate.claim.columns),
        unit=certificate.unit,
        policy_digest=terms.policy_digest,
        checked=checked,
        unchecked=unchecked,
    )
