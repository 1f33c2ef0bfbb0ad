"""Models enforced on released cells: which rows of a release stay, decided by the release alone.

It is post-processing: a function of what a certified query gave, and of nothing else. So it costs
nothing, and the certificate's ε and δ hold of what is left. A class is the rows that are alike in
every column but those that a model is of, weighed by their counts; where a class breaks a model,
all its rows go. What is left is looked at again, for t-closeness compares with all that is shown.

All is computed exactly, or to 40 digits: who verifies comes to the same rows on any machine.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from policy_engine.attest.results import Results
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.models import Model, TCloseness

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = Context(prec=40)
_NEAR = Decimal("1e-30")
"""Of two numbers that are alike but for the 40th digit, as ln 3 and the entropy of three alike."""
_Row = Sequence[Hashable]


def enforced(
    columns: Sequence[str], rows: Sequence[_Row], counts: Sequence[int], models: Sequence[Model]
) -> list[bool]:
    """Which rows stay; of a row ``columns`` name the fields, and ``counts`` say how many it is.

    >>> from policy_engine.kernel.models import LDiversity
    >>> rows = [("a", "flu"), ("a", "cough"), ("b", "flu"), ("b", "flu")]
    >>> enforced(["zip", "illness"], rows, [5, 4, 9, 1], [LDiversity("illness", Decimal(2))])
    [True, True, False, False]
    """
    told = {model.of for model in models}
    known = [place for place, name in enumerate(columns) if name not in told]
    places = [columns.index(model.of) for model in models]

    def cells(within: Iterable[int]) -> list[Counter[Hashable]]:
        """How many of some rows have each value of each model's column."""
        found: list[Counter[Hashable]] = [Counter() for _ in models]
        for number in within:
            for place, values in zip(places, found, strict=True):
                values[rows[number][place]] += counts[number]
        return found

    classes: dict[_Row, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        classes[tuple(row[place] for place in known)].append(number)
    left = list(classes.values())
    while True:
        whole = cells(chain.from_iterable(left))
        kept = [each for each in left if all(map(_holds, models, cells(each), whole))]
        if len(kept) == len(left):
            stays = set(chain.from_iterable(kept))
            return [number in stays for number in range(len(rows))]
        left = kept


def filtered(table: pa.Table, columns: int, count: str | None, models: Sequence[Model]) -> pa.Table:
    """The rows of a release that stay, in their order; its first columns are the released ones."""
    if not models:
        return table
    import pyarrow as pa

    return table.filter(pa.array(_stay(table, columns, count, models), pa.bool_()))


def check_models(certificate: Certificate, table: pa.Table) -> Results:
    """That the models which a certificate states hold of its rows."""
    models, columns = certificate.terms.models, certificate.columns
    if missing := [model.of for model in models if model.of not in columns]:
        return Results.refused(f"it states a model of {missing[0]}, which it does not release")
    if models and not all(_stay(table, len(columns), certificate.count, models)):
        told = " and ".join(map(str, models))
        return Results.refused(f"a class that is shown breaks {told}")
    return Results.held(*(f"every class that is shown has {model}" for model in models))


def _stay(table: pa.Table, columns: int, count: str | None, models: Sequence[Model]) -> list[bool]:
    names = table.column_names[:columns]
    rows = list(zip(*map(_values, table.columns[:columns]), strict=True))
    counts = [1] * len(rows) if count is None else table.column(count).to_pylist()
    return enforced(names, rows, counts, models)


def _values(column: pa.ChunkedArray) -> list[Hashable]:
    """Texts as they are, of which some have an order; a number for each value of any other type.

    Python cannot hold every value of an engine.
    """
    import pyarrow as pa

    plain = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    found = column if plain else column.combine_chunks().dictionary_encode().indices
    return list(found.to_pylist())


def _holds(model: Model, cells: Counter[Hashable], whole: Counter[Hashable]) -> bool:
    if isinstance(model, TCloseness):
        return _distance(cells, whole, model.order) <= Fraction(model.most)
    sizes = sorted(cells.values(), reverse=True)  # the commonest first
    if model.kind == "distinct":
        return len(sizes) >= model.level
    if model.kind == "recursive":
        rest = sum(sizes[int(model.level) - 1 :])
        return Fraction(sizes[0]) < Fraction(model.factor or 0) * rest
    people = sum(sizes)
    lns = [_DIGITS.multiply(Decimal(n), _DIGITS.ln(Decimal(n))) for n in sizes]
    entropy = _DIGITS.ln(Decimal(people)) - _DIGITS.divide(sum(lns, Decimal()), Decimal(people))
    return entropy >= _DIGITS.ln(model.level) - _NEAR


def _distance(cells: Counter[Hashable], whole: Counter[Hashable], order: Sequence[str]) -> Fraction:
    people, everybody = cells.total(), whole.total()
    if not order:
        more = (Fraction(n, people) - Fraction(whole[v], everybody) for v, n in cells.items())
        return sum((each for each in more if each > 0), Fraction())
    # NULL is behind every label, and a value that nobody has is no place.
    places = [value for value in (*order, None) if whole[value]]
    steps = accumulate(Fraction(cells[v], people) - Fraction(whole[v], everybody) for v in places)
    return sum(map(abs, steps), Fraction()) / max(1, len(places) - 1)
