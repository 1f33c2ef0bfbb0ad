"""A smaller text that fails alike."""

from __future__ import annotations

from collections.abc import Callable

from fuzz_texts import tokens

TRIES = 400


def minimised(text: str, fails: Callable[[str], bool]) -> str:
    """``text`` without the tokens that its failure does not need.

    Takes out ever shorter runs of tokens as long as what is left still fails.

    >>> minimised("a b c d e", lambda text: "b" in text and "d" in text)
    'b d'
    """
    parts, tries = tokens(text), 0
    if not fails(" ".join(parts)):
        return text
    size = max(1, len(parts) // 2)
    while size >= 1:
        place, shrunk = 0, False
        while place < len(parts) and tries < TRIES:
            tries += 1
            fewer = parts[:place] + parts[place + size :]
            if fails(" ".join(fewer)):
                parts, shrunk = fewer, True
            else:
                place += size
        if tries >= TRIES or (size == 1 and not shrunk):
            break
        size = size if shrunk and size == 1 else max(1, size // 2)
    return " ".join(parts)
