"""Randomised response [LOCAL]: ``law`` is trusted, what stands beside it only speaks of it."""
