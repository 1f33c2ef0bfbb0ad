"""Sampled suppression [EXACT]: ``law`` is trusted, what stands beside it only speaks of it."""
