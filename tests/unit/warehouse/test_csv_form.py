"""The plain form of a CSV file: what has it is read at once as it is row by row, or not at all."""

from __future__ import annotations

import os
from contextlib import closing

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from policy_engine.errors import FileError
from policy_engine.policy.csv_models import CsvSpec
from policy_engine.policy.resolve import Source
from policy_engine.warehouse import csv_files, csv_form
from policy_engine.warehouse.csv_form import plain_form


def loaded(path, spec, columns=()):
    """The rows of a file in their order, or that it is refused, and in which words."""
    with closing(duckdb.connect()) as connection:
        try:
            csv_files.load(connection, path, Source("s.csv", None, csv=spec, columns=columns))
        except FileError as error:
            return str(error)
        csv_files.numbered(connection, "s.csv")
        return connection.execute('SELECT * FROM "s.csv" ORDER BY rowid').fetchall()


def row_by_row(path, spec, columns=()):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "plain_form", lambda *_: None)
        return loaded(path, spec, columns)


PIECES = ["a", "1", " ", ",", ";", '"', '""', '","', "\n", "\r\n", "\r", "é", "NA", "\\", "#", "\t",
          "\0", "\ufeff", "'", "\u2028", "x,y\n", '"q,",1\n', "1,2\n"]  # fmt: skip


@settings(
    max_examples=400 if os.environ.get("EVIDENCE") else 60,
    deadline=None,
    suppress_health_check=[*HealthCheck],
)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.sampled_from(["utf-8", "latin-1"]),
    st.sampled_from([{}, {"nulls": ["NA"]}, {"quote": "none"}, {"delimiter": ";"}, {"skip": 1}]),
    st.integers(1, 3),
)
@example('1,"a\nb"\n', "utf-8", {}, 2)
@example('1,""\n,"x""y"\n', "utf-8", {}, 2)
@example("1,2\n\n3,4\n", "utf-8", {}, 2)
@example("1,2\r\n3,4", "utf-8", {}, 2)
@example("1,2\r\n3,4\n", "utf-8", {}, 2)
@example("\ufeff1,2\n", "utf-8", {}, 2)
@example("1,2,\n3,4\n", "utf-8", {}, 2)
@example("a\rb\nx,y\ng,h\n", "utf-8", {"skip": 1}, 2)
@example(" 1 ,\t2\n", "utf-8", {}, 2)
@example('1, "2"\n', "utf-8", {}, 2)
def test_both_readers_read_alike(tmp_path_factory, text, encoding, options, width):
    path = tmp_path_factory.mktemp("form") / "s.csv"
    path.write_bytes(text.encode(encoding, "replace") or b"\n")
    names = [f"c{number}" for number in range(width)]
    spec = CsvSpec(encoding=encoding, header=False, columns=names, **options)
    assert loaded(path, spec) == row_by_row(path, spec)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("header", ['a,"b, c",d', "a,b,d"])
def test_lines_over_several_blocks_are_read_in_their_order(tmp_path, monkeypatch, end, header):
    path = tmp_path / "s.csv"
    rows = [(str(n), f"x, {n}" if n % 3 else None, 'q"' * (n % 2) or None) for n in range(500)]
    lines = [",".join('"' + (f or "").replace('"', '""') + '"' for f in row) for row in rows]
    path.write_bytes(end.join([header, *lines]).encode())
    monkeypatch.setattr(csv_form, "_CHUNK", 64)
    form = plain_form(path, CsvSpec(), ",", 3)
    assert (form.rows, form.line_end, form.skip) == (500, end, 1)
    assert loaded(path, CsvSpec()) == rows == row_by_row(path, CsvSpec())


@pytest.mark.parametrize(
    "options",
    [{"escape": "\\"}, {"comment": "#"}, {"skip_last": 1}, {"trim": True}, {"encoding": "utf-16"}],
)  # fmt: skip
def test_what_may_mean_more_is_read_row_by_row(tmp_path, options):
    path = tmp_path / "s.csv"
    path.write_text("a,b\n1,2\n")
    assert plain_form(path, CsvSpec(), ",", 2) is not None
    assert plain_form(path, CsvSpec(**options), ",", 2) is None


@pytest.mark.parametrize(
    "text",
    ["a,b\n1,2\n3\n", "a,b\n1,2,3\n", 'a,b\n1,"2\n', 'a,b\n1,2"\n', 'a,b\n1,"2"3\n', "a,b\n\n1,2\n",
     "a,b\n1,\0\n", "a,b\n1,2\r\n", "a,b\r\n1,2\n", "a,b\r1,2\r", "a,b", 'a,"b\n",c\n1,2,3\n',
     'a,b\r1,2\r300,"x"', '"a","b"', f"a,b\n1,{'x' * 100_001}\n"],
)  # fmt: skip
def test_another_form_is_not_plain(tmp_path, text):
    path = tmp_path / "s.csv"
    path.write_bytes(text.encode())
    assert plain_form(path, CsvSpec(), ",", 2) is None


@pytest.mark.parametrize(("length", "is_plain"), [(99_990, True), (100_010, False)])
def test_a_line_may_be_longer_than_a_block(tmp_path, length, is_plain):
    file = tmp_path / "s.csv"
    file.write_text("1,2\n" * 20_000 + f'"{"a" * length}",x\n' + "3,4\n" * 20_000)
    found = plain_form(file, CsvSpec(header=False, columns=["a", "b"]), ",", 2)
    assert (found is not None and found.rows == 40_001) is is_plain


@pytest.mark.parametrize("text", ['"b",\r', "1,2"])
def test_a_line_end_that_no_line_has_is_not_guessed(tmp_path, text):
    file = tmp_path / "s.csv"
    file.write_text(text, newline="")
    assert plain_form(file, CsvSpec(header=False, columns=["a", "b"]), ",", 2) is None


def test_a_letter_of_another_encoding_is_not_plain(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes("a,b\n1,é\n".encode("latin-1"))
    assert plain_form(path, CsvSpec(encoding="latin-1"), ",", 2) is None
    assert loaded(path, CsvSpec(encoding="latin-1")) == [("1", "é")]
    assert "not CSV in UTF-8" in loaded(path, CsvSpec())


def test_what_the_engine_reads_otherwise_is_read_row_by_row(tmp_path, monkeypatch):
    path = tmp_path / "s.csv"
    path.write_text('a,b\n"1",2\n3,4\n')
    real = csv_files.plain_form

    def another(*given):
        return csv_form.PlainForm(**{**vars(real(*given)), "rows": 1})

    monkeypatch.setattr(csv_files, "plain_form", another)
    assert loaded(path, CsvSpec()) == [("1", "2"), ("3", "4")]


def test_an_empty_field_may_be_a_word_of_a_boolean(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text('a,b\nX,1\n"",2\n,3\n')
    spec, columns = CsvSpec(true=["X"], false=[""]), (("a", "boolean"),)
    found = [("true", "1"), ("false", "2"), ("false", "3")]
    assert loaded(path, spec, columns) == found == row_by_row(path, spec, columns)


@pytest.mark.parametrize("text", [b"a,b\n1,x\n2,\xff\n", b'a,b\n1,"x"\n2,"\xed\xa0\x80"\n'])
def test_a_column_that_nobody_reads_is_text_too(tmp_path, text):
    path = tmp_path / "s.csv"
    path.write_bytes(text)
    assert plain_form(path, CsvSpec(), ",", 2) is None
    assert "not CSV in UTF-8" in loaded(path, CsvSpec())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_plain_form_is_kept_by_nobody_and_numbered_where_rows_are_drawn(tmp_path, end):
    path = tmp_path / "s.csv"
    path.write_bytes(end.join(["a,b", '1,"x"', "2,y", ""]).encode())
    with closing(duckdb.connect()) as connection:
        csv_files.load(connection, path, Source("s.csv", None))
        tables = "SELECT table_name FROM duckdb_tables()"
        assert connection.execute(tables).fetchall() == []
        for _ in range(2):
            csv_files.numbered(connection, "s.csv")
            assert connection.execute(tables).fetchall() == [("s.csv",)]
            found = connection.execute('SELECT rowid, * FROM temp.main."s.csv"').fetchall()
            assert found == [(0, "1", "x"), (1, "2", "y")]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("count", [1, 2, 3000])
def test_no_row_behind_a_header_is_lost(tmp_path, mark, end, count):
    path = tmp_path / "s.csv"
    rows = [(str(number), "x") for number in range(count)]
    path.write_bytes((mark + end.join(["a,b", *map(",".join, rows), ""])).encode())
    assert loaded(path, CsvSpec()) == rows
