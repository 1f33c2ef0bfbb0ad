"""Many processes at one account, and two at one release."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from crash_world import (
    Case,
    Child,
    acted,
    forked,
    import_for,
    project_in,
    released,
    seen,
    write_policy,
    write_project,
    write_source,
    write_template,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.account import Account, Limit, admit
from policy_engine.ledger.chain import Trust
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.preview import preview

RACERS, WINNERS = 50, 5
TRUST = Trust.of(KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32))))


def admitted(charge: Charge, limit: Limit, most: int = WINNERS + 1) -> int:
    """How many of the same charge an account pays for, one after the other; at most ``most``."""
    account = Account(charge.account, limit=limit)
    for number in range(most):
        try:
            admit(account, charge)
        except BudgetExceeded:
            return number
        account = account.plus(charge)
    return most


def limit_for(charge: Charge, wanted: int = WINNERS) -> Limit:
    """A limit that admits just so many, whatever the rule that prices them."""
    low, high, delta = Decimal(0), charge.epsilon * (wanted + 1), charge.delta * (wanted + 1)
    for _ in range(40):
        middle = (low + high) / 2
        found = admitted(charge, Limit(middle, delta), wanted + 1)
        if found == wanted:
            return Limit(middle, delta)
        low, high = (middle, high) if found < wanted else (low, middle)
    raise AssertionError(f"no limit admits {wanted} of {charge}")


def together(acts: Iterable[Callable[[], Any]], limit: float = 300) -> list[Any]:
    """What children return that all begin at once; see ``forked``."""
    gate, open_gate = os.pipe()

    def behind(act: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            os.close(open_gate)
            os.read(gate, 1)  # ends when the gate is closed
            return act()

        return run

    children = [Child(behind(act)) for act in acts]
    os.close(open_gate)
    os.close(gate)
    return [child.answer(limit) for child in children]


def charge_of(number: int, epsilon: str, delta: str) -> Charge:
    """A charge of which nothing but (ε, δ) is known."""
    return Charge(
        "people", Decimal(epsilon), Decimal(delta), "add_remove", f"p{number}", f"d{number}", "c",
        request=f"{number:064x}",
    )  # fmt: skip


def race_of_reserves(place: Path | str, limit: Limit, charges: list[Charge]) -> list[Any]:
    """What came of each charge, all at once: its entry, or the error."""
    return together([partial(reserve, place, limit, charge) for charge in charges])


def reserve(place: Path | str, limit: Limit, charge: Charge) -> int:
    """Charge, in this process; the entry."""
    with Ledger.open(place, TRUST) as ledger:
        return ledger.reserve(charge, limit).id


def races_of_reserves(place: Path | str, epsilon: str, delta: str, times: int) -> list[list[Any]]:
    """So many races, one after the other, each for accounts of its own in one ledger.

    How many were paid, how many could not be, everything else, and what the ledger says.
    """
    found = []
    limit = limit_for(charge_of(0, epsilon, delta))
    import_for(lambda: reserve(place, limit, charge_of(0, epsilon, delta)))
    for time in range(times):
        charges = [
            replace(charge_of(number, epsilon, delta), account=f"people {time}")
            for number in range(RACERS)
        ]
        answers = race_of_reserves(place, limit, charges)
        paid = [answer for answer in answers if isinstance(answer, int)]
        refused = [a for a in answers if isinstance(a, dict) and a["raised"] == "BudgetExceeded"]
        others = [answer for answer in answers if answer not in (*paid, *refused)]
        charged = forked(partial(charged_in, place, f"people {time}"))
        found.append([len(set(paid)), len(refused), others, charged])
    return found


def charged_in(place: Path | str, account: str) -> int:
    """How many charges the account has, in a ledger that holds."""
    with Ledger.open(place, TRUST, create=False) as ledger:
        ledger.verify()
        assert (
            len(ledger.read().budget.entries(account))
            == ledger.read().budget.balance(account).charges
        )
        return ledger.read().budget.balance(account).charges


def race_of_releases(folder: Path) -> dict[str, Any]:
    """50 policies of one account that pays for 5, released at once."""
    folder.mkdir()
    write_project(folder)
    names = [f"p{number}" for number in range(RACERS)]
    for name in names:
        write_policy(folder, "file", name, f"{{file: out/{name}.parquet}}")
    forked(lambda: write_source(folder))
    limit = forked(lambda: _limit_of_releases(folder))
    forked(lambda: ledger_writer(project_in(folder)).key_id)  # made by a race, it may be too young
    write_project(folder, *limit)
    answers = together([partial(released, folder, name) for name in names])
    standing = [(folder / "out" / f"{name}.parquet").exists() for name in names]
    hidden = [path.name for path in (folder / "out").glob(".*")]
    ledger = forked(lambda: _ledger_of(folder))
    return {"answers": answers, "standing": standing, "hidden": hidden, "ledger": ledger}


def _limit_of_releases(folder: Path) -> list[str]:
    charge = preview(load_policy(folder / "p0.yaml"), project_in(folder)).charge
    limit = limit_for(replace(charge, account="people"))
    return [str(limit.epsilon), str(limit.delta)]


def _ledger_of(folder: Path) -> dict[str, Any]:
    with open_ledger(project_in(folder)) as ledger:
        ledger.verify()
        return {
            "charges": ledger.read().budget.balance("people").charges,
            "states": [entry.state for entry in ledger.read().budget.entries("people")],
        }


def twins(folder: Path, case: Case, times: int) -> list[dict[str, Any]]:
    """The same release, run by two processes at once, so many times."""
    write_template(folder / "template", case)
    found = []
    for number in range(times):
        world = folder / f"twins-{number}"
        shutil.copytree(folder / "template", world)
        answers = together([partial(acted, world, case)] * 2)
        found.append({"answers": answers, "seen": forked(partial(seen, world, case))})
        shutil.rmtree(world)
    return found
