"""Whenever a release is killed: it is charged, it stands whole or not at all, and can be settled.

Here a part of the kills; ``make kills`` does them all. CRASH_KILLS and CRASH_EVERY say how many.
What is asked after each is in ``crash_kills``, and docs/explanation/how-we-tested.md.
"""

import os

import pytest

KILLS = os.environ.get("CRASH_KILLS", "4")
EVERY = os.environ.get("CRASH_EVERY", "20")
SEED = os.environ.get("CRASH_SEED", "0")


def no_faults(found):
    faults = [fault for tally in found.values() for fault in tally["faults"]]
    print({name: (tally["kills"], tally["found"]) for name, tally in found.items()})
    assert faults == []
    for tally in found.values():
        assert set(tally["counts"].values()) == {0}


@pytest.mark.slow
def test_kills_at_random_moments(kill_test):
    found = kill_test("random", "--kills", KILLS, "--seed", SEED, "--workers", "1")
    assert sum(tally["kills"] for tally in found.values()) == int(KILLS)
    assert list(found) == ["file", "file-replace", "table", "table-replace"]
    no_faults(found)
    # The kills came at different times: before anything was charged, and after. A few may not.
    if int(KILLS) < 40:
        return
    states = [state for tally in found.values() for state in tally["found"]]
    assert any("+0 charged" in state for state in states)
    assert any("+1 charged" in state for state in states)


@pytest.mark.evidence
def test_kills_at_lines(kill_test):
    found = kill_test("lines", "--every", EVERY, "--seed", SEED, "--workers", "1")
    assert len(found) == 6
    no_faults(found)
