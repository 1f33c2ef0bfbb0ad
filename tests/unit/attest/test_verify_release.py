"""A release and its certificate, from the files alone: every lie has its reason."""

import copy
import hashlib
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.errors import DomainError, FileError, UsageError, VerificationFailed
from policy_engine.verify.certificate import population_rate

KEY = Ed25519PrivateKey.generate()
SQL = (
    "select sex, count(*) as n from people where rowid in (select unit from"
    " policy_engine_sample_199999999999999) group by sex having count(*) >= 20 order by sex"
)
ROWS = (
    "with g as (select sex, count(*) as n from people tablesample bernoulli (10%) group by sex"
    " having count(*) >= 20) select sex from (select sex, unnest(range(n)) as i from g) order by 1"
)


def digest(sql):
    return "sha256:" + hashlib.sha256(sql.encode()).hexdigest()


FACTS = {
    "version": 1,
    "mechanism": "sampled-suppression",
    "k": 20,
    "rate": "0.1",
    "sampled_at": "1",
    "epsilon": "0.5",
    "delta": "2.7E-11",
    "neighbours": "add_remove",
    "unit": "row",
    "assumptions": ["one row of people is one person"],
    "columns": ["sex"],
    "count": "n",
    "form": "counts",
    "sql": SQL,
    "sql_digest": digest(SQL),
    "dialect": "duckdb",
}
AS_ROWS = {
    **FACTS,
    "sql": ROWS,
    "sql_digest": digest(ROWS),
    "form": "rows",
    "count": None,
    "rate": "0.1000000003",
    "delta": "2.8E-11",
}


@pytest.fixture(scope="module")
def keys():
    return TrustedKeys.of(KEY.public_key())


def envelope(facts, sha256="0" * 64):
    return sign(statement("r.parquet", sha256, facts), KEY).to_json()


def released(tmp_path, table, facts):
    path = tmp_path / "r.parquet"
    pq.write_table(table, path)
    return envelope(facts, hashlib.sha256(path.read_bytes()).hexdigest()), path


GOOD = pa.table({"sex": ["F", "M", None], "n": [20, 30, 25]})


def reasons(keys, facts, release=None):
    with pytest.raises(VerificationFailed) as caught:
        verify_release(envelope(facts), keys, release)
    return caught.value.reasons


def test_a_certificate_alone(keys):
    found = verify_release(envelope(FACTS), keys)
    assert found.subject == "r.parquet"
    assert found.assumptions == ("one row of people is one person",)
    assert found.facts["k"] == 20
    assert found.unchecked == ("the release itself was not looked at: name it with --release",)


@pytest.mark.parametrize("given", ["out/r.certificate.json", Path("r.certificate.json")])
def test_the_path_of_a_certificate_is_no_certificate(keys, given):
    with pytest.raises(UsageError, match=r"the text of a certificate: Path\(…\).read_text"):
        verify_release(given, keys)


def test_a_release_and_its_certificate(tmp_path, keys):
    text, path = released(tmp_path, GOOD, FACTS)
    found = verify_release(text, keys, path)
    assert "every one of 3 groups has at least 20" in found.checked
    assert "its rows are sorted by what they show" in found.checked


def test_a_release_as_rows(tmp_path, keys):
    table = pa.table({"sex": ["F"] * 20 + ["M"] * 21})
    text, path = released(tmp_path, table, AS_ROWS)
    assert "every one of 2 groups has at least 20" in verify_release(text, keys, path).checked


def test_no_columns_but_the_count(tmp_path, keys):
    sql = (
        SQL.replace("sex, count", "count").replace("group by sex ", "").replace("order by sex", "")
    )
    facts = {**FACTS, "columns": [], "sql": sql, "sql_digest": digest(sql)}
    text, path = released(tmp_path, pa.table({"n": [20]}), facts)
    assert verify_release(text, keys, path).subject == "r.parquet"


LIES = {
    "the true δ is": {"delta": "2.6E-11"},
    "outside the formula's domain: delta": {"delta": "NaN"},
    "outside the formula's domain: k": {"k": -(10**9)},
    "outside the formula's domain: epsilon": {"epsilon": "1e999999999"},
    "outside the formula's domain: rate": {"rate": "a tenth"},
    "outside the formula's domain: neighbours": {"neighbours": "none"},
    "the SQL is not the SQL of its digest": {"sql_digest": "sha256:" + "0" * 64},
    "no rules to certify the dialect": {"dialect": "oracle"},
    "the SQL proves nothing": {"sql": "select 1", "sql_digest": digest("select 1")},
    "the SQL is another release: k = 20": {"k": 21},
    "the SQL is another release": {"columns": ["age"]},
    "another release": {"count": "m"},
    "is another release": {"form": "rows"},
    "SQL is another release": {"unit": "id"},
    "above the stated 0.09": {"rate": "0.09"},
    "above the stated 0.1": {
        "sql": ROWS,
        "sql_digest": digest(ROWS),
        "form": "rows",
        "count": None,
    },
    "outside the formula's domain: sampled_at": {"sampled_at": "2"},
    "the formula's domain: sampled_at": {"sampled_at": "x"},
    "formula's domain: sampled_at": {"sampled_at": "1e-999999999"},
    "must be of sampled-suppression, version 1; found 'noise', version 1": {"mechanism": "noise"},
    "version 2": {"version": 2},
    "version true": {"version": True},
    "version none": {"version": None},
    "found another tuple": {"mechanism": ["x"]},
    "lacks or misstates: k": {"k": "20"},
    "misstates: k": {"k": True},
    "misstates: rate": {"rate": None},
    "misstates: columns": {"columns": "sex"},
    "misstates: assumptions": {"assumptions": [1]},
    "misstates: count": {"count": 1},
    "misstates: form": {"form": "heap"},
}


@pytest.mark.parametrize(("reason", "lie"), LIES.items(), ids=LIES)
def test_a_lie_has_its_reason(keys, reason, lie):
    assert reason in "\n".join(reasons(keys, {**FACTS, **lie}))


def test_an_earlier_sample_lowers_the_rate(keys):
    facts = {**FACTS, "rate": "0.001", "sampled_at": "0.01"}
    assert verify_release(envelope(facts), keys).facts["rate"] == "0.001"
    assert "above the stated" in "\n".join(reasons(keys, {**facts, "rate": "0.0009"}))


BAD_TABLES = {
    "groups have fewer than k = 20": pa.table({"sex": ["F", "M"], "n": [20, 19]}),
    "1 of 1 groups have fewer": pa.table({"sex": ["F"], "n": [-20]}),
    "a group stands in two rows": pa.table({"sex": ["F", "F"], "n": [20, 20]}),
    "the columns are sex, n, more": pa.table({"sex": ["F"], "n": [20], "more": [1]}),
    "the columns are n, sex": pa.table({"n": [20], "sex": ["F"]}),
    "the columns are sex, certified": pa.table({"sex": ["F"]}),
    "the rows are not sorted": pa.table({"sex": ["M", "F"], "n": [20, 20]}),
    "are not sorted": pa.table({"sex": [None, "F"], "n": [20, 20]}),
    "does not hold whole numbers": pa.table({"sex": ["F"], "n": ["20"]}),
    "not hold whole numbers": pa.table({"sex": ["F"], "n": pa.array([None], pa.int64())}),
    "not of a plain type": pa.table({"sex": [["F"]], "n": [20]}),
}


@pytest.mark.parametrize(("reason", "table"), BAD_TABLES.items(), ids=BAD_TABLES)
def test_a_release_that_does_not_hold(tmp_path, keys, reason, table):
    text, path = released(tmp_path, table, FACTS)
    with pytest.raises(VerificationFailed) as caught:
        verify_release(text, keys, path)
    assert reason in "\n".join(caught.value.reasons)


@pytest.mark.parametrize(
    "kind",
    ["date32", "timestamp[us]", "timestamp[us, tz=UTC]", "time64[us]", "time32[ms]", "decimal"],
)
def test_dates_and_times_before_the_first_year(tmp_path, keys, kind):
    types = {
        "date32": pa.date32(),
        "time32[ms]": pa.time32("ms"),
        "time64[us]": pa.time64("us"),
        "timestamp[us]": pa.timestamp("us"),
        "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
        "decimal": pa.decimal128(20, 0),
    }
    early, late = (0, 1) if kind.startswith("time") and "stamp" not in kind else (-(10**9), 5)
    words = [Decimal(early), Decimal(late)] if kind == "decimal" else [early, late]
    table = pa.table({"sex": pa.array(words, types[kind]), "n": [20, 20]})
    text, path = released(tmp_path, table, FACTS)
    assert "its rows are sorted by what they show" in verify_release(text, keys, path).checked
    text, path = released(tmp_path, table.take([1, 0]), FACTS)
    with pytest.raises(VerificationFailed, match="not sorted"):
        verify_release(text, keys, path)


def test_rows_of_too_small_a_group(tmp_path, keys):
    text, path = released(tmp_path, pa.table({"sex": ["F"] * 19}), AS_ROWS)
    with pytest.raises(VerificationFailed, match="1 of 1 groups have fewer than k = 20"):
        verify_release(text, keys, path)


def test_counts_that_are_not_shown(tmp_path, keys):
    sql = SQL.replace("sex, count(*) as n", "sex")
    facts = {**FACTS, "sql": sql, "sql_digest": digest(sql), "count": None}
    text, path = released(tmp_path, pa.table({"sex": ["F"]}), facts)
    with pytest.raises(VerificationFailed, match="does not show its counts"):
        verify_release(text, keys, path)


def test_another_file(tmp_path, keys):
    text, path = released(tmp_path, GOOD, FACTS)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(VerificationFailed, match="is not the release: its SHA-256 is"):
        verify_release(text, keys, path)


def test_no_parquet(tmp_path, keys):
    path = tmp_path / "r.parquet"
    path.write_text("sex,n\nF,20\n")
    text = envelope(FACTS, hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(VerificationFailed, match="is no Parquet file"):
        verify_release(text, keys, path)


def test_no_file(tmp_path, keys):
    with pytest.raises(FileError, match="could not be read"):
        verify_release(envelope(FACTS), keys, tmp_path / "missing.parquet")


def test_text_that_is_no_text(keys):
    facts = copy.deepcopy(FACTS) | {"sql": "\ud800"}
    try:
        text = envelope(facts)
    except (DomainError, UnicodeError):
        return  # the envelope itself refuses it
    with pytest.raises(VerificationFailed):
        verify_release(text, keys)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20)
    | st.sampled_from(["NaN", "-1", "1e999999999", "1e-999999999", "0", "inf", "0" * 5000, "1_0"])
    | st.sampled_from([10**30, -1, 2**63, 10**4000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(changes=st.dictionaries(st.sampled_from(sorted(FACTS)), json_values, max_size=3))
def test_no_predicate_is_too_odd(keys, changes):
    try:
        text = envelope({**FACTS, **changes})
    except (DomainError, UnicodeError, ValueError):
        return
    try:
        verify_release(text, keys)
    except VerificationFailed as error:
        assert error.reasons and all(len(reason) < 5000 for reason in error.reasons)


def test_deep_json(keys):
    deep = json.dumps(FACTS)[:-1] + ', "x": ' + "[" * 100000 + "]" * 100000 + "}"
    with pytest.raises(VerificationFailed):
        verify_release(deep, keys)


def test_the_rate_of_the_population():
    assert population_rate(1, "native", Decimal("0.5")) > Decimal("0.5")
    for wrong in ("0", "1e-999999999", "1.5", "NaN"):
        with pytest.raises(DomainError, match="sampled_at must be 1 or a rate below it"):
            population_rate(1, "drawn", Decimal(wrong))
