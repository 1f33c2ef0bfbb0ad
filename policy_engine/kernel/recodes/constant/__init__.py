"""``constant``: ``recode`` is trusted, ``meaning`` only speaks of it."""
