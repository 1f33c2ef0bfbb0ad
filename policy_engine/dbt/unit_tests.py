"""A unit test of a release's recodes, for dbt to run: people whose release is worked out by hand.

Every case is one line, and stands for so many people: at least k, so that they are released, and
once k - 1, so that they are not. Chance is left out: the test puts ``true`` in the place of the
sample, and 0 in that of the noise, where k is the least number that is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

from sqlglot import exp

from policy_engine.compile.catalog import Column, Kind, fresh
from policy_engine.compile.reading import read_columns
from policy_engine.dbt.examples import Example, behind, examples, ordinary
from policy_engine.dbt.jinja import escaped, spaced
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.types import TEXT, WHOLE, engine_type
from policy_engine.dbt.yaml_text import Block, Flow
from policy_engine.engines.types import parser_of
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
    k = model.least_shown
    cases = cases_of(model) if not model.policy.filter and k > 1 else []
    if not cases:
        return []
    chosen = [case for case in cases if case.released is not None]
    other = next((case.person for case in cases if case.released is None), None)
    words = _WORDS.format(file=model.policy.file.name)
    words += _OTHER_ROWS.format(person=other) if other is not None else ""
    tests = [_test(model, "recodes", words, cases, _groups(chosen, k))]
    if all(case.people >= k for case in chosen):
        small = replace(cases[0], people=k - 1)
        told = (_SMALL if model.policy.noise is None else _NO_NOISE).format(k=k)
        tests.append(_test(model, "small_group", told, [small], {}))
    return tests


def _test(
    model: ReleaseModel,
    name: str,
    words: str,
    cases: Sequence[Case],
    groups: Mapping[Tuple, int],
) -> dict[str, Any]:
    given = {"input": model.node.call, "format": "sql", "rows": _twice(_given(model, cases))}
    return {
        "name": f"{model.release}_{name}",
        "model": model.model,
        "description": spaced(words),
        "config": {"enabled": _ENABLED, "meta": {"privacy": Flow(generated=True)}},
        "versions": Flow(include=[model.version]),
        "overrides": {"macros": _without_chance(model)},
        "given": [given],
        "expect": _expected(model, groups),
    }


def _without_chance(model: ReleaseModel) -> dict[str, Any]:
    """What a test puts in the place of the sample, or of the noise, and of the secret."""
    found = {"is_incremental": False, "policy_engine.in_sample": "true"}
    if "policy_engine.secret()" in model.text:
        found["policy_engine.secret"] = "''"
    if model.policy.noise is not None:
        shown = {"in_sample": f"policy_engine_n >= {model.least_shown}", "noise": "0"}
        found |= {f"policy_engine.{name}": text for name, text in shown.items()}
    return found


def _twice(text: str) -> Block:
    """SQL as dbt reads it: rendered once as YAML, and once as SQL."""
    return Block(escaped(escaped(text)))


def cases_of(model: ReleaseModel) -> list[Case]:
    """The cases of a test; none where the person's key is itself released."""
    policy, table = model.policy, model.table
    read = read_columns(policy, table)
    recodings = dict(policy.recodings)
    key = str(policy.source.key).lower()
    if any(found.source.name.lower() == key for found in read.values()):
        return []
    shown = {name: examples(recodings[name], read[name]) for name in read}
    longest = max(map(len, shown.values()), default=1)
    k = model.least_shown
    most = max(3, _MOST_PEOPLE // k)
    chosen = [
        {name: each[number % len(each)] for name, each in shown.items()}
        for number in range(min(longest, most))
    ]
    cases = [_case(model, number, k, each) for number, each in enumerate(chosen, 1)]
    free = _free(model, shown, {case.released for case in cases})
    if free is not None:
        cases.append(_case(model, len(cases) + 1, k - 1, free))
    second = _second_row(model, cases)
    return cases if second is None else [*cases, second]


def _case(model: ReleaseModel, person: int, people: int, chosen: Mapping[str, Example]) -> Case:
    """The people of a choice of examples, by the policy's name for each column."""
    read = read_columns(model.policy, model.table)
    released = tuple(
        recoding.label if isinstance(recoding, Constant) else chosen[name].released
        for name, recoding in model.policy.recodings
    )
    values: dict[str, str | None] = {read[n].source.name: e.raw for n, e in chosen.items()}
    for column in _ordering(model):
        values.setdefault(column.name, next(iter(ordinary(column)), None))
    return Case(person, people, values, released)


def _ordering(model: ReleaseModel) -> list[Column]:
    """The columns by which one row of a person is chosen."""
    found = (model.table.find(name) for name, _ in model.policy.source.order_by)
    return [column for column in found if column is not None]


def _free(
    model: ReleaseModel, shown: Mapping[str, Sequence[Example]], taken: set[Tuple | None]
) -> dict[str, Example] | None:
    """Examples that are released as nobody of the other cases is."""
    for combination in islice(product(*shown.values()), _TRIED):
        chosen = dict(zip(shown, combination, strict=True))
        if chosen and _case(model, 0, 0, chosen).released not in taken:
            return chosen
    return None


def _second_row(model: ReleaseModel, cases: Sequence[Case]) -> Case | None:
    """A row of the first case's people that comes behind the one they have."""
    source, first = model.policy.source, cases[0]
    ordered = source.order_by
    if source.unique or not ordered or not first.values:
        return None
    found = model.table.find(ordered[0][0])
    if found is None or first.values.get(found.name) is None:
        return None
    other = next((case for case in cases if case.released != first.released), None)
    if other is None:
        return None
    last = behind(first.values[found.name], found, descending=ordered[0][1] == "desc")
    return replace(first, values={**other.values, found.name: last}, released=None)


def _groups(cases: Sequence[Case], k: int) -> dict[Tuple, int]:
    """The groups that are released, and their counts."""
    counts: Counter[Tuple] = Counter()
    for case in cases:
        assert case.released is not None
        counts[case.released] += case.people
    return {group: count for group, count in counts.items() if count >= k}


def _given(model: ReleaseModel, cases: Sequence[Case]) -> str:
    """The rows of the source, as a query."""
    names = list(cases[0].values)
    person, people = (fresh(word, names) for word in ("person", "people"))
    rows = [
        {person: case.person, people: case.people, **{n: case.values[n] for n in names}}
        for case in cases
    ]
    writer = _Writer(model)
    copy, digits = writer.copies(model.least_shown)
    items, key = [], model.policy.source.key
    if key is not None:
        found = model.table.find(key)
        own = found.name if found is not None else key
        number = f"{10**digits} * {writer.of('cases', person)} + {copy}"
        items = [f"CAST({number} AS {engine_type(WHOLE, model.dialect)}) AS {writer.name(own)}"]
    for name in names:
        column = model.table.find(name)
        assert column is not None
        kind = model.columns.native(name)
        if column.kind in {Kind.TEXT, Kind.LABEL}:
            kind = engine_type(TEXT, model.dialect)
        items.append(f"CAST({writer.of('cases', name)} AS {kind}) AS {writer.name(name)}")
    return writer.query(items, rows, people, model.least_shown)


def _expected(model: ReleaseModel, groups: Mapping[Tuple, int]) -> dict[str, Any]:
    columns, release = model.policy.columns, model.policy.release
    if release.form == "counts" or not groups:
        return {
            "rows": [
                Flow({**dict(zip(columns, map(_rendered, group), strict=True)),
                      release.count_as: count})
                for group, count in groups.items()
            ]
        }  # fmt: skip
    people = fresh("people", columns)
    rows: list[dict[str, Any]] = [
        {people: count, **dict(zip(columns, group, strict=True))} for group, count in groups.items()
    ]
    writer = _Writer(model)
    items = [
        f"CAST({writer.of('cases', name)} AS {model.types[name]}) AS {writer.name(name)}"
        for name in columns
    ]
    text = writer.query(items, rows, people, max(groups.values()))
    return {"format": "sql", "rows": _twice(text)}


def _rendered(value: str | None) -> str | None:
    return None if value is None else escaped(value)


@dataclass
class _Writer:
    """Queries of literals, a line a case; names and texts are the dialect's."""

    model: ReleaseModel
    _texts: dict[str, str] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """A name in quotes."""
        return self._written(f'"{name}', exp.to_identifier(name, quoted=True))

    def _written(self, key: str, node: exp.Expr) -> str:
        """A node as the dialect writes it; the same values stand in many cases."""
        if key not in self._texts:
            self._texts[key] = node.sql(dialect=parser_of(self.model.dialect.name))
        return self._texts[key]

    def of(self, table: str, name: str) -> str:
        """A column of a table."""
        return f"{table}.{self.name(name)}"

    def value(self, value: object) -> str:
        """A literal."""
        if value is None:
            return "NULL"
        if isinstance(value, str):
            return self._written(f"'{value}", exp.Literal.string(value))
        return str(value)

    def copies(self, most: int) -> tuple[str, int]:
        """The number of a copy, below ``most``, of its digits; and how many digits there are."""
        digits = len(str(most - 1))
        terms = [f"{f'{10**n} * ' if n else ''}digit_{n}.n" for n in range(digits)]
        return " + ".join(terms), digits

    def query(
        self, items: Sequence[str], rows: Sequence[Mapping[str, object]], people: str, most: int
    ) -> str:
        """``items`` of every row as often as its column ``people`` says."""
        copy, digits = self.copies(most)
        first = ", ".join(f"{self.value(v)} AS {self.name(n)}" for n, v in rows[0].items())
        others = [f"UNION ALL SELECT {', '.join(map(self.value, r.values()))}" for r in rows[1:]]
        ten = "SELECT 0 AS n" + "".join(f" UNION ALL SELECT {n}" for n in range(1, 10))
        lines = ["SELECT", *(f"  {item}," for item in items)]
        lines[-1] = lines[-1].rstrip(",")
        lines += ["FROM (", f"  SELECT {first}", *(f"  {other}" for other in others), ") AS cases"]
        lines += [f"CROSS JOIN ({ten}) AS digit_{n}" for n in range(digits)]
        lines.append(f"WHERE {copy} < {self.of('cases', people)}")
        return "\n".join(lines)
