"""A measurement as text and as JSON: whose it is comes first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from policy_engine.cli.showing import Plain, plain, table
from policy_engine.kernel.words import people_word
from policy_engine.measure.classes import (
    Class,
    Disclosed,
    Risk,
    average_class,
    bands,
    discernibility,
    pitman,
    zayatz,
)
from policy_engine.measure.marginals import Together
from policy_engine.measure.measuring import Measured, Measurement
from policy_engine.measure.workload import Learnt, Workload
from policy_engine.policy.escapes import escaped
from policy_engine.policy.resolve import Recoded
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen

Finite = float | str | None
"""A number, or ``infinite``, for which JSON has no number."""
ClassSaid = Mapping[str, Plain]
"""A class, by the values of its quasi-identifiers."""

PUBLIC = "public: computed from the release alone; it says nothing of (ε, δ)"
BY_YOUR_WORD = "public, as you state: computed from the table alone; it says nothing of (ε, δ)"
_LEVELS = 3
ROWS = (
    "each row is taken for one person: where people have several rows, --key COLUMN names who they"
    " are, and all that follows is otherwise too good"
)
CONFIDENTIAL = (
    "confidential: computed from raw data, for those alone who may see them; it belongs into no"
    " release, certificate or public page"
)


@frozen
class SizeBand:
    """Classes of ``from`` to ``to`` people, None for no end; one of the others is how many."""

    from_: int
    to: int | None
    classes: int
    people: int | None = None
    rows: int | None = None
    person_groups: int | None = None
    people_by_class: int | None = None


@frozen
class LDiversitySaid:
    """ℓ by two kinds; ``recursive_c_above`` is by ℓ the c above which the third holds."""

    distinct: int | None
    entropy: float | None
    recursive_c_above: Mapping[int, float]


@frozen
class TClosenessSaid:
    """t by each distance that the column has."""

    equal: float | None
    ordered: float | None
    hierarchical: float | None


@frozen
class ModelsSaid:
    """What a table tells of a sensitive column."""

    column: str
    values: int
    l_diversity: LDiversitySaid
    t_closeness: TClosenessSaid
    delta_disclosure: Finite
    alpha: float | None
    a_know: float | None
    a_acc: float | None
    classification_metric: float | None
    worst: Mapping[str, ClassSaid]


@frozen
class RisksSaid:
    """Who could be found in a table, and how people are spread over classes by size."""

    prosecutor: Risk | None
    journalist: Risk | None
    unique_in_table: float | None
    unique_in_population: Mapping[str, float | None] | None
    sizes: tuple[SizeBand, ...]


@frozen
class UtilitySaid:
    """What a table keeps."""

    discernibility: int
    average_class: float | None


@frozen(kw_only=True)
class TableSaid:
    """One table, of so many ``people``, ``rows`` or ``person_groups``."""

    quasi_identifiers: tuple[str, ...]
    people: int | None = None
    rows: int | None = None
    person_groups: int | None = None
    classes: int
    k: int | None
    worst: ClassSaid | None
    sensitive: tuple[ModelsSaid, ...]
    risks: RisksSaid
    utility: UtilitySaid


@frozen
class MaxEntSaid:
    """The table of maximum entropy that has the marginals, and what it tells."""

    entropy_l: float | None
    alpha: float | None
    turns: int
    off_by: float
    converged: bool


@frozen
class TogetherSaid:
    """What several marginals tell together."""

    decomposable: bool
    k_link: int | None
    k_combinatorial: int | None
    why_not: str | None
    maxent: MaxEntSaid | None


@frozen
class WorkloadSaid:
    """What a release is good for."""

    confidential: bool
    queries: int | None
    relative_errors: Mapping[str, float] | None
    learnt: tuple[Learnt, ...]


@frozen(kw_only=True)
class MeasurementSaid:
    """A measurement: whose it is stands first."""

    confidential: bool
    note: str
    counts: str
    counts_note: str | None
    file: str
    suppressed: int | None = None
    tables: tuple[TableSaid, ...]
    marginals: tuple[tuple[str, ...], ...] | None = None
    together: tuple[TogetherSaid, ...] | None = None
    divergence: Finite = None
    precision: float | None = None
    height: int | None = None
    height_most: int | None = None
    workload: WorkloadSaid | None = None


def said(
    found: Measurement, recoded: Recoded | None, good_for: Workload | None = None
) -> MeasurementSaid:
    """A measurement as JSON says it."""
    units = "rows" if found.takes_rows else "people"
    if not found.takes_rows and found.groups_a_person > 1:
        units = "person_groups"
    return MeasurementSaid(
        confidential=not found.is_public,
        note=_first(found),
        counts=units,
        counts_note=_counts_note(found) or None,
        file=found.name,
        suppressed=found.suppressed,
        tables=tuple(_table_said(each, units) for each in found.tables),
        marginals=found.marginals if found.together else None,
        together=tuple(map(_together_said, found.together)) or None,
        divergence=_finite(found.lost),
        precision=None if recoded is None else recoded.precision,
        height=None if recoded is None else recoded.height,
        height_most=None if recoded is None else recoded.most,
        workload=None if good_for is None else _workload_said(good_for),
    )


def _units(found: Measurement) -> str:
    return "rows" if found.takes_rows else people_word(found.groups_a_person)


def _counts_note(found: Measurement) -> str:
    """What a row is taken for, where the file does not say it itself."""
    if found.takes_rows:
        return ROWS
    if found.groups_a_person > 1:
        return (
            f"a person counts in up to {found.groups_a_person} groups, and once in each:"
            " two classes may have people in common"
        )
    if found.key is None:
        return ""
    return (
        f"people are told apart by {found.key}: each counts once in every class that they have a"
        " row in, and there once for each value that is to be learnt"
    )


def _first(found: Measurement) -> str:
    if not found.is_public:
        return CONFIDENTIAL
    return PUBLIC if found.is_release else BY_YOUR_WORD


def _finite(value: float | None) -> Finite:
    return "infinite" if value == math.inf else value


def _together_said(found: Together) -> TogetherSaid:
    fit, maxent = found.fit, None
    if fit is not None:
        maxent = MaxEntSaid(found.entropy, found.alpha, fit.turns, fit.off, fit.converged)
    why = found.why or None
    return TogetherSaid(found.decomposable, found.k_link, found.combinatorial, why, maxent)


def _table_said(found: Measured, units: str) -> TableSaid:
    sizes = found.sizes
    within = units if found.persons is None else "people_by_class"
    risks = RisksSaid(
        found.own,
        found.others,
        found.unique,
        _uniques(found) or None,
        tuple(
            SizeBand(each.low, each.high, each.classes, **{within: each.people})
            for each in bands(sizes)
        ),
    )
    return TableSaid(
        quasi_identifiers=found.quasi,
        classes=sizes.classes,
        k=sizes.k,
        worst=_class_said(sizes.worst),
        sensitive=tuple(map(_models_said, found.disclosed)),
        risks=risks,
        utility=UtilitySaid(discernibility(sizes), average_class(sizes)),
        **{units: sizes.people if found.persons is None else found.persons},
    )


def _models_said(found: Disclosed) -> ModelsSaid:
    worst = {name: _class_said(each) or {} for name, each in found.worst.items()}
    return ModelsSaid(
        found.column,
        found.values,
        LDiversitySaid(found.distinct, found.entropy, found.recursive),
        TClosenessSaid(found.t_equal, found.t_ordered, found.t_hierarchical),
        _finite(found.delta),
        found.alpha,
        found.a_know,
        found.a_acc,
        found.classification,
        worst,
    )


def _class_said(found: Class | None) -> ClassSaid | None:
    return None if found is None else {name: plain(value) for name, value in found.items()}


def _uniques(found: Measured) -> dict[str, float | None]:
    """The share of the population who are alone in it, by each estimate; empty of no sample."""
    if found.rate is None:
        return {}
    estimates = {"pitman": pitman, "zayatz": zayatz}
    return {name: estimate(found.sizes, found.rate) for name, estimate in estimates.items()}


def lines(found: Measurement, recoded: Recoded | None) -> Iterator[str]:
    """A measurement as text; whose it is comes first."""
    yield _first(found)
    if note := _counts_note(found):
        yield note
    units = _units(found)
    if found.suppressed is not None:
        who = "people" if found.counted else "rows"
        yield f"{who} that are suppressed, and in no class: {found.suppressed:,}"
    weights = f", each row as many as its {found.counted} says" if found.counted else ""
    for each in found.tables:
        by = ", ".join(each.quasi) or "no column: all are one class"
        classes = f"classes by {by}: {each.sizes.classes:,}"
        yield f"{found.name}: {_many(each, units)}{weights}; {classes}"
        head = ("model", "value", "worst class" if found.is_public else "")
        yield from table([head, *_models(each)])
        yield "risk"
        yield from _risks(each, units)
        yield "utility"
        yield from _utility(each, units)
    for told in found.together:
        yield from _together(found, told)
    if recoded is not None:
        yield (
            f"  precision of the recodes {recoded.precision:.4g}, height {recoded.height} of"
            f" {recoded.most}: from the policy alone"
        )


def _together(found: Measurement, told: Together) -> Iterator[str]:
    named = "; ".join(map(", ".join, found.marginals))
    kind = "decomposable" if told.decomposable else "not decomposable"
    yield f"marginals together, {kind}: {named}"
    yield f"  k-link-anonymity k = {_number(told.k_link)}"
    combinatorial = f"not known: {told.why}" if told.why else _number(told.combinatorial)
    yield f"  k-combinatorial anonymity k = {combinatorial}"
    if told.fit is None:
        yield "  the product of all values is too large for a fit of maximum entropy"
        return
    state = "converged" if told.fit.converged else "did not converge"
    turns = counted(told.fit.turns, "turn")
    off = f"off by {told.fit.off:.2g} of the {_units(found)}"
    yield f"  maximum entropy: {state} in {turns}, {off}"
    if told.entropy is not None:
        yield f"  MaxEnt ℓ = {_number(told.entropy)}, α = {_number(told.alpha)}"
    if found.lost is not None:
        yield f"  divergence of the table from it: {_number(found.lost)} nats"


def _models(found: Measured) -> Iterator[tuple[str, str, str]]:
    k = f"k = {_number(found.sizes.k)}"
    yield "  k-anonymity", k, _class(found.sizes.worst)
    for each in found.disclosed:
        worst = {name: _class(of) for name, of in each.worst.items()}
        yield f"{escaped(each.column)}, {counted(each.values, 'value')}", "", ""
        yield "  distinct ℓ-diversity", f"ℓ = {_number(each.distinct)}", worst.get("distinct", "")
        yield "  entropy ℓ-diversity", f"ℓ = {_number(each.entropy)}", worst.get("entropy", "")
        levels = [*each.recursive.items()][:_LEVELS]
        recursive = "; ".join(f"ℓ = {level}: c above {_number(c)}" for level, c in levels)
        yield "  recursive (c, ℓ)-diversity", recursive or "for no ℓ above 1", ""
        for name in ("equal", "ordered", "hierarchical"):
            t = getattr(each, f"t_{name}")
            if t is not None or name == "equal":
                yield f"  t-closeness, {name}", f"t = {_number(t)}", worst.get(f"t_{name}", "")
        lacks = each.delta == math.inf
        delta = "for no δ: a class lacks a value" if lacks else f"δ above {_number(each.delta)}"
        yield "  δ-disclosure", delta, worst.get("delta", "")
        yield "  (α, k)-anonymity", f"α = {_number(each.alpha)}, {k}", worst.get("alpha", "")


def _risks(found: Measured, units: str) -> Iterator[str]:
    if found.own is None:
        yield "  nobody is shown"
        return
    yield (
        f"  prosecutor, who knows that a person is in it: at most {_share(found.own.highest)},"
        f" {_share(found.own.mean)} in the mean"
    )
    if found.others is not None:
        yield (
            "  journalist, who knows that a person is in the population: at most"
            f" {_share(found.others.highest)}; marketer, who links all: {_share(found.others.mean)}"
        )
    yield f"  alone in their class: {_share(found.unique or 0)} of the {units}"
    alone = [
        f"{_share(share)} by {name.title()}"
        for name, share in _uniques(found).items()
        if share is not None
    ]
    if alone:
        yield f"  alone in the population, estimated: {', '.join(alone)}"
    # Who is in several classes stands in the sum over them several times.
    within = units if found.persons is None else f"{units}, each once in every class of theirs"
    for each in bands(found.sizes):
        size = f"{each.low} or more" if each.high is None else f"{each.low} to {each.high}"
        size = str(each.low) if each.low == each.high else size
        share = _share(each.people / found.sizes.people)
        classes = f"{each.classes:,} class{'' if each.classes == 1 else 'es'}"
        yield f"  in classes of {size}: {share} of the {within}, {classes}"


def _utility(found: Measured, units: str) -> Iterator[str]:
    sizes = found.sizes
    mean = _number(average_class(sizes))
    yield f"  discernibility {discernibility(sizes):,}, {units} a class {mean} in the mean"
    for each in found.disclosed:
        if each.classification is not None:
            yield (
                f"  {each.column}: classification metric {_number(each.classification)};"
                f" an adversary's gain of knowledge {_number(each.a_know)}, of accuracy"
                f" {_number(each.a_acc)}"
            )


def _class(found: Class | None) -> str:
    shown = (
        f"{name}: {'NULL' if value is None else value}" for name, value in (found or {}).items()
    )
    return escaped(", ".join(shown))


def _many(found: Measured, units: str) -> str:
    number = found.sizes.people if found.persons is None else found.persons
    if number == 1:
        return {"rows": "1 row", "people": "1 person"}.get(units, "1 person-group")
    return f"{number:,} {units}"


def _number(value: float | None) -> str:
    if value is None:
        return "none: there is no class"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _workload_said(found: Workload) -> WorkloadSaid:
    return WorkloadSaid(not found.is_public, found.queries or None, found.errors, found.learnt)


def workload_lines(found: Workload) -> Iterator[str]:
    """A workload as text."""
    yield "workload, of the release alone" if found.is_public else "workload, confidential"
    for each in found.learnt:
        yield (
            f"  {each.column}: a tree grown on half of the release is right about"
            f" {_share(each.own)} of the other half, and the commonest value about"
            f" {_share(each.commonest)}"
        )
        if not found.is_public:
            yield (
                f"  {each.column}, of the source: a tree grown on the release is right about"
                f" {_share(each.sanitised)}, the commonest value about {_share(each.base)}, a tree"
                f" grown on half of the source about {_share(each.best)} of the other half"
            )
    if found.errors is not None:
        errors = ", ".join(f"{name} {_share(error)}" for name, error in found.errors.items())
        yield f"  relative error of {found.queries:,} random counting queries: {errors}"


def _share(value: float | None) -> str:
    """A share in per cent, never rounded to none.

    >>> _share(0.25), _share(0.00001234)
    ('25 %', '0.00123 %')
    """
    return "none: nobody is there" if value is None else f"{100 * value:.3g} %"
