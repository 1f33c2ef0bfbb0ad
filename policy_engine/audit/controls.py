"""The self-test: mechanisms, each broken in one way, that an audit must flag, beside sound ones.

Each starts from a policy that the kernel certifies; its claim is that certificate's, its text
that certificate's text with one thing changed, or that text run in a way that breaks it. The pair
of tables and the numbers are chosen so that some thousand runs tell. On the same pair, under the
same claim, the sound mechanism must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

import pyarrow as pa

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.composition import Accountant
from policy_engine.attest.enforcing import filtered
from policy_engine.audit.bench import BenchPlace, BenchWarehouse, Draw, Tick, observe
from policy_engine.audit.choices import CHOICES, ChoiceControl
from policy_engine.audit.events import Features, features
from policy_engine.audit.people import People, Person
from policy_engine.audit.verdict import (
    CONFIDENCE,
    AuditVerdict,
    check_runs,
    error_of,
    judge,
)
from policy_engine.compile.catalog import Field, Table
from policy_engine.errors import InternalError
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.events import charged
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.planning import prepare
from policy_engine.values import frozen
from policy_engine.warehouse.drawing import new_secret, sample_relation

_POLICY = """\
version: 1
name: control
source: {{table: people}}
privacy_unit: {unit}
recode: {recode}
{mechanism}
guarantee: {{epsilon: {epsilon}, delta: {delta}}}
release: {{file: out.parquet}}
grouping: recoded
"""
_TYPES = {"cell": "VARCHAR", "name": "VARCHAR", "age": "INTEGER", "id": "BIGINT"}
_WAREHOUSE = "audit"


@frozen
class Session:
    """Certified policies over one table, and a connection to run their texts on."""

    policies: tuple[Policy, ...]
    certificates: tuple[Certificate, ...]
    warehouse: BenchWarehouse
    table: Table

    @property
    def texts(self) -> tuple[str, ...]:
        """The certified texts."""
        return tuple(each.query for each in self.certificates)

    def release(self, *texts: str, policy: Policy | None = None) -> list[pa.Table]:
        """Draw one fresh sample, and run the texts on it."""
        wanted = policy or self.policies[0]
        with self.warehouse.sampled(wanted, self.table, new_secret()):
            return [self.warehouse.rows(text) for text in texts]

    def but(self, *changes: tuple[str, str]) -> str:
        """The first text, with each change made in it."""
        text = self.texts[0]
        for old, new in changes:
            if old not in text:
                raise InternalError(f"a control changes {old!r}, which is not in the text")
            text = text.replace(old, new)
        return text


Procedure = Callable[[Session], list[pa.Table]]
"""One run: the tables that it releases."""


@frozen
class Control:
    """A broken mechanism: what is wrong, over which neighbours it shows, and the sound one.

    ``one`` is the larger table; its neighbour has not its first person. ``runs`` on each table are
    a tenth more than it takes for missing it once in 10⁶ tests. ``releases_all``: a run
    releases every text, so the claim is that of their composition. ``mechanism`` is written as a
    policy has it.
    """

    name: str
    what: str
    pair: str
    one: People
    broken: Procedure
    mechanism: str = "sample: {rate: 0.8}\nk: 15"
    runs: int = 250
    recodes: tuple[str, ...] = ("{cell: keep}",)
    unit: str = "row"
    epsilon: str = "0.1"
    delta: str = "0.999"
    releases_all: bool = False
    sound: Procedure = lambda session: session.release(session.texts[0])

    @property
    def other(self) -> People:
        """The neighbour of ``one``."""
        return self.one[1:]

    def claim(self) -> EpsilonDelta:
        """What the kernel certifies of the sound mechanism; composed where it releases twice."""
        with self._place.build(self.one) as (_, warehouse):
            certificates = self._certified(warehouse)
        first = certificates[0]
        if not self.releases_all:
            return EpsilonDelta(first.promise.epsilon, first.promise.delta)
        total = sum((each.promise.epsilon for each in certificates), Decimal(0))
        fresh = [charged(each.claim, each.promise)[0] for each in certificates]
        return EpsilonDelta(total, Accountant.of(fresh).delta(total))

    @contextmanager
    def drawing(self, people: People, procedure: Procedure) -> Iterator[Draw]:
        """The procedure over a table of ``people``, ready to be run again and again."""
        with self._place.build(people) as (_, warehouse):
            policies = self._policies
            table = warehouse.table(policies[0].source, Path())
            session = Session(policies, self._certified(warehouse), warehouse, table)
            columns = {name for policy in policies for name in policy.columns}

            def draw() -> Features:
                return features(procedure(session), columns, "n", file=False)

            yield draw

    def tried(self, *, is_sound: bool, is_one: bool) -> AbstractContextManager[Draw]:
        """The sound way or the broken one, over one of the two tables."""
        procedure = self.sound if is_sound else self.broken
        return self.drawing(self.one if is_one else self.other, procedure)

    @property
    def _policies(self) -> tuple[Policy, ...]:
        texts = (_POLICY.format(recode=recode, **vars(self)) for recode in self.recodes)
        return tuple(load_policy_text(text, "control.yaml", ".") for text in texts)

    @property
    def _place(self) -> BenchPlace:
        columns = tuple(Field(*each) for each in _TYPES.items())
        return BenchPlace(self._policies[0], Table(columns), _WAREHOUSE)

    def _certified(self, warehouse: BenchWarehouse) -> tuple[Certificate, ...]:
        project = default_project(Path())
        return tuple(prepare(policy, project, warehouse)[0] for policy in self._policies)


def _people(*groups: tuple[int, dict[str, str]]) -> People:
    """So many people of each kind, in this order."""
    rows = [tuple(values.items()) for times, values in groups for _ in range(times)]
    return tuple(Person(len(rows) - 1 - i, (row,)) for i, row in enumerate(rows))


def _higher_rate(session: Session) -> list[pa.Table]:
    policy = session.policies[0]
    higher = replace(policy, rate=policy.rate * Decimal("1.3"))
    text = session.but((sample_relation(policy.rate), sample_relation(higher.rate)))
    return session.release(text, policy=higher)


_SAMPLED, _RECODED = f'"cell"\n  FROM "{_WAREHOUSE}"', '"cell" AS "cell"'
_COUNT = 'COUNT(*) AS "n"'
_SOURCE = f'"{_WAREHOUSE}"."main"."people"'
_MEDIAN = f'"age" < (SELECT QUANTILE_DISC("age", 0.5) FROM {_SOURCE})'
_LEFT = '(SELECT COUNT(*) FROM recoded) - SUM(COUNT(*)) OVER () AS "suppressed"'


def _with(*changes: tuple[str, str]) -> Procedure:
    return lambda session: session.release(session.but(*changes))


def _argmax(session: Session) -> list[pa.Table]:
    """Both recodings on the one sample; the one that keeps more people, at a tie the finer."""
    coarse, fine = session.release(*session.texts)
    kept = [sum(table.column("n").to_pylist()) for table in (coarse, fine)]
    return [coarse if kept[0] > kept[1] else fine]


def _kept(session: Session, table: pa.Table, decided_by: pa.Table) -> list[pa.Table]:
    """The rows of a release in whose classes the policy's models hold, by the cells of a table."""
    import pyarrow.compute as pc

    stay = filtered(decided_by, 2, "n", session.policies[0].models)
    return [table.filter(pc.is_in(table.column("cell"), value_set=stay.column("cell")))]


def _raw_models(session: Session) -> list[pa.Table]:
    raw = f'SELECT "cell", "name", COUNT(*) AS "n" FROM {_SOURCE} GROUP BY ALL'
    released, cells = session.release(session.texts[0], raw)
    return _kept(session, released, cells)


def _released_models(session: Session) -> list[pa.Table]:
    [released] = session.release(session.texts[0])
    return _kept(session, released, released)


CONTROLS = (
    Control(
        "system",
        "TABLESAMPLE SYSTEM: whole blocks of rows are in or out together",
        "15 people alike, or 14",
        _people((15, {"cell": "x"})),
        _with(("BERNOULLI", "SYSTEM")),
        mechanism="sample: {rate: 0.7, method: native}\nk: 15",
        runs=290,
    ),
    Control(
        "rate",
        "the sample is drawn at a rate 30 % above the certified one",
        "2 people alike, or 1",
        _people((2, {"cell": "x"})),
        _higher_rate,
        mechanism="sample: {rate: 0.7}\nk: 2",
        runs=660,
    ),
    Control(
        "k - 1",
        "groups of k − 1 are released too",
        "a unique person, or nobody",
        _people((1, {"cell": "x"})),
        _with((">= 2", ">= 1")),
        mechanism="sample: {rate: 0.5, method: native}\nk: 2",
        runs=1300,
    ),
    Control(
        "no sampling",
        "everybody is in the sample",
        "5 people alike, or 4",
        _people((5, {"cell": "x"})),
        _with(("WHERE ", "WHERE true OR ")),
        mechanism="sample: {rate: 0.4}\nk: 5",
        runs=120,
        epsilon="0.5",
    ),
    Control(
        "outside the grouping",
        "a column that is not grouped by shows its greatest value",
        "the one person with the greatest value, or not",
        _people((1, {"cell": "x", "name": "rare"}), (40, {"cell": "x", "name": "common"})),
        _with(
            (_SAMPLED, f'"name", {_SAMPLED}'),
            (_RECODED, f'{_RECODED}, "name"'),
            (_COUNT, f'{_COUNT}, MAX("name") AS "name"'),
        ),
        mechanism="sample: {rate: 0.8, method: native}\nk: 15",
    ),
    Control(
        "quantile",
        "the cut between two groups is the median of the source",
        "11 above the median of 21, or 10 of 20",
        _people((11, {"age": "3"}), (10, {"age": "1"})),
        _with(('"age" < 3', _MEDIAN)),
        mechanism="sample: {rate: 0.6, method: native}\nk: 4",
        runs=200,
        epsilon="0.5",
        recodes=("{age: {bins: [3]}}",),
    ),
    Control(
        "suppressed count",
        "the number of suppressed people is shown",
        "a unique person beside a crowd, or only the crowd",
        _people((1, {"cell": "y"}), (40, {"cell": "x"})),
        _with((_COUNT, f"{_COUNT}, {_LEFT}")),
    ),
    Control(
        "source order",
        "groups stand in the order in which they are first met in the source",
        "the first row of the source, or not",
        _people((1, {"cell": "z"}), (30, {"cell": "a"}), (30, {"cell": "z"})),
        _with(
            (_SAMPLED, f'"rowid" AS "place", {_SAMPLED}'),
            (_RECODED, f'{_RECODED}, "place"'),
            ('ORDER BY "cell" NULLS LAST', 'ORDER BY MIN("place")'),
        ),
        mechanism="sample: {rate: 0.8, method: native}\nk: 15",
    ),
    Control(
        "reuse",
        "two releases, each certified, are made from one sample",
        "one person who stands out in one of the two, or not",
        _people((1, {"cell": "x", "name": "rare"}), (40, {"cell": "x", "name": "common"})),
        lambda session: session.release(*session.texts),
        runs=310,
        recodes=("{cell: keep}", "{name: keep}"),
        releases_all=True,
        sound=lambda session: [session.release(text)[0] for text in session.texts],
    ),
    Control(
        "argmax",
        "the recoding is the one that keeps most people of the released sample",
        "one person whom only the coarser recoding keeps, or not",
        _people((1, {"cell": "ab"}), (40, {"cell": "aa"})),
        _argmax,
        runs=300,
        recodes=("{cell: {prefix: 1}}", "{cell: {prefix: 2}}"),
        sound=lambda session: session.release(session.texts[1]),
    ),
    Control(
        "raw models",
        "a model of the policy is decided by the cells of the source, and not by those released",
        "the one person who makes a class diverse, or not",
        _people((1, {"cell": "x", "name": "rare"}), (40, {"cell": "x", "name": "common"})),
        _raw_models,
        mechanism="sample: {rate: 0.8, method: native}\nk: 15\n"
        "models: {l_diversity: {of: name, l: 2}}",
        recodes=("{cell: keep, name: keep}",),
        sound=_released_models,
    ),
)

AnyControl = Control | ChoiceControl
ALL: tuple[AnyControl, ...] = (*CONTROLS, *CHOICES)
"""Broken releases, and broken private searches."""
SOUND_RUNS = 100
"""Of a sound mechanism on each table: how rarely it is flagged hangs on no number of runs."""


@frozen
class Tested:
    """A control with the verdicts on its broken and on its sound mechanism."""

    control: AnyControl
    broken: AuditVerdict
    sound: AuditVerdict

    @property
    def passed(self) -> bool:
        """Whether the audit told the two apart."""
        return self.broken.broken and not self.sound.broken


@frozen
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
    controls: Sequence[AnyControl] = ALL,
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
        (control.name, is_sound, is_one): (
            partial(control.tried, is_sound=is_sound, is_one=is_one),
            runs or (SOUND_RUNS if is_sound else control.runs),
        )
        for control in controls
        for is_sound in (False, True)
        for is_one in (True, False)
    }
    seen = observe(wanted, tick)

    def verdict(control: AnyControl, claim: EpsilonDelta, *, is_sound: bool) -> AuditVerdict:
        one, other = (seen[control.name, is_sound, is_one] for is_one in (True, False))
        return judge(one, other, claim, error)

    tested = []
    for control in controls:
        claim = control.claim()
        broken, sound = (verdict(control, claim, is_sound=way) for way in (False, True))
        tested.append(Tested(control, broken, sound))
    return SelfTest(confidence, tuple(tested))
