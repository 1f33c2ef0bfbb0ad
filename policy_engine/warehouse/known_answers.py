"""Known answers of the sampler: bit i says whether unit i of 1,000 is in the sample.

The secret and the threshold are for this test only. The bits are those of the definition
(``drawing.row_in_sample``, ``drawing.key_in_sample``), written down so that a fault of this
machine's Python, AES or SHA-256 shows too; a unit test compares them with the definition.
"""

from __future__ import annotations

from decimal import Context, Decimal

UNITS = 1000
SECRET = bytes(range(16))
# Not a multiple of 2⁵²: some rows are settled by their low bits.
THRESHOLD = (1 << 60) // 3
RATE = Context(prec=100).divide(Decimal(THRESHOLD), Decimal(1 << 60))

ROWS = int(
    "4140bc428a600ac0362891481828a01e042540b40465d8f050222522202506ae60a20a1100cbe4853c45"
    "005a0db50d81020b90023504c582c1cb2a2428c18db8962b608cc124800802b518193060c20a6834652c"
    "98c4922045009105880014602304c88290024288cae4724c22c46e6408a5800631059c0009c186020c",
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
