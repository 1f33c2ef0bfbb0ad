"""A bounded run of the fuzz targets: the same texts for the same ``SEED``.

Every oracle but time, which tests do not measure; ``python tests/fuzz/run.py`` has them all and
runs for as long as one likes.
"""

import os
from collections import Counter

import pytest
from fuzz_check import check
from fuzz_policy import check_policy_text, policy_of
from fuzz_texts import text_of

SEED = int(os.environ.get("SEED") or 0)
PARTS = 4
TEXTS = 300
POLICIES = 250


@pytest.mark.evidence
@pytest.mark.parametrize("part", range(PARTS))
def test_check(part):
    total = Counter()
    for number in range(part * TEXTS, (part + 1) * TEXTS):
        text = text_of(number, SEED)
        outcome = check(text, number)
        assert outcome.failures == [], f"text {number} of seed {SEED}:\n{text}"
        total.update(accepted=outcome.accepted, checked=outcome.checked)
    # A run that accepts nothing, or runs nothing of what it accepts, tests nothing.
    assert total["accepted"] >= TEXTS / 10
    assert total["checked"] >= TEXTS / 20


@pytest.mark.evidence
def test_policies():
    loaded = 0
    for number in range(POLICIES):
        path, text = policy_of(number, SEED)
        outcome = check_policy_text(path, text)
        assert outcome.failures == [], f"policy {number} of seed {SEED}:\n{text}"
        loaded += outcome.accepted
    assert 0 < loaded < POLICIES
