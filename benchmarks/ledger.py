"""What the ledger costs: a small release end to end, and an account with many entries.

    python benchmarks/ledger.py [--repeats 15] [--entries 10000]

A release of 3,000 people is timed whole, warm, with everything but the query around it: certifying,
the source's state, pricing, four durable records, sealing, signing, publishing; and the query alone
in the same run. Then an account is filled with entries of one kind of release and of a hundred, and
the price of one more is timed: read the account, check, decide.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path

import duckdb
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.events import SampledSuppression
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.account import Account, Limit, admit
from policy_engine.ledger.chain import Trust
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import Project, load_project_text
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.planning import open_warehouse, prepare
from policy_engine.releasing.release import release
from policy_engine.warehouse.drawing import new_secret

POLICY = """
version: 1
name: small
source: {file: people.parquet}
privacy_unit: row
recode: {age: {bins: [18, 30, 45, 60, 75]}, region: {prefix: 2}}
sample: {rate: 0.1, method: keyed}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9}
release: {file: out.parquet}
account: people
"""
PROJECT = "accounts: {people: {epsilon: 50, delta: 1.0e-6}}"


def milliseconds(run: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000


def small_release(folder: Path, repeats: int) -> tuple[float, float]:
    """The medians of a whole release and of its draw and query."""
    duckdb.execute("SELECT setseed(0.42)")
    duckdb.execute(
        "COPY (SELECT 17 + (random() * 73)::INT AS age, 'r' || (random() * 4)::INT || 'x' AS region"
        f" FROM range(3000)) TO '{folder / 'people.parquet'}' (FORMAT parquet)"
    )
    policy = load_policy_text(POLICY, folder / "policy.yaml", folder)
    project = load_project_text(PROJECT, folder / "policy-engine.yaml", folder)
    whole, query = [], []
    for _ in range(repeats):
        whole.append(milliseconds(lambda: release(policy, project, replace=True, revise=True)))
        query.append(drawn(policy, project))
    return statistics.median(whole[1:]), statistics.median(query[1:])


def drawn(policy: Policy, project: Project) -> float:
    """How long the draw and the query take alone."""
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        certificate, table = prepare(policy, project, warehouse)
        start = time.perf_counter()
        with warehouse.sampled(policy, table, new_secret()):
            warehouse.rows(certificate.query)
        return (time.perf_counter() - start) * 1000


def charge(kind: int) -> Charge:
    """A charge of one of a hundred kinds of release."""
    event = SampledSuppression(200 + kind, Decimal("0.05"))
    epsilon, delta = Decimal("0.001"), Decimal("1e-30")
    return Charge("people", epsilon, delta, "add_remove", "p", "d", "c", event=event)


def filled(kinds: int, entries: int) -> Account:
    """An account with so many entries."""
    account = Account("people", limit=Limit(Decimal(50), Decimal("1e-6")))
    for number in range(entries):
        account = account.plus(charge(number % kinds))
    return account


def priced(folder: Path, account: Account, repeats: int) -> float:
    """The median of charging one more release to an account, from its last record."""
    signer = KeySigner(Ed25519PrivateKey.generate())
    times = []
    with Ledger.open(folder / f"{id(account)}.db", Trust.of(signer)) as ledger:
        with ledger._writing():  # the state that so many entries leave in the last record
            ledger._append("limit", ledger._at(), account=account)
        for _ in range(repeats):
            times.append(milliseconds(lambda: _asked(ledger)))
    return statistics.median(times)


def _asked(ledger: Ledger) -> None:
    with suppress(BudgetExceeded):
        admit(ledger.account("people"), charge(0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--entries", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, query = small_release(folder, asked.repeats)
        print(f"| a release of 3,000 people, whole | {whole:.0f} ms |")
        print(f"| its draw and query alone | {query:.0f} ms |")
        print(f"| all the rest | {whole - query:.0f} ms |")
        for kinds in (1, 100):
            took = priced(folder, filled(kinds, asked.entries), asked.repeats)
            text = f"{asked.entries:,} entries of {kinds} kinds"
            print(f"| one more release priced after {text} | {took:.0f} ms |")


if __name__ == "__main__":
    main()
