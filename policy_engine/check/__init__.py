"""Reading of what others wrote: a guess of the claim, which nobody trusts; the kernel prints it.

A text is certified if and only if it is what is printed.
"""

import logging

# What the parser would warn of is a finding here, or is not parsed.
logging.getLogger("sqlglot").setLevel(logging.ERROR)
