"""Trino and Athena, by their documentation: printed, and never run by us on them.

Athena keeps the values of EXECUTE … USING in its history, so the secret is read from the secrets
relation. VARCHAR is compared by its code points, blanks included. A plain TIMESTAMP has three
digits of a second, so every cast says six.
"""

from policy_engine.engines.base import Engine

_SESSION = "the session's time zone is UTC"

TRINO = Engine(
    "trino", "Trino", 128, home="default", folds="lower",
    assumes={
        "secret": "no reader of the release has access to the secrets relation, its earlier"
        " states and files, or the queries that wrote it",
        "session": _SESSION,
        "native": "Trino keeps each row with the stated probability, independently of the"
        " other rows (this is documented, but was not measured by us), and " + _SESSION,
    },
    lacks={
        "bytewise": ("it has no collations", "leave the collation out"),
        "repeat": ("a select list cannot repeat a row", "use release.as: counts"),
    },
)  # fmt: skip
