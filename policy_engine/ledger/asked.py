"""What was asked of an account, and how it stands in a record: values to JSON and back.

What reads raises one of ``NONSENSE`` where a record holds something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from functools import lru_cache
from typing import Any

from policy_engine.accounting import events
from policy_engine.accounting.adaptive import Cost, Plan
from policy_engine.accounting.certified import CertifiedEvent
from policy_engine.accounting.choice import Choice
from policy_engine.accounting.noise import IntegerTable, Statistic
from policy_engine.errors import DomainError
from policy_engine.values import frozen

NONSENSE = (ArithmeticError, AttributeError, DomainError, IndexError, KeyError, TypeError,
             ValueError)  # fmt: skip
_SHARES = ("epsilon", "delta", "chain", "mass", "sum")
_MECHANISMS: dict[str, type[Any]] = {
    "sampled_suppression": events.SampledSuppression,
    "pure_dp": events.PureDP,
    "drawn_choice": events.DrawnChoice,
    "approximate_dp": events.ApproximateDP,
    "discrete_laplace": events.DiscreteLaplace,
    "randomised_response": events.RandomisedResponse,
    "table_noise": events.TableNoise,
    "unbounded": events.Unbounded,
}
_FIXED_LIST, _REPLACED = "fixed_list", "replaced"


@frozen
class Asked(CertifiedEvent):
    """One release: its event, its certificate's (ε, δ), and the part of a partition it reads.

    >>> Asked.from_json(Asked(events.PureDP(1), Decimal(1), Decimal(0)).to_json()).event
    PureDP(epsilon=Decimal('1'))
    """

    part: tuple[str, str] | None = None

    def to_json(self) -> dict[str, object]:
        """Texts and whole numbers; DomainError for a partition, which is not charged by itself."""
        return {
            "event": event_to_json(self.event),
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
                event_from_json(state["event"]),
                read_amount(state["epsilon"]),
                read_amount(state["delta"]),
                None if part is None else (read_text(part[0]), read_text(part[1])),
            )
        except NONSENSE:
            raise DomainError("asked", "a release as this version writes it", state) from None


def event_to_json(event: events.Event) -> dict[str, object]:
    """Texts and whole numbers; DomainError for a partition.

    >>> event_to_json(events.Replaced(events.PureDP(1)))
    {'mechanism': 'replaced', 'event': {'mechanism': 'pure_dp', 'epsilon': '1'}}
    """
    match event:
        case events.FixedList(events=listed):
            told = [[event_to_json(each), times] for each, times in listed]
            return {"mechanism": _FIXED_LIST, "events": told}
        case events.Replaced(event=replaced):
            return {"mechanism": _REPLACED, "event": event_to_json(replaced)}
    name = next((n for n, kind in _MECHANISMS.items() if type(event) is kind), None)
    if name is None:
        raise DomainError("event", f"one of {', '.join(sorted(_MECHANISMS))}", event)
    return {
        "mechanism": name,
        **{each.name: _plain(getattr(event, each.name)) for each in fields(event)},
    }


def event_from_json(state: Mapping[str, Any]) -> events.Event:
    """The event that ``event_to_json`` wrote; one of NONSENSE for anything else.

    >>> event_from_json(event_to_json(events.FixedList(((events.PureDP(1), 2),)))).events[0][1]
    2
    """
    values = dict(state)
    mechanism = values.pop("mechanism")
    if mechanism == _FIXED_LIST:
        listed = ((event_from_json(each), read_count(times)) for each, times in values["events"])
        return events.FixedList(tuple(listed))
    if mechanism == _REPLACED:
        return events.Replaced(event_from_json(values["event"]))
    if "statistics" in values:
        values["statistics"] = tuple(map(_statistic_from_json, values["statistics"]))
        values["choices"] = tuple(map(_choice_from_json, values["choices"]))
    found: events.Event = _MECHANISMS[mechanism](**values)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_drawn_to_json(each) for each in value]
    return value if isinstance(value, int) else str(value)


def _drawn_to_json(drawn: Statistic | Choice) -> dict[str, object]:
    if isinstance(drawn, Statistic):
        return _statistic_to_json(drawn)
    return {
        "epsilon": str(drawn.epsilon),
        "candidates": drawn.candidates,
        "groups": drawn.groups,
    }


def _choice_from_json(state: Mapping[str, Any]) -> Choice:
    found = Choice(read_amount(state["epsilon"]), state["candidates"], state["groups"])
    if _drawn_to_json(found) != state:
        raise ValueError(state)
    return found


def _statistic_to_json(statistic: Statistic) -> dict[str, object]:
    table = statistic.table
    return {
        "entries": _text_of(table),
        "least": table.least,
        "open": table.is_open,
        "shift": statistic.shift,
        "groups": statistic.groups,
        "moves": statistic.moves,
    }


def _statistic_from_json(state: Mapping[str, Any]) -> Statistic:
    table = _table_of(read_text(state["entries"]), state["least"], state["open"])
    found = Statistic(table, state["shift"], state["groups"], state["moves"])
    if _statistic_to_json(found) != state:
        raise ValueError(state)
    return found


@lru_cache(maxsize=64)  # a command reads its account several times
def _text_of(table: IntegerTable) -> str:
    """Entries are hexadecimal texts: no reader of JSON rounds them."""
    return " ".join(f"{entry:015x}" for entry in table.entries)


@lru_cache(maxsize=64, typed=True)  # else True would be taken for 1
def _table_of(entries: str, least: int, is_open: bool) -> IntegerTable:
    return IntegerTable(tuple(int(entry, 16) for entry in entries.split()), least, is_open)


def read_amount(text: str, *, least: Decimal | None = Decimal(0)) -> Decimal:
    """A finite number from its text, that is not below ``least``; one of NONSENSE for another."""
    number = Decimal(read_text(text))
    if not number.is_finite() or (least is not None and number < least):
        raise ValueError(text)
    return number


def read_text(value: str) -> str:
    """A text, and nothing that looks like one."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def cost_to_json(cost: Cost | None) -> list[str] | None:
    """A cost as texts; None where none was computed."""
    return None if cost is None else [str(cost.mass), *map(str, cost.scales)]


def cost_from_json(state: list[str] | None) -> Cost | None:
    """The cost that ``cost_to_json`` wrote."""
    if state is None:
        return None
    mass, *scales = map(read_amount, state)
    return Cost(mass, tuple(scales))


def plan_to_json(plan: Plan) -> dict[str, object]:
    """A plan as texts."""
    amounts = {name: str(getattr(plan, name)) for name in _SHARES}
    return {**amounts, "orders": list(map(str, plan.orders)), "scales": list(map(str, plan.scales))}


def plan_from_json(state: Mapping[str, Any]) -> Plan:
    """The plan that ``plan_to_json`` wrote."""
    return Plan(
        **{name: read_amount(state[name]) for name in _SHARES},
        orders=tuple(map(read_amount, state["orders"])),
        scales=tuple(read_amount(text, least=None) for text in state["scales"]),
    )


def read_count(value: int) -> int:
    """A whole number that is not below zero, and no truth value."""
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value
