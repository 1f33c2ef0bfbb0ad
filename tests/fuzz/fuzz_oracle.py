"""What a proof says of a text, held against what DuckDB does with it.

The certified mechanism (theory.md) has consequences that show on small tables, exactly, once
the sample is fixed by a secret:

* *count*: a released row counts the sampled units of its group, and at least k of them;
* *locality*: one unit more changes the one group that it belongs to, and that by one;
* *absence*: a unit that is not in the sample changes nothing, not even an error;
* *order*: where the proof says that the rows are ordered, the order of the source is not seen.

The sample is recomputed here, from the rate and the unit of the proof and SHA-256 alone.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import duckdb
from fuzz_rows import PEOPLE, VISITS, Unit
from fuzz_world import RELEASES, Database, Failed, World

from policy_engine.relations.shape import ReleaseShape
from policy_engine.verify.proof import Proof

Rows = list[tuple[object, ...]]

NAMES = {"people": set(PEOPLE), "visits": set(VISITS)}
KEYS = {"people": {"id"}, "visits": {"person_id"}}
DOUBTS = ("fails on no row", "of their own type only")
EVERYBODY = Fraction(1) - Fraction(1, 10**8)
_DRAWN = re.compile(r"policy_engine_sample_[0-9a-f]{15}", re.IGNORECASE)
# DuckDB 2.0.0 stumbles over its own rewriting of some conditions, whatever the rows hold.
ENGINE_FAULTS = ("InternalException", "did not return a BoundFunctionExpression")
_TRIES = 4
AFTER = "a function of "
"""What the proof says of a column that is made of nothing but what is released."""
_RELEASE = re.compile(r"release_id = '([^']*)'", re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """What came of one text: it was checked, or why not, or what is wrong with its proof."""

    checked: bool = False
    skipped: str = ""
    wrong: str = ""


class Wrong(Exception):
    """A consequence of the proof does not hold."""


class Skip(Exception):
    """The text cannot be judged on these tables."""


def judge(text: str, proof: Proof, world: World, secret: str, units: int = 99) -> Verdict:
    """Whether the consequences of ``proof`` hold for ``text`` in ``world``, under ``secret``.

    So many ``units``, which ``secret`` chooses, are added, one at a time.
    """
    assert proof.shape is not None
    native = proof.shape.method in {"native", "random"}
    verdict = Verdict()
    # A native sample of all but 3 in 10¹⁰ is all, but for one time in a million.
    for _ in range(_TRIES if native else 1):
        try:
            _Case(text, proof, world, secret).check(units)
        except Skip as reason:
            return Verdict(skipped=str(reason))
        except Wrong as reason:
            verdict = Verdict(True, wrong=str(reason))
        else:
            return Verdict(True)
    return verdict


class _Case:
    def __init__(self, text: str, proof: Proof, world: World, secret: str) -> None:
        assert proof.shape is not None
        self.text, self.proof, self.world, self.secret = text, proof, world, secret
        self.shape: ReleaseShape = proof.shape
        self.table = table_of(self.shape)
        self.native = self.shape.method in {"native", "random"}
        if self.native and self.shape.rate < EVERYBODY:
            raise Skip("a native sample")
        if set(_RELEASE.findall(text)) - set(RELEASES):
            raise Skip("a secret that is not there")
        self._check_assumptions()
        self.by_row = self.shape.unit == "row"
        self.place = "rowid" if self.by_row else '"' + self.shape.unit.replace('"', '""') + '"'
        self.known = [
            column for column in self.shape.columns if not column.sql.startswith("a function of")
        ]
        shown = list(self.shape.shown)
        self.at = [shown.index(column.name) for column in self.known]
        self.count = None if self.shape.count is None else shown.index(self.shape.count)
        # What is made of released rows alone, as their total, may change in all of them.
        self.after = {shown.index(c.name) for c in self.shape.columns if c.sql == AFTER}

    def check(self, units: int) -> None:
        """Every consequence, one after the other.

        Raises:
            Skip, Wrong.
        """
        rows = self._run(self.world.base)
        self._check_threshold(rows)
        self._check_reference(rows)
        self._check_order(rows)
        more = self.world.more(self.table)
        for unit in random.Random(self.secret).sample(more, min(units, len(more))):
            self._check_unit(rows, unit)

    # The sample

    def _check_assumptions(self) -> None:
        for text in self.proof.assumptions:
            _, _, name = text.partition(" has no column of its own called ")
            if name in NAMES[self.table]:
                raise Skip("an assumption that is not so: a column's name")
            unit, _, of = text.partition(" is unique in ")
            if of and not self._is_unique(unit):
                raise Skip("an assumption that is not so: a unique key")
            if " is never NULL in " in text and "" in self.world.keys(self.table):
                raise Skip("an assumption that is not so: a key is NULL")
            key, whole, _ = text.partition(" is a whole number, a UUID, or text")
            if whole and key in {"weight", "fever", "day", "born", "seen"}:
                raise Skip("an assumption that is not so: a plain key")

    def _is_unique(self, unit: str) -> bool:
        return unit == "id" or (unit == "person_id" and self.world.alone)

    def _is_doubted(self) -> bool:
        return any(doubt in text for text in self.proof.assumptions for doubt in DOUBTS)

    def _never_null(self) -> bool:
        return any(" is never NULL in " in text for text in self.proof.assumptions)

    def _is_sampled(self, unit: object) -> bool:
        if unit is None:
            return False
        if self.native:
            return True
        digest = hashlib.sha256(f"{self.secret}:u:{unit}".encode()).hexdigest()
        return Fraction(int(digest, 16), 1 << 256) < self.shape.rate

    def _sampled(self, database: Database) -> list[str]:
        """The units of ``database`` that are in the sample, as text."""
        query = f"select distinct cast({self.place} as varchar) from {self.table}"
        if self.native and not self.by_row:
            raise Skip("a native sample of persons")
        units = [unit for (unit,) in database.con.execute(query).fetchall()]
        return [unit for unit in units if self._is_sampled(unit)]

    def _run(self, database: Database) -> Rows:
        names = set(_DRAWN.findall(self.text))
        statements = []
        if names:
            values = ", ".join(
                "('" + unit.replace("'", "''") + "')" for unit in self._units(database)
            )
            made = f"select cast(unit as bigint) as unit from (values {values}) as v(unit)"
            statements = [f'create or replace temp table "{name}" as {made}' for name in names]
        try:
            return database.run(self.text, self.secret, statements)
        except Failed as failure:
            self._check_failure(failure, database, statements)
            raise

    def _units(self, database: Database) -> list[str]:
        return self._sampled(database) or ["-1"]

    def _check_failure(self, failure: Failed, database: Database, drawn: Sequence[str]) -> None:
        """What fails on no row tells nothing; what fails on some tells that they are there."""
        if not failure.bound:
            raise Skip("a text that the engine refuses")
        if any(fault in str(failure) for fault in ENGINE_FAULTS):
            raise Skip("a fault of the engine")
        if self._is_doubted():
            raise Skip("an assumption that is not so: something fails")
        if self._fails((), drawn):
            raise Skip("a text that fails on every table")
        for unit in (*self.world.units(self.table), *self.world.more(self.table)):
            if self._fails((unit,), drawn):
                raise Wrong(f"an error that one row makes: {failure}")
        # What is released may fail as it likes: a unit alone is never released.
        raise Skip("a text that fails on what it releases")

    def _fails(self, units: Sequence[Unit], drawn: Sequence[str]) -> bool:
        try:
            self.world.empty.run(self.text, self.secret, drawn, units)
        except Failed:
            return True
        return False

    # The consequences

    def _check_threshold(self, rows: Rows) -> None:
        if self.shape.form == "rows":
            counts = Counter(map(repr, (self._seen(row) for row in rows)))
            if any(n < self.shape.k for n in counts.values()):
                raise Wrong(f"fewer than k = {self.shape.k} equal rows")
        elif self.count is not None and any(row[self.count] < self.shape.k for row in rows):  # type: ignore[operator]
            raise Wrong(f"a count below k = {self.shape.k}")

    def _own(self, rows: Rows) -> Rows:
        """Rows with nothing in the columns that are made of the others."""
        return [tuple(None if n in self.after else v for n, v in enumerate(row)) for row in rows]

    def _seen(self, row: tuple[object, ...]) -> tuple[object, ...]:
        """The columns of a row that the proof gives as SQL."""
        return tuple(row[place] for place in self.at)

    def _check_reference(self, rows: Rows) -> None:
        """Counts are those of the sampled units, computed from the proof alone."""
        wanted = self._reference()
        if wanted is None:
            return
        found: Counter[str] = Counter()
        for row in rows:
            count = 1 if self.shape.form == "rows" else 0 if self.count is None else row[self.count]
            found[repr(self._seen(row))] += count  # type: ignore[operator]
        for seen, count in found.items():
            if count > wanted[seen]:
                raise Wrong(f"counts {count} where the sample has {wanted[seen]} units")
        whole = len(self.known) == len(self.shape.columns) and self.shape.hidden == ()
        if not whole or self.shape.filtered:
            return
        passing = {seen: n for seen, n in wanted.items() if n >= self.shape.k}
        if self.count is not None or self.shape.form == "rows":
            if dict(found) != passing:
                raise Wrong(f"rows {dict(found)} instead of {passing}")
        elif set(found) != set(passing):
            raise Wrong(f"groups {set(found)} instead of {set(passing)}")

    def _reference(self) -> Counter[str] | None:
        """How many sampled units show each value of the columns whose SQL is known."""
        ranked = self._one_row()
        if ranked is None:
            return None
        con = self.world.base.con
        units = self._units(self.world.base)
        con.execute("create or replace temp table sampled (unit varchar)")
        con.execute("insert into sampled select unnest(?::varchar[])", [units])
        columns = ", ".join(column.sql for column in self.known) or "1"
        query = f"select {columns}, count(*) from ({ranked}) group by all"
        try:
            groups = con.execute(query).fetchall()
        except duckdb.Error:
            # It fails on rows that the text filters out, or the proof doubts it.
            if not self.shape.filtered and not self._is_doubted():
                raise Wrong("the SQL of the proof's columns does not run") from None
            return None
        wanted: Counter[str] = Counter()
        for *values, count in groups:
            wanted[repr(tuple(values if self.known else ()))] += count
        return wanted

    def _one_row(self) -> str | None:
        inside = f"cast({self.place} as varchar) in (select unit from sampled)"
        query = f"select * from {self.table} where {inside}"
        if not self.shape.one_row:
            return query
        terms = self.shape.rank_order
        # Days are unique: an order by day first decides everything.
        if not terms or terms[0].name != "day" or self.shape.filtered:
            return None
        way = "desc" if terms[0].descending else "asc"
        nulls = "nulls first" if terms[0].nulls_first else "nulls last"
        order = f"day {way} {nulls}"
        return f"{query} qualify row_number() over (partition by {self.place} order by {order}) = 1"

    def _check_order(self, rows: Rows) -> None:
        """Rows stored in another order give the same release."""
        if (self.by_row and not self.native) or self.shape.one_row:
            return
        others = self._run(self.world.shuffled)
        if Counter(map(repr, rows)) != Counter(map(repr, others)):
            raise Wrong("the order in which the source is stored changes the rows")
        if self.shape.ordered and list(map(repr, rows)) != list(map(repr, others)):
            raise Wrong("the order in which the source is stored shows in the release")

    def _check_unit(self, rows: Rows, unit: Unit) -> None:
        """One unit more, and nobody else's group changes."""
        twin = self.world.twin(unit)
        sampled = self._unit_is_sampled(unit, twin)
        if sampled is None:
            return
        others = self._run(twin)
        whole, rows = rows, self._own(rows)
        changed, others = others, self._own(others)
        before, after = Counter(map(repr, rows)), Counter(map(repr, others))
        whole_rows_are_seen = self.count is not None and not self.shape.hidden
        same = Counter(map(repr, whole)) == Counter(map(repr, changed))
        if before == after and whole_rows_are_seen and not same:
            raise Wrong("what is made of the released rows alone changes without them")
        if before == after:
            return
        if not sampled:
            raise Wrong(f"a unit outside the sample changes the release: {unit}")
        self._check_threshold(others)
        lost = _rows_of(before - after, rows)
        gained = _rows_of(after - before, others)
        if self.shape.form == "rows":
            self._check_copies(lost, gained, len(others) - len(rows))
        else:
            self._check_counts(lost, gained)

    def _unit_is_sampled(self, unit: Unit, twin: Database) -> bool | None:
        """None where a twin with that unit is no neighbour that the proof speaks of."""
        if self.by_row:
            # Rows that come together are one unit only where they are one row.
            if len(unit.rows) > 1:
                return None
            if self.native:
                return True
            (place,) = twin.con.execute(f"select max(rowid) from {self.table}").fetchone() or (0,)
            return self._is_sampled(place)
        if self.shape.unit not in KEYS[self.table]:
            return None
        if not unit.key:
            return None if self._never_null() else False
        sampled = self._is_sampled(unit.key)
        if unit.key in self.world.keys(self.table):
            return None if sampled or not self.shape.one_row else False
        return sampled

    def _check_counts(self, lost: Rows, gained: Rows) -> None:
        if len(lost) > 1 or len(gained) > 1:
            raise Wrong(f"one unit changes {max(len(lost), len(gained))} rows: {lost} → {gained}")
        if lost and gained:
            if repr(self._seen(lost[0])) != repr(self._seen(gained[0])):
                raise Wrong(f"one unit moves a row to another group: {lost} → {gained}")
            if self.count is not None and gained[0][self.count] != lost[0][self.count] + 1:  # type: ignore[operator]
                raise Wrong(f"one unit is counted otherwise than once: {lost} → {gained}")
        elif not self.shape.filtered:
            if lost:
                raise Wrong(f"one unit more, and a group is gone: {lost}")
            if self.count is not None and gained[0][self.count] != self.shape.k:
                raise Wrong(f"a group appears with a count above k: {gained}")

    def _check_copies(self, lost: Rows, gained: Rows, more: int) -> None:
        if len({repr(self._seen(row)) for row in lost + gained}) > 1:
            raise Wrong(f"one unit changes several groups: {lost} → {gained}")
        if not self.shape.filtered and more not in {1, self.shape.k}:
            raise Wrong(f"one unit gives {more} rows more")


def _rows_of(counts: Counter[str], rows: Rows) -> Rows:
    by_text = {repr(row): row for row in rows}
    return [by_text[text] for text in counts.elements()]


def table_of(shape: ReleaseShape) -> str:
    """The table of the worlds that a text reads.

    Raises:
        Skip: it reads another.
    """
    name = shape.source.rsplit("/", 1)[-1].removesuffix(".parquet").split(".")[-1].lower()
    if name not in NAMES:
        raise Skip("a source that the worlds do not have")
    return name
