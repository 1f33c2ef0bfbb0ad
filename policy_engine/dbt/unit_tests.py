"""A unit test of a release's recodes, for dbt to run: people whose release is worked out by hand.

Every case is one line, and stands for so many people: at least k, so that they are released, and
once k - 1, so that they are not. Chance is left out: the test puts ``true`` in the place of the
sample, and 0 in that of the noise, where k is the least number that is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from policy_engine.compile.catalog import Kind, fresh
from policy_engine.compile.reading import read_columns
from policy_engine.dbt.examples import Example, behind, examples, ordinary
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.texts import escaped, spaced
from policy_engine.dbt.types import TEXT, WHOLE, engine_type
from policy_engine.dbt.yaml_items import Block, Flow
from policy_engine.dialects import Engine
from policy_engine.policy.recodings import Constant

_MOST_PEOPLE = 200_000
_TRIED = 5_000
_ENABLED = "{{ not dbt_version.startswith('2') }}"
_WORDS = (
    "Every line of cases stands for so many people. Who is released, and as what, follows from"
    " {file} alone."
)
_SMALL = "A group of fewer than {k} people is not released."
_NO_NOISE = "Without noise a group of fewer than {k} people is not released."
_OTHER_ROWS = " Person {person} has a second row, which the policy does not choose."

Tuple = tuple[str | None, ...]


@dataclass(frozen=True)
class Case:
    """So many people with the same values; ``released`` is None for a row that is not chosen."""

    person: int
    people: int
    values: Mapping[str, str | None]
    released: Tuple | None


def unit_tests(model: ReleaseModel) -> list[dict[str, Any]]:
    """The tests of a release as dbt's YAML has them; none where no values can be worked out.

    That is where the person's key is itself released, so that each person is a group of its own, or
    where a filter decides who is released.
    """
    k, policy = model.least_shown, model.policy
    cases = cases_of(model) if not policy.filter and k > 1 else []
    if not cases:
        return []
    words = _WORDS.format(file=policy.file.name)
    groups = Counter[Tuple]()
    for case in cases:
        if case.released is None:
            words += _OTHER_ROWS.format(person=case.person)
        else:
            groups[case.released] += case.people
    shown = {group: count for group, count in groups.items() if count >= k}
    tests = [_test(model, "recodes", words, cases, shown)]
    if all(case.people >= k for case in cases if case.released is not None):
        told = (_SMALL if policy.noise is None else _NO_NOISE).format(k=k)
        tests.append(_test(model, "small_group", told, [replace(cases[0], people=k - 1)], {}))
    return tests


def _test(
    model: ReleaseModel,
    name: str,
    words: str,
    cases: Sequence[Case],
    groups: Mapping[Tuple, int],
) -> dict[str, Any]:
    # What stands in the place of the sample, or of the noise, and of the secret.
    macros: dict[str, Any] = {"is_incremental": False, "policy_engine.in_sample": "true"}
    if "policy_engine.secret()" in model.text:
        macros["policy_engine.secret"] = "''"
    if model.policy.noise is not None:
        macros["policy_engine.in_sample"] = f"policy_engine_n >= {model.least_shown}"
        macros["policy_engine.noise"] = "0"
    return {
        "name": f"{model.release}_{name}",
        "model": model.model,
        "description": spaced(words),
        "config": {"enabled": _ENABLED, "meta": {"privacy": Flow(generated=True)}},
        "versions": Flow(include=[model.version]),
        "overrides": {"macros": macros},
        "given": [{"input": model.node.call, **_sql(_given(model, cases))}],
        "expect": _expected(model, groups),
    }


def _sql(text: str) -> dict[str, Any]:
    """SQL as dbt reads it: rendered once as YAML, and once as SQL."""
    return {"format": "sql", "rows": Block(escaped(escaped(text)))}


def cases_of(model: ReleaseModel) -> list[Case]:
    """The cases of a test; none where the person's key is itself released."""
    policy = model.policy
    read = read_columns(policy, model.table)
    recodings = dict(policy.recodings)
    keys = [model.table.find(name) for name in policy.source.keys]
    if len(keys) > 1 or any(found.source in keys for found in read.values()):
        return []
    shown = {name: examples(recodings[name], read[name]) for name in read}
    longest = max(map(len, shown.values()), default=1)
    k = model.least_shown
    cases = [
        _case(
            model, number + 1, k, {name: each[number % len(each)] for name, each in shown.items()}
        )
        for number in range(min(longest, max(3, _MOST_PEOPLE // k)))
    ]
    # Fewer than k people, who are released as nobody of the other cases is.
    taken = {case.released for case in cases}
    for combination in islice(product(*shown.values()), _TRIED) if shown else ():
        chosen = dict(zip(shown, combination, strict=True))
        case = _case(model, len(cases) + 1, k - 1, chosen)
        if case.released not in taken:
            cases.append(case)
            break
    second = _second_row(model, cases)
    return cases if second is None else [*cases, second]


def _case(model: ReleaseModel, person: int, people: int, chosen: Mapping[str, Example]) -> Case:
    """The people of a choice of examples, by the policy's name for each column."""
    policy = model.policy
    read = read_columns(policy, model.table)
    released = tuple(
        recoding.label if isinstance(recoding, Constant) else chosen[name].released
        for name, recoding in policy.recodings
    )
    values: dict[str, str | None] = {read[n].source.name: e.raw for n, e in chosen.items()}
    for name, _ in policy.source.order_by:
        column = model.table.find(name)
        if column is not None:
            values.setdefault(column.name, next(iter(ordinary(column)), None))
    return Case(person, people, values, released)


def _second_row(model: ReleaseModel, cases: Sequence[Case]) -> Case | None:
    """A row of the first case's people that comes behind the one they have."""
    source, first = model.policy.source, cases[0]
    if source.unique or not source.order_by or not first.values:
        return None
    name, way = source.order_by[0]
    found = model.table.find(name)
    if found is None or first.values.get(found.name) is None:
        return None
    other = next((case for case in cases if case.released != first.released), None)
    if other is None:
        return None
    last = behind(first.values[found.name], found, descending=way == "desc")
    return replace(first, values={**other.values, found.name: last}, released=None)


def _given(model: ReleaseModel, cases: Sequence[Case]) -> str:
    names, quoted = list(cases[0].values), model.dialect.identifier
    person, people = (fresh(word, names) for word in ("person", "people"))
    rows = [
        {person: case.person, people: case.people, **{n: case.values[n] for n in names}}
        for case in cases
    ]
    items, key, k = [], model.policy.source.key, model.least_shown
    if key is not None:
        found = model.table.find(key)
        own = found.name if found is not None else key
        copy, digits = _copies(k)
        number = f"{10**digits} * cases.{quoted(person)} + {copy}"
        items = [f"CAST({number} AS {engine_type(WHOLE, model.dialect)}) AS {quoted(own)}"]
    for name in names:
        column = model.table.find(name)
        assert column is not None
        is_text = column.kind in {Kind.TEXT, Kind.LABEL}
        kind = engine_type(TEXT, model.dialect) if is_text else model.columns.native(name)
        items.append(f"CAST(cases.{quoted(name)} AS {kind}) AS {quoted(name)}")
    return _query(model.dialect, items, rows, people, k)


def _expected(model: ReleaseModel, groups: Mapping[Tuple, int]) -> dict[str, Any]:
    columns, release, quoted = model.policy.columns, model.policy.release, model.dialect.identifier
    named = [(dict(zip(columns, group, strict=True)), count) for group, count in groups.items()]
    if release.form == "counts" or not groups:
        rows = []
        for values, count in named:
            shown = {n: None if value is None else escaped(value) for n, value in values.items()}
            rows.append(Flow({**shown, release.count_as: count}))
        return {"rows": rows}
    people = fresh("people", columns)
    items = [
        f"CAST(cases.{quoted(name)} AS {model.types[name]}) AS {quoted(name)}" for name in columns
    ]
    lines = [{people: count, **values} for values, count in named]
    return _sql(_query(model.dialect, items, lines, people, max(groups.values())))


def _copies(most: int) -> tuple[str, int]:
    """The number of a copy, below ``most``, of its digits; and how many digits there are."""
    digits = len(str(most - 1))
    return " + ".join(f"{f'{10**n} * ' if n else ''}digit_{n}.n" for n in range(digits)), digits


def _query(
    dialect: Engine,
    items: Sequence[str],
    rows: Sequence[Mapping[str, str | int | None]],
    people: str,
    most: int,
) -> str:
    """``items`` of every row as often as its column ``people`` says, a line a row."""

    def literal(value: str | int | None) -> str:
        if value is None:
            return "NULL"
        return dialect.text(value) if isinstance(value, str) else str(value)

    copy, digits = _copies(most)
    first = ", ".join(f"{literal(v)} AS {dialect.identifier(n)}" for n, v in rows[0].items())
    others = [f"  UNION ALL SELECT {', '.join(map(literal, row.values()))}" for row in rows[1:]]
    ten = "SELECT 0 AS n" + "".join(f" UNION ALL SELECT {n}" for n in range(1, 10))
    lines = ["SELECT", ",\n".join(f"  {item}" for item in items)]
    lines += ["FROM (", f"  SELECT {first}", *others, ") AS cases"]
    lines += [f"CROSS JOIN ({ten}) AS digit_{n}" for n in range(digits)]
    lines.append(f"WHERE {copy} < cases.{dialect.identifier(people)}")
    return "\n".join(lines)
