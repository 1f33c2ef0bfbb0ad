"""Two machines and one ledger, as docs/howto/ledger-postgresql.md sets them up."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture
def machines(postgres, tmp_path):
    url = postgres.empty()
    one, two = Machine(tmp_path / "one", url), Machine(tmp_path / "two", url)
    one.run("release", "policy.yaml")
    return one, two


def joined(one, two, *words, code=0):
    return json.loads(two.run("join", *words, "--format", "json", code=code).stdout)


def enter(one, two):
    """Who keeps the keyring, on the first machine, does what the second one's join printed."""
    asked = joined(one, two, code=1)
    (one.folder / "machine2.pub").write_text(asked["public_key"])
    one.run("keys", "add", "machine2.pub", "--note", "machine 2")


def bring(one, two):
    """What the first machine has published is brought to the second one."""
    (two.folder / "out").mkdir(exist_ok=True)
    for name in ("people.parquet", "people.certificate.json"):
        (two.folder / "out" / name).write_bytes((one.folder / "out" / name).read_bytes())


def test_a_second_machine_joins(machines):
    one, two = machines
    first = joined(one, two, "--keyring", one.state / "keys.json", code=1)
    assert [each.split(":")[0] for each in first["lacks"]][1:] == ["the sealing key"]
    enter(one, two)
    kept = ("--keyring", one.state / "keys.json", "--sealing", one.state / "sealing.pem")
    assert joined(one, two, *kept)["lacks"] == []
    # The same release is paid, and its bytes are those that the first machine drew.
    lost = two.run("release", "policy.yaml", code=1).stderr
    assert "Bring the release and its certificate from where it was drawn" in lost
    bring(one, two)
    again = json.loads(two.run("release", "policy.yaml", "--format", "json").stdout)
    assert again["repeated"] is True
    published = [(each.folder / "out/people.parquet").read_bytes() for each in (one, two)]
    assert published[0] == published[1]
    # Each builds on what the other has written.
    for machine in (two, one):
        machine.run("release", "policy.yaml", "--revise", "--replace")
        machine.run("ledger", "verify")
    assert len(json.loads(two.run("ledger", "show", "--format", "json").stdout)["entries"]) == 3


def test_an_obedient_machine_without_the_keyring_forgets_nothing(machines, postgres):
    one, two = machines
    records = "select count(*) from policy_engine.records"
    before = postgres.sql(records)
    for words in (("release", "policy.yaml"), ("ledger", "show"), ("ledger", "verify")):
        done = two.run(*words, code=None)
        assert "'policy-engine join'" in done.stdout + done.stderr
        assert "keys rotate" not in done.stdout + done.stderr
    assert not (two.state / "signing.pem").exists()
    # Even with a keyring of its own it leaves out nothing of the others.
    two.run("keys", "generate")
    for first in (1, 2, 3):
        said = ("--by", "Ada", "--why", "obedient")
        refused = two.run("ledger", "disown", str(first), *said, code=None)
        assert refused.returncode in {2, 3} and "'policy-engine join'" in refused.stderr
    assert postgres.sql(records) == before
    one.run("ledger", "verify")
    enter(one, two)
    kept = ("--keyring", one.state / "keys.json", "--sealing", one.state / "sealing.pem")
    assert joined(one, two, *kept)["lacks"] == []
    bring(one, two)
    two.run("release", "policy.yaml")


def test_a_stray_row_is_left_out_by_either_and_both_go_on(machines, postgres):
    one, two = machines
    enter_ring = ("--keyring", one.state / "keys.json", "--sealing", one.state / "sealing.pem")
    two.run("join", *enter_ring, code=1)
    enter(one, two)
    two.run("join", *enter_ring)
    [(count, last)] = postgres.sql(
        "select seq, hash from policy_engine.records order by seq desc limit 1"
    )
    row = f"({count + 1}, 'limit', 'people', 0, '', '{{}}', '{last}', 'x', 'x', 'x')"
    postgres.sql(f"insert into policy_engine.records values {row}")
    assert "ledger disown" in one.run("release", "policy.yaml", code=3).stderr
    two.run("ledger", "disown", str(count + 1), "--by", "Ada", "--why", "ticket 7")
    for machine in (one, two):
        assert f"row {count + 1} is left out" in machine.run("ledger", "verify").stdout
        machine.run("release", "policy.yaml", "--revise", "--replace")


def test_without_the_sealing_key_nothing_is_charged_anew(machines):
    one, two = machines
    two.run("join", "--keyring", one.state / "keys.json", code=1)
    enter(one, two)
    two.run("join", "--keyring", one.state / "keys.json", code=1)
    anew = ("release", "policy.yaml", "--revise", "--replace")
    said = two.run(*anew, code=3).stderr
    assert "sealing.pem: the sealing key is missing" in said
    assert "'policy-engine join --sealing FILE' takes a copy" in said
    assert "the source has changed" not in said
    one.run("ledger", "verify")
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "X25519", "-out", two.state / "sealing.pem"],
        check=True,
        capture_output=True,
    )
    said = two.run(*anew, code=3).stderr
    assert "this is not the sealing key that names the ledger's sources" in said
    two.run("ledger", "rekey", "--lost", "--by", "Ada", "--why", "the first machine burnt")
    assert "the source has changed" not in two.run(*anew).stderr
