"""The proof: a text in, the mechanism it is out, or every reason why it is none.

And of a view as a source: whether each of its rows comes from one unit's rows of one table. The
claim of a release is of the view's rows: a person's rows in the view are then that person's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from policy_engine.errors import Finding, NotCertifiable
from policy_engine.expressions.conversions import NEVER
from policy_engine.expressions.recodes import read_recoding
from policy_engine.expressions.values import Role, Value, cannot_fail
from policy_engine.kernel.sentences import ROW_UNIT, is_a_person, is_unique, of_its_sample
from policy_engine.relations.assumptions import APART, BUILT_INS, TIES, UNORDERED
from policy_engine.relations.shape import ColumnShape, Rank, ReleaseShape, Shape, Stage
from policy_engine.relations.sources import Sources
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.grammar import read_statement
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.node_laws import is_in_the_grammar
from policy_engine.syntax.schema import Schema
from policy_engine.verify import laws
from policy_engine.verify.reading import Reader


@dataclass(frozen=True)
class Proof:
    """``shape`` is None exactly when there are ``findings``."""

    shape: ReleaseShape | None
    assumptions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default=())


def prove(text: str, schema: Schema | None = None) -> Proof:
    """The mechanism that a text of DuckDB is, with what had to be assumed, or the findings.

    Guarantee: where a shape is returned and its assumptions hold, running the text is
    sampling each unit of ``shape.source`` at ``shape.rate``, recoding row by row, and
    releasing groups of at least ``shape.k`` ([EXACT]).

    >>> proof = prove(
    ...     "select left(zip, 3) as zip, count(*) as n from people"
    ...     " tablesample bernoulli (10 percent) group by 1 having count(*) >= 20 order by 1",
    ... )
    >>> proof.shape.k, str(proof.shape.rate), proof.shape.unit
    (20, '1/10', 'row')
    >>> [finding.code for finding in prove("select zip from people").findings]
    ['V03', 'V09']
    """
    known = schema or Schema()
    notes = Notes(text, strict=known.known)
    shape = None
    try:
        shape = _prove(text, known, notes)
    except RecursionError:
        notes.judge(is_in_the_grammar.broken_by("an expression that is nested too deeply"))
    if shape is None or notes.findings:
        return Proof(None, (), notes.findings)
    return Proof(shape, tuple(sorted(notes.assumed)), ())


def _prove(text: str, schema: Schema, notes: Notes) -> ReleaseShape | None:
    statement = read_statement(text, notes)
    if statement is None:
        return None
    query, target = statement, None
    if isinstance(statement, exp.Create):
        table = statement.this
        plain = statement.kind == "TABLE" and isinstance(table, exp.Table) and not table.alias
        notes.judge(laws.is_a_table(None if plain else f"CREATE {statement.kind}"))
        target = dotted(part.name for part in table.parts) if isinstance(table, exp.Table) else None
        query = statement.expression or statement
    rows = Reader(Sources(schema), notes).read(query, {})
    if rows is None:
        return None
    notes.judge(laws.spares_its_source(target, rows))
    if rows.stage is Stage.ROWS:
        notes.judge(laws.is_sampled(rows))
    if rows.stage is not Stage.RELEASED and all(each.code != "V09" for each in notes.findings):
        single = "groups of any size" if rows.stage is Stage.COUNTED else "single rows"
        notes.judge(laws.has_threshold(None, single))
    if notes.findings:
        return None
    shape = _shape(rows, target)
    _assume(shape, rows, notes)
    return shape


def _shape(rows: Shape, target: str | None) -> ReleaseShape:
    sample, rank = rows.sample, rows.rank
    assert sample is not None and sample.rate is not None and sample.unit is not None
    assert rows.k is not None
    counts = [name for name, value in rows.columns.items() if value.kind is Role.COUNT]
    columns = {name: v for name, v in rows.columns.items() if v.kind is not Role.COUNT}
    seen = {value.key for value in columns.values()}
    return ReleaseShape(
        source=rows.source,
        is_file=rows.is_file,
        views=rows.views,
        table=rows.table or rows.source,
        unit=sample.unit,
        rate=sample.rate,
        method=sample.method,
        k=rows.k,
        columns=tuple(_column(name, value, rows) for name, value in columns.items()),
        count=counts[0] if counts else None,
        shown=tuple(rows.columns),
        form="rows" if rows.repeated else "counts",
        target=target,
        hidden=tuple(key for key in rows.keys if key not in seen),
        rank_order=rank.order if rank is not None else (),
        draws_a_row=rank is not None and rank.drawn,
        one_row=rows.one_row,
        filtered=rows.filtered,
        order=rows.order,
    )


def _column(name: str, value: Value, rows: Shape) -> ColumnShape:
    inputs, node = tuple(sorted(value.inputs)), value.expression
    read = [rows.base[column] for column in inputs if column in rows.base]
    kind = read[0].type if len(read) == 1 else None
    made = value.public or f"a function of {', '.join(inputs)}"
    sql = node.sql("duckdb", pretty=True) if node is not None else made
    # A column of the source of that name is what a policy means.
    public = None if name in rows.base else value.public
    collated = any(each.collated for each in read)
    if node is None or value.kind is not Role.VALUE or (collated and not node.find(exp.Collate)):
        return ColumnShape(name, inputs, kind, None, None, None, sql, public)
    recoding, _, read_as = read_recoding(node, kind) or (None, None, None)
    return ColumnShape(name, inputs, kind, None if collated else node, recoding, read_as, sql)


def _ties(rank: Rank, shape: ReleaseShape, rows: Shape) -> set[str]:
    """What must be assumed so that rows that tie are alike in all that is read: any will do."""
    read = frozenset(name for column in shape.columns for name in column.inputs)
    if rank.total:
        return set()
    if rows.filtered or shape.hidden or not read <= rank.apart | rank.perhaps:
        return {TIES}
    return set() if read <= rank.apart else {APART}


def _assume(shape: ReleaseShape, rows: Shape, notes: Notes) -> None:
    if shape.unit == ROW_UNIT:
        notes.assume(is_a_person(shape.unit, shape.source))
    elif not shape.one_row and not (shape.unit in rows.base and rows.base[shape.unit].unique):
        notes.assume(is_unique(shape.unit, shape.source))
    elif rows.rank is not None:
        notes.assumed.update(_ties(rows.rank, shape, rows))
    if not shape.ordered:
        notes.assume(UNORDERED)
    notes.assume(BUILT_INS)
    for text in of_its_sample(shape.method, shape.unit, "duckdb"):
        notes.assume(text)


def table_below(
    view: tuple[str, ...],
    columns: tuple[str, ...],
    schema: Schema,
    unit: str | None = None,
) -> str:
    """The name of the table whose rows ``view`` shows one by one, through whatever views.

    ``unit`` is the column that tells people apart; None where each row is one.

    Raises:
        NotCertifiable: its text, or that of a view below it, shows something else.
    """
    names = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns]
    parts = [exp.to_identifier(part, quoted=True) for part in reversed(view)]
    source = exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))
    query = exp.select(*names).from_(source)
    notes = Notes(query.sql("duckdb"), strict=True)
    rows = Reader(Sources(schema), notes).read(query, {})
    for doubt in sorted(notes.assumed):  # the claim of a view's rows states none of them
        notes.judge(cannot_fail(f"in the view {'.'.join(view)}, {doubt.removesuffix(NEVER)}"))
    if rows is not None and not notes.findings:
        is_raw = rows.sample is None and rows.stage is Stage.ROWS
        # Each is a function of one row of a table, or the row that a person's rows choose.
        is_own = unit is not None and (rows.rank is None or fold(rows.rank.unit) == fold(unit))
        if not is_raw or not (is_own or rows.is_plain):
            found = f"in the view {'.'.join(view)}, rows that depend on others"
            notes.judge(laws.counts_units.broken_by(found))
    if rows is None or notes.findings:
        raise NotCertifiable(notes.findings)
    return rows.table or rows.source
