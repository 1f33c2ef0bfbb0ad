"""certify and calibrate: the certificate's numbers without a policy."""

from __future__ import annotations

from typing import Annotated

import typer

from policy_engine.cli.output import Format, FormatOption, emit, number, shown

Neighbours = Annotated[str, typer.Option(help="add_remove (a person more or less) or replace_one.")]
Releases = Annotated[int, typer.Option(help="So many releases, each from a fresh sample.")]


def certify(
    k: Annotated[int, typer.Option(help="The least count of a released group.")],
    rate: Annotated[str, typer.Option(help="The sampling rate, above 0 and below 1.")],
    epsilon: Annotated[str | None, typer.Option(help="Give ε to get δ.")] = None,
    delta: Annotated[str | None, typer.Option(help="Give δ to get ε.")] = None,
    neighbours: Neighbours = "add_remove",
    releases: Releases = 1,
    group: Annotated[int, typer.Option(help="Protect groups of so many people.")] = 1,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Print δ for an ε, or the least ε for a δ, by [EXACT] and by [LQS].

    Example: policy-engine certify --k 20 --rate 0.1 --epsilon 0.5
    """
    from policy_engine.accounting.certificate_numbers import certify_numbers
    from policy_engine.errors import UsageError

    if (epsilon is None) == (delta is None):
        raise UsageError("give exactly one of --epsilon and --delta; the other is the answer")
    found = certify_numbers(
        k, rate, epsilon=epsilon, delta=delta, neighbours=neighbours, releases=releases, group=group
    )
    document = {
        "k": found.k,
        "rate": number(found.rate),
        "epsilon": number(found.epsilon),
        "delta": number(found.delta),
        "bound": found.bound,
        "delta_lqs": number(found.delta_lqs),
        "neighbours": found.neighbours,
        "releases": found.releases,
        "at_n": found.at_n,
    }
    if group > 1:
        document["group"] = group
    lqs = "no statement" if found.delta_lqs is None else shown(found.delta_lqs)
    lines = [
        f"k = {found.k}, rate = {shown(found.rate)}, {found.neighbours}",
        f"ε = {shown(found.epsilon)}",
        f"δ = {shown(found.delta)}   [EXACT]",
        f"δ = {lqs}   [LQS], the paper's bound at the same ε",
    ]
    if group > 1:
        lines.append(f"for any {group} people together")
    if releases > 1:
        lines.append(f"in total over {releases} releases, each from a fresh sample")
    emit(document, "\n".join(lines), format)


def calibrate(
    epsilon: Annotated[str, typer.Option(help="The ε to reach.")],
    delta: Annotated[str, typer.Option(help="The δ to reach.")],
    rate: Annotated[str | None, typer.Option(help="Give the rate to get the least k.")] = None,
    k: Annotated[int | None, typer.Option(help="Give k to get the greatest rate.")] = None,
    neighbours: Neighbours = "add_remove",
    releases: Releases = 1,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Find the least k for a rate, the greatest rate for a k, or a good pair.

    Without --rate and --k the pair with the least k/rate is found: a group of n people is
    expected to be released once n·rate reaches k.

    Example: policy-engine calibrate --epsilon 1 --delta 1e-6 --rate 0.1
    """
    from decimal import Decimal

    from policy_engine.accounting.calibration import best_pair, greatest_rate, least_k
    from policy_engine.accounting.certificate_numbers import certify_numbers
    from policy_engine.errors import UsageError

    if k is not None and rate is not None:
        raise UsageError("calibrate finds k or the rate: give at most one of --k and --rate")
    if rate is not None:
        k = least_k(epsilon, delta, rate, neighbours, releases)
    elif k is not None:
        rate = f"{greatest_rate(epsilon, delta, k, neighbours, releases):f}"
    else:
        k, best = best_pair(epsilon, delta, neighbours, releases)
        rate = f"{best:f}"
    found = certify_numbers(k, rate, epsilon=epsilon, neighbours=neighbours, releases=releases)
    # What was asked for is met, so the claim need not be larger.
    reached = min(found.delta, Decimal(delta))
    document = {
        "k": k,
        "rate": number(Decimal(rate)),
        "epsilon": number(found.epsilon),
        "delta": number(reached),
        "asked_delta": number(Decimal(delta)),
        "neighbours": neighbours,
        "releases": releases,
    }
    text = (
        f"k = {k}, rate = {shown(Decimal(rate))}\n"
        f"ε = {shown(found.epsilon)}, δ = {shown(reached)}  (asked: δ ≤ {delta})"
    )
    emit(document, text, format)
