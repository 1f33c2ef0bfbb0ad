"""αβ insertion [AB]: ``law`` is trusted, what stands beside it only speaks of it."""
