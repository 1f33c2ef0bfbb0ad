"""Checking a release and its certificate from the files alone.

Neither the source nor a warehouse is needed: the signature is checked first, then the
numbers, then the SQL is proved again, and then the release itself is looked at.
"""

from __future__ import annotations

from pathlib import Path

from policy_engine.attest.attestation import Statement, open_envelope
from policy_engine.attest.enforcing import check_models
from policy_engine.attest.exported import HOW, TableRows, check_export, check_table
from policy_engine.attest.facts import ENVELOPE, Facts, read_facts
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.numbers import check_numbers
from policy_engine.attest.parquet_file import check_bytes
from policy_engine.attest.results import Results, Verified
from policy_engine.attest.rows import check_rows
from policy_engine.attest.stated import check_sql
from policy_engine.attest.tables import read_signed
from policy_engine.errors import UsageError, VerificationFailed
from policy_engine.syntax.names import fold

_NOT_LOOKED_AT = "the release itself was not looked at: name it with --release"
_A_TABLE = "the release is the table {}, which was not looked at: {}"
_SHOWN = ("k", "rate", "epsilon", "delta", "neighbours", "unit")


def verify_release(
    envelope: str, trusted: TrustedKeys, release: Path | str | TableRows | None = None
) -> Verified:
    """Verify the text of a certificate, and with ``release`` the file or table it speaks of.

    Guarantee: a trusted key signed it; δ is below neither what brute force finds nor the
    accountant's bound, [EXACT]; its SQL is the mechanism that it states, with every assumption of
    the proof; and the file is the one that was signed, with the certified columns, groups of at
    least k, in canonical order, and nothing hidden in it. Of a release into a table, ``release``
    is its rows or an export. What was left out is in ``unchecked``; the SQL too, where it is not
    ``is_proved``: no text of an engine other than DuckDB is read, and version 1 has no claim.

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
    checked, proved = check_sql(facts)
    found += checked
    if isinstance(release, TableRows):
        found += check_table(facts, statement.subject_sha256, statement.subject_name, release)
    elif not checked.reasons or proved is not None:
        made = proved.target if proved is not None else None
        found += _check_release(facts, statement, made or "", release)
    elif release is not None:
        found += _check_file(facts, statement, Path(release))
    if found.reasons:
        raise VerificationFailed(found.reasons)
    return Verified(
        subject=statement.subject_name,
        checked=found.checked,
        unchecked=found.unchecked,
        assumptions=tuple(facts["assumptions"]),
        facts={name: facts[name] for name in _SHOWN},
        is_proved=proved is not None,
    )


def _check_release(
    facts: Facts, statement: Statement, made: str, release: Path | str | None
) -> Results:
    """The release, if it was named: a file, or the export of the table that the SQL makes."""
    subject, table = statement.subject_name, _table_of(facts, made)
    if not table and _is_file(subject):
        if release is None:
            return Results((), (), (_NOT_LOOKED_AT,))
        return _check_file(facts, statement, Path(release))
    # Of a dbt model's query dbt makes the table.
    if table and fold(subject) != fold(table):
        return Results.refused(f"the SQL makes the table {table}, certified is {subject}")
    if release is None:
        return Results((), (), (_A_TABLE.format(subject, HOW.format(table=subject)),))
    return check_export(facts, statement.subject_sha256, subject, Path(release))


def _table_of(facts: Facts, made: str) -> str:
    """The table that a release is, without quotes; empty where a file, or dbt's, is made of it.

    In version 1 the certified text says so itself: ``made``.
    """
    envelope = ENVELOPE.fullmatch(facts.get("published_as", ""))
    name = envelope["table"] if envelope else made
    return name.replace('"', "").replace("`", "")


def _is_file(subject: str) -> bool:
    """Whether a certificate is of a file: files are released as Parquet, under their own name."""
    return subject.lower().endswith(".parquet")


def _check_file(facts: Facts, statement: Statement, release: Path) -> Results:
    read = read_signed(release, statement.subject_sha256)
    if isinstance(read, str):
        return Results.refused(read)
    data, table, writer = read
    # A text that the kernel printed names its columns letter by letter: their case hides nothing.
    rows = check_rows(facts, table, fold if facts.get("claim") is None else str)
    found = Results.held(f"{release.name} has the certified SHA-256") + rows
    found += Results() if rows.reasons else check_models(facts, table)
    return found if found.reasons else found + check_bytes(release.name, data, table, writer, facts)
