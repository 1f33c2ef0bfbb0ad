"""Two forms of calculate: the numbers of a certificate without a policy, and those of a count."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.accounting import bounds, certificate_numbers
from policy_engine.accounting.certificate_numbers import CertificateNumbers
from policy_engine.accounting.domain import decimal, neighbour_notion
from policy_engine.accounting.groups import group_size
from policy_engine.accounting.odds import guessed_right, odds_sentence
from policy_engine.cli.output import emit, shown
from policy_engine.cli.reading import check_free, project_here
from policy_engine.errors import FileError, UsageError
from policy_engine.opening import bytes_in
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.attest.count_certificate import CountCertificate

UNIT = "unit: what is sampled"
"""Of whom a guarantee is that no policy asked for."""
_TOGETHER = {
    "add_remove": "for any {} people together, all in the table or all out",
    "replace_one": "for any {} people together, all replaced",
}


def of_pair(
    k: int,
    rate: str,
    epsilon: str | None,
    delta: str | None,
    neighbours: str,
    releases: int,
    group: int,
) -> None:
    """Print δ for an ε, or the least ε for a δ, by [EXACT] and by [LQS]."""
    if (epsilon is None) == (delta is None):
        raise UsageError("give exactly one of --epsilon and --delta; the other is the answer")
    found = certificate_numbers.certify_numbers(
        k, rate, epsilon=epsilon, delta=delta, neighbours=neighbours, releases=releases, group=group
    )
    emit(found, _lines(found, epsilon_asked=epsilon is not None))


def _lines(found: CertificateNumbers, *, epsilon_asked: bool) -> Iterator[str]:
    source = "[EXACT]" if found.rule is None else f"[COMP], the {found.rule} rule"
    yield f"k = {found.k}, rate = {shown(found.rate)}, {found.neighbours}, {UNIT}"
    yield f"ε = {shown(found.epsilon)}"
    yield f"δ = {shown(found.delta)}   {source}"
    if found.releases > 1 and found.epsilon_lqs is not None and not epsilon_asked:
        yield f"ε = {shown(found.epsilon_lqs)}   [LQS] and basic composition, at the same δ"
    else:
        yield f"δ = {_said(found.delta_lqs)}   [LQS], the paper's bound at the same ε"
    yield odds_sentence(found.epsilon, found.delta, found.neighbours, found.group)
    if found.delta_generic is not None:
        yield f"δ = {shown(found.delta_generic)}   the generic bound for groups, at the same ε"
        yield _TOGETHER[found.neighbours].format(found.group)
    if found.rule is not None:
        yield f"in total over {found.releases} releases, each from a fresh sample"
        said = [f"{name} {_said(value)}" for name, value in found.by_rule.items()]
        yield f"{'δ' if epsilon_asked else 'ε'} by each rule: {', '.join(said)}"


@frozen(kw_only=True)
class GroupNumbers:
    """(ε, δ) of so many people together, from those of one by any mechanism."""

    epsilon: Decimal
    delta: Decimal
    guessed_right: Decimal
    neighbours: str
    group: int


def of_group(epsilon: str, delta: str, neighbours: str, group: int) -> None:
    """Print what (ε, δ) of one person is for several together, whatever the mechanism is."""
    together, slack = bounds.group(epsilon, delta, group_size(group))
    found = GroupNumbers(
        epsilon=together,
        delta=slack,
        guessed_right=guessed_right(together, slack),
        neighbours=neighbour_notion(neighbours),
        group=group,
    )
    lines = [
        f"ε = {shown(together)}",
        f"δ = {shown(slack)}   the generic bound for groups, for every mechanism",
        odds_sentence(together, slack, neighbours, group),
        _TOGETHER[found.neighbours].format(group),
        f"if one person has ε = {shown(decimal('epsilon', 'a number', epsilon))},"
        f" δ = {shown(decimal('delta', 'a number', delta))}",
    ]
    emit(found, lines)


def _said(value: Decimal | None) -> str:
    return "no statement" if value is None else shown(value)


@frozen(kw_only=True)
class CountAnswer:
    """δ of an exact count: what is assumed stands first."""

    assumptions: tuple[str, ...]
    kind: str
    protects: str
    limits: tuple[str, ...]
    unknown: int
    lambda_: Decimal
    epsilon: Decimal
    delta: Decimal
    bound: str
    delta_chernoff: Decimal
    delta_blanket: Decimal | None
    proposition_27: Decimal | None
    certificate: Path | None = None


def of_count(unknown: int, lambda_: str, epsilon: str, output: Path | None, replace: bool) -> None:
    """Print δ of an exact count, under assumptions about what the adversary knows.

    This is another kind of statement than a release's: it rests on those assumptions alone, no
    account pays for it, and it composes over disjoint new users only.
    """
    from policy_engine.accounting.partial_knowledge import count_numbers
    from policy_engine.attest import count_certificate as certified

    if replace and output is None:
        raise UsageError("--replace replaces a certificate; name it with --output")
    if output is not None:
        _check_place(output, replace=replace)
    made = certified.certify_count(unknown, lambda_, epsilon)
    numbers = count_numbers(unknown, lambda_, epsilon)
    if output is not None:
        _write(made, output, replace=replace)
    answer = CountAnswer(
        assumptions=made.assumptions,
        kind=certified.KIND,
        protects=certified.PROTECTS,
        limits=certified.LIMITS,
        unknown=made.unknown,
        lambda_=made.floor,
        epsilon=made.epsilon,
        delta=made.delta,
        bound="numeric",
        delta_chernoff=numbers.delta_chernoff,
        delta_blanket=numbers.delta_blanket,
        proposition_27=numbers.proposition_27,
        certificate=output,
    )
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
    if output is not None:
        lines.append(f"certificate  {output}")
    emit(answer, lines)


def _check_place(path: Path, *, replace: bool) -> None:
    """Refuse a place where something stands, but for a count's certificate and ``replace``."""
    from policy_engine.attest.attestation import stated_type
    from policy_engine.attest.count_certificate import COUNT_PREDICATE_TYPE
    from policy_engine.attest.keys import explained

    check_free(path, replace=replace)
    with explained(f"{path} could not be read"):
        content = bytes_in(path) if path.exists() else None
    if content is not None and stated_type(content) != COUNT_PREDICATE_TYPE:
        raise FileError(
            f"{path} is no certificate of a count, and only such a one is replaced; name another"
            " place"
        )


def _write(made: CountCertificate, path: Path, *, replace: bool) -> None:
    """Sign with the project's key, which is made when missing, and put the file in place whole."""
    from policy_engine.attest.attestation import sign
    from policy_engine.attest.signers import signer_of
    from policy_engine.attest.validity import moment
    from policy_engine.releasing.publish import write_certificate

    envelope = sign(made.statement(), signer_of(project_here(), moment(made.time)))
    write_certificate(envelope.to_document(), path, replace=replace)
