"""Snowflake, by its documentation: printed, and never run by us on Snowflake itself.

The secret is a session variable. ``SAMPLE BERNOULLI`` is documented as a weighted coin for each
row; ``RANDOM()`` is a 64-bit integer there, and is never written.
"""

from policy_engine.engines.base import Engine

_SESSION = (
    "the session has TIMEZONE = 'UTC', WEEK_START = 0 or 1, DATE_OUTPUT_FORMAT = 'YYYY-MM-DD' and"
    " DEFAULT_NULL_ORDERING = 'LAST'"
)

SNOWFLAKE = Engine(
    "snowflake", "Snowflake", 255, backslash="escapes", secret="$policy_engine_salt",
    collates=True, home="PUBLIC", folds="upper",
    assumes={
        "secret": "no reader of the release has access to any of these: the session's variables,"
        " the account's query history with bound values, the query profiles, and any secrets"
        " relation",
        "session": _SESSION,
        "native": "Snowflake keeps each row with the stated probability, independently of the"
        " other rows (this is documented, but was not measured by us), and " + _SESSION,
    },
    lacks={
        "repeat": ("no function repeats a row as often as a column says", "use release.as: counts"),
    },
)  # fmt: skip
