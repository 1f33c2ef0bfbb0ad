"""How long the gate takes on dbt projects of up to a thousand models, start of Python included.

.venv/bin/python benchmarks/dbt_gate.py
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TURNS = 5
SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"
SENSITIVE = {"privacy": {"classification": "sensitive"}}
ROOT = Path(__file__).parents[1]

STAGING = """{{{{ config(materialized='view') }}}}
with source as (

    select * from {{{{ source('raw', '{0}') }}}}

),

renamed as (

    select
        id as {0}_id,
        customer_id,
        cast(amount as decimal(18, 2)) / 100 as amount,  -- in cents
        lower(trim(status)) as status,
        case
            when channel = 'web' then 'online'
            when channel in ('shop', 'kiosk') then 'offline'
            else 'other'
        end as channel,
        date_trunc('day', created_at) as created_on,
        coalesce(updated_at, created_at) as updated_at

    from source
    where not is_deleted

)

select * from renamed"""

JOINED = """with left_rows as (

    select * from {{{{ ref('{0}') }}}}

),

right_rows as (

    select * from {{{{ ref('{1}') }}}}

),

counted as (

    select
        left_rows.customer_id,
        left_rows.created_on,
        sum(left_rows.amount) as amount,
        count(distinct right_rows.status) as statuses,
        row_number() over (partition by left_rows.customer_id order by left_rows.created_on) as nth
    from left_rows
    left join right_rows
        on left_rows.customer_id = right_rows.customer_id
        and left_rows.created_on >= right_rows.created_on
    where left_rows.status <> 'void'
    group by 1, 2
    having sum(left_rows.amount) > 0

)

select
    customer_id,
    created_on,
    amount,
    statuses,
    nth,
    amount / nullif(statuses, 0) as share
from counted
{{% if is_incremental() %}}
where created_on > (select max(created_on) from {{{{ this }}}})
{{% endif %}}"""

RELEASE = """{{{{ config(materialized='incremental', full_refresh=false) }}}}
{{% if is_incremental() %}}
select * from {{{{ this }}}} where false
{{% else %}}
select channel, status, count(*) as n
from {{{{ ref('{0}') }}}} tablesample bernoulli (10 percent)
group by 1, 2
having count(*) >= 20
order by 1, 2
{{% endif %}}"""


def manifest(models: int) -> dict[str, Any]:
    """A project as dbt writes it: a third staging, a hundredth releases, four tests a model."""
    found: dict[str, Any] = {
        "metadata": {
            "dbt_schema_version": SCHEMA, "dbt_version": "1.11.16", "adapter_type": "duckdb",
            "project_name": "shop", "generated_at": "2026-11-21T12:00:00Z",
        },
        "nodes": {}, "sources": {}, "exposures": {}, "disabled": {},
        "macros": dict(_macro(number) for number in range(512)),
    }  # fmt: skip
    staging = [f"stg_{number}" for number in range(models // 3)]
    for number, name in enumerate(staging):
        _source(found, name.replace("stg", "raw"), sensitive=number % 10 == 0)
        _model(found, name, STAGING.format(name.replace("stg", "raw")))
    releases = [f"public_{number}" for number in range(max(1, models // 100))]
    for number, name in enumerate(releases):
        config = {"materialized": "incremental", "full_refresh": False}
        meta = {"privacy": {"release": True}}
        _model(found, name, RELEASE.format(staging[number * 10]), config, meta)
    clean = [name for number, name in enumerate(staging) if number % 10] + releases
    for number in range(models - len(staging) - len(releases)):
        one, other = clean[-1 - number % 7], clean[(number * 13) % len(clean)]
        name = f"mart_{number}"
        _model(found, name, JOINED.format(one, other), {"materialized": "incremental"})
        clean.append(name)
        if number % 10 == 0:
            _exposure(found, f"board_{number}", name)
    return found


def _macro(number: int) -> tuple[str, dict[str, Any]]:
    id_ = f"macro.dbt.macro_{number}"
    sql = "{% macro x(a) %}" + "  create table {{ a }} as select 1;\n" * 20 + "{% endmacro %}"
    data = {"unique_id": id_, "name": f"macro_{number}", "package_name": "dbt", "macro_sql": sql,
            "depends_on": {"macros": []}, "original_file_path": "macros/x.sql"}  # fmt: skip
    return id_, data


def _source(found: dict[str, Any], name: str, *, sensitive: bool) -> None:
    id_ = f"source.shop.raw.{name}"
    found["sources"][id_] = {
        "unique_id": id_, "name": name, "source_name": "raw", "resource_type": "source",
        "package_name": "shop", "schema": "raw", "database": "shop", "identifier": name,
        "relation_name": f'"shop"."raw"."{name}"', "original_file_path": "models/sources.yml",
        "meta": SENSITIVE if sensitive else {}, "config": {"enabled": True}, "columns": {},
    }  # fmt: skip


def _model(
    found: dict[str, Any],
    name: str,
    raw: str,
    config: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
    *,
    access: str = "protected",
) -> None:
    id_ = f"model.shop.{name}"
    compiled, parents = _compiled(raw, name)
    columns = {
        column: {"name": column, "description": "A column. " * 5, "meta": {}, "tags": []}
        for column in ("customer_id", "created_on", "amount", "status", "channel")
    }
    found["nodes"][id_] = {
        "unique_id": id_, "name": name, "alias": name, "resource_type": "model",
        "package_name": "shop", "schema": "main", "database": "shop", "language": "sql",
        "relation_name": f'"shop"."main"."{name}"', "original_file_path": f"models/{name}.sql",
        "raw_code": raw, "compiled": True, "compiled_code": compiled,
        "access": "public" if meta else "protected",
        "config": {"enabled": True, "materialized": "view", **(config or {}), "meta": meta or {}},
        "meta": meta or {}, "columns": columns, "description": "A model. " * 10,
        "depends_on": {"nodes": parents, "macros": ["macro.dbt.is_incremental"]},
    }  # fmt: skip
    for column in ("customer_id", "created_on", "amount", "status"):
        _test(found, name, column)


def _compiled(raw: str, name: str) -> tuple[str, list[str]]:
    import re

    parents = [f"model.shop.{each}" for each in re.findall(r"ref\('(\w+)'\)", raw)]
    parents += [f"source.shop.raw.{each}" for each in re.findall(r"source\('raw', '(\w+)'\)", raw)]
    text = re.sub(r"\{\{ config\(.*?\) \}\}\n", "", raw)
    text = re.sub(
        r"\{% if is_incremental\(\) %\}.*?(?:\{% else %\}(.*?))?\{% endif %\}",
        lambda match: match[1] or "", text, flags=re.DOTALL,
    )  # fmt: skip
    text = re.sub(r"\{\{ ref\('(\w+)'\) \}\}", r'"shop"."main"."\1"', text)
    text = re.sub(r"\{\{ source\('raw', '(\w+)'\) \}\}", r'"shop"."raw"."\1"', text)
    return text.replace("{{ this }}", f'"shop"."main"."{name}"'), list(dict.fromkeys(parents))


def _test(found: dict[str, Any], name: str, column: str) -> None:
    id_ = f"test.shop.not_null_{name}_{column}"
    sql = f'select {column}\nfrom "shop"."main"."{name}"\nwhere {column} is null'
    found["nodes"][id_] = {
        "unique_id": id_, "name": f"not_null_{name}_{column}", "resource_type": "test",
        "package_name": "shop", "raw_code": "{{ test_not_null(**_dbt_generic_test_kwargs) }}",
        "compiled": True, "compiled_code": sql, "original_file_path": "models/schema.yml",
        "config": {"enabled": True, "materialized": "test", "severity": "ERROR"},
        "depends_on": {"nodes": [f"model.shop.{name}"], "macros": ["macro.dbt.test_not_null"]},
    }  # fmt: skip


def _exposure(found: dict[str, Any], name: str, parent: str) -> None:
    id_ = f"exposure.shop.{name}"
    found["exposures"][id_] = {
        "unique_id": id_, "name": name, "resource_type": "exposure", "package_name": "shop",
        "original_file_path": "models/schema.yml", "config": {"enabled": True},
        "depends_on": {"nodes": [f"model.shop.{parent}"], "macros": []},
    }  # fmt: skip


def write(models: int, folder: Path) -> Path:
    """The project in a folder, with its manifest and the text of every model."""
    found = manifest(models)
    (folder / "target").mkdir(parents=True)
    (folder / "models").mkdir()
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    for data in found["nodes"].values():
        if data["resource_type"] == "model":
            (folder / data["original_file_path"]).write_text(data["raw_code"] + "\n")
    path = folder / "target/manifest.json"
    path.write_text(json.dumps(found))
    return path


def seconds(folder: Path) -> tuple[float, float]:
    """The median time of the whole command: by the clock, and of the processor."""
    times, busy = [], []
    for _ in range(TURNS):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [Path(sys.executable).parent / "policy-engine", "dbt", "gate"]
        done = subprocess.run(
            [*command, "--project-dir", folder],
            env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
            capture_output=True,
            text=True,
            check=False,
        )
        times.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert done.returncode == 0, done.stdout + done.stderr
    return statistics.median(times), statistics.median(busy)


def main() -> None:
    """Print a table of medians."""
    options = argparse.ArgumentParser()
    options.add_argument("--models", type=int, nargs="*", default=[10, 100, 1_000])
    options.add_argument("--keep", type=Path, help="Write the largest project here, and stop.")
    given = options.parse_args()
    if given.keep is not None:
        print(write(max(given.models), given.keep))
        return
    print("| models | nodes | manifest | seconds | of processor |\n|---|---|---|---|---|")
    for models in given.models:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "shop"
            path = write(models, folder)
            size = path.stat().st_size / 1e6
            nodes = len(json.loads(path.read_text())["nodes"])
            clock, busy = seconds(folder)
            shown = f"{size:.1f} MB | {clock:.2f} | {busy:.2f}"
            print(f"| {models:,} | {nodes:,} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
