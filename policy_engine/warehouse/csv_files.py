"""CSV files: one reader for the first line and the rows, and nothing guessed from a row.

A row is read by itself: its fields are split as `source.csv` says, and each is turned into a text
that a cast of the certified text reads, or into NULL. That a row has the fields of the first line
and closes its quotes is assumed of every file (`relations/assumptions.py`): if one does not, the
whole file is refused, in words that are the same whichever row it was.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, cast

import duckdb
import pyarrow as pa

from policy_engine.compile.catalog import meant
from policy_engine.errors import FileError
from policy_engine.opening import opened
from policy_engine.policy.csv_models import CsvSpec, default_delimiter
from policy_engine.policy.fields import ColumnType
from policy_engine.policy.resolve import Source
from policy_engine.warehouse.csv_form import PlainForm, plain_form
from policy_engine.warehouse.csv_values import converted
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import literal, quoted

_BATCH = 20_000
_LONGEST_LINE = 1_000_000
_ROWS = "policy_engine_rows"
_NUMBERED = "policy_engine_numbered"
_NOT_READ = (csv.Error, EOFError, gzip.BadGzipFile, zlib.error)
_QUOTED = {"\t": '"\\t"', '"': "'\"'"}
_DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
# What only digits and signs make up is a number, a date, a time or a telephone's, and no name.
_VALUE = re.compile(r"[^\w]*\d[\d\W]*|\S+@\S+\.\S+|true|false|na|n/a|null|\\n", re.IGNORECASE)
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ufffd]")
_COMMENT = "#"
_KINDS = {
    b"PK\x03\x04": "a zip archive, as spreadsheets (.xlsx, .ods) are: save it as CSV",
    b"PAR1": "a Parquet file: name it .parquet",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel: save it as CSV",
}
_BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Names = tuple[str | None, ...]
"""The columns in their order; None for one that the first line does not name, at an end."""


def names_in(path: Path, name: str, spec: CsvSpec) -> Names:
    """The columns of a CSV file, of which the first line alone is looked at.

    Raises:
        FileError: that line cannot be read, does not name every column once, looks like a row, or
            as if it had another delimiter; nothing that it says is quoted.
    """
    _check_kind(path)
    if spec.encoding != "utf-8" and _starts(path, 3) == codecs.BOM_UTF8:
        raise FileError(
            f"{path} begins with the byte order mark of UTF-8, and source.csv says encoding:"
            f" {spec.encoding}; leave encoding out"
        )
    if spec.encoding == "utf-16" and (found := _wide(path)) not in {"", "utf-16"}:
        raise FileError(f"{path} has no byte order mark; write csv: {{encoding: {found}}}")
    if spec.columns:
        return spec.columns
    first, fields = _first(path, name, spec)
    if "\ufffd" in first or "\0" in first:
        encoding = spec.encoding.upper()
        raise FileError(
            f"the first line of {path} is not CSV in {encoding}{_remedy(path, name, spec)}"
        )
    if spec.header is None:
        _check_delimiter(first, len(fields), path, name, spec)
        if any(map(_is_value, fields)):
            raise FileError(
                f"the first line of {path} looks like a row, and not like names; if the file has no"
                " header, name its columns beside file, as in csv: {header: false, columns: [age,"
                " sex]}; if it is one, write csv: {header: true}"
            )
    if not first and spec.skip:
        raise FileError(f"{path} has no line after the {spec.skip} that source.csv.skip leaves out")
    if first and not fields:
        raise _unread(path, spec)
    names = tuple(" ".join(field.split()) or None for field in fields)
    if not _is_apart(names):
        raise FileError(
            f"the first line of {path} must name every column once; name them yourself under"
            " source, as in csv: {header: true, columns: [age, sex]}, or with header: false if"
            " that line is a row"
        )
    return names


def options_in(path: Path, name: str) -> tuple[CsvSpec, Names]:
    """What the first line alone tells of how a file is to be read, and its columns.

    A line that does not look like names is taken for a row, and gives none.

    Raises FileError.
    """
    _check_kind(path)
    wide = _wide(path)
    spec = CsvSpec(encoding=wide) if wide else CsvSpec()
    first, _ = _first(path, name, spec)
    if "\ufffd" in first:
        spec = CsvSpec(encoding=wide or "windows-1252")
        first, _ = _first(path, name, spec)
    if _is_comment(first):
        spec = spec.model_copy(update={"comment": _COMMENT})
        first, _ = _first(path, name, spec)
    if separator := _SEPARATOR.fullmatch(first.strip()):
        spec = spec.model_copy(update={"skip": 1, "delimiter": separator[1]})
    elif (likely := _likely(first, default_delimiter(name))) != default_delimiter(name):
        spec = spec.model_copy(update={"delimiter": likely})
    first, fields = _first(path, name, spec)
    if not fields or _NO_TEXT.search(first):
        raise _unread(path, spec)
    names = tuple(" ".join(field.split()) or None for field in fields)
    if _is_apart(names) and not any(map(_is_value, fields)):
        return spec, names
    names = tuple(f"column_{number}" for number in range(1, len(fields) + 1))
    return spec.model_copy(update={"header": False, "columns": names}), names


def load(connection: duckdb.DuckDBPyConnection, path: Path, source: Source) -> None:
    """Make a CSV file a temporary relation of texts that is called as the source is.

    Of a file of the plain form it is a view of the engine's own reader, so that the columns that
    nobody asks for are not kept: see `numbered`. Of another it is a table.

    Raises:
        FileError: the file is not as its options say. Nothing of a row is told, nor which it was.
    """
    name, spec = str(source.path), source.csv or CsvSpec()
    names = names_in(path, name, spec)
    kept = [(index, column) for index, column in enumerate(names) if column is not None]
    named = [column for _, column in kept]
    declared = {own: kind for column, kind in source.columns for own in meant(column, named)}
    table = quoted("temp", "main", name)
    columns = ", ".join(f"{quoted(column)} VARCHAR" for _, column in kept)
    places = [_place(index, declared.get(column)) for index, column in kept]
    values = [
        converted(place, declared.get(column), spec)
        for place, (_, column) in zip(places, kept, strict=True)
    ]
    encoding = spec.encoding.upper()
    excel = " (Excel writes windows-1252)" if spec.encoding == "utf-8" else ""
    malformed = FileError(
        f"{path} is not a CSV file that can be read: it is not CSV in {encoding}{excel}, or a quote"
        " is left open or stands inside a field; and every row must have as many fields as the"
        f" first line, {len(names)}. If it is written in another way, say so in source.csv:"
        " delimiter, encoding, quote, comment, skip, skip_last. No line is named because its"
        " number depends on people's rows; a script in the documentation, under Troubleshooting,"
        " finds it"
    )
    # Wherever the command runs: the engine looks for a name in the folders that it is told, too.
    whole = path.absolute()
    form = plain_form(whole, spec, spec.delimiter or default_delimiter(name), len(names))
    if form is not None:
        # It reads an empty field as NULL, as does all that is left out here.
        listed = ", ".join(
            f"{place if value == converted(place, None, CsvSpec()) else value} AS {quoted(column)}"
            for (_, column), place, value in zip(kept, places, values, strict=True)
        )
        read = _by_engine(whole, form, len(names))
        # To count the others takes another reading of the file.
        if form.is_sure or _has_rows(connection, read, form.rows):
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {listed} FROM {read}")
            return
    with withheld(malformed, engine=_NOT_READ):
        connection.execute(f"CREATE TEMP TABLE {table} ({columns})")
        for batch in _batches(path, name, spec, len(names)):
            connection.register(_ROWS, batch)
            connection.execute(f"INSERT INTO {table} SELECT {', '.join(values)} FROM {_ROWS}")
            connection.unregister(_ROWS)


def _place(index: int, declared: ColumnType | None) -> str:
    """Where a field's text is; an empty one, which may be a word, is no NULL there."""
    return f"coalesce(c{index}, '')" if declared == "boolean" else f"c{index}"


def numbered(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Make the view of a file that `load` made a table, whose rows have numbers in their order.

    Raises duckdb.Error.
    """
    found = "SELECT count(*) FROM duckdb_views() WHERE temporary AND view_name = ?"
    if connection.execute(found, [name]).fetchall() == [(1,)]:
        view, table = quoted("temp", "main", name), quoted("temp", "main", _NUMBERED)
        connection.execute(f"CREATE TEMP TABLE {table} AS FROM {view}")
        connection.execute(f"DROP VIEW {view}")
        connection.execute(f"ALTER TABLE {table} RENAME TO {quoted(name)}")


def _has_rows(connection: duckdb.DuckDBPyConnection, read: str, rows: int) -> bool:
    """Whether the engine's own reader finds so many rows."""
    with suppress(duckdb.Error):
        return connection.execute(f"SELECT count(*) FROM {read}").fetchall() == [(rows,)]
    return False


def _by_engine(path: Path, form: PlainForm, width: int) -> str:
    """The engine's own reader of a file of the plain form.

    Nothing is left to it to find out: it is told every option, and makes texts alone. Lines that
    end in two signs it takes as they are; the form has no others then, and its rows are counted.
    """
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(width))
    own = {"delim": form.delimiter, "quote": form.quote, "escape": form.quote, "comment": "",
           "nullstr": "", "encoding": "utf-8", "compression": "none"}  # fmt: skip
    if form.line_end == "\n":  # told of two signs, DuckDB 2.0.0 finds no row behind what it skips
        own["new_line"] = "\\n"
    options = ", ".join(f"{option} = {literal(value)}" for option, value in own.items())
    return (
        f"read_csv({literal(str(path))}, columns = {{{columns}}}, auto_detect = false,"
        f" header = false, skip = {form.skip}, null_padding = false, ignore_errors = false,"
        " strict_mode = true, allow_quoted_nulls = true, union_by_name = false, filename = false,"
        f" hive_partitioning = false, {options})"
    )


def _batches(path: Path, name: str, spec: CsvSpec, width: int) -> Iterator[pa.Table]:
    """The rows as columns of texts. Raises what `_NOT_READ` lists, and ValueError."""
    places = [f"c{index}" for index in range(width)]
    with _opened(path, spec.encoding, "strict") as file:
        records = filter(None, _reader(file, name, spec))  # an empty line is no row
        if spec.header is not False:
            next(records, None)
        rows = _without_the_last(records, spec.skip_last) if spec.skip_last else records
        while batch := list(islice(rows, _BATCH)):
            if {*map(len, batch)} != {width}:
                batch = [_fitted(row, width) for row in batch]
            columns = [pa.array(list(column), pa.string()) for column in zip(*batch, strict=True)]
            yield pa.table(columns, names=places)


def _without_the_last(records: Iterable[list[str]], number: int) -> Iterator[list[str]]:
    held: deque[list[str]] = deque()
    for record in records:
        held.append(record)
        if len(held) > number:
            yield held.popleft()


def _fitted(row: list[str], width: int) -> list[str]:
    """A row without the empty fields behind its last: some programs end a line by a delimiter."""
    if len(row) < width or any(field.strip() for field in row[width:]):
        raise ValueError
    return row[:width]


def _reader(file: Iterable[str], name: str, spec: CsvSpec) -> Iterator[list[str]]:
    """The fields of each row; a line break in quotes is part of a field."""
    lines: Iterable[str] = islice(file, spec.skip, None)
    if spec.comment is not None:
        comment = spec.comment
        lines = (line for line in lines if not line.startswith(comment))
    if spec.escape is not None and any(word.startswith(spec.escape) for word in spec.nulls):
        lines = map(_kept_nulls(spec.escape, spec.nulls), lines)
    return csv.reader(
        lines,
        delimiter=spec.delimiter or default_delimiter(name),
        quotechar=spec.quote or None,
        quoting=csv.QUOTE_MINIMAL if spec.quote else csv.QUOTE_NONE,
        escapechar=spec.escape,
        skipinitialspace=spec.trim,
        strict=True,
    )


def _kept_nulls(escape: str, nulls: tuple[str, ...]) -> Callable[[str], str]:
    r"""A function that writes ``\N`` as ``\\N``, so that it is read as ``\N`` and not as ``N``."""
    pair = re.compile(re.escape(escape) + "(.)", re.DOTALL)
    return lambda line: pair.sub(
        lambda found: escape + found[0] if found[0] in nulls else found[0], line
    )


@contextmanager
def _opened(path: Path, encoding: str, errors: str) -> Iterator[io.TextIOWrapper]:
    """A file as text, whose lines end as they end."""
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    is_packed = path.suffix.lower() == ".gz"
    with (
        _raw(path) as raw,
        gzip.GzipFile(fileobj=raw) if is_packed else raw as plain,
        io.TextIOWrapper(cast(BinaryIO, plain), codec, errors, newline="") as file,
    ):
        yield file


@contextmanager
def _raw(path: Path) -> Iterator[BinaryIO]:
    try:
        with opened(path) as file:
            yield file
    except gzip.BadGzipFile:
        raise
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


def _first(path: Path, name: str, spec: CsvSpec) -> tuple[str, list[str]]:
    """The first line that is no comment, and its fields; none where they cannot be told apart.

    Names in quotes are not CSV under another delimiter, which is still to be found out. Bytes that
    are no text are replaced there: a file is decoded by blocks, and an error here would tell that
    one stands near its head.
    """
    with (
        withheld(_unread(path, spec), engine=_NOT_READ),
        _opened(path, spec.encoding, "replace") as file,
    ):
        lines = islice(iter(lambda: file.readline(_LONGEST_LINE), ""), spec.skip, None)
        left_out = () if spec.comment is None else spec.comment
        wanted = (ln for ln in lines if ln.strip("\r\n") and not ln.startswith(left_out))
        first = next(wanted, "")
        plain = spec.model_copy(update={"skip": 0})
        try:
            return first, next(filter(None, _reader(chain([first], lines), name, plain)), [])
        except csv.Error:
            return first, []


def _unread(path: Path, spec: CsvSpec) -> FileError:
    return FileError(f"the first line of {path} is not CSV in {spec.encoding.upper()}")


def _check_kind(path: Path) -> None:
    """Refuse a file that is no text, by its first bytes."""
    with _raw(path) as file:
        found = file.read(4)
    is_packed = path.suffix.lower() == ".gz"
    if found and is_packed is not found.startswith(b"\x1f\x8b"):
        said = "no gzip file: name it without .gz" if is_packed else "a gzip file: name it .csv.gz"
        raise FileError(f"{path} is {said}")
    for start, remedy in _KINDS.items():
        if found.startswith(start):
            raise FileError(f"{path} is no CSV file but {remedy}")


def _wide(path: Path) -> str:
    """The encoding of a file that has two bytes for a letter; empty for another."""
    found = _starts(path, 2)
    if found in _BYTE_ORDER_MARKS:
        return "utf-16"
    return {b"\0": "utf-16-be"}.get(found[:1], {b"\0": "utf-16-le"}.get(found[1:], ""))


def _is_comment(first: str) -> bool:
    """Whether a first line is a remark and no names: of those a file has mostly several."""
    return first.startswith(_COMMENT) and not any(map(first.__contains__, _DELIMITERS))


def _starts(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked."""
    unread = FileError(f"{path} cannot be read")
    with withheld(unread, engine=_NOT_READ), _opened(path, "latin-1", "strict") as file:
        return file.read(size).encode("latin-1")


def _remedy(path: Path, name: str, spec: CsvSpec, **known: str) -> str:
    """What to write into a policy: what the first line tells, and is not said there."""
    found, _ = options_in(path, name)
    said = {*spec.model_fields_set, "header", "columns"}
    unsaid = found.model_dump(include=found.model_fields_set - said)
    return f"; write csv: {shown(CsvSpec.model_construct(**unsaid | known))} beside file"


def shown(spec: CsvSpec) -> str:
    r"""The options that are said, as YAML has them in a line.

    >>> print(shown(CsvSpec(delimiter="\t", skip=1)))
    {delimiter: "\t", skip: 1}
    """
    said = spec.model_dump(exclude_unset=True)
    return f"{{{', '.join(f'{key}: {_shown(value)}' for key, value in said.items())}}}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    plain = str(value)
    return _QUOTED.get(plain, f'"{plain}"') if len(plain) == 1 and not plain.isalnum() else plain


def _likely(first: str, default: str) -> str:
    """The delimiter that the first line has most often; the default where none is more often."""
    return max((default, *_DELIMITERS), key=first.count)


def _check_delimiter(first: str, width: int, path: Path, name: str, spec: CsvSpec) -> None:
    delimiter = spec.delimiter or default_delimiter(name)
    if _SEPARATOR.fullmatch(first.strip()):
        names = "names its delimiter, and no column"
        raise FileError(f"the first line of {path} {names}{_remedy(path, name, spec)}")
    if spec.comment is None and _is_comment(first):
        remark = "looks like a remark, and not like names"
        raise FileError(f"the first line of {path} {remark}{_remedy(path, name, spec)}")
    likely = _likely(first, delimiter)
    if (spec.delimiter is None or width <= 1) and likely != delimiter:
        sign = "tabs" if likely == "\t" else f"'{likely}'"
        raise FileError(
            f"{path} looks delimited by {sign}{_remedy(path, name, spec, delimiter=likely)}"
        )


def _is_value(field: str) -> bool:
    return bool(_VALUE.fullmatch(field.strip())) or "\n" in field or "\r" in field


def _is_apart(names: Names) -> bool:
    """Whether columns can be told apart; the first or last may have no name, as rows' numbers."""
    inner = names[1:-1] if len(names) > 1 else names
    named = [name.casefold() for name in names if name is not None]
    return bool(named) and None not in inner and len({*named}) == len(named)
