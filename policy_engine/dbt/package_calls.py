"""Whether a template does nothing but call macros of some packages."""

from __future__ import annotations

from collections.abc import Set

from jinja2 import nodes

from policy_engine.dbt.template_values import dotted, parsed

_ASKED = ("var", "env_var")


def only_calls(template: str, packages: Set[str]) -> bool:
    """Whether all that a template writes and runs are calls of the packages' macros.

    What is given to such a call must be no call itself: it would run outside of the package.

    >>> only_calls("{% if target.name == 'prod' %}{{ logs.upload(results) }}{% endif %}", {"logs"})
    True
    >>> only_calls("{{ logs.upload(run_query('copy people')) }}", {"logs"})
    False
    """
    tree = parsed(template)
    return tree is not None and bool(tree.body) and all(_is_call(n, packages) for n in tree.body)


def _is_call(node: nodes.Node, packages: Set[str]) -> bool:
    if isinstance(node, nodes.Output):
        return all(_is_blank(each) or _is_theirs(each, packages) for each in node.nodes)
    if isinstance(node, nodes.ExprStmt):
        return _is_theirs(node.node, packages)
    if not isinstance(node, nodes.If) or not _only_asks(node.test):
        return False
    return all(_is_call(each, packages) for each in (*node.body, *node.elif_, *node.else_))


def _is_blank(node: nodes.Node) -> bool:
    return isinstance(node, nodes.TemplateData) and not node.data.strip()


def _is_theirs(node: nodes.Node, packages: Set[str]) -> bool:
    if not isinstance(node, nodes.Call) or any(node.find_all(nodes.Call)):
        return False
    package, dot, _ = dotted(node.node).partition(".")
    return bool(dot) and package in packages


def _only_asks(test: nodes.Node) -> bool:
    calls = [each for each in (test, *test.find_all(nodes.Call)) if isinstance(each, nodes.Call)]
    return all(dotted(call.node) in _ASKED for call in calls)
