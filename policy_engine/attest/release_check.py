"""Checking a release and its certificate from the files alone.

Neither the source nor a warehouse is needed: the signature is checked first, then the
numbers, then the SQL is proved again, and then the release itself is looked at.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from policy_engine.attest.attestation import Statement, open_envelope
from policy_engine.attest.exported import HOW, check_export
from policy_engine.attest.facts import Facts, read_facts
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.numbers import check_numbers
from policy_engine.attest.parquet_layout import hidden
from policy_engine.attest.results import Results, Verified
from policy_engine.attest.rows import check_rows
from policy_engine.attest.stated import check_sql
from policy_engine.attest.tables import read_parquet
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.relations.shape import ReleaseShape
from policy_engine.syntax.names import fold

_NOT_LOOKED_AT = "the release itself was not looked at: name it with --release"
_A_TABLE = "the release is the table {}, which was not looked at: {}"
_SHOWN = ("k", "rate", "epsilon", "delta", "neighbours", "unit")


def verify_release(
    envelope: str, trusted: TrustedKeys, release: Path | str | None = None
) -> Verified:
    """Verify the text of a certificate, and with ``release`` the file it speaks of.

    Guarantee: a trusted key signed it; δ is below neither what brute force finds nor the
    accountant's bound, [EXACT]; its SQL is the mechanism that it states, with every assumption of
    the proof; and the file is the one that was signed, with the certified columns, groups of at
    least k, in canonical order, and nothing hidden in it. Of a release into a table, ``release``
    is an export. What was left out is in ``unchecked``.

    Raises:
        UsageError: ``envelope`` is the path of a certificate, not its text.
        VerificationFailed: with every reason; an unknown mechanism, version or field is refused.
        FileError: the release cannot be read.
    """
    if not isinstance(envelope, str) or envelope.strip().endswith(".json"):
        raise UsageError("verify takes the text of a certificate: Path(…).read_text()")
    statement = open_envelope(envelope, trusted)
    facts = read_facts(statement)
    found = Results.held(f"signed by {statement.key_id}") + check_numbers(facts)
    proved, shape = check_sql(facts)
    found += proved
    if shape is not None:
        found += _check_release(facts, statement, shape, release)
    elif release is not None:
        found += _check_file(facts, statement, Path(release))
    if found.reasons:
        raise VerificationFailed(found.reasons)
    shown = {name: facts[name] for name in _SHOWN}
    assumptions = tuple(facts["assumptions"])
    return Verified(statement.subject_name, found.checked, found.unchecked, assumptions, shown)


def _check_release(
    facts: Facts, statement: Statement, shape: ReleaseShape, release: Path | str | None
) -> Results:
    """The release, if it was named: a file, or the export of the table that the SQL makes."""
    subject = statement.subject_name
    if shape.target is None and _is_file(subject):
        if release is None:
            return Results((), (), (_NOT_LOOKED_AT,))
        return _check_file(facts, statement, Path(release))
    # The text of a dbt model selects, and dbt makes the table of it.
    if shape.target is not None and fold(subject) != fold(shape.target).replace('"', ""):
        return Results.refused(f"the SQL makes the table {shape.target}, certified is {subject}")
    if release is None:
        return Results((), (), (_A_TABLE.format(subject, HOW.format(table=subject)),))
    return check_export(facts, statement.subject_sha256, subject, Path(release))


def _is_file(subject: str) -> bool:
    """Whether a certificate is of a file: files are released as Parquet, under their own name."""
    return subject.lower().endswith(".parquet")


def _check_file(facts: Facts, statement: Statement, release: Path) -> Results:
    import pyarrow as pa

    try:
        data = release.read_bytes()
    except OSError as error:
        raise FileError(f"{release} could not be read: {error.strerror}") from None
    digest = hashlib.sha256(data).hexdigest()
    if digest != statement.subject_sha256:
        return Results.refused(f"{release.name} is not the release: its SHA-256 is {digest}")
    try:
        table = read_parquet(data)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return Results.refused(f"{release.name} is no Parquet file")
    found = Results.held(f"{release.name} has the certified SHA-256") + check_rows(facts, table)
    if more := hidden(data, facts):
        return found + Results.refused(f"{release.name} holds more than its rows: {more}")
    return found + Results.held("it holds its rows and nothing else")
