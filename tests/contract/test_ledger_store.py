"""What every ledger store guarantees, and the stores that are held to it.

A new store subclasses ``LedgerStoreContract`` and provides ``open_ledger`` (a picklable
callable, so that other processes can open the same ledger) and ``tamper``.
"""

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest

from policy_engine.errors import BudgetExceeded, LedgerError, UsageError
from policy_engine.ledger.account import Limit
from policy_engine.ledger.chain import extend, head
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger

PROCESSES = multiprocessing.get_context("spawn")
LIMIT = Limit(Decimal("1.0"), Decimal("1.0e-6"))


def charge(epsilon="0.1", delta="1e-9", account="census", neighbours="add_remove"):
    return Charge(
        account, Decimal(epsilon), Decimal(delta), neighbours, "adult", "policy", "certificate"
    )


# What other processes run; at the top of the module, so that they can import it.


def race(open_ledger, barrier, results, tries, epsilon, limit):
    with open_ledger() as ledger:
        barrier.wait(60)
        won = 0
        for _ in range(tries):
            try:
                ledger.reserve(charge(epsilon), limit)
                won += 1
            except BudgetExceeded:
                pass
    results.put(won)


def die_in_the_body(open_ledger):
    with open_ledger() as ledger, ledger.reserve(charge(), LIMIT):
        os.kill(os.getpid(), signal.SIGKILL)


def die_before_the_end_of_a_commit(open_ledger):
    ledger = open_ledger()
    reservation = ledger.reserve(charge(), LIMIT)
    ledger._now = lambda: os.kill(os.getpid(), signal.SIGKILL)
    reservation.commit(release_name="a.parquet", release_digest="digest")


def run(target, *arguments):
    process = PROCESSES.Process(target=target, args=arguments)
    process.start()
    return process


class LedgerStoreContract:
    @pytest.fixture
    def open_ledger(self, tmp_path) -> Callable[[], Ledger]:
        raise NotImplementedError

    def tamper(self, tmp_path, old: str, new: str) -> None:
        """Replace a text in the stored payloads, past whatever protects them."""
        raise NotImplementedError

    @pytest.fixture
    def ledger(self, open_ledger):
        with open_ledger() as ledger:
            yield ledger

    def test_a_new_ledger_is_empty(self, ledger):
        assert ledger.entries() == ()
        assert ledger.balances() == ()
        assert ledger.verify_chain().records == 0
        assert ledger.balance("census", LIMIT).left_epsilon == Decimal("1.0")

    def test_the_account_is_charged_before_the_body_runs(self, ledger, open_ledger):
        with ledger.reserve(charge(), LIMIT) as reservation, open_ledger() as other:
            [entry] = other.entries()
            assert entry == reservation.entry
            assert entry.state == "reserved"
            assert other.balance("census").spent_epsilon == Decimal("0.1")

    def test_the_account_is_charged_even_where_with_is_forgotten(self, ledger):
        ledger.reserve(charge(), LIMIT)
        assert ledger.balance("census").spent_epsilon == Decimal("0.1")

    def test_a_commit_is_recorded_and_costs_nothing_more(self, ledger, open_ledger):
        with ledger.reserve(charge(), LIMIT) as reservation:
            entry = reservation.commit(release_name="a.parquet", release_digest="digest")
        with open_ledger() as other:
            assert other.entries() == (entry,)
            balance = other.balance("census", LIMIT)
        assert entry.state == "committed"
        assert (entry.release_name, entry.release_digest) == ("a.parquet", "digest")
        assert entry.committed_at >= entry.reserved_at
        assert (entry.account, entry.policy_name) == ("census", "adult")
        assert (entry.policy_digest, entry.certificate_digest) == ("policy", "certificate")
        assert (balance.spent_epsilon, balance.spent_delta) == (Decimal("0.1"), Decimal("1e-9"))
        assert (balance.entries, balance.reserved) == (1, 0)

    @pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_a_body_that_fails_stays_charged(self, ledger, failure):
        with pytest.raises(failure), ledger.reserve(charge(), LIMIT):
            raise failure
        [entry] = ledger.entries()
        assert entry.state == "reserved"
        assert (entry.committed_at, entry.release_name, entry.release_digest) == (None,) * 3
        balance = ledger.balance("census", LIMIT)
        assert (balance.spent_epsilon, balance.reserved) == (Decimal("0.1"), 1)

    def test_what_cannot_be_paid_is_refused_and_not_recorded(self, ledger):
        ledger.reserve(charge("0.9"), LIMIT)
        with pytest.raises(BudgetExceeded) as caught:
            ledger.reserve(charge("0.2"), LIMIT)
        assert str(caught.value) == (
            "account 'census' cannot pay for policy 'adult': it asks for ε 0.2 where 0.1 of 1 is "
            "left; ask for less in the policy's guarantee, or decide to raise the limit of "
            "accounts.census in policy-engine.yaml"
        )
        assert len(ledger.entries()) == 1
        ledger.reserve(charge("0.1"), LIMIT)  # exactly the rest
        assert ledger.balance("census", LIMIT).left_epsilon == 0

    def test_amounts_are_exact_decimals(self, ledger):
        limit = Limit(Decimal("0.3"), Decimal("3e-400"))
        for epsilon in ("0.1", "0.2"):
            ledger.reserve(charge(epsilon, "1.5e-400"), limit)
        with pytest.raises(BudgetExceeded, match="it asks for δ 1e-900 where 0 of 3e-400 is left"):
            ledger.reserve(charge("0", "1e-900"), limit)
        assert ledger.balance("census").spent_delta == Decimal("3e-400")

    def test_without_a_limit_an_account_adds_up(self, ledger):
        for _ in range(3):
            ledger.reserve(charge("100", "0.9"))
        balance = ledger.balance("census")
        assert (balance.spent_epsilon, balance.spent_delta) == (300, Decimal("2.7"))
        assert (balance.left_epsilon, balance.left_delta) == (None, None)

    def test_accounts_are_apart(self, ledger):
        ledger.reserve(charge("1.0", account="census"), LIMIT)
        ledger.reserve(charge("1.0", account="visits"), LIMIT)
        assert [entry.account for entry in ledger.entries("visits")] == ["visits"]
        assert [entry.id for entry in ledger.entries()] == [1, 2]
        balances = ledger.balances({"visits": LIMIT, "a": LIMIT})
        assert [(b.account, b.entries, b.limit) for b in balances] == [
            ("a", 0, LIMIT),
            ("census", 1, None),
            ("visits", 1, LIMIT),
        ]

    def test_one_account_counts_in_one_notion_of_neighbours(self, ledger):
        ledger.reserve(charge(neighbours="replace_one"))
        with pytest.raises(BudgetExceeded) as caught:
            ledger.reserve(charge(neighbours="add_remove"))
        assert str(caught.value) == (
            "account 'census' counts replace_one neighbours and policy 'adult' guarantees "
            "add_remove: the two do not add up; change 'neighbours' in the policy, or name another "
            "account under 'budget'"
        )
        assert len(ledger.entries()) == 1

    def test_an_entry_is_committed_once_and_must_exist(self, ledger):
        reservation = ledger.reserve(charge())
        reservation.commit(release_name="a", release_digest="d")
        with pytest.raises(UsageError, match=r"entry 1 must be reserved .*, but it is committed"):
            reservation.commit(release_name="b", release_digest="d")
        for missing in (0, 2, 7):
            with pytest.raises(UsageError, match=f"entry {missing} .* it does not exist"):
                ledger.commit(missing, release_name="b", release_digest="d")
        assert ledger.verify_chain().records == 2

    def test_a_text_is_stored_as_it_is(self, ledger, open_ledger):
        text = "'; drop table records; -- \x00 \udcff é 😀 \\"
        ledger.reserve(charge(account=text)).commit(release_name=text, release_digest="d")
        with open_ledger() as other:
            [entry] = other.entries()
        assert entry.account == entry.release_name == text

    def test_a_changed_record_is_named_and_nothing_more_is_charged(self, ledger, tmp_path):
        reservation = ledger.reserve(charge("0.9"), LIMIT)
        ledger.reserve(charge("0.1"), LIMIT)
        self.tamper(tmp_path, '"0.9"', '"0.1"')
        with pytest.raises(LedgerError, match="broken at record 1: its content was changed"):
            ledger.verify_chain()
        for act in (
            lambda: ledger.reserve(charge(), LIMIT),
            lambda: reservation.commit(release_name="a", release_digest="d"),
            ledger.balances,
        ):
            with pytest.raises(LedgerError, match="chain is broken at record 1"):
                act()

    def test_a_failure_inside_a_write_leaves_nothing_and_lets_others_in(self, ledger, open_ledger):
        def interrupt():
            raise KeyboardInterrupt

        now, ledger._now = ledger._now, interrupt
        with pytest.raises(KeyboardInterrupt):
            ledger.reserve(charge(), LIMIT)
        ledger._now = now
        assert ledger.entries() == ()
        with open_ledger() as other:
            other.reserve(charge(), LIMIT)
        ledger.reserve(charge(), LIMIT)
        assert ledger.verify_chain().records == 2

    def test_what_was_appended_in_an_interrupted_write_is_gone(self, ledger, open_ledger):
        records = ledger._records
        with pytest.raises(KeyboardInterrupt), records.writing():
            records.append(extend(head(()), "reserve", {}))
            raise KeyboardInterrupt
        with open_ledger() as other:
            assert records.read() == other._records.read() == ()
            other.reserve(charge(), LIMIT)

    @pytest.mark.parametrize(
        ("processes", "tries", "epsilon", "wins"),
        [(4, 1, "0.6", 1), (3, 10, "0.05", 20)],
    )
    def test_of_processes_in_a_race_only_those_the_budget_pays_win(
        self, open_ledger, processes, tries, epsilon, wins
    ):
        barrier, results = PROCESSES.Barrier(processes), PROCESSES.Queue()
        arguments = (open_ledger, barrier, results, tries, epsilon, LIMIT)
        racers = [run(race, *arguments) for _ in range(processes)]
        assert sum(results.get(timeout=60) for _ in racers) == wins
        for racer in racers:
            racer.join(60)
            assert racer.exitcode == 0
        with open_ledger() as ledger:
            assert ledger.verify_chain().records == wins
            assert ledger.balance("census").spent_epsilon == wins * Decimal(epsilon)

    @pytest.mark.parametrize("crash", [die_in_the_body, die_before_the_end_of_a_commit])
    def test_a_killed_process_leaves_its_release_charged(self, open_ledger, crash):
        process = run(crash, open_ledger)
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        with open_ledger() as ledger:
            [entry] = ledger.entries()
            assert entry.state == "reserved"
            assert ledger.balance("census", LIMIT).left_epsilon == Decimal("0.9")
            ledger.reserve(charge(), LIMIT)  # and holds no lock
            assert ledger.verify_chain().records == 2


class TestSqliteLedger(LedgerStoreContract):
    @pytest.fixture
    def open_ledger(self, tmp_path):
        return partial(Ledger.open, tmp_path / "ledger.db")

    def tamper(self, tmp_path, old, new):
        connection = sqlite3.connect(tmp_path / "ledger.db")
        connection.execute("drop trigger records_are_never_changed")
        connection.execute("update records set payload = replace(payload, ?, ?)", (old, new))
        connection.commit()
        connection.close()
