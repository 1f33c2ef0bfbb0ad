"""Runs Snowflake's SQL in fakesnow, an emulation of Snowflake on DuckDB: in a venv of its own.

It pins another sqlglot than ours. Reads JSON from stdin: the file of the table, its columns and a
list of texts under a secret; writes each text's rows, every value as text, or its error.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    import fakesnow  # it is in that venv only, and pytest reads this file for its doctests

    asked = json.load(sys.stdin)
    with fakesnow.patch():
        import snowflake.connector

        connection = snowflake.connector.connect(database="db", schema="main")
        cursor = connection.cursor()
        columns = ", ".join(f'"{name}" {kind}' for name, kind in asked["columns"].items())
        cursor.execute(f'create table "main"."people" ({columns})')
        names = ", ".join(f'"{name}"' for name in asked["columns"])
        # The emulation's own DuckDB: thousands of inserts would each be transpiled.
        connection._duck_conn.execute(
            f"INSERT INTO main.people SELECT {names} FROM read_parquet('{asked['file']}')"
        )
        cursor.execute(f"set policy_engine_salt = '{asked['salt']}'")
        found = []
        for text in asked["texts"]:
            try:
                rows = cursor.execute(text).fetchall()
                found.append([[None if v is None else str(v) for v in row] for row in rows])
            except Exception as error:  # the emulation may lack what Snowflake has
                found.append(str(error))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
