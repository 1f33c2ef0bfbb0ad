"""A measurement as text and as JSON: whose it is comes first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from policy_engine.cli.output import members
from policy_engine.cli.showing import plain, table
from policy_engine.kernel.words import people_word
from policy_engine.measure.classes import (
    Class,
    Disclosed,
    average_class,
    bands,
    discernibility,
    pitman,
    zayatz,
)
from policy_engine.measure.marginals import Together
from policy_engine.measure.measuring import Measured, Measurement
from policy_engine.measure.workload import Workload
from policy_engine.policy.escapes import escaped
from policy_engine.policy.resolve import Recoded
from policy_engine.policy.scalars import counted

PUBLIC = "public: computed from the release alone; it says nothing of (ε, δ)"
BY_YOUR_WORD = "public by your word: computed from the table alone; it says nothing of (ε, δ)"
_LEVELS = 3
ROWS = (
    "each row is taken for one person: where people have several rows, --key COLUMN names who they"
    " are, and all that follows is otherwise too good"
)
CONFIDENTIAL = (
    "confidential: computed from raw data, for those alone who may see them; it belongs into no"
    " release, certificate or public page"
)


def document(found: Measurement, recoded: Recoded | None) -> dict[str, Any]:
    """A measurement in JSON."""
    units = _units(found).replace("-", "_")
    made: dict[str, Any] = {
        "confidential": not found.is_public,
        "note": _first(found),
        "counts": units,
        "counts_note": _counts_note(found) or None,
        "file": found.name,
        **({} if found.suppressed is None else {"suppressed": found.suppressed}),
        "tables": [_table_document(each, units) for each in found.tables],
    }
    if found.together:
        made |= {
            "marginals": found.marginals,
            "together": [_together_document(each) for each in found.together],
            "divergence": _finite(found.lost),
        }
    if recoded is not None:
        made |= members(recoded, "precision height most", most="height_most")
    return made


def _units(found: Measurement) -> str:
    return "rows" if found.takes_rows else people_word(found.groups_a_person)


def _counts_note(found: Measurement) -> str:
    """What a row is taken for, where the file does not say it itself."""
    if found.takes_rows:
        return ROWS
    if found.groups_a_person > 1:
        return (
            f"a person counts in up to {found.groups_a_person} groups, and once in each: a class is"
            " of so many person-groups, which may be of fewer people"
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


def _finite(value: float | None) -> float | str | None:
    return "infinite" if value == math.inf else value


def _together_document(found: Together) -> dict[str, Any]:
    maxent = None
    if found.fit is not None:
        fit = members(found.fit, "turns off converged", off="off_by")
        maxent = {"entropy_l": found.entropy, "alpha": found.alpha, **fit}
    told = members(found, "decomposable k_link combinatorial", combinatorial="k_combinatorial")
    return {**told, "why_not": found.why or None, "maxent": maxent}


def _table_document(found: Measured, units: str) -> dict[str, Any]:
    sizes = found.sizes
    within = units if found.persons is None else "people_by_class"
    risks = {
        "prosecutor": found.own and members(found.own, "highest mean"),
        "journalist": found.others and members(found.others, "highest mean"),
        "unique_in_table": found.unique,
        "unique_in_population": _uniques(found) or None,
        "sizes": [
            {"from": each.low, "to": each.high, "classes": each.classes, within: each.people}
            for each in bands(sizes)
        ],
    }
    return {
        "quasi_identifiers": found.quasi,
        units: sizes.people if found.persons is None else found.persons,
        **members(sizes, "classes k"),
        "worst": _class_document(sizes.worst),
        "sensitive": [_model_document(each) for each in found.disclosed],
        "risks": risks,
        "utility": {
            "discernibility": discernibility(sizes),
            "average_class": average_class(sizes),
        },
    }


def _model_document(found: Disclosed) -> dict[str, Any]:
    recursive = {str(level): c for level, c in found.recursive.items()}
    distances = {"t_equal": "equal", "t_ordered": "ordered", "t_hierarchical": "hierarchical"}
    return {
        **members(found, "column values"),
        "l_diversity": {**members(found, "distinct entropy"), "recursive_c_above": recursive},
        "t_closeness": members(found, " ".join(distances), **distances),
        "delta_disclosure": _finite(found.delta),
        **members(found, "alpha a_know a_acc classification",
                  classification="classification_metric"),
        "worst": {name: _class_document(each) for name, each in found.worst.items()},
    }  # fmt: skip


def _class_document(found: Class | None) -> dict[str, Any] | None:
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


def workload_document(found: Workload) -> dict[str, Any]:
    """A workload in JSON."""
    return {
        "confidential": not found.is_public,
        "queries": found.queries or None,
        "relative_errors": found.errors,
        "learnt": [asdict(each) for each in found.learnt],
    }


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
