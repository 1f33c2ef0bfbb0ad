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
from collections.abc import Collection
from fractions import Fraction

from sqlglot import exp

from policy_engine.expressions.datatypes import FLOATS, ONE_TEXT
from policy_engine.expressions.values import Kind
from policy_engine.policy.auto import NATIVE_GRAIN
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, number
from policy_engine.syntax.names import dotted, fold
from policy_engine.verify.rows import lookup
from policy_engine.verify.shape import ROW_UNIT, Relation, Sample, Stage

SAMPLE_BITS = 60
RESERVED = "policy_engine_sample"
"""No query of a text may take the name of a drawn sample."""

_DRAWN = re.compile(r"policy_engine_sample_([0-9a-f]{15})\Z")
_HEX = re.compile(r"[0-9a-f]{1,64}\Z")
_HASH_DIGITS = 64
_SEPARATOR = ":u:"
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def read_tablesample(node: exp.TableSample, notes: Notes) -> Sample | None:
    """The sample of a TABLESAMPLE or USING SAMPLE clause, or None and findings."""
    method = node.args.get("method")
    name = method.name.upper() if method is not None else "the engine's default"
    if node.args.get("seed"):
        notes.find("V05", "a seed", node)
    percent = node.args.get("percent")
    if name != "BERNOULLI" or percent is None:
        found = name if name != "BERNOULLI" else "a fixed number of rows"
        share = percent.name if isinstance(percent, exp.Literal) else "p"
        remedy = f"write TABLESAMPLE BERNOULLI ({share} PERCENT)"
        notes.find("V04", f"a sample by {found}; {remedy}", node)
        return None
    rate = number(percent)
    return _sample(None if rate is None else rate / 100, ROW_UNIT, "native", node, notes)


def is_sampling(predicate: exp.Expr) -> bool:
    """Whether a predicate claims to draw the sample."""
    query = predicate.args.get("query") if isinstance(predicate, exp.In) else None
    if query is not None:
        return any(fold(table.name).startswith(RESERVED) for table in query.find_all(exp.Table))
    return predicate.find(exp.Rand) is not None or _hash_side(predicate)


def _hash_side(predicate: exp.Expr) -> bool:
    return isinstance(predicate, _COMPARISONS) and any(
        isinstance(bare(side), exp.SHA2) for side in (predicate.this, predicate.expression)
    )


def read_predicate(
    predicate: exp.Expr, relation: Relation, queries: Collection[str], notes: Notes
) -> Sample | None:
    """The sample that ``predicate`` draws of ``relation``, or None and findings.

    ``queries`` are the names of the queries in scope: a secret comes from none of them.
    """
    if isinstance(predicate, exp.In):
        return _read_drawn(predicate, relation, notes)
    less = _as_less_than(predicate)
    if less is None:
        notes.find("V06", shown(predicate), predicate)
        return None
    left, right = bare(less[0]), bare(less[1])
    if isinstance(left, exp.SHA2):
        equal = isinstance(predicate, exp.LTE | exp.GTE)
        return _read_keyed(left, _hash_rate(right, equal=equal), relation, queries, notes)
    # Above the source an optimiser may move random(), or draw it anew.
    if not isinstance(left, exp.Rand) or relation.stage is not Stage.SOURCE:
        notes.find("V06", shown(predicate), predicate)
        return None
    return _sample(_quotient(right), ROW_UNIT, "random", predicate, notes)


def _as_less_than(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    if isinstance(node, exp.LT | exp.LTE):
        return node.this, node.expression
    if isinstance(node, exp.GT | exp.GTE):
        return node.expression, node.this
    return None


def _quotient(node: exp.Expr) -> Fraction | None:
    """A number, or one number over another: ``1/10`` is 0.1 in DuckDB."""
    if not isinstance(node, exp.Div):
        return number(node)
    top, bottom = number(bare(node.this)), number(bare(node.expression))
    return top / bottom if top is not None and bottom else None


def _read_drawn(node: exp.In, relation: Relation, notes: Notes) -> Sample | None:
    query = node.args["query"]
    table = _only_table(query.this if isinstance(query, exp.Subquery) else query)
    match = _DRAWN.match(fold(table.name)) if table is not None else None
    if match is None:
        notes.find("V11", shown(node), node)
        return None
    unit = _unit(node.this, relation, notes)
    rate = Fraction(int(match[1], 16), 1 << SAMPLE_BITS)
    return None if unit is None else _sample(rate, unit, "drawn", node, notes)


def _only_table(select: exp.Expr) -> exp.Table | None:
    """The bare table of ``SELECT unit FROM table``, if ``select`` is no more than that."""
    if not isinstance(select, exp.Select) or _parts(select) != {"expressions", "from_"}:
        return None
    table = select.args["from_"].this
    plain = isinstance(table, exp.Table) and _parts(table) == {"this"}
    return table if plain and _is_column(select.expressions, "unit") else None


def _parts(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _is_column(items: list[exp.Expr], name: str) -> bool:
    column = items[0]
    return (
        len(items) == 1
        and isinstance(column, exp.Column)
        and _parts(column) == {"this"}
        and fold(column.name) == name
    )


def _hash_rate(bound: exp.Expr, *, equal: bool) -> Fraction | None:
    """The share of hashes below a bound of lower-case hex; ``equal`` with the bound itself."""
    digits = bound.name
    if not bound.is_string or not _HEX.match(digits):
        return None
    # A bound of fewer digits than a hash has is no hash.
    last = 1 if equal and len(digits) == _HASH_DIGITS else 0
    return Fraction(int(digits, 16) + last, 16 ** len(digits))


def _read_keyed(
    hashed: exp.SHA2,
    rate: Fraction | None,
    relation: Relation,
    queries: Collection[str],
    notes: Notes,
) -> Sample | None:
    parts = _concatenated(hashed.this)
    if rate is None:
        notes.find("V04", "a bound that is not lower-case hex", hashed)
        return None
    if len(parts) != 3 or not parts[1].is_string or parts[1].name != _SEPARATOR:
        notes.find("V04", "a hash of something else than secret || ':u:' || key", hashed)
        return None
    if not _is_bound_secret(parts[0], queries):
        notes.find("V19", shown(parts[0]), parts[0])
    elif isinstance(parts[0], exp.Subquery):
        _check_secrets(parts[0].this, relation, notes)
    key = parts[2]
    if type(key) is exp.Cast and key.to.is_type("text", "varchar"):
        key = bare(key.this)
    unit = _unit(key, relation, notes, hashed=True)
    if isinstance(hashed.this, exp.Concat) and unit is not None:
        # concat() reads NULL as '', so that all who have no key would be in or out together.
        notes.assume(f"{unit} is never NULL in {relation.source}")
    return None if unit is None else _sample(rate, unit, "keyed", hashed, notes)


def _concatenated(node: exp.Expr) -> list[exp.Expr]:
    node = bare(node)
    if isinstance(node, exp.DPipe):
        return [*_concatenated(node.this), *_concatenated(node.expression)]
    return [bare(part) for part in node.expressions] if isinstance(node, exp.Concat) else [node]


def _unit(key: exp.Expr, relation: Relation, notes: Notes, *, hashed: bool = False) -> str | None:
    """The unit that a sampled column identifies: one row, or a key of the source as it is.

    What is ``hashed`` is the text of a key: equal keys must have the same.
    """
    value = lookup(key, relation)
    if value is None or not (value.column or value.kind is Kind.POSITION):
        code = "V30" if isinstance(key, exp.Column) and value is None else "V04"
        notes.find(code, f"{shown(key)}, which is not one column of the source", key)
        return None
    if value.kind is Kind.POSITION:
        if relation.row_number not in value.inputs:
            notes.find(
                "V04", f"{shown(key)}, which does not tell the rows of the source apart", key
            )
            return None
        return ROW_UNIT
    if value.type in FLOATS:
        notes.find("V04", f"{shown(key)}: 0.0 and -0.0 are one person with two texts", key)
    elif value.collated:
        notes.find("V32", shown(key), key)
    elif value.type is None:
        notes.assume(f"{value.column} is a whole number, a UUID, or text without a collation")
    elif hashed and value.type not in ONE_TEXT:
        found = f"{shown(key)} of type {value.type}, of which one person may have two texts"
        notes.find("V04", found, key)
    return value.column


def _is_bound_secret(node: exp.Expr, queries: Collection[str]) -> bool:
    """A parameter, or the salt of one release from the secrets relation."""
    if isinstance(node, exp.Placeholder):
        return True
    select = node.this
    if not isinstance(node, exp.Subquery) or not isinstance(select, exp.Select):
        return False
    if _parts(select) != {"expressions", "from_", "where"} or _parts(node) != {"this"}:
        return False
    condition, table = select.args["where"].this, select.args["from_"].this
    return (
        _is_column(select.expressions, "salt")
        and isinstance(table, exp.Table)
        and isinstance(table.this, exp.Identifier)
        and _parts(table) <= {"this", "db", "catalog"}
        and (bool(table.db) or fold(table.name) not in queries)
        and isinstance(condition, exp.EQ)
        and _is_column([condition.this], "release_id")
        and condition.expression.is_string
    )


def _check_secrets(select: exp.Expr, relation: Relation, notes: Notes) -> None:
    """The secrets relation is another than the source, and its columns are its own.

    A relation without a column called salt would show the one of the row that is hashed.
    """
    table = select.args["from_"].this
    name = dotted(part.name for part in table.parts)
    own = {fold(last.split(".")[-1]) for last in (relation.source, *relation.views)}
    if fold(table.name) in own:
        notes.find("V19", f"{name}, which is the source itself", table)
    elif relation.open:
        notes.assume(f"{name} is no source of the release and has a salt and a release_id")
    elif relation.columns.keys() & {"salt", "release_id"}:
        notes.find("V19", f"{name}, beside a source with a salt or a release_id", table)


def grain_of(method: str) -> Fraction:
    """How far the rate of a sample may be above the one that is written.

    The engine's random numbers are known to 32 bits only; the rate of a keyed sample is exact.

    >>> grain_of("native") == Fraction(1, 2**32), grain_of("drawn")
    (True, Fraction(0, 1))
    """
    return Fraction(NATIVE_GRAIN) if method in {"native", "random"} else Fraction(0)


def _sample(
    rate: Fraction | None, unit: str, method: str, node: exp.Expr, notes: Notes
) -> Sample | None:
    if rate is None or not 0 < rate < 1 - grain_of(method):
        found = "no number" if rate is None else f"a rate of {float(rate):g}"
        notes.find("V04", found, node)
        return None
    return Sample(rate, unit, method)
