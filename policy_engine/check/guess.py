"""A stranger's text → the claim that it may mean, and what of it was not understood.

As generous as it likes, for nobody trusts it: what is understood is printed anew, and only the
print is certified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from policy_engine.check import laws, levels
from policy_engine.check.afterwards import Halves, halves_of, remade
from policy_engine.check.columns import TypesOf, recoded, types_beside, types_of_engine
from policy_engine.check.findings import Breach, Position, position
from policy_engine.check.joins import LookedUp
from policy_engine.check.printed_text import Types
from policy_engine.check.recodings import Pieces, Reading, columns_in, condition_of, reading_of
from policy_engine.check.values import NotUnderstood, points_in, truth_of
from policy_engine.check.words import number_of
from policy_engine.compile.catalog import fresh
from policy_engine.compile.claims import recode_of
from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.engines.types import parser_of
from policy_engine.errors import Finding
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.claim import KEPT, Claim, Shown
from policy_engine.kernel.filters import none_of
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed, Law, Native, Secret
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sentences import sentences_of
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    JoinedRelation,
    KeyColumns,
    People,
    Relation,
    Rows,
)
from policy_engine.kernel.types import Type
from policy_engine.names import fold
from policy_engine.policy.project_models import SECRETS
from policy_engine.policy.recodings import Recoding
from policy_engine.values import frozen

_SECRETS = (exp.Placeholder, exp.Parameter, exp.SessionParameter, exp.Select, exp.Rand)
_SAID = re.compile(r"salt|secret|setting", re.IGNORECASE)
_NO_SECRET = (
    "a secret: the text has none, so that who reads it could tell who is in the sample; the release"
    " draws one of its own"
)
_WAITS = (
    "the secret waits in {0}: put 32 random hexadecimal digits there as salt, fresh for each"
    " release, where release_id is '{1}'"
)
_RELEASE = "next"
OTHERWISE = "and by the text as"
"""Stands in what is taken for granted where the text takes it otherwise."""
_REPEATS = (exp.Explode, exp.ExplodingGenerateSeries, exp.GenerateSeries, exp.Unnest)


@frozen
class Guess:
    """A claim and the table to make, or the ``findings``.

    ``missed`` is what of the text is left out, ``taken`` what is taken for granted, of it
    ``beside`` what is so of the tables that are looked up. What of ``missed`` is a column shown
    otherwise can be ``remade`` of what is shown.
    """

    claim: Claim | None = None
    target: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    remade: tuple[Remade, ...] = ()
    beside: tuple[str, ...] = ()


@frozen
class Remade:
    """A column whose ``told`` differences go where ``node`` is asked of what is shown."""

    name: str
    node: exp.Expr
    told: tuple[str, ...]


def guessed(
    text: str, engine: str, types_of: Types, relations: levels.Relations | None = None
) -> Guess:
    """The claim that a text of any form may mean, of which the engine has a print.

    >>> text = "select sex, count(*) as n from a.people tablesample bernoulli (10)"
    >>> text += " group by sex having count(*) > 4"
    >>> guessed(text, "trino", lambda _: lambda name, is_key=False: None).claim.law
    Native(rate=Decimal('0.1'), k=5, raw_first=False)
    """
    try:
        return _guess(levels.parsed(text, engine), engine, types_of, relations)
    except levels.No as no:
        return _refused(no.breach, (1, 1) if no.at is None else position(no.at, text))
    except Refused as error:
        return _refused(laws.HAS_A_FORM.broken_by(f"{error.title}: {error.reason}; {error.remedy}"))
    except (ClaimError, NotUnderstood) as error:
        return _refused(laws.IS_UNDERSTOOD.broken_by(str(error)))
    except Exception:  # a reader that takes any text meets more than it can foresee
        return _refused(laws.IS_UNDERSTOOD.broken_by("a text that could not be read"))


def _guess(
    statement: levels.ParsedText,
    engine: str,
    types_of: Types,
    relations: levels.Relations | None,
) -> Guess:
    query = levels.Query(statement, engine, relations)
    reader = Reader(query, types_of)
    claim = reader.claim()
    printed(claim, engine)
    beside, remade = tuple(reader.beside), tuple(reader.remade)
    taken = (*query.taken, *beside)
    return Guess(claim, query.target, tuple(query.missed), taken, remade=remade, beside=beside)


def guessed_in_two(
    text: str, engine: str, types_of: Types, relations: levels.Relations | None = None
) -> tuple[Guess, str] | None:
    """A release that a text makes more of, and the query over its rows; None where there is none.

    The release means all that its part of the text does: none of it is left out.
    """
    try:
        statement = levels.parsed(text, engine)
        halves = [] if statement.missed else [*halves_of(statement.query)]
    except Exception:  # as where a text is guessed
        return None
    for each in halves:
        groups = replace(statement, query=each.groups, target=())
        with suppress(Exception):  # another cut may be understood
            guess = _guess(groups, engine, types_of, relations)
            excused = {told for column in guess.remade for told in column.told}
            if {*guess.missed} <= excused and not any(OTHERWISE in told for told in guess.taken):
                rest = _rest(each, guess).sql(dialect=parser_of(engine), pretty=True)
                return replace(guess, target=statement.target, missed=()), rest
    return None


def _rest(halves: Halves, guess: Guess) -> exp.Expr:
    """The query over the rows of what was guessed of the groups."""
    if not guess.remade:
        return halves.rest
    assert guess.claim is not None
    made = {column.name: column.node for column in guess.remade}
    names = [shown.name for shown in guess.claim.columns]
    names += [] if guess.claim.count is None else [guess.claim.count]
    return remade(halves.rest, {name: made.get(name) for name in names})


def _refused(breach: Breach, place: Position = (1, 1)) -> Guess:
    return Guess(findings=(breach.at(place),))


class Reader:
    """Makes a claim of a query; what of it is not understood goes into its ``missed``."""

    def __init__(self, query: levels.Query, types_of: Types) -> None:
        self.query, self.engine, self.missed = query, query.engine, query.missed
        others = ((each.names, types_of(each.parts)) for each in query.looked_up)
        self.types_of = types_beside(types_of(query.source.parts), others)
        keys = [name for each in query.looked_up for pair in each.on for name in pair]
        self.taken, self._types = _Taken(query.engine, self.types_of, keys), types_of
        self.measured: list[str] = []  # the columns of numbers beside the count
        self.samples = [each.node for each in query.conditions if levels.draws(each.node)]
        self.remade: list[Remade] = []
        self.beside: list[str] = []  # what is taken for granted of what is looked up

    def claim(self) -> Claim:
        """What the text may mean."""
        law = self._law()
        columns, count = self._columns()
        asked = self._asked()
        key = self._keys()
        # What says most of a column's type comes first: what it is compared with, then its recode.
        found = dict(self._filters({n: c for n, c in asked.items() if _compares(c)}))
        plain = [each for each in columns if isinstance(each[1].means, Keep)]
        recoded_ones = [each for each in columns if each not in plain]
        made = {name: self._shown(name, reading, column) for name, reading, column in recoded_ones}
        found |= dict(self._filters({n: c for n, c in asked.items() if not _compares(c)}))
        filters = tuple(found[name] for name in asked if name in found)
        made |= {name: self._shown(name, reading, column) for name, reading, column in plain}
        order = [fold(name) for name in self.query.columns]
        shown = [made[name] for name in sorted(made, key=lambda name: order.index(fold(name)))]
        fitting = [each for each in shown if each is not None]
        if not fitting and not self.query.columns.keys() - {fold(str(count))}:
            named = fresh("everybody", self.query.columns)
            fitting = [Shown(named, None, Constant(named))]
            self.missed.append(f"one group of everybody: a release has a column, {named}")
        if not fitting:
            why = ", ".join(self.missed)
            raise levels.No(laws.IS_GROUPED.broken_by(f"no column that is understood: {why}"))
        if count is None and "repeat" in ENGINES[self.engine].lacks:
            self.missed.append("rows for each person: counts are released")
            count = "n"
        unit = Rows() if law.method == "native" else self._unit(key)
        if isinstance(unit, People) and unit.order and not (self._windows() or self.query.firsts):
            self.query.taken.append(f"each {unit.key.name} has one row: of several one is kept")
        self._tell_of_choice(unit)
        claim = Claim(self.query.source, unit, law, tuple(fitting), count, filters)
        return self._with_joins(claim) if self.query.looked_up else claim

    # What stands beside each row

    def _with_joins(self, claim: Claim) -> Claim:
        """The claim with the columns that it reads of other tables."""
        unit, source = claim.unit, claim.source.name
        if not isinstance(unit, People):
            raise levels.No(
                laws.COUNTS_UNITS.broken_by(
                    f"rows of {source} with other tables beside them, and no key of a person; count"
                    " DISTINCT the column that tells people apart"
                )
            )
        known = {column.name: column for column in (*claim.inputs, *unit.ordering)}
        known |= {name: self.taken.column(name, Keep()) for name in self.measured}
        keys = {fold(key.name): key for key in unit.keys}
        joins = []
        for looked_up in self.query.looked_up:
            each = replace(looked_up, parts=self.query.relation(looked_up.parts).parts)
            if foreign := [name for name in each.names if fold(name) in keys]:
                told = f"people who are told apart by {foreign[0]} of {'.'.join(each.parts)}"
                raise levels.No(laws.COUNTS_UNITS.broken_by(f"{told}; write FROM that table"))
            columns = tuple(known[name] for name in each.names if name in known)
            if not columns:  # beside each row stands one at most, and nothing of it is read
                self._tell_of_one_row(each)
                continue
            joins.append(self._joined(each, columns, keys, source))
        return replace(claim, joins=tuple(joins))

    def _joined(
        self,
        looked_up: LookedUp,
        columns: tuple[Column, ...],
        keys: Mapping[str, Column],
        source: str,
    ) -> JoinedRelation:
        relation, types_of = Relation(looked_up.parts), self._types(looked_up.parts)
        beside = {column.name: column for column in columns}
        on = []
        for own, other in looked_up.on:
            mine = keys.get(fold(own)) or self.taken.known.get(fold(own))
            mine = mine or _key_column(own, self.engine, self.types_of)
            on.append(
                (mine, beside.get(other) or _key_column(other, self.engine, types_of, mine.type))
            )
            if "text" in (kinds := {each.type.kind for each in on[-1]}) and len(kinds) > 1:
                told = f"{own} and {relation.name}.{other}, of two types, are compared as texts"
                self.missed.append(f"{told}, and by the text as the engine compares them")
        is_own = {*keys.values()} <= {own for own, _ in on}
        name = relation.name
        known = {fold(each) for each in self.query.columns_of(relation.parts)}
        if not is_own and known and keys.keys() <= known:
            by = " and ".join(other.name for _, other in on)
            told = f"{relation.name} by {by}, and its {', '.join(keys)} says whose its rows are"
            raise levels.No(laws.READS_ONE_RELATION.broken_by(f"a join of {told}"))
        code = "joined_own" if is_own else "joined_public"
        unit = " and ".join(key.name for key in keys.values())
        said = {"relation": name, "source": source, **({"unit": unit} if is_own else {})}
        [told] = sentences_of([Assumption.of(code, **said)])
        self.beside.append(told if is_own else f"{told}: public, as you state")
        self._tell_of_one_row(looked_up)
        if looked_up.stands_for:
            self.beside.append(
                f"{name}.{looked_up.stands_for} is never NULL: rows of {source} without it are left"
                f" out, as the text leaves out those without a row of {name}"
            )
        return JoinedRelation(relation, tuple(on), columns, not is_own)

    def _tell_of_one_row(self, looked_up: LookedUp) -> None:
        """What a text repeats whose table has several rows of a key."""
        named = tuple(other for _, other in looked_up.on)
        name, key = ".".join(looked_up.parts), " and ".join(named)
        is_unique = self.query.is_unique(looked_up.parts, named)
        if is_unique is None:
            self.beside.append(f"{name} has one row for each {key}: of several one is read")
        elif not is_unique:
            self.missed.append(
                f"{name} may have several rows for a {key}: one of them is read, and by the text"
                " each"
            )

    def _law(self) -> Law:
        k = self._threshold()
        rates = (levels.rate_of(each) for each in self.samples)
        rate = next((each for each in rates if each is not None), None)
        for drawn in self.query.samples:
            rate = self._rate_of(drawn)
        if rate is None:
            found = [*(each.sql()[:80] for each in self.samples), "all rows of the source"][0]
            raise levels.No(
                laws.IS_SAMPLED.broken_by(f"{found}; sample by a keyed hash below a bound")
            )
        if not 0 < rate < 1:
            raise levels.No(laws.IS_BERNOULLI.broken_by(f"a rate of {rate}"))
        if not self._keys():
            if "native_sample" in ENGINES[self.engine].lacks:
                reason, _ = ENGINES[self.engine].lacks["native_sample"]
                raise levels.No(
                    laws.COUNTS_UNITS.broken_by(
                        f"no key of a person, and {reason}; sample by a key"
                    )
                )
            return Native(rate, k)
        # A parameter, a variable, or another relation may bring it.
        if not any(each.find(*_SECRETS) or _SAID.search(each.sql()) for each in self.samples):
            self.missed.append(_NO_SECRET)
        return Keyed(threshold(rate), k, secret=self._secret())

    def _rate_of(self, drawn: exp.TableSample) -> Decimal | None:
        """The rate of an engine's own sample."""
        size, method = drawn.args.get("percent"), drawn.args.get("method")
        if size is None:
            raise levels.No(laws.IS_BERNOULLI.broken_by("a sample of so many rows"))
        named = method.name.upper() if method is not None else ""
        if named in ("SYSTEM", "BLOCK", "RESERVOIR") or (not named and self.engine == "duckdb"):
            told = named or "SYSTEM"
            self.missed.append(f"a sample by {told}: a release draws each row by itself")
        share = number_of(size.name) if isinstance(size, exp.Literal) else None
        return None if share is None else share / 100

    def _secret(self) -> Secret | None:
        """Where the text reads its secret, if it says a relation and the release."""
        for each in self.samples:
            for select in each.find_all(exp.Select):
                table, release = select.find(exp.Table), select.find(exp.Literal)
                parts = () if table is None else tuple(part.name for part in table.parts)
                if len(parts) > 1 and release is not None and release.is_string:
                    return Secret(parts, release.name)
        if not ENGINES[self.engine].draws:
            return None
        # Here a release draws before its text runs, and a text that somebody runs must read it.
        parts = (*self.query.source.parts[:-1], SECRETS)
        self.query.taken.append(_WAITS.format(".".join(parts), _RELEASE))
        return Secret(parts, _RELEASE)

    def _threshold(self) -> int:
        k = max(self.query.thresholds, default=None)
        if k is None or k < 2:
            told = "groups of any size" if k is None else f"a threshold of {k}"
            raise levels.No(laws.HAS_THRESHOLD.broken_by(told))
        return k

    def _columns(self) -> tuple[list[tuple[str, Reading, str | None]], str | None]:
        """Name, reading and column of what is understood; and the count's name."""
        found: list[tuple[str, Reading, str | None]] = []
        count: str | None = None
        repeats = False
        for name, node in self.query.columns.values():
            of = levels.counted(node)
            if levels.is_count(node) or (of is not None and self._counts_people(name, *of)):
                if count is not None:
                    self.missed.append(f"{name}: a release shows one count; left out")
                count = count or name
            elif node.find(*_REPEATS):
                repeats = True
            elif node.find(exp.AggFunc):
                self.missed.append(f"{name}: {levels.short(node)}: a release counts; left out")
            else:
                try:
                    read, reading = columns_in(node), reading_of(node)
                    found.append((name, reading, read[0] if read else None))
                    told = tuple(f"{name}: {each}" for each in reading.told)
                    self.missed += told
                    if reading.after is not None:
                        self.remade.append(Remade(name, reading.after, told))
                except NotUnderstood as why:
                    self.missed.append(f"{name}: {levels.short(node)}: {why}; left out")
        if count is None and not repeats:
            count = fresh("n", self.query.columns)
            self.missed.append(f"a count: shown as {count}")
        return found, count

    def _counts_people(self, name: str, column: str, is_distinct: bool) -> bool:
        """Whether the values of a column are counted that a release counts: its people."""
        if (column,) != self._keys():
            return False
        if is_distinct and not self._windows() and not self.query.firsts:
            self.missed.append(
                f"{name}: who has several rows is in one group, by one of them, and by the text in"
                " each group of one"
            )
        return True

    def _shown(self, name: str, reading: Reading, column: str | None) -> Shown | None:
        """A released column, if the engine has a print of it."""
        means = reading.means
        try:
            if column is None or isinstance(means, Constant):
                assert isinstance(means, Constant)
                shown = Shown(name, None, recode_of(means, Type("text")))
            else:
                read = self.taken.column(column, means)
                recoding = (
                    self._in_pieces(name, means, read) if isinstance(means, Pieces) else means
                )
                if read.type.kind == "integer":
                    recoding = reading.of_whole or recoding
                elif reading.is_whole:
                    self.missed.append(f"{name}: of a number with a fraction it is a quotient")
                shown = self._named(Shown(name, read, recode_of(recoding, read.type)), reading)
                self._tell_of_collation(shown)
            recoded(shown, self.engine)
        except Exception as error:  # what no value of the column can be, in whatever words
            self.missed.append(f"{name}: {str(error) or 'its values'}; left out")
            return None
        return shown

    def _tell_of_collation(self, shown: Shown) -> None:
        column, collates = shown.column, ENGINES[self.engine].collates
        if column is not None and column.type.collated and self.types_of(column.name) is not None:
            told = f"{column.name} is compared by its bytes"
            others = self.query.taken if collates else self.missed
            others.append(told if collates else f"{told}, and by the text by its collation")

    def _in_pieces(self, name: str, pieces: Pieces, column: Column) -> Bins:
        cuts, labels = pieces.intervals(column.type)
        if not cuts and pieces.missing == labels[0]:
            raise NotUnderstood("it shows one label")
        if column.type.kind == "double" and pieces.nan != pieces.missing:
            self.missed.append(f"{name}: NaN is shown as NULL is, and by the text otherwise")
        return Bins(cuts, labels)

    def _named(self, shown: Shown, reading: Reading) -> Shown:
        """A released column with what its text shows in place of NULL."""
        if reading.missing is None:
            return shown
        if recode_meaning(shown.recode).gives_null and shown.seen.kind != "boolean":
            self.missed.append(f"{shown.name}: other values than NULL are NULL, too")
        try:
            return replace(shown, missing=reading.missing)
        except ClaimError as error:
            self.missed.append(
                f"{shown.name}: NULL is shown as NULL, and by the text as {reading.missing!r}:"
                f" {error}"
            )
            return shown

    # Who is one unit

    def _keys(self) -> tuple[str, ...]:
        """The columns that tell people apart: those that are hashed, or rows are chosen by."""
        for each in (*self.samples, *self._windows()):
            hashed = [node for node in each.find_all(exp.Func) if levels.is_hash(node)]
            for node in (*hashed, each):
                part = node.args.get("partition_by") if isinstance(node, exp.Window) else None
                names = [n for p in part for n in columns_in(p)] if part else levels.keys_in(node)
                if names:
                    return tuple(dict.fromkeys(names))
        return ()

    def _windows(self) -> list[exp.Window]:
        return [
            window for each in self.query.conditions for window in each.node.find_all(exp.Window)
            if window.find(exp.RowNumber)
        ]  # fmt: skip

    def _unit(self, names: tuple[str, ...]) -> People:
        columns, terms = tuple(map(self.taken.key, names)), list[exp.Expr]()
        key = columns[0] if len(columns) == 1 else KeyColumns(columns)
        windows = self._windows()
        if windows:
            order = windows[0].args.get("order")
            terms = order.expressions if order is not None else []
            parts = [n for p in windows[0].args.get("partition_by") or () for n in columns_in(p)]
            if set(parts) != set(names):
                by = ", ".join(parts) or "all rows"
                self.missed.append(f"one row of {by}: one row of each {key.name} is kept")
            if any(levels.is_hash(node) for term in terms for node in term.find_all(exp.Func)):
                return People(key, Drawn())
        for on, given in [] if windows else self.query.firsts:
            if set(columns_in(on)) != set(names):
                told = f"one row of each {key.name} is kept"
                self.missed.append(f"DISTINCT ON {levels.short(on)}: {told}")
                continue
            terms = [term for term in given if not set(columns_in(term)) <= set(names)]
            break
        choice = "a window" if windows else "DISTINCT ON"
        for name in (columns_in(term)[:1] for term in terms if term.args.get("nulls_first")):
            told = f"{choice} keeps a row without {''.join(name)} first, the release last"
            self.missed.append(told)
        return People(key, self._order(terms) or ((columns[0], False),))

    def _order(self, terms: list[exp.Expr]) -> tuple[tuple[Column, bool], ...]:
        """The columns that order a person's rows, each once, and whether it descends."""
        once: dict[str, bool] = {}
        for term in terms:
            for name in columns_in(term)[:1]:
                once.setdefault(name, bool(term.args.get("desc")))
        return tuple((self.taken.column(name, Keep()), down) for name, down in once.items())

    # Who is in

    def _asked(self) -> dict[str, list[exp.Expr]]:
        """The conditions of each column that are understood."""
        of: dict[str, list[exp.Expr]] = {}
        for each in self.query.conditions:
            node, named = each.node, columns_in(each.node)
            if levels.draws(node) or self._chooses(node):
                continue
            if not named and _is_always(node):
                continue
            if len(named) == 1 and not node.find(exp.Window):
                if self._is_understood(node):
                    of.setdefault(named[0], []).append(node)
            else:
                self.missed.append(f"the condition {levels.short(node)}; left out")
        return of

    def _filters(self, asked: dict[str, list[exp.Expr]]) -> Iterator[tuple[str, Shown]]:
        for name, nodes in asked.items():
            shown = " AND ".join(levels.short(each) for each in nodes)
            try:
                found = self._filter(name, nodes)
            except Exception as error:  # what no value of the column can be, in whatever words
                self.missed.append(f"the condition {shown}: {error}; left out")
                continue
            if found is not None:
                yield name, found

    def _tell_of_choice(self, unit: Rows | People) -> None:
        """What is asked before a row of each person is chosen, and by a release behind it."""
        asked = [
            levels.short(each.node) for each in self.query.conditions
            if each.is_of_all and not levels.draws(each.node) and columns_in(each.node)
        ]  # fmt: skip
        if asked and isinstance(unit, People) and unit.order is not None:
            self.missed.append(
                f"{' AND '.join(asked)} is asked of the one row of each {unit.key.name} that is"
                " kept, and by the text of all its rows, of which one is then kept"
            )

    def _chooses(self, node: exp.Expr) -> bool:
        """Whether a condition keeps the first row of each person."""
        windows = [each for each in node.find_all(exp.Window) if each.find(exp.RowNumber)]
        if not windows:
            return False
        asked = node.copy().transform(
            lambda each: exp.column("place") if isinstance(each, exp.Window) else each
        )
        try:
            first = [truth_of(asked, Decimal(place)) for place in (1, 2, 3)]
        except NotUnderstood:
            first = []
        if first != [True, False, False]:
            self.missed.append(f"the condition {levels.short(node)}: of each one row is kept")
        return True

    def _is_understood(self, node: exp.Expr) -> bool:
        try:
            condition_of(node)
        except NotUnderstood as why:
            self.missed.append(f"the condition {levels.short(node)}: {why}; left out")
            return False
        return True

    def _filter(self, name: str, nodes: list[exp.Expr]) -> Shown | None:
        """The conditions of one column as one; None where all values meet them."""
        found = condition_of(exp.and_(*nodes))
        column, missing = self.taken.column(name, found.means), found.missing
        means = found.means
        if isinstance(means, Pieces):
            cuts, labels = means.intervals(column.type)
            means = Bins(cuts, labels) if cuts else Map((), labels[0])
        if isinstance(means, Map) and not means.groups and means.other == KEPT:
            return None if missing == KEPT else none_of(column, ())
        recode = recode_of(means, column.type)
        return Shown(KEPT, column, recode, KEPT if missing == KEPT else None)


def _compares(conditions: list[exp.Expr]) -> bool:
    """Whether conditions compare their column with values, which have a type."""
    return any(points_in(each) for each in conditions)


def _is_always(node: exp.Expr) -> bool:
    """Whether a condition of no column holds."""
    try:
        return truth_of(node, None) is True
    except NotUnderstood:
        return False


# What the columns are taken for, and the conditions as a filter


def _key_column(name: str, engine: str, types_of: TypesOf, like: Type | None = None) -> Column:
    """A column by which tables are joined: a whole number if it is an id by its name, else text,
    where nothing says another type."""
    told = types_of(name)
    if told == ():
        raise ClaimError(f"the schema has no column {name} that can be a key")
    text = Type("text", collated=ENGINES[engine].collates)
    taken = Type("integer") if _ID.search(name) else text
    return Column(name, told[0] if told else like or taken)


_PLAIN = 18, 3
_ID = re.compile(r"(^|_)id$", re.IGNORECASE)


class _Taken:
    """The types of the source's columns: as the schema says, else as the text takes them."""

    def __init__(self, engine: str, types_of: TypesOf, keys: list[str]) -> None:
        self.engine, self.types_of = engine, types_of
        self.ids = {fold(name) for name in keys if _ID.search(name)}
        self.known: dict[str, Column] = {}

    def column(self, name: str, recoding: Recoding | Pieces) -> Column:
        """A column that is recoded so."""
        if fold(name) not in self.known:
            said = self.types_of(name)
            if said == ():
                raise NotUnderstood(f"the schema has no column {name} that a release can read")
            taken = Type("integer") if fold(name) in self.ids else self._taken(recoding)
            self.known[fold(name)] = Column(name, said[0] if said else taken)
        return self.known[fold(name)]

    def _taken(self, recoding: Recoding | Pieces) -> Type:
        kinds: dict[str, Type] = {
            kind.kind: kind for kind in types_of_engine(self.engine) if kind.kind != "text"
        }
        kinds["text"] = Type("text", collated=ENGINES[self.engine].collates)
        exact = Type("decimal", *_PLAIN)
        if "decimal_column" in ENGINES[self.engine].lacks:
            exact = kinds["double"]
        match recoding:
            case Pieces(points) if not isinstance(points[0], Decimal):
                is_day = all(not hasattr(point, "hour") for point in points)
                return kinds["date" if is_day else "timestamp"]
            case Pieces(points):
                whole = all(isinstance(point, Decimal) and point == int(point) for point in points)
                return kinds["integer"] if whole else exact
            case _:
                kinds["decimal"] = exact
                return kinds.get(recode_meaning(recoding).likely, kinds["text"])

    def key(self, name: str) -> Column:
        """The key of a unit: a whole number, where nothing says another type."""
        told = self.types_of(name, is_key=True)
        if told == ():
            raise ClaimError(f"the schema has no column {name} that can be a key")
        return Column(name, told[0] if told else Type("integer"))
