"""Identifiers and texts in the few statements that the warehouse writes itself."""


def quoted(*parts: str, sign: str = '"') -> str:
    """A qualified identifier, in an engine's sign of quoting.

    >>> print(quoted("main", 'my "odd" table'))
    "main"."my ""odd"" table"
    """
    return ".".join(sign + part.replace(sign, sign * 2) + sign for part in parts)


def literal(text: str) -> str:
    """A text in standard SQL, for where no parameter may stand.

    >>> print(literal("people's"))
    'people''s'
    """
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
