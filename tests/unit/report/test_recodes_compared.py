"""Which of two recodes tells more: by their definition, on every value there is."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.policy.recodings import mapped
from policy_engine.report.recodes import compared

VALUES = range(6)
FLIPPED = {"coarser": "finer", "finer": "coarser"}


def is_function(of, by):
    """Whether ``by`` can be made from ``of``, over all values."""
    return len({(of(v), by(v)) for v in VALUES}) == len({of(v) for v in VALUES})


def bins(cuts, labels):
    return Bins(tuple(cuts), tuple(labels[: len(cuts) + 1]))


BINS = st.builds(
    bins,
    st.lists(st.integers(1, 5), min_size=1, max_size=4, unique=True).map(sorted),
    st.lists(st.sampled_from("abc"), min_size=6, max_size=6),
)
LOOKUPS = st.builds(
    lambda table, other: mapped(tuple(sorted(table.items())), other),
    st.dictionaries(st.sampled_from([*map(str, VALUES)]), st.sampled_from("abc")),
    st.sampled_from([*"abc", None]),
)


def binned(recode, value):
    return recode.labels[sum(cut <= value for cut in recode.cuts)]


def looked_up(recode, value):
    return next((label for keys, label in recode.groups if str(value) in keys), recode.other)


# A busy machine draws slowly, which says nothing of the test.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.one_of(
        st.tuples(BINS, BINS, st.just(binned)), st.tuples(LOOKUPS, LOOKUPS, st.just(looked_up))
    )
)
def test_coarser_is_what_can_be_made_of_the_other(pair):
    old, new, meaning = pair
    was, now = (lambda value: meaning(old, value)), (lambda value: meaning(new, value))
    found = compared(old, new)
    makes, made = is_function(was, now), is_function(now, was)
    # A table's 'every other value' is there though no value of these has it.
    if meaning is looked_up:
        keys = {*old.keys, *new.keys}
        if not {*map(str, VALUES)} - keys:
            return
    same = all(was(v) == now(v) for v in VALUES)
    wanted = "coarser" if makes else "finer" if made else "other"
    if makes and made:
        wanted = "same" if same else "relabelled"
    assert found == wanted
    assert compared(new, old) == FLIPPED.get(found, found)
    listed = recode_meaning(old).beside(new)
    assert same == all(before == after for _, before, after in listed)


@pytest.mark.parametrize(
    ("old", "new", "order"),
    [
        (Keep(), Constant("*"), "coarser"),
        (Constant("*"), Keep(), "finer"),
        (Constant("a"), Constant("b"), "relabelled"),
        (Keep(), Prefix(2), "coarser"),
        (Prefix(2), Keep(), "finer"),
        (Prefix(2), Prefix(3), "finer"),
        (Truncate("day"), Truncate("year"), "coarser"),
        (Truncate("week"), Truncate("day"), "finer"),
        (Truncate("day"), Truncate("week"), "coarser"),
        (Truncate("week"), Truncate("month"), "other"),
        # A month of another zone is no union of days of this one.
        (Truncate("day"), Truncate("month", "Europe/Berlin"), "other"),
        (Truncate("day", "Europe/Berlin"), Truncate("month", "Europe/Berlin"), "coarser"),
        (Round(Decimal(5)), Round(Decimal(10)), "other"),
        (Round(Decimal(5)), Round(Decimal("5.0")), "same"),
        (Prefix(3), Bins((1,), ("a", "b")), "other"),
        # The column has another type now.
        (Bins((1,), ("a", "b")), Bins((date(2000, 1, 1),), ("a", "b")), "other"),
        (Map((((1,), "a"),), None), Map((((1,), "a"),), "a"), "coarser"),
        (Map((((1,), "a"),), "a"), Map((((1,), "a"),), None), "finer"),
    ],
)  # fmt: skip
def test_other_recodes(old, new, order):
    assert compared(old, new) == order


def test_a_recode_in_words():
    assert recode_meaning(Map((((1, 2), "low"), ((3,), None)), None)).in_short == (
        "3 values mapped to low; every other one is left empty"
    )
    assert recode_meaning(Keep()).in_short == "as it is"
