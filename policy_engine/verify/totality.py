"""What a row expression needs from types: that it cannot fail, and that it groups exactly.

A cast that fails aborts the query and so tells that the row exists; a floating-point key or
a case-insensitive collation lets one row choose how another is shown. With a schema both are
decided. Without one, what would need it becomes an assumption of the certificate.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.verify.findings import Findings
from policy_engine.verify.positions import position
from policy_engine.verify.recodes import read_recoding
from policy_engine.verify.schema import Schema
from policy_engine.verify.shape import Value

FLOAT_TYPES = frozenset({"FLOAT", "DOUBLE", "REAL", "FLOAT4", "FLOAT8"})
_NUMERIC = FLOAT_TYPES | {
    "TINYINT", "SMALLINT", "INTEGER", "INT", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
    "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL",
}  # fmt: skip
_INTEGRAL = _NUMERIC - FLOAT_TYPES - {"DECIMAL"}
_CALENDAR = frozenset({"DATE", "TIMESTAMP"})
_TEXT = frozenset({"VARCHAR", "TEXT"})
_CAN_FAIL = (
    exp.Add, exp.Sub, exp.Mul, exp.Abs, exp.Neg, exp.DateTrunc, exp.TimestampTrunc,
)  # fmt: skip


def _base(kind: str | None) -> str | None:
    return None if kind is None else kind.upper().split("(")[0].split(" COLLATE")[0].strip()


def infer_type(node: exp.Expr, source: str, schema: Schema) -> str | None:
    """The type of a row expression where it is plain to see, else None."""
    if isinstance(node, exp.Paren):
        return infer_type(node.this, source, schema)
    if isinstance(node, exp.Column):
        return _base(schema.type_of(source, node.name))
    if isinstance(node, exp.Cast):
        return _base(node.to.sql("duckdb"))
    if isinstance(node, exp.Literal):
        return "VARCHAR" if node.is_string else "DECIMAL"
    if isinstance(node, exp.Collate | exp.Left | exp.Right | exp.Lower | exp.Upper | exp.DPipe):
        return "VARCHAR"
    if isinstance(node, exp.Case):
        branches = [branch.args["true"] for branch in node.args["ifs"]]
        branches.append(node.args.get("default") or exp.Null())
        kinds = {infer_type(b, source, schema) for b in branches if not isinstance(b, exp.Null)}
        return kinds.pop() if len(kinds) == 1 else None
    return None


def check_key(value: Value, source: str, schema: Schema, text: str, findings: Findings) -> set[str]:
    """Findings for a grouped value that can fail or is a float; else what must be assumed."""
    assumed: set[str] = set()
    node = value.expression
    if node is None:
        return {"no recoding fails on any row", "no grouped column is a floating-point number"}
    assumed |= _check_failures(node, source, schema, text, findings)
    kind = infer_type(node, source, schema)
    if kind in FLOAT_TYPES:
        findings.add("V18", f"{node.sql('duckdb')} of type {kind}", position(node, text))
    elif kind is None:
        assumed.add("no grouped column is a floating-point number")
    if kind in _TEXT | {None} and not _is_labels(node) and not _pins_collation(node):
        if any(_has_collation(c, source, schema) for c in node.find_all(exp.Column)):
            findings.add("V32", node.sql("duckdb"), position(node, text))
        elif kind is None or not schema.known:
            assumed.add("text is compared byte by byte, without a collation")
    return assumed


def _has_collation(column: exp.Column, source: str, schema: Schema) -> bool:
    return "COLLATE" in (schema.type_of(source, column.name) or "").upper()


def _pins_collation(node: exp.Expr) -> bool:
    return any(c.expression.name.lower() == "binary" for c in node.find_all(exp.Collate))


def _is_labels(node: exp.Expr) -> bool:
    """Whether the value is one of a few literals, whatever the source holds."""
    return node.find(exp.Column) is None


def _check_failures(
    node: exp.Expr, source: str, schema: Schema, text: str, findings: Findings
) -> set[str]:
    total_form = read_recoding(node) is not None
    assumed: set[str] = set()
    for part in node.walk():
        if isinstance(part, exp.Cast) and not isinstance(part, exp.TryCast):
            known = _cast_is_total(part, source, schema)
            shown = part.sql("duckdb")
            if known is None:
                assumed.add(f"{shown} fails on no row")
            elif not known:
                findings.add("V17", shown, position(part, text))
        elif isinstance(part, _CAN_FAIL) and not total_form and not _in_try(part):
            assumed.add(f"{part.sql('duckdb')} fails on no row")
    return assumed


def _in_try(node: exp.Expr) -> bool:
    """Constants fail when the query is bound, before any row is read."""
    return node.find(exp.Column) is None


def _cast_is_total(cast: exp.Cast, source: str, schema: Schema) -> bool | None:
    """Whether a CAST succeeds on every value of its type; None where the type is unknown."""
    target = _base(cast.to.sql("duckdb"))
    if cast.find(exp.Column) is None or target in _TEXT:
        return True
    if target == "DATE" and isinstance(cast.this, exp.DateTrunc | exp.TimestampTrunc):
        return True
    kind = infer_type(cast.this, source, schema)
    if kind is None:
        return None
    if kind == target:
        return True
    if target == "DOUBLE":
        return kind in _NUMERIC
    if target == "HUGEINT":
        return kind in _INTEGRAL - {"UHUGEINT"}
    if target == "BIGINT":
        return kind in _INTEGRAL - {"HUGEINT", "UHUGEINT", "UBIGINT"}
    return target == "DATE" and kind in _CALENDAR
