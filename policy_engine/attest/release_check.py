"""Checking a release and its certificate from the files alone.

Neither the source nor a warehouse is needed: the signature is checked first, then the
numbers, then the SQL is proved again, and then the release itself is looked at.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from pathlib import Path

from policy_engine.accounting.domain import REPLACE_ONE, decimal, nonnegative_epsilon, sampling_rate
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.in_words import in_text
from policy_engine.attest import brute_force
from policy_engine.attest.attestation import Statement, open_envelope
from policy_engine.attest.brute_product import NoisyNumber, brute_product
from policy_engine.attest.brute_replace import brute_replace
from policy_engine.attest.enforcing import check_models
from policy_engine.attest.facts import ENVELOPE, Facts, claim_of, read_facts
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import check_bytes, read_signed, record_of_file
from policy_engine.attest.results import Results, Verified
from policy_engine.attest.rows import HOW, TableRows, check_export, check_rows, check_table
from policy_engine.attest.stated import check_sql
from policy_engine.attest.validity import moment
from policy_engine.engines.names import fold
from policy_engine.errors import DomainError, UsageError, VerificationFailed
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Clip, Inserted, Noisy, Pure, Randomised
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.kernel.price import delta_of

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
_SHOWN = ("k", "rate", "epsilon", "delta", "neighbours", "unit")


def verify_release(
    envelope: str, trusted: TrustedKeys, release: Path | str | TableRows | None = None
) -> Verified:
    """Verify the text of a certificate, and with ``release`` the file or table it speaks of.

    Guarantee: a trusted key signed it; δ is below neither what brute force finds nor the
    accountant's bound, [EXACT]; its SQL is the mechanism that it states, with all that it assumes;
    and the file is the one that was signed, with the certified columns, groups of at
    least k, in canonical order, and nothing hidden in it. Of a release into a table, ``release``
    is its rows or an export. What was left out is in ``unchecked``.

    Raises:
        UsageError: ``envelope`` is the path of a certificate, not its text.
        VerificationFailed: with every reason; an unknown mechanism, version or field is refused.
        FileError: the release cannot be read.
    """
    if not isinstance(envelope, str) or envelope.strip().endswith(".json"):
        raise UsageError("verify takes the text of a certificate: Path(…).read_text()")
    statement = open_envelope(envelope, trusted)
    facts = read_facts(statement)
    found = Results.held(f"signed by {statement.key_id}") + _check_time(facts)
    found += check_numbers(facts)
    checked, proved = check_sql(facts)
    found += checked
    if isinstance(release, TableRows):
        found += check_table(facts, statement.subject_sha256, statement.subject_name, release)
    elif not checked.reasons or proved is not None:
        found += _check_release(facts, statement, release)
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
        is_recomputed=found.is_recomputed,
    )


def _check_time(facts: Facts) -> Results:
    """Nothing was certified at a time that is still to come."""
    time = moment(facts["time"])
    assert time is not None  # by the form of the fact
    if time > datetime.now(UTC) + CLOCK_SKEW:
        return Results.refused(
            f"the certificate's time, {facts['time']}, is still to come: its clock or this one is"
            " wrong"
        )
    return Results()


def _check_release(facts: Facts, statement: Statement, release: Path | str | None) -> Results:
    """The release, if it was named: a file, or the export of the table that it is."""
    subject = statement.subject_name
    # The table that a release is; empty where a file, or dbt's, is made of it.
    envelope = ENVELOPE.fullmatch(facts["published_as"])
    table = (envelope["table"] if envelope else "").replace('"', "").replace("`", "")
    # Files are released as Parquet, under their own name.
    if not table and subject.lower().endswith(".parquet"):
        if release is None:
            return Results((), (), (_NOT_LOOKED_AT,))
        return _check_file(facts, statement, Path(release))
    # Of a dbt model's query dbt makes the table.
    if table and fold(subject) != fold(table):
        return Results.refused(f"the SQL makes the table {table}, certified is {subject}")
    if release is None:
        return Results((), (), (_A_TABLE.format(subject, HOW.format(table=subject)),))
    return check_export(facts, statement.subject_sha256, subject, Path(release))


def _check_file(facts: Facts, statement: Statement, release: Path) -> Results:
    read = read_signed(release, statement.subject_sha256)
    if isinstance(read, str):
        return Results.refused(read)
    data, table, writer = read
    # A text that the kernel printed names its columns letter by letter: their case hides nothing.
    rows = check_rows(facts, table, str)
    found = Results.held(f"{release.name} has the certified SHA-256") + rows
    found += Results() if rows.reasons else check_models(facts, table)
    if found.reasons:
        return found
    record = record_of_file(statement.predicate, statement.subject_name)
    return found + check_bytes(release.name, data, table, writer, record)


# The numbers, by two routes: the accountant's and brute force


def check_numbers(facts: Facts) -> Results:
    """δ at ε must be below neither what brute force finds nor the accountant's bound."""
    try:
        # Of a sample the facts have the numbers.
        claim = None if facts["mechanism"] == MECHANISM else claim_of(facts)
        stated = decimal("delta", "a number", facts["delta"])
        is_pure = claim is not None and isinstance(claim.law, Pure)
        if not 0 <= stated <= 1 or (not stated and not is_pure):
            raise DomainError("delta", "a number above 0, at most 1", facts["delta"])
        least = _least(facts, claim)
    except DomainError as error:
        return Results.refused(f"the numbers are outside the formula's domain: {error.parameter}")
    shown = f"δ = {in_text(stated)} at ε = {facts['epsilon']}, k = {facts['k']}"
    with_rate = f"{shown}, rate {facts['rate']}"
    if stated < least:
        return Results.refused(f"{with_rate}: the true δ is {in_text(least)}")
    tag, found = facts["source_tag"], recomputed(facts, claim)
    if found is None:
        return Results((f"{shown}: recomputed {tag}",), (), (NOT_BY_BRUTE_FORCE,), False)
    with localcontext(prec=60):
        least = found.delta * (1 - found.error)
    if stated < least:
        return Results.refused(f"{with_rate}: by brute force δ is {least:.11E}")
    left = () if found.whole else (NOT_ALL_PAIRS.format(sizes=found.sizes),)
    told = f"{shown}: recomputed {tag}, by brute force: {found.sizes}"
    return Results((told,), (), left, found.whole)


def _least(facts: Facts, claim: Claim | None) -> Decimal:
    """The accountant's δ."""
    if claim is not None:
        epsilon = decimal("epsilon", "a number", facts["epsilon"])
        return delta_of(claim, Decimal(1), epsilon, facts["neighbours"])
    numbers = (facts["k"], facts["rate"], facts["epsilon"], facts["neighbours"])
    return delta_exact(*numbers).delta


def recomputed(facts: Facts, claim: Claim | None = None) -> brute_force.Recomputed | None:
    """δ by brute force, for numbers that are in the formula's domain."""
    epsilon: Decimal = nonnegative_epsilon(facts["epsilon"])
    replaced = facts["neighbours"] == REPLACE_ONE
    if claim is not None and isinstance(claim.law, Noisy):
        return _recomputed_noise(claim.law, claim.unit.groups, epsilon, replaces=replaced)
    if claim is not None and isinstance(claim.law, Inserted):
        own = claim.law
        return brute_force.brute_presence(own.shown, own.inserted, epsilon, replaces=replaced)
    if claim is not None and isinstance(claim.law, Randomised):
        lists = [(len(each.values), each.share) for each in claim.law.responses]
        return brute_force.brute_answers(lists, epsilon) if replaced else None
    k, rate = int(facts["k"]), sampling_rate(facts["rate"])
    return (brute_replace if replaced else brute_force.brute_delta)(k, rate, epsilon)


def _recomputed_noise(
    law: Noisy, groups: int, epsilon: Decimal, *, replaces: bool
) -> brute_force.Recomputed | None:
    """Of counts of few outcomes each is summed, else their product is bounded."""
    if not law.aggregates:
        tables = [counts.entries for counts, *_ in law.tables for _ in range(groups)]
        is_open = law.table.is_open
        found = brute_force.brute_noise(tables, epsilon, is_open=is_open, replaces=replaces)
        if found is not None:
            return found
    numbers = []
    for counts, *sums in law.tables:
        numbers.append(NoisyNumber(counts.entries, times=groups, is_open=counts.is_open))
        for aggregate, table in zip(law.aggregates, sums, strict=True):
            up, down = _moves(aggregate.clip, replaces=replaces)
            numbers.append(NoisyNumber(table.entries, up, down, groups))
    return brute_product(numbers, epsilon, replaces=replaces)


def _moves(clip: Clip, *, replaces: bool) -> tuple[int, int]:
    """By how many steps one person more moves a sum up and down; or one in another's place."""
    least, most = clip.low - clip.center, clip.high - clip.center
    farthest = max(abs(least), abs(most), most - least if replaces else 0)
    steps = -(-farthest // clip.grain)
    return (steps if most > 0 else 0), (steps if least < 0 else 0)
