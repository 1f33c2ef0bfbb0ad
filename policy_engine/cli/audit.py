"""audit: attack a policy's mechanism on synthetic neighbours, or test the attacks themselves."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, confirm, emit, number, shown
from policy_engine.cli.progress import Progress, progress
from policy_engine.errors import UsageError

if TYPE_CHECKING:
    from policy_engine.audit.policies import Audit
    from policy_engine.audit.selftest import SelfTest, Tested
    from policy_engine.audit.verdict import Verdict
    from policy_engine.policy.resolve import Policy


def audit(
    policy: Annotated[
        Path | None, typer.Argument(help="A policy file; none for --self-test.", readable=False)
    ] = None,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Audit eleven broken mechanisms instead.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(help="Runs on each table. Default: 600; a self-test: what each takes."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the synthetic tables, never of a sample.")] = 0,
    confidence: Annotated[
        str, typer.Option(help="With it a sound mechanism passes the whole audit.")
    ] = "0.999999",
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Attack the mechanism: run the certified SQL on neighbouring tables, bound ε from below.

    The tables are made from the source's schema and the policy; no value of the source is read,
    nothing is charged and nothing is released. Exits with 1 where a lower bound on ε exceeds the
    certified ε. An audit can refute a certificate; it never proves one.

    Example: policy-engine audit policies/adult/policy.yaml
    """
    if self_test is (policy is not None):
        raise UsageError("name one policy to audit, or write --self-test")
    level = _confidence(confidence)
    _check(runs, level)
    if policy is None:
        _self_test(runs, level, format)
    else:
        _audit(policy, runs, seed, level, format)


def _confidence(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise UsageError(f"--confidence must be a number, found {text!r}") from None


def _check(runs: int | None, level: Decimal) -> None:
    """Refuse numbers before anything is loaded that they would be of."""
    from policy_engine.audit.verdict import check_runs, error_of

    error_of(level, 1)
    if runs is not None:
        check_runs(runs)


def _audit(path: Path, runs: int | None, seed: int, level: Decimal, form: Format) -> None:
    from policy_engine.audit.policies import RUNS
    from policy_engine.audit.policies import audit as run
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.preview import about

    policy = load_policy(path)
    with progress(f"auditing {policy.name}") as seen, about(path):
        found = run(
            policy,
            runs=RUNS if runs is None else runs,
            seed=seed,
            confidence=level,
            tick=_counting(seen),
        )
    (emit if found.broken else confirm)(_document(found), _text(found), form)
    if found.broken:
        raise typer.Exit(1)


def _self_test(runs: int | None, level: Decimal, form: Format) -> None:
    from policy_engine.audit.selftest import self_test

    with progress("auditing eleven broken mechanisms") as seen:
        found = self_test(runs=runs, confidence=level, tick=_counting(seen))
    (confirm if found.passed else emit)(_tested_document(found), _tested_text(found), form)
    if not found.passed:
        raise typer.Exit(1)


def _counting(seen: Progress) -> Callable[[int, int], None]:
    return lambda done, total: seen.reached(done / total, f"{done:,} of {total:,} runs")


def _verdict(found: Verdict) -> dict[str, Any]:
    attack = found.attack
    return {
        "epsilon": number(found.claim.epsilon),
        "delta": number(found.claim.delta),
        "runs": found.runs,
        "epsilon_at_least": number(found.epsilon, down=True),
        "direction": attack.direction,
        "event": str(attack.event),
        "seen": attack.one.seen,
        "seen_on_neighbour": attack.other.seen,
        "judged_runs": attack.one.runs,
        "refuted": found.broken,
    }


def _document(found: Audit) -> dict[str, Any]:
    return {
        "policy": found.policy.name,
        "epsilon": number(found.claim.epsilon),
        "delta": number(found.claim.delta),
        "neighbours": found.policy.guarantee.neighbours,
        "unit": _unit(found.policy),
        "confidence": number(found.confidence),
        "runs": found.runs,
        "refuted_by": None if found.power is None else found.power.seen,
        "refuted_by_of": None if found.power is None else found.power.runs,
        "epsilon_at_least": number(found.epsilon, down=True),
        "refuted": found.broken,
        "pairs": [
            {"name": pair.name, "what": pair.what, **_verdict(pair.verdict)} for pair in found.found
        ],
        "skipped": list(found.skipped),
        "notes": list(found.notes),
    }


def _unit(policy: Policy) -> str:
    return policy.source.key or "row"


def _text(found: Audit) -> list[str]:
    policy = found.policy
    lines = [
        f"audit of {policy.name}",
        f"  certified    ε = {shown(found.claim.epsilon)}, δ = {shown(found.claim.delta)}"
        f" ({policy.guarantee.neighbours}, unit: {_unit(policy)})",
        f"  runs         {found.runs} on each table; a sound mechanism is flagged with probability"
        f" at most {shown(1 - found.confidence)}",
        f"  power        {_power(found)}",
        "",
        f"  {'the two tables differ by':<26}{'of':<14}{'ε at least':>10}  {'at most':>8}",
    ]
    for pair in found.found:
        verdict = pair.verdict
        lines.append(
            f"  {pair.name:<26}{pair.what:<14}{_short(verdict.epsilon):>10}"
            f"  {_short(verdict.claim.epsilon):>8}  {_told(verdict)}".rstrip()
        )
    lines += [f"  not tried    {text}" for text in found.skipped]
    lines += [f"  note         {text}" for text in found.notes]
    return [*lines, "", _conclusion(found)]


def _power(found: Audit) -> str:
    """What this audit would have found for certain."""
    least = found.power
    if least is None:
        from policy_engine.audit.verdict import error_of, runs_that_refute

        runs = runs_that_refute(found.claim, error_of(found.confidence, len(found.found)))
        remedy = f"take --runs {runs}" if runs else "audit the policy with a smaller ε"
        return f"none: with so few runs nothing refutes this claim; {remedy}"
    return (
        f"refuted by what is met in {least.seen} of {least.runs} judged runs on one table, and"
        " never on the other"
    )


def _conclusion(found: Audit) -> str:
    if not found.broken:
        return (
            "no attack refutes the certificate. That is no proof of it: the proof is the kernel's"
        )
    worst = max(found.found, key=lambda pair: pair.verdict.epsilon)
    return (
        f"REFUTED: {worst.name}: at δ = {shown(found.claim.delta)} ε is at least"
        f" {_short(worst.verdict.epsilon)} for one {_unit(found.policy)}, certified is"
        f" {shown(found.claim.epsilon)}. Do not release with this policy, and report this"
    )


def _told(found: Verdict) -> str:
    """By which event the two tables were told apart, where they were."""
    if not found.epsilon:
        return ""
    attack = found.attack
    return (
        f"{attack.event}: {attack.one.seen} and {attack.other.seen} of {attack.one.runs}"
        f" ({attack.direction})"
    )


def _short(epsilon: Decimal) -> str:
    return f"{epsilon:.3f}" if epsilon else "0"


def _tested_document(found: SelfTest) -> dict[str, Any]:
    return {
        "self_test": found.passed,
        "confidence": number(found.confidence),
        "controls": [
            {
                "name": each.control.name,
                "what": each.control.what,
                "pair": each.control.pair,
                "passed": each.passed,
                "broken": _verdict(each.broken),
                "sound": _verdict(each.sound),
            }
            for each in found.tested
        ],
    }


def _tested_text(found: SelfTest) -> list[str]:
    lines = [
        "'ε at least' is at the certified δ (unit: row); each has the runs that it takes to be"
        " flagged",
        f"{'broken by':<22}{'claimed ε':>9}{'δ':>8}{'ε at least':>12}{'sound one':>11}",
    ]
    lines += [line for each in found.tested for line in _tested_lines(each)]
    flagged = sum(each.broken.broken for each in found.tested)
    wrong = sum(each.sound.broken for each in found.tested)
    lines.append(
        f"{flagged} of {len(found.tested)} broken mechanisms flagged, {wrong} sound ones flagged"
    )
    if not found.passed:
        lines.append("the self-test failed: an audit of this installation shows nothing")
    return lines


def _tested_lines(each: Tested) -> list[str]:
    claim = each.broken.claim
    row = (
        f"{each.control.name:<22}{shown(claim.epsilon):>9}{claim.delta:>8.3f}"
        f"{_short(each.broken.epsilon):>12}{_short(each.sound.epsilon):>11}"
        f"  {'flagged' if each.broken.broken else 'MISSED'}"
    )
    if each.sound.broken:
        row += ", and so is the SOUND one"
    return [
        row,
        f"    {each.control.what}",
        f"    {each.control.pair}: {_told(each.broken) or 'not told apart'}",
    ]
