"""The laws of a release: what must hold of the rows, the sample, the groups and the names.

Each docstring is the message a user sees, with the clause of theory.md: the mechanism's three
clauses are 1 the sample, 2 the recoding, 3 the suppression.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.rates import grain_of
from policy_engine.kernel.sentences import ROW_UNIT
from policy_engine.relations.shape import Sample, Shape
from policy_engine.syntax.findings import law
from policy_engine.syntax.names import fold


@law("V03")
def is_sampled(rows: Shape) -> str | None:
    """The source must be sampled before anything is grouped [mechanism 1].

    Write TABLESAMPLE BERNOULLI (10 PERCENT) behind the table.
    """
    return None if rows.sample is not None else f"all rows of {rows.source}"


@law("V04")
def is_bernoulli(sample: Sample) -> str | None:
    """The sample must keep every unit independently, with one stated probability below 1
    [mechanism 1].

    Known are TABLESAMPLE BERNOULLI, random() < rate, and sha256(? || ':u:' || key) < '0ccc'.
    """
    if sample.fault is not None:
        return sample.fault
    if sample.rate is None:
        return "no number"
    outside = not 0 < sample.rate < 1 - grain_of(sample.method)
    return f"a rate of {float(sample.rate):g}" if outside else None


@law("V33")
def counts_units(rows: Shape) -> str | None:
    """A person must be one row of what is counted: a key of the source, or one row kept of each
    [mechanism 1].

    Keep one with row_number() OVER (PARTITION BY person ORDER BY ...) = 1, in QUALIFY.
    """
    unit = rows.sample.unit if rows.sample is not None else None
    value = rows.base.get(unit or "") if unit != ROW_UNIT else None
    many = value is not None and value.unique is False
    return f"a sample of {unit}, of which {rows.source} may have several rows" if many else None


@law("V05")
def draws_afresh(sample: exp.TableSample) -> str | None:
    """A sample must not be repeatable: no seed [mechanism 1].

    Take the seed out.
    """
    return "a seed" if sample.args.get("seed") else None


@law("V07")
def is_grouped(text: str) -> str | None:
    """Every released column must be a function of the grouped columns [mechanism 3].

    Group by it, or leave it out.
    """
    return text or None


@law("V09")
def has_threshold(k: int | None, found: str = "groups of any size") -> str | None:
    """Groups must be released only where their count in the sample is at least k, k ≥ 2
    [mechanism 3].

    Write HAVING COUNT(*) >= k, with AND before other conditions.
    """
    if k is None:
        return found
    return None if k >= 2 else f"a threshold of {k}"


@law("V34")
def spares_its_source(target: str | None, rows: Shape) -> str | None:
    """A release must not replace what it is made from.

    Write to a table of another name.
    """
    wanted = f".{fold(target or '')}"
    read = [f".{fold(name)}" for name in (rows.source, rows.table, *rows.views) if name]
    same = any(name.endswith(wanted) or wanted.endswith(name) for name in read)
    return f"the table {target}" if target and same else None


@law("V31")
def is_a_table(found: str | None) -> str | None:
    """A release must be a table, not a view: a view draws a new sample at every read [COMP].

    Write CREATE TABLE, and draw the sample in the query that releases.
    """
    return found


@law("V29")
def guarantee_is_met(delta: Decimal, promised: Decimal, epsilon: Decimal) -> str | None:
    """The mechanism must meet the policy's guarantee [EXACT].

    Find a k and a rate that do with 'policy-engine calculate'.
    """
    return (
        f"δ = {in_text(delta)}, promised {in_text(promised)} at ε = {in_text(epsilon)}"
        if delta > promised
        else None
    )
