"""αβ insertion [AB]: ``law`` is trusted, ``rows`` and ``meaning`` only speak of it."""

from policy_engine.kernel.mechanisms.ab_insertion.law import Inserted as Inserted
