"""Files are put in place whole, or not at all."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.attest import parquet_file
from policy_engine.attest.parquet_file import record_text, write_parquet
from policy_engine.attest.validity import moment
from policy_engine.errors import FileError
from policy_engine.releasing import publish
from policy_engine.releasing.publish import (
    aside_text,
    certificate_of_table,
    certificate_path,
    check_target,
    publish_file,
    record_in,
    recover,
    recover_table,
    write_certificate,
)

ROWS = pa.table({"a": ["x", None], "n": [3, 2]})
FACTS = {"policy_engine.certificate": '{"k": 2}'}


def published(
    rows: pa.Table,
    path: Path,
    facts: dict[str, str],
    certified: Callable[[str], str],
    *,
    replace: bool,
    mark: str = "0",
) -> str:
    """Publish a copy of these rows; the digest."""
    copy = Path(tempfile.mkdtemp()) / "copy"
    write_parquet(rows, copy, facts)
    digest = publish.file_digest(copy)
    at = moment(json.loads(facts[parquet_file.METADATA_KEY]).get("time"))
    publish_file(copy, path, certified(digest), at=at, replace=replace, mark=mark)
    return digest


def put(path: Path, *, replace: bool = False) -> str:
    return published(ROWS, path, FACTS, lambda digest: f"certified {digest}", replace=replace)


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
    whole = published(many, tmp_path / "one.parquet", FACTS, str, replace=False)
    cut = published(batches(many, size), tmp_path / "two.parquet", FACTS, str, replace=False)
    assert whole == cut
    assert pq.read_table(tmp_path / "two.parquet").num_rows == many.num_rows


@pytest.mark.parametrize("size", SIZES)
def test_batches_that_are_written_as_they_come_show(tmp_path, many, size):
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    for rows, path in ((many, one), (batches(many, size), two)):
        pq.write_table(rows, path, row_group_size=parquet_file._ROW_GROUP)
    assert one.read_bytes() != two.read_bytes()


def test_no_rows_are_a_release_too(tmp_path):
    published(ROWS.slice(0, 0), tmp_path / "r.parquet", FACTS, str, replace=False)
    assert pq.read_table(tmp_path / "r.parquet").to_pydict() == {"a": [], "n": []}


def test_files_have_the_time_of_their_certificate(tmp_path):
    facts = {parquet_file.METADATA_KEY: '{"time": "2026-11-21T12:34:56Z"}'}
    published(ROWS, tmp_path / "r.parquet", facts, str, replace=False)
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
        (errno.ENOENT, "No such file or directory"),
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


@pytest.mark.parametrize("replace", [False, True])
def test_what_a_run_beside_this_one_takes_away_is_written_again(tmp_path, monkeypatch, replace):
    path, real, taken = tmp_path / "r.parquet", publish._put_in_place, []
    if replace:
        put(path)

    def overtaken(moves, **options):
        if not taken:
            taken.append(recover(path, options["mark"]))
        real(moves, **options)

    monkeypatch.setattr(publish, "_put_in_place", overtaken)
    put(path, replace=replace)
    assert taken
    assert {file.name for file in tmp_path.iterdir()} == {"r.parquet", "r.certificate.json"}


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


def test_a_certificate_is_taken_back_when_its_table_fails(tmp_path):
    path = tmp_path / "people.certificate.json"
    for before in (None, "old"):
        if before:
            path.write_text(before)
        with pytest.raises(KeyboardInterrupt), certificate_of_table(path, "m") as put_certificate:
            put_certificate("new")
            assert path.read_text() == (before or "new")
            raise KeyboardInterrupt
        assert [file.read_text() for file in tmp_path.iterdir()] == ([before] if before else [])


@pytest.mark.parametrize("before", [None, "old"])
def test_a_certificate_takes_its_place_when_its_table_stands(tmp_path, before):
    path = tmp_path / "people.certificate.json"
    if before:
        path.write_text(before)
    with certificate_of_table(path, "m") as put_certificate:
        put_certificate("new")
        assert path.read_text() == (before or "new")  # no table stands without one
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {path.name: "new"}


def test_a_table_whose_certificate_cannot_take_its_place_stands_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "people.certificate.json"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with pytest.raises(FileError) as caught, certificate_of_table(path, "m") as put_certificate:
        put_certificate("new")
        monkeypatch.setattr(os, "replace", fail)
    assert str(caught.value) == (
        f"{path} could not be written: Read-only file system; the table stands all the same: mend "
        "that, and run 'policy-engine ledger reconcile', which puts its certificate there"
    )
    monkeypatch.undo()
    assert path.read_text() == "old"
    recover_table(path, "m", stands=True)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {path.name: "new"}


def test_a_certificate_that_cannot_be_written_lets_no_table_stand(tmp_path):
    path = tmp_path / "none" / "people.certificate.json"
    with (
        pytest.raises(FileError, match="could not be written: No such file or directory; nothing"),
        certificate_of_table(path, "m") as put_certificate,
    ):
        put_certificate("new")


def test_a_certificate_is_written_by_itself(tmp_path):
    path = tmp_path / "c.json"
    write_certificate("one", path, replace=False)
    with pytest.raises(FileError, match="it has come to be meanwhile; see whose it is"):
        write_certificate("two", path, replace=False)
    write_certificate("two", path, replace=True)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"c.json": "two"}


# What a run that is no more has left.


class Killed(BaseException):
    """The process is no more: from here on it changes nothing."""


class Dying:
    """The file system of a process that is killed before its nth change of a name in it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        self.left = after
        for name in ("link", "rename", "replace", "unlink"):
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, real):
        def change(*arguments, **options):
            if not self.left:
                raise Killed
            self.left -= 1
            return real(*arguments, **options)

        return change


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def put_marked(path: Path, *, replace: bool) -> None:
    published(ROWS, path, FACTS, lambda _: "new", replace=replace, mark="m")


# Without what was there: two links, two unlinks of what is aside; else two renames before and two
# unlinks after. The release stands once it is linked.
@pytest.mark.parametrize(
    ("replace", "step", "stands"),
    [(False, step, step >= 2) for step in range(4)]
    + [(True, step, step >= 4) for step in range(8)],
)
def test_whenever_a_run_is_killed_the_new_pair_is_recovered_or_the_old_one(
    tmp_path, monkeypatch, replace, step, stands
):
    path, other = tmp_path / "r.parquet", tmp_path / "other" / "r.parquet"
    if replace:
        published(ROWS.slice(1), path, FACTS, lambda _: "old", replace=False)
    before = files(tmp_path)
    put_marked(other, replace=False)
    new = files(other.parent)
    with monkeypatch.context() as patched:
        Dying(patched, step)
        with pytest.raises(Killed):
            put_marked(path, replace=replace)
    assert certificate_path(path).exists() or not path.exists()
    assert len([*tmp_path.glob(".*.m.*")]) == (1 if step == (7 if replace else 3) else 2)
    for file in other.parent.iterdir():
        file.unlink()
    other.parent.rmdir()
    for _ in range(2):
        recover(path, "m")
        assert files(tmp_path) == (new if stands else before)


@pytest.mark.parametrize("replace", [False, True])
def test_a_run_that_was_not_killed_leaves_nothing_to_recover(tmp_path, replace):
    path = tmp_path / "r.parquet"
    if replace:
        put(path)
    put_marked(path, replace=replace)
    before = files(tmp_path)
    assert len(before) == 2
    recover(path, "m")
    assert files(tmp_path) == before


@pytest.mark.parametrize("replace", [False, True])
def test_a_run_that_was_killed_while_it_wrote_aside_is_undone(tmp_path, monkeypatch, replace):
    path = tmp_path / "r.parquet"
    if replace:
        put(path)
    before = files(tmp_path)

    def die(*_: Path) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(publish, "_sync", die)
        Dying(patched, 0)
        with pytest.raises(Killed):
            put_marked(path, replace=replace)
    assert len(files(tmp_path)) == len(before) + 2
    recover(path, "m")
    assert files(tmp_path) == before


def test_what_others_wrote_aside_is_left_to_them(tmp_path, monkeypatch):
    path = tmp_path / "r.parquet"
    with monkeypatch.context() as patched:
        Dying(patched, 1)
        with pytest.raises(Killed):
            put_marked(path, replace=False)
    before = files(tmp_path)
    recover(path, "another")
    assert files(tmp_path) == before


def test_where_no_folder_is_there_is_nothing_to_recover(tmp_path):
    recover(tmp_path / "none" / "r.parquet", "m")
    recover_table(tmp_path / "none" / "c.json", "m", stands=True)
    assert [*tmp_path.iterdir()] == []


def test_what_cannot_be_recovered_is_told(tmp_path):
    path = tmp_path / "r.parquet"
    (tmp_path / ".r.parquet.m").mkdir()
    with pytest.raises(FileError, match=r"r\.parquet could not be written: .*; nothing was publ"):
        recover(path, "m")


# A first certificate: a link, a rename onto itself, an unlink; another one: a rename, an unlink.
TABLE_STEPS = {
    None: [(0, False), (1, False), (1, True), (2, True)],
    "old": [(0, False), (0, True), (1, True)],
}


@pytest.mark.parametrize(
    ("before", "step", "stood"),
    [(before, *step) for before, steps in TABLE_STEPS.items() for step in steps],
)
def test_whenever_a_run_into_a_table_is_killed_its_certificate_is_as_the_table(
    tmp_path, monkeypatch, before, step, stood
):
    path = tmp_path / "c.json"
    if before:
        path.write_text(before)
    with monkeypatch.context() as patched:
        dying = Dying(patched, step)
        with pytest.raises(Killed), certificate_of_table(path, "m") as put_certificate:
            put_certificate("new")
            if not stood:
                dying.left = 0
                raise Killed
    for _ in range(2):
        recover_table(path, "m", stands=stood)
        wanted = "new" if stood else before
        assert files(tmp_path) == ({"c.json": wanted.encode()} if wanted else {})


def test_a_certificate_is_found_aside_or_in_its_place(tmp_path):
    path, aside = tmp_path / "c.json", tmp_path / ".c.json.m"
    assert aside_text(path, "m") == ""
    path.write_text("there")
    assert aside_text(path, "m") == "there"
    aside.write_text("aside")
    assert aside_text(path, "m") == "aside"
    aside.write_bytes(b"\xff")
    assert aside_text(path, "m") == "there"
    path.write_bytes(b"\xff")
    assert aside_text(path, "m") == ""


@pytest.mark.parametrize(
    ("comment", "good"),
    [
        ('{"mechanism": "noisy-counts"}', False),
        ("", False),
        ("[]", False),
        (record_text({"mechanism": "any", "policy": {"name": "a"}}, "a.certificate.json"), True),
    ],
)
def test_a_release_is_known_by_its_comment(comment, good):
    assert bool(record_in(comment)) is good


@pytest.mark.parametrize("replace", [False, True])
def test_what_is_no_release_is_in_the_way_before_anything_is_charged(tmp_path, replace):
    """--replace is no remedy there, and is not named as one."""
    (tmp_path / "r.parquet").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match="is no release, and only a release is replaced; move it"):
        check_target(tmp_path / "r.parquet", replace=replace)


def test_a_certificate_that_is_a_link_to_nowhere_is_in_the_way(tmp_path):
    (tmp_path / "r.certificate.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match="exists; use --replace"):
        check_target(tmp_path / "r.parquet", replace=False)


def test_a_pipe_in_the_way_is_no_release_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "r.parquet")
    with pytest.raises(FileError, match="is no release, and only a release is replaced"):
        check_target(tmp_path / "r.parquet", replace=True)


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
