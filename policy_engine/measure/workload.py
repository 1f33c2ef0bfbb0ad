"""What a release is good for: the answers it gives to counting questions, and what can be learnt.

* *Queries* (Rastogi, Suciu, Hong 2007; Brickell, Shmatikov 2008): how many people have values in a
  random range of some columns? The error is |estimate − truth| over the truth, or over a thousandth
  of all people where that is more, so that empty ranges do not decide.
* *Classifier* (Brickell, Shmatikov 2008): U_san, how often a decision tree that is grown on the
  release is right about people of the source; U_base, how often who guesses the commonest value;
  U_max, a tree grown on half of the source, about the other half. U_san − U_base is what the
  release gives beyond the sensitive column alone.

Everything that looks at the source is confidential. Of the release alone a tree is grown on half of
its people and asked about the other half, which is public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.arrays import np
from policy_engine.compile.catalog import fresh
from policy_engine.errors import UsageError, to_install
from policy_engine.measure.subjects import (
    Subject,
    check_columns,
    counts_of,
    measuring,
    subject_of,
)
from policy_engine.policy.mechanisms.whole_classes import Suppression
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.charging import planned
from policy_engine.releasing.planning import project_of
from policy_engine.values import frozen
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa

_SOURCE = "policy_engine_source"
QUERIES, _MOST_COLUMNS, _SANITY, _SEED = 1_000, 3, 1_000, 20
Cells = Mapping[tuple[Any, ...], float]
"""How many people have each combination of values of the released columns."""


@frozen
class Learnt:
    """How often a tree of a sensitive column is right, as shares of the people.

    ``own``: grown on half of the release, about the other half; ``commonest``: the guess of the
    commonest value there. The others are of the source, None where it was not looked at.
    """

    column: str
    own: float | None
    commonest: float | None
    sanitised: float | None = None
    base: float | None = None
    best: float | None = None


@frozen
class Workload:
    """The utility of a release; ``errors`` are quantiles of the queries' relative errors.

    ``errors`` is None where the source was not looked at; ``is_public`` says so.
    """

    learnt: tuple[Learnt, ...]
    errors: Mapping[str, float] | None = None
    queries: int = 0

    @property
    def is_public(self) -> bool:
        """Whether all of it is of the release alone."""
        return self.errors is None


def utility_of(path: Path, sensitive: Sequence[str], source_of: Policy | None = None) -> Workload:
    """What the release in a file is good for; beside its source where a policy says which.

    With a policy the answer is confidential. Raises UsageError for a file that is no release of
    counts or rows by one grouping, and PolicyError where the policy's source does not fit.
    """
    with measuring() as connection:
        subject = subject_of(path, connection, None)
        _check(subject, sensitive)
        columns, scale = tuple(subject.columns), Decimal(1)
        if subject.rate is not None:
            of_source = Decimal(1) if source_of is None else source_of.source.sampled_at
            scale = of_source / Decimal(str(subject.rate))
        released = counts_of(connection, subject.relation, columns, subject.count)
        estimates = {key: n * float(scale) for key, n in released.items()}
        source = None
        if source_of is not None:
            # A name that no column of the policy or of its source has, as far as it says.
            beside = (*source_of.reads_beside, *(name for name, _ in source_of.source.columns))
            count = fresh("people", (*source_of.columns, *beside, source_of.source.key or ""))
            connection.register(_SOURCE, _source(source_of, count))
            source = counts_of(connection, _SOURCE, columns, count)
        return workload(columns, estimates, sensitive, source, subject.orders)


def _check(subject: Subject, sensitive: Sequence[str]) -> None:
    if not subject.is_release:
        raise UsageError(f"{subject.name} is no release: --workload asks what one is good for")
    if subject.groupings:
        raise UsageError(f"{subject.name} has several groupings, and --workload is of one")
    if subject.is_by_chance:
        raise UsageError(f"the rows of {subject.name} are partly nobody's: see 'estimate'")
    if not sensitive:
        raise UsageError("--workload needs --sensitive, the column that a tree is grown for")
    check_columns(tuple(sensitive), subject.columns, subject.name)


def _source(policy: Policy, count: str) -> pa.Table:
    """How many people of a policy's source have each combination of its released values."""
    exact = replace(
        policy,
        protection=Suppression(()),
        k=1,
        rate=Decimal(1),
        method="keyed",
        models=(),
        release=replace(policy.release, form="counts", count_as=count),
    )
    with (
        planned(exact, project_of(policy)) as plan,
        plan.warehouse.sampled(exact, plan.table, new_secret()) as unchanged,
    ):
        rows = plan.warehouse.rows(plan.certificate.query)
        unchanged()
    return rows


def workload(
    columns: Sequence[str],
    released: Cells,
    sensitive: Sequence[str],
    source: Cells | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
) -> Workload:
    """What a release is good for, and with the cells of its ``source`` how far it is off.

    ``orders`` are the values of columns that have an order; texts are else in their own. The same
    cells give the same numbers: what is random has a fixed seed.

    Raises UsageError where scikit-learn is not installed.
    """
    found = tuple(_learnt(columns, released, column, source) for column in sensitive)
    if source is None:
        return Workload(found)
    return Workload(found, _errors(columns, released, source, orders or {}), QUERIES)


def _errors(
    columns: Sequence[str], released: Cells, source: Cells, orders: Mapping[str, Sequence[Any]]
) -> dict[str, float]:
    """The mean and the quantiles of the relative errors of random counting queries."""
    keys = list(dict.fromkeys((*source, *released)))
    truth, told = (np.array([cells.get(key, 0) for key in keys]) for cells in (source, released))
    axes = [
        _places([key[i] for key in keys], orders.get(name, ())) for i, name in enumerate(columns)
    ]
    random, floor, found = np.random.default_rng(_SEED), truth.sum() / _SANITY, []
    for _ in range(QUERIES):
        most = min(_MOST_COLUMNS, len(columns))
        chosen = random.choice(len(columns), size=random.integers(1, most + 1), replace=False)
        inside = np.ones(len(keys), dtype=bool)
        for axis in (axes[place] for place in chosen):
            low, high = sorted(random.integers(0, axis.max(initial=0) + 1, size=2))
            inside &= (axis >= low) & (axis <= high)
        real = truth[inside].sum()
        found.append(abs(told[inside].sum() - real) / max(real, floor, 1e-300))
    quantiles = np.quantile(found, [0.5, 0.9, 0.99])
    named = dict(zip(("median", "p90", "p99"), map(float, quantiles), strict=True))
    return {"mean": float(np.mean(found)), **named}


def _places(values: Sequence[Any], order: Sequence[Any]) -> Any:
    """The places of values in their order: NULL last, and texts as they sort."""
    known = {value: place for place, value in enumerate(order)}
    sorted_ = sorted(set(values), key=lambda v: (v is None, known.get(v, len(known)), str(v)))
    places = {value: place for place, value in enumerate(sorted_)}
    return np.array([places[value] for value in values], dtype=int)


@frozen
class _People:
    """People by what is known of them, as texts, the value that is learnt, and how many."""

    known: list[list[str]]
    told: list[str]
    numbers: list[float]

    @classmethod
    def of(cls, columns: Sequence[str], cells: Cells, column: str) -> _People:
        """What is known is every other column; of one column alone nothing."""
        rows = [dict(zip(columns, map(_text, key), strict=True)) for key in cells]
        told = [row.pop(column) for row in rows]
        return cls([list(row.values()) or [""] for row in rows], told, list(cells.values()))

    def halves(self) -> tuple[_People, _People]:
        """The people in two halves, each drawn by a coin of a fixed seed."""
        sizes = [max(0, round(n)) for n in self.numbers]
        heads = np.random.default_rng(_SEED).binomial(sizes, 0.5).tolist()
        tails = [n - own for n, own in zip(sizes, heads, strict=True)]
        return replace(self, numbers=heads), replace(self, numbers=tails)

    def share(self, said: Iterable[str]) -> float | None:
        """The share of the people whose value is said; None of nobody."""
        right = sum(n for n, a, b in zip(self.numbers, said, self.told, strict=True) if a == b)
        return right / sum(self.numbers) if sum(self.numbers) else None


def _learnt(columns: Sequence[str], released: Cells, column: str, source: Cells | None) -> Learnt:
    if not any(n > 0 for n in released.values()):
        return Learnt(column, None, None)
    shown = _People.of(columns, released, column)
    grown, asked = shown.halves()
    found = Learnt(column, _by_tree(grown, asked), _by_commonest(grown, asked))
    if source is None:
        return found
    half, other = _People.of(columns, source, column).halves()
    return replace(
        found,
        sanitised=_by_tree(shown, other),
        base=_by_commonest(half, other),
        best=_by_tree(half, other),
    )


def _by_tree(grown: _People, asked: _People) -> float | None:
    """How often a decision tree that is grown on people is right about others."""
    try:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ModuleNotFoundError:
        install = to_install("workload")
        raise UsageError(f"--workload needs scikit-learn: {install}") from None
    there = [place for place, n in enumerate(grown.numbers) if n > 0]
    if not there or not sum(asked.numbers):
        return None
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.001, random_state=_SEED)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), tree)
    known, told, numbers = ([of[place] for place in there] for of in vars(grown).values())
    model.fit(known, told, decisiontreeclassifier__sample_weight=numbers)
    return asked.share(model.predict(asked.known))


def _by_commonest(grown: _People, asked: _People) -> float | None:
    """How often who guesses the commonest value of people is right about others."""
    counts = Counter[str]()
    for value, n in zip(grown.told, grown.numbers, strict=True):
        counts[value] += n  # type: ignore[assignment]
    if not counts:
        return None
    [(guess, _)] = counts.most_common(1)
    return asked.share([guess] * len(asked.told))


def _text(value: Any) -> str:
    return "none" if value is None else f"= {value}"
