"""Reading how a sample is drawn.

Four forms are known, each with the law that makes it Bernoulli:

* *drawn*: ``unit IN (SELECT unit FROM policy_engine_sample_<T>)``: the engine drew the units
  outside the query, each with probability T/2⁶⁰; T stands in the relation's name in hex.
* *keyed*: ``sha256(secret || ':u:' || CAST(key AS VARCHAR)) < '<hex>'``: a pseudorandom
  function of the unit; the secret is bound, never written.
* *native*: ``TABLESAMPLE BERNOULLI (p PERCENT)`` or ``USING SAMPLE``, on a base table.
* *random*: ``random() < p`` directly over a base table.
"""

from __future__ import annotations

import re
from fractions import Fraction

from sqlglot import exp

from policy_engine.verify.findings import Findings
from policy_engine.verify.positions import position
from policy_engine.verify.shape import ROW_UNIT, Sample

ROW_NUMBERS = frozenset({"rowid", "file_row_number"})
"""Pseudo-columns that number the rows of a source: a unit for one row = one person."""

SAMPLE_BITS = 60
_DRAWN = re.compile(r"policy_engine_sample_([0-9a-f]{15})\Z")
_HEX = re.compile(r"[0-9a-f]{1,64}\Z")
_SEPARATOR = ":u:"


def read_tablesample(node: exp.TableSample, text: str, findings: Findings) -> Sample | None:
    """The sample of a TABLESAMPLE or USING SAMPLE clause, or None and findings."""
    place = position(node, text)
    method = node.args.get("method")
    name = method.name.upper() if method is not None else "the engine's default"
    if node.args.get("seed"):
        findings.add("V05", "a seed", place)
    percent = node.args.get("percent")
    if name != "BERNOULLI" or percent is None:
        found = name if name != "BERNOULLI" else "a fixed number of rows"
        findings.add("V04", f"a sample by {found}", place)
        return None
    rate = _number(percent)
    return _sample(None if rate is None else rate / 100, ROW_UNIT, "native", place, findings)


def is_sampling(predicate: exp.Expr) -> bool:
    """Whether a predicate claims to draw the sample."""
    if isinstance(predicate, exp.In) and predicate.args.get("query") is not None:
        return True
    return predicate.find(exp.Rand) is not None or _hash_side(predicate)


def _hash_side(predicate: exp.Expr) -> bool:
    return isinstance(predicate, exp.LT | exp.GT) and any(
        isinstance(side, exp.SHA2) for side in (predicate.this, predicate.expression)
    )


def read_predicate(
    predicate: exp.Expr, over_source: bool, text: str, findings: Findings
) -> Sample | None:
    """The sample that ``predicate`` draws, or None and findings."""
    place = position(predicate, text)
    if isinstance(predicate, exp.In):
        return _read_drawn(predicate, place, findings)
    less = _as_less_than(predicate)
    if less is None:
        findings.add("V06", predicate.sql("duckdb"), place)
        return None
    left, right = less
    if isinstance(left, exp.SHA2):
        return _read_keyed(left, right, place, findings)
    if not isinstance(left, exp.Rand) or not over_source:
        findings.add("V06", predicate.sql("duckdb"), place)
        return None
    return _sample(_number(right), ROW_UNIT, "random", place, findings)


def _as_less_than(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    if isinstance(node, exp.LT | exp.LTE):
        return node.this, node.expression
    if isinstance(node, exp.GT | exp.GTE):
        return node.expression, node.this
    return None


def _read_drawn(node: exp.In, place: tuple[int, int], findings: Findings) -> Sample | None:
    query = node.args["query"]
    select = query.this if isinstance(query, exp.Subquery) else query
    table = _only_table(select, "unit")
    match = _DRAWN.match(table.name) if table is not None else None
    if match is None or not isinstance(node.this, exp.Column):
        findings.add("V11", node.sql("duckdb"), place)
        return None
    unit = node.this.name.lower()
    rate = Fraction(int(match[1], 16), 1 << SAMPLE_BITS)
    return _sample(rate, ROW_UNIT if unit in ROW_NUMBERS else unit, "drawn", place, findings)


def _only_table(select: exp.Expr, column: str) -> exp.Table | None:
    """The bare table of ``SELECT column FROM table``, if ``select`` is no more than that."""
    if not isinstance(select, exp.Select):
        return None
    parts = {name for name, value in select.args.items() if value}
    if parts != {"expressions", "from_"} or len(select.expressions) != 1:
        return None
    item, table = select.expressions[0], select.args["from_"].this
    if not isinstance(item, exp.Column) or item.name != column or item.args.get("table"):
        return None
    if not isinstance(table, exp.Table) or {n for n, v in table.args.items() if v} != {"this"}:
        return None
    return table


def _read_keyed(
    hashed: exp.SHA2, bound: exp.Expr, place: tuple[int, int], findings: Findings
) -> Sample | None:
    parts = _concatenated(hashed.this)
    length = hashed.args.get("length")
    if length is not None and length.name != "256":
        findings.add("V04", f"SHA-{length.name}", place)
    if not bound.is_string or not _HEX.match(bound.name):
        findings.add("V04", "a bound that is not lower-case hex", place)
        return None
    if len(parts) != 3 or not parts[1].is_string or parts[1].name != _SEPARATOR:
        findings.add("V04", "a hash of something else than secret || ':u:' || key", place)
        return None
    if not _is_bound_secret(parts[0]):
        findings.add("V19", parts[0].sql("duckdb"), place)
    key = parts[2]
    if isinstance(key, exp.Cast) and not isinstance(key, exp.TryCast):
        key = key.this if key.to.is_type("text", "varchar") else key
    if not isinstance(key, exp.Column):
        findings.add("V04", f"a key that is not one column: {key.sql('duckdb')}", place)
        return None
    unit = key.name.lower()
    rate = Fraction(int(bound.name, 16), 16 ** len(bound.name))
    return _sample(rate, ROW_UNIT if unit in ROW_NUMBERS else unit, "keyed", place, findings)


def _concatenated(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Paren):
        return _concatenated(node.this)
    if isinstance(node, exp.DPipe):
        return [*_concatenated(node.this), *_concatenated(node.expression)]
    if isinstance(node, exp.Concat):
        return [part for child in node.expressions for part in _concatenated(child)]
    return [node]


def _is_bound_secret(node: exp.Expr) -> bool:
    """A parameter, or the salt of one release from the secrets relation."""
    if isinstance(node, exp.Placeholder | exp.Parameter):
        return True
    if not isinstance(node, exp.Subquery) or not isinstance(node.this, exp.Select):
        return False
    select = node.this
    if {n for n, v in select.args.items() if v} != {"expressions", "from_", "where"}:
        return False
    condition, table = select.args["where"].this, select.args["from_"].this
    return (
        len(select.expressions) == 1
        and isinstance(select.expressions[0], exp.Column)
        and select.expressions[0].name == "salt"
        and isinstance(table, exp.Table)
        and isinstance(condition, exp.EQ)
        and isinstance(condition.this, exp.Column)
        and condition.this.name == "release_id"
        and condition.expression.is_string
    )


def _number(node: exp.Expr) -> Fraction | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string:
        return Fraction(node.name)
    if isinstance(node, exp.Div):
        top, bottom = _number(node.this), _number(node.expression)
        return top / bottom if top is not None and bottom else None
    return None


def _sample(
    rate: Fraction | None, unit: str, method: str, place: tuple[int, int], findings: Findings
) -> Sample | None:
    if rate is None or not 0 < rate < 1:
        shown = "no number" if rate is None else f"a rate of {float(rate):g}"
        findings.add("V04", shown, place)
        return None
    return Sample(rate, unit, method)
