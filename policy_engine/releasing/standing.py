"""What stands in a release's place, and what became of a release whose run is no more.

The ledger's record decides, and what exists:

| its entry | its release stands | it does not |
|---|---|---|
| reserved: never started | cancelled | cancelled: nothing ran, and now nothing can |
| started: nothing was drawn | | kept: nothing was seen; ``release`` draws it once more, if it may |
| started: it was drawn | committed | kept: ``release`` puts those bytes there, while they exist |

What is kept is not promised anything where a later entry of the same release goes before it.

``look`` asks what stands, and writes nothing; ``mend`` finishes or undoes what a run left first.
Its rows have a digest, a size, and remarks on what they show that the author may not have meant,
which are post-processing, and free.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.attest.attestation import open_envelope, type_of_release
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.attest.signers import writer_of
from policy_engine.errors import VerificationFailed, WarehouseError
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.recodes.meaning import UNNAMED
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.words import people_word
from policy_engine.ledger.entry import MOST_ATTEMPTS, Entry, Run
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show
from policy_engine.releasing import copies
from policy_engine.releasing.books import has_ledger, open_ledger, trusted_keys
from policy_engine.releasing.publish import (
    aside_text,
    file_digest,
    record_in,
    recover,
    recover_table,
)
from policy_engine.releasing.requests import Ends
from policy_engine.releasing.reviewing import line_of
from policy_engine.values import frozen
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import connected

if TYPE_CHECKING:
    import pyarrow as pa

Lines = Iterable[tuple[Any, ...]]
_SLICE = 1000
_MANY = 20
"""Per cent of the people shown: of so many without a value it is said, for nobody may mean it."""
_NOT_READ = (
    "if the source has values there, they were not read, or no group of them is large enough; see"
    " source.columns and source.csv"
)
_NULL = "{} is NULL in every row that is shown: {}"
_PARTLY = "{} % of the {} shown{} have no value in {}: {}"
_ALIKE = "{} has the same value in every row that is shown, and tells no two groups apart"
_OTHER = (
    "{} is {} in every row that is shown. This label stands for every value that the column's map"
    " or hierarchy does not name: see whether the names are written as the source's values are"
)
NOT_STARTED = "it was never started, so nothing ran"
_SAME = "the same command without --revise"
NOT_DRAWN = (
    f"nothing came out that anybody could have seen: {_SAME} draws it, at no cost, if the policy,"
    " the source's columns and the version of policy-engine are as they were"
)
_WHILE_IT_LASTS = ", and while the period of its edition lasts"
SPENT = f"it had its {MOST_ATTEMPTS} attempts: {_SAME} says how to draw anew, at a new price"
NOT_THERE = (
    f"it was drawn and does not stand: {_SAME} puts it there, while its bytes are kept and the"
    " policy is as it was"
)
SUPERSEDED = (
    "it stays charged, and nothing comes of it while anything is left of entry {}, which was"
    " charged after it for the same release"
)


@frozen
class Settled:
    """What became of an entry, and why."""

    entry: Entry
    outcome: Literal["committed", "cancelled", "kept"]
    why: str


Digest = Callable[[Run], str | None]
"""The digest of the rows of a run's table; None where that does not stand."""


def reconcile(project: Project) -> tuple[Settled, ...]:
    """Settle each open entry of a project's ledger: commit it, give it back, or keep it as spent.

    An entry of a release that runs just now may be settled too: one that was not started is given
    back, and its run stops before it draws; one that was started stays charged.

    Raises:
        LedgerError: the ledger fails or does not hold.
        WarehouseError: a release is a table, and the warehouse that would have it cannot be asked.
    """
    if not has_ledger(project):
        return ()
    open_ledger(project).close()  # one that is not here is told before a key is made
    signer = writer_of(project)
    with open_ledger(project, signer) as ledger:
        ledger.verify()
        trusted = trusted_keys(project, signer)
        found = [
            entry for entry in ledger.read().budget.entries() if entry.is_open and entry.run.of
        ]
        # The last first: what becomes of it decides what can become of those before it.
        settled = [settle(ledger, entry, project, trusted) for entry in reversed(found)]
        return tuple(reversed(settled))


def settle(ledger: Ledger, entry: Entry, project: Project, trusted: TrustedKeys) -> Settled:
    """Settle an open entry by what exists; finish or undo what its run left in the file system."""
    if entry.state == "reserved":
        return Settled(ledger.cancel(entry.id, NOT_STARTED), "cancelled", NOT_STARTED)
    digest = entry.only_digest
    if digest is None:
        why = _why_kept(ledger, entry)
        place = entry.request
        copies.tidy_left(project, place, ledger.read().budget.recorded_at(place))
        return Settled(ledger.keep(entry.id, why), "kept", why)
    run = entry.run
    if mend(run, Ends.of_run(run, project.directory), table_of(project), trusted) != digest:
        why = _why_kept(ledger, entry)
        return Settled(ledger.keep(entry.id, why), "kept", why)
    ends, is_table = Ends.of_run(run, project.directory), not run.is_file
    certificate, place = ends.certificate_path, entry.request
    copy = copies.copy_of(project, place, certificate, digest, is_table=is_table)
    if copy is not None:
        copies.keep(copy, certificate, digest, project.copies_most)
    committed = ledger.commit(entry.id, release_name=run.target, release_digest=digest)
    copies.discard(project, place, digest)
    return Settled(committed, "committed", "its release stands with its certificate")


def _why_kept(ledger: Ledger, entry: Entry) -> str:
    """Why an entry stays charged of which nothing stands, and what can still come of it."""
    places = ledger.read().budget.at(entry.request)
    later = next((each for each in reversed(places) if _goes_before(each, entry)), None)
    if later is not None:
        return SUPERSEDED.format(later.id)
    if entry.only_digest is not None:
        return NOT_THERE
    if not entry.can_draw:
        return SPENT
    edition = _edition_of(entry)
    is_refresh = "zone" in edition and "rows" not in edition
    return NOT_DRAWN + (_WHILE_IT_LASTS if is_refresh else "")


def _goes_before(later: Entry, entry: Entry) -> bool:
    """Whether ``release`` goes on with a later entry of the same place, as long as it can."""
    if later.id <= entry.id or is_nothing_here(later):
        return False
    goes_on = later.only_digest is not None or later.can_draw
    return goes_on and is_of(later, entry.policy_digest, by_calendar="zone" in _edition_of(later))


def is_of(entry: Entry, policy_digest: str, *, by_calendar: bool) -> bool:
    """Whether an entry is of a policy as it is.

    What was drawn of a calendar's edition stands, however the policy was changed since.
    """
    is_drawn = by_calendar and entry.only_digest is not None
    return is_drawn or entry.policy_digest == policy_digest


def is_nothing_here(entry: Entry) -> bool:
    """Whether nothing of an entry can ever stand: it was given back, or lacks its approvals."""
    return entry.state == "cancelled" or (entry.state == "kept" and entry.is_out)


def _edition_of(entry: Entry) -> Mapping[str, object]:
    """What the certificate of an entry says of its edition; empty where it names none."""
    told = entry.run.predicate.get("edition")
    return told if isinstance(told, dict) else {}


def table_of(project: Project) -> Digest:
    """Asks the warehouse of a project for the digests of its tables."""

    def digest(run: Run) -> str | None:
        named = project.warehouse
        if named.type == "duckdb" and named.database is None:
            sought = f"warehouse {named.name} has no database to look for {run.target} in"
            raise WarehouseError(sought)
        with closing(connected(named)) as warehouse:
            return digest_of_table(warehouse, run)

    return digest


def look(run: Run, ends: Ends, of_table: Digest, trusted: TrustedKeys) -> str | None:
    """The digest of the release of a run, if it stands with its certificate; None if not."""
    path, certificate = ends.path, ends.certificate_path
    if path is None:
        digest = of_table(run)
    else:
        digest = file_digest(path) if path.is_file() and certificate.is_file() else None
    return digest if digest and _certified(run, certificate, trusted) == digest else None


def mend(run: Run, ends: Ends, of_table: Digest, trusted: TrustedKeys) -> str | None:
    """The same, once what the run left aside is put in place or taken away."""
    if ends.path is not None:
        recover(ends.path, run.mark)
    found = look(run, ends, of_table, trusted)
    if ends.path is None:
        recover_table(ends.certificate_path, run.mark, stands=found is not None)
    return found


def certifies(run: Run, certificate: Path, trusted: TrustedKeys) -> bool:
    """Whether a certificate, signed by a trusted key, is of this run, whatever became of it."""
    return certificate.is_file() and bool(_certified(run, certificate, trusted))


def _certified(run: Run, certificate: Path, trusted: TrustedKeys) -> str:
    """The digest that a certificate of this run states, put in place or aside; else empty."""
    return certified_digest(run, aside_text(certificate, run.mark), trusted)


def certified_digest(run: Run, text: str, trusted: TrustedKeys) -> str:
    """The digest that a certificate of this run states, signed by a trusted key; else empty."""
    try:
        statement = open_envelope(text, trusted, type_of_release(run.predicate))
    except VerificationFailed:
        return ""
    return statement.subject_sha256 if predicate_digest(statement.predicate) == run.digest else ""


@frozen
class Size:
    """How large a release is: groups, rows, and what the counts of its groups add up to.

    ``person_groups`` has each person as often as groups count them. ``remarks`` say what else its
    rows show.
    """

    groups: int
    rows: int
    person_groups: int
    remarks: tuple[str, ...] = ()


def digest_of_table(warehouse: Warehouse, run: Run) -> str | None:
    """The digest of a table's rows, if it stands and its comment names the facts of the run.

    Of a table of several editions that of the rows of one: its comment names no facts.
    """
    target = warehouse.target(run.target)
    if not warehouse.exists(target):
        return None
    facts = "" if run.appended else run.digest
    if record_in(warehouse.comment(target)).get("facts") != facts:
        return None
    return digest_of_lines(warehouse.release_lines(target, run.appended))[0]


def digest_of_lines(lines: Lines) -> tuple[str, Size]:
    """SHA-256 of a release's rows as JSON lines, and how many there are, where each is a person.

    The rows are sorted, so equal ones stand together.
    """
    digest, groups, rows, last = hashlib.sha256(), 0, 0, None
    for line in lines:
        text = line_of(line)
        digest.update(text.encode() + b"\n")
        groups, rows, last = groups + (text != last), rows + 1, text
    return digest.hexdigest(), Size(groups, rows, rows)


def size_by(lines: Lines, certificate: Certificate) -> Size:
    """The size of a release by its certificate; of several groupings that shows most that counts.

    The rows are sorted, so equal ones stand together.
    """
    is_counted = certificate.count is not None
    place, is_grouped = len(certificate.claim.released), bool(certificate.claim.law.groupings)
    groups, rows, last = 0, 0, None
    people: Counter[Any] = Counter()
    for line in lines:
        groups, rows, last = groups + (line != last), rows + 1, line
        people[line[0] if is_grouped else None] += int(line[place]) if is_counted else 1
    return Size(groups, rows, max(people.values(), default=0))


def remarks_of(lines: Lines, policy: Policy) -> tuple[str, ...]:
    """What of a policy's release lacks many values, or has one value in all rows."""
    # What a grouping leaves out is NULL in its rows; by chance some values are missing.
    if policy.groupings or policy.is_by_chance:
        return ()
    columns = [None if not how.reads else name for name, how in policy.recodings]
    known = ((name, recode_meaning(how)) for name, how in policy.recodings)
    others = {name: how.shows(UNNAMED) for name, how in known if how.looks_up}
    who, counted = people_word(policy.groups_a_person), policy.release.form == "counts"
    return remarks(columns, lines, counted=counted, others=others, who=who)


def nobody(certificate: Certificate) -> str:
    """That a release shows no group: by its rows alone nobody can tell which cause it has."""
    meaning = meaning_of(certificate.claim)
    size, why = max(meaning.visible(certificate).values(), default=0), "chance has left all out"
    if size:
        why = f"each group has fewer than about {size:,} people; coarser recodes make larger groups"
    if certificate.terms.models:
        why += "; or the groups lack what the models ask for"
    return (
        f"it shows nobody: either no rows are there that count (has the data arrived?), or {why}."
        " It is a release all the same, and it is paid for"
    )


def remarks_read(certificate: Certificate, names: tuple[str, ...], lines: Lines) -> tuple[str, ...]:
    """What its author may not have meant, as far as a release tells it without its policy.

    That it shows nobody, and the columns that lack values in many people: nothing of these where
    rows are not as they should be, and of public values, of which some are missing by chance.
    """
    meaning = meaning_of(certificate.claim)
    found, count = list(lines), meaning.count
    if not found:
        return (nobody(certificate),)
    # What a grouping leaves out is NULL in its rows.
    if meaning.by_chance or meaning.claim.law.groupings or (count and count not in names):
        return ()
    place = names.index(count) if count is not None else len(names)
    if not all(len(line) == len(names) for line in found):
        return ()
    is_counted = count is not None
    # A table's numbers are texts.
    if is_counted and not all(str(line[place]).isdecimal() for line in found):
        return ()
    who = people_word(meaning.claim.unit.groups)
    return remarks(names[:place], found, counted=is_counted, of_alike=False, who=who)


def remarks(
    columns: Sequence[str | None],
    lines: Lines,
    *,
    counted: bool,
    of_alike: bool = True,
    others: Mapping[str, str | None] = MappingProxyType({}),
    who: str = "people",
) -> tuple[str, ...]:
    """A sentence for every column that lacks many values, or has one value in all rows.

    ``columns`` name the fields of ``lines``, from the first on; None for one that is constant by
    the policy. ``counted``: the field behind them counts people, ``who`` are these where a person
    counts in several groups; else each line is one person.
    Without ``of_alike`` it is of values that lack alone, which needs nothing of the policy.
    ``others`` are what stands for every value that a column's map does not name.

    >>> remarks(["age", "sex"], [(None, "f", 5), (None, "m", 7)], counted=True)[0].partition(":")[0]
    'age is NULL in every row that is shown'
    >>> remarks(["pay"], [("<30", 5), (None, 7)], counted=True)[0].partition(":")[0]
    '58 % of the people shown have no value in pay'
    >>> who = "people, group by group"
    >>> remarks(["pay"], [("<30", 5), (None, 7)], counted=True, who=who)[0].partition(":")[0]
    '58 % of the people shown, counted group by group, have no value in pay'
    >>> remarks(["pay"], [(None, 8), ("<30", -5)], counted=True)  # by noise more than everybody
    ()
    >>> remarks(["age", "sex"], [("<30", "f"), ("<30", "m")], counted=False)[0].partition(",")[0]
    'age has the same value in every row that is shown'
    >>> remarks(["zip"], [("*", 5)], counted=True, others={"zip": "*"})[0].partition(".")[0]
    "zip is '*' in every row that is shown"
    """
    width = len(columns)
    people, without, alike, first = 0, [0] * width, set(range(width)), None
    for line in lines:
        first = line if first is None else first
        count = int(line[width]) if counted else 1
        people += count
        for place in range(width):
            if line[place] is None:
                without[place] += count
        alike = {place for place in alike if line[place] == first[place]}
    named = [(place, column) for place, column in enumerate(columns) if column is not None]
    told = []
    for place, column in named:
        # Counts with noise can be below 0: of so few people no share is told.
        share = 100 * without[place] // people if people > 0 else 0
        if people and without[place] == people:
            told.append(_NULL.format(column, _NOT_READ))
        elif _MANY <= share <= 100:
            shown, _, in_groups = who.partition(", ")  # who counts in several is there as often
            often = f", counted {in_groups}," if in_groups else ""
            told.append(_PARTLY.format(share, shown, often, column, _NOT_READ))
        elif first is not None and of_alike and place in alike:
            is_other = others.get(column) is not None and first[place] == others[column]
            told.append((_OTHER if is_other else _ALIKE).format(column, show(first[place])))
    return tuple(told)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether Python holds every value of a type, and tells it from every other."""
    import pyarrow as pa

    return any(
        is_such(kind) for is_such in (pa.types.is_string, pa.types.is_integer, pa.types.is_decimal)
    )


def numbered(rows: pa.Table, count: str | None) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, a number for each value: Python cannot hold every value of an engine.

    Texts, exact numbers and the column ``count`` are as they are.

    >>> import pyarrow as pa
    >>> list(numbered(pa.table({"a": [.5, None, .5], "b": ["x", "y", "x"], "n": [7, 5, 4]}), "n"))
    [(0, 'x', 7), (None, 'y', 5), (0, 'x', 4)]
    """
    whole = [column.combine_chunks() for column in rows.columns]
    columns = [
        # To number is to import what computes, which takes longer than a small release.
        each if name == count or _is_plain(each.type) else each.dictionary_encode().indices
        for name, each in zip(rows.column_names, whole, strict=True)
    ]
    for start in range(0, rows.num_rows, _SLICE):
        yield from zip(*(each.slice(start, _SLICE).to_pylist() for each in columns), strict=True)
