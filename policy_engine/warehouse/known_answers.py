"""Known answers of the sampler: bit i says whether unit i of 1,000 is in the sample.

Of numbered rows unit 0 is row ``FIRST_ROW``, 500 rows before a line of bits ends.

The secret and the threshold are for this test only. The bits are those of the definition
(``drawing.row_in_sample``, ``drawing.key_in_sample``), written down so that a fault of this
machine's Python, AES or SHA-256 shows too; a unit test compares them with the definition.
"""

from __future__ import annotations

from decimal import Context, Decimal

UNITS = 1000
FIRST_ROW = 11788
SECRET = bytes(range(16))
# Not a multiple of 2⁵²: some rows are settled by their low bits.
THRESHOLD = (1 << 60) // 3
RATE = Context(prec=100).divide(Decimal(THRESHOLD), Decimal(1 << 60))

ROWS = int(
    "29458927238d221702c80954c430151a0398a4a02c13095d936b4004080021021065500553001a381886"
    "9208d8c2f420c68ee021a889bf5b0a40d322d18701e88ddc81c546b001c5463980d0038621b002893c00"
    "00307a97704ea86d070b040448a20412e08b00b4084023d081d033ef0474f3644d2e8ccaf92228c095",
    16,
)

KEYS = int(
    "5422605c1026531b5d130e136144cd891d30d46327334802516c9a8899a323124f32694a648410484141"
    "298004018341006c060a01011000344d01f801000175895224f52368030c00105b408007147339e10110"
    "51103b00450c58d01a869f1284ff2d3d80026e5b40cb80bc0602901402c00220a0a94418d0bb34204b",
    16,
)

OTHERS = (
    "the known-answer test of the sampler failed on this connection: its sample would not be the"
    " certified one; nothing was drawn. Please report this"
)


def expected(bits: int) -> set[int]:
    """The units whose bit is set.

    >>> expected(0b101)
    {0, 2}
    """
    return {unit for unit in range(UNITS) if bits >> unit & 1}
