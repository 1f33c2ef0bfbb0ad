"""A document with its hierarchy files → the ``Policy`` that everything else works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from policy_engine.calendars import Refresh
from policy_engine.errors import UsageError
from policy_engine.kernel import recodes
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.recodes.truncate.recode import UTC_NAME
from policy_engine.kernel.sources import SpanUnit
from policy_engine.policy import recode_models as written
from policy_engine.policy.auto import Guarantee, effective_rate
from policy_engine.policy.choice_notes import as_it_is
from policy_engine.policy.csv_models import CsvSpec
from policy_engine.policy.fields import ColumnType, Form, Grouping, Method
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.mechanisms.common import ChosenNumbers, Protection
from policy_engine.policy.mechanisms.index import language_of
from policy_engine.policy.mechanisms.whole_classes import NO_PAIR, UNMET, Suppression
from policy_engine.policy.models import GuaranteeSpec, PolicyDocument, ReleaseSpec, digest
from policy_engine.policy.recode_models import FilterSpec, Recode
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.scalars import show
from policy_engine.policy.source_models import (
    JoinSpec,
    OrderSpec,
    SourceSpec,
    UnitSpec,
    order_term,
)
from policy_engine.policy.timing import PeriodOf, place_of, schedule_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.shapes import Solved
    from policy_engine.kernel.certificate import Terms
    from policy_engine.kernel.models import Model
    from policy_engine.policy.documents import ReadPolicy

Direction = Literal["asc", "desc"]


@frozen
class Join:
    """A relation whose ``columns`` stand beside each row of the source; ``name`` is the policy's.

    ``on`` has columns of the source, each with the relation's. ``is_public``: it is the same
    whoever is in the data; else it is a person's own.
    """

    name: str
    source: Source
    on: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    is_public: bool


@frozen
class Computed:
    """A column that is computed of two dates of each row, as a claim's ``TimeBetween``."""

    name: str
    since: str
    until: str
    unit: SpanUnit


@frozen
class Source:
    """The table released from: ``path`` or ``relation``, the other is None.

    ``keys`` are the columns that name a person together, none where one row is one person and has
    no key of its own; with a key, ``unique`` says so. ``order_by`` is empty where no order is
    named: of a person's different rows one is drawn then.
    ``is_rowwise``: the author confirms that each row of a view comes from the rows of one unit.
    ``counts_all``: a person counts in the groups of all rows, and not of one.
    ``key_stays``: the author confirms that a person's key never changes.
    ``joins`` are relations with columns beside each row, ``computed`` the columns that are computed
    of it.
    """

    path: str | None
    relation: str | None
    keys: tuple[str, ...] = ()
    order_by: tuple[tuple[str, Direction], ...] = ()
    sampled_at: Decimal = Decimal(1)
    columns: tuple[tuple[str, ColumnType], ...] = ()
    unique: bool = False
    csv: CsvSpec | None = None
    is_rowwise: bool = False
    counts_all: bool = False
    key_stays: bool = False
    joins: tuple[Join, ...] = ()
    computed: tuple[Computed, ...] = ()

    @property
    def key(self) -> str | None:
        """What a sentence calls the columns that name a person; None where there are none."""
        return " and ".join(self.keys) or None

    @property
    def text(self) -> str:
        """The path or the relation as it is written."""
        return self.path or self.relation or ""

    @property
    def has_many_rows(self) -> bool:
        """Whether a person may have many rows, of which one is kept."""
        return self.key is not None and not self.unique

    @property
    def draws_a_row(self) -> bool:
        """Whether one of a person's rows is drawn by a keyed hash: ``rows: any``."""
        return self.has_many_rows and not self.order_by and not self.counts_all


@frozen
class Release:
    """Where the release goes: ``path`` or ``relation``, the other is None; and its form.

    ``version`` and ``deprecated`` are of the dbt model that it is, in a dbt project.
    ``append``: the table has the rows of all editions, told apart by its column ``edition``.
    """

    path: str | None
    relation: str | None
    form: Form = "counts"
    count_as: str = "n"
    version: int = 1
    deprecated: date | None = None
    append: bool = False

    @property
    def text(self) -> str:
        """The path or the relation as it is written."""
        return self.path or self.relation or ""


@frozen
class Following:
    """What an account gives a policy: one edition as an event, and the (ε, δ) of that alone.

    ``editions`` like it fill the account's limit, or are what its plan has of the policy:
    ``planned``.
    """

    guarantee: Guarantee
    solved: Solved
    account: str
    limit: tuple[Decimal, Decimal]
    editions: int
    planned: bool = False
    due: int | None = None
    """How often a window can have an edition, by the calendar; None where nothing says it."""
    shape: str = ""
    """The digest of what the policy is but for its strength."""
    read: ReadPolicy | None = field(default=None, compare=False, repr=False)
    """The policy as it was read: of another strength it is the same."""

    @property
    def numbers(self) -> dict[str, object]:
        """What is promised, and every number of what is drawn."""
        event = self.solved.event
        return {"guarantee": asdict(self.guarantee), type(event).__name__: asdict(event)}


@frozen
class Policy:
    """A policy that passed all checks. ``load_policy`` and ``Policy.from_dict`` make one.

    Defaults are filled in, and each ``auto`` is now a number.

    Fields:
        ``name``, ``description``: as in the policy file.
        ``source``: the table or file that is read. ``source.keys`` are the columns that identify a
            person.
        ``recodings``: a pair (column, recoding) for each released column.
        ``guarantee``: ``epsilon``, ``delta`` and ``neighbours``.
        ``protection``: the mechanism and its numbers.
        ``rate``: the probability that a unit is sampled. 1 if there is no sample.
        ``method``: the way of sampling, ``keyed`` or ``native``. Without a sample it is ``keyed``.
        ``k``: the key ``k`` of the policy. With a sample, a group is shown if at least k sampled
            units are in it.
        ``release``: the place and form of the release.
        ``budget``: the account that pays. The default is the name of the source.
        ``declared_budget``: True if the policy file names the account.
        ``follows``: the account that sets ε and δ. None if the policy sets them.
        ``filter``: a pair (column, condition) for each filter of rows.
        ``missing``: a pair (column, text) for each column whose NULL is released as this text.
        ``levels``: for each column with a hierarchy, its name and a pair: the released level, and
            the number of levels.
        ``models``: the syntactic models, such as ℓ-diversity, that released groups must meet.
        ``part``: for example, (36, 7) if part 7 of 36 random parts of the people is counted. None
            if all people are counted.
        ``schedule``: the calendar that says when editions are due. None without a calendar.
        ``edition``: the edition to draw. After ``load_policy`` it has no name.
        ``is_searched``: True if a search may choose recodings.
        ``stated``: pairs of texts for the certificate, such as the purpose.
        ``grouping``: whether the SQL groups by the released values, ``recoded``, or first by the
            source's, ``raw_first``. With ``auto`` the program chooses. The result is the same.
        ``zone``: the time zone in which days and hours begin.
        ``digest``: SHA-256 of the policy and its hierarchy files.
        ``file``: the policy file.
        ``directory``: the folder that relative paths start from.
    """

    name: str
    description: str
    source: Source
    recodings: tuple[tuple[str, Recoding], ...]
    rate: Decimal
    method: Method
    k: int
    guarantee: Guarantee
    release: Release
    budget: str
    grouping: Grouping
    digest: str
    protection: Protection
    file: Path
    directory: Path
    declared_budget: bool = True
    filter: tuple[tuple[str, FilterSpec], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, tuple[int, int]], ...] = ()
    models: tuple[Model, ...] = ()
    stated: tuple[tuple[str, str], ...] = ()
    part: tuple[int, int] | None = None
    schedule: Refresh | PeriodOf | None = None
    edition: Edition = field(default=Edition())
    follows: Following | None = None
    zone: str = UTC_NAME
    is_searched: bool = False

    @classmethod
    def from_dict(
        cls, data: Mapping[str, object], directory: str | Path = ".", *, unpromised: bool = False
    ) -> Policy:
        """Check a policy that you have as a dict. Use it where no policy file exists, such as in a
        notebook.

        Arguments:
            ``data``: the keys and values of a policy file. A value may be a text, number, date,
                truth value, list, tuple, dict or None.
            ``directory``: the folder that relative paths start from. The program looks for the
                project file there, too.
            ``unpromised``: if True, a policy with ``guarantee: none`` is accepted, too.

        Raises:
            PolicyError: the policy has mistakes. ``problems`` lists all of them.
            UsageError: a value has a type that no policy file can have.

        >>> policy = Policy.from_dict({
        ...     "version": 1, "name": "by_sex", "source": {"file": "people.parquet"},
        ...     "privacy_unit": "row", "recode": {"sex": "keep"},
        ...     "guarantee": {"epsilon": 1, "delta": 1e-6}, "release": {"file": "by_sex.parquet"},
        ... })
        >>> policy.noise.law, policy.guarantee.delta
        ('truncated_laplace', Decimal('0.000001'))
        """
        from policy_engine.policy.from_values import policy_from

        return policy_from(data, directory, unpromised=unpromised)

    def in_edition(self, edition: Edition) -> Policy:
        """The same policy as one draw of it: with the place and the rows of that."""
        path, relation = (
            text if text is None else place_of(text, edition.name)
            for text in (self.release.path, self.release.relation)
        )
        return replace(
            self, edition=edition, release=replace(self.release, path=path, relation=relation)
        )

    @property
    def noise(self) -> Protection | None:
        """What is drawn where everybody is in the release; None where a sample is drawn."""
        return None if self.protection.is_sample else self.protection

    @property
    def is_unpromised(self) -> bool:
        """Whether nothing is certified of it: then ``guarantee`` is one that nothing meets."""
        return not self.protection.promises

    @property
    def is_by_chance(self) -> bool:
        """Whether values are released that nobody has, so that no row is certainly somebody's."""
        return self.protection.by_chance

    @property
    def groups_a_person(self) -> int:
        """In how many groups a person counts at most."""
        return self.protection.groups

    @property
    def source_path(self) -> Path | None:
        """The source's file, relative to the policy's directory; None for a relation."""
        return None if self.source.path is None else self.directory / self.source.path

    @property
    def release_path(self) -> Path | None:
        """The release's file, relative to the policy's directory; None for a relation."""
        return None if self.release.path is None else self.directory / self.release.path

    @property
    def effective_rate(self) -> Decimal:
        """rate · sampled_at, exact: what the certificate rests on ([AMP])."""
        return effective_rate(self.rate, self.source.sampled_at)

    @property
    def reads_beside(self) -> tuple[str, ...]:
        """The source's columns that are read beside those that are recoded."""
        read = [each.column for each in self.protection.quantities]
        read += [each.column for each in self.protection.quantiles]
        beside = dict.fromkeys(column for column in read if column is not None)
        return (*(column for column, _ in self.filter), *beside)

    @property
    def reads(self) -> tuple[str, ...]:
        """Every column that is read: of what is joined or computed, too."""
        source, period = self.source, self.schedule
        named = [name for name, recoding in self.recodings if recoding.reads]
        named += source.keys
        named += [name for name, _ in source.order_by]
        named += self.reads_beside
        named += [period.column] if isinstance(period, PeriodOf) else []
        named += [own for each in source.joins for own, _ in each.on]
        named += [name for each in source.computed for name in (each.since, each.until)]
        return tuple(dict.fromkeys(named))

    @property
    def measured(self) -> tuple[tuple[str, str], ...]:
        """The names of sums and means, each with the source's column that it is of."""
        drawn = self.protection.quantities
        named = ((each.name, drawn[each.quantity - 1].column) for each in self.protection.measures)
        quantiles = ((each.name, each.column) for each in self.protection.quantiles)
        return (*((name, column) for name, column in named if column is not None), *quantiles)

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of what is shown beside each count."""
        own = self.protection
        chosen, cuts = (each.name for each in own.quantiles), (cut.name for cut in own.cuts)
        return (*(measure.name for measure in own.measures), *chosen, *cuts)

    @property
    def groupings(self) -> tuple[tuple[str, ...], ...]:
        """The columns by which everybody is counted, where that is not once by all."""
        return tuple(each.columns for each in self.protection.groupings)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the released columns, without the count's."""
        return tuple(column for column, _ in self.recodings)

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of the released columns that are shown as they are."""
        return tuple(name for name, how in self.recodings if recode_meaning(how).keeps)

    @property
    def recoded(self) -> Recoded:
        """How much the recodes take away: from the policy alone, so that it is public.

        A hierarchy has as many steps as levels, with one more to a root if its last level is none.
        A column of another recode has two: its values, what they are recoded to, and nothing.
        """
        levels = dict(self.levels)
        steps = [levels.get(name) or (_steps(how), 2) for name, how in self.recodings]
        return Recoded(
            1 - sum(step / height for step, height in steps) / len(steps),
            sum(step for step, _ in steps),
            sum(height for _, height in steps),
        )


def _steps(recoding: Recoding) -> int:
    """None to the value itself, two to nothing, else one."""
    if not recoding.reads:
        return 2
    return 0 if recode_meaning(recoding).keeps else 1


class Recoded(NamedTuple):
    """By how many steps the columns are recoded, and by how many they could be at ``most``.

    Sweeney's precision (2002) is 1 − Σ step / height over the columns: 1 where every column is as
    it is, 0 where none says anything. The height of a generalisation (Samarati 2001) is Σ step.
    """

    precision: float
    height: int
    most: int


def loaded(policy: object, *, unpromised: bool = False) -> Policy:
    """``policy`` itself; UsageError for anything else, such as the path of its file.

    One without (ε, δ) is another thing too, but for who says that it takes ``unpromised`` ones.

    >>> loaded("policy.yaml")
    Traceback (most recent call last):
    ...
    policy_engine.base_errors.UsageError: a loaded policy is needed, found the str 'policy.yaml'; \
call load_policy on the file's path first
    """
    if isinstance(policy, Policy):
        if policy.is_unpromised and not unpromised:
            raise UsageError(f"a policy with (ε, δ) is needed, and {policy.name} has none")
        return policy
    found = f"the {type(policy).__name__} {show(str(policy))}"
    remedy = "call load_policy on the file's path first"
    raise UsageError(f"a loaded policy is needed, found {found}; {remedy}")


def resolve(
    document: PolicyDocument,
    hierarchies: Mapping[str, Hierarchy],
    file: Path,
    directory: Path,
    follows: Following | None = None,
) -> Policy:
    """The policy a document means, given the hierarchy of every column that has one.

    ``follows`` is what its account gives it, where its guarantee is none of its own. Raises
    ``NoSolution`` where an ``auto`` cannot be solved.
    """
    recode, about = document.recode.items(), document.about
    labels = {name: spec.names() for name, spec in recode if isinstance(spec, written.BinsSpec)}
    models = () if document.models is None else document.models.resolved(labels)
    guarantee, chosen = _mechanism(document, models, follows)
    digests = {column: found.digest for column, found in hierarchies.items()}
    source = resolve_source(document.source, document.privacy_unit)
    levels = []
    for name, spec in recode:
        if isinstance(spec, written.HierarchySpec):
            tree = hierarchies[name]
            levels.append((name, (spec.level, tree.height + (not tree.has_root))))
        elif isinstance(spec, written.LevelsSpec):
            levels.append((name, (spec.level, len(spec.levels) + 1)))
    said = {"purpose": document.purpose, **(about.model_dump() if about else {})}
    if about:
        said["justification"] = as_it_is(about.justification, document, digests)
    return Policy(
        name=document.name,
        description=document.description,
        source=source,
        recodings=tuple(recodings_of(document, hierarchies).items()),
        guarantee=guarantee,
        release=resolve_release(document.release, document.count.people),
        budget=document.account or source.text,
        grouping=document.grouping,
        digest=digest(document, digests, None if follows is None else follows.numbers),
        file=file,
        directory=directory,
        declared_budget=document.account is not None,
        filter=tuple(sorted(document.filter.items())),
        missing=tuple(
            (name, label) for name, spec in recode if (label := getattr(spec, "missing", None))
        ),
        levels=tuple(levels),
        models=models,
        stated=tuple((name, text) for name, text in said.items() if text),
        schedule=schedule_of(document),
        part=None if document.part is None else (document.part.of, document.part.number),
        k=chosen.k,
        rate=chosen.rate,
        method=chosen.method,
        protection=chosen.protection,
        follows=follows,
        is_searched=document.search is not None,
    )


def recodings_of(
    document: PolicyDocument, hierarchies: Mapping[str, Hierarchy]
) -> dict[str, Recoding]:
    """The recoding of every released column, in their order."""
    return {
        column: resolve_recoding(spec, hierarchies.get(column))
        for column, spec in document.recode.items()
    }


def _mechanism(
    document: PolicyDocument, models: tuple[Model, ...], follows: Following | None
) -> tuple[Guarantee, ChosenNumbers]:
    """What is promised, and what is drawn so that it holds: k, the rate, noise or chance."""
    given, k = document.guarantee, document.k if isinstance(document.k, int) else 1
    if given == NO_PAIR:
        told = tuple(dict.fromkeys(model.of for model in models))
        return UNMET, ChosenNumbers(k, Suppression(told))
    language = language_of(document.mechanism, has_sample=document.sample is not None)
    assert language is not None  # by its field
    if isinstance(given, GuaranteeSpec):
        guarantee = Guarantee(given.epsilon, given.delta, given.neighbours)
        return guarantee, language.solve(document, guarantee)
    assert follows is not None  # by its field
    return follows.guarantee, language.numbers(document, follows.solved)


def resolve_release(release: ReleaseSpec, count: str = "n") -> Release:
    """The place and the form that a document means, with the name of its count."""
    said = release.model_dump()
    return Release(path=said.pop("file"), relation=said.pop("table"), count_as=count, **said)


def resolve_source(source: SourceSpec, privacy_unit: Literal["row"] | UnitSpec) -> Source:
    """The source a document means, and who is one person in it."""
    unit = None if privacy_unit == "row" else privacy_unit
    rows = None if unit is None else unit.rows
    return Source(
        path=source.file,
        relation=source.table,
        keys=() if unit is None else ((unit.column,) if unit.column else unit.columns),
        unique=rows == "one",
        order_by=tuple(order_term(term) for term in rows.first_by)
        if isinstance(rows, OrderSpec)
        else (),
        sampled_at=source.sampled_at,
        columns=tuple(source.columns.items()),
        csv=source.csv,
        is_rowwise=source.view == "rowwise",
        counts_all=rows == "all",
        key_stays=unit is not None and unit.stays,
        joins=tuple(
            _join(name, spec, tuple(source.columns.items())) for name, spec in source.join.items()
        ),
        computed=tuple(
            Computed(name, spec.of, *spec.until) for name, spec in source.compute.items()
        ),
    )


def _join(name: str, spec: JoinSpec, columns: tuple[tuple[str, ColumnType], ...]) -> Join:
    source = Source(
        path=spec.file,
        relation=spec.table,
        order_by=tuple(map(order_term, spec.first_by)),
        columns=columns,
        csv=spec.csv,
        is_rowwise=spec.view == "rowwise",
    )
    return Join(name, source, tuple(spec.on.items()), spec.columns, spec.public)


def resolve_recoding(spec: Recode, hierarchy: Hierarchy | None = None) -> Recoding:
    """The recoding that a column's entry means.

    >>> resolve_recoding(written.PrefixSpec(prefix=3)), resolve_recoding("keep")
    (Prefix(length=3), Keep())
    """
    return recodes.Keep() if spec == "keep" else spec.recoding(hierarchy)


def terms_of(
    policy: Policy,
    published_as: str,
    engine_version: str,
    settings: tuple[tuple[str, str], ...] = (),
) -> Terms:
    """What a certificate of ``policy`` says beside what it certifies."""
    from policy_engine.kernel.certificate import Terms
    from policy_engine.kernel.promise import Bounded, Unpromised

    asked = policy.guarantee
    promise = Bounded(
        asked.epsilon, asked.delta, asked.neighbours, policy.rate, policy.source.sampled_at
    )
    return Terms(
        policy_name=policy.name,
        policy_digest=policy.digest,
        source=policy.source.text,
        promise=Unpromised() if policy.is_unpromised else promise,
        published_as=published_as,
        engine_version=engine_version,
        settings=settings,
        models=policy.models,
        said=policy.stated,
        edition=None if policy.edition == Edition() else policy.edition,
    )
