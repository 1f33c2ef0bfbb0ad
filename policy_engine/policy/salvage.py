"""What a refused policy file still says of its source, so that both can be checked at once."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from policy_engine.errors import FileError, PolicyError
from policy_engine.policy.laws import is_line, mapping
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.reading import read_root, read_text
from policy_engine.policy.recodings import Constant, Keep
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.policy.unit_models import order_term

_REST = {
    "version": 1,
    "name": "salvaged",
    "recode": {"any": "keep"},
    "sample": {"rate": Decimal("0.5")},
    "k": 2,
    "guarantee": {"epsilon": 1, "delta": Decimal("0.5")},
    "release": {"path": "salvaged.parquet"},
}


def salvage(file: Path) -> Policy | None:
    """A policy of the source that a refused file names, and of the columns; None without one.

    All else of it is made up: it is for asking the source which columns it has.
    """
    try:
        data: Any = read_root(read_text(file, "policy"), file, "policy")[0].data()
        source, recode = mapping(data.get("source")), mapping(data.get("recode"))
        place = {key: source[key] for key in ("path", "relation", "csv") if key in source}
        made = PolicyDocument.model_validate({**_REST, "source": {**place, "unit": "row"}})
    except (FileError, PolicyError, ValidationError):
        return None
    policy = resolve(made, {}, file, file.parent)
    unit = mapping(source.get("unit"))
    terms = mapping(unit.get("keep")).get("order_by")
    return replace(
        policy,
        source=replace(
            policy.source,
            key=next((key for key in (unit.get("key"), unit.get("row_key")) if _named(key)), None),
            unique="row_key" in unit,
            order_by=tuple(order_term(term) for term in terms if _named(term))
            if isinstance(terms, list)
            else (),
            columns=tuple(
                (name, "text") for name in mapping(source.get("columns")) if _named(name)
            ),
        ),
        recodings=tuple(
            (name, Constant("") if "constant" in mapping(how) else Keep())
            for name, how in recode.items()
            if _named(name)
        ),
        public=tuple((name, "") for name in mapping(data.get("public"))),
    )


def _named(found: object) -> bool:
    """Whether it can be the name of a column."""
    return isinstance(found, str) and is_line(found)
