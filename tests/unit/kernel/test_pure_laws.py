"""Randomised response and αβ insertion: what a claim of them must be, its price, its estimates."""

import re
from dataclasses import replace
from decimal import Decimal
from itertools import product

import pytest

from policy_engine.accounting.events import PureDP, RandomisedResponse
from policy_engine.accounting.pure_shares import least_share
from policy_engine.attest.certificates import predicate_of
from policy_engine.errors import DomainError
from policy_engine.kernel.assumptions import assumptions
from policy_engine.kernel.certificate import Terms, Unmet, certify
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.filters import one_of
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Inserted, Native, Randomised, Secret
from policy_engine.kernel.mechanisms.ab_insertion.meaning import (
    believed,
    insertion_error,
    tuples_there,
)
from policy_engine.kernel.mechanisms.events import event_of
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.pure_meaning import central_error, compared
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.mechanisms.randomised_response.meaning import answer_error
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Bins, Keep, Map
from policy_engine.kernel.sources import Column, Drawn, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type

AGE, SEX, ID = (Column(name, Type(kind)) for name, kind in
                (("age", "integer"), ("sex", "text"), ("id", "integer")))  # fmt: skip
SHOWN = (Shown("age", AGE, Bins((18, 65), ("young", "adult", "old"))),
         Shown("sex", SEX, Map(((("f",), "F"), (("x",), None)), "M")))  # fmt: skip
VALUES = (("young", "adult", "old", None), ("F", "M", None))
ONE = Decimal(1)
PEOPLE = Relation(("main", "people"))
ANSWERS = Randomised(tuple(Response(each, least_share(len(each), ONE)) for each in VALUES))
SHARE = least_share(2, ONE)
TUPLES = Inserted((1 << 60) - SHARE, SHARE, VALUES)
ASKED = Claim(PEOPLE, Rows(), ANSWERS, SHOWN)
SET = Claim(PEOPLE, Rows(), TUPLES, SHOWN, None)
PROMISE = Bounded(Decimal(2), Decimal(0), "replace_one")
TERMS = Terms("r", "sha256:" + "1" * 64, "people", PROMISE)


def asking(**changes):
    """The terms, asking for something else."""
    return replace(TERMS, promise=replace(PROMISE, **changes))


def digits(share):
    return f"{share:015x}"


def test_the_numbers_of_the_text_are_those_of_the_law():
    first, second = ANSWERS.responses
    found = re.findall(r"hash_1\" < '([0-9a-f]+)' THEN ('\w+'|NULL)", printed(ASKED, "duckdb"))
    labels = ("'young'", "'adult'", "'old'", "NULL")
    assert found == [(digits(first.share * n), label) for n, label in enumerate(labels, 1)]
    assert f"< '{digits(3 * second.share)}' THEN NULL" in printed(ASKED, "duckdb")
    text = printed(SET, "duckdb")
    assert f"< '{digits(TUPLES.inserted)}' OR policy_engine_there = 1" in text
    assert text.count(f"< '{digits(TUPLES.shown)}'") == 1


@pytest.mark.parametrize("claim", [ASKED, SET])
@pytest.mark.parametrize("secret", [None, Secret(("main", "salts"), "next")])
def test_a_claim_is_what_was_written(claim, secret):
    claim = replace(claim, law=replace(claim.law, secret=secret))
    assert claim_from(to_json(claim)) == claim
    told = [each.code for each in assumptions(claim, "duckdb", "people", Decimal(1))]
    assert {"noise_alone", "limits_blind"} < {*told}
    assert ("secret_waits" in told) is (secret is not None)
    assert ("size_public" in told) is (claim.law.k and claim.count == "n")


def test_a_certificate_has_no_delta():
    found = certify(printed(ASKED, "duckdb"), ASKED, "duckdb", TERMS)
    facts = predicate_of(found)
    stated = [facts[name] for name in ("mechanism", "source_tag", "rate", "k", "delta")]
    assert stated == ["randomised-response", "[LOCAL]", "1", 1, "0"]
    for less in (asking(epsilon=Decimal("1.999")), asking(neighbours="add_remove")):
        with pytest.raises(Unmet):
            certify(printed(ASKED, "duckdb"), ASKED, "duckdb", less)
    inserted = asking(epsilon=ONE, neighbours="add_remove")
    facts = predicate_of(certify(printed(SET, "duckdb"), SET, "duckdb", inserted))
    stated = [facts[name] for name in ("mechanism", "source_tag", "delta", "form", "count")]
    assert stated == ["ab-insertion", "[AB]", "0", "rows", None]
    with pytest.raises(Unmet):
        certify(printed(SET, "duckdb"), SET, "duckdb", asking(epsilon=ONE))
    with pytest.raises(ClaimError, match="priced for all of the source"):
        sampled = asking(sampled_at=Decimal("0.5"), neighbours="add_remove")
        certify(printed(SET, "duckdb"), SET, "duckdb", sampled)


def test_who_takes_part_is_not_hidden_by_answers():
    assert ASKED.delta(ONE, Decimal(40), "add_remove") == 1
    assert ASKED.delta(ONE, Decimal(2), "replace_one") == 0
    with pytest.raises(DomainError, match="replace_one"):
        event_of(ASKED, ONE, "add_remove")


def test_an_account_is_charged_the_least_epsilon():
    assert event_of(ASKED, ONE, "replace_one") == PureDP(Decimal("2.00000000000"))
    first = ANSWERS.responses[0]
    alone = replace(ASKED, law=Randomised((first,)), columns=SHOWN[:1])
    assert event_of(alone, ONE, "replace_one") == RandomisedResponse(first.truth, 4)
    assert event_of(SET, ONE, "add_remove") == PureDP(Decimal("1.00000000000"))
    assert event_of(SET, ONE, "replace_one") == PureDP(Decimal("2.00000000000"))


WHOLE = 1 << 60
MANY = tuple(f"v{n}" for n in range(1000))
BINS = Bins(tuple(range(999)), MANY)


@pytest.mark.parametrize(
    ("claim", "change", "law"),
    [
        (ASKED, {"columns": (SHOWN[0], Shown("sex", SEX, Keep()))}, "binned or mapped"),
        (ASKED, {"columns": SHOWN[::-1]}, "those that the recodes can give"),
        (ASKED, {"law": Randomised(ANSWERS.responses[:1])}, "those that the recodes can give"),
        (ASKED, {"law": Randomised((Response(VALUES[0], 0), ANSWERS.responses[1]))}, "not always"),
        (ASKED, {"law": Randomised((Response(VALUES[0], 1 << 58), ANSWERS.responses[1]))},
         "not always"),
        (ASKED, {"filter": (one_of(ID, (7,)),)}, "every unit of the source answers"),
        (ASKED, {"source": replace(PEOPLE, is_rowwise=True)}, "every unit of the source answers"),
        (ASKED, {"unit": People(ID, Groups(2))}, "a unit has one row"),
        (ASKED, {"columns": (Shown("age", AGE, BINS),),
                 "law": Randomised((Response((*MANY, None), 5),))}, "at most 10 columns"),
        (SET, {"count": "n"}, "tuples have no count"),
        (SET, {"law": replace(TUPLES, inserted=0)}, "0 < β"),
        (SET, {"law": replace(TUPLES, inserted=TUPLES.shown)}, "0 < β"),
        (SET, {"law": replace(TUPLES, shown=WHOLE)}, "0 < β"),
        (SET, {"law": replace(TUPLES, values=VALUES[:1])}, "those that the recodes can give"),
    ],
)  # fmt: skip
def test_what_no_claim_can_be(claim, change, law):
    with pytest.raises(ClaimError, match=law):
        replace(claim, **change)


def test_a_domain_is_bounded():
    bins = Bins(BINS.cuts[:998], MANY[:999])
    columns = tuple(Shown(name, Column(name, Type("integer")), bins) for name in ("a", "b"))
    law = replace(TUPLES, values=((*MANY[:999], None),) * 2)
    with pytest.raises(ClaimError, match="at most 100000 tuples"):
        Claim(PEOPLE, Rows(), law, columns, None)
    assert TUPLES.domain == 12


def test_a_row_of_a_person_is_drawn_and_said():
    drawn = replace(ASKED, unit=People(ID, Drawn()))
    assert "of each unit's different rows one is kept" in meaning_of(drawn).randomness("duckdb")
    assert "of each unit's different rows" not in meaning_of(ASKED).randomness("duckdb")


def test_estimates_are_unbiased():
    """The mean over all answers of three people, each with its probability, is the truth."""
    response = Response(("a", "b", None), 1 << 57)
    claim = Claim(PEOPLE, Rows(), Randomised((response,)),
                  (Shown("sex", SEX, Map(((("x",), "a"),), "b")),), None)  # fmt: skip
    chance, true = Decimal(1 << 57) / WHOLE, ("a", "a", None)
    mean = dict.fromkeys(response.values, Decimal(0))
    squares = Decimal(0)
    for answer in product(response.values, repeat=3):
        odds = Decimal(1)
        for own, told in zip(true, answer, strict=True):
            odds *= chance + (response.truth if own == told else 0)
        [(name, found)] = meaning_of(claim).people([(value,) for value in answer])
        squares += odds * found["b"] ** 2
        for value, number in found.items():
            mean[value] += odds * number
    assert name == "sex"
    assert {value: round(number, 20) for value, number in mean.items()} == {
        "a": 2, "b": 0, None: 1
    }  # fmt: skip
    assert squares.sqrt() == pytest.approx(answer_error(response) * Decimal(3).sqrt())


def test_estimates_of_counts_are_those_of_their_rows():
    rows = [("young", "F")] * 3 + [("old", None)]
    counts = [("young", "F", 3), ("old", None, "1")]
    of_rows = meaning_of(replace(ASKED, count=None)).people(rows)
    assert list(of_rows) == list(meaning_of(ASKED).people(counts))
    assert meaning_of(replace(SET, law=Native(Decimal("0.5"), 5))).estimates() == ()


def test_what_is_estimated_is_said_with_its_error():
    first, second = meaning_of(ASKED).estimates()
    share = least_share(3, ONE) / WHOLE
    assert second.startswith(f"sex: (n - {share:.4g}·N) / {1 - 3 * share:.4g} estimates")
    assert first.endswith(f"give or take {answer_error(ANSWERS.responses[0]):.4g}·√N (1 SD)")
    [text] = meaning_of(SET).estimates()
    assert f"give or take {insertion_error(TUPLES):.4g}·√D" in text
    assert "the domain has 12 tuples" in text
    # 12 tuples shown as often as by chance alone are none, and as often as true ones all.
    assert tuples_there(TUPLES, 12 * TUPLES.inserted // WHOLE) < 1
    assert round(tuples_there(TUPLES, 0) * Decimal(TUPLES.shown - TUPLES.inserted) / WHOLE, 9) == (
        round(Decimal(-12 * TUPLES.inserted) / WHOLE, 9)
    )


@pytest.mark.parametrize("prior", ["0.001", "0.01", "0.3", "0.9"])
def test_what_is_believed_afterwards_is_private(prior):
    """[AB]: (d, γ)-private iff both conditions hold, and of the least γ one is attained."""
    d, gamma = Decimal(prior), believed(TUPLES, Decimal(prior))
    alpha_beta, beta = Decimal(TUPLES.shown) / WHOLE, Decimal(TUPLES.inserted) / WHOLE
    if gamma == 1:
        assert alpha_beta > 1 - d
        return
    slack = Decimal("1e-25")
    one = beta / alpha_beta - d * (1 - gamma) / (gamma * (1 - d))
    other = 1 - d / gamma - alpha_beta
    assert min(one, other) >= -slack
    assert min(abs(one), abs(other)) <= slack


def test_central_noise_is_told_beside_it():
    assert round(central_error(ONE, "add_remove"), 1) == 1.4
    assert list(compared(ONE, "add_remove")) == [
        "noisy_counts at the same ε, and δ = 0.000001: a count is off by 1.4 (1 SD), however many"
        " people there are"
    ]
    assert central_error(Decimal("1e-9"), "add_remove") is None
    assert list(compared(Decimal("1e-9"), "add_remove")) == []
