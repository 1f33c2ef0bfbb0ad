"""The policy file as it is written: frozen models, one a mapping, every key closed.

They say what the file may hold; `resolve` says what it means. The JSON Schema is made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from os.path import normpath
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from policy_engine.kernel.mechanisms.noisy_counts import GROUPING
from policy_engine.policy import fields, laws
from policy_engine.policy.auto_models import AutoSpec, chooses
from policy_engine.policy.csv_models import CSV_FILES, CsvSpec, is_csv
from policy_engine.policy.documents import Document, word_or
from policy_engine.policy.key_models import KeysField
from policy_engine.policy.laws import At, barred, mapping, refusal
from policy_engine.policy.model_specs import ModelsSpec, enforceable
from policy_engine.policy.noise_models import (
    AggregateSpec,
    ContributionSpec,
    NoiseSpec,
    PartSpec,
    RollupSpec,
    one_mechanism,
)
from policy_engine.policy.recode_models import FilterSpec, Recode
from policy_engine.policy.scalars import show
from policy_engine.policy.syntactic import SYNTACTIC, syntactic_laws
from policy_engine.policy.unit_models import UNIT, UnitSpec, _keys_of, _typed_key

_UNCOMMENT = "name at least one column, or uncomment one"
_ONE_PLACE: JsonDict = {"oneOf": [{"required": ["path"]}, {"required": ["relation"]}]}
PARQUET_FILES = (".parquet", ".pq")

SOURCE_FILES = (*PARQUET_FILES, *CSV_FILES)
"""What the name of a source's file may end in."""
A_SOURCE_FILE = ".parquet, .pq, .csv, .tsv, .txt or .csv.gz"
SAVED_AS = "save a spreadsheet as CSV"
"""The same, as a message says it."""
_PATTERN = "*?["


def one_place(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law of a source and of a release: path or relation, exactly one."""
    if "path" in data and "relation" in data:
        at = max(("path", "relation"), key=list(data).index)
        beside = "path" if at == "relation" else "relation"
        yield refusal(f"must not stand beside {beside}", "keep one of them", at=(at,), on_key=True)
    elif "path" not in data and "relation" not in data:
        yield refusal("must have path or relation, found neither", on_key=True)


def one_file(path: object) -> Iterable[PydanticCustomError]:
    """The law of a source's path: one file of this machine, of a kind that can be read."""
    try:
        name = laws.line(path)
    except PydanticCustomError:
        return  # the field's own law says so
    found = f"found {show(path)}"
    if "://" in name:
        wrong = f"must be a file of this machine, {found}"
        yield refusal(wrong, "remote files are not read: copy it here", at=("path",))
    elif any(sign in name for sign in _PATTERN):
        wrong = f"must name one file, without *, ? and [, {found}"
        yield refusal(wrong, "they would be read as a pattern: rename the file", at=("path",))
    elif PurePath(name).suffix and not PurePath(name).name.lower().endswith(SOURCE_FILES):
        yield refusal(f"must end in {A_SOURCE_FILE}, {found}", SAVED_AS, at=("path",))


def column_names(data: object, at: At) -> Iterable[PydanticCustomError]:
    """The law of a mapping by column: every name on one line, no two alike but for case."""
    seen: dict[str, str] = {}
    for column in mapping(data):
        try:
            laws.line(column)
        except PydanticCustomError as error:
            wrong = f"is no column name: a name {error.message()}"
            yield refusal(wrong, at=(*at, column), on_key=True)
        first = seen.setdefault(column.casefold(), column)
        if first != column:
            yield refusal(
                f"must differ from the column {show(first)} by more than case",
                at=(*at, column),
                on_key=True,
            )


class SourceSpec(Document):
    """The table that is released from."""

    model_config = ConfigDict(json_schema_extra=_ONE_PLACE)

    path: fields.OptionalPathField = None
    """A Parquet or CSV file, relative to the policy file."""
    relation: fields.OptionalLineField = None
    """A table or view of the warehouse. A view is followed to its table, whose account pays."""
    view: fields.OptionalViewField = None
    """`rowwise`: you confirm that each row of the view comes from the rows of one unit."""
    unit: Annotated[Literal["row"] | UnitSpec, UNIT]
    """`row` (one row is one person), or the key of a person and the row that is kept."""
    sampled_at: fields.SampledAtField = Decimal(1)
    """The known Bernoulli rate at which the source was drawn from its population."""
    columns: Annotated[
        dict[str, fields.ColumnTypeField], BeforeValidator(laws.a_mapping("column: type"))
    ] = Field(default_factory=dict, json_schema_extra={"minProperties": 1})
    """The type a column is read as; what does not fit becomes NULL."""
    csv: CsvSpec | None = None
    """How a CSV file is read: its delimiter, encoding, numbers, dates and words."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """One place, one file; column names that can be told apart."""
        yield from one_place(data)
        yield from one_file(data.get("path"))
        yield from column_names(data.get("columns"), ("columns",))
        yield from _typed_key(mapping(data.get("unit")), mapping(data.get("columns")))
        path = data.get("path")
        if "view" in data and "relation" not in data:
            yield refusal("is for a view", "remove it, or name a view in relation", at=("view",))
        if "csv" in data and not (isinstance(path, str) and is_csv(path)):
            remedy = "remove it, or name a .csv, .tsv or .txt file in path"
            yield refusal("is for a CSV file", remedy, at=("csv",), on_key=True)

    @classmethod
    def needs(cls, key: str) -> str:
        """What to write for `unit`."""
        return "write unit: row where one row is one person" if key == "unit" else ""


class SampleSpec(Document):
    """How the privacy units are sampled."""

    rate: fields.RateField
    """The probability that a unit is kept, or `auto`."""
    method: fields.MethodField = "keyed"
    """By a secretly keyed hash, or by the warehouse's own sampling."""


class GuaranteeSpec(Document):
    """What the engine certifies, or refuses to."""

    epsilon: fields.EpsilonField
    """ε: between neighbours P[S] ≤ e^ε · P'[S] + δ for every set S of releases."""
    delta: fields.DeltaField
    """δ: the slack in it; no chance that something happens."""
    neighbours: fields.NeighboursField = "add_remove"
    """Tables that differ by one person more or less, or by one person replaced."""


_GUARANTEE = word_or(
    GuaranteeSpec, SYNTACTIC, law="a mapping with epsilon and delta, or syntactic",
    remedy="as in {epsilon: 1.0, delta: 1.0e-6}",
)  # fmt: skip


class AboutSpec(Document):
    """What a reader of the release asks; it stands in the certificate, and changes no number."""

    contact: fields.TextField = ""
    """Whom to ask, and who is told of a mistake."""
    recipients: fields.TextField = ""
    """Who is to read the release."""
    access: fields.TextField = ""
    """Who can get at the source and the machine, and how that is kept."""
    justification: fields.TextField = ""
    """Why this unit, ε and δ."""
    region: fields.TextField = ""
    """Where the people are of whom the source is."""
    sector: fields.TextField = ""
    """What it belongs to, such as health or official statistics."""


class ReleaseSpec(Document):
    """Where the release goes, and its form."""

    model_config = ConfigDict(json_schema_extra=_ONE_PLACE)

    path: fields.OptionalPathField = None
    """A file, relative to the policy file."""
    relation: fields.OptionalLineField = None
    """A table of the warehouse."""
    form: fields.FormField = Field(default="counts", alias="as")
    """One row a group with its count, or the group repeated that often."""
    count_as: fields.LineField = "n"
    """The name of the count's column."""
    version: fields.PositiveField = 1
    """In a dbt project: the version of the model that the release is."""
    deprecated: fields.OptionalDayField = None
    """In a dbt project: when this version of the model goes."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """One place; a file is a Parquet file; a count's column where there is a count."""
        yield from one_place(data)
        path = data.get("path")
        written = isinstance(path, str) and path.strip()
        if written and PurePath(str(path)).suffix.lower() != ".parquet":
            yield refusal(f"must end in .parquet, found {show(path)}", at=("path",))
        if data.get("as") == "rows":
            wrong = "must not stand beside as: rows, which has no count"
            yield from barred(data, ["count_as"], wrong)
        if "path" in data:
            wrong = "is of a dbt model, and must not stand beside path"
            yield from barred(data, ("version", "deprecated"), wrong)


MarginalField = Annotated[
    tuple[fields.LineField, ...], BeforeValidator(laws.a_list("columns", "as in [age, sex]"))
]


class PolicyDocument(Document):
    """A policy: what of a source is released, how it is recoded, and what is guaranteed."""

    model_config = ConfigDict(title="policy-engine policy, version 1")

    version: fields.VersionField
    """The version of the language."""
    name: fields.NameField
    """The policy's name, in certificates and in the ledger."""
    description: fields.TextField = ""
    """What is released, and for whom."""
    purpose: fields.TextField = ""
    """What the release is for, and what not; it stands in the certificate."""
    about: AboutSpec | None = None
    """Contact, recipients, access, justification, region, sector, for the certificate."""
    source: SourceSpec
    """The table that is released from, and who is one person in it."""
    recode: Annotated[
        dict[str, Recode], BeforeValidator(laws.a_mapping("column: recoding", _UNCOMMENT))
    ] = Field(json_schema_extra={"minProperties": 1})
    """Every released column and its recoding; a column not named is not released."""
    filter: Annotated[
        dict[str, FilterSpec], BeforeValidator(laws.a_mapping("column: condition", _UNCOMMENT))
    ] = Field(default_factory=dict, json_schema_extra={"minProperties": 1})
    """Who is released at all: what each column must hold in the one row that a person has."""
    public: Annotated[
        dict[str, fields.LineField], BeforeValidator(laws.a_mapping("relation: key"))
    ] = Field(default_factory=dict, json_schema_extra={"minProperties": 1})
    """Lookups that do not depend on the source, each with its key: SQL that joins them is proved
    by `check --policy`; `recode` may then name their columns."""
    mechanism: fields.MechanismField = None
    """`sampled_suppression`, the default where there is a `sample`, or else `noisy_counts`. Or, of
    columns with a public list of values, `randomised_response` or `ab_insertion`."""
    sample: SampleSpec | None = None
    """How the people of the release are drawn: for sampled_suppression, which needs it."""
    noise: NoiseSpec | None = None
    """The noise that counts get: for noisy_counts."""
    contribution: ContributionSpec | None = None
    """In how many groups a person counts who has many rows: for noisy_counts."""
    aggregate: Annotated[
        dict[str, AggregateSpec],
        BeforeValidator(laws.a_mapping("name: {sum or mean}", _UNCOMMENT)),
    ] = Field(default_factory=dict, json_schema_extra={"minProperties": 1})
    """Sums and means beside each count, by the names of their columns: for noisy_counts."""
    rollup: RollupSpec | None = None
    """Everybody counted once more by fewer columns: for noisy_counts."""
    marginals: Annotated[
        tuple[MarginalField, ...],
        BeforeValidator(laws.a_list("lists of columns", "as in [[age, sex], [sex, pay]]")),
    ] = Field(default=(), json_schema_extra={"minItems": 1})
    """Several groupings, by some of the columns each, for one price: for noisy_counts."""
    keys: KeysField = ()
    """Public keys: the groups that are shown, each whoever is in it, and no other: for
    noisy_counts. Values for each column, whose product is taken, or rows."""
    part: PartSpec | None = None
    """One random part of the people, instead of everybody: for noisy_counts."""
    k: fields.OptionalKField = None
    """The least size of a group that is released: in the sample, where there is one, and `auto`
    chooses it there; else in the source, for certain."""
    auto: AutoSpec | None = None
    """How both are chosen where `k` and `sample.rate` are `auto`; default: the least k/rate."""
    models: ModelsSpec | None = None
    """Syntactic models that hold of what is released: classes that break one are left out."""
    guarantee: Annotated[Literal["syntactic"] | GuaranteeSpec, _GUARANTEE]
    """The (ε, δ) that is certified, and between which neighbours; or `syntactic`: none at all."""
    release: ReleaseSpec
    """The file or the table that is written, and its form."""
    budget: fields.OptionalLineField = None
    """The ledger account that pays; default: the source. The project file sets its limit."""
    grouping: fields.GroupingField = "auto"
    """A choice of speed: group by raw columns first, or recode every row."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """Column names that can be told apart, the count's among them; a place of its own."""
        yield from column_names(data.get("recode"), ("recode",))
        yield from column_names(data.get("filter"), ("filter",))
        yield from _filtered_constants(mapping(data.get("filter")), mapping(data.get("recode")))
        yield from chooses(data)
        is_syntactic = data.get("guarantee") == SYNTACTIC
        yield from syntactic_laws(data) if is_syntactic else one_mechanism(data)
        yield from enforceable(data)
        source, release, recode = (
            mapping(data.get(key)) for key in ("source", "release", "recode")
        )
        yield from _kept_key(mapping(source.get("unit")), recode)
        if release.get("as", "counts") == "counts":
            yield from _count_column(recode, release.get("count_as", "n"))
            yield from _beside(data, recode, release.get("count_as", "n"))
        for place in ("path", "relation"):
            if place in release and _same_place(release[place], source.get(place)):
                yield refusal(
                    "must not be the source itself",
                    "release to a place of its own",
                    at=("release", place),
                )


def _filtered_constants(
    conditions: Mapping[str, Any], recode: Mapping[str, Any]
) -> Iterable[PydanticCustomError]:
    """The law that a released name is no other column's: an engine could read the one for it."""
    filtered = {str(column).casefold() for column in conditions}
    for column, recoding in recode.items():
        is_constant = isinstance(recoding, dict) and "constant" in recoding
        if is_constant and str(column).casefold() in filtered:
            wrong = "is a constant, and the name of a column of filter"
            yield refusal(wrong, "give the constant another name", at=("recode", column))


def _kept_key(unit: Mapping[str, Any], recode: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law that nobody is a group of their own: such a release is empty whatever the data."""
    for column, recoding in recode.items():
        if recoding == "keep" and str(column).casefold() in _keys_of(unit):
            yield refusal(
                "is the key of source.unit, so that every group is one person and none is released",
                "leave it out, or recode it",
                at=("recode", column),
            )


def _count_column(recode: Iterable[str], count: object) -> Iterable[PydanticCustomError]:
    """The law that no released column has the name of the count's."""
    for column in recode:
        if isinstance(count, str) and column.casefold() == count.casefold():
            yield refusal(
                f"is the count's column too, {show(count)}",
                "give the count another name with release.count_as",
                at=("recode", column),
                on_key=True,
            )


def _beside(
    data: Mapping[str, Any], recode: Mapping[str, Any], count: object
) -> Iterable[PydanticCustomError]:
    """The law that what is shown beside a group has names of its own."""
    several = bool(data.get("marginals") or data.get("rollup"))
    for column in recode:
        if several and column.casefold() == GROUPING:
            wrong = f"is the column that says by what is counted, {GROUPING}"
            yield refusal(wrong, "recode a column of another name", at=("recode", column))
    taken = {str(name).casefold() for name in (*recode, count)}
    for name in mapping(data.get("aggregate")):
        if str(name).casefold() in taken:
            wrong = "is a released column already"
            remedy = "give it another name, and its column: of"
            yield refusal(wrong, remedy, at=("aggregate", name), on_key=True)
        taken.add(str(name).casefold())


def _same_place(one: object, other: object) -> bool:
    """Whether two paths or two relations are the same as far as their text tells."""
    both = isinstance(one, str) and isinstance(other, str)
    return both and normpath(str(one)).casefold() == normpath(str(other)).casefold()
