"""The ledger over a store in memory that can be made to crash at any step."""

from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import BudgetExceeded, LedgerError
from policy_engine.ledger.account import Limit
from policy_engine.ledger.chain import Head, extend, head
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger

AT = datetime(2025, 1, 1, tzinfo=UTC)
LIMIT = Limit(Decimal("1.0"), Decimal("1e-6"))


class Crash(BaseException):
    """The process ends here."""


class MemoryRecords:
    where = "memory"

    def __init__(self):
        self.durable = []
        self.open = False
        self.crash_at = None

    def read(self):
        self._step("read")
        return tuple(self.durable)

    @contextmanager
    def writing(self):
        assert not self.open
        self.open, before = True, list(self.durable)
        try:
            yield
            self._step("before the commit")
        except BaseException:
            self.durable = before
            raise
        finally:
            self.open = False
        self._step("after the commit")

    def append(self, record):
        assert self.open
        self._step("append")
        self.durable.append(record)

    def close(self):
        self.durable = None

    def _step(self, name):
        if self.crash_at == name:
            raise Crash


def charge(epsilon="0.1"):
    return Charge("census", Decimal(epsilon), Decimal(0), "add_remove", "adult", "p", "c")


def test_times_are_told_by_the_clock_in_utc():
    ledger = Ledger(MemoryRecords(), now=lambda: AT)
    entry = ledger.reserve(charge()).commit(release_name="a", release_digest="d")
    assert (entry.reserved_at, entry.committed_at) == (AT, AT)
    before = datetime.now(UTC)
    entry = Ledger(MemoryRecords()).reserve(charge()).entry
    assert before <= entry.reserved_at <= datetime.now(UTC)


def test_the_head_of_the_chain_moves_with_every_record():
    ledger = Ledger(MemoryRecords(), now=lambda: AT)
    reservation = ledger.reserve(charge())
    assert ledger.verify_chain() == Head(1, reservation.entry.hash)
    reservation.commit(release_name="a", release_digest="d")
    assert ledger.verify_chain().records == 2


def test_verifying_the_chain_reads_every_record_of_it():
    records = MemoryRecords()
    records.durable.append(extend(head(()), "refund", {}))
    with pytest.raises(LedgerError, match="memory: record 1, of kind 'refund', cannot be read"):
        Ledger(records).verify_chain()


def test_a_reservation_is_frozen():
    reservation = Ledger(MemoryRecords()).reserve(charge())
    with pytest.raises(FrozenInstanceError):
        reservation.entry = None


def test_a_ledger_closes_its_records():
    records = MemoryRecords()
    with Ledger(records) as ledger:
        ledger.entries()
    assert records.durable is None


STEPS = st.sampled_from([None, "read", "append", "before the commit", "after the commit"])


@given(
    st.lists(
        st.tuples(st.sampled_from(["reserve", "release"]), st.integers(0, 60), STEPS), max_size=25
    )
)
def test_whatever_crashes_every_body_that_ran_is_charged_and_nothing_is_ever_given_back(acts):
    records = MemoryRecords()
    ledger = Ledger(records, now=lambda: AT)
    ran, spent = Decimal(0), Decimal(0)
    for act, hundredths, crash_at in acts:
        asked = Decimal(hundredths) / 100
        records.crash_at = crash_at
        try:
            with ledger.reserve(charge(asked), LIMIT) as reservation:
                ran += asked
                if act == "release":
                    reservation.commit(release_name="a", release_digest="d")
        except BudgetExceeded:
            assert spent + asked > LIMIT.epsilon
        except Crash:
            pass
        records.crash_at = None
        now_spent = ledger.balance("census", LIMIT).spent_epsilon
        assert ran <= now_spent <= LIMIT.epsilon
        assert now_spent >= spent
        spent = now_spent
    ledger.verify_chain()


def test_a_crash_during_a_commit_leaves_the_entry_reserved():
    records = MemoryRecords()
    ledger = Ledger(records)
    reservation = ledger.reserve(charge())
    for step in ("read", "append", "before the commit"):
        records.crash_at = step
        with pytest.raises(Crash):
            reservation.commit(release_name="a", release_digest="d")
        records.crash_at = None
        assert [entry.state for entry in ledger.entries()] == ["reserved"]
