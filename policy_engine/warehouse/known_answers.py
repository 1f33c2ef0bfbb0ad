"""Known answers of the sampler: bit i says whether unit i of 1,000 is in the sample.

The secret and the threshold are for this test only. The bits are those of the definition
(``drawing.row_in_sample``, ``drawing.key_in_sample``), written down so that a fault of this
machine's Python or AES shows too; a unit test compares them with the definition.
"""

from __future__ import annotations

UNITS = 1000
SECRET = bytes(range(16))
# Not a multiple of 2⁵²: some rows are settled by their low bits.
THRESHOLD = (1 << 60) // 3

ROWS = int(
    "4140bc428a600ac0362891481828a01e042540b40465d8f050222522202506ae60a20a1100cbe4853c45"
    "005a0db50d81020b90023504c582c1cb2a2428c18db8962b608cc124800802b518193060c20a6834652c"
    "98c4922045009105880014602304c88290024288cae4724c22c46e6408a5800631059c0009c186020c",
    16,
)

NUMBERS = int(
    "e206043d4c00d120d4038ec500208c1666d0000aa3064990710108ff160058014a4284e20c9702006841"
    "3f1628f3c483869161a934c08480002253e003e2085aa88040ed008d8e8c03889d02e9f0000810414410"
    "4e0564707c10400713b041b2d38ee00a402509524ad0ea0c8c6465db60b8a85812c202019c902e4014",
    16,
)

TEXTS = int(
    "b7173144649c2c004890b00a141022002d461077017291000a31262088911f28a9380844206001406912"
    "00040a0d87096175d210138809980054201a0100a1ca441e22f4001460840458000528b9104283680020"
    "18d112529c3350c82a40c0c901b0b00200c050018b410ca201a8a8161340ad0412a5a1e522428b18ed",
    16,
)


def expected(bits: int) -> set[int]:
    """The units whose bit is set.

    >>> expected(0b101)
    {0, 2}
    """
    return {unit for unit in range(UNITS) if bits >> unit & 1}
