"""Code that runs beside the models: what a person reviews, and the gate does not analyse.

Packages, hooks, operations, materializations, Python models, macros in the place of dbt's own, and
macros and templates that run a statement while dbt renders them. A piece of code is known by the
digest of its text, of the project's macros that it reaches and of the variables that it reads, and
by the sensitive data that it is given: where there is more of that, it was not read for it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from policy_engine.dbt.handed import Packages, hands_over
from policy_engine.dbt.lexing import words
from policy_engine.dbt.manifest import Manifest, Node, leaves, mapping, short, words_in
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.texts import (
    code_in,
    code_of,
    is_generic_test,
    on_one_line,
    puts_together,
    refs_in,
)
from policy_engine.opening import text_in
from policy_engine.values import frozen

OURS = "policy_engine"
"""The vendored package, whose macros must be as they were shipped."""
PACKAGE, HOOK, OPERATION = "package", "hook", "operation"
MATERIALIZATION, PYTHON, MACRO, TEMPLATE = "materialization", "python", "macro", "template"
AUDIENCE = "audience"
KINDS = (PACKAGE, HOOK, OPERATION, MATERIALIZATION, PYTHON, MACRO, TEMPLATE, AUDIENCE)

_RUNS = re.compile(
    r"\b(?:add_query|add_select_query|builtins|context|copy_table|create_schema|dbt_run_query"
    r"|drop_relation|drop_relation_if_exists|drop_schema|drop_schema_named|execute_macro"
    r"|load_result|rename_relation|run_hooks|run_query|run_sql|run_statement|set_sql_header"
    r"|statement|submit_python_job|truncate_relation)\b|\bdbt\b(?!\s*\.\s*\w)"
    r"|\badapter\b(?!\.(?:check_schema_exists|dispatch|expand_target_column_types|get_relation"
    r"|get_columns_in_relation|get_missing_columns|quote|quote_as_configured|type)\b)"
)
"""By what a template runs something while it is rendered; ``adapter`` but for what only asks."""
_OWN_CALL = re.compile(rf"\s*\{{\{{\s*{OURS}\.\w+\((?:[^(){{}}'\"]|'[^']*')*\)\s*\}}\}}\s*")
_NAMING = words("""
    generate_alias_name generate_database_name generate_latest_version_pointer_alias
    generate_schema_name generate_schema_name_for_env
""")
"""Macros that say where a model stands, which the manifest shows."""
_ONLY_ASK = words("""
    check_schema_exists date_spine equals generate_database_name get_binding_char
    get_columns_in_relation get_intervals_between list_relations_without_caching list_schemas
    unique_key_join_on
""")
"""Macros of dbt's that run something and give no rows: how relations look, and counts of days."""
_LOOKED_UP = re.compile(r"get_incremental_\w+_sql|snapshot_\w+_strategy")
"""The macros that dbt calls for a strategy that a config names."""
_CALLED = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*=(?!=))")
_DISPATCHED = re.compile(r"\bdispatch\(\s*(?:macro_name\s*=\s*)?['\"](\w+)['\"]\s*[,)]")
_FROM_GIVEN = re.compile(r"\b(?:from|join)\s*\{\{", re.IGNORECASE)
_VAR = re.compile(r"\bvar\(\s*['\"]([^'\"]+)['\"]")
_ANY_VAR = re.compile(r"\bvar\b(?!\(\s*['\"][^'\"]+['\"]\s*[,)])")
_RENDERED = ("model", "snapshot", "test", "analysis", "function")


@frozen
class Code:
    """A piece of code, or an audience: what it is, where it stands, and its digest.

    ``given`` are the ids of the sensitive nodes that it is given, those that it stands on as well;
    ``values`` the variables that it reads, as YAML; ``texts`` all else that the digest is of.
    ``in_place`` says that it stands in the place of a macro of dbt's, ``is_made_up`` that another
    run may read another name in it.
    """

    kind: str
    name: str
    file: str
    texts: tuple[str, ...]
    given: tuple[str, ...] = ()
    in_place: bool = False
    values: tuple[str, ...] = ()
    is_made_up: bool = False

    @property
    def label(self) -> str:
        """Its kind and its name, as a review names it."""
        return f"{self.kind} {self.name}"

    @property
    def rule(self) -> str:
        """The code of the rule that asks for its review."""
        if self.kind == AUDIENCE:
            return "G01"
        return "G11" if self.in_place else "G14"

    @property
    def what_is_given(self) -> str:
        """The sensitive data that it is given, as the end of a sentence; '' where it is none."""
        names = list(map(short, self.given[:_NAMED]))
        more = f" and {len(self.given) - _NAMED} more" if len(self.given) > _NAMED else ""
        return f"; it is given sensitive data: {', '.join(names)}{more}" if names else ""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """What a review keeps of it, to show what changed: of a package, digests of its texts."""
        said = [line.rstrip() for text in self.texts for line in text.strip().splitlines()]
        if self.kind == PACKAGE:
            parts = (text.partition(": ") for text in self.texts)
            said = [f"{name} {_sha256(on_one_line(text))[:16]}" for name, _, text in parts]
        return (*said, *self.values)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its texts but for blanks, and of the variables."""
        plain = [on_one_line(each) for each in self.texts]
        return f"sha256:{_sha256(json.dumps([self.kind, plain, self.values]))}"


_NAMED = 3


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def runs_statements(template: str) -> bool:
    """Whether a template runs something itself while it is rendered.

    >>> runs_statements("{% do run_query('select 1') %}"), runs_statements("{{ log('run_query') }}")
    (True, False)
    """
    return _RUNS.search(code_of(template)) is not None


def is_own_call(written: str) -> bool:
    """Whether a hook is a call of the engine's own package, and no more.

    >>> is_own_call("{{ policy_engine.gate() }}"), is_own_call("{{ policy_engine.gate() }} x")
    (True, False)
    """
    return _OWN_CALL.fullmatch(written) is not None


def foreign_code(
    manifest: Manifest,
    is_sensitive: Callable[[str], bool],
    variables: Mapping[str, object],
    before_dbt: frozenset[str],
    shown: Collection[str],
) -> tuple[Code, ...]:
    """Every piece of code that runs beside the models of a project, by kind and name.

    ``variables`` are those of the project, with those of its packages under their names. The
    macros of the packages ``before_dbt`` stand in the place of dbt's own. ``shown`` are the nodes
    before a way out that hold nothing sensitive, by what was read of them.
    """
    found = _Foreign(manifest, is_sensitive, variables, before_dbt, shown).found()
    return tuple(sorted(found, key=lambda each: (KINDS.index(each.kind), each.name, each.digest)))


@dataclass
class _Foreign:
    manifest: Manifest
    is_sensitive: Callable[[str], bool]
    variables: Mapping[str, object]
    before_dbt: frozenset[str]
    shown: Collection[str]
    _running: dict[str, bool] = field(default_factory=dict)

    def found(self) -> Iterator[Code]:
        yield from self._packages()
        yield from self._hooks()
        foreign = (m for m in self.manifest.macros.values() if self._is_foreign(m.package))
        first = (macro for macro in foreign if macro.package in self.before_dbt)
        for macro in (*self.manifest.own_macros, *filter(self._stands_in_place, first)):
            yield from self._macro(macro)
        for node in self.manifest.nodes.values():
            if not self._is_foreign(node.package):
                yield from self._node(node)

    def _is_foreign(self, package: str) -> bool:
        return package not in {"", OURS, self.manifest.project} and not self.manifest.is_internal(
            package
        )

    # Packages

    def _packages(self) -> Iterator[Code]:
        texts: dict[str, list[str]] = {}
        for id_, macro in sorted(self.manifest.macros.items()):
            if self._is_foreign(macro.package):
                texts.setdefault(macro.package, []).append(f"{id_}: {macro.raw}")
        for id_, node in sorted(self.manifest.nodes.items()):
            if self._is_foreign(node.package):
                said = [f"{id_}: {sql}" for _, sql in node.hooks()]
                if node.is_python or node.kind == "operation":
                    said.append(f"{id_}: {node.raw}")
                texts.setdefault(node.package, []).extend(said)
        for name, said in texts.items():
            if said:
                file, values = f"dbt_packages/{name}/dbt_project.yml", self._values(said, name)
                yield Code(PACKAGE, name, file, tuple(said), values=values)

    def _values(self, texts: Iterable[str], package: str) -> tuple[str, ...]:
        """The variables that code of a package reads: all, where it makes up their names."""
        code = " ".join(code_in(each) for each in texts)
        names = frozenset(_VAR.findall(code))
        own = self.variables.get(package)
        given = {**self.variables, **(own if isinstance(own, Mapping) else {})}
        is_any = _ANY_VAR.search(code) is not None
        return tuple(
            f"var {name}: {json.dumps(value, default=str, sort_keys=True)}"
            for name, value in sorted(given.items())
            if is_any or name in names
        )

    # The project's own

    def _code(
        self, kind: str, name: str, file: str, written: str, on: Iterable[str] = (),
        *, in_place: bool = False,
    ) -> Code:  # fmt: skip
        texts = self.manifest.texts_of(written)
        named = {id_ for each in texts for id_ in refs_in(each, self.manifest)}
        given = tuple(sorted(filter(self.is_sensitive, named.union(on))))
        values = self._values(texts, self.manifest.project)
        return Code(kind, name, file, texts, given, in_place, values)

    def _hooks(self) -> Iterator[Code]:
        """Hooks by their texts; one of nodes with sensitive data is another one."""
        found: dict[tuple[str, bool], list[tuple[Node, str]]] = {}
        for node in self.manifest.nodes.values():
            for setting, sql in node.hooks() if not self._is_foreign(node.package) else ():
                if not is_own_call(sql):
                    key = on_one_line(sql), self.is_sensitive(node.id)
                    found.setdefault(key, []).append((node, setting))
        known = Counter[str]()
        for (sql, _), places in found.items():
            node, setting = min(places, key=lambda place: place[0].id)
            name = f"{setting.replace('_', '-')} of {node.label}"
            known[name] += 1
            name += f", no. {known[name]}" if known[name] > 1 else ""
            on = {each.id for each, _ in places}
            yield self._code(HOOK, name, self.manifest.file_of(node), sql, on)

    def _macro(self, macro: Node) -> Iterator[Code]:
        file = self.manifest.file_of(macro)
        if macro.name.startswith("materialization_"):
            kind = macro.name.removeprefix("materialization_")
            in_place = kind.rpartition("_")[0] in self._materializations
            yield self._code(MATERIALIZATION, kind, file, macro.raw, in_place=in_place)
        elif self._stands_in_place(macro):
            yield self._code(MACRO, macro.name, file, macro.raw, in_place=True)
        elif self._has_run(macro.raw) or (
            any(map(self._runs, macro.uses))
            and any(map(self.is_sensitive, refs_in(macro.raw, self.manifest)))
        ):
            yield self._code(MACRO, macro.name, file, macro.raw)

    def _node(self, node: Node) -> Iterator[Code]:
        file = self.manifest.file_of(node)
        if node.kind == "operation":
            if not is_own_call(node.raw):
                yield self._code(OPERATION, node.name, file, node.raw)
        elif node.is_python:
            yield self._code(PYTHON, node.label, file, node.raw, [node.id])
        elif node.kind in _RENDERED:
            texts = self.manifest.texts_of(node.raw) if node.id in self.shown else ()
            is_made_up = puts_together(";".join(texts[::-1]))
            if is_made_up or self._asks(node):
                code = self._code(TEMPLATE, node.label, file, node.raw, [node.id])
                yield replace(code, is_made_up=is_made_up)

    def _asks(self, node: Node) -> bool:
        """Whether a template runs statements, or lets a package ask sensitive data."""
        if is_generic_test(node):
            given = mapping(mapping(node.data, "test_metadata"), "kwargs")
            handed = any(hands_over(each, self._packages_macros) for each in leaves(given))
            return handed or runs_statements(json.dumps(given))
        if self._has_run(node.raw):
            return True
        is_given = any(map(self.is_sensitive, (node.id, *self.manifest.child_of(node))))
        return is_given and any(map(self._runs, node.uses))

    def _has_run(self, template: str) -> bool:
        """Whether a template runs statements, or has a macro of dbt's or of a package's do it."""
        code = code_of(template)
        dispatched = _DISPATCHED.findall(code_in(template)) if "dispatch" in code else []
        called = {_base(word) for word in (*_CALLED.findall(code), *dispatched)}
        return (
            runs_statements(template)
            or len(dispatched) < len(re.findall(r"\bdispatch\b", code))  # of a name that is made up
            or not called.isdisjoint(self._run_by_dbt)
            or hands_over(template, self._packages_macros)
        )

    @cached_property
    def _run_by_dbt(self) -> frozenset[str]:
        """The names of dbt's own macros that run something."""
        macros = self.manifest.macros.items()
        own = ((i, m) for i, m in macros if self.manifest.is_internal(m.package))
        return frozenset(_base(macro.name) for id_, macro in own if self._runs(id_))

    def _runs(self, id_: str) -> bool:
        """Whether a macro of dbt's or of a package's runs something, by itself or by others."""
        macro = self.manifest.macros.get(id_)
        if macro is None or macro.package in {OURS, self.manifest.project}:
            return False
        if _base(macro.name) in _ONLY_ASK:
            return False
        if id_ not in self._running:
            self._running[id_] = False  # a circle runs what its members run
            self._running[id_] = runs_statements(macro.raw) or any(map(self._runs, macro.uses))
        return self._running[id_]

    @cached_property
    def _packages_macros(self) -> Packages:
        """The macros of packages that run something, for what they are handed."""
        foreign = {i: m for i, m in self.manifest.macros.items() if self._is_foreign(m.package)}
        running = {i: m for i, m in foreign.items() if self._runs(i)}
        sensitive = [n for id_, n in self.manifest.nodes.items() if self.is_sensitive(id_)]
        names = {word for n in sensitive for word in (n.name, *words_in(n.relation.split(".")[-1]))}
        return Packages(
            frozenset(macro.package.lower() for macro in foreign.values()),
            frozenset((m.package.lower(), m.name.lower()) for m in running.values()),
            frozenset(
                (m.package.lower(), m.name.lower()) for i, m in running.items() if self._reads(i)
            ),
            frozenset(map(str.lower, names)),
        )

    def _reads(self, id_: str, above: frozenset[str] = frozenset()) -> bool:
        """Whether a package's macro puts what it is given behind FROM, by itself or by others."""
        macro = self.manifest.macros.get(id_)
        if macro is None or id_ in above or not self._is_foreign(macro.package):
            return False
        if _FROM_GIVEN.search(macro.raw):
            return True
        return any(self._reads(each, above | {id_}) for each in macro.uses)

    # In the place of dbt's

    @cached_property
    def _builtin(self) -> Mapping[str, frozenset[str]]:
        """The names of dbt's macros without the adapter's prefix, each with its texts."""
        found: dict[str, set[str]] = {}
        for macro in self.manifest.macros.values():
            is_own = macro.package == self.manifest.project
            if self.manifest.is_internal(macro.package) and not is_own:
                found.setdefault(_base(macro.name), set()).add(_body(macro.raw))
        return {name: frozenset(texts) for name, texts in found.items()}

    @cached_property
    def _materializations(self) -> frozenset[str]:
        start = "materialization_"
        own = (name.removeprefix(start) for name in self._builtin if name.startswith(start))
        return frozenset(name.rpartition("_")[0] for name in own)

    def _stands_in_place(self, macro: Node) -> bool:
        """Whether a macro of the project stands where one of dbt's own is looked for."""
        base = _base(macro.name)
        if base in _NAMING or base.startswith("test_"):
            return False
        if base in {"ref", "source", "config"}:
            return True
        is_own = base not in self._builtin and _LOOKED_UP.fullmatch(base) is not None
        return is_own or _body(macro.raw) not in self._builtin.get(base, {_body(macro.raw)})


_PREFIX = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*?__(?=\w)")
_HEAD = re.compile(r"\{%-?\s*macro\s+\w+")


def _base(name: str) -> str:
    """The name that a macro answers to: without the prefix of an adapter."""
    found = _PREFIX.match(name)
    return name[found.end() :] if found else name


def _body(sql: str) -> str:
    """A macro's text but for its name and its blanks."""
    return on_one_line(_HEAD.sub("{% macro", sql, count=1))


# What a release rests on

_BUILT_IN = words("ref source config is_incremental should_full_refresh return")
_SHIPPED = re.compile(
    r"\{%-?\s*(?P<kind>macro|test)\s+(?P<name>\w+).*?\{%-?\s*end(?P=kind)\s*-?%\}", re.DOTALL
)
_TARGETS = re.compile(r"return\(\[(?:'[\w.$ -]+'(?:, '[\w.$ -]+')*)?\]\)")


def replaced_macros(manifest: Manifest, before_dbt: frozenset[str]) -> Iterator[GateFinding]:
    """The macros by which a project replaces what every release rests on."""
    rests_on = _BUILT_IN | _behind_incremental(manifest)
    for macro in manifest.macros.values():
        if manifest.is_internal(macro.package) or macro.package == OURS:
            continue
        is_first = macro.package in {manifest.project, *before_dbt}
        if (is_first and macro.name in rests_on) or macro.name.startswith(
            "materialization_incremental_"
        ):
            said = f"the macro {macro.name} of {macro.package} replaces that of dbt"
            yield finding("G25", said, macro.file, names=(macro.name,))


def _behind_incremental(manifest: Manifest) -> frozenset[str]:
    ahead = [
        macro
        for macro in manifest.macros.values()
        if macro.name.startswith("materialization_incremental_")
        and manifest.is_internal(macro.package)
    ]
    found: dict[str, Node] = {}
    while ahead:
        macro = ahead.pop()
        if macro.id not in found:
            found[macro.id] = macro
            ahead += [manifest.macros[id_] for id_ in macro.uses if id_ in manifest.macros]
    return frozenset(macro.name for macro in found.values())


def changed_macros(manifest: Manifest) -> Iterator[GateFinding]:
    """The macros of the vendored package that are not as they were shipped."""
    found = [macro for macro in manifest.macros.values() if macro.package == OURS]
    if not found:
        yield finding("G25", f"the manifest has no macro of the package {OURS}")
    for macro in found:
        # Another target alone makes no release: that takes a reservation in it.
        is_list = macro.name == "release_targets"
        text = on_one_line(_TARGETS.sub("return([])", macro.raw) if is_list else macro.raw)
        named = (macro.name.removeprefix("test_"), macro.name)
        if all(_shipped().get(name) != text for name in named):
            said = (
                f"the macro {OURS}.{macro.name} is not the one that 'policy-engine dbt sync' writes"
            )
            yield finding("G25", said, manifest.file_of(macro), names=(macro.name,))


@lru_cache(maxsize=1)
def _shipped() -> dict[str, str]:
    return {
        block["name"]: on_one_line(block[0])
        for file in sorted(Path(__file__).with_name("package").rglob("*.sql"))
        for block in _SHIPPED.finditer(text_in(file))
    }
