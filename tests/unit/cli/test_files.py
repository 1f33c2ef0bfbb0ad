"""Files of commands: a pipe or a folder is refused at once, in every argument of every command; and
what an output names of the project it names from its folder on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.keys import generate_key
from policy_engine.cli.main import run
from policy_engine.policy.review_models import key_line

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))
import reference

POLICY = """\
version: 1
name: {name}
source: {{file: people.parquet}}
privacy_unit: row
recode:
  age: {{bins: [30, 60]}}
  sex: keep
sample: {{rate: 0.1}}
k: {k}
guarantee: {{epsilon: {epsilon}, delta: {delta}}}
release: {{file: out/{name}.parquet}}
account: people
"""

PIPE, FOLDER = "a.pipe", "a.folder"
BY = ("--by", "Ada", "--why", "a test")
REPORT = ("report", "out/a.certificate.json", "--output", "page.html")
CLAIM = "out/b.certificate.claim.review.json"
APPROVE = ("review", "approve", "--yes", "--role", "owner")
REJECT = ("review", "reject", "--note", "no", "--role", "owner")
DISOWN = ("ledger", "disown", "2", *BY)
#: How each file argument is given alone, by what it belongs to; ``?`` is the pipe or the folder.
READ = {
    "validate policies": ("validate", "?"),
    "compile policy": ("compile", "?"),
    "compile --schema": ("compile", "a.yaml", "--schema", "?"),
    "plan policy": ("plan", "?"),
    "release policies": ("release", "?"),
    "restore policy": ("restore", "?"),
    "suggest policy": ("suggest", "?", "--epsilon", "0.1"),
    "show release": ("show", "?"),
    "estimate release": ("estimate", "?"),
    "assess subject": ("assess", "?", "--sensitive", "sex"),
    "assess --population": ("assess", "people.parquet", "--population", "?"),
    "attack release": ("attack", "?", "--sensitive", "sex"),
    "attack --with": (
        "attack",
        "people.parquet",
        "--published",
        "--sensitive",
        "sex",
        "--with",
        "?",
    ),
    "attack --knowing": (
        "attack",
        "people.parquet",
        "--published",
        "--sensitive",
        "sex",
        "--knowing",
        "?",
    ),
    "attack --hierarchy": (
        "attack",
        "people.parquet",
        "--published",
        "--sensitive",
        "sex",
        "--hierarchy",
        "?",
    ),
    "attack --policy": ("attack", "--policy", "?"),
    "certify-sql file": ("certify-sql", "?"),
    "certify-sql --schema": ("certify-sql", "a.sql", "--schema", "?"),
    "certify-sql --policy": ("certify-sql", "a.sql", "--policy", "?"),
    "verify certificate": ("verify", "?"),
    "verify --release": ("verify", "out/a.certificate.json", "--release", "?"),
    "verify --key": ("verify", "out/a.certificate.json", "--key", "?"),
    "verify --keyring": ("verify", "out/a.certificate.json", "--keyring", "?"),
    "verify --review-policy": ("verify", "out/a.certificate.json", "--review-policy", "?"),
    "report certificate": ("report", "?", "--output", "page.html"),
    "report --release": (*REPORT, "--release", "?"),
    "report --policy": (*REPORT, "--policy", "?"),
    "report --previous": (*REPORT, "--previous", "?"),
    "report --key": (*REPORT, "--key", "?"),
    "report --keyring": (*REPORT, "--keyring", "?"),
    "report --review-policy": (*REPORT, "--review-policy", "?"),
    "diff old": ("diff", "?", "a.yaml"),
    "diff new": ("diff", "a.yaml", "?"),
    "audit policy": ("audit", "?"),
    "join --sealing": ("join", "--sealing", "?"),
    "join --keyring": ("join", "--keyring", "?"),
    "ledger verify --tsa-root": (
        "ledger",
        "verify",
        "--witness",
        "file:heads.jsonl",
        "--tsa-root",
        "?",
    ),
    "ledger rekey old": ("ledger", "rekey", "?", *BY),
    "ledger disown --owner": (*DISOWN, "--owner", "?"),
    "keys add public_key": ("keys", "add", "?"),
    "keys sign --key": ("keys", "sign", "--key", "?"),
    "keys sign --owner": ("keys", "sign", "--key", ".policy-engine/signing.pem", "--owner", "?"),
    "keys update keyring": ("keys", "update", "?", ".policy-engine/keys.json"),
    "keys update newer": ("keys", "update", ".policy-engine/keys.json", "?"),
    "review require file": ("review", "require", "?", *BY),
    "review require --policy": (
        "review",
        "require",
        "p.review.yaml",
        "--alone",
        "--policy",
        "?",
        *BY,
    ),
    "review request policy": ("review", "request", "?"),
    "review request --review-policy": ("review", "request", "--review-policy", "?"),
    "review request --key": ("review", "request", "b.yaml", "--key", "?"),
    "review show request": ("review", "show", "?"),
    "review approve request": (*APPROVE, "?"),
    "review approve --key": (*APPROVE, CLAIM, "--key", "?"),
    "review reject request": (*REJECT, "?"),
    "review reject --key": (*REJECT, CLAIM, "--key", "?"),
    "review status request": ("review", "status", "?"),
    "search policy": ("search", "?", "--public"),
    "hierarchy subject": ("hierarchy", "?"),
    "try policy": ("try", "?", "--row", "age=1"),
}
#: Read only where a stranger has written into the ledger: see test_disowned.py.
ELSEWHERE = {"ledger disown --key"}
#: What is written, a folder, or dbt's, which has a test of its own below.
OTHERS = {"--output", "--project-dir", "--profiles-dir", "-C"}


def file_arguments() -> set[str]:
    """Every argument of a command that is a path."""
    return {
        f"{' '.join(words)} {param.opts[0]}"
        for words, command in reference.commands()
        for param in command.params
        if "Path" in repr(getattr(param, "type_descriptor", None)) and param.opts[0] not in OTHERS
    }


def test_no_file_argument_is_forgotten():
    assert {each for each in file_arguments() if not each.startswith("dbt ")} == {*READ, *ELSEWHERE}


PROJECT = """\
accounts: {people: {epsilon: 1.0, delta: 1.0e-6}, others: {epsilon: 1.0, delta: 1.0e-6}}
witnesses: ["file:heads.jsonl"]
"""
LEVELS = "".join(f"{age};{'young' if age < 40 else 'old'};*\n" for age in range(20, 80))


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A project with a release of one account, and a request of another that asks for approvals."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ages = [20 + i % 60 for i in range(8000)]
        sexes = ["female" if i % 7 < 4 else "male" for i in range(8000)]
        pq.write_table(pa.table({"age": ages, "sex": sexes}), "people.parquet")
        Path("policy-engine.yaml").write_text(PROJECT)
        Path("levels.csv").write_text(LEVELS)
        Path("a.sql").write_text("SELECT 1")
        told = {"k": "20", "epsilon": "0.5", "delta": "1.0e-9"}
        Path("a.yaml").write_text(POLICY.format(name="a", **told))
        leveled = POLICY.format(name="b", **told).replace("account: people", "account: others")
        leveled = leveled.replace("{bins: [30, 60]}", "{hierarchy: levels.csv, level: 1}")
        Path("b.yaml").write_text(leveled)
        assert run(["release", "a.yaml"]) == 0
        people = {}
        for name, role in (("ada", "owner"), ("ben", "privacy")):
            key = Ed25519PrivateKey.generate()
            generate_key(folder / f"{name}.pem", key)
            people[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
        both = {"owner": 1, "privacy": 1}
        document = {"version": 1, "account": "others", "serial": 1, "people": people,
                    "claim": both, "change": both, "days": 30, "expires": "2999-12-31"}  # fmt: skip
        Path("p.review.yaml").write_text(json.dumps(document))
        assert run(["review", "require", "p.review.yaml", "--alone", *BY]) == 0
        assert run(["review", "request", "b.yaml", "--key", "ben.pem"]) == 0
        assert run(["ledger", "publish"]) == 0
    return folder


@pytest.fixture
def begun(template, tmp_path, monkeypatch, cli):
    """A copy of it, with a pipe and a folder in it; the command line there."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    os.mkfifo(PIPE)
    Path(FOLDER).mkdir()
    return cli


@pytest.fixture
def in_time():
    """What waits for a writer is interrupted after some seconds, and fails."""

    def late(*_):
        raise AssertionError("it waits for the pipe")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("named", [PIPE, FOLDER])
@pytest.mark.parametrize("name", sorted(READ))
def test_a_pipe_or_a_folder_is_no_file(begun, in_time, name, named):
    if name == "join --sealing":
        Path(".policy-engine/sealing.pem").unlink()
    done = begun(*(named if word == "?" else word for word in READ[name]))
    told = done.err + done.out
    assert (done.code, named in told) == (3, True), told
    assert ("it is a pipe or a device, not a file" in told) == (named == PIPE), told
    assert ("s a directory" in told) == (named == FOLDER), told


#: What a command finds by itself, the command that reads it, and its exit code.
FOUND = {
    "people.parquet": (3, "release", "a.yaml", "--revise", "--replace"),
    "levels.csv": (1, "validate", "b.yaml"),
    "policy-engine.yaml": (3, "ledger", "show"),
    "heads.jsonl": (3, "ledger", "verify"),
    "out/a.parquet": (3, "verify", "out/a.certificate.json", "--release", "out/a.parquet"),
    "out/b.certificate.approvals.intoto.jsonl": (3, "review", "status", CLAIM),
    "out/b.certificate.claim.review.json": (3, "release", "b.yaml"),
    ".policy-engine/keys.json": (3, "verify", "out/a.certificate.json"),
    ".policy-engine/signing.pem": (3, "review", "request", "b.yaml"),
    ".policy-engine/sealing.pem": (3, "release", "a.yaml", "--revise", "--replace"),
    ".policy-engine/ledger.sqlite": (3, "ledger", "show"),
    ".policy-engine/ledger.sqlite.head": (3, "ledger", "show"),
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(begun, in_time, name):
    Path(name).unlink(missing_ok=True)
    os.mkfifo(name)
    code, *words = FOUND[name]
    done = begun(*words)
    told = done.err + done.out
    assert (done.code, name in told) == (code, True), told
    assert "it is a pipe or a device, not a file" in told


def test_a_pipe_that_is_no_certificate_is_none(begun, in_time):
    Path("out/a.certificate.json").unlink()
    os.mkfifo("out/a.certificate.json")
    done = begun("show", "out/a.parquet")
    assert (done.code, "which is not at out/a.certificate.json" in done.out) == (0, True), done.out


# What an output names

#: Commands of one project, in this order.
SAID = (
    ("validate", "a.yaml", "b.yaml"),
    ("compile", "a.yaml"),
    ("plan", "a.yaml"),
    ("release", "a.yaml"),
    ("release", "a.yaml", "--revise"),
    ("release", "a.yaml", "--revise", "--replace"),
    ("release", "b.yaml"),
    ("restore", "a.yaml"),
    ("show", "out/a.parquet"),
    ("show", "out/none.parquet"),
    ("estimate", "out/a.parquet"),
    ("assess", "a.yaml", "--sensitive", "sex"),
    ("attack", "out/a.parquet", "--sensitive", "sex"),
    ("verify", "out/a.certificate.json"),
    ("verify", "out/a.certificate.json", "--release", "people.parquet"),
    ("report", "out/a.certificate.json", "--output", "page.html"),
    ("diff", "a.yaml", "b.yaml"),
    ("ledger", "begin"),
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "publish"),
    ("ledger", "reconcile"),
    ("ledger", "reconcile", "--from-certificates"),
    ("ledger", "limit", "people", "--epsilon", "2", "--delta", "1e-6", *BY),
    ("ledger", "settle", "2", *BY),
    (*DISOWN,),
    ("ledger", "export"),
    ("ledger", "export", "--output", "statement.json"),
    ("keys", "list"),
    ("keys", "add", "ada.pub", "--note", "Ada"),
    ("keys", "add", "ada.pub"),
    ("keys", "generate"),
    ("keys", "update", ".policy-engine/keys.json", ".policy-engine/keys.json"),
    ("join",),
    ("join", "--sealing", "ada.pem"),
    ("review", "show", CLAIM),
    ("review", "status", CLAIM),
    (*APPROVE, CLAIM, "--key", "ada.pem"),
    (*APPROVE, CLAIM, "--key", "ada.pub"),
    ("review", "require", "p.review.yaml", *BY),
    ("review", "request", "b.yaml"),
    ("review", "request", "--limit", "others", "--epsilon", "2", "--delta", "1e-6"),
    ("ledger", "rekey", "--lost", *BY),
    ("keys", "rotate"),
    ("keys", "revoke", "0" * 64, "--why", "a test"),
    ("init", "people.parquet", "--output", "new/policy.yaml"),
    ("init", "people.parquet"),
)


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_output_names_files_from_the_projects_folder_on(begun, form):
    folder = str(Path.cwd())
    for words in SAID:
        wants = () if words[0] == "report" and form == "text" else ("--format", form)
        done = begun(*words, *wants)
        assert done.code in {0, 1, 2, 3, 4}, (words, done.out, done.err)
        assert "no such option" not in done.err, (words, done.err)
        assert folder not in done.out + done.err, (words, done.out, done.err)
    # Somewhere in the project is in it.
    os.chdir("out")
    shutil.rmtree("../.policy-engine/keys.json", ignore_errors=True)
    for words in (("ledger", "show"), ("keys", "list"), ("join",), ("show", "a.parquet")):
        done = begun(*words, "--format", form)
        assert folder not in done.out + done.err, (words, done.out, done.err)


def test_what_lies_elsewhere_is_named_as_it_is(begun, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "none.yaml"
    assert str(elsewhere) in begun("validate", elsewhere).out
    os.chdir(elsewhere.parent)
    told = begun("ledger", "show")
    assert (
        told.code == 2 and f"no policy-engine.yaml here or above ({elsewhere.parent})" in told.err
    )


def test_a_text_that_somebody_runs_is_printed_as_it_is(begun):
    whole = Path("people.parquet").resolve()
    Path("c.yaml").write_text(Path("a.yaml").read_text().replace("people.parquet", str(whole)))
    for form in ("text", "json"):
        assert f"'{whole}'" in begun("compile", "c.yaml", "--format", form).out
