"""A generator of whole queries: mostly of the shapes that are releases, with odd things between.

Whatever it writes about, it draws from one random number generator, so that a seed is a text.
One choice in ``ODDS`` is an odd one: a construct that breaks a law, a name that hides another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

ODDS = 14
ALL = "99.99999997"
"""A rate below what the engine's random numbers can tell from 1, nearly."""

Columns = tuple[tuple[str, str], ...]
"""Names and kinds: t(ext), i(nteger), d(ate), b(oolean), k(ey), n (a count), o(ther)."""

PEOPLE: Columns = (
    ("id", "k"), ("household", "i"), ("sex", "t"), ("age", "i"), ("zip", "t"), ("race", "t"),
    ("hours", "i"), ("height", "o"), ("born", "d"), ("member", "b"), ("weight", "o"),
    ("name", "t"), ("marks", "o"), ("stay", "o"), ("select", "t"),
)  # fmt: skip
VISITS: Columns = (
    ("person_id", "k"), ("ward", "t"), ("day", "d"), ("cost", "t"), ("fever", "o"),
)  # fmt: skip

_TEXT = [
    "left({t}, 2)", "upper({t})", "{t} || 'x'", "coalesce({t}, '?')", "nullif({t}, '')",
    "case when {t} = 'F' then 'f' else {t} end", "case {t} when 'M' then 'm' end",
    "if({i} < 35, 'low', {t})", "{t}[1:2]", "concat({t}, '-', {t})", "trim({t})",
    "substring({t}, 1, 2)", "replace({t}, '9', 'x')", "case when {c} then {t} else 'z' end",
    "md5({t})", "strftime({d}, '%Y')", "cast({i} as varchar)", "regexp_extract({t}, '^[0-9]')",
]  # fmt: skip
_WHOLE = [
    "{i} // 10 * 10", "length({t})", "case when {i} < 40 then 0 when {i} >= 40 then 1 end",
    "year({d})", "try_cast({t} as integer)", "coalesce({i}, -1)", "greatest({i}, 30)",
    "{i} % 5", "abs({i})", "extract(month from {d})", "-{i}", "case when {c} then {i} end",
    "cast({b} as integer)", "dayofweek({d})", "round({i} / 10)", "try({i} // {i})",
]  # fmt: skip
_CONDITION = [
    "{t} = 'F'", "{i} >= 30", "{t} is not null", "{i} between 17 and 41", "not {b}", "{b}",
    "{t} in ('M', 'white', 'north')", "{t} like '9%'", "{d} < date '2000-01-01'", "1 = 1",
    "({c} or {c})", "({c} and {c})", "{i} is distinct from 30", "{t} <> {t}", "not ({c})",
    "{i} is null", "{t} is not distinct from {t}", "{t} not like '%x'",
]  # fmt: skip
_ODD_ROW = [
    "random()", "(select max(age) from people)", "row_number() over ()", "max({i})", "rowid",
    "lag({t}) over (order by {t})", "count(*) over ()", "now()", "first({t})", "{o}", "?",
    "rank() over (order by {i})", "nextval('s')", "{i} / 0", "cast({t} as integer)", "count(*)",
    "sum({i}) over (partition by {t})", "any_value({t})", "{t} collate nocase", "list({t})",
    "cast({t} as date)", "{i} * 1000000000", "quantile_cont({i}, 0.5)", "unnest({o})", "{k}",
]  # fmt: skip
_ODD_CONDITION = [
    "{k} in (select person_id from visits)", "exists (select 1 from visits)", "random() < 0.5",
    "{i} > (select avg(age) from people)", "rn = 2", "cast({t} as integer) > 1", "rowid < 20",
    "sha256(? || ':u:' || {t}) < 'c'", "{k} < 20", "row_number() over () < 20", "{t}", "{i}",
]  # fmt: skip
_ODD_TAIL = [
    " limit 2", " offset 1", " qualify row_number() over () < 3", " limit 50%",
    " using sample 3 rows", " using sample 50% (system)", " union all select {s}",
    " except select {s}", " order by random()",
]  # fmt: skip
_ODD_SOURCE = [
    "{s} tablesample system (50%)", "{s} tablesample 50%", "{s}, visits", "{s} join visits on true",
    "{s} left join visits on {k} = person_id", "{s} tablesample reservoir (10 rows)",
    "(select distinct * from {s})", "(select * from {s} limit 20)", "{s} positional join visits",
    "(select * from {s} union all select * from {s})", "{s} tablesample bernoulli (50%)",
    "{s} tablesample bernoulli (99.99999997%) repeatable (1)", "{s} semi join visits on true",
    "(select * from {s} where sex = 'F' union all select * from {s} where sex <> 'F')", "adults",
    "everyone", "sampled", "doubled", "grouped", "(from {s} using sample 99.99999997% (bernoulli))",
    "(select * from {s} order by 1)", "(pivot {s} on sex)", "lateral (select * from {s})",
]  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A query in the making: what it reads, and what that shows."""

    source: str
    table: str
    columns: Columns
    sampled: bool = False
    ranked: bool = False
    counted: bool = False


class Grammar:
    """Writes one query at a time."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.ctes: list[str] = []
        self.k = 3

    def query(self) -> str:
        """A query, and sometimes the table that is made of it."""
        self.ctes = []
        self.k = self.rng.choice([2, 3, 3, 4, 5])
        step = self._base()
        if self._often(0.7):
            step = self._sample(step)
        if step.table == "visits" and self._often(0.9):
            step = self._one_row(step)
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2])):
            step = self._projected(step)
        text = self._release(step)
        clause = f"with {', '.join(self.ctes)} " if self.ctes else ""
        create = self.rng.choice(["create table out as ", "create or replace table main.out as "])
        return (create if self._often(0.06) else "") + clause + text

    # Choices

    def _often(self, share: float) -> bool:
        return self.rng.random() < share

    def _odd(self) -> bool:
        return self.rng.randrange(ODDS) == 0

    def _name(self, name: str, table: str = "") -> str:
        if name == "select" or self._often(0.06):
            name = f'"{name}"'
        if self._often(0.04):
            name = name.upper()
        return f"{table}.{name}" if table and self._often(0.12) else name

    def _column(self, step: Step, kind: str) -> str:
        fitting = [name for name, k in step.columns if k == kind]
        other = [name for name, k in step.columns if k not in "kno"] or ["sex"]
        names = fitting if fitting and not self._often(0.03) else other
        return self._name(self.rng.choice(names), step.table)

    def _filled(self, template: str, step: Step, depth: int) -> str:
        text = template.replace("{s}", step.source)
        for kind in "tidbko":
            while f"{{{kind}}}" in text:
                text = text.replace(f"{{{kind}}}", self._part(step, kind, depth), 1)
        while "{c}" in text:
            text = text.replace("{c}", self.condition(step, depth + 1), 1)
        return text

    def _part(self, step: Step, kind: str, depth: int) -> str:
        if depth < 2 and kind in "ti" and self._often(0.15):
            return "(" + self.row(step, kind, depth + 1) + ")"
        return self._column(step, kind)

    def row(self, step: Step, kind: str = "", depth: int = 0) -> str:
        """An expression of one row."""
        if self._odd() and self._often(0.5):
            return self._filled(self.rng.choice(_ODD_ROW), step, depth)
        kind = kind or self.rng.choice("tti")
        return self._filled(self.rng.choice(_TEXT if kind == "t" else _WHOLE), step, depth)

    def condition(self, step: Step, depth: int = 0) -> str:
        """A condition on one row."""
        if self._odd() and self._often(0.5):
            return self._filled(self.rng.choice(_ODD_CONDITION), step, depth)
        simple = [c for c in _CONDITION if "{c}" not in c] if depth > 1 else _CONDITION
        return self._filled(self.rng.choice(simple), step, depth)

    # Steps

    def _base(self) -> Step:
        table, columns = self.rng.choice(
            [("people", PEOPLE), ("people", PEOPLE), ("visits", VISITS)]
        )
        source = self.rng.choice([table] * 8 + [f"main.{table}", table.upper(), f"{table} as p"])
        name = "p" if source.endswith(" p") else table
        if self._odd():
            source = (
                self.rng.choice(_ODD_SOURCE).replace("{s}", table).replace("{k}", columns[0][0])
            )
        return Step(source, name, columns)

    def _predicate(self, step: Step) -> str | None:
        keys = [name for name, kind in step.columns if kind == "k"]
        is_base = step.table in {"people", "visits", "p"}
        key = keys[0] if keys else "rowid"
        if not keys and not is_base:
            return None
        if (self._often(0.1) and step.table == "people") or self._odd():
            key = self.rng.choice(["rowid", "household", key, "zip"])
        key = self._name(key, step.table)
        # A table with few people passes a threshold where most of them are sampled.
        hexed = self.rng.choice(["c000", "b", "e0000000000000", "8", "f"])
        secret = self.rng.choice(["?", "?", "$salt", "$1"])
        if self._often(0.15):
            secret = "(select salt from privacy_secrets.salts where release_id = 'adult_v1')"
        cast = self.rng.choice([f"cast({key} as varchar)", key, f"{key}::text"])
        hashed = f"sha256({secret} || ':u:' || {cast})"
        drawn = f"{key} in (select unit from policy_engine_sample_{hexed[0]}00000000000000)"
        forms = [f"{hashed} < '{hexed}'"] * 5 + [drawn] * 3 + [f"'{hexed}' > {hashed}"]
        forms += [f"sha256(concat({secret}, ':u:', {cast})) < '{hexed}'", "random() < 0.9999999997"]
        if self._odd():
            forms = [f"{hashed} > '3'", f"sha256({cast}) < 'c'", f"({hashed} < 'c' or 1 = 0)"]
            forms += [f"sha256({secret} || {cast}) < 'c'", f"not {hashed} < 'c'"]
        return self.rng.choice(forms)

    def _sample(self, step: Step) -> Step:
        predicate = self._predicate(step)
        if (self._often(0.2) and step.source in {"people", "visits"}) or predicate is None:
            form = self.rng.choice([f"{ALL} percent", f"{ALL}%"])
            source = f"{step.source} tablesample bernoulli ({form})"
            return replace(step, source=source, sampled=True)
        where = [predicate]
        if self._often(0.3):
            where.append(self.condition(step))
        self.rng.shuffle(where)
        return self._wrapped(replace(step, sampled=True), "*", step.columns, " and ".join(where))

    def _one_row(self, step: Step) -> Step:
        order = self.rng.choice(["day", "day desc", "day desc, cost", "day, rowid", "ward, day"])
        key = "person_id" if not self._odd() else self.rng.choice(["ward", "day", "1"])
        window = f"row_number() over (partition by {key} order by {order}) as rn"
        if self._odd():
            window = window.replace("row_number", self.rng.choice(["rank", "dense_rank"]))
        ranked = self._wrapped(step, f"*, {window}", (*step.columns, ("rn", "x")), "")
        last = self.rng.choice(["rn = 1", "rn = 1", "rn <= 1", "1 = rn", "rn < 2"])
        if self._odd():
            last = self.rng.choice(["rn = 2", "rn >= 1", "rn <= 2", "true"])
        where = [last]
        if not step.sampled and self._often(0.3):
            predicate = self._predicate(ranked)
            where += [predicate] if predicate else []
            ranked = replace(ranked, sampled=True)
        if self._often(0.2):
            where.append(self.condition(ranked))
        columns = self.rng.choice(["*", "* exclude (rn)", "person_id, ward, day", "ward, day"])
        kept = [c for c in step.columns if columns[0] == "*" or c[0] in columns]
        return self._wrapped(ranked, columns, tuple(kept), " and ".join(where))

    def _wrapped(self, step: Step, items: str, columns: Columns, where: str) -> Step:
        text = f"select {items} from {step.source}" + (f" where {where}" if where else "")
        if self._odd() and self._often(0.4):
            text += self._filled(self.rng.choice(_ODD_TAIL), step, 2)
        name = self.rng.choice(["s", "q", "r", "people", "t"])
        if self._often(0.5) and not any(cte.startswith(f"{name} ") for cte in self.ctes):
            hint = self.rng.choice(["", "", "", "not materialized ", "materialized "])
            self.ctes.append(f"{name} as {hint}({text})")
            return replace(step, source=name, table=name, columns=columns)
        name = self.rng.choice(["s", "q", "r", "people", "t"])
        return replace(step, source=f"({text}) as {name}", table=name, columns=columns)

    def _projected(self, step: Step) -> Step:
        columns: list[tuple[str, str]] = []
        items = []
        if self._often(0.35):
            items.append(self._star(step, columns))
        for _ in range(self.rng.choice([1, 2, 3])):
            kind = self.rng.choice("tti")
            if self._often(0.4):
                name, kind = self.rng.choice(step.columns)
                items.append(self._name(name, step.table))
                columns.append((name, kind))
                continue
            alias = self.rng.choice(["sex", "zip", "age", "g", "h", "n", "rn", step.table])
            items.append(f"{self.row(step, kind)} as {self._name(alias)}")
            columns.append((alias, kind))
        columns += [c for c in step.columns if c[1] == "k" and c not in columns]
        items += [name for name, kind in step.columns if kind == "k" and "*" not in items[0]]
        where = self.condition(step) if self._often(0.3) else ""
        return self._wrapped(step, ", ".join(items), tuple(columns), where)

    def _star(self, step: Step, columns: list[tuple[str, str]]) -> str:
        names = [name for name, kind in step.columns if kind in "ti"]
        form = self.rng.randrange(4) if names else 0
        columns += step.columns
        if form < 2:
            return "*" if form or "." in step.table else f"{step.table}.*"
        name = self.rng.choice(names)
        if form == 2:
            columns[:] = [c for c in columns if c[0] != name]
            return f"* exclude ({self._name(name)})"
        return f"* replace ({self.row(step, dict(columns)[name])} as {self._name(name)})"

    # The release

    def _release(self, step: Step) -> str:
        if not step.sampled:
            predicate = self._predicate(step)
            if predicate is not None and step.ranked is False:
                return self._grouped(step, [predicate])
        return self._grouped(step, [])

    def _grouped(self, step: Step, where: list[str]) -> str:
        if self._often(0.25):
            step = self._counted(step, where)
            where = []
        items, keys, names = self._keys(step)
        if self._often(0.25):
            where.append(self.condition(step))
        count = self._count(step)
        alias = self.rng.choice(["n", "n", "n", "m", "age"])
        shown = [*items, f"{count} as {alias}"]
        if self._odd():
            shown.append(f"{self.row(step)} as extra")
        if self._often(0.05):
            shown = shown[:-1] or shown
        text = f"select {', '.join(shown)} from {step.source}"
        text += f" where {' and '.join(where)}" if where else ""
        text += f" group by {keys}" if keys else ""
        threshold = self._threshold(count, alias)
        if self._often(0.25) and not self._odd():
            return self._outside(text, names, alias, threshold)
        text += f" having {threshold}"
        if self._odd():
            text += self._filled(self.rng.choice(_ODD_TAIL), step, 2)
        elif self._often(0.4):
            text += " order by " + self.rng.choice(["all", "1", alias, *names])
        return text

    def _counted(self, step: Step, where: list[str]) -> Step:
        """Groups of raw columns, to be recoded and added up."""
        names = [c for c in step.columns if c[1] in "tidb"]
        chosen = self.rng.sample(names, min(len(names), self.rng.choice([1, 2, 3]))) or names[:1]
        items = ", ".join(f'"{name}"' if name == "select" else name for name, _ in chosen)
        count = "count(*)" if not self._odd() else self.rng.choice(["max(age)", "count(sex)"])
        clause = f" where {' and '.join(where)}" if where else ""
        text = f"select {items + ', ' if items else ''}{count} as c from {step.source}{clause}"
        inner = f"({text} group by all) as raw"
        return replace(step, source=inner, table="raw", columns=(*chosen, ("c", "n")), counted=True)

    def _keys(self, step: Step) -> tuple[list[str], str, list[str]]:
        items, names, bodies = [], [], []
        for place in range(self.rng.choice([0, 1, 1, 2, 2, 3])):
            kind = self.rng.choice("tti")
            body = self.row(step, kind) if self._often(0.55) else self._column(step, kind)
            alias = self.rng.choice(["sex", "zip", "a", "b", "g", "age", step.table])
            plain = body.replace('"', "").split(".")[-1]
            if plain.isidentifier() and self._often(0.7):
                alias = plain
                items.append(body)
            else:
                items.append(f"{body} as {alias}")
            names.append(f'"{alias}"' if alias == "select" else alias)
            bodies.append(self.rng.choice([body, str(place + 1), names[-1]]))
        forms = ["all", ", ".join(bodies), ", ".join(bodies)]
        if len(bodies) > 1 and self._odd():
            forms = [", ".join(bodies[1:]), f"rollup ({bodies[0]})", f"cube ({', '.join(bodies)})"]
        return items, self.rng.choice(forms), names

    def _count(self, step: Step) -> str:
        if self._odd():
            odd = ["count(*) + 1", "sum(age)", "max(age)", "count(sex)", "count(distinct sex)"]
            return self.rng.choice([*odd, "count(*) filter (where true)", "count(*) - 1"])
        if step.counted:
            return self.rng.choice(["sum(c)", "cast(sum(c) as bigint)"])
        return self.rng.choice(["count(*)", "count(*)", "count(1)", "count()", "COUNT(*)"])

    def _threshold(self, count: str, alias: str) -> str:
        k = self.k
        forms = [f"{count} >= {k}", f"{alias} >= {k}", f"{count} > {k - 1}", f"{k} <= {count}"]
        forms += [f"{count} between {k} and 1000", f"not {count} < {k}", f"{alias} >= {k}.0"]
        forms += [f"{count} >= {k} and {alias} % 2 = 0", f"{count} >= {k} and true"]
        if self._odd():
            forms = [f"{count} >= 1", f"{count} >= {k} or true", f"{count} <= {k}", "true"]
            forms += [f"{count} = {k}", f"max(age) >= {k}", f"{count} >= {k} or {alias} = 1"]
        return self.rng.choice(forms)

    def _outside(self, text: str, names: list[str], alias: str, threshold: str) -> str:
        """The threshold around the groups, and what is made of what passes."""
        if self._often(0.5):
            text += f" having {threshold}"
            where = ""
        else:
            where = f" where {alias} >= {self.k}"
        inner = f"({text}) as g"
        forms = ["*", ", ".join([*names, alias]), f"*, {alias} * 10 as tens"]
        if names and where == "":
            forms.append(f"{', '.join(names)}, unnest(range({alias})) as i")
        if self._odd():
            forms = [f"{alias}, lag({alias}) over (order by {alias}) as before"]
            forms += [f"*, count(*) over () as groups, sum({alias}) over () as everybody"]
            forms += ["*, row_number() over () as place", f"*, unnest(range({alias} + 1)) as i"]
            forms += [f"*, unnest(range({alias} - 1)) as i", f"sum({alias}) as total"]
        items = self.rng.choice(forms)
        tail = " order by all" if self._often(0.3) else ""
        if "unnest" in items and names and self._often(0.7):
            shown = ", ".join(names)
            return f"select {shown} from (select {items} from {inner}{where}) as h{tail}"
        return f"select {items} from {inner}{where}{tail}"


def query(seed: int | str) -> str:
    """The text of ``seed``.

    >>> query(1) == query(1)
    True
    """
    return Grammar(random.Random(f"grammar {seed}")).query()
