"""The files of a source: which they are, whether all of them are read, and whether they stay.

A folder of Parquet files is one table: all of it is read, and every file has the same columns. What
a file lacks, or has as another type, would fail while it is read, on every row or on one person's:
after the charge, and telling of that person. So every file's footer is read first.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX
from policy_engine.compile.catalog import meant
from policy_engine.errors import FileError
from policy_engine.opening import NO_FILE
from policy_engine.policy import reading
from policy_engine.policy.source_models import A_SOURCE_FILE, SAVED_AS, SOURCE_FILES
from policy_engine.values import frozen
from policy_engine.warehouse.failures import withheld

Columns = Mapping[str, str]
_READ = ".parquet"
_LAW = "every file of a folder must have the same columns, of the same types"
_REMEDY = "write the files anew with one schema"
_INSTEAD = (
    "name a Delta table by its own folder; for an Iceberg or Hudi table write its rows into a"
    " folder, or release where it is a table, as on Spark"
)
DELTA_LOG = "_delta_log"
_LOGS = {DELTA_LOG: "the Delta table", ".hoodie": "the Hudi table"}
_ICEBERG = re.compile(r"version-hint\.text|(v\d+|\d+-[0-9a-f-]{36})\.metadata\.json(\.gz)?")
_FOOTER = "SELECT name, duckdb_type, num_children FROM parquet_schema(?) ORDER BY column_id"
FilesState = tuple[tuple[object, ...], ...]
"""Name, inode, size and times of each file; nothing where there is none."""


@frozen
class SourceFiles:
    """The files that a source consists of, in order."""

    paths: tuple[Path, ...]

    def state(self) -> FilesState:
        """What tells, without reading them, that one has changed."""
        found = []
        for file in self.paths:
            try:
                status = file.stat()
            except OSError:
                return ()
            times = (status.st_mtime_ns, status.st_ctime_ns)  # who can set one cannot set the other
            found.append((str(file), status.st_ino, status.st_size, *times))
        return tuple(found)


def files_at(path: Path) -> SourceFiles:
    """A file, or the Parquet files of a folder and those below it, in the order of their names."""
    if not path.is_dir():
        return SourceFiles((path,))
    return SourceFiles(tuple(sorted(path.rglob("*.parquet"))))


def check_file(path: Path, name: str) -> None:
    """Refuse, by FileError, a source that is not there, empty or of an unknown kind."""
    try:
        status = path.stat()
    except FileNotFoundError:
        hint = reading.meant(path)
        raise FileError(
            f"the source {name} is not there; looked for {path.absolute()}"
            + (f"; {hint}" if hint else ""),
            code="source_missing",
        ) from None
    except OSError as error:
        raise FileError(f"the source {name[:100]} cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"the source {name} cannot be read: {NO_FILE}")
    if not os.access(path, os.R_OK):
        raise FileError(f"the source {name} cannot be read: permission is denied")
    if status.st_size == 0:
        raise FileError(f"the source {name} is empty")
    if name.lower().endswith(CERTIFICATE_SUFFIX):
        raise FileError(
            f"{name} is a certificate, and has no rows: name the release that it is of, which"
            f" stands beside it as {path.name.removesuffix(CERTIFICATE_SUFFIX)}.parquet"
        )
    if not name.lower().endswith(SOURCE_FILES):
        raise FileError(f"the source {name} must end in {A_SOURCE_FILE}; {SAVED_AS}")


def files_in(folder: Path, name: str) -> list[Path]:
    """The Parquet files of ``folder`` and of the folders in it, in the order of their names.

    Raises:
        FileError: there is none, or something else is there that would not be read.

    What begins with ``_`` or ``.`` and is no Parquet file is what its writer left there for
    itself, as Spark's ``_SUCCESS``.
    """

    def refuse(error: OSError) -> None:
        raise FileError(f"the source {name} cannot be read: {error.strerror}") from None

    found: list[Path] = []
    paths: list[Path] = []
    for at, folders, files in os.walk(folder, onerror=refuse):
        paths += (Path(at, each) for each in files)
        paths += (link for each in folders if (link := Path(at, each)).is_symlink())
    check_not_logged((folder, *paths), name)
    for path in paths:
        inside = path.relative_to(folder)
        is_own = any(part.startswith(("_", ".")) for part in inside.parts)
        if path.suffix == _READ and not is_own:
            found.append(path)
        elif path.suffix == _READ:
            raise FileError(
                f"the source {name} holds {inside}, which is hidden, or not finished, by its name:"
                " remove it, or rename it"
            )
        elif not is_own:
            wrong = "a link to a folder" if path.is_dir() else "another file"
            raise FileError(
                f"the source {name} holds {inside}, {wrong}, which would not be read: all of a"
                f" folder must end in {_READ}; rename it, or move it out"
            )
    if not found:
        raise FileError(f"the source {name} is a folder without a {_READ} file in it")
    return sorted(found)


def check_not_logged(paths: Iterable[Path], name: str) -> None:
    """Refuse what a table format's log speaks of: some files are of rows that are gone.

    Raises:
        FileError: a file or folder, or one that a link leads to, stands in the folder of a table.
    """
    real = {resolved for path in paths for resolved in (path.absolute(), path.resolve())}
    for each in sorted({above for path in real for above in (path, *path.parents)}):
        kind = _logged(each)
        if kind:
            raise FileError(
                f"the source {name} has files of {kind} {each}, whose log alone says which of them"
                f" are read: {_INSTEAD}"
            )


def _logged(folder: Path) -> str:
    """The table format whose log is in a folder; empty where there is none."""
    for log, kind in _LOGS.items():
        place = folder / log
        # An empty folder was never written to; what is none, as a link to nowhere, was one.
        if any(place.iterdir()) if place.is_dir() else os.path.lexists(place):
            return kind
    found = (folder / "metadata").glob("*")
    return "the Iceberg table" if any(_ICEBERG.fullmatch(each.name) for each in found) else ""


def partitions_of(folder: Path, files: list[Path]) -> tuple[str, ...]:
    """The names in folders called ``name=value``, which are no columns here.

    >>> partitions_of(Path("a"), [Path("a/year=2020/b.parquet"), Path("a/year=2021/b.parquet")])
    ('year',)
    """
    folders = (part for file in files for part in file.relative_to(folder).parts[:-1])
    return tuple(dict.fromkeys(part.split("=")[0] for part in folders if "=" in part))


def names_of(own: Sequence[str], read: Sequence[str], path: Path) -> Sequence[str]:
    """The columns' names as a file has them, where the engine reads two that it cannot tell apart.

    It calls the second of them otherwise, as ``id_1``: a name that no column has.

    Raises:
        FileError: it is the name of another column, which would be read in its place.

    >>> names_of(["ID", "id", "zip"], ["ID", "id_1", "zip"], Path("p.parquet"))
    ['ID', 'id', 'zip']
    """
    for name, called in zip(own, read, strict=True):
        if name != called and called in own:
            raise FileError(
                f"{path} has names of columns that differ by case alone, as {name!r}, and one of"
                f" them would be called {called!r}, as another is; rename one"
            )
    return [
        name if len(meant(name, own)) > 1 else called
        for name, called in zip(own, read, strict=True)
    ]


def check_alike(
    connection: duckdb.DuckDBPyConnection, folder: Path, files: Sequence[Path]
) -> Columns:
    """The columns of every file, by their footers; files that differ are refused.

    Raises:
        FileError: a file cannot be read, or its columns or their types differ.
    """
    first, *others = ((file, dict(_columns_in(connection, file))) for file in files)
    for file, columns in others:
        wrong = _difference(columns, first[1], first[0].relative_to(folder))
        if wrong:
            raise FileError(
                f"{_LAW}; {file.relative_to(folder)} in {folder} has {wrong}; {_REMEDY}"
            )
    return first[1]


def _difference(columns: Columns, first: Columns, of: Path) -> str:
    """What a file has otherwise than the first; empty where it has nothing."""
    for name, kind in first.items():
        if name not in columns:
            near = next((other for other in columns if other.lower() == name.lower()), "")
            instead = f", but {near!r}" if near else ""
            return f"no column {name!r}{instead}, which {of} has"
        if columns[name] != kind:
            return f"the column {name!r} as {columns[name]}, which {of} has as {kind}"
    more = next((name for name in columns if name not in first), None)
    return f"a column {more!r}, which {of} has not" if more is not None else ""


def names_in(connection: duckdb.DuckDBPyConnection, file: Path) -> list[str]:
    """The names of a Parquet file's columns, as they stand in it.

    Raises:
        FileError: the file cannot be read.
    """
    return [name for name, _ in _columns_in(connection, file)]


def _columns_in(connection: duckdb.DuckDBPyConnection, file: Path) -> list[tuple[str, str]]:
    with withheld(FileError(f"{file} is not a Parquet file that can be read")):
        # The first is the root, whose children are the columns.
        _, *rows = connection.execute(_FOOTER, [str(file)]).fetchall()
    found, skip = [], 0
    for name, kind, children in rows:
        if skip:
            skip += (children or 0) - 1
        else:
            found.append((name, kind))
            skip = children or 0
    return found
