"""One of a person's rows, drawn by a keyed hash."""

import pytest

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

SECRET = "(select salt from salts where release_id = 'next')"
PLACED = (
    "select person, ward, row_number() over (partition by person order by day, ward) as place"
    " from visits where sha256({secret} || ':u:' || person) < '19'"
)
DRAWN = (
    "row_number() over (partition by person order by sha256({secret} || ':o:' ||"
    " cast(person as varchar) || ':' || cast(place as varchar)), place)"
)
KNOWN = Schema({"visits": {"person": "BIGINT", "ward": "VARCHAR", "day": "DATE"}}, known=True)


def release(drawn=DRAWN, secret="?", where="rank = 1", placed=PLACED, more=""):
    return (
        f"with placed as ({placed}), {more} chosen as (select place, ward, {drawn} as rank"
        f" from placed) select ward, count(*) as n from chosen where {where} group by ward"
        " having count(*) >= 20 order by ward"
    ).format(secret=secret)


def codes(sql, schema=None):
    return [finding.code for finding in prove(sql, schema).findings]


@pytest.mark.parametrize("schema", [None, KNOWN])
@pytest.mark.parametrize("secret", ["?", "$salt", SECRET])
def test_it_is_one_row_a_person(secret, schema):
    proof = prove(release(secret=secret), schema)
    assert [str(finding) for finding in proof.findings] == []
    assert (proof.shape.one_row, proof.shape.draws_a_row, proof.shape.unit) == (
        True,
        True,
        "person",
    )
    assert [term.name for term in proof.shape.rank_order] == ["day", "ward"]


def test_as_it_is_written_in_qualify():
    chosen = f"select ward from ({PLACED}) qualify {DRAWN} = 1".format(secret="?")
    sql = f"select ward, count(*) as n from ({chosen}) group by ward having count(*) >= 20"
    assert codes(sql) == []
    assert prove(sql).shape.draws_a_row


@pytest.mark.parametrize(
    "change",
    [
        (":o:", ":u:"),
        ("|| ':' ||", "|| '' ||"),
        ("|| ':' ||", "|| place ||"),
        ("cast(person", "cast(ward"),
        ("cast(place", "cast(ward"),
        ("':o:' ||", ""),
        ("{secret}", "'known'"),
        ("{secret}", "ward"),
        ("{secret}", "(select salt from placed where release_id = 'next')"),
        ("partition by person", "partition by ward"),
        ("partition by person", "partition by person, ward"),
        ("row_number()", "rank()"),
        (", place)", ")"),
        (", place)", ", ward)"),
        (", place)", ", place, ward)"),
        ("cast(place", "cast(gone"),
    ],
)
def test_what_is_not_that_hash(change):
    assert "V10" in codes(release(DRAWN.replace(*change, 1)))


def test_of_rows_that_have_no_number_yet():
    placed = (
        "select person, ward, day as place from visits where sha256(? || ':u:' || person) < '1'"
    )
    assert "V10" in codes(release(placed=placed))


def test_of_rows_of_which_one_was_kept():
    placed = f"select * from ({PLACED}) where place = 1"
    assert "V10" in codes(release(placed=placed))


def test_a_second_draw():
    twice = f"{DRAWN} as first, {DRAWN}"
    assert "V10" in codes(release(twice))


def test_the_number_before_the_draw_is_another():
    assert "V10" in codes(release(where="place = 1"))


def test_a_secret_that_a_query_of_the_text_makes():
    made = "salts as (select 'known' as salt, 'next' as release_id from visits),"
    assert "V10" in codes(release(secret=SECRET, more=made))


def test_a_secret_that_the_source_holds():
    secret = "(select salt from visits where release_id = 'next')"
    assert codes(release(DRAWN.replace("{secret}", secret))) == ["V19"]
