"""All that a report says, as plain data: the page, the JSON and the exports are all made of it.

Pure: it takes what ``evidence`` has read, and reads nothing. A value is None where nobody stated
it, and no text of ours stands in for what is not known.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

from policy_engine.attest.attestation import UNPROMISED_TYPE, unverified
from policy_engine.attest.certificates import certificate_in, query_digest
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.check.described import entries, words
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.assumptions import ROW_UNIT
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, still_works
from policy_engine.releasing.showing import in_reading_order
from policy_engine.report.changes import Comparable, changes
from policy_engine.report.evidence import Evidence
from policy_engine.report.mechanism import clauses, how
from policy_engine.report.promise import promise, risks

FIRST_ROWS = 10
_GREEN = ("green", "Verified: the certificate holds, and the release is the one it is of")
_AMBER = ("amber", "The certificate holds; the release itself was not looked at")
_ONE_ROUTE = (
    "amber",
    "Not verified: nothing but the accountant recomputed δ; what else was looked at holds",
)
_RED = {
    "certificate": "This certificate does not hold: rely on nothing on this page",
    "release": (
        "The certificate holds, and this file is another than the one that it is of: rely on"
        " nothing that the file says"
    ),
    "policy": "The certificate holds, and the policy that was named is not the one that it is of",
    "approvals": "The certificate holds, and approvals that the review policy asks for are missing",
}
_HOLDS = "No (ε, δ): the statement holds, and it promises nothing of any person"
_FAILS = "No (ε, δ), and this statement does not hold: rely on nothing on this page"
_AGAINST = (
    "anybody who sees this release, whatever they know of everybody else and however many other"
    " files they have; not against whoever can read the source, the machine or the secret"
)


def view(found: Evidence) -> dict[str, Any]:
    """All that is said of a release, in an edition: the public one names no other release.

    ``details`` are None where anything does not hold, which ``fault`` of the band says;
    ``required`` is what the ledger says was required of approvals, None where there is no ledger;
    ``by_policy`` what a review policy that was named asks for, and whether it is there.
    """
    budget, is_whole = found.budget, found.verified is not None
    if budget is not None and found.named.edition == "public":
        budget = {**budget, "others": (), "limit_where": None}
    return {
        "edition": found.named.edition,
        "band": _band(found),
        # Of what does not hold no promise is shown: a picture of one is believed before it is read.
        "details": _details(found, found.certificate) if is_whole and found.certificate else None,
        "account": budget,
        "changed": _changed(found),
        "approvals": found.approvals,
        "required": found.required,
        "by_policy": found.by_policy,
        "check": _check(found),
    }


def _band(found: Evidence) -> dict[str, Any]:
    """The verdict: what was found, of what, by whom, when."""
    certificate, verified = found.certificate, found.verified
    colour, verdict = "red", _RED[found.fault or "certificate"]
    if verified is not None:
        looked_at = _AMBER if found.rows is None else _GREEN
        colour, verdict = looked_at if verified.is_recomputed else _ONE_ROUTE
    return {
        "colour": colour,
        "verdict": verdict,
        "fault": found.fault,
        "name": certificate.terms.policy_name if certificate else None,
        "description": found.policy.description or None if found.policy else None,
        **{name: _said(found, name) for name in ("purpose", "region", "sector")},
        "releaser": found.key_id,
        "releaser_note": found.note or None,
        "date": certificate.time if certificate else None,
        "release": found.subject,
        "checked": verified.checked if verified else (),
        "unchecked": verified.unchecked if verified else (),
        "reasons": found.reasons,
    }


def _details(found: Evidence, certificate: Certificate) -> dict[str, Any]:
    """What a certificate says that can be read."""
    rows, meaning = found.rows, meaning_of(certificate.claim)
    estimated, first = tuple[str, ...](), None
    if rows is not None:
        estimated = tuple(meaning.found(rows.columns, rows.lines))
        ordered = in_reading_order(certificate.claim, rows.columns, rows.lines)
        first = {
            "columns": rows.columns,
            "rows": tuple(ordered[:FIRST_ROWS]),
            "size": len(rows.lines),
        }
    unit = "each row of the source, taken for one person"
    if certificate.unit != ROW_UNIT:
        unit = f"each value of {certificate.unit}, taken for one person, with all its rows"
    return {
        "promise": promise(certificate, _said(found, "justification")),
        "protection": {
            "unit": unit,
            "against": _AGAINST,
            "recipients": _said(found, "recipients"),
            "access": _said(found, "access"),
            "trusted": (
                "whoever ran the release: they hold the raw data (the central model) and drew the"
                " randomness",
                f"the randomness: {meaning_of(certificate.claim).randomness(certificate.engine)}",
                "the warehouse, to run the query as it is written",
                "whoever holds the signing key, to have run the query that is certified",
            ),
        },
        "how": how(certificate, estimated),
        "columns": tuple(_columns(certificate.claim)),
        "rows": first,
        "risks": risks(certificate, None if rows is None else rows.lines),
    }


def _said(found: Evidence, name: str) -> str | None:
    """What the author says, in the certificate or in the policy of its digest."""
    own = None if found.certificate is None else dict(found.certificate.terms.said).get(name)
    return own or (dict(found.policy.stated).get(name) if found.policy else None)


def _columns(claim: Claim) -> Iterator[dict[str, Any]]:
    """Of which of the source's columns each is made, and how."""
    for each in claim.columns:
        yield {
            "name": each.name,
            "of": each.column.name if each.column else None,
            "recode": words(each),
            "entries": entries(each) or (),
        }


def _changed(found: Evidence) -> dict[str, Any] | None:
    if found.previous is None or found.certificate is None:
        return None
    file, before, fault = found.previous
    old, new = (Comparable.of_certificate(each) for each in (before, found.certificate))
    return {
        "file": _named(found, file),
        "fault": fault or None,
        "price_before": old.price,
        "price_now": new.price,
        "changes": tuple(map(asdict, changes(old, new))),
    }


def _named(found: Evidence, file: str | Path) -> str:
    """A file as the edition names it: the public one shows no folder of this machine."""
    path, folder = PurePath(file), found.named.folder
    if found.named.edition == "public":
        return path.name
    inside = folder is not None and path.is_relative_to(folder)
    return str(path.relative_to(folder) if inside and folder is not None else path)


def _check(found: Evidence) -> dict[str, Any]:
    """How to check it without us: the command, what is compared, whom to ask."""
    certificate = found.certificate
    names = (
        _named(found, name)
        for name in (found.named.certificate, found.named.release or found.subject)
    )
    file, release = map(shlex.quote, names)
    digests = dict.fromkeys(("policy_digest", "query_digest", "claim_sha256", "engine"))
    if certificate is not None:
        digests = {
            "policy_digest": certificate.terms.policy_digest,
            "query_digest": query_digest(certificate),
            "claim_sha256": certificate.claim.digest.removeprefix("sha256:"),
            "engine": " ".join((certificate.engine, certificate.terms.engine_version)).strip(),
        }
    return {
        "command": f"policy-engine verify {file} --release {release} --key KEY.pub",
        "certificate_sha256": found.sha256,
        "release_sha256": found.subject_sha256,
        "key_id": found.key_id,
        **digests,
        "contact": _said(found, "contact"),
        "trusted": found.named.trusted if found.named.edition == "internal" else (),
        "clauses": clauses(certificate) if certificate and found.verified else (),
    }


def unpromised_view(text: str, keys: TrustedKeys, release: Path | None) -> dict[str, Any]:
    """What is said of the statement in ``text``, without (ε, δ): amber or red, and never green.

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
    return {
        "guarantee": NO_GUARANTEE,
        "epsilon": None,
        "delta": None,
        "band": {
            "colour": "red" if reasons else "amber",
            "verdict": _FAILS if reasons else _HOLDS,
            "first": NO_GUARANTEE,
            "reasons": reasons,
        },
        "name": terms.policy_name,
        "date": certificate.time,
        "release": stated.subject_name,
        "key_id": "" if reasons else checked[0].removeprefix("signed by "),
        "statement_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "purpose": dict(terms.said).get("purpose"),
        "attacks": tuple(still_works(k, terms.models)),
        "models": (*((f"{k}-anonymity",) if k > 1 else ()), *map(str, terms.models)),
        "columns": tuple((shown.name, words(shown)) for shown in certificate.claim.columns),
        "unit": certificate.unit,
        "policy_digest": terms.policy_digest,
        "checked": checked,
        "unchecked": unchecked,
    }
