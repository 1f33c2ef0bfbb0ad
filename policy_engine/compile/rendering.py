"""The envelope around a query, which a warehouse writes; the query stands in it unedited."""

from __future__ import annotations

from policy_engine.engines.base import Engine, Refused
from policy_engine.errors import UsageError


def headed(name: str, digest: str, text: str) -> str:
    """A printed text below the two comment lines that say whose it is.

    A policy's name is a plain word, and its digest is hex.
    """
    return f"-- policy: {name}\n-- digest: {digest}\n{text}\n"


def created(query: str, name: str) -> str:
    """The envelope that makes a table of a query; ``name`` as the engine quotes it.

    >>> print(created("SELECT 1 AS one", '"out"'))
    CREATE TABLE "out" AS
    SELECT 1 AS one
    """
    return f"CREATE TABLE {name} AS\n{query}"


def name_of(target: tuple[str, ...], engine: Engine) -> str:
    """The full name of a table as the engine quotes it.

    Raises UsageError where the engine cannot write it.
    """
    try:
        return ".".join(map(engine.identifier, target))
    except Refused as error:
        raise UsageError(str(error)) from None
