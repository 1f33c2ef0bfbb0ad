"""The certificate of a claim: its text, its price, what it rests on; and its JSON read back."""

import copy
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.certificates import predicate_of
from policy_engine.engines.base import Refused
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.assumptions import assumptions
from policy_engine.kernel.certificate import NotPrinted, Terms, Unmet, certify, check_text
from policy_engine.kernel.claim import Claim, Shown, digest_of, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed, Native, Secret, WholeClasses
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.whole_classes.meaning import still_works
from policy_engine.kernel.models import NoModel, model_from
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded, Unpromised
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.sentences import sentence_of
from policy_engine.kernel.sources import Column, Drawn, Files, People, Relation, Rows
from policy_engine.kernel.types import Type

AGE, ID = Column("age", Type("integer")), Column("id", Type("integer"))
SHOWN = Shown("age", AGE, Bins((18, 65), ("<18", "18-64", ">=65")))
PEOPLE = Relation(("main", "people"))
CLAIM = Claim(PEOPLE, People(ID, ((AGE, False),)), Keyed(1 << 57, 20), (SHOWN,))
ASKED = Bounded(Decimal("0.5"), Decimal("1e-9"), rate=Decimal("0.125"))
TERMS = Terms("ages", "sha256:" + "1" * 64, "people", ASKED)


def asking(**changes):
    """The terms, asking for something else."""
    return replace(TERMS, promise=replace(ASKED, **changes))


def test_a_certificate_is_of_what_was_printed():
    text = "-- policy: ages\n" + printed(CLAIM, "duckdb")
    found = certify(text, CLAIM, "duckdb", TERMS)
    assert found.query == text
    assert (found.k, found.promise.rate, found.unit, found.columns, found.count) == (
        20, Decimal("0.125"), "id", ("age",), "n",
    )  # fmt: skip
    exact = delta_exact(20, Decimal("0.125"), Decimal("0.5"), "add_remove").delta
    assert exact <= found.promise.delta <= exact * (1 + Decimal("1e-9"))
    assert predicate_of(found)["claim"] == to_json(CLAIM)
    assert CLAIM.digest == digest_of(predicate_of(found)["claim"])


@pytest.mark.parametrize(
    ("change", "token"),
    [
        (lambda text: text.replace(">= 20", ">= 19"), " 19"),
        (lambda text: text + " LIMIT 1", " LIMIT"),
        (lambda text: text.replace("ORDER BY", "ORDER   BY  \n--  as it is\n") + ";", ";"),
        (lambda text: text.replace('"people"', '"peoples"'), '"peoples"'),
        (lambda text: text.partition("ORDER")[0], ""),
    ],
)
def test_another_text_is_not_certified(change, token):
    with pytest.raises(NotPrinted) as caught:
        certify(change(printed(CLAIM, "duckdb")), CLAIM, "duckdb", TERMS)
    assert token in caught.value.found


def test_white_space_and_comments_are_free():
    text = printed(CLAIM, "postgres").replace("\n", "\n  -- here\n\t ")
    check_text(text, CLAIM, "postgres")


def test_a_promise_that_the_law_does_not_keep():
    low = asking(delta=Decimal("1e-30"))
    with pytest.raises(Unmet) as caught:
        certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", low)
    assert caught.value.delta > low.promise.delta


def test_a_stated_rate_below_the_laws_is_refused():
    with pytest.raises(ClaimError, match="not below the law's"):
        certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", asking(rate=Decimal("0.12")))


def test_an_engine_that_cannot_is_refused():
    native = Claim(PEOPLE, Rows(), Native(Decimal("0.1"), 20), (SHOWN,))
    with pytest.raises(Refused, match="PostgreSQL cannot do this"):
        check_text("SELECT 1", native, "postgres")


WAITING = replace(CLAIM, law=replace(CLAIM.law, secret=Secret(("main", "salts"), "ages_v1")))
UNIQUE = replace(CLAIM, unit=People(ID, None))
DRAWN = replace(CLAIM, unit=People(ID, Drawn()))
NATIVE = Claim(PEOPLE, Rows(), Native(Decimal("0.1"), 20), (SHOWN,))
NUMBERED = replace(CLAIM, source=Files("people.parquet"), unit=Rows())
LOADED = replace(CLAIM, source=Files("people.csv", kind="csv"))


@pytest.mark.parametrize(
    ("claim", "engine", "first", "among", "randomness"),
    [
        (CLAIM, "duckdb", "drawn by SHA-256", "each person has one id", "SHA-256 of a secret"),
        (CLAIM, "postgres", "at least 128 bits", "people does not change", "SHA-256 of a secret"),
        (
            WAITING,
            "duckdb",
            "at least 128 bits",
            "access to the secrets relation",
            "SHA-256 of a secret",
        ),
        (UNIQUE, "duckdb", "drawn by SHA-256", "id is unique in people", "SHA-256 of a secret"),
        (
            DRAWN,
            "duckdb",
            "drawn by SHA-256",
            "made with this sample is published",
            "one is kept, drawn by SHA-256",
        ),
        (NATIVE, "duckdb", "DuckDB 2.0", "one row of people is one person", "BERNOULLI"),
        (NATIVE, "trino", "Trino keeps each row", "recodings were chosen", "BERNOULLI"),
        (NUMBERED, "duckdb", "drawn by AES-128", "every text in people is UTF-8", "AES-128 of"),
        (LOADED, "duckdb", "drawn by SHA-256", "people is well-formed CSV", "SHA-256 of a"),
    ],
)
def test_what_a_certificate_rests_on(claim, engine, first, among, randomness):
    found = certify(printed(claim, engine), claim, engine, asking(delta=Decimal("1e-6")))
    said = [sentence_of(each) for each in found.assumptions]
    assert first in said[0]
    assert any(among in text for text in said)
    assert randomness in meaning_of(claim).randomness(engine)


def test_a_view_that_was_not_proved_is_assumed_to_be_of_rows():
    view = replace(CLAIM, source=replace(CLAIM.source, is_rowwise=True))
    said = Assumption.of("view_rowwise", source="people")
    assert said in assumptions(view, "duckdb", "people", Decimal(1))
    assert said not in assumptions(CLAIM, "duckdb", "people", Decimal(1))
    assert printed(view, "duckdb") == printed(CLAIM, "duckdb")


def test_a_source_that_is_a_sample_is_assumed_to_be_one():
    terms = asking(sampled_at=Decimal("0.01"))
    found = certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", terms)
    assert found.promise.rate == Decimal("0.00125")
    assert Assumption.of("source_sampled", source="people", rate="0.01") in found.assumptions


def test_what_whole_classes_leave_open():
    assert next(still_works(1, ()))[0] == "linkage"
    assert "linkage" not in [name for name, _ in still_works(2, ())]
    for other in ({"model": "k", "of": "sex"}, {"model": "l_diversity", "of": "sex", "kind": "x"}):
        with pytest.raises(NoModel):
            model_from(other)


def test_nothing_is_certified_of_whole_classes_or_of_no_promise():
    """The kernel prints such a claim and has no price for it, whatever is asked."""
    classes = replace(CLAIM, law=WholeClasses(20))
    text = printed(classes, "duckdb")
    assert "NOTHING OF THIS TEXT IS CERTIFIED" in text
    with pytest.raises(ClaimError, match=r"no \(ε, δ\) holds of such a law"):
        certify(text, classes, "duckdb", replace(TERMS, promise=Bounded(Decimal(9), Decimal(1))))
    with pytest.raises(ClaimError, match="nothing is promised"):
        certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", replace(TERMS, promise=Unpromised()))


EVERY = Claim(
    Files("p.csv", kind="csv", options=(("columns", ("a", "b")), ("header", False), ("skip", 2))),
    People(ID, ((AGE, True), (Column("seen", Type("timestamp")), False))),
    Keyed(1 << 50, 9, raw_first=True, secret=Secret(("s", "salts"), "r")),
    (
        SHOWN,
        Shown("all", None, Constant("*")),
        Shown("kept", Column("kept", Type("label")), Keep()),
        Shown("money", Column("money", Type("decimal", 10, 2)), Round(Decimal("0.25"))),
        Shown("zip", Column("zip", Type("text")), Prefix(3)),
        Shown("born", Column("born", Type("date")), Truncate("year")),
        Shown("sex", Column("sex", Type("text")), Map(((("f", "F"), "w"),), None)),
    ),
    None,
)


@pytest.mark.parametrize("claim", [CLAIM, WAITING, UNIQUE, DRAWN, NATIVE, NUMBERED, LOADED, EVERY])
def test_a_claim_is_read_back_from_its_json(claim):
    assert claim_from(json.loads(json.dumps(to_json(claim)))) == claim


def test_a_claim_that_is_written_otherwise_is_refused():
    """Else two texts of a claim would have one digest, and one of them could carry more."""
    written = json.loads(json.dumps(to_json(NATIVE)))
    rate = written["law"]["rate"]["decimal"]
    written["law"]["rate"] = {"decimal": f"0{rate}"}
    with pytest.raises(ClaimError, match="no claim is written like this"):
        claim_from(written)


def paths(value, path=()):
    """Every place in a JSON document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*path, key))


def put(value, path, new):
    made = copy.deepcopy(value)
    if not path:
        return new
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return made


@pytest.mark.parametrize("new", [None, True, 0, -1, 1.5, "", "x\0", [], ["a"], {}, {"is": "Claim"}])
def test_what_is_no_claim_is_refused_or_is_another(new):
    whole = json.loads(json.dumps(to_json(EVERY)))
    seen = 0
    for path in paths(whole):
        changed = put(whole, path, new)
        try:
            found = claim_from(changed)
        except ClaimError:
            seen += 1
        else:
            assert json.loads(json.dumps(to_json(found))) == changed
    assert seen > 50


def test_a_claims_numbers_keep_every_digit():
    """Attack: two claims of one digest, whose cuts differ behind the 28th digit."""
    found = set()
    for cut in ("123456789012345678901234567890.12", "123456789012345678901234567890.99"):
        money = Column("money", Type("decimal", 38, 2))
        shown = Shown("money", money, Bins((Decimal(cut),), ("less", "more")))
        claim = replace(CLAIM, columns=(shown,))
        assert claim_from(json.loads(json.dumps(to_json(claim)))) == claim
        found.add(claim.digest)
    assert len(found) == 2


@pytest.mark.parametrize("digits", ["1E+9999999", "NaN", "Infinity", "9" * 101, "0." + "9" * 101])
def test_a_number_that_no_claim_has_is_refused(digits):
    forged = json.loads(json.dumps(to_json(NATIVE)))
    forged["law"]["rate"] = {"decimal": digits}
    with pytest.raises(ClaimError):
        claim_from(forged)


def test_a_type_has_a_scale_only_if_it_is_a_decimal():
    with pytest.raises(ClaimError, match="1 to 38 digits"):
        Type("integer", 0, 3)
