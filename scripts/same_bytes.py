"""One secret, one policy, every engine: whether a release has the same rows on all of them.

    .venv/bin/python scripts/same_bytes.py policy.yaml --table people.parquet [--engines duckdb,…]

The table is loaded as ``people`` into each real engine, whatever relation the policy names; servers
are started and ended here. For each engine the SHA-256 of its release is printed (of the Parquet
file, without the certificate's facts), or why it refuses. Exit code 1 where two digests differ.
"""

from __future__ import annotations

import argparse
import hashlib
import secrets
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "warehouse"))
from alike import rows_of
from engines import ENGINES, TABLE, Engine, opened_engines

from policy_engine.errors import PolicyEngineError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.arrow import portable


def digest(rows: pa.Table) -> str:
    """SHA-256 of the Parquet file of a release, without its certificate's facts."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows.combine_chunks().replace_schema_metadata(), sink)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def released(engine: Engine, policy: Policy, table: pa.Table, secret: bytes) -> pa.Table:
    """What a policy releases of a table on an engine."""
    unfit = engine.unfit(table)
    if unfit:
        raise PolicyEngineError(f"it has no type for {', '.join(unfit)}")
    engine.load(table)
    with closing(engine.warehouse()) as warehouse:
        return rows_of(policy, warehouse, secret)


def main() -> int:
    """Print one line an engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("policy", type=Path)
    parser.add_argument("--table", type=Path, required=True, help="a Parquet file")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--secret", default=secrets.token_hex(16), help="32 hexadecimal digits")
    given = parser.parse_args()
    policy = load_policy(given.policy)
    policy = replace(policy, source=replace(policy.source, path=None, relation=TABLE))
    table = portable_but_widths(pq.read_table(given.table))
    found: dict[str, str] = {}
    with opened_engines(given.engines.split(",")) as engines:
        for name, engine in engines.items():
            try:
                rows = released(engine, policy, table, bytes.fromhex(given.secret))
            except PolicyEngineError as error:
                print(f"{name:<11} refuses: {' '.join(str(error).split())}")
                continue
            found[name] = digest(rows)
            print(f"{name:<11} {found[name]}  {rows.num_rows} rows")
    same = len(set(found.values())) == 1
    print(f"\n{len(found)} engines, {'the same rows' if same else 'DIFFERENT ROWS'}")
    return 0 if same else 1


def portable_but_widths(table: pa.Table) -> pa.Table:
    """A table in the types that engines have, with 32-bit whole numbers kept as they are."""
    wide = portable(table)
    fields = [
        pa.field(f.name, pa.int32() if table.schema.field(f.name).type == pa.int32() else f.type)
        for f in wide.schema
    ]
    return wide.cast(pa.schema(fields))


if __name__ == "__main__":
    sys.exit(main())
