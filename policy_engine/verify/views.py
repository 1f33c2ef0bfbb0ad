"""A view as a source: whether each of its rows comes from one unit's rows of one table.

The claim of a release is of the view's rows. Where each is a function of one row of a table, which
cannot fail, or the row that a person's rows choose, a person's rows in the view are that person's.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.errors import NotCertifiable
from policy_engine.expressions.conversions import NEVER
from policy_engine.expressions.values import cannot_fail
from policy_engine.relations.shape import Relation, Stage
from policy_engine.relations.sources import Sources
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.names import fold
from policy_engine.syntax.schema import Schema
from policy_engine.verify.laws import counts_units
from policy_engine.verify.reading import Reader


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
    if rows is not None and not notes.findings and not _is_of_one_unit(rows, unit):
        found = f"in the view {'.'.join(view)}, rows that depend on others"
        notes.judge(counts_units.broken_by(found))
    if rows is None or notes.findings:
        raise NotCertifiable(notes.findings.sorted())
    return rows.table or rows.source


def _is_of_one_unit(rows: Relation, unit: str | None) -> bool:
    is_raw = rows.sample is None and rows.stage is Stage.ROWS
    if unit is None:
        return is_raw and rows.is_plain
    return is_raw and (rows.rank is None or fold(rows.rank.unit) == fold(unit))
