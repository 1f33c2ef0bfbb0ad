"""The attacks, each a function of what is published and of what an adversary knows besides.

None of them is a proof that a table is safe where it learns nothing. What holds of every attack at
once, also of those that nobody has thought of, is (ε, δ) of a certificate.

* Homogeneity and background knowledge: Machanavajjhala et al. 2007.
* Skewness and similarity: Li, Li, Venkatasubramanian 2007.
* Linkage and unsorted matching: Sweeney 2002.
* Differencing: two tables before and after one person (Denning 1982, for queries).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from policy_engine.measure.subjects import Promise
from policy_engine.values import frozen

Key = tuple[Any, ...]
_BAR = Decimal("0.8")
"""Of a class of which so many have one value, everybody's is all but known."""
_OFTEN = 2
"""Skewness is told from so many times the share in the table on."""


@frozen
class PublishedTable:
    """A published table: how many people have each sensitive value, by what is known of them.

    ``rows`` are the values of its rows in their order, of a table of one row a person; else empty.
    """

    name: str
    quasi: tuple[str, ...]
    sensitive: str
    classes: Mapping[Key, Counter[Any]]
    rows: tuple[tuple[Key, Any], ...] = ()


@frozen
class Attempt:
    """One attack: what it took, what it learnt, line by line, and what stops it.

    ``victims`` is how many people it learnt something of, for certain or as the lines say.
    ``bound`` is what a theorem says of the most that it can learn, and ``measured`` what runs gave,
    or how often it is right. ``nothing`` is what is true of the table where it learnt nothing.
    """

    name: str
    needed: str
    victims: int
    learned: tuple[str, ...]
    remedy: str
    bound: str = ""
    measured: str = ""
    nothing: str = ""
    is_guess: bool = False
    """Whether it is right of some alone, of whom it learns anything."""


_SMALLER = "a smaller guarantee.epsilon"
_MEMBERSHIP = Attempt("membership", "the data of everybody else", 0, (), _SMALLER)


def classes_of(rows: Sequence[tuple[Key, Any, int]]) -> dict[Key, Counter[Any]]:
    """Classes from what is known, the sensitive value, and how many people.

    >>> classes_of([(("a",), "flu", 2), (("a",), None, 1)])
    {('a',): Counter({'flu': 2, None: 1})}
    """
    found: dict[Key, Counter[Any]] = defaultdict(Counter)
    for key, value, people in rows:
        found[key][value] += people
    return dict(found)


def homogeneity(table: PublishedTable) -> Attempt:
    """Of everybody in a class with one sensitive value, that value is known."""
    alike = {key: cells for key, cells in table.classes.items() if len(cells) == 1}
    return Attempt(
        "homogeneity",
        f"the table, and {_known(table.quasi)} of a person who is in it",
        sum(cells.total() for cells in alike.values()),
        tuple(f"{_named(table, key)}: {table.sensitive} is {_value(cells)}"
              for key, cells in alike.items()),
        f"models: {{l_diversity: {{of: {table.sensitive}, l: 2}}}}",
        nothing=f"in no class everybody has the same {table.sensitive}",
    )  # fmt: skip


def best_guess(table: PublishedTable) -> Attempt:
    """Of everybody the commonest value of their class is guessed: how often that is right.

    It is right of more people than whoever guesses the table's commonest value of everybody, and of
    whom ``_BAR`` or more of a class have the value it is all but known, rare in the table or not.
    """
    whole: Counter[Any] = sum(table.classes.values(), Counter())
    people, named = whole.total(), f"the table, and {_known(table.quasi)} of a person who is in it"
    if not people:
        return Attempt("best guess", named, 0, (), "", nothing="the table shows nobody")
    found: list[tuple[Decimal, int, str]] = []
    right = 0
    for key, cells in table.classes.items():
        [(value, most)] = cells.most_common(1)
        right += most
        posterior, prior = Decimal(most) / cells.total(), Decimal(whole[value]) / people
        told = (
            f"{_named(table, key)}: {table.sensitive} is {_shown(value)} of {most:,} in"
            f" {cells.total():,}, {_per_cent(posterior)}; in the table {_per_cent(prior)}"
        )
        found.append((posterior, cells.total(), told))
    found.sort(key=lambda each: (-each[0], -each[1]))
    above = [each for each in found if each[0] >= _BAR]
    before, after = Decimal(whole.most_common(1)[0][1]) / people, Decimal(right) / people
    return Attempt(
        "best guess",
        named,
        sum(size for _, size, _ in above),
        tuple(told for _, _, told in above),
        f"models: {{l_diversity: {{of: {table.sensitive}, l: 2, kind: recursive, c: 4}}}}",
        measured=(
            f"right of {_per_cent(after)} of the people shown; who guesses the table's commonest"
            f" value of everybody is right of {_per_cent(before)}: {100 * (after - before):.1f}"
            " points more by classes;"
            f" the worst class: {found[0][2]}"
        ),
        nothing=f"in no class {_per_cent(_BAR)} or more have one {table.sensitive}",
        is_guess=True,
    )


def _per_cent(share: Decimal) -> str:
    """Rounded; what is not certain never to 100."""
    return f"{100 * share:.1f} %" if share == 1 or share < Decimal("0.9995") else "99.9 %"


def similarity(table: PublishedTable, kinds: Mapping[Any, str]) -> Attempt:
    """Values that differ and are of one kind: of everybody in such a class the kind is known.

    ``kinds`` are what the values are one step up a hierarchy.
    """
    learned, victims = [], 0
    for key, cells in table.classes.items():
        found = {kinds.get(value) for value in cells}
        if len(cells) > 1 and len(found) == 1 and None not in found:
            victims += cells.total()
            learned.append(f"{_named(table, key)}: {table.sensitive} is some {found.pop()}")
    return Attempt(
        "similarity",
        f"the table, and what kinds of {table.sensitive} there are",
        victims,
        tuple(learned),
        f"recode {table.sensitive} to its kinds, and hold l_diversity on those",
        nothing=f"in no class of several values all {table.sensitive} are of one kind",
    )


def membership(promise: Promise, *others: Promise) -> Attempt:
    """What no attack on certified releases exceeds, whatever it knows: (e^ε + δ) / (1 + e^ε).

    Of several the composed curve is taken at ε = 0: ½(1 + δ(0)). That may be less than the former
    of one, so it is said too what it is of one. Where they do not compose, it is said that nothing
    is known of all of them.
    """
    from policy_engine.accounting.composition import Accountant
    from policy_engine.accounting.in_words import in_text
    from policy_engine.accounting.odds import odds_sentence

    both = (promise, *others)
    epsilon, delta = promise.epsilon, promise.delta
    told = [f"ε = {in_text(p.epsilon)} and δ = {in_text(p.delta)} (unit: {p.unit})" for p in both]
    by = " and ".join(told)
    if others:
        by = f"both together, {by}"
        if len({(p.unit, p.neighbours) for p in both}) > 1:
            return unbounded("they are of different units, or count in different notions")
        alone = [Accountant.of([p.event], promise.neighbours).delta(0) for p in both]
        of_one = odds_sentence(0, max(alone)).partition("odds, ")[2].removesuffix(".")
        by += f"; who sees one of them alone {of_one}, reckoned like that"
        accountant = Accountant.of([p.event for p in both], promise.neighbours)
        epsilon, delta = Decimal(0), max(*alone, accountant.delta(0))
    said = odds_sentence(epsilon, delta, promise.neighbours).removesuffix(".")
    return replace(_MEMBERSHIP, bound=f"{said}, by {by}")


def unbounded(why: str) -> Attempt:
    """That nothing bounds every attack on two tables together, and why."""
    return replace(_MEMBERSHIP, bound=f"nothing bounds every attack on both together: {why}")


def background(table: PublishedTable) -> Attempt:
    """Who can exclude one of two values knows the other."""
    two = {key: cells for key, cells in table.classes.items() if len(cells) == 2}
    return Attempt(
        "background knowledge",
        f"besides, one value of {table.sensitive} that the person does not have",
        sum(cells.total() for cells in two.values()),
        tuple(f"{_named(table, key)}: {' or '.join(map(_shown, cells))}, and one can be excluded"
              for key, cells in two.items()),
        f"models: {{l_diversity: {{of: {table.sensitive}, l: 3}}}}; whatever can be excluded,"
        " (ε, δ) holds",
        nothing=f"no class has two values of {table.sensitive}, of which one could be excluded",
    )  # fmt: skip


def skewness(table: PublishedTable) -> Attempt:
    """A value that is far more frequent in a class than in the table."""
    whole: Counter[Any] = sum(table.classes.values(), Counter())
    found, victims = [], 0
    for key, cells in table.classes.items():
        value, times = max(
            ((v, n * whole.total() / (whole[v] * cells.total())) for v, n in cells.items()),
            key=lambda each: each[1],
        )
        if times >= _OFTEN:
            victims += cells.total()
            share, before = cells[value] / cells.total(), whole[value] / whole.total()
            found.append(
                f"{_named(table, key)}: {table.sensitive} is {_shown(value)} of {share:.3g}, and of"
                f" {before:.3g} in the table"
            )
    return Attempt(
        "skewness",
        f"the table, and {_known(table.quasi)} of a person who is in it",
        victims,
        tuple(found),
        f"models: {{t_closeness: {{of: {table.sensitive}, t: 0.2}}}}",
        nothing=f"no class has a value of {table.sensitive} {_OFTEN} times as often as the table",
    )


def linkage(table: PublishedTable, known: Sequence[Mapping[str, object]], name: str) -> Attempt:
    """Somebody of another table who is alone in a class, or whose class has one value."""
    learned, victims = [], 0
    for number, person in enumerate(known, 1):
        key = tuple(person[column] for column in table.quasi)
        cells = table.classes.get(key)
        if cells is None or (cells.total() > 1 and len(cells) > 1):
            continue
        victims += 1
        alone = "alone in a class" if cells.total() == 1 else "in a class of one value"
        learned.append(f"row {number} of {name} is {alone}: {table.sensitive} is {_value(cells)}")
    return Attempt(
        "linkage",
        f"{name}, which has {_known(table.quasi)} of {len(known):,} people",
        victims,
        tuple(learned),
        "k, and coarser recodes: nobody is alone in a class of k; and models, so that no class"
        " has one value",
        nothing=f"nobody of {name} is alone in a class, or in one of one value",
    )


def differencing(before: PublishedTable, after: PublishedTable) -> Attempt:
    """A person who came or went between two tables, where no other in the class did."""
    learned = []
    for key in {**before.classes, **after.classes}:
        one, other = (each.classes.get(key, Counter()) for each in (before, after))
        gone, come = one - other, other - one
        if (gone + come).total() == 1:
            went = "left" if gone else "came"
            learned.append(
                f"{_named(before, key)}: who {went} has {before.sensitive} {_value(gone or come)}"
            )
    return Attempt(
        "differencing",
        f"{before.name} and {after.name}, and that of one class one person is in one of them alone",
        len(learned),
        tuple(learned),
        "mechanism: noisy_counts, and one account for both: a difference of one is then noise",
        nothing="in no class the two tables differ by one person",
    )


def unsorted_matching(one: PublishedTable, other: PublishedTable) -> Attempt:
    """Two recodings of the same people in the same order: their rows are joined by their place."""
    joined: dict[tuple[Key, Key], list[Any]] = defaultdict(list)
    same = len(one.rows) == len(other.rows) and all(
        a == b for (_, a), (_, b) in zip(one.rows, other.rows, strict=False)
    )
    for (a, value), (b, _) in zip(one.rows, other.rows, strict=False) if same else ():
        joined[a, b].append(value)
    alone = {key: values for key, values in joined.items() if len(values) == 1
             and one.classes[key[0]].total() > 1 and other.classes[key[1]].total() > 1}  # fmt: skip
    return Attempt(
        "unsorted matching",
        f"{one.name} and {other.name}, with the same people in the same order",
        len(alone),
        tuple(f"{_named(one, a)}; {_named(other, b)}: one person, {one.sensitive} is"
              f" {_shown(values[0])}" for (a, b), values in alone.items()),
        "as: counts, or release with policy-engine, which sorts all rows by what they show",
        nothing="their rows are in no common order, or nobody is alone when joined by it",
    )  # fmt: skip


def attempts(
    table: PublishedTable,
    other: PublishedTable | None = None,
    known: Sequence[Mapping[str, object]] | None = None,
    name: str = "",
    kinds: Mapping[Any, str] | None = None,
) -> Iterator[Attempt]:
    """Every attack for which there is what it needs."""
    yield best_guess(table)
    yield homogeneity(table)
    if kinds is not None:
        yield similarity(table, kinds)
    yield background(table)
    yield skewness(table)
    if known is not None:
        yield linkage(table, known, name)
    if other is not None and other.quasi == table.quasi:
        yield differencing(table, other)
    if other is not None and table.rows and other.rows:
        yield unsorted_matching(table, other)


def _known(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "nothing"


def _named(table: PublishedTable, key: Key) -> str:
    named = zip(table.quasi, key, strict=True)
    return ", ".join(f"{name} {_shown(value)}" for name, value in named) or "everybody"


def _value(cells: Counter[Any]) -> str:
    return _shown(next(iter(cells)))


def _shown(value: Any) -> str:
    return "NULL" if value is None else str(value)
