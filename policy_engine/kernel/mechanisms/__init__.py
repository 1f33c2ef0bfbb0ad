"""The mechanisms: each one file, its law and what it certifies, and one template.

A law has a ``template``, the ``check`` of what a claim of it must be, and the ``values`` that its
template is given besides a claim's own.
"""

from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.mechanisms.ab_insertion import Inserted
from policy_engine.kernel.mechanisms.noisy_counts import Noisy, NoisyPart
from policy_engine.kernel.mechanisms.public_keys import Listed
from policy_engine.kernel.mechanisms.randomised_response import Randomised
from policy_engine.kernel.mechanisms.sampled_suppression import Keyed, Native, Secret
from policy_engine.kernel.mechanisms.tables import Aggregate, Clip, CountedBy

__all__ = [
    "Aggregate",
    "Clip",
    "CountedBy",
    "Inserted",
    "IntegerTable",
    "Keyed",
    "Law",
    "Listed",
    "Native",
    "Noisy",
    "NoisyPart",
    "Pure",
    "Randomised",
    "Secret",
]

Pure = Randomised | Inserted
"""Those that cost an ε and no δ."""
Law = Keyed | Native | Noisy | NoisyPart | Listed | Pure
