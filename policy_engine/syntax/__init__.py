"""DuckDB's SQL as one statement of allowed nodes: the reader's only way to a syntax tree."""

import logging

# What the parser would warn of is a finding here, or is not parsed.
logging.getLogger("sqlglot").setLevel(logging.ERROR)
