"""check and verify: proofs of texts, and of releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, confirm, emit, one_line, shown
from policy_engine.cli.reading import KeyOption, KeyringOption
from policy_engine.errors import (
    Finding,
    NotCertifiable,
    NothingChecked,
    UsageError,
)
from policy_engine.policy.escapes import sql_lines

if TYPE_CHECKING:
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.attest.results import Verified
    from policy_engine.check.answer import Answer
    from policy_engine.cli.reading import Trusted
    from policy_engine.kernel.claim import Claim
    from policy_engine.policy.resolve import Policy
    from policy_engine.relations.shape import ColumnShape, ReleaseShape
    from policy_engine.syntax.schema import Schema

CertificateArgument = Annotated[
    Path, typer.Argument(help="A certificate: a DSSE envelope.", readable=False)
]
ReleaseOption = Annotated[Path | None, typer.Option(help="The release it speaks of.")]
PolicyOption = Annotated[Path | None, typer.Option(help="Compare with this policy as well.")]


_MOST_ENTRIES = 8


def check(
    file: Annotated[
        Path, typer.Argument(help="A file with one SQL statement; - reads stdin.", readable=False)
    ],
    dialect: Annotated[str, typer.Option(help="The SQL dialect of the file.")] = "duckdb",
    schema: Annotated[
        Path | None, typer.Option(help="CREATE TABLE statements, or JSON {table: {column: type}}.")
    ] = None,
    policy: PolicyOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Prove SQL that someone else wrote to be a certified release, or list why it is not.

    On engines other than DuckDB a text is certified if it is, but for blanks and comments, what
    'policy-engine compile' prints; else the text to run instead is printed, if one was understood.
    Each released column is shown as a map of values. With --policy it must also be the release
    that the policy asks for, with its guarantee; lookups that the policy declares public may be
    joined. Views are followed if --schema shows them.

    Example: policy-engine check release.sql --dialect duckdb
    """
    from policy_engine.check.answer import answer, printed_answer
    from policy_engine.cli.reading import read_file
    from policy_engine.dialects import dialect_named
    from policy_engine.policy.loading import load_policy
    from policy_engine.syntax.ddl import parse_schema
    from policy_engine.syntax.schema import Schema

    wanted = load_policy(policy) if policy is not None else None
    text = read_file(file)
    dialect = dialect_named(dialect).name
    known = parse_schema(read_file(schema), dialect) if schema is not None else Schema()
    if wanted is not None:
        known = replace(known, public={**known.public, **dict(wanted.public)})
    name = "stdin" if str(file) == "-" else str(file)
    is_read = dialect == "duckdb"
    found = (printed_answer if is_read else answer)(text, dialect, known, wanted)
    document, lines = (
        _read(name, text, known, wanted) if found is None else _answered(name, found, dialect)
    )
    (emit if document["findings"] else confirm)(document, lines, format)
    if document["findings"]:
        raise typer.Exit(1)


def _answered(name: str, found: Answer, dialect: str) -> tuple[dict[str, Any], list[str]]:
    """An answer as a document and as lines."""
    from policy_engine.check.described import document, lines

    claim = found.claim
    shape = None if claim is None else document(claim, dialect, found.target)
    is_certified = not found.findings
    told: dict[str, Any] = {
        "certified": is_certified,
        "assumptions": list(found.assumptions),
        "shape": shape if is_certified else None,
        "findings": [vars(finding) for finding in found.findings],
        "canonical": found.canonical or None,
        "understood": None if is_certified else shape,
        "missed": list(found.missed),
    }
    broken = [_finding(name, finding) for finding in found.findings]
    missed = [f"  - {text}" for text in found.missed]
    if claim is None or not (is_certified or found.canonical):
        return told, [*broken, *(["not understood:", *missed] if missed else [])]
    listed = list(lines(claim, dialect))
    if is_certified:
        worth = _worth_of(claim, told["shape"]["method"])
        return told, _certified(listed, found.assumptions, worth, told["shape"]["mechanism"])
    account = ["understood:", *listed, *(["not understood:", *missed] if missed else [])]
    text = sql_lines(found.canonical, dialect)
    return told, ["not as written: run this instead", "", *text, "", *broken, *account]


def _read(
    name: str, text: str, known: Schema, wanted: Policy | None
) -> tuple[dict[str, Any], list[str]]:
    """What the proof of a DuckDB text of any form says."""
    from policy_engine.check.laws import READER
    from policy_engine.verify.proof import prove

    proof = prove(text, known)
    findings = proof.findings
    if wanted is not None and proof.shape is not None:
        findings = _differences(wanted, text, known)
    shape = None if findings else proof.shape
    document: dict[str, Any] = {
        "certified": shape is not None,
        "assumptions": [READER, *proof.assumptions] if shape is not None else [],
        "shape": None if shape is None else _shape(shape),
        "findings": [vars(finding) for finding in findings],
        "canonical": None,
    }
    if shape is None:
        return document, [_finding(name, finding) for finding in findings]
    listed = [
        f"  source   {shape.source}",
        f"  unit     {shape.unit}",
        f"  rate     {float(shape.rate):.12g} ({shape.method})",
        f"  k        {shape.k}",
        f"  columns  {', '.join(column.name for column in shape.columns)}",
        *[f"    {column.name}: {_mapped(column)}" for column in shape.columns],
    ]
    worth = _worth(shape.rate, shape.method, shape.k)
    return document, _certified(listed, tuple(document["assumptions"]), worth)


def _differences(policy: Policy, text: str, schema: Schema) -> tuple[Finding, ...]:
    """What keeps a text that was proved from being the release of ``policy``."""
    from policy_engine.verify.certificate import certify

    try:
        certify(policy, text, "duckdb", schema=schema)
    except NotCertifiable as error:
        return error.findings
    return ()


def _finding(file: str, finding: Finding) -> str:
    """A finding as compilers write theirs, for editors to jump to.

    >>> _finding("model.sql", Finding("V14", "rank() is not known", 3, 14))
    'model.sql:3:14: V14 rank() is not known'
    """
    place = f":{finding.line}:{finding.column}" if finding.line else ""
    return f"{file}{place}: {finding.code} {finding.message}"


def _shape(shape: ReleaseShape) -> dict[str, Any]:
    return {
        "source": shape.source,
        "unit": shape.unit,
        "rate": float(shape.rate),
        "method": shape.method,
        "k": shape.k,
        "columns": [column.name for column in shape.columns],
        "recodes": {column.name: _recode(column) for column in shape.columns},
        "count": shape.count,
        "form": shape.form,
        "target": shape.target,
        "ordered": shape.ordered,
    }


def _recode(column: ColumnShape) -> dict[str, Any]:
    """What a column shows: of which source columns, as a map of values where it is one."""
    values = None if column.values is None else [asdict(entry) for entry in column.values]
    return {"of": list(column.inputs), "values": values, "sql": column.sql}


def _mapped(column: ColumnShape) -> str:
    """A recode on one line: its map, or else its expression."""
    from policy_engine.policy.recodings import Keep

    if column.recoding == Keep():
        return "as it is"
    if column.values is None:
        return " ".join(column.sql.split())
    shown = [f"{entry.when} → {entry.shown}" for entry in column.values[:_MOST_ENTRIES]]
    more = len(column.values) - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more else [])])


def _certified(
    listed: list[str], assumed: tuple[str, ...], worth: str, mechanism: str = ""
) -> list[str]:
    """A certified text in lines."""
    assuming = ["assuming:" if assumed else "assuming nothing", *(f"  - {a}" for a in assumed)]
    what = {"noisy-counts": "noisy counts"}.get(mechanism, "sampled k-anonymisation")
    return [f"certified: {what}", *listed, *assuming, worth]


def _worth_of(claim: Claim, method: str) -> str:
    """What a release of a claim is worth, or how to find out."""
    from policy_engine.accounting.domain import claimed
    from policy_engine.kernel.assumptions import unit_of
    from policy_engine.kernel.mechanisms import Noisy
    from policy_engine.kernel.price import delta_of

    if not isinstance(claim.law, Noisy):
        return _worth(Fraction(claim.law.rate), method, claim.law.k)
    delta = claimed(delta_of(claim, Decimal(1), Decimal(1), "add_remove"))
    return f"what it is worth: δ = {shown(delta)} at ε = 1 (add_remove, unit: {unit_of(claim)})"


def _worth(rate: Fraction, method: str, k: int) -> str:
    from policy_engine.accounting.domain import decimal, upward
    from policy_engine.accounting.one import population_rate

    bound = upward(
        decimal("rate", "a number", population_rate(rate, method, Decimal(1))), exact=True
    )
    return f"what it is worth: policy-engine certify --k {k} --rate {shown(bound)} --epsilon 1"


def verify(
    certificate: CertificateArgument,
    release: ReleaseOption = None,
    key: KeyOption = None,
    keyring: KeyringOption = None,
    review_policy: Annotated[
        Path | None,
        typer.Option(
            "--review-policy", help="Count the approvals beside the certificate by it, too."
        ),
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Check a certificate and its release from the files alone.

    Signature; δ by brute force; the SQL proved again, and what is stated of it; and with --release
    its digest, columns, order, that every group has at least k people and that it holds nothing
    else. A table's release is checked as an export, Parquet or CSV. Without --release the
    certificate is checked alone, and the exit code is 4; so it is where no claim stands in the
    certificate and its SQL is of another engine than DuckDB, which is not proved again. The keys to
    trust are those named by --key and --keyring, else the project's own and those of its keyring;
    it says which, and how old a signed keyring is; a newer keys.json beside the certificate counts
    in its stead where the owners of the one that --keyring names have signed it. With --review-
    policy, a file from somebody you trust, the good approvals in the file beside the certificate
    must be as many as it asks for. Of certify-count's certificate: signature, assumptions, numbers.
    Of a statement of 'ledger export': signature, charges, sums, limits. Of a release without (ε,
    δ): signature, digest, columns, k and models; it is no certificate, and the exit code is 4.

    Example: policy-engine verify out/adult.certificate.json --release out/adult.parquet
    """
    from policy_engine.attest.attestation import SYNTACTIC_TYPE, stated_type
    from policy_engine.attest.count_certificate import COUNT_PREDICATE_TYPE
    from policy_engine.attest.release_check import verify_release
    from policy_engine.cli.reading import read_certificate, trusted_keys
    from policy_engine.ledger.statement import STATEMENT_TYPE

    text = read_certificate(certificate)
    trusted, places = trusted_keys(key or [], keyring, beside=certificate)
    kind = stated_type(text)
    if review_policy is not None and kind in (COUNT_PREDICATE_TYPE, STATEMENT_TYPE):
        raise UsageError("--review-policy is for the certificate of a release; leave it out")
    if kind == SYNTACTIC_TYPE:
        from policy_engine.cli.syntactic import confirm_syntactic

        confirm_syntactic(text, trusted, places, release, format)
        return
    if kind in (COUNT_PREDICATE_TYPE, STATEMENT_TYPE):
        verified = _count if kind == COUNT_PREDICATE_TYPE else _statement
        document, lines = verified(text, trusted, places, release)
        confirm(document, lines, format)
        return
    found = verify_release(text, trusted, release)
    if review_policy is not None:
        from policy_engine.report.bundle import with_approvals

        found = with_approvals(found, text, certificate, review_policy)
    is_verified = release is not None and found.is_proved
    document = {
        "verified": is_verified,
        "release": found.subject,
        **checked_document(found, places),
        "assumptions": list(found.assumptions),
        **found.facts,
    }
    assumed = [f"  - {text}" for text in found.assumptions]
    assuming = [meaning(found.facts), "assuming:", *assumed]
    if is_verified:
        head = f"verified: {one_line(found.subject)}"
        confirm(document, [head, *checked_lines(found, places), *assuming], format)
        return
    head = "certificate holds; no release was looked at"
    if not found.is_proved:
        head = "not verified: the SQL was not checked; what else was looked at holds"
    emit(document, [head, *checked_lines(found, places), *assuming], format)
    raise typer.Exit(NothingChecked.exit_code)


def checked_document(found: Verified, places: tuple[Trusted, ...]) -> dict[str, Any]:
    """What was checked, what was not, and which keys were trusted."""
    return {
        "checked": list(found.checked),
        "unchecked": list(found.unchecked),
        "trusted": [place.told() for place in places],
    }


def checked_lines(found: Verified, places: tuple[Trusted, ...]) -> list[str]:
    """What was checked, the signature first, with whose word it is that its key counts."""
    signed, *others = [f"  ✓ {text}" for text in found.checked]
    trusting = [f"    {line}" for place in places for line in place.lines()]
    return [signed, *trusting, *others, *[f"  – {text}" for text in found.unchecked]]


def meaning(facts: Mapping[str, Any]) -> str:
    """What the numbers of a certificate mean to somebody who guesses."""
    from policy_engine.accounting.odds import odds_words

    epsilon, delta = (shown(Decimal(facts[name])) for name in ("epsilon", "delta"))
    numbers = f"ε = {epsilon}, δ = {delta}, unit: {facts['unit']}"
    said = odds_words(facts["epsilon"], facts["delta"], facts["neighbours"])
    return f"meaning ({numbers}): {said}"


def _statement(
    text: str, trusted: TrustedKeys, places: tuple[Trusted, ...], release: Path | None
) -> tuple[dict[str, Any], list[str]]:
    """The public statement of a ledger, verified."""
    from policy_engine.ledger.statement import verify_statement

    if release is not None:
        raise UsageError(
            "--release names a release, and this is the statement of a ledger; leave --release out"
        )
    found = verify_statement(text, trusted)
    document = {"verified": True, **checked_document(found, places), **found.facts}
    return document, [f"verified: {one_line(found.subject)}", *checked_lines(found, places)]


def _count(
    text: str, trusted: TrustedKeys, places: tuple[Trusted, ...], release: Path | None
) -> tuple[dict[str, Any], list[str]]:
    """The certificate of a noiseless count, verified; its assumptions are printed first."""
    from policy_engine.attest.count_certificate import KIND, LIMITS, verify_count

    if release is not None:
        raise UsageError(
            "--release names a release, and this is the certificate of a noiseless count, which"
            " speaks of no release; leave --release out"
        )
    found = verify_count(text, trusted)
    document = {
        "assumptions": list(found.assumptions),
        "kind": KIND,
        "verified": True,
        **checked_document(found, places),
        "limits": list(LIMITS),
        **found.facts,
    }
    lines = [KIND, "assuming:", *[f"  - {text}" for text in found.assumptions]]
    lines += [f"verified: {one_line(found.subject)}", *checked_lines(found, places)]
    return document, [*lines, "its limits:", *[f"  - {text}" for text in LIMITS]]
