"""What an account is charged with for a release of a law: the index of the mechanisms' events.

A law has the price of one release, which is trusted. What composes with other releases is asked
where an account is charged, and no certificate rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policy_engine.accounting.events import Event
from policy_engine.kernel.mechanisms import Inserted, Pure, Randomised
from policy_engine.kernel.mechanisms.ab_insertion.event import event as of_tuples
from policy_engine.kernel.mechanisms.randomised_response.event import event as of_answers

_EVENTS: Mapping[type, Callable[[Any, str], Event]] = {Randomised: of_answers, Inserted: of_tuples}


def event_of(law: Pure, neighbours: str) -> Event:
    """What an account is charged with. Errors: DomainError where no ε is met.

    >>> event_of(Inserted(3 << 58, 1 << 58, (("a", None),)), "add_remove")
    PureDP(epsilon=Decimal('1.09861228867'))
    """
    return _EVENTS[type(law)](law, neighbours)
