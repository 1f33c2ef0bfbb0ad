"""Spark, a real driver: the same releases as DuckDB's, and what its catalog and plans must say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from alike import (
    COLUMNS,
    POLICIES,
    ROWS,
    SECRET,
    check_put_back,
    differences,
    expected,
    policy_of,
    rows_of,
)
from spark_server import JAVA, running

from policy_engine.compile.catalog import Kind
from policy_engine.dialects import spark_of
from policy_engine.errors import PolicyError, WarehouseError
from policy_engine.kernel.sentences import sentence_of
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.spark import SparkWarehouse

KINDS = {"VARCHAR": "STRING", "TIMESTAMP": "TIMESTAMP_NTZ"}

# What Spark releases is compared with every engine in test_same_bytes; this is the rest of it.
pytestmark = pytest.mark.evidence


@pytest.fixture(scope="module")
def spark():
    with running() as server:
        kinds = ", ".join(f"{name} {KINDS.get(kind, kind)}" for name, kind in COLUMNS.items())
        people = server.spark.createDataFrame([list(row) for row in ROWS], kinds)
        people.write.format("parquet").saveAsTable("people")
        yield server


@pytest.fixture
def warehouse(spark):
    with closing(SparkWarehouse("wh", spark.url)) as opened:
        yield opened


def policy(tmp_path, recode, relation="people", key="id", **more):
    """A policy over a table, by its recodings."""
    spec = {
        "sample": "{rate: 0.5}",
        "release": "{file: out.parquet}",
        "order": ", rows: any",
        **more,
    }
    unit = f"{{column: {key}{spec['order']}}}" if key != "row" else "row"
    text = f"""\
version: 1
name: case
source: {{table: {relation}}}
privacy_unit: {unit}
recode: {recode}
sample: {spec["sample"]}
k: 2
guarantee: {{epsilon: 9, delta: 0.999999}}
release: {spec["release"]}
"""
    return load_policy_text(text, tmp_path / "policy.yaml", tmp_path)


@pytest.mark.parametrize("name", POLICIES)
def test_it_releases_what_duckdb_releases(warehouse, name):
    found = rows_of(policy_of(name), warehouse)
    assert differences(found, expected(name)) == []
    assert found.num_rows > 1


def test_the_secret_stands_in_no_plan_and_no_event(spark, warehouse):
    name = "bins"
    rows_of(policy_of(name), warehouse)
    with warehouse.bound(SECRET.hex()):
        shown = prepare(policy_of(name), default_project(Path()), warehouse)[0].query
        plan = warehouse._spark.sql(shown)
        plan.collect()
        text = plan._jdf.queryExecution().toString()
        assert SECRET.hex() not in text
        # A parameter is a literal of the plan: the control is seen.
        control = "SELECT count(*) FROM people WHERE code = :salt"
        seen = warehouse._spark.sql(control, args={"salt": "f" * 31 + SECRET.hex()[0]})
        seen.collect()
    events = spark.events()
    assert "policy_engine_salts" in events
    assert SECRET.hex() not in events
    assert "f" * 31 + SECRET.hex()[0] in events


def test_the_secret_is_gone_afterwards(warehouse):
    with warehouse.bound("00" * 16):
        assert warehouse.ask("SELECT salt FROM policy_engine_salts") == [("00" * 16,)]
    with pytest.raises(WarehouseError):
        warehouse.ask("SELECT salt FROM policy_engine_salts")


def test_columns_have_the_kernels_types(spark, warehouse):
    spark.sql(
        "CREATE TABLE kinds (a TINYINT, b BIGINT, c DECIMAL(20, 3), d STRING, e VARCHAR(5),"
        " f CHAR(5), g STRING COLLATE UNICODE_CI, h TIMESTAMP, i TIMESTAMP_NTZ, j DATE, k BOOLEAN,"
        " l DOUBLE, m BINARY, n MAP<STRING, INT>, o FLOAT) USING parquet"
    )
    table = warehouse._described(("spark_catalog", "default", "kinds"))
    found = {column.name: column.type for column in table.columns}
    assert found["c"] == "DECIMAL(20, 3)".replace(" ", "")
    assert (found["d"], found["e"], found["g"]) == (
        "VARCHAR", "VARCHAR", "VARCHAR COLLATE UNICODE_CI",
    )  # fmt: skip
    assert (found["h"], found["i"]) == ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP")
    others = {name for name, kind in found.items() if kind.startswith("OTHER")}
    assert others == {"f", "m", "n", "o"}
    assert table.find("f").kind is Kind.OTHER


def test_a_collation_neither_merges_nor_reorders(spark, warehouse, tmp_path):
    spark.sql(
        "CREATE TABLE collated USING parquet AS SELECT id, CASE id % 3 WHEN 0 THEN 'a' WHEN 1 THEN"
        " 'A' ELSE 'á' END COLLATE UNICODE_CI_AI AS t FROM range(300)"
    )
    assert spark.sql("SELECT count(DISTINCT t) FROM collated") == [(1,)]
    for recode in ("{t: keep}", "{t: {prefix: 1}}", "{t: {map: {a: a, A: A}, other: other}}"):
        found = rows_of(policy(tmp_path, recode, "collated"), warehouse).to_pylist()
        assert [row["t"] for row in found] == sorted(row["t"] for row in found)
        assert len(found) == 3


@pytest.mark.parametrize("step", ["0.000000000000000001", "0.05", "7", "100000000000000000"])
def test_rounding_fails_on_no_number(spark, warehouse, tmp_path, step):
    numbers = "1e300D, -1e300D, double('NaN'), double('Infinity'), double('-Infinity'), 9.9e17D,"
    numbers += " -9.99999999e17D, 1e18D, 0.5D, -0.0D, 3.14D, 4e-324D, NULL"
    spark.sql("DROP TABLE IF EXISTS doubles")
    spark.sql(
        "CREATE TABLE doubles USING parquet AS SELECT monotonically_increasing_id() AS id, x FROM"
        f" (SELECT explode(array({numbers})) AS x, n FROM range(40) AS r(n))"
    )
    found = rows_of(policy(tmp_path, f"{{x: {{round: {step}}}}}", "doubles"), warehouse)
    assert None in found.column("x").to_pylist()


def test_times_with_zone_are_in_utc(spark, warehouse, tmp_path):
    spark.sql(
        "CREATE TABLE moments USING parquet AS SELECT id,"
        " TIMESTAMP'1969-12-31 23:30:00-11:00' AS t,"
        " DATE'0001-01-01' AS d FROM range(100)"
    )
    found = rows_of(policy(tmp_path, "{t: {truncate: hour}}", "moments"), warehouse).to_pylist()
    assert found[0]["t"] == datetime(1970, 1, 1, 10)
    found = rows_of(policy(tmp_path, "{t: keep, d: {truncate: week}}", "moments"), warehouse)
    assert found.to_pylist()[0]["t"] == datetime(1970, 1, 1, 10, 30)
    assert found.to_pylist()[0]["d"] == "0001-W01"


def test_texts_of_a_policy_stand_for_themselves(spark, warehouse, tmp_path):
    spark.sql("CREATE TABLE odd USING parquet AS SELECT id, '\\\\n\\'' AS `a``b c` FROM range(60)")
    label = "it's \\\\ 100% \\n `x` \\\" -- /* :a ?"
    recode = f'{{\'a`b c\': {{map: {{"\\\\n\'": "{label}"}}, other: x}}}}'
    [row] = rows_of(policy(tmp_path, recode, "odd"), warehouse).to_pylist()
    assert row["a`b c"] == "it's \\ 100% \n `x` \" -- /* :a ?"


def test_a_variable_in_a_text_is_refused(warehouse, tmp_path):
    with pytest.raises(PolicyError):
        rows_of(policy(tmp_path, "{town: {map: {a: '${env:HOME}'}, other: x}}"), warehouse)


def test_a_session_is_pinned_whatever_the_site_sets(spark, tmp_path):
    spark.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    spark.spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with closing(SparkWarehouse("wh", spark.url)) as warehouse:
            assert warehouse.ask("SELECT current_timezone()") == [("UTC",)]
            assert (
                differences(
                    rows_of(policy_of("truncate_hour"), warehouse), expected("truncate_hour")
                )
                == []
            )
    finally:
        spark.spark.conf.set("spark.sql.session.timeZone", "UTC")
        spark.spark.conf.set("spark.sql.ansi.enabled", "true")


def test_native_sampling_needs_a_later_spark(spark, warehouse, tmp_path):
    native = policy(
        tmp_path, "{age: {bins: [40]}}", key="row", sample="{rate: 0.5, method: native}"
    )
    found = rows_of(native, warehouse)
    assert abs(sum(found.column("n").to_pylist()) - len(ROWS) / 2) < 6 * (len(ROWS) / 4) ** 0.5
    certificate, _ = prepare(native, default_project(tmp_path), warehouse)
    assert "TABLESAMPLE (50 PERCENT)" in certificate.query
    assert any("was not measured by us" in sentence_of(each) for each in certificate.assumptions)
    warehouse.dialect = spark_of("4.2.1")
    with pytest.raises(PolicyError, match="1,000 possible seeds"):
        prepare(native, default_project(tmp_path), warehouse)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("CREATE VIEW {} AS SELECT * FROM people", "must be a table, found a view"),
        ("CREATE TABLE {} (id BIGINT, age INT) USING csv", "must be stored as parquet"),
        ("SELECT 1", "has no table spark_catalog.default.refused"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(spark, warehouse, tmp_path, made, message):
    spark.sql(made.format("refused"))
    try:
        with pytest.raises(WarehouseError, match=message):
            rows_of(policy(tmp_path, "{age: keep}", "refused"), warehouse)
    finally:
        kind = "VIEW" if "VIEW" in made else "TABLE"
        spark.sql(f"DROP {kind} IF EXISTS refused")


@pytest.mark.parametrize("kinds", ["id DOUBLE, a INT", "a INT, id BIGINT", "id BIGINT, a INT"])
def test_a_table_that_is_made_anew_after_it_was_certified_is_not_read(
    spark, warehouse, tmp_path, kinds
):
    made = "CREATE TABLE shifting ({}) USING {}"
    spark.sql(made.format("id BIGINT, a INT", "parquet"))
    spark.sql("INSERT INTO shifting VALUES (1, 2)")
    shifting = policy(tmp_path, "{a: keep}", "shifting")
    try:
        table = warehouse.table(shifting.source, tmp_path)
        spark.sql("DROP TABLE shifting")
        spark.sql(made.format(kinds, "orc" if kinds.startswith("id B") else "parquet"))
        with pytest.raises(WarehouseError, match="made anew or altered"):
            warehouse.hold(shifting, table)
    finally:
        spark.sql("DROP TABLE IF EXISTS shifting")


def test_a_name_that_is_too_long_is_refused(warehouse):
    with pytest.raises(WarehouseError, match="more than 255 bytes"):
        warehouse.target("x" * 240)


def test_an_error_quotes_no_data(spark, warehouse, capfd, caplog):
    with pytest.raises(WarehouseError) as told:
        warehouse.ask("SELECT CAST(code AS BIGINT) FROM people")
    assert "withheld" in str(told.value)
    seen = capfd.readouterr()
    error, texts = told.value, []
    while error is not None:
        texts.append(repr(error) + repr(error.__dict__))
        error = error.__context__
    assert "pé-" not in "".join(texts) + seen.out + seen.err + caplog.text


def test_a_master_that_is_none_is_told():
    with pytest.raises(WarehouseError, match="must be a master of Spark"):
        SparkWarehouse("wh", "postgresql://x")


def test_a_second_master_in_one_process_is_told(spark):
    with pytest.raises(WarehouseError, match=r"runs Spark at local\[2\]"):
        SparkWarehouse("wh", "local[1]")


# Publishing

FACTS = json.dumps({"mechanism": "sampled-suppression", "sql": 'it\'s \\ "x"\n' * 900, "é": "日本"})


def made(warehouse, target, n=3):
    return f"-- policy: x\n-- digest: y\nSELECT id AS a, CAST(NULL AS STRING) AS b FROM range({n})"


def test_a_release_stands_with_its_comment(spark, warehouse):
    target, seen = warehouse.target("out"), []
    warehouse.publish(
        made(warehouse, target), target, FACTS,
        lambda: seen.extend(warehouse.release_lines(target)), replace=False,
    )  # fmt: skip
    assert seen == [("0", None), ("1", None), ("2", None)] == list(warehouse.release_lines(target))
    assert warehouse.comment(target) == FACTS
    assert warehouse.exists(target)
    details = dict(row[:2] for row in spark.sql("SHOW TBLPROPERTIES out"))
    assert details["policy_engine.release"] == "true"
    assert spark.sql("SHOW TABLES LIKE 'out*'") == [("default", "out", False)]


def test_a_release_that_fails_leaves_what_stood(spark, warehouse):
    target = warehouse.target("stands")
    warehouse.publish(made(warehouse, target), target, FACTS, lambda: None, replace=False)

    def fails():
        raise WarehouseError("attest")

    with pytest.raises(WarehouseError, match="attest"):
        warehouse.publish(made(warehouse, target, 9), target, "", fails, replace=True)
    assert len(list(warehouse.release_lines(target))) == 3
    assert warehouse.comment(target) == FACTS
    with pytest.raises(WarehouseError, match="has come to be meanwhile"):
        warehouse.publish(made(warehouse, target, 9), target, "", lambda: None, replace=False)
    assert len(list(warehouse.release_lines(target))) == 3
    warehouse.publish(made(warehouse, target, 9), target, "{}", lambda: None, replace=True)
    assert len(list(warehouse.release_lines(target))) == 9
    assert warehouse.comment(target) == "{}"
    assert spark.sql("SHOW TABLES LIKE 'stands*'") == [("default", "stands", False)]


def test_what_a_crash_left_renamed_comes_back(spark, warehouse):
    target = warehouse.target("crashed")
    warehouse.publish(made(warehouse, target), target, FACTS, lambda: None, replace=False)
    spark.sql("ALTER TABLE crashed RENAME TO crashed_policy_engine_old")
    assert warehouse.exists(target)
    assert warehouse.comment(target) == FACTS


def test_a_target_without_a_schema_is_told(warehouse):
    with pytest.raises(WarehouseError, match=r"no schema spark_catalog\.nowhere; make it"):
        warehouse.target("nowhere.out")


def test_a_table_that_cannot_be_written_is_told(spark, warehouse):
    spark.sql("CREATE SCHEMA sealed LOCATION '/proc/nowhere'")
    target = warehouse.target("sealed.blocked")
    with pytest.raises(WarehouseError, match="see the rights and the space of its schema"):
        warehouse.check_writes(target, made(warehouse, target))  # before it is charged
    assert not warehouse.exists(target)


def test_an_interrupt_cancels_what_runs(spark, warehouse):
    slow = "SELECT count(*) FROM range(10000000000) AS a WHERE sha2(CAST(id AS STRING), 512) < '0'"
    main, started = threading.main_thread().ident, time.monotonic()
    threading.Timer(4, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        warehouse.ask(slow)
    assert time.monotonic() - started < 60
    tracker = spark.context.statusTracker()
    for _ in range(100):
        if not tracker.getActiveJobsIds():
            break
        time.sleep(0.1)
    assert list(tracker.getActiveJobsIds()) == []
    assert warehouse.ask("SELECT 1") == [(1,)]


POLICY = """\
version: 1
name: town
source: {table: people}
privacy_unit: {column: id, rows: {first_by: [seen desc]}}
recode: {town: {prefix: 1}, age: {bins: [40]}}
sample: {rate: 0.5}
k: 3
guarantee: {epsilon: 9, delta: 0.999999}
release: {table: out_of_cli}
"""


def test_the_command_releases_from_a_lasting_catalog_and_is_quiet(spark, tmp_path):
    """A process of its own starts Spark by spark-defaults.conf, with the metastore of Hive."""
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        "spark.sql.catalogImplementation hive\n"
        # No crash is tried here: the metastore need not be on the disk at once.
        f"spark.driver.extraJavaOptions {JAVA} -Dderby.system.durability=test\n"
        f"spark.sql.warehouse.dir {tmp_path}/tables\n"
        "spark.driver.host 127.0.0.1\nspark.sql.shuffle.partitions 2\n"
        "spark.hadoop.javax.jdo.option.ConnectionURL"
        f" jdbc:derby:;databaseName={tmp_path}/meta;create=true\n"
        "spark.hadoop.datanucleus.schema.autoCreateAll true\n"
    )
    spark.sql(
        f"CREATE TABLE copied USING parquet LOCATION '{tmp_path}/people' AS SELECT * FROM people"
    )
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "policy-engine.yaml").write_text(
        "version: 1\nwarehouses:\n  wh: {type: spark, url: 'local[2]'}\n"
    )
    environment = {**os.environ, "SPARK_CONF_DIR": str(conf)}
    prepared = (
        "from policy_engine.warehouse.spark import SparkWarehouse as S\n"
        "w = S('w', 'local[2]')\n"
        f"w._spark.sql(\"CREATE TABLE people USING parquet LOCATION '{tmp_path}/people'\")\n"
        "w.close()\n"
    )

    def run(*command):
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    done = run(sys.executable, "-c", prepared)
    assert (done.stdout, done.stderr) == ("", "")
    engine = str(Path(sys.executable).with_name("policy-engine"))
    first = run(engine, "release", "policy.yaml")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "WARN" not in first.stdout + first.stderr
    again = run(engine, "release", "policy.yaml")
    assert again.returncode == 0, again.stdout + again.stderr
    anew = run(engine, "release", "policy.yaml", "--revise", "--replace")
    assert anew.returncode == 0, anew.stdout + anew.stderr


PUT_BACK = """\
SELECT 'it\\'s \\\\ \u00e9' AS a,
    7L AS n,
    CAST(1.5 AS DECIMAL(10,
    2)) AS d,
    DATE '0001-01-02' AS t,
    CAST(NULL AS STRING) AS b,
    0.1D AS f,
    TIMESTAMP '2020-01-02 03:04:05.123456' AS s,
    true AS y
UNION ALL SELECT 'y',
    8L,
    2,
    DATE '9999-12-31',
    'x',
    1e300,
    TIMESTAMP '1900-01-02 03:04:05',
    NULL"""


def test_a_table_is_put_back_of_its_texts(warehouse):
    check_put_back(warehouse, PUT_BACK)
