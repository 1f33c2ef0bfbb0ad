"""plan: what a policy would publish, what a reader could see of it, and what it would cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import (
    Format,
    FormatOption,
    brief,
    emit,
    note,
    number,
    shown,
    sql_lines,
)

if TYPE_CHECKING:
    from policy_engine.ledger.account import Balance
    from policy_engine.policy.resolve import Policy
    from policy_engine.release import Preview

_MOST = 10
"""So many further releases are looked ahead, and no more."""
_FEW = 3


def plan(
    policy: Annotated[Path, typer.Argument(help="A policy file.", readable=False)],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """A dry run: the SQL, the certificate to be, what will be seen, the price. Writes nothing.

    What will be seen follows from the policy alone: how many groups its recodes can make, how large
    a group must be to be shown, and how wrong a count will be. Exits with 1 where the account
    cannot pay.

    Example: policy-engine plan policies/adult/policy.yaml
    """
    from policy_engine.policy.loading import load_policy
    from policy_engine.release import preview
    from policy_engine.validation import about, check_guarantee, warnings_of

    loaded = load_policy(policy)
    check_guarantee(loaded)
    with about(policy):
        found = preview(loaded)
    for each in warnings_of(loaded):
        note(f"warning: {each}")
    if found.news:
        note(found.news)
    seen, more = Outlook.of(loaded), found.more(_MOST) if found.affordable else None
    if warning := _warning(found, more):
        note(f"warning: {warning}")
    emit(_planned(loaded, found, seen, more), _text(loaded, found, seen, more), format)
    if not found.affordable:
        raise typer.Exit(1)


@dataclass(frozen=True)
class Outlook:
    """What a reader could see of a release, from its policy alone.

    ``labels`` says of each column how many values its recoding can give at most, a missing one
    being one of them; None where the policy does not tell. ``chances`` are of groups of ½, 1, 1½
    and 2 times the size that is shown half of the time, and ``error`` is the standard deviation of
    the estimate of one of that size.
    """

    labels: dict[str, int | None]
    half: int
    chances: tuple[tuple[int, Decimal], ...]
    error: Decimal

    @classmethod
    def of(cls, policy: Policy) -> Outlook:
        """That of a policy."""
        from policy_engine.accounting.appearing import chance_shown, count_error, half_shown
        from policy_engine.policy.recodings import labels

        read_as = {column.casefold(): kind for column, kind in policy.source.columns}
        half = half_shown(policy.k, policy.rate)
        sizes = (math.ceil(half / 2), half, math.ceil(half * 1.5), half * 2)
        return cls(
            labels={
                column: labels(recoding, read_as.get(column.casefold()))
                for column, recoding in policy.recodings
            },
            half=half,
            chances=tuple((size, chance_shown(policy.k, policy.rate, size)) for size in sizes),
            error=count_error(policy.rate, half),
        )

    @property
    def groups(self) -> int:
        """How many groups the columns make at most whose values the policy tells."""
        return math.prod(count for count in self.labels.values() if count is not None)

    @property
    def of_known(self) -> int:
        """So many of them at most miss no value."""
        return math.prod(max(1, count - 1) for count in self.labels.values() if count is not None)

    @property
    def open(self) -> list[str]:
        """The columns whose values the policy does not tell."""
        return [column for column, count in self.labels.items() if count is None]


def _planned(policy: Policy, found: Preview, seen: Outlook, more: int | None) -> dict[str, Any]:
    certificate, balance = found.certificate, found.balance
    after = found.after if found.affordable else None
    document = {
        "policy": policy.name,
        "sql": certificate.query,
        "k": certificate.k,
        "rate": number(certificate.rate),
        "epsilon": number(certificate.epsilon),
        "delta": number(certificate.delta),
        "neighbours": certificate.neighbours,
        "unit": certificate.unit,
        "assumptions": list(certificate.assumptions),
        "release": _place(policy),
        "outlook": {
            "labels": seen.labels,
            "groups": None if seen.open else seen.groups,
            "half_shown": seen.half,
            "chances": [{"size": size, "shown": float(chance)} for size, chance in seen.chances],
            "count_error": float(seen.error),
        },
        "ledger": {
            "account": found.account.name,
            "affordable": found.affordable,
            "paid_by_entry": found.repeats,
            "epsilon_left": number(balance.left_epsilon, down=True),
            "delta_left": number(balance.left_delta, down=True),
            "epsilon_after": number(after.left_epsilon if after else None, down=True),
            "delta_after": number(after.left_delta if after else None, down=True),
            "more_like_it": more,
        },
    }
    return document if found.affordable else {**document, "refusal": found.refusal}


def left(epsilon: Decimal, delta: Decimal) -> str:
    """What is left of an account, rounded down."""
    return f"ε {brief(epsilon, down=True)}, δ {brief(delta, down=True)}"


def _place(policy: Policy) -> str:
    """Where the release goes, as ``release`` says it of a file."""
    return str(policy.release_path or policy.release.text)


def _text(policy: Policy, found: Preview, seen: Outlook, more: int | None) -> list[str]:
    from policy_engine.accounting.odds import odds_words

    certificate = found.certificate
    lines = [
        *sql_lines(certificate.query, certificate.dialect),
        f"release    {_place(policy)} ({policy.release.form})",
        f"guarantee  ε = {shown(certificate.epsilon)}, δ = {shown(certificate.delta)}"
        f" ({certificate.neighbours}, unit: {certificate.unit})",
        f"           {odds_words(certificate.epsilon, certificate.delta, certificate.neighbours)}",
        f"mechanism  rate {shown(certificate.rate)}, k = {certificate.k}",
        *[f"           {text}" for text in (*about_rate(policy), *_about_rows(policy))],
        *_outlook_lines(policy, seen),
        *_price_lines(found, more),
        "assuming:",
        *[f"  - {text}" for text in certificate.assumptions],
    ]
    if found.repeats is not None:
        lines.append(f"entry {found.repeats} has paid for just this: it costs nothing again")
    elif not found.affordable:
        lines.append(found.refusal)
    return lines


def _outlook_lines(policy: Policy, seen: Outlook) -> Iterator[str]:
    """What a reader could see."""
    told = [f"{column} {count}" for column, count in seen.labels.items() if count is not None]
    factors = [" × ".join(told)] if len(told) > 1 else []
    if any(count is not None and count > 1 for count in seen.labels.values()):
        factors.append("missing values counted as one")
    product = f" ({', '.join(factors)})" if factors else ""
    if seen.open:
        known = f"{seen.groups:,}{product} × the" if told else "the"
        values = f"{known} values of {', '.join(seen.open)}"
        yield f"groups     at most {values}: how many, the policy does not tell"
    else:
        yield f"groups     at most {seen.groups:,}{product}"
    (half, _), *others = sorted(seen.chances, key=lambda each: each[0] != seen.half)
    chances = ", ".join(f"{size:,}: {_per_cent(chance)}" for size, chance in others)
    yield f"shown      a group of {half:,} people in the source half of the time; of {chances}"
    if seen.of_known > 1:
        each = "combination" if len(seen.open) > 1 else "value"
        every = f", for each {each} of {', '.join(seen.open)}" if seen.open else ""
        together = f"{seen.of_known * half:,} people{every}"
        those = f"{seen.of_known:,} groups of that size, without missing values"
        yield f"           {those}: {together}"
    count = policy.release.count_as if policy.release.form == "counts" else "its rows"
    estimate = f"{count} / {shown(policy.rate)} estimates a group of the source"
    yield f"counts     {estimate}: at {half:,} people give or take {seen.error:.0f} (1 SD)"


def _per_cent(chance: Decimal) -> str:
    """A chance with two digits of it, or of what is missing to 1.

    >>> [_per_cent(Decimal(text)) for text in ("0.0031989", "0.9691185", "0.99960679", "1e-9", "1")]
    ['0.32 %', '96.9 %', '99.961 %', '0 %', '100 %']
    """
    rounded = min(chance, 1 - chance).quantize(Decimal("1e-5"))
    near = Decimal(f"{100 * rounded:.2g}")
    return f"{shown(near if chance < Decimal('0.5') else 100 - near)} %"


def _price_lines(found: Preview, more: int | None) -> Iterator[str]:
    certificate, balance = found.certificate, found.balance
    yield (
        f"price      ε {shown(certificate.epsilon)}, δ {shown(certificate.delta)} for one"
        f" {certificate.unit}, from account {found.account.name}; {_now(balance)}"
    )
    if more is not None:
        many = f"{_MOST} or more" if more == _MOST else str(more)
        after = f"left after: {_of(found.after)}; releases like it that fit after it: {many}"
        paid = f"it is paid for already; further releases like it that fit: {many}"
        yield f"           {after if found.repeats is None else paid}"


def _now(balance: Balance) -> str:
    no_limit = "the account has no limit: it only adds up"
    return no_limit if balance.limit is None else f"left now: {_of(balance)}"


def _of(balance: Balance) -> str:
    return left(balance.left_epsilon or Decimal(0), balance.left_delta or Decimal(0))


def _warning(found: Preview, more: int | None) -> str:
    """That the account can soon pay no more; empty where it can."""
    if found.repeats is not None or more is None or more >= _FEW:
        return ""
    name = found.account.name
    if not more:
        return (
            f"this empties account {name!r}: no other release like it fits after it; to leave room,"
            " take a smaller ε or rate, or a greater k"
        )
    return f"after this account {name!r} pays for {more} more like it, and then for none"


def _about_rows(policy: Policy) -> list[str]:
    """Which of a person's rows speaks for them, in at most one line."""
    source = policy.source
    if not source.has_many_rows:
        return []
    order = ", ".join(f"{name} {way}" for name, way in source.order_by)
    drawn = "one drawn by a keyed hash, another in every new sample"
    return [f"of each {source.key}'s rows {f'the first by {order}' if order else drawn}"]


def about_rate(policy: Policy) -> list[str]:
    """Why the certificate's rate is not the policy's, in at most one line."""
    grain, sampled_at = policy.method == "native", policy.source.sampled_at
    if not grain and sampled_at == 1:
        return []
    text = f"the policy's rate of {shown(policy.rate)}"
    if grain:
        text += ", and 2^-32 more, for the engine draws with 32 random bits"
    if sampled_at != 1:
        text += f", times {shown(sampled_at)}, at which the source was sampled"
    return [text]
