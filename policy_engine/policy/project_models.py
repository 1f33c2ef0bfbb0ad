"""The project file as it is written: warehouses, ledger, signing key, accounts."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic_core import PydanticCustomError

from policy_engine.engines.installed import engine_named, names_installed
from policy_engine.policy import fields, time_models
from policy_engine.policy.laws import (
    Broken,
    Data,
    Document,
    Ruled,
    barred,
    mapping,
    refusal,
    suggestion,
)
from policy_engine.policy.pins import IN_EACH_CHECKOUT
from policy_engine.policy.review_models import KeyLineField
from policy_engine.policy.scalars import show
from policy_engine.values import frozen

LEDGER = ".policy-engine/ledger.sqlite"
ACCESS = ("public", "protected", "private")
SECRETS = "policy_engine_salts"
_WITNESS = re.compile(r"(?:file|git):.")
WAREHOUSES = ("dbt", "duckdb", "postgres", "spark", "mariadb", "clickhouse", "datafusion", "sqlite")
"""The kinds of warehouse that can be connected to; ``dbt`` is the one of a dbt profile."""
_EMBEDDED = {"duckdb": "FILE.duckdb", "datafusion": "FOLDER", "sqlite": "FILE.sqlite"}
COMPILED = {
    **{name: name for name in ("snowflake", "bigquery", "redshift", "trino", "tsql", "mysql")},
    "databricks": "databricks",
    "athena": "trino",
    "presto": "trino",
    "sqlserver": "tsql",
    "mssql": "tsql",
}
"""Other engines, by the names that they go by, each with the name of its dialect."""


def warehouses() -> tuple[str, ...]:
    """The kinds of warehouse that can be connected to, with those of installed packages."""
    brought = filter(None, map(engine_named, names_installed()))
    others = (engine.name for engine in brought if engine.warehouse)
    return tuple(dict.fromkeys((*WAREHOUSES, *others)))


def _kind(found: object) -> str:
    if found in WAREHOUSES:
        return str(found)
    known = warehouses()
    if isinstance(found, str) and found.lower() in COMPILED:
        raise refusal(
            f"must be {', '.join(known[:-1])} or {known[-1]}, found {show(found)}",
            f"to {found} nothing connects: 'policy-engine compile --dialect"
            f" {COMPILED[found.lower()]}' writes the SQL of a policy",
        )
    return str(fields.word(*known)(found))


# https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-PARAMKEYWORDS
_LIBPQ = frozenset(
    """application_name channel_binding client_encoding connect_timeout dbname
    fallback_application_name gssdelegation gssencmode gsslib host hostaddr keepalives
    keepalives_count keepalives_idle keepalives_interval krbsrvname load_balance_hosts
    max_protocol_version min_protocol_version oauth_client_id oauth_client_secret oauth_issuer
    oauth_scope options passfile password port replication require_auth requirepeer
    scram_client_key scram_server_key service servicefile ssl ssl_max_protocol_version
    ssl_min_protocol_version sslcert sslcertmode sslcompression sslcrl sslcrldir sslkey
    sslkeylogfile sslmode sslnegotiation sslpassword sslrootcert sslsni target_session_attrs
    tcp_user_timeout user""".split()  # noqa: SIM905 - a list of them is a page long
)
_ENCODE = "a sign in a user or password that is no letter or digit is written as %40"


@frozen
class _Url:
    """The URL of a kind of warehouse: what its driver can take."""

    example: str
    schemes: tuple[str, ...]
    options: frozenset[str] = frozenset()
    has: tuple[str, ...] = ()


_URLS = {
    "postgres": _Url("postgresql://user@host/database", ("postgresql", "postgres"), _LIBPQ),
    "mariadb": _Url("mariadb://user@host:3306/database", ("mariadb", "mysql"),
                    frozenset({"socket", "ssl_ca"}), ("hostname", "username")),
    "clickhouse": _Url("https://user@host:8443/database", ("http", "https"), has=("hostname",)),
    "spark": _Url("spark://host:7077", ("local", "spark://", "yarn", "k8s://", "sc://")),
}  # fmt: skip


def connections() -> tuple[str, ...]:
    """How a warehouse of each kind is written, PostgreSQL's first.

    >>> connections()[0], connections()[-1]
    ('{type: postgres, url: postgresql://user@host/database}', '{type: dbt, profile: NAME}')
    """
    servers = (f"{{type: {kind}, url: {law.example}}}" for kind, law in _URLS.items())
    embedded = (f"{{type: {kind}, database: {place}}}" for kind, place in _EMBEDDED.items())
    return (*servers, *embedded, "{type: dbt, profile: NAME}")


def _wrong_url(kind: str, url: str) -> tuple[str, str] | None:
    """What is wrong with a URL, and what would be right; the URL, which may hold a password, is
    in neither."""
    law = _URLS[kind]
    as_in = f"as in {law.example}"
    if kind == "spark":
        right = url.startswith(law.schemes)
        return None if right else ("must be a master of Spark or sc://host", as_in)
    if kind == "postgres" and "://" not in url and "=" in url:
        return None  # a connection string of libpq, which its driver reads
    if url.partition("://")[0] not in law.schemes or "://" not in url:
        return f"must begin with {' or '.join(f'{each}://' for each in law.schemes)}", as_in
    try:
        parts = urlsplit(url)
        _ = parts.port if "," not in parts.netloc else 0
        options = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        return "cannot be read", f"{_ENCODE}; {as_in}"
    if parts.netloc.count("@") > 1 or "@" in parts.path or parts.fragment:
        return "cannot be read", f"{_ENCODE}; {as_in}"
    if not all(getattr(parts, part) for part in law.has):
        return f"must be {as_in}", ""
    if all(name in law.options for name in options):
        return None
    known = ", ".join(sorted(law.options)) if len(law.options) < 9 else "those of libpq"
    return "has an option behind ? that is not known", f"known: {known or 'none'}"


_SETTINGS = {
    "postgres": ("work_mem", "max_parallel_workers_per_gather"),
    "mariadb": ("sort_buffer_size", "tmp_memory_table_size"),
}
"""What may be set for a session of an engine: none of these changes what a text gives."""


class SettingsSpec(Document):
    """What a session of a server may use."""

    work_mem: Annotated[str | None, fields.size] = None
    """PostgreSQL: the memory for each sort and each hash table, such as `512MB`."""
    max_parallel_workers_per_gather: Annotated[int | None, fields.integer(0, 1024)] = None
    """PostgreSQL: the number of processes that help with one step."""
    sort_buffer_size: Annotated[str | None, fields.size] = None
    """MariaDB: the memory for a sort, such as `512MB`."""
    tmp_memory_table_size: Annotated[str | None, fields.size] = None
    """MariaDB: the size from which a temporary table is on disk."""


class WarehouseSpec(Document):
    """A warehouse."""

    type: Annotated[str, Ruled(_kind, {"enum": list(WAREHOUSES)})]
    """The engine: one of these, or the name that an installed package gives to its engine."""
    database: fields.OptionalLineField = None
    """The file of an embedded engine. Without it DuckDB's database is in memory."""
    url: fields.OptionalLineField = None
    """Where the server is. Write its password as `{{ env_var('X') }}`."""
    memory_limit: Annotated[str | None, fields.size] = None
    """The memory that DuckDB uses before it writes to disk, such as `2GB`."""
    threads: fields.OptionalPositiveField = None
    """The number of threads that DuckDB uses."""
    settings: SettingsSpec = SettingsSpec()
    """What a session of PostgreSQL or MariaDB may use. Certificates show these settings."""
    profile: fields.OptionalLineField = None
    """The name of a profile in dbt's profiles.yml. Its connection is used."""
    target: fields.OptionalLineField = None
    """The profile's target. The default is the profile's own."""
    profiles_dir: fields.OptionalLineField = None
    """The folder of profiles.yml. The default is dbt's: DBT_PROFILES_DIR, this folder, or
    ~/.dbt.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        kind = data.get("type")
        if kind not in WAREHOUSES:
            if kind in warehouses():
                yield from _of_a_package(data)
            return
        if kind != "duckdb":
            yield from barred(data, ("memory_limit", "threads"), "is a setting of DuckDB's alone")
        yield from _of_another_engine(str(kind), data)
        if kind == "dbt":
            yield from barred(data, ("database", "url"), "stands in the dbt profile")
            if "profile" not in data:
                yield refusal("is missing", "name a profile of profiles.yml", at=("profile",))
            return
        yield from barred(data, ("profile", "target", "profiles_dir"), "needs type: dbt")
        has_folder = kind == "clickhouse" and "database" in data and "url" not in data
        is_file = kind in _EMBEDDED or has_folder
        wanted, other = ("database", "url") if is_file else ("url", "database")
        remedy = f"a warehouse of type {kind} has {wanted}"
        yield from barred(data, [other], "has no meaning here", remedy)
        url = data.get("url")
        if is_file:
            return
        if "url" not in data:
            folder = ", or write database: FOLDER" if kind == "clickhouse" else ""
            yield refusal("is missing", f"as in {_URLS[kind].example}{folder}", at=("url",))
        elif isinstance(url, str) and not url.startswith("{{"):
            # What the environment lacks may be any part of it, a port too.
            wrong = _wrong_url(kind, re.sub(r"\{\{.*?\}\}", "0", url))
            if wrong:
                yield refusal(*wrong, at=("url",))


def _of_another_engine(kind: str, data: Data) -> Broken:
    """Settings that the sessions of an engine do not have."""
    known = _SETTINGS.get(kind, ())
    settings = data.get("settings")
    if not known:
        yield from barred(data, ["settings"], "has no meaning here: PostgreSQL and MariaDB have it")
    elif isinstance(settings, dict):
        others = {name for names in _SETTINGS.values() for name in names} - set(known)
        remedy = f"a session of {kind} has {' and '.join(known)}"
        yield from barred(settings, sorted(others), "has no meaning here", remedy, ("settings",))


def _of_a_package(data: Data) -> Broken:
    """A warehouse of another package has its file or its URL, which the package reads."""
    own = ("profile", "target", "profiles_dir", "memory_limit", "threads", "settings")
    yield from barred(data, own, "has no meaning here")
    if "url" in data:
        yield from barred(data, ["database"], "cannot stand beside url", "remove one of them")
    elif "database" not in data:
        yield refusal("is missing", "or write database: FILE", at=("url",))


class SigningSpec(Document):
    """How certificates are signed: with a key in a file, or by a command that has the key."""

    key: fields.OptionalLineField = None
    """The file of the Ed25519 key. The default is `.policy-engine/signing.pem`."""
    command: Annotated[fields.Lines, fields.a_list("words", "as in [sign-with-kms]")] = ()
    """A command and its arguments. It reads the bytes to sign from stdin, and writes the signature
    in base64 to stdout.
    """
    public_key: fields.OptionalLineField = None
    """The file of the command's public key."""
    keyring: fields.OptionalLineField = None
    """The file of the public keys that count. The default is `keys.json` beside the key."""
    owners: Annotated[tuple[KeyLineField, ...], fields.a_list("keys")] = ()
    """The public keys of the people who must sign the keyring. Without owners it needs no
    signature.
    """
    threshold: fields.PositiveField = 1
    """The number of owners who must sign the keyring."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
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
        if fields.is_integer(needed) and needed > max(1, count):
            wrong = f"must be at most the number of owners, found {needed}"
            yield refusal(wrong, "name more under owners", at=("threshold",))


class SealingSpec(Document):
    """Who may open the secret of a sample. The engine needs the secret to draw a release."""

    key: fields.OptionalLineField = None
    """The file of the X25519 key. The default is `sealing.pem` beside the ledger's other keys."""


class PrivateSpec(Document):
    """Where sensitive relations of a dbt project may be, and who may read them."""

    schemas: Annotated[fields.Lines, fields.a_list("schemas", "as in [staging]")] = ()
    """The allowed schemas, as schema or database.schema. The gate reports a sensitive relation
    elsewhere.
    """
    roles: Annotated[fields.Lines, fields.a_list("roles", "as in [engineers]")] = ()
    """The roles that may read sensitive relations. The gate reports a grant to another role."""


def _values(found: object) -> list[object]:
    return found if isinstance(found, list) and found else [found]


SaidField = Annotated[
    frozenset[str],
    fields.kind("be text, true, false, an integer, or a list of them",
                lambda found: all(isinstance(each, str | bool | int) for each in _values(found)),
                lambda found: frozenset(str(each).lower() for each in _values(found)),
                type=["string", "boolean", "integer", "array"]),
]  # fmt: skip
"""The values of a key of meta as texts without case: true is 'true'."""


class SensitiveSpec(Document):
    """Tags and keys of a dbt project that mark sensitive data, in addition to meta.privacy."""

    tags: Annotated[
        tuple[fields.LineField, ...], fields.a_list("tags", "as in [contains_pii]")
    ] = ()
    """Tags of a source, a model, a seed, a snapshot or a column."""
    meta: Annotated[dict[str, SaidField], fields.a_mapping("key: value, or a list of values")] = (
        fields.EMPTY
    )
    """Keys of meta, each with the values that mean sensitive, such as contains_pii: true."""


class DbtSpec(Document):
    """How releases are made in a dbt project."""

    release_targets: Annotated[fields.Lines, fields.a_list("targets", "as in [prod]")] = ()
    """The targets of profiles.yml in which models are released. In other targets they are empty."""
    group: fields.OptionalLineField = None
    """The dbt group of the released models."""
    access: Annotated[str, fields.word(*ACCESS)] = "public"
    """The dbt access of the released models: who may refer to them."""
    secrets: fields.LineField = SECRETS
    """The table that keeps the secret of a sample until the draw: schema.table, or a table in the
    target's schema.
    """
    private: PrivateSpec = PrivateSpec()
    sensitive: SensitiveSpec = SensitiveSpec()


class AccountSpec(Document):
    """An account of the ledger, and its limit. Without a limit it only adds up."""

    needs = ("", "write {} for an account without a limit")

    epsilon: fields.OptionalStepField = None
    delta: fields.OptionalShareField = None
    guarantee: Annotated[str, fields.word("none")] = ""
    """``none``: the account takes releases without (ε, δ), and has no limit."""
    each: Annotated[time_models.Every | None, fields.word_of(time_models.Every)] = None
    """The length of a window. The limit is for what the releases of one window add to what was
    known before. Without this key the limit is for ever.
    """
    of: fields.OptionalLineField = None
    """The column of dates or times that says to which period a row belongs. Then the limit is for
    all that is ever told about one person's rows of one period.
    """
    joined: Annotated[str, fields.word("m-fold")] = ""
    """`m-fold`: a policy may join a table about persons, whose rows belong to no period. What m
    periods together tell about these rows can be m times the limit.
    """
    plan: time_models.PlansField = fields.EMPTY
    """For each policy, the part of a window that is planned for it."""
    rest: time_models.RestField = Decimal(0)
    """The part of ε and of δ that is kept for releases outside the plan."""
    neighbours: Annotated[fields.Neighbours, fields.word_of(fields.Neighbours)] = "add_remove"
    """Which two tables are neighbours in the plan. `add_remove`: one table has one person less.
    `replace_one`: one table has another person instead.
    """
    ever: time_models.LimitSpec | None = None
    """The ε and δ of all windows together."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        yield from time_models.window_laws(data)
        if ("epsilon" in data) != ("delta" in data):
            given, missing = ("epsilon", "delta") if "epsilon" in data else ("delta", "epsilon")
            yield refusal(f"is missing, {given} is given", "a limit has both", at=(missing,))
        if "guarantee" in data and {"epsilon", "delta"} & data.keys():
            wrong = "cannot stand beside a limit, which no release without (ε, δ) keeps"
            yield refusal(wrong, "remove one of them", at=("guarantee",), on_key=True)


_DIGEST = r"sha256:[0-9a-f]{64}"
_AND_HEX = "be sha256: and 64 hex digits,"
DigestField = Annotated[
    str, fields.a_match(_DIGEST, f"{_AND_HEX} as 'policy-engine review require' prints them")
]
BeginsField = Annotated[
    str,
    fields.a_match(
        f"({_DIGEST}|{IN_EACH_CHECKOUT})",
        f"{_AND_HEX} which the first release writes, or {IN_EACH_CHECKOUT}",
    ),
]
WitnessField = Annotated[
    str,
    fields.kind(
        "be file:PATH, git:REPOSITORY or git:REPOSITORY#NAME",
        lambda found: isinstance(found, str) and fields.is_line(found) and _WITNESS.match(found),
        type="string",
        pattern=f"^{_WITNESS.pattern}",
    ),
]


class ProjectDocument(Document):
    """The project file as it is written."""

    version: fields.VersionField = 1
    warehouses: Annotated[dict[str, WarehouseSpec], fields.a_mapping("name: warehouse")] = (
        fields.EMPTY
    )
    default: Annotated[str | None, fields.name] = None
    """The warehouse that is used if a command names none."""
    zone: time_models.ZoneField = "UTC"
    """The time zone of days and periods, such as `Europe/Berlin`."""
    ledger: fields.LineField = LEDGER
    """A file of SQLite, or a `postgresql://` URL."""
    ledger_begins: BeginsField = ""
    """SHA-256 of the first record of the project's ledger, or `in_each_checkout`."""
    witnesses: Annotated[
        tuple[WitnessField, ...], fields.a_list("places", "as in [file:/mnt/heads]")
    ] = ()
    """The places where `ledger publish` keeps the ledger's head. `ledger verify` looks there."""
    signing: SigningSpec = SigningSpec()
    sealing: SealingSpec = SealingSpec()
    dbt: DbtSpec = DbtSpec()
    accounts: Annotated[dict[str, AccountSpec], fields.a_mapping("account: limit")] = fields.EMPTY
    """The accounts that pay, by name. If one is listed, no others are allowed."""
    accounts_open: fields.FlagField = False
    """`true`: accounts that are not listed are allowed. They have no limit and only add up."""
    reviews: Annotated[dict[str, DigestField], fields.a_mapping("account: digest")] = fields.EMPTY
    """For each account whose releases are approved, the review policy that the ledger must have."""

    keep_copies_mb: Annotated[int, fields.integer(0)] = 100
    """The largest release, in MB, of which a copy is kept beside its certificate."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """Good names, and a default that is one of the warehouses."""
        warehouses, accounts = data.get("warehouses"), data.get("accounts")
        for held, under, law in (
            (warehouses, "warehouses", fields.name),
            (accounts, "accounts", fields.line),
        ):
            for key in mapping(held):
                try:
                    law(key)
                except PydanticCustomError as error:
                    wrong = f"is no name: a name {error.message()}"
                    yield refusal(wrong, at=(under, key), on_key=True)
        names = list(mapping(warehouses))
        default = data.get("default")
        if "default" not in data and len(names) > 1:
            yield refusal("is missing", f"name one of {', '.join(names)}", at=("default",))
        elif isinstance(default, str) and default not in (names or ["duckdb"]):
            wrong = f"must be one of the warehouses, found {show(default)}"
            yield refusal(wrong, suggestion(default, names or ["duckdb"]), at=("default",))
