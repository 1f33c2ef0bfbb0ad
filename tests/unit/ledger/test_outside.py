"""Outside witnesses: what they keep, whom they tell of, and that a stamp is of its head alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import FileError, LedgerBroken, UsageError
from policy_engine.ledger.chain import Draft, Head, Record, extend, head
from policy_engine.ledger.outside import (
    FileWitness,
    GitWitness,
    OutsideWitness,
    Sighting,
    check_sightings,
    outside_witness,
    read_roots,
    stamp_of,
    stamped_at,
)

sys.path.append(str(Path(__file__).parents[1]))

from time_authority import authority_at, make_authority

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
AT = "2026-11-23T10:00:00Z"


def chain(count: int, text: str = "") -> tuple[Record, ...]:
    found: list[Record] = []
    for _ in range(count):
        end = head(found)
        found.append(extend(end, Draft("note", {"text": text}), SIGNER))
    return tuple(found)


def repository(folder: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    return folder


@pytest.fixture(params=["file", "git"])
def witness(request: pytest.FixtureRequest, tmp_path: Path) -> OutsideWitness:
    if request.param == "file":
        return outside_witness(f"file:{tmp_path}/heads")
    return outside_witness(f"git:{repository(tmp_path / 'heads.git')}")


def test_what_was_noted_is_seen_in_the_order_of_the_records(witness: OutsideWitness) -> None:
    assert witness.sightings() == ()
    records = chain(12)
    noted = [Sighting(head(records[:n]), AT, b"\x00stamp") for n in (10, 2, 12)]
    for each in noted:
        witness.note(each)
    assert witness.sightings() == tuple(sorted(noted, key=lambda each: each.head.records))
    check_sightings(witness, witness.sightings(), records, "the ledger")


def test_a_ledger_that_was_cut_or_rewritten_with_its_own_key_is_named(
    witness: OutsideWitness,
) -> None:
    witness.note(Sighting(head(chain(9)), AT))
    for false, what in ((chain(8), "has 8: its tail was cut off"), (chain(20, "x"), "forks")):
        with pytest.raises(LedgerBroken, match=what) as caught:
            check_sightings(witness, witness.sightings(), false, "the ledger")
        assert f"by {witness.where}, which saw it at {AT}" in str(caught.value)


def test_a_thief_who_adds_the_head_of_a_rewritten_ledger_hides_nothing(
    witness: OutsideWitness,
) -> None:
    true, false = chain(9), chain(9, "x")
    witness.note(Sighting(head(true), AT))
    witness.note(Sighting(head(false), AT))
    for records in (true, false):
        with pytest.raises(LedgerBroken, match="record 9 is another one"):
            check_sightings(witness, witness.sightings(), records, "the ledger")


def test_it_learns_a_number_a_hash_and_a_time_and_no_name(tmp_path: Path) -> None:
    place = FileWitness(tmp_path / "heads")
    record = chain(1, "the secret census")[0]
    place.note(Sighting(head((record,)), AT))
    text = place.path.read_text()
    assert text == f'{{"records": 1, "hash": "{record.hash}", "at": "{AT}"}}\n'


def _git(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    own = ("-c", "user.name=x", "-c", "user.email=x@y")
    return subprocess.run(
        ["git", *own, *words], cwd=folder, input=given, capture_output=True, text=True, check=False
    )


def test_a_commit_bears_no_name_of_who_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "ada@census.example")
    where = repository(tmp_path / "r")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    GitWitness(str(where), "own").note(Sighting(head(chain(3)), AT))
    monkeypatch.delenv("GIT_DIR")
    told = _git(where, "log", "--format=%an %ae %cn %ce", "own").stdout
    assert {*told.splitlines()} == {" ".join(["policy-engine ledger@policy-engine.dev"] * 2)}
    assert "Ada" not in _git(where, "log", "-p", "--format=fuller", "own").stdout


def test_a_server_that_lets_a_branch_only_grow_refuses_the_thief(tmp_path: Path) -> None:
    """What docs/howto/ledger.md says to set there is enough."""
    where, thief = repository(tmp_path / "r"), repository(tmp_path / "thief")
    for name in ("denyDeletes", "denyNonFastForwards"):
        _git(where, "config", f"receive.{name}", "true")
    place = GitWitness(str(where), "own")
    true, false = chain(9), chain(9, "x")
    place.note(Sighting(head(true), AT))
    tree = _git(thief, "hash-object", "-t", "tree", "-w", "--stdin").stdout.strip()
    line = Sighting(head(false), AT).line()
    made = _git(thief, "commit-tree", tree, given=line).stdout.strip()
    for refspec in (":refs/heads/own", f"+{made}:refs/heads/own"):
        assert _git(thief, "push", str(where), refspec).returncode != 0
    _git(thief, "fetch", str(where), "own:own")
    grown = _git(thief, "commit-tree", tree, "-p", "own", given=line).stdout.strip()
    assert _git(thief, "push", str(where), f"{grown}:refs/heads/own").returncode == 0
    found = place.sightings()
    assert {each.head for each in found} == {head(true), head(false)}
    with pytest.raises(LedgerBroken, match="record 9 is another one than it was"):
        check_sightings(place, found, false, "the ledger")


def test_two_who_publish_at_once_do_not_lose_a_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = repository(tmp_path / "r")
    place, records = GitWitness(str(where), "own"), chain(3)
    place.note(Sighting(head(records[:1]), AT))
    late = GitWitness(str(where), "own")
    fetched = GitWitness._fetched

    def overtaken(self: GitWitness, folder: str) -> bool:
        found = fetched(self, folder)
        if self is late:
            place.note(Sighting(head(records[:2]), AT))
        return found

    monkeypatch.setattr(GitWitness, "_fetched", overtaken)
    with pytest.raises(FileError, match="git push failed"):
        late.note(Sighting(head(records[:3]), AT))
    assert len(place.sightings()) == 2


def test_another_name_in_the_same_repository_is_another_witness(tmp_path: Path) -> None:
    where = repository(tmp_path / "r")
    outside_witness(f"git:{where}#a").note(Sighting(head(chain(3)), AT))
    assert outside_witness(f"git:{where}#b").sightings() == ()
    assert len(outside_witness(f"git:{where}#a").sightings()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "", "{}", "[]", "7", "null", "\x00", '{"records": 1}', "[" * 100_000,
        *(
            json.dumps({"records": 1, "hash": "a" * 64, "at": AT, **wrong})
            for wrong in ({"records": 0}, {"records": True}, {"records": 2**63}, {"hash": "A" * 64},
                          {"hash": 7}, {"at": "\u202e"}, {"at": None}, {"stamp": "?"}, {"stamp": 7})
        ),
    ],
)  # fmt: skip
def test_what_is_no_head_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    place = FileWitness(tmp_path / "heads")
    place.note(Sighting(head(chain(1)), AT))
    with place.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(FileError, match="line 2 is no head of a ledger"):
        place.sightings()


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    place = FileWitness(tmp_path / "heads")
    place.path.write_bytes(b"\n" * ((1 << 24) + 1))
    with pytest.raises(FileError, match="larger than heads can be"):
        place.sightings()


@pytest.mark.parametrize("text", ["", "x", "two\nlines", "{line}\n{line}", "{line}\n\n{line}"])
def test_a_commit_that_says_something_else_is_refused(tmp_path: Path, text: str) -> None:
    where = repository(tmp_path / "r")
    line = Sighting(head(chain(1)), AT).line()
    tree = _git(where, "hash-object", "-t", "tree", "-w", "--stdin").stdout.strip()
    made = _git(where, "commit-tree", tree, given=text.replace("{line}", line)).stdout.strip()
    _git(where, "update-ref", "refs/heads/policy-engine-ledger", made)
    with pytest.raises(FileError, match="is no head"):
        outside_witness(f"git:{where}").sightings()


def test_a_repository_that_is_not_there_is_said_without_its_password() -> None:
    place = outside_witness("git:http://ada:secret@127.0.0.1:1/x.git")
    with pytest.raises(FileError, match="git ls-remote failed") as caught:
        place.sightings()
    assert "secret" not in str(caught.value)
    assert "secret" not in place.where


@pytest.mark.parametrize(
    "text", ["", "x", "ftp:x", "file:", "git:", "git:#a", "git:--upload-pack=x", "git:r#../a",
             "git:r#-a"],
)  # fmt: skip
def test_what_names_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a witness must be"):
        outside_witness(text)


def test_a_file_that_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    place = outside_witness(f"file:{tmp_path}")
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        place.sightings()
    with pytest.raises(FileError, match="cannot be written: Is a directory"):
        place.note(Sighting(head(chain(1)), AT))


def test_without_git_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(FileError, match="git is not installed"):
        outside_witness("git:r").sightings()


# Time stamps


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authority") / "own"
    make_authority(folder)
    return folder


def test_a_stamp_holds_for_its_head_and_its_authority_alone(
    authority: Path, tmp_path: Path
) -> None:
    seen, roots = head(chain(3)), read_roots(authority / "ca.pem")
    with authority_at(authority) as address:
        stamp = stamp_of(seen, address)
    assert stamped_at(stamp, seen, roots).year >= 2026
    assert stamped_at(stamp, seen, roots + roots).tzinfo is not None
    for other in (Head(2, seen.hash), Head(3, "0" * 64)):
        with pytest.raises(LedgerBroken, match="does not hold: Mismatch"):
            stamped_at(stamp, other, roots)
    stranger = read_roots(make_authority(tmp_path / "stranger"))
    with pytest.raises(LedgerBroken, match="does not hold"):
        stamped_at(stamp, seen, stranger)
    with pytest.raises(LedgerBroken, match="does not hold"):
        stamped_at(stamp, seen, ())
    changed = bytearray(stamp)
    changed[-1] ^= 1
    with pytest.raises(LedgerBroken, match="does not hold"):
        stamped_at(bytes(changed), seen, roots)
    with pytest.raises(LedgerBroken, match="cannot be read"):
        stamped_at(b"\x00", seen, roots)


def test_openssl_verifies_the_stamp_too(authority: Path, tmp_path: Path) -> None:
    seen = head(chain(3))
    with authority_at(authority) as address:
        (tmp_path / "stamp").write_bytes(stamp_of(seen, address))
    (tmp_path / "head").write_text(f"https://policy-engine.dev/ledger-head/v1\n3:{seen.hash}\n")
    words = ["openssl", "ts", "-verify", "-data", "head", "-in", "stamp"]
    done = subprocess.run(
        [*words, "-CAfile", authority / "ca.pem"], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "Verification: OK" in done.stdout


def test_an_answer_to_another_question_is_refused(authority: Path) -> None:
    with authority_at(authority) as address:
        other = stamp_of(Head(1, "0" * 64), address)
    for instead, why in (
        (other, "of something else"),
        (b"no", "no time stamp in DER"),
        (b"\x30\x05\x30\x03\x02\x01\x02", "has not granted"),
        (b"\0" * ((1 << 20) + 1), "longer than a time stamp"),
    ):
        with (
            authority_at(authority, instead) as address,
            pytest.raises(FileError, match=why),
        ):
            stamp_of(Head(3, "0" * 64), address)


def test_an_authority_that_does_not_answer_or_is_no_address_is_said() -> None:
    with pytest.raises(FileError, match="did not answer"):
        stamp_of(Head(3, "0" * 64), "http://127.0.0.1:1/")
    with pytest.raises(UsageError, match="must be an http or https address"):
        stamp_of(Head(3, "0" * 64), "file:///etc/passwd")


def test_roots_that_are_none_are_said(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_roots(tmp_path / "none")
    (tmp_path / "text").write_text("x")
    with pytest.raises(FileError, match="holds no PEM certificate"):
        read_roots(tmp_path / "text")


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    for act in (
        lambda: stamp_of(Head(1, ""), "http://x"),
        lambda: stamped_at(b"", Head(1, ""), ()),
    ):
        with pytest.raises(FileError, match=r"not installed; run pip install '\.\[timestamps\]'"):
            act()
