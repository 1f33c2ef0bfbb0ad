"""The PostgreSQL server of the contract tests."""

import sys
from pathlib import Path

CONTRACT = str(Path(__file__).parents[1] / "contract")
if CONTRACT not in sys.path:
    sys.path.append(CONTRACT)
from postgres import postgres  # noqa: E402

__all__ = ["postgres"]
