"""The comparison of a hash with a noise table, alone: at every entry, one below and one above."""

from __future__ import annotations

import pytest
from running import NAMES

from policy_engine.engines import ENGINES
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import IntegerTable, Noisy
from policy_engine.kernel.nodes import Identifier
from policy_engine.kernel.printing import environment
from policy_engine.kernel.recodes import Constant
from policy_engine.kernel.sources import Relation, Rows

SHORT = (1, 0x0FFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFF, 0xA00000000000000, (1 << 60) - 2)
LONG = tuple(range(1 << 54, 1 << 60, (1 << 60) // 100))
LAWS = tuple(
    Noisy(IntegerTable(entries, 3 if is_open else least, is_open), 3)
    for entries, least in ((SHORT, -2), (LONG, -50))
    for is_open in (False, True)
)


def hashes(law: Noisy) -> list[int]:
    near = {entry + step for entry in law.table.entries for step in (-1, 0, 1)}
    return sorted(near | {0, (1 << 60) - 1})


def drawn(law: Noisy, bits: int) -> int | None:
    """Z, or T: by the definition."""
    above = sum(entry <= bits for entry in law.table.entries)
    return (
        None if law.table.is_open and above == len(law.table.entries) else law.table.least + above
    )


def noise(law: Noisy, engine: str) -> str:
    """What a text draws from a noise table by a hash in ``policy_engine_hash``."""
    nodes = law.nodes()
    made = environment(engine).get_template("mechanisms/noise.sql.j2").module
    hashed = Identifier("policy_engine_hash")
    return str(made.drawn(hashed, nodes["table"]))


def hash_of(engine: str, bits: int, tail: str) -> str:
    """A hash of these first 60 bits, as the engine has it."""
    digits = f"{bits:015x}" + tail * 49
    return f"DECODE('{digits}', 'hex')" if engine == "postgres" else f"'{digits}'"


def text_of(law: Noisy, engine: str, wanted: tuple[tuple[int, str], ...]) -> str:
    """What is drawn of each hash, in their order."""
    lines = " UNION ALL ".join(
        f"SELECT {number} AS number, {hash_of(engine, bits, tail)} AS policy_engine_hash"
        for number, (bits, tail) in enumerate(wanted)
    )
    return f"SELECT number, {noise(law, engine)} AS z FROM ({lines}) AS hashes ORDER BY number"


def batched(values: list, size: int) -> list[tuple]:
    return [tuple(values[first : first + size]) for first in range(0, len(values), size)]


@pytest.mark.parametrize("name", NAMES)
def test_each_entry_divides_the_hashes_at_its_bits(place_of, name):
    place = place_of(name)
    place.load([])
    everybody = (Shown("everybody", None, Constant("*")),)
    with place.opened() as warehouse:
        for law in LAWS:
            claim = Claim(Relation(place.source), Rows(), law, everybody)
            for wanted in batched([(bits, tail) for bits in hashes(law) for tail in "0f"], 100):
                text = text_of(law, name, wanted)
                found = place.table(warehouse, claim, text)["z"].to_pylist()
                assert found == [drawn(law, bits) for bits, _ in wanted]


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_has_a_form_of_it(name):
    assert noise(LAWS[0], name).count("WHEN") == len(SHORT) + 1
