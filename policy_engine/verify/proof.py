"""The proof: a text in, the mechanism it is out, or every reason why it is none.

``prove`` reads the text with the kernel's own grammar and interpreter, and knows nothing of
how the text was made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from policy_engine.errors import Finding
from policy_engine.verify.findings import Findings
from policy_engine.verify.grammar import read_statement
from policy_engine.verify.reading import Reader
from policy_engine.verify.recodes import read_recoding
from policy_engine.verify.schema import Schema
from policy_engine.verify.shape import (
    ROW_UNIT,
    ColumnShape,
    Kind,
    Relation,
    ReleaseShape,
    Sample,
    Stage,
    Value,
)
from policy_engine.verify.totality import check_key

UNORDERED = "the order in which rows are stored or shown is not part of the release"


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
    >>> [str(finding) for finding in prove("select zip from people", "duckdb").findings][0][:30]
    '1:8: V09 groups must be releas'
    """
    findings = Findings()
    try:
        return _prove(text, dialect, schema or Schema(), findings)
    except RecursionError:
        findings.add("V02", "an expression that is nested too deeply", (1, 1))
        return Proof(None, (), findings.sorted())


def _prove(text: str, dialect: str, schema: Schema, findings: Findings) -> Proof:
    statement = read_statement(text, dialect, findings)
    if statement is None:
        return Proof(None, (), findings.sorted())
    query: exp.Expr = statement
    target, replaces = None, False
    if isinstance(statement, exp.Create):
        if statement.kind != "TABLE" or not isinstance(statement.this, exp.Table):
            findings.add("V31", f"CREATE {statement.kind}", (1, 1))
        target = ".".join(part.name for part in statement.find(exp.Table).parts)  # type: ignore[union-attr]  # every CREATE names one
        replaces = bool(statement.args.get("replace"))
        query = statement.expression or statement
    reader = Reader(text, dialect, schema, findings)
    relation = reader.read(query, {})
    if relation is not None:
        _check_stage(relation, findings)
    if findings or relation is None:
        return Proof(None, (), findings.sorted())
    assumed = set(reader.assumed)
    for value in (*reader.group_values, *reader.predicates):
        assumed |= check_key(value, relation.source, schema, text, findings)
    if findings:
        return Proof(None, (), findings.sorted())
    shape = _shape(relation, target, replaces)
    return Proof(shape, tuple(sorted(assumed | _assumptions(shape, relation))), ())


def _check_stage(relation: Relation, findings: Findings) -> None:
    if relation.stage is Stage.RELEASED:
        return
    if relation.sample is None:
        findings.add("V03", f"all rows of {relation.source}", (1, 1))
    found = "groups of any size" if relation.stage is Stage.COUNTED else "single rows"
    findings.add("V09", found, (1, 1))


def _shape(relation: Relation, target: str | None, replaces: bool) -> ReleaseShape:
    sample = relation.sample
    assert isinstance(sample, Sample) and relation.k is not None
    counts = [name for name, value in relation.columns.items() if value.kind is Kind.COUNT]
    columns = tuple(
        _column(name, value)
        for name, value in relation.columns.items()
        if value.kind is not Kind.COUNT
    )
    shown = list(relation.columns)
    return ReleaseShape(
        source=relation.source,
        unit=sample.unit,
        rate=sample.rate,
        method=sample.method,
        k=relation.k,
        columns=columns,
        count=counts[0] if counts else None,
        form="rows" if relation.repeated else "counts",
        target=target,
        keys=relation.keys,
        rank_order=relation.rank_order,
        one_row=relation.one_row,
        filtered=relation.filtered,
        ordered=all(name in relation.order for name in shown if name not in counts),
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


def _assumptions(shape: ReleaseShape, relation: Relation) -> set[str]:
    assumed = {f"{shape.source} is a base table"} if relation.open else set()
    if shape.unit == ROW_UNIT:
        assumed.add(f"one row of {shape.source} is one person")
    elif not shape.one_row:
        assumed.add(f"{shape.unit} is unique in {shape.source}")
    if not shape.ordered:
        assumed.add(UNORDERED)
    assumed.add(METHODS[shape.method])
    return assumed


METHODS = {
    "drawn": "the sample was drawn by AES-128 under a fresh 128-bit secret that stays unknown",
    "keyed": "the secret has at least 128 bits, is fresh for this release and stays unknown",
    "native": "the engine is DuckDB 2.0 or later: its random numbers are independent and uniform",
    "random": "the engine is DuckDB 2.0 or later: its random numbers are independent and uniform",
}
"""What each way of sampling assumes (sampling.md)."""
