"""plan: what a policy would publish, what a reader could see of it, and what it would cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.outlook import Outlook, chance_document, chance_lines
from policy_engine.cli.output import (
    Format,
    FormatOption,
    brief,
    emit,
    note,
    number,
    shown,
)
from policy_engine.cli.progress import progress
from policy_engine.errors import UsageError
from policy_engine.policy.escapes import sql_lines

if TYPE_CHECKING:
    from policy_engine.cli.comparing import Table
    from policy_engine.ledger.account import Balance
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.preview import Preview

_MOST = 10
"""So many further releases are looked ahead, and no more."""
_FEW = 3


def plan(
    policy: Annotated[Path, typer.Argument(help="A policy file.", readable=False)],
    releases: Annotated[
        int, typer.Option(min=1, help="Compare mechanisms if the guarantee were of so many.")
    ] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Draw the comparison: FILE.svg, .png or .pdf."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a plot that stands there.")
    ] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL as well, last.")] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """A dry run: the certificate to be, what will be seen, the price. Releases nothing.

    What will be seen follows from the policy alone: how many groups its recodes can make, how large
    a group must be to be shown, and how wrong a count will be; and the same of every other
    mechanism at the policy's (ε, δ). Exits with 1 where the account cannot pay.

    Example: policy-engine plan policies/adult/policy.yaml
    """
    from policy_engine.attest.syntactic import Uncertified
    from policy_engine.cli.syntactic import plan_lines, planned
    from policy_engine.policy.loading import load_policy
    from policy_engine.policy.noise import Chance
    from policy_engine.releasing.planning import unenforced
    from policy_engine.releasing.preview import about, preview
    from policy_engine.releasing.validation import check_guarantee, warnings_of

    if output is not None:
        from policy_engine.cli.plots import check_place

        check_place(output, replace=replace)
    elif replace:
        raise UsageError("--replace replaces a plot; name it with --output")
    loaded = load_policy(policy, syntactic=True)
    if not loaded.is_syntactic:
        check_guarantee(loaded)
    with about(policy):
        found = preview(loaded)
    text = list(sql_lines(found.certificate.query, found.certificate.dialect)) if sql else []
    for each in (*warnings_of(loaded), *unenforced(loaded, found.certificate)):
        note(f"warning: {each}")
    if found.news:
        note(found.news)
    if isinstance(found.certificate, Uncertified):
        emit(planned(loaded, found, found.certificate), [*plan_lines(loaded, found), *text], format)
        if not found.affordable:
            raise typer.Exit(1)
        return
    seen = None if isinstance(loaded.noise, Chance) else Outlook.of(loaded)
    more = found.more(_MOST) if found.affordable else None
    if warning := _warning(found, more):
        note(f"warning: {warning}")
    # Of public values there is nothing to compare: they are for those who trust no centre.
    table = None if seen is None else _compared(loaded, seen, releases)
    document, lines = _planned(loaded, found, seen, more), _text(loaded, found, seen, more, table)
    if table is not None:
        document |= {"comparison": table.document()} | table.drawn(output)
    if table is not None and output is not None:
        lines.append(f"plot  {output}")
    emit(document, [*lines, *text], format)
    if not found.affordable:
        raise typer.Exit(1)


def _compared(policy: Policy, seen: Outlook, releases: int) -> Table:
    """Every mechanism at the policy's guarantee, for one release or for several together.

    k of a sample is the accountant's: noise is not asked for groups of so many people. Of several
    numbers a person each gets an equal part.
    """
    from policy_engine.accounting.comparison import compare
    from policy_engine.accounting.tables import Aim
    from policy_engine.cli.comparing import Table
    from policy_engine.policy.noise import Noise

    asked, noise = policy.guarantee, policy.noise
    assert noise is None or isinstance(noise, Noise)
    numbers, at_least = (1, 1) if noise is None else (noise.numbers, policy.k)
    aim = Aim(asked.epsilon, asked.delta, asked.neighbours, numbers, releases,
              at_least=at_least, listed=seen.own.listed)  # fmt: skip
    with progress("comparing mechanisms"):
        return Table(aim, compare(aim), seen.own if releases == 1 else seen.own.law)


def _planned(
    policy: Policy, found: Preview, seen: Outlook | None, more: int | None
) -> dict[str, Any]:
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
        "models": [model.to_json() for model in policy.models],
        "release": _place(policy),
        "outlook": chance_document(certificate) if seen is None else seen.document,
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


def _text(
    policy: Policy,
    found: Preview,
    seen: Outlook | None,
    more: int | None,
    table: Table | None,
) -> list[str]:
    from policy_engine.accounting.odds import odds_words

    certificate = found.certificate
    sampled = f"rate {shown(certificate.rate)}, k = {certificate.k}"
    lines = [
        f"release    {_place(policy)} ({policy.release.form})",
        f"guarantee  ε = {shown(certificate.epsilon)}, δ = {shown(certificate.delta)}"
        f" ({certificate.neighbours}, unit: {certificate.unit})",
        f"           {odds_words(certificate.epsilon, certificate.delta, certificate.neighbours)}",
        f"mechanism  {noise_words(policy) or sampled}",
        *[f"           {text}" for text in (*about_rate(policy), *_about_rows(policy))],
        *(chance_lines(certificate) if seen is None else _outlook_lines(policy, seen)),
        *[
            f"model      {model}: classes that lack it are left out of what the query gives, at no"
            " price"
            for model in policy.models
        ],
        *(() if table is None else table.lines()),
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
    from policy_engine.accounting.comparison import per_cent
    from policy_engine.policy.noise import Noise

    if isinstance(policy.noise, Noise) and policy.noise.keys:
        many = math.prod(len(rows) for _, rows in policy.noise.keys)
        yield f"shown      {many:,} public keys, whoever is in them, and no other group"
        yield from _noise_lines(policy, seen)
        return
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
    (half, _), *others = sorted(seen.own.chances, key=lambda each: each[0] != seen.own.half)
    chances = ", ".join(f"{size:,}: {per_cent(chance)}" for size, chance in others)
    yield f"shown      a group of {half:,} people in the source half of the time; of {chances}"
    if seen.of_known > 1:
        each = "combination" if len(seen.open) > 1 else "value"
        every = f", for each {each} of {', '.join(seen.open)}" if seen.open else ""
        together = f"{seen.of_known * half:,} people{every}"
        those = f"{seen.of_known:,} groups of that size, without missing values"
        yield f"           {those}: {together}"
    if policy.noise is not None:
        yield from _noise_lines(policy, seen)
        return
    estimate = f"{_count(policy)} / {shown(policy.rate)} estimates a group of the source"
    yield f"counts     {estimate}: at {half:,} people give or take {seen.own.error:.0f} (1 SD)"


def _count(policy: Policy) -> str:
    return policy.release.count_as if policy.release.form == "counts" else "its rows"


def _noise_lines(policy: Policy, seen: Outlook) -> Iterator[str]:
    said = _of_noise(policy, _count(policy), seen.own.error)
    yield from (f"{head} {text}" for head, text in zip(("counts    ", " " * 10), said, strict=True))
    yield from _beside_counts(policy)
    if policy.part is not None:
        parts, number = policy.part
        drawn = f"drawn by a secret hash of {policy.source.key}"
        estimate = f"{parts} · {_count(policy)} estimates a group of the source"
        yield f"part       all of this is of part {number} of {parts}, {drawn}: {estimate}"


def _of_noise(policy: Policy, count: str, error: Decimal) -> Iterator[str]:
    """What a number with noise is."""
    from policy_engine.policy.noise import Noise

    noise = policy.noise
    assert isinstance(noise, Noise)
    low, high = noise.certain
    if noise.groups > 1:
        about = f"give or take {error:.1f} (1 SD)"
        yield f"{count} estimates how many people were counted in a group: {about}"
        certain = f"for certain {count} - {-low} to {count} + {high} people were counted"
        yield f"{certain}; who is in more than {noise.groups} groups is left out of some"
        return
    yield f"{count} estimates a group of the source: give or take {error:.1f} (1 SD)"
    yield f"for certain the group has between {count} - {-low} and {count} + {high} people"


def _beside_counts(policy: Policy) -> Iterator[str]:
    """What stands beside the counts: sums and means, and other groupings."""
    from policy_engine.accounting.noise_laws import shown_half
    from policy_engine.releasing.meaning import error_of_sum

    noise, count = policy.noise, policy.release.count_as
    for each in noise.sums if noise is not None else ():
        about = error_of_sum(each, count)
        what = "mean" if each.clip.is_mean else "sum"
        yield f"sums       {each.name}, the {what} of {each.column}: give or take {about} (1 SD)"
    for place, coarse in enumerate(noise.groupings if noise is not None else (), 1):
        counts = [f"{shown_half(t, policy.k)} people" for t in coarse.tables[:1]]
        half = f": {counts[0]} are shown half of the time" if counts else ""
        yield f"grouping   {place} by {', '.join(coarse.columns)}{half}"
        for each, table in zip(noise.sums if noise else (), coarse.tables[1:], strict=False):
            yield f"           {each.name}: give or take {error_of_sum(each, count, table)} (1 SD)"


def noise_words(policy: Policy) -> str:
    """The law of the noise, with the numbers that it was given; empty where a sample is drawn."""
    from policy_engine.policy.noise import Noise

    if policy.noise is None:
        return ""
    if not isinstance(policy.noise, Noise):
        return policy.noise.words
    law = policy.noise.law.replace("_", " ")
    groups = f", a person in up to {policy.noise.groups} groups" * (policy.noise.groups > 1)
    least = "public keys" if policy.noise.keys else f"k = {policy.k}"
    return f"noisy counts, law {law}, {least}{groups}"


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
    if balance.unbounded:
        return "of the account no (ε, δ) holds, for releases without one are charged to it"
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
    if source.counts_all:
        return [f"all of each {source.key}'s rows count, once in each group"]
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
