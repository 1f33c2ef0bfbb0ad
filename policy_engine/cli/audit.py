"""audit: attack a policy's mechanism on synthetic neighbours, or test the attacks themselves."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from policy_engine.audit.verdict import AuditVerdict, check_runs, error_of, runs_that_refute
from policy_engine.cli.output import conclude, number, shown
from policy_engine.cli.progress import progress
from policy_engine.cli.reading import decimal_of
from policy_engine.errors import UsageError
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.audit.controls import SelfTest
    from policy_engine.audit.policies import Audit


def audit(
    policy: Annotated[
        Path | None, Argument(help="A policy file. With --self-test, name none.", readable=False)
    ] = None,
    self_test: Annotated[
        bool, Option("--self-test", help="Audit fourteen broken mechanisms instead of a policy.")
    ] = False,
    runs: Annotated[
        int | None,
        Option(
            help="The number of runs on each table. Default: 600. With --self-test: as many as"
            " each mechanism needs."
        ),
    ] = None,
    seed: Annotated[
        int,
        Option(
            help="The seed of the invented tables. The samples and the noise do not depend "
            "on this seed."
        ),
    ] = 0,
    confidence: Annotated[
        str,
        Option(help="A correct mechanism passes the whole audit with at least this probability."),
    ] = "0.999999",
) -> None:
    """Attack the mechanism: run the certified SQL on tables that differ by one person, and compute
    a lower bound on ε.

    The command invents the tables from the source's schema and the policy. It reads no value of the
    source, and it charges and releases nothing. If a lower bound on ε is above the certified ε, the
    exit code is 1. An audit can show that a certificate is wrong, but never that it is right.

    Example: policy-engine audit policies/adult/policy.yaml
    """
    if self_test is (policy is not None):
        raise UsageError("name one policy to audit, or write --self-test")
    level = decimal_of("--confidence", confidence)
    # Numbers are refused before anything is loaded that they would be of.
    error_of(level, 1)
    if runs is not None:
        check_runs(runs)
    if policy is None:
        from policy_engine.audit import controls

        with progress("auditing fourteen broken mechanisms") as seen:
            tested = controls.self_test(runs=runs, confidence=level, tick=seen.counted)
        conclude(SelfTestSaid.of(tested), _tested_lines(tested), 0 if tested.passed else 1)
        return
    from policy_engine.audit import policies
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.preview import about

    loaded = load_policy(policy)
    with progress(f"auditing {loaded.name}") as seen, about(policy):
        found = policies.audit(
            loaded,
            runs=policies.RUNS if runs is None else runs,
            seed=seed,
            confidence=level,
            tick=seen.counted,
        )
    conclude(AuditSaid.of(found), _lines(found), 1 if found.broken else 0)


@frozen(kw_only=True)
class VerdictSaid:
    """What runs on two tables prove of a claim."""

    epsilon: Decimal
    delta: Decimal
    runs: int
    epsilon_at_least: float | None
    direction: str
    event: str
    seen: int
    seen_on_neighbour: int
    judged_runs: int
    refuted: bool
    name: str | None = None
    what: str | None = None


def _verdict(found: AuditVerdict, name: str | None = None, what: str | None = None) -> VerdictSaid:
    return VerdictSaid(
        epsilon=found.claim.epsilon,
        delta=found.claim.delta,
        runs=found.runs,
        epsilon_at_least=number(found.epsilon, down=True),
        direction=found.direction,
        event=str(found.event),
        seen=found.one.seen,
        seen_on_neighbour=found.other.seen,
        judged_runs=found.one.runs,
        refuted=found.broken,
        name=name,
        what=what,
    )


@frozen
class AuditSaid:
    """An audit of a policy: its claim, what would have refuted it, and what each pair proves."""

    policy: str
    epsilon: Decimal
    delta: Decimal
    neighbours: str
    unit: str
    confidence: Decimal
    runs: int
    refuted_by: int | None
    refuted_by_of: int | None
    epsilon_at_least: float | None
    refuted: bool
    pairs: tuple[VerdictSaid, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, found: Audit) -> AuditSaid:
        """What is said of an audit."""
        return cls(
            policy=found.policy.name,
            epsilon=found.claim.epsilon,
            delta=found.claim.delta,
            neighbours=found.policy.guarantee.neighbours,
            unit=found.policy.source.key or "row",
            confidence=found.confidence,
            runs=found.runs,
            refuted_by=None if found.power is None else found.power.seen,
            refuted_by_of=None if found.power is None else found.power.runs,
            epsilon_at_least=number(found.epsilon, down=True),
            refuted=found.broken,
            pairs=tuple(_verdict(pair.verdict, pair.name, pair.what) for pair in found.found),
            skipped=found.skipped,
            notes=found.notes,
        )


def _lines(found: Audit) -> Iterator[str]:
    policy, claim = found.policy, found.claim
    unit = policy.source.key or "row"
    certified = f"ε = {shown(claim.epsilon)}, δ = {shown(claim.delta)}"
    flagged = f"a sound mechanism is flagged with probability at most {shown(1 - found.confidence)}"
    yield f"audit of {policy.name}"
    yield f"  certified    {certified} ({policy.guarantee.neighbours}, unit: {unit})"
    yield f"  runs         {found.runs} on each table; {flagged}"
    yield f"  power        {_power(found)}"
    yield ""
    yield f"  {'the two tables differ by':<26}{'of':<14}{'ε at least':>10}  {'at most':>8}"
    for pair in found.found:
        verdict = pair.verdict
        bounds = f"{_short(verdict.epsilon):>10}  {_short(verdict.claim.epsilon):>8}"
        yield f"  {pair.name:<26}{pair.what:<14}{bounds}  {_told(verdict)}".rstrip()
    yield from (f"  not tried    {text}" for text in found.skipped)
    yield from (f"  note         {text}" for text in found.notes)
    yield ""
    if not found.broken:
        yield "no attack refutes the certificate. That is no proof of it: the proof is the kernel's"
        return
    worst = max(found.found, key=lambda pair: pair.verdict.epsilon)
    yield (
        f"REFUTED: {worst.name}: at δ = {shown(claim.delta)} ε is at least"
        f" {_short(worst.verdict.epsilon)} for one {unit}, certified is {shown(claim.epsilon)}."
        " Do not release with this policy, and report this"
    )


def _power(found: Audit) -> str:
    """What this audit would have found for certain."""
    least = found.power
    if least is None:
        runs = runs_that_refute(found.claim, error_of(found.confidence, len(found.found)))
        remedy = f"take --runs {runs}" if runs else "audit the policy with a smaller ε"
        return f"none: with so few runs nothing refutes this claim; {remedy}"
    return (
        f"refuted by what is met in {least.seen} of {least.runs} judged runs on one table, and"
        " never on the other"
    )


def _told(found: AuditVerdict) -> str:
    """By which event the two tables were told apart, where they were."""
    seen = f"{found.one.seen} and {found.other.seen} of {found.one.runs} ({found.direction})"
    return f"{found.event}: {seen}" if found.epsilon else ""


def _short(epsilon: Decimal) -> str:
    return f"{epsilon:.3f}" if epsilon else "0"


@frozen
class ControlSaid:
    """A broken mechanism and its sound twin, and whether they were told apart."""

    name: str
    what: str
    pair: str
    passed: bool
    broken: VerdictSaid
    sound: VerdictSaid


@frozen
class SelfTestSaid:
    """Whether the audit itself finds what it must."""

    self_test: bool
    confidence: Decimal
    controls: tuple[ControlSaid, ...]

    @classmethod
    def of(cls, found: SelfTest) -> SelfTestSaid:
        """What is said of a self-test."""
        controls = (
            ControlSaid(
                each.control.name,
                each.control.what,
                each.control.pair,
                each.passed,
                _verdict(each.broken),
                _verdict(each.sound),
            )
            for each in found.tested
        )
        return cls(found.passed, found.confidence, tuple(controls))


def _tested_lines(found: SelfTest) -> Iterator[str]:
    yield (
        "'ε at least' is at the certified δ (unit: row); each has the runs that it takes to be"
        " flagged"
    )
    yield f"{'broken by':<22}{'claimed ε':>9}{'δ':>8}{'ε at least':>12}{'sound one':>11}"
    for each in found.tested:
        claim, control = each.broken.claim, each.control
        claimed = f"{shown(claim.epsilon):>9}{claim.delta:>8.3f}"
        bounds = f"{_short(each.broken.epsilon):>12}{_short(each.sound.epsilon):>11}"
        verdict = "flagged" if each.broken.broken else "MISSED"
        sound = ", and so is the SOUND one" * each.sound.broken
        yield f"{control.name:<22}{claimed}{bounds}  {verdict}{sound}"
        yield f"    {control.what}"
        yield f"    {control.pair}: {_told(each.broken) or 'not told apart'}"
    flagged = sum(each.broken.broken for each in found.tested)
    wrong = sum(each.sound.broken for each in found.tested)
    yield f"{flagged} of {len(found.tested)} broken mechanisms flagged, {wrong} sound ones flagged"
    if not found.passed:
        yield "the self-test failed: an audit of this installation shows nothing"
