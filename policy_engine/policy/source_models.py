"""``source`` and ``privacy_unit`` as they are written: a table, and who is one person in it."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from policy_engine.kernel.sources import SpanUnit
from policy_engine.policy import fields
from policy_engine.policy.csv_models import CSV_FILES, CsvSpec, is_csv
from policy_engine.policy.laws import At, Broken, Data, Document, inside, mapping, refusal, word_or
from policy_engine.policy.scalars import show

ONE_PLACE: JsonDict = {"oneOf": [{"required": ["file"]}, {"required": ["table"]}]}
PARQUET_FILES = (".parquet", ".pq")
SOURCE_FILES = (*PARQUET_FILES, *CSV_FILES)
"""What the name of a source's file may end in."""
A_SOURCE_FILE = ".parquet, .pq, .csv, .tsv, .txt or .csv.gz"
"""The same, as a message says it."""
SAVED_AS = "save a spreadsheet as CSV"
KEY_AS_IT_STANDS = "must be left out because it names the person and is compared as it stands"
CONVERT_A_KEY = "convert it in the source, or leave it out of source.columns"
ALL_KEPT = "every group is one person and none is released"
KEY_KEPT = f"is the column of privacy_unit, so that {ALL_KEPT}"
RECODE_THE_KEY = "leave it out, or recode it"
_AS_A_KEY = "as in {column: person_id, rows: any}"


def order_term(term: str) -> tuple[str, Literal["asc", "desc"]]:
    """The column and the direction of a term of ``first_by``.

    >>> order_term("visit_date DESC"), order_term("desc")
    (('visit_date', 'desc'), ('desc', 'asc'))
    """
    words = term.strip().rsplit(maxsplit=1)
    if len(words) == 2 and words[1].lower() in ("asc", "desc"):
        return words[0], "desc" if words[1].lower() == "desc" else "asc"
    return term.strip(), "asc"


def terms_in(order: object) -> Iterable[tuple[int, str]]:
    """The columns of ``first_by`` with their places; of no list none."""
    for index, term in enumerate(order if isinstance(order, list) else ()):
        if isinstance(term, str):
            yield index, order_term(term)[0]


class OrderSpec(Document):
    """The order that decides which row of a person counts: the first one."""

    first_by: Annotated[
        fields.Lines, fields.a_list("columns", "as in [visit_date desc]", minItems=1)
    ]
    """Columns of the source. Each may be followed by `asc` (the default) or `desc`."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        seen: set[str] = set()
        for index, column in terms_in(data.get("first_by")):
            if column and column in seen:
                wrong = f"orders by {show(data['first_by'][index])} a second time"
                yield refusal(wrong, at=("first_by", index))
            seen.add(column)


_ROWS = word_or(
    OrderSpec, "all", "any", "one", law="all, any, one or a mapping with first_by",
    remedy="as in {first_by: [visit_date desc]}"
)  # fmt: skip


_STAYS = fields.kind(
    "be true", lambda found: found is True, remedy="leave it out where that may change", const=True
)


def _columns(found: object) -> tuple[str, ...]:
    """The law of several columns that name a person together: two and more that differ."""
    given = found if isinstance(found, list | tuple) else ()
    columns = tuple(fields.line(column) for column in given)
    if len(set(columns)) != len(columns) or len(columns) < 2:
        law = "must be a list of two columns and more, each once"
        raise refusal(f"{law}, found {show(found)}", "as in [hospital, patient]; of one: column")
    return columns


def _one_column(found: object) -> object:
    """The law of the one column that names a person: several have a key of their own."""
    if isinstance(found, list | tuple):
        remedy = "columns that name a person together stand in columns: [hospital, patient]"
        raise refusal(f"must be text, found {show(found)}", remedy)
    return found


ColumnsField = Annotated[
    tuple[str, ...],
    BeforeValidator(_columns),
    WithJsonSchema(
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2,
         "uniqueItems": True}
    ),
]  # fmt: skip


class UnitSpec(Document):
    """The columns of the source that identify a person. Rows with the same values belong to one
    person.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["column"]}, {"required": ["columns"]}]}
    )

    column: Annotated[fields.OptionalLineField, BeforeValidator(_one_column)] = None
    """The key column: its value identifies the person. A person may have many rows."""
    columns: ColumnsField = ()
    """Several columns that together identify the person, such as `[hospital, patient]`."""
    rows: Annotated[Literal["all", "any", "one"] | OrderSpec, _ROWS] = "all"
    """The rows of a person that count. `all`: all rows, in at most `contribution.max_groups`
    groups. `any`: one row, chosen at random. `one`: one row, and you know that nobody has a second
    row. A mapping: the first row in an order.
    """
    stays: Annotated[bool, _STAYS] = False
    """For policies with `part`. `true`: you confirm that a person's value in the key column never
    changes, and never belongs to somebody else. Without `stays: true`, the prices of releases of
    different parts add up.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """A column, or several; an order that orders."""
        if "column" in data and "columns" in data:
            remedy = "keep one of them"
            yield refusal("must not stand beside column", remedy, at=("columns",), on_key=True)
        elif "column" not in data and "columns" not in data:
            yield refusal("must have column or columns, found neither", _AS_A_KEY)
        named = {column for _, column in terms_in(inside(data, "rows", "first_by"))}
        columns = keys_of(data)
        if named and named <= columns:
            of = show(" and ".join(key_columns(data)))
            wrong = f"orders a person's rows by {of}, in which all of them are"
            remedy = (
                "order by another column, as in [visit_date desc], or write rows: any, which draws"
                " one"
            )
            yield refusal(f"{wrong} the same", remedy, at=("rows", "first_by"))


UNIT = word_or(UnitSpec, "row", law="row or a mapping with column", remedy=_AS_A_KEY)


def key_columns(unit: object) -> tuple[str, ...]:
    """The columns that name a person, of a unit as it is written; none where it names none.

    >>> key_columns({"column": "id"}), key_columns({"columns": ["a", "b"]}), key_columns("row")
    (('id',), ('a', 'b'), ())
    """
    written = mapping(unit)
    several = written.get("columns")
    named = several if isinstance(several, list | tuple) else [written.get("column")]
    return tuple(column for column in named if isinstance(column, str))


def keys_of(unit: object) -> set[str]:
    """The same, as a set."""
    return {*key_columns(unit)}


def counts_all(unit: object) -> bool:
    """Whether all rows of a person count, who is named by a column."""
    return isinstance(unit, dict) and unit.get("rows", "all") == "all"


def one_place(data: Data) -> Broken:
    """The law of a source and of a release: file or table, exactly one."""
    if "file" in data and "table" in data:
        beside, at = [key for key in data if key in ("file", "table")]
        yield refusal(f"must not stand beside {beside}", "keep one of them", at=(at,), on_key=True)
    elif "file" not in data and "table" not in data:
        yield refusal("must have file or table, found neither", on_key=True)


def column_names(data: object, at: At) -> Broken:
    """The law of a mapping by column: every name on one line."""
    for column in mapping(data):
        try:
            fields.line(column)
        except PydanticCustomError as error:
            wrong = f"is no column name: a name {error.message()}"
            yield refusal(wrong, at=(*at, column), on_key=True)


def released_names(data: object, at: At) -> Broken:
    """The same, and no two alike but for case: whoever reads a release may not tell them apart."""
    yield from column_names(data, at)
    seen: dict[str, str] = {}
    for column in mapping(data):
        first = seen.setdefault(column.casefold(), column)
        if first != column:
            wrong = f"must differ from the column {show(first)} by more than case"
            yield refusal(wrong, at=(*at, column), on_key=True)


def _one_file(path: object) -> Broken:
    """The law of a source's file: one file of this machine, of a kind that can be read."""
    if not isinstance(path, str) or not fields.is_line(path):
        return  # the field's own law says so
    found = f"found {show(path)}"
    if "://" in path:
        wrong = f"must be a file of this machine, {found}"
        yield refusal(wrong, "remote files are not read: copy it here", at=("file",))
    elif any(sign in path for sign in "*?["):
        wrong = f"must name one file or folder, without *, ? and [, {found}"
        remedy = "name the folder, of which all files are read, or rename the file"
        yield refusal(wrong, remedy, at=("file",))
    elif PurePath(path).suffix and not PurePath(path).name.lower().endswith(SOURCE_FILES):
        yield refusal(f"must end in {A_SOURCE_FILE}, {found}", SAVED_AS, at=("file",))


_PUBLIC = fields.kind(
    "be true", lambda found: found is True, remedy="leave it out of a person's own", const=True
)


def _pairs(found: object) -> dict[str, str]:
    """The law of what a relation is joined by: a column of both, or columns by the source's."""
    try:
        if isinstance(found, str):
            return {fields.line(found): found}
        if isinstance(found, dict) and found:
            return {fields.line(own): fields.line(other) for own, other in found.items()}
    except PydanticCustomError:
        pass
    law = "must be a column that both have, or a mapping of a column of the source to another"
    raise refusal(f"{law}, found {show(found)}", "as in person_id, or {ward_id: id}")


_PairsField = Annotated[
    dict[str, str],
    BeforeValidator(_pairs),
    WithJsonSchema(
        {"anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
        ]}
    ),
]  # fmt: skip


class JoinSpec(Document):
    """A table whose columns are added to the source. It has one row for each key."""

    model_config = ConfigDict(json_schema_extra=ONE_PLACE)

    file: fields.OptionalPathField = None
    """A Parquet or CSV file, a folder of Parquet files, or the folder of a Delta table. The path is
    relative to the policy file."""
    table: fields.OptionalLineField = None
    """A table or view of the same warehouse."""
    view: Annotated[Literal["rowwise"] | None, fields.word("rowwise")] = None
    """`rowwise`: you confirm that each row of the view comes from the rows of one person."""
    on: _PairsField
    """The column that both tables have, or `{column of the source: column of this table}`. If the
    table is about persons, name all columns of `privacy_unit`.
    """
    columns: Annotated[
        fields.Lines, fields.a_list("columns", "as in [birth_date, sex]", minItems=1)
    ]
    """The columns that are added to each row of the source. They are NULL if no row has the key."""
    public: Annotated[bool, _PUBLIC] = False
    """`true`: you confirm that the table does not depend on who is in the data, such as a list of
    wards.
    """
    first_by: Annotated[
        fields.Lines, fields.a_list("columns", "as in [changed desc]", minItems=1)
    ] = ()
    """The order that decides if several rows have the same key: the first row counts. The default
    is the order of `columns`, the least values first.
    """
    csv: CsvSpec | None = None
    """How a CSV file is read."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One place, one file."""
        yield from place_laws(data)
        seen: set[str] = set()
        columns = data.get("columns")
        for index, column in enumerate(columns if isinstance(columns, list | tuple) else ()):
            if isinstance(column, str) and column in seen:
                yield refusal(f"names {show(column)} a second time", at=("columns", index))
            seen.add(str(column))


def place_laws(data: Data) -> Broken:
    """The laws of a source, and of what is joined to it: one place, and what is said of that."""
    path = data.get("file")
    yield from one_place(data)
    yield from _one_file(path)
    if "view" in data and "table" not in data:
        yield refusal("is for a view", "remove it, or name a view in table", at=("view",))
    if "csv" in data and not (isinstance(path, str) and is_csv(path)):
        remedy = "remove it, or name a .csv, .tsv or .txt file"
        yield refusal("is for a CSV file", remedy, at=("csv",), on_key=True)


def join_laws(data: Data) -> Broken:
    """What is joined is a person's, by who is protected, or the same whoever is in the data."""
    unit, source = data.get("privacy_unit"), mapping(data.get("source"))
    seen: dict[str, str] = {}
    for name, joined in mapping(source.get("join")).items():
        written, at = mapping(joined), ("source", "join", str(name))
        columns = written.get("columns")
        for column in columns if isinstance(columns, list | tuple) else ():
            first = seen.setdefault(str(column).casefold(), str(name))
            if first != name:
                wrong = f"looks up {show(column)}, as {first} does: no name says which is meant"
                remedy = "look it up in one of them, or in a view that calls it otherwise"
                yield refusal(wrong, remedy, at=(*at, "columns"))
        if ("file" in written and "table" in source) or ("table" in written and "file" in source):
            wrong = "must be a table where the source is one, and a file where it is a file"
            yield refusal(wrong, "bring both into one warehouse, or write files", at=at)
        yield from _of_one_or_public(written, unit, at)


def _of_one_or_public(written: Data, unit: object, at: At) -> Broken:
    """The law that the rows of what is joined are a person's, or nobody's."""
    keys, on, is_public = keys_of(unit), written.get("on"), written.get("public") is True
    if not isinstance(on, str | dict):
        return  # the field's own law says so
    is_of_unit = bool(keys) and keys <= ({on} if isinstance(on, str) else {*on})
    of_whom = " and ".join(key_columns(unit))
    if is_public and is_of_unit:
        wrong = f"is joined by {of_whom}, which is one person, and so says who is in the data"
        yield refusal(wrong, "remove public", at=(*at, "public"), on_key=True)
    if is_public or is_of_unit:
        return
    public = "write public: true where it is the same, whichever people are in the data"
    if keys:
        wrong = f"is neither public nor joined by who is protected, {of_whom}"
        as_in = f": on: {{{of_whom}: {on}}}" if isinstance(on, str) and len(keys) == 1 else ""
        remedy = f"join it by {of_whom} where its rows are of one person each{as_in}; or {public}"
    else:
        wrong = "is not public, and where each row is one person no table is a person's own"
        remedy = f"{public}, or name privacy_unit.column and join it by that"
    yield refusal(f"{wrong}: its rows could be of anybody", remedy, at=at)


_UNTIL: dict[str, SpanUnit] = {"age_at": "year", "months_until": "month", "days_until": "day"}


class SpanSpec(Document):
    """An integer that is computed from two dates of a row. It is NULL if a date is missing, or if
    the later date is before the earlier one.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [each]} for each in _UNTIL]}
    )
    needs = ("of", "name the earlier date, as in {of: birth_date, age_at: visit_date}")

    of: fields.LineField
    """The column of the earlier date. If it has times, only the day counts. For a time with a
    zone, the day is the day in UTC.
    """
    age_at: fields.OptionalLineField = None
    """The column of the later date. The result is in whole years. If somebody is born on 29
    February, the birthday in other years is 1 March.
    """
    months_until: fields.OptionalLineField = None
    """The column of the later date. The result is in whole months. A month is complete when the
    day of the month is reached again.
    """
    days_until: fields.OptionalLineField = None
    """The column of the later date. The result is in days. It is 0 for the same day."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One later date."""
        named = [each for each in _UNTIL if each in data]
        if len(named) != 1:
            found = " and ".join(named) or "none"
            yield refusal(f"must have one of {', '.join(_UNTIL)}, found {found}", "keep one")

    @property
    def until(self) -> tuple[str, SpanUnit]:
        """The later date, and in which units it is told how much later."""
        named = ((getattr(self, name), unit) for name, unit in _UNTIL.items())
        return next((column, unit) for column, unit in named if column)


MEANT = {"warehouse": "a table is named with its warehouse: source: {table: WAREHOUSE.TABLE}"}
"""What people write for the warehouse of a source, and what is to be written."""


class SourceSpec(Document):
    """The table or file that is read."""

    model_config = ConfigDict(json_schema_extra=ONE_PLACE)
    meant = MEANT

    file: fields.OptionalPathField = None
    """A Parquet or CSV file, a folder of Parquet files, or the folder of a Delta table. The path is
    relative to the policy file."""
    table: fields.OptionalLineField = None
    """A table or view of the warehouse. A view needs `view: rowwise`."""
    view: Annotated[Literal["rowwise"] | None, fields.word("rowwise")] = None
    """`rowwise`: you confirm that each row of the view comes from the rows of one person."""
    sampled_at: fields.SampledAtField = Decimal(1)
    """Only if the source is itself a secret sample of a population: the known probability with
    which each person was drawn, independently of the others.
    """
    columns: Annotated[
        dict[str, fields.ColumnTypeField], fields.a_mapping("column: type", minProperties=1)
    ] = fields.EMPTY
    """The type that a column is read as. A value that does not fit the type becomes NULL."""
    csv: CsvSpec | None = None
    """How a CSV file is read: delimiter, encoding, numbers, dates and words."""
    join: Annotated[
        dict[str, JoinSpec], fields.a_mapping("name: {table, on, columns}", minProperties=1)
    ] = fields.EMPTY
    """Columns of other tables that are added to each row. The name is your name for the table."""
    compute: Annotated[
        dict[str, SpanSpec],
        fields.a_mapping("column: {of: birth_date, age_at: visit_date}", minProperties=1),
    ] = fields.EMPTY
    """Columns that are computed for each row: an age, months or days between two dates."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One place, one file; column names that can be told apart."""
        yield from place_laws(data)
        yield from column_names(data.get("columns"), ("columns",))
        yield from released_names(data.get("compute"), ("compute",))
