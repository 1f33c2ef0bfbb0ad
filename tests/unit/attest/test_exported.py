"""A release in a table, checked on its export: the digest first, then as any release's rows."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.rows import BESIDE, ORDER_OF_CSV, TableRows, digest_of_lines
from policy_engine.attest.signers import KeySigner
from policy_engine.compile.rendering import headed
from policy_engine.errors import FileError, VerificationFailed
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.releasing.standing import digest_of_lines as made_digest

KEY = Ed25519PrivateKey.generate()
KEYS = TrustedKeys.of(KEY.public_key())
TABLE = "db.main.tab"
ENVELOPE = 'CREATE TABLE "db"."main"."tab" AS'


def facts(count="n", published_as=ENVELOPE):
    """The fields of a certificate of the sexes of a sample, which went into a table."""
    sex = Shown("sex", Column("sex", Type("text")), Keep())
    law = Keyed(threshold(Decimal("0.1")), 20)
    claim = Claim(Relation(("main", "people")), Rows(), law, (sex,), count)
    asked = Bounded(Decimal("0.5"), Decimal("1e-9"), rate=Decimal("0.1"))
    terms = Terms("r", "sha256:" + "5" * 64, "people", asked, published_as)
    text = headed(terms.policy_name, terms.policy_digest, printed(claim, "duckdb"))
    return predicate_of(certify(text, claim, "duckdb", terms))


def certificate(digest, subject=TABLE, **changes):
    return sign(statement(subject, digest, facts(**changes)), KeySigner(KEY)).to_json()


def exported(tmp_path, values, name="tab.parquet", options=""):
    """A table in a real engine, its export by that engine, and its rows' digest as released."""
    path = tmp_path / name
    with duckdb.connect() as connection:
        connection.execute(f"create table tab as {values}")
        lines = connection.execute("select columns(*)::varchar from tab").fetchall()
        connection.execute(f"copy (from tab) to '{path}' {options}")
    return path, made_digest(lines)[0]


GOOD = "select * from (values ('F', 20), ('M', 30), (NULL, 25)) t(sex, n)"
ROWS = "select 'F' as sex from range(20)"


@pytest.mark.parametrize("name", ["tab.parquet", "tab.csv", "tab.CSV"])
def test_an_export_of_the_table(tmp_path, name):
    path, digest = exported(tmp_path, GOOD, name, "(format csv)" if name == "tab.CSV" else "")
    found = verify_release(certificate(digest), KEYS, path)
    assert f"{name} holds the certified rows of {TABLE}, in their order" in found.checked
    assert "every one of 3 groups has at least 20" in found.checked
    assert (ORDER_OF_CSV in found.unchecked) == name.lower().endswith("csv")
    assert BESIDE.format(name) in found.unchecked
    assert ("its rows are sorted by what they show" in found.checked) != (
        ORDER_OF_CSV in found.unchecked
    )


@pytest.mark.parametrize("name", ["tab.parquet", "tab.csv"])
def test_an_export_as_rows(tmp_path, name):
    path, digest = exported(tmp_path, ROWS, name)
    found = verify_release(certificate(digest, count=None), KEYS, path)
    assert "every one of 1 groups has at least 20" in found.checked
    path, digest = exported(tmp_path, ROWS.replace("20", "19"), name)
    with pytest.raises(VerificationFailed, match="1 of 1 groups have fewer than k = 20"):
        verify_release(certificate(digest, count=None), KEYS, path)


def test_an_export_of_a_table_that_dbt_made_of_a_text_that_selects(tmp_path):
    path, digest = exported(tmp_path, GOOD)
    plain = {"published_as": "rows"}
    found = verify_release(certificate(digest, **plain), KEYS, path)
    assert f"tab.parquet holds the certified rows of {TABLE}, in their order" in found.checked
    left = verify_release(certificate(digest, **plain), KEYS).unchecked
    assert any(f"COPY (FROM {TABLE}) TO" in told for told in left)
    other, _ = exported(tmp_path, GOOD.replace("30", "31"), "other.parquet")
    with pytest.raises(VerificationFailed, match="does not hold the rows of"):
        verify_release(certificate(digest, **plain), KEYS, other)
    with pytest.raises(VerificationFailed, match=r"tab\.parquet is not the release"):
        verify_release(certificate(digest, subject="tab.parquet", **plain), KEYS, path)


def test_a_table_that_stands(tmp_path):
    lines = (("F", "20"), ("M", "30"), (None, "25"))
    text = certificate(digest_of_lines(lines))
    found = verify_release(text, KEYS, TableRows(TABLE.upper(), ("sex", "n"), lines))
    assert f"{TABLE.upper()} holds the certified rows, in their order" in found.checked
    assert "every one of 3 groups has at least 20" in found.checked
    assert ORDER_OF_CSV not in found.unchecked
    for table, why in [
        (TableRows("db.main.other", ("sex", "n"), lines), "the table is db.main.other, certified"),
        (TableRows(TABLE, ("sex", "n"), lines[:2]), "does not hold the certified rows"),
        (TableRows(TABLE, ("sex", "m"), lines), "the columns are sex, m, certified are sex, n"),
    ]:
        with pytest.raises(VerificationFailed, match=why):
            verify_release(text, KEYS, table)


EVERY_TYPE = """
select * from (values
  (date '0001-01-01', timestamp '2000-01-01 10:00:00.5', time '10:00', 1.50::decimal(9,2), true,
   'a"b,c' || chr(10) || 'ä', 7::utinyint, 20),
  (NULL, NULL, NULL, NULL, NULL, '', NULL, 20),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, 20)) t(a, b, c, d, e, f, g, n)
"""


@pytest.mark.parametrize("name", ["tab.parquet", "tab.csv"])
def test_every_type_has_the_text_that_was_digested(tmp_path, name):
    path, digest = exported(tmp_path, EVERY_TYPE, name)
    told = "the columns are a, b, c, d, e, f, g, n, certified are sex, n"
    with pytest.raises(VerificationFailed) as caught:
        verify_release(certificate(digest), KEYS, path)
    assert caught.value.reasons == (told,)


def test_without_an_export_it_says_how(tmp_path):
    found = verify_release(certificate("0" * 64), KEYS)
    assert found.unchecked[-1] == (
        f"the release is the table {TABLE}, which was not looked at: export the table in its own"
        f" order: COPY (FROM {TABLE}) TO 'release.parquet', and name that file with --release"
    )


def refused(path, digest):
    with pytest.raises(VerificationFailed) as caught:
        verify_release(certificate(digest), KEYS, path)
    return "\n".join(caught.value.reasons)


@pytest.mark.parametrize("name", ["tab.parquet", "tab.csv"])
@pytest.mark.parametrize(
    "other",
    [
        GOOD.replace("20", "21"),
        GOOD.replace("'F'", "'f'"),
        GOOD.replace("NULL", "''"),
        GOOD + " order by n desc",
        GOOD + " limit 2",
    ],
)
def test_other_rows_than_the_tables(tmp_path, name, other):
    _, digest = exported(tmp_path, GOOD)
    path, _ = exported(tmp_path, other, name)
    assert f"{name} does not hold the rows of {TABLE}: their digest is another" in refused(
        path, digest
    )


BAD = {
    "1 of 3 groups have fewer than k = 20": GOOD.replace("20", "19"),
    "a group stands in two rows": GOOD.replace("'M'", "'F'"),
    "the columns are sex, m, certified are sex, n": GOOD.replace("(sex, n)", "(sex, m)"),
    "the columns are sex, n, more, certified": GOOD.replace("select *", "select *, 1 as more"),
    "the count column does not hold whole numbers": GOOD.replace(
        "select *", "select sex, n||'x' n"
    ),
}


@pytest.mark.parametrize("name", ["tab.parquet", "tab.csv"])
@pytest.mark.parametrize(("reason", "values"), BAD.items(), ids=BAD)
def test_rows_that_were_signed_and_do_not_hold(tmp_path, name, reason, values):
    path, digest = exported(tmp_path, values, name)
    assert reason in refused(path, digest)


def test_rows_in_a_telling_order_that_was_signed(tmp_path):
    path, digest = exported(tmp_path, GOOD + " order by n desc")
    assert refused(path, digest) == "the rows are not sorted by the released columns"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tab.json", b"{}"),
        ("tab.parquet", b"PAR1PAR1"),
        ("tab.csv", b""),
        ("tab.csv", b"\xff\xfe\n\xff"),
        ("tab.csv", b"a,b\n1\n"),
    ],
)
def test_what_is_no_export(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    told = refused(path, "0" * 64)
    assert f"{name} is no Parquet or CSV file with the rows of a table; export the table" in told


def test_an_export_with_other_bytes_than_utf8(tmp_path):
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    path = tmp_path / "tab.parquet"
    pq.write_table(pa.table({"sex": text, "n": [20]}), path)
    assert "is no Parquet or CSV file with the rows of a table" in refused(path, "0" * 64)


@pytest.mark.parametrize("name", ["tab.parquet", "tab.csv"])
def test_an_export_that_is_not_there(tmp_path, name):
    with pytest.raises(FileError, match="could not be read: No such file"):
        verify_release(certificate("0" * 64), KEYS, tmp_path / name)


def test_another_table_than_the_sql_makes(tmp_path):
    path, digest = exported(tmp_path, GOOD)
    with pytest.raises(
        VerificationFailed, match=r"the SQL makes the table db\.main\.tab, certified"
    ):
        verify_release(certificate(digest, subject="db.main.other"), KEYS, path)


def test_a_name_in_other_letters_is_the_same_table(tmp_path):
    path, digest = exported(tmp_path, GOOD)
    assert verify_release(certificate(digest, subject="DB.main.Tab"), KEYS, path)


def test_the_release_of_a_file_is_no_export(tmp_path):
    """The digest of a table's rows is not that of a file, and the SQL says which it is."""
    path, digest = exported(tmp_path, GOOD)
    text = certificate(digest, "r.parquet", published_as="rows")
    with pytest.raises(VerificationFailed, match="is not the release: its SHA-256 is"):
        verify_release(text, KEYS, path)


def test_the_digest_is_that_of_a_release():
    lines = [("a", None), ("ä\n", "1")]
    assert digest_of_lines(lines) == made_digest(lines)[0]
    assert digest_of_lines([]) == hashlib.sha256(b"").hexdigest()
    assert json.loads(json.dumps(lines[0])) == ["a", None]


def test_a_file_named_like_a_pattern(tmp_path):
    path, digest = exported(tmp_path, GOOD, "a.parquet")
    odd = path.rename(tmp_path / "a[1]*.parquet")
    pq.write_table(pa.table({"sex": ["X"], "n": [1]}), tmp_path / "a1x.parquet")
    assert verify_release(certificate(digest), KEYS, odd)
