"""certify-sql: a proof of SQL that someone else wrote, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from policy_engine.accounting.domain import claimed, decimal, upward
from policy_engine.accounting.one import population_rate
from policy_engine.check.answer import READER, Answer, answer, printed_answer
from policy_engine.check.described import document, lines
from policy_engine.cli.options import PolicyOption
from policy_engine.cli.output import conclude, members, shown
from policy_engine.cli.reading import name_of, read_file
from policy_engine.dialects import dialect_named
from policy_engine.errors import Finding, NotCertifiable
from policy_engine.kernel.assumptions import unit_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Noisy
from policy_engine.kernel.price import delta_of
from policy_engine.policy.escapes import sql_lines
from policy_engine.policy.loading import load_policy
from policy_engine.policy.recodings import Keep
from policy_engine.policy.resolve import Policy
from policy_engine.relations.shape import ColumnShape, ReleaseShape
from policy_engine.syntax.ddl import parse_schema
from policy_engine.syntax.schema import Schema
from policy_engine.verify.certificate import certify
from policy_engine.verify.proof import prove

_MOST_ENTRIES = 8


def certify_sql(
    file: Annotated[
        Path, Argument(help="A file with one SQL statement; - reads stdin.", readable=False)
    ],
    dialect: Annotated[str, Option(help="The SQL dialect of the file.")] = "duckdb",
    schema: Annotated[
        Path | None, Option(help="CREATE TABLE statements, or JSON {table: {column: type}}.")
    ] = None,
    policy: PolicyOption = None,
) -> None:
    """Prove SQL that someone else wrote to be a certified release, or list why it is not.

    On engines other than DuckDB a text is certified if it is, but for blanks and comments, what
    'policy-engine compile' prints; else the text to run instead is printed, if one was understood.
    Each released column is shown as a map of values. With --policy it must also be the release
    that the policy asks for, with its guarantee; lookups that the policy declares public may be
    joined. Views are followed if --schema shows them.

    Example: policy-engine certify-sql release.sql --dialect duckdb
    """
    wanted = load_policy(policy) if policy is not None else None
    text = read_file(file)
    dialect = dialect_named(dialect).name
    known = parse_schema(read_file(schema), dialect) if schema is not None else Schema()
    if wanted is not None:
        known = replace(known, public={**known.public, **dict(wanted.public)})
    is_read = dialect == "duckdb"
    found = (printed_answer if is_read else answer)(text, dialect, known, wanted)
    told, said = _read(text, known, wanted) if found is None else _answered(found, dialect)
    broken: Sequence[Finding] = told["findings"]
    # A text to run instead stands above the findings, and what was understood below them.
    above, below = said
    said_of_them = [_finding(name_of(file), finding) for finding in broken]
    document = {**told, "findings": list(map(vars, broken))}
    conclude(document, [*above, *said_of_them, *below], 1 if broken else 0)


def _answered(found: Answer, dialect: str) -> tuple[dict[str, Any], tuple[list[str], list[str]]]:
    """An answer as a document, and the lines above and below those of its findings."""
    claim, is_certified = found.claim, not found.findings
    shape = None if claim is None else document(claim, dialect, found.target)
    told: dict[str, Any] = {
        "certified": is_certified,
        "assumptions": found.assumptions,
        "shape": shape if is_certified else None,
        "findings": found.findings,
        "canonical": found.canonical or None,
        "understood": None if is_certified else shape,
        "missed": found.missed,
    }
    missed = ["not understood:", *(f"  - {text}" for text in found.missed)] if found.missed else []
    if claim is None or not (is_certified or found.canonical):
        return told, ([], missed)
    listed = list(lines(claim, dialect))
    if not is_certified:
        text = sql_lines(found.canonical, dialect)
        above = ["not as written: run this instead", "", *text, ""]
        return told, (above, ["understood:", *listed, *missed])
    worth = _worth_of(claim, told["shape"]["method"])
    what = {"noisy-counts": "noisy counts"}.get(told["shape"]["mechanism"], _SAMPLED)
    return told, (_certified(what, listed, found.assumptions, worth), [])


def _read(
    text: str, known: Schema, wanted: Policy | None
) -> tuple[dict[str, Any], tuple[list[str], list[str]]]:
    """What the proof of a DuckDB text of any form says; as ``_answered``."""
    proof = prove(text, known)
    findings = proof.findings
    if wanted is not None and proof.shape is not None:
        try:
            certify(wanted, text, "duckdb", schema=known)
            findings = ()
        except NotCertifiable as error:
            findings = error.findings
    shape = None if findings else proof.shape
    assumed = () if shape is None else (READER, *proof.assumptions)
    told = {
        "certified": shape is not None,
        "assumptions": assumed,
        "shape": None if shape is None else _shape(shape),
        "findings": findings,
        "canonical": None,
    }
    if shape is None:
        return told, ([], [])
    listed = [
        f"  source   {shape.source}",
        f"  unit     {shape.unit}",
        f"  rate     {float(shape.rate):.12g} ({shape.method})",
        f"  k        {shape.k}",
        f"  columns  {', '.join(column.name for column in shape.columns)}",
        *(f"    {column.name}: {_mapped(column)}" for column in shape.columns),
    ]
    worth = _worth(shape.rate, shape.method, shape.k)
    return told, (_certified(_SAMPLED, listed, assumed, worth), [])


_SAMPLED = "sampled k-anonymisation"


def _finding(file: str, finding: Finding) -> str:
    """A finding as compilers write theirs, for editors to jump to.

    >>> _finding("model.sql", Finding("V14", "rank() is not known", 3, 14))
    'model.sql:3:14: V14 rank() is not known'
    """
    place = f":{finding.line}:{finding.column}" if finding.line else ""
    return f"{file}{place}: {finding.code} {finding.message}"


def _shape(shape: ReleaseShape) -> dict[str, Any]:
    recodes = {
        column.name: {
            "of": column.inputs,
            "values": None if column.values is None else list(map(asdict, column.values)),
            "sql": column.sql,
        }
        for column in shape.columns
    }
    return {
        **members(shape, "source unit"),
        "rate": float(shape.rate),
        **members(shape, "method k"),
        "columns": [column.name for column in shape.columns],
        "recodes": recodes,
        **members(shape, "count form target ordered"),
    }


def _mapped(column: ColumnShape) -> str:
    """A recode on one line: its map, or else its expression."""
    if column.recoding == Keep():
        return "as it is"
    if column.values is None:
        return " ".join(column.sql.split())
    told = [f"{entry.when} → {entry.shown}" for entry in column.values[:_MOST_ENTRIES]]
    more = len(column.values) - len(told)
    return "; ".join([*told, *([f"and {more} more"] if more else [])])


def _certified(what: str, listed: list[str], assumed: tuple[str, ...], worth: str) -> list[str]:
    assuming = ["assuming:" if assumed else "assuming nothing", *(f"  - {a}" for a in assumed)]
    return [f"certified: {what}", *listed, *assuming, worth]


def _worth_of(claim: Claim, method: str) -> str:
    """What a release of a claim is worth, or how to find out."""
    if not isinstance(claim.law, Noisy):
        return _worth(Fraction(claim.law.rate), method, claim.law.k)
    delta = claimed(delta_of(claim, Decimal(1), Decimal(1), "add_remove"))
    return f"what it is worth: δ = {shown(delta)} at ε = 1 (add_remove, unit: {unit_of(claim)})"


def _worth(rate: Fraction, method: str, k: int) -> str:
    whole = decimal("rate", "a number", population_rate(rate, method, Decimal(1)))
    bound = shown(upward(whole, exact=True))
    return f"what it is worth: policy-engine calculate --k {k} --rate {bound} --epsilon 1"
