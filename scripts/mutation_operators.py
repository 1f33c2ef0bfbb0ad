"""Every small change of a Python source: the mutants that ``mutation_test`` shows to the tests.

A mutant replaces one expression or one statement. What no test is meant to see is left alone:
docstrings, annotations, decorators, texts, f-strings, the arguments of ``raise``, and what only a
type checker runs.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeVar

_WIDTH = 72
"""So many characters around a change are shown, and tell it from others of its kind."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
_ROUNDINGS = {
    "ROUND_CEILING": "ROUND_FLOOR",
    "ROUND_FLOOR": "ROUND_CEILING",
    "ROUND_UP": "ROUND_DOWN",
    "ROUND_DOWN": "ROUND_UP",
    "ROUND_HALF_EVEN": "ROUND_FLOOR",
}
_ROUNDED = ("upward", "downward")
_UNWRAPPED = ("abs", "claimed")
_Node = TypeVar("_Node", bound=ast.AST)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One change of one file. ``before`` and ``after`` show it with what stands around it."""

    function: str
    line: int
    needs: tuple[int, int]
    """First and last of the lines of which a test must run one to see it; (0, 0): no function's."""
    before: str
    after: str
    source: str
    constants: tuple[str, ...] = ()
    """For a change outside of functions: the names that it defines."""


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a source that still compiles, in the order of its places.

    >>> [(one.before, one.after) for one in mutants("def f(x):\\n    return x < 1\\n")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('return x < 1', 'return None'), ('return x < 1', 'return x <= 1'),
     ('return x < 1', 'return x >= 1'), ('return x < 1', 'return x < 2'),
     ('return x < 1', 'return x < 0')]
    """
    writer = _Writer(source)
    found: dict[str, Mutant] = {}
    for node in _places(writer.tree):
        for changed in _changes(node):
            mutant = writer.mutant(node, changed)
            if mutant.source not in found and _compiles(mutant.source):
                found[mutant.source] = mutant
    return list(found.values())


class _Writer:
    """Writes a changed node over the one in the source; all else stays byte for byte."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        self._bytes = source.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._parents: dict[ast.AST, ast.AST] = {}
        for parent in ast.walk(self.tree):
            for child in ast.iter_child_nodes(parent):
                self._parents[child] = parent

    def mutant(self, node: ast.AST, changed: ast.AST) -> Mutant:
        if isinstance(node, ast.If | ast.While):
            assert isinstance(changed, ast.If | ast.While)
            node, changed = node.test, changed.test
        assert isinstance(node, ast.stmt | ast.expr)
        text = ast.unparse(changed)
        written = text if isinstance(node, ast.stmt) else f"({text})"
        start = self._starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None and node.end_col_offset is not None
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        before, after = self._shown(node, changed)
        function, needs, constants = self._place(node)
        return Mutant(
            function,
            node.lineno,
            needs,
            before,
            after,
            (self._bytes[:start] + written.encode() + self._bytes[end:]).decode(),
            constants,
        )

    def _shown(self, node: ast.AST, changed: ast.AST) -> tuple[str, str]:
        """The widest text around the change that is not too wide, before and after it."""
        around, before = node, ast.unparse(node)
        for wider in self._above(node) if isinstance(node, ast.expr) else ():
            if not isinstance(wider, ast.stmt | ast.expr):
                continue  # an argument's name, a comprehension's "for"
            text = (
                ""
                if hasattr(wider, "body") and isinstance(wider, ast.stmt)
                else (ast.unparse(wider))
            )
            if not text or len(text) > _WIDTH:
                break
            around, before = wider, text
            if isinstance(wider, ast.stmt):
                break
        return _short(before), _short(ast.unparse(_replaced(around, node, changed)))

    def _place(self, node: ast.stmt | ast.expr) -> tuple[str, tuple[int, int], tuple[str, ...]]:
        """The function, the lines, and outside of functions the names that are defined there."""
        above = [node, *self._above(node)]
        name = ".".join(
            one.name for one in reversed(above) if isinstance(one, (*_FUNCTIONS, ast.ClassDef))
        )
        statement = next(one for one in above if isinstance(one, ast.stmt))
        body = next((one for one in above[1:] if isinstance(one, _FUNCTIONS)), None)
        if body is None:
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            return name, (0, 0), tuple(one.id for one in targets if isinstance(one, ast.Name))
        if statement is body:  # a default, evaluated with the module
            return name, (body.body[0].lineno, body.end_lineno or body.lineno), ()
        last = node if hasattr(statement, "body") else statement
        return name, (statement.lineno, last.end_lineno or last.lineno), ()

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self._parents:
            node = self._parents[node]
            yield node


def _replaced(tree: ast.AST, node: ast.AST, changed: ast.AST) -> ast.AST:
    """The tree with another node in the place of one, by identity."""
    if tree is node:
        return changed
    fields: dict[str, object] = {}
    for name, value in ast.iter_fields(tree):
        if isinstance(value, list):
            fields[name] = [
                _replaced(part, node, changed) if isinstance(part, ast.AST) else part
                for part in value
            ]
        elif isinstance(value, ast.AST):
            fields[name] = _replaced(value, node, changed)
    return _with(tree, **fields)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 2 * _WIDTH else line[: 2 * _WIDTH] + "…"


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _places(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that may change, outer before inner."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _left_alone(child):
                yield child
                if not isinstance(child, ast.Raise):
                    yield from _places(child)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Pass)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Return(value=ast.expr()) if not _is_none(node.value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
            if isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
                yield _with(node, op=_ARITHMETIC[type(node.op)]())
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.If() | ast.While() | ast.IfExp():
            if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
                yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.expr():
            yield from _expressions(node)


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for other in _COMPARISONS[type(operator)]:
                    ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                    yield _with(node, ops=ops)
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for place in range(len(node.values)):
                rest = [*node.values[:place], *node.values[place + 1 :]]
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield _with(node, op=_ARITHMETIC[type(node.op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.Constant():
            yield from _constants(node)
        case ast.Name(id=name) if name in _ROUNDINGS:
            yield ast.Constant(_ROUNDINGS[name])
        case ast.Call():
            yield from _calls(node)


def _constants(node: ast.Constant) -> Iterator[ast.expr]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, float):
        others = (0.0, value * 10, value / 10) if value else (1.0,)
        yield from (ast.Constant(other) for other in others)


def _calls(node: ast.Call) -> Iterator[ast.expr]:
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if name == "Decimal" and len(node.args) == 1:
        for text in _decimals(node.args[0]):
            yield _with(node, args=[ast.Constant(text)])
    if name in _ROUNDED:
        turned = _with(node, args=[ast.UnaryOp(ast.USub(), node.args[0]), *node.args[1:]])
        yield ast.UnaryOp(ast.USub(), turned)
    if name in _UNWRAPPED and len(node.args) == 1:
        yield node.args[0]
    if name in ("min", "max") and len(node.args) == 2 and not node.keywords:
        yield from node.args
    if name in _NAMES:
        other = _NAMES[name]
        if isinstance(called, ast.Name):
            yield _with(node, func=ast.Name(other))
        elif isinstance(called, ast.Attribute):
            yield _with(node, func=_with(called, attr=other))


def _decimals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            number = Decimal(node.value)
        except InvalidOperation:
            return
        yield from ("0", str(number.scaleb(1)), str(number.scaleb(-1))) if number else ("1",)


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: _Node, **fields: object) -> _Node:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
