"""Whether a CSV file has the plain form, of which nobody's reader makes anything else.

The form: bytes of one encoding; every line as many delimiters outside quotes as the first has, and
one line end; a quotation mark opens a field, closes it, or is doubled in it, and nothing else; no
line break in quotes, no empty line, no NUL. What has it is read by DuckDB with every option said.
What has not is read row by row (`csv_files.py`), which refuses it, or knows better.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from policy_engine.opening import opened
from policy_engine.policy.csv_models import CsvSpec
from policy_engine.values import frozen

# So short that what is made of it needs no new pages of memory, which take as long as the looking.
_CHUNK = 1 << 16
_LONGEST = 100_000
_LINE, _RETURN = 10, 13
_GLOB = frozenset("*?[")
Bytes = npt.NDArray[np.uint8]


@frozen
class PlainForm:
    """How a file of the plain form is read: ``skip`` lines stand before its ``rows``.

    ``is_sure``: no line is left out, none has a quotation mark, and each ends in one sign: there is
    nothing that a reader may take otherwise.
    """

    delimiter: str
    quote: str
    line_end: str
    skip: int
    rows: int
    is_sure: bool


def plain_form(path: Path, spec: CsvSpec, delimiter: str, width: int) -> PlainForm | None:
    """The form of a file whose rows have ``width`` fields; None where it is not the plain one.

    Every byte is looked at once, and nothing is kept. Raises OSError.

    >>> plain_form(Path("people.csv"), CsvSpec(trim=True), ",", 2)  # blanks are another matter
    """
    known = (spec.escape, spec.comment, spec.skip_last, spec.trim) == (None, None, 0, False)
    signs = (delimiter, spec.quote or delimiter)
    one_byte = all(sign.isascii() and sign not in "\r\n" for sign in signs)
    if not known or not one_byte or width < 2 or path.suffix == ".gz" or _GLOB & {*str(path)}:
        return None
    if spec.encoding.startswith("utf-16"):
        return None
    with opened(path) as file:
        skip = spec.skip + (spec.header is not False)
        first = [file.readline(_LONGEST) for _ in range(skip)]
        quote = ord(spec.quote) if spec.quote else None
        lines = _Lines(ord(delimiter), quote, width, spec.encoding == "utf-8")
        if not all(map(_is_one_line, first)):
            return None
        # A header, too, ends where its line does.
        if spec.header is not False and not lines.are_plain(_ended(first[-1])):
            return None
        if not lines.are_all_plain(file):
            return None
    rows = lines.number - (spec.header is not False)
    line_end = "\r\n" if lines.returns else "\n"
    # Which signs end a line is left to the reader where they are two.
    is_sure = lines.are_sure and not lines.returns and not spec.skip
    return PlainForm(delimiter, spec.quote, line_end, skip, rows, is_sure)


def _is_one_line(line: bytes) -> bool:
    """Whether a line has its end, and no other: elsewhere a return alone ends one."""
    return line.endswith(b"\n") and b"\r" not in line[:-1].removesuffix(b"\r")


def _ended(line: bytes) -> bytes:
    return line.removeprefix(b"\xef\xbb\xbf")


def _is_utf_8(text: bytes) -> bool:
    """Whether bytes are text: the engine looks at those columns alone that are asked for."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _inside(quotes: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """What stands behind an odd number of quotes, its own among them: 64 places at a time.

    >>> _inside(np.array([False, True, False, True, False])).tolist()
    [False, True, True, False, False]
    """
    bits = np.packbits(quotes, bitorder="little")
    words = np.zeros(-(-bits.size // 8), "<u8")
    words.view(np.uint8)[: bits.size] = bits
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    odd = np.bitwise_xor.accumulate(words >> np.uint64(63))
    words[1:] ^= np.uint64(0) - odd[:-1]
    places = np.unpackbits(words.view(np.uint8), bitorder="little")
    return places[: quotes.size].view(np.bool_)


def _are_quotes_plain(
    quotes: npt.NDArray[np.bool_],
    inside: npt.NDArray[np.bool_],
    before: npt.NDArray[np.bool_],
    behind: npt.NDArray[np.bool_],
) -> bool:
    """Whether each opens a field, closes it, or is doubled: by the signs that may stand beside."""
    opens = quotes & inside
    closes = quotes ^ opens
    # The first sign begins a line, and a line end is the last.
    misplaced = opens[1:] & ~before[:-1]
    misplaced |= closes[:-1] & ~behind[1:]
    return not misplaced.any()


class _Lines:
    """The lines that were looked at: their number, and whether they end in two signs."""

    def __init__(self, delimiter: int, quote: int | None, width: int, any_byte: bool) -> None:
        self._delimiter, self._quote, self._width = delimiter, quote, width
        self._any_byte = any_byte
        self.number = 0
        self.returns: bool | None = None
        self.are_sure = True

    def are_all_plain(self, file: BinaryIO) -> bool:
        """Whether all that is left of a file is plain."""
        rest, has_ends = b"", False
        while chunk := file.read(_CHUNK):
            text = rest + chunk
            end = text.rfind(b"\n") + 1
            rest, has_ends = text[end:], has_ends or end > 0
            if len(rest) > _LONGEST or (end and not self.are_plain(text[:end])):
                return False
        # The last line may have no end; where none has, it is not known which.
        last = b"\r\n" if self.returns else b"\n"
        self.are_sure &= not rest
        return not rest or (has_ends and self.are_plain(rest + last))

    def are_plain(self, text: bytes) -> bool:
        """Whether whole lines, each with its end, are plain."""
        if b"\0" in text or not (text.isascii() or (self._any_byte and _is_utf_8(text))):
            return False
        found: Bytes = np.frombuffer(text, np.uint8)
        at_end = found == _LINE
        apart = found == self._delimiter
        apart |= at_end
        if self._quote is not None and self._quote in text:
            self.are_sure = False
            quotes = found == self._quote
            inside = _inside(quotes)
            beside = apart | quotes
            behind = beside | (found == _RETURN) if b"\r" in text else beside
            if not _are_quotes_plain(quotes, inside, beside, behind):
                return False
            apart &= ~inside
        # Of so many that are apart each width-th ends a line, and no other does.
        ends = np.flatnonzero(apart)[self._width - 1 :: self._width]
        number = np.count_nonzero(at_end)
        fits = ends.size == number and np.count_nonzero(apart) == number * self._width
        return fits and bool(at_end[ends].all()) and self._are_ends_plain(text, found, ends)

    def _are_ends_plain(self, text: bytes, found: Bytes, places: npt.NDArray[np.intp]) -> bool:
        """Whether lines are not too long, and all of them end alike."""
        self.number += places.size
        if np.diff(places, prepend=-1).max(initial=0) > _LONGEST:
            return False
        has_returns = b"\r" in text
        if self.returns is None:
            self.returns = has_returns
        if not self.returns or not has_returns:
            return self.returns is has_returns
        returns = np.count_nonzero(found == _RETURN)
        return returns == places.size and bool((found[places - 1] == _RETURN).all())
