"""The SQL that runs beside the models: hooks, operations, macros, and what templates run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policy_engine.dbt.held import Held, Moved
from policy_engine.dbt.lexing import statements, tokens
from policy_engine.dbt.manifest import Macro, Node
from policy_engine.dbt.moves import OUT, brief, moved_by
from policy_engine.dbt.reading import Reader
from policy_engine.dbt.template_runs import Runs
from policy_engine.dbt.templates import HOLE, Relation, World, macro_texts, macro_variants, rendered


@dataclass(frozen=True)
class Script:
    """A text that runs, and the queries that its template runs on the way."""

    text: str = ""
    queries: tuple[str, ...] = ()


def scripts(
    template: str,
    reader: Reader,
    runs: Runs,
    node: Node | None = None,
    names: Mapping[str, object] | None = None,
) -> Iterator[Script]:
    """What a template can become; where it cannot be walked, what stands outside its braces."""
    if "{" not in template:
        yield Script(template)
        return
    this = None if node is None else Relation(node.relation or node.name, node.id)
    world = World(reader.manifest, this, node=node, names=names or {})
    variants = rendered(template, world)
    if variants is None:
        yield Script(_bare(template), (HOLE,) if runs.queries(template) else ())
        return
    yield from dict.fromkeys(Script(each.script, each.queries) for each in variants)


def _bare(template: str) -> str:
    """A template that cannot be walked: what stands outside its braces."""
    return re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", re.sub(r"\{\{.*?\}\}", HOLE, template, flags=re.S))


_SUSPECT = re.compile(
    r"\b(?:copy|unload|export|put|outfile|insert|create|clone|rename|grant|merge|update|delete)\b",
    re.IGNORECASE,
)


def macro_moves(macro: Macro, held: Held, runs: Runs) -> Iterator[Moved]:
    """What a macro would move if somebody ran it: 'dbt run-operation' runs any of them."""
    if not _SUSPECT.search(macro.sql) and not runs.queries(macro.sql):
        return
    for text in macro_texts(macro, World(held.reader.manifest)) or (_bare(macro.sql),):
        for moved in moved_by(text, held):
            if moved.node and moved.code != "G22":
                yield moved


def materialization_macros(name: str, reader: Reader) -> Iterator[Macro]:
    """The macros of a materialization that is not dbt's own."""
    for macro in reader.manifest.macros.values():
        is_own = reader.manifest.is_internal(macro.package)
        if macro.name.startswith(f"materialization_{name}_") and not is_own:
            yield macro


def builder_scripts(node: Node, reader: Reader) -> Iterator[Script]:
    """What the materialization of a node runs, where it is not dbt's own, as far as it is known."""
    world = World(reader.manifest, Relation(node.relation or node.name, node.id), node=node)
    for macro in materialization_macros(node.materialized, reader):
        for each in macro_variants(macro, world) or ():
            queries = tuple(query for query in each.queries if not query.strip().startswith(HOLE))
            yield Script("", queries)


def exports(macro: Macro) -> str:
    """The statement of a materialization that takes its data out of the warehouse; '' if none."""
    for statement in statements(_bare(macro.sql)):
        said = {token.word for token in tokens(statement)}
        if said & (OUT - {"PUT"}) and ({"TO", "INTO", "DATA", "OUTFILE", "DIRECTORY"} & said):
            return brief(statement)
    return ""
