"""What a release is of, where it goes, and what its source is called.

A release has a *place*, its policy, its edition and where it goes, and is *of* a policy and a text.
What the source holds is in neither: no raw data decides whether something is drawn.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import astuple, field, replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.attestation import Unverified
from policy_engine.attest.certificates import certificate_in, predicate_of
from policy_engine.attest.choices import ChoiceOf
from policy_engine.attest.keys import key_id
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX, certificate_path
from policy_engine.attest.sealing import keyed_name
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.sources import Column, People
from policy_engine.ledger.entry import Charge, Run, Units
from policy_engine.ledger.states import NAMED_BY
from policy_engine.policy.accounts import path_from
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen
from policy_engine.warehouse.base import Warehouse

_PORTS = {"postgresql": 5432, "mariadb": 3306}
_HERE = ("localhost", "127.0.0.1", "::1", "", "/var/run/postgresql", "/run/postgresql", "/tmp")
"""What a URL calls this machine, and where servers' sockets lie."""


@frozen
class Ends:
    """Where a release goes: a file, or a table without a ``path``, and its certificate.

    ``name`` and ``certificate`` are as the ledger names them, paths from the project's folder. With
    an ``edition`` it is the rows of a table that are of that.
    """

    name: str
    certificate: str
    path: Path | None
    certificate_path: Path
    edition: str = ""

    @classmethod
    def of_file(cls, path: Path, project: Path) -> Ends:
        """A file and its certificate beside it."""
        ends = cls.of_table(_from(project, path), certificate_path(path), project)
        return replace(ends, path=path)

    @classmethod
    def of_table(cls, name: str, certificate: Path, project: Path, edition: str = "") -> Ends:
        """A table, or the rows of an edition there, and the file of its certificate."""
        return cls(name, _from(project, certificate), None, certificate, edition)

    @classmethod
    def of_run(cls, run: Run, project: Path) -> Ends:
        """Where the release of a run went, seen from the folder of the project."""
        if run.is_file:
            return cls.of_file(project / run.target, project)
        return cls.of_table(run.target, project / run.certificate, project, run.appended)

    @property
    def told(self) -> str:
        """The release as people and the ledger's entries name it."""
        return self.name if self.path is None else str(self.path)

    @property
    def subject(self) -> str:
        """The release as its certificate names it."""
        return self.name if self.path is None else self.path.name


def ends_of(policy: Policy, project: Project, warehouse: Warehouse | None) -> Ends:
    """Where the release of a policy goes: into the ``warehouse``, if it is a table."""
    if policy.release_path is not None:
        return Ends.of_file(policy.release_path, project.directory)
    assert warehouse is not None
    name = ".".join(warehouse.target(policy.release.relation or ""))
    edition = policy.edition.name if policy.release.append else ""
    return Ends.of_table(name, table_certificate_path(policy), project.directory, edition)


def table_certificate_path(policy: Policy) -> Path:
    """Where the certificate of a release into a table stands: beside the policy.

    Of a table that is another in each edition, or has the rows of several, each has its own.
    """
    return policy.directory / certificate_of_table(policy.name, policy.edition)


def certificate_of_table(name: str, edition: Edition) -> str:
    """What the certificate of a table is called.

    >>> certificate_of_table("visits", Edition("2026-11", "UTC"))
    'visits.2026-11.certificate.json'
    """
    period = f".{edition.name}" if edition.zone else ""
    return f"{name}{period}{CERTIFICATE_SUFFIX}"


def _from(folder: Path, path: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


@frozen
class SourceNames:
    """What a ledger calls a source; SHA-256 in hex. Nothing of what the source holds is in it.

    ``beside`` are other names under which its rows can have been charged, ``public`` those of
    what is joined and said to be public, as of a ``Charge``; ``units`` says of those before who is
    one person there. ``part`` names a partition and the part of it that is counted, where not
    everybody is. ``key_stays``: keys never change, so that nobody is in two parts.
    """

    source: Mapping[str, str]
    beside: tuple[str, ...] = ()
    public: Mapping[str, str] = field(default_factory=dict)
    public_beside: tuple[str, ...] = ()
    units: Mapping[str, Units] = field(default_factory=dict)
    part: tuple[str, str] | None = None
    key_stays: bool = False

    def named(self, charge: Charge) -> Charge:
        """A charge with all names by which the ledger looks its source up."""
        return replace(
            charge,
            source=self.source,
            beside=self.beside,
            public=self.public,
            public_beside=self.public_beside,
            units=self.units,
        )

    @property
    def charged_part(self) -> tuple[str, str] | None:
        """What an account pays for as one part; None of a release that adds up with all others."""
        return self.part if self.key_stays else None


def units_of(claim: Claim) -> list[Units]:
    """Who is one person among the rows of each relation of people that is read, the source first.

    A person's row has the key of the unit. Where the catalog enforces that no two rows have one
    value of a key, each row is a person too.
    """
    unit = claim.unit
    own: Units = ((),)
    if isinstance(unit, People):
        own = (_names(unit.keys), *([()] if unit.order is None else []))
    joined = (tuple(key for _, key in each.on) for each in claim.joins if not each.is_public)
    return [own, *((_names(keys),) for keys in joined)]


def units_written(policy: Policy) -> list[Units]:
    """The same as far as the policy alone says it: its columns as they are written there."""
    joined = (each.on for each in policy.source.joins if not each.is_public)
    keys = (policy.source.keys, *(tuple(name for _, name in on) for on in joined))
    return [(tuple(sorted(each)),) for each in keys]


def _names(columns: Iterable[Column]) -> tuple[str, ...]:
    return tuple(sorted(column.name for column in columns))


def release_id(certificate: Certificate) -> str:
    """What a release is of: its policy, its claim and what it becomes, SHA-256 in hex."""
    terms = certificate.terms
    return _digest([terms.policy_digest, certificate.claim.digest, terms.published_as])


def new_run(of: str, ends: Ends, certificate: Certificate, sealed: Mapping[str, str]) -> Run:
    """How a release is run for the first time, under a secret that is ``sealed``."""
    edition = certificate.terms.edition
    return Run(
        edition="" if edition is None else edition.name,
        is_revision=edition is not None and edition.is_revision,
        of=of,
        target=ends.name,
        certificate=ends.certificate,
        is_file=ends.path is not None,
        mark=secrets.token_hex(8),
        predicate=predicate_of(certificate),
        sealed=sealed,
    )


def run_of(predicate: Mapping[str, object], ends: Ends, of: str, edition: str) -> Run:
    """How a private choice is made: it needs no secret, for its randomness is used up in it."""
    return Run(
        edition=edition,
        of=of,
        target=ends.name,
        certificate=ends.certificate,
        mark=secrets.token_hex(8),
        predicate=predicate,
    )


def choice_name(policy: str, of: ChoiceOf = "recoding") -> str:
    """What the ledger calls the choices of a policy: no policy can have that name.

    >>> choice_name("visits"), choice_name("visits", "numbers")
    ('search of visits', 'suggestion for visits')
    """
    return f"search of {policy}" if of == "recoding" else f"suggestion for {policy}"


def certificate_of(run: Run) -> Certificate:
    """The certificate that was charged for; VerificationFailed where the record is none."""
    return certificate_in(Unverified("", "", run.predicate))


def part_of(
    certificate: Certificate, place: str, naming: X25519PrivateKey
) -> tuple[str, str] | None:
    """The name of the partition, and the number of the part; None where everybody is counted.

    Guarantee: all on which a unit's part depends is in the name, the ``naming`` key by which its
    secret is drawn (`attest.sealing.secret_of_parts`) as well. So who has the name of another
    release's partition has its parts, and releases of different parts have no unit in common.
    Whatever differs makes another partition, which adds up with it [PART].
    """
    claim = certificate.claim
    if claim.law.parts == 1:
        return None
    assert isinstance(claim.unit, People)
    named = [(key.name, *astuple(key.type)) for key in claim.unit.keys]
    drawn = ["parts", place, certificate.engine, *named, claim.law.parts]
    return keyed_name(json.dumps(drawn).encode(), naming), str(claim.law.number)


def source_of_places(places: Iterable[str], naming: X25519PrivateKey) -> dict[str, str]:
    """What a ledger calls a source: where each relation of people lies that it reads, the source
    first, and the key that names them."""
    named = {f"joined_{number}" if number else "place": each for number, each in enumerate(places)}
    return {NAMED_BY: key_id(naming.public_key()), **named}


def name_of_place(
    policy: Policy, project: Project, named: Named, parts: tuple[str, ...], key: X25519PrivateKey
) -> str:
    """A name for where a source lies, however it is written: SHA-256 in hex.

    ``parts`` is the name of the table that is read, in the warehouse ``named``. A file is told
    from others of its project only, for its path starts there: its name is keyed. A server's table
    is one for all who share a ledger.
    """
    file = policy.source_path or named.database
    if file is None:
        return _name_of_table(named, _server(named.url), parts)
    # Schema and table; what a database is called before them is the project file's to say.
    inside = parts[-2:] if policy.source_path is None else ()
    place = ["file", path_from(project, file), *map(str.lower, inside)]
    return keyed_name(json.dumps(place).encode(), key)


def _name_of_table(named: Named, server: list[str], parts: tuple[str, ...]) -> str:
    return _digest(["table", named.type, *server, *map(str.lower, parts)])


def names_beside(
    policy: Policy, project: Project, named: Named, parts: tuple[str, ...], key: X25519PrivateKey
) -> tuple[str, ...]:
    """Other names under which a source's rows can have been charged.

    Of a file those of the folders that hold it, and of all that stands in a folder of files; of a
    table on this machine's server those by the other ways to that. Who releases a file and a folder
    with it from two accounts loses the sum of both limits.
    """
    path = policy.source_path
    if path is None:
        if named.database is not None:
            return ()
        host, *rest = _server(named.url)
        here = _HERE if host in _HERE else ()
        return tuple(_name_of_table(named, [each, *rest], parts) for each in here)
    inside = sorted(path.resolve().rglob("*")) if path.is_dir() else []
    places = (path_from(project, each) for each in (*path.resolve().parents, *inside))
    return tuple(keyed_name(json.dumps(["file", each]).encode(), key) for each in places)


def _server(url: str) -> list[str]:
    """Host, port and database of a URL; not the user, nor what is set for the session."""
    found = urlsplit(url)
    options = dict(parse_qsl(found.query))
    host = found.hostname or options.get("host") or options.get("socket") or ""
    port = found.port or options.get("port") or _PORTS.get(found.scheme, "")
    return [host, str(port), found.path]


def place_of(name: str, ends: Ends, edition: Edition) -> str:
    """What the draws have in common that a policy of this name makes of one place and edition.

    An edition of a calendar is drawn once, wherever the policy lets it go by then.
    """
    return _digest([name, "" if edition.zone else ends.name, edition.name])


def _digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
