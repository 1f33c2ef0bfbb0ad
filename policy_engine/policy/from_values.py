"""A policy from Python's values: it is read as the text that a file would have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from pathlib import Path, PurePath

from policy_engine.errors import PolicyError, UsageError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show

A_DICT = "(a dict)"
"""What stands for the name of a file."""


def policy_from(data: Mapping[str, object], directory: str | Path, *, unpromised: bool) -> Policy:
    """The policy that ``data`` says, as a file in ``directory`` would.

    Errors: PolicyError with every problem; UsageError where a value is none that a file can have.
    """
    file = Path(directory) / A_DICT
    try:
        return load_policy_text(written(data), file, directory, unpromised=unpromised)
    except PolicyError as error:
        # The lines are of a text that nobody wrote.
        raise PolicyError(
            tuple(
                replace(each, line=0, column=0) if each.file == str(file) else each
                for each in error.problems
            )
        ) from None


def written(value: object, at: str = "") -> str:
    """A value of Python as YAML; UsageError of one that has no text there.

    >>> written({"delta": Decimal("1e-9"), "bins": (1, 2.5), "from": date(2026, 1, 31), "k": None})
    '{"delta": 0.000000001, "bins": [1, 2.5], "from": "2026-01-31", "k": null}'
    """
    match value:
        case Mapping():
            named = ((_name(key, at), each) for key, each in value.items())
            items = (f"{json.dumps(n)}: {written(v, f'{at}.{n}'.lstrip('.'))}" for n, v in named)
            return f"{{{', '.join(items)}}}"
        case list() | tuple():
            parts = (written(each, f"{at}[{place}]") for place, each in enumerate(value))
            return f"[{', '.join(parts)}]"
        case None | bool() | int():
            return json.dumps(value)
        case float() if isfinite(value):
            return repr(float(value))
        case Decimal() if value.is_finite():
            return f"{value:f}"
        case datetime():
            return json.dumps(value.isoformat(" "))
        case date():
            return json.dumps(value.isoformat())
        case str() | PurePath():
            return json.dumps(str(value))
    if hasattr(value, "item"):  # a number of numpy
        return written(value.item(), at)
    law = f"a policy has texts, numbers, dates, lists and dicts, found {show(str(value))}"
    raise UsageError(f"{at or 'it'}: {law} of the type {type(value).__name__}")


def _name(key: object, at: str) -> str:
    """A key, which is a text; a whole number stands for one."""
    if isinstance(key, str) or type(key) is int:
        return str(key)
    raise UsageError(f"{at or 'it'}: a key is a text, found {show(str(key))}")
