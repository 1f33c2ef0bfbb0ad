"""What a statement beside the models does with sensitive data.

A statement *acts* if it may leave something behind: a table, a row, a file, a variable. It is a
finding if it acts on what is sensitive anywhere but in a node that is sensitive itself, and if
nobody can tell what it acts on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import dropwhile, pairwise

from policy_engine.dbt.granted import granted
from policy_engine.dbt.held import Held, Moved
from policy_engine.dbt.lexing import (
    QUOTED,
    SIGN,
    WORD,
    Token,
    name_at,
    statements,
    tokens,
    words,
)
from policy_engine.dbt.naming import Name, shown
from policy_engine.dbt.relations import Reads, reads_of
from policy_engine.dbt.template_values import HOLE

OUT = words("COPY UNLOAD EXPORT PUT OUTFILE DUMPFILE DIRECTORY")
_MOVES = OUT | words("""
    INSERT MERGE INTO CLONE RENAME SWAP EXECUTE EXEC CALL PUBLICATION SHARE UPSERT TRIGGER
    EXCHANGE ATTACH
""")
_SENDS = words("""
    DBLINK_EXEC DBLINK_SEND_QUERY HTTP_GET HTTP_POST LO_EXPORT LO_FROM_BYTEA LO_PUT PG_NOTIFY
    SET_CONFIG SYS_EXEC XP_CMDSHELL
""")
"""Functions that leave something behind, or send it away."""
_ONLY_READS = words("""
    ANALYSE ANALYZE BEGIN CLUSTER COMMIT DESC DESCRIBE EXPLAIN FROM INSTALL LOAD LOCK OPTIMIZE
    REFRESH REINDEX REVOKE ROLLBACK SELECT SHOW START SUMMARIZE TABLE TRUNCATE USE VACUUM VALUES
    WITH DROP END UNDROP
""")
_READING = words("SELECT FROM TABLE USING JOIN")
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
_HOLE_NAME = "policy_engine_hole"


def moved_by(written: str, held: Held, queries: Iterable[str] = ()) -> Iterator[Moved]:
    """What a text of statements moves, grants or gives away, and the queries of its template.

    What such a query asks may be what any of the statements writes: the template puts it there.
    """
    ran = [statement for query in queries for statement in statements(query)]
    asked = _asked(ran, held)
    for statement in (*ran, *statements(written)):
        yield from _moved(statement, held, asked)


def _asked(queries: Iterable[str], held: Held) -> str | None:
    """Sensitive data that queries ask; '' where nobody knows what they ask, else None."""
    is_open = False
    for query in queries:
        if _first(tokens(query)) not in {"SELECT", "WITH", "FROM"}:
            continue
        reads = _reads(query, held)
        for read in reads.names:
            for id_ in held.sensitive(read.name):
                return id_
        is_open |= _reads_a_hole(reads, ())
    return "" if is_open else None


def _first(found: Iterable[Token]) -> str:
    return next((token.word for token in found if token.word), "")


def _moved(statement: str, held: Held, asked: str | None) -> Iterator[Moved]:
    whole = tokens(statement)
    found = list(dropwhile(lambda token: not token.word, whole))
    while found and found[0].word in _OPENS_A_BLOCK:
        found.pop(0)
    first = found[0].word if found else ""
    block = _BLOCK.search(statement) if first == "DO" else None
    if whole and whole[0].text == HOLE:
        yield Moved("G05", "", f"runs what only a run can tell: {brief(statement)}")
    yield from _undone(statement, found, held)
    if block is not None:
        yield from moved_by(block[2], held)
    elif first == "GRANT":
        yield from granted(found, held)
    elif first == "ALTER" and "GRANT" in {token.word for token in found}:
        yield from granted(list(dropwhile(lambda t: t.word != "GRANT", found)), held)
    elif _WIDE.search(_TEXT.sub("''", statement)):
        yield Moved("G05", "", f"takes every table elsewhere: {brief(statement)}")
    elif found and _may_act(found, first):
        yield from _moves(statement, found, held, asked)


_OPENS_A_BLOCK = frozenset({"BEGIN", "THEN", "ELSE", "LOOP"})
_BLOCK = re.compile(r"\$(\w*)\$(.*)\$\1\$", re.DOTALL)


def _may_act(found: list[Token], first: str) -> bool:
    said = {token.word for token in found}
    if first == "CREATE":
        kind = next((t.word for t in found[1:] if t.word and t.word not in _BETWEEN), "")
        return kind not in _MADE_OF_NOTHING or bool({"CLONE", "SELECT"} & said)
    if first in {"UPDATE", "REPLACE", "DELETE"}:
        return True
    if first == "ALTER":
        return _alters(said)
    if said & (_MOVES | _SENDS) or any(_assigns(*pair) for pair in pairwise(found)):
        return True
    if first in _ONLY_READS:
        return first in {"WITH", "EXPLAIN"} and bool(said & {"UPDATE", "DELETE"})
    has_hole = any(HOLE in token.text for token in found)
    return bool(first) and (has_hole or not said.isdisjoint(_READING))


def _alters(said: set[str]) -> bool:
    """Whether an ALTER gives data another place, or a view another text."""
    renames = "RENAME" in said and not said & {"COLUMN", "CONSTRAINT", "PARTITION", "INDEX"}
    moves = {"SWAP", "EXCHANGE", "SHARE", "PUBLICATION", "SELECT", "ATTACH", "INHERIT"}
    return renames or bool(said & moves) or {"SET", "SCHEMA"} <= said


def _assigns(one: Token, other: Token) -> bool:
    """``@x := …``, by which a query of MySQL keeps what it reads."""
    return one.text == ":" and other.text == "=" and one.kind == SIGN


def _moves(statement: str, found: list[Token], held: Held, asked: str | None) -> Iterator[Moved]:
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
    reads = _reads(statement, held)
    read = [each.name for each in reads.names if renames or each.name not in targets]
    sensitive = {id_: name for name in read for id_ in held.sensitive(name)}
    for id_ in sorted(sensitive):
        yield Moved("G05", id_, f"takes it elsewhere: {brief(statement)}")
    if not sensitive and (_takes_a_hole(found) or _reads_a_hole(reads, targets)):
        yield Moved("G05", "", f"takes elsewhere what only a run can tell: {brief(statement)}")
    elif not sensitive and asked is not None:
        what = "may be put elsewhere" if asked else "writes what only a run can tell"
        yield Moved("G05", asked, f"{what}: {brief(statement)}")


def _reads(statement: str, held: Held) -> Reads:
    return reads_of(statement.replace(HOLE, _HOLE_NAME), held.reader.dialect)


def _reads_a_hole(reads: Reads, targets: Iterable[Name]) -> bool:
    """Whether a relation is read whose own name only a run can tell."""
    return any(
        read.sure and read.name not in targets and _HOLE_NAME in read.name[-1].text
        for read in reads.names
    )


def _targets(found: list[Token]) -> list[Name]:
    """What a statement writes: behind INTO, TABLE, VIEW, UPDATE, OVERWRITE, DELETE FROM."""
    before = {"FROM"} if found[0].word == "DELETE" else _BEFORE_A_TARGET
    names = []
    for place, token in enumerate(found):
        if token.word not in before or (place and token.word == "TABLE" and _is_read(found)):
            continue
        behind = place + 1
        while behind < len(found) and found[behind].word in _BETWEEN:
            behind += 1
        named = name_at(found, behind)
        if named is not None and found[behind].word not in {"SELECT", "VALUES", "WITH"}:
            names.append(named[0])
            break
    return names


def _is_read(found: list[Token]) -> bool:
    """Whether TABLE stands before something that is read: COPY TABLE, UNLOAD TABLE."""
    return found[0].word in OUT


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
    """Whether what is taken is not known before a run: it, or the whole query."""
    holes = [place for place, token in enumerate(found) if token.text == HOLE]
    if found[0].word in {"COPY", "UNLOAD", "EXPORT"} and holes:
        return True
    depth, depths = 0, []
    for token in found:
        depth += (token.text == "(") - (token.text == ")")
        depths.append(depth)
    return any(_is_a_query(found, place, depths) for place in holes)


def _is_a_query(found: list[Token], place: int, depths: list[int]) -> bool:
    """Whether a hole stands where a query is written: AS ◆, AS (◆), INSERT INTO a ◆."""
    before = place - 1
    while before >= 0 and found[before].text == "(":
        before -= 1
    if before < 0:
        return False
    if found[before].word == "AS":
        return depths[before] == 0
    if found[0].word not in {"INSERT", "REPLACE"} or depths[before] or before != place - 1:
        return False
    is_name = found[before].kind in {WORD, QUOTED} and found[before].word not in _NO_TARGET
    return is_name or (
        found[before].text == ")" and "VALUES" not in {t.word for t in found[:place]}
    )


_NO_TARGET = words("INTO VALUES SELECT TABLE OVERWRITE")


def _undone(statement: str, found: list[Token], held: Held) -> Iterator[Moved]:
    """That a release is dropped, emptied or renamed: dbt would draw it again."""
    first, said = _first(found), {token.word for token in found}
    if not held.releases or not _takes_away(first, said):
        return
    place = 1
    while place < len(found) and found[place].word in _BETWEEN | _OBJECTS:
        place += 1
    named = name_at(found, place)
    is_open = HOLE in "".join(token.text for token in found[place : place + 6])
    if named is not None:
        is_schema = not _SCHEMAS.isdisjoint(said)
        meant = _in_schema(named[0], held) if is_schema else held.meant(named[0])
        for id_ in sorted(meant & held.releases):
            yield Moved("G22", id_, f"would be drawn again: {brief(statement)}")
            return
        is_open = HOLE in shown(named[0][-1:])
    if is_open:
        yield Moved("G22", "", f"may drop, empty or rename a release: {brief(statement)}")


_SCHEMAS = words("SCHEMA DATABASE CATALOG")
_OBJECTS = _SCHEMAS | words("TABLE VIEW FOREIGN DYNAMIC ICEBERG")


def _takes_away(first: str, said: set[str]) -> bool:
    """Whether a statement drops, empties or renames something that holds rows."""
    if first == "DROP":
        return not said.isdisjoint(_OBJECTS)
    if first == "CREATE":
        return "REPLACE" in said and not _SCHEMAS.isdisjoint(said)
    return first == "TRUNCATE" or (first == "ALTER" and _alters(said))


def _in_schema(schema: Name, held: Held) -> frozenset[str]:
    """The releases in a schema, or in a database, of that name."""
    wanted = schema[-1].text.lower()
    nodes = held.reader.manifest.nodes
    return frozenset(
        id_
        for id_ in held.releases
        if id_ in nodes
        and wanted
        in {str(nodes[id_].data.get(key) or "").lower() for key in ("schema", "database")}
    )


def brief(statement: str) -> str:
    """A statement on one line, as a message quotes it."""
    line = " ".join(statement.replace(HOLE, "…").split())
    return line if len(line) <= 70 else line[:67] + "..."
