"""plan and release: what a policy would publish, and publishing it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.failures import failure
from policy_engine.cli.output import (
    Format,
    FormatOption,
    brief,
    emit,
    emit_error,
    note,
    number,
    progress,
    shown,
)

if TYPE_CHECKING:
    from policy_engine.policy.resolve import Policy
    from policy_engine.release import Preview, Released


def plan(
    policy: Annotated[Path, typer.Argument(help="A policy file.", readable=False)],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """A dry run: the SQL, the certificate to be, its price and what remains. Writes nothing.

    Exits with 1 where the account cannot pay.

    Example: policy-engine plan policies/adult/policy.yaml
    """
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import preview
    from policy_engine.validation import about, check_guarantee

    loaded = load_policy(policy)
    check_guarantee(loaded)
    with about(policy):
        found = preview(loaded)
    if found.news:
        note(found.news)
    emit(_planned(loaded, found), _plan_text(loaded, found), format)
    if not found.affordable:
        raise typer.Exit(1)


def _planned(policy: Policy, found: Preview) -> dict[str, Any]:
    certificate, balance = found.certificate, found.balance
    document = {
        "policy": policy.name,
        "sql": certificate.sql,
        "k": certificate.k,
        "rate": number(certificate.rate),
        "epsilon": number(certificate.epsilon),
        "delta": number(certificate.delta),
        "neighbours": certificate.neighbours,
        "unit": certificate.shape.unit,
        "assumptions": list(certificate.assumptions),
        "release": policy.release.text,
        "ledger": {
            "account": found.account.name,
            "affordable": found.affordable,
            "paid_by_entry": found.repeats,
            "epsilon_left": number(balance.left_epsilon, down=True),
            "delta_left": number(balance.left_delta, down=True),
        },
    }
    return document if found.affordable else {**document, "refusal": found.refusal}


def _left(epsilon: Decimal, delta: Decimal) -> str:
    return f"ε {brief(epsilon, down=True)}, δ {brief(delta, down=True)}"


def _plan_text(policy: Policy, found: Preview) -> str:
    certificate, balance = found.certificate, found.balance
    left = "the account has no limit: it only adds up"
    if balance.left_epsilon is not None and balance.left_delta is not None:
        left = f"left now: {_left(balance.left_epsilon, balance.left_delta)}"
    lines = [
        certificate.sql,
        f"release    {policy.release.text} ({policy.release.form})",
        f"guarantee  ε = {shown(certificate.epsilon)}, δ = {shown(certificate.delta)}"
        f" ({certificate.neighbours}, unit: {certificate.shape.unit})",
        f"mechanism  rate {shown(certificate.rate)}, k = {certificate.k}",
        *[f"           {text}" for text in _about_rate(policy)],
        f"price      ε {shown(certificate.epsilon)}, δ {shown(certificate.delta)}"
        f" from account {found.account.name}; {left}",
        "assuming:",
        *[f"  - {text}" for text in certificate.assumptions],
    ]
    if found.repeats is not None:
        lines.append(f"entry {found.repeats} has paid for just this: it costs nothing again")
    elif not found.affordable:
        lines.append(found.refusal)
    return "\n".join(lines)


def _about_rate(policy: Policy) -> list[str]:
    """Why the certificate's rate is not the policy's, in at most one line."""
    grain, sampled_at = policy.method == "native", policy.source.sampled_at
    if not grain and sampled_at == 1:
        return []
    text = f"the policy's rate of {shown(policy.rate)}"
    if grain:
        text += ", and 2^-32 more, for the engine draws with 32 random bits"
    if sampled_at != 1:
        text += f", times {shown(sampled_at)}, at which the source was sampled"
    return [text]


def release(
    policies: Annotated[
        list[Path], typer.Argument(help="Policy files, released in this order.", readable=False)
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what stands there, at a new price.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Draw a new sample, at a new price, of what was released."),
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
    from policy_engine.validation import make_ready

    done: list[dict[str, Any]] = []
    try:
        for policy in make_ready(policies, replace=replace, fresh=fresh):
            done.append(_release(policy, format, replace=replace, fresh=fresh))
    except BaseException as error:
        if not done:
            raise
        raise typer.Exit(_stopped(error, done, policies, format)) from None
    if format is Format.json:
        emit(done[0] if len(done) == 1 else {"releases": done}, "", format)


def _release(policy: Policy, form: Format, *, replace: bool, fresh: bool) -> dict[str, Any]:
    from policy_engine.release import release as run
    from policy_engine.validation import about

    with progress(f"releasing {policy.name}") as watch, about(policy.file):
        found = run(policy, replace=replace, fresh=fresh, say=note, watch=watch)
    if not found.groups:
        note(f"{policy.name}: the release is empty: no group of the sample has {found.k} people")
    if form is Format.text:
        emit({}, _text(policy, found), form)
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
    emit(document, "\n".join(lines), form)
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
        "repeated": done.repeated,
        "ledger": {
            "account": done.account,
            "entry": done.entry,
            "epsilon_left": number(done.epsilon_left, down=True),
            "delta_left": number(done.delta_left, down=True),
        },
    }


def _text(policy: Policy, done: Released) -> str:
    left = "the account has no limit: it only adds up"
    if done.epsilon_left is not None and done.delta_left is not None:
        left = f"left: {_left(done.epsilon_left, done.delta_left)}"
    paid = "; paid for before, nothing was charged" if done.repeated else ""
    lines = [
        f"released {policy.name}{paid}",
        f"  release      {done.release}  ({done.groups} groups, {done.rows} rows)",
        f"  certificate  {done.certificate}",
        f"  guarantee    ε = {shown(done.epsilon)}, δ = {shown(done.delta)}"
        f"  (k = {done.k}, rate {shown(done.rate)})",
        *[f"               {text}" for text in _about_rate(policy)],
        f"  ledger       entry {done.entry} of account {done.account}; {left}",
    ]
    return "\n".join(lines)
