"""Wherever the disk is full: a clear error, nothing half written, and nothing that is not paid."""

import os
import subprocess
import sys

import pytest

SIZES = (0, 300, 900, 3000, 9000, 33000, 50000, 60000, 80000, 800000)
LEFT = (0, 4096, 8192, 16384, 32768, 65536, 98304, 131072, 800000)
CLEAR = ("cannot be made: ", "cannot write the key", "cannot write the keyring",
         "could not read or write", "the disk is full", "no file may be so large")  # fmt: skip


def check(found, *, last):
    assert [each["faults"] for each in found] == [[]] * len(found)
    told = [each["told"] for each in found]
    assert told[-1] == last
    assert "FileError" in told[0] or "WarehouseError" in told[0] or "LedgerError" in told[0]
    for text in told:
        assert text == "released" or any(clear in text for clear in CLEAR), text


@pytest.mark.evidence
@pytest.mark.parametrize("case", ["file", "table-replace"])
def test_files_that_end_at_a_limit(experiment, case):
    check(experiment("limit", case, *SIZES), last="released")


@pytest.mark.evidence
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk")
@pytest.mark.parametrize("case", ["file", "table-replace"])
def test_a_disk_that_is_full(experiment, case, tmp_path):
    tried = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    subprocess.run(["umount", "-l", tmp_path], check=True)
    check(experiment("disk", case, *LEFT), last="released")
