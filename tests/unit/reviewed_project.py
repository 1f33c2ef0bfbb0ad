"""A small project whose account requires approvals: its people, their keys, what they sign."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from small_project import FILE, SmallProject

from policy_engine.attest.approvals import ReviewPolicy, ask, review_policy
from policy_engine.attest.signers import KeySigner
from policy_engine.ledger import deciding
from policy_engine.ledger.reviews import last_of, policy_matter
from policy_engine.policy.project import load_project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.review_models import key_line
from policy_engine.releasing.asking import Sought, answered, ask_for, required_of, wanted
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.release import Released, release
from policy_engine.releasing.reviewing import (
    RequestFile,
    add_approval,
    approvals_file,
    brought_at,
    write_request,
)

PROJECT = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
accounts: {people: {}, others: {}}
"""
ROLES = {"Ada": "owner", "Ben": "privacy", "Cleo": "author", "Dora": "owner"}
NOW = timedelta()


def line_of(signer: KeySigner) -> str:
    return key_line(signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw))


@dataclass
class Reviewed:
    """The project, and everybody's keys; Mallory is nobody of the review policy."""

    small: SmallProject
    keys: dict[str, KeySigner] = field(default_factory=dict)

    @classmethod
    def at(cls, folder: Path, *, required: bool = True, **changes: Any) -> Reviewed:
        (folder / "policy-engine.yaml").write_text(PROJECT)
        made = cls(SmallProject.at(folder, PROJECT))
        made.reload()
        names = (*ROLES, "Ada's other", "Mallory")
        made.keys = {name: KeySigner(Ed25519PrivateKey.generate()) for name in names}
        if required:
            made.require(made.policy_text(**changes))
        return made

    @property
    def folder(self) -> Path:
        return self.small.folder

    def reload(self) -> None:
        file = self.folder / "policy-engine.yaml"
        if file.exists():
            self.small.project = load_project(file)

    # The review policy

    def policy_text(self, **changes: Any) -> str:
        people = {
            name: {"role": role, "keys": [line_of(self.keys[name])]} for name, role in ROLES.items()
        }
        people["Ada"]["keys"].append(line_of(self.keys["Ada's other"]))
        told = {"version": 1, "account": "people", "serial": 1, "people": people,
                "claim": {"owner": 1, "privacy": 1}, "change": {"owner": 1, "privacy": 1},
                "days": 30, "expires": "2999-12-31"}  # fmt: skip
        told |= changes
        return json.dumps({name: value for name, value in told.items() if value is not None})

    def parsed(self, text: str) -> ReviewPolicy:
        return review_policy(text, Path("people.review.yaml"))

    def require(self, text: str) -> ReviewPolicy:
        """Set a review policy, with the approvals of a change that stand."""
        policy = self.parsed(text)
        with self.small.writing() as ledger:
            deciding.require(ledger, policy, brought_at(self.change_file), who="Ada", why="a test")
        self.reload()
        return policy

    @property
    def change_file(self) -> Path:
        return self.folder / "people.change.review.json"

    def change(self, text: str, *names: str, asks: str = "Cleo") -> ReviewPolicy:
        """Ask for another review policy, let these people approve it, and set it."""
        policy = self.parsed(text)
        asked = Sought(policy_matter(policy), self.change_file, policy.document)
        self.ask_for(asked, asks)
        for name in names:
            self.approve(name, file=self.change_file)
        return self.require(text)

    # Asking and approving

    @cached_property
    def policy(self) -> Policy:
        return self.small.policy()

    @property
    def claim_file(self) -> Path:
        return self.folder / "out" / "people.certificate.claim.review.json"

    @property
    def release_file(self) -> Path:
        return self.folder / "out" / "people.certificate.release.review.json"

    @property
    def bundle(self) -> Path:
        return approvals_file(self.claim_file)

    def lines(self) -> list[str]:
        return self.bundle.read_text().splitlines()

    def ask(
        self, name: str = "Cleo", policy: Policy | None = None, *, revise: bool = False
    ) -> bool:
        policy = policy or self.policy
        with open_ledger(self.small.project) as ledger:
            asked = wanted(policy, self.small.project, ledger.read(), revise=revise)
        return self.ask_for(asked, name)

    def ask_for(self, asked: Sought, name: str) -> bool:
        with open_ledger(self.small.project) as ledger:
            required = required_of(ledger.read(), asked.matter.of["account"])
            return ask_for(asked, required, ledger.read(), self.keys[name])

    def asked_at(self, at: datetime) -> None:
        """A request of Cleo's that states another time."""
        with open_ledger(self.small.project) as ledger:
            asked = wanted(self.policy, self.small.project, ledger.read())
            policy = required_of(ledger.read(), "people").policy
            last = ledger.read().approvals.last(asked.matter, asked.account.entry)
        envelope = ask(
            asked.matter, policy.digest, self.keys["Cleo"], at, last=last_of(last),
            account=asked.account.to_json(),
        )  # fmt: skip
        write_request(asked.file, RequestFile(envelope, asked.shown, last, policy.document))

    def approve(
        self,
        name: str,
        *,
        role: str = "",
        file: Path | None = None,
        ago: timedelta = NOW,
        verdict: Any = "approved",
    ) -> None:
        role = role or ROLES.get(name, "owner")
        at = datetime.now(UTC) - ago
        request = file or self.claim_file
        _, line = answered(request, self.keys[name], at, verdict=verdict, role=role)
        add_approval(request, line)

    def approved(self, *, asks: str = "Cleo", revise: bool = False) -> Reviewed:
        """Sought for, and approved by those who are needed."""
        self.ask(asks, revise=revise)
        self.approve("Ada")
        self.approve("Ben")
        return self

    # Releasing

    def release(self, policy: Policy | None = None, **how: Any) -> Released:
        return release(policy or self.policy, self.small.project, **how)

    def edited(self, old: str = "k: 2", new: str = "k: 3", target: str = FILE) -> Policy:
        """The policy with an edit."""
        from policy_engine.policy.loading import load_policy_text

        before = _text(self.small, target)
        assert old in before
        return load_policy_text(before.replace(old, new), self.folder / "policy.yaml", self.folder)

    def revoke(self, name: str) -> None:
        with self.small.writing() as ledger:
            deciding.revoke(ledger, self.keys[name].key_id, who="Ada", why="stolen")

    def state(self) -> tuple[int, list[str], list[str]]:
        """How many charges there are, how many records, and which releases stand."""
        with open_ledger(self.small.project) as ledger:
            records = [record.kind for record in ledger.read().chain.records]
        found = sorted(path.name for path in self.folder.rglob("out*/*.parquet"))
        found += sorted(path.name for path in self.folder.rglob("*.certificate.json"))
        return records.count("reserve"), records, found


def _text(small: SmallProject, target: str) -> str:
    from small_project import _POLICY

    return _POLICY.format(
        name="people", method="keyed", unit="{column: person, rows: any}", k=2, release=target
    )
