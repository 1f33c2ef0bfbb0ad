"""A stranger's text → the claim that it may mean, and what of it was not understood.

As generous as it likes, for nobody trusts it: what is understood is printed anew, and only the
print is certified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from policy_engine.check import laws, levels
from policy_engine.check.columns import TypesOf, recoded, types_of_engine
from policy_engine.check.findings import Breach, Position, position
from policy_engine.check.printed_text import Types
from policy_engine.check.recodings import (
    NotUnderstood,
    Point,
    Range,
    columns_in,
    otherwise,
    range_of,
    recoding_of,
)
from policy_engine.compile.catalog import fresh
from policy_engine.compile.claims import recode_of
from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.errors import Finding
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import DROPPED, KEPT, Filter
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed, Law, Native, Secret
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Map
from policy_engine.kernel.sources import Column, Drawn, People, Rows
from policy_engine.kernel.types import Type
from policy_engine.names import fold
from policy_engine.policy import recodings
from policy_engine.policy.project_models import SECRETS

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
_REPEATS = (exp.Explode, exp.ExplodingGenerateSeries, exp.GenerateSeries, exp.Unnest)


@dataclass(frozen=True)
class Guess:
    """A claim and the table to make, or the ``findings``.

    ``missed`` is what of the text is left out, ``taken`` what is taken for granted.
    """

    claim: Claim | None = None
    target: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def guessed(text: str, engine: str, types_of: Types) -> Guess:
    """The claim that a text of any form may mean, of which the engine has a print.

    >>> text = "select sex, count(*) as n from a.people tablesample bernoulli (10)"
    >>> text += " group by sex having count(*) > 4"
    >>> guessed(text, "trino", lambda _: lambda name, is_key=False: None).claim.law
    Native(rate=Decimal('0.1'), k=5, raw_first=False)
    """
    try:
        query = levels.Query(levels.parsed(text, engine), engine)
        claim = _Reader(query, types_of(query.source.parts)).claim()
        printed(claim, engine)
        return Guess(claim, query.target, tuple(query.missed), tuple(query.taken))
    except levels.No as no:
        return _refused(no.breach, (1, 1) if no.at is None else position(no.at, text))
    except Refused as error:
        return _refused(laws.HAS_A_FORM.broken_by(f"{error.title}: {error.reason}; {error.remedy}"))
    except (ClaimError, NotUnderstood) as error:
        return _refused(laws.IS_UNDERSTOOD.broken_by(str(error)))
    except Exception:  # a reader that takes any text meets more than it can foresee
        return _refused(laws.IS_UNDERSTOOD.broken_by("a text that could not be read"))


def _refused(breach: Breach, place: Position = (1, 1)) -> Guess:
    return Guess(findings=(breach.at(place),))


class _Reader:
    """Makes a claim of a query; what of it is not understood goes into its ``missed``."""

    def __init__(self, query: levels.Query, types_of: TypesOf) -> None:
        self.query, self.engine, self.missed = query, query.engine, query.missed
        self.taken = _Taken(query.engine, types_of)
        self.samples = [each for each in query.conditions if levels.draws(each)]

    def claim(self) -> Claim:
        """What the text may mean."""
        law = self._law()
        columns, count = self._columns()
        key = self._key()
        columns = sorted(columns, key=lambda each: isinstance(each[1], recodings.Keep))
        made = {name: self._shown(name, recoding, column) for name, recoding, column in columns}
        order = [fold(name) for name in self.query.columns]
        shown = [made[name] for name in sorted(made, key=lambda name: order.index(fold(name)))]
        fitting = [each for each in shown if each is not None]
        if not fitting:
            why = ", ".join(self.missed)
            raise levels.No(laws.IS_GROUPED.broken_by(f"no column that is understood: {why}"))
        if count is None and "repeat" in ENGINES[self.engine].lacks:
            self.missed.append("rows for each person: counts are released")
            count = "n"
        unit = Rows() if law.method == "native" else self._unit(key)
        filters = tuple(self._filters())
        return Claim(self.query.source, unit, law, tuple(fitting), count, filters)

    def _law(self) -> Law:
        k = self._threshold()
        drawn = self.query.query.find(exp.TableSample)
        if drawn is not None:
            size = drawn.args.get("percent") or drawn.args.get("size")
            rate = Decimal(size.name) / 100 if isinstance(size, exp.Literal) else None
        else:
            rates = (levels.rate_of(each) for each in self.samples)
            rate = next((each for each in rates if each is not None), None)
        if rate is None:
            found = [*(each.sql()[:80] for each in self.samples), "all rows of the source"][0]
            raise levels.No(
                laws.IS_SAMPLED.broken_by(f"{found}; sample by a keyed hash below a bound")
            )
        if not 0 < rate < 1:
            raise levels.No(laws.IS_BERNOULLI.broken_by(f"a rate of {rate}"))
        if self._key() is None:
            if "native_sample" in ENGINES[self.engine].lacks:
                lack = ENGINES[self.engine].lacks["native_sample"].partition("; ")[0]
                raise levels.No(
                    laws.COUNTS_UNITS.broken_by(f"no key of a person, and {lack}; sample by a key")
                )
            return Native(rate, k)
        # A parameter, a variable, or another relation may bring it.
        if not any(each.find(*_SECRETS) or _SAID.search(each.sql()) for each in self.samples):
            self.missed.append(_NO_SECRET)
        return Keyed(threshold(rate), k, secret=self._secret())

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
        found = [k for each in self.query.conditions if (k := levels.least_count(each)) is not None]
        k = max(found, default=None)
        if k is None or k < 2:
            told = "groups of any size" if k is None else f"a threshold of {k}"
            raise levels.No(laws.HAS_THRESHOLD.broken_by(told))
        return k

    def _columns(self) -> tuple[list[tuple[str, recodings.Recoding, str | None]], str | None]:
        """Name, recoding and column of what is understood; and the count's name."""
        found: list[tuple[str, recodings.Recoding, str | None]] = []
        count: str | None = None
        repeats = False
        for name, node in self.query.columns.values():
            if levels.is_count(node):
                if count is not None:
                    self.missed.append(f"{name}: a release shows one count; left out")
                count = count or name
            elif node.find(*_REPEATS):
                repeats = True
            elif node.find(exp.AggFunc):
                self.missed.append(f"{name}: {levels.short(node)}: a release counts; left out")
            else:
                try:
                    read = columns_in(node)
                    recoding = recoding_of(node)
                    found.append((name, recoding, read[0] if read else None))
                    told = [f"{name}: {each}" for each in otherwise(node, recoding)]
                    rounds = isinstance(recoding, recodings.Round)
                    (self.missed if rounds else self.query.taken).extend(told)
                except NotUnderstood as why:
                    self.missed.append(f"{name}: {levels.short(node)}: {why}; left out")
        if count is None and not repeats:
            count = fresh("n", self.query.columns)
            self.missed.append(f"a count: shown as {count}")
        return found, count

    def _shown(self, name: str, recoding: recodings.Recoding, column: str | None) -> Shown | None:
        """A released column, if the engine has a print of it."""
        try:
            if column is None or isinstance(recoding, recodings.Constant):
                shown = Shown(name, None, recode_of(recoding, Type("text")))
            else:
                read = self.taken.column(column, recoding)
                shown = Shown(name, read, recode_of(recoding, read.type))
            recoded(shown, self.engine)
        except Exception as error:  # what no value of the column can be, in whatever words
            self.missed.append(f"{name}: {str(error) or 'its values'}; left out")
            return None
        return shown

    # Who is one unit

    def _key(self) -> str | None:
        for each in (*self.samples, *self._windows()):
            hashed = [node for node in each.find_all(exp.Func) if levels.is_hash(node)]
            for node in (*hashed, each):
                part = node.args.get("partition_by") if isinstance(node, exp.Window) else None
                names = [n for p in part for n in columns_in(p)] if part else levels.keys_in(node)
                if names:
                    return names[0]
        return None

    def _windows(self) -> list[exp.Window]:
        return [
            window for each in self.query.conditions for window in each.find_all(exp.Window)
            if window.find(exp.RowNumber)
        ]  # fmt: skip

    def _unit(self, key: str | None) -> People:
        assert key is not None
        column, terms = self.taken.key(key), list[exp.Expr]()
        windows = self._windows()
        if windows:
            order = windows[0].args.get("order")
            terms = order.expressions if order is not None else []
            if any(levels.is_hash(node) for term in terms for node in term.find_all(exp.Func)):
                return People(column, Drawn())
        for on, given in [] if windows else self.query.firsts:
            if columns_in(on) != (key,):
                self.missed.append(f"DISTINCT ON {levels.short(on)}: one row of each {key} is kept")
                continue
            terms = [term for term in given if columns_in(term) != (key,)]
            for name in (columns_in(term)[:1] for term in terms if term.args.get("nulls_first")):
                self.missed += [f"DISTINCT ON keeps a row without {n} first, the release last"
                                for n in name]  # fmt: skip
            break
        return People(column, self._order(terms) or ((column, False),))

    def _order(self, terms: list[exp.Expr]) -> tuple[tuple[Column, bool], ...]:
        """The columns that order a person's rows, each once, and whether it descends."""
        once: dict[str, bool] = {}
        for term in terms:
            for name in columns_in(term)[:1]:
                once.setdefault(name, bool(term.args.get("desc")))
        return tuple(
            (self.taken.column(name, recodings.Keep()), down) for name, down in once.items()
        )

    # Who is in

    def _filters(self) -> Iterator[Filter]:
        ranges: dict[str, list[exp.Expr]] = {}
        for each in self.query.conditions:
            named = columns_in(each)
            other = levels.draws(each) or each.find(exp.AggFunc, exp.Window)
            if other or (not named and isinstance(each, exp.Boolean)):
                continue
            if len(named) == 1:
                ranges.setdefault(named[0], []).append(each)
            else:
                self.missed.append(f"the condition {levels.short(each)}; left out")
        for name, conditions in ranges.items():
            read: list[tuple[exp.Expr, Range]] = []
            for each in conditions:
                try:
                    read.append((each, range_of(each)))
                except NotUnderstood as why:
                    self.missed.append(f"the condition {levels.short(each)}: {why}; left out")
            try:
                if read:
                    yield _filter_of(name, [found for _, found in read], self.taken)
            except Exception as error:  # what no value of the column can be, in whatever words
                shown = " AND ".join(levels.short(each) for each, _ in read)
                self.missed.append(f"the condition {shown}: {error}; left out")


# What the columns are taken for, and the conditions as a filter

_PLAIN = 18, 3


class _Taken:
    """The types of the source's columns: as the schema says, else as the text takes them."""

    def __init__(self, engine: str, types_of: TypesOf) -> None:
        self.engine, self.types_of = engine, types_of
        self.known: dict[str, Column] = {}

    def column(self, name: str, recoding: recodings.Recoding) -> Column:
        """A column that is recoded so."""
        if fold(name) not in self.known:
            said = self.types_of(name)
            if said == ():
                raise NotUnderstood(f"the schema has no column {name} that a release can read")
            self.known[fold(name)] = Column(name, said[0] if said else self._taken(recoding))
        return self.known[fold(name)]

    def _taken(self, recoding: recodings.Recoding) -> Type:
        kinds: dict[str, Type] = {
            kind.kind: kind for kind in types_of_engine(self.engine) if kind.kind != "text"
        }
        kinds["text"] = Type("text", collated=ENGINES[self.engine].collates)
        exact = Type("decimal", *_PLAIN)
        if "decimal_column" in ENGINES[self.engine].lacks:
            exact = kinds["double"]
        match recoding:
            case recodings.Intervals(cuts) if not isinstance(cuts[0], Decimal):
                return kinds["timestamp" if hasattr(cuts[0], "hour") else "date"]
            case recodings.Intervals(cuts):
                whole = all(isinstance(cut, Decimal) and cut == int(cut) for cut in cuts)
                return kinds["integer"] if whole else exact
            case recodings.Round(step):
                return exact if step != int(step) else kinds["integer"]
            case recodings.Truncate(unit):
                return kinds.get("timestamp" if unit in ("hour", "day") else "date", kinds["text"])
            case recodings.Keep() | recodings.Prefix() | recodings.Constant() | recodings.Lookup():
                return kinds["text"]

    def key(self, name: str) -> Column:
        """The key of a unit: a whole number, where nothing says another type."""
        told = self.types_of(name, is_key=True)
        if told == ():
            raise ClaimError(f"the schema has no column {name} that can be a key")
        return Column(name, told[0] if told else Type("integer"))


def _filter_of(name: str, conditions: list[Range], taken: _Taken) -> Filter:
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
        column = taken.column(name, recodings.Lookup(table, DROPPED))
        made = recode_of(recodings.Lookup(table, DROPPED), column.type)
        assert isinstance(made, Map)
        return Filter(column, made.groups[0][0])
    cuts = tuple(cut for cut in (least, end) if cut is not None)
    bins = recodings.Intervals(cuts, ("",) * (len(cuts) + 1))  # type: ignore[arg-type]
    column = taken.column(name, bins)
    values = list(recode_of(bins, column.type).cuts)  # type: ignore[union-attr]
    low_value = values.pop(0) if least is not None else None
    return Filter(column, (), low_value, values[0] if values else None)
