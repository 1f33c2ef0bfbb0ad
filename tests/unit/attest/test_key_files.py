"""Key files: whole and new, or not there; private ones for their owner alone."""

import os
import stat
import threading

import pytest

from policy_engine.attest.keys import (
    EVERYONE_READS,
    GROUP_AND_OTHERS,
    OWNER_ONLY,
    complete_key_pair,
    create_key_file,
    create_key_pair,
    read_key_file,
)
from policy_engine.errors import FileError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "signing.pem"


def refusal(act, *arguments):
    with pytest.raises(FileError) as caught:
        act(*arguments)
    return str(caught.value)


def names(path):
    return sorted(file.name for file in path.parent.iterdir())


@pytest.mark.parametrize("mode", [OWNER_ONLY, EVERYONE_READS])
def test_a_key_file_has_its_bytes_and_its_mode_and_nothing_is_beside_it(path, mode):
    before = os.umask(0)
    try:
        create_key_file(path, b"key", mode)
    finally:
        os.umask(before)
    assert read_key_file(path) == b"key"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert names(path) == ["signing.pem"]


def test_a_key_is_never_overwritten(path):
    create_key_file(path, b"first", OWNER_ONLY)
    assert refusal(create_key_file, path, b"second", OWNER_ONLY) == (
        f"{path}: exists, and a key is never overwritten; choose another name"
    )
    assert path.read_bytes() == b"first"
    assert names(path) == ["signing.pem"]


def test_no_link_that_somebody_left_is_followed(path):
    path.symlink_to(path.with_name("elsewhere"))
    assert "exists, and a key is never overwritten" in refusal(
        create_key_file, path, b"key", OWNER_ONLY
    )
    assert names(path) == ["signing.pem"]


def test_a_folder_that_is_not_there_is_told(path):
    path = path.parent / "none" / "signing.pem"
    assert refusal(create_key_file, path, b"key", OWNER_ONLY) == (
        f"{path}: cannot write the key: No such file or directory"
    )


def test_a_disk_that_is_full_leaves_nothing(path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert refusal(create_key_file, path, b"key", OWNER_ONLY) == (
        f"{path}: cannot write the key: No space left on device"
    )
    assert names(path) == []


def test_an_interrupt_leaves_nothing(path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupt)
    with pytest.raises(KeyboardInterrupt):
        create_key_file(path, b"key", OWNER_ONLY)
    assert names(path) == []


def test_of_many_who_write_one_wins(path):
    won = []

    def write(content):
        try:
            create_key_file(path, content, OWNER_ONLY)
            won.append(content)
        except FileError:
            pass

    threads = [threading.Thread(target=write, args=(bytes([n]) * 32,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes()] == won
    assert names(path) == ["signing.pem"]


def test_a_pair_is_its_owners_half_and_everyones(path):
    create_key_pair(path, b"private", b"public")
    assert names(path) == ["signing.pem", "signing.pub"]
    assert read_key_file(path, GROUP_AND_OTHERS) == b"private"
    assert read_key_file(path.with_suffix(".pub")) == b"public"


@pytest.mark.parametrize("taken", ["signing.pem", "signing.pub"])
def test_a_pair_is_new_or_not_written(path, taken):
    path.with_name(taken).write_bytes(b"mine")
    assert refusal(create_key_pair, path, b"private", b"public") == (
        f"{path.with_name(taken)}: exists, and a key is never overwritten; choose another name"
    )
    assert names(path) == [taken]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_pair_is_whole_or_not_written(path, monkeypatch, error):
    link, linked = os.link, []

    def second(source, target):
        if linked:
            raise error
        linked.append(target)
        link(source, target)

    monkeypatch.setattr(os, "link", second)
    with pytest.raises((KeyboardInterrupt, FileError)):
        create_key_pair(path, b"private", b"public")
    assert names(path) == []


def test_a_half_that_is_missing_is_completed(path):
    public = path.with_suffix(".pub")
    for _ in range(2):  # another process may just have done so
        complete_key_pair(path, b"public")
        assert public.read_bytes() == b"public"
    assert "signing.pub: exists, and a key is never overwritten" in refusal(
        complete_key_pair, path, b"other"
    )
    public.unlink()
    public.mkdir()
    assert "signing.pub: exists" in refusal(complete_key_pair, path, b"public")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o777])
def test_a_private_key_that_others_reach_is_refused(path, mode):
    path.write_bytes(b"key")
    path.chmod(mode)
    assert refusal(read_key_file, path, GROUP_AND_OTHERS) == (
        f"{path}: a private key must be closed to group and others, found mode {mode:04o}; run "
        f"'chmod 600 {path}', and make a new key if others had access"
    )
    assert read_key_file(path) == b"key"


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_private_key_of_its_owner_is_read(path, mode):
    path.write_bytes(b"key")
    path.chmod(mode)
    assert read_key_file(path, GROUP_AND_OTHERS) == b"key"


def test_a_file_that_cannot_be_read_is_told(path):
    assert refusal(read_key_file, path) == (
        f"{path}: cannot read the key: No such file or directory"
    )
    assert refusal(read_key_file, path.parent) == (
        f"{path.parent}: cannot read the key: Is a directory"
    )


def test_of_a_file_that_is_no_key_not_everything_is_read(path):
    path.write_bytes(bytes(100_000))
    assert len(read_key_file(path)) == 65_536
