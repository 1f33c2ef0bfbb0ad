"""The file that was meant where one is missing: a remedy for messages."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

_YAML = frozenset({".yaml", ".yml"})
_NO_POLICY = "policy-engine"


def meant(missing: Path) -> str:
    """``did you mean 'NAME'?`` for a file of the same folder and kind with a similar name.

    Empty where there is none. Only names are looked at.
    """
    suffixes = _YAML if missing.suffix in _YAML else {missing.suffix}
    try:
        near = {
            path.stem: path.name
            for path in sorted(missing.parent.iterdir())
            if path.suffix in suffixes and path.stem != _NO_POLICY and path.name.isprintable()
            if path.is_file()
        }
    except (OSError, ValueError):
        return ""
    found = get_close_matches(missing.stem[:100], near, n=1)
    return f"did you mean {near[found[0]]!r}?" if found else ""
