"""What a guarantee rests on and no text can show: a code, and what it is said of."""

from __future__ import annotations

from policy_engine.values import frozen


@frozen
class Assumption:
    """Something that a guarantee rests on: a code, and what it is said of.

    Its words are in ``kernel.sentences``. What an engine assumes is ``engine_…``, by the name that
    its table gives it.
    """

    code: str
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, code: str, **parameters: str) -> Assumption:
        """A code with what it is said of.

        >>> Assumption.of("key_unique", unit="id", source="ids.csv").code
        'key_unique'
        """
        return cls(code, tuple(sorted(parameters.items())))
