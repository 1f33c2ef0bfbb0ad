"""Whether released values are such as their claim can give: labels, multiples, starts of units.

A release that was changed and signed again is no release of its claim. Nothing here knows the
source: what its columns hold is not checked, only what the recodes make of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from policy_engine.attest.values import each_once
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.values_shown import MOMENT, number_of_text

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = re.compile(r"[+-]?[0-9]+(\.0+)?")
_FAR = re.compile(
    r"[+-]?infinity|[+-]?[0-9]{4,7}-(0[0-9]|1[0-2])-([0-2][0-9]|3[01])"
    r"(?P<time>[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?)?( \(BC\)| BC|Z|\+00(:00)?| UTC)*"
)
"""How they write those of other years or of none, and MariaDB's days that have a month or day 0."""
_TIME = re.compile(r"(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?|24:00:00(\.0+)?)")
_TRUTH = frozenset({"true", "false", "t", "f", "1", "0"})
_KINDS = {
    "text": ("string", "large_string"),
    "integer": ("integer", "decimal"),
    "decimal": ("integer", "decimal"),
    "boolean": ("boolean", "integer"),
    "date": ("date", "timestamp", "string", "large_string"),
    "time": ("time", "string", "large_string"),
    "timestamp": ("timestamp", "string", "large_string"),
}
"""What stands for a kind in a file: some engines have no booleans, or write moments as texts."""


def misfits(claim: Claim, columns: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """The names of columns with a value that no row of a source can be shown as.

    ``columns`` are those that are released, in their order, with plain values or their texts.
    """
    shown = zip(claim.columns, columns[len(claim.law.before) :], strict=True)
    wrong = []
    for each, values in shown:
        if not all(_can_show(each, value) for value in values):
            wrong.append(each.name)
    return tuple(wrong)


def _can_show(shown: Shown, value: object) -> bool:
    if shown.missing is not None and (value is None or value == shown.missing):
        return value is not None
    meaning = recode_meaning(shown.recode)
    return meaning.can_show(value) and (
        not isinstance(value, str) or _is_text_of(shown.kind, value)
    )


def _is_text_of(kind: str, text: str) -> bool:
    """Whether a text is how an engine writes some value of a kind.

    >>> [_is_text_of("date", text) for text in ("2026-02-28", "2026-02-30", "soon")]
    [True, False, False]
    >>> [_is_text_of("boolean", text) for text in ("True", "yes")], _is_text_of("text", "yes")
    ([True, False], True)
    """
    match kind:
        case "integer":
            return _WHOLE.fullmatch(text) is not None
        case "decimal":
            return number_of_text(text) is not None
        case "boolean":
            return text.lower() in _TRUTH
        case "time":
            return _TIME.fullmatch(text) is not None
        case "date" | "timestamp" | "timestamp_zoned" | "timestamp_other":
            return _is_moment(text, kind)
    return True


def _is_moment(text: str, kind: str) -> bool:
    """Whether a text is a day that there is; of a date, without a time of day but midnight."""
    near, far = MOMENT.fullmatch(text), _FAR.fullmatch(text)
    if near is None or text.startswith("0000") or "-00" in text:
        return far is not None and (kind != "date" or not far["time"])
    time = near["time"] or "00:00:00"
    try:
        datetime.fromisoformat(f"{near['day']} {time}")
    except ValueError:
        return False
    return kind != "date" or time == "00:00:00"


def mistyped(claim: Claim, table: pa.Table) -> tuple[str, ...]:
    """The names of columns of a file whose type is not one that stands for what is shown."""
    import pyarrow as pa

    shown = zip(claim.columns, table.columns[len(claim.law.before) :], strict=False)
    found = []
    for each, column in shown:
        names = _KINDS.get(each.kind, _KINDS["timestamp"])
        tests = [getattr(pa.types, f"is_{name}") for name in ("null", *names)]
        if not any(test(column.type) for test in tests):
            found.append(each.name)
    return tuple(found)


def untruncated(claim: Claim, table: pa.Table) -> tuple[str, ...]:
    """The names of columns of a file with a moment that is not the start of its unit."""
    import pyarrow as pa

    found = []
    for each, column in zip(claim.columns, table.columns[len(claim.law.before) :], strict=False):
        kind = column.type
        if not (pa.types.is_date32(kind) or pa.types.is_timestamp(kind)):
            continue
        meaning = recode_meaning(each.recode)
        parts = 1
        if pa.types.is_timestamp(kind):
            parts = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        number = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        scale = 86_400 if pa.types.is_date32(kind) else 1
        values = each_once(column).cast(number).to_pylist()
        if not all(value is None or meaning.is_moment(value * scale, parts) for value in values):
            found.append(each.name)
    return tuple(found)
