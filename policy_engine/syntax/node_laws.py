"""The laws by which a construct is refused wherever it stands, the most telling one first.

The grammar is an allow-list; these only say why something is not on it.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.syntax.findings import Breach, law

_ONE_ROW = (
    "; one row a person is row_number() OVER (PARTITION BY person ORDER BY ...) = 1, in QUALIFY"
    " or as a column that WHERE asks around it"
)


@law("V01")
def is_sql(parsed: bool) -> str | None:
    """The text must be one SQL statement that this dialect can parse.

    Run it in the engine first: only what runs can be certified.
    """
    return None if parsed else "text that does not parse"


@law("V15")
def stands_alone(statements: int) -> str | None:
    """One statement only: what another one sets or changes is not proved.

    Check each statement by itself.
    """
    return None if statements == 1 else f"{statements} statements"


@law("V16")
def reads_a_table(node: exp.Expr) -> str | None:
    """Every relation must be a base table, a Parquet file, or a view whose definition is known.

    Name the table, or show the definition with --schema.
    """
    return named(node) if isinstance(node.parent, exp.Table | exp.From) else None


@law("V10")
def keeps_one_row(node: exp.Expr) -> str | None:
    """A window may only keep one row a person, among that person's own rows [mechanism 1].

    Write row_number() OVER (PARTITION BY person ORDER BY ...) and keep its 1.
    """
    return named(node) if isinstance(node.parent, exp.Window) else None


@law("V08")
def only_counts(node: exp.Expr) -> str | None:
    """The count of the sampled rows of a group is the only aggregate [mechanism 3].

    Count with COUNT(*), or group by the column.
    """
    of_aggregate = isinstance(node, exp.Distinct) and isinstance(node.parent, exp.AggFunc)
    aggregate = isinstance(node, exp.AggFunc | exp.Filter) or of_aggregate
    return named(node) if aggregate else None


@law("V12")
def keeps_every_row(node: exp.Expr) -> str | None:
    """No DISTINCT, LIMIT, OFFSET or QUALIFY: which rows remain depends on others [mechanism 3].

    Take it out; a release shows all groups of at least k.
    """
    cuts = exp.Distinct | exp.Limit | exp.Offset | exp.Qualify
    if not isinstance(node, cuts):
        return None
    one_row = isinstance(node, exp.Qualify) or node.args.get("on")
    return type(node).__name__.upper() + (_ONE_ROW if one_row else "")


@law("V13")
def reads_one_relation(node: exp.Expr) -> str | None:
    """A release reads each row of one relation once: no join, union or lateral query.

    Allowed are UNION ALL of parts of one table that no row is in twice, and a join to a lookup
    that the policy declares public, by its key.
    """
    combines = exp.Join | exp.Lateral | exp.SetOperation | exp.Pivot | exp.Unnest
    return named(node) if isinstance(node, combines) else None


@law("V11")
def asks_no_query(node: exp.Expr) -> str | None:
    """A column or predicate must not read another query: g is fixed in advance [mechanism 2].

    Write the values into the text.
    """
    asks = isinstance(node, exp.Exists | exp.Subquery | exp.Select) or node.args.get("query")
    return named(node) if asks else None


@law("V06")
def is_not_random(node: exp.Expr) -> str | None:
    """Random numbers are allowed only to draw the sample, as random() < rate beside the table.

    Put random() < 0.1 into the WHERE of the query that reads the table.
    """
    return named(node) if isinstance(node, exp.Rand | exp.Uuid) else None


@law("V14")
def is_deterministic(node: exp.Expr) -> str | None:
    """Only functions the kernel knows to be deterministic, of one row, are allowed [mechanism 2].

    Write it as CASE, or with a function of docs/howto/check-sql.md.
    """
    return named(node) if isinstance(node, exp.Func) else None


@law("V02")
def is_in_the_grammar(node: exp.Expr) -> str | None:
    """Only constructs of the kernel's grammar are allowed.

    Write it in one of the forms of docs/howto/check-sql.md.
    """
    return named(node)


def is_item(node: exp.Alias) -> bool:
    """Whether a name stands where every engine reads one: behind an item of a select list.

    One inside an expression is a name in one engine for the whole query, and an error elsewhere.
    """
    listed = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
    return listed or isinstance(node.parent, exp.Star)


REASONS = (
    reads_a_table, keeps_one_row, only_counts, keeps_every_row, reads_one_relation, asks_no_query,
    is_not_random, is_deterministic, is_in_the_grammar,
)  # fmt: skip


def reason(node: exp.Expr) -> Breach:
    """The first law that a node which is not allowed breaks where it stands."""
    found = (breach for each in REASONS if (breach := each(node)) is not None)
    return next(found)


def named(node: exp.Expr) -> str:
    """A node as a message names it."""
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name!r}"
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
        return f"the function {node.sql_name()}"
    return type(node).__name__.upper()
