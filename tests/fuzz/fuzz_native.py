"""The count law of a native sample, by running a text many times.

Each run draws a new sample, so a group of N units shows a count with the law of Bin(N, rate), cut
off below k ([EXACT]). Every count that is possible is two exact binomial tests: how often it is
shown, and how often it or more is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from fuzz_world import World
from scipy.stats import binom, binomtest

from policy_engine.relations.shape import ReleaseShape

FALSE_ALARM = 1e-12
"""The chance, at most, that a right text fails: bounded over all tests of one call."""


def native_fault(
    text: str, shape: ReleaseShape, world: World, sizes: dict[str, int], runs: int = 500
) -> str:
    """What contradicts the law of ``shape``, '' if nothing does.

    ``sizes`` are the units of each group, by the text of its row without the count.
    """
    place = list(shape.shown).index(str(shape.count))
    seen: dict[str, Counter[int]] = {group: Counter() for group in sizes}
    for _ in range(runs):
        for row in world.base.run(text, "secret"):
            group = repr((*row[:place], *row[place + 1 :]))
            if group not in seen:
                return f"a group that nobody is in: {group}"
            seen[group][int(str(row[place]))] += 1
    for group, counts in seen.items():
        if not set(counts) <= set(_law(sizes[group], shape.rate, shape.k)):
            return f"{group} with a count that is not possible: {counts}"
    tests = [test for group in sizes for test in _tests(group, sizes[group], shape, seen[group])]
    for what, hits, chance in tests:
        if binomtest(hits, runs, min(1.0, chance)).pvalue < FALSE_ALARM / len(tests):
            return f"{what} in {hits} of {runs} runs, not {chance:.3g} of them"
    return ""


def _tests(
    group: str, size: int, shape: ReleaseShape, seen: Counter[int]
) -> Iterator[tuple[str, int, float]]:
    law = _law(size, shape.rate, shape.k)
    for count, chance in law.items():
        yield f"{group} counted {count}", seen[count], chance
        more = [other for other in law if other >= count]
        hits = sum(seen[other] for other in more)
        yield f"{group} counted {count} or more", hits, sum(law[other] for other in more)


def _law(size: int, rate: Fraction, k: int) -> dict[int, float]:
    return {count: float(binom.pmf(count, size, float(rate))) for count in range(k, size + 1)}
