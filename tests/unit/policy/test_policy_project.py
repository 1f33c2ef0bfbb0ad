"""The project file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.errors import FileError, PolicyError
from policy_engine.policy.project import (
    Limit,
    Project,
    Warehouse,
    default_project,
    find_project,
    load_project,
    load_project_text,
)

FULL = """\
version: 1
warehouses:
  main: {type: duckdb, database: "{{ env_var('DB_DIR', 'data') }}/main.duckdb"}
  memory: {type: duckdb, database: ":memory:"}
default: memory
ledger: "{{ env_var('LEDGER') }}"
signing: {key: keys/signing.pem}
accounts:
  census: {epsilon: 1.0, delta: 1.0e-6}
  data/adult.parquet: {}
"""


def read(text: str, **environ: str) -> Project:
    return load_project_text(text, "policy-engine.yaml", "/w", environ)


def problems(text: str, **environ: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        read(text, **environ)
    return [str(found).removeprefix("policy-engine.yaml:") for found in caught.value.problems]


def test_a_full_project():
    project = read(FULL, LEDGER="/var/ledger.sqlite")
    assert project == Project(
        directory=Path("/w"),
        ledger=Path("/var/ledger.sqlite"),
        signing_key=Path("/w/keys/signing.pem"),
        public_key=Path("/w/keys/signing.pub"),
        keyring=Path("/w/keys/keys.json"),
        sealing_key=Path("/w/.policy-engine/sealing.pem"),
        warehouses={
            "main": Warehouse("main", "duckdb", Path("/w/data/main.duckdb")),
            "memory": Warehouse("memory", "duckdb", None),
        },
        default="memory",
        accounts={
            "census": Limit(Decimal("1.0"), Decimal("1e-6")),
            "data/adult.parquet": None,
        },
        file=Path("policy-engine.yaml"),
    )
    assert project.warehouse.name == "memory"
    assert str(read(FULL, LEDGER="l", DB_DIR="/x").warehouses["main"].database) == "/x/main.duckdb"


def test_the_defaults(tmp_path):
    project = default_project(tmp_path)
    assert project == Project(
        directory=tmp_path,
        ledger=tmp_path / ".policy-engine/ledger.sqlite",
        signing_key=tmp_path / ".policy-engine/signing.pem",
        public_key=tmp_path / ".policy-engine/signing.pub",
        keyring=tmp_path / ".policy-engine/keys.json",
        sealing_key=tmp_path / ".policy-engine/sealing.pem",
        warehouses={"duckdb": Warehouse("duckdb", "duckdb", None)},
        default="duckdb",
    )
    assert read("version: 1").warehouse == Warehouse("duckdb")
    assert read("warehouses: {w: {type: duckdb}}").default == "w"
    assert read("default: duckdb").default == "duckdb"


def test_a_command_signs_and_has_its_public_key():
    project = read(
        "signing: {command: [sign, \"{{ env_var('T') }}\"], public_key: k/kms.pub}", T="t"
    )
    assert project.signing_command == ("sign", "t")
    assert project.public_key == Path("/w/k/kms.pub")
    assert project.keyring == Path("/w/k/keys.json")
    assert default_project("/w").signing_command == ()


def test_a_keyring_may_lie_elsewhere():
    assert read("signing: {keyring: /pub/keys.json}").keyring == Path("/pub/keys.json")
    assert read("signing: {key: k.pem, keyring: r.json}").keyring == Path("/w/r.json")


def test_it_is_found_upwards(tmp_path, monkeypatch):
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "a" / "policy-engine.yaml").mkdir()  # a directory of that name is no project
    assert find_project(below) is None
    file = tmp_path / "policy-engine.yaml"
    file.write_text("version: 1\n")
    assert find_project(below) == file
    assert find_project(file) == file
    assert load_project(file).directory == tmp_path

    def closed(_: Path) -> bool:
        raise PermissionError

    monkeypatch.setattr(Path, "is_file", closed)
    assert find_project(below) is None


def test_the_environment_is_the_process_own(tmp_path, monkeypatch):
    file = tmp_path / "policy-engine.yaml"
    file.write_text("""ledger: '{{ env_var("PE_LEDGER") }}'\n""")
    monkeypatch.setenv("PE_LEDGER", "here.sqlite")
    assert load_project(file).ledger == tmp_path / "here.sqlite"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1:1: the project file is empty"]),
        ("[]", ["1:1: the project file is not a mapping of keys to values"]),
        ("ledgr: x", ["1:1: ledgr is an unknown key; did you mean 'ledger'?"]),
        ("version: 2", ["1:10: version must be 1, found 2"]),
        (
            "accounts: {c: {epsilon: 1}}",
            ["1:12: accounts.c.delta is missing, epsilon is given; a limit has both"],
        ),
        (
            "accounts: {c: {delta: 0.1}}",
            ["1:12: accounts.c.epsilon is missing, delta is given; a limit has both"],
        ),
        (
            "accounts: {c: {epsilon: 0, delta: 1}}",
            [
                "1:25: accounts.c.epsilon must be above 0, found 0",
                "1:35: accounts.c.delta must be above 0 and below 1, found 1",
            ],
        ),
        (
            "accounts: {c: }",
            [
                "1:12: accounts.c must be a mapping, found null; "
                "write {} for an account without a limit"
            ],
        ),
        (
            "accounts: {' ': {}}",
            [
                '1:12: accounts[" "] is no name: a name must be text that is not blank and has no '
                "line break or control character, found ' '"
            ],
        ),
        ("accounts: [c]", ["1:11: accounts must be a mapping of account: limit, found a list"]),
        (
            "warehouses: {w: {type: snowflake}}",
            ["1:24: warehouses.w.type must be duckdb, found 'snowflake'"],
        ),
        (
            "warehouses: {1w: {type: duckdb}}",
            [
                "1:14: warehouses.1w is no name: a name must start with a letter and hold at most "
                "100 letters, digits, _, - and ., found '1w'"
            ],
        ),
        (
            "warehouses: {a: {type: duckdb}, b: {type: duckdb}}",
            ["1:1: default is missing; name one of a, b"],
        ),
        (
            "warehouses: {main: {type: duckdb}}\ndefault: man",
            ["2:10: default must be one of the warehouses, found 'man'; did you mean 'main'?"],
        ),
        (
            "default: x",
            ["1:10: default must be one of the warehouses, found 'x'; allowed here: duckdb"],
        ),
        (
            "default: 5\nledger: 5",
            [
                "1:10: default must start with a letter and hold at most 100 letters, digits, _, - "
                "and ., found 5",
                "2:9: ledger must be text, found 5; put it in quotes",
            ],
        ),
        (
            "signing: {key: \"{{ env_var('KEY') }}\"}",
            [
                "1:16: signing.key needs the environment variable KEY; "
                "set it, or give a default: env_var('KEY', '…')"
            ],
        ),
        (
            "ledger: \"{{ var('X') }}\"",
            ["1:9: ledger holds {{ … }} that is not env_var('NAME')"],
        ),
        (
            "ledger: {{ env_var('X') }}",
            [
                "1:10: a key must be text, found a list or mapping; "
                "text that starts with { or [ needs quotes"
            ],
        ),
        (
            "signing: {key: a.pem, command: [x], public_key: k}",
            ["1:16: signing.key is given, and command too; keep one of the two"],
        ),
        (
            "signing: {command: [x]}",
            [
                "1:1: signing.public_key is missing, command is given; "
                "name the PEM file of the key that the command signs with"
            ],
        ),
        (
            "signing: {public_key: k}",
            [
                "1:23: signing.public_key is given without command; "
                "the public key of a key file stands beside it"
            ],
        ),
        (
            "signing: {command: x, public_key: k}",
            ["1:20: signing.command must be a list of words, found 'x'; as in [sign-with-kms]"],
        ),
        (
            "signing: {command: [x, 5], public_key: k}",
            ["1:24: signing.command[1] must be text, found 5; put it in quotes"],
        ),
        (
            "signing: [\"{{ env_var('KEY') }}\"]",
            [
                "1:10: signing must be a mapping, found a list",
                "1:11: signing[0] needs the environment variable KEY; "
                "set it, or give a default: env_var('KEY', '…')",
            ],
        ),
    ],
)
def test_a_broken_project(text, expected):
    assert problems(text) == expected


def test_a_secret_is_never_shown():
    shown = "\n".join(
        problems("ledger: \"{{ env_var('S') }}\"\ndefault: \"{{ env_var('S') }}\"", S="hunter2\n")
    )
    assert "hunter2" not in shown
    assert "found the text of an environment variable" in shown


def test_the_projects_problems_name_its_file(tmp_path):
    with pytest.raises(FileError) as caught:
        load_project(tmp_path / "none.yaml")
    assert str(caught.value) == f"{tmp_path}/none.yaml: the project file does not exist"
