"""What ``check`` finds of a text that is not what is printed."""

from __future__ import annotations

from policy_engine.syntax.findings import law


@law("V35")
def is_printed(found: str) -> str | None:
    """On engines other than DuckDB a text is certified only if it is what the kernel prints.

    Run the text that is printed instead, if there is one.
    """
    return found or None


READER = (
    "the text was read by policy-engine's reader of DuckDB's SQL and by sqlglot, and is not what"
    " the kernel prints"
)
"""What a certificate rests on first whose text was read."""
