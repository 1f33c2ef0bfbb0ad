"""init, validate, compile, plan and release: what is done with a policy file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, emit, note, number, progress, shown

PolicyArgument = Annotated[Path, typer.Argument(help="A policy file.")]


class Report(StrEnum):
    """How validate answers."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


def init(
    source: Annotated[str | None, typer.Argument(help="A Parquet or CSV file.")] = None,
    output: Annotated[Path, typer.Option(help="The policy file to write.")] = Path("policy.yaml"),
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Write a starter policy from the source's schema, never its values, and a project file.

    Example: policy-engine init data/people.parquet
    """
    from policy_engine.starter import write_starter

    written = write_starter(source, output)
    lines = [f"wrote {path}" for path in written]
    lines.append(f"next: edit it, then 'policy-engine plan {output}'")
    emit({"written": [str(path) for path in written]}, "\n".join(lines), format)


def validate(
    policies: Annotated[list[Path], typer.Argument(help="Policy files.")],
    format: Annotated[Report, typer.Option("--format", help="How to report.")] = Report.text,  # noqa: A002
) -> None:
    """Check policy files: their schema, their meaning, their source's columns. Every problem.

    Example: policy-engine validate policies/*/policy.yaml --format github
    """
    from policy_engine.cli.problems import report
    from policy_engine.validation import find_problems

    problems = [problem for path in policies for problem in find_problems(path, note)]
    print(report(problems, [str(path) for path in policies], format.value))
    if problems:
        raise typer.Exit(1)


def compile_(
    policy: PolicyArgument,
    dialect: Annotated[str, typer.Option(help="The SQL dialect to write.")] = "duckdb",
    method: Annotated[
        str | None, typer.Option(help="Show another sampling method: keyed or native.")
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Print the SQL of a policy, as it would run.

    Example: policy-engine compile policies/adult/policy.yaml --dialect duckdb
    """
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import compiled_sql

    sql = compiled_sql(load_policy(policy), dialect, method)
    emit({"sql": sql, "dialect": dialect}, sql.rstrip("\n"), format)


def plan(
    policy: PolicyArgument,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """A dry run: the SQL, the certificate to be, its price and what remains. Writes nothing.

    Example: policy-engine plan policies/adult/policy.yaml
    """
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import preview

    loaded = load_policy(policy)
    found = preview(loaded)
    certificate, balance = found.certificate, found.balance
    document = {
        "policy": loaded.name,
        "sql": certificate.sql,
        "k": certificate.k,
        "rate": number(loaded.rate),
        "epsilon": number(certificate.epsilon),
        "delta": number(certificate.delta),
        "neighbours": certificate.neighbours,
        "unit": certificate.shape.unit,
        "assumptions": list(certificate.assumptions),
        "release": loaded.release.text,
        "ledger": {
            "account": found.account,
            "affordable": found.affordable,
            "epsilon_left": number(balance.left_epsilon),
            "delta_left": number(balance.left_delta),
        },
    }
    left = "the account has no limit: it only adds up"
    if balance.left_epsilon is not None and balance.left_delta is not None:
        left = f"left now: ε {shown(balance.left_epsilon)}, δ {shown(balance.left_delta)}"
    lines = [
        certificate.sql,
        f"release    {loaded.release.text} ({loaded.release.form})",
        f"guarantee  ε = {shown(certificate.epsilon)}, δ = {shown(certificate.delta)}"
        f" ({certificate.neighbours}, unit: {certificate.shape.unit})",
        f"mechanism  rate {shown(loaded.rate)}, k = {certificate.k}",
        f"price      ε {shown(certificate.epsilon)}, δ {shown(certificate.delta)}"
        f" from account {found.account}; {left}",
        "assuming:",
        *[f"  - {text}" for text in certificate.assumptions],
    ]
    if not found.affordable:
        lines.append(f"the account {found.account} cannot pay for this release")
    emit(document, "\n".join(lines), format)
    if not found.affordable:
        raise typer.Exit(1)


def release(
    policies: Annotated[list[Path], typer.Argument(help="Policy files, released in this order.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what stands there, at a new price.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Release: certify, charge the account, draw a fresh sample, publish with the certificate.

    Example: policy-engine release policies/adult/policy.yaml
    """
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import release as run

    # Every file is read before the first release: a bad one must not stop halfway.
    loaded = [load_policy(path) for path in policies]
    documents: list[dict[str, Any]] = []
    for policy in loaded:
        with progress(f"releasing {policy.name}"):
            done = run(policy, replace=replace)
        documents.append(_document(done))
        if format is Format.text:
            print(_text(policy.name, done))
    if format is Format.json:
        emit(documents[0] if len(documents) == 1 else {"releases": documents}, "", format)


def _document(done: Any) -> dict[str, Any]:
    return {
        "release": done.release,
        "certificate": str(done.certificate),
        "epsilon": number(done.epsilon),
        "delta": number(done.delta),
        "k": done.k,
        "rate": number(done.rate),
        "groups": done.groups,
        "rows": done.rows,
        "ledger": {
            "account": done.account,
            "entry": done.entry,
            "epsilon_left": number(done.epsilon_left),
            "delta_left": number(done.delta_left),
        },
    }


def _text(name: str, done: Any) -> str:
    left = "the account has no limit: it only adds up"
    if done.epsilon_left is not None:
        left = f"left: ε {shown(done.epsilon_left)}, δ {shown(done.delta_left)}"
    return (
        f"released {name}\n"
        f"  release      {done.release}  ({done.groups} groups, {done.rows} rows)\n"
        f"  certificate  {done.certificate}\n"
        f"  guarantee    ε = {shown(done.epsilon)}, δ = {shown(done.delta)}"
        f"  (k = {done.k}, rate {shown(done.rate)})\n"
        f"  ledger       entry {done.entry} of account {done.account}; {left}"
    )
