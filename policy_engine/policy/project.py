"""A project with every default filled in: warehouses, ledger, signing key, accounts.

Text of `policy-engine.yaml` may take a secret from the environment: ``"{{ env_var('X') }}"``, with
a default ``"{{ env_var('X', 'default') }}"``. No message shows what came from there. A variable
that only a warehouse or the ledger needs is missed when that is opened, and not before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import quote

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.calendars import Zone
from policy_engine.errors import UsageError
from policy_engine.policy.laws import At
from policy_engine.policy.pins import IN_EACH_CHECKOUT
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.project_models import DbtSpec, ProjectDocument, WarehouseSpec
from policy_engine.policy.reading import HalfRead, check, read_root, read_text
from policy_engine.policy.scalars import EnvironmentText
from policy_engine.policy.timing import WindowTerms, windows_of
from policy_engine.policy.tree import YamlNode
from policy_engine.values import frozen

KEYRING_FILE = "keys.json"
_OPENED = ("url", "database", "profile", "target", "profiles_dir")
"""What of a warehouse is of no use before it is opened."""
_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ENV_VAR = re.compile(
    r"""\s*env_var\(\s*(?P<q>['"])(?P<name>[^'"]+)(?P=q)"""
    r"""(\s*,\s*(?P<r>['"])(?P<default>[^'"]*)(?P=r))?\s*\)\s*"""
)
Told = Callable[[str, str], None]


@frozen
class Profile:
    """A connection of dbt's profiles.yml; ``folder`` is None where dbt's own rule finds it."""

    name: str
    target: str | None
    folder: Path | None
    project: Path


@frozen
class ListedWarehouse:
    """A warehouse; ``database`` is None for a DuckDB in memory, ``url`` is a server's.

    ``settings`` are those of its sessions that the project sets, by their names at the server.
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
    settings: tuple[tuple[str, str], ...] = ()


@frozen
class Project:
    """A project with every default filled in and every path relative to its directory.

    ``accounts`` has None for an account without a limit; ``accounts_open`` says that there may be
    others, as there may be where none is listed. ``file`` is None where there is no
    project file. ``ledger`` is a file, or the URL of a database. With a ``signing_command``,
    ``public_key`` is its key and ``signing_key`` stays unused; without one, ``public_key`` stands
    beside ``signing_key``. ``missing`` says what the environment lacks to open the ledger.
    ``begins`` is ``ledger_begins``, empty where the project file has none. ``reviews`` has the
    digests of the review policies that the ledger must have, ``unpromised`` the accounts that
    releases without (ε, δ) are charged to, ``windows`` of each listed account for how long its
    limit is, and what is planned. Of a release of at most ``copies_most`` bytes a copy is
    kept. So many of the ``owners``, raw public keys, as
    ``owners_needed`` says must have signed the keyring. ``witnesses`` are outside ones.
    Days, and with them all periods, are those of ``zone``.
    """

    directory: Path
    ledger: Path | str
    signing_key: Path
    public_key: Path
    keyring: Path
    warehouses: Mapping[str, ListedWarehouse]
    default: str
    signing_command: tuple[str, ...] = ()
    sealing_key: Path = Path("sealing.pem")
    accounts: Mapping[str, EpsilonDelta | None] = field(default_factory=dict)
    accounts_open: bool = True
    dbt: DbtSpec = field(default_factory=DbtSpec)
    file: Path | None = None
    missing: str = ""
    begins: str = ""
    owners: tuple[bytes, ...] = ()
    owners_needed: int = 1
    witnesses: tuple[str, ...] = ()
    reviews: Mapping[str, str] = field(default_factory=dict)
    unpromised: frozenset[str] = frozenset()
    copies_most: int = 100_000_000
    zone: Zone = field(default=Zone())
    windows: Mapping[str, WindowTerms] = field(default_factory=dict)

    @property
    def ledger_name(self) -> str:
        """The ledger as a message may name it: a file from the project's folder on, else its URL.

        What a URL has before its host is left out.
        """
        if isinstance(self.ledger, Path):
            return self.named(self.ledger)
        return re.sub(r"//.*@", "//", self.ledger)

    def named(self, path: Path) -> str:
        """A path as an output says it: from the project's folder on where it lies in there."""
        folder = self.directory
        return str(path.relative_to(folder) if path.is_relative_to(folder) else path)

    @property
    def witness(self) -> Path:
        """Where this machine remembers the head of the ledger."""
        if isinstance(self.ledger, Path):
            return self.ledger.with_name(f"{self.ledger.name}.head")
        return self.directory / ".policy-engine/ledger.head"

    @property
    def ring_seen(self) -> Path:
        """Where this machine keeps the last signed keyring that it believed."""
        return self.witness.with_name("keys.seen.json")

    @property
    def pin(self) -> str:
        """The SHA-256 that the ledger's first record must have; empty where none is stated."""
        return "" if self.begins == IN_EACH_CHECKOUT else self.begins

    @property
    def warehouse(self) -> ListedWarehouse:
        """The default warehouse."""
        return self.warehouses[self.default]


def find_project(start: str | Path) -> Path | None:
    """The project file in a directory or the nearest one above it, else None.

    It chooses the ledger, and may name a command that signs. So it must be yours, root's, or of
    whose folder you stand in: another user's, above you, would run as you.

    Raises UsageError.
    """
    directory = Path(start).resolve()
    folders = (directory, *directory.parents)
    standing = next(each for each in folders if each.exists())
    for file in (folder / PROJECT_FILE for folder in folders):
        try:
            if not file.exists() or file.is_dir():  # a pipe is refused where it is read
                continue
            owner, own = _owner(file), _owner(standing)
        except OSError:
            continue
        if hasattr(os, "geteuid") and owner not in {os.geteuid(), 0, own}:
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
    ListedWarehouse(name='duckdb', type='duckdb', database=None, url='', memory_limit=None, \
threads=None, profile=None, missing='', settings=())
    """
    return _project(ProjectDocument(), Path(directory), None)


def project_at(folder: str | Path) -> Project:
    """The project whose file is found from a folder upwards, else that of the folder alone."""
    found = find_project(folder)
    return default_project(folder) if found is None else load_project(found)


def load_project(path: str | Path) -> Project:
    """The project that a file names.

    Raises ``FileError`` where the file cannot be read, else ``PolicyError`` with every problem.
    """
    file = Path(path)
    return load_project_text(read_text(file, "project"), file, file.parent)


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
    root, problems = deepcopy(read_root(text, file, "project"))
    reading: HalfRead[ProjectDocument] = HalfRead(str(file), "project", root, problems=problems)
    lacking: dict[At, str] = {}
    for at, _, node in [*root.walk()]:
        _fill(node, at, reading, os.environ if environ is None else environ, lacking)

    def missing(*under: str) -> str:
        return next((told for at, told in lacking.items() if at[: len(under)] == under), "")

    checked = check(reading, ProjectDocument)
    found = _project(checked.result(), Path(directory), file)
    warehouses = {
        name: replace(each, missing=missing("warehouses", name))
        for name, each in found.warehouses.items()
    }
    return replace(found, warehouses=warehouses, missing=missing("ledger"))


def _fill(
    node: YamlNode,
    at: At,
    reading: HalfRead[ProjectDocument],
    environ: Mapping[str, str],
    lacking: dict[At, str],
) -> None:
    """Put the environment's values into a text.

    What is missing is a problem; of what is opened later it is told in ``lacking``, by its place.
    """
    if not isinstance(node.value, str) or "{{" not in node.value:
        return

    def refuse(*told: str) -> None:
        reading.refuse(at, *told)

    def lacks(*told: str) -> None:
        later = replace(reading, problems=[])
        later.refuse(at, *told)
        lacking[at] = str(later.problems[0])

    is_opened = at[:1] == ("warehouses",) and len(at) == 3 and at[2] in _OPENED
    is_opened = is_opened or at == ("ledger",)
    filled_in = filled(node.value, environ, refuse, lacks if is_opened else None)
    node.value = EnvironmentText(filled_in)


def filled(text: str, environ: Mapping[str, str], refuse: Told, lacks: Told | None = None) -> str:
    """``text`` with the environment's values in it; ``refuse`` is told what is wrong and mends it.

    Where ``lacks`` is given, it is told of a variable that is not set, whose place stays as it is.
    A user or a password in a URL is a part of it, whatever it holds, and never its syntax.

    >>> filled("{{ env_var('USER') }}@db", {"USER": "ada"}, print)
    'ada@db'
    >>> filled("postgresql://ada:{{ env_var('P') }}@db", {"P": "a@b/c"}, print)
    'postgresql://ada:a%40b%2Fc@db'
    """

    def value(found: re.Match[str]) -> str:
        call = _ENV_VAR.fullmatch(found[1])
        if call is None:
            refuse("holds {{ … }} that is not env_var('NAME')", "")
            return "unread"
        given = environ.get(call["name"], call["default"])
        if given is None:
            remedy = f"set it, or give a default: env_var('{call['name']}', '…')"
            (lacks or refuse)(f"needs the environment variable {call['name']}", remedy)
            return found[0] if lacks is not None else "unread"
        is_login = "://" in text[: found.start()] and "@" in text[found.end() :]
        return quote(given, safe="") if is_login else given

    return _BRACES.sub(value, text)


def _project(document: ProjectDocument, directory: Path, file: Path | None) -> Project:
    warehouses = {
        name: _warehouse(name, spec, directory) for name, spec in document.warehouses.items()
    } or {"duckdb": ListedWarehouse("duckdb")}
    signing = document.signing
    key = directory / (signing.key or ".policy-engine/signing.pem")
    public = directory / signing.public_key if signing.public_key else key.with_suffix(".pub")
    accounts = document.accounts.items()
    return Project(
        directory=directory,
        ledger=document.ledger if "://" in document.ledger else directory / document.ledger,
        signing_key=key,
        public_key=public,
        keyring=directory / signing.keyring if signing.keyring else public.with_name(KEYRING_FILE),
        signing_command=signing.command,
        sealing_key=directory / (document.sealing.key or ".policy-engine/sealing.pem"),
        warehouses=warehouses,
        default=document.default or next(iter(warehouses)),
        accounts={
            name: None
            if each.epsilon is None or each.delta is None
            else EpsilonDelta(each.epsilon, each.delta)
            for name, each in accounts
        },
        accounts_open=document.accounts_open or not accounts,
        unpromised=frozenset(name for name, each in accounts if each.guarantee),
        dbt=document.dbt,
        file=file,
        begins=document.ledger_begins,
        owners=signing.owners,
        owners_needed=signing.threshold,
        witnesses=tuple(_from(directory, place) for place in document.witnesses),
        reviews=dict(document.reviews),
        copies_most=document.keep_copies_mb * 1_000_000,
        zone=Zone(document.zone),
        windows={name: windows_of(each) for name, each in accounts},
    )


def _from(directory: Path, witness: str) -> str:
    """A witness, its path that of the project and not of who asks."""
    kind, _, place = witness.partition(":")
    is_path = kind == "file" or (directory / place.partition("#")[0]).exists()
    return f"{kind}:{directory / place}" if is_path else witness


def _warehouse(name: str, spec: WarehouseSpec, directory: Path) -> ListedWarehouse:
    folder = directory / spec.profiles_dir if spec.profiles_dir else None
    profile = Profile(spec.profile, spec.target, folder, directory) if spec.profile else None
    is_file = spec.database not in (None, ":memory:")
    database = directory / str(spec.database) if is_file else None
    limits = (spec.memory_limit, spec.threads)
    settings = tuple((each, str(value)) for each, value in spec.settings if value is not None)
    return ListedWarehouse(
        name, spec.type, database, spec.url or "", *limits, profile, settings=settings
    )
