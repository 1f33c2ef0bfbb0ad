"""A wide table on every real engine, and a printed text run there under a known secret.

The servers are those of tests/warehouse; a text is run by the product's own warehouse, which binds
the secret. ``Place.types`` are the columns that the engine has, as a claim names their types.
"""

from __future__ import annotations

import math
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from claims import COLUMNS, LABELS, READ_AS, SALT, on, utc
from meaning import Released
from meaning import released as meant

sys.path.insert(0, str(Path(__file__).parents[1] / "warehouse"))

from policy_engine.kernel.claim import Claim
from policy_engine.kernel.fragments import unit_text
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.sources import Files, People, Relation
from policy_engine.kernel.sources import Rows as OneRow
from policy_engine.kernel.types import Type

ENUM = "ENUM(" + ", ".join(f"'{label}'" for label in LABELS) + ")"
Rows = list[dict[str, Any]]


class Place(ABC):
    """An engine with the table ``people``, and its salts in ``salts``."""

    name: ClassVar[str]
    source: ClassVar[tuple[str, ...]]
    salts: ClassVar[tuple[str, ...]]
    columns: ClassVar[Mapping[str, str]]
    collated: ClassVar[frozenset[str]] = frozenset()
    quote: ClassVar[str] = '"'

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.rows: Rows = []

    @property
    def types(self) -> dict[str, Type]:
        """What the engine's catalog says of each column."""
        return {
            name: Type(kind.kind, kind.digits, kind.scale, name in self.collated)
            for name, kind in COLUMNS.items()
            if name in self.columns
        }

    def holds(self, name: str, value: Any) -> bool:
        """Whether a column of the engine can hold a value."""
        return not isinstance(value, str) or "\0" not in value

    def load(self, rows: Rows) -> None:
        """Make these rows the table, NULL for what the engine cannot hold."""
        self.rows = [
            {
                n: row[n] if row[n] is not None and self.holds(n, row[n]) else None
                for n in self.columns
            }
            for row in rows
        ]
        self._load(self.rows)

    @abstractmethod
    def _load(self, rows: Rows) -> None:
        """Make the table."""

    def claim(self, claim: Claim) -> Claim | None:
        """A drawn claim over this table."""
        return on(claim, Relation(self.source), self.types, self.salts)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The product's warehouse, which runs texts."""
        with closing(self._engine.warehouse()) as warehouse:
            yield warehouse

    def run(self, warehouse: Any, claim: Claim, text: str) -> Released:
        """The rows of a text, as Python values."""
        return values_of(self.table(warehouse, claim, text), claim)

    def table(self, warehouse: Any, claim: Claim, text: str) -> pa.Table:
        """What a text releases."""
        with warehouse.bound(SALT):
            found: pa.Table = warehouse.rows(text)
        return found

    def meant(self, claim: Claim, rows: Rows | None = None) -> Released:
        """What the reference says of the loaded rows."""
        rows = self.rows if rows is None else rows
        return as_shown(meant(claim, rows, SALT, [rows] * len(claim.joins)), claim)

    def _inserts(self, rows: Rows, size: int = 1000) -> Iterator[str]:
        mark, table = self.quote, ".".join(f"{self.quote}{p}{self.quote}" for p in self.source)
        columns = ", ".join(f"{mark}{name}{mark} {kind}" for name, kind in self.columns.items())
        yield f"DROP TABLE IF EXISTS {table}"
        yield f"CREATE TABLE {table} ({columns}){self.made}"
        for first in range(0, len(rows), size):
            lines = (
                ", ".join(map(self.literal, row.values())) for row in rows[first : first + size]
            )
            yield f"INSERT INTO {table} VALUES {', '.join(f'({line})' for line in lines)}"

    made: ClassVar[str] = ""

    def literal(self, value: Any) -> str:
        """A value as SQL."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return str(value).upper()
        text = str(value).replace("'", "''")
        return f"'{text}'"


def values_of(table: pa.Table, claim: Claim) -> Released:
    """The rows of a release, each value as Python's own, in the kind that the claim says."""
    columns = [column.to_pylist() for column in table.columns]
    return as_shown([tuple(row) for row in zip(*columns, strict=True)], claim)


def as_shown(rows: Released, claim: Claim) -> Released:
    """Decimals with all the places that are shown, so that they look as they compare."""
    first = ["integer"] if getattr(claim.law, "groupings", ()) else []
    kinds = [*first, *(shown.kind for shown in claim.columns)]
    places = [*map(len, first), *(getattr(s.recode, "scale", s.seen.scale) for s in claim.columns)]

    def plain(value: Any, place: int) -> Any:
        kind = kinds[place] if place < len(kinds) else "integer"
        if value is None:
            return None
        if kind == "decimal":
            return f"{value:.{places[place]}f}" if value else "0"
        if isinstance(value, datetime):
            return value.replace(tzinfo=None)
        if kind == "time" and isinstance(value, str):
            return time.fromisoformat(value)
        return bool(value) if kind == "boolean" else value

    return [tuple(plain(value, place) for place, value in enumerate(row)) for row in rows]


class DuckDB(Place):
    """In memory, by the embedded library alone; each kind of source and of secret."""

    name, source, salts = "duckdb", ("main", "people"), ("main", "salts")
    collated = frozenset({"folded"})
    columns: ClassVar = {
        "row": "BIGINT", "id": "BIGINT",
        "code": "VARCHAR", "who": "UUID", "whole": "BIGINT", "wide": "HUGEINT",
        "money": "DECIMAL(12, 3)", "huge": "DECIMAL(38, 10)", "real": "DOUBLE", "text": "VARCHAR",
        "folded": "VARCHAR COLLATE NOCASE", "label": ENUM, "truth": "BOOLEAN", "day": "DATE",
        "at": "TIMESTAMP", "zoned": "TIMESTAMP WITH TIME ZONE", "millis": "TIMESTAMP_MS",
        "clock": "TIME", **{f"csv_{kind}": "VARCHAR" for kind in READ_AS},
    }  # fmt: skip

    def __init__(self, engine: Any = None) -> None:
        super().__init__(engine)
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'America/New_York'")
        self._folder = Path(tempfile.mkdtemp(prefix="kernel-"))
        one, many = self._folder / "one.parquet", self._folder / "many" / "**" / "*.parquet"
        self.files = (Files(str(one)), Files(str(many), True), Files("it's.csv", kind="csv"),
                      Files('a "lake"', True, "delta"))  # fmt: skip
        self._asked = 0
        (self._folder / "many" / "whole=7").mkdir(parents=True)  # a name that is no value
        self._connection.execute("CREATE TABLE salts (release_id VARCHAR, salt VARCHAR)")
        self._connection.execute("INSERT INTO salts VALUES ('next', ?), ('other', 'x')", [SALT])

    def holds(self, name: str, value: Any) -> bool:
        return not (isinstance(value, Decimal) and value.is_nan())

    def claim(self, claim: Claim) -> Claim | None:
        """Half of the claims over the table, the others over files of each kind in turn."""
        self._asked += 1
        file = self.files[self._asked // 2 % len(self.files)]
        if self._asked % 2 or (isinstance(claim.unit, OneRow) and file.is_folder):
            return super().claim(claim)
        found = on(
            claim,
            file,
            self.types if file.kind != "parquet" else self._types_of_parquet,
            self.salts,
        )
        return found or super().claim(claim)

    @property
    def _types_of_parquet(self) -> dict[str, Type]:
        """It has neither collations nor enumerations, and no whole numbers of 128 bits."""
        own = {
            **self.types,
            "folded": Type("text"),
            "label": Type("text"),
            "millis": Type("timestamp"),
        }
        return {name: kind for name, kind in own.items() if name != "wide"}

    def literal(self, value: Any) -> str:
        if isinstance(value, str) and "\0" in value:
            return " || chr(0) || ".join(f"'{part}'" for part in value.split("\0"))
        return super().literal(value)

    def _load(self, rows: Rows) -> None:
        zoned = [row | {"zoned": row["zoned"] and utc(row["zoned"])} for row in rows]
        for statement in self._inserts(zoned):
            self._connection.execute(statement)
        for file in self.files:
            if file.kind != "parquet":
                name = file.path.replace('"', '""')
                self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS FROM people')
        one, many = self.files[0].path, self._folder / "many" / "whole=7"
        self._connection.execute(f"COPY people TO '{one}' (FORMAT parquet)")
        self._connection.execute(
            f"COPY (FROM people LIMIT 90) TO '{many / 'a.parquet'}' (FORMAT parquet)"
        )
        self._connection.execute(
            f"COPY (FROM people OFFSET 90) TO '{many / 'b.parquet'}' (FORMAT parquet)"
        )

    @contextmanager
    def opened(self) -> Iterator[Any]:
        yield self._connection

    def table(self, warehouse: Any, claim: Claim, text: str) -> pa.Table:
        if isinstance(claim.law, Keyed) and claim.law.secret is None:
            self._draw(claim, claim.law)
        asks = self._connection.extract_statements(text)[0].named_parameters
        return self._connection.sql(text, params=dict.fromkeys(asks, SALT)).to_arrow_table()

    def _draw(self, claim: Claim, law: Keyed) -> None:
        """The drawn units as a relation, as the warehouse makes one."""
        bound, source, is_keyed = f"{law.threshold:015x}", claim.source, claim.unit != OneRow()
        of_file = isinstance(source, Files) and source.kind == "parquet"
        key = "file_row_number" if of_file else "rowid"
        if isinstance(claim.unit, People):
            keys = claim.unit.keys
            key = unit_text("duckdb", keys) if keys[1:] else f'"{keys[0].name}"'
        numbers = "" if is_keyed else ", file_row_number = true"
        read = f"read_parquet('{source.path}'{numbers})" if of_file else "people"
        is_in = f"sha256('{SALT}:u:' || {key}::VARCHAR) < '{bound}'"
        drawn = f"SELECT {key} AS unit FROM {read} WHERE {is_in}"
        if not is_keyed:  # a bit a row, 4096 in a line
            drawn = (
                f"SELECT {key} // 4096 AS policy_engine_block, rpad(string_agg(({is_in})::INTEGER"
                f"::VARCHAR, '' ORDER BY {key}), 4096, '0')::BIT AS policy_engine_bits FROM {read}"
                " GROUP BY policy_engine_block"
            )
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE policy_engine_sample_{bound} AS {drawn}"
        )


class Postgres(Place):
    name, source, salts = "postgres", ("public", "people"), ("public", "salts")
    collated = frozenset({"text", "folded", "code", *(f"csv_{each}" for each in READ_AS)})
    columns: ClassVar = {
        "row": "BIGINT", "id": "BIGINT",
        "code": "TEXT", "who": "UUID", "whole": "BIGINT", "money": "NUMERIC(12, 3)",
        "huge": "NUMERIC(38, 10)", "real": "DOUBLE PRECISION", "text": "TEXT",
        "folded": 'TEXT COLLATE "C.utf8"', "label": "kernel_label", "truth": "BOOLEAN",
        "day": "DATE", "at": "TIMESTAMP", "zoned": "TIMESTAMP WITH TIME ZONE", "clock": "TIME",
**{f"csv_{each}": "TEXT" for each in READ_AS},
    }  # fmt: skip

    def _load(self, rows: Rows) -> None:
        self._engine._server.sql(
            "DROP TABLE IF EXISTS people CASCADE", "DROP TABLE IF EXISTS salts",
            "DROP TYPE IF EXISTS kernel_label", f"CREATE TYPE kernel_label AS {ENUM}",
            "CREATE TABLE salts (release_id TEXT, salt TEXT)",
            f"INSERT INTO salts VALUES ('next', '{SALT}'), ('other', 'x')",
            *self._inserts([row | {"zoned": row["zoned"] and utc(row["zoned"])} for row in rows]),
        )  # fmt: skip


class MariaDB(Place):
    name, source, salts, quote = "mariadb", ("work", "people"), ("work", "salts"), "`"
    collated = frozenset({"text", "folded", "code", *(f"csv_{each}" for each in READ_AS)})
    columns: ClassVar = {
        "row": "BIGINT", "id": "BIGINT",
        "code": "VARCHAR(200) COLLATE utf8mb4_nopad_bin", "whole": "BIGINT",
        "money": "DECIMAL(12, 3)", "huge": "DECIMAL(38, 10)", "real": "DOUBLE",
        "text": "VARCHAR(200) COLLATE utf8mb4_nopad_bin",
        "folded": "VARCHAR(200) COLLATE utf8mb4_general_ci",
        "label": "ENUM('A', 'a', 'b', 'é', '😀') COLLATE utf8mb4_nopad_bin", "truth": "BOOLEAN",
        "day": "DATE", "at": "DATETIME(6)", "zoned": "TIMESTAMP(6) NULL", "clock": "TIME(6)",
**{f"csv_{each}": "VARCHAR(200) COLLATE utf8mb4_nopad_bin" for each in READ_AS},
    }  # fmt: skip

    def holds(self, name: str, value: Any) -> bool:
        if name == "zoned":  # 1970-01-01 00:00:00 stands for no time
            return datetime(1970, 1, 1, 0, 0, 1) <= value <= datetime(2038, 1, 1)
        if isinstance(value, float | Decimal) and not math.isfinite(value):
            return False
        return super().holds(name, value) and not (name == "label" and value == "a ")

    def literal(self, value: Any) -> str:
        if isinstance(value, int | float):
            return repr(value).upper()
        text = super().literal(value)
        return text if value is None else text.replace("\\", "\\\\")

    def _load(self, rows: Rows) -> None:
        self._engine._server.sql(
            "SET time_zone = '+00:00'", "DROP TABLE IF EXISTS salts",
            "CREATE TABLE salts (release_id VARCHAR(99), salt VARCHAR(99))"
            " COLLATE utf8mb4_nopad_bin",
            f"INSERT INTO salts VALUES ('next', '{SALT}'), ('other', 'x')", *self._inserts(rows),
        )  # fmt: skip


class Spark(Place):
    name, quote = "spark", "`"
    source, salts = ("spark_catalog", "default", "people"), ("spark_catalog", "default", "salts")
    collated = frozenset({"text", "folded", "code", *(f"csv_{each}" for each in READ_AS)})
    columns: ClassVar = {
        "row": "BIGINT", "id": "BIGINT",
        "code": "STRING", "whole": "BIGINT", "money": "DECIMAL(12, 3)",
        "huge": "DECIMAL(38, 10)", "real": "DOUBLE", "text": "STRING",
        "folded": "STRING COLLATE UTF8_LCASE", "truth": "BOOLEAN", "day": "DATE",
        "at": "TIMESTAMP_NTZ", "zoned": "TIMESTAMP",
**{f"csv_{each}": "STRING" for each in READ_AS},
    }  # fmt: skip

    def holds(self, name: str, value: Any) -> bool:
        return not (isinstance(value, Decimal) and value.is_nan())

    def _load(self, rows: Rows) -> None:
        spark = self._engine._server.spark
        kinds = ", ".join(f"`{name}` {kind}" for name, kind in self.columns.items())
        read = [
            list((row | {"zoned": row["zoned"] and utc(row["zoned"])}).values()) for row in rows
        ]
        spark.sql("DROP TABLE IF EXISTS people")
        frame = spark.createDataFrame(read, kinds)
        frame.coalesce(2).write.format("parquet").saveAsTable("people")
        spark.sql("DROP TABLE IF EXISTS salts")
        spark.createDataFrame([["next", SALT], ["other", "x"]], "release_id STRING, salt STRING") \
            .coalesce(1).write.format("parquet").saveAsTable("salts")  # fmt: skip


class ClickHouse(Place):
    name, source, salts = "clickhouse", ("default", "people"), ("default", "salts")
    made = " ENGINE = MergeTree ORDER BY tuple()"
    columns: ClassVar = {
        name: f"Nullable({kind})" for name, kind in {
            "row": "Int64", "id": "Int64",
            "code": "String", "who": "UUID", "whole": "Int64", "wide": "Int128",
            "money": "Decimal(12, 3)", "huge": "Decimal(38, 10)", "real": "Float64",
            "text": "String", "folded": "String", "label": ENUM.replace("ENUM", "Enum8"),
            "truth": "Bool", "day": "Date32", "at": "DateTime64(6)",
            "zoned": "DateTime64(6, 'UTC')",
**{f"csv_{each}": "String" for each in READ_AS},
        }.items()
    }  # fmt: skip

    def holds(self, name: str, value: Any) -> bool:
        if isinstance(value, date):  # and so a datetime
            return 1900 <= value.year <= 2299
        return not (isinstance(value, Decimal) and value.is_nan())

    def literal(self, value: Any) -> str:
        if isinstance(value, int | float):
            return repr(value).lower()
        text = super().literal(value)
        return text if value is None else text.replace("\\", "\\\\").replace("\0", "\\0")

    def _load(self, rows: Rows) -> None:
        with self.opened() as warehouse:
            for statement in (
                "DROP TABLE IF EXISTS salts",
                f"CREATE TABLE salts (release_id String, salt String){self.made}",
                f"INSERT INTO salts VALUES ('next', '{SALT}'), ('other', 'x')",
                *self._inserts(rows),
                "ALTER TABLE people MODIFY COLUMN zoned Nullable(DateTime64(6, 'Europe/Berlin'))",
            ):  # fmt: skip
                warehouse._query(statement)


class DataFusion(Place):
    name, source, salts = "datafusion", ("public", "people"), ("public", "salts")
    columns: ClassVar = {
        "row": pa.int64(), "id": pa.int64(),
        "code": pa.string(), "whole": pa.int64(), "money": pa.decimal128(12, 3),
        "huge": pa.decimal128(38, 10), "real": pa.float64(), "text": pa.string(),
        "folded": pa.large_string(), "truth": pa.bool_(), "day": pa.date32(),
        "at": pa.timestamp("us"), "zoned": pa.timestamp("us", "UTC"), "clock": pa.time64("us"),
**{f"csv_{each}": pa.string() for each in READ_AS},
    }  # fmt: skip

    def holds(self, name: str, value: Any) -> bool:
        return not (isinstance(value, Decimal) and value.is_nan())

    def _load(self, rows: Rows) -> None:
        folder = self._engine._folder
        table = {n: pa.array([row[n] for row in rows], kind) for n, kind in self.columns.items()}
        pq.write_table(pa.table(table), folder / "people.parquet")
        salts = {"release_id": ["next", "other"], "salt": [SALT, "x"]}
        pq.write_table(pa.table(salts), folder / "salts.parquet")

    @contextmanager
    def opened(self) -> Iterator[Any]:
        with super().opened() as warehouse:
            for parts in (self.source, self.salts):
                warehouse._described(parts)
            yield warehouse


class SQLite(Place):
    name, source, salts, quote = "sqlite", ("main", "people"), ("main", "salts"), "`"
    collated = frozenset({"text", "folded", "code", *(f"csv_{each}" for each in READ_AS)})
    made = " STRICT"
    columns: ClassVar = {
        "row": "INTEGER", "id": "INTEGER",
        "code": "TEXT", "whole": "INTEGER", "real": "REAL", "text": "TEXT",
        "folded": "TEXT COLLATE NOCASE",
    }  # fmt: skip

    def holds(self, name: str, value: Any) -> bool:
        # A text with a NUL has no first characters there; see Prefix.
        is_nan = isinstance(value, float) and math.isnan(value)
        return not is_nan and (name == "code" or super().holds(name, value))

    def _load(self, rows: Rows) -> None:
        import sqlite3

        with closing(sqlite3.connect(self._engine._file)) as connection, connection:
            for statement in self._inserts([]):
                connection.execute(statement)
            marks = ", ".join("?" * len(self.columns))
            connection.executemany(f"INSERT INTO people VALUES ({marks})",
                                   [list(row.values()) for row in rows])  # fmt: skip
            connection.execute("DROP TABLE IF EXISTS salts")
            connection.execute("CREATE TABLE salts (release_id TEXT, salt TEXT) STRICT")
            connection.execute(f"INSERT INTO salts VALUES ('next', '{SALT}'), ('other', 'x')")


PLACES: dict[str, type[Place]] = {
    place.name: place
    for place in (DuckDB, Postgres, MariaDB, Spark, ClickHouse, DataFusion, SQLite)
}
NAMES = [
    pytest.param(name, marks=pytest.mark.evidence) if name == "spark" else name for name in PLACES
]
"""The engines, for a test of each."""
