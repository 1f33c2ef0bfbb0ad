"""ledger publish and verify --witness: a thief of the project's key, and the places they lack."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from time_authority import authority_at, make_authority

LEDGER = Path(".policy-engine/ledger.sqlite")


@pytest.fixture(params=["file", "git"])
def witness(request, tmp_path_factory):
    """A place that is not in the project's folder."""
    folder = tmp_path_factory.mktemp("witness")
    if request.param == "file":
        return f"file:{folder}/heads"
    subprocess.run(["git", "init", "-q", "--bare", folder / "r"], check=True)
    return f"git:{folder}/r"


@pytest.fixture
def thief(project):
    """Puts another ledger in its place, and whatever of this machine would tell."""

    def replace(old: Path) -> None:
        shutil.copy(old, project / LEDGER)
        LEDGER.with_name("ledger.sqlite.head").unlink()

    return replace


def test_what_was_published_is_compared_and_nothing_is_published_twice(cli, policy, witness):
    assert cli("release", policy("a")).code == 0
    done = cli("ledger", "publish", witness)
    assert (done.code, "published, head" in done.out) == (0, True)
    again = cli("ledger", "publish", witness, "--format", "json").document
    assert (again["published"], again["stamped"]) == (False, False)
    found = cli("ledger", "verify", "--witness", witness, "--format", "json").document
    [told] = found["witnesses"]
    assert (told["heads"], told["records"]) == (1, found["records"])
    assert cli("release", policy("b")).code == 0
    line = cli("ledger", "verify", "--witness", witness).out
    assert "goes through 1 head that it saw" in line
    assert "nobody outside has seen the 4 records since" in line


def test_a_cut_ledger_is_named_though_this_machine_has_forgotten(
    cli, policy, project, thief, witness, tmp_path
):
    assert cli("release", policy("a")).code == 0
    shutil.copy(project / LEDGER, tmp_path / "old")
    assert cli("release", policy("b")).code == 0
    assert cli("ledger", "publish", witness).code == 0
    thief(tmp_path / "old")
    for path in project.glob("out/b.*"):
        path.unlink()
    shutil.rmtree(project / "out" / ".released")
    assert cli("ledger", "verify").code == 0
    found = cli("ledger", "verify", "--witness", witness)
    assert (found.code, "its tail was cut off" in found.out) == (1, True)
    refused = cli("ledger", "publish", witness)
    assert (refused.code, "its tail was cut off" in refused.err) == (3, True)


def test_a_ledger_that_its_own_key_wrote_anew_is_named(cli, policy, project, witness):
    assert cli("release", policy("a")).code == 0
    assert cli("ledger", "publish", witness).code == 0
    for path in project.glob(".policy-engine/ledger.sqlite*"):
        path.unlink()
    shutil.rmtree(project / "out")
    assert cli("ledger", "begin", "--anew").code == 0
    for name in ("a", "b", "c"):
        assert cli("release", policy(name)).code == 0
    assert cli("ledger", "verify").code == 0
    found = cli("ledger", "verify", "--witness", witness, "--format", "json")
    assert found.code == 1
    assert "replaced by one that forks before it" in found.document["error"]


def test_a_witness_that_was_emptied_is_no_witness(cli, policy, witness):
    assert cli("release", policy("a")).code == 0
    found = cli("ledger", "verify", "--witness", witness)
    assert (found.code, "has no head" in found.err) == (4, True)


def test_heads_are_stamped_and_the_stamps_looked_at(cli, policy, witness, tmp_path):
    root = make_authority(tmp_path / "tsa")
    assert cli("release", policy("a")).code == 0
    with authority_at(tmp_path / "tsa") as address:
        done = cli("ledger", "publish", witness, "--tsa", address)
    assert (done.code, "with a time stamp" in done.out) == (0, True)
    bare = cli("ledger", "verify", "--witness", witness).out
    assert "1 time stamp not looked at: name --tsa-root" in bare
    found = cli("ledger", "verify", "--witness", witness, "--tsa-root", str(root))
    assert (found.code, "time stamps that hold: 1" in found.out) == (0, True)
    other = make_authority(tmp_path / "other")
    wrong = cli("ledger", "verify", "--witness", witness, "--tsa-root", str(other))
    assert (wrong.code, "does not hold" in wrong.out) == (1, True)


def test_that_no_head_was_stamped_is_said(cli, policy, witness, tmp_path):
    root = make_authority(tmp_path / "tsa")
    assert cli("release", policy("a")).code == 0
    assert cli("ledger", "publish", witness).code == 0
    found = cli("ledger", "verify", "--witness", witness, "--tsa-root", str(root)).out
    assert "none of them has a time stamp" in found


def test_the_places_of_the_project_file_need_no_argument(cli, policy, project, tmp_path_factory):
    far = tmp_path_factory.mktemp("far")
    subprocess.run(["git", "init", "-q", "--bare", project / "r"], check=True)
    assert cli("ledger", "publish").code == 2
    with Path("policy-engine.yaml").open("a") as file:
        file.write(f"witnesses: ['file:{far}/heads', 'git:r']\n")
    assert cli("release", policy("a")).code == 0
    assert cli("ledger", "verify").code == 4  # no head yet
    Path("sub").mkdir()
    told = cli("-C", "sub", "ledger", "publish", "--format", "json").document["witnesses"]
    assert [each["published"] for each in told] == [True, True]
    assert told[1]["witness"] == "git:r#policy-engine-ledger"
    found = cli("ledger", "verify", "--format", "json").document["witnesses"]
    assert [each["heads"] for each in found] == [1, 1]
    (far / "heads").write_text((far / "heads").read_text().replace('"hash": "', '"hash": "0')[:-9])
    assert cli("ledger", "verify").code == 3
    (far / "heads").write_text(
        '{"records": 1, "hash": "' + "0" * 64 + '", "at": "2026-01-01T00:00:00Z"}\n'
    )
    broken = cli("ledger", "verify")
    assert (broken.code, "record 1 is another one than it was" in broken.out) == (1, True)
