"""What runs beside the models, and what it does with sensitive data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policy_engine.dbt.integrity import OURS, is_shipped
from policy_engine.dbt.manifest import Macro, Manifest, Node, mapping
from policy_engine.dbt.packages import BUILT_IN
from policy_engine.dbt.raw_text import refs_in, words_in
from policy_engine.dbt.reading import READ_KINDS
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.template_runs import Runs

if TYPE_CHECKING:
    from policy_engine.dbt.held import Held, Moved
    from policy_engine.dbt.hooks import Script
    from policy_engine.dbt.sinks import View

_MOVES = re.compile(
    r"\b(?:copy|unload|export|outfile|insert|create|clone|rename|grant|merge|update|delete)\b",
    re.IGNORECASE,
)


def moved(view: View) -> Iterator[GateFinding]:
    """What hooks, operations, templates and macros do with sensitive data."""
    yield from _Running(view, view.reader.runs).findings()


@dataclass
class _Running:
    view: View
    runs: Runs
    told: dict[tuple[str, str, str], GateFinding] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def findings(self) -> Iterator[GateFinding]:
        """Everything that is found, each once."""
        for node, setting, script in self._scripts():
            self._script(node, setting, script)
        for macro in self.view.manifest.macros.values():
            if self._is_suspect(macro):
                self._macro(macro)
        yield from self.told.values()

    @property
    def _held(self) -> Held:
        # What reads statements takes long to load, and most projects have no hooks.
        from policy_engine.dbt.held import Held

        releases = frozenset(each.node for each in self.view.releases)
        return Held(self.view.reader, self.view.taint.reaches, releases)

    def _script(self, node: Node, setting: str, script: Script) -> None:
        from policy_engine.dbt.moves import moved_by

        where = f"{setting} of {node.label}" if setting else node.label
        file = self.view.manifest.file_of(node)
        for each in moved_by(script.text, self._held, script.queries):
            self._tell(each, where, file)
            self.used |= set(node.macros)
        for text in (script.text, *script.queries):
            for wrong in (*_secret_in(text, node, self.view), *_replaced_in(text, node, self.view)):
                self.told.setdefault((wrong.code, "", wrong.message), wrong)

    def _macro(self, macro: Macro) -> None:
        from policy_engine.dbt.hooks import macro_moves

        for each in macro_moves(macro, self._held, self.runs):
            file = self.view.manifest.file_of_macro(macro)
            self._tell(each, f"the macro {macro.name}", file)

    def _is_suspect(self, macro: Macro) -> bool:
        if self.view.manifest.is_internal(macro.package) or macro.id in self.used:
            return False
        may_move = _MOVES.search(macro.sql) is not None or self.runs.queries(macro.sql)
        return may_move and not is_shipped(macro)

    def _tell(self, moved: Moved, where: str, file: str) -> None:
        view = self.view
        way = (*view.way(moved.node), where) if moved.node else ()
        if moved.code == "G22":
            way = ()
        label = view.label(moved.node) if moved.node else ""
        verb = f"{where}: {label} {moved.what}" if moved.node else f"{where} {moved.what}"
        if moved.node or view.taint.reached:
            found = finding(moved.code, verb, file, path=way, remedy=_REMEDIES.get(moved.code, ""))
            self.told.setdefault((moved.code, moved.node, where), found)

    # Texts

    def _scripts(self) -> Iterator[tuple[Node, str, Script]]:
        """Every text that runs beside a model, with the node and the setting it stands in."""
        for node in self.view.manifest.nodes.values():
            if node.kind == "operation":
                yield from ((node, "", each) for each in self._of_operation(node))
            elif node.hooks():
                from policy_engine.dbt.hooks import scripts

                for setting, sql in node.hooks():
                    for each in scripts(sql, self.view.reader, self.runs, node):
                        yield node, setting, each
            if node.materialized not in BUILT_IN and self.view.taint.reaches(node.id):
                from policy_engine.dbt.hooks import builder_scripts

                for each in builder_scripts(node, self.view.reader):
                    yield node, f"the materialization {node.materialized}", each
            if node.kind in _RENDERED and self.runs.queries(node.raw):
                yield from ((node, "the template", each) for each in self._of_template(node))

    def _of_operation(self, node: Node) -> Iterator[Script]:
        if node.package == OURS and self._is_our_hook(node):
            return
        from policy_engine.dbt.hooks import Script, scripts

        compiled = self.view.reader.compiled(node)
        if compiled is not None:
            yield Script(compiled)
        if compiled is None or "{" in node.raw:
            yield from scripts(node.raw, self.view.reader, self.runs)

    def _is_our_hook(self, node: Node) -> bool:
        """Whether an operation is the hook of the vendored package, as it was shipped."""
        gate = self.view.manifest.macros.get(f"macro.{OURS}.gate")
        return (
            gate is not None
            and is_shipped(gate)
            and "".join(node.raw.split()) == "{{policy_engine.gate()}}"
        )

    def _of_template(self, node: Node) -> Iterator[Script]:
        """What a node's template runs while it is rendered; its own text is read elsewhere."""
        from policy_engine.dbt.hooks import Script, scripts

        names = {"_dbt_generic_test_kwargs": _test_arguments(node, self.view.manifest)}
        for each in scripts(node.raw, self.view.reader, self.runs, node, names):
            if each.queries:
                yield Script("", each.queries)


_RENDERED = (*READ_KINDS, "analysis")
_REMEDIES: Mapping[str, str] = {
    "G22": "Take it out of the hook: a release is dropped by hand, and a new one has a new version."
}


def _test_arguments(node: Node, manifest: Manifest) -> Mapping[str, object]:
    """The arguments of a generic test; the relation that is tested is one of them."""
    from policy_engine.dbt.templates import Relation

    given: dict[str, object] = dict(mapping(mapping(node.data, "test_metadata"), "kwargs"))
    for key, value in given.items():
        if isinstance(value, str) and "(" in value:
            found = [each for each in refs_in(Node("", {"raw_code": value}), manifest) if each]
            if found:
                given[key] = Relation(manifest.nodes[found[0]].relation, found[0])
    return given


def _secret_in(text: str, node: Node, view: View) -> Iterator[GateFinding]:
    """That a hook touches the secrets of the samples."""
    if view.secrets & words_in(text):
        said = f"{node.label} has a hook that touches the secrets of the samples"
        yield finding("G27", said, view.manifest.file_of(node))


_FUNCTION = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:aggregate\s+)?(?:function|macro)\s+"
    r"(?:if\s+not\s+exists\s+)?[\w.\"`\[\]]*?\"?(\w+)[\"`\]]?\s*\(",
    re.IGNORECASE,
)


def _replaced_in(text: str, node: Node, view: View) -> Iterator[GateFinding]:
    """That a hook makes a function of the name of one that a release calls."""
    for name in _FUNCTION.findall(text):
        if name.lower() in view.called:
            said = f"{node.label} has a hook that makes a function {name}, which a release calls"
            yield finding("G25", said, view.manifest.file_of(node))
