"""Files are put in place whole, or not at all."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine import publish
from policy_engine.errors import FileError
from policy_engine.publish import (
    certificate_for,
    certificate_path,
    check_target,
    publish_file,
)

ROWS = pa.table({"a": ["x", None], "n": [3, 2]})
FACTS = {"policy_engine.certificate": '{"k": 2}'}


def put(path: Path, *, replace: bool = False) -> str:
    return publish_file(ROWS, path, FACTS, lambda digest: f"certified {digest}", replace=replace)


def test_a_release_has_its_rows_its_facts_and_its_certificate(tmp_path):
    digest = put(tmp_path / "r.parquet")
    found = pq.read_table(tmp_path / "r.parquet")
    assert found.to_pylist() == ROWS.to_pylist()
    assert found.schema.metadata[b"policy_engine.certificate"] == b'{"k": 2}'
    assert (tmp_path / "r.certificate.json").read_text() == f"certified {digest}"
    assert digest == publish.file_digest(tmp_path / "r.parquet")


def batches(rows: pa.Table, size: int) -> pa.Table:
    return pa.concat_tables(rows.slice(at, size) for at in range(0, rows.num_rows, size))


@pytest.fixture(scope="module")
def many() -> pa.Table:
    """More texts than a dictionary page holds: from then on a page ends where a batch does."""
    numbers = range(140_000)
    return pa.table({"a": [f"{n // 2:04}-{'z' * (n % 97)}" for n in numbers], "n": [*numbers]})


# What DuckDB 2.0 hands over with several threads, with one, and by vectors.
SIZES = [122_880, 131_072, 2048]


@pytest.mark.parametrize("size", SIZES)
def test_the_batches_of_the_engine_change_no_byte(tmp_path, many, size):
    whole = publish_file(many, tmp_path / "one.parquet", FACTS, str, replace=False)
    cut = publish_file(batches(many, size), tmp_path / "two.parquet", FACTS, str, replace=False)
    assert whole == cut
    assert pq.read_table(tmp_path / "two.parquet").num_rows == many.num_rows


@pytest.mark.parametrize("size", SIZES)
def test_batches_that_are_written_as_they_come_show(tmp_path, monkeypatch, many, size):
    monkeypatch.setattr(publish, "_in_pieces", lambda rows: rows)
    whole = publish_file(many, tmp_path / "one.parquet", FACTS, str, replace=False)
    cut = publish_file(batches(many, size), tmp_path / "two.parquet", FACTS, str, replace=False)
    assert whole != cut


def test_no_rows_are_a_release_too(tmp_path):
    publish_file(ROWS.slice(0, 0), tmp_path / "r.parquet", FACTS, str, replace=False)
    assert pq.read_table(tmp_path / "r.parquet").to_pydict() == {"a": [], "n": []}


def test_files_have_the_time_of_their_certificate(tmp_path):
    facts = {publish.METADATA_KEY: '{"time": "2026-11-21T12:34:56Z"}'}
    publish_file(ROWS, tmp_path / "r.parquet", facts, str, replace=False)
    wanted = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC).timestamp()
    for path in (tmp_path / "r.parquet", tmp_path / "r.certificate.json"):
        assert path.stat().st_mtime == wanted


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EROFS, "the file system is read-only"),
        (errno.EACCES, "permission is denied"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("replace", [False, True])
def test_a_failure_is_told_and_leaves_what_was_there(tmp_path, monkeypatch, code, reason, replace):
    path = tmp_path / "r.parquet"
    if replace:
        put(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def link(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(FileError, match=f"could not be written: {reason}; nothing was published"):
        put(path, replace=replace)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_the_release_is_never_there_without_its_certificate(tmp_path, monkeypatch):
    path, seen = tmp_path / "r.parquet", []
    put(path)
    for name in ("link", "replace", "rename", "unlink"):
        real = getattr(os, name)

        def watching(*arguments, real=real, **options):
            done = real(*arguments, **options)
            seen.append((path.exists(), certificate_path(path).exists()))
            return done

        monkeypatch.setattr(os, name, watching)
    put(path, replace=True)
    assert (True, False) not in seen
    assert (False, True) in seen


def test_a_certificate_is_taken_back_when_its_release_fails(tmp_path):
    path = tmp_path / "people.certificate.json"
    for before in (None, "old"):
        if before:
            path.write_text(before)
        with pytest.raises(KeyboardInterrupt), certificate_for(path) as put_certificate:
            put_certificate("new")
            assert path.read_text() == "new"
            raise KeyboardInterrupt
        assert [file.read_text() for file in tmp_path.iterdir()] == ([before] if before else [])
    with certificate_for(path) as put_certificate:
        put_certificate("new")
    assert path.read_text() == "new"


def test_a_target_is_checked_without_leaving_a_trace(tmp_path):
    check_target(tmp_path / "deep" / "er" / "r.parquet", replace=False)
    assert [*tmp_path.iterdir()] == []
    put(tmp_path / "r.parquet")
    check_target(tmp_path / "r.parquet", replace=True)
    with pytest.raises(FileError, match="use --replace"):
        check_target(tmp_path / "r.parquet", replace=False)
    (tmp_path / "r.parquet").unlink()
    with pytest.raises(FileError, match=r"r.certificate.json exists; use --replace"):
        check_target(tmp_path / "r.parquet", replace=False)
