"""A Delta table as a source: the files of its last version, and what its log says of them.

The folder also holds files that are of no version any more, with rows that were changed or deleted,
so only the log tells which are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

import duckdb
import pyarrow as pa

from policy_engine.compile.catalog import fresh
from policy_engine.errors import FileError, to_install
from policy_engine.values import frozen
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.files import SourceFiles, check_alike
from policy_engine.warehouse.quoting import literal, quoted

if TYPE_CHECKING:
    from deltalake import DeltaTable

_INSTALL = to_install("delta")
_READER = 3
# Features of a table that say nothing of its rows, or of which ``_wrong`` looks at what is there.
_FEATURES = {
    "columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck",
}  # fmt: skip
_MAPPING = "delta.columnMapping.mode"


@frozen
class Snapshot:
    """The last version of the Delta table in ``folder``: its files, and its columns in order.

    ``partitions`` are the columns that stand in the log alone, with a value for each file.
    """

    folder: Path
    files: SourceFiles
    columns: tuple[str, ...]
    partitions: Mapping[str, pa.Array]


def snapshot_of(folder: Path, name: str) -> Snapshot:
    """What the log of the Delta table in ``folder`` says of its last version.

    Raises:
        FileError: the library is missing, or the log cannot be read, or says something that the
            files do not show: deleted rows, other names of columns, files elsewhere.
    """
    folder = folder.resolve()
    if set(str(folder)) & set("%\\"):
        raise FileError(
            f"the source {name} is a Delta table in a folder with % or \\ in its name, under which"
            " another may be read: rename it"
        )
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ModuleNotFoundError:
        raise FileError(f"the source {name} is a Delta table; to read one: {_INSTALL}") from None
    cannot = (
        f"the source {name} is a Delta table whose log cannot be read; deltalake.DeltaTable(…) says"
        " why"
    )
    with withheld(FileError(cannot), engine=(DeltaError, OSError)):
        table = DeltaTable(folder)
        wrong = _wrong(table)
        if wrong:
            raise FileError(f"the source {name} is a Delta table {wrong}")
        columns = tuple(field["name"] for field in json.loads(table.schema().to_json())["fields"])
        keys = table.metadata().partition_columns
        actions = pa.table(table.get_add_actions()).sort_by("path")
    paths = tuple(_path(folder, path, name) for path in actions["path"].to_pylist())
    if not paths:
        raise FileError(f"the source {name} is a Delta table that is empty")
    if not keys:
        return Snapshot(folder, SourceFiles(paths), columns, {})
    values = pa.RecordBatch.from_struct_array(actions["partition"].combine_chunks())
    partitions = dict(zip(values.schema.names, values.columns, strict=True))
    kinds = [column.type for column in partitions.values()]
    if any(pa.types.is_binary(kind) or pa.types.is_binary_view(kind) for kind in kinds):
        raise FileError(f"the source {name} is a Delta table that is partitioned by bytes")
    return Snapshot(folder, SourceFiles(paths), columns, partitions)


def _wrong(table: DeltaTable) -> str:
    """Why its files alone are not its rows; empty where they are."""
    protocol = table.protocol()
    unknown = set(protocol.reader_features or ()) - _FEATURES
    if protocol.min_reader_version > _READER or unknown:
        listed = ", ".join(sorted(unknown)) or f"reader version {protocol.min_reader_version}"
        return f"with {listed}, which is not read: write it anew without"
    if table.metadata().configuration.get(_MAPPING, "none") != "none":
        return f"whose files name its columns otherwise ({_MAPPING}): write it anew without"
    if any(batch.num_rows for batch in table.deletion_vectors()):
        return (
            "with rows that are deleted and still in its files (deletion vectors): purge them, with"
            " REORG TABLE … APPLY (PURGE)"
        )
    return ""


def _path(folder: Path, path: str, name: str) -> Path:
    """Where a file is that the log names, as a part of a URL."""
    inside = PurePosixPath(unquote(path))
    if set(str(folder / inside)) & set("*?["):
        raise FileError(f"the source {name} has a file in whose path is *, ? or [: {inside.name}")
    if "://" in path or inside.is_absolute() or ".." in inside.parts:
        raise FileError(
            f"the source {name} is a Delta table with files elsewhere, as a shallow clone has: make"
            " a deep one"
        )
    if not os.path.isfile(folder / inside):  # noqa: PTH113 - False for a name that is too long
        raise FileError(f"the source {name} has lost a file that its log names: {inside.name}")
    return folder / inside


def make_view(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, name: str) -> None:
    """Make the rows of a version a temporary view called ``name``.

    Raises:
        FileError: a file cannot be read, or has other columns than the log says.
    """
    folder, paths, partitions = snapshot.folder, snapshot.files.paths, snapshot.partitions
    stored = {column.lower() for column in check_alike(connection, folder, paths)}
    for column in snapshot.columns:
        if column.lower() not in stored and column not in partitions:
            raise FileError(f"no file of {folder} has its column {column!r} yet: write it anew")
    file = fresh("file", [*snapshot.columns, *stored])
    listed = ", ".join(literal(str(path)) for path in paths)
    rows = (
        f"read_parquet([{listed}], hive_partitioning = false, filename = {literal(file)}) AS rows"
    )
    if partitions:
        beside = quoted("temp", "main", fresh("partitions", [name]))
        made = pa.table({file: [str(path) for path in paths], **partitions})
        connection.register("made", made)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {beside} AS FROM made")
        connection.unregister("made")
        rows = f"{rows} JOIN {beside} AS log ON rows.{quoted(file)} = log.{quoted(file)}"
    places = {column: "log." if column in partitions else "rows." for column in snapshot.columns}
    columns = ", ".join(f"{place}{quoted(column)}" for column, place in places.items())
    with withheld(FileError(f"{folder} holds a file that cannot be read")):
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS SELECT {columns} FROM {rows}"
        )
