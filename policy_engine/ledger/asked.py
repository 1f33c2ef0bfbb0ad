"""What was asked of an account, and how it stands in a record: values to JSON and back.

What reads raises one of ``NONSENSE`` where a record holds something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from policy_engine.accounting.adaptive import Cost, Plan
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    TableNoise,
    Unbounded,
)
from policy_engine.accounting.noise import IntegerTable, Statistic
from policy_engine.errors import DomainError

_MECHANISMS: dict[str, type[Any]] = {
    "sampled_suppression": SampledSuppression,
    "pure_dp": PureDP,
    "approximate_dp": ApproximateDP,
    "discrete_laplace": DiscreteLaplace,
    "randomised_response": RandomisedResponse,
    "table_noise": TableNoise,
    "unbounded": Unbounded,
}
NONSENSE = (ArithmeticError, AttributeError, DomainError, IndexError, KeyError, TypeError,
             ValueError)  # fmt: skip
_SHARES = ("epsilon", "delta", "chain", "mass", "sum")


@dataclass(frozen=True)
class Asked:
    """One release: its event, its certificate's (ε, δ), and the part of a partition it reads.

    >>> Asked.from_json(Asked(PureDP(1), Decimal(1), Decimal(0)).to_json()).event
    PureDP(epsilon=Decimal('1'))
    """

    event: Event
    epsilon: Decimal
    delta: Decimal
    part: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Texts and whole numbers.

        Raises DomainError for an event that cannot be charged by itself: a partition.
        """
        return {
            "event": _event_to_json(self.event),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "part": None if self.part is None else list(self.part),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Asked:
        """The release that ``to_json`` wrote; DomainError for anything else."""
        try:
            part = state["part"]
            return cls(
                _event_from_json(state["event"]),
                read_amount(state["epsilon"]),
                read_amount(state["delta"]),
                None if part is None else (read_text(part[0]), read_text(part[1])),
            )
        except NONSENSE:
            raise DomainError("asked", "a release as this version writes it", state) from None


def _event_to_json(event: Event) -> dict[str, Any]:
    for name, mechanism in _MECHANISMS.items():
        if type(event) is mechanism:
            values = {field.name: getattr(event, field.name) for field in fields(event)}
            return {"mechanism": name, **{name: _plain(value) for name, value in values.items()}}
    raise DomainError("event", f"one of {', '.join(sorted(_MECHANISMS))}", event)


def _event_from_json(state: Mapping[str, Any]) -> Event:
    values = {name: value for name, value in state.items() if name != "mechanism"}
    if "statistics" in values:
        values["statistics"] = tuple(map(_statistic_from_json, values["statistics"]))
    event: Event = _MECHANISMS[state["mechanism"]](**values)
    return event


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_statistic_to_json(statistic) for statistic in value]
    return value if isinstance(value, int) else str(value)


def _statistic_to_json(statistic: Statistic) -> dict[str, Any]:
    """Entries are hexadecimal texts: no reader of JSON rounds them."""
    table = statistic.table
    return {
        "entries": " ".join(f"{entry:015x}" for entry in table.entries),
        "least": table.least,
        "open": table.is_open,
        "shift": statistic.shift,
        "groups": statistic.groups,
        "signed": statistic.signed,
    }


def _statistic_from_json(state: Mapping[str, Any]) -> Statistic:
    entries = tuple(int(entry, 16) for entry in read_text(state["entries"]).split())
    table = IntegerTable(entries, state["least"], state["open"])
    found = Statistic(table, state["shift"], state["groups"], state["signed"])
    if _statistic_to_json(found) != state:
        raise ValueError(state)
    return found


def cost_to_json(cost: Cost | None) -> list[str] | None:
    """A cost as texts; None where none was computed."""
    return None if cost is None else [str(cost.mass), *map(str, cost.scales)]


def cost_from_json(state: list[str] | None) -> Cost | None:
    """The cost that ``cost_to_json`` wrote."""
    if state is None:
        return None
    mass, *scales = map(read_amount, state)
    return Cost(mass, tuple(scales))


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as texts."""
    amounts = {name: str(getattr(plan, name)) for name in _SHARES}
    return {**amounts, "orders": list(map(str, plan.orders)), "scales": list(map(str, plan.scales))}


def plan_from_json(state: Mapping[str, Any]) -> Plan:
    """The plan that ``plan_to_json`` wrote."""
    return Plan(
        **{name: read_amount(state[name]) for name in _SHARES},
        orders=tuple(map(read_amount, state["orders"])),
        scales=tuple(map(_number, state["scales"])),
    )


def _number(text: str) -> Decimal:
    number = Decimal(read_text(text))
    if not number.is_finite():
        raise ValueError(text)
    return number


def read_amount(text: str) -> Decimal:
    """A finite number that is not below zero, from its text."""
    number = _number(text)
    if number < 0:
        raise ValueError(text)
    return number


def read_count(value: int) -> int:
    """A whole number that is not below zero, and no truth value."""
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value


def read_text(value: str) -> str:
    """A text, and nothing that looks like one."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value
