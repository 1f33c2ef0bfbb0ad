"""A release that fails tells that it failed, and nothing of the row that it failed on."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from side_channels import MARK, TARGETS, Lab, Observed, Processes, World, differing

ROWS = [1, 2, 40, 3500]
FAILED = 3
WORLDS = [World(), World(rare=3000, secret=b"another secret!!", threads=2)]


@pytest.fixture(scope="module")
def processes():
    running = Processes()
    yield running
    running.close()


@pytest.fixture
def lab(tmp_path: Path, processes: Processes) -> Lab:
    return Lab(tmp_path, processes)


def line(kind: bytes, row: int) -> Callable[[Path], None]:
    """Replace one line of the CSV source."""

    def spoil(project: Path) -> None:
        path = project / "source.csv"
        lines = path.read_bytes().splitlines(keepends=True)
        lines[row] = kind.replace(b"ROW", b"%d" % row) + b"\n"
        path.write_bytes(b"".join(lines))

    return spoil


def text(kind: bytes, row: int) -> Callable[[Path], None]:
    """Replace one text of the Parquet source by bytes that are no UTF-8."""

    def spoil(project: Path) -> None:
        table = pq.read_table(project / "source.parquet")
        texts = [None if t is None else t.encode() for t in table.column("city").to_pylist()]
        texts[row] = kind.replace(b"ROW", b"%d" % row)
        buffers = pa.array(texts, pa.binary()).buffers()
        column = pa.Array.from_buffers(pa.string(), len(texts), buffers)
        pq.write_table(table.set_column(1, "city", column), project / "source.parquet")

    return spoil


KINDS = {
    "a field too many": ("csv", line, b"7,SUPPRESSED ROW,7,7,7"),
    "a field too few": ("csv", line, b"7,SUPPRESSED ROW"),
    "an open quote": ("csv", line, b'7,"SUPPRESSED ROW,7,7'),
    "no UTF-8 in CSV": ("csv", line, b"7,SUPPRESSED ROW\xff,7,7"),
    "no UTF-8 in Parquet": ("parquet", text, b"SUPPRESSED ROW\xff"),
}


def check_alike(seen: list[Observed], code: int = FAILED) -> None:
    """They ended with ``code``, told the same, quoted nothing and left no release."""
    for found in seen:
        assert found["code"] == code
        assert differing(seen[0], found) == []
        assert MARK not in found["stderr"] + found["stdout"]
        assert not any(name.startswith(("people.", ".people", "tmp/")) for name in found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_fails_is_not_told(lab, kind):
    source, spoil, content = KINDS[kind]
    check_alike([lab.observe(World(), source, spoil=spoil(content, row)) for row in ROWS])


@pytest.mark.parametrize(
    ("leak", "kind"),
    [
        ("early_decoding", "no UTF-8 in CSV"),
        ("messages_of_the_engine", "no UTF-8 in CSV"),
        ("messages_of_the_engine", "no UTF-8 in Parquet"),
        ("errors_of_the_engine", "no UTF-8 in Parquet"),
    ],
)
def test_an_error_that_tells_of_its_row_is_noticed(lab, leak, kind):
    source, spoil, content = KINDS[kind]
    seen = [
        lab.observe(World(), source, spoil=spoil(content, row), leaks=[leak]) for row in ROWS[::3]
    ]
    with pytest.raises(AssertionError):
        check_alike(seen)


@pytest.mark.parametrize("at", [0.2, 0.4, 0.6, 0.8])
def test_a_page_that_is_damaged_is_not_told(lab, at):
    def damage(project: Path) -> None:
        path = project / "source.parquet"
        content = bytearray(path.read_bytes())
        start = int(len(content) * at)
        content[start : start + 64] = bytes(byte ^ 0xFF for byte in content[start : start + 64])
        path.write_bytes(content)

    found = lab.observe(World(rare=300, layout={"use_dictionary": False}), spoil=damage)
    assert b"withheld because it may quote data" in found["stderr"]
    check_alike([found])


@pytest.mark.parametrize(
    ("target", "size", "told"),
    [
        ("file", 2048, b"could not be written"),
        ("table", 100_000, b"could not read or write a file"),
    ],
)
def test_a_disk_that_is_full_is_told_and_no_more(tmp_path, processes, target, size, told):
    lab = Lab(tmp_path, processes, sampled=20_000)
    seen = [lab.observe(world, "parquet", target, "rows", file_limit=size) for world in WORLDS]
    assert told in seen[0]["stderr"]
    check_alike(seen)
    found = lab.folder / "lab/project/db.duckdb"
    with duckdb.connect(str(found), read_only=True) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == []


def test_a_memory_that_is_full_is_told_and_no_more(lab):
    settings = {"memory_limit": "4MB", "max_temp_directory_size": "0B"}
    worlds = [World(rare=rare) for rare in (30_000, 40_000)]
    seen = [lab.observe(world, settings=settings) for world in worlds]
    assert b"ran out of memory" in seen[0]["stderr"]
    check_alike(seen)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_and_tells_nothing(lab, target, number):
    seen = [lab.observe(world, target=target, signal=number) for world in WORLDS]
    assert seen[0]["stderr"].startswith(b"error: interrupted;")
    check_alike(seen, 130)


def test_what_a_killed_release_leaves_is_private_and_goes_with_the_next(lab, processes):
    found = lab.observe(WORLDS[1], signal=signal.SIGKILL)
    assert found["code"] == -signal.SIGKILL
    [spill] = [name for name in found if "tmp/policy-engine-spill-" in name]
    assert found[spill] == 0o700
    root, fixed = lab.folder / "lab", {"secret": WORLDS[1].secret.hex(), "threads": 1}
    after = processes.watch(root, fixed)
    assert after["code"] == 0
    assert not any(name.startswith(("tmp/", "mode of tmp/")) for name in after)


@pytest.mark.evidence
def test_a_spill_folder_that_others_may_read_is_noticed(lab):
    killed = {"signal": signal.SIGKILL, "leaks": ["spill_for_all_to_read"]}
    found = lab.observe(WORLDS[1], **killed)
    [spill] = [name for name in found if "tmp/policy-engine-spill-" in name]
    assert found[spill] != 0o700
