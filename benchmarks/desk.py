"""What the desk's pages cost over a ledger with many entries.

    python benchmarks/desk.py [--entries 10000]

A project of forty policies is charged so many times, and each page is asked for twice from a server
of its own: the first answer reads the ledger.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from decimal import Decimal
from pathlib import Path

from policy_engine.accounting.events import SampledSuppression
from policy_engine.attest.signers import writer_of
from policy_engine.desk.views import account_id
from policy_engine.ledger.entry import Charge
from policy_engine.policy.project import load_project
from policy_engine.releasing.beginning import begin
from policy_engine.releasing.books import open_ledger


def filled(folder: Path, entries: int) -> None:
    """A project whose account has so many entries."""
    file = folder / "policy-engine.yaml"
    file.write_text("accounts: {people: {epsilon: 50, delta: 1.0e-6}}\n")
    begin(load_project(file), anew=False, say=lambda text: None)
    project = load_project(file)
    with open_ledger(project, writer_of(project)) as ledger:
        for number in range(entries):
            name = f"p{number % 40}"
            asked = Charge(
                "people", Decimal("0.004"), Decimal("1e-30"), "add_remove", name,
                f"sha256:{'a' * 64}", f"sha256:{hashlib.sha256(b'%d' % number).hexdigest()}",
                event=SampledSuppression(200 + number % 5, Decimal("0.05")),
                run={"predicate": {"unit": "row"}, "target": f"out/{name}.parquet"},
            )  # fmt: skip
            entry = ledger.start(ledger.reserve(asked).id)
            ledger.commit(entry.id, release_name=f"out/{name}.parquet", release_digest="b" * 64)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--entries", type=int, default=10_000)
    asked = parser.parse_args()
    paths = ("", "releases", "releases?page=200", "waiting", "policies", "keys",
             f"accounts/{account_id('people')}")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        filled(Path(name), asked.entries)
        command = [sys.executable, "-m", "policy_engine", "desk", "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().rpartition(": ")[2].strip()
            for path in (*paths, *paths):
                start = time.perf_counter()
                urllib.request.urlopen(address + path).read()  # ours, on this machine
                print(f"| {path or 'overview'} | {(time.perf_counter() - start) * 1000:.0f} ms |")
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
