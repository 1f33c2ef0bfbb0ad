"""Row expressions: deterministic functions of one row of the source.

``row_value`` proves that an expression is one, and says which source columns it depends on.
"A recode is sound when it is a deterministic function of the one row": what may stand in it
is the grammar's ``ROW_NODES``; everything else is a finding with a law of its own.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.verify.findings import Findings
from policy_engine.verify.grammar import ROW_NODES
from policy_engine.verify.positions import position
from policy_engine.verify.sampling import ROW_NUMBERS
from policy_engine.verify.shape import Kind, Relation, Stage, Value

# An inner expression is carried into the outer one only while it is this small, so that a
# chain of CTEs cannot double its text at every step.
_CARRIED_NODES = 16

_CODES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Rand, "V06"),
    (exp.Window, "V10"),
    (exp.AggFunc, "V08"),
    (exp.Select, "V11"),
    (exp.Subquery, "V11"),
    (exp.Placeholder, "V19"),
    (exp.Parameter, "V19"),
    (exp.Func, "V14"),
)


def lookup(column: exp.Column, relation: Relation) -> Value | None:
    """The value a column name stands for in ``relation``; None where there is none."""
    name = column.name.lower()
    qualifier = column.table.lower()
    if qualifier and qualifier not in relation.names:
        return None
    if name in relation.columns:
        return relation.columns[name]
    if relation.open:
        return Value(Kind.VALUE, frozenset({name}), exp.column(column.name, quoted=True))
    return None


def row_value(node: exp.Expr, relation: Relation, text: str, findings: Findings) -> Value:
    """``node`` as a function of one row of ``relation``; findings where it is not one."""
    if isinstance(node, exp.Paren):
        return row_value(node.this, relation, text, findings)
    if isinstance(node, exp.Column):
        return _column_value(node, relation, text, findings)
    inputs: frozenset[str] = frozenset()
    replaced: dict[int, exp.Expr] = {}
    carried = True
    for child in _checked_columns(node, text, findings):
        value = _column_value(child, relation, text, findings)
        inputs |= value.inputs
        if value.expression is None:
            carried = False
        else:
            replaced[id(child)] = value.expression
    expression = _substitute(node, replaced) if carried else None
    return Value(Kind.VALUE, inputs, expression)


def _checked_columns(node: exp.Expr, text: str, findings: Findings) -> list[exp.Column]:
    """The columns of ``node``; a node outside ROW_NODES is a finding, once, not entered."""
    columns: list[exp.Column] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Column):
            columns.append(current)
        elif type(current) not in ROW_NODES or current.args.get("query"):
            code = next((c for kind, c in _CODES if isinstance(current, kind)), "V02")
            code = "V11" if current.args.get("query") else code
            findings.add(code, current.sql("duckdb")[:80], position(current, text))
        else:
            stack.extend(current.iter_expressions())
    return columns


def _column_value(node: exp.Column, relation: Relation, text: str, findings: Findings) -> Value:
    value = lookup(node, relation)
    place = position(node, text)
    if isinstance(node.this, exp.Star) or value is None:
        findings.add("V30", f"{node.sql('duckdb')}", place)
        return Value(Kind.VALUE)
    if value.inputs & ROW_NUMBERS and relation.stage is not Stage.RELEASED:
        findings.add("V20", node.name, place)
    if value.kind is not Kind.VALUE and relation.stage is not Stage.RELEASED:
        code = "V10" if value.kind is Kind.RANK else "V09"
        findings.add(code, f"{node.name} inside a row expression", place)
    return value


def _substitute(node: exp.Expr, replaced: dict[int, exp.Expr]) -> exp.Expr | None:
    if any(_size(expression) > _CARRIED_NODES for expression in replaced.values()):
        return None
    return rebuilt(node, replaced)


def rebuilt(node: exp.Expr, replaced: dict[int, exp.Expr]) -> exp.Expr:
    """A copy of ``node`` with the nodes whose ids are in ``replaced`` exchanged."""
    if id(node) in replaced:
        return replaced[id(node)].copy()
    clone = type(node)()
    for part, value in node.args.items():
        if isinstance(value, list):
            clone.set(part, [_part(item, replaced) for item in value])
        else:
            clone.set(part, _part(value, replaced))
    return clone


def _part(value: object, replaced: dict[int, exp.Expr]) -> object:
    return rebuilt(value, replaced) if isinstance(value, exp.Expr) else value


def _size(node: exp.Expr) -> int:
    return sum(1 for _ in node.walk())
