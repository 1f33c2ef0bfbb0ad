"""How a project's ledger begins: explicitly, or by a first release where nothing is older than it.

A new ledger has spent nothing, so it may not take the place of one that is only somewhere else, or
lost. Whoever writes begins in one order: what is older is looked for, an empty ledger is made, then
the keys, then the first records are written, then the project file names the first of them. An
empty ledger that is there was made so, and is gone on with: a crash locks nobody out. Certificates
in the project's folder tell of its ledger too: of one that is gone, or has forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from policy_engine.attest import attestation
from policy_engine.attest.keyring import Keyring
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX, predicate_digest
from policy_engine.attest.signers import Signer, writer_of
from policy_engine.errors import LedgerError, NoLedger, UsageError, VerificationFailed
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.records import open_records
from policy_engine.policy.pins import IN_EACH_CHECKOUT, check_can_pin, write_pin
from policy_engine.policy.places import PROJECT_FILE, files_in
from policy_engine.policy.project import Project, default_project
from policy_engine.releasing import books
from policy_engine.releasing.publish import COPIES, content_of
from policy_engine.values import frozen


@frozen
class Older:
    """What is older than a ledger that would begin now: keys, and what only a release leaves."""

    keys: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join((*self.releases, *self.keys))


def older_than(project: Project, places: Iterable[Path] = ()) -> Older:
    """What is older than a ledger that a project would begin now.

    ``places`` are where certificates may stand beside those in the project's folder. Keys alone may
    have been made in advance, or come with a checkout.
    """
    has_keys = bool(Keyring.at(project.keyring).entries)
    keys = (f"{project.keyring} has keys",) if has_keys else ()
    return Older(keys, tuple(_traces(project, places)))


def _traces(project: Project, places: Iterable[Path]) -> Iterator[str]:
    if project.sealing_key.exists() or project.sealing_key.with_suffix(".pub").exists():
        yield f"{project.sealing_key} is there, which the first release makes"
    if project.file is None:
        here = project.directory.resolve()
        for folder in dict.fromkeys((*here.parents, Path.cwd(), *Path.cwd().parents)):
            if folder != here and _is_left(folder):
                name = folder / PROJECT_FILE
                yield f"{folder} has keys or a ledger of a project, and {name} is gone"
    standing = (*filter(is_of_a_release, places), *certificates_in(project.directory))
    found = list({path.resolve(): path for path in standing}.values())
    most = 5
    yield from (f"{path} is the certificate of a release" for path in found[:most])
    if found[most:]:
        yield f"{len(found) - most} more certificates are there"


def _is_left(folder: Path) -> bool:
    """Whether a folder without a project file has what its project kept in the usual places."""
    left = default_project(folder)
    kept = (Path(left.ledger), left.witness, left.keyring, left.sealing_key)
    with suppress(OSError):  # it may not be looked into
        return any(path.exists() for path in kept)
    return False


def check_clean(project: Project, places: Iterable[Path] = ()) -> None:
    """Return where a ledger may begin by itself: it has begun, is there and empty, or has no elder.

    Raises NoLedger.
    """
    if books.has_ledger(project) or books.begins_here(project) is not None:
        return
    older = older_than(project, places)
    # A run beside this one makes the ledger first, and then the keys.
    if str(older) and books.begins_here(project) is None:
        raise _not_by_itself(project, older)


def _not_by_itself(project: Project, older: Older) -> NoLedger:
    if older.releases:
        return books.lost_ledger(project, f"there are older things: {older}")
    return NoLedger(
        f"{project.ledger_name}: there is no ledger here, and {older}: one that kept the charges of"
        " this project may be elsewhere. If so, name its place in 'ledger' of the project file, or"
        " bring it here, and run 'policy-engine join'; if nothing was ever released, 'policy-engine"
        " ledger begin' begins one"
    )


def ledger_writer(
    project: Project, at: datetime | None = None, places: Iterable[Path] = ()
) -> Signer:
    """Who writes a project's ledger, which is there from now on, if only an empty one.

    Whatever refuses it comes before anything is made. ``places`` are as for ``older_than``, ``at``
    as for ``writer_of``.

    Raises LedgerError where the ledger is not here, or no ledger may begin, FileError as it says.
    """
    check_clean(project, places)
    if books.has_ledger(project):
        with books.open_ledger(project) as opened:  # what is not its ledger is told before a key
            opened.read().check()
    else:
        _make_empty(project)
    return writer_of(project, at)


def _make_empty(project: Project) -> None:
    if project.begins != IN_EACH_CHECKOUT:
        check_can_pin(books.file_of(project))
    open_records(project.ledger).close()


@frozen
class Begun:
    """A ledger that is the project's from now on, and how many records it has.

    ``pinned`` is the project file that names it, None where each checkout has its own.
    """

    begins: str
    records: int
    pinned: Path | None


def begin(project: Project, *, anew: bool, say: Callable[[str], None]) -> Begun:
    """Begin the project's ledger, and let the project file name it; one that has begun stays.

    ``anew`` takes the ledger that is there, or a new one, for the project's, whatever was before.
    ``say`` is told what is older, before anything is made.

    Raises NoLedger for what only ``anew`` does, UsageError where the project's ledger is there and
    is to begin anew, FileError where a file cannot be read or written.
    """
    here = books.begins_here(project)
    is_ours = bool(here) and project.pin in ("", here)
    if is_ours and anew:
        raise UsageError(
            f"{project.ledger_name} is the project's ledger, and does not begin anew while it is"
            " there: nothing of what it charged may be forgotten"
        )
    found = Older() if is_ours else older_than(project)
    if not is_ours and project.witness.exists():
        seen = f"{project.witness} has seen another ledger"
        found = replace(found, releases=(seen, *found.releases))
    if not is_ours and project.pin:
        named = f"{project.file} names another ledger"
        found = replace(found, releases=(named, *found.releases))
    if found.releases and not anew:
        raise _not_by_itself(project, found)
    if str(found):
        say(f"this ledger knows nothing of what was spent before, and {found}")
    if anew:
        project.witness.unlink(missing_ok=True)
    if here is None:
        _make_empty(project)
    unpinned = replace(project, begins=IN_EACH_CHECKOUT)
    with books.open_ledger(unpinned, writer_of(project)) as ledger:
        begins = books.pin_of(ledger.begin(anew=anew))
        records = ledger.verify().records
    if project.begins == IN_EACH_CHECKOUT:
        return Begun(begins, records, None)
    write_pin(books.file_of(project), begins, instead=anew)
    return Begun(begins, records, books.file_of(project))


def certificates_in(folder: Path) -> tuple[Path, ...]:
    """The certificates of releases in a folder and below it, whoever signed them.

    Those that are kept come last: of a release that another took the place of there is no other.
    """
    found = filter(is_of_a_release, files_in(folder, (CERTIFICATE_SUFFIX,), COPIES))
    return tuple(sorted(found, key=lambda path: path.parent.name == COPIES))


def is_of_a_release(path: Path) -> bool:
    """Whether a file states that it is the certificate of a release; nothing is verified."""
    return attestation.stated_type(content_of(path)) in attestation.CHARGED_TYPES


def whenever(trusted: TrustedKeys) -> TrustedKeys:
    """The same keys, whatever their dates: a release that is out is charged also after a theft."""
    return TrustedKeys(trusted.by_id)


def forgotten(
    paths: Iterable[Path], entries: Iterable[Entry], trusted: TrustedKeys
) -> tuple[Path, ...]:
    """The certificates, signed by a trusted key, that no entry was charged for: each once.

    Also one of a key that was revoked since, or is past its dates: what it signed was released.
    One is an entry's by its facts and by what was drawn: two draws of one second have the same
    facts, and a copy of a certificate may be signed anew.
    """
    known = {(entry.certificate_digest, entry.only_digest) for entry in entries}
    found: dict[tuple[str, str | None], Path] = {}
    for path in paths:
        digests = certified_digests(path, whenever(trusted))
        if digests is not None and digests not in known:
            found.setdefault(digests, path)
    return tuple(found.values())


def certificates_of(project: Project, *places: Path) -> tuple[Path, ...]:
    """Where certificates of a project's releases stand, ``places`` among them.

    Where there is no project file nothing else is looked for.
    """
    others = () if project.file is None else certificates_in(project.directory)
    return tuple(path.resolve() for path in (*places, *others))


def check_remembers(books: Books, paths: Iterable[Path], trusted: TrustedKeys) -> None:
    """Return if a ledger has charged all that certificates say was released.

    An entry that it knows may have been drawn meanwhile, under the secret that it has.

    Raises LedgerError, of the code ``ledger_forgot``: nothing is drawn or charged on such a ledger.
    """
    if missing := forgotten(paths, books.budget.entries(), trusted):
        text = f"{books.chain.where}: {forgotten_text(missing)}. Nothing was charged"
        raise LedgerError(text, code="ledger_forgot")


def forgotten_text(paths: tuple[Path, ...]) -> str:
    """What certificates tell that no entry was charged for."""
    many = "is the certificate of a release that" if len(paths) == 1 else "are of releases that"
    return (
        f"{', '.join(map(str, paths))} {many} this ledger has not charged: an older copy of the"
        " ledger was put back, or another one was charged. What is missing was spent all the same:"
        " restore the newer ledger; if it is lost for good, 'policy-engine ledger reconcile"
        " --from-certificates' books what the certificates prove"
    )


def certified_digests(path: Path, trusted: TrustedKeys) -> tuple[str, str] | None:
    """The digests of a certificate's facts and of its release; None unless a trusted key signed."""
    try:
        text = content_of(path)
        stated = attestation.stated_type(text)
        kind = stated if stated in attestation.CHARGED_TYPES else attestation.PREDICATE_TYPE
        said = attestation.open_envelope(text, trusted, kind)
    except VerificationFailed:
        return None
    return predicate_digest(said.predicate), said.subject_sha256
