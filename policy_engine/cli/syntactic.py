"""What is said of releases without (ε, δ): first that there is none, and which attacks are open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from policy_engine.cli.output import Format, emit, one_line
from policy_engine.errors import NothingChecked
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted
from policy_engine.policy.syntactic import NO_GUARANTEE, still_works

if TYPE_CHECKING:
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.attest.results import Verified
    from policy_engine.attest.syntactic import Uncertified
    from policy_engine.cli.reading import Trusted
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.preview import Preview
    from policy_engine.releasing.release import Released

_UNLIMITED = "no account limits it: with this charge no (ε, δ) holds of what is released from it"


def planned(policy: Policy, found: Preview, statement: Uncertified) -> dict[str, Any]:
    """The plan of such a release in JSON."""
    document: dict[str, Any] = {
        **_first(policy),
        "policy": policy.name,
        "sql": statement.query,
        "k": statement.k,
        "models": [model.to_json() for model in policy.models],
        "unit": statement.unit,
        "assumptions": list(statement.assumptions),
        "release": str(policy.release_path),
        "ledger": {
            "account": found.account.name,
            "affordable": found.affordable,
            "paid_by_entry": found.repeats,
        },
    }
    return document if found.affordable else {**document, "refusal": found.refusal}


def plan_lines(policy: Policy, found: Preview) -> Iterator[str]:
    """The plan of such a release as text."""
    statement = found.certificate
    yield from first_lines(still_works(policy.k, policy.models))
    yield f"release    {policy.release_path} ({policy.release.form})"
    yield from (f"model      {each}" for each in _models(policy))
    yield f"account    {escaped(found.account.name)}: {_UNLIMITED}"
    yield "assuming:"
    yield from (f"  - {text}" for text in statement.assumptions)
    if found.repeats is not None:
        yield f"entry {found.repeats} was charged for just this"
    elif not found.affordable:
        yield found.refusal


def released(policy: Policy, done: Released) -> dict[str, Any]:
    """Such a release in JSON."""
    return {
        **_first(policy),
        "release": done.release,
        "statement": str(done.certificate),
        "k": done.k,
        "models": [model.to_json() for model in policy.models],
        "groups": done.groups,
        "rows": done.rows,
        "people": done.people,
        "repeated": done.repeated,
        "remarks": list(done.remarks),
        "ledger": {"account": done.account, "entry": done.entry},
    }


def released_lines(policy: Policy, done: Released) -> Iterator[str]:
    """Such a release as text."""
    again = "; charged for before" if done.repeated else ""
    yield from first_lines(still_works(policy.k, policy.models))
    yield f"released {policy.name}{again}"
    yield f"  release    {done.release}  ({counted(done.groups, 'group')}, {done.people} people)"
    yield f"  statement  {done.certificate}"
    yield from (f"  model      {each}" for each in _models(policy))
    yield f"  ledger     entry {done.entry} of account {escaped(done.account)}; {_UNLIMITED}"


def verified(found: Verified, checked: Mapping[str, Any], *, is_whole: bool) -> dict[str, Any]:
    """A statement that holds, in JSON: never ``verified`` as a certificate is."""
    facts = {**found.facts, "still_works": [dict(each) for each in found.facts["still_works"]]}
    return {
        "guarantee": facts.pop("guarantee"),
        "epsilon": None,
        "delta": None,
        "certified": False,
        "verified": False,
        "holds": is_whole,
        "release": found.subject,
        **facts,
        **checked,
        "assumptions": list(found.assumptions),
    }


def verified_lines(found: Verified, checked: Iterable[str], *, is_whole: bool) -> Iterator[str]:
    """A statement that holds, as text."""
    attacks = found.facts["still_works"]
    yield from first_lines((escaped(each["attack"]), escaped(each["why"])) for each in attacks)
    what = "the statement and its release hold" if is_whole else "the statement holds"
    yield f"{what}, and it is no certificate: {one_line(found.subject)}"
    yield from checked
    yield "assuming:"
    yield from (f"  - {escaped(text)}" for text in found.assumptions)


def first_lines(attacks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What stands before all else."""
    yield NO_GUARANTEE
    yield "attacks that still work:"
    yield from (f"  - {name}: {why}" for name, why in attacks)


def _first(policy: Policy) -> dict[str, Any]:
    attacks = still_works(policy.k, policy.models)
    return {
        "guarantee": NO_GUARANTEE,
        "epsilon": None,
        "delta": None,
        "certified": False,
        "still_works": [{"attack": name, "why": why} for name, why in attacks],
    }


def _models(policy: Policy) -> Iterator[str]:
    if policy.k > 1:
        yield f"{policy.k}-anonymity: a class is alike in every column that no other model is of"
    yield from map(str, policy.models)


def confirm_syntactic(
    text: str, trusted: TrustedKeys, places: tuple[Trusted, ...], release: Path | None, form: Format
) -> None:
    """Check the statement of a release without (ε, δ); it never counts as a certificate."""
    from policy_engine.attest.syntactic import verify_syntactic
    from policy_engine.cli.proofs import checked_document, checked_lines

    found, is_whole = verify_syntactic(text, trusted, release), release is not None
    document = verified(found, checked_document(found, places), is_whole=is_whole)
    lines = verified_lines(found, checked_lines(found, places), is_whole=is_whole)
    emit(document, list(lines), form)
    raise typer.Exit(NothingChecked.exit_code)
