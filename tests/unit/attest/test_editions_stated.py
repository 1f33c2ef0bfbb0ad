"""Editions in certificates: stated once, read again, and held against what the SQL reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import Unverified, sign, statement
from policy_engine.attest.certificates import (
    added_edition,
    certificate_in,
    is_made_by_dbt,
    predicate_of,
)
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.rows import how_to_export
from policy_engine.attest.signers import KeySigner
from policy_engine.compile.rendering import headed
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.certificate import ROWS, Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.editions import PART, Edition
from policy_engine.kernel.filters import within
from policy_engine.kernel.mechanisms import Native
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.releasing.requests import Ends, new_run

NOVEMBER = Edition("2026-11", "UTC", "visited")
ENDS = (date(2026, 11, 1), date(2026, 12, 1))
DIGEST = f"sha256:{'0' * 64}"


@pytest.fixture(scope="module")
def key():
    return Ed25519PrivateKey.generate()


def certificate(edition, ends=None, published_as="rows"):
    period = None if ends is None else within(Column("visited", Type("date")), *ends)
    shown = Shown("sex", Column("sex", Type("text")), Keep())
    law = Native(Decimal("0.1"), 20)
    claim = Claim(Relation(("main", "visits")), Rows(), law, (shown,), period=period)
    asked = Bounded(Decimal("0.5"), Decimal("1e-9"), rate=Decimal("0.1"))
    terms = Terms("a", DIGEST, "visits", asked, published_as, "1", edition=edition)
    return certify(headed("a", DIGEST, printed(claim, "duckdb")), claim, "duckdb", terms)


def verified(key, facts, name="r.parquet"):
    text = sign(statement(name, "0" * 64, facts), KeySigner(key)).to_document()
    return verify_release(text, TrustedKeys.of(key.public_key()))


EDITIONS = {
    "a period": (NOVEMBER, ENDS),
    "a period, asked for": (replace(NOVEMBER, is_asked=True), ENDS),
    "a refresh": (Edition("2026-W48", "Asia/Tokyo"), None),
    "another draw": (Edition("second", is_asked=True), None),
    "a revision": (Edition(is_asked=True), None),
}


@pytest.mark.parametrize(
    ("published_as", "by_dbt"),
    [
        (ROWS, True),
        (PART, True),
        ("INSERT INTO visits_public", False),
        ("CREATE TABLE v AS", False),
    ],
)
def test_a_certificate_says_whether_dbt_made_its_table(published_as, by_dbt):
    assert is_made_by_dbt(certificate(NOVEMBER, ENDS, published_as)) == by_dbt


@pytest.mark.parametrize("named", EDITIONS)
def test_an_edition_is_stated_read_again_and_verified(key, named):
    made = certificate(*EDITIONS[named])
    facts = predicate_of(made)
    assert certificate_in(Unverified("", "", facts)) == made
    assert verified(key, facts).certificate == made
    asks = EDITIONS[named][0].is_asked
    assert ("asked_blind" in {each.code for each in made.assumptions}) is asks


def test_a_row_is_a_unit_as_long_as_it_stays_in_its_period():
    codes = [each.code for each in certificate(NOVEMBER, ENDS).assumptions]
    assert "period_stays" in codes
    assert "period_stays" not in [each.code for each in certificate(None).assumptions]


@pytest.mark.parametrize(
    ("edition", "ends", "law"),
    [
        (None, ENDS, "it reads the rows of one period, and says all"),
        (NOVEMBER, None, "it says the rows of one period, and reads all"),
        (Edition("2026-10", "UTC", "visited"), ENDS, "the rows of another period"),
        (Edition("2026-11", "UTC", "left"), ENDS, "it says a period by left"),
    ],
)
def test_an_edition_that_the_sql_does_not_read_is_refused(key, edition, ends, law):
    with pytest.raises(VerificationFailed, match=f"edition is not what its claim reads.*{law}"):
        verified(key, predicate_of(certificate(edition, ends)))


def test_who_asked_is_stated_as_an_assumption(key):
    facts = predicate_of(certificate(Edition("second", is_asked=True)))
    facts["assumptions"] = [each for each in facts["assumptions"] if each["code"] != "asked_blind"]
    with pytest.raises(VerificationFailed, match="nothing in the source was a reason"):
        verified(key, facts)


def test_what_a_session_may_use_is_stated_read_again_and_verified(key):
    plain = certificate(None)
    settings = (("max_parallel_workers_per_gather", "2"), ("work_mem", "64MB"))
    made = replace(plain, terms=replace(plain.terms, settings=settings))
    facts = predicate_of(made)
    assert facts["settings"] == dict(settings)
    assert "settings" not in predicate_of(plain)
    assert verified(key, facts).certificate == made


@pytest.mark.parametrize(
    "stated",
    [None, {}, "64MB", [], {"work_mem": 64}, {"work_mem": "all of it"}, {"Work mem": "64MB"}],
)
def test_settings_of_another_form_are_refused(stated):
    facts = {**predicate_of(certificate(None)), "settings": stated}
    with pytest.raises(VerificationFailed, match=r"misstates: .*settings"):
        certificate_in(Unverified("", "", facts))


@pytest.mark.parametrize(
    "stated",
    [
        None, "2026-11", {}, {"name": ""}, {"name": "2026-11"}, {"name": "2026-13", "zone": "UTC"},
        {"name": "2026-11", "zone": "Berlin"}, {"name": "second", "asked": "yes"},
        {"name": "second", "asked": True, "more": 1}, {"name": 7, "zone": "UTC"},
        {"name": "2026-11", "zone": "UTC", "rows": {"column": "visited"}},
        {"name": "2026-11", "zone": "UTC", "rows": {
            "column": "visited", "start": "2026-11-01T00:00:00Z", "end": "2026-12-02T00:00:00Z"}},
    ],
)  # fmt: skip
def test_an_edition_of_another_form_is_refused(stated):
    facts = {**predicate_of(certificate(NOVEMBER, ENDS)), "edition": stated}
    with pytest.raises(VerificationFailed, match=r"misstates: .*edition"):
        certificate_in(Unverified("", "", facts))


def test_rows_that_are_added_to_a_table_are_exported_by_their_edition(key):
    made = certificate(NOVEMBER, ENDS, 'INSERT INTO "db"."main"."visits_all"')
    assert added_edition(made) == "2026-11"
    assert "WHERE edition = '2026-11'" in how_to_export(made, "db.main.visits_all")
    found = verified(key, predicate_of(made), "db.main.visits_all")
    assert any("WHERE edition = '2026-11'" in each for each in found.unchecked)
    with pytest.raises(VerificationFailed, match=r"makes the table db\.main\.visits_all"):
        verified(key, predicate_of(made), "db.main.other")


def test_a_table_by_itself_is_exported_whole():
    made = certificate(NOVEMBER, ENDS, 'CREATE TABLE "visits" AS')
    assert added_edition(made) == added_edition(certificate(None)) == ""
    assert "COPY (FROM visits)" in how_to_export(made, "visits")


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("postgres", 'COPY (SELECT "sex"::text COLLATE "C" AS "sex", "n"::text COLLATE "C" AS "n"'
                     ' FROM "mart"."visits"{} ORDER BY 1, 2) TO STDOUT (FORMAT csv, HEADER)'),
        ("mariadb", "the rows of SELECT `sex`, `n` FROM `mart`.`visits`{}, as CSV in which"),
    ],
)  # fmt: skip
def test_the_export_is_a_text_of_the_engine_that_has_the_table(engine, told):
    name = '"edition"' if engine == "postgres" else "`edition`"
    for edition, where in ((NOVEMBER, f" WHERE {name} = '2026-11'"), (None, "")):
        made = certificate(edition, edition and ENDS, PART if edition else "rows")
        found = how_to_export(replace(made, engine=engine), "mart.visits")
        assert told.format(where) in found and "EXCLUDE" not in found
        assert found.startswith("export the table in the order of each value's text")


REFRESH = Edition("2026-11", "UTC")


@pytest.mark.parametrize(
    ("edition", "ends", "published_as", "added"),
    [
        (NOVEMBER, ENDS, PART, "2026-11"),
        (REFRESH, None, PART, "2026-11"),
        (REFRESH, None, ROWS, ""),  # it takes the place of the last
        (None, None, ROWS, ""),
    ],
)
def test_dbts_table_of_several_editions_is_read_by_edition(key, edition, ends, published_as, added):
    made, name = certificate(edition, ends, published_as), "prod.main.visits_v1"
    facts = predicate_of(made)
    assert certificate_in(Unverified("", "", facts)) == made
    assert added_edition(made) == added
    found = verified(key, facts, name)
    assert any("WHERE edition = '2026-11'" in each for each in found.unchecked) is bool(added)
    run = new_run("", Ends.of_table(name, Path("a"), Path()), made, {})
    assert run.appended == added
