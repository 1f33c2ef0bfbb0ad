"""What SQL beside the models does with sensitive data: hooks, operations, macros, materializations.

A statement *moves* data if it copies, exports, inserts, creates, clones or renames. It is a finding
if it moves what is sensitive anywhere but into a node that is sensitive itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import dropwhile

from policy_engine.dbt.lexing import (
    QUOTED,
    STRING,
    WORD,
    Token,
    is_everybody,
    name_at,
    statements,
    tokens,
    words,
)
from policy_engine.dbt.manifest import Macro, Node
from policy_engine.dbt.naming import Name, shown
from policy_engine.dbt.reading import HOLE, Reader
from policy_engine.dbt.relations import reads_of
from policy_engine.dbt.templates import Relation, World, is_internal, macro_texts, rendered

_OUT = words("COPY UNLOAD EXPORT PUT OUTFILE DUMPFILE DIRECTORY")
_MOVES = _OUT | words("""
    INSERT MERGE INTO CLONE RENAME SWAP EXECUTE EXEC CALL PUBLICATION SHARE UPSERT TRIGGER
    EXCHANGE ATTACH
""")
_MADE_OF_NOTHING = words("""
    INDEX UNIQUE CLUSTERED NONCLUSTERED FULLTEXT SEARCH VECTOR STATISTICS POLICY MASKING ROLE
    SCHEMA DATABASE EXTENSION SEQUENCE TYPE TAG USER
""")
_BEFORE_A_TARGET = words("INTO OVERWRITE TABLE VIEW UPDATE")
_BETWEEN = words("""
    IF NOT EXISTS TABLE OR REPLACE TEMP TEMPORARY TRANSIENT UNLOGGED MATERIALIZED EXTERNAL ONLY
    RECURSIVE
""")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_WIDE = re.compile(
    r"\bexport\s+database\b|\bcopy\s+from\s+database\b|\bclone\s+(?:schema|database)\b"
    r"|\bcreate\s+(?:or\s+replace\s+)?(?:schema|database)\b[^;]*\bclone\b"
    r"|\bfor\s+all\s+tables\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Held:
    """Which nodes hold sensitive data, and what a name means."""

    reader: Reader
    is_sensitive: Callable[[str], bool]

    def meant(self, name: Name) -> frozenset[str]:
        """The nodes that a name means, or may mean."""
        surely, perhaps = self.reader.meant(name)
        return surely or perhaps

    def sensitive(self, name: Name) -> list[str]:
        """The nodes with sensitive data that a name may mean."""
        return sorted(id_ for id_ in self.meant(name) if self.is_sensitive(id_))


@dataclass(frozen=True)
class Moved:
    """What a statement does: ``code`` of the rule, the node and what becomes of it."""

    code: str
    node: str
    what: str


def moved_by(text: str, held: Held) -> Iterator[Moved]:
    """What a text of statements moves, grants or gives away."""
    for statement in statements(text):
        found = list(dropwhile(lambda token: not token.word, tokens(statement)))
        while found and found[0].word in _OPENS_A_BLOCK:
            found.pop(0)
        first = found[0].word if found else ""
        block = _BLOCK.search(statement) if first == "DO" else None
        if block is not None:
            yield from moved_by(block[2], held)
        elif first == "GRANT":
            yield from _granted(found, held)
        elif first == "ALTER" and "GRANT" in {token.word for token in found}:
            yield from _granted(list(dropwhile(lambda t: t.word != "GRANT", found)), held)
        elif _WIDE.search(_TEXT.sub("''", statement)):
            yield Moved("G05", "", f"takes every table elsewhere: {brief(statement)}")
        elif _may_move(found, first):
            yield from _moves(statement, found, held)


_OPENS_A_BLOCK = frozenset({"BEGIN", "THEN", "ELSE", "LOOP"})
_BLOCK = re.compile(r"\$(\w*)\$(.*)\$\1\$", re.DOTALL)


def _may_move(found: list[Token], first: str) -> bool:
    said = {token.word for token in found}
    if first == "CREATE":
        kind = next((t.word for t in found[1:] if t.word and t.word not in _BETWEEN), "")
        return kind not in _MADE_OF_NOTHING or "CLONE" in said
    if first in {"UPDATE", "REPLACE"}:
        return True
    if first == "ALTER":
        renames = "RENAME" in said and not said & {"COLUMN", "CONSTRAINT", "PARTITION", "INDEX"}
        moves = bool(said & {"SWAP", "EXCHANGE", "SHARE", "PUBLICATION"})
        return renames or moves or {"SET", "SCHEMA"} <= said
    return bool(said & _MOVES)


def _moves(statement: str, found: list[Token], held: Held) -> Iterator[Moved]:
    """What is read by a statement that puts it elsewhere."""
    targets = _targets(found)
    if _loads(found):
        return
    into = [id_ for name in targets for id_ in held.meant(name)]
    is_kept = bool(into) and all(held.is_sensitive(id_) for id_ in into)
    said = {token.word for token in found}
    renames = bool({"RENAME", "SWAP", "EXCHANGE"} & said) or {"SET", "SCHEMA"} <= said
    if is_kept and not renames:
        return
    reads = reads_of(statement.replace(HOLE, "policy_engine_hole"), held.reader.dialect)
    read = [each.name for each in reads.names if renames or each.name not in targets]
    sensitive = {id_: name for name in read for id_ in held.sensitive(name)}
    for id_ in sorted(sensitive):
        yield Moved("G05", id_, f"takes it elsewhere: {brief(statement)}")
    if not sensitive and _takes_a_hole(found):
        yield Moved("G05", "", f"exports what only a run can tell: {brief(statement)}")


def _targets(found: list[Token]) -> list[Name]:
    """What a statement writes: behind INTO, TABLE, VIEW, UPDATE, OVERWRITE."""
    names = []
    for place, token in enumerate(found):
        if token.word not in _BEFORE_A_TARGET or (
            place and token.word == "TABLE" and _reads(found)
        ):
            continue
        behind = place + 1
        while behind < len(found) and found[behind].word in _BETWEEN:
            behind += 1
        named = name_at(found, behind)
        if named is not None and found[behind].word not in {"SELECT", "VALUES", "WITH"}:
            names.append(named[0])
            break
    return names


def _reads(found: list[Token]) -> bool:
    """Whether TABLE stands before something that is read: COPY TABLE, UNLOAD TABLE."""
    return found[0].word in _OUT


def _loads(found: list[Token]) -> bool:
    """Whether a COPY brings data in: from a file, or from a stage into a table."""
    if found[0].word != "COPY":
        return False
    said = [token.word for token in found]
    if "TO" in said:
        return False
    if "INTO" in said:
        place = said.index("INTO") + 1
        return place < len(found) and found[place].kind in {WORD, QUOTED}
    return True


def _takes_a_hole(found: list[Token]) -> bool:
    """Whether what is exported is not known before a run."""
    texts = [token.text for token in found]
    return found[0].word in {"COPY", "UNLOAD", "EXPORT"} and any(HOLE in text for text in texts)


def _granted(found: list[Token], held: Held) -> Iterator[Moved]:
    """Grants to everybody of what holds sensitive data."""
    said = [token.word for token in found]
    if "TO" not in said or "ON" not in said:
        return
    to = len(said) - 1 - said[::-1].index("TO")
    dialect = held.reader.dialect
    if not any(is_everybody(grantee, dialect) for grantee in _grantees(found[to + 1 :])):
        return
    on = said.index("ON")
    objects = found[on + 1 : to]
    if _is_wide(set(said[:on]), objects):
        schema = next((n for n in _names(objects) if n[-1].text.upper() not in _KINDS), ())
        for id_ in _of_schema(schema, held):
            yield Moved("G03", id_, "is granted to everybody, with every table of its schema")
            return
    for name in _names(objects):
        for id_ in held.sensitive(name):
            yield Moved("G03", id_, "is granted to everybody")
    if any(HOLE in token.text for token in objects) and "SCHEMA" not in said:
        yield Moved("G03", "", "grants to everybody what only a run can tell")


def _is_wide(privileges: set[str], objects: list[Token]) -> bool:
    """Whether a grant is of every table of a schema."""
    said = {token.word for token in objects}
    if said & {"ALL", "FUTURE", "TABLES", "VIEWS"} or any(t.text == "*" for t in objects):
        return True
    can_read = not privileges.isdisjoint({"SELECT", "READ"}) or not privileges - {"GRANT", ""}
    return can_read and bool(said & {"SCHEMA", "DATABASE", "CATALOG", "DATASET"})


_KINDS = words("""
    ALL FUTURE TABLES VIEWS IN SCHEMA DATABASE CATALOG DATASET TABLE VIEW MATERIALIZED EXTERNAL
""")


def _grantees(found: list[Token]) -> Iterator[str]:
    """Who is granted something, one by one."""
    parts: list[str] = []
    for token in [*found, Token("sign", ",")]:
        if token.text == "," or token.word == "WITH":
            yield " ".join(parts)
            parts = []
        elif token.kind in {WORD, QUOTED, STRING}:
            parts.append(token.text.strip("'"))


def _names(found: list[Token]) -> Iterator[Name]:
    place = 0
    while place < len(found):
        named = name_at(found, place) if found[place].word not in _KINDS else None
        if named is None:
            place += 1
            continue
        yield named[0]
        place = named[1]


def _of_schema(schema: Name, held: Held) -> Iterator[str]:
    """The sensitive nodes of a schema; of any, where the schema is not known before a run."""
    wanted = schema[-1].text.lower() if schema and HOLE not in shown(schema) else ""
    for id_, node in sorted(held.reader.manifest.nodes.items()):
        own = str(node.data.get("schema") or "").lower()
        if node.relation and held.is_sensitive(id_) and wanted in {"", own}:
            yield id_


def brief(statement: str) -> str:
    """A statement on one line, as a message quotes it."""
    line = " ".join(statement.replace(HOLE, "…").split())
    return line if len(line) <= 70 else line[:67] + "..."


def texts_of_hooks(node: Node, reader: Reader) -> Iterator[tuple[str, str]]:
    """The SQL of a node's hooks, as far as it is known, each with its setting."""
    this = Relation(node.relation or node.name, node.id)
    for setting, sql in node.hooks():
        for text in template_texts(sql, reader, this):
            yield setting, text


def template_texts(template: str, reader: Reader, this: Relation | None = None) -> Iterator[str]:
    """The texts that a template can become, with the queries that it runs on the way."""
    if "{" not in template:
        yield template
        return
    variants = rendered(template, World(reader.manifest, this))
    if variants is None:
        yield _bare(template)
        return
    for variant in variants:
        yield variant.text
        yield from variant.queries


def _bare(template: str) -> str:
    """A template that cannot be walked: what stands outside its braces."""
    return re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", re.sub(r"\{\{.*?\}\}", HOLE, template, flags=re.S))


_SUSPECT = re.compile(
    r"\b(?:copy|unload|export|put|outfile|insert|create|clone|rename|grant|merge)\b", re.IGNORECASE
)


def macro_moves(macro: Macro, held: Held) -> Iterator[Moved]:
    """What a macro would move if somebody ran it: 'dbt run-operation' runs any of them."""
    if is_internal(macro.package) or not _SUSPECT.search(macro.sql):
        return
    for text in macro_texts(macro, World(held.reader.manifest)) or (_bare(macro.sql),):
        yield from (moved for moved in moved_by(text, held) if moved.node)


def materialization_macros(name: str, reader: Reader) -> Iterator[Macro]:
    """The macros of a materialization that is not dbt's own."""
    for macro in reader.manifest.macros.values():
        if macro.name.startswith(f"materialization_{name}_") and not is_internal(macro.package):
            yield macro


def exports(macro: Macro) -> str:
    """The statement of a materialization that takes its data out of the warehouse; '' if none."""
    for statement in statements(_bare(macro.sql)):
        said = {token.word for token in tokens(statement)}
        if said & (_OUT - {"PUT"}) and ({"TO", "INTO", "DATA", "OUTFILE", "DIRECTORY"} & said):
            return brief(statement)
    return ""
