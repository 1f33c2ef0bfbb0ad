"""ledger publish and verify: the chain, and what an outside witness has seen of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from policy_engine.attest.validity import written
from policy_engine.cli.output import conclude, confirm
from policy_engine.cli.reading import project_here
from policy_engine.errors import LedgerBroken, NothingChecked, UsageError
from policy_engine.ledger import outside
from policy_engine.ledger.chain import GENESIS, Head, Record
from policy_engine.ledger.states import disowned_of
from policy_engine.ledger.witness import Witness
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import counted
from policy_engine.releasing.beginning import certificates_in, forgotten, forgotten_text
from policy_engine.releasing.books import open_ledger, trust_of, trusted_keys

_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


def publish(
    witness: Annotated[
        str | None,
        Argument(help="file:PATH, git:REPOSITORY or git:REPOSITORY#NAME; default: the project's."),
    ] = None,
    tsa: Annotated[
        str | None, Option(help="The address of an RFC 3161 time stamp authority.")
    ] = None,
) -> None:
    """Publish where the ledger ends, to a place that whoever holds its keys cannot rewrite.

    The ledger is verified first, and must go through every head that is there already. The place
    learns the number of records, a hash and the time; the time stamp authority a hash. The ledger
    is not changed. 'ledger verify --witness' compares. Without WITNESS it goes to each place that
    'witnesses' in the project file names.

    Example: policy-engine ledger publish git:git@example.org:audit/heads.git
    """
    project = project_here()
    places = [
        outside.outside_witness(each) for each in ([witness] if witness else project.witnesses)
    ]
    if not places:
        raise UsageError("name a place, file:PATH or git:REPOSITORY, or 'witnesses' in the project")
    with open_ledger(project) as opened:
        head = opened.verify()
        records = opened.records()
    documents, lines = [], []
    for place in places:
        known = place.sightings()
        outside.check_sightings(place, known, records, project.ledger_name)
        is_known = any(each.head == head for each in known)
        stamp = outside.stamp_of(head, tsa) if tsa is not None and not is_known else b""
        if not is_known:
            place.note(outside.Sighting(head, written(datetime.now(UTC)), stamp))
        documents.append({"witness": place.where, "records": head.records, "head": head.hash,
                          "published": not is_known, "stamped": bool(stamp)})  # fmt: skip
        text = "has this head already" if is_known else "published"
        stamped = ", with a time stamp" if stamp else ""
        lines.append(f"{place.where}: {text}{stamped}, head {head.records}:{head.hash}")
    confirm(documents[0] if witness else {"witnesses": documents}, lines)


def verify(
    head: Annotated[
        str | None, Option(help="RECORDS:HASH, as it was printed before, to compare with.")
    ] = None,
    witness: Annotated[
        list[str] | None, Option(help="Where heads were published: file:PATH or git:REPOSITORY.")
    ] = None,
    tsa_root: Annotated[
        Path | None, Option(help="Certificates of time stamp authorities, PEM.")
    ] = None,
) -> None:
    """Check that no record of the ledger was changed, dropped, put elsewhere or forged.

    Exits with 1 where it was, naming the record. A tail that was cut off is found where this
    machine had seen it, by --head, by a --witness (without it, by the 'witnesses' of the project
    file), or by a certificate in the project's folder that no entry was charged for. Where the file
    that says what was seen cannot be read, the chain is checked all the same, and the exit code is
    1 nevertheless. A witness without a head is exit code 4.

    Example: policy-engine ledger verify
    """
    project = project_here()
    name, unseen = project.ledger_name, Witness(project.witness).fault()
    try:
        with open_ledger(project, compared=not unseen) as opened:
            found = opened.verify()
            records = opened.records()
            disowned = disowned_of(records, name)
            if head is not None:
                _compare(head, records, name)
            seen = [
                _witnessed(each, records, name, tsa_root) for each in witness or project.witnesses
            ]
            places, trusted = certificates_in(project.directory), trusted_keys(project)
            missing = forgotten(places, opened.entries(), trusted)
    except LedgerBroken as error:
        conclude({"ledger": name, "intact": False, "error": str(error)}, error.lines, 1)
    revoked = trust_of(project).revoked
    by_revoked = Counter(record.key_id for record in records if record.key_id in revoked)
    reviewed = sum("request_sha256" in record.payload for record in records)
    document = {"ledger": name, "intact": True, "approved": reviewed,
                "records": found.records, "head": found.hash,
                "by_revoked_keys": sum(by_revoked.values()), "not_compared": unseen,
                "not_charged": missing,
                "left_out": [row for each in disowned for row in each.rows],
                "witnesses": [told for told, _ in seen]}  # fmt: skip
    told = counted(found.records, "record")
    lines = [f"{name}: whole and signed, {told}, head {found.records}:{found.hash}"]
    if reviewed:
        lines.append(f"every charge and change that required approvals had them ({reviewed})")
    lines += _by_revoked(project, by_revoked)
    lines += [f"{rows_words(each.rows)} left out, by {each.who}: {each.why}" for each in disowned]
    lines += [line for _, line in seen]
    if unseen:
        lines.append(f"whether its end is missing is not known: {unseen}")
    if missing:
        lines.append(forgotten_text(missing))
    conclude(document, lines, 1 if unseen or missing else 0)


def rows_words(rows: tuple[int, ...]) -> str:
    """Rows of a ledger at the beginning of a sentence."""
    return f"row {rows[0]} is" if len(rows) == 1 else f"rows {rows[0]} to {rows[-1]} are"


def _compare(head: str, records: tuple[Record, ...], name: str) -> None:
    """LedgerBroken where the ledger does not go through a head that was kept elsewhere."""
    told = _HEAD.fullmatch(head)
    if told is None:
        law = "--head must be RECORDS:HASH, as 'ledger verify' prints it"
        raise UsageError(f"{law}, found {head[:100]!a}")
    wanted = Head(int(told[1]), told[2])
    if wanted != Head(0, GENESIS):
        outside.check_head(wanted, records, name)


def _by_revoked(project: Project, revoked: Counter[str]) -> Iterator[str]:
    """What to say of the records of keys that were revoked later."""
    noted = trust_of(project).ends
    words = {
        True: "they stood here when the keyring noted where the ledger ended",
        False: "they state a time before that, which whoever has such a key can do too; compare the"
        " head with one from before",
    }
    for is_noted, why in words.items():
        names = [name for name in revoked if (name in noted) == is_noted]
        if names:
            count, keys = sum(revoked[name] for name in names), ", ".join(n[:8] for n in names)
            yield f"{count} of them are signed by keys that were revoked later ({keys}): {why}"


def _witnessed(
    witness: str, records: tuple[Record, ...], name: str, roots: Path | None
) -> tuple[dict[str, Any], str]:
    """What a witness says of a ledger that goes through all its heads, as a document and a line.

    Raises LedgerBroken where the ledger does not, or a stamp does not hold; NothingChecked where
    the witness has no head.
    """
    place = outside.outside_witness(witness)
    found = place.sightings()
    if not found:
        raise NothingChecked(
            f"{place.where} has no head: 'policy-engine ledger publish' has published none there,"
            " or they were removed"
        )
    outside.check_sightings(place, found, records, name)
    stamped, stamps = [each for each in found if each.stamp], dict[str, str]()
    if roots is not None:
        trusted = outside.read_roots(roots)
        for each in stamped:
            stamps[str(each.head.records)] = written(
                outside.stamped_at(each.stamp, each.head, trusted)
            )
    last, unchecked = found[-1], 0 if roots else len(stamped)
    document = {"witness": place.where, "heads": len(found), "records": last.head.records,
                "published_at": last.at, "stamped_at": stamps,
                "stamps_not_checked": unchecked}  # fmt: skip
    text = (
        f"{place.where}: the ledger goes through {counted(len(found), 'head')} that it saw, the"
        f" last of record {last.head.records}, published at {last.at}"
    )
    if stamps:
        number, at = [*stamps.items()][-1]
        text += f"; time stamps that hold: {len(stamps)}, the last of record {number}, of {at}"
    elif roots is not None:
        text += "; none of them has a time stamp"
    if unchecked:
        text += f"; {counted(unchecked, 'time stamp')} not looked at: name --tsa-root"
    after = counted(len(records) - last.head.records, "record")
    return document, text + (
        f"; nobody outside has seen the {after} since" * (len(records) > last.head.records)
    )
