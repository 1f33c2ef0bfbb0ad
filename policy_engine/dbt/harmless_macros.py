"""Macros that plainly write an expression and no more: no query, no relation, no call of one."""

from __future__ import annotations

import re

from jinja2 import nodes

from policy_engine.dbt.lexing import words
from policy_engine.dbt.manifest import Macro, Manifest
from policy_engine.dbt.template_values import dotted, parsed

_EXPRESSIONS = words("""
    any_value array_append array_concat array_construct bool_or cast cast_bool_to_text concat
    current_timestamp date date_trunc dateadd datediff equals escape_single_quotes except hash
    intersect last_day length listagg position replace right safe_cast split_part string_literal
    type_bigint type_boolean type_float type_int type_numeric type_string type_timestamp
""")
"""Macros of dbt's own that write an expression."""
_SQL = re.compile(
    r"\b(?:alter|attach|begin|call|clone|copy|create|delete|drop|exec|execute|export|from|grant"
    r"|insert|into|join|merge|put|rename|select|table|truncate|unload|update|using|view)\b",
    re.IGNORECASE,
)
_PLAIN_CALLS = _EXPRESSIONS | words("debug log print range return")
_PLAIN_METHODS = words("append endswith extend get items join keys lower startswith strip upper")
_PLAIN_NODES = (
    nodes.Assign, nodes.AssignBlock, nodes.Compare, nodes.Concat, nodes.CondExpr, nodes.Dict,
    nodes.ExprStmt, nodes.Filter, nodes.For, nodes.Getattr, nodes.Getitem, nodes.If,
    nodes.Keyword, nodes.List, nodes.Macro, nodes.Name, nodes.Operand, nodes.Output, nodes.Pair,
    nodes.Test, nodes.Tuple, nodes.UnaryExpr, nodes.BinExpr,
)  # fmt: skip
_REACH_MORE = words("""
    adapter api builtins compiled_code compiled_sql context env_var graph load_result model ref
    run_query self source sql statement var
""")
"""Names by which a macro reaches a text, a relation or the warehouse."""


def is_harmless(macro: Macro, manifest: Manifest, above: tuple[str, ...] = ()) -> bool:
    """Whether a macro writes no SQL but an expression, and reaches nothing that could."""
    tree = parsed(macro.sql)
    found = next((n for n in tree.body if isinstance(n, nodes.Macro)), None) if tree else None
    if found is None or macro.id in above:
        return False
    inside = (macro.id, *above)
    return all(_is_plain(each, manifest, inside) for each in found.find_all(nodes.Node))


def _is_plain(node: nodes.Node, manifest: Manifest, above: tuple[str, ...]) -> bool:
    if isinstance(node, nodes.TemplateData | nodes.Const):
        said = node.data if isinstance(node, nodes.TemplateData) else node.value
        return not (isinstance(said, str) and _SQL.search(said))
    if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in _REACH_MORE:
        return False
    if isinstance(node, nodes.Call):
        return _is_plain_call(node, manifest, above)
    return isinstance(node, _PLAIN_NODES)


def _is_plain_call(node: nodes.Call, manifest: Manifest, above: tuple[str, ...]) -> bool:
    name = dotted(node.node)
    package, _, last = name.rpartition(".")
    if name in _PLAIN_CALLS or last in _PLAIN_METHODS:
        return True
    if package in {"config", "exceptions", "target", "modules.datetime.datetime"}:
        return True
    called = manifest.macro_named(last, package) if name else None
    if called is None:
        return False
    if manifest.is_internal(called.package):
        return called.name.rpartition("__")[2] in _EXPRESSIONS
    return is_harmless(called, manifest, above)
