"""The kernel's reading of a query, in the normal form that ``normal_duckdb`` gives of DuckDB's.

The tree is the one that ``read_statement`` hands to the proof; nothing is written as text and
parsed again on the way, so that no fault of a writer can mend one of a reader. Every part of a
node is named here; what is not raises ``Unread``.
"""
# ruff: noqa: E501  # tables and texts of SQL, one a line, are read better whole

from __future__ import annotations

from collections.abc import Callable

from normal_duckdb import Normal, Unread, flat, function, once, type_name, unit
from sqlglot import exp

#: Settings that the parser adds: they say how a function deals with NULL, as DuckDB's does.
_SETTINGS = {"safe", "typed", "coalesce", "ignore_nulls", "big_int", "null_if_pos_overflow"}
_SETTINGS |= {"single_replace", "date_part_boundary", "quoted", "is_string", "nested", "over"}

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.GT: ">", exp.LTE: "<=", exp.GTE: ">=",
    exp.NullSafeEQ: "is not distinct from",
}  # fmt: skip

#: Functions and operators by the name that DuckDB's parser gives them, and their arguments.
_CALLS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Add: ("+", ("this", "expression")), exp.Sub: ("-", ("this", "expression")),
    exp.Mul: ("*", ("this", "expression")), exp.Div: ("/", ("this", "expression")),
    exp.IntDiv: ("//", ("this", "expression")), exp.Mod: ("%", ("this", "expression")),
    exp.DPipe: ("||", ("this", "expression")), exp.Neg: ("-", ("this",)),
    exp.Glob: ("~~~", ("this", "expression")),
    exp.SimilarTo: ("regexp_full_match", ("this", "expression")),
    exp.RegexpFullMatch: ("regexp_full_match", ("this", "expression")),
    exp.RegexpLike: ("regexp_matches", ("this", "expression", "flag")),
    exp.RegexpExtract: ("regexp_extract", ("this", "expression", "group", "parameters")),
    exp.RegexpReplace: ("regexp_replace", ("this", "expression", "replacement", "modifiers")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
    exp.Abs: ("abs", ("this",)), exp.Round: ("round", ("this", "decimals")),
    exp.Trunc: ("trunc", ("this",)), exp.Floor: ("floor", ("this",)), exp.Ceil: ("ceil", ("this",)),
    exp.Sign: ("sign", ("this",)), exp.IsNan: ("isnan", ("this",)), exp.IsInf: ("isinf", ("this",)),
    exp.Greatest: ("greatest", ("this", "expressions")), exp.Least: ("least", ("this", "expressions")),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Left: ("left", ("this", "expression")), exp.Right: ("right", ("this", "expression")),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Lower: ("lower", ("this",)), exp.Upper: ("upper", ("this",)),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.Length: ("length", ("this",)), exp.Reverse: ("reverse", ("this",)), exp.Ascii: ("ascii", ("this",)),
    exp.SplitPart: ("split_part", ("this", "delimiter", "part_index")),
    exp.StrPosition: ("strpos", ("this", "substr")),
    exp.Concat: ("concat", ("expressions",)), exp.ConcatWs: ("concat_ws", ("expressions",)),
    exp.MD5: ("md5", ("this",)), exp.TimeToStr: ("strftime", ("this", "format")),
    exp.AtTimeZone: ("timezone", ("zone", "this")),
    exp.Year: ("year", ("this",)), exp.Quarter: ("quarter", ("this",)), exp.Month: ("month", ("this",)),
    exp.Week: ("week", ("this",)), exp.WeekOfYear: ("weekofyear", ("this",)), exp.Day: ("day", ("this",)),
    exp.DayOfWeek: ("dayofweek", ("this",)), exp.DayOfWeekIso: ("isodow", ("this",)),
    exp.DayOfYear: ("dayofyear", ("this",)), exp.Hour: ("hour", ("this",)),
    exp.Minute: ("minute", ("this",)), exp.Second: ("second", ("this",)),
    exp.Monthname: ("monthname", ("this",)), exp.Dayname: ("dayname", ("this",)),
    exp.Rand: ("random", ()), exp.Sum: ("sum", ("this",)), exp.Avg: ("avg", ("this",)),
    exp.Min: ("min", ("this",)), exp.Max: ("max", ("this",)), exp.Explode: ("unnest", ("this",)),
}  # fmt: skip


#: What may stand in front of OVER, and the part that is its argument.
_WINDOWS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.RowNumber: ("row_number", ""), exp.Rank: ("rank", ""), exp.DenseRank: ("dense_rank", ""),
    exp.Count: ("count", "this"), exp.Sum: ("sum", "this"), exp.Avg: ("avg", "this"),
    exp.Min: ("min", "this"), exp.Max: ("max", "this"),
}  # fmt: skip


def read(statement: exp.Expr) -> Normal:
    """The normal form of the query of a statement that the kernel's grammar let through.

    Raises:
        Unread: the tree holds what the normal form does not name.
    """
    query = statement.expression if isinstance(statement, exp.Create) else statement
    return _Reader().query(query)


def _only(node: exp.Expr, *named: str) -> None:
    for part, value in node.args.items():
        if part not in named and part not in _SETTINGS and value not in (None, False, "", []):
            raise Unread(f"{type(node).__name__} with {part} = {value}")


class _Reader:
    def __init__(self) -> None:
        self._parameters = 0

    def query(self, node: exp.Expr) -> Normal:
        if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table):
            _only(node, "this")
            return self.query(node.this)
        if isinstance(node, exp.Union):
            return self._union(node)
        if not isinstance(node, exp.Select):
            raise Unread(type(node).__name__)
        _only(node, "expressions", "from_", "where", "group", "having", "order", "with_", "sample",
              "distinct", "limit", "joins", "qualify")  # fmt: skip
        return (
            ("with", self._with(node)),
            ("items", tuple(map(self._item, node.expressions))),
            ("from", self._from(node)),
            ("where", self._under(node, "where")),
            ("group", self._group(node.args.get("group"))),
            ("having", self._under(node, "having")),
            ("qualify", self._under(node, "qualify")),
            ("sample", self._sample(node.args.get("sample"))),
            ("distinct", self._distinct(node.args.get("distinct"))),
            ("order", self._orders(node.args.get("order"))),
            ("limit", self._limit(node.args.get("limit"))),
        )

    def _union(self, node: exp.Union) -> Normal:
        _only(node, "this", "expression", "distinct", "with_", "order", "by_name")
        if node.args.get("by_name"):
            raise Unread("BY NAME")
        kind = "UNION" + ("" if node.args.get("distinct") else " ALL")
        sides = self.query(node.this), self.query(node.expression)
        modifiers = (
            ("distinct", None),
            ("order", self._orders(node.args.get("order"))),
            ("limit", None),
        )
        # DuckDB keeps a chain of unions of one kind as one list.
        first = sides[0][2:-2] if sides[0][:2] == ("set", kind) else sides[:1]
        return ("set", kind, *first, sides[1], self._with(node), modifiers)

    def _with(self, node: exp.Expr) -> Normal:
        clause = node.args.get("with_")
        found = []
        if clause is not None:
            # DuckDB's tree shows RECURSIVE only where a query reads itself in a union.
            _only(clause, "expressions", "recursive")
        for cte in clause.expressions if clause is not None else ():
            _only(cte, "this", "alias", "materialized")
            hint = cte.args.get("materialized")
            found.append((cte.alias, _names(cte), hint, self.query(cte.this)))
        return tuple(found)

    def _item(self, node: exp.Expr) -> Normal:
        if isinstance(node, exp.Alias):
            _only(node, "this", "alias")
            return (self.expression(node.this), node.alias)
        return (self.expression(node), "")

    def _from(self, select: exp.Select) -> Normal:
        clause = select.args.get("from_")
        if clause is None:
            return None
        source = self._source(clause.this)
        for join in select.args.get("joins") or ():
            _only(join, "this", "on", "side", "kind", "using")
            kind = (join.side or "INNER").upper()
            on = join.args.get("on")
            using = tuple(name.name for name in join.args.get("using") or ())
            how = ("REGULAR", kind) if on is not None or using else ("CROSS", "INNER")
            if join.kind and join.kind.upper() not in {"INNER", "OUTER", "CROSS"}:
                raise Unread(f"JOIN {join.kind}")
            on = None if on is None else self.expression(on)
            source = ("join", *how, source, self._source(join.this), on, using, "", None)
        return source

    def _source(self, node: exp.Expr) -> Normal:
        sample = node.args.get("sample")
        if isinstance(node, exp.Subquery):
            _only(node, "this", "alias", "sample")
            inner = node.this
            while isinstance(inner, exp.Subquery) and not inner.alias:
                inner = inner.this
            if isinstance(inner, exp.Table) and not node.alias and sample is None:
                return self._source(inner)
            query = self._whole(inner) if isinstance(inner, exp.Table) else self.query(inner)
            return ("query", query, node.alias, _names(node), self._sample(sample))
        if isinstance(node, exp.Values):  # the alias is the parser's own
            _only(node, "expressions", "alias")
            return ("values", *(tuple(self._all(row.expressions)) for row in node.expressions))
        if not isinstance(node, exp.Table):
            raise Unread(type(node).__name__)
        _only(node, "this", "db", "catalog", "alias", "sample")
        rest = node.alias, _names(node), self._sample(sample)
        if isinstance(node.this, exp.ReadParquet):
            _only(node.this, "expressions")
            return ("function", ("call", "read_parquet", *self._all(node.this.expressions)), *rest)
        return ("table", tuple(part.name for part in node.parts), *rest)

    def _whole(self, table: exp.Table) -> Normal:
        """``(t)`` is ``(SELECT * FROM t)``."""
        return self.query(exp.Select(expressions=[exp.Star()], from_=exp.From(this=table)))

    def _under(self, node: exp.Expr, clause: str) -> Normal:
        found = node.args.get(clause)
        return None if found is None else self.expression(found.this)

    def _group(self, node: exp.Group | None) -> Normal:
        if node is None:
            return None
        _only(node, "expressions", "all")
        if node.args.get("all"):
            return ("all",)
        keys: list[Normal] = []
        for key in node.expressions:
            keys += self._all(key.expressions if isinstance(key, exp.Tuple) else [key])
        return ("keys", *once(tuple(keys)))

    def _sample(self, node: exp.TableSample | None) -> Normal:
        if node is None:
            return None
        _only(node, "method", "percent", "size", "seed")
        percent, size = node.args.get("percent"), node.args.get("size")
        if not isinstance(percent or size, exp.Literal):
            raise Unread("a sample of no number")
        method = node.args["method"].name.upper() if node.args.get("method") else ""
        seed = node.args.get("seed")
        number = float((percent or size).name)
        default = "SYSTEM" if percent is not None else "RESERVOIR"
        return (method or default, percent is not None, number, int(seed.name) if seed else None)

    def _distinct(self, node: exp.Distinct | None) -> Normal:
        if node is None:
            return None
        on = node.args.get("on")
        return () if on is None else tuple(self._all(on.expressions))

    def _limit(self, node: exp.Limit | None) -> Normal:
        if node is None:
            return None
        _only(node, "expression")
        return ("LIMIT_MODIFIER", self.expression(node.expression), None, "ROW_COUNT")

    def _orders(self, node: exp.Order | None) -> Normal:
        return tuple(map(self._order, node.expressions)) if node is not None else ()

    def _order(self, node: exp.Expr) -> Normal:
        _only(node, "this", "desc", "nulls_first")
        inner = node.this
        every = isinstance(inner, exp.Var) and inner.name.upper() == "ALL"
        way = "desc" if node.args.get("desc") else "asc"
        key = ("all",) if every else self.expression(inner)
        return (key, way, bool(node.args.get("nulls_first")))

    def _all(self, nodes: list[exp.Expr]) -> list[Normal]:
        return [self.expression(node) for node in nodes]

    # Expressions

    def expression(self, node: exp.Expr) -> Normal:
        if type(node) in _COMPARISONS:
            _only(node, "this", "expression")
            return (_COMPARISONS[type(node)], *self._all([node.this, node.expression]))
        if type(node) in _CALLS:
            name, parts = _CALLS[type(node)]
            _only(node, *parts)
            return function(name, tuple(self._arguments(node, parts)))
        reader = _READERS.get(type(node))
        if reader is None:
            raise Unread(type(node).__name__)
        return reader(self, node)

    def _arguments(self, node: exp.Expr, parts: tuple[str, ...]) -> list[Normal]:
        found: list[exp.Expr] = []
        for part in parts:
            value = node.args.get(part)
            found += value if isinstance(value, list) else [value] if value is not None else []
        return self._all(found)

    def _column(self, node: exp.Expr) -> Normal:
        if isinstance(node.this, exp.Star):
            return self._star(node.this, ".".join(part.name for part in node.parts[:-1]))
        _only(node, "this", "table", "db", "catalog")
        return ("column", *(part.name for part in node.parts))

    def _star(self, node: exp.Expr, relation: str = "") -> Normal:
        _only(node, "except_", "replace")
        excluded = tuple(column.name for column in node.args.get("except_") or ())
        replaced = [(e.alias, self.expression(e.this)) for e in node.args.get("replace") or ()]
        return ("star", relation, excluded, tuple(sorted(replaced)))

    def _literal(self, node: exp.Expr) -> Normal:
        return ("text" if node.is_string else "number", node.this)

    def _null(self, node: exp.Expr) -> Normal:
        return ("null",)

    def _boolean(self, node: exp.Expr) -> Normal:
        return ("boolean", "true" if node.this else "false")

    def _inside(self, node: exp.Expr) -> Normal:
        _only(node, "this")
        return self.expression(node.this)

    def _case(self, node: exp.Expr) -> Normal:
        _only(node, "this", "ifs", "default")
        subject = node.args.get("this")
        checks = []
        for branch in node.args["ifs"]:
            _only(branch, "this", "true")
            when = self.expression(branch.this)
            if subject is not None:
                when = ("=", self.expression(subject), when)
            checks.append((when, self.expression(branch.args["true"])))
        default = node.args.get("default")
        return ("case", tuple(checks), ("null",) if default is None else self.expression(default))

    def _if(self, node: exp.Expr) -> Normal:
        _only(node, "this", "true", "false")
        parts = self._all([node.this, node.args["true"], node.args["false"]])
        return ("case", (tuple(parts[:2]),), parts[2])

    def _chain(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression")
        word = "and" if isinstance(node, exp.And) else "or"
        return flat(word, tuple(self._all([node.this, node.expression])))

    def _not(self, node: exp.Expr) -> Normal:
        _only(node, "this")
        return ("not", self.expression(node.this))

    def _not_same(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression")
        return ("not", ("is not distinct from", *self._all([node.this, node.expression])))

    def _is(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression")
        if isinstance(node.expression, exp.Null):
            return ("is null", self.expression(node.this))
        truth = ("cast", self.expression(node.this), ("type", "BOOLEAN", (), ()))
        if not isinstance(node.expression, exp.Boolean):
            raise Unread("IS")
        return ("is not distinct from", truth, self.expression(node.expression))

    def _between(self, node: exp.Expr) -> Normal:
        _only(node, "this", "low", "high")
        return ("between", *self._all([node.this, node.args["low"], node.args["high"]]))

    def _in(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expressions", "query")
        subject = self.expression(node.this)
        if node.args.get("query"):
            return ("in query", subject, self.query(node.args["query"]))
        return ("in", subject, *self._all(node.expressions))

    def _like(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression", "negate")
        name = "~~*" if isinstance(node, exp.ILike) else "~~"
        found = ("call", name, *self._all([node.this, node.expression]))
        return ("not", found) if node.args.get("negate") else found

    def _escape(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression")
        _only(node.this, "this", "expression", "negate")
        name = "ilike_escape" if isinstance(node.this, exp.ILike) else "like_escape"
        parts = [node.this.this, node.this.expression, node.expression]
        found = ("call", name, *self._all(parts))
        return ("not", found) if node.this.args.get("negate") else found

    def _interval(self, node: exp.Expr) -> Normal:
        _only(node, "this", "unit")
        return ("interval", node.this.name, node.args["unit"].name.lower().removesuffix("s"))

    def _coalesce(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expressions")
        return ("coalesce", *self._all([node.this, *node.expressions]))

    def _cast(self, node: exp.Expr) -> Normal:
        _only(node, "this", "to")
        word = "try_cast" if isinstance(node, exp.TryCast) else "cast"
        return (word, self.expression(node.this), self._type(node.args["to"]))

    def _type(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expressions")
        inner = []
        for part in node.expressions:
            inner.append(
                self.expression(part.this if isinstance(part, exp.DataTypeParam) else part)
            )
        name = node.this.value if isinstance(node.this, exp.DType) else str(node.this)
        # A list of a type; a number in the brackets makes an array of it.
        if name == "ARRAY":
            name = "LIST" if len(inner) == 1 else name
        return ("type", type_name(name), tuple(inner), ())

    def _try(self, node: exp.Expr) -> Normal:
        _only(node, "this")
        return ("try", self.expression(node.this))

    def _collate(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression")
        return ("collate", self.expression(node.this), node.expression.name.lower())

    def _bracket(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expressions")
        (place,) = node.expressions
        subject = self.expression(node.this)
        if isinstance(place, exp.Slice):
            _only(place, "this", "expression")
            ends = [place.args.get("this"), place.args.get("expression")]
            nothing = ("call", "list_value")
            return ("slice", subject, *(self.expression(e) if e else nothing for e in ends))
        # The parser counts from nought, whatever the dialect does.
        if isinstance(place, exp.Literal) and not place.is_string:
            return ("at", subject, ("number", str(int(place.name) + 1)))
        raise Unread("an index that is no number")

    def _trim(self, node: exp.Expr) -> Normal:
        _only(node, "this", "position", "expression")
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim")
        return function(name, tuple(self._arguments(node, ("this", "expression"))))

    def _pad(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression", "fill_pattern", "is_left")
        name = "lpad" if node.args.get("is_left") else "rpad"
        return function(name, tuple(self._arguments(node, ("this", "expression", "fill_pattern"))))

    def _sha(self, node: exp.Expr) -> Normal:
        _only(node, "this", "length")
        return function(f"sha{node.args['length'].name}", (self.expression(node.this),))

    def _extract(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression")
        part = ("text", unit(node.this.name))
        return ("call", "date_part", part, self.expression(node.expression))

    def _truncated(self, node: exp.Expr) -> Normal:
        _only(node, "this", "unit")
        part = node.args["unit"]
        named = isinstance(part, exp.Var | exp.Literal)
        first = ("text", unit(part.name)) if named else self.expression(part)
        return ("call", "date_trunc", first, self.expression(node.this))

    def _difference(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expression", "unit")
        part = ("text", unit(node.args["unit"].name))
        return ("call", "date_diff", part, *self._all([node.expression, node.this]))

    def _series(self, node: exp.Expr) -> Normal:
        _only(node, "start", "end", "is_end_exclusive")
        name = "range" if node.args.get("is_end_exclusive") else "generate_series"
        return function(name, tuple(self._arguments(node, ("start", "end"))))

    def _count(self, node: exp.Expr) -> Normal:
        _only(node, "this", "expressions")
        if node.args.get("this") is None or isinstance(node.this, exp.Star):
            return ("call", "count_star")
        return ("call", "count", *self._all([node.this, *node.expressions]))

    def _window(self, node: exp.Expr) -> Normal:
        _only(node, "this", "partition_by", "order")
        name, argument = _WINDOWS.get(type(node.this), ("", ""))
        if not name:
            raise Unread("a window")
        _only(node.this, argument)
        made = [] if not argument or isinstance(node.this.this, exp.Star) else [node.this.this]
        partitions = tuple(self._all(node.args.get("partition_by") or []))
        order = self._orders(node.args.get("order"))
        return ("window", name, tuple(self._all(made)), partitions, order)

    def _parameter(self, node: exp.Expr) -> Normal:
        _only(node, "this")
        if node.args.get("this"):
            return ("parameter", node.name)
        self._parameters += 1
        return ("parameter", str(self._parameters))

    def _scalar(self, node: exp.Expr) -> Normal:
        return ("scalar", self.query(node))


def _names(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias")
    if alias is None:
        return ()
    _only(alias, "this", "columns")
    return tuple(column.name for column in alias.args.get("columns") or ())


_READERS: dict[type[exp.Expr], Callable[[_Reader, exp.Expr], Normal]] = {
    exp.Column: _Reader._column, exp.Star: _Reader._star, exp.Literal: _Reader._literal,
    exp.Null: _Reader._null, exp.Boolean: _Reader._boolean, exp.Paren: _Reader._inside,
    exp.Case: _Reader._case, exp.If: _Reader._if, exp.And: _Reader._chain, exp.Or: _Reader._chain,
    exp.Not: _Reader._not, exp.NullSafeNEQ: _Reader._not_same, exp.Is: _Reader._is,
    exp.Between: _Reader._between, exp.In: _Reader._in, exp.Like: _Reader._like,
    exp.ILike: _Reader._like, exp.Coalesce: _Reader._coalesce, exp.Cast: _Reader._cast,
    exp.TryCast: _Reader._cast, exp.DataType: _Reader._type, exp.Try: _Reader._try,
    exp.Collate: _Reader._collate, exp.Bracket: _Reader._bracket, exp.Trim: _Reader._trim,
    exp.Pad: _Reader._pad, exp.SHA2: _Reader._sha, exp.Extract: _Reader._extract,
    exp.DateTrunc: _Reader._truncated, exp.TimestampTrunc: _Reader._truncated,
    exp.DateDiff: _Reader._difference, exp.GenerateSeries: _Reader._series,
    exp.Count: _Reader._count, exp.Window: _Reader._window, exp.Placeholder: _Reader._parameter,
    exp.Subquery: _Reader._scalar, exp.Escape: _Reader._escape, exp.Interval: _Reader._interval,
}  # fmt: skip
