"""What a Python model reads and where it writes, as far as its text says so.

Nothing of it is run or imported. A name that is put together at run time cannot be followed: then
the model counts as one that cannot be read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.dbt.lexing import words
from policy_engine.dbt.manifest import Node
from policy_engine.dbt.relations import Read, Reads, reads_of
from policy_engine.dbt.taint import Edge

if TYPE_CHECKING:
    from policy_engine.dbt.reading import NodeReads, Reader

_TABLES = words("table read_table from_table load_table read_sql_table get_table")
_QUERIES = words("sql query execute executemany read_sql read_sql_query from_query raw_sql")
_FILES = words("""
    read_csv read_parquet read_json read_excel read_pickle read_feather read_orc read_avro
    read_hdf read_xml read_html read_fwf read_ipc scan_csv scan_parquet scan_ndjson scan_delta
    read_delta read_text textFile wholeTextFiles from_csv_auto from_parquet urlopen urlretrieve
    download_file download_fileobj get_object
""")
_WRITES = words("""
    to_csv to_parquet to_json to_excel to_sql to_pickle to_feather to_hdf to_html to_xml to_orc
    to_gbq to_clipboard to_stata to_markdown to_latex to_delta write_csv write_parquet write_json
    write_pandas write_ipc write_delta write_database write_table write_excel sink_csv sink_parquet
    save saveAsTable save_as_table saveAsTextFile insertInto insert_into copy_into_location
    create_or_replace_view createOrReplaceGlobalTempView upload upload_file upload_fileobj
    upload_blob upload_from_string put_object put_stream post put patch sendmail send_message
    publish urlopen system popen check_call check_output Popen
""")
_MODULES = words("""
    requests httpx urllib aiohttp smtplib socket ftplib paramiko boto3 telnetlib subprocess ctypes
    importlib pickle shelve http
""")
_DARK = words("eval exec compile __import__")


def read_python(node: Node, reader: Reader) -> NodeReads:
    """What a Python model reads beside its declared parents."""
    from policy_engine.dbt.reading import BRANCH, Found

    found, allowed = Found(), reader.allowed(node)
    tree = _tree(node.raw)
    if tree is None:
        found.unread = "its text is no Python" if node.raw else ""
        return found.reads()
    for call in _calls(tree):
        name, first = _name(call), _text(call.args[0]) if call.args else None
        if name in {"ref", "source"}:
            parent = _parent(call, name, reader)
            if parent is not None and parent not in allowed:
                found.edge(Edge(parent, node.id, BRANCH))
            elif parent is None and not all(_text(each) for each in call.args):
                found.unread = f"it calls {name}() with what only a run can tell"
        elif name in _FILES or _opens(call):
            found.unknown[f"{name}({first!r})" if first else f"{name}(…)"] = None
        elif name in _TABLES | _QUERIES and call.args:
            if first is None:
                found.unread = f"it calls {name}() with what only a run can tell"
            else:
                is_name = name in _TABLES or " " not in first.strip()
                text = f"select * from {first}" if is_name else first
                reader.note(reads_of(text, reader.dialect), node, allowed, found)
        elif isinstance(call.func, ast.Name) and name in _DARK:
            found.unread = f"it calls {name}()"
    for text in _strings(tree):
        if " " in text.strip() and "from" in text.lower():
            reads = reads_of(text, reader.dialect)
            maybe = Reads(tuple(Read(read.name, False) for read in reads.names), (), reads.parsed)
            reader.note(maybe, node, allowed, found)
    return found.reads()


def writes_of(node: Node) -> tuple[tuple[str, int], ...]:
    """The calls of a Python model that write or send something, each with its line.

    >>> writes_of(Node("m", {"raw_code": "def model(dbt, s):\\n    dbt.ref('a').to_csv('a.csv')"}))
    (('to_csv', 2),)
    """
    tree = _tree(node.raw)
    if tree is None:
        return ()
    found = {(_name(call), call.lineno) for call in _calls(tree) if _name(call) in _WRITES}
    found |= {("open", call.lineno) for call in _calls(tree) if _opens(call, to_write=True)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Attribute) and each.attr in {"write", "writeTo", "writeStream"}:
            found.add((each.attr, each.lineno))
        elif isinstance(each, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in each.names]
            if isinstance(each, ast.ImportFrom):
                names = [each.module or ""]
            found |= {(f"import {n}", each.lineno) for n in names if n.split(".")[0] in _MODULES}
    return tuple(sorted(found, key=lambda pair: (pair[1], pair[0])))


def _parent(call: ast.Call, name: str, reader: Reader) -> str | None:
    texts = [_text(each) or "" for each in call.args]
    if name == "source":
        parent = reader.manifest.source_named(*texts) if len(texts) == 2 else None
    else:
        version = next((_said(k.value) for k in call.keywords if k.arg in {"v", "version"}), "")
        package, model = (texts[0], texts[1]) if len(texts) > 1 else ("", "".join(texts))
        parent = reader.manifest.node_named(package, model, version)
    return parent.id if parent is not None else None


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _strings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _said(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _opens(call: ast.Call, *, to_write: bool = False) -> bool:
    if not isinstance(call.func, ast.Name) or call.func.id != "open":
        return False
    given = [_text(each) or "" for each in call.args[1:2]]
    given += [_text(k.value) or "" for k in call.keywords if k.arg == "mode"]
    writes = bool(set("".join(given)) & set("wax+"))
    return writes if to_write else not writes
