"""Plan → text, and the envelope around it.

The query is what is proved. It stands, unedited, in an envelope that a warehouse writes, or runs as
it is where its rows go to a file.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.compile.plan import Plan
from policy_engine.dialects.base import Dialect


def render(plan: Plan) -> str:
    """The query that will be proved, and then run, letter by letter.

    Two comment lines say whose it is: the policy's name is a plain word and the digest is hex.
    """
    header = f"-- policy: {plan.policy_name}\n-- digest: {plan.policy_digest}\n"
    return f"{header}{plan.dialect.sql(plan.query)}\n"


def created(query: str, name: str, *, replaces: bool = False) -> str:
    """The envelope that makes a table of a query; ``name`` as the engine quotes it.

    >>> print(created("SELECT 1 AS one", '"out"'))
    CREATE TABLE "out" AS
    SELECT 1 AS one
    """
    return f"CREATE {'OR REPLACE ' if replaces else ''}TABLE {name} AS\n{query}"


def name_of(target: tuple[str, ...], dialect: Dialect) -> str:
    """The full name of a table as the engine quotes it."""
    names = [exp.to_identifier(part, quoted=True) for part in reversed(target)]
    return dialect.sql(exp.Table(**dict(zip(("this", "db", "catalog"), names, strict=False))))
