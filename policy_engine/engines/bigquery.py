"""BigQuery, by its documentation: printed, and never run by us on BigQuery.

The values of named parameters stay in a job's metadata, so the secret is read from the secrets
relation. ``TABLESAMPLE SYSTEM`` takes blocks, and there is no other.
"""

from policy_engine.engines.base import Engine

BIGQUERY = Engine(
    "bigquery", "BigQuery", 300, quote="`", unnamed="`\\", backslash="escapes",
    assumes={
        "secret": "no reader of the release has access to the secrets relation, its earlier"
        " states, or the jobs that wrote into it",
    },
    lacks={
        "native_sample": ("TABLESAMPLE SYSTEM takes blocks of rows, not rows", "use method: keyed"),
        "repeat": ("a select list cannot repeat a row", "use release.as: counts"),
        "uuid_text": ("the text of a UUID differs from other engines'", "leave it out"),
        "fine_decimal": ("NUMERIC has nine digits after the point", "use a larger step"),
    },
)  # fmt: skip
