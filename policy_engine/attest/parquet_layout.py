"""A release's Parquet file, looked at as bytes: nothing stands in it but its rows.

The digest says that the file is the one that was signed. This says that who signed it put nothing
else in: no metadata beside the certificate's, no bytes between columns or behind the footer, no
bounds or dictionary entries that no row has, no row groups of telling sizes.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from policy_engine.attest.parquet_pages import Kind, check_chunk
from policy_engine.attest.thrift import Malformed, Struct, ThriftReader

CERTIFICATE_KEY = b"policy_engine.certificate"
"""Under which the file carries the facts of its certificate (``publish.METADATA_KEY``)."""
ROW_GROUP = 1 << 20

_MAGIC = b"PAR1"
_ARROW_KEY = b"ARROW:schema"
_WRITER = re.compile(rb"parquet-cpp-arrow version \d{1,4}\.\d{1,4}\.\d{1,4}")
_FILE = {1, 2, 3, 4, 5, 6, 7}
_COLUMN_TYPE = {1, 2, 3, 4, 6, 7, 8, 10}
_GROUP = {1, 2, 3, 5, 6, 7}
_CHUNK = {2, 3}
_CHUNK_DATA = {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16}
_OPTIONAL = 1


def hidden(data: bytes, predicate: Mapping[str, Any]) -> str:
    """What a Parquet file of a release holds besides its rows; empty where there is nothing.

    >>> hidden(b"PAR1", {})
    'its footer is not at its end'
    """
    try:
        _check(data, predicate)
    except Malformed as error:
        return str(error)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError):
        return "its parts are not of the form that the engine writes"
    return ""


def _check(data: bytes, predicate: Mapping[str, Any]) -> None:
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    if not data.startswith(_MAGIC) or not data.endswith(_MAGIC) or start < len(_MAGIC):
        raise Malformed("its footer is not at its end")
    reader = ThriftReader(data[:-8], start)
    footer = _known(reader.struct(), _FILE)
    if reader.place != len(data) - 8:
        raise Malformed("there are bytes behind its footer")
    if not _WRITER.fullmatch(footer.get(6, b"")):
        raise Malformed("it was not written by the engine's Parquet library")
    _check_metadata(footer.get(5, []), predicate)
    columns = footer[2][1:]
    place = len(_MAGIC)
    groups = [_known(group, _GROUP) for group in footer[4]]
    if any(group[3] != ROW_GROUP for group in groups[:-1]):
        raise Malformed("its row groups are of odd sizes")
    if any(not 0 < group[3] <= ROW_GROUP for group in groups[-1:] if footer[3]):
        raise Malformed("its row groups are of odd sizes")
    if sum(group[3] for group in groups) != footer[3]:
        raise Malformed("its row groups do not add up to its rows")
    for group in groups:
        for column, chunk in zip(columns, group[1], strict=True):
            place = _check_chunk(data[:start], place, column, chunk, group[3])
    if place != start:
        raise Malformed("there are bytes that belong to no column")


def _known(struct: Any, allowed: set[int]) -> Struct:
    if not isinstance(struct, dict) or struct.keys() - allowed:
        raise Malformed("it has metadata that the engine does not write")
    return struct


def _check_metadata(pairs: list[Struct], predicate: Mapping[str, Any]) -> None:
    named = {pair[1]: pair[2] for pair in pairs if _known(pair, {1, 2})}
    if len(named) != len(pairs) or named.keys() - {CERTIFICATE_KEY, _ARROW_KEY}:
        raise Malformed("it has metadata that the engine does not write")
    facts = named.get(CERTIFICATE_KEY)
    if facts is not None and facts != _facts(predicate):
        raise Malformed("its metadata states another certificate than the signed one")
    if _ARROW_KEY in named:
        _check_arrow(named[_ARROW_KEY], facts)


def _facts(predicate: Mapping[str, Any]) -> bytes:
    return json.dumps(_plain(predicate), sort_keys=True, ensure_ascii=False).encode()


def _plain(value: Any) -> Any:
    """Lists and dictionaries again, where a statement was frozen."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _check_arrow(text: bytes, facts: bytes | None) -> None:
    """The Arrow schema says again what the columns are, and may say no more."""
    import pyarrow as pa

    try:
        blob = base64.b64decode(text, validate=True)
        schema = pa.ipc.read_schema(pa.BufferReader(blob))
    except (ValueError, pa.ArrowException, OSError):
        raise Malformed("its Arrow schema cannot be read") from None
    wanted = None if facts is None else {CERTIFICATE_KEY: facts}
    if schema.metadata != wanted or any(field.metadata for field in schema):
        raise Malformed("its Arrow schema has metadata that the engine does not write")
    if schema.serialize().to_pybytes() != blob:
        raise Malformed("its Arrow schema holds more than its columns")


def _check_chunk(data: bytes, place: int, column: Struct, chunk: Struct, rows: int) -> int:
    """See that a column chunk starts at ``place`` and is whole; the place where it ends."""
    _known(column, _COLUMN_TYPE)
    facts = _known(_known(chunk, _CHUNK).get(3), _CHUNK_DATA)
    first = facts.get(11, facts[9])
    if not rows and not first:  # a column without a page
        first = place
    if first != place or facts[7] < 0:
        raise Malformed("there are bytes that belong to no column")
    if facts[5] != rows or facts[1] != column[1] or column.get(3, 0) > _OPTIONAL:
        raise Malformed("a column that is not plain")
    end: int = place + facts[7]
    kind = Kind(column[1], column.get(2, 0), column.get(3) == _OPTIONAL, facts[4])
    check_chunk(data[place:end], kind, rows, facts.get(12, {}))
    return end
