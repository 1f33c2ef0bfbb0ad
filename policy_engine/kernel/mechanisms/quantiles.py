"""Medians and other quantiles beside a count: one of many public values, chosen by coins [CHOICE].

The candidates are the multiples of a unit between two ends, whatever the data. With L, E and G of a
group's values below, at and above a candidate, the share a/b is missed by max((b-a)L - a(E+G),
aG - (b-a)(L+E)) parts of a value. That is above 0 where the candidate is no such quantile, and the
further below 0, the more values stand at it beyond those that it needs: it is the likelier to be
chosen. One value more moves that by max(a, b-a) at most: so many of these times the rows of a
person are one *step*, and one person moves the steps of a candidate, rounded up, by one at most.
What these are above those of the group's best candidate is its distance, which its coin is for.
Candidates stand in the order of SHA-256 of ``secret:q:…:number``, ties by the candidate, and the
first is chosen whose coin falls: whose first 60 bits of SHA-256 of ``secret:c:…:number`` are below
the table's number for its distance. The number is of a group and a candidate, and no two have the
same one.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from policy_engine.accounting.choice import Choice, coin_table
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.tables import Clip, Quantity, check_values
from policy_engine.kernel.nodes import Identifier, Nodes, Number, Text, bound_of, number_of
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import places_of
from policy_engine.values import frozen

MOST_CANDIDATES = 1000
LEAST_EPSILON = Decimal("0.01")
"""Of less a table of coins is so long that no engine should read it in a text."""


@frozen
class Quantile:
    """The quantile ``at`` of a column's values in each group, chosen with ``epsilon``.

    It is NULL where it is not certain that there is a value, which the quantity ``over`` tells, or
    the group's count, 0.
    """

    name: str
    column: Column
    clip: Clip
    at: Decimal
    over: int
    epsilon: Decimal

    def __post_init__(self) -> None:
        check_values(self.column, self.clip)
        require(
            self.candidates <= MOST_CANDIDATES, f"at most {MOST_CANDIDATES} values are chosen of"
        )
        require(0 < self.at < 1 and self.at * 1000 % 1 == 0, "a quantile has three places")
        require(LEAST_EPSILON <= self.epsilon <= 50, "the ε of a choice is from 0.01 to 50")
        require(self.clip.per != "total", "a quantile is of rows, or of people's means")

    @property
    def candidates(self) -> int:
        """Of how many values one is chosen."""
        return self.clip.high - self.clip.low + 1

    @property
    def share(self) -> Fraction:
        """a/b, in lowest terms."""
        return Fraction(self.at)

    @property
    def step(self) -> int:
        """By so many parts of a value one person moves by how much a share is missed, at most."""
        a, b = self.share.numerator, self.share.denominator
        return max(a, b - a) * self.clip.rows

    def choice(self, groups: int) -> Choice:
        """The choice of each group, as the accountant prices it."""
        return Choice(self.epsilon, self.candidates, groups)

    def check(self, quantities: tuple[Quantity, ...], *, one_each: bool) -> None:
        """Raise ClaimError unless it is told how many values there are; as of a measure."""
        own = self.clip
        if self.over == 0:
            as_people = one_each or own.per != "row"
            require(own.absent is not None and as_people, "not everybody has a value")
            return
        require(self.over in range(1, len(quantities) + 1), "a count of values is drawn")
        many = quantities[self.over - 1]
        alike = (many.clip.per == "row") == (own.per == "row") and many.clip.rows == own.rows
        of_column = many.column == self.column and many.clip.absent == own.absent
        of_rows = many.column is None and own.absent is not None and own.per == "row"
        fits = many.counts and alike and (of_column or of_rows)
        require(fits, "it is told of the values how many there are")

    def nodes(self, number: int, value: int, stream: str, least: int) -> Nodes:
        """What a template is given: the ``number``-th, of the ``value``-th values.

        ``least`` of them must be counted, with noise.
        """
        clip, step = self.clip, self.step
        coins = enumerate(coin_table(self.epsilon).entries)
        people = Identifier("policy_engine_n")
        over = Identifier(f"policy_engine_total_{self.over}") if self.over else people
        return {
            "name": Identifier(self.name),
            "number": Number(number),
            "of": Number(value),
            "value": Identifier(f"policy_engine_value_{value}"),
            "per": clip.per,
            "low": Number(clip.low),
            "high": Number(clip.high),
            "digits": [
                {
                    "name": Identifier(f"policy_engine_digits_{place}"),
                    "digit": Identifier(f"policy_engine_digit_{place}"),
                    "numbers": [Number(digit * 10**place) for digit in range(1, 10)],
                }
                for place in range(len(str(self.candidates - 1)))
            ],
            "candidates": Number(self.candidates),
            "part": Number(self.share.numerator),
            "parts": Number(self.share.denominator),
            "size": Number(step),
            "less": Number(step - 1),
            # The best one's coin falls always: of it there is no bound.
            "coins": [(Number(far), bound_of(coin)[1]) for far, coin in coins if far],
            "order": Text(f":q:{number}:{stream}:"),
            "coin": Text(f":c:{number}:{stream}:"),
            "chosen": Identifier(f"policy_engine_chosen_{number}"),
            "over": over,
            "least": Number(least),
            "is_whole": places_of(clip.unit) == 0,
            "is_coarse": clip.unit != 1,
            "step": number_of(clip.unit),
            "places": Number(places_of(clip.unit)),
        }
