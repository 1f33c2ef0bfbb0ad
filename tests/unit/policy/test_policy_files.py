"""Files that are missing, in the way, or not text; and hierarchy files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from policy_engine.errors import FileError, PolicyEngineError, PolicyError
from policy_engine.policy.hierarchy import (
    MAX_BYTES,
    CsvError,
    parse_hierarchy,
    read_hierarchy,
)
from policy_engine.policy.loading import load_policy
from policy_engine.policy.recodings import mapped


def refused(path: Path, kind: type[PolicyEngineError] = PolicyError) -> str:
    with pytest.raises(kind) as caught:
        load_policy(path)
    return str(caught.value)


def test_a_missing_file_and_a_directory(tmp_path):
    missing = refused(tmp_path / "no.yaml", FileError)
    assert missing == f"{tmp_path}/no.yaml: the policy file does not exist"
    folder = refused(tmp_path, FileError)
    assert folder == f"{tmp_path}: the policy file is a directory; name a file in it"


def test_a_missing_file_with_a_similar_one_beside_it(tmp_path):
    for name in ("policy.yaml", "policy-engine.yaml", "b.yaml", "polcy.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "polcy.d.yaml").mkdir()
    for name in ("polcy.yaml", "policy.yml"):
        text = f"{tmp_path}/{name}: the policy file does not exist; did you mean 'policy.yaml'?"
        assert refused(tmp_path / name, FileError) == text
    assert "policy-engine.yaml" not in refused(tmp_path / "policy-engin.yaml", FileError)
    for name in ("a.yaml", "policy.csv", "nowhere/policy.yaml"):
        assert "did you mean" not in refused(tmp_path / name, FileError)


def test_a_name_that_no_file_can_have():
    told = "a\0b: the policy file cannot be read: not a file name"
    assert refused(Path("a\0b"), FileError) == told


@pytest.fixture
def not_root():
    """Root may read every file: until the test is over, be somebody else."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


def test_a_file_that_may_not_be_read(tmp_path, request):
    file = tmp_path / "p.yaml"
    file.touch(mode=0)
    request.getfixturevalue("not_root")
    assert refused(file, FileError) == f"{file}: the policy file cannot be read: Permission denied"


def test_a_name_that_is_too_long(tmp_path):
    file = tmp_path / ("x" * 300)
    assert refused(file, FileError) == f"{file}: the policy file cannot be read: File name too long"


def test_bytes_that_are_no_text(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_bytes("k: 1\né: ".encode() + b"\xff\x00")
    assert refused(file) == f"{file}:2:4: the policy file is not UTF-8 text"


def test_a_file_that_is_too_large(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_bytes(b"#" * 1_000_001)
    assert refused(file) == f"{file}: the policy file must be at most 1000000 bytes"


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        (b"", [(0, "holds no rows")]),
        (b"\n\r\n", [(0, "holds no rows")]),
        (b"a,b\n", [(1, "has one column: a row is value;level 1;…, separated by ;")]),
        (
            b"a;b;c\nd;e\nf;g;h;i\n",
            [(2, "has 2 columns here but 3 in line 1"), (3, "has 4 columns here but 3 in line 1")],
        ),
        (b"a;b\nc;\n", [(2, "has nothing in column 2")]),
        (b"a;b\n;c\n", [(2, "has nothing in column 1")]),
        (b'\na;b\n"x\ny";c\na;d\n', [(5, "has the value of line 2 again")]),
        (b'a;"b\n', [(1, "is not CSV: unexpected end of data")]),
        (b'a;b\nc;"d"e\n', [(2, "is not CSV: ';' expected after '\"'")]),
        (b"a;b\n\xff;c\n", [(2, "is not UTF-8 text")]),
        (b"a;b\n\0;c\n", [(2, "holds the character NUL")]),
        (b"a" * (MAX_BYTES + 1), [(0, "must be at most 16000000 bytes")]),
        (
            b"a;b\n" + b"a;b\n" * 12,
            [(line, "has the value of line 1 again") for line in range(2, 12)]
            + [(0, "has 2 more problems like these")],
        ),
    ],
)
def test_a_broken_hierarchy(content, reasons):
    with pytest.raises(CsvError) as caught:
        parse_hierarchy(content)
    assert list(caught.value.reasons) == reasons


def test_a_good_hierarchy():
    made = parse_hierarchy('\ufeff"a;1";"it\'s ""x""";*\n\nb;y;*'.encode())
    assert made.rows == (("a;1", 'it\'s "x"', "*"), ("b", "y", "*"))
    assert made.height == 2
    assert made.digest == (
        "sha256:" + hashlib.sha256('\ufeff"a;1";"it\'s ""x""";*\n\nb;y;*'.encode()).hexdigest()
    )


def test_a_hierarchy_that_cannot_be_read(tmp_path):
    for path, reason in (
        (tmp_path / "no", "does not exist"),
        (tmp_path, "is a directory"),
        (tmp_path / ("x" * 300), "cannot be read: File name too long"),
        (Path("a\0b"), "cannot be read: not a file name"),
    ):
        with pytest.raises(CsvError) as caught:
            read_hierarchy(path)
        assert caught.value.reasons == ((0, reason),)


def test_a_policy_with_hierarchies(load, tmp_path):
    (tmp_path / "h.csv").write_text("b;x;*\na;y;+\n")
    policy = load(recode="recode: {c: {hierarchy: h.csv, level: 2, other: null}}")
    assert policy.recodings == (("c", mapped((("a", "+"), ("b", "*")), None)),)


def test_a_hierarchy_with_a_similar_name_is_suggested(problems, tmp_path):
    (tmp_path / "education.csv").write_text("b;x\n")
    [problem] = problems(recode="recode: {e: {hierarchy: eduction.csv, level: 1}}")
    assert problem.endswith("eduction.csv, which does not exist; did you mean 'education.csv'?")


def test_the_problems_of_hierarchies_come_with_all_others(problems, tmp_path):
    (tmp_path / "h.csv").write_text("b;x\na;\nb;z\n")
    (tmp_path / "g.csv").write_text("b;x\n")
    recode = (
        "recode:\n  a: {hierarchy: h.csv, level: 1}\n  b: {hierarchy: g.csv, level: 2}\n"
        "  c: {hierarchy: ., level: 1}\n  d: {hierarchy: g.csv, level: 0}\n  e: {hierarchy: 5}"
    )
    assert problems(recode=recode, k="k: 0") == [
        "6:32: recode.b.level must be at most 1, the last level of g.csv, found 2",
        f"7:18: recode.c.hierarchy names {tmp_path}, which is a directory",
        "8:32: recode.d.level must be at least 1, found 0; level 0 is the value itself: use keep",
        "9:3: recode.e.level is missing",
        "9:18: recode.e.hierarchy must be text, found 5; put it in quotes",
        "11:4: k must be at least 2, found 0; write k: auto; noisy_counts needs none",
        "h.csv:2:1: the hierarchy has nothing in column 2",
        "h.csv:3:1: the hierarchy has the value of line 1 again",
    ]
