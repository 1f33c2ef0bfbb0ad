"""``source`` as it is written: a table, who is one person in it, which row speaks for them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from policy_engine.policy import fields
from policy_engine.policy.csv_models import CSV_FILES, CsvSpec, is_csv
from policy_engine.policy.laws import At, Broken, Data, Document, inside, mapping, refusal, word_or
from policy_engine.policy.scalars import show

ONE_PLACE: JsonDict = {"oneOf": [{"required": ["path"]}, {"required": ["relation"]}]}
PARQUET_FILES = (".parquet", ".pq")
SOURCE_FILES = (*PARQUET_FILES, *CSV_FILES)
"""What the name of a source's file may end in."""
A_SOURCE_FILE = ".parquet, .pq, .csv, .tsv, .txt or .csv.gz"
"""The same, as a message says it."""
SAVED_AS = "save a spreadsheet as CSV"
KEY_AS_IT_STANDS = "must be left out, for it is the unit's key, which is compared as it stands"
CONVERT_A_KEY = "convert it in the source, or leave it out of source.columns"
ALL_KEPT = "every group is one person and none is released"
KEY_KEPT = f"is the column of privacy_unit, so that {ALL_KEPT}"
RECODE_THE_KEY = "leave it out, or recode it"
_AS_A_KEY = "as in {column: person_id, rows: any}"


def order_term(term: str) -> tuple[str, Literal["asc", "desc"]]:
    """The column and the direction of a term of ``order_by``.

    >>> order_term("visit_date DESC"), order_term("desc")
    (('visit_date', 'desc'), ('desc', 'asc'))
    """
    words = term.strip().rsplit(maxsplit=1)
    if len(words) == 2 and words[1].lower() in ("asc", "desc"):
        return words[0], "desc" if words[1].lower() == "desc" else "asc"
    return term.strip(), "asc"


def terms_in(order: object) -> Iterable[tuple[int, str]]:
    """The columns of ``order_by`` with their places; of no list none."""
    for index, term in enumerate(order if isinstance(order, list) else ()):
        if isinstance(term, str):
            yield index, order_term(term)[0]


class OrderSpec(Document):
    """Which of a person's rows is kept: the first in this order."""

    order_by: Annotated[
        fields.Lines, fields.a_list("columns", "as in [visit_date desc]", minItems=1)
    ]
    """Columns of the source, each with an optional `asc` (default) or `desc`."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        seen: set[str] = set()
        for index, column in terms_in(data.get("order_by")):
            if column and column in seen:
                wrong = f"orders by {show(data['order_by'][index])} a second time"
                yield refusal(wrong, at=("order_by", index))
            seen.add(column)


_KEEP = word_or(
    OrderSpec, "any", "all", law="any, all or a mapping with order_by",
    remedy="as in {order_by: [visit_date desc]}"
)  # fmt: skip


_STAYS = fields.kind(
    "be true", lambda found: found is True, remedy="leave it out where keys may change", const=True
)


def _key(found: object) -> object:
    """The law of a key: a column, or a list of two and more that differ."""
    if not isinstance(found, list | tuple):
        return fields.line(found)
    columns = tuple(fields.line(column) for column in found)
    if len(set(columns)) != len(columns) or len(columns) < 2:
        law = "must name a column, or a list of two and more, each once"
        raise refusal(law, "as in [hospital, patient]")
    return columns


KeyField = Annotated[
    str | tuple[str, ...] | None,
    BeforeValidator(_key),
    WithJsonSchema({"anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2,
         "uniqueItems": True},
    ]}),
]  # fmt: skip


class UnitSpec(Document):
    """The privacy unit of a source, by a column: a person's key, or a key of rows."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["key", "keep"]}, {"required": ["row_key"]}]}
    )

    key: KeyField = None
    """The column that names the person, who may have many rows: one is kept. A list where several
    columns name a person together, as in `[hospital, patient]`."""
    row_key: KeyField = None
    """The column, or the columns, that name the row, where one row is one person: it is unique."""
    keep: Annotated[Literal["any", "all"] | OrderSpec | None, _KEEP] = None
    """Which of the person's rows is kept: the first in an order, or `any`, drawn by a keyed
    hash. `all` counts a person in the groups of all rows, at most `contribution.max_groups`."""
    key_stays: Annotated[bool, _STAYS] = False
    """`true`: you confirm that a person has one key whenever the source is looked at, and nobody
    else ever has it. Without that, releases of different parts (`part`) add up."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One of the two keys; of rows that are people none is chosen; an order that orders."""
        if "key" in data and "row_key" in data:
            remedy = "keep key where a person may have many rows, else row_key"
            yield refusal("must not stand beside key", remedy, at=("row_key",), on_key=True)
        elif "key" not in data and "row_key" not in data:
            yield refusal("must have key or row_key, found neither", _AS_A_KEY)
        elif "row_key" in data and "keep" in data:
            remedy = "name the person's column with key"
            yield refusal("chooses among a person's rows", remedy, at=("keep",), on_key=True)
        elif "key" in data and "keep" not in data:
            remedy = (
                "write keep: any, which draws one, or keep: {order_by: [column desc]}; or row_key"
                " instead of key, where no two rows have the same; or keep: all with"
                " contribution, to count a person in several groups"
            )
            yield refusal("must say which of a person's rows is kept", remedy)
        key = data.get("key")
        named = {column for _, column in terms_in(inside(data, "keep", "order_by"))}
        if named and named <= set(columns_of(key)):
            of = show(" and ".join(columns_of(key)))
            wrong = f"orders a person's rows by {of}, their key, in which all of them are"
            remedy = (
                "order by another column, as in [visit_date desc], or write keep: any, which draws"
                " one"
            )
            yield refusal(f"{wrong} the same", remedy, at=("keep", "order_by"))


UNIT = word_or(UnitSpec, "row", law="row or a mapping with key", remedy=_AS_A_KEY)


def keys_of(source: Data) -> set[str]:
    """The columns that name a person or a row."""
    unit = mapping(source.get("unit"))
    return {column for name in ("key", "row_key") for column in columns_of(unit.get(name))}


def columns_of(key: object) -> tuple[str, ...]:
    """The columns that a key names; none where it is none.

    >>> columns_of("id"), columns_of(["hospital", "patient"]), columns_of(None)
    (('id',), ('hospital', 'patient'), ())
    """
    named = key if isinstance(key, list | tuple) else [key]
    return tuple(column for column in named if isinstance(column, str))


def one_place(data: Data) -> Broken:
    """The law of a source and of a release: path or relation, exactly one."""
    if "path" in data and "relation" in data:
        beside, at = [key for key in data if key in ("path", "relation")]
        yield refusal(f"must not stand beside {beside}", "keep one of them", at=(at,), on_key=True)
    elif "path" not in data and "relation" not in data:
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
    """The law of a source's path: one file of this machine, of a kind that can be read."""
    if not isinstance(path, str) or not fields.is_line(path):
        return  # the field's own law says so
    found = f"found {show(path)}"
    if "://" in path:
        wrong = f"must be a file of this machine, {found}"
        yield refusal(wrong, "remote files are not read: copy it here", at=("path",))
    elif any(sign in path for sign in "*?["):
        wrong = f"must name one file, without *, ? and [, {found}"
        yield refusal(wrong, "they would be read as a pattern: rename the file", at=("path",))
    elif PurePath(path).suffix and not PurePath(path).name.lower().endswith(SOURCE_FILES):
        yield refusal(f"must end in {A_SOURCE_FILE}, {found}", SAVED_AS, at=("path",))


class SourceSpec(Document):
    """The table that is released from."""

    model_config = ConfigDict(json_schema_extra=ONE_PLACE)
    needs = ("unit", "write unit: row where one row is one person")

    path: fields.OptionalPathField = None
    """A Parquet or CSV file, relative to the policy file."""
    relation: fields.OptionalLineField = None
    """A table or view of the warehouse. A view is followed to its table, whose account pays."""
    view: Annotated[Literal["rowwise"] | None, fields.word("rowwise")] = None
    """`rowwise`: you confirm that each row of the view comes from the rows of one unit."""
    unit: Annotated[Literal["row"] | UnitSpec, UNIT]
    """`row` (one row is one person), or the key of a person and the row that is kept."""
    sampled_at: fields.SampledAtField = Decimal(1)
    """The known Bernoulli rate at which the source was drawn from its population."""
    columns: Annotated[
        dict[str, fields.ColumnTypeField], fields.a_mapping("column: type", minProperties=1)
    ] = fields.EMPTY
    """The type a column is read as; what does not fit becomes NULL."""
    csv: CsvSpec | None = None
    """How a CSV file is read: its delimiter, encoding, numbers, dates and words."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One place, one file; column names that can be told apart; a key as it stands."""
        path = data.get("path")
        yield from one_place(data)
        yield from _one_file(path)
        yield from column_names(data.get("columns"), ("columns",))
        for column, kind in mapping(data.get("columns")).items():
            # Of another type 7 and 007 would be one person, or stay two.
            if str(column) in keys_of(data) and kind != "text":
                wrong = f"{KEY_AS_IT_STANDS}, found {show(kind)}"
                yield refusal(wrong, CONVERT_A_KEY, at=("columns", column))
        if "view" in data and "relation" not in data:
            yield refusal("is for a view", "remove it, or name a view in relation", at=("view",))
        if "csv" in data and not (isinstance(path, str) and is_csv(path)):
            remedy = "remove it, or name a .csv, .tsv or .txt file in path"
            yield refusal("is for a CSV file", remedy, at=("csv",), on_key=True)
