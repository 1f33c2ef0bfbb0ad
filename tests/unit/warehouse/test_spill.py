"""What is spilled is private, and gone: at once, or when the next release starts."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from policy_engine.errors import WarehouseError
from policy_engine.warehouse import settings
from policy_engine.warehouse.settings import PREFIX, Spill

KILLED = """\
import os
from policy_engine.warehouse.settings import Spill
folder = Spill()
(folder.path / "raw").write_text("34,12345")
print(folder.path, flush=True)
input()
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def left(temporary: Path) -> list[Path]:
    return sorted(temporary.iterdir())


def test_a_folder_is_for_its_owner_alone_and_goes(temporary):
    folder = Spill()
    assert left(temporary) == [folder.path]
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    (folder.path / "raw").write_text("34,12345")
    folder.remove()
    folder.remove()
    assert left(temporary) == []


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(temporary):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    running = Path(process.stdout.readline().strip())
    ours = Spill()
    assert left(temporary) == sorted([running, ours.path])
    process.communicate("go\n")
    assert process.returncode == -9
    assert (running / "raw").read_text() == "34,12345"
    another = Spill()
    assert left(temporary) == sorted([ours.path, another.path])
    ours.remove()
    another.remove()


def test_leftovers_stay_where_nobody_clears_them(temporary, monkeypatch):
    (temporary / f"{PREFIX}abcdefgh").mkdir(mode=0o700)
    monkeypatch.setattr(settings, "_remove_leftovers", lambda _: None)
    Spill().remove()
    assert [path.name for path in left(temporary)] == [f"{PREFIX}abcdefgh"]
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    Spill().remove()
    assert left(temporary) == []


def test_what_is_not_ours_to_remove_stays(temporary, monkeypatch):
    (temporary / f"{PREFIX}aaaafile").write_text("a file")
    (temporary / "kept").mkdir(mode=0o700)
    (temporary / f"{PREFIX}aaaalink").symlink_to(temporary / "kept")
    for name in ("by-hand", "aaaaopen", "aaathese"):
        (temporary / f"{PREFIX}{name}").mkdir(mode=0o755 if name == "aaaaopen" else 0o700)
    before = left(temporary)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    Spill().remove()
    assert left(temporary) == before
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    Spill().remove()
    assert left(temporary) == [path for path in before if path.name != f"{PREFIX}aaathese"]


def test_a_folder_that_is_taken_before_it_is_locked_is_made_anew(temporary, monkeypatch):
    real, taken = os.open, []

    def opened(path, *words, **named):
        if Path(path).name.startswith(PREFIX) and len(taken) < 3:
            taken.append(path)
            Path(path).rmdir()
        return real(path, *words, **named)

    monkeypatch.setattr(os, "open", opened)
    folder = Spill()
    assert len(taken) == 3
    assert left(temporary) == [folder.path]
    folder.remove()


def test_where_no_folder_can_be_made_the_error_says_what_to_do(temporary, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(WarehouseError) as caught:
        Spill()
    assert str(caught.value) == (
        "a folder for temporary files cannot be made: No space left on device; free some space,"
        " or name another place in TMPDIR"
    )
