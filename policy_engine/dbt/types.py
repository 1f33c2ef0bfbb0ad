"""Types of columns: of the source, from wherever they are known, and of the release, by engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError

from policy_engine.compile.catalog import KEPT_AS_TEXT, TIMES, Column, Kind, Table
from policy_engine.compile.reading import read_columns
from policy_engine.dbt.asking import shown_columns
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.runner import Dbt
from policy_engine.dbt.sources import SourceNode
from policy_engine.dbt.targets import Target, Targets, warehouse_of
from policy_engine.dialects import Engine
from policy_engine.engines.types import told, type_of
from policy_engine.errors import PolicyEngineError, WarehouseError
from policy_engine.policy.recodings import Constant, Keep, Recoding, Round, Truncate
from policy_engine.policy.resolve import Policy, Source
from policy_engine.warehouse.profiles import is_connected_to


@dataclass(frozen=True)
class Columns:
    """The columns of a source: each name with its type as the engine writes it.

    ``missing`` are those that were asked for and that nobody knows, ``failures`` why one that may
    know them could not be asked.
    """

    types: Mapping[str, str]
    missing: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    def native(self, name: str) -> str:
        """The type of a column, as the engine writes it."""
        folded = {known.lower(): kind for known, kind in self.types.items()}
        return self.types.get(name) or folded.get(name.lower(), "")


def needed(policy: Policy) -> tuple[str, ...]:
    """The columns whose types a policy's text depends on, each once."""
    source = policy.source
    named = [name for name, recoding in policy.recodings if not isinstance(recoding, Constant)]
    named += [source.key] if source.key else []
    named += [name for name, _ in (*source.order_by, *source.columns)]
    named += policy.reads_beside
    return tuple(dict.fromkeys(named))


@dataclass(frozen=True)
class Known:
    """Where the types of columns are looked up: the project, dbt's catalog, the warehouse, dbt."""

    project: DbtProject
    targets: Targets | None = None
    target: Target | None = None
    notes: list[str] = field(default_factory=list)

    def columns(
        self, node: SourceNode, wanted: Iterable[str], twin: Callable[[], SourceNode | None]
    ) -> Columns:
        """The types of a node's columns: as declared, else as the catalog or warehouse has them.

        Only what is still missing is asked of the next: nothing is connected to for nothing.
        ``twin`` is the node as the manifest has it.
        """
        found: dict[str, str] = {}
        failures: list[str] = []
        wanted = tuple(wanted)
        for ask in self._who_may_know(node, twin):
            try:
                told = ask()
            except PolicyEngineError as error:
                failures.append(str(error))
                continue
            declared = {name.lower() for name in found}
            found |= {name: kind for name, kind in told.items() if name.lower() not in declared}
            if not _missing(found, wanted):
                break
        return Columns(found, tuple(_missing(found, wanted)), tuple(failures))

    def _who_may_know(
        self, node: SourceNode, twin: Callable[[], SourceNode | None]
    ) -> Iterator[Callable[[], Mapping[str, str]]]:
        """Those who may know a node's columns; each is asked in its turn."""
        adapter = self.target.adapter if self.target is not None else ""
        yield lambda: spelled(node, adapter)
        known = twin()
        if known is not None:
            yield lambda: spelled(known, adapter)
        yield lambda: self._catalogued(node)
        if self.targets is None or self.target is None:
            return
        room = _Room(self.project, self.targets, self.target)
        yield lambda: room.columns(node, known or node)
        # Where 'init' has read it: the source is often built there first.
        other = self.targets.known.get(self.targets.default)
        if other not in (None, self.target) and other.adapter == adapter:
            yield lambda: self._elsewhere(other, node)

    def _elsewhere(self, target: Target, node: SourceNode) -> Mapping[str, str]:
        """The types of a node in another target, which may be others than where it is released."""
        assert self.targets is not None
        # The manifest names the relation of one target; by its schema it is found in the other.
        found = _Room(self.project, self.targets, target).columns(node, node)
        self.notes.append(
            f"{node.label} is not built in the target releases are written for: its types are those"
            f" of the target {target.name}; the release is refused where they are others"
        )
        return found

    @cached_property
    def _catalog(self) -> Mapping[str, Any]:
        try:
            document = json.loads(self.project.catalog.read_bytes())
            return {**document.get("nodes", {}), **document.get("sources", {})}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def _catalogued(self, node: SourceNode) -> dict[str, str]:
        entry = self._catalog.get(node.id)
        columns = entry.get("columns") if isinstance(entry, dict) else None
        found = columns.values() if isinstance(columns, dict) else ()
        return {
            str(column["name"]): str(column["type"])
            for column in found
            if isinstance(column, dict) and column.get("name") and column.get("type")
        }


def spelled(node: SourceNode, adapter: str) -> Mapping[str, str]:
    """The types that the project declares, each column's name as the engine has it."""
    folds = adapter == "snowflake"
    return {
        name.upper() if folds and name not in node.quoted else name: kind
        for name, kind in (node.types or {}).items()
    }


@dataclass(frozen=True)
class _Room:
    """A target of a project's, and the two ways to its warehouse."""

    project: DbtProject
    targets: Targets
    target: Target

    def columns(self, node: SourceNode, twin: SourceNode) -> Mapping[str, str]:
        """The columns of the node's table, which its twin in the manifest names best.

        Raises:
            PolicyEngineError: neither way has them.
        """
        try:
            return self._asked(twin)
        except PolicyEngineError as error:
            # A model that does not stand yet has no columns: dbt, slow to start, is not asked.
            if node.kind != "source" and is_connected_to(self.target.adapter):
                raise
            first = error
        try:
            return self._shown(node)
        except PolicyEngineError as error:
            raise WarehouseError(f"{first}; {error}") from None

    def _asked(self, node: SourceNode) -> Mapping[str, str]:
        """By a connection of ours."""
        from policy_engine.warehouse.connecting import connected

        schema = self.target.schema
        name = node.relation[-1] if node.relation else node.name
        parts = node.relation if len(node.relation) > 1 else ((schema, name) if schema else (name,))
        named = warehouse_of(self.project, self.targets, self.target.name)
        with closing(connected(named)) as warehouse:
            table = warehouse.table(Source(None, ".".join(parts)), self.project.directory)
        return {column.name: _written(column.type, warehouse.dialect) for column in table.columns}

    def _shown(self, node: SourceNode) -> Mapping[str, str]:
        """By dbt's own connection."""
        dbt = Dbt(self.project.directory, self.targets.file.parent, self.target.name)
        return shown_columns(dbt, node, self.target.adapter)


_NATIVE = {"postgres": {"DOUBLE": "double precision", "FLOAT": "real"}}


def _written(kind: str, dialect: Engine) -> str:
    """A type as the engine writes it, of the name that a connection gives it."""
    found = _NATIVE.get(dialect.name, {}).get(kind, kind)
    return found.removeprefix("OTHER ").lower() if kind.startswith("OTHER ") else found


def _missing(found: Mapping[str, str], wanted: Iterable[str]) -> list[str]:
    known = {name.lower() for name in found}
    return [name for name in wanted if name.lower() not in known]


def table_of(columns: Columns, dialect: Engine, parts: tuple[str, ...]) -> Table:
    """The source as the compiler and the kernel see it."""
    found = (Column(name, kernel_type(kind, dialect)) for name, kind in columns.types.items())
    return Table(tuple(found), parts=parts)


_INTEGERS = ("int", "integer", "bigint", "smallint", "tinyint")
_ALIASES: Mapping[str, Mapping[str, str]] = {
    "snowflake": {
        **dict.fromkeys((*_INTEGERS, "byteint", "number"), "number(38,0)"),
        **dict.fromkeys(("string", "char", "character"), "varchar"),
        **dict.fromkeys(("double", "double precision", "real", "float4", "float8"), "float"),
        "datetime": "timestamp_ntz",
    },
    "bigquery": {
        **dict.fromkeys((*_INTEGERS, "byteint"), "int64"),
        **dict.fromkeys(("boolean",), "bool"),
        **dict.fromkeys(("decimal",), "numeric"),
    },
    "redshift": {"int2": "smallint", "int": "integer", "int4": "integer", "int8": "bigint",
                 "bool": "boolean", "decimal": "numeric",
                 "timestamp": "timestamp without time zone",
                 "timestamptz": "timestamp with time zone"},
    "postgres": {"bool": "boolean", "string": "text"},
    "trino": {"int": "integer", "timestamp": "timestamp(3)"},
}  # fmt: skip


def kernel_type(native: str, dialect: Engine) -> str:
    """The kernel's name of a type that a project, a catalog or a warehouse names.

    >>> from policy_engine.dialects import dialect_named
    >>> kernel_type("character varying(20)", dialect_named("postgres"))
    'VARCHAR'
    >>> kernel_type("int8", dialect_named("duckdb")), kernel_type("what", dialect_named("duckdb"))
    ('BIGINT', 'OTHER WHAT')
    """
    if dialect.name == "duckdb":
        return _of_duckdb(native)
    if native.upper().startswith("ENUM("):
        return native
    plain = " ".join(native.lower().split())
    meaning = type_of(dialect.name, _ALIASES.get(dialect.name, {}).get(plain, native))
    return told(dialect.name, meaning)


_DUCKDB = {
    "INT": "INTEGER",
    "INT128": "HUGEINT",
    "REAL": "FLOAT",
    "TEXT": "VARCHAR",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "UINT128": "UHUGEINT",
}


def _of_duckdb(native: str) -> str:
    collated = native.upper().partition(" COLLATE ")
    try:
        built = exp.DataType.build(native[: len(collated[0])], dialect="duckdb", udt=False)
    except (ParseError, ValueError):
        return f"OTHER {native.upper()}"
    known = built.sql("duckdb")
    name = known if known.upper().startswith("ENUM") else known.upper()
    name = _DUCKDB.get(name, name)
    return name + collated[1] + collated[2]


TEXT, WHOLE, DECIMAL, DAY = "text", "whole", "decimal", "day"
MOMENT, TRUTH, DOUBLE = "moment", "truth", "double"
_STANDARD = {
    TEXT: "varchar", WHOLE: "bigint", DECIMAL: "decimal(18, {})", DAY: "date",
    MOMENT: "timestamp", TRUTH: "boolean", DOUBLE: "double",
}  # fmt: skip
_OWN: Mapping[str, Mapping[str, str]] = {
    "postgres": {TEXT: "text", DECIMAL: "numeric(18, {})", DOUBLE: "double precision"},
    "redshift": {TEXT: "varchar(max)", DECIMAL: "numeric(18, {})", DOUBLE: "double precision"},
    "snowflake": {DECIMAL: "number(18, {})", MOMENT: "timestamp_ntz", DOUBLE: "float"},
    "bigquery": {
        TEXT: "string", WHOLE: "int64", DECIMAL: "numeric", MOMENT: "datetime", TRUTH: "bool",
        DOUBLE: "float64",
    },
    "spark": {TEXT: "string", MOMENT: "timestamp_ntz"},
    "databricks": {TEXT: "string", MOMENT: "timestamp_ntz"},
    "trino": {MOMENT: "timestamp(6)"},
    "mysql": {TEXT: "text", MOMENT: "datetime(6)", TRUTH: "tinyint(1)"},
    "mariadb": {TEXT: "text", MOMENT: "datetime(6)", TRUTH: "tinyint(1)"},
    "tsql": {TEXT: "varchar(max)", MOMENT: "datetime2", TRUTH: "bit", DOUBLE: "float"},
    "clickhouse": {
        TEXT: "String", WHOLE: "Int64", DECIMAL: "Decimal(18, {})", DAY: "Date32",
        MOMENT: "DateTime64(6, 'UTC')", TRUTH: "Bool", DOUBLE: "Float64",
    },
    "sqlite": {TEXT: "text", WHOLE: "integer", DECIMAL: "numeric"},
}  # fmt: skip
_DECLARED = {"BIGINT": WHOLE, "DOUBLE": DOUBLE, "TEXT": TEXT, "BOOLEAN": TRUTH, "DATE": DAY,
             "TIMESTAMP": MOMENT}  # fmt: skip


def engine_type(kind: str, dialect: Engine, digits: int = 0) -> str:
    """A type that a recoding releases, as the engine writes it."""
    return _OWN.get(dialect.name, {}).get(kind, _STANDARD[kind]).format(digits)


def released_types(
    policy: Policy, columns: Columns, table: Table, dialect: Engine
) -> dict[str, str]:
    """The type of every released column, the count's last, as the engine writes it."""
    read = read_columns(policy, table)
    found = {}
    for name, recoding in policy.recodings:
        column = read.get(name)
        kind = column.column.kind if column is not None else Kind.TEXT
        own = columns.native(column.source.name) if column is not None else ""
        declared = column.declared if column is not None else None
        found[name] = _released(recoding, kind, own, declared, dialect)
    if policy.release.form == "counts":
        found[policy.release.count_as] = engine_type(WHOLE, dialect)
    return found


def _released(
    recoding: Recoding, kind: Kind, own: str, declared: str | None, dialect: Engine
) -> str:
    match recoding:
        case Keep() if declared is not None:
            return engine_type(_DECLARED[declared], dialect)
        case Keep() if kind in TIMES:
            return own if kind is Kind.TIMESTAMP else engine_type(MOMENT, dialect)
        case Keep() if kind not in KEPT_AS_TEXT:
            return own.partition(" COLLATE ")[0]
        case Truncate():
            return engine_type(DAY if kind is Kind.DATE else MOMENT, dialect)
        case Round():
            digits = recoding.scale
            whole = kind is Kind.INTEGER and not digits
            return engine_type(WHOLE if whole else DECIMAL, dialect, digits)
        case _:
            return engine_type(TEXT, dialect)
