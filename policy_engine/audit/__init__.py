"""Attacks on the mechanism itself: neighbouring tables, many runs, a lower bound on ε."""
