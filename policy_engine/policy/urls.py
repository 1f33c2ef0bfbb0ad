"""The law of a warehouse's URL, by the kind of the warehouse: what its driver can take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit

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
_SPARK = ("local", "spark://", "yarn", "k8s://", "sc://")
ENCODE = "a sign in a user or password that is no letter or digit is written as %40"


@dataclass(frozen=True)
class _Law:
    example: str
    schemes: tuple[str, ...]
    options: frozenset[str] = frozenset()
    needs: Callable[[SplitResult], object] = lambda parts: True


_LAWS: Mapping[str, _Law] = {
    "postgres": _Law("postgresql://user@host/database", ("postgresql", "postgres"), _LIBPQ),
    "mariadb": _Law(
        "mariadb://user@host:3306/database",
        ("mariadb", "mysql"),
        frozenset({"socket", "ssl_ca"}),
        lambda parts: parts.hostname and parts.username,
    ),
    "clickhouse": _Law(
        "https://user@host:8443/database", ("http", "https"), needs=lambda parts: parts.hostname
    ),
}


def example_of(kind: str) -> str:
    """A URL of a warehouse of a kind.

    >>> example_of("spark")
    'spark://host:7077'
    """
    return _LAWS[kind].example if kind in _LAWS else "spark://host:7077"


def wrong_url(kind: str, url: str) -> tuple[str, str] | None:
    """What is wrong with a URL, and what would be right; the URL, which may hold a password, is
    in neither.

    >>> wrong_url("postgres", "psql://ann@db/work")[0]
    'must begin with postgresql:// or postgres://'
    """
    as_in = f"as in {example_of(kind)}"
    if kind == "spark":
        right = url.startswith(_SPARK)
        return None if right else ("must be a master of Spark or sc://host", as_in)
    law = _LAWS[kind]
    if kind == "postgres" and "://" not in url and "=" in url:
        return None  # a connection string of libpq, which its driver reads
    scheme = url.partition("://")[0]
    if scheme not in law.schemes or "://" not in url:
        return f"must begin with {' or '.join(f'{each}://' for each in law.schemes)}", as_in
    return _wrong_parts(law, url, as_in)


def _wrong_parts(law: _Law, url: str, as_in: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
        _ = parts.port if "," not in parts.netloc else 0
        options = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        return "cannot be read", f"{ENCODE}; {as_in}"
    if parts.netloc.count("@") > 1 or "@" in parts.path or parts.fragment:
        return "cannot be read", f"{ENCODE}; {as_in}"
    if not law.needs(parts):
        return f"must be {as_in}", ""
    unknown = next((name for name in options if name not in law.options), None)
    if unknown is None:
        return None
    known = ", ".join(sorted(law.options)) if len(law.options) < 9 else "those of libpq"
    return "has an option behind ? that is not known", f"known: {known or 'none'}"
