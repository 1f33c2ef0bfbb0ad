"""Two machines and one ledger, as docs/howto/ledger-postgresql.md sets them up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

POLICY = """\
version: 1
name: people
source: {path: people.parquet, unit: row}
recode: {age: {bins: [30, 60]}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9}
release: {path: out/people.parquet}
budget: people
"""
STATE = ".policy-engine"


class Machine:
    """A folder of its own, with the project, its policy and its source."""

    def __init__(self, folder, url):
        folder.mkdir()
        self.folder, self.state = folder, folder / STATE
        limits = "accounts: {people: {epsilon: 2, delta: 1.0e-6}}\n"
        (folder / "policy-engine.yaml").write_text(f'ledger: "{url}"\n{limits}')
        (folder / "policy.yaml").write_text(POLICY)
        pq.write_table(
            pa.table({"age": [20 + i % 60 for i in range(4000)]}), folder / "people.parquet"
        )

    def run(self, *words, code=0):
        environ = {k: v for k, v in os.environ.items() if k != "POLICY_ENGINE_SIGNING_KEY"}
        done = subprocess.run(
            [sys.executable, "-m", "policy_engine", *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env=environ,
        )
        assert done.returncode == code, done.stderr
        return done

    def take(self, other, *names):
        self.state.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(other.state / name, self.state / name)


@pytest.fixture
def machines(postgres, tmp_path):
    url = postgres.empty()
    one, two = Machine(tmp_path / "one", url), Machine(tmp_path / "two", url)
    one.run("release", "policy.yaml")
    return one, two


def test_a_second_machine_is_set_up(machines):
    one, two = machines
    two.take(one, "keys.json", "sealing.pem")
    two.run("keys", "generate", "--note", "machine 2")
    shutil.copy(two.state / "signing.pub", one.folder / "machine2.pub")
    one.run("keys", "add", "machine2.pub", "--note", "machine 2")
    # The same release is paid, and has the same bytes.
    again = json.loads(two.run("release", "policy.yaml", "--format", "json").stdout)
    assert again["repeated"] is True
    published = [(each.folder / "out/people.parquet").read_bytes() for each in (one, two)]
    assert published[0] == published[1]
    # Each builds on what the other has written.
    for machine in (two, one):
        machine.run("release", "policy.yaml", "--fresh", "--replace")
        machine.run("ledger", "verify")
    assert len(json.loads(two.run("ledger", "show", "--format", "json").stdout)["entries"]) == 3


def test_a_machine_with_a_keyring_of_its_own_is_told_before_it_writes(machines):
    one, two = machines
    for words in (("release", "policy.yaml"), ("ledger", "show")):
        said = two.run(*words, code=3).stderr
        assert "a stranger's; on a new machine or in a new clone run 'policy-engine join'" in said
    one.run("ledger", "verify")
    # keys add mends it at once, on either side.
    shutil.copy(one.state / "signing.pub", two.folder / "machine1.pub")
    two.run("keys", "add", "machine1.pub")
    two.run("ledger", "verify")


def test_without_the_sealing_key_nothing_is_charged_anew(machines):
    one, two = machines
    two.take(one, "keys.json")
    two.run("keys", "generate")
    said = two.run("release", "policy.yaml", code=3).stderr
    assert "sealing.pem: the sealing key is missing" in said
    assert "copy it from the machine that released" in said
    assert "the source has changed" not in said
    one.run("ledger", "verify")
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "X25519", "-out", two.state / "sealing.pem"],
        check=True,
        capture_output=True,
    )
    said = two.run("release", "policy.yaml", code=3).stderr
    assert "this is not the sealing key that names the ledger's sources" in said
    two.run("ledger", "rekey", "--lost", "--by", "Ada", "--why", "the first machine burnt")
    told = two.run("release", "policy.yaml").stderr
    assert "its secret is sealed for another key than this project's (sealing.pem)" in told
    assert "the source has changed" not in told
