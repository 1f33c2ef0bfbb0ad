"""The proof: a text in, the mechanism it is out, or every reason why it is none.

``prove`` reads the text with the kernel's own grammar and interpreter, and knows nothing of
how the text was made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from policy_engine.errors import Finding
from policy_engine.expressions.recodes import read_recoding
from policy_engine.expressions.values import Kind, Value
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.grammar import read_statement
from policy_engine.syntax.names import dotted
from policy_engine.verify.reading import Reader
from policy_engine.verify.schema import Schema
from policy_engine.verify.shape import ROW_UNIT, ColumnShape, Relation, ReleaseShape, Stage
from policy_engine.verify.sources import Sources

UNORDERED = "the order in which rows are stored or shown is not part of the release"
BUILT_INS = (
    "no macro or user-defined function replaces a built-in function that the text calls, and no"
    " default collation is set"
)
TIES = "which of a person's rows is kept, where their order ties, does not depend on others"


@dataclass(frozen=True)
class Proof:
    """``shape`` is None exactly when there are ``findings``."""

    shape: ReleaseShape | None
    assumptions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default=())


def prove(text: str, dialect: str, schema: Schema | None = None) -> Proof:
    """The mechanism that ``text`` is, with what had to be assumed, or the findings.

    Guarantee: where a shape is returned and its assumptions hold, running the text is
    sampling each unit of ``shape.source`` at ``shape.rate``, recoding row by row, and
    releasing groups of at least ``shape.k`` ([EXACT]).

    Raises:
        UsageError: the kernel has no rules for ``dialect``.

    >>> proof = prove(
    ...     "select left(zip, 3) as zip, count(*) as n from people"
    ...     " tablesample bernoulli (10 percent) group by 1 having count(*) >= 20 order by 1",
    ...     "duckdb",
    ... )
    >>> proof.shape.k, str(proof.shape.rate), proof.shape.unit
    (20, '1/10', 'row')
    >>> [finding.code for finding in prove("select zip from people", "duckdb").findings]
    ['V03', 'V09']
    """
    known = schema or Schema()
    notes = Notes(text, strict=known.known)
    shape = None
    try:
        shape = _prove(text, dialect, known, notes)
    except RecursionError:
        notes.find("V02", "an expression that is nested too deeply")
    if shape is None or notes.findings:
        return Proof(None, (), notes.findings.sorted())
    return Proof(shape, tuple(sorted(notes.assumed)), ())


def _prove(text: str, dialect: str, schema: Schema, notes: Notes) -> ReleaseShape | None:
    statement = read_statement(text, dialect, notes.findings)
    if statement is None:
        return None
    query: exp.Expr = statement
    target, replaces = None, False
    if isinstance(statement, exp.Create):
        table = statement.this
        if statement.kind != "TABLE" or not isinstance(table, exp.Table) or table.alias:
            notes.find("V31", f"CREATE {statement.kind}")
        target = dotted(part.name for part in table.parts) if isinstance(table, exp.Table) else None
        replaces = bool(statement.args.get("replace"))
        query = statement.expression or statement
    relation = Reader(Sources(schema, dialect), notes).read(query, {})
    if relation is None:
        return None
    _check_stage(relation, notes)
    if notes.findings:
        return None
    shape = _shape(relation, target, replaces)
    _assume(shape, relation, notes)
    return shape


def _check_stage(relation: Relation, notes: Notes) -> None:
    if relation.stage is Stage.RELEASED:
        return
    if not relation.sampling and relation.stage is not Stage.COUNTED:
        notes.find("V03", f"all rows of {relation.source}")
    if not notes.findings.has("V09"):
        found = "groups of any size" if relation.stage is Stage.COUNTED else "single rows"
        notes.find("V09", found)


def _shape(relation: Relation, target: str | None, replaces: bool) -> ReleaseShape:
    sample = relation.sample
    assert sample is not None and relation.k is not None
    counts = [name for name, value in relation.columns.items() if value.kind is Kind.COUNT]
    columns = {name: v for name, v in relation.columns.items() if v.kind is not Kind.COUNT}
    seen = {value.key for value in columns.values()}
    return ReleaseShape(
        source=relation.source,
        is_file=relation.is_file,
        views=relation.views,
        unit=sample.unit,
        rate=sample.rate,
        method=sample.method,
        k=relation.k,
        columns=tuple(_column(name, value) for name, value in columns.items()),
        count=counts[0] if counts else None,
        shown=tuple(relation.columns),
        form="rows" if relation.repeated else "counts",
        target=target,
        hidden=tuple(key for key in relation.keys if key not in seen),
        rank_order=relation.rank_order,
        one_row=relation.one_row,
        filtered=relation.filtered,
        order=relation.order,
        replaces=replaces,
    )


def _column(name: str, value: Value) -> ColumnShape:
    inputs = tuple(sorted(value.inputs))
    node = value.expression
    sql = node.sql("duckdb", pretty=True) if node is not None else f"a function of {inputs}"
    read = read_recoding(node) if node is not None and value.kind is Kind.VALUE else None
    if read is None:
        return ColumnShape(name, inputs, None, None, sql)
    return ColumnShape(name, inputs, read[0], read[2], sql)


def _assume(shape: ReleaseShape, relation: Relation, notes: Notes) -> None:
    if shape.unit == ROW_UNIT:
        notes.assume(f"one row of {shape.source} is one person")
    elif not shape.one_row:
        notes.assume(f"{shape.unit} is unique in {shape.source}")
    elif not relation.rank_is_total:
        notes.assume(TIES)
    if not shape.ordered:
        notes.assume(UNORDERED)
    notes.assume(BUILT_INS)
    notes.assume(METHODS[shape.method])


METHODS = {
    "drawn": "the sample was drawn by AES-128 under a fresh 128-bit secret that stays unknown",
    "keyed": "the secret has at least 128 bits, is fresh for this release and stays unknown",
    "native": "the engine is DuckDB 2.0 or later: its random numbers are independent and uniform",
    "random": "the engine is DuckDB 2.0 or later: its random numbers are independent and uniform",
}
"""What each way of sampling assumes (sampling.md)."""
