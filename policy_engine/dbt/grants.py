"""Who may see the sensitive relations of a target, by dbt.private and by what PostgreSQL grants.

The catalog is asked who owns a relation and who was granted anything of it, of a column, or of
tables to come, for dbt makes tables anew. What superusers, members of a role and readers of all
data may do is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policy_engine.dbt.desk import Desk
from policy_engine.dbt.gate import Gate
from policy_engine.dbt.manifest import Manifest
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.releases import named
from policy_engine.warehouse.quoting import quoted

Relation = tuple[str, str]
"""A relation's schema and name."""
_KINDS = ("model", "seed", "snapshot", "source")


class Excess(NamedTuple):
    """What a role that is not private has of a place, and the ``statement`` that takes it away."""

    place: str
    role: str
    has: str
    statement: str

    def __str__(self) -> str:
        return f"{self.role} {self.has} {self.place}, and is no role of dbt.private"


def sensitive_relations(
    project: DbtProject, manifest: Manifest, engine: str
) -> tuple[Relation, ...]:
    """The relations of a target that hold sensitive data, by what the gate knows of the project."""
    reached = Gate(manifest, project).verdict().reached
    nodes = (manifest.nodes[id_] for id_ in reached if id_ in manifest.nodes)
    parts = (named(node.relation, engine) for node in nodes if node.kind in _KINDS)
    return tuple(sorted({(each[-2], each[-1]) for each in parts if len(each) > 1}))


def statements(relations: Iterable[Relation], roles: tuple[str, ...]) -> Iterator[str]:
    """What lets the private roles see the sensitive relations, and not everybody.

    >>> print(*statements([("raw", "people")], ("ana",)), sep="\\n")
    GRANT USAGE ON SCHEMA "raw" TO "ana";
    REVOKE ALL ON TABLE "raw"."people" FROM PUBLIC;
    GRANT SELECT ON TABLE "raw"."people" TO "ana";
    """
    relations = tuple(relations)
    listed = ", ".join(quoted(role) for role in roles)
    for schema in dict.fromkeys(schema for schema, _ in relations):
        yield f"GRANT USAGE ON SCHEMA {quoted(schema)} TO {listed};"
    for relation in relations:
        yield f"REVOKE ALL ON TABLE {quoted(*relation)} FROM PUBLIC;"
        yield f"GRANT SELECT ON TABLE {quoted(*relation)} TO {listed};"


def excess(desk: Desk, relations: Iterable[Relation], roles: tuple[str, ...]) -> tuple[Excess, ...]:
    """What PostgreSQL gives of sensitive relations to others than the private roles.

    The role that is connected may own them: it makes them.

    Raises:
        WarehouseError: the catalog cannot be read.
    """
    wanted, private = set(relations), {quoted(role) for role in roles}
    found: set[Excess] = set()
    for schema, relation, owner, me, role in _rows(desk, _RELATIONS):
        if (schema, relation) not in wanted:
            continue
        place = quoted(schema, relation)
        if owner not in private | {me}:
            change = f"ALTER TABLE {place} OWNER TO {me};"
            found.add(Excess(place, owner, "owns", change))
        if role and role not in private | {owner}:
            change = f"REVOKE ALL ON TABLE {place} FROM {role};"
            found.add(Excess(place, role, "has privileges on", change))
    schemas = {schema for schema, _ in wanted}
    for schema, owner, role in _rows(desk, _TO_COME):
        if role not in private | {owner} and (not schema or schema in schemas):
            where = f" IN SCHEMA {quoted(schema)}" if schema else ""
            change = f"ALTER DEFAULT PRIVILEGES FOR ROLE {owner}{where} REVOKE ALL ON TABLES FROM"
            place = f"tables that {owner} will make{where.replace(' IN SCHEMA', ' in')}"
            found.add(Excess(place, role, "will have privileges on", f"{change} {role};"))
    return tuple(sorted(found))


def _rows(desk: Desk, sql: str) -> Iterator[tuple[str, ...]]:
    found = desk.warehouse.rows(sql)
    return zip(*(column.to_pylist() for column in found.columns), strict=True)


def _role(oid: str) -> str:
    """A role as SQL writes it: in quotes, everybody without."""
    name = f"pg_catalog.pg_get_userbyid({oid})::text"
    return f"""CASE {oid} WHEN 0 THEN 'PUBLIC' ELSE '"' || replace({name}, '"', '""') || '"' END"""


_RELATIONS = f"""
SELECT n.nspname::text AS schema, c.relname::text AS relation, {_role("c.relowner")} AS owner,
  '"' || replace(current_user::text, '"', '""') || '"' AS me, {_role("x.grantee")} AS role
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN LATERAL (
  SELECT grantee FROM pg_catalog.aclexplode(c.relacl)
  UNION
  SELECT y.grantee FROM pg_catalog.pg_attribute AS a, pg_catalog.aclexplode(a.attacl) AS y
  WHERE a.attrelid = c.oid AND NOT a.attisdropped
) AS x ON true
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
"""
_TO_COME = f"""
SELECT n.nspname::text AS schema, {_role("d.defaclrole")} AS owner, {_role("x.grantee")} AS role
FROM pg_catalog.pg_default_acl AS d
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = d.defaclnamespace
CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) AS x
WHERE d.defaclobjtype = 'r'
"""
