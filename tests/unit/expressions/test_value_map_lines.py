"""Maps of values: the lines of each way to write a recode, and which conditions can both hold."""

import pytest
import sqlglot

from policy_engine.expressions.value_map import can_both_hold, value_map


def mapped(sql, kind=None):
    found = value_map(sqlglot.parse_one(sql, read="duckdb"), kind)
    return None if found is None else [f"{entry.when} → {entry.shown}" for entry in found]


CHILD = ["x < 18 → 'child'", "18 <= x → 'adult'", "x IS NULL → NULL"]


@pytest.mark.parametrize(
    "sql",
    [
        "case when x is null then null when x < 18 then 'child' else 'adult' end",
        "case when x is null then null when x <= 17 then 'child' else 'adult' end",
        "case when x < 18 then 'child' when x is not null then 'adult' end",
        "case when x >= 18 then 'adult' when 18 > x then 'child' end",
        "case when not (x >= 18) then 'child' when not (x < 18) then 'adult' end",
        "case when x between 18 and 2000000000 or x > 2000000000 then 'adult'"
        " when x is not distinct from null then null else 'child' end",
        "if(x < 18, 'child', if(x is null, null, 'adult'))",
        "coalesce(case when x < 18 then 'child' end, case when x >= 18 then 'adult' end)",
        "case when x is null then null else case when x < 17.5 then 'child' else 'adult' end end",
    ],
)
def test_one_recode_of_whole_numbers_in_many_writings(sql):
    assert mapped(sql, "INTEGER") == CHILD


@pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL", None])
def test_below_18_and_up_to_17_differ_between_the_whole_numbers(kind):
    below = mapped("case when x < 18 then 'a' else 'b' end", kind)
    up_to = mapped("case when x <= 17 then 'a' else 'b' end", kind)
    assert (below[0], up_to[0]) == ("x < 18 → 'a'", "x <= 17 → 'a'")
    assert below != up_to
    assert mapped("case when x < 18 then 'a' else 'b' end", "BIGINT") == mapped(
        "case when x <= 17 then 'a' else 'b' end", "BIGINT"
    )


@pytest.mark.parametrize(
    ("sql", "kind", "lines"),
    [
        ("x", "INTEGER", ["any x → x", "x IS NULL → NULL"]),
        ("coalesce(x, 'none')", "VARCHAR", ["any x → x", "x IS NULL → 'none'"]),
        ("if(x > 5, x, 0)", "INTEGER", ["x < 6 → 0", "6 <= x → x", "x IS NULL → 0"]),
        ("nullif(x, 0)", "INTEGER",
         ["x < 0 → x", "0 <= x < 1 → NULL", "1 <= x → x", "x IS NULL → NULL"]),
        ("case x when 'b' then 'l' when 'a' then 'l' when null then 'n' else 'o' end", "VARCHAR",
         ["x IN ('a', 'b') → 'l'", "x is another → 'o'", "x IS NULL → 'o'"]),
        ("case when x in ('a', 'it''s') then 1 when x = 'c' then 2.5 end", "VARCHAR",
         ["x IN ('a', 'it''s') → 1", "x IN ('c') → 2.5", "x is another → NULL",
          "x IS NULL → NULL"]),
        ("case when x < 'm' then 'a-l' else 'm-z' end", "VARCHAR",
         ["x < 'm' → 'a-l'", "'m' <= x → 'm-z'", "x IS NULL → 'm-z'"]),
        ("case when x in (1, null) then 'a' when x not in (2, null) then 'b' else 'c' end",
         "INTEGER", ["x < 1 → 'c'", "1 <= x < 2 → 'a'", "2 <= x → 'c'", "x IS NULL → 'c'"]),
        ("case when x then 'yes' when not x then 'no' end", "BOOLEAN",
         ["x IN (FALSE) → 'no'", "x IN (TRUE) → 'yes'", "x IS NULL → NULL"]),
        ("case when x is true then 'yes' else 'no' end", "BOOLEAN",
         ["x IN (FALSE) → 'no'", "x IN (TRUE) → 'yes'", "x IS NULL → 'no'"]),
        ("case when x < '2020-01-01' then 'old' when x >= cast('2020-01-01' as date) then 'new'"
         " end", "DATE",
         ["x < '2020-01-01' → 'old'", "'2020-01-01' <= x → 'new'", "x IS NULL → NULL"]),
        ("case when x <= '2020-01-01 10:00:00.5' then 1 else 2 end", "TIMESTAMP",
         ["x <= '2020-01-01 10:00:00.500000' → 1", "'2020-01-01 10:00:00.500000' < x → 2",
          "x IS NULL → 2"]),
        ("case when x > 5 then 'high' when x is not null then 'low' end", "DOUBLE",
         ["x <= 5 → 'low'", "5 < x → 'high'", "x IS NULL → NULL"]),
        ("case when x <= 5 then 'low' when x < 9 then 'mid' else 'top' end", "DOUBLE",
         ["x <= 5 → 'low'", "5 < x < 9 → 'mid'", "9 <= x → 'top'", "x IS NULL → 'top'"]),
        ("case when x <= 5 then 'low' when x > 5 and x < 9 then 'mid' else 'top' end", "INTEGER",
         ["x < 6 → 'low'", "6 <= x < 9 → 'mid'", "9 <= x → 'top'", "x IS NULL → 'top'"]),
        ("case when x between -5 and 5 then 'in' else 'out' end", "INTEGER",
         ["x < -5 → 'out'", "-5 <= x < 6 → 'in'", "6 <= x → 'out'", "x IS NULL → 'out'"]),
        ("case when x between null and 5 then 'in' when x not between null and 5 then 'out' end",
         "INTEGER", ["x < 6 → NULL", "6 <= x → 'out'", "x IS NULL → NULL"]),
        ("case when x = null then 'a' when x is null then 'b' else 'c' end", "INTEGER",
         ["any x → 'c'", "x IS NULL → 'b'"]),
        ("case when null < x then 'a' else 'b' end", "INTEGER", ["any x → 'b'", "x IS NULL → 'b'"]),
        ("case when 1 < 2 then x end", "INTEGER", ["any x → x", "x IS NULL → NULL"]),
        ("case when x is distinct from 3 then 'a' else 'b' end", "INTEGER",
         ["x < 3 → 'a'", "3 <= x < 4 → 'b'", "4 <= x → 'a'", "x IS NULL → 'a'"]),
        ("case when upper(x) = 'A' then 1 else 0 end", "VARCHAR",
         ["UPPER(x) IN ('A') → 1", "UPPER(x) is another → 0", "UPPER(x) IS NULL → 0"]),
        ("case when x = 'a' then upper(x) end", "VARCHAR",
         ["x IN ('a') → UPPER(x)", "x is another → NULL", "x IS NULL → NULL"]),
        ("case when x > 17.5 then 'a' else 'b' end", "INTEGER",
         ["x < 18 → 'b'", "18 <= x → 'a'", "x IS NULL → 'b'"]),
        ("if(x = 1 and x > null, 1, if(x = 1 or x > null, 2, 3))", "INTEGER",
         ["x < 1 → 3", "1 <= x < 2 → 2", "2 <= x → 3", "x IS NULL → 3"]),
    ],
)  # fmt: skip
def test_lines(sql, kind, lines):
    assert mapped(sql, kind) == lines


def test_a_nan_is_above_every_number_and_has_a_line_where_it_shows_something_else():
    assert mapped("case when x < 5 then 'a' else 'b' end", "DOUBLE")[-1] == "x IS NULL → 'b'"
    bounded = "case when x < 5 then 'a' when x < 9 then 'b' when x <= 9 then 'b' end"
    assert mapped(bounded, "FLOAT")[1:3] == ["5 <= x <= 9 → 'b'", "9 < x → NULL"]
    assert not [line for line in mapped(bounded, "FLOAT") if "NAN" in line]


@pytest.mark.parametrize(
    "sql",
    [
        "case when x < y then 'a' else 'b' end",
        "case when x < 5 and x <= x then 'a' else 'b' end",
        "case when x = 1 then y else 'b' end",
        "case when x = 1 then 'a' when x = 'b' then 'b' end",
        "case when x = true then 'a' when x = 1 then 'b' end",
        "case when x = 1 then random() end",
        "case when x is null then upper(x) end",
        "case when upper(x) = 'A' then x end",
        "case when x then 'a' when x = 3 then 'b' end",
        "case when x = 1 then 'a' when 'text' then 'b' end",
        "case when x = 1 then 'a' when 1 = 'b' then 'b' end",
        "case when x = 1 then 'a' when x > 1 + 1 then 'b' end",
        "case when x < cast('2020-13-01' as date) then 'a' end",
        "nullif(case when x < 18 then 'child' else '' end, '')",
        "case when (x < 18) is true then 'child' else 'adult' end",
        "'constant'",
        "upper(x)",
        "x + 1",
    ],
)
def test_what_is_no_map(sql):
    assert mapped(sql) is None


@pytest.mark.parametrize(
    ("kind", "constant"),
    [("INTEGER", "'5'"), ("DATE", "'someday'"), ("TIMESTAMP", "'2020-02-30'"), ("BOOLEAN", "'t'"),
     ("UUID", "'5'"), ("DATE", "5 + 1")],
)  # fmt: skip
def test_a_text_that_the_engine_converts_makes_no_map(kind, constant):
    assert mapped(f"case when x = {constant} then 'a' else 'b' end", kind) is None


def test_a_text_and_a_date_are_not_compared_with_each_other():
    sql = "case when x < '2020-01-01' and {} < cast('2020-01-02' as date) then 1 end"
    assert mapped(sql.format("'2020-01-01'"), "DATE") is None
    compared = mapped(sql.format("cast('2020-01-01' as date)"), "DATE")
    assert compared[0] == "x < '2020-01-01' → 1"


@pytest.mark.parametrize("kind", ["VARCHAR", "ENUM", None])
def test_a_text_is_one_of_a_text_an_enum_and_of_what_is_not_known(kind):
    lines = ["x IN ('5') → 'a'", "x is another → 'b'", "x IS NULL → 'b'"]
    assert mapped("case when x = '5' then 'a' else 'b' end", kind) == lines


def test_a_day_beside_a_whole_number_is_left_to_the_laws_of_rows():
    # DuckDB refuses the text, and so does the kernel, by V17; the map only must not fail.
    lines = mapped("case when x < cast('2020-01-01' as date) then 'a' end", "INTEGER")
    assert lines[0] == "x < '2020-01-01' → 'a'"


def test_a_map_of_too_many_constants_is_none():
    def listed(count):
        texts = ", ".join(f"'{place}'" for place in range(count))
        return f"case when x in ({texts}) then 'a' else 'b' end"

    assert len(mapped(listed(200), "VARCHAR")) == 3
    assert mapped(listed(201), "VARCHAR") is None


@pytest.mark.parametrize(
    "constant", ["999.99", "0.1", "0.10000000000000001", "123456789.123456789", "-0.5"]
)
def test_a_number_is_shown_exactly(constant):
    assert mapped(f"case when x < {constant} then 'a' end", "DECIMAL")[0] == f"x < {constant} → 'a'"


def test_no_line_for_what_no_whole_number_is():
    for test in ("x = 17.5", "x > 17 and x < 18", "x between 17.2 and 17.8"):
        sql = f"case when {test} then 'a' else 'b' end"
        assert mapped(sql, "INTEGER") == ["any x → 'b'", "x IS NULL → 'b'"]
        assert len(mapped(sql, "DOUBLE")) == 4


def both(left, right, kind=None, collated=()):
    nodes = (sqlglot.parse_one(text, read="duckdb") for text in (left, right))
    return can_both_hold(*nodes, {"x": kind}, set(collated))


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("x < 5", "x >= 5", None),
        ("x < 5", "5 <= x", "INTEGER"),
        ("x is null", "x is not null", "VARCHAR"),
        ("x is null", "x = 1", "INTEGER"),
        ("x", "not x", "BOOLEAN"),
        ("x", "x is not true", "BOOLEAN"),
        ("x is false", "x is true", "BOOLEAN"),
        ("x in ('a', 'b')", "x = 'c'", "VARCHAR"),
        ("x in ('a', 'b')", "x not in ('a', 'b')", "VARCHAR"),
        ("x < '2020-01-01'", "x >= cast('2020-01-01' as date)", "DATE"),
        ("x < '2020-01-01'", "x >= '2020-01-01'", "TIMESTAMPTZ"),
        ("x < '2020-01-01 10:00:00'", "x >= '2020-01-01 10:00:00'", "TIMESTAMP"),
        ("x between 1 and 2", "x > 2.00001", "DOUBLE"),
        ("x > 100000000000000001", "x < 100000000000000001", "BIGINT"),
        ("x = null", "x = null", "INTEGER"),
        ("x > 5", "x <= 5 or x is null", "FLOAT"),
        ("case when x < 5 then true end", "x >= 5", "INTEGER"),
        ("case x when 1 then true end", "x = 2", "INTEGER"),
        ("x in ('a', 'b')", "x = 'c'", "ENUM"),
        ("year(x) < 2020", "year(x) >= 2020", "DATE"),
        ("extract(year from x) < 2020", "extract(year from x) > 2019", "TIMESTAMP"),
        ("length(x) < 5", "length(x) = 5", "VARCHAR"),
        ("x > 3", "case when x > 3 then 0 else 1 end", "INTEGER"),
    ],
)
def test_conditions_that_no_row_meets_both(left, right, kind):
    assert not both(left, right, kind)
    assert not both(right, left, kind)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("x < 5", "x <= 5", "INTEGER"),
        ("x <= 5", "x >= 5", "INTEGER"),
        ("x < 5", "y >= 5", "INTEGER"),
        ("x < y", "x >= y", "INTEGER"),
        ("x > 5", "x > 1000", "DOUBLE"),
        ("x is not true", "x is null", "BOOLEAN"),
        ("x is distinct from 1", "x is null", "INTEGER"),
        ("x = 1", "x = '2'", "INTEGER"),
        ("x = 1", "x", "INTEGER"),
        ("x < 'b'", "x > 'c'", "ENUM"),
        ("x = '1'", "x = '01'", None),
        ("x = 'a'", "x like 'b%'", "VARCHAR"),
        ("x > 5", "isnan(x)", "DOUBLE"),
        ("x > 3", "case when x > 3 then 1 else 0 end", "INTEGER"),
        ("year(x) = '2020'", "year(x) = '02020'", "DATE"),
        ("extract(epoch from x) = 1", "extract(epoch from x) = 2", "TIMESTAMP"),
        ("1", "x = 1", "INTEGER"),
        ("random() < 0.5", "random() >= 0.5", None),
        ("x < '2020-01-01 10:00:00'", "x >= '2020-01-01 10:00:00'", "DATE"),
        ("x < '2020-01-01 10:00:00'", "x >= '2020-01-01 10:00:00'", "TIMESTAMPTZ"),
        ("x < 'tomorrow'", "x >= 'tomorrow'", "DATE"),
        ("x < 0.1234567", "x >= 0.1234567", "DOUBLE"),
        ("x < 1234567", "x > 1234567", "FLOAT"),
        ("x < 123456.5", "x > 123456.5", None),
        ("x + 1", "x + 1 = 2", "INTEGER"),
    ],
)
def test_conditions_of_which_that_is_not_known(left, right, kind):
    assert both(left, right, kind)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        # One constant, compared in two types, or two that are one there.
        ("x < 7e-1", "x >= 0.7", "FLOAT"),
        ("x < cast(0.7 as double)", "x >= 0.7", "FLOAT"),
        ("x <= 9007199254740992e0", "x > 9007199254740992", "BIGINT"),
        ("x <= 9007199254740992e0", "x >= 9007199254740993e0", "BIGINT"),
        # 5 is true, but is not equal to true.
        ("x <> true", "x is true", "INTEGER"),
        ("x", "x <> true", "INTEGER"),
        # What is compared is no column: its type and collation are not known here.
        ("x collate nocase = 'a'", "x collate nocase = 'A'", "VARCHAR"),
        ("length(x) = '1'", "length(x) = '01'", "VARCHAR"),
        ("date_trunc('day', x) = '2020-01-01'", "date_trunc('day', x) = '2020-01-01 00:00:00'",
         "TIMESTAMP"),
        ("x + 1 is true", "x + 1 <> true", "INTEGER"),
        # A zone of its own.
        ("x < '2020-01-01 00:00:00+02'", "x >= '2020-01-01'", "TIMESTAMP"),
    ],
)  # fmt: skip
def test_conditions_that_the_engine_compares_in_its_own_way(left, right, kind):
    assert both(left, right, kind)
    assert both(right, left, kind)


def test_texts_under_a_collation_may_be_equal_to_others():
    assert not both("x = 'a'", "x = 'A'", "VARCHAR")
    assert both("x = 'a'", "x = 'A'", "VARCHAR", ["x"])


def test_two_spellings_of_one_truth_may_be_equal_where_the_type_is_not_known():
    assert both("x = 'TRUE'", "x = 't'")
    assert both("x = 'no'", "x = 'off'")
    assert not both("x = 'TRUE'", "x = 't'", "VARCHAR")
    assert not both("x = 'true'", "x = 'rest'")
