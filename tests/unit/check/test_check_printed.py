"""Every text that the kernel prints is found again, and nothing else is certified."""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / part) for part in ("tests/golden", "tests/kernel")]

import cases  # noqa: E402
import claims  # noqa: E402

from policy_engine.check.answer import answer  # noqa: E402
from policy_engine.check.ddl import parse_schema  # noqa: E402
from policy_engine.check.printed_text import claims_of, types_alike, unwrapped  # noqa: E402
from policy_engine.check.schema import Schema  # noqa: E402
from policy_engine.engines import ENGINES  # noqa: E402
from policy_engine.engines.base import Refused  # noqa: E402
from policy_engine.errors import PolicyError  # noqa: E402
from policy_engine.kernel import printing  # noqa: E402
from policy_engine.kernel.certificate import check_text  # noqa: E402
from policy_engine.kernel.mechanisms import Listed, Noisy, Pure  # noqa: E402
from policy_engine.kernel.printing import printed  # noqa: E402

NOTHING = Schema()


def untold(parts):
    return lambda name, is_key=False: None


def told(types):
    return lambda name, is_key=False: (replace(types[name], collated=False),) if is_key else (
        types[name],)  # fmt: skip


READ = ("duckdb", "postgres", "clickhouse", "spark", "sqlite")
ALIKE = [e if e in READ else pytest.param(e, marks=pytest.mark.evidence) for e in ENGINES]


def is_of_a_policy_alone(claim):
    """Whether `check` knows no such text: of sums, groupings, periods, parts, lists, spans."""
    if claim.period is not None or claim.computed:
        return True
    law = claim.law
    return isinstance(law, Pure | Listed) or bool(
        isinstance(law, Noisy) and (law.quantities or law.groupings or law.parts > 1)
    )


@pytest.mark.parametrize("engine", ALIKE)
def test_every_golden_print_is_found_again(engine, tmp_path):
    found = 0
    for case in cases.cases_of(engine):
        with suppress(PolicyError):
            claim, text = cases.printed_of(case, tmp_path, engine)
            made = answer(text, engine, NOTHING)
            if is_of_a_policy_alone(claim):
                assert made.findings != (), case
                continue
            assert made.findings == (), case
            check_text(text, made.claim, engine)
            found += 1
    assert found > 10


@pytest.mark.parametrize("longest", [0, printing.LONG])
@pytest.mark.parametrize("engine", ALIKE)
def test_every_print_of_a_random_claim_is_found_again(engine, longest, monkeypatch):
    monkeypatch.setattr(printing, "LONG", longest)
    collates = ENGINES[engine].collates
    types = {name: replace(kind, collated=kind.collated or (collates and kind.kind == "text"))
             for name, kind in claims.COLUMNS.items()}  # fmt: skip
    lacks = {k for k, t in types.items() if f"{t.kind}_column" in ENGINES[engine].lacks}
    known = [k for k in types if k not in lacks and not k.startswith("csv")]
    found = asked = 0
    for drawn in claims.claims(random.Random(7), 80, known):
        claim = claims.on(drawn, drawn.source, types, ("main", "salts"))
        with suppress(Refused):
            text = printed(claim, engine)
            if is_of_a_policy_alone(claim):
                assert next(claims_of(text, engine, lambda _: told(types)), None) is None, text
                continue
            if next(claims_of(text, engine, untold), None) is None:
                # A decimal that is both filtered and rounded has digits that no text tells.
                assert next(claims_of(text, engine, lambda _: told(types)), None), text
                asked += 1
            found += 1
    assert found > 5
    assert asked <= 1


@pytest.mark.parametrize("case", ["keep", "bins", "key", "order_of_text"])
def test_the_types_that_are_alike_print_alike(case, tmp_path):
    claim, text = cases.printed_of(case, tmp_path, "trino")
    own = next(claims_of(text, "trino", untold))
    alike = types_alike(text, own, "trino")
    for column in claim.inputs:
        assert column.type.kind in {kind.kind for kind in alike[column.name]}


def test_blanks_and_comments_are_free_and_nothing_else(tmp_path):
    _, text = cases.printed_of("bins", tmp_path, "postgres")
    free = text.replace("\n", " \n-- a comment\n").replace("SELECT", "select")
    assert answer(free, "postgres", NOTHING).findings == ()
    for old, new in (
        (">= 5", ">= 4"),
        ("< 18", "<= 18"),
        ("COUNT(*)", "COUNT(age)"),
        ("'400", "'500"),
        ("WHERE pg_catalog.SHA256", "WHERE SHA256"),
        ('"main"."people"', '"people"'),
        ("FROM recoded", "FROM recoded r"),
        ("NOT MATERIALIZED", "MATERIALIZED"),
        ("ORDER BY", "LIMIT 5 ORDER BY"),
    ):
        assert old in text, old
        found = answer(text.replace(old, new), "postgres", NOTHING)
        changed = next(claims_of(text.replace(old, new), "postgres", untold), None)
        assert (found.findings == ()) == (changed is not None), (old, new)
        if changed is not None:  # another claim, said as it is
            check_text(text.replace(old, new), found.claim, "postgres")


def test_an_envelope_is_opened_and_no_other():
    assert unwrapped('CREATE TABLE "a"."b" AS\nSELECT 1', "postgres").target == ("a", "b")
    for text in ('CREATE VIEW "a" AS SELECT 1', "CREATE TABLE a AS SELECT 1", "SELECT 1 AS a",
                 'CREATE TABLE "a" "b" AS SELECT 1', "'"):  # fmt: skip
        assert unwrapped(text, "postgres").query == text


def test_a_release_does_not_write_over_its_source(tmp_path):
    _, text = cases.printed_of("bins", tmp_path, "postgres")
    found = answer(f'CREATE TABLE "main"."people" AS\n{text}', "postgres", NOTHING)
    assert [each.code for each in found.findings] == ["V34"]
    assert answer(f'CREATE TABLE "main"."out" AS\n{text}', "postgres", NOTHING).findings == ()


MYSQL = (
    "WITH sampled AS (\n  SELECT `sex`\n  FROM `a`.`people`\n  WHERE SHA2(CONCAT("
    "@policy_engine_salt, ':u:', CAST(`id` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE"
    " utf8mb4_0900_bin < '199999999999999'\n), recoded AS (\n  SELECT `sex` AS `sex`\n  FROM"
    " sampled\n)\nSELECT `sex`, COUNT(*) AS `n`\nFROM recoded\nGROUP BY `sex`\nHAVING COUNT(*)"
    " >= 20\nORDER BY `sex` IS NULL, `sex`"
)


@pytest.mark.parametrize(
    ("columns", "is_certified"),
    [
        ("id bigint primary key, sex integer", True),
        ("id varchar(9) collate utf8mb4_0900_bin, sex integer", True),
        ("id varchar(9), sex integer", False),  # 'a' is 'A' to the default collation
        ("id double, sex integer", False),
        ("id bigint, sex text", False),  # a text is printed as its bytes
        ("id bigint, sex json", False),
        ("id bigint, sex double", False),
        ("id bigint, other integer", False),
        ("id bigint, sex integer, code bigint primary key", False),
    ],
)
def test_a_print_is_certified_where_the_schema_has_its_types(columns, is_certified):
    schema = parse_schema(f"create table a.people ({columns})", "mysql")
    assert answer(MYSQL, "mysql", NOTHING).findings == ()
    assert (answer(MYSQL, "mysql", schema).findings == ()) == is_certified


def test_a_secret_does_not_stand_in_the_source():
    waiting = "(SELECT salt FROM {} WHERE release_id = 'next')"
    elsewhere = MYSQL.replace("@policy_engine_salt", waiting.format("`a`.`salts`"))
    assert answer(elsewhere, "mysql", NOTHING).findings == ()
    found = answer(elsewhere.replace("`a`.`salts`", "`A`.`People`"), "mysql", NOTHING)
    assert [each.code for each in found.findings] == ["V19"]
