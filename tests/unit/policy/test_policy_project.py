"""The project file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.errors import FileError, PolicyError, UsageError
from policy_engine.policy.project import (
    ListedWarehouse,
    Project,
    default_project,
    find_project,
    load_project,
    load_project_text,
)
from policy_engine.policy.review_models import key_line
from policy_engine.policy.timing import WindowTerms

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
            "main": ListedWarehouse("main", "duckdb", Path("/w/data/main.duckdb")),
            "memory": ListedWarehouse("memory", "duckdb", None),
        },
        default="memory",
        accounts_open=False,
        accounts={
            "census": EpsilonDelta(Decimal("1.0"), Decimal("1e-6")),
            "data/adult.parquet": None,
        },
        windows={"census": WindowTerms(), "data/adult.parquet": WindowTerms()},
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
        warehouses={"duckdb": ListedWarehouse("duckdb", "duckdb", None)},
        default="duckdb",
    )
    assert read("version: 1").warehouse == ListedWarehouse("duckdb")
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


def test_the_path_of_a_witness_is_the_projects(tmp_path):
    (tmp_path / "heads.git").mkdir()
    text = "witnesses: ['file:heads', 'git:heads.git#a', 'git:git@example.org:h.git', 'file:/h']"
    assert load_project_text(text, "policy-engine.yaml", tmp_path).witnesses == (
        f"file:{tmp_path}/heads",
        f"git:{tmp_path}/heads.git#a",
        "git:git@example.org:h.git",
        "file:/h",
    )


def test_owners_of_the_keyring_are_keys_and_how_many_must_sign():
    line = key_line(bytes(31) + b"1")
    project = read(f"signing: {{owners: [{line}]}}")
    assert (project.owners, project.owners_needed) == ((bytes(31) + b"1",), 1)
    assert default_project("/w").owners == ()


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

    monkeypatch.setattr(Path, "is_dir", closed)
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
            [
                "1:24: warehouses.w.type must be dbt, duckdb, postgres, spark, mariadb, clickhouse,"
                " datafusion or sqlite, found 'snowflake'; to snowflake nothing connects:"
                " 'policy-engine compile --dialect snowflake' writes the SQL of a policy"
            ],
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
            "signing: {threshold: 2}",
            [
                "1:22: signing.threshold must be at most the number of owners, found 2; "
                "name more under owners"
            ],
        ),
        (
            "witnesses: ['s3://heads']",
            [
                "1:13: witnesses[0] must be file:PATH, git:REPOSITORY or git:REPOSITORY#NAME, "
                "found 's3://heads'"
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
                "1:10: signing must be a mapping, found a list; its keys are key, command,"
                " public_key, keyring, owners and threshold",
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


LATE = """\
default: pg
warehouses:
  pg: {type: postgres, url: "postgresql://ann:{{ env_var('P') }}@db/work"}
  lake: {type: duckdb, database: "{{ env_var('D') }}"}
  plain: {type: duckdb}
ledger: "postgresql://ann:{{ env_var('P') }}@db/ledger"
"""


def test_what_only_opens_a_warehouse_or_the_ledger_is_missed_when_it_is_opened():
    project = read(LATE, D="lake.duckdb")
    told = "warehouses.pg.url needs the environment variable P; set it, or give a default"
    assert project.warehouse.missing.startswith(f"policy-engine.yaml:3:29: {told}")
    assert project.missing.startswith("policy-engine.yaml:6:9: ledger needs the environment var")
    others = [project.warehouses[name].missing for name in ("lake", "plain")]
    assert others == ["", ""]
    assert project.warehouses["lake"].database == Path("/w/lake.duckdb")
    assert "environment variable D" in read(LATE, P="p").warehouses["lake"].missing


def test_a_password_is_a_part_of_a_url_and_never_its_syntax():
    project = read(LATE, P="p@ss/wörd?#%:", D="d")
    assert project.warehouse.url == "postgresql://ann:p%40ss%2Fw%C3%B6rd%3F%23%25%3A@db/work"
    assert project.ledger == "postgresql://ann:p%40ss%2Fw%C3%B6rd%3F%23%25%3A@db/ledger"
    whole = "warehouses: {pg: {type: postgres, url: \"{{ env_var('U') }}\"}}"
    url = "postgresql://ann:p%40ss@db/work?sslmode=require"
    assert read(whole, U=url).warehouse.url == url


@pytest.mark.parametrize(
    ("kind", "url", "told"),
    [
        ("postgres", "psql://db/work", "must begin with postgresql:// or postgres://; as in post"),
        ("postgres", "db/work", "must begin with postgresql:// or postgres://"),
        ("postgres", "postgresql://db/work?foo=bar", "has an option behind ? that is not known"),
        (
            "postgres",
            "postgresql://ann:hun@ter@db/work",
            "cannot be read; a sign in a user or pass",
        ),
        (
            "postgres",
            "postgresql://ann:hun/ter@db/work",
            "cannot be read; a sign in a user or pass",
        ),
        (
            "postgres",
            "postgresql://ann:hun#ter@db/work",
            "cannot be read; a sign in a user or pass",
        ),
        ("postgres", "postgresql://db:port/work", "cannot be read; a sign in a user or password"),
        ("mariadb", "mariadb://db/work", "must be as in mariadb://user@host:3306/database"),
        ("mariadb", "mariadb://ann@db/work?ssl=1", "is not known; known: socket, ssl_ca"),
        ("clickhouse", "clickhouse://db", "must begin with http:// or https://; as in https://us"),
        ("clickhouse", "http://", "must be as in https://user@host:8443/database"),
        ("clickhouse", "http://db?user=a", "is not known; known: none"),
        ("spark", "thrift://db", "must be a master of Spark or sc://host; as in spark://host:70"),
    ],
)
def test_a_url_that_its_driver_cannot_take_is_told_without_it(kind, url, told):
    [problem] = problems(f"warehouses: {{w: {{type: {kind}, url: '{url}'}}}}")
    assert problem.startswith(f"1:{31 + len(kind)}: warehouses.w.url ")
    assert told in problem
    assert "hun" not in problem


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("postgres", "postgresql://ann@/work?host=/run/pg"),
        ("postgres", "postgres://ann:p%40@db:5432,other:5433/work?sslmode=require"),
        ("postgres", "host=db dbname=work"),
        ("postgres", "postgresql://{{ env_var('H') }}:{{ env_var('N') }}/work"),
        ("mariadb", "mysql://ann@db:3306/work?socket=/run/s"),
        ("clickhouse", "https://ann:p@db:8443/work"),
        ("spark", "local[2]"),
        ("spark", "sc://db"),
    ],
)
def test_a_url_that_its_driver_takes_is_taken(kind, url):
    text = f'warehouses: {{w: {{type: {kind}, url: "{url}"}}}}'
    assert read(text).warehouse.url == url


@pytest.mark.parametrize(("kind", "dialect"), [("Athena", "trino"), ("sqlserver", "tsql")])
def test_another_engine_is_pointed_to_its_dialect(kind, dialect):
    [problem] = problems(f"warehouses: {{w: {{type: {kind}}}}}")
    assert f"'policy-engine compile --dialect {dialect}' writes the SQL" in problem


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("clickhouse", "as in https://user@host:8443/database, or write database: FOLDER"),
        ("mariadb", "as in mariadb://user@host:3306/database"),
        ("spark", "as in spark://host:7077"),
    ],
)
def test_a_url_that_is_missing_is_shown_as_its_driver_takes_it(kind, told):
    [problem] = problems(f"warehouses: {{w: {{type: {kind}}}}}")
    assert problem.endswith(f"warehouses.w.url is missing; {told}")


def test_a_project_file_of_another_user_above_is_refused(tmp_path, monkeypatch):
    """It would choose the ledger, and name a command that signs, as you."""
    from policy_engine.policy import project

    file, below = tmp_path / "policy-engine.yaml", tmp_path / "a" / "b"
    below.mkdir(parents=True)
    file.write_text("accounts: {}\n")
    monkeypatch.setattr(project, "_owner", {file: 4711, below: 4712}.__getitem__)
    with pytest.raises(UsageError, match="belongs to another user"):
        find_project(below)
    monkeypatch.setattr(project, "_owner", {file: 4711, below: 4711}.__getitem__)
    assert find_project(below) == file


def test_keys_of_a_review_policy_that_are_no_list_are_refused():
    from policy_engine.policy.review_models import read_review_document

    text = "people: {ann: {role: dpo, keys: 7}}\nchange: {dpo: 1}\n"
    with pytest.raises(PolicyError, match=r"people\.ann\.keys must be a list of keys, found 7"):
        read_review_document(text, Path("r.yaml"))
