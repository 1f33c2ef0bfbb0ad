"""What is paid for is finished at no cost, and what stands in the way is told with its price."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from policy_engine.attest.keys import generate_key
from policy_engine.releasing import job

FILE, CERTIFICATE = Path("out/a.parquet"), Path("out/a.certificate.json")


def charges(cli) -> int:
    return len(cli("ledger", "show", "--format", "json").document["entries"])


def both() -> tuple[bytes, bytes]:
    return FILE.read_bytes(), CERTIFICATE.read_bytes()


@pytest.fixture
def released(cli, policy):
    """A release, its policy file, and its bytes."""
    file = policy()
    assert cli("release", file).code == 0
    return file, both()


def test_a_certificate_that_is_gone_is_made_again(cli, released):
    file, before = released
    CERTIFICATE.unlink()
    again = cli("release", file)
    assert (again.code, again.err) == (0, "")
    assert (both(), charges(cli)) == (before, 1)


def test_a_release_that_is_gone_is_made_again_beside_its_certificate(cli, released):
    file, before = released
    FILE.unlink()
    again = cli("release", file)
    assert (again.code, again.err) == (0, "")
    assert (both(), charges(cli)) == (before, 1)


def damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def emptied(path: Path) -> None:
    path.write_text("{}")


@pytest.mark.parametrize(
    ("how", "path", "named"), [(damaged, FILE, FILE), (emptied, CERTIFICATE, CERTIFICATE)]
)
def test_what_was_damaged_is_put_right_at_no_cost_once_asked(cli, released, how, path, named):
    file, before = released
    how(path)
    refused = cli("release", file)
    assert refused.code == 3
    assert refused.err == (
        f"error: {named} exists; entry 2 has paid for this release: --replace puts it there at no"
        " cost\n"
    )
    again = cli("release", file, "--replace")
    assert (again.code, again.err) == (0, "")
    assert (both(), charges(cli)) == (before, 1)


def test_an_earlier_policy_is_said_to_be_paid(cli, policy, released):
    _, before = released
    assert cli("release", policy("a", k="21"), "--replace").code == 0
    refused = cli("release", policy("a"))
    assert "entry 2 has paid for this release: --replace puts it there at no cost" in refused.err
    assert cli("release", policy("a"), "--replace").code == 0
    assert (both(), charges(cli)) == (before, 2)


def test_a_release_is_made_again_after_a_rotation(cli, released):
    """The release keeps its time, which is from before its new key."""
    file, (rows, certificate) = released
    assert cli("keys", "rotate").code == 0
    FILE.unlink()
    CERTIFICATE.unlink()
    copy = next(Path("out/.released").glob("*.certificate.json"))
    copy.unlink()  # else it is put back as it was
    again = cli("release", file)
    assert (again.code, again.err) == (0, "")
    assert (FILE.read_bytes(), charges(cli)) == (rows, 1)
    assert CERTIFICATE.read_bytes() != certificate
    assert cli("verify", CERTIFICATE, "--release", FILE).code == 0


# A key that nobody knows.


def test_a_key_that_is_not_in_the_keyring_charges_nothing(cli, policy, project, monkeypatch):
    cli("release", policy("a"))
    before = sorted(path.name for path in (project / ".policy-engine").iterdir())
    generate_key(Path("bob.pem"))
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", Path("bob.pem").read_text())
    words = ("--epsilon", "2", "--delta", "1e-6", "--by", "Bob", "--why", "x")
    for command in (
        ("release", policy("b")),
        ("release", policy("a"), "--revise", "--replace"),
        ("ledger", "limit", "people", *words),
        ("ledger", "reconcile"),
    ):
        refused = cli(*command)
        assert refused.code == 3
        assert "is not in the keyring: others would take its records for a" in refused.err
        assert "enter it with 'policy-engine keys add PUBLIC_KEY'" in refused.err
    assert not Path("out/b.parquet").exists()
    assert sorted(path.name for path in (project / ".policy-engine").iterdir()) == before
    assert cli("keys", "add", "bob.pub").code == 0
    assert cli("release", policy("b")).code == 0
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY")
    assert cli("release", policy("c")).code == 0
    assert cli("ledger", "verify").code == 0


# A run that is stopped after its charge.


@pytest.mark.parametrize("revise", [False, True])
def test_an_interrupted_run_names_its_entry_and_how_to_go_on(cli, policy, monkeypatch, revise):
    file = policy()
    words = ("--revise", "--replace") if revise else ()
    if revise:
        cli("release", file)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(job, "write_parquet", stop)
        stopped = cli("release", file, *words)
    assert stopped.code == 130
    number = cli("ledger", "show", "--format", "json").document["entries"][-1]["entry"]
    how = "the same command without --revise" if revise else "the same command again"
    assert stopped.err.splitlines()[-1] == (
        f"error: interrupted; nothing half written stands; entry {number} is paid: {how} draws it,"
        " under a fresh secret, at no cost"
    )
    before = charges(cli)
    if revise:
        refused = cli("release", file)
        assert f"entry {number} has paid for this release: --replace" in refused.err
    assert cli("release", file, *(["--replace"] if revise else [])).code == 0
    assert charges(cli) == before


def test_a_native_run_that_failed_is_drawn_once_more(cli, policy, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(job, "write_parquet", full)
    failed = cli("release", policy("a", ("rate: 0.1", "rate: 0.1, method: native")))
    assert failed.code == 3
    assert failed.err.endswith(
        "the disk is full; nothing was published; entry 2 is paid: the same command again draws it,"
        " under a fresh secret, at no cost\n"
    )


def test_a_command_that_charges_nothing_speaks_of_no_charge(cli, policy, monkeypatch):
    from policy_engine.ledger.store import Ledger

    cli("release", policy())

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "verify", stop)
    assert cli("ledger", "verify").err == "error: interrupted; nothing half written stands\n"


def test_a_charge_that_is_interrupted_may_stand(cli, policy, monkeypatch):
    from policy_engine.ledger.store import Ledger

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "reserve", stop)
    assert cli("release", policy()).err.endswith(
        "nothing half written stands; 'policy-engine ledger show' says whether it was charged\n"
    )


def test_an_interrupt_right_after_the_charge_names_its_entry(cli, policy, monkeypatch):
    from policy_engine.ledger.store import Ledger

    charge = Ledger.reserve

    def stop(*given, **named):
        charge(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "reserve", stop)
        told = cli("release", policy()).err
    assert "entry 2 is paid: the same command again draws it" in told
    assert cli("release", "a.yaml").code == 0
    assert charges(cli) == 1


# Another account, no account, no group.


def test_another_account_is_told_before_it_is_charged(cli, policy, released, project):
    with (project / "policy-engine.yaml").open("a") as file:
        file.write("accounts_open: true\n")
    rows = pq.read_table("people.parquet")
    pq.write_table(rows.slice(1), "others.parquet")
    changes = (("account: people\n", ""), ("people.parquet", "others.parquet"))
    other = policy("a", *changes, k="21")
    told = (
        "a was charged to account 'people' until now (entry 2); this release is charged to account"
        " 'others.parquet', which has no limit\n"
    )
    within = cli("plan", policy("a", k="22")).err  # of one account the price alone is told
    assert "at the price of" in within and "was charged to account" not in within
    policy("a", *changes, k="21")
    assert cli("plan", other).err.endswith(told)
    done = cli("release", other, "--replace")
    assert done.code == 0
    assert told in done.err


def test_an_empty_release_is_told(cli, policy):
    done = cli("release", policy("a", k="3000"))
    assert done.code == 0
    assert "\nwarning: a: it shows nobody: either no rows are there that" in done.err
    assert "(0 groups, 0 people of the sample)" in done.out


# A ledger that is gone.


def test_a_ledger_that_is_gone_is_no_fresh_budget(cli, policy, project, released):
    file, _ = released
    (project / ".policy-engine/ledger.sqlite").unlink()
    for words in (("release", file), ("plan", file), ("ledger", "show"), ("ledger", "verify")):
        result = cli(*words)
        assert result.code == 3
        assert "the ledger is not here: this machine has seen 5 records of it" in result.err
    (project / ".policy-engine/ledger.sqlite.head").unlink()
    result = cli("release", file, "--replace")
    assert result.code == 3
    assert "not here: policy-engine.yaml names the one that keeps" in result.err
    assert cli("ledger", "show").code == 3


def test_a_lost_sealing_key_is_said_and_not_made_anew(cli, policy, project, released):
    file, _ = released
    for half in ("pem", "pub"):
        (project / f".policy-engine/sealing.{half}").unlink()
    assert cli("release", file).code == 0  # it stands, and asks for no secret
    refused = cli("release", file, "--revise", "--replace")
    assert refused.code == 3
    assert "sealing.pem: the sealing key is missing" in refused.err
    assert charges(cli) == 1


@pytest.mark.parametrize("halves", [("pem",), ("pem", "pub")])
def test_a_lost_private_key_is_told_and_another_one_joined(cli, released, project, policy, halves):
    file = policy("b")
    [lost] = cli("keys", "list", "--format", "json").document["keys"]
    for half in halves:
        (project / f".policy-engine/signing.{half}").unlink()
    for words in (
        ("release", file),
        ("ledger", "export"),
        ("keys", "rotate"),
        ("keys", "generate"),
    ):
        refused = cli(*words)
        assert refused.code in {2, 3} and "run 'policy-engine join'" in refused.err
        assert "keys rotate" not in refused.err
    listed = cli("keys", "list").out
    assert "signing.pem: the private key is missing, and " in listed
    assert "  signs  " not in listed
    joined = cli("join")
    assert joined.code == 1 and "runs 'policy-engine keys add FILE" in joined.out
    assert cli("keys", "add", ".policy-engine/signing.pub").code == 0
    assert cli("keys", "retire", lost["key_id"]).code == 0
    assert cli("join").code == 0
    assert cli("release", file).code == 0
    assert charges(cli) == 2


# Certificates of tables.


@pytest.fixture
def tables(project, policy):
    """Writes a policy of a name that releases into a table."""
    with duckdb.connect(str(project / "w.duckdb")) as connection:
        connection.execute("create table people as from 'people.parquet'")
    (project / "policy-engine.yaml").write_text(
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
        "accounts: {people: {epsilon: 3, delta: 1.0e-6}}\n"
    )

    def write(file: str, table: str, **numbers: str) -> Path:
        source = ("file: people.parquet", "table: people")
        name = (f"name: {file}", "name: staff")
        target = (f"file: out/{file}.parquet", f"table: {table}")
        return policy(file, source, name, target, **numbers)

    return write


def run(sql: str) -> list:
    with duckdb.connect("w.duckdb") as connection:
        return connection.execute(sql).fetchall()


def test_two_tables_of_one_name_have_one_certificate(cli, tables):
    one, two = tables("a", "one"), tables("b", "two")
    checked = cli("validate", one, two)
    assert checked.code == 1
    assert checked.out.startswith(
        "b.yaml:2:1: name must differ from that of a.yaml, found staff: one"
    )
    assert "both write staff.certificate.json; name one of the policies otherwise" in checked.out
    assert cli("release", one).code == 0
    before = Path("staff.certificate.json").read_bytes()
    assert "staff.certificate.json exists; use --replace" in cli("release", two).err
    refused = cli("release", two, "--replace")
    assert refused.code == 3
    assert refused.err.endswith(
        "staff.certificate.json is the certificate of w.main.one, and w.main.two would write its"
        " own over it; give the policy another name, or move that certificate away\n"
    )
    assert Path("staff.certificate.json").read_bytes() == before
    assert charges(cli) == 1
    assert cli("release", tables("a", "one", k="21"), "--replace").code == 0


def test_a_tables_certificate_that_is_gone_or_damaged_is_put_back(cli, tables):
    file = tables("a", "one")
    cli("release", file)
    path = Path("staff.certificate.json")
    before = path.read_bytes()
    path.unlink()
    assert cli("release", file).code == 0
    assert path.read_bytes() == before
    path.write_text("{}")
    refused = cli("release", file)
    assert "json exists; entry 2 has paid for this release: --replace puts it" in refused.err
    assert cli("release", file, "--replace").code == 0
    assert (path.read_bytes(), charges(cli)) == (before, 1)
    run("drop table one")
    assert cli("release", file).code == 0
    assert (path.read_bytes(), charges(cli)) == (before, 1)


def test_an_earlier_release_to_a_table_is_put_back_at_no_cost(cli, tables):
    cli("release", tables("a", "one"))
    assert cli("release", tables("a", "one", k="21"), "--replace").code == 0
    earlier = tables("a", "one")
    assert cli("release", earlier, "--replace").code == 0
    assert charges(cli) == 2
