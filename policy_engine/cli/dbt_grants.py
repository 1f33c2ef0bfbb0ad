"""dbt grants: who may see what is sensitive, as statements and as the database has it."""

from __future__ import annotations

import typer

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption, VarsOption
from policy_engine.cli.output import complain, emit
from policy_engine.errors import NothingChecked, UsageError


def grants(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
) -> None:
    """Print GRANT and REVOKE statements for sensitive relations, and report roles with too many
    rights.

    The gate decides which relations are sensitive. The key dbt.private.roles in policy-engine.yaml
    names the roles that may read these relations. The command prints statements that leave the
    right to read to these roles. It does not run the statements. It also checks the rights in
    PostgreSQL. If another role has rights on a sensitive relation, the exit code is 1. DuckDB has
    no roles, so there the exit code is 4.

    Example: policy-engine dbt grants --target prod
    """
    from policy_engine.dbt.desk import open_desk, place_of
    from policy_engine.dbt.grants import excess, sensitive_relations, statements

    place = place_of(project_dir, profiles_dir, target, vars)
    roles = place.project.dbt.private.roles
    if place.named.type != "postgres":
        raise NothingChecked(
            "DuckDB has no roles and no grants: whoever can read its file reads every relation in"
            " it. Put sensitive relations into a file of their own, and guard that"
        )
    if not roles:
        remedy = "write dbt: {private: {roles: [engineers]}} into policy-engine.yaml"
        raise UsageError(f"dbt.private.roles names nobody who may see sensitive data; {remedy}")
    relations = sensitive_relations(place.files, place.parsed(), place.named.type)
    with open_desk(place, writable=False) as desk:
        found = excess(desk, relations, roles)
    written = [*(each.statement for each in found), *statements(relations, roles)]
    document = {
        "target": place.target,
        "roles": list(roles),
        "relations": [".".join(each) for each in relations],
        "excess": [each._asdict() for each in found],
        "statements": written,
    }
    emit(document, written)
    for each in found:
        complain(str(each))
    if found:
        raise typer.Exit(1)
    if not relations:
        raise NothingChecked("no relation of the project holds sensitive data, by what is marked")
