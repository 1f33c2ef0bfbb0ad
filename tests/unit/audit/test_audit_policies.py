"""What an audit of a policy reads, makes and leaves."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random

import duckdb
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from policy_engine.accounting.exact import delta_exact
from policy_engine.audit import bench
from policy_engine.audit.people import MOST_PEOPLE, UNICODE, Person, labels, pairs_for, palettes
from policy_engine.audit.policies import audit, prepared
from policy_engine.compile.catalog import Field, Table
from policy_engine.errors import FileError, PolicyError, UsageError
from policy_engine.policy.loading import load_policy, load_policy_text
from policy_engine.releasing.planning import prepare, project_of
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse

ROOT = Path(__file__).parents[3]
POLICY = """\
version: 1
name: p
source: {source}
recode: {{{recode}}}
sample: {{rate: {rate}, method: {method}}}
k: {k}
guarantee: {{epsilon: 0.5, delta: 0.5, neighbours: {neighbours}}}
release: {{{release}}}
"""


def policy_of(folder, **parts):
    given = {
        "source": "{file: people.parquet}\nprivacy_unit: row", "recode": "sex: keep", "rate": "0.3",
        "method": "keyed", "k": "4", "neighbours": "add_remove", "release": "file: out.parquet",
    }  # fmt: skip
    return load_policy_text(POLICY.format(**{**given, **parts}), folder / "p.yaml", folder)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.parquet"
    rows = "SELECT 'secret' AS sex, 'far' AS town, 42 AS age, range AS id FROM range(3)"
    duckdb.sql(rows).write_parquet(str(path))
    return path


def test_the_text_that_runs_is_the_policys_own(people, tmp_path):
    for policy in (
        policy_of(tmp_path),
        policy_of(tmp_path, source="{file: people.parquet}\nprivacy_unit: {column: id, rows: any}"),
        load_policy(ROOT / "policies/adult_rows/policy.yaml"),
        load_policy(ROOT / "policies/hospital_visits/policy.yaml"),
    ):
        project = project_of(policy, policy.directory)
        warehouse = DuckDBWarehouse()
        certificate, _ = prepare(policy, project, warehouse)
        warehouse.close()
        assert prepared(policy, project, 0).certificate.query == certificate.query


@pytest.mark.slow
def test_nothing_is_left_and_nothing_of_the_source_is_used(people, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    found = audit(policy_of(tmp_path), runs=100)
    assert not found.broken and Path.cwd() == tmp_path
    assert list(temporary.iterdir()) == []
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert {path for path in before | after if before.get(path) != after.get(path)} <= {temporary}
    values = {value for pair in prepared_pairs(tmp_path) for p in pair.one for r in p.rows
              for _, value in r}  # fmt: skip
    assert "secret" not in values and values >= {"a", "", UNICODE}


def prepared_pairs(folder):
    policy = policy_of(folder)
    return prepared(policy, project_of(policy, folder), 0).pairs


def test_pairs_differ_by_one_person(tmp_path):
    table = Table((Field("sex", "VARCHAR"), Field("id", "BIGINT")), path="people.parquet")
    keyed = "{file: people.parquet}\nprivacy_unit: {column: id, rows: any}"
    for policy in (policy_of(tmp_path), policy_of(tmp_path, source=keyed)):
        for pair in pairs_for(policy, table, 0)[0]:
            assert len(pair.one) == len(pair.other) + 1
            assert set(pair.other) < set(pair.one)
    changed = policy_of(tmp_path, source=keyed, neighbours="replace_one")
    for pair in pairs_for(changed, table, 0)[0]:
        assert len(pair.one) == len(pair.other)
        assert sum(a != b for a, b in zip(pair.one, pair.other, strict=True)) == 1
        assert [p.number for p in pair.one] == [p.number for p in pair.other]


@pytest.mark.parametrize("types", ["BIGINT, VARCHAR", "TINYINT, BIGINT", "TINYINT, TINYINT"])
def test_people_of_a_key_of_several_columns_are_told_apart_by_all_of_them_alone(tmp_path, types):
    fields = [Field(name, kind) for name, kind in zip("hp", types.split(", "), strict=True)]
    table = Table((Field("sex", "VARCHAR"), *fields), path="people.parquet")
    policy = policy_of(
        tmp_path, source="{file: people.parquet}\nprivacy_unit: {columns: [h, p], rows: any}"
    )
    place = bench.BenchPlace(policy, table, "")
    for pair in pairs_for(policy, table, 0)[0]:
        assert place.fits(pair.one)
        rows = [row[1:] for row in place._rows(pair.one)]
        numbers = [person.number for person in pair.one for _ in person.rows]
        told = dict(zip(map(tuple, rows), numbers, strict=True))
        named = {key: number for key, number in told.items() if number is not None}
        assert len(set(named.values())) == len(named) == len({*numbers} - {None})
        # Neither column tells them apart, and nobody has a part that is NULL.
        assert max(len({key[place] for key in named}) for place in (0, 1)) < max(3, len(named))
        assert all(None not in key for key in named)
        assert all(None in key for key, number in told.items() if number is None)
    assert place.fits((Person(16_383, ((),)),)) and not (
        types == "TINYINT, TINYINT" and place.fits((Person(16_384, ((),)),))
    )


def test_the_worst_number_is_the_accountants(people, tmp_path):
    policy = policy_of(tmp_path)
    made = prepared(policy, project_of(policy, tmp_path), 0)
    sizes = {pair.what for pair in made.pairs}
    one = made.certificate
    worst = delta_exact(one.k, one.promise.rate, one.promise.epsilon, one.promise.neighbours).at_n
    assert f"n = {worst} alike" in sizes
    assert {f"n = {n} alike" for n in (1, 3, 4)} <= sizes


def test_what_is_too_large_is_said(tmp_path):
    table = Table((Field("sex", "VARCHAR"),), path="people.parquet")
    pairs, skipped = pairs_for(policy_of(tmp_path, k="30000", rate="0.1"), table, 0)
    assert any(f"at most {MOST_PEOPLE}" in text for text in skipped) and pairs
    assert all(len(pair.one) <= MOST_PEOPLE for pair in pairs)


def test_ordinary_values_are_of_different_groups(tmp_path):
    recode = "age: {bins: [30, 60]}, sex: {map: {a: x, b: x, c: y}, other: z}, zip: {prefix: 2}"
    policy = policy_of(tmp_path, recode=recode)
    columns = (Field("age", "INTEGER"), Field("sex", "VARCHAR"), Field("zip", "VARCHAR"))
    found = palettes(policy, Table(columns), Random(1))
    assert sorted(map(int, found["age"].ordinary)) == [29, 30, 60]
    assert sorted(found["sex"].ordinary) == ["a", "c"]
    assert len({value[:2] for value in found["zip"].ordinary}) == 3
    assert (found["age"].low, found["zip"].low) == (str(-(2**31)), "")


def test_labels_of_an_enumeration():
    assert labels("ENUM('a', 'b, c', 'it''s')") == ("a", "b, c", "it's")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "method"),
    [
        ("table: made.out", "keyed"),
        pytest.param("file: out.parquet", "native", marks=pytest.mark.evidence),
    ],
)
def test_a_relation_is_audited_and_its_database_stays(tmp_path, release, method, monkeypatch):
    database = tmp_path / "w.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE SCHEMA made; CREATE TABLE people(sex ENUM('m', 'f'), age DATE)")
    (tmp_path / "policy-engine.yaml").write_text(
        f"warehouses: {{w: {{type: duckdb, database: {database.name}}}}}\n"
    )
    before = database.read_bytes()
    policy = policy_of(
        tmp_path, source="{table: people}\nprivacy_unit: row", release=release, method=method,
        recode="sex: keep, age: {truncate: year}",
    )  # fmt: skip
    monkeypatch.chdir(tmp_path)
    found = audit(policy, runs=100)
    assert not found.broken and not found.skipped
    assert all(pair.verdict.event.feature != "the run failed" for pair in found.found)
    assert database.read_bytes() == before


def test_of_a_csv_the_first_line_alone_is_read(tmp_path):
    (tmp_path / "people.csv").write_bytes(b"sex,age\n" + b"\xff\xfe not UTF-8 and no CSV\n")
    policy = policy_of(tmp_path, source="{file: people.csv}\nprivacy_unit: row")
    assert prepared(policy, project_of(policy, tmp_path), 0).pairs
    with pytest.raises(FileError, match="cannot be read"):
        audit(policy_of(tmp_path, source="{file: none.csv}\nprivacy_unit: row"))


@pytest.mark.parametrize(
    ("name", "content", "csv"),
    [
        ("p.csv.gz", gzip.compress("Größe;sex\n".encode("cp1252"), mtime=0),
         'delimiter: ";", encoding: windows-1252, decimal: ","'),
        ("p.csv", b"1;2\n", 'delimiter: ";", header: false, columns: [sex, "2020"]'),
    ],
)  # fmt: skip
def test_a_csv_is_made_plainly_whatever_its_own_form(tmp_path, name, content, csv):
    (tmp_path / name).write_bytes(content)
    policy = policy_of(tmp_path, source=f"{{file: {name}, csv: {{{csv}}}}}\nprivacy_unit: row")
    found = audit(policy, runs=100)
    assert not found.broken
    assert all(pair.verdict.event.feature != "the run failed" for pair in found.found)


def test_an_absolute_path_is_read_in_the_temporary_folder(people, tmp_path):
    policy = policy_of(tmp_path, source=f"{{file: {people}}}\nprivacy_unit: row")
    made = prepared(policy, project_of(policy, tmp_path), 0)
    assert "'people.parquet'" in made.certificate.query
    assert made.notes == ("the source was read as people.parquet, in a temporary folder",)


@pytest.mark.evidence
@pytest.mark.parametrize("is_delta", [False, True])
def test_a_folder_is_made_as_what_it_is(people, tmp_path, is_delta):
    made = tmp_path / "visits"
    if is_delta:
        write_deltalake(made, pq.read_table(people), partition_by=["sex"])
    else:
        made.mkdir()
        people.rename(made / "people.parquet")
    policy = policy_of(tmp_path, source="{file: visits}\nprivacy_unit: {column: id, rows: any}")
    text = prepared(policy, project_of(policy, tmp_path), 0).certificate.query
    assert ('"temp"."main"."visits"' if is_delta else "'visits/**/*.parquet'") in text
    assert not audit(policy, runs=100).broken


def test_an_earlier_sample_is_not_part_of_what_is_claimed(people, tmp_path):
    source = "{file: people.parquet, sampled_at: 0.1}\nprivacy_unit: row"
    policy = policy_of(tmp_path, source=source)
    made = prepared(policy, project_of(policy, tmp_path), 0)
    assert made.claim.delta > made.certificate.promise.delta and "0.1 is assumed" in made.notes[0]
    plain = policy_of(tmp_path)
    assert made.claim == prepared(plain, project_of(plain, tmp_path), 0).claim


def test_what_cannot_be_audited_is_refused(people, tmp_path):
    with pytest.raises(UsageError, match="--runs must be at least 100, found 99"):
        audit(policy_of(tmp_path), runs=99)
    with pytest.raises(UsageError, match="--confidence"):
        audit(policy_of(tmp_path), confidence=Decimal(1))
    with pytest.raises(PolicyError, match="no column 'zip'"):
        audit(policy_of(tmp_path, recode="zip: keep"))


NOISY = """\
version: 1
name: p
source: {{file: people.parquet}}
privacy_unit: {unit}
recode: {{sex: keep, {column}: keep}}
mechanism: noisy_counts
{lines}
guarantee: {{epsilon: 0.5, delta: 0.01}}
release: {{file: out.parquet}}
"""
SUMS = "measures: {age: {sum: age, bounds: [-20, 30]}, id: {mean: id, bounds: [-5, 5]}}"


def noisy(folder, lines, unit="row"):
    column = "age" if "marginals" in lines else "town"
    text = NOISY.format(lines=lines, unit=unit, column=column)
    policy = load_policy_text(text, folder / "p.yaml", folder)
    return prepared(policy, project_of(policy, folder), 0)


def test_who_is_summed_is_far_beyond_the_ends_of_the_clip(people, tmp_path):
    table = Table((Field("sex", "VARCHAR"), Field("age", "INTEGER"), Field("town", "VARCHAR")))
    for ends, value in (("-20, 30", 5030), ("-30, 20", -5030), ("-20, 100000000", 2**31 - 1)):
        lines = f"measures: {{age: {{sum: age, bounds: [{ends}]}}}}"
        policy = noisy(tmp_path, lines).place.policy
        for pair in pairs_for(policy, table, 0)[0]:
            (gone,) = {*pair.one} - {*pair.other}
            if pair.name in ("a unique person", "always shown"):
                assert dict(gone.rows[0])["age"] == str(value)


@pytest.mark.filterwarnings("ignore:Arrow output")
@pytest.mark.parametrize(
    ("lines", "unit"),
    [
        (SUMS, "row"),
        ("marginals: [[sex], [age]]", "row"),
        (
            "noise: {distribution: negative_binomial}\ncontribution: {max_groups: 2}",
            "{column: id, rows: all}",
        ),
        ("k: 2", "{column: id, rows: any}"),
    ],
)
def test_many_secrets_at_once_give_the_rows_of_each(people, tmp_path, monkeypatch, lines, unit):
    made = noisy(tmp_path, lines, unit)
    asked = []
    monkeypatch.setattr(bench, "new_secret", lambda: asked.append(new_secret()) or asked[-1])
    with made.place.build(made.pairs[0].one) as (policy, warehouse):
        table = warehouse.table(policy.source, policy.directory)
        with warehouse.sampled(policy, table, new_secret()):
            found = warehouse.rows_of_many(made.certificate.query, 5)[1:]
        for rows, secret in zip(found, asked, strict=True):
            with warehouse.sampled(policy, table, secret):
                assert rows.equals(warehouse.rows(made.certificate.query))


@pytest.mark.filterwarnings("ignore:Arrow output")
def test_a_text_that_sorts_in_another_way_is_run_by_itself(people, tmp_path, monkeypatch):
    made = noisy(tmp_path, "k: 2")
    (shown,) = (pair for pair in made.pairs if pair.name == "always shown")
    times = Counter()
    whole = bench.BenchWarehouse.rows
    monkeypatch.setattr(bench.BenchWarehouse, "rows", lambda *a: times.update("r") or whole(*a))
    for text, expected in ((made.certificate.query, 1), (falling(made.certificate.query), 10)):
        times.clear()
        certificate = replace(made.certificate, query=text)
        with bench.drawing(made.place, shown.one, certificate) as draw:
            orders = {draw()["order"] for _ in range(10)}
        assert times["r"] == expected and len(orders) == 1


def falling(text):
    start, order, rest = text.rpartition("ORDER BY")
    assert order
    return f"{start}{order}{rest.replace('NULLS LAST', 'DESC NULLS FIRST')}"
