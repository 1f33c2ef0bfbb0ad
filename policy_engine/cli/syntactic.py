"""What is said of releases without (ε, δ): first that there is none, and which attacks are open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policy_engine.cli.output import members
from policy_engine.policy.scalars import counted
from policy_engine.policy.syntactic import NO_GUARANTEE, still_works

if TYPE_CHECKING:
    from policy_engine.attest.predicates import Uncertified
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.preview import Preview
    from policy_engine.releasing.release import Released

_UNLIMITED = "no account limits it: with this charge no (ε, δ) holds of what is released from it"


def planned(policy: Policy, found: Preview, statement: Uncertified) -> dict[str, Any]:
    """The plan of such a release in JSON."""
    ledger = {"account": found.account.name, "affordable": found.affordable,
              "paid_by_entry": found.repeats}  # fmt: skip
    document = {
        **_first(policy),
        "policy": policy.name,
        "sql": statement.query,
        "k": statement.k,
        "models": [model.to_json() for model in policy.models],
        **members(statement, "unit assumptions"),
        "release": str(policy.release_path),
        "ledger": ledger,
    }
    return document if found.affordable else {**document, "refusal": found.refusal}


def plan_lines(policy: Policy, found: Preview) -> Iterator[str]:
    """The plan of such a release as text."""
    yield from first_lines(still_works(policy.k, policy.models))
    yield f"release    {policy.release_path} ({policy.release.form})"
    yield from (f"model      {each}" for each in _models(policy))
    yield f"account    {found.account.name}: {_UNLIMITED}"
    yield "assuming:"
    yield from (f"  - {text}" for text in found.certificate.assumptions)
    if found.repeats is not None:
        yield f"entry {found.repeats} was charged for just this"
    elif not found.affordable:
        yield found.refusal


def released(policy: Policy, done: Released) -> dict[str, Any]:
    """Such a release in JSON."""
    return {
        **_first(policy),
        **members(done, "release certificate k", certificate="statement"),
        "models": [model.to_json() for model in policy.models],
        **members(done, "groups rows people repeated remarks"),
        "ledger": members(done, "account entry"),
    }


def released_lines(policy: Policy, done: Released) -> Iterator[str]:
    """Such a release as text."""
    again = "; charged for before" if done.repeated else ""
    yield from first_lines(still_works(policy.k, policy.models))
    yield f"released {policy.name}{again}"
    yield f"  release    {done.release}  ({counted(done.groups, 'group')}, {done.people} people)"
    yield f"  statement  {done.certificate}"
    yield from (f"  model      {each}" for each in _models(policy))
    yield f"  ledger     entry {done.entry} of account {done.account}; {_UNLIMITED}"


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
