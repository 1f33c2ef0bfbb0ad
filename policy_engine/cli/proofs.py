"""check and verify: proofs of texts, and of releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, emit

PolicyOption = Annotated[Path | None, typer.Option(help="Compare with this policy as well.")]


def check(
    file: Annotated[Path, typer.Argument(help="A file with one SQL statement; - reads stdin.")],
    dialect: Annotated[str, typer.Option(help="The SQL dialect of the file.")] = "duckdb",
    schema: Annotated[
        Path | None, typer.Option(help="CREATE TABLE statements, or JSON {table: {column: type}}.")
    ] = None,
    policy: PolicyOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Prove SQL that someone else wrote to be a certified release, or list why it is not.

    Example: policy-engine check release.sql --dialect duckdb
    """
    from policy_engine.cli.reading import read_file
    from policy_engine.verify.checks import compare
    from policy_engine.verify.proof import prove
    from policy_engine.verify.schema import parse_schema

    text = read_file(file)
    known = parse_schema(read_file(schema), dialect) if schema is not None else None
    proof = prove(text, dialect, known)
    findings = list(proof.findings)
    if policy is not None and proof.shape is not None:
        from policy_engine.policy.loading import load_policy

        findings.extend(compare(proof.shape, load_policy(policy)))
    certified = proof.shape is not None and not findings
    document: dict[str, Any] = {
        "certified": certified,
        "assumptions": list(proof.assumptions),
        "shape": _shape(proof.shape) if certified else None,
        "findings": [vars(finding) for finding in findings],
    }
    lines = _proved(document) if certified else [f"{file}:{finding}" for finding in findings]
    emit(document, "\n".join(lines), format)
    if not certified:
        raise typer.Exit(1)


def _shape(shape: Any) -> dict[str, Any]:
    return {
        "source": shape.source,
        "unit": shape.unit,
        "rate": float(shape.rate),
        "method": shape.method,
        "k": shape.k,
        "columns": [column.name for column in shape.columns],
        "recodes": {column.name: column.sql for column in shape.columns},
        "count": shape.count,
        "form": shape.form,
        "target": shape.target,
        "ordered": shape.ordered,
    }


def _proved(document: dict[str, Any]) -> list[str]:
    shape = document["shape"]
    lines = [
        "certified: sampled k-anonymisation",
        f"  source   {shape['source']}",
        f"  unit     {shape['unit']}",
        f"  rate     {shape['rate']:.12g} ({shape['method']})",
        f"  k        {shape['k']}",
        f"  columns  {', '.join(shape['columns'])}",
        "assuming:" if document["assumptions"] else "assuming nothing",
    ]
    lines += [f"  - {text}" for text in document["assumptions"]]
    example = f"policy-engine certify --k {shape['k']} --rate {shape['rate']:.12g} --epsilon 1"
    return [*lines, f"what it is worth: {example}"]


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate: a DSSE envelope.")],
    release: Annotated[Path | None, typer.Option(help="The release it speaks of.")] = None,
    key: Annotated[
        list[Path] | None, typer.Option(help="A public key to trust; default: the project's.")
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Check a certificate and its release from the files alone.

    Signature, numbers, the proof of the SQL; and with --release its digest, its columns, its
    order and that every group has at least k people.

    Example: policy-engine verify out/adult.certificate.json --release out/adult.parquet
    """
    from policy_engine.cli.reading import read_file, trusted_keys
    from policy_engine.verify.release_check import verify_release

    trusted = trusted_keys(key or [], certificate)
    found = verify_release(read_file(certificate), trusted, release)
    document = {"verified": True, "checked": list(found.checked), **found.facts}
    lines = [f"verified: {found.subject}", *[f"  ✓ {text}" for text in found.checked]]
    lines += ["assuming:", *[f"  - {text}" for text in found.assumptions]]
    emit(document, "\n".join(lines), format)
