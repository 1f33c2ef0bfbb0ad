"""release: publishing what a policy says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.failures import failure
from policy_engine.cli.output import (
    Format,
    FormatOption,
    confirm,
    emit,
    emit_error,
    emit_json,
    note,
    number,
    shown,
)
from policy_engine.cli.planning import about_rate, left, noise_words
from policy_engine.cli.progress import progress
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.release import Released


_EMPTY = (
    "{} shows nobody: no group {}. It is a release all the same, and it is"
    " paid for. 'policy-engine plan' says how large a group must be; make the recodes coarser"
)


def release(
    policies: Annotated[
        list[Path], typer.Argument(help="Policy files, released in this order.", readable=False)
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what stands there: free if it was paid for.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Draw anew, at a new price, what was released."),
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Release: certify, charge the account, draw the sample, publish with the certificate.

    The same policy on the same state of its source gives the same bytes again, and costs nothing.
    A changed policy or source is a new release, with a sample and a price of its own, and is said
    to be one before anything is charged.

    Of several policies all are certified, and their accounts asked, before the first one runs.
    If one fails nevertheless, those before it stand and are reported.

    Example: policy-engine release policies/adult/policy.yaml
    """
    from policy_engine.releasing.preview import make_ready

    done: list[dict[str, Any]] = []
    try:
        for policy in make_ready(policies, replace=replace, fresh=fresh):
            done.append(_release(policy, format, replace=replace, fresh=fresh))
    except BaseException as error:
        if not done:
            raise
        raise typer.Exit(_stopped(error, done, policies, format)) from None
    if format is Format.json:
        emit_json(done[0] if len(done) == 1 else {"releases": done})


def _release(policy: Policy, form: Format, *, replace: bool, fresh: bool) -> dict[str, Any]:
    from policy_engine.releasing.preview import about
    from policy_engine.releasing.release import release as run
    from policy_engine.releasing.validation import warnings_of

    for each in warnings_of(policy):
        note(f"warning: {each}")
    with progress(f"releasing {policy.name}") as seen, about(policy.file):
        found = run(policy, replace=replace, fresh=fresh, say=note, watch=seen.watching)
    if not found.groups:
        few = "is large enough" if policy.noise else f"has {found.k} people in the sample"
        note(f"warning: {_EMPTY.format(policy.name, few)}")
    for remark in found.remarks:
        note(f"warning: {policy.name}: {remark}")
    if policy.is_syntactic:
        from policy_engine.cli import syntactic

        if form is Format.text:
            confirm({}, list(syntactic.released_lines(policy, found)), form)
        return syntactic.released(policy, found)
    if form is Format.text:
        confirm({}, _text(policy, found), form)
    return _document(found)


def _stopped(
    error: BaseException, done: list[dict[str, Any]], policies: list[Path], form: Format
) -> int:
    """Tell what was released before ``error`` stopped the rest; the exit code."""
    failed = failure(error)
    left = [str(path) for path in policies[len(done) :]]
    emit_error(failed, as_json=False)
    document = {**failed.document, "releases": done, "not_released": left}
    lines = [f"released {len(done)} of {len(policies)}; not released: {', '.join(left)}"]
    emit(document, lines, form)
    return failed.exit_code


def _document(done: Released) -> dict[str, Any]:
    return {
        "release": done.release,
        "certificate": str(done.certificate),
        "epsilon": number(done.epsilon),
        "delta": number(done.delta),
        "k": done.k,
        "rate": number(done.rate),
        "groups": done.groups,
        "rows": done.rows,
        "people": done.people,
        "repeated": done.repeated,
        "remarks": list(done.remarks),
        "ledger": {
            "account": done.account,
            "entry": done.entry,
            "epsilon_left": number(done.epsilon_left, down=True),
            "delta_left": number(done.delta_left, down=True),
        },
    }


def _text(policy: Policy, done: Released) -> list[str]:
    from policy_engine.accounting.odds import odds_words

    assert done.epsilon is not None
    assert done.delta is not None
    odds = odds_words(done.epsilon, done.delta, policy.guarantee.neighbours)
    remains = "the account has no limit: it only adds up"
    if done.balance.unbounded:
        remains = "no (ε, δ) holds of the account, for releases without one are charged to it"
    if done.epsilon_left is not None and done.delta_left is not None:
        remains = f"left: {left(done.epsilon_left, done.delta_left)}"
    mechanism = noise_words(policy) or f"k = {done.k}, rate {shown(done.rate)}"
    paid = "; paid for before, nothing was charged" if done.repeated else ""
    return [
        f"released {policy.name}{paid}",
        f"  release      {done.release}  ({_size(policy, done)})",
        f"  certificate  {done.certificate}",
        f"  guarantee    ε = {shown(done.epsilon)}, δ = {shown(done.delta)}"
        f"  (unit: {policy.source.key or 'row'}; {mechanism})",
        *[f"               {text}" for text in (*about_rate(policy), odds)],
        f"  ledger       entry {done.entry} of account {done.account}; {remains}",
    ]


def _size(policy: Policy, done: Released) -> str:
    """Groups and people as text.

    Where a sample is drawn, the people are those of it that are shown, not those of the source.
    """
    from policy_engine.policy.noise import Chance

    groups = counted(done.groups, "group")
    if policy.noise is None:
        return f"{groups}, {done.people} people of the sample"
    if isinstance(policy.noise, Chance):
        return f"{groups}, some of them by chance alone"
    return f"{groups}, {done.people} people, counted with noise"
