"""What the limit of an account with windows promises, in the words that every output has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.windows import ToldOf, told_of
from policy_engine.calendars import Calendar
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.window_states import Amounts

_FEW = (1, 3)
"""Of so many windows the total is told."""
_WORDS = {1: "one", 3: "three"}


def totals(
    limit: Limit, promised: Iterable[Amounts] = (), ever: Amounts | None = None
) -> tuple[ToldOf, ...]:
    """What one window, and what three of an account promise together, by their limits.

    ``promised`` are the limits under which windows were charged before, which may have been
    higher; what all promise for ever, which is ``ever`` where the limit was another, is not passed.
    """
    limits = [(limit.epsilon, limit.delta)] * max(_FEW)
    found = (told_of([*limits, *promised], windows) for windows in _FEW)
    ever = ever or limit.ever
    if ever is None:
        return tuple(found)
    epsilon, delta = ever
    return tuple(
        each if each.epsilon <= epsilon and each.delta <= delta
        else ToldOf(each.windows, epsilon, delta)
        for each in found
    )  # fmt: skip


def promises(account: Account) -> tuple[str, ...]:
    """The sentences of an account with windows, or whose limit was another; none of others.

    >>> from decimal import Decimal
    >>> year = Limit(Decimal(1), Decimal("1e-6"), each=Calendar.YEAR)
    >>> for sentence in promises(Account("people", limit=year)):
    ...     print(sentence)
    What the releases of one year add to what was known before them: (1, 0.000001) of anybody.
    In total: (1, 0.000001) of somebody whose rows stood in the table during releases that count \
in one year only, (3, 0.000003) for three, whenever the rows' own events were. Rows that are never \
deleted are in every year to come.
    """
    limit = account.limit
    if limit is None:
        return ()
    if limit.each is not None:
        return tuple(_sentences(account, limit, limit.each))
    told = account.together()
    if told == (limit.epsilon, limit.delta) or not account.charges:
        return ()
    return (
        f"All releases of this account together, so far and later: at most {Limit(*told)} for any"
        " person. Some were charged before this limit began, so of all its limits the largest ε"
        " counts, and their δ are added up.",
    )


def _sentences(account: Account, limit: Limit, each: Calendar) -> Iterator[str]:
    word, ever = each.value, account.promised_ever(limit)
    one, three = totals(limit, account.promised(limit), ever)
    pair = _pair((one.epsilon, one.delta))  # of a window whose limit was a higher one, too
    if limit.of is not None:
        yield (
            f"What is ever told of one person's rows of one {word}, by {limit.of}:"
            f" {_pair((one.epsilon, one.delta))}, whatever is released of other {word}s. Of one"
            f" person's rows of three {word}s: {_pair((three.epsilon, three.delta))}."
        )
        if limit.joins:
            yield (
                f"What a joined table says of a person lies in no {word}: of that {word}s add up,"
                f" three of them to {_pair((three.epsilon, three.delta))}."
            )
    else:
        yield (
            f"What the releases of one {word} add to what was known before them: {pair} of anybody."
        )
        yield (
            f"In total: {pair} of somebody whose rows stood in the table"
            f" during releases that count in one {word} only,"
            f" {_pair((three.epsilon, three.delta))} for three, whenever the rows' own events were."
            f" Rows that are never deleted are in every {word} to come."
        )
    if ever is not None:
        yield f"Of all {word}s together, for ever: {_pair(ever)}."


def beginning(account: Account, windows: Iterable[str]) -> str:
    """That a release is the first in a window of an account; empty where it is not.

    Windows of rows do not renew: each is of other rows, and told of once.

    >>> from decimal import Decimal
    >>> year = Limit(Decimal(1), Decimal("1e-6"), each=Calendar.YEAR)
    >>> print(beginning(Account("people", limit=year), ["2027"]))
    2027 begins for account 'people': what its releases add to what was known before them is up to \
(1, 0.000001) more
    """
    limit = account.limit
    new = [name for name in windows if not account.window(name).charges]
    if limit is None or limit.each is None or limit.of is not None or not new:
        return ""
    pair = _pair((limit.epsilon, limit.delta))
    told = f"what its releases add to what was known before them is up to {pair} more"
    return f"{new[0]} begins for account {account.name!r}: {told}"


def _pair(amounts: Amounts) -> str:
    return f"({in_text(amounts[0])}, {in_text(amounts[1])})"
