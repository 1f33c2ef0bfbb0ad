"""A stranger's text → the claim that it may mean, and what of it was not understood.

As generous as it likes, for nobody trusts it: what is understood is printed anew, and only the
print is certified.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

import sqlglot
from sqlglot import exp

from policy_engine.check.columns import TypesOf, types_of_engine
from policy_engine.check.printed_text import Types
from policy_engine.check.recodings import (
    NotUnderstood,
    Point,
    Range,
    bare,
    columns_in,
    range_of,
    recoding_of,
)
from policy_engine.compile.catalog import HOMES
from policy_engine.compile.claims import recode_of
from policy_engine.dialects.base import threshold
from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.errors import Finding
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import DROPPED, KEPT, Filter
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed, Law, Native, Secret
from policy_engine.kernel.printing import printed, recoded
from policy_engine.kernel.recodes import Map
from policy_engine.kernel.sources import Column, Drawn, People, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.policy.recodings import (
    Bins,
    Constant,
    Keep,
    Lookup,
    Prefix,
    Recoding,
    Round,
    Truncate,
)
from policy_engine.syntax.findings import Breach, Notes
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import (
    is_deterministic,
    is_in_the_grammar,
    is_sql,
    reads_a_table,
    reads_one_relation,
    stands_alone,
)
from policy_engine.verify.laws import (
    counts_units,
    has_threshold,
    is_bernoulli,
    is_grouped,
    is_sampled,
)

_PARSERS = {"mariadb": "mysql", "datafusion": "postgres"}
_HASH = re.compile(r"sha|md5|hash|fnv|crc", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-fA-F]{2,64}")
_SECRET = re.compile(r"salt|secret", re.IGNORECASE)
_PLAIN = 18, 3
_REPEATS = (exp.Explode, exp.ExplodingGenerateSeries, exp.GenerateSeries, exp.Unnest)


@dataclass(frozen=True)
class Guess:
    """A claim, and in ``missed`` what of the text it leaves out; or the ``findings``."""

    claim: Claim | None = None
    missed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class _No(Exception):
    """A text that means no release: the breach of a law, and where."""

    def __init__(self, breach: Breach, at: exp.Expr | None = None) -> None:
        self.breach, self.at = breach, at
        super().__init__(breach.found)


def guessed(text: str, engine: str, types_of: Types) -> Guess:
    """The claim that a text of any form may mean, of which the engine has a print.

    >>> text = "select sex, count(*) as n from a.people tablesample bernoulli (10)"
    >>> text += " group by sex having count(*) > 4"
    >>> guessed(text, "trino", lambda parts: lambda name: None).claim.law
    Native(rate=Decimal('0.1'), k=5, raw_first=False)
    """
    notes = Notes(text)
    try:
        query = _parsed(text, engine)
        reader = _Reader(query, engine, types_of)
        claim = reader.claim()
        printed(claim, engine)
        return Guess(claim, tuple(reader.missed))
    except _No as no:
        notes.judge(no.breach, no.at)
    except Refused as error:
        notes.judge(is_deterministic.broken_by(f"{error.title}: {error.reason}; {error.remedy}"))
    except (ClaimError, NotUnderstood) as error:
        notes.judge(is_in_the_grammar.broken_by(str(error)))
    except Exception:  # a reader that takes any text meets more than it can foresee
        notes.judge(is_in_the_grammar.broken_by("a text that could not be read"))
    return Guess(findings=notes.findings.sorted())


def _parsed(text: str, engine: str) -> exp.Select:
    """The one query of a text."""
    try:
        parsed = [each for each in sqlglot.parse(text, read=_PARSERS.get(engine, engine)) if each]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        parsed = []
    statements = [each for each in parsed if not isinstance(each, exp.Semicolon)]
    broken = is_sql(bool(statements)) or stands_alone(len(statements))
    if broken is not None:
        raise _No(broken)
    query = statements[0].transform(partial(_spelled, engine))
    query = query.expression if isinstance(query, exp.Create) and query.expression else query
    while isinstance(query, exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        raise _No(is_in_the_grammar.broken_by(type(query).__name__.upper()))
    return query


def _spelled(engine: str, node: exp.Expr) -> exp.Expr:
    """A name without quotes as the engine reads it."""
    if isinstance(node, exp.Identifier) and not node.quoted and engine in _FOLDS:
        node.set("this", _FOLDS[engine](node.name))
    return node


_FOLDS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("postgres", "redshift", "trino", "datafusion"), str.lower),
    "snowflake": str.upper,
}


@dataclass
class _Level:
    """One SELECT: what its columns are in terms of the source's, and its conditions."""

    columns: dict[str, tuple[str, exp.Expr]] = field(default_factory=dict)
    conditions: list[exp.Expr] = field(default_factory=list)
    is_open: bool = False


class _Reader:
    """Reads one query; what it does not understand stands in ``missed``."""

    def __init__(self, query: exp.Select, engine: str, types_of: Types) -> None:
        self.query, self.engine = query, engine
        self.missed: list[str] = []
        self.steps = {fold(cte.alias): cte.this for cte in query.find_all(exp.CTE)}
        self.conditions: list[exp.Expr] = []
        self.source = self._source()
        self.level = self._level(query, 0)
        self.types_of: TypesOf = types_of(self.source.parts)
        self.samples = [each for each in self.conditions if self._samples(each)]

    # The source, and what each column is of it

    def _source(self) -> Relation:
        tables = [table for table in self.query.find_all(exp.Table) if self._is_base(table)]
        if not tables:
            raise _No(reads_a_table.broken_by("a query of no table"))
        names = {tuple(part.name for part in table.parts) for table in tables}
        if len(tables) > 1:
            found = f"{len(tables)} of them: {', '.join(sorted('.'.join(n) for n in names))}"
            raise _No(reads_one_relation.broken_by(f"{found}; read one table, once"), tables[-1])
        parts = next(iter(names))
        if len(parts) == 1:
            parts = (HOMES.get(self.engine, "main"), *parts)
            self.missed.append(f"the schema of {parts[1]}: taken for {'.'.join(parts)}")
        return Relation(parts)

    def _is_base(self, table: exp.Table) -> bool:
        is_step = fold(table.name) in self.steps and not table.db
        select = table.find_ancestor(exp.Select)
        shown = [] if select is None else select.expressions
        is_secret = _SECRET.search(table.name) or any(_SECRET.search(e.sql()) and len(shown) == 1
                                                      for e in shown)  # fmt: skip
        return not is_step and not is_secret and isinstance(table.this, exp.Identifier)

    def _level(self, query: exp.Expr, depth: int) -> _Level:
        """What a query shows, its expressions written out over the source's columns."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if isinstance(query, exp.SetOperation) or depth > 50:
            raise _No(reads_one_relation.broken_by("a union; read one table, once"), query)
        if not isinstance(query, exp.Select):
            raise _No(is_in_the_grammar.broken_by(type(query).__name__.upper()), query)
        clause = query.args.get("from_")
        item = None if clause is None else clause.this
        below = _Level(is_open=True)
        if isinstance(item, exp.Subquery):
            below = self._level(item.this, depth + 1)
        elif isinstance(item, exp.Table) and not item.db and fold(item.name) in self.steps:
            below = self._level(self.steps[fold(item.name)], depth + 1)
        found = _Level()
        for each in query.expressions:
            node = each.unalias()
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
                found.columns |= below.columns
                found.is_open = found.is_open or below.is_open
            else:
                is_named = each.alias or isinstance(node, exp.Column)
                name = each.alias_or_name if is_named else _fresh("n", found.columns)
                found.columns[fold(name)] = (name, _over(node, below))
        for name in ("where", "having", "qualify"):
            part = query.args.get(name)
            if part is not None:
                scope = _Level({**below.columns}, is_open=below.is_open)
                if name != "where":
                    scope.columns |= found.columns
                self.conditions += [_over(each, scope) for each in _conjuncts(part.this)]
        if query.args.get("limit") or query.args.get("distinct"):
            self.missed.append("LIMIT or DISTINCT: a release shows all groups of at least k")
        return found

    # The claim

    def claim(self) -> Claim:
        """What the text may mean."""
        law = self._law()
        columns, count = self._columns()
        key = self._key()
        typed = _Typed(self.engine, self.types_of)
        columns = sorted(columns, key=lambda each: isinstance(each[1], Keep))
        made = {
            name: self._shown(name, recoding, column, typed) for name, recoding, column in columns
        }
        order = [fold(name) for name in self.level.columns]
        shown = [made[name] for name in sorted(made, key=lambda name: order.index(fold(name)))]
        fitting = [each for each in shown if each is not None]
        if not fitting:
            raise _No(
                is_grouped.broken_by("no column that is understood: " + ", ".join(self.missed))
            )
        if count is None and "repeat" in ENGINES[self.engine].lacks:
            self.missed.append("rows for each person: counts are released")
            count = "n"
        unit = self._unit(key, typed) if isinstance(law, Keyed) else Rows()
        filters = tuple(self._filters(typed))
        return Claim(self.source, unit, law, tuple(fitting), count, filters)

    def _law(self) -> Law:
        k = self._threshold()
        drawn = self.query.find(exp.TableSample)
        if drawn is not None:
            size = drawn.args.get("percent") or drawn.args.get("size")
            rate = Decimal(size.name) / 100 if isinstance(size, exp.Literal) else None
        else:
            rate = next((rate for each in self.samples if (rate := _rate(each)) is not None), None)
        if rate is None:
            what = self.samples[0].sql() if self.samples else f"all rows of {self.source.parts[-1]}"
            raise _No(
                is_sampled.broken_by(f"{what[:80]}; sample by a keyed hash, at a rate that it says")
            )
        if not 0 < rate < 1:
            raise _No(is_bernoulli.broken_by(f"a rate of {rate}"))
        if self._key() is None:
            if "native_sample" in ENGINES[self.engine].lacks:
                lack = ENGINES[self.engine].lacks["native_sample"].partition("; ")[0]
                raise _No(
                    counts_units.broken_by(f"no key of a person, and {lack}; sample by a key")
                )
            return Native(rate, k)
        return Keyed(threshold(rate), k, secret=self._secret())

    def _secret(self) -> Secret | None:
        """Where the text reads its secret, if it says a relation and the release."""
        for each in self.samples:
            for select in each.find_all(exp.Select):
                table, release = select.find(exp.Table), select.find(exp.Literal)
                parts = () if table is None else tuple(part.name for part in table.parts)
                if len(parts) > 1 and release is not None and release.is_string:
                    return Secret(parts, release.name)
        return None

    def _threshold(self) -> int:
        found = [bound for each in self.conditions if (bound := _least_count(each)) is not None]
        if not found:
            raise _No(has_threshold.broken_by("groups of any size"))
        k = max(found)
        if k < 2:
            raise _No(has_threshold.broken_by(f"a threshold of {k}"))
        return k

    def _columns(self) -> tuple[list[tuple[str, Recoding, str | None]], str | None]:
        """Name, recoding and column of what is understood; and the count's name."""
        found: list[tuple[str, Recoding, str | None]] = []
        count: str | None = None
        repeats = False
        for name, node in self.level.columns.values():
            if _is_count(node):
                if count is not None:
                    self.missed.append(f"{name}: a release shows one count; left out")
                count = count or name
            elif node.find(
                exp.Explode, exp.ExplodingGenerateSeries, exp.GenerateSeries, exp.Unnest
            ):
                repeats = True
            else:
                try:
                    read = columns_in(node)
                    found.append((name, recoding_of(node), read[0] if read else None))
                except NotUnderstood as why:
                    self.missed.append(f"{name}: {_short(node)}: {why}; left out")
        if count is None and not repeats:
            count = _fresh("n", self.level.columns)
            self.missed.append(f"a count: shown as {count}")
        return found, count

    def _shown(
        self, name: str, recoding: Recoding, column: str | None, typed: _Typed
    ) -> Shown | None:
        """A released column, if the engine has a print of it."""
        try:
            if column is None or isinstance(recoding, Constant):
                shown = Shown(name, None, recode_of(recoding, Type("text")))
            else:
                read = typed.column(column, recoding)
                shown = Shown(name, read, recode_of(recoding, read.type))
            recoded(shown, self.engine)
        except Exception as error:  # what no value of the column can be, in whatever words
            self.missed.append(f"{name}: {str(error) or 'its values'}; left out")
            return None
        return shown

    # Who is one unit

    def _key(self) -> str | None:
        for each in (*self.samples, *self._windows()):
            hashed = [node for node in each.find_all(exp.Func) if _is_hash(node)]
            for node in (*hashed, each):
                part = node.args.get("partition_by") if isinstance(node, exp.Window) else None
                names = [n for p in part for n in columns_in(p)] if part else _keys_in(node)
                if names:
                    return names[0]
        return None

    def _windows(self) -> list[exp.Window]:
        return [
            window for each in self.conditions for window in each.find_all(exp.Window)
            if window.find(exp.RowNumber)
        ]  # fmt: skip

    def _unit(self, key: str | None, typed: _Typed) -> People:
        assert key is not None
        column = typed.key(key)
        for window in self._windows():
            order = window.args.get("order")
            terms = order.expressions if order is not None else []
            if any(_is_hash(node) for term in terms for node in term.find_all(exp.Func)):
                return People(column, Drawn())
            named = [(columns_in(term)[0], bool(term.args.get("desc"))) for term in terms
                     if columns_in(term)]  # fmt: skip
            once = dict(reversed(named))
            ordering = tuple((typed.column(n, Keep()), once[n]) for n, _ in dict.fromkeys(
                (n, None) for n, _ in named))  # fmt: skip
            return People(column, ordering or ((column, False),))
        return People(column, ((column, False),))

    # Who is in

    def _samples(self, node: exp.Expr) -> bool:
        return bool(node.find(exp.Rand)) or any(_is_hash(each) for each in node.find_all(exp.Func))

    def _filters(self, typed: _Typed) -> Iterator[Filter]:
        ranges: dict[str, list[exp.Expr]] = {}
        for each in self.conditions:
            named = columns_in(each)
            other = self._samples(each) or each.find(exp.AggFunc, exp.Window)
            if other or (not named and isinstance(each, exp.Boolean)):
                continue
            if len(named) == 1:
                ranges.setdefault(named[0], []).append(each)
            else:
                self.missed.append(f"the condition {_short(each)}; left out")
        for name, conditions in ranges.items():
            read = [(each, found) for each in conditions if (found := self._range(each))]
            try:
                if read:
                    yield _filter(name, [found for _, found in read], typed)
            except Exception as error:  # what no value of the column can be, in whatever words
                shown = " AND ".join(_short(each) for each, _ in read)
                self.missed.append(f"the condition {shown}: {error}; left out")

    def _range(self, condition: exp.Expr) -> Range | None:
        try:
            return range_of(condition)
        except NotUnderstood as why:
            self.missed.append(f"the condition {_short(condition)}: {why}; left out")
            return None


class _Typed:
    """The types of the source's columns: as the schema says, else as the text takes them."""

    def __init__(self, engine: str, types_of: TypesOf) -> None:
        self.engine, self.types_of = engine, types_of
        self.known: dict[str, Column] = {}

    def column(self, name: str, recoding: Recoding) -> Column:
        """A column that is recoded so."""
        if fold(name) not in self.known:
            said = self.types_of(name)
            if said == ():
                raise NotUnderstood(f"the schema has no column {name} that a release can read")
            self.known[fold(name)] = Column(name, said[0] if said else self._taken(recoding))
        return self.known[fold(name)]

    def _taken(self, recoding: Recoding) -> Type:
        kinds: dict[str, Type] = {
            kind.kind: kind for kind in types_of_engine(self.engine) if kind.kind != "text"
        }
        kinds["text"] = Type("text", collated=ENGINES[self.engine].collates)
        exact = Type("decimal", *_PLAIN)
        if "decimal_column" in ENGINES[self.engine].lacks:
            exact = kinds["double"]
        match recoding:
            case Bins(cuts):
                return _of_points(cuts, kinds, exact)
            case Lookup(table) if all(re.fullmatch(r"-?[0-9]{1,18}", key) for key, _ in table):
                return kinds["text"]
            case Round(step):
                return exact if step != int(step) else kinds["integer"]
            case Truncate(unit):
                return kinds.get("timestamp" if unit in ("hour", "day") else "date", kinds["text"])
            case Keep() | Prefix() | Constant() | Lookup():
                return kinds["text"]

    def key(self, name: str) -> Column:
        """The key of a unit: a whole number, where nothing says another type."""
        known = self.known.get(fold(name))
        said = self.types_of(name)
        own = known.type if known is not None else (said[0] if said else Type("integer"))
        if said == ():
            raise ClaimError(f"the schema has no column {name} that can be a key")
        return known or Column(name, own)


def _of_points(points: tuple[Point, ...], kinds: Mapping[str, Type], exact: Type) -> Type:
    first = points[0]
    if isinstance(first, Decimal):
        whole = all(isinstance(p, Decimal) and p == int(p) for p in points)
        return kinds["integer"] if whole else exact
    return kinds["timestamp" if hasattr(first, "hour") else "date"]


def _filter(name: str, conditions: list[Range], typed: _Typed) -> Filter:
    """The conditions of one column as one."""
    members: tuple[str, ...] = ()
    least: Point | None = None
    end: Point | None = None
    for found, low, high in conditions:
        members = members or found
        least = least if low is None else low
        end = end if high is None else high
    if members:
        table = tuple((member, KEPT) for member in members)
        column = typed.column(name, Lookup(table, DROPPED))
        made = recode_of(Lookup(table, DROPPED), column.type)
        assert isinstance(made, Map)
        return Filter(column, made.groups[0][0])
    cuts = tuple(cut for cut in (least, end) if cut is not None)
    bins = Bins(cuts, ("",) * (len(cuts) + 1))  # type: ignore[arg-type]
    column = typed.column(name, bins)
    values = list(recode_of(bins, column.type).cuts)  # type: ignore[union-attr]
    low_value = values.pop(0) if least is not None else None
    return Filter(column, (), low_value, values[0] if values else None)


def _over(node: exp.Expr, below: _Level) -> exp.Expr:
    """An expression with each column written out as what it is below."""

    def written(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Column) and fold(each.name) in below.columns:
            return below.columns[fold(each.name)][1].copy()
        if isinstance(each, exp.Column) and each.table:
            return exp.column(each.this.copy())
        return each

    return node.copy().transform(written)


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return [node]


def _is_hash(node: exp.Expr) -> bool:
    named = str(node.this) if isinstance(node, exp.Anonymous) else type(node).__name__
    return _HASH.search(named) is not None


def _keys_in(node: exp.Expr) -> list[str]:
    return [name for name in columns_in(node) if not _SECRET.search(name)]


def _is_count(node: exp.Expr) -> bool:
    return node.find(exp.AggFunc) is not None and node.find(exp.Window) is None


def _least_count(node: exp.Expr) -> int | None:
    """The k of a condition of a count."""
    if not isinstance(node, exp.GTE | exp.GT | exp.LTE | exp.LT) or not node.find(exp.AggFunc):
        return None
    counts_left = node.this.find(exp.AggFunc) is not None
    bound = bare(node.expression if counts_left else node.this)
    fits = isinstance(node, exp.GTE | exp.GT) if counts_left else isinstance(node, exp.LTE | exp.LT)
    if not fits or not isinstance(bound, exp.Literal) or not bound.name.isdigit():
        return None
    return int(bound.name) + isinstance(node, exp.GT | exp.LT)


def _rate(node: exp.Expr) -> Decimal | None:
    """The probability that a condition of a hash or a random number has, if it says one."""
    if not isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    literals = [each for each in node.find_all(exp.Literal) if not each.find_ancestor(exp.Select)]
    bounds = [each.name for each in literals if each.is_string and _HEX.fullmatch(each.name)]
    mod = node.find(exp.Mod)
    if mod is not None:
        sides = [bare(side) for side in (node.this, node.expression)]
        numbers = [side.name for side in sides if isinstance(side, exp.Literal)]
        base = bare(mod.expression)
        with suppress(ArithmeticError, ValueError):
            return Decimal(numbers[0]) / Decimal(base.name) if numbers else None
    if bounds:
        bound = max(bounds, key=len)
        return Decimal(int(bound, 16)) / Decimal(16 ** len(bound))
    numbers = [each.name for each in literals if not each.is_string]
    if node.find(exp.Rand) and numbers:
        return Decimal(numbers[-1])
    return None


def _fresh(name: str, taken: Mapping[str, object]) -> str:
    return name if name not in taken else f"{name}_2"


def _short(node: exp.Expr) -> str:
    text = node.sql(comments=False)
    return text if len(text) <= 60 else text[:57] + "..."
