"""Checking a release and its certificate from the files alone.

Neither the source nor a warehouse is needed: the signature is checked first, then the
numbers, then the SQL is printed again, and then the release itself is looked at.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from pathlib import Path

from policy_engine.accounting.domain import nonnegative_epsilon, sampling_rate
from policy_engine.accounting.in_words import in_text
from policy_engine.attest.attestation import PREDICATE_TYPE, Statement, open_envelope
from policy_engine.attest.certificates import ENVELOPE, certificate_in
from policy_engine.attest.enforcing import check_models
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import check_bytes, read_signed, record_of_file
from policy_engine.attest.results import Results, Verified
from policy_engine.attest.rows import (
    TableRows,
    check_classes,
    check_export,
    check_rows,
    check_table,
    how_to_export,
)
from policy_engine.attest.stated import check_sql
from policy_engine.attest.validity import moment
from policy_engine.errors import DomainError, UsageError, VerificationFailed
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms.checks import recomputed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.sentences import sentences_of
from policy_engine.names import fold

UNPROMISED = (
    "that the SQL ran on the source, and what it left out, which no release tells",
    "any (ε, δ): there is none",
)
NOT_BY_BRUTE_FORCE = (
    "δ by brute force: these cells are too large to sum; its δ is the accountant's word alone"
)
NOT_ALL_PAIRS = (
    "δ by brute force for all pairs of cells: {sizes} were summed; for the others its δ is the"
    " accountant's word alone"
)
CLOCK_SKEW = timedelta(minutes=10)
"""So much may two clocks differ."""
_NOT_LOOKED_AT = "the release itself was not looked at: name it with --release"
_A_TABLE = "the release is the table {}, which was not looked at: {}"


def verify_release(
    envelope: str,
    trusted: TrustedKeys,
    release: Path | str | TableRows | None = None,
    kind: str = PREDICATE_TYPE,
) -> Verified:
    """Verify a certificate, and its release if you pass one. You do not need the source.

    Guarantee: if the call returns, all of this holds:

    * A trusted key signed the certificate.
    * If the certificate promises (ε, δ), its δ is at least the true δ. A second computation by
      brute force confirms this, except where ``unchecked`` of the result says otherwise.
    * The SQL is exactly what the program prints for the certificate's claim. The certificate states
      every assumption that this SQL needs.
    * If you pass ``release``, it is exactly the file or table that was signed. It has the certified
      columns, no count that is too small, the fixed order, and nothing else.

    Arguments:
        ``envelope``: the text of the certificate, not its path.
        ``trusted``: the keys whose signatures count.
        ``release``: the file of the release. For a table, its rows or an export. Without
            ``release`` only the certificate is verified.
        ``kind``: the type of the signed statement. For a release without (ε, δ), pass
            ``UNPROMISED_TYPE`` of ``policy_engine.attest.attestation``.

    Returns: a ``Verified``. Read its field ``unchecked``, which lists what was not checked.

    Raises:
        UsageError: ``envelope`` is a path.
        VerificationFailed: a check failed. ``reasons`` lists all failed checks. An unknown
            mechanism, version or field also fails.
        FileError: the release cannot be read.
    """
    if not isinstance(envelope, str) or envelope.strip().endswith(".json"):
        raise UsageError("verify takes the text of a certificate: Path(…).read_text()")
    statement = open_envelope(envelope, trusted, kind)
    certificate = certificate_in(statement)
    found = Results.held(f"signed by {statement.key_id}") + _check_time(certificate)
    found += check_numbers(certificate) + check_sql(certificate)
    if isinstance(release, TableRows):
        found += check_table(certificate, statement.subject_sha256, statement.subject_name, release)
    else:
        found += _check_release(certificate, statement, release)
    if not isinstance(certificate.promise, Bounded):
        found += Results((), (), UNPROMISED)
    if found.reasons:
        raise VerificationFailed(found.reasons)
    return Verified(
        subject=statement.subject_name,
        checked=found.checked,
        unchecked=found.unchecked,
        assumptions=sentences_of(certificate.assumptions),
        certificate=certificate,
        is_recomputed=found.is_recomputed,
    )


def _check_time(certificate: Certificate) -> Results:
    """Nothing was certified at a time that is still to come."""
    time = moment(certificate.time)
    assert time is not None  # by the form of the field
    if time > datetime.now(UTC) + CLOCK_SKEW:
        return Results.refused(
            f"the certificate's time, {certificate.time}, is still to come: its clock or this one"
            " is wrong"
        )
    return Results()


def _check_release(
    certificate: Certificate, statement: Statement, release: Path | str | None
) -> Results:
    """The release, if it was named: a file, or the export of the table that the SQL makes."""
    subject = statement.subject_name
    # The table that a release is; empty where a file, or dbt's, is made of it.
    envelope = ENVELOPE.fullmatch(certificate.terms.published_as)
    named = (envelope["table"] or envelope["into"]) if envelope else ""
    table = named.replace('"', "").replace("`", "")
    # Files are released as Parquet, under their own name.
    if not table and subject.lower().endswith(".parquet"):
        if release is None:
            return Results((), (), (_NOT_LOOKED_AT,))
        return _check_file(certificate, statement, Path(release))
    # Of a dbt model's query dbt makes the table.
    if table and fold(subject) != fold(table):
        return Results.refused(f"the SQL makes the table {table}, certified is {subject}")
    if release is None:
        return Results((), (), (_A_TABLE.format(subject, how_to_export(certificate, subject)),))
    return check_export(certificate, statement.subject_sha256, subject, Path(release))


def _check_file(certificate: Certificate, statement: Statement, release: Path) -> Results:
    read = read_signed(release, statement.subject_sha256)
    if isinstance(read, str):
        return Results.refused(read)
    data, table, writer = read
    rows = check_rows(certificate, table)
    found = Results.held(f"{release.name} has the signed SHA-256") + rows
    if not rows.reasons:
        found += check_classes(certificate.claim, table) + check_models(certificate, table)
    if found.reasons:
        return found
    record = record_of_file(statement.predicate, statement.subject_name)
    return found + check_bytes(release.name, data, table, writer, record)


# The numbers, by two routes: the accountant's and brute force


def check_numbers(certificate: Certificate) -> Results:
    """δ at ε must be below neither what brute force finds nor the accountant's bound."""
    promise, claim = certificate.promise, certificate.claim
    if not isinstance(promise, Bounded):
        return Results()
    stated = promise.delta
    try:
        if not 0 <= stated <= 1 or (not stated and not claim.law.is_pure):
            raise DomainError("delta", "a number above 0, at most 1", stated)
        least = _least(claim, promise)
    except (ClaimError, DomainError) as error:
        named = error.parameter if isinstance(error, DomainError) else "claim"
        return Results.refused(f"the numbers are outside the formula's domain: {named}")
    shown = f"δ = {in_text(stated)} at ε = {promise.epsilon:f}, k = {certificate.k}"
    with_rate = f"{shown}, rate {promise.rate:f}"
    if stated < least:
        return Results.refused(f"{with_rate}: the true δ is {in_text(least)}")
    tag, found = claim.law.source_tag, recomputed(claim, promise)
    if found is None:
        return Results((f"{shown}: recomputed {tag}",), (), (NOT_BY_BRUTE_FORCE,), False)
    with localcontext(prec=60):
        least = found.delta * (1 - found.error)
    if stated < least:
        return Results.refused(f"{with_rate}: by brute force δ is {least:.11E}")
    left = () if found.whole else (NOT_ALL_PAIRS.format(sizes=found.sizes),)
    told = f"{shown}: recomputed {tag}, by brute force: {found.sizes}"
    return Results((told,), (), left, found.whole)


def _least(claim: Claim, promise: Bounded) -> Decimal:
    """The accountant's δ."""
    epsilon = nonnegative_epsilon(promise.epsilon)
    rate = sampling_rate(promise.rate) if claim.law.is_sample else Decimal(1)
    return claim.delta(rate, epsilon, promise.neighbours)
