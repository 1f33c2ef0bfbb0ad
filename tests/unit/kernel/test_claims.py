"""What no claim can be, and what tells two claims apart."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import combinations

import pytest

from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.filters import one_of, within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed, Native, Secret
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.sources import Column, Drawn, Files, People, Relation, Rows
from policy_engine.kernel.types import KINDS, Type, places_of, whole_digits_of

WHOLE, TEXT, REAL = Type("integer"), Type("text"), Type("double")
EXACT, DAY, MOMENT = Type("decimal", 10, 2), Type("date"), Type("timestamp")
AGE, ID = Column("age", WHOLE), Column("id", WHOLE)
SHOWN = Shown("age", AGE, Keep())
PEOPLE = Relation(("main", "people"))
CLAIM = Claim(PEOPLE, People(ID, ((AGE, False),)), Keyed(1 << 59, 5), (SHOWN,))


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda: Type("money"), "a type must be one of"),
        (lambda: Type("decimal"), "a decimal has 1 to 38 digits"),
        (lambda: Type("decimal", 39, 2), "a decimal has 1 to 38 digits"),
        (lambda: Type("decimal", 2, 3), "a decimal has 1 to 38 digits"),
        (lambda: Type("decimal", 2, -1), "a decimal has 1 to 38 digits"),
        (lambda: Type("integer", 3), "a decimal has 1 to 38 digits"),
        (lambda: Type("integer", collated=True), "a text alone is collated"),
        (lambda: Column("", WHOLE), "a name must not be empty"),
        (lambda: Column("a\0", WHOLE), "a name must not be empty, hold a NUL"),
        (lambda: Column("Policy_Engine_rank", WHOLE), "start with policy_engine_"),
        (lambda: Column("a", TEXT, "uuid"), "a column is read as a plain type"),
        (lambda: Relation(("people",)), "two parts at least"),
        (lambda: Relation(("main", "")), "two parts at least"),
        (lambda: Relation(("main", "a\0")), "hold a NUL"),
        (lambda: Files(""), "a path must not be empty"),
        (lambda: Files("a\0"), "a path must not be empty or hold a NUL"),
        (lambda: Files("a", kind="json"), "Parquet, a CSV"),
        (lambda: Files("policy_engine_x.csv", kind="csv"), "start with policy_engine_"),
        (lambda: Files("a.csv", True, "csv"), "a Delta table, which is one"),
        (lambda: Files("a", False, "delta"), "a Delta table, which is one"),
        (lambda: Files("a", options=(("skip", 1),)), "CSV file alone is read by options"),
        (lambda: Files("a.csv", kind="csv", options=(("skip", 1), ("skip", 2))), "each once"),
        (lambda: Files("a.csv", kind="csv", options=(("skip", 1), ("header", True))), "in order"),
        (lambda: People(Column("a", REAL), None), "a key is a whole number"),
        (lambda: People(Column("a", Type("text", collated=True)), None), "a plain text"),
        (lambda: People(Column("a", TEXT, "integer"), None), "a key is a whole number"),
        (lambda: People(ID, ()), "an order must name a column"),
        (lambda: People(ID, ((Column("a", TEXT, "date"), True),)), "what stands in the source"),
        (lambda: replace(CLAIM, unit=People(AGE, Drawn())), "rows that can differ"),
        (lambda: replace(CLAIM, columns=(Shown("a", None, Constant("*")),),
                         unit=People(ID, Drawn())), "rows that can differ"),
        (lambda: within(AGE, at_least=3, below=3), "fit the type of its column"),
        (lambda: one_of(AGE, ("1",)), "fit the type of its column"),
        (lambda: within(AGE, at_least=Decimal(1)), "fit the type of its column"),
        (lambda: within(Column("t", TEXT), below="a"), "fit the type of its column"),
        (lambda: one_of(Column("r", REAL), (Decimal(1),)), "fit the type of its column"),
        (lambda: replace(CLAIM, filter=(Shown("kept", AGE, Keep()),)), "to what is kept"),
        (lambda: replace(CLAIM, filter=(Shown("kept", AGE, Bins((3,), ("a", "b"))),)),
         "to what is kept"),
        (lambda: replace(CLAIM, filter=(Shown("age", AGE, Bins((3,), ("kept", "b"))),)),
         "to what is kept"),
        (lambda: Shown("age", AGE, Keep(), "unknown"), "in place of NULL"),
        (lambda: Shown("age", None, Constant("x"), "unknown"), "in place of NULL"),
        (lambda: replace(CLAIM, filter=(one_of(Column("age", TEXT), ("1",)),)), "in one way"),
        (lambda: replace(CLAIM, filter=(one_of(AGE, (1,)), within(AGE, below=3))),
         "a column has one condition"),
        (lambda: replace(CLAIM, columns=(SHOWN, Shown("x", None, Constant("*"))),
                         filter=(one_of(Column("x", WHOLE), (1,)),)), "no other column's"),
        (lambda: replace(CLAIM, law=Keyed(1, 5, raw_first=True), filter=(one_of(AGE, (1,)),),
                         columns=(Shown("a", None, Constant("*")),)), "equal ones look alike"),
        (lambda: Shown("", AGE, Keep()), "a name must not be empty"),
        (lambda: Shown("a", None, Keep()), "a constant alone reads no column"),
        (lambda: Shown("a", AGE, Constant("*")), "a constant alone reads no column"),
        (lambda: Shown("a", Column("a", REAL), Keep()), "fit the type of its column"),
        (lambda: replace(CLAIM, columns=()), "shown names must differ"),
        (lambda: replace(CLAIM, columns=(SHOWN, SHOWN)), "differ by more than case"),
        (lambda: replace(CLAIM, count="AGE"), "differ by more than case"),
        (lambda: replace(CLAIM, count="policy_engine_n"), "start with policy_engine_"),
        (lambda: replace(CLAIM, columns=(SHOWN, Shown("b", Column("age", TEXT), Keep()))),
         "read in one way"),
        (lambda: replace(CLAIM, columns=(SHOWN, Shown("B", Column("b", WHOLE), Keep()),
                                         Shown("b2", Column("B2", WHOLE), Keep()),
                                         Shown("c", Column("d", WHOLE), Keep()),
                                         Shown("D", Column("c", WHOLE), Keep()))),
         "no other column's"),
        (lambda: Secret((), "next"), "a secret waits in a relation"),
        (lambda: Secret(("main", ""), "next"), "a secret waits in a relation"),
        (lambda: Secret(("main", "salts"), ""), "under the name of its release"),
        (lambda: replace(CLAIM, law=Keyed(0, 5)), "between 2\\^-60 and 1"),
        (lambda: replace(CLAIM, law=Keyed(1 << 60, 5)), "between 2\\^-60 and 1"),
        (lambda: replace(CLAIM, law=Keyed(1, 1)), "k must be at least 2"),
        (lambda: replace(CLAIM, law=Native(Decimal(1), 5)), "between 0 and 1"),
        (lambda: replace(CLAIM, law=Native(Decimal("0.1"), 5)), "native sampling draws rows"),
        (lambda: replace(CLAIM, unit=Rows(), law=Native(Decimal("0.1"), 1)), "at least 2"),
        (lambda: replace(CLAIM, law=Keyed(1, 5, raw_first=True),
                         columns=(Shown("a", None, Constant("*")),)), "equal ones look alike"),
        (lambda: replace(CLAIM, law=Keyed(1, 5, raw_first=True),
                         columns=(Shown("r", Column("r", REAL), Round(Decimal(1))),)),
         "equal ones look alike"),
        (lambda: replace(CLAIM, source=Files("a/*.parquet", True), unit=Rows()),
         "rows of several files have no numbers"),
    ],
)  # fmt: skip
def test_what_no_claim_can_be(make, law):
    with pytest.raises(ClaimError, match=law):
        make()


def test_rows_of_several_files_are_drawn_by_the_engine_or_have_a_key():
    folder = Files("a/*.parquet", True)
    assert replace(CLAIM, source=folder)
    assert replace(CLAIM, source=folder, unit=Rows(), law=Native(Decimal("0.1"), 5))
    assert replace(CLAIM, source=Files("a.parquet"), unit=Rows())
    assert replace(CLAIM, source=Files("a.csv", kind="csv"), unit=Rows())


LONG = Decimal("1" * 36 + ".11")


@pytest.mark.parametrize(
    ("kind", "values", "others"),
    [
        (WHOLE, [0, -5, 2**63 - 1], [2**63, -(2**63), True, 1.0, "1", None, Decimal(1)]),
        (EXACT, [Decimal("1.50"), Decimal("-1"), Decimal("1e3"), Decimal(0), LONG],
         [Decimal("1.505"), 1, "1.5", Decimal("NaN"), Decimal("Infinity"), Decimal("1e37")]),
        (REAL, [Decimal("0.1"), Decimal("1e37")],
         [0.1, 1, Decimal("NaN"), Decimal("1e38"), Decimal("1e-39")]),
        (TEXT, ["", "a"], [1, None, b"a"]),
        (Type("label"), ["a"], [1]),
        (Type("uuid"), ["a"], [1]),
        (Type("wide_integer"), ["1"], [1]),
        (Type("boolean"), [True, False], [0, 1, "true"]),
        (DAY, [date(1, 1, 1)], [datetime(1, 1, 1), "2026-01-01"]),
        (MOMENT, [datetime(1, 1, 1)], [date(1, 1, 1), datetime(1, 1, 1, tzinfo=UTC)]),
        (Type("timestamp_zoned"), [datetime(1, 1, 1)], [date(1, 1, 1)]),
        (Type("timestamp_other"), [datetime(1, 1, 1)], [date(1, 1, 1)]),
        (Type("time"), [], ["12:00:00", 0]),
    ],
)  # fmt: skip
def test_a_type_holds_its_own_values_alone(kind, values, others):
    assert [value for value in values if not kind.holds(value)] == []
    assert [value for value in others if kind.holds(value)] == []


def test_the_digits_of_a_number():
    assert [places_of(Decimal(text)) for text in ("0", "1.50", "1e3", "1e-3")] == [0, 1, 0, 3]
    assert [whole_digits_of(Decimal(text)) for text in ("0", "10.5", "1e3", "0.01")] == [0, 2, 4, 0]


ALL = [Type(kind, 10, 2) if kind == "decimal" else Type(kind) for kind in sorted(KINDS)]
FITS = [
    (Keep(), KINDS - {"double"}),
    (Prefix(2), {"text", "label"}),
    (Round(Decimal(5)), {"integer", "decimal", "double"}),
    (Truncate("day"), {"date", "timestamp", "timestamp_zoned", "timestamp_other"}),
    (Truncate("hour"), {"timestamp", "timestamp_zoned", "timestamp_other"}),
    (Constant("*"), KINDS),
    (Bins((1,), ("a", "b")), {"integer", "wide_integer"}),
    (Bins((Decimal(1),), ("a", "b")), {"decimal", "double"}),
    (Bins((date(1, 1, 1),), ("a", "b")), {"date"}),
    (Bins((datetime(1, 1, 1),), ("a", "b")), {"timestamp", "timestamp_zoned", "timestamp_other"}),
    (Map((((1,), "a"),), None), {"integer"}),
    (Map(((("1",), "a"),), None), {"text", "label", "uuid", "wide_integer"}),
    (Map((((True,), "a"),), None), {"boolean"}),
    (Map((((date(1, 1, 1),), "a"),), None), {"date"}),
    (Map((((Decimal(1),), "a"),), None), {"decimal"}),
]


@pytest.mark.parametrize(("recode", "kinds"), FITS, ids=[str(recode) for recode, _ in FITS])
def test_a_recode_fits_the_types_that_it_can_be_of(recode, kinds):
    assert {kind.kind for kind in ALL if recode.fits(kind)} == set(kinds)


@pytest.mark.parametrize(
    ("recode", "kind"),
    [
        (Bins((), ("a",)), WHOLE),
        (Bins((1, 1), ("a", "b", "c")), WHOLE),
        (Bins((2, 1), ("a", "b", "c")), WHOLE),
        (Bins((1,), ("a",)), WHOLE),
        (Bins((1,), ("a", "b", "c")), WHOLE),
        (Map((((1, 1), "a"),), None), WHOLE),
        (Map((((1,), "a"), ((1,), "b")), None), WHOLE),
        (Map((((), "a"),), None), WHOLE),
        (Prefix(0), TEXT),
        (Prefix(10**9), TEXT),
        (Truncate("decade"), DAY),
        (Round(Decimal(0)), WHOLE),
        (Round(Decimal("-1")), WHOLE),
        (Round(Decimal("NaN")), WHOLE),
        (Round(Decimal("1e18")), WHOLE),
        (Round(Decimal("1.000000000000001")), WHOLE),
        (Round(Decimal("1e-19")), WHOLE),
        (Round(Decimal("0.1")), Type("decimal", 38, 10)),
        (Round(Decimal("1e-12")), REAL),
    ],
)
def test_a_recode_that_no_claim_has(recode, kind):
    fine = isinstance(recode, Round) and recode.step == Decimal("1e-12")
    assert recode.fits(kind) is fine


def test_what_a_recode_shows():
    shown = {(Keep(), "label"): "text", (Keep(), "uuid"): "text", (Keep(), "date"): "date",
             (Round(Decimal(5)), "integer"): "integer",
             (Round(Decimal("0.5")), "integer"): "decimal",
             (Round(Decimal(5)), "double"): "decimal", (Truncate("day"), "date"): "date",
             (Truncate("day"), "timestamp_zoned"): "timestamp", (Prefix(2), "label"): "text",
             (Bins((1,), ("a", "b")), "integer"): "text", (Constant("*"), "text"): "text",
             (Map((((1,), "a"),), None), "integer"): "text"}  # fmt: skip
    for (recode, kind), wanted in shown.items():
        assert recode.released(Type(kind)) == wanted
    assert Shown("a", None, Constant("*")).kind == "text"
    assert Shown("a", Column("a", TEXT, "date"), Truncate("day")).kind == "date"


def test_a_rounded_number_ends_where_doubles_differ():
    step = Round(Decimal("0.5"))
    assert step.below(WHOLE) == Decimal(10) ** 16
    assert step.below(Type("decimal", 30, 4)) == Decimal(10) ** 11
    assert Round(Decimal(5)).below(WHOLE) == Decimal(10) ** 18
    assert Round(Decimal(5)).below(REAL) == Decimal(10) ** 17


def test_equal_claims_alone_have_equal_digests():
    claims = [
        CLAIM,
        replace(CLAIM, count=None),
        replace(CLAIM, source=Files("people.parquet")),
        replace(CLAIM, source=Files("people.parquet", kind="csv")),
        replace(CLAIM, source=Files("people.parquet", kind="csv", options=(("skip", 1),))),
        replace(CLAIM, source=Files("people.parquet", kind="csv", options=(("nulls", ("1",)),))),
        replace(CLAIM, source=Files("people.parquet", True, "delta")),
        replace(CLAIM, source=Relation(("main.people", "x"))),
        replace(CLAIM, source=Relation(("main", "people", "x"))),
        replace(CLAIM, law=Keyed(1 << 58, 5)),
        replace(CLAIM, law=Keyed(1 << 59, 6)),
        replace(CLAIM, law=Keyed(1 << 59, 5, True)),
        replace(CLAIM, law=Keyed(1 << 59, 5, secret=Secret(("main", "salts"), "next"))),
        replace(CLAIM, unit=Rows()),
        replace(CLAIM, unit=Rows(), law=Native(Decimal("0.5"), 5)),
        replace(CLAIM, unit=People(ID, None)),
        replace(CLAIM, unit=People(ID, Drawn())),
        replace(CLAIM, filter=(one_of(AGE, (1,)),)),
        replace(CLAIM, filter=(one_of(AGE, (1, 2)),)),
        replace(CLAIM, filter=(within(AGE, at_least=1),)),
        replace(CLAIM, filter=(within(AGE, below=1),)),
        replace(CLAIM, filter=(within(AGE, at_least=1, below=2),)),
        replace(CLAIM, filter=(one_of(ID, (1,)),)),
        replace(CLAIM, unit=People(ID, ((AGE, True),))),
        replace(CLAIM, columns=(Shown("age", Column("age", DAY), Keep()),)),
        replace(CLAIM, columns=(Shown("age", Column("age", Type("decimal", 3, 1)), Keep()),)),
        replace(CLAIM, columns=(Shown("age", AGE, Map((((1,), "a"),), None)),)),
        replace(CLAIM, columns=(Shown("age", AGE, Map((((1,), "a"),), "None")),)),
        replace(CLAIM, columns=(Shown("t", Column("t", TEXT), Map(((("1",), "a"),), None)),)),
        replace(CLAIM, columns=(Shown("t", Column("t", DAY), Truncate("day")),)),
        replace(CLAIM, columns=(Shown("t", Column("t", DAY), Bins((date(1, 1, 1),), ("", ""))),)),
        replace(CLAIM, columns=(Shown("t", Column("t", MOMENT),
                                      Bins((datetime(1, 1, 1),), ("", ""))),)),
    ]  # fmt: skip
    assert all(one.digest != other.digest for one, other in combinations(claims, 2))
    again = Claim(PEOPLE, People(ID, ((AGE, False),)), Keyed(1 << 59, 5), (SHOWN,))
    assert again.digest == CLAIM.digest
    same = [Round(Decimal(text)) for text in ("2.5", "2.50")]
    assert to_json(same[0]) == to_json(same[1])


def test_a_rate_is_exact():
    assert Keyed(1, 5).rate * 2**60 == 1
    assert Keyed((1 << 60) - 1, 5).rate < 1


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda: Files("people/*.parquet"), "a path of one file has no pattern"),
        (lambda: Secret(("Sampled",), "r"), "and not in a step of the text"),
        (
            lambda: replace(CLAIM, columns=(
                Shown("x", Column("X", WHOLE), Keep()), Shown("y", Column("x", WHOLE), Keep()),
            )),
            "a shown name is no other column's",
        ),
    ],
)  # fmt: skip
def test_what_an_attacker_had_certified(make, law):
    with pytest.raises(ClaimError, match=law):
        make()


def test_a_folder_s_path_has_a_pattern():
    assert Files("people/*.parquet", is_folder=True).path


def test_names_that_differ_by_case_alone_are_printed_where_they_are_told_apart():
    """The same claim is refused by an engine that would read one column for the other."""
    beside = replace(CLAIM, filter=(one_of(Column("AGE", WHOLE), (1,)),))
    assert beside.differs_by_case
    assert not CLAIM.differs_by_case
    constant = (SHOWN, Shown("x", None, Constant("*")))
    assert replace(
        CLAIM, columns=constant, filter=(one_of(Column("X", WHOLE), (1,)),)
    ).differs_by_case
    assert not replace(CLAIM, columns=(Shown("AGE", AGE, Keep()),)).differs_by_case
    for name in ("postgres", "datafusion", "clickhouse"):
        assert '"AGE"' in printed(beside, name)
    for name in ("duckdb", "spark", "sqlite", "mariadb", "snowflake"):
        with pytest.raises(Refused, match="reads a and A in a name as the same letter"):
            printed(beside, name)
