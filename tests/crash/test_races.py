"""Of many who want the last of a budget just those get it that it pays for."""

import os

import pytest

RACES = int(os.environ.get("CRASH_RACES", "2"))


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_fifty_reserve_and_five_are_paid_time_and_again(experiment, request, store):
    place = request.getfixturevalue("postgres").empty() if store == "postgresql" else ""
    found = experiment("reserves", place, "0.1", "0", RACES)
    assert found == [[5, 45, [], 5]] * RACES


@pytest.mark.evidence
def test_fifty_release_and_five_are_published(experiment):
    found = experiment("releases")
    refused = [answer for answer in found["answers"] if "raised" in answer]
    assert len(refused) == 45
    # On a busy machine one of fifty may wait for the lock longer than a release has patience.
    assert all(answer["raised"] == "BudgetExceeded" or "held the lock" in answer["message"]
               for answer in refused)  # fmt: skip
    assert [answer.get("raised") is None for answer in found["answers"]] == found["standing"]
    assert found["ledger"] == {"charges": 5, "states": ["committed"] * 5}
    assert found["hidden"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("case", "times"), [("file", RACES), ("table", RACES)])
def test_a_release_that_is_run_twice_at_once_is_one_at_one_price(experiment, case, times):
    found = experiment("twins", case, times)
    for twins in found:
        released = [answer for answer in twins["answers"] if "raised" not in answer]
        refused = [answer for answer in twins["answers"] if "raised" in answer]
        assert released
        assert all("could not be written" in e["message"] or "locked" in e["message"]
                   for e in refused)  # fmt: skip
        seen = twins["seen"]
        assert list(seen["entries"].values()) == ["committed"]
        assert (seen["charges"], seen["certified"], seen["aside"]) == (1, True, [])
