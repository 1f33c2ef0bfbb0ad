"""The example of Sweeney's paper (2002, figures 2 and 3): its k-minimal tables and precisions."""

from __future__ import annotations

import re

import lattice_picture
import pytest
from lattice_picture import LATTICE, PEOPLE

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


def test_the_picture_of_the_lattice_is_what_the_script_draws():
    drawn = lattice_picture.PICTURE.read_text("utf-8")
    assert drawn == lattice_picture.picture()
    # The schemes of figure 2 of the paper, and a line for each step from one to the next coarser.
    assert len(re.findall(r">race \d, zip \d<", drawn)) == 12
    assert drawn.count("<line ") == 2 * 4 + 3 * 3
    # The legend has one of each kind.
    assert drawn.count('stroke-width="4"') == 1 + 2
    assert drawn.count("stroke-dasharray") == 1 + 1
    page = (lattice_picture.ROOT / "docs/howto/choose-a-recoding.md").read_text("utf-8")
    assert page.count(f"](../_static/{lattice_picture.PICTURE.name})") == 1
