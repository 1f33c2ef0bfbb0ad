"""Four eyes from two clones: one ledger in PostgreSQL, one repository, and no key that travels.

Everything goes by the command line and by git: who reviews clones the project, joins with a key of
his own, and approves what he is shown; who releases pulls that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.attest.keys import load_public_key
from policy_engine.policy.review_models import key_line

POLICY = """\
version: 1
name: people
source: {file: people.parquet}
privacy_unit: row
recode: {age: {bins: [30, 60]}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9}
release: {file: out/people.parquet}
account: people
"""
CLAIM = "out/people.certificate.claim.review.json"
SAID = ("--by", "Ada", "--why", "a test")


class Clone:
    """A clone of the project's repository, on a machine of its own."""

    def __init__(self, folder, origin):
        self.folder = folder
        self.environ = {
            **{name: told for name, told in os.environ.items() if not name.startswith("GIT_")},
            "HOME": str(folder.parent / f"home of {folder.name}"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        self.environ.pop("POLICY_ENGINE_SIGNING_KEY", None)
        self._run("git", "clone", "-q", origin, folder, cwd=folder.parent)
        for name, told in (("user.name", folder.name), ("user.email", "a@example.com")):
            self.git("config", name, told)

    def _run(self, *words, code=0, cwd=None):
        done = subprocess.run(
            [*map(str, words)], cwd=cwd or self.folder, env=self.environ, text=True,
            capture_output=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    def git(self, *words):
        return self._run("git", *words).stdout

    def run(self, *words, code=0):
        return self._run(sys.executable, "-m", "policy_engine", *words, code=code)

    def asked(self, *words, code=0):
        return json.loads(self.run(*words, "--format", "json", code=code).stdout)

    def pushed(self, why):
        self.git("add", "-A")
        self.git("commit", "-qm", why)
        self.git("push", "-q", "origin", "HEAD:main")

    def pulled(self):
        self.git("pull", "-q", "origin", "main")


@pytest.fixture
def clones(postgres, tmp_path):
    """The author's clone, in which the ledger has begun, and one that a reviewer has just made."""
    url, origin = postgres.empty(), tmp_path / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
    ada = Clone(tmp_path / "ada", origin)
    ada.git("checkout", "-qb", "main")
    limits = "accounts: {people: {epsilon: 2, delta: 1.0e-6}}\n"
    (ada.folder / "policy-engine.yaml").write_text(f'ledger: "{url}"\n{limits}')
    (ada.folder / "policy.yaml").write_text(POLICY)
    (ada.folder / ".gitignore").write_text("/people.parquet\n")
    table = pa.table({"age": [20 + i % 60 for i in range(4000)]})
    pq.write_table(table, ada.folder / "people.parquet")
    ada.run("ledger", "begin")
    ada.pushed("A project")
    return ada, Clone(tmp_path / "ben", origin)


def public_line(clone):
    """A machine's public key as a review policy has it."""
    key = load_public_key(clone.folder / ".policy-engine/signing.pub")
    return key_line(key.public_bytes_raw())


def approved(ada, ben):
    """Ada asks for approvals of a claim, and Ben gives one, each in the clone of their own."""
    # Ben's machine makes a key of its own, and says what it lacks; Ada enters it, and commits that.
    lacks = ben.asked("join", code=1)
    assert lacks["made"] == ".policy-engine/signing.pem" and not lacks["entered"]
    (ada.folder / "ben.pub").write_text(lacks["public_key"])
    ada.run("keys", "add", "ben.pub", "--note", "Ben's machine")
    # From now on the account needs the other's eyes.
    people = {
        "Ada": {"role": "owner", "keys": [public_line(ada)]},
        "Ben": {"role": "privacy", "keys": [public_line(ben)]},
    }
    review = {"version": 1, "account": "people", "serial": 1, "people": people, "days": 30,
              "claim": {"privacy": 1}, "change": {"privacy": 1},
              "expires": "2999-12-31"}  # fmt: skip
    (ada.folder / "people.review.yaml").write_text(json.dumps(review))
    ada.run("review", "require", "people.review.yaml", "--alone", *SAID)
    refused = ada.run("release", "policy.yaml", code=1)
    assert "nobody has asked for approvals" in refused.stderr
    ada.run("review", "request", "policy.yaml")
    ada.pushed("Ask for approvals")
    # Ben looks at it in his clone, which has neither source nor sealing key, and approves.
    ben.pulled()
    assert ben.asked("join")["joined"]
    shown = ben.run("review", "show", CLAIM).stdout
    assert "people.parquet" in shown and not (ben.folder / "people.parquet").exists()
    waits = ben.asked("review", "status", CLAIM, code=1)
    assert waits["missing"] == ["1 more of role privacy"]
    ben.run("review", "approve", CLAIM, "--yes", "--role", "privacy")
    assert ben.asked("review", "status", CLAIM)["counted"] == [{"by": "Ben", "role": "privacy"}]


def test_who_reviews_in_a_clone_needs_no_key_of_anybody(clones, postgres):
    ada, ben = clones
    approved(ada, ben)
    assert not (ben.folder / ".policy-engine/sealing.pem").exists()
    assert postgres.sql("select count(*) from policy_engine.records where kind = 'reserve'") == [
        (0,)
    ]


@pytest.mark.evidence
def test_a_release_is_approved_from_a_second_clone(clones, postgres):
    ada, ben = clones
    approved(ada, ben)
    # Ada's own approval is worth nothing, and nothing is charged before Ben's is here.
    ada.run("release", "policy.yaml", code=1)
    assert postgres.sql("select count(*) from policy_engine.records where kind = 'reserve'") == [
        (0,)
    ]
    ben.pushed("Approved")
    ada.pulled()
    ada.run("release", "policy.yaml")
    ada.pushed("A release")
    ben.pulled()
    for clone in (ada, ben):
        clone.run("verify", "out/people.certificate.json", "--release", "out/people.parquet")
        assert "had them (1)" in clone.run("ledger", "verify").stdout
        [entry] = clone.asked("ledger", "show")["entries"]
        assert entry["state"] == "committed"
        assert [each["by"] for each in entry["approvals"][0]["people"]] == ["Ben"]
    # No private key was copied, and none is in the repository.
    tracked = ada.git("ls-files").split()
    assert ".policy-engine/keys.json" in tracked
    assert not [name for name in tracked if name.endswith((".pem", ".sqlite", ".head"))]
    private = [each.folder / ".policy-engine/signing.pem" for each in clones]
    assert private[0].read_bytes() != private[1].read_bytes()
    assert not (ben.folder / ".policy-engine/sealing.pem").exists()
