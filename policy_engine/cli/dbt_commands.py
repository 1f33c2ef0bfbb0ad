"""The commands of ``policy-engine dbt``, by name."""

from __future__ import annotations

from policy_engine.cli import (
    dbt_choosing,
    dbt_gate,
    dbt_grants,
    dbt_releases,
    dbt_review,
    dbt_sync,
    dbt_verify,
)
from policy_engine.cli.app import Commands

dbt = Commands(
    help="Certified releases in a dbt project.\n\nExample: policy-engine dbt build --target prod"
)
dbt.command(short_help="Prepare a dbt project for releases.")(dbt_sync.init)
dbt.command(short_help="Write the models of the project's policies.")(dbt_sync.sync)
dbt.command(short_help="Write the policy of a model that was written by hand.")(dbt_sync.adopt)
dbt.command(short_help="Choose a level for each column of a policy.")(dbt_choosing.search)
dbt.command(short_help="Choose the limits for one person.")(dbt_choosing.suggest)
dbt.command(short_help="Find sensitive data that leaves the project.")(dbt_gate.gate)
dbt.command(short_help="Show code that needs a review, and record who has read it.")(
    dbt_review.review
)
dbt.command(short_help="Print the grants for sensitive data, and find excess rights.")(
    dbt_grants.grants
)
dbt.command(short_help="Ask for the approvals that releases need.")(dbt_releases.request)
dbt.command(short_help="Certify and charge what dbt will build.")(dbt_releases.reserve)
dbt.command(short_help="Sign certificates for what dbt has built.")(dbt_releases.attest)
dbt.command(short_help="Show the state of the releases of a target.")(dbt_releases.status)
dbt.command(short_help="Check the tables of releases against their certificates.")(
    dbt_verify.verify
)
dbt.command(
    short_help="Reserve, 'dbt build' and attest in one.",
    context_settings={"allow_extra_args": True},
)(dbt_releases.build)
