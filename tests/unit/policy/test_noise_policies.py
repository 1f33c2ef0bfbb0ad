"""`mechanism`, `noise`, `contribution`: what a policy of noisy counts says, and must not."""

from dataclasses import replace
from decimal import Decimal

import pytest
import yaml

from policy_engine.accounting.noise import ReleaseCurve, Statistic
from policy_engine.errors import PolicyError
from policy_engine.kernel.mechanisms import Noisy
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.noise import noise_of, noisy_shape

PLAIN = """
version: 1
name: noisy
source: {file: p.parquet}
privacy_unit: row
recode: {sex: keep}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {file: out.parquet}
"""


def load(text):
    return load_policy_text(text, "policy.yaml", ".")


def problems(text):
    with pytest.raises(PolicyError) as caught:
        load(text)
    return [f"{p.message}; {p.remedy}" for p in caught.value.problems]


def test_without_a_sample_everybody_is_counted():
    found = load(PLAIN)
    assert (found.noise.law, found.k, found.rate) == ("truncated_laplace", 1, 1)
    assert found.noise.certain == (-13, 14)
    assert found.noise.least_shown(found.k) == 14
    assert load(PLAIN + "mechanism: noisy_counts\n").noise == found.noise
    assert load(PLAIN + "sample: {rate: 0.1}\nk: 20\n").noise is None


def test_k_is_the_least_size_of_a_group_shown():
    found = load(PLAIN + "k: 20\n")
    assert (found.k, found.noise.least_shown(found.k)) == (20, 33)


@pytest.mark.parametrize("law", ["truncated_laplace", "discrete_gaussian", "negative_binomial"])
def test_a_law_can_be_named(law):
    found = load(PLAIN + f"noise: {{distribution: {law}}}\n")
    assert found.noise.law == law
    low, high = found.noise.certain
    assert low < 0 < high
    if law == "negative_binomial":
        assert (found.k, found.noise.offset, found.noise.least_shown(found.k)) == (14, 55, 55)


MANY = PLAIN.replace("privacy_unit: row", "privacy_unit: {column: id, rows: all}") + (
    "contribution: {max_groups: 3, max_rows_per_group: 4}\n"
)


def test_a_median_gets_what_the_count_leaves():
    """Of one median half of ε is the count's, and what one draw for both meets is used up."""
    asked = "measures: {m: {median: hours, bounds: [0, 99], missing: {as: 40}}}\n"
    found = load(PLAIN + asked).noise
    [chosen] = found.quantiles
    assert (chosen.at, chosen.over, chosen.candidates) == (Decimal("0.5"), 0, 100)
    assert Decimal("0.49") < chosen.spent < Decimal("0.52")
    drawn = (Statistic(found.table), chosen.choice(1))
    assert ReleaseCurve.of(drawn).delta(1).delta <= Decimal("1e-6")
    more = (Statistic(found.table), replace(chosen, epsilon=chosen.spent + 1).choice(1))
    assert ReleaseCurve.of(more).delta(1).delta > Decimal("1e-6")


def test_quantiles_share_what_tells_how_many_values_there_are():
    text = (
        MANY
        + """
measures:
  stay: {median: days, per: row, bounds: [0, 60]}
  stay_p90: {quantile: days, at: 0.9, per: row, bounds: [0, 60]}
  stay_mean: {mean: days, per: row, bounds: [0, 60]}
  cost: {median: cost, per: person, bounds: [0, 4000], round_to: 5}
  full: {median: days, per: row, bounds: [0, 9], missing: {as: 0}}
"""
    )
    found = load(text)
    noise = found.noise
    assert [(each.name, each.over) for each in noise.quantiles] == [
        ("stay", 1), ("stay_p90", 1), ("cost", 3), ("full", 4),
    ]  # fmt: skip
    assert [(each.column, each.center) for each in noise.quantities] == [
        ("days", None), ("days", 30), ("cost", None), (None, None),
    ]  # fmt: skip
    assert found.beside == ("stay_mean", "stay", "stay_p90", "cost", "full")
    assert dict(found.measured)["cost"] == "cost"
    assert noise.numbers == 3 * (1 + 4 + 4)
    assert noise.least_of(noise.quantiles[0]) > noise.least_of(noise.quantiles[2]) > 1


def test_a_median_from_an_account_is_of_an_event_with_choices():
    asked = {"m": {"median": "hours", "bounds": [0, 99]}}
    plain = yaml.safe_load(PLAIN) | {"measures": asked}
    plain["guarantee"] = {"epsilon": 1, "delta": Decimal("1e-6")}
    document = PolicyDocument.model_validate(plain)
    shape = noisy_shape(document, "replace_one")
    assert shape.moved("replace_one") == 6
    solved = shape.solved("truncated_laplace", 0.1, 1e-7, "replace_one")
    assert noise_of(document, solved).quantiles[0].epsilon == solved.event.choices[0].epsilon


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("{median: a, bounds: [0, 1000]}", "give 1,001 values to choose of with round_to: 1"),
        ("{median: a, bounds: [0, 70000]}", "write round_to: 100"),
        ("{median: a}", "has no bounds"),
        ("{quantile: a, bounds: [0, 9]}", "does not say which quantile"),
        ("{quantile: a, at: 1.5, bounds: [0, 9]}", "must be of at most three decimal places"),
        ("{quantile: a, at: 0.1234, bounds: [0, 9]}", "must be of at most three decimal places"),
        ("{median: a, at: 0.5, bounds: [0, 9]}", "no quantile is asked for"),
        ("{median: a, mean: a, bounds: [0, 9]}", "found mean and median"),
    ],
)
def test_what_no_quantile_can_be(spec, told):
    assert told in "\n".join(problems(PLAIN + f"measures: {{m: {spec}}}\n"))


def test_a_median_is_of_one_grouping():
    asked = "measures: {m: {median: a, bounds: [0, 9]}}\nmarginals: [[sex]]\n"
    assert (
        "cannot stand beside a median or quantile; write two policies" in problems(PLAIN + asked)[0]
    )


def test_too_little_for_a_choice_is_told():
    poor = PLAIN.replace("epsilon: 1", "epsilon: 0.012")
    asked = "measures: {m: {median: a, bounds: [0, 9], missing: {as: 0}}}\n"
    assert "no noise of the measures meets guarantee" in problems(poor + asked)[0]


def test_a_person_in_several_groups():
    many = PLAIN.replace("privacy_unit: row", "privacy_unit: {column: id, rows: all}")
    found = load(many + "contribution: {max_groups: 3}\n")
    assert (found.noise.groups, found.source.counts_all, found.source.draws_a_row) == (
        3,
        True,
        False,
    )
    assert problems(many) == [
        "privacy_unit.rows is all, and nothing says in how many groups a person counts;"
        " add contribution: {max_groups: 3}"
    ]
    assert problems(PLAIN + "contribution: {max_groups: 3}\n")[0].startswith(
        "contribution is of persons with many rows"
    )


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("mechanism: noisy_counts\nsample: {rate: 0.1}\n", "sample must not stand beside"),
        ("mechanism: sampled_suppression\n", "sample is missing"),
        ("sample: {rate: 0.1}\n", "k is missing"),
        ("sample: {rate: 0.1}\nk: 20\nnoise: {distribution: auto}\n", "noise is of noisy_counts"),
        ("sample: {rate: 0.1}\nk: 20\ncontribution: {max_groups: 2}\n", "contribution is of noisy"),
        ("k: auto\n", "k is auto, and noisy_counts needs none"),
        ("auto: {maximise: people, prior: {people: 9, groups: 3}}\n", "auto chooses k and sample"),
        (
            "noise: {distribution: laplace}\n",
            "noise.distribution must be auto, truncated_laplace, discrete_gaussian or "
            "negative_binomial, found 'laplace'; did you mean 'truncated_laplace'?",
        ),
        (
            "noise: gaussian\n",
            "noise must be a mapping, found 'gaussian'; "
            "as in noise: {distribution: truncated_laplace}, or leave it out",
        ),
        ("mechanism: noise\n", "mechanism must be"),
        ("contribution: {max_groups: 0}\n", "contribution.max_groups must be"),
    ],
)
def test_what_is_of_another_mechanism_is_refused(more, told):
    assert any(text.startswith(told) for text in problems(PLAIN + more)), problems(PLAIN + more)


def test_all_rows_are_no_sample_of_one():
    many = PLAIN.replace("privacy_unit: row", "privacy_unit: {column: id, rows: all}")
    found = problems(many + "sample: {rate: 0.1}\nk: 20\n")
    assert found[0].startswith("privacy_unit.rows must be any, one or a mapping with first_by")


def test_a_source_that_is_a_sample_is_no_reason_to_pay_less():
    found = problems(PLAIN.replace("}\nprivacy_unit: row", ", sampled_at: 0.5}\nprivacy_unit: row"))
    assert found == [
        "source.sampled_at must be 1 where everybody is counted, found 0.5; leave it out: the"
        " price holds without it"
    ]


def test_a_guarantee_that_no_table_meets():
    tiny = PLAIN.replace("1.0e-6", "1.0e-40") + "noise: {distribution: negative_binomial}\n"
    assert problems(tiny)[0].startswith("guarantee is met by no noise table that is tried")


def test_a_small_epsilon_beside_a_large_delta_is_met_by_uniform_noise():
    """Uniform noise on ±50 has δ = 1/101 at every ε."""
    found = load(PLAIN.replace("epsilon: 1, delta: 1.0e-6", "epsilon: 0.001, delta: 0.01"))
    assert (found.noise.law, found.noise.table.least) == ("truncated_laplace", -50)
    assert curve_of(found.noise, "add_remove", "0.001") == Decimal("0.00990099009901")


def test_a_mistyped_mechanism_is_the_only_problem():
    assert len(problems(PLAIN + "mechanism: noisy_count\n")) == 1


def test_a_delta_below_what_a_table_can_have():
    [found] = problems(PLAIN.replace("1.0e-6", "1.0e-19"))
    assert "delta must be at least 1.7e-18" in found
    assert "noise.distribution" not in found


def test_many_groups_are_bounded():
    many = PLAIN.replace("privacy_unit: row", "privacy_unit: {column: id, rows: all}")
    assert problems(many + "contribution: {max_groups: 101}\n")[0].startswith(
        "contribution.max_groups must be at most 100, found 101"
    )
    found = problems(
        many + "contribution: {max_groups: 11}\nnoise: {distribution: negative_binomial}\n"
    )
    assert "one person is in must be at most 10 for negative_binomial, found 11" in found[0]


def test_a_policy_of_a_sample_has_the_digest_that_it_had():
    found = load(PLAIN + "sample: {rate: 0.1}\nk: 20\n")
    assert (
        found.digest
        == load(PLAIN + "sample: {rate: 0.1}\nk: 20\nmechanism: sampled_suppression\n").digest
        or found.noise is None
    )


SUMS = """measures:
  hours: {mean: hours_per_week, bounds: [0, 99], round_to: 0.01, missing: {as: 0}}
  gain: {sum: gain, bounds: [-200, 2000], round_to: 100}
"""


def test_sums_and_means_share_the_guarantee_with_the_count():
    found = load(PLAIN + SUMS)
    hours, gain = found.noise.quantities
    assert (hours.column, hours.clip.low, hours.clip.high, hours.center) == (
        "hours_per_week",
        0,
        9900,
        4950,
    )
    assert (gain.column, gain.clip.low, gain.clip.high, gain.moves.direction) == (
        "gain",
        -2,
        20,
        "either",
    )
    assert found.beside == ("hours", "gain")
    assert found.reads_beside == ("hours_per_week", "gain")
    alone = load(PLAIN)
    assert found.noise.least_shown(1) > alone.noise.least_shown(1)
    assert found.digest != alone.digest


def test_the_order_of_sums_is_of_the_policy():
    one = load(PLAIN + SUMS)
    lines = SUMS.splitlines(keepends=True)
    other = load(PLAIN + "".join([lines[0], lines[2], lines[1]]))
    assert one.digest != other.digest
    assert other.beside == ("gain", "hours")


def test_a_replaced_person_moves_a_mean_twice_as_far():
    text = PLAIN.replace("delta: 1.0e-6", "delta: 1.0e-6, neighbours: replace_one")
    [hours, _] = load(text + SUMS).noise.quantities
    assert hours.moves.steps("replace_one") == 2 * hours.moves.steps("add_remove")


TWO = PLAIN.replace("{sex: keep}", "{age: keep, sex: keep}")


def test_a_rollup_is_two_groupings_with_shares():
    found = load(TWO + "rollup: {to: [sex]}\n")
    assert found.groupings == (("age", "sex"), ("sex",))
    fine, coarse = found.noise.groupings
    assert fine.tables == ()
    [own] = coarse.tables
    assert own.largest > found.noise.table.largest
    half = load(TWO + "rollup: {to: [sex], share: 0.5}\n")
    assert half.noise.groupings[1].tables[0].largest < own.largest


def test_marginals_are_counted_in_the_order_of_the_columns():
    found = load(TWO + "marginals: [[sex, age], [sex]]\n")
    assert found.groupings == (("age", "sex"), ("sex",))
    assert all(each.tables == () for each in found.noise.groupings)


def curve_of(noise, neighbours, epsilon=1):
    """δ at ε of everything that is drawn, each grouping with its tables."""
    law = Noisy(noise.table, 1, groupings=noise.groupings, quantities=noise.quantities)
    found = []
    for counts, *sums in law.tables:
        found.append(Statistic(counts))
        for each, table in zip(noise.quantities, sums, strict=True):
            found.append(each.moves.statistic(table, 1, neighbours))
    return ReleaseCurve.of(found, neighbours).delta(epsilon).delta


@pytest.mark.parametrize(
    "neighbours", [pytest.param("add_remove", marks=pytest.mark.evidence), "replace_one"]
)
@pytest.mark.parametrize(
    "more",
    [
        pytest.param("rollup: {to: [sex]}\n", marks=pytest.mark.evidence),
        "marginals: [[age, sex], [sex]]\n",
    ],
)
def test_sums_of_several_groupings_meet_the_guarantee_with_their_counts(neighbours, more):
    text = TWO.replace("delta: 1.0e-6", f"delta: 1.0e-6, neighbours: {neighbours}")
    one, found = load(text + SUMS).noise, load(text + SUMS + more).noise
    assert found.numbers == 6
    assert curve_of(found, neighbours) <= Decimal("1e-6")
    assert found.least_shown(1) > one.least_shown(1)
    assert all(
        len(many.table.entries) > len(few.table.entries)
        for many, few in zip(found.quantities, one.quantities, strict=True)
    )


def test_the_sums_of_a_rollup_have_their_share():
    found = load(TWO + SUMS + "rollup: {to: [sex], share: 0.1}\n").noise
    fine, coarse = found.groupings
    assert fine.tables == ()
    assert len(coarse.tables) == 3
    own = (found.table, *(each.table for each in found.quantities))
    pairs = zip(coarse.tables, own, strict=True)
    assert all(len(few.entries) > len(many.entries) for few, many in pairs)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            "measures: {a: {bounds: [0, 9]}}\n",
            "measures.a must have one of sum, mean, median, quantile, count, found none",
        ),
        (
            "measures: {a: {sum: a, mean: a, bounds: [0, 9]}}\n",
            "measures.a must have one of sum, mean, median, quantile, count, found sum and mean",
        ),
        ("measures: {a: {sum: a}}\n", "measures.a has no bounds"),
        ("measures: {a: {sum: a, bounds: [0]}}\n", "measures.a.bounds must be the least and"),
        ("measures: {a: {sum: a, bounds: [3, 0]}}\n", "measures.a.bounds must ascend"),
        ("measures: {a: {sum: a, bounds: [0, x]}}\n", "measures.a.bounds[1] must be"),
        (
            "measures: {a: {sum: a, bounds: [0, 5], round_to: 2}}\n",
            "measures.a.bounds must be mult",
        ),
        ("measures: {a: {mean: a, bounds: [0, 9.0e+9]}}\n", "measures.a.bounds is too wide"),
        (
            "measures: {a: {mean: a, bounds: [0, 9], missing: {as: 10}}}\n",
            "measures.a.missing.as must lie between the bounds",
        ),
        (
            "measures: {a: {mean: a, bounds: [0, 9], missing: {as: 0.5}}}\n",
            "measures.a.missing.as must be a multiple of round_to",
        ),
        ("measures: {sex: {mean: a, bounds: [0, 9]}}\n", "measures.sex is a released column"),
        ("measures: {n: {mean: a, bounds: [0, 9]}}\n", "measures.n is a released column"),
        ("measures: {a: {count: a, bounds: [0, 9]}}\n", "measures.a.bounds is of values, and must"),
        ("count: {rows: visits}\n", "count.rows is as many as people"),
        ("count: {people: SEX}\n", "recode.sex is the name of a count too"),
        ("rollup: {to: [race]}\n", "rollup.to must name columns of recode, found race"),
        ("rollup: {to: [age, sex]}\n", "rollup.to must name fewer columns"),
        ("rollup: {to: [sex], share: 1}\n", "rollup.share must be"),
        ("marginals: [[sex, sex], [age]]\n", "marginals[0] names a column twice"),
        ("marginals: [[sex]]\n", "marginals must have every column of recode"),
        ("marginals: [[age], [sex], [age]]\n", "marginals has a grouping twice"),
        ("marginals: [[age], [sex]]\nrollup: {to: [sex]}\n", "marginals must not stand beside"),
        (
            "marginals: [[age], [sex]]\nnoise: {distribution: negative_binomial}\n",
            "marginals counts everybody by several groupings",
        ),
        ("rollup: {to: [sex]}\nsample: {rate: 0.1}\nk: 20\n", "rollup is of noisy_counts"),
    ],
)
def test_what_is_no_sum_and_no_grouping(more, told):
    found = problems(TWO + more)
    assert any(text.startswith(told) for text in found), found


def test_the_column_that_names_a_grouping_is_taken():
    text = PLAIN.replace("{sex: keep}", "{grouping: keep, sex: keep}")
    [found] = problems(text + "rollup: {to: [sex]}\n")
    assert found.startswith("recode.grouping is the column that says by what is counted")


@pytest.mark.parametrize(
    "more", ["rollup: {to: [age], share: 0.2}\n", "models: {l_diversity: {of: age, l: 3}}\n"]
)
def test_of_a_recode_that_is_misspelt_nothing_else_is_told(more):
    """Its columns are not known, and 'allowed here: ' would list none."""
    found = problems(PLAIN.replace("recode:", "recodes:") + more)
    assert found == ["recode is missing; ", "recodes is an unknown key; did you mean 'recode'?"]


KEYED = PLAIN.replace("privacy_unit: row", "privacy_unit: {column: id, rows: one}")


def test_a_part_is_one_of_several():
    found = load(KEYED + "part: {of: 36, number: 7}\n")
    assert found.part == (36, 7)
    assert found.digest != load(KEYED).digest
    assert found.noise == load(KEYED).noise


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (KEYED + "part: {of: 1, number: 1}\n", "part.of must be from 2 to 10000"),
        (KEYED + "part: {of: 10001, number: 1}\n", "part.of must be from 2 to 10000"),
        (KEYED + "part: {of: 3, number: 4}\n", "part.number must be from 1 to 3"),
        (KEYED + "part: {of: 3, number: 0}\n", "part.number must be"),
        (KEYED + "part: {of: 3}\n", "part.number is missing"),
        (
            KEYED + "part: {of: 3, number: 1}\npublic_groups: {sex: [f, m]}\n",
            "part must not stand beside public_groups",
        ),
        (PLAIN + "part: {of: 3, number: 1}\n", "part is drawn by what names a person"),
        (
            KEYED + "part: {of: 3, number: 1}\nsample: {rate: 0.1}\nk: 20\n",
            "part is of noisy_counts",
        ),
        (
            KEYED.replace("p.parquet", "p.csv") + "part: {of: 3, number: 1}\n",
            "part is drawn by a key, whose text in a CSV file",
        ),
        (
            KEYED.replace("file: p.parquet", "table: v, view: rowwise")
            + "part: {of: 3, number: 1}\n",
            "part is drawn by a key, and what a view calls so",
        ),
    ],
)
def test_what_is_no_part(text, told):
    found = problems(text)
    assert any(each.startswith(told) for each in found), found


def test_the_noise_beside_a_mean_is_the_narrowest_that_is_met():
    """A quick look on a coarse grid passed over this one, and the mean's noise was 2 % wider."""
    mean = "measures: {cost: {mean: cost, bounds: [0, 500], round_to: 0.5}}\npublic_groups: auto\n"
    text = PLAIN.replace("sex: keep", "age: {bins: [18, 30, 65]}") + mean
    found = load(text.replace("1, delta: 1.0e-6", "0.5, delta: 1.0e-5"))
    neighbours = found.guarantee.neighbours
    drawn = [each.moves.statistic(each.table, 1, neighbours) for each in found.noise.quantities]
    curve = ReleaseCurve.of([Statistic(found.noise.table), *drawn], neighbours)
    assert found.noise.law == "truncated_laplace"
    assert Decimal("9e-6") < curve.delta(Decimal("0.5")).delta <= Decimal("1e-5")
