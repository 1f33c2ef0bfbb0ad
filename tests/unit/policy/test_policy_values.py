"""What a good policy means."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.errors import InternalError
from policy_engine.kernel.recodes import Bins, Constant, Keep, Prefix, Round, Truncate
from policy_engine.policy.auto import Guarantee
from policy_engine.policy.loading import load_policy, load_policy_text
from policy_engine.policy.recode_models import HierarchySpec
from policy_engine.policy.recodings import mapped
from policy_engine.policy.resolve import Release, Source, resolve_recoding

CONTRACT = """\
version: 1
name: adult_public
description: Census extract for the public site
source:
  file: data/adult.parquet            # or  table: census.main.adult
  sampled_at: 1.0
privacy_unit: row
recode:
  age:            {bins: [18, 30, 45, 60, 75]}
  education:      {hierarchy: hierarchies/education.csv, level: 2}
  native_country: {map: {United-States: US, Mexico: MX}, other: elsewhere}
  zip:            {prefix: 3}
  birth_date:     {truncate: year}
  hours_per_week: {round: 10}
  race:           {constant: "*"}
  income:         keep
sample: {rate: 0.1, method: keyed}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9, neighbours: add_remove}
release:
  file: out/adult_public.parquet
  as: counts
account: census
"""


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies/education.csv").write_text("HS-grad;school;*\nBachelors;degree;+\n")
    file = tmp_path / "policy.yaml"
    file.write_text(CONTRACT)
    return file


def test_the_policy_of_the_contract(contract):
    policy = load_policy(contract)
    assert (policy.name, policy.description) == (
        "adult_public",
        "Census extract for the public site",
    )
    assert policy.source == Source("data/adult.parquet", None, sampled_at=Decimal("1.0"))
    assert policy.recodings == (
        (
            "age",
            Bins(
                tuple(map(Decimal, (18, 30, 45, 60, 75))),
                ("<18", "[18,30)", "[30,45)", "[45,60)", "[60,75)", ">=75"),
            ),
        ),
        ("education", mapped((("Bachelors", "+"), ("HS-grad", "*")), "other")),
        ("native_country", mapped((("Mexico", "MX"), ("United-States", "US")), "elsewhere")),
        ("zip", Prefix(3)),
        ("birth_date", Truncate("year")),
        ("hours_per_week", Round(Decimal(10))),
        ("race", Constant("*")),
        ("income", Keep()),
    )
    assert (policy.rate, policy.method, policy.k) == (Decimal("0.1"), "keyed", 20)
    assert policy.guarantee == Guarantee(Decimal("0.5"), Decimal("1e-9"), "add_remove")
    assert policy.release == Release("out/adult_public.parquet", None, "counts", "n")
    assert (policy.budget, policy.grouping) == ("census", "auto")
    assert (policy.file, policy.directory) == (contract, contract.parent)
    assert policy.source_path == contract.parent / "data/adult.parquet"
    assert policy.release_path == contract.parent / "out/adult_public.parquet"
    assert policy.columns[-2:] == ("race", "income")


def test_a_path_may_be_text_and_the_file_may_have_a_byte_order_mark(contract):
    contract.write_bytes(b"\xef\xbb\xbf" + CONTRACT.replace("\n", "\r\n").encode())
    assert load_policy(str(contract)).name == "adult_public"


def test_what_is_left_out_has_a_default(load):
    policy = load()
    assert policy.description == ""
    assert policy.source == Source("a.parquet", None, (), (), Decimal(1), ())
    assert policy.method == "keyed"
    assert policy.guarantee.neighbours == "add_remove"
    assert policy.release == Release("b.parquet", None, "counts", "n")
    assert policy.budget == "a.parquet"
    assert policy.effective_rate == Decimal("0.1")


def test_relations_and_people_with_many_rows(load):
    policy = load(
        source="source: {table: c.main.t, sampled_at: 0.01, columns: {v: date, q: integer}}\n"
        "privacy_unit: {column: p, rows: {first_by: [visit date DESC, v, w asc, desc]}}",
        release="release: {table: public.t, as: rows}",
        guarantee="guarantee: {epsilon: 1, delta: 0.1, neighbours: replace_one}",
        sample="sample: {rate: 0.5, method: native}",
        grouping="grouping: raw_first",
    )
    assert policy.source == Source(
        path=None,
        relation="c.main.t",
        keys=("p",),
        order_by=(("visit date", "desc"), ("v", "asc"), ("w", "asc"), ("desc", "asc")),
        sampled_at=Decimal("0.01"),
        columns=(("v", "date"), ("q", "integer")),
    )
    assert policy.source_path is None
    assert policy.release_path is None
    assert policy.release.text == "public.t"
    assert policy.budget == "c.main.t"
    assert policy.guarantee.neighbours == "replace_one"
    assert policy.effective_rate == Decimal("0.005")
    assert (policy.method, policy.grouping) == ("native", "raw_first")


def test_the_rows_of_a_release_have_no_count_column(load):
    assert load(
        recode="recode: {n: keep}", release="release: {file: b.parquet, as: rows}"
    ).columns == ("n",)


def test_a_person_needs_no_order(load):
    assert (
        load(source="source: {file: a.csv}\nprivacy_unit: {column: p, rows: any}").source.order_by
        == ()
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("keep", Keep()),
        ("{bins: [0]}", Bins((Decimal(0),), ("<0", ">=0"))),
        (
            "{bins: [-1.50, 1e3, +2000]}",
            Bins(
                (Decimal("-1.5"), Decimal(1000), Decimal(2000)),
                ("<-1.50", "[-1.50,1000)", "[1000,2000)", ">=2000"),
            ),
        ),
        ("{bins: [1], labels: [low, 2]}", Bins((Decimal(1),), ("low", "2"))),
        (
            "{bins: [2000-01-01, '2010-12-31']}",
            Bins(
                (date(2000, 1, 1), date(2010, 12, 31)),
                ("<2000-01-01", "[2000-01-01,2010-12-31)", ">=2010-12-31"),
            ),
        ),
        (
            "{bins: [2000-01-01 12:30, '2000-01-01t13:00:01.5']}",
            Bins(
                (datetime(2000, 1, 1, 12, 30), datetime(2000, 1, 1, 13, 0, 1, 500000)),
                (
                    "<2000-01-01T12:30:00",
                    "[2000-01-01T12:30:00,2000-01-01T13:00:01.500000)",
                    ">=2000-01-01T13:00:01.500000",
                ),
            ),
        ),
        (
            "{map: {NO: Norway, 5: five, true: t, 2020-01-01: d, -1: ~, '': e, '007': 8}, "
            "other: ~}",
            mapped(
                (
                    ("", "e"),
                    ("-1", None),
                    ("007", "8"),
                    ("2020-01-01", "d"),
                    ("5", "five"),
                    ("NO", "Norway"),
                    ("true", "t"),
                ),
                None,
            ),
        ),
        ("{prefix: 2}", Prefix(2)),
        ("{truncate: quarter}", Truncate("quarter")),
        ("{round: 0.25}", Round(Decimal("0.25"))),
        ("{round: 10, way: down}", Round(Decimal(10), "down")),
        ("{round: 10, way: zero}", Round(Decimal(10), "zero")),
        ("{constant: 5}", Constant("5")),
        ("{constant: ''}", Constant("")),
    ],
)
def test_a_recoding(load, written, meant):
    assert load(recode=f"recode: {{c: {written}}}").recodings == (("c", meant),)


@pytest.mark.parametrize(
    "label",
    ["it's 20%", "👩‍👩‍👧", "מזרח", "a\tb", "*/ drop", '"', "{ x }", "{# x #}", "}}", "\\", "é"],
)
def test_labels_are_text(load, label):
    quoted = "'" + label.replace("'", "''") + "'"
    assert load(recode=f"recode: {{c: {{bins: [1], labels: [a, {quoted}]}}}}").recodings == (
        ("c", Bins((Decimal(1),), ("a", label))),
    )


def test_an_escaped_pair_is_one_character(load):
    (pair,) = load(recode=r'recode: {c: {constant: "\ud83d\ude00"}}').recodings
    assert pair == ("c", Constant("😀"))


def test_column_names_are_text(load):
    columns = """'"; drop table x; --': keep, 2020: keep, true: keep, "my col": keep, <<x: keep"""
    assert load(recode=f"recode: {{{columns}}}").columns == (
        '"; drop table x; --',
        "2020",
        "true",
        "my col",
        "<<x",
    )


def test_a_key_in_quotes_is_no_merge_key(load):
    assert load(recode="recode: {'<<': keep}").columns == ("<<",)


def test_a_hierarchy_that_was_not_read_is_a_bug_of_ours():
    with pytest.raises(InternalError, match=r"the hierarchy h\.csv was not read"):
        resolve_recoding(HierarchySpec(hierarchy="h.csv", level=1))


def test_text_between_single_braces_is_text(load):
    text = "{ env_var('X') } {# y #} }} %}"
    assert load(description=f'description: "{text}"').description == text


def test_yaml_1_2_may_say_so(text, tmp_path):
    assert load_policy_text("%YAML 1.2\n---\n" + text(), "p", tmp_path).name == "p"
