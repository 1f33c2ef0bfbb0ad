"""ledger publish, and what verify asks an outside witness: heads, and their time stamps."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, confirm
from policy_engine.cli.reading import project_here
from policy_engine.errors import NothingChecked, UsageError
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.ledger.chain import Record
    from policy_engine.ledger.outside import OutsideWitness, Sighting


def publish(
    witness: Annotated[
        str | None,
        typer.Argument(
            help="file:PATH, git:REPOSITORY or git:REPOSITORY#NAME; default: the project's."
        ),
    ] = None,
    tsa: Annotated[
        str | None,
        typer.Option("--tsa", help="The address of an RFC 3161 time stamp authority."),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Publish where the ledger ends, to a place that whoever holds its keys cannot rewrite.

    The ledger is verified first, and must go through every head that is there already. The place
    learns the number of records, a hash and the time; the time stamp authority a hash. The ledger
    is not changed. 'ledger verify --witness' compares. Without WITNESS it goes to each place that
    'witnesses' in the project file names.

    Example: policy-engine ledger publish git:git@example.org:audit/heads.git
    """
    from policy_engine.attest.validity import written
    from policy_engine.ledger.outside import Sighting, check_sightings, outside_witness
    from policy_engine.ledger.stamps import stamp_of
    from policy_engine.releasing.books import open_ledger

    project = project_here()
    places = [outside_witness(each) for each in ([witness] if witness else project.witnesses)]
    if not places:
        raise UsageError("name a place, file:PATH or git:REPOSITORY, or 'witnesses' in the project")
    with open_ledger(project) as opened:
        head = opened.verify()
        records = opened.records()
    documents, lines = [], []
    for place in places:
        known = place.sightings()
        check_sightings(place, known, records, project.ledger_name)
        is_known = any(each.head == head for each in known)
        stamp = stamp_of(head, tsa) if tsa is not None and not is_known else b""
        if not is_known:
            place.note(Sighting(head, written(datetime.now(UTC)), stamp))
        documents.append({"witness": place.where, "records": head.records, "head": head.hash,
                          "published": not is_known, "stamped": bool(stamp)})  # fmt: skip
        text = "has this head already" if is_known else "published"
        stamped = ", with a time stamp" if stamp else ""
        lines.append(f"{place.where}: {text}{stamped}, head {head.records}:{head.hash}")
    confirm(documents[0] if witness else {"witnesses": documents}, lines, format)


def witnessed(
    witness: str, records: tuple[Record, ...], name: str, roots: Path | None
) -> tuple[dict[str, Any], str]:
    """What a witness says of a ledger that goes through all its heads, as a document and a line.

    Raises LedgerBroken where the ledger does not, or a stamp does not hold; NothingChecked where
    the witness has no head.
    """
    from policy_engine.ledger.outside import check_sightings, outside_witness

    place = outside_witness(witness)
    found = place.sightings()
    if not found:
        raise NothingChecked(
            f"{place.where} has no head: 'policy-engine ledger publish' has published none there,"
            " or they were removed"
        )
    check_sightings(place, found, records, name)
    last, stamps = found[-1], _stamps(found, roots)
    document = {
        "witness": place.where,
        "heads": len(found),
        "records": last.head.records,
        "published_at": last.at,
        "stamped_at": stamps,
        "stamps_not_checked": 0 if roots else sum(bool(each.stamp) for each in found),
    }
    unchecked = document["stamps_not_checked"]
    is_asked = roots is not None
    return document, _line(place, found, stamps, len(records), unchecked, asked=is_asked)


def _stamps(found: tuple[Sighting, ...], roots: Path | None) -> dict[str, str]:
    """When an authority saw each head that has a stamp, by the head's number of records."""
    if roots is None:
        return {}
    from policy_engine.attest.validity import written
    from policy_engine.ledger.stamps import read_roots, stamped_at

    trusted = read_roots(roots)
    return {
        str(each.head.records): written(stamped_at(each.stamp, each.head, trusted))
        for each in found
        if each.stamp
    }


def _line(
    place: OutsideWitness,
    found: tuple[Sighting, ...],
    stamps: dict[str, str],
    records: int,
    unchecked: Any,
    *,
    asked: bool,
) -> str:
    last = found[-1]
    text = (
        f"{place.where}: the ledger goes through {counted(len(found), 'head')} that it saw, the"
        f" last of record {last.head.records}, published at {last.at}"
    )
    if stamps:
        number, at = [*stamps.items()][-1]
        text += f"; time stamps that hold: {len(stamps)}, the last of record {number}, of {at}"
    elif asked:
        text += "; none of them has a time stamp"
    if unchecked:
        text += f"; {counted(unchecked, 'time stamp')} not looked at: name --tsa-root"
    after = records - last.head.records
    return text + (f"; nobody outside has seen the {counted(after, 'record')} since" * bool(after))
