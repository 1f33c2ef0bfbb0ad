"""The tree of a file: positions, and what must never happen."""

from __future__ import annotations

import pytest

from policy_engine.errors import InternalError
from policy_engine.policy.laws import Document
from policy_engine.policy.reading import HalfRead
from policy_engine.policy.tree import read_tree


def test_positions_of_values_and_keys():
    root, problems = read_tree("a:\n  - x\n  - {k: v}\nb: |\n  text\n", "f")
    assert problems == ()
    assert root is not None
    assert root.locate(("a", 1, "k")) == (3, 9)
    assert root.locate(("a", 1, "k"), key=True) == (3, 6)
    assert root.locate(("a", 7)) == (1, 1)  # no such item: the list's key
    assert root.locate(("b", "c")) == (4, 1)  # a text has no keys: its own
    assert root.locate(("c",)) == (1, 1)
    assert root.data() == {"a": ["x", {"k": "v"}], "b": "text\n"}


def test_a_letter_beyond_the_basic_plane_counts_once():
    root, _ = read_tree("a: [😀, b]", "f")
    assert root is not None
    assert root.locate(("a", 1)) == (1, 8)


def test_a_document_without_problems_must_be_there():
    root, _ = read_tree("a: 1", "f")
    assert root is not None
    with pytest.raises(InternalError, match="a file without problems has no document"):
        HalfRead[Document]("f", "policy", root).result()


def test_every_field_has_a_law_of_its_own():
    class Lawless(Document):
        number: int

    with pytest.raises(InternalError, match="a field without a law of its own: int_parsing"):
        Lawless.model_validate({"number": "x"})
