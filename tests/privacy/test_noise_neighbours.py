"""Each law of noise on neighbouring tables through the real engine, 10,000 times and more.

Each group draws its noise by itself, so one release of 1,000 groups is 1,000 runs on a group: of n
people in all of one table, of n − 1 in all of the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
from noise_controls import NOISY, alike

from policy_engine.accounting.noise import IntegerTable
from policy_engine.accounting.noise_laws import gaussian, laplace, place
from policy_engine.audit.controls import Control, Procedure, Session
from policy_engine.audit.events import Features
from policy_engine.audit.verdict import CONFIDENCE, AuditVerdict, judge
from policy_engine.kernel.printing import printed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Arrow output")]
ERROR = 1 - CONFIDENCE
GROUPS = 1000


@dataclass(frozen=True)
class Tried:
    """A law at (ε, δ) on n people and n − 1, and its table made 0.7 times as wide."""

    epsilon: str
    delta: str
    n: int
    releases: int
    narrow: Callable[[IntegerTable], IntegerTable]


#: ε is the scale's inverse, 2/0.7; the deviation of the certified table is 0.752.
LAWS = {
    "truncated_laplace": Tried("2", "0.002", 10, 10, lambda table: laplace("2.857", table.largest)),
    "discrete_gaussian": Tried(
        "4", "0.02", 10, 100, lambda table: gaussian("0.526", table.largest)
    ),
    "public keys": Tried("2", "0.002", 1, 10, lambda table: laplace("2.857", table.largest)),
    "negative_binomial": Tried("0.5", "0.1", 8, 10, lambda table: place(2, "0.42")),
}


def runs(control: Control, procedure: Procedure, n: int, releases: int) -> list[Features]:
    """What became of each group of n people."""
    groups = [f"c{number}" for number in range(GROUPS)]
    people = tuple(person for group in groups for person in alike(n, group))
    with control.drawing(people, procedure) as draw:
        seen = [draw() for _ in range(releases)]
    return [{"n": each.get(f"count of {group}", 0)} for each in seen for group in groups]


def judged(law: str, procedure: Procedure) -> AuditVerdict:
    of = LAWS[law]
    mechanism = f"{NOISY}\nnoise: {{distribution: {law}}}"
    if law == "public keys":
        groups = ", ".join(f"c{number}" for number in range(GROUPS))
        mechanism = f"{NOISY}\npublic_groups: {{cell: [{groups}]}}"
    control = Control(
        law, "", "", alike(1), procedure, mechanism, 0, epsilon=of.epsilon, delta=of.delta
    )
    one, other = (runs(control, procedure, n, of.releases) for n in (of.n, of.n - 1))
    return judge(one, other, control.claim(), ERROR)


@pytest.mark.parametrize("law", LAWS)
def test_a_sound_table_is_not_flagged(law):
    assert not judged(law, lambda session: session.release(session.texts[0])).broken


@pytest.mark.parametrize("law", LAWS)
def test_a_table_30_percent_too_narrow_is_flagged(law):
    def narrow(session: Session) -> list[pa.Table]:
        claim = session.certificates[0].claim
        table = replace(claim.law.table, entries=LAWS[law].narrow(claim.law.table).entries)
        other = replace(claim, law=replace(claim.law, table=table))
        return session.release(printed(other, "duckdb"))

    assert judged(law, narrow).broken
