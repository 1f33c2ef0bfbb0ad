"""The secrets relation: where a secret waits that no parameter can bring unseen.

One row holds the secret of the release that is made next, as 32 hexadecimal digits. Who runs the
text puts it there before, and takes it away afterwards; the text and its history hold no secret.
"""

from __future__ import annotations

from sqlglot import exp

RELATION = "policy_engine_salts"
RELEASE = "next"


def secret(relation: tuple[str, ...] = (RELATION,), release: str = RELEASE) -> exp.Expr:
    """The secret as a scalar query: NULL where there is none, so that nobody is in the sample.

    ``relation`` is the full name of the secrets relation, ``release`` the id of the row.

    >>> secret().sql()
    '(SELECT "salt" FROM "policy_engine_salts" WHERE "release_id" = \\'next\\')'
    """
    salt, wanted = (exp.column(name, quoted=True) for name in ("salt", "release_id"))
    found = exp.EQ(this=wanted, expression=exp.Literal.string(release))
    names = [exp.to_identifier(part, quoted=True) for part in relation]
    table = exp.Table(**dict(zip(("this", "db", "catalog"), reversed(names), strict=False)))
    return exp.select(salt).from_(table).where(found).subquery()
