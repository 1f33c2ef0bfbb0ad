"""Thrift's compact protocol: what is read, and what is refused."""

from __future__ import annotations

import pytest

from policy_engine.attest.thrift import Malformed, ThriftReader


def test_every_type_that_parquet_uses():
    head, last = [0x1C, 0x15, 2, 0], [0x19, 0x21, 1, 2, 0]
    data = bytes(
        [
            0x11,
            0x12,
            0x13,
            7,
            0x14,
            3,
            0x15,
            4,
            0x16,
            0x80,
            1,
            0x18,
            1,
            65,
            0x19,
            0x25,
            2,
            4,
            *head,
            *last,
        ]
    )
    reader = ThriftReader(data)
    assert reader.struct() == {
        1: True, 2: False, 3: 7, 4: -2, 5: 2, 6: 64, 7: b"A", 8: [1, 2], 9: {1: 1}, 10: [1, 2]
    }  # fmt: skip
    assert reader.place == len(data)


def test_a_field_that_states_its_number():
    assert ThriftReader(bytes([0x05, 0x28, 2, 0])).struct() == {20: 1}


def test_a_long_list():
    assert ThriftReader(bytes([0x19, 0xF3, 16, *range(16), 0])).struct() == {1: list(range(16))}


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        ("it ends too early", [0x15]),
        ("it ends too early", []),
        ("it ends too early", [0x18, 5, 65]),
        ("a field stands twice", [0x15, 2, 0x05, 2, 2, 0]),
        ("a field of a type that Parquet does not use", [0x17, *range(9)]),
        ("a field of a type that Parquet does not use", [0x1B, 0]),
        ("a list is longer than the file", [0x19, 0xF5, 100, 0]),
        ("a number is too long", [0x15, *[0xFF] * 11]),
        ("its metadata is nested too deeply", [0x1C] * 30),
        ("its metadata is nested too deeply", [0x19, *[0x19] * 30]),
    ],
)
def test_what_is_refused(reason, data):
    with pytest.raises(Malformed, match=f"^{reason}$"):
        ThriftReader(bytes(data)).struct()
