"""Reading of what others wrote: a guess of the claim, which nobody trusts; the kernel prints it.

A text of an engine other than DuckDB is certified if and only if it is what is printed.
"""
