"""`filter`: who is released at all, and every way in which it can be wrong."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest


def test_conditions_are_values_or_a_range(load):
    found = load(filter="filter: {zip: {in: [10115, DE]}, age: {at_least: 18, below: 65.5}}").filter
    assert [name for name, _ in found] == ["age", "zip"]
    (_, age), (_, code) = found
    assert (age.at_least, age.below, age.members) == (Decimal(18), Decimal("65.5"), ())
    assert (code.members, code.at_least, code.below) == (("10115", "DE"), None, None)
    [(_, born)] = load(filter="filter: {born: {below: 2000-01-01}}").filter
    assert born.below == date(2000, 1, 1)


def test_a_condition_may_name_who_is_not_in_and_who_has_no_value(load):
    written = "filter: {zip: {not_in: [a, b], missing: true}, age: {missing: false}}"
    (_, age), (_, code) = load(filter=written).filter
    assert (code.not_in, code.missing, code.members) == (("a", "b"), True, ())
    assert (age.missing, age.not_in, age.members) == (False, (), ())


def test_a_label_may_stand_for_null(load):
    found = load(recode="recode: {zip: {missing: none}, age: {bins: [18], missing: '?'}, b: keep}")
    assert found.missing == (("zip", "none"), ("age", "?"))


def test_a_filter_is_part_of_the_policy_s_digest(load):
    digests = [
        load().digest,
        load(filter="filter: {zip: {in: [a]}}").digest,
        load(filter="filter: {zip: {in: [b]}}").digest,
        load(filter="filter: {age: {at_least: 18}}").digest,
        load(filter="filter: {age: {below: 18}}").digest,
    ]
    assert len(set(digests)) == len(digests)
    one, other = "filter: {a: {in: [x]}, b: {in: [y]}}", "filter: {b: {in: [y]}, a: {in: [x]}}"
    assert load(filter=one).digest == load(filter=other).digest
    assert load(filter=one).filter == load(filter=other).filter


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("{}", "9:9: filter must be a mapping of column: condition, found an empty mapping;"
               " name at least one column, or uncomment one"),
        ("[US]", "9:9: filter must be a mapping of column: condition, found a list"),
        ("{zip: US}", "9:15: filter.zip must be a mapping, found 'US'"),
        ("{zip: {}}", "9:15: filter.zip must have in, not_in, at_least, below or missing: false;"
                      " as in {in: [US]} or {at_least: 18}"),
        ("{zip: {missing: true}}", "9:15: filter.zip must have in, not_in, at_least, below or"),
        ("{zip: {not_in: [a], in: [b]}}", "9:16: filter.zip.not_in must not stand beside in"),
        ("{zip: {not_in: []}}", "9:24: filter.zip.not_in must be a list of values, found an"),
        ("{zip: {not_in: [a], missing: 1}}", "9:38: filter.zip.missing must be true or false"),
        ("{zip: {in: US}}", "9:20: filter.zip.in must be a list of values, found 'US'; as in"
                            " [US, CA]"),
        ("{zip: {in: []}}", "9:20: filter.zip.in must be a list of values, found an empty list;"
                            " as in [US, CA]"),
        ("{age: {in: [1], below: 3}}", "9:25: filter.age.below must not stand beside in;"
                                       " keep one"),
        ("{age: {below: 3, above: 3}}", "9:26: filter.age.above is an unknown key"),
        ("{age: {at_least: x}}", "9:26: filter.age.at_least must be a number, a date or a"
                                 " timestamp, found 'x'"),
        ("{age: {at_least: 3, below: 3}}", "9:36: filter.age.below must be greater than at_least,"
                                           " 3, found 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_filter(problems, written, found):
    problem, *_ = problems(filter=f"filter: {written}")
    assert problem.startswith(found), problem


def test_a_constant_has_no_name_of_a_filtered_column(problems):
    [found] = problems(recode='recode: {Zip: {constant: "*"}}', filter="filter: {zip: {in: [a]}}")
    assert found == (
        "4:15: recode.Zip is a constant, and the name of a column of filter; give the constant"
        " another name"
    )
