"""Names: what one stands for where it stands, the list of a SELECT, and the order of its rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from policy_engine.expressions.evaluation import Resolver, canonical, evaluate, reads
from policy_engine.expressions.values import Role, Value, is_no_place, names_one_column
from policy_engine.relations.shape import Joined, Shape, Stage, Term
from policy_engine.syntax.findings import Notes, law, shown
from policy_engine.syntax.literals import bare, by_bytes, ordinal, unaliased
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import keeps_one_row

ROW_NUMBERS = frozenset({"rowid", "file_row_number", "file_index"})
"""Pseudo-columns that say where in the source a row stands."""

FUNCTIONS = frozenset({
    "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "filename", "localtime", "localtimestamp", "session_user",
    "user",
})  # fmt: skip
"""Words that are functions, in quotes too, where the table has no column of that name."""

UNKNOWN = Value(Role.VALUE)
_TOTALS = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_RANKS = (exp.Rank, exp.DenseRank)


def qualifier_of(node: exp.Column) -> str:
    """What a column is qualified with, '' where it is not."""
    return ".".join(fold(part.name) for part in node.parts[:-1])


def is_qualifier(node: exp.Column, rows: Shape) -> bool:
    """Whether a column is qualified with a name of ``rows``, or not at all."""
    qualifier = qualifier_of(node)
    return not qualifier or qualifier in rows.names


def lookup(node: exp.Expr | None, rows: Shape) -> Value | None:
    """The value a column name stands for in ``rows``; None where there is none."""
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    name, qualifier = fold(node.name), qualifier_of(node)
    lookups = rows.lookups or {}
    if qualifier in lookups:
        return _looked_up(name, lookups[qualifier])
    if not is_qualifier(node, rows):
        return None
    if name in rows.columns:
        return rows.columns[name]
    found = [_looked_up(name, each) for each in lookups.values()] if not qualifier else []
    values = [value for value in found if value is not None]
    if values:
        # Of a name that several relations may have: all that it can depend on.
        own = frozenset({name}) if rows.open else frozenset()
        return Value(Role.VALUE, own.union(*(value.inputs for value in values)))
    if name in ROW_NUMBERS and (rows.open or name == rows.row_number):
        return Value(Role.POSITION, frozenset({name}), exp.column(name, quoted=True), type="BIGINT")
    if not rows.open:
        return None
    return Value(Role.VALUE, frozenset({name}), exp.column(node.name, quoted=True))


def _looked_up(name: str, table: Joined) -> Value | None:
    """A column of a public relation: a function of what it was joined by."""
    kind = None if table.types is None else table.types.get(name)
    if table.types is not None and kind is None:
        return None
    return Value(Role.VALUE, table.inputs, type=kind, public=f"{table.name}.{name} of {table.by}")


def assume_a_column(node: exp.Expr, rows: Shape, notes: Notes) -> None:
    """Of a source whose columns are not known: a name is no function, and not its whole row."""
    if not isinstance(node, exp.Column) or not rows.open:
        return
    name = fold(node.name)
    if name in rows.columns or not is_qualifier(node, rows):
        return
    if not node.table and (name in FUNCTIONS or name in rows.names):
        notes.assume(f"{rows.source} has a column of its own called {name}")


def assume_no_column(name: str, rows: Shape, notes: Notes) -> None:
    """Of a source whose columns are not known: it has none of the name that is given here."""
    if rows.open:
        notes.assume(f"{rows.source} has no column of its own called {name}")


def check_not_a_row(node: exp.Column, rows: Shape, notes: Notes) -> None:
    """Before an alias, the engine takes a lookup's column, and a relation, which is a row."""
    hidden = any(_looked_up(fold(node.name), each) for each in (rows.lookups or {}).values())
    if hidden or fold(node.name) in rows.names:
        found = f"{shown(node)}, an alias or a row of {rows.source}"
        notes.judge(names_one_column(found), node)


def resolver(rows: Shape, notes: Notes, aliases: Mapping[str, Value] | None = None) -> Resolver:
    """Resolves the columns of ``rows``, and ``aliases`` given before in the same select."""
    is_released = rows.stage is Stage.RELEASED

    def resolve(node: exp.Expr) -> Value | None:
        if is_released and is_symmetric(node, resolve):
            return Value(Role.DERIVED)
        if not isinstance(node, exp.Column):
            return None
        alias = _alias(node, rows, notes, aliases or {})
        value = alias or lookup(node, rows)
        if value is None:
            notes.judge(names_one_column(shown(node)), node)
            return UNKNOWN
        if alias is None:
            assume_a_column(node, rows, notes)
        if not is_released and value.kind is Role.POSITION:
            notes.judge(is_no_place(node.name), node)
        elif not is_released and value.kind is Role.RANK:
            found = f"{node.name} inside a row expression"
            notes.judge(keeps_one_row.broken_by(found), node)
        return value

    return resolve


def _alias(
    node: exp.Column, rows: Shape, notes: Notes, aliases: Mapping[str, Value]
) -> Value | None:
    """The value of an alias: the engine looks for a column of that name first."""
    name = fold(node.name)
    value = None if node.table or name in rows.columns else aliases.get(name)
    if value is None:
        return None
    check_not_a_row(node, rows, notes)
    if rows.open and name in value.inputs:
        return None
    assume_no_column(name, rows, notes)
    return value


def is_symmetric(node: exp.Expr, resolve: Resolver) -> bool:
    """Whether a window over released groups shows nothing of the order in which they stand.

    What is made of released groups alone is nobody's business (post-processing); but a
    row_number() would show where the engine stored them.
    """
    if not isinstance(node, exp.Window):
        return False
    made = node.this
    known = is_order_free(made, resolve) or (isinstance(made, _RANKS) and not made.expressions)
    order = node.args.get("order")
    terms = [term.this for term in order.expressions] if order else []
    parts = [*(node.args.get("partition_by") or ()), *terms]
    return known and all(resolve(bare(part)) is not None for part in parts)


def is_order_free(made: exp.Expr, resolve: Resolver) -> bool:
    """Whether an aggregate of released groups is one number, in whatever order they stand."""
    if isinstance(made, _TOTALS):
        value = resolve(bare(made.this))
        return value is not None and value.kind is Role.COUNT
    return isinstance(made, exp.Count) and isinstance(made.this, exp.Star)


# The list of a SELECT: stars, aliases, and the names under which others read it


def unalias(query: exp.Select, rows: Shape, notes: Notes) -> None:
    """Put the expression of an alias where DuckDB reads the alias: behind WHERE and in keys.

    It does so where the source has no such column; of a source without a schema that is
    assumed.
    """
    aliases = {
        fold(item.alias): item.this
        for item in query.expressions
        if isinstance(item, exp.Alias) and not reads(item, fold(item.alias))
    }
    windows = [w for item in query.expressions for w in item.find_all(exp.Window)]
    for place in (query.args.get("where"), query.args.get("qualify"), *windows):
        for column in list(place.find_all(exp.Column)) if place is not None else ():
            name = fold(column.name)
            if name not in aliases or column.table or name in rows.columns:
                continue
            if any(reads(aliases[name], other) for other in aliases):
                notes.judge(names_one_column(f"{name}, an alias of aliases"), column)
                continue
            check_not_a_row(column, rows, notes)
            assume_no_column(name, rows, notes)
            column.replace(exp.Paren(this=aliases[name].copy()))
    stars = [star for item in query.expressions for star in item.find_all(exp.Star)]
    replaced = [node for star in stars for node in star.args.get("replace") or ()]
    for column in [c for node in replaced if rows.open for c in node.find_all(exp.Column)]:
        if not column.table and fold(column.name) in aliases:
            found = f"{column.name}, an alias of this select"
            notes.judge(names_one_column(found), column)


def check_hidden(
    query: exp.Select, columns: Mapping[str, Value], rows: Shape, notes: Notes
) -> None:
    """Beside a ``*`` of unknown columns: the engine takes the first of a name."""
    stars = [star for item in query.expressions if (star := star_of(item, rows)) is not None]
    left_out = left_out_of(stars[0]) if len(stars) == 1 else ()
    for item in query.expressions:
        name = output_name(item)
        value = columns.get(name)
        if star_of(item, rows) is not None or value is None or value.column == name:
            continue
        if name in left_out:
            continue
        if name in value.inputs:
            notes.judge(names_one_column(f"two columns called {name}"), item)
        else:
            assume_no_column(name, rows, notes)


def add_column(
    columns: dict[str, Value], name: str, value: Value, item: exp.Expr, notes: Notes
) -> None:
    """Add what an item of the list shows; a finding where another one has its name."""
    if name in columns:
        notes.judge(names_one_column(f"two columns called {name}"), item)
    columns[name] = value


def aggregates(item: exp.Expr) -> bool:
    """Whether an item makes one row of many, outside a window."""
    return item.find(exp.AggFunc) is not None and item.find(exp.Window) is None


def star_of(item: exp.Expr, rows: Shape) -> exp.Star | None:
    """The star of ``*`` or ``name.*``; None of any other item."""
    node = unaliased(item)
    if isinstance(node, exp.Column) and is_qualifier(node, rows):
        node = node.this
    return node if isinstance(node, exp.Star) else None


def left_out_of(star: exp.Star) -> frozenset[str]:
    """The names of ``EXCLUDE (a, b)``."""
    return frozenset(fold(node.name) for node in star.args.get("except_") or ())


def spread(item: exp.Expr, rows: Shape) -> list[exp.Expr]:
    """A plain ``*`` as the columns that it stands for."""
    if not isinstance(item, exp.Star) or item.args.get("except_") or item.args.get("replace"):
        return [item]
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in rows.columns]


def layout_of(query: exp.Select, rows: Shape) -> str:
    """How the columns of a select stand: a plain ``*`` leaves them as they are."""
    items = [item.sql("duckdb") for item in query.expressions]
    return rows.layout if items == ["*"] else f"{rows.layout}; {', '.join(items)}"


def output_name(item: exp.Expr) -> str:
    """The name under which others read an item."""
    if isinstance(item, exp.Alias):
        return fold(item.alias)
    node = bare(item)
    return fold(node.name) if isinstance(node, exp.Column) else canonical(node)


# The order of rows: it may show what is released, and nothing else


@law("V28")
def is_sorted(found: str | None) -> str | None:
    """Rows must be sorted by every released column [what leaves: not the order of rows].

    Write ORDER BY with every column of GROUP BY.
    """
    return found


def read_order(query: exp.Select, out: Shape, resolve: Resolver, notes: Notes) -> tuple[Term, ...]:
    """The terms of ORDER BY over the columns of ``out``; ``resolve`` knows all else."""
    clause = query.args.get("order")
    found: list[Term] = []
    for term in clause.expressions if clause else ():
        ways = bool(term.args.get("desc")), bool(term.args.get("nulls_first"))
        names = _ordered_by(by_bytes(term.this), out, resolve, notes)
        found.extend(Term(name, *ways) for name in names)
    return tuple(found)


def _ordered_by(node: exp.Expr, out: Shape, resolve: Resolver, notes: Notes) -> list[str]:
    """The output columns that one term of ORDER BY names."""
    names = list(out.columns)
    if isinstance(node, exp.Var) and node.name.upper() == "ALL":
        return names
    if isinstance(node, exp.Literal):
        place = ordinal(node)
        if place is not None and 1 <= place <= len(names):
            return [names[place - 1]]
        notes.judge(is_sorted(shown(node)), node)
        return []
    if isinstance(node, exp.Column) and fold(node.name) in out.columns:
        return [fold(node.name)]
    same = canonical(node)
    by_key = [name for name, value in out.columns.items() if value.key == same]
    if by_key:
        return by_key[:1]
    evaluate(node, resolve, notes, total=False)
    return [""]
