"""What a release is of: the same request gives the same bytes again, and costs nothing.

A request has a *place*, the policy and where its release goes, and is *of* a policy, a text and
a state of the source. What a run needs to be repeated, its secret, its certificate and the name of
what it writes aside, is recorded with its charge, the secret sealed.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy_engine.ledger.entry import Entry
from policy_engine.policy.resolve import Policy
from policy_engine.publish import certificate_path
from policy_engine.verify.certificate import Certificate

_MARK_BYTES = 8


@dataclass(frozen=True)
class Ends:
    """Where a release goes: a file, or a table, and its certificate.

    ``name`` and ``certificate`` are as the ledger names them, paths from the project's folder.
    ``path`` is None for a table.
    """

    name: str
    certificate: str
    path: Path | None
    certificate_path: Path

    @classmethod
    def of_file(cls, path: Path, project: Path) -> Ends:
        """A file and its certificate beside it."""
        beside = certificate_path(path)
        return cls(_from(project, path), _from(project, beside), path, beside)

    @classmethod
    def of_table(cls, name: str, certificate: Path, project: Path) -> Ends:
        """A table and the file of its certificate."""
        return cls(name, _from(project, certificate), None, certificate)


def _from(folder: Path, path: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


@dataclass(frozen=True)
class Request:
    """What is asked for. ``place`` and ``of`` are SHA-256 in hex."""

    place: str
    of: str
    ends: Ends


@dataclass(frozen=True)
class Run:
    """How a request is run, once and again: with the same secret it gives the same release.

    ``predicate`` is the certificate's, with the time that the release bears. ``mark`` is in the
    names of what is written aside. ``sealed`` is empty where the engine draws the sample by itself,
    which nobody can repeat.
    """

    of: str
    target: str
    certificate: str
    is_file: bool
    mark: str
    predicate: Mapping[str, Any]
    sealed: Mapping[str, str]

    @classmethod
    def new(cls, request: Request, certificate: Certificate, sealed: Mapping[str, str]) -> Run:
        """A first run."""
        mark = secrets.token_hex(_MARK_BYTES)
        ends = request.ends
        return cls(
            of=request.of,
            target=ends.name,
            certificate=ends.certificate,
            is_file=ends.path is not None,
            mark=mark,
            predicate=certificate.predicate(),
            sealed=sealed,
        )

    @classmethod
    def of_entry(cls, entry: Entry) -> Run:
        """The run that an entry was charged for."""
        return cls(**{name: entry.run[name] for name in cls.__dataclass_fields__})

    def ends(self, project: Path) -> Ends:
        """Where the release went, seen from the folder of the project."""
        if self.is_file:
            return Ends.of_file(project / self.target, project)
        return Ends.of_table(self.target, project / self.certificate, project)

    @property
    def sql(self) -> str:
        """The certified text."""
        return str(self.predicate["sql"])

    @property
    def facts(self) -> str:
        """The certificate's facts, as they stand with the release."""
        return json.dumps(_plain(self.predicate), sort_keys=True, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the certificate's facts: what the ledger calls its digest."""
        return predicate_digest(self.predicate)

    def to_json(self) -> dict[str, Any]:
        """The run as it is recorded."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}


def request_of(policy: Policy, certificate: Certificate, ends: Ends, state: str) -> Request:
    """What a policy asks of a source in a state, which is a keyed name of its content."""
    return Request(
        place=place_of(policy, ends),
        of=_digest([policy.digest, text_of(certificate.sql), state]),
        ends=ends,
    )


def place_of(policy: Policy, ends: Ends) -> str:
    """What the requests have in common that a policy makes of one place."""
    return _digest([policy.name, ends.name])


def text_of(sql: str) -> str:
    """A text whether or not it replaces what stands in its place."""
    return sql.replace("CREATE OR REPLACE TABLE", "CREATE TABLE", 1)


def change_since(run: Run, certificate: Certificate, sealing_key_id: str) -> str:
    """What is not as it was at an earlier run in the same place."""
    if run.sealed and sealing_key_id not in run.sealed:
        # States of a source are named with the sealing key, so those names cannot be compared.
        return (
            "its secret is sealed for another key than this project's (sealing.pem), without which"
            " nothing can be released again"
        )
    before = run.predicate
    if before["policy"]["digest"] != certificate.policy_digest:
        return "the policy has changed"
    if text_of(run.sql) != text_of(certificate.sql):
        return "the source's columns have changed"
    return "the source has changed"


def predicate_digest(predicate: Mapping[str, Any]) -> str:
    """SHA-256 of the facts of a certificate.

    >>> predicate_digest({})[:14]
    'sha256:44136fa'
    """
    text = json.dumps(_plain(predicate), sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Dicts and lists of what a signed statement holds as read-only mappings and tuples."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
