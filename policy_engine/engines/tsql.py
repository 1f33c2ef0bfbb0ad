"""SQL Server, by its documentation: printed, and never run by us on SQL Server.

``SESSION_CONTEXT`` takes texts with a prefix only, so the secret is read from the secrets relation.
``TABLESAMPLE SYSTEM`` takes pages. Texts are compared with blanks at their end filled up, under
every collation, and by most without their case: so they lose those blanks, and are compared by a
binary collation, as labels are.
"""

from policy_engine.engines.base import Engine

_TEXTS = ("texts are compared by a collation, and without the blanks at their end, so two"
          " values could look like one",
          "keep codes as numbers, or leave it out")  # fmt: skip
TSQL = Engine(
    "tsql", "SQL Server", 128, quote="[", closing="]", labels="ASCII",
    collates=True, enforces_keys=True, home="dbo",
    assumes={
        "secret": "no reader of the release has access to the secrets relation, or the text,"
        " plans and traces of the statements that wrote the secret",
        "relation": "the secrets relation holds its secret as VARCHAR or CHAR",
    },
    lacks={
        "native_sample": ("TABLESAMPLE SYSTEM takes pages of rows, not rows", "use method: keyed"),
        "repeat": ("a select list cannot repeat a row", "use release.as: counts"),
        "text_key": ("texts are compared by a collation, and without the blanks at their end, so"
                     " two people could look like one",
                     "name a key of numbers"),
        "create_table": ("SELECT INTO is a part of the query, so the certified SQL would change",
                         "write release.file, and fill a table by INSERT ... EXECUTE of a"
                         " procedure that holds the SQL"),
        "label_column": _TEXTS,
        "boolean_column": ("it has no truth values, and shows 0 and 1", "use an integer"),
        "blank_label": ("a label, or a key of a map, must be ASCII and must not end in a blank",
                        "write another label"),
        "first_half": ("it reads a secret as 32 digits, but a part needs 64", "leave part out"),
        "week_or_hour": ("the session decides on which day a week starts", "use month or day"),
    },
)  # fmt: skip
