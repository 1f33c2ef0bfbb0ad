"""The example of Sweeney's paper (2002, figures 2 and 3): its k-minimal tables and precisions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from policy_engine.choose.lattice import Histogram, Ladder, Lattice
from policy_engine.choose.searching import (
    Anonymity,
    SchemeSearch,
    datafly,
    incognito,
    k_minimal,
    mondrian,
    optimal,
    samarati,
)

RACES = Ladder.of("race", [("Black", "person"), ("White", "person")])
ZIPS = Ladder.of("zip", [(z, z[:4], z[:3]) for z in ("02138", "02139", "02141", "02142")])
LATTICE = Lattice.of([RACES, ZIPS])
PEOPLE = Histogram(np.array([*product(range(2), range(4))]), np.ones(8, dtype=np.int64))


@pytest.mark.parametrize(
    ("scheme", "precision"), [((1, 0), 0.75), ((1, 1), 0.58), ((0, 2), 0.67), ((0, 1), 0.83)]
)
def test_the_precisions_are_those_of_the_paper(scheme, precision):
    assert round(float(LATTICE.precision(scheme)), 2) == precision


def test_the_k_minimal_tables_are_those_of_the_paper():
    def search() -> SchemeSearch:
        return SchemeSearch(PEOPLE, LATTICE, Anonymity(2))

    both = {(1, 0), (0, 1)}
    assert {*k_minimal(search())} == {*incognito(search())} == {*samarati(search())} == both
    assert optimal(search()) == (0, 1) == datafly(search())
    assert mondrian(PEOPLE, LATTICE, 2).tolist() == [2, 2, 2, 2]
