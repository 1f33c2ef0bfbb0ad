"""certify-sql: whether SQL that someone else wrote is certified, and what to run instead."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from policy_engine.accounting.domain import claimed, upward
from policy_engine.accounting.one import certified_rate
from policy_engine.check.answer import Answer, answer
from policy_engine.check.ddl import parse_schema
from policy_engine.check.described import ClaimShape, lines, shape_of
from policy_engine.check.schema import Schema
from policy_engine.cli.options import EditionOption, PolicyOption
from policy_engine.cli.output import conclude, shown
from policy_engine.cli.reading import name_of, read_file
from policy_engine.dialects import dialect_named
from policy_engine.errors import Finding, UsageError
from policy_engine.kernel.assumptions import method_of, unit_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.editions import Edition, unit_words
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.policy.escapes import sql_lines
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.certifying import answer_of
from policy_engine.values import frozen


def certify_sql(
    file: Annotated[
        Path, Argument(help="A file with one SQL statement, or - for stdin.", readable=False)
    ],
    dialect: Annotated[
        str, Option(help="The file's SQL dialect, such as postgres or snowflake.")
    ] = "duckdb",
    schema: Annotated[
        Path | None,
        Option(help="A file with CREATE TABLE statements, or with JSON {table: {column: type}}."),
    ] = None,
    policy: PolicyOption = None,
    edition: EditionOption = None,
) -> None:
    """Check SQL that someone else wrote: whether it is certified, and if not, what to run instead.

    SQL is certified if it equals the SQL that 'policy-engine compile' writes for some policy. Only
    blanks and comments may differ. If your SQL is not certified, the output shows certified SQL to
    run instead. It also shows how the program understood each column, and which parts it did not
    understand. If there is no certified SQL to run instead, the output lists the reasons.

    With --policy, the command also compares the SQL with this policy. The SQL must make the same
    release, with the same guarantee. If the policy has 'period', the SQL must be that of one
    edition. By default, it is the first edition, as in 'policy-engine compile'.

    Example: policy-engine certify-sql release.sql --dialect duckdb
    """
    if edition is not None and policy is None:
        raise UsageError("--edition is an edition of a policy: name that with --policy")
    wanted = load_policy(policy) if policy is not None else None
    text = read_file(file)
    dialect = dialect_named(dialect).name
    known = parse_schema(read_file(schema), dialect) if schema is not None else Schema()
    if wanted is None:
        own, found = Edition(), answer(text, dialect, known)
    else:
        own, found = answer_of(text, dialect, known, wanted, edition)
    said = AnswerSaid.of(found, dialect, own)
    above, below = _answered(found, dialect, own)
    # A text to run instead stands above the findings, and what was understood below them.
    said_of_them = [_finding(name_of(file), finding) for finding in found.findings]
    conclude(said, [*above, *said_of_them, *below], 1 if found.findings else 0)


@frozen
class AnswerSaid:
    """Whether a text is certified: its ``shape``, or what was ``understood`` of it instead.

    ``edition`` is that with which it was compared; None where its policy has but one.
    """

    certified: bool
    edition: Mapping[str, object] | None
    assumptions: tuple[str, ...]
    shape: ClaimShape | None
    canonical: str | None
    afterwards: str | None
    understood: ClaimShape | None
    missed: tuple[str, ...]
    taken: tuple[str, ...]
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, found: Answer, dialect: str, edition: Edition) -> AnswerSaid:
        """What is said of an answer."""
        claim, is_certified = found.claim, not found.findings
        shape = None if claim is None else shape_of(claim, dialect, found.target)
        return cls(
            certified=is_certified,
            edition=edition.to_json() if edition.name else None,
            assumptions=found.assumptions,
            shape=shape if is_certified else None,
            canonical=found.canonical or None,
            afterwards=found.afterwards or None,
            understood=None if is_certified else shape,
            missed=found.missed,
            taken=found.taken,
            findings=found.findings,
        )


def _answered(found: Answer, dialect: str, edition: Edition) -> tuple[list[str], list[str]]:
    """The lines of an answer above and below those of its findings."""
    claim, is_certified = found.claim, not found.findings
    missed = [f"  - {text}" for text in found.missed]
    missed = ["not as in the text:", *missed] if missed else []
    if claim is None or not (is_certified or found.canonical):
        return [], missed
    named = [f"  edition  {edition.words}"] if edition.name else []
    listed = [*named, *lines(claim, dialect)]
    if not is_certified:
        text = sql_lines(found.canonical, dialect)
        above = ["not as written: run this instead", "", *text, ""]
        if found.afterwards:
            after = sql_lines(found.afterwards, dialect)
            above += ["and this over its rows, as released, which costs nothing", "", *after, ""]
        taken = [f"  - {text}" for text in found.taken]
        granted = ["taken for granted:", *taken] if taken else []
        return above, ["understood:", *listed, *granted, *missed]
    worth = _worth_of(claim, method_of(claim, dialect), edition)
    return _certified(meaning_of(claim).title, listed, found.assumptions, worth), []


def _finding(file: str, finding: Finding) -> str:
    """A finding as compilers write theirs, for editors to jump to.

    >>> _finding("model.sql", Finding("V14", "rank() is not known", 3, 14))
    'model.sql:3:14: V14 rank() is not known'
    """
    place = f":{finding.line}:{finding.column}" if finding.line else ""
    return f"{file}{place}: {finding.code} {finding.message}"


def _certified(what: str, listed: list[str], assumed: tuple[str, ...], worth: str) -> list[str]:
    assuming = ["assuming:" if assumed else "assuming nothing", *(f"  - {a}" for a in assumed)]
    return [f"certified: {what}", *listed, *assuming, worth]


def _worth_of(claim: Claim, method: str, edition: Edition) -> str:
    """What a release of a claim is worth, or how to find out."""
    if claim.law.is_sample:
        return _worth(claim.law.rate, method, claim.law.k)
    delta = claimed(claim.delta(Decimal(1), Decimal(1), "add_remove"))
    unit = unit_words(unit_of(claim), edition)
    return f"what it is worth: δ = {shown(delta)} at ε = 1 (add_remove, unit: {unit})"


def _worth(rate: Decimal, method: str, k: int) -> str:
    bound = shown(upward(certified_rate(rate, method), exact=True))
    return f"what it is worth: policy-engine calculate --k {k} --rate {bound} --epsilon 1"
