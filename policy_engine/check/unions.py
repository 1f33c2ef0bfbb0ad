"""A union of parts of one table as one query of the table, where no row is of two parts.

``SELECT a FROM t WHERE year = 2023 UNION ALL SELECT a FROM t WHERE year = 2024`` reads each row
once, as ``SELECT a FROM t WHERE year IN (2023, 2024)`` does. What differs between the parts is told
apart by the condition that parts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from policy_engine.check.recodings import columns_in, pieces_of
from policy_engine.check.values import (
    OTHER,
    NotUnderstood,
    asks_order,
    points_in,
    value_of,
    without_parentheses,
)

Named = Callable[[str], exp.Expr | None]
"""What a name in FROM stands for, where it is the name of a query."""
_ALONE = (
    "group", "having", "qualify", "limit", "offset", "fetch", "distinct", "joins", "with_",
    "windows",
)  # fmt: skip


def merged(union: exp.Expr, named: Named) -> exp.Select | None:
    """The parts of a union as one query; None where a row could be of two, or none could tell."""
    parts = [_opened(each, named) for each in _parts(union)]
    selects = [each for each in parts if isinstance(each, exp.Select)]
    if len(selects) < len(parts) or len(parts) < 2 or not _alike(selects):
        return None
    conditions = [[*_conjuncts(each)] for each in selects]
    common = [each for each in conditions[0] if all(each in other for other in conditions[1:])]
    own = [[each for each in part if each not in common] for part in conditions]
    if not all(own):
        return None
    column = next((name for name in _columns(own) if _are_apart(_of(name, own))), None)
    if column is None:
        return None
    whole: exp.Select = selects[0].copy()
    tests = _of(column, own)
    shown = zip(*(each.expressions for each in selects), strict=True)
    whole.set("expressions", [_chosen(list(items), tests) for items in shown])
    either = exp.or_(*(exp.and_(*(each.copy() for each in part)) for part in own))
    conditions_of_all = [*(each.copy() for each in common), exp.paren(either)]
    whole.set("where", exp.Where(this=exp.and_(*conditions_of_all)))
    return whole


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    node = without_parentheses(node)
    while isinstance(node, exp.Subquery) and node.args.get("sample") is None:
        node = node.this
    if isinstance(node, exp.Union) and not node.args.get("distinct"):
        yield from _parts(node.this)
        yield from _parts(node.expression)
    else:
        yield node


def _opened(part: exp.Expr, named: Named) -> exp.Expr:
    """A part that shows all of a named query as that query."""
    clause = part.args.get("from_")
    is_star = len(part.expressions) == 1 and isinstance(part.expressions[0], exp.Star)
    if clause is None or not is_star or part.args.get("where") is not None:
        return part
    table = clause.this
    if not isinstance(table, exp.Table) or table.db or table.args.get("sample") is not None:
        return part
    return named(table.name) or part


def _alike(parts: list[exp.Select]) -> bool:
    """Whether parts read one table alike, each row of it at most once."""
    first = parts[0]
    for each in parts:
        clause = each.args.get("from_")
        if clause is None or not isinstance(clause.this, exp.Table):
            return False
        if any(each.args.get(name) for name in _ALONE) or each.find(exp.AggFunc, exp.Window):
            return False
        if any(node.find_ancestor(exp.Select) is not each for node in each.find_all(exp.Star)):
            return False
        if clause != first.args["from_"] or len(each.expressions) != len(first.expressions):
            return False
        if each.args.get("sample") != first.args.get("sample"):
            return False
    return True


def _conjuncts(part: exp.Select) -> Iterator[exp.Expr]:
    where = part.args.get("where")
    stack = [] if where is None else [where.this]
    while stack:
        node = without_parentheses(stack.pop())
        if isinstance(node, exp.And):
            stack += [node.expression, node.this]
        else:
            yield node


def _columns(own: list[list[exp.Expr]]) -> list[str]:
    """The columns that every part asks something of."""
    asked = [{columns_in(each) for each in part} for part in own]
    return sorted(names[0] for names in set.intersection(*asked) if len(names) == 1)


def _of(column: str, own: list[list[exp.Expr]]) -> list[exp.Expr]:
    """What each part asks of a column."""
    asked = ([each.copy() for each in part if columns_in(each) == (column,)] for part in own)
    return [exp.paren(exp.and_(*each)) for each in asked]


def _are_apart(tests: list[exp.Expr]) -> bool:
    """Whether no value of a column meets two conditions: the first that it meets is the last."""
    places = [*enumerate(tests)]
    first, last = _which(places), _which(places[::-1])
    points = points_in(first)
    try:
        if asks_order(first):
            same = pieces_of(first, points) == pieces_of(last, points)
        else:
            values = (*points, OTHER)
            same = all(value_of(first, each) == value_of(last, each) for each in values)
        return same and value_of(first, None) == value_of(last, None)
    except NotUnderstood:
        return False


def _which(places: list[tuple[int, exp.Expr]]) -> exp.Case:
    case = exp.Case()
    for at, test in places:
        case = case.when(test.copy(), exp.Literal.string(str(at)))
    return case


def _chosen(items: list[exp.Expr], tests: list[exp.Expr]) -> exp.Expr:
    """What the parts show in one place."""
    first = items[0]
    nodes = [each.unalias() for each in items]
    if all(each == nodes[0] for each in nodes):
        return first.copy()
    # What is of no other part is of the last, for all else is filtered out.
    case = exp.Case().else_(nodes[-1].copy())
    for node, test in zip(nodes[:-1], tests[:-1], strict=True):
        case = case.when(test.copy(), node.copy())
    name = first.alias_or_name
    return exp.alias_(case, name, quoted=True) if name else case
