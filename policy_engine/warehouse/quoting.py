"""Identifiers in the few statements that the warehouse writes itself."""


def quoted(*parts: str) -> str:
    """A qualified identifier.

    >>> quoted("main", 'a "b"')
    '"main"."a ""b"""'
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
