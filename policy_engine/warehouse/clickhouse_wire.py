"""How a query reaches ClickHouse: an engine in this process, or a server's HTTP interface.

Both take the parameters beside the text, and the settings with every query: what a profile, a user
or another session has set does not reach it.
"""

from __future__ import annotations

import io
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any, cast
from urllib.parse import unquote, urlencode, urlsplit

import pyarrow as pa

from policy_engine.errors import WarehouseError, to_install
from policy_engine.warehouse import failures

SETTINGS = {
    # What a text means.
    "session_timezone": "UTC",
    "prefer_column_name_to_alias": "1",
    "join_use_nulls": "1",
    "cast_keep_nullable": "0",
    "data_type_default_nullable": "0",
    "transform_null_in": "0",
    "group_by_use_nulls": "0",
    "aggregate_functions_null_for_empty": "0",
    "enable_positional_arguments": "0",
    "decimal_check_overflow": "1",
    "short_circuit_function_evaluation": "enable",
    "default_table_engine": "MergeTree",
    # Whether every row is read, and every group returned.
    "additional_table_filters": "{}",
    "additional_result_filter": "",
    "apply_deleted_mask": "1",
    "final": "0",
    "limit": "0",
    "offset": "0",
    "extremes": "0",
    **{
        f"{each}_overflow_mode": "throw"
        for each in ("read", "group_by", "sort", "result", "timeout", "set", "distinct", "transfer")
    },
    # What is kept of it.
    "log_queries": "0",
    "use_query_cache": "0",
    "use_query_condition_cache": "0",
    "query_plan_max_optimizations_to_apply": "1000000",  # long lists of keys are unions
    "output_format_arrow_string_as_string": "1",
}
"""Settings that each query is run with."""


_LOST = -1
_DENIED = "the user may not do this; see the grants of the user"
TOLD = {
    497: _DENIED, 164: _DENIED, 241: failures.OUT_OF_MEMORY, 243: failures.NO_SPACE,
    57: failures.TAKEN, _LOST: failures.LOST,
}  # fmt: skip
"""What may be said of a failure, by its number."""


class EngineError(Exception):
    """A failure of the engine by its number, without its message, which may quote data."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


class Embedded:
    """The engine in this process, over a folder; one folder at a time, says its maker."""

    def __init__(self, name: str, folder: Path | None) -> None:
        try:
            # Imported on use: a server needs no engine of half a gigabyte.
            from chdb.session import Session

            self._session: Any = cast(Any, Session)(str(folder) if folder is not None else None)
        except ImportError:
            raise WarehouseError(
                f"warehouse {name}: the embedded engine is not installed; run"
                f" {to_install('clickhouse')}"
            ) from None
        except Exception:
            raise WarehouseError(
                f"warehouse {name}: ClickHouse cannot open the folder {folder}; another process or"
                " another folder of this one may be in use"
            ) from None
        self._run("SET " + ", ".join(f"{name} = '{value}'" for name, value in SETTINGS.items()))

    def query(self, sql: str, values: Mapping[str, str]) -> pa.Table:
        """The rows of a query."""
        return _table(self._run(sql, values))

    def _run(self, sql: str, values: Mapping[str, str] | None = None) -> bytes:
        try:
            found: bytes = self._session.query(sql, "Arrow", params=dict(values or {})).bytes()
        except RuntimeError as error:
            code = re.search(r"Code: (\d+)", str(error))
            # A logger may follow the context of the error that is raised instead.
            error.args = ()
            self._drain()
            raise EngineError(int(code[1]) if code else 0) from None
        return found

    def _drain(self) -> None:
        """Take what a query that failed had written: it would stand before the next one's rows.

        Measured with chdb 4.4: the rows of the next result, of whatever query, begin with it.
        """
        for _ in range(3):
            try:
                if self._session.query("SELECT 1", "TSV").bytes() == b"1\n":
                    return
            except RuntimeError:
                continue
        raise EngineError(_LOST)

    def close(self) -> None:
        """Close the folder."""
        self._session.close()


class Http:
    """A server by its URL, ``http://user:password@host:8123/database``."""

    def __init__(self, name: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise WarehouseError(
                f"warehouse {name}: the url must be of ClickHouse's HTTP interface, as in"
                " https://user@host:8443/database"
            )
        database = parts.path.strip("/") or "default"
        query = urlencode({
            **SETTINGS, "database": database, "default_format": "Arrow", "wait_end_of_query": "1",
        })  # fmt: skip
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        self._url = f"{parts.scheme}://{host}/?{query}"
        self._headers = {
            "X-ClickHouse-User": unquote(parts.username or "default"),
            "X-ClickHouse-Key": unquote(parts.password or ""),
        }

    def query(self, sql: str, values: Mapping[str, str]) -> pa.Table:
        """The rows of a query; parameters are parts of the body, so that no URL is logged with one.

        https://clickhouse.com/docs/interfaces/http#cli-queries-with-parameters
        """
        mark = token_hex(16)
        fields = {"query": sql, **{f"param_{name}": value for name, value in values.items()}}
        body = "".join(
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        request = urllib.request.Request(
            self._url, f"{body}--{mark}--\r\n".encode(), {**self._headers, **kind}
        )
        try:
            with urllib.request.urlopen(request) as answer:
                return _table(answer.read())
        except urllib.error.HTTPError as error:
            raise EngineError(int(error.headers.get("X-ClickHouse-Exception-Code", 0))) from None
        except OSError:
            raise EngineError(_LOST) from None

    def close(self) -> None:
        """Nothing to end: each query is a connection."""


def _table(sent: bytes) -> pa.Table:
    return pa.ipc.open_file(io.BytesIO(sent)).read_all() if sent else pa.table({})
