"""What a text counts that samples nobody: its groups, whose rows they are, what it adds up.

Such a text is no release: who knows all people but one reads of him whether a group has one more.
A release of the same groups counts everybody with noise, so what is understood here is written as
a policy of noisy counts. As with a guess, nobody trusts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

from sqlglot import exp

from policy_engine.check import laws, levels
from policy_engine.check.findings import findings_of
from policy_engine.check.guess import Reader
from policy_engine.check.known import Known
from policy_engine.check.recodings import Reading, columns_in
from policy_engine.check.values import without_parentheses
from policy_engine.errors import Finding
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed, Law, Native
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.sources import JoinedRelation
from policy_engine.values import frozen

_ADDED: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "mean", exp.Median: "median"}
_HALF = Decimal("0.5")


@frozen
class Everybody:
    """What a text counts. ``claim`` has its source, columns and filter; its sample is a stand-in.

    ``key`` tells people apart, and is empty where the text counts rows; ``is_chosen`` says that one
    row of each is kept. ``groupings`` are the columns of each, where there are several. ``added``
    are numbers beside the count: a name, what it is, and of which column. ``missed`` is what of the
    text is left out, ``beside`` what is taken for granted of what is looked up.
    """

    claim: Claim | None = None
    key: str = ""
    is_chosen: bool = False
    groupings: tuple[tuple[str, ...], ...] = ()
    added: tuple[tuple[str, str, str], ...] = ()
    missed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def counted(text: str, known: Known) -> Everybody:
    """What a text counts of everybody; with findings, and nothing else, where it is not understood.

    >>> from policy_engine.check.schema import Schema
    >>> text = "select sex, count(distinct id) as n from a.people group by sex"
    >>> found = counted(text, Known(Schema(), "duckdb"))
    >>> found.key, [shown.name for shown in found.claim.columns]
    ('id', ['sex'])
    """
    try:
        whole = levels.statement_of(text, known.engine)
        found = [_of_one(each, known) for each in _parts(whole)]
    except levels.No as no:
        return Everybody(findings=findings_of(no.breach))
    except Exception:  # a reader that takes any text meets more than it can foresee
        breach = laws.IS_UNDERSTOOD.broken_by("a text that could not be read")
        return Everybody(findings=findings_of(breach))
    return found[0] if len(found) == 1 else _together(found)


def _of_one(query: exp.Select, known: Known) -> Everybody:
    read = levels.Query(levels.ParsedText(query), known.engine, known)
    reader = _EverybodyReader(read, known)
    claim = reader.claim()
    return Everybody(
        claim, reader.key, reader.is_chosen, added=tuple(reader.added),
        missed=tuple(reader.missed), beside=tuple(reader.beside),
    )  # fmt: skip


def _together(found: list[Everybody]) -> Everybody:
    """Several groupings of one source, by columns that are recoded alike in each."""
    claims = [each.claim for each in found if each.claim is not None]
    columns: dict[str, Shown] = {}
    for claim in claims:
        columns |= {shown.name: columns.get(shown.name, shown) for shown in claim.columns}
    first, missed = found[0], [told for each in found for told in each.missed]
    for each, claim in zip(found, claims, strict=True):
        same = [(c.source, c.filter, c.count) for c in (claims[0], claim)]
        if same[0] != same[1] or each.key != first.key or each.added != first.added:
            missed.append("groupings of other rows, or with other numbers: write a policy of each")
        if any(columns[shown.name] != shown for shown in claim.columns):
            missed.append("a column that two groupings show otherwise: give it two names")
    # The names of one, in the order in which the first to have it shows them.
    groupings = tuple(tuple(shown.name for shown in claim.columns) for claim in claims)
    joins: dict[object, JoinedRelation] = {}
    for joined in (joined for claim in claims for joined in claim.joins):
        known = joins.setdefault(joined.source, joined)
        if (known.on, known.is_public) != (joined.on, joined.is_public):
            missed.append("a table that two groupings join otherwise: write a policy of each")
        both = tuple(dict.fromkeys((*known.columns, *joined.columns)))
        joins[joined.source] = replace(known, columns=both)
    whole = replace(claims[0], columns=tuple(columns.values()), joins=tuple(joins.values()))
    beside = tuple(dict.fromkeys(told for each in found for told in each.beside))
    told = tuple(dict.fromkeys(missed))
    return replace(first, claim=whole, groupings=groupings, missed=told, beside=beside)


class _EverybodyReader(Reader):
    """A reader of a text that counts everybody."""

    def __init__(self, query: levels.Query, known: Known) -> None:
        super().__init__(query, known)
        if self.samples or query.samples:
            raise levels.No(laws.IS_SAMPLED.broken_by("a sample"))
        shown = [node for _, node in query.columns.values()]
        people = [found[0] for node in shown if (found := levels.counted(node)) and found[1]]
        by = [name for each in self._windows() for part in each.args.get("partition_by") or ()
              for name in columns_in(part)]  # fmt: skip
        self.is_chosen = bool(by)
        self.key = next(iter((*by, *people)), "")
        self.added: list[tuple[str, str, str]] = []

    def _law(self) -> Law:
        # Any that a claim can be of: what is counted, and of whom, is all that is asked.
        if not self.key:
            return Native(_HALF, 2)
        return Keyed(threshold(_HALF), 2, secret=self._secret())

    def _keys(self) -> tuple[str, ...]:
        return (self.key,) if self.key else ()

    def _columns(self) -> tuple[list[tuple[str, Reading, str | None]], str | None]:
        for folded, (name, node) in [*self.query.columns.items()]:
            inner = without_parentheses(node)
            if isinstance(inner, exp.Round | exp.Cast | exp.Coalesce):
                inner = without_parentheses(inner.this)
            what = _ADDED.get(type(inner))
            of = without_parentheses(inner.this) if what else None
            if isinstance(of, exp.Column):
                self.added.append((name, str(what), of.name))
                self.measured.append(of.name)
            elif self.key and not self.is_chosen and levels.is_count(node):
                self.added.append((name, "rows", ""))
            else:
                continue
            del self.query.columns[folded]
        return super()._columns()

    def _counts_people(self, name: str, column: str, is_distinct: bool) -> bool:
        return column == self.key and (is_distinct or self.is_chosen)


def _parts(whole: exp.Expr) -> Iterator[exp.Select]:
    """The plain groupings of a query: of UNION ALL, GROUPING SETS, ROLLUP and CUBE."""
    query = whole
    while isinstance(query, exp.Subquery):
        query = query.this
    selects = [*_branches(query)]
    clause = query.args.get("with_") if isinstance(query, exp.SetOperation) else None
    names = [each.alias_or_name for each in selects[0].expressions]
    for select in selects:
        own = select.copy()
        if clause is not None:
            own.set("with_", clause.copy())
        if len(selects) > 1:
            pairs = zip(own.expressions, names, strict=False)
            shown = [exp.alias_(each.unalias(), name, quoted=True) for each, name in pairs]
            kept = [each for each in shown if not _is_null(each.unalias())]
            own = _by_what_is_kept(own, shown, kept)
        for keys in _sets(own):
            if keys != []:  # a total, which each grouping adds up to
                yield own if keys is None else _grouped(own, keys)


def _branches(query: exp.Expr) -> Iterator[exp.Select]:
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        yield from _branches(query.this)
        yield from _branches(query.expression)
    elif isinstance(query, exp.Select):
        yield query
    else:
        raise levels.No(laws.IS_UNDERSTOOD.broken_by(type(query).__name__.upper()))


def _is_null(node: exp.Expr) -> bool:
    """Whether an expression stands in the place of a column that a grouping does not have."""
    inner = without_parentheses(node)
    return isinstance(inner.this if isinstance(inner, exp.Cast) else inner, exp.Null)


def _by_what_is_kept(own: exp.Select, shown: list[exp.Expr], kept: list[exp.Expr]) -> exp.Select:
    """A grouping without the columns that it shows as NULL; those it groups by, written out."""
    group = own.args.get("group")
    for each in list(group.expressions) if group is not None else ():
        if isinstance(each, exp.Literal) and not each.is_string:
            each.replace(shown[int(each.name) - 1].unalias().copy())
    own.set("expressions", kept)
    return own


def _sets(query: exp.Select) -> Iterator[list[exp.Expr] | None]:
    """The lists of keys that a query is grouped by; None of one that is grouped by a plain list."""
    group = query.args.get("group")
    terms = list(levels.terms_of(group.expressions)) if group is not None else []
    several = [each for each in terms if isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets)]
    if not several:
        yield None
        return
    if len(several) > 1:
        raise levels.No(laws.IS_UNDERSTOOD.broken_by("several of ROLLUP, CUBE and GROUPING SETS"))
    plain = [each for each in terms if each is not several[0]]
    items = [[*levels.terms_of([each])] for each in several[0].expressions]
    many = len(items)
    match several[0]:
        case exp.GroupingSets():
            kept = [[at] for at in range(many)]
        case exp.Rollup():
            kept = [[*range(end)] for end in range(many, -1, -1)]
        case _:
            sizes = range(many, -1, -1)
            kept = [[*each] for size in sizes for each in combinations(range(many), size)]
    for places in kept:
        yield [*plain, *(term for at in places for term in items[at])]


def _grouped(query: exp.Select, keys: list[exp.Expr]) -> exp.Select:
    """A query that is grouped by a plain list, and shows no other column."""
    found = query.copy()
    shown = query.expressions
    texts = set()
    for key in keys:
        is_place = isinstance(key, exp.Literal) and not key.is_string
        texts.add(levels.text_of(shown[int(key.name) - 1].unalias() if is_place else key))
    found.set(
        "expressions",
        [
            each.copy()
            for each in shown
            if (each.find(exp.AggFunc) and not each.find(exp.Grouping))
            or {levels.text_of(each.unalias()), levels.text_of(exp.column(each.alias_or_name))}
            & texts
        ],
    )
    plain = [key.copy() for key in keys if not isinstance(key, exp.Literal)]
    plain += [shown[int(key.name) - 1].unalias().copy() for key in keys
              if isinstance(key, exp.Literal)]  # fmt: skip
    found.set("group", exp.Group(expressions=plain))
    return found
