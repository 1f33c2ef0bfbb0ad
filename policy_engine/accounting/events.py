"""What was released, apart from what it costs: frozen values without arithmetic.

Whose presence an event's numbers speak of, one unit more or less or one unit replaced, is the
notion of neighbours of the account that it is charged to; numbers given for ε and δ must hold
under that notion.
"""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.choice import Choice
from policy_engine.accounting.domain import (
    Number,
    count,
    decimal,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
    whole,
)
from policy_engine.accounting.noise import Priced, Statistic
from policy_engine.errors import DomainError
from policy_engine.values import frozen

_LITTLE = Decimal("1e-9")


@frozen
class SampledSuppression:
    """An event for ``Accountant``: one release from a sample, [EXACT].

    Assumption: the sample is secret and new for this release. Nothing else uses this sample.

    Fields:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.

    Errors: DomainError for other values.

    >>> SampledSuppression(20, "0.1")
    SampledSuppression(k=20, rate=Decimal('0.1'))
    """

    k: int
    rate: Number

    def __post_init__(self) -> None:
        threshold(self.k)
        object.__setattr__(self, "rate", sampling_rate(self.rate))


@frozen
class PureDP:
    """An event for ``Accountant``: one run of any ε-DP mechanism, [COMP].

    Fields:
        ``epsilon``: ε, from 0 to 10⁹.

    Errors: DomainError for other values.

    >>> PureDP("0.5")
    PureDP(epsilon=Decimal('0.5'))
    """

    epsilon: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative_epsilon(self.epsilon))


@frozen
class DrawnChoice(PureDP):
    """One of many public candidates, drawn by ε, [CHOICE]. Errors: those of ``PureDP``.

    An account takes the choices before its first release out of its ε, and shares out the rest.

    >>> DrawnChoice("0.02")
    DrawnChoice(epsilon=Decimal('0.02'))
    """


@frozen
class ApproximateDP:
    """An event for ``Accountant``: one run of any (ε, δ)-DP mechanism, [COMP].

    Fields:
        ``epsilon``: ε, from 0 to 10⁹.
        ``delta``: δ, between 0 and 1.

    Errors: DomainError for other values.

    >>> ApproximateDP("0.5", "1e-9")
    ApproximateDP(epsilon=Decimal('0.5'), delta=Decimal('1E-9'))
    """

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative_epsilon(self.epsilon))
        object.__setattr__(self, "delta", probability(self.delta))


@frozen
class DiscreteLaplace:
    """An event for ``Accountant``: one integer is released with discrete Laplace noise, [NOISE].

    The probability that the noise is x is proportional to e^{−|x|/scale}.

    Fields:
        ``scale``: the width of the noise, from 1e-9 to 10⁹.
        ``sensitivity``: the most by which one unit changes the integer, before noise. It is an
            integer from 1 to 10⁵, and at most 10⁶ times the scale.

    Errors: DomainError for other values.

    >>> DiscreteLaplace("2", 1)
    DiscreteLaplace(scale=Decimal('2'), sensitivity=1)
    """

    scale: Number
    sensitivity: int = 1

    def __post_init__(self) -> None:
        scale = decimal(
            "scale", "a number from 1e-9 to 1e9", self.scale, lambda x: _LITTLE <= x <= 10**9
        )
        whole("sensitivity", count("sensitivity", self.sensitivity), 1, 10**5)
        if self.sensitivity > scale * 10**6:
            raise DomainError("sensitivity", "at most 1000000 times the scale", self.sensitivity)
        object.__setattr__(self, "scale", scale)


@frozen
class RandomisedResponse:
    """An event for ``Accountant``: one randomised response of each unit is released, [NOISE].

    Each unit gives its true value with probability ``truth``. Otherwise it gives one of m values,
    each with the same probability. The accountant must have ``neighbours="replace_one"``, because
    everybody sees which units answer.

    Fields:
        ``truth``: the probability, from 1e-9 to 1 − 1e-9.
        ``values``: m, an integer from 2 to 10⁹.

    Errors: DomainError for other values.

    >>> RandomisedResponse("0.5", 2)
    RandomisedResponse(truth=Decimal('0.5'), values=2)
    """

    truth: Number
    values: int

    def __post_init__(self) -> None:
        law = "a number from 1e-9 to 1 - 1e-9"
        truth = decimal("truth", law, self.truth, lambda x: _LITTLE <= x <= 1 - _LITTLE)
        whole("values", count("values", self.values), 2, 10**9)
        object.__setattr__(self, "truth", truth)


@frozen
class TableNoise:
    """One release whose numbers carry noise from integer tables, [TABLE], [PLACE].

    A count and the sums beside it are one event, its ``statistics``, each with noise of its own,
    and so are ``choices`` of one candidate a group, [CHOICE]. Assumption: noise and coins are
    fresh, secret and used for nothing else. Errors: DomainError unless there is a statistic.

    >>> from policy_engine.accounting.noise import IntegerTable
    >>> TableNoise((Statistic(IntegerTable((1 << 59,), least=0)),)).statistics[0].groups
    1
    """

    statistics: tuple[Statistic, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def drawn(self) -> tuple[Priced, ...]:
        """All that is drawn, each with a pair."""
        return (*self.statistics, *self.choices)

    def __post_init__(self) -> None:
        statistics = tuple(self.statistics)
        object.__setattr__(self, "choices", tuple(self.choices))
        if not all(isinstance(each, Choice) for each in self.choices):
            raise DomainError("choices", "choices", repr(self.choices))
        if not statistics or not all(isinstance(each, Statistic) for each in statistics):
            raise DomainError("statistics", "at least one statistic", repr(self.statistics))
        object.__setattr__(self, "statistics", statistics)


@frozen
class Unbounded:
    """A release of which nothing is known but (0, 1), which holds of everything.

    It has no curve, and no account with a limit can be charged with it.

    >>> Unbounded()
    Unbounded()
    """


@frozen
class FixedList:
    """Releases that were fixed beforehand, as one event: the plan of a window, [PLAN].

    Each with how often it is. Whoever reveals them one after the other, and stops where they like,
    tells no more than who reveals all at once. Errors: DomainError unless each is an event of a
    pair, and at least once.

    >>> FixedList(((PureDP("0.1"), 3), (SampledSuppression(20, "0.1"), 1))).events[0][1]
    3
    """

    events: tuple[tuple[Event, int], ...]

    def __post_init__(self) -> None:
        events = tuple((event, count("times", times)) for event, times in self.events)
        plain = not any(isinstance(e, Unbounded | Partitioned | FixedList) for e, _ in events)
        if not events or not plain:
            raise DomainError("events", "events of one pair each", repr(self.events))
        object.__setattr__(self, "events", events)


@frozen
class Replaced:
    """A release in which one unit is replaced where a neighbour has one more or less, [PERIOD].

    A unit of (person, period) that goes leaves its person in a release of several periods, with
    other rows. The ``event`` has the numbers of replace_one; the account counts by add_remove.
    Errors: DomainError unless it is one event of a pair.

    >>> Replaced(PureDP("0.5"))
    Replaced(event=PureDP(epsilon=Decimal('0.5')))
    """

    event: Event

    def __post_init__(self) -> None:
        if isinstance(self.event, Unbounded | Partitioned | FixedList | Replaced):
            raise DomainError("event", "one event of a pair", repr(self.event))


@frozen
class Partitioned:
    """An event for ``Accountant``: releases on random parts of the units, [PART].

    Each unit is in exactly one part. So all parts together cost as much as the part that costs
    most.

    Assumption: a hash with a secret key chose the part of each unit. The hash read only the
    identity of the unit, not its values.

    Fields:
        ``parts``: for each part, the tuple of its events. Every part has at least one event.

    Errors: DomainError if there is no part, or if a part has no event.

    >>> halves = Partitioned(((PureDP("1"),), (PureDP("2"), PureDP("3"))))
    >>> len(halves.parts)
    2
    """

    parts: tuple[tuple[Event, ...], ...]

    def __post_init__(self) -> None:
        parts = tuple(tuple(part) for part in self.parts)
        if not parts or not all(parts):
            raise DomainError("parts", "at least one part, each with an event", repr(self.parts))
        object.__setattr__(self, "parts", parts)


Event = (
    SampledSuppression
    | TableNoise
    | PureDP
    | ApproximateDP
    | DiscreteLaplace
    | RandomisedResponse
    | Unbounded
    | FixedList
    | Replaced
    | Partitioned
)
"""Everything that an account can be charged with; anything else is refused."""
