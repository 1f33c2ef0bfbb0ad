"""A release that dbt makes, of an account that requires approvals: reserved with them alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from dbt_sync_world import World
from test_dbt_desk import GONE, PEOPLE, SALTS, Room

from policy_engine.attest.approvals import review_policy
from policy_engine.attest.signers import KeySigner, writer_of
from policy_engine.cli.dbt_releases import sought
from policy_engine.errors import NotApproved, NotReleasable
from policy_engine.ledger import deciding
from policy_engine.policy.project import load_project
from policy_engine.policy.review_models import key_line
from policy_engine.releasing.asking import answered, ask_for
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.reviewing import add_approval, brought_at, request_file

ROLES = {"Ada": "owner", "Ben": "privacy", "Cleo": "author"}


class Reviewed(Room):
    """A room whose account is released by two people."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.keys = {name: KeySigner(Ed25519PrivateKey.generate()) for name in ROLES}

    @property
    def project(self):
        return load_project(self.world.folder / "policy-engine.yaml")

    def require(self, **changes):
        people = {
            name: {"role": role, "keys": [key_line(self.keys[name].public_key.public_bytes_raw())]}
            for name, role in ROLES.items()
        }
        told = {"version": 1, "account": "people", "serial": 1, "people": people,
                "claim": {"owner": 1, "privacy": 1}, "change": {"owner": 1}, "days": 30,
                "expires": "2999-12-31"}  # fmt: skip
        policy = review_policy(json.dumps(told | changes), Path("p.yaml"))
        brought = brought_at(Path("none.review.json"))
        with open_ledger(self.project, ledger_writer(self.project)) as ledger:
            deciding.require(ledger, policy, brought, who="Ada", why="a test")

    @property
    def request(self) -> Path:
        return request_file(self.release.certificate, "claim")

    def ask(self) -> bool:
        def do(desk, releases):
            with open_ledger(desk.project) as ledger:
                [(found, required)] = sought(desk, ledger, releases)
                return ask_for(found, required, ledger.read(), self.keys["Cleo"])

        return self.at_desk(do, self.text)

    def approve(self, *names: str) -> None:
        for name in names:
            at = datetime.now(UTC)
            _, line = answered(
                self.request, self.keys[name], at, verdict="approved", role=ROLES[name]
            )
            add_approval(self.request, line)

    def revoke(self, name: str) -> None:
        with open_ledger(self.project, writer_of(self.project)) as ledger:
            deciding.revoke(ledger, self.keys[name].key_id, who="Ada", why="stolen")

    def secrets(self) -> list[tuple[object, ...]]:
        found = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'policy_engine_salts'"
        return self.sql(f"SELECT * FROM {SALTS}") if self.sql(found) == [(1,)] else []

    def refused(self, **options: bool) -> None:
        before = self.entries(), self.secrets()
        with pytest.raises(NotApproved):
            self.reserve(**options)
        assert (self.entries(), self.secrets()) == before


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = World.at(tmp_path)
    world.policy()
    made = Reviewed(world)
    made.sql(PEOPLE.format(people=3000))
    return made


def test_what_two_have_approved_is_reserved_built_and_signed_for(room):
    room.require()
    room.refused()
    assert room.ask()
    room.approve("Ada")
    room.refused()
    room.approve("Ben")
    assert not room.ask()
    assert room.reserve().outcome == "reserved"
    assert room.reserve().outcome == "waits"
    room.build()
    assert room.attest().outcome == "attested"
    with open_ledger(room.project) as ledger:
        ledger.verify()


def test_no_table_of_secrets_is_made_for_what_is_refused(room):
    room.require()
    room.refused()
    assert room.secrets() == []
    found = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'policy_engine_salts'"
    assert room.sql(found) == [(0,)]


def test_a_second_draw_needs_a_request_of_its_own(room):
    room.require()
    room.ask()
    room.approve("Ada", "Ben")
    room.reserve()
    room.build()
    room.attest()
    room.sql(*GONE)
    room.refused(fresh=True)
    with pytest.raises(NotReleasable):
        room.reserve()
    assert room.ask()
    room.approve("Ada", "Ben")
    assert room.reserve(fresh=True).outcome == "reserved"


def test_an_edited_policy_is_not_what_was_approved(room):
    room.require()
    room.ask()
    room.approve("Ada", "Ben")
    room.world.policy(k=30)
    room.refused()


def test_a_key_that_is_revoked_before_the_table_is_signed_for(room):
    room.require()
    room.ask()
    room.approve("Ada", "Ben")
    room.reserve()
    room.build()
    room.revoke("Ben")
    found = room.attest()
    assert (found.outcome, "1 more of role privacy" in found.why) == ("refused", True)
    assert not found.release.certificate.exists()
    assert room.entries() == ["started"]


def test_a_table_that_nobody_reserved_is_charged_and_has_no_certificate(room):
    room.require()
    room.sql("CREATE TABLE towns_v1_draw AS SELECT '<30' AS age, 'north' AS town, 30 AS n")
    found = room.attest()
    assert found.outcome == "refused"
    assert not found.release.certificate.exists()
    assert room.entries() == ["kept"]
    with open_ledger(room.project) as ledger:
        ledger.verify()
        assert ledger.read().budget.entries()[0].is_out


def test_what_would_have_to_wait_is_not_released_by_dbt(room):
    room.require(release={"privacy": 1})
    room.ask()
    room.approve("Ada", "Ben")
    room.refused()


def test_what_was_reserved_before_approvals_were_required_is_not_signed_for(room):
    room.reserve()
    room.build()
    room.require()
    found = room.attest()
    assert (found.outcome, "nobody has asked" in found.why) == ("refused", True)
    assert not found.release.certificate.exists()
