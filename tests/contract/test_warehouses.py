"""What ``release`` may rely on in every warehouse, and the warehouses that are held to it.

A new warehouse subclasses ``WarehouseContract`` and provides ``fill`` and ``open``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import duckdb
import pytest

from policy_engine.compile.compiler import compiled
from policy_engine.errors import WarehouseError
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy, Source
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.drawing import key_in_sample, sample_relation
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """\
version: 1
name: contract
source: {source}
recode: {recode}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 1, delta: 0.9}}
release: {{table: out}}
"""
PEOPLE = "{table: people}\nprivacy_unit: {column: id, rows: any}"
SECRET = bytes(range(16))


class WarehouseContract(ABC):
    """A table ``people (id BIGINT, name TEXT)`` of 200 rows, ids 0 to 99 twice each."""

    @abstractmethod
    def fill(self, folder: Path) -> None:
        """Make the table."""

    @abstractmethod
    def open(self, folder: Path) -> Warehouse:
        """Connect, able to write."""

    @pytest.fixture
    def warehouse(self, tmp_path):
        self.fill(tmp_path)
        opened = self.open(tmp_path)
        yield opened
        opened.close()

    def policy(self, folder: Path, recode: str = "{name: keep}", source: str = PEOPLE) -> Policy:
        text = POLICY.format(source=source, recode=recode)
        return load_policy_text(text, folder / "policy.yaml", folder)

    def text(self, warehouse: Warehouse, policy: Policy) -> str:
        table = warehouse.table(policy.source, policy.directory)
        return compiled(policy, table, warehouse.dialect)[1]

    def lines(self, warehouse: Warehouse) -> list[tuple]:
        return list(warehouse.release_lines(warehouse.target("out")))

    def test_it_says_what_it_is(self, warehouse):
        assert warehouse.dialect.name
        assert warehouse.engine_version[0].isdigit()

    def test_a_table_has_its_columns_in_order(self, warehouse, tmp_path):
        table = warehouse.table(self.policy(tmp_path).source, tmp_path)
        assert [column.name for column in table.columns] == ["id", "name"]
        assert table.view is None

    def test_what_is_not_there_is_told(self, warehouse, tmp_path):
        with pytest.raises(WarehouseError, match="gone"):
            warehouse.table(Source(None, "gone"), tmp_path)

    def test_the_drawn_units_are_those_of_the_definition(self, warehouse, tmp_path):
        policy = self.policy(tmp_path)
        table = warehouse.table(policy.source, tmp_path)
        with warehouse.sampled(policy, table, SECRET) as unchanged:
            drawn = warehouse.rows(f'SELECT unit FROM "{sample_relation(policy.rate)}" ORDER BY 1')
            unchanged()
        bound = threshold(policy.rate)
        wanted = [unit for unit in range(100) if key_in_sample(SECRET, str(unit), bound)]
        assert drawn.column("unit").to_pylist() == wanted

    @pytest.mark.parametrize("fails", [False, True])
    def test_the_sample_is_gone_after_the_run(self, warehouse, tmp_path, fails):
        policy = self.policy(tmp_path)
        table = warehouse.table(policy.source, tmp_path)
        try:
            with warehouse.sampled(policy, table, SECRET):
                if fails:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            assert fails
        with pytest.raises(WarehouseError):
            warehouse.rows(f'SELECT unit FROM "{sample_relation(policy.rate)}"')

    def test_a_table_is_published_with_its_comment_in_one_step(self, warehouse, tmp_path):
        policy = self.policy(tmp_path, '{all: {constant: "*"}}')
        table, seen = warehouse.table(policy.source, tmp_path), []
        target = warehouse.target("out")
        assert not warehouse.exists(target)
        with warehouse.sampled(policy, table, SECRET):
            text = self.text(warehouse, policy)
            warehouse.publish(text, target, "it's", lambda: seen.extend(self.lines(warehouse)))
        assert warehouse.exists(target)
        assert self.lines(warehouse) == seen
        assert [line[0] for line in seen] == ["*"]

    @pytest.mark.parametrize("replaces", [False, True])
    def test_nothing_is_published_when_the_last_step_fails(self, warehouse, tmp_path, replaces):
        policy = self.policy(tmp_path, '{all: {constant: "*"}}')
        table, target = warehouse.table(policy.source, tmp_path), warehouse.target("out")

        def attest() -> None:
            raise KeyboardInterrupt

        with warehouse.sampled(policy, table, SECRET):
            if replaces:
                warehouse.publish(self.text(warehouse, policy), target, "", lambda: None)
            before = self.lines(warehouse) if replaces else None
            other = self.policy(tmp_path, '{all: {constant: "another"}}')
            with pytest.raises(KeyboardInterrupt):
                text = self.text(warehouse, other)
                warehouse.publish(text, target, "", attest, replace=replaces)
        assert warehouse.exists(target) is replaces
        assert before is None or self.lines(warehouse) == before

    def test_a_table_is_put_back_of_its_texts(self, warehouse):
        target, seen = warehouse.target("out"), []

        def look() -> None:
            seen.append((warehouse.types(target), self.lines(warehouse)))

        text = (
            "SELECT 'it''s' AS a, 7::UTINYINT AS n, 1.5::DECIMAL(9, 2) AS d, DATE 'infinity' AS t,"
            " 0.1::DOUBLE AS f, TIMESTAMPTZ '2020-01-02 03:04:05+02' AS s, 'x'::ENUM('x', 'y') AS e"
            " UNION ALL SELECT NULL, 8, 2, DATE '10000-01-01', 1e300, NULL, 'y'"
        )
        warehouse.publish(text, target, "it's", look)
        [(columns, lines)] = seen
        warehouse.put_back(columns, iter(lines), target, "it's", look, replace=True)
        assert seen[1] == seen[0]
        assert (self.lines(warehouse), warehouse.comment(target)) == (lines, "it's")

    def test_an_engines_message_is_withheld(self, warehouse):
        with pytest.raises(WarehouseError) as caught:
            warehouse.rows("SELECT CAST(name || ' VERY-SECRET' AS INTEGER) FROM db.main.people")
        assert "SECRET" not in str(caught.value)
        assert caught.value.__cause__ is None


class TestDuckDB(WarehouseContract):
    def fill(self, folder: Path) -> None:
        with duckdb.connect(str(folder / "db.duckdb")) as connection:
            names = "SELECT range % 100 AS id, 'name' || range AS name FROM range(200)"
            connection.execute(f"CREATE TABLE people AS {names}")

    def open(self, folder: Path) -> Warehouse:
        return DuckDBWarehouse("db", folder / "db.duckdb", writable=True)
