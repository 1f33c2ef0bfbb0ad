"""Charges and the entries that records amount to."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.events import ApproximateDP, PureDP, SampledSuppression
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import DomainError, LedgerError
from policy_engine.ledger.chain import Draft, extend, head
from policy_engine.ledger.entry import (
    Charge,
    Run,
    check_amount,
    entries_of,
    faults_of,
    follows,
    reserve_payload,
)

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
AT = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2025, 1, 2, 3, 4, 6, tzinfo=UTC)
EVENT = SampledSuppression(20, "0.1")
GOOD = {
    "account": "census",
    "epsilon": Decimal("0.50"),
    "delta": Decimal("1.0e-9"),
    "neighbours": "add_remove",
    "policy_name": "adult",
    "policy_digest": "p",
    "certificate_digest": "c",
}
CHARGE = Charge(**GOOD, event=EVENT, part=("by", "one"), request="ab", run=Run("cd"))
RESERVE = {**reserve_payload(CHARGE), "at": AT.isoformat()}
SETTLED = {"at": LATER.isoformat()}
COMMIT = {**SETTLED, "release_name": "a.parquet", "release_digest": "d"}


def reserve(payload=RESERVE, account="census", request="ab"):
    return Draft("reserve", payload, account, request=request)


def settle(kind, entry=1, payload=COMMIT):
    return Draft(kind, payload, entry=entry)


def records(*drafts):
    chain = []
    for draft in drafts:
        chain.append(extend(head(chain), draft, SIGNER))
    return chain


def again(*, sealed: str) -> Draft:
    """A second attempt, under a secret of its own."""
    return settle("start", payload={**COMMIT, "sealed": {"key": sealed}})


def entry_after(*kinds):
    [entry] = entries_of(records(reserve(), *map(settle, kinds)), "ledger.db")
    return entry


def unreadable(*drafts):
    with pytest.raises(LedgerError) as caught:
        entries_of(records(*drafts), "ledger.db")
    number, kind = len(drafts), drafts[-1].kind
    assert str(caught.value) == (
        f"ledger.db: record {number}, of kind {kind!r}, cannot be read by this version of "
        "policy-engine; use the version that wrote it, or a newer one"
    )


def impossible(why, *drafts):
    [fault] = faults_of(records(*drafts), "ledger.db")
    number, last = len(drafts), drafts[-1]
    assert fault.text == (
        f"record {number} is a {last.kind!r} of entry {last.entry}, {why}: no command writes that"
    )
    # It counts for nothing.
    before = entries_of(records(*drafts[:-1]), "")
    assert [each.state for each in entries_of(records(*drafts), "")] == [e.state for e in before]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"account": ""}, "account must be a name, found an empty text"),
        ({"neighbours": "swap"}, "neighbours must be add_remove or replace_one, found swap"),
        ({"epsilon": 0.5}, "epsilon must be a Decimal, found float"),
        ({"epsilon": 1}, "epsilon must be a Decimal, found int"),
        ({"epsilon": Decimal("-0.1")}, "epsilon must be from 0 to 1000000000, found -0.1"),
        ({"epsilon": Decimal("1000000000.1")}, "epsilon must be from 0 to 1000000000, found 10"),
        ({"epsilon": Decimal("NaN")}, "epsilon must be from 0 to 1000000000, found NaN"),
        ({"epsilon": Decimal("sNaN")}, "epsilon must be from 0 to 1000000000, found sNaN"),
        ({"epsilon": Decimal("Infinity")}, "epsilon must be from 0 to 1000000000, found Inf"),
        ({"delta": Decimal("1.1")}, "delta must be from 0 to 1, found 1.1"),
        ({"delta": Decimal("-1e-9")}, "delta must be from 0 to 1, found -1E-9"),
        ({"delta": 1e-9}, "delta must be a Decimal, found float"),
        (
            {"delta": Decimal("1e-1001")},
            "delta must be written with at most 1000 decimal places, found more",
        ),
    ],
)
def test_a_charge_outside_its_domain_is_refused(change, message):
    with pytest.raises(DomainError) as caught:
        Charge(**{**GOOD, **change})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": Decimal(0)},
        {"epsilon": Decimal(10) ** 9},
        {"delta": Decimal(0)},
        {"delta": Decimal(1)},
        {"delta": Decimal("1e-1000")},
        {"neighbours": "replace_one"},
    ],
)
def test_the_ends_of_the_domain_belong_to_it(change):
    Charge(**{**GOOD, **change})


def test_an_amount_is_checked_against_its_own_most():
    check_amount("epsilon", Decimal("0.5"), Decimal("0.5"))
    with pytest.raises(DomainError, match=r"^epsilon must be from 0 to 0\.5, found 0\.6$"):
        check_amount("epsilon", Decimal("0.6"), Decimal("0.5"))


def test_a_charge_is_priced_by_its_event():
    asked = CHARGE.asked
    assert (asked.event, asked.epsilon, asked.delta, asked.part) == (
        EVENT,
        Decimal("0.50"),
        Decimal("1.0e-9"),
        ("by", "one"),
    )


@pytest.mark.parametrize(
    ("delta", "event"),
    [
        (Decimal("1e-9"), ApproximateDP(Decimal("0.50"), Decimal("1e-9"))),
        (Decimal(0), PureDP(Decimal("0.50"))),
    ],
)
def test_a_charge_without_an_event_is_priced_by_its_certificate(delta, event):
    assert Charge(**{**GOOD, "delta": delta}).asked.event == event


def test_a_reserve_record_makes_an_entry():
    [record] = chain = records(reserve())
    [entry] = entries_of(chain, "x")
    names = ("account", "neighbours", "policy_name", "policy_digest", "certificate_digest")
    assert vars(entry) == {
        **{name: GOOD[name] for name in names},
        "asked": CHARGE.asked,
        "request": "ab",
        "run": Run("cd"),
        "id": 1,
        "state": "reserved",
        "reserved_at": AT,
        "reviews": (),
        "attempts": 0,
        "windows": ("",),
        "planned": False,
        "committed_at": None,
        "release_name": None,
        "release_digest": None,
        "drawn_digest": None,
        "previous_hash": record.previous_hash,
        "hash": record.hash,
    }
    assert str(entry.epsilon) == "0.50"
    assert '"delta":"1.0E-9"' in record.payload
    assert entry.asked == CHARGE.asked


def test_charges_and_entries_are_frozen():
    for value in (CHARGE, entry_after()):
        with pytest.raises(FrozenInstanceError):
            value.epsilon = Decimal(0)


# Which kind of record may follow in which state, and what the entry is then.
STEPS = [
    ((), "start", "started"),
    ((), "commit", None),
    ((), "cancel", "cancelled"),
    ((), "keep", None),
    (("start",), "commit", "committed"),
    (("start",), "cancel", None),
    (("start",), "keep", "kept"),
    (("start", "commit"), "start", None),
    (("start", "commit"), "commit", None),
    (("start", "commit"), "cancel", None),
    (("start", "commit"), "keep", None),
    (("start", "keep"), "commit", "committed"),
    (("start", "keep"), "cancel", None),
    (("start", "keep"), "keep", None),
    (("cancel",), "start", None),
    (("cancel",), "commit", None),
    (("cancel",), "cancel", None),
    (("cancel",), "keep", None),
    ((), "draw", None),
    (("start",), "draw", "started"),
    (("start", "draw"), "commit", "committed"),
    (("start", "draw"), "keep", "kept"),
    (("start", "draw"), "cancel", None),
    (("start", "keep"), "draw", "kept"),
    (("start", "commit"), "draw", None),
    (("cancel",), "draw", None),
]


@pytest.mark.parametrize(("before", "kind", "state"), STEPS)
def test_an_entry_goes_from_state_to_state_and_no_other_way(before, kind, state):
    assert follows(kind, entry_after(*before).state) == (state is not None)
    if state is None:
        was = entry_after(*before).state
        impossible(f"which was {was} before", reserve(), *map(settle, before), settle(kind))
    else:
        assert entry_after(*before, kind).state == state


def test_an_entry_is_open_until_somebody_says_what_became_of_it():
    ways = [(), ("start",), ("cancel",), ("start", "keep"), ("start", "commit")]
    assert [entry_after(*way).is_open for way in ways] == [True, True, False, False, False]


def test_a_second_attempt_strikes_out_the_secret_of_the_first():
    [entry] = entries_of(records(reserve(), settle("start"), again(sealed="new")), "x")
    assert (entry.state, entry.attempts, entry.can_draw) == ("started", 2, False)
    assert entry.run.sealed == {"key": "new"}


def test_what_was_kept_may_be_drawn_once_more():
    [entry] = entries_of(records(reserve(), settle("start"), settle("keep")), "x")
    assert entry.can_draw
    [entry] = entries_of(
        records(reserve(), settle("start"), settle("keep"), again(sealed="new")), "x"
    )
    assert (entry.state, entry.attempts) == ("started", 2)


def test_an_attempt_that_lapsed_does_not_count():
    chain = [reserve(), settle("start"), settle("lapse"), again(sealed="a"), again(sealed="b")]
    [entry] = entries_of(records(*chain), "x")
    assert (entry.attempts, entry.run.sealed) == (2, {"key": "b"})


@pytest.mark.parametrize(
    ("chain", "fault"),
    [
        (
            ("start", again(sealed="a"), again(sealed="b")),
            "which was drawn, or had all its attempts, before",
        ),
        (("start", "draw", again(sealed="a")), "which was drawn, or had all its attempts, before"),
        (
            ("start", again(sealed="a"), "lapse", again(sealed="a")),
            "under a secret that was used before",
        ),
        (("start", "start"), "under a secret that was used before"),
        (("start", "draw", "lapse"), "of which no attempt is under way"),
        (("start", "lapse", "lapse"), "of which no attempt is under way"),
    ],
)
def test_no_release_draws_a_third_time_or_under_one_secret(chain, fault):
    steps = (settle(step) if isinstance(step, str) else step for step in chain)
    impossible(fault, reserve(), *steps)


def test_a_record_settles_its_own_entry_only():
    chain = records(reserve(), reserve(), settle("start"), settle("commit"), reserve())
    first, second, third = entries_of(chain, "x")
    assert (first.id, second.id, third.id) == (1, 2, 5)
    assert (first.state, second.state, third.state) == ("committed", "reserved", "reserved")
    assert (first.reserved_at, first.hash) == (AT, chain[0].hash)


def test_a_limit_is_no_entry_and_settles_none():
    limit = Draft("limit", {**SETTLED, "epsilon": "1", "delta": "0"}, "census")
    [entry] = entries_of(records(limit, reserve(), limit), "x")
    assert (entry.id, entry.state) == (2, "reserved")


@pytest.mark.parametrize(
    "draft",
    [
        Draft("refund", RESERVE),
        Draft("refund", COMMIT, entry=1),
        Draft("", {}),
        *(
            reserve({n: v for n, v in RESERVE.items() if n != name})
            for name in RESERVE
            if name not in {"source", "units", "public"}
        ),
        reserve({**RESERVE, "asked": {**RESERVE["asked"], "epsilon": "much"}}),
        reserve({**RESERVE, "asked": {**RESERVE["asked"], "epsilon": "-1"}}),
        reserve({**RESERVE, "asked": {**RESERVE["asked"], "epsilon": None}}),
        reserve({**RESERVE, "asked": {**RESERVE["asked"], "event": {"mechanism": "magic"}}}),
        reserve({**RESERVE, "asked": "much"}),
        reserve({**RESERVE, "neighbours": "swap"}),
        reserve({**RESERVE, "at": "today"}),
        reserve(account="other"),
        reserve(request="other"),
        settle("start", payload={}),
        settle("cancel", payload={"at": 1}),
    ],
    ids=str,
)
def test_a_record_that_cannot_be_read_is_never_skipped(draft):
    unreadable(reserve(), draft)


@pytest.mark.parametrize("entry", [0, 2, 3])
def test_nothing_becomes_of_an_entry_that_there_is_not(entry):
    impossible("which there is not", reserve(), settle("start", entry=entry))


@pytest.mark.parametrize("way", [("start", "draw"), ("start", "keep", "draw")])
def test_what_was_drawn_is_the_only_release_of_an_entry(way):
    entry = entry_after(*way)
    assert (entry.drawn_digest, entry.release_digest, entry.only_digest) == ("d", None, "d")
    assert entry.may_be("d") and not entry.may_be("e")
    other = {**COMMIT, "release_digest": "e"}
    for kind in ("draw", "commit"):
        impossible(
            "of which other bytes were drawn before",
            reserve(), *map(settle, way), settle(kind, payload=other),
        )  # fmt: skip


def test_before_anything_was_drawn_any_release_can_be_the_entrys():
    assert entry_after("start").only_digest is None
    assert entry_after("start").may_be("d")
    assert entry_after("start", "commit").only_digest == "d"


@pytest.mark.parametrize("name", COMMIT)
def test_a_commit_that_does_not_say_what_and_when_cannot_be_read(name):
    payload = {key: value for key, value in COMMIT.items() if key != name}
    unreadable(reserve(), settle("start"), settle("commit", payload=payload))
