"""A measurement as text and as JSON: whose it is comes first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from policy_engine.cli.showing import table
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.measure.categorical import Class, Disclosed
    from policy_engine.measure.marginals import Together
    from policy_engine.measure.measuring import Measured, Measurement
    from policy_engine.measure.risks import Risk
    from policy_engine.measure.workload import Workload
    from policy_engine.policy.resolve import Recoded

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
    made: dict[str, Any] = {
        "confidential": not found.is_public,
        "note": _first(found),
        "counts": _units(found),
        "counts_note": _counts_note(found) or None,
        "file": found.name,
        "tables": [_table_document(each, _units(found)) for each in found.tables],
    }
    if found.together:
        made["marginals"] = [list(each) for each in found.marginals]
        made["together"] = [_together_document(each) for each in found.together]
        made["divergence"] = "infinite" if found.lost == math.inf else found.lost
    if recoded is not None:
        made["precision"] = recoded.precision
        made["height"] = recoded.height
        made["height_most"] = recoded.most
    return made


def _units(found: Measurement) -> str:
    return "rows" if found.takes_rows else "people"


def _counts_note(found: Measurement) -> str:
    """What a row is taken for, where the file does not say it itself."""
    if found.takes_rows:
        return ROWS
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


def _together_document(found: Together) -> dict[str, Any]:
    fit = found.fit
    return {
        "decomposable": found.decomposable,
        "k_link": found.k_link,
        "k_combinatorial": found.combinatorial,
        "why_not": found.why or None,
        "maxent": None
        if fit is None
        else {
            "entropy_l": found.entropy,
            "alpha": found.alpha,
            "turns": fit.turns,
            "off_by": fit.off,
            "converged": fit.converged,
        },
    }


def _table_document(found: Measured, units: str) -> dict[str, Any]:
    from policy_engine.measure import risks

    sizes = found.sizes
    within = units if found.persons is None else "people_by_class"
    return {
        "quasi_identifiers": list(found.quasi),
        units: sizes.people if found.persons is None else found.persons,
        "classes": sizes.classes,
        "k": sizes.k,
        "worst": _plain(sizes.worst),
        "sensitive": [_model_document(each) for each in found.disclosed],
        "risks": {
            "prosecutor": _risk_document(found.own),
            "journalist": _risk_document(found.others),
            "unique_in_table": found.unique,
            "unique_in_population": _uniques(found),
            "sizes": [
                {"from": each.low, "to": each.high, "classes": each.classes, within: each.people}
                for each in risks.bands(sizes)
            ],
        },
        "utility": {
            "discernibility": risks.discernibility(sizes),
            "average_class": risks.average_class(sizes),
        },
    }


def _model_document(found: Disclosed) -> dict[str, Any]:
    return {
        "column": found.column,
        "values": found.values,
        "l_diversity": {
            "distinct": found.distinct,
            "entropy": found.entropy,
            "recursive_c_above": {str(each): c for each, c in found.recursive.items()},
        },
        "t_closeness": {
            "equal": found.t_equal,
            "ordered": found.t_ordered,
            "hierarchical": found.t_hierarchical,
        },
        "delta_disclosure": "infinite" if found.delta == math.inf else found.delta,
        "alpha": found.alpha,
        "a_know": found.a_know,
        "a_acc": found.a_acc,
        "classification_metric": found.classification,
        "worst": {name: _plain(each) for name, each in found.worst.items()},
    }


def _plain(found: Class | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        name: value if value is None or isinstance(value, bool | int) else str(value)
        for name, value in found.items()
    }


def _risk_document(risk: Risk | None) -> dict[str, float] | None:
    return None if risk is None else {"highest": risk.highest, "mean": risk.mean}


def _uniques(found: Measured) -> dict[str, float | None] | None:
    from policy_engine.measure.risks import pitman, zayatz

    if found.rate is None:
        return None
    return {
        "pitman": pitman(found.sizes, found.rate),
        "zayatz": zayatz(found.sizes, found.rate),
    }


def lines(found: Measurement, recoded: Recoded | None) -> Iterator[str]:
    """A measurement as text; whose it is comes first."""
    yield _first(found)
    if note := _counts_note(found):
        yield escaped(note)
    units = _units(found)
    weights = f", each row as many as its {escaped(found.counted)} says" if found.counted else ""
    for each in found.tables:
        by = ", ".join(map(escaped, each.quasi)) or "no column: all are one class"
        sizes = each.sizes
        yield (
            f"{escaped(found.name)}: {_many(each, units)}{weights}; classes by {by}:"
            f" {sizes.classes:,}"
        )
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
    named = "; ".join(", ".join(map(escaped, each)) for each in found.marginals)
    kind = "decomposable" if told.decomposable else "not decomposable"
    yield f"marginals together, {kind}: {named}"
    yield f"  k-link-anonymity k = {_number(told.k_link)}"
    combinatorial = f"not known: {told.why}" if told.why else _number(told.combinatorial)
    yield f"  k-combinatorial anonymity k = {combinatorial}"
    if told.fit is None:
        yield "  the product of all values is too large for a fit of maximum entropy"
        return
    state = "converged" if told.fit.converged else "did not converge"
    yield (
        f"  maximum entropy: {state} in {counted(told.fit.turns, 'turn')},"
        f" off by {told.fit.off:.2g} of the {_units(found)}"
    )
    if told.entropy is not None:
        yield f"  MaxEnt ℓ = {_number(told.entropy)}, α = {_number(told.alpha)}"
    if found.lost is not None:
        yield f"  divergence of the table from it: {_number(found.lost)} nats"


def _models(found: Measured) -> Iterator[tuple[str, str, str]]:
    sizes = found.sizes
    yield "  k-anonymity", f"k = {_number(sizes.k)}", _class(sizes.worst)
    for each in found.disclosed:
        worst = {name: _class(of) for name, of in each.worst.items()}
        yield f"{escaped(each.column)}, {counted(each.values, 'value')}", "", ""
        yield "  distinct ℓ-diversity", f"ℓ = {_number(each.distinct)}", worst.get("distinct", "")
        yield "  entropy ℓ-diversity", f"ℓ = {_number(each.entropy)}", worst.get("entropy", "")
        yield from _recursive(each)
        distances = {"equal": each.t_equal, "ordered": each.t_ordered}
        distances["hierarchical"] = each.t_hierarchical
        for name, t in distances.items():
            if t is not None or name == "equal":
                yield f"  t-closeness, {name}", f"t = {_number(t)}", worst.get(f"t_{name}", "")
        yield (
            "  δ-disclosure",
            f"δ above {_number(each.delta)}"
            if each.delta != math.inf
            else "for no δ: a class lacks a value",
            worst.get("delta", ""),
        )
        yield (
            "  (α, k)-anonymity",
            f"α = {_number(each.alpha)}, k = {_number(sizes.k)}",
            worst.get("alpha", ""),
        )


def _recursive(found: Disclosed) -> Iterator[tuple[str, str, str]]:
    if not found.recursive:
        yield "  recursive (c, ℓ)-diversity", "for no ℓ above 1", ""
    else:
        first = [*found.recursive.items()][:_LEVELS]
        told = "; ".join(f"ℓ = {level}: c above {_number(c)}" for level, c in first)
        yield "  recursive (c, ℓ)-diversity", told, ""


def _risks(found: Measured, units: str) -> Iterator[str]:
    from policy_engine.measure.risks import bands

    sizes = found.sizes
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
    alone = {name: share for name, share in (_uniques(found) or {}).items() if share is not None}
    if alone:
        told = ", ".join(f"{_share(share)} by {name.title()}" for name, share in alone.items())
        yield f"  alone in the population, estimated: {told}"
    for each in bands(sizes):
        size = f"{each.low} or more" if each.high is None else f"{each.low} to {each.high}"
        size = str(each.low) if each.low == each.high else size
        share = _share(each.people / sizes.people)
        classes = f"{each.classes:,} class{'' if each.classes == 1 else 'es'}"
        yield f"  in classes of {size}: {share} of the {_within(found, units)}, {classes}"


def _utility(found: Measured, units: str) -> Iterator[str]:
    from policy_engine.measure.risks import average_class, discernibility

    sizes = found.sizes
    mean = _number(average_class(sizes))
    yield f"  discernibility {discernibility(sizes):,}, {units} a class {mean} in the mean"
    for each in found.disclosed:
        if each.classification is not None:
            yield (
                f"  {escaped(each.column)}: classification metric {_number(each.classification)};"
                f" an adversary's gain of knowledge {_number(each.a_know)}, of accuracy"
                f" {_number(each.a_acc)}"
            )


def _within(found: Measured, units: str) -> str:
    """What a sum over classes counts: who is in several stands in it several times."""
    return units if found.persons is None else f"{units}, each once in every class of theirs"


def _class(found: Class | None) -> str:
    if found is None:
        return ""
    shown = (f"{name}: {'NULL' if value is None else value}" for name, value in found.items())
    return escaped(", ".join(shown))


def _many(found: Measured, units: str) -> str:
    number = found.sizes.people if found.persons is None else found.persons
    if number == 1:
        return "1 row" if units == "rows" else "1 person"
    return f"{number:,} {units}"


def _number(value: float | None) -> str:
    if value is None:
        return "none: there is no class"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def workload_document(found: Workload | None) -> dict[str, Any]:
    """A workload in JSON; nothing where none was asked for."""
    if found is None:
        return {}
    told = {
        "confidential": not found.is_public,
        "queries": found.queries or None,
        "relative_errors": None if found.errors is None else dict(found.errors),
        "learnt": [asdict(each) for each in found.learnt],
    }
    return {"workload": told}


def workload_lines(found: Workload | None) -> Iterator[str]:
    """A workload as text."""
    if found is None:
        return
    yield "workload, of the release alone" if found.is_public else "workload, confidential"
    for each in found.learnt:
        name = escaped(each.column)
        yield (
            f"  {name}: a tree grown on half of the release is right about {_share(each.own)} of"
            f" the other half, and the commonest value about {_share(each.commonest)}"
        )
        if not found.is_public:
            yield (
                f"  {name}, of the source: a tree grown on the release is right about"
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
