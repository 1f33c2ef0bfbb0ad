"""Randomised response [LOCAL]: ``law`` is trusted, ``rows`` and ``meaning`` only speak of it."""

from policy_engine.kernel.mechanisms.randomised_response.law import Randomised as Randomised
from policy_engine.kernel.mechanisms.randomised_response.law import Response as Response
