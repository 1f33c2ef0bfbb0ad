"""What the kernel knows of another engine's SQL: a plain grammar, forms, types, tokens.

``Reading.translated`` turns a parsed text of the engine into the kernel's own language, node by
node: a form where one fits, else the plain grammar, which means the same to every engine. Anything
else is a finding. The result is read and proved like a text of DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from policy_engine.syntax.findings import Breach, Notes, shown
from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import (
    is_deterministic,
    is_in_the_grammar,
    is_item,
    named,
    reason,
)
from policy_engine.syntax.readings.forms import Form, Forms, filled, form, matched
from policy_engine.syntax.words import is_function

_PLAIN: Mapping[type[exp.Expr], frozenset[str]] = {
    getattr(exp, name): frozenset(parts.split())
    for names, parts in (
        ("Column", "this table db catalog"),
        ("Identifier", "this quoted"),
        ("Literal", "this is_string"),
        ("Null", ""),
        ("Paren Not Neg From Where Having RowNumber", "this"),
        ("And Or EQ NEQ LT LTE GT GTE Is", "this expression"),
        ("Case", "this ifs default"),
        ("If", "this true false"),
        ("Between", "this low high"),
        ("In", "this expressions"),
        ("Select", "expressions from_ where group having order with_"),
        ("With", "expressions"),
        ("CTE Subquery TableAlias", "this alias columns materialized"),
        ("Table", "this db catalog alias"),
        ("Alias", "this alias"),
        ("Star", ""),
        ("Group", "expressions"),
        ("Order", "expressions"),
        ("Ordered", "this desc nulls_first"),
        ("Window", "this partition_by order over"),
        ("Count", "this big_int"),
        ("Sum", "this"),
        ("Create", "this kind expression"),
    )
    for name in names.split()
}
"""What every engine reads alike; what has a meaning of its own in one has a form there."""

# Comments that no engine runs or reads as anything else.
_COMMENTS = {"line": r"--(?=[ \r\n]|$)", "block": r"/\*(?=[ \r\n])"}
ANSI = Lexicon(string=r"'(?:[^'\\]|'')*'", **_COMMENTS)
"""Texts and names in quotes, as the standard has them; a backslash has many meanings, and none."""
BACKTICKS = Lexicon(string=r"'(?:[^'\\]|\\\\|\\')*'", name="`[^`]+`", **_COMMENTS)
"""Names in backticks, and a backslash before a quote or another backslash."""

_TEXTS = frozenset({"VARCHAR", "CHAR", "TEXT", "STRING"})
_WHOLE = re.compile(r"(DECIMAL|NUMBER|NUMERIC)\([0-9]+, ?0\)")
_MOST_DIGITS = 38
_ARGUMENTS = re.compile(r"\s*\(([0-9, ]*)\)")


@dataclass(frozen=True)
class Reading:
    """One engine's SQL, as the kernel reads it.

    ``types`` maps the names of its types to DuckDB's; a type that is not named has no meaning
    here. ``order_forms`` hold inside ORDER BY only: how rows that are told apart already stand.
    ``extra`` is what its grammar has beside the plain.

    ``excludes`` are types of columns that mean something else here: text that is compared by a
    collation everywhere, say. ``says`` tells whether a text in quotes means itself outside forms.
    ``null_term`` is the term of ORDER BY before a column ``_a`` that puts its NULL last.
    ``whole_decimals``: the engine's whole numbers are decimals without decimal places.
    ``bytewise`` are the collations that compare bytes where a text without one is compared by
    another; None where it is compared by its bytes, and none where no collation compares every
    byte: a form then says what is shown of a text.
    """

    name: str
    forms: tuple[Form, ...]
    types: Mapping[str, str]
    order_forms: tuple[Form, ...] = ()
    lexicon: Lexicon = ANSI
    whole_decimals: bool = False
    parser: str = ""
    extra: Mapping[type[exp.Expr], frozenset[str]] = field(default_factory=dict)
    bernoulli: bool = False
    """Whether a TABLESAMPLE without a method keeps every row by itself."""
    excludes: frozenset[str] = frozenset()
    says: Callable[[str], bool] | None = None
    null_term: str = ""
    bytewise: frozenset[str] | None = None
    longest_name: int = 255
    """How many bytes of a name are read; the rest would be cut off."""

    @property
    def dialect(self) -> str:
        """The name of the parser that reads the engine's texts."""
        return self.parser or self.name

    @cached_property
    def known(self) -> Forms:
        """The forms, ready to be looked up."""
        return Forms(self.forms)

    @cached_property
    def null_form(self) -> Form | None:
        """``null_term`` as a form whose meaning is the column."""
        return form(self.dialect, self.null_term, "_a") if self.null_term else None

    @cached_property
    def known_in_order(self) -> Forms:
        """The forms that hold inside ORDER BY."""
        return Forms(self.order_forms)

    def type_of(self, native: str) -> str:
        """The kernel's name of a type; the engine's own, marked, where it has no meaning here.

        >>> from policy_engine.syntax.readings import READINGS
        >>> READINGS["postgres"].type_of("character varying(20)")
        'VARCHAR'
        """
        text = " ".join(native.lower().split())
        arguments = _ARGUMENTS.search(text)
        bare = " ".join(_ARGUMENTS.sub(" ", text).split())
        meaning = self.types.get(text) or self.types.get(bare)
        if meaning is None:
            return f"OTHER {native.upper()}"
        if meaning == "DECIMAL" and arguments is not None:
            if int(arguments[1].split(",")[0].strip()[:9] or 0) > _MOST_DIGITS:
                # Not every such number is one of DOUBLE, or of any other engine.
                return f"OTHER {native.upper()}"
            return f"DECIMAL({arguments[1]})"
        return meaning

    def told(self, kind: str) -> str:
        """A type, the collation of its text told unless it compares bytes.

        >>> from policy_engine.syntax.readings import READINGS
        >>> mariadb = READINGS["mariadb"]
        >>> mariadb.told("TEXT"), mariadb.told("TEXT COLLATE utf8mb4_nopad_bin")
        ('TEXT COLLATE unknown', 'TEXT')
        """
        if self.whole_decimals and _WHOLE.fullmatch(kind.upper()):
            return "BIGINT"
        name, _, collation = kind.replace(" collate ", " COLLATE ").partition(" COLLATE ")
        is_text = name.upper().split("(")[0].strip() in _TEXTS
        if self.bytewise is None or not is_text:
            return kind
        if collation.lower() in self.bytewise:
            return name
        return f"{name} COLLATE {collation or 'unknown'}"

    def translated(self, statement: exp.Expr, notes: Notes) -> exp.Expr:
        """``statement`` in the kernel's language, with a finding for whatever has no meaning."""
        _judge_spelling(statement, notes)
        for node in statement.walk():
            notes.judge(_misread(node, self), node)
        return _Translation(self, notes).node(statement)


class _Translation:
    def __init__(self, reading: Reading, notes: Notes) -> None:
        self._reading = reading
        self._notes = notes

    def node(self, node: exp.Expr, forms: Forms | None = None) -> exp.Expr:
        """What ``node`` means; ``forms`` hold here, before the engine's own."""
        found = (forms and forms.meaning(node)) or self._reading.known.meaning(node)
        if found is not None:
            known, holes = found
            meant = {
                name: part if name in known.literals else self.node(part)
                for name, part in holes.items()
                if name not in known.dropped
            }
            return filled(known, meant)
        self._judge(node)
        if isinstance(node, exp.Order) and self._reading.null_form is not None:
            node.set("expressions", _with_nulls_last(node.expressions, self._reading.null_form))
        inner = self._reading.known_in_order if isinstance(node, exp.Ordered) else None
        for name, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(name, self.node(value, inner))
            elif isinstance(value, list):
                parts = [self.node(v) if isinstance(v, exp.Expr) else v for v in value]
                node.set(name, parts)
        by_rows = self._reading.bernoulli and isinstance(node, exp.TableSample)
        if by_rows and not node.args.get("method"):
            node.set("method", exp.var("BERNOULLI"))
        return node

    def _judge(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Select):
            self._judge_aliases(node)
        says = self._reading.says
        if says is not None and node.is_string and not says(node.name):
            found = "a text in quotes that this engine compares by a collation"
            self._notes.judge(is_in_the_grammar.broken_by(found), node)
        if self._reading.bytewise and node.is_string and _is_a_branch(node):
            found = f"the text {node.name!r} without a collation, among others that are shown"
            self._notes.judge(is_in_the_grammar.broken_by(found), node)
        allowed = self._reading.extra.get(type(node), _PLAIN.get(type(node)))
        if allowed is None:
            self._notes.judge(reason(node), node)
            return
        for part, value in node.args.items():
            if part not in allowed and value not in (None, False, [], ""):
                found = f"{named(node)} with {part}"
                self._notes.judge(is_in_the_grammar.broken_by(found), node)

    def _judge_aliases(self, select: exp.Select) -> None:
        """A name that a select list gives may be read beside it as that, or as a column."""
        clauses = [select.args.get(name) for name in ("where", "group", "having", "order")]
        for item in select.expressions:
            if not isinstance(item, exp.Alias) or _is_called(item.this, item.alias):
                continue
            others = [each for each in (*select.expressions, *clauses) if each not in (None, item)]
            read = (column for each in others for column in each.find_all(exp.Column))
            twice = next((c for c in read if fold(c.name) == fold(item.alias)), None)
            if twice is not None:
                found = f"{item.alias}, a column and a name that the query gives"
                self._notes.judge(is_in_the_grammar.broken_by(found), twice)


def _with_nulls_last(terms: list[exp.Expr], null_form: Form) -> list[exp.Expr]:
    """``terms`` with each pair of a NULL's place and its column as one term, NULL last."""
    found: list[exp.Expr] = []
    rest = list(terms)
    while rest:
        term = rest.pop(0)
        holes = matched(term.this, null_form.text) if not term.args.get("desc") else None
        if holes is not None and rest and rest[0].this == holes["_a"]:
            term = rest.pop(0)
            term.set("nulls_first", False)
        found.append(term)
    return found


def _judge_spelling(statement: exp.Expr, notes: Notes) -> None:
    """A query is read by its name as it is spelled: elsewhere ``People`` is not ``people``."""
    named = {fold(cte.alias): cte.args["alias"].this for cte in statement.find_all(exp.CTE)}
    for table in statement.find_all(exp.Table):
        query = named.get(fold(table.name))
        if query is not None and not table.args.get("db") and table.this != query:
            found = f"{table.name}, which is spelled otherwise where it is given"
            notes.judge(is_in_the_grammar.broken_by(found), table)


def _misread(node: exp.Expr, reading: Reading) -> Breach | None:
    """What is read otherwise than the parser reads it, in a form too."""
    if isinstance(node, exp.Column) and is_function(node, reading.name):
        found = f"{node.name}, which is a function; a column of that name stands in quotes"
        return is_deterministic.broken_by(found)
    if isinstance(node, exp.Alias) and not is_item(node):
        return is_in_the_grammar.broken_by(f"the name {node.alias} inside an expression")
    if isinstance(node, exp.Identifier) and len(node.name.encode()) > reading.longest_name:
        found = f"the name {node.name[:20]}…, which is too long to be read whole"
        return is_in_the_grammar.broken_by(found)
    if _is_chained(node):
        found = f"{shown(node)}, a comparison of a comparison without parentheses"
        return is_in_the_grammar.broken_by(found)
    return None


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_PREDICATES = (*_COMPARISONS, exp.Is, exp.Between, exp.In)


def _is_chained(node: exp.Expr) -> bool:
    """Whether engines, or settings of one, differ in what is asked first.

    As in ``a = b < c``, ``a = b IN (1, 2)``, and ``NOT a = b``.
    """
    sides = [node.args.get(name) for name in ("this", "expression", "low", "high")]
    if isinstance(node, exp.Not):
        return isinstance(node.this, _COMPARISONS)
    inner = any(isinstance(side, (*_PREDICATES, exp.Not)) or _is_negated(side) for side in sides)
    return isinstance(node, _PREDICATES) and inner


def _is_negated(node: object) -> bool:
    """Whether a value is (NOT a IN …); the parser adds parentheses of its own to a NOT IN …."""
    return isinstance(node, exp.Paren) and isinstance(node.this, exp.Not)


def _is_a_branch(node: exp.Expr) -> bool:
    """Whether a value is what a CASE gives, and could be merged with another that it gives."""
    at = node
    while isinstance(at.parent, exp.Paren):
        at = at.parent
    if isinstance(at.parent, exp.If):
        return at.arg_key != "this"
    return isinstance(at.parent, exp.Case) and at.arg_key == "default"


def _is_called(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Column) and fold(node.name) == fold(name)
