"""The ledger in a PostgreSQL database: one advisory lock for writers, and no wait without an end.

The table lies in a schema of its own, ``policy_engine``. Its owner makes it; whoever writes needs
SELECT and INSERT only, and can neither change a record nor switch the triggers off.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Generator, Mapping
from contextlib import suppress
from threading import Timer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import psycopg
from psycopg.conninfo import make_conninfo

from policy_engine.errors import Code, LedgerError, NoLedger
from policy_engine.ledger import records
from policy_engine.ledger.chain import GENESIS, Record

_SCHEMA = "policy_engine"
_LOCK = 0x504F4C454C454447  # "POLELEDG": advisory locks are numbers, one space for a database
_GRACE = 30.0
"""Seconds that any answer of the server may take, beside the time spent waiting for a lock."""
_IDLE = 60.0
"""Seconds after which the server ends a transaction whose client says nothing more."""

_ABOUT = "policy-engine ledger, schema version"
_REFUSE = f"begin raise exception '{records.REFUSED}' using errcode = 'restrict_violation'; end"
_EXTEND = f"""
    declare last record;
    begin
      select seq, hash into last from {_SCHEMA}.records order by seq desc limit 1;
      if new.seq is distinct from coalesce(last.seq, 0) + 1
      or new.previous_hash is distinct from coalesce(last.hash, '{GENESIS}') then
        raise exception '{records.REFUSED}' using errcode = 'restrict_violation';
      end if;
      return new;
    end"""
_PATH = "search_path=pg_catalog, pg_temp"  # fixed: no operator of a writer's own is called
_TABLE = (f"create schema if not exists {_SCHEMA}", records.ddl(f"{_SCHEMA}.records", "BIGINT"))
_DDL = (
    f"""create function {_SCHEMA}.refuse() returns trigger language plpgsql
    set {_PATH} as $${_REFUSE}$$""",
    f"""create function {_SCHEMA}.extend() returns trigger language plpgsql
    set {_PATH} as $${_EXTEND}$$""",
    f"""create trigger records_are_never_changed before update or delete on {_SCHEMA}.records
    for each row execute function {_SCHEMA}.refuse()""",
    f"""create trigger records_are_never_emptied before truncate on {_SCHEMA}.records
    for each statement execute function {_SCHEMA}.refuse()""",
    f"""create trigger records_extend_the_chain before insert on {_SCHEMA}.records
    for each row execute function {_SCHEMA}.extend()""",
    f"comment on table {_SCHEMA}.records is '{_ABOUT} {records.SCHEMA_VERSION}'",
)
# The catalogue may be read by whoever has no right to the schema.
_LOOK = f"""
select c.oid is not null, obj_description(c.oid, 'pg_class'), current_setting('fsync')
from (select 1) as one left join pg_class as c
  on c.relname = 'records'
  and c.relnamespace = (select oid from pg_namespace where nspname = '{_SCHEMA}')
"""
# What decides what is read and written; this too may be read by all.
_MADE = f"""
with r as (select c.* from pg_class as c join pg_namespace as n on n.oid = relnamespace
  where relname = 'records' and nspname = '{_SCHEMA}')
select 'table', 'records', concat_ws(' ', relkind, relpersistence, relrowsecurity) from r
union all
select 'column', attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull)
  from pg_attribute, r where attrelid = r.oid and attnum > 0 and not attisdropped
union all
select 'index', i.relname, concat_ws(' ', pg_get_indexdef(i.oid), indisvalid)
  from pg_index, pg_class as i, r where indrelid = r.oid and i.oid = indexrelid
union all
select 'trigger', tgname, concat_ws(' ', tgtype, tgenabled, tgqual, nullif(tgattr::text, ''),
    nullif(tgnargs, 0), lanname, case when prosecdef then 'definer' end, p.proconfig, p.prosrc)
  from pg_trigger, pg_proc as p, pg_language as l, r
  where tgrelid = r.oid and not tgisinternal and p.oid = tgfoid and l.oid = prolang
union all
select 'rule', rulename, '' from pg_rewrite, r where ev_class = r.oid
union all
select 'child', c.relname, '' from pg_inherits, pg_class as c, r
  where inhparent = r.oid and c.oid = inhrelid
"""
_TYPES = {"seq": "bigint", "entry": "bigint"}
_ON = f"ON {_SCHEMA}.records USING btree"
_REFUSES, _EXTENDS = (f'O plpgsql {{"{_PATH}"}} {body}' for body in (_REFUSE, _EXTEND))
_WANTED: records.Made = frozenset(
    {
        ("table", "records", "r p f"),
        *(("column", name, f"{_TYPES.get(name, 'text')} t") for name in records.COLUMNS),
        ("index", "records_pkey", f"CREATE UNIQUE INDEX records_pkey {_ON} (seq) t"),
        # Of a row or statement, before; and of which acts: the bits of pg_trigger.tgtype. Without
        # a condition, or columns of its own.
        ("trigger", "records_are_never_changed", f"27 {_REFUSES}"),
        ("trigger", "records_are_never_emptied", f"34 {_REFUSES}"),
        ("trigger", "records_extend_the_chain", f"7 {_EXTENDS}"),
    }
)
_SETTINGS: Final[Mapping[str, str | int]] = {
    "application_name": "policy-engine",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""Of a connection whose URL says nothing else."""
_UNREACHED = "see that the server runs and is reached, and try again"
_FAILURES: Final = {
    "55P03": records.LOCKED,
    "25P03": "the server ended a write that stood still for too long; try again",
    "25006": "the server is read-only, perhaps a standby; name the one that is written to",
    "28000": "the server lets no such user in; see the URL's user and pg_hba.conf",
    "28P01": "the password is wrong; set PGPASSWORD, or see ~/.pgpass",
    "3D000": "there is no such database; see the URL's last part, or create it",
    "42501": "the user lacks a right to the ledger; its owner grants usage on schema policy_engine "
    "and select, insert on policy_engine.records",
    "53100": "the server's disk is full; free some space and try again",
    "57014": "the server cancelled a query; see its statement_timeout, and try again",
    "23001": f"the ledger failed: {records.REFUSED}",
    "23505": f"the ledger failed: {records.REFUSED}",
}
_CODES: Final[Mapping[str, Code]] = {
    "28000": "no_right",
    "28P01": "no_right",
    "42501": "no_right",
    "53100": "disk_full",
    "55P03": "ledger_locked",
}
_PLACE_OF_PASSWORD = re.compile(r"[/?#@]")


class PostgresStore(records.Records):
    """A database that holds, or will hold, one ledger.

    The URL is libpq's, ``postgresql://user@host:port/database?option=value``; what it leaves out
    comes from libpq's environment variables and password file.
    """

    table = f"{_SCHEMA}.records"
    mark = "%s"
    errors = (psycopg.Error,)

    def __init__(self, url: str, wait: float) -> None:
        """Name the database; ``wait`` is how many seconds to wait for another writer."""
        super().__init__()
        self.where, self._options, self._secrets = _parsed(url)
        self._conninfo, self._wait = f"postgresql://{url.partition('://')[2]}", wait

    def open(self, create: bool) -> None:
        """See that there is a ledger of this version on a durable server, or make one."""
        if self.reading(self._look):
            self._check()
            return
        if not create:
            raise NoLedger(f"{self.where}: there is no ledger here; check the URL{records.IF_NEW}")
        with self._begun(writes=True) as connection:
            if not self._look(connection):  # nobody was faster
                for statement in (*_TABLE, *_DDL):
                    connection.execute(statement)
                connection.commit()

    def _check(self) -> None:
        rows = self.reading(lambda connection: connection.execute(_MADE).fetchall())
        self._check_made(
            frozenset((str(k), str(name), str(told)) for k, name, told in rows), _WANTED
        )

    def _was_recorded(self, record: Record) -> bool:
        """Whether a commit whose answer was lost has been made after all.

        The lock is free only once that transaction has ended, one way or the other.
        """
        text = f"select hash from {self.table} where seq = %s"
        try:
            with self._begun(writes=True) as connection:
                found: list[Any] = connection.execute(text, (record.seq,)).fetchall()
                return found == [(record.hash,)]
        except psycopg.Error as error:
            raise LedgerError(
                f"{self.where}: the server was lost while it recorded, so that it is not known "
                "whether the ledger holds it: it may be charged, so do not release; "
                "see 'policy-engine ledger show' when the server is back"
            ) from error

    def explain(self, error: Exception) -> str:
        """What went wrong, by the code the server gives it."""
        code = getattr(error, "sqlstate", None) or ""
        if code in _FAILURES:
            return _FAILURES[code]
        lines = str(error).strip().splitlines() or [type(error).__name__]
        said = lines[0]
        for secret in self._secrets:
            said = said.replace(secret, "***")
        if isinstance(error, psycopg.OperationalError):
            return f"the connection to the server failed: {said}; {_UNREACHED}"
        return f"the ledger failed: {said}; see the server's log"

    def code_of(self, error: Exception) -> Code | None:
        """Its cause, by the code the server gives it."""
        return _CODES.get(getattr(error, "sqlstate", None) or "")

    def _connect(self) -> records.Connection:
        unsaid = {name: value for name, value in _SETTINGS.items() if name not in self._options}
        connection = _Bounded.connect(
            make_conninfo(self._conninfo, **unsaid),
            client_encoding="utf8",
            prepare_threshold=None,  # so that a pooler may stand in between
        )
        connection.patience = self._wait + _GRACE
        # The snapshot of another level is older than the lock that was waited for.
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        return connection

    def _is_alive(self, connection: records.Connection) -> bool:
        with suppress(psycopg.Error):
            connection.execute("select 1")
            return True
        return False

    def _begin(self, connection: records.Connection, writes: bool) -> None:
        if not writes:
            return
        limits = {
            "lock_timeout": max(1, int(self._wait * 1000)),  # 0 would be for ever
            "idle_in_transaction_session_timeout": int(_IDLE * 1000),
            "synchronous_commit": "on",
        }
        settings = ", ".join(f"set_config('{n}', '{v}', true)" for n, v in limits.items())
        connection.execute(f"select {settings}")
        connection.execute(f"select pg_advisory_xact_lock({_LOCK})")

    def _look(self, connection: records.Connection) -> bool:
        there, about, fsync = connection.execute(_LOOK).fetchone()
        if fsync != "on":
            raise LedgerError(
                f"{self.where}: the server runs with fsync = off, so a power cut can forget what "
                "was charged; set it to on"
            )
        if not there:
            return False
        version = re.fullmatch(rf"{_ABOUT} (\d+)", about or "", re.ASCII)
        if version is None:
            found = records.NO_LEDGER.format(kind="table", place="database")
            raise LedgerError(f"{self.where}: {_SCHEMA}.records is {found}")
        self._check_version(int(version[1]))
        return True


class _Bounded(psycopg.Connection[Any]):
    """A connection that is cut when an answer takes too long: a hung server says nothing."""

    patience = _GRACE

    def wait(self, gen: Generator[Any, Any, records.T], *args: Any, **options: Any) -> records.T:
        """Wait for the server, and for no longer than ``patience`` seconds."""
        watchdog = Timer(self.patience, _cut, (self.pgconn.socket,))
        watchdog.daemon = True
        watchdog.start()
        try:
            return super().wait(gen, *args, **options)
        finally:
            watchdog.cancel()


def _cut(descriptor: int) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as line:
        line.shutdown(socket.SHUT_RDWR)


def _parsed(url: str) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """A URL as messages show it, the options that it names, and its secrets.

    No password is shown, and of the options only where the server is; nor does an error show any.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in {"postgresql", "postgresql+psycopg"}:
        raise LedgerError(
            f"a ledger of the kind {scheme!r} is not known; name the path of a file, or "
            "postgresql://user@host/database"
        )
    user, at, place = rest.rpartition("@")
    if at and (_PLACE_OF_PASSWORD.search(user) or "@" in place):
        raise LedgerError(
            "the ledger's URL has one of @ / ? # in its user or password; write them as %40, %2F, "
            "%3F, %23, or leave the password to PGPASSWORD or ~/.pgpass"
        )
    try:
        options = dict(parse_qsl(urlsplit(url).query))
        _ = urlsplit(url).port
    except ValueError:
        raise LedgerError(
            "the ledger's URL cannot be read; write postgresql://user@host:port/database"
        ) from None
    name, _, password = user.partition(":")
    where = urlencode([(key, options[key]) for key in ("host", "port") if key in options])
    shown = f"postgresql://{name}{at}{place.partition('?')[0]}{where and f'?{where}'}"
    secrets = (unquote(password), options.get("password"), options.get("sslpassword"))
    return shown, frozenset(options), tuple(filter(None, secrets))
