"""Amazon Redshift, by its documentation: printed, and never run by us on Redshift.

The text of ``SET`` stays in the history of queries, so the secret is read from a relation; there is
no TABLESAMPLE. Texts are compared without the blanks at their end: so they lose them.
"""

from policy_engine.engines.base import Engine

_TEXTS = ("texts are compared without their trailing blanks, so two values could look like one",
          "keep codes as numbers, or leave it out")  # fmt: skip
REDSHIFT = Engine(
    "redshift", "Amazon Redshift", 127, labels="no last blank",
    collates=True, home="public", folds="lower",
    assumes={
        "secret": "no reader of the release has access to the secrets relation or the history"
        " of queries that wrote it",
        "session": "the database compares texts with their case, and the session has datestyle"
        " ISO",
    },
    lacks={
        "native_sample": ("it has no TABLESAMPLE", "use method: keyed"),
        "repeat": ("generate_series cannot be combined with a table", "use release.as: counts"),
        "text_key": ("texts are compared without their trailing blanks, so two people could"
                     " look like one",
                     "name a key of numbers"),
        "label_column": _TEXTS,
        "double_column": ("it does not document how NaN is compared", "use a decimal number"),
        "blank_label": ("a label, or a key of a map, must not end in a blank, because blanks"
                        " at the end are not compared",
                        "remove the blank"),
    },
)  # fmt: skip
