"""Attacks of the literature on a published table: what each needs, what it learns, what helps."""
