"""A privacy-policy engine: policies in YAML become certified releases."""
