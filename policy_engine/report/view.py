"""All that a report says, as plain data: the page, the JSON and the exports are all made of it.

Pure: it takes what ``evidence`` has read, and reads nothing. A value is None where nobody stated
it, and no text of ours stands in for what is not known.
"""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

from policy_engine.attest.attestation import SYNTACTIC_TYPE, unverified
from policy_engine.attest.facts import Facts, claim_of, models_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.predicates import claim_stated, read_syntactic, verify_syntactic
from policy_engine.check.described import entries, words
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.claim import Claim
from policy_engine.policy.syntactic import NO_GUARANTEE
from policy_engine.releasing.meaning import Meaning, PureMeaning
from policy_engine.releasing.showing import in_reading_order
from policy_engine.report.changes import Comparable, changes
from policy_engine.report.evidence import Evidence
from policy_engine.report.mechanism import clauses, how
from policy_engine.report.promise import promise, risks
from policy_engine.report.recodes import in_words

FIRST_ROWS = 10
_GREEN = ("green", "Verified: the certificate holds, and the release is the one it is of")
_AMBER = ("amber", "The certificate holds; the release itself was not looked at")
_UNPROVED = ("amber", "Not verified: the query was not proved again; what else was looked at holds")
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
    claim, budget = claim_in(found.facts or {}), found.budget
    if budget is not None and found.named.edition == "public":
        budget = {**budget, "others": (), "limit_where": None}
    return {
        "edition": found.named.edition,
        "band": _band(found),
        # Of what does not hold no promise is shown: a picture of one is believed before it is read.
        "details": None if found.verified is None else _details(found, found.facts or {}, claim),
        "account": budget,
        "changed": _changed(found),
        "approvals": found.approvals,
        "required": found.required,
        "by_policy": found.by_policy,
        "check": _check(found, claim),
    }


def _band(found: Evidence) -> dict[str, Any]:
    """The verdict: what was found, of what, by whom, when."""
    facts, verified = found.facts or {}, found.verified
    colour, verdict = "red", _RED[found.fault or "certificate"]
    if verified is not None:
        looked_at = _AMBER if found.rows is None else _GREEN
        colour, verdict = looked_at if verified.is_recomputed else _ONE_ROUTE
        if not verified.is_proved:
            colour, verdict = _UNPROVED
    return {
        "colour": colour,
        "verdict": verdict,
        "fault": found.fault,
        "name": facts["policy"]["name"] if facts else None,
        "description": found.policy.description or None if found.policy else None,
        **{name: _said(found, name) for name in ("purpose", "region", "sector")},
        "releaser": found.key_id,
        "releaser_note": found.note or None,
        "date": facts.get("time"),
        "release": found.subject,
        "checked": verified.checked if verified else (),
        "unchecked": verified.unchecked if verified else (),
        "reasons": found.reasons,
    }


def _details(found: Evidence, facts: Facts, claim: Claim | None) -> dict[str, Any]:
    """What a certificate says that can be read."""
    rows, meaning = found.rows, Meaning.of(facts)
    estimated, first = tuple[str, ...](), None
    if rows is not None:
        if isinstance(meaning, PureMeaning):
            estimated = tuple(meaning.found(rows.columns, rows.lines))
        ordered = in_reading_order(facts, rows.columns, rows.lines)
        first = {
            "columns": rows.columns,
            "rows": tuple(ordered[:FIRST_ROWS]),
            "size": len(rows.lines),
        }
    unit = "each row of the source, taken for one person"
    if facts["unit"] != "row":
        unit = f"each value of {facts['unit']}, taken for one person, with all its rows"
    return {
        "promise": promise(facts, _said(found, "justification")),
        "protection": {
            "unit": unit,
            "against": _AGAINST,
            "recipients": _said(found, "recipients"),
            "access": _said(found, "access"),
            "trusted": (
                "whoever ran the release: they hold the raw data (the central model) and drew the"
                " randomness",
                f"the randomness: {facts['randomness']}",
                "the warehouse, to run the query as it is written",
                "whoever holds the signing key, to have run the query that is certified",
            ),
        },
        "how": how(facts, claim, estimated),
        "columns": tuple(_columns(found, facts, claim)),
        "rows": first,
        "risks": risks(facts, claim, None if rows is None else rows.lines),
    }


def _said(found: Evidence, name: str) -> str | None:
    """What the author says, in the certificate or in the policy of its digest."""
    own = None if found.facts is None else found.facts.get(name)
    return own or (dict(found.policy.stated).get(name) if found.policy else None)


def claim_in(facts: Facts) -> Claim | None:
    """The claim of a certificate; None where it has none that can be read."""
    return None if facts.get("claim") is None else claim_of(facts)


def _columns(found: Evidence, facts: Facts, claim: Claim | None) -> list[dict[str, Any]]:
    """Of which of the source's columns each is made, and how; None where it is not stated."""
    made: list[tuple[Any, ...]] = []
    if claim is None:
        known = dict(found.policy.recodings) if found.policy else {}
        for name in facts["columns"]:
            stated = (name, in_words(known[name])) if name in known else (None, None)
            made.append((name, *stated, ()))
    for each in () if claim is None else claim.columns:
        of = each.column.name if each.column else None
        made.append((each.name, of, words(each), entries(each) or ()))
    return [dict(zip(("name", "of", "recode", "entries"), each, strict=True)) for each in made]


def _changed(found: Evidence) -> dict[str, Any] | None:
    if found.previous is None or found.facts is None:
        return None
    file, facts, fault = found.previous
    old, new = (Comparable.of_certificate(each) for each in (facts, found.facts))
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


def _check(found: Evidence, claim: Claim | None) -> dict[str, Any]:
    """How to check it without us: the command, what is compared, whom to ask."""
    facts = found.facts or {}
    names = (
        _named(found, name)
        for name in (found.named.certificate, found.named.release or found.subject)
    )
    certificate, release = map(shlex.quote, names)
    engine = " ".join(text for text in (facts.get("dialect"), facts.get("engine_version")) if text)
    return {
        "command": f"policy-engine verify {certificate} --release {release} --key KEY.pub",
        "certificate_sha256": found.sha256,
        "release_sha256": found.subject_sha256,
        "key_id": found.key_id,
        "policy_digest": facts["policy"]["digest"] if facts else None,
        "query_digest": facts.get("query_digest"),
        "claim_sha256": claim.digest.removeprefix("sha256:") if claim else None,
        "contact": _said(found, "contact"),
        "engine": engine or None,
        "trusted": found.named.trusted if found.named.edition == "internal" else (),
        "clauses": clauses(found.facts) if found.facts and found.verified else (),
    }


def syntactic_view(text: str, keys: TrustedKeys, release: Path | None) -> dict[str, Any]:
    """What is said of the statement in ``text``, without (ε, δ): amber or red, and never green.

    Raises:
        VerificationFailed: it is no such statement, whoever signed it.
        FileError: the release cannot be read.
    """
    stated = unverified(text, SYNTACTIC_TYPE)
    facts = read_syntactic(stated)
    checked, unchecked, reasons = tuple[str, ...](), tuple[str, ...](), tuple[str, ...]()
    try:
        found = verify_syntactic(text, keys, release)
        checked, unchecked = found.checked, found.unchecked
    except VerificationFailed as error:
        reasons = error.reasons
    k = facts["k"]
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
        "name": facts["policy"]["name"],
        "date": facts["time"],
        "release": stated.subject_name,
        "key_id": "" if reasons else checked[0].removeprefix("signed by "),
        "statement_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "purpose": facts.get("purpose"),
        "attacks": tuple((each["attack"], each["why"]) for each in facts["still_works"]),
        "models": (*((f"{k}-anonymity",) if k > 1 else ()), *map(str, models_of(facts))),
        "columns": tuple((shown.name, words(shown)) for shown in claim_stated(facts).columns),
        "unit": facts["unit"],
        "policy_digest": facts["policy"]["digest"],
        "checked": checked,
        "unchecked": unchecked,
    }
