"""The policy file as it is written: frozen models, one a mapping, every key closed.

They say what the file may hold; `resolve` says what it means. The JSON Schema is made of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from os.path import normpath
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic_core import PydanticCustomError

from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.policy import fields, source_models, time_models
from policy_engine.policy.laws import At, Broken, Data, Document, barred, mapping, refusal, word_or
from policy_engine.policy.mechanisms import noisy_counts
from policy_engine.policy.mechanisms.index import Mechanism, keeps_groups, one_mechanism
from policy_engine.policy.mechanisms.measures import CountSpec, MeasureSpec, shown_names
from policy_engine.policy.mechanisms.whole_classes import NO_PAIR, unpromised_laws
from policy_engine.policy.model_specs import AutoSpec, KeysField, ModelsSpec, chooses, enforceable
from policy_engine.policy.recode_models import BinsSpec, FilterSpec, Recode
from policy_engine.policy.scalars import show
from policy_engine.policy.search_models import SearchSpec, search_laws

_UNCOMMENT = "name at least one column, or uncomment one"


class SampleSpec(Document):
    """How the sample is drawn."""

    rate: fields.RateField
    """The probability that a person is in the sample. `auto` chooses the greatest rate that meets
    the guarantee.
    """
    method: Annotated[fields.Method, fields.word_of(fields.Method)] = "keyed"
    """`keyed`: a hash with a secret key chooses the people. `native`: the warehouse's own sampling
    chooses rows.
    """


class GuaranteeSpec(Document):
    """The guarantee that is certified. If it cannot be certified, nothing is released."""

    meant = time_models.MEANT_GUARANTEE
    epsilon: fields.StepField
    """ε: a smaller ε protects more. The exact meaning: take two neighbouring tables and any set of
    results. The probability of this set under one table is at most e^ε times its probability under
    the other table, plus δ.
    """
    delta: Annotated[Decimal, fields.number("above 0 and below 1", minimum=0, exclusiveMaximum=1)]
    """δ, the small number that the formula of `epsilon` adds. δ is not the probability that
    something goes wrong.
    """
    neighbours: Annotated[fields.Neighbours, fields.word_of(fields.Neighbours)] = "add_remove"
    """Which two tables are neighbours. `add_remove`: one table has one person less. `replace_one`:
    one table has another person instead.
    """


_GUARANTEE = word_or(
    GuaranteeSpec, NO_PAIR, law="a mapping with epsilon and delta, or none",
    remedy="as in {epsilon: 1.0, delta: 1.0e-6}, or {editions: 12} of an account's limit"
)  # fmt: skip


class AboutSpec(Document):
    """Answers to questions of readers. The certificate shows these texts. They change no number."""

    contact: fields.TextField = ""
    """Whom to ask, and whom to tell about a mistake."""
    recipients: fields.TextField = ""
    """Who may read the release."""
    access: fields.TextField = ""
    """Who can read the source and use the machine, and how others are kept out."""
    justification: fields.TextField = ""
    """Why this unit, ε and δ were chosen."""
    region: fields.TextField = ""
    """Where the people in the source live."""
    sector: fields.TextField = ""
    """The field, such as health or official statistics."""


class ReleaseSpec(Document):
    """The place of the release, and its form."""

    model_config = ConfigDict(json_schema_extra=source_models.ONE_PLACE)

    file: fields.OptionalPathField = None
    """A Parquet file, with a path relative to the policy file."""
    table: fields.OptionalLineField = None
    """A table of the warehouse."""
    form: Annotated[fields.Form, fields.word_of(fields.Form)] = Field(default="counts", alias="as")
    """`counts`: one row for each group, with its count. `rows`: each group repeated as many times
    as its count.
    """
    version: fields.PositiveField = 1
    """Only in a dbt project: the version of the model that the release is."""
    append: fields.FlagField = False
    """`true`: all editions are in one table. A column `edition` tells them apart."""
    deprecated: Annotated[date | None, fields.day] = None
    """Only in a dbt project: dbt's `deprecation_date` of this version of the model."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One place; a file is a Parquet file; a count's column where there is a count."""
        yield from source_models.one_place(data)
        path = data.get("file")
        written = isinstance(path, str) and path.strip()
        if written and PurePath(str(path)).suffix.lower() != ".parquet":
            wrong = f"must end in .parquet, found {show(path)}"
            remedy = "'policy-engine show --output FILE.csv' writes it as CSV"
            yield refusal(wrong, remedy, at=("file",))
        if "file" in data:
            wrong = "is of a dbt model, and must not stand beside file"
            yield from barred(data, ("version", "deprecated"), wrong)


_Marginal = Annotated[fields.Lines, fields.a_list("columns", "as in [age, sex]")]


class PolicyDocument(Document):
    """A policy: what of a source is released, how it is recoded, and what is guaranteed."""

    model_config = ConfigDict(title="policy-engine policy, version 1")
    needs = (
        "privacy_unit",
        "write privacy_unit: row where each row is one person, and {column: …} with the column that"
        " says whose a row is where a person can have several",
    )
    meant = time_models.MEANT | source_models.MEANT
    version: fields.VersionField
    """The version of the policy language."""
    name: fields.NameField
    """The policy's name. Certificates and the ledger show it."""
    description: fields.TextField = ""
    """What is released, and for whom."""
    purpose: fields.PurposeField = ""
    """What the release may be used for, and what not. The certificate shows this text."""
    about: AboutSpec | None = None
    """Texts for the certificate: contact, recipients, access, justification, region and sector."""
    source: source_models.SourceSpec
    """The table or file that is read."""
    privacy_unit: Annotated[Literal["row"] | source_models.UnitSpec, source_models.UNIT]
    """Who is protected. `row`: each row is one person. A mapping names the column that identifies
    the person.
    """
    recode: Annotated[
        dict[str, Recode], fields.a_mapping("column: recoding", _UNCOMMENT, minProperties=1)
    ]
    """Each released column, with its recoding. A column that is not named here is not released."""
    refresh: time_models.RefreshSpec | None = None
    """Release the whole source again in each period of a calendar, such as each month."""
    period: time_models.PeriodSpec | None = None
    """Release the rows of each period, such as a month, once, after the period has ended."""
    revise: time_models.ReviseSpec | None = None
    """Draw each period a second time, at a fixed time after its end."""
    filter: Annotated[
        dict[str, FilterSpec], fields.a_mapping("column: condition", _UNCOMMENT, minProperties=1)
    ] = fields.EMPTY
    """The rows that count: for each column named here, a condition on its value."""
    mechanism: Annotated[Mechanism | None, fields.word_of(Mechanism)] = None
    """How chance enters the release. The default is `sampled_suppression` if the policy has a
    `sample`, otherwise `noisy_counts`. `randomised_response` and `ab_insertion` need columns with a
    public list of values.
    """
    sample: SampleSpec | None = None
    """How the sample is drawn. Required for sampled_suppression, and only allowed there."""
    noise: noisy_counts.NoiseSpec | None = None
    """The noise that is added to counts. Only for noisy_counts."""
    contribution: noisy_counts.ContributionSpec | None = None
    """How many groups and rows of one person count at most. Only for noisy_counts, if a person has
    many rows.
    """
    count: CountSpec = CountSpec()
    """The names of the columns with the counts of people and of rows."""
    measures: Annotated[
        dict[str, MeasureSpec],
        fields.a_mapping("name: {sum or mean}", _UNCOMMENT, minProperties=1),
    ] = fields.EMPTY
    """More numbers for each group, such as sums and means. The name becomes the name of the
    column. Only for noisy_counts.
    """
    rollup: noisy_counts.RollupSpec | None = None
    """Count everybody a second time, by fewer columns. Only for noisy_counts."""
    marginals: Annotated[
        tuple[_Marginal, ...],
        fields.a_list("lists of columns", "as in [[age, sex], [sex, pay]]", minItems=1),
    ] = ()
    """Several groupings, each by some of the columns, at one price together. Only for
    noisy_counts.
    """
    public_groups: KeysField = ()
    """The groups that are shown, even if nobody is in them. No other group is shown. Only for
    noisy_counts.
    """
    part: noisy_counts.PartSpec | None = None
    """Count one random part of the people instead of everybody. Only for noisy_counts."""
    k: fields.OptionalKField = None
    """The least size of a group that is shown. With a sample, this is the size in the sample, and
    `k: auto` chooses it. Without a sample, it is the size in the source: each group that is shown
    certainly has k people there.
    """
    auto: AutoSpec | None = None
    """How k and the rate are chosen if `k` and `sample.rate` are both `auto`. By default the
    program chooses the pair with the least k/rate.
    """
    models: ModelsSpec | None = None
    """Syntactic models, such as ℓ-diversity. A group that breaks a model is not released."""
    guarantee: Annotated[
        Literal["none", "planned"] | GuaranteeSpec | time_models.EditionsSpec,
        time_models.guarantee_or_editions(_GUARANTEE),
    ]
    """The ε and δ that are certified. `{editions: 12}`: twelve editions like this use up the
    account's limit for one window, such as a year. `planned`: the plan of the account sets ε and δ.
    `none`: no ε and δ are promised.
    """
    release: ReleaseSpec
    """The file or table that is written, and its form."""
    account: fields.OptionalLineField = None
    """The account that pays. The project file sets its limit. By default the account has the name
    of the source.
    """
    search: SearchSpec | None = None
    """The levels of the columns from which `policy-engine search` chooses. The search writes a
    second policy, which you release instead of this one.
    """
    grouping: Annotated[fields.Grouping, fields.word_of(fields.Grouping)] = "auto"
    """Changes only the speed. `raw_first` groups by the source's values and then recodes the
    groups. `recoded` recodes every row.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """Column names that can be told apart, the count's among them; a place of its own."""
        yield from source_models.released_names(data.get("recode"), ("recode",))
        yield from source_models.column_names(data.get("filter"), ("filter",))
        recode, release, source = (
            mapping(data.get(key)) for key in ("recode", "release", "source")
        )
        filtered = {str(column).casefold() for column in mapping(data.get("filter"))}
        for column, recoding in recode.items():
            # An engine could read the one for the other.
            if "constant" in mapping(recoding) and str(column).casefold() in filtered:
                wrong = "is a constant, and the name of a column of filter"
                yield refusal(wrong, "give the constant another name", at=("recode", column))
        yield from chooses(data)
        is_unpromised = data.get("guarantee") == NO_PAIR
        yield from unpromised_laws(data) if is_unpromised else one_mechanism(data)
        yield from enforceable(data, keeps_groups=keeps_groups(data))
        yield from time_models.time_laws(data)
        yield from search_laws(data)
        yield from source_models.join_laws(data)
        persons = source_models.keys_of(data.get("privacy_unit"))
        for column, kind in mapping(source.get("columns")).items():
            # Of another type 7 and 007 would be one person, or stay two.
            if str(column) in persons and kind != "text":
                wrong = f"{source_models.KEY_AS_IT_STANDS}, found {show(kind)}"
                remedy, at = source_models.CONVERT_A_KEY, ("source", "columns", str(column))
                yield refusal(wrong, remedy, at=at)
        for column, recoding in recode.items():
            if recoding == "keep" and {str(column)} == persons:
                wrong, remedy = source_models.KEY_KEPT, source_models.RECODE_THE_KEY
                yield refusal(wrong, remedy, at=("recode", column))
        if release.get("as", "counts") == "counts":
            yield from _beside(data, recode)
        elif "count" in data:
            wrong = "must not stand beside release.as: rows, which has no count"
            yield refusal(wrong, "remove it", at=("count",), on_key=True)
        for place in ("file", "table"):
            if place in release and _same_place(release[place], source.get(place)):
                remedy = "release to a place of its own"
                yield refusal("must not be the source itself", remedy, at=("release", place))


def _beside(data: Data, recode: Iterable[str]) -> Broken:
    """The law that counts, and what is shown beside them, have names of their own."""
    several = bool(data.get("marginals") or data.get("rollup"))
    for column in recode:
        if several and column.casefold() == GROUPING:
            wrong = f"is the column that says by what is counted, {GROUPING}"
            yield refusal(wrong, "recode a column of another name", at=("recode", column))
    taken = {str(name).casefold() for name in recode}
    for at, name in shown_names(data):
        if str(name).casefold() in taken:
            alike = [column for column in recode if column.casefold() == str(name).casefold()]
            yield _taken(at, name, alike)
        taken.add(str(name).casefold())


def _taken(at: At, name: object, columns: list[str]) -> PydanticCustomError:
    """That a name is another's: of a count, which need not be written, where the column stands."""
    if at[0] == "count" and columns:
        wrong = f"is the name of a count too, {show(name)}"
        remedy = f"give the count another name, as in count: {{{at[1]}: how_many}}"
        return refusal(wrong, remedy, at=("recode", columns[0]), on_key=True)
    column = columns[0] if columns else name
    wrong = f"is a released column already, {show(column)}"
    return refusal(wrong, "give it another name", at=at, on_key=at[0] != "count")


def _same_place(one: object, other: object) -> bool:
    """Whether two paths or two relations are the same as far as their text tells."""
    both = isinstance(one, str) and isinstance(other, str)
    return both and normpath(str(one)).casefold() == normpath(str(other)).casefold()


def digest(
    document: PolicyDocument,
    hierarchies: Mapping[str, str],
    follows: Mapping[str, object] | None = None,
) -> str:
    """The digest ``sha256:…`` of a policy and of its hierarchy files (digests by column).

    One for every file that says the same. Comments, the order of keys, quotes and the number of
    zeros do not matter, nor does a key that is written with its default. What does matter: every
    other key, the order of released columns, the labels of bins, and the bytes of every hierarchy
    file; and what ``follows`` from the account, where the policy has no (ε, δ) of its own: of
    another limit, or of another plan, it is another policy. Only ``release.deprecated`` and
    ``search`` do not: these say when a release goes, and what may be chosen for another one.
    """
    text = canonical_json(document, hierarchies, follows)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def canonical_json(
    document: PolicyDocument,
    hierarchies: Mapping[str, str],
    follows: Mapping[str, object] | None = None,
) -> str:
    """The text that is digested: JSON with sorted keys and no spaces, in ASCII."""
    data = document.model_dump(
        by_alias=True,
        exclude_defaults=True,
        exclude={"recode": True, "release": {"deprecated"}, "search": True},
    )
    if measured := data.get("measures"):  # its columns have an order
        data["measures"] = list(measured.items())
    whole: dict[str, object] = {
        "policy": {**data, "recode": recode_as_told(document)},
        "hierarchies": dict(hierarchies),
    }
    if follows is not None:
        whole["follows"] = follows
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), default=scalar_text)


def recode_as_told(document: PolicyDocument) -> list[tuple[str, object]]:
    """The recodings of a document as they are digested, in their order."""
    recode: list[tuple[str, object]] = []
    for column, spec in document.recode.items():
        said: Any = "keep" if spec == "keep" else spec.model_dump(exclude_defaults=True)
        if isinstance(spec, BinsSpec):
            said["labels"] = spec.names()
        recode.append((column, said))
    return recode


def scalar_text(value: object) -> str:
    """The text of a date, or the shortest one of a number, without an exponent, exact.

    >>> [scalar_text(Decimal(text)) for text in ("0.10", "1E+2", "-0.0", "100")]
    ['0.1', '100', '0', '100']
    """
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, Decimal):
        raise TypeError(f"no canonical text for {type(value).__name__}")
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
