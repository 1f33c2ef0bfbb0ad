"""The audit of a policy: its certified text on neighbouring tables made from its schema."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.domain import claimed
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.one import certified_rate
from policy_engine.audit.bench import BenchPlace, Tick, drawing, observe
from policy_engine.audit.events import Features, Hits
from policy_engine.audit.people import NeighbourPair, People, pairs_for
from policy_engine.audit.verdict import (
    CONFIDENCE,
    AuditVerdict,
    check_runs,
    error_of,
    judge,
    power,
)
from policy_engine.compile.catalog import Field, Table
from policy_engine.errors import InternalError, UsageError
from policy_engine.kernel.certificate import Certificate
from policy_engine.policy.csv_models import CsvSpec, is_csv
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing.planning import open_warehouse, prepare, project_of
from policy_engine.values import frozen
from policy_engine.warehouse.csv_files import names_in

RUNS = 600
"""On each table, of which an audit has about twelve. What that finds: ``power``."""


@frozen
class Found:
    """A pair of neighbouring tables and the verdict on it."""

    name: str
    what: str
    verdict: AuditVerdict


@frozen
class Audit:
    """The audit of a policy. ``skipped`` says what was not tried, ``notes`` what it rests on.

    ``power`` is what would have refuted it: so many hits on one table, and none on the other.
    """

    policy: Policy
    claim: EpsilonDelta
    confidence: Decimal
    runs: int
    power: Hits | None
    found: tuple[Found, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def epsilon(self) -> Decimal:
        """The largest of the lower bounds."""
        return max(found.verdict.epsilon for found in self.found)

    @property
    def broken(self) -> bool:
        """Whether one of the pairs refutes the certificate."""
        return any(found.verdict.broken for found in self.found)


@frozen
class Prepared:
    """What an audit runs: where, the certified text, the pairs of tables, and the claim."""

    place: BenchPlace
    certificate: Certificate
    pairs: tuple[NeighbourPair, ...]
    skipped: tuple[str, ...]
    claim: EpsilonDelta
    notes: tuple[str, ...]


def audit(
    policy: Policy,
    project: Project | None = None,
    *,
    runs: int = RUNS,
    seed: int = 0,
    confidence: Decimal = CONFIDENCE,
    tick: Tick = lambda done, total: None,
) -> Audit:
    """Attack the mechanism of ``policy`` on synthetic neighbouring tables.

    Guarantee: a sound mechanism is called broken with probability at most 1 − ``confidence``. Of
    the source only the schema is read; nothing is charged, and nothing is written outside
    temporary folders. Assumption: while it runs, the process has another working directory.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit, or cannot be certified.
        UsageError: too few runs, or a confidence that is no probability.
    """
    policy = loaded(policy)
    check_runs(runs)
    error_of(confidence, 1)
    made = prepared(policy, project or project_of(policy), seed)
    return run(policy, made, runs, confidence, tick)


def run(
    policy: Policy,
    made: Prepared,
    runs: int,
    confidence: Decimal,
    tick: Tick = lambda done, total: None,
) -> Audit:
    """Run what was prepared, and judge it."""
    error = error_of(confidence, len(made.pairs))
    seen = observed(made, runs, tick)
    found = tuple(
        Found(pair.name, pair.what, judge(seen[pair.one], seen[pair.other], made.claim, error))
        for pair in made.pairs
    )
    least = power(runs, made.claim, error)
    return Audit(policy, made.claim, confidence, runs, least, found, made.skipped, made.notes)


def observed(
    made: Prepared, runs: int, tick: Tick = lambda done, total: None
) -> dict[People, list[Features]]:
    """What so many runs on each table let out."""
    wanted = {  # each table once: some serve two pairs
        table: (partial(drawing, made.place, table, made.certificate), runs)
        for pair in made.pairs
        for table in (pair.one, pair.other)
    }
    with _elsewhere(made.place):
        return observe(wanted, tick)


def prepared(policy: Policy, project: Project, seed: int) -> Prepared:
    """Read the schema, make the people, and certify the text over a table of them."""
    named = project.warehouse
    if policy.source.relation is not None and named.type != "duckdb":
        raise UsageError(
            f"audit makes its tables in DuckDB, and the source of {policy.name} is in the warehouse"
            f" {named.name} of type {named.type}; audit the policy over a DuckDB table with the"
            " same columns: one secret releases the same rows on both"
        )
    if policy.source.computed:
        raise UsageError(
            f"audit makes a table of people, and {policy.name} computes columns of it: audit a copy"
            " of the policy without source.compute, over a table that has those columns"
        )
    if policy.source.joins:
        raise UsageError(
            f"audit makes one table of people, and {policy.name} joins others to it: audit a copy"
            " of the policy without source.join and the columns that it looks up"
        )
    table, text = _schema(policy, project)
    place = BenchPlace(_relative(policy), table, project.warehouse.name)
    made, left_out = pairs_for(policy, table, seed)
    pairs = tuple(pair for pair in made if place.fits(pair.one))
    small = [pair.name for pair in made if pair not in pairs]
    skipped = (*left_out, *(f"{name}: the key's type has too few values" for name in small))
    with _elsewhere(place), place.build(pairs[0].one) as (synthetic, warehouse):
        certificate, _ = prepare(synthetic, project, warehouse)
    notes = []
    if place.policy.source.path != policy.source.path:
        notes.append(f"the source was read as {place.policy.source.path}, in a temporary folder")
    elif text is not None and text != certificate.query:
        raise InternalError("the synthetic source gives another text than the policy's own")
    claim, about = _claim(policy, certificate)
    return Prepared(place, certificate, pairs, skipped, claim, (*notes, *about))


def _claim(policy: Policy, certificate: Certificate) -> tuple[EpsilonDelta, list[str]]:
    """The claim about the step that can be run: from the source on."""
    sampled_at = policy.source.sampled_at
    if sampled_at == 1:
        return EpsilonDelta(certificate.promise.epsilon, certificate.promise.delta), []
    rate = certified_rate(policy.rate, policy.method)
    guarantee = policy.guarantee
    bound = delta_exact(policy.k, rate, guarantee.epsilon, guarantee.neighbours)
    note = (
        f"that the source was itself sampled at {sampled_at} is assumed, not run: what is audited"
        f" is the release from the source on, whose δ at this ε is {in_text(bound.delta)}, where"
        f" the certificate says {in_text(certificate.promise.delta)}"
    )
    return EpsilonDelta(guarantee.epsilon, claimed(bound.delta)), [note]


def _schema(policy: Policy, project: Project) -> tuple[Table, str | None]:
    """The source's columns, and the text that a release would run; of a CSV no text.

    The rows of a CSV file would be read with its columns, so only its first line is.
    """
    path = policy.source_path
    if path is not None and is_csv(path.name):
        names = names_in(path, str(policy.source.path), policy.source.csv or CsvSpec())
        header = Table(tuple(Field(name, "VARCHAR") for name in names if name is not None))
        with BenchPlace(_relative(policy), header, "").build(()) as (synthetic, empty):
            return empty.table(synthetic.source, synthetic.directory), None
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        certificate, table = prepare(policy, project, warehouse)
    return table, certificate.query


def _relative(policy: Policy) -> Policy:
    """The policy with a source that can be put into a temporary folder, plainly written."""
    path = policy.source.path
    if path is None:
        return policy
    placed = Path(path).name if Path(path).is_absolute() else path
    plain = CsvSpec(header=True) if is_csv(path) else None
    return replace(policy, source=replace(policy.source, path=placed, csv=plain))


@contextmanager
def _elsewhere(place: BenchPlace) -> Iterator[None]:
    """Work in an empty folder: the engine looks for a file there before it looks elsewhere."""
    if place.policy.source.path is None:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="audit-of-policy-") as folder:
        inside = Path(folder).joinpath(*place.depth)
        inside.mkdir(parents=True, exist_ok=True)
        with chdir(inside):
            yield
