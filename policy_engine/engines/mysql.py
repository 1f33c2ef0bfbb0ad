"""MariaDB 10.6 and later (measured: 10.11), and MySQL 8.0.17 and later (its manual, not measured).

A text is compared by a collation that merges ``a``, ``A``, ``á`` and ``a `` unless it is told
another, so every text is told one of bytes, without padding; the two name it differently.
"""

from dataclasses import replace

from policy_engine.engines.base import Engine

_LACKS = {
    "native_sample": ("it has no TABLESAMPLE, and the optimiser can make RAND() draw again",
                      "use method: keyed"),
    "repeat": ("no function makes several rows of one", "use release.as: counts"),
}  # fmt: skip
_ASSUMES = {
    "secret": (
        "no reader of the release has access to any of these: the connection's variables,"
        " statements and process list, and the server's general, slow, audit and binary logs"
    ),
    "session": (
        "these settings hold in the session: sql_auto_is_null is 0; sql_select_limit is not set;"
        " max_sort_length is above the length of every text; sql_mode contains none of ANSI_QUOTES,"
        " HIGH_NOT_PRECEDENCE, NO_BACKSLASH_ESCAPES and PAD_CHAR_TO_FULL_LENGTH; if the release is"
        " a table, sql_mode contains no strict mode"
    ),
}
MARIADB = Engine(
    "mariadb", "MariaDB", 64, quote="`", backslash="escapes", secret="@policy_engine_salt",
    collates=True, enforces_keys=True, lists=True, casts="texts", bounds_names=True,
    assumes=_ASSUMES, lacks=_LACKS, parser="mysql",
)  # fmt: skip
MYSQL = replace(MARIADB, name="mysql", title="MySQL", family="mariadb", lists=False, casts="")
