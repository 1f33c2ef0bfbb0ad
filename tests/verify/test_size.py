"""The kernel stays small enough to be read in one sitting."""

from pathlib import Path

KERNEL = Path(__file__).parents[2] / "policy_engine" / "verify"


def test_the_kernel_is_below_1500_lines():
    lines = {path.name: len(path.read_text().splitlines()) for path in KERNEL.glob("*.py")}
    assert len(lines) > 5
    assert sum(lines.values()) < 1500, lines
