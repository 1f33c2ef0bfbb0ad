"""Identifiers in the few statements that the warehouse writes itself."""


def quoted(*parts: str) -> str:
    """A qualified identifier.

    >>> print(quoted("main", 'my "odd" table'))
    "main"."my ""odd"" table"
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
