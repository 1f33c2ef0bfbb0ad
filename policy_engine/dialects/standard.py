"""What engines near the SQL standard have in common, as texts with holes.

A dialect of this family says how a value is converted; rounding, days and order follow.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from policy_engine.dialects.base import Dialect
from policy_engine.dialects.numbers import digits_of, number_literal
from policy_engine.dialects.secrets import secret as waiting
from policy_engine.dialects.written import written

_STEPS = "ABS(_a) / _s"
_NEAREST = f"FLOOR({_STEPS}) + CASE WHEN {_STEPS} - FLOOR({_STEPS}) >= 0.5 THEN 1 ELSE 0 END"
SIGNED = f"CASE WHEN ABS(_a) < _h THEN 0 WHEN _a < 0 THEN -({_NEAREST}) ELSE {_NEAREST} END"
"""How many steps of ``_s`` a value is nearest to; what is less than ``_h`` is not divided."""


class Standard(Dialect):
    """Casts as texts; ``_a`` is the value, ``_d`` the decimal places of a rounded number.

    ``as_step`` is the step ``_s`` as an exact number; ``_w`` are its digits as a text.

    ``bound`` is how a text reads the secret that its connection brings; where no connection can,
    the secret waits in the secrets relation. ``hashed`` is the hash of a person, ``_a``, and the
    place of a row, ``_b``, under the secret, ``_s``.
    """

    bound = ""
    hashed: str
    as_text = "CAST(_a AS VARCHAR)"
    as_double = "CAST(_a AS DOUBLE)"
    as_whole = "CAST(_a AS BIGINT)"
    as_exact = "CAST(_a AS DECIMAL(18, _d))"
    as_step = "_s"
    as_day = "CAST(_a AS DATE)"
    as_moment = "CAST(_a AS TIMESTAMP)"
    first = "LEFT(_a, _n)"
    sorts_nulls = True

    def written(self, text: str, **holes: exp.Expr) -> exp.Expr:
        """A text of this engine, its holes filled."""
        return written(self.parser or self.name, text, **holes)

    def salt(self, secret: exp.Expr | None) -> exp.Expr:
        """The secret that is given, else the one that the connection brings, else the next."""
        if secret is not None:
            return secret
        return self.written(self.bound) if self.bound else waiting()

    def row_hash(self, unit: exp.Expr, place: exp.Expr, secret: exp.Expr | None = None) -> exp.Expr:
        """By ``hashed``."""
        return self.written(self.hashed, s=self.salt(secret), a=unit, b=place)

    def text(self, node: exp.Expr, kind: str) -> exp.Expr:
        """By ``as_text``."""
        return self.written(self.as_text, a=node)

    def prefix(self, node: exp.Expr, length: int) -> exp.Expr:
        """By ``first``."""
        return self.written(self.first, a=node, n=exp.Literal.number(length))

    def double(self, node: exp.Expr) -> exp.Expr:
        """By ``as_double``."""
        return self.written(self.as_double, a=node)

    def round(
        self, node: exp.Expr, step: Decimal, digits: int, *, below: Decimal, is_whole: bool
    ) -> exp.Expr:
        """Whole steps by FLOOR, counted as whole numbers: the same digits in every engine.

        A value is compared before it is divided: a quotient out of range is an error in some.
        """
        value = f"CASE WHEN ABS(_a) < _l THEN {self._counted(is_whole=is_whole)} END"
        if not is_whole:
            value = self.as_exact.replace("_a", value)
        return self.written(
            value.replace("_d", str(digits)),
            a=self.double(node),
            s=number_literal(step),
            w=digits_of(step),
            h=number_literal(step.scaleb(-1)),
            l=number_literal(below),
        )

    def _counted(self, *, is_whole: bool) -> str:
        """The product of whole steps and the step, by ``as_whole`` and ``as_step``."""
        return (
            f"{self.as_whole.replace('_a', f'({SIGNED})')} * {'_s' if is_whole else self.as_step}"
        )

    def day(self, value: date) -> exp.Expr:
        """By ``as_day``."""
        return self.written(self.as_day, a=exp.Literal.string(str(value)))

    def moment(self, value: datetime) -> exp.Expr:
        """By ``as_moment``."""
        return self.written(self.as_moment, a=exp.Literal.string(value.isoformat(" ")))

    def total(self, count: exp.Expr) -> exp.Expr:
        """By ``as_whole``."""
        return self.written(self.as_whole, a=count)

    def sort_key(self, node: exp.Expr) -> exp.Expr:
        """A text as what it is ordered by: its bytes."""
        return node

    def ordered(self, node: exp.Expr, *, descending: bool = False, text: bool) -> list[exp.Expr]:
        """``x NULLS LAST``, or ``x IS NULL, x`` where the engine cannot say it."""
        key = self.sort_key(node) if text else node
        if self.sorts_nulls:
            return [exp.Ordered(this=key, desc=descending, nulls_first=False)]
        is_null = exp.Is(this=node.copy(), expression=exp.Null())
        return [exp.Ordered(this=is_null), exp.Ordered(this=key, desc=descending)]
