"""The self-test: an audit that flags each broken mechanism and passes the sound one beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from policy_engine.audit.bench import Runs, Tick, observe
from policy_engine.audit.controls import CONTROLS, Control
from policy_engine.audit.verdict import CONFIDENCE, Verdict, check_runs, error_of, judge

SOUND_RUNS = 100
"""Of a sound mechanism on each table: how rarely it is flagged hangs on no number of runs."""


@dataclass(frozen=True)
class Tested:
    """A control with the verdicts on its broken and on its sound mechanism."""

    control: Control
    broken: Verdict
    sound: Verdict

    @property
    def passed(self) -> bool:
        """Whether the audit told the two apart."""
        return self.broken.broken and not self.sound.broken


@dataclass(frozen=True)
class SelfTest:
    """What an audit says of all controls."""

    confidence: Decimal
    tested: tuple[Tested, ...]

    @property
    def passed(self) -> bool:
        """Whether every broken mechanism is flagged, and no sound one."""
        return all(each.passed for each in self.tested)


def self_test(
    *,
    runs: int | None = None,
    confidence: Decimal = CONFIDENCE,
    controls: Sequence[Control] = CONTROLS,
    tick: Tick = lambda done, total: None,
) -> SelfTest:
    """Audit every control, broken and sound, on its pair of tables.

    Guarantee: a sound mechanism is flagged with probability at most 1 − ``confidence``, all
    together. Without ``runs`` each broken one has as many as it takes to be missed once in 10⁶
    tests. Raises UsageError for too few runs or a confidence that is no probability.
    """
    if runs is not None:
        check_runs(runs)
    error = error_of(confidence, 2 * len(controls))
    wanted = {
        (control.name, is_sound, larger): Runs(
            partial(
                control.drawing,
                control.one if larger else control.other,
                control.sound if is_sound else control.broken,
            ),
            runs or (SOUND_RUNS if is_sound else control.runs),
        )
        for control in controls
        for is_sound in (False, True)
        for larger in (True, False)
    }
    seen = observe(wanted, tick)
    tested = []
    for control in controls:
        claim = control.claim()
        broken, sound = (
            judge(seen[control.name, way, True], seen[control.name, way, False], claim, error)
            for way in (False, True)
        )
        tested.append(Tested(control, broken, sound))
    return SelfTest(confidence, tuple(tested))
