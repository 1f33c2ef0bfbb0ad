"""Families of texts that grow: where the kernel's time grows faster than they do, it shows."""
# ruff: noqa: E501  # tables and texts of SQL, one a line, are read better whole

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import fuzz_texts  # noqa: F401  # puts the corpus on the path
from corpus import SCHEMA

from policy_engine.errors import PolicyError
from policy_engine.policy.loading import load_policy_text
from policy_engine.verify.proof import prove

_HEAD = "from people tablesample bernoulli (10%)"
_TAIL = "group by all having count(*) >= 20"


def _row(body: str) -> str:
    return f"select {body} as x, count(*) as n {_HEAD} {_TAIL}"


def _chain(n: int, body: str) -> str:
    """A chain of queries, each of which reads the one before."""
    steps = [f"q0 as (select zip as x0, sex, age {_HEAD})"]
    steps += [f"q{i} as (select {body.format(i=i, p=i - 1)} from q{i - 1})" for i in range(1, n)]
    return f"with {', '.join(steps)} select x{n - 1}, count(*) as n from q{n - 1} {_TAIL}"


FAMILIES: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: _row("(" * n + "zip" + ")" * n),
    "open parentheses": lambda n: "select " + "(" * n,
    "not": lambda n: f"select sex, count(*) as n {_HEAD} where {'not ' * n} member {_TAIL}",
    "and": lambda n: f"select sex, count(*) as n {_HEAD} where {' and '.join(['age > 3'] * n)} {_TAIL}",
    "or": lambda n: f"select sex, count(*) as n {_HEAD} where {' or '.join(['age > 3'] * n)} {_TAIL}",
    "sum": lambda n: _row(" + ".join(["age"] * n)),
    "concat": lambda n: _row(" || ".join(["zip"] * n)),
    "minus": lambda n: _row("- " * n + "age"),
    "case branches": lambda n: _row("case " + "".join(f"when age = {i} then {i} " for i in range(n)) + "end"),
    "nested case": lambda n: _row("case when age > 3 then " * n + "1" + " else 2 end" * n),
    "in list": lambda n: _row(f"age in ({', '.join(map(str, range(n)))})"),
    "functions": lambda n: _row("upper(" * n + "zip" + ")" * n),
    "casts": lambda n: _row("zip" + "::varchar" * n),
    "columns": lambda n: f"select {', '.join(f'left(zip, {i}) as c{i}' for i in range(1, n + 1))}, count(*) as n {_HEAD} {_TAIL}",
    "columns by name": lambda n: f"select {', '.join(f'left(zip, {i}) as c{i}' for i in range(1, n + 1))}, count(*) as n {_HEAD} group by {', '.join(f'c{i}' for i in range(1, n + 1))} having count(*) >= 20",
    "aliases in a row": lambda n: f"select x{n - 1}, count(*) as n from (select zip as x0, {', '.join(f'upper(x{i - 1}) as x{i}' for i in range(1, n))} {_HEAD}) {_TAIL}",
    "aliases doubled": lambda n: f"select x{n - 1}, count(*) as n from (select zip as x0, {', '.join(f'coalesce(x{i - 1}, x{i - 1}) as x{i}' for i in range(1, n))} {_HEAD}) {_TAIL}",
    "aliases of groups doubled": lambda n: f"select zip as x0, {', '.join(f'coalesce(x{i - 1}, x{i - 1}) as x{i}' for i in range(1, n))}, count(*) as n {_HEAD} group by zip having count(*) >= 20",
    "queries": lambda n: _chain(n, "x{p} as x{i}"),
    "queries doubled": lambda n: _chain(n, "coalesce(x{p}, x{p}) as x{i}"),
    "queries of all": lambda n: _chain(n, "*, x{p} as x{i}"),
    "queries nested": lambda n: f"select sex, count(*) as n from {'(select * from ' * n}people tablesample bernoulli (10%){')' * n} {_TAIL}",
    "queries in queries": lambda n: "".join(f"with q{i} as (" for i in range(n)) + f"select sex {_HEAD}" + "".join(f") select sex from q{i}" for i in reversed(range(1, n))) + f") select sex, count(*) as n from q0 {_TAIL}",
    "stars": lambda n: f"select {', '.join(['*'] * n)} from people",
    "keys": lambda n: f"select sex, count(*) as n {_HEAD} group by {', '.join(['sex'] * n)} having count(*) >= 20",
    "having": lambda n: f"select sex, count(*) as n {_HEAD} group by sex having {' and '.join(['count(*) >= 20'] * n)}",
    "order": lambda n: f"select sex, count(*) as n {_HEAD} group by sex having count(*) >= 20 order by {', '.join(['sex'] * n)}",
    "a long text": lambda n: _row("'" + "x" * n + "'"),
    "a long number": lambda n: _row("9" * n),
    "a long name": lambda n: f"select sex as {'x' * n}, count(*) as n {_HEAD} {_TAIL}",
    "a long comment": lambda n: f"/* {'x' * n} */ {_row('sex')}",
    "comments": lambda n: "/**/" * n + _row("sex"),
    "lines": lambda n: "\n" * n + _row("sex"),
    "findings": lambda n: f"select {', '.join(f'now() as c{i}' for i in range(n))} from people",
    "findings in lines": lambda n: "select " + ",\n".join(f"now() as c{i}" for i in range(n)) + " from people",
    "statements": lambda n: "select 1;" * n,
    "semicolons": lambda n: ";" * n,
    "odd letters": lambda n: "\u00e9" * n,
    "slashes": lambda n: "/" * n,
    "quotes": lambda n: "'" * n,
    "brackets": lambda n: _row("zip" + "[1:2]" * n),
    "unions": lambda n: " union all ".join(["select sex from people"] * n),
    "joins": lambda n: "select * from people" + " join people using (id)" * n,
    "types": lambda n: _row("cast(zip as integer" + "[]" * n + ")"),
    "struct type": lambda n: _row("cast(zip as " + "struct(a " * n + "int" + ")" * n + ")"),
    "windows": lambda n: f"select {', '.join(f'row_number() over (partition by person_id) as r{i}' for i in range(n))} from visits",
    "replaced columns": lambda n: f"select count(*) from (select * replace ({', '.join(['left(zip, 1) as zip'] * n)}) {_HEAD}) having count(*) >= 20",
    "pattern": lambda n: _row("regexp_matches(zip, '" + "(a*)*" * n + "')"),
    "open pattern": lambda n: _row("regexp_matches(zip, '" + "(" * n + "')"),
    "like": lambda n: _row("zip like '" + "%a" * n + "'"),
    "dots": lambda n: f"select {'.'.join(['a'] * n)} from people",
    "tables dots": lambda n: f"select 1 from {'.'.join(['a'] * n)}",
}  # fmt: skip

_POLICY = """\
version: 1
name: p
source: {file: a.parquet}
privacy_unit: row
recode: {recode}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9}
release: {file: b.parquet, as: counts}
"""


def _policy(recode: str) -> str:
    return _POLICY.replace("{recode}", recode)


POLICY_FAMILIES: dict[str, Callable[[int], str]] = {
    "columns": lambda n: _policy("{" + ", ".join(f"c{i}: keep" for i in range(n)) + "}"),
    "columns alike": lambda n: _policy("{" + ", ".join(["c: keep"] * n) + "}"),
    "bins": lambda n: _policy("{a: {bins: [" + ", ".join(map(str, range(n))) + "]}}"),
    "bins unsorted": lambda n: _policy("{a: {bins: [" + ", ".join(map(str, range(n, 0, -1))) + "]}}"),
    "map": lambda n: _policy("{a: {map: {" + ", ".join(f"k{i}: v" for i in range(n)) + "}, other: x}}"),
    "unknown keys": lambda n: _policy("{a: {" + ", ".join(f"k{i}: v" for i in range(n)) + "}}"),
    "nested lists": lambda n: "[" * n,
    "nested maps": lambda n: "{a: " * n,
    "dashes": lambda n: "- " * n,
    "questions": lambda n: "? " * n,
    "aliases": lambda n: "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, n)),
    "merged": lambda n: "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, n)),
    "a long text": lambda n: _policy("{a: {constant: " + "x" * n + "}}"),
    "a long number": lambda n: _policy("{a: {bins: [" + "9" * n + "]}}"),
    "lines": lambda n: "\n" * n,
    "documents": lambda n: "---\n" * n,
    "quotes": lambda n: "'" * n,
    "anchors": lambda n: " ".join(f"&a{i}" for i in range(n)),
    "tags": lambda n: "!!str " * n,
    "spaces": lambda n: " " * n + "a: 1",
    "folded": lambda n: "a: >\n" + "  x\n\n" * n,
}  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """How long the longest text of a family took, and how the time grew."""

    family: str
    size: int
    seconds: float
    exponent: float

    @property
    def seconds_a_kilobyte(self) -> float:
        """CPU seconds for each 1,024 bytes; one second is allowed for any text."""
        return self.seconds / max(1.0, self.size / 1024)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _runs(target: str) -> Iterator[tuple[str, Callable[[int], str], Callable[[str], object]]]:
    if target == "policy":
        for name, family in POLICY_FAMILIES.items():
            yield name, family, _load
        return
    for name, family in FAMILIES.items():
        yield name, family, lambda text: prove(text, None)
        yield f"{name}, known", family, lambda text: prove(text, SCHEMA)


def _load(text: str) -> None:
    with suppress(PolicyError):
        load_policy_text(text, "p.yaml", "/nowhere")


def timings(target: str, *, most: float = 4.0, largest: int = 64_000) -> Iterator[Timing]:
    """Each family at doubled sizes, until a text takes ``most`` seconds or is ``largest``."""
    for name, family, run in _runs(target):
        n, before, exponent = 25, 0.0, 0.0
        while True:
            text = family(n)
            seconds = _seconds(lambda: run(text))  # noqa: B023  # run at once
            if before > 0.02:
                exponent = math.log2(max(seconds, 1e-9) / before)
            if seconds > most or len(text) >= largest:
                yield Timing(name, len(text.encode()), seconds, exponent)
                break
            n, before = n * 2, seconds
