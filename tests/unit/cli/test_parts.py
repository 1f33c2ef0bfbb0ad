"""part: random parts of the people, of which an account pays for the dearest, [PART]."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

POLICY = """\
version: 1
name: p{name}
source: {{{source}}}
privacy_unit: {{column: {key}, rows: one{stays}}}
recode: {{sex: keep}}
part: {{of: {of}, number: {number}}}
guarantee: {{epsilon: {epsilon}, delta: 1.0e-6}}
release: {{file: out{name}.parquet}}
account: people
"""
LIMIT = "accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
DATABASE = "warehouses: {db: {type: duckdb, database: db.duckdb}}\n"


@pytest.fixture
def release(tmp_path, monkeypatch, cli):
    """A release of one part of 6,000 people, of whom every other one is f."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy-engine.yaml").write_text(LIMIT)
    ids = list(range(6000))
    people = {"id": ids, "other": ids[::-1], "sex": ["f", "m"] * 3000}
    pq.write_table(pa.table(people), tmp_path / "people.parquet")

    def released(
        number, of=3, epsilon=1, source="file: people.parquet", key="id", name=None, stays=True
    ):
        given = {"number": number, "of": of, "epsilon": epsilon, "source": source, "key": key}
        given["stays"] = ", stays: true" if stays else ""
        name = f"{number}" if name is None else name
        (tmp_path / "p.yaml").write_text(POLICY.format(name=name, **given))
        return cli("release", "p.yaml")

    return released


def test_every_part_is_paid_by_one_limit_and_nobody_is_in_two(cli, release):
    assert [release(number).code for number in (1, 2, 3)] == [0, 0, 0]
    found = [pq.read_table(f"out{number}.parquet").to_pylist() for number in (1, 2, 3)]
    total = sum(row["n"] for rows in found for row in rows)
    assert total == pytest.approx(6000, abs=6 * 14)
    assert all(850 < row["n"] < 1150 for rows in found for row in rows)
    assert cli("ledger", "verify").code == 0
    assert cli("verify", "out1.certificate.json", "--release", "out1.parquet").code == 0
    assert "is how many people of part 1 of 3 of the source" in cli("show", "out1.parquet").out
    planned = cli("plan", "p.yaml").out
    assert "part       all of this is of part 3 of 3, drawn by a secret hash of id" in planned
    assert "keys stay, you say: all 3 parts cost what the dearest one does" in planned
    verified = cli("verify", "out1.certificate.json").out
    assert "- a person has the same id whenever people.parquet is looked" in verified


def test_without_the_word_that_keys_stay_parts_add_up(cli, release, tmp_path):
    """Ids made anew between two parts: the same people would be in both, for one price."""
    assert release(1, stays=False).code == 0
    assert "stays:" not in cli("verify", "out1.certificate.json").out
    ids = list(range(6000, 12000))
    people = {"id": ids, "other": ids[::-1], "sex": ["f", "m"] * 3000}
    pq.write_table(pa.table(people), tmp_path / "people.parquet")
    refused = release(2, stays=False)
    assert refused.code == 1 and "cannot pay" in refused.err
    planned = cli("plan", "p.yaml").out
    assert "if a person's key never changed and privacy_unit.stays: true said so" in planned
    # Nor does a later word make it cheaper: what was charged without it stays.
    assert release(2).code == 1


def test_a_part_released_again_adds_up(release):
    assert release(1).code == 0
    again = release(1, name="again")
    assert again.code == 1 and "cannot pay" in again.err


@pytest.mark.parametrize("other", [{"of": 4}, {"key": "other"}])
def test_parts_of_another_partition_add_up(release, other):
    assert release(1).code == 0
    found = release(2, **other)
    assert found.code == 1 and "cannot pay" in found.err
    assert release(2).code == 0


def test_the_same_release_is_repeated_with_the_same_parts(cli, release, tmp_path):
    assert release(1).code == 0
    before = (tmp_path / "out1.parquet").read_bytes()
    (tmp_path / "out1.parquet").unlink()
    assert release(1).code == 0
    assert (tmp_path / "out1.parquet").read_bytes() == before


def test_no_part_is_of_a_view_or_of_a_text_for_another_warehouse(cli, release, tmp_path):
    (tmp_path / "policy-engine.yaml").write_text(LIMIT + DATABASE)
    with duckdb.connect(str(tmp_path / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS FROM 'people.parquet'")
        connection.execute("CREATE VIEW v AS SELECT other AS id, sex FROM t")
    assert release(1, source="table: t").code == 0
    refused = release(2, source="table: v", name="v")
    assert refused.code != 0 and "may be no key of its table" in refused.err
    release(2, source="table: t")
    compiled = cli("compile", "p.yaml", "--dialect", "tsql")
    assert compiled.code != 0 and "part is of releases" in compiled.out + compiled.err
