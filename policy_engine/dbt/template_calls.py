"""The calls of a template: refs and sources, relations, queries that are run, macros."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jinja2 import nodes

from policy_engine.dbt.manifest import Macro, Node
from policy_engine.dbt.template_done import built, done
from policy_engine.dbt.template_filters import filtered
from policy_engine.dbt.template_names import BUILDS, DONE, QUERIES, RELATIONS
from policy_engine.dbt.template_values import (
    HOLE,
    UNKNOWN,
    Frame,
    Relation,
    Returned,
    TooMuch,
    Unknown,
    dotted,
    parsed,
)

if TYPE_CHECKING:
    from policy_engine.dbt.template_walk import Walk

_DEEPEST = 24
_MEANT = frozenset(
    {
        "ref", "source", "builtins", "is_incremental", "return", "policy_engine", "adapter", "api",
        "config", "exceptions", "log", "run_query", "statement", "load_relation",
    }
)  # fmt: skip
"""Names whose meaning is dbt's, unless a template takes them."""
_SILENT = frozenset({"log", "print", "debug", "set_sql_header", "config"})
_ANSWERS = frozenset(
    {
        "var", "env_var", "fromjson", "tojson", "fromyaml", "toyaml", "set", "zip", "range", "doc",
        "local_md5", "modules", "modules.re", "modules.datetime", "modules.datetime.datetime",
        "modules.itertools", "render", "dict", "list", "namespace", "caller", "str", "int",
    }
)  # fmt: skip
"""Functions of dbt's that run nothing."""


def call(walk: Walk, node: nodes.Call, frame: Frame) -> object:
    """What a call gives, as far as it is known before a run."""
    arguments = [walk.of(each, frame) for each in node.args]
    named = {each.key: walk.of(each.value, frame) for each in node.kwargs}
    if isinstance(node.node, nodes.Call) and dotted(node.node.node) == "adapter.dispatch":
        wanted = [walk.of(each, frame) for each in node.node.args]
        return _dispatched(walk, wanted, arguments, named)
    name = dotted(node.node)
    if name == "caller":
        return walk.given[-1] if walk.given else UNKNOWN
    if name and not is_shadowed(name, frame):
        found = _of_dbt(walk, name, arguments, named)
        if found is not None:
            return found
    inner = walk.of(node.node.node, frame) if isinstance(node.node, nodes.Getattr) else None
    last = node.node.attr if isinstance(node.node, nodes.Getattr) else name
    if isinstance(inner, Relation):
        return _of_relation(inner, last, named)
    if isinstance(inner, list) and last in {"append", "extend"}:
        inner += arguments if last == "append" else _items(arguments)
        return ""
    if isinstance(inner, str | list):
        return filtered(last, inner, arguments)
    if isinstance(inner, Mapping) and last == "get" and arguments:
        return inner.get(str(arguments[0]), arguments[1] if len(arguments) > 1 else None)
    given = walk.of(node.dyn_kwargs, frame) if node.dyn_kwargs is not None else None
    if isinstance(given, Mapping):
        named |= {str(key): value for key, value in given.items()}
    return _macro(walk, name, arguments, named, frame)


def _of_relation(relation: Relation, method: str, named: Mapping[str, object]) -> object:
    """A relation that a relation's method gives: itself, unless another path is put in it."""
    if method in _SAME_RELATION:
        return relation
    if method == "incorporate":
        return UNKNOWN if "path" in named else relation
    return UNKNOWN


_SAME_RELATION = frozenset({"include", "quote", "render"})


def _of_dbt(
    walk: Walk, name: str, arguments: list[object], named: Mapping[str, object]
) -> object | None:
    """What a call of dbt's own gives; None where it is none."""
    last = name.rpartition(".")[2]
    if name in walk.world.manifest.own_refs:
        return None
    if name in {"ref", "builtins.ref"}:
        return _ref(walk, arguments, named)
    if name in {"source", "builtins.source"}:
        return _source(walk, arguments)
    if name == "is_incremental":
        return UNKNOWN if walk.world.incremental is None else walk.world.incremental
    if name == "return":
        raise Returned(arguments[0] if arguments else None)
    if name.startswith("policy_engine."):
        return _ours(walk, last, arguments)
    if last in QUERIES:
        walk.queries.append(_query(last, arguments, named))
        return UNKNOWN
    if last in DONE:
        walk.queries.append(done(last, [*arguments, *named.values()]))
        return ""
    if last in BUILDS and not named:
        return built(last, arguments)
    if last in RELATIONS:
        return _relation(walk, arguments, named)
    return "" if last in _SILENT or name.startswith("exceptions.") else None


def _query(name: str, arguments: list[object], named: Mapping[str, object]) -> str:
    """The text that a call runs; a hole where the call does not say it."""
    if name in {"statement", "run_statement", "submit_python_job", "execute_macro"}:
        return HOLE
    given = [named[key] for key in ("sql", "query", "statement") if key in named]
    return str(next(iter([*given, *arguments]), HOLE))


def is_shadowed(name: str, frame: Frame) -> bool:
    """Whether the template itself gives a name of dbt's another meaning."""
    first = name.partition(".")[0]
    return first in frame.names and first in _MEANT


def _ref(walk: Walk, arguments: list[object], named: Mapping[str, object]) -> object:
    texts = [str(each) for each in arguments]
    version = str(named.get("v", named.get("version", "")) or "")
    package, name = (texts[0], texts[1]) if len(texts) > 1 else ("", "".join(texts))
    return _node(walk, walk.world.manifest.node_named(package, name, version), f"ref {name}")


def _source(walk: Walk, arguments: list[object]) -> object:
    texts = [str(each) for each in arguments]
    found = walk.world.manifest.source_named(*texts) if len(texts) == 2 else None
    return _node(walk, found, f"source {'.'.join(texts)}")


def _node(walk: Walk, node: Node | None, said: str) -> object:
    if node is None:
        walk.called.add(said)
        return UNKNOWN
    walk.refs.add(node.id)
    if not node.relation:
        walk.called.add(f"the ephemeral {node.label}")
        return UNKNOWN
    return Relation(node.relation, node.id)


def _ours(walk: Walk, name: str, arguments: list[object]) -> object:
    """The macros of the vendored package: what they mean, whatever their text."""
    if name == "salts" and arguments:
        return ".".join(f'"{part}"' for part in str(arguments[0]).split("."))
    if name in {"reserved", "taken", "built_once"}:
        return ""
    walk.called.add(f"policy_engine.{name}")
    return UNKNOWN


def _relation(walk: Walk, arguments: list[object], named: Mapping[str, object]) -> object:
    if arguments and isinstance(arguments[0], Relation):
        return arguments[0]
    given = [named.get(key) for key in ("database", "schema", "identifier")]
    if not any(given):
        given = list(arguments[:3])
    known = [str(part) for part in given if isinstance(part, str) and HOLE not in part]
    if not known or not isinstance(given[-1], str):
        return UNKNOWN
    return Relation(".".join(f'"{part}"' for part in known))


def _dispatched(
    walk: Walk, wanted: list[object], arguments: list[object], named: Mapping[str, object]
) -> object:
    base = str(wanted[0]) if wanted else ""
    for prefix in (walk.world.manifest.adapter, "default"):
        macro = walk.world.manifest.macro_named(f"{prefix}__{base}")
        if macro is not None:
            return _run(walk, macro, arguments, named)
    walk.called.add(base)
    return UNKNOWN


def _macro(
    walk: Walk, name: str, arguments: list[object], named: Mapping[str, object], frame: Frame
) -> object:
    own = frame.names.get(name)
    if isinstance(own, nodes.Macro):
        return expanded(walk, own, arguments, named, frame.package)
    if is_shadowed(name, frame):
        walk.called.add(name)
        return UNKNOWN
    package, _, last = name.rpartition(".")
    macro = walk.world.manifest.macro_named(last, package) if "." not in package else None
    if macro is None and not package:
        macro = walk.world.manifest.macro_named(last, frame.package)
    if macro is None:
        walk.called.add(name or "a call")
        if _may_be_a_macro(walk, package, last, frame):
            walk.queries.append(HOLE)
        elif last not in _ANSWERS and package not in _ANSWERS:
            # Nobody knows what it does with a text, such as context['run_query'] under a new name.
            walk.queries += [str(each) for each in arguments if " " in str(each).strip()]
        return UNKNOWN
    return _run(walk, macro, arguments, named)


def _may_be_a_macro(walk: Walk, package: str, name: str, frame: Frame) -> bool:
    """Whether a variable is called, or what stands in one: it may be any macro of the project."""
    if not package:
        return not name or isinstance(frame.names.get(name), Unknown)
    is_open = isinstance(frame.names.get(package), Unknown)
    return is_open and walk.world.manifest.macro_named(name) is not None


def _run(walk: Walk, macro: Macro, arguments: list[object], named: Mapping[str, object]) -> object:
    """What a macro of the project or of a package gives; dbt's own are holes."""
    tree = None if walk.world.manifest.is_internal(macro.package) else parsed(macro.sql)
    found = next((n for n in tree.body if isinstance(n, nodes.Macro)), None) if tree else None
    if found is None:
        walk.called.add(macro.name)
        return UNKNOWN
    return expanded(walk, found, arguments, named, macro.package)


def expanded(
    walk: Walk,
    macro: nodes.Macro,
    arguments: list[object],
    named: Mapping[str, object],
    package: str,
) -> object:
    """What the body of a macro gives; an argument that is missing is unknown."""
    walk.depth += 1
    if walk.depth > _DEEPEST:
        raise TooMuch
    frame = Frame(package=package)
    missing = len(macro.args) - len(macro.defaults)
    for place, each in enumerate(macro.args):
        if place < len(arguments):
            frame.names[each.name] = arguments[place]
        elif each.name in named:
            frame.names[each.name] = named[each.name]
        elif place >= missing:
            frame.names[each.name] = walk.of(macro.defaults[place - missing], frame)
        else:
            frame.names[each.name] = UNKNOWN
    try:
        return walk.body(macro.body, frame)
    except Returned as returned:
        return returned.value
    finally:
        walk.depth -= 1


def _items(arguments: list[object]) -> list[object]:
    return [each for given in arguments if isinstance(given, list) for each in given]
