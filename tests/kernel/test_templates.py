"""What a template may do: place nodes and what macros of ours gave, and ask about values."""

from __future__ import annotations

from itertools import chain

import jinja2
import pytest
from jinja2 import nodes
from markupsafe import Markup

from policy_engine.engines import ENGINES
from policy_engine.kernel.nodes import Identifier, Number, Text
from policy_engine.kernel.printing import _finalizer, templates

FILES = {
    path.relative_to(templates()).as_posix().removesuffix(".sql.j2"): path
    for folder in ("engines", "mechanisms", ".")
    for path in sorted((templates() / folder).glob("*.sql.j2"))
    if path.stem.partition(".")[0] not in ("select", "create_table", "replace_table")
}
ALLOWED = (
    nodes.Template, nodes.Import, nodes.Macro, nodes.Output, nodes.TemplateData, nodes.Call,
    nodes.Name, nodes.Getattr, nodes.Getitem, nodes.For, nodes.If, nodes.CondExpr, nodes.Compare,
    nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Test, nodes.Const, nodes.Tuple, nodes.List,
    nodes.Assign, nodes.AssignBlock,
)  # fmt: skip
PLACED = (nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call)
OPERATIONS = {
    "keyed": "the hash of a unit under the secret, and of one of its rows",
    "file": "rows of files",
    "loaded": "rows of a file that is loaded before",
    "row_number": "a row's own number",
    "native": "the engine's own sample",
    "try_cast": "a value read as another type, NULL where it is none",
    "repeat": "a row as often as its count says",
    "bytewise": "a text compared by its bytes; refused of a collated text where nothing collates",
}
"""What no standard form says; an engine has its own, or says why it lacks it."""
OWN = {"native": "native_sample", "loaded": "file"}


def tree(text: str) -> nodes.Template:
    return jinja2.Environment().parse(text)


def faults(text: str) -> list[str]:
    """What a template does that none may do."""
    root = tree(text)
    macros = {macro.name for macro in root.find_all(nodes.Macro)}
    imported = {each.target for each in root.find_all(nodes.Import)} | {"e"}
    found = [type(n).__name__ for n in root.find_all(nodes.Node) if not isinstance(n, ALLOWED)]
    for output in root.find_all(nodes.Output):
        found += [f"places {type(n).__name__}" for n in output.nodes if not isinstance(n, PLACED)]
    for call in root.find_all(nodes.Call):
        of = call.node
        is_macro = isinstance(of, nodes.Name) and of.name in macros
        is_form = isinstance(of, nodes.Getattr) and isinstance(of.node, nodes.Name)
        if not is_macro and not (is_form and of.node.name in imported):
            found.append(f"calls {of}")
        if call.dyn_args is not None or call.dyn_kwargs is not None:
            found.append("spreads arguments")
    found += [f"asks {n.name}" for n in root.find_all(nodes.Test) if n.name != "none"]
    return found


def forms(text: str) -> set[str]:
    """The engine's forms that a template asks for."""
    calls = (call.node for call in tree(text).find_all(nodes.Call))
    return {of.attr for of in calls
            if isinstance(of, nodes.Getattr) and getattr(of.node, "name", "") == "e"}  # fmt: skip


def macros(name: str) -> dict[str, list[str]]:
    """The macros of a template, with the names of what they are given."""
    root = tree(FILES[name].read_text(encoding="utf-8"))
    return {m.name: [arg.name for arg in m.args] for m in root.find_all(nodes.Macro)}


SHARED = [name for name in FILES if not name.startswith("engines/")] + ["engines/standard"]
ASKED = set(chain.from_iterable(forms(FILES[name].read_text(encoding="utf-8")) for name in SHARED))


@pytest.mark.parametrize("name", FILES)
def test_a_template_places_nodes_and_nothing_else(name):
    assert faults(FILES[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{{ 'x' }}", "places Const"),
        ("{{ name|safe }}", "Filter"),
        ("{{ name ~ 'x' }}", "Concat"),
        ("{{ name + 'x' }}", "Add"),
        ("{{ 'x' if name else 'y' }}", "places CondExpr"),
        ("{{ name.replace('a', 'b') }}", "calls"),
        ("{{ range(3) }}", "calls"),
        ("{% include 'x' %}", "Include"),
        ("{% if name is sameas true %}x{% endif %}", "asks sameas"),
        ("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(*all) }}", "spreads"),
        ("{{ name % 'x' }}", "Mod"),
        ("{% filter upper %}x{% endfilter %}", "FilterBlock"),
        ("{% set x %}{{ 'y' }}{% endset %}", "places Const"),
    ],
)
def test_each_other_thing_is_found(text, fault):
    assert any(found.startswith(fault) for found in faults(text))
    assert faults("{% macro m(x) %}a {{ x }}{% endmacro %}{{ m(name) }}") == []


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("engines/")])
def test_a_form_of_an_engine_is_one_that_is_asked_for(name):
    own = macros(name)
    asked = ASKED | forms(FILES[name].read_text(encoding="utf-8"))
    if name == "engines/mysql":  # MariaDB's forms ask for what is MySQL's own
        asked |= forms(FILES["engines/mariadb"].read_text(encoding="utf-8"))
    if name == "engines/standard":  # what the engines' own forms share
        asked |= {form for path in FILES.values() for form in forms(path.read_text("utf-8"))}
    assert set(own) <= asked
    standard = macros("engines/standard")
    for form, arguments in own.items():
        if form in standard:
            assert arguments == standard[form], form


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_an_engine_has_each_form_that_is_asked_for_or_says_why_not(engine):
    places = [f"engines/{name}" for name in (engine.name, engine.family, "standard") if name]
    known = set(chain.from_iterable(macros(name) for name in places if name in FILES))
    missing = ASKED - known
    assert missing <= set(OPERATIONS)
    said = {OWN.get(form, form) for form in missing - {"bytewise"}}
    assert said <= set(engine.lacks)
    assert "bytewise" in known or not engine.collates


def test_the_engines_agree_on_what_an_operation_is_given():
    for operation in OPERATIONS:
        given = [macros(name)[operation] for name in FILES
                 if name.startswith("engines/") and operation in macros(name)]  # fmt: skip
        assert given
        assert all(arguments == given[0] for arguments in given), operation


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_a_hole_takes_nodes_and_what_a_macro_gave(engine):
    place = _finalizer(engine)
    for wrong in ("x", "", 1, True, None, 1.5, ["x"], jinja2.Undefined(), b"x"):
        with pytest.raises(TypeError, match="not a node"):
            place(wrong)
    assert place(Markup("x")) == "x"
    assert [type(place(n)) for n in (Identifier("a"), Text("a"), Number(1))] == [Markup] * 3
