"""The ledger: what is charged, settled, limited; and that whatever was done to it is found.

Over a SQLite file, and over a store in memory that can be made to crash at any step.
"""

import json
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import BudgetExceeded, LedgerError, UsageError
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.chain import GENESIS, Draft, Head, Trust, extend, hash_of, head
from policy_engine.ledger.entry import Charge, Run, reserve_payload
from policy_engine.ledger.records import open_records
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.witness import Witness

AT = datetime(2025, 1, 1, tzinfo=UTC)
OURS, THEIRS = (KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32)) for n in (1, 2))
TRUST = Trust.of(OURS)
DONE = {"release_name": "out.parquet", "release_digest": "d"}


def charge(epsilon="0.1", account="census", request="", of=None, neighbours="add_remove"):
    run = Run() if of is None else Run(of, sealed={"key": "secret"})
    return Charge(
        account, Decimal(epsilon), Decimal(0), neighbours, "adult", "p", "c",
        request=request, run=run,
    )  # fmt: skip


def limit(epsilon="1", delta="1e-6"):
    return Limit(Decimal(epsilon), Decimal(delta))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    with Ledger.open(path, TRUST) as found:
        yield found


def states(ledger):
    return [entry.state for entry in ledger.read().budget.entries()]


def kinds(ledger):
    return [record.kind for record in ledger.read().chain.records]


def refusal(error, act, *arguments, **options):
    with pytest.raises(error) as caught:
        act(*arguments, **options)
    return str(caught.value)


# What is charged.


def test_a_charge_is_recorded_before_a_release_runs_and_stays_whatever_it_does(ledger):
    entry = ledger.reserve(charge())
    assert ledger.read().budget.balance("census").charges == 1
    ledger.start(entry.id)
    assert states(ledger) == ["started"]
    assert ledger.read().budget.balance("census").spent_epsilon == Decimal("0.1")


def test_a_release_is_reserved_started_and_committed(ledger):
    entry = ledger.reserve(charge(), limit())
    assert entry.state == "reserved"
    assert ledger.start(entry.id).state == "started"
    assert ledger.commit(entry.id, **DONE).state == "committed"
    assert kinds(ledger) == ["limit", "reserve", "start", "commit"]
    [entry] = ledger.read().budget.entries()
    assert (entry.release_name, entry.release_digest) == ("out.parquet", "d")


def test_times_are_told_by_the_clock_in_utc(path):
    with Ledger(open_records(path), TRUST, lambda: AT) as ledger:
        ledger.start(ledger.reserve(charge()).id)
        entry = ledger.commit(1, **DONE)
    assert (entry.reserved_at, entry.committed_at) == (AT, AT)
    before = datetime.now(UTC)
    with Ledger.open(path, TRUST) as ledger:
        assert before <= ledger.reserve(charge()).reserved_at <= datetime.now(UTC)


def test_a_budget_ends(ledger):
    for _ in range(3):
        ledger.reserve(charge("0.3"), limit())
    before = ledger.verify()
    assert "account 'census' cannot pay for policy 'adult': it asks for ε 0.3, " in refusal(
        BudgetExceeded, ledger.reserve, charge("0.3"), limit()
    )
    assert ledger.verify() == before
    ledger.reserve(charge("0.3", "other"), limit())
    assert ledger.read().budget.names() == ("census", "other")


def test_accounts_have_their_own_entries_and_balances(ledger):
    ledger.reserve(charge("0.1"))
    ledger.reserve(charge("0.2", "other"))
    assert [entry.id for entry in ledger.read().budget.entries()] == [1, 2]
    assert [entry.id for entry in ledger.read().budget.entries("other")] == [2]
    assert ledger.read().budget.balance("other").spent_epsilon == Decimal("0.2")
    assert ledger.read().budget.account("nobody") == Account("nobody")


def test_another_notion_of_neighbours_is_refused(ledger):
    ledger.reserve(charge())
    assert "counts add_remove neighbours and policy 'adult' guarantees replace_one: " in refusal(
        BudgetExceeded, ledger.reserve, charge(neighbours="replace_one")
    )
    assert kinds(ledger) == ["reserve"]


def test_the_same_run_in_the_same_place_is_charged_once(ledger):
    first = ledger.reserve(charge(request="place", of="state"), limit())
    second = ledger.reserve(charge(request="place", of="state"), limit())
    assert second == first
    assert kinds(ledger) == ["limit", "reserve"]


def test_a_run_that_keeps_no_secret_is_charged_once_too(ledger):
    one = charge(request="place", of="state")
    one = replace(one, run=replace(one.run, sealed={}))
    assert ledger.reserve(one) == ledger.reserve(one)
    assert ledger.read().budget.balance("census").charges == 1


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"request": "elsewhere"}, None),
        ({"of": "another state"}, None),
        ({"of": None}, None),
        ({}, 1),
    ],
)
def test_any_other_run_is_charged_by_itself(ledger, change, after):
    one = {"request": "place", "of": "state"}
    ledger.reserve(charge(**one))
    ledger.reserve(charge(**{**one, **change}), after=after)
    assert ledger.read().budget.balance("census").charges == 2


def test_what_was_given_back_is_charged_again(ledger):
    one = charge(request="place", of="state")
    ledger.cancel(ledger.reserve(one).id, "nothing ran")
    assert ledger.reserve(one).id == 3
    assert ledger.read().budget.balance("census").charges == 1


def test_a_run_is_that_of_the_last_time_it_was_charged(ledger):
    one = charge(request="place", of="state")
    ledger.reserve(one)
    last = ledger.reserve(one, after=1)
    assert ledger.reserve(one) == last
    assert ledger.reserve(one, after=1) == last  # of who has seen the first one as the last
    with pytest.raises(LedgerError, match="charged for adult meanwhile"):
        ledger.reserve(charge(request="place", of="another"), after=1)
    assert [entry.id for entry in ledger.read().budget.at("place")] == [1, 2]
    assert ledger.read().budget.at("") == ()


# What becomes of an entry.


def test_what_never_started_is_given_back_and_can_never_run(ledger, path):
    before = ledger.read().budget.account("census")
    entry = ledger.reserve(charge())
    assert ledger.cancel(entry.id, "nothing ran").state == "cancelled"
    assert ledger.read().budget.balance("census").price.basic_epsilon == 0
    assert ledger.read().budget.account("census").charges == before.charges
    assert refusal(LedgerError, ledger.start, entry.id) == (
        f"{path}: entry 1 is cancelled, so no 'start' can follow:"
        " another process or 'ledger reconcile' settled it; release again"
    )
    assert json.loads(ledger.read().chain.records[-1].payload)["why"] == "nothing ran"


def settle(ledger, way):
    for step in way:
        if step == "commit":
            ledger.commit(1, **DONE)
        elif step == "start":
            ledger.start(1)
        else:
            getattr(ledger, step)(1, "why")


REFUSED = [
    ((), "commit"),
    ((), "keep"),
    (("start",), "cancel"),
    (("start", "keep"), "cancel"),
    (("start", "keep"), "keep"),
    (("start", "commit"), "cancel"),
    (("start", "commit"), "start"),
    (("start", "commit"), "keep"),
    (("cancel",), "start"),
    (("cancel",), "commit"),
    (("cancel",), "cancel"),
    (("cancel",), "keep"),
]


@pytest.mark.parametrize(("way", "step"), REFUSED)
def test_no_entry_is_settled_in_another_way_than_it_can_be(ledger, way, step):
    ledger.reserve(charge())
    settle(ledger, way)
    before, state = ledger.verify(), ledger.read().budget.entry(1).state
    said = refusal(LedgerError, settle, ledger, [step])
    assert f"entry 1 is {state}, so no {step!r} can follow: " in said
    assert ledger.verify() == before


@pytest.mark.parametrize("way", [("start",), ("start", "keep"), ("start", "commit")])
def test_what_was_started_costs_the_same_whatever_becomes_of_it(ledger, way):
    ledger.reserve(charge())
    before = ledger.read().budget.balance("census")
    settle(ledger, way)
    assert ledger.read().budget.balance("census") == before


def test_what_was_kept_may_still_turn_up(ledger):
    ledger.reserve(charge())
    settle(ledger, ["start", "keep", "start", "commit"])
    assert states(ledger) == ["committed"]


def test_committed_twice_with_one_digest_is_committed_once(ledger):
    ledger.reserve(charge())
    settle(ledger, ["start", "commit"])
    before = ledger.verify()
    assert ledger.commit(1, **DONE) == ledger.read().budget.entry(1)
    assert ledger.verify() == before
    said = refusal(LedgerError, ledger.commit, 1, release_name="out.parquet", release_digest="e")
    assert "entry 1 is committed, so no 'commit' can follow" in said


def test_what_was_drawn_is_the_only_release_of_an_entry(ledger, path):
    ledger.reserve(charge())
    ledger.start(1)
    assert ledger.draw(1, "d")
    assert kinds(ledger) == ["reserve", "start", "draw"]
    assert not ledger.draw(1, "e")  # another run, or the same one after its source has changed
    assert ledger.draw(1, "d")
    assert kinds(ledger) == ["reserve", "start", "draw"]
    said = refusal(LedgerError, ledger.commit, 1, release_name="x", release_digest="e")
    assert said == (
        f"{path}: entry 1 was drawn with other bytes than what stands now; it stays charged"
    )
    assert ledger.commit(1, **DONE).state == "committed"
    assert ledger.draw(1, "d") and not ledger.draw(1, "e")
    assert kinds(ledger) == ["reserve", "start", "draw", "commit"]
    ledger.verify()


@pytest.mark.parametrize("way", [(), ("cancel",)])
def test_nothing_is_drawn_that_was_not_started(ledger, way):
    ledger.reserve(charge())
    settle(ledger, way)
    assert "so no 'draw' can follow: " in refusal(LedgerError, ledger.draw, 1, "d")


@pytest.mark.parametrize("number", [-1, 2**63, 10**30])
def test_a_number_that_no_database_counts_to_is_no_entry(ledger, path, number):
    assert (
        refusal(UsageError, ledger.read().budget.entry, number)
        == f"there is no entry {number} in {path}"
    )


@pytest.mark.parametrize("number", [0, 1, 3, 99])
def test_an_entry_that_there_is_not_is_told(ledger, path, number):
    ledger.reserve(charge(), limit())  # 1 is the limit
    ledger.start(2)
    for act in (ledger.read().budget.entry, ledger.start):
        said = refusal(UsageError, act, number)
        assert said == f"there is no entry {number} in {path}"


# Limits.


def test_the_projects_first_limit_is_recorded(ledger):
    ledger.reserve(charge(), limit())
    [record, _] = ledger.read().chain.records
    payload = json.loads(record.payload)
    assert (payload["who"], payload["why"]) == ("the project file", "its first limit")
    assert ledger.read().budget.balance("census").limit == limit()


def test_the_projects_lower_limit_is_recorded(ledger):
    ledger.reserve(charge(), limit())
    ledger.reserve(charge(), limit("0.9"))
    assert kinds(ledger) == ["limit", "reserve", "limit", "reserve"]
    assert json.loads(ledger.read().chain.records[2].payload)["why"] == "lowered there"
    assert ledger.read().budget.balance("census").limit == limit("0.9")


def test_the_same_limit_is_recorded_once(ledger):
    ledger.reserve(charge(), limit())
    ledger.reserve(charge(), limit("1.0", "0.0000010"))
    assert kinds(ledger) == ["limit", "reserve", "reserve"]


@pytest.mark.parametrize("higher", [limit("2"), limit("1", "2e-6"), limit("0.5", "2e-6")])
def test_the_projects_higher_limit_is_refused_with_the_command_to_run(ledger, higher):
    ledger.reserve(charge(), limit())
    said = refusal(BudgetExceeded, ledger.reserve, charge(), higher)
    assert said.startswith("the project file allows account 'census' ε ")
    assert "and the ledger ε 1, δ 0.000001: only an entry that says who and why raises" in said
    assert "'policy-engine ledger limit census --epsilon " in said
    assert " --by NAME --why TEXT'" in said
    assert kinds(ledger) == ["limit", "reserve"]


def test_a_limit_that_the_project_has_no_more_stays(ledger):
    ledger.reserve(charge("0.6"), limit())
    ledger.reserve(charge("0.3"), None)
    assert ledger.read().budget.balance("census").limit == limit()
    assert "cannot pay" in refusal(BudgetExceeded, ledger.reserve, charge("0.3"), None)


def test_a_lower_limit_that_cannot_be_paid_under_is_not_recorded_by_the_way(ledger):
    ledger.reserve(charge("0.6"), limit())
    refusal(BudgetExceeded, ledger.reserve, charge(), limit("0.5"))
    assert ledger.read().budget.balance("census").limit == limit()


def test_somebody_raises_a_limit_for_a_reason(ledger):
    ledger.reserve(charge("0.9"), limit())
    ledger.set_limit("census", limit("2"), who="Ada", why="the board decided")
    ledger.reserve(charge("0.9"), limit("2"))
    payload = json.loads(ledger.read().chain.records[2].payload)
    assert (payload["who"], payload["why"]) == ("Ada", "the board decided")
    assert (payload["epsilon"], payload["delta"]) == ("2", "0.000001")
    assert ledger.verify().records == 4


def test_somebody_lowers_a_limit_even_below_what_is_spent(ledger):
    ledger.reserve(charge("0.9"), limit())
    ledger.set_limit("census", limit("0.5"), who="Ada", why="too much")
    assert ledger.read().budget.account("census").remaining().epsilon is None
    assert "cannot pay" in refusal(BudgetExceeded, ledger.reserve, charge("0.01"))


def test_a_limit_may_stand_before_the_first_charge(ledger):
    ledger.set_limit("census", limit(), who="Ada", why="to begin with")
    assert "cannot pay" in refusal(BudgetExceeded, ledger.reserve, charge("2"))


@pytest.mark.parametrize(("who", "why"), [("", "because"), ("Ada", " "), ("\n", "")])
def test_a_limit_is_not_changed_by_nobody_or_for_nothing(ledger, who, why):
    assert refusal(UsageError, ledger.set_limit, "census", limit(), who=who, why=why) == (
        "a limit is changed by somebody, for a reason: say --by and --why"
    )
    assert ledger.read().chain.records == ()


BAD = "must be a text that is not blank and has no line break or control character"


@pytest.mark.parametrize("text", ["", " ", "a\nb", "x\x1b[31m", "a\u2028b", "a\x00"])
def test_no_account_is_opened_that_would_write_over_what_is_shown(ledger, text):
    said = refusal(UsageError, ledger.set_limit, text, limit(), who="Ada", why="so")
    assert said == f"ACCOUNT {BAD}, found {text!a}"
    assert ledger.read().chain.records == ()


def test_who_and_why_are_told_on_one_line(ledger):
    for option, said in (
        ("--by", {"who": "A\rB", "why": "so"}),
        ("--why", {"who": "A", "why": "\t"}),
    ):
        found = refusal(UsageError, ledger.set_limit, "census", limit(), **said)
        assert option in found
    ledger.set_limit("ca\u0301fé 東京", limit(), who="Ada Ö", why="it\u00a0is so")


# What was done to it is found.


@pytest.fixture
def story(ledger):
    """Seven records of two accounts: one of every kind, and one more."""
    ledger.reserve(charge(request="aa", of="bb"), limit())
    ledger.start(2)
    ledger.commit(2, **DONE)
    ledger.reserve(charge("0.2"))
    ledger.cancel(5, "nothing ran")
    ledger.reserve(charge("0.3", "other"))
    assert kinds(ledger) == ["limit", "reserve", "start", "commit", "reserve", "cancel", "reserve"]
    return ledger


@pytest.fixture
def vandal(path):
    """Whoever may write the file, and cares for no trigger and no key."""

    def run(*statements):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            triggers = connection.execute("select name from sqlite_master where type = 'trigger'")
            for (name,) in triggers.fetchall():
                connection.execute(f"drop trigger {name}")
            connection.execute("create table others as select * from records")
            connection.execute("drop table records")
            connection.execute("alter table others rename to records")
            for statement, *values in statements:
                connection.execute(statement, *values)

    return run


def write(vandal, records):
    """Put these records in the place of all that there are."""
    marks = ", ".join("?" * 10)
    rows = [tuple(vars(record).values()) for record in records]
    inserts = [(f"insert into records values ({marks})", row) for row in rows]
    vandal(("delete from records",), *inserts)


def found(ledger, number, what):
    said = refusal(LedgerError, ledger.verify)
    assert f": the ledger's chain is broken at record {number}: {what}; " in said
    assert "nothing is charged" in said


COLUMNS = ["kind", "account", "request", "payload", "key_id", "hash", "previous_hash"]


def test_a_ledger_that_nobody_touched_holds(story):
    last = story.read().chain.records[-1]
    assert story.verify() == Head(7, last.hash)


def test_an_empty_ledger_holds(ledger):
    assert ledger.verify() == Head(0, GENESIS)


@pytest.mark.parametrize("number", range(1, 8))
@pytest.mark.parametrize("column", COLUMNS)
def test_any_edit_is_found(story, vandal, column, number):
    vandal((f"update records set {column} = {column} || ' ' where seq = {number}",))
    what = "its content was changed"
    if column == "previous_hash":
        what = "it does not follow the record before it"
    found(story, number, what)


@pytest.mark.parametrize("number", range(1, 8))
def test_an_edit_of_what_it_settles_is_found(story, vandal, number):
    vandal((f"update records set entry = entry + 1 where seq = {number}",))
    found(story, number, "its content was changed")


@pytest.mark.parametrize("number", range(1, 8))
def test_a_signature_that_was_changed_is_found(story, vandal, number):
    vandal((f"update records set signature = 'AA' || signature where seq = {number}",))
    found(story, number, "its signature is not that of its key")


def test_a_running_state_that_was_changed_is_found(story, vandal):
    vandal(("update records set payload = replace(payload, '0.2', '0.1') where seq = 5",))
    found(story, 5, "its content was changed")


@pytest.mark.parametrize("number", range(1, 7))
def test_any_removal_is_found(story, vandal, number):
    vandal((f"delete from records where seq = {number}",))
    found(story, number, f"record {number} is missing, the next one is {number + 1}")


@pytest.mark.parametrize("number", range(1, 7))
def test_a_removal_that_closes_the_gap_is_found(story, vandal, number):
    vandal(
        (f"delete from records where seq = {number}",),
        (f"update records set seq = seq - 1 where seq > {number}",),
    )
    found(story, number, "it does not follow the record before it")


@pytest.mark.parametrize("number", range(1, 7))
def test_any_exchange_is_found(story, vandal, number):
    vandal(
        (f"update records set seq = {2 * number + 1} - seq where seq in ({number}, {number + 1})",)
    )
    found(story, number, "it does not follow the record before it")


@pytest.mark.parametrize("number", range(2, 8))
def test_any_insertion_is_found(story, vandal, number):
    before = story.read().chain.records
    put = extend(head(before[: number - 1]), Draft("limit", {"at": "now"}), OURS)
    later = [replace(record, seq=record.seq + 1) for record in before[number - 1 :]]
    write(vandal, [*before[: number - 1], put, *later])
    found(story, number + 1, "it does not follow the record before it")


@pytest.mark.parametrize("number", range(1, 8))
def test_a_fork_is_found(story, vandal, number):
    before = story.read().chain.records
    at = before[number - 1]
    other = replace(at, payload=at.payload.replace("}", ',"z":1}', 1))
    write(vandal, [*before[:number], replace(other, hash=hash_of(other)), *before[number:]])
    found(story, number + 1, f"a second record {number} follows the same one: the chain forks")


def forged(records, number, signer, **changes):
    """The records with one changed, and all from there on chained anew."""
    chain = list(records[: number - 1])
    for record in records[number - 1 :]:
        made = replace(record, **changes) if record.seq == number else record
        draft = Draft(made.kind, json.loads(made.payload), made.account, made.entry, made.request)
        chain.append(extend(head(chain), draft, signer))
    return chain


@pytest.mark.parametrize("number", range(1, 8))
def test_a_chain_that_a_stranger_wrote_anew_is_found(story, vandal, number):
    write(vandal, forged(story.read().chain.records, number, THEIRS))
    found(story, number, f"it is signed by the key {THEIRS.key_id[:8]}, a stranger's")


@pytest.mark.parametrize("number", range(1, 8))
@pytest.mark.parametrize("signature", ["", "theirs"])
def test_a_chain_written_anew_in_our_name_is_found(story, vandal, number, signature):
    chain = list(story.read().chain.records[: number - 1])
    for record in forged(story.read().chain.records, number, THEIRS)[number - 1 :]:
        ours = replace(record, key_id=OURS.key_id, previous_hash=head(chain).hash)
        ours = replace(ours, hash=hash_of(ours))
        chain.append(replace(ours, signature=signature and record.signature))
    write(vandal, chain)
    found(story, number, "its signature is not that of its key")


@pytest.mark.parametrize("number", [0, -1])
def test_a_record_before_the_first_is_found(story, vandal, number):
    write(vandal, [replace(story.read().chain.records[0], seq=number), *story.read().chain.records])
    found(story, 1, f"record 1 is missing, the next one is {number}")


def test_a_tail_that_was_cut_off_is_found_by_the_witness_alone(path, tmp_path):
    witness = Witness(tmp_path / "head")
    with Ledger.open(path, TRUST, witness=witness) as ledger:
        ledger.reserve(charge())
    shutil.copy(path, tmp_path / "old.db")
    with Ledger.open(path, TRUST, witness=witness) as ledger:
        ledger.reserve(charge())
        assert witness.seen() == ledger.verify()
    shutil.move(tmp_path / "old.db", path)
    with Ledger.open(path, TRUST) as ledger:
        assert ledger.verify().records == 1
    said = refusal(LedgerError, Ledger.open, path, TRUST, witness=witness)
    assert ": this machine has seen record 2 of the ledger, and now it has no such record" in said


def test_a_record_that_is_gone_from_the_table_is_missed(path, tmp_path):
    witness = Witness(tmp_path / "head")
    with Ledger.open(path, TRUST, witness=witness) as ledger:
        ledger.reserve(charge())
        ledger.reserve(charge())
        read = ledger._records.read
        ledger._records.read = lambda: read()[:1]
        ledger._records.since = lambda seq: read()[seq - 1 : 1]
        said = refusal(LedgerError, ledger.verify)
        assert "has seen record 2 of the ledger, and now it has no such record" in said
        for act in (ledger.read, lambda: ledger.reserve(charge()), lambda: ledger.start(1)):
            said = refusal(LedgerError, act)
            assert "record 2 was read a moment ago, and now the ledger has no such record" in said


def test_what_is_written_and_seen_while_the_chain_is_verified_is_not_missing(path, tmp_path):
    witness = Witness(tmp_path / "head")
    with (
        Ledger.open(path, TRUST, witness=witness) as ledger,
        Ledger.open(path, TRUST, witness=witness) as beside,
    ):
        ledger.reserve(charge())
        read = ledger._records.read

        def read_and_be_overtaken():
            chain = read()
            beside.reserve(charge())
            return chain

        ledger._records.read = read_and_be_overtaken
        assert ledger.verify().records == 1
        assert witness.seen().records == 2


def test_what_was_given_back_is_not_released_by_who_hides_it(path):
    with Ledger.open(path, TRUST) as ledger:
        one = charge(request="place", of="state")
        ledger.cancel(ledger.reserve(one).id, "nothing ran")
        ledger.reserve(charge("0.1", "other"))
    with Ledger.open(path, TRUST) as ledger:
        read = ledger._records.read
        ledger._records.read = lambda: tuple(r for r in read() if r.entry != 1)
        for act in (ledger.read, lambda: ledger.start(1), lambda: ledger.reserve(one)):
            assert "record 2 is missing" in refusal(LedgerError, act)
        ledger._records.read = read
        assert ledger.read().budget.last_at("place", "state") is None
        assert "entry 1 is cancelled" in refusal(LedgerError, ledger.start, 1)


def test_a_start_of_what_was_given_back_is_found(ledger, path):
    ledger.cancel(ledger.reserve(charge()).id, "nothing ran")
    appended(path, "start", {}, account="", entry=1)
    ledger.verify()
    fault, _ = ledger.read().approvals.faults()  # the other one: its time runs backwards
    assert fault.text == (
        "record 3 is a 'start' of entry 1, which was cancelled before: no command writes that"
    )
    assert states(ledger) == ["cancelled"]


def test_what_was_not_recorded_was_not_seen(path, tmp_path):
    witness = Witness(tmp_path / "head")
    with Ledger.open(path, TRUST, witness=witness) as ledger:
        ledger.reserve(charge(), limit())
        refusal(BudgetExceeded, ledger.reserve, charge("2"), limit("0.9"))
        assert witness.seen() == ledger.verify() == head(ledger.read().chain.records[:2])


# Nothing is charged on what is not to be trusted.


def test_nothing_is_charged_after_a_last_record_that_does_not_hold(story, vandal):
    vandal(("update records set payload = '{}' where seq = 7",))
    for act in (lambda: story.reserve(charge()), lambda: story.start(2), lambda: story.keep(2, "")):
        assert "broken at record 7: its content was changed" in refusal(LedgerError, act)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("update records set payload = '{}' where seq = 6", "record 6: its content was changed"),
        ("update records set account = 'hidden' where seq = 6", "record 6: its content was"),
        ("delete from records where seq = 6", "record 6: record 6 is missing, the next one is 7"),
    ],
)
def test_nothing_is_charged_on_a_ledger_whose_records_do_not_hold(story, path, statement, said):
    story.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute("select name, sql from sqlite_schema where type = 'trigger'")
        triggers = triggers.fetchall()
        for name, _ in triggers:
            connection.execute(f"drop trigger {name}")
        connection.execute(statement)
        for _, made in triggers:
            connection.execute(made)
    with Ledger.open(path, TRUST) as ledger:
        for act in (
            ledger.read,
            lambda: ledger.reserve(charge()),
            lambda: ledger.reserve(charge("0.1", "other")),
            lambda: ledger.cancel(2, "nothing ran"),
        ):
            assert f"broken at {said}" in refusal(LedgerError, act)


def test_whoever_has_no_key_reads(story, path):
    with Ledger.open(path, Trust(TRUST.by_id), create=False) as reader:
        assert reader.verify() == story.verify()
        assert refusal(LedgerError, reader.reserve, charge()) == (
            "the ledger was opened without a signing key: it can only be read"
        )
    assert story.verify().records == 7


def appended(path, kind, payload, account="census", entry=0):
    """What a version with a fault would write: signed as it must be, and wrong."""
    with closing(open_records(path)) as records, records.writing():
        last = records.read()[-1]
        places = json.loads(last.payload)["accounts"]
        if account:
            places[account] = last.seq + 1
        told = {"at": AT.isoformat(), "accounts": places, **payload}
        records.append(extend(head((last,)), Draft(kind, told, account, entry), OURS))


def wrong_state(ledger, number):
    said = refusal(LedgerError, ledger.verify)
    assert f": the running state of account 'census' in record {number} is not what the" in said
    assert said.endswith(" records before it amount to; compare the ledger with a backup")


def test_a_state_that_forgets_a_charge_is_found(story, path):
    payload = {**reserve_payload(charge("0.3")), "at": AT.isoformat()}
    appended(path, "reserve", {**payload, "state": story.read().budget.account("census").to_json()})
    wrong_state(story, 8)


def test_a_limit_that_forgets_a_charge_is_found(story, path):
    appended(path, "limit", {"state": Account("census", limit=limit("9")).to_json()})
    wrong_state(story, 8)


@pytest.mark.parametrize(
    ("kind", "entry"), [("start", 2), ("start", 7), ("cancel", 7)], ids=["own", "other", "cancel"]
)
def test_a_charge_that_is_given_back_by_any_other_record_is_found(story, path, kind, entry):
    state = story.read().budget.account("census").minus(charge()).to_json()
    appended(path, kind, {"state": state}, entry=entry)
    wrong_state(story, 8)


def test_a_state_that_this_version_does_not_know_is_told(story, path):
    appended(path, "limit", {"state": {}})
    said = refusal(LedgerError, story.verify)
    assert "the state of account 'census' in record 8 cannot be read by this version" in said


@pytest.mark.parametrize(
    "places", [{}, {"census": 6}, {"census": 5, "other": 7}, {"census": 6, "other": 7, "third": 7}]
)
def test_a_record_that_does_not_name_the_last_ones_is_found(story, path, places):
    appended(path, "start", {"accounts": places}, account="", entry=2)
    found(story, 8, "it does not name the last record of each account")


@pytest.mark.parametrize("places", [None, 7, "none", [1]])
def test_a_record_that_names_none_cannot_be_read(story, path, places):
    appended(path, "start", {"accounts": places}, account="", entry=2)
    for act in (
        story.verify,
        lambda: story.read().budget.balance("census"),
        lambda: story.reserve(charge()),
    ):
        said = refusal(LedgerError, act)
        assert "record 8, of kind 'start', cannot be read by this version" in said


def test_a_record_of_another_kind_is_told(story, path):
    appended(path, "refund", {}, account="")
    said = refusal(LedgerError, story.verify)
    assert "record 8, of kind 'refund', cannot be read by this version" in said


# Whatever crashes.


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

    def get(self, seq):
        return self.durable[seq - 1] if 0 < seq <= len(self.durable) else None

    def since(self, seq):
        self._step("read")
        return tuple(self.durable[seq - 1 :])

    def check(self):
        pass

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


def test_a_ledger_closes_its_records():
    records = MemoryRecords()
    with Ledger(records, TRUST) as ledger:
        ledger.read().budget.entries()
    assert records.durable is None


STEPS = st.sampled_from([None, "read", "append", "before the commit", "after the commit"])
ACTS = st.sampled_from(["reserve", "start", "release"])


def charged(ledger):
    return sum(entry.state != "cancelled" for entry in ledger.read().budget.entries())


@settings(deadline=None)
@given(st.lists(st.tuples(ACTS, STEPS), max_size=15))
def test_whatever_crashes_all_that_ran_is_charged_and_only_what_never_ran_is_given_back(acts):
    records = MemoryRecords()
    ledger = Ledger(records, TRUST, lambda: AT)
    ran = 0
    for act, crash_at in acts:
        records.crash_at = crash_at
        try:
            entry = ledger.reserve(charge("0.25"), limit("100"))
            if act != "reserve":
                ledger.start(entry.id)
                ran += 1
            if act == "release":
                assert ledger.draw(entry.id, "d")
                ledger.commit(entry.id, **DONE)
        except Crash:
            pass
        records.crash_at = None
        assert ran <= charged(ledger) == ledger.read().budget.account("census").charges
    for entry in ledger.read().budget.entries():
        if entry.state == "reserved":
            ledger.cancel(entry.id, "nothing ran")
    assert ran <= charged(ledger) == ledger.read().budget.account("census").charges
    ledger.verify()


@pytest.mark.parametrize("step", ["read", "append", "before the commit"])
@pytest.mark.parametrize("act", ["commit", "keep"])
def test_a_crash_while_an_entry_is_settled_leaves_it_as_it_was(step, act):
    records = MemoryRecords()
    ledger = Ledger(records, TRUST)
    ledger.start(ledger.reserve(charge()).id)
    records.crash_at = step
    with pytest.raises(Crash):
        settle(ledger, [act])
    records.crash_at = None
    assert states(ledger) == ["started"]
    settle(ledger, [act])


# Whoever has a stolen key states any time.

LATER = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = {OURS.key_id: OURS.public_key, THEIRS.key_id: THEIRS.public_key}


def stolen(path, clock=AT):
    """The ledger of an owner whose old key is revoked at its third record, noted in the ring."""
    with Ledger(open_records(path), Trust(KEYS, THEIRS), lambda: clock) as ledger:
        ledger.set_limit("census", limit(), who="Ada", why="x")
        ledger.start(ledger.reserve(charge()).id)
        with ledger.at_rest() as end:
            return end


def owned(path, *ends, revoked=LATER):
    revoked, noted = {THEIRS.key_id: revoked}, {THEIRS.key_id: ends} if ends else {}
    return Ledger(open_records(path), Trust(KEYS, OURS, revoked, noted), lambda: LATER)


def dated_back(path):
    with Ledger(open_records(path), Trust(KEYS, THEIRS), lambda: AT) as thief:
        thief.set_limit("census", limit("900"), who="Eve", why="x")


def test_a_revoked_key_writes_no_more_by_dating_its_records_back(path):
    end = stolen(path)
    assert end.records == 3
    with owned(path, end) as ledger:
        assert ledger.verify().records == 3
    dated_back(path)
    with owned(path) as ledger:
        assert ledger.verify().records == 4  # as a ring says that noted no end
    for act in (
        Ledger.verify,
        lambda found: found.read().check(),
        lambda found: found.reserve(charge()),
    ):
        with owned(path, end) as ledger:
            said = refusal(LedgerError, act, ledger)
            assert f"broken at record 4: the key {THEIRS.key_id[:8]}" in said
            assert "that signed it was revoked when the ledger ended at record 3" in said


def test_nor_by_writing_the_ledger_anew_from_a_record_before(path, tmp_path):
    end = stolen(path)
    whole = open_records(path).read()
    other = tmp_path / "other.db"
    records = open_records(other)
    with records.writing():
        records.append(whole[0])
    records.close()
    with Ledger(open_records(other), Trust(KEYS, THEIRS), lambda: AT) as thief:
        thief.set_limit("census", limit("900"), who="Eve", why="x")
        thief.start(thief.reserve(charge()).id)
    with owned(other, end) as ledger:
        said = refusal(LedgerError, ledger.verify)
    assert "broken at record 1: the key" in said and "ended at record 3" in said


def test_the_noted_end_of_one_ledger_says_nothing_of_another(path, tmp_path):
    end = stolen(path)
    stolen(tmp_path / "other.db", datetime(2025, 6, 1, tzinfo=UTC))
    with owned(tmp_path / "other.db", end) as ledger:
        assert ledger.verify().records == 3
    with owned(tmp_path / "other.db", end, revoked=AT) as ledger:
        assert "that signed it is revoked" in refusal(LedgerError, ledger.verify)


def test_a_key_that_is_revoked_while_its_ledger_is_open_signs_nothing_more(path):
    trusts: list[Trust] = []
    first = Trust(KEYS, OURS, renewed=lambda: trusts[-1])
    trusts.append(first)
    with Ledger(open_records(path), first) as ledger:
        entry = ledger.reserve(charge())
        with ledger.at_rest() as end:
            ends = {OURS.key_id: (end,)}
            trusts.append(Trust(KEYS, OURS, {OURS.key_id: LATER}, ends, first.renewed))
        said = refusal(LedgerError, ledger.start, entry.id)
        assert said.endswith("was revoked meanwhile, and nothing more is recorded under it")
        assert kinds(ledger) == ["reserve"]


def test_an_empty_ledger_ends_nowhere(ledger):
    with ledger.at_rest() as end:
        assert end is None


# Time runs forwards.


def memory(chain):
    found = MemoryRecords()
    found.durable = list(chain)
    return found


def times(path):
    return [json.loads(record.payload)["at"] for record in open_records(path).read()]


def test_a_clock_that_is_behind_writes_the_last_time_again(path):
    for clock in (LATER, AT, LATER.replace(year=2027)):
        with Ledger(open_records(path), TRUST, lambda now=clock: now) as ledger:
            ledger.set_limit("census", limit(), who="Ada", why="x")
            ledger.verify()
    assert times(path) == [f"{year}-01-01T00:00:00+00:00" for year in (2026, 2026, 2027)]


@pytest.mark.parametrize("at", ["2025-01-01T00:00:00+00:00", None, "2026-01-01T00:00:00"])
def test_a_record_that_says_it_is_older_than_the_one_before_is_found(path, at):
    with Ledger(open_records(path), TRUST, lambda: LATER) as ledger:
        ledger.set_limit("census", limit(), who="Ada", why="x")
        ledger.set_limit("census", limit("2"), who="Ada", why="x")
    one, two = open_records(path).read()
    payload = {**json.loads(two.payload), "at": at}
    forged = extend(head((one,)), Draft(two.kind, payload, two.account), OURS)
    copied = memory((one, forged))
    [fault] = Ledger(copied, TRUST).read().approvals.faults()
    assert fault.text == (
        "record 2 says it is from before the record in front of it, and time runs forwards"
    )


def test_the_records_of_older_versions_are_as_each_clock_was(path):
    with Ledger(open_records(path), TRUST, lambda: LATER) as ledger:
        ledger.set_limit("census", limit(), who="Ada", why="x")
        ledger.set_limit("census", limit("2"), who="Ada", why="x")
    chain, end = [], head(())
    for record, at in zip(open_records(path).read(), (LATER, AT), strict=True):
        payload = {**json.loads(record.payload), "at": at.isoformat()}
        del payload["ordered"]
        chain.append(extend(end, Draft(record.kind, payload, record.account), OURS))
        end = head(chain)
    assert Ledger(memory(chain), TRUST).verify().records == 2
