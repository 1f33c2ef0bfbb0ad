"""Types of columns: of the source as the kernel names them, and of the release, by engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import ParseError

from policy_engine.compile.catalog import KEPT_AS_TEXT, TIMES, Field, Kind, Table
from policy_engine.compile.reading import read_columns
from policy_engine.dialects import Engine
from policy_engine.engines.sql_rules import EngineRules, rules_of
from policy_engine.engines.types import DECLARED, told, type_of
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.types import Type, places_of
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen


@frozen
class Columns:
    """The columns of a source: each name with its type as the engine writes it.

    ``missing`` are those that were asked for and that nobody knows, ``failures`` why one that may
    know them could not be asked.
    """

    types: Mapping[str, str]
    missing: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def needed(policy: Policy) -> tuple[tuple[str, ...], ...]:
    """The columns whose types a policy's text depends on, each once: of the source, then of each
    relation that is joined to it."""
    source, joins = policy.source, policy.source.joins
    named = (*policy.reads, *(name for name, _ in source.columns))
    others = {name.casefold() for each in joins for name in each.columns}
    others |= {each.name.casefold() for each in source.computed}
    own = [name for name in named if name.casefold() not in others]
    beside = (
        (*(key for _, key in each.on), *each.columns, *(n for n, _ in each.source.order_by))
        for each in joins
    )
    return tuple(tuple(dict.fromkeys(each)) for each in (own, *beside))


def table_of(columns: Columns, dialect: Engine, parts: tuple[str, ...]) -> Table:
    """The source as the compiler and the kernel see it, where no warehouse is asked.

    Every column counts as NOT NULL: that it is, who charges and who attests ask the warehouse.
    """
    found = tuple(Field(name, kernel_type(kind, dialect)) for name, kind in columns.types.items())
    return Table(found, parts=parts, case=dialect.case, filled=frozenset(columns.types))


_DUCKDB = {
    "INT": "INTEGER",
    "INT128": "HUGEINT",
    "REAL": "FLOAT",
    "TEXT": "VARCHAR",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "UINT128": "UHUGEINT",
}


def kernel_type(native: str, dialect: Engine) -> str:
    """The kernel's name of a type that a project, a catalog or a warehouse names.

    >>> from policy_engine.dialects import dialect_named
    >>> kernel_type("character varying(20)", dialect_named("postgres"))
    'VARCHAR'
    >>> kernel_type("int8", dialect_named("duckdb")), kernel_type("what", dialect_named("duckdb"))
    ('BIGINT', 'OTHER WHAT')
    """
    if dialect.name == "duckdb":
        bare, collate, collation = native.upper().partition(" COLLATE ")
        try:
            built = exp.DataType.build(native[: len(bare)], dialect="duckdb", udt=False)
        except (ParseError, ValueError):
            return f"OTHER {native.upper()}"
        known = built.sql("duckdb")
        name = known if known.upper().startswith("ENUM") else known.upper()
        return _DUCKDB.get(name, name) + collate + collation
    if native.upper().startswith("ENUM("):
        return native
    plain = " ".join(native.lower().split())
    meaning = type_of(dialect.name, rules_of(dialect.name).aliases.get(plain, native))
    return told(dialect.name, meaning)


_DECLARED = {name: kind for kind, name in DECLARED.items()}


def released_types(
    policy: Policy, columns: Sequence[Columns], table: Table, dialect: Engine
) -> dict[str, str]:
    """The type of every released column, in their order, as the engine writes it.

    ``columns`` are of the source, then of each relation that is joined to it.
    """
    read, rules = read_columns(policy, table), rules_of(dialect.name)
    native = {each.name: rules.type("integer") for each in table.computed}
    for relation, known in zip(table.relations, columns, strict=True):
        native |= {field.name: known.types[field.name] for field in relation.columns}
    found = {GROUPING: rules.type("integer")} if policy.groupings else {}
    for name, recoding in policy.recodings:
        column = read.get(name)
        kind = column.column.kind if column is not None else Kind.TEXT
        own = native.get(column.source.name, "") if column is not None else ""
        declared = column.declared if column is not None else None
        found[name] = _released(recoding, kind, own, declared, rules)
    if policy.release.form == "counts":
        found[policy.release.count_as] = rules.type("integer")
    for name, digits in _digits_beside(policy):
        found[name] = rules.type("decimal" if digits else "integer", digits)
    return found


def _digits_beside(policy: Policy) -> Iterator[tuple[str, int]]:
    """How many decimal places each number has that stands beside a count."""
    own = policy.protection
    for measure in own.measures:
        quantity = own.quantities[measure.quantity - 1]
        counts = quantity.center is None
        yield measure.name, 0 if counts else places_of(quantity.clip.unit)
    for chosen in own.quantiles:
        yield chosen.name, places_of(chosen.clip.unit)
    for cut in own.cuts:
        yield cut.name, 0


def _released(
    recoding: Recoding, kind: Kind, own: str, declared: str | None, rules: EngineRules
) -> str:
    meaning = recode_meaning(recoding)
    if meaning.keeps and declared is not None:
        return rules.type(_DECLARED[declared])
    if meaning.keeps and kind in TIMES:
        return own if kind is Kind.TIMESTAMP else rules.type("timestamp")
    if meaning.keeps and kind not in KEPT_AS_TEXT:
        return own.partition(" COLLATE ")[0]
    width = (18, 3) if kind is Kind.DECIMAL else (0, 0)
    released = recoding.released(Type(kind.of_a_claim, *width))  # type: ignore[arg-type]
    return rules.type(released, meaning.places)
