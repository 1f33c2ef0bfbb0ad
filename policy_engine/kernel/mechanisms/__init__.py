"""The mechanisms: each one file, its law and what it certifies, and one template.

A law has a ``template``, the ``check`` of what a claim of it must be, and the ``values`` that its
template is given besides a claim's own.
"""

from policy_engine.accounting.noise import IntegerTable as IntegerTable
from policy_engine.kernel.mechanisms.ab_insertion.law import Inserted as Inserted
from policy_engine.kernel.mechanisms.common import Secret as Secret
from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy as Noisy
from policy_engine.kernel.mechanisms.noisy_counts.law import NoisyPart as NoisyPart
from policy_engine.kernel.mechanisms.noisy_counts.public_keys import Listed as Listed
from policy_engine.kernel.mechanisms.quantiles import Quantile as Quantile
from policy_engine.kernel.mechanisms.randomised_response.law import Randomised as Randomised
from policy_engine.kernel.mechanisms.sampled_suppression.law import Keyed as Keyed
from policy_engine.kernel.mechanisms.sampled_suppression.law import Native as Native
from policy_engine.kernel.mechanisms.tables import Clip as Clip
from policy_engine.kernel.mechanisms.tables import CountedBy as CountedBy
from policy_engine.kernel.mechanisms.tables import Cut as Cut
from policy_engine.kernel.mechanisms.tables import Measure as Measure
from policy_engine.kernel.mechanisms.tables import Quantity as Quantity
from policy_engine.kernel.mechanisms.whole_classes.law import WholeClasses as WholeClasses

Pure = Randomised | Inserted
"""Those that cost an ε and no δ."""
Law = Keyed | Native | Noisy | NoisyPart | Listed | Pure | WholeClasses
