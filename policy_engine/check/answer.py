"""The answer to a text: certified, or what to run instead, or why not.

Certified is what the kernel prints, and nothing else: where its claim comes from does not matter,
for a text that is the print of a claim is that release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from policy_engine.check import laws
from policy_engine.check.described import noun, words
from policy_engine.check.findings import Breach, findings_of
from policy_engine.check.guess import Guess, guessed, guessed_in_two
from policy_engine.check.known import Known, is_one
from policy_engine.check.printed_text import Wrapped, claims_of, types_alike, unwrapped
from policy_engine.check.schema import Schema
from policy_engine.compile.catalog import KINDS, Field, Table, at_home
from policy_engine.compile.compiler import compiled
from policy_engine.compile.joining import with_beside
from policy_engine.compile.rendering import created, name_of
from policy_engine.dialects import dialect_named
from policy_engine.engines import ENGINES
from policy_engine.errors import Finding, PolicyError, UsageError
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.assumptions import ROW_UNIT, assumptions, unit_of
from policy_engine.kernel.certificate import ROWS, NotPrinted, Unmet, certify, check_text
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.printing import printed
from policy_engine.kernel.sentences import sentences_of
from policy_engine.kernel.sources import Files, People, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.kernel.words import source_of
from policy_engine.names import fold
from policy_engine.policy.resolve import Join, Policy, terms_of
from policy_engine.policy.timing import PeriodOf
from policy_engine.values import frozen

BUILT_INS = (
    "no macro or user-defined function replaces a built-in function that the text calls, and no"
    " default collation is set"
)
"""What must hold where somebody runs a text; a release has a connection of its own."""


@frozen
class Answer:
    """The result of ``answer``. If ``findings`` is empty, the SQL text is certified.

    Fields:
        ``findings``: the reasons why the text is not certified.
        ``canonical``: the SQL to run instead. Empty if the text is certified, or if no such SQL is
            known.
        ``claim``: what the certified text releases, or else what ``canonical`` releases. None if
            there is neither.
        ``missed``: the parts of the text that ``canonical`` leaves out.
        ``taken``: facts to check. ``canonical`` assumes them, such as types of columns, and the
            text does not say them.
        ``beside``: those facts of ``taken`` that are about joined tables.
        ``afterwards``: a second query, if the text also computes shares or ranks. It reads the rows
            of ``canonical`` as ``released``, and costs no ε. Otherwise empty.
        ``assumptions``: facts that must be true so that a certified text keeps its promise.
        ``target``: the parts of the name of the table that the text creates. Empty if it creates
            none.
    """

    claim: Claim | None = None
    target: tuple[str, ...] = ()
    canonical: str = ""
    afterwards: str = ""
    assumptions: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Whatever forgets to say why a text is refused must not certify it.
        if self.claim is None and not self.findings:
            raise ValueError("an answer has findings, or the claim that is certified")


def answer(text: str, engine: str, schema: Schema, policy: Policy | None = None) -> Answer:
    """Check SQL that somebody wrote: is it a release that the program can certify?

    Guarantee: if the result has no ``findings``, then the text is exactly the SQL that the program
    prints for the result's ``claim``. The text may also create the table ``target`` from this SQL.
    If you pass a policy, then ``claim`` is the claim of this policy, and the text has its
    guarantee.

    Arguments:
        ``text``: the SQL.
        ``engine``: the name of the engine, such as ``duckdb``.
        ``schema``: the tables and the types of their columns. If you do not know them, pass
            ``Schema()``.
        ``policy``: the text must compute the release of this policy. Without a policy, the text may
            compute any release. A policy with ``period`` must be one edition, as
            ``in_named_edition`` of ``policy_engine.releasing.naming`` returns it.

    Errors: PolicyError if the policy does not fit the source. UsageError if a policy with
    ``period`` is no edition.

    >>> from policy_engine.check.schema import Schema
    >>> text = "select sex, count(*) as n from main.people tablesample bernoulli (10 percent)"
    >>> found = answer(text + " group by sex having count(*) >= 20", "duckdb", Schema())
    >>> [each.code for each in found.findings], found.claim.law.k
    (['V35'], 20)
    >>> answer(found.canonical, "duckdb", Schema()).findings
    ()
    """
    envelope, known = unwrapped(text, engine), Known(schema, engine)
    found = claims_of(envelope.query, engine, known)
    if policy is not None:
        return _of_a_policy(envelope, policy, known, list(found))
    own = next(found, None)
    if own is None:
        return _instead(envelope, known)
    if broken := _broken(own, envelope, known):
        return Answer(findings=findings_of(*broken))
    told = _said(assumptions(own, engine, source_of(own), Decimal(1)))
    told += (*((BUILT_INS,) if engine == "duckdb" else ()), *_untold(own, envelope.query, known))
    return Answer(own, envelope.target, assumptions=told)


def _said(assumed: Iterable[Assumption]) -> tuple[str, ...]:
    return sentences_of(assumed)


def _instead(envelope: Wrapped, known: Known) -> Answer:
    """The text to run instead of a stranger's, if one can be guessed."""
    engine = known.engine
    guess, afterwards = guessed(envelope.query, engine, known, known), ""
    if guess.claim is None or guess.missed:
        guess, afterwards = guessed_in_two(envelope.query, engine, known, known) or (guess, "")
    if guess.claim is None:
        return Answer(findings=guess.findings)
    target = envelope.target or guess.target
    if afterwards:
        afterwards, target = _enveloped(afterwards, target, engine), ()
    if broken := _broken(guess.claim, Wrapped(envelope.query, target), known):
        return Answer(missed=guess.missed, findings=findings_of(*broken))
    taken = list(guess.taken)
    if not known.schema.known:
        taken += (f"{name} is {noun(kind)}" for name, kind in _read(guess.claim).items())
        taken += _types_of_keys(guess.claim)
    text = _enveloped(printed(guess.claim, engine), target, engine)
    found = findings_of(laws.IS_PRINTED.broken_by(_difference(envelope.query, guess.claim, engine)))
    return Answer(
        guess.claim,
        target,
        text,
        afterwards,
        missed=guess.missed,
        taken=tuple(taken),
        findings=found,
        beside=guess.beside,
    )


def _read(claim: Claim) -> dict[str, Type]:
    """The types of all the columns that a claim reads."""
    unit = claim.unit
    read = (*claim.inputs, *((*unit.keys, *unit.ordering) if isinstance(unit, People) else ()))
    return {column.name: column.type for column in reversed(read)}


def _types_of_keys(claim: Claim, *, engine_collates: bool = False) -> Iterator[str]:
    """The types of the columns by which tables are joined."""
    for joined in claim.joins:
        for own, other in joined.on:
            sides = ((claim.source, own), (joined.source, other))
            for place, column in sides:
                if column not in claim.unit.keys:
                    kind = noun(column.type, engine_collates=engine_collates)
                    yield f"{column.name} of {place.name} is {kind}"


def _difference(query: str, claim: Claim, engine: str) -> str:
    """Where a text is first another than what is printed."""
    try:
        check_text(query, claim, engine)
    except NotPrinted as error:
        found, wanted = error.found.strip(), error.wanted.strip()
        if not found or not wanted or error.token == 0:
            return "another text"
        return f"{found[:40]!r} where it prints {wanted[:40]!r}"
    return "another name for it"


def _enveloped(query: str, target: tuple[str, ...], engine: str) -> str:
    return created(query, name_of(target, ENGINES[engine])) if target else query


def _broken(claim: Claim, envelope: Wrapped, known: Known) -> tuple[Breach, ...]:
    """What no text may do, printed or not: read a view, or write over its source."""
    source, unit, found = claim.source, claim.unit, []
    columns = known.schema.columns(source_of(claim)) or {}
    # A column of the schema may hide the numbers of the rows.
    number = "file_row_number" if isinstance(source, Files) else "rowid"
    if isinstance(source, Files) and source.kind != "parquet":
        found.append(laws.READS_A_TABLE.broken_by(f"{source.path}, which a release alone loads"))
    if isinstance(unit, Rows) and claim.law.numbers_rows and number in map(fold, columns):
        hidden = f"a column {number}, which hides the row's own number"
        found.append(laws.COUNTS_UNITS.broken_by(hidden))
    found += _broken_beside(claim, envelope, known)
    if isinstance(source, Files):
        return tuple(found)
    if known.is_view(source.parts) and not source.is_rowwise:
        view = ".".join(source.parts)
        found.append(laws.READS_A_TABLE.broken_by(f"the view {view}; name the table that it reads"))
    if is_one(envelope.target, source.parts):
        found.append(laws.SPARES_ITS_SOURCE.broken_by(f"the table {'.'.join(envelope.target)}"))
    secret = claim.law.secret
    if secret is not None and is_one(secret.relation, source.parts):
        found.append(laws.KEEPS_THE_SECRET.broken_by("a secret that stands in the source"))
    told, key = known.schema.constraints_of(source_of(claim)), unit_of(claim)
    is_alone = isinstance(unit, People) and unit.order is None
    if is_alone and told is not None and told.keyed and fold(key) not in told.unique:
        several = f"a sample of {key}, of which {source_of(claim)} may have several rows"
        found.append(laws.COUNTS_UNITS.broken_by(several))
    return tuple(found)


def _broken_beside(claim: Claim, envelope: Wrapped, known: Known) -> Iterator[Breach]:
    """What no text may do with the tables that it looks up."""
    people = [claim.source, *(each.source for each in claim.joins if not each.is_public)]
    secret = claim.law.secret
    for each in claim.joins:
        place = each.source
        if isinstance(place, Files):
            if place.kind != "parquet":
                yield laws.READS_A_TABLE.broken_by(f"{place.path}, which a release alone loads")
            continue
        if known.is_view(place.parts) and not (place.is_rowwise and not each.is_public):
            view = f"the view {place.name}; name the table that it reads"
            yield laws.READS_A_TABLE.broken_by(view)
        if each.is_public and any(_is_same(place, other) for other in people):
            told = f"{place.name}, which has people's rows, as a public table"
            yield laws.READS_ONE_RELATION.broken_by(told)
        if is_one(envelope.target, place.parts):
            yield laws.SPARES_ITS_SOURCE.broken_by(f"the table {'.'.join(envelope.target)}")
        if secret is not None and is_one(secret.relation, place.parts):
            told = f"a secret that stands in {place.name}, which the text looks up"
            yield laws.KEEPS_THE_SECRET.broken_by(told)


def _is_same(one: Relation, other: Relation | Files) -> bool:
    return isinstance(other, Relation) and is_one(one.parts, other.parts)


# What a certified text rests on


def _untold(claim: Claim, query: str, known: Known) -> Iterator[str]:
    """What a schema would have told: that the source is a table, and the types of its columns."""
    if known.schema.known:
        return
    collates = ENGINES[known.engine].collates
    keys = claim.unit.keys if isinstance(claim.unit, People) else ()
    kinds = dict(types_alike(query, claim, known.engine))
    if not isinstance(claim.source, Files):
        yield f"{source_of(claim)} is a base table"
        if isinstance(claim.unit, Rows) and claim.law.numbers_rows:
            yield f"{source_of(claim)} has no column rowid"
    if isinstance(claim.unit, People):
        text = " or a UUID" if collates else ", a UUID, or text without a collation"
        yield from (f"{key.name} is a whole number{text}" for key in keys)
        kinds = {column.name: (column.type,) for column in claim.unit.ordering} | kinds
    for name, types in kinds.items():
        if name not in {key.name for key in keys}:
            nouns = list(dict.fromkeys(noun(each, engine_collates=collates) for each in types))
            yield f"{name} is {' or '.join([', '.join(nouns[:-1]), nouns[-1]][len(nouns) < 2 :])}"
    for joined in claim.joins:
        if isinstance(joined.source, Relation):
            yield f"{joined.source.name} is a base table"
    yield from _types_of_keys(claim, engine_collates=collates)


# Against a policy


def _of_a_policy(envelope: Wrapped, policy: Policy, known: Known, found: list[Claim]) -> Answer:
    """Whether a text is what is printed for the policy's claim, with its guarantee."""
    if isinstance(policy.schedule, PeriodOf) and not policy.edition.name:
        raise UsageError(f"{policy.name} has a period: compare the text with one edition of it")
    if not found:
        guess = guessed(envelope.query, known.engine, known, known)
        compared = _against(envelope, policy, known, guess.claim, guess)
        if compared is not None:
            return compared
        findings = guess.findings
        if guess.claim is not None:
            other = laws.SOURCE_IS_THE_POLICYS.broken_by(source_of(guess.claim))
            findings = findings_of(other)
        return Answer(missed=guess.missed, findings=findings)
    told = []
    for own in found:
        each = _against(envelope, policy, known, own)
        if each is not None and not each.findings:
            return each
        told += [] if each is None else [each]
    if told:
        return told[0]
    other = laws.SOURCE_IS_THE_POLICYS.broken_by(source_of(found[0]))
    return Answer(findings=findings_of(other))


def _against(
    envelope: Wrapped,
    policy: Policy,
    known: Known,
    own: Claim | None,
    guess: Guess | None = None,
) -> Answer | None:
    """The answer where the source's columns are those of ``own``, if no schema has them."""
    table = _table(policy, known, own)
    if table is None:
        return None
    joined = [_joined_table(join, known, own) for join in policy.source.joins]
    others = [each for each in joined if each is not None]
    if len(others) == len(joined):
        table = with_beside(policy.source, table, others)
    secret = None if own is None else own.law.secret
    try:
        wanted, text = compiled(policy, table, dialect_named(known.engine), secret)
    except PolicyError:
        if known.schema.known or own is None:
            raise
        return Answer(findings=findings_of(*_unlike(own, policy)))
    broken = list(_broken(wanted, envelope, known))
    relation, target = policy.release.relation or "", envelope.target
    parts = tuple(relation.split("."))
    if target and target[-len(parts) :] != parts:
        broken.append(laws.TARGET_IS_THE_POLICYS.broken_by(".".join(target)))
    differs: tuple[Breach, ...]
    try:
        made = certify(envelope.query, wanted, known.engine, terms_of(policy, ROWS, ""))
        if not broken:
            told = (*_said(made.assumptions), *_untold(wanted, envelope.query, known))
            return Answer(wanted, target, assumptions=told)
        return Answer(findings=findings_of(*broken))
    except Unmet as error:
        unmet = laws.unmet(error.delta, policy.guarantee.delta, policy.guarantee.epsilon)
        return Answer(findings=findings_of(unmet, *broken))
    except NotPrinted:
        differs = tuple(differences(own, wanted)) if own is not None and guess is None else ()
    other = laws.IS_PRINTED.broken_by(_difference(envelope.query, wanted, known.engine))
    return Answer(
        wanted,
        target,
        _enveloped(text, parts if target and relation else (), known.engine),
        missed=guess.missed if guess is not None else (),
        findings=findings_of(*(differs or (other,)), *broken),
    )


def _table(policy: Policy, known: Known, own: Claim | None) -> Table | None:
    """The policy's source: as the schema has it, else with the columns that a text reads."""
    relation, case = policy.source.relation, ENGINES[known.engine].case
    if relation is None:
        file = own.source if own is not None else None
        if own is None or not isinstance(file, Files) or file.kind != "parquet":
            return None
        path = str(policy.source.path)
        return Table(_columns_of(own), path=path, is_folder=file.is_folder, case=case)
    parts = at_home(relation, known.engine, known.schema.tables)
    if known.schema.known:
        return known.table(parts)
    if own is None:
        return None
    # Without a schema a key is taken for unique, which is then among what is assumed.
    keys = {own.unit.key.name} if isinstance(own.unit, People) and own.unit.order is None else ()
    return Table(_columns_of(own), parts=parts, unique=frozenset(keys), case=case)


def _joined_table(join: Join, known: Known, own: Claim | None) -> Table | None:
    """A table that a policy joins: as the schema has it, else as a text reads it."""
    if join.source.relation is None:
        return None
    parts = at_home(join.source.relation, known.engine, known.schema.tables)
    if known.schema.known:
        return known.table(parts)
    for each in () if own is None else own.joins:
        if isinstance(each.source, Relation) and is_one(each.source.parts, parts):
            read = {column.name: column.type for column in (*(k for _, k in each.on), *each.read)}
            return Table(_fields_of(read), parts=parts, case=ENGINES[known.engine].case)
    return None


def _columns_of(claim: Claim) -> tuple[Field, ...]:
    """The source's columns that a claim reads, as a catalog tells them."""
    own = (column for each in claim.joins for column, _ in each.on)
    read = {**{column.name: column.type for column in own}, **_read(claim)}
    beside = {column.name for column in claim.beside}
    return _fields_of({name: kind for name, kind in read.items() if name not in beside})


def _fields_of(types: Mapping[str, Type]) -> tuple[Field, ...]:
    """Columns of types, as a catalog tells them."""
    names = {kind.of_a_claim: name for name, kind in KINDS.items()}
    found = []
    for name, kind in types.items():
        exact = f"({kind.digits},{kind.scale})" if kind.kind == "decimal" else ""
        collation = " COLLATE other" if kind.collated and not exact else ""
        found.append(Field(name, f"{names[kind.kind]}{exact}{collation}"))
    return tuple(found)


def _unlike(own: Claim, policy: Policy) -> Iterator[Breach]:
    """Why a text without a schema does not have the columns that a policy reads."""
    if unit_of(own) != (policy.source.key or ROW_UNIT):
        yield laws.UNIT_IS_THE_POLICYS.broken_by(f"the unit {unit_of(own)}")
    names = [shown.name for shown in own.columns]
    if names != [name for name, _ in policy.recodings]:
        yield laws.COLUMNS_ARE_THE_POLICYS.broken_by(", ".join(names))
    found = "a text that does not read what the policy reads; give its --schema to see the policy's"
    yield laws.IS_PRINTED.broken_by(found)


def _kept(claim: Claim) -> object:
    """Which of a person's rows is kept: a text says the whole order, a policy how it begins."""
    unit = claim.unit
    if not isinstance(unit, People) or not isinstance(unit.order, tuple):
        return unit
    rest = ((column, False) for column in claim.inputs if column not in unit.ordering)
    return *unit.keys, *unit.order, *rest


def differences(own: Claim, wanted: Claim) -> Iterator[Breach]:
    """By what a printed text is the release of another claim than the policy's."""
    if own.source != wanted.source:
        yield laws.SOURCE_IS_THE_POLICYS.broken_by(source_of(own))
    if own.unit != wanted.unit and unit_of(own) != unit_of(wanted):
        yield laws.UNIT_IS_THE_POLICYS.broken_by(f"the unit {unit_of(own)}")
    elif _kept(own) != _kept(wanted):
        yield laws.UNIT_IS_THE_POLICYS.broken_by(f"another row of each {unit_of(own)}")
    if own.joins != wanted.joins:
        yield laws.SOURCE_IS_THE_POLICYS.broken_by("other tables beside it")
    if own.filter != wanted.filter:
        yield laws.UNIT_IS_THE_POLICYS.broken_by("another filter")
    if own.law.rate != wanted.law.rate:
        yield laws.RATE_IS_THE_POLICYS.broken_by(f"sampling at {float(own.law.rate):.12g}")
    if own.law.k != wanted.law.k:
        yield laws.THRESHOLD_IS_THE_POLICYS.broken_by(f"{own.law.k}")
    names = [(*(shown.name for shown in claim.columns), claim.count) for claim in (own, wanted)]
    if names[0] != names[1]:
        yield laws.COLUMNS_ARE_THE_POLICYS.broken_by(", ".join(map(str, names[0])))
    recodes = {shown.name: shown for shown in wanted.columns}
    for shown in own.columns:
        other = recodes.get(shown.name)
        if other is not None and shown != other:
            yield laws.RECODINGS_ARE_THE_POLICYS.broken_by(f"{shown.name}: {words(shown)}")
            return
