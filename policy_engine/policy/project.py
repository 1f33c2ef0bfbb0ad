"""The project file `policy-engine.yaml`: warehouses, ledger, signing key, accounts.

Text may take a secret from the environment: ``"{{ env_var('X') }}"``, with a default
``"{{ env_var('X', 'default') }}"``. No message shows what came from there. A variable that only a
warehouse or the ledger needs is missed when that is opened, and not before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from policy_engine.errors import UsageError
from policy_engine.policy import fields, laws
from policy_engine.policy.documents import Document
from policy_engine.policy.environment import filled
from policy_engine.policy.laws import Ruled, refusal
from policy_engine.policy.pins import IN_EACH_CHECKOUT
from policy_engine.policy.reading import Reading, check, read_root, read_text
from policy_engine.policy.review_models import KeyLineField
from policy_engine.policy.scalars import EnvironmentText, show
from policy_engine.policy.tree import Node
from policy_engine.policy.tree import Path as At
from policy_engine.policy.warehouse_models import WarehouseSpec

PROJECT_FILE = "policy-engine.yaml"
LEDGER = ".policy-engine/ledger.sqlite"
SIGNING_KEY = ".policy-engine/signing.pem"
SEALING_KEY = ".policy-engine/sealing.pem"
WITNESS = ".policy-engine/ledger.head"
KEYRING_FILE = "keys.json"
_OPENED = ("url", "database", "profile", "target", "profiles_dir")
"""What of a warehouse is of no use before it is opened."""
ACCESS = ("public", "protected", "private")
SECRETS = "policy_engine_salts"


class SigningSpec(Document):
    """What certificates are signed with: a key in a file, or a command that has the key."""

    key: fields.OptionalLineField = None
    """The file of the Ed25519 key; the default is `.policy-engine/signing.pem`."""
    command: Annotated[
        tuple[fields.LineField, ...], BeforeValidator(laws.a_list("words", "as in [sign-with-kms]"))
    ] = ()
    """A command and its arguments: what to sign on its stdin, the signature's base64 on stdout."""
    public_key: fields.OptionalLineField = None
    """The file of the command's public key."""
    keyring: fields.OptionalLineField = None
    """The file of the public keys that count; the default is `keys.json` beside the key."""
    owners: Annotated[tuple[KeyLineField, ...], BeforeValidator(laws.a_list("keys"))] = ()
    """Public keys of those who must have signed the keyring; without one, nobody must."""
    threshold: fields.PositiveField = 1
    """How many of the owners must have signed it."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """A command has its public key, and no private one."""
        if "command" in data and "key" in data:
            yield refusal("is given, and command too", "keep one of the two", at=("key",))
        if "command" in data and "public_key" not in data:
            remedy = "name the PEM file of the key that the command signs with"
            yield refusal("is missing, command is given", remedy, at=("public_key",))
        if "public_key" in data and "command" not in data:
            remedy = "the public key of a key file stands beside it"
            yield refusal("is given without command", remedy, at=("public_key",))
        owners, needed = data.get("owners", ()), data.get("threshold", 1)
        count = len({*map(str, owners)}) if isinstance(owners, list | tuple) else 0
        if laws.is_integer(needed) and needed > max(1, count):
            wrong = f"must be at most the number of owners, found {needed}"
            yield refusal(wrong, "name more under owners", at=("threshold",))


class SealingSpec(Document):
    """Who may open the secret of a sample: the engine, to run a release again, and reviewers."""

    key: fields.OptionalLineField = None
    """The file of the X25519 key; the default is `sealing.pem` beside the ledger's other keys."""
    reviewers: Annotated[
        tuple[fields.LineField, ...], BeforeValidator(laws.a_list("files", "as in [alice.pub]"))
    ] = ()
    """Files of public X25519 keys: whoever has a private one can draw a sample again."""


class PrivateSpec(Document):
    """Where sensitive relations may stand in a dbt project, and who may read them."""

    schemas: Annotated[
        tuple[fields.LineField, ...], BeforeValidator(laws.a_list("schemas", "as in [staging]"))
    ] = ()
    """The schemas, or database.schema: a relation made elsewhere is a way out."""
    roles: Annotated[
        tuple[fields.LineField, ...], BeforeValidator(laws.a_list("roles", "as in [engineers]"))
    ] = ()
    """The grantees of sensitive relations: a grant to another one is a way out."""


class DbtSpec(Document):
    """How releases are made in a dbt project."""

    release_targets: Annotated[
        tuple[fields.LineField, ...], BeforeValidator(laws.a_list("targets", "as in [prod]"))
    ] = ()
    """The targets of profiles.yml in which models are released; elsewhere they are empty."""
    group: fields.OptionalLineField = None
    """The dbt group of the models that are released."""
    access: Annotated[str, fields.word(*ACCESS)] = "public"
    """Who may refer to the models that are released."""
    secrets: fields.LineField = SECRETS
    """The table in which the secret of a sample waits: in the target's schema, or schema.table."""
    private: PrivateSpec = PrivateSpec()


class AccountSpec(Document):
    """An account of the ledger and its limit; without one it only adds up."""

    epsilon: fields.OptionalEpsilonField = None
    delta: fields.OptionalDeltaField = None
    syntactic: fields.FlagField = False
    """Whether releases without (ε, δ) are charged to it: then no limit holds, and it has none."""

    @classmethod
    def needs(cls, key: str) -> str:
        """What to write for an account without a limit."""
        return "" if key else "write {} for an account without a limit"

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """Both numbers of the limit, or neither."""
        if ("epsilon" in data) != ("delta" in data):
            given, missing = ("epsilon", "delta") if "epsilon" in data else ("delta", "epsilon")
            yield refusal(f"is missing, {given} is given", "a limit has both", at=(missing,))
        if data.get("syntactic") and {"epsilon", "delta"} & data.keys():
            wrong = "cannot stand beside a limit, which no release without (ε, δ) keeps"
            yield refusal(wrong, "remove one of them", at=("syntactic",), on_key=True)


def _of_form(pattern: str, law: str) -> Ruled:
    found = laws.a_match(re.compile(pattern), f"be sha256: and 64 hex digits, {law}")
    return Ruled(found, {"type": "string", "pattern": f"^{pattern}$"})


def _witness(found: object) -> str:
    """The law of the place of an outside witness."""
    if isinstance(found, str) and laws.is_line(found) and _WITNESS.match(found):
        return found
    law = "file:PATH, git:REPOSITORY or git:REPOSITORY#NAME"
    raise refusal(f"must be {law}, found {show(found)}")


_WITNESS = re.compile(r"(?:file|git):.")
_SHA256 = r"sha256:[0-9a-f]{64}"
_PRINTED = "as 'policy-engine review require' prints them"
_WRITTEN = f"which the first release writes, or {IN_EACH_CHECKOUT}"
DigestField = Annotated[str, _of_form(_SHA256, _PRINTED)]
WitnessField = Annotated[
    str, Ruled(_witness, {"type": "string", "pattern": f"^{_WITNESS.pattern}"})
]
BeginsField = Annotated[str, _of_form(f"({_SHA256}|{IN_EACH_CHECKOUT})", _WRITTEN)]


class ProjectDocument(Document):
    """The project file as it is written."""

    version: fields.VersionField = 1
    warehouses: Annotated[
        dict[str, WarehouseSpec], BeforeValidator(laws.a_mapping("name: warehouse"))
    ] = Field(default_factory=dict)
    default: fields.OptionalNameField = None
    """The warehouse of commands that name none."""
    ledger: fields.LineField = LEDGER
    """A file of SQLite, or a `postgresql://` URL."""
    ledger_begins: BeginsField = ""
    """SHA-256 of the first record of the project's ledger, or `in_each_checkout`."""
    witnesses: Annotated[
        tuple[WitnessField, ...], BeforeValidator(laws.a_list("places", "as in [file:/mnt/heads]"))
    ] = ()
    """Where `ledger publish` keeps the ledger's head, and `ledger verify` looks for it."""
    signing: SigningSpec = SigningSpec()
    sealing: SealingSpec = SealingSpec()
    dbt: DbtSpec = DbtSpec()
    accounts: Annotated[
        dict[str, AccountSpec], BeforeValidator(laws.a_mapping("account: limit"))
    ] = Field(default_factory=dict)
    """The accounts that pay, by name; where one is listed there are no others."""
    accounts_open: fields.FlagField = False
    """Whether there may be accounts that are not listed: without a limit, they only add up."""

    reviews: Annotated[
        dict[str, DigestField], BeforeValidator(laws.a_mapping("account: digest"))
    ] = Field(default_factory=dict)
    """The review policies of accounts whose releases are approved: the ledger must have these."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """Good names, and a default that is one of the warehouses."""
        warehouses, accounts = data.get("warehouses"), data.get("accounts")
        yield from _names(warehouses, "warehouses", laws.name)
        yield from _names(accounts, "accounts", laws.line)
        names = list(laws.mapping(warehouses))
        default = data.get("default")
        if "default" not in data and len(names) > 1:
            yield refusal("is missing", f"name one of {', '.join(names)}", at=("default",))
        elif isinstance(default, str) and default not in (names or ["duckdb"]):
            wrong = f"must be one of the warehouses, found {show(default)}"
            yield refusal(wrong, laws.suggestion(default, names or ["duckdb"]), at=("default",))


def _names(data: object, under: str, law: laws.Law) -> Iterable[PydanticCustomError]:
    """The law of the keys of a mapping."""
    for key in laws.mapping(data):
        try:
            law(key)
        except PydanticCustomError as error:
            yield refusal(f"is no name: a name {error.message()}", at=(under, key), on_key=True)


@dataclass(frozen=True)
class Profile:
    """A connection of dbt's profiles.yml; ``folder`` is None where dbt's own rule finds it."""

    name: str
    target: str | None
    folder: Path | None
    project: Path


@dataclass(frozen=True)
class Warehouse:
    """A warehouse; ``database`` is None for a DuckDB in memory, ``url`` is a server's.

    ``missing`` says what the environment lacks to open it.
    """

    name: str
    type: str = "duckdb"
    database: Path | None = None
    url: str = ""
    memory_limit: str | None = None
    threads: int | None = None
    profile: Profile | None = None
    missing: str = ""


@dataclass(frozen=True)
class Limit:
    """The most an account may spend."""

    epsilon: Decimal
    delta: Decimal


@dataclass(frozen=True)
class Project:
    """A project with every default filled in and every path relative to its directory.

    ``accounts`` has None for an account without a limit; ``accounts_open`` says that there may be
    others, as there may be where none is listed. ``file`` is None where there is no
    project file. ``ledger`` is a file, or the URL of a database. With a ``signing_command``,
    ``public_key`` is its key and ``signing_key`` stays unused; without one, ``public_key`` stands
    beside ``signing_key``. ``missing`` says what the environment lacks to open the ledger.
    ``begins`` is ``ledger_begins``, empty where the project file has none. ``reviews`` has the
    digests of the review policies that the ledger must have, ``syntactic`` the accounts that
    releases without (ε, δ) are charged to. So many of the ``owners``, raw public keys, as
    ``owners_needed`` says must have signed the keyring. ``witnesses`` are outside ones.
    """

    directory: Path
    ledger: Path | str
    signing_key: Path
    public_key: Path
    keyring: Path
    warehouses: Mapping[str, Warehouse]
    default: str
    signing_command: tuple[str, ...] = ()
    sealing_key: Path = Path("sealing.pem")
    reviewers: tuple[Path, ...] = ()
    accounts: Mapping[str, Limit | None] = field(default_factory=dict)
    accounts_open: bool = True
    dbt: DbtSpec = field(default_factory=DbtSpec)
    file: Path | None = None
    missing: str = ""
    begins: str = ""
    owners: tuple[bytes, ...] = ()
    owners_needed: int = 1
    witnesses: tuple[str, ...] = ()
    reviews: Mapping[str, str] = field(default_factory=dict)
    syntactic: frozenset[str] = frozenset()

    @property
    def ledger_name(self) -> str:
        """The ledger as a message may name it: without what a URL has before its host."""
        return re.sub(r"//.*@", "//", str(self.ledger))

    @property
    def witness(self) -> Path:
        """Where this machine remembers the head of the ledger."""
        if isinstance(self.ledger, Path):
            return self.ledger.with_name(f"{self.ledger.name}.head")
        return self.directory / WITNESS

    @property
    def ring_seen(self) -> Path:
        """Where this machine keeps the last signed keyring that it believed."""
        return self.witness.with_name("keys.seen.json")

    @property
    def pin(self) -> str:
        """The SHA-256 that the ledger's first record must have; empty where none is stated."""
        return "" if self.begins == IN_EACH_CHECKOUT else self.begins

    @property
    def warehouse(self) -> Warehouse:
        """The default warehouse."""
        return self.warehouses[self.default]


def find_project(start: str | Path) -> Path | None:
    """The project file in a directory or the nearest one above it, else None.

    It chooses the ledger, and may name a command that signs. So it must be yours, root's, or of
    whose folder you stand in: another user's, above you, would run as you.

    Raises UsageError.
    """
    directory = Path(start).resolve()
    standing = next(each for each in (directory, *directory.parents) if each.exists())
    for folder in (directory, *directory.parents):
        file = folder / PROJECT_FILE
        try:
            if not file.is_file():
                continue
            trusted = {os.geteuid(), 0, _owner(standing)} if hasattr(os, "geteuid") else None
            owner = _owner(file)
        except OSError:
            continue
        if trusted is not None and owner not in trusted:
            raise UsageError(
                f"{file} belongs to another user (uid {owner}), and would choose the ledger and who"
                f" signs: write a {PROJECT_FILE} of your own in {directory}"
            )
        return file
    return None


def _owner(path: Path) -> int:
    return path.stat().st_uid


def default_project(directory: str | Path) -> Project:
    """The project of a directory without a project file.

    >>> default_project("/work").warehouse
    Warehouse(name='duckdb', type='duckdb', database=None, url='', memory_limit=None, \
threads=None, profile=None, missing='')
    """
    return _project(ProjectDocument(), Path(directory), None)


def project_at(folder: str | Path) -> Project:
    """The project whose file is found from a folder upwards, else that of the folder alone."""
    found = find_project(folder)
    return default_project(folder) if found is None else load_project(found)


def load_project(path: str | Path, environ: Mapping[str, str] | None = None) -> Project:
    """The project that a file names; ``environ`` stands in for the environment.

    Raises ``FileError`` where the file cannot be read, else ``PolicyError`` with every problem.
    """
    file = Path(path)
    text = read_text(file, "project")
    return load_project_text(text, file, file.parent, environ)


def load_project_text(
    text: str, file: str | Path, directory: str | Path, environ: Mapping[str, str] | None = None
) -> Project:
    """The project that ``text`` writes, as if it were in ``file``.

    >>> load_project_text("accounts: {census: {epsilon: 1}}", "policy-engine.yaml", ".")
    Traceback (most recent call last):
    ...
    policy_engine.errors.PolicyError: policy-engine.yaml:1:12: accounts.census.delta is missing, \
epsilon is given; a limit has both
    """
    file = Path(file)
    root, problems = read_root(text, file, "project")
    reading: Reading[ProjectDocument] = Reading(str(file), "project", root, problems=problems)
    filling = _Filling(reading, os.environ if environ is None else environ)
    filling.fill(root, ())
    found = _project(check(reading, ProjectDocument).result(), Path(directory), file)
    warehouses = {
        name: replace(each, missing=filling.missing(("warehouses", name)))
        for name, each in found.warehouses.items()
    }
    return replace(found, warehouses=warehouses, missing=filling.missing(("ledger",)))


class _Filling:
    """The environment's values, put into every text of a project file."""

    def __init__(self, reading: Reading[ProjectDocument], environ: Mapping[str, str]) -> None:
        self._reading = reading
        self._environ = environ
        self._lacking: dict[At, str] = {}

    def missing(self, under: At) -> str:
        """What the environment lacks for what stands there; empty where it has everything."""
        return next((told for at, told in self._lacking.items() if at[: len(under)] == under), "")

    def fill(self, node: Node, at: At) -> None:
        """Fill every text below ``node``."""
        if isinstance(node.value, dict):
            for key, child in node.value.items():
                self.fill(child, (*at, key))
        elif isinstance(node.value, list):
            for index, child in enumerate(node.value):
                self.fill(child, (*at, index))
        elif isinstance(node.value, str) and "{{" in node.value:
            node.value = EnvironmentText(self._filled(node.value, at))

    def _filled(self, text: str, at: At) -> str:
        """A text with its values in it; what is missing is a problem, now or when it is opened."""

        def refuse(*told: str) -> None:
            self._reading.refuse(at, *told)

        def lacks(*told: str) -> None:
            later = replace(self._reading, problems=[])
            later.refuse(at, *told)
            self._lacking[at] = str(later.problems[0])

        is_opened = at[:1] == ("warehouses",) and len(at) == 3 and at[2] in _OPENED
        is_opened = is_opened or at == ("ledger",)
        return filled(text, self._environ, refuse, lacks if is_opened else None)


def _project(document: ProjectDocument, directory: Path, file: Path | None) -> Project:
    """The project a document means."""
    warehouses = {
        name: _warehouse(name, spec, directory) for name, spec in document.warehouses.items()
    } or {"duckdb": Warehouse("duckdb")}
    signing = document.signing
    key = directory / (signing.key or SIGNING_KEY)
    public = directory / signing.public_key if signing.public_key else key.with_suffix(".pub")
    ring = directory / signing.keyring if signing.keyring else public.with_name(KEYRING_FILE)
    return Project(
        directory=directory,
        ledger=document.ledger if "://" in document.ledger else directory / document.ledger,
        signing_key=key,
        public_key=public,
        keyring=ring,
        signing_command=signing.command,
        sealing_key=directory / (document.sealing.key or SEALING_KEY),
        reviewers=tuple(directory / name for name in document.sealing.reviewers),
        warehouses=warehouses,
        default=document.default or next(iter(warehouses)),
        accounts={name: _limit(spec) for name, spec in document.accounts.items()},
        accounts_open=document.accounts_open or not document.accounts,
        syntactic=frozenset(n for n, spec in document.accounts.items() if spec.syntactic),
        dbt=document.dbt,
        file=file,
        begins=document.ledger_begins,
        owners=signing.owners,
        owners_needed=signing.threshold,
        witnesses=tuple(_from(directory, place) for place in document.witnesses),
        reviews=dict(document.reviews),
    )


def _from(directory: Path, witness: str) -> str:
    """A witness, its path that of the project and not of who asks."""
    kind, _, place = witness.partition(":")
    is_path = kind == "file" or (directory / place.partition("#")[0]).exists()
    return f"{kind}:{directory / place}" if is_path else witness


def _warehouse(name: str, spec: WarehouseSpec, directory: Path) -> Warehouse:
    folder = directory / spec.profiles_dir if spec.profiles_dir else None
    profile = Profile(spec.profile, spec.target, folder, directory) if spec.profile else None
    database = _database(directory, spec.database)
    limits = (spec.memory_limit, spec.threads)
    return Warehouse(name, spec.type, database, spec.url or "", *limits, profile)


def _database(directory: Path, database: str | None) -> Path | None:
    return None if database in (None, ":memory:") else directory / str(database)


def _limit(account: AccountSpec) -> Limit | None:
    if account.epsilon is None or account.delta is None:
        return None
    return Limit(account.epsilon, account.delta)
