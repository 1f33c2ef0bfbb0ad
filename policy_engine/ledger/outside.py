"""Heads of a ledger, kept where whoever holds its keys cannot rewrite them.

A key signs any chain, and the ``witness`` beside a ledger falls with its machine. An outside
witness is a place that only grows for whoever publishes to it: a protected branch of a git
repository, or a file on storage that only appends. It learns how many records there are, a hash and
a time, and no name. What it holds of a ledger must be in that ledger for good: whoever can add to
it can raise a false alarm, and hide nothing.

A head may bear an RFC 3161 time stamp: an authority's word that it was there at a time. The
authority learns a hash.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from policy_engine.attest.keys import explained
from policy_engine.errors import FileError, LedgerBroken, UsageError, to_install
from policy_engine.ledger.chain import Head, Record
from policy_engine.opening import bytes_in, opened
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

_MOST_BYTES, _LONGEST_STAMP = 1 << 24, 1 << 20
_HASH = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_SECRET = re.compile(r"(?<=//)[^/@\s]*@")
_BRANCH = "policy-engine-ledger"


@frozen
class Sighting:
    """A head, when it was published by the publisher's clock, and its stamp in DER, if any."""

    head: Head
    at: str
    stamp: bytes = b""

    def line(self) -> str:
        """One line of JSON, without its end.

        >>> Sighting(Head(1, "ab" * 32), "2026-01-01T00:00:00Z").line()[:26]
        '{"records": 1, "hash": "ab'
        """
        told: dict[str, object] = {"records": self.head.records, "hash": self.head.hash}
        told["at"] = self.at
        if self.stamp:
            told["stamp"] = base64.b64encode(self.stamp).decode()
        return json.dumps(told)


def outside_witness(text: str) -> OutsideWitness:
    """The place that ``file:PATH``, ``git:REPOSITORY`` or ``git:REPOSITORY#NAME`` names.

    >>> outside_witness("file:/mnt/worm/heads").where
    'file:/mnt/worm/heads'
    """
    kind, _, place = text.partition(":")
    if kind == "file" and place:
        return FileWitness(Path(place))
    if kind == "git" and place:
        url, _, name = place.partition("#")
        if url and not url.startswith("-") and (not name or _NAME.fullmatch(name)):
            return GitWitness(url, name or _BRANCH)
    raise UsageError(
        "a witness must be file:PATH, git:REPOSITORY or git:REPOSITORY#NAME, found"
        f" {text[:100]!a}; a NAME is of ASCII letters, digits, - and _"
    )


def check_head(head: Head, chain: Sequence[Record], where: str, whose: str = "") -> None:
    """LedgerBroken unless a ledger goes through a head; ``whose`` word it is that it was there."""
    if head.records > len(chain):
        raise LedgerBroken(
            f"{where}: the ledger had {counted(head.records, 'record')} and has {len(chain)}: its"
            f" tail was cut off, or it is an old copy{whose}"
        )
    if chain[head.records - 1].hash != head.hash:
        raise LedgerBroken(
            f"{where}: record {head.records} is another one than it was: the ledger was replaced by"
            f" one that forks before it{whose}"
        )


def check_sightings(
    witness: OutsideWitness, found: Iterable[Sighting], chain: Sequence[Record], where: str
) -> None:
    """Return if a ledger, whose chain was verified, goes through every head that a witness has."""
    for each in found:
        check_head(each.head, chain, where, f", by {witness.where}, which saw it at {each.at}")


_NOBODY = {
    f"GIT_{who}_{what}": told
    for who in ("AUTHOR", "COMMITTER")
    for what, told in (("NAME", "policy-engine"), ("EMAIL", "ledger@policy-engine.dev"))
}
"""Who commits: no name of a person or a machine."""
_OF_A_REPOSITORY = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"}


@frozen
class FileWitness:
    """A file of lines, to which lines are appended."""

    path: Path

    @property
    def where(self) -> str:
        """How it is named to people."""
        return f"file:{self.path}"

    def sightings(self) -> tuple[Sighting, ...]:
        """Every head that it keeps; none where there is no file."""
        unread = f"{self.where} cannot be read"
        with explained(unread), suppress(FileNotFoundError), opened(self.path) as file:
            return _read(file.read(_MOST_BYTES + 1), self.where)
        return ()

    def note(self, sighting: Sighting) -> None:
        """Append a line, whole and durably."""
        line = f"{sighting.line()}\n".encode()
        with explained(f"{self.where} cannot be written"):
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if os.write(handle, line) != len(line):
                    raise OSError(0, "the line was not written whole")
                os.fsync(handle)
            finally:
                os.close(handle)


@frozen
class GitWitness:
    """A branch of a git repository, each commit of which has one line as its message.

    No tags: git's own server can be told to let a branch only grow, and has no such rule for a tag.
    It is reached through git's transports, with the credentials that git has.
    """

    url: str
    name: str

    @property
    def where(self) -> str:
        """How it is named to people, without a password."""
        return _SECRET.sub("", f"git:{self.url}#{self.name}")

    def sightings(self) -> tuple[Sighting, ...]:
        """Every head that a commit of the branch keeps; none where there is no branch."""
        with tempfile.TemporaryDirectory(prefix="policy-engine-witness-") as folder:
            if not self._fetched(folder):
                return ()
            plain = ("--no-show-signature", "--encoding=UTF-8", "--format=%B%x00")
            told = self._git(folder, "log", *plain, self.name, "--")
        lines = [each.strip(b"\n") for each in told.split(b"\0")[:-1]]
        if not all(lines) or b"\n" in b"".join(lines):
            raise FileError(f"{self.where} has a commit that is no head")
        return _read(b"\n".join(lines), self.where)

    def note(self, sighting: Sighting) -> None:
        """Push one commit more; what stands is never moved."""
        with tempfile.TemporaryDirectory(prefix="policy-engine-witness-") as folder:
            parent = ("-p", self.name) if self._fetched(folder) else ()
            tree = self._git(folder, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
            line = sighting.line().encode()
            made = self._git(folder, "commit-tree", tree, *parent, given=line).decode().strip()
            self._git(folder, "push", "-q", "--", self._place(), f"{made}:refs/heads/{self.name}")

    def _fetched(self, folder: str) -> bool:
        """Whether there is the branch, which a repository in a folder has then."""
        self._git(folder, "init", "-q", "--bare")
        branch = f"refs/heads/{self.name}"
        if not self._git(folder, "ls-remote", "--", self._place(), branch):
            return False
        asked = ("--no-tags", "--", self._place(), f"+{branch}:{branch}")
        self._git(folder, "fetch", "-q", *asked)
        return True

    def _place(self) -> str:
        """The repository, as it is named from another folder."""
        return str(Path(self.url).resolve()) if Path(self.url).exists() else self.url

    def _git(self, folder: str, *words: str, given: bytes = b"") -> bytes:
        # A hook of a repository that runs this has named that one.
        own = {name: os.environ[name] for name in os.environ.keys() - _OF_A_REPOSITORY}
        environment = {**own, **_NOBODY, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        try:
            done = subprocess.run(
                ["git", *words], cwd=folder, env=environment, input=given, capture_output=True,
                check=False,
            )  # fmt: skip
        except FileNotFoundError:
            raise FileError(f"{self.where}: git is not installed") from None
        if done.returncode:
            told = done.stderr.decode(errors="replace").strip().splitlines()
            why = _SECRET.sub("", told[0][:300] if told else "no reason was given")
            raise FileError(f"{self.where}: git {words[0]} failed: {why}")
        return done.stdout


OutsideWitness = FileWitness | GitWitness
"""A place that keeps heads: FileError where they cannot be read, or one cannot be added."""


def _read(content: bytes, where: str) -> tuple[Sighting, ...]:
    """The heads that lines tell, the oldest first; FileError where one tells none."""
    if len(content) > _MOST_BYTES:
        raise FileError(f"{where} is larger than heads can be")
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            told = json.loads(line)
            records, digest, at = (told[name] for name in ("records", "hash", "at"))
            stamp = told.get("stamp", "")
            if type(records) is not int or not 0 < records < 1 << 63:
                raise ValueError("records")
            if not _HASH.fullmatch(digest) or not _TIME.fullmatch(at):
                raise ValueError("hash")
            if not isinstance(stamp, str):
                raise TypeError("stamp")
            head, signed = Head(records, digest), base64.b64decode(stamp, validate=True)
            found.append(Sighting(head, at, signed))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise FileError(f"{where}: line {number} is no head of a ledger") from None
    return tuple(sorted(found, key=lambda each: each.head.records))


# Time stamps


def message_of(head: Head) -> bytes:
    """The bytes that are stamped.

    >>> message_of(Head(1, "ab"))
    b'https://policy-engine.dev/ledger-head/v1\\n1:ab\\n'
    """
    return f"https://policy-engine.dev/ledger-head/v1\n{head.records}:{head.hash}\n".encode()


def stamp_of(head: Head, authority: str) -> bytes:
    """The answer of a time stamp authority, in DER, of this head; FileError where none comes."""
    client = _client()

    if urlsplit(authority).scheme not in ("http", "https"):
        raise UsageError(f"--tsa must be an http or https address, found {authority[:100]!a}")
    builder = client.TimestampRequestBuilder().data(message_of(head))
    request = builder.hash_algorithm(client.HashAlgorithm.SHA256).build()
    headers = {"Content-Type": "application/timestamp-query"}
    try:
        with urlopen(Request(authority, request.as_bytes(), headers), timeout=30) as opened:
            answer: bytes = opened.read(_LONGEST_STAMP + 1)
    except (URLError, OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise FileError(f"{authority}: the time stamp authority did not answer: {why}") from None
    if len(answer) > _LONGEST_STAMP:
        raise FileError(f"{authority}: the answer is longer than a time stamp can be")
    found = _decoded(answer)
    if found is None:
        raise FileError(f"{authority}: the answer is no time stamp in DER")
    if found.status != 0:
        raise FileError(f"{authority}: the time stamp authority has not granted a stamp")
    info = found.tst_info
    is_its_own = info.message_imprint.message == request.message_imprint.message
    if not is_its_own or info.nonce != request.nonce:
        raise FileError(f"{authority}: the time stamp is of something else than was asked")
    return answer


def stamped_at(stamp: bytes, head: Head, roots: tuple[Certificate, ...]) -> datetime:
    """When an authority that ``roots`` vouch for saw a head.

    The certificates held at that time; whether one was revoked since is not looked at. Raises
    LedgerBroken where the stamp is of another head, or of another authority.
    """
    client = _client()
    found, builder = _decoded(stamp), client.VerifierBuilder()
    for each in dict.fromkeys(roots):
        builder = builder.add_root_certificate(each)
    name = f"{head.records}:{head.hash}"
    if found is None:
        raise LedgerBroken(f"the time stamp of head {name} cannot be read")
    try:
        builder.build().verify_message(found, message_of(head))
    except (client.VerificationError, ValueError) as error:
        raise LedgerBroken(f"the time stamp of head {name} does not hold: {error}") from None
    return found.tst_info.gen_time


def read_roots(path: Path) -> tuple[Certificate, ...]:
    """The certificates of authorities that are trusted, from a PEM file."""
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return tuple(load_pem_x509_certificates(bytes_in(path)))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise FileError(f"{path} holds no PEM certificate") from None


def _decoded(stamp: bytes) -> TimeStampResponse | None:
    try:
        found: TimeStampResponse = _client().decode_timestamp_response(stamp)
    except ValueError:
        return None
    return found


def _client() -> ModuleType:
    """The library that knows time stamps."""
    try:
        import rfc3161_client
    except ImportError:
        raise FileError(
            "time stamps need rfc3161-client, which is not installed; run"
            f" {to_install('timestamps')}"
        ) from None
    return rfc3161_client
