"""CSV: each value is read by itself, and what does not fit is NULL; each row, or no file."""

from __future__ import annotations

import gzip
import os
from contextlib import closing

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.errors import FileError
from policy_engine.kernel.printing import environment, read_of
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type
from policy_engine.policy.csv_models import CsvSpec
from policy_engine.policy.resolve import Source
from policy_engine.warehouse.csv_files import load, names_in, options_in
from policy_engine.warehouse.csv_values import converted

#: The part of the examples that are tried; "make evidence" tries all.
PART = 1 if os.environ.get("EVIDENCE") else 5
GERMAN = {"decimal": ",", "thousands": "."}


def values(declared, texts, **options):
    """What the cast of the certified text makes of values."""
    recodes = environment("duckdb").get_template("recodes.sql.j2").module
    cast = recodes.value(read_of(Column("c", Type("text"), declared)))
    read = converted("c0", declared, CsvSpec(**options))
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT ({cast})::VARCHAR FROM (SELECT {read} AS c FROM (SELECT unnest(?) AS c0))",
            [texts],
        ).fetchall()
    return [row[0] for row in rows]


def rows(tmp_path, content, name="s.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    source = Source(name, None, csv=CsvSpec(**options) if options else None)
    with closing(duckdb.connect()) as connection:
        load(connection, path, source)
        return connection.execute(f'FROM "{name}"').fetchall()


@pytest.mark.parametrize(
    ("options", "read"),
    [
        (GERMAN, {"11,96": 11.96, "1.234,5": 1234.5, "1.234.567": 1234567, "-3": -3, ",5": .5,
                  "1.234,50-": -1234.5, "5,": 5, "+1,5E+2": 150, "\u00a07,5 ": 7.5}),
        (GERMAN, dict.fromkeys(("12.5", "1.23", "1,2,3", "1.2345", "x", "", "-", ",", "--5",
                                "1 234", "7 €", "inf", "NaN", "0x1f", "1_0", "1,5%"))),
        ({"decimal": ","}, {"1,5": 1.5, "1.500": None, "1.5": None}),
        ({"thousands": ","}, {"1,234.5": 1234.5, "12,34": None, "1234.5": 1234.5}),
        ({"thousands": " ", "decimal": ","},
         {"1\u202f234,5": 1234.5, "1\u00a0234": 1234, "1 2": None}),
        ({"thousands": "'"}, {"1'234.5": 1234.5}),
        ({"units": ["€", "EUR", "%", "$"]},
         {"$ 5": 5, "5 EUR": 5, "5%": 5, "€5": 5, "-5 €": -5, "5 USD": None, "5%5": None}),
        (GERMAN, {"\u22123": -3, "(1.234,50)": -1234.5, " (7) ": -7, "(-7)": None, "(7-)": None,
                  "(7": None, "()": None}),
        ({"units": "£"}, {"-£5": -5, "£-5": -5, "(£5)": -5, "- £ 5": -5, "+£5": 5, "-£-5": None}),
        ({"units": [".", "(a)"]}, {".5.": 5, "5(a)": 5, "5b": None}),
        ({}, {"1e3": 1000, "11.96": 11.96, "11,96": None}),
    ],
)  # fmt: skip
def test_numbers(options, read):
    found = values("double", list(read), **options)
    assert [None if each is None else float(each) for each in found] == list(read.values())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"PK\x03\x04" + bytes(9), "is no CSV file but a zip archive, as spreadsheets"),
        ("a.csv", b"\xd0\xcf\x11\xe0" + bytes(9), "a workbook of Excel: save it as CSV"),
        ("a.txt", b"PAR1" + bytes(9), "a Parquet file: name it .parquet"),
        ("a.csv.gz", b"a,b\n1,2\n", "is no gzip file: name it without .gz"),
        ("a.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), "is a gzip file: name it .csv.gz"),
        ("a.csv", b"# by a machine\na,b\n1,2\n", '; write csv: {comment: "#"} beside file'),
        ("a.csv", b"#x y\na;b\n1;2\n", '; write csv: {delimiter: ";", comment: "#"} beside'),
    ],
)
def test_a_file_that_is_none_is_told_what_it_is(tmp_path, name, content, said):
    with pytest.raises(FileError) as caught:
        rows(tmp_path, content, name)
    assert said in str(caught.value)


def test_a_header_that_begins_with_a_number_sign_is_one(tmp_path):
    assert rows(tmp_path, "#nr,town\n7,Ulm\n") == [("7", "Ulm")]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read_where_its_order_is_said(tmp_path, encoding):
    content = "a,b\n1,ö\n".encode(encoding)
    assert rows(tmp_path, content, encoding=encoding) == [("1", "ö")]
    for options in ({}, {"encoding": "utf-16"}):
        with pytest.raises(FileError, match=rf"write csv: {{encoding: {encoding}}}"):
            rows(tmp_path, content, **options)
    assert options_in(tmp_path / "s.csv", "s.csv")[0] == CsvSpec(encoding=encoding)


@pytest.mark.parametrize(
    ("formats", "read"),
    [
        ("%d.%m.%Y", {"23.03.1993": "1993-03-23", "1.3.1993": "1993-03-01", "30.02.1993": None,
                      "23.03.93": None, "1993-03-23": None, "infinity": None, "epoch": None}),
        ("%d.%m.%y", {"23.03.93": "1993-03-23", "23.03.05": "2005-03-23"}),
        (["%d.%m.%Y", "%d.%m.%y"], {"23.03.93": "1993-03-23", "23.03.1993": "1993-03-23"}),
        (["%Y/%m/%d", "%d %b %Y"], {"1993/03/23": "1993-03-23", "23 Mar 1993": "1993-03-23"}),
        ("%m/%d/%Y %I:%M %p", {"3/23/1993 2:05 PM": "1993-03-23", "3/23/1993 14:05": None}),
    ],
)  # fmt: skip
def test_dates(formats, read):
    century = {"century": 1926} if "%y" in str(formats) else {}
    assert values("date", list(read), dates=formats, **century) == list(read.values())


@pytest.mark.parametrize(
    ("century", "read"),
    [
        (1926, {"01.02.26": "1926-02-01", "01.02.25": "2025-02-01", "01.02.45": "1945-02-01",
                "01.02.07": "2007-02-01", "29.02.00": "2000-02-29", "29.02.25": None}),
        (1900, {"01.02.00": "1900-02-01", "31.12.99": "1999-12-31", "29.02.00": None,
                "29.02.04": "1904-02-29"}),
        (2000, {"01.02.99": "2099-02-01"}),
    ],
)  # fmt: skip
def test_a_year_of_two_digits_is_in_the_century_that_is_said(century, read):
    found = values("date", list(read), dates="%d.%m.%y", century=century)
    assert found == list(read.values())
    moments = values("timestamp", list(read), dates="%d.%m.%y", century=century)
    assert moments == [day and f"{day} 00:00:00" for day in read.values()]


def test_timestamps():
    formats = ["%d.%m.%Y %H:%M", "%d.%m.%Y"]
    read = {
        "23.03.1993 14:05": "1993-03-23 14:05:00",
        "23.03.1993": "1993-03-23 00:00:00",
        "x": None,
    }
    assert values("timestamp", list(read), dates=formats) == list(read.values())


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ({"true": "wahr", "false": "falsch"},
         {"WAHR": "true", " falsch ": "false", "true": None, "1": None, "": None}),
        ({"true": "X", "false": "", "nulls": "?"}, {"x": "true", "": "false", "?": None}),
        ({}, {"true": "true", "0": "false", "wahr": None}),
    ],
)  # fmt: skip
def test_truth_values(options, read):
    assert values("boolean", list(read), **options) == list(read.values())


def test_texts_are_as_they_are():
    read = ["1.234,5", "NA", "", " x ", "it's"]
    assert values("text", read) == ["1.234,5", "NA", None, " x ", "it's"]
    told = {**GERMAN, "nulls": ["NA", "it's"], "trim": True}
    assert values("text", read, **told) == ["1.234,5", None, None, "x", None]


@settings(max_examples=200 // PART, deadline=None)
@given(st.lists(st.text(), min_size=1), st.sampled_from(["double", "integer", "date", "boolean"]))
def test_a_value_never_fails_and_depends_on_itself_alone(texts, declared):
    options = {**GERMAN, "units": ["%"], "dates": "%d.%m.%Y", "true": "wahr", "false": "falsch"}
    texts = [text.replace("\0", "") for text in texts]
    alone = [values(declared, [text], **options)[0] for text in texts[:2]]
    assert values(declared, texts, **options)[:2] == alone


@pytest.mark.parametrize(
    ("content", "options", "found"),
    [
        ("a,b\n1,2\n\n3,4", {}, [("1", "2"), ("3", "4")]),
        ("a,b\r1,2\r\n3,4\n", {}, [("1", "2"), ("3", "4")]),
        ('a,b\n1,"2\n""3"""\n', {}, [("1", '2\n"3"')]),
        ('a,b\n1,5" x\n', {}, [("1", '5" x')]),
        ('a,b\n"1,2\n', {"quote": "none"}, [('"1', "2")]),
        ("a,b\n'1,2',3\n", {"quote": "'"}, [("1,2", "3")]),
        ("a,b,\n1,2,\n3,4,,\n", {}, [("1", "2"), ("3", "4")]),
        ("\na,b\n1,2\n", {}, [("1", "2")]),
        ("x\n#\na,b\n#c\n1,2\n", {"skip": 1, "comment": "#"}, [("1", "2")]),
        ("1,2\n3,4\nsum\n", {"header": False, "columns": ["a", "b"], "skip_last": 1},
         [("1", "2"), ("3", "4")]),
        ("a,b\n1,2\nsum\n\n", {"skip_last": 1}, [("1", "2")]),
        ("a,b\n1,2\n", {"skip_last": 7}, []),
        ("x\n1,2\n", {"header": True, "columns": ["a", "b"]}, [("1", "2")]),
        ("2020,b\n1,2\n", {"header": True}, [("1", "2")]),
        ('a, b\n1 , "x, y"\n', {"trim": True}, [("1", "x, y")]),
        ('a,b\n\\N,N\n"x\\"y",\\\\N\n', {"escape": "\\", "nulls": "\\N"},
         [(None, "N"), ('x"y', None)]),
        ('a,b\n"x\\"y",N\n', {"escape": "\\", "nulls": "-"}, [('x"y', "N")]),
    ],
)  # fmt: skip
def test_rows_are_read_as_they_are_written(tmp_path, content, options, found):
    assert rows(tmp_path, content, **options) == found


@pytest.mark.parametrize(
    "content",
    ['a,b\n1,2\n3,"4\n5,6\n7,"8\n', 'a,b\n1,"2"3\n', 'a,b\n1,"2', "a,b\n1\n", "a,b\n1,2,3\n",
     b"a,b\n1,\xff\n"],
)  # fmt: skip
def test_a_row_that_would_swallow_others_is_refused(tmp_path, content):
    with pytest.raises(FileError, match="is not a CSV file that can be read") as caught:
        rows(tmp_path, content)
    assert "\ufffd" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_gzip_file_that_ends_early_is_refused(tmp_path):
    packed = gzip.compress(b"a,b\n" + bytes(f"{list(range(20_000))}", "ascii") + b"\n")
    with pytest.raises(FileError, match=r"s\.csv\.gz is not"):
        rows(tmp_path, packed[:-9], "s.csv.gz", header=True, columns=["a", "b"])


def test_many_rows_keep_their_order(tmp_path):
    content = "a\n" + "".join(f"{number}\n" for number in range(50_001))
    assert rows(tmp_path, content) == [(str(number),) for number in range(50_001)]


def test_names_are_on_one_line(tmp_path):
    (tmp_path / "s.csv").write_text('," full\n name ",age ,\n')
    spec = CsvSpec(header=True)
    assert names_in(tmp_path / "s.csv", "s.csv", spec) == (None, "full name", "age", None)


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(FileError, match=r"gone\.csv cannot be read: No such file"):
        names_in(tmp_path / "gone.csv", "gone.csv", CsvSpec())


@pytest.mark.parametrize(
    ("first", "options", "told"),
    [
        ("a,b", {"delimiter": ";"}, 'write csv: {delimiter: ","}'),
        ("a;b", {"delimiter": "tab"}, 'write csv: {delimiter: ";"}'),
        ("a;b", {"skip": 0}, 'write csv: {delimiter: ";"}'),
        ("größe;b", {"delimiter": ";"}, "write csv: {encoding: windows-1252}"),
    ],
)
def test_what_to_write_is_told_beside_what_is_written(tmp_path, first, options, told):
    (tmp_path / "s.csv").write_bytes(f"{first}\n1,2\n".encode("cp1252"))
    with pytest.raises(FileError) as caught:
        names_in(tmp_path / "s.csv", "s.csv", CsvSpec(**options))
    assert str(caught.value).endswith(f"{told} beside file")
    names_in(
        tmp_path / "s.csv", "s.csv", CsvSpec(**{**options, "header": True, "encoding": "cp1252"})
    )


def test_names_in_quotes_tell_their_delimiter(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(b'"Nr";"Anschrift"\r\n"1";"Weg 1\n50667"\r\n')
    with pytest.raises(FileError, match=r"by ';'; write csv: \{delimiter: \";\"\} beside"):
        names_in(path, "s.csv", CsvSpec())
    assert options_in(path, "s.csv") == (CsvSpec(delimiter=";"), ("Nr", "Anschrift"))
    path.write_bytes(b'"Nr"s;"Anschrift"\r\n1;2\r\n')
    for read in (lambda: names_in(path, "s.csv", CsvSpec(delimiter=";")),
                 lambda: options_in(path, "s.csv")):  # fmt: skip
        with pytest.raises(FileError, match=r"the first line of .*s\.csv is not CSV in UTF-8$"):
            read()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("options", [{}, {"header": False, "columns": ["Stadt", "b"]}])
def test_another_encoding_than_that_of_the_byte_order_mark_is_refused(tmp_path, packed, options):
    content = "\ufeffStadt;b\nKöln;2\n".encode()
    name = "s.csv.gz" if packed else "s.csv"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    said = {"delimiter": ";", **options}
    with pytest.raises(
        FileError, match=r"order mark of UTF-8, .* says encoding: windows-1252; leave"
    ):
        names_in(tmp_path / name, name, CsvSpec(encoding="windows-1252", **said))
    assert names_in(tmp_path / name, name, CsvSpec(**said)) == ("Stadt", "b")
