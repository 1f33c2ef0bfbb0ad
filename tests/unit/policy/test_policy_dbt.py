"""What a policy and a project say of a dbt project."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from policy_engine.errors import PolicyError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import load_project_text
from policy_engine.policy.project_models import DbtSpec

POLICY = """
version: 1
name: ages
source: {{table: ref('people')}}
privacy_unit: {{column: id, rows: one}}
recode: {{age: {{bins: [30]}}}}
sample: {{rate: 0.1}}
k: 20
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {{{}}}
"""


def loaded(release: str):
    return load_policy_text(POLICY.format(release), "ages.privacy.yml", Path())


def refused(release: str) -> str:
    with pytest.raises(PolicyError) as error:
        loaded(release)
    return str(error.value)


def test_a_release_is_the_first_version_and_stays():
    release = loaded("table: ages").release
    assert (release.version, release.deprecated) == (1, None)


def test_a_version_and_when_it_goes():
    release = loaded("table: ages, version: 2, deprecated: 2027-01-31").release
    assert (release.version, release.deprecated) == (2, date(2027, 1, 31))
    assert loaded("table: ages, deprecated: '2027-01-31'").release.deprecated == date(2027, 1, 31)


def test_when_it_goes_is_no_part_of_what_it_is():
    first = loaded("table: ages, version: 1").digest
    assert first == loaded("table: ages, deprecated: 2027-01-31").digest
    assert first != loaded("table: ages, version: 2").digest


@pytest.mark.parametrize(
    ("release", "told"),
    [
        ("table: ages, version: 0", "release.version must be at least 1, found 0"),
        ("table: ages, version: two", "release.version must be an integer of at least 1"),
        ("table: ages, deprecated: soon", "release.deprecated must be a date, found 'soon'; as"),
        ("table: ages, deprecated: 2027-01-31 10:00:00", "release.deprecated must be a date"),
        ("file: a.parquet, version: 2", "release.version is of a dbt model, and must not stand"),
        ("file: a.parquet, deprecated: 2027-01-31", "release.deprecated is of a dbt model"),
    ],
)
def test_what_is_no_version_is_refused(release, told):
    assert told in refused(release)


def test_a_project_says_where_models_are_released():
    text = "dbt: {release_targets: [prod, eu], group: privacy, access: protected, secrets: p.salts}"
    found = load_project_text(text, "policy-engine.yaml", ".").dbt
    assert found == DbtSpec(
        release_targets=["prod", "eu"], group="privacy", access="protected", secrets="p.salts"
    )
    assert load_project_text("version: 1", "policy-engine.yaml", ".").dbt == DbtSpec()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dbt: {release_targets: prod}", "dbt.release_targets must be a list of targets, found"),
        ("dbt: {access: open}", "dbt.access must be public, protected or private, found 'open'"),
        (
            "dbt: {targets: [prod]}",
            "dbt.targets is an unknown key; did you mean 'release_targets'?",
        ),
    ],
)
def test_a_project_that_says_it_wrongly_is_refused(text, told):
    with pytest.raises(PolicyError) as error:
        load_project_text(text, "policy-engine.yaml", ".")
    assert told in str(error.value)
