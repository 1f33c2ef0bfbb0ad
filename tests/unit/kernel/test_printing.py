"""What is printed of a claim, and what is refused."""

import shutil
import sys
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import jinja2
import pytest

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.kernel import printing
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import one_of, within
from policy_engine.kernel.fragments import in_sample
from policy_engine.kernel.mechanisms import (
    Clip,
    IntegerTable,
    Keyed,
    Native,
    Noisy,
    NoisyPart,
    Quantile,
    Secret,
)
from policy_engine.kernel.printing import printed, templates, templates_digest
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    Files,
    JoinedRelation,
    People,
    Relation,
    Rows,
)
from policy_engine.kernel.types import Type

EVERY = list(ENGINES)
RUN_HERE = ("duckdb", "postgres", "mariadb", "spark", "clickhouse", "datafusion", "sqlite")
ID = Column("id", Type("integer"))
AGE = Column("age", Type("integer"))
CLAIM = Claim(
    Relation(("main", "people")), People(ID, ((AGE, True),)), Keyed(1 << 59, 5),
    (Shown("age", AGE, Keep()),),
)  # fmt: skip


def of(kind: Type, recode, **more) -> Claim:
    """A claim that shows one column."""
    return replace(CLAIM, columns=(Shown("shown", Column("c", kind), recode),), **more)


@pytest.mark.parametrize("name", EVERY)
def test_the_sample_names_its_secret_and_sixty_bits(name):
    text = printed(CLAIM, name)
    waits = printed(replace(CLAIM, law=Keyed(1 << 59, 5, secret=Secret(("a", "b"), "r"))), name)
    quote = ENGINES[name].quote
    assert "800000000000000" in text
    assert "release_id = 'r'" in waits
    assert quote + "a" in waits
    secret = ENGINES[name].secret if name != "duckdb" else ""  # it has drawn the sample before
    assert (secret in text) if secret else ("policy_engine" in text)
    assert text != waits


@pytest.mark.parametrize("name", EVERY)
def test_a_row_is_drawn_under_the_sample_s_secret(name):
    drawn = replace(CLAIM, unit=People(ID, Drawn()))
    waits = replace(drawn, law=Keyed(1 << 59, 5, secret=Secret(("a", "b"), "r")))
    quote, secret = ENGINES[name].quote, ENGINES[name].secret
    hashed = printed(drawn, name).split("ORDER BY")[2].split(", policy_engine_place)")[0]
    assert all(part in hashed for part in (":o:", f"{quote}id", "policy_engine_place"))
    asked = "policy_engine.salt" if name == "postgres" else "policy_engine_salts"
    assert (secret or asked) in hashed
    assert printed(waits, name).count("release_id = 'r'") == 2
    assert printed(drawn, name).count(f"SELECT {quote}age") == 3


@pytest.mark.parametrize("name", EVERY)
def test_a_filter_is_of_the_row_that_a_unit_has_and_read_where_no_name_is_made(name):
    """Some engines let a name of the select list stand for a column in WHERE."""
    claim = replace(CLAIM, filter=(within(ID, at_least=3),))
    for unit in (claim.unit, People(ID, Drawn()), People(ID, None)):
        text = printed(replace(claim, unit=unit), name)
        before, after = text.split("kept AS")
        query = after[: after.index("recoded AS")]
        assert query.count(" AS ") == query.count("AS CHAR")
        assert ("policy_engine_rank = 1 AND" in query) is (unit.order is not None)
        assert "kept" not in before
        assert f"{ENGINES[name].quote}id" in before.split("FROM")[0]
        assert "FROM kept" in after


def test_a_column_of_the_filter_alone_is_not_grouped_by():
    raw = replace(CLAIM, filter=(one_of(ID, (3,)),), law=Keyed(1 << 59, 5, raw_first=True))
    counted = printed(raw, "duckdb").split("counted AS")[1].split("recoded AS")[0]
    assert '"id"' not in counted


def test_a_key_that_is_shown_is_read_once():
    shown = (*CLAIM.columns, Shown("id", ID, Keep()))
    text = printed(replace(CLAIM, unit=People(ID, Drawn()), columns=shown), "duckdb")
    assert 'SELECT "age", "id",\n    ROW_NUMBER()' in text


def test_templates_are_compiled_once_and_anew_where_they_change(tmp_path, monkeypatch):
    folder = tmp_path / "sql_templates"
    shutil.copytree(templates(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(printing, "templates", lambda: folder)
    kept = folder / "__pycache__"

    def again():
        printing.environment.cache_clear()
        return printed(CLAIM, "duckdb")

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = again()
    assert not kept.exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert again() == text
    assert any(kept.iterdir())
    monkeypatch.setattr(jinja2.Environment, "_generate", None)  # what compiles
    assert again() == text
    monkeypatch.undo()
    monkeypatch.setattr(printing, "templates", lambda: folder)
    for each in kept.iterdir():
        each.write_bytes(each.read_bytes()[:40])  # torn by a crash
    assert again() == text
    law = folder / "mechanisms" / "sampled_suppression.sql.j2"
    law.write_text(law.read_text(encoding="utf-8").replace("FROM", "FROM  "), encoding="utf-8")
    assert "FROM  " in again()
    monkeypatch.undo()
    printing.environment.cache_clear()


@pytest.mark.parametrize(("name", "joins"), [("duckdb", True), ("mysql", False)])
def test_a_long_map_is_joined_where_an_engine_has_lists(name, joins):
    shorter = of(Type("text"), Map(((tuple(f"k{n}" for n in range(200)), "a"),), "b"))
    longer = of(Type("text"), Map(((tuple(f"k{n}" for n in range(201)), "a"),), "b"))
    assert "policy_engine_lookup_1" not in printed(shorter, name)
    assert ("policy_engine_lookup_1" in printed(longer, name)) is joins


@pytest.mark.parametrize("name", EVERY)
def test_a_text_is_one_of_its_claim_alone(name):
    others = [
        CLAIM,
        replace(CLAIM, count="people"),
        replace(CLAIM, law=Keyed(1 << 59, 6)),
        replace(CLAIM, law=Keyed((1 << 59) + 1, 5)),
        replace(CLAIM, law=Keyed(1 << 59, 5, raw_first=True)),
        replace(CLAIM, source=Relation(("main", "others"))),
        replace(CLAIM, unit=People(ID, None)),
        replace(CLAIM, unit=People(ID, Drawn())),
        replace(CLAIM, filter=(one_of(AGE, (1,)),)),
        replace(CLAIM, filter=(one_of(AGE, (1, 2)),)),
        replace(CLAIM, filter=(within(AGE, at_least=1),)),
        replace(CLAIM, filter=(within(AGE, below=1),)),
        replace(CLAIM, filter=(within(AGE, at_least=1, below=2),)),
        replace(CLAIM, filter=(one_of(ID, (1,)),)),
        replace(CLAIM, filter=(one_of(ID, (1,)), one_of(AGE, (1,)))),
        replace(CLAIM, filter=(one_of(AGE, (1,)),), law=Keyed(1 << 59, 5, raw_first=True)),
        replace(CLAIM, filter=(one_of(AGE, (1,)),), unit=People(ID, Drawn())),
        replace(CLAIM, filter=(one_of(AGE, (1,)),), unit=People(ID, None)),
        replace(CLAIM, unit=People(ID, ((AGE, False),))),
        replace(CLAIM, unit=People(AGE, ((AGE, True),))),
        replace(CLAIM, columns=(Shown("years", AGE, Keep()),)),
        replace(CLAIM, columns=(Shown("age", AGE, Bins((18,), ("a", "b"))),)),
        replace(CLAIM, columns=(Shown("age", AGE, Bins((18,), ("a", "c"))),)),
        replace(CLAIM, columns=(Shown("age", AGE, Bins((19,), ("a", "b"))),)),
        replace(CLAIM, columns=(Shown("age", AGE, Map((((18,), None),), "b")),)),
        replace(CLAIM, columns=(Shown("age", AGE, Map((((18,), "a"),), None)),)),
        replace(CLAIM, columns=(Shown("age", AGE, Round(Decimal(5))),)),
        replace(CLAIM, columns=(Shown("age", AGE, Round(Decimal(10))),)),
    ]
    texts = [printed(claim, name) for claim in others]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", EVERY)
def test_rows_that_tie_are_told_apart_by_what_is_recoded(name):
    tied = of(Type("date"), Keep())
    if name != "sqlite":
        last = printed(tied, name).split("PARTITION BY")[1].split("policy_engine_rank")[0]
        assert f"{ENGINES[name].quote}c" in last
    unique = printed(replace(CLAIM, unit=People(ID, None)), name)
    assert "policy_engine_rank" not in unique


def test_rows_are_drawn_by_their_number_or_by_the_engine():
    rows = replace(CLAIM, unit=Rows())
    bit = "GET_BIT(policy_engine_bits, CAST({} % 4096 AS INTEGER)) = 1"
    assert f"policy_engine_block = rowid >> 12\n  WHERE {bit.format('rowid')}" in printed(
        rows, "duckdb"
    )
    one = replace(rows, source=Files("it's.parquet"))
    assert "READ_PARQUET('it''s.parquet', file_row_number = TRUE)" in printed(one, "duckdb")
    many = replace(CLAIM, source=Files("a/*.parquet", True))
    assert "READ_PARQUET('a/*.parquet', hive_partitioning = FALSE)" in printed(many, "duckdb")
    loaded = replace(rows, source=Files('a"b.csv', kind="csv", options=(("skip", 1),)))
    assert 'FROM "temp"."main"."a""b.csv" JOIN (SELECT policy' in printed(loaded, "duckdb")
    delta = replace(CLAIM, source=Files("lake", True, "delta"))
    assert 'FROM "temp"."main"."lake"\n' in printed(delta, "duckdb")
    native = replace(rows, law=Native(Decimal("0.125"), 5))
    assert "(12.5 PERCENT)" in printed(native, "duckdb")
    assert "TABLESAMPLE" in printed(native, "spark")


_WARDS = (Column("ward", Type("integer")), Column("id_of_ward", Type("integer")))
MEDIAN = Quantile(
    "median", Column("days", Type("integer")), Clip(0, 9, absent=0), Decimal("0.5"), 0, Decimal(1)
)
LACKED = {
    "join": replace(
        CLAIM,
        joins=(
            JoinedRelation(
                Relation(("hosp", "wards")),
                (_WARDS,),
                (Column("region", Type("integer")),),
                True,
            ),
        ),
    ),
    "file": replace(CLAIM, source=Files("a.parquet")),
    "row_number": replace(CLAIM, unit=Rows()),
    "native_sample": replace(CLAIM, unit=Rows(), law=Native(Decimal("0.1"), 5)),
    "try_cast": of(Type("timestamp_other"), Keep()),
    "strict_cast": replace(
        CLAIM, columns=(Shown("c", Column("c", Type("text"), "integer"), Keep()),)
    ),
    "repeat": replace(CLAIM, count=None),
    "bytewise": of(Type("text", collated=True), Keep()),
    "text_key": replace(CLAIM, unit=replace(CLAIM.unit, key=Column("id", Type("text")))),
    "decimal_column": of(Type("decimal", 9, 2), Keep()),
    "date_column": of(Type("date"), Keep()),
    "timestamp_column": of(Type("timestamp"), Keep()),
    "timestamp_zoned_column": of(Type("timestamp_zoned"), Keep()),
    "zone": of(Type("timestamp_zoned"), Truncate("hour", "Europe/Berlin")),
    "text_column": of(Type("text"), Keep()),
    "label_column": of(Type("label"), Keep()),
    "double_column": of(Type("double"), Round(Decimal(5))),
    "boolean_column": of(Type("boolean"), Keep()),
    "uuid_text": of(Type("uuid"), Keep()),
    "names_by_case": replace(CLAIM, filter=(one_of(Column("ID", Type("integer")), (1,)),)),
    "fine_decimal": of(Type("decimal", 12, 2), Round(Decimal("0.0000000005"))),
    "week_or_hour": of(Type("date"), Truncate("week")),
    "first_half": replace(CLAIM, law=NoisyPart(IntegerTable((1 << 59,), 1), 1)),
    "blank_label": replace(CLAIM, columns=(Shown("c", None, Constant("a ")), CLAIM.columns[0])),
    "choice": replace(CLAIM, law=Noisy(IntegerTable((1 << 59,), 0), 1, quantiles=(MEDIAN,))),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("lack", LACKED)
def test_what_an_engine_lacks_is_refused_with_the_reason_and_a_remedy(name, lack):
    engine = ENGINES[name]
    if lack not in engine.lacks or (lack == "zone" and "timestamp_zoned_column" in engine.lacks):
        return  # where there are no moments of a zone, that is told first
    with pytest.raises(Refused) as refused:
        printed(LACKED[lack], name)
    assert "; ".join(engine.lacks[lack]) in str(refused.value)


def test_every_lack_is_asked_for():
    lacks = {lack for engine in ENGINES.values() for lack in engine.lacks}
    assert lacks <= {*LACKED, "create_table"}  # an envelope is no claim's


@pytest.mark.parametrize("name", [name for name in EVERY if name != "duckdb"])
def test_the_sample_s_condition_is_the_one_that_is_printed(name):
    number, text = in_sample(name, "id", Decimal("0.5"))
    assert number in printed(CLAIM, name)
    assert text != number


def test_a_form_that_an_engine_has_not_is_refused():
    with pytest.raises(Refused, match="it has no form nothing_at_all"):
        printing.environment("clickhouse").from_string("{{ e.nothing_at_all() }}").render()


@pytest.mark.parametrize("name", EVERY)
def test_a_128_bit_key_of_a_map_is_a_text(name):
    """It could not be printed: a number was asked of a text."""
    claim = of(Type("wide_integer"), Map(((("18446744073709551616",), "x"),), None))
    assert "'18446744073709551616'" in printed(claim, name)


@pytest.mark.parametrize("name", ["duckdb", "postgres", "spark"])
def test_a_key_with_more_digits_than_its_column_is_no_error(name):
    """DuckDB said that the value was out of range."""
    claim = of(Type("decimal", 4, 2), Map((((Decimal("12345.67"),), "x"),), None))
    assert "CAST(12345.67 AS DECIMAL(38, 2))" in printed(claim, name)


def test_a_value_that_is_no_node_reaches_no_text():
    with pytest.raises(TypeError, match="a hole was given str"):
        printing.environment("duckdb").from_string("{{ x }}").render(x="1; DROP TABLE people")


def test_the_digest_is_of_every_template(monkeypatch, tmp_path):
    first = templates_digest("duckdb")
    for file in sorted(templates().rglob("*.sql.j2")):
        copy = tmp_path / file.relative_to(templates())
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(printing, "templates", lambda: tmp_path)
    assert templates_digest.__wrapped__("duckdb") == first
    (tmp_path / "envelopes").mkdir(exist_ok=True)
    (tmp_path / "envelopes" / "table.sql.j2").write_text("x")
    assert templates_digest.__wrapped__("duckdb") == first
    with (tmp_path / "recodes.sql.j2").open("a") as file:
        file.write(" ")
    assert templates_digest.__wrapped__("duckdb") != first


def test_the_templates_stand_beside_the_package_where_it_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(printing, "_PACKAGED", tmp_path)
    assert templates() == tmp_path


def test_prefixes_and_truth_values():
    assert 'LEFT("c", 3)' in printed(of(Type("text"), Prefix(3)), "duckdb")
    truth = of(Type("boolean"), Map((((True,), "yes"), ((False,), "no")), None))
    assert "IN (TRUE) THEN 'yes'" in printed(truth, "duckdb")
    assert "IN (FALSE) THEN 'no'" in printed(truth, "duckdb")


def test_days_and_moments_are_printed_as_such():
    day = printed(of(Type("date"), Bins((date(2026, 1, 31),), ("a", "b"))), "duckdb")
    assert "< CAST('2026-01-31' AS DATE) THEN 'a'" in day
    moment = of(Type("timestamp"), Bins((datetime(2026, 1, 31, 12, 0, 0, 1),), ("a", "b")))
    assert "< CAST('2026-01-31 12:00:00.000001' AS TIMESTAMP)" in printed(moment, "duckdb")
