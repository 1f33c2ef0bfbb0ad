"""Faults planted in a copy of the templates: each is caught, by name, and its clean twin passes.

A fault is caught where a text that it changes gives other rows than the claim means, or fails.
"""

from __future__ import annotations

import shutil

import pytest
from running import DuckDB
from suite import edges, loaded, outcome, printable

from policy_engine.kernel import printing

MECHANISM, UNITS = "mechanisms/sampled_suppression", "mechanisms/units"
STANDARD, DUCKDB, POSTGRES = "engines/standard", "engines/duckdb", "engines/postgres"
MARIADB, CLICKHOUSE = "engines/mariadb", "engines/clickhouse"
#: By name: the engine that catches it, the template, what stands there, and what the fault makes.
FAULTS = {
    "a cut is in the lower bin": (
        "duckdb", "recodes", "{% endif %} < {{ literal(v", "{% endif %} <= {{ literal(v"),
    "bins without IS NULL": ("duckdb", "recodes", "WHEN {{ x }} IS NULL", "WHEN FALSE"),
    "NaN is a number": ("duckdb", "recodes", "{{ e.is_nan(e.double(x)) }}", "FALSE"),
    "the last bin has the first label": (
        "duckdb", "recodes", "label(s.last)", "label(s.cuts[0][1])"),
    "map without IS NULL": ("duckdb", "recodes", "WHEN {{ t }} IS NULL", "WHEN FALSE"),
    "what is no key is NULL": ("duckdb", "recodes", "{{ label(s.other) }}", "NULL"),
    "a key stands for all others": ("duckdb", "recodes", "{{ t }} IN (", "{{ t }} NOT IN ("),
    "prefix keeps the text": (
        "duckdb", "recodes", "{{ e.first(as_text(s, x), s.length) }}", "{{ as_text(s, x) }}"),
    "one character too few": (
        "duckdb", STANDARD, "LEFT({{ x }}, {{ n }})", "LEFT({{ x }}, {{ n }} - 1)"),
    "round by CEIL": ("duckdb", "recodes", "FLOOR({{ q }}) + CASE", "CEIL({{ q }}) + CASE"),
    "a half goes down": ("duckdb", "recodes", ">= 0.5", "> 0.5"),
    "round forgets the sign": ("duckdb", "recodes", "{{ d }} < 0", "FALSE"),
    "round has no end": ("duckdb", "recodes", "WHEN ABS({{ d }}) < {{ s.below }}", "WHEN TRUE"),
    "the end is rounded": (
        "duckdb", "recodes", "ABS({{ d }}) < {{ s.below }}", "ABS({{ d }}) <= {{ s.below }}"),
    "each unit is a month": ("duckdb", STANDARD, "({{ unit.text }}", "('month'"),
    "a cast that fails": ("duckdb", DUCKDB, "TRY_CAST(", "CAST("),
    "a wide number is sorted as one": (
        "duckdb", "recodes", "s.of.kind == 'label' or s.of.kind == 'wide_integer'",
        "s.of.kind == 'label'"),
    "another zone": ("duckdb", STANDARD, "AT TIME ZONE 'UTC'", "AT TIME ZONE 'Europe/Berlin'"),
    "decimals without places": (
        "duckdb", STANDARD, "CAST({{ number }} AS DECIMAL({{ digits }}, {{ scale }}))",
        "CAST({{ number }} AS DECIMAL({{ digits }}, 0))"),
    "COLLATE dropped": ("duckdb", DUCKDB, ' COLLATE "binary"', ""),
    "the second row": ("duckdb", UNITS, "policy_engine_rank = 1", "policy_engine_rank = 2"),
    "every row": ("duckdb", UNITS, "policy_engine_rank = 1", "policy_engine_rank >= 1"),
    "one row in all": ("duckdb", UNITS, "PARTITION BY {{ key.name }} ", ""),
    "the order's way ignored": ("duckdb", STANDARD, "{% if down %} DESC{% endif %}", ""),
    "the order ignored": (
        "duckdb", UNITS, "ORDER BY {% for c, down in order %}",
        "ORDER BY NULL{% for c, down in [] %}"),
    "k is one more": ("duckdb", MECHANISM, ">= {{ k }}", "> {{ k }}"),
    "k is one less": ("duckdb", MECHANISM, ">= {{ k }}", ">= {{ k }} - 1"),
    "HAVING missing": ("duckdb", MECHANISM, "HAVING {{ e.total(how) }} >= {{ k }}", ""),
    "a column is not grouped by": (
        "duckdb", MECHANISM, "GROUP BY {{ units.listed(columns) }}",
        "GROUP BY {% for s in columns %}{% if loop.first %}{{ s.name }}{% endif %}{% endfor %}"),
    "counted rows are not summed": (
        "duckdb", STANDARD, "CAST(SUM(policy_engine_count) AS BIGINT)", "COUNT(*)"),
    "counted rows count once for k": (
        "duckdb", STANDARD, "{% if how == 'SUM' %}SUM(policy_engine_count)",
        "{% if how == 'SUM' %}COUNT(*)"),
    "a row too many": ("duckdb", DUCKDB, "RANGE(policy_engine_n)", "RANGE(policy_engine_n + 1)"),
    "the release is not sorted": ("duckdb", MECHANISM, "ORDER BY {{ units.sorted(columns) }}", ""),
    "the release is sorted by its first column": (
        "duckdb", UNITS, "{% for s in columns %}{{ e.ordered(s.name, false, s.kind) }}",
        "{% for s in columns %}{% if loop.first %}{{ e.ordered(s.name, false, s.kind) }}"
        "{% else %}NULL{% endif %}"),
    "the sample takes its threshold": (
        "duckdb", DUCKDB, "{{ e.keyed(salt, unit, false) }} <",
        "LEFT({{ e.keyed(salt, unit, false) }}, 15) <="),
    "56 bits are compared": ("duckdb", DUCKDB, "}} < {{ bound }}", "}} < LEFT({{ bound }}, 14)"),
    "':u:' dropped": ("duckdb", DUCKDB, "':u:'", "''"),
    "another release's secret": (
        "duckdb", STANDARD, "release_id = {{ release }}", "release_id <> {{ release }}"),
    "everybody is in": ("duckdb", DUCKDB, "{{ e.keyed(salt, unit, false) }}", "''"),
    "what is filtered out is shown": (
        "duckdb", MECHANISM, "}} = {{ e.label(kept) }}", "}} <> {{ e.label(kept) }}"),
    "one condition is enough": (
        "duckdb", MECHANISM, "{% if not loop.last %} AND{% endif %}\n\n{% endfor %}\n)",
        "{% if not loop.last %} OR{% endif %}\n\n{% endfor %}\n)"),
    "the filter forgets which row is kept": (
        "duckdb", MECHANISM, "WHERE {% if order %}policy_engine_rank = 1 AND {% endif %}",
        "WHERE "),
    "what is filtered is not read": (
        "duckdb", UNITS, "{% if filter %}kept{% elif draws %}", "{% if draws %}"),
    "the filter is of any row": (
        "duckdb", MECHANISM, "policy_engine_rank = 1 AND {% endif %}",
        "policy_engine_rank >= 1 AND {% endif %}"),
    "a row is drawn without a secret": ("duckdb", DUCKDB, "$salt{% endif %}", "'x'{% endif %}"),
    "a row is drawn by the sample's hash": ("duckdb", DUCKDB, "':o:'", "':u:'"),
    "all persons' rows are drawn alike": (
        "duckdb", DUCKDB, "|| CAST({{ unit }} AS VARCHAR)",
        "|| {% if placed %}'x'{% else %}CAST({{ unit }} AS VARCHAR){% endif %}"),
    "the first row is drawn": (
        "duckdb", DUCKDB, "|| ':' || CAST(policy_engine_place AS VARCHAR)", ""),
    "the greatest hash is drawn": (
        "duckdb", MECHANISM, ", policy_engine_place) AS", " DESC, policy_engine_place) AS"),
    "one row in all is drawn": (
        "duckdb", MECHANISM, "OVER (PARTITION BY {{ key.name }} ", "OVER ("),
    "what is drawn is not read": (
        "duckdb", UNITS, "{% elif draws %}chosen{% else %}", "{% elif draws %}sampled{% else %}"),
    "a row is drawn by bytes of another text (PostgreSQL)": (
        "postgres", POSTGRES, "{% if placed %} || ':' ||", "{% if placed %} || ' ' ||"),
    "the first row is drawn (MariaDB)": (
        "mariadb", MARIADB, "CAST(policy_engine_place AS CHAR CHARACTER SET utf8mb4)", "''"),
    "a column of a file's folder": (
        "duckdb", DUCKDB, ", hive_partitioning = FALSE", ", hive_partitioning = TRUE"),
    "a file that is not loaded": ("duckdb", DUCKDB, '"temp"."main".', '"memory"."main".'),
    "a table's rows are numbered as a file's": (
        "duckdb", DUCKDB, "{% if is_file %}file_row_number{% else %}rowid{% endif %}",
        "file_row_number"),
    "NULL first (PostgreSQL)": ("postgres", STANDARD, " NULLS LAST", ""),
    "NaN among decimals (PostgreSQL)": (
        "postgres", POSTGRES, " OR {{ x }} = CAST('NaN' AS DECIMAL)", ""),
    "NaN is kept (PostgreSQL)": (
        "postgres", POSTGRES, "NULLIF({{ x }}, CAST('NaN' AS DECIMAL))", "{{ x }}"),
    "56 bits are compared (PostgreSQL)": (
        "postgres", POSTGRES, "DECODE({{ bytes }}, 'hex')", "DECODE(LEFT({{ bytes }}, 14), 'hex')"),
    "texts are compared by their collation (MariaDB)": (
        "mariadb", MARIADB, "{{ e.utf8(x) }} COLLATE {{ e.collation() }}", "{{ x }}"),
    "blanks are padded (MariaDB)": ("mariadb", MARIADB, "utf8mb4_nopad_bin", "utf8mb4_bin"),
    "NULL first (MariaDB)": ("mariadb", MARIADB, " IS NULL, {% if kind", ", {% if kind"),
}  # fmt: skip


@pytest.fixture(scope="module")
def suites(place_of):
    """For an engine: its place, and every claim with its clean text; loaded once."""
    found = {}

    def suite(name):
        if name not in found:
            place = DuckDB() if name == "duckdb" else place_of(name)
            drawn = loaded(place, seed=5, count=220 if name == "duckdb" else 120, size=500, near=60)
            found[name] = place, list(printable([*edges(place), *drawn], name))
        return found[name]

    return suite


@pytest.fixture
def templates(tmp_path, monkeypatch):
    """A copy of the templates, from which texts are printed until the test ends."""
    folder = tmp_path / "sql_templates"
    shutil.copytree(printing.templates(), folder)
    monkeypatch.setattr(printing, "templates", lambda: folder)
    printing._environment.cache_clear()
    yield folder
    printing._environment.cache_clear()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught_and_its_clean_twin_passes(suites, templates, name):
    engine, file, right, wrong = FAULTS[name]
    place, suite = suites(engine)
    path = templates / f"{file}.sql.j2"
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    printing._environment.cache_clear()
    faulty = [(c, clean, printing.printed(c, engine)) for c, clean in suite]
    changed = [(c, clean, other) for c, clean, other in faulty if other != clean]
    assert changed
    for claim, clean, other in changed:
        meant = place.meant(claim)
        if outcome(place, claim, other) != meant:
            assert outcome(place, claim, clean) == meant
            return
    pytest.fail(f"{len(changed)} texts have the fault, and none shows it")
