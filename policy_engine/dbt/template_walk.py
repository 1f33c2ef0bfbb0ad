"""One way through a template: its statements and expressions, never run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import nodes

from policy_engine.dbt.template_calls import call, expanded, is_shadowed
from policy_engine.dbt.template_filters import filtered
from policy_engine.dbt.template_names import QUERIES
from policy_engine.dbt.template_values import (
    AGAIN,
    HOLE,
    MOST_TURNS,
    UNKNOWN,
    Frame,
    Relation,
    Rendered,
    Returned,
    TooMuch,
    Unknown,
    World,
    asked,
    dotted,
    is_open,
)

_MOST_STEPS = 100_000


class Walk:
    """One way through a template."""

    def __init__(self, world: World, choices: Sequence[bool]) -> None:
        self.world = world
        self.choices = list(choices)
        self.taken: list[bool] = []
        self.refs: set[str] = set()
        self.queries: list[str] = []
        self.asked: set[str] = set()
        self.called: set[str] = set()
        self.steps = 0
        self.depth = 0
        self.given: list[str] = []

    def over(self, tree: nodes.Template) -> Rendered:
        """The text of a whole template."""
        try:
            frame = Frame(dict(self.world.names), self.world.manifest.project)
            text = self.body(tree.body, frame)
        except Returned:
            text = HOLE
        return self._rendered(text)

    def inside(self, macro: nodes.Macro, package: str) -> Rendered:
        """The text of a macro that is called with anything."""
        return self._rendered(str(expanded(self, macro, [], {}, package)))

    def _rendered(self, text: str) -> Rendered:
        return Rendered(
            text.replace(AGAIN, HOLE),
            frozenset(self.refs),
            tuple(query.replace(AGAIN, "") for query in self.queries),
            frozenset(self.asked),
            frozenset(self.called),
            text.replace(AGAIN, ""),
        )

    # Statements

    def body(self, body: Sequence[nodes.Node], frame: Frame) -> str:
        """The text of some statements."""
        return "".join(part for node in body for part in self._statement(node, frame))

    def _statement(self, node: nodes.Node, frame: Frame) -> Iterator[str]:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuch
        found = _STATEMENTS.get(type(node))
        if found is None:
            self.called.add(type(node).__name__.lower())
            yield HOLE
        else:
            yield found(self, node, frame)

    def _output(self, node: nodes.Output, frame: Frame) -> str:
        values = [
            each.data if isinstance(each, nodes.TemplateData) else self.of(each, frame)
            for each in node.nodes
        ]
        return "".join("" if value is None else str(value) for value in values)

    def _set(self, node: nodes.Assign, frame: Frame) -> str:
        self._assign(node.target, self.of(node.node, frame), frame)
        return ""

    def _set_block(self, node: nodes.AssignBlock, frame: Frame) -> str:
        self._assign(node.target, self.body(node.body, frame), frame)
        return ""

    def _do(self, node: nodes.ExprStmt, frame: Frame) -> str:
        self.of(node.node, frame)
        return ""

    def _define(self, node: nodes.Macro, frame: Frame) -> str:
        frame.names[node.name] = node
        return ""

    def _block(self, node: nodes.Scope | nodes.With, frame: Frame) -> str:
        return self.body(node.body, frame)

    def _filtered(self, node: nodes.FilterBlock, frame: Frame) -> str:
        return HOLE + self.body(node.body, frame) + HOLE

    def _nothing(self, node: nodes.Node, frame: Frame) -> str:
        return ""

    def _if(self, node: nodes.If, frame: Frame) -> str:
        for each in (node, *node.elif_):
            if self._holds(each.test, frame):
                return self.body(each.body, frame)
        return self.body(node.else_, frame)

    def _holds(self, test: nodes.Node, frame: Frame) -> bool:
        value = self.of(test, frame)
        if not isinstance(value, Unknown) and not is_open(value):
            return bool(value)
        self.asked |= set(asked(test))
        self.taken.append(
            self.choices[len(self.taken)] if len(self.taken) < len(self.choices) else True
        )
        return self.taken[-1]

    def _for(self, node: nodes.For, frame: Frame) -> str:
        values = self.of(node.iter, frame)
        if isinstance(values, Mapping):
            values = list(values)
        if not isinstance(values, list | tuple):
            self._assign(node.target, UNKNOWN, frame)
            return AGAIN + self.body(node.body, frame) + AGAIN
        if len(values) > MOST_TURNS:
            raise TooMuch
        parts = []
        for turn, value in enumerate(values):
            self._assign(node.target, value, frame)
            last = turn + 1 == len(values)
            frame.names["loop"] = {"index": turn + 1, "first": not turn, "last": last}
            parts.append(self.body(node.body, frame))
        return "".join(parts) if values else self.body(node.else_, frame)

    def _assign(self, target: nodes.Node, value: object, frame: Frame) -> None:
        if isinstance(target, nodes.Name):
            frame.names[target.name] = value
        elif isinstance(target, nodes.Tuple):
            values = value if isinstance(value, list | tuple) else []
            for place, each in enumerate(target.items):
                self._assign(each, values[place] if place < len(values) else UNKNOWN, frame)

    def _call_block(self, node: nodes.CallBlock, frame: Frame) -> str:
        name = dotted(node.call.node)
        inner = self.body(node.body, frame)
        if name == "policy_engine.in_sample" and not is_shadowed(name, frame):
            return inner if self.world.sampled else "false"
        if name.rpartition(".")[2] in QUERIES | {"set_sql_header"}:
            self.queries.append(inner)
            return ""
        self.given.append(inner)
        text = str(self.of(node.call, frame))
        self.given.pop()
        return text

    # Expressions

    def of(self, node: nodes.Node, frame: Frame) -> object:
        """The value of an expression."""
        found = _EVALUATORS.get(type(node))
        if found is None:
            for child in node.iter_child_nodes():
                self.of(child, frame)
            return UNKNOWN
        return found(self, node, frame)

    def _name(self, node: nodes.Name, frame: Frame) -> object:
        if node.name in frame.names:
            return frame.names[node.name]
        if node.name == "this":
            return self.world.this or UNKNOWN
        if node.name == "model" and self.world.node is not None:
            return self.world.node.data
        return {"execute": True, "true": True, "none": None}.get(node.name, UNKNOWN)

    def _getattr(self, node: nodes.Getattr, frame: Frame) -> object:
        value = self.of(node.node, frame)
        if isinstance(value, Relation):
            return value.part(node.attr)
        return value.get(node.attr, UNKNOWN) if isinstance(value, Mapping) else UNKNOWN

    def _getitem(self, node: nodes.Getitem, frame: Frame) -> object:
        value, key = self.of(node.node, frame), self.of(node.arg, frame)
        if isinstance(value, Mapping):
            return value.get(key, UNKNOWN)
        if (
            isinstance(value, list | tuple)
            and isinstance(key, int)
            and -len(value) <= key < len(value)
        ):
            return value[key]
        return UNKNOWN

    def _list(self, node: nodes.List | nodes.Tuple, frame: Frame) -> object:
        return [self.of(each, frame) for each in node.items]

    def _dict(self, node: nodes.Dict, frame: Frame) -> object:
        pairs = [(self.of(each.key, frame), self.of(each.value, frame)) for each in node.items]
        return {str(key): value for key, value in pairs}

    def _concat(self, node: nodes.Concat, frame: Frame) -> object:
        return "".join(str(self.of(each, frame)) for each in node.nodes)

    def _add(self, node: nodes.Add, frame: Frame) -> object:
        one, other = self.of(node.left, frame), self.of(node.right, frame)
        if isinstance(one, str) and isinstance(other, str):
            return one + other
        if isinstance(one, list) and isinstance(other, list):
            return one + other
        return UNKNOWN

    def _not(self, node: nodes.Not, frame: Frame) -> object:
        value = self.of(node.node, frame)
        return UNKNOWN if isinstance(value, Unknown) else not value

    def _and(self, node: nodes.And, frame: Frame) -> object:
        one, other = self.of(node.left, frame), self.of(node.right, frame)
        if any(not isinstance(each, Unknown) and not each for each in (one, other)):
            return False
        return UNKNOWN if UNKNOWN in (one, other) else True

    def _or(self, node: nodes.Or, frame: Frame) -> object:
        one, other = self.of(node.left, frame), self.of(node.right, frame)
        if any(not isinstance(each, Unknown) and each for each in (one, other)):
            return True
        return UNKNOWN if UNKNOWN in (one, other) else False

    def _filter(self, node: nodes.Filter, frame: Frame) -> object:
        value = self.of(node.node, frame) if node.node is not None else UNKNOWN
        return filtered(node.name, value, [self.of(each, frame) for each in node.args])

    def _condition(self, node: nodes.CondExpr, frame: Frame) -> object:
        if self._holds(node.test, frame):
            return self.of(node.expr1, frame)
        return None if node.expr2 is None else self.of(node.expr2, frame)


_Evaluator = Callable[[Walk, Any, Frame], object]
_EVALUATORS: Mapping[type[nodes.Node], _Evaluator] = {
    nodes.Const: lambda walk, node, frame: node.value,
    nodes.TemplateData: lambda walk, node, frame: node.data,
    nodes.Name: Walk._name,
    nodes.Getattr: Walk._getattr,
    nodes.Getitem: Walk._getitem,
    nodes.List: Walk._list,
    nodes.Tuple: Walk._list,
    nodes.Dict: Walk._dict,
    nodes.Concat: Walk._concat,
    nodes.Add: Walk._add,
    nodes.Not: Walk._not,
    nodes.And: Walk._and,
    nodes.Or: Walk._or,
    nodes.Filter: Walk._filter,
    nodes.CondExpr: Walk._condition,
    nodes.Call: call,
}

_Statement = Callable[[Walk, Any, Frame], str]
_STATEMENTS: Mapping[type[nodes.Node], _Statement] = {
    nodes.Output: Walk._output,
    nodes.If: Walk._if,
    nodes.For: Walk._for,
    nodes.Assign: Walk._set,
    nodes.AssignBlock: Walk._set_block,
    nodes.ExprStmt: Walk._do,
    nodes.Macro: Walk._define,
    nodes.CallBlock: Walk._call_block,
    nodes.Scope: Walk._block,
    nodes.With: Walk._block,
    nodes.ScopedEvalContextModifier: Walk._block,
    nodes.FilterBlock: Walk._filtered,
    nodes.Continue: Walk._nothing,
    nodes.Break: Walk._nothing,
}
