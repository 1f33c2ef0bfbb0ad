"""What a certificate says of its source, and of what is drawn for a release.

No guarantee rests on these words: ``certify`` does not need them. A certificate states them word
for word: a changed word here makes those of before differ from what is proved of them.
"""

from __future__ import annotations

from policy_engine.kernel.assumptions import method_of, unit_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.estimates import estimates
from policy_engine.kernel.mechanisms import Noisy, Pure
from policy_engine.kernel.sentences import ROW_UNIT
from policy_engine.kernel.sources import Drawn, Files, Groups, People

_OF_THE_ENGINE = {
    "native": "TABLESAMPLE BERNOULLI of the engine",
    "random": "random() of the engine",
}
_AES = "AES-128 of each unit under a secret of 128 bits from the operating system"
_SHA = "SHA-256 of a secret of 128 bits and each unit"
_ANY_ROW = "; of each unit's rows one is kept, drawn by SHA-256 of the secret, the unit and the row"
_NOISE = "SHA-256 of a secret of 128 bits and the number of each group"
_ANSWERS = "SHA-256 of a secret of 128 bits and the number of each column and row, or tuple"
_GROUPS = "; each unit counts in {} of its groups at most, drawn by SHA-256 of the secret and both"


def source_of(claim: Claim) -> str:
    """The source's path, or the parts of its name."""
    return claim.source.path if isinstance(claim.source, Files) else ".".join(claim.source.parts)


def randomness(method: str, unit: str, *, draws_a_row: bool = False) -> str:
    """What decides who is in a sample, and with which row, in the words of a certificate."""
    keyed = _AES if method == "drawn" and unit == ROW_UNIT else _SHA
    return _OF_THE_ENGINE.get(method, keyed) + (_ANY_ROW if draws_a_row else "")


def randomness_of(claim: Claim, engine: str) -> str:
    """What is drawn for a release, and how, and what can be estimated of it."""
    order = claim.unit.order if isinstance(claim.unit, People) else None
    if isinstance(order, Groups):  # of noisy counts alone
        return _NOISE + _GROUPS.format(order.most)
    drawn = randomness(method_of(claim, engine), unit_of(claim))
    if isinstance(claim.law, Noisy | Pure):
        drawn = _NOISE if isinstance(claim.law, Noisy) else _ANSWERS
    drawn += _ANY_ROW if isinstance(order, Drawn) else ""
    return "; ".join((drawn, *estimates(claim)))
