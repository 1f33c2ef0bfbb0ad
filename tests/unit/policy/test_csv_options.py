"""source.csv: what may be said, and what is wrong with it."""

from __future__ import annotations

import pytest


def source(csv: str, path: str = "a.csv") -> str:
    return f"source: {{file: {path}, csv: {csv}}}\nprivacy_unit: row"


def test_every_option(load):
    csv = (
        '{delimiter: tab, encoding: cp1252, quote: none, escape: "\\\\", header: false,'
        " columns: [age, sex], skip: 1, skip_last: 2, comment: '#', trim: true, nulls: [NA, 99],"
        " decimal: ',', thousands: '.', units: €, dates: '%d.%m.%y', century: 1926, true: [yes, 1],"
        " false: no}"
    )
    found = load(source=source(csv)).source.csv
    assert found.model_dump() == {
        "delimiter": "\t", "encoding": "windows-1252", "quote": "", "escape": "\\",
        "header": False, "columns": ("age", "sex"), "skip": 1, "skip_last": 2, "comment": "#",
        "trim": True, "nulls": ("NA", "99"), "decimal": ",", "thousands": ".", "units": ("€",),
        "dates": ("%d.%m.%y",), "century": 1926, "true": ("yes", "1"), "false": ("no",),
    }  # fmt: skip


def test_an_option_is_part_of_the_digest(load):
    plain, told = (
        load(source="source: {file: a.csv}\nprivacy_unit: row"),
        load(source=source("{skip: 1}")),
    )
    assert plain.digest != told.digest
    assert load(source=source("{nulls: NA}")).digest == load(source=source("{nulls: [NA]}")).digest


@pytest.mark.parametrize(
    ("csv", "problem"),
    [
        ("{delimiter: ';;'}", "delimiter must be one character, tab or space, found ';;'; as in"),
        ('{delimiter: "\\n"}', "delimiter must be one character, tab or space"),
        ("{encoding: utf-7}", "encoding must be utf-8, utf-16, latin-1"),
        ("{encoding: 8}", "encoding must be utf-8, utf-16, latin-1"),
        ("{header: names}", "header must be true or false, found 'names'"),
        ("{header: false}", "header needs the names of the columns; name them"),
        ("{columns: [a]}", "columns leaves open what the first line is; write header: false if"),
        ("{header: true, columns: [a, A]}", "columns[1] names 'A' a second time"),
        ("{skip: -1}", "skip must be at least 0, found -1"),
        ("{decimal: ;}", "decimal must be . or ,, found ';'"),
        ("{thousands: '.'}", "thousands must differ from the decimal, found '.'"),
        ("{quote: ';', delimiter: ';'}", "quote must differ from the delimiter, found ';'"),
        ('{escape: tab, delimiter: "\\t"}', "escape must differ from the delimiter, found 'tab'"),
        ("{nulls: []}", "nulls must be a list of texts, found an empty list"),
        ("{nulls: [1.5]}", "nulls[0] must be text or an integer, found 1.5; put it in quotes"),
        ("{nulls: true}", "nulls must be a list of texts, found true"),
        ("{dates: '%d.%m'}", "dates must have a day (%d), a month (%m or %b) and a year"),
        ("{dates: ['%d.%m.%Y', '%d.%q']}", "dates[1] must be made of %A %B %H"),
        ("{dates: '%d.%m.%Y%'}", "dates must be made of %A %B %H"),
        ("{dates: '%d.%d.%m.%Y'}", "dates must have each part once"),
        ("{dates: '%d.%m.%y'}", "dates has %y, which leaves the century open; say the first of"),
        ("{dates: ['%d.%m.%Y', '%d.%m.%y']}", "dates has %y, which leaves the century open"),
        ("{dates: '%d.%m.%Y', century: 1926}", "century is for years of two digits; remove it"),
        ("{dates: '%d.%m.%y', century: past}", "century must be an integer of at least 1000"),
        ("{dates: [1]}", "dates[0] must be a format, found 1"),
        ("{true: [ja]}", "true needs false beside it"),
        ("{false: [nein]}", "false needs true beside it"),
        ("{true: [ja, Nein], false: nein}", "false has 'nein', which true has too"),
        ("{seperator: ';'}", "seperator is an unknown key; allowed here: delimiter, encoding"),
        ("{delimeter: ';'}", "delimeter is an unknown key; did you mean 'delimiter'?"),
    ],
)  # fmt: skip
def test_a_broken_option(problems, csv, problem):
    [found] = problems(source=source(csv))
    assert f"source.csv.{problem}" in found


@pytest.mark.parametrize("path", ["a.parquet", "folder"])
def test_options_are_of_a_csv_file(problems, path):
    [found] = problems(source=source("{delimiter: ';'}", path))
    assert found.endswith(
        "source.csv is for a CSV file; remove it, or name a .csv, .tsv or .txt file"
    )
