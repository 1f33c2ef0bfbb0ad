"""Engines that installed packages bring: found by name, and refused where they are none."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from decimal import Decimal

import duckdb
import pytest

from policy_engine.dialects import dialect_named
from policy_engine.engines import ENGINES, OURS, enter
from policy_engine.engines.installed import engine_named, names_installed
from policy_engine.engines.types import parser_of, type_of
from policy_engine.errors import PolicyError, UsageError, WarehouseError
from policy_engine.kernel.assumptions import assumptions
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.printing import printed, templates_digest
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sentences import sentences_of
from policy_engine.kernel.sources import Column, People, Relation
from policy_engine.kernel.types import Type
from policy_engine.policy.project import load_project_text
from policy_engine.policy.project_models import WAREHOUSES, warehouses
from policy_engine.warehouse.connecting import connected

SEX = Shown("sex", Column("sex", Type("text")), Keep())
ID = Column("id", Type("integer"))
CLAIM = Claim(
    Relation(("s", "people")), People(ID, None), Keyed(threshold(Decimal("0.1")), 20), (SEX,)
)
GOOD = """
from policy_engine.engines.base import Engine
ENGINE = Engine(
    {called!r}, "Brought", 63, family={family!r}, parser={parser!r}, secret=":salt",
    assumes={assumes!r}, types="BIGINT: whole", warehouse={warehouse!r},
    forms="{{% macro in_sample(unit, bound, bytes, drawn, salt) %}}HASHED({{{{ unit }}}}) <"
    " {{{{ bound }}}}{{% endmacro %}}{{% macro bound() %}}:salt{{% endmacro %}}",
)
"""


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Makes a package be installed that brings one engine."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str, package: str = "", text: str = "", **fields: object) -> None:
        package = package or f"{name}-package"
        given = {
            "called": name, "family": "postgres", "parser": "postgres", "warehouse": "",
            "assumes": {"secret": "nobody reads it"},
        }  # fmt: skip
        module = package.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(text or GOOD.format(**{**given, **fields}))
        about = tmp_path / f"{module}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        entry = f"[policy_engine.engines]\n{name} = {module}:ENGINE\n"
        (about / "entry_points.txt").write_text(entry)

    return make


def test_an_engine_of_a_package_prints_by_its_own_forms_and_those_of_its_family(bring):
    bring("brought_one")
    engine = engine_named("brought_one")
    assert engine is engine_named("brought_one") is ENGINES["brought_one"]
    assert engine.package == "brought_one-package"
    assert "WHERE HASHED(\"id\") < '199999999999999'" in printed(CLAIM, "brought_one")
    assert 'ORDER BY "sex" COLLATE "C"' in printed(CLAIM, "brought_one")
    assert (parser_of("brought_one"), type_of("brought_one", "whole")) == ("postgres", "BIGINT")
    assert templates_digest("brought_one") != templates_digest("postgres")
    assert templates_digest("duckdb") == templates_digest("postgres")


def test_what_it_certifies_names_the_package(bring):
    bring("brought_two")
    engine_named("brought_two")
    asked = Bounded(Decimal("0.5"), Decimal("1e-9"), rate=Decimal("0.1"))
    text = printed(CLAIM, "brought_two")
    certificate = certify(text, CLAIM, "brought_two", Terms("a", "", "people", asked))
    said = sentences_of(certificate.assumptions)
    assert "nobody reads it" in said
    assert any("Brought are those of the package brought_two-package" in each for each in said)
    own = assumptions(CLAIM, "postgres", "people", Decimal(1))
    assert "forms_of_package" not in {each.code for each in own}


def test_what_is_not_installed_is_unknown():
    assert engine_named("brought_none") is None
    with pytest.raises(UsageError, match=r"must be one of duckdb, .*, found 'brought_none'"):
        dialect_named("brought_none")


def test_the_name_of_ours_is_ours(bring):
    bring("postgres", text="raise SystemError")
    assert engine_named("postgres") is OURS["postgres"]
    assert "postgres" in names_installed()
    with pytest.raises(ValueError, match="postgres"):
        enter(replace(OURS["postgres"], package="theirs", parser="postgres"))
    assert ENGINES["postgres"] is OURS["postgres"]


def test_a_name_that_two_packages_bring_is_refused(bring):
    bring("brought_twice")
    bring("brought_twice", package="other")
    with pytest.raises(UsageError, match="by brought_twice-package, other; uninstall all but one"):
        engine_named("brought_twice")


def test_a_package_that_fails_is_named(bring):
    bring("brought_broken", text="raise SystemError('no')")
    with pytest.raises(UsageError, match=r"of brought_broken-package cannot be loaded: SystemErr"):
        engine_named("brought_broken")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("brought_text", {"text": "ENGINE = 'postgres'"}),
        ("brought_other", {"called": "another"}),
        ("Brought", {}),
        ("brought_unread", {"parser": ""}),
        ("brought_open", {"assumes": {}}),
        ("brought_orphan", {"family": "nobody"}),
    ],
)
def test_what_is_no_such_engine_is_refused(bring, name, fields):
    bring(name, **fields)
    with pytest.raises(UsageError, match=f"the engine {name} of {name}-package cannot be used"):
        engine_named(name)


RUN = """
from policy_engine.warehouse.duckdb import DuckDBWarehouse
class Ours(DuckDBWarehouse):
    def __init__(self, name, *, database, url, writable):
        super().__init__(name, database, writable=writable)
def broken(name, *, database, url, writable):
    return name
"""


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("Ours", ""),
        ("broken", "must be a Warehouse"),
        ("Missing", "cannot be loaded, module 'with_a_warehouse' has no attribute"),
    ],
)
def test_a_warehouse_can_be_of_a_package(bring, tmp_path, place, told):
    name = f"brought_{place.lower()}"
    bring(name, package=f"{name}-package", warehouse=f"with_a_warehouse:{place}")
    (tmp_path / "with_a_warehouse.py").write_text(RUN)
    bring("brought_printed")
    assert warehouses() == (*WAREHOUSES, name)
    duckdb.connect(str(tmp_path / "w.db")).close()
    text = f"warehouses: {{w: {{type: {name}, database: w.db}}}}"
    project = load_project_text(text, tmp_path / "policy-engine.yaml", tmp_path)
    if not told:
        with closing(connected(project.warehouse)) as opened:
            assert opened.ask("SELECT 1") == [(1,)]
        return
    with pytest.raises(WarehouseError, match=told):
        connected(project.warehouse)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("url: u, database: d", "database cannot stand beside url"),
        ("threads: 3, url: u", "threads has no meaning here"),
        ("profile: p, url: u", "profile has no meaning here"),
        ("memory_limit: 2GB", "url is missing; or write database: FILE"),
    ],
)
def test_a_warehouse_of_a_package_has_a_file_or_a_url(bring, tmp_path, settings, told):
    bring("brought_settled", warehouse="m:W")
    text = f"warehouses: {{w: {{type: brought_settled, {settings}}}}}"
    with pytest.raises(PolicyError, match=told):
        load_project_text(text, tmp_path / "policy-engine.yaml", tmp_path)


def test_an_engine_without_a_warehouse_is_no_type_of_one(bring, tmp_path):
    bring("brought_without")
    with pytest.raises(PolicyError, match=r"type must be dbt, duckdb, .*found 'brought_without'"):
        load_project_text("warehouses: {w: {type: brought_without}}", tmp_path / "p.yaml", tmp_path)
