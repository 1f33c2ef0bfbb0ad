"""Another time for a process: its clock is set from outside, by Debian's libfaketime.

Nothing of the product knows of it: ``Project.run(…, env=clock_at("2027-01-15 00:00:01"))``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "warehouse"))
from debian import ensure

_PLACE, _NAME = Path("/usr/lib"), "*/faketime/libfaketime.so.1"


def clock_at(instant: str, *, runs: bool = True) -> dict[str, str]:
    """The environment of a process whose clock starts at an instant of UTC, and runs on or not."""
    ensure("libfaketime", lambda: any(_PLACE.glob(_NAME)))
    return {
        **os.environ,
        "LD_PRELOAD": str(next(_PLACE.glob(_NAME))),
        "FAKETIME": f"@{instant}" if runs else instant,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "TZ": "UTC",
    }
