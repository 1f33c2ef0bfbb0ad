"""What a table of PostgreSQL has that a new one in its place would not, asked before a charge.

A release is replaced by a new table of its name. Rights that its owner granted to roles on the
whole table are given anew; everything else would be lost, which can widen what a role sees, or the
table could not be dropped at all. So it is refused, with what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policy_engine.errors import WarehouseError
from policy_engine.warehouse.quoting import quoted

Ask = Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]]
_HAS = """
    SELECT pg_get_userbyid(c.relowner), c.relowner = (SELECT oid FROM pg_roles
           WHERE rolname = current_user),
           c.relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid),
           EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid),
           EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
           EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL),
           EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantor <> c.relowner),
           EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent)),
           EXISTS (SELECT FROM pg_seclabel WHERE objoid = c.oid
                   AND classoid = 'pg_class'::regclass)
    FROM pg_class AS c WHERE c.oid = to_regclass(%s)
"""
_LOST = (
    "row-level security or policies",
    "rules",
    "triggers",
    "rights on single columns",
    "rights that another role than its owner granted",
    "a table that inherits from it, or from which it does",
    "security labels",
)
_DEPENDS = """
    SELECT pg_describe_object(d.classid, d.objid, 0)
    FROM pg_class AS c LEFT JOIN pg_type AS t ON t.oid = c.reltype
    JOIN pg_depend AS d ON d.deptype = 'n'
         AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
              OR (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.oid, t.typarray)))
    WHERE c.oid = to_regclass(%s) AND NOT (d.classid = 'pg_class'::regclass AND d.objid = c.oid)
    ORDER BY 1 LIMIT 1
"""


def check(ask: Ask, target: tuple[str, ...]) -> None:
    """Refuse a table that a new one cannot take the place of.

    Raises:
        WarehouseError: it belongs to another role, has what would be lost, or is depended on.
    """
    name = ".".join(target)
    found = ask(_HAS, (quoted(*target),))
    if not found:
        return
    owner, is_own, *has = found[0]
    if not is_own:
        raise WarehouseError(
            f"{name} belongs to {owner}, and only its owner replaces a table: release as {owner},"
            f" or drop it first"
        )
    for what, is_there in zip(_LOST, has, strict=True):
        if is_there:
            raise WarehouseError(
                f"{name} has {what}, which a table in its place would not have; nothing was"
                " replaced: remove them, or drop the table, or name another in release.relation"
            )
    depending = ask(_DEPENDS, (quoted(*target),))
    if depending:
        raise WarehouseError(
            f"{name} cannot be replaced, for {depending[0][0]} depends on it: drop that first, and"
            " make it again after the release, or name another table in release.relation"
        )


def granted(ask: Ask, target: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Who may do what with a table, and whether that role may grant it on."""
    return ask(
        "SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,"
        " privilege_type, is_grantable FROM pg_class, aclexplode(relacl)"
        " WHERE oid = to_regclass(%s)",
        (quoted(*target),),
    )
