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
from policy_engine.expressions.evaluation import canonical
from policy_engine.expressions.values import (
    Role,
    groups_byte_by_byte,
    keeps_the_secret,
    names_one_column,
)
from policy_engine.kernel.sentences import ROW_UNIT, WAITS
from policy_engine.relations import windows
from policy_engine.relations.assumptions import is_a_key
from policy_engine.relations.scope import assume_a_column, lookup
from policy_engine.relations.shape import Sample, Shape
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, comparison, number, ordinal
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import asks_no_query, is_not_random
from policy_engine.verify.laws import draws_afresh

SAMPLE_BITS = 60
RESERVED = "policy_engine_sample"
"""No query of a text may take the name of a drawn sample."""

_DRAWN = re.compile(r"policy_engine_sample_([0-9a-f]{15})\Z")
_HEX = re.compile(r"[0-9a-f]{1,64}\Z")
_HASH_DIGITS = 64
_SEPARATOR = ":u:"
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip


def read_tablesample(node: exp.TableSample, notes: Notes) -> Sample:
    """The sample of a TABLESAMPLE or USING SAMPLE clause."""
    notes.judge(draws_afresh(node), node)
    method, percent = node.args.get("method"), node.args.get("percent")
    name = method.name.upper() if method is not None else "the engine's default"
    if name != "BERNOULLI" or percent is None:
        what = name if name != "BERNOULLI" else "a fixed number of rows"
        share = percent.name if isinstance(percent, exp.Literal) else "p"
        remedy = f"write TABLESAMPLE BERNOULLI ({share} PERCENT)"
        return Sample("native", fault=f"a sample by {what}, and not row by row; {remedy}")
    rate = number(percent)
    return Sample("native", None if rate is None else rate / 100, ROW_UNIT)


def is_sampling(predicate: exp.Expr) -> bool:
    """Whether a predicate claims to draw the sample."""
    query = predicate.args.get("query") if isinstance(predicate, exp.In) else None
    if query is not None:
        return any(fold(table.name).startswith(RESERVED) for table in query.find_all(exp.Table))
    compared, kind = comparison(predicate)
    sides = (compared.this, compared.expression) if kind in _MIRRORED else ()
    hashed = any(_hash_of(bare(side))[0] is not None for side in sides)
    return hashed or predicate.find(exp.Rand) is not None


def read_predicate(
    predicate: exp.Expr, rows: Shape, queries: Collection[str], notes: Notes
) -> Sample | None:
    """The sample that ``predicate`` draws of ``rows``; None and a finding if it is none.

    ``queries`` are the names of the queries in scope: a secret comes from none of them.
    """
    if isinstance(predicate, exp.In) and "query" in predicate.args:
        return _read_drawn(predicate, rows, notes)
    compared, kind = comparison(predicate)
    if isinstance(compared, exp.Between) and number(compared.args["low"]) == 0:
        compared = exp.LTE(this=compared.this, expression=compared.args["high"])
        kind = exp.LTE if kind is exp.Between else None
    if kind not in _MIRRORED:
        notes.judge(is_not_random.broken_by(shown(predicate)), predicate)
        return None
    left, right = bare(compared.this), bare(compared.expression)
    if isinstance(right, exp.SHA2 | exp.Rand | exp.Mul):
        kind, left, right = _MIRRORED[kind], right, left
    hashed, length = _hash_of(left)
    if hashed is not None and kind in {exp.LT, exp.LTE}:
        rate = _hash_rate(right, length, equal=kind is exp.LTE)
        return _read_keyed(hashed, rate, rows, queries, notes)
    scale = Fraction(1)
    if isinstance(left, exp.Mul):
        scale = number(bare(left.expression)) or number(bare(left.this)) or Fraction(0)
        sides = map(bare, (left.this, left.expression))
        left = next((side for side in sides if isinstance(side, exp.Rand)), left)
    if not isinstance(left, exp.Rand) or not scale:
        notes.judge(is_not_random.broken_by(shown(predicate)), predicate)
        return None
    share = _quotient(right)
    rate = None if share is None else share / scale
    if rate is not None and kind in {exp.GT, exp.GTE}:
        rate = 1 - rate
    return Sample("random", rate, ROW_UNIT)


def _quotient(node: exp.Expr) -> Fraction | None:
    """A number, or one number over another: ``1/10`` is 0.1 in DuckDB."""
    if not isinstance(node, exp.Div):
        return number(node)
    top, bottom = number(bare(node.this)), number(bare(node.expression))
    return top / bottom if top is not None and bottom else None


def _read_drawn(node: exp.In, rows: Shape, notes: Notes) -> Sample | None:
    query = node.args["query"]
    select = query.this if isinstance(query, exp.Subquery) else query
    match = None
    if isinstance(select, exp.Select) and windows.has_only(select, "expressions", "from_"):
        table = select.args["from_"].this
        bare_table = isinstance(table, exp.Table) and windows.has_only(table, "this")
        if bare_table and windows.is_only_column(select.expressions, "unit"):
            match = _DRAWN.match(fold(table.name))
    if match is None:
        notes.judge(asks_no_query(node), node)
        return None
    unit = _unit(node.this, rows, notes)
    rate = Fraction(int(match[1], 16), 1 << SAMPLE_BITS)
    return unit if isinstance(unit, Sample) else Sample("drawn", rate, unit, match[0])


def _hash_of(node: exp.Expr) -> tuple[exp.SHA2 | None, int]:
    """A hash, or the first digits of one, and how many digits it has."""
    if isinstance(node, exp.SHA2):
        return node, _HASH_DIGITS
    starts = isinstance(node, exp.Substring) and ordinal(bare(node.args["start"])) == 1
    first = isinstance(node, exp.Left) or starts
    length = ordinal(bare(node.args.get("length") or node.args.get("expression") or exp.Null()))
    inner = bare(node.this) if first else None
    return inner if isinstance(inner, exp.SHA2) and length else None, length or 0


def _hash_rate(bound: exp.Expr, length: int, *, equal: bool) -> Fraction | None:
    """The share of hashes of ``length`` digits below a bound; ``equal`` with the bound itself."""
    digits = bound.name
    if not bound.is_string or not _HEX.match(digits) or len(digits) > length:
        return None
    # A bound of fewer digits than a hash has is no hash.
    last = 1 if equal and len(digits) == length else 0
    return Fraction(int(digits, 16) + last, 16 ** len(digits))


def _read_keyed(
    hashed: exp.SHA2,
    rate: Fraction | None,
    rows: Shape,
    queries: Collection[str],
    notes: Notes,
) -> Sample:
    parts, has_concat = windows.concatenated(hashed.this), hashed.find(exp.Concat) is not None
    if rate is None:
        return Sample("keyed", fault="a bound that is not lower-case hex")
    if len(parts) != 3 or not parts[1].is_string or parts[1].name != _SEPARATOR:
        return Sample("keyed", fault="a hash of something else than secret || ':u:' || key")
    if not windows.is_bound_secret(parts[0], queries):
        notes.judge(keeps_the_secret(shown(parts[0])), parts[0])
    elif isinstance(parts[0], exp.Subquery):
        if has_concat:  # NULL would be '', and the sample what all know
            return Sample("keyed", fault="concat() of a secret that may be missing; write ||")
        windows.check_secrets(parts[0].this, rows, notes)
        notes.assume(WAITS)
    unit = _unit(windows.of_text(parts[2]), rows, notes, hashed=True)
    if isinstance(unit, Sample):
        return unit
    filled = rows.base[unit].filled if unit in rows.base else None
    if has_concat and filled is not True and unit != ROW_UNIT:
        # concat() reads NULL as '', so that all who have no key would be in or out together.
        if filled is False:
            return Sample("keyed", fault=f"{unit}, of which many may be NULL; hash it with ||")
        notes.assume(f"{unit} is never NULL in {rows.source}")
    named = not isinstance(parts[0], exp.Placeholder) or bool(parts[0].args.get("this"))
    return Sample("keyed", rate, unit, canonical(hashed) if named else "")


def _unit(key: exp.Expr, rows: Shape, notes: Notes, *, hashed: bool = False) -> str | Sample:
    """The unit that a sampled column identifies: one row, or a key of the source as it is.

    What is ``hashed`` is the text of a key: equal keys must have the same.
    """
    value, text = lookup(key, rows), shown(key)
    assume_a_column(key, rows, notes)
    if value is None and isinstance(key, exp.Column):
        notes.judge(names_one_column(text), key)
    if value is None or not (value.column or value.kind is Role.POSITION):
        return Sample("keyed", fault=f"{text}, which is not one column of the source")
    if value.kind is Role.POSITION:
        apart = rows.row_number in value.inputs
        fault = f"{text}, which does not tell the rows of the source apart"
        return ROW_UNIT if apart else Sample("keyed", fault=fault)
    if value.type in FLOATS:
        return Sample("keyed", fault=f"{text}: 0.0 and -0.0 are one person with two texts")
    if value.collated:
        notes.judge(groups_byte_by_byte(value, key), key)
    elif value.type is None:
        notes.assume(is_a_key(value.column or ""))
    elif hashed and value.type not in ONE_TEXT:
        fault = f"{text} of type {value.type}, of which one person may have two texts"
        return Sample("keyed", fault=fault)
    return str(value.column)
