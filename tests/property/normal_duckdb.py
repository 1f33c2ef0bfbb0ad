"""DuckDB's own reading of a query, in the normal form that ``normal_sqlglot`` gives of ours.

The normal form is nested tuples: clauses by name, expressions by operator and operands. Every
node type, and every field of a node, is named here; what is not named raises ``Unread``, so
that nothing of a tree can be left out of the comparison unseen.
"""
# ruff: noqa: E501  # tables and texts of SQL, one a line, are read better whole

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import duckdb

Tree = Mapping[str, Any]
Normal = Any
"""Nested tuples of texts."""

# Where in the text a node stands, and what other fields say again.
_PLACES = {"query_location", "query_location_length", "qualified_name", "type", "class", "alias"}

_COMPARISONS = {
    "COMPARE_EQUAL": "=", "COMPARE_NOTEQUAL": "<>", "COMPARE_LESSTHAN": "<", "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=", "COMPARE_GREATERTHANOREQUALTO": ">=",
    "COMPARE_DISTINCT_FROM": "is distinct from", "COMPARE_NOT_DISTINCT_FROM": "is not distinct from",
}  # fmt: skip
_OPERATORS = {
    "OPERATOR_NOT": "not", "OPERATOR_IS_NULL": "is null", "OPERATOR_COALESCE": "coalesce",
    "ARRAY_SLICE": "slice", "ARRAY_EXTRACT": "at", "OPERATOR_TRY": "try",
}  # fmt: skip
_CONJUNCTIONS = {"CONJUNCTION_AND": "and", "CONJUNCTION_OR": "or"}

#: Names of one function: the parser's on the left, the one both readings use on the right.
SYNONYMS = {
    "substr": "substring", "datepart": "date_part", "datetrunc": "date_trunc", "ceiling": "ceil",
    "len": "length", "char_length": "length", "character_length": "length", "lcase": "lower",
    "ucase": "upper", "position": "strpos", "instr": "strpos", "dayofmonth": "day",
    "prefix": "starts_with", "suffix": "ends_with", "list_contains": "contains",
    "array_contains": "contains", "list_has": "contains", "array_has": "contains",
    "datediff": "date_diff", "weekday": "dayofweek", "week": "weekofyear", "split": "split_part",
    "mean": "avg", "generate_series": "generate_series", "ifnull": "coalesce",
}  # fmt: skip
_UNITS = {
    "year", "quarter", "month", "week", "weekofyear", "day", "dayofweek", "isodow", "dayofyear",
    "hour", "minute", "second", "isoyear", "yearweek", "decade", "century", "millennium", "era",
}  # fmt: skip
TYPES = {
    "TEXT": "VARCHAR", "STRING": "VARCHAR", "CHAR": "VARCHAR", "BPCHAR": "VARCHAR", "NVARCHAR": "VARCHAR",
    "INT": "INTEGER", "INT4": "INTEGER", "SIGNED": "INTEGER", "INT8": "BIGINT", "LONG": "BIGINT", "INT64": "BIGINT",
    "INT2": "SMALLINT", "SHORT": "SMALLINT", "INT16": "SMALLINT", "INT1": "TINYINT", "INT32": "INTEGER",
    "FLOAT8": "DOUBLE", "FLOAT4": "FLOAT", "REAL": "FLOAT", "NUMERIC": "DECIMAL", "DEC": "DECIMAL",
    "BOOL": "BOOLEAN", "LOGICAL": "BOOLEAN", "DATETIME": "TIMESTAMP", "TIMESTAMP_US": "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ", "INT128": "HUGEINT", "UINT128": "UHUGEINT", "TIMESTAMPNTZ": "TIMESTAMP",
    "BYTEA": "BLOB", "BINARY": "BLOB", "VARBINARY": "BLOB", "UBIGINT": "UBIGINT", "UINT64": "UBIGINT",
    "UINT32": "UINTEGER", "UINT": "UINTEGER", "UINT16": "USMALLINT", "USMALLINT": "USMALLINT",
    "UINT8": "UTINYINT", "UTINYINT": "UTINYINT", "GUID": "UUID", "LIST": "LIST",
}  # fmt: skip


class Unread(Exception):
    """A node, or a part of one, that the normal form does not name."""


def function(name: str, arguments: tuple[Normal, ...]) -> Normal:
    """A call by its one name; a unit of time is an argument of ``date_part``.

    >>> function("year", (("column", "d"),))
    ('call', 'date_part', ('text', 'year'), ('column', 'd'))
    """
    name = SYNONYMS.get(name.lower(), name.lower())
    if name in _UNITS and len(arguments) == 1:
        return ("call", "date_part", ("text", unit(name)), *arguments)
    if name in {"date_part", "date_trunc", "date_diff"} and arguments[0][0] == "text":
        arguments = (("text", unit(arguments[0][1])), *arguments[1:])
    if name == "+" and len(arguments) == 1:
        return arguments[0]
    if name == "getvariable" and len(arguments) == 1 and arguments[0][0] == "text":
        return ("parameter", f"getvariable({arguments[0][1]})")
    if name == "if" and len(arguments) == 3:
        return ("case", (arguments[:2],), arguments[2])
    if name == "range" and len(arguments) == 1:
        arguments = (("number", "0"), *arguments)
    if name == "regexp_extract" and len(arguments) == 2:
        arguments = (*arguments, ("number", "0"))
    if name == "count" and not arguments:
        name = "count_star"
    return ("call", name, *arguments)


def unit(name: str) -> str:
    """A unit of time by its one name."""
    name = name.lower()
    return {"week": "weekofyear", "dow": "dayofweek", "doy": "dayofyear"}.get(name, name)


def type_name(name: str) -> str:
    """A type by its one name."""
    return TYPES.get(name.upper(), name.upper())


def read(con: duckdb.DuckDBPyConnection, query: str) -> Normal | None:
    """The normal form of a query's statements; None where DuckDB does not parse them.

    Raises:
        Unread: the tree holds what the normal form does not name.
    """
    (found,) = con.execute("select json_serialize_sql(?::varchar)", [query]).fetchone() or ("",)
    tree = json.loads(found)
    if tree["error"]:
        return None
    statements = tuple(_query(statement["node"]) for statement in tree["statements"])
    return statements[0] if len(statements) == 1 else ("statements", *statements)


def _only(node: Tree, named: set[str]) -> None:
    for field, value in node.items():
        if field not in named | _PLACES and value not in (None, False, "", [], {}):
            raise Unread(f"{node.get('type')} with {field} = {value}")


def _query(node: Tree) -> Normal:
    if node["type"] == "SET_OPERATION_NODE":
        _only(node, {"setop_type", "setop_all", "children", "modifiers", "cte_map"})
        kind = node["setop_type"] + (" ALL" if node["setop_all"] else "")
        return ("set", kind, *map(_query, node["children"]), _with(node), _modifiers(node))
    if node["type"] != "SELECT_NODE":
        raise Unread(node["type"])
    _only(node, {"modifiers", "cte_map", "select_list", "from_table", "where_clause", "having", "sample", "qualify", "group_expressions", "group_sets", "aggregate_handling"})  # fmt: skip
    modifiers, qualify = dict(_modifiers(node)), _maybe(node["qualify"])
    if modifiers["distinct"] is not None and len(modifiers["distinct"]) == 1 and qualify is None:
        # DISTINCT ON (a) ORDER BY b is QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1.
        rank = ("window", "row_number", (), modifiers["distinct"], modifiers["order"])
        modifiers["distinct"], qualify = None, ("=", rank, ("number", "1"))
    return (
        ("with", _with(node)),
        ("items", tuple(_item(item) for item in node["select_list"])),
        ("from", _source(node["from_table"])),
        ("where", _maybe(node["where_clause"])),
        ("group", _group(node)),
        ("having", _maybe(node["having"])),
        ("qualify", qualify),
        ("sample", _sample(node["sample"])),
        *modifiers.items(),
    )


def _with(node: Tree) -> Normal:
    found = []
    for entry in node["cte_map"]["map"]:
        value = entry["value"]
        _only(value, {"aliases", "materialized", "query_node", "query"})
        query = value.get("query_node") or value["query"]["node"]
        hint = {"ALWAYS": True, "NEVER": False}.get(value["materialized"].rsplit("_", 1)[-1])
        found.append((entry["key"], tuple(value["aliases"]), hint, _query(query)))
    return tuple(found)


def _modifiers(node: Tree) -> Normal:
    found: dict[str, Normal] = {"distinct": None, "order": (), "limit": None}
    for modifier in node["modifiers"]:
        if modifier["type"] == "ORDER_MODIFIER":
            found["order"] = tuple(map(_order, modifier["orders"]))
        elif modifier["type"] == "DISTINCT_MODIFIER":
            found["distinct"] = tuple(map(_expression, modifier["distinct_on_targets"]))
        else:
            _only(modifier, {"limit", "offset", "limit_type"})
            ends = _maybe(modifier.get("limit")), _maybe(modifier.get("offset"))
            found["limit"] = (modifier["type"], *ends, modifier.get("limit_type"))
    return tuple(found.items())


def _order(term: Tree) -> Normal:
    _only(term, {"null_order", "expression"})
    node = term["expression"]
    every = node["class"] == "STAR" and node["columns"]
    nulls_first = term["null_order"] == "NULLS FIRST"
    if term["null_order"] not in {"NULLS FIRST", "NULLS LAST", "ORDER_DEFAULT"}:
        raise Unread(term["null_order"])
    way = {"DESCENDING": "desc", "ASCENDING": "asc", "ORDER_DEFAULT": "asc"}[term["type"]]
    return (("all",) if every else _expression(node), way, nulls_first)


def _group(node: Tree) -> Normal:
    if node["aggregate_handling"] == "FORCE_AGGREGATES":
        return ("all",)
    if node["aggregate_handling"] != "STANDARD_HANDLING":
        raise Unread(node["aggregate_handling"])
    sets = [tuple(places) for places in node["group_sets"]]
    keys = tuple(_expression(key) for key in node["group_expressions"])
    if not sets and not keys:
        return None
    if len(sets) != 1:
        return ("sets", keys, tuple(sets))
    return ("keys", *once(tuple(keys[place] for place in sets[0])))


def once(keys: tuple[Normal, ...]) -> tuple[Normal, ...]:
    """Keys of a group, the first of those that name the same columns in other letters.

    >>> once((("column", "a"), ("column", "A"), ("text", "a"), ("text", "A")))
    (('column', 'a'), ('text', 'a'), ('text', 'A'))
    """
    found: dict[Normal, Normal] = {}
    for key in keys:
        found.setdefault(_folded(key), key)
    return tuple(found.values())


def _folded(node: Normal) -> Normal:
    if not isinstance(node, tuple):
        return node
    if node[:1] == ("column",):
        return tuple(part.lower() for part in node)
    return tuple(map(_folded, node))


def _sample(node: Tree | None) -> Normal:
    if node is None:
        return None
    _only(node, {"sample_size", "is_percentage", "method", "seed", "repeatable", "sample_rate"})
    size = node["sample_size"]["value"]
    seed = node["seed"] if node["repeatable"] else None
    return (node["method"].upper(), bool(node["is_percentage"]), float(size), seed)


def _source(node: Tree) -> Normal:
    kind = node["type"]
    if kind == "EMPTY":
        return None
    sample, alias = _sample(node.get("sample")), node.get("alias", "")
    names = tuple(node.get("column_name_alias") or ())
    if kind == "BASE_TABLE":
        _only(node, {"sample", "schema_name", "table_name", "column_name_alias", "catalog_name"})
        return ("table", tuple(node["qualified_name"]["path"]), alias, names, sample)
    if kind == "SUBQUERY":
        _only(node, {"sample", "subquery", "column_name_alias"})
        return ("query", _query(node["subquery"]["node"]), alias, names, sample)
    if kind == "TABLE_FUNCTION":
        _only(node, {"sample", "function", "column_name_alias", "with_ordinality"})
        if node["with_ordinality"] != "WITHOUT_ORDINALITY":
            raise Unread("WITH ORDINALITY")
        return ("function", _expression(node["function"]), alias, names, sample)
    if kind == "EXPRESSION_LIST":  # VALUES: the alias is the engine's own
        _only(node, {"alias", "values"})
        return ("values", *map(_expressions, node["values"]))
    if kind == "JOIN":
        _only(node, {"left", "right", "condition", "join_type", "ref_type", "using_columns", "is_implicit", "nearest_count", "nearest_order_type"})  # fmt: skip
        sides = _source(node["left"]), _source(node["right"])
        how = (node["ref_type"], node["join_type"])
        on = _maybe(node.get("condition")), tuple(node.get("using_columns") or ())
        return ("join", *how, *sides, *on, alias, sample)
    raise Unread(kind)


def _maybe(node: Tree | None) -> Normal:
    return None if node is None else _expression(node)


def _item(node: Tree) -> Normal:
    return (_expression(node), node.get("alias", ""))


def _expressions(nodes: list[Tree]) -> tuple[Normal, ...]:
    return tuple(_expression(node) for node in nodes)


def _expression(node: Tree) -> Normal:
    reader = _READERS.get(node["class"])
    if reader is None:
        raise Unread(f"{node['class']} {node['type']}")
    return reader(node)


def _column(node: Tree) -> Normal:
    _only(node, {"column_names"})
    return ("column", *node["column_names"])


def _constant(node: Tree) -> Normal:
    _only(node, {"literal"})
    literal = node["literal"]
    kind, text = literal["kind"], literal.get("text", "")
    if kind == "NULL_LITERAL":
        return ("null",)
    if kind == "BOOLEAN":
        return ("boolean", text.lower())
    if kind == "STRING":
        return ("text", text)
    if kind in {"INTEGER", "NUMERIC"}:
        if text.startswith("-"):
            return ("call", "-", ("number", text[1:]))
        return ("number", text)
    raise Unread(f"a literal of kind {kind}")


def _comparison(node: Tree) -> Normal:
    _only(node, {"left", "right"})
    word, sides = _COMPARISONS[node["type"]], _expressions([node["left"], node["right"]])
    if word == "is distinct from":
        return ("not", ("is not distinct from", *sides))
    return (word, *sides)


def _conjunction(node: Tree) -> Normal:
    _only(node, {"children"})
    return flat(_CONJUNCTIONS[node["type"]], _expressions(node["children"]))


def flat(word: str, parts: tuple[Normal, ...]) -> Normal:
    """AND and OR are chains: how they are bracketed among themselves means nothing.

    >>> flat("and", (("and", "a", "b"), "c"))
    ('and', 'a', 'b', 'c')
    """
    found: list[Normal] = [word]
    for part in parts:
        found.extend(part[1:] if part[0] == word else (part,))
    return tuple(found)


def _operator(node: Tree) -> Normal:
    _only(node, {"children"})
    parts = _expressions(node["children"])
    if node["type"] == "COMPARE_IN":
        return ("in", *parts)
    if node["type"] == "OPERATOR_IS_NOT_NULL":
        return ("not", ("is null", *parts))
    if node["type"] not in _OPERATORS:
        raise Unread(node["type"])
    return (_OPERATORS[node["type"]], *parts)


def _between(node: Tree) -> Normal:
    _only(node, {"input", "lower", "upper"})
    return ("between", *_expressions([node["input"], node["lower"], node["upper"]]))


def _case(node: Tree) -> Normal:
    _only(node, {"case_checks", "else_expr"})
    checks = tuple(
        (_expression(check["when_expr"]), _expression(check["then_expr"]))
        for check in node["case_checks"]
    )
    return ("case", checks, _expression(node["else_expr"]))


def _cast(node: Tree) -> Normal:
    _only(node, {"child", "try_cast", "type_expr"})
    word = "try_cast" if node["try_cast"] else "cast"
    text = node["child"].get("literal", {}).get("text", "")
    if node["type_expr"]["type_name"] == "INTERVAL" and (step := _STEP.fullmatch(text)):
        return ("interval", step[1], step[2].lower())
    return (word, _expression(node["child"]), _expression(node["type_expr"]))


def _type(node: Tree) -> Normal:
    _only(node, {"type_name", "children"})
    inner = _expressions(node.get("children") or [])
    # STRUCT(a INTEGER): the names of fields stand beside their types.
    names = tuple(child.get("alias", "") for child in node.get("children") or [])
    return ("type", type_name(node["type_name"]), inner, names if any(names) else ())


_STEP = re.compile(r"(\d+) ([a-zA-Z]+?)s?")
_STEPS = {"to_years", "to_months", "to_weeks", "to_days", "to_hours", "to_minutes"}


def _innermost(node: Tree) -> str:
    """The literal under casts and functions of one argument."""
    while "literal" not in node:
        node = node["child"] if "child" in node else node["arguments"][0]["expression"]
    text: str = node["literal"]["text"]
    return text


def _function(node: Tree) -> Normal:
    _only(node, {"function_name", "filter", "order_bys", "distinct", "is_operator", "arguments"})
    if node["filter"] is not None or node["distinct"] or node["order_bys"]["orders"]:
        orders = tuple(map(_order, node["order_bys"]["orders"]))
        return (
            "aggregate",
            node["function_name"],
            _maybe(node["filter"]),
            bool(node["distinct"]),
            orders,
        )
    arguments = []
    for argument in node["arguments"]:
        named = argument.get("name")
        inner = _expression(argument["expression"])
        arguments.append(("named", named, inner) if named else inner)
    name = node["function_name"]
    if name in _STEPS:
        # interval 18 year: to_years(trunc(18::double)::integer)
        return ("interval", _innermost(node), name.removeprefix("to_").removesuffix("s"))
    if name in {"not_like_escape", "not_ilike_escape"}:
        return ("not", ("call", name.removeprefix("not_"), *arguments))
    if name in {"!~~", "!~~*"}:
        return ("not", ("call", name[1:], *arguments))
    return function(name, tuple(arguments))


def _star(node: Tree) -> Normal:
    _only(node, {"relation_name", "exclude_list", "replace_list", "columns"})
    if node["columns"]:
        raise Unread("COLUMNS(*)")
    replaced = tuple((e["key"], _expression(e["value"])) for e in node["replace_list"] or [])
    excluded = tuple(
        item if isinstance(item, str) else repr(item) for item in node["exclude_list"] or []
    )
    return ("star", node["relation_name"], excluded, tuple(sorted(replaced)))


def _subquery(node: Tree) -> Normal:
    _only(node, {"subquery_type", "subquery", "comparison_type", "child"})
    query = _query(node["subquery"]["node"])
    if node["subquery_type"] == "SCALAR":
        return ("scalar", query)
    if node["subquery_type"] == "ANY" and node["comparison_type"] == "COMPARE_EQUAL":
        return ("in query", _expression(node["child"]), query)
    return (node["subquery_type"], node["comparison_type"], _maybe(node.get("child")), query)


def _window(node: Tree) -> Normal:
    named = {"function_name", "partitions", "orders", "start", "end", "exclude_clause", "arguments"}
    _only(node, named)
    frame = (node["start"], node["end"], node["exclude_clause"])
    if frame != ("UNBOUNDED_PRECEDING", "CURRENT_ROW_RANGE", "NO_OTHER"):
        raise Unread(f"a window with {frame}")
    made = _expressions([each["expression"] for each in node.get("arguments", [])])
    orders = tuple(map(_order, node["orders"]))
    return ("window", node["function_name"], made, _expressions(node["partitions"]), orders)


def _parameter(node: Tree) -> Normal:
    _only(node, {"identifier"})
    return ("parameter", node["identifier"])


def _collate(node: Tree) -> Normal:
    _only(node, {"child", "collation"})
    return ("collate", _expression(node["child"]), node["collation"].lower())


_READERS: dict[str, Callable[[Tree], Normal]] = {
    "COLUMN_REF": _column,
    "CONSTANT": _constant,
    "COMPARISON": _comparison,
    "CONJUNCTION": _conjunction,
    "OPERATOR": _operator,
    "BETWEEN": _between,
    "CASE": _case,
    "CAST": _cast,
    "TYPE": _type,
    "FUNCTION": _function,
    "STAR": _star,
    "SUBQUERY": _subquery,
    "WINDOW": _window,
    "PARAMETER": _parameter,
    "COLLATE": _collate,
}
