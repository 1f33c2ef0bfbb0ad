"""certify-count: what an exact count is worth where the adversary knows only a part."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, emit, number, shown
from policy_engine.cli.places import check_free
from policy_engine.cli.reading import project_here


def certify_count(
    unknown: Annotated[int, typer.Option(help="So many records the adversary does not know.")],
    lambda_: Annotated[
        str, typer.Option("--lambda", help="The least probability of either value, at most 1/2.")
    ],
    epsilon: Annotated[str, typer.Option(help="Give ε to get δ.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a signed certificate here.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option("--certificate", hidden=True)] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace a count's certificate that stands there."),
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Print δ of an exact count, under assumptions about what the adversary knows.

    This is another kind of statement than a release's: it rests on those assumptions alone, it
    never enters a budget, and it composes over disjoint new users only.

    Example: policy-engine certify-count --unknown 1000 --lambda 0.1 --epsilon 0.5
    """
    from policy_engine.accounting.partial_knowledge import count_numbers
    from policy_engine.attest import count_certificate as certified
    from policy_engine.errors import UsageError

    certificate = output or certificate
    if replace and certificate is None:
        raise UsageError("--replace replaces a certificate; name it with --output")
    if certificate is not None:
        _check_place(certificate, replace=replace)
    made = certified.certify_count(unknown, lambda_, epsilon)
    numbers = count_numbers(unknown, lambda_, epsilon)
    if certificate is not None:
        _write(made, certificate, replace=replace)
    document: dict[str, Any] = {
        "assumptions": list(made.assumptions),
        "kind": certified.KIND,
        "protects": certified.PROTECTS,
        "limits": list(certified.LIMITS),
        "unknown": made.unknown,
        "lambda": number(made.floor),
        "epsilon": number(made.epsilon),
        "delta": number(made.delta),
        "bound": "numeric",
        "delta_chernoff": number(numbers.delta_chernoff),
        "delta_blanket": number(numbers.delta_blanket),
        "proposition_27": number(numbers.proposition_27),
    }
    if certificate is not None:
        document["certificate"] = str(certificate)
    lines = [
        certified.KIND,
        "assuming:",
        *[f"  - {text}" for text in made.assumptions],
        f"it protects {certified.PROTECTS}:",
        f"  ε = {shown(made.epsilon)}",
        f"  δ = {shown(made.delta)}   [PK], numeric",
        f"  δ = {shown(numbers.delta_chernoff)}   [PK], closed form by Chernoff",
        f"  δ = {_said(numbers.delta_blanket)}   [PK], closed form of Balle et al. 2019",
        f"  δ = {_said(numbers.proposition_27)}   Proposition 27 as printed, every p = λ: no bound",
        "its limits:",
        *[f"  - {text}" for text in certified.LIMITS],
    ]
    if certificate is not None:
        lines.append(f"certificate  {certificate}")
    emit(document, lines, format)


def _said(delta: Decimal | None) -> str:
    return "no statement" if delta is None else shown(delta)


def _check_place(path: Path, *, replace: bool) -> None:
    """Refuse a place where something stands, but for a count's certificate and ``replace``."""
    from policy_engine.attest.attestation import stated_type
    from policy_engine.attest.count_certificate import COUNT_PREDICATE_TYPE
    from policy_engine.errors import FileError

    check_free(path, replace=replace)
    if not path.exists():
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None
    if stated_type(content) != COUNT_PREDICATE_TYPE:
        raise FileError(
            f"{path} is no certificate of a count, and only such a one is replaced; name another"
            " place"
        )


def _write(made: Any, path: Path, *, replace: bool) -> None:
    """Sign with the project's key, which is made when missing, and put the file in place whole."""
    from policy_engine.attest.attestation import sign
    from policy_engine.attest.signers import signer_of
    from policy_engine.attest.validity import moment
    from policy_engine.releasing.publish import write_certificate

    envelope = sign(made.statement(), signer_of(project_here(), moment(made.time)))
    write_certificate(envelope.to_json(), path, replace=replace)
