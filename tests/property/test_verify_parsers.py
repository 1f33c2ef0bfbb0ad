"""Text that both parsers cut alike, and read alike.

Any text, however odd, is answered with findings and no exception. And a text that is proved
is, to DuckDB's own parser, the same query as what sqlglot read: nothing was dropped or added.
"""

import json
import sys
from pathlib import Path

import duckdb
import pytest
import sqlglot
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy_engine.verify.proof import prove
from policy_engine.verify.schema import Schema, parse_schema

VERIFY = Path(__file__).parents[1] / "verify"
TEXTS = [
    block.partition("\n")[2].strip()
    for block in ("\n" + (VERIFY / "accepted.sql").read_text()).split("\n--- ")[1:]
]
TOKENS = sorted(
    {
        text[token.start : token.end + 1]
        for text in TEXTS
        for token in sqlglot.tokenize(text, read="duckdb")
    }
    | {"all", "only", "distinct", "limit 1", "~", "!", "#1", "''", "e", "$$", ";", "--", "/*", "*/"}
    | {
        "\\",
        "`",
        "\u00a0",
        "::",
        ":=",
        "=>",
        "->",
        "..",
        "0x1F",
        "1_0",
        "1e3",
        "null",
        "'\n'",
    }
    | {
        "ignore nulls",
        "respect nulls",
        "using sample 1%",
        "repeatable (1)",
        "escape '!'",
        "lateral",
    }
    | {"within group (order by 1)", "filter (where true)", "over ()", "with ordinality", "as", "at"}
)


def alike(con, text):
    """Whether DuckDB reads ``text`` as it reads what sqlglot makes of it."""
    read = sqlglot.parse(text, read="duckdb")[0]
    select = read.expression if isinstance(read, sqlglot.exp.Create) else read
    trees = []
    for sql in (_query(text, read), select.sql("duckdb", comments=False)):
        (found,) = con.execute("select json_serialize_sql(?::varchar)", [sql]).fetchone()
        tree = json.loads(found)
        if tree["error"]:
            return None
        trees.append(_plain(tree))
    return trees[0] == trees[1]


def _query(text, read):
    """The query of a text; DuckDB writes trees of queries only."""
    if not isinstance(read, sqlglot.exp.Create):
        return text.rstrip().rstrip(";")
    tokens = sqlglot.tokenize(text, read="duckdb")
    start = next(t.end + 1 for t in tokens if t.text.lower() == "as")
    return text[start:]


PLACES = {"query_location", "query_location_length", "alias", "schema", "catalog"}
TYPE_NAMES = {"TEXT": "VARCHAR", "INT": "INTEGER"}


def _plain(tree):
    """A tree without places in the text, and with one spelling of what means the same."""
    if isinstance(tree, list):
        return [_plain(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    unaliased = PLACES - {"alias"} if tree.get("alias") else PLACES
    tree = {name: _plain(part) for name, part in tree.items() if name not in unaliased}
    if tree.get("null_order") == "NULLS LAST":
        tree["null_order"] = "ORDER_DEFAULT"
    if "type_name" in tree:
        kind = tree["type_name"].upper()
        tree["type_name"] = tree["qualified_name"] = TYPE_NAMES.get(kind, kind)
    if tree.get("type") == "OPERATOR_NOT" and tree["children"][0]["type"] == "OPERATOR_IS_NULL":
        tree = {**tree["children"][0], "type": "OPERATOR_IS_NOT_NULL"}
    arguments = [argument["expression"] for argument in tree.get("arguments") or []]
    match tree.get("function_name"), arguments:
        case ("if", [condition, yes, no]):
            checks = [{"when_expr": condition, "then_expr": yes}]
            return {"case_checks": checks, "else_expr": no, "type": "CASE_EXPR"}
        case ("range", [{"type": "VALUE_CONSTANT"}, _]):
            tree["arguments"] = tree["arguments"][1:]
        case ("+", [operand]):
            # +x is x, of whatever type it is defined for; sqlglot leaves it out.
            return operand | {"alias": tree["alias"]} if tree.get("alias") else operand
        case ("date_trunc", [{"literal": literal}, _]):
            literal["text"] = literal["text"].upper()
    if tree.get("type") == "CASE_EXPR" and len(tree["case_checks"]) == 1:
        return {name: tree[name] for name in ("case_checks", "else_expr", "type")}
    return tree


@pytest.fixture(scope="module")
def con():
    return duckdb.connect()


@st.composite
def edited(draw):
    """An accepted text with a few tokens taken out, put in, doubled or swapped."""
    text = draw(st.sampled_from(TEXTS))
    tokens = [text[t.start : t.end + 1] for t in sqlglot.tokenize(text, read="duckdb")]
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, max(len(tokens) - 1, 0)))
        deed = draw(st.sampled_from(["out", "in", "twice", "swap", "other"]))
        if not tokens or deed == "in":
            tokens.insert(place, draw(st.sampled_from(TOKENS)))
        elif deed == "out":
            del tokens[place]
        elif deed == "twice":
            tokens.insert(place, tokens[place])
        elif deed == "other":
            tokens[place] = draw(st.sampled_from(TOKENS))
        else:
            other = draw(st.integers(0, len(tokens) - 1))
            tokens[place], tokens[other] = tokens[other], tokens[place]
    return draw(st.sampled_from([" ", "\n", " "])).join(tokens)


@settings(max_examples=1500, deadline=None)
@given(text=edited())
@example(
    text="select +age as a, + count(*) as n from people tablesample bernoulli (10%)"
    " group by all having count(*) >= 20"
)
def test_what_is_proved_is_read_alike(con, text):
    if prove(text, "duckdb").shape is not None:
        assert alike(con, text) in {True, None}


@pytest.mark.parametrize("text", TEXTS)
def test_accepted_is_read_alike(con, text):
    assert alike(con, text) in {True, None}


@settings(max_examples=600, deadline=None)
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(TOKENS)).map(" ".join), edited()))
@example(text="(" * 5000)
@example(text="select " + "(" * 3000 + "1" + ")" * 3000)
@example(text="select " + "not " * 3000 + "true")
@example(text="select 1" + " + 1" * 20000)
@example(text="select case " + "when a = 1 then 1 " * 20000 + "end from t")
@example(text="select '" + "x" * 10**6)
@example(
    text="with " + ", ".join(f"a{i} as (select b || b as b from a{i - 1})" for i in range(1, 200))
)
@example(
    text="select " + ", ".join(f"a{i} || a{i} as a{i + 1}" for i in range(99)) + " group by a0"
)
@example(text="select x group by " + "9" * 5000 + " order by " + "9" * 5000)
@example(text="create")
@example(text="create table")
@example(text="create table a as")
@example(text="create index i on t (a)")
@example(text="create sequence s")
@example(text="select * from t tablesample")
@example(text="select unnest() from t")
@example(text="select unnest(range()) from t")
@example(text="select sum() from t group by 1")
@example(text="select row_number() over () from t")
@example(text="\ud800")
def test_no_text_is_too_odd(text):
    for schema in (None, Schema({"t": {"a": "INTEGER"}}, known=True)):
        proof = prove(text, "duckdb", schema)
        assert (proof.shape is None) == bool(proof.findings)


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(TOKENS)).map(" ".join)))
@example(text="{" * 100000)
@example(text='{"tables": ' + "[" * sys.getrecursionlimit() + "}")
@example(text='{"tables": null}')
@example(text='{"a": {"b": 1}}')
@example(text='{"a": [1]}')
@example(text='{"tables": {}, "views": []}')
@example(text="create table t (a)")
@example(text="create table t (a integer, check (a > 1))")
def test_no_schema_is_too_odd(text):
    from policy_engine.errors import UsageError

    try:
        parse_schema(text, "duckdb")
    except UsageError as error:
        assert str(error).startswith("the schema must be")
